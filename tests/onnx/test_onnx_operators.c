/* Operators that ONNX's test data have no model of, or that are more than their numbers: models put
 * together here, read, executed, compared with the formula, and written down again. */
#include <math.h>

#include "onnx/build.h"
#include "tests/graphs.h"

enum { IMAGES = 2, CHANNELS = 6, ROWS = 3, COLUMNS = 5, PIXELS = ROWS * COLUMNS };
enum { ALL = IMAGES * CHANNELS * PIXELS };

static const int64_t image_dims[] = {IMAGES, CHANNELS, ROWS, COLUMNS};
static const float gamma_numbers[CHANNELS] = {1, -2, 0.5f, 3, 1.5f, -1};
static const float beta_numbers[CHANNELS] = {0, 1, -0.5f, 2, 0.25f, -3};
#define EPSILON 0.01f

/* ---- Models ---- */

struct model {
    glcnn_network *network;
    struct glcnn_onnx_record *record;
    glcnn_status status;
    char error[GLCNN_ERROR_LENGTH];
};

static Onnx__ModelProto *begin_model(struct writer *w)
{
    Onnx__ModelProto *model = build_model();
    model->opset_import[0]->version = 18;
    build_value(w, model->graph, false, "image", image_dims, 4);
    return model;
}

static void add_scales(struct writer *w, Onnx__GraphProto *graph, int64_t count)
{
    build_tensor(w, graph, "gamma", &count, 1, gamma_numbers, NULL);
    build_tensor(w, graph, "beta", &count, 1, beta_numbers, NULL);
}

/* Reads what was put together, whose output is "result". */
static struct model end_model(struct writer *w, Onnx__ModelProto *proto)
{
    struct model m = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    build_value(w, proto->graph, true, "result", image_dims, 4);
    CU_ASSERT_TRUE_FATAL(write_bytes(w, proto, &bytes, &size));
    m.status = glcnn_onnx_read(device, bytes, size, NULL, &m.network, &m.record, m.error);
    onnx__model_proto__free_unpacked(proto, NULL);
    glcnn_onnx_destroy(bytes);
    return m;
}

static void unload(struct model *m)
{
    glcnn_onnx_record_destroy(&m->record);
    glcnn_network_destroy(&m->network);
}

static glcnn_filter_node *find_filter(const struct model *m, const char *label)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(m->network, i)); i++)
        if (strcmp(glcnn_filter_node_label(filter), label) == 0)
            return filter;
    return NULL;
}

/* ---- Results ---- */

static glcnn_image *source(void)
{
    glcnn_image *image = make_image(IMAGES, CHANNELS, ROWS, COLUMNS);
    fill_noise(image, 11);
    return image;
}

static void expect_result(const struct model *m, const float *expected)
{
    CU_ASSERT_EQUAL_FATAL(m->status, GLCNN_SUCCESS);
    glcnn_image_node *result = m->record->outputs[0].node;
    glcnn_graph *graph = graph_of(result);
    glcnn_image *image = source();
    run_graph(graph, &image);
    float *values = result_values(graph, result);
    CU_ASSERT_EQUAL(count_of(glcnn_graph_image(graph, result)), ALL);
    CU_ASSERT_TRUE(arrays_near(values, expected, ALL, 1e-5));
    free(values);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&image);
}

/* The network, with the numbers that its filters have, as a file that is read again. */
static struct model again(const struct model *m)
{
    struct model other = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    GOOD(glcnn_onnx_write(m->network, m->record, NULL, 0, &bytes, &size, other.error));
    other.status =
        glcnn_onnx_read(device, bytes, size, NULL, &other.network, &other.record, other.error);
    glcnn_onnx_destroy(bytes);
    return other;
}

/* What is normalised together: `count` numbers from `from` on, `step` apart. */
static void normalize(float *values, size_t from, size_t count, size_t step)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[from + i * step];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += pow((double)values[from + i * step] - mean, 2);
    double scale = 1 / sqrt(squares / (double)count + (double)EPSILON);
    for (size_t i = 0; i < count; i++)
        values[from + i * step] = (float)(((double)values[from + i * step] - mean) * scale);
}

/* Each number by gamma and beta of its channel's group. */
static void apply_scales(float *values, const float *gamma, const float *beta, size_t groups)
{
    for (size_t i = 0; i < ALL; i++) {
        size_t group = i / PIXELS % CHANNELS / (CHANNELS / groups);
        values[i] = values[i] * gamma[group] + beta[group];
    }
}

static float *source_values(void)
{
    glcnn_image *image = source();
    float *values = read_image(image);
    glcnn_image_destroy(&image);
    return values;
}

/* ---- GroupNormalization ---- */

static struct model group_model(int64_t groups, int64_t numbers)
{
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    add_scales(&w, model->graph, numbers);
    Onnx__NodeProto *node = build_node(&w, model->graph, "GroupNormalization", "result",
                                       (const char *[]){"image", "gamma", "beta", NULL});
    build_float(&w, node, "epsilon", EPSILON);
    build_int(&w, node, "num_groups", groups);
    return end_model(&w, model);
}

