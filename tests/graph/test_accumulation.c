/* Gradients accumulated over executions: the mean of a group's is the step on all of its images at once,
 * where no layer takes statistics of a batch; and what is not an update goes on with each execution.
 * test_options.c has twenty steps against PyTorch. */
#include "tests/graphs.h"

#include <string.h>

#include "glcnn/training.h"

#define GROUP     3
#define PART      2 /* images of an execution */
#define STEPS     4
#define TOLERANCE 1e-5

/* ---- A network without statistics ---- */

struct plain {
    glcnn_network *net;
    glcnn_image_node *convolved, *scores;
    glcnn_filter_node *loss;
};

/* The loss is the mean over so many images. */
static struct plain make_plain(uint32_t images)
{
    char loss[96];
    struct plain p = {.net = make_network()};
    glcnn_image_node *x = make_input(p.net, "image"), *labels = make_input(p.net, "labels");
    x = p.convolved = glcnn_node(x, "convolution",
                                 "input_feature_channels=1 output_feature_channels=6 "
                                 "kernel_width=3 kernel_height=3");
    x = glcnn_node(x, "neuron", "neuron_type=tanh neuron_a=1 neuron_b=1");
    p.scores = glcnn_node(x, "fully_connected",
                          "input_feature_channels=6 output_feature_channels=5 kernel_width=12 "
                          "kernel_height=12");
    glcnn_image_node *const pair[] = {p.scores, labels};
    snprintf(loss, sizeof loss, "loss_type=soft_max_cross_entropy reduction_type=sum weight=%.9g",
             1.0 / images);
    p.loss = glcnn_filter_node_create(p.net, "loss", loss, pair, 2);
    GOOD_FATAL(glcnn_network_status(p.net));
    set_weights(p.net, 5);
    return p;
}

static glcnn_image *part_of(const glcnn_image *whole, uint32_t first, uint32_t count)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(whole);
    size_t each = (size_t)d->width * d->height * d->feature_channels;
    float *values = read_image((glcnn_image *)(uintptr_t)whole);
    glcnn_image *part =
        image_with(count, d->feature_channels, d->height, d->width, values + first * each);
    free(values);
    return part;
}

static glcnn_graph *graph_with(glcnn_filter_node *loss,
                               const struct glcnn_graph_descriptor *descriptor)
{
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_training_graph_create(loss, NULL, descriptor, &graph));
    return graph;
}

/* Steps on groups of parts, or on all images at once; the weights of both layers. */
static float *train(bool adam, struct glcnn_graph_descriptor descriptor, uint32_t parts,
                    size_t *count)
{
    const uint32_t images = GROUP * PART / parts;
    struct plain p = make_plain(images);
    glcnn_image *all[2], *sources[GROUP][2];
    train_network(p.net, adam);
    descriptor.accumulate = parts;
    glcnn_graph *graph = graph_with(p.loss, &descriptor);
    make_cnn_sources(GROUP * PART, all);
    for (uint32_t i = 0; i < parts; i++)
        for (int k = 0; k < 2; k++)
            sources[i][k] = part_of(all[k], i * images, images);
    for (int step = 0; step < STEPS; step++)
        for (uint32_t i = 0; i < parts; i++)
            run_graph(graph, sources[i]);
    float *first = vector_values(glcnn_kernel_vector(kernel_of(p.convolved), "weights")),
          *second = vector_values(glcnn_kernel_vector(kernel_of(p.scores), "weights"));
    size_t firsts = vector_count(glcnn_kernel_vector(kernel_of(p.convolved), "weights")),
           seconds = vector_count(glcnn_kernel_vector(kernel_of(p.scores), "weights"));
    first = realloc(first, (firsts + seconds) * sizeof *first);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    memcpy(first + firsts, second, seconds * sizeof *second);
    free(second);
    *count = firsts + seconds;
    for (uint32_t i = 0; i < parts; i++)
        destroy_images(sources[i], 2);
    destroy_images(all, 2);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&p.net);
    return first;
}

