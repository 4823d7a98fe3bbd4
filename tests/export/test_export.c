/* Models as files for other programs: each task with each layout of boxes, batch and preprocessing; what is refused,
 * and what a file says. With GLCNN_EXPORT_FOLDER all files are left there, with models and answers, for
 * test_export_files.sh and test_export_runtime.sh. */
#include "tests/fixture.h"

#include <glcnn/export.h>
#include <glcnn/io.h>
#include <glcnn/onnx.h>

#include <string.h>
#include <unistd.h>

#define WIDTH    104 /* two grids, of which the second sticks out below */
#define HEIGHT   72
#define PICTURES 2
#define CHANNELS 3

static const char *const names[] = {"it's_x", "it's_y", "back\\slash_x", "back\\slash_y"};
static const float mean[CHANNELS] = {0.4f, 0.5f, 0.25f}, deviation[CHANNELS] = {0.5f, 0.25f, 0.3f};
static char folder[256];
static bool is_kept;

static const char *path_of(const char *name)
{
    static char paths[4][400];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static FILE *create(const char *name)
{
    FILE *file = fopen(path_of(name), "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    return file;
}

/* Pictures of bytes, [N][H][W][C]: slopes and noise. */
static void write_pictures(void)
{
    FILE *file = create("pictures.npy");
    char header[118];
    uint32_t seed = 5;
    snprintf(header, sizeof header,
             "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d, %d), }", PICTURES,
             HEIGHT, WIDTH, CHANNELS);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    for (uint32_t i = 0; i < PICTURES * HEIGHT * WIDTH * CHANNELS; i++)
        fputc((int)((i / 5 + below(&seed, 90)) % 256), file);
    fclose(file);
}

static void open_all(void)
{
    const char *given = getenv("GLCNN_EXPORT_FOLDER");
    is_kept = given && *given;
    snprintf(folder, sizeof folder, "%s", is_kept ? given : "/tmp/test_export.XXXXXX");
    CU_ASSERT_FATAL(fixture_open() && (is_kept || mkdtemp(folder)));
    write_pictures();
}

static void close_all(void)
{
    if (!is_kept) {
        unlink(path_of("pictures.npy"));
        rmdir(folder);
    }
    fixture_close();
}

/* ---- Models ---- */

/* Layers of a detector's scores become so weak that no probability is 1. */
static void weaken(glcnn_kernel *kernel)
{
    static float weights[4096];
    const size_t count = glcnn_kernel_vector_length(kernel, "weights");
    uint32_t seed = 4;
    CU_ASSERT_FATAL(count > 0 && count <= 4096);
    for (size_t i = 0; i < count; i++)
        weights[i] = ((float)below(&seed, 1000) - 500) / 20000;
    CU_ASSERT_EQUAL(glcnn_kernel_set_vector(kernel, "weights", weights, count), GLCNN_SUCCESS);
}

/* Biases and shifts of normalisations that nothing is symmetric by; scores of detectors are often above 0.3. */
static void stir(glcnn_network *network)
{
    glcnn_filter_node *filter;
    static float values[4096];
    uint32_t seed = 9;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)); i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
        const char *label = glcnn_filter_node_label(filter), *vector = NULL;
        const bool scores = strncmp(label, "detection_scores_", 17) == 0;
        if (!glcnn_filter_node_forward(filter, NULL))
            vector = glcnn_kernel_has_vector(kernel, "beta")     ? "beta"
                     : glcnn_kernel_has_vector(kernel, "biases") ? "biases"
                     : strncmp(label, "units_", 6) == 0          ? "neuron_data"
                                                                 : NULL;
        if (scores)
            weaken(kernel);
        const size_t count = vector ? glcnn_kernel_vector_length(kernel, vector) : 0;
        if (count == 0 || count > 4096)
            continue;
        for (size_t k = 0; k < count; k++)
            values[k] = (float)below(&seed, 1000) / 1000 - (scores ? 1.2f : 0.4f);
        CU_ASSERT_EQUAL(glcnn_kernel_set_vector(kernel, vector, values, count), GLCNN_SUCCESS);
    }
}

static void save(const glcnn_model *model, const char *name)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    CU_ASSERT_EQUAL(glcnn_model_save(model, path_of(name), error), GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL_FATAL(error, "");
}

