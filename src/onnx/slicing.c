/* Parts of tensors, and tensors put together. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/kernels/axis_concatenation.h>
#include <glcnn/kernels/gather.h>
#include <glcnn/kernels/slice.h>

#include "onnx/blocks.h"
#include "onnx/fold.h"
#include "onnx/moves.h"
#include "onnx/operand.h"

/* Part of each axis of a tensor. */
struct part {
    int64_t start[GLCNN_ONNX_RANK], step[GLCNN_ONNX_RANK];
    struct shape size;
};

static struct part whole(const struct shape *shape)
{
    struct part part = {.size = *shape};
    for (uint32_t i = 0; i < shape->rank; i++)
        part.step[i] = 1;
    return part;
}

static struct constant *cut_constant(struct call *call, const struct constant *x,
                                     const struct part *part)
{
    struct constant *y = constant_make(call->reader, &part->size, x->wholes);
    struct walk w = walk_through(&part->size);
    int64_t stride[GLCNN_ONNX_RANK];
    fold_strides(&x->shape, stride);
    for (uint32_t k = 0; k < w.rank; k++) {
        w.at[0] += part->start[k] * stride[k];
        w.stride[0][k] = part->step[k] * stride[k];
    }
    for (size_t i = 0; y && i < y->count; i++, walk_next(&w))
        constant_copy(y, i, x, (size_t)w.at[0]);
    return y;
}

static bool cut_axis(struct call *call, struct image *image, enum axis axis, int64_t start,
                     int64_t step, int64_t size, const char *suffix)
{
    static const char *const words[AXES] = {[C] = "channel", [H] = "y", [W] = "x"};
    return move_by_name(call, image, "strided_slice", suffix,
                        "start_%s=%" PRId64 " step_%s=%" PRId64 " size_%s=%" PRId64, words[axis],
                        start, words[axis], step, axis == C ? "channels" : words[axis], size);
}

bool move_cut(struct call *call, struct image *image, struct shape *shape, int i, int64_t start,
              int64_t step, int64_t size, const char *suffix)
{
    struct digit slow;
    if (step == 1 && place_find_slow(image, shape, i, &slow)) {
        place_cut_slow(image, shape, i, size);
        shape->dims[i] = size;
        return cut_axis(call, image, (enum axis)slow.axis, start * slow.stride, 1,
                        size * slow.stride, suffix);
    }
    enum axis axis = place_find(image, shape, i);
    if (axis == AXES || axis == N) {
        if (!place_channels(call, image, shape, i, i + 1))
            return false;
        axis = C;
    }
    place_resize(image, shape, i, i + 1, axis, size);
    shape->dims[i] = size;
    return cut_axis(call, image, axis, start, step, size, suffix);
}

static bool give_part(struct call *call, size_t output, const struct value *x,
                      const struct part *part, const char *suffix)
{
    struct image image = x->image;
    struct shape shape = x->shape;
    if (x->constant)
        return op_give_constant(call, output, cut_constant(call, x->constant, part));
    for (uint32_t i = 0; i < shape.rank; i++) {
        bool is_all = part->size.dims[i] == shape.dims[i] && part->step[i] == 1;
        if (part->size.dims[i] < 1)
            return op_unsupported(call, "axis %u would be empty", i);
        if (!is_all && !move_cut(call, &image, &shape, (int)i, part->start[i], part->step[i],
                                 part->size.dims[i], suffix))
            return false;
    }
    return op_give(call, output, &shape, &image);
}

/* ---- Slice ---- */

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* By NumPy's rule; a batch that is open is taken whole, or not at all. */
static bool set_range(struct call *call, struct part *part, int i, const int64_t range[3])
{
    int64_t size = part->size.dims[i], step = range[2];
    int64_t start = range[0] < 0 ? range[0] + size : range[0];
    int64_t end = range[1] < 0 && range[1] > INT64_MIN / 2 ? range[1] + size : range[1];
    if (step == 0 || step > 65535 || step < -65535)
        return op_fail(call, GLCNN_MALFORMED_DATA, "a step of %" PRId64, step);
    start = step > 0 ? clamp(start, 0, size) : clamp(start, -1, size - 1);
    end = step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1);
    int64_t reach = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
    part->start[i] = start;
    part->step[i] = step;
    part->size.dims[i] = reach > 0 ? (reach + stride - 1) / stride : 0;
    return true;
}

