/* Nodes that share a kernel: their gradients for its weights are added up, and one update follows.
 * Twenty steps of a Siamese network with three losses against PyTorch; golden/make_shared.py makes
 * the same weights and batches and tells what the network is. */
#include "glcnn/checkpoint.h"
#include "glcnn/serialize.h"
#include "tests/archive.h"
#include "tests/graphs.h"

#include "base/random.h"
#include "graph/node.h"

#define STEPS     20
#define BATCH     6
#define CHANNELS  2
#define SIDE      5
#define PIXELS    (CHANNELS * SIDE * SIDE)
#define FEATURES  4
#define CLASSES   3
#define LOSSES    3
#define TOLERANCE 1e-5 /* times max(1, norm) */

enum { CONV, NORM, EMBED, HEAD, LAYERS };
static const char *const layer_names[LAYERS] = {"conv", "norm", "embed", "head"};
static const char *const layers[LAYERS] = {
    "convolution input_feature_channels=2 output_feature_channels=4 kernel_width=3 kernel_height=3",
    "batch_normalization epsilon=1e-5",
    ("fully_connected input_feature_channels=4 output_feature_channels=4 kernel_width=5 "
     "kernel_height=5"),
    "fully_connected input_feature_channels=4 output_feature_channels=3"};

struct siamese {
    glcnn_network *net;
    glcnn_kernel *kernels[LAYERS];
    glcnn_filter_node *losses[LOSSES];
};

/* The layer's node: of a new kernel at first, of the same one from then on. */
static glcnn_image_node *add_layer(struct siamese *s, int layer, glcnn_image_node *x)
{
    char kernel[32];
    size_t length = strcspn(layers[layer], " ");
    if (s->kernels[layer])
        return glcnn_node_with_kernel(x, s->kernels[layer]);
    snprintf(kernel, sizeof kernel, "%.*s", (int)length, layers[layer]);
    x = glcnn_node(x, kernel, layers[layer] + length);
    s->kernels[layer] = kernel_of(x);
    return x;
}

static glcnn_image_node *add_tower(struct siamese *s, glcnn_image_node *x)
{
    x = glcnn_node(add_layer(s, CONV, x), "neuron", "neuron_type=tanh neuron_a=1 neuron_b=1");
    return add_layer(s, EMBED, add_layer(s, NORM, x));
}

static glcnn_filter_node *add_loss(struct siamese *s, const char *settings, glcnn_image_node *x,
                                   glcnn_image_node *labels)
{
    glcnn_image_node *const pair[] = {x, labels};
    return glcnn_filter_node_create(s->net, "loss", settings, pair, 2);
}

static void draw_weights(struct siamese *s)
{
    static const uint32_t inputs[LAYERS] = {9 * CHANNELS, 0, SIDE * SIDE * FEATURES, FEATURES};
    uint64_t random = 5;
    for (int i = 0; i < LAYERS; i++) {
        size_t count = (size_t)inputs[i] * (i == HEAD ? CLASSES : FEATURES);
        float *weights = malloc((count + 1) * sizeof *weights);
        CU_ASSERT_PTR_NOT_NULL_FATAL(weights);
        random_weights(&random, weights, count, inputs[i]);
        if (count)
            GOOD_FATAL(glcnn_kernel_set_vector(s->kernels[i], "weights", weights, count));
        free(weights);
    }
}

static struct siamese make_siamese(void)
{
    struct siamese s = {.net = make_network()};
    glcnn_image_node *left = make_input(s.net, "left"), *right = make_input(s.net, "right"),
                     *wanted = make_input(s.net, "wanted"), *label = make_input(s.net, "label");
    glcnn_image_node *a = add_tower(&s, left), *b = add_tower(&s, right);
    s.losses[0] = add_loss(&s, "loss_type=mean_squared_error reduction_type=sum weight=0.25",
                           glcnn_node_binary(a, b, "subtract", NULL), wanted);
    s.losses[1] = add_loss(&s, "loss_type=soft_max_cross_entropy reduction_type=sum",
                           add_layer(&s, HEAD, a), label);
    s.losses[2] = add_loss(&s, "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.5",
                           add_layer(&s, HEAD, b), label);
    GOOD_FATAL(glcnn_network_status(s.net));
    draw_weights(&s);
    return s;
}

