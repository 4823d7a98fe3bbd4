/* Files in int8 of labelled pictures: ranges are those that the processor finds, layouts and preprocessing keep
 * their own float32, and what is refused. */
#include "tests/fixture.h"

#include <glcnn/export.h>
#include <glcnn/onnx.h>

#include <math.h>
#include <string.h>

#include "export/int8.h"
#include "export/own_file.h"
#include "task/int8_model.h"
#include "task/trained.h"
#include "tests/data_files.h"

enum { SIDE = 32, EACH = 10, COMPARED = 2 };

static const char *const names[] = {"dark", "light"};
static const float units[4] = {1, 1}; /* of regress: scales, then shifts */

static uint32_t shade(uint32_t x, uint32_t y, uint32_t c)
{
    static uint32_t seed = 3;
    return (x * 5 + y * 3 + c * 40 + below(&seed, 60)) % 256;
}

/* Classes of folders, boxes as YOLO has them, and a list of numbers. */
static void write_data(void)
{
    static bool is_written;
    static const char *const parts[] = {"train", "val"};
    const struct data_png png = {SIDE, SIDE, 2, 0, false, 0, shade};
    char path[128];
    if (is_written)
        return;
    is_written = true;
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < EACH; i++) {
            snprintf(path, sizeof path, "classes/%s/%s/%zu.png", parts[p], names[i % 2], i);
            data_write_png(path, &png);
            snprintf(path, sizeof path, "boxes/images/%s/%zu.png", parts[p], i);
            data_write_png(path, &png);
            snprintf(path, sizeof path, "boxes/labels/%s/%zu.txt", parts[p], i);
            data_write_text(path, i % 2 ? "0 0.5 0.5 0.4 0.4\n" : "1 0.3 0.3 0.5 0.5\n");
        }
    for (size_t p = 0; p < 2; p++) {
        char list[256] = "file,dark,light\n";
        for (size_t i = 0; i < EACH; i++) {
            snprintf(path, sizeof path, "numbers/%s/%zu.png", parts[p], i);
            data_write_png(path, &png);
            snprintf(list + strlen(list), sizeof list - strlen(list), "%zu.png,0.%zu,0.%zu\n", i, i,
                     i * i);
        }
        snprintf(path, sizeof path, "numbers/%s/list.csv", parts[p]);
        data_write_text(path, list);
    }
    data_write_text("boxes/data.yaml",
                    "train: images/train\nval: images/val\nnames:\n  0: dark\n  1: light\n");
}

static bool is_good(glcnn_status status, const char *error)
{
    if (status != GLCNN_SUCCESS)
        printf("\n    %s", error);
    return status == GLCNN_SUCCESS;
}

static glcnn_model *create(const char *task)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_model *model = NULL;
    const struct glcnn_model_parameters parameters = {.task = task,
                                                      .net = "small",
                                                      .width = SIDE,
                                                      .height = SIDE,
                                                      .channels = 3,
                                                      .class_names = names,
                                                      .class_count = 2,
                                                      .seed = 3};
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_model_create(device, &parameters, &model, error), error));
    for (int i = 0; i < 2 && model->model.units[i]; i++)
        GOOD(glcnn_kernel_set_vector(model->model.units[i], "neuron_data", units + 2 * i, 2));
    return model;
}

static double measure(glcnn_model *model, const char *data)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_evaluation *evaluation;
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_model_evaluate(model, data, NULL, &evaluation, error), error));
    return evaluation->measure;
}

/* The model is evaluated, as its first execution makes its vectors. */
static glcnn_model *make(const char *task, const char *data)
{
    glcnn_model *model = create(task);
    measure(model, data);
    return model;
}

static bool has(const uint8_t *bytes, size_t size, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, word, length) == 0)
            return true;
    return false;
}

/* "a 12 %, b 3.4 %": five results, those that are off most first. */
static void check_results(const char *at)
{
    double last = INFINITY, percent;
    size_t count = 0;
    for (; at && sscanf(at, "%*s %lf %%", &percent) == 1; count++) {
        CU_ASSERT_TRUE(percent <= last && percent > 0 && (count > 0 || percent > 0.2));
        last = percent;
        at = strstr(at, " %, ");
        at = at ? at + strlen(" %, ") : NULL;
    }
    CU_ASSERT_EQUAL(count, 5);
}

