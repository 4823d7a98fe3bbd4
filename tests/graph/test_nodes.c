/* Nodes as descriptions: their defaults, the gradient filter nodes of every kernel there is, and
 * what training graphs are made of. Nothing is computed here. */
#include "tests/fixture.h"

#include "graph/node.h"

#define INVALID GLCNN_INVALID_ARGUMENT
#define MOST    8

static bool says(const char *phrase)
{
    bool found = strstr(glcnn_device_error(device), phrase);
    if (!found)
        fprintf(stderr, "\n  \"%s\" lacks \"%s\"\n", glcnn_device_error(device), phrase);
    return found;
}

/* The network keeps a failure with this message. */
static void check_failed(glcnn_network *net, const char *phrase)
{
    REFUSED(INVALID, glcnn_network_status(net));
    CU_ASSERT_TRUE(says(phrase));
}

static size_t count_nodes(const glcnn_network *net)
{
    size_t count = 0;
    while (glcnn_network_image(net, count))
        count++;
    for (size_t i = 0; glcnn_network_filter(net, i); i++)
        count++;
    return count;
}

/* A gradient was refused with this message, and the network has as many nodes as before. */
static void check_refused(glcnn_network *net, size_t nodes, const char *phrase)
{
    CU_ASSERT_TRUE(says(phrase));
    GOOD(glcnn_network_status(net));
    CU_ASSERT_EQUAL(count_nodes(net), nodes);
    glcnn_image_node *x = glcnn_image_node_create(net, NULL);
    glcnn_filter_node *neuron = glcnn_image_node_filter(glcnn_node(x, "neuron", NULL));
    CU_ASSERT_PTR_NOT_NULL(glcnn_gradient_filter_with_source(neuron, x));
}

static glcnn_network *make_network(void)
{
    glcnn_network *net = NULL;
    GOOD_FATAL(glcnn_network_create(device, &net));
    return net;
}

static double number_of(glcnn_filter_node *node, const char *name)
{
    double value = -12345;
    GOOD(glcnn_kernel_get(glcnn_filter_node_kernel(node), name, &value));
    return value;
}

static glcnn_filter_node *filter_of(glcnn_image_node *image)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(image);
    CU_ASSERT_PTR_NOT_NULL_FATAL(filter);
    return filter;
}

/* ---- Making nodes of every kernel ---- */

/* How many sources a node of the kernel is given here; 0: no node can be made of it. */
static size_t source_count(const struct glcnn_descriptor *d)
{
    if (d->flags & (IS_GRADIENT | WITHOUT_PIXELS) || descriptor_place(d, PLACE_DESTINATION) < 0)
        return 0;
    if (strcmp(d->name, "concatenation") == 0)
        return 3;
    return descriptor_place(d, PLACE_SECONDARY) >= 0 || descriptor_place(d, PLACE_LABELS) >= 0 ? 2
                                                                                               : 1;
}

/* Spec 10.2, and what the header says of kernels whose gradient MPS lacks. */
static size_t gradients_expected(const struct glcnn_descriptor *d)
{
    static const char *const binary[] = {"add",
                                         "subtract",
                                         "multiply",
                                         "divide",
                                         "maximum",
                                         "minimum",
                                         "power",
                                         "axis_concatenation",
                                         "matrix_multiplication"};
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (strcmp(d->name, binary[i]) == 0)
            return 2;
    if (strcmp(d->name, "concatenation") == 0)
        return 3;
    return d->gradient ? 1 : 0;
}

static bool has_node(const struct glcnn_descriptor *d)
{
    return source_count(d) > 0;
}

struct single {
    glcnn_network *net;
    glcnn_image_node *sources[3], *gradient;
    glcnn_filter_node *filter;
};

/* One node of the kernel between inputs, and a gradient of its result. */
static struct single make_single(const struct glcnn_descriptor *d)
{
    struct single s = {.net = make_network()};
    for (int i = 0; i < 3; i++)
        s.sources[i] = glcnn_image_node_create(s.net, NULL);
    s.gradient = glcnn_image_node_create(s.net, "gradient");
    s.filter = glcnn_filter_node_create(s.net, d->name, NULL, s.sources, source_count(d));
    GOOD_FATAL(glcnn_network_status(s.net));
    CU_ASSERT_PTR_NOT_NULL_FATAL(s.filter);
    return s;
}

static void test_every_kernel_makes_a_node_or_says_why_not(void)
{
    size_t made = 0, refused = 0;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++) {
        glcnn_network *net = make_network();
        glcnn_image_node *sources[3];
        for (int i = 0; i < 3; i++)
            sources[i] = glcnn_image_node_create(net, NULL);
        size_t count = source_count(*d);
        glcnn_filter_node *node =
            glcnn_filter_node_create(net, (*d)->name, NULL, sources, count ? count : 1);
        if (count) {
            GOOD(glcnn_network_status(net));
            CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(glcnn_filter_node_kernel(node)), (*d)->name);
            CU_ASSERT_EQUAL(glcnn_filter_node_source_count(node), count);
            made++;
        } else {
            CU_ASSERT_PTR_NULL(node);
            check_failed(net, (*d)->flags & IS_GRADIENT ? "is a gradient" : "makes no image");
            refused++;
        }
        glcnn_network_destroy(&net);
    }
    CU_ASSERT(made > 30);
    CU_ASSERT(refused > 25);
}

/* ---- Defaults ---- */

static void test_pooling_clamps(void)
{
    static const char *const names[] = {"pooling_average", "pooling_max", "pooling_l2_norm",
                                        "dilated_pooling_max"};
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, "x");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        glcnn_filter_node *node = filter_of(glcnn_node(x, names[i], "kernel_width=3"));
        CU_ASSERT_EQUAL(number_of(node, "edge_mode"), GLCNN_EDGE_MODE_CLAMP);
        CU_ASSERT_EQUAL(number_of(node, "kernel_width"), 3);
        node = filter_of(glcnn_node(x, names[i], "edge_mode=zero"));
        CU_ASSERT_EQUAL(number_of(node, "edge_mode"), GLCNN_EDGE_MODE_ZERO);
    }
    CU_ASSERT_EQUAL(number_of(filter_of(glcnn_node(x, "convolution", NULL)), "edge_mode"),
                    GLCNN_EDGE_MODE_ZERO);
    glcnn_network_destroy(&net);
}

