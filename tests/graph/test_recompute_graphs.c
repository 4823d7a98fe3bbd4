/* Training within a memory budget: images that are dropped and recomputed give the same bits as
 * those that wait, in the networks of the tool and in random ones; and textures never take more than
 * the budget. */
#include "tests/graphs.h"

#include <inttypes.h>
#include <math.h>

#include "device/traits.h"
#include "base/random.h"
#include "graph/budget.h"
#include "graph/compile.h"
#include "task/model.h"

#define STEPS 3
#define BATCH 4

/* Of the graphs' intermediate images. */
static glcnn_channel_format format = GLCNN_CHANNEL_FORMAT_FLOAT32;

/* Plans may differ in the order of sums where the batch runs whole, too. */
static bool sums_move;

static void good(bool done)
{
    if (!done)
        fprintf(stderr, "\n  %s\n", glcnn_device_error(device));
    CU_ASSERT_TRUE_FATAL(done);
}

/* ---- The networks of the tool ---- */

static const struct form form = {16, 16, 3, 10};

struct outcome {
    float *values;
    size_t count;
    struct glcnn_memory_plan memory;
    uint64_t least;
};

static void add_values(struct outcome *o, const float *values, size_t count)
{
    o->values = realloc(o->values, (o->count + count) * sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(o->values);
    memcpy(o->values + o->count, values, count * sizeof *values);
    o->count += count;
}

static void add_network(struct outcome *o, const glcnn_network *network)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(network, i)); i++)
        for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
            glcnn_buffer *buffer = glcnn_kernel_vector(glcnn_filter_node_kernel(node), names[v]);
            float *values = buffer ? vector_values(buffer) : NULL;
            if (values)
                add_values(o, values, vector_count(buffer));
            free(values);
        }
}

static struct model make_model(const char *name, uint32_t batch)
{
    struct model model;
    good(model_create(device, net_find(name), &form, batch, &model));
    train_network(model.network, false);
    GOOD_FATAL(glcnn_network_initialise(model.network, 1));
    return model;
}

static void run_steps(struct runner *runner, uint32_t batch, int steps, struct outcome *o)
{
    uint64_t random = 7;
    size_t pixels = (size_t)form.width * form.height * form.channels * batch;
    float *images = calloc(pixels, sizeof *images), *losses = calloc(batch, sizeof *losses);
    uint32_t *labels = calloc(batch, sizeof *labels);
    for (int step = 0; step < steps; step++) {
        for (size_t i = 0; i < pixels; i++)
            images[i] = (float)(random_next(&random) >> 48) / 65536;
        for (uint32_t n = 0; n < batch; n++)
            labels[n] = (uint32_t)(random_next(&random) % form.classes);
        good(runner_run(runner, images, &(struct glcnn_data_batch){.labels = labels}, losses));
        add_values(o, losses, batch);
    }
    free(images), free(labels), free(losses);
}

static glcnn_status find_least(const struct runner *runner, uint64_t *bytes)
{
    const struct glcnn_image_descriptor sources[] = {
        *glcnn_image_get_descriptor(runner->images[0]),
        *glcnn_image_get_descriptor(runner->labels[0])};
    return glcnn_graph_least_memory(runner->graph, sources, bytes);
}

static struct outcome train_net_for(const char *name, uint32_t batch, uint64_t budget, int steps)
{
    struct outcome o = {0};
    struct runner runner;
    struct model model = make_model(name, batch);
    good(runner_create_training(
        &model, batch, &(struct glcnn_graph_descriptor){.memory_budget = budget, .format = format},
        &runner));
    good(runner_memory(&runner, &o.memory));
    GOOD(find_least(&runner, &o.least));
    run_steps(&runner, batch, steps, &o);
    add_network(&o, model.network);
    runner_destroy(&runner);
    model_destroy(&model);
    return o;
}

static struct outcome train_net(const char *name, uint32_t batch, uint64_t budget)
{
    return train_net_for(name, batch, budget, STEPS);
}

/* Bits where the batch runs whole and sums do not move; sums of parts are added up in another order, after which what
 * float16 stores may be its neighbour. */
