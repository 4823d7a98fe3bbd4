/* What graphs compute and what they leave out: gradients of every operation, fan-out, fusion,
 * exports, formats, inference after training. */
#include "tests/graphs.h"

#include <math.h>

#include "encode/kernel.h"
#include "graph/node.h"

#define INVALID GLCNN_INVALID_ARGUMENT

/* ---- One filter and its gradient against the kernels themselves ---- */

static const char *settings_for(const char *kernel)
{
    static const struct {
        const char *kernel, *settings;
    } rows[] = {
        {"convolution", "input_feature_channels=5 output_feature_channels=6 kernel_width=3 "
                        "kernel_height=2 stride_in_pixels_x=2"},
        {"fully_connected", "input_feature_channels=5 output_feature_channels=7 kernel_width=7 "
                            "kernel_height=6"},
        {"convolution_transpose", "input_feature_channels=5 output_feature_channels=6 "
                                  "kernel_width=3 kernel_height=3 stride_in_pixels_x=2"},
        {"pooling_average", "kernel_width=3 kernel_height=3 stride_in_pixels_x=2"},
        {"pooling_max", "kernel_width=3 kernel_height=2 stride_in_pixels_y=2"},
        {"pooling_l2_norm", "kernel_width=2 kernel_height=3"},
        {"dilated_pooling_max", "kernel_width=2 kernel_height=2 dilation_rate_x=2"},
        {"batch_normalization", "epsilon=1e-3 neuron_type=tanh neuron_a=1 neuron_b=1"},
        {"neuron", "neuron_type=tanh"},
        {"dropout", "keep_probability=0.5 seed=3"},
        {"upsampling_bilinear", "scale_factor_x=2 scale_factor_y=3"},
        {"upsampling_nearest", "scale_factor_x=2 scale_factor_y=3"},
        {"slice", "source_feature_channel_offset=4"},
        {"reshape", "reshaped_width=5 reshaped_height=6 reshaped_feature_channels=7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kernel, kernel) == 0)
            return rows[i].settings;
    return NULL;
}

/* A filter with its gradient, as a graph and as kernels. */
struct pair {
    const struct glcnn_descriptor *descriptor;
    glcnn_network *net;
    glcnn_image_node *x, *y, *g;
    glcnn_filter_node *gradient;
    glcnn_kernel *forward, *backward, *collectors[2];
    glcnn_image *source, *G;
};

static struct pair make_pair(const struct glcnn_descriptor *d)
{
    struct pair p = {.descriptor = d, .net = make_network()};
    const char *settings = settings_for(d->name);
    p.x = make_input(p.net, "x");
    p.g = make_input(p.net, "g");
    p.y = glcnn_node(p.x, d->name, settings);
    GOOD_FATAL(glcnn_network_status(p.net));
    set_weights(p.net, 7);
    p.gradient = glcnn_gradient_filter_with_source(filter_of(p.y), p.g);
    GOOD_FATAL(glcnn_network_status(p.net));
    GOOD_FATAL(glcnn_kernel_copy(kernel_of(p.y), device, &p.forward));
    GOOD_FATAL(glcnn_kernel_create(device, d->gradient, &p.backward));
    if (settings)
        apply_settings(p.backward, settings);
    glcnn_kernel_properties(p.forward)->result_is_ordinary = true;
    glcnn_kernel_properties(p.backward)->result_is_ordinary = true;
    p.source = make_image(3, 5, 6, 7);
    fill_noise(p.source, 21);
    return p;
}

static void destroy_pair(struct pair *p)
{
    glcnn_image_destroy(&p->source);
    glcnn_image_destroy(&p->G);
    glcnn_kernel_destroy(&p->forward);
    glcnn_kernel_destroy(&p->backward);
    glcnn_network_destroy(&p->net);
}

static void collect(const char *name, const struct glcnn_encode *arguments, const char *settings)
{
    glcnn_kernel *kernel = NULL;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_create(device, name, &kernel));
    if (settings && strstr(name, "gradient"))
        apply_settings(kernel, settings);
    GOOD(glcnn_kernel_encode(commands, kernel, arguments));
    finish(&commands);
    glcnn_kernel_destroy(&kernel);
}

/* Spec 6: what is padded fully is undone by what is not padded at all; the alignment stays. */
static void test_gradients_have_the_inverse_padding(void)
{
    static const uint32_t pairs[][2] = {
        {GLCNN_PADDING_SIZE_VALID_ONLY, GLCNN_PADDING_SIZE_FULL},
        {GLCNN_PADDING_SIZE_FULL, GLCNN_PADDING_SIZE_VALID_ONLY},
        {GLCNN_PADDING_SIZE_SAME, GLCNN_PADDING_SIZE_SAME},
        {GLCNN_PADDING_SIZE_VALID_ONLY | GLCNN_PADDING_ALIGN_TOP_LEFT,
         GLCNN_PADDING_SIZE_FULL | GLCNN_PADDING_ALIGN_TOP_LEFT}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        glcnn_network *net = make_network();
        glcnn_image_node *y = glcnn_pooling_max_node(make_input(net, "x"), 3, 3, 1, 1);
        glcnn_kernel_properties(kernel_of(y))->padding = pairs[i][0];
        glcnn_filter_node *gradient =
            glcnn_gradient_filter_with_source(filter_of(y), make_input(net, "g"));
        CU_ASSERT_PTR_NOT_NULL_FATAL(gradient);
        CU_ASSERT_EQUAL(glcnn_kernel_properties(glcnn_filter_node_kernel(gradient))->padding,
                        pairs[i][1]);
        glcnn_network_destroy(&net);
    }
}

/* Forward result and state by the kernel; the state is the caller's. */
static glcnn_image *direct_forward(const struct pair *p, glcnn_state **state)
{
    struct glcnn_encode arguments = {.source = p->source};
    if (strcmp(p->descriptor->name, "batch_normalization") != 0)
        return result_of(p->forward, &arguments, state);
    GOOD_FATAL(glcnn_kernel_result_state(NULL, p->forward, &arguments, state));
    arguments.state = *state;
    collect("batch_normalization_statistics", &arguments, NULL);
    return result_of(p->forward, &arguments, NULL);
}

static glcnn_image *direct_gradient(const struct pair *p, glcnn_image *result, glcnn_state *state)
{
    bool by_result = strstr(p->descriptor->name, "soft_max");
    const struct glcnn_descriptor *d = descriptor_find(p->descriptor->gradient);
    struct glcnn_encode arguments = {.source = p->G, .state = state};
    glcnn_buffer *weights = glcnn_kernel_vector(p->forward, "weights");
    if (descriptor_place(d, PLACE_SECONDARY) >= 0)
        arguments.secondary = by_result ? result : p->source;
    if (weights) {
        float *values = vector_values(weights);
        struct glcnn_source_properties *window = &glcnn_kernel_properties(p->backward)->secondary;
        window->kernel_width = glcnn_kernel_properties(p->forward)->primary.kernel_width;
        window->kernel_height = glcnn_kernel_properties(p->forward)->primary.kernel_height;
        GOOD(glcnn_kernel_set_vector(p->backward, "weights", values, vector_count(weights)));
        free(values);
    }
    if (strcmp(p->descriptor->name, "batch_normalization") == 0)
        collect("batch_normalization_statistics_gradient", &arguments,
                settings_for("batch_normalization"));
    return result_of(p->backward, &arguments, NULL);
}

/* Vectors of both states, those that the gradient leaves. */
static void compare_states(glcnn_state *found, glcnn_state *expected)
{
    static const char *const names[] = {"gradient_for_weights", "gradient_for_biases",
                                        "gradient_for_gamma", "gradient_for_beta"};
    for (size_t i = 0; i < 4; i++) {
        glcnn_buffer *b = expected ? glcnn_state_vector(expected, names[i]) : NULL;
        if (!b)
            continue;
        glcnn_buffer *a = glcnn_state_vector(found, names[i]);
        float *values = vector_values(a), *others = vector_values(b);
        CU_ASSERT_EQUAL_FATAL(vector_count(a), vector_count(b));
        CU_ASSERT_EQUAL(memcmp(values, others, glcnn_buffer_size(a)), 0);
        free(values);
        free(others);
    }
}

static void compare_pair(struct pair *p)
{
    glcnn_image_node *dx = glcnn_filter_node_result(p->gradient);
    glcnn_state_node *state_node = glcnn_filter_node_result_state(filter_of(p->y));
    glcnn_state *state = NULL;
    glcnn_state_node_set_export_from_graph(state_node, true);
    glcnn_image *result = direct_forward(p, &state);
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
    p->G = make_image(d->number_of_images, d->feature_channels, d->height, d->width);
    fill_noise(p->G, 22);
    glcnn_image *gradient = direct_gradient(p, result, state);
    glcnn_image_node *const results[] = {p->y, dx};
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_graph_create(
        p->net, &(struct glcnn_graph_descriptor){.results = results, .result_count = 2}, &graph));
    glcnn_image *sources[2];
    for (size_t i = 0; i < 2; i++)
        sources[i] = glcnn_graph_source(graph, i) == p->x ? p->source : p->G;
    run_graph(graph, sources);
    CU_ASSERT_TRUE(images_equal(glcnn_graph_image(graph, p->y), result));
    CU_ASSERT_TRUE(images_equal(glcnn_graph_image(graph, dx), gradient));
    if (state_node)
        compare_states(glcnn_graph_state(graph, state_node), state);
    glcnn_graph_destroy(&graph);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&gradient);
}