static void test_normalizations_have_size_5(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, "x");
    glcnn_filter_node *local = filter_of(glcnn_node(x, "local_contrast_normalization", NULL));
    CU_ASSERT_EQUAL(number_of(local, "alpha"), 1);
    CU_ASSERT_EQUAL(number_of(local, "kernel_width"), 5);
    CU_ASSERT_EQUAL(number_of(local, "kernel_height"), 5);
    glcnn_filter_node *spatial = filter_of(glcnn_node(x, "spatial_normalization", "delta=2"));
    CU_ASSERT_EQUAL(number_of(spatial, "kernel_width"), 5);
    CU_ASSERT_EQUAL(number_of(spatial, "delta"), 2);
    glcnn_filter_node *cross = filter_of(glcnn_node(x, "cross_channel_normalization", NULL));
    CU_ASSERT_EQUAL(number_of(cross, "kernel_size"), 5);
    cross = filter_of(glcnn_node(x, "cross_channel_normalization", "kernel_size=3"));
    CU_ASSERT_EQUAL(number_of(cross, "kernel_size"), 3);
    glcnn_network_destroy(&net);
}

/* Spec 7.3, the column of graph-node defaults. */
static void test_neurons_have_numbers_by_type(void)
{
    static const struct {
        const char *type;
        double a, b, c;
    } rows[] = {{"relu", 0, 0, 0},       {"linear", 1, 0, 0},    {"hard_sigmoid", 0.2, 0.5, 0},
                {"tanh", 1, 1, 0},       {"soft_plus", 1, 1, 0}, {"elu", 1, 0, 0},
                {"relun", 1, 6, 0},      {"power", 1, 0, 1},     {"exponential", 1, 0, -1},
                {"logarithm", 1, 0, -1}, {"gelu", 0, 0, 0},      {"swish", 1, 0, 0},
                {"clip", 0, 1, 0},       {"celu", 1, 0, 0},      {"hard_swish", 1.0 / 6, 0.5, 0}};
    static const char *const names[] = {"neuron_a", "neuron_b", "neuron_c"};
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, "x");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double expected[] = {rows[i].a, rows[i].b, rows[i].c};
        char settings[64];
        snprintf(settings, sizeof settings, "neuron_type=%s", rows[i].type);
        glcnn_filter_node *node = filter_of(glcnn_node(x, "neuron", settings));
        for (int n = 0; n < 3; n++)
            CU_ASSERT_DOUBLE_EQUAL(number_of(node, names[n]), expected[n], 1e-7);
        snprintf(settings, sizeof settings, "neuron_a=0.75 neuron_type=%s", rows[i].type);
        node = filter_of(glcnn_node(x, "neuron", settings));
        CU_ASSERT_EQUAL(number_of(node, "neuron_a"), 0.75);
        CU_ASSERT_DOUBLE_EQUAL(number_of(node, "neuron_b"), rows[i].b, 1e-7);
    }
    glcnn_network_destroy(&net);
}

static void test_settings_are_words(void)
{
    static const char *const wrong[] = {"no_such_name=1", "kernel_width", "kernel_width=0",
                                        "edge_mode=mirror", "kernel_width=3,kernel_height=3"};
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, "x");
    glcnn_filter_node *node = filter_of(
        glcnn_node(x, "pooling_max", "  kernel_width=2   kernel_height=4 padding=valid "));
    CU_ASSERT_EQUAL(number_of(node, "kernel_width"), 2);
    CU_ASSERT_EQUAL(number_of(node, "kernel_height"), 4);
    CU_ASSERT_EQUAL(glcnn_kernel_properties(glcnn_filter_node_kernel(node))->padding,
                    GLCNN_PADDING_SIZE_VALID_ONLY);
    glcnn_network_destroy(&net);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        net = make_network();
        CU_ASSERT_PTR_NULL(glcnn_node(glcnn_image_node_create(net, "x"), "pooling_max", wrong[i]));
        check_failed(net, "pooling_max");
        glcnn_network_destroy(&net);
    }
}

/* ---- Access ---- */

static void test_labels_and_handles_are_copied(void)
{
    char handle[] = "pixels", label[] = "stem";
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, handle);
    glcnn_image_node *y = glcnn_node(x, "neuron", NULL), *z = glcnn_node(y, "neuron", NULL);
    handle[0] = '#';
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(x), "pixels");
    CU_ASSERT_PTR_NULL(glcnn_image_node_handle(y));
    GOOD(glcnn_image_node_set_handle(y, label));
    CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(filter_of(y)), "neuron_0");
    CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(filter_of(z)), "neuron_1");
    GOOD(glcnn_filter_node_set_label(filter_of(z), label));
    label[0] = '#';
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(y), "stem");
    CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(filter_of(z)), "stem");
    REFUSED(INVALID, glcnn_filter_node_set_label(filter_of(z), NULL));
    GOOD(glcnn_image_node_set_handle(y, NULL));
    CU_ASSERT_PTR_NULL(glcnn_image_node_handle(y));
    glcnn_network_destroy(&net);
}

static void test_nodes_know_each_other(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL), *y, *sum;
    y = glcnn_node(x, "pooling_max", NULL);
    sum = glcnn_node_binary(x, y, "add", NULL);
    CU_ASSERT_PTR_NULL(glcnn_image_node_filter(x));
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_result(filter_of(y)), y);
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_source(filter_of(sum), 0), x);
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_source(filter_of(sum), 1), y);
    CU_ASSERT_PTR_NULL(glcnn_filter_node_source(filter_of(sum), 2));
    CU_ASSERT_PTR_EQUAL(glcnn_network_filter(net, 0), filter_of(y));
    CU_ASSERT_PTR_EQUAL(glcnn_network_filter(net, 1), filter_of(sum));
    CU_ASSERT_PTR_NULL(glcnn_network_filter(net, 2));
    CU_ASSERT_PTR_NOT_NULL(glcnn_filter_node_result_state(filter_of(y)));
    CU_ASSERT_PTR_NULL(glcnn_filter_node_loss(filter_of(y)));
    glcnn_image_node *const pair[] = {y, x};
    glcnn_filter_node *loss = glcnn_filter_node_create(net, "loss", NULL, pair, 2);
    CU_ASSERT_PTR_NOT_NULL(glcnn_filter_node_loss(loss));
    CU_ASSERT_PTR_NULL(glcnn_filter_node_result_state(loss));
    CU_ASSERT_EQUAL(glcnn_image_node_format(y), GLCNN_CHANNEL_FORMAT_NONE);
    CU_ASSERT_FALSE(glcnn_image_node_export_from_graph(y));
    CU_ASSERT_FALSE(glcnn_image_node_stop_gradient(y));
    glcnn_network_destroy(&net);
}

