/* A detector learns to find shapes: head, targets, losses, decoding and scores together, on one grid and
 * on two. */
#include <glcnn/kernels/optimizer.h>

#include "tests/fixture.h"
#include "tests/shapes.h"
#include "task/detection_decode.h"
#include "task/detection_loss.h"
#include "task/detection_score.h"
#include "task/detection_targets.h"

#include <math.h>
#include <time.h>

#define BATCH    8
#define CHANNELS 32 /* of the head */
#define BOX_GAIN 4

/* ---- The detector ---- */

struct detector {
    struct detection_layout layout;
    glcnn_network *network;
    glcnn_image_node *image;
    struct detection_outputs outputs[DETECTION_SCALES];
    struct detection_loss losses[DETECTION_SCALES];
    struct detection_targets targets;
    glcnn_graph *training, *inference;
};

/* A convolution of stride 2, or 1, normalised, with a ReLU. */
static glcnn_image_node *layer(glcnn_image_node *x, uint32_t inputs, uint32_t outputs,
                               uint32_t stride)
{
    static const struct glcnn_neuron_descriptor rectifier = {.type = GLCNN_NEURON_TYPE_RELU};
    x = glcnn_convolution_node(
        x,
        &(struct glcnn_convolution_descriptor){.kernel_width = 3,
                                               .kernel_height = 3,
                                               .input_feature_channels = inputs,
                                               .output_feature_channels = outputs,
                                               .stride_in_pixels_x = stride,
                                               .stride_in_pixels_y = stride},
        NULL);
    return glcnn_batch_normalization_node(x, 1e-5f, &rectifier, NULL);
}

/* Features of stride 8, or of 4 and 8. */
static void make_backbone(struct detector *d, struct detection_features features[])
{
    glcnn_image_node *x = layer(layer(d->image, 3, 16, 2), 16, 32, 2);
    features[0] = (struct detection_features){x, 32};
    features[d->layout.scales - 1] = (struct detection_features){layer(x, 32, 48, 2), 48};
}

static void make_training(struct detector *d)
{
    glcnn_filter_node *losses[2 * DETECTION_SCALES];
    glcnn_kernel *optimizer = NULL;
    for (uint32_t i = 0; i < d->layout.scales; i++) {
        losses[2 * i] = d->losses[i].scores;
        losses[2 * i + 1] = d->losses[i].boxes;
    }
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.002f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create_with_losses(losses, 2 * d->layout.scales, optimizer,
                                                       NULL, &d->training));
    glcnn_kernel_destroy(&optimizer);
}

static void make_inference(struct detector *d)
{
    glcnn_image_node *results[DETECTION_SCALES];
    for (uint32_t i = 0; i < d->layout.scales; i++)
        results[i] = d->outputs[i].predictions;
    const struct glcnn_graph_descriptor descriptor = {.results = results,
                                                      .result_count = d->layout.scales};
    GOOD_FATAL(glcnn_graph_create(d->network, &descriptor, &d->inference));
}

static void make_detector(struct detector *d, uint32_t scales)
{
    static const uint32_t strides[] = {4, 8};
    struct detection_features features[DETECTION_SCALES] = {{NULL, 0}};
    *d = (struct detector){.layout = detection_layout(SHAPES_SIDE, SHAPES_SIDE, SHAPES_CLASSES,
                                                      strides + 2 - scales, scales)};
    GOOD_FATAL(glcnn_network_create(device, &d->network));
    d->image = glcnn_image_node_create(d->network, "image");
    make_backbone(d, features);
    detection_head(&d->layout, CHANNELS, features, d->outputs);
    for (uint32_t i = 0; i < scales; i++) {
        d->losses[i] =
            (struct detection_loss){.labels = glcnn_image_node_create(d->network, "labels"),
                                    .label_weights = glcnn_image_node_create(d->network, "weights"),
                                    .distances = glcnn_image_node_create(d->network, "distances"),
                                    .box_weights = glcnn_image_node_create(d->network, "boxes")};
        detection_losses(&d->outputs[i], DETECTION_CROSS_ENTROPY, &d->losses[i]);
    }
    GOOD_FATAL(glcnn_network_status(d->network));
    GOOD_FATAL(glcnn_network_initialise(d->network, 1));
    make_training(d);
    make_inference(d);
    CU_ASSERT_TRUE_FATAL(detection_targets_create(&d->layout, BATCH, &d->targets));
}

static void free_detector(struct detector *d)
{
    detection_targets_free(&d->targets);
    glcnn_graph_destroy(&d->training);
    glcnn_graph_destroy(&d->inference);
    glcnn_network_destroy(&d->network);
}

/* ---- Training ---- */

