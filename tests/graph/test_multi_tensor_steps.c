/* One pass that steps many kernels, one that packs the weights of many layers and one that averages
 * the statistics of many, which an execution records, against a pass for each vector and each layer,
 * which glcnn_graph_encode records: the same bits, whatever the optimizers are set to and whenever
 * that changes. */
#include "tests/graphs.h"

#include "device/buffer.h"
#include "device/traits.h"
#include "graph/compile.h"
#include "graph/node.h"
#include "record/program.h"

#define VECTORS    10 /* that the small network trains */
#define KERNELS    5
#define PACKED     5 /* weights that its passes read packed, at most */
#define NORMALISED 2 /* layers whose statistics are averaged */
#define STEPS      4
#define BATCH      5

/* A small network, a graph that trains it and the way in which it is run. */
struct trainee {
    struct cnn cnn;
    glcnn_graph *graph;
    glcnn_image *sources[2], *loss;
    glcnn_command_buffer *commands; /* NULL: the graph is executed */
};

static void kernels_of(const struct cnn *c, glcnn_kernel *kernels[KERNELS])
{
    glcnn_image_node *const nodes[KERNELS] = {c->convolved[0], c->normalised[0], c->convolved[1],
                                              c->normalised[1], c->scores};
    for (int i = 0; i < KERNELS; i++)
        kernels[i] = kernel_of(nodes[i]);
}

/* "KERNEL SETTINGS" */
static void set_optimizer_of(glcnn_network *net, const char *optimizer)
{
    char name[64];
    size_t length = strcspn(optimizer, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, optimizer);
    struct glcnn_training_descriptor d = {.optimizer = kernel_with(name, optimizer + length)};
    GOOD_FATAL(glcnn_network_set_training(net, &d));
    glcnn_kernel_destroy(&d.optimizer);
}

/* Where passes or stores are dear, executions make fewer images, and so have fewer passes for that
 * too; and they keep coefficients of normalisations. */
static struct trainee begin(const char *optimizer)
{
    device->info.traits.slow_image_stores = device->info.traits.recomputes_pixels = false;
    device->info.limits.output_resources =
        16; /* so that one pass packs the weights of all layers */
    reduce_by_passes();
    program_refuse(device, "coefficients_kept");
    struct trainee t = {.cnn = make_cnn()};
    set_optimizer_of(t.cnn.net, optimizer);
    t.graph = cnn_training_graph(&t.cnn, 0);
    make_cnn_sources(BATCH, t.sources);
    return t;
}

/* Records the plain form; the command buffer is committed once a step. */
static void record_plain(struct trainee *t)
{
    glcnn_image *results[MOST_ENDS + 1];
    t->commands = make_commands();
    GOOD_FATAL(glcnn_graph_encode(t->commands, t->graph, t->sources, results));
    t->loss = results[0];
}

/* Passes that executions save, but for those of optimizers. How many read their weights packed is for
 * the device's rows to say. */
static size_t saved_passes(const struct trainee *plain)
{
    size_t packed = 0;
    for (size_t i = 0; i < plain->commands->pass_count; i++)
        packed += strstr(plain->commands->passes[i].shader, "convolution_pack") != NULL;
    CU_ASSERT_FATAL(packed > 1 && packed <= PACKED);
    return packed - 1 + NORMALISED - 1;
}

static void step(struct trainee *t)
{
    if (!t->commands) {
        run_graph(t->graph, t->sources);
        return;
    }
    GOOD_FATAL(glcnn_command_buffer_commit(t->commands));
    GOOD_FATAL(glcnn_command_buffer_wait(t->commands));
}

static size_t dispatches_of_a_step(struct trainee *t)
{
    struct gl_count count;
    step(t); /* programs are made */
    count_gl(&count);
    step(t);
    stop_counting_gl();
    return count.dispatches;
}

static void end(struct trainee *t)
{
    glcnn_command_buffer_destroy(&t->commands);
    glcnn_image_destroy(&t->loss);
    glcnn_graph_destroy(&t->graph);
    destroy_images(t->sources, 2);
    glcnn_network_destroy(&t->cnn.net);
}

/* ---- Comparison ---- */

static void check_buffers(const glcnn_buffer *a, const glcnn_buffer *b)
{
    CU_ASSERT_EQUAL(!a, !b);
    if (!a || !b)
        return;
    CU_ASSERT_EQUAL_FATAL(glcnn_buffer_size(a), glcnn_buffer_size(b));
    float *found = vector_values(a), *expected = vector_values(b);
    CU_ASSERT_EQUAL(memcmp(found, expected, glcnn_buffer_size(a)), 0);
    free(found);
    free(expected);
}

