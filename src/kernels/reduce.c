/* Reductions along rows, columns and channels, and their gradients: spec 7.14. The forward pass of a
 * minimum or maximum leaves in the state which value each is, and the gradient reads that in place of
 * the source.
 *
 * A reduction is a window: `prepare` turns the source's clip rectangle into an offset and, along
 * the axis that is reduced, a window's size, so that operation->window holds all that passes,
 * references and gradients need to know of it. Every kernel is a row of one table. */
#include "kernels/reduce.h"

#include <string.h>

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/elements.h"

const struct reduction *reduction_of(const struct operation *o)
{
    return o->descriptor->form;
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

/* More weights than pixels, of which no rectangle chooses some, are of another image. */
static bool chooses_weights(const struct glcnn_source_rectangle *inside,
                            const struct image_view *source, const struct image_view *weights)
{
    bool all = inside->size_width == weights->width && inside->size_height == weights->height;
    return !all || (weights->width <= source->width && weights->height <= source->height);
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
        chooses_weights(&inside, source, weights) && weights->channels == source->channels)
        return true;
    return invalid(
        validation,
        "%ux%u pixels of %u channels need as many weights; there are %ux%u of %u channels",
        o->region_width, o->region_height, source->channels, inside.size_width, inside.size_height,
        weights->channels);
}

/* ---- Indices of extremes ---- */

/* Four of a result's channels are beside each other; of channels one number is left. */
static size_t index_count(const struct operation *o, size_t index)
{
    const struct image_view *result = &o->images[operation_is_gradient(o) ? GRADIENT : RESULT];
    size_t pixels = (size_t)result->width * result->height * result->images;
    (void)index;
    return reduction_of(o)->axis == CHANNELS ? pixels : pixels * slice_count(result->channels) * 4;
}

static void pass_indices(struct pass *pass, const struct operation *o, int indices,
                         enum vector_access access)
{
    pass_define(pass, "INDICES", 1);
    pass_vector_of(pass, reduction_of(o)->axis == CHANNELS ? "float" : "vec4", "indices",
                   &o->vectors[indices], access);
}

/* ---- Passes ---- */

int32_t reduce_mean_count(const struct operation *o)
{
    const struct window *w = &o->window;
    bool gradient = operation_is_gradient(o);
    int32_t channels = (int32_t)o->images[gradient ? DESTINATION : SOURCE].channels;
    return reduction_of(o)->axis == CHANNELS ? channels : w->x.size * w->y.size;
}

float reduce_scale(const struct operation *o)
{
    const struct glcnn_reduce_parameters *p = o->parameters;
    const struct reduction *r = reduction_of(o);
    bool has_weight =
        r->axis == CHANNELS && r->quantity == SUM && !(o->descriptor->flags & IS_BINARY);
    return has_weight ? p->weight : 1;
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
    else if (o->given[INDICES])
        pass_indices(pass, o, INDICES, VECTOR_WRITE);
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
    if (o->given[GRADIENT_INDICES])
        pass_indices(pass, o, GRADIENT_INDICES, VECTOR_READ);
    else
        pass_scale(pass, o);
    if (reduction_of(o)->axis == CHANNELS)
        pass_define(pass, "SPLAT", 1);
    pass_int(pass, "first_x", w->x.first);
    pass_int(pass, "first_y", w->y.first);
    pass_int(pass, "size_x", w->x.size);
    pass_int(pass, "size_y", w->y.size);
    pass_results(pass, w);
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

static const struct argument weights_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_ZERO_ONE},
    {0}};

static const struct argument extreme_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "indices", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};
static const struct argument extreme_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "indices", .place = PLACE_STATE, .input = true, .forward_fills = true},
    {0}};

