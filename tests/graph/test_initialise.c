/* Weights to begin with: glcnn_network_initialise. */
#include <math.h>

#include "base/random.h"
#include "tests/graphs.h"

#define SEED  7
#define LAYER "input_feature_channels=2 output_feature_channels=3 kernel_width=3 kernel_height=3"

/* A network of one convolution of 3x3 from 2 to 3 channels, and what `kernel` makes of it. */
static glcnn_network *network_of(const char *more, const char *kernel, const char *settings,
                                 glcnn_image_node **layer)
{
    char all[160];
    glcnn_network *net = make_network();
    snprintf(all, sizeof all, LAYER " %s", more);
    *layer = glcnn_node(make_input(net, "x"), "convolution", all);
    if (kernel)
        glcnn_node(*layer, kernel, settings);
    GOOD_FATAL(glcnn_network_status(net));
    return net;
}

static float *weights_of(glcnn_image_node *layer)
{
    return vector_values(glcnn_kernel_vector(kernel_of(layer), "weights"));
}

/* The formula with numbers from elsewhere: sqrt(6 / 18) (2 floor(z / 2^40) / 2^24 - 1), of which 6 / 18,
 * the root and the product are rounded. */
static void test_bits_are_those_of_the_formula(void)
{
    static const float expected[] = {-0x1.04889ep-3f, -0x1.1dad92p-1f, 0x1.d9dd6p-2f,
                                     0x1.883b3ep-4f};
    static volatile float share = 6.0f / 18, bound;
    glcnn_image_node *layer;
    glcnn_network *net = network_of("", NULL, NULL, &layer);
    GOOD(glcnn_network_initialise(net, SEED));
    float *found = weights_of(layer);
    CU_ASSERT_EQUAL(memcmp(found, expected, sizeof expected), 0);
    size_t count = vector_count(glcnn_kernel_vector(kernel_of(layer), "weights"));
    uint64_t state = SEED;
    bound = sqrtf(share);
    for (size_t i = 0; i < count; i++) {
        float part = 2.0f * (float)(random_next(&state) >> 40) / (float)(1 << 24) - 1;
        CU_ASSERT_EQUAL(found[i], (float)((double)bound * (double)part)); /* exact, then rounded */
    }
    free(found);
    glcnn_network_destroy(&net);
}

/* Weights drawn with this bound, layer by layer: those of the examples, which draw by themselves
 * what they do not hand to the library. */
static void check_weights(glcnn_image_node *layer, uint64_t *state, uint32_t inputs)
{
    size_t count = vector_count(glcnn_kernel_vector(kernel_of(layer), "weights"));
    float *expected = calloc(count, sizeof *expected), *found = weights_of(layer);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
    random_weights(state, expected, count, inputs);
    CU_ASSERT_EQUAL(memcmp(found, expected, count * sizeof *found), 0);
    free(expected);
    free(found);
}

static void check_bound(const char *more, const char *kernel, const char *settings, uint32_t fans)
{
    uint64_t state = SEED;
    glcnn_image_node *layer;
    glcnn_network *net = network_of(more, kernel, settings, &layer);
    GOOD(glcnn_network_initialise(net, SEED));
    check_weights(layer, &state, fans);
    glcnn_network_destroy(&net);
}

#define HE     18        /* 3 * 3 * 2 */
#define GLOROT (18 + 27) /* and 3 * 3 * 3 */

static void test_the_neuron_behind_sets_the_bound(void)
{
    static const char *const rectifiers[] = {"relu", "elu", "soft_plus", "prelu",
                                             "relun neuron_a=0"};
    static const char *const others[] = {"tanh",   "sigmoid",        "hard_sigmoid",
                                         "linear", "absolute",       "soft_sign",
                                         "relun",  "relu neuron_a=1"};
    char settings[64];
    for (size_t i = 0; i < sizeof rectifiers / sizeof *rectifiers; i++) {
        snprintf(settings, sizeof settings, "neuron_type=%s", rectifiers[i]);
        check_bound("", "neuron", settings, HE);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(settings, sizeof settings, "neuron_type=%s", others[i]);
        check_bound("", "neuron", settings, GLOROT);
    }
    check_bound("", NULL, NULL, HE);
    check_bound("", "soft_max", NULL, HE);
    check_bound("neuron_type=soft_sign", "neuron", "neuron_type=relu", GLOROT);
    check_bound("", "batch_normalization", "neuron_type=sigmoid", GLOROT);
}

/* On the way to its neuron a result may be pooled and added up, but not weighted again; groups have
 * fewer inputs and outputs, a fully connected layer's outputs are its channels. */