/* Weights, statistics, the optimizers' vectors and their parameters. */
static void check_same(const struct trainee *a, const struct trainee *b)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    glcnn_kernel *found[KERNELS], *expected[KERNELS];
    kernels_of(&a->cnn, found);
    kernels_of(&b->cnn, expected);
    for (int k = 0; k < KERNELS; k++) {
        for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
            check_buffers(glcnn_kernel_vector(found[k], names[v]),
                          glcnn_kernel_vector(expected[k], names[v]));
            for (unsigned i = 0; i < 2; i++)
                check_buffers(glcnn_kernel_optimizer_vector(found[k], names[v], i),
                              glcnn_kernel_optimizer_vector(expected[k], names[v], i));
        }
        CU_ASSERT_EQUAL(glcnn_optimizer(glcnn_kernel_optimizer(found[k]))->time_step,
                        glcnn_optimizer(glcnn_kernel_optimizer(expected[k]))->time_step);
    }
}

static void check_moved(const struct trainee *t)
{
    size_t count;
    struct cnn fresh = make_cnn();
    float *found = cnn_parameters(&t->cnn, &count), *start = cnn_parameters(&fresh, &count);
    size_t moved = 0;
    for (size_t i = 0; i < count; i++)
        moved += found[i] != start[i];
    CU_ASSERT(moved > count / 2);
    free(found);
    free(start);
    glcnn_network_destroy(&fresh.net);
}

/* ---- The same bits ---- */

static const char *const optimizers[] = {
    "optimizer_stochastic_gradient_descent learning_rate=0.05",
    "optimizer_stochastic_gradient_descent learning_rate=0.05 momentum_scale=0.9",
    "optimizer_stochastic_gradient_descent learning_rate=0.05 momentum_scale=0.9 "
    "use_nesterov_momentum=1 weight_decay=0.1",
    "optimizer_stochastic_gradient_descent learning_rate=0.05 regularization_type=l1 "
    "regularization_scale=0.01 gradient_rescale=0.5",
    "optimizer_rms_prop learning_rate=0.01 apply_gradient_clipping=1 gradient_clip_min=-0.1 "
    "gradient_clip_max=0.1",
    "optimizer_adam learning_rate=0.01 regularization_type=l2 regularization_scale=0.01",
    "optimizer_adam learning_rate=0.01 weight_decay=0.1",
    "optimizer_stochastic_gradient_descent learning_rate=0.05 weight_decay=0.1 "
    "decays_weights_only=1",
    "optimizer_rms_prop learning_rate=0.01 weight_decay=0.1 decays_weights_only=1",
    "optimizer_adam learning_rate=0.01 weight_decay=0.1 decays_weights_only=1"};
#define OPTIMIZERS (sizeof optimizers / sizeof *optimizers)

static void step_by_each_optimizer(void)
{
    for (size_t i = 0; i < OPTIMIZERS; i++) {
        struct trainee joint = begin(optimizers[i]), plain = begin(optimizers[i]);
        record_plain(&plain);
        CU_ASSERT_EQUAL(dispatches_of_a_step(&plain) - dispatches_of_a_step(&joint),
                        VECTORS - 1 + saved_passes(&plain));
        for (int s = 2; s < STEPS; s++) {
            step(&joint);
            step(&plain);
        }
        check_same(&joint, &plain);
        check_moved(&joint);
        end(&joint);
        end(&plain);
    }
}

static void test_one_pass_steps_as_one_for_each(void)
{
    on_families(step_by_each_optimizer);
}

/* Normalisations without weight decay: two ways of setting, two passes. */
static void test_optimizers_that_differ_step_apart(void)
{
    struct trainee t[2];
    size_t dispatches[2];
    for (int i = 0; i < 2; i++) {
        t[i] = begin("optimizer_adam learning_rate=0.01 weight_decay=0.1");
        for (int n = 0; n < 2; n++)
            glcnn_optimizer(glcnn_kernel_optimizer(kernel_of(t[i].cnn.normalised[n])))
                ->weight_decay = 0;
        if (i)
            record_plain(&t[i]);
        dispatches[i] = dispatches_of_a_step(&t[i]);
    }
    CU_ASSERT_EQUAL(dispatches[1] - dispatches[0], VECTORS - 2 + saved_passes(&t[1]));
    step(&t[0]);
    step(&t[1]);
    check_same(&t[0], &t[1]);
    end(&t[0]);
    end(&t[1]);
}

