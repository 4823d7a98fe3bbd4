/* Training by graphs: the same numbers as kernels wired by hand, bit for bit; training styles and
 * what becomes of data sources' callbacks; sub-batches. */
#include "tests/graphs.h"

#include <math.h>

#include "graph/node.h"
#include "record/command_buffer.h"

#define INVALID GLCNN_INVALID_ARGUMENT
#define BATCH   6

/* ---- The small network, kernel by kernel ---- */

enum { CONVOLVE_1, NORMALISE_1, POOL_1, CONVOLVE_2, NORMALISE_2, POOL_2, CLASSIFY, LAYERS };

struct layer {
    glcnn_kernel *forward, *gradient, *optimizer;
    glcnn_kernel *collector, *gradient_collector; /* batch normalisation's */
    glcnn_image *result, *back;
    glcnn_state *state, *values; /* of the forward kernel; its weights and biases, gamma and beta */
    glcnn_buffer *first[2], *second[2];
};

struct hand {
    struct layer layers[LAYERS];
    glcnn_kernel *loss;
    glcnn_image *losses, *gradient;
    glcnn_command_buffer *commands;
    bool adam;
};

static glcnn_kernel *make_kernel(const char *name)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, name, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

static void copy_weights(glcnn_kernel *to, glcnn_kernel *from)
{
    static const char *const names[] = {"weights", "biases"};
    for (int v = 0; v < 2; v++) {
        glcnn_buffer *buffer = glcnn_kernel_vector(from, names[v]);
        if (!buffer || (v && strstr(glcnn_kernel_name(to), "gradient")))
            continue;
        float *values = vector_values(buffer);
        GOOD(glcnn_kernel_set_vector(to, names[v], values, vector_count(buffer)));
        free(values);
    }
}

static void make_convolution(struct layer *layer, uint32_t inputs, uint32_t outputs, bool connected,
                             glcnn_kernel *like)
{
    const struct glcnn_convolution_descriptor d = {.kernel_width = 3,
                                                   .kernel_height = 3,
                                                   .input_feature_channels = inputs,
                                                   .output_feature_channels = outputs};
    if (connected) {
        GOOD_FATAL(glcnn_fully_connected_create(device, &d, NULL, &layer->forward));
        GOOD_FATAL(glcnn_fully_connected_gradient_create(device, &d, NULL, &layer->gradient));
    } else {
        GOOD_FATAL(glcnn_convolution_create(device, &d, NULL, &layer->forward));
        GOOD_FATAL(glcnn_convolution_gradient_create(device, &d, NULL, &layer->gradient));
    }
    copy_weights(layer->forward, like);
    copy_weights(layer->gradient, like);
}

static void make_normalisation(struct layer *layer, uint32_t channels)
{
    const struct glcnn_neuron_descriptor relu = {.type = GLCNN_NEURON_TYPE_RELU};
    const struct glcnn_batch_normalization_data_source neutral = {
        .number_of_feature_channels = channels, .epsilon = 1e-5f};
    GOOD_FATAL(glcnn_batch_normalization_create(device, &neutral, &relu, &layer->forward));
    GOOD_FATAL(glcnn_batch_normalization_gradient_create(device, &relu, &layer->gradient));
    layer->collector = make_kernel("batch_normalization_statistics");
    GOOD_FATAL(glcnn_batch_normalization_statistics_gradient_create(device, &relu,
                                                                    &layer->gradient_collector));
}

static void make_pooling(struct layer *layer)
{
    GOOD_FATAL(glcnn_pooling_max_create(device, 2, 2, 2, 2, &layer->forward));
    GOOD_FATAL(glcnn_pooling_max_gradient_create(device, 2, 2, 2, 2, &layer->gradient));
    glcnn_kernel_properties(layer->forward)->padding = GLCNN_PADDING_SIZE_VALID_ONLY;
}

static void make_optimizer(struct layer *layer, bool adam)
{
    if (adam) {
        GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &layer->optimizer));
        return;
    }
    GOOD_FATAL(
        glcnn_optimizer_stochastic_gradient_descent_create(device, 0.05f, &layer->optimizer));
    glcnn_optimizer(layer->optimizer)->momentum_scale = 0.9f;
}

static void make_layers(struct hand *h, const struct cnn *like)
{
    make_convolution(&h->layers[CONVOLVE_1], 1, 6, false, kernel_of(like->convolved[0]));
    make_normalisation(&h->layers[NORMALISE_1], 6);
    make_pooling(&h->layers[POOL_1]);
    make_convolution(&h->layers[CONVOLVE_2], 6, 8, false, kernel_of(like->convolved[1]));
    make_normalisation(&h->layers[NORMALISE_2], 8);
    make_pooling(&h->layers[POOL_2]);
    make_convolution(&h->layers[CLASSIFY], 8, CNN_CLASSES, true, kernel_of(like->scores));
    for (int i = 0; i < LAYERS; i++) {
        struct layer *layer = &h->layers[i];
        glcnn_kernel_properties(layer->forward)->result_is_ordinary = true;
        glcnn_kernel_properties(layer->gradient)->result_is_ordinary = true;
        make_optimizer(layer, h->adam);
    }
    GOOD_FATAL(glcnn_loss_create(device, GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY,
                                 GLCNN_REDUCTION_TYPE_SUM, &h->loss));
    glcnn_loss(h->loss)->weight = 0.25f;
}

static glcnn_image *forward(struct hand *h, struct layer *layer, glcnn_image *source)
{
    struct glcnn_encode arguments = {.source = source};
    if (layer->collector) {
        GOOD_FATAL(glcnn_kernel_result_state(NULL, layer->forward, &arguments, &layer->state));
        arguments.state = layer->state;
        GOOD_FATAL(glcnn_kernel_encode(h->commands, layer->collector, &arguments));
    }
    GOOD_FATAL(glcnn_kernel_encode_returning(h->commands, layer->forward, &arguments,
                                             &layer->result,
                                             layer->collector ? NULL : &layer->state));
    return layer->result;
}

static glcnn_image *backward(struct hand *h, struct layer *layer, glcnn_image *gradient,
                             glcnn_image *source)
{
    const struct glcnn_encode arguments = {
        .source = gradient, .secondary = source, .state = layer->state};
    if (layer->gradient_collector)
        GOOD_FATAL(glcnn_kernel_encode(h->commands, layer->gradient_collector, &arguments));
    GOOD_FATAL(glcnn_kernel_encode_returning(h->commands, layer->gradient, &arguments, &layer->back,
                                             NULL));
    return layer->back;
}

