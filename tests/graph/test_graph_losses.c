/* Several losses on one trunk: the gradients for a filter's weights are added up, and one update
 * follows in each execution. Stochastic gradient descent without momentum is linear in the
 * gradients, so what losses do together is the sum of what each does alone. */
#include "glcnn/serialize.h"
#include "tests/graphs.h"

#include <math.h>

#include "graph/node.h"

#define HEADS 3
#define SIDE  16
#define BATCH 6

/* x -> trunk -> for each head two convolutions of its own and a loss */
struct heads {
    glcnn_network *net;
    glcnn_image_node *x, *labels, *trunk, *results[HEADS];
    glcnn_filter_node *losses[HEADS], *ends[HEADS];
};

static const char *const plain[] = {
    "convolution input_feature_channels=2 output_feature_channels=4 kernel_width=3 kernel_height=3",
    NULL};
static const char *const batch_normalised[] = {
    "convolution input_feature_channels=2 output_feature_channels=4 kernel_width=3 kernel_height=3",
    "batch_normalization epsilon=1e-5 neuron_type=tanh neuron_a=1 neuron_b=1",
    "convolution input_feature_channels=4 output_feature_channels=4 kernel_width=3 kernel_height=1",
    "batch_normalization epsilon=1e-5 neuron_type=none", NULL};
static const char *const partly_fixed[] = {
    "convolution input_feature_channels=2 output_feature_channels=4 kernel_width=3 kernel_height=3",
    "!batch_normalization epsilon=1e-5", "!instance_normalization epsilon=1e-5", NULL};
static const char *const instance_normalised[] = {
    "convolution input_feature_channels=2 output_feature_channels=4 kernel_width=3 kernel_height=3",
    "instance_normalization epsilon=1e-5", "neuron neuron_type=tanh neuron_a=1 neuron_b=1", NULL};
static const char *const connected[] = {
    "convolution_transpose input_feature_channels=2 output_feature_channels=3 kernel_width=2 "
    "kernel_height=2 groups=1",
    "fully_connected input_feature_channels=3 output_feature_channels=4 kernel_width=16 "
    "kernel_height=16",
    NULL};

/* "KERNEL SETTINGS", after a "!" one that is not trained. */
static glcnn_image_node *add_layer(glcnn_image_node *x, const char *layer)
{
    char kernel[64];
    bool is_fixed = *layer == '!';
    layer += is_fixed;
    size_t length = strcspn(layer, " ");
    snprintf(kernel, sizeof kernel, "%.*s", (int)length, layer);
    x = glcnn_node(x, kernel, layer + length);
    if (is_fixed)
        GOOD_FATAL(glcnn_filter_node_set_training_style(filter_of(x),
                                                        GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE));
    return x;
}

static struct heads make_heads(const char *const trunk[])
{
    struct heads h = {.net = make_network()};
    h.x = make_input(h.net, "x");
    h.labels = make_input(h.net, "labels");
    h.trunk = h.x;
    for (; *trunk; trunk++)
        h.trunk = add_layer(h.trunk, *trunk);
    for (int i = 0; i < HEADS; i++) {
        h.results[i] = glcnn_node(h.trunk, "convolution",
                                  "input_feature_channels=4 output_feature_channels=32");
        h.results[i] = glcnn_node(h.results[i], "neuron", "neuron_type=absolute");
        h.results[i] = glcnn_node(h.results[i], "convolution",
                                  "input_feature_channels=32 output_feature_channels=1");
        glcnn_image_node *const pair[] = {h.results[i], h.labels};
        h.losses[i] = glcnn_filter_node_create(
            h.net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    }
    GOOD_FATAL(glcnn_network_status(h.net));
    set_weights(h.net, 7);
    return h;
}

/* Training graphs of the heads whose bit is set; the graph's results are their ends. */
static glcnn_graph *train_heads(struct heads *h, unsigned mask, uint64_t budget)
{
    glcnn_image_node *results[2 * HEADS];
    bool needed[2 * HEADS] = {false};
    size_t count = 0;
    for (int i = 0; i < HEADS; i++) {
        if (!(mask >> i & 1))
            continue;
        CU_ASSERT_EQUAL_FATAL(glcnn_training_graph_with_source_gradient(h->losses[i], NULL, NULL,
                                                                        NULL, &h->ends[i], 1),
                              1);
        results[count++] = glcnn_filter_node_result(h->ends[i]);
    }
    const struct glcnn_graph_descriptor d = {.results = results,
                                             .result_is_needed = needed,
                                             .result_count = count,
                                             .memory_budget = budget};
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_graph_create(h->net, &d, &graph));
    return graph;
}