/* Vectors of one name that are the same after a step. */
static size_t count_same(const struct trainee *a, const struct trainee *b, const char *vector)
{
    glcnn_kernel *of[2][KERNELS];
    size_t same = 0;
    kernels_of(&a->cnn, of[0]);
    kernels_of(&b->cnn, of[1]);
    for (int k = 0; k < KERNELS; k++) {
        const glcnn_buffer *x = glcnn_kernel_vector(of[0][k], vector),
                           *y = glcnn_kernel_vector(of[1][k], vector);
        if (!x)
            continue;
        float *values[] = {vector_values(x), vector_values(y)};
        same += memcmp(values[0], values[1], glcnn_buffer_size(x)) == 0;
        free(values[0]);
        free(values[1]);
    }
    return same;
}

/* All, none, or weights that decay: biases, gamma and beta go without it, weights the same way. */
static void weights_decay(bool plain)
{
    static const char *const decays[] = {"", " weight_decay=0.5",
                                         " weight_decay=0.5 decays_weights_only=1"};
    struct trainee t[3];
    for (int i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "optimizer_adam learning_rate=0.01%s", decays[i]);
        t[i] = begin(text);
        for (int k = 0; k < 2; k++) /* what begins at 0 has nothing that decays */
            GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(t[i].cnn.normalised[k]), "beta",
                                               (const float[8]){1, 2, 3, 4, 5, 6, 7, 8},
                                               k == 0 ? 6 : 8));
        if (plain)
            record_plain(&t[i]);
        step(&t[i]);
    }
    CU_ASSERT_EQUAL(count_same(&t[2], &t[1], "weights"), 3);
    CU_ASSERT_EQUAL(count_same(&t[2], &t[0], "weights"), 0);
    static const char *const others[] = {"gamma", "beta"};
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(count_same(&t[2], &t[0], others[i]), NORMALISED);
        CU_ASSERT_EQUAL(count_same(&t[2], &t[1], others[i]), 0);
    }
    CU_ASSERT_EQUAL(count_same(&t[2], &t[0], "biases"), 3);
    for (int i = 0; i < 3; i++)
        end(&t[i]);
}

static void test_weights_decay_and_nothing_else(void)
{
    weights_decay(false);
    weights_decay(true);
}

static void record_again(struct trainee *t)
{
    glcnn_command_buffer_destroy(&t->commands);
    glcnn_image_destroy(&t->loss);
    record_plain(t);
}

/* Changed for all kernels at once, it counts from the next execution on. */
static void test_what_decays_may_change(void)
{
    struct trainee t[2];
    for (int i = 0; i < 2; i++) {
        glcnn_kernel *kernels[KERNELS];
        t[i] = begin("optimizer_adam learning_rate=0.01 weight_decay=0.5");
        kernels_of(&t[i].cnn, kernels);
        for (int s = 0; s < 2; s++) {
            if (i == 1)
                record_again(&t[1]);
            step(&t[i]);
            for (int k = 0; k < KERNELS; k++)
                glcnn_optimizer(glcnn_kernel_optimizer(kernels[k]))->decays_weights_only = true;
        }
    }
    check_same(&t[0], &t[1]);
    end(&t[0]);
    end(&t[1]);
}

/* A device whose storage blocks are short gets several passes: vectors of 2048 bytes with the gaps
 * between them, four in a block. Statistics with their weights take two. Large GPUs take a sum in
 * more parts than there is room for. */
static void step_with_short_blocks(void)
{
    const struct glcnn_limits limits = device->info.limits;
    device->info.traits.shared_memory = false;
    struct trainee t[2];
    size_t dispatches[2];
    for (int i = 0; i < 2; i++) {
        t[i] = begin("optimizer_adam learning_rate=0.01");
        device->info.limits.storage_block_size = 8192;
        device->info.limits.buffer_offset_alignment = 2048;
        if (i)
            record_plain(&t[i]);
        dispatches[i] = dispatches_of_a_step(&t[i]);
        device->info.limits = limits;
    }
    CU_ASSERT_EQUAL(dispatches[1] - dispatches[0], VECTORS - 3 + PACKED - 3);
    check_same(&t[0], &t[1]);
    end(&t[0]);
    end(&t[1]);
}

static void test_no_vector_is_longer_than_a_block(void)
{
    on_families(step_with_short_blocks);
}

/* A learning rate changed for all goes on in one pass; changed for one it counts for that one from
 * the next step on. */
