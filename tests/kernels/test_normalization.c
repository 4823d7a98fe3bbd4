/* Cross-channel, spatial, local contrast and instance normalisation: golden values, the choices
 * made where MPS is silent or mistyped (spec 12.15: exact derivatives; spec 12.16: what lies
 * outside the image counts in N), powers at their limits, and what a state brings to a gradient. */
#include "glcnn/kernels/cross_channel_normalization.h"
#include "glcnn/kernels/instance_normalization.h"
#include "glcnn/kernels/local_contrast_normalization.h"
#include "glcnn/kernels/spatial_normalization.h"

#include <math.h>

#include "tests/fixture.h"

/* ---- Encoding ---- */

static void encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments)
{
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel, arguments));
    finish(&commands);
}

/* Forward with a state, then the gradient that follows it. Values are [n][c][h][w]. */
struct layer {
    glcnn_kernel *forward, *gradient;
    uint32_t images, channels, height, width; /* images 0: one */
    glcnn_image *x, *y, *g, *dx;
    glcnn_state *state;
};

static void layer_run(struct layer *l, const float *x, const float *g)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->forward);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->gradient);
    uint32_t n = l->images ? l->images : 1;
    l->x = image_with(n, l->channels, l->height, l->width, x);
    l->g = image_with(n, l->channels, l->height, l->width, g);
    l->y = make_image(n, l->channels, l->height, l->width);
    l->dx = make_image(n, l->channels, l->height, l->width);
    struct glcnn_encode arguments = {.source = l->x, .destination = l->y};
    GOOD_FATAL(glcnn_kernel_result_state(NULL, l->forward, &arguments, &l->state));
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->state);
    arguments.state = l->state;
    encode(l->forward, &arguments);
    encode(l->gradient,
           &(struct glcnn_encode){
               .source = l->g, .secondary = l->x, .state = l->state, .destination = l->dx});
}

static void layer_end(struct layer *l)
{
    glcnn_image_destroy(&l->x);
    glcnn_image_destroy(&l->y);
    glcnn_image_destroy(&l->g);
    glcnn_image_destroy(&l->dx);
    glcnn_state_destroy(&l->state);
    glcnn_kernel_destroy(&l->forward);
    glcnn_kernel_destroy(&l->gradient);
}

/* ---- Differences: a formula of the specification as a function of its input ---- */

#define MOST 16

typedef void (*formula)(const double *x, double *y);

/* d sum(g y) / d x by central differences. */
static void differentiate(formula f, size_t count, const double *x, const double *g, double *dx)
{
    double moved[MOST], y[2][MOST];
    memcpy(moved, x, count * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        moved[i] = x[i] + 1e-6;
        f(moved, y[0]);
        moved[i] = x[i] - 1e-6;
        f(moved, y[1]);
        moved[i] = x[i];
        dx[i] = 0;
        for (size_t k = 0; k < count; k++)
            dx[i] += g[k] * (y[0][k] - y[1][k]) / 2e-6;
    }
}

