/* Pooling and its gradients: spec 7.1. Each choice is one ordered list of implementations; the first
 * is taken that the device and the problem suit. Their shaders lie in glsl/pooling.
 *
 * List "pooling", a result (this file):
 *   pooling_separable            large windows, in two ping-pong passes: pooling_reduce_columns.comp,
 *                                then pooling_reduce_rows.comp
 *   pooling_direct               a window an invocation: pooling_average.comp, pooling_l2_norm.comp,
 *                                pooling_max.comp or, where a state keeps which taps were largest,
 *                                pooling_max_indices.comp
 * List "pooling_gradient", a gradient (pooling_gradient.c):
 *   pooling_gradient_disjoint    maxima of windows that do not overlap, a window an invocation:
 *                                pooling_max_gradient_disjoint.comp
 *   pooling_gradient_indices     maxima whose argmax indices are in the state, two pixels an
 *                                invocation: pooling_max_gradient_indices.comp
 *   pooling_gradient_recomputed  L2 norms of few taps: pooling_l2_norm_gradient.comp
 *   pooling_gradient_separable   large windows, in ping-pong passes:
 *                                pooling_..._gradient_columns.comp, then _rows.comp
 *   pooling_gradient_gather      a pixel an invocation, which walks the windows that read it:
 *                                pooling_..._gradient.comp
 *
 * Lists "pooling_average_gradient_pixels" and "pooling_max_gradient_pixels": whether the readers make
 * the gradient of windows that do not overlap.
 *
 * None of the first two asks anything of the device, so Mali, V3D, Adreno and llvmpipe take the same: the
 * gradient of max pooling takes pooling_max_gradient_disjoint.comp for 2x2 windows at stride 2, which
 * store each pixel once without a search, and pooling_max_gradient_indices.comp for 3x3 windows at
 * stride 2, which overlap. Rows that share memory, of large desktop GPUs, stand before both lists. No
 * gradient adds to a pixel that another invocation writes: the windows of a pixel are gathered. */
#include "kernels/pooling.h"

#include "encode/kernel.h"
#include "encode/window.h"

#define MOST_WINDOWS 9u                /* that read a pixel, for a state to keep argmax indices */
#define MOST_BYTES   ((size_t)1 << 27) /* of a buffer, on any device */

/* ---- Windows ---- */

/* Caffe's rule: the padding implied by the offset counts, what lies beyond does not. */
static int32_t implied_padding(const struct axis *axis)
{
    int32_t left = axis->first + axis->stride * axis->begin;
    return left < 0 ? -left : 0;
}

void pooling_counted_padding(const struct operation *o, int32_t pad[2])
{
    const struct glcnn_pooling_parameters *p = o->parameters;
    pad[0] = (int32_t)p->zero_pad_size_x;
    pad[1] = (int32_t)p->zero_pad_size_y;
    if (!o->window.exclude_edges)
        return;
    pad[0] = implied_padding(&o->window.x);
    pad[1] = implied_padding(&o->window.y);
}

bool pooling_counts_whole_window(const struct operation *o)
{
    return o->window.edge_mode == GLCNN_EDGE_MODE_ZERO && !o->window.exclude_edges;
}

uint32_t pooling_windows_at(const struct axis *axis)
{
    return groups_of((uint32_t)axis->size, (uint32_t)axis->stride);
}

bool pooling_is_regular(const struct axis *axis)
{
    return axis->stride == 1 || (axis->dilation == 1 && axis->stride <= axis->size);
}

bool pooling_touches(const struct axis *axis, uint32_t size)
{
    int32_t low = axis->first + axis->stride * axis->begin;
    int32_t high = axis->first + axis->stride * (axis->end - 1) + axis->dilation * (axis->size - 1);
    bool all = low >= 0 && high < (int32_t)size;
    return all ||
           (axis->dilation == 1 && low + axis->size > 0 && high - (axis->size - 1) < (int32_t)size);
}

static int32_t inside(int32_t at, uint32_t size)
{
    int32_t last = (int32_t)size - 1;
    return at < 0 ? 0 : at > last ? last : at;
}

struct span pooling_span(const struct axis *axis, int32_t begin, uint32_t count, uint32_t size)
{
    int32_t low = axis->first + axis->stride * begin;
    int32_t high = low + axis->stride * (int32_t)(count - 1) + axis->dilation * (axis->size - 1);
    int32_t first = inside(low, size);
    return (struct span){first, (uint32_t)(inside(high, size) - first + 1)};
}

/* ---- Argmax indices ---- */

static bool is_small(const struct window *w)
{
    uint32_t at = pooling_windows_at(&w->x) * pooling_windows_at(&w->y);
    bool has_taps = w->x.size > 1 || w->y.size > 1;
    return has_taps && w->x.size <= POOLING_INDEX_SIDE && w->y.size <= POOLING_INDEX_SIDE &&
           at <= MOST_WINDOWS && pooling_is_regular(&w->x) && pooling_is_regular(&w->y);
}

