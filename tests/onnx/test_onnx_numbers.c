/* Operators of ONNX on numbers that were worked out apart: by hand from the formulas of ONNX's
 * Operators.md, or by PyTorch where that is said. A row is a model: its nodes in order, the image that it
 * is given, its constants, and what it makes. */
#include <glcnn/kernels/batch_normalization.h>

#include "onnx/build.h"
#include "tests/graphs.h"

enum { MOST = 24, MOST_STEPS = 3 };

/* A tensor of that name, of a type of ONNX: 0 is float32. Bits are `values` where a type is neither
 * float32 nor int64. NULL: there is none. */
struct numbers {
    const char *name;
    int64_t dims[4];
    size_t rank;
    float values[MOST];
    int type;
};

/* A text, or so many whole numbers, one of which is an int and more are ints, or a float. */
struct attribute {
    const char *name, *text;
    size_t count;
    int64_t wholes[4];
    float real;
};

/* Inputs with spaces between; "-" is one that is left out. `more`: a second output. */
struct step {
    const char *operator, * inputs, *output;
    struct attribute attributes[5];
    const char *more;
};

struct model {
    int64_t opset;
    struct numbers image, result;
    struct step steps[MOST_STEPS];
    struct numbers constants[3];
};

/* clang-format off */
#define SIZE(...) {__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define NUMBER {0}, 0
#define INT(NAME, VALUE) {NAME, NULL, 1, {VALUE}, 0}
#define INTS(NAME, ...) {NAME, NULL, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}, 0}
#define REAL(NAME, VALUE) {NAME, NULL, 0, {0}, VALUE}
#define TEXT(NAME, VALUE) {NAME, VALUE, 0, {0}, 0}
/* clang-format on */

#define INT8    ONNX__TENSOR_PROTO__DATA_TYPE__INT8
#define INT64   ONNX__TENSOR_PROTO__DATA_TYPE__INT64
#define FLOAT16 ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16

/* ---- Models ---- */

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

static void add_output(Onnx__NodeProto *node, const char *name)
{
    node->output = realloc(node->output, (node->n_output + 1) * sizeof *node->output);
    node->output[node->n_output++] = strdup(name);
}

static void add_step(struct writer *w, Onnx__GraphProto *graph, const struct step *step)
{
    char names[80], *rest = names;
    const char *inputs[8] = {NULL}, *name;
    snprintf(names, sizeof names, "%s", step->inputs);
    for (size_t i = 0; (name = strtok_r(rest, " ", &rest)); i++)
        inputs[i] = strcmp(name, "-") == 0 ? "" : name;
    Onnx__NodeProto *node = build_node(w, graph, step->operator, step->output, inputs);
    for (size_t i = 0; i < 5 && step->attributes[i].name; i++)
        add_attribute(w, node, &step->attributes[i]);
    if (step->more)
        add_output(node, step->more);
}

static void add_constant(struct writer *w, Onnx__GraphProto *graph, const struct numbers *n)
{
    int64_t wholes[MOST];
    size_t count = count_numbers(n);
    for (size_t i = 0; i < count; i++)
        wholes[i] = (int64_t)n->values[i];
    build_tensor(w, graph, n->name, n->dims, n->rank, n->type ? NULL : n->values, wholes);
    if (!n->type || n->type == INT64)
        return;
    Onnx__TensorProto *t = graph->initializer[graph->n_initializer - 1];
    t->data_type = n->type;
    t->int32_data = malloc(count * sizeof *t->int32_data);
    t->n_int32_data = count;
    for (size_t i = 0; i < count; i++)
        t->int32_data[i] = (int32_t)wholes[i];
    t->n_int64_data = 0;
}

struct reading {
    glcnn_network *network;
    struct glcnn_onnx_record *record;
};

static struct reading read_model(const struct model *m)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct reading r = {NULL};
    struct writer w = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    Onnx__ModelProto *proto = build_model();
    proto->opset_import[0]->version = m->opset;
    build_value(&w, proto->graph, false, m->image.name, m->image.dims, m->image.rank);
    for (size_t i = 0; i < 3 && m->constants[i].name; i++)
        add_constant(&w, proto->graph, &m->constants[i]);
    for (size_t i = 0; i < MOST_STEPS && m->steps[i].operator; i++)
        add_step(&w, proto->graph, &m->steps[i]);
    build_value(&w, proto->graph, true, m->result.name, m->result.dims, m->result.rank);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, proto, &bytes, &size));
    onnx__model_proto__free_unpacked(proto, NULL);
    CU_ASSERT_EQUAL(glcnn_onnx_read(device, bytes, size, NULL, &r.network, &r.record, error),
                    GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL_FATAL(error, "");
    glcnn_onnx_destroy(bytes);
    return r;
}