static void to_floats(const double *from, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

/* ---- Cross-channel ---- */

static struct layer cross_channel(uint32_t kernel_size, float alpha, float beta, float delta)
{
    struct layer l = {.channels = 1, .height = 1, .width = 1};
    GOOD_FATAL(glcnn_cross_channel_normalization_create(device, kernel_size, &l.forward));
    GOOD_FATAL(glcnn_cross_channel_normalization_gradient_create(device, 9, &l.gradient));
    struct glcnn_cross_channel_normalization_parameters *p =
        glcnn_cross_channel_normalization(l.forward);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    p->alpha = alpha;
    p->beta = beta;
    p->delta = delta;
    return l;
}

static void golden_cross_channel(void)
{
    static const float x[] = {1, 2, 3}, g[] = {1, 1, 1};
    struct layer l = cross_channel(3, 1, 1, 1);
    l.channels = 3;
    layer_run(&l, x, g);
    check_doubles(l.y, (const double[]){0.375, 0.352941, 0.5625}, 1e-6);
    check_doubles(l.dx, (const double[]){0.239728, -0.234699, -0.148005}, 1e-6);
    layer_end(&l);
}

#define LRN_CHANNELS 7

/* N = 4: channels k - 2 .. k + 1; alpha 2, beta 0.75, delta 1.5. */
static double lrn_scale(const double *x, int k)
{
    double sum = 0;
    for (int q = k - 2; q <= k + 1; q++)
        sum += q >= 0 && q < LRN_CHANNELS ? x[q] * x[q] : 0;
    return 1.5 + 2.0 / 4 * sum;
}

static void lrn(const double *x, double *y)
{
    for (int k = 0; k < LRN_CHANNELS; k++)
        y[k] = x[k] * pow(lrn_scale(x, k), -0.75);
}

/* The gradient as MPS's header has it, without 1/N. */
static double lrn_gradient_as_printed(const double *x, const double *g, int k)
{
    double sum = 0;
    for (int r = k - 1; r <= k + 2; r++)
        sum += r >= 0 && r < LRN_CHANNELS ? g[r] * x[r] * pow(lrn_scale(x, r), -1.75) : 0;
    return g[k] * pow(lrn_scale(x, k), -0.75) - 2 * 2 * 0.75 * x[k] * sum;
}

static void choice_15_cross_channel_gradient_is_exact(void)
{
    static const double x[] = {0.5, -1.25, 2, 0.75, -0.5, 1.5, -2}, g[] = {1, -2, 0.5, 3, 1, -1, 2};
    float xf[LRN_CHANNELS], gf[LRN_CHANNELS];
    double y[LRN_CHANNELS], dx[LRN_CHANNELS];
    struct layer l = cross_channel(4, 2, 0.75f, 1.5f);
    l.channels = LRN_CHANNELS;
    to_floats(x, xf, LRN_CHANNELS);
    to_floats(g, gf, LRN_CHANNELS);
    layer_run(&l, xf, gf);
    lrn(x, y);
    differentiate(lrn, LRN_CHANNELS, x, g, dx);
    check_doubles(l.y, y, 1e-6);
    check_doubles(l.dx, dx, 1e-6);
    CU_ASSERT(fabs(lrn_gradient_as_printed(x, g, 3) - dx[3]) > 0.1);
    layer_end(&l);
}

/* The gradient kernel was made with other numbers: those of the state hold. */
static void cross_channel_gradient_takes_the_states_numbers(void)
{
    static const float x[] = {2, -1, 0.5f}, g[] = {1, 2, -1};
    struct layer l = cross_channel(1, 3, 2, 0.5f);
    double dx[3];
    l.channels = 3;
    layer_run(&l, x, g);
    for (int k = 0; k < 3; k++) {
        double v = (double)x[k], scale = 0.5 + 3 * v * v;
        dx[k] = (double)g[k] * (pow(scale, -2) - 12 * v * v * pow(scale, -3));
    }
    check_doubles(l.dx, dx, 1e-6);
    layer_end(&l);
}

/* X far from 1, L far from 1, exponents of either sign: nothing but what the formula gives. */
static void cross_channel_powers_at_their_limits(void)
{
    static const struct {
        float x, alpha, beta, delta;
    } rows[] = {{0, 1, 5, 1},          {3, 0, 0.5f, 1e-30f}, {1e15f, 1, 0.5f, 0},
                {1e-12f, 1, 0.25f, 0}, {2, 1, 0, 1},         {-3, 1, -1.5f, 1},
                {0.25f, 1, 40, 1},     {5, -0.01f, 3, 2},    {1e12f, 1, 1.5f, 1},
                {1e15f, 1, 0.25f, 1},  {1e6f, 1, 0.5f, 2},   {1e25f, 1, 0.75f, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct layer l = cross_channel(1, rows[i].alpha, rows[i].beta, rows[i].delta);
        double x = (double)rows[i].x, alpha = (double)rows[i].alpha, beta = (double)rows[i].beta;
        double scale = (double)rows[i].delta + alpha * x * x, power = pow(scale, -beta);
        layer_run(&l, &rows[i].x, (const float[]){1});
        check_doubles(l.y, (const double[]){x * power}, 1e-5);
        check_doubles(l.dx, (const double[]){power - 2 * alpha * beta * x * x * power / scale},
                      1e-5);
        layer_end(&l);
    }
}

static void cross_channel_refusals(void)
{
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_cross_channel_normalization_create(device, 0, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    GOOD_FATAL(glcnn_cross_channel_normalization_create(device, 3, &kernel));
    CU_ASSERT_EQUAL(glcnn_cross_channel_normalization(kernel)->kernel_size, 3);
    CU_ASSERT_EQUAL(glcnn_cross_channel_normalization(kernel)->beta, 5);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, "kernel_size", 0));
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_PTR_NULL(glcnn_cross_channel_normalization(NULL));
}

/* ---- Spatial and local contrast ---- */

/* The formulas of both on an image of 3 rows and 4 columns, window WIDE x HIGH, written down as in
 * the specification: T = delta + alpha * mean square of (X - Mn), Mn 0 for the spatial one. */
#define ROWS    3
#define COLUMNS 4
#define PIXELS  (ROWS * COLUMNS)
#define WIDE    3
#define HIGH    2

static struct {
    bool clamp, about_mean;
    double alpha, beta, delta, p0, pm, ps;
} local;

static double pixel(const double *x, int row, int column)
{
    if (local.clamp) {
        row = row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
        column = column < 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : column;
    }
    bool inside = row >= 0 && column >= 0 && row < ROWS && column < COLUMNS;
    return inside ? x[row * COLUMNS + column] : 0;
}

/* Mean of (X - around)^power over the window of pixel i: columns -1 .. 1, rows -1 .. 0 from it. */
static double window_mean(const double *x, int i, double around, int power)
{
    double sum = 0;
    for (int q = -HIGH / 2; q <= (HIGH - 1) / 2; q++)
        for (int p = -WIDE / 2; p <= (WIDE - 1) / 2; p++)
            sum += pow(pixel(x, i / COLUMNS + q, i % COLUMNS + p) - around, power);
    return sum / (WIDE * HIGH);
}

static double local_scale(const double *x, int i)
{
    double mean = local.about_mean ? window_mean(x, i, 0, 1) : 0;
    return local.delta + local.alpha * window_mean(x, i, mean, 2);
}

static void normalise_locally(const double *x, double *y)
{
    for (int i = 0; i < PIXELS; i++) {
        double mean = local.about_mean ? window_mean(x, i, 0, 1) : 0;
        y[i] = local.pm + local.ps * (x[i] - local.p0 * mean) * pow(local_scale(x, i), -local.beta);
    }
}

static const double local_x[PIXELS] = {0.5, -1, 2, 0.25, 1.5, -0.75, 1, -2, 0.125, 3, -1.25, 0.75};
static const double local_g[PIXELS] = {1, -2, 0.5, 3, -1, 0.25, 2, 1, -0.5, 1.5, -3, 0.75};

static void set_addressing(glcnn_kernel *kernel)
{
    glcnn_kernel_properties(kernel)->primary.edge_mode =
        local.clamp ? GLCNN_EDGE_MODE_CLAMP : GLCNN_EDGE_MODE_ZERO;
}

/* Gradient kernels are made with another window: that of the state holds. */
static struct layer spatial(void)
{
    struct layer l = {.channels = 1, .height = ROWS, .width = COLUMNS};
    GOOD_FATAL(glcnn_spatial_normalization_create(device, WIDE, HIGH, &l.forward));
    GOOD_FATAL(glcnn_spatial_normalization_gradient_create(device, 1, 1, &l.gradient));
    struct glcnn_spatial_normalization_parameters *p = glcnn_spatial_normalization(l.forward);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    p->alpha = (float)local.alpha;
    p->beta = (float)local.beta;
    p->delta = (float)local.delta;
    set_addressing(l.forward);
    return l;
}

static struct layer local_contrast(void)
{
    struct layer l = {.channels = 1, .height = ROWS, .width = COLUMNS};
    GOOD_FATAL(glcnn_local_contrast_normalization_create(device, WIDE, HIGH, &l.forward));
    GOOD_FATAL(glcnn_local_contrast_normalization_gradient_create(device, 1, 1, &l.gradient));
    struct glcnn_local_contrast_normalization_parameters *p =
        glcnn_local_contrast_normalization(l.forward);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    *p = (struct glcnn_local_contrast_normalization_parameters){
        .alpha = (float)local.alpha,
        .beta = (float)local.beta,
        .delta = (float)local.delta,
        .p0 = (float)local.p0,
        .pm = (float)local.pm,
        .ps = (float)local.ps,
    };
    set_addressing(l.forward);
    return l;
}

/* Results as the formula, gradients as its differences; `dx` gets the latter. */
static void check_locally(struct layer *l, double dx[PIXELS])
{
    float x[PIXELS], g[PIXELS];
    double y[PIXELS];
    to_floats(local_x, x, PIXELS);
    to_floats(local_g, g, PIXELS);
    layer_run(l, x, g);
    normalise_locally(local_x, y);
    differentiate(normalise_locally, PIXELS, local_x, local_g, dx);
    check_doubles(l->y, y, 2e-6);
    check_doubles(l->dx, dx, 2e-6);
    layer_end(l);
}

/* The header's gradient at pixel i: T(i) outside of the sum, and no 1/N. */
static double spatial_gradient_as_printed(int i)
{
    double sum = 0, scale = local_scale(local_x, i);
    for (int v = 0; v < PIXELS; v++) {
        int row = v / COLUMNS - i / COLUMNS, column = v % COLUMNS - i % COLUMNS;
        bool holds = row >= 0 && row <= 1 && column >= -1 && column <= 1;
        sum += holds ? local_g[v] * local_x[v] : 0;
    }
    double slope = 2 * local.alpha * local.beta * local_x[i] / scale;
    return pow(scale, -local.beta) * (local_g[i] - slope * sum);
}

static void choice_15_spatial_gradient_is_exact(void)
{
    for (int clamp = 0; clamp < 2; clamp++) {
        double dx[PIXELS];
        local.clamp = clamp;
        local.about_mean = false;
        local.alpha = 1.5;
        local.beta = 0.75;
        local.delta = 0.5;
        local.p0 = local.pm = 0;
        local.ps = 1;
        struct layer l = spatial();
        check_locally(&l, dx);
        CU_ASSERT(fabs(spatial_gradient_as_printed(5) - dx[5]) > 0.1);
    }
}

/* The gradient at pixel i with "X - 1" where X - M belongs, as the header has it. */
static double contrast_gradient_as_printed(int i)
{
    double sum = 0, slope = 2 * local.alpha * local.beta * (local_x[i] - 1);
    for (int v = 0; v < PIXELS; v++) {
        int row = v / COLUMNS - i / COLUMNS, column = v % COLUMNS - i % COLUMNS;
        bool holds = row >= 0 && row <= 1 && column >= -1 && column <= 1;
        double scale = local_scale(local_x, v);
        double contrast = local_x[v] - local.p0 * window_mean(local_x, v, 0, 1);
        double term = local.p0 + slope * contrast / scale;
        sum += holds ? local_g[v] * pow(scale, -local.beta) * term / (WIDE * HIGH) : 0;
    }
    return local.ps * (local_g[i] * pow(local_scale(local_x, i), -local.beta) - sum);
}

static void choice_15_local_contrast_gradient_is_exact(void)
{
    for (int i = 0; i < 4; i++) {
        double dx[PIXELS];
        local.clamp = i % 2;
        local.about_mean = true;
        local.alpha = 1.25;
        local.beta = i < 2 ? 0.5 : 1.5;
        local.delta = 0.25;
        local.p0 = i < 2 ? 0 : 0.75;
        local.pm = i < 2 ? 0 : -0.5;
        local.ps = i < 2 ? 1 : 2;
        struct layer l = local_contrast();
        check_locally(&l, dx);
        double apart = 0;
        for (int k = 0; k < PIXELS; k++)
            apart = fmax(apart, fabs(contrast_gradient_as_printed(k) - dx[k]));
        CU_ASSERT(apart > 0.1);
    }
}

/* All pixels are 1. With zeros outside, the window of the first pixel has 2 ones and 4 zeros, with
 * clamping 6 ones: neither is a window of 2 pixels. */
static void choice_16_the_outside_counts(void)
{
    static const float ones[PIXELS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, zeros[PIXELS] = {0};
    static const double first[2] = {2, 5};
    for (int clamp = 0; clamp < 2; clamp++) {
        local.clamp = clamp;
        local.alpha = 2;
        local.beta = 0.5;
        local.delta = 0.25;
        local.p0 = 1;
        local.pm = 3;
        local.ps = 1;
        struct layer l = local_contrast();
        layer_run(&l, ones, zeros);
        float *y = read_image(l.y);
        double mean = clamp ? 1 : 2.0 / 6, variance = mean * (1 - mean);
        CU_ASSERT(is_near((double)y[0], 3 + (1 - mean) / sqrt(0.25 + 2 * variance), 1e-6));
        CU_ASSERT(is_near((double)y[5], 3, 1e-6)); /* a window inside the image */
        free(y);
        layer_end(&l);
        l = spatial();
        layer_run(&l, ones, zeros);
        y = read_image(l.y);
        CU_ASSERT(is_near((double)y[0], 1 / sqrt(0.25 + 2 * (clamp ? 1 : first[0] / 6)), 1e-6));
        free(y);
        layer_end(&l);
    }
}

/* One row, window 3, only the mean taken away: Y(u) = X(u) - (X(u-1) + X(u) + X(u+1)) / 3. Clamped,
 * the pixels of the border are read twice by the window around them. */
static void clamped_taps_add_to_the_border(void)
{
    static const float x[] = {4, 1, -2, 8}, g[] = {3, 6, -3, 9};
    static const double dx[2][4] = {{3 - 3, 6 - 2, -3 - 4, 9 - 2}, {3 - 4, 6 - 2, -3 - 4, 9 - 5}};
    for (int clamp = 0; clamp < 2; clamp++) {
        struct layer l = {.channels = 1, .height = 1, .width = 4};
        GOOD_FATAL(glcnn_local_contrast_normalization_create(device, 3, 1, &l.forward));
        GOOD_FATAL(glcnn_local_contrast_normalization_gradient_create(device, 3, 1, &l.gradient));
        local.clamp = clamp;
        set_addressing(l.forward);
        glcnn_local_contrast_normalization(l.forward)->delta = 1;
        layer_run(&l, x, g);
        check_doubles(l.dx, dx[clamp], 1e-6);
        layer_end(&l);
    }
}

/* Means of a thousand, deviations of a hundredth: mean square less squared mean would have nothing
 * left in float32. */
static void contrast_beside_a_large_mean(void)
{
    static const float x[] = {1000.0f, 1000.015625f, 1000.03125f, 1000.0078125f, 1000.0234375f};
    struct layer l = {.channels = 1, .height = 1, .width = 5};
    GOOD_FATAL(glcnn_local_contrast_normalization_create(device, 3, 1, &l.forward));
    GOOD_FATAL(glcnn_local_contrast_normalization_gradient_create(device, 3, 1, &l.gradient));
    struct glcnn_local_contrast_normalization_parameters *p =
        glcnn_local_contrast_normalization(l.forward);
    p->alpha = 1;
    p->delta = 1e-6f;
    layer_run(&l, x, (const float[]){0, 0, 1, 0, 0});
    float *y = read_image(l.y), *dx = read_image(l.dx);
    double d = (double)x[2] - 1000, a = (double)x[1] - 1000, b = (double)x[3] - 1000;
    double mean = (a + d + b) / 3;
    double scale =
        1e-6 + ((a - mean) * (a - mean) + (d - mean) * (d - mean) + (b - mean) * (b - mean)) / 3;
    CU_ASSERT(is_near((double)y[2], (d - mean) / sqrt(scale), 1e-5));
    CU_ASSERT_DOUBLE_EQUAL((double)dx[1] + (double)dx[2] + (double)dx[3], 0, 1e-5 / sqrt(scale));
    free(y);
    free(dx);
    layer_end(&l);
}

/* By hand: G from the primary offset, X from the secondary offset, both counted from the clip
 * rectangle. Beta 1, alpha 1, delta 1, window 3, X and G of a row. */
static void spatial_gradient_addressed_by_hand(void)
{
    enum { W = 6 };
    static const float x[W] = {1, -2, 0.5f, 3, -1, 2}, g[W] = {2, 1, -1, 3, 0.5f, -2};
    glcnn_kernel *kernel = NULL;
    glcnn_image *image = image_with(1, 1, 1, W, x), *gradient = image_with(1, 1, 1, W, g);
    glcnn_image *to = make_image(1, 1, 1, W);
    GOOD_FATAL(glcnn_spatial_normalization_gradient_create(device, 3, 1, &kernel));
    glcnn_spatial_normalization(kernel)->beta = 1;
    struct glcnn_addressing *p = glcnn_kernel_properties(kernel);
    p->secondary.offset.x = 2;
    p->clip_rect.origin.x = 1;
    p->clip_rect.size.width = 3;
    encode(kernel,
           &(struct glcnn_encode){.source = gradient, .secondary = image, .destination = to});
    double scale[W] = {0}, expected[W] = {0};
    for (int u = 1; u < W; u++)
        for (int v = u - 1; v <= u + 1; v++)
            scale[u] += v < W ? (double)x[v] * (double)x[v] / 3 : 0;
    for (int j = 0; j < 3; j++) { /* pixel 2 + j, whose result has gradient j */
        int u = 2 + j;
        expected[1 + j] = (double)g[j] / (1 + scale[u]);
        for (int v = u - 1; v <= u + 1; v++)
            expected[1 + j] -= v < 2 || v >= W ? 0
                                               : 2.0 / 3 * (double)x[u] * (double)g[v - 2] *
                                                     (double)x[v] / pow(1 + scale[v], 2);
    }
    check_doubles(to, expected, 1e-6);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&gradient);
    glcnn_image_destroy(&to);
    glcnn_kernel_destroy(&kernel);
}

static void local_defaults_and_refusals(void)
{
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_spatial_normalization_create(device, 3, 0, &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_local_contrast_normalization_gradient_create(device, 0, 3, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    GOOD_FATAL(glcnn_local_contrast_normalization_create(device, 3, 3, &kernel));
    const struct glcnn_local_contrast_normalization_parameters *p =
        glcnn_local_contrast_normalization(kernel);
    CU_ASSERT(p->alpha == 0 && p->beta == 0.5f && p->delta == 1.0f / 1024);
    CU_ASSERT(p->p0 == 1 && p->pm == 0 && p->ps == 1);
    CU_ASSERT_PTR_NULL(glcnn_spatial_normalization(kernel));
    glcnn_kernel_destroy(&kernel);
}

/* ---- Instance ---- */

#define CHANNELS 3
#define SIDE     4
#define PLANE    (SIDE * SIDE)

static const float gammas[CHANNELS] = {2, -0.5f, 1.5f}, betas[CHANNELS] = {0.5f, 1, -2};

static struct layer instance(uint32_t channels, const float *gamma, const float *beta,
                             float epsilon)
{
    const struct glcnn_instance_normalization_data_source source = {channels, gamma, beta, epsilon};
    struct layer l = {.channels = channels, .height = SIDE, .width = SIDE};
    GOOD_FATAL(glcnn_instance_normalization_create(device, &source, &l.forward));
    GOOD_FATAL(glcnn_instance_normalization_gradient_create(device, &l.gradient));
    return l;
}

static void check_vector(glcnn_state *state, const char *name, const double *expected, size_t count)
{
    float values[CHANNELS];
    glcnn_buffer *buffer = glcnn_state_vector(state, name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    CU_ASSERT_EQUAL_FATAL(glcnn_buffer_size(buffer), count * 4);
    GOOD(glcnn_buffer_read(buffer, 0, count * 4, values));
    for (size_t i = 0; i < count; i++)
        CU_ASSERT(is_near((double)values[i], expected[i], 2e-6));
}

/* One image of one channel is a batch of one: the golden values of batch normalisation. */
static void golden_instance(void)
{
    static const float x[] = {1, 2, 3, 6}, g[] = {1, 0, -1, 2};
    struct layer l = instance(1, gammas, betas, 0);
    l.height = l.width = 2;
    layer_run(&l, x, g);
    check_doubles(l.y, (const double[]){-1.638090, -0.569045, 0.5, 3.707135}, 1e-6);
    check_doubles(l.dx, (const double[]){1.145405, -0.229081, -1.603567, 0.687243}, 1e-6);
    check_vector(l.state, "gradient_for_beta", (const double[]){2}, 1);
    check_vector(l.state, "gradient_for_gamma", (const double[]){2.138090}, 1);
    check_vector(l.state, "gamma", (const double[]){2}, 1);
    layer_end(&l);
}

/* Image `n` of `from`, alone. */
static glcnn_image *part_of(glcnn_image *from, size_t n)
{
    float *values = read_image(from);
    glcnn_image *part = image_with(1, CHANNELS, SIDE, SIDE, values + n * CHANNELS * PLANE);
    free(values);
    return part;
}

static void read_vector(glcnn_state *state, const char *name, double sum[CHANNELS])
{
    float values[CHANNELS];
    GOOD(glcnn_buffer_read(glcnn_state_vector(state, name), 0, sizeof values, values));
    for (int c = 0; c < CHANNELS; c++)
        sum[c] += (double)values[c];
}

#define IMAGES 5

/* Everything that a batch of images of one image each takes. */
struct batch {
    struct glcnn_encode forward[IMAGES], gradient[IMAGES];
};

static void batch_begin(struct batch *b, glcnn_kernel *kernel, glcnn_image *x, glcnn_image *g)
{
    for (size_t i = 0; i < IMAGES; i++) {
        struct glcnn_encode *f = &b->forward[i];
        *f = (struct glcnn_encode){.source = part_of(x, i),
                                   .destination = make_image(1, CHANNELS, SIDE, SIDE)};
        GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, f, &f->state));
        b->gradient[i] = (struct glcnn_encode){.source = part_of(g, i),
                                               .secondary = f->source,
                                               .state = f->state,
                                               .destination = make_image(1, CHANNELS, SIDE, SIDE)};
    }
}

static void batch_end(struct batch *b)
{
    for (size_t i = 0; i < IMAGES; i++) {
        glcnn_image *images[] = {b->forward[i].source, b->forward[i].destination,
                                 b->gradient[i].source, b->gradient[i].destination};
        for (int k = 0; k < 4; k++)
            glcnn_image_destroy(&images[k]);
        glcnn_state_destroy(&b->forward[i].state);
    }
}

/* Several images in one image are normalised as each of them alone; the one state that they have
 * holds the sum of what their own states hold. */
static void images_are_normalised_by_themselves(void)
{
    static const char *const names[] = {"gradient_for_gamma", "gradient_for_beta"};
    struct layer l = instance(CHANNELS, gammas, betas, 1e-3f);
    struct batch b;
    double sums[2][CHANNELS] = {{0}};
    glcnn_image *x = make_image(IMAGES, CHANNELS, SIDE, SIDE);
    glcnn_image *g = make_image(IMAGES, CHANNELS, SIDE, SIDE);
    fill_noise(x, 1);
    fill_noise(g, 2);
    float *xs = read_image(x), *gs = read_image(g);
    batch_begin(&b, l.forward, x, g);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode_batch(commands, l.forward, b.forward, IMAGES));
    GOOD(glcnn_kernel_encode_batch(commands, l.gradient, b.gradient, IMAGES));
    finish(&commands);
    l.images = IMAGES;
    layer_run(&l, xs, gs);
    for (size_t i = 0; i < IMAGES; i++) {
        glcnn_image *y = part_of(l.y, i), *dx = part_of(l.dx, i);
        CU_ASSERT(images_equal(y, b.forward[i].destination));
        CU_ASSERT(images_equal(dx, b.gradient[i].destination));
        for (int k = 0; k < 2; k++)
            read_vector(b.forward[i].state, names[k], sums[k]);
        glcnn_image_destroy(&y);
        glcnn_image_destroy(&dx);
    }
    for (int k = 0; k < 2; k++)
        check_vector(l.state, names[k], sums[k], CHANNELS);
    batch_end(&b);
    free(xs);
    free(gs);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&g);
    layer_end(&l);
}