static void encode_loss(struct hand *h, glcnn_image *scores, glcnn_image *labels)
{
    h->losses = make_image(BATCH, 1, 1, 1);
    h->gradient = make_image(BATCH, CNN_CLASSES, 1, 1);
    GOOD_FATAL(glcnn_kernel_encode(
        h->commands, h->loss,
        &(struct glcnn_encode){
            .source = scores, .labels = labels, .loss = h->losses, .destination = h->gradient}));
}

/* Values are kept in a state, stepped there and reloaded into both kernels. */
static void update(struct hand *h, struct layer *layer)
{
    static const char *const names[2][2] = {{"weights", "biases"}, {"gamma", "beta"}};
    const char *const *own = names[layer->collector != NULL];
    size_t lengths[2];
    if (!glcnn_kernel_vector(layer->forward, own[0]))
        return;
    for (int v = 0; v < 2; v++)
        lengths[v] = vector_count(glcnn_kernel_vector(layer->forward, own[v]));
    GOOD_FATAL(glcnn_state_create(device, NULL, own, lengths, 2, &layer->values));
    for (int v = 0; v < 2; v++) {
        float *values = vector_values(glcnn_kernel_vector(layer->forward, own[v]));
        GOOD(glcnn_state_set_vector(layer->values, own[v], values, lengths[v]));
        free(values);
        GOOD_FATAL(glcnn_buffer_create(device, lengths[v] * 4, &layer->first[v]));
        GOOD_FATAL(glcnn_buffer_create(device, lengths[v] * 4, &layer->second[v]));
    }
    GOOD_FATAL(glcnn_optimizer_encode_states(h->commands, layer->optimizer, layer->state,
                                             layer->values, layer->first,
                                             h->adam ? layer->second : NULL, 2, layer->values));
    GOOD_FATAL(glcnn_kernel_encode_reload_state(h->commands, layer->forward, layer->values));
    if (!layer->collector)
        GOOD_FATAL(glcnn_kernel_encode_reload_state(h->commands, layer->gradient, layer->values));
}

static void update_statistics(struct hand *h, struct layer *layer, double momentum,
                              uint64_t samples)
{
    glcnn_kernel *average = NULL;
    GOOD_FATAL(
        glcnn_batch_normalization_running_statistics_create(device, momentum, samples, &average));
    GOOD_FATAL(glcnn_batch_normalization_running_statistics_encode(
        h->commands, average, glcnn_state_vector(layer->state, "mean"),
        glcnn_state_vector(layer->state, "variance"), glcnn_kernel_vector(layer->forward, "mean"),
        glcnn_kernel_vector(layer->forward, "variance")));
    glcnn_kernel_destroy(&average);
}

static struct hand make_hand(const struct cnn *like, bool adam, glcnn_image *const *sources)
{
    struct hand h = {.commands = make_commands(), .adam = adam};
    make_layers(&h, like);
    glcnn_image *image = sources[0];
    for (int i = 0; i < LAYERS; i++)
        image = forward(&h, &h.layers[i], image);
    encode_loss(&h, image, sources[1]);
    image = h.gradient;
    for (int i = LAYERS; i-- > 0;)
        image = backward(&h, &h.layers[i], image, i ? h.layers[i - 1].result : sources[0]);
    for (int i = 0; i < LAYERS; i++)
        update(&h, &h.layers[i]);
    update_statistics(&h, &h.layers[NORMALISE_1], 0.1, BATCH * 144);
    update_statistics(&h, &h.layers[NORMALISE_2], 0.25, BATCH * 36);
    return h;
}

static void destroy_hand(struct hand *h)
{
    for (int i = 0; i < LAYERS; i++) {
        struct layer *l = &h->layers[i];
        glcnn_kernel **const kernels[] = {&l->forward, &l->gradient, &l->optimizer, &l->collector,
                                          &l->gradient_collector};
        for (int k = 0; k < 5; k++)
            glcnn_kernel_destroy(kernels[k]);
        glcnn_image_destroy(&l->result);
        glcnn_image_destroy(&l->back);
        glcnn_state_destroy(&l->state);
        glcnn_state_destroy(&l->values);
        for (int v = 0; v < 2; v++) {
            glcnn_buffer_destroy(&l->first[v]);
            glcnn_buffer_destroy(&l->second[v]);
        }
    }
    glcnn_kernel_destroy(&h->loss);
    glcnn_image_destroy(&h->losses);
    glcnn_image_destroy(&h->gradient);
    glcnn_command_buffer_destroy(&h->commands);
}

/* The parameters of both, in the order of cnn_parameters. */
static bool parameters_equal(const struct hand *h, const struct cnn *c)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    static const int kept[] = {CONVOLVE_1, NORMALISE_1, CONVOLVE_2, NORMALISE_2, CLASSIFY};
    size_t count, at = 0;
    bool equal = true;
    float *found = cnn_parameters(c, &count);
    for (int k = 0; k < 5; k++)
        for (int v = 0; v < 6; v++) {
            glcnn_buffer *buffer = glcnn_kernel_vector(h->layers[kept[k]].forward, names[v]);
            if (!buffer)
                continue;
            float *values = vector_values(buffer);
            CU_ASSERT_FATAL(at + vector_count(buffer) <= count);
            equal = equal && memcmp(found + at, values, glcnn_buffer_size(buffer)) == 0;
            at += vector_count(buffer);
            free(values);
        }
    CU_ASSERT_EQUAL(at, count);
    free(found);
    return equal;
}