static float *group_result(size_t groups, const float *gamma)
{
    float *values = source_values();
    size_t each = CHANNELS / groups * PIXELS;
    for (size_t g = 0; g < IMAGES * groups; g++)
        normalize(values, g * each, each, 1);
    apply_scales(values, gamma, beta_numbers, groups);
    return values;
}

static void groups_of_channels_are_normalised(void)
{
    static const size_t groups[] = {1, 2, 3, CHANNELS};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct model m = group_model((int64_t)groups[i], (int64_t)groups[i]);
        float *expected = group_result(groups[i], gamma_numbers);
        expect_result(&m, expected);
        free(expected);
        unload(&m);
    }
}

static void scales_of_groups_are_trained_and_come_back(void)
{
    static const float trained[] = {4, 5};
    struct model m = group_model(2, 2);
    glcnn_filter_node *filter = find_filter(&m, "result");
    CU_ASSERT_PTR_NOT_NULL_FATAL(filter);
    CU_ASSERT_NOT_EQUAL(glcnn_filter_node_training_style(filter),
                        GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    GOOD(glcnn_kernel_set_vector(glcnn_filter_node_kernel(filter), "gamma", trained, 2));
    struct model other = again(&m);
    float *expected = group_result(2, trained);
    expect_result(&other, expected);
    free(expected);
    unload(&other);
    unload(&m);
}

static void expect_message(struct model m, glcnn_status status, const char *words)
{
    CU_ASSERT_EQUAL(m.status, status);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.error, words));
    if (!strstr(m.error, words))
        printf("\"%s\", not \"%s\"\n", m.error, words);
    unload(&m);
}

static void groups_that_do_not_fit_have_a_message(void)
{
    expect_message(group_model(4, 4), GLCNN_MALFORMED_DATA, "4 groups do not divide 6 channels");
    expect_message(group_model(0, 2), GLCNN_MALFORMED_DATA, "0 groups");
    expect_message(group_model(-1, 2), GLCNN_MALFORMED_DATA, "-1 groups");
    expect_message(group_model(2, 3), GLCNN_UNSUPPORTED, "\"gamma\" has 3 numbers, not 2");
}

/* ---- LayerNormalization ---- */

/* Over the channels of each pixel, as networks of N,C,H,W have it. */
static struct model layer_model(int64_t axis, int64_t numbers)
{
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    Onnx__GraphProto *graph = model->graph;
    add_scales(&w, graph, numbers);
    Onnx__NodeProto *turn =
        build_node(&w, graph, "Transpose", "turned", (const char *[]){"image", NULL});
    build_ints(&w, turn, "perm", (const int64_t[]){0, 2, 3, 1}, 4);
    Onnx__NodeProto *layer =
        build_node(&w, graph, "LayerNormalization", "layer",
                   (const char *[]){"turned", "gamma", numbers > 1 ? "beta" : NULL, NULL});
    build_float(&w, layer, "epsilon", EPSILON);
    build_int(&w, layer, "axis", axis);
    Onnx__NodeProto *back =
        build_node(&w, graph, "Transpose", "result", (const char *[]){"layer", NULL});
    build_ints(&w, back, "perm", (const int64_t[]){0, 3, 1, 2}, 4);
    return end_model(&w, model);
}

static float *layer_result(const float *gamma)
{
    float *values = source_values();
    for (size_t i = 0; i < IMAGES * PIXELS; i++)
        normalize(values, i / PIXELS * CHANNELS * PIXELS + i % PIXELS, CHANNELS, PIXELS);
    apply_scales(values, gamma, beta_numbers, CHANNELS);
    return values;
}

static void channels_of_pixels_are_normalised(void)
{
    struct model m = layer_model(-1, CHANNELS);
    float *expected = layer_result(gamma_numbers);
    expect_result(&m, expected);
    free(expected);
    unload(&m);
}

