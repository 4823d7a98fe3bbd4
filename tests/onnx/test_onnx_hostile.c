/* Models that are wrong, each with the message that says so, and damaged files. */
#include <math.h>

#include "onnx/build.h"
#include "tests/fixture.h"

/* ---- Models ---- */

typedef void (*change)(struct writer *writer, Onnx__GraphProto *graph);

static const int64_t image_dims[] = {1, 4, 6, 6};

/* image -> Conv 3x3 to 2 channels -> Relu -> result. */
static Onnx__ModelProto *make_model(struct writer *w)
{
    static const int64_t weights_dims[] = {2, 4, 3, 3};
    float weights[72];
    for (size_t i = 0; i < 72; i++)
        weights[i] = (float)i / 72;
    Onnx__ModelProto *model = build_model();
    Onnx__GraphProto *graph = model->graph;
    build_value(w, graph, false, "image", image_dims, 4);
    build_tensor(w, graph, "weights", weights_dims, 4, weights, NULL);
    build_node(w, graph, "Conv", "convolved", (const char *[]){"image", "weights", NULL});
    build_node(w, graph, "Relu", "result", (const char *[]){"convolved", NULL});
    build_value(w, graph, true, "result", image_dims, 4);
    return model;
}

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file pack(struct writer *w, Onnx__ModelProto *model)
{
    struct file file = {NULL, 0};
    CU_ASSERT_TRUE_FATAL(write_bytes(w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    return file;
}

static glcnn_status read_it(const uint8_t *bytes, size_t size, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_network *net = (glcnn_network *)(uintptr_t)1;
    struct glcnn_onnx_record *record = (struct glcnn_onnx_record *)(uintptr_t)1;
    glcnn_status status = glcnn_onnx_read(device, bytes, size, NULL, &net, &record, error);
    CU_ASSERT_EQUAL(net != NULL, status == GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(record != NULL, status == GLCNN_SUCCESS);
    CU_ASSERT_TRUE(status == GLCNN_SUCCESS || strlen(error) > 10);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
    return status;
}

/* ---- What is wrong with them ---- */

static void rename_text(char **text, const char *name)
{
    free(*text);
    *text = strdup(name);
}

static void keep(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    (void)graph;
}

static void make_cycle(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    rename_text(&graph->node[0]->input[0], "result");
}

static void lose_input(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    rename_text(&graph->node[0]->input[1], "nowhere");
}

static void define_twice(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    rename_text(&graph->node[0]->output[0], "result");
}

static void lose_output(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    rename_text(&graph->output[0]->name, "elsewhere");
}

static void no_output(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    onnx__value_info_proto__free_unpacked(graph->output[0], NULL);
    graph->n_output = 0;
}

static void unknown_operator(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    rename_text(&graph->node[1]->op_type, "Frobnicate");
    rename_text(&graph->node[1]->name, "here it is");
}

static void announce_gigabytes(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->initializer[0]->dims[0] = (int64_t)1 << 24;
}

static void absurd_shape(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    for (size_t i = 0; i < 4; i++)
        graph->initializer[0]->dims[i] = INT64_MAX / 2;
}

static void negative_shape(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->initializer[0]->dims[1] = -4;
}

static void absurd_input(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->input[0]->type->tensor_type->shape->dim[3]->dim_value = (int64_t)1 << 40;
}

static void other_channels(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->input[0]->type->tensor_type->shape->dim[1]->dim_value = 5;
}

static void window_too_large(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->input[0]->type->tensor_type->shape->dim[2]->dim_value = 2;
}

static void zero_stride(struct writer *w, Onnx__GraphProto *graph)
{
    build_ints(w, graph->node[0], "strides", (const int64_t[]){0, 0}, 2);
}

static void many_pads(struct writer *w, Onnx__GraphProto *graph)
{
    build_ints(w, graph->node[0], "pads", (const int64_t[]){1, 1, 1, 1, 1, 1}, 6);
}

static void no_groups(struct writer *w, Onnx__GraphProto *graph)
{
    build_int(w, graph->node[0], "group", 0);
}

static void huge_groups(struct writer *w, Onnx__GraphProto *graph)
{
    build_int(w, graph->node[0], "group", INT64_MAX);
}

/* Weights of 2 x 2 to 2 channels, transposed. */
static void transpose(Onnx__GraphProto *graph)
{
    rename_text(&graph->node[0]->op_type, "ConvTranspose");
    graph->initializer[0]->dims[0] = 4;
    graph->initializer[0]->dims[1] = 2;
}

static void huge_groups_transposed(struct writer *w, Onnx__GraphProto *graph)
{
    transpose(graph);
    build_int(w, graph->node[0], "group", INT64_MAX);
}

static void least_output_shape(struct writer *w, Onnx__GraphProto *graph)
{
    transpose(graph);
    build_ints(w, graph->node[0], "output_shape", (const int64_t[]){INT64_MIN, 8}, 2);
}

static void huge_output_padding(struct writer *w, Onnx__GraphProto *graph)
{
    transpose(graph);
    build_ints(w, graph->node[0], "output_padding", (const int64_t[]){0, INT64_MAX}, 2);
}

/* 4096 constants of 2^51 rows without columns, one behind another. */
static void long_concat(struct writer *w, Onnx__GraphProto *graph)
{
    static const int64_t dims[] = {(int64_t)1 << 51, 0};
    enum { MANY = 4096 };
    build_tensor(w, graph, "rows", dims, 2, (const float[]){0}, NULL);
    Onnx__NodeProto *node = build_node(w, graph, "Concat", "all", (const char *[]){"rows", NULL});
    node->input = realloc(node->input, MANY * sizeof *node->input);
    while (node->n_input < MANY)
        node->input[node->n_input++] = strdup("rows");
    build_int(w, node, "axis", 0);
    build_node(w, graph, "Add", "sum", (const char *[]){"result", "all", NULL});
    build_value(w, graph, true, "sum", image_dims, 4);
}

static void weights_without_end(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    const float endless = INFINITY;
    memcpy(graph->initializer[0]->raw_data.data + 20, &endless, sizeof endless);
}

static void normalize(struct writer *w, Onnx__GraphProto *graph, float mean, float variance)
{
    static const int64_t two = 2;
    build_tensor(w, graph, "ones", &two, 1, (const float[]){1, 1}, NULL);
    build_tensor(w, graph, "running_mean", &two, 1, (const float[]){0, mean}, NULL);
    build_tensor(w, graph, "running_var", &two, 1, (const float[]){1, variance}, NULL);
    build_node(w, graph, "BatchNormalization", "normal",
               (const char *[]){"result", "ones", "ones", "running_mean", "running_var", NULL});
    build_value(w, graph, true, "normal", image_dims, 4);
}

static void negative_variance(struct writer *w, Onnx__GraphProto *graph)
{
    normalize(w, graph, 0, -5);
}

static void absurd_mean(struct writer *w, Onnx__GraphProto *graph)
{
    normalize(w, graph, 3e38f, 1);
}

/* A node with a number for each channel of the result, 1 and this one. */
static void join_numbers(struct writer *w, Onnx__GraphProto *graph, const char *operator,
                         float number)
{
    static const int64_t dims[] = {2, 1, 1};
    build_tensor(w, graph, "numbers", dims, 3, (const float[]){1, number}, NULL);
    build_node(w, graph, operator, "joined", (const char *[]){"result", "numbers", NULL});
    build_value(w, graph, true, "joined", image_dims, 4);
}

static void slope_of_no_number(struct writer *w, Onnx__GraphProto *graph)
{
    join_numbers(w, graph, "PRelu", NAN);
}

static void scale_without_end(struct writer *w, Onnx__GraphProto *graph)
{
    join_numbers(w, graph, "Mul", INFINITY);
}

static void shift_of_no_number(struct writer *w, Onnx__GraphProto *graph)
{
    join_numbers(w, graph, "Add", NAN);
}

static void absurd_subtrahend(struct writer *w, Onnx__GraphProto *graph)
{
    join_numbers(w, graph, "Sub", 3e38f);
}

static void divisor_of_zero(struct writer *w, Onnx__GraphProto *graph)
{
    join_numbers(w, graph, "Div", 0);
}

static void bound_by(struct writer *w, Onnx__GraphProto *graph, const char *operator, float bound)
{
    build_tensor(w, graph, "bound", NULL, 0, &bound, NULL);
    build_node(w, graph, operator, "held", (const char *[]){"result", "bound", NULL});
    build_value(w, graph, true, "held", image_dims, 4);
}

static void bound_of_no_number(struct writer *w, Onnx__GraphProto *graph)
{
    bound_by(w, graph, "Clip", NAN);
}

static void least_of_no_number(struct writer *w, Onnx__GraphProto *graph)
{
    bound_by(w, graph, "Max", NAN);
}

static void leak_of_no_number(struct writer *w, Onnx__GraphProto *graph)
{
    Onnx__NodeProto *node =
        build_node(w, graph, "LeakyRelu", "leaky", (const char *[]){"result", NULL});
    build_float(w, node, "alpha", NAN);
    build_value(w, graph, true, "leaky", image_dims, 4);
}

static void number_for_a_tensor(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "sizes", (const int64_t[]){1}, 1, NULL, (const int64_t[]){2});
    build_node(w, graph, "ConstantOfShape", "filled", (const char *[]){"sizes", NULL});
    build_int(w, graph->node[graph->n_node - 1], "value", 1);
    build_node(w, graph, "Add", "sum", (const char *[]){"result", "filled", NULL});
    build_value(w, graph, true, "sum", image_dims, 4);
}

static void data_elsewhere(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->initializer[0]->has_data_location = true;
    graph->initializer[0]->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
}

static void text_for_weights(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->initializer[0]->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
}

static void open_size(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    graph->input[0]->type->tensor_type->shape->dim[2]->dim_value = -1;
}

static void input_twice(struct writer *w, Onnx__GraphProto *graph)
{
    build_value(w, graph, false, "image", image_dims, 4);
}

static void strange_name(struct writer *w, Onnx__GraphProto *graph)
{
    (void)w;
    rename_text(&graph->node[1]->name, "\xff\xfe");
}

static void expand_a_constant(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "one", (const int64_t[]){1}, 1, (const float[]){1}, NULL);
    build_tensor(w, graph, "sizes", (const int64_t[]){3}, 1, NULL,
                 (const int64_t[]){1 << 14, 1 << 14, 1 << 14});
    build_node(w, graph, "Expand", "large", (const char *[]){"one", "sizes", NULL});
    build_node(w, graph, "Add", "sum", (const char *[]){"result", "large", NULL});
    build_value(w, graph, true, "sum", image_dims, 4);
}

static void reshape_to_more(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "sizes", (const int64_t[]){2}, 1, NULL, (const int64_t[]){0, 77});
    build_node(w, graph, "Reshape", "other", (const char *[]){"result", "sizes", NULL});
    build_value(w, graph, true, "other", image_dims, 4);
}