static void expect_larger_batch(bool adam, struct glcnn_graph_descriptor descriptor,
                                double tolerance)
{
    size_t count, other;
    float *found = train(adam, descriptor, GROUP, &count),
          *expected = train(adam, descriptor, 1, &other);
    CU_ASSERT_EQUAL_FATAL(count, other);
    CU_ASSERT(arrays_near(found, expected, count, tolerance));
    free(found);
    free(expected);
}

static void a_group_is_a_larger_batch(void)
{
    expect_larger_batch(false, (struct glcnn_graph_descriptor){0}, TOLERANCE);
    expect_larger_batch(true, (struct glcnn_graph_descriptor){0}, TOLERANCE);
    expect_larger_batch(false, (struct glcnn_graph_descriptor){.gradient_clip_norm = 0.05f},
                        TOLERANCE);
    expect_larger_batch(
        true,
        (struct glcnn_graph_descriptor){.loss_scale.scale = 1024, .gradient_clip_norm = 0.05f},
        TOLERANCE);
}

static void test_a_group_is_a_larger_batch(void)
{
    on_families(a_group_is_a_larger_batch);
}

/* ---- The small network, which normalises ---- */

struct trained {
    struct cnn cnn;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static struct trained begin(const struct glcnn_graph_descriptor *descriptor)
{
    struct trained t = {.cnn = make_cnn()};
    train_network(t.cnn.net, false);
    make_cnn_sources(4, t.sources);
    t.graph = graph_with(t.cnn.loss, descriptor);
    return t;
}

static void end(struct trained *t)
{
    glcnn_graph_destroy(&t->graph);
    destroy_images(t->sources, 2);
    glcnn_network_destroy(&t->cnn.net);
}

static bool changes(const struct trained *t, const glcnn_image_node *of, const char *vector)
{
    glcnn_kernel *kernel = kernel_of((glcnn_image_node *)(uintptr_t)of);
    size_t size = 4 * vector_count(glcnn_kernel_vector(kernel, vector));
    float *before = vector_values(glcnn_kernel_vector(kernel, vector));
    run_graph(t->graph, (glcnn_image *const *)t->sources);
    float *after = vector_values(glcnn_kernel_vector(kernel, vector));
    bool changed = memcmp(before, after, size) != 0;
    free(before);
    free(after);
    return changed;
}

/* With momentum each update changes weights, and nothing else does. */
static void test_the_last_of_a_group_updates(void)
{
    struct trained t = begin(&(struct glcnn_graph_descriptor){.accumulate = GROUP});
    for (int i = 1; i <= 2 * GROUP; i++)
        CU_ASSERT_EQUAL(changes(&t, t.cnn.convolved[1], "weights"), i % GROUP == 0);
    for (int i = 0; i < GROUP; i++)
        CU_ASSERT_TRUE(changes(&t, t.cnn.normalised[0], "mean"));
    end(&t);
}

/* On the same images the mean of a group is any of its gradients. */
static void test_a_group_of_the_same_is_one(void)
{
    size_t count;
    struct trained one = begin(NULL),
                   four = begin(&(struct glcnn_graph_descriptor){.accumulate = 4});
    glcnn_kernel_set_vector(kernel_of(one.cnn.scores), "biases", (float[5]){1}, 5);
    glcnn_kernel_set_vector(kernel_of(four.cnn.scores), "biases", (float[5]){1}, 5);
    run_graph(one.graph, one.sources);
    for (int i = 0; i < 4; i++)
        run_graph(four.graph, four.sources);
    float *expected = vector_values(glcnn_kernel_vector(kernel_of(one.cnn.scores), "weights")),
          *found = vector_values(glcnn_kernel_vector(kernel_of(four.cnn.scores), "weights"));
    count = vector_count(glcnn_kernel_vector(kernel_of(one.cnn.scores), "weights"));
    CU_ASSERT(memcmp(expected, found, count * sizeof *found) == 0); /* 4: no rounding */
    free(expected);
    free(found);
    end(&one);
    end(&four);
}

/* ---- Other ways to update ---- */

static size_t cpu_updates;

static bool count_update(void *context, glcnn_state *gradients, glcnn_state *weights)
{
    (void)context;
    (void)gradients;
    (void)weights;
    cpu_updates++;
    return false;
}

static void test_the_processor_updates_with_the_last(void)
{
    struct plain p = make_plain(4);
    glcnn_image *sources[2];
    const struct glcnn_data_source source = {.update_cpu = count_update};
    train_network(p.net, false);
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(p.scores), &source));
    glcnn_filter_node_set_training_style(filter_of(p.scores),
                                         GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU);
    glcnn_graph *graph = graph_with(p.loss, &(struct glcnn_graph_descriptor){.accumulate = GROUP});
    make_cnn_sources(4, sources);
    for (int i = 0; i < 2 * GROUP; i++)
        run_graph(graph, sources);
    CU_ASSERT_EQUAL(cpu_updates, 2);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&p.net);
}