static void export_int8(glcnn_model *model, const char *data, struct glcnn_export_options options,
                        const char *measure)
{
    char error[GLCNN_ERROR_LENGTH] = "", words[64];
    const struct glcnn_exported *made = NULL;
    options.int8_data = data;
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_export_model(model, &options, &made, error), error));
    snprintf(words, sizeof words, "%s of %d pictures, validation: ", measure, EACH);
    CU_ASSERT_PTR_NOT_NULL(strstr(made->text, words));
    CU_ASSERT_PTR_NOT_NULL(strstr(made->text, " values on 10 pictures"));
    const char *results = strstr(made->text, "results that are off most: ");
    CU_ASSERT_PTR_NOT_NULL_FATAL(results);
    check_results(results + strlen("results that are off most: "));
    CU_ASSERT_TRUE(has(made->bytes, made->size, "QuantizeLinear"));
    CU_ASSERT_TRUE(has(made->bytes, made->size, "batch_normalization_0.int8"));
    CU_ASSERT_FALSE(has(made->bytes, made->size, "BatchNormalization"));
    /* What prepares pictures stays as it is. */
    CU_ASSERT_EQUAL(has(made->bytes, made->size, "normalised.int8"),
                    options.pixels != GLCNN_EXPORT_PIXELS_NORMALISED);
    CU_ASSERT_EQUAL(has(made->bytes, made->size, "images.int8"),
                    options.pixels == GLCNN_EXPORT_PIXELS_NORMALISED);
    const struct glcnn_imported *imported = NULL;
    data_write("int8.onnx", made->bytes, made->size);
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_import_file(device, data_path("int8.onnx"), NULL,
                                                   data_path("int8.glcnn"), &imported, error),
                                 error));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(imported->text, " values are rounded as the file in int8 has them"));
    glcnn_imported_destroy(&imported);
    glcnn_exported_destroy(&made);
}

static void classifiers_leave_in_int8(void)
{
    char data[512];
    write_data();
    snprintf(data, sizeof data, "%s", data_path("classes"));
    glcnn_model *model = make("classify", data);
    export_int8(model, data, (struct glcnn_export_options){.batch = 0}, "accuracy");
    export_int8(model, data,
                (struct glcnn_export_options){.batch = 1, .pixels = GLCNN_EXPORT_PIXELS_BYTES},
                "accuracy");
    glcnn_model_destroy(&model);
}

/* The text tells 3 pictures, 99 % of the numbers and weights of 7 bits, and the weights are others. */
static void what_is_asked_for_reaches_the_file(void)
{
    char data[512], error[GLCNN_ERROR_LENGTH] = "";
    write_data();
    snprintf(data, sizeof data, "%s", data_path("classes"));
    glcnn_model *model = make("classify", data);
    const struct glcnn_exported *made[2];
    for (int i = 0; i < 2; i++) {
        const struct glcnn_export_options options = {.int8_data = data,
                                                     .int8_pictures = 3,
                                                     .int8_percentile = 99,
                                                     .int8_small_weights = i == 1};
        CU_ASSERT_TRUE_FATAL(is_good(glcnn_export_model(model, &options, &made[i], error), error));
        CU_ASSERT_PTR_NOT_NULL(
            strstr(made[i]->text, " values on 3 pictures, of which 99 % lie within\n"));
    }
    CU_ASSERT_EQUAL_FATAL(made[0]->size, made[1]->size);
    CU_ASSERT_NOT_EQUAL(memcmp(made[0]->bytes, made[1]->bytes, made[0]->size), 0);
    for (int i = 0; i < 2; i++)
        glcnn_exported_destroy(&made[i]);
    glcnn_model_destroy(&model);
}

