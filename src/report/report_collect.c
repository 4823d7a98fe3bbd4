/* Pictures of a report: read from the data again where they are wanted, so that nothing is kept of those that
 * are not. */
#include "report_collect.h"

#include "task/keypoint_sides.h"
#include "task/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *report_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void report_free_pictures(struct report_picture *pictures, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        shown_free(&pictures[i].shown), shown_free(&pictures[i].found);
}

static bool fail(char error[GLCNN_ERROR_LENGTH], const char *text)
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", text);
    return false;
}

static size_t size_of(const struct form *form)
{
    return (size_t)form->width * form->height * form->channels;
}

/* The values of a batch's first `count` images, 255 as 1. */
static void copy_values(const struct glcnn_data_batch *batch, size_t count, float *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = batch->bytes ? (float)batch->bytes[i] / 255 : batch->floats[i];
}

static bool show(const struct pictures *p, const float *values, struct report_picture *picture,
                 char error[GLCNN_ERROR_LENGTH])
{
    const struct form *form = &p->form;
    return shown_make(values, form->width, form->height, form->channels, p->info->bytes,
                      &picture->shown) ||
           fail(error, "not enough memory");
}

/* ---- Mistakes ---- */

/* "a/1.png" of pictures; "image 3 of images.npy" of a table, whatever its folder is. */
static void write_name(const struct pictures *p, glcnn_data_part part, uint32_t index, char *name,
                       size_t size)
{
    char whole[4096], table[32];
    glcnn_dataset_name(p->set, part, index, whole, sizeof whole);
    snprintf(table, sizeof table, "image %u of ", index);
    if (strncmp(whole, table, strlen(table)) == 0)
        snprintf(name, size, "%s%.200s", table, report_name_of(whole));
    else
        snprintf(name, size, "%.*s", (int)size - 1, whole);
}

/* Loaders begin at any batch: one of a single picture finds it by its number. */
static bool read_one(const struct pictures *p, glcnn_data_part part, uint32_t index, float *values,
                     struct report_picture *picture, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_data_loader_parameters parameters = {
        .part = part, .batch = 1, .step = index, .threads = 1, .memory = 1};
    struct glcnn_data_batch batch;
    glcnn_data_loader *loader = NULL;
    bool good = pictures_load(p, &parameters, &loader, error) &&
                glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS;
    if (good && batch.filled > 0) {
        copy_values(&batch, size_of(&p->form), values);
        good = show(p, values, picture, error);
    }
    glcnn_data_loader_destroy(&loader);
    return good;
}

/* The whole picture, made smaller until it is no longer than DRAWN_SIDE; one that is small is made larger, so
 * that lines and letters have room. One that cannot be decoded any more has no bytes. */
#define DRAWN_SIDE 320
bool report_read_whole(const struct pictures *p, glcnn_data_part part, uint32_t index,
                       struct shown *shown, char error[GLCNN_ERROR_LENGTH])
{
    uint32_t width, height;
    *shown = (struct shown){.bytes = NULL};
    glcnn_dataset_size(p->set, part, index, &width, &height);
    const double longer = width > height ? width : height, scale = DRAWN_SIDE / longer;
    if (!(longer > 0))
        return true;
    width = (uint32_t)fmax(1, round(width * scale));
    height = (uint32_t)fmax(1, round(height * scale));
    if (!shown_blank(width, height, 3, shown))
        return fail(error, "not enough memory");
    const glcnn_status status =
        glcnn_dataset_read_picture(p->set, part, index, width, height, shown->bytes, error);
    if (status != GLCNN_SUCCESS)
        shown_free(shown);
    return status == GLCNN_SUCCESS || status == GLCNN_MALFORMED_DATA || status == GLCNN_IO_ERROR;
}

bool report_draw_truth(const struct pictures *p, glcnn_data_part part, uint32_t index,
                       const char *const *names, struct shown *shown,
                       char error[GLCNN_ERROR_LENGTH])
{
    const struct truth truth = {p->set, part, index, &p->form, names};
    if (!report_read_whole(p, part, index, shown, error))
        return false;
    if (shown->bytes)
        truth_show(&truth, shown->width, shown->height, shown->bytes);
    return true;
}

static bool draw_answer(const struct pictures *p, glcnn_data_part part, const struct mistake *m,
                        const char *const *names, struct shown *shown,
                        char error[GLCNN_ERROR_LENGTH])
{
    if (!m->values)
        return true;
    if (!report_read_whole(p, part, m->index, shown, error))
        return false;
    const struct answer answer = {.width = shown->width,
                                  .height = shown->height,
                                  .values = m->values,
                                  .names = names,
                                  .form = &p->form,
                                  .limits = DETECTION_SHOWN,
                                  .top = 1};
    if (shown->bytes)
        task_of(&p->form)->show(&answer, shown->bytes);
    return true;
}

static bool read_drawn(const struct pictures *p, glcnn_data_part part, const struct findings *f,
                       const char *const *names, struct report_picture *worst,
                       char error[GLCNN_ERROR_LENGTH])
{
    bool good = true;
    for (uint32_t i = 0; i < f->worst_count && good; i++) {
        worst[i] = (struct report_picture){.label = 0};
        write_name(p, part, f->worst[i].index, worst[i].name, sizeof worst[i].name);
        good = report_draw_truth(p, part, f->worst[i].index, names, &worst[i].shown, error) &&
               draw_answer(p, part, &f->worst[i], names, &worst[i].found, error);
    }
    return good;
}

