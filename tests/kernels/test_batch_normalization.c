/* Batch normalisation: golden values, the life of the state that its four kernels share, fixed
 * statistics, fused neurons, and what is refused. */
#include "glcnn/kernels/batch_normalization.h"

#include <math.h>

#include "tests/fixture.h"

#define CHANNELS 5
#define ROWS     6
#define COLUMNS  7
#define PLANE    (ROWS * COLUMNS)

/* The four kernels and their state. */
struct layer {
    glcnn_kernel *statistics, *normalize, *sums, *gradient;
    glcnn_state *state;
};

static const float gammas[CHANNELS] = {1, -0.5f, 2, 0.25f, 1.5f};
static const float betas[CHANNELS] = {0, 0.5f, -1, 0.125f, 2};
static const float means[CHANNELS] = {0.5f, -0.25f, 0, 1, 0.125f};
static const float variances[CHANNELS] = {1, 0.5f, 2, 0.25f, 4};
static const struct glcnn_batch_normalization_data_source source5 = {CHANNELS, gammas,    betas,
                                                                     means,    variances, 1e-5f};

static struct layer layer_begin(const struct glcnn_batch_normalization_data_source *source,
                                const struct glcnn_neuron_descriptor *neuron)
{
    struct layer l = {0};
    GOOD_FATAL(glcnn_batch_normalization_statistics_create(device, &l.statistics));
    GOOD_FATAL(glcnn_batch_normalization_create(device, source, neuron, &l.normalize));
    GOOD_FATAL(glcnn_batch_normalization_statistics_gradient_create(device, NULL, &l.sums));
    GOOD_FATAL(glcnn_batch_normalization_gradient_create(device, NULL, &l.gradient));
    GOOD_FATAL(glcnn_kernel_result_state(NULL, l.normalize, &(struct glcnn_encode){0}, &l.state));
    return l;
}

static void layer_end(struct layer *l)
{
    glcnn_kernel_destroy(&l->statistics);
    glcnn_kernel_destroy(&l->normalize);
    glcnn_kernel_destroy(&l->sums);
    glcnn_kernel_destroy(&l->gradient);
    glcnn_state_destroy(&l->state);
}

static glcnn_status collect(glcnn_command_buffer *to, struct layer *l, glcnn_image *x)
{
    return glcnn_kernel_encode(to, l->statistics,
                               &(struct glcnn_encode){.source = x, .state = l->state});
}

static glcnn_status normalize(glcnn_command_buffer *to, struct layer *l, glcnn_image *x,
                              glcnn_image *y)
{
    return glcnn_kernel_encode(
        to, l->normalize, &(struct glcnn_encode){.source = x, .state = l->state, .destination = y});
}

static glcnn_status collect_sums(glcnn_command_buffer *to, struct layer *l, glcnn_image *g,
                                 glcnn_image *x)
{
    return glcnn_kernel_encode(
        to, l->sums, &(struct glcnn_encode){.source = g, .secondary = x, .state = l->state});
}

static glcnn_status differentiate(glcnn_command_buffer *to, struct layer *l, glcnn_image *g,
                                  glcnn_image *x, glcnn_image *dx)
{
    return glcnn_kernel_encode(
        to, l->gradient,
        &(struct glcnn_encode){.source = g, .secondary = x, .state = l->state, .destination = dx});
}

/* All four over one image of a whole batch. */
static void train(struct layer *l, glcnn_image *g, glcnn_image *x, glcnn_image *y, glcnn_image *dx)
{
    glcnn_command_buffer *to = make_commands();
    GOOD(collect(to, l, x));
    GOOD(normalize(to, l, x, y));
    GOOD(collect_sums(to, l, g, x));
    GOOD(differentiate(to, l, g, x, dx));
    finish(&to);
}

static glcnn_image *noisy(uint32_t images, uint32_t seed)
{
    glcnn_image *image = make_image(images, CHANNELS, ROWS, COLUMNS);
    fill_noise(image, seed);
    return image;
}

