/* A network that was read from no file as an ONNX model: a row for each kernel that ONNX has an
 * operator for. All values are N,C,H,W; results of one pixel are flattened at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/kernels/arithmetic.h>
#include <glcnn/kernels/batch_normalization.h>
#include <glcnn/kernels/convolution.h>
#include <glcnn/kernels/neuron.h>
#include <glcnn/kernels/pooling.h>

#include "onnx/build.h"

enum { MOST_SOURCES = 8, NAME = 300 };

/* An image of the network as a value. */
struct written {
    char name[NAME]; /* "": none yet */
    int64_t dims[4];
};

/* A filter that is being written. */
struct filter_call {
    struct writer *writer;
    Onnx__GraphProto *graph;
    glcnn_filter_node *filter;
    glcnn_kernel *kernel;
    const char *label;
    size_t source_count;
    const struct written *sources[MOST_SOURCES];
    struct written *result;
};

static bool refuse(const struct filter_call *c, const char *why)
{
    return onnx_fail(&c->writer->messages, GLCNN_UNSUPPORTED,
                     "filter \"%.80s\" of kernel %s cannot be written as ONNX: %s", c->label,
                     glcnn_kernel_name(c->kernel), why);
}

static bool is_well(const struct filter_call *c)
{
    return c->writer->messages.status == GLCNN_SUCCESS;
}

/* "LABEL.SUFFIX". */
static const char *part_name(const struct filter_call *c, const char *suffix, char name[NAME])
{
    snprintf(name, NAME, "%.250s.%s", c->label, suffix);
    return name;
}

/* ---- Neurons ---- */

static const struct neuron_row {
    glcnn_neuron_type type;
    const char *operator, * a, *b; /* attributes of those numbers; NULL: they must be as follows */
    float fixed_a, fixed_b;
} neuron_rows[] = {
    {GLCNN_NEURON_TYPE_NONE, "Identity", NULL, NULL, 0, 0},
    {GLCNN_NEURON_TYPE_RELU, "LeakyRelu", "alpha", NULL, 0, 0},
    {GLCNN_NEURON_TYPE_SIGMOID, "Sigmoid", NULL, NULL, 0, 0},
    {GLCNN_NEURON_TYPE_HARD_SIGMOID, "HardSigmoid", "alpha", "beta", 0, 0},
    {GLCNN_NEURON_TYPE_TANH, "Tanh", NULL, NULL, 1, 1},
    {GLCNN_NEURON_TYPE_ABSOLUTE, "Abs", NULL, NULL, 0, 0},
    {GLCNN_NEURON_TYPE_SOFT_PLUS, "Softplus", NULL, NULL, 1, 1},
    {GLCNN_NEURON_TYPE_SOFT_SIGN, "Softsign", NULL, NULL, 0, 0},
    {GLCNN_NEURON_TYPE_ELU, "Elu", "alpha", NULL, 0, 0},
};
enum { NEURON_ROWS = sizeof neuron_rows / sizeof *neuron_rows };

static bool write_neuron_of(const struct filter_call *c, const struct glcnn_neuron_descriptor *n,
                            const char *input)
{
    const struct neuron_row *row = neuron_rows;
    while (row < neuron_rows + NEURON_ROWS && row->type != n->type)
        row++;
    if (row == neuron_rows + NEURON_ROWS)
        return refuse(c, "ONNX has no operator for its neuron");
    bool has_numbers = n->type != GLCNN_NEURON_TYPE_NONE && row->fixed_a != 0;
    if (has_numbers && (n->a != row->fixed_a || n->b != row->fixed_b))
        return refuse(c, "its neuron has parameters that ONNX's operator lacks");
    bool is_relu = n->type == GLCNN_NEURON_TYPE_RELU && n->a == 0;
    Onnx__NodeProto *node = build_node(c->writer, c->graph, is_relu ? "Relu" : row->operator,
                                       c->result->name, (const char *[]){input, NULL});
    if (row->a && !is_relu)
        build_float(c->writer, node, row->a, n->a);
    if (row->b)
        build_float(c->writer, node, row->b, n->b);
    return is_well(c);
}

