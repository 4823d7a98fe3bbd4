/* Convolutions, transposed ones and fully connected layers. */
#include <stdlib.h>

#include <glcnn/kernels/convolution.h>

#include "onnx/write_filter.h"

/* Sizes of weights: outputs and inputs of one group; rows and columns. */
struct weights {
    int64_t groups, outputs, inputs, rows, columns;
};

static struct weights sizes_of(const struct filter_call *c)
{
    const struct glcnn_convolution_parameters *p = glcnn_convolution(c->kernel);
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    int64_t groups = p->groups ? p->groups : 1;
    return (struct weights){groups, p->output_feature_channels / groups,
                            c->sources[0].dims[C] / groups, s->kernel_height, s->kernel_width};
}

/* Element by element of W[outputs][inputs][rows][columns], of ours W[outputs][rows][columns][inputs]. */
static void order_plain(const struct weights *w, const float *from, float *to)
{
    const int64_t taps = w->rows * w->columns;
    for (int64_t k = 0; k < w->groups * w->outputs; k++)
        for (int64_t i = 0; i < w->inputs; i++)
            for (int64_t q = 0; q < taps; q++)
                *to++ = from[(k * taps + q) * w->inputs + i];
}

/* Of W[all inputs][outputs of a group][rows][columns], which is laid over the result, ours is correlated
 * with what is spread out, and so turned about. */
static void order_transposed(const struct weights *w, const float *from, float *to)
{
    const int64_t taps = w->rows * w->columns;
    for (int64_t i = 0; i < w->groups * w->inputs; i++)
        for (int64_t k = 0; k < w->outputs; k++)
            for (int64_t q = 0; q < taps; q++)
                *to++ = from[((i / w->inputs * w->outputs + k) * taps + taps - 1 - q) * w->inputs +
                             i % w->inputs];
}

static const char *write_weights(const struct filter_call *c, const struct weights *w,
                                 bool is_transposed)
{
    const int64_t plain[] = {w->groups * w->outputs, w->inputs, w->rows, w->columns};
    const int64_t transposed[] = {w->groups * w->inputs, w->outputs, w->rows, w->columns};
    size_t count = 0;
    float *from = write_is_well(c) ? write_vector(c->writer, c->filter, "weights", &count) : NULL;
    float *to = malloc((count + 1) * sizeof *to);
    const char *name = NULL;
    if (from && !to)
        onnx_no_memory(&c->writer->messages);
    else if (from && count != (size_t)(plain[0] * plain[1] * plain[2] * plain[3]))
        write_refuse(c, "its weights are not those of its source's channels");
    else if (from) {
        (is_transposed ? order_transposed : order_plain)(w, from, to);
        name = write_tensor(c, "weight", is_transposed ? transposed : plain, 4, to);
    }
    free(from);
    free(to);
    return name;
}

static const char *write_biases(const struct filter_call *c, const struct weights *w)
{
    return glcnn_convolution(c->kernel)->without_biases
               ? NULL
               : write_channels(c, "biases", "bias", w->groups * w->outputs, false);
}

static const char *write_sum(const struct filter_call *c, const char *x, const struct walk *walk,
                             bool is_transposed)
{
    const struct weights w = sizes_of(c);
    const char *weights = write_weights(c, &w, is_transposed), *biases = write_biases(c, &w);
    const char *y = write_node(c, is_transposed ? "ConvTranspose" : "Conv",
                               (const char *[]){x, weights, biases, NULL});
    write_walk_attributes(c, walk, true);
    write_int(c, "group", w.groups);
    return write_fused(c, &glcnn_convolution(c->kernel)->neuron, y, w.groups * w.outputs);
}

static const char *write_plain(struct filter_call *c)
{
    const int64_t scale = glcnn_convolution(c->kernel)->sub_pixel_scale_factor;
    const int64_t block = scale > 1 ? scale : 1, size[] = {c->dims[H] / block, c->dims[W] / block};
    glcnn_edge_mode mode = glcnn_kernel_properties(c->kernel)->primary.edge_mode;
    struct walk walk = write_walk(c, size);
    const char *x =
        write_walked(c, c->sources[0].name, &walk, mode != GLCNN_EDGE_MODE_ZERO, write_edge(mode));
    const char *y = write_sum(c, x, &walk, false);
    if (block == 1)
        return y;
    y = write_unary(c, "DepthToSpace", y);
    write_int(c, "blocksize", block);
    write_text(c, "mode", "DCR");
    return y;
}

/* The window is the source. */
static const char *write_connected(struct filter_call *c)
{
    struct walk walk = {.kernel = {c->sources[0].dims[H], c->sources[0].dims[W]},
                        .stride = {1, 1},
                        .dilation = {1, 1}};
    return write_sum(c, c->sources[0].name, &walk, false);
}

/* Pixels that the result has more in front are those of zeros before the source. */
static void add_zeros(struct walk *w, struct margins *m, size_t i)
{
    int64_t before = w->before[i] < 0 ? (w->stride[i] - 1 - w->before[i]) / w->stride[i] : 0;
    int64_t after = w->after[i] < 0 ? (w->stride[i] - 1 - w->after[i]) / w->stride[i] : 0;
    m->before[H + i] = before;
    m->after[H + i] = after;
    w->before[i] += before * w->stride[i];
    w->after[i] += after * w->stride[i];
}

static const char *write_transposed(struct filter_call *c)
{
    const struct glcnn_addressing *p = glcnn_kernel_properties(c->kernel);
    const int64_t offset[] = {p->kernel_offset_y, p->kernel_offset_x};
    struct walk walk = write_walk(c, &c->dims[H]);
    struct margins margins = {.mode = NULL};
    if (glcnn_filter_node_source_state(c->filter))
        return write_refuse(c, "it takes its size from a convolution; give it a padding instead");
    for (size_t i = 0; i < 2; i++) {
        int64_t window = (walk.kernel[i] - 1) * walk.dilation[i] + 1;
        walk.before[i] = window - 1 + offset[i] - window / 2;
        walk.after[i] = (c->sources[0].dims[H + i] - 1) * walk.stride[i] + window - walk.before[i] -
                        c->dims[H + i];
        add_zeros(&walk, &margins, i);
    }
    return write_sum(c, write_margins(c, c->sources[0].name, &margins), &walk, true);
}

const struct kernel_row write_convolution[] = {
    {"convolution", write_plain, BY_WINDOWS, NULL, NULL},
    {"convolution_transpose", write_transposed, BY_WINDOWS, NULL, NULL},
    {"fully_connected", write_connected, WHOLE, NULL, NULL},
    {NULL, NULL, WHOLE, NULL, NULL}};
