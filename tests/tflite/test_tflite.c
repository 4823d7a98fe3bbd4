/* .tflite files: the tool's networks as such, read again and trained on; what is refused; bytes that are damaged. What an
 * interpreter of others makes of the files is in test_tfjs.sh. */
#include <glcnn/onnx.h>
#include <glcnn/tflite.h>

#include <math.h>

#include "onnx/build.h"
#include "tests/graphs.h"
#include "task/nets.h"

enum { SIDE = 16, CLASSES = 5, IMAGES = 2 };

struct file {
    uint8_t *bytes;
    size_t size;
};

static const struct glcnn_onnx_image form = {
    .name = "image", .width = SIDE, .height = SIDE, .feature_channels = 3};

/* ---- Conversions that succeed ---- */

static struct file write_onnx(glcnn_network *network, const struct glcnn_onnx_record *record)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {NULL, 0};
    CU_ASSERT_EQUAL_FATAL(glcnn_onnx_write(network, record, record ? NULL : &form, record ? 0 : 1,
                                           &file.bytes, &file.size, error),
                          GLCNN_SUCCESS);
    return file;
}

static struct file make_tflite(struct file onnx, const struct glcnn_tflite_options *options)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {NULL, 0};
    CU_ASSERT_EQUAL(
        glcnn_tflite_from_onnx(onnx.bytes, onnx.size, options, &file.bytes, &file.size, error),
        GLCNN_SUCCESS);
    if (error[0])
        puts(error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file.bytes);
    return file;
}

static struct file make_onnx(struct file tflite)
{
    char error[GLCNN_ERROR_LENGTH] = "", note[GLCNN_ERROR_LENGTH] = "x";
    struct file file = {NULL, 0};
    CU_ASSERT_EQUAL(
        glcnn_tflite_to_onnx(tflite.bytes, tflite.size, &file.bytes, &file.size, note, error),
        GLCNN_SUCCESS);
    if (error[0])
        puts(error);
    CU_ASSERT_STRING_EQUAL(note, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file.bytes);
    return file;
}

/* A network, with or without its record, becomes an ONNX model, and that a file. */
static struct file write_tflite(glcnn_network *network, const struct glcnn_onnx_record *record)
{
    struct file onnx = write_onnx(network, record), file = make_tflite(onnx, NULL);
    glcnn_onnx_destroy(onnx.bytes);
    return file;
}

static glcnn_network *read_tflite(struct file file, struct glcnn_onnx_record **record)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *network = NULL;
    struct file onnx = make_onnx(file);
    CU_ASSERT_EQUAL(glcnn_onnx_read(device, onnx.bytes, onnx.size, NULL, &network, record, error),
                    GLCNN_SUCCESS);
    if (error[0])
        puts(error);
    glcnn_tflite_destroy(onnx.bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(network);
    return network;
}

/* ---- Networks ---- */

static float *scores_of(glcnn_image_node *result)
{
    glcnn_graph *graph = graph_of(result);
    glcnn_image *image = make_image(IMAGES, 3, SIDE, SIDE);
    fill_noise(image, 5);
    run_graph(graph, &image);
    float *values = result_values(graph, result);
    glcnn_image_destroy(&image);
    glcnn_graph_destroy(&graph);
    return values;
}

/* Numbers other than the neutral ones, which batch normalisations would hide behind. */
static void fill_vectors(glcnn_network *network)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    glcnn_filter_node *filter;
    uint32_t seed = 7;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)); i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
            if (!glcnn_kernel_has_vector(kernel, names[k]))
                continue;
            glcnn_buffer *buffer = glcnn_kernel_vector(kernel, names[k]);
            const size_t count = vector_count(buffer);
            float *values = vector_values(buffer);
            for (size_t v = 0; v < count; v++)
                values[v] += 0.2f * (k == 5 ? fabsf(noise(&seed)) : noise(&seed));
            GOOD(glcnn_kernel_set_vector(kernel, names[k], values, count));
            free(values);
        }
}

static glcnn_network *build(const char *name, glcnn_image_node **scores)
{
    glcnn_network *network = make_network();
    *scores =
        net_build(net_find(name), make_input(network, "image"),
                  &(struct form){.width = SIDE, .height = SIDE, .channels = 3, .classes = CLASSES});
    GOOD(glcnn_network_initialise(network, 3));
    free(scores_of(*scores));
    fill_vectors(network);
    return network;
}

