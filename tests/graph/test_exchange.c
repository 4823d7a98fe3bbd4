/* What executions exchange with other processes: gradients in buckets between the backward pass and
 * the updates, and statistics of batches. The others are made up here: they have what this process
 * has. test_mpi.sh has real ones. */
#include "tests/graphs.h"

#include <string.h>

#include "graph/node.h"

#define RATE  0.5f
#define BATCH 5

/* An engine whose sums are `factor` times what it is given. */
struct engine {
    double factor;
    size_t begun, finished, values, sums;
    uint32_t buckets;
    size_t fails_at; /* the call of `finish` that fails, from 1 */
    bool in_order;
};

static glcnn_status begin(void *user, const struct glcnn_gradient_bucket *bucket,
                          char error[GLCNN_ERROR_LENGTH])
{
    struct engine *e = user;
    (void)error;
    e->in_order = e->in_order && bucket->index == e->begun && e->finished == 0;
    e->begun++;
    e->values += bucket->count;
    e->buckets = bucket->buckets;
    return GLCNN_SUCCESS;
}

static glcnn_status finish_bucket(void *user, const struct glcnn_gradient_bucket *bucket,
                                  char error[GLCNN_ERROR_LENGTH])
{
    struct engine *e = user;
    e->in_order = e->in_order && bucket->index == e->finished && e->begun == bucket->buckets;
    if (++e->finished == e->fails_at) {
        snprintf(error, GLCNN_ERROR_LENGTH, "the others are gone");
        return GLCNN_IO_ERROR;
    }
    for (size_t i = 0; i < bucket->count; i++)
        bucket->values[i] = (float)(e->factor * (double)bucket->values[i]);
    return GLCNN_SUCCESS;
}

static glcnn_status sum(void *user, double *values, size_t count, char error[GLCNN_ERROR_LENGTH])
{
    struct engine *e = user;
    (void)error;
    for (size_t i = 0; i < count; i++)
        values[i] *= e->factor;
    e->sums++;
    return GLCNN_SUCCESS;
}

/* ---- A step of the small network ---- */

struct step {
    struct engine *engine;      /* NULL: none */
    struct glcnn_exchange more; /* settings of it */
    uint32_t copies;            /* of the batch, one behind the other; 0: 1 */
    float clip_norm;
    bool apart;
    glcnn_status expected;
};

static void repeat_images(glcnn_image *sources[2], uint32_t copies)
{
    for (int i = 0; i < 2; i++) {
        struct glcnn_image_descriptor d = *glcnn_image_get_descriptor(sources[i]);
        size_t count = count_of(sources[i]);
        float *values = read_image(sources[i]), *all = malloc(copies * count * sizeof *all);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all);
        for (uint32_t n = 0; n < copies; n++)
            memcpy(all + n * count, values, count * sizeof *all);
        glcnn_image_destroy(&sources[i]);
        sources[i] =
            image_with(copies * d.number_of_images, d.feature_channels, d.height, d.width, all);
        free(values);
        free(all);
    }
}

static void set_engine(glcnn_graph *graph, const struct step *step)
{
    struct glcnn_exchange exchange = step->more;
    if (!step->engine)
        return;
    exchange.begin = begin;
    exchange.finish = finish_bucket;
    exchange.user = step->engine;
    step->engine->in_order = true;
    GOOD_FATAL(glcnn_graph_set_exchange(graph, &exchange));
}

/* All parameters after two steps; the caller frees them. */
static float *parameters_after(const struct step *step, size_t *count)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, RATE, &optimizer));
    const struct glcnn_graph_descriptor descriptor = {.gradient_clip_norm = step->clip_norm};
    GOOD_FATAL(glcnn_training_graph_create(c.loss, optimizer, &descriptor, &graph));
    if (step->apart)
        glcnn_optimizer(glcnn_kernel_optimizer(kernel_of(c.convolved[1])))->epsilon = 1;
    make_cnn_sources(BATCH, sources);
    repeat_images(sources, step->copies ? step->copies : 1);
    set_engine(graph, step);
    for (int i = 0; i < 2; i++) {
        if (step->engine)
            step->engine->begun = step->engine->finished = step->engine->values = 0;
        glcnn_status status = glcnn_graph_execute(graph, sources, NULL, NULL);
        CU_ASSERT_EQUAL(status, step->expected);
        CU_ASSERT(status == GLCNN_SUCCESS ||
                  strstr(glcnn_device_error(device), "the others are gone"));
        GOOD(glcnn_graph_wait(graph));
    }
    float *values = cnn_parameters(&c, count);
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
    return values;
}

static void expect_same(const struct step *a, const struct step *b, double tolerance)
{
    size_t count, other;
    float *found = parameters_after(a, &count), *expected = parameters_after(b, &other);
    CU_ASSERT_EQUAL_FATAL(count, other);
    CU_ASSERT(arrays_near(found, expected, count, tolerance));
    free(found);
    free(expected);
}