static void read_vector(const struct layer *l, const char *name, float *values, size_t count)
{
    glcnn_buffer *buffer = glcnn_state_vector(l->state, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    CU_ASSERT_EQUAL_FATAL(glcnn_buffer_size(buffer), count * 4);
    GOOD(glcnn_buffer_read(buffer, 0, count * 4, values));
}

static bool image_near(glcnn_image *image, const double *expected, double bound)
{
    size_t count = count_of(image);
    float *values = read_image(image);
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = is_near((double)values[i], expected[i], bound);
    free(values);
    return good;
}

static bool images_near(glcnn_image *a, glcnn_image *b, double bound)
{
    size_t count = count_of(b);
    float *values = read_image(b);
    double *expected = calloc(count, sizeof *expected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
    for (size_t i = 0; i < count; i++)
        expected[i] = (double)values[i];
    bool good = count_of(a) == count && image_near(a, expected, bound);
    free(values);
    free(expected);
    return good;
}

/* Whether a vector of one state is that of another. */
static bool vectors_near(const struct layer *a, const struct layer *b, const char *name,
                         double bound)
{
    float found[CHANNELS], expected[CHANNELS];
    bool good = true;
    read_vector(a, name, found, CHANNELS);
    read_vector(b, name, expected, CHANNELS);
    for (int c = 0; c < CHANNELS; c++)
        good = good && is_near((double)found[c], (double)expected[c], bound);
    return good;
}

/* ---- Values ---- */

static void test_golden_values(void)
{
    static const float x[] = {1, 2, 3, 6}, g[] = {1, 0, -1, 2};
    static const double y[] = {-1.638090, -0.569045, 0.5, 3.707135};
    static const double dx[] = {1.145405, -0.229081, -1.603567, 0.687243};
    static const float gamma = 2, beta = 0.5f;
    const struct glcnn_batch_normalization_data_source source = {
        .number_of_feature_channels = 1, .gamma = &gamma, .beta = &beta};
    struct layer l = layer_begin(&source, NULL);
    glcnn_image *images[4];
    float value;
    for (int i = 0; i < 4; i++)
        images[i] = make_image(1, 1, 2, 2);
    fill_image(images[0], x);
    fill_image(images[1], g);
    train(&l, images[1], images[0], images[2], images[3]);
    CU_ASSERT(image_near(images[2], y, 1e-6));
    CU_ASSERT(image_near(images[3], dx, 1e-6));
    static const struct {
        const char *name;
        double value;
    } vectors[] = {{"mean", 3},   {"variance", 3.5},        {"gamma", 2},
                   {"beta", 0.5}, {"gradient_for_beta", 2}, {"gradient_for_gamma", 2.138090}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        read_vector(&l, vectors[i].name, &value, 1);
        CU_ASSERT(is_near((double)value, vectors[i].value, 1e-6));
    }
    for (int i = 0; i < 4; i++)
        glcnn_image_destroy(&images[i]);
    layer_end(&l);
}

/* Sums of squares would lose everything here: the mean is 1e4, the variance below 1e-2. */
static void test_variance_beside_a_large_mean(void)
{
    enum { COUNT = 64 * 31 * 9 };
    struct layer l = layer_begin(NULL, NULL);
    glcnn_image *x = make_image(64, 1, 31, 9);
    glcnn_command_buffer *to = make_commands();
    float *values = calloc(COUNT, sizeof *values), found;
    double mean = 0, variance = 0;
    uint32_t seed = 5;
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (int i = 0; i < COUNT; i++)
        mean += (double)(values[i] = 1e4f + 0.1f * noise(&seed)) / COUNT;
    for (int i = 0; i < COUNT; i++)
        variance += pow((double)values[i] - mean, 2) / COUNT;
    fill_image(x, values);
    GOOD(collect(to, &l, x));
    finish(&to);
    read_vector(&l, "mean", &found, 1);
    CU_ASSERT(is_near((double)found, mean, 1e-7));
    read_vector(&l, "variance", &found, 1);
    CU_ASSERT_DOUBLE_EQUAL((double)found / variance, 1, 1e-5);
    free(values);
    glcnn_image_destroy(&x);
    layer_end(&l);
}

/* Normalising with a neuron is normalising, then the neuron; so are the gradients. */
static void test_fused_neurons(void)
{
    static const struct glcnn_neuron_descriptor neurons[] = {
        {GLCNN_NEURON_TYPE_RELU, 0.125f, 0, 0},
        {GLCNN_NEURON_TYPE_SIGMOID, 0, 0, 0},
        {GLCNN_NEURON_TYPE_TANH, 1.5f, 0.5f, 0},
        {GLCNN_NEURON_TYPE_PRELU, 0, 0, 0},
    };
    static const float slopes[CHANNELS] = {0.5f, 0.25f, -1, 0, 2};
    glcnn_image *x = noisy(3, 1), *g = noisy(3, 2), *images[7];
    for (int i = 0; i < 7; i++)
        images[i] = make_image(3, CHANNELS, ROWS, COLUMNS);
    for (size_t i = 0; i < sizeof neurons / sizeof *neurons; i++) {
        struct layer fused = layer_begin(&source5, &neurons[i]),
                     plain = layer_begin(&source5, NULL);
        glcnn_kernel *neuron = NULL, *gradient = NULL;
        glcnn_command_buffer *to = make_commands();
        GOOD(glcnn_kernel_set_vector(fused.normalize, "neuron_data", slopes, CHANNELS));
        GOOD_FATAL(glcnn_neuron_create(device, &neurons[i], slopes, CHANNELS, &neuron));
        GOOD_FATAL(glcnn_neuron_gradient_create(device, &neurons[i], slopes, CHANNELS, &gradient));
        train(&fused, g, x, images[0], images[1]);
        GOOD(collect(to, &plain, x));
        GOOD(normalize(to, &plain, x, images[2]));
        GOOD(glcnn_kernel_encode(
            to, neuron, &(struct glcnn_encode){.source = images[2], .destination = images[3]}));
        GOOD(glcnn_kernel_encode(
            to, gradient,
            &(struct glcnn_encode){.source = g, .secondary = images[2], .destination = images[4]}));
        GOOD(collect_sums(to, &plain, images[4], x));
        GOOD(differentiate(to, &plain, images[4], x, images[5]));
        finish(&to);
        CU_ASSERT(images_near(images[0], images[3], 1e-6));
        CU_ASSERT(images_near(images[1], images[5], 3e-6));
        CU_ASSERT(vectors_near(&fused, &plain, "gradient_for_gamma", 3e-6));
        CU_ASSERT(vectors_near(&fused, &plain, "gradient_for_beta", 3e-6));
        glcnn_kernel_destroy(&neuron);
        glcnn_kernel_destroy(&gradient);
        layer_end(&fused);
        layer_end(&plain);
    }
    for (int i = 0; i < 7; i++)
        glcnn_image_destroy(&images[i]);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&g);
}

/* ---- Constant statistics ---- */

static double constant_scale(int c)
{
    return (double)gammas[c] / sqrt((double)variances[c] + 1e-5);
}

/* Whether y = gamma (x - mean) / sqrt(variance + epsilon) + beta with the data source's numbers. */
static bool normalized_by_source(glcnn_image *x, glcnn_image *y)
{
    size_t count = count_of(x);
    float *values = read_image(x);
    double *expected = calloc(count, sizeof *expected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
    for (size_t i = 0; i < count; i++) {
        int c = (int)(i / PLANE % CHANNELS);
        expected[i] = constant_scale(c) * ((double)values[i] - (double)means[c]) + (double)betas[c];
    }
    bool good = image_near(y, expected, 1e-6);
    free(values);
    free(expected);
    return good;
}

static void test_without_a_state_the_data_source_counts(void)
{
    struct layer l = layer_begin(&source5, NULL);
    glcnn_image *x = noisy(2, 3), *y = make_image(2, CHANNELS, ROWS, COLUMNS);
    glcnn_command_buffer *to = make_commands();
    GOOD(glcnn_kernel_encode(to, l.normalize,
                             &(struct glcnn_encode){.source = x, .destination = y}));
    finish(&to);
    CU_ASSERT(normalized_by_source(x, y));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    layer_end(&l);
}

/* Kernel 1 is left out, 3 may be; the gradient kernel learns everything from the state. */
static void test_fixed_statistics(void)
{
    struct layer l = layer_begin(&source5, NULL);
    glcnn_image *x = noisy(2, 4), *g = noisy(2, 5);
    glcnn_image *y = make_image(2, CHANNELS, ROWS, COLUMNS),
                *dx = make_image(2, CHANNELS, ROWS, COLUMNS);
    glcnn_command_buffer *to = make_commands();
    glcnn_batch_normalization(l.normalize)->flags =
        GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER;
    GOOD(normalize(to, &l, x, y));
    GOOD(differentiate(to, &l, g, x, dx));
    finish(&to);
    CU_ASSERT(normalized_by_source(x, y));
    size_t count = count_of(g);
    float *values = read_image(g);
    double *expected = calloc(count, sizeof *expected);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
    for (size_t i = 0; i < count; i++)
        expected[i] = constant_scale((int)(i / PLANE % CHANNELS)) * (double)values[i];
    CU_ASSERT(image_near(dx, expected, 1e-6));
    free(values);
    free(expected);
    /* Statistics encoded now go into the state, not into the data source's vectors. */
    to = make_commands();
    GOOD(collect(to, &l, x));
    GOOD(glcnn_kernel_encode(to, l.normalize,
                             &(struct glcnn_encode){.source = x, .destination = y}));
    finish(&to);
    CU_ASSERT(normalized_by_source(x, y));
    glcnn_image *images[] = {x, g, y, dx};
    for (int i = 0; i < 4; i++)
        glcnn_image_destroy(&images[i]);
    layer_end(&l);
}

/* ---- The state's life ---- */

/* Copies images [first, first + count) of `from` into an image of their own. */
static glcnn_image *part_of(glcnn_image *from, uint32_t first, uint32_t count)
{
    glcnn_image *part = make_image(count, CHANNELS, ROWS, COLUMNS);
    float *values = read_image(from);
    fill_image(part, values + (size_t)first * CHANNELS * PLANE);
    free(values);
    return part;
}

static void test_parts_add_up_to_the_batch(void)
{
    static const uint32_t parts[][2] = {{0, 2}, {2, 1}, {3, 4}};
    struct layer whole = layer_begin(&source5, NULL), split = layer_begin(&source5, NULL);
    glcnn_image *x = noisy(7, 6), *g = noisy(7, 7), *px[3], *pg[3], *py[3], *pdx[3];
    glcnn_image *y = make_image(7, CHANNELS, ROWS, COLUMNS),
                *dx = make_image(7, CHANNELS, ROWS, COLUMNS);
    train(&whole, g, x, y, dx);
    glcnn_command_buffer *to = make_commands();
    for (int i = 0; i < 3; i++) {
        px[i] = part_of(x, parts[i][0], parts[i][1]);
        pg[i] = part_of(g, parts[i][0], parts[i][1]);
        py[i] = make_image(parts[i][1], CHANNELS, ROWS, COLUMNS);
        pdx[i] = make_image(parts[i][1], CHANNELS, ROWS, COLUMNS);
        GOOD(collect(to, &split, px[i]));
    }
    for (int i = 0; i < 3; i++)
        GOOD(normalize(to, &split, px[i], py[i]));
    for (int i = 0; i < 3; i++)
        GOOD(collect_sums(to, &split, pg[i], px[i]));
    for (int i = 0; i < 3; i++)
        GOOD(differentiate(to, &split, pg[i], px[i], pdx[i]));
    finish(&to);
    static const char *const names[] = {"mean", "variance", "gradient_for_gamma",
                                        "gradient_for_beta"};
    for (int i = 0; i < 4; i++)
        CU_ASSERT(vectors_near(&split, &whole, names[i], 2e-6));
    for (int i = 0; i < 3; i++) {
        glcnn_image *wanted = part_of(y, parts[i][0], parts[i][1]);
        CU_ASSERT(images_near(py[i], wanted, 2e-6));
        glcnn_image_destroy(&wanted);
        wanted = part_of(dx, parts[i][0], parts[i][1]);
        CU_ASSERT(images_near(pdx[i], wanted, 2e-6));
        glcnn_image *images[] = {wanted, px[i], pg[i], py[i], pdx[i]};
        for (int k = 0; k < 5; k++)
            glcnn_image_destroy(&images[k]);
    }
    glcnn_image *images[] = {x, g, y, dx};
    for (int i = 0; i < 4; i++)
        glcnn_image_destroy(&images[i]);
    layer_end(&whole);
    layer_end(&split);
}

static void expect_same_training(struct layer *used, struct layer *fresh, uint32_t seed)
{
    glcnn_image *x = noisy(3, seed), *g = noisy(3, seed + 1), *images[4];
    for (int i = 0; i < 4; i++)
        images[i] = make_image(3, CHANNELS, ROWS, COLUMNS);
    train(used, g, x, images[0], images[1]);
    train(fresh, g, x, images[2], images[3]);
    CU_ASSERT(images_equal(images[0], images[2]));
    CU_ASSERT(images_equal(images[1], images[3]));
    CU_ASSERT(vectors_near(used, fresh, "gradient_for_gamma", 0));
    CU_ASSERT(vectors_near(used, fresh, "variance", 0));
    for (int i = 0; i < 4; i++)
        glcnn_image_destroy(&images[i]);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&g);
}

static void test_a_state_serves_many_iterations(void)
{
    struct layer used = layer_begin(&source5, NULL);
    for (uint32_t step = 0; step < 3; step++) {
        struct layer fresh = layer_begin(&source5, NULL);
        expect_same_training(&used, &fresh, 20 + 2 * step);
        layer_end(&fresh);
    }
    layer_end(&used);
}

static void test_reset_forgets(void)
{
    struct layer used = layer_begin(&source5, NULL), fresh = layer_begin(&source5, NULL);
    glcnn_image *x = noisy(2, 30);
    glcnn_command_buffer *to = make_commands();
    GOOD(collect(to, &used, x));
    finish(&to);
    CU_ASSERT_PTR_NOT_NULL(glcnn_state_vector(used.state, "mean"));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(used.state, "gradient_for_gamma"));
    GOOD(glcnn_state_reset(used.state));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(used.state, "mean"));
    expect_same_training(&used, &fresh, 31);
    glcnn_image_destroy(&x);
    layer_end(&used);
    layer_end(&fresh);
}

