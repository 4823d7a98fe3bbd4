/* Reductions along rows, columns and channels, and the gradients of sums and means: spec 7.14.
 *
 * A reduction is a window: `prepare` turns the source's clip rectangle into an offset and, along
 * the axis that is reduced, a window's size, so that operation->window holds all that passes,
 * references and gradients need to know of it. Every kernel is a row of one table. */
#include "kernels/reduce.h"

#include <string.h>

#include "encode/kernel.h"
#include "encode/window.h"

static const struct reduction reductions[] = {
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

const struct reduction *reduction_of(const struct operation *o)
{
    const struct glcnn_descriptor *d = o->descriptor;
    const struct reduction *r = reductions;
    while (r->name && strcmp(r->name, d->forward ? d->forward : d->name) != 0)
        r++;
    return r;
}

/* ---- Geometry ---- */

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
                            const struct image_view *image, struct validation validation)
{
    struct glcnn_source_rectangle inside;
    if (intersect(r, image, &inside))
        return true;
    return invalid(validation,
                   "the clip rectangle of the %s begins at (%u, %u), outside its %ux%u pixels",
                   what, r->origin_x, r->origin_y, image->width, image->height);
}

static bool forward_check(const struct operation *o, struct validation validation)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    struct glcnn_image_descriptor result;
    if (!check_rectangle("source", &p->clip_rect_source, &o->images[SOURCE], validation))
        return false;
    shape(o, &result);
    if (o->region_width <= result.width && o->region_height <= result.height)
        return true;
    return invalid(validation,
                   "the result is %ux%u; the clip rectangle leaves %ux%u of the destination",
                   result.width, result.height, o->region_width, o->region_height);
}

static bool weights_check(const struct operation *o, struct validation validation)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    const struct image_view *source = &o->images[SOURCE], *weights = &o->images[WEIGHTS];
    struct glcnn_source_rectangle inside;
    if (!forward_check(o, validation) ||
        !check_rectangle("secondary source", &p->secondary_source_clip_rect, weights, validation))
        return false;
    intersect(&p->secondary_source_clip_rect, weights, &inside);
    if (o->region_width <= inside.size_width && o->region_height <= inside.size_height &&
        weights->channels == source->channels)
        return true;
    return invalid(
        validation,
        "%ux%u pixels of %u channels need as many weights; there are %ux%u of %u channels",
        o->region_width, o->region_height, source->channels, inside.size_width, inside.size_height,
        weights->channels);
}

static bool gradient_check(const struct operation *o, struct validation validation)
{
    if (o->state_driven)
        return true;
    return invalid(validation, "it follows its state; no addressing can be set by hand");
}

/* ---- Passes ---- */

int32_t reduce_mean_count(const struct operation *o)
{
    const struct window *w = &o->window;
    bool gradient = o->descriptor->flags & IS_GRADIENT;
    int32_t channels = (int32_t)o->images[gradient ? DESTINATION : SOURCE].channels;
    return reduction_of(o)->axis == CHANNELS ? channels : w->x.size * w->y.size;
}

float reduce_scale(const struct operation *o)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    return reduction_of(o)->has_weight ? p->weight : 1;
}

static void pass_scale(struct pass *pass, const struct operation *o)
{
    pass_float(pass, "scale", reduce_scale(o));
    pass_float(pass, "divisor",
               reduction_of(o)->quantity == MEAN ? (float)reduce_mean_count(o) : 1);
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
#define REDUCTION(NAME, MPS, TEXT, ROWS)                                                           \
    .name = NAME, .mps_class = "MPSNNReduce" MPS, .text = TEXT, .family = NAME,                    \
    .parameters_size = sizeof(struct glcnn_reduce_parameters), .parameters = ROWS,                 \
    .prepare = prepare, .shape = shape, .plan = plan_forward

#define EXTREME(NAME, MPS, TEXT)                                                                   \
    REDUCTION(NAME, MPS, TEXT, rows),                                                              \
        .arguments = {SOURCE_ARGUMENT, RESULT_ARGUMENT},                                           \
        .without_gradient = "MPS has none; of minima and maxima pooling alone has one",            \
        .check = forward_check
#define ARGUMENT(NAME, MPS, TEXT)                                                                  \
    REDUCTION(NAME, MPS, TEXT, rows),                                                              \
        .arguments = {SOURCE_ARGUMENT, RESULT_ARGUMENT},                                           \
        .without_gradient = "a channel's number does not change with its value",                   \
        .check = forward_check
#define LINEAR(NAME, MPS, TEXT, ROWS)                                                              \
    REDUCTION(NAME, MPS, TEXT, ROWS), .arguments = {SOURCE_ARGUMENT, RESULT_ARGUMENT},             \
                                      .gradient = NAME "_gradient", .flags = MAKES_STATE,          \
                                      .check = forward_check
#define WITH_WEIGHTS(NAME, MPS, TEXT, ROWS)                                                        \
    REDUCTION(NAME, MPS, TEXT, ROWS),                                                              \
        .flags = IS_BINARY,                                                                        \
        .arguments = {SOURCE_ARGUMENT,                                                             \
                      RESULT_ARGUMENT,                                                             \
                      {.name = "secondary_image",                                                  \
                       .place = PLACE_SECONDARY,                                                   \
                       .input = true,                                                              \
                       .values = VALUES_ZERO_ONE}},                                                \
        .without_gradient = "MPS has none; multiply and the reduction without weights have one",   \
        .check = weights_check

#define BACKWARD(NAME, ROWS)                                                                       \
    .name = NAME "_gradient", .text = "gradient of " NAME "; MPS has none", .family = NAME,        \
    .without_gradient = "it is a gradient itself", .forward = NAME,                                \
    .flags = IS_GRADIENT | NEEDS_STATE, .parameters_size = sizeof(struct glcnn_reduce_parameters), \
    .parameters = ROWS,                                                                            \
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},               \
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},               \
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}},   \
    .check = gradient_check, .plan = plan_gradient

