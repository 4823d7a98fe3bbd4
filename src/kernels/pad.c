/* Padding and strided slices: spec 7.17. Both walk each axis of the source from a first place on by
 * a step; they differ in how the walk is told, and in what stands outside of the source. */
#include "glcnn/kernels/pad.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "encode/kernel.h"
#include "kernels/elements.h"

struct glcnn_pad_parameters *glcnn_pad(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "pad");
}

struct glcnn_strided_slice_parameters *glcnn_strided_slice(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "strided_slice");
}

/* ---- Constructors ---- */

extern const struct glcnn_descriptor glcnn_kernel_pad, glcnn_kernel_pad_gradient,
    glcnn_kernel_strided_slice, glcnn_kernel_strided_slice_gradient;

glcnn_status glcnn_pad_create(glcnn_device *device, const struct glcnn_pad_parameters *parameters,
                              glcnn_kernel **kernel)
{
    return kernel_create_with(device, &glcnn_kernel_pad, parameters, kernel);
}

glcnn_status glcnn_strided_slice_create(glcnn_device *device,
                                        const struct glcnn_strided_slice_parameters *parameters,
                                        glcnn_kernel **kernel)
{
    return kernel_create_with(device, &glcnn_kernel_strided_slice, parameters, kernel);
}

glcnn_status glcnn_pad_gradient_create(glcnn_device *device, glcnn_kernel **kernel)
{
    return kernel_create(device, &glcnn_kernel_pad_gradient, kernel);
}

glcnn_status glcnn_strided_slice_gradient_create(glcnn_device *device, glcnn_kernel **kernel)
{
    return kernel_create(device, &glcnn_kernel_strided_slice_gradient, kernel);
}

/* ---- Walks ---- */

/* Result X of one axis stands for source element first + step X; there are `count` of them, none
 * where that is below 1. */
struct walk {
    int32_t first, step;
    int64_t count;
};

struct walks {
    struct walk x, y, c;
    glcnn_pad_mode mode;
    float constant;
};

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

static struct walks walks_of(const struct operation *o)
{
    bool pads = strcmp(o->descriptor->family, "pad") == 0;
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
    struct walks w = walks_of(o);
    result->width = count_of(&w.x);
    result->height = count_of(&w.y);
    result->feature_channels = count_of(&w.c);
}

static bool check_padded(const struct walk *walk, const char *what, uint32_t size,
                         struct refusal refusal)
{
    if (walk->count >= 1)
        return true;
    return refuse(refusal, "of %u %s of the source %lld would be left; take fewer away", size, what,
                  (long long)walk->count);
}

/* A mirror of `size` has as many on each side as it has besides the outermost. */
static bool check_mirror(const struct walk *walk, const char *what, uint32_t size,
                         struct refusal refusal)
{
    int64_t before = -(int64_t)walk->first, after = walk->count - size - before;
    if (before < size && after < size)
        return true;
    return refuse(refusal,
                  "reflect adds at most %u %s on each side of the source's %u; it is to add "
                  "%lld and %lld",
                  size - 1, what, size, (long long)before, (long long)after);
}

static bool pad_check(const struct operation *o, struct refusal refusal)
{
    const struct image_view *from = elements_source(o);
    struct walks w = walks_of(o);
    const struct glcnn_pad_parameters *p = o->parameters;
    if (!check_padded(&w.x, "columns", from->width, refusal) ||
        !check_padded(&w.y, "rows", from->height, refusal) ||
        !check_padded(&w.c, "channels", from->channels, refusal))
        return false;
    if (w.mode != GLCNN_PAD_MODE_CONSTANT && (p->front > 0 || p->back > 0))
        return refuse(refusal,
                      "pad_mode reflect and replicate add no channels; front is %d and "
                      "back %d",
                      p->front, p->back);
    if (w.mode == GLCNN_PAD_MODE_REFLECT && (!check_mirror(&w.x, "columns", from->width, refusal) ||
                                             !check_mirror(&w.y, "rows", from->height, refusal)))
        return false;
    return elements_check_size(o, refusal);
}

