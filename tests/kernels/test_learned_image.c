/* Learned images: what they learn is what PyTorch's do, whoever uses them; their source counts by its
 * batch alone; and all that keeps weights keeps them. golden/make_learned_image.py tells the network. */
#include "glcnn/checkpoint.h"
#include "glcnn/serialize.h"
#include "tests/archive.h"
#include "tests/graphs.h"

#define STEPS        20
#define BATCH        5
#define CHANNELS     3
#define WIDTH        5
#define HEIGHT       4
#define FEATURES     6
#define CLASSES      3
#define TOKENS       (1 + WIDTH * HEIGHT)
#define MOST_LEARNED 16384
#define TOLERANCE    1e-5 /* times max(1, norm) */
#define INVALID      GLCNN_INVALID_ARGUMENT

static struct zip *archive;

/* ---- The network ---- */

enum { CONVOLUTION, POSITION, TOKEN, HEAD, LAYERS };
static const char *const layer_names[LAYERS] = {"convolution", "position", "token", "head"};
static const char *const vectors[] = {"weights", "biases", "values"};
#define VECTORS (sizeof vectors / sizeof *vectors)

struct net {
    glcnn_network *net;
    glcnn_image_node *layers[LAYERS], *sum; /* the convolution and the position */
    glcnn_filter_node *loss;
    glcnn_image *sources[2];
};

static size_t elements_of(const struct glcnn_npy *array)
{
    size_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

static glcnn_image *image_of(const char *name, uint32_t channels, uint32_t height, uint32_t width)
{
    struct glcnn_npy array;
    CU_ASSERT_FATAL(archive_read(archive, name, &array));
    glcnn_image *image = image_with(BATCH, channels, height, width, array.data);
    glcnn_npy_destroy(&array);
    return image;
}

static void load_vectors(const struct net *n)
{
    for (int i = 0; i < LAYERS; i++)
        for (size_t v = 0; v < VECTORS; v++) {
            struct glcnn_npy array;
            char name[48];
            if (!glcnn_kernel_vector_length(kernel_of(n->layers[i]), vectors[v]))
                continue;
            snprintf(name, sizeof name, "%s.%s", layer_names[i], vectors[v]);
            CU_ASSERT_FATAL(archive_read(archive, name, &array));
            GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(n->layers[i]), vectors[v], array.data,
                                               elements_of(&array)));
            glcnn_npy_destroy(&array);
        }
}

static glcnn_image_node *attend(struct net *n, glcnn_image_node *x, glcnn_image_node *y)
{
    glcnn_image_node *tokens[] = {glcnn_learned_image_node(x, 1, 1, FEATURES),
                                  glcnn_reshape_node(y, 1, WIDTH * HEIGHT, FEATURES)};
    const struct glcnn_convolution_descriptor head = {.kernel_width = 1,
                                                      .kernel_height = TOKENS,
                                                      .input_feature_channels = FEATURES,
                                                      .output_feature_channels = CLASSES};
    n->layers[TOKEN] = tokens[0];
    return n->layers[HEAD] = glcnn_fully_connected_node(
               glcnn_axis_concatenation_node(tokens, 2, GLCNN_AXIS_ROWS), &head, NULL);
}

static struct net make_net(void)
{
    const struct glcnn_convolution_descriptor window = {.kernel_width = 3,
                                                        .kernel_height = 3,
                                                        .input_feature_channels = CHANNELS,
                                                        .output_feature_channels = FEATURES};
    struct net n = {.net = make_network()};
    glcnn_image_node *x = make_input(n.net, "x"), *labels = make_input(n.net, "labels");
    n.layers[CONVOLUTION] = glcnn_convolution_node(x, &window, NULL);
    n.layers[POSITION] = glcnn_learned_image_node(x, WIDTH, HEIGHT, FEATURES);
    n.sum = glcnn_add_node(n.layers[CONVOLUTION], n.layers[POSITION]);
    glcnn_image_node *again = glcnn_node_with_kernel(labels, kernel_of(n.layers[POSITION]));
    glcnn_image_node *y = glcnn_add_node(glcnn_neuron_relu_node(n.sum, 0), again);
    n.loss = glcnn_loss_node(attend(&n, x, y), labels, NULL, GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY,
                             GLCNN_REDUCTION_TYPE_SUM);
    GOOD_FATAL(glcnn_network_status(n.net));
    load_vectors(&n);
    n.sources[0] = image_of("x", CHANNELS, HEIGHT, WIDTH);
    n.sources[1] = image_of("labels", CLASSES, 1, 1);
    return n;
}