/* Each index is that of a tap which reads a pixel itself. */
static bool is_inside(const struct window *w, const struct image_view *source)
{
    return w->edge_mode != GLCNN_EDGE_MODE_CLAMP ||
           (w->x.dilation == 1 && w->y.dilation == 1 && pooling_touches(&w->x, source->width) &&
            pooling_touches(&w->y, source->height));
}

size_t pooling_index_count(const struct window *w, const struct image_view *source,
                           const struct image_view *result)
{
    size_t count =
        (size_t)result->width * result->height * slice_count(result->channels) * result->images;
    return is_small(w) && is_inside(w, source) && count <= MOST_BYTES / 4 ? count : 0;
}

/* A gradient whose addressing the user set, in place of a state, may have other windows. */
static size_t index_count(const struct operation *o, size_t index)
{
    if (index == INDICES && !operation_is_gradient(o))
        return pooling_index_count(&o->window, &o->images[SOURCE], &o->images[RESULT]);
    bool follows = index == GRADIENT_INDICES && o->state_driven;
    return follows ? pooling_index_count(&o->window, &o->images[IMAGE], &o->images[GRADIENT]) : 0;
}

/* ---- Passes ---- */

void pooling_pass_padding(struct pass *pass, const struct operation *o)
{
    int32_t pad[2];
    pooling_counted_padding(o, pad);
    if (pooling_counts_whole_window(o))
        pass_define(pass, "WHOLE_WINDOW", 1);
    pass_int(pass, "zero_pad_x", pad[0]);
    pass_int(pass, "zero_pad_y", pad[1]);
}

/* All of `count` windows from `begin` on, along an axis. */
static bool are_inside(const struct axis *axis, uint32_t begin, uint32_t count, uint32_t size)
{
    int64_t first = axis->first + (int64_t)axis->stride * begin;
    int64_t last =
        first + (int64_t)axis->stride * (count - 1) + (int64_t)axis->dilation * (axis->size - 1);
    return first >= 0 && last < size;
}

static void pass_indices(struct pass *pass, const struct pooling *p)
{
    pass_vector(pass, "indices", &p->operation->vectors[INDICES], VECTOR_WRITE);
    pass_int(pass, "tap_count", p->window.x.size * p->window.y.size);
    if (p->window.edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "CLAMPED", 1);
}

static void plan_direct(struct plan *plan, const struct implementation *row, const void *problem)
{
    static const char *const shaders[] = {
        "pooling/pooling_average.comp", "pooling/pooling_l2_norm.comp", "pooling/pooling_max.comp",
        "pooling/pooling_max_indices.comp"};
    const struct pooling *p = problem;
    bool keeps_indices = p->reduction == POOLING_MAX_INDICES;
    struct pass *pass = plan_pass(plan, shaders[p->reduction]);
    pass_implementation(pass, row);
    pass_grid_over(pass, p->width, p->height, "destination", p->result);
    pass_origin(pass, p->x, p->y, 0);
    pass_overwrites(pass, p->result, p->x, p->y, p->width, p->height, 1);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "destination", p->result);
    pass_window(pass, &p->window);
    if (keeps_indices)
        pass_indices(pass, p);
    else
        pooling_pass_padding(pass, p->operation);
    if (keeps_indices && p->source->storage->producer &&
        plan->device->info.traits.submits_dispatches)
        pass_define(pass, "MAKES_SOURCE", 1);
    if (are_inside(&p->window.x, p->x, p->width, p->source->width) &&
        are_inside(&p->window.y, p->y, p->height, p->source->height))
        pass_define(pass, "ALL_INSIDE", 1);
    pass->work = (uint32_t)(p->window.x.size * p->window.y.size) * (keeps_indices ? 16 : 8);
    pass->prefers_large_groups =
        p->window.x.stride > 1; /* neighbours read pixels a stride apart: narrow groups */
}

/* ---- Two ping-pong passes: time grows with a window's width and height, not its area ---- */

static struct span columns_of(const struct pooling *p)
{
    return pooling_span(&p->window.x, (int32_t)p->x, p->width, p->source->width);
}

static bool is_separable(const void *problem)
{
    return ((const struct pooling *)problem)->reduction != POOLING_MAX_INDICES;
}

/* A second pass writes and reads an image more, and is a dispatch more. */
bool pooling_separable_gains(double one_pass, double two_passes, double longest)
{
    return one_pass > 2 * two_passes + 0x1p20 || longest > 256;
}

