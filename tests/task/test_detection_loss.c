/* The losses of a detector: against PyTorch's (golden/make_detection.py), and CIoU against its formula
 * in double precision, its gradient by finite differences. */
#include "tests/archive.h"
#include "tests/graphs.h"
#include "task/detection_loss.h"
#include "task/detection_pack.h"

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
    detection_losses(&l.outputs, DETECTION_CROSS_ENTROPY, &l.loss);
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
    glcnn_npy_destroy(&array);
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

/* `bound` is the gradient's. */
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
    check_loss(true, "predicted", "boxes", "predicted.gradient", 3e-6);
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
            CU_ASSERT(is_near((double)gradient[i * LOCATIONS + n], -difference(p, g, i), 1e-5));
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

/* ---- Grids that are joined ---- */

#define GRIDS  2
#define INPUTS 6 /* predicted, logits, then those of detection_loss.h */
enum { PREDICTED, LOGITS, LABELS, LABEL_WEIGHTS, EXPECTED, BOX_WEIGHTS };

static const uint32_t input_channels[INPUTS] = {4, CLASSES, CLASSES, CLASSES, 4, 1};

/* The losses of each grid by itself, and of both as one image. */
struct joined {
    glcnn_network *net;
    struct detection_layout layout;
    glcnn_image_node *inputs[GRIDS][INPUTS], *both[INPUTS];
    float *values[GRIDS][INPUTS];
    glcnn_image_node
        *results[2 * (GRIDS + 1)]; /* of scores and boxes: of each grid, then of both */
};

static void add_losses(struct joined *j, glcnn_image_node *const inputs[INPUTS], int number)
{
    const struct detection_outputs outputs = {.scores = inputs[LOGITS],
                                              .distances = inputs[PREDICTED]};
    struct detection_loss loss = {.labels = inputs[LABELS],
                                  .label_weights = inputs[LABEL_WEIGHTS],
                                  .distances = inputs[EXPECTED],
                                  .box_weights = inputs[BOX_WEIGHTS]};
    detection_losses(&outputs, DETECTION_CROSS_ENTROPY, &loss);
    j->results[2 * number] = glcnn_filter_node_loss(loss.scores);
    j->results[2 * number + 1] = glcnn_filter_node_loss(loss.boxes);
}

static struct joined make_joined(void)
{
    static const uint32_t strides[] = {8, 16};
    struct joined j = {.net = make_network(),
                       .layout = detection_layout(40, 24, CLASSES, strides, GRIDS)};
    uint32_t seed = 5;
    for (int k = 0; k < INPUTS; k++) {
        glcnn_image_node *predicted[GRIDS];
        for (int i = 0; i < GRIDS; i++) {
            const size_t count = detection_locations(&j.layout.grids[i]) * input_channels[k];
            predicted[i] = j.inputs[i][k] = make_input(j.net, "grid");
            j.values[i][k] = calloc(count, sizeof(float));
            for (size_t n = 0; n < count; n++)
                j.values[i][k][n] = k == LOGITS ? noise(&seed) : 1.5f + noise(&seed);
        }
        j.both[k] = k <= LOGITS ? detection_pack(&j.layout, predicted) : make_input(j.net, "both");
    }
    for (int i = 0; i < GRIDS; i++)
        add_losses(&j, j.inputs[i], i);
    add_losses(&j, j.both, GRIDS);
    GOOD_FATAL(glcnn_network_status(j.net));
    return j;
}

static glcnn_image *upload(uint32_t channels, uint32_t rows, uint32_t columns, const float *values)
{
    glcnn_image *image = make_image(1, channels, rows, columns);
    GOOD_FATAL(glcnn_image_write_bytes(image, NULL, values, count_of(image) * sizeof *values));
    return image;
}

static glcnn_image *upload_both(const struct joined *j, int k)
{
    const uint32_t rows = detection_packed_rows(&j->layout), columns = j->layout.grids[0].columns;
    float *packed = calloc((size_t)rows * columns * input_channels[k], sizeof *packed);
    const float *const grids[] = {j->values[0][k], j->values[1][k]};
    detection_pack_values(&j->layout, 1, input_channels[k], grids, k == EXPECTED ? 1 : 0, packed);
    glcnn_image *image = upload(input_channels[k], rows, columns, packed);
    free(packed);
    return image;
}

static glcnn_image *upload_input(const struct joined *j, const glcnn_image_node *node)
{
    for (int k = 0; k < INPUTS; k++) {
        for (int i = 0; i < GRIDS; i++)
            if (node == j->inputs[i][k])
                return upload(input_channels[k], j->layout.grids[i].rows,
                              j->layout.grids[i].columns, j->values[i][k]);
        if (node == j->both[k])
            return upload_both(j, k);
    }
    return NULL;
}

static float value_of(glcnn_graph *graph, const glcnn_image_node *node)
{
    float *values = result_values(graph, node), value = *values;
    free(values);
    return value;
}

/* As many losses as the sum over grids; what fills up adds nothing. */
static void joined_grids_lose_as_much(void)
{
    struct joined j = make_joined();
    glcnn_image *sources[GRIDS * INPUTS + INPUTS] = {NULL};
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_graph_create(
        j.net, &(struct glcnn_graph_descriptor){.results = j.results, .result_count = 6}, &graph));
    const size_t count = glcnn_graph_source_count(graph);
    CU_ASSERT_FATAL(count <= sizeof sources / sizeof *sources);
    for (size_t i = 0; i < count; i++)
        sources[i] = upload_input(&j, glcnn_graph_source(graph, i));
    run_graph(graph, sources);
    for (int k = 0; k < 2; k++) {
        double wanted = 0;
        for (int i = 0; i < GRIDS; i++)
            wanted += (double)value_of(graph, j.results[2 * i + k]);
        CU_ASSERT(wanted > 1);
        CU_ASSERT(is_near((double)value_of(graph, j.results[2 * GRIDS + k]), wanted, 1e-5));
    }
    destroy_images(sources, count);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&j.net);
    for (int i = 0; i < GRIDS; i++)
        for (int k = 0; k < INPUTS; k++)
            free(j.values[i][k]);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(losses_are_those_of_pytorch),
        UNIT_TEST(ciou_and_its_gradient_are_those_of_the_formula),
        UNIT_TEST(equal_boxes_lose_nothing),
        UNIT_TEST(boxes_of_no_extent_stay_finite),
        UNIT_TEST(joined_grids_lose_as_much),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("detection_loss", tests, argc, argv);
}
