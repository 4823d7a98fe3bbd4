/* Losses: values and gradients of each type, the gradient by finite differences, reductions,
 * weights and smoothing, and what is refused. */
#include "glcnn/kernels/loss.h"

#include <math.h>

#include "run/run.h"
#include "tests/fixture.h"

#define MOST 1024

enum { CE = GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, MSE = GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR };
enum { NONE, SUM, MEAN, BY_WEIGHTS };

static const char *const type_names[] = {"mean_absolute_error",
                                         "mean_squared_error",
                                         "soft_max_cross_entropy",
                                         "sigmoid_cross_entropy",
                                         "categorical_cross_entropy",
                                         "hinge",
                                         "huber",
                                         "cosine_distance",
                                         "log",
                                         "kullback_leibler_divergence",
                                         "quality_focal"};
#define TYPES ((int)(sizeof type_names / sizeof *type_names))

/* How many values an enumeration of the kernel has. */
static int count_of_values(const char *parameter)
{
    const struct parameter *p = descriptor_find("loss")->parameters;
    int count = 0;
    while (strcmp(p->name, parameter) != 0)
        p++;
    while (p->value_names[count])
        count++;
    return count;
}

/* ---- A loss kernel with its images ---- */

struct loss_run {
    glcnn_kernel *kernel;
    glcnn_image *y, *t, *w, *gradient, *loss; /* w and loss may be NULL */
};

static struct loss_run begin(int type, int reduction, uint32_t n, uint32_t c, uint32_t h,
                             uint32_t w)
{
    struct loss_run r = {0};
    GOOD_FATAL(glcnn_loss_create(device, (glcnn_loss_type)type, (glcnn_reduction_type)reduction,
                                 &r.kernel));
    r.y = make_image(n, c, h, w);
    r.t = make_image(n, c, h, w);
    r.gradient = make_image(n, c, h, w);
    r.loss = reduction == NONE ? make_image(n, c, h, w) : make_image(n, 1, 1, 1);
    fill_noise(r.y, 1);
    fill_noise(r.t, 2);
    return r;
}

static void end(struct loss_run *r)
{
    glcnn_image_destroy(&r->y);
    glcnn_image_destroy(&r->t);
    glcnn_image_destroy(&r->w);
    glcnn_image_destroy(&r->gradient);
    glcnn_image_destroy(&r->loss);
    glcnn_kernel_destroy(&r->kernel);
}

static struct glcnn_encode arguments_of(const struct loss_run *r)
{
    return (struct glcnn_encode){.source = r->y,
                                 .labels = r->t,
                                 .label_weights = r->w,
                                 .destination = r->gradient,
                                 .loss = r->loss};
}

static void compute(struct loss_run *r)
{
    const struct glcnn_encode arguments = arguments_of(r);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, r->kernel, &arguments));
    finish(&commands);
}

/* Copies an image's values; they are few. */
static void values_of(glcnn_image *image, float values[MOST])
{
    float *read = read_image(image);
    CU_ASSERT_TRUE_FATAL(read != NULL && count_of(image) <= MOST);
    memcpy(values, read, count_of(image) * sizeof *values);
    free(read);
}

static double sum_of(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return sum;
}

static void check_values(glcnn_image *image, const double *expected, double tolerance)
{
    float found[MOST];
    values_of(image, found);
    for (size_t i = 0; i < count_of(image); i++)
        CU_ASSERT_DOUBLE_EQUAL(found[i], expected[i], tolerance);
}

/* ---- Values ---- */