/* A step that is encoded once and committed again does not add to what it left before. */
static void test_commits_repeat(void)
{
    struct layer l = layer_begin(&source5, NULL), fresh = layer_begin(&source5, NULL);
    glcnn_image *x = noisy(2, 40), *g = noisy(2, 41);
    glcnn_image *y = make_image(2, CHANNELS, ROWS, COLUMNS),
                *dx = make_image(2, CHANNELS, ROWS, COLUMNS);
    glcnn_command_buffer *to = make_commands();
    GOOD(collect(to, &l, x));
    GOOD(normalize(to, &l, x, y));
    GOOD(collect_sums(to, &l, g, x));
    GOOD(differentiate(to, &l, g, x, dx));
    GOOD(glcnn_command_buffer_commit(to));
    fill_noise(x, 42);
    finish(&to);
    glcnn_image *again = make_image(2, CHANNELS, ROWS, COLUMNS);
    train(&fresh, g, x, y, again);
    CU_ASSERT(images_equal(dx, again));
    CU_ASSERT(vectors_near(&l, &fresh, "gradient_for_beta", 0));
    glcnn_image *images[] = {x, g, y, dx, again};
    for (int i = 0; i < 5; i++)
        glcnn_image_destroy(&images[i]);
    layer_end(&l);
    layer_end(&fresh);
}

