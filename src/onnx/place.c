/* Where the numbers of a tensor lie in an image. A reshape or a transposition of a tensor leaves them
 * where they are; they are moved when an operator needs them elsewhere. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glcnn/kernels/slice.h>

#include "onnx/moves.h"
#include "onnx/view.h"

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

/* The product of the tensor's axes that are this one of the image. */
static int64_t custom_extent(const struct reader *reader, const struct shape *shape, enum axis axis)
{
    int64_t extent = 1;
    for (uint32_t i = 0; i < shape->rank; i++)
        extent *= axis_of(reader, shape->rank, i) == axis ? shape->dims[i] : 1;
    return extent;
}

static void custom_axes(const struct reader *reader, const struct shape *shape,
                        uint8_t axis[GLCNN_ONNX_RANK])
{
    for (uint32_t i = 0; i < shape->rank; i++) {
        axis[i] = (uint8_t)axis_of(reader, shape->rank, i);
        axis[i] = axis[i] != N ? axis[i] : shape->rank == 2 ? H : C;
    }
}

static struct image custom(const struct reader *reader, const struct shape *shape, int64_t images)
{
    uint8_t axis[GLCNN_ONNX_RANK];
    struct image image;
    custom_axes(reader, shape, axis);
    view_arranged(shape, view_leading_batch(shape, images), axis, &image);
    return image;
}

bool place_arranged(struct call *call, const struct shape *shape, struct batch batch,
                    const uint8_t axis[GLCNN_ONNX_RANK], struct image *image)
{
    return view_arranged(shape, batch, axis, image) ||
           op_unsupported(call, "an axis of its input is that of the batch in part");
}

bool place_custom_batch(struct call *call, const struct shape *shape, struct batch batch,
                        struct image *image)
{
    uint8_t axis[GLCNN_ONNX_RANK];
    custom_axes(call->reader, shape, axis);
    return place_arranged(call, shape, batch, axis, image);
}

struct image place_custom_input(const struct reader *reader, const struct shape *shape)
{
    return custom(reader, shape, custom_extent(reader, shape, N));
}

struct image place_custom(const struct reader *reader, const struct shape *shape)
{
    int64_t first = custom_extent(reader, shape, N);
    bool has_all = !reader->options.without_batch && reader->images && first % reader->images == 0;
    return custom(reader, shape, has_all ? reader->images : first);
}

enum axis place_axis(const struct reader *reader, const struct shape *shape, int i)
{
    enum axis axis = axis_of(reader, shape->rank, (uint32_t)i);
    return custom_extent(reader, shape, axis) == shape->dims[i] ? axis : AXES;
}

/* ---- Moving ---- */

/* The axis of the source that becomes this axis of the result; AXES: it is not one of them, whole. */
static uint8_t source_axis(const struct image *image, const struct image *wanted, uint8_t axis,
                           const struct run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (runs[i].to != view_step(wanted, axis) || runs[i].size != wanted->extent[axis])
            continue;
        for (uint8_t from = C; from < AXES; from++)
            if (runs[i].from == view_step(image, from) && runs[i].size == image->extent[from])
                return from;
    }
    return AXES;
}

/* Is it a transposition of channels, rows and columns? An axis of one number comes of any such. */
static bool is_transposed(const struct image *image, const struct image *wanted,
                          const struct run *runs, size_t count, uint8_t source[AXES])
{
    memset(source, AXES, AXES);
    for (uint8_t axis = C; axis < AXES; axis++) {
        if (wanted->extent[axis] == 1)
            continue;
        source[axis] = source_axis(image, wanted, axis, runs, count);
        if (source[axis] == AXES)
            return false;
    }
    for (uint8_t axis = C; axis < AXES; axis++)
        for (uint8_t from = C; source[axis] == AXES && from < AXES; from++)
            if (!memchr(source, from, AXES))
                source[axis] = from;
    return true;
}