static void compare(const struct outcome *found, const struct outcome *expected)
{
    CU_ASSERT_EQUAL_FATAL(found->count, expected->count);
    double tolerance = format == GLCNN_CHANNEL_FORMAT_FLOAT16 ? 2e-3 : 1e-4;
    if (found->memory.sub_batches == 1 && !sums_move)
        CU_ASSERT(memcmp(found->values, expected->values, found->count * sizeof(float)) == 0)
    else
        CU_ASSERT(arrays_near(found->values, expected->values, found->count, tolerance));
    for (size_t i = 0; i < expected->count; i++)
        CU_ASSERT(isfinite(expected->values[i]));
}

/* Encodes that were recomputed, all and those of batches in parts. */
struct tally {
    uint32_t all, in_parts;
};

static void count(struct tally *tally, const struct glcnn_memory_plan *memory)
{
    tally->all += memory->recomputed;
    tally->in_parts += memory->sub_batches > 1 ? memory->recomputed : 0;
}

static void check_budget(const char *name, const struct outcome *expected, uint64_t budget,
                         struct tally *tally)
{
    struct outcome found = train_net(name, BATCH, budget);
    CU_ASSERT(found.memory.planned <= budget);
    CU_ASSERT_EQUAL(found.least, expected->least);
    compare(&found, expected);
    printf("\n    %s: %" PRIu64 " of %" PRIu64
           " bytes (%.0f %%), %u parts, %u recomputed, +%.1f %%",
           name, found.memory.planned, budget,
           100. * (double)budget / (double)expected->memory.planned, found.memory.sub_batches,
           found.memory.recomputed, found.memory.extra_time * 100);
    count(tally, &found.memory);
    free(found.values);
}

/* A byte less than the least is refused with a message that says how much it is. */
static void refuse_less(const char *name, uint64_t least)
{
    char number[32];
    struct runner runner;
    struct glcnn_memory_plan memory;
    struct model model = make_model(name, BATCH);
    good(runner_create_training(
        &model, BATCH, &(struct glcnn_graph_descriptor){.memory_budget = least - 1}, &runner));
    CU_ASSERT_FALSE(runner_memory(&runner, &memory));
    snprintf(number, sizeof number, " %" PRIu64 " bytes", least);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), number));
    runner_destroy(&runner);
    model_destroy(&model);
}

/* All but lenet normalise each batch: statistics are those of the whole one, or parameters would be
 * far off. */
static void test_nets_train_with_the_same_bits(void)
{
    static const char *const names[] = {"lenet", "small", "resnet8", "mobilenet-tiny"};
    struct tally tally = {0};
    reduce_by_passes();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct outcome expected = train_net(names[i], BATCH, 0);
        uint64_t most = expected.memory.planned, least = expected.least;
        CU_ASSERT_EQUAL(expected.memory.recomputed, 0);
        CU_ASSERT(least < most);
        for (int k = 3; k >= 0; k--)
            check_budget(names[i], &expected, least + (most - least) * (uint64_t)k / 4, &tally);
        refuse_less(names[i], least);
        free(expected.values);
    }
    CU_ASSERT(tally.all > tally.in_parts);
    CU_ASSERT(tally.in_parts > 0);
}

/* ---- What a pass costs ---- */

/* And whether passes run in waves. */
static struct glcnn_memory_plan plan_net(const char *name, uint32_t batch, uint64_t budget,
                                         bool *in_levels)
{
    struct glcnn_memory_plan plan;
    struct runner runner;
    struct model model = make_model(name, batch);
    good(runner_create_training(
        &model, batch, &(struct glcnn_graph_descriptor){.memory_budget = budget}, &runner));
    good(runner_memory(&runner, &plan));
    *in_levels = runner.graph->compiled->choice.arrangement == ARRANGE_IN_LEVELS;
    runner_destroy(&runner);
    model_destroy(&model);
    return plan;
}

#define BUDGETS 16

/* Parts of the batch where a pass is as dear as so many bytes, under budgets of [least, most], added
 * up. */
static uint32_t count_parts(const char *name, uint32_t pass_bytes, uint64_t least, uint64_t most)
{
    uint32_t parts = 0, bytes = device->info.traits.pass_bytes;
    bool in_levels;
    device->info.traits.pass_bytes = pass_bytes;
    for (uint64_t k = 0; k <= BUDGETS; k++)
        parts +=
            plan_net(name, 8 * BATCH, least + (most - least) * k / BUDGETS, &in_levels).sub_batches;
    device->info.traits.pass_bytes = bytes;
    return parts;
}

