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

#define IN_FLIGHT 2 /* steps whose losses are not read yet */

/* Losses of a step go into a buffer behind it, and are read while the next step runs. */
struct step {
    struct model model;
    struct runner runner;
    void *images; /* [batch][28][28], float32 or with `bytes` Unorm8 */
    bool bytes;
    float *losses;    /* [batch] */
    uint32_t *labels; /* [batch] */
    uint32_t batch;
    glcnn_buffer *results[IN_FLIGHT];
    glcnn_command_buffer *reads[IN_FLIGHT];
    size_t fed, told; /* steps that were begun, and those of them whose losses were read */
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

static size_t image_bytes(const struct step *s)
{
    return (size_t)s->batch * form.width * form.height * (s->bytes ? 1 : sizeof(float));
}

static void make_images(struct step *s, uint64_t *seed)
{
    float *floats = s->images;
    unsigned char *bytes = s->images;
    for (size_t i = 0; i < (size_t)s->batch * form.width * form.height; i++)
        if (s->bytes)
            bytes[i] = (unsigned char)(random_next(seed) >> 56);
        else
            floats[i] = (float)(random_next(seed) >> 40) / (float)(1 << 24);
}

static bool make_batch(struct step *s, uint32_t batch)
{
    uint64_t seed = SEED;
    s->images = malloc(image_bytes(s));
    s->labels = calloc(batch, sizeof *s->labels);
    s->losses = calloc(batch, sizeof *s->losses);
    if (!s->images || !s->labels || !s->losses)
        return false;
    make_images(s, &seed);
    for (size_t i = 0; i < batch; i++)
        s->labels[i] = (uint32_t)(random_next(&seed) % form.classes);
    return true;
}

static bool record_reads(struct step *s, glcnn_device *device)
{
    glcnn_image *losses = glcnn_graph_image(s->runner.graph, s->runner.result);
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < IN_FLIGHT && status == GLCNN_SUCCESS; i++) {
        status = glcnn_buffer_create(device, s->batch * sizeof *s->losses, &s->results[i]);
        if (status == GLCNN_SUCCESS)
            status = glcnn_command_buffer_create(device, &s->reads[i]);
        if (status == GLCNN_SUCCESS)
            status = glcnn_image_encode_read(s->reads[i], losses, NULL, s->results[i], 0);
    }
    return status == GLCNN_SUCCESS;
}

/* The network's pictures as bytes. */
static bool take_bytes(struct step *s, glcnn_device *device)
{
    struct glcnn_image_descriptor pictures = *glcnn_image_get_descriptor(s->runner.sources[0]);
    pictures.channel_format = GLCNN_CHANNEL_FORMAT_UNORM8;
    glcnn_image_destroy(&s->runner.sources[0]);
    return glcnn_image_create(device, &pictures, &s->runner.sources[0]) == GLCNN_SUCCESS;
}

static glcnn_status write_batch(const struct step *s)
{
    glcnn_image *const *sources = s->runner.sources;
    glcnn_status status = glcnn_image_write_bytes(sources[0], NULL, s->images, image_bytes(s));
    return status == GLCNN_SUCCESS
               ? glcnn_image_write_classes(sources[1], NULL, s->labels, s->batch)
               : status;
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

static bool is_over(void *user)
{
    return glcnn_graph_poll(((struct step *)user)->runner.graph);
}

/* The first run writes the batch and makes the programs. */
static bool prepare(struct step *s, glcnn_device *device, const struct bench_step *step)
{
    s->batch = step->batch;
    return make_batch(s, step->batch) &&
           model_create(device, net_find(step->net), &form, step->batch, &s->model) &&
           glcnn_network_initialise(s->model.network, SEED) == GLCNN_SUCCESS &&
           set_training(s, device) &&
           runner_create_training(&s->model, step->batch, NULL, &s->runner) &&
           (!s->bytes || take_bytes(s, device)) && write_batch(s) == GLCNN_SUCCESS &&
           commit(s) == GLCNN_SUCCESS && wait(s) == GLCNN_SUCCESS && record_reads(s, device);
}

static void release(struct step *s)
{
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        glcnn_command_buffer_destroy(&s->reads[i]);
        glcnn_buffer_destroy(&s->results[i]);
    }
    runner_destroy(&s->runner);
    model_destroy(&s->model);
    free(s->images);
    free(s->labels);
    free(s->losses);
}

/* Reads losses until those of `left` steps at most are not read. */
static glcnn_status read_losses(struct step *s, size_t left)
{
    glcnn_status status = GLCNN_SUCCESS;
    for (; s->fed - s->told > left && status == GLCNN_SUCCESS; s->told++)
        status = glcnn_buffer_read(s->results[s->told % IN_FLIGHT], 0, s->batch * sizeof *s->losses,
                                   s->losses);
    return status;
}

/* Writes the batch, executes, and reads the losses of the step before meanwhile: as a program
 * trains. */
static glcnn_status feed(void *user)
{
    struct step *s = user;
    glcnn_status status = write_batch(s);
    if (status == GLCNN_SUCCESS)
        status = commit(s);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(s->reads[s->fed % IN_FLIGHT]);
    if (status == GLCNN_SUCCESS)
        s->fed++;
    return status == GLCNN_SUCCESS ? read_losses(s, IN_FLIGHT - 1) : status;
}

static glcnn_status wait_fed(void *user)
{
    glcnn_status status = read_losses(user, 0);
    return status == GLCNN_SUCCESS ? wait(user) : status;
}

static bool is_fed(void *user)
{
    const struct step *s = user;
    return glcnn_command_buffer_is_complete(s->reads[(s->fed - 1) % IN_FLIGHT]);
}

static void check_losses(const struct step *s, const struct bench_step *step, struct bench_row *row)
{
    for (uint32_t i = 0; i < step->batch && !row->error[0]; i++)
        if (!isfinite(s->losses[i]))
            snprintf(row->error, sizeof row->error, "the loss of image %u is not finite", i);
}

void bench_run_step(struct bench_report *report, glcnn_device *device,
                    const struct bench_step *step, enum bench_feed feeding, struct bench_row *row)
{
    struct step s = {.bytes = feeding == BENCH_FED_BYTES};
    const struct bench_work resident = {device, commit, wait, is_over, &s, 1, false},
                            streaming = {device, feed, wait_fed, is_fed, &s, 1, true};
    const struct bench_work *work = feeding == BENCH_RESIDENT ? &resident : &streaming;
    const uint32_t shape[4] = {step->batch, form.channels, form.height, form.width};
    memcpy(row->shape, shape, sizeof shape);
    glcnn_status status = prepare(&s, device, step) ? GLCNN_SUCCESS : GLCNN_INVALID_STATE;
    if (status == GLCNN_SUCCESS)
        status = bench_time(report, work, row);
    if (status == GLCNN_SUCCESS)
        status = bench_trace_work(report, work, row);
    for (uint32_t i = 0; s.losses && i < step->batch; i++)
        s.losses[i] = NAN;
    if (status == GLCNN_SUCCESS)
        status = feed(&s);
    if (status == GLCNN_SUCCESS)
        status = wait_fed(&s);
    if (status != GLCNN_SUCCESS)
        bench_fail(row, device, status);
    else
        check_losses(&s, step, row);
    release(&s);
}