static void constant_output(struct writer *w, Onnx__GraphProto *graph)
{
    build_value(w, graph, true, "weights", image_dims, 4);
}

static const struct wrong {
    change change;
    glcnn_status status;
    const char *words; /* in the message */
} wrongs[] = {
    {keep, GLCNN_SUCCESS, ""},
    {make_cycle, GLCNN_MALFORMED_DATA, "in a cycle"},
    {lose_input, GLCNN_MALFORMED_DATA, "\"nowhere\", which nothing makes"},
    {define_twice, GLCNN_MALFORMED_DATA, "which there is already"},
    {lose_output, GLCNN_MALFORMED_DATA, "the output \"elsewhere\""},
    {no_output, GLCNN_MALFORMED_DATA, "no output"},
    {unknown_operator, GLCNN_UNSUPPORTED, "Frobnicate \"here it is\""},
    {announce_gigabytes, GLCNN_MALFORMED_DATA, "603979776 numbers, but the file has 288 bytes"},
    {absurd_shape, GLCNN_MALFORMED_DATA, "makes too many numbers"},
    {negative_shape, GLCNN_MALFORMED_DATA, "size -4 of axis 1"},
    {absurd_input, GLCNN_MALFORMED_DATA, "size 1099511627776 of axis 3"},
    {other_channels, GLCNN_MALFORMED_DATA, "an image of Nx5x6x6"},
    {window_too_large, GLCNN_MALFORMED_DATA, "does not fit an image of Nx4x2x6"},
    {zero_stride, GLCNN_MALFORMED_DATA, "strides has 0"},
    {many_pads, GLCNN_MALFORMED_DATA, "pads has 6 numbers"},
    {no_groups, GLCNN_MALFORMED_DATA, "in 0 groups"},
    {huge_groups, GLCNN_MALFORMED_DATA, "in 9223372036854775807 groups"},
    {huge_groups_transposed, GLCNN_MALFORMED_DATA, "in 9223372036854775807 groups"},
    {least_output_shape, GLCNN_MALFORMED_DATA, "output_shape has -9223372036854775808"},
    {huge_output_padding, GLCNN_MALFORMED_DATA, "output_padding has 9223372036854775807"},
    {long_concat, GLCNN_MALFORMED_DATA, "\"all\": size"},
    {weights_without_end, GLCNN_MALFORMED_DATA,
     "value 5 of tensor \"weights\" is inf; expected numbers"},
    {negative_variance, GLCNN_MALFORMED_DATA,
     "value 1 of tensor \"running_var\" is -5; a variance is not below 0"},
    {absurd_mean, GLCNN_MALFORMED_DATA,
     "value 1 of tensor \"running_mean\" is 3e+38; expected numbers in -1e19 .. 1e19"},
    {slope_of_no_number, GLCNN_MALFORMED_DATA,
     "value 1 of tensor \"numbers\" is nan; expected numbers"},
    {scale_without_end, GLCNN_MALFORMED_DATA,
     "value 1 of tensor \"numbers\" is inf; expected numbers"},
    {shift_of_no_number, GLCNN_MALFORMED_DATA,
     "value 1 of tensor \"numbers\" is nan; expected numbers"},
    {absurd_subtrahend, GLCNN_MALFORMED_DATA,
     "value 1 of tensor \"numbers\" is 3e+38, of which the filter gets -3e+38; expected numbers in"},
    {divisor_of_zero, GLCNN_MALFORMED_DATA,
     "value 1 of tensor \"numbers\" is 0, of which the filter gets inf; expected numbers"},
    {bound_of_no_number, GLCNN_MALFORMED_DATA, "the bound min is nan; expected a number"},
    {least_of_no_number, GLCNN_MALFORMED_DATA, "nan"},
    {leak_of_no_number, GLCNN_MALFORMED_DATA, "nan"},
    {number_for_a_tensor, GLCNN_MALFORMED_DATA, "its value is not a tensor"},
    {data_elsewhere, GLCNN_UNSUPPORTED, "in another file"},
    {text_for_weights, GLCNN_UNSUPPORTED, "of type 8"},
    {open_size, GLCNN_UNSUPPORTED, "leaves the size of axis 2 open; option height"},
    {input_twice, GLCNN_MALFORMED_DATA, "appears twice"},
    {strange_name, GLCNN_MALFORMED_DATA, "not UTF-8"},
    {expand_a_constant, GLCNN_LIMIT_EXCEEDED, "out of proportion"},
    {reshape_to_more, GLCNN_MALFORMED_DATA, "cannot become one of Nx77"},
    {constant_output, GLCNN_UNSUPPORTED, "\"weights\" is not an image"},
};
enum { WRONGS = sizeof wrongs / sizeof *wrongs };

