/* Pooling by windows. */
#include <string.h>

#include <glcnn/kernels/pooling.h>

#include "onnx/write_filter.h"

static bool exceeds(const struct walk *w)
{
    for (size_t i = 0; i < 2; i++)
        if (w->before[i] >= w->kernel[i] || w->after[i] >= w->kernel[i])
            return true;
    return false;
}

static bool is_dilated(const struct walk *w)
{
    return w->dilation[0] > 1 || w->dilation[1] > 1;
}

static const char *write_pool(const struct filter_call *c, const char *operator, const char * x,
                              const struct walk *walk)
{
    const char *y = write_unary(c, operator, x);
    write_walk_attributes(c, walk, is_dilated(walk));
    return y;
}

static glcnn_edge_mode edge_of(const struct filter_call *c)
{
    return glcnn_kernel_properties(c->kernel)->primary.edge_mode;
}

/* Pads of MaxPool are less than all numbers: zeros count here, and so does the nearest pixel where a
 * dilated window passes over it. */
static const char *write_max(struct filter_call *c)
{
    struct walk walk = write_walk(c, &c->dims[H]);
    bool counts = edge_of(c) == GLCNN_EDGE_MODE_ZERO || is_dilated(&walk) || exceeds(&walk);
    const char *x = write_walked(c, c->sources[0].name, &walk, counts, write_edge(edge_of(c)));
    return write_pool(c, "MaxPool", x, &walk);
}

static const char *write_l2_norm(struct filter_call *c)
{
    struct walk walk = write_walk(c, &c->dims[H]);
    bool counts = edge_of(c) != GLCNN_EDGE_MODE_ZERO || exceeds(&walk);
    const char *x = write_walked(c, c->sources[0].name, &walk, counts, write_edge(edge_of(c)));
    const char *y = write_pool(c, "LpPool", x, &walk);
    write_int(c, "p", 2);
    return y;
}

/* Zeros on each side that count, where others beyond the source do not. */
static void counted_zeros(const struct filter_call *c, const struct walk *w, int64_t zeros[2])
{
    const struct glcnn_pooling_parameters *p = glcnn_pooling(c->kernel);
    bool excludes = glcnn_kernel_properties(c->kernel)->padding & GLCNN_PADDING_EXCLUDE_EDGES;
    const int64_t given[] = {p->zero_pad_size_y, p->zero_pad_size_x};
    for (size_t i = 0; i < 2; i++)
        zeros[i] = excludes ? w->before[i] > 0 ? w->before[i] : 0 : given[i];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What counts is put around the source; what does not is left to pads. */
static const char *add_counted(const struct filter_call *c, const char *x, struct walk *w)
{
    struct margins m = {.mode = NULL};
    int64_t zeros[2];
    counted_zeros(c, w, zeros);
    for (size_t i = 0; i < 2; i++) {
        if (w->before[i] > 0)
            m.before[H + i] = least(zeros[i], w->before[i]);
        if (w->after[i] > 0)
            m.after[H + i] = least(zeros[i], w->after[i]);
        w->before[i] -= m.before[H + i];
        w->after[i] -= m.after[H + i];
    }
    return write_margins(c, x, &m);
}

static const char *write_average(struct filter_call *c)
{
    struct walk walk = write_walk(c, &c->dims[H]);
    bool excludes = glcnn_kernel_properties(c->kernel)->padding & GLCNN_PADDING_EXCLUDE_EDGES;
    bool is_whole = edge_of(c) == GLCNN_EDGE_MODE_ZERO && !excludes;
    const char *x = c->sources[0].name;
    if (!is_whole)
        x = add_counted(c, x, &walk);
    if (!is_whole && exceeds(&walk))
        return write_refuse(c, "some of its windows have no pixel, whose mean is 0 here and not "
                               "a number there");
    x = write_walked(c, x, &walk, is_whole && exceeds(&walk), NULL);
    const char *y = write_pool(c, "AveragePool", x, &walk);
    write_int(c, "count_include_pad", is_whole);
    return y;
}

const struct kernel_row write_pooling[] = {
    {"dilated_pooling_max", write_max, BY_WINDOWS, NULL, NULL},
    {"pooling_average", write_average, BY_WINDOWS, NULL, NULL},
    {"pooling_l2_norm", write_l2_norm, BY_WINDOWS, NULL, NULL},
    {"pooling_max", write_max, BY_WINDOWS, NULL, NULL},
    {NULL, NULL, WHOLE, NULL, NULL}};