static void test_layers_of_a_network(void)
{
    uint64_t state = SEED;
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x"), *layers[4], *first;
    first = layers[0] = glcnn_node(x, "convolution", LAYER);
    x = glcnn_node(glcnn_node(first, "pooling_average", NULL), "batch_normalization", NULL);
    x = glcnn_node(glcnn_node_binary(x, first, "add", NULL), "neuron", "neuron_type=tanh");
    x = layers[1] = glcnn_node(x, "convolution",
                               "input_feature_channels=3 output_feature_channels=6 groups=3 "
                               "kernel_width=3 kernel_height=1 neuron_type=tanh");
    x = layers[2] = glcnn_node(x, "convolution_transpose",
                               "input_feature_channels=6 output_feature_channels=4 "
                               "kernel_width=2 kernel_height=2");
    x = layers[3] = glcnn_node(x, "fully_connected",
                               "input_feature_channels=4 output_feature_channels=5 kernel_width=4 "
                               "kernel_height=4");
    glcnn_node(x, "neuron", "neuron_type=sigmoid");
    GOOD_FATAL(glcnn_network_initialise(net, SEED));
    check_weights(layers[0], &state, 18 + 27);
    check_weights(layers[1], &state, 3 + 3 * 6 / 3);
    check_weights(layers[2], &state, 2 * 2 * 6);
    check_weights(layers[3], &state, 4 * 4 * 4 + 5);
    CU_ASSERT_FALSE(glcnn_kernel_has_vector(kernel_of(layers[0]), "biases"));
    glcnn_network_destroy(&net);
}

/* ---- Whose weights ---- */

static const float *halves(void *context, const char *vector, size_t count)
{
    static float values[54];
    (void)context;
    for (size_t i = 0; i < count; i++)
        values[i] = 0.5f;
    return strcmp(vector, "weights") == 0 ? values : NULL;
}

static void test_values_of_data_sources_stay(void)
{
    uint64_t state = SEED;
    glcnn_image_node *given, *drawn;
    glcnn_network *net = network_of("", NULL, NULL, &given);
    const struct glcnn_data_source source = {.values = halves};
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(given), &source));
    drawn = glcnn_node(given, "convolution", LAYER);
    train_network(net, false);
    GOOD(glcnn_network_initialise(net, SEED));
    float *found = weights_of(given);
    CU_ASSERT_EQUAL(found[0], 0.5f);
    free(found);
    check_weights(drawn, &state, HE);
    glcnn_network_destroy(&net);
}

/* Channels come from the filters before, and what was set stays. */
static void test_normalisations_begin_with_their_vectors(void)
{
    const float set[3] = {7, 8, 9};
    float found[3];
    glcnn_image_node *layer;
    glcnn_network *net = network_of("", NULL, NULL, &layer);
    const size_t channels = 3;
    glcnn_kernel *first = kernel_of(glcnn_node(layer, "batch_normalization", NULL)),
                 *other = kernel_of(glcnn_node(layer, "instance_normalization", NULL));
    GOOD(glcnn_kernel_set_vector(other, "beta", set, channels));
    CU_ASSERT_EQUAL(glcnn_kernel_vector_length(first, "gamma"), 0);
    GOOD(glcnn_network_initialise(net, SEED));
    static const struct {
        const char *name;
        float value;
    } all[] = {{"gamma", 1}, {"beta", 0}, {"mean", 0}, {"variance", 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CU_ASSERT_EQUAL_FATAL(glcnn_kernel_vector_length(first, all[i].name), channels);
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(first, all[i].name), 0, sizeof found, found));
        CU_ASSERT(found[0] == all[i].value && found[2] == all[i].value);
    }
    CU_ASSERT_EQUAL(glcnn_kernel_vector_length(other, "gamma"), channels);
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(other, "beta"), 0, sizeof found, found));
    CU_ASSERT_EQUAL(found[1], 8);
    glcnn_network_destroy(&net);
}

/* The layer is named, and those before it have what they had. */
static void test_unknown_channels_are_refused(void)
{
    glcnn_image_node *layer;
    glcnn_network *net = network_of("", "convolution", NULL, &layer);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_network_initialise(net, SEED));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "convolution_1"));
    CU_ASSERT_FALSE(glcnn_kernel_has_vector(kernel_of(layer), "weights"));
    CU_ASSERT_EQUAL(glcnn_network_initialise(NULL, SEED), GLCNN_INVALID_ARGUMENT);
    glcnn_network_destroy(&net);
}

/* A type that a program made up is refused where the neuron runs, not looked up before. */
static void test_unknown_neurons_do_no_harm(void)
{
    uint64_t state = SEED;
    glcnn_image_node *layer, *x;
    glcnn_network *net = network_of("", NULL, NULL, &layer);
    x = glcnn_node(layer, "neuron", NULL);
    glcnn_neuron(kernel_of(x))->neuron.type = GLCNN_NEURON_TYPE_FORCE32;
    GOOD(glcnn_network_initialise(net, SEED));
    check_weights(layer, &state, GLOROT);
    glcnn_graph *graph = graph_of(x);
    glcnn_image *source = make_image(1, 2, 4, 4);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_graph_execute(graph, &source, NULL, NULL));
    glcnn_image_destroy(&source);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_bits_are_those_of_the_formula),
        UNIT_TEST(test_the_neuron_behind_sets_the_bound),
        UNIT_TEST(test_layers_of_a_network),
        UNIT_TEST(test_values_of_data_sources_stay),
        UNIT_TEST(test_normalisations_begin_with_their_vectors),
        UNIT_TEST(test_unknown_channels_are_refused),
        UNIT_TEST(test_unknown_neurons_do_no_harm),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("initialise", tests, argc, argv);
}