static bool slice(struct call *call)
{
    const struct value *x = op_input(call, 0);
    int64_t starts[GLCNN_ONNX_RANK], ends[GLCNN_ONNX_RANK], axes[GLCNN_ONNX_RANK],
        steps[GLCNN_ONNX_RANK];
    size_t count, ends_count, axes_count, steps_count;
    if (!x)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input 0 is missing");
    if (!op_wholes(call, "starts", 1, GLCNN_ONNX_RANK, starts, &count) ||
        !op_wholes(call, "ends", 2, GLCNN_ONNX_RANK, ends, &ends_count) ||
        !op_wholes(call, "axes", 3, GLCNN_ONNX_RANK, axes, &axes_count) ||
        !op_wholes(call, NULL, 4, GLCNN_ONNX_RANK, steps, &steps_count))
        return false;
    if (ends_count != count || (axes_count && axes_count != count) ||
        (steps_count && steps_count != count))
        return op_fail(call, GLCNN_MALFORMED_DATA, "starts, ends, axes and steps differ in number");
    struct part part = whole(&x->shape);
    for (size_t i = 0; i < count; i++) {
        int axis = shape_axis(&x->shape, axes_count ? axes[i] : (int64_t)i);
        if (axis < 0)
            return op_fail(call, GLCNN_MALFORMED_DATA, "it slices an axis that does not exist");
        if (!set_range(call, &part, axis,
                       (const int64_t[]){starts[i], ends[i], steps_count ? steps[i] : 1}))
            return false;
    }
    return give_part(call, 0, x, &part, NULL);
}

/* ---- Split ---- */

static bool split_sizes(struct call *call, int64_t size, int64_t *sizes, size_t outputs)
{
    const struct constant *c = NULL;
    const Onnx__AttributeProto *a = attribute_find(call, "split");
    if (!op_constant(call, 1, false, &c))
        return false;
    size_t given = a ? a->n_ints : c && c->wholes ? c->count : 0;
    int64_t equal = (size + (int64_t)outputs - 1) / (int64_t)outputs, sum = 0;
    if (given && given != outputs)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has %zu sizes for %zu outputs", given,
                       outputs);
    for (size_t i = 0; i < outputs; i++) {
        sizes[i] = !given ? clamp(size - sum, 0, equal) : a ? a->ints[i] : c->wholes[i];
        if (sizes[i] < 0 || sizes[i] > size - sum)
            break;
        sum += sizes[i];
    }
    return sum == size || op_fail(call, GLCNN_MALFORMED_DATA, "its sizes are not all of its axis");
}

enum { MOST_OUTPUTS = 1024 };

static bool split(struct call *call)
{
    const struct value *x = op_input(call, 0);
    int64_t sizes[MOST_OUTPUTS] = {0};
    size_t outputs = call->node->n_output;
    int axis = x ? shape_axis(&x->shape, attribute_int(call, "axis", 0)) : -1;
    if (axis < 0 || outputs == 0 || outputs > MOST_OUTPUTS)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has no input, axis or outputs, or too many");
    if (!split_sizes(call, x->shape.dims[axis], sizes, outputs))
        return false;
    struct part part = whole(&x->shape);
    for (size_t i = 0; i < outputs; i++) {
        part.size.dims[axis] = sizes[i];
        const struct value *output = op_output(call, i);
        if (output && output->is_needed && !give_part(call, i, x, &part, i ? "part" : NULL))
            return false;
        part.start[axis] += sizes[i];
    }
    return true;
}

