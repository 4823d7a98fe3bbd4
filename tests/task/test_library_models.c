/* Models of glcnn/task.h: made for each task, saved, loaded again, and asked about pictures. */
#include "tests/fixture.h"

#include <glcnn/checkpoint.h>
#include <glcnn/graph.h>
#include <glcnn/report.h>
#include <glcnn/task.h>
#include <string.h>
#include <unistd.h>

#include "task/trained.h"
#include "tests/graphs.h"

#define SIDE     32
#define LONGEST  128
#define PICTURES 3

static char folder[64], file[128], images[128];

static uint32_t shown[2] = {SIDE, SIDE}; /* width and height of the pictures */
static uint32_t shown_count = PICTURES;

/* Pictures as one .npy file of bytes, [N][H][W]. */
static bool write_images(uint32_t width, uint32_t height)
{
    static uint8_t values[PICTURES * LONGEST * LONGEST];
    const size_t shape[] = {shown_count, height, width};
    shown[0] = width;
    shown[1] = height;
    FILE *out = fopen(images, "wb");
    char header[128];
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (uint8_t)(i * 7 % 251);
    const int length =
        snprintf(header, sizeof header,
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu, %zu, %zu), }", shape[0],
                 shape[1], shape[2]);
    if (!out)
        return false;
    fprintf(out, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    fwrite(values, 1, (size_t)shown_count * width * height, out);
    return fclose(out) == 0 && length > 0 && length < 117;
}

static bool open_all(void)
{
    snprintf(folder, sizeof folder, "/tmp/test_library_models.XXXXXX");
    if (!fixture_open() || !mkdtemp(folder))
        return false;
    snprintf(file, sizeof file, "%s/model.safetensors", folder);
    snprintf(images, sizeof images, "%s/images.npy", folder);
    return write_images(SIDE, SIDE);
}

static void close_all(void)
{
    unlink(file);
    unlink(images);
    rmdir(folder);
    fixture_close();
}

static glcnn_model *make_at(const char *task, const char *net, uint32_t width, uint32_t height)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_model *model = NULL;
    const char *const names[] = {"eye_x", "eye_y"};
    const struct glcnn_model_parameters parameters = {.task = task,
                                                      .net = net,
                                                      .width = width,
                                                      .height = height,
                                                      .channels = 1,
                                                      .class_names = names,
                                                      .class_count = 2,
                                                      .seed = width};
    CU_ASSERT_EQUAL_FATAL(glcnn_model_create(device, &parameters, &model, error), GLCNN_SUCCESS);
    return model;
}

static glcnn_model *make(const char *task, const char *net)
{
    return make_at(task, net, SIDE, SIDE);
}

typedef bool answer_check(const struct glcnn_prediction *p, glcnn_predictions *all);

/* Answers to all pictures, one after the other; how many there are. */
static uint32_t answer(glcnn_model *model, float *values, answer_check *has)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const char *const paths[] = {images};
    const size_t each = glcnn_model_info(model)->value_count;
    glcnn_predictions *all = NULL, *others = NULL;
    const struct glcnn_prediction *p = NULL;
    uint32_t count = 0;
    CU_ASSERT_EQUAL_FATAL(glcnn_model_predict(model, paths, 1, NULL, &all, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_model_predict(model, paths, 1, NULL, &others, error),
                    GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NULL(others);
    while (glcnn_predictions_next(all, &p, error) == GLCNN_SUCCESS && p && count < PICTURES) {
        CU_ASSERT_EQUAL(p->index, count);
        CU_ASSERT_EQUAL(p->width, shown[0]);
        CU_ASSERT_TRUE(p->is_finite && has(p, all));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_predictions_json(all), "\"image\""));
        memcpy(values + count++ * each, p->values, each * sizeof *values);
    }
    CU_ASSERT_PTR_NULL(p);
    CU_ASSERT_PTR_NOT_NULL(glcnn_predictions_notes(all));
    glcnn_predictions_destroy(&all);
    CU_ASSERT_PTR_NULL(all);
    return count;
}