static bool reshape(struct call *call, struct image *image, const struct image *wanted)
{
    image->node = glcnn_reshape_node(image->node, (uint32_t)wanted->extent[W],
                                     (uint32_t)wanted->extent[H], (uint32_t)wanted->extent[C]);
    if (!op_made(call, image->node, "reshape"))
        return false;
    glcnn_reshape(glcnn_filter_node_kernel(glcnn_image_node_filter(image->node)))->channels_first =
        true;
    return true;
}

static bool transpose(struct call *call, struct image *image, const uint8_t source[AXES])
{
    image->node = move_axes(image->node, source);
    return op_made(call, image->node, "transpose");
}

enum { VIEW_AXES = 6 }; /* of strided_view */

static bool view(struct call *call, struct image *image, const struct image *wanted,
                 const struct run *runs, size_t count)
{
    char settings[400];
    int length = snprintf(settings, sizeof settings,
                          "width=%" PRId64 " height=%" PRId64 " feature_channels=%" PRId64,
                          wanted->extent[W], wanted->extent[H], wanted->extent[C]);
    if (count > VIEW_AXES)
        return op_unsupported(call, "%zu axes would be in another order; at most %d can be", count,
                              VIEW_AXES);
    for (size_t i = 0; i < count; i++)
        length +=
            snprintf(settings + length, sizeof settings - (size_t)length,
                     " size_%zu=%" PRId64 " stride_%zu=%" PRId64, i, runs[i].size, i, runs[i].from);
    return move_by_name(call, image, "strided_view", "view", "%s", settings);
}

static bool move(struct call *call, struct image *image, const struct image *wanted,
                 const struct run *runs, size_t count)
{
    uint8_t source[AXES];
    for (size_t i = C; i < AXES; i++)
        if (wanted->extent[i] > INT32_MAX)
            return op_unsupported(call, "an image would have %" PRId64 " columns, rows or channels",
                                  wanted->extent[i]);
    bool moved = count == 1 && runs[0].from == 1 ? reshape(call, image, wanted)
                 : is_transposed(image, wanted, runs, count, source)
                     ? transpose(call, image, source)
                     : view(call, image, wanted, runs, count);
    glcnn_image_node *node = image->node;
    *image = *wanted;
    image->node = node;
    return moved;
}

/* Numbers in the tensor's order, in rows and columns as before where they fit: any digits can be made of
 * them. */
static bool straight_image(const struct image *image, struct image *straight)
{
    static const uint8_t axes[GLCNN_ONNX_RANK] = {C, H, W}, channels[GLCNN_ONNX_RANK] = {C};
    struct batch batch = view_batch(image);
    int64_t count = 1;
    for (uint32_t i = 0; i < image->digits; i++)
        count *= image->digit[i].size;
    struct shape line = {.rank = 1, .dims = {count}};
    struct shape shape = {.rank = 3, .dims = {count, image->extent[H], image->extent[W]}};
    for (int i = 1; i < 3; i++) {
        if (shape.dims[0] % shape.dims[i])
            shape.dims[i] = 1;
        shape.dims[0] /= shape.dims[i];
    }
    return view_arranged(&shape, batch, axes, straight) ||
           view_arranged(&line, batch, channels, straight);
}

static bool move_straight(struct call *call, struct image *image)
{
    struct run runs[2 * DIGITS];
    struct image straight;
    size_t count = straight_image(image, &straight) ? view_runs(image, &straight, runs) : 0;
    if (!count)
        return op_unsupported(call, "an axis of its input is that of the batch in part");
    return move(call, image, &straight, runs, count);
}

