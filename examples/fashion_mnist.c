/* Trains a small convolutional network on Fashion-MNIST, kernel by kernel: forward kernels that
 * leave gradient states, the loss, gradient kernels in reverse, the update.
 *
 *   28x28x1  convolution 3x3 to 16, batch norm + ReLU, max pool 2
 *   14x14x16 convolution 3x3 to 32, batch norm + ReLU, max pool 2
 *   7x7x32   fully connected 10, soft-max cross entropy
 *
 * The training step is encoded once and committed again for every batch. Weights are updated in the
 * vectors of the forward kernels and reloaded into the gradient kernels, all on the device.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <glcnn/glcnn.h>

#include "task/fashion.h"
#include "support/npz.h"
#include "base/option.h"
#include "report/plot.h"
#include "report/progress.h"
#include "base/random.h"

#define SIDE       FASHION_SIDE
#define PIXELS     FASHION_PIXELS
#define CLASSES    FASHION_CLASSES
#define BLOCKS     2
#define TEST_BATCH 100
#define MOMENTUM   0.9f
#define PARAMETERS (4 * BLOCKS + 2)

static const uint32_t channels[BLOCKS + 1] = {1, 16, 32};

struct options {
    uint32_t epochs, batch, limit; /* limit: images of an epoch, 0 all */
    uint64_t seed;
    float learning_rate;
    const char *data, *out;
};

/* ---- Failing, interrupting ---- */

static glcnn_device *device;
static volatile sig_atomic_t interrupted;

static void die(const char *text)
{
    fprintf(stderr, "fashion_mnist: %s\n", text);
    exit(1);
}

static void must(glcnn_status status)
{
    if (status != GLCNN_SUCCESS)
        die(glcnn_device_error(device));
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        die("out of memory");
    return memory;
}

/* The first Ctrl-C finishes the batch and saves; a second one ends at once. */
static void interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL);
}

static void print_log(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    if (level <= GLCNN_LOG_WARNING)
        fprintf(stderr, "%s\n", text);
}

/* ---- The data ---- */

static glcnn_dataset *open_data(const char *folder)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_dataset *data = fashion_open(folder, error);
    if (!data)
        die(error);
    return data;
}

static glcnn_data_loader *load(glcnn_dataset *data,
                               const struct glcnn_data_loader_parameters *parameters)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_data_loader *loader;
    if (glcnn_data_loader_create(data, parameters, &loader, error) != GLCNN_SUCCESS)
        die(error);
    return loader;
}

static struct glcnn_data_batch next_batch(glcnn_data_loader *loader)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_data_batch batch;
    if (glcnn_data_loader_next(loader, &batch, error) != GLCNN_SUCCESS)
        die(error);
    return batch;
}

static float *initial_weights(uint64_t *state, size_t count, uint32_t inputs)
{
    float *weights = allocate(count, sizeof *weights);
    random_weights(state, weights, count, inputs);
    return weights;
}

/* ---- The network ---- */

/* One block: convolution, batch norm with a fused ReLU, max pool. */
struct block {
    glcnn_kernel *convolution, *convolution_gradient;
    glcnn_kernel *statistics, *normalise, *statistics_gradient, *normalise_gradient;
    glcnn_kernel *pool, *pool_gradient;
};

struct network {
    struct block blocks[BLOCKS];
    glcnn_kernel *classify, *classify_gradient;
    glcnn_kernel *loss;
    glcnn_kernel *descent, *average; /* optimizers: of weights, of running statistics */
};

static void make_convolution(uint32_t inputs, uint32_t outputs, uint32_t size, bool full,
                             uint64_t *random, glcnn_kernel **forward, glcnn_kernel **gradient)
{
    const struct glcnn_convolution_descriptor descriptor = {
        .kernel_width = size,
        .kernel_height = size,
        .input_feature_channels = inputs,
        .output_feature_channels = outputs,
    };
    float *weights =
        initial_weights(random, (size_t)outputs * size * size * inputs, size * size * inputs);
    const struct glcnn_convolution_weights source = {.weights = weights};
    if (full) {
        must(glcnn_fully_connected_create(device, &descriptor, &source, forward));
        must(glcnn_fully_connected_gradient_create(device, &descriptor, &source, gradient));
    } else {
        must(glcnn_convolution_create(device, &descriptor, &source, forward));
        must(glcnn_convolution_gradient_create(device, &descriptor, &source, gradient));
    }
    free(weights);
}