/* Each part runs all passes. What parts a single budget takes depends on what happens to fit, so
 * both are given the same ones, all the way from the least to what leaves nothing to choose. */
static void test_dear_passes_run_in_fewer_parts(void)
{
    struct outcome whole = train_net("small", 8 * BATCH, 0);
    uint32_t dear = count_parts("small", 1 << 24, whole.least, whole.memory.planned);
    uint32_t cheap = count_parts("small", 64, whole.least, whole.memory.planned);
    CU_ASSERT(dear < cheap);
    free(whole.values);
}

/* What its readers make keeps all that it is made of, which is about half of the memory. With
 * all of it stored 27 images are recomputed, of which some could be left to readers. So it is where
 * stores are dear; elsewhere it may be otherwise. */
static void test_what_is_stored_is_chosen_by_image(void)
{
    bool in_levels;
    const struct glcnn_device_traits traits = device->info.traits;
    device->info.traits = traits_find("llvmpipe", "llvmpipe");
    struct glcnn_memory_plan whole = plan_net("resnet8", 64, 0, &in_levels);
    uint64_t budget = whole.planned / 16 * 9;
    struct glcnn_memory_plan part = plan_net("resnet8", 64, budget, &in_levels);
    CU_ASSERT(part.planned <= budget);
    CU_ASSERT_EQUAL(part.sub_batches, 1);
    CU_ASSERT(part.recomputed > 0);
    CU_ASSERT(part.recomputed < 20);
    CU_ASSERT(part.extra_time > 0);
    device->info.traits = traits;
}

/* As much as the search is known to reach; what it estimates and what is then recorded differ a little,
 * so that more of it may end at either side of that. */
static void test_half_of_the_memory_costs_about_a_quarter(void)
{
    bool in_levels;
    const struct glcnn_device_traits traits = device->info.traits;
    device->info.traits = traits_find("llvmpipe", "llvmpipe");
    uint64_t budget = plan_net("resnet8", 64, 0, &in_levels).planned / 2;
    struct glcnn_memory_plan half = plan_net("resnet8", 64, budget, &in_levels);
    CU_ASSERT(half.planned <= budget);
    CU_ASSERT_EQUAL(half.sub_batches, 1);
    CU_ASSERT(half.extra_time < 0.27);
    device->info.traits = traits;
}

static size_t most_workspace(const char *name, uint32_t batch, uint64_t budget)
{
    struct runner runner;
    struct glcnn_memory_plan plan;
    struct model model = make_model(name, batch);
    good(runner_create_training(
        &model, batch, &(struct glcnn_graph_descriptor){.memory_budget = budget}, &runner));
    good(runner_memory(&runner, &plan));
    size_t workspace = runner.graph->compiled->choice.workspace;
    runner_destroy(&runner);
    model_destroy(&model);
    return workspace;
}

/* Large GPUs add up sums in so many parts that these would take a sixth of the memory, in buffers,
 * which images cannot have. There are fewer, with a budget and without one: the same bits. */
static void test_part_sums_are_as_many_within_a_budget(void)
{
    const struct glcnn_device_traits traits = device->info.traits;
    device->info.traits = traits_find("NVIDIA", "NVIDIA");
    reduce_by_passes();
    struct outcome whole = train_net_for("resnet8", 256, 0, 1);
    struct outcome half = train_net_for("resnet8", 256, whole.memory.planned / 2, 1);
    CU_ASSERT(half.memory.planned <= whole.memory.planned / 2);
    CU_ASSERT_EQUAL(half.memory.sub_batches, 1);
    CU_ASSERT(half.memory.recomputed > 0);
    CU_ASSERT(half.memory.extra_time < 0.5);
    compare(&half, &whole);
    if (implementations_exist("weights_winograd")) /* otherwise the sums have no such parts */
        CU_ASSERT(most_workspace("resnet8", 256, 0) > 0);
    CU_ASSERT_EQUAL(most_workspace("resnet8", 256, whole.memory.planned / 2),
                    most_workspace("resnet8", 256, 0));
    device->info.traits = traits;
    free(whole.values), free(half.values);
}

