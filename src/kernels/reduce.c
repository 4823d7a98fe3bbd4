/* Reductions along rows, columns and channels, and the gradients of sums and means: spec 7.14.
 *
 * A reduction is a window: `prepare` turns the source's clip rectangle into an offset and, along
 * the axis that is reduced, a window's size, so that operation->window holds all that passes,
 * references and gradients need to know of it. Every kernel is a row of one table. */
#include "glcnn/kernels/reduce.h"

#include <math.h>
#include <string.h>

#include "encode/kernel.h"
#include "encode/window.h"

enum axis_reduced { ROW, COLUMN, CHANNELS };
enum quantity { SUM, MEAN, MINIMUM, MAXIMUM, ARGUMENT_MINIMUM, ARGUMENT_MAXIMUM };

static const struct reduction {
    const char *name;
    enum axis_reduced axis;
    enum quantity quantity;
    bool has_weight; /* the parameter */
} reductions[] = {
    {"reduce_row_min", ROW, MINIMUM, false},
    {"reduce_row_max", ROW, MAXIMUM, false},
    {"reduce_row_mean", ROW, MEAN, false},
    {"reduce_row_sum", ROW, SUM, false},
    {"reduce_column_min", COLUMN, MINIMUM, false},
    {"reduce_column_max", COLUMN, MAXIMUM, false},
    {"reduce_column_mean", COLUMN, MEAN, false},
    {"reduce_column_sum", COLUMN, SUM, false},
    {"reduce_feature_channels_min", CHANNELS, MINIMUM, false},
    {"reduce_feature_channels_max", CHANNELS, MAXIMUM, false},
    {"reduce_feature_channels_mean", CHANNELS, MEAN, false},
    {"reduce_feature_channels_sum", CHANNELS, SUM, true},
    {"reduce_feature_channels_argument_min", CHANNELS, ARGUMENT_MINIMUM, false},
    {"reduce_feature_channels_argument_max", CHANNELS, ARGUMENT_MAXIMUM, false},
    {"reduce_feature_channels_and_weights_mean", CHANNELS, MEAN, false},
    {"reduce_feature_channels_and_weights_sum", CHANNELS, SUM, false},
    {NULL, ROW, SUM, false},
};

/* The kernel's row; a gradient's is that of its forward kernel. */
static const struct reduction *reduction_of(const struct operation *o)
{
    const struct glcnn_descriptor *d = o->descriptor;
    const struct reduction *r = reductions;
    while (r->name && strcmp(r->name, d->forward ? d->forward : d->name) != 0)
        r++;
    return r;
}

struct glcnn_reduce_parameters *glcnn_reduce(glcnn_kernel *kernel)
{
    bool reduces = kernel && strncmp(kernel->descriptor->name, "reduce_", 7) == 0;
    return reduces ? kernel->parameters : NULL;
}

/* ---- Constructors ---- */

#define DEFINE_CREATE(NAME)                                                                        \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME;                                      \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, glcnn_kernel **kernel)                \
    {                                                                                              \
        return kernel_create(device, &glcnn_kernel_##NAME, kernel);                                \
    }

DEFINE_CREATE(reduce_row_min)
DEFINE_CREATE(reduce_row_max)
DEFINE_CREATE(reduce_row_mean)
DEFINE_CREATE(reduce_row_sum)
DEFINE_CREATE(reduce_row_mean_gradient)
DEFINE_CREATE(reduce_row_sum_gradient)
DEFINE_CREATE(reduce_column_min)
DEFINE_CREATE(reduce_column_max)
DEFINE_CREATE(reduce_column_mean)
DEFINE_CREATE(reduce_column_sum)
DEFINE_CREATE(reduce_column_mean_gradient)
DEFINE_CREATE(reduce_column_sum_gradient)
DEFINE_CREATE(reduce_feature_channels_min)
DEFINE_CREATE(reduce_feature_channels_max)
DEFINE_CREATE(reduce_feature_channels_mean)
DEFINE_CREATE(reduce_feature_channels_sum)
DEFINE_CREATE(reduce_feature_channels_argument_min)
DEFINE_CREATE(reduce_feature_channels_argument_max)
DEFINE_CREATE(reduce_feature_channels_and_weights_mean)
DEFINE_CREATE(reduce_feature_channels_and_weights_sum)
DEFINE_CREATE(reduce_feature_channels_mean_gradient)
DEFINE_CREATE(reduce_feature_channels_sum_gradient)

/* ---- Geometry ---- */

enum { SOURCE, RESULT, WEIGHTS };      /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION }; /* of a gradient kernel */