static void detectors_leave_in_int8(void)
{
    char data[512];
    write_data();
    snprintf(data, sizeof data, "%s", data_path("boxes"));
    glcnn_model *model = make("detect", data);
    export_int8(model, data, (struct glcnn_export_options){.batch = 0}, "mAP@0.5");
    export_int8(model, data,
                (struct glcnn_export_options){.boxes = GLCNN_EXPORT_BOXES_YOLO,
                                              .pixels = GLCNN_EXPORT_PIXELS_UNIT},
                "mAP@0.5");
    glcnn_model_destroy(&model);
}

/* The int8 form is the file's, read again. */
static void both_measures_are_told(void)
{
    char data[512], error[GLCNN_ERROR_LENGTH] = "", words[96];
    const struct glcnn_exported *made = NULL;
    const struct glcnn_imported *imported = NULL;
    glcnn_model *rounded = NULL;
    write_data();
    snprintf(data, sizeof data, "%s", data_path("numbers"));
    glcnn_model *model = create("regress");
    const struct glcnn_export_options options = {.int8_data = data};
    const double real = measure(model, data);
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_export_model(model, &options, &made, error), error));
    data_write("measured.onnx", made->bytes, made->size);
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_import_file(device, data_path("measured.onnx"), NULL,
                                                   data_path("measured.glcnn"), &imported, error),
                                 error));
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_model_load(device, data_path("measured.glcnn"), &rounded, error), error));
    snprintf(words, sizeof words, ": %.4f in float32, %.4f in int8\n", real,
             measure(rounded, data));
    CU_ASSERT_PTR_NOT_NULL(strstr(made->text, words));
    snprintf(words, sizeof words, ": %.4f in float32, %.4f in int8\n", real, real);
    CU_ASSERT_PTR_NULL(strstr(made->text, words));
    glcnn_model_destroy(&rounded);
    glcnn_imported_destroy(&imported);
    glcnn_exported_destroy(&made);
    glcnn_model_destroy(&model);
}

/* ---- Ranges ---- */

struct values {
    float *at;
    size_t count;
};

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Gives the numbers of the value on the first pictures of a loader of so many. */
static struct values find_values(const struct range_pictures *from, const uint8_t *bytes,
                                 size_t size, const char *name, uint32_t pictures)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    uint8_t *shown = NULL;
    size_t shown_size;
    glcnn_network *network = NULL;
    struct glcnn_onnx_record *record = NULL;
    struct glcnn_data_batch batch;
    glcnn_data_loader *loader = NULL;
    const struct glcnn_data_loader_parameters parameters = {.part = GLCNN_DATA_PART_TRAINING,
                                                            .batch = pictures,
                                                            .limit = pictures,
                                                            .interleaved = true};
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_onnx_expose(bytes, size, &name, 1, &shown, &shown_size, error), error) &&
        is_good(glcnn_onnx_read(device, shown, shown_size, NULL, &network, &record, error), error));
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_data_loader_create(from->pictures->set, &parameters, &loader, error),
                error) &&
        is_good(glcnn_data_loader_next(loader, &batch, error), error));
    const struct glcnn_graph_descriptor descriptor = {.results = &record->outputs[0].node,
                                                      .result_count = 1};
    glcnn_graph *graph = NULL;
    glcnn_image *image = make_image(pictures, 3, SIDE, SIDE);
    GOOD(glcnn_image_write_bytes(image, NULL, batch.floats,
                                 sizeof(float) * pictures * 3 * SIDE * SIDE));
    GOOD(glcnn_graph_create(network, &descriptor, &graph));
    GOOD(glcnn_graph_execute(graph, &image, NULL, NULL));
    glcnn_image *result = glcnn_graph_image(graph, record->outputs[0].node);
    struct values values = {NULL, count_of(result)};
    values.at = malloc(values.count * sizeof(float));
    GOOD(glcnn_image_read_bytes(result, NULL, values.at, values.count * sizeof(float)));
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&image);
    glcnn_data_loader_destroy(&loader);
    glcnn_onnx_destroy(shown);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&network);
    return values;
}