static void make_block(struct block *block, uint32_t inputs, uint32_t outputs, uint64_t *random)
{
    const struct glcnn_neuron_descriptor relu = {.type = GLCNN_NEURON_TYPE_RELU};
    const struct glcnn_batch_normalization_data_source neutral = {
        .number_of_feature_channels = outputs, .epsilon = 1e-5f};
    make_convolution(inputs, outputs, 3, false, random, &block->convolution,
                     &block->convolution_gradient);
    must(glcnn_batch_normalization_statistics_create(device, &block->statistics));
    must(glcnn_batch_normalization_create(device, &neutral, &relu, &block->normalise));
    must(glcnn_batch_normalization_statistics_gradient_create(device, &relu,
                                                              &block->statistics_gradient));
    must(glcnn_batch_normalization_gradient_create(device, &relu, &block->normalise_gradient));
    must(glcnn_pooling_max_create(device, 2, 2, 2, 2, &block->pool));
    must(glcnn_pooling_max_gradient_create(device, 2, 2, 2, 2, &block->pool_gradient));
    glcnn_kernel_properties(block->pool)->padding = GLCNN_PADDING_SIZE_VALID_ONLY;
}

static void make_network(struct network *network, const struct options *options)
{
    uint64_t random = options->seed;
    for (int b = 0; b < BLOCKS; b++)
        make_block(&network->blocks[b], channels[b], channels[b + 1], &random);
    /* Nobody wants the gradient of the pixels. */
    glcnn_convolution(network->blocks[0].convolution_gradient)->gradient_option =
        GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES;
    make_convolution(channels[BLOCKS], CLASSES, 7, true, &random, &network->classify,
                     &network->classify_gradient);
    must(glcnn_loss_create(device, GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_SUM,
                           &network->loss));
    glcnn_loss(network->loss)->weight = 1.0f / (float)options->batch; /* mean over the batch */
    must(glcnn_optimizer_stochastic_gradient_descent_create(device, options->learning_rate,
                                                            &network->descent));
    glcnn_optimizer(network->descent)->momentum_scale = MOMENTUM;
    /* running -= 0.1 * (running - batch) is gradient descent too: gradient -batch, and L2
     * regularisation adds running to it. */
    must(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.1f, &network->average));
    glcnn_optimizer(network->average)->gradient_rescale = -1.0f;
    glcnn_optimizer(network->average)->regularization_type = GLCNN_REGULARIZATION_TYPE_L2;
    glcnn_optimizer(network->average)->regularization_scale = 1.0f;
}

static void destroy_network(struct network *network)
{
    glcnn_kernel **kernels = (glcnn_kernel **)network;
    for (size_t i = 0; i < sizeof *network / sizeof *kernels; i++)
        glcnn_kernel_destroy(&kernels[i]);
}

/* ---- Encoding a step ---- */

/* A returning encode; the result will be read `reads` times. */
static glcnn_image *encode(glcnn_command_buffer *commands, glcnn_kernel *kernel,
                           glcnn_image *source, glcnn_image *secondary, glcnn_state *given,
                           glcnn_state **made, uint32_t reads)
{
    const struct glcnn_encode arguments = {
        .source = source, .secondary = secondary, .state = given};
    glcnn_image *result;
    must(glcnn_kernel_encode_returning(commands, kernel, &arguments, &result, made));
    must(glcnn_image_set_read_count(result, reads));
    return result;
}

/* A temporary state of weights is read by its gradient kernel, and then by the updates of its vectors. */
static void keep_for_update(glcnn_state *state)
{
    must(glcnn_state_set_read_count(state, 2));
}

/* A block's images and states that its gradient needs. */
struct trace {
    glcnn_image *source, *convolved, *normalised, *result;
    glcnn_state *convolution, *normalisation, *pool;
};