/* The part inside an image; false if there is none. */
static bool intersect(const struct glcnn_source_rectangle *r, const struct image_view *image,
                      struct glcnn_source_rectangle *inside)
{
    *inside = (struct glcnn_source_rectangle){0, 0, 1, 1};
    if (r->origin_x >= image->width || r->origin_y >= image->height)
        return false;
    *inside = (struct glcnn_source_rectangle){r->origin_x, r->origin_y,
                                              least(r->size_width, image->width - r->origin_x),
                                              least(r->size_height, image->height - r->origin_y)};
    return true;
}

static void prepare(struct operation *o)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    enum axis_reduced axis = reduction_of(o)->axis;
    struct glcnn_source_properties *source = &o->properties.primary;
    struct glcnn_source_rectangle r;
    intersect(&p->clip_rect_source, &o->images[SOURCE], &r);
    source->kernel_width = axis == ROW ? r.size_width : 1;
    source->kernel_height = axis == COLUMN ? r.size_height : 1;
    source->offset.x = (int32_t)(r.origin_x + source->kernel_width / 2);
    source->offset.y = (int32_t)(r.origin_y + source->kernel_height / 2);
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    enum axis_reduced axis = reduction_of(o)->axis;
    struct glcnn_source_rectangle r;
    intersect(&p->clip_rect_source, &o->images[SOURCE], &r);
    result->width = axis == ROW ? 1 : r.size_width;
    result->height = axis == COLUMN ? 1 : r.size_height;
    if (axis == CHANNELS)
        result->feature_channels = 1;
}

static bool check_rectangle(const char *what, const struct glcnn_source_rectangle *r,
                            const struct image_view *image, struct refusal refusal)
{
    struct glcnn_source_rectangle inside;
    if (intersect(r, image, &inside))
        return true;
    return refuse(refusal,
                  "the clip rectangle of the %s begins at (%u, %u), outside its %ux%u pixels", what,
                  r->origin_x, r->origin_y, image->width, image->height);
}

static bool forward_check(const struct operation *o, struct refusal refusal)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    struct glcnn_image_descriptor result;
    if (!check_rectangle("source", &p->clip_rect_source, &o->images[SOURCE], refusal))
        return false;
    shape(o, &result);
    if (o->region_width <= result.width && o->region_height <= result.height)
        return true;
    return refuse(refusal,
                  "the result is %ux%u; the clip rectangle leaves %ux%u of the destination",
                  result.width, result.height, o->region_width, o->region_height);
}

static bool weights_check(const struct operation *o, struct refusal refusal)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    const struct image_view *source = &o->images[SOURCE], *weights = &o->images[WEIGHTS];
    struct glcnn_source_rectangle inside;
    if (!forward_check(o, refusal) ||
        !check_rectangle("secondary source", &p->secondary_source_clip_rect, weights, refusal))
        return false;
    intersect(&p->secondary_source_clip_rect, weights, &inside);
    if (o->region_width <= inside.size_width && o->region_height <= inside.size_height &&
        weights->channels == source->channels)
        return true;
    return refuse(
        refusal, "%ux%u pixels of %u channels need as many weights; there are %ux%u of %u channels",
        o->region_width, o->region_height, source->channels, inside.size_width, inside.size_height,
        weights->channels);
}

static bool gradient_check(const struct operation *o, struct refusal refusal)
{
    if (o->state_driven)
        return true;
    return refuse(refusal, "it follows its state; no addressing can be set by hand");
}

