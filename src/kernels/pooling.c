/* Pooling and its gradients: spec 7.1. All gradients gather: one invocation owns one source pixel
 * and walks the windows that read it, so there is nothing to accumulate between invocations. Over
 * large windows averages, norms and maxima take two passes (pooling_separable.c). */
#include "kernels/pooling.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/pooling_separable.h"
#include "kernels/pooling_shared.h"
#include "kernels/pooling_strips.h"
#include "kernels/pooling_winners.h"

/* ---- Zero padding that counts ---- */

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

/* ---- Passes ---- */

static void add_padding(const struct operation *o, struct pass *pass)
{
    int32_t pad[2];
    pooling_counted_padding(o, pad);
    if (pooling_counts_whole_window(o))
        pass_define(pass, "WHOLE_WINDOW", 1);
    pass_int(pass, "zero_pad_x", pad[0]);
    pass_int(pass, "zero_pad_y", pad[1]);
}

static struct pooled results_of(const struct operation *o, const char *fold)
{
    return (struct pooled){.operation = o,
                           .window = o->window,
                           .source = &o->images[SOURCE],
                           .result = &o->images[RESULT],
                           .x = o->region_x,
                           .y = o->region_y,
                           .width = o->region_width,
                           .height = o->region_height,
                           .fold = fold,
                           .add_padding = add_padding};
}

static void plan_results(struct plan *plan, const struct pooled *p, const char *shader)
{
    const struct implementation *row, *strips;
    if (pooling_plan_separable(plan, p, &row) || pooling_plan_strips(plan, p, &strips))
        return;
    struct pass *pass = plan_pass(plan, shader);
    pass_grid_over(pass, p->width, p->height, "destination", p->result);
    pass_origin(pass, p->x, p->y, 0);
    pass_overwrites(pass, p->result, p->x, p->y, p->width, p->height, 1);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "destination", p->result);
    pass_window(pass, &p->window);
    p->add_padding(p->operation, pass);
    pass_inside(pass, p);
    pass->work = (uint32_t)(p->window.x.size * p->window.y.size) * 8;
    pass->prefers_large_groups =
        p->window.x.stride > 1; /* neighbours read pixels apart: in narrow groups, near */
    pass_implementation(pass, row);
}

/* Windows that may read a pixel. */
static uint32_t windows_at(const struct operation *o)
{
    uint64_t windows =
        (uint64_t)pooling_windows_at(&o->window.x) * pooling_windows_at(&o->window.y);
    return windows < 1u << 24 ? (uint32_t)windows : 1u << 24;
}