static void train_both(bool adam)
{
    reduce_by_passes();
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    make_cnn_sources(BATCH, sources);
    struct hand h = make_hand(&c, adam, sources);
    glcnn_batch_normalization(kernel_of(c.normalised[1]))->running_momentum = 0.25f;
    train_network(c.net, adam);
    glcnn_graph *graph = cnn_training_graph(&c, 0);
    for (int step = 0; step < 5; step++) {
        run_graph(graph, sources);
        GOOD_FATAL(glcnn_command_buffer_commit(h.commands));
        GOOD_FATAL(glcnn_command_buffer_wait(h.commands));
        CU_ASSERT_TRUE(
            images_equal(glcnn_graph_image(graph, glcnn_filter_node_loss(c.loss)), h.losses));
        CU_ASSERT_TRUE(parameters_equal(&h, &c));
    }
    glcnn_graph_destroy(&graph);
    destroy_hand(&h);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

static void train_by_descent(void)
{
    train_both(false);
}

static void train_by_adam(void)
{
    train_both(true);
}

static void test_training_equals_kernels_by_hand(void)
{
    on_families(train_by_descent);
}

static void test_adam_equals_kernels_by_hand(void)
{
    on_families(train_by_adam);
}

/* The optimizer of a layer is read at every step, and steps by itself. */
static void test_optimizers_are_the_users(void)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    size_t count;
    make_cnn_sources(2, sources);
    train_network(c.net, true);
    glcnn_kernel *kernels[] = {kernel_of(c.convolved[0]), kernel_of(c.scores)};
    glcnn_graph *graph = cnn_training_graph(&c, 0);
    run_graph(graph, sources);
    run_graph(graph, sources);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(glcnn_kernel_optimizer(kernels[i]));
        CU_ASSERT_EQUAL(glcnn_optimizer(glcnn_kernel_optimizer(kernels[i]))->time_step, 2);
    }
    CU_ASSERT_PTR_NOT_EQUAL(glcnn_kernel_optimizer(kernels[0]), glcnn_kernel_optimizer(kernels[1]));
    CU_ASSERT_PTR_NOT_NULL(glcnn_kernel_optimizer_vector(kernels[0], "weights", 1));
    CU_ASSERT_PTR_NULL(glcnn_kernel_optimizer_vector(kernels[0], "weights", 2));
    CU_ASSERT_PTR_NULL(glcnn_kernel_optimizer_vector(kernels[0], "gamma", 0));
    CU_ASSERT_PTR_NULL(glcnn_kernel_optimizer(kernel_of(c.pooled[0])));
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(c.net, i)); i++) {
        glcnn_kernel *optimizer = glcnn_kernel_optimizer(glcnn_filter_node_kernel(node));
        if (optimizer)
            glcnn_optimizer(optimizer)->learning_rate = 0;
    }
    float *before = vector_values(glcnn_kernel_vector(kernels[1], "weights"));
    run_graph(graph, sources);
    float *after = vector_values(glcnn_kernel_vector(kernels[1], "weights"));
    count = vector_count(glcnn_kernel_vector(kernels[1], "weights"));
    CU_ASSERT_EQUAL(memcmp(before, after, count * sizeof *after), 0);
    free(before);
    free(after);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

static void test_training_is_refused(void)
{
    struct cnn c = make_cnn();
    glcnn_kernel *optimizer = NULL, *convolution = kernel_of(c.convolved[0]);
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.1f, &optimizer));
    const struct glcnn_training_descriptor good = {.optimizer = optimizer};
    const struct glcnn_training_descriptor none = {.optimizer = convolution};
    const struct glcnn_training_descriptor wild = {.optimizer = optimizer, .running_momentum = 2};
    REFUSED(INVALID, glcnn_kernel_set_training(convolution, NULL));
    REFUSED(INVALID, glcnn_kernel_set_training(convolution, &none));
    REFUSED(INVALID, glcnn_kernel_set_training(convolution, &wild));
    REFUSED(INVALID, glcnn_kernel_set_training(kernel_of(c.pooled[0]), &good));
    CU_ASSERT_EQUAL(glcnn_kernel_set_training(NULL, &good), INVALID);
    REFUSED(INVALID, glcnn_network_set_training(c.net, NULL));
    CU_ASSERT_EQUAL(glcnn_network_set_training(NULL, &good), INVALID);
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(convolution));
    GOOD(glcnn_network_set_training(c.net, &good));
    GOOD(glcnn_network_set_training(c.net, &good));
    glcnn_kernel_destroy(&optimizer);
    glcnn_network_destroy(&c.net);
}

/* ---- Styles ---- */

/* One weight w, one bias b: y = w x + b on 2 x 2 pixels. With the gradient G of y dw = sum G x and
 * db = sum G. */
static const float pixels[] = {1, 2, 3, -1}, gradients[] = {1, 2, 0, -1};
#define DW 6
#define DB 2

struct style {
    glcnn_network *net;
    glcnn_image_node *x, *g, *y;
    glcnn_filter_node *end;
    glcnn_image *sources[2];
    glcnn_state *foreign; /* returned by the update, if it is there */
    glcnn_status fails;
    int updates, cpu_updates, loads;
    float values[2]; /* what the data source would load */
    bool wait_was_over;
};

static const float *style_values(void *context, const char *vector, size_t count)
{
    struct style *s = context;
    CU_ASSERT_EQUAL(count, 1);
    s->loads++;
    return &s->values[strcmp(vector, "biases") == 0];
}

static glcnn_status style_update(void *context, glcnn_command_buffer *commands,
                                 glcnn_state *gradient_state, glcnn_state *source_state,
                                 glcnn_state **updated)
{
    struct style *s = context;
    CU_ASSERT_PTR_NOT_NULL(commands);
    CU_ASSERT_PTR_NOT_NULL(glcnn_state_vector(gradient_state, "gradient_for_weights"));
    CU_ASSERT_PTR_NOT_NULL(glcnn_state_vector(source_state, "weights"));
    s->updates++;
    *updated = s->foreign;
    return s->fails;
}

static float first_of(glcnn_buffer *buffer)
{
    float value = NAN;
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    GOOD(glcnn_buffer_read(buffer, 0, sizeof value, &value));
    return value;
}

static bool style_update_cpu(void *context, glcnn_state *gradient_state, glcnn_state *source_state)
{
    struct style *s = context;
    s->cpu_updates++;
    CU_ASSERT_EQUAL(first_of(glcnn_state_vector(gradient_state, "gradient_for_weights")), DW);
    CU_ASSERT_EQUAL(first_of(glcnn_state_vector(gradient_state, "gradient_for_biases")), DB);
    s->values[0] = first_of(glcnn_state_vector(source_state, "weights")) - 0.25f * DW;
    s->values[1] = first_of(glcnn_state_vector(source_state, "biases")) - 0.25f * DB;
    return true;
}

static struct style make_style(struct style *s, glcnn_training_style style)
{
    *s = (struct style){.net = make_network(), .values = {1, 0.5f}};
    s->x = make_input(s->net, "x");
    s->g = make_input(s->net, "g");
    s->y = glcnn_node(s->x, "convolution", "input_feature_channels=1 output_feature_channels=1");
    GOOD_FATAL(glcnn_network_status(s->net));
    const struct glcnn_data_source source = {.context = s,
                                             .values = style_values,
                                             .update = style_update,
                                             .update_cpu = style_update_cpu};
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(s->y), &source));
    GOOD_FATAL(glcnn_filter_node_set_training_style(filter_of(s->y), style));
    s->end = glcnn_gradient_filter_with_source(filter_of(s->y), s->g);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->end);
    s->sources[0] = image_with(1, 1, 2, 2, pixels);
    s->sources[1] = image_with(1, 1, 2, 2, gradients);
    return *s;
}