static void each_wrong_model_has_its_message(void)
{
    for (size_t i = 0; i < WRONGS; i++) {
        struct writer w = {0};
        char error[GLCNN_ERROR_LENGTH] = "";
        Onnx__ModelProto *model = make_model(&w);
        wrongs[i].change(&w, model->graph);
        struct file file = pack(&w, model);
        glcnn_status status = read_it(file.bytes, file.size, error);
        CU_ASSERT_EQUAL(status, wrongs[i].status);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrongs[i].words));
        if (status != wrongs[i].status || !strstr(error, wrongs[i].words))
            printf("wrong %zu: status %d, \"%s\", not \"%s\"\n", i, status, error, wrongs[i].words);
        glcnn_onnx_destroy(file.bytes);
    }
}

/* Opset 6 says where the axes of the second input begin. */
static void old_axes_are_bounded(void)
{
    struct writer w = {0};
    char error[GLCNN_ERROR_LENGTH] = "";
    Onnx__ModelProto *model = make_model(&w);
    model->opset_import[0]->version = 6;
    build_tensor(&w, model->graph, "two", (const int64_t[]){2}, 1, (const float[]){1, 2}, NULL);
    Onnx__NodeProto *node =
        build_node(&w, model->graph, "Add", "sum", (const char *[]){"result", "two", NULL});
    build_int(&w, node, "broadcast", 1);
    build_int(&w, node, "axis", INT64_MAX);
    build_value(&w, model->graph, true, "sum", image_dims, 4);
    struct file file = pack(&w, model);
    CU_ASSERT_NOT_EQUAL(read_it(file.bytes, file.size, error), GLCNN_SUCCESS);
    glcnn_onnx_destroy(file.bytes);
}

