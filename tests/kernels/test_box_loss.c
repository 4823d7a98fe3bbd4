/* The loss of boxes and their intersection over union: values that are known, the gradient by finite
 * differences of the formula, places that do not count, reductions, and what is refused. */
#include "glcnn/kernels/box_loss.h"

#include <float.h>
#include <math.h>

#include "run/run.h"
#include "tests/fixture.h"
#include "tests/graphs.h"

#define SIDES 4
#define MOST  64 /* boxes of an image */

/* ---- A kernel on arrays, on the device or by its reference ---- */

struct boxes {
    uint32_t count;
    double y[SIDES * MOST], t[SIDES * MOST], w[MOST]; /* [side][box] */
    bool has_weights;
};

static void give(struct argument_map *map, const char *name, uint32_t channels, uint32_t count,
                 const double *values)
{
    struct named_array *array =
        argument_map_add(map, name, 4, (const uint32_t[]){1, channels, 1, count});
    CU_ASSERT_PTR_NOT_NULL_FATAL(array);
    memcpy(array->data, values, array_count(array) * sizeof *values);
}

static void take(struct argument_map *map, const char *name, double *values)
{
    struct named_array *array = argument_map_find(map, name);
    CU_ASSERT_TRUE_FATAL(array != NULL && array_count(array) <= SIDES * MOST);
    memcpy(values, array->data, array_count(array) * sizeof *values);
}