static void check_ranges(struct range_pictures *from, struct glcnn_onnx_quantization *q)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    from->percentile = 100;
    CU_ASSERT_TRUE_FATAL(ranges_measure(device, from, q, error));
    struct glcnn_onnx_range *all = malloc(q->range_count * sizeof *all);
    memcpy(all, q->ranges, q->range_count * sizeof *all);
    from->percentile = 96;
    CU_ASSERT_TRUE_FATAL(ranges_measure(device, from, q, error));
    for (size_t i = 0; i < q->range_count; i += 2) {
        struct values v = find_values(from, q->bytes, q->size, q->ranges[i].name, EACH);
        qsort(v.at, v.count, sizeof(float), compare);
        CU_ASSERT_EQUAL(all[i].least, v.at[0]);
        CU_ASSERT_EQUAL(all[i].most, v.at[v.count - 1]);
        const float step = (all[i].most - all[i].least) / 2048;
        const float low = v.at[v.count / 50], high = v.at[v.count - 1 - v.count / 50];
        CU_ASSERT_TRUE(fabsf(q->ranges[i].least - low) < step + 0.02f * (high - low));
        CU_ASSERT_TRUE(fabsf(q->ranges[i].most - high) < step + 0.02f * (high - low));
        if (v.count >= 100) /* of fewer, none lies outside */
            CU_ASSERT_TRUE(q->ranges[i].most < all[i].most);
        free(v.at);
    }
    free(all);
}

/* Errors are those of the int8 form on four pictures, as shares of the values' own size. */
static void check_errors(const struct range_pictures *from, struct glcnn_onnx_quantization *q)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    uint8_t *int8 = NULL;
    size_t size, checked = 0;
    double *errors = malloc(q->range_count * sizeof *errors);
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_onnx_quantize(q, &int8, &size, error), error));
    CU_ASSERT_TRUE_FATAL(ranges_compare(device, from, q, int8, size, errors, error));
    for (size_t i = 0; i < q->range_count; i += 3) {
        if (isnan(errors[i]))
            continue;
        struct values real = find_values(from, q->bytes, q->size, q->ranges[i].name, 4),
                      whole = find_values(from, int8, size, q->ranges[i].name, 4);
        double off = 0, all = 0;
        for (size_t k = 0; k < real.count; k++) {
            off += pow((double)real.at[k] - (double)whole.at[k], 2);
            all += pow((double)real.at[k], 2);
        }
        CU_ASSERT_DOUBLE_EQUAL(errors[i], sqrt(off / all), 1e-6 * errors[i]);
        checked++;
        free(real.at);
        free(whole.at);
    }
    CU_ASSERT(checked > 1);
    free(errors);
    glcnn_onnx_destroy(int8);
}

/* A classifier, what it becomes int8 by, and pictures. */
struct subject {
    glcnn_model *model;
    struct glcnn_onnx_quantization *q;
    struct pictures pictures;
};

static struct subject open_subject(void)
{
    char data[512], error[GLCNN_ERROR_LENGTH] = "";
    struct subject s = {.q = NULL};
    write_data();
    snprintf(data, sizeof data, "%s", data_path("classes"));
    s.model = make("classify", data);
    const struct pictures_options what = {
        .path = data, .task = task_of(&s.model->saved.form), .like = &s.model->saved};
    CU_ASSERT_TRUE_FATAL(pictures_open(&what, &s.pictures, error));
    CU_ASSERT_TRUE_FATAL(int8_prepare(&s.model->model, &s.q, error));
    return s;
}

static void close_subject(struct subject *s)
{
    glcnn_onnx_quantization_destroy(&s->q);
    pictures_close(&s->pictures);
    glcnn_model_destroy(&s->model);
}

static void ranges_are_those_of_the_values(void)
{
    struct subject s = open_subject();
    struct range_pictures from = {
        .pictures = &s.pictures, .saved = &s.model->saved, .count = 100, .percentile = 100};
    check_ranges(&from, s.q);
    check_errors(&from, s.q);
    close_subject(&s);
}