static void forward_block(glcnn_command_buffer *commands, struct block *block, glcnn_image *source,
                          struct trace *trace)
{
    trace->source = source;
    /* Read by statistics, normalise and their gradients. */
    trace->convolved =
        encode(commands, block->convolution, source, NULL, NULL, &trace->convolution, 4);
    keep_for_update(trace->convolution);
    must(glcnn_kernel_result_state(NULL, block->normalise, NULL, &trace->normalisation));
    must(glcnn_kernel_encode(
        commands, block->statistics,
        &(struct glcnn_encode){.source = trace->convolved, .state = trace->normalisation}));
    trace->normalised =
        encode(commands, block->normalise, trace->convolved, NULL, trace->normalisation, NULL, 2);
    trace->result = encode(commands, block->pool, trace->normalised, NULL, NULL, &trace->pool, 2);
}

static glcnn_image *gradient_block(glcnn_command_buffer *commands, struct block *block,
                                   glcnn_image *gradient, struct trace *trace, bool first)
{
    glcnn_image *pooled =
        encode(commands, block->pool_gradient, gradient, trace->normalised, trace->pool, NULL, 2);
    const struct glcnn_encode sums = {
        .source = pooled, .secondary = trace->convolved, .state = trace->normalisation};
    must(glcnn_kernel_encode(commands, block->statistics_gradient, &sums));
    glcnn_image *normalised = encode(commands, block->normalise_gradient, pooled, trace->convolved,
                                     trace->normalisation, NULL, 1);
    glcnn_image *result = NULL;
    if (first)
        must(glcnn_kernel_encode(commands, block->convolution_gradient,
                                 &(struct glcnn_encode){.source = normalised,
                                                        .secondary = trace->source,
                                                        .state = trace->convolution}));
    else
        result = encode(commands, block->convolution_gradient, normalised, trace->source,
                        trace->convolution, NULL, 1);
    glcnn_image_destroy(&pooled);
    glcnn_image_destroy(&normalised);
    return result;
}

/* Everything of a recorded training step. */
struct step {
    glcnn_command_buffer *commands;
    glcnn_buffer *image_bytes, *label_bytes, *loss_bytes;
    glcnn_image *images, *labels, *loss;
    struct trace traces[BLOCKS];
    glcnn_state *classify;
    glcnn_buffer *momentum[PARAMETERS];
    size_t momentum_count;
};

static glcnn_buffer *make_buffer(size_t bytes)
{
    glcnn_buffer *buffer;
    must(glcnn_buffer_create(device, bytes, &buffer));
    return buffer;
}

static glcnn_image *make_image(uint32_t width, uint32_t height, uint32_t feature_channels,
                               uint32_t images)
{
    const struct glcnn_image_descriptor descriptor = {.width = width,
                                                      .height = height,
                                                      .feature_channels = feature_channels,
                                                      .number_of_images = images};
    glcnn_image *image;
    must(glcnn_image_create(device, &descriptor, &image));
    return image;
}

/* Updates the vector `name` of `keeper` and gives it to another owner, if there is one. */
static void update(struct step *step, glcnn_kernel *optimizer, glcnn_kernel *keeper,
                   const char *name, glcnn_buffer *gradient, glcnn_kernel *other)
{
    glcnn_buffer *values = glcnn_kernel_vector(keeper, name);
    glcnn_buffer *momentum = make_buffer(glcnn_buffer_size(values));
    step->momentum[step->momentum_count++] = momentum;
    must(glcnn_optimizer_encode(step->commands, optimizer, gradient, values, momentum, NULL,
                                values));
    if (other)
        must(glcnn_kernel_encode_reload(step->commands, other, name, values));
}

static void update_block(struct step *step, struct network *network, int b)
{
    struct block *block = &network->blocks[b];
    glcnn_state *convolution = step->traces[b].convolution;
    glcnn_state *normalisation = step->traces[b].normalisation;
    update(step, network->descent, block->convolution, "weights",
           glcnn_state_vector(convolution, "gradient_for_weights"), block->convolution_gradient);
    update(step, network->descent, block->convolution, "biases",
           glcnn_state_vector(convolution, "gradient_for_biases"), NULL);
    update(step, network->descent, block->normalise, "gamma",
           glcnn_state_vector(normalisation, "gradient_for_gamma"), NULL);
    update(step, network->descent, block->normalise, "beta",
           glcnn_state_vector(normalisation, "gradient_for_beta"), NULL);
    static const char *const statistics[] = {"mean", "variance"};
    for (int i = 0; i < 2; i++) {
        glcnn_buffer *running = glcnn_kernel_vector(block->normalise, statistics[i]);
        must(glcnn_optimizer_encode(step->commands, network->average,
                                    glcnn_state_vector(normalisation, statistics[i]), running, NULL,
                                    NULL, running));
    }
}

