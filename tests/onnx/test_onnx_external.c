/* Models whose initialisers lie in files beside them. */
#include <sys/stat.h>
#include <unistd.h>

#include "onnx/build.h"
#include "tests/data_files.h"
#include "tests/fixture.h"

enum { WEIGHTS = 72, BEFORE = 16, WEIGHTS_SIZE = WEIGHTS * 4 };

struct file {
    uint8_t *bytes;
    size_t size;
};

/* Where the tensor is said to have its data; NULL: not said. */
struct place {
    const char *location, *offset, *length;
};
static const struct place weights_place = {"data/numbers.bin", "16", "288"},
                          scale_place = {"data/numbers.bin", "304", "4"};

/* ---- Models ---- */

/* image -> Conv 3x3 to 2 channels -> Mul by a number -> result; all data in the file. */
static Onnx__ModelProto *make_model(struct writer *w)
{
    static const int64_t image_dims[] = {1, 4, 6, 6}, weights_dims[] = {2, 4, 3, 3}, one = 1;
    static const float scale = 2.5f;
    float weights[WEIGHTS];
    for (size_t i = 0; i < WEIGHTS; i++)
        weights[i] = (float)i / WEIGHTS;
    Onnx__ModelProto *model = build_model();
    Onnx__GraphProto *graph = model->graph;
    build_value(w, graph, false, "image", image_dims, 4);
    build_tensor(w, graph, "weights", weights_dims, 4, weights, NULL);
    build_tensor(w, graph, "scale", &one, 1, &scale, NULL);
    build_node(w, graph, "Conv", "convolved", (const char *[]){"image", "weights", NULL});
    build_node(w, graph, "Mul", "result", (const char *[]){"convolved", "scale", NULL});
    build_value(w, graph, true, "result", image_dims, 4);
    return model;
}

static void add_entry(Onnx__TensorProto *tensor, const char *key, const char *value)
{
    if (!value)
        return;
    Onnx__StringStringEntryProto *entry = malloc(sizeof *entry);
    onnx__string_string_entry_proto__init(entry);
    entry->key = strdup(key);
    entry->value = strdup(value);
    tensor->external_data[tensor->n_external_data++] = entry;
}

/* Its data become bytes of `numbers` from `at` on. */
static void move_out(Onnx__TensorProto *tensor, struct place place, uint8_t *numbers, size_t at)
{
    memcpy(numbers + at, tensor->raw_data.data, tensor->raw_data.len);
    free(tensor->raw_data.data);
    tensor->raw_data = (ProtobufCBinaryData){0};
    tensor->has_raw_data = false;
    tensor->has_data_location = true;
    tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    tensor->external_data = malloc(3 * sizeof *tensor->external_data);
    add_entry(tensor, "location", place.location);
    add_entry(tensor, "offset", place.offset);
    add_entry(tensor, "length", place.length);
}