/* ---- Concat ---- */

static bool fold_concat(struct call *call)
{
    const struct constant *part, *first;
    size_t count = call->node->n_input;
    if (!op_constant(call, 0, true, &first))
        return false;
    struct shape shape = first->shape;
    int axis = shape_axis(&shape, attribute_int(call, "axis", 1));
    if (axis < 0)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis is not one of its inputs'");
    for (size_t i = 1; i < count; i++) {
        if (!op_constant(call, i, true, &part))
            return false;
        struct shape like = part->shape;
        like.dims[axis] = first->shape.dims[axis];
        if (!shape_equal(&like, &first->shape) || !part->floats != !first->floats)
            return op_fail(call, GLCNN_MALFORMED_DATA, "its inputs do not fit together");
        shape.dims[axis] += part->shape.dims[axis];
        if (!shape_check(call->reader, call->node->output[0], &shape))
            return false;
    }
    struct constant *all = constant_make(call->reader, &shape, first->wholes);
    size_t inner = 1, row = 0, at = 0;
    for (uint32_t k = (uint32_t)axis + 1; k < shape.rank; k++)
        inner *= (size_t)shape.dims[k];
    row = inner * (size_t)shape.dims[axis];
    for (size_t i = 0; all && i < count; i++) {
        op_constant(call, i, true, &part);
        size_t own = inner * (size_t)part->shape.dims[axis];
        for (size_t k = 0; k < part->count; k++)
            constant_copy(all, k / own * row + at + k % own, part, k);
        at += own;
    }
    return op_give_constant(call, 0, all);
}

enum { MOST_INPUTS = 64 };

/* Joins images along an axis of theirs; the faster kernel starts sources at multiples of four. */
static bool join(struct call *call, const struct image *images, size_t count, enum axis axis,
                 glcnn_image_node **node)
{
    static const glcnn_axis axes[AXES] = {
        [C] = GLCNN_AXIS_CHANNELS, [H] = GLCNN_AXIS_ROWS, [W] = GLCNN_AXIS_COLUMNS};
    glcnn_image_node *nodes[MOST_INPUTS];
    bool is_whole = axis == C;
    for (size_t i = 0; i < count; i++) {
        nodes[i] = images[i].node;
        is_whole = is_whole && (i + 1 == count || images[i].extent[C] % 4 == 0);
    }
    *node = is_whole ? glcnn_concatenation_node(nodes, count)
                     : glcnn_axis_concatenation_node(nodes, count, axes[axis]);
    return op_made(call, *node, NULL);
}

/* Inputs whose shapes differ only along the axis. */
static bool read_parts(struct call *call, int axis, struct operand parts[MOST_INPUTS],
                       struct shape *all)
{
    const struct shape first = *all;
    all->dims[axis] = 0;
    for (size_t i = 0; i < call->node->n_input; i++) {
        const struct value *x = op_input(call, i);
        if (!x)
            return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu is missing", i);
        struct shape like = x->shape;
        if (axis < (int)like.rank)
            like.dims[axis] = first.dims[axis];
        if (!shape_equal(&like, &first))
            return op_fail(call, GLCNN_MALFORMED_DATA, "its inputs do not fit together");
        parts[i] = operand_of(x);
        all->dims[axis] += x->shape.dims[axis];
    }
    return true;
}

/* The image that has an axis for the tensor's, and room for it; others are put where it is. */
static struct operand *leading_part(struct operand *parts, size_t count, int axis)
{
    struct operand *found = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_image = parts[i].image.node && !view_repeats(&parts[i].image);
        enum axis own = is_image ? place_find(&parts[i].image, &parts[i].shape, axis) : AXES;
        if (own != AXES && own != N)
            return &parts[i];
        if (!found && parts[i].image.node)
            found = &parts[i];
    }
    return found;
}