/* The kinds of rows of the table below. */
#define REDUCTION(NAME, AXIS, QUANTITY, MPS, TEXT, ROWS)                                           \
    .name = NAME, .mps_class = "MPSNNReduce" MPS, .text = TEXT, .family = NAME,                    \
    .form = &(const struct reduction){AXIS, QUANTITY},                                             \
    .parameters_size = sizeof(struct glcnn_reduce_parameters), .parameters = ROWS,                 \
    .prepare = prepare, .shape = shape, .plan = plan_forward

#define EXTREME(NAME, AXIS, QUANTITY, MPS, TEXT)                                                   \
    .gradient = NAME "_gradient", .flags = MAKES_STATE, .unread = UNREAD_FIRST,                    \
    .arguments = extreme_arguments, .length = index_count, .check = forward_check,                 \
    REDUCTION(NAME, AXIS, QUANTITY, MPS, TEXT, rows)

#define ARGUMENT(NAME, AXIS, QUANTITY, MPS, TEXT)                                                  \
    .without_gradient = "a channel's number does not change with its value",                       \
    .unread = UNREAD_FIRST, .arguments = descriptor_image_arguments, .check = forward_check,       \
    REDUCTION(NAME, AXIS, QUANTITY, MPS, TEXT, rows)

#define LINEAR(NAME, AXIS, QUANTITY, MPS, TEXT, ROWS)                                              \
    .gradient = NAME "_gradient", .flags = MAKES_STATE, .unread = UNREAD_FIRST,                    \
    .arguments = descriptor_image_arguments, .check = forward_check,                               \
    REDUCTION(NAME, AXIS, QUANTITY, MPS, TEXT, ROWS)

#define WITH_WEIGHTS(NAME, AXIS, QUANTITY, MPS, TEXT, ROWS)                                        \
    .without_gradient = "MPS has none; multiply and the reduction without weights have one",       \
    .flags = IS_BINARY, .unread = UNREAD_BOTH, .arguments = weights_arguments,                     \
    .check = weights_check, REDUCTION(NAME, AXIS, QUANTITY, MPS, TEXT, ROWS)

#define GRADIENT_OF(NAME, AXIS, QUANTITY, ROWS)                                                    \
    .name = NAME "_gradient", .text = "gradient of " NAME "; MPS has none", .family = NAME,        \
    .forward = NAME, .form = &(const struct reduction){AXIS, QUANTITY},                            \
    .flags = IS_GRADIENT | NEEDS_STATE, .parameters_size = sizeof(struct glcnn_reduce_parameters), \
    .parameters = ROWS, .check = elements_check_state, .plan = plan_gradient

#define GRADIENT_OF_LINEAR(NAME, AXIS, QUANTITY, ROWS)                                             \
    GRADIENT_OF(NAME, AXIS, QUANTITY, ROWS), .arguments = descriptor_gradient_arguments

#define GRADIENT_OF_EXTREME(NAME, AXIS, QUANTITY)                                                  \
    GRADIENT_OF(NAME, AXIS, QUANTITY, rows), .arguments = extreme_gradient_arguments,              \
                                             .length = index_count

const struct glcnn_descriptor glcnn_kernel_reduce_row_min = {
    EXTREME("reduce_row_min", ROW, MINIMUM, "RowMin", "smallest value of each row")};
const struct glcnn_descriptor glcnn_kernel_reduce_row_max = {
    EXTREME("reduce_row_max", ROW, MAXIMUM, "RowMax", "largest value of each row")};