static bool has_large_windows(const void *problem)
{
    const struct pooling *p = problem;
    double taps_x = p->window.x.size, taps_y = p->window.y.size;
    double rows = p->height * ((double)slice_count(p->result->channels) * p->result->images);
    return pooling_separable_gains(rows * p->width * taps_x * taps_y,
                                   rows * p->width * taps_x + rows * columns_of(p).count * taps_y,
                                   taps_x * taps_y);
}

static struct pass *plan_reduction(struct plan *plan, const struct pooling *p, const char *shader,
                                   const struct span *columns)
{
    static const char *const defines[] = {"AVERAGE", "L2_NORM", "MAX"};
    struct pass *pass = plan_pass(plan, shader);
    pass_window(pass, &p->window);
    pass_define(pass, defines[p->reduction], 1);
    pooling_pass_padding(pass, p->operation);
    pass_int(pass, "first_column", columns->first);
    pass_int(pass, "first_row", (int32_t)p->y);
    return pass;
}

/* The first reads the source and writes a scratch texture array, the second reads that. */
static void plan_separable(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct pooling *p = problem;
    struct span columns = columns_of(p);
    struct image_view part = plan_scratch_image(
        plan, (struct extent){columns.count, p->height, p->result->channels, p->result->images});
    struct pass *pass = plan_reduction(plan, p, "pooling/pooling_reduce_columns.comp", &columns);
    pass_implementation(pass, row);
    pass_grid_over(pass, part.width, part.height, "part", &part);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "part", &part);
    pass->work = (uint32_t)p->window.y.size * 8;
    pass = plan_reduction(plan, p, "pooling/pooling_reduce_rows.comp", &columns);
    pass_implementation(pass, row);
    pass_grid_over(pass, p->width, p->height, "destination", p->result);
    pass_origin(pass, p->x, p->y, 0);
    pass_texture(pass, "part", &part);
    pass_image(pass, "destination", p->result);
    if (p->reduction == POOLING_L2_NORM) { /* for sums that float32 cannot hold */
        pass_library(pass, "pooling/norm_of_squares.glsl");
        pass_texture(pass, "source", p->source);
    } else {
        pass_source_size(pass, p->source);
    }
    pass->work = (uint32_t)p->window.x.size * 8;
}

const struct implementation_list pooling_list = {
    "pooling",
    (const struct implementation[]){
        {"pooling_separable", .supported = {is_separable, "a result without argmax indices"},
         .profitable = {has_large_windows, "large windows"}, .plan = plan_separable},
        {"pooling_direct", .plan = plan_direct},
        {0}}};

/* ---- Plans ---- */

/* A maximum leaves argmax indices, or reads them, where it is given the vector of them. */
static enum pooling_reduction reduction_of(const struct operation *o, int indices)
{
    enum pooling_reduction reduction = *(const enum pooling_reduction *)o->descriptor->form;
    return reduction == POOLING_MAX && o->given[indices] ? POOLING_MAX_INDICES : reduction;
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    const struct pooling p = {.operation = o,
                              .reduction = reduction_of(o, INDICES),
                              .window = o->window,
                              .source = &o->images[SOURCE],
                              .result = &o->images[RESULT],
                              .x = o->region_x,
                              .y = o->region_y,
                              .width = o->region_width,
                              .height = o->region_height};
    implementation_plan(plan, &pooling_list, &p);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct pooling_gradient p = {o, reduction_of(o, GRADIENT_INDICES)};
    implementation_plan(plan, &pooling_gradient_list, &p);
}

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"zero_pad_size_x", "columns of zeros that count on each side; edge mode clamp only",
     FIELD_UINT32, offsetof(struct glcnn_pooling_parameters, zero_pad_size_x), 0, 0, 65535, NULL},
    {"zero_pad_size_y", "rows of zeros that count on each side; edge mode clamp only", FIELD_UINT32,
     offsetof(struct glcnn_pooling_parameters, zero_pad_size_y), 0, 0, 65535, NULL},
    {0}};

static void node_defaults(struct glcnn_addressing *properties, void *kernel_parameters)
{
    (void)kernel_parameters;
    properties->primary.edge_mode = GLCNN_EDGE_MODE_CLAMP;
}

static const struct implementation_list *const lists[] = {&pooling_list, NULL};
static const struct implementation_list *const average_gradient_lists[] = {
    &pooling_gradient_list, &pooling_average_gradient_pixels, NULL};
static const struct implementation_list *const l2_norm_gradient_lists[] = {&pooling_gradient_list,
                                                                           &pooling_list, NULL};
static const struct implementation_list *const max_gradient_lists[] = {
    &pooling_gradient_list, &pooling_max_gradient_pixels, NULL};

static const struct argument max_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "indices", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};
static const struct argument max_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "indices",
     .place = PLACE_STATE,
     .input = true,
     .optional = true,
     .forward_fills = true},
    {0}};

