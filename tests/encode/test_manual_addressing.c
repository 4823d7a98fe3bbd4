/* Element-wise gradients addressed by hand, against the formulas of spec 7 at the pixels of
 * spec 5.5: for pixel j of the clip rectangle the gradient G is read at primary offset + kernel
 * offset + j, 0 outside, and the source image X at secondary offset + j, by the edge mode. Nothing
 * here shares code with the library's geometry. */
#include "tests/fixture.h"

#include <math.h>

enum { IMAGES = 2, CHANNELS = 5 };

struct size {
    int height, width;
};

static const struct size x_size = {4, 5}, g_size = {5, 6}, to_size = {6, 7};
static const int clip_origin[2] = {1, 2}; /* y, x */

/* Offsets along y and x. */
struct place {
    int primary[2], secondary[2], kernel[2];
    bool clamp;
};

/* What a case's formula works on. */
struct world {
    const struct place *place;
    const float *g, *x;
    double mean[CHANNELS], variance[CHANNELS], gamma[CHANNELS], beta[CHANNELS];
    double for_gamma[CHANNELS], for_beta[CHANNELS];
    float *mask;
};

static size_t at(struct size s, int n, int c, int y, int x)
{
    return (size_t)(((n * CHANNELS + c) * s.height + y) * s.width + x);
}

static bool holds(struct size s, int y, int x)
{
    return y >= 0 && x >= 0 && y < s.height && x < s.width;
}