static void end_reading(struct reading *r)
{
    glcnn_onnx_record_destroy(&r->record);
    glcnn_network_destroy(&r->network);
}

/* Tensors are N,C,H,W, here and in the file. */
static void expect(const struct model *m)
{
    const struct numbers *x = &m->image;
    struct reading r = read_model(m);
    glcnn_image_node *result = r.record->outputs[0].node;
    glcnn_graph *graph = graph_of(result);
    glcnn_image *image = image_with((uint32_t)x->dims[0], (uint32_t)x->dims[1],
                                    (uint32_t)x->dims[2], (uint32_t)x->dims[3], x->values);
    run_graph(graph, &image);
    float *values = result_values(graph, result);
    size_t count = count_numbers(&m->result);
    CU_ASSERT_EQUAL_FATAL(count_of(glcnn_graph_image(graph, result)), count);
    if (!arrays_near(values, m->result.values, count, 2e-6)) {
        CU_FAIL("an operator makes other numbers");
        printf("\n    %s of opset %d\n", m->steps[0].operator,(int) m->opset);
    }
    free(values);
    glcnn_image_destroy(&image);
    glcnn_graph_destroy(&graph);
    end_reading(&r);
}

static void expect_all(const struct model *models, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(&models[i]);
}
#define EXPECT_ALL(MODELS) expect_all(MODELS, sizeof MODELS / sizeof *MODELS)

/* ---- Pooling ---- */

#define FOUR                                                                                       \
    "image", SIZE(1, 1, 1, 4),                                                                     \
    {                                                                                              \
        1, 2, 3, 4                                                                                 \
    }
#define TWENTY                                                                                     \
    "image", SIZE(1, 1, 5, 4),                                                                     \
    {                                                                                              \
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20                      \
    }
