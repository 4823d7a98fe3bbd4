/* Images of numbers of their own, and numbers along axes of a stride each. */
#include <stdio.h>
#include <stdlib.h>

#include "onnx/write_filter.h"

/* ---- Learned images ---- */

/* Ours are [row][column][channel]. */
static const char *write_values(const struct filter_call *c)
{
    const int64_t channels = c->dims[C], pixels = c->dims[H] * c->dims[W];
    size_t count = 0, n = 0;
    float *from = write_vector(c->writer, c->filter, "values", &count);
    float *to = malloc((count + 1) * sizeof *to);
    const char *name = NULL;
    if (from && !to)
        onnx_no_memory(&c->writer->messages);
    else if (from && count != (size_t)(channels * pixels))
        write_refuse(c, "its values are not those of its size");
    else if (from) {
        for (int64_t k = 0; k < channels; k++)
            for (int64_t i = 0; i < pixels; i++)
                to[n++] = from[i * channels + k];
        name = write_tensor(c, "values", (const int64_t[]){1, channels, c->dims[H], c->dims[W]},
                            AXES, to);
    }
    free(from);
    free(to);
    return name;
}

/* As many images as the source has. */
static const char *write_learned(struct filter_call *c)
{
    static const int64_t first[] = {0};
    const char *values = write_values(c), *shape = write_unary(c, "Shape", c->sources[0].name);
    const char *images = write_binary(c, "Gather", shape, write_wholes(c, first, 1));
    const char *sizes = write_binary(c, "Concat", images, write_wholes(c, &c->dims[C], 3));
    write_int(c, "axis", 0);
    return write_binary(c, "Expand", values, sizes);
}

/* ---- Views ---- */

enum { VIEW_AXES = 6, RANK = VIEW_AXES + 2 };

/* The result's axes; those that move in the source are listed by their strides, the largest first. */
struct view {
    int64_t size[VIEW_AXES], stride[VIEW_AXES];
    size_t moving[VIEW_AXES], count;
};

static int64_t setting(const struct filter_call *c, const char *word, size_t axis)
{
    char name[32];
    double value = 0;
    snprintf(name, sizeof name, "%s_%zu", word, axis);
    glcnn_status status = glcnn_kernel_get(c->kernel, name, &value);
    if (status != GLCNN_SUCCESS)
        onnx_fail(&c->writer->messages, status, "%s",
                  glcnn_device_error(glcnn_kernel_device(c->kernel)));
    return (int64_t)value;
}

static struct view read_view(const struct filter_call *c)
{
    struct view v = {.count = 0};
    for (size_t i = 0; i < VIEW_AXES; i++) {
        size_t at = v.count;
        v.size[i] = setting(c, "size", i);
        v.stride[i] = setting(c, "stride", i);
        if (v.size[i] <= 1 || v.stride[i] == 0)
            continue;
        for (; at > 0 && v.stride[v.moving[at - 1]] < v.stride[i]; at--)
            v.moving[at] = v.moving[at - 1];
        v.moving[at] = i;
        v.count++;
    }
    return v;
}

/* The source as axes of which each moving one is a first part; the last is what the least stride passes
 * over. NULL: a stride is no multiple of the next. */
static const char *split_source(const struct filter_call *c, const struct view *v)
{
    const int64_t *source = c->sources[0].dims;
    int64_t left = source[C] * source[H] * source[W], starts[RANK] = {0};
    int64_t dims[RANK] = {0}, ends[RANK] = {INT64_MAX}, axes[RANK] = {0};
    bool is_whole = left == 1;
    for (size_t i = 0; i < v->count; i++) {
        const size_t axis = v->moving[i];
        if (left % v->stride[axis])
            return write_refuse(c, "its strides are not multiples of one another");
        dims[1 + i] = left / v->stride[axis];
        ends[1 + i] = v->size[axis];
        axes[1 + i] = 1 + (int64_t)i;
        left = v->stride[axis];
        is_whole = left == 1;
    }
    for (size_t i = 0; i < v->count; i++)
        is_whole = is_whole && dims[1 + i] == ends[1 + i];
    const size_t rank = v->count + 2;
    dims[rank - 1] = left;
    ends[rank - 1] = 1;
    axes[rank - 1] = (int64_t)rank - 1;
    const char *y = write_reshape(c, c->sources[0].name, dims, rank);
    return is_whole ? y
                    : write_node(c, "Slice",
                                 (const char *[]){y, write_wholes(c, starts, rank),
                                                  write_wholes(c, ends, rank),
                                                  write_wholes(c, axes, rank), NULL});
}

/* The moving axes in the result's order. */
static const char *order_axes(const struct filter_call *c, const struct view *v, const char *x)
{
    int64_t order[RANK] = {0};
    size_t n = 1;
    bool moves = false;
    for (size_t axis = 0; axis < VIEW_AXES; axis++)
        for (size_t i = 0; i < v->count; i++)
            if (v->moving[i] == axis) {
                moves = moves || i + 1 != n;
                order[n++] = (int64_t)i + 1;
            }
    order[n] = (int64_t)n;
    return moves ? write_transpose(c, x, order, n + 1) : x;
}

/* Numbers that are repeated along axes of stride 0. */
static const char *repeat(const struct filter_call *c, const struct view *v, const char *x)
{
    int64_t single[1 + VIEW_AXES] = {0}, all[1 + VIEW_AXES] = {1};
    bool repeats = false;
    for (size_t i = 0; i < VIEW_AXES; i++) {
        all[1 + i] = v->size[i];
        single[1 + i] = v->stride[i] ? v->size[i] : 1;
        repeats = repeats || single[1 + i] != all[1 + i];
    }
    if (!repeats)
        return x;
    return write_binary(c, "Expand", write_reshape(c, x, single, 1 + VIEW_AXES),
                        write_wholes(c, all, 1 + VIEW_AXES));
}

static const char *write_view(struct filter_call *c)
{
    const int64_t shape[] = {0, c->dims[C], c->dims[H], c->dims[W]};
    const struct view v = read_view(c);
    const char *y = split_source(c, &v);
    return write_reshape(c, repeat(c, &v, order_axes(c, &v, y)), shape, AXES);
}

/* ---- Numbers by indices ---- */

static const char *write_indices(const struct filter_call *c)
{
    size_t count = 0;
    float *from = write_vector(c->writer, c->filter, "indices", &count);
    int64_t *to = malloc((count + 1) * sizeof *to);
    const char *name = NULL;
    if (from && !to)
        onnx_no_memory(&c->writer->messages);
    for (size_t i = 0; from && to && i < count; i++)
        to[i] = (int64_t)from[i];
    if (from && to)
        name = write_wholes(c, to, count);
    free(from);
    free(to);
    return name;
}

static const char *write_gather(struct filter_call *c)
{
    const int64_t line[] = {0, -1}, shape[] = {0, c->dims[C], c->dims[H], c->dims[W]};
    const char *x = write_reshape(c, c->sources[0].name, line, 2);
    const char *y = write_binary(c, "Gather", x, write_indices(c));
    write_int(c, "axis", 1);
    return write_reshape(c, y, shape, AXES);
}

const struct kernel_row write_views[] = {{"gather", write_gather, WHOLE, NULL, NULL},
                                         {"learned_image", write_learned, WHOLE, NULL, NULL},
                                         {"strided_view", write_view, WHOLE, NULL, NULL},
                                         {NULL, NULL, WHOLE, NULL, NULL}};
