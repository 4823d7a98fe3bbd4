/* How fast the loader has pictures of --data ready, beside which the step of a network on pictures of the same form
 * stands. The loader decodes ahead, so what is timed begins when all that it had ready is taken. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SAMPLES 11
#define SEED    7

bool bench_open_data(glcnn_bench *bench, char error[GLCNN_ERROR_LENGTH])
{
    const char *path = bench->asked.data;
    const struct pictures_options options = {.path = path, .task = pictures_task(path)};
    const struct form *form = &bench->pictures.form;
    if (!pictures_open(&options, &bench->pictures, error))
        return false;
    bench->form = (struct form){.width = form->width,
                                .height = form->height,
                                .channels = form->channels,
                                .classes = form->classes > 0 ? form->classes : 1};
    if (bench->pictures.info->counts[GLCNN_DATA_PART_TRAINING] > 0)
        return true;
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s has no pictures to train with", path);
    return false;
}

/* Seconds of each of so many batches; less than 0: a message in `error`. */
static double take(glcnn_data_loader *loader, uint32_t count, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_batch batch;
    const double begin = seconds_now();
    for (uint32_t i = 0; i < count; i++)
        if (glcnn_data_loader_next(loader, &batch, error) != GLCNN_SUCCESS)
            return -1;
    return (seconds_now() - begin) / count;
}

/* Batches that take as long as a sample is to take, by the first that were not ready. */
static uint32_t count_batches(glcnn_data_loader *loader, double sample,
                              char error[GLCNN_ERROR_LENGTH])
{
    uint32_t count = 1;
    for (double each = 0; count < 65536; count *= 2) {
        each = take(loader, count, error);
        if (each < 0)
            return 0;
        if (each * count >= sample)
            break;
    }
    return count;
}

static bool time_loader(const glcnn_bench *bench, glcnn_data_loader *loader,
                        struct glcnn_bench_result *result)
{
    const double all = bench->small ? 0.3 : 2;
    const uint32_t count = count_batches(loader, all / SAMPLES, result->error);
    double samples[SAMPLES], begin = seconds_now();
    size_t taken = 0;
    while (count > 0 && taken < SAMPLES && (taken < 3 || seconds_now() - begin < all))
        if ((samples[taken++] = take(loader, count, result->error)) < 0)
            return false;
    if (count > 0)
        bench_set_times(result, samples, taken);
    return count > 0;
}

void bench_run_loading(glcnn_bench *bench, const struct bench_row *row,
                       struct glcnn_bench_result *result)
{
    const struct pictures *p = &bench->pictures;
    const struct glcnn_data_loader_parameters parameters = {
        .part = GLCNN_DATA_PART_TRAINING, .batch = row->shown.batch, .shuffle = true, .seed = SEED};
    const uint32_t size[4] = {row->shown.batch, p->form.channels, p->form.height, p->form.width};
    glcnn_data_loader *loader = NULL;
    memcpy(result->size, size, sizeof size);
    if (p->info->counts[GLCNN_DATA_PART_TRAINING] < row->shown.batch) {
        result->left_out = true;
        snprintf(result->error, sizeof result->error, "there are %u pictures to train with",
                 p->info->counts[GLCNN_DATA_PART_TRAINING]);
        return;
    }
    if (pictures_load(p, &parameters, &loader, result->error))
        time_loader(bench, loader, result);
    glcnn_data_loader_destroy(&loader);
}