static struct pass *plan_gradient(const struct operation *o, struct plan *plan, const char *shader)
{
    struct pass *pass = plan_pixels(plan, o, shader, &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_window(pass, &o->window);
    pass->work = windows_at(o) * 16;
    return pass;
}

#define LANES     32u    /* of a group that makes an average */
#define LONG_TAPS 16u    /* of a window that they share */
#define ENOUGH    16384u /* invocations to keep a large GPU busy */

static bool are_few_and_large(const void *shape)
{
    const struct operation *o = shape;
    const struct image_view *result = &o->images[RESULT];
    uint64_t results = (uint64_t)o->region_width * o->region_height *
                       slice_count(result->channels) * result->images;
    return results < ENOUGH && (uint32_t)(o->window.x.size * o->window.y.size) >= LONG_TAPS;
}

static const struct implementation_list average_rows = {
    "pooling_average",
    (const struct implementation[]){{"pooling_average_group", .registers = 16,
                                     .shared_memory = true, .profitable.holds = are_few_and_large},
                                    {"pooling_average_alone"},
                                    {0}}};

static void plan_average_groups(const struct operation *o, struct plan *plan,
                                const struct implementation *row)
{
    const struct image_view *result = &o->images[RESULT];
    struct pass *pass = plan_pass(plan, "pooling/pooling_average_group.comp");
    pass_implementation(pass, row);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", result);
    pass_window(pass, &o->window);
    add_padding(o, pass);
    pass_define(pass, "LANES", (int)LANES);
    pass_grid(pass, o->region_width * LANES, o->region_height,
              slice_count(result->channels) * result->images);
    pass_origin(pass, o->region_x, o->region_y, 0);
    pass_local(pass, LANES, 1, 1);
    pass->cooperative = true;
    pass->work = groups_of((uint32_t)(o->window.x.size * o->window.y.size), LANES) * 8 + 64;
}

static void plan_average(const struct operation *o, struct plan *plan)
{
    const struct implementation *row = implementation_choose(plan, &average_rows, o);
    const struct pooled results = results_of(o, "AVERAGE");
    if (row == average_rows.rows) {
        plan_average_groups(o, plan, row);
        return;
    }
    plan_results(plan, &results, "pooling/pooling_average.comp");
}

static void plan_l2_norm(const struct operation *o, struct plan *plan)
{
    const struct pooled results = results_of(o, "SQUARES");
    plan_results(plan, &results, "pooling/pooling_l2_norm.comp");
}

static void plan_max(const struct operation *o, struct plan *plan)
{
    struct pooled results = results_of(o, "LARGEST");
    const struct implementation *row;
    results.winners = o->given[WINNERS] ? &o->vectors[WINNERS] : NULL;
    if (!results.winners)
        plan_results(plan, &results, "pooling/pooling_max.comp");
    else if (!pooling_plan_strips(plan, &results, &row))
        pooling_plan_kept(plan, &results, row);
}

static struct pooled_gradient gradient_of(const struct operation *o)
{
    return (struct pooled_gradient){.operation = o,
                                    .gradient = &o->images[GRADIENT],
                                    .source = &o->images[IMAGE],
                                    .destination = &o->images[DESTINATION],
                                    .add_padding = add_padding};
}

static void plan_average_gradient(const struct operation *o, struct plan *plan)
{
    const struct implementation *row;
    struct pooled_gradient gradient = gradient_of(o);
    gradient.columns = "pooling/pooling_average_gradient_columns.comp";
    gradient.rows = "pooling/pooling_average_gradient_rows.comp";
    if (pooling_plan_shared_gradient(plan, &gradient, "AVERAGE", &row) ||
        pooling_plan_separable_gradient(plan, &gradient, &row))
        return;
    struct pass *pass = plan_gradient(o, plan, "pooling/pooling_average_gradient.comp");
    pass_int(pass, "source_width", (int32_t)o->images[IMAGE].width);
    pass_int(pass, "source_height", (int32_t)o->images[IMAGE].height);
    add_padding(o, pass);
    pass->prefers_large_groups = windows_at(o) == 1;
    pass_implementation(pass, row);
}

/* The window whose result 0 is result begin. */
static struct axis from_begin(struct axis axis)
{
    axis.first += axis.stride * axis.begin;
    axis.end -= axis.begin;
    axis.begin = 0;
    return axis;
}

/* The norm of each window, found once and not by all pixels that it reads. */
static struct image_view plan_norms(const struct operation *o, struct plan *plan)
{
    const struct image_view *source = &o->images[IMAGE];
    uint32_t width = pooling_window_count(&o->window.x);
    uint32_t height = pooling_window_count(&o->window.y);
    struct image_view norms =
        plan_scratch_image(plan, (struct extent){width, height, source->channels, source->images});
    struct pooled results = {.operation = o,
                             .window = o->window,
                             .source = source,
                             .result = &norms,
                             .width = width,
                             .height = height,
                             .fold = "SQUARES",
                             .add_padding = add_padding};
    results.window.x = from_begin(o->window.x);
    results.window.y = from_begin(o->window.y);
    plan_results(plan, &results, "pooling/pooling_l2_norm.comp");
    return norms;
}

/* What a gradient takes whose pixels find the norms of their windows themselves. */
static double taps_anew(const struct operation *o)
{
    return (double)windows_at(o) * o->window.x.size * o->window.y.size;
}

static bool norms_pay(const void *operation)
{
    return taps_anew(operation) > 8;
}

static const struct implementation_list norm_rows = {
    "pooling_norms",
    (const struct implementation[]){
        {"pooling_norms_kept", .profitable.holds = norms_pay}, {"pooling_norms_anew"}, {0}}};

static void plan_l2_norm_gathered(const struct operation *o, struct plan *plan)
{
    const struct implementation *row;
    struct image_view norms = plan_norms(o, plan);
    struct pooled_gradient gradient = gradient_of(o);
    gradient.columns = "pooling/pooling_l2_norm_gradient_columns.comp";
    gradient.rows = "pooling/pooling_l2_norm_gradient_rows.comp";
    gradient.norms = &norms;
    if (pooling_plan_separable_gradient(plan, &gradient, &row))
        return;
    struct pass *pass = plan_gradient(o, plan, "pooling/pooling_l2_norm_gradient_gather.comp");
    pass_texture(pass, "norms", &norms);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_implementation(pass, norm_rows.rows);
}

static void plan_l2_norm_gradient(const struct operation *o, struct plan *plan)
{
    const struct pooled_gradient gradient = gradient_of(o);
    const struct implementation *row;
    if (pooling_plan_shared_gradient(plan, &gradient, "SQUARES", &row))
        return;
    row = implementation_choose(plan, &norm_rows, o);
    if (row == norm_rows.rows) {
        plan_l2_norm_gathered(o, plan);
        return;
    }
    struct pass *pass = plan_gradient(o, plan, "pooling/pooling_l2_norm_gradient.comp");
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass->work = (uint32_t)fmin(taps_anew(o) * 16, 0x1p29);
    pass_implementation(pass, row);
}

/* Windows side by side, none beyond the image: each source pixel has one window at most. */
static bool tiles(const struct axis *axis, uint32_t source_size)
{
    int32_t last = axis->first + axis->stride * axis->end;
    return axis->stride == axis->size && axis->dilation == 1 && axis->shift == 0 &&
           axis->first + axis->stride * axis->begin >= 0 && last <= (int32_t)source_size;
}

static bool covers(const struct axis *axis, uint32_t source_size)
{
    return axis->first + axis->stride * axis->begin == 0 &&
           axis->first + axis->stride * axis->end == (int32_t)source_size;
}

/* One invocation owns one window and stores all of its pixels: a fraction of the reads. */
static void plan_max_gradient_tiles(const struct pooled_gradient *p, struct plan *plan)
{
    const struct operation *o = p->operation;
    const struct axis *x = &o->window.x, *y = &o->window.y;
    bool whole = covers(x, p->source->width) && covers(y, p->source->height);
    if (!whole)
        plan_fill_image(plan, p->destination);
    struct pass *pass = plan_pass(plan, "pooling/pooling_max_gradient_tiles.comp");
    if (whole)
        pass_overwrites(pass, p->destination, 0, 0, p->destination->width, p->destination->height,
                        1);
    pass_texture(pass, "gradient", p->gradient);
    if (p->winners) {
        pass_define(pass, "WINNERS", 1);
        pass_kept_winners(pass, p);
    } else {
        pass_texture(pass, "source", p->source);
    }
    pass_image(pass, "destination", p->destination);
    pass_window(pass, &o->window);
    pass_origin(pass, (uint32_t)x->begin, (uint32_t)y->begin, 0);
    pass_grid_over(pass, (uint32_t)(x->end - x->begin), (uint32_t)(y->end - y->begin),
                   "destination", p->destination);
    pass->work = (uint32_t)(x->size * y->size) * 16;
}

/* The winner of each window is searched once, and not by all pixels that it reads. */
static struct image_view plan_winners(const struct operation *o, struct plan *plan)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    const struct image_view *source = &o->images[IMAGE];
    struct image_view winners =
        plan_scratch_image(plan, (struct extent){pooling_window_count(x), pooling_window_count(y),
                                                 source->channels, source->images});
    struct pass *pass = plan_pass(plan, "pooling/pooling_max_winners.comp");
    pass_texture(pass, "source", source);
    pass_image(pass, "winners", &winners);
    pass_window(pass, &o->window);
    pass_origin(pass, (uint32_t)x->begin, (uint32_t)y->begin, 0);
    pass_grid_over(pass, winners.width, winners.height, "winners", &winners);
    pass->work = (uint32_t)(x->size * y->size) * 8;
    return winners;
}