static void use_descent(const struct heads *h)
{
    struct glcnn_training_descriptor d = {0};
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.01f, &d.optimizer));
    GOOD_FATAL(glcnn_network_set_training(h->net, &d));
    glcnn_kernel_destroy(&d.optimizer);
}

/* Images in the graph's order; labels are as large as the heads' results. */
static void make_sources(const glcnn_graph *graph, const struct heads *h, glcnn_image *sources[2])
{
    bool one = strcmp(glcnn_kernel_name(kernel_of(h->trunk)), "fully_connected") == 0;
    CU_ASSERT_EQUAL_FATAL(glcnn_graph_source_count(graph), 2);
    for (size_t i = 0; i < 2; i++) {
        bool labels = glcnn_graph_source(graph, i) == h->labels;
        uint32_t side = labels && one ? 1 : SIDE;
        sources[i] = make_image(BATCH, labels ? 1 : 2, side, side);
        fill_noise(sources[i], labels ? 11 : 3);
    }
}

/* What an execution changes of the trunk's weights; the caller frees it. */
struct change {
    double *values;
    float *statistics; /* running ones as they are after it */
    size_t count, statistic_count;
};

static size_t append(void *list, size_t size, size_t *count, size_t more)
{
    void **values = list;
    *values = realloc(*values, (*count + more + 1) * size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*values);
    *count += more;
    return *count - more;
}

static void add_vectors(struct change *change, glcnn_kernel *kernel)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta"};
    for (size_t v = 0; v < 4; v++) {
        glcnn_buffer *buffer = glcnn_kernel_vector(kernel, names[v]);
        if (!buffer)
            continue;
        float *values = vector_values(buffer);
        size_t n = vector_count(buffer),
               at = append(&change->values, sizeof(double), &change->count, n);
        for (size_t i = 0; i < n; i++)
            change->values[at + i] = (double)values[i];
        free(values);
    }
}

static void add_statistics(struct change *change, glcnn_kernel *kernel)
{
    static const char *const names[] = {"mean", "variance"};
    for (size_t v = 0; v < 2; v++) {
        glcnn_buffer *buffer = glcnn_kernel_vector(kernel, names[v]);
        if (!buffer)
            continue;
        size_t n = vector_count(buffer),
               at = append(&change->statistics, sizeof(float), &change->statistic_count, n);
        GOOD(glcnn_buffer_read(buffer, 0, n * sizeof(float), change->statistics + at));
    }
}

/* Gives normalisations gamma and beta, so that there is something to change. */
static void set_gamma(const struct heads *h)
{
    static const float gamma[] = {1, 0.5f, -0.75f, 1.25f}, beta[] = {0, 0.25f, -0.5f, 0.125f};
    for (glcnn_image_node *at = h->trunk; at != h->x; at = filter_of(at)->sources[0])
        if (strstr(glcnn_kernel_name(kernel_of(at)), "normalization")) {
            GOOD(glcnn_kernel_set_vector(kernel_of(at), "gamma", gamma, 4));
            GOOD(glcnn_kernel_set_vector(kernel_of(at), "beta", beta, 4));
        }
}

static struct change collect(const struct heads *h)
{
    struct change change = {0};
    for (glcnn_image_node *at = h->trunk; at != h->x; at = filter_of(at)->sources[0]) {
        add_vectors(&change, kernel_of(at));
        add_statistics(&change, kernel_of(at));
    }
    return change;
}