/* A vector that nothing has made yet, as that of a normalisation before its first encode. */
static float *neutral(const struct filter_call *c, const char *vector, size_t count)
{
    bool is_one = strcmp(vector, "gamma") == 0 || strcmp(vector, "variance") == 0;
    float *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = is_one;
    if (!values)
        onnx_no_memory(&c->writer->messages);
    return values;
}

/* The operator of a type with slopes; NULL: it has none. */
static const char *slope_operator(glcnn_neuron_type type)
{
    return type == GLCNN_NEURON_TYPE_PRELU   ? "PRelu"
           : type == GLCNN_NEURON_TYPE_SCALE ? "Mul"
           : type == GLCNN_NEURON_TYPE_SHIFT ? "Add"
                                             : NULL;
}

static bool write_slopes(const struct filter_call *c, const char *operator)
{
    char name[NAME];
    bool shares = glcnn_neuron(c->kernel)->shares_data;
    size_t count = shares ? 1 : (size_t)c->sources[0]->dims[1];
    float *values = glcnn_kernel_has_vector(c->kernel, "neuron_data")
                        ? write_vector(c->writer, c->filter, "neuron_data", &count)
                        : neutral(c, "neuron_data", count);
    const int64_t dims[] = {(int64_t)count, 1, 1};
    if (values)
        build_tensor(c->writer, c->graph, part_name(c, "slope", name), dims, 3, values, NULL);
    free(values);
    build_node(c->writer, c->graph, operator, c->result->name,
               (const char *[]){c->sources[0]->name, name, NULL});
    return is_well(c);
}

static bool write_neuron(const struct filter_call *c)
{
    const char *operator= slope_operator(glcnn_neuron(c->kernel)->neuron.type);
    if (operator)
        return write_slopes(c, operator);
    return write_neuron_of(c, &glcnn_neuron(c->kernel)->neuron, c->sources[0]->name);
}

/* What a node writes whose neuron, if it has one, makes the result. */
static const char *before_neuron(const struct filter_call *c,
                                 const struct glcnn_neuron_descriptor *n, char name[NAME])
{
    return n->type == GLCNN_NEURON_TYPE_NONE ? c->result->name : part_name(c, "linear", name);
}

static bool finish_neuron(const struct filter_call *c, const struct glcnn_neuron_descriptor *n,
                          const char *input)
{
    return is_well(c) && (n->type == GLCNN_NEURON_TYPE_NONE || write_neuron_of(c, n, input));
}

/* ---- Windows ---- */

struct window_pads {
    int64_t before[2], after[2]; /* rows, columns */
};

/* Along one axis: how large the result is, and the pixels that windows read beyond the source. */
static bool axis_pads(const struct filter_call *c, bool vertical, uint32_t window, uint32_t stride,
                      struct window_pads *pads)
{
    const struct glcnn_addressing *p = glcnn_kernel_properties(c->kernel);
    size_t i = vertical ? 0 : 1;
    int64_t size = c->sources[0]->dims[2 + i];
    uint32_t result;
    int32_t offset;
    if (p->padding & GLCNN_PADDING_CUSTOM) {
        pads->before[i] = vertical ? p->pad.top : p->pad.left;
        pads->after[i] = vertical ? p->pad.bottom : p->pad.right;
        int64_t rest = size + pads->before[i] + pads->after[i] - (int64_t)window;
        c->result->dims[2 + i] = rest < 0 ? 0 : rest / stride + 1;
    } else {
        if (glcnn_padding_resolve(p->padding, vertical, (uint32_t)size, window, stride, &result,
                                  &offset) != GLCNN_SUCCESS)
            return refuse(c, "its window does not fit its source");
        c->result->dims[2 + i] = result;
        pads->before[i] = (int64_t)(window / 2) - offset;
        pads->after[i] = (int64_t)(result - 1) * stride + window - size - pads->before[i];
    }
    /* Pixels that are left over behind are left over there too. */
    if (pads->after[i] < 0 && pads->after[i] > -(int64_t)stride)
        pads->after[i] = 0;
    return c->result->dims[2 + i] >= 1 || refuse(c, "its window does not fit its source");
}