static const struct {
    int type;
    float y, t;
    double loss, gradient;
} points[] = {
    {GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR, 1.5f, 0.25f, 1.25, 1},
    {GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR, -1, 2, 3, -1},
    {GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR, 0.5f, 0.5f, 0, 0}, /* spec 12.25 */
    {GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, 1.5f, 0.25f, 1.5625, 2.5},
    {GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, -1, 2, 9, -6},
    {GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY, 2, 1, 0.126928011, -0.119202922},
    {GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY, -3, 1, 3.04858735, -0.952574127},
    {GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY, 0, 0.25f, 0.693147181, 0.25},
    {GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY, 120, 0, 120, 1},
    {GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY, -120, 1, 120, -1},
    {GLCNN_LOSS_TYPE_CATEGORICAL_CROSS_ENTROPY, 0.2f, 1, 1.60943791, -5},
    {GLCNN_LOSS_TYPE_CATEGORICAL_CROSS_ENTROPY, 0.7f, 0.5f, 0.178337472, -0.714285714},
    {GLCNN_LOSS_TYPE_CATEGORICAL_CROSS_ENTROPY, 0, 0, 0, 0},
    {GLCNN_LOSS_TYPE_HINGE, 0.25f, 1, 0.75, -1}, /* spec 12.21: labels 0 and 1 */
    {GLCNN_LOSS_TYPE_HINGE, 0.25f, 0, 1.25, 1},
    {GLCNN_LOSS_TYPE_HINGE, 2, 1, 0, 0},
    {GLCNN_LOSS_TYPE_HINGE, -2, 0, 0, 0},
    {GLCNN_LOSS_TYPE_HUBER, 1.5f, 1.25f, 0.03125, 0.25}, /* spec 12.22: of y - t, with sign */
    {GLCNN_LOSS_TYPE_HUBER, 3, 0.5f, 2, 1},
    {GLCNN_LOSS_TYPE_HUBER, -2, 1, 2.5, -1},
    {GLCNN_LOSS_TYPE_COSINE_DISTANCE, 0.5f, 0.25f, 0.875, -0.25},
    {GLCNN_LOSS_TYPE_COSINE_DISTANCE, -2, 3, 7, -3},
    {GLCNN_LOSS_TYPE_LOG, 0.2f, 1, 1.60943741, -4.9999975},
    {GLCNN_LOSS_TYPE_LOG, 0.7f, 0, 1.20397247, 3.33333222},
    {GLCNN_LOSS_TYPE_LOG, 0.5f, 0.25f, 0.693146981, 0.9999998},
    {GLCNN_LOSS_TYPE_KULLBACK_LEIBLER_DIVERGENCE, -0.5f, 0.25f, -0.22157359, -0.25},
    {GLCNN_LOSS_TYPE_KULLBACK_LEIBLER_DIVERGENCE, -2, 1, 2, -1}, /* spec 12.23: -t */
    {GLCNN_LOSS_TYPE_KULLBACK_LEIBLER_DIVERGENCE, -2, 0, 0, 0},
    {GLCNN_LOSS_TYPE_QUALITY_FOCAL, 2, 1, 0.00180356284, -0.0048709402},
    {GLCNN_LOSS_TYPE_QUALITY_FOCAL, -1, 0.75f, 0.246057209, -0.312455834},
    {GLCNN_LOSS_TYPE_QUALITY_FOCAL, 0, 0.5f, 0, 0},
    {GLCNN_LOSS_TYPE_QUALITY_FOCAL, 3, 0, 2.76628044, 1.12674988},
    {GLCNN_LOSS_TYPE_QUALITY_FOCAL, -120, 0, 0, 0},
};

static void points_of_every_type(void)
{
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        struct loss_run r = begin(points[i].type, SUM, 1, 1, 1, 1);
        fill_constant(r.y, points[i].y);
        fill_constant(r.t, points[i].t);
        glcnn_loss(r.kernel)->weight = 2;
        compute(&r);
        check_values(r.loss, &(double){2 * points[i].loss}, 3e-6);
        check_values(r.gradient, &(double){2 * points[i].gradient}, 3e-6);
        end(&r);
    }
}