static void test_settings_may_change_at_any_time(void)
{
    struct trainee t[2];
    size_t dispatches[2][3];
    for (int i = 0; i < 2; i++) {
        glcnn_kernel *kernels[KERNELS];
        t[i] = begin("optimizer_adam learning_rate=0.01");
        kernels_of(&t[i].cnn, kernels);
        if (i)
            record_plain(&t[i]);
        dispatches[i][0] = dispatches_of_a_step(&t[i]);
        for (int k = 0; k < KERNELS; k++)
            glcnn_optimizer(glcnn_kernel_optimizer(kernels[k]))->learning_rate = 0.02f;
        dispatches[i][1] = dispatches_of_a_step(&t[i]);
        glcnn_optimizer(glcnn_kernel_optimizer(kernels[2]))->learning_rate = 0;
        dispatches[i][2] = dispatches_of_a_step(&t[i]);
        glcnn_optimizer(glcnn_kernel_optimizer(kernels[2]))->learning_rate = 0.02f;
        step(&t[i]);
        glcnn_optimizer(glcnn_kernel_optimizer(kernels[0]))->time_step += 3;
        step(&t[i]);
    }
    CU_ASSERT_EQUAL(dispatches[0][0], dispatches[0][1]);
    CU_ASSERT_EQUAL(dispatches[1][2] - dispatches[0][2], saved_passes(&t[1]));
    check_same(&t[0], &t[1]);
    end(&t[0]);
    end(&t[1]);
}

/* ---- Several recordings ---- */

/* Batches of two sizes are two recordings, with gradients of their own; both forms in turn too. */
static void test_recordings_step_the_same_vectors(void)
{
    struct trainee t[2];
    glcnn_image *few[2];
    make_cnn_sources(2, few);
    for (int i = 0; i < 2; i++) {
        t[i] = begin("optimizer_adam learning_rate=0.01");
        glcnn_image *results[MOST_ENDS + 1];
        glcnn_command_buffer *commands = make_commands();
        if (i)
            record_plain(&t[i]);
        step(&t[i]);
        if (i) {
            GOOD_FATAL(glcnn_graph_encode(commands, t[i].graph, few, results));
            GOOD_FATAL(glcnn_command_buffer_commit(commands));
            glcnn_image_destroy(&results[0]);
        } else {
            run_graph(t[i].graph, few);
        }
        step(&t[i]);
        struct trainee turned = t[i];
        if (!i)
            record_plain(&turned);
        turned.commands = i ? NULL : turned.commands;
        step(&turned);
        step(&t[i]);
        if (!i) {
            glcnn_command_buffer_destroy(&turned.commands);
            glcnn_image_destroy(&turned.loss);
        }
        glcnn_command_buffer_destroy(&commands);
    }
    check_same(&t[0], &t[1]);
    end(&t[0]);
    end(&t[1]);
    destroy_images(few, 2);
}

/* A second graph that trains a part of what the first does: its vectors lie among others already,
 * so it steps them one by one, and both train on. */
static void test_graphs_of_other_layers_train_on(void)
{
    struct trainee t[2];
    for (int i = 0; i < 2; i++) {
        glcnn_image *results[MOST_ENDS + 1];
        t[i] = begin("optimizer_stochastic_gradient_descent learning_rate=0.05 momentum_scale=0.9");
        if (i)
            record_plain(&t[i]);
        step(&t[i]);
        glcnn_image_node_set_stop_gradient(t[i].cnn.pooled[1], true);
        glcnn_graph *head = NULL;
        GOOD_FATAL(glcnn_training_graph_create(t[i].cnn.loss, NULL, NULL, &head));
        if (i) {
            glcnn_command_buffer *commands = make_commands();
            GOOD_FATAL(glcnn_graph_encode(commands, head, t[i].sources, results));
            finish(&commands);
            glcnn_image_destroy(&results[0]);
        } else {
            run_graph(head, t[i].sources);
        }
        step(&t[i]);
        glcnn_graph_destroy(&head);
        step(&t[i]);
    }
    check_same(&t[0], &t[1]);
    end(&t[0]);
    end(&t[1]);
}

/* ---- Branches ---- */

static glcnn_image_node *convolve(glcnn_image_node *x, int inputs, int outputs)
{
    char settings[128];
    snprintf(settings, sizeof settings,
             "input_feature_channels=%d output_feature_channels=%d kernel_width=3 kernel_height=3",
             inputs, outputs);
    return glcnn_node(x, "convolution", settings);
}

static glcnn_image_node *normalise(glcnn_image_node *x)
{
    return glcnn_node(x, "batch_normalization", "neuron_type=relu");
}

static glcnn_image_node *gather(glcnn_network *net, size_t count, glcnn_image_node *const *sources)
{
    return glcnn_filter_node_result(
        glcnn_filter_node_create(net, "concatenation", NULL, sources, count));
}