static void test_null_has_nothing(void)
{
    glcnn_filter_node *made[1];
    glcnn_image_node *none = NULL;
    CU_ASSERT_PTR_NULL(glcnn_image_node_create(NULL, "x"));
    glcnn_image_node_set_format(NULL, GLCNN_CHANNEL_FORMAT_FLOAT16);
    glcnn_image_node_set_export_from_graph(NULL, true);
    glcnn_image_node_set_stop_gradient(NULL, true);
    CU_ASSERT_EQUAL(glcnn_image_node_format(NULL), GLCNN_CHANNEL_FORMAT_NONE);
    CU_ASSERT_FALSE(glcnn_image_node_export_from_graph(NULL));
    CU_ASSERT_FALSE(glcnn_image_node_stop_gradient(NULL));
    CU_ASSERT_PTR_NULL(glcnn_image_node_handle(NULL));
    CU_ASSERT_PTR_NULL(glcnn_image_node_filter(NULL));
    CU_ASSERT_EQUAL(glcnn_image_node_set_handle(NULL, "x"), INVALID);
    CU_ASSERT_PTR_NULL(glcnn_filter_node_create(NULL, "neuron", NULL, &none, 1));
    CU_ASSERT_PTR_NULL(glcnn_node(NULL, "neuron", NULL));
    CU_ASSERT_PTR_NULL(glcnn_node_binary(NULL, NULL, "add", NULL));
    CU_ASSERT_PTR_NULL(glcnn_filter_node_kernel(NULL));
    CU_ASSERT_PTR_NULL(glcnn_filter_node_label(NULL));
    CU_ASSERT_EQUAL(glcnn_filter_node_set_label(NULL, "x"), INVALID);
    CU_ASSERT_EQUAL(glcnn_filter_node_set_padding(NULL, 0), INVALID);
    CU_ASSERT_EQUAL(glcnn_filter_node_padding(NULL), GLCNN_PADDING_DEFAULT);
    CU_ASSERT_PTR_NULL(glcnn_filter_node_result(NULL));
    CU_ASSERT_PTR_NULL(glcnn_filter_node_loss(NULL));
    CU_ASSERT_EQUAL(glcnn_filter_node_source_count(NULL), 0);
    CU_ASSERT_PTR_NULL(glcnn_filter_node_source(NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_network_filter(NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_filter_node_result_state(NULL));
    glcnn_state_node_set_export_from_graph(NULL, true);
    CU_ASSERT_EQUAL(glcnn_filter_node_set_source_state(NULL, NULL), INVALID);
    CU_ASSERT_EQUAL(glcnn_filter_node_set_training_style(NULL, 0), INVALID);
    CU_ASSERT_EQUAL(glcnn_gradient_filters_with_source(NULL, NULL, made, 1), 0);
    CU_ASSERT_PTR_NULL(glcnn_gradient_filter_with_source(NULL, NULL));
    CU_ASSERT_EQUAL(glcnn_training_graph_with_source_gradient(NULL, NULL, NULL, NULL, made, 1), 0);
    CU_ASSERT_EQUAL(glcnn_network_status(NULL), INVALID);
    CU_ASSERT_NOT_EQUAL(glcnn_network_create(NULL, NULL), GLCNN_SUCCESS);
    REFUSED(INVALID, glcnn_network_create(device, NULL));
    glcnn_network_destroy(NULL);
}

static void test_styles_and_states_are_checked(void)
{
    glcnn_network *net = make_network(), *other = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL);
    glcnn_image_node *down = glcnn_node(x, "convolution", NULL);
    glcnn_image_node *up = glcnn_node(down, "convolution_transpose", NULL);
    glcnn_image_node *late = glcnn_node(up, "convolution", NULL);
    glcnn_filter_node *foreign =
        filter_of(glcnn_node(glcnn_image_node_create(other, NULL), "convolution", NULL));
    GOOD(glcnn_filter_node_set_source_state(filter_of(up),
                                            glcnn_filter_node_result_state(filter_of(down))));
    REFUSED(INVALID, glcnn_filter_node_set_source_state(
                         filter_of(up), glcnn_filter_node_result_state(filter_of(late))));
    REFUSED(INVALID, glcnn_filter_node_set_source_state(filter_of(up),
                                                        glcnn_filter_node_result_state(foreign)));
    REFUSED(INVALID, glcnn_filter_node_set_source_state(
                         filter_of(late), glcnn_filter_node_result_state(filter_of(down))));
    CU_ASSERT_TRUE(says("convolution_transpose does"));
    GOOD(glcnn_filter_node_set_training_style(filter_of(down),
                                              GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU));
    REFUSED(INVALID, glcnn_filter_node_set_training_style(filter_of(down), 3));
    GOOD(glcnn_network_status(net));
    glcnn_network_destroy(&net);
    glcnn_network_destroy(&other);
}

/* ---- Failures ---- */

static void test_the_first_failure_stays(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL), *y;
    y = glcnn_node(x, "neuron", NULL);
    GOOD(glcnn_network_status(net));
    CU_ASSERT_PTR_NULL(
        glcnn_node(glcnn_node(glcnn_node(x, "no_such_kernel", NULL), "neuron", NULL), "add", NULL));
    CU_ASSERT_PTR_NULL(glcnn_node(x, "another_such", NULL));
    CU_ASSERT_PTR_NULL(glcnn_node(x, "neuron", NULL));
    check_failed(net, "no_such_kernel");
    CU_ASSERT_PTR_NULL(glcnn_gradient_filter_with_source(filter_of(y), x));
    check_failed(net, "no_such_kernel");
    glcnn_network_destroy(&net);
}