bool place_move(struct call *call, struct image *image, const struct image *wanted)
{
    struct run runs[2 * DIGITS];
    struct batch own = view_batch(image), other = view_batch(wanted);
    if (view_is(image, wanted)) {
        memcpy(image->extent, wanted->extent, sizeof image->extent);
        return true;
    }
    if (own.images != other.images || own.after != other.after)
        return op_unsupported(call, "numbers would move from one image of a batch to another, "
                                    "or along the batch; each image must be independent");
    size_t count = view_runs(image, wanted, runs);
    if (!count && !move_straight(call, image))
        return false;
    if (!count)
        count = view_runs(image, wanted, runs);
    return count ? move(call, image, wanted, runs, count)
                 : op_unsupported(call, "its axes do not go together with those of its input");
}

bool place_arrange(struct call *call, struct image *image, const struct shape *shape,
                   const uint8_t axis[GLCNN_ONNX_RANK])
{
    struct image wanted;
    return place_arranged(call, shape, view_batch(image), axis, &wanted) &&
           place_move(call, image, &wanted);
}

bool place_split(struct call *call, struct image *image, const struct shape *shape,
                 uint32_t end[GLCNN_ONNX_RANK])
{
    uint8_t axis[GLCNN_ONNX_RANK];
    if (view_split(image, shape, end))
        return true;
    custom_axes(call->reader, shape, axis);
    return place_arrange(call, image, shape, axis) &&
           (view_split(image, shape, end) ||
            op_unsupported(call, "its input's axes are in too many pieces"));
}

bool place_pixels(struct call *call, struct image *image, const struct shape *shape, int channels)
{
    uint32_t end[GLCNN_ONNX_RANK], from = 0;
    uint8_t axis[GLCNN_ONNX_RANK];
    struct image split = *image;
    struct shape fine = {0};
    const struct batch batch = view_batch(image);
    if (batch.after && batch.after < shape_count_between(shape, channels, (int)shape->rank))
        return op_unsupported(call, "it reduces over the batch; each image must be independent");
    if (!view_split(&split, shape, end))
        split.digits = 0;
    for (uint32_t i = 0; i < shape->rank && split.digits; from = end[i++])
        for (uint32_t k = from; k < end[i]; k++) {
            if (fine.rank == GLCNN_ONNX_RANK)
                return op_unsupported(call, "its input's axes are in too many pieces");
            axis[fine.rank] = (int)i < channels ? C : H;
            fine.dims[fine.rank++] = split.digit[k].size;
        }
    for (uint32_t i = 0; i < shape->rank && !split.digits; i++) {
        axis[fine.rank] = (int)i < channels ? C : H;
        fine.dims[fine.rank++] = shape->dims[i];
    }
    if (fine.rank && axis[fine.rank - 1] == H)
        axis[fine.rank - 1] = W;
    return place_arrange(call, image, &fine, axis);
}

/* ---- Axes ---- */

static uint32_t first_digit(const uint32_t end[GLCNN_ONNX_RANK], int axis)
{
    return axis ? end[axis - 1] : 0;
}

/* The axis of the image that axes from .. to of the tensor exactly are; AXES: there is none. */
static enum axis find_axes(const struct image *image, const struct shape *shape, int from, int to)
{
    struct image split = *image;
    uint32_t end[GLCNN_ONNX_RANK];
    int64_t size = shape_count_between(shape, from, to);
    if (size == 1 || !view_split(&split, shape, end))
        return AXES;
    const struct digit *last = &split.digit[end[to - 1] - 1];
    for (uint32_t i = first_digit(end, from); i + 1 < end[to - 1]; i++)
        if (split.digit[i].axis != last->axis ||
            split.digit[i].stride != split.digit[i + 1].stride * split.digit[i + 1].size)
            return AXES;
    bool is_whole = last->axis < AXES && last->stride == 1 && image->extent[last->axis] == size;
    return is_whole ? (enum axis)last->axis : AXES;
}

enum axis place_find(const struct image *image, const struct shape *shape, int i)
{
    return find_axes(image, shape, i, i + 1);
}