static glcnn_image *upload(const struct detection_grid *grid, uint32_t channels,
                           const float *values)
{
    glcnn_image *image = make_image(BATCH, channels, grid->rows, grid->columns);
    GOOD_FATAL(glcnn_image_write_bytes(image, NULL, values, count_of(image) * sizeof *values));
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

/* The image of a node that the training graph reads. */
static glcnn_image *source_of(const struct detector *d, const glcnn_image_node *node,
                              const struct shapes *pictures)
{
    for (uint32_t i = 0; i < d->layout.scales; i++) {
        const struct detection_loss *loss = &d->losses[i];
        const struct detection_target *target = &d->targets.scales[i];
        const struct detection_grid *grid = &d->layout.grids[i];
        if (node == loss->labels)
            return upload(grid, SHAPES_CLASSES, target->labels);
        if (node == loss->label_weights)
            return upload(grid, SHAPES_CLASSES, target->label_weights);
        if (node == loss->distances)
            return upload(grid, 4, target->distances);
        if (node == loss->box_weights)
            return upload(grid, 1, target->box_weights);
    }
    return upload_pictures(pictures);
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

static void train_batch(struct detector *d, const struct shapes *pictures)
{
    glcnn_image *sources[1 + 4 * DETECTION_SCALES];
    struct objects objects[BATCH];
    for (uint32_t n = 0; n < BATCH; n++)
        objects[n] = (struct objects){pictures[n].objects, pictures[n].count};
    detection_targets_set(&d->targets, objects, BATCH, BOX_GAIN);
    size_t count = glcnn_graph_source_count(d->training);
    CU_ASSERT_EQUAL_FATAL(count, 1 + 4 * d->layout.scales);
    for (size_t i = 0; i < count; i++)
        sources[i] = source_of(d, glcnn_graph_source(d->training, i), pictures);
    GOOD_FATAL(glcnn_graph_execute(d->training, sources, NULL, NULL));
    for (size_t i = 0; i < count; i++)
        glcnn_image_destroy(&sources[i]);
}

/* ---- Evaluation ---- */

static void score_picture(const struct detector *d, float *const predictions[], uint32_t n,
                          const struct shapes *picture, glcnn_detection_score *score)
{
    const float *of_picture[DETECTION_SCALES];
    struct glcnn_detection found[100];
    const struct glcnn_detection_limits limits = {0.01f, 0.6f, 100, false};
    for (uint32_t i = 0; i < d->layout.scales; i++)
        of_picture[i] = predictions[i] +
                        (size_t)n * detection_locations(&d->layout.grids[i]) * (4 + SHAPES_CLASSES);
    uint32_t count = detection_decode(&d->layout, of_picture, &limits, found);
    CU_ASSERT_FATAL(count <= limits.most);
    CU_ASSERT_TRUE_FATAL(
        detection_score_add(score, picture->objects, picture->count, found, count));
}

static void score_batch(const struct detector *d, const struct shapes *pictures,
                        glcnn_detection_score *score)
{
    glcnn_image *source = upload_pictures(pictures);
    float *predictions[DETECTION_SCALES] = {NULL};
    GOOD_FATAL(glcnn_graph_execute(d->inference, &source, NULL, NULL));
    for (uint32_t i = 0; i < d->layout.scales; i++) {
        glcnn_image *image = glcnn_graph_image(d->inference, d->outputs[i].predictions);
        size_t size = count_of(image) * sizeof(float);
        predictions[i] = malloc(size);
        GOOD_FATAL(glcnn_image_read_bytes(image, NULL, predictions[i], size));
    }
    for (uint32_t n = 0; n < BATCH; n++)
        score_picture(d, predictions, n, &pictures[n], score);
    for (uint32_t i = 0; i < d->layout.scales; i++)
        free(predictions[i]);
    glcnn_image_destroy(&source);
}

/* On the pictures of a seed. */
static struct detection_precision evaluate(const struct detector *d, uint32_t batches,
                                           uint32_t seed)
{
    glcnn_detection_score score;
    struct detection_precision precision = {.at_50 = 0};
    struct shapes *pictures = malloc(BATCH * sizeof *pictures);
    CU_ASSERT_TRUE_FATAL(pictures && detection_score_begin(&score, SHAPES_CLASSES));
    for (uint32_t b = 0; b < batches; b++) {
        for (uint32_t n = 0; n < BATCH; n++)
            shapes_make(&pictures[n], &seed);
        score_batch(d, pictures, &score);
    }
    detection_score_result(&score, &precision);
    detection_score_free(&score);
    free(pictures);
    return precision;
}

/* ---- Both ---- */

#define SEED 1 /* of what is trained on */

/* `batches` of pictures, `epochs` times, with a learning rate that falls along a cosine. */
static void train(struct detector *d, uint32_t batches, uint32_t epochs)
{
    uint32_t seed = SEED, steps = batches * epochs;
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

static void tell(struct detection_precision p, clock_t begin)
{
    printf("mAP@0.5 %.3f, @0.5:0.95 %.3f, %.0f s of processor time ", p.at_50, p.at_all,
           (double)(clock() - begin) / CLOCKS_PER_SEC);
}

/* Pictures that were never seen. Within the minimum limits the two grids are enough. */
static void shapes_are_found(void)
{
    struct detector d;
    if (getenv("GLCNN_LIMITS"))
        return;
    clock_t begin = clock();
    make_detector(&d, 1);
    train(&d, 96, 5);
    struct detection_precision p = evaluate(&d, 16, 4711);
    tell(p, begin);
    CU_ASSERT(p.at_50 >= 0.95);
    CU_ASSERT(p.at_all >= 0.55);
    free_detector(&d);
}

/* The pictures that were trained on, whose shapes the grids share by their sizes. */
static void two_grids_learn_together(void)
{
    struct detector d;
    clock_t begin = clock();
    make_detector(&d, 2);
    train(&d, 4, 30);
    struct detection_precision p = evaluate(&d, 4, SEED);
    tell(p, begin);
    CU_ASSERT(p.at_50 >= 0.9);
    free_detector(&d);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(shapes_are_found),
        UNIT_TEST(two_grids_learn_together),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("detection_training", tests, argc, argv);
}