/* Forward images that the gradients of kernels of a name read, by the model of a plan. */
static size_t forward_reads(const struct recording *r, const struct recompute_model *m,
                            const char *name)
{
    size_t found = 0;
    for (size_t s = 0; s < m->step_count; s++) {
        const struct glcnn_filter_node *node = r->graph->filters[r->steps[s].filter].node;
        if (strcmp(node->kernel->descriptor->name, name) != 0)
            continue;
        for (size_t i = 0; i < m->steps[s].read_count; i++)
            for (size_t k = 0; k < m->forward_count; k++)
                found += m->steps[k].results[0] == m->steps[s].reads[i];
    }
    return found;
}

/* The gradient of a sum is that which arrives: what was added need not be there. */
static void test_gradients_of_sums_need_no_forward_image(void)
{
    bool stored[512];
    struct runner runner;
    struct recording r;
    struct recompute_model m;
    glcnn_command_buffer *buffer;
    struct model model = make_model("resnet8", BATCH);
    memset(stored, true, sizeof stored);
    good(runner_create_training(&model, BATCH, &(struct glcnn_graph_descriptor){0}, &runner));
    CU_ASSERT_FATAL(runner.graph->image_count <= sizeof stored);
    glcnn_image *const sources[] = {runner.images[0], runner.labels[0]};
    GOOD_FATAL(glcnn_command_buffer_create(device, &buffer));
    buffer->deferred = true;
    GOOD_FATAL(recording_make(&r, runner.graph, buffer, sources,
                              &(struct memory_choice){.sub_batches = 1, .stored = stored}));
    CU_ASSERT_TRUE_FATAL(recompute_model_make(&m, &r, NULL, 1));
    CU_ASSERT_EQUAL(forward_reads(&r, &m, "add_gradient"), 0);
    CU_ASSERT(forward_reads(&r, &m, "convolution_gradient") > 0);
    recompute_model_free(&m);
    recording_free(&r);
    glcnn_command_buffer_destroy(&buffer);
    runner_destroy(&runner);
    model_destroy(&model);
}

/* Waves take memory of which some is left. */
static void test_dear_passes_run_beside_each_other_within_a_budget(void)
{
    uint32_t bytes = device->info.traits.pass_bytes;
    bool in_levels;
    device->info.traits.pass_bytes = 1 << 24;
    struct glcnn_memory_plan whole = plan_net("resnet8", 64, 0, &in_levels);
    CU_ASSERT_TRUE(in_levels);
    CU_ASSERT_EQUAL(whole.extra_time, 0);
    struct glcnn_memory_plan part = plan_net("resnet8", 64, whole.planned / 4 * 3, &in_levels);
    CU_ASSERT_TRUE(in_levels);
    CU_ASSERT(part.recomputed > 0);
    CU_ASSERT(part.planned <= whole.planned / 4 * 3);
    device->info.traits.pass_bytes = bytes;
}

/* ---- Random networks ---- */

#define LAYERS   12
#define CHANNELS 8
#define SIDE     12

/* Of one input, one after the other; layers of several read earlier ones too. */
struct random_net {
    glcnn_network *net;
    glcnn_image_node *images[LAYERS + 1];
    glcnn_filter_node *loss, *ends[MOST_ENDS];
    size_t end_count;
};

static glcnn_image_node *convolve(glcnn_image_node *x, unsigned inputs, unsigned side)
{
    char settings[160];
    snprintf(settings, sizeof settings,
             "input_feature_channels=%u output_feature_channels=%u kernel_width=%u "
             "kernel_height=%u",
             inputs, CHANNELS, side, side);
    return glcnn_node(x, "convolution", settings);
}

static glcnn_image_node *concatenate(glcnn_image_node *a, glcnn_image_node *b)
{
    glcnn_image_node *const pair[] = {a, b};
    glcnn_filter_node *node =
        glcnn_filter_node_create(filter_of(a)->network, "concatenation", NULL, pair, 2);
    return convolve(glcnn_filter_node_result(node), 2 * CHANNELS, 1);
}