#define HALF 0.5f

static glcnn_image_node *bend(glcnn_image_node *x, const char *settings)
{
    return glcnn_node(x, "neuron", settings);
}

/* A network whose layers normalise what several filters make, of other channels than the first of
 * them, and the optimizer's settings; what normalises has no vectors before the first encode. */
struct branches {
    glcnn_network *net;
    glcnn_filter_node *loss;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static struct branches begin_branches(const char *optimizer)
{
    struct branches b = {.net = make_network()};
    glcnn_image_node *image = make_input(b.net, "image"), *labels = make_input(b.net, "labels");
    glcnn_image_node *a = convolve(image, 1, 6),
                     *c = convolve(normalise(bend(a, "neuron_type=prelu")), 6, 4);
    glcnn_image_node *two = gather(b.net, 2, (glcnn_image_node *[]){a, c});
    glcnn_image_node *d = convolve(normalise(two), 12, 5);
    glcnn_image_node *three = gather(b.net, 3, (glcnn_image_node *[]){d, c, two});
    glcnn_image_node *gate = glcnn_node(convolve(a, 6, 1), "neuron", "neuron_type=sigmoid");
    glcnn_image_node *gated = glcnn_node_binary(gate, normalise(three), "multiply",
                                                "primary_stride_in_feature_channels=0");
    glcnn_image_node *shuffled =
        glcnn_node(bend(normalise(gated), "neuron_type=shift"), "depth_to_space", "block_size=2");
    glcnn_image_node *pooled =
        glcnn_node(glcnn_node(shuffled, "instance_normalization", NULL), "pooling_average",
                   "kernel_width=24 kernel_height=24 "
                   "stride_in_pixels_x=24 stride_in_pixels_y=24 "
                   "padding=valid");
    glcnn_image_node *scores = glcnn_node(normalise(pooled), "fully_connected",
                                          "input_feature_channels=6 output_feature_channels=5 "
                                          "kernel_width=1 kernel_height=1");
    glcnn_image_node *const pair[] = {bend(scores, "neuron_type=scale shares_data=1"), labels};
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(pair[0]), "neuron_data", &(float){HALF}, 1));
    b.loss = glcnn_filter_node_create(b.net, "loss", "loss_type=soft_max_cross_entropy", pair, 2);
    GOOD_FATAL(glcnn_network_status(b.net));
    set_weights(b.net, 5);
    set_optimizer_of(b.net, optimizer);
    GOOD_FATAL(glcnn_training_graph_create(b.loss, NULL, NULL, &b.graph));
    make_cnn_sources(BATCH, b.sources);
    return b;
}

static void end_branches(struct branches *b)
{
    glcnn_graph_destroy(&b->graph);
    destroy_images(b->sources, 2);
    glcnn_network_destroy(&b->net);
}

/* Slopes begin at one of these. */
static void check_has_moved(const glcnn_buffer *vector)
{
    float *values = vector_values(vector);
    for (size_t i = 0; i < vector_count(vector); i++)
        CU_ASSERT(values[i] != 0 && values[i] != HALF);
    free(values);
}

/* All that a network trains, and what its optimizers keep of it. Returns how many vectors there
 * are. */
static size_t check_networks(const glcnn_network *a, const glcnn_network *b)
{
    static const char *const names[] = {"weights", "biases",   "gamma",      "beta",
                                        "mean",    "variance", "neuron_data"};
    glcnn_filter_node *node;
    size_t vectors = 0;
    for (size_t i = 0; (node = glcnn_network_filter(a, i)); i++)
        for (size_t v = 0;
             !glcnn_filter_node_forward(node, NULL) && v < sizeof names / sizeof *names; v++) {
            glcnn_kernel *found = glcnn_filter_node_kernel(node),
                         *expected = glcnn_filter_node_kernel(glcnn_network_filter(b, i));
            const glcnn_buffer *vector = glcnn_kernel_vector(found, names[v]);
            check_buffers(vector, glcnn_kernel_vector(expected, names[v]));
            for (unsigned k = 0; k < 2; k++) {
                const glcnn_buffer *state = glcnn_kernel_optimizer_vector(found, names[v], k);
                check_buffers(state, glcnn_kernel_optimizer_vector(expected, names[v], k));
                CU_ASSERT(!state || glcnn_buffer_size(state) == glcnn_buffer_size(vector));
            }
            vectors += vector != NULL;
            if (vector && strcmp(names[v], "neuron_data") == 0)
                check_has_moved(vector);
        }
    return vectors;
}

