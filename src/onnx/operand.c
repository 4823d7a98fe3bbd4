/* Operands: broadcasting, and constants as images. */
#include "onnx/operand.h"

#include <math.h>
#include <string.h>

#include <glcnn/kernels/learned_image.h>

#include "onnx/values.h"

struct operand operand_of(const struct value *value)
{
    return (struct operand){value->shape, value->image, value->constant ? value : NULL};
}

/* ---- Constants as images ---- */

/* The numbers of the first image, where those of all others are the same; NULL, with the message, where
 * they are not. */
static struct constant *first_of_batch(struct call *call, const struct value *value,
                                       const struct image *wanted)
{
    const struct constant *all = value->constant;
    const struct batch batch = view_batch(wanted);
    const size_t after = (size_t)batch.after, images = (size_t)batch.images;
    const struct shape shape = {.rank = 1, .dims = {(int64_t)(all->count / images)}};
    struct constant *one = constant_make(call->reader, &shape, all->wholes);
    for (size_t i = 0; one && i < all->count; i++) {
        size_t image = i / after % images, place = i / after / images * after + i % after;
        if (image == 0)
            constant_copy(one, place, all, i);
        else if (constant_number(one, place) != constant_number(all, i)) {
            op_unsupported(call, "the constant \"%.80s\" differs between images of the batch",
                           value->name);
            return NULL;
        }
    }
    return one;
}

#define MASKED (-50) /* what softmax makes nothing of, and no weight is */

/* Has it 0 and one number that masks out, as attention's masks have, which are no weights? */
static bool is_mask(const struct constant *constant)
{
    double other = 0;
    for (size_t i = 0; i < constant->count; i++) {
        const double number = constant_number(constant, i);
        other = number != 0 && other == 0 ? number : other;
        if (number != 0 && (number > MASKED || number != other))
            return false;
    }
    return other != 0;
}

struct constant *constant_bounded(struct call *call, struct constant *constant)
{
    bool is_finite = true;
    for (size_t i = 0; is_finite && constant->floats && i < constant->count; i++)
        is_finite = !isinf(constant->floats[i]);
    if (is_finite)
        return constant;
    struct constant *made = constant_make(call->reader, &constant->shape, false);
    for (size_t i = 0; made && i < made->count; i++)
        made->floats[i] = fmaxf(-LARGEST_NUMBER, fminf(LARGEST_NUMBER, constant->floats[i]));
    return made;
}

/* Sets the numbers; those that train are noted by the name of what the file has: a repetition for each
 * image of the batch is not written in its place. */
static bool set_numbers(struct call *call, glcnn_image_node *node, size_t count,
                        const struct value *value, const struct layout *layout)
{
    struct value noted = *value;
    const struct value *parameter = op_parameter(call, value);
    if (!value->learns || is_mask(value->constant)) {
        op_freeze(node);
        return op_note_frozen(call, value, "its numbers are those of a mask") &&
               vector_put(call, node, "values", count, value, value->constant, layout);
    }
    if (!constant_batch_free(value->constant) && parameter && parameter->constant) {
        noted.name = parameter->name;
        noted.shape = parameter->shape;
    }
    return vector_set(call, node, "values", count, &noted, layout);
}

static bool make_image(struct call *call, struct operand *operand, const struct image *wanted)
{
    struct value value = *operand->constant;
    struct layout layout = {.output_axis = -1, .output_dimension = -1};
    const size_t count = (size_t)(wanted->extent[C] * wanted->extent[H] * wanted->extent[W]);
    if (!op_shape(call, &operand->shape))
        return false;
    for (size_t i = C; i < AXES; i++)
        if (wanted->extent[i] > INT32_MAX)
            return op_unsupported(call, "the constant \"%.80s\" is too large for an image",
                                  value.name);
    if (!view_lay_out(wanted, &layout))
        return op_unsupported(call, "the constant \"%.80s\" has too many axes", value.name);
    if (layout.axes == 0)
        layout.size[layout.axes++] = 1;
    if (value.constant->count != count && view_batch(wanted).after)
        value.constant = first_of_batch(call, &value, wanted);
    if (value.constant)
        value.constant = constant_bounded(call, value.constant);
    if (!value.constant)
        return false;
    operand->image = *wanted;
    operand->image.node =
        glcnn_learned_image_node(call->reader->input, (uint32_t)wanted->extent[W],
                                 (uint32_t)wanted->extent[H], (uint32_t)wanted->extent[C]);
    if (!op_made(call, operand->image.node, "constant"))
        return false;
    return set_numbers(call, operand->image.node, count, &value, &layout);
}