static void test_sources_are_checked(void)
{
    static const struct {
        const char *kernel;
        size_t count;
        const char *phrase;
    } rows[] = {{"add", 1, "takes 2 sources, not 1"}, {"neuron", 2, "takes 1 sources, not 2"},
                {"loss", 1, "takes 2 or more"},       {"concatenation", 0, "not 0"},
                {"neuron", 0, "takes 1 sources"},     {NULL, 1, "(NULL)"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        glcnn_network *net = make_network();
        glcnn_image_node *x = glcnn_image_node_create(net, NULL);
        glcnn_image_node *const sources[] = {x, x, x, x};
        CU_ASSERT_PTR_NULL(
            glcnn_filter_node_create(net, rows[i].kernel, NULL, sources, rows[i].count));
        check_failed(net, rows[i].phrase);
        glcnn_network_destroy(&net);
    }
}

static void test_networks_do_not_mix(void)
{
    glcnn_network *net = make_network(), *other = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL);
    glcnn_image_node *foreign = glcnn_image_node_create(other, NULL);
    CU_ASSERT_PTR_NULL(glcnn_node_binary(x, foreign, "add", NULL));
    check_failed(net, "source 1 is a node of another network");
    GOOD(glcnn_network_status(other));
    glcnn_network_destroy(&net);
    net = make_network();
    glcnn_image_node *const sources[] = {NULL};
    CU_ASSERT_PTR_NULL(glcnn_filter_node_create(net, "neuron", NULL, sources, 1));
    check_failed(net, "source 0 is NULL");
    glcnn_network_destroy(&net);
    glcnn_network_destroy(&other);
}

/* ---- The four methods ---- */

/* The forward source that a gradient by source `source` reads: itself, but for a product the other
 * factor, for a quotient the divisor, for a power the exponent and for crops their regions. */
static size_t given_source(const struct glcnn_descriptor *gradient, size_t source)
{
    if (strcmp(gradient->name, "multiply_gradient") == 0 ||
        strcmp(gradient->name, "matrix_multiplication_gradient") == 0)
        return 1 - source;
    bool by_second = strcmp(gradient->name, "divide_gradient") == 0 ||
                     strcmp(gradient->name, "power_gradient") == 0 ||
                     strcmp(gradient->name, "crop_and_resize_bilinear_regions_gradient") == 0;
    return by_second ? 1 : source;
}

/* Soft-max is differentiated by its result; copies read the gradient alone. */
static void check_sources(const struct single *s, glcnn_filter_node *made, size_t source)
{
    const struct glcnn_descriptor *d = glcnn_filter_node_kernel(made)->descriptor;
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_source(made, 0), s->gradient);
    if (descriptor_place(d, PLACE_SECONDARY) < 0) {
        CU_ASSERT_EQUAL(glcnn_filter_node_source_count(made), 1);
        return;
    }
    CU_ASSERT_EQUAL(glcnn_filter_node_source_count(made), 2);
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_source(made, 1),
                        strstr(d->name, "soft_max") ? glcnn_filter_node_result(s->filter)
                                                    : s->sources[given_source(d, source)]);
}

static void check_gradients(const struct single *s, const struct glcnn_descriptor *d,
                            glcnn_filter_node *const *made, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(made[i]);
        CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(glcnn_filter_node_kernel(made[i])), d->gradient);
        CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(made[i]),
                               glcnn_filter_node_label(s->filter));
        CU_ASSERT_PTR_EQUAL(made[i]->forward, s->filter);
        CU_ASSERT_EQUAL(made[i]->forward_source, i);
        CU_ASSERT_PTR_NOT_NULL(glcnn_filter_node_result(made[i]));
        if (count == 2)
            CU_ASSERT_EQUAL(number_of(made[i], "is_secondary_source_filter"), (double)i);
        check_sources(s, made[i], i);
    }
}

static void test_gradients_of_every_kernel(void)
{
    size_t singles = 0;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++) {
        glcnn_filter_node *made[MOST] = {NULL};
        size_t count = gradients_expected(*d);
        if (!has_node(*d) || count == 0)
            continue;
        struct single s = make_single(*d);
        CU_ASSERT_EQUAL(glcnn_gradient_filters_with_source(s.filter, s.gradient, made, MOST),
                        count);
        check_gradients(&s, *d, made, count);
        CU_ASSERT_EQUAL(glcnn_gradient_filters_with_sources(s.filter, &s.gradient, 1, made, count),
                        count);
        check_gradients(&s, *d, made, count);
        GOOD(glcnn_network_status(s.net));
        if (count == 1) {
            made[0] = glcnn_gradient_filter_with_source(s.filter, s.gradient);
            check_gradients(&s, *d, made, 1);
            made[0] = glcnn_gradient_filter_with_sources(s.filter, &s.gradient, 1);
            check_gradients(&s, *d, made, 1);
            GOOD(glcnn_network_status(s.net));
            singles++;
        }
        glcnn_network_destroy(&s.net);
    }
    CU_ASSERT(singles > 20);
}

/* One of the four methods; 0: it made nothing. */
static size_t call_method(int method, const struct single *s)
{
    glcnn_filter_node *made[MOST];
    switch (method) {
    case 0:
        return glcnn_gradient_filters_with_sources(s->filter, &s->gradient, 1, made, MOST);
    case 1:
        return glcnn_gradient_filters_with_source(s->filter, s->gradient, made, MOST);
    case 2:
        return glcnn_gradient_filter_with_sources(s->filter, &s->gradient, 1) != NULL;
    default:
        return glcnn_gradient_filter_with_source(s->filter, s->gradient) != NULL;
    }
}

static void test_arguments_fit_into_operations(void)
{
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++) {
        size_t count = 0;
        while ((*d)->arguments[count].name)
            count++;
        CU_ASSERT(count <= MAX_ARGUMENTS);
    }
}