static struct file pack(struct writer *w, Onnx__ModelProto *model)
{
    struct file file = {NULL, 0};
    CU_ASSERT_TRUE_FATAL(write_bytes(w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    return file;
}

/* What is no file of its own, or none in the model's folder. */
static void make_others(void)
{
    static bool made;
    if (made)
        return;
    made = true;
    data_write("models/data/sparse.bin", "", 0);
    CU_ASSERT_EQUAL(truncate(data_path("models/data/sparse.bin"), (off_t)1 << 34), 0);
    CU_ASSERT_EQUAL(mkfifo(data_path("models/data/pipe"), 0600), 0);
    CU_ASSERT_EQUAL(symlink("../numbers.bin", data_path("models/link.bin")), 0);
    CU_ASSERT_EQUAL(symlink("../models-beside", data_path("models/links")), 0);
    CU_ASSERT_EQUAL(symlink("data/numbers.bin", data_path("models/inside.bin")), 0);
}

/* models/model.onnx, its data in models/data/numbers.bin, which ends with them, and in numbers.bin. */
static void write_models(struct place of_weights)
{
    struct writer w = {0};
    uint8_t numbers[BEFORE + WEIGHTS_SIZE + 4] = {0};
    Onnx__ModelProto *model = make_model(&w);
    move_out(model->graph->initializer[0], of_weights, numbers, BEFORE);
    move_out(model->graph->initializer[1], scale_place, numbers, BEFORE + WEIGHTS_SIZE);
    struct file file = pack(&w, model);
    data_write("models/model.onnx", file.bytes, file.size);
    data_write("models/data/numbers.bin", numbers, sizeof numbers);
    data_write("numbers.bin", numbers, sizeof numbers);
    data_write("models-beside/numbers.bin", numbers, sizeof numbers);
    glcnn_onnx_destroy(file.bytes);
    make_others();
}

static glcnn_status load(bool external_links, glcnn_network **net,
                         struct glcnn_onnx_record **record, char error[GLCNN_ERROR_LENGTH])
{
    return glcnn_onnx_load(device, data_path("models/model.onnx"),
                           &(struct glcnn_onnx_options){.external_links = external_links}, net,
                           record, error);
}

/* ---- Tests ---- */

/* Written again the model has all its data in it, also those that are no vector of a filter. */
static void expect_taken_in(struct place place, bool external_links)
{
    struct writer w = {0};
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *net;
    struct glcnn_onnx_record *record;
    struct file whole = pack(&w, make_model(&w)), back = {NULL, 0};
    write_models(place);
    CU_ASSERT_EQUAL_FATAL(load(external_links, &net, &record, error), GLCNN_SUCCESS);
    CU_ASSERT_TRUE(record->skeleton_size < whole.size - WEIGHTS_SIZE);
    CU_ASSERT_EQUAL_FATAL(glcnn_onnx_write(net, record, NULL, 0, &back.bytes, &back.size, error),
                          GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(back.size, whole.size);
    CU_ASSERT_TRUE(back.size == whole.size && memcmp(back.bytes, whole.bytes, whole.size) == 0);
    glcnn_onnx_destroy(whole.bytes);
    glcnn_onnx_destroy(back.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

static void data_beside_the_model_are_taken_in(void)
{
    static const struct place without_length = {"data/numbers.bin", "16", NULL},
                              by_link = {"inside.bin", "16", "288"},
                              by_dots = {"data/../data/./numbers.bin", "16", "288"};
    expect_taken_in(weights_place, false);
    expect_taken_in(without_length, false);
    expect_taken_in(by_link, false);
    expect_taken_in(by_dots, false);
}

static void links_are_followed_where_they_may_be(void)
{
    static const struct place places[] = {{"../numbers.bin", "16", "288"},
                                          {"link.bin", "16", "288"},
                                          {"links/numbers.bin", "16", "288"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        expect_taken_in(places[i], true);
    expect_taken_in((struct place){data_path("numbers.bin"), "16", "288"}, true);
}

static const struct wrong {
    struct place place;
    glcnn_status status;
    const char *words; /* in the message */
} wrongs[] = {
    {{"data/nothing.bin", "16", "288"}, GLCNN_IO_ERROR, "data/nothing.bin, the data of tensor"},
    {{"data", "0", "288"}, GLCNN_IO_ERROR, "is not a regular file but a folder"},
    {{"data/numbers.bin", "24", "288"},
     GLCNN_MALFORMED_DATA,
     "308 bytes; the tensor is said to have"},
    {{"data/numbers.bin", "400", "288"}, GLCNN_MALFORMED_DATA, "from byte 400 on"},
    {{"data/numbers.bin", "-1", "288"},
     GLCNN_MALFORMED_DATA,
     "offset \"-1\", which is not a number"},
    {{"data/numbers.bin", "16", "-1"},
     GLCNN_MALFORMED_DATA,
     "length \"-1\", which is not a number"},
    {{"data/numbers.bin", "16", ""}, GLCNN_MALFORMED_DATA, "length \"\", which is not a number"},
    {{"data/numbers.bin", "16", "9999999999999999999"}, GLCNN_MALFORMED_DATA, "is not a number"},
    {{"data/numbers.bin", "16", "284"}, GLCNN_MALFORMED_DATA, "288 bytes, but 284 bytes of"},
    {{"data/sparse.bin", "0", "17179869184"},
     GLCNN_MALFORMED_DATA,
     "72 numbers, 288 bytes, but 17179869184 bytes"},
    {{"data/pipe", "0", "288"}, GLCNN_IO_ERROR, "is not a regular file but a pipe"},
    {{NULL, "16", "288"}, GLCNN_UNSUPPORTED, "in another file"},
    {{"", "16", "288"}, GLCNN_UNSUPPORTED, "from its folder"},
    {{"../numbers.bin", "16", "288"}, GLCNN_UNSUPPORTED, "outside of the model's folder"},
    {{"data/../../numbers.bin", "16", "288"}, GLCNN_UNSUPPORTED, "option external_links reads it"},
    {{"link.bin", "16", "288"}, GLCNN_UNSUPPORTED, "\"link.bin\", which is /"},
    {{"links/numbers.bin", "16", "288"}, GLCNN_UNSUPPORTED, "outside of the model's folder"},
    {{"/dev/zero", "0", "288"}, GLCNN_UNSUPPORTED, "outside of the model's folder"},
    {{"..", "0", "288"}, GLCNN_UNSUPPORTED, "outside of the model's folder"},
    {{"data/..", "0", "288"}, GLCNN_UNSUPPORTED, "outside of the model's folder"},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

static void expect_refused(struct place place, glcnn_status expected, const char *words)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *net;
    struct glcnn_onnx_record *record;
    write_models(place);
    CU_ASSERT_EQUAL(load(false, &net, &record, error), expected);
    CU_ASSERT_PTR_NULL(net);
    CU_ASSERT_PTR_NULL(record);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, words));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "weights"));
    if (!strstr(error, words) || !strstr(error, "weights"))
        printf("\"%s\", not \"%s\"\n", error, words);
}

static void data_that_cannot_be_had_are_named(void)
{
    for (size_t i = 0; i < WRONGS; i++)
        expect_refused(wrongs[i].place, wrongs[i].status, wrongs[i].words);
}

/* A folder whose name begins like the model's is another one. */
static void folders_beside_the_models_are_others(void)
{
    expect_refused((struct place){data_path("models-beside/numbers.bin"), "16", "288"},
                   GLCNN_UNSUPPORTED, "outside of the model's folder");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(data_beside_the_model_are_taken_in), UNIT_TEST(data_that_cannot_be_had_are_named),
        UNIT_TEST(links_are_followed_where_they_may_be),
        UNIT_TEST(folders_beside_the_models_are_others), CU_TEST_INFO_NULL};
    int result = fixture_run("onnx_external", tests, argc, argv);
    data_remove_folder();
    return result;
}
