/* Operators of ONNX on numbers that were worked out apart: by hand from the formulas of ONNX's
 * Operators.md, or by PyTorch where that is said. One node, its image and constants, its result. */
#include "onnx/build.h"
#include "tests/graphs.h"

enum { MOST = 24 };

/* Numbers of a tensor; a rank of 0 and no numbers: there is none. */
struct numbers {
    int64_t dims[4];
    size_t rank;
    float values[MOST];
};

/* An attribute: a text, or whole numbers, one of which is an int and more are ints, or a float. */
struct attribute {
    const char *name, *text;
    size_t count;
    int64_t wholes[4];
    float real;
};

struct operation {
    const char *name;
    int64_t opset;
    struct attribute attributes[5];
    struct numbers image, constants[3], result;
};

/* clang-format off */
#define SIZE(...) {__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define INT(NAME, VALUE) {NAME, NULL, 1, {VALUE}, 0}
#define INTS(NAME, ...) {NAME, NULL, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}, 0}
#define REAL(NAME, VALUE) {NAME, NULL, 0, {0}, VALUE}
#define TEXT(NAME, VALUE) {NAME, VALUE, 0, {0}, 0}
/* clang-format on */

static size_t count_numbers(const struct numbers *n)
{
    size_t count = 1;
    for (size_t i = 0; i < n->rank; i++)
        count *= (size_t)n->dims[i];
    return count;
}

static void add_text(Onnx__NodeProto *node, const char *name, const char *text)
{
    Onnx__AttributeProto *a = malloc(sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = strdup(name);
    a->has_s = a->has_type = true;
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
    a->s = (ProtobufCBinaryData){strlen(text), (uint8_t *)strdup(text)};
    node->attribute[node->n_attribute++] = a;
}

static void add_attribute(struct writer *w, Onnx__NodeProto *node, const struct attribute *a)
{
    if (a->text)
        add_text(node, a->name, a->text);
    else if (a->count == 1)
        build_int(w, node, a->name, a->wholes[0]);
    else if (a->count > 1)
        build_ints(w, node, a->name, a->wholes, a->count);
    else
        build_float(w, node, a->name, a->real);
}

static glcnn_status read_operation(const struct operation *o, glcnn_network **network,
                                   struct glcnn_onnx_record **record, char *error)
{
    static const char *const names[] = {"first", "second", "third"};
    const char *inputs[5] = {"image"};
    struct writer w = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    Onnx__ModelProto *model = build_model(4);
    model->opset_import[0]->version = o->opset;
    build_value(&w, model->graph, false, "image", o->image.dims, o->image.rank);
    for (size_t i = 0; i < 3 && o->constants[i].rank; i++) {
        build_tensor(&w, model->graph, names[i], o->constants[i].dims, o->constants[i].rank,
                     o->constants[i].values, NULL);
        inputs[i + 1] = names[i];
    }
    Onnx__NodeProto *node = build_node(&w, model->graph, o->name, "result", inputs);
    for (size_t i = 0; i < 5 && o->attributes[i].name; i++)
        add_attribute(&w, node, &o->attributes[i]);
    build_value(&w, model->graph, true, "result", o->result.dims, o->result.rank);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &bytes, &size));
    onnx__model_proto__free_unpacked(model, NULL);
    glcnn_status status = glcnn_onnx_read(device, bytes, size, NULL, network, record, error);
    glcnn_onnx_free(bytes);
    return status;
}

/* Images are N,C,H,W, or N,C, here and in the file. */
static glcnn_image *image_of(const struct numbers *n)
{
    uint32_t size[4] = {1, 1, 1, 1};
    for (size_t i = 0; i < n->rank; i++)
        size[i] = (uint32_t)n->dims[i];
    return image_with(size[0], size[1], size[2], size[3], n->values);
}