static void test_kernels_without_gradient_say_so(void)
{
    size_t found = 0;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++) {
        if (!has_node(*d) || gradients_expected(*d) > 0)
            continue;
        CU_ASSERT_PTR_NOT_NULL_FATAL(descriptor_without_gradient(*d));
        for (int method = 0; method < 4; method++) {
            struct single s = make_single(*d);
            size_t nodes = count_nodes(s.net);
            CU_ASSERT_EQUAL(call_method(method, &s), 0);
            check_refused(s.net, nodes, descriptor_without_gradient(*d));
            glcnn_network_destroy(&s.net);
        }
        found++;
    }
    CU_ASSERT(found >= 2);
}

static void test_singular_methods_refuse_several(void)
{
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++)
        for (int method = 2; has_node(*d) && gradients_expected(*d) > 1 && method < 4; method++) {
            struct single s = make_single(*d);
            size_t nodes = count_nodes(s.net);
            CU_ASSERT_EQUAL(call_method(method, &s), 0);
            check_refused(s.net, nodes, "more than one");
            glcnn_network_destroy(&s.net);
        }
}

static void test_gradients_have_no_gradient(void)
{
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++)
        for (int method = 0; has_node(*d) && gradients_expected(*d) == 1 && method < 4; method++) {
            struct single s = make_single(*d);
            s.filter = glcnn_gradient_filter_with_source(s.filter, s.gradient);
            size_t nodes = count_nodes(s.net);
            CU_ASSERT_EQUAL(call_method(method, &s), 0);
            check_refused(s.net, nodes, "it is a gradient itself");
            glcnn_network_destroy(&s.net);
        }
}

/* Wrong arguments, the same for every kernel: one gradient, of this network, and room. */
static void refuse_arguments(const struct glcnn_descriptor *d, int wrong)
{
    static const char *const phrases[] = {"takes one gradient", "takes one gradient",
                                          "takes one gradient", "another network",
                                          "room for them",      "room for them"};
    struct single s = make_single(d);
    glcnn_network *other = make_network();
    glcnn_image_node *foreign = glcnn_image_node_create(other, NULL);
    glcnn_image_node *const two[] = {s.gradient, s.gradient};
    glcnn_filter_node *made[MOST] = {s.filter};
    size_t count = 99, nodes = count_nodes(s.net);
    switch (wrong) {
    case 0:
        count = glcnn_gradient_filters_with_source(s.filter, NULL, made, MOST);
        break;
    case 1:
        count = glcnn_gradient_filters_with_sources(s.filter, two, 2, made, MOST);
        break;
    case 2:
        count = glcnn_gradient_filters_with_sources(s.filter, NULL, 1, made, MOST);
        break;
    case 3:
        count = glcnn_gradient_filters_with_source(s.filter, foreign, made, MOST);
        break;
    case 4:
        count = glcnn_gradient_filters_with_source(s.filter, s.gradient, made,
                                                   gradients_expected(d) - 1);
        break;
    case 5:
        count = glcnn_gradient_filters_with_source(s.filter, s.gradient, NULL, MOST);
        break;
    }
    CU_ASSERT_EQUAL(count, 0);
    if (wrong < 4)
        CU_ASSERT_PTR_NULL(made[0]);
    check_refused(s.net, nodes, phrases[wrong]);
    glcnn_network_destroy(&s.net);
    glcnn_network_destroy(&other);
}

static void test_arguments_of_gradients_are_checked(void)
{
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++)
        for (int wrong = 0; has_node(*d) && gradients_expected(*d) && wrong < 6; wrong++)
            refuse_arguments(*d, wrong);
}

/* Parameters go over, those of addressing do not: the state has them. */
static void test_gradients_have_the_filters_parameters(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL);
    glcnn_image_node *g = glcnn_image_node_create(net, NULL);
    glcnn_filter_node *forward =
        filter_of(glcnn_node(x, "convolution",
                             "input_feature_channels=3 output_feature_channels=5 kernel_width=3 "
                             "kernel_height=2 padding=valid"));
    glcnn_filter_node *gradient = glcnn_gradient_filter_with_source(forward, g);
    CU_ASSERT_EQUAL(number_of(gradient, "input_feature_channels"), 3);
    CU_ASSERT_EQUAL(number_of(gradient, "output_feature_channels"), 5);
    forward = filter_of(glcnn_node(x, "neuron", "neuron_type=elu neuron_a=0.5"));
    gradient = glcnn_gradient_filter_with_source(forward, g);
    CU_ASSERT_EQUAL(number_of(gradient, "neuron_a"), 0.5);
    forward = filter_of(glcnn_node_binary(x, x, "add", "primary_scale=3 secondary_scale=4"));
    glcnn_filter_node *both[2];
    CU_ASSERT_EQUAL_FATAL(glcnn_gradient_filters_with_source(forward, g, both, 2), 2);
    CU_ASSERT_EQUAL(number_of(both[0], "primary_scale"), 3);
    CU_ASSERT_EQUAL(number_of(both[1], "secondary_scale"), 4);
    GOOD(glcnn_network_status(net));
    glcnn_network_destroy(&net);
}

/* ---- Training graphs ---- */

/* What the handler saw. */
struct seen {
    size_t count;
    glcnn_filter_node *gradients[32], *forwards[32];
    glcnn_image_node *sources[32], *given[32];
    int stop_at; /* call whose result stops; -1: none */
    int name_at; /* call whose result gets a handle of its own; -1: none */
};

static void watch(void *user, glcnn_filter_node *gradient, glcnn_filter_node *forward,
                  glcnn_image_node *source, glcnn_image_node *given)
{
    struct seen *seen = user;
    CU_ASSERT_FATAL(seen->count < 32);
    glcnn_image_node *result = glcnn_filter_node_result(gradient);
    if ((int)seen->count == seen->stop_at)
        glcnn_image_node_set_stop_gradient(result, true);
    if ((int)seen->count == seen->name_at)
        GOOD(glcnn_image_node_set_handle(result, "own name"));
    seen->gradients[seen->count] = gradient;
    seen->forwards[seen->count] = forward;
    seen->sources[seen->count] = source;
    seen->given[seen->count++] = given;
}

#define WATCH                                                                                      \
    (struct seen)                                                                                  \
    {                                                                                              \
        .stop_at = -1, .name_at = -1                                                               \
    }