static void expect_same(glcnn_image_node *a, glcnn_image_node *b)
{
    float *x = scores_of(a), *y = scores_of(b);
    CU_ASSERT_TRUE(arrays_near(x, y, IMAGES * CLASSES, 1e-5));
    free(x);
    free(y);
}

/* Nodes of an operator in an ONNX model: its name is field 4 of each. */
static size_t count_nodes(struct file file, const char *operator)
{
    const size_t length = strlen(operator);
    size_t count = 0;
    for (size_t i = 0; i + 2 + length <= file.size; i++)
        count += file.bytes[i] == (4 << 3 | 2) && file.bytes[i + 1] == length &&
                 memcmp(file.bytes + i + 2, operator, length) == 0;
    return count;
}

/* ---- Tests ---- */

static void networks_come_back_the_same(void)
{
    static const char *const names[] = {"lenet", "resnet8", "mobilenet-tiny"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        glcnn_image_node *scores;
        struct glcnn_onnx_record *record;
        glcnn_network *network = build(names[i], &scores);
        struct file file = write_tflite(network, NULL);
        CU_ASSERT_EQUAL(memcmp(file.bytes + 4, "TFL3", 4), 0);
        glcnn_network *again = read_tflite(file, &record);
        CU_ASSERT_EQUAL_FATAL(record->output_count, 1);
        CU_ASSERT_EQUAL(record->outputs[0].feature_channels, CLASSES);
        CU_ASSERT_STRING_EQUAL(record->inputs[0].name, "image");
        expect_same(scores, record->outputs[0].node);
        glcnn_tflite_destroy(file.bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_network_destroy(&network);
        glcnn_network_destroy(&again);
    }
}

/* Pictures lie N,H,W,C throughout: the one transposition is that of the input, which ONNX wants. Normalisations are
 * within convolutions. */
static void nothing_moves(void)
{
    glcnn_image_node *scores;
    glcnn_network *network = build("resnet8", &scores);
    struct file file = write_tflite(network, NULL), onnx = make_onnx(file);
    CU_ASSERT_EQUAL(count_nodes(onnx, "Transpose"), 1);
    CU_ASSERT_EQUAL(count_nodes(onnx, "BatchNormalization"), 0);
    CU_ASSERT_EQUAL(count_nodes(onnx, "Conv"), 10);
    CU_ASSERT_EQUAL(count_nodes(onnx, "Mul"), 0);
    glcnn_tflite_destroy(onnx.bytes);
    glcnn_tflite_destroy(file.bytes);
    glcnn_network_destroy(&network);
}

/* A file that was read is written with the weights that the network has since, under the same names. */
static void a_file_is_written_back(void)
{
    glcnn_image_node *scores;
    struct glcnn_onnx_record *record, *second;
    glcnn_network *network = build("lenet", &scores);
    struct file file = write_tflite(network, NULL);
    glcnn_network *read = read_tflite(file, &record);
    CU_ASSERT_TRUE(record->parameter_count >= 8);
    CU_ASSERT_EQUAL(record->frozen_count, 0);
    fill_vectors(read);
    struct file changed = write_tflite(read, record);
    glcnn_network *again = read_tflite(changed, &second);
    CU_ASSERT_STRING_EQUAL(second->outputs[0].name, record->outputs[0].name);
    expect_same(record->outputs[0].node, second->outputs[0].node);
    float *x = scores_of(scores), *y = scores_of(second->outputs[0].node);
    CU_ASSERT_FALSE(arrays_near(x, y, IMAGES * CLASSES, 1e-3));
    free(x);
    free(y);
    glcnn_tflite_destroy(file.bytes);
    glcnn_tflite_destroy(changed.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_onnx_record_destroy(&second);
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&read);
    glcnn_network_destroy(&again);
}

/* The end of a file is an archive whose one file is stored as it is. */
static void labels_stand_at_the_end(void)
{
    static const char *const names[] = {"apple", "pear", "\xc3\xa4"}, *const broken[] = {"a\nb"};
    static const char text[] = "apple\npear\n\xc3\xa4\n";
    glcnn_image_node *scores;
    char error[GLCNN_ERROR_LENGTH];
    uint8_t *bytes;
    size_t size, at = 0;
    glcnn_network *network = build("lenet", &scores);
    struct file onnx = write_onnx(network, NULL);
    struct file plain = make_tflite(onnx, NULL);
    struct file file =
        make_tflite(onnx, &(struct glcnn_tflite_options){.labels = names, .label_count = 3});
    CU_ASSERT_EQUAL_FATAL(memcmp(file.bytes, plain.bytes, plain.size), 0);
    CU_ASSERT_EQUAL(memcmp(file.bytes + plain.size, "PK\3\4", 4), 0);
    CU_ASSERT_EQUAL(memcmp(file.bytes + file.size - 22, "PK\5\6", 4), 0);
    for (size_t i = plain.size; i + sizeof text <= file.size; i++)
        if (memcmp(file.bytes + i, text, sizeof text - 1) == 0)
            at = i;
    CU_ASSERT_TRUE(at > plain.size);
    CU_ASSERT_EQUAL(memcmp(file.bytes + at - 10, "labels.txt", 10), 0);
    struct file again = make_onnx(file); /* what follows the tables is no damage */
    CU_ASSERT_EQUAL(
        glcnn_tflite_from_onnx(onnx.bytes, onnx.size,
                               &(struct glcnn_tflite_options){.labels = broken, .label_count = 1},
                               &bytes, &size, error),
        GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "label 0 has a line break"));
    glcnn_tflite_destroy(again.bytes);
    glcnn_tflite_destroy(file.bytes);
    glcnn_tflite_destroy(plain.bytes);
    glcnn_onnx_destroy(onnx.bytes);
    glcnn_network_destroy(&network);
}

