/* Padding and strided slices: spec 7.17. Both walk each axis of the source from a first place on by
 * a step; they differ in how the walk is told, and in what stands outside of the source. */
#include "kernels/pad.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "encode/kernel.h"
#include "kernels/elements.h"

/* ---- Walks ---- */

static struct walk padded(uint32_t size, int32_t before, int32_t after)
{
    return (struct walk){-before, 1, (int64_t)size + before + after};
}

/* As many as there are up to the border that the walk goes to, or as are wanted. */
static struct walk strided(uint32_t size, uint32_t start, int32_t step, uint32_t wanted)
{
    int64_t way = step > 0 ? (int64_t)size - 1 - start : start;
    int64_t there = start < size && step != 0 ? way / llabs((long long)step) + 1 : 0;
    return (struct walk){(int32_t)start, step, wanted ? wanted : there};
}

static struct walks pad_walks(const void *parameters, const struct image_view *from)
{
    const struct glcnn_pad_parameters *p = parameters;
    return (struct walks){padded(from->width, p->left, p->right),
                          padded(from->height, p->top, p->bottom),
                          padded(from->channels, p->front, p->back), p->mode, p->constant};
}

static struct walks slice_walks(const void *parameters, const struct image_view *from)
{
    const struct glcnn_strided_slice_parameters *p = parameters;
    return (struct walks){
        strided(from->width, p->start_x, p->step_x, p->size_x),
        strided(from->height, p->start_y, p->step_y, p->size_y),
        strided(from->channels, p->start_channel, p->step_channel, p->size_channels),
        GLCNN_PAD_MODE_CONSTANT, 0};
}

struct walks pad_walks_of(const struct operation *o)
{
    bool pads = *(const bool *)o->descriptor->form;
    return (pads ? pad_walks : slice_walks)(o->parameters, elements_source(o));
}

/* ---- Shapes and checks ---- */

/* What is refused afterwards may have any size. */
static uint32_t count_of(const struct walk *walk)
{
    return walk->count < 1 ? 1 : (uint32_t)walk->count;
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    struct walks w = pad_walks_of(o);
    result->width = count_of(&w.x);
    result->height = count_of(&w.y);
    result->feature_channels = count_of(&w.c);
}

static bool check_padded(const struct walk *walk, const char *what, uint32_t size,
                         struct validation validation)
{
    if (walk->count >= 1)
        return true;
    return invalid(validation, "of %u %s of the source %lld would be left; take fewer away", size,
                   what, (long long)walk->count);
}

/* A mirror of `size` has as many on each side as it has besides the outermost. */
static bool check_mirror(const struct walk *walk, const char *what, uint32_t size,
                         struct validation validation)
{
    int64_t before = -(int64_t)walk->first, after = walk->count - size - before;
    if (before < size && after < size)
        return true;
    return invalid(validation,
                   "reflect adds at most %u %s on each side of the source's %u; it is to add "
                   "%lld and %lld",
                   size - 1, what, size, (long long)before, (long long)after);
}

static bool pad_check(const struct operation *o, struct validation validation)
{
    const struct image_view *from = elements_source(o);
    struct walks w = pad_walks_of(o);
    const struct glcnn_pad_parameters *p = o->parameters;
    if (!check_padded(&w.x, "columns", from->width, validation) ||
        !check_padded(&w.y, "rows", from->height, validation) ||
        !check_padded(&w.c, "channels", from->channels, validation))
        return false;
    if (w.mode != GLCNN_PAD_MODE_CONSTANT && (p->front > 0 || p->back > 0))
        return invalid(validation,
                       "pad_mode reflect and replicate add no channels; front is %d and "
                       "back %d",
                       p->front, p->back);
    if (w.mode == GLCNN_PAD_MODE_REFLECT &&
        (!check_mirror(&w.x, "columns", from->width, validation) ||
         !check_mirror(&w.y, "rows", from->height, validation)))
        return false;
    return elements_check_size(o, validation);
}

static bool check_walk(const struct walk *walk, const char *what, uint32_t size,
                       struct validation validation)
{
    int64_t last = walk->first + walk->step * (walk->count - 1);
    if (walk->step == 0)
        return invalid(validation, "the step along %s is 0", what);
    if (walk->count >= 1 && walk->first < (int64_t)size && last >= 0 && last < (int64_t)size)
        return true;
    return invalid(validation, "of %u %s %lld are wanted from %d on by steps of %d", size, what,
                   (long long)walk->count, walk->first, walk->step);
}

static bool slice_check(const struct operation *o, struct validation validation)
{
    const struct image_view *from = elements_source(o);
    struct walks w = pad_walks_of(o);
    return check_walk(&w.x, "columns", from->width, validation) &&
           check_walk(&w.y, "rows", from->height, validation) &&
           check_walk(&w.c, "channels", from->channels, validation) &&
           elements_check_size(o, validation);
}

/* ---- Passes ---- */