static void test_unary_gradients_are_the_kernels(void)
{
    size_t count = 0;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++) {
        if (!(*d)->gradient || (*d)->flags & (IS_BINARY | GATHERS))
            continue;
        unsigned before = CU_get_number_of_failures();
        struct pair p = make_pair(*d);
        compare_pair(&p);
        destroy_pair(&p);
        if (CU_get_number_of_failures() != before)
            fprintf(stderr, "\n  that was %s\n", (*d)->name);
        count++;
    }
    CU_ASSERT(count > 20);
}

/* ---- Binary filters and fan-out, by their derivatives ---- */

/* Runs a graph of the gradient of `last` and returns the values of the ends' results. */
struct derived {
    glcnn_graph *graph;
    glcnn_filter_node *ends[MOST_ENDS];
    size_t count;
};

static struct derived derive(glcnn_image_node *last, glcnn_image_node *gradient,
                             glcnn_image *const *sources)
{
    struct derived d = {0};
    glcnn_image_node *results[MOST_ENDS];
    d.count = glcnn_training_graph_with_source_gradient(filter_of(last), gradient, NULL, NULL,
                                                        d.ends, MOST_ENDS);
    GOOD_FATAL(glcnn_network_status(filter_of(last)->network));
    for (size_t i = 0; i < d.count; i++)
        results[i] = glcnn_filter_node_result(d.ends[i]);
    GOOD_FATAL(glcnn_graph_create(
        filter_of(last)->network,
        &(struct glcnn_graph_descriptor){.results = results, .result_count = d.count}, &d.graph));
    run_graph(d.graph, sources);
    return d;
}

#define COUNT (2 * 4 * 3 * 5)

static void make_values(float *values, uint32_t seed, float least)
{
    for (size_t i = 0; i < COUNT; i++)
        values[i] = least + (least > 0 ? fabsf(noise(&seed)) : noise(&seed));
}