static glcnn_graph *style_graph(struct style *s)
{
    glcnn_graph *graph = training_graph(s->y, &s->end, 1, 0);
    CU_ASSERT_PTR_EQUAL_FATAL(glcnn_graph_source(graph, 0), s->x);
    return graph;
}

static void destroy_style(struct style *s)
{
    glcnn_state_destroy(&s->foreign);
    destroy_images(s->sources, 2);
    glcnn_network_destroy(&s->net);
}

static float weight_of(const struct style *s, const char *name)
{
    return first_of(glcnn_kernel_vector(kernel_of(s->y), name));
}

/* Is there a pass for the gradients of weights? */
static bool computes_weights(glcnn_graph *graph, const struct style *s)
{
    glcnn_image *results[2] = {NULL, NULL};
    glcnn_command_buffer *commands = make_commands();
    bool found = false;
    GOOD_FATAL(glcnn_graph_encode(commands, graph, s->sources, results));
    CU_ASSERT_NOT_EQUAL(commands->pass_count, 0);
    for (size_t i = 0; i < commands->pass_count; i++)
        found |= strstr(commands->passes[i].shader, "gradient_weights") != NULL;
    glcnn_command_buffer_destroy(&commands);
    destroy_images(results, 2);
    return found;
}

static void test_style_none_leaves_weights_alone(void)
{
    struct style s;
    make_style(&s, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    glcnn_graph *graph = style_graph(&s);
    CU_ASSERT_FALSE(graph_has(graph, "convolution_gradient"));
    CU_ASSERT_EQUAL(glcnn_graph_source_count(graph), 1);
    run_graph(graph, s.sources);
    glcnn_graph_destroy(&graph);
    /* The data gradient wanted, the weights' are still not computed. */
    export_image(glcnn_filter_node_result(s.end));
    graph = style_graph(&s);
    run_graph(graph, s.sources);
    CU_ASSERT_FALSE(computes_weights(graph, &s));
    CU_ASSERT_TRUE(image_equals(glcnn_graph_image(graph, glcnn_filter_node_result(s.end)),
                                gradients)); /* w = 1 */
    CU_ASSERT_EQUAL(s.updates + s.cpu_updates, 0);
    CU_ASSERT_EQUAL(weight_of(&s, "weights"), 1);
    glcnn_graph_destroy(&graph);
    destroy_style(&s);
}

static void test_style_cpu_updates_after_completion(void)
{
    struct style s;
    make_style(&s, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU);
    glcnn_graph *graph = style_graph(&s);
    s.loads = 0;
    GOOD(glcnn_graph_execute(graph, s.sources, NULL, NULL));
    CU_ASSERT_EQUAL(s.cpu_updates, 0);
    GOOD(glcnn_graph_wait(graph));
    CU_ASSERT_EQUAL(s.cpu_updates, 1);
    CU_ASSERT_EQUAL(s.loads, 2);
    CU_ASSERT_EQUAL(s.updates, 0);
    CU_ASSERT_EQUAL(weight_of(&s, "weights"), 1 - 0.25f * DW);
    CU_ASSERT_EQUAL(weight_of(&s, "biases"), 0.5f - 0.25f * DB);
    GOOD(glcnn_graph_wait(graph));
    CU_ASSERT_EQUAL(s.cpu_updates, 1);
    /* The next execution sees to the one before. */
    GOOD(glcnn_graph_execute(graph, s.sources, NULL, NULL));
    GOOD(glcnn_graph_execute(graph, s.sources, NULL, NULL));
    CU_ASSERT_EQUAL(s.cpu_updates, 2);
    GOOD(glcnn_graph_wait(graph));
    CU_ASSERT_EQUAL(weight_of(&s, "weights"), 1 - 0.75f * DW);
    float *y = result_values(graph, s.y);
    CU_ASSERT_EQUAL(y[0], 1 - 0.5f * DW + 0.5f - 0.5f * DB);
    free(y);
    glcnn_graph_destroy(&graph);
    destroy_style(&s);
}

/* Forward and gradient kernel have what came back at the next execution. */
static void test_style_gpu_reloads_what_comes_back(void)
{
    static const char *const names[] = {"weights", "biases"};
    static const size_t lengths[] = {1, 1};
    static const float four = 4, minus = -1;
    struct style s;
    make_style(&s, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU);
    GOOD_FATAL(glcnn_state_create(device, NULL, names, lengths, 2, &s.foreign));
    GOOD(glcnn_state_set_vector(s.foreign, "weights", &four, 1));
    GOOD(glcnn_state_set_vector(s.foreign, "biases", &minus, 1));
    export_image(glcnn_filter_node_result(s.end));
    glcnn_graph *graph = style_graph(&s);
    run_graph(graph, s.sources);
    CU_ASSERT_EQUAL(s.updates, 1);
    CU_ASSERT_EQUAL(weight_of(&s, "weights"), 4);
    CU_ASSERT_EQUAL(weight_of(&s, "biases"), -1);
    float *y = result_values(graph, s.y);
    CU_ASSERT_EQUAL(y[1], 2 * 1 + 0.5f);
    free(y);
    run_graph(graph, s.sources);
    CU_ASSERT_EQUAL(s.updates, 1);
    CU_ASSERT_EQUAL(s.cpu_updates, 0);
    y = result_values(graph, s.y);
    CU_ASSERT_EQUAL(y[1], 2 * 4 - 1);
    free(y);
    float *dx = result_values(graph, glcnn_filter_node_result(s.end));
    CU_ASSERT_EQUAL(dx[1], 2 * 4);
    free(dx);
    glcnn_graph_destroy(&graph);
    destroy_style(&s);
}

/* Nothing ran, nothing is kept, and the next try is a whole one. */
static void test_failing_updates_come_out(void)
{
    struct style s;
    make_style(&s, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU);
    glcnn_graph *graph = style_graph(&s);
    s.fails = GLCNN_INVALID_STATE;
    CU_ASSERT_EQUAL(glcnn_graph_execute(graph, s.sources, NULL, NULL), GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NULL(glcnn_graph_image(graph, s.y));
    CU_ASSERT_TRUE(glcnn_graph_poll(graph));
    GOOD(glcnn_graph_wait(graph));
    CU_ASSERT_EQUAL(weight_of(&s, "weights"), 1);
    glcnn_image *results[2] = {s.sources[0], s.sources[0]};
    glcnn_command_buffer *commands = make_commands();
    CU_ASSERT_EQUAL(glcnn_graph_encode(commands, graph, s.sources, results), GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NULL(results[0]);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_EQUAL(weight_of(&s, "weights"), 1);
    glcnn_command_buffer_destroy(&commands);
    s.fails = GLCNN_SUCCESS;
    run_graph(graph, s.sources);
    CU_ASSERT_EQUAL(s.updates, 3);
    glcnn_graph_destroy(&graph);
    destroy_style(&s);
}

static float broken = NAN;

static const float *broken_values(void *context, const char *vector, size_t count)
{
    (void)vector;
    (void)count;
    return ((struct style *)context)->cpu_updates ? &broken : NULL;
}

static bool count_update(void *context, glcnn_state *gradient_state, glcnn_state *source_state)
{
    (void)gradient_state;
    (void)source_state;
    ((struct style *)context)->cpu_updates++;
    return true;
}

static void remember_status(void *user, glcnn_graph *graph, glcnn_status status)
{
    (void)graph;
    *(glcnn_status *)user = status;
}

/* Values that are no numbers after a CPU update: wait and handler tell, weights stay. */
static void test_failing_reloads_come_out(void)
{
    struct style s;
    glcnn_status seen = GLCNN_SUCCESS;
    make_style(&s, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU);
    const struct glcnn_data_source source = {
        .context = &s, .values = broken_values, .update_cpu = count_update};
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(s.y), &source));
    glcnn_graph *graph = style_graph(&s);
    GOOD(glcnn_graph_execute(graph, s.sources, remember_status, &seen));
    REFUSED(INVALID, glcnn_graph_wait(graph));
    CU_ASSERT_EQUAL(seen, INVALID);
    CU_ASSERT_EQUAL(weight_of(&s, "weights"), 0);
    GOOD(glcnn_graph_wait(graph));
    glcnn_graph_destroy(&graph);
    destroy_style(&s);
}

static void test_reload_reads_data_sources(void)
{
    struct style s;
    make_style(&s, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    glcnn_graph *graph = graph_of(s.y);
    run_graph(graph, s.sources);
    s.values[0] = 10;
    s.values[1] = 3;
    GOOD(glcnn_graph_reload_from_data_sources(graph));
    run_graph(graph, s.sources);
    float *y = result_values(graph, s.y);
    CU_ASSERT_EQUAL(y[2], 33);
    free(y);
    CU_ASSERT_EQUAL(glcnn_graph_reload_from_data_sources(NULL), INVALID);
    glcnn_graph_destroy(&graph);
    destroy_style(&s);
}

/* Statistics without weights: a frozen layer still follows its data. */
static glcnn_status count_statistics(void *context, glcnn_command_buffer *commands,
                                     glcnn_state *state, glcnn_state **updated)
{
    (void)commands;
    (void)updated;
    CU_ASSERT_PTR_NOT_NULL(glcnn_state_vector(state, "mean"));
    ++*(int *)context;
    return GLCNN_SUCCESS;
}

static void test_statistics_alone_are_updated(void)
{
    glcnn_network *net = make_network();
    int calls = 0;
    const struct glcnn_data_source source = {
        .context = &calls, .feature_channels = 1, .update_statistics = count_statistics};
    glcnn_image_node *x = make_input(net, "x"), *g = make_input(net, "g");
    glcnn_image_node *y = glcnn_node(x, "batch_normalization", "epsilon=1e-3");
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(y), &source));
    glcnn_filter_node *end = glcnn_gradient_filter_with_source(filter_of(y), g);
    glcnn_graph *graph = training_graph(y, &end, 1, 0);
    glcnn_image *sources[] = {image_with(1, 1, 2, 2, pixels), image_with(1, 1, 2, 2, gradients)};
    run_graph(graph, sources);
    CU_ASSERT_EQUAL(calls, 1);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&net);
}