static glcnn_image_node *add_layer(glcnn_image_node *x, glcnn_image_node *earlier, uint32_t kind)
{
    switch (kind) {
    case 0:
        return convolve(x, CHANNELS, 3);
    case 1:
        return glcnn_node(x, "batch_normalization", "epsilon=1e-3 neuron_type=relu");
    case 2:
        return glcnn_node(x, "dropout", "keep_probability=0.7 seed=3");
    case 3:
        return glcnn_node_binary(x, earlier, "add", NULL);
    case 4:
        return concatenate(x, earlier);
    case 5:
        return glcnn_node(x, "pooling_max",
                          "kernel_width=3 kernel_height=3 stride_in_pixels_x=1 "
                          "stride_in_pixels_y=1");
    case 6:
        return glcnn_node_binary(x, earlier, "multiply", NULL);
    default:
        return glcnn_node(x, "neuron", "neuron_type=tanh");
    }
}

static void end_random(struct random_net *r, glcnn_image_node *last, glcnn_image_node *labels,
                       uint32_t seed)
{
    glcnn_image_node *scores =
        glcnn_node(last, "fully_connected",
                   "input_feature_channels=8 output_feature_channels=5 kernel_width=12 "
                   "kernel_height=12");
    glcnn_image_node *const pair[] = {scores, labels};
    r->loss = glcnn_filter_node_create(
        r->net, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.0009765625",
        pair, 2);
    r->end_count =
        glcnn_training_graph_with_source_gradient(r->loss, NULL, NULL, NULL, r->ends, MOST_ENDS);
    GOOD_FATAL(glcnn_network_status(r->net));
    set_weights(r->net, seed);
    train_network(r->net, false);
}

/* Layers that readers make, of which three read the last. */
static struct random_net make_heads(void)
{
    struct random_net r = {.net = make_network()};
    glcnn_image_node *x = convolve(make_input(r.net, "image"), 1, 3), *sum = NULL;
    glcnn_image_node *labels = make_input(r.net, "labels");
    x = glcnn_node(glcnn_node(x, "neuron", "neuron_type=sigmoid"), "neuron",
                   "neuron_type=elu neuron_a=1");
    for (int i = 0; i < 3; i++) {
        glcnn_image_node *head = glcnn_node(convolve(x, CHANNELS, 3), "neuron", "neuron_type=tanh");
        sum = sum ? glcnn_node_binary(sum, head, "add", NULL) : head;
    }
    end_random(&r, sum, labels, 9);
    return r;
}

/* Seed 0 is the network of heads. */
static struct random_net make_random(uint32_t seed, bool drops)
{
    if (seed == 0)
        return make_heads();
    struct random_net r = {.net = make_network()};
    r.images[0] = convolve(make_input(r.net, "image"), 1, 3);
    glcnn_image_node *labels = make_input(r.net, "labels");
    for (uint32_t i = 1; i <= LAYERS; i++) {
        uint32_t kind = drops && i == 2 ? 2 : below(&seed, 8);
        if (kind == 2 && !drops)
            kind = 1;
        r.images[i] = add_layer(r.images[i - 1], r.images[below(&seed, i)], kind);
    }
    end_random(&r, r.images[LAYERS], labels, seed);
    return r;
}

static void run_step(glcnn_graph *graph, glcnn_image *const *sources, const glcnn_image_node *loss,
                     struct outcome *o)
{
    run_graph(graph, sources);
    float *losses = result_values(graph, loss);
    add_values(o, losses, BATCH);
    free(losses);
}

static glcnn_graph *graph_within(const struct random_net *r, uint64_t budget)
{
    glcnn_image_node *results[MOST_ENDS + 1] = {glcnn_filter_node_loss(r->loss)};
    glcnn_graph *graph;
    bool is_needed[MOST_ENDS + 1] = {true};
    for (size_t i = 0; i < r->end_count; i++)
        results[i + 1] = glcnn_filter_node_result(r->ends[i]);
    GOOD_FATAL(glcnn_graph_create(r->net,
                                  &(struct glcnn_graph_descriptor){.results = results,
                                                                   .result_is_needed = is_needed,
                                                                   .result_count = r->end_count + 1,
                                                                   .format = format,
                                                                   .memory_budget = budget},
                                  &graph));
    return graph;
}

/* The first step is one of a graph without a budget: what kernels have of their own is made then, and
 * what is made from then on is the graph's. */