static double derivative(const char *kernel, int by, double a, double b)
{
    if (strcmp(kernel, "add") == 0)
        return 1;
    if (strcmp(kernel, "subtract") == 0)
        return by ? -1 : 1;
    if (strcmp(kernel, "multiply") == 0)
        return by ? a : b;
    if (strcmp(kernel, "maximum") == 0)
        return by ? b > a : a > b;
    if (strcmp(kernel, "minimum") == 0)
        return by ? b < a : a < b;
    if (strcmp(kernel, "power") == 0)
        return by ? pow(a, b) * log(a) : b * pow(a, b - 1);
    return by ? -a / (b * b) : 1 / b;
}

static void check_arithmetic(const char *kernel)
{
    static const char *const names[] = {"a", "b", "g"};
    glcnn_network *net = make_network();
    glcnn_image_node *nodes[3];
    glcnn_image *images[3], *sources[3];
    float values[3][COUNT];
    for (uint32_t i = 0; i < 3; i++) {
        nodes[i] = make_input(net, names[i]);
        make_values(values[i], 30 + i, i < 2 ? 0.5f : 0);
        images[i] = image_with(2, 4, 3, 5, values[i]);
    }
    glcnn_image_node *last = glcnn_node_binary(nodes[0], nodes[1], kernel, NULL);
    glcnn_filter_node *made[2];
    CU_ASSERT_EQUAL_FATAL(glcnn_gradient_filters_with_source(filter_of(last), nodes[2], made, 2),
                          2);
    glcnn_image_node *const results[] = {glcnn_filter_node_result(made[0]),
                                         glcnn_filter_node_result(made[1])};
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_graph_create(
        net, &(struct glcnn_graph_descriptor){.results = results, .result_count = 2}, &graph));
    for (size_t i = 0; i < glcnn_graph_source_count(graph); i++)
        for (int k = 0; k < 3; k++)
            if (glcnn_graph_source(graph, i) == nodes[k])
                sources[i] = images[k];
    run_graph(graph, sources);
    for (int by = 0; by < 2; by++) {
        double expected[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            expected[i] = (double)values[2][i] *
                          derivative(kernel, by, (double)values[0][i], (double)values[1][i]);
        check_doubles(glcnn_graph_image(graph, results[by]), expected, 1e-6);
    }
    glcnn_graph_destroy(&graph);
    destroy_images(images, 3);
    glcnn_network_destroy(&net);
}

enum { NORMAL_ROWS = 3, NORMAL_COLUMNS = 5, NORMAL_CHANNELS = 6, NORMAL_GROUPS = 2 };

/* Elements that are normalised together have the same number. */
static int group_of(size_t element, bool by_pixel)
{
    size_t plane = NORMAL_ROWS * NORMAL_COLUMNS;
    return (int)(by_pixel ? element % plane : element / plane / (NORMAL_CHANNELS / NORMAL_GROUPS));
}

static double normal_at(const float *x, size_t at, bool by_pixel)
{
    const size_t count = NORMAL_CHANNELS * NORMAL_ROWS * NORMAL_COLUMNS;
    double sum = 0, squares = 0, members = 0;
    for (size_t i = 0; i < count; i++)
        if (group_of(i, by_pixel) == group_of(at, by_pixel)) {
            sum += (double)x[i];
            squares += (double)x[i] * (double)x[i];
            members++;
        }
    double mean = sum / members;
    return ((double)x[at] - mean) / sqrt(squares / members - mean * mean + 0.125);
}

/* Values, and that there is a gradient. */
static void check_normalization(bool by_pixel)
{
    enum { ALL = NORMAL_CHANNELS * NORMAL_ROWS * NORMAL_COLUMNS };
    const struct glcnn_source_shape shape = {NORMAL_COLUMNS, NORMAL_ROWS, NORMAL_CHANNELS};
    float values[ALL];
    double expected[ALL];
    uint32_t seed = 5;
    for (size_t i = 0; i < ALL; i++)
        values[i] = 2 * noise(&seed);
    for (size_t i = 0; i < ALL; i++)
        expected[i] = normal_at(values, i, by_pixel);
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = by_pixel
                              ? glcnn_layer_normalization_node(x, shape, 0.125f)
                              : glcnn_group_normalization_node(x, shape, NORMAL_GROUPS, 0.125f);
    glcnn_graph *graph = graph_of(y);
    glcnn_image *image = image_with(1, NORMAL_CHANNELS, NORMAL_ROWS, NORMAL_COLUMNS, values);
    run_graph(graph, &image);
    check_doubles(glcnn_graph_image(graph, y), expected, 1e-5);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&image);
    glcnn_filter_node *ends[MOST_ENDS];
    CU_ASSERT_EQUAL(
        glcnn_training_graph_with_source_gradient(filter_of(y), y, NULL, NULL, ends, MOST_ENDS), 1);
    GOOD(glcnn_network_status(net));
    glcnn_network_destroy(&net);
}

static void test_groups_and_pixels_are_normalised(void)
{
    check_normalization(false);
    check_normalization(true);
    static const struct {
        struct glcnn_source_shape shape;
        uint32_t groups; /* 0: of a layer */
        const char *said;
    } wrong[] = {{{5, 3, 6}, 4, "4 groups do not divide 6 channels"},
                 {{0, 3, 6}, 3, "0x3 pixels of 6 channels; it must be that of the source"},
                 {{5, 0, 6}, 0, "5x0 pixels of 6 channels; it must be that of the source"},
                 {{5, 3, 0}, 0, "5x3 pixels of 0 channels; it must be that of the source"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        glcnn_network *net = make_network();
        glcnn_image_node *x = make_input(net, "x");
        CU_ASSERT_PTR_NULL(
            wrong[i].groups ? glcnn_group_normalization_node(x, wrong[i].shape, wrong[i].groups, 0)
                            : glcnn_layer_normalization_node(x, wrong[i].shape, 0));
        CU_ASSERT_EQUAL(glcnn_network_status(net), GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), wrong[i].said));
        glcnn_network_destroy(&net);
    }
}

static void test_arithmetic_has_both_gradients(void)
{
    check_arithmetic("add");
    check_arithmetic("subtract");
    check_arithmetic("multiply");
    check_arithmetic("divide");
    check_arithmetic("maximum");
    check_arithmetic("minimum");
    check_arithmetic("power");
}