static int clamped(int i, int size)
{
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

/* G and X for pixel j of the clip rectangle. */
static double g_at(const struct world *w, int n, int c, int j, int i)
{
    int y = w->place->primary[0] + w->place->kernel[0] + j;
    int x = w->place->primary[1] + w->place->kernel[1] + i;
    return holds(g_size, y, x) ? (double)w->g[at(g_size, n, c, y, x)] : 0;
}

static double edge(const struct world *w, const float *values, int n, int c, int j, int i)
{
    int y = w->place->secondary[0] + j, x = w->place->secondary[1] + i;
    if (!holds(x_size, y, x) && !w->place->clamp)
        return 0;
    y = clamped(y, x_size.height);
    x = clamped(x, x_size.width);
    return (double)values[at(x_size, n, c, y, x)];
}

static double x_at(const struct world *w, int n, int c, int j, int i)
{
    return edge(w, w->x, n, c, j, i);
}

/* ---- Formulas of spec 7, at pixel (j, i) ---- */

typedef double (*formula)(const struct world *w, int n, int c, int j, int i);

static double sigmoid_gradient(const struct world *w, int n, int c, int j, int i)
{
    double s = 1 / (1 + exp(-x_at(w, n, c, j, i)));
    return g_at(w, n, c, j, i) * s * (1 - s);
}

static double relu_gradient(const struct world *w, int n, int c, int j, int i)
{
    return g_at(w, n, c, j, i) * (x_at(w, n, c, j, i) >= 0 ? 1 : 0.25);
}

static double copied(const struct world *w, int n, int c, int j, int i)
{
    return g_at(w, n, c, j, i);
}

static double dropped(const struct world *w, int n, int c, int j, int i)
{
    return g_at(w, n, c, j, i) * edge(w, w->mask, n, c, j, i) / 0.5;
}

static double soft_max(const struct world *w, int n, int c, int j, int i)
{
    double sum = 0;
    for (int k = 0; k < CHANNELS; k++)
        sum += g_at(w, n, k, j, i) * x_at(w, n, k, j, i);
    return x_at(w, n, c, j, i) * (g_at(w, n, c, j, i) - sum);
}

static double log_soft_max(const struct world *w, int n, int c, int j, int i)
{
    double sum = 0;
    for (int k = 0; k < CHANNELS; k++)
        sum += g_at(w, n, k, j, i);
    return g_at(w, n, c, j, i) - exp(x_at(w, n, c, j, i)) * sum;
}

/* N = 3, alpha = beta = delta = 1. */
static double scale_at(const struct world *w, int n, int c, int j, int i)
{
    double sum = 0;
    for (int k = c - 1; k <= c + 1; k++)
        if (k >= 0 && k < CHANNELS)
            sum += pow(x_at(w, n, k, j, i), 2);
    return 1 + sum / 3;
}

static double local_response(const struct world *w, int n, int c, int j, int i)
{
    double sum = 0;
    for (int k = c - 1; k <= c + 1; k++)
        if (k >= 0 && k < CHANNELS)
            sum += g_at(w, n, k, j, i) * x_at(w, n, k, j, i) / pow(scale_at(w, n, k, j, i), 2);
    return g_at(w, n, c, j, i) / scale_at(w, n, c, j, i) - 2.0 / 3 * x_at(w, n, c, j, i) * sum;
}

static double added(const struct world *w, int n, int c, int j, int i)
{
    return 1.5 * g_at(w, n, c, j, i);
}

static double multiplied(const struct world *w, int n, int c, int j, int i)
{
    return 1.5 * g_at(w, n, c, j, i) * x_at(w, n, c, j, i);
}

static double divided(const struct world *w, int n, int c, int j, int i)
{
    return g_at(w, n, c, j, i) / x_at(w, n, c, j, i);
}

#define EPSILON 0.01

static double rate(const struct world *w, int c)
{
    return 1 / sqrt(w->variance[c] + EPSILON);
}

static double normalised(const struct world *w, int n, int c, int j, int i)
{
    return (x_at(w, n, c, j, i) - w->mean[c]) * rate(w, c);
}

static double batch_normalised(const struct world *w, int n, int c, int j, int i)
{
    double count = IMAGES * x_size.width * x_size.height;
    double xh = normalised(w, n, c, j, i);
    return w->gamma[c] * rate(w, c) *
           (g_at(w, n, c, j, i) - w->for_beta[c] / count - xh * w->for_gamma[c] / count);
}

/* ---- Sums, over the pixels of G from that of pixel 0 on ---- */

static double sum_of(const struct world *w, formula term, int n, int c)
{
    double sum = 0;
    for (int j = 0; j < 12; j++)
        for (int i = 0; i < 12; i++)
            sum += term(w, n, c, j, i);
    return sum;
}

static double beta_term(const struct world *w, int n, int c, int j, int i)
{
    return g_at(w, n, c, j, i);
}

static double gamma_term(const struct world *w, int n, int c, int j, int i)
{
    return g_at(w, n, c, j, i) * normalised(w, n, c, j, i);
}

static double slope_term(const struct world *w, int n, int c, int j, int i)
{
    double x = x_at(w, n, c, j, i);
    return x < 0 ? g_at(w, n, c, j, i) * x : 0;
}

/* Mean and variance of one image alone. */
static struct world of_image(const struct world *w, int n, int c)
{
    struct world own = *w;
    double count = x_size.width * x_size.height;
    own.mean[c] = own.variance[c] = 0;
    for (int k = 0; k < x_size.width * x_size.height; k++)
        own.mean[c] += (double)w->x[at(x_size, n, c, 0, 0) + (size_t)k] / count;
    for (int k = 0; k < x_size.width * x_size.height; k++)
        own.variance[c] +=
            pow((double)w->x[at(x_size, n, c, 0, 0) + (size_t)k] - own.mean[c], 2) / count;
    return own;
}

static double instance_normalised(const struct world *w, int n, int c, int j, int i)
{
    struct world own = of_image(w, n, c);
    double count = x_size.width * x_size.height;
    return w->gamma[c] * rate(&own, c) *
           (g_at(w, n, c, j, i) - sum_of(&own, beta_term, n, c) / count -
            normalised(&own, n, c, j, i) * sum_of(&own, gamma_term, n, c) / count);
}

/* ---- Kernels ---- */

struct row {
    const char *kernel, *forward; /* forward: whose state it needs; NULL: none */
    formula expected;
    struct {
        const char *name;
        double value;
    } settings[4];
};

static const struct row rows[] = {
    {"neuron_gradient", NULL, sigmoid_gradient, {{"neuron_type", GLCNN_NEURON_TYPE_SIGMOID}}},
    {"neuron_gradient",
     NULL,
     relu_gradient,
     {{"neuron_type", GLCNN_NEURON_TYPE_RELU}, {"neuron_a", 0.25}}},
    {"soft_max_gradient", NULL, soft_max, {{0}}},
    {"log_soft_max_gradient", NULL, log_soft_max, {{0}}},
    {"cross_channel_normalization_gradient",
     NULL,
     local_response,
     {{"kernel_size", 3}, {"beta", 1}, {"alpha", 1}, {"delta", 1}}},
    {"slice_gradient", NULL, copied, {{0}}},
    {"dropout_gradient", "dropout", dropped, {{"keep_probability", 0.5}}},
    {"add_gradient", "add", added, {{"primary_scale", 1.5}}},
    {"subtract_gradient", "subtract", added, {{"primary_scale", 1.5}}},
    {"add_gradient",
     "add",
     added,
     {{"primary_scale", 1.5}, {"is_secondary_source_filter", 1}, {"secondary_scale", 3}}},
    {"subtract_gradient",
     "subtract",
     added,
     {{"primary_scale", 1.5}, {"is_secondary_source_filter", 1}, {"secondary_scale", 3}}},
    {"multiply_gradient", "multiply", multiplied, {{"primary_scale", 3}, {"secondary_scale", 0.5}}},
    {"divide_gradient", "divide", divided, {{0}}},
    {"batch_normalization_gradient",
     "batch_normalization",
     batch_normalised,
     {{"epsilon", EPSILON}}},
    {"instance_normalization_gradient",
     "instance_normalization",
     instance_normalised,
     {{"epsilon", EPSILON}}},
};

/* Settings that the forward kernel has otherwise, or not at all. */
static bool is_of_gradient(const char *setting)
{
    return strcmp(setting, "primary_scale") == 0 ||
           strcmp(setting, "is_secondary_source_filter") == 0;
}

static glcnn_kernel *make_kernel(const char *name, const struct row *row)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, name, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    for (int i = 0; i < 4 && row->settings[i].name; i++)
        if (!is_of_gradient(row->settings[i].name) || strcmp(name, row->kernel) == 0)
            GOOD_FATAL(glcnn_kernel_set(kernel, row->settings[i].name, row->settings[i].value));
    return kernel;
}