/* By a filter that has the node's label; the one before it has nothing to train. */
static void scales_of_layers_are_trained_and_come_back(void)
{
    struct model m = layer_model(3, CHANNELS);
    glcnn_filter_node *scales = find_filter(&m, "layer"),
                      *plain = find_filter(&m, "layer/normalize");
    CU_ASSERT_PTR_NOT_NULL_FATAL(scales);
    CU_ASSERT_PTR_NOT_NULL_FATAL(plain);
    CU_ASSERT_EQUAL(glcnn_filter_node_training_style(plain),
                    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    CU_ASSERT_NOT_EQUAL(glcnn_filter_node_training_style(scales),
                        GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    GOOD(glcnn_kernel_set_vector(glcnn_filter_node_kernel(scales), "weights", beta_numbers,
                                 CHANNELS));
    struct model other = again(&m);
    float *expected = layer_result(beta_numbers);
    expect_result(&other, expected);
    free(expected);
    unload(&other);
    unload(&m);
}

static void layers_that_do_not_fit_have_a_message(void)
{
    expect_message(layer_model(7, CHANNELS), GLCNN_MALFORMED_DATA,
                   "its axis is not one of its input");
    expect_message(layer_model(-1, 5), GLCNN_UNSUPPORTED, "\"gamma\" has 5 numbers, not 6");
    expect_message(layer_model(-1, 1), GLCNN_UNSUPPORTED, "\"gamma\" has 1 numbers, not 6");
    expect_message(layer_model(0, CHANNELS), GLCNN_UNSUPPORTED, "over the batch");
}

/* ---- What exporters make of normalisations without an operator of their own ---- */

static Onnx__NodeProto *add_node(struct writer *w, Onnx__GraphProto *graph, const char *operator,
                                 const char * output, const char *first, const char *second)
{
    return build_node(w, graph, operator, output, (const char *[]){first, second, NULL});
}

/* Groups as an instance normalisation of a tensor N,groups,L, then scales of channels. */
static struct model exported_group_model(void)
{
    static const int64_t scales_dims[] = {CHANNELS, 1, 1}, two = 2, three = 3, four = 4;
    static const float ones[] = {1, 1}, zeros[] = {0, 0};
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    Onnx__GraphProto *graph = model->graph;
    build_tensor(&w, graph, "gamma", scales_dims, 3, gamma_numbers, NULL);
    build_tensor(&w, graph, "beta", scales_dims, 3, beta_numbers, NULL);
    build_tensor(&w, graph, "ones", &two, 1, ones, NULL);
    build_tensor(&w, graph, "zeros", &two, 1, zeros, NULL);
    build_tensor(&w, graph, "grouped", &three, 1, NULL, (const int64_t[]){0, 2, -1});
    build_tensor(&w, graph, "whole", &four, 1, NULL, (const int64_t[]){0, CHANNELS, ROWS, COLUMNS});
    add_node(&w, graph, "Reshape", "groups", "image", "grouped");
    Onnx__NodeProto *node = build_node(&w, graph, "InstanceNormalization", "normalized",
                                       (const char *[]){"groups", "ones", "zeros", NULL});
    build_float(&w, node, "epsilon", EPSILON);
    add_node(&w, graph, "Reshape", "channels", "normalized", "whole");
    add_node(&w, graph, "Mul", "scaled", "channels", "gamma");
    add_node(&w, graph, "Add", "result", "scaled", "beta");
    return end_model(&w, model);
}

static void exported_groups_are_read(void)
{
    struct model m = exported_group_model();
    float *expected = source_values();
    for (size_t g = 0; g < IMAGES * 2; g++)
        normalize(expected, g * (ALL / IMAGES / 2), ALL / IMAGES / 2, 1);
    apply_scales(expected, gamma_numbers, beta_numbers, CHANNELS);
    expect_result(&m, expected);
    free(expected);
    unload(&m);
}

/* (x - mean) / sqrt(mean of squares + epsilon), over the last axis of N,H,W,C. */
static struct model exported_layer_model(void)
{
    static const int64_t one = 1;
    static const float two = 2, epsilon = EPSILON;
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    Onnx__GraphProto *graph = model->graph;
    model->opset_import[0]->version = 13;
    add_scales(&w, graph, CHANNELS);
    build_tensor(&w, graph, "two", &one, 0, &two, NULL);
    build_tensor(&w, graph, "epsilon", &one, 0, &epsilon, NULL);
    Onnx__NodeProto *turn = add_node(&w, graph, "Transpose", "x", "image", NULL);
    build_ints(&w, turn, "perm", (const int64_t[]){0, 2, 3, 1}, 4);
    Onnx__NodeProto *mean = add_node(&w, graph, "ReduceMean", "mean", "x", NULL);
    build_ints(&w, mean, "axes", (const int64_t[]){-1}, 1);
    add_node(&w, graph, "Sub", "difference", "x", "mean");
    add_node(&w, graph, "Pow", "square", "difference", "two");
    Onnx__NodeProto *variance = add_node(&w, graph, "ReduceMean", "variance", "square", NULL);
    build_ints(&w, variance, "axes", (const int64_t[]){-1}, 1);
    add_node(&w, graph, "Add", "sum", "variance", "epsilon");
    add_node(&w, graph, "Sqrt", "deviation", "sum", NULL);
    add_node(&w, graph, "Div", "normalized", "difference", "deviation");
    add_node(&w, graph, "Mul", "scaled", "normalized", "gamma");
    add_node(&w, graph, "Add", "shifted", "scaled", "beta");
    Onnx__NodeProto *back = add_node(&w, graph, "Transpose", "result", "shifted", NULL);
    build_ints(&w, back, "perm", (const int64_t[]){0, 3, 1, 2}, 4);
    return end_model(&w, model);
}

static void exported_layers_are_read(void)
{
    struct model m = exported_layer_model();
    if (m.error[0])
        puts(m.error);
    float *expected = layer_result(gamma_numbers);
    expect_result(&m, expected);
    free(expected);
    unload(&m);
}

/* ---- Max and Min ---- */

/* Of the image and as much of another size that a sum of the two would lose the smaller. */
static struct model choice_model(const char *operator)
{
    static const float large = 1e9f;
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    build_tensor(&w, model->graph, "large", (const int64_t[]){1}, 1, &large, NULL);
    build_node(&w, model->graph, "Mul", "product", (const char *[]){"image", "large", NULL});
    build_node(&w, model->graph, operator, "result", (const char *[]){"product", "image", NULL});
    return end_model(&w, model);
}

static void the_larger_or_smaller_is_one_of_the_two(void)
{
    for (int is_most = 0; is_most < 2; is_most++) {
        struct model m = choice_model(is_most ? "Max" : "Min");
        float *expected = source_values();
        for (size_t i = 0; i < ALL; i++)
            if ((expected[i] > 0) == is_most)
                expected[i] *= 1e9f;
        expect_result(&m, expected);
        free(expected);
        unload(&m);
    }
}

/* ---- LRN of an even size ---- */

static struct model response_model(int64_t size)
{
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    Onnx__NodeProto *node =
        build_node(&w, model->graph, "LRN", "result", (const char *[]){"image", NULL});
    build_int(&w, node, "size", size);
    build_float(&w, node, "alpha", 0.5f);
    build_float(&w, node, "beta", 0.75f);
    build_float(&w, node, "bias", 1.5f);
    return end_model(&w, model);
}

/* From floor((size - 1) / 2) channels before to ceil((size - 1) / 2) behind. */
static float *response(int64_t size)
{
    float *from = source_values(), *to = source_values();
    for (int64_t i = 0; i < ALL; i++) {
        double squares = 0;
        int64_t channel = i / PIXELS % CHANNELS;
        for (int64_t c = channel - (size - 1) / 2; c <= channel + size / 2; c++)
            if (c >= 0 && c < CHANNELS)
                squares += pow((double)from[i + (c - channel) * PIXELS], 2);
        to[i] = (float)((double)from[i] / pow(1.5 + 0.5 / (double)size * squares, 0.75));
    }
    free(from);
    return to;
}

static void channels_of_even_windows_are_normalised(void)
{
    for (int64_t size = 1; size < 7; size++) {
        struct model m = response_model(size);
        float *expected = response(size);
        expect_result(&m, expected);
        free(expected);
        unload(&m);
    }
}

/* ---- Gather ---- */

static struct model gather_model(int64_t axis, const int64_t *indices, int64_t count)
{
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    build_tensor(&w, model->graph, "indices", &count, count ? 1 : 0, NULL, indices);
    Onnx__NodeProto *node = build_node(&w, model->graph, "Gather", count ? "result" : "one",
                                       (const char *[]){"image", "indices", NULL});
    build_int(&w, node, "axis", axis);
    if (!count) { /* for all channels again */
        build_tensor(&w, model->graph, "axes", (const int64_t[]){1}, 1, NULL, (const int64_t[]){1});
        build_node(&w, model->graph, "Unsqueeze", "row", (const char *[]){"one", "axes", NULL});
        build_node(&w, model->graph, "Add", "result", (const char *[]){"image", "row", NULL});
    }
    return end_model(&w, model);
}

static void numbers_are_taken_by_their_indices(void)
{
    static const struct {
        int64_t axis, count, indices[CHANNELS];
    } cases[] = {{1, CHANNELS, {3, 1, -2, 1, 5, 0}},
                 {1, CHANNELS, {5, 4, 3, 2, 1, 0}},
                 {2, ROWS, {2, 0, 0}},
                 {-1, COLUMNS, {-1, 3, 2, -4, 0}},
                 {1, 0, {-2}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct model m = gather_model(cases[k].axis, cases[k].indices, cases[k].count);
        float *from = source_values(), *expected = source_values();
        for (int64_t i = 0; i < ALL; i++) {
            int64_t at[] = {i / PIXELS / CHANNELS, i / PIXELS % CHANNELS, i / COLUMNS % ROWS,
                            i % COLUMNS};
            const int64_t axis = cases[k].axis < 0 ? 3 : cases[k].axis;
            const int64_t index = cases[k].indices[cases[k].count ? at[axis] : 0];
            at[axis] = index + (index < 0 ? image_dims[axis] : 0);
            expected[i] = (cases[k].count ? 0 : from[i]) +
                          from[((at[0] * CHANNELS + at[1]) * ROWS + at[2]) * COLUMNS + at[3]];
        }
        expect_result(&m, expected);
        free(from);
        free(expected);
        unload(&m);
    }
}

static void indices_that_are_none_have_a_message(void)
{
    struct model m = gather_model(1, (const int64_t[]){0, CHANNELS, 2}, 3);
    CU_ASSERT_EQUAL(m.status, GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.error, "index 6 is beyond 6"));
    unload(&m);
    m = gather_model(0, (const int64_t[]){0, 0}, 2);
    CU_ASSERT_EQUAL(m.status, GLCNN_UNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(m.error, "batch"));
    unload(&m);
}

/* ---- Clip ---- */

/* Bounds by inputs, or by attributes as opset 6 has them; numbers beyond both become the upper one. */
static void the_upper_bound_counts_last(void)
{
    static const struct {
        float low, high;
    } cases[] = {{-0.25f, 0.5f}, {2, -1}, {0.5f, 0.25f}, {-1, -2}};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        const float low = cases[k / 2].low, high = cases[k / 2].high;
        struct writer w = {0};
        Onnx__ModelProto *model = begin_model(&w);
        model->opset_import[0]->version = k % 2 ? 6 : 18;
        build_tensor(&w, model->graph, "low", NULL, 0, &low, NULL);
        build_tensor(&w, model->graph, "high", NULL, 0, &high, NULL);
        Onnx__NodeProto *node = build_node(&w, model->graph, "Clip", "result",
                                           k % 2 ? (const char *[]){"image", NULL}
                                                 : (const char *[]){"image", "low", "high", NULL});
        if (k % 2) {
            build_float(&w, node, "min", low);
            build_float(&w, node, "max", high);
        }
        struct model m = end_model(&w, model);
        float *expected = source_values();
        for (size_t i = 0; i < ALL; i++)
            expected[i] = fminf(fmaxf(expected[i], low), high);
        expect_result(&m, expected);
        free(expected);
        unload(&m);
    }
}

/* ---- Resize ---- */

/* Of rows and columns, by opset 18's axes and keep_aspect_ratio_policy. */
static const struct resize {
    const char *policy; /* NULL: none is said */
    bool is_linear;
    int64_t axes[2], count, sizes[2]; /* sizes 0: scales */
    float scales[2];
    int64_t rows, columns; /* of the result */
    double by_rows, by_columns;
} resizes[] = {
    {NULL, false, {2, 3}, 2, {6, 8}, {0}, 6, 8, 2, 1.6},
    {NULL, true, {3, 2}, 2, {8, 7}, {0}, 7, 8, 7.0 / 3, 1.6},
    {NULL, true, {-1, 0}, 1, {0}, {1.5f, 0}, 3, 7, 1, 1.5},
    {NULL, false, {2, 0}, 1, {0}, {2.5f, 0}, 7, 5, 2.5, 1},
    {"stretch", true, {2, 3}, 2, {4, 9}, {0}, 4, 9, 4.0 / 3, 1.8},
    {"not_larger", false, {2, 3}, 2, {6, 12}, {0}, 6, 10, 2, 2},
    {"not_smaller", false, {2, 3}, 2, {6, 12}, {0}, 7, 12, 2.4, 2.4},
    {"not_larger", true, {3, 2}, 2, {4, 9}, {0}, 2, 4, 0.8, 0.8},
    {"not_smaller", true, {3, 2}, 2, {4, 9}, {0}, 9, 15, 3, 3},
    {"not_smaller", true, {-2, 0}, 1, {4, 0}, {0}, 4, 5, 4.0 / 3, 1},
};

static struct model resize_model(const struct resize *r)
{
    struct writer w = {0};
    Onnx__ModelProto *model = begin_model(&w);
    bool by_sizes = r->sizes[0] > 0;
    build_tensor(&w, model->graph, "numbers", &r->count, 1, by_sizes ? NULL : r->scales, r->sizes);
    Onnx__NodeProto *node = build_node(&w, model->graph, "Resize", "result",
                                       by_sizes ? (const char *[]){"image", "", "", "numbers", NULL}
                                                : (const char *[]){"image", "", "numbers", NULL});
    build_ints(&w, node, "axes", r->axes, (size_t)r->count);
    build_text(&w, node, "mode", r->is_linear ? "linear" : "nearest");
    if (r->policy)
        build_text(&w, node, "keep_aspect_ratio_policy", r->policy);
    return end_model(&w, model);
}

/* half_pixel, round_prefer_floor: the two pixels that number i lies between and the part of the second. */
static void place_between(const struct resize *r, int64_t i, double scale, int64_t size,
                          int64_t at[2], double *part)
{
    double place = ((double)i + 0.5) / scale - 0.5;
    place = r->is_linear ? place : ceil(place - 0.5);
    place = fmin(fmax(place, 0), (double)(size - 1));
    at[0] = (int64_t)floor(place);
    at[1] = at[0] + 1 < size ? at[0] + 1 : at[0];
    *part = place - floor(place);
}

static double resized(const struct resize *r, const float *plane, int64_t y, int64_t x)
{
    int64_t rows[2], columns[2];
    double down, right;
    place_between(r, y, r->by_rows, ROWS, rows, &down);
    place_between(r, x, r->by_columns, COLUMNS, columns, &right);
    double upper = (1 - right) * (double)plane[rows[0] * COLUMNS + columns[0]] +
                   right * (double)plane[rows[0] * COLUMNS + columns[1]];
    double lower = (1 - right) * (double)plane[rows[1] * COLUMNS + columns[0]] +
                   right * (double)plane[rows[1] * COLUMNS + columns[1]];
    return (1 - down) * upper + down * lower;
}

static void expect_resized(const struct resize *r)
{
    struct model m = resize_model(r);
    CU_ASSERT_EQUAL_FATAL(m.status, GLCNN_SUCCESS);
    const struct glcnn_onnx_image *output = &m.record->outputs[0];
    CU_ASSERT_EQUAL(output->height, r->rows);
    CU_ASSERT_EQUAL(output->width, r->columns);
    glcnn_graph *graph = graph_of(output->node);
    glcnn_image *image = source();
    run_graph(graph, &image);
    float *from = source_values(), *found = result_values(graph, output->node);
    const size_t pixels = (size_t)(r->rows * r->columns), all = IMAGES * CHANNELS * pixels;
    float *expected = malloc(all * sizeof *expected);
    for (size_t i = 0; i < all; i++)
        expected[i] =
            (float)resized(r, from + i / pixels * PIXELS, (int64_t)(i % pixels) / r->columns,
                           (int64_t)(i % pixels) % r->columns);
    CU_ASSERT_EQUAL_FATAL(count_of(glcnn_graph_image(graph, output->node)), all);
    CU_ASSERT_TRUE(arrays_near(found, expected, all, 1e-5));
    free(expected);
    free(found);
    free(from);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&image);
    unload(&m);
}