static bool find_pads(const struct filter_call *c, struct window_pads *pads)
{
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    return axis_pads(c, false, (s->kernel_width - 1) * s->dilation_rate_x + 1,
                     s->stride_in_pixels_x, pads) &&
           axis_pads(c, true, (s->kernel_height - 1) * s->dilation_rate_y + 1,
                     s->stride_in_pixels_y, pads);
}

/* Pixels that windows leave out in front are cut off before: no window of ONNX begins later. */
static const char *cut_source(const struct filter_call *c, struct window_pads *pads,
                              char name[NAME])
{
    char sizes[NAME];
    int64_t cut[8] = {0};
    if (pads->before[0] >= 0 && pads->before[1] >= 0 && pads->after[0] >= 0 && pads->after[1] >= 0)
        return c->sources[0]->name;
    for (size_t i = 0; i < 2; i++) {
        cut[2 + i] = pads->before[i] < 0 ? pads->before[i] : 0;
        cut[6 + i] = pads->after[i] < 0 ? pads->after[i] : 0;
        pads->before[i] -= cut[2 + i];
        pads->after[i] -= cut[6 + i];
    }
    build_tensor(c->writer, c->graph, part_name(c, "cut", sizes), (const int64_t[]){8}, 1, NULL,
                 cut);
    build_node(c->writer, c->graph, "Pad", part_name(c, "source", name),
               (const char *[]){c->sources[0]->name, sizes, NULL});
    return name;
}

static void add_window(const struct filter_call *c, Onnx__NodeProto *node,
                       const struct window_pads *pads, bool has_dilations)
{
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    const int64_t kernel[] = {s->kernel_height, s->kernel_width};
    const int64_t strides[] = {s->stride_in_pixels_y, s->stride_in_pixels_x};
    const int64_t dilations[] = {s->dilation_rate_y, s->dilation_rate_x};
    const int64_t all[] = {pads->before[0], pads->before[1], pads->after[0], pads->after[1]};
    build_ints(c->writer, node, "kernel_shape", kernel, 2);
    build_ints(c->writer, node, "strides", strides, 2);
    build_ints(c->writer, node, "pads", all, 4);
    if (has_dilations)
        build_ints(c->writer, node, "dilations", dilations, 2);
}

/* ---- Convolution ---- */

/* W[outputs][rows][columns][inputs] as W[outputs][inputs][rows][columns]. */
static bool write_weights(const struct filter_call *c, const char *name, const int64_t dims[4])
{
    size_t count, n = 0;
    float *from = write_vector(c->writer, c->filter, "weights", &count);
    float *to = malloc((count + 1) * sizeof *to);
    if (!from || !to || count != (size_t)(dims[0] * dims[1] * dims[2] * dims[3])) {
        free(from);
        free(to);
        return is_well(c) && onnx_no_memory(&c->writer->messages);
    }
    for (int64_t k = 0; k < dims[0]; k++)
        for (int64_t i = 0; i < dims[1]; i++)
            for (int64_t q = 0; q < dims[2] * dims[3]; q++)
                to[n++] = from[(k * dims[2] * dims[3] + q) * dims[1] + i];
    build_tensor(c->writer, c->graph, name, dims, 4, to, NULL);
    free(from);
    free(to);
    return is_well(c);
}

/* One number for each channel. */
static bool write_plain(const struct filter_call *c, const char *vector, const char *name,
                        int64_t size)
{
    size_t count = (size_t)size;
    float *values = glcnn_kernel_has_vector(c->kernel, vector)
                        ? write_vector(c->writer, c->filter, vector, &count)
                        : neutral(c, vector, count);
    if (values && count == (size_t)size)
        build_tensor(c->writer, c->graph, name, &size, 1, values, NULL);
    else if (values)
        refuse(c, "a vector has another length than its channels");
    free(values);
    return is_well(c);
}