/* Pictures themselves are infinite at one end alone, and everything behind them at both or not a number. */
static void ranges_of_infinite_values_are_refused(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct subject s = open_subject();
    for (int is_negative = 0; is_negative < 2; is_negative++) {
        struct saved saved = s.model->saved;
        for (int c = 0; c < 3; c++) {
            saved.mean[c] = (float)is_negative;
            saved.deviation[c] = 1e-39f;
        }
        const struct range_pictures from = {&s.pictures, &saved, EACH, 100};
        CU_ASSERT_FALSE(ranges_measure(device, &from, s.q, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "the value \"images\" is not finite on the pictures"));
        CU_ASSERT_EQUAL((bool)isfinite(s.q->ranges[0].least), !is_negative);
        CU_ASSERT_EQUAL((bool)isfinite(s.q->ranges[0].most), is_negative);
    }
    close_subject(&s);
}

/* ---- Training for int8 ---- */

/* What the network answers on noise, one after the other. */
static float *answers(struct model *model, size_t *count)
{
    struct runner runner;
    float images[COMPARED * 3 * SIDE * SIDE];
    uint32_t seed = 11;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        images[i] = noise(&seed) / 2 + 0.5f;
    CU_ASSERT_TRUE_FATAL(runner_create_inference(model, COMPARED, 0, &runner));
    *count = runner.values * COMPARED;
    float *values = malloc(*count * sizeof *values);
    CU_ASSERT_TRUE_FATAL(runner_run(&runner, images, NULL, values));
    runner_destroy(&runner);
    return values;
}

/* The answers of the file that is read again. */
static float *file_answers(const struct saved *saved, const uint8_t *bytes, size_t size,
                           size_t *count)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct own_file own = {.is_own = true, .saved = *saved, .units = (float *)units};
    struct glcnn_onnx_record *record = NULL;
    glcnn_network *network = NULL;
    struct model model;
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_onnx_read(device, bytes, size, NULL, &network, &record, error), error));
    CU_ASSERT_TRUE_FATAL(own_file_join(&own, record, error));
    CU_ASSERT_TRUE_FATAL(model_open(network, &saved->form, COMPARED, &model, error));
    float *values = answers(&model, count);
    struct glcnn_onnx_quantization *twice = NULL;
    CU_ASSERT_FALSE(int8_prepare(&model, &twice, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "rounds values between its layers already"));
    CU_ASSERT_PTR_NULL(twice);
    glcnn_onnx_record_destroy(&record);
    model_destroy(&model);
    return values;
}

static double distance(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pow((double)a[i] - (double)b[i], 2);
    return sqrt(sum / (double)count);
}

/* Ranges from a model file are those that were measured. */
static void ranges_go_through_a_file(struct glcnn_onnx_quantization *q)
{
    char error[GLCNN_ERROR_LENGTH] = "", *text = ranges_write(q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    const struct glcnn_checkpoint_bytes bytes = {"", (const uint8_t *)text, strlen(text)};
    struct glcnn_onnx_range *all = malloc(q->range_count * sizeof *all);
    memcpy(all, q->ranges, q->range_count * sizeof *all);
    for (size_t i = 0; i < q->range_count; i++)
        q->ranges[i].least = q->ranges[i].most = 0;
    CU_ASSERT_TRUE(ranges_read(&bytes, q, error));
    for (size_t i = 0; i < q->range_count; i++)
        CU_ASSERT_TRUE(q->ranges[i].least == all[i].least && q->ranges[i].most == all[i].most);
    const struct glcnn_checkpoint_bytes cut = {"", (const uint8_t *)text, strlen(text) / 2};
    CU_ASSERT_FALSE(ranges_read(&cut, q, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "have none of"));
    /* A value may be the same everywhere; none has a least above its most. */
    for (int above = 0; above < 2; above++) {
        q->ranges[0].least = 1 + (float)above;
        q->ranges[0].most = 1;
        char *one = ranges_write(q);
        const struct glcnn_checkpoint_bytes read = {"", (const uint8_t *)one, strlen(one)};
        CU_ASSERT_EQUAL(ranges_read(&read, q, error), !above);
        free(one);
    }
    memcpy(q->ranges, all, q->range_count * sizeof *all);
    free(all);
    free(text);
}

static bool resizes(const char *task)
{
    return strcmp(task, "segment") == 0 || strcmp(task, "keypoints") == 0;
}

/* The model that trains for int8 may be off by `share` of what int8 changes: a number that lies half a step between
 * whole ones rounds either way. */
static void check_rounded(const struct range_pictures *from, struct model *model, double share)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_onnx_quantization *q = NULL;
    uint8_t *bytes = NULL;
    size_t size, count;
    struct model rounded;
    float *real = answers(model, &count);
    if (!int8_prepare(model, &q, error))
        printf("\n    %s", error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(q);
    CU_ASSERT_TRUE_FATAL(ranges_measure(device, from, q, error));
    ranges_go_through_a_file(q);
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_onnx_quantize(q, &bytes, &size, error), error));
    float *whole = file_answers(from->saved, bytes, size, &count);
    CU_ASSERT_TRUE_FATAL(int8_model_create(model, q, COMPARED, &rounded, error));
    float *trained = answers(&rounded, &count);
    const double rounding = distance(real, whole, count);
    CU_ASSERT_TRUE(rounding > 0 && distance(trained, whole, count) <= rounding * share);
    free(real);
    free(whole);
    free(trained);
    model_destroy(&rounded);
    glcnn_onnx_destroy(bytes);
    glcnn_onnx_quantization_destroy(&q);
}