struct engine {
    size_t begun, finished;
};

static glcnn_status begin_bucket(void *user, const struct glcnn_gradient_bucket *bucket,
                                 char error[GLCNN_ERROR_LENGTH])
{
    (void)bucket;
    (void)error;
    ((struct engine *)user)->begun++;
    return GLCNN_SUCCESS;
}

static glcnn_status finish_bucket(void *user, const struct glcnn_gradient_bucket *bucket,
                                  char error[GLCNN_ERROR_LENGTH])
{
    (void)error;
    ((struct engine *)user)->finished++;
    memset(bucket->values, 0, bucket->count * sizeof *bucket->values);
    return GLCNN_SUCCESS;
}

/* What others have is exchanged once a group, and is what the update sees. */
static void test_a_group_is_exchanged_once(void)
{
    struct trained t = begin(&(struct glcnn_graph_descriptor){.accumulate = GROUP});
    struct engine engine = {0};
    const struct glcnn_exchange exchange = {
        .begin = begin_bucket, .finish = finish_bucket, .user = &engine};
    GOOD_FATAL(glcnn_graph_set_exchange(t.graph, &exchange));
    for (size_t i = 1; i <= 2 * GROUP; i++) {
        CU_ASSERT_FALSE(changes(&t, t.cnn.scores, "weights")); /* all gradients are 0 */
        CU_ASSERT_EQUAL(engine.begun, i / GROUP);
        CU_ASSERT_EQUAL(engine.finished, i / GROUP);
    }
    end(&t);
}

/* A step whose gradients are not finite is skipped as a whole, and the next group begins with sums of
 * nothing. */
static void test_a_group_that_is_not_finite_is_skipped(void)
{
    struct trained t =
        begin(&(struct glcnn_graph_descriptor){.accumulate = 2, .loss_scale.scale = 1024});
    struct glcnn_dynamic_loss_scale scale;
    const size_t count = count_of(t.sources[1]);
    float *labels = read_image(t.sources[1]), *wrong = calloc(count, sizeof *wrong);
    CU_ASSERT_PTR_NOT_NULL_FATAL(wrong);
    wrong[0] = (float)INFINITY;
    fill_image(t.sources[1], wrong);
    CU_ASSERT_FALSE(changes(&t, t.cnn.scores, "weights"));
    fill_image(t.sources[1], labels);
    CU_ASSERT_FALSE(changes(&t, t.cnn.scores, "weights"));
    GOOD(glcnn_graph_get_loss_scale(t.graph, &scale));
    CU_ASSERT_EQUAL(scale.skipped_steps, 1);
    CU_ASSERT_EQUAL(scale.scale, 512);
    run_graph(t.graph, t.sources);
    CU_ASSERT_TRUE(changes(&t, t.cnn.scores, "weights"));
    GOOD(glcnn_graph_get_loss_scale(t.graph, &scale));
    CU_ASSERT_EQUAL(scale.skipped_steps, 1);
    CU_ASSERT_EQUAL(scale.good_steps, 1);
    free(labels);
    free(wrong);
    end(&t);
}

/* ---- What is refused ---- */

#define REFUSED_IN_GROUP(call)                                                                     \
    CU_ASSERT_EQUAL(call, GLCNN_INVALID_STATE);                                                    \
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "1 of 3 executions"))