/* A NaN in the prediction shows in the loss, and in a gradient that depends on the prediction. */
static void nan_is_not_hidden(void)
{
    static const bool minus_label[sizeof type_names / sizeof *type_names] = {
        [GLCNN_LOSS_TYPE_COSINE_DISTANCE] = true,
        [GLCNN_LOSS_TYPE_KULLBACK_LEIBLER_DIVERGENCE] = true};
    for (int type = 0; type < TYPES; type++)
        for (float t = 0; t <= 1; t++) {
            struct loss_run r = begin(type, SUM, 1, 1, 1, 1);
            fill_constant(r.y, NAN);
            fill_constant(r.t, t);
            compute(&r);
            CU_ASSERT(image_is_constant(r.loss, NAN));
            CU_ASSERT(image_is_constant(r.gradient, minus_label[type] ? -t : NAN));
            end(&r);
        }
}

/* A class that is ruled out, as masks do, costs nothing where it is not the label. */
static void a_logit_of_minus_infinity(void)
{
    struct loss_run r = begin(CE, SUM, 1, 3, 1, 1);
    fill_image(r.y, (const float[]){0, -INFINITY, logf(3)});
    fill_image(r.t, (const float[]){0, 0, 1});
    compute(&r);
    check_values(r.loss, (const double[]){0.287682}, 1e-6);
    check_values(r.gradient, (const double[]){0.25, 0, -0.25}, 1e-6);
    end(&r);
}

static void soft_max_cross_entropy(void)
{
    struct loss_run r = begin(CE, SUM, 1, 3, 1, 1);
    fill_image(r.y, (const float[]){1, 2, 3});
    fill_image(r.t, (const float[]){0, 0, 1});
    compute(&r);
    check_values(r.loss, (const double[]){0.407606}, 1e-6);
    check_values(r.gradient, (const double[]){0.090031, 0.244728, -0.334759}, 1e-6);
    end(&r);
}

/* Logits whose exponentials are no floats. */
static void soft_max_cross_entropy_of_large_logits(void)
{
    struct loss_run r = begin(CE, SUM, 1, 3, 1, 1);
    fill_image(r.y, (const float[]){-1000, 5000, 4998});
    fill_image(r.t, (const float[]){1, 0, 0});
    compute(&r);
    check_values(r.loss, (const double[]){6000.126928}, 1e-3);
    check_values(r.gradient, (const double[]){-1, 0.880797, 0.119203}, 1e-6);
    end(&r);
}

/* Spec 12.20: labels that do not sum to 1, weights that differ in a pixel.
 * soft-max 0.25 0.75, omega t = 2 and 3:  gradient 0.25*5 - 2, 0.75*5 - 3. */
static void soft_max_cross_entropy_of_any_labels(void)
{
    struct loss_run r = begin(CE, SUM, 1, 2, 1, 1);
    r.w = make_image(1, 2, 1, 1);
    fill_image(r.y, (const float[]){0, logf(3)});
    fill_image(r.t, (const float[]){2, 1});
    fill_image(r.w, (const float[]){1, 3});
    compute(&r);
    check_values(r.loss, &(double){2 * log(4) + 3 * log(4.0 / 3)}, 2e-6);
    check_values(r.gradient, (const double[]){-0.75, 0.75}, 2e-6);
    end(&r);
}

/* ---- Finite differences ---- */

/* Sum of the losses of the reference for these predictions, labels and weights. */
static double reference_loss(int type, const uint32_t shape[4], const double *y, const double *t,
                             const double *w)
{
    char error[512] = "";
    static const char *const names[] = {"source_image", "labels", "label_weights"};
    const double *const data[] = {y, t, w};
    const struct glcnn_setting settings[] = {
        {"loss_type", type}, {"reduction_type", SUM}, {"delta", 0.5}, {"epsilon", 0.01}};
    struct argument_map map = {0};
    struct run run = {.map = &map, .validation = {error, sizeof error}};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        struct named_array *array = argument_map_add(&map, names[i], 4, shape);
        CU_ASSERT_PTR_NOT_NULL_FATAL(array);
        memcpy(array->data, data[i], array_count(array) * sizeof *y);
    }
    CU_ASSERT_TRUE(run_settings_read(settings, 4, &run.settings));
    CU_ASSERT_EQUAL(run_kernel(&run, descriptor_find("loss")), GLCNN_SUCCESS);
    struct named_array *loss = argument_map_find(&map, "loss");
    CU_ASSERT_PTR_NOT_NULL_FATAL(loss);
    for (size_t i = 0; i < array_count(loss); i++)
        sum += loss->data[i];
    argument_map_free(&map);
    return sum;
}