/* What no operator of a .tflite file computes is refused by the node's name. */
static void what_is_not_written_is_named(void)
{
    char error[GLCNN_ERROR_LENGTH];
    uint8_t *bytes;
    size_t size;
    glcnn_network *network = make_network();
    glcnn_image_node *x = make_input(network, "image");
    x = glcnn_matrix_multiplication_node(x, x);
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    glcnn_filter_node_set_label(glcnn_image_node_filter(x), "squared");
    struct file onnx = write_onnx(network, NULL);
    CU_ASSERT_EQUAL(glcnn_tflite_from_onnx(onnx.bytes, onnx.size, NULL, &bytes, &size, error),
                    GLCNN_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "node \"squared\" (MatMul): it multiplies two values"));
    glcnn_onnx_destroy(onnx.bytes);
    glcnn_network_destroy(&network);
}

/* ---- Models that are wrong ---- */

typedef void (*build_wrong)(struct writer *writer, Onnx__GraphProto *graph);

static const int64_t picture_dims[] = {1, 4, 6, 6}, weight_dims[] = {6, 2, 1, 1};
static const float twelve[12] = {1};

/* The input is to have the scale of what quantises it, which is read before any node. */
static void add_scale_of_zero(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "scale", NULL, 0, &(float){0}, NULL);
    build_node(w, graph, "QuantizeLinear", "result", (const char *[]){"image", "scale", NULL});
}

static void add_groups(struct writer *w, Onnx__GraphProto *graph, const char *const *inputs)
{
    build_int(w, build_node(w, graph, "Conv", "result", inputs), "group", 2);
}

static void add_groups_of_computed_weights(struct writer *w, Onnx__GraphProto *graph)
{
    build_value(w, graph, false, "weights", weight_dims, 4);
    build_node(w, graph, "Reshape", "computed", (const char *[]){"weights", "sizes", NULL});
    build_tensor(w, graph, "sizes", &(int64_t){4}, 1, NULL, (const int64_t[]){6, 2, 1, 1});
    Onnx__TensorShapeProto__Dimension *first = graph->input[1]->type->tensor_type->shape->dim[0];
    free(first->dim_param);
    first->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    first->dim_value = 6;
    add_groups(w, graph, (const char *[]){"image", "computed", NULL});
}

static void add_groups_of_one_bias(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "weights", weight_dims, 4, twelve, NULL);
    build_tensor(w, graph, "bias", NULL, 0, twelve, NULL);
    add_groups(w, graph, (const char *[]){"image", "weights", "bias", NULL});
}

static void add_groups_of_no_output(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "weights", (const int64_t[]){0, 2, 1, 1}, 4, twelve, NULL);
    add_groups(w, graph, (const char *[]){"image", "weights", NULL});
}

static void add_too_few_scales(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "weights", (const int64_t[]){3, 4, 1, 1}, 4, twelve, NULL);
    build_tensor(w, graph, "scales", &(int64_t){2}, 1, (const float[]){1, 2}, NULL);
    Onnx__NodeProto *node = build_node(w, graph, "QuantizeLinear", "bytes",
                                       (const char *[]){"weights", "scales", NULL});
    build_int(w, node, "axis", 0);
    build_node(w, graph, "Conv", "result", (const char *[]){"image", "bytes", NULL});
}

