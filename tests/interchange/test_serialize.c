/* Kernels and networks as bytes: what goes in comes out, bit for bit, and what is not such bytes
 * gives a message and nothing else. */
#include <dirent.h>
#include <float.h>
#include <math.h>

#include "encode/kernel.h"
#include "tests/fixture.h"
#include "tests/fuzz/samples.h"

struct bytes {
    uint8_t *data;
    size_t size;
};

static char error[512];

/* Says the message of what should not have failed. */
static bool went_well(glcnn_status status, int line)
{
    if (status != GLCNN_SUCCESS)
        fprintf(stderr, "\nline %d: %s: %s\n", line, glcnn_status_text(status), error);
    return status == GLCNN_SUCCESS;
}
#define WELL(call) CU_ASSERT_TRUE_FATAL(went_well(call, __LINE__))

static struct bytes kernel_bytes(glcnn_kernel *kernel, bool with_weights)
{
    struct bytes b = {0};
    WELL(glcnn_kernel_serialize(kernel, with_weights, &b.data, &b.size, error));
    return b;
}

static struct bytes network_bytes(glcnn_network *network, bool with_weights)
{
    struct bytes b = {0};
    WELL(glcnn_network_serialize(network, with_weights, &b.data, &b.size, error));
    return b;
}

static glcnn_kernel *kernel_of(struct bytes b)
{
    glcnn_kernel *kernel = NULL;
    WELL(glcnn_kernel_deserialize(device, b.data, b.size, &kernel, error));
    return kernel;
}

static glcnn_network *network_of(struct bytes b)
{
    glcnn_network *network = NULL;
    WELL(glcnn_network_deserialize(device, b.data, b.size, &network, error));
    return network;
}

static bool equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static void release(struct bytes *b)
{
    glcnn_serialize_destroy(b->data);
    *b = (struct bytes){0};
}

/* ---- Kernels ---- */

/* A value of the row's range, another one than the default wherever there is one. */
static double value_of(const struct glcnn_parameter_info *row, unsigned variant)
{
    double inside = row->type == GLCNN_PARAMETER_REAL ? 0.1 : row->default_value + 1;
    double values[] = {row->minimum, row->maximum, inside};
    double value = values[variant];
    if (row->type == GLCNN_PARAMETER_ENUMERATION || row->type == GLCNN_PARAMETER_BOOLEAN)
        value = variant ? row->maximum : row->minimum;
    return value >= row->minimum && value <= row->maximum ? value : row->minimum;
}

static void check_equal(glcnn_kernel *a, glcnn_kernel *b)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(a->descriptor->name);
    CU_ASSERT_PTR_EQUAL_FATAL(a->descriptor, b->descriptor);
    for (size_t i = 0; i < info->parameter_count; i++) {
        double x = 0, y = 1;
        GOOD(glcnn_kernel_get(a, info->parameters[i].name, &x));
        GOOD(glcnn_kernel_get(b, info->parameters[i].name, &y));
        CU_ASSERT(memcmp(&x, &y, sizeof x) == 0);
    }
    CU_ASSERT(memcmp(&a->properties, &b->properties, sizeof a->properties) == 0);
    CU_ASSERT(memcmp(a->parameters, b->parameters, a->descriptor->parameters_size) == 0);
    CU_ASSERT_EQUAL(a->encode_count, b->encode_count);
    CU_ASSERT((a->label == NULL) == (b->label == NULL));
    if (a->label && b->label)
        CU_ASSERT_STRING_EQUAL(a->label, b->label);
}

static void check_round_trip(const struct glcnn_kernel_info *info, unsigned variant)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, info->name, &kernel));
    for (size_t i = 0; i < info->parameter_count; i++)
        GOOD(glcnn_kernel_set(kernel, info->parameters[i].name,
                              value_of(&info->parameters[i], variant)));
    kernel->properties.result_is_ordinary = variant == 1;
    glcnn_kernel_set_encode_count(kernel, variant ? UINT32_MAX - variant : 0);
    GOOD(glcnn_kernel_set_label(kernel, variant ? "caf\xc3\xa9" : NULL));
    struct bytes b = kernel_bytes(kernel, variant == 0);
    glcnn_kernel *copy = kernel_of(b);
    check_equal(kernel, copy);
    struct bytes again = kernel_bytes(copy, variant == 0);
    CU_ASSERT(equal(b, again));
    release(&again);
    release(&b);
    glcnn_kernel_destroy(&copy);
    glcnn_kernel_destroy(&kernel);
}

static void test_every_kernel(void)
{
    CU_ASSERT(glcnn_kernel_count() > 60);
    for (size_t i = 0; i < glcnn_kernel_count(); i++)
        for (unsigned variant = 0; variant < 3; variant++)
            check_round_trip(glcnn_kernel_info_at(i), variant);
}

/* A value that needs all 64 bits, and reals at the ends of their types. */
static void test_exact_values(void)
{
    glcnn_kernel *kernel = NULL, *copy;
    uint64_t seed = 0;
    GOOD_FATAL(glcnn_kernel_create(device, "dropout", &kernel));
    GOOD(glcnn_kernel_set_uint64(kernel, "seed", 0xfedcba9876543211u));
    struct bytes b = kernel_bytes(kernel, true);
    copy = kernel_of(b);
    GOOD(glcnn_kernel_get_uint64(copy, "seed", &seed));
    CU_ASSERT_EQUAL(seed, 0xfedcba9876543211u);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set_uint64(copy, "keep_probability", 1));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_get_uint64(copy, "padding", &seed));
    release(&b);
    glcnn_kernel_destroy(&copy);
    glcnn_kernel_destroy(&kernel);
}