static void to_doubles(glcnn_image *image, double values[MOST])
{
    float floats[MOST];
    values_of(image, floats);
    for (size_t i = 0; i < count_of(image); i++)
        values[i] = (double)floats[i];
}

/* Moves noise in -1 .. 1 to 0.1 .. 0.9: every type is defined there. */
static void squeeze(glcnn_image *image)
{
    float values[MOST];
    values_of(image, values);
    for (size_t i = 0; i < count_of(image); i++)
        values[i] = 0.5f + 0.4f * values[i];
    fill_image(image, values);
}

static void check_differences(int type)
{
    const uint32_t shape[4] = {2, 5, 2, 3};
    const double h = 1e-5;
    struct loss_run r = begin(type, SUM, shape[0], shape[1], shape[2], shape[3]);
    double y[MOST], t[MOST], w[MOST], expected[MOST];
    r.w = make_image(shape[0], shape[1], shape[2], shape[3]);
    fill_noise(r.w, 3);
    squeeze(r.y);
    squeeze(r.t);
    glcnn_loss(r.kernel)->delta = 0.5f;
    glcnn_loss(r.kernel)->epsilon = 0.01f;
    compute(&r);
    to_doubles(r.y, y);
    to_doubles(r.t, t);
    to_doubles(r.w, w);
    for (size_t i = 0; i < count_of(r.y); i++) {
        double kept = y[i];
        y[i] = kept + h;
        expected[i] = reference_loss(type, shape, y, t, w);
        y[i] = kept - h;
        expected[i] = (expected[i] - reference_loss(type, shape, y, t, w)) / (2 * h);
        y[i] = kept;
    }
    check_values(r.gradient, expected, 1e-5);
    end(&r);
}

static void gradients_by_finite_differences(void)
{
    for (int type = 0; type < TYPES; type++)
        check_differences(type);
}

/* ---- Reductions ---- */

/* All reductions of one image of several pixels, from its element-wise losses. */
static void check_reductions(int type, bool with_weights)
{
    enum { N = 3, C = 5, H = 9, W = 4, IMAGE = C * H * W };
    float elements[MOST], gradient[MOST], weights[MOST];
    for (int reduction = NONE; reduction <= BY_WEIGHTS; reduction++) {
        struct loss_run r = begin(type, reduction, N, C, H, W);
        double pixels = H * W, scale[] = {0, 1, 1 / (type == CE ? pixels : C * pixels), 0};
        if (with_weights) {
            r.w = make_image(N, C, H, W);
            fill_noise(r.w, 7);
            values_of(r.w, weights);
            for (size_t i = 0; i < MOST; i++)
                weights[i] = weights[i] > 0.25f ? weights[i] : 0;
            fill_image(r.w, weights);
        }
        compute(&r);
        if (reduction == NONE)
            values_of(r.loss, elements);
        if (reduction == NONE)
            values_of(r.gradient, gradient);
        CU_ASSERT_TRUE(image_equals(r.gradient, gradient)); /* whatever the reduction */
        for (size_t n = 0; reduction != NONE && n < N; n++) {
            double count = 0, expected = sum_of(elements + n * IMAGE, IMAGE);
            float found[MOST];
            for (size_t i = 0; with_weights && i < IMAGE; i++)
                count += weights[n * IMAGE + i] != 0;
            scale[BY_WEIGHTS] = with_weights ? 1 / count : scale[MEAN];
            values_of(r.loss, found);
            CU_ASSERT_DOUBLE_EQUAL(found[n], expected * scale[reduction],
                                   1e-6 * fmax(1, fabs(expected * scale[reduction])));
        }
        end(&r);
    }
}