static bool check_walk(const struct walk *walk, const char *what, uint32_t size,
                       struct refusal refusal)
{
    int64_t last = walk->first + walk->step * (walk->count - 1);
    if (walk->step == 0)
        return refuse(refusal, "the step along %s is 0", what);
    if (walk->count >= 1 && walk->first < (int64_t)size && last >= 0 && last < (int64_t)size)
        return true;
    return refuse(refusal, "of %u %s %lld are wanted from %d on by steps of %d", size, what,
                  (long long)walk->count, walk->first, walk->step);
}

static bool slice_check(const struct operation *o, struct refusal refusal)
{
    const struct image_view *from = elements_source(o);
    struct walks w = walks_of(o);
    return check_walk(&w.x, "columns", from->width, refusal) &&
           check_walk(&w.y, "rows", from->height, refusal) &&
           check_walk(&w.c, "channels", from->channels, refusal) && elements_check_size(o, refusal);
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
    struct walks w = walks_of(o);
    struct pass *pass = plan_elements(o, plan, "slice/part.comp");
    pass_walks(pass, &w);
    pass_float(pass, "outside", w.constant);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct walks w = walks_of(o);
    pass_walks(plan_elements(o, plan, "slice/part_gradient.comp"), &w);
}

/* ---- References ---- */

/* Place X of one axis; -1: outside. */
static int32_t placed(const struct walk *walk, glcnn_pad_mode mode, uint32_t extent, int32_t X)
{
    int32_t u = walk->first + walk->step * X, size = (int32_t)extent;
    if (u >= 0 && u < size)
        return u;
    if (mode == GLCNN_PAD_MODE_REPLICATE)
        return u < 0 ? 0 : size - 1;
    if (mode == GLCNN_PAD_MODE_REFLECT)
        return u < 0 ? -u : 2 * (size - 1) - u;
    return -1;
}

static bool source_of(const struct operation *o, struct element at, struct element *from)
{
    const struct image_view *source = elements_source(o);
    struct walks w = walks_of(o);
    *from = (struct element){placed(&w.y, w.mode, source->height, at.y),
                             placed(&w.x, w.mode, source->width, at.x),
                             placed(&w.c, GLCNN_PAD_MODE_CONSTANT, source->channels, at.c)};
    return from->y >= 0 && from->x >= 0 && from->c >= 0;
}

static void reference(const struct reference *r)
{
    elements_reference(r, source_of, (double)walks_of(r->operation).constant);
}

static void gradient_reference(const struct reference *r)
{
    elements_gradient_reference(r, source_of);
}

static bool keeps_zero(const void *parameters)
{
    return ((const struct glcnn_pad_parameters *)parameters)->constant == 0;
}

/* ---- Cases ---- */