static void free_net(struct net *n)
{
    destroy_images(n->sources, 2);
    glcnn_network_destroy(&n->net);
}

static glcnn_graph *train(const struct net *n, bool adam, uint64_t budget)
{
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = NULL;
    const struct glcnn_graph_descriptor descriptor = {.memory_budget = budget};
    GOOD_FATAL(
        adam ? glcnn_optimizer_adam_create(device, 1.0f / 128, &optimizer)
             : glcnn_optimizer_stochastic_gradient_descent_create(device, 1.0f / 64, &optimizer));
    if (!adam)
        glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    GOOD_FATAL(glcnn_training_graph_create(n->loss, optimizer, &descriptor, &graph));
    glcnn_kernel_destroy(&optimizer);
    return graph;
}

static float loss_of(const struct net *n, glcnn_graph *graph)
{
    float *values = result_values(graph, glcnn_filter_node_loss(n->loss));
    double sum = 0;
    for (int i = 0; i < BATCH; i++)
        sum += (double)values[i];
    free(values);
    return (float)sum;
}

/* All that trains, layer by layer; the caller frees it. */
static float *learned(const struct net *n, size_t *count)
{
    float *all = calloc(MOST_LEARNED, sizeof *all);
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    *count = 0;
    for (int i = 0; i < LAYERS; i++)
        for (size_t v = 0; v < VECTORS; v++) {
            if (!n->layers[i] || !glcnn_kernel_vector_length(kernel_of(n->layers[i]), vectors[v]))
                continue;
            glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(n->layers[i]), vectors[v]);
            CU_ASSERT_FATAL(*count + vector_count(buffer) <= MOST_LEARNED);
            GOOD(glcnn_buffer_read(buffer, 0, glcnn_buffer_size(buffer), all + *count));
            *count += vector_count(buffer);
        }
    return all;
}

static bool learn_the_same(const struct net *a, const struct net *b)
{
    size_t counts[2];
    float *values[] = {learned(a, &counts[0]), learned(b, &counts[1])};
    bool same = counts[0] == counts[1] && counts[0] > 0 &&
                memcmp(values[0], values[1], counts[0] * sizeof(float)) == 0;
    free(values[0]);
    free(values[1]);
    return same;
}

/* ---- PyTorch ---- */

static void compare(const char *optimizer, const char *name, const float *found, size_t count)
{
    char full[64];
    snprintf(full, sizeof full, "%s.%s", optimizer, name);
    CU_ASSERT_TRUE(archive_is_near(archive, full, found, count, TOLERANCE));
}

static void compare_layers(const struct net *n, const char *optimizer)
{
    for (int i = 0; i < LAYERS; i++)
        for (size_t v = 0; v < VECTORS; v++) {
            char name[48];
            if (!glcnn_kernel_vector_length(kernel_of(n->layers[i]), vectors[v]))
                continue;
            glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(n->layers[i]), vectors[v]);
            float *values = vector_values(buffer);
            snprintf(name, sizeof name, "%s.%s", layer_names[i], vectors[v]);
            compare(optimizer, name, values, vector_count(buffer));
            free(values);
        }
}

static void check_against_pytorch(bool adam)
{
    const char *name = adam ? "adam" : "descent";
    float losses[STEPS];
    struct net n = make_net();
    glcnn_graph *graph = train(&n, adam, 0);
    for (int step = 0; step < STEPS; step++) {
        run_graph(graph, n.sources);
        losses[step] = loss_of(&n, graph);
    }
    compare(name, "losses", losses, STEPS);
    compare_layers(&n, name);
    glcnn_graph_destroy(&graph);
    free_net(&n);
}

static void test_twenty_steps_are_pytorchs(void)
{
    check_against_pytorch(false);
    check_against_pytorch(true);
}

/* ---- Plans ---- */

#define MANY 7 /* images: no multiple of anything, so parts differ in size */