/* ---- Passes ---- */

/* Values that a mean divides by: those that one result was made of. */
static int32_t mean_count(const struct operation *o)
{
    const struct window *w = &o->window;
    bool gradient = o->descriptor->flags & IS_GRADIENT;
    int32_t channels = (int32_t)o->images[gradient ? DESTINATION : SOURCE].channels;
    return reduction_of(o)->axis == CHANNELS ? channels : w->x.size * w->y.size;
}

static float scale_of(const struct operation *o)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    return reduction_of(o)->has_weight ? p->weight : 1;
}

static void pass_scale(struct pass *pass, const struct operation *o)
{
    pass_float(pass, "scale", scale_of(o));
    pass_float(pass, "divisor", reduction_of(o)->quantity == MEAN ? (float)mean_count(o) : 1);
}

static void pass_extreme(struct pass *pass, enum quantity quantity)
{
    bool smallest = quantity == MINIMUM || quantity == ARGUMENT_MINIMUM;
    pass_define(pass, "LARGEST", smallest ? -1 : 1);
    if (quantity == ARGUMENT_MINIMUM || quantity == ARGUMENT_MAXIMUM)
        pass_define(pass, "ARGUMENT", 1);
}

/* Weights lie where the secondary's rectangle says, counted from the region's first pixel. */
static void pass_weights(struct pass *pass, const struct operation *o)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    pass_texture(pass, "weights", &o->images[WEIGHTS]);
    pass_define(pass, "WEIGHTED", 1);
    if (p->do_weighted_sum_by_non_zero_weights)
        pass_define(pass, "BY_NON_ZERO", 1);
    pass_int(pass, "weights_x",
             (int32_t)p->secondary_source_clip_rect.origin_x - (int32_t)o->region_x);
    pass_int(pass, "weights_y",
             (int32_t)p->secondary_source_clip_rect.origin_y - (int32_t)o->region_y);
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    const struct reduction *r = reduction_of(o);
    const struct image_view *source = &o->images[SOURCE], *result = &o->images[RESULT];
    const struct window *w = &o->window;
    int32_t count =
        r->axis == CHANNELS ? (int32_t)slice_count(source->channels) : w->x.size * w->y.size;
    struct pass *pass = plan_pixels(plan, o, "reduce/reduce.comp", result);
    if (r->axis == CHANNELS) /* the result has one slice: nothing to take apart */
        pass_grid(pass, o->region_width, o->region_height, result->images);
    pass_texture(pass, "source", source);
    pass_image(pass, "destination", result);
    pass_define(pass, "AXIS", (int)r->axis);
    if (r->quantity == SUM || r->quantity == MEAN)
        pass_scale(pass, o);
    else
        pass_extreme(pass, r->quantity);
    if (o->descriptor->flags & IS_BINARY)
        pass_weights(pass, o);
    pass_int(pass, "first_x", w->x.first);
    pass_int(pass, "first_y", w->y.first);
    pass_int(pass, "count", count);
    pass->work = (uint32_t)count * 8;
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct window *w = &o->window;
    struct pass *pass =
        plan_pixels(plan, o, "reduce/reduce_gradient.comp", &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_scale(pass, o);
    if (reduction_of(o)->axis == CHANNELS)
        pass_define(pass, "SPLAT", 1);
    pass_int(pass, "first_x", w->x.first);
    pass_int(pass, "first_y", w->y.first);
    pass_int(pass, "size_x", w->x.size);
    pass_int(pass, "size_y", w->y.size);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "end_x", w->x.end);
    pass_int(pass, "end_y", w->y.end);
    pass->prefers_large_groups = true;
}

/* ---- References ---- */

/* All that any reduction wants to know of the values seen so far. */
struct tally {
    double sum, smallest, largest;
    uint32_t count, non_zero, smallest_at, largest_at;
};

static bool wins(double value, double best)
{
    return value > best || (isnan(value) && !isnan(best));
}

