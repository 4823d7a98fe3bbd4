/* What the families of kernels share: nodes, initialisers, margins and windows of a filter that is
 * being written. */
#include "onnx/write_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names and failures ---- */

const char *write_name(const struct filter_call *c, const char *word)
{
    return taken_add(c->writer, &c->writer->values, c->label, word);
}

const char *write_refuse(const struct filter_call *c, const char *why)
{
    onnx_fail(&c->writer->messages, GLCNN_UNSUPPORTED,
              "filter \"%.80s\" of kernel %s cannot be written as ONNX: %s", c->label,
              glcnn_kernel_name(c->kernel), why);
    return NULL;
}

bool write_is_well(const struct filter_call *c)
{
    return c->writer->messages.status == GLCNN_SUCCESS;
}

/* ---- Nodes ---- */

/* No label of a filter is the node's name. */
const char *write_node(const struct filter_call *c, const char *operator,
                       const char * const * inputs)
{
    struct writer *w = c->writer;
    const char *name = write_is_well(c) ? write_name(c, operator) : NULL;
    const char *own = name ? taken_add(w, &w->nodes, name, NULL) : NULL;
    Onnx__NodeProto *node = own ? build_node(w, c->graph, operator, name, inputs) : NULL;
    char *copy = node ? strdup(own) : NULL;
    if (!copy) {
        onnx_no_memory(&w->messages);
        return NULL;
    }
    free(node->name);
    node->name = copy;
    return name;
}

const char *write_unary(const struct filter_call *c, const char *operator, const char * x)
{
    return write_node(c, operator,(const char *[]){x, NULL});
}

const char *write_binary(const struct filter_call *c, const char *operator, const char * x,
                         const char *y)
{
    return write_node(c, operator,(const char *[]){x, y, NULL});
}

static Onnx__NodeProto *last_node(const struct filter_call *c)
{
    return write_is_well(c) ? c->graph->node[c->graph->n_node - 1] : NULL;
}

void write_int(const struct filter_call *c, const char *name, int64_t value)
{
    build_int(c->writer, last_node(c), name, value);
}

void write_float(const struct filter_call *c, const char *name, float value)
{
    build_float(c->writer, last_node(c), name, value);
}

void write_text(const struct filter_call *c, const char *name, const char *value)
{
    build_text(c->writer, last_node(c), name, value);
}

void write_ints(const struct filter_call *c, const char *name, const int64_t *values, size_t count)
{
    build_ints(c->writer, last_node(c), name, values, count);
}

/* ---- Initialisers ---- */

static const char *make_tensor(const struct filter_call *c, const char *word, const int64_t *dims,
                               size_t rank, const float *values, const int64_t *wholes)
{
    const char *name = write_is_well(c) ? write_name(c, word) : NULL;
    if (name)
        build_tensor(c->writer, c->graph, name, dims, rank, values, wholes);
    return name;
}

const char *write_tensor(const struct filter_call *c, const char *word, const int64_t *dims,
                         size_t rank, const float *values)
{
    return make_tensor(c, word, dims, rank, values, NULL);
}

const char *write_number(const struct filter_call *c, float value)
{
    return make_tensor(c, "number", NULL, 0, &value, NULL);
}

const char *write_wholes(const struct filter_call *c, const int64_t *values, size_t count)
{
    return make_tensor(c, "sizes", (const int64_t[]){(int64_t)count}, 1, NULL, values);
}

/* A vector that nothing has made yet, as that of a normalisation before its first encode. */
static float *neutral(const struct filter_call *c, const char *vector, size_t count)
{
    static const char *const ones[] = {"gamma", "variance", "deviation"};
    bool is_one = false;
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        is_one = is_one || strcmp(vector, ones[i]) == 0;
    float *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = is_one;
    if (!values)
        onnx_no_memory(&c->writer->messages);
    return values;
}

const char *write_channels(const struct filter_call *c, const char *vector, const char *word,
                           int64_t channels, bool is_image)
{
    const int64_t dims[] = {channels, 1, 1};
    size_t count = (size_t)channels;
    float *values = !write_is_well(c) ? NULL
                    : glcnn_kernel_has_vector(c->kernel, vector)
                        ? write_vector(c->writer, c->filter, vector, &count)
                        : neutral(c, vector, count);
    const char *name = NULL;
    if (values && count != (size_t)channels)
        write_refuse(c, "a vector has another length than its channels");
    else if (values)
        name = write_tensor(c, word, dims, is_image ? 3 : 1, values);
    free(values);
    return name;
}

/* ---- Moves ---- */