/* What the model answers, TASK.values, float32, and lines of TASK.boxes: picture, class, probability and edges. */
static void write_answers(glcnn_model *model, const char *task)
{
    char error[GLCNN_ERROR_LENGTH], name[64];
    const char *const paths[] = {path_of("pictures.npy")};
    const struct glcnn_prediction *p = NULL;
    glcnn_predictions *all = NULL;
    snprintf(name, sizeof name, "%s.values", task);
    FILE *values = create(name);
    snprintf(name, sizeof name, "%s.boxes", task);
    FILE *boxes = create(name);
    CU_ASSERT_EQUAL_FATAL(glcnn_model_predict(model, paths, 1, NULL, &all, error), GLCNN_SUCCESS);
    while (glcnn_predictions_next(all, &p, error) == GLCNN_SUCCESS && p) {
        fwrite(p->values, sizeof(float), glcnn_model_info(model)->value_count, values);
        for (uint32_t i = 0; i < p->box_count; i++)
            fprintf(boxes, "%u %u %.9g %.9g %.9g %.9g %.9g\n", p->index, p->boxes[i].label,
                    (double)p->boxes[i].score, (double)p->boxes[i].box.left,
                    (double)p->boxes[i].box.top, (double)p->boxes[i].box.right,
                    (double)p->boxes[i].box.bottom);
    }
    glcnn_predictions_destroy(&all);
    fclose(values);
    fclose(boxes);
}

static glcnn_model *make(const struct glcnn_task_info *task)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_model *model = NULL;
    const struct glcnn_model_parameters parameters = {.task = task->name,
                                                      .net = is_kept ? "resnet8" : "small",
                                                      .width = WIDTH,
                                                      .height = HEIGHT,
                                                      .channels = CHANNELS,
                                                      .class_names = names,
                                                      .class_count = 4,
                                                      .mean = mean,
                                                      .deviation = deviation,
                                                      .seed = 3};
    CU_ASSERT_EQUAL_FATAL(glcnn_model_create(device, &parameters, &model, error), GLCNN_SUCCESS);
    stir(glcnn_model_network(model));
    return model;
}

/* ---- All combinations ---- */

static const struct {
    const char *name;
    glcnn_export_boxes boxes;
} layouts[] = {{"split", GLCNN_EXPORT_BOXES_SPLIT},
               {"yolo", GLCNN_EXPORT_BOXES_YOLO},
               {"nms", GLCNN_EXPORT_BOXES_NMS}};

static const struct {
    const char *name;
    glcnn_export_pixels pixels;
    bool is_blue_first;
} preprocessings[] = {{"normalised", GLCNN_EXPORT_PIXELS_NORMALISED, false},
                      {"unit", GLCNN_EXPORT_PIXELS_UNIT, false},
                      {"bytes", GLCNN_EXPORT_PIXELS_BYTES, false},
                      {"unit-bgr", GLCNN_EXPORT_PIXELS_UNIT, true},
                      {"bytes-bgr", GLCNN_EXPORT_PIXELS_BYTES, true}};

static const uint32_t batches[] = {0, 1, PICTURES};

static void export_one(glcnn_model *model, const char *task, size_t layout, size_t preprocessing,
                       uint32_t batch)
{
    char error[GLCNN_ERROR_LENGTH] = "", name[128];
    const struct glcnn_exported *made = NULL;
    const struct glcnn_export_options options = {.boxes = layouts[layout].boxes,
                                                 .batch = batch,
                                                 .pixels = preprocessings[preprocessing].pixels,
                                                 .is_blue_first =
                                                     preprocessings[preprocessing].is_blue_first};
    const bool fits = layout == 0 || strcmp(task, "detect") == 0;
    const glcnn_status status = glcnn_export_model(model, &options, &made, error);
    CU_ASSERT_EQUAL(status, fits ? GLCNN_SUCCESS : GLCNN_UNSUPPORTED);
    CU_ASSERT_EQUAL(made != NULL, status == GLCNN_SUCCESS);
    if (status != GLCNN_SUCCESS && fits)
        printf("\n    %s: %s", task, error);
    if (!fits)
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "for detectors"));
    snprintf(name, sizeof name, "%s.%s.%s.%u.onnx", task, layouts[layout].name,
             preprocessings[preprocessing].name, batch);
    if (made && is_kept)
        CU_ASSERT_EQUAL(glcnn_file_save(path_of(name), made->bytes, made->size, error),
                        GLCNN_SUCCESS);
    glcnn_exported_destroy(&made);
    CU_ASSERT_PTR_NULL(made);
}

static void export_all(glcnn_model *model, const char *task)
{
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
        for (size_t p = 0; p < sizeof preprocessings / sizeof *preprocessings; p++)
            for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
                export_one(model, task, l, p, batches[b]);
}

static void every_task_leaves_in_every_form(void)
{
    char name[64];
    const struct glcnn_task_info *task;
    open_all();
    for (size_t i = 0; (task = glcnn_task_at(i)); i++) {
        glcnn_model *model = make(task);
        export_all(model, task->name);
        snprintf(name, sizeof name, "%s.glcnn", task->name);
        if (is_kept) {
            save(model, name);
            write_answers(model, task->name);
        }
        glcnn_model_destroy(&model);
    }
    close_all();
}