static void pass_walks(struct pass *pass, const struct walks *w)
{
    static const char *const modes[] = {
        [GLCNN_PAD_MODE_REFLECT] = "MIRRORED", [GLCNN_PAD_MODE_REPLICATE] = "REPLICATED"};
    if (w->mode != GLCNN_PAD_MODE_CONSTANT)
        pass_define(pass, modes[w->mode], 1);
    pass_int(pass, "first_x", w->x.first);
    pass_int(pass, "first_y", w->y.first);
    pass_define(pass, "step_x", w->x.step);
    pass_define(pass, "step_y", w->y.step);
    if (w->c.step == 1 && w->c.first % 4 == 0) {
        pass_define(pass, "WHOLE_SLICES", 1);
        pass_int(pass, "first_slice", w->c.first / 4);
    } else {
        pass_int(pass, "first_c", w->c.first);
        pass_define(pass, "step_c", w->c.step);
    }
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    struct walks w = pad_walks_of(o);
    struct pass *pass = plan_elements(o, plan, "slice/part.comp");
    pass_walks(pass, &w);
    pass_float(pass, "outside", w.constant);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct walks w = pad_walks_of(o);
    pass_walks(plan_elements(o, plan, "slice/part_gradient.comp"), &w);
}

/* ---- Descriptors ---- */

static bool keeps_zero(const void *parameters)
{
    return ((const struct glcnn_pad_parameters *)parameters)->constant == 0;
}

#define PAD_ROW(NAME, TEXT)                                                                        \
    {                                                                                              \
#NAME, TEXT, FIELD_INT32, offsetof(struct glcnn_pad_parameters, NAME), 0, -65536, 65536,   \
            NULL                                                                                   \
    }
#define SLICE_ROW(NAME, TEXT, TYPE, DEFAULT, LEAST, MOST)                                          \
    {                                                                                              \
#NAME, TEXT, TYPE, offsetof(struct glcnn_strided_slice_parameters, NAME), DEFAULT, LEAST,  \
            MOST, NULL                                                                             \
    }

static const char *const mode_names[] = {"constant", "reflect", "replicate", NULL};

static const struct parameter pad_rows[] = {
    PAD_ROW(left, "columns before the first; below 0: that many fewer"),
    PAD_ROW(right, "columns after the last"),
    PAD_ROW(top, "rows before the first"),
    PAD_ROW(bottom, "rows after the last"),
    PAD_ROW(front, "channels before the first"),
    PAD_ROW(back, "channels after the last"),
    {"pad_mode", "what stands there", FIELD_ENUM, offsetof(struct glcnn_pad_parameters, mode), 0, 0,
     0, mode_names},
    {"pad_constant", "of pad_mode constant", FIELD_FLOAT,
     offsetof(struct glcnn_pad_parameters, constant), 0, -(double)FLT_MAX, (double)FLT_MAX, NULL},
    {0}};

static const struct parameter slice_rows[] = {
    SLICE_ROW(start_x, "first column", FIELD_UINT32, 0, 0, 65535),
    SLICE_ROW(start_y, "first row", FIELD_UINT32, 0, 0, 65535),
    SLICE_ROW(start_channel, "first channel", FIELD_UINT32, 0, 0, 65535),
    SLICE_ROW(step_x, "from one column to the next; not 0", FIELD_INT32, 1, -65536, 65536),
    SLICE_ROW(step_y, "from one row to the next; not 0", FIELD_INT32, 1, -65536, 65536),
    SLICE_ROW(step_channel, "from one channel to the next; not 0", FIELD_INT32, 1, -65536, 65536),
    SLICE_ROW(size_x, "columns of the result; 0: as many as there are", FIELD_UINT32, 0, 0, 65536),
    SLICE_ROW(size_y, "rows of the result; 0: as many as there are", FIELD_UINT32, 0, 0, 65536),
    SLICE_ROW(size_channels, "channels of the result; 0: as many as there are", FIELD_UINT32, 0, 0,
              65536),
    {0}};

static const bool pads = true, slices = false;

const struct glcnn_descriptor glcnn_kernel_pad = {
    .name = "pad",
    .form = &pads,
    .text = "more pixels and channels around the source: a constant, mirrored or repeated",
    .family = "pad",
    .gradient = "pad_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_pad_parameters),
    .parameters = pad_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = keeps_zero,
    .shape = shape,
    .check = pad_check,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_pad_gradient = {
    .name = "pad_gradient",
    .form = &pads,
    .text = "gradient of pad",
    .family = "pad",
    .forward = "pad",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_pad_parameters),
    .parameters = pad_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_gradient,
};

const struct glcnn_descriptor glcnn_kernel_strided_slice = {
    .name = "strided_slice",
    .form = &slices,
    .text = "every step-th column, row and channel of an image, from any on, in either direction",
    .family = "strided_slice",
    .gradient = "strided_slice_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_strided_slice_parameters),
    .parameters = slice_rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = slice_check,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_strided_slice_gradient = {
    .name = "strided_slice_gradient",
    .form = &slices,
    .text = "gradient of strided_slice",
    .family = "strided_slice",
    .forward = "strided_slice",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_strided_slice_parameters),
    .parameters = slice_rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_gradient,
};