static glcnn_image *make(struct size s, const float *values)
{
    return image_with(IMAGES, CHANNELS, (uint32_t)s.height, (uint32_t)s.width, values);
}

static void encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments)
{
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_encode(commands, kernel, arguments));
    finish(&commands);
}

static void read_vector(const glcnn_state *state, const char *name, double to[CHANNELS])
{
    float values[CHANNELS];
    glcnn_buffer *buffer = glcnn_state_vector(state, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    GOOD_FATAL(glcnn_buffer_read(buffer, 0, sizeof values, values));
    for (int c = 0; c < CHANNELS; c++)
        to[c] = (double)values[c];
}

/* Statistics and sums as batch normalisation leaves them in its state, following it. */
static void collect(const struct row *row, glcnn_image *x, glcnn_state *state, struct world *w)
{
    float g[IMAGES * CHANNELS * 4 * 5];
    for (size_t i = 0; i < sizeof g / sizeof *g; i++)
        g[i] = (float)(i * 29 % 31) / 16 - 1;
    glcnn_image *gradient = make(x_size, g), *result = make(x_size, g);
    glcnn_kernel *statistics = make_kernel("batch_normalization_statistics", row);
    glcnn_kernel *forward = make_kernel("batch_normalization", row);
    glcnn_kernel *sums = make_kernel("batch_normalization_statistics_gradient", row);
    encode(statistics, &(struct glcnn_encode){.source = x, .state = state});
    encode(forward, &(struct glcnn_encode){.source = x, .destination = result, .state = state});
    encode(sums, &(struct glcnn_encode){.source = gradient, .secondary = x, .state = state});
    read_vector(state, "mean", w->mean);
    read_vector(state, "variance", w->variance);
    read_vector(state, "gradient_for_gamma", w->for_gamma);
    read_vector(state, "gradient_for_beta", w->for_beta);
    glcnn_kernel_destroy(&statistics);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&sums);
    glcnn_image_destroy(&gradient);
    glcnn_image_destroy(&result);
}