static void some_axes_are_resized_by_a_policy(void)
{
    for (size_t i = 0; i < sizeof resizes / sizeof *resizes; i++)
        expect_resized(&resizes[i]);
}

static void axes_that_cannot_be_resized_have_a_message(void)
{
    const struct resize twice = {NULL, false, {2, -2}, 2, {6, 8}, {0}, 0, 0, 0, 0},
                        beyond = {NULL, false, {2, 4}, 2, {6, 8}, {0}, 0, 0, 0, 0},
                        batch = {NULL, false, {0, 2}, 2, {0}, {2, 2}, 0, 0, 0, 0},
                        channels = {"not_smaller", false, {1, 2}, 2, {6, 6}, {0}, 0, 0, 0, 0},
                        policy = {"larger", false, {2, 3}, 2, {6, 8}, {0}, 0, 0, 0, 0};
    expect_message(resize_model(&twice), GLCNN_MALFORMED_DATA, "axis -2 appears twice");
    expect_message(resize_model(&beyond), GLCNN_MALFORMED_DATA,
                   "axis 4 appears twice, or does not exist");
    expect_message(resize_model(&batch), GLCNN_UNSUPPORTED, "resizes the batch by 2");
    expect_message(resize_model(&channels), GLCNN_UNSUPPORTED, "other axes than rows and columns");
    expect_message(resize_model(&policy), GLCNN_MALFORMED_DATA,
                   "keep_aspect_ratio_policy is unknown");
}