static glcnn_kernel *make_optimizer(bool adam)
{
    glcnn_kernel *optimizer = NULL;
    if (adam) {
        GOOD_FATAL(glcnn_optimizer_adam_create(device, 1.0f / 128, &optimizer));
        return optimizer;
    }
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 1.0f / 256, &optimizer));
    glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    return optimizer;
}

static glcnn_graph *train_clipped(const struct siamese *s, bool adam, float norm)
{
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = make_optimizer(adam);
    GOOD_FATAL(glcnn_training_graph_create_with_losses(
        s->losses, LOSSES, optimizer, &(struct glcnn_graph_descriptor){.gradient_clip_norm = norm},
        &graph));
    glcnn_kernel_destroy(&optimizer);
    return graph;
}

static glcnn_graph *train(const struct siamese *s, bool adam)
{
    return train_clipped(s, adam, 0);
}

/* ---- Batches ---- */

struct sources {
    glcnn_image *left, *right, *wanted, *label;
    glcnn_image *in_order[4]; /* as the graph takes them */
};

static struct sources make_sources(const glcnn_graph *graph)
{
    struct sources s = {.left = make_image(BATCH, CHANNELS, SIDE, SIDE),
                        .right = make_image(BATCH, CHANNELS, SIDE, SIDE),
                        .wanted = make_image(BATCH, FEATURES, 1, 1),
                        .label = make_image(BATCH, CLASSES, 1, 1)};
    CU_ASSERT_EQUAL_FATAL(glcnn_graph_source_count(graph), 4);
    for (size_t i = 0; i < 4; i++) {
        const char *handle = glcnn_image_node_handle(glcnn_graph_source(graph, i));
        s.in_order[i] = !strcmp(handle, "left")     ? s.left
                        : !strcmp(handle, "right")  ? s.right
                        : !strcmp(handle, "wanted") ? s.wanted
                                                    : s.label;
    }
    return s;
}

static void draw(uint64_t *random, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(random_next(random) >> 57) / 64 - 1;
}

static void write_batch(const struct sources *s, uint32_t number)
{
    float left[BATCH][PIXELS], right[BATCH][PIXELS], wanted[BATCH][FEATURES];
    float label[BATCH][CLASSES] = {{0}};
    uint64_t random = (uint64_t)number << 32;
    for (int n = 0; n < BATCH; n++) {
        draw(&random, left[n], PIXELS);
        draw(&random, right[n], PIXELS);
        draw(&random, wanted[n], FEATURES);
        label[n][random_next(&random) % CLASSES] = 1;
    }
    fill_image(s->left, left[0]);
    fill_image(s->right, right[0]);
    fill_image(s->wanted, wanted[0]);
    fill_image(s->label, label[0]);
}

/* ---- Comparison ---- */

static struct zip *archive;

static void compare(const char *optimizer, const char *name, const float *found, size_t count)
{
    char full[64];
    snprintf(full, sizeof full, "%s.%s", optimizer, name);
    CU_ASSERT_TRUE(archive_is_near(archive, full, found, count, TOLERANCE));
}

static size_t compare_layers(const struct siamese *s, const char *optimizer)
{
    static const char *const vectors[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    size_t compared = 0;
    for (int i = 0; i < LAYERS; i++)
        for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
            char name[32];
            glcnn_buffer *buffer = glcnn_kernel_vector(s->kernels[i], vectors[v]);
            if (!buffer)
                continue;
            float *values = vector_values(buffer);
            snprintf(name, sizeof name, "%s.%s", layer_names[i], vectors[v]);
            compare(optimizer, name, values, vector_count(buffer));
            compared++;
            free(values);
        }
    return compared;
}

/* The sum over the batch of each loss, without its weight. */
static void read_losses(const struct siamese *s, glcnn_graph *graph, float losses[LOSSES])
{
    for (int i = 0; i < LOSSES; i++) {
        float *values = result_values(graph, glcnn_filter_node_loss(s->losses[i]));
        double sum = 0;
        for (int n = 0; n < BATCH; n++)
            sum += (double)values[n];
        losses[i] = (float)(sum / (double)glcnn_loss(s->losses[i]->kernel)->weight);
        free(values);
    }
}