static bool is_any(const struct glcnn_prediction *p, glcnn_predictions *all)
{
    (void)all;
    return p->values;
}

static bool has_class(const struct glcnn_prediction *p, glcnn_predictions *all)
{
    return p->label < 2 && p->probability == p->values[p->label] && *glcnn_predictions_text(all) &&
           !p->boxes;
}

static bool has_numbers(const struct glcnn_prediction *p, glcnn_predictions *all)
{
    return *glcnn_predictions_text(all) && !glcnn_predictions_mask(all) && !p->points;
}

static bool has_mask(const struct glcnn_prediction *p, glcnn_predictions *all)
{
    for (size_t i = 0; i < (size_t)p->width * p->height; i++)
        if (glcnn_predictions_mask(all)[i] >= 2)
            return false;
    return true;
}

static bool has_boxes(const struct glcnn_prediction *p, glcnn_predictions *all)
{
    return p->boxes && !p->points && glcnn_predictions_text(all);
}

static bool has_point(const struct glcnn_prediction *p, glcnn_predictions *all)
{
    return *glcnn_predictions_text(all) && p->point_count == 1 && p->points[0].x >= 0 &&
           p->points[0].x <= SIDE;
}

/* What was saved is what was made: the same answers to the bit. */
static void models_are_made_saved_and_loaded(void)
{
    static const struct {
        const char *task, *net;
        answer_check *has;
    } all[] = {{"classify", "lenet", has_class},
               {"regress", "lenet", has_numbers},
               {"segment", "small", has_mask},
               {"detect", "small", has_boxes},
               {"keypoints", "small", has_point}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        glcnn_model *made = make(all[i].task, all[i].net), *loaded = NULL;
        const size_t size = PICTURES * glcnn_model_info(made)->value_count * sizeof(float);
        float *before = calloc(1, size), *after = calloc(1, size);
        CU_ASSERT_EQUAL(answer(made, before, all[i].has), PICTURES);
        CU_ASSERT_EQUAL(glcnn_model_save(made, file, error), GLCNN_SUCCESS);
        CU_ASSERT_EQUAL_FATAL(glcnn_model_load(device, file, &loaded, error), GLCNN_SUCCESS);
        CU_ASSERT_STRING_EQUAL(glcnn_model_info(loaded)->task->name, all[i].task);
        CU_ASSERT_STRING_EQUAL(glcnn_model_info(loaded)->title, all[i].net);
        CU_ASSERT_STRING_EQUAL(glcnn_model_info(loaded)->class_names[1], "eye_y");
        CU_ASSERT_PTR_NOT_NULL(glcnn_model_network(loaded));
        CU_ASSERT_EQUAL(answer(loaded, after, all[i].has), PICTURES);
        CU_ASSERT_EQUAL(memcmp(before, after, size), 0);
        free(before);
        free(after);
        glcnn_model_destroy(&loaded);
        glcnn_model_destroy(&made);
        CU_ASSERT_PTR_NULL(made);
    }
}

/* Answers of a network to pictures of its size, in room that is to be freed. */
static float *answers_of(glcnn_model *model)
{
    CU_ASSERT_TRUE_FATAL(
        write_images(glcnn_model_info(model)->width, glcnn_model_info(model)->height));
    float *values = calloc(PICTURES * glcnn_model_info(model)->value_count, sizeof *values);
    CU_ASSERT_EQUAL(answer(model, values, is_any), PICTURES);
    return values;
}