/* Puts all parts where the leading one is, with as many numbers along the axis as each has. */
static bool place_parts(struct call *call, struct operand *parts, size_t count, int axis,
                        enum axis *along, struct image *result, int64_t total)
{
    struct operand *leading = leading_part(parts, count, axis);
    *along = place_find(&leading->image, &leading->shape, axis);
    if (*along == AXES || *along == N || view_repeats(&leading->image)) {
        if (!place_channels(call, &leading->image, &leading->shape, axis, axis + 1))
            return false;
        *along = C;
    }
    *result = leading->image;
    for (size_t i = 0; i < count; i++) {
        struct image wanted = *result;
        place_resize(&wanted, &leading->shape, axis, axis + 1, *along, parts[i].shape.dims[axis]);
        if (&parts[i] != leading && !operand_place(call, &parts[i], &wanted))
            return false;
    }
    place_resize(result, &leading->shape, axis, axis + 1, *along, total);
    return true;
}

static bool lower_concat(struct call *call)
{
    struct operand parts[MOST_INPUTS];
    struct image images[MOST_INPUTS], result;
    const struct value *x = op_input(call, 0);
    size_t count = call->node->n_input;
    enum axis along;
    if (!x)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input 0 is missing");
    struct shape all = x->shape;
    int axis = shape_axis(&all, attribute_int(call, "axis", 1));
    if (axis < 0 || count > MOST_INPUTS)
        return op_unsupported(call, "its axis is not one of its inputs', or they are too many");
    if (!read_parts(call, axis, parts, &all))
        return false;
    if (count == 1)
        return op_give(call, 0, &all, &parts[0].image);
    if (!place_parts(call, parts, count, axis, &along, &result, all.dims[axis]))
        return false;
    for (size_t i = 0; i < count; i++)
        images[i] = parts[i].image;
    return join(call, images, count, along, &result.node) && op_give(call, 0, &all, &result);
}

/* ---- Gather ---- */

/* An index of a list, from 0 on. */
static int64_t index_at(const struct constant *at, size_t i, int64_t size)
{
    return at->wholes[i] + (at->wholes[i] < 0 ? size : 0);
}

/* The step by which indices follow one another; 0: they do not. One has a step of 1. */
static int64_t step_of(const struct constant *at, int64_t size)
{
    int64_t step = at->count > 1 ? index_at(at, 1, size) - index_at(at, 0, size) : 1;
    for (size_t i = 2; i < at->count; i++)
        if (index_at(at, i, size) - index_at(at, i - 1, size) != step)
            return 0;
    return step;
}

/* The axes of the indices in place of the axis. */
static struct shape gathered_shape(const struct shape *shape, int axis, const struct shape *at)
{
    struct shape result = {.rank = shape->rank + at->rank - 1};
    memcpy(result.dims, shape->dims, (size_t)axis * sizeof *result.dims);
    memcpy(result.dims + axis, at->dims, at->rank * sizeof *result.dims);
    memcpy(result.dims + axis + at->rank, shape->dims + axis + 1,
           (shape->rank - (size_t)axis - 1) * sizeof *result.dims);
    return result;
}

/* Where the number of that row-major index lies, of one image: (channel height + row) width + column. */
static int64_t number_place(const struct image *image, int64_t index)
{
    int64_t place = 0;
    for (uint32_t i = image->digits; i-- > 0;) {
        const struct digit *d = &image->digit[i];
        if (d->axis == N)
            continue;
        place += index % d->size * d->stride * view_step(image, d->axis);
        index /= d->size;
    }
    return place;
}

/* Numbers of one image before the axis, or behind it. */
static int64_t count_beside(const struct shape *shape, int from, int to, const struct image *image,
                            bool has_batch)
{
    return shape_count_between(shape, from, to) / (has_batch ? view_batch(image).images : 1);
}

/* The batch of the result, which the axis is no part of; after 0: there is none. */
static struct batch gathered_batch(const struct image *image, const struct shape *shape, int axis,
                                   int64_t count)
{
    struct batch batch = view_batch(image);
    if (batch.after >= shape_count_between(shape, axis, (int)shape->rank))
        batch.after = batch.after / shape->dims[axis] * count;
    return batch;
}