/* convolution -> neuron -> pooling -> loss */
struct chain {
    glcnn_network *net;
    glcnn_image_node *x, *labels, *convolved, *active, *pooled;
    glcnn_filter_node *loss;
};

static struct chain make_chain(void)
{
    struct chain c = {.net = make_network()};
    c.x = glcnn_image_node_create(c.net, "pixels");
    c.labels = glcnn_image_node_create(c.net, "labels");
    c.convolved = glcnn_node(c.x, "convolution", NULL);
    c.active = glcnn_node(c.convolved, "neuron", "neuron_type=relu");
    GOOD(glcnn_image_node_set_handle(c.active, "active"));
    c.pooled = glcnn_node(c.active, "pooling_average", NULL);
    glcnn_image_node *const pair[] = {c.pooled, c.labels};
    c.loss = glcnn_filter_node_create(c.net, "loss", NULL, pair, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c.loss);
    return c;
}

static size_t train(glcnn_filter_node *last, glcnn_image_node *gradient, struct seen *seen,
                    glcnn_filter_node **ends)
{
    return glcnn_training_graph_with_source_gradient(last, gradient, watch, seen, ends, MOST);
}

static void check_call(const struct seen *seen, size_t call, const char *kernel,
                       glcnn_image_node *forward_result, glcnn_image_node *source)
{
    CU_ASSERT_FATAL(call < seen->count);
    CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(glcnn_filter_node_kernel(seen->gradients[call])),
                           kernel);
    CU_ASSERT_PTR_EQUAL(seen->forwards[call], glcnn_image_node_filter(forward_result));
    CU_ASSERT_PTR_EQUAL(seen->sources[call], source);
    CU_ASSERT_PTR_EQUAL(seen->given[call], glcnn_filter_node_source(seen->gradients[call], 0));
}

static void test_a_chain_goes_backwards(void)
{
    struct chain c = make_chain();
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    seen.name_at = 2;
    CU_ASSERT_EQUAL_FATAL(train(c.loss, NULL, &seen, ends), 1);
    CU_ASSERT_EQUAL(seen.count, 3);
    check_call(&seen, 0, "pooling_average_gradient", c.pooled, c.active);
    check_call(&seen, 1, "neuron_gradient", c.active, c.convolved);
    check_call(&seen, 2, "convolution_gradient", c.convolved, c.x);
    CU_ASSERT_PTR_EQUAL(seen.given[0], glcnn_filter_node_result(c.loss));
    CU_ASSERT_PTR_EQUAL(seen.given[1], glcnn_filter_node_result(seen.gradients[0]));
    CU_ASSERT_PTR_EQUAL(ends[0], seen.gradients[2]);
    /* Handles are the forward images' unless the handler sets another. */
    const char *handle = glcnn_image_node_handle(glcnn_filter_node_result(seen.gradients[0]));
    CU_ASSERT_PTR_NOT_NULL_FATAL(handle);
    CU_ASSERT_STRING_EQUAL(handle, "active");
    CU_ASSERT_PTR_NOT_EQUAL(handle, glcnn_image_node_handle(c.active));
    CU_ASSERT_PTR_NULL(glcnn_image_node_handle(glcnn_filter_node_result(seen.gradients[1])));
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(glcnn_filter_node_result(seen.gradients[2])),
                           "own name");
    GOOD(glcnn_network_status(c.net));
    glcnn_network_destroy(&c.net);
}

/* A gradient of the user's in place of the loss's; and a last node that is no loss. */
static void test_gradients_come_from_where_they_are_told(void)
{
    struct chain c = make_chain();
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    glcnn_image_node *own = glcnn_image_node_create(c.net, "own");
    CU_ASSERT_EQUAL(train(c.loss, own, &seen, ends), 1);
    CU_ASSERT_PTR_EQUAL(seen.given[0], own);
    check_call(&seen, 0, "pooling_average_gradient", c.pooled, c.active);
    seen = WATCH;
    CU_ASSERT_EQUAL(train(filter_of(c.active), own, &seen, ends), 1);
    CU_ASSERT_EQUAL(seen.count, 2);
    check_call(&seen, 0, "neuron_gradient", c.active, c.convolved);
    seen = WATCH;
    CU_ASSERT_EQUAL(train(filter_of(c.active), NULL, &seen, ends), 1);
    CU_ASSERT_PTR_EQUAL(seen.given[0], c.active);
    glcnn_network_destroy(&c.net);
}

static void test_stopped_images_end_the_way_back(void)
{
    struct chain c = make_chain();
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    glcnn_image_node_set_stop_gradient(c.convolved, true);
    CU_ASSERT_EQUAL(train(c.loss, NULL, &seen, ends), 1);
    CU_ASSERT_EQUAL(seen.count, 2);
    CU_ASSERT_PTR_EQUAL(ends[0], seen.gradients[1]);
    check_call(&seen, 1, "neuron_gradient", c.active, c.convolved);
    glcnn_network_destroy(&c.net);
    c = make_chain();
    seen = WATCH;
    seen.stop_at = 0;
    CU_ASSERT_EQUAL(train(c.loss, NULL, &seen, ends), 1);
    CU_ASSERT_EQUAL(seen.count, 1);
    CU_ASSERT_PTR_EQUAL(ends[0], seen.gradients[0]);
    glcnn_network_destroy(&c.net);
}

/* Three readers: two additions, for which the handler has no forward node. */
static void test_several_readers_are_summed(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, "x");
    glcnn_image_node *shared = glcnn_node(x, "neuron", "neuron_type=tanh");
    glcnn_image_node *a = glcnn_node(shared, "neuron", "neuron_type=relu");
    glcnn_image_node *b = glcnn_node_binary(a, shared, "multiply", NULL);
    glcnn_image_node *c = glcnn_node_binary(b, shared, "add", NULL);
    glcnn_image_node *gradient = glcnn_image_node_create(net, "gradient");
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    CU_ASSERT_EQUAL_FATAL(train(filter_of(c), gradient, &seen, ends), 1);
    size_t sums = 0, tanh_at = SIZE_MAX, last_sum = SIZE_MAX;
    for (size_t i = 0; i < seen.count; i++) {
        if (!seen.forwards[i]) {
            CU_ASSERT_PTR_NULL(seen.sources[i]);
            CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(glcnn_filter_node_kernel(seen.gradients[i])),
                                   "add");
            sums++;
            last_sum = i;
        } else if (seen.forwards[i] == filter_of(shared)) {
            tanh_at = i;
        }
    }
    CU_ASSERT_EQUAL(sums, 2);
    CU_ASSERT_EQUAL(seen.count, 2 + 2 + 1 + 1 + 2);
    CU_ASSERT_FATAL(tanh_at != SIZE_MAX && last_sum < tanh_at);
    CU_ASSERT_PTR_EQUAL(seen.given[tanh_at], glcnn_filter_node_result(seen.gradients[last_sum]));
    CU_ASSERT_PTR_EQUAL(ends[0], seen.gradients[tanh_at]);
    glcnn_network_destroy(&net);
}