/* ---- What random graphs found (models/random_graphs.py) ---- */

struct graph_writer {
    struct writer w;
    Onnx__ModelProto *model;
};

static struct graph_writer begin_graph(void)
{
    struct graph_writer g = {0};
    g.model = begin_model(&g.w);
    return g;
}

static void constant_of(struct graph_writer *g, const char *name, int64_t rows, int64_t columns,
                        const float *numbers)
{
    build_tensor(&g->w, g->model->graph, name, (const int64_t[]){rows, columns}, 2, numbers, NULL);
}

static void wholes_of(struct graph_writer *g, const char *name, int64_t count,
                      const int64_t *numbers)
{
    build_tensor(&g->w, g->model->graph, name, &count, 1, NULL, numbers);
}

static Onnx__NodeProto *node_of(struct graph_writer *g, const char *type, const char *result,
                                const char *first, const char *second)
{
    return build_node(&g->w, g->model->graph, type, result, (const char *[]){first, second, NULL});
}

/* The result has its channels, rows and columns as the image has. */
static void give(struct graph_writer *g, const char *from)
{
    build_ints(&g->w, node_of(g, "MaxPool", "result", from, NULL), "kernel_shape",
               (const int64_t[]){1, 1}, 2);
}

/* The model's results are these, of the image's numbers; `expected` is freed. */
static void expect_graph(struct graph_writer *g, float *from, float *expected)
{
    struct model m = end_model(&g->w, g->model);
    expect_result(&m, expected);
    unload(&m);
    free(from);
    free(expected);
}

