/* Twenty steps of training through the public interface against PyTorch's autograd: gradients of
 * the last step and weights after it. golden/make_golden.py describes the network's numbers, which
 * both sides make from the same hash of integers, and writes PyTorch's results.
 *
 *   28x28x1   convolution 3x3 to 16, batch norm with a fused ReLU, max pool 2
 *   14x14x16  convolution 3x3 to 32, batch norm, ReLU, max pool 2
 *   7x7x32    fully connected 10, soft-max cross entropy, mean over the batch of 64
 *
 * The step is encoded once and committed twenty times. */
#include <glcnn/glcnn.h>

#include "tests/archive.h"
#include "tests/cases.h"

#define STEPS     20
#define BATCH     64
#define CLASSES   10
#define SIDE      28
#define PIXELS    (SIDE * SIDE)
#define TOLERANCE 1e-4 /* times max(1, norm) */

enum { CONVOLUTION_1, NORM_1, POOL_1, CONVOLUTION_2, NORM_2, RELU_2, POOL_2, CONNECTED, LAYERS };

/* `before` and `before_gradient` are what batch normalisation encodes in front of each. */
struct layer {
    glcnn_kernel *forward, *gradient, *before, *before_gradient;
    glcnn_state *state;
    glcnn_image *source, *back; /* input, and the gradient for it */
};

struct parameter_of {
    int layer;
    const char *name;
    glcnn_buffer *momentum;
};

static struct parameter_of trained[] = {
    {CONVOLUTION_1, "weights", NULL}, {CONVOLUTION_1, "biases", NULL},
    {NORM_1, "gamma", NULL},          {NORM_1, "beta", NULL},
    {CONVOLUTION_2, "weights", NULL}, {CONVOLUTION_2, "biases", NULL},
    {NORM_2, "gamma", NULL},          {NORM_2, "beta", NULL},
    {CONNECTED, "weights", NULL},     {CONNECTED, "biases", NULL},
};
#define TRAINED (sizeof trained / sizeof *trained)

static struct layer layers[LAYERS];
static glcnn_kernel *loss_kernel, *optimizer;
static glcnn_image *images, *labels, *scores, *scores_gradient, *losses;
static glcnn_command_buffer *commands;

static void must(glcnn_status status)
{
    if (status != GLCNN_SUCCESS)
        fprintf(stderr, "\n  %s\n", glcnn_device_error(cases_device()));
    CU_ASSERT_EQUAL_FATAL(status, GLCNN_SUCCESS);
}

/* ---- Numbers ---- */

/* The 32-bit finaliser of MurmurHash3. */
static uint32_t mix(uint32_t i)
{
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return i ^ i >> 16;
}

/* Batches 0 to 18, then one in which nothing is so close to a kink that float32 may cross it. */
static uint32_t batch_number(uint32_t step)
{
    return step < STEPS - 1 ? step : 151;
}

static void write_batch(uint32_t number)
{
    static float pixels[BATCH][PIXELS], classes[BATCH][CLASSES];
    memset(classes, 0, sizeof classes);
    for (uint32_t n = 0; n < BATCH; n++) {
        uint32_t image = number * BATCH + n, label = mix(image + 7) % CLASSES;
        classes[n][label] = 1;
        for (uint32_t i = 0; i < PIXELS; i++)
            pixels[n][i] = (float)((mix(label * PIXELS + i + 1000003) & 127) +
                                   (mix(image * PIXELS + i + 2000003) & 127)) /
                           256;
    }
    must(glcnn_image_write_bytes(images, NULL, pixels, sizeof pixels));
    must(glcnn_image_write_bytes(labels, NULL, classes, sizeof classes));
}