/* Normalisations that never met an image have their vectors at the start values. */
static void models_that_never_ran_are_saved(void)
{
    const struct glcnn_task_info *task;
    const struct net *net;
    char error[GLCNN_ERROR_LENGTH] = "";
    for (size_t i = 0; (task = glcnn_task_at(i)) != NULL; i++)
        for (size_t k = 0; (net = net_at(k)) != NULL; k++) {
            glcnn_model *made = make_at(task->name, net->name, 128, 128), *loaded = NULL;
            const glcnn_status status = glcnn_model_save(made, file, error);
            if (status != GLCNN_SUCCESS)
                printf("\n    %s of %s: %s\n", task->name, net->name, error);
            CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
            CU_ASSERT_EQUAL(glcnn_model_load(device, file, &loaded, error), GLCNN_SUCCESS);
            glcnn_model_destroy(&loaded);
            glcnn_model_destroy(&made);
        }
    glcnn_model *made = make("classify", "resnet8"), *loaded = NULL;
    CU_ASSERT_EQUAL(glcnn_model_save(made, file, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_model_load(device, file, &loaded, error), GLCNN_SUCCESS);
    float *expected = answers_of(made), *found = answers_of(loaded);
    CU_ASSERT_EQUAL(memcmp(expected, found, sizeof *found * PICTURES * 2), 0);
    free(expected);
    free(found);
    glcnn_model_destroy(&loaded);
    glcnn_model_destroy(&made);
}

/* The network is what one that is made at the other size is, with the same weights. */
static void networks_take_other_sizes(void)
{
    static const struct {
        const char *task, *net;
        uint32_t own, width, height, refused; /* a side that does not suit; 0: all do */
    } all[] = {{"classify", "resnet8", 16, 24, 20, 0},
               {"regress", "mobilenet-tiny", 16, 32, 24, 0},
               {"segment", "small", 16, 24, 20, 0},
               {"detect", "small", 112, 128, 104, 114},
               {"keypoints", "small", 24, 16, 16, 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        const uint32_t sides[2] = {all[i].width, all[i].height};
        glcnn_model *first = make_at(all[i].task, all[i].net, all[i].own, all[i].own),
                    *other = make_at(all[i].task, all[i].net, sides[0], sides[1]), *sized = NULL;
        CU_ASSERT_EQUAL(glcnn_model_save(first, file, error), GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(glcnn_checkpoint_load(glcnn_model_network(other), file, NULL, error),
                        GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(glcnn_model_load_sized(device, file, sides[0], sides[1], &sized, error),
                        GLCNN_SUCCESS);
        if (!sized)
            printf("\n    %s of %s: %s\n", all[i].task, all[i].net, error);
        const struct glcnn_model_description *info = sized ? glcnn_model_info(sized) : NULL;
        if (info) {
            CU_ASSERT_EQUAL(info->width, sides[0]);
            CU_ASSERT_EQUAL(info->value_count, glcnn_model_info(other)->value_count);
            float *expected = answers_of(other), *found = answers_of(sized);
            CU_ASSERT_EQUAL(memcmp(expected, found, PICTURES * info->value_count * sizeof *found),
                            0);
            free(expected);
            free(found);
        }
        if (all[i].refused) {
            glcnn_model_destroy(&sized);
            CU_ASSERT_EQUAL(
                glcnn_model_load_sized(device, file, all[i].refused, all[i].refused, &sized, error),
                GLCNN_MALFORMED_DATA);
            CU_ASSERT_PTR_NOT_NULL(strstr(error, "does not take 114x114: add: the primary source"));
        }
        glcnn_model_destroy(&first);
        glcnn_model_destroy(&other);
        glcnn_model_destroy(&sized);
    }
}

static void sizes_that_do_not_suit_are_refused(void)
{
    static const struct {
        const char *task, *net, *phrase;
        uint32_t own, width, height;
        glcnn_status status;
    } all[] = {
        {"classify", "lenet",
         "the network was made for images of 16x16, and does not take 20x20: fully_connected: the "
         "weights are for",
         16, 20, 20, GLCNN_MALFORMED_DATA},
        {"segment", "small", "does not take 1x1", 16, 1, 1, GLCNN_MALFORMED_DATA},
        {"segment", "small", "pictures of 0x8 are requested", 16, 0, 8, GLCNN_INVALID_ARGUMENT},
        {"segment", "small", "pictures of 70000x8 are requested", 16, 70000, 8,
         GLCNN_INVALID_ARGUMENT}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        glcnn_model *model = make_at(all[i].task, all[i].net, all[i].own, all[i].own);
        CU_ASSERT_EQUAL(glcnn_model_save(model, file, error), GLCNN_SUCCESS);
        glcnn_model_destroy(&model);
        CU_ASSERT_EQUAL(
            glcnn_model_load_sized(device, file, all[i].width, all[i].height, &model, error),
            all[i].status);
        CU_ASSERT_PTR_NULL(model);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, all[i].phrase));
        if (!strstr(error, all[i].phrase))
            printf("\n    %s of %s: %s\n", all[i].task, all[i].net, error);
        glcnn_model_destroy(&model);
    }
}

/* ---- What is made once ---- */

/* The program is linked so that these stand before the library's own. */
glcnn_status __real_glcnn_graph_create(glcnn_network *network,
                                       const struct glcnn_graph_descriptor *descriptor,
                                       glcnn_graph **graph);
glcnn_status __wrap_glcnn_graph_create(glcnn_network *network,
                                       const struct glcnn_graph_descriptor *descriptor,
                                       glcnn_graph **graph);
uint32_t __real_detection_decode(const struct detection_layout *layout,
                                 const float *const predictions[],
                                 const struct glcnn_detection_limits *limits,
                                 struct glcnn_detection *found);
uint32_t __wrap_detection_decode(const struct detection_layout *layout,
                                 const float *const predictions[],
                                 const struct glcnn_detection_limits *limits,
                                 struct glcnn_detection *found);
glcnn_status __real_glcnn_network_serialize(glcnn_network *network, bool weights, uint8_t **bytes,
                                            size_t *size, char error[GLCNN_ERROR_LENGTH]);
glcnn_status __wrap_glcnn_network_serialize(glcnn_network *network, bool weights, uint8_t **bytes,
                                            size_t *size, char error[GLCNN_ERROR_LENGTH]);
static unsigned graphs_made, boxes_decoded, networks_serialised;

glcnn_status __wrap_glcnn_network_serialize(glcnn_network *network, bool weights, uint8_t **bytes,
                                            size_t *size, char error[GLCNN_ERROR_LENGTH])
{
    networks_serialised++;
    return __real_glcnn_network_serialize(network, weights, bytes, size, error);
}

glcnn_status __wrap_glcnn_graph_create(glcnn_network *network,
                                       const struct glcnn_graph_descriptor *descriptor,
                                       glcnn_graph **graph)
{
    graphs_made++;
    return __real_glcnn_graph_create(network, descriptor, graph);
}

uint32_t __wrap_detection_decode(const struct detection_layout *layout,
                                 const float *const predictions[],
                                 const struct glcnn_detection_limits *limits,
                                 struct glcnn_detection *found)
{
    boxes_decoded++;
    return __real_detection_decode(layout, predictions, limits, found);
}

static void train_a_step(struct runner *runner)
{
    static float pictures[TRAINED_BATCH * SIDE * SIDE], losses[TRAINED_BATCH];
    uint32_t labels[TRAINED_BATCH];
    const struct glcnn_data_batch batch = {.count = TRAINED_BATCH, .labels = labels};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        pictures[i] = (float)(i * 5 % 17) / 17;
    for (uint32_t n = 0; n < TRAINED_BATCH; n++)
        labels[n] = n % 2;
    CU_ASSERT_TRUE(runner_run(runner, pictures, &batch, losses));
}

/* The answers of a model are those of its file, which a model loaded anew gives. */
static void check_answers(glcnn_model *model, unsigned graphs, float found[PICTURES * 2])
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_model *anew = NULL;
    float expected[PICTURES * 2];
    graphs_made = networks_serialised = 0;
    CU_ASSERT_EQUAL(answer(model, found, has_class), PICTURES);
    CU_ASSERT_EQUAL(graphs_made, graphs);
    CU_ASSERT_EQUAL(networks_serialised, 0);
    CU_ASSERT_EQUAL(glcnn_model_save(model, file, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_model_load(device, file, &anew, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(answer(anew, expected, has_class), PICTURES);
    CU_ASSERT_EQUAL(memcmp(found, expected, sizeof expected), 0);
    glcnn_model_destroy(&anew);
}

static glcnn_kernel *find_kernel(glcnn_network *network, const char *name)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)) != NULL; i++)
        if (strcmp(glcnn_kernel_name(glcnn_filter_node_kernel(filter)), name) == 0)
            return glcnn_filter_node_kernel(filter);
    return NULL;
}