/* Bits of [n][y][x][c], sixteen to a number, to [n][c][y][x]. */
static void read_mask(const glcnn_state *state, struct world *w)
{
    size_t length = (size_t)(CHANNELS * x_size.width * x_size.height), words = (length + 15) / 16;
    size_t size = IMAGES * words * sizeof(float);
    float *numbers = malloc(size);
    CU_ASSERT_EQUAL_FATAL(glcnn_buffer_size(glcnn_state_vector(state, "mask")), size);
    GOOD_FATAL(glcnn_buffer_read(glcnn_state_vector(state, "mask"), 0, size, numbers));
    w->mask = calloc(IMAGES * length, sizeof *w->mask);
    for (int n = 0; n < IMAGES; n++)
        for (int c = 0; c < CHANNELS; c++)
            for (int y = 0; y < x_size.height; y++)
                for (int x = 0; x < x_size.width; x++) {
                    size_t i = (size_t)((y * x_size.width + x) * CHANNELS + c);
                    uint32_t word = (uint32_t)numbers[(size_t)n * words + i / 16];
                    w->mask[at(x_size, n, c, y, x)] = (float)(word >> i % 16 & 1);
                }
    free(numbers);
}

static glcnn_state *make_state(const struct row *row, glcnn_image *x, struct world *w)
{
    glcnn_state *state = NULL;
    if (!row->forward)
        return NULL;
    glcnn_kernel *forward = make_kernel(row->forward, row);
    const struct glcnn_encode arguments = {.source = x, .secondary = x};
    if (strcmp(row->forward, "batch_normalization") == 0) {
        GOOD_FATAL(glcnn_kernel_result_state(NULL, forward, &arguments, &state));
        collect(row, x, state, w);
    } else {
        glcnn_image *result = result_of(forward, &arguments, &state);
        glcnn_image_destroy(&result);
    }
    if (strcmp(row->forward, "dropout") == 0)
        read_mask(state, w);
    glcnn_kernel_destroy(&forward);
    return state;
}