static bool write_convolution(const struct filter_call *c)
{
    const struct glcnn_convolution_parameters *p = glcnn_convolution(c->kernel);
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    bool is_whole = strcmp(glcnn_kernel_name(c->kernel), "fully_connected") == 0;
    struct window_pads pads = {{0, 0}, {0, 0}};
    char weights[NAME], biases[NAME], linear[NAME], cut[NAME];
    int64_t groups = is_whole || p->groups == 0 ? 1 : p->groups;
    const int64_t dims[] = {p->output_feature_channels, c->sources[0]->dims[1] / groups,
                            s->kernel_height, s->kernel_width};
    c->result->dims[1] = p->output_feature_channels;
    c->result->dims[2] = c->result->dims[3] = 1;
    if (p->sub_pixel_scale_factor > 1 || s->edge_mode != GLCNN_EDGE_MODE_ZERO)
        return refuse(c, "it has sub-pixels, or an edge mode other than zero");
    if (!is_whole && !find_pads(c, &pads))
        return false;
    const char *source = cut_source(c, &pads, cut), *name = before_neuron(c, &p->neuron, linear);
    if (!write_weights(c, part_name(c, "weight", weights), dims) ||
        (!p->without_biases && !write_plain(c, "biases", part_name(c, "bias", biases), dims[0])))
        return false;
    Onnx__NodeProto *node =
        build_node(c->writer, c->graph, "Conv", name,
                   (const char *[]){source, weights, p->without_biases ? NULL : biases, NULL});
    add_window(c, node, &pads, true);
    build_int(c->writer, node, "group", groups);
    return finish_neuron(c, &p->neuron, name);
}

/* ---- Pooling ---- */

static bool write_pooling(const struct filter_call *c)
{
    const struct glcnn_addressing *p = glcnn_kernel_properties(c->kernel);
    const struct glcnn_pooling_parameters *zeros = glcnn_pooling(c->kernel);
    const char *kernel = glcnn_kernel_name(c->kernel);
    bool is_max = strcmp(kernel, "pooling_max") == 0;
    bool is_zero = p->primary.edge_mode == GLCNN_EDGE_MODE_ZERO;
    struct window_pads pads;
    char cut[NAME];
    if (!find_pads(c, &pads))
        return false;
    bool is_padded = pads.before[0] || pads.before[1] || pads.after[0] || pads.after[1];
    if ((is_max && is_zero && is_padded) || p->padding & GLCNN_PADDING_EXCLUDE_EDGES ||
        (zeros && (zeros->zero_pad_size_x || zeros->zero_pad_size_y)))
        return refuse(c, "ONNX has no such edge mode");
    const char *source = cut_source(c, &pads, cut);
    Onnx__NodeProto *node = build_node(c->writer, c->graph, is_max ? "MaxPool" : "AveragePool",
                                       c->result->name, (const char *[]){source, NULL});
    add_window(c, node, &pads, false);
    if (!is_max)
        build_int(c->writer, node, "count_include_pad", is_zero);
    return is_well(c);
}

/* ---- Other kernels ---- */

static bool write_batch(const struct filter_call *c)
{
    static const char *const vectors[] = {"gamma", "beta", "mean", "variance"};
    const struct glcnn_batch_normalization_parameters *p = glcnn_batch_normalization(c->kernel);
    char names[4][NAME], linear[NAME];
    for (size_t i = 0; i < 4; i++)
        if (!write_plain(c, vectors[i], part_name(c, vectors[i], names[i]), c->result->dims[1]))
            return false;
    const char *name = before_neuron(c, &p->neuron, linear);
    Onnx__NodeProto *node = build_node(
        c->writer, c->graph, "BatchNormalization", name,
        (const char *[]){c->sources[0]->name, names[0], names[1], names[2], names[3], NULL});
    build_float(c->writer, node, "epsilon", p->epsilon);
    build_float(c->writer, node, "momentum", 1 - p->running_momentum);
    return finish_neuron(c, &p->neuron, name);
}