static void plan_max_gradient_gathered(const struct operation *o, struct plan *plan)
{
    struct image_view winners = plan_winners(o, plan);
    struct pass *pass = plan_gradient(o, plan, "pooling/pooling_max_gradient.comp");
    pass_texture(pass, "winners", &winners);
    pass_int(pass, "source_width", (int32_t)o->images[IMAGE].width);
    pass_int(pass, "source_height", (int32_t)o->images[IMAGE].height);
    pass->work = 64;
}

/* Those of a gradient addressed by hand may be of other windows. */
static size_t winner_count(const struct operation *o, size_t index)
{
    if (index == WINNERS && !(o->descriptor->flags & IS_GRADIENT))
        return pooling_winner_count(&o->window, &o->images[SOURCE], &o->images[RESULT]);
    bool follows = index == GRADIENT_WINNERS && o->state_driven;
    return follows ? pooling_winner_count(&o->window, &o->images[IMAGE], &o->images[GRADIENT]) : 0;
}

/* Windows side by side, and a gradient of all of their source. */
static bool are_side_by_side(const struct operation *o)
{
    const struct image_view *to = &o->images[DESTINATION], *of = &o->images[IMAGE];
    return o->region_width == to->width && o->region_height == to->height &&
           to->width == of->width && to->height == of->height && tiles(&o->window.x, of->width) &&
           tiles(&o->window.y, of->height);
}