/* One value of a channel is its own mean: in training that is refused, by the layer's name, before
 * anything has changed. Two values train, and one is enough where nothing trains. */
static void test_one_value_a_channel_does_not_train(void)
{
    static const float running[] = {3, 3};
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = glcnn_node(x, "batch_normalization", "epsilon=1e-3");
    glcnn_image_node *const pair[] = {y, make_input(net, "labels")};
    glcnn_filter_node *loss = glcnn_filter_node_create(net, "loss", NULL, pair, 2);
    GOOD_FATAL(glcnn_filter_node_set_label(filter_of(y), "squeeze.bn"));
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(y), "variance", running, 2));
    train_network(net, false);
    glcnn_graph *training = NULL, *inference = graph_of(y);
    GOOD_FATAL(glcnn_training_graph_create(loss, NULL, NULL, &training));
    for (uint32_t images = 1; images <= 2; images++) {
        glcnn_image *sources[] = {image_with(images, 2, 1, 1, pixels),
                                  image_with(images, 2, 1, 1, gradients)};
        glcnn_status status = glcnn_graph_execute(training, sources, NULL, NULL);
        CU_ASSERT_EQUAL(status, images == 1 ? INVALID : GLCNN_SUCCESS);
        if (images == 1) {
            CU_ASSERT_STRING_EQUAL(
                glcnn_device_error(device),
                "graph: squeeze.bn (batch_normalization): the batch has one value for each "
                "channel, 1 image of 1x1; in training it normalises by more: give more images a "
                "batch, or larger ones");
            float *kept = vector_values(glcnn_kernel_vector(kernel_of(y), "variance"));
            CU_ASSERT_EQUAL(memcmp(kept, running, sizeof running), 0);
            free(kept);
        }
        GOOD(glcnn_graph_wait(training));
        run_graph(inference, sources);
        destroy_images(sources, 2);
    }
    glcnn_graph_destroy(&training);
    glcnn_graph_destroy(&inference);
    glcnn_network_destroy(&net);
}

/* Only the layer behind the stopped image trains. */
static void test_stopped_gradients_train_the_last_layer(void)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    glcnn_filter_node *ends[MOST_ENDS];
    glcnn_image_node_set_stop_gradient(c.pooled[1], true);
    size_t count =
        glcnn_training_graph_with_source_gradient(c.loss, NULL, NULL, NULL, ends, MOST_ENDS);
    CU_ASSERT_EQUAL_FATAL(count, 1);
    train_network(c.net, false);
    make_cnn_sources(3, sources);
    float *first = vector_values(glcnn_kernel_vector(kernel_of(c.convolved[0]), "weights"));
    float *last = vector_values(glcnn_kernel_vector(kernel_of(c.scores), "weights"));
    glcnn_graph *graph = training_graph(glcnn_filter_node_loss(c.loss), ends, count, 0);
    CU_ASSERT_FALSE(graph_has(graph, "convolution_gradient"));
    run_graph(graph, sources);
    float *first_after = vector_values(glcnn_kernel_vector(kernel_of(c.convolved[0]), "weights"));
    float *last_after = vector_values(glcnn_kernel_vector(kernel_of(c.scores), "weights"));
    CU_ASSERT_EQUAL(memcmp(first, first_after, 6 * 9 * sizeof *first), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(last, last_after, 5 * 9 * 8 * sizeof *last), 0);
    float *const all[] = {first, last, first_after, last_after};
    for (int i = 0; i < 4; i++)
        free(all[i]);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