static float *initial(uint32_t layer, float bound, size_t count)
{
    float *values = malloc(count * sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (size_t i = 0; i < count; i++)
        values[i] = bound * ((float)(mix((uint32_t)i + layer * 100003) >> 8) / 8388608 - 1);
    return values;
}

/* ---- The network ---- */

static void make_convolution(uint32_t index, uint32_t inputs, uint32_t outputs, uint32_t size,
                             float bound)
{
    struct layer *layer = &layers[index];
    const struct glcnn_convolution_descriptor descriptor = {.kernel_width = size,
                                                            .kernel_height = size,
                                                            .input_feature_channels = inputs,
                                                            .output_feature_channels = outputs};
    float *values = initial(index, bound, (size_t)outputs * size * size * inputs);
    const struct glcnn_convolution_weights weights = {.weights = values};
    bool full = index == CONNECTED;
    must((full ? glcnn_fully_connected_create
               : glcnn_convolution_create)(cases_device(), &descriptor, &weights, &layer->forward));
    must((full ? glcnn_fully_connected_gradient_create : glcnn_convolution_gradient_create)(
        cases_device(), &descriptor, &weights, &layer->gradient));
    free(values);
}

static void make_normalisation(int index, uint32_t channels,
                               const struct glcnn_neuron_descriptor *neuron)
{
    struct layer *layer = &layers[index];
    const struct glcnn_batch_normalization_data_source source = {
        .number_of_feature_channels = channels, .epsilon = 1e-5f};
    glcnn_device *device = cases_device();
    must(glcnn_batch_normalization_statistics_create(device, &layer->before));
    must(glcnn_batch_normalization_create(device, &source, neuron, &layer->forward));
    must(glcnn_batch_normalization_statistics_gradient_create(device, neuron,
                                                              &layer->before_gradient));
    must(glcnn_batch_normalization_gradient_create(device, neuron, &layer->gradient));
    must(glcnn_kernel_result_state(NULL, layer->forward, NULL, &layer->state));
}

static void make_pool(int index)
{
    struct layer *layer = &layers[index];
    must(glcnn_pooling_max_create(cases_device(), 2, 2, 2, 2, &layer->forward));
    must(glcnn_pooling_max_gradient_create(cases_device(), 2, 2, 2, 2, &layer->gradient));
    glcnn_kernel_properties(layer->forward)->padding = GLCNN_PADDING_SIZE_VALID_ONLY;
}

static void make_optimizers(void)
{
    must(glcnn_loss_create(cases_device(), GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY,
                           GLCNN_REDUCTION_TYPE_SUM, &loss_kernel));
    glcnn_loss(loss_kernel)->weight = 1.0f / BATCH;
    must(glcnn_optimizer_stochastic_gradient_descent_create(cases_device(), 1.0f / 4096,
                                                            &optimizer));
    glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
}

static void make_network(void)
{
    const struct glcnn_neuron_descriptor relu = {.type = GLCNN_NEURON_TYPE_RELU};
    make_convolution(CONVOLUTION_1, 1, 16, 3, 0.5f);
    make_normalisation(NORM_1, 16, &relu);
    make_pool(POOL_1);
    make_convolution(CONVOLUTION_2, 16, 32, 3, 0.125f);
    make_normalisation(NORM_2, 32, NULL);
    must(glcnn_neuron_create(cases_device(), &relu, NULL, 0, &layers[RELU_2].forward));
    must(glcnn_neuron_gradient_create(cases_device(), &relu, NULL, 0, &layers[RELU_2].gradient));
    make_pool(POOL_2);
    make_convolution(CONNECTED, 32, CLASSES, 7, 0.0625f);
    make_optimizers();
}

static glcnn_image *make_image(uint32_t side, uint32_t channels)
{
    const struct glcnn_image_descriptor descriptor = {
        .width = side, .height = side, .feature_channels = channels, .number_of_images = BATCH};
    glcnn_image *image;
    must(glcnn_image_create(cases_device(), &descriptor, &image));
    return image;
}

/* ---- The step ---- */

/* Images are ordinary ones, so that nobody has to count who reads them. */
static glcnn_image *encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments,
                           glcnn_state **state)
{
    glcnn_image *result;
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    must(glcnn_kernel_encode_returning(commands, kernel, arguments, &result, state));
    return result;
}

static void encode_forward(void)
{
    glcnn_image *image = images;
    for (int i = 0; i < LAYERS; i++) {
        struct layer *layer = &layers[i];
        layer->source = image;
        const struct glcnn_encode arguments = {.source = image, .state = layer->state};
        if (layer->before)
            must(glcnn_kernel_encode(commands, layer->before, &arguments));
        image = encode(layer->forward, &arguments, layer->state ? NULL : &layer->state);
    }
    scores = image;
    scores_gradient = make_image(1, CLASSES);
    must(glcnn_kernel_encode(
        commands, loss_kernel,
        &(struct glcnn_encode){
            .source = scores, .labels = labels, .loss = losses, .destination = scores_gradient}));
}