static void address(glcnn_kernel *kernel, const struct place *p)
{
    struct glcnn_addressing *to = glcnn_kernel_properties(kernel);
    to->primary.offset = (struct glcnn_offset){p->primary[1], p->primary[0], 0};
    to->secondary.offset = (struct glcnn_offset){p->secondary[1], p->secondary[0], 0};
    to->secondary.edge_mode = p->clamp ? GLCNN_EDGE_MODE_CLAMP : GLCNN_EDGE_MODE_ZERO;
    to->primary.edge_mode = to->secondary.edge_mode; /* G is 0 outside, whatever it says */
    to->kernel_offset_x = p->kernel[1];
    to->kernel_offset_y = p->kernel[0];
    to->clip_rect = (struct glcnn_region){{(uint32_t)clip_origin[1], (uint32_t)clip_origin[0], 0},
                                          {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
}

static bool is_as_expected(const struct row *row, const struct world *w, const float *found)
{
    bool good = true;
    for (int n = 0; n < IMAGES && good; n++)
        for (int c = 0; c < CHANNELS && good; c++)
            for (int y = 0; y < to_size.height && good; y++)
                for (int x = 0; x < to_size.width && good; x++) {
                    int j = y - clip_origin[0], i = x - clip_origin[1];
                    double value = (double)found[at(to_size, n, c, y, x)];
                    double expected = j < 0 || i < 0 ? 9 : row->expected(w, n, c, j, i);
                    if (!isfinite(expected)) /* a quotient by an outside 0 */
                        continue;
                    good = is_near(value, expected, 2e-5);
                    if (!good)
                        fprintf(stderr, "  at [%d][%d][%d][%d]\n", n, c, y, x);
                }
    return good;
}

static void check_place(const struct row *row, glcnn_kernel *kernel, struct world *w,
                        const struct glcnn_encode *given, const struct place *place)
{
    struct glcnn_encode arguments = *given;
    arguments.destination =
        make_image(IMAGES, CHANNELS, (uint32_t)to_size.height, (uint32_t)to_size.width);
    fill_constant(arguments.destination, 9);
    w->place = place;
    address(kernel, place);
    encode(kernel, &arguments);
    float *found = read_image(arguments.destination);
    bool good = is_as_expected(row, w, found);
    if (!good)
        fprintf(stderr, "  %s: primary %d %d, secondary %d %d, kernel offset %d %d, %s\n",
                row->kernel, place->primary[1], place->primary[0], place->secondary[1],
                place->secondary[0], place->kernel[1], place->kernel[0],
                place->clamp ? "clamp" : "zero");
    CU_ASSERT_TRUE(good);
    free(found);
    glcnn_image_destroy(&arguments.destination);
}

/* Offsets of both signs along both axes. */
static struct place place_number(int index)
{
    static const int primary[] = {-2, 0, 1}, secondary[] = {-3, -1, 0, 2}, kernel[] = {0, 2, -1};
    return (struct place){.primary = {primary[index % 3], primary[(index + 1) % 3]},
                          .secondary = {secondary[index % 4], secondary[(index + 2) % 4]},
                          .kernel = {kernel[index / 12 % 3], kernel[index / 24 % 3]},
                          .clamp = index % 2};
}
#define PLACES 36

static void random_values(float *values, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = noise(&seed);
}

static void check_row(const struct row *row)
{
    float x[IMAGES * CHANNELS * 4 * 5], g[IMAGES * CHANNELS * 5 * 6];
    struct world w = {.x = x, .g = g, .gamma = {1, 1, 1, 1, 1}};
    random_values(x, sizeof x / sizeof *x, 3);
    random_values(g, sizeof g / sizeof *g, 4);
    struct glcnn_encode given = {.source = make(g_size, g), .secondary = make(x_size, x)};
    given.state = make_state(row, given.secondary, &w);
    glcnn_kernel *kernel = make_kernel(row->kernel, row);
    for (int p = 0; p < PLACES; p++) {
        struct place place = place_number(p);
        check_place(row, kernel, &w, &given, &place);
    }
    free(w.mask);
    glcnn_kernel_destroy(&kernel);
    glcnn_state_destroy(&given.state);
    glcnn_image_destroy(&given.source);
    glcnn_image_destroy(&given.secondary);
}

static void test_pixels_meet_at_their_offsets(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
}

/* ---- Sums ---- */

static void check_vector(const struct world *w, const glcnn_state *state, const char *name,
                         formula term)
{
    double found[CHANNELS];
    read_vector(state, name, found);
    for (int c = 0; c < CHANNELS; c++) {
        double expected = 0;
        for (int n = 0; n < IMAGES; n++)
            expected += sum_of(w, term, n, c);
        CU_ASSERT_TRUE(is_near(found[c], expected, 2e-5));
    }
}

static void test_gamma_and_beta_meet_at_their_offsets(void)
{
    static const struct row row = {
        "batch_normalization_statistics_gradient", NULL, NULL, {{"epsilon", EPSILON}}};
    float x[IMAGES * CHANNELS * 4 * 5], g[IMAGES * CHANNELS * 5 * 6];
    struct world w = {.x = x, .g = g};
    random_values(x, sizeof x / sizeof *x, 3);
    random_values(g, sizeof g / sizeof *g, 4);
    struct glcnn_encode given = {.source = make(g_size, g), .secondary = make(x_size, x)};
    glcnn_kernel *forward = make_kernel("batch_normalization", &row);
    for (int p = 0; p < PLACES; p++) {
        struct place place = place_number(p);
        w.place = &place;
        glcnn_kernel *kernel = make_kernel(row.kernel, &row);
        GOOD_FATAL(glcnn_kernel_result_state(NULL, forward, &given, &given.state));
        glcnn_kernel *statistics = make_kernel("batch_normalization_statistics", &row);
        encode(statistics, &(struct glcnn_encode){.source = given.secondary, .state = given.state});
        read_vector(given.state, "mean", w.mean);
        read_vector(given.state, "variance", w.variance);
        address(kernel, &place);
        encode(kernel, &given);
        check_vector(&w, given.state, "gradient_for_beta", beta_term);
        check_vector(&w, given.state, "gradient_for_gamma", gamma_term);
        glcnn_kernel_destroy(&statistics);
        glcnn_kernel_destroy(&kernel);
        glcnn_state_destroy(&given.state);
    }
    glcnn_kernel_destroy(&forward);
    glcnn_image_destroy(&given.source);
    glcnn_image_destroy(&given.secondary);
}

static void test_slopes_meet_at_their_offsets(void)
{
    static const struct row row = {
        "neuron_slope_gradient", "neuron", NULL, {{"neuron_type", GLCNN_NEURON_TYPE_PRELU}}};
    float x[IMAGES * CHANNELS * 4 * 5], g[IMAGES * CHANNELS * 5 * 6];
    struct world w = {.x = x, .g = g};
    random_values(x, sizeof x / sizeof *x, 3);
    random_values(g, sizeof g / sizeof *g, 4);
    struct glcnn_encode given = {.source = make(g_size, g), .secondary = make(x_size, x)};
    glcnn_kernel *kernel = make_kernel(row.kernel, &row);
    for (int p = 0; p < PLACES; p++) {
        struct place place = place_number(p);
        w.place = &place;
        given.state = make_state(&row, given.secondary, &w);
        address(kernel, &place);
        encode(kernel, &given);
        check_vector(&w, given.state, "gradient_for_neuron_data", slope_term);
        glcnn_state_destroy(&given.state);
    }
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&given.source);
    glcnn_image_destroy(&given.secondary);
}

/* ---- The examples of the headers ---- */

/* A row of four pixels of the gradient 4, 6, for each kernel_offset_x of 0, 1 and -1. */
static void check_example(glcnn_kernel *kernel, glcnn_state *state, const float expected[3][4])
{
    static const int32_t offsets[] = {0, 1, -1};
    static const float values[] = {4, 6};
    glcnn_image *gradient = make_image(1, 1, 1, 2), *source = make_image(1, 1, 1, 4),
                *result = make_image(1, 1, 1, 4);
    fill_image(gradient, values);
    fill_constant(source, 1);
    for (int i = 0; i < 3; i++) {
        glcnn_kernel_properties(kernel)->kernel_offset_x = offsets[i];
        encode(kernel,
               &(struct glcnn_encode){
                   .source = gradient, .secondary = source, .state = state, .destination = result});
        CU_ASSERT_TRUE(image_equals(result, expected[i]));
    }
    glcnn_image_destroy(&gradient);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void test_a_kernel_offset_moves_the_result(void)
{
    static const float pooled[3][4] = {{2, 2, 3, 3}, {2, 3, 3, 0}, {0, 2, 2, 3}};
    static const float summed[3][4] = {{4, 0, 6, 0}, {0, 6, 0, 0}, {0, 4, 0, 6}};
    static const float weight = 1;
    const struct glcnn_convolution_descriptor descriptor = {.kernel_width = 1,
                                                            .kernel_height = 1,
                                                            .input_feature_channels = 1,
                                                            .output_feature_channels = 1,
                                                            .stride_in_pixels_x = 2};
    static const char *const names[] = {"gradient_for_weights", "gradient_for_biases"};
    static const size_t lengths[] = {1, 1};
    glcnn_kernel *pooling = NULL, *convolution = NULL;
    glcnn_state *sums = NULL;
    GOOD_FATAL(glcnn_pooling_average_gradient_create(device, 2, 1, 2, 1, &pooling));
    glcnn_kernel_properties(pooling)->secondary.offset.x = 1;
    check_example(pooling, NULL, pooled);
    GOOD_FATAL(glcnn_convolution_gradient_create(
        device, &descriptor, &(struct glcnn_convolution_weights){.weights = &weight},
        &convolution));
    GOOD_FATAL(glcnn_state_create(device, NULL, names, lengths, 2, &sums));
    check_example(convolution, sums, summed);
    glcnn_state_destroy(&sums);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_pixels_meet_at_their_offsets),
        UNIT_TEST(test_gamma_and_beta_meet_at_their_offsets),
        UNIT_TEST(test_slopes_meet_at_their_offsets),
        UNIT_TEST(test_a_kernel_offset_moves_the_result),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("manual_addressing", tests, argc, argv);
}