static void add_resize_of_nothing(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "nothing", (const int64_t[]){1, 4, 0, 0}, 4, twelve, NULL);
    build_tensor(w, graph, "sizes", &(int64_t){4}, 1, NULL, (const int64_t[]){1, 4, 6, 6});
    build_node(w, graph, "Resize", "large", (const char *[]){"nothing", "", "", "sizes", NULL});
    build_node(w, graph, "Add", "result", (const char *[]){"image", "large", NULL});
}

static void add_resize_without_end(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "scales", &(int64_t){4}, 1, (const float[]){1, 1, INFINITY, 1}, NULL);
    build_node(w, graph, "Resize", "result", (const char *[]){"image", "", "scales", NULL});
}

static void add_resize_by_policy(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "sizes", &(int64_t){4}, 1, NULL, (const int64_t[]){1, 4, 6, 9});
    Onnx__NodeProto *node =
        build_node(w, graph, "Resize", "result", (const char *[]){"image", "", "", "sizes", NULL});
    build_text(w, node, "keep_aspect_ratio_policy", "not_larger");
}

static void add_gather_beyond(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "places", &(int64_t){1}, 1, NULL, (const int64_t[]){6});
    build_int(w,
              build_node(w, graph, "Gather", "result", (const char *[]){"image", "places", NULL}),
              "axis", 2);
}

static struct file build_model_of(build_wrong add)
{
    struct writer w = {0};
    struct file file = {NULL, 0};
    Onnx__ModelProto *model = build_model();
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    build_value(&w, model->graph, false, "image", picture_dims, 4);
    add(&w, model->graph);
    build_value(&w, model->graph, true, "result", picture_dims, 4);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    return file;
}

/* What a node reads is looked at before anything is computed of it. */
static void wrong_models_are_refused(void)
{
    static const struct {
        build_wrong add;
        const char *message;
    } wrong[] = {
        {add_scale_of_zero, "node \"image\" (input): its scale is not above 0"},
        {add_groups_of_computed_weights, "(Conv): its weights must be a constant"},
        {add_groups_of_one_bias, "(Conv): its biases must be constants, one for each of 6 outputs"},
        {add_groups_of_no_output, "(Conv): its weights do not fit to its source's channels"},
        {add_too_few_scales, "(QuantizeLinear): it has 2 scales for 3 places of its axis"},
        {add_resize_of_nothing, "(Resize): it has no source or result, or one of more than"},
        {add_resize_without_end, "(Resize): it has no source or result, or one of more than"},
        {add_resize_by_policy, "(Resize): sizes that keep the ratio of sides are not written"},
        {add_gather_beyond, "(Gather): it has an index beyond its source"}};
    char error[GLCNN_ERROR_LENGTH];
    uint8_t *bytes;
    size_t size;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct file onnx = build_model_of(wrong[i].add);
        CU_ASSERT_EQUAL(glcnn_tflite_from_onnx(onnx.bytes, onnx.size, NULL, &bytes, &size, error),
                        GLCNN_UNSUPPORTED);
        CU_ASSERT_PTR_NULL(bytes);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrong[i].message));
        if (!strstr(error, wrong[i].message))
            puts(error);
        glcnn_tflite_destroy(bytes);
        glcnn_onnx_destroy(onnx.bytes);
    }
}

/* A row of biases is one for each output, whatever axes of one number it has beside. */
static void add_row_of_biases(struct writer *w, Onnx__GraphProto *graph)
{
    build_tensor(w, graph, "matrix", (const int64_t[]){6, 2}, 2, twelve, NULL);
    build_tensor(w, graph, "biases", (const int64_t[]){1, 2}, 2, (const float[]){3, 5}, NULL);
    build_tensor(w, graph, "sizes", &(int64_t){2}, 1, NULL, (const int64_t[]){24, 6});
    build_node(w, graph, "Reshape", "rows", (const char *[]){"image", "sizes", NULL});
    build_node(w, graph, "Gemm", "result", (const char *[]){"rows", "matrix", "biases", NULL});
}

static void biases_may_have_more_axes(void)
{
    struct file onnx = build_model_of(add_row_of_biases), file = make_tflite(onnx, NULL),
                again = make_onnx(file);
    CU_ASSERT_EQUAL(count_nodes(again, "Gemm"), 1);
    glcnn_tflite_destroy(again.bytes);
    glcnn_tflite_destroy(file.bytes);
    glcnn_onnx_destroy(onnx.bytes);
}