static void check_real(double value)
{
    glcnn_kernel *kernel = NULL;
    double found = 0;
    GOOD_FATAL(glcnn_kernel_create(device, "loss", &kernel));
    GOOD(glcnn_kernel_set(kernel, "weight", value));
    struct bytes b = kernel_bytes(kernel, false);
    glcnn_kernel *copy = kernel_of(b);
    GOOD(glcnn_kernel_get(copy, "weight", &found));
    CU_ASSERT(memcmp(&found, &value, sizeof value) == 0);
    release(&b);
    glcnn_kernel_destroy(&copy);
    glcnn_kernel_destroy(&kernel);
}

static void test_reals(void)
{
    check_real(-0.0);
    check_real((double)FLT_MAX);
    check_real((double)-FLT_TRUE_MIN);
    check_real((double)0.1f);
}

/* Executes a kernel and its round trip on the same image, each twice, so that counts matter. */
static void check_results(const char *name, const char *settings, glcnn_image *source,
                          glcnn_image *secondary)
{
    glcnn_network *network = NULL;
    glcnn_image_node *nodes[2];
    GOOD_FATAL(glcnn_network_create(device, &network));
    nodes[0] = glcnn_image_node_create(network, NULL);
    nodes[1] = glcnn_image_node_create(network, NULL);
    glcnn_filter_node *filter =
        glcnn_filter_node_create(network, name, settings, nodes, secondary ? 2 : 1);
    GOOD_FATAL(glcnn_network_status(network));
    glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
    CU_ASSERT_FATAL(sample_fill(kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    const struct glcnn_encode arguments = {.source = source, .secondary = secondary};
    glcnn_image *unused = result_of(kernel, &arguments, NULL);
    struct bytes b = kernel_bytes(kernel, true);
    glcnn_kernel *copy = kernel_of(b);
    glcnn_image *a = result_of(kernel, &arguments, NULL), *c = result_of(copy, &arguments, NULL);
    CU_ASSERT(images_equal(a, c));
    glcnn_image_destroy(&unused);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&c);
    glcnn_kernel_destroy(&copy);
    glcnn_network_destroy(&network);
    release(&b);
}

static void test_results(void)
{
    glcnn_image *a = make_image(2, 4, 7, 7), *b = make_image(2, 4, 7, 7);
    fill_noise(a, 1);
    fill_noise(b, 2);
    check_results("convolution",
                  "input_feature_channels=4 output_feature_channels=3 kernel_width=3 "
                  "kernel_height=3 neuron_type=sigmoid",
                  a, NULL);
    check_results("dropout", "seed=77 keep_probability=0.4", a, NULL);
    check_results("neuron", "neuron_type=elu neuron_a=0.3", a, NULL);
    check_results("pooling_average", "kernel_width=3 kernel_height=2 edge_mode=clamp", a, NULL);
    check_results("multiply", "primary_scale=0.3 bias=0.1", a, b);
    check_results("soft_max", NULL, a, NULL);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
}

/* Only vectors that are there are written, and asking makes none. */
static void test_without_weights(void)
{
    glcnn_kernel *kernel = NULL;
    const float values[3] = {1, -2, 1e19f};
    GOOD_FATAL(glcnn_kernel_create(device, "batch_normalization", &kernel));
    GOOD(glcnn_kernel_set_vector(kernel, "gamma", values, 3));
    CU_ASSERT(glcnn_kernel_has_vector(kernel, "gamma"));
    CU_ASSERT_FALSE(glcnn_kernel_has_vector(kernel, "beta"));
    struct bytes with = kernel_bytes(kernel, true), without = kernel_bytes(kernel, false);
    glcnn_kernel *full = kernel_of(with), *bare = kernel_of(without);
    CU_ASSERT_FALSE(glcnn_kernel_has_vector(bare, "gamma"));
    CU_ASSERT_FALSE(glcnn_kernel_has_vector(full, "beta"));
    float found[3] = {0};
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(full, "gamma"), 0, sizeof found, found));
    CU_ASSERT(memcmp(found, values, sizeof found) == 0);
    release(&with);
    release(&without);
    glcnn_kernel_destroy(&full);
    glcnn_kernel_destroy(&bare);
    glcnn_kernel_destroy(&kernel);
}

static void test_wrong_values_are_not_written(void)
{
    static const struct {
        const char *vector;
        float value;
    } cases[] = {{"gamma", INFINITY}, {"gamma", NAN}, {"mean", -INFINITY}, {"variance", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = {NULL, 1};
        glcnn_kernel *kernel = NULL;
        GOOD_FATAL(glcnn_kernel_create(device, "batch_normalization", &kernel));
        const float values[3] = {1, 2, cases[i].value};
        GOOD(glcnn_kernel_set_vector(kernel, cases[i].vector, values, 3));
        CU_ASSERT_EQUAL(glcnn_kernel_serialize(kernel, true, &b.data, &b.size, error),
                        GLCNN_INVALID_STATE);
        CU_ASSERT_PTR_NULL(b.data);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, cases[i].vector));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "value 2 is "));
        GOOD(glcnn_kernel_serialize(kernel, false, &b.data, &b.size, error));
        release(&b);
        glcnn_kernel_destroy(&kernel);
    }
}

/* ---- Networks ---- */