/* A norm of 0: not clipped. */
static void check_against_pytorch(bool adam, float norm)
{
    const char *name = norm > 0 ? "clipped" : adam ? "adam" : "descent";
    float losses[STEPS][LOSSES];
    struct siamese s = make_siamese();
    glcnn_graph *graph = train_clipped(&s, adam, norm);
    struct sources sources = make_sources(graph);
    for (uint32_t step = 0; step < STEPS; step++) {
        write_batch(&sources, step);
        run_graph(graph, sources.in_order);
        read_losses(&s, graph, losses[step]);
    }
    compare(name, "losses", losses[0], sizeof losses / sizeof(float));
    CU_ASSERT_EQUAL(compare_layers(&s, name), 10);
    for (int i = 0; i < LAYERS; i++)
        CU_ASSERT_EQUAL(glcnn_optimizer(glcnn_kernel_optimizer(s.kernels[i]))->time_step,
                        adam ? STEPS : 0);
    glcnn_graph_destroy(&graph);
    destroy_images(sources.in_order, 4);
    glcnn_network_destroy(&s.net);
}

static void test_twenty_steps_are_pytorchs(void)
{
    check_against_pytorch(false, 0);
    check_against_pytorch(false, 4);
    check_against_pytorch(true, 0);
}

/* ---- Exact numbers ---- */

/* y = w x through two nodes of one kernel, (y1 - 0)^2 + (3 y2 - 0)^2 with w = x = 1. */
struct two_uses {
    glcnn_network *net;
    glcnn_image_node *x, *t, *uses[2];
    glcnn_filter_node *losses[2];
};

static struct two_uses make_two_uses(void)
{
    static const float one = 1;
    struct two_uses u = {.net = make_network()};
    u.x = make_input(u.net, "x");
    u.t = make_input(u.net, "t");
    u.uses[0] =
        glcnn_node(u.x, "convolution", "input_feature_channels=1 output_feature_channels=1");
    u.uses[1] = glcnn_node_with_kernel(u.x, kernel_of(u.uses[0]));
    for (int i = 0; i < 2; i++) {
        glcnn_image_node *const pair[] = {
            glcnn_node(u.uses[i], "neuron",
                       i ? "neuron_type=linear neuron_a=3" : "neuron_type=linear neuron_a=1"),
            u.t};
        u.losses[i] = glcnn_filter_node_create(
            u.net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    }
    GOOD_FATAL(glcnn_network_status(u.net));
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(u.uses[0]), "weights", &one, 1));
    return u;
}

static float weight_after_a_step(struct two_uses *u, size_t losses)
{
    const float one = 1, zero = 0;
    float weight = 0;
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.01f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create_with_losses(u->losses, losses, optimizer, NULL, &graph));
    glcnn_image *sources[] = {image_with(1, 1, 1, 1, &one), image_with(1, 1, 1, 1, &zero)};
    run_graph(graph, sources);
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(u->uses[0]), "weights"), 0, 4, &weight));
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&u->net);
    return weight;
}

static void test_two_uses_are_exact(void)
{
    struct two_uses u = make_two_uses();
    CU_ASSERT_TRUE(is_near((double)weight_after_a_step(&u, 1), 1 - 0.01 * 2, 1e-7));
    u = make_two_uses();
    CU_ASSERT_TRUE(is_near((double)weight_after_a_step(&u, 2), 1 - 0.01 * (2 + 18), 1e-7));
}

/* A use of style none is a constant to the training. */
static void test_a_use_that_is_not_trained_adds_nothing(void)
{
    struct two_uses u = make_two_uses();
    GOOD(glcnn_filter_node_set_training_style(filter_of(u.uses[1]),
                                              GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE));
    CU_ASSERT_TRUE(is_near((double)weight_after_a_step(&u, 2), 1 - 0.01 * 2, 1e-7));
}