static void free_change(struct change *change)
{
    free(change->values);
    free(change->statistics);
}

/* With the least memory the batch runs in parts, if it can. */
static struct change change_of(const char *const trunk[], unsigned mask, bool least,
                               struct glcnn_memory_plan *memory)
{
    uint64_t budget = 0;
    glcnn_image *sources[2];
    struct heads h = make_heads(trunk);
    use_descent(&h);
    set_gamma(&h);
    glcnn_graph *graph = train_heads(&h, mask, 0);
    make_sources(graph, &h, sources);
    const struct glcnn_image_descriptor d[] = {*glcnn_image_get_descriptor(sources[0]),
                                               *glcnn_image_get_descriptor(sources[1])};
    if (least) {
        GOOD_FATAL(glcnn_graph_least_memory(graph, d, &budget));
        glcnn_graph_destroy(&graph);
        graph = train_heads(&h, mask, budget);
    }
    GOOD_FATAL(glcnn_graph_memory(graph, d, memory));
    struct change before = collect(&h);
    run_graph(graph, sources);
    struct change change = collect(&h);
    CU_ASSERT_EQUAL_FATAL(before.count, change.count);
    for (size_t i = 0; i < change.count; i++)
        change.values[i] -= before.values[i];
    free_change(&before);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&h.net);
    return change;
}

static double largest(const struct change *change)
{
    double most = 0;
    for (size_t i = 0; i < change->count; i++)
        most = fmax(most, fabs(change->values[i]));
    return most;
}

/* What the losses change one by one, added up. */
static struct change sum_of_each(const char *const trunk[])
{
    struct glcnn_memory_plan memory;
    struct change sum = change_of(trunk, 1, false, &memory);
    CU_ASSERT(largest(&sum) > 0.01);
    for (unsigned i = 1; i < HEADS; i++) {
        struct change one = change_of(trunk, 1u << i, false, &memory);
        CU_ASSERT(largest(&one) > 0.01);
        for (size_t k = 0; k < sum.count; k++)
            sum.values[k] += one.values[k];
        free_change(&one);
    }
    return sum;
}

/* Statistics are the same for any of the losses. */
static void check_change(const struct change *found, const struct change *expected)
{
    CU_ASSERT_EQUAL_FATAL(found->count, expected->count);
    CU_ASSERT_EQUAL_FATAL(found->statistic_count, expected->statistic_count);
    for (size_t k = 0; k < expected->count; k++)
        CU_ASSERT_TRUE(is_near(found->values[k], expected->values[k], 5e-6));
    CU_ASSERT_TRUE(
        arrays_near(found->statistics, expected->statistics, expected->statistic_count, 1e-6));
}

/* Together the losses change what each changes alone; where the trunk can be split, in parts too.
 */
static void check_trunk(const char *const trunk[], bool split)
{
    struct glcnn_memory_plan memory;
    struct change sum = sum_of_each(trunk);
    struct change all = change_of(trunk, (1u << HEADS) - 1, false, &memory);
    CU_ASSERT_EQUAL(memory.sub_batches, 1);
    check_change(&all, &sum);
    free_change(&all);
    if (split) {
        all = change_of(trunk, (1u << HEADS) - 1, true, &memory);
        CU_ASSERT(memory.sub_batches > 1);
        check_change(&all, &sum);
        free_change(&all);
    }
    free_change(&sum);
}

/* x -> weight -> times 1 and times 3, each with its squared error. */
static struct heads make_linear_heads(void)
{
    static const float one = 1;
    struct heads h = {.net = make_network()};
    h.x = make_input(h.net, "x");
    h.labels = make_input(h.net, "labels");
    h.trunk = glcnn_node(h.x, "convolution", "input_feature_channels=1 output_feature_channels=1");
    for (int i = 0; i < 2; i++) {
        glcnn_image_node *y =
            glcnn_node(h.trunk, "neuron",
                       i ? "neuron_type=linear neuron_a=3" : "neuron_type=linear neuron_a=1");
        glcnn_image_node *const pair[] = {y, h.labels};
        h.losses[i] = glcnn_filter_node_create(
            h.net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    }
    GOOD_FATAL(glcnn_network_status(h.net));
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(h.trunk), "weights", &one, 1));
    return h;
}