/* Parameters that are trained: all but the statistics. */
#define TRAINED (54 + 6 + 6 + 6 + 432 + 8 + 8 + 8 + 360 + 5)

/* Whatever their size, buckets have each gradient once, in order; what they hold is what updates
 * see. */
static void test_buckets_are_what_updates_see(void)
{
    static const size_t sizes[] = {0, 4, 256, 1024, 1 << 20};
    const struct step plain = {.clip_norm = 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int apart = 0; apart < 2; apart++) {
            struct engine e = {.factor = 1};
            const struct step step = {.engine = &e, .more.bucket_bytes = sizes[i], .apart = apart};
            expect_same(&step, &plain, 0);
            CU_ASSERT_TRUE(e.in_order);
            CU_ASSERT_EQUAL(e.begun, e.buckets);
            CU_ASSERT_EQUAL(e.finished, e.buckets);
            CU_ASSERT_EQUAL(e.values, TRAINED);
            CU_ASSERT_EQUAL(e.sums, 0);
            CU_ASSERT(sizes[i] != 4 || e.buckets == 10);
            CU_ASSERT(sizes[i] != 1 << 20 || e.buckets == 1);
        }
}

static void expect_weights_to_stay(const struct step *step)
{
    size_t count;
    float *values = parameters_after(step, &count);
    struct cnn c = make_cnn();
    float *before = vector_values(glcnn_kernel_vector(kernel_of(c.convolved[0]), "weights"));
    CU_ASSERT(arrays_near(values, before, 54, 0));
    free(before);
    free(values);
    glcnn_network_destroy(&c.net);
}

/* Zeros leave all weights as they are, and statistics moving. */
static void test_sums_replace_gradients(void)
{
    struct engine e = {.factor = 0};
    const struct step none = {.engine = &e, .more.bucket_bytes = 256};
    expect_weights_to_stay(&none);
}

/* The norm is that of the sums: a quarter of them, clipped at a quarter of the norm, is as much. */
static void test_clipping_sees_the_sums(void)
{
    struct engine large = {.factor = 1000}, larger = {.factor = 4000};
    const struct step a = {.engine = &large, .clip_norm = 0.01f},
                      b = {.engine = &larger, .clip_norm = 0.01f};
    expect_same(&a, &b, 1e-6);
}

/* Two processes with the same images are one with twice as many: gradients, statistics of batches,
 * and what is averaged of these. */
static void test_statistics_are_those_of_all(void)
{
    struct engine e = {.factor = 2};
    const struct step half = {.engine = &e, .more = {.sum = sum, .images = 2 * BATCH}},
                      whole = {.copies = 2};
    expect_same(&half, &whole, 2e-5);
    CU_ASSERT_EQUAL(e.sums, 2 * 4); /* steps times layers, forward and backward */
    CU_ASSERT_EQUAL(e.values, TRAINED - 2 * (6 + 8));
}

static void test_a_failure_updates_nothing(void)
{
    struct engine e = {.factor = 1, .fails_at = 2};
    const struct step failing = {
        .engine = &e, .more.bucket_bytes = 256, .expected = GLCNN_IO_ERROR};
    expect_weights_to_stay(&failing);
}

static void test_misuse_and_end(void)
{
    struct cnn c = make_cnn();
    glcnn_graph *graph = cnn_training_graph(&c, 0);
    struct engine e = {.factor = 1};
    struct glcnn_exchange exchange = {.begin = begin, .user = &e};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_graph_set_exchange(graph, &exchange));
    exchange.finish = finish_bucket;
    exchange.sum = sum;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_graph_set_exchange(graph, &exchange));
    CU_ASSERT_EQUAL(glcnn_graph_set_exchange(NULL, &exchange), GLCNN_INVALID_ARGUMENT);
    exchange.images = BATCH;
    GOOD(glcnn_graph_set_exchange(graph, &exchange));
    GOOD(glcnn_graph_set_exchange(graph, NULL));
    glcnn_image *sources[2];
    make_cnn_sources(BATCH, sources);
    run_graph(graph, sources);
    CU_ASSERT_EQUAL(e.begun, 0);
    destroy_images(sources, 2);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&c.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_buckets_are_what_updates_see),
                                        UNIT_TEST(test_sums_replace_gradients),
                                        UNIT_TEST(test_clipping_sees_the_sums),
                                        UNIT_TEST(test_statistics_are_those_of_all),
                                        UNIT_TEST(test_a_failure_updates_nothing),
                                        UNIT_TEST(test_misuse_and_end),
                                        CU_TEST_INFO_NULL};
    return fixture_run("exchange", tests, argc, argv);
}