static void plan_max_gradient_side_by_side(const struct pooled_gradient *p, struct plan *plan)
{
    const struct implementation *tiled;
    size_t first = plan->pass_count;
    if (pooling_plan_shared_gradient(plan, p, p->winners ? "WINNERS" : "LARGEST", &tiled))
        return;
    plan_max_gradient_tiles(p, plan);
    plan_implementation(plan, first, tiled);
}

/* Where passes along rows and columns pay they take half of the time of tiles in shared memory, of
 * 5x5 windows as of larger ones (H200). */
static void plan_max_gradient_anew(const struct pooled_gradient *p, struct plan *plan)
{
    const struct implementation *form, *tiled;
    size_t first = plan->pass_count;
    if (pooling_plan_separable_max_gradient(plan, p, &form) ||
        pooling_plan_shared_gradient(plan, p, "LARGEST", &tiled))
        return;
    plan_max_gradient_gathered(p->operation, plan);
    plan_implementation(plan, first, form);
}

static void plan_max_gradient(const struct operation *o, struct plan *plan)
{
    struct pooled_gradient gradient = gradient_of(o);
    gradient.columns = "pooling/pooling_max_gradient_columns.comp";
    gradient.rows = "pooling/pooling_max_gradient_rows.comp";
    gradient.winners = o->given[GRADIENT_WINNERS] ? &o->vectors[GRADIENT_WINNERS] : NULL;
    if (!pooling_reads_winners(plan, &gradient))
        gradient.winners = NULL;
    if (are_side_by_side(o))
        plan_max_gradient_side_by_side(&gradient, plan);
    else if (gradient.winners)
        pooling_plan_kept_gradient(plan, &gradient);
    else
        plan_max_gradient_anew(&gradient, plan);
}

/* ---- Gradients that their readers make ---- */

/* Each pixel has one window at most, and every tap lies inside. */
static bool has_one_window(const struct axis *axis, uint32_t source_size)
{
    struct axis of = from_begin(*axis);
    if (of.end == 1) /* whatever the stride */
        of.stride = of.size;
    return of.end > 0 && tiles(&of, source_size);
}

/* A pixel of it is one of the gradient that arrives: a pass or a store costs more. That of a maximum
 * takes all pixels of its window, for which an H200's step takes an eighth longer. */
static const struct implementation_list average_derivation_rows = {
    "pooling_average_gradient_pixels",
    (const struct implementation[]){
        {"pooling_average_gradient_derived", .registers = 32, .shared_memory = true},
        {"pooling_average_gradient_made_again", .registers = 32, .slow_image_stores = true},
        {"pooling_average_gradient_stored"},
        {0}}};

static enum derivative average_derivative(const struct operation *o, struct plan *plan)
{
    const struct image_view *source = &o->images[IMAGE];
    const struct implementation *row = implementation_choose(plan, &average_derivation_rows, o);
    return (row->shared_memory || row->slow_image_stores) &&
                   has_one_window(&o->window.x, source->width) &&
                   has_one_window(&o->window.y, source->height)
               ? DERIVATIVE_PIXELS
               : DERIVATIVE_NONE;
}