static void opsets_that_are_not_read_are_named(void)
{
    static const int64_t opsets[] = {GLCNN_ONNX_OLDEST_OPSET - 1, GLCNN_ONNX_NEWEST_OPSET + 1, -1};
    for (size_t i = 0; i < 3; i++) {
        struct writer w = {0};
        char error[GLCNN_ERROR_LENGTH] = "";
        Onnx__ModelProto *model = make_model(&w);
        model->opset_import[0]->version = opsets[i];
        struct file file = pack(&w, model);
        CU_ASSERT_EQUAL(read_it(file.bytes, file.size, error), GLCNN_UNSUPPORTED);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "opset"));
        glcnn_onnx_destroy(file.bytes);
    }
}

/* ---- Damaged bytes ---- */

static void files_that_are_cut_off_are_refused(void)
{
    struct writer w = {0};
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = pack(&w, make_model(&w));
    for (size_t size = 0; size < file.size; size++) {
        glcnn_status status = read_it(file.bytes, size, error);
        CU_ASSERT_TRUE(status == GLCNN_MALFORMED_DATA || status == GLCNN_UNSUPPORTED ||
                       (status == GLCNN_SUCCESS && size + 8 > file.size));
    }
    glcnn_onnx_destroy(file.bytes);
}

static void changed_bytes_crash_nothing(void)
{
    struct writer w = {0};
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = pack(&w, make_model(&w));
    uint32_t seed = 1;
    for (size_t i = 0; i < 1500; i++) {
        size_t at = below(&seed, (uint32_t)file.size);
        uint8_t before = file.bytes[at];
        file.bytes[at] = (uint8_t)below(&seed, 256);
        glcnn_status status = read_it(file.bytes, file.size, error);
        CU_ASSERT_TRUE(status == GLCNN_SUCCESS || status == GLCNN_MALFORMED_DATA ||
                       status == GLCNN_UNSUPPORTED || status == GLCNN_LIMIT_EXCEEDED);
        file.bytes[at] = before;
    }
    glcnn_onnx_destroy(file.bytes);
}