static float number_at(size_t i)
{
    return (float)((i * 37 + 11) % 29) / 8 - 1.75f;
}

/* Both inputs repeat the same row: so does the result, as often as the longer one. */
static void what_repeats_on_both_sides_repeats_in_the_result(void)
{
    struct graph_writer g = begin_graph();
    float *from = source_values(), *expected = source_values();
    wholes_of(&g, "axes", 1, (const int64_t[]){2});
    wholes_of(&g, "sizes", 4, (const int64_t[]){1, 1, ROWS, 1});
    node_of(&g, "ReduceMax", "row", "image", "axes");
    node_of(&g, "Expand", "rows", "row", "sizes");
    node_of(&g, "Mul", "result", "row", "rows");
    for (size_t i = 0; i < ALL; i++) {
        const float *first = &from[i / PIXELS * PIXELS + i % COLUMNS];
        const float most = fmaxf(fmaxf(first[0], first[COLUMNS]), first[2 * COLUMNS]);
        expected[i] = most * most;
    }
    expect_graph(&g, from, expected);
}

static void slopes_are_of_any_shape(void)
{
    struct graph_writer g = begin_graph();
    float *from = source_values(), *expected = source_values(), slopes[PIXELS];
    for (size_t i = 0; i < PIXELS; i++)
        slopes[i] = number_at(i);
    constant_of(&g, "slopes", ROWS, COLUMNS, slopes);
    node_of(&g, "PRelu", "result", "image", "slopes");
    for (size_t i = 0; i < ALL; i++)
        expected[i] *= from[i] < 0 ? slopes[i % PIXELS] : 1;
    expect_graph(&g, from, expected);
}