/* Asks for states before any encode has told a length, as one who loads a checkpoint does: they are
 * of the right length or not there yet. */
static void ask_for_states(const glcnn_network *net)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(net, i)); i++)
        glcnn_kernel_optimizer_vector(glcnn_filter_node_kernel(node), "gamma", 0);
}

static void test_branches_step_what_they_normalise(void)
{
    for (size_t i = 0; i < OPTIMIZERS; i++) {
        reduce_by_passes();
        struct branches joint = begin_branches(optimizers[i]),
                        plain = begin_branches(optimizers[i]);
        glcnn_image *results[1];
        glcnn_command_buffer *commands = make_commands();
        ask_for_states(joint.net);
        GOOD_FATAL(glcnn_graph_encode(commands, plain.graph, plain.sources, results));
        for (int s = 0; s < STEPS; s++) {
            run_graph(joint.graph, joint.sources);
            GOOD_FATAL(glcnn_command_buffer_commit(commands));
            GOOD_FATAL(glcnn_command_buffer_wait(commands));
        }
        CU_ASSERT_EQUAL(check_networks(joint.net, plain.net), 5 * 2 + 5 * 4 + 2 + 3);
        glcnn_image_destroy(&results[0]);
        glcnn_command_buffer_destroy(&commands);
        end_branches(&joint);
        end_branches(&plain);
    }
}

/* ---- Vectors that lie together ---- */

/* Writing one leaves its neighbours as they are. */
static void test_vectors_are_written_and_read_by_themselves(void)
{
    struct trainee t = begin("optimizer_adam learning_rate=0.01");
    glcnn_kernel *kernels[KERNELS];
    float values[5] = {1, 2, 3, 4, 5}, one = 6;
    size_t count;
    step(&t);
    kernels_of(&t.cnn, kernels);
    float *before = cnn_parameters(&t.cnn, &count);
    glcnn_buffer *biases = glcnn_kernel_vector(kernels[4], "biases");
    GOOD(glcnn_kernel_set_vector(kernels[4], "biases", values, 5));
    GOOD(glcnn_buffer_write(biases, 8, 4, &one));
    values[2] = one;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_buffer_write(biases, 20, 4, &one));
    float *after = cnn_parameters(&t.cnn, &count);
    CU_ASSERT_EQUAL(memcmp(after + count - 5, values, sizeof values), 0);
    CU_ASSERT_EQUAL(memcmp(after, before, (count - 5) * sizeof *after), 0);
    free(before);
    free(after);
    end(&t);
}

/* What zeros were is not thought to be zeros for ever: a second graph would be refused. */
static void test_a_step_ends_zeros(void)
{
    static const char settings[] = "input_feature_channels=1 output_feature_channels=1";
    const float zero = 0, one = 1;
    glcnn_network *net = make_network();
    glcnn_image_node *a = glcnn_node(make_input(net, "x"), "convolution", settings),
                     *b = glcnn_node(a, "convolution", settings);
    glcnn_image_node *const pair[] = {b, make_input(net, "t")};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    struct glcnn_training_descriptor d = {0};
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.1f, &d.optimizer));
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(a), "weights", &one, 1));
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(b), "weights", &zero, 1));
    glcnn_image *sources[] = {image_with(1, 1, 1, 1, &one), image_with(1, 1, 1, 1, &one)};
    for (int i = 0; i < 2; i++) {
        glcnn_graph *graph = NULL;
        GOOD_FATAL(glcnn_training_graph_create(loss, d.optimizer, NULL, &graph));
        run_graph(graph, sources);
        GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(a), "weights", &zero, 1));
        GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(a), "biases", &zero, 1));
        glcnn_graph_destroy(&graph);
    }
    glcnn_kernel_destroy(&d.optimizer);
    destroy_images(sources, 2);
    glcnn_network_destroy(&net);
}

/* ---- Weights packed apart ---- */

#define CHANNELS 64 /* with a window of nine taps, packed in some hundred texels */

/* A layer of few weights and one of many, trained to make `t` of `x`. */
struct layers {
    glcnn_network *net;
    glcnn_image_node *many;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static struct layers train_layers(void)
{
    struct layers l = {.net = make_network()};
    struct glcnn_training_descriptor d = {0};
    glcnn_image_node *few = glcnn_node(make_input(l.net, "x"), "convolution",
                                       "input_feature_channels=1 output_feature_channels=4");
    l.many = glcnn_node(few, "convolution",
                        "input_feature_channels=4 output_feature_channels=64 kernel_width=3 "
                        "kernel_height=3");
    glcnn_image_node *const pair[] = {l.many, make_input(l.net, "t")};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        l.net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    set_weights(l.net, 7);
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.01f, &d.optimizer));
    GOOD_FATAL(glcnn_training_graph_create(loss, d.optimizer, NULL, &l.graph));
    glcnn_kernel_destroy(&d.optimizer);
    l.sources[0] = make_image(2, 1, 6, 6);
    l.sources[1] = make_image(2, CHANNELS, 6, 6);
    fill_noise(l.sources[0], 3);
    fill_noise(l.sources[1], 4);
    return l;
}