/* The weight after a step from 1 on, with x = 1 and targets of 0; destroys graph and network. */
static double linear_step(struct heads *h, glcnn_graph *graph)
{
    const float one = 1, zero = 0;
    float weight = 0;
    glcnn_image *sources[] = {image_with(1, 1, 1, 1, &one), image_with(1, 1, 1, 1, &zero)};
    run_graph(graph, sources);
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(h->trunk), "weights"), 0, 4, &weight));
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&h->net);
    return (double)weight;
}

static void test_two_linear_heads_are_exact(void)
{
    struct heads h = make_linear_heads();
    glcnn_image_node *ends[2];
    glcnn_graph *graph;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(
            glcnn_training_graph_with_source_gradient(h.losses[i], NULL, NULL, NULL, &h.ends[i], 1),
            1);
        ends[i] = glcnn_filter_node_result(h.ends[i]);
    }
    use_descent(&h);
    GOOD_FATAL(glcnn_graph_create(
        h.net,
        &(struct glcnn_graph_descriptor){
            .results = ends, .result_is_needed = (bool[]){false, false}, .result_count = 2},
        &graph));
    CU_ASSERT_TRUE(is_near(linear_step(&h, graph), 1 - 0.01 * (2 + 18), 1e-7));
}

/* ---- All losses in one call ---- */

static glcnn_kernel *make_descent(void)
{
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.01f, &optimizer));
    return optimizer;
}

static glcnn_graph *train_in_one_call(const struct heads *h, size_t count)
{
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = make_descent();
    GOOD_FATAL(glcnn_training_graph_create_with_losses(h->losses, count, optimizer, NULL, &graph));
    glcnn_kernel_destroy(&optimizer);
    return graph;
}

/* A loss counts as much as its kernel's weight says. */
static void test_one_call_is_exact(void)
{
    struct heads h = make_linear_heads();
    CU_ASSERT_TRUE(is_near(linear_step(&h, train_in_one_call(&h, 1)), 1 - 0.01 * 2, 1e-7));
    h = make_linear_heads();
    CU_ASSERT_TRUE(is_near(linear_step(&h, train_in_one_call(&h, 2)), 1 - 0.01 * (2 + 18), 1e-7));
    h = make_linear_heads();
    glcnn_loss(h.losses[1]->kernel)->weight = 0.5f;
    CU_ASSERT_TRUE(is_near(linear_step(&h, train_in_one_call(&h, 2)), 1 - 0.01 * (2 + 9), 1e-7));
}

static size_t gradients_of(const glcnn_graph *graph, const glcnn_filter_node *forward)
{
    const glcnn_filter_node *node;
    size_t count = 0;
    for (size_t i = 0; (node = glcnn_graph_filter(graph, i)); i++)
        count += glcnn_filter_node_forward(node, NULL) == forward;
    return count;
}

/* The trunk goes backward once, and gets what the losses give one by one. */
static void test_one_call_gets_the_sum(void)
{
    glcnn_image *sources[2];
    struct change sum = sum_of_each(batch_normalised);
    struct heads h = make_heads(batch_normalised);
    set_gamma(&h);
    struct change before = collect(&h);
    glcnn_graph *graph = train_in_one_call(&h, HEADS);
    CU_ASSERT_EQUAL(gradients_of(graph, filter_of(h.trunk)), 1);
    make_sources(graph, &h, sources);
    run_graph(graph, sources);
    for (int i = 0; i < HEADS; i++) {
        float *loss = result_values(graph, glcnn_filter_node_loss(h.losses[i]));
        CU_ASSERT(*loss > 0);
        free(loss);
    }
    struct change change = collect(&h);
    for (size_t i = 0; i < change.count; i++)
        change.values[i] -= before.values[i];
    check_change(&change, &sum);
    free_change(&before);
    free_change(&change);
    free_change(&sum);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&h.net);
}

