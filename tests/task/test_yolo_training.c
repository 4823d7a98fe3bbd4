/* A detector with anchor boxes learns to find shapes by the YOLO loss, and its boxes are decoded as
 * glcnn/kernels/yolo_loss.h says. */
#include <glcnn/kernels/optimizer.h>
#include <glcnn/kernels/yolo_loss.h>

#include "tests/fixture.h"
#include "tests/shapes.h"
#include "task/detection_decode.h"
#include "task/detection_score.h"

#include <math.h>
#include <time.h>

#define BATCH  8
#define STRIDE 8
#define SIDE   (SHAPES_SIDE / STRIDE) /* cells of a row and a column */
#define CELLS  (SIDE * SIDE)
#define BOXES  2
#define PARTS  (5 + SHAPES_CLASSES) /* channels of an anchor box */

/* Width and height in cells; shapes have 1.75 to 3.75 of them. */
static const float anchors[2 * BOXES] = {2.25f, 2.25f, 3.25f, 3.25f};

struct detector {
    glcnn_network *network;
    glcnn_image_node *image, *labels, *predictions;
    glcnn_filter_node *loss;
    glcnn_graph *training, *inference;
};

/* ---- The detector ---- */

static glcnn_image_node *convolve(glcnn_image_node *x, uint32_t size, uint32_t inputs,
                                  uint32_t outputs, uint32_t stride)
{
    return glcnn_convolution_node(
        x,
        &(struct glcnn_convolution_descriptor){.kernel_width = size,
                                               .kernel_height = size,
                                               .input_feature_channels = inputs,
                                               .output_feature_channels = outputs,
                                               .stride_in_pixels_x = stride,
                                               .stride_in_pixels_y = stride},
        NULL);
}

static glcnn_image_node *layer(glcnn_image_node *x, uint32_t inputs, uint32_t outputs,
                               uint32_t stride)
{
    static const struct glcnn_neuron_descriptor rectifier = {.type = GLCNN_NEURON_TYPE_RELU};
    return glcnn_batch_normalization_node(convolve(x, 3, inputs, outputs, stride), 1e-5f,
                                          &rectifier, NULL);
}

static void make_graphs(struct detector *d)
{
    glcnn_kernel *optimizer = NULL;
    const struct glcnn_graph_descriptor descriptor = {.results = &d->predictions,
                                                      .result_count = 1};
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.004f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(d->loss, optimizer, NULL, &d->training));
    GOOD_FATAL(glcnn_graph_create(d->network, &descriptor, &d->inference));
    glcnn_kernel_destroy(&optimizer);
}

/* Means of a batch. By the scales of MPS confidence is nearly all of the loss, and the rest learns
 * slowly. */
static void set_scales(struct glcnn_yolo_loss_parameters *p)
{
    p->xy.weight = p->wh.weight = p->confidence.weight = p->classes.weight = 1.0f / BATCH;
    p->scale_no_object = 1;
    p->scale_object = 5;
    p->scale_class = 5;
}

static void make_detector(struct detector *d)
{
    GOOD_FATAL(glcnn_network_create(device, &d->network));
    d->image = glcnn_image_node_create(d->network, "image");
    d->labels = glcnn_image_node_create(d->network, "labels");
    glcnn_image_node *x = layer(layer(layer(d->image, 3, 16, 2), 16, 32, 2), 32, 48, 2);
    d->predictions = convolve(layer(x, 48, 32, 1), 1, 32, BOXES * PARTS, 1);
    d->loss = glcnn_yolo_loss_node(d->predictions, d->labels, NULL, anchors, 2 * BOXES,
                                   GLCNN_REDUCTION_TYPE_SUM);
    GOOD_FATAL(glcnn_network_status(d->network));
    set_scales(glcnn_yolo_loss(glcnn_filter_node_kernel(d->loss)));
    GOOD_FATAL(glcnn_network_initialise(d->network, 1));
    make_graphs(d);
}