static size_t passes_with(const struct layers *l, const char *shader)
{
    const glcnn_command_buffer *commands = l->graph->executing->command_buffer;
    size_t count = 0;
    for (size_t i = 0; i < commands->pass_count; i++)
        count += strstr(commands->passes[i].shader, shader) != NULL;
    return count;
}

/* Weights of the large layer after a step; `apart`: of a device whose stores are dear. */
static float *packed(bool apart)
{
    device->info.traits.slow_image_stores = device->info.traits.recomputes_pixels = apart;
    struct layers l = train_layers();
    run_graph(l.graph, l.sources);
    CU_ASSERT_EQUAL(passes_with(&l, "convolution_pack.comp") > 0, apart);
    CU_ASSERT_EQUAL(passes_with(&l, "convolution_pack_rows.comp"), 1);
    float *weights = vector_values(glcnn_kernel_vector(kernel_of(l.many), "weights"));
    glcnn_graph_destroy(&l.graph);
    destroy_images(l.sources, 2);
    glcnn_network_destroy(&l.net);
    return weights;
}

static void test_many_weights_are_packed_apart_where_stores_are_dear(void)
{
    const struct glcnn_device_traits traits = device->info.traits;
    device->info.traits = traits_find("llvmpipe", "llvmpipe"); /* others pack less */
    float *together = packed(false), *apart = packed(true);
    device->info.traits = traits;
    CU_ASSERT_EQUAL(memcmp(together, apart, CHANNELS * 9 * 4 * sizeof *apart), 0);
    free(together);
    free(apart);
}

/* ---- Joining ---- */

#define PARTS 3

static void make_parts(glcnn_buffer *parts[PARTS])
{
    for (int i = 0; i < PARTS; i++) {
        const float values[] = {(float)i, (float)i + 0.5f};
        GOOD_FATAL(glcnn_buffer_create(device, (size_t)(i + 1) * 4, &parts[i]));
        GOOD_FATAL(glcnn_buffer_write(parts[i], 0, 4, values));
    }
}

static void destroy_parts(glcnn_buffer *parts[PARTS])
{
    for (int i = 0; i < PARTS; i++)
        glcnn_buffer_destroy(&parts[i]);
}

static void test_joined_buffers_lie_in_order(void)
{
    glcnn_buffer *parts[PARTS], *whole = NULL, *again = NULL, *other = NULL;
    make_parts(parts);
    GOOD_FATAL(buffer_merge(parts, PARTS, &whole));
    CU_ASSERT_EQUAL(glcnn_buffer_size(whole), buffer_merged_size(parts, PARTS));
    float *values = vector_values(whole);
    for (int i = 0; i < PARTS; i++) {
        float *own = vector_values(parts[i]);
        CU_ASSERT_EQUAL((int)own[0], i);
        CU_ASSERT_EQUAL(parts[i]->offset % device->info.limits.buffer_offset_alignment, 0);
        CU_ASSERT_EQUAL((int)values[parts[i]->offset / 4], i);
        free(own);
    }
    for (size_t i = 0, sum = 0; i < vector_count(whole); i++) {
        sum += values[i] != 0;
        CU_ASSERT_FATAL(i + 1 < vector_count(whole) || sum == PARTS - 1); /* 0 between them */
    }
    free(values);
    GOOD(buffer_merge(parts, PARTS, &again));
    CU_ASSERT_PTR_EQUAL(again, whole);
    GOOD(buffer_merge(parts, PARTS - 1, &other)); /* not all of the whole */
    CU_ASSERT_PTR_NULL(other);
    glcnn_buffer *const turned[] = {parts[1], parts[0], parts[2]};
    GOOD(buffer_merge(turned, PARTS, &other));
    CU_ASSERT_PTR_NULL(other);
    glcnn_buffer_destroy(&again);
    glcnn_buffer_destroy(&whole); /* the parts keep it */
    CU_ASSERT_EQUAL(*(values = vector_values(parts[2])), 2);
    free(values);
    destroy_parts(parts);
}