static void encode_backward(void)
{
    glcnn_image *gradient = scores_gradient;
    for (int i = LAYERS; i-- > 0;) {
        struct layer *layer = &layers[i];
        const struct glcnn_encode arguments = {
            .source = gradient, .secondary = layer->source, .state = layer->state};
        if (layer->before_gradient)
            must(glcnn_kernel_encode(commands, layer->before_gradient, &arguments));
        gradient = layer->back = encode(layer->gradient, &arguments, NULL);
    }
}

static glcnn_buffer *gradient_of(const struct parameter_of *p)
{
    char name[48];
    snprintf(name, sizeof name, "gradient_for_%s", p->name);
    return glcnn_state_vector(layers[p->layer].state, name);
}

static void encode_updates(void)
{
    for (size_t i = 0; i < TRAINED; i++) {
        struct layer *layer = &layers[trained[i].layer];
        glcnn_buffer *values = glcnn_kernel_vector(layer->forward, trained[i].name);
        must(glcnn_buffer_create(cases_device(), glcnn_buffer_size(values), &trained[i].momentum));
        must(glcnn_optimizer_encode(commands, optimizer, gradient_of(&trained[i]), values,
                                    trained[i].momentum, NULL, values));
        if (strcmp(trained[i].name, "weights") == 0)
            must(glcnn_kernel_encode_reload(commands, layer->gradient, "weights", values));
    }
}

/* ---- Comparison ---- */

static void compare(struct zip *archive, const char *name, const float *found, size_t count)
{
    CU_ASSERT_TRUE(archive_is_near(archive, name, found, count, TOLERANCE));
}

static void compare_buffer(struct zip *archive, const struct parameter_of *p, const char *prefix,
                           glcnn_buffer *buffer)
{
    char name[64];
    size_t bytes = glcnn_buffer_size(buffer);
    float *found = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    must(glcnn_buffer_read(buffer, 0, bytes, found));
    snprintf(name, sizeof name, "%d.%s%s", p->layer, prefix, p->name);
    compare(archive, name, found, bytes / sizeof *found);
    free(found);
}

static float read_loss(void)
{
    float values[BATCH];
    double sum = 0;
    must(glcnn_image_read_bytes(losses, NULL, values, sizeof values));
    for (int n = 0; n < BATCH; n++)
        sum += (double)values[n];
    return (float)sum;
}

static void begin(void)
{
    images = make_image(SIDE, 1);
    labels = make_image(1, CLASSES);
    losses = make_image(1, 1);
    must(glcnn_command_buffer_create(cases_device(), &commands));
    make_network();
    encode_forward();
    encode_backward();
    encode_updates();
}

static void destroy_layer(struct layer *layer)
{
    glcnn_kernel_destroy(&layer->forward);
    glcnn_kernel_destroy(&layer->gradient);
    glcnn_kernel_destroy(&layer->before);
    glcnn_kernel_destroy(&layer->before_gradient);
    glcnn_state_destroy(&layer->state);
    glcnn_image_destroy(&layer->source);
    glcnn_image_destroy(&layer->back);
}

static void end(void)
{
    glcnn_command_buffer_destroy(&commands);
    for (int i = 0; i < LAYERS; i++)
        destroy_layer(&layers[i]);
    for (size_t i = 0; i < TRAINED; i++)
        glcnn_buffer_destroy(&trained[i].momentum);
    glcnn_kernel_destroy(&loss_kernel);
    glcnn_kernel_destroy(&optimizer);
    glcnn_image_destroy(&labels);
    glcnn_image_destroy(&losses);
    glcnn_image_destroy(&scores);
    glcnn_image_destroy(&scores_gradient);
}

static void twenty_steps_are_pytorchs(void)
{
    float loss[STEPS];
    begin();
    for (uint32_t step = 0; step < STEPS; step++) {
        write_batch(batch_number(step));
        must(glcnn_command_buffer_commit(commands));
        loss[step] = read_loss();
    }
    struct zip *archive = archive_open("tests/golden/training.npz");
    CU_ASSERT_PTR_NOT_NULL_FATAL(archive);
    compare(archive, "loss", loss, STEPS);
    for (size_t i = 0; i < TRAINED; i++) {
        const struct layer *layer = &layers[trained[i].layer];
        compare_buffer(archive, &trained[i], "gradient_for_", gradient_of(&trained[i]));
        compare_buffer(archive, &trained[i], "",
                       glcnn_kernel_vector(layer->forward, trained[i].name));
    }
    archive_close(archive);
    end();
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(twenty_steps_are_pytorchs), CU_TEST_INFO_NULL};
    return cases_main("training", tests, argc, argv);
}