/* As many rows and columns of textures as any device has: a longer axis becomes two. */
static struct shape folded(const struct shape *shape, int64_t images)
{
    enum { MOST_PIXELS = 2048 };
    struct shape fine = {0};
    for (uint32_t i = 0; i < shape->rank; i++) {
        const int64_t size = shape->dims[i];
        int64_t inner = size > MOST_PIXELS && size % images ? MOST_PIXELS : size;
        while (size % inner)
            inner--;
        if (inner < size && fine.rank + shape->rank - i < GLCNN_ONNX_RANK)
            fine.dims[fine.rank++] = size / inner;
        else
            inner = size;
        fine.dims[fine.rank++] = inner;
    }
    return fine;
}

/* By custom; where that is longer than textures, the last axis is channels, as tables have their columns,
 * and those before it are rows and columns. */
static bool place_gathered(struct call *call, const struct shape *shape, struct batch batch,
                           struct image *image)
{
    const struct shape fine = folded(shape, batch.images > 1 ? batch.images : INT64_MAX);
    uint8_t axis[GLCNN_ONNX_RANK];
    if (shape_equal(&fine, shape) || shape->rank < 2)
        return place_custom_batch(call, shape, batch, image);
    for (uint32_t i = 0; i < fine.rank; i++)
        axis[i] = i + 1 == fine.rank ? C : i + 2 == fine.rank ? W : H;
    return place_arranged(call, &fine, batch, axis, image);
}

enum { MOST_GATHERED = 1 << 24 }; /* numbers that a float counts */

/* Each number of the result by the place that it has in the source. */
static bool gather_numbers(struct call *call, const struct value *x, const struct constant *at,
                           int axis, const struct shape *shape)
{
    const int64_t size = x->shape.dims[axis], count = (int64_t)at->count;
    const int rank = (int)x->shape.rank;
    const struct batch own = view_batch(&x->image);
    const int64_t all_behind = shape_count_between(&x->shape, axis + 1, rank);
    const bool is_behind = own.after && own.after < all_behind;
    const struct batch batch = gathered_batch(&x->image, &x->shape, axis, count);
    struct image result;
    if (own.after >= all_behind && own.after < all_behind * size)
        return op_unsupported(call,
                              "its axis is that of the batch; each image must be independent");
    if (!place_gathered(call, shape, batch, &result))
        return false;
    const int64_t before = count_beside(&x->shape, 0, axis, &x->image, own.after && !is_behind);
    const int64_t behind = count_beside(&x->shape, axis + 1, rank, &x->image, is_behind);
    if (before * behind * (size > count ? size : count) >= MOST_GATHERED)
        return op_unsupported(call, "more than %d numbers of an image are gathered", MOST_GATHERED);
    float *indices = malloc((size_t)(before * behind * count) * sizeof *indices);
    if (!indices)
        return onnx_no_memory(call->reader);
    for (int64_t i = 0; i < before * count * behind; i++) {
        const int64_t from = index_at(at, (size_t)(i / behind % count), size);
        const int64_t source = (i / behind / count * size + from) * behind + i % behind;
        indices[number_place(&result, i)] = (float)number_place(&x->image, source);
    }
    result.node =
        glcnn_gather_node(x->image.node, (uint32_t)result.extent[W], (uint32_t)result.extent[H],
                          (uint32_t)result.extent[C], indices, (size_t)(before * behind * count));
    free(indices);
    return op_made(call, result.node, NULL) && op_give(call, 0, shape, &result);
}