/* What only the way back from the pooling uses need hold but a part of the batch. */
static struct net make_large(void)
{
    struct net n = {.net = make_network()};
    glcnn_image_node *x = make_input(n.net, "x"), *labels = make_input(n.net, "labels");
    n.layers[CONVOLUTION] = glcnn_node(x, "convolution",
                                       "input_feature_channels=1 output_feature_channels=64 "
                                       "kernel_width=3 kernel_height=3");
    n.layers[POSITION] = glcnn_learned_image_node(x, CNN_SIDE, CNN_SIDE, 64);
    n.sum = glcnn_add_node(n.layers[CONVOLUTION], n.layers[POSITION]);
    x = glcnn_node(glcnn_node(n.sum, "neuron", "neuron_type=tanh"), "pooling_average",
                   "kernel_width=4 kernel_height=4 stride_in_pixels_x=4 stride_in_pixels_y=4 "
                   "padding=valid");
    n.layers[HEAD] = glcnn_node(x, "fully_connected",
                                "input_feature_channels=64 output_feature_channels=5 "
                                "kernel_width=3 kernel_height=3");
    n.loss = glcnn_loss_node(n.layers[HEAD], labels, NULL, GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY,
                             GLCNN_REDUCTION_TYPE_SUM);
    GOOD_FATAL(glcnn_network_status(n.net));
    set_weights(n.net, 4);
    make_cnn_sources(MANY, n.sources);
    return n;
}

/* NULL: the budget is too small. */
static float *learn_within(uint64_t budget, size_t *count, struct glcnn_memory_plan *memory)
{
    struct net n = make_large();
    float *values = NULL;
    glcnn_graph *graph = train(&n, false, budget);
    const struct glcnn_image_descriptor sources[] = {*glcnn_image_get_descriptor(n.sources[0]),
                                                     *glcnn_image_get_descriptor(n.sources[1])};
    if (glcnn_graph_memory(graph, sources, memory) == GLCNN_SUCCESS) {
        for (int step = 0; step < 3; step++)
            run_graph(graph, n.sources);
        values = learned(&n, count);
    }
    glcnn_graph_destroy(&graph);
    free_net(&n);
    return values;
}

/* Within smaller and smaller budgets, until there is no plan, whose last have the batch in parts. */
static void test_parts_of_a_batch_add_up(void)
{
    struct glcnn_memory_plan memory;
    size_t count, counted;
    float *expected = learn_within(0, &count, &memory), *found;
    uint32_t most = memory.sub_batches;
    CU_ASSERT_EQUAL(most, 1);
    while ((found = learn_within(memory.planned - 1, &counted, &memory))) {
        CU_ASSERT_EQUAL_FATAL(counted, count);
        CU_ASSERT_TRUE(arrays_near(found, expected, count, 1e-5));
        most = memory.sub_batches > most ? memory.sub_batches : most;
        free(found);
    }
    free(expected);
    CU_ASSERT_EQUAL(most, MANY);
}

/* The same bits where the readers of the position make it, in a pass less for each of its uses. */
static void test_readers_make_values_themselves(void)
{
    static const char *const implementations[] = {"pixels_stored", "pixels_recomputed"};
    size_t count, dispatches[2];
    float *values[2];
    for (int i = 0; i < 2; i++) {
        struct gl_count gl;
        fixture_close();
        setenv("GLCNN_IMPLEMENTATIONS", implementations[i], 1);
        CU_ASSERT_TRUE_FATAL(fixture_open());
        struct net n = make_net();
        glcnn_graph *graph = train(&n, false, 0);
        for (int step = 0; step < 3; step++) {
            count_gl(&gl);
            run_graph(graph, n.sources);
            stop_counting_gl();
        }
        dispatches[i] = gl.dispatches;
        values[i] = learned(&n, &count);
        glcnn_graph_destroy(&graph);
        free_net(&n);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
    CU_ASSERT_EQUAL(memcmp(values[0], values[1], count * sizeof(float)), 0);
    if (glcnn_device_info(device)->limits.storage_blocks >= 16)
        CU_ASSERT(dispatches[1] + 2 <= dispatches[0]);
    free(values[0]);
    free(values[1]);
    fixture_close();
    CU_ASSERT_TRUE_FATAL(fixture_open());
}

/* ---- The source ---- */

static size_t filters_named(const glcnn_graph *graph, const char *kernel)
{
    size_t count = 0;
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_graph_filter(graph, i)); i++)
        count += strcmp(glcnn_kernel_name(glcnn_filter_node_kernel(node)), kernel) == 0;
    return count;
}