/* A step changes weights and running averages, which a graph reads; a setting changes what it does. */
static void graphs_are_kept_until_the_network_changes(void)
{
    CU_ASSERT_TRUE_FATAL(write_images(SIDE, SIDE));
    struct runner trainer;
    float before[PICTURES * 2], after[PICTURES * 2];
    glcnn_model *model = make("classify", "small");
    train_network(glcnn_model_network(model), false);
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model->model, TRAINED_BATCH, NULL, &trainer));
    check_answers(model, 1, before);
    check_answers(model, 0, before);
    train_a_step(&trainer);
    check_answers(model, 0, after);
    CU_ASSERT_NOT_EQUAL(memcmp(before, after, sizeof before), 0);
    glcnn_kernel *kernel = find_kernel(glcnn_model_network(model), "batch_normalization");
    CU_ASSERT_EQUAL(glcnn_kernel_set(kernel, "epsilon", 0.25), GLCNN_SUCCESS);
    graphs_made = 0;
    CU_ASSERT_EQUAL(answer(model, before, has_class), PICTURES);
    CU_ASSERT_EQUAL(graphs_made, 1);
    CU_ASSERT_NOT_EQUAL(memcmp(before, after, sizeof before), 0);
    glcnn_batch_normalization(kernel)->epsilon = 0.5f; /* no function of the library sees this */
    CU_ASSERT_EQUAL(answer(model, after, has_class), PICTURES);
    CU_ASSERT_EQUAL(answer(model, after, has_class), PICTURES);
    CU_ASSERT_EQUAL(graphs_made, 2);
    CU_ASSERT_NOT_EQUAL(memcmp(before, after, sizeof before), 0);
    runner_destroy(&trainer);
    glcnn_model_destroy(&model);
}