/* Inputs end branches, each with an end of its own; one that two filters read, with a sum. */
static void test_inputs_end_branches(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, "x"), *y, *gradient;
    y = glcnn_image_node_create(net, "y");
    gradient = glcnn_image_node_create(net, "gradient");
    glcnn_image_node *product = glcnn_node_binary(x, y, "multiply", NULL);
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    CU_ASSERT_EQUAL(train(filter_of(product), gradient, &seen, ends), 2);
    CU_ASSERT_PTR_EQUAL(ends[0], seen.gradients[0]);
    CU_ASSERT_PTR_EQUAL(ends[1], seen.gradients[1]);
    glcnn_image_node *square = glcnn_node_binary(x, x, "multiply", NULL);
    seen = WATCH;
    CU_ASSERT_EQUAL(train(filter_of(square), gradient, &seen, ends), 1);
    CU_ASSERT_EQUAL(seen.count, 3);
    CU_ASSERT_PTR_NULL(seen.forwards[2]);
    CU_ASSERT_PTR_EQUAL(ends[0], seen.gradients[2]);
    glcnn_network_destroy(&net);
}

/* What the last node does not depend on gets no gradient nodes. */
static void test_other_branches_are_left_alone(void)
{
    struct chain c = make_chain();
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    glcnn_image_node *aside = glcnn_node(c.active, "neuron", "neuron_type=tanh");
    CU_ASSERT_PTR_NOT_NULL(aside);
    CU_ASSERT_EQUAL(train(c.loss, NULL, &seen, ends), 1);
    CU_ASSERT_EQUAL(seen.count, 3);
    glcnn_network_destroy(&c.net);
}

static void test_a_concatenation_splits_the_gradient(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *sources[MOST], *gradient = glcnn_image_node_create(net, NULL);
    for (int i = 0; i < 5; i++)
        sources[i] = glcnn_image_node_create(net, NULL);
    glcnn_filter_node *node = glcnn_filter_node_create(net, "concatenation", NULL, sources, 5);
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    CU_ASSERT_EQUAL(train(node, gradient, &seen, ends), 5);
    for (size_t i = 0; i < 5; i++)
        CU_ASSERT_PTR_EQUAL(seen.sources[i], sources[i]);
    glcnn_network_destroy(&net);
}

/* The training graph from `last` is refused with this message and leaves nothing behind. */
static void check_training_refused(glcnn_filter_node *last, glcnn_image_node *gradient,
                                   size_t capacity, const char *phrase)
{
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST] = {last, last};
    glcnn_network *net = last->network;
    size_t nodes = count_nodes(net);
    CU_ASSERT_EQUAL(
        glcnn_training_graph_with_source_gradient(last, gradient, watch, &seen, ends, capacity), 0);
    for (size_t i = 0; i < capacity; i++)
        CU_ASSERT_PTR_NULL(ends[i]);
    check_refused(net, nodes, phrase);
}

static void test_training_graphs_are_refused(void)
{
    glcnn_network *other = make_network();
    glcnn_image_node *foreign = glcnn_image_node_create(other, NULL);
    struct chain c = make_chain();
    struct seen seen = WATCH;
    glcnn_filter_node *ends[MOST];
    check_training_refused(c.loss, foreign, MOST, "another network");
    check_training_refused(c.loss, NULL, 0, "no room");
    CU_ASSERT_EQUAL(glcnn_training_graph_with_source_gradient(c.loss, NULL, NULL, NULL, NULL, 3),
                    0);
    CU_ASSERT_TRUE(says("no room"));
    CU_ASSERT_EQUAL(train(c.loss, NULL, &seen, ends), 1);
    GOOD(glcnn_network_status(c.net));
    glcnn_network_destroy(&c.net);
    /* Two ends, room for one. */
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL), *y;
    y = glcnn_image_node_create(net, NULL);
    glcnn_filter_node *sum = filter_of(glcnn_node_binary(x, y, "add", NULL));
    check_training_refused(sum, NULL, 1, "more ends than room");
    CU_ASSERT_EQUAL(train(sum, NULL, &seen, ends), 2);
    glcnn_network_destroy(&net);
    glcnn_network_destroy(&other);
}

/* A transposed convolution that follows a state leaves none that its gradient could read. */
static void test_sized_transposes_have_no_gradient(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL);
    glcnn_image_node *down = glcnn_node(x, "convolution", NULL);
    glcnn_image_node *up = glcnn_node(down, "convolution_transpose", NULL);
    CU_ASSERT_PTR_NOT_NULL(glcnn_gradient_filter_with_source(filter_of(up), x));
    GOOD(glcnn_filter_node_set_source_state(filter_of(up),
                                            glcnn_filter_node_result_state(filter_of(down))));
    size_t nodes = count_nodes(net);
    CU_ASSERT_PTR_NULL(glcnn_gradient_filter_with_source(filter_of(up), x));
    check_refused(net, nodes, "takes its sizes from a state");
    glcnn_network_destroy(&net);
}

/* A loss of an input, and a filter on the way that has no gradient. */
static void test_ways_back_must_exist(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL), *y;
    y = glcnn_image_node_create(net, NULL);
    glcnn_image_node *const inputs[] = {x, y};
    glcnn_filter_node *loss = glcnn_filter_node_create(net, "loss", NULL, inputs, 2);
    check_training_refused(loss, NULL, MOST, "nothing that it depends on has a gradient");
    glcnn_network_destroy(&net);
    net = make_network();
    x = glcnn_image_node_create(net, NULL);
    x = glcnn_node(glcnn_node(x, "reduce_feature_channels_argument_max", NULL), "neuron", NULL);
    check_training_refused(filter_of(x), NULL, MOST, "a channel's number does not change");
    glcnn_network_destroy(&net);
}