static void tally_add(struct tally *t, double value, double weight)
{
    t->sum += value * weight;
    t->non_zero += weight != 0;
    if (t->count == 0 || wins(value, t->largest)) {
        t->largest = value;
        t->largest_at = t->count;
    }
    if (t->count == 0 || wins(-value, -t->smallest)) {
        t->smallest = value;
        t->smallest_at = t->count;
    }
    t->count++;
}

static double tally_result(const struct tally *t, const struct operation *o)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    double sum = (double)scale_of(o) * t->sum;
    const double results[] = {
        [SUM] =
            p->do_weighted_sum_by_non_zero_weights ? sum / (t->non_zero ? t->non_zero : 1) : sum,
        [MEAN] = sum / t->count,
        [MINIMUM] = t->smallest,
        [MAXIMUM] = t->largest,
        [ARGUMENT_MINIMUM] = t->smallest_at,
        [ARGUMENT_MAXIMUM] = t->largest_at,
    };
    return results[reduction_of(o)->quantity];
}

static double weight_at(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    const struct glcnn_reduce_parameters *p = r->operation->parameters;
    const struct window *w = &r->operation->window;
    if (!(r->operation->descriptor->flags & IS_BINARY))
        return 1;
    return tensor_get(&r->images[WEIGHTS], n, c,
                      Y - w->y.begin + (int32_t)p->secondary_source_clip_rect.origin_y,
                      X - w->x.begin + (int32_t)p->secondary_source_clip_rect.origin_x);
}

static void reduce_pixel(const struct reference *r, uint32_t n, uint32_t channel, int32_t Y,
                         int32_t X)
{
    const struct window *w = &r->operation->window;
    const struct tensor *source = &r->images[SOURCE];
    bool all = reduction_of(r->operation)->axis == CHANNELS;
    struct tally tally = {0};
    for (uint32_t c = all ? 0 : channel; c < (all ? source->channels : channel + 1); c++)
        for (int32_t q = 0; q < w->y.size; q++)
            for (int32_t p = 0; p < w->x.size; p++)
                tally_add(&tally, tensor_get(source, n, c, w->y.first + Y + q, w->x.first + X + p),
                          weight_at(r, n, c, Y, X));
    *tensor_at(&r->images[RESULT], n, channel, Y, X) = tally_result(&tally, r->operation);
}

static void forward_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    for (uint32_t n = 0; n < r->images[RESULT].images; n++)
        for (uint32_t c = 0; c < r->images[RESULT].channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    reduce_pixel(r, n, c, Y, X);
}

/* Every result hands its gradient to all that it was made of. */
static void scatter_pixel(const struct reference *r, uint32_t n, uint32_t c, int32_t Y, int32_t X)
{
    const struct window *w = &r->operation->window;
    const struct reduction *reduction = reduction_of(r->operation);
    double share = tensor_get(&r->images[GRADIENT], n, reduction->axis == CHANNELS ? 0 : c, Y, X) *
                   (double)scale_of(r->operation);
    if (reduction->quantity == MEAN)
        share /= mean_count(r->operation);
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++)
            *tensor_at(&r->images[DESTINATION], n, c, w->y.first + Y + q, w->x.first + X + p) +=
                share;
}

static void gradient_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    for (uint32_t n = 0; n < r->images[DESTINATION].images; n++)
        for (uint32_t c = 0; c < r->images[DESTINATION].channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    scatter_pixel(r, n, c, Y, X);
}

/* ---- Cases ---- */

#define PLAIN_CASES                                                                                \
    {"", {1, 1, 3, 3}}, {"", {2, 2, 4, 3}}, {"", {1, 3, 1, 1}}, {"", {3, 4, 2, 5}},                \
        {"", {1, 5, 7, 6}}, {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}},            \
        {"", {2, 9, 4, 4}}, {"", {1, 37, 5, 6}}, {"", {1, 2, 3, 67}}, {"", {1, 2, 66, 2}},         \
    {                                                                                              \
        "source_feature_channel_offset=4 source_feature_channel_max_count=3",                      \
        {                                                                                          \
            2, 9, 3, 4                                                                             \
        }                                                                                          \
    }