/* One picture is not computed with 31 others, and has the bits that it has among them. */
static void one_picture_is_a_batch(void)
{
    static const char *const all[][2] = {{"classify", "small"}, {"segment", "small"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        glcnn_model *model = make(all[i][0], all[i][1]);
        const size_t size = glcnn_model_info(model)->value_count * sizeof(float);
        float *many = calloc(PICTURES, size), *one = calloc(PICTURES, size);
        shown_count = PICTURES;
        CU_ASSERT_TRUE_FATAL(write_images(SIDE, SIDE));
        CU_ASSERT_EQUAL(answer(model, many, is_any), PICTURES);
        CU_ASSERT_EQUAL(model->run->runner.batch, TRAINED_BATCH);
        shown_count = 1;
        CU_ASSERT_TRUE_FATAL(write_images(SIDE, SIDE));
        CU_ASSERT_EQUAL(answer(model, one, is_any), 1);
        CU_ASSERT_EQUAL(model->run->runner.batch, 1);
        CU_ASSERT_EQUAL(memcmp(one, many, size), 0);
        graphs_made = 0;
        CU_ASSERT_EQUAL(answer(model, one, is_any), 1);
        shown_count = PICTURES;
        CU_ASSERT_TRUE_FATAL(write_images(SIDE, SIDE));
        CU_ASSERT_EQUAL(answer(model, one, is_any), PICTURES);
        CU_ASSERT_EQUAL(memcmp(one, many, PICTURES * size), 0);
        CU_ASSERT_EQUAL(graphs_made, 0);
        free(many);
        free(one);
        glcnn_model_destroy(&model);
    }
}

static void boxes_are_decoded_once(void)
{
    CU_ASSERT_TRUE_FATAL(write_images(SIDE, SIDE));
    glcnn_model *model = make("detect", "small");
    const size_t count = PICTURES * glcnn_model_info(model)->value_count;
    float *values = calloc(count, sizeof *values);
    boxes_decoded = 0;
    CU_ASSERT_EQUAL(answer(model, values, has_boxes), PICTURES);
    CU_ASSERT_EQUAL(boxes_decoded, PICTURES);
    free(values);
    glcnn_model_destroy(&model);
}

/* What an option asks for is given, or refused with the reason. */
static void options_are_heeded(void)
{
    CU_ASSERT_TRUE_FATAL(write_images(SIDE, SIDE));
    static uint8_t pixels[SIDE * SIDE * 3];
    char error[GLCNN_ERROR_LENGTH] = "";
    const char *const paths[] = {images};
    const struct glcnn_detection_limits all = {0, 1, 7, false}, wrong = {0, 1, 301, false};
    const struct glcnn_model_options most = {.limits = &all}, illegal = {.limits = &wrong},
                                     two = {.top = 2}, three = {.top = 3};
    glcnn_model *detector = make("detect", "small"), *classifier = make("classify", "lenet");
    glcnn_predictions *p = NULL;
    const struct glcnn_prediction *q = NULL;
    CU_ASSERT_EQUAL(glcnn_model_predict(detector, paths, 1, &illegal, &p, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_model_predict(detector, paths, 1, &two, &p, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_model_predict(classifier, paths, 1, &three, &p, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_model_predict(classifier, paths, 1, &most, &p, error), GLCNN_UNSUPPORTED);
    CU_ASSERT_EQUAL_FATAL(glcnn_model_predict(classifier, paths, 1, &two, &p, error),
                          GLCNN_SUCCESS);
    CU_ASSERT_PTR_NULL(glcnn_predictions_text(p));
    CU_ASSERT_EQUAL(glcnn_predictions_next(p, &q, error), GLCNN_SUCCESS);
    const char *second = strchr(glcnn_predictions_text(p), '\n');
    CU_ASSERT_TRUE(second && strchr(second + 1, '\n'));
    CU_ASSERT_EQUAL(glcnn_predictions_draw(p, pixels, error), GLCNN_UNSUPPORTED);
    glcnn_predictions_destroy(&p);
    CU_ASSERT_EQUAL_FATAL(glcnn_model_predict(detector, paths, 1, &most, &p, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_predictions_draw(p, pixels, error), GLCNN_INVALID_STATE);
    CU_ASSERT_EQUAL(glcnn_predictions_next(p, &q, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(q->box_count, 7);
    CU_ASSERT_EQUAL(glcnn_predictions_draw(p, pixels, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_dataset_info(glcnn_predictions_data(p))->counts[GLCNN_DATA_PART_TEST],
                    PICTURES);
    glcnn_predictions_destroy(&p);
    CU_ASSERT_EQUAL(glcnn_model_save_page(classifier, file, error), GLCNN_INVALID_STATE);
    glcnn_model_destroy(&detector);
    glcnn_model_destroy(&classifier);
}

/* A head on two features of a program's own network, which answers pictures for each task. */
static void heads_stand_on_any_features(void)
{
    const struct glcnn_task_info *task;
    const char *const names[] = {"eye_x", "eye_y"};
    for (size_t i = 0; (task = glcnn_task_at(i)); i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        glcnn_network *network = NULL;
        struct glcnn_model_parameters p = {.task = task->name,
                                           .width = SIDE,
                                           .height = SIDE,
                                           .channels = 1,
                                           .class_names = names,
                                           .class_count = 2};
        CU_ASSERT_EQUAL_FATAL(glcnn_network_create(device, &network), GLCNN_SUCCESS);
        glcnn_image_node *image = glcnn_image_node_create(network, "image");
        const struct glcnn_feature features[] = {
            {image, SIDE, SIDE, 1},
            {glcnn_pooling_max_node(image, 2, 2, 2, 2), SIDE / 2, SIDE / 2, 1}};
        glcnn_image_node *answer = glcnn_task_add_head(network, &p, features, 2, error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
        CU_ASSERT_STRING_EQUAL(error, "");
        CU_ASSERT_EQUAL(glcnn_network_initialise(network, 1), GLCNN_SUCCESS);
        const struct glcnn_graph_descriptor descriptor = {.results = &answer, .result_count = 1};
        glcnn_graph *graph = NULL;
        CU_ASSERT_EQUAL(glcnn_graph_create(network, &descriptor, &graph), GLCNN_SUCCESS);
        glcnn_graph_destroy(&graph);
        CU_ASSERT_PTR_NULL(glcnn_task_add_head(network, &p, features, 0, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "1 to 6 features"));
        p.task = "fly";
        CU_ASSERT_PTR_NULL(glcnn_task_add_head(network, &p, features, 2, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "no such task"));
        glcnn_network_destroy(&network);
    }
}

static void nonsense_is_refused(void)
{
    CU_ASSERT_TRUE_FATAL(write_images(SIDE, SIDE));
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_model *model = NULL;
    const char *const names[] = {"one", "two"};
    const struct glcnn_model_parameters good = {.net = "lenet",
                                                .width = SIDE,
                                                .height = SIDE,
                                                .channels = 1,
                                                .class_names = names,
                                                .class_count = 2};
    struct glcnn_model_parameters bad[7];
    for (size_t i = 0; i < 7; i++)
        bad[i] = good;
    const float zero[] = {0};
    bad[0].task = "nonsense";
    bad[1].net = "nonsense";
    bad[2].width = 0;
    bad[3].channels = GLCNN_DATA_MAX_CHANNELS + 1;
    bad[4].class_count = 0;
    bad[5].deviation = zero;
    bad[6].height = 2;
    for (size_t i = 0; i < 7; i++) {
        *error = 0;
        CU_ASSERT_EQUAL(glcnn_model_create(device, &bad[i], &model, error), GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NULL(model);
        CU_ASSERT_NOT_EQUAL(*error, 0);
    }
    CU_ASSERT_EQUAL(glcnn_model_load(device, images, &model, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NULL(model);
    model = make("detect", "small");
    const struct glcnn_model_options flip = {.flip = true};
    const struct glcnn_evaluation *evaluation;
    glcnn_predictions *all = NULL;
    const char *const paths[] = {images};
    CU_ASSERT_EQUAL(glcnn_model_predict(model, paths, 1, &flip, &all, error), GLCNN_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(all);
    CU_ASSERT_NOT_EQUAL(glcnn_model_evaluate(model, "/tmp/there/is/none", NULL, &evaluation, error),
                        GLCNN_SUCCESS);
    CU_ASSERT_PTR_NULL(evaluation);
    glcnn_model_destroy(&model);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(models_are_made_saved_and_loaded),
                                        UNIT_TEST(models_that_never_ran_are_saved),
                                        UNIT_TEST(networks_take_other_sizes),
                                        UNIT_TEST(sizes_that_do_not_suit_are_refused),
                                        UNIT_TEST(graphs_are_kept_until_the_network_changes),
                                        UNIT_TEST(one_picture_is_a_batch),
                                        UNIT_TEST(boxes_are_decoded_once),
                                        UNIT_TEST(options_are_heeded),
                                        UNIT_TEST(heads_stand_on_any_features),
                                        UNIT_TEST(nonsense_is_refused),
                                        CU_TEST_INFO_NULL};
    if (!open_all()) {
        close_all();
        return EXIT_FAILURE;
    }
    const int status = unit_run("library_models", tests, argc, argv);
    close_all();
    return status;
}