/* ---- What is refused ---- */

static void options_that_do_not_fit_are_refused(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_exported *made = NULL;
    open_all();
    glcnn_model *model = make(glcnn_task_at(0));
    const struct glcnn_export_options blue = {.is_blue_first = true};
    CU_ASSERT_EQUAL(glcnn_export_model(model, &blue, &made, error), GLCNN_UNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "blue can only come first"));
    CU_ASSERT_EQUAL(glcnn_export_file(device, path_of("none"), NULL, &made, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NULL(made);
    glcnn_model_destroy(&model);
    close_all();
}

/* A file and a model of it are the same bytes. */
static void a_file_leaves_as_its_model_does(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_exported *one = NULL, *other = NULL;
    open_all();
    glcnn_model *model = make(glcnn_task_at(0));
    save(model, "model");
    CU_ASSERT_EQUAL_FATAL(glcnn_export_model(model, NULL, &one, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(glcnn_export_file(device, path_of("model"), NULL, &other, error),
                          GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(one->size, other->size);
    CU_ASSERT_EQUAL(memcmp(one->bytes, other->bytes, one->size), 0);
    CU_ASSERT_STRING_EQUAL(one->text, other->text);
    unlink(path_of("model"));
    glcnn_exported_destroy(&one);
    glcnn_exported_destroy(&other);
    glcnn_model_destroy(&model);
    close_all();
}

/* ---- Imports ---- */

static void refuse_import(const struct glcnn_import_parameters *parameters, glcnn_status status,
                          const char *phrase)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_imported *imported = NULL;
    CU_ASSERT_EQUAL(glcnn_import_file(device, path_of("a.onnx"), parameters, path_of("again"),
                                      &imported, error),
                    status);
    CU_ASSERT_PTR_NULL(imported);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    CU_ASSERT_NOT_EQUAL(access(path_of("again"), F_OK), 0);
}

static void load_again(const char *class_name)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_model *again = NULL;
    CU_ASSERT_EQUAL_FATAL(glcnn_model_load(device, path_of("again"), &again, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_model_info(again)->class_count, 4);
    CU_ASSERT_STRING_EQUAL(glcnn_model_info(again)->class_names[2], class_name);
    glcnn_model_destroy(&again);
    unlink(path_of("again"));
}

/* A file that was exported says what it is, also in memory. */
static void a_file_is_imported_again(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_exported *exported = NULL;
    const struct glcnn_imported *imported = NULL;
    open_all();
    glcnn_model *model = make(glcnn_task_at(0));
    CU_ASSERT_EQUAL_FATAL(glcnn_export_model(model, NULL, &exported, error), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_file_save(path_of("a.onnx"), exported->bytes, exported->size, error),
                    GLCNN_SUCCESS);
    const struct glcnn_import_parameters two = {.mean = "0.5,0.5"}, small = {.resize = 10},
                                         nobody = {.class_names = "/there/is/none"},
                                         bytes = {.bytes = exported->bytes,
                                                  .size = exported->size,
                                                  .width = WIDTH,
                                                  .height = HEIGHT};
    refuse_import(&two, GLCNN_INVALID_ARGUMENT, "mean and deviation must each be one number, or 3");
    refuse_import(&small, GLCNN_INVALID_ARGUMENT, "resize is 10; images are of 104x72");
    refuse_import(&nobody, GLCNN_IO_ERROR, "/there/is/none");
    CU_ASSERT_EQUAL_FATAL(
        glcnn_import_file(device, path_of("a.onnx"), NULL, path_of("again"), &imported, error),
        GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(imported->text, "for the task classify, 4 classes\n"));
    glcnn_imported_destroy(&imported);
    CU_ASSERT_PTR_NULL(imported);
    glcnn_imported_destroy(&imported);
    load_again(names[2]);
    CU_ASSERT_EQUAL_FATAL(
        glcnn_import_file(device, "anybody's", &bytes, path_of("again"), &imported, error),
        GLCNN_SUCCESS);
    glcnn_imported_destroy(&imported);
    load_again(names[2]);
    unlink(path_of("a.onnx"));
    glcnn_exported_destroy(&exported);
    glcnn_model_destroy(&model);
    close_all();
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(every_task_leaves_in_every_form),
                                        UNIT_TEST(options_that_do_not_fit_are_refused),
                                        UNIT_TEST(a_file_leaves_as_its_model_does),
                                        UNIT_TEST(a_file_is_imported_again), CU_TEST_INFO_NULL};
    return unit_run("export", tests, argc, argv);
}