static void begin_step(struct step *step, uint32_t batch)
{
    must(glcnn_command_buffer_create(device, &step->commands));
    step->image_bytes = make_buffer(sizeof(float) * batch * PIXELS);
    step->label_bytes = make_buffer(sizeof(uint32_t) * batch);
    step->loss_bytes = make_buffer(sizeof(float) * batch);
    step->images = make_image(SIDE, SIDE, 1, batch);
    step->labels = make_image(1, 1, CLASSES, batch);
    step->loss = make_image(1, 1, 1, batch);
    must(glcnn_image_encode_write(step->commands, step->images, NULL, step->image_bytes, 0));
    must(
        glcnn_image_encode_write_classes(step->commands, step->labels, NULL, step->label_bytes, 0));
}

static glcnn_image *encode_loss(struct step *step, struct network *network, glcnn_image *scores)
{
    glcnn_image *gradient;
    must(glcnn_temporary_image_create(step->commands, glcnn_image_get_descriptor(scores),
                                      &gradient));
    must(glcnn_image_set_read_count(gradient, 1));
    must(glcnn_kernel_encode(step->commands, network->loss,
                             &(struct glcnn_encode){.source = scores,
                                                    .labels = step->labels,
                                                    .loss = step->loss,
                                                    .destination = gradient}));
    must(glcnn_image_encode_read(step->commands, step->loss, NULL, step->loss_bytes, 0));
    return gradient;
}

static void encode_step(struct step *step, struct network *network, uint32_t batch)
{
    begin_step(step, batch);
    glcnn_image *image = step->images;
    for (int b = 0; b < BLOCKS; b++) {
        forward_block(step->commands, &network->blocks[b], image, &step->traces[b]);
        image = step->traces[b].result;
    }
    glcnn_image *scores =
        encode(step->commands, network->classify, image, NULL, NULL, &step->classify, 1);
    keep_for_update(step->classify);
    glcnn_image *loss_gradient = encode_loss(step, network, scores);
    glcnn_image *gradient = encode(step->commands, network->classify_gradient, loss_gradient, image,
                                   step->classify, NULL, 1);
    for (int b = BLOCKS; b-- > 0;) {
        glcnn_image *next =
            gradient_block(step->commands, &network->blocks[b], gradient, &step->traces[b], b == 0);
        glcnn_image_destroy(&gradient);
        gradient = next;
    }
    for (int b = 0; b < BLOCKS; b++)
        update_block(step, network, b);
    update(step, network->descent, network->classify, "weights",
           glcnn_state_vector(step->classify, "gradient_for_weights"), network->classify_gradient);
    update(step, network->descent, network->classify, "biases",
           glcnn_state_vector(step->classify, "gradient_for_biases"), NULL);
    glcnn_image_destroy(&scores);
    glcnn_image_destroy(&loss_gradient);
}

static void destroy_step(struct step *step)
{
    for (int b = 0; b < BLOCKS; b++) {
        struct trace *trace = &step->traces[b];
        glcnn_image_destroy(&trace->convolved);
        glcnn_image_destroy(&trace->normalised);
        glcnn_image_destroy(&trace->result);
        glcnn_state_destroy(&trace->convolution);
        glcnn_state_destroy(&trace->normalisation);
        glcnn_state_destroy(&trace->pool);
    }
    glcnn_state_destroy(&step->classify);
    glcnn_command_buffer_destroy(&step->commands);
    for (size_t i = 0; i < step->momentum_count; i++)
        glcnn_buffer_destroy(&step->momentum[i]);
    glcnn_image_destroy(&step->images);
    glcnn_image_destroy(&step->labels);
    glcnn_image_destroy(&step->loss);
    glcnn_buffer_destroy(&step->image_bytes);
    glcnn_buffer_destroy(&step->label_bytes);
    glcnn_buffer_destroy(&step->loss_bytes);
}