/* c + b * tanh(b), b = 2 x, c = b: the gradient of b is a sum of three. */
static void test_residual_gradients_are_summed(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x"), *g = make_input(net, "g"), *b, *last;
    float values[2][COUNT];
    glcnn_image *images[2];
    for (uint32_t i = 0; i < 2; i++) {
        make_values(values[i], 40 + i, 0);
        images[i] = image_with(2, 4, 3, 5, values[i]);
    }
    b = glcnn_node(x, "neuron", "neuron_type=linear neuron_a=2");
    last = glcnn_node_binary(b, glcnn_node(b, "neuron", "neuron_type=tanh"), "multiply", NULL);
    last = glcnn_node_binary(b, last, "add", NULL);
    struct derived d = derive(last, g, images);
    CU_ASSERT_EQUAL_FATAL(d.count, 1);
    /* The order of sources is that of discovery: g is read by the first gradient. */
    glcnn_image *const sources[] = {images[glcnn_graph_source(d.graph, 0) == g],
                                    images[glcnn_graph_source(d.graph, 0) != g]};
    run_graph(d.graph, sources);
    double expected[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        double v = 2 * (double)values[0][i], t = tanh(v);
        expected[i] = 2 * (double)values[1][i] * (1 + t + v * (1 - t * t));
    }
    check_doubles(glcnn_graph_image(d.graph, glcnn_filter_node_result(d.ends[0])), expected, 1e-5);
    glcnn_graph_destroy(&d.graph);
    destroy_images(images, 2);
    glcnn_network_destroy(&net);
}

/* tanh(x), x and |x| beside each other: results in their channels, and one sum of gradients. */
static void test_concatenations_go_both_ways(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x"), *g = make_input(net, "g");
    glcnn_image_node *const parts[] = {glcnn_node(x, "neuron", "neuron_type=tanh"), x,
                                       glcnn_node(x, "neuron", "neuron_type=absolute")};
    float values[COUNT], gradients[3 * COUNT];
    uint32_t seed = 50;
    make_values(values, 51, 0);
    for (size_t i = 0; i < 3 * COUNT; i++)
        gradients[i] = noise(&seed);
    glcnn_image *images[] = {image_with(2, 4, 3, 5, values), image_with(2, 12, 3, 5, gradients)};
    glcnn_filter_node *join = glcnn_filter_node_create(net, "concatenation", NULL, parts, 3);
    export_image(glcnn_filter_node_result(join));
    glcnn_filter_node *ends[MOST_ENDS];
    CU_ASSERT_EQUAL_FATAL(
        glcnn_training_graph_with_source_gradient(join, g, NULL, NULL, ends, MOST_ENDS), 1);
    glcnn_graph *graph = graph_of(glcnn_filter_node_result(ends[0]));
    bool g_first = glcnn_graph_source(graph, 0) == g;
    glcnn_image *const sources[] = {images[g_first], images[!g_first]};
    run_graph(graph, sources);
    double joined[3 * COUNT], expected[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t image = i / 60, at = image * 180 + i % 60;
        double v = (double)values[i], t = tanh(v);
        joined[at] = t;
        joined[at + 60] = v;
        joined[at + 120] = fabs(v);
        expected[i] = (double)gradients[at] * (1 - t * t) + (double)gradients[at + 60] +
                      (double)gradients[at + 120] * (v > 0   ? 1
                                                     : v < 0 ? -1
                                                             : 0);
    }
    check_doubles(glcnn_graph_image(graph, glcnn_filter_node_result(join)), joined, 1e-6);
    check_doubles(glcnn_graph_image(graph, glcnn_filter_node_result(ends[0])), expected, 1e-5);
    glcnn_graph_destroy(&graph);
    destroy_images(images, 2);
    glcnn_network_destroy(&net);
}

/* A source that fills no whole slice is padded to one. */
static void test_concatenation_pads_to_slices(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x"), *y = make_input(net, "y");
    glcnn_image *images[] = {make_image(2, 3, 2, 2), make_image(2, 2, 2, 2)};
    glcnn_image_node *joined = glcnn_node_binary(x, y, "concatenation", NULL);
    fill_constant(images[0], 2);
    fill_constant(images[1], 3);
    glcnn_graph *graph = graph_of(joined);
    run_graph(graph, images);
    glcnn_image *result = glcnn_graph_image(graph, joined);
    CU_ASSERT_EQUAL_FATAL(glcnn_image_get_descriptor(result)->feature_channels, 6);
    float *values = read_image(result);
    for (size_t i = 0; i < count_of(result); i++) {
        size_t channel = i / 4 % 6;
        CU_ASSERT_EQUAL(values[i], channel < 3 ? 2 : channel == 3 ? 0 : 3);
    }
    free(values);
    glcnn_graph_destroy(&graph);
    destroy_images(images, 2);
    glcnn_network_destroy(&net);
}

/* ---- Fusion ---- */

/* A filter and a neuron after it. */
struct fused_net {
    glcnn_network *net;
    glcnn_image_node *x, *between, *y;
    glcnn_image *source;
};

static struct fused_net make_fused_net(const char *kernel, const char *settings, const char *neuron)
{
    struct fused_net f = {.net = make_network()};
    f.x = make_input(f.net, "x");
    f.between = glcnn_node(f.x, kernel, settings);
    f.y = glcnn_node(f.between, "neuron", neuron);
    GOOD_FATAL(glcnn_network_status(f.net));
    set_weights(f.net, 9);
    f.source = make_image(2, 5, 6, 7);
    fill_noise(f.source, 4);
    return f;
}

static void destroy_fused_net(struct fused_net *f)
{
    glcnn_image_destroy(&f->source);
    glcnn_network_destroy(&f->net);
}