static void derive_average(const struct operation *o, struct pass *pass, struct derived_name *name)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    derived_size(name, pass);
    derived_texture(name, pass, "_gradient", &o->images[GRADIENT]);
    pass_define(pass, derived_name(name, "_size_x"), x->size);
    pass_define(pass, derived_name(name, "_size_y"), y->size);
    pass_int(pass, derived_name(name, "_left"), x->first + x->stride * x->begin);
    pass_int(pass, derived_name(name, "_top"), y->first + y->stride * y->begin);
    pass_int(pass, derived_name(name, "_begin_x"), x->begin);
    pass_int(pass, derived_name(name, "_begin_y"), y->begin);
    pass_int(pass, derived_name(name, "_end_x"), x->end);
    pass_int(pass, derived_name(name, "_end_y"), y->end);
    pass_template(pass, "pooling/average_gradient_derived.glsl", derived_name(name, ""));
}

/* ---- Descriptors ---- */

static const struct parameter parameters[] = {
    {"zero_pad_size_x", "columns of zeros that count on each side; edge mode clamp only",
     FIELD_UINT32, offsetof(struct glcnn_pooling_parameters, zero_pad_size_x), 0, 0, 65535, NULL},
    {"zero_pad_size_y", "rows of zeros that count on each side; edge mode clamp only", FIELD_UINT32,
     offsetof(struct glcnn_pooling_parameters, zero_pad_size_y), 0, 0, 65535, NULL},
    {0}};

#define FORWARD_ARGUMENTS                                                                          \
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},                                \
    {                                                                                              \
        .name = "destination_image", .place = PLACE_DESTINATION, .output = true                    \
    }

#define GRADIENT_ARGUMENTS                                                                         \
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},                             \
        {.name = "source_image", .place = PLACE_SECONDARY, .input = true},                         \
    {                                                                                              \
        .name = "destination_gradient", .place = PLACE_DESTINATION, .output = true                 \
    }

#define KEEPS_WINNERS                                                                              \
    .arguments = {FORWARD_ARGUMENTS,                                                               \
                  {.name = "winners", .place = PLACE_STATE, .output = true, .optional = true}},    \
    .length = winner_count

#define READS_WINNERS(NAME)                                                                        \
    .arguments = {GRADIENT_ARGUMENTS,                                                              \
                  {.name = "winners",                                                              \
                   .place = PLACE_STATE,                                                           \
                   .input = true,                                                                  \
                   .optional = true,                                                               \
                   .filled_by = NAME}},                                                            \
    .length = winner_count

static void node_defaults(struct glcnn_addressing *properties, void *kernel_parameters)
{
    (void)kernel_parameters;
    properties->primary.edge_mode = GLCNN_EDGE_MODE_CLAMP;
}

static const struct implementation_list *const two_forms[] = {&pooling_forms, &pooling_strip_forms,
                                                              NULL};
static const struct implementation_list *const average_forms[] = {&average_rows, &pooling_forms,
                                                                  &pooling_strip_forms, NULL};
static const struct implementation_list *const average_gradient_forms[] = {
    &pooling_tile_forms, &pooling_forms, &average_derivation_rows, NULL};
static const struct implementation_list *const norm_forms[] = {
    &pooling_tile_forms, &norm_rows, &pooling_forms, &pooling_strip_forms, NULL};
static const struct implementation_list *const max_forms[] = {&pooling_kept_forms, &pooling_forms,
                                                              &pooling_strip_forms, NULL};
static const struct implementation_list *const max_gradient_forms[] = {
    &pooling_winner_forms, &pooling_tile_forms, &pooling_forms, NULL};

#define FORWARD(NAME, MPS, TEXT, FLAGS, FORMS, PLAN)                                               \
    .name = NAME, .mps_class = MPS, .text = TEXT, .family = "pooling",                             \
    .gradient = NAME "_gradient",                                                                  \
    .flags = HAS_WINDOW | HAS_STRIDE | MAKES_STATE | READS_DERIVED | (FLAGS),                      \
    .parameters_size = sizeof(struct glcnn_pooling_parameters), .parameters = parameters,          \
    .implementations = FORMS, .plan = plan_##PLAN, .node_defaults = node_defaults,                 \
    .keeps_zero = descriptor_always

#define GRADIENT(NAME, MPS, FLAGS, FORMS, PLAN)                                                    \
    .name = NAME "_gradient", .mps_class = MPS "Gradient", .text = "gradient of " NAME,            \
    .family = "pooling", .without_gradient = "it is a gradient itself", .forward = NAME,           \
    .flags = HAS_WINDOW | HAS_STRIDE | IS_GRADIENT | READS_DERIVED | (FLAGS),                      \
    .parameters_size = sizeof(struct glcnn_pooling_parameters), .parameters = parameters,          \
    .implementations = FORMS, .plan = plan_##PLAN