static void free_detector(struct detector *d)
{
    glcnn_graph_destroy(&d->training);
    glcnn_graph_destroy(&d->inference);
    glcnn_network_destroy(&d->network);
}

/* ---- Labels ---- */

/* An object for all anchor boxes of the cell that its centre is in. */
static void mark(const struct glcnn_object *object, float cells[SIDE][SIDE][BOXES][PARTS])
{
    const struct glcnn_box *b = &object->box;
    float x = (b->left + b->right) / 2 / STRIDE, y = (b->top + b->bottom) / 2 / STRIDE;
    float width = (b->right - b->left) / STRIDE, height = (b->bottom - b->top) / STRIDE;
    for (int i = 0; i < BOXES; i++) {
        float *t = cells[(int)y][(int)x][i];
        memset(t, 0, PARTS * sizeof *t);
        memcpy(t, (const float[]){x - floorf(x), y - floorf(y), width, height, 1}, 5 * sizeof *t);
        t[5 + object->label] = 1;
    }
}

static glcnn_image *upload_labels(const struct shapes *pictures)
{
    static float cells[BATCH][SIDE][SIDE][BOXES][PARTS];
    glcnn_image *image = make_image(BATCH, BOXES * PARTS, SIDE, SIDE);
    memset(cells, 0, sizeof cells);
    for (int n = 0; n < BATCH; n++)
        for (uint32_t i = 0; i < pictures[n].count; i++)
            mark(&pictures[n].objects[i], cells[n]);
    GOOD_FATAL(glcnn_image_write_bytes(image, NULL, cells, sizeof cells));
    return image;
}

static glcnn_image *upload_pictures(const struct shapes *pictures)
{
    glcnn_image *image = make_image(BATCH, 3, SHAPES_SIDE, SHAPES_SIDE);
    for (uint32_t n = 0; n < BATCH; n++)
        GOOD_FATAL(glcnn_image_write_bytes(
            image, &(struct glcnn_image_transfer){.first_image = n, .image_count = 1},
            pictures[n].pixels, sizeof pictures[n].pixels));
    return image;
}

/* ---- Training ---- */

static void train_batch(struct detector *d, const struct shapes *pictures)
{
    glcnn_image *both[] = {upload_pictures(pictures), upload_labels(pictures)};
    glcnn_image *sources[2];
    CU_ASSERT_EQUAL_FATAL(glcnn_graph_source_count(d->training), 2);
    for (size_t i = 0; i < 2; i++)
        sources[i] = both[glcnn_graph_source(d->training, i) == d->labels];
    GOOD_FATAL(glcnn_graph_execute(d->training, sources, NULL, NULL));
    glcnn_image_destroy(&both[0]);
    glcnn_image_destroy(&both[1]);
}

static void set_learning_rate(const struct detector *d, float rate)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(d->network, i)) != NULL; i++) {
        glcnn_kernel *optimizer = glcnn_kernel_optimizer(glcnn_filter_node_kernel(node));
        if (optimizer)
            glcnn_optimizer(optimizer)->learning_rate = rate;
    }
}

/* `batches` of pictures, `epochs` times, with a learning rate that falls along a cosine. */
static void train(struct detector *d, uint32_t batches, uint32_t epochs)
{
    uint32_t seed = 1, steps = batches * epochs;
    struct shapes *pictures = malloc((size_t)batches * BATCH * sizeof *pictures);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pictures);
    for (uint32_t n = 0; n < batches * BATCH; n++)
        shapes_make(&pictures[n], &seed);
    for (uint32_t step = 0; step < steps; step++) {
        set_learning_rate(d, 0.002f * (1 + cosf(3.1416f * (float)step / (float)steps)));
        train_batch(d, pictures + (size_t)(step % batches) * BATCH);
    }
    free(pictures);
}

/* ---- Boxes ---- */

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* What an anchor box predicts, as distances from the middle of its cell to the edges, then how likely
 * each class is. */