/* Of 0 and 4 the mean is 2 and the unbiased variance 8; those of 10 and 30 count nowhere. */
static void test_averages_are_of_the_uses_that_train(void)
{
    float mean = 0, variance = 0;
    glcnn_network *net = make_network();
    glcnn_image_node *first = glcnn_node(make_input(net, "x"), "batch_normalization", NULL);
    glcnn_image_node *uses[] = {first,
                                glcnn_node_with_kernel(make_input(net, "z"), kernel_of(first))};
    glcnn_image_node *t = make_input(net, "t");
    glcnn_filter_node *losses[2];
    for (int i = 0; i < 2; i++)
        losses[i] =
            glcnn_filter_node_create(net, "loss", "loss_type=mean_squared_error reduction_type=sum",
                                     (glcnn_image_node *const[]){uses[i], t}, 2);
    GOOD_FATAL(glcnn_network_status(net));
    GOOD(glcnn_filter_node_set_training_style(filter_of(uses[1]),
                                              GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE));
    glcnn_kernel *optimizer = kernel_with("optimizer_stochastic_gradient_descent", NULL);
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_training_graph_create_with_losses(losses, 2, optimizer, NULL, &graph));
    glcnn_image *sources[3] = {NULL};
    for (size_t i = 0; i < 3; i++) {
        const char *name = glcnn_image_node_handle(glcnn_graph_source(graph, i));
        sources[i] = image_with(1, 1, 1, 2,
                                *name == 'x'   ? (const float[]){0, 4}
                                : *name == 'z' ? (const float[]){10, 30}
                                               : (const float[]){0, 0});
    }
    run_graph(graph, sources);
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(first), "mean"), 0, 4, &mean));
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(first), "variance"), 0, 4, &variance));
    CU_ASSERT_TRUE(is_near((double)mean, 0.1 * 2, 1e-6));
    CU_ASSERT_TRUE(is_near((double)variance, 0.9 + 0.1 * 8, 1e-6));
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 3);
    glcnn_network_destroy(&net);
}

/* A batch that runs in parts: x = 1 in all pixels of all images. */
static void test_sub_batches_add_up_too(void)
{
    enum { IMAGES = 4, EDGE = 32 };
    float after[2];
    uint64_t budget = 0;
    for (int parts = 0; parts < 2; parts++) {
        struct glcnn_memory_plan memory;
        struct two_uses u = make_two_uses();
        glcnn_graph *graph = NULL;
        glcnn_kernel *optimizer = NULL;
        GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 1e-6f, &optimizer));
        GOOD_FATAL(glcnn_training_graph_create_with_losses(
            u.losses, 2, optimizer, &(struct glcnn_graph_descriptor){.memory_budget = budget},
            &graph));
        glcnn_image *sources[] = {make_image(IMAGES, 1, EDGE, EDGE),
                                  make_image(IMAGES, 1, EDGE, EDGE)};
        fill_constant(sources[0], 1);
        const struct glcnn_image_descriptor d[] = {*glcnn_image_get_descriptor(sources[0]),
                                                   *glcnn_image_get_descriptor(sources[1])};
        GOOD_FATAL(glcnn_graph_memory(graph, d, &memory));
        CU_ASSERT_EQUAL(memory.sub_batches > 1, parts > 0);
        GOOD_FATAL(glcnn_graph_least_memory(graph, d, &budget));
        run_graph(graph, sources);
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(u.uses[0]), "weights"), 0, 4,
                               &after[parts]));
        glcnn_kernel_destroy(&optimizer);
        glcnn_graph_destroy(&graph);
        destroy_images(sources, 2);
        glcnn_network_destroy(&u.net);
    }
    CU_ASSERT_TRUE(is_near((double)after[0], 1 - 1e-6 * 20 * IMAGES * EDGE * EDGE, 1e-6));
    CU_ASSERT_TRUE(is_near((double)after[1], (double)after[0], 1e-6));
}

/* ---- Callbacks and states ---- */

struct watcher {
    size_t calls;
    float sum;
};

static bool watch_cpu(void *context, glcnn_state *gradients, glcnn_state *values)
{
    struct watcher *w = context;
    (void)values;
    w->calls++;
    GOOD(glcnn_buffer_read(glcnn_state_vector(gradients, "gradient_for_weights"), 0, sizeof w->sum,
                           &w->sum));
    return false;
}

