/* Views by strides, copied: spec 7.18. Forwards and backwards an element's number is taken apart by
 * radices and put together by steps: forwards the radices are places in the result and the steps
 * strides in the source, backwards the other way round. Axes of stride 0 are no part of that
 * backwards: over them the gradient is summed. */
#include "glcnn/kernels/strided_view.h"

#include "encode/kernel.h"
#include "kernels/elements.h"

enum { AXES = 6 };

/* ---- Axes ---- */

/* One of `size` indices, `place` elements of the result and `stride` of the source from each other. */
struct view_axis {
    int32_t size, place, stride;
};

/* The fastest first. */
struct view_axes {
    struct view_axis items[AXES];
    int count;
};

static const struct glcnn_strided_view_parameters *parameters_of(const struct operation *o)
{
    return o->parameters;
}

/* An axis that goes on where the faster one ends is more of that one. */
static void add_axis(struct view_axes *axes, struct view_axis axis)
{
    struct view_axis *last = axes->count ? &axes->items[axes->count - 1] : NULL;
    if (last && (int64_t)last->stride * last->size == axis.stride)
        last->size *= axis.size;
    else
        axes->items[axes->count++] = axis;
}

/* Those of more than one index, as few as there need be. */
static struct view_axes axes_of(const struct operation *o)
{
    const struct glcnn_strided_view_parameters *p = parameters_of(o);
    struct view_axes axes = {.count = 0};
    int32_t place = 1;
    for (int k = AXES; k-- > 0;) {
        struct view_axis axis = {(int32_t)p->sizes[k], place, (int32_t)p->strides[k]};
        if (axis.size > 1)
            add_axis(&axes, axis);
        place *= axis.size;
    }
    return axes;
}

/* ---- Shape and checks ---- */

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_strided_view_parameters *p = parameters_of(o);
    result->width = p->width;
    result->height = p->height;
    result->feature_channels = p->feature_channels;
}

/* Of the axes; no more of them than make too many. */
static uint64_t elements_along(const struct glcnn_strided_view_parameters *p)
{
    uint64_t count = 1;
    for (int k = 0; k < AXES && count <= INT32_MAX; k++)
        count *= p->sizes[k];
    return count;
}

static bool check_counts(const struct operation *o, struct validation validation)
{
    const struct glcnn_strided_view_parameters *p = parameters_of(o);
    uint64_t wanted = (uint64_t)p->width * p->height * p->feature_channels;
    uint64_t there = elements_in(elements_source(o)), along = elements_along(p);
    if (wanted > INT32_MAX || there > INT32_MAX)
        return invalid(validation,
                       "an image of the source has %llu numbers and one of the result "
                       "%llu; there may be at most %d",
                       (unsigned long long)there, (unsigned long long)wanted, INT32_MAX);
    if (along == wanted)
        return true;
    return invalid(validation,
                   "the sizes of the axes multiply to %llu%s; %ux%u pixels of %u channels are "
                   "%llu numbers",
                   (unsigned long long)along, along > INT32_MAX ? " or more" : "", p->width,
                   p->height, p->feature_channels, (unsigned long long)wanted);
}

static bool check_range(const struct operation *o, struct validation validation)
{
    const struct glcnn_strided_view_parameters *p = parameters_of(o);
    uint64_t there = elements_in(elements_source(o)), last = 0;
    for (int k = 0; k < AXES; k++) {
        last += (uint64_t)(p->sizes[k] - 1) * p->strides[k];
        if (last >= there)
            return invalid(validation,
                           "axis %d, of size %u and stride %u, reads number %llu; an "
                           "image of the source has %llu, from 0 on",
                           k, p->sizes[k], p->strides[k], (unsigned long long)last,
                           (unsigned long long)there);
    }
    return true;
}

/* The last number that axes of strides up to that of axis k read, without it. */
static uint64_t reach_below(const struct glcnn_strided_view_parameters *p, int k)
{
    uint64_t reach = 0;
    for (int i = 0; i < AXES; i++)
        if (i != k && p->strides[i] <= p->strides[k])
            reach += (uint64_t)(p->sizes[i] - 1) * p->strides[i];
    return reach;
}

static bool check_overlap(const struct operation *o, struct validation validation)
{
    const struct glcnn_strided_view_parameters *p = parameters_of(o);
    for (int k = 0; k < AXES; k++) {
        uint64_t reach = reach_below(p, k);
        if (p->sizes[k] > 1 && p->strides[k] > 0 && p->strides[k] <= reach)
            return invalid(
                validation,
                "axis %d, of stride %u, repeats numbers that axes of strides up to that read; its "
                "stride must be 0 or above %llu",
                k, p->strides[k], (unsigned long long)reach);
    }
    return true;
}