/* Means of two or four pixels often lie there. */
static void check_task(const struct pictures *pictures, const char *task)
{
    glcnn_model *model = create(task);
    const struct range_pictures from = {pictures, &model->saved, EACH, 100};
    check_rounded(&from, &model->model, resizes(task) ? 1 : 1e-3);
    glcnn_model_destroy(&model);
}

/* A transposed convolution of two groups, whose weights have one scale, and one of one, which has several. */
static void check_transposed(const struct pictures *pictures)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *network;
    struct model model;
    glcnn_model *like = create("classify");
    const struct range_pictures from = {pictures, &like->saved, EACH, 100};
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_image_node_create(network, "x");
    for (int groups = 1; groups <= 2; groups++) {
        char words[160];
        snprintf(words, sizeof words,
                 "input_feature_channels=%d output_feature_channels=8 kernel_width=2 "
                 "kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2 groups=%d",
                 groups == 1 ? 3 : 8, groups);
        x = glcnn_node(x, "convolution_transpose", words);
    }
    x = glcnn_pooling_max_node(x, 4, 4, 4, 4);
    x = glcnn_node(x, "fully_connected",
                   "input_feature_channels=8 output_feature_channels=2 kernel_width=32 "
                   "kernel_height=32");
    glcnn_soft_max_node(x);
    CU_ASSERT_TRUE_FATAL(is_good(model_open(network, &like->saved.form, COMPARED, &model, error)
                                     ? GLCNN_SUCCESS
                                     : GLCNN_INVALID_STATE,
                                 error));
    GOOD_FATAL(glcnn_network_initialise(network, 5));
    check_rounded(&from, &model, 1e-3);
    model_destroy(&model);
    glcnn_model_destroy(&like);
}

/* One rounding is enough. */
static void what_is_rounded_is_not_rounded_again(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct model model = {.form = {.width = SIDE}};
    struct glcnn_onnx_quantization *q = NULL;
    GOOD_FATAL(glcnn_network_create(device, &model.network));
    glcnn_image_node *x = glcnn_image_node_create(model.network, "x");
    const struct glcnn_neuron_descriptor rounding = {GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 1, 0, 0};
    CU_ASSERT_PTR_NOT_NULL(glcnn_neuron_node(x, &rounding));
    CU_ASSERT_EQUAL(int8_count_roundings(model.network), 1);
    CU_ASSERT_FALSE(int8_prepare(&model, &q, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "rounds values between its layers already"));
    glcnn_network_destroy(&model.network);
}