/* As PyTorch and ONNX Runtime train them; MPS's own have 1 there. */
static void rectifiers_take_the_left_at_0(void)
{
    static const char *const operators[] = {"Relu", "LeakyRelu", "Elu", "Selu", "PRelu"};
    const float slopes[] = {0.25f};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        struct graph_writer g = begin_graph();
        glcnn_filter_node *filter;
        size_t count = 0;
        double c = 0;
        constant_of(&g, "slope", 1, 1, slopes);
        node_of(&g, operators[i], "result", "image", i == 4 ? "slope" : NULL);
        struct model m = end_model(&g.w, g.model);
        for (size_t k = 0; (filter = glcnn_network_filter(m.network, k)) != NULL; k++)
            if (glcnn_kernel_get(glcnn_filter_node_kernel(filter), "neuron_c", &c) ==
                GLCNN_SUCCESS) {
                CU_ASSERT_EQUAL(c, 1);
                count++;
            }
        CU_ASSERT_EQUAL(count, 1);
        unload(&m);
    }
}

/* One slope is that of every number: of (1, N) too, which has the batch last. */
static void one_slope_is_of_all(void)
{
    struct graph_writer g = begin_graph();
    float *from = source_values(), *expected = source_values();
    constant_of(&g, "slope", 1, 1, (const float[]){0.25f});
    wholes_of(&g, "axes", 3, (const int64_t[]){1, 2, 3});
    wholes_of(&g, "first", 1, (const int64_t[]){0});
    wholes_of(&g, "pixels", 4, (const int64_t[]){-1, 1, 1, 1});
    build_int(&g.w, node_of(&g, "ReduceMin", "least", "image", "axes"), "keepdims", 0);
    node_of(&g, "Unsqueeze", "row", "least", "first");
    node_of(&g, "PRelu", "sloped", "row", "slope");
    node_of(&g, "Reshape", "pixel", "sloped", "pixels");
    node_of(&g, "Add", "result", "image", "pixel");
    for (size_t i = 0; i < ALL; i++) {
        float least = 0;
        for (size_t k = 0; k < CHANNELS * PIXELS; k++)
            least = fminf(least, from[i / (CHANNELS * PIXELS) * CHANNELS * PIXELS + k]);
        expected[i] += 0.25f * least;
    }
    expect_graph(&g, from, expected);
}

/* All but the first and the last channel, and these again by what lies beside them. */
static void channels_are_padded_by_themselves(void)
{
    for (size_t reflects = 0; reflects < 2; reflects++) {
        struct graph_writer g = begin_graph();
        float *from = source_values(), *expected = source_values();
        wholes_of(&g, "indices", 4, (const int64_t[]){1, 2, 3, 4});
        wholes_of(&g, "pads", 8, (const int64_t[]){0, 1, 0, 0, 0, 1, 0, 0});
        build_int(&g.w, node_of(&g, "Gather", "some", "image", "indices"), "axis", 1);
        build_text(&g.w, node_of(&g, "Pad", "padded", "some", "pads"), "mode",
                   reflects ? "reflect" : "edge");
        give(&g, "padded");
        for (size_t i = 0; i < ALL; i++) {
            const size_t c = i / PIXELS % CHANNELS;
            const size_t other = c == 0 ? 1 + reflects : c == 5 ? 4 - reflects : c;
            expected[i] = from[i - c * PIXELS + other * PIXELS];
        }
        expect_graph(&g, from, expected);
    }
}