/* One step of stochastic gradient descent, on noise. */
static void train_once(glcnn_network *network)
{
    glcnn_kernel *optimizer = NULL;
    glcnn_graph *graph = NULL;
    glcnn_filter_node *filter;
    glcnn_image_node *results[32];
    bool needed[32] = {true};
    size_t count = 1;
    results[0] = glcnn_filter_node_loss(glcnn_network_filter(network, SAMPLE_LOSS));
    for (size_t i = SAMPLE_LOSS + 1; (filter = glcnn_network_filter(network, i)); i++)
        results[count++] = glcnn_filter_node_result(filter);
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.05f, &optimizer));
    const struct glcnn_training_descriptor training = {.optimizer = optimizer};
    GOOD_FATAL(glcnn_network_set_training(network, &training));
    const struct glcnn_graph_descriptor descriptor = {
        .results = results, .result_is_needed = needed, .result_count = count};
    GOOD_FATAL(glcnn_graph_create(network, &descriptor, &graph));
    glcnn_image *sources[2] = {make_image(3, 1, 8, 8), make_image(3, 5, 1, 1)};
    fill_noise(sources[0], 4);
    fill_constant(sources[1], 0.2f);
    CU_ASSERT_EQUAL_FATAL(glcnn_graph_source_count(graph), 2);
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(glcnn_graph_source(graph, 0)), "image");
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD(glcnn_graph_wait(graph));
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    glcnn_kernel_destroy(&optimizer);
}

static void test_training(void)
{
    glcnn_network *network = sample_training(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    struct bytes before = network_bytes(network, true);
    glcnn_network *copy = network_of(before);
    struct bytes again = network_bytes(copy, true);
    CU_ASSERT(equal(before, again));
    train_once(network);
    train_once(copy);
    struct bytes a = network_bytes(network, true), b = network_bytes(copy, true);
    CU_ASSERT(equal(a, b));
    CU_ASSERT_FALSE(equal(a, before));
    release(&before);
    release(&again);
    release(&a);
    release(&b);
    glcnn_network_destroy(&copy);
    glcnn_network_destroy(&network);
}

/* The network as its bytes have it, which are written the same again. */
static glcnn_network *copy_of(glcnn_network *network)
{
    struct bytes b = network_bytes(network, true);
    glcnn_network *copy = network_of(b);
    struct bytes again = network_bytes(copy, true);
    CU_ASSERT(equal(b, again));
    release(&b);
    release(&again);
    return copy;
}

/* Trains a network that has been trained, and what is read of it. */
static void test_training_goes_on(void)
{
    glcnn_network *network = sample_training(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    for (int step = 0; step < 2; step++) {
        train_once(network);
        glcnn_network *copy = copy_of(network);
        train_once(network);
        train_once(copy);
        struct bytes a = network_bytes(network, true), b = network_bytes(copy, true);
        CU_ASSERT(equal(a, b));
        release(&a);
        release(&b);
        glcnn_network_destroy(&copy);
    }
    glcnn_network_destroy(&network);
}

/* x -> convolution -> fully connected -> loss */
struct stages {
    glcnn_network *network;
    glcnn_filter_node *loss, *ends[2];
    size_t ends_count;
};

static struct stages make_stages(void)
{
    struct stages s = {0};
    GOOD_FATAL(glcnn_network_create(device, &s.network));
    glcnn_image_node *x = glcnn_image_node_create(s.network, "image");
    glcnn_image_node *labels = glcnn_image_node_create(s.network, "labels");
    x = glcnn_node(x, "convolution",
                   "kernel_width=3 kernel_height=3 input_feature_channels=1 "
                   "output_feature_channels=16");
    x = glcnn_node(x, "fully_connected",
                   "kernel_width=8 kernel_height=8 input_feature_channels=16 "
                   "output_feature_channels=10");
    glcnn_image_node *const pair[] = {x, labels};
    s.loss = glcnn_filter_node_create(
        s.network, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum", pair, 2);
    sample_fill_all(s.network);
    GOOD_FATAL(glcnn_network_status(s.network));
    return s;
}

static void run_stages(const struct stages *s)
{
    glcnn_image_node *results[3] = {glcnn_filter_node_loss(s->loss)};
    const bool needed[3] = {true};
    glcnn_graph *graph = NULL;
    for (size_t i = 0; i < s->ends_count; i++)
        results[1 + i] = glcnn_filter_node_result(s->ends[i]);
    const struct glcnn_graph_descriptor d = {
        .results = results, .result_is_needed = needed, .result_count = 1 + s->ends_count};
    GOOD_FATAL(glcnn_graph_create(s->network, &d, &graph));
    glcnn_image *sources[2] = {make_image(2, 1, 8, 8), make_image(2, 10, 1, 1)};
    fill_noise(sources[0], 4);
    fill_constant(sources[1], 0.1f);
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD(glcnn_graph_wait(graph));
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
}

/* Trained or not, with a training graph or without, run or not. */
static void test_every_stage_of_a_network(void)
{
    for (unsigned stage = 0; stage < 8; stage++) {
        struct stages s = make_stages();
        struct glcnn_training_descriptor training = {0};
        GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &training.optimizer));
        if (stage & 1)
            GOOD_FATAL(glcnn_network_set_training(s.network, &training));
        if (stage & 2)
            s.ends_count =
                glcnn_training_graph_with_source_gradient(s.loss, NULL, NULL, NULL, s.ends, 2);
        if (stage & 4)
            run_stages(&s);
        glcnn_network *copy = copy_of(s.network);
        glcnn_network_destroy(&copy);
        glcnn_kernel_destroy(&training.optimizer);
        glcnn_network_destroy(&s.network);
    }
}

/* ---- Gradient nodes ---- */

static const char *settings_of(const char *name)
{
    if (strstr(name, "convolution") || strstr(name, "fully"))
        return "kernel_width=7 kernel_height=7 input_feature_channels=4 output_feature_channels=4";
    if (strstr(name, "pooling"))
        return "kernel_width=3 kernel_height=2";
    return strstr(name, "upsampling") ? "scale_factor_x=2 scale_factor_y=2" : NULL;
}

/* Result of a gradient node of a network of one filter, whose filter 0 and 1 these are. The
 * gradient is given to it by image 2 or, of one source, 1. */
static glcnn_image *run_gradient(glcnn_network *network, const uint32_t size[4])
{
    glcnn_image *sources[3] = {NULL};
    glcnn_graph *graph = NULL;
    glcnn_image_node *result = glcnn_filter_node_result(glcnn_network_filter(network, 1));
    const struct glcnn_graph_descriptor d = {.results = &result, .result_count = 1};
    GOOD_FATAL(glcnn_graph_create(network, &d, &graph));
    size_t count = glcnn_graph_source_count(graph);
    for (size_t i = 0; i < count && i < 3; i++) {
        const char *handle = glcnn_image_node_handle(glcnn_graph_source(graph, i));
        bool gradient = strcmp(handle, "gradient") == 0;
        sources[i] =
            gradient ? make_image(size[0], size[1], size[2], size[3]) : make_image(2, 4, 7, 7);
        fill_noise(sources[i], gradient ? 9 : (uint32_t)handle[0]);
    }
    GOOD_FATAL(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD_FATAL(glcnn_graph_wait(graph));
    glcnn_image *copy = NULL, *image = glcnn_graph_image(graph, result);
    CU_ASSERT_PTR_NOT_NULL_FATAL(image);
    GOOD_FATAL(glcnn_image_create(device, glcnn_image_get_descriptor(image), &copy));
    float *values = read_image(image);
    fill_image(copy, values);
    free(values);
    glcnn_graph_destroy(&graph);
    for (size_t i = 0; i < 3; i++)
        glcnn_image_destroy(&sources[i]);
    return copy;
}

static void result_size(glcnn_filter_node *filter, uint32_t size[4])
{
    struct glcnn_image_descriptor made;
    glcnn_image *image = make_image(2, 4, 7, 7), *second = make_image(2, 4, 7, 7);
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_copy(glcnn_filter_node_kernel(filter), device, &kernel));
    GOOD_FATAL(glcnn_kernel_prepare_destination(
        kernel, &(struct glcnn_encode){.source = image, .secondary = second}, &made));
    size[0] = made.number_of_images;
    size[1] = made.feature_channels;
    size[2] = made.height;
    size[3] = made.width;
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&second);
    glcnn_kernel_destroy(&kernel);
}