/* Passes of one run, and the result's values. */
static size_t run_once(struct fused_net *f, float **values)
{
    glcnn_graph *graph = graph_of(f->y);
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *result = NULL;
    GOOD_FATAL(glcnn_graph_encode(commands, graph, &f->source, &result));
    size_t passes = glcnn_command_buffer_pass_count(commands);
    finish(&commands);
    *values = read_image(result);
    glcnn_image_destroy(&result);
    glcnn_graph_destroy(&graph);
    return passes;
}

/* The image between, exported, keeps the two apart. */
static void check_fused(const char *kernel, const char *settings, const char *neuron, bool expected)
{
    struct fused_net f = make_fused_net(kernel, settings, neuron);
    float *fused, *apart;
    size_t count = strcmp(kernel, "batch_normalization") == 0 ? 2 * 5 * 42 : 2 * 6 * 42;
    size_t passes = run_once(&f, &fused);
    double type = -1;
    GOOD(glcnn_kernel_get(kernel_of(f.between), "neuron_type", &type));
    CU_ASSERT_EQUAL(type, strstr(settings, "neuron_type") ? GLCNN_NEURON_TYPE_TANH
                                                          : GLCNN_NEURON_TYPE_NONE);
    export_image(f.between);
    size_t more = run_once(&f, &apart);
    if (expected)
        CU_ASSERT(passes < more);
    if (!expected)
        CU_ASSERT_EQUAL(passes, more);
    CU_ASSERT_TRUE(arrays_near(fused, apart, count, 1e-6));
    free(fused);
    free(apart);
    destroy_fused_net(&f);
}

#define LAYER "input_feature_channels=5 output_feature_channels=6 kernel_width=3 kernel_height=3"

static void test_neurons_are_computed_by_the_filter_before(void)
{
    check_fused("convolution", LAYER, "neuron_type=relu", true);
    check_fused("convolution", LAYER, "neuron_type=tanh", true);
    check_fused("convolution", LAYER, "neuron_type=elu neuron_a=0.5", true);
    check_fused("batch_normalization", "epsilon=1e-3", "neuron_type=relun neuron_b=0.5", true);
    check_fused("batch_normalization", "epsilon=1e-3", "neuron_type=soft_plus", true);
}

static void test_other_neurons_stay_apart(void)
{
    check_fused("convolution", LAYER " neuron_type=tanh neuron_a=1 neuron_b=1", "neuron_type=relu",
                false);
    check_fused("convolution", LAYER, "neuron_type=relu offset_x=1", false);
    check_fused("convolution", LAYER, "neuron_type=relu clip_rect_size_width=3", false);
}

/* Two readers of the image between want it as it is, though each could be computed with it. */
static void test_images_with_two_readers_are_kept(void)
{
    struct fused_net f = make_fused_net("convolution", LAYER, "neuron_type=relu");
    glcnn_image_node *size = glcnn_node(f.between, "neuron", "neuron_type=absolute");
    f.y = glcnn_node_binary(size, f.y, "subtract", NULL);
    float *found, *expected;
    size_t positive = 0;
    run_once(&f, &found);
    f.y = f.between;
    run_once(&f, &expected);
    for (size_t i = 0; i < 2 * 6 * 42; i++) {
        CU_ASSERT_EQUAL(found[i], expected[i] < 0 ? -expected[i] : 0); /* |v| - relu(v) */
        positive += found[i] > 0;
    }
    CU_ASSERT(positive > 100);
    free(found);
    free(expected);
    destroy_fused_net(&f);
}

/* ---- What runs and what is kept ---- */

static void test_sources_are_in_order(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *a = make_input(net, "a"), *b = make_input(net, "b"),
                     *c = make_input(net, "c");
    glcnn_image_node *unused = make_input(net, "unused");
    glcnn_image_node *left = glcnn_node_binary(c, a, "add", NULL);
    glcnn_image_node *y =
        glcnn_node_binary(left, glcnn_node_binary(c, b, "add", NULL), "add", NULL);
    glcnn_image_node *aside = glcnn_node(unused, "soft_max", NULL);
    CU_ASSERT_PTR_NOT_NULL(aside);
    glcnn_graph *graph = graph_of(y);
    CU_ASSERT_EQUAL_FATAL(glcnn_graph_source_count(graph), 3);
    CU_ASSERT_PTR_EQUAL(glcnn_graph_source(graph, 0), c);
    CU_ASSERT_PTR_EQUAL(glcnn_graph_source(graph, 1), a);
    CU_ASSERT_PTR_EQUAL(glcnn_graph_source(graph, 2), b);
    CU_ASSERT_PTR_NULL(glcnn_graph_source(graph, 3));
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(glcnn_graph_source(graph, 0)), "c");
    CU_ASSERT_FALSE(graph_has(graph, "soft_max"));
    CU_ASSERT_PTR_EQUAL(glcnn_graph_filter(graph, 2), filter_of(y));
    CU_ASSERT_PTR_NULL(glcnn_graph_filter(graph, 3));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

static void test_exported_images_are_kept(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *kept = export_image(glcnn_node(x, "neuron", "neuron_type=linear neuron_a=2"));
    glcnn_image_node *lost = glcnn_node(kept, "neuron", "neuron_type=linear neuron_a=3");
    glcnn_image_node *y = glcnn_node(lost, "neuron", "neuron_type=linear neuron_a=5");
    glcnn_image *source = make_image(1, 4, 3, 3);
    fill_constant(source, 1);
    glcnn_graph *graph = graph_of(y);
    CU_ASSERT_PTR_NULL(glcnn_graph_image(graph, y));
    run_graph(graph, &source);
    CU_ASSERT_TRUE(image_is_constant(glcnn_graph_image(graph, kept), 2));
    CU_ASSERT_TRUE(image_is_constant(glcnn_graph_image(graph, y), 30));
    CU_ASSERT_PTR_NULL(glcnn_graph_image(graph, lost));
    CU_ASSERT_PTR_NULL(glcnn_graph_image(graph, x));
    CU_ASSERT_PTR_NULL(glcnn_graph_image(graph, NULL));
    CU_ASSERT_PTR_NULL(glcnn_graph_image(NULL, y));
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&source);
    glcnn_network_destroy(&net);
}