const struct glcnn_descriptor glcnn_kernel_reduce_row_min_gradient = {
    GRADIENT_OF_EXTREME("reduce_row_min", ROW, MINIMUM)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_max_gradient = {
    GRADIENT_OF_EXTREME("reduce_row_max", ROW, MAXIMUM)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_mean = {
    LINEAR("reduce_row_mean", ROW, MEAN, "RowMean", "mean of each row", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_sum = {
    LINEAR("reduce_row_sum", ROW, SUM, "RowSum", "sum of each row", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_mean_gradient = {
    GRADIENT_OF_LINEAR("reduce_row_mean", ROW, MEAN, rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_row_sum_gradient = {
    GRADIENT_OF_LINEAR("reduce_row_sum", ROW, SUM, rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_min = {
    EXTREME("reduce_column_min", COLUMN, MINIMUM, "ColumnMin", "smallest value of each column")};
const struct glcnn_descriptor glcnn_kernel_reduce_column_max = {
    EXTREME("reduce_column_max", COLUMN, MAXIMUM, "ColumnMax", "largest value of each column")};
const struct glcnn_descriptor glcnn_kernel_reduce_column_min_gradient = {
    GRADIENT_OF_EXTREME("reduce_column_min", COLUMN, MINIMUM)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_max_gradient = {
    GRADIENT_OF_EXTREME("reduce_column_max", COLUMN, MAXIMUM)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_mean = {
    LINEAR("reduce_column_mean", COLUMN, MEAN, "ColumnMean", "mean of each column", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_sum = {
    LINEAR("reduce_column_sum", COLUMN, SUM, "ColumnSum", "sum of each column", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_mean_gradient = {
    GRADIENT_OF_LINEAR("reduce_column_mean", COLUMN, MEAN, rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_column_sum_gradient = {
    GRADIENT_OF_LINEAR("reduce_column_sum", COLUMN, SUM, rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_min = {
    EXTREME("reduce_feature_channels_min", CHANNELS, MINIMUM, "FeatureChannelsMin",
            "smallest of a pixel's channels")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_max = {
    EXTREME("reduce_feature_channels_max", CHANNELS, MAXIMUM, "FeatureChannelsMax",
            "largest of a pixel's channels")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_min_gradient = {
    GRADIENT_OF_EXTREME("reduce_feature_channels_min", CHANNELS, MINIMUM)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_max_gradient = {
    GRADIENT_OF_EXTREME("reduce_feature_channels_max", CHANNELS, MAXIMUM)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_argument_min = {ARGUMENT(
    "reduce_feature_channels_argument_min", CHANNELS, ARGUMENT_MINIMUM,
    "FeatureChannelsArgumentMin", "number of a pixel's smallest channel, the first of equals")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_argument_max = {ARGUMENT(
    "reduce_feature_channels_argument_max", CHANNELS, ARGUMENT_MAXIMUM,
    "FeatureChannelsArgumentMax", "number of a pixel's largest channel, the first of equals")};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_mean = {
    LINEAR("reduce_feature_channels_mean", CHANNELS, MEAN, "FeatureChannelsMean",
           "mean of a pixel's channels", rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_sum = {
    LINEAR("reduce_feature_channels_sum", CHANNELS, SUM, "FeatureChannelsSum",
           "sum of a pixel's channels", sum_rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_mean_gradient = {
    GRADIENT_OF_LINEAR("reduce_feature_channels_mean", CHANNELS, MEAN, rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_sum_gradient = {
    GRADIENT_OF_LINEAR("reduce_feature_channels_sum", CHANNELS, SUM, sum_rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_and_weights_mean = {WITH_WEIGHTS(
    "reduce_feature_channels_and_weights_mean", CHANNELS, MEAN, "FeatureChannelsAndWeightsMean",
    "mean of a pixel's channels times weights", mean_weights_rows)};
const struct glcnn_descriptor glcnn_kernel_reduce_feature_channels_and_weights_sum = {WITH_WEIGHTS(
    "reduce_feature_channels_and_weights_sum", CHANNELS, SUM, "FeatureChannelsAndWeightsSum",
    "sum of a pixel's channels times weights", sum_weights_rows)};

/* ---- Typed access ---- */

struct glcnn_reduce_parameters *glcnn_reduce(glcnn_kernel *kernel)
{
    bool reduces = kernel && strncmp(kernel->descriptor->name, "reduce_", 7) == 0;
    return reduces ? kernel->parameters : NULL;
}