bool report_read_worst(const struct pictures *p, glcnn_data_part part, const struct findings *f,
                       const char *const *names, struct report_picture worst[FINDINGS_WORST],
                       char error[GLCNN_ERROR_LENGTH])
{
    if (task_of(&p->form)->show)
        return read_drawn(p, part, f, names, worst, error);
    float *values = calloc(size_of(&p->form), sizeof *values);
    bool good = values || fail(error, "not enough memory");
    for (uint32_t i = 0; i < f->worst_count && good; i++) {
        worst[i] = (struct report_picture){.label = 0};
        write_name(p, part, f->worst[i].index, worst[i].name, sizeof worst[i].name);
        good = read_one(p, part, f->worst[i].index, values, &worst[i], error);
    }
    free(values);
    return good;
}

/* ---- Samples ---- */

static void copy_joined(struct input *input, const struct glcnn_data_batch *batch, size_t count,
                        float *values)
{
    struct glcnn_data_batch joined = *batch;
    const void *pictures = input_join(input, batch);
    joined.bytes = batch->bytes ? pictures : NULL;
    joined.floats = batch->bytes ? NULL : pictures;
    copy_values(&joined, count, values);
}

/* All of the batch, since what is mixed depends on it; on the device, where pictures are changed there. */
static bool run_input(const struct pictures *p, glcnn_device *device,
                      const struct input_parameters *parameters,
                      const struct glcnn_data_batch *batch, struct input *input, float *values)
{
    const size_t size = size_of(&p->form) * batch->count;
    bool good = input_create(device, &p->form, batch->count, parameters, input);
    if (good && !input->graph)
        copy_joined(input, batch, size, values);
    else if (good) {
        glcnn_image *image = input_run(input, batch);
        good = image &&
               glcnn_image_read_bytes(image, NULL, values, size * sizeof *values) == GLCNN_SUCCESS;
    }
    return good;
}

/* In three channels. False: not enough memory. */
static bool make_coloured(struct shown *shown)
{
    struct shown made;
    if (shown->channels == 3)
        return true;
    if (!shown_blank(shown->width, shown->height, 3, &made))
        return false;
    for (size_t i = 0; i < (size_t)shown->width * shown->height * 3; i++)
        made.bytes[i] = shown->bytes[i / 3];
    shown_free(shown);
    *shown = made;
    return true;
}

/* Pictures that are larger than they are shown stay without. */
static bool draw_labels(struct runner *runner, const struct glcnn_data_batch *batch,
                        const char *const *names, struct report_picture *samples, uint32_t count)
{
    uint8_t *pixels[REPORT_SAMPLES];
    bool good = true;
    if (!runner->task->draw_labels || runner->form.width > SHOWN_SIDE ||
        runner->form.height > SHOWN_SIDE)
        return true;
    for (uint32_t n = 0; n < count && good; n++) {
        good = make_coloured(&samples[n].shown);
        pixels[n] = samples[n].shown.bytes;
    }
    uint32_t *partners = NULL;
    char why[GLCNN_ERROR_LENGTH];
    if (runner->task->has_sides)
        good = good && keypoint_sides(names, runner->form.classes, &partners, why);
    runner->partners = partners;
    good = good && runner->task->draw_labels(runner, batch, count, names, pixels);
    free(partners);
    return good;
}

static void undo_normalisation(const struct form *form, const struct input_parameters *p,
                               float *values)
{
    for (size_t i = 0; i < size_of(form); i++) {
        size_t c = i % form->channels;
        values[i] = values[i] * p->deviation[c] + p->mean[c];
    }
}

static bool show_batch(const struct pictures *p, glcnn_device *device,
                       const struct input_parameters *input, const struct glcnn_data_batch *batch,
                       struct report_picture *samples, uint32_t count,
                       char error[GLCNN_ERROR_LENGTH])
{
    const size_t size = size_of(&p->form);
    float *values = calloc(size * batch->count, sizeof *values);
    struct runner runner = {
        .task = task_of(&p->form), .device = device, .form = p->form, .batch = batch->count};
    bool good = values ? run_input(p, device, input, batch, &runner.input, values) ||
                             fail(error, model_failure(device))
                       : fail(error, "not enough memory");
    for (uint32_t n = 0; n < count && good; n++) {
        undo_normalisation(&p->form, input, values + n * size);
        samples[n].label = batch->labels[n];
        good = show(p, values + n * size, &samples[n], error);
    }
    if (good && !draw_labels(&runner, batch, p->info->class_names, samples, count))
        good = fail(error, model_failure(device));
    input_destroy(&runner.input);
    free(values);
    return good;
}

bool report_read_samples(const struct pictures *p, glcnn_device *device,
                         const struct glcnn_data_loader_parameters *parameters,
                         const struct input_parameters *input,
                         struct report_picture samples[REPORT_SAMPLES], uint32_t *count,
                         char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_batch batch;
    glcnn_data_loader *loader = NULL;
    *count = 0;
    bool good = pictures_load(p, parameters, &loader, error) &&
                glcnn_data_loader_next(loader, &batch, error) == GLCNN_SUCCESS;
    if (good) {
        *count = batch.count < REPORT_SAMPLES ? batch.count : REPORT_SAMPLES;
        good = show_batch(p, device, input, &batch, samples, *count, error);
    }
    glcnn_data_loader_destroy(&loader);
    return good;
}

/* ---- Device ---- */

void report_describe_device(const glcnn_device *device, struct report_row rows[REPORT_DEVICE_ROWS])
{
    const struct glcnn_device_properties *info = glcnn_device_info(device);
    rows[0] = (struct report_row){"device", info->renderer, info->vendor};
    rows[1] = (struct report_row){"driver", info->gl_version, "what it says of itself"};
    rows[2] = (struct report_row){"GLCNN", glcnn_version(), "the version that wrote this page"};
}