static void test_a_callback_comes_once_with_the_sum(void)
{
    const float one = 1, zero = 0;
    struct watcher w = {0};
    struct two_uses u = make_two_uses();
    const struct glcnn_data_source source = {.context = &w, .update_cpu = watch_cpu};
    float exported[2];
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(u.uses[0]), &source));
    for (int i = 0; i < 2; i++) {
        GOOD_FATAL(glcnn_filter_node_set_training_style(filter_of(u.uses[i]),
                                                        GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU));
        glcnn_state_node_set_export_from_graph(glcnn_filter_node_result_state(filter_of(u.uses[i])),
                                               true);
    }
    GOOD_FATAL(glcnn_training_graph_create_with_losses(u.losses, 2, NULL, NULL, &graph));
    glcnn_image *sources[] = {image_with(1, 1, 1, 1, &one), image_with(1, 1, 1, 1, &zero)};
    for (int replay = 0; replay < 2; replay++)
        run_graph(graph, sources);
    CU_ASSERT_EQUAL(w.calls, 2);
    CU_ASSERT_EQUAL(w.sum, 20);
    for (int i = 0; i < 2; i++)
        GOOD(glcnn_buffer_read(
            glcnn_state_vector(
                glcnn_graph_state(graph, glcnn_filter_node_result_state(filter_of(u.uses[i]))),
                "gradient_for_weights"),
            0, sizeof(float), &exported[i]));
    CU_ASSERT_EQUAL(exported[0], 20);
    CU_ASSERT_EQUAL(exported[1], 18);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&u.net);
}

/* ---- Two networks ---- */

/* Training with dropout and inference without, each a network of its own. */
static void test_networks_share_what_they_learn(void)
{
    const float one = 1;
    struct two_uses u = make_two_uses();
    glcnn_network *inference = make_network();
    glcnn_image_node *y = glcnn_node_with_kernel(make_input(inference, "x"), kernel_of(u.uses[0]));
    CU_ASSERT_PTR_NOT_NULL_FATAL(y);
    CU_ASSERT_PTR_NULL(glcnn_filter_node_shared_with(filter_of(y)));
    float trained = weight_after_a_step(&u, 2); /* and destroys the first network */
    glcnn_graph *graph = graph_of(y);
    glcnn_image *source = image_with(1, 1, 1, 1, &one);
    run_graph(graph, &source);
    float *found = result_values(graph, y);
    CU_ASSERT_TRUE(is_near((double)*found, 2 * (double)trained - 1, 1e-7)); /* and the bias */
    CU_ASSERT_TRUE(is_near((double)trained, 0.8, 1e-7));
    free(found);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&source);
    glcnn_network_destroy(&inference);
}

/* ---- Making nodes ---- */

static void test_nodes_that_cannot_share_are_refused(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x");
    glcnn_kernel *optimizer = make_optimizer(true);
    CU_ASSERT_PTR_NULL(glcnn_node_with_kernel(x, optimizer));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_network_status(net));
    glcnn_network_destroy(&net);
    net = make_network();
    x = make_input(net, "x");
    CU_ASSERT_PTR_NULL(glcnn_node_with_kernel(x, NULL));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_network_status(net));
    glcnn_network_destroy(&net);
    net = make_network();
    x = make_input(net, "x");
    glcnn_image_node *y = glcnn_node(x, "neuron", "neuron_type=relu");
    glcnn_image_node *const two[] = {x, y};
    CU_ASSERT_PTR_NULL(glcnn_filter_node_create_with_kernel(net, kernel_of(y), two, 2));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_network_status(net));
    CU_ASSERT_PTR_NULL(glcnn_node_with_kernel(x, kernel_of(y)));
    glcnn_network_destroy(&net);
    glcnn_kernel_destroy(&optimizer);
    CU_ASSERT_PTR_NULL(glcnn_filter_node_create_with_kernel(NULL, NULL, NULL, 0));
}

static void test_the_first_node_is_the_one_shared_with(void)
{
    struct siamese s = make_siamese();
    size_t sharing = 0;
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(s.net, i)); i++) {
        glcnn_filter_node *first = glcnn_filter_node_shared_with(node);
        sharing += first != NULL;
        if (first) {
            CU_ASSERT_PTR_EQUAL(glcnn_filter_node_kernel(first), glcnn_filter_node_kernel(node));
            CU_ASSERT_PTR_NULL(glcnn_filter_node_shared_with(first));
            CU_ASSERT_STRING_NOT_EQUAL(glcnn_filter_node_label(first),
                                       glcnn_filter_node_label(node));
        }
    }
    CU_ASSERT_EQUAL(sharing, LAYERS);
    CU_ASSERT_PTR_NULL(glcnn_filter_node_shared_with(NULL));
    glcnn_network_destroy(&s.net);
}