/* ---- Training ---- */

struct curve {
    double *steps, *losses;
    size_t count;
};

static float commit_step(struct step *step, const struct glcnn_data_batch *data, float *losses)
{
    const uint32_t batch = data->count;
    must(glcnn_buffer_write(step->image_bytes, 0, sizeof(float) * batch * PIXELS, data->floats));
    must(glcnn_buffer_write(step->label_bytes, 0, sizeof(uint32_t) * batch, data->labels));
    must(glcnn_command_buffer_commit(step->commands));
    must(glcnn_buffer_read(step->loss_bytes, 0, sizeof(float) * batch, losses));
    double sum = 0;
    for (uint32_t n = 0; n < batch; n++)
        sum += losses[n];
    return (float)sum;
}

/* The learning rate falls in a straight line to 0 at the last step. */
static void train(struct network *network, const struct options *options, glcnn_data_loader *loader,
                  struct curve *curve)
{
    struct step step = {0};
    struct progress progress;
    uint32_t batch = options->batch;
    size_t total = (size_t)glcnn_data_loader_steps(loader) * options->epochs;
    float *losses = allocate(batch, sizeof *losses);
    curve->steps = allocate(total + 1, sizeof *curve->steps);
    curve->losses = allocate(total + 1, sizeof *curve->losses);
    encode_step(&step, network, batch);
    progress_begin(&progress, stderr, total * batch);
    double smooth = 0;
    for (size_t s = 0; s < total && !interrupted; s++) {
        glcnn_optimizer(network->descent)->learning_rate =
            options->learning_rate * (float)(total - s) / (float)total;
        const struct glcnn_data_batch data = next_batch(loader);
        float loss = commit_step(&step, &data, losses);
        smooth = s ? 0.95 * smooth + 0.05 * loss : loss;
        curve->steps[curve->count] = (double)curve->count + 1;
        curve->losses[curve->count++] = (double)loss;
        progress_update(&progress, (s + 1) * batch, smooth);
    }
    progress_end(&progress, curve->count * batch, smooth);
    destroy_step(&step);
    free(losses);
}

/* ---- Testing ---- */

static void count_taken(const struct glcnn_data_batch *batch, const float *scores,
                        uint32_t confusion[CLASSES][CLASSES])
{
    for (uint32_t n = 0; n < batch->filled; n++) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < CLASSES; k++)
            if (scores[n * CLASSES + k] > scores[n * CLASSES + best])
                best = k;
        confusion[batch->labels[n]][best]++;
    }
}

static void classify_batches(struct network *network, glcnn_data_loader *loader,
                             uint32_t confusion[CLASSES][CLASSES])
{
    glcnn_command_buffer *commands;
    glcnn_buffer *pixels = make_buffer(sizeof(float) * TEST_BATCH * PIXELS);
    glcnn_buffer *scores = make_buffer(sizeof(float) * TEST_BATCH * CLASSES);
    glcnn_image *images = make_image(SIDE, SIDE, 1, TEST_BATCH);
    float taken[TEST_BATCH * CLASSES];
    must(glcnn_command_buffer_create(device, &commands));
    must(glcnn_image_encode_write(commands, images, NULL, pixels, 0));
    /* Without a state batch norm uses its running statistics. */
    glcnn_image *image = images;
    for (int b = 0; b <= BLOCKS; b++) {
        struct block *block = &network->blocks[b < BLOCKS ? b : 0];
        glcnn_kernel *const kernels[] = {block->convolution, block->normalise, block->pool};
        for (int k = 0; k < (b < BLOCKS ? 3 : 1); k++) {
            glcnn_image *next = encode(commands, b < BLOCKS ? kernels[k] : network->classify, image,
                                       NULL, NULL, NULL, 1);
            if (image != images)
                glcnn_image_destroy(&image);
            image = next;
        }
    }
    must(glcnn_image_encode_read(commands, image, NULL, scores, 0));
    for (uint64_t left = glcnn_data_loader_steps(loader); left > 0; left--) {
        const struct glcnn_data_batch batch = next_batch(loader);
        must(glcnn_buffer_write(pixels, 0, sizeof(float) * TEST_BATCH * PIXELS, batch.floats));
        must(glcnn_command_buffer_commit(commands));
        must(glcnn_buffer_read(scores, 0, sizeof taken, taken));
        count_taken(&batch, taken, confusion);
    }
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&images);
    glcnn_command_buffer_destroy(&commands);
    glcnn_buffer_destroy(&pixels);
    glcnn_buffer_destroy(&scores);
}