static void reductions(void)
{
    check_reductions(MSE, false);
    check_reductions(MSE, true);
    check_reductions(CE, false);
    check_reductions(CE, true);
}

static void no_weight_at_all(void)
{
    struct loss_run r = begin(MSE, BY_WEIGHTS, 1, 2, 2, 2);
    r.w = make_image(1, 2, 2, 2);
    compute(&r);
    CU_ASSERT_TRUE(image_is_constant(r.loss, 0));
    CU_ASSERT_TRUE(image_is_constant(r.gradient, 0));
    end(&r);
}

/* More than one pass over squares of pixels: 300 x 70. */
static void sums_of_large_images(void)
{
    struct loss_run r = begin(MSE, SUM, 2, 1, 70, 300);
    fill_constant(r.y, 3);
    fill_constant(r.t, 2);
    compute(&r);
    CU_ASSERT_TRUE(image_is_constant(r.loss, 70 * 300));
    end(&r);
}

/* ---- Weights and smoothing ---- */

/* Spec 12.24: the product of the scalar and the image. */
static void weights_multiply(void)
{
    struct loss_run r = begin(MSE, NONE, 1, 2, 1, 1);
    r.w = make_image(1, 2, 1, 1);
    fill_image(r.y, (const float[]){1, 2});
    fill_image(r.t, (const float[]){0, 0});
    fill_image(r.w, (const float[]){0.5f, 3});
    glcnn_loss(r.kernel)->weight = -2;
    compute(&r);
    check_values(r.loss, (const double[]){-1, -24}, 1e-6);
    check_values(r.gradient, (const double[]){-2, -24}, 1e-6);
    end(&r);
}

/* Smoothing is the same as giving smoothed labels; types that ignore it ignore it. */
static void check_smoothing(int type, float share, bool smooths)
{
    float labels[MOST], gradient[MOST], loss[MOST];
    struct loss_run r = begin(type, NONE, 2, 5, 2, 2);
    squeeze(r.y);
    squeeze(r.t);
    values_of(r.t, labels);
    glcnn_loss(r.kernel)->label_smoothing = 0.25f;
    glcnn_loss(r.kernel)->number_of_classes = 4;
    compute(&r);
    values_of(r.gradient, gradient);
    values_of(r.loss, loss);
    for (size_t i = 0; smooths && i < count_of(r.t); i++)
        labels[i] = labels[i] * 0.75f + share;
    fill_image(r.t, labels);
    glcnn_loss(r.kernel)->label_smoothing = 0;
    compute(&r);
    double expected[MOST];
    for (size_t i = 0; i < count_of(r.t); i++)
        expected[i] = (double)gradient[i];
    check_values(r.gradient, expected, 1e-6);
    for (size_t i = 0; i < count_of(r.t); i++)
        expected[i] = (double)loss[i];
    check_values(r.loss, expected, 1e-6);
    end(&r);
}

static void smoothing(void)
{
    for (int type = 0; type < TYPES; type++) {
        bool two = type == GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY;
        if (type != GLCNN_LOSS_TYPE_COSINE_DISTANCE)
            check_smoothing(type, two ? 0.125f : 0.0625f, two || type == CE);
    }
}

/* ---- Images, rectangles and batches ---- */

/* One image of N images, and N images of one as a batch: the same bytes. N is more than the
 * scratch images of one encode. */