const struct glcnn_descriptor glcnn_kernel_reduce_row_min = {
    EXTREME("reduce_row_min", "RowMin", "smallest value of each row")};
const struct glcnn_descriptor glcnn_kernel_reduce_row_max = {
    EXTREME("reduce_row_max", "RowMax", "largest value of each row")};
const struct glcnn_descriptor glcnn_kernel_reduce_row_mean = {
    LINEAR("reduce_row_mean", "RowMean", "mean of each row", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_sum = {
    LINEAR("reduce_row_sum", "RowSum", "sum of each row", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_mean_gradient = {
    BACKWARD("reduce_row_mean", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_sum_gradient = {
    BACKWARD("reduce_row_sum", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_min = {
    EXTREME("reduce_column_min", "ColumnMin", "smallest value of each column")};
const struct glcnn_descriptor glcnn_kernel_reduce_column_max = {
    EXTREME("reduce_column_max", "ColumnMax", "largest value of each column")};
const struct glcnn_descriptor glcnn_kernel_reduce_column_mean = {
    LINEAR("reduce_column_mean", "ColumnMean", "mean of each column", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_sum = {
    LINEAR("reduce_column_sum", "ColumnSum", "sum of each column", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_mean_gradient = {
    BACKWARD("reduce_column_mean", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_sum_gradient = {
    BACKWARD("reduce_column_sum", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_min = {
    EXTREME("reduce_feature_channels_min", "FeatureChannelsMin", "smallest of a pixel's channels")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_max = {
    EXTREME("reduce_feature_channels_max", "FeatureChannelsMax", "largest of a pixel's channels")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_argument_min = {
    ARGUMENT("reduce_feature_channels_argument_min", "FeatureChannelsArgumentMin",
             "number of a pixel's smallest channel, the first of equals")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_argument_max = {
    ARGUMENT("reduce_feature_channels_argument_max", "FeatureChannelsArgumentMax",
             "number of a pixel's largest channel, the first of equals")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_mean = {LINEAR(
    "reduce_feature_channels_mean", "FeatureChannelsMean", "mean of a pixel's channels", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_sum = {LINEAR(
    "reduce_feature_channels_sum", "FeatureChannelsSum", "sum of a pixel's channels", sum_rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_mean_gradient = {
    BACKWARD("reduce_feature_channels_mean", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_sum_gradient = {
    BACKWARD("reduce_feature_channels_sum", sum_rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_and_weights_mean = {
    WITH_WEIGHTS("reduce_feature_channels_and_weights_mean", "FeatureChannelsAndWeightsMean",
                 "mean of a pixel's channels times weights", mean_weights_rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_and_weights_sum = {
    WITH_WEIGHTS("reduce_feature_channels_and_weights_sum", "FeatureChannelsAndWeightsSum",
                 "sum of a pixel's channels times weights", sum_weights_rows)};

/* ---- Constructors ---- */

struct glcnn_reduce_parameters *glcnn_reduce(glcnn_kernel *kernel)
{
    bool reduces = kernel && strncmp(kernel->descriptor->name, "reduce_", 7) == 0;
    return reduces ? kernel->parameters : NULL;
}

#define DEFINE_CREATE(NAME)                                                                        \
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