/* Nodes that read the same parameter have the same image, and train it together. */
static void keep_image(struct call *call, const struct operand *operand)
{
    struct value *value = values_find(call->reader, operand->constant->name);
    if (value && value->learns && value->constant == operand->constant->constant &&
        shape_count(&operand->shape) == shape_count(&value->shape))
        value->image = operand->image;
}

bool operand_place(struct call *call, struct operand *operand, const struct image *wanted)
{
    if (operand->image.node)
        return place_move(call, &operand->image, wanted);
    if (!make_image(call, operand, wanted))
        return false;
    keep_image(call, operand);
    return true;
}

/* ---- Broadcasting ---- */

struct batch operand_constant_batch(struct batch batch, const struct shape *shape, int axis,
                                    const struct shape *constant, int own)
{
    const int rank = (int)shape->rank, constant_rank = (int)constant->rank;
    bool has = axis >= 0 && axis == view_batch_axis(batch, shape) &&
               constant->dims[own] == shape->dims[axis];
    batch.after = has ? batch.after / shape_count_between(shape, axis + 1, rank) *
                            shape_count_between(constant, own + 1, constant_rank)
                      : 0;
    return batch;
}

bool operand_place_constant(struct call *call, struct operand *operand, struct batch batch)
{
    struct image wanted;
    return place_custom_batch(call, &operand->shape, batch, &wanted) &&
           make_image(call, operand, &wanted);
}

/* The same of a constant that is broadcast to the shape, of as many axes. */
static bool place_broadcast(struct call *call, struct operand *operand, const struct shape *shape,
                            struct batch batch)
{
    const int axis = view_batch_axis(batch, shape);
    return operand->image.node ||
           operand_place_constant(
               call, operand, operand_constant_batch(batch, shape, axis, &operand->shape, axis));
}

bool operand_image(struct call *call, struct value *value)
{
    struct operand operand = operand_of(value);
    const int64_t images = call->reader->images;
    const struct shape *shape = &operand.shape;
    const bool has_batch = shape->rank && images > 1 && shape->dims[0] % images == 0;
    const struct batch none = {images, 0}, leading = view_leading_batch(shape, images);
    if (!operand_place_constant(call, &operand, has_batch ? leading : none))
        return false;
    value->image = operand.image;
    return true;
}

bool operand_repeat(struct call *call, struct operand *operand, const struct shape *shape,
                    struct batch batch)
{
    uint32_t end[GLCNN_ONNX_RANK];
    if (shape_equal(&operand->shape, shape))
        return true;
    if (!place_broadcast(call, operand, shape, batch) ||
        !place_split(call, &operand->image, &operand->shape, end))
        return false;
    if (!view_repeat(&operand->image, &operand->shape, shape, batch))
        return op_unsupported(call, "the axes of an input do not split as its shape does");
    operand->shape = *shape;
    return true;
}

/* Where what has `shape`, broadcast to *all, lies so that it can be read beside it: along an axis of the
 * image it has all numbers or one. Axes of the tensor along which it would have a part become those of
 * *all in *shape. */