static void test_exported_states_are_kept(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = glcnn_node(x, "pooling_max", "kernel_width=2 padding=valid");
    glcnn_state_node *state = glcnn_filter_node_result_state(filter_of(y));
    glcnn_image *source = make_image(1, 4, 3, 7);
    glcnn_graph *graph = graph_of(y);
    run_graph(graph, &source);
    CU_ASSERT_PTR_NULL(glcnn_graph_state(graph, state));
    glcnn_graph_destroy(&graph);
    glcnn_state_node_set_export_from_graph(state, true);
    graph = graph_of(y);
    run_graph(graph, &source);
    glcnn_state *kept = glcnn_graph_state(graph, state);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    CU_ASSERT_EQUAL(glcnn_state_source_width(kept), 7);
    CU_ASSERT_EQUAL(glcnn_state_source_height(kept), 3);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&source);
    glcnn_network_destroy(&net);
}

static size_t passes_of(const glcnn_command_buffer *commands, const char *shader)
{
    size_t count = 0;
    for (size_t i = 0; i < commands->pass_count; i++)
        count += strstr(commands->passes[i].shader, shader) != NULL;
    return count;
}

/* What serves a result that nobody needs is not computed: the gradient of the pixels. */
static void test_unneeded_results_are_pruned(void)
{
    struct cnn c = make_cnn();
    train_network(c.net, false);
    glcnn_image *sources[2], *results[2] = {NULL, NULL};
    make_cnn_sources(2, sources);
    glcnn_graph *graph = cnn_training_graph(&c, 0);
    CU_ASSERT_EQUAL_FATAL(c.end_count, 1);
    run_graph(graph, sources);
    CU_ASSERT_PTR_NULL(glcnn_graph_image(graph, glcnn_filter_node_result(c.ends[0])));
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_graph_encode(commands, graph, sources, results));
    CU_ASSERT_PTR_NOT_NULL(results[0]);
    CU_ASSERT_PTR_NULL(results[1]);
    size_t pruned = glcnn_command_buffer_pass_count(commands);
    size_t weights = passes_of(commands, "gradient_weights");
    CU_ASSERT_NOT_EQUAL(weights, 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_graph_destroy(&graph);
    export_image(glcnn_filter_node_result(c.ends[0]));
    graph = cnn_training_graph(&c, 0);
    commands = make_commands();
    glcnn_image_destroy(&results[0]);
    GOOD(glcnn_graph_encode(commands, graph, sources, results));
    CU_ASSERT(glcnn_command_buffer_pass_count(commands) > pruned);
    CU_ASSERT_EQUAL(passes_of(commands, "gradient_weights"), weights);
    glcnn_command_buffer_destroy(&commands);
    glcnn_graph_destroy(&graph);
    destroy_images(results, 2);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

/* ---- What recording leaves alone ---- */

/* Kernels as they were before a graph was recorded. */
#define MOST_KERNELS 32
static struct watched {
    struct glcnn_kernel *kernel, was;
    char parameters[MAX_PARAMETER_BYTES];
} watched[MOST_KERNELS];
static size_t watched_count, looks, changes;

static void watch(const glcnn_network *net)
{
    watched_count = looks = changes = 0;
    for (const struct glcnn_filter_node *f = net->filters; f; f = f->next) {
        struct watched *w = &watched[watched_count++];
        CU_ASSERT_FATAL(watched_count < MOST_KERNELS);
        w->kernel = f->kernel;
        w->was = *w->kernel;
        memcpy(w->parameters, w->kernel->parameters, w->kernel->descriptor->parameters_size);
    }
}

/* Vectors are made at their first need, which is a change for good; those that were there stay. */
static bool is_unchanged(const struct watched *w)
{
    const struct glcnn_kernel *now = w->kernel;
    for (size_t i = 0; i < MAX_ARGUMENTS; i++)
        if (w->was.vectors[i] && now->vectors[i] != w->was.vectors[i])
            return false;
    return memcmp(&now->properties, &w->was.properties, sizeof now->properties) == 0 &&
           memcmp(&now->adopted, &w->was.adopted, sizeof now->adopted) == 0 &&
           memcmp(now->parameters, w->parameters, now->descriptor->parameters_size) == 0;
}

/* Called amid the encodes, before and after each program. */
static void look(void *user, const struct glcnn_compilation *compilation)
{
    (void)user, (void)compilation;
    looks++;
    for (size_t i = 0; i < watched_count; i++)
        changes += !is_unchanged(&watched[i]);
}

static void check_recording(glcnn_graph *graph, glcnn_network *net, glcnn_image *const *sources)
{
    glcnn_image *results[2] = {NULL, NULL};
    glcnn_command_buffer *commands = make_commands();
    watch(net);
    GOOD(glcnn_graph_encode(commands, graph, sources, results));
    CU_ASSERT(looks > 0);
    for (size_t i = 0; i < watched_count; i++)
        if (!is_unchanged(&watched[i]))
            fprintf(stderr, "\nrecording changed %s\n", glcnn_kernel_name(watched[i].kernel));
    look(NULL, NULL);
    CU_ASSERT_EQUAL(changes, 0);
    watched_count = 0;
    finish(&commands);
    destroy_images(results, 2);
}

/* Padding gives offsets; the gradient of the first layer wants no pixels, is addressed by its state
 * and has the forward kernel's weights. */
static void check_training(void)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    train_network(c.net, false);
    make_cnn_sources(2, sources);
    glcnn_graph *graph = cnn_training_graph(&c, 0);
    check_recording(graph, c.net, sources);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

/* A neuron is computed along; a concatenation writes from two offsets. */
static void check_inference(void)
{
    struct fused_net f = make_fused_net("convolution", LAYER, "neuron_type=elu neuron_a=0.5");
    f.y = glcnn_node_binary(f.y, f.y, "concatenation", NULL);
    GOOD_FATAL(glcnn_network_status(f.net));
    glcnn_graph *graph = graph_of(f.y);
    check_recording(graph, f.net, &f.source);
    glcnn_graph_destroy(&graph);
    destroy_fused_net(&f);
}

static void test_recording_changes_no_kernel(void)
{
    glcnn_device *usual = device;
    GOOD_FATAL(glcnn_device_create(&(struct glcnn_device_parameters){.compile = look}, &device));
    check_training();
    check_inference();
    glcnn_device_destroy(&device);
    device = usual;
}

/* Without weights to update nothing is left of a backward pass; without labels to read there is
 * one source. */
static void test_nothing_to_do_is_refused(void)
{
    struct cnn c = make_cnn();
    glcnn_graph *graph = cnn_training_graph(&c, 0);
    CU_ASSERT_FALSE(graph_has(graph, "convolution_gradient"));
    CU_ASSERT_EQUAL(glcnn_graph_source_count(graph), 2);
    glcnn_graph_destroy(&graph);
    graph = graph_of(c.scores);
    CU_ASSERT_EQUAL(glcnn_graph_source_count(graph), 1);
    glcnn_graph_destroy(&graph);
    glcnn_image_node *result = c.scores;
    const bool needed = false;
    REFUSED(INVALID, glcnn_graph_create(
                         c.net,
                         &(struct glcnn_graph_descriptor){
                             .results = &result, .result_is_needed = &needed, .result_count = 1},
                         &graph));
    CU_ASSERT_PTR_NULL(graph);
    glcnn_network_destroy(&c.net);
}

/* ---- Formats ---- */

static void test_formats_of_graphs_and_nodes(void)
{
    bool buffered = device->info.traits.stores_via_buffer;
    device->info.traits.stores_via_buffer = false; /* float16 is stored by no buffer */
    struct cnn c = make_cnn();
    glcnn_image *source = make_image(2, 1, CNN_SIDE, CNN_SIDE);
    fill_noise(source, 8);
    glcnn_image_node_set_format(c.pooled[0], GLCNN_CHANNEL_FORMAT_FLOAT32);
    export_image(c.pooled[0]);
    export_image(c.convolved[1]);
    export_image(c.normalised[0]); /* on some devices not stored otherwise */
    export_image(c.normalised[1]);
    glcnn_graph *full = graph_of(c.scores), *half = NULL;
    const struct glcnn_graph_descriptor descriptor = {
        .results = &c.scores, .result_count = 1, .format = GLCNN_CHANNEL_FORMAT_FLOAT16};
    GOOD_FATAL(glcnn_graph_create(c.net, &descriptor, &half));
    run_graph(full, &source);
    run_graph(half, &source);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(glcnn_graph_image(half, c.scores))->channel_format,
                    GLCNN_CHANNEL_FORMAT_FLOAT16);
    CU_ASSERT_EQUAL(
        glcnn_image_get_descriptor(glcnn_graph_image(half, c.convolved[1]))->channel_format,
        GLCNN_CHANNEL_FORMAT_FLOAT16);
    CU_ASSERT_EQUAL(
        glcnn_image_get_descriptor(glcnn_graph_image(half, c.pooled[0]))->channel_format,
        GLCNN_CHANNEL_FORMAT_FLOAT32);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(glcnn_graph_image(full, c.scores))->channel_format,
                    GLCNN_CHANNEL_FORMAT_FLOAT32);
    float *a = result_values(half, c.scores), *b = result_values(full, c.scores);
    CU_ASSERT_TRUE(arrays_near(a, b, 2 * CNN_CLASSES, 1e-2));
    CU_ASSERT_NOT_EQUAL(memcmp(a, b, 2 * CNN_CLASSES * sizeof *a), 0);
    free(a);
    free(b);
    struct glcnn_memory_plan more, less;
    GOOD(glcnn_graph_memory(full, glcnn_image_get_descriptor(source), &more));
    GOOD(glcnn_graph_memory(half, glcnn_image_get_descriptor(source), &less));
    /* Scratch memory stays in full precision; all images but one are half as large. */
    uint64_t texels = 2 * 2 * (2 * CNN_SIDE * CNN_SIDE + 2 * CNN_SIDE * CNN_SIDE / 4 + 9 + 1);
    CU_ASSERT_EQUAL(more.without_sharing - less.without_sharing, 8 * texels);
    device->info.traits.stores_via_buffer = buffered;
    glcnn_graph_destroy(&full);
    glcnn_graph_destroy(&half);
    glcnn_image_destroy(&source);
    glcnn_network_destroy(&c.net);
}