#define RECTANGLE_CASES                                                                            \
    {"clip_rect_source_origin_x=1 clip_rect_source_origin_y=2", {2, 5, 6, 7}},                     \
        {"clip_rect_source_origin_x=2 clip_rect_source_size_width=3 "                              \
         "clip_rect_source_size_height=4",                                                         \
         {1, 3, 5, 9}},                                                                            \
        {"clip_rect_source_origin_y=3 clip_rect_source_size_width=100 "                            \
         "clip_rect_source_size_height=100 clip_rect_size_width=1 clip_rect_size_height=1",        \
         {2, 6, 5, 4}},                                                                            \
        {"", {2, 300, 9, 130}, {0}, true}, {"", {1, 3, 2000, 5}, {0}, true},                       \
    {                                                                                              \
        "", {1, 3, 5, 2000}, {0}, true                                                             \
    }

static const struct check_case row_cases[] = {
    PLAIN_CASES,
    RECTANGLE_CASES,
    {"clip_rect_origin_y=1 clip_rect_size_height=2 clip_rect_source_origin_x=1", {2, 5, 4, 5}},
    {0}};
static const struct check_case column_cases[] = {
    PLAIN_CASES,
    RECTANGLE_CASES,
    {"clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_source_origin_x=1", {2, 5, 4, 5}},
    {0}};
static const struct check_case channel_cases[] = {
    PLAIN_CASES,
    RECTANGLE_CASES,
    {"clip_rect_origin_x=1 clip_rect_size_width=2 clip_rect_origin_y=1 "
     "clip_rect_source_origin_y=1",
     {2, 5, 4, 5}},
    {0}};
static const struct check_case sum_cases[] = {
    PLAIN_CASES, RECTANGLE_CASES, {"weight=-2.5", {2, 6, 3, 4}}, {0}};
#define WEIGHTS_CASES                                                                              \
    {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}}, {"", {1, 37, 5, 6}},               \
        {"primary_source_clip_rect_origin_x=1 primary_source_clip_rect_size_height=2 "             \
         "secondary_source_clip_rect_origin_x=2 secondary_source_clip_rect_origin_y=1",            \
         {2, 5, 4, 5},                                                                             \
         {2, 5, 3, 6}},                                                                            \
        {"clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=2", {2, 5, 4, 5}},        \
        {"primary_source_feature_channel_offset=4 secondary_source_feature_channel_offset=8 "      \
         "primary_source_feature_channel_max_count=3",                                             \
         {2, 9, 3, 4},                                                                             \
         {2, 11, 3, 4}},                                                                           \
    {                                                                                              \
        "", {2, 300, 9, 13}, {0}, true                                                             \
    }
static const struct check_case weights_cases[] = {WEIGHTS_CASES,
                                                  {"", {1, 1, 3, 3}},
                                                  {"", {2, 2, 4, 3}},
                                                  {"", {1, 3, 1, 1}},
                                                  {"", {3, 4, 2, 5}},
                                                  {"", {1, 5, 7, 6}},
                                                  {0}};