static void batches(void)
{
    enum { N = 20, C = 6, H = 9, W = 10 };
    struct loss_run whole = begin(CE, MEAN, N, C, H, W);
    struct glcnn_encode parts[N] = {{0}};
    compute(&whole);
    for (uint32_t n = 0; n < N; n++) {
        GOOD_FATAL(glcnn_image_batch_view(whole.y, n, &parts[n].source));
        GOOD_FATAL(glcnn_image_batch_view(whole.t, n, &parts[n].labels));
        parts[n].destination = make_image(1, C, H, W);
        parts[n].loss = make_image(1, 1, 1, 1);
    }
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode_batch(commands, whole.kernel, parts, N));
    finish(&commands);
    for (uint32_t n = 0; n < N; n++) {
        glcnn_image *gradient = NULL, *loss = NULL;
        GOOD_FATAL(glcnn_image_batch_view(whole.gradient, n, &gradient));
        GOOD_FATAL(glcnn_image_batch_view(whole.loss, n, &loss));
        CU_ASSERT_TRUE(images_equal(gradient, parts[n].destination));
        CU_ASSERT_TRUE(images_equal(loss, parts[n].loss));
        glcnn_image_destroy(&gradient);
        glcnn_image_destroy(&loss);
        glcnn_image_destroy(&parts[n].source);
        glcnn_image_destroy(&parts[n].labels);
        glcnn_image_destroy(&parts[n].destination);
        glcnn_image_destroy(&parts[n].loss);
    }
    end(&whole);
}

/* The gradient is the same without a loss image, and takes no more than one pass. */
static void the_loss_may_be_left_out(void)
{
    float gradient[MOST];
    struct loss_run r = begin(CE, MEAN, 2, 7, 3, 3);
    compute(&r);
    values_of(r.gradient, gradient);
    fill_constant(r.gradient, 9);
    glcnn_image_destroy(&r.loss);
    const struct glcnn_encode arguments = arguments_of(&r);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(commands, r.kernel, &arguments));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 1);
    finish(&commands);
    CU_ASSERT_TRUE(image_equals(r.gradient, gradient));
    end(&r);
}

/* Only the rectangle is counted and written, in the gradient and in an element-wise loss. */
static void rectangles(void)
{
    const struct glcnn_region clip = {{1, 0, 1}, {1, 2, 1}};
    const double mark = 5, one = 1;
    double gradient[12], loss[12];
    struct loss_run r = begin(MSE, NONE, 2, 1, 2, 3), s = begin(MSE, SUM, 2, 1, 2, 3);
    fill_constant(r.y, 1);
    fill_constant(r.t, 0);
    fill_constant(r.gradient, (float)mark);
    fill_constant(r.loss, (float)mark);
    glcnn_kernel_properties(r.kernel)->clip_rect = clip;
    glcnn_kernel_properties(r.kernel)->primary.offset.z = 1;
    compute(&r);
    for (int i = 0; i < 12; i++) {
        bool inside = i == 7 || i == 10;
        gradient[i] = inside ? 2 : mark;
        loss[i] = inside ? one : mark;
    }
    check_values(r.gradient, gradient, 0);
    check_values(r.loss, loss, 0);
    fill_constant(s.y, 1);
    fill_constant(s.t, 0);
    fill_constant(s.loss, (float)mark);
    glcnn_kernel_properties(s.kernel)->clip_rect = clip;
    compute(&s);
    check_values(s.loss, (const double[]){mark, 2}, 0);
    end(&r);
    end(&s);
}

/* ---- Misuse ---- */

static void check_refused(struct loss_run *r, const char *phrase)
{
    const struct glcnn_encode arguments = arguments_of(r);
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, r->kernel, &arguments));
    const char *error = glcnn_device_error(device);
    if (!strstr(error, phrase))
        fprintf(stderr, "\n\"%s\" lacks \"%s\"\n", error, phrase);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    finish(&commands);
}

static void replace(glcnn_image **image, uint32_t n, uint32_t c, uint32_t h, uint32_t w)
{
    glcnn_image_destroy(image);
    *image = make_image(n, c, h, w);
}