/* Passes by part and by whole wait for each other; parts do not wait for parts. */
static void test_parts_and_whole_wait_for_each_other(void)
{
    glcnn_buffer *parts[PARTS], *whole = NULL;
    make_parts(parts);
    GOOD_FATAL(buffer_merge(parts, PARTS, &whole));
    buffer_mark_written(parts[0], 1000);
    buffer_mark_read(parts[1], 1001);
    CU_ASSERT_EQUAL(buffer_hazard(whole).written, 1000);
    CU_ASSERT_EQUAL(buffer_hazard(whole).read, 1001);
    CU_ASSERT_EQUAL(buffer_hazard(parts[0]).read, 0);
    CU_ASSERT_EQUAL(buffer_hazard(parts[2]).written, 0);
    buffer_mark_written(whole, 1002);
    for (int i = 0; i < PARTS; i++)
        CU_ASSERT_EQUAL(buffer_hazard(parts[i]).written, 1002);
    glcnn_buffer_destroy(&whole);
    destroy_parts(parts);
}

/* ---- Memory ---- */

/* Bytes of the buffer objects that there are, but for uniforms: a graph's passes have more of those
 * than others, about where images lie. */
static struct gl real;
static struct {
    GLuint bound[1 << 16]; /* by target */
    size_t size[1 << 16];  /* by name */
    size_t bytes;
} living;

static void GL_APIENTRY note_bind(GLenum target, GLuint name)
{
    living.bound[target & 0xffff] = name;
    real.BindBuffer(target, name);
}

static void GL_APIENTRY note_data(GLenum target, GLsizeiptr size, const void *data, GLenum usage)
{
    size_t *at = &living.size[living.bound[target & 0xffff] & 0xffff];
    if (target != GL_UNIFORM_BUFFER) {
        living.bytes += (size_t)size - *at;
        *at = (size_t)size;
    }
    real.BufferData(target, size, data, usage);
}

static void GL_APIENTRY note_delete(GLsizei count, const GLuint *names)
{
    for (GLsizei i = 0; i < count; i++) {
        living.bytes -= living.size[names[i] & 0xffff];
        living.size[names[i] & 0xffff] = 0;
    }
    real.DeleteBuffers(count, names);
}

/* Bytes that a few steps take. */
static size_t bytes_of_steps(bool plain)
{
    size_t before = living.bytes;
    struct trainee t = begin("optimizer_adam learning_rate=0.01");
    if (plain)
        record_plain(&t);
    step(&t);
    size_t bytes = living.bytes - before;
    end(&t);
    return bytes;
}

#define ROW_BYTES    144
#define KEPT_UPLOADS 8 /* more than which the device keeps no memory for */

/* What lies together takes no more than what it took apart, but for the gaps, a table of what is
 * packed, and for each average what is kept of it and what comes in. */
static void test_memory_does_not_grow(void)
{
    real = device->gl;
    device->gl.BindBuffer = note_bind;
    device->gl.BufferData = note_data;
    device->gl.DeleteBuffers = note_delete;
    for (int i = 0; i < KEPT_UPLOADS; i++) /* until all that the device keeps is made */
        bytes_of_steps(i % 2);
    size_t apart = bytes_of_steps(true), together = bytes_of_steps(false);
    device->gl = real;
    size_t gaps = (4 * VECTORS + 8 * NORMALISED) * device->info.limits.buffer_offset_alignment;
    CU_ASSERT(apart > 0);
    CU_ASSERT(together > 0);
    CU_ASSERT(together <= apart + gaps + PACKED * ROW_BYTES);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_one_pass_steps_as_one_for_each),
        UNIT_TEST(test_optimizers_that_differ_step_apart),
        UNIT_TEST(test_weights_decay_and_nothing_else),
        UNIT_TEST(test_what_decays_may_change),
        UNIT_TEST(test_no_vector_is_longer_than_a_block),
        UNIT_TEST(test_settings_may_change_at_any_time),
        UNIT_TEST(test_recordings_step_the_same_vectors),
        UNIT_TEST(test_graphs_of_other_layers_train_on),
        UNIT_TEST(test_branches_step_what_they_normalise),
        UNIT_TEST(test_vectors_are_written_and_read_by_themselves),
        UNIT_TEST(test_a_step_ends_zeros),
        UNIT_TEST(test_many_weights_are_packed_apart_where_stores_are_dear),
        UNIT_TEST(test_joined_buffers_lie_in_order),
        UNIT_TEST(test_parts_and_whole_wait_for_each_other),
        UNIT_TEST(test_memory_does_not_grow),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("multi_tensor_steps", tests, argc, argv);
}