static bool lie_beside(const struct operand *all, struct shape *shape, struct image *image)
{
    uint32_t end[GLCNN_ONNX_RANK], kept = 0;
    bool has[AXES + 1], changed = true;
    *image = all->image;
    if (!view_split(image, &all->shape, end))
        return false;
    while (changed) {
        memset(has, 0, sizeof has);
        for (uint32_t i = 0, k = 0; i < shape->rank; i++)
            for (; k < end[i]; k++)
                has[image->digit[k].axis] |= shape->dims[i] != 1;
        changed = false;
        for (uint32_t i = 0, k = 0; i < shape->rank; i++)
            for (; k < end[i]; k++)
                if (shape->dims[i] == 1 && has[image->digit[k].axis]) {
                    shape->dims[i] = all->shape.dims[i];
                    changed = true;
                }
    }
    for (uint32_t i = 0, k = 0; i < shape->rank; i++)
        for (; k < end[i]; k++)
            if (shape->dims[i] != 1)
                image->digit[kept++] = image->digit[k];
    image->digits = kept;
    for (size_t axis = C; axis < AXES; axis++)
        image->extent[axis] = has[axis] ? image->extent[axis] : 1;
    view_merge(image);
    return true;
}

static bool fit(struct call *call, struct operand *operand, const struct operand *all)
{
    const struct batch batch = view_batch(&all->image);
    struct image wanted;
    struct shape shape = operand->shape;
    if (!lie_beside(all, &shape, &wanted))
        return op_unsupported(call, "the axes of an input do not split as its shape does");
    return (shape_equal(&operand->shape, &shape) ||
            place_broadcast(call, operand, &all->shape, batch)) &&
           operand_repeat(call, operand, &shape,
                          view_broadcast_batch(batch, &all->shape, &shape)) &&
           operand_place(call, operand, &wanted);
}

/* Can the result lie as this one does? */
static bool leads(const struct operand *operand, const struct shape *shape)
{
    struct image split = operand->image;
    uint32_t end[GLCNN_ONNX_RANK];
    return operand->image.node && shape_equal(&operand->shape, shape) &&
           view_split(&split, shape, end) && !view_repeats(&operand->image);
}

struct batch operand_batch(const struct reader *reader, const struct operand *a,
                           const struct operand *b, const struct shape *shape)
{
    const struct operand *const both[] = {a, b};
    struct batch batch = {reader->images, 0};
    for (size_t i = 0; i < 2 && !batch.after; i++) {
        if (!both[i]->image.node)
            continue;
        batch = view_broadcast_batch(view_batch(&both[i]->image), &both[i]->shape, shape);
    }
    return batch;
}

/* Broadcasts numbers that no axis repeats. */
static bool align(struct call *call, struct operand *a, struct operand *b, struct operand *all)
{
    const struct shape *shape = &all->shape;
    const struct operand *leading = leads(a, shape) ? a : leads(b, shape) ? b : NULL;
    if (leading)
        all->image = leading->image;
    else if (!place_custom_batch(call, shape, operand_batch(call->reader, a, b, shape),
                                 &all->image))
        return false;
    return fit(call, a, all) && fit(call, b, all);
}

bool operand_align(struct call *call, struct operand *a, struct operand *b, struct operand *all)
{
    char first[96], second[96];
    struct shape shape;
    *all = (struct operand){0};
    if (!shape_broadcast(&a->shape, &b->shape, &shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "shapes %s and %s do not fit together",
                       shape_text(&a->shape, first), shape_text(&b->shape, second));
    if (!op_shape(call, &shape))
        return false;
    a->shape = shape_widened(&a->shape, shape.rank);
    b->shape = shape_widened(&b->shape, shape.rank);
    if (a->image.node && b->image.node && shape_equal(&a->shape, &b->shape) &&
        view_is(&a->image, &b->image)) {
        *all = (struct operand){.shape = shape, .image = a->image};
        return true;
    }
    view_drop_repeats(&a->image, &a->shape);
    view_drop_repeats(&b->image, &b->shape);
    /* What both only repeat along an axis, their result does too. */
    return shape_broadcast(&a->shape, &b->shape, &all->shape) && align(call, a, b, all) &&
           operand_repeat(call, all, &shape, operand_batch(call->reader, a, b, &shape));
}