/* ---- Sub-batches ---- */

/* Two convolutions with neurons or one normalisation, pooling between them, a layer of 5 classes.
 * What only the way back from the first pooling uses need hold but a part of the batch, whether or
 * not a normalisation cuts the way in between. */
struct split {
    glcnn_network *net;
    glcnn_image_node *layers[4]; /* with weights; the last may be none */
    glcnn_filter_node *loss, *ends[MOST_ENDS];
    size_t end_count;
    glcnn_image *sources[2];
};

/* No multiple of anything: parts differ in size. */
#define SPLIT_BATCH 7

static struct split make_split(bool normalised)
{
    struct split s = {.net = make_network()};
    glcnn_image_node *x = make_input(s.net, "image"), *labels = make_input(s.net, "labels");
    x = s.layers[0] = glcnn_node(x, "convolution",
                                 "input_feature_channels=1 "
                                 "output_feature_channels=64 kernel_width=3 "
                                 "kernel_height=3");
    x = glcnn_node(x, "neuron", "neuron_type=tanh");
    x = glcnn_node(x, "pooling_average",
                   "kernel_width=4 kernel_height=4 stride_in_pixels_x=4 "
                   "stride_in_pixels_y=4 padding=valid");
    x = s.layers[1] = glcnn_node(x, "convolution",
                                 "input_feature_channels=64 "
                                 "output_feature_channels=4 kernel_width=3 "
                                 "kernel_height=3");
    /* Clamped, which its state remembers element by element. */
    x = glcnn_node_binary(x, x, "add", "secondary_scale=0.5 maximum_value=0.25");
    if (normalised)
        x = s.layers[3] = glcnn_node(x, "batch_normalization", "epsilon=1e-3 neuron_type=relu");
    x = s.layers[2] = glcnn_node(x, "fully_connected",
                                 "input_feature_channels=4 "
                                 "output_feature_channels=5 kernel_width=3 "
                                 "kernel_height=3");
    glcnn_image_node *const pair[] = {x, labels};
    s.loss = glcnn_filter_node_create(
        s.net, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.125", pair, 2);
    s.end_count =
        glcnn_training_graph_with_source_gradient(s.loss, NULL, NULL, NULL, s.ends, MOST_ENDS);
    GOOD_FATAL(glcnn_network_status(s.net));
    set_weights(s.net, 4);
    train_network(s.net, false);
    make_cnn_sources(SPLIT_BATCH, s.sources);
    return s;
}

static void destroy_split(struct split *s)
{
    destroy_images(s->sources, 2);
    glcnn_network_destroy(&s->net);
}

static glcnn_graph *split_graph(const struct split *s, uint64_t budget)
{
    return training_graph(glcnn_filter_node_loss(s->loss), s->ends, s->end_count, budget);
}

static glcnn_status plan(glcnn_graph *graph, glcnn_image *const *sources,
                         struct glcnn_memory_plan *memory)
{
    const struct glcnn_image_descriptor descriptors[] = {*glcnn_image_get_descriptor(sources[0]),
                                                         *glcnn_image_get_descriptor(sources[1])};
    return glcnn_graph_memory(graph, descriptors, memory);
}

/* What training has made of all vectors; the caller frees them. */
static float *split_parameters(const struct split *s, size_t *count)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    float *all = calloc(4096, sizeof *all);
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    *count = 0;
    for (int k = 0; k < 4; k++)
        for (int v = 0; s->layers[k] && v < 6; v++) {
            glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(s->layers[k]), names[v]);
            if (!buffer)
                continue;
            CU_ASSERT_FATAL(*count + vector_count(buffer) <= 4096);
            GOOD(glcnn_buffer_read(buffer, 0, glcnn_buffer_size(buffer), all + *count));
            *count += vector_count(buffer);
        }
    return all;
}

/* Losses of the last step come first. NULL: the budget is too small. */
static float *train_within(bool normalised, uint64_t budget, size_t *count,
                           struct glcnn_memory_plan *memory)
{
    struct split s = make_split(normalised);
    glcnn_graph *graph = split_graph(&s, budget);
    float *values = NULL;
    if (plan(graph, s.sources, memory) == GLCNN_SUCCESS) {
        for (int step = 0; step < 3; step++)
            run_graph(graph, s.sources);
        float *losses = result_values(graph, glcnn_filter_node_loss(s.loss));
        values = split_parameters(&s, count);
        memcpy(values + *count, losses, SPLIT_BATCH * sizeof *losses);
        *count += SPLIT_BATCH;
        free(losses);
    }
    glcnn_graph_destroy(&graph);
    destroy_split(&s);
    return values;
}

/* Smaller and smaller budgets until there is no plan; the most parts that there were. */
static uint32_t check_parts(bool normalised)
{
    struct glcnn_memory_plan memory;
    size_t count, counted;
    float *expected = train_within(normalised, 0, &count, &memory), *found;
    uint32_t most = memory.sub_batches;
    CU_ASSERT_EQUAL(most, 1);
    for (uint64_t budget = memory.planned - 1;
         (found = train_within(normalised, budget, &counted, &memory));
         budget = memory.planned - 1) {
        CU_ASSERT(memory.planned <= budget);
        CU_ASSERT_EQUAL_FATAL(counted, count);
        CU_ASSERT_TRUE(arrays_near(found, expected, count, 1e-5));
        most = memory.sub_batches > most ? memory.sub_batches : most;
        free(found);
    }
    free(expected);
    return most;
}

static void test_sub_batches_give_the_same(void)
{
    CU_ASSERT_EQUAL(check_parts(false), SPLIT_BATCH);
}

/* Statistics and their gradients are those of the whole batch, or results would be far off. */
static void test_normalised_sub_batches_give_the_same(void)
{
    CU_ASSERT(check_parts(true) > 1);
}