static const struct check_case weights_sum_cases[] = {
    WEIGHTS_CASES,
    {"", {1, 3, 4, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {1, 1, 3, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {2, 2, 4, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {1, 5, 7, 6}},
    {"do_weighted_sum_by_non_zero_weights=1", {2, 8, 3, 3}},
    {"do_weighted_sum_by_non_zero_weights=1", {2, 35, 3, 3}},
    {0}};

/* ---- Descriptors ---- */

#define FIELD(MEMBER) offsetof(struct glcnn_reduce_parameters, MEMBER)
#define EVERYTHING    4294967295.0
#define FARTHEST      2147483647.0

#define RECTANGLE_ROW(NAME, TEXT, MEMBER, DEFAULT, LEAST, MOST)                                    \
    {                                                                                              \
        NAME, TEXT, FIELD_UINT32, FIELD(MEMBER), DEFAULT, LEAST, MOST, NULL                        \
    }
#define RECTANGLE_ROWS(NAME, MEMBER)                                                               \
    RECTANGLE_ROW(NAME "_origin_x", "first column reduced; takes the place of the offset",         \
                  MEMBER.origin_x, 0, 0, FARTHEST),                                                \
        RECTANGLE_ROW(NAME "_origin_y", "first row reduced", MEMBER.origin_y, 0, 0, FARTHEST),     \
        RECTANGLE_ROW(NAME "_size_width", "columns reduced, as far as there are",                  \
                      MEMBER.size_width, EVERYTHING, 1, EVERYTHING),                               \
        RECTANGLE_ROW(NAME "_size_height", "rows reduced, as far as there are",                    \
                      MEMBER.size_height, EVERYTHING, 1, EVERYTHING)
#define BINARY_ROWS                                                                                \
    RECTANGLE_ROWS("primary_source_clip_rect", clip_rect_source),                                  \
        RECTANGLE_ROWS("secondary_source_clip_rect", secondary_source_clip_rect)

static const struct parameter rows[] = {RECTANGLE_ROWS("clip_rect_source", clip_rect_source), {0}};
static const struct parameter sum_rows[] = {
    RECTANGLE_ROWS("clip_rect_source", clip_rect_source),
    {"weight", "the sum is multiplied by it", FIELD_FLOAT, FIELD(weight), 1, -3.4e38, 3.4e38, NULL},
    {0}};
static const struct parameter mean_weights_rows[] = {BINARY_ROWS, {0}};
static const struct parameter sum_weights_rows[] = {
    BINARY_ROWS,
    {"do_weighted_sum_by_non_zero_weights", "divides by the number of weights that are not 0",
     FIELD_BOOL, FIELD(do_weighted_sum_by_non_zero_weights), 0, 0, 1, NULL},
    {0}};

#define SOURCE_ARGUMENT                                                                            \
    {                                                                                              \
        .name = "source_image", .place = PLACE_SOURCE, .input = true                               \
    }
#define RESULT_ARGUMENT                                                                            \
    {                                                                                              \
        .name = "destination_image", .place = PLACE_DESTINATION, .output = true                    \
    }
#define REDUCTION(NAME, MPS, TEXT, ROWS, CASES)                                                    \
    .name = NAME, .mps_class = "MPSNNReduce" MPS, .text = TEXT, .family = NAME,                    \
    .parameters_size = sizeof(struct glcnn_reduce_parameters), .parameters = ROWS,                 \
    .prepare = prepare, .shape = shape, .plan = plan_forward, .reference = forward_reference,      \
    .cases = CASES

#define EXTREME(NAME, MPS, TEXT, CASES)                                                            \
    REDUCTION(NAME, MPS, TEXT, rows, CASES),                                                       \
        .arguments = {SOURCE_ARGUMENT, RESULT_ARGUMENT},                                           \
        .without_gradient = "MPS has none; of minima and maxima pooling alone has one",            \
        .check = forward_check
#define ARGUMENT(NAME, MPS, TEXT)                                                                  \
    REDUCTION(NAME, MPS, TEXT, rows, channel_cases),                                               \
        .arguments = {SOURCE_ARGUMENT, RESULT_ARGUMENT},                                           \
        .without_gradient = "a channel's number does not change with its value",                   \
        .check = forward_check
#define LINEAR(NAME, MPS, TEXT, ROWS, CASES)                                                       \
    REDUCTION(NAME, MPS, TEXT, ROWS, CASES), .arguments = {SOURCE_ARGUMENT, RESULT_ARGUMENT},      \
                                             .gradient = NAME "_gradient", .flags = MAKES_STATE,   \
                                             .check = forward_check
#define WITH_WEIGHTS(NAME, MPS, TEXT, ROWS, CASES)                                                 \
    REDUCTION(NAME, MPS, TEXT, ROWS, CASES),                                                       \
        .flags = IS_BINARY,                                                                        \
        .arguments = {SOURCE_ARGUMENT,                                                             \
                      RESULT_ARGUMENT,                                                             \
                      {.name = "secondary_image",                                                  \
                       .place = PLACE_SECONDARY,                                                   \
                       .input = true,                                                              \
                       .values = VALUES_ZERO_ONE}},                                                \
        .without_gradient = "MPS has none; multiply and the reduction without weights have one",   \
        .check = weights_check

#define BACKWARD(NAME, ROWS, CASES)                                                                \
    .name = NAME "_gradient", .text = "gradient of " NAME "; MPS has none", .family = NAME,        \
    .without_gradient = "it is a gradient itself", .forward = NAME,                                \
    .flags = IS_GRADIENT | NEEDS_STATE, .parameters_size = sizeof(struct glcnn_reduce_parameters), \
    .parameters = ROWS,                                                                            \
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},               \
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},               \
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}},   \
    .check = gradient_check, .plan = plan_gradient, .reference = gradient_reference,               \
    .cases = CASES

