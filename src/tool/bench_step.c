/* Steps of the networks of nets.h: gradient descent with momentum on random images. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "support/random.h"

#define LEARNING_RATE 0.001f
#define MOMENTUM      0.9f
#define SEED          7

/* The form of Fashion-MNIST. */
static const struct form form = {28, 28, 1, 10};

struct step {
    struct model model;
    struct runner runner;
    float *images, *labels, *losses; /* [batch][28][28], [batch][10], [batch] */
};

static bool set_training(struct step *s, glcnn_device *device)
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

static bool make_batch(struct step *s, uint32_t batch)
{
    uint64_t seed = SEED;
    size_t pixels = (size_t)batch * form.width * form.height;
    s->images = malloc(pixels * sizeof *s->images);
    s->labels = calloc((size_t)batch * form.classes, sizeof *s->labels);
    s->losses = calloc(batch, sizeof *s->losses);
    if (!s->images || !s->labels || !s->losses)
        return false;
    for (size_t i = 0; i < pixels; i++)
        s->images[i] = (float)(random_next(&seed) >> 40) / (float)(1 << 24);
    for (size_t i = 0; i < batch; i++)
        s->labels[i * form.classes + random_next(&seed) % form.classes] = 1;
    return true;
}

/* The first run writes the batch and makes the programs. */
static bool prepare(struct step *s, glcnn_device *device, const struct bench_step *step)
{
    return make_batch(s, step->batch) &&
           model_create(device, net_find(step->net), &form, step->batch, &s->model) &&
           glcnn_network_initialise(s->model.network, SEED) == GLCNN_SUCCESS &&
           set_training(s, device) &&
           runner_create_training(&s->model, step->batch, 0, &s->runner) &&
           runner_run(&s->runner, s->images, s->labels, s->losses);
}

static void release(struct step *s)
{
    runner_destroy(&s->runner);
    model_destroy(&s->model);
    free(s->images);
    free(s->labels);
    free(s->losses);
}

static glcnn_status commit(void *user)
{
    struct step *s = user;
    return glcnn_graph_execute(s->runner.graph, s->runner.sources, NULL, NULL);
}

static glcnn_status wait(void *user)
{
    return glcnn_graph_wait(((struct step *)user)->runner.graph);
}

/* Writes the batch, executes, waits and reads the losses: as a program trains. */
static glcnn_status feed(void *user)
{
    struct step *s = user;
    return runner_run(&s->runner, s->images, s->labels, s->losses) ? GLCNN_SUCCESS
                                                                   : GLCNN_INVALID_STATE;
}

static void check_losses(const struct step *s, const struct bench_step *step, struct bench_row *row)
{
    for (uint32_t i = 0; i < step->batch && !row->error[0]; i++)
        if (!isfinite(s->losses[i]))
            snprintf(row->error, sizeof row->error, "the loss of image %u is not finite", i);
}

void bench_run_step(struct bench_report *report, glcnn_device *device,
                    const struct bench_step *step, bool fed, struct bench_row *row)
{
    struct step s = {.images = NULL};
    const struct bench_work work = {device, fed ? feed : commit, wait, &s};
    const uint32_t shape[4] = {step->batch, form.channels, form.height, form.width};
    memcpy(row->shape, shape, sizeof shape);
    glcnn_status status = prepare(&s, device, step) ? GLCNN_SUCCESS : GLCNN_INVALID_STATE;
    if (status == GLCNN_SUCCESS)
        status = bench_measure(report, &work, row);
    for (uint32_t i = 0; s.losses && i < step->batch; i++)
        s.losses[i] = NAN;
    if (status == GLCNN_SUCCESS)
        status = feed(&s);
    if (status != GLCNN_SUCCESS)
        bench_fail(row, device, status);
    else
        check_losses(&s, step, row);
    release(&s);
}