/* (v - t)^2 of a learned image whose source a layer makes that nothing else reads: that runs, and has
 * no gradient. Nor is a gradient of 0 added to that of a source which others read. */
static void test_the_source_gets_no_gradient(void)
{
    for (int others = 0; others < 2; others++) {
        glcnn_network *net = make_network();
        glcnn_image_node *t = make_input(net, "t");
        glcnn_image_node *y =
            glcnn_node(make_input(net, "x"), "convolution",
                       "input_feature_channels=1 output_feature_channels=1 without_biases=true");
        glcnn_image_node *v = glcnn_learned_image_node(y, 2, 1, 1);
        glcnn_filter_node *loss =
            glcnn_loss_node(others ? glcnn_add_node(v, y) : v, t, NULL,
                            GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, GLCNN_REDUCTION_TYPE_SUM);
        glcnn_graph *graph = NULL;
        glcnn_kernel *optimizer = NULL;
        GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.125f, &optimizer));
        GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(y), "weights", &(float){2}, 1));
        GOOD_FATAL(glcnn_training_graph_create(loss, optimizer, NULL, &graph));
        CU_ASSERT_EQUAL(filters_named(graph, "convolution_gradient"), (size_t)others);
        CU_ASSERT_EQUAL(filters_named(graph, "add"), (size_t)others);
        CU_ASSERT_EQUAL(filters_named(graph, "learned_image_gradient"), 1);
        /* By name: a source is counted where it is met first. */
        glcnn_image *sources[2];
        for (size_t i = 0; i < 2; i++) {
            sources[i] = make_image(3, 1, 1, 2);
            bool is_x = strcmp(glcnn_image_node_handle(glcnn_graph_source(graph, i)), "x") == 0;
            fill_constant(sources[i], is_x ? 0 : 1);
        }
        run_graph(graph, sources);
        float *values = vector_values(glcnn_kernel_vector(kernel_of(v), "values"));
        for (int i = 0; i < 2; i++) /* 0 - 0.125 * 3 * 2 (0 - 1) */
            CU_ASSERT_EQUAL(values[i], 0.75f);
        free(values);
        destroy_images(sources, 2);
        glcnn_kernel_destroy(&optimizer);
        glcnn_graph_destroy(&graph);
        glcnn_network_destroy(&net);
    }
}

/* The token is one, and its gradient is not made; those of the two uses of the position are. */
static void test_constants_do_not_train(void)
{
    struct net n = make_net();
    GOOD(glcnn_filter_node_set_training_style(filter_of(n.layers[TOKEN]),
                                              GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE));
    float *before = vector_values(glcnn_kernel_vector(kernel_of(n.layers[TOKEN]), "values"));
    glcnn_graph *graph = train(&n, true, 0);
    CU_ASSERT_EQUAL(filters_named(graph, "learned_image_gradient"), 2);
    run_graph(graph, n.sources);
    float *after = vector_values(glcnn_kernel_vector(kernel_of(n.layers[TOKEN]), "values"));
    CU_ASSERT_EQUAL(memcmp(before, after, FEATURES * sizeof *after), 0);
    free(before);
    free(after);
    glcnn_graph_destroy(&graph);
    free_net(&n);
}

/* ---- By hand ---- */

static void check_values(const glcnn_buffer *buffer, const float *expected, size_t count)
{
    CU_ASSERT_EQUAL_FATAL(vector_count(buffer), count);
    float *values = vector_values(buffer);
    CU_ASSERT_EQUAL(memcmp(values, expected, count * sizeof *values), 0);
    free(values);
}