/* The model that trains for int8 answers as the exported file does, for each task that there is. */
static void trained_for_int8_is_the_file(void)
{
    char data[512], error[GLCNN_ERROR_LENGTH] = "";
    write_data();
    snprintf(data, sizeof data, "%s", data_path("classes"));
    const struct pictures_options what = {
        .path = data, .task = task_find("classify"), .width = SIDE, .height = SIDE, .channels = 3};
    struct pictures pictures;
    CU_ASSERT_TRUE_FATAL(pictures_open(&what, &pictures, error));
    for (size_t i = 0; glcnn_task_at(i); i++)
        check_task(&pictures, glcnn_task_at(i)->name);
    check_transposed(&pictures);
    pictures_close(&pictures);
}

static void expect_text(glcnn_model *model, struct glcnn_export_options options,
                        const char *expected)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_exported *made = NULL;
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_export_model(model, &options, &made, error), error));
    CU_ASSERT_PTR_NOT_NULL(strstr(made->text, expected));
    glcnn_exported_destroy(&made);
}

/* Ranges that the network was trained for stand, unless pictures or a share of their numbers are asked for. */
static void trained_ranges_stand_unless_others_are_asked_for(void)
{
    char data[512], error[GLCNN_ERROR_LENGTH] = "", words[128];
    struct glcnn_onnx_quantization *q = NULL;
    write_data();
    snprintf(data, sizeof data, "%s", data_path("classes"));
    glcnn_model *model = make("classify", data);
    CU_ASSERT_TRUE_FATAL(int8_prepare(&model->model, &q, error));
    for (size_t i = 0; i < q->range_count; i++)
        q->ranges[i].most = 1;
    char *text = ranges_write(q);
    model->saved.bytes[SAVED_RANGES] =
        (struct glcnn_checkpoint_bytes){"ranges", (const uint8_t *)text, strlen(text)};
    struct glcnn_export_options options = {.int8_data = data};
    snprintf(words, sizeof words, "by the ranges of %zu values that the network was trained for\n",
             q->range_count);
    expect_text(model, options, words);
    options.int8_small_weights = true;
    snprintf(words, sizeof words,
             "trained for, and for weights within -127 .. 127, not within -63 .. 63\n");
    expect_text(model, options, words);
    options.int8_percentile = 99;
    expect_text(model, options, " values on 10 pictures, of which 99 % lie within\n");
    options.int8_percentile = 0;
    options.int8_pictures = 3;
    expect_text(model, options, " values on 3 pictures\n");
    model->saved.bytes[SAVED_RANGES] = (struct glcnn_checkpoint_bytes){NULL, NULL, 0};
    free(text);
    glcnn_onnx_quantization_destroy(&q);
    glcnn_model_destroy(&model);
}

static void wrong_options_are_refused(void)
{
    char data[512], error[GLCNN_ERROR_LENGTH] = "";
    const struct glcnn_exported *made = NULL;
    write_data();
    snprintf(data, sizeof data, "%s", data_path("classes"));
    glcnn_model *model = make("classify", data);
    struct glcnn_export_options options = {.int8_data = data, .int8_percentile = 101};
    CU_ASSERT_EQUAL(glcnn_export_model(model, &options, &made, error), GLCNN_UNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "percentile"));
    options = (struct glcnn_export_options){.int8_data = data_path("nowhere")};
    CU_ASSERT_NOT_EQUAL(glcnn_export_model(model, &options, &made, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NULL(made);
    glcnn_model_destroy(&model);
}

int main(int argc, char *argv[])
{
    static CU_TestInfo tests[] = {UNIT_TEST(what_is_asked_for_reaches_the_file),
                                  UNIT_TEST(classifiers_leave_in_int8),
                                  UNIT_TEST(detectors_leave_in_int8),
                                  UNIT_TEST(both_measures_are_told),
                                  UNIT_TEST(ranges_are_those_of_the_values),
                                  UNIT_TEST(ranges_of_infinite_values_are_refused),
                                  UNIT_TEST(trained_for_int8_is_the_file),
                                  UNIT_TEST(what_is_rounded_is_not_rounded_again),
                                  UNIT_TEST(trained_ranges_stand_unless_others_are_asked_for),
                                  UNIT_TEST(wrong_options_are_refused),
                                  CU_TEST_INFO_NULL};
    const int status = fixture_run("export_int8", tests, argc, argv);
    data_remove_folder();
    return status;
}