const struct glcnn_descriptor glcnn_kernel_reduce_row_min = {
    EXTREME("reduce_row_min", "RowMin", "smallest value of each row", row_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_max = {
    EXTREME("reduce_row_max", "RowMax", "largest value of each row", row_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_mean = {
    LINEAR("reduce_row_mean", "RowMean", "mean of each row", rows, row_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_sum = {
    LINEAR("reduce_row_sum", "RowSum", "sum of each row", rows, row_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_mean_gradient = {
    BACKWARD("reduce_row_mean", rows, row_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_sum_gradient = {
    BACKWARD("reduce_row_sum", rows, row_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_min = {
    EXTREME("reduce_column_min", "ColumnMin", "smallest value of each column", column_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_max = {
    EXTREME("reduce_column_max", "ColumnMax", "largest value of each column", column_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_mean = {
    LINEAR("reduce_column_mean", "ColumnMean", "mean of each column", rows, column_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_sum = {
    LINEAR("reduce_column_sum", "ColumnSum", "sum of each column", rows, column_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_mean_gradient = {
    BACKWARD("reduce_column_mean", rows, column_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_sum_gradient = {
    BACKWARD("reduce_column_sum", rows, column_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_min = {
    EXTREME("reduce_feature_channels_min", "FeatureChannelsMin", "smallest of a pixel's channels",
            channel_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_max = {
    EXTREME("reduce_feature_channels_max", "FeatureChannelsMax", "largest of a pixel's channels",
            channel_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_argument_min = {
    ARGUMENT("reduce_feature_channels_argument_min", "FeatureChannelsArgumentMin",
             "number of a pixel's smallest channel, the first of equals")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_argument_max = {
    ARGUMENT("reduce_feature_channels_argument_max", "FeatureChannelsArgumentMax",
             "number of a pixel's largest channel, the first of equals")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_mean = {
    LINEAR("reduce_feature_channels_mean", "FeatureChannelsMean", "mean of a pixel's channels",
           rows, channel_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_sum = {
    LINEAR("reduce_feature_channels_sum", "FeatureChannelsSum", "sum of a pixel's channels",
           sum_rows, sum_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_mean_gradient = {
    BACKWARD("reduce_feature_channels_mean", rows, channel_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_sum_gradient = {
    BACKWARD("reduce_feature_channels_sum", sum_rows, sum_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_and_weights_mean = {
    WITH_WEIGHTS("reduce_feature_channels_and_weights_mean", "FeatureChannelsAndWeightsMean",
                 "mean of a pixel's channels times weights", mean_weights_rows, weights_cases)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_and_weights_sum = {
    WITH_WEIGHTS("reduce_feature_channels_and_weights_sum", "FeatureChannelsAndWeightsSum",
                 "sum of a pixel's channels times weights", sum_weights_rows, weights_sum_cases)};