static void test_encodes_add_up(void)
{
    static const float values[] = {1, 2, 3, 4, 5, 6}, chw[] = {1, 3, 5, 2, 4, 6, 1, 3, 5, 2, 4, 6};
    static const float sums[] = {4, 8, 12, 16, 20, 24};
    glcnn_kernel *forward, *gradient;
    glcnn_state *state;
    GOOD_FATAL(glcnn_learned_image_create(device, 3, 1, 2, &forward));
    GOOD_FATAL(glcnn_learned_image_gradient_create(device, &gradient));
    glcnn_kernel_properties(forward)->result_is_ordinary = true;
    glcnn_kernel_properties(gradient)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_set_vector(forward, "values", values, 6));
    glcnn_image *source = make_image(2, 7, 5, 4);
    fill_noise(source, 3);
    glcnn_image *result = result_of(forward, &(struct glcnn_encode){.source = source}, &state);
    CU_ASSERT_TRUE(image_equals(result, chw));
    for (int i = 0; i < 2; i++) {
        const struct glcnn_encode arguments = {
            .source = result, .secondary = source, .state = state};
        glcnn_image *none = result_of(gradient, &arguments, NULL);
        CU_ASSERT_TRUE(image_is_constant(none, 0));
        CU_ASSERT_EQUAL(count_of(none), count_of(source));
        glcnn_image_destroy(&none);
    }
    check_values(glcnn_state_vector(state, "gradient_for_values"), sums, 6);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&source);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
}

/* ---- What keeps weights ---- */

static const float given[] = {1.5f, -2, 3, 0.25f};

static const float *give(void *context, const char *vector, size_t count)
{
    (void)context;
    return strcmp(vector, "values") == 0 && count == 4 ? given : NULL;
}

static void test_data_sources_and_states_have_the_values(void)
{
    const struct glcnn_data_source source = {.values = give};
    glcnn_kernel *kernels[2];
    glcnn_state *state = NULL;
    for (int i = 0; i < 2; i++)
        GOOD_FATAL(glcnn_learned_image_create(device, 2, 1, 2, &kernels[i]));
    CU_ASSERT_EQUAL(glcnn_kernel_vector_length(kernels[0], "values"), 4);
    check_values(glcnn_kernel_vector(kernels[0], "values"), (const float[]){0, 0, 0, 0}, 4);
    GOOD(glcnn_kernel_set_data_source(kernels[0], &source));
    check_values(glcnn_kernel_vector(kernels[0], "values"), given, 4);
    glcnn_kernel_properties(kernels[0])->result_is_ordinary = true;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_export_state(commands, kernels[0], &state));
    GOOD(glcnn_kernel_encode_reload_state(commands, kernels[1], state));
    finish(&commands);
    check_values(glcnn_kernel_vector(kernels[1], "values"), given, 4);
    glcnn_state_destroy(&state);
    for (int i = 0; i < 2; i++)
        glcnn_kernel_destroy(&kernels[i]);
}

static void test_a_checkpoint_resumes_to_the_bit(void)
{
    static const char path[] = "build/learned_image.safetensors";
    char error[GLCNN_ERROR_LENGTH] = "";
    struct net n = make_net(), copy = make_net();
    glcnn_graph *graph = train(&n, true, 0), *resumed = train(&copy, true, 0);
    for (int step = 0; step < 2; step++)
        run_graph(graph, n.sources);
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_save(n.net, path, NULL, 0, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_load(copy.net, path, NULL, error), GLCNN_SUCCESS);
    remove(path);
    CU_ASSERT_TRUE(learn_the_same(&n, &copy));
    for (int step = 0; step < 2; step++) {
        run_graph(graph, n.sources);
        run_graph(resumed, copy.sources);
    }
    CU_ASSERT_TRUE(learn_the_same(&n, &copy));
    glcnn_graph_destroy(&graph);
    glcnn_graph_destroy(&resumed);
    free_net(&n);
    free_net(&copy);
}

static void test_a_serialised_network_has_the_values(void)
{
    struct net n = make_net();
    glcnn_network *copy = NULL;
    uint8_t *bytes[2];
    size_t sizes[2];
    GOOD_FATAL(glcnn_network_serialize(n.net, true, &bytes[0], &sizes[0], NULL));
    GOOD_FATAL(glcnn_network_deserialize(device, bytes[0], sizes[0], &copy, NULL));
    GOOD_FATAL(glcnn_network_serialize(copy, true, &bytes[1], &sizes[1], NULL));
    CU_ASSERT_EQUAL_FATAL(sizes[0], sizes[1]);
    CU_ASSERT_EQUAL(memcmp(bytes[0], bytes[1], sizes[0]), 0);
    float *values = vector_values(glcnn_kernel_vector(kernel_of(n.layers[POSITION]), "values"));
    glcnn_filter_node *node;
    size_t found = 0;
    for (size_t i = 0; (node = glcnn_network_filter(copy, i)); i++)
        if (strcmp(glcnn_filter_node_label(node),
                   glcnn_filter_node_label(filter_of(n.layers[POSITION]))) == 0) {
            check_values(glcnn_kernel_vector(glcnn_filter_node_kernel(node), "values"), values,
                         WIDTH * HEIGHT * FEATURES);
            found++;
        }
    CU_ASSERT_EQUAL(found, 1);
    free(values);
    for (int i = 0; i < 2; i++)
        glcnn_serialize_destroy(bytes[i]);
    glcnn_network_destroy(&copy);
    free_net(&n);
}