static bool check_indices(struct call *call, const struct value *x, const struct constant *at,
                          int axis)
{
    if (axis < 0 || !at->wholes || !at->count || at->shape.rank + x->shape.rank > GLCNN_ONNX_RANK)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its axis or its indices are invalid");
    for (size_t i = 0; i < at->count; i++)
        if (at->wholes[i] < -x->shape.dims[axis] || at->wholes[i] >= x->shape.dims[axis])
            return op_fail(call, GLCNN_MALFORMED_DATA, "index %" PRId64 " is beyond %" PRId64,
                           at->wholes[i], x->shape.dims[axis]);
    return true;
}

static bool lower_gather(struct call *call)
{
    struct value *x;
    const struct constant *at;
    if (!op_image(call, 0, &x) || !op_constant(call, 1, true, &at))
        return false;
    int axis = shape_axis(&x->shape, attribute_int(call, "axis", 0));
    if (!check_indices(call, x, at, axis))
        return false;
    struct image image = x->image;
    struct shape shape = x->shape, result = gathered_shape(&shape, axis, &at->shape);
    const int64_t size = shape.dims[axis], step = step_of(at, size), count = (int64_t)at->count;
    if (!op_shape(call, &result))
        return false;
    bool is_all = count == size && step == 1;
    if (!is_all && step == 0)
        return gather_numbers(call, x, at, axis, &result);
    return (is_all ||
            move_cut(call, &image, &shape, axis, index_at(at, 0, size), step, count, NULL)) &&
           op_give(call, 0, &result, &image);
}

/* ---- Pad ---- */

/* Axis i becomes the columns: reflections and edges are of rows and columns, not of channels. */
static bool place_columns(struct call *call, struct image *image, const struct shape *shape, int i)
{
    uint8_t axis[GLCNN_ONNX_RANK];
    for (int k = 0; k < (int)shape->rank; k++)
        axis[k] = k == i ? W : k < i ? C : H;
    return place_arrange(call, image, shape, axis);
}

bool move_pad(struct call *call, struct image *image, struct shape *shape, int i,
              const int64_t pads[2], const char *mode, float constant)
{
    static const char *const before[AXES] = {[C] = "front", [H] = "top", [W] = "left"};
    static const char *const after[AXES] = {[C] = "back", [H] = "bottom", [W] = "right"};
    enum axis axis = place_find(image, shape, i);
    if (pads[0] < -65535 || pads[0] > 65535 || pads[1] < -65535 || pads[1] > 65535 ||
        shape->dims[i] + pads[0] + pads[1] < 1)
        return op_fail(call, GLCNN_MALFORMED_DATA, "axis %d is padded by %" PRId64 " and %" PRId64,
                       i, pads[0], pads[1]);
    if (axis == AXES && shape->dims[i] == 1) {
        axis = place_axis(call->reader, shape, i);
        axis = axis < AXES && image->extent[axis] == 1 ? axis : AXES;
    }
    if (axis == N || (axis == AXES && !place_channels(call, image, shape, i, i + 1)))
        return op_unsupported(call, "axis %d is that of the batch", i);
    axis = axis == AXES ? C : axis;
    if (axis == C && strcmp(mode, "constant") != 0) {
        axis = W;
        if (!place_columns(call, image, shape, i))
            return false;
    }
    place_resize(image, shape, i, i + 1, axis, shape->dims[i] + pads[0] + pads[1]);
    shape->dims[i] += pads[0] + pads[1];
    return move_by_name(call, image, "pad", NULL,
                        "%s=%" PRId64 " %s=%" PRId64 " pad_mode=%s pad_constant=%.9g", before[axis],
                        pads[0], after[axis], pads[1], mode, (double)constant);
}