/* Of each image, one after the other: the gradient takes what the state has. */
static void statistics_are_kept_for_the_gradient(void)
{
    static const float x[] = {1, 2, 3, 6, 0, 0, 4, 4}, g[] = {1, 0, -1, 2, 0, 0, 1, 0};
    struct layer l = instance(1, NULL, NULL, 0);
    l.images = l.height = l.width = 2;
    layer_run(&l, x, g);
    check_vector(l.state, "mean", (const double[]){3, 2}, 2);
    check_vector(l.state, "variance", (const double[]){3.5, 4}, 2);
    GOOD(glcnn_state_set_vector(l.state, "mean", (const float[]){0, 0}, 2));
    GOOD(glcnn_state_set_vector(l.state, "variance", (const float[]){1, 1}, 2));
    encode(l.gradient, &(struct glcnn_encode){
                           .source = l.g, .secondary = l.x, .state = l.state, .destination = l.dx});
    check_vector(l.state, "gradient_for_gamma", (const double[]){1 - 3 + 12 + 4}, 1);
    layer_end(&l);
}

/* A second gradient encode starts the state's sums over. */
static void gradients_do_not_accumulate(void)
{
    static const float x[] = {1, 2, 3, 6}, g[] = {1, 0, -1, 2};
    struct layer l = instance(1, NULL, NULL, 0);
    l.height = l.width = 2;
    layer_run(&l, x, g);
    encode(l.gradient, &(struct glcnn_encode){
                           .source = l.g, .secondary = l.x, .state = l.state, .destination = l.dx});
    check_vector(l.state, "gradient_for_beta", (const double[]){2}, 1);
    check_vector(l.state, "gradient_for_gamma", (const double[]){2.138090}, 1);
    layer_end(&l);
}

