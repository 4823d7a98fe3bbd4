/* Heads on networks that are there: which maps they stand on, what is left of the network, what stays as it
 * is while the head trains, and what cannot be a backbone. */
#include "tests/graphs.h"
#include "task/backbone.h"
#include "train/layers.h"

#include <math.h>

#define SIDE    64
#define CLASSES 7 /* of the classifier */
#define KINDS   3 /* of boxes */
#define BATCH   2

static const struct form classifier = {
    .width = SIDE, .height = SIDE, .channels = 3, .classes = CLASSES};

static struct form form_for(const char *task)
{
    struct form form = classifier;
    form.classes = KINDS;
    form.task = task_number(task_find(task));
    return form;
}

/* ---- Networks ---- */

static glcnn_image_node *convolve(glcnn_image_node *x, uint32_t inputs, uint32_t outputs,
                                  uint32_t stride)
{
    char words[200];
    snprintf(words, sizeof words,
             "kernel_width=3 kernel_height=3 input_feature_channels=%u output_feature_channels=%u "
             "stride_in_pixels_x=%u stride_in_pixels_y=%u",
             inputs, outputs, stride, stride);
    return glcnn_node(x, "convolution", words);
}

static void label(glcnn_image_node *x, const char *text)
{
    GOOD_FATAL(glcnn_filter_node_set_label(glcnn_image_node_filter(x), text));
}

/* Mean and scores. */
static void classify(glcnn_image_node *x, uint32_t size, uint32_t channels)
{
    x = glcnn_pooling_average_node(x, size, size, size, size);
    GOOD_FATAL(
        glcnn_filter_node_set_padding(glcnn_image_node_filter(x), GLCNN_PADDING_SIZE_VALID_ONLY));
    char words[100];
    snprintf(words, sizeof words, "input_feature_channels=%u output_feature_channels=%d", channels,
             CLASSES);
    label(glcnn_node(x, "fully_connected", words), "scores");
}

/* 32x32, 16x16, 8x8 and 4x4 pixels; the block of 16x16 ends with a sum, behind which channels are spread. */
static glcnn_network *make_classifier(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = convolve(make_input(net, "image"), 3, 8, 2);
    label(x, "first");
    x = glcnn_batch_normalization_node(convolve(x, 8, 16, 2), 1e-5f, NULL, NULL);
    label(x, "normalised");
    x = glcnn_add_node(convolve(x, 16, 16, 1), x);
    label(x, "sum");
    x = convolve(x, 16, 32, 1);
    x = convolve(x, 32, 16, 2);
    x = glcnn_neuron_relu_node(x, 0);
    label(x, "eighth");
    x = convolve(x, 16, 24, 2);
    label(x, "sixteenth");
    classify(x, 4, 24);
    GOOD_FATAL(glcnn_network_status(net));
    return net;
}

static glcnn_filter_node *named(const struct model *model, const char *text)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(model->network, i)) != NULL; i++)
        if (strcmp(glcnn_filter_node_label(filter), text) == 0)
            return filter;
    return NULL;
}

static struct model open_for(const char *task)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct form form = form_for(task);
    struct model model;
    CU_ASSERT_TRUE_FATAL(backbone_serves(&classifier, &form));
    bool opened = backbone_open(make_classifier(), &classifier, &form, BATCH, &model, error);
    if (!opened)
        printf("\n    %s", error);
    CU_ASSERT_TRUE_FATAL(opened);
    return model;
}

/* ---- Maps ---- */

/* One grid of stride 8 does for pictures of 64x64; what is behind its map, and the classifier, are gone. */
static void a_detector_stands_on_the_map_of_its_grid(void)
{
    struct model model = open_for("detect");
    CU_ASSERT_STRING_EQUAL(model.backbone, "eighth of 8x8x16");
    CU_ASSERT_PTR_NOT_NULL(named(&model, "sum"));
    CU_ASSERT(!named(&model, "sixteenth"));
    CU_ASSERT(!named(&model, "scores"));
    model_destroy(&model);
}

/* The sum, not the wider layer behind it. */
static void masks_are_made_of_all_maps(void)
{
    struct model model = open_for("segment");
    CU_ASSERT_STRING_EQUAL(model.backbone, "first of 32x32x8, sum of 16x16x16, eighth of 8x8x16, "
                                           "sixteenth of 4x4x24");
    CU_ASSERT(!named(&model, "scores"));
    model_destroy(&model);
}

static void what_has_a_head_is_no_backbone(void)
{
    const struct form boxes = form_for("detect"), masks = form_for("segment"),
                      numbers = form_for("regress");
    CU_ASSERT(!backbone_serves(&masks, &boxes));
    CU_ASSERT(!backbone_serves(&classifier, &numbers));
    CU_ASSERT(backbone_serves(&numbers, &masks));
}

/* ---- Training the head ---- */

static bool is_of_head(glcnn_filter_node *filter)
{
    return strncmp(glcnn_filter_node_label(filter), "detection_", 10) == 0;
}