static void test_too_small_a_budget_says_how_much(void)
{
    struct split s = make_split(false);
    unsigned long long needed = 0;
    struct glcnn_memory_plan memory;
    glcnn_graph *graph = split_graph(&s, 100);
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_graph_execute(graph, s.sources, NULL, NULL));
    const char *number = strstr(glcnn_device_error(device), "needs ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(number);
    CU_ASSERT_EQUAL_FATAL(sscanf(number, "needs %llu bytes", &needed), 1);
    glcnn_graph_destroy(&graph);
    /* What it asks for is enough, and a byte less is not. */
    graph = split_graph(&s, needed);
    GOOD(plan(graph, s.sources, &memory));
    CU_ASSERT_EQUAL(memory.planned, needed);
    run_graph(graph, s.sources);
    glcnn_graph_destroy(&graph);
    graph = split_graph(&s, needed - 1);
    REFUSED(GLCNN_LIMIT_EXCEEDED, plan(graph, s.sources, &memory));
    glcnn_graph_destroy(&graph);
    destroy_split(&s);
}

/* A mask is drawn for each encode, so parts would see other masks than the whole. */
static void test_dropout_is_not_split(void)
{
    bool buffered = device->info.traits.stores_via_buffer;
    device->info.traits.stores_via_buffer = false; /* a smaller buffer would take less */
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *y = glcnn_node(x, "dropout", "keep_probability=0.5");
    y = glcnn_node(glcnn_node(y, "pooling_max", "kernel_width=3"), "soft_max", NULL);
    const struct glcnn_image_descriptor source = {
        .width = 8, .height = 8, .feature_channels = 4, .number_of_images = 8};
    struct glcnn_memory_plan memory;
    glcnn_graph *graph = graph_of(y);
    GOOD_FATAL(glcnn_graph_memory(graph, &source, &memory));
    glcnn_graph_destroy(&graph);
    GOOD_FATAL(glcnn_graph_create(
        net,
        &(struct glcnn_graph_descriptor){
            .results = &y, .result_count = 1, .memory_budget = memory.planned - 1},
        &graph));
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_graph_memory(graph, &source, &memory));
    device->info.traits.stores_via_buffer = buffered;
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

/* gamma and beta of instance normalisation after a step, with a budget of `share` of the plan. */
static void train_instance(double share, float values[8])
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x"), *g = make_input(net, "g");
    glcnn_image_node *y = glcnn_node(x, "neuron", "neuron_type=tanh");
    glcnn_image_node *normal = glcnn_node(y, "instance_normalization", "epsilon=1e-3");
    glcnn_image_node *last = glcnn_node(normal, "neuron", "neuron_type=sigmoid");
    glcnn_image *sources[] = {make_image(8, 4, 8, 8), make_image(8, 4, 8, 8)};
    glcnn_kernel *optimizer = NULL;
    glcnn_filter_node *ends[MOST_ENDS];
    struct glcnn_memory_plan memory = {0};
    size_t count =
        glcnn_training_graph_with_source_gradient(filter_of(last), g, NULL, NULL, ends, MOST_ENDS);
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.1f, &optimizer));
    GOOD_FATAL(glcnn_network_set_training(
        net, &(struct glcnn_training_descriptor){.optimizer = optimizer, .feature_channels = 4}));
    glcnn_kernel_destroy(&optimizer);
    const struct glcnn_image_descriptor d[] = {*glcnn_image_get_descriptor(sources[0]),
                                               *glcnn_image_get_descriptor(sources[1])};
    fill_noise(sources[0], 12);
    fill_noise(sources[1], 13);
    glcnn_graph *graph = training_graph(last, ends, count, 0);
    GOOD_FATAL(glcnn_graph_memory(graph, d, &memory));
    if (share < 1) {
        glcnn_graph_destroy(&graph);
        graph = training_graph(last, ends, count, (uint64_t)(share * (double)memory.planned));
    }
    glcnn_status status = glcnn_graph_execute(graph, sources, NULL, NULL);
    CU_ASSERT(status == GLCNN_SUCCESS || (share < 1 && status == GLCNN_LIMIT_EXCEEDED));
    GOOD(glcnn_graph_wait(graph));
    values[0] = NAN;
    if (status == GLCNN_SUCCESS) {
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(normal), "gamma"), 0, 16, values));
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(normal), "beta"), 0, 16, values + 4));
    }
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&net);
}

/* Its states are one for each part: the same sums, or a failure. */
static void test_instance_normalisation_sums_all_parts(void)
{
    float whole[8], parts[8];
    train_instance(1, whole);
    train_instance(0.6, parts);
    CU_ASSERT_FALSE_FATAL(isnan(whole[0]));
    if (!isnan(parts[0]))
        CU_ASSERT_TRUE(arrays_near(parts, whole, 8, 1e-5));
}