/* The first gradient node of every kernel that has one, run, written and read, and run again. */
static void check_gradient_node(const struct glcnn_kernel_info *info)
{
    glcnn_network *network = NULL;
    glcnn_filter_node *made[4];
    uint32_t size[4];
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *const sources[] = {glcnn_image_node_create(network, "a"),
                                         glcnn_image_node_create(network, "b")};
    glcnn_image_node *gradient = glcnn_image_node_create(network, "gradient");
    size_t count = 0;
    for (size_t i = 0; i < info->argument_count; i++)
        count += info->arguments[i].is_image && info->arguments[i].is_input;
    glcnn_filter_node *filter = glcnn_filter_node_create(
        network, info->name, settings_of(info->name), sources, count < 2 ? 1 : 2);
    GOOD_FATAL(glcnn_network_status(network));
    sample_fill(glcnn_filter_node_kernel(filter));
    CU_ASSERT_FATAL(glcnn_gradient_filters_with_source(filter, gradient, made, 4) > 0);
    result_size(filter, size);
    glcnn_image *before = run_gradient(network, size);
    glcnn_network *copy = copy_of(network);
    glcnn_image *a = run_gradient(network, size), *b = run_gradient(copy, size);
    CU_ASSERT(images_equal(a, b));
    if (strcmp(info->name, "dropout") != 0)
        CU_ASSERT(images_equal(a, before));
    glcnn_image_destroy(&before);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_network_destroy(&copy);
    glcnn_network_destroy(&network);
}

static void test_every_gradient_node(void)
{
    const struct glcnn_kernel_info *info;
    size_t count = 0;
    for (size_t i = 0; (info = glcnn_kernel_info_at(i)); i++)
        if (info->gradient && strcmp(info->name, "concatenation") != 0) {
            check_gradient_node(info);
            count++;
        }
    CU_ASSERT(count > 25);
}

/* Node by node, so that what is neither written nor read shows too. */
static void check_filters_equal(glcnn_filter_node *a, glcnn_filter_node *b)
{
    size_t from_a = 7, from_b = 7;
    glcnn_filter_node *forward_a = glcnn_filter_node_forward(a, &from_a);
    glcnn_filter_node *forward_b = glcnn_filter_node_forward(b, &from_b);
    CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(a), glcnn_filter_node_label(b));
    CU_ASSERT_EQUAL(glcnn_filter_node_training_style(a), glcnn_filter_node_training_style(b));
    CU_ASSERT_EQUAL(glcnn_state_node_export_from_graph(glcnn_filter_node_result_state(a)),
                    glcnn_state_node_export_from_graph(glcnn_filter_node_result_state(b)));
    CU_ASSERT_EQUAL(from_a, from_b);
    CU_ASSERT_EQUAL(forward_a == NULL, forward_b == NULL);
    if (forward_a && forward_b)
        CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(forward_a),
                               glcnn_filter_node_label(forward_b));
    CU_ASSERT_EQUAL(glcnn_filter_node_source_count(a), glcnn_filter_node_source_count(b));
    check_equal(glcnn_filter_node_kernel(a), glcnn_filter_node_kernel(b));
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_images_equal(glcnn_image_node *a, glcnn_image_node *b)
{
    CU_ASSERT(same_text(glcnn_image_node_handle(a), glcnn_image_node_handle(b)));
    CU_ASSERT_EQUAL(glcnn_image_node_format(a), glcnn_image_node_format(b));
    CU_ASSERT_EQUAL(glcnn_image_node_export_from_graph(a), glcnn_image_node_export_from_graph(b));
    CU_ASSERT_EQUAL(glcnn_image_node_stop_gradient(a), glcnn_image_node_stop_gradient(b));
    CU_ASSERT_EQUAL(glcnn_image_node_filter(a) == NULL, glcnn_image_node_filter(b) == NULL);
}