static bool write_two(const struct filter_call *c)
{
    static const char *const names[][2] = {
        {"add", "Add"}, {"subtract", "Sub"}, {"multiply", "Mul"}, {"divide", "Div"}};
    const struct glcnn_arithmetic_parameters *p = glcnn_arithmetic(c->kernel);
    size_t i = 0;
    while (strcmp(names[i][0], glcnn_kernel_name(c->kernel)) != 0)
        i++;
    if (p->primary_scale != 1 || p->secondary_scale != 1 || p->bias != 0 ||
        p->minimum_value > -3e38f || p->maximum_value < 3e38f)
        return refuse(c, "it has scales, a bias or bounds");
    for (size_t k = 1; k < 4; k++)
        if (c->sources[1]->dims[k] > c->result->dims[k])
            c->result->dims[k] = c->sources[1]->dims[k];
    build_node(c->writer, c->graph, names[i][1], c->result->name,
               (const char *[]){c->sources[0]->name, c->sources[1]->name, NULL});
    return is_well(c);
}

/* Sources begin at multiples of four channels: ONNX's at the end of the one before. */
static bool write_concatenation(const struct filter_call *c)
{
    const char *inputs[MOST_SOURCES + 1] = {NULL};
    c->result->dims[1] = 0;
    for (size_t i = 0; i < c->source_count; i++) {
        inputs[i] = c->sources[i]->name;
        if (c->result->dims[1] % 4)
            return refuse(c, "channels of zeros are left between its sources");
        c->result->dims[1] += c->sources[i]->dims[1];
    }
    build_int(c->writer, build_node(c->writer, c->graph, "Concat", c->result->name, inputs), "axis",
              1);
    return is_well(c);
}

static bool write_soft_max(const struct filter_call *c)
{
    bool is_log = strcmp(glcnn_kernel_name(c->kernel), "log_soft_max") == 0;
    build_int(c->writer,
              build_node(c->writer, c->graph, is_log ? "LogSoftmax" : "Softmax", c->result->name,
                         (const char *[]){c->sources[0]->name, NULL}),
              "axis", 1);
    return is_well(c);
}

/* In inference what it is given. */
static bool write_nothing(const struct filter_call *c)
{
    *c->result = *c->sources[0];
    return true;
}

static const struct kernel_row {
    const char *kernel;
    bool (*write)(const struct filter_call *call);
} kernel_rows[] = {
    {"convolution", write_convolution},
    {"fully_connected", write_convolution},
    {"batch_normalization", write_batch},
    {"neuron", write_neuron},
    {"pooling_max", write_pooling},
    {"pooling_average", write_pooling},
    {"add", write_two},
    {"subtract", write_two},
    {"multiply", write_two},
    {"divide", write_two},
    {"concatenation", write_concatenation},
    {"soft_max", write_soft_max},
    {"log_soft_max", write_soft_max},
    {"dropout", write_nothing},
};
enum { KERNEL_ROWS = sizeof kernel_rows / sizeof *kernel_rows };

/* ---- The network ---- */

/* Written images, by their place in the network. */
struct images {
    struct written *at;
    size_t count;
};

static size_t image_index(const struct writer *w, const struct images *images,
                          const glcnn_image_node *image)
{
    size_t i = 0;
    while (i < images->count && glcnn_network_image(w->network, i) != image)
        i++;
    return i;
}

static bool is_inference(const glcnn_filter_node *filter)
{
    return !glcnn_filter_node_forward(filter, NULL) && !glcnn_filter_node_loss(filter);
}

static bool reads(const glcnn_filter_node *filter, const glcnn_image_node *image)
{
    for (size_t i = 0; i < glcnn_filter_node_source_count(filter); i++)
        if (glcnn_filter_node_source(filter, i) == image)
            return true;
    return false;
}

/* Is the image read in inference? */
static bool is_read(const struct writer *w, const glcnn_image_node *image)
{
    const glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(w->network, i)); i++)
        if (is_inference(filter) && reads(filter, image))
            return true;
    return false;
}