/* ---- Pictures of another size ---- */

struct resize_case {
    int64_t opset;
    const char *operator, * mode, *position, *rounding; /* NULL: the operator's own */
    float scale;
};

static struct file build_resize(const struct resize_case *c)
{
    static const int64_t dims[] = {1, 3, SIDE, SIDE};
    const int64_t side = (int64_t)(c->scale * SIDE), result[] = {1, 3, side, side};
    const bool is_new = c->opset > 10;
    struct writer w = {0};
    struct file file = {NULL, 0};
    Onnx__ModelProto *model = build_model();
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    model->opset_import[0]->version = c->opset;
    build_value(&w, model->graph, false, "image", dims, 4);
    build_tensor(&w, model->graph, "scales", &(int64_t){4}, 1,
                 (const float[]){1, 1, c->scale, c->scale}, NULL);
    Onnx__NodeProto *node = build_node(&w, model->graph, c->operator, "result",
                                       is_new ? (const char *[]){"image", "", "scales", NULL}
                                              : (const char *[]){"image", "scales", NULL});
    build_text(&w, node, "mode", c->mode);
    if (c->position)
        build_text(&w, node, "coordinate_transformation_mode", c->position);
    if (c->rounding)
        build_text(&w, node, "nearest_mode", c->rounding);
    build_value(&w, model->graph, true, "result", result, 4);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    return file;
}

/* The pixels of a model are those of its file, also where a position lies between two pixels, as 16 become 24 or 11: an
 * interpreter rounds such another way, so that GATHER takes them. */
