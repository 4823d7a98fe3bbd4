/* The losses of a detector: against PyTorch's (golden/make_detection.py), and CIoU against its formula
 * in double precision, its gradient by finite differences. */
#include "tests/archive.h"
#include "tests/graphs.h"
#include "tool/detection_loss.h"

#include <float.h>
#include <math.h>

#define CLASSES 3

/* ---- A network of the losses only, whose sources pass through neurons: a gradient by a source has its
 * handle then ---- */

struct losses {
    glcnn_network *net;
    struct detection_outputs outputs;
    struct detection_loss loss;
    glcnn_graph *graph; /* of a loss and the gradient of a source */
    glcnn_image_node *value, *gradient;
};

static struct losses make_losses(void)
{
    struct losses l = {.net = make_network()};
    l.outputs.distances = glcnn_neuron_linear_node(make_input(l.net, "predicted"), 1, 0);
    l.outputs.scores = glcnn_neuron_linear_node(make_input(l.net, "logits"), 1, 0);
    l.loss = (struct detection_loss){.labels = make_input(l.net, "labels"),
                                     .label_weights = make_input(l.net, "label_weights"),
                                     .distances = make_input(l.net, "expected"),
                                     .box_weights = make_input(l.net, "box_weights")};
    detection_losses(&l.outputs, &l.loss);
    GOOD_FATAL(glcnn_network_status(l.net));
    return l;
}