static bool read_pads(struct call *call, uint32_t rank, int64_t pads[2][GLCNN_ONNX_RANK])
{
    int64_t all[2 * GLCNN_ONNX_RANK], axes[GLCNN_ONNX_RANK];
    size_t count, axes_count;
    const struct shape shape = {.rank = rank};
    memset(pads, 0, 2 * sizeof *pads);
    if (!op_wholes(call, "pads", 1, 2 * GLCNN_ONNX_RANK, all, &count) ||
        !op_wholes(call, NULL, 3, GLCNN_ONNX_RANK, axes, &axes_count))
        return false;
    size_t half = count / 2;
    if (count % 2 || half != (axes_count ? axes_count : rank))
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has %zu pads", count);
    for (size_t k = 0; k < half; k++) {
        int axis = shape_axis(&shape, axes_count ? axes[k] : (int64_t)k);
        if (axis < 0)
            return op_fail(call, GLCNN_MALFORMED_DATA, "it pads an axis that does not exist");
        pads[0][axis] = all[k];
        pads[1][axis] = all[half + k];
    }
    return true;
}

static bool lower_pad(struct call *call)
{
    static const char *const modes[][2] = {
        {"constant", "constant"}, {"reflect", "reflect"}, {"edge", "replicate"}};
    int64_t pads[2][GLCNN_ONNX_RANK];
    const struct constant *c = NULL;
    struct value *x;
    size_t mode = 0;
    float constant = attribute_float(call, "value", 0);
    while (mode < 3 && !attribute_is(call, "mode", modes[mode][0], "constant"))
        mode++;
    if (mode == 3)
        return op_unsupported(call, "its mode is not constant, reflect or edge");
    if (!op_image(call, 0, &x) || !op_constant(call, 2, false, &c) ||
        !read_pads(call, x->shape.rank, pads))
        return false;
    constant = c && c->count ? (float)constant_number(c, 0) : constant;
    struct image image = x->image;
    struct shape shape = x->shape;
    for (uint32_t i = 0; i < shape.rank; i++)
        if ((pads[0][i] || pads[1][i]) &&
            !move_pad(call, &image, &shape, (int)i, (const int64_t[]){pads[0][i], pads[1][i]},
                      modes[mode][1], constant))
            return false;
    return op_give(call, 0, &shape, &image);
}

/* ---- Blocks ---- */

bool blocks_read(struct call *call, const struct shape *from, struct blocks *blocks,
                 struct shape *to)
{
    const int64_t size = attribute_int(call, "blocksize", 0);
    const bool to_space = strcmp(call->row->name, "DepthToSpace") == 0;
    if (from->rank != 4 || size < 1 || size > 64 || from->dims[1] > INT32_MAX ||
        (to_space && from->dims[1] % (size * size)) ||
        (!to_space && (from->dims[2] % size || from->dims[3] % size)))
        return op_fail(call, GLCNN_MALFORMED_DATA, "blocks of %" PRId64 " do not divide its input",
                       size);
    *blocks = (struct blocks){size, to_space, attribute_is(call, "mode", "CRD", "DCR")};
    *to = *from;
    to->dims[1] = to_space ? to->dims[1] / (size * size) : to->dims[1] * size * size;
    to->dims[2] = to_space ? to->dims[2] * size : to->dims[2] / size;
    to->dims[3] = to_space ? to->dims[3] * size : to->dims[3] / size;
    return true;
}

static bool lower_blocks(struct call *call)
{
    struct value *x;
    struct blocks b;
    struct shape shape;
    if (!place_input(call, 0, &x) || !blocks_read(call, &x->shape, &b, &shape))
        return false;
    struct image image = x->image;
    return move_by_name(call, &image, call->row->kernel, NULL,
                        "block_size=%" PRId64 " block_order=%s", b.size,
                        b.is_crd ? "crd" : "dcr") &&
           place_give(call, 0, &shape, image.node);
}

const struct operator_row onnx_slicing[] = {
    {"Slice", slice, slice, 0, NULL},
    {"Gather", lower_gather, fold_gather, 0, NULL},
    {"Split", split, split, 0, NULL},
    {"Concat", lower_concat, fold_concat, 0, NULL},
    {"Pad", lower_pad, fold_pad, 0, NULL},
    {"DepthToSpace", lower_blocks, fold_blocks, 0, "depth_to_space"},
    {"SpaceToDepth", lower_blocks, fold_blocks, 0, "space_to_depth"},
    {0}};