static const struct check_case pad_cases[] = {
    {"", {1, 1, 3, 3}},
    {"left=1 right=2 top=3 bottom=4", {2, 3, 4, 5}},
    {"left=1 right=2 pad_constant=0.75", {1, 5, 3, 4}},
    {"top=2 bottom=1 pad_constant=-2", {3, 4, 2, 6}},
    {"front=4 back=3", {2, 6, 3, 2}},
    {"front=3 back=2 left=1 pad_constant=0.5", {1, 6, 4, 3}},
    {"front=-4 back=1 top=-1", {2, 9, 5, 4}},
    {"front=-1 back=-2 left=-2 right=3", {1, 8, 3, 5}},
    {"left=2 right=2 top=2 bottom=2 pad_mode=reflect", {2, 5, 3, 4}},
    {"left=3 right=1 top=-1 bottom=2 pad_mode=reflect", {1, 4, 4, 4}},
    {"left=-2 right=4 top=1 pad_mode=reflect", {1, 2, 2, 5}},
    {"left=2 right=3 top=4 bottom=1 pad_mode=replicate", {2, 6, 3, 2}},
    {"left=5 right=5 top=-1 bottom=2 pad_mode=replicate", {1, 3, 3, 1}},
    {"left=-1 right=2 front=-2 back=-1 pad_mode=replicate", {1, 7, 2, 4}},
    {"left=1 right=1 top=1 bottom=1 clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=4 clip_rect_size_height=3",
     {2, 3, 5, 4}},
    {"left=2 right=2 top=2 bottom=2 pad_mode=reflect clip_rect_origin_x=1 clip_rect_origin_y=1 "
     "clip_rect_size_width=5 clip_rect_size_height=4",
     {2, 3, 4, 4}},
    {"left=3 top=2 pad_mode=replicate clip_rect_origin_x=1 clip_rect_size_width=5", {1, 2, 3, 4}},
    {"right=1 source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 3, 4}},
    {"bottom=1 front=2 destination_feature_channel_offset=4", {1, 3, 3, 2}},
    {"left=3 right=3 top=3 bottom=3 pad_mode=reflect", {4, 37, 28, 27}, {0}, true},
    {0}};

static const struct check_case slice_cases[] = {
    {"", {1, 1, 3, 3}},
    {"start_x=1 start_y=2", {2, 3, 4, 5}},
    {"start_x=1 size_x=2 start_y=1 size_y=3", {1, 5, 5, 4}},
    {"step_x=2 step_y=3", {2, 4, 7, 6}},
    {"start_x=1 step_x=3 size_x=2 step_y=2", {1, 6, 4, 9}},
    {"start_channel=1", {2, 7, 3, 2}},
    {"start_channel=4 size_channels=3", {1, 9, 2, 3}},
    {"start_channel=3 step_channel=2 size_channels=3", {2, 11, 3, 3}},
    {"start_x=4 step_x=-1 start_y=3 step_y=-2", {1, 3, 4, 5}},
    {"start_channel=8 step_channel=-3", {2, 9, 2, 2}},
    {"start_channel=2 size_channels=5 start_x=3 step_x=-2 step_y=2", {3, 8, 5, 4}},
    {"start_x=1 step_x=2 start_channel=1 clip_rect_origin_x=1 clip_rect_origin_y=1 "
     "clip_rect_size_width=2 clip_rect_size_height=2",
     {2, 5, 4, 8}},
    {"start_y=1 start_channel=1 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=4",
     {2, 9, 3, 4}},
    {"start_x=1 size_channels=3 destination_feature_channel_offset=8", {1, 6, 2, 3}},
    {"start_x=2 step_x=2 start_channel=5 size_channels=23", {4, 37, 28, 27}, {0}, true},
    {0}};

/* ---- Descriptors ---- */

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

const struct glcnn_descriptor glcnn_kernel_pad = {
    .name = "pad",
    .text = "more pixels and channels around the source: a constant, mirrored or repeated",
    .family = "pad",
    .gradient = "pad_gradient",
    .flags = MAKES_STATE,
    .parameters_size = sizeof(struct glcnn_pad_parameters),
    .parameters = pad_rows,
    ELEMENT_ARGUMENTS,
    .keeps_zero = keeps_zero,
    .shape = shape,
    .check = pad_check,
    .plan = plan_forward,
    .reference = reference,
    .cases = pad_cases,
};

const struct glcnn_descriptor glcnn_kernel_pad_gradient = {
    .name = "pad_gradient",
    .text = "gradient of pad",
    .family = "pad",
    .without_gradient = "it is a gradient itself",
    .forward = "pad",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_pad_parameters),
    .parameters = pad_rows,
    ELEMENT_GRADIENT_ARGUMENTS,
    .check = elements_check_state,
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = pad_cases,
};

const struct glcnn_descriptor glcnn_kernel_strided_slice = {
    .name = "strided_slice",
    .text = "every step-th column, row and channel of an image, from any on, in either direction",
    .family = "strided_slice",
    .gradient = "strided_slice_gradient",
    .flags = MAKES_STATE,
    .parameters_size = sizeof(struct glcnn_strided_slice_parameters),
    .parameters = slice_rows,
    ELEMENT_ARGUMENTS,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = slice_check,
    .plan = plan_forward,
    .reference = reference,
    .cases = slice_cases,
};

const struct glcnn_descriptor glcnn_kernel_strided_slice_gradient = {
    .name = "strided_slice_gradient",
    .text = "gradient of strided_slice",
    .family = "strided_slice",
    .without_gradient = "it is a gradient itself",
    .forward = "strided_slice",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_strided_slice_parameters),
    .parameters = slice_rows,
    ELEMENT_GRADIENT_ARGUMENTS,
    .check = elements_check_state,
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = slice_cases,
};