static void test_read_counts(void)
{
    struct layer l = layer_begin(&source5, NULL);
    glcnn_image *x = noisy(2, 50), *y = make_image(2, CHANNELS, ROWS, COLUMNS);
    glcnn_command_buffer *to = make_commands();
    glcnn_state_destroy(&l.state);
    GOOD_FATAL(glcnn_kernel_result_state(to, l.normalize, &(struct glcnn_encode){0}, &l.state));
    GOOD(glcnn_state_set_read_count(l.state, 3));
    GOOD(collect(to, &l, x));
    GOOD(collect(to, &l, x));
    CU_ASSERT_EQUAL(glcnn_state_read_count(l.state), 3);
    GOOD(normalize(to, &l, x, y));
    CU_ASSERT_EQUAL(glcnn_state_read_count(l.state), 2);
    GOOD(collect_sums(to, &l, x, x));
    CU_ASSERT_EQUAL(glcnn_state_read_count(l.state), 1);
    GOOD(differentiate(to, &l, x, x, y));
    CU_ASSERT_EQUAL(glcnn_state_read_count(l.state), 0);
    REFUSED(GLCNN_INVALID_STATE, collect(to, &l, x));
    finish(&to);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    layer_end(&l);
}

static void test_what_is_refused(void)
{
    struct layer l = layer_begin(&source5, NULL);
    glcnn_image *x = noisy(2, 60), *y = make_image(2, CHANNELS, ROWS, COLUMNS), *result = NULL;
    glcnn_image *narrow = make_image(1, 2, ROWS, COLUMNS);
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(to, l.statistics, &(struct glcnn_encode){.source = x}));
    REFUSED(GLCNN_INVALID_ARGUMENT, normalize(to, &l, x, y));
    REFUSED(GLCNN_INVALID_ARGUMENT, collect_sums(to, &l, x, x));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(to, l.normalize, &(struct glcnn_encode){.source = x},
                                          &result, &state));
    CU_ASSERT(!result && !state);
    GOOD(collect(to, &l, x));
    REFUSED(GLCNN_INVALID_ARGUMENT, collect(to, &l, narrow));
    GOOD(glcnn_kernel_encode_returning(
        to, l.normalize, &(struct glcnn_encode){.source = x, .state = l.state}, &result, NULL));
    CU_ASSERT_PTR_NOT_NULL(result);
    REFUSED(GLCNN_INVALID_ARGUMENT, differentiate(to, &l, x, x, y));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(l.normalize, "epsilon", -1));
    finish(&to);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&narrow);
    glcnn_image_destroy(&result);
    layer_end(&l);
}