/* Everything of a training step in float16 still goes down. */
static void test_a_float16_graph_trains(void)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    glcnn_image_node *results[] = {glcnn_filter_node_loss(c.loss),
                                   glcnn_filter_node_result(c.ends[0])};
    const bool needed[] = {true, false};
    const struct glcnn_graph_descriptor descriptor = {.results = results,
                                                      .result_is_needed = needed,
                                                      .result_count = 2,
                                                      .format = GLCNN_CHANNEL_FORMAT_FLOAT16};
    glcnn_graph *graph = NULL;
    double first = 0, sum = 0;
    train_network(c.net, false);
    make_cnn_sources(8, sources);
    GOOD_FATAL(glcnn_graph_create(c.net, &descriptor, &graph));
    for (int step = 0; step < 8; step++) {
        run_graph(graph, sources);
        float *losses = result_values(graph, results[0]);
        sum = 0;
        for (int n = 0; n < 8; n++)
            sum += (double)losses[n];
        first = step ? first : sum;
        free(losses);
    }
    CU_ASSERT(sum < 0.5 * first);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

/* ---- Inference, states ---- */

/* The scores of the kernels themselves, which without a state take their running statistics. */
static glcnn_image *infer(const struct cnn *c, glcnn_image *source)
{
    glcnn_image_node *const layers[] = {c->convolved[0], c->normalised[0], c->pooled[0],
                                        c->convolved[1], c->normalised[1], c->pooled[1],
                                        c->scores};
    glcnn_image *image = source;
    for (int i = 0; i < 7; i++) {
        glcnn_kernel_properties(kernel_of(layers[i]))->result_is_ordinary = true;
        glcnn_image *next =
            result_of(kernel_of(layers[i]), &(struct glcnn_encode){.source = image}, NULL);
        if (image != source)
            glcnn_image_destroy(&image);
        image = next;
    }
    return image;
}