enum {
    FORWARD_FLAGS = HAS_WINDOW | HAS_STRIDE | MAKES_STATE | READS_FUSED,
    GRADIENT_FLAGS = HAS_WINDOW | HAS_STRIDE | IS_GRADIENT | READS_FUSED
};

/* What all forward kernels have alike, and all their gradients. */
#define FORWARD(NAME)                                                                              \
    .name = NAME, .family = "pooling", .gradient = NAME "_gradient",                               \
    .parameters_size = sizeof(struct glcnn_pooling_parameters), .parameters = parameters,          \
    .node_defaults = node_defaults, .keeps_zero = descriptor_always, .implementations = lists,     \
    .plan = plan_forward

#define GRADIENT_OF(NAME)                                                                          \
    .name = NAME "_gradient", .family = "pooling", .forward = NAME,                                \
    .parameters_size = sizeof(struct glcnn_pooling_parameters), .parameters = parameters,          \
    .plan = plan_gradient

const struct glcnn_descriptor glcnn_kernel_pooling_average = {
    .mps_class = "MPSCNNPoolingAverage",
    .text = "mean over a window",
    FORWARD("pooling_average"),
    .form = &(const enum pooling_reduction){POOLING_AVERAGE},
    .flags = FORWARD_FLAGS | EXCLUDES_EDGES,
    .arguments = descriptor_image_arguments,
};
const struct glcnn_descriptor glcnn_kernel_pooling_average_gradient = {
    .mps_class = "MPSCNNPoolingAverageGradient",
    .text = "gradient of pooling_average",
    GRADIENT_OF("pooling_average"),
    .form = &(const enum pooling_reduction){POOLING_AVERAGE},
    .flags = GRADIENT_FLAGS,
    .arguments = descriptor_gradient_arguments,
    .fusion = pooling_average_fusion,
    .fuse = pooling_fuse_average,
    .implementations = average_gradient_lists,
};

const struct glcnn_descriptor glcnn_kernel_pooling_l2_norm = {
    .mps_class = "MPSCNNPoolingL2Norm",
    .text = "square root of the sum of squares over a window",
    FORWARD("pooling_l2_norm"),
    .form = &(const enum pooling_reduction){POOLING_L2_NORM},
    .flags = FORWARD_FLAGS,
    .arguments = descriptor_image_arguments,
};
const struct glcnn_descriptor glcnn_kernel_pooling_l2_norm_gradient = {
    .mps_class = "MPSCNNPoolingL2NormGradient",
    .text = "gradient of pooling_l2_norm",
    GRADIENT_OF("pooling_l2_norm"),
    .form = &(const enum pooling_reduction){POOLING_L2_NORM},
    .flags = GRADIENT_FLAGS,
    .arguments = descriptor_gradient_arguments,
    .implementations = l2_norm_gradient_lists,
};

const struct glcnn_descriptor glcnn_kernel_pooling_max = {
    .mps_class = "MPSCNNPoolingMax",
    .text = "largest value of a window",
    FORWARD("pooling_max"),
    .form = &(const enum pooling_reduction){POOLING_MAX},
    .flags = FORWARD_FLAGS,
    .arguments = max_arguments,
    .length = index_count,
};
const struct glcnn_descriptor glcnn_kernel_pooling_max_gradient = {
    .mps_class = "MPSCNNPoolingMaxGradient",
    .text = "gradient of pooling_max",
    GRADIENT_OF("pooling_max"),
    .form = &(const enum pooling_reduction){POOLING_MAX},
    .flags = GRADIENT_FLAGS,
    .arguments = max_gradient_arguments,
    .length = index_count,
    .fusion = pooling_max_fusion,
    .fuse = pooling_fuse_max,
    .implementations = max_gradient_lists,
};

const struct glcnn_descriptor glcnn_kernel_dilated_pooling_max = {
    .mps_class = "MPSCNNDilatedPoolingMax",
    .text = "largest value of a window with spaced taps",
    FORWARD("dilated_pooling_max"),
    .form = &(const enum pooling_reduction){POOLING_MAX},
    .flags = FORWARD_FLAGS | HAS_DILATION,
    .arguments = max_arguments,
    .length = index_count,
};
const struct glcnn_descriptor glcnn_kernel_dilated_pooling_max_gradient = {
    .mps_class = "MPSCNNDilatedPoolingMaxGradient",
    .text = "gradient of dilated_pooling_max",
    GRADIENT_OF("dilated_pooling_max"),
    .form = &(const enum pooling_reduction){POOLING_MAX},
    .flags = GRADIENT_FLAGS | HAS_DILATION,
    .arguments = max_gradient_arguments,
    .length = index_count,
    .fusion = pooling_max_fusion,
    .fuse = pooling_fuse_max,
    .implementations = max_gradient_lists,
};