/* Images of (2, 5, N, 3, 3): channels are what is before the batch. */
static void results_have_the_batch_anywhere(void)
{
    struct graph_writer g = begin_graph();
    float *from = source_values(), *expected = source_values();
    wholes_of(&g, "sizes", 5, (const int64_t[]){-1, 2, 3, ROWS, COLUMNS});
    node_of(&g, "Reshape", "parts", "image", "sizes");
    build_ints(&g.w, node_of(&g, "Transpose", "result", "parts", NULL), "perm",
               (const int64_t[]){1, 4, 0, 3, 2}, 5);
    for (size_t i = 0; i < ALL; i++) {
        const size_t n = i / PIXELS / CHANNELS, part = i / 45 % 2, x = i / 9 % 5, y = i / 3 % 3;
        expected[i] = from[(n * CHANNELS + part * 3 + i % 3) * PIXELS + y * COLUMNS + x];
    }
    expect_graph(&g, from, expected);
}

/* The file has that many images, and no symbol. */
static void fix_batch(Onnx__GraphProto *graph)
{
    Onnx__TensorShapeProto__Dimension *images = graph->input[0]->type->tensor_type->shape->dim[0];
    free(images->dim_param);
    images->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    images->dim_value = IMAGES;
}

/* Its first axis has as many numbers as three batches, and is not of the batch. */
static void matrices_of_einsum_are_not_of_the_batch(void)
{
    struct graph_writer g = begin_graph();
    fix_batch(g.model->graph);
    float *from = source_values(), *expected = source_values(), matrix[CHANNELS * CHANNELS];
    for (size_t i = 0; i < CHANNELS * CHANNELS; i++)
        matrix[i] = number_at(i);
    constant_of(&g, "matrix", CHANNELS, CHANNELS, matrix);
    build_text(&g.w, node_of(&g, "Einsum", "product", "image", "matrix"), "equation",
               "abcd,be->aecd");
    give(&g, "product");
    for (size_t i = 0; i < ALL; i++) {
        const size_t c = i / PIXELS % CHANNELS;
        expected[i] = 0;
        for (size_t k = 0; k < CHANNELS; k++)
            expected[i] += from[i - c * PIXELS + k * PIXELS] * matrix[k * CHANNELS + c];
    }
    expect_graph(&g, from, expected);
}

/* A shape whose axes are not those of the image, nor parts of them. */
static void numbers_move_before_they_are_joined(void)
{
    struct graph_writer g = begin_graph();
    float *from = source_values(), *expected = source_values(), least[10];
    for (size_t i = 0; i < 10; i++)
        least[i] = number_at(i);
    constant_of(&g, "least", 10, 1, least);
    wholes_of(&g, "sizes", 3, (const int64_t[]){-1, 10, 9});
    wholes_of(&g, "again", 4, (const int64_t[]){-1, CHANNELS, ROWS, COLUMNS});
    node_of(&g, "Reshape", "parts", "image", "sizes");
    node_of(&g, "Max", "larger", "parts", "least");
    node_of(&g, "Reshape", "result", "larger", "again");
    for (size_t i = 0; i < ALL; i++)
        expected[i] = fmaxf(from[i], least[i / 9 % 10]);
    expect_graph(&g, from, expected);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(groups_of_channels_are_normalised),
                                        UNIT_TEST(scales_of_groups_are_trained_and_come_back),
                                        UNIT_TEST(groups_that_do_not_fit_have_a_message),
                                        UNIT_TEST(channels_of_pixels_are_normalised),
                                        UNIT_TEST(scales_of_layers_are_trained_and_come_back),
                                        UNIT_TEST(layers_that_do_not_fit_have_a_message),
                                        UNIT_TEST(exported_groups_are_read),
                                        UNIT_TEST(exported_layers_are_read),
                                        UNIT_TEST(the_larger_or_smaller_is_one_of_the_two),
                                        UNIT_TEST(channels_of_even_windows_are_normalised),
                                        UNIT_TEST(numbers_are_taken_by_their_indices),
                                        UNIT_TEST(indices_that_are_none_have_a_message),
                                        UNIT_TEST(the_upper_bound_counts_last),
                                        UNIT_TEST(some_axes_are_resized_by_a_policy),
                                        UNIT_TEST(axes_that_cannot_be_resized_have_a_message),
                                        UNIT_TEST(what_repeats_on_both_sides_repeats_in_the_result),
                                        UNIT_TEST(slopes_are_of_any_shape),
                                        UNIT_TEST(rectifiers_take_the_left_at_0),
                                        UNIT_TEST(one_slope_is_of_all),
                                        UNIT_TEST(channels_are_padded_by_themselves),
                                        UNIT_TEST(results_have_the_batch_anywhere),
                                        UNIT_TEST(matrices_of_einsum_are_not_of_the_batch),
                                        UNIT_TEST(numbers_move_before_they_are_joined),
                                        CU_TEST_INFO_NULL};
    return fixture_run("onnx_operators", tests, argc, argv);
}