static void test_inference_uses_running_statistics(void)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    train_network(c.net, false);
    make_cnn_sources(5, sources);
    glcnn_graph *training = cnn_training_graph(&c, 0), *inference = graph_of(c.scores);
    run_graph(inference, sources);
    float *before = result_values(inference, c.scores);
    for (int step = 0; step < 3; step++)
        run_graph(training, sources);
    run_graph(inference, sources);
    float *after = result_values(inference, c.scores);
    CU_ASSERT_NOT_EQUAL(memcmp(before, after, 5 * CNN_CLASSES * sizeof *after), 0);
    glcnn_image *expected = infer(&c, sources[0]);
    CU_ASSERT_TRUE(image_equals(expected, after));
    glcnn_image_destroy(&expected);
    free(before);
    free(after);
    glcnn_graph_destroy(&training);
    glcnn_graph_destroy(&inference);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

/* Mean over all images and pixels of a channel, after normalisation with the flag. */
static double mean_after(const char *settings)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = glcnn_node(x, "batch_normalization", settings);
    glcnn_image *source = make_image(3, 1, 4, 4);
    double sum = 0;
    fill_noise(source, 77);
    float *values = read_image(source);
    for (int i = 0; i < 48; i++)
        values[i] += 5;
    fill_image(source, values);
    free(values);
    glcnn_graph *graph = graph_of(y);
    run_graph(graph, &source);
    values = result_values(graph, y);
    for (int i = 0; i < 48; i++)
        sum += (double)values[i];
    free(values);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&source);
    glcnn_network_destroy(&net);
    return sum / 48;
}

/* Neutral running statistics leave the mean where it is, near 5. */
static void test_flags_choose_the_statistics(void)
{
    CU_ASSERT(mean_after("epsilon=1e-5") > 4);
    CU_ASSERT(mean_after("epsilon=1e-5 flags=never") > 4);
    CU_ASSERT_DOUBLE_EQUAL(mean_after("epsilon=1e-5 flags=always"), 0, 1e-4);
}

/* Two strides of 2 forth and back: only the state knows which of two sizes it was. */
static void test_transposes_take_sizes_from_states(void)
{
    static const char settings[] = "input_feature_channels=4 output_feature_channels=4 "
                                   "kernel_width=3 kernel_height=3 stride_in_pixels_x=2 "
                                   "stride_in_pixels_y=2";
    for (uint32_t side = 7; side <= 8; side++) {
        glcnn_network *net = make_network();
        glcnn_image_node *x = make_input(net, "x");
        glcnn_image_node *down = glcnn_node(x, "convolution", settings);
        glcnn_image_node *plain = glcnn_node(down, "convolution_transpose", settings);
        glcnn_image_node *sized = glcnn_node(down, "convolution_transpose", settings);
        GOOD_FATAL(glcnn_filter_node_set_source_state(
            filter_of(sized), glcnn_filter_node_result_state(filter_of(down))));
        glcnn_image *source = make_image(2, 4, side, side);
        glcnn_image_node *const results[] = {sized, plain};
        glcnn_graph *graph = NULL;
        GOOD_FATAL(glcnn_graph_create(
            net, &(struct glcnn_graph_descriptor){.results = results, .result_count = 2}, &graph));
        set_weights(net, 2);
        fill_noise(source, 1);
        run_graph(graph, &source);
        CU_ASSERT_EQUAL(glcnn_image_get_descriptor(glcnn_graph_image(graph, sized))->width, side);
        CU_ASSERT_EQUAL(glcnn_image_get_descriptor(glcnn_graph_image(graph, plain))->width, 7);
        glcnn_graph_destroy(&graph);
        glcnn_image_destroy(&source);
        glcnn_network_destroy(&net);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_gradients_have_the_inverse_padding),
        UNIT_TEST(test_unary_gradients_are_the_kernels),
        UNIT_TEST(test_arithmetic_has_both_gradients),
        UNIT_TEST(test_groups_and_pixels_are_normalised),
        UNIT_TEST(test_residual_gradients_are_summed),
        UNIT_TEST(test_concatenations_go_both_ways),
        UNIT_TEST(test_concatenation_pads_to_slices),
        UNIT_TEST(test_neurons_are_computed_by_the_filter_before),
        UNIT_TEST(test_other_neurons_stay_apart),
        UNIT_TEST(test_images_with_two_readers_are_kept),
        UNIT_TEST(test_sources_are_in_order),
        UNIT_TEST(test_exported_images_are_kept),
        UNIT_TEST(test_exported_states_are_kept),
        UNIT_TEST(test_unneeded_results_are_pruned),
        UNIT_TEST(test_recording_changes_no_kernel),
        UNIT_TEST(test_nothing_to_do_is_refused),
        UNIT_TEST(test_formats_of_graphs_and_nodes),
        UNIT_TEST(test_a_float16_graph_trains),
        UNIT_TEST(test_inference_uses_running_statistics),
        UNIT_TEST(test_flags_choose_the_statistics),
        UNIT_TEST(test_transposes_take_sizes_from_states),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("graph", tests, argc, argv);
}