/* Nobody counted the pixels of a state that a program fills: they are those of both images, so that of
 * sums of 4 and -4 each pixel loses (4 - 4 x) / 4. */
static void statistics_of_a_programs_own_are_of_the_batch(void)
{
    static const char *const names[] = {"mean", "variance", "gradient_for_gamma",
                                        "gradient_for_beta"};
    static const size_t lengths[] = {1, 1, 1, 1};
    static const float values[] = {0, 1, -4, 4};
    glcnn_kernel *gradient = kernel_with("batch_normalization_gradient", "epsilon=0");
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_state_create(device, NULL, names, lengths, 4, &state));
    for (int i = 0; i < 4; i++)
        GOOD(glcnn_state_set_vector(state, names[i], &values[i], 1));
    glcnn_image *g = image_with(2, 1, 1, 2, (const float[]){4, 0, 0, 0});
    glcnn_image *x = image_with(2, 1, 1, 2, (const float[]){-1, 1, -1, 1});
    glcnn_image *dx = make_image(2, 1, 1, 2);
    glcnn_command_buffer *to = make_commands();
    GOOD(glcnn_kernel_encode(
        to, gradient,
        &(struct glcnn_encode){.source = g, .secondary = x, .state = state, .destination = dx}));
    finish(&to);
    check_floats(dx, (const float[]){2, 0, -2, 0}, 4, 1e-6);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&dx);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&gradient);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_golden_values),
                                        UNIT_TEST(test_variance_beside_a_large_mean),
                                        UNIT_TEST(test_fused_neurons),
                                        UNIT_TEST(test_without_a_state_the_data_source_counts),
                                        UNIT_TEST(test_fixed_statistics),
                                        UNIT_TEST(test_parts_add_up_to_the_batch),
                                        UNIT_TEST(test_a_state_serves_many_iterations),
                                        UNIT_TEST(test_reset_forgets),
                                        UNIT_TEST(test_commits_repeat),
                                        UNIT_TEST(test_read_counts),
                                        UNIT_TEST(test_what_is_refused),
                                        UNIT_TEST(statistics_of_a_programs_own_are_of_the_batch),
                                        CU_TEST_INFO_NULL};
    return fixture_run("batch normalisation", tests, argc, argv);
}