const struct glcnn_descriptor glcnn_kernel_pooling_average = {
    FORWARD("pooling_average", "MPSCNNPoolingAverage", "mean over a window", 0, average_forms,
            average),
    .arguments = {FORWARD_ARGUMENTS}};
const struct glcnn_descriptor glcnn_kernel_pooling_average_gradient = {
    GRADIENT("pooling_average", "MPSCNNPoolingAverage", 0, average_gradient_forms,
             average_gradient),
    .arguments = {GRADIENT_ARGUMENTS}, .derivative = average_derivative, .derive = derive_average};
const struct glcnn_descriptor glcnn_kernel_pooling_l2_norm = {
    FORWARD("pooling_l2_norm", "MPSCNNPoolingL2Norm",
            "square root of the sum of squares over a "
            "window",
            0, two_forms, l2_norm),
    .arguments = {FORWARD_ARGUMENTS}};
const struct glcnn_descriptor glcnn_kernel_pooling_l2_norm_gradient = {
    GRADIENT("pooling_l2_norm", "MPSCNNPoolingL2Norm", 0, norm_forms, l2_norm_gradient),
    .arguments = {GRADIENT_ARGUMENTS}};
const struct glcnn_descriptor glcnn_kernel_pooling_max = {
    FORWARD("pooling_max", "MPSCNNPoolingMax", "largest value of a window", 0, max_forms, max),
    KEEPS_WINNERS};
const struct glcnn_descriptor glcnn_kernel_pooling_max_gradient = {
    GRADIENT("pooling_max", "MPSCNNPoolingMax", 0, max_gradient_forms, max_gradient),
    READS_WINNERS("pooling_max")};
const struct glcnn_descriptor glcnn_kernel_dilated_pooling_max = {
    FORWARD("dilated_pooling_max", "MPSCNNDilatedPoolingMax",
            "largest value of a window with spaced taps", HAS_DILATION, max_forms, max),
    KEEPS_WINNERS};
const struct glcnn_descriptor glcnn_kernel_dilated_pooling_max_gradient = {
    GRADIENT("dilated_pooling_max", "MPSCNNDilatedPoolingMax", HAS_DILATION, max_gradient_forms,
             max_gradient),
    READS_WINNERS("dilated_pooling_max")};

/* ---- Constructors ---- */

struct glcnn_pooling_parameters *glcnn_pooling(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "pooling");
}

static glcnn_status create(glcnn_device *device, const struct glcnn_descriptor *descriptor,
                           const uint32_t window[6], glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    kernel_set_window(*kernel, window);
    return kernel_finish(kernel, GLCNN_SUCCESS);
}

#define DEFINE_CREATE(NAME)                                                                        \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, uint32_t kernel_width,                \
                                       uint32_t kernel_height, uint32_t stride_x,                  \
                                       uint32_t stride_y, glcnn_kernel **kernel)                   \
    {                                                                                              \
        const uint32_t window[6] = {kernel_width, kernel_height, stride_x, stride_y, 1, 1};        \
        return create(device, &glcnn_kernel_##NAME, window, kernel);                               \
    }

DEFINE_CREATE(pooling_average)
DEFINE_CREATE(pooling_average_gradient)
DEFINE_CREATE(pooling_l2_norm)
DEFINE_CREATE(pooling_l2_norm_gradient)
DEFINE_CREATE(pooling_max)
DEFINE_CREATE(pooling_max_gradient)

#define DEFINE_DILATED_CREATE(NAME)                                                                \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, uint32_t kernel_width,                \
                                       uint32_t kernel_height, uint32_t stride_x,                  \
                                       uint32_t stride_y, uint32_t dilation_rate_x,                \
                                       uint32_t dilation_rate_y, glcnn_kernel **kernel)            \
    {                                                                                              \
        const uint32_t window[6] = {kernel_width, kernel_height,   stride_x,                       \
                                    stride_y,     dilation_rate_x, dilation_rate_y};               \
        return create(device, &glcnn_kernel_##NAME, window, kernel);                               \
    }

DEFINE_DILATED_CREATE(dilated_pooling_max)
DEFINE_DILATED_CREATE(dilated_pooling_max_gradient)