static bool check(const struct operation *o, struct validation validation)
{
    return check_counts(o, validation) && check_range(o, validation) &&
           check_overlap(o, validation) && elements_check_size(o, validation);
}

/* ---- Whole slices ---- */

/* True if the axis counts channels, or pixels and channels, of both images. */
static bool counts_channels(const struct view_axis *axis, int32_t from, int32_t to)
{
    int32_t pixels = from / axis->place;
    return axis->stride > 0 && from % axis->place == 0 && to % axis->stride == 0 &&
           to / axis->stride == pixels && axis->size % pixels == 0;
}

/* True if a step along the axis does not change how channels lie in slices, where those of axis
 * `channels` do. */
static bool keeps_slices(const struct view_axis *axis, const struct view_axis *channels,
                         int32_t from, int32_t to)
{
    return (axis->place <= channels->place || axis->place % (4 * (int64_t)from) == 0) &&
           (axis->stride <= channels->stride || axis->stride % (4 * (int64_t)to) == 0);
}

/* True if four channels of a slice of the one image are those of a slice of the other. */
static bool has_whole_slices(const struct operation *o, const struct view_axes *axes)
{
    const struct image_view *source = elements_source(o), *result = elements_result(o);
    int32_t from = (int32_t)(result->width * result->height);
    int32_t to = (int32_t)(source->width * source->height);
    const struct view_axis *channels = NULL;
    for (int k = 0; k < axes->count; k++)
        if (counts_channels(&axes->items[k], from, to))
            channels = &axes->items[k];
    if (!channels)
        return false;
    for (int k = 0; k < axes->count; k++)
        if (!keeps_slices(&axes->items[k], channels, from, to))
            return false;
    return true;
}

/* ---- Digits ---- */

/* Of an element's number: `step` elements of another image each. */
struct digit {
    int32_t size, radix, step;
};

/* The last has the smallest radix. */
struct digits {
    struct digit items[AXES + 1];
    int count;
};

/* By radix. */
static void add_digit(struct digits *digits, struct digit digit)
{
    int k = digits->count++;
    for (; k > 0 && digits->items[k - 1].radix > digit.radix; k--)
        digits->items[k] = digits->items[k - 1];
    digits->items[k] = digit;
}

/* What is taken apart to the end has a digit of radix 1. */
static void complete(struct digits *digits)
{
    if (digits->count == 0 || digits->items[0].radix != 1)
        add_digit(digits, (struct digit){1, 1, 0});
}

static struct digits forward_digits(const struct view_axes *axes)
{
    struct digits digits = {.count = 0};
    for (int k = 0; k < axes->count; k++) {
        const struct view_axis *axis = &axes->items[k];
        add_digit(&digits, (struct digit){axis->size, axis->place, axis->stride});
    }
    complete(&digits);
    return digits;
}

static struct digits gradient_digits(const struct view_axes *axes)
{
    struct digits digits = {.count = 0};
    for (int k = 0; k < axes->count; k++) {
        const struct view_axis *axis = &axes->items[k];
        if (axis->stride > 0)
            add_digit(&digits, (struct digit){axis->size, axis->stride, axis->place});
    }
    complete(&digits);
    return digits;
}

/* Of the number of a repetition. */
static struct digits repeat_digits(const struct view_axes *axes)
{
    struct digits digits = {.count = 0};
    int32_t radix = 1;
    for (int k = 0; k < axes->count; k++) {
        const struct view_axis *axis = &axes->items[k];
        if (axis->stride > 0)
            continue;
        add_digit(&digits, (struct digit){axis->size, radix, axis->place});
        radix *= axis->size;
    }
    return digits;
}

static uint64_t numbers_of(const struct digits *digits)
{
    uint64_t count = 1;
    for (int k = 0; k < digits->count; k++)
        count *= (uint64_t)digits->items[k].size;
    return count;
}

/* ---- Passes ---- */

static void pass_digits(struct pass *pass, const struct digits *digits)
{
    static const char *const names[][3] = {
        {"size_0", "radix_0", "step_0"}, {"size_1", "radix_1", "step_1"},
        {"size_2", "radix_2", "step_2"}, {"size_3", "radix_3", "step_3"},
        {"size_4", "radix_4", "step_4"}, {"size_5", "radix_5", "step_5"},
        {"size_6", "radix_6", "step_6"}};
    pass_define(pass, "DIGITS", digits->count);
    for (int k = 0; k < digits->count; k++) {
        pass_int(pass, names[k][0], digits->items[k].size);
        pass_int(pass, names[k][1], digits->items[k].radix);
        pass_int(pass, names[k][2], digits->items[k].step);
    }
}