/* What is made of images that are none of inference, as sums of gradients are, is none either. */
static bool write_filter(struct writer *w, Onnx__GraphProto *graph, struct images *images,
                         glcnn_filter_node *filter)
{
    struct filter_call c = {.writer = w,
                            .graph = graph,
                            .filter = filter,
                            .kernel = glcnn_filter_node_kernel(filter),
                            .label = glcnn_filter_node_label(filter),
                            .source_count = glcnn_filter_node_source_count(filter)};
    const struct kernel_row *row = kernel_rows;
    while (row < kernel_rows + KERNEL_ROWS && strcmp(row->kernel, glcnn_kernel_name(c.kernel)) != 0)
        row++;
    for (size_t i = 0; i < c.source_count && i < MOST_SOURCES; i++) {
        c.sources[i] = &images->at[image_index(w, images, glcnn_filter_node_source(filter, i))];
        if (!c.sources[i]->name[0])
            return true;
    }
    c.result = &images->at[image_index(w, images, glcnn_filter_node_result(filter))];
    if (row == kernel_rows + KERNEL_ROWS || c.source_count > MOST_SOURCES)
        return refuse(&c, "ONNX has no operator for it here");
    memcpy(c.result->dims, c.sources[0]->dims, sizeof c.result->dims);
    snprintf(c.result->name, NAME, "%.280s", c.label);
    return row->write(&c);
}

static bool write_inputs(struct writer *w, Onnx__GraphProto *graph, struct images *images,
                         const struct glcnn_onnx_image *inputs, size_t input_count)
{
    size_t k = 0;
    for (size_t i = 0; i < images->count; i++) {
        glcnn_image_node *node = glcnn_network_image(w->network, i);
        if (glcnn_image_node_filter(node) || !is_read(w, node))
            continue;
        if (k == input_count)
            return onnx_fail(&w->messages, GLCNN_INVALID_ARGUMENT,
                             "the network has more inputs than the %zu whose sizes are given",
                             input_count);
        const struct glcnn_onnx_image *given = &inputs[k++];
        const char *name = given->name ? given->name : glcnn_image_node_handle(node);
        struct written *image = &images->at[i];
        *image =
            (struct written){.dims = {1, given->feature_channels, given->height, given->width}};
        if (name && name[0])
            snprintf(image->name, NAME, "%.280s", name);
        else
            snprintf(image->name, NAME, "input_%zu", k);
        build_value(w, graph, false, image->name, image->dims, 4);
    }
    return w->messages.status == GLCNN_SUCCESS;
}

/* Results that nothing reads: N,C where they have one pixel. */
static void write_output(struct writer *w, Onnx__GraphProto *graph, const struct written *image)
{
    char name[NAME];
    bool is_pixel = image->dims[2] == 1 && image->dims[3] == 1;
    snprintf(name, NAME, "%.280s.output", image->name);
    build_node(w, graph, is_pixel ? "Flatten" : "Identity", name,
               (const char *[]){image->name, NULL});
    build_value(w, graph, true, name, image->dims, is_pixel ? 2 : 4);
}

static void write_graph(struct writer *w, Onnx__GraphProto *graph, struct images *images,
                        const struct glcnn_onnx_image *inputs, size_t input_count)
{
    glcnn_filter_node *filter;
    if (!write_inputs(w, graph, images, inputs, input_count))
        return;
    for (size_t i = 0; (filter = glcnn_network_filter(w->network, i)); i++)
        if (is_inference(filter) && !write_filter(w, graph, images, filter))
            return;
    for (size_t i = 0; (filter = glcnn_network_filter(w->network, i)); i++) {
        glcnn_image_node *result = glcnn_filter_node_result(filter);
        const struct written *image = &images->at[image_index(w, images, result)];
        if (is_inference(filter) && image->name[0] && !is_read(w, result))
            write_output(w, graph, image);
    }
}

Onnx__ModelProto *write_network(struct writer *w, const struct glcnn_onnx_image *inputs,
                                size_t input_count)
{
    struct images images = {0};
    while (glcnn_network_image(w->network, images.count))
        images.count++;
    images.at = calloc(images.count + 1, sizeof *images.at);
    Onnx__ModelProto *model = build_model();
    if (!images.at || !model)
        onnx_no_memory(&w->messages);
    else
        write_graph(w, model->graph, &images, inputs, inputs ? input_count : 0);
    free(images.at);
    return model;
}