/* Weights that nodes share are drawn once, so those of later layers are as they are without. */
static void test_shared_weights_are_drawn_once(void)
{
    glcnn_network *nets[2];
    float *values[2];
    for (int i = 0; i < 2; i++) {
        nets[i] = make_network();
        glcnn_image_node *y = glcnn_node(make_input(nets[i], "x"), "convolution",
                                         "input_feature_channels=4 output_feature_channels=4");
        if (i)
            y = glcnn_node_with_kernel(y, kernel_of(y));
        y = glcnn_node(y, "convolution", "input_feature_channels=4 output_feature_channels=4");
        GOOD_FATAL(glcnn_network_initialise(nets[i], 3));
        values[i] = vector_values(glcnn_kernel_vector(kernel_of(y), "weights"));
    }
    CU_ASSERT_EQUAL(memcmp(values[0], values[1], 16 * sizeof(float)), 0);
    for (int i = 0; i < 2; i++) {
        free(values[i]);
        glcnn_network_destroy(&nets[i]);
    }
}

/* y = layer(layer(x)) with weights and biases of 0. As two layers they are stuck; as one the bias
 * that the second use learns is the first one's too. */
static void test_a_shared_layer_of_zeros_learns(void)
{
    for (int shared = 0; shared < 2; shared++) {
        static const char settings[] = "input_feature_channels=1 output_feature_channels=1";
        glcnn_network *net = make_network();
        glcnn_image_node *y = glcnn_node(make_input(net, "x"), "convolution", settings);
        y = shared ? glcnn_node_with_kernel(y, kernel_of(y))
                   : glcnn_node(y, "convolution", settings);
        glcnn_image_node *const pair[] = {y, make_input(net, "t")};
        glcnn_filter_node *loss = glcnn_filter_node_create(
            net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
        glcnn_graph *graph = NULL;
        glcnn_kernel *optimizer = make_optimizer(false);
        GOOD_FATAL(glcnn_training_graph_create(loss, optimizer, NULL, &graph));
        glcnn_image *sources[] = {make_image(1, 1, 1, 1), make_image(1, 1, 1, 1)};
        fill_constant(sources[0], 1);
        fill_constant(sources[1], 1);
        if (shared)
            for (int step = 0; step < 3; step++)
                run_graph(graph, sources);
        else
            REFUSED(GLCNN_INVALID_STATE, glcnn_graph_execute(graph, sources, NULL, NULL));
        float *weight = vector_values(glcnn_kernel_vector(kernel_of(y), "weights"));
        CU_ASSERT_EQUAL(*weight != 0, shared);
        free(weight);
        glcnn_kernel_destroy(&optimizer);
        glcnn_graph_destroy(&graph);
        destroy_images(sources, 2);
        glcnn_network_destroy(&net);
    }
}

/* ---- Files ---- */

static float *all_values(const struct siamese *s, size_t *count)
{
    static const char *const vectors[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    float *all = NULL;
    *count = 0;
    for (int i = 0; i < LAYERS; i++)
        for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
            glcnn_buffer *buffer = glcnn_kernel_vector(s->kernels[i], vectors[v]);
            size_t n = buffer ? vector_count(buffer) : 0;
            all = realloc(all, (*count + n + 1) * sizeof *all);
            CU_ASSERT_PTR_NOT_NULL_FATAL(all);
            if (n)
                GOOD(glcnn_buffer_read(buffer, 0, n * sizeof *all, all + *count));
            *count += n;
        }
    return all;
}

static void run_steps(glcnn_graph *graph, uint32_t first, uint32_t count)
{
    struct sources sources = make_sources(graph);
    for (uint32_t step = first; step < first + count; step++) {
        write_batch(&sources, step);
        run_graph(graph, sources.in_order);
    }
    destroy_images(sources.in_order, 4);
}

/* A checkpoint has what is shared once, and training goes on from it to the bit. */
static void test_a_checkpoint_resumes_to_the_bit(void)
{
    static const char path[] = "build/shared_kernels.safetensors";
    size_t count;
    char error[GLCNN_ERROR_LENGTH] = "";
    struct siamese s = make_siamese(), copy = make_siamese();
    glcnn_graph *graph = train(&s, true), *resumed = train(&copy, true);
    run_steps(graph, 0, 2);
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_save(s.net, path, NULL, 0, error), GLCNN_SUCCESS);
    run_steps(graph, 2, 2);
    CU_ASSERT_EQUAL_FATAL(glcnn_checkpoint_load(copy.net, path, NULL, error), GLCNN_SUCCESS);
    remove(path);
    run_steps(resumed, 2, 2);
    float *expected = all_values(&s, &count), *found = all_values(&copy, &count);
    CU_ASSERT_EQUAL(memcmp(found, expected, count * sizeof *found), 0);
    free(expected);
    free(found);
    glcnn_graph_destroy(&graph);
    glcnn_graph_destroy(&resumed);
    glcnn_network_destroy(&s.net);
    glcnn_network_destroy(&copy.net);
}