/* Nothing is left of what is refused: the same losses train after it. */
static void test_wrong_losses_are_refused(void)
{
    struct heads h = make_linear_heads(), other = make_linear_heads();
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = make_descent();
    glcnn_filter_node *const twice[] = {h.losses[0], h.losses[0]},
                             *const hole[] = {h.losses[0], NULL},
                             *const foreign[] = {h.losses[0], other.losses[0]},
                             *const no_loss[] = {h.losses[0], filter_of(h.trunk)};
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_training_graph_create_with_losses(twice, 2, optimizer, NULL, &graph));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_training_graph_create_with_losses(foreign, 2, optimizer, NULL, &graph));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_training_graph_create_with_losses(no_loss, 2, optimizer, NULL, &graph));
    CU_ASSERT_EQUAL(glcnn_training_graph_create_with_losses(hole, 2, optimizer, NULL, &graph),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_training_graph_create_with_losses(NULL, 0, optimizer, NULL, &graph),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(graph);
    CU_ASSERT_PTR_NULL(glcnn_kernel_optimizer(kernel_of(h.trunk)));
    glcnn_kernel_destroy(&optimizer);
    glcnn_network_destroy(&other.net);
    CU_ASSERT_TRUE(is_near(linear_step(&h, train_in_one_call(&h, 2)), 1 - 0.01 * 20, 1e-7));
}

/* What depends on the gradient image of another loss cannot go back through it. */
static void test_losses_of_losses_are_refused(void)
{
    struct heads h = make_linear_heads();
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = make_descent();
    glcnn_image_node *const pair[] = {glcnn_filter_node_result(h.losses[0]), h.labels};
    glcnn_filter_node *const losses[] = {h.losses[0],
                                         glcnn_filter_node_create(h.net, "loss", NULL, pair, 2)},
                             *const turned[] = {losses[1], losses[0]};
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_training_graph_create_with_losses(losses, 2, optimizer, NULL, &graph));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_training_graph_create_with_losses(turned, 2, optimizer, NULL, &graph));
    glcnn_kernel_destroy(&optimizer);
    glcnn_network_destroy(&h.net);
}

static void test_convolutions_get_the_sum(void)
{
    check_trunk(plain, true);
    check_trunk(connected, true);
}

static void test_batch_normalisations_get_the_sum(void)
{
    check_trunk(batch_normalised, true);
}

/* The sums of one are for the whole batch at once. */
static void test_instance_normalisations_get_the_sum(void)
{
    check_trunk(instance_normalised, false);
}

/* Each gradient goes back by its own sums, whether they update anything or not. */
static void test_gradients_pass_what_is_not_trained(void)
{
    check_trunk(partly_fixed, true);
}

/* ---- One step for each execution ---- */

static struct change run_and_collect(const struct heads *h, glcnn_graph *graph,
                                     glcnn_image *const *sources)
{
    set_weights(h->net, 7);
    set_gamma(h);
    run_graph(graph, sources);
    return collect(h);
}

/* The sums start over with each replay. */
static void test_replays_add_up_alike(void)
{
    glcnn_image *sources[2];
    struct heads h = make_heads(batch_normalised);
    use_descent(&h);
    glcnn_graph *graph = train_heads(&h, 7, 0);
    make_sources(graph, &h, sources);
    struct change first = run_and_collect(&h, graph, sources);
    struct change second = run_and_collect(&h, graph, sources);
    CU_ASSERT_FATAL(first.count == second.count);
    CU_ASSERT_EQUAL(memcmp(first.values, second.values, first.count * sizeof(double)), 0);
    free_change(&first);
    free_change(&second);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&h.net);
}