static void print_confusion(uint32_t confusion[CLASSES][CLASSES])
{
    printf("\n%-10s", "is \\ taken");
    for (int k = 0; k < CLASSES; k++)
        printf("%9s", fashion_names[k]);
    for (int t = 0; t < CLASSES; t++) {
        printf("\n%-10s", fashion_names[t]);
        for (int k = 0; k < CLASSES; k++)
            printf("%9u", confusion[t][k]);
    }
    printf("\n\n");
}

static void test(struct network *network, glcnn_data_loader *loader, uint32_t count)
{
    uint32_t confusion[CLASSES][CLASSES] = {{0}}, right = 0;
    classify_batches(network, loader, confusion);
    for (int k = 0; k < CLASSES; k++)
        right += confusion[k][k];
    print_confusion(confusion);
    printf("accuracy %.4f on %u test images\n", (double)right / count, count);
}

/* ---- Saving ---- */

static void read_vector(glcnn_kernel *kernel, const char *name, const char *prefix, uint32_t rank,
                        const uint32_t *shape, struct glcnn_array *array, char *full_name)
{
    glcnn_buffer *buffer = glcnn_kernel_vector(kernel, name);
    size_t size = glcnn_buffer_size(buffer);
    snprintf(full_name, 32, "%s_%s", prefix, name);
    *array = (struct glcnn_array){.name = full_name, .rank = rank, .data = allocate(1, size)};
    memcpy(array->shape, shape, sizeof *shape * rank);
    must(glcnn_buffer_read(buffer, 0, size, array->data));
}

/* Weights as [outputs][height][width][inputs], vectors as [channels]. */
static bool save_weights(struct network *network, const char *path, char error[GLCNN_ERROR_LENGTH])
{
    static const char *const vectors[] = {"gamma", "beta", "mean", "variance"};
    struct glcnn_array arrays[6 * BLOCKS + 2];
    char names[6 * BLOCKS + 2][32], prefix[32];
    size_t n = 0;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        struct block *block = &network->blocks[b];
        const uint32_t shape[4] = {channels[b + 1], 3, 3, channels[b]};
        snprintf(prefix, sizeof prefix, "convolution%u", b + 1);
        read_vector(block->convolution, "weights", prefix, 4, shape, &arrays[n], names[n]), n++;
        read_vector(block->convolution, "biases", prefix, 1, shape, &arrays[n], names[n]), n++;
        snprintf(prefix, sizeof prefix, "normalisation%u", b + 1);
        for (int v = 0; v < 4; v++, n++)
            read_vector(block->normalise, vectors[v], prefix, 1, shape, &arrays[n], names[n]);
    }
    const uint32_t shape[4] = {CLASSES, 7, 7, channels[BLOCKS]};
    read_vector(network->classify, "weights", "classify", 4, shape, &arrays[n], names[n]), n++;
    read_vector(network->classify, "biases", "classify", 1, shape, &arrays[n], names[n]), n++;
    bool good = npz_write(path, arrays, n, error);
    for (size_t i = 0; i < n; i++)
        free(arrays[i].data);
    return good;
}

static void save(struct network *network, const struct options *options, const struct curve *curve)
{
    char path[4096], error[GLCNN_ERROR_LENGTH];
    if (mkdir(options->out, 0777) != 0 && errno != EEXIST)
        die("the directory of --out cannot be made");
    snprintf(path, sizeof path, "%s/weights.npz", options->out);
    if (!save_weights(network, path, error))
        die(error);
    printf("weights: %s\n", path);
    if (curve->count == 0)
        return;
    const struct plot_panel panel = {
        "loss", {{"training", curve->steps, curve->losses, curve->count, false}}};
    const struct plot plot = {"Fashion-MNIST", "step", &panel, 1};
    snprintf(path, sizeof path, "%s/loss.svg", options->out);
    if (!plot_write(path, &plot, error))
        die(error);
    printf("loss curve: %s\n", path);
}