static void expect(const struct operation *o)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *network = NULL;
    struct glcnn_onnx_record *record = NULL;
    CU_ASSERT_EQUAL(read_operation(o, &network, &record, error), GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL_FATAL(error, "");
    glcnn_image_node *result = record->outputs[0].node;
    glcnn_graph *graph = graph_of(result);
    glcnn_image *image = image_of(&o->image);
    run_graph(graph, &image);
    float *values = result_values(graph, result);
    size_t count = count_numbers(&o->result);
    CU_ASSERT_EQUAL(count_of(glcnn_graph_image(graph, result)), count);
    if (!arrays_near(values, o->result.values, count, 2e-6)) {
        CU_FAIL("an operator gives other numbers");
        printf("\n    %s of opset %d\n", o->name, (int)o->opset);
    }
    free(values);
    glcnn_image_destroy(&image);
    glcnn_graph_destroy(&graph);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&network);
}

static void expect_all(const struct operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(&operations[i]);
}

/* ---- Pooling ---- */

#define TWENTY                                                                                     \
    {                                                                                              \
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20                      \
    }

/* What ceil_mode adds behind the padding is never counted: of windows at -1 .. 1, 1 .. 3 and 3 .. 5 of
 * four pixels the last has a pixel and a pad. The further ones are PyTorch's (avg_pool2d). */
static const struct operation averages[] = {
    {"AveragePool",
     19,
     {INTS("kernel_shape", 1, 3), INTS("strides", 1, 2), INTS("pads", 0, 1, 0, 1),
      INT("ceil_mode", 1), INT("count_include_pad", 1)},
     {SIZE(1, 1, 1, 4), {1, 2, 3, 4}},
     {{{0}, 0, {0}}},
     {SIZE(1, 1, 1, 3), {1, 3, 2}}},
    {"AveragePool",
     19,
     {INTS("kernel_shape", 1, 3), INTS("strides", 1, 2), INT("ceil_mode", 1),
      INT("count_include_pad", 1)},
     {SIZE(1, 1, 1, 4), {1, 2, 3, 4}},
     {{{0}, 0, {0}}},
     {SIZE(1, 1, 1, 2), {2, 3.5f}}},
    {"AveragePool",
     19,
     {INTS("kernel_shape", 2, 3), INTS("strides", 2, 2), INTS("pads", 1, 1, 1, 1),
      INT("ceil_mode", 1), INT("count_include_pad", 1)},
     {SIZE(1, 1, 5, 4), TWENTY},
     {{{0}, 0, {0}}},
     {SIZE(1, 1, 3, 3), {0.5f, 1.5f, 1, 5, 9, 5, 31 / 3.0f, 17, 9}}},
    {"AveragePool",
     19,
     {INTS("kernel_shape", 4, 3), INTS("strides", 3, 2), INTS("pads", 2, 1, 2, 1),
      INT("ceil_mode", 1), INT("count_include_pad", 1)},
     {SIZE(1, 1, 5, 4), TWENTY},
     {{{0}, 0, {0}}},
     {SIZE(1, 1, 3, 3), {7 / 6.0f, 2.5f, 1.5f, 23 / 3.0f, 13, 7, 35 / 9.0f, 19 / 3.0f, 10 / 3.0f}}},
    {"AveragePool",
     19,
     {INTS("kernel_shape", 2, 3), INTS("strides", 2, 2), INTS("pads", 1, 1, 1, 1),
      INT("ceil_mode", 1)},
     {SIZE(1, 1, 5, 4), TWENTY},
     {{{0}, 0, {0}}},
     {SIZE(1, 1, 3, 3), {1.5f, 3, 4, 7.5f, 9, 10, 15.5f, 17, 18}}},
    {"AveragePool",
     19,
     {INTS("kernel_shape", 4, 3), INTS("strides", 3, 2), INTS("pads", 2, 1, 2, 1),
      INT("count_include_pad", 1)},
     {SIZE(1, 1, 5, 4), TWENTY},
     {{{0}, 0, {0}}},
     {SIZE(1, 1, 2, 2), {7 / 6.0f, 2.5f, 23 / 3.0f, 13}}},
};

static void averages_divide_by_what_counts(void)
{
    expect_all(averages, sizeof averages / sizeof *averages);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(averages_divide_by_what_counts),
                                        CU_TEST_INFO_NULL};
    return fixture_run("onnx_numbers", tests, argc, argv);
}