static void decode_box(const float *y, const float *anchor, float values[4 + SHAPES_CLASSES])
{
    float sum = 0, dx = sigmoid(y[0]) - 0.5f, dy = sigmoid(y[1]) - 0.5f;
    float width = anchor[0] * expf(y[2]), height = anchor[1] * expf(y[3]);
    memcpy(values,
           (const float[]){width / 2 - dx, height / 2 - dy, width / 2 + dx, height / 2 + dy},
           4 * sizeof *values);
    for (int c = 0; c < SHAPES_CLASSES; c++)
        sum += expf(y[5 + c]);
    for (int c = 0; c < SHAPES_CLASSES; c++)
        values[4 + c] = sigmoid(y[4]) * expf(y[5 + c]) / sum;
}

/* Each anchor box as a grid of its own. */
static struct detection_layout layout_of_boxes(void)
{
    static const uint32_t strides[BOXES] = {STRIDE, STRIDE};
    return detection_layout(SHAPES_SIDE, SHAPES_SIDE, SHAPES_CLASSES, strides, BOXES);
}

static void score_picture(const float cells[CELLS][BOXES][PARTS], const struct shapes *picture,
                          glcnn_detection_score *score)
{
    static float values[BOXES][CELLS][4 + SHAPES_CLASSES];
    const float *predictions[BOXES];
    const struct detection_layout layout = layout_of_boxes();
    const struct glcnn_detection_limits limits = {0.01f, 0.6f, 100, false};
    struct glcnn_detection found[100];
    for (int i = 0; i < BOXES; i++) {
        predictions[i] = values[i][0];
        for (int cell = 0; cell < CELLS; cell++)
            decode_box(cells[cell][i], anchors + 2 * i, values[i][cell]);
    }
    uint32_t count = detection_decode(&layout, predictions, &limits, found);
    CU_ASSERT_FATAL(count <= limits.most);
    CU_ASSERT_TRUE_FATAL(
        detection_score_add(score, picture->objects, picture->count, found, count));
}

static void score_batch(const struct detector *d, const struct shapes *pictures,
                        glcnn_detection_score *score)
{
    static float cells[BATCH][CELLS][BOXES][PARTS];
    glcnn_image *source = upload_pictures(pictures);
    GOOD_FATAL(glcnn_graph_execute(d->inference, &source, NULL, NULL));
    GOOD_FATAL(glcnn_image_read_bytes(glcnn_graph_image(d->inference, d->predictions), NULL, cells,
                                      sizeof cells));
    for (uint32_t n = 0; n < BATCH; n++)
        score_picture(cells[n], &pictures[n], score);
    glcnn_image_destroy(&source);
}

/* On pictures that were never seen. */
static struct detection_precision evaluate(const struct detector *d, uint32_t batches)
{
    glcnn_detection_score score;
    struct detection_precision precision = {.at_50 = 0};
    static struct shapes pictures[BATCH];
    uint32_t seed = 4711;
    CU_ASSERT_TRUE_FATAL(detection_score_begin(&score, SHAPES_CLASSES));
    for (uint32_t b = 0; b < batches; b++) {
        for (uint32_t n = 0; n < BATCH; n++)
            shapes_make(&pictures[n], &seed);
        score_batch(d, pictures, &score);
    }
    detection_score_result(&score, &precision);
    detection_score_free(&score);
    return precision;
}

/* It takes half a minute: in one mode. */
static void shapes_are_found(void)
{
    struct detector d;
    if (getenv("GLCNN_LIMITS"))
        return;
    clock_t begin = clock();
    make_detector(&d);
    train(&d, 96, 10);
    struct detection_precision p = evaluate(&d, 16);
    printf("mAP@0.5 %.3f, @0.5:0.95 %.3f, %.0f s of processor time ", p.at_50, p.at_all,
           (double)(clock() - begin) / CLOCKS_PER_SEC);
    CU_ASSERT(p.at_50 >= 0.9);
    free_detector(&d);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(shapes_are_found),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("yolo_training", tests, argc, argv);
}