static struct outcome train_random(uint32_t seed, bool drops, uint64_t budget)
{
    struct outcome o = {0};
    glcnn_image *sources[2];
    struct random_net r = make_random(seed, drops);
    glcnn_image_node *loss = glcnn_filter_node_loss(r.loss);
    glcnn_graph *before = graph_within(&r, 0), *graph = graph_within(&r, budget);
    make_cnn_sources(BATCH, sources);
    run_step(before, sources, loss, &o);
    glcnn_graph_destroy(&before);
    drop_stores();
    uint64_t others = gpu_bytes();
    const struct glcnn_image_descriptor descriptors[] = {*glcnn_image_get_descriptor(sources[0]),
                                                         *glcnn_image_get_descriptor(sources[1])};
    GOOD_FATAL(glcnn_graph_memory(graph, descriptors, &o.memory));
    if (!budget)
        GOOD_FATAL(glcnn_graph_least_memory(graph, descriptors, &o.least));
    for (int step = 1; step < STEPS; step++)
        run_step(graph, sources, loss, &o);
    CU_ASSERT_EQUAL(gpu_bytes() - others, o.memory.planned);
    add_network(&o, r.net);
    destroy_images(sources, 2);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&r.net);
    return o;
}

/* How many images were recomputed, under four budgets. */
static uint32_t check_random(uint32_t seed, bool drops)
{
    uint32_t recomputed = 0;
    struct outcome expected = train_random(seed, drops, 0);
    uint64_t most = expected.memory.planned, least = expected.least;
    for (uint64_t k = 4; k-- > 0 && least < most;) {
        uint64_t budget = least + (most - least) * k / 4;
        struct outcome found = train_random(seed, drops, budget);
        CU_ASSERT(found.memory.planned <= budget);
        CU_ASSERT(!drops || found.memory.sub_batches == 1);
        compare(&found, &expected);
        recomputed += found.memory.recomputed;
        free(found.values);
    }
    free(expected.values);
    return recomputed;
}

static void test_random_nets_train_with_the_same_bits(void)
{
    uint32_t recomputed = 0;
    reduce_by_passes();
    for (uint32_t seed = 0; seed <= 4; seed++)
        recomputed += check_random(seed, seed % 2 == 1);
    CU_ASSERT(recomputed > 20);
}

/* With the traits of a large GPU, which has every producer fusion and epilogue that there is. */
static void check_large_gpu(bool by_passes)
{
    const struct glcnn_device_traits traits = device->info.traits;
    uint32_t recomputed = 0;
    device->info.traits = traits_find("NVIDIA", "NVIDIA");
    if (by_passes)
        reduce_by_passes();
    for (uint32_t seed = 0; seed <= 2; seed++)
        recomputed += check_random(seed, seed % 2 == 1);
    CU_ASSERT(recomputed > 5);
    device->info.traits = traits;
}

/* Sums of what is stored in one plan and fused in another are in another order (recording.h). */
static void test_all_fusions_give_the_same_values(void)
{
    sums_move = true;
    check_large_gpu(false);
    sums_move = false;
}

/* The last of the tests: what it refuses stays refused. */
static void test_fusions_without_sums_keep_the_bits(void)
{
    check_large_gpu(true);
}

/* What a plan stores as float16 another may leave to its readers. */
static void test_float16_trains_with_the_same_bits(void)
{
    uint32_t recomputed = 0;
    format = GLCNN_CHANNEL_FORMAT_FLOAT16;
    reduce_by_passes();
    for (uint32_t seed = 0; seed <= 2; seed++)
        recomputed += check_random(seed, seed % 2 == 1);
    CU_ASSERT(recomputed > 5);
    format = GLCNN_CHANNEL_FORMAT_FLOAT32;
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_all_fusions_give_the_same_values),
        UNIT_TEST(test_nets_train_with_the_same_bits),
        UNIT_TEST(test_dear_passes_run_in_fewer_parts),
        UNIT_TEST(test_what_is_stored_is_chosen_by_image),
        UNIT_TEST(test_part_sums_are_as_many_within_a_budget),
        UNIT_TEST(test_half_of_the_memory_costs_about_a_quarter),
        UNIT_TEST(test_gradients_of_sums_need_no_forward_image),
        UNIT_TEST(test_dear_passes_run_beside_each_other_within_a_budget),
        UNIT_TEST(test_random_nets_train_with_the_same_bits),
        UNIT_TEST(test_float16_trains_with_the_same_bits),
        UNIT_TEST(test_fusions_without_sums_keep_the_bits),
        CU_TEST_INFO_NULL};
    return fixture_run("recomputation in graphs", tests, argc, argv);
}