/* ---- Options ---- */

static const char usage[] =
    "usage: fashion_mnist [--epochs N] [--batch N] [--seed N] [--lr RATE] [--limit IMAGES]\n"
    "                     [--data DIRECTORY] [--out DIRECTORY]\n"
    "Trains on Fashion-MNIST, tests, and writes loss.svg and weights.npz to the out directory.\n"
    "Defaults: 1 epoch, batches of 64, seed 1, rate 0.02, all images,\n"
    "/usr/share/datasets/fashion-mnist, ./fashion_mnist.\n";

static float rate(const char *text)
{
    double value;
    char message[256];
    if (option_real(text, 0, 100, &value))
        return (float)value;
    snprintf(message, sizeof message, "--lr is \"%s\"; it must be a number in 0 .. 100", text);
    die(message);
    return 0;
}

static uint64_t whole(const char *name, const char *text, uint64_t low, uint64_t high)
{
    uint64_t value;
    char message[256];
    if (option_whole(text, low, high, &value))
        return value;
    snprintf(message, sizeof message,
             "--%s is \"%s\"; it must be a whole number in %" PRIu64 " .. %" PRIu64, name, text,
             low, high);
    die(message);
    return 0;
}

static void read_options(int argc, char **argv, struct options *options)
{
    static const struct option table[] = {{"epochs", required_argument, NULL, 'e'},
                                          {"batch", required_argument, NULL, 'b'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"lr", required_argument, NULL, 'r'},
                                          {"limit", required_argument, NULL, 'l'},
                                          {"data", required_argument, NULL, 'd'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int which, index = 0;
    while ((which = getopt_long(argc, argv, "", table, &index)) != -1) {
        if (which == 'h') {
            fputs(usage, stdout);
            exit(0);
        }
        if (which == 'e')
            options->epochs = (uint32_t)whole("epochs", optarg, 1, 10000);
        else if (which == 'b')
            options->batch = (uint32_t)whole("batch", optarg, 1, 4096);
        else if (which == 's')
            options->seed = whole("seed", optarg, 0, UINT64_MAX);
        else if (which == 'r')
            options->learning_rate = rate(optarg);
        else if (which == 'l')
            options->limit = (uint32_t)whole("limit", optarg, 0, 1000000000);
        else if (which == 'd')
            options->data = optarg;
        else if (which == 'o')
            options->out = optarg;
        else
            die("unknown option; --help lists them");
    }
    if (optind < argc)
        die("there are words beside the options; --help lists them");
}

int main(int argc, char **argv)
{
    struct options options = {.epochs = 1,
                              .batch = 64,
                              .seed = 1,
                              .learning_rate = 0.02f,
                              .data = FASHION_DIRECTORY,
                              .out = "fashion_mnist"};
    const struct glcnn_device_parameters parameters = {.log = print_log};
    struct network network = {0};
    struct curve curve = {0};
    read_options(argc, argv, &options);
    glcnn_dataset *data = open_data(options.data);
    glcnn_data_loader *training = load(
        data,
        &(struct glcnn_data_loader_parameters){
            .batch = options.batch, .limit = options.limit, .shuffle = true, .seed = options.seed});
    glcnn_data_loader *testing = load(data, &(struct glcnn_data_loader_parameters){
                                                .part = GLCNN_DATA_PART_TEST, .batch = TEST_BATCH});
    if (glcnn_device_create(&parameters, &device) != GLCNN_SUCCESS)
        return 77;
    printf("device: %s\n", glcnn_device_info(device)->renderer);
    signal(SIGINT, interrupt);
    make_network(&network, &options);
    train(&network, &options, training, &curve);
    test(&network, testing, glcnn_dataset_info(data)->counts[GLCNN_DATA_PART_TEST]);
    save(&network, &options, &curve);
    destroy_network(&network);
    glcnn_device_destroy(&device);
    glcnn_data_loader_destroy(&training);
    glcnn_data_loader_destroy(&testing);
    glcnn_dataset_destroy(&data);
    free(curve.steps);
    free(curve.losses);
    return interrupted ? 130 : 0;
}