/* One channel that is added to each of six makes six, from either side. */
static void test_channels_of_results_are_known(void)
{
    uint32_t *channels = NULL;
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_image_node *one =
        glcnn_node(x, "convolution", "input_feature_channels=3 output_feature_channels=1");
    glcnn_image_node *six =
        glcnn_node(x, "convolution", "input_feature_channels=3 output_feature_channels=6");
    glcnn_image_node *sums[] = {
        glcnn_node_binary(one, six, "add", "primary_stride_in_feature_channels=0"),
        glcnn_node_binary(six, one, "add", "secondary_stride_in_feature_channels=0")};
    CU_ASSERT_EQUAL_FATAL(glcnn_network_status(net), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(network_channels(net, &channels), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(channels[one->index], 1);
    CU_ASSERT_EQUAL(channels[sums[0]->index], 6);
    CU_ASSERT_EQUAL(channels[sums[1]->index], 6);
    free(channels);
    glcnn_network_destroy(&net);
}

/* ---- Rounded weights ---- */

/* Layers of each kind: of all channels, of groups, turned about, and connected. */
struct rounding_network {
    glcnn_network *net;
    glcnn_image_node *layers[5];
    glcnn_filter_node *loss;
};

static const uint32_t scales_of[5] = {4, 8, 1, 6, CNN_CLASSES};

static struct rounding_network make_rounding_network(void)
{
    struct rounding_network n = {.net = make_network()};
    glcnn_image_node *x = make_input(n.net, "images"), *labels = make_input(n.net, "labels");
    static const char *const layers[][2] = {
        {"convolution", "kernel_width=3 kernel_height=3 input_feature_channels=1 "
                        "output_feature_channels=4"},
        {"convolution", "kernel_width=3 kernel_height=3 input_feature_channels=4 "
                        "output_feature_channels=8 groups=4 stride_in_pixels_x=2 "
                        "stride_in_pixels_y=2"},
        {"convolution_transpose", "kernel_width=3 kernel_height=2 input_feature_channels=8 "
                                  "output_feature_channels=6 groups=2"},
        {"convolution", "kernel_width=1 kernel_height=1 input_feature_channels=6 "
                        "output_feature_channels=6"},
        {"fully_connected", "kernel_width=6 kernel_height=6 input_feature_channels=6 "
                            "output_feature_channels=5"}};
    for (size_t i = 0; i < 5; i++)
        n.layers[i] = x = glcnn_node(x, layers[i][0], layers[i][1]);
    n.loss = glcnn_loss_node(x, labels, NULL, GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY,
                             GLCNN_REDUCTION_TYPE_SUM);
    set_weights(n.net, 7);
    return n;
}

/* Rounds the weights in double precision by the formula of the header. */
static void round_weights(glcnn_kernel *kernel, uint32_t scales)
{
    glcnn_buffer *buffer = glcnn_kernel_vector(kernel, "weights");
    float *w = vector_values(buffer);
    const size_t each = vector_count(buffer) / scales;
    for (size_t k = 0; k < scales; k++) {
        double largest = 0;
        for (size_t i = k * each; i < (k + 1) * each; i++)
            largest = fmax(largest, fabs((double)w[i]));
        const double scale = (double)(float)(largest > 0 ? largest / 127 : 1 / 127.0);
        for (size_t i = k * each; i < (k + 1) * each; i++)
            w[i] = (float)(scale * nearbyint((double)w[i] / scale));
    }
    GOOD(glcnn_kernel_set_vector(kernel, "weights", w, each * scales));
    free(w);
}

/* Losses of a step, and how it changes the weights of each layer. */
static float *step_rounded(const struct rounding_network *n, float *changes[5])
{
    glcnn_image *sources[2];
    float *before[5];
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = NULL;
    make_cnn_sources(BATCH, sources);
    for (size_t i = 0; i < 5; i++)
        before[i] = vector_values(glcnn_kernel_vector(kernel_of(n->layers[i]), "weights"));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.05f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(n->loss, optimizer, NULL, &graph));
    run_graph(graph, sources);
    float *losses = result_values(graph, glcnn_filter_node_loss(n->loss));
    for (size_t i = 0; i < 5; i++) {
        glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(n->layers[i]), "weights");
        changes[i] = vector_values(buffer);
        for (size_t k = 0; k < vector_count(buffer); k++)
            changes[i][k] -= before[i][k];
        free(before[i]);
    }
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    return losses;
}

static double largest_difference(const float *a, const float *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
    return largest;
}

/* The network of rounded weights computes, and passes back, what one whose vectors are rounded does. */
static void test_rounded_weights_train_straight_through(void)
{
    struct rounding_network all[3];
    float *losses[3], *changes[3][5];
    for (size_t k = 0; k < 3; k++) {
        all[k] = make_rounding_network();
        for (size_t i = 0; i < 5; i++) {
            if (k == 1)
                GOOD(glcnn_kernel_set_weight_rounding(kernel_of(all[k].layers[i]), 127,
                                                      scales_of[i]));
            if (k == 2)
                round_weights(kernel_of(all[k].layers[i]), scales_of[i]);
        }
        losses[k] = step_rounded(&all[k], changes[k]);
    }
    CU_ASSERT(arrays_near(losses[1], losses[2], BATCH, 1e-5));
    CU_ASSERT(largest_difference(losses[1], losses[0], BATCH) > 1e-4);
    for (size_t i = 0; i < 5; i++) {
        const size_t count =
            vector_count(glcnn_kernel_vector(kernel_of(all[0].layers[i]), "weights"));
        CU_ASSERT(arrays_near(changes[1][i], changes[2][i], count, 1e-5));
        CU_ASSERT(largest_difference(changes[1][i], changes[0][i], count) > 1e-5);
        for (size_t k = 0; k < 3; k++)
            free(changes[k][i]);
    }
    for (size_t k = 0; k < 3; k++) {
        free(losses[k]);
        glcnn_network_destroy(&all[k].net);
    }
}

static void test_wrong_rounding_is_refused(void)
{
    struct rounding_network n = make_rounding_network();
    glcnn_kernel *kernel = kernel_of(n.layers[0]), *pooling = make_kernel("pooling_max");
    REFUSED(INVALID, glcnn_kernel_set_weight_rounding(pooling, 127, 4));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "no vector \"weights\""));
    REFUSED(INVALID, glcnn_kernel_set_weight_rounding(kernel, 32768, 4));
    REFUSED(INVALID, glcnn_kernel_set_weight_rounding(kernel, 127, 0));
    CU_ASSERT_EQUAL(glcnn_kernel_set_weight_rounding(NULL, 127, 4), INVALID);
    GOOD(glcnn_kernel_set_weight_rounding(kernel, 0, 0));
    GOOD(glcnn_kernel_set_weight_rounding(kernel, 127, 5));
    glcnn_image *sources[2];
    make_cnn_sources(BATCH, sources);
    glcnn_graph *graph = graph_of(n.layers[0]);
    REFUSED(INVALID, glcnn_graph_execute(graph, sources, NULL, NULL));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(glcnn_device_error(device), "36 weights are to be rounded by 5 scales"));
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_kernel_destroy(&pooling);
    glcnn_network_destroy(&n.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_training_equals_kernels_by_hand),
        UNIT_TEST(test_adam_equals_kernels_by_hand),
        UNIT_TEST(test_optimizers_are_the_users),
        UNIT_TEST(test_training_is_refused),
        UNIT_TEST(test_style_none_leaves_weights_alone),
        UNIT_TEST(test_style_cpu_updates_after_completion),
        UNIT_TEST(test_style_gpu_reloads_what_comes_back),
        UNIT_TEST(test_failing_updates_come_out),
        UNIT_TEST(test_failing_reloads_come_out),
        UNIT_TEST(test_reload_reads_data_sources),
        UNIT_TEST(test_statistics_alone_are_updated),
        UNIT_TEST(test_one_value_a_channel_does_not_train),
        UNIT_TEST(test_stopped_gradients_train_the_last_layer),
        UNIT_TEST(test_sub_batches_give_the_same),
        UNIT_TEST(test_normalised_sub_batches_give_the_same),
        UNIT_TEST(test_too_small_a_budget_says_how_much),
        UNIT_TEST(test_dropout_is_not_split),
        UNIT_TEST(test_instance_normalisation_sums_all_parts),
        UNIT_TEST(test_channels_of_results_are_known),
        UNIT_TEST(test_rounded_weights_train_straight_through),
        UNIT_TEST(test_wrong_rounding_is_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("graph training", tests, argc, argv);
}
