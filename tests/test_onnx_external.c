/* Models whose initialisers lie in files beside them. */
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
    Onnx__ModelProto *model = build_model(16);
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
    glcnn_onnx_free(file.bytes);
}

static glcnn_status load(glcnn_network **net, struct glcnn_onnx_record **record,
                         char error[GLCNN_ERROR_LENGTH])
{
    return glcnn_onnx_load(device, data_path("models/model.onnx"), NULL, net, record, error);
}

/* ---- Tests ---- */

/* Written again the model has all its data in it, also those that are no vector of a filter. */
static void data_beside_the_model_are_taken_in(void)
{
    struct writer w = {0};
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *net;
    struct glcnn_onnx_record *record;
    struct file whole = pack(&w, make_model(&w)), back = {NULL, 0};
    write_models(weights_place);
    CU_ASSERT_EQUAL_FATAL(load(&net, &record, error), GLCNN_SUCCESS);
    CU_ASSERT_TRUE(record->skeleton_size < whole.size - WEIGHTS_SIZE);
    CU_ASSERT_EQUAL_FATAL(glcnn_onnx_write(net, record, NULL, 0, &back.bytes, &back.size, error),
                          GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(back.size, whole.size);
    CU_ASSERT_TRUE(back.size == whole.size && memcmp(back.bytes, whole.bytes, whole.size) == 0);
    glcnn_onnx_free(whole.bytes);
    glcnn_onnx_free(back.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

static const struct wrong {
    struct place place;
    glcnn_status status;
    const char *words; /* in the sentence */
} wrongs[] = {
    {{"data/nothing.bin", "16", "288"}, GLCNN_IO_ERROR, "data/nothing.bin, the data of tensor"},
    {{"data", "0", "288"}, GLCNN_IO_ERROR, "weights\": it cannot be read"},
    {{"data/numbers.bin", "24", "288"},
     GLCNN_MALFORMED_DATA,
     "308 bytes; the tensor is said to have"},
    {{"data/numbers.bin", "400", "288"}, GLCNN_MALFORMED_DATA, "from byte 400 on"},
    {{"data/numbers.bin", "-1", "288"}, GLCNN_MALFORMED_DATA, "308 bytes"},
    {{"data/numbers.bin", "16", "-1"}, GLCNN_MALFORMED_DATA, "308 bytes"},
    {{"data/numbers.bin", "16", "284"}, GLCNN_MALFORMED_DATA, "72 numbers, but the file has 284"},
    {{"data/numbers.bin", "16", NULL}, GLCNN_UNSUPPORTED, "where their length is told"},
    {{NULL, "16", "288"}, GLCNN_UNSUPPORTED, "in another file"},
    {{"", "16", "288"}, GLCNN_UNSUPPORTED, "from its folder"},
    {{"../numbers.bin", "16", "288"}, GLCNN_UNSUPPORTED, "\"../numbers.bin\""},
    {{"data/../../numbers.bin", "16", "288"}, GLCNN_UNSUPPORTED, "from its folder"},
    {{"data/..", "0", "288"}, GLCNN_UNSUPPORTED, "from its folder"},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

static void expect_refused(struct place place, glcnn_status expected, const char *words)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *net;
    struct glcnn_onnx_record *record;
    write_models(place);
    CU_ASSERT_EQUAL(load(&net, &record, error), expected);
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

/* The file is there and right: its path is what is wrong. */
static void absolute_paths_are_refused(void)
{
    expect_refused((struct place){data_path("models/data/numbers.bin"), "16", "288"},
                   GLCNN_UNSUPPORTED, "from its folder");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(data_beside_the_model_are_taken_in),
                                        UNIT_TEST(data_that_cannot_be_had_are_named),
                                        UNIT_TEST(absolute_paths_are_refused), CU_TEST_INFO_NULL};
    int result = fixture_run("onnx_external", tests, argc, argv);
    data_remove_folder();
    return result;
}
