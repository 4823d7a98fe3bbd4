/* Where the numbers of a tensor lie in an image. A reshape or a transposition of a tensor leaves them
 * where they are; they are moved when an operator needs them elsewhere. */
#include <string.h>

#include <glcnn/kernels/slice.h>

#include "onnx/moves.h"
#include "onnx/onnx.h"

/* ---- By custom ---- */

/* Axes of the image by axes of the tensor, with a batch; the fifth axis on is rows, the last one
 * columns. */
static enum axis batch_axis(uint32_t rank, uint32_t i)
{
    if (i < 2)
        return i == 0 ? N : C;
    return i + 1 == rank ? W : H;
}

/* Without a batch: from the last axis on W, H, C; what is before them is N. */
static enum axis single_axis(uint32_t rank, uint32_t i)
{
    static const enum axis from_last[] = {W, H, C};
    uint32_t back = rank - 1 - i;
    return back < 3 ? from_last[back] : N;
}

static enum axis axis_of(const struct reader *reader, uint32_t rank, uint32_t i)
{
    return reader->options.without_batch ? single_axis(rank, i) : batch_axis(rank, i);
}

struct image place_custom(const struct reader *reader, const struct shape *shape)
{
    struct image image = {NULL, {1, 1, 1, 1}, {N, C, H, W}};
    for (uint32_t i = 0; i < shape->rank; i++)
        image.extent[axis_of(reader, shape->rank, i)] *= shape->dims[i];
    return image;
}

enum axis place_axis(const struct reader *reader, const struct shape *shape, int i)
{
    enum axis axis = axis_of(reader, shape->rank, (uint32_t)i);
    struct image image = place_custom(reader, shape);
    return image.extent[axis] == shape->dims[i] ? axis : AXES;
}

/* ---- What lies where ---- */

/* Axes with more than one number, from the slowest on. */
struct steps {
    size_t count;
    uint8_t axis[AXES];
    int64_t size[AXES];
};

static struct steps steps_of(const struct image *image)
{
    struct steps s = {0};
    for (size_t i = 0; i < AXES; i++) {
        uint8_t axis = image->order[i];
        if (image->extent[axis] == 1)
            continue;
        s.axis[s.count] = axis;
        s.size[s.count++] = image->extent[axis];
    }
    return s;
}

static bool same_sizes(const struct steps *a, const struct steps *b)
{
    return a->count == b->count && memcmp(a->size, b->size, a->count * sizeof *a->size) == 0;
}

bool place_is(const struct image *image, const struct image *wanted)
{
    struct steps a = steps_of(image), b = steps_of(wanted);
    return same_sizes(&a, &b) && memcmp(a.axis, b.axis, a.count) == 0;
}

/* Takes the batch off, which must lead. */
static bool drop_batch(struct steps *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->axis[i] == N)
            return false;
    if (s->count == 0 || s->axis[0] != N)
        return true;
    s->count--;
    memmove(s->axis, s->axis + 1, s->count);
    memmove(s->size, s->size + 1, s->count * sizeof *s->size);
    return true;
}

/* Orders that reshapes keep. */
static const uint8_t row_major[] = {H, W, C}, channels_first[] = {C, H, W};

static bool follows(const struct steps *s, const uint8_t order[3])
{
    size_t at = 0;
    for (size_t i = 0; i < 3 && at < s->count; i++)
        at += order[i] == s->axis[at];
    return at == s->count;
}

/* ---- Moving ---- */

/* The k-th step of one becomes the axis of the k-th step of the other. */
static bool permute(struct call *call, struct image *image, const uint8_t *from, const uint8_t *to,
                    size_t count)
{
    struct image moved = {NULL, {[N] = image->extent[N], 1, 1, 1}, {N, C, H, W}};
    uint8_t source[AXES] = {N, AXES, AXES, AXES};
    for (size_t k = 0; k < count; k++) {
        moved.extent[to[k]] = image->extent[from[k]];
        moved.order[k + 1] = to[k];
        source[to[k]] = from[k];
    }
    for (uint8_t axis = C; axis < AXES; axis++) /* axes of one number go where there is room */
        for (uint8_t from_axis = C; source[axis] == AXES && from_axis < AXES; from_axis++)
            if (!memchr(source, from_axis, sizeof source))
                source[axis] = from_axis;
    moved.node = move_axes(image->node, source);
    memcpy(image->extent, moved.extent, sizeof moved.extent);
    image->node = moved.node;
    return op_made(call, moved.node, "transpose");
}