static void check_networks_equal(glcnn_network *network, glcnn_network *copy)
{
    glcnn_filter_node *a, *b;
    glcnn_image_node *x, *y;
    for (size_t i = 0; (a = glcnn_network_filter(network, i)); i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(b = glcnn_network_filter(copy, i));
        check_filters_equal(a, b);
        check_images_equal(glcnn_filter_node_result(a), glcnn_filter_node_result(b));
    }
    for (size_t i = 0; (x = glcnn_network_image(network, i)); i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(y = glcnn_network_image(copy, i));
        check_images_equal(x, y);
    }
}

static void test_features(void)
{
    glcnn_network *network = sample_features(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    struct bytes b = network_bytes(network, true);
    glcnn_network *copy = network_of(b);
    check_networks_equal(network, copy);
    const glcnn_state_node *state = glcnn_filter_node_source_state(glcnn_network_filter(copy, 1));
    CU_ASSERT_PTR_EQUAL(glcnn_state_node_filter(state), glcnn_network_filter(copy, 0));
    struct bytes again = network_bytes(copy, true);
    CU_ASSERT(equal(b, again));
    release(&again);
    release(&b);
    glcnn_network_destroy(&copy);
    glcnn_network_destroy(&network);
    network = sample_training(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    b = network_bytes(network, false);
    copy = network_of(b);
    check_networks_equal(network, copy);
    release(&b);
    glcnn_network_destroy(&copy);
    glcnn_network_destroy(&network);
}

static void test_formats_of_images(void)
{
    static const glcnn_channel_format formats[] = {
        GLCNN_CHANNEL_FORMAT_UNORM8, GLCNN_CHANNEL_FORMAT_FLOAT16, GLCNN_CHANNEL_FORMAT_FLOAT32};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        glcnn_network *network = NULL;
        GOOD_FATAL(glcnn_network_create(device, &network));
        glcnn_image_node *x = glcnn_image_node_create(network, "x");
        glcnn_image_node_set_format(x, formats[i]);
        glcnn_node(x, "neuron", NULL);
        struct bytes b = network_bytes(network, false);
        glcnn_network *copy = network_of(b);
        check_networks_equal(network, copy);
        release(&b);
        glcnn_network_destroy(&copy);
        glcnn_network_destroy(&network);
    }
}

/* ---- What is not such bytes ---- */

/* Neither a kernel nor a network: a message that has `part` in it, and nothing. */
static void check_refused(struct bytes b, const char *part)
{
    glcnn_kernel *kernel = NULL;
    glcnn_network *network = NULL;
    error[0] = 0;
    CU_ASSERT_EQUAL(glcnn_kernel_deserialize(device, b.data, b.size, &kernel, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NULL(kernel);
    bool said = strstr(error, part) != NULL;
    error[0] = 0;
    CU_ASSERT_EQUAL(glcnn_network_deserialize(device, b.data, b.size, &network, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NULL(network);
    if (!said && !strstr(error, part))
        fprintf(stderr, "\n\"%s\" is not in \"%s\"\n", part, error);
    CU_ASSERT(said || strstr(error, part));
    CU_ASSERT(strlen(error) > 10);
    glcnn_kernel_destroy(&kernel);
    glcnn_network_destroy(&network);
}

static void test_foreign(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *part;
    } rows[] = {
        {"", 0, "cut off"},
        {"\xff", 1, "never written"},
        {"{\"glcnn\": 1}", 12, "cut off"},
        {"PK\x03\x04", 4, "cut off"},
        {"\x89PNG", 4, "entries are announced"},
        {"\x43xyz", 4, "a map is expected"},
        {"\xa0", 1, "another kind"},
        {"\xa1\x01\x02", 3, "a text is expected"},
        {"\xa1\x65other\x01", 8, "another kind"},
        {"\xa1\x65glcnn\x02", 8, "version 2"},
        {"\xa1\x65glcnn\x61x", 9, "a whole number is expected"},
        {"\xa1\x65glcnn\x01", 8, "is missing"},
        {"\xa1\x65glcnn\x01\x01", 9, "is missing"},
        {"\xa2\x65glcnn\x01\x65glcnn\x01", 15, "twice"},
        {"\xa2\x65glcnn\x01\x61\x07\x01", 11, "there is no field \"?\""},
        {"\xbf\x65glcnn\x01\xff", 9, "never written"},
        {"\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x65glcnn\x01", 16, "entries are announced"},
        {"\xa2\x65glcnn\x01\x66kernel\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", 24,
         "entries are announced"},
        {"\xa2\x65glcnn\x01\x66kernel\x7b\x7f\xff\xff\xff\xff\xff\xff\xff", 24, "cut off"},
        {"\xa2\x65glcnn\x01\x66inputs\x82\x81\x81\x80\xc0", 20, "never written"},
        {"\xa2\x65glcnn\x01\x66inputs\x82\x81\x81\x80", 19, "cut off"},
        {"\xa2\x65glcnn\x01\x66inputs\x84\x82\x80\x80\x80\x80", 21, "fewer bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bytes b = {malloc(rows[i].size + 1), rows[i].size};
        CU_ASSERT_PTR_NOT_NULL_FATAL(b.data);
        memcpy(b.data, rows[i].bytes, b.size);
        check_refused(b, rows[i].part);
        free(b.data);
    }
}

/* Lists within lists, deeper than any stack. */
static void test_deep(void)
{
    static const uint8_t head[] = "\xa3\x65glcnn\x01\x67"
                                  "filters";
    struct bytes b = {malloc(4000000), 4000000};
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.data);
    memset(b.data, 0x81, b.size);
    memcpy(b.data, head, sizeof head - 1);
    b.data[b.size - 1] = 0x80;
    check_refused(b, "there is no field");
    check_refused((struct bytes){b.data, b.size - 1}, "there is no field");
    free(b.data);
}

/* Puts other bytes in the place of `size` bytes after the first text `key`. */
static struct bytes patched(struct bytes b, const char *key, size_t size, const char *by,
                            size_t by_size)
{
    size_t length = strlen(key), at = 0;
    while (at + length < b.size && memcmp(b.data + at, key, length) != 0)
        at++;
    CU_ASSERT_FATAL(at + length + size <= b.size);
    at += length;
    struct bytes result = {malloc(b.size - size + by_size + 1), b.size - size + by_size};
    CU_ASSERT_PTR_NOT_NULL_FATAL(result.data);
    memcpy(result.data, b.data, at);
    memcpy(result.data + at, by, by_size);
    memcpy(result.data + at + by_size, b.data + at + size, b.size - at - size);
    return result;
}

struct patch {
    const char *key;
    size_t size;
    const char *by;
    size_t by_size;
    const char *part;
};

static void check_patches(struct bytes b, const struct patch *patches)
{
    for (const struct patch *p = patches; p->key; p++) {
        struct bytes other = patched(b, p->key, p->size, p->by, p->by_size);
        check_refused(other, p->part);
        free(other.data);
    }
}

static void test_patched_kernel(void)
{
    static const struct patch patches[] = {
        {"edge_mode", 5, "\x61x", 2, "none of its values"},
        {"edge_mode", 5, "\x00", 1, "a text is expected"},
        {"clip_rect_origin_x", 1, "\x20", 1, "it must be"},
        {"clip_rect_origin_x", 1, "\x3b\xff\xff\xff\xff\xff\xff\xff\xff", 9, "out of range"},
        {"clip_rect_origin_x", 1, "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", 9, "out of range"},
        {"clip_rect_origin_x", 1, "\xf9\x3c\x00", 3, "a whole number is expected"},
        {"clip_rect_origin_x", 1, "\xf6", 1, "never written"},
        {"clip_rect_origin_x", 1, "\xc1\x00", 2, "never written"},
        {"clip_rect_origin_x", 1, "", 0, ""},
        {"clip_rect_origin_", 1, "y", 1, "twice"},
        {"keep_probability", 5, "\xf9\x7e\x00", 3, "it must be"},
        {"keep_probability", 5, "\x00", 1, "a real number is expected"},
        {"seed", 1, "\x20", 1, "it must be"},
        {"result_is_ordinary", 1, "\x00", 1, "true or false is expected"},
        {"encode_count", 1, "\x1b\x00\x00\x00\x01\x00\x00\x00\x00", 9, "encodes"},
        {"label", 3, "\x62\xc3\x28", 3, "not UTF-8"},
        {"label", 3, "\x62x\x00", 3, "not UTF-8"},
        {"kernel", 8, "\x67qropout", 8, "no kernel \"qropout\""},
        {NULL, 0, NULL, 0, NULL}};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, "dropout", &kernel));
    GOOD(glcnn_kernel_set_label(kernel, "ab"));
    struct bytes b = kernel_bytes(kernel, false);
    check_patches(b, patches);
    release(&b);
    glcnn_kernel_destroy(&kernel);
}

static void test_patched_vectors(void)
{
    static const struct patch patches[] = {
        {"vectors\xa1", 6, "\x67weights", 8, "no vector \"weights\""},
        {"vectors\xa1\x65gamma", 1, "\x47", 1, ""},
        {"vectors\xa1\x65gamma", 9, "\x40", 1, "no values of float32"},
        {"vectors\xa1\x65gamma", 9, "\x43xyz", 4, "no values of float32"},
        {"vectors\xa1\x65gamma", 9, "\x5a\xff\xff\xff\xf0zzzzzzzz", 13, "cut off"},
        {"vectors\xa1\x65gamma", 9, "\x82\x00\x00", 3, "a byte string is expected"},
        {NULL, 0, NULL, 0, NULL}};
    const float values[2] = {1, 2};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, "instance_normalization", &kernel));
    GOOD_FATAL(glcnn_kernel_set_vector(kernel, "gamma", values, 2));
    struct bytes b = kernel_bytes(kernel, true);
    /* weights are no argument of this kernel, so its fields do not have the name */
    struct bytes other = patched(b, "vectors\xa1", 6, "\x65welta", 6);
    check_refused(other, "there is no field \"welta\"");
    free(other.data);
    check_patches(b, patches + 1);
    /* the destination is an argument, but none of the kernel's own */
    other = patched(b, "vectors\xa1", 6,
                    "\x6c"
                    "source_image",
                    13);
    check_refused(other, "no vector \"source_image\"");
    free(other.data);
    release(&b);
    glcnn_kernel_destroy(&kernel);
}