/* Graphs within attributes within nodes, each a few bytes, far deeper than a stack. */
static void nesting_is_bounded(void)
{
    static const uint8_t keys[] = {0x0a, 0x2a, 0x32}; /* graph: node, node: attribute, its graph */
    enum { SIZE = 400000 };
    char error[GLCNN_ERROR_LENGTH] = "";
    uint8_t *bytes = malloc(SIZE);
    size_t at = SIZE;
    for (size_t level = 0; at > 40 || level % 3; level++) {
        size_t length = SIZE - at;
        for (size_t k = 0; k < 3; k++)
            bytes[--at] = (uint8_t)(length >> 7 * (2 - k) | (k ? 0x80 : 0));
        bytes[--at] = keys[2 - level % 3];
    }
    size_t length = SIZE - at;
    for (size_t k = 0; k < 3; k++)
        bytes[--at] = (uint8_t)((length >> 7 * (2 - k) & 0x7f) | (k ? 0x80 : 0));
    bytes[--at] = 0x3a; /* model: graph */
    CU_ASSERT_EQUAL(read_it(bytes + at, SIZE - at, error), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "deep"));
    free(bytes);
}

static void arguments_and_paths_are_checked(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *net;
    CU_ASSERT_EQUAL(glcnn_onnx_read(NULL, (const uint8_t *)"", 0, NULL, &net, NULL, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_onnx_read(device, NULL, 0, NULL, &net, NULL, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_onnx_read(device, (const uint8_t *)"", 0, NULL, NULL, NULL, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_onnx_load(device, "/nowhere/model.onnx", NULL, &net, NULL, error),
                    GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/nowhere/model.onnx"));
    CU_ASSERT_PTR_NULL(net);
    CU_ASSERT_EQUAL(glcnn_onnx_load(device, "/", NULL, &net, NULL, error), GLCNN_IO_ERROR);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "not a regular file but a folder"));
    glcnn_onnx_record_destroy(NULL);
    glcnn_onnx_destroy(NULL);
}

static void operators_are_listed_in_order(void)
{
    size_t count = 0;
    for (const char *last = ""; glcnn_onnx_operator(count); last = glcnn_onnx_operator(count++))
        CU_ASSERT_TRUE(strcmp(last, glcnn_onnx_operator(count)) < 0);
    CU_ASSERT_TRUE(count > 60);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(each_wrong_model_has_its_message),
                                        UNIT_TEST(old_axes_are_bounded),
                                        UNIT_TEST(opsets_that_are_not_read_are_named),
                                        UNIT_TEST(files_that_are_cut_off_are_refused),
                                        UNIT_TEST(changed_bytes_crash_nothing),
                                        UNIT_TEST(nesting_is_bounded),
                                        UNIT_TEST(arguments_and_paths_are_checked),
                                        UNIT_TEST(operators_are_listed_in_order),
                                        CU_TEST_INFO_NULL};
    return fixture_run("onnx_hostile", tests, argc, argv);
}