/* Nothing varies in an image of one pixel, or of equal pixels: the result is beta, and with G the
 * same everywhere no gradient is left, whatever 1 / sqrt(FLT_MIN) makes of a rounding error. */
static void images_without_variance(void)
{
    static const uint32_t sides[] = {1, 2, 4};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        uint32_t side = sides[i];
        struct layer l = {.channels = 1, .height = side, .width = side};
        const struct glcnn_instance_normalization_data_source source = {1, gammas, betas, 0};
        float x[PLANE], g[PLANE];
        double y[PLANE], dx[PLANE];
        for (uint32_t k = 0; k < side * side; k++) {
            x[k] = 0.1f;
            g[k] = 0.75f;
            y[k] = 0.5;
            dx[k] = 0;
        }
        GOOD_FATAL(glcnn_instance_normalization_create(device, &source, &l.forward));
        GOOD_FATAL(glcnn_instance_normalization_gradient_create(device, &l.gradient));
        layer_run(&l, x, g);
        check_doubles(l.y, y, 0);
        check_doubles(l.dx, dx, 0);
        layer_end(&l);
    }
}

/* New gamma and beta are used from the next encode on, by the gradient too. */
static void gamma_is_reloaded_in_order(void)
{
    static const float x[] = {-1, 1, -1, 1}, g[] = {4, 0, 0, 0}, three = 3;
    struct layer l = instance(1, NULL, NULL, 1e-9f);
    glcnn_buffer *buffer = NULL;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_buffer_create(device, 4, &buffer));
    GOOD(glcnn_buffer_write(buffer, 0, 4, &three));
    GOOD(glcnn_kernel_encode_reload(commands, l.forward, "gamma", buffer));
    finish(&commands);
    l.height = l.width = 2;
    layer_run(&l, x, g);
    check_doubles(l.y, (const double[]){-3, 3, -3, 3}, 1e-6);
    check_doubles(l.dx, (const double[]){6, 0, -6, 0}, 1e-6);
    glcnn_buffer_destroy(&buffer);
    layer_end(&l);
}