static void test_patched_network(void)
{
    static const struct patch patches[] = {
        {"sources\x81", 1, "\x02", 1, "there are 2 images before it"},
        {"sources\x81", 1, "\x18\xff", 2, "there are 2 images before it"},
        {"sources\x81", 1, "\x20", 1, "a whole number is expected"},
        {"sources", 2, "\x80", 1, "takes 1 sources, not 0"},
        {"sources", 2, "\x82\x00\x00", 3, "takes 1 sources, not 2"},
        {"sources", 2, "\xba\xff\xff\xff\xff\x00", 6, "entries are announced"},
        {"training_style", 4, "\x63tpu", 4, "none of its values"},
        {"gradient\x83", 1, "\x18\x20", 2, "filters before it"},
        {"gradient\x83\x07", 1, "\x01", 1, "one after the other"},
        {"gradient\x83\x06\x01", 1, "\x18\x60", 2, "images before it"},
        {"gpu\x68gradient", 4, "\x82\x07\x00", 3, "3 numbers"},
        {"gradient\x83", 3, "\x00\x00\x0a", 3, "the gradient's kernel is"},
        {"training_sty", 2, "xx", 2, "there is no field \"training_styxx\""},
        {NULL, 0, NULL, 0, NULL}};
    glcnn_network *network = sample_training(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    struct bytes b = network_bytes(network, false);
    check_patches(b, patches);
    release(&b);
    glcnn_network_destroy(&network);
}

/* Files of earlier versions have the forward filter's weights for gradient nodes too, whose kernel
 * need not know yet how many there are. */
static void test_vectors_of_gradient_nodes_are_passed_over(void)
{
    static const char name[] = "\x66kernel\x74"
                               "convolution_gradient";
    static const char vectors[] = "\x67vectors\xa1\x67weights\x44\0\0\0\0";
    struct stages s = make_stages();
    CU_ASSERT_FATAL(glcnn_training_graph_with_source_gradient(s.loss, NULL, NULL, NULL, s.ends, 2) >
                    0);
    struct bytes b = network_bytes(s.network, false);
    struct bytes old = patched(b, name, 0, vectors, sizeof vectors - 1);
    size_t at = 0;
    while (memcmp(old.data + at, name, sizeof name - 1) != 0)
        at++;
    CU_ASSERT_EQUAL_FATAL(old.data[at - 1], 0xa4); /* a map of four, and now of five */
    old.data[at - 1]++;
    glcnn_network *network = network_of(old);
    struct bytes again = network_bytes(network, false);
    CU_ASSERT(equal(again, b));
    free(old.data);
    release(&b);
    release(&again);
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&s.network);
}