/* ---- Refusals ---- */

static void refuse(glcnn_kernel *kernel, const struct glcnn_encode *arguments, const char *part)
{
    glcnn_command_buffer *commands = make_commands();
    REFUSED(INVALID, glcnn_kernel_encode(commands, kernel, arguments));
    bool says = strstr(glcnn_device_error(device), part) != NULL;
    CU_ASSERT_TRUE(says);
    if (!says)
        fprintf(stderr, "\n  %s", glcnn_device_error(device));
    finish(&commands);
}

static void test_what_cannot_be_is_refused(void)
{
    glcnn_kernel *kernel = NULL, *gradient;
    glcnn_image *source = make_image(1, 1, 2, 2), *large = make_image(1, 2, 3, 3);
    REFUSED(INVALID, glcnn_learned_image_create(device, 0, 1, 1, &kernel));
    REFUSED(INVALID, glcnn_learned_image_create(device, 1, 65537, 1, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    GOOD_FATAL(glcnn_learned_image_create(device, 3, 2, 2, &kernel));
    GOOD_FATAL(glcnn_learned_image_gradient_create(device, &gradient));
    REFUSED(INVALID, glcnn_kernel_set_vector(kernel, "values", given, 4));
    refuse(kernel, &(struct glcnn_encode){.source = source, .destination = large},
           "the result is 3x2; the destination is 3x3");
    glcnn_learned_image(kernel)->width = glcnn_learned_image(kernel)->height = 65536;
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_LIMIT_EXCEEDED,
            glcnn_kernel_encode(commands, kernel,
                                &(struct glcnn_encode){.source = source, .destination = large}));
    finish(&commands);
    CU_ASSERT_PTR_NULL(glcnn_learned_image_node(NULL, 1, 1, 1));
    CU_ASSERT_PTR_NOT_NULL(glcnn_learned_image(gradient));
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&gradient);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&large);
}

static void test_gradients_are_refused(void)
{
    glcnn_kernel *kernel, *gradient;
    glcnn_state *state;
    glcnn_image *source = make_image(1, 1, 2, 2), *to = make_image(1, 1, 2, 2);
    fill_constant(source, 1);
    GOOD_FATAL(glcnn_learned_image_create(device, 3, 2, 2, &kernel));
    GOOD_FATAL(glcnn_learned_image_gradient_create(device, &gradient));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *result = result_of(kernel, &(struct glcnn_encode){.source = source}, &state);
    struct glcnn_encode arguments = {.source = result, .secondary = source, .destination = to};
    refuse(gradient, &arguments, "state");
    arguments.state = state;
    arguments.destination = NULL;
    refuse(gradient, &arguments, "destination_gradient is NULL");
    glcnn_kernel_properties(gradient)->primary.offset.x = 1;
    arguments.destination = to;
    refuse(gradient, &arguments, "no addressing can be set by hand");
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&to);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&gradient);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_twenty_steps_are_pytorchs),
        UNIT_TEST(test_parts_of_a_batch_add_up),
        UNIT_TEST(test_readers_make_values_themselves),
        UNIT_TEST(test_the_source_gets_no_gradient),
        UNIT_TEST(test_constants_do_not_train),
        UNIT_TEST(test_encodes_add_up),
        UNIT_TEST(test_data_sources_and_states_have_the_values),
        UNIT_TEST(test_a_checkpoint_resumes_to_the_bit),
        UNIT_TEST(test_a_serialised_network_has_the_values),
        UNIT_TEST(test_what_cannot_be_is_refused),
        UNIT_TEST(test_gradients_are_refused),
        CU_TEST_INFO_NULL,
    };
    archive = archive_open("tests/golden/learned_image.npz");
    if (!archive)
        return EXIT_FAILURE;
    int result = fixture_run("learned_image", tests, argc, argv);
    archive_close(archive);
    return result;
}