static void test_an_optimizer_steps_once(void)
{
    glcnn_image *sources[2];
    struct heads h = make_heads(batch_normalised);
    train_network(h.net, true);
    glcnn_graph *graph = train_heads(&h, 7, 0);
    make_sources(graph, &h, sources);
    for (int i = 0; i < 3; i++)
        run_graph(graph, sources);
    for (glcnn_image_node *at = h.trunk; at != h.x; at = filter_of(at)->sources[0]) {
        glcnn_kernel *optimizer = glcnn_kernel_optimizer(kernel_of(at));
        CU_ASSERT_PTR_NOT_NULL_FATAL(optimizer);
        CU_ASSERT_EQUAL(glcnn_optimizer(optimizer)->time_step, 3);
    }
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&h.net);
}

/* ---- Callbacks ---- */

/* Sees the gradients of one filter, on either device. */
struct watcher {
    size_t calls;
    float sum[4];
    glcnn_state *gradients;
};

static glcnn_status watch(void *context, glcnn_command_buffer *commands, glcnn_state *gradients,
                          glcnn_state *values, glcnn_state **updated)
{
    struct watcher *w = context;
    (void)commands;
    (void)values;
    (void)updated;
    w->calls++;
    w->gradients = gradients;
    return GLCNN_SUCCESS;
}

static bool watch_cpu(void *context, glcnn_state *gradients, glcnn_state *values)
{
    struct watcher *w = context;
    (void)values;
    w->calls++;
    GOOD(glcnn_buffer_read(glcnn_state_vector(gradients, "gradient_for_beta"), 0, sizeof w->sum,
                           w->sum));
    return false;
}

/* Gradients for the last normalisation's beta with the losses of `mask`, by a callback and, where
 * the state is exported, from the graph. */
static void watch_heads(unsigned mask, glcnn_training_style style, float sum[4])
{
    struct heads h = make_heads(batch_normalised);
    struct watcher w = {0};
    glcnn_image *sources[2];
    glcnn_filter_node *last = filter_of(h.trunk);
    const struct glcnn_data_source source = {
        .context = &w, .feature_channels = 4, .update = watch, .update_cpu = watch_cpu};
    set_gamma(&h);
    GOOD_FATAL(glcnn_kernel_set_data_source(glcnn_filter_node_kernel(last), &source));
    GOOD_FATAL(glcnn_filter_node_set_training_style(last, style));
    glcnn_state_node_set_export_from_graph(glcnn_filter_node_result_state(last), true);
    glcnn_graph *graph = train_heads(&h, mask, 0);
    make_sources(graph, &h, sources);
    run_graph(graph, sources);
    CU_ASSERT_EQUAL(w.calls, 1);
    glcnn_state *state = glcnn_graph_state(graph, glcnn_filter_node_result_state(last));
    CU_ASSERT_PTR_NOT_NULL_FATAL(state);
    GOOD(
        glcnn_buffer_read(glcnn_state_vector(state, "gradient_for_beta"), 0, 4 * sizeof *sum, sum));
    if (style == GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU)
        CU_ASSERT_EQUAL(memcmp(sum, w.sum, sizeof w.sum), 0);
    if (style == GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU)
        CU_ASSERT_PTR_EQUAL(w.gradients, state);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&h.net);
}

static void test_callbacks_come_once_with_the_sum(void)
{
    static const glcnn_training_style styles[] = {GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU,
                                                  GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU};
    for (size_t s = 0; s < 2; s++) {
        float all[4], expected[4] = {0};
        for (unsigned i = 0; i < HEADS; i++) {
            float one[4];
            watch_heads(1u << i, styles[s], one);
            for (size_t c = 0; c < 4; c++)
                expected[c] += one[c];
        }
        watch_heads((1u << HEADS) - 1, styles[s], all);
        CU_ASSERT_TRUE(arrays_near(all, expected, 4, 2e-6));
    }
}