static void test_patched_states(void)
{
    static const struct patch patches[] = {
        {"source_state", 1, "\x01", 1, "filters before it"},
        {"float16", 0, "", 0, ""},
        {"export_state", 1, "\x01", 1, "true or false is expected"},
        {NULL, 0, NULL, 0, NULL}};
    glcnn_network *network = sample_features(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    struct bytes b = network_bytes(network, false);
    check_patches(b, patches + 2);
    check_patches(b, (const struct patch[]){patches[0], patches[3]});
    struct bytes other = patched(b, "format\x67", 7, "float64", 7);
    check_refused(other, "\"float64\" is none of its values");
    free(other.data);
    release(&b);
    glcnn_network_destroy(&network);
}

/* ---- Truncation and mutation ---- */

/* Exact bytes in memory of their own, so that a read beyond them shows. */
static void check_cut(struct bytes b, size_t size)
{
    struct bytes cut = {malloc(size + 1), size};
    CU_ASSERT_PTR_NOT_NULL_FATAL(cut.data);
    uint8_t *exact = size ? realloc(cut.data, size) : cut.data;
    cut.data = exact ? exact : cut.data;
    memcpy(cut.data, b.data, size);
    check_refused(cut, "");
    free(cut.data);
}

static struct bytes small_kernel(void)
{
    glcnn_kernel *kernel = NULL;
    const float slopes[2] = {0.5f, 2};
    GOOD_FATAL(glcnn_kernel_create(device, "instance_normalization", &kernel));
    GOOD_FATAL(glcnn_kernel_set_vector(kernel, "gamma", slopes, 2));
    GOOD_FATAL(glcnn_kernel_set_label(kernel, "x"));
    struct bytes b = kernel_bytes(kernel, true);
    glcnn_kernel_destroy(&kernel);
    return b;
}

static struct bytes small_network(void)
{
    glcnn_network *network = sample_features(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    struct bytes b = network_bytes(network, false);
    glcnn_network_destroy(&network);
    return b;
}

static void test_truncated(void)
{
    struct bytes all[] = {small_kernel(), small_network()};
    for (size_t i = 0; i < 2; i++) {
        for (size_t size = 0; size < all[i].size; size++)
            check_cut(all[i], size);
        struct bytes longer = patched(all[i], "glcnn", 0, "", 0);
        longer.data[longer.size++] = 0;
        check_refused(longer, "follow the end");
        free(longer.data);
        release(&all[i]);
    }
}

/* Damaged bytes give a message, or something whole that can be written down again. */
static bool decodes_or_explains(struct bytes b, bool is_network)
{
    glcnn_kernel *kernel = NULL;
    glcnn_network *network = NULL;
    struct bytes again = {0};
    glcnn_status status = is_network
                              ? glcnn_network_deserialize(device, b.data, b.size, &network, error)
                              : glcnn_kernel_deserialize(device, b.data, b.size, &kernel, error);
    bool whole = is_network ? network != NULL : kernel != NULL, good = whole;
    if (status != GLCNN_SUCCESS)
        return status == GLCNN_MALFORMED_DATA && strlen(error) > 10 && !whole;
    if (good)
        good = (is_network ? glcnn_network_serialize(network, true, &again.data, &again.size, error)
                           : glcnn_kernel_serialize(kernel, true, &again.data, &again.size,
                                                    error)) == GLCNN_SUCCESS;
    release(&again);
    glcnn_kernel_destroy(&kernel);
    glcnn_network_destroy(&network);
    return good;
}

static void mutate_all(struct bytes b, bool is_network, bool every_value)
{
    size_t bad = 0;
    for (size_t at = 0; at < b.size; at++) {
        uint8_t kept = b.data[at];
        for (unsigned change = 1; change < 256; change = every_value ? change + 1 : change * 2) {
            b.data[at] = kept ^ (uint8_t)change;
            error[0] = 0;
            if (decodes_or_explains(b, is_network))
                continue;
            if (bad++ == 0)
                fprintf(stderr, "\nbyte %zu ^ %u: \"%s\"\n", at, change, error);
        }
        b.data[at] = kept;
    }
    CU_ASSERT_EQUAL(bad, 0);
}

static void test_mutated(void)
{
    bool every_value = getenv("GLCNN_TEST_QUICK") == NULL;
    struct bytes kernel = small_kernel(), network = small_network();
    mutate_all(kernel, false, every_value);
    mutate_all(network, true, false);
    release(&kernel);
    release(&network);
}

/* ---- What was written before ---- */

static struct bytes file_bytes(const char *name)
{
    char path[512];
    struct bytes b = {malloc(1 << 20), 0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.data);
    snprintf(path, sizeof path, "tests/fuzz/corpus/deserialize/%s", name);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    b.size = fread(b.data, 1, 1 << 20, file);
    fclose(file);
    return b;
}

/* The seeds of the fuzz target keep the format: what some version wrote is read by those after it,
 * and written as it was. */
static void test_corpus(void)
{
    DIR *directory = opendir("tests/fuzz/corpus/deserialize");
    CU_ASSERT_PTR_NOT_NULL_FATAL(directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strstr(entry->d_name, ".cbor"))
            continue;
        struct bytes b = file_bytes(entry->d_name), again = {0};
        bool is_network = strncmp(entry->d_name, "network", 7) == 0;
        bool has_vectors = strcmp(entry->d_name, "network_training.cbor") != 0;
        glcnn_kernel *kernel = is_network ? NULL : kernel_of(b);
        glcnn_network *network = is_network ? network_of(b) : NULL;
        again = is_network ? network_bytes(network, has_vectors) : kernel_bytes(kernel, true);
        CU_ASSERT(equal(b, again));
        count++;
        free(b.data);
        release(&again);
        glcnn_kernel_destroy(&kernel);
        glcnn_network_destroy(&network);
    }
    closedir(directory);
    CU_ASSERT(count >= 11);
}

/* ---- What is not written ---- */

static void test_not_written(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_network *network = NULL;
    struct bytes b = {.size = 1};
    GOOD_FATAL(glcnn_kernel_create(device, "dropout", &kernel));
    CU_ASSERT_EQUAL(glcnn_kernel_serialize(NULL, true, &b.data, &b.size, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_kernel_serialize(kernel, true, NULL, &b.size, NULL),
                    GLCNN_INVALID_ARGUMENT);
    GOOD(glcnn_kernel_set_label(kernel, "\xff"));
    CU_ASSERT_EQUAL(glcnn_kernel_serialize(kernel, true, &b.data, &b.size, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(b.data);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "UTF-8"));
    GOOD(glcnn_kernel_set_label(kernel, NULL));
    glcnn_dropout(kernel)->keep_probability = NAN;
    CU_ASSERT_EQUAL(glcnn_kernel_serialize(kernel, true, &b.data, &b.size, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "keep_probability"));
    GOOD_FATAL(glcnn_network_create(device, &network));
    CU_ASSERT_PTR_NULL(glcnn_node(glcnn_image_node_create(network, NULL), "no such", NULL));
    CU_ASSERT_EQUAL(glcnn_network_serialize(network, true, &b.data, &b.size, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "no such"));
    glcnn_network_destroy(&network);
    network = (glcnn_network *)(uintptr_t)1;
    CU_ASSERT_EQUAL(glcnn_network_deserialize(NULL, (const uint8_t *)"", 0, &network, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(network);
    glcnn_kernel_destroy(&kernel);
}

int main(int argc, char *argv[])
{
    const CU_TestInfo tests[] = {UNIT_TEST(test_every_kernel),
                                 UNIT_TEST(test_exact_values),
                                 UNIT_TEST(test_reals),
                                 UNIT_TEST(test_results),
                                 UNIT_TEST(test_without_weights),
                                 UNIT_TEST(test_wrong_values_are_not_written),
                                 UNIT_TEST(test_training),
                                 UNIT_TEST(test_training_goes_on),
                                 UNIT_TEST(test_every_stage_of_a_network),
                                 UNIT_TEST(test_every_gradient_node),
                                 UNIT_TEST(test_features),
                                 UNIT_TEST(test_formats_of_images),
                                 UNIT_TEST(test_foreign),
                                 UNIT_TEST(test_deep),
                                 UNIT_TEST(test_patched_kernel),
                                 UNIT_TEST(test_patched_vectors),
                                 UNIT_TEST(test_patched_network),
                                 UNIT_TEST(test_patched_states),
                                 UNIT_TEST(test_vectors_of_gradient_nodes_are_passed_over),
                                 UNIT_TEST(test_truncated),
                                 UNIT_TEST(test_mutated),
                                 UNIT_TEST(test_corpus),
                                 UNIT_TEST(test_not_written),
                                 CU_TEST_INFO_NULL};
    return fixture_run("serialize", tests, argc, argv);
}