static void compute(glcnn_device *on, const struct boxes *b, const char *words, double *gradient,
                    double *loss)
{
    char error[512] = "", text[256];
    struct glcnn_setting settings[4];
    struct argument_map map = {0};
    struct run run = {.device = on, .map = &map, .validation = {error, sizeof error}};
    size_t count = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *rest = NULL, *word = strtok_r(text, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        GOOD_FATAL(glcnn_setting_parse("box_loss", word, &settings[count++], error));
    give(&map, "source_image", SIDES, b->count, b->y);
    give(&map, "labels", SIDES, b->count, b->t);
    if (b->has_weights)
        give(&map, "label_weights", 1, b->count, b->w);
    CU_ASSERT_TRUE(run_settings_read(settings, count, &run.settings));
    CU_ASSERT_EQUAL_FATAL(run_kernel(&run, descriptor_find("box_loss")), GLCNN_SUCCESS);
    take(&map, "destination_gradient", gradient);
    take(&map, "loss", loss);
    argument_map_free(&map);
}

/* Distances of 1/20 to 8, as of strides. */
static struct boxes draw_boxes(uint32_t count, uint32_t seed)
{
    struct boxes b = {.count = count};
    for (uint32_t i = 0; i < SIDES * count; i++) {
        b.y[i] = (double)expf(2.5f * noise(&seed) - 0.5f);
        b.t[i] = (double)expf(2.5f * noise(&seed) - 0.5f);
    }
    for (uint32_t i = 0; i < count; i++)
        b.w[i] = (double)(noise(&seed) + 1.5f);
    return b;
}

/* ---- Known values ---- */

/* 1 x 1 beside the lower right quarter of 2 x 2: IoU 1/4, the centres 1/2 and 1/2 apart, a box of
 * 2 x 2 around both. With 2 x 1 instead: IoU 1/2, (1/2)^2 / 8, v = (2 / pi atan(1/3))^2. */
static void known_boxes(void)
{
    const double angle = 2 / acos(-1) * (atan(2) - atan(1)), v = angle * angle;
    const struct boxes b = {.count = 3,
                            .y = {0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1},
                            .t = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    const double expected[] = {1 - 0.25 + 0.5 / 8, 1 - 0.5 + 0.25 / 8 + v * v / (0.5 + v), 0};
    for (int i = 0; i < 2; i++) {
        double gradient[SIDES * MOST], loss[SIDES * MOST];
        compute(i ? device : NULL, &b, "reduction_type=none", gradient, loss);
        for (int k = 0; k < 3; k++)
            CU_ASSERT_DOUBLE_EQUAL(loss[k], expected[k], 3e-6);
        compute(i ? device : NULL, &b, "reduction_type=sum weight=2", gradient, loss);
        CU_ASSERT_DOUBLE_EQUAL(loss[0], 2 * (expected[0] + expected[1]), 1e-5);
        compute(i ? device : NULL, &b, "reduction_type=mean", gradient, loss);
        CU_ASSERT_DOUBLE_EQUAL(loss[0], (expected[0] + expected[1]) / 3, 3e-6);
    }
}

/* ---- Gradient ---- */

/* Of box k, of the formula as PyTorch users write it; *alpha is computed where it is NaN, else
 * taken. */
static double formula(const struct boxes *b, uint32_t k, double *alpha)
{
    double y[SIDES], t[SIDES];
    for (uint32_t i = 0; i < SIDES; i++) {
        y[i] = b->y[i * b->count + k];
        t[i] = b->t[i * b->count + k];
    }
    double w = y[0] + y[2], h = y[1] + y[3], W = t[0] + t[2], H = t[1] + t[3];
    double inside = (fmin(y[0], t[0]) + fmin(y[2], t[2])) * (fmin(y[1], t[1]) + fmin(y[3], t[3]));
    double iou = inside / (w * h + W * H - inside + 1e-7);
    double dx = (y[2] - y[0] - t[2] + t[0]) / 2, dy = (y[3] - y[1] - t[3] + t[1]) / 2;
    double cw = fmax(y[0], t[0]) + fmax(y[2], t[2]), ch = fmax(y[1], t[1]) + fmax(y[3], t[3]);
    double angle = 2 / acos(-1) * (atan(W / H) - atan(w / h)), v = angle * angle;
    if (isnan(*alpha))
        *alpha = v / (1 - iou + v + 1e-7);
    return 1 - iou + (dx * dx + dy * dy) / (cw * cw + ch * ch + 1e-7) + *alpha * v;
}

static double difference(const struct boxes *b, uint32_t k, uint32_t side)
{
    const double step = 1e-6;
    double alpha = NAN;
    struct boxes up = *b, down = *b;
    formula(b, k, &alpha);
    up.y[side * b->count + k] += step;
    down.y[side * b->count + k] -= step;
    return (formula(&up, k, &alpha) - formula(&down, k, &alpha)) / (2 * step);
}

static void gradients_by_finite_differences(void)
{
    struct boxes b = draw_boxes(MOST, 1);
    double gradient[2][SIDES * MOST], loss[2][SIDES * MOST];
    b.has_weights = true;
    compute(NULL, &b, "reduction_type=none weight=1.5", gradient[0], loss[0]);
    compute(device, &b, "reduction_type=none weight=1.5", gradient[1], loss[1]);
    for (uint32_t k = 0; k < b.count; k++) {
        const double omega = 1.5 * b.w[k];
        double alpha = NAN;
        CU_ASSERT(is_near(loss[0][k], omega * formula(&b, k, &alpha), 1e-9));
        CU_ASSERT(is_near(loss[1][k], loss[0][k], 1e-6));
        for (uint32_t i = 0; i < SIDES; i++) {
            const size_t at = i * b.count + k;
            CU_ASSERT(is_near(gradient[0][at], omega * difference(&b, k, i), 1e-6));
            CU_ASSERT(is_near(gradient[1][at], gradient[0][at], 5e-6));
        }
    }
}

/* Nearly equal boxes: the angle between their diagonals is not a difference of two of them. */
static void boxes_that_nearly_agree(void)
{
    struct boxes b = draw_boxes(MOST, 7);
    double gradient[2][SIDES * MOST], loss[2][SIDES * MOST];
    for (uint32_t i = 0; i < SIDES * b.count; i++)
        b.t[i] = (double)(float)(b.y[i] * (1 + 1e-3 * (i % 7)));
    compute(NULL, &b, "reduction_type=none", gradient[0], loss[0]);
    compute(device, &b, "reduction_type=none", gradient[1], loss[1]);
    for (uint32_t i = 0; i < b.count; i++)
        CU_ASSERT(is_near(loss[1][i], loss[0][i], 1e-6));
    for (uint32_t i = 0; i < SIDES * b.count; i++)
        CU_ASSERT(is_near(gradient[1][i], gradient[0][i], 5e-6));
}

/* ---- Boxes of no extent, places that do not count, NaN ---- */

/* As far as soft plus can come to 0; both boxes, or one. */
static void boxes_of_no_extent_stay_finite(void)
{
    struct boxes b = draw_boxes(MOST, 4);
    double gradient[SIDES * MOST], loss[SIDES * MOST];
    for (uint32_t i = 0; i < SIDES * b.count; i++) {
        b.y[i] = i % 3 == 0 ? 0 : (double)FLT_MIN;
        if (i % b.count % 5 == 0)
            b.y[i] = 0;
        if (i % b.count % 4 == 0)
            b.t[i] = 0;
    }
    for (int k = 0; k < 2; k++) {
        compute(k ? device : NULL, &b, "reduction_type=none", gradient, loss);
        for (uint32_t i = 0; i < SIDES * b.count; i++)
            CU_ASSERT(isfinite(gradient[i]));
        for (uint32_t i = 0; i < b.count; i++)
            CU_ASSERT(isfinite(loss[i]));
    }
}

/* Where a weight is 0 boxes may be anything; elsewhere a NaN is not hidden. */
static void only_weighed_boxes_count(void)
{
    struct boxes b = draw_boxes(8, 5), few = b;
    double gradient[2][SIDES * MOST], loss[2][SIDES * MOST];
    b.has_weights = few.has_weights = true;
    for (uint32_t k = 0; k < b.count; k += 2)
        b.w[k] = few.w[k] = 0;
    for (uint32_t i = 0; i < SIDES; i++) {
        few.y[i * few.count] = NAN;
        few.t[i * few.count + 2] = i == 1 ? NAN : 0;
        few.y[i * few.count + 4] = INFINITY;
    }
    for (int on = 0; on < 2; on++) {
        compute(on ? device : NULL, &b, "", gradient[0], loss[0]);
        compute(on ? device : NULL, &few, "", gradient[1], loss[1]);
        CU_ASSERT_EQUAL(loss[1][0], loss[0][0]);
        for (uint32_t i = 0; i < SIDES * b.count; i++) {
            CU_ASSERT_EQUAL(gradient[1][i], gradient[0][i]);
            CU_ASSERT(i % 2 == 1 || gradient[1][i] == 0);
        }
        for (uint32_t i = 0; i < SIDES; i++)
            for (int labels = 0; labels < 2; labels++) {
                struct boxes broken = b;
                (labels ? broken.t : broken.y)[i * b.count + 1] = NAN;
                compute(on ? device : NULL, &broken, "", gradient[1], loss[1]);
                CU_ASSERT(isnan(loss[1][0]));
                for (uint32_t side = 0; side < SIDES; side++)
                    CU_ASSERT(isnan(gradient[1][side * b.count + 1]));
            }
    }
}

static void a_mean_is_over_boxes(void)
{
    struct boxes b = draw_boxes(9, 6);
    double gradient[SIDES * MOST], each[SIDES * MOST], loss[SIDES * MOST], sum = 0;
    b.has_weights = true;
    b.w[3] = b.w[7] = 0;
    compute(device, &b, "reduction_type=none", gradient, each);
    for (uint32_t k = 0; k < b.count; k++)
        sum += each[k];
    compute(device, &b, "reduction_type=mean", gradient, loss);
    CU_ASSERT(is_near(loss[0], sum / 9, 1e-6));
    compute(device, &b, "reduction_type=sum_by_non_zero_weights", gradient, loss);
    CU_ASSERT(is_near(loss[0], sum / 7, 1e-6));
}

/* ---- Nodes ---- */

/* A graph's own check: labels that are made of the IoU take no gradient. */
static void iou_of_nodes(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *a = make_input(net, "a"), *b = make_input(net, "b");
    glcnn_image_node *iou = glcnn_box_iou_node(a, b);
    CU_ASSERT_PTR_NOT_NULL_FATAL(iou);
    glcnn_graph *graph = graph_of(iou);
    glcnn_image *sources[] = {image_with(1, 4, 1, 2, (const float[]){0, 1, 0, 1, 1, 1, 1, 1}),
                              image_with(1, 4, 1, 2, (const float[]){1, 1, 1, 1, 1, 1, 1, 1})};
    run_graph(graph, sources);
    float *found = result_values(graph, iou);
    CU_ASSERT_DOUBLE_EQUAL(found[0], 0.25, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(found[1], 1, 1e-6);
    free(found);
    destroy_images(sources, 2);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

/* ---- Misuse ---- */

static void check_refused(uint32_t channels, uint32_t weights, uint32_t loss, const char *phrase)
{
    glcnn_kernel *kernel = NULL;
    glcnn_command_buffer *commands = make_commands();
    struct glcnn_encode a = {.source = make_image(1, channels, 3, 2),
                             .labels = make_image(1, channels, 3, 2),
                             .label_weights = make_image(1, weights, 3, 2),
                             .destination = make_image(1, channels, 3, 2),
                             .loss = make_image(1, loss, 3, 2)};
    GOOD_FATAL(glcnn_box_loss_create(device, GLCNN_REDUCTION_TYPE_NONE, &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &a));
    const char *error = glcnn_device_error(device);
    if (!strstr(error, phrase))
        fprintf(stderr, "\n\"%s\" lacks \"%s\"\n", error, phrase);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    finish(&commands);
    glcnn_image *images[] = {a.source, a.labels, a.label_weights, a.destination, a.loss};
    destroy_images(images, 5);
    glcnn_kernel_destroy(&kernel);
}

static void shapes_are_checked(void)
{
    check_refused(3, 1, 1, "the boxes have 3 channels; they need 4");
    check_refused(8, 1, 1, "the boxes have 8 channels; they need 4");
    check_refused(4, 4, 1, "label_weights are 2x3 with 4 channels");
    check_refused(4, 4, 1, "whose weights have one channel");
    check_refused(4, 1, 4, "the loss image is 2x3 with 4 channels; this reduction needs 2x3");
}

static void construction(void)
{
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_box_loss_create(device, (glcnn_reduction_type)4, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    GOOD_FATAL(glcnn_box_loss_create(device, GLCNN_REDUCTION_TYPE_MEAN, &kernel));
    CU_ASSERT_EQUAL(glcnn_box_loss(kernel)->reduction_type, GLCNN_REDUCTION_TYPE_MEAN);
    CU_ASSERT_EQUAL(glcnn_box_loss(kernel)->weight, 1);
    glcnn_kernel_destroy(&kernel);
    GOOD_FATAL(glcnn_box_iou_create(device, &kernel));
    CU_ASSERT_PTR_NULL(glcnn_box_loss(kernel));
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_PTR_NULL(glcnn_box_loss(NULL));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(known_boxes),
        UNIT_TEST(gradients_by_finite_differences),
        UNIT_TEST(boxes_that_nearly_agree),
        UNIT_TEST(boxes_of_no_extent_stay_finite),
        UNIT_TEST(only_weighed_boxes_count),
        UNIT_TEST(a_mean_is_over_boxes),
        UNIT_TEST(iou_of_nodes),
        UNIT_TEST(shapes_are_checked),
        UNIT_TEST(construction),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("box_loss", tests, argc, argv);
}