static void shapes_are_checked(void)
{
    struct loss_run r = begin(MSE, SUM, 2, 3, 4, 5);
    replace(&r.t, 2, 3, 4, 4);
    check_refused(&r, "labels are 4x4 with 3 channels; the predictions are 5x4");
    replace(&r.t, 2, 4, 4, 5);
    check_refused(&r, "labels are 5x4 with 4 channels");
    replace(&r.t, 1, 3, 4, 5);
    check_refused(&r, "2 images are wanted of the labels");
    replace(&r.t, 2, 3, 4, 5);
    r.w = make_image(2, 1, 4, 5);
    check_refused(&r, "label_weights are 5x4 with 1 channels");
    glcnn_image_destroy(&r.w);
    replace(&r.loss, 2, 3, 4, 5);
    check_refused(&r, "the loss image is 5x4 with 3 channels; this reduction needs 1x1");
    replace(&r.loss, 1, 1, 1, 1);
    check_refused(&r, "2 images are wanted of the loss");
    glcnn_loss(r.kernel)->reduction_type = GLCNN_REDUCTION_TYPE_NONE;
    replace(&r.loss, 2, 1, 1, 1);
    check_refused(&r, "the loss image is 1x1 with 1 channels; this reduction needs 5x4");
    glcnn_image_destroy(&r.t);
    check_refused(&r, "labels is NULL");
    end(&r);
}

static void parameters_are_checked(void)
{
    struct loss_run r = begin(GLCNN_LOSS_TYPE_COSINE_DISTANCE, MEAN, 1, 2, 1, 1);
    check_refused(&r, "its reduction type must be sum");
    char message[64];
    snprintf(message, sizeof message, "loss_type is %d", TYPES);
    glcnn_loss(r.kernel)->loss_type = (glcnn_loss_type)TYPES;
    check_refused(&r, message);
    glcnn_loss(r.kernel)->loss_type = GLCNN_LOSS_TYPE_LOG;
    glcnn_loss(r.kernel)->label_smoothing = 1.5f;
    check_refused(&r, "label_smoothing is 1.5");
    glcnn_loss(r.kernel)->label_smoothing = 0;
    glcnn_loss(r.kernel)->number_of_classes = 0;
    check_refused(&r, "number_of_classes is 0");
    end(&r);
}

static void construction(void)
{
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_loss_create(device, (glcnn_loss_type)TYPES, GLCNN_REDUCTION_TYPE_SUM, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_loss_create(device, GLCNN_LOSS_TYPE_HUBER,
                              (glcnn_reduction_type)count_of_values("reduction_type"), &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_loss_create(device, GLCNN_LOSS_TYPE_HUBER, GLCNN_REDUCTION_TYPE_SUM, NULL));
    CU_ASSERT_EQUAL(count_of_values("loss_type"), TYPES); /* each has its rows here */
    for (int type = 0; type < TYPES; type++) {
        struct glcnn_setting setting;
        char text[64], error[512];
        snprintf(text, sizeof text, "loss_type=%s", type_names[type]);
        CU_ASSERT_EQUAL(glcnn_setting_parse("loss", text, &setting, error), GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(setting.value, type);
    }
    CU_ASSERT_PTR_NULL(glcnn_loss(NULL));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(points_of_every_type),
        UNIT_TEST(nan_is_not_hidden),
        UNIT_TEST(a_logit_of_minus_infinity),
        UNIT_TEST(soft_max_cross_entropy),
        UNIT_TEST(soft_max_cross_entropy_of_large_logits),
        UNIT_TEST(soft_max_cross_entropy_of_any_labels),
        UNIT_TEST(gradients_by_finite_differences),
        UNIT_TEST(reductions),
        UNIT_TEST(no_weight_at_all),
        UNIT_TEST(sums_of_large_images),
        UNIT_TEST(weights_multiply),
        UNIT_TEST(smoothing),
        UNIT_TEST(batches),
        UNIT_TEST(the_loss_may_be_left_out),
        UNIT_TEST(rectangles),
        UNIT_TEST(shapes_are_checked),
        UNIT_TEST(parameters_are_checked),
        UNIT_TEST(construction),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("loss", tests, argc, argv);
}