bool place_find_slow(const struct image *image, const struct shape *shape, int i,
                     struct digit *digit)
{
    struct image split = *image;
    uint32_t end[GLCNN_ONNX_RANK];
    if (!view_split(&split, shape, end) || end[i] != first_digit(end, i) + 1)
        return false;
    *digit = split.digit[end[i] - 1];
    return digit->axis != N && digit->axis != AXES &&
           digit->size * digit->stride == image->extent[digit->axis];
}

void place_cut_slow(struct image *image, const struct shape *shape, int i, int64_t size)
{
    uint32_t end[GLCNN_ONNX_RANK];
    if (!view_split(image, shape, end))
        return;
    struct digit *digit = &image->digit[end[i] - 1];
    digit->size = size;
    image->extent[digit->axis] = size * digit->stride;
    view_merge(image);
}

void place_resize(struct image *image, const struct shape *shape, int from, int to, enum axis axis,
                  int64_t size)
{
    uint32_t end[GLCNN_ONNX_RANK];
    if (!view_split(image, shape, end))
        return;
    uint32_t first = first_digit(end, from), behind = end[to - 1];
    memmove(image->digit + first + 1, image->digit + behind,
            (image->digits - behind) * sizeof *image->digit);
    image->digits -= behind - first;
    image->digits++;
    image->digit[first] = (struct digit){(uint8_t)axis, size, 1};
    image->extent[axis] = size;
    view_merge(image);
}

/* Rows before the channels and columns behind them; where only the one or the other are, the last axis is
 * columns and those before it are rows. */
static void channels_axes(const struct shape *shape, int from, int to,
                          uint8_t axis[GLCNN_ONNX_RANK])
{
    const int rank = (int)shape->rank, last = to == rank ? from - 1 : rank - 1;
    const bool are_both = from > 1 && to < rank;
    for (int i = 0; i < rank; i++)
        axis[i] = i >= from && i < to ? C : are_both ? (i < from ? H : W) : i == last ? W : H;
}

bool place_channels(struct call *call, struct image *image, const struct shape *shape, int from,
                    int to)
{
    uint8_t axis[GLCNN_ONNX_RANK];
    bool is_one = shape_count_between(shape, from, to) == 1;
    uint32_t end[GLCNN_ONNX_RANK];
    struct image split = *image;
    if (is_one ? image->extent[C] == 1 && view_split(&split, shape, end)
               : find_axes(image, shape, from, to) == C)
        return true;
    channels_axes(shape, from, to, axis);
    struct image wanted;
    if (!view_arranged(shape, view_batch(image), axis, &wanted) ||
        wanted.extent[C] != shape_count_between(shape, from, to))
        return op_unsupported(call,
                              "its axis is that of the batch; each image must be independent");
    return place_move(call, image, &wanted);
}

bool place_spreads(const struct reader *reader, const struct shape *constant,
                   const struct shape *shape)
{
    struct shape wide = shape_widened(constant, shape->rank);
    struct image place = place_custom_input(reader, &wide), all = place_custom(reader, shape);
    if (constant->rank > shape->rank)
        return false;
    return shape_count(constant) == 1 || (place.extent[C] == all.extent[C] &&
                                          place.extent[N] * place.extent[H] * place.extent[W] == 1);
}

bool place_input(struct call *call, size_t i, struct value **value)
{
    uint8_t axis[GLCNN_ONNX_RANK];
    if (!op_image(call, i, value))
        return false;
    const struct shape *shape = &(*value)->shape;
    custom_axes(call->reader, shape, axis);
    if (!place_arrange(call, &(*value)->image, shape, axis))
        return false;
    return shape->rank < 3 || custom_extent(call->reader, shape, N) == (*value)->image.extent[N] ||
           op_unsupported(call, "its first axis has several images for each one of the batch");
}

bool place_give(struct call *call, size_t i, const struct shape *shape, glcnn_image_node *node)
{
    struct image image = place_custom(call->reader, shape);
    image.node = node;
    return op_give(call, i, shape, &image);
}