/* Reading gives nodes that share again, and the same bytes when written once more. */
static void test_a_network_that_was_read_shares_again(void)
{
    struct siamese s = make_siamese();
    glcnn_network *copy = NULL;
    glcnn_filter_node *node, *twin;
    uint8_t *bytes[2];
    size_t sizes[2];
    GOOD_FATAL(glcnn_network_serialize(s.net, true, &bytes[0], &sizes[0], NULL));
    GOOD_FATAL(glcnn_network_deserialize(device, bytes[0], sizes[0], &copy, NULL));
    for (size_t i = 0; (node = glcnn_network_filter(s.net, i)); i++) {
        twin = glcnn_network_filter(copy, i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(twin);
        CU_ASSERT_EQUAL(!glcnn_filter_node_shared_with(node), !glcnn_filter_node_shared_with(twin));
        if (glcnn_filter_node_shared_with(node))
            CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(glcnn_filter_node_shared_with(node)),
                                   glcnn_filter_node_label(glcnn_filter_node_shared_with(twin)));
    }
    GOOD_FATAL(glcnn_network_serialize(copy, true, &bytes[1], &sizes[1], NULL));
    CU_ASSERT_EQUAL_FATAL(sizes[0], sizes[1]);
    CU_ASSERT_EQUAL(memcmp(bytes[0], bytes[1], sizes[0]), 0);
    for (size_t i = 0; i < sizes[0]; i++) { /* what is damaged is refused or read, never worse */
        glcnn_network *damaged = NULL;
        bytes[0][i] ^= 0x15;
        glcnn_network_deserialize(device, bytes[0], sizes[0], &damaged, NULL);
        glcnn_network_destroy(&damaged);
        bytes[0][i] ^= 0x15;
    }
    for (int i = 0; i < 2; i++)
        glcnn_serialize_destroy(bytes[i]);
    glcnn_network_destroy(&copy);
    glcnn_network_destroy(&s.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_twenty_steps_are_pytorchs),
        UNIT_TEST(test_two_uses_are_exact),
        UNIT_TEST(test_sub_batches_add_up_too),
        UNIT_TEST(test_a_use_that_is_not_trained_adds_nothing),
        UNIT_TEST(test_averages_are_of_the_uses_that_train),
        UNIT_TEST(test_a_callback_comes_once_with_the_sum),
        UNIT_TEST(test_networks_share_what_they_learn),
        UNIT_TEST(test_nodes_that_cannot_share_are_refused),
        UNIT_TEST(test_the_first_node_is_the_one_shared_with),
        UNIT_TEST(test_shared_weights_are_drawn_once),
        UNIT_TEST(test_a_shared_layer_of_zeros_learns),
        UNIT_TEST(test_a_checkpoint_resumes_to_the_bit),
        UNIT_TEST(test_a_network_that_was_read_shares_again),
        CU_TEST_INFO_NULL,
    };
    archive = archive_open("tests/golden/shared.npz");
    if (!archive)
        return EXIT_FAILURE;
    int result = fixture_run("shared_kernels", tests, argc, argv);
    archive_close(archive);
    return result;
}