/* A sum over the values of all vectors of the backbone or the head. */
static double sum_vectors(const struct model *model, bool of_head)
{
    double sum = 0;
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(model->network, i)) != NULL; i++)
        for (size_t k = 0; k < MODEL_VECTORS && is_of_head(filter) == of_head; k++) {
            glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
            if (!glcnn_kernel_has_vector(kernel, model_vectors[k]))
                continue;
            float *values = vector_values(glcnn_kernel_vector(kernel, model_vectors[k]));
            for (size_t n = 0; n < vector_count(glcnn_kernel_vector(kernel, model_vectors[k])); n++)
                sum += (double)values[n] * cos((double)n + (double)k);
            free(values);
        }
    return sum;
}

static void train_a_step(struct model *model)
{
    static float pictures[BATCH * SIDE * SIDE * 3];
    static const struct glcnn_data_box box = {
        .left = 0.2f, .top = 0.2f, .right = 0.6f, .bottom = 0.6f};
    const struct glcnn_data_box *boxes[BATCH] = {&box, &box};
    const uint32_t counts[BATCH] = {1, 1}, indices[BATCH] = {0, 1}, labels[BATCH] = {0, 0};
    const struct glcnn_data_batch batch = {.count = BATCH,
                                           .filled = BATCH,
                                           .labels = labels,
                                           .indices = indices,
                                           .boxes = boxes,
                                           .box_counts = counts};
    struct glcnn_training_descriptor training = {NULL};
    struct runner runner;
    float losses[BATCH];
    uint32_t seed = 3;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        pictures[i] = noise(&seed);
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &training.optimizer));
    GOOD_FATAL(glcnn_network_set_training(model->network, &training));
    glcnn_kernel_destroy(&training.optimizer);
    CU_ASSERT_TRUE_FATAL(runner_create_training(model, BATCH, NULL, &runner));
    CU_ASSERT_TRUE_FATAL(runner_run(&runner, pictures, &batch, losses));
    CU_ASSERT(isfinite(losses[0]) && losses[0] > 0);
    runner_destroy(&runner);
}

/* Scores begin low; "last" is the head, and running statistics of the others stay too. */
static void the_head_alone_trains(void)
{
    char error[GLCNN_ERROR_LENGTH];
    struct model model = open_for("detect");
    struct layers layers;
    GOOD_FATAL(glcnn_network_initialise(model.network, 1));
    float *biases = vector_values(glcnn_kernel_vector(
        glcnn_filter_node_kernel(named(&model, "detection_scores_0")), "biases"));
    for (int k = 0; k < KINDS; k++)
        CU_ASSERT_DOUBLE_EQUAL((double)biases[k], -log(99), 1e-5);
    free(biases);
    CU_ASSERT_TRUE_FATAL(layers_choose(&model, "last", &layers, error));
    CU_ASSERT_EQUAL(layers.trained, 6); /* two normalised convolutions, scores and distances */
    CU_ASSERT(layers.count > layers.trained);
    const double backbone = sum_vectors(&model, false), head = sum_vectors(&model, true);
    train_a_step(&model);
    CU_ASSERT_EQUAL(sum_vectors(&model, false), backbone);
    CU_ASSERT_NOT_EQUAL(sum_vectors(&model, true), head);
    model_destroy(&model);
}

/* ---- What is refused ---- */

static void refuse(glcnn_network *net, const char *phrase)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct form form = form_for("detect");
    struct model model;
    GOOD_FATAL(glcnn_network_status(net));
    CU_ASSERT(!backbone_open(net, &classifier, &form, BATCH, &model, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    if (!strstr(error, phrase))
        printf("\n    %s", error);
}

static void networks_without_maps_are_refused(void)
{
    glcnn_network *net = make_network();
    classify(convolve(make_input(net, "image"), 3, 8, 2), 32, 8);
    refuse(net, "none of its layers makes a map with a pixel for 4x4, 8x8 or 16x16 pixels");

    /* Patches, and from there on their values in a row. */
    net = make_network();
    glcnn_image_node *x = convolve(make_input(net, "image"), 3, 8, 8);
    label(x, "patches");
    x = glcnn_node(x, "reshape", "reshaped_width=64 reshaped_height=1 reshaped_feature_channels=8");
    label(glcnn_node(x, "convolution", "input_feature_channels=8 output_feature_channels=8"),
          "tokens");
    refuse(net, "behind its last map, \"patches\" of 8x8 pixels, layers work on rows of values");

    net = make_network();
    convolve(glcnn_add_node(make_input(net, "left"), make_input(net, "right")), 3, 8, 8);
    refuse(net, "not one input of pictures");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(a_detector_stands_on_the_map_of_its_grid), UNIT_TEST(masks_are_made_of_all_maps),
        UNIT_TEST(what_has_a_head_is_no_backbone),           UNIT_TEST(the_head_alone_trains),
        UNIT_TEST(networks_without_maps_are_refused),        CU_TEST_INFO_NULL,
    };
    return fixture_run("backbone", tests, argc, argv);
}