static void instance_refusals(void)
{
    struct layer l = instance(CHANNELS, gammas, betas, 0);
    glcnn_image *x = make_image(1, CHANNELS, SIDE, SIDE), *y = make_image(1, CHANNELS, SIDE, SIDE);
    glcnn_image *narrow = make_image(1, 2, SIDE, SIDE), *to = make_image(1, 2, SIDE, SIDE);
    glcnn_command_buffer *commands = make_commands();
    REFUSED(
        GLCNN_INVALID_ARGUMENT,
        glcnn_kernel_encode(commands, l.gradient,
                            &(struct glcnn_encode){.source = x, .secondary = x, .destination = y}));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode(commands, l.forward,
                                &(struct glcnn_encode){.source = narrow, .destination = to}));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(l.forward, "epsilon", -1));
    finish(&commands);
    CU_ASSERT_FALSE(glcnn_kernel_is_result_state_reused_across_batch(l.forward));
    CU_ASSERT_FALSE(glcnn_kernel_append_batch_barrier(l.gradient));
    CU_ASSERT_TRUE(glcnn_kernel_is_state_modified(l.gradient));
    glcnn_image *images[] = {x, y, narrow, to};
    for (int i = 0; i < 4; i++)
        glcnn_image_destroy(&images[i]);
    layer_end(&l);
}