#define POOL(...)                                                                                  \
    {                                                                                              \
        {                                                                                          \
            "AveragePool", "image", "result",                                                      \
            {                                                                                      \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
    }

/* What ceil_mode adds behind the padding is never counted: of windows at -1 .. 1, 1 .. 3 and 3 .. 5 of
 * four pixels the last has a pixel and a pad. A window that would begin just where the pixels end is left
 * out. The further ones are PyTorch's (avg_pool2d). */
static const struct model averages[] = {
    {19,
     {FOUR},
     {"result", SIZE(1, 1, 1, 3), {1, 3, 2}},
     POOL(INTS("kernel_shape", 1, 3), INTS("strides", 1, 2), INTS("pads", 0, 1, 0, 1),
          INT("ceil_mode", 1), INT("count_include_pad", 1))},
    {19,
     {FOUR},
     {"result", SIZE(1, 1, 1, 2), {2, 3.5f}},
     POOL(INTS("kernel_shape", 1, 3), INTS("strides", 1, 2), INT("ceil_mode", 1),
          INT("count_include_pad", 1))},
    {19,
     {FOUR},
     {"result", SIZE(1, 1, 1, 2), {1.5f, 3.5f}},
     POOL(INTS("kernel_shape", 1, 2), INTS("strides", 1, 2), INTS("pads", 0, 0, 0, 1),
          INT("ceil_mode", 1))},
    {19,
     {TWENTY},
     {"result", SIZE(1, 1, 3, 3), {0.5f, 1.5f, 1, 5, 9, 5, 31 / 3.0f, 17, 9}},
     POOL(INTS("kernel_shape", 2, 3), INTS("strides", 2, 2), INTS("pads", 1, 1, 1, 1),
          INT("ceil_mode", 1), INT("count_include_pad", 1))},
    {19,
     {TWENTY},
     {"result",
      SIZE(1, 1, 3, 3),
      {7 / 6.0f, 2.5f, 1.5f, 23 / 3.0f, 13, 7, 35 / 9.0f, 19 / 3.0f, 10 / 3.0f}},
     POOL(INTS("kernel_shape", 4, 3), INTS("strides", 3, 2), INTS("pads", 2, 1, 2, 1),
          INT("ceil_mode", 1), INT("count_include_pad", 1))},
    {19,
     {TWENTY},
     {"result", SIZE(1, 1, 3, 3), {1.5f, 3, 4, 7.5f, 9, 10, 15.5f, 17, 18}},
     POOL(INTS("kernel_shape", 2, 3), INTS("strides", 2, 2), INTS("pads", 1, 1, 1, 1),
          INT("ceil_mode", 1))},
    {19,
     {TWENTY},
     {"result", SIZE(1, 1, 2, 2), {7 / 6.0f, 2.5f, 23 / 3.0f, 13}},
     POOL(INTS("kernel_shape", 4, 3), INTS("strides", 3, 2), INTS("pads", 2, 1, 2, 1),
          INT("count_include_pad", 1))},
};

/* Pads are zeros of a norm: of 0 and 3, 3 and 4, and 4 and 0. */
static const struct model norm = {
    18,
    {"image", SIZE(1, 1, 1, 2), {3, 4}},
    {"result", SIZE(1, 1, 1, 3), {3, 5, 4}},
    {{"LpPool", "image", "result", {INTS("kernel_shape", 1, 2), INTS("pads", 0, 1, 0, 1)}}},
    {{NULL}}};

static void norms_have_zeros_beyond_the_edge(void)
{
    expect(&norm);
}

static void averages_divide_by_what_counts(void)
{
    EXPECT_ALL(averages);
}

/* ---- Resizing ---- */

/* To opset 10 result X lies at X / 1.5, and the pixel at or before that is the nearest. With
 * not_larger the scale of both axes is 2 / 3, which makes 2.67 columns and so three; results lie at
 * 1.5 (X + 1/2) - 1/2. */
static const struct model resizes[] = {
    {10,
     {FOUR},
     {"result", SIZE(1, 1, 1, 6), {1, 1, 2, 3, 3, 4}},
     {{"Resize", "image scales", "result", {{0}}}},
     {{"scales", SIZE(4), {1, 1, 1, 1.5f}}}},
    {10,
     {FOUR},
     {"result", SIZE(1, 1, 1, 6), {1, 5 / 3.0f, 7 / 3.0f, 3, 11 / 3.0f, 4}},
     {{"Resize", "image scales", "result", {TEXT("mode", "linear")}}},
     {{"scales", SIZE(4), {1, 1, 1, 1.5f}}}},
    {18,
     {"image", SIZE(1, 1, 3, 4), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
     {"result", SIZE(1, 1, 2, 3), {1, 3, 4, 9, 11, 12}},
     {{"Resize",
       "image - - sizes",
       "result",
       {INTS("axes", 2, 3), TEXT("keep_aspect_ratio_policy", "not_larger")}}},
     {{"sizes", SIZE(2), {2, 6}, INT64}}},
};

static void resizes_follow_opset_and_policy(void)
{
    EXPECT_ALL(resizes);
}

/* ---- Normalisation ---- */

/* 100 by itself, of alpha 1e-4, beta 3/4 and bias 1: 100 / (1 + 1)^(3/4). */
static const struct model response = {13,
                                      {"image", SIZE(1, 1, 1, 1), {100}},
                                      {"result", SIZE(1, 1, 1, 1), {59.460356f}},
                                      {{"LRN", "image", "result", {INT("size", 1)}}},
                                      {{NULL}}};

static void a_response_has_its_defaults(void)
{
    expect(&response);
}

static void running_averages_keep_nine_tenths(void)
{
    static const struct model batch = {
        15,
        {"image", SIZE(1, 1, 1, 1), {7}},
        {"result", SIZE(1, 1, 1, 1), {0}},
        {{"BatchNormalization", "image one zero zero one", "result", {{0}}}},
        {{"one", SIZE(1), {1}}, {"zero", SIZE(1), {0}}}};
    struct reading r = read_model(&batch);
    const struct glcnn_batch_normalization_parameters *p =
        glcnn_batch_normalization(kernel_of(r.record->outputs[0].node));
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    CU_ASSERT_DOUBLE_EQUAL((double)p->running_momentum, 0.1, 1e-7);
    end_reading(&r);
}

/* ---- Numbers that do not train ---- */

#define ONE_NUMBER(NAME, VALUE)                                                                    \
    {                                                                                              \
        {                                                                                          \
            NAME, NUMBER,                                                                          \
            {                                                                                      \
                VALUE                                                                              \
            }                                                                                      \
        }                                                                                          \
    }
#define THREE                                                                                      \
    "image", SIZE(1, 1, 1, 3),                                                                     \
    {                                                                                              \
        1, 2, 4                                                                                    \
    }

static const struct model with_numbers[] = {
    {13,
     {THREE},
     {"result", SIZE(1, 1, 1, 3), {-9, -8, -6}},
     {{"Sub", "image ten", "result", {{0}}}},
     ONE_NUMBER("ten", 10)},
    {13,
     {THREE},
     {"result", SIZE(1, 1, 1, 3), {9, 8, 6}},
     {{"Sub", "ten image", "result", {{0}}}},
     ONE_NUMBER("ten", 10)},
    {13,
     {THREE},
     {"result", SIZE(1, 1, 1, 3), {0.1f, 0.2f, 0.4f}},
     {{"Div", "image ten", "result", {{0}}}},
     ONE_NUMBER("ten", 10)},
    {13,
     {THREE},
     {"result", SIZE(1, 1, 1, 3), {10, 5, 2.5f}},
     {{"Div", "ten image", "result", {{0}}}},
     ONE_NUMBER("ten", 10)},
    {13,
     {THREE},
     {"result", SIZE(1, 1, 1, 3), {1, 2, 3}},
     {{"Min", "image three", "result", {{0}}}},
     ONE_NUMBER("three", 3)},
    {13,
     {THREE},
     {"result", SIZE(1, 1, 1, 3), {3, 3, 4}},
     {{"Max", "image three", "result", {{0}}}},
     ONE_NUMBER("three", 3)},
    /* Opset 6 lets the numbers begin at an axis: here that of channels. */
    {6,
     {"image", SIZE(1, 3, 1, 3), {1, 2, 3, 4, 5, 6, 7, 8, 9}},
     {"result", SIZE(1, 3, 1, 3), {11, 12, 13, 24, 25, 26, 37, 38, 39}},
     {{"Add", "image tens", "result", {INT("axis", 1), INT("broadcast", 1)}}},
     {{"tens", SIZE(3), {10, 20, 30}}}},
};

static void numbers_stand_on_their_side(void)
{
    EXPECT_ALL(with_numbers);
}

/* ---- What is computed while the file is read ---- */

#define ZEROS(...)                                                                                 \
    "image", SIZE(__VA_ARGS__),                                                                    \
    {                                                                                              \
        0                                                                                          \
    }
#define FLOATS INT("to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT)

static const struct model folded[] = {
    /* 0, 1 and 2 are below 2.5. */
    {13,
     {ZEROS(1, 1, 1, 3)},
     {"result", SIZE(1, 1, 1, 3), {0, 1, 2}},
     {{"Range", "begin end step", "range", {{0}}}, {"Add", "image range", "result", {{0}}}},
     {{"begin", NUMBER, {0}}, {"end", NUMBER, {2.5f}}, {"step", NUMBER, {1}}}},
    /* Axes 0 and 1 of three. */
    {15,
     {ZEROS(1, 1, 1, 2)},
     {"result", SIZE(1, 1, 1, 2), {2, 3}},
     {{"Shape", "block", "sizes", {INT("end", -1)}},
      {"Cast", "sizes", "reals", {FLOATS}},
      {"Add", "image reals", "result", {{0}}}},
     {{"block", SIZE(2, 3, 4), {0}}}},
    /* 2^-24, 2^-14 - 2^-24 and -2^-23, times 2^24. */
    {13,
     {"image", SIZE(1, 3, 1, 1), {0x1p24f, 0x1p24f, 0x1p24f}},
     {"result", SIZE(1, 3, 1, 1), {1, 1023, -2}},
     {{"Mul", "image float16", "result", {{0}}}},
     {{"float16", SIZE(3, 1, 1), {0x0001, 0x03ff, 0x8002}, FLOAT16}}},
    {13,
     {ZEROS(1, 1, 1, 3)},
     {"result", SIZE(1, 1, 1, 3), {-1, 127, -128}},
     {{"Cast", "bytes", "reals", {FLOATS}}, {"Add", "image reals", "result", {{0}}}},
     {{"bytes", SIZE(3), {-1, 127, -128}, INT8}}},
};

static void constants_are_folded(void)
{
    EXPECT_ALL(folded);
}

/* ---- Parts ---- */

/* The last part is the smaller one. */
static const struct model splits[] = {
    {18,
     {"image", SIZE(1, 1, 1, 3), {5, 6, 7}},
     {"result", SIZE(1, 1, 1, 2), {5, 6}},
     {{"Split", "image", "result", {INT("axis", 3), INT("num_outputs", 2)}, "rest"}},
     {{NULL}}},
    {18,
     {"image", SIZE(1, 1, 1, 3), {5, 6, 7}},
     {"result", SIZE(1, 1, 1, 1), {7}},
     {{"Split", "image", "first", {INT("axis", 3), INT("num_outputs", 2)}, "result"}},
     {{NULL}}},
};

static void parts_are_as_large_as_can_be(void)
{
    EXPECT_ALL(splits);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(averages_divide_by_what_counts),
                                        UNIT_TEST(norms_have_zeros_beyond_the_edge),
                                        UNIT_TEST(resizes_follow_opset_and_policy),
                                        UNIT_TEST(a_response_has_its_defaults),
                                        UNIT_TEST(running_averages_keep_nine_tenths),
                                        UNIT_TEST(numbers_stand_on_their_side),
                                        UNIT_TEST(constants_are_folded),
                                        UNIT_TEST(parts_are_as_large_as_can_be),
                                        CU_TEST_INFO_NULL};
    return fixture_run("onnx_numbers", tests, argc, argv);
}