/* Parameters that leave a layer without a gradient are told where the gradient is asked for, with
 * the layer's label. */
static void check_without_gradient(const char *kernel, const char *settings, const char *why)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_image_node_create(net, NULL), *g;
    g = glcnn_image_node_create(net, NULL);
    x = glcnn_node(x, kernel, settings);
    GOOD_FATAL(glcnn_filter_node_set_label(filter_of(x), "stem"));
    size_t nodes = count_nodes(net);
    CU_ASSERT_PTR_NULL(glcnn_gradient_filter_with_source(filter_of(x), g));
    check_refused(net, nodes, why);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "gradient of stem ("));
    check_training_refused(filter_of(glcnn_node(x, "pooling_max", NULL)), NULL, MOST, why);
    glcnn_network_destroy(&net);
}

static void test_parameters_without_a_gradient_are_refused(void)
{
    static const char *const layers[] = {"convolution", "fully_connected", "convolution_transpose"};
    for (size_t i = 0; i < 3; i++)
        check_without_gradient(layers[i], "neuron_type=relu", "it has a fused neuron");
    check_without_gradient("convolution", "output_feature_channels=4 sub_pixel_scale_factor=2",
                           "it has a sub-pixel scale factor");
}

/* ---- After a failure ---- */

/* Nodes that are made after a refused training graph have the labels and the places that they have
 * without one. */
static void test_a_refused_training_graph_leaves_no_trace(void)
{
    glcnn_filter_node *ends[2][MOST];
    struct chain chains[] = {make_chain(), make_chain()};
    struct seen seen = WATCH;
    glcnn_image_node *maximum =
        glcnn_node(chains[0].x, "reduce_feature_channels_argument_max", NULL);
    glcnn_node(chains[1].x, "reduce_feature_channels_argument_max", NULL);
    glcnn_image_node *sum = glcnn_node_binary(chains[0].pooled, maximum, "add", NULL);
    glcnn_node_binary(chains[1].pooled, chains[1].x, "add", NULL);
    CU_ASSERT_EQUAL(train(filter_of(sum), NULL, &seen, ends[0]), 0);
    CU_ASSERT(seen.count > 0);
    for (int i = 0; i < 2; i++) {
        seen = WATCH;
        CU_ASSERT_EQUAL_FATAL(train(chains[i].loss, NULL, &seen, ends[i]), 1);
        glcnn_node_binary(chains[i].x, chains[i].x, "add", NULL);
    }
    CU_ASSERT_EQUAL(count_nodes(chains[0].net), count_nodes(chains[1].net));
    glcnn_filter_node *a, *b;
    for (size_t i = 0; (a = glcnn_network_filter(chains[0].net, i)); i++) {
        b = glcnn_network_filter(chains[1].net, i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        CU_ASSERT_EQUAL(a->index, b->index);
        CU_ASSERT_EQUAL(a->result->index, b->result->index);
        CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(a), glcnn_filter_node_label(b));
    }
    glcnn_network_destroy(&chains[0].net);
    glcnn_network_destroy(&chains[1].net);
}

/* Who did not look hears of it where the result is wanted; who did has the rest. */
static void test_graphs_after_a_refusal(void)
{
    struct chain c = make_chain();
    glcnn_graph *graph;
    glcnn_image_node *results[] = {
        c.pooled, glcnn_filter_node_result(glcnn_gradient_filter_with_source(c.loss, c.pooled))};
    struct glcnn_graph_descriptor d = {.results = results, .result_count = 2};
    REFUSED(INVALID, glcnn_graph_create(c.net, &d, &graph));
    CU_ASSERT_TRUE(says("result 1 is NULL"));
    CU_ASSERT_TRUE(says("gradient of loss_0"));
    d.result_count = 1;
    GOOD_FATAL(glcnn_graph_create(c.net, &d, &graph));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&c.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_every_kernel_makes_a_node_or_says_why_not),
        UNIT_TEST(test_pooling_clamps),
        UNIT_TEST(test_normalizations_have_size_5),
        UNIT_TEST(test_neurons_have_numbers_by_type),
        UNIT_TEST(test_settings_are_words),
        UNIT_TEST(test_labels_and_handles_are_copied),
        UNIT_TEST(test_nodes_know_each_other),
        UNIT_TEST(test_null_has_nothing),
        UNIT_TEST(test_styles_and_states_are_checked),
        UNIT_TEST(test_the_first_failure_stays),
        UNIT_TEST(test_sources_are_checked),
        UNIT_TEST(test_networks_do_not_mix),
        UNIT_TEST(test_gradients_of_every_kernel),
        UNIT_TEST(test_arguments_fit_into_operations),
        UNIT_TEST(test_kernels_without_gradient_say_so),
        UNIT_TEST(test_singular_methods_refuse_several),
        UNIT_TEST(test_gradients_have_no_gradient),
        UNIT_TEST(test_arguments_of_gradients_are_checked),
        UNIT_TEST(test_gradients_have_the_filters_parameters),
        UNIT_TEST(test_a_chain_goes_backwards),
        UNIT_TEST(test_gradients_come_from_where_they_are_told),
        UNIT_TEST(test_stopped_images_end_the_way_back),
        UNIT_TEST(test_several_readers_are_summed),
        UNIT_TEST(test_inputs_end_branches),
        UNIT_TEST(test_other_branches_are_left_alone),
        UNIT_TEST(test_a_concatenation_splits_the_gradient),
        UNIT_TEST(test_training_graphs_are_refused),
        UNIT_TEST(test_sized_transposes_have_no_gradient),
        UNIT_TEST(test_ways_back_must_exist),
        UNIT_TEST(test_parameters_without_a_gradient_are_refused),
        UNIT_TEST(test_a_refused_training_graph_leaves_no_trace),
        UNIT_TEST(test_graphs_after_a_refusal),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("nodes", tests, argc, argv);
}
