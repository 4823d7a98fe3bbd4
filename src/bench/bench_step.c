/* Steps of the networks of nets.h: gradient descent with momentum on random images. A sample is so
 * many steps before one wait that the wait counts for little. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/random.h"
#include "task/model.h"

#define LEARNING_RATE 0.001f
#define MOMENTUM      0.9f
#define SEED          7
#define SAMPLES       11
#define STEPS         2000 /* of a sample at most */

/* Seconds. A GPU that was idle raises its clock in steps: what is timed runs for `warm` before. */
struct effort {
    double warm, sample, all_samples;
};
static const struct effort thorough = {0.5, 0.03, 1}, quick = {0, 0.01, 0.3};

struct step {
    struct form form;
    struct model model;
    struct runner runner;
    float *images;    /* [batch][height][width][channels] */
    uint32_t *labels; /* [batch] */
    float *losses;    /* [batch] */
};

/* ---- A network and a batch ---- */

static bool make_batch(struct step *s, uint32_t batch)
{
    uint64_t seed = SEED;
    size_t pixels = (size_t)batch * s->form.width * s->form.height * s->form.channels;
    s->images = malloc(pixels * sizeof *s->images);
    s->labels = malloc(batch * sizeof *s->labels);
    s->losses = malloc(batch * sizeof *s->losses);
    if (!s->images || !s->labels || !s->losses)
        return false;
    for (size_t i = 0; i < pixels; i++)
        s->images[i] = (float)(random_next(&seed) >> 40) / (float)(1 << 24);
    for (size_t i = 0; i < batch; i++)
        s->labels[i] = (uint32_t)(random_next(&seed) % s->form.classes);
    return true;
}

static bool set_training(const struct step *s, glcnn_device *device)
{
    struct glcnn_training_descriptor descriptor = {NULL};
    if (glcnn_optimizer_stochastic_gradient_descent_create(device, LEARNING_RATE,
                                                           &descriptor.optimizer) != GLCNN_SUCCESS)
        return false;
    glcnn_optimizer(descriptor.optimizer)->momentum_scale = MOMENTUM;
    glcnn_status status = glcnn_network_set_training(s->model.network, &descriptor);
    glcnn_kernel_destroy(&descriptor.optimizer);
    return status == GLCNN_SUCCESS;
}

/* A step that writes the batch and reads its losses, which must be finite. */
static bool check_step(struct step *s, uint32_t batch, struct glcnn_bench_result *result)
{
    const struct glcnn_data_batch labels = {.count = batch, .labels = s->labels};
    if (!runner_run(&s->runner, s->images, &labels, s->losses))
        return false;
    for (uint32_t i = 0; i < batch && !result->error[0]; i++)
        if (!isfinite(s->losses[i]))
            snprintf(result->error, sizeof result->error, "the loss of image %u is not finite", i);
    return true;
}

/* The first step compiles the shaders. */
static bool prepare(struct step *s, glcnn_device *device, const struct bench_row *row,
                    struct glcnn_bench_result *result)
{
    return make_batch(s, row->shown.batch) &&
           model_create(device, net_find(row->net), &s->form, row->shown.batch, &s->model) &&
           glcnn_network_initialise(s->model.network, SEED) == GLCNN_SUCCESS &&
           set_training(s, device) &&
           runner_create_training(&s->model, row->shown.batch, NULL, &s->runner) &&
           check_step(s, row->shown.batch, result);
}

/* ---- Time ---- */

/* The time that this thread has had the processor. */
static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds of each of `count` steps; adds the processor time of issuing them to *cpu. Less than 0: it
 * failed. */
static double run(struct runner *runner, int count, double *cpu)
{
    bool good = true;
    double begin = seconds_now(), begin_cpu = processor_seconds();
    for (int i = 0; i < count && good; i++)
        good = runner_repeat(runner);
    *cpu += processor_seconds() - begin_cpu;
    good = good && glcnn_graph_wait(runner->graph) == GLCNN_SUCCESS;
    return good ? (seconds_now() - begin) / count : -1;
}

/* Seconds of the fastest step, or less than 0. */
static double warm_up(struct runner *runner, double seconds)
{
    double one, cpu, least = INFINITY, begin = seconds_now();
    do {
        one = run(runner, 1, &cpu);
        least = fmin(least, one);
    } while (one > 0 && seconds_now() - begin < seconds);
    return least;
}

static int within(double value, int least, int most)
{
    return value < least ? least : value > most ? most : (int)value;
}

static bool time_step(const glcnn_bench *bench, struct runner *runner,
                      struct glcnn_bench_result *result)
{
    const struct effort *effort = bench->small ? &quick : &thorough;
    double samples[SAMPLES], cpu = 0, one = warm_up(runner, effort->warm);
    if (one <= 0)
        return false;
    int steps = within(effort->sample / one, 1, STEPS);
    double fits = effort->all_samples / (one * steps);
    int count = within(fits, fits < 1 ? 1 : 3, SAMPLES);
    for (int i = 0; i < count; i++)
        if ((samples[i] = run(runner, steps, &cpu)) < 0)
            return false;
    bench_set_times(result, samples, (size_t)count);
    result->commit_cpu = cpu / count / steps;
    return true;
}

static bool record_step(glcnn_bench *bench, struct runner *runner,
                        struct glcnn_bench_result *result)
{
    double cpu;
    struct bench_passes passes = {.items = NULL};
    bool good = bench_record(bench->device, &passes) == GLCNN_SUCCESS && run(runner, 1, &cpu) > 0 &&
                !passes.failed;
    bench_record(bench->device, NULL);
    bench_take_passes(bench, &passes, result);
    bench_passes_free(&passes);
    return good;
}

void bench_run_step(glcnn_bench *bench, const struct bench_row *row,
                    struct glcnn_bench_result *result)
{
    struct step s = {.form = bench->form};
    const struct form *form = &s.form;
    glcnn_device *device = bench->device;
    const uint32_t size[4] = {row->shown.batch, form->channels, form->height, form->width};
    memcpy(result->size, size, sizeof size);
    if (!net_fits(net_find(row->net), form)) {
        result->left_out = true;
        snprintf(result->error, sizeof result->error, "pictures of %ux%u are too small for it",
                 form->width, form->height);
        return;
    }
    if (!prepare(&s, device, row, result) || !time_step(bench, &s.runner, result) ||
        !record_step(bench, &s.runner, result) || !check_step(&s, row->shown.batch, result))
        bench_fail(result, device, GLCNN_INVALID_STATE);
    runner_destroy(&s.runner);
    model_destroy(&s.model);
    free(s.images);
    free(s.labels);
    free(s.losses);
}