/* The gradient of the loss by the input of that handle. */
static void make_graph(struct losses *l, glcnn_filter_node *loss, const char *handle)
{
    glcnn_filter_node *ends[MOST_ENDS] = {NULL}, *end = NULL;
    size_t count =
        glcnn_training_graph_with_source_gradient(loss, NULL, NULL, NULL, ends, MOST_ENDS);
    CU_ASSERT_FATAL(count > 0 && count <= MOST_ENDS);
    for (size_t i = 0; i < count; i++) {
        const char *name = glcnn_image_node_handle(glcnn_filter_node_result(ends[i]));
        if (name && strcmp(name, handle) == 0)
            end = ends[i];
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    l->value = glcnn_filter_node_loss(loss);
    l->gradient = export_image(glcnn_filter_node_result(end));
    l->graph = training_graph(l->value, &end, 1, 0);
}

static void free_losses(struct losses *l)
{
    glcnn_graph_destroy(&l->graph);
    glcnn_network_destroy(&l->net);
}

/* ---- PyTorch ---- */

static glcnn_image *read_source(struct zip *archive, const char *name)
{
    struct glcnn_npy array;
    CU_ASSERT_TRUE_FATAL(archive_read(archive, name, &array));
    glcnn_image *image =
        image_with(array.shape[0], array.shape[1], array.shape[2], array.shape[3], array.data);
    glcnn_npy_free(&array);
    return image;
}

static void run_on_archive(const struct losses *l, struct zip *archive)
{
    glcnn_image *sources[8] = {NULL};
    size_t count = glcnn_graph_source_count(l->graph);
    CU_ASSERT_FATAL(count <= 8);
    for (size_t i = 0; i < count; i++)
        sources[i] = read_source(archive, glcnn_image_node_handle(glcnn_graph_source(l->graph, i)));
    run_graph(l->graph, sources);
    destroy_images(sources, count);
}

/* `bound` is the gradient's: that of boxes has the derivative of a polynomial for the arc tangent's. */
static void check_loss(bool boxes, const char *handle, const char *value, const char *gradient,
                       double bound)
{
    struct zip *archive = archive_open("tests/golden/detection.npz");
    struct losses l = make_losses();
    CU_ASSERT_PTR_NOT_NULL_FATAL(archive);
    make_graph(&l, boxes ? l.loss.boxes : l.loss.scores, handle);
    run_on_archive(&l, archive);
    float *found = result_values(l.graph, l.value);
    CU_ASSERT_TRUE(archive_is_near(archive, value, found, 2, 1e-5));
    free(found);
    found = result_values(l.graph, l.gradient);
    CU_ASSERT_TRUE(archive_is_near(archive, gradient, found,
                                   count_of(glcnn_graph_image(l.graph, l.gradient)), bound));
    free(found);
    archive_close(archive);
    free_losses(&l);
}

static void losses_are_those_of_pytorch(void)
{
    check_loss(true, "predicted", "boxes", "predicted.gradient", 3e-5);
    check_loss(false, "logits", "scores", "logits.gradient", 1e-6);
}

/* ---- CIoU by its formula ---- */

#define LOCATIONS 60

/* Of distances left, top, right, bottom; *alpha is computed where it is NaN, else taken. */
static double ciou(const double p[4], const double g[4], double *alpha)
{
    double pw = p[0] + p[2], ph = p[1] + p[3], gw = g[0] + g[2], gh = g[1] + g[3];
    double inside = (fmin(p[0], g[0]) + fmin(p[2], g[2])) * (fmin(p[1], g[1]) + fmin(p[3], g[3]));
    double iou = inside / (pw * ph + gw * gh - inside);
    double dx = (p[2] - p[0] - g[2] + g[0]) / 2, dy = (p[3] - p[1] - g[3] + g[1]) / 2;
    double cw = fmax(p[0], g[0]) + fmax(p[2], g[2]), ch = fmax(p[1], g[1]) + fmax(p[3], g[3]);
    double angle = 2 / acos(-1) * (atan(gw / gh) - atan(pw / ph)), v = angle * angle;
    if (isnan(*alpha))
        *alpha = v / (1 - iou + v);
    return iou - (dx * dx + dy * dy) / (cw * cw + ch * ch) - *alpha * v;
}

static double difference(const double p[4], const double g[4], int i)
{
    const double h = 1e-5;
    double alpha = NAN, up[4], down[4];
    ciou(p, g, &alpha);
    memcpy(up, p, sizeof up);
    memcpy(down, p, sizeof down);
    up[i] += h;
    down[i] -= h;
    return (ciou(up, g, &alpha) - ciou(down, g, &alpha)) / (2 * h);
}

/* Distances of 1/20 to 8 strides, [4][LOCATIONS]. */
static void draw_distances(float values[4 * LOCATIONS], uint32_t seed)
{
    for (int i = 0; i < 4 * LOCATIONS; i++)
        values[i] = expf(2.5f * noise(&seed) - 0.5f);
}

static void at_location(const float *values, int location, double d[4])
{
    for (int i = 0; i < 4; i++)
        d[i] = (double)values[i * LOCATIONS + location];
}

/* The image that a source takes: labels and weights are 1. */
static glcnn_image *make_source(const struct losses *l, const glcnn_image_node *node,
                                const float *predicted, const float *expected)
{
    if (node == l->loss.distances)
        return image_with(1, 4, 1, LOCATIONS, expected);
    if (node != l->loss.labels && node != l->loss.box_weights)
        return image_with(1, 4, 1, LOCATIONS, predicted);
    glcnn_image *image = make_image(1, 1, 1, LOCATIONS);
    fill_constant(image, 1);
    return image;
}

static void run_on(const struct losses *l, const float *predicted, const float *expected)
{
    glcnn_image *sources[8] = {NULL};
    size_t count = glcnn_graph_source_count(l->graph);
    CU_ASSERT_FATAL(count <= 8);
    for (size_t i = 0; i < count; i++)
        sources[i] = make_source(l, glcnn_graph_source(l->graph, i), predicted, expected);
    run_graph(l->graph, sources);
    destroy_images(sources, count);
}

static void ciou_and_its_gradient_are_those_of_the_formula(void)
{
    struct losses l = make_losses();
    float predicted[4 * LOCATIONS], expected[4 * LOCATIONS];
    double sum = 0;
    draw_distances(predicted, 1);
    draw_distances(expected, 2);
    make_graph(&l, l.loss.boxes, "predicted");
    run_on(&l, predicted, expected);
    float *gradient = result_values(l.graph, l.gradient), *value = result_values(l.graph, l.value);
    for (int n = 0; n < LOCATIONS; n++) {
        double p[4], g[4], alpha = NAN;
        at_location(predicted, n, p);
        at_location(expected, n, g);
        sum += 1 - ciou(p, g, &alpha);
        for (int i = 0; i < 4; i++)
            CU_ASSERT(is_near((double)gradient[i * LOCATIONS + n], -difference(p, g, i), 1e-4));
    }
    CU_ASSERT(is_near((double)*value, sum, 1e-5));
    free(gradient);
    free(value);
    free_losses(&l);
}

/* Boxes that are equal lose nothing, and nothing there is a NaN; those of a weight of 0 neither. */
static void equal_boxes_lose_nothing(void)
{
    struct losses l = make_losses();
    float same[4 * LOCATIONS];
    draw_distances(same, 3);
    make_graph(&l, l.loss.boxes, "predicted");
    run_on(&l, same, same);
    float *gradient = result_values(l.graph, l.gradient), *value = result_values(l.graph, l.value);
    CU_ASSERT(fabsf(*value) < 1e-4f);
    for (int i = 0; i < 4 * LOCATIONS; i++)
        CU_ASSERT(isfinite(gradient[i]));
    free(gradient);
    free(value);
    free_losses(&l);
}

/* Boxes without an extent, as far as soft plus can come to 0, have a finite loss and gradient. */
static void boxes_of_no_extent_stay_finite(void)
{
    struct losses l = make_losses();
    float tiny[4 * LOCATIONS], expected[4 * LOCATIONS];
    for (int i = 0; i < 4 * LOCATIONS; i++)
        tiny[i] = i % 3 == 0 ? 0 : FLT_MIN;
    draw_distances(expected, 4);
    make_graph(&l, l.loss.boxes, "predicted");
    run_on(&l, tiny, expected);
    float *gradient = result_values(l.graph, l.gradient), *value = result_values(l.graph, l.value);
    CU_ASSERT(isfinite(*value));
    for (int i = 0; i < 4 * LOCATIONS; i++)
        CU_ASSERT(isfinite(gradient[i]));
    free(gradient);
    free(value);
    free_losses(&l);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(losses_are_those_of_pytorch),
        UNIT_TEST(ciou_and_its_gradient_are_those_of_the_formula),
        UNIT_TEST(equal_boxes_lose_nothing),
        UNIT_TEST(boxes_of_no_extent_stay_finite),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("detection_loss", tests, argc, argv);
}