static bool reshape(struct call *call, struct image *image, const int64_t extent[AXES],
                    bool is_channels_first)
{
    for (size_t i = C; i < AXES; i++)
        if (extent[i] > INT32_MAX)
            return op_unsupported(call, "an image would have %lld columns, rows or channels",
                                  (long long)extent[i]);
    image->node = glcnn_reshape_node(image->node, (uint32_t)extent[W], (uint32_t)extent[H],
                                     (uint32_t)extent[C]);
    if (!op_made(call, image->node, "reshape"))
        return false;
    glcnn_reshape(glcnn_filter_node_kernel(glcnn_image_node_filter(image->node)))->channels_first =
        is_channels_first;
    return true;
}

/* By way of rows, columns, channels, where the two have other sizes. */
static bool move_reshaped(struct call *call, struct image *image, const struct steps *a,
                          const struct steps *b, const struct image *wanted)
{
    int64_t extent[AXES] = {wanted->extent[N], 1, 1, 1};
    if (follows(a, channels_first) && follows(b, channels_first))
        return reshape(call, image, wanted->extent, true);
    if (!follows(a, row_major) && !permute(call, image, a->axis, row_major, a->count))
        return false;
    if (follows(b, row_major))
        return reshape(call, image, wanted->extent, false);
    for (size_t k = 0; k < b->count; k++)
        extent[row_major[k]] = b->size[k];
    if (!reshape(call, image, extent, false))
        return false;
    memcpy(image->extent, extent, sizeof extent);
    return permute(call, image, row_major, b->axis, b->count);
}

bool place_move(struct call *call, struct image *image, const struct image *wanted)
{
    struct steps a = steps_of(image), b = steps_of(wanted);
    if (!place_is(image, wanted)) {
        if (image->extent[N] != wanted->extent[N] || !drop_batch(&a) || !drop_batch(&b))
            return op_unsupported(call, "numbers would move from one image of a batch to another, "
                                        "or along the batch; each image must be independent");
        bool moved = same_sizes(&a, &b) ? permute(call, image, a.axis, b.axis, a.count)
                                        : move_reshaped(call, image, &a, &b, wanted);
        if (!moved)
            return false;
    }
    memcpy(image->extent, wanted->extent, sizeof image->extent);
    memcpy(image->order, wanted->order, sizeof image->order);
    return true;
}

/* The axis of the image that begins after `before` numbers of the tensor and has `size`. */
static enum axis find_axis(const struct image *image, int64_t before, int64_t size)
{
    int64_t passed = 1;
    for (size_t i = 0; i < AXES; i++) {
        uint8_t axis = image->order[i];
        if (passed == before && image->extent[axis] == size && size != 1)
            return axis;
        passed *= image->extent[axis];
    }
    return AXES;
}

enum axis place_find(const struct image *image, const struct shape *shape, int i)
{
    return find_axis(image, shape_count_between(shape, 0, i), shape->dims[i]);
}

bool place_channels(struct call *call, struct image *image, const struct shape *shape, int from,
                    int to)
{
    int64_t before = shape_count_between(shape, 0, from);
    int64_t size = shape_count_between(shape, from, to);
    int64_t batch = image->extent[N];
    struct image wanted = {NULL, {batch, size, before / batch, 1}, {N, H, C, W}};
    if (size == 1 ? image->extent[C] == 1 : find_axis(image, before, size) == C)
        return true;
    wanted.extent[W] = shape_count_between(shape, to, (int)shape->rank);
    if (before % batch)
        return op_unsupported(call,
                              "its axis is that of the batch; each image must be independent");
    return place_move(call, image, &wanted);
}

bool place_spreads(const struct reader *reader, const struct shape *constant,
                   const struct shape *shape)
{
    struct shape wide = shape_widened(constant, shape->rank);
    struct image place = place_custom(reader, &wide), all = place_custom(reader, shape);
    if (constant->rank > shape->rank)
        return false;
    return shape_count(constant) == 1 || (place.extent[C] == all.extent[C] &&
                                          place.extent[N] * place.extent[H] * place.extent[W] == 1);
}

bool place_input(struct call *call, size_t i, struct value **value)
{
    if (!op_image(call, i, value))
        return false;
    struct image wanted = place_custom(call->reader, &(*value)->shape);
    return place_move(call, &(*value)->image, &wanted);
}

bool place_give(struct call *call, size_t i, const struct shape *shape, glcnn_image_node *node)
{
    struct image image = place_custom(call->reader, shape);
    image.node = node;
    return op_give(call, i, shape, &image);
}