/* 0 times what is not finite is no number, as the formula has it: p0 is 0, and so the mean counts in T
 * alone. */
static void contrast_without_alpha_takes_what_is_not_finite(void)
{
    static const float spoilt[] = {NAN, INFINITY, 1e20f};
    glcnn_kernel *kernel = kernel_with("local_contrast_normalization",
                                       "kernel_width=3 kernel_height=3 alpha=0 p0=0 delta=4");
    for (size_t k = 0; k < sizeof spoilt / sizeof *spoilt; k++) {
        float x[49];
        for (int i = 0; i < 49; i++)
            x[i] = i == 24 ? spoilt[k] : (float)i;
        glcnn_image *source = image_with(1, 1, 7, 7, x), *result = make_image(1, 1, 7, 7);
        glcnn_command_buffer *to = make_commands();
        GOOD(glcnn_kernel_encode(to, kernel,
                                 &(struct glcnn_encode){.source = source, .destination = result}));
        finish(&to);
        float *y = read_image(result);
        for (int i = 0; i < 49; i++) {
            bool reads = abs(i / 7 - 3) <= 1 && abs(i % 7 - 3) <= 1;
            CU_ASSERT(reads ? isnan(y[i]) : is_near(y[i], 0.5 * i, 1e-6));
        }
        free(y);
        glcnn_image_destroy(&source);
        glcnn_image_destroy(&result);
    }
    glcnn_kernel_destroy(&kernel);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(golden_cross_channel),
        UNIT_TEST(choice_15_cross_channel_gradient_is_exact),
        UNIT_TEST(cross_channel_gradient_takes_the_states_numbers),
        UNIT_TEST(cross_channel_powers_at_their_limits),
        UNIT_TEST(cross_channel_refusals),
        UNIT_TEST(choice_15_spatial_gradient_is_exact),
        UNIT_TEST(choice_15_local_contrast_gradient_is_exact),
        UNIT_TEST(choice_16_the_outside_counts),
        UNIT_TEST(clamped_taps_add_to_the_border),
        UNIT_TEST(contrast_beside_a_large_mean),
        UNIT_TEST(contrast_without_alpha_takes_what_is_not_finite),
        UNIT_TEST(spatial_gradient_addressed_by_hand),
        UNIT_TEST(local_defaults_and_refusals),
        UNIT_TEST(golden_instance),
        UNIT_TEST(statistics_are_kept_for_the_gradient),
        UNIT_TEST(images_are_normalised_by_themselves),
        UNIT_TEST(gradients_do_not_accumulate),
        UNIT_TEST(images_without_variance),
        UNIT_TEST(gamma_is_reloaded_in_order),
        UNIT_TEST(instance_refusals),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("normalization", tests, argc, argv);
}