const char *write_edge(glcnn_edge_mode mode)
{
    return mode == GLCNN_EDGE_MODE_CLAMP ? "edge" : "constant";
}

static bool is_any(const int64_t *values)
{
    for (size_t i = 0; i < 2 * AXES; i++)
        if (values[i])
            return true;
    return false;
}

static const char *enlarge(const struct filter_call *c, const char *x, const struct margins *m,
                           const int64_t more[2 * AXES])
{
    const char *mode = m->mode ? m->mode : "constant", *sizes = write_wholes(c, more, 2 * AXES);
    const char *constant = m->constant != 0 ? write_number(c, m->constant) : NULL;
    const char *y = write_node(c, "Pad", (const char *[]){x, sizes, constant, NULL});
    write_text(c, "mode", mode);
    return y;
}

static const char *cut(const struct filter_call *c, const char *x, const int64_t fewer[2 * AXES])
{
    static const int64_t axes[] = {C, H, W};
    int64_t starts[3], ends[3];
    for (size_t i = 0; i < 3; i++) {
        starts[i] = fewer[axes[i]];
        ends[i] = fewer[AXES + axes[i]] ? -fewer[AXES + axes[i]] : INT64_MAX;
    }
    return write_node(c, "Slice",
                      (const char *[]){x, write_wholes(c, starts, 3), write_wholes(c, ends, 3),
                                       write_wholes(c, axes, 3), NULL});
}

/* A margin adds pixels or cuts some off. */
static void split_margin(int64_t size, int64_t *more, int64_t *fewer)
{
    *more = size > 0 ? size : 0;
    *fewer = size < 0 ? -size : 0;
}

/* What is cut off may be repeated or mirrored before: it comes last. */
const char *write_margins(const struct filter_call *c, const char *x, const struct margins *m)
{
    int64_t more[2 * AXES], fewer[2 * AXES];
    for (size_t axis = 0; axis < AXES; axis++) {
        split_margin(m->before[axis], &more[axis], &fewer[axis]);
        split_margin(m->after[axis], &more[AXES + axis], &fewer[AXES + axis]);
    }
    if (is_any(more))
        x = enlarge(c, x, m, more);
    return is_any(fewer) ? cut(c, x, fewer) : x;
}

const char *write_reshape(const struct filter_call *c, const char *x, const int64_t *dims,
                          size_t rank)
{
    return write_binary(c, "Reshape", x, write_wholes(c, dims, rank));
}

const char *write_transpose(const struct filter_call *c, const char *x, const int64_t *order,
                            size_t rank)
{
    const char *y = write_unary(c, "Transpose", x);
    write_ints(c, "perm", order, rank);
    return y;
}

/* ---- Windows ---- */

struct walk write_walk(const struct filter_call *c, const int64_t result[2])
{
    const struct glcnn_source_properties *s = &glcnn_kernel_properties(c->kernel)->primary;
    const int64_t offset[] = {s->offset.y, s->offset.x};
    struct walk w = {.kernel = {s->kernel_height, s->kernel_width},
                     .stride = {s->stride_in_pixels_y, s->stride_in_pixels_x},
                     .dilation = {s->dilation_rate_y, s->dilation_rate_x}};
    for (size_t i = 0; i < 2; i++) {
        int64_t window = (w.kernel[i] - 1) * w.dilation[i] + 1;
        w.before[i] = window / 2 - offset[i];
        w.after[i] =
            (result[i] - 1) * w.stride[i] + window - c->sources[0].dims[H + i] - w.before[i];
    }
    return w;
}

const char *write_walked(const struct filter_call *c, const char *x, struct walk *w, bool pads,
                         const char *mode)
{
    struct margins m = {.mode = mode};
    for (size_t i = 0; i < 2; i++) {
        bool is_left_over = w->after[i] < 0 && w->after[i] > -w->stride[i];
        if (pads || w->before[i] < 0)
            m.before[H + i] = w->before[i];
        if (!is_left_over && (pads || w->after[i] < 0))
            m.after[H + i] = w->after[i];
        w->before[i] -= m.before[H + i];
        w->after[i] = is_left_over ? 0 : w->after[i] - m.after[H + i];
    }
    return write_margins(c, x, &m);
}

void write_walk_attributes(const struct filter_call *c, const struct walk *w, bool has_dilations)
{
    const int64_t pads[] = {w->before[0], w->before[1], w->after[0], w->after[1]};
    write_ints(c, "kernel_shape", w->kernel, 2);
    write_ints(c, "strides", w->stride, 2);
    write_ints(c, "pads", pads, 4);
    if (has_dilations)
        write_ints(c, "dilations", w->dilation, 2);
}