/* A graph that a user's command buffer has. */
static void test_an_encoded_graph_adds_up_too(void)
{
    glcnn_image *sources[2], *results[HEADS];
    struct glcnn_memory_plan memory;
    struct change sum = change_of(batch_normalised, 7, false, &memory);
    struct heads h = make_heads(batch_normalised);
    use_descent(&h);
    set_gamma(&h);
    struct change before = collect(&h);
    glcnn_graph *graph = train_heads(&h, 7, 0);
    make_sources(graph, &h, sources);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, results));
    finish(&commands);
    struct change change = collect(&h);
    for (size_t i = 0; i < change.count; i++)
        change.values[i] -= before.values[i];
    check_change(&change, &sum);
    free_change(&before);
    free_change(&change);
    free_change(&sum);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&h.net);
}

/* ---- Files ---- */

struct bytes {
    uint8_t *data;
    size_t size;
};

static struct bytes bytes_of(glcnn_network *net)
{
    struct bytes b = {0};
    CU_ASSERT_EQUAL_FATAL(glcnn_network_serialize(net, true, &b.data, &b.size, NULL),
                          GLCNN_SUCCESS);
    return b;
}

/* One more step of all gradient nodes that the network has. */
static void train_on(glcnn_network *net, glcnn_image *const *sources)
{
    glcnn_image_node *results[64];
    const bool needed[64] = {false};
    size_t count = 0;
    glcnn_filter_node *node;
    glcnn_graph *graph;
    for (size_t i = 0; (node = glcnn_network_filter(net, i)) && count < 64; i++)
        if (glcnn_filter_node_forward(node, NULL))
            results[count++] = glcnn_filter_node_result(node);
    const struct glcnn_graph_descriptor d = {
        .results = results, .result_is_needed = needed, .result_count = count};
    GOOD_FATAL(glcnn_graph_create(net, &d, &graph));
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(glcnn_graph_source(graph, 0)), "x");
    run_graph(graph, sources);
    glcnn_graph_destroy(&graph);
}

/* The sums are one step there too. */
static void test_a_network_that_was_read_trains_alike(void)
{
    struct heads h = make_heads(batch_normalised), copy = {0};
    glcnn_image *sources[2];
    use_descent(&h);
    set_gamma(&h);
    glcnn_graph *graph = train_heads(&h, 7, 0);
    make_sources(graph, &h, sources);
    glcnn_graph_destroy(&graph);
    train_on(h.net, sources);
    struct bytes before = bytes_of(h.net);
    CU_ASSERT_EQUAL_FATAL(
        glcnn_network_deserialize(device, before.data, before.size, &copy.net, NULL),
        GLCNN_SUCCESS);
    use_descent(&copy);
    train_on(h.net, sources);
    train_on(copy.net, sources);
    struct bytes a = bytes_of(h.net), b = bytes_of(copy.net);
    CU_ASSERT_EQUAL_FATAL(a.size, b.size);
    CU_ASSERT_EQUAL(memcmp(a.data, b.data, a.size), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(a.data, before.data, a.size), 0);
    glcnn_serialize_destroy(before.data);
    glcnn_serialize_destroy(a.data);
    glcnn_serialize_destroy(b.data);
    destroy_images(sources, 2);
    glcnn_network_destroy(&copy.net);
    glcnn_network_destroy(&h.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_two_linear_heads_are_exact),
        UNIT_TEST(test_one_call_is_exact),
        UNIT_TEST(test_one_call_gets_the_sum),
        UNIT_TEST(test_wrong_losses_are_refused),
        UNIT_TEST(test_losses_of_losses_are_refused),
        UNIT_TEST(test_convolutions_get_the_sum),
        UNIT_TEST(test_batch_normalisations_get_the_sum),
        UNIT_TEST(test_instance_normalisations_get_the_sum),
        UNIT_TEST(test_gradients_pass_what_is_not_trained),
        UNIT_TEST(test_replays_add_up_alike),
        UNIT_TEST(test_an_optimizer_steps_once),
        UNIT_TEST(test_callbacks_come_once_with_the_sum),
        UNIT_TEST(test_an_encoded_graph_adds_up_too),
        UNIT_TEST(test_a_network_that_was_read_trains_alike),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("graph_losses", tests, argc, argv);
}