static void test_a_group_stays_what_it_is(void)
{
    struct trained t = begin(&(struct glcnn_graph_descriptor){.accumulate = GROUP});
    glcnn_image *others[2];
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *result = NULL;
    struct glcnn_optimizer_parameters *one =
        glcnn_optimizer(glcnn_kernel_optimizer(kernel_of(t.cnn.scores)));
    CU_ASSERT_EQUAL(glcnn_graph_encode(commands, t.graph, t.sources, &result), GLCNN_INVALID_STATE);
    make_cnn_sources(2, others);
    run_graph(t.graph, t.sources);
    REFUSED_IN_GROUP(glcnn_graph_execute(t.graph, others, NULL, NULL));
    REFUSED_IN_GROUP(glcnn_graph_set_exchange(t.graph, NULL));
    one->learning_rate *= 2;
    REFUSED_IN_GROUP(glcnn_graph_execute(t.graph, t.sources, NULL, NULL));
    one->learning_rate /= 2;
    run_graph(t.graph, t.sources);
    CU_ASSERT_TRUE(changes(&t, t.cnn.scores, "weights"));
    one->learning_rate *= 2;
    run_graph(t.graph, others);
    glcnn_command_buffer_destroy(&commands);
    destroy_images(others, 2);
    end(&t);
}

/* ---- Memory ---- */

static uint64_t least_of(const struct trained *t, uint64_t *planned)
{
    uint64_t least = 0;
    struct glcnn_memory_plan plan;
    const struct glcnn_image_descriptor sources[] = {*glcnn_image_get_descriptor(t->sources[0]),
                                                     *glcnn_image_get_descriptor(t->sources[1])};
    GOOD(glcnn_graph_least_memory(t->graph, sources, &least));
    GOOD(glcnn_graph_memory(t->graph, sources, &plan));
    *planned = plan.planned;
    return least;
}

/* The sums are as many bytes as gradients, and are counted. */
static void test_sums_are_counted(void)
{
    uint64_t planned, more;
    struct trained one = begin(NULL),
                   three = begin(&(struct glcnn_graph_descriptor){.accumulate = GROUP});
    const uint64_t gradients = 4 * (54 + 6 + 12 + 432 + 8 + 16 + 360 + 5);
    CU_ASSERT(least_of(&three, &more) >= least_of(&one, &planned) + gradients);
    CU_ASSERT(more >= planned + gradients);
    uint64_t before = gpu_bytes();
    run_graph(three.graph, three.sources);
    drop_stores();
    CU_ASSERT(gpu_bytes() - before <= more);
    end(&one);
    end(&three);
}

static void test_the_least_memory_is_enough(void)
{
    uint64_t planned;
    struct trained t = begin(&(struct glcnn_graph_descriptor){.accumulate = GROUP});
    const uint64_t least = least_of(&t, &planned);
    glcnn_graph_destroy(&t.graph);
    t.graph = graph_with(
        t.cnn.loss, &(struct glcnn_graph_descriptor){.accumulate = GROUP, .memory_budget = least});
    for (int i = 1; i <= GROUP; i++)
        CU_ASSERT_EQUAL(changes(&t, t.cnn.scores, "weights"), i == GROUP);
    glcnn_graph_destroy(&t.graph);
    t.graph = graph_with(t.cnn.loss, &(struct glcnn_graph_descriptor){.accumulate = GROUP,
                                                                      .memory_budget = least - 1});
    CU_ASSERT_EQUAL(glcnn_graph_execute(t.graph, t.sources, NULL, NULL), GLCNN_LIMIT_EXCEEDED);
    end(&t);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_a_group_is_a_larger_batch),
                                        UNIT_TEST(test_the_last_of_a_group_updates),
                                        UNIT_TEST(test_a_group_of_the_same_is_one),
                                        UNIT_TEST(test_the_processor_updates_with_the_last),
                                        UNIT_TEST(test_a_group_is_exchanged_once),
                                        UNIT_TEST(test_a_group_that_is_not_finite_is_skipped),
                                        UNIT_TEST(test_a_group_stays_what_it_is),
                                        UNIT_TEST(test_sums_are_counted),
                                        UNIT_TEST(test_the_least_memory_is_enough),
                                        CU_TEST_INFO_NULL};
    return fixture_run("accumulation", tests, argc, argv);
}