/* Axes of stride 0 lie between others, or they are one. */
static void pass_repeats(struct pass *pass, const struct digits *repeats)
{
    static const char *const names[][2] = {{"repeat_radix_0", "repeat_step_0"},
                                           {"repeat_radix_1", "repeat_step_1"},
                                           {"repeat_radix_2", "repeat_step_2"}};
    pass_define(pass, "REPEATS", repeats->count);
    pass_int(pass, "repeats", (int32_t)numbers_of(repeats));
    for (int k = 0; k < repeats->count; k++) {
        pass_int(pass, names[k][0], repeats->items[k].radix);
        pass_int(pass, names[k][1], repeats->items[k].step);
    }
    pass->work = 64 * least((uint32_t)numbers_of(repeats), UINT32_MAX / 64);
}

static void pass_view(struct pass *pass, const struct operation *o, const struct view_axes *axes,
                      const struct digits *digits)
{
    uint64_t in_source = elements_in(elements_source(o));
    uint64_t in_result = elements_in(elements_result(o));
    pass_digits(pass, digits);
    pass_most_elements(pass, in_source > in_result ? in_source : in_result);
    if (has_whole_slices(o, axes))
        pass_define(pass, "WHOLE_SLICES", 1);
    if (operation_is_gradient(o) && numbers_of(digits) < in_source)
        pass_define(pass, "UNREAD", 1);
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    struct view_axes axes = axes_of(o);
    struct digits digits = forward_digits(&axes);
    pass_view(plan_rearranged(o, plan, "slice/place_strided.glsl"), o, &axes, &digits);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct view_axes axes = axes_of(o);
    struct digits digits = gradient_digits(&axes), repeats = repeat_digits(&axes);
    const char *shader = repeats.count ? "slice/repeated_gradient.comp" : "slice/rearranged.comp";
    struct pass *pass = plan_rearranged_by(o, plan, shader, "slice/place_strided.glsl");
    pass_view(pass, o, &axes, &digits);
    if (repeats.count > 0)
        pass_repeats(pass, &repeats);
}

/* ---- Descriptors ---- */

#define FIELD(MEMBER) offsetof(struct glcnn_strided_view_parameters, MEMBER)
#define EXTENT_ROW(NAME, TEXT)                                                                     \
    {                                                                                              \
#NAME, TEXT " of the result", FIELD_UINT32, FIELD(NAME), 1, 1, 65536, NULL                 \
    }
#define AXIS_ROWS(K)                                                                               \
    {"size_" #K,                                                                                   \
     "indices of axis " #K ", of which axis 0 is the slowest",                                     \
     FIELD_UINT32,                                                                                 \
     FIELD(sizes[K]),                                                                              \
     1,                                                                                            \
     1,                                                                                            \
     INT32_MAX,                                                                                    \
     NULL},                                                                                        \
    {                                                                                              \
        "stride_" #K,                                                                              \
            "numbers of the source from one index of axis " #K " to the next; 0: repeats",         \
            FIELD_UINT32, FIELD(strides[K]), 0, 0, INT32_MAX, NULL                                 \
    }

static const struct parameter rows[] = {EXTENT_ROW(width, "columns"),
                                        EXTENT_ROW(height, "rows"),
                                        EXTENT_ROW(feature_channels, "channels"),
                                        AXIS_ROWS(0),
                                        AXIS_ROWS(1),
                                        AXIS_ROWS(2),
                                        AXIS_ROWS(3),
                                        AXIS_ROWS(4),
                                        AXIS_ROWS(5),
                                        {0}};

const struct glcnn_descriptor glcnn_kernel_strided_view = {
    .name = "strided_view",
    .text = "numbers of each image along up to six axes of a stride each: permute, expand, reshape",
    .family = "strided_view",
    .gradient = "strided_view_gradient",
    .flags = MAKES_STATE,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_strided_view_parameters),
    .parameters = rows,
    .arguments = descriptor_image_arguments,
    .keeps_zero = descriptor_always,
    .shape = shape,
    .check = check,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_strided_view_gradient = {
    .name = "strided_view_gradient",
    .text = "gradient of strided_view",
    .family = "strided_view",
    .forward = "strided_view",
    .flags = IS_GRADIENT | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_strided_view_parameters),
    .parameters = rows,
    .arguments = descriptor_gradient_arguments,
    .check = elements_check_state,
    .plan = plan_gradient,
};
