/* Cross-channel, spatial, local contrast and instance normalisation: golden values, the choices
 * made where MPS is silent or mistyped (15: exact derivatives, 16: what lies outside the image
 * counts in N), powers at their limits, and what a state brings to a gradient. */
#include "glcnn/kernels/cross_channel_normalization.h"

#include <math.h>

#include "tests/fixture.h"

/* ---- Encoding ---- */

static void encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments)
{
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, kernel, arguments));
    finish(&commands);
}

static glcnn_image *image_with(uint32_t images, uint32_t channels, uint32_t height, uint32_t width,
                               const float *values)
{
    glcnn_image *image = make_image(images, channels, height, width);
    fill_image(image, values);
    return image;
}

static bool near(double found, double expected, double tolerance)
{
    bool good = fabs(found - expected) <= tolerance * fmax(1, fabs(expected));
    if (!good)
        fprintf(stderr, "\n  found %.9g, not %.9g", found, expected);
    return good;
}

static void check_values(glcnn_image *image, const double *expected, double tolerance)
{
    float *found = read_image(image);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    for (size_t i = 0; i < count_of(image); i++)
        CU_ASSERT(near((double)found[i], expected[i], tolerance));
    free(found);
}

/* Forward with a state, then the gradient that follows it. Values are [c][h][w] of one image. */
struct layer {
    glcnn_kernel *forward, *gradient;
    uint32_t channels, height, width;
    glcnn_image *x, *y, *g, *dx;
    glcnn_state *state;
};

static void layer_run(struct layer *l, const float *x, const float *g)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->forward);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->gradient);
    l->x = image_with(1, l->channels, l->height, l->width, x);
    l->g = image_with(1, l->channels, l->height, l->width, g);
    l->y = make_image(1, l->channels, l->height, l->width);
    l->dx = make_image(1, l->channels, l->height, l->width);
    struct glcnn_encode arguments = {.source = l->x, .destination = l->y};
    GOOD_FATAL(glcnn_kernel_result_state(l->forward, NULL, &arguments, &l->state));
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
    struct glcnn_cross_channel_normalization *p = glcnn_cross_channel_normalization(l.forward);
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
    check_values(l.y, (const double[]){0.375, 0.352941, 0.5625}, 1e-6);
    check_values(l.dx, (const double[]){0.239728, -0.234699, -0.148005}, 1e-6);
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
    check_values(l.y, y, 1e-6);
    check_values(l.dx, dx, 1e-6);
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
    check_values(l.dx, dx, 1e-6);
    layer_end(&l);
}

/* X far from 1, L far from 1, exponents of either sign: nothing but what the formula gives. */
static void cross_channel_powers_at_their_limits(void)
{
    static const struct {
        float x, alpha, beta, delta;
    } rows[] = {{0, 1, 5, 1},          {3, 0, 0.5f, 1e-30f}, {1e15f, 1, 0.5f, 0},
                {1e-12f, 1, 0.25f, 0}, {2, 1, 0, 1},         {-3, 1, -1.5f, 1},
                {0.25f, 1, 40, 1},     {5, -0.01f, 3, 2},    {1e12f, 1, 1.5f, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct layer l = cross_channel(1, rows[i].alpha, rows[i].beta, rows[i].delta);
        double x = (double)rows[i].x, alpha = (double)rows[i].alpha, beta = (double)rows[i].beta;
        double scale = (double)rows[i].delta + alpha * x * x, power = pow(scale, -beta);
        layer_run(&l, &rows[i].x, (const float[]){1});
        check_values(l.y, (const double[]){x * power}, 1e-5);
        check_values(l.dx, (const double[]){power - 2 * alpha * beta * x * x * power / scale},
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

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(golden_cross_channel),
        UNIT_TEST(choice_15_cross_channel_gradient_is_exact),
        UNIT_TEST(cross_channel_gradient_takes_the_states_numbers),
        UNIT_TEST(cross_channel_powers_at_their_limits),
        UNIT_TEST(cross_channel_refusals),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("normalization", tests, argc, argv);
}