static void resizes_take_the_same_pixels(void)
{
    static const struct resize_case cases[] = {
        {9, "Upsample", "nearest", NULL, NULL, 2},
        {10, "Resize", "nearest", NULL, NULL, 1.5f},
        {10, "Resize", "linear", NULL, NULL, 2},
        {14, "Resize", "nearest", NULL, NULL, 1.5f},
        {14, "Resize", "nearest", "half_pixel", "round_prefer_floor", 0.6875f},
        {14, "Resize", "nearest", "half_pixel", "round_prefer_ceil", 1.5f},
        {14, "Resize", "nearest", "asymmetric", "ceil", 1.5f},
        {14, "Resize", "nearest", "align_corners", "floor", 1.5f},
        {14, "Resize", "nearest", "pytorch_half_pixel", "floor", 0.0625f},
        {14, "Resize", "linear", "half_pixel", NULL, 1.5f}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        struct glcnn_onnx_record *record, *other;
        glcnn_network *network;
        struct file onnx = build_resize(&cases[i]), file = make_tflite(onnx, NULL);
        CU_ASSERT_EQUAL_FATAL(
            glcnn_onnx_read(device, onnx.bytes, onnx.size, NULL, &network, &record, error),
            GLCNN_SUCCESS);
        glcnn_network *again = read_tflite(file, &other);
        const size_t side = record->outputs[0].width;
        CU_ASSERT_EQUAL_FATAL(other->outputs[0].width, side);
        float *x = scores_of(record->outputs[0].node), *y = scores_of(other->outputs[0].node);
        CU_ASSERT_TRUE(arrays_near(x, y, IMAGES * 3 * side * side, 1e-6));
        free(x);
        free(y);
        glcnn_onnx_destroy(onnx.bytes);
        glcnn_tflite_destroy(file.bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_onnx_record_destroy(&other);
        glcnn_network_destroy(&network);
        glcnn_network_destroy(&again);
    }
}

/* ---- Metadata ---- */

static void metadata_come_back(void)
{
    static const struct glcnn_onnx_entry entries[] = {{"task", "classify"},
                                                      {"own", "\xc3\xa4 \"quoted\"\n"}};
    char error[GLCNN_ERROR_LENGTH] = "", note[GLCNN_ERROR_LENGTH];
    glcnn_image_node *scores;
    glcnn_network *network = build("lenet", &scores);
    const struct glcnn_onnx_write_options options = {
        .inputs = &form, .input_count = 1, .entries = entries, .entry_count = 2};
    struct file onnx, again;
    struct glcnn_onnx_entry *found;
    size_t count;
    CU_ASSERT_EQUAL_FATAL(glcnn_onnx_write_with(network, &options, &onnx.bytes, &onnx.size, error),
                          GLCNN_SUCCESS);
    struct file file = make_tflite(onnx, NULL);
    again = make_onnx(file);
    CU_ASSERT_EQUAL_FATAL(glcnn_onnx_read_metadata(again.bytes, again.size, &found, &count, error),
                          GLCNN_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    for (size_t i = 0; i < count; i++) {
        const struct glcnn_onnx_entry *wanted = &entries[strcmp(found[i].key, "task") != 0];
        CU_ASSERT_STRING_EQUAL(found[i].key, wanted->key);
        CU_ASSERT_STRING_EQUAL(found[i].value, wanted->value);
    }
    glcnn_onnx_metadata_destroy(found, count);
    glcnn_tflite_destroy(again.bytes);
    /* Bytes that are no text are what other tools have. */
    for (size_t i = 0; i + 8 <= file.size; i++)
        if (memcmp(file.bytes + i, "classify", 8) == 0)
            file.bytes[i] = 0xff;
    CU_ASSERT_EQUAL(
        glcnn_tflite_to_onnx(file.bytes, file.size, &again.bytes, &again.size, note, error),
        GLCNN_SUCCESS);
    CU_ASSERT_STRING_EQUAL(note, "the file's metadata that are no text are left out");
    glcnn_tflite_destroy(again.bytes);
    CU_ASSERT_EQUAL(glcnn_onnx_read_metadata((const uint8_t *)"no model", 8, &found, &count, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NULL(found);
    glcnn_tflite_destroy(file.bytes);
    glcnn_onnx_destroy(onnx.bytes);
    glcnn_network_destroy(&network);
}

/* A failure has a message and no bytes. */
static void expect_no_crash(const uint8_t *data, size_t size)
{
    char error[GLCNN_ERROR_LENGTH] = "", note[GLCNN_ERROR_LENGTH];
    uint8_t *bytes;
    size_t length;
    const glcnn_status status = glcnn_tflite_to_onnx(data, size, &bytes, &length, note, error);
    CU_ASSERT_EQUAL(status == GLCNN_SUCCESS, bytes != NULL);
    CU_ASSERT_TRUE(status == GLCNN_SUCCESS || strlen(error) > 10);
    glcnn_tflite_destroy(bytes);
}

/* Any byte of the tables is another, and the file ends anywhere. */
static void damaged_files_are_refused(void)
{
    glcnn_image_node *scores;
    glcnn_network *network = build("lenet", &scores);
    struct file file = write_tflite(network, NULL);
    char error[GLCNN_ERROR_LENGTH];
    uint8_t *bytes;
    size_t size;
    for (size_t length = 0; length < file.size; length += 1 + length / 16) {
        CU_ASSERT_NOT_EQUAL(glcnn_tflite_to_onnx(file.bytes, length, &bytes, &size, NULL, error),
                            GLCNN_SUCCESS);
        CU_ASSERT_PTR_NULL(bytes);
    }
    uint32_t seed = 3;
    for (size_t i = 0; i < 4000; i++) {
        const size_t at = (size_t)(fabsf(noise(&seed)) * 1e6f) % (i % 2 ? file.size : 4096);
        const uint8_t old = file.bytes[at];
        file.bytes[at] = i % 3 ? (uint8_t)~old : 0xff;
        expect_no_crash(file.bytes, file.size);
        file.bytes[at] = old;
    }
    CU_ASSERT_EQUAL(
        glcnn_tflite_from_onnx((const uint8_t *)"no model", 8, NULL, &bytes, &size, error),
        GLCNN_MALFORMED_DATA);
    CU_ASSERT_EQUAL(glcnn_tflite_to_onnx(file.bytes, file.size, NULL, &size, NULL, error),
                    GLCNN_INVALID_ARGUMENT);
    glcnn_tflite_destroy(file.bytes);
    glcnn_network_destroy(&network);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(networks_come_back_the_same),
                                        UNIT_TEST(nothing_moves),
                                        UNIT_TEST(a_file_is_written_back),
                                        UNIT_TEST(labels_stand_at_the_end),
                                        UNIT_TEST(what_is_not_written_is_named),
                                        UNIT_TEST(wrong_models_are_refused),
                                        UNIT_TEST(biases_may_have_more_axes),
                                        UNIT_TEST(resizes_take_the_same_pixels),
                                        UNIT_TEST(metadata_come_back),
                                        UNIT_TEST(damaged_files_are_refused),
                                        CU_TEST_INFO_NULL};
    return fixture_run("tflite", tests, argc, argv);
}
