/* Gradients of pooling: pooling.c's head says which implementation is for what. */
#include <math.h>

#include "encode/window.h"
#include "kernels/pooling.h"

static const struct operation *operation_of(const void *problem)
{
    return ((const struct pooling_gradient *)problem)->operation;
}

static bool is_l2_norm(const void *problem)
{
    return ((const struct pooling_gradient *)problem)->reduction == POOLING_L2_NORM;
}

static bool is_max(const void *problem)
{
    return ((const struct pooling_gradient *)problem)->reduction >= POOLING_MAX;
}

static bool has_indices(const void *problem)
{
    return ((const struct pooling_gradient *)problem)->reduction == POOLING_MAX_INDICES;
}

/* Windows that may read a pixel. */
static uint32_t windows_at(const struct operation *o)
{
    uint64_t windows =
        (uint64_t)pooling_windows_at(&o->window.x) * pooling_windows_at(&o->window.y);
    return windows < 1u << 24 ? (uint32_t)windows : 1u << 24;
}

/* Windows that count; at least one, for scratch images of them: there may be none, and then none is
 * asked for. */
static uint32_t window_count(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 1;
}

/* Of the channels and images of the gradient. */
static struct image_view plan_scratch(struct plan *plan, const struct operation *o, uint32_t width,
                                      uint32_t height)
{
    const struct image_view *source = &o->images[IMAGE];
    return plan_scratch_image(plan,
                              (struct extent){width, height, source->channels, source->images});
}

/* A pass whose invocations own a pixel of the destination each. */
static struct pass *plan_pass_over(struct plan *plan, const struct implementation *row,
                                   const struct operation *o, const char *shader)
{
    struct pass *pass = plan_pixels(plan, o, shader, &o->images[DESTINATION]);
    pass_implementation(pass, row);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_window(pass, &o->window);
    return pass;
}

static struct pass *plan_gather_pass(struct plan *plan, const struct implementation *row,
                                     const struct operation *o, const char *shader)
{
    struct pass *pass = plan_pass_over(plan, row, o, shader);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass->work = windows_at(o) * 16;
    return pass;
}

/* The window whose result 0 is result begin. */
static struct axis from_begin(struct axis axis)
{
    axis.first += axis.stride * axis.begin;
    axis.end -= axis.begin;
    axis.begin = 0;
    return axis;
}

/* Windows next to each other, none beyond the image: each source pixel has one window at most. */
static bool is_tiling(const struct axis *axis, uint32_t source_size)
{
    int32_t last = axis->first + axis->stride * axis->end;
    return axis->stride == axis->size && axis->dilation == 1 && axis->shift == 0 &&
           axis->first + axis->stride * axis->begin >= 0 && last <= (int32_t)source_size;
}

/* ---- Maxima of disjoint windows: an invocation owns a window and stores all of its pixels ---- */

static bool is_max_of_disjoint(const void *problem)
{
    const struct operation *o = operation_of(problem);
    const struct image_view *to = &o->images[DESTINATION], *of = &o->images[IMAGE];
    return is_max(problem) && o->region_width == to->width && o->region_height == to->height &&
           to->width == of->width && to->height == of->height &&
           is_tiling(&o->window.x, of->width) && is_tiling(&o->window.y, of->height);
}

static bool covers(const struct axis *axis, uint32_t source_size)
{
    return axis->first + axis->stride * axis->begin == 0 &&
           axis->first + axis->stride * axis->end == (int32_t)source_size;
}

void pooling_pass_indices(struct pass *pass, const struct operation *o)
{
    pass_library(pass, "pooling/argmax_of_state.glsl");
    pass_vector(pass, "indices", &o->vectors[GRADIENT_INDICES], VECTOR_READ);
}

static void plan_disjoint(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct operation *o = operation_of(problem);
    const struct axis *x = &o->window.x, *y = &o->window.y;
    const struct image_view *source = &o->images[IMAGE], *to = &o->images[DESTINATION];
    bool whole = covers(x, source->width) && covers(y, source->height);
    size_t first = plan->pass_count;
    if (!whole)
        plan_fill_image(plan, to);
    struct pass *pass = plan_pass(plan, "pooling/pooling_max_gradient_disjoint.comp");
    if (whole)
        pass_overwrites(pass, to, 0, 0, to->width, to->height, 1);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    if (has_indices(problem)) {
        pass_define(pass, "INDICES", 1);
        pooling_pass_indices(pass, o);
    } else {
        pass_texture(pass, "source", source);
    }
    pass_image(pass, "destination", to);
    pass_window(pass, &o->window);
    pass_origin(pass, (uint32_t)x->begin, (uint32_t)y->begin, 0);
    pass_grid_over(pass, (uint32_t)(x->end - x->begin), (uint32_t)(y->end - y->begin),
                   "destination", to);
    pass->work = (uint32_t)(x->size * y->size) * 16;
    plan_implementation(plan, first, row);
}

/* ---- Maxima whose argmax indices are in the state: an invocation owns two rows ---- */

#define OWNED_ROWS 2 /* pixels below each other, `dilation` apart: taps of one window read both */

/* Tap of a window's first `stride` that reads a pixel. */
static int32_t first_tap(const struct axis *axis, uint32_t pixel)
{
    int32_t behind = (int32_t)pixel + axis->shift - axis->first;
    return behind - axis->stride * floor_quotient(behind, axis->stride);
}

/* The windows that may read what an invocation owns of an axis: numbers FROM .. TO - 1 of
 * pooling_max_gradient_indices.comp. */
struct reach {
    int32_t from, to;
};

/* Where every invocation's pixels begin at the same tap it is a constant, `tap`. */
static struct reach pass_reach(struct pass *pass, const struct axis *axis, uint32_t region,
                               int32_t owned, const char *tap)
{
    int32_t stride = axis->stride, low = 0, high = stride - 1;
    if (owned % stride == 0) {
        low = high = first_tap(axis, region);
        pass_define(pass, tap, low);
    }
    return (struct reach){-((high + owned - 1) / stride), ceil_quotient(axis->size - low, stride)};
}

static void plan_indices(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct operation *o = operation_of(problem);
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t rows_apart = (uint32_t)y->dilation;
    struct pass *pass = plan_pass(plan, "pooling/pooling_max_gradient_indices.comp");
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pooling_pass_indices(pass, o);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_window(pass, &o->window);
    pass_source_size(pass, &o->images[IMAGE]);
    struct reach columns = pass_reach(pass, x, o->region_x, 1, "TAP_X");
    struct reach rows = pass_reach(pass, y, o->region_y, OWNED_ROWS, "TAP_Y");
    pass_define(pass, "FROM_X", columns.from);
    pass_define(pass, "TO_X", columns.to);
    pass_define(pass, "FROM_Y", rows.from);
    pass_define(pass, "TO_Y", rows.to);
    pass_int(pass, "first_column", (int32_t)o->region_x);
    pass_int(pass, "first_row", (int32_t)o->region_y);
    pass_int(pass, "end_column", (int32_t)(o->region_x + o->region_width));
    pass_int(pass, "end_row", (int32_t)(o->region_y + o->region_height));
    pass_grid_over(pass, o->region_width,
                   groups_of(o->region_height, OWNED_ROWS * rows_apart) * rows_apart, "destination",
                   &o->images[DESTINATION]);
    pass->work = (uint32_t)((columns.to - columns.from) * (rows.to - rows.from)) * 16 * OWNED_ROWS;
}

/* ---- L2 norms of few taps, recomputed by each pixel ---- */

static double taps_at(const struct operation *o)
{
    return (double)windows_at(o) * o->window.x.size * o->window.y.size;
}

static bool has_few_taps(const void *problem)
{
    return taps_at(operation_of(problem)) <= 8;
}

static void plan_recomputed(struct plan *plan, const struct implementation *row,
                            const void *problem)
{
    const struct operation *o = operation_of(problem);
    struct pass *pass = plan_gather_pass(plan, row, o, "pooling/pooling_l2_norm_gradient.comp");
    pass_library(pass, "pooling/l2_norm_term_recomputed.glsl");
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass->work = (uint32_t)fmin(taps_at(o) * 16, 0x1p29);
}

/* The norm of each window, found once and not by all pixels that it reads. */
static struct image_view plan_norms(const struct operation *o, struct plan *plan)
{
    uint32_t width = window_count(&o->window.x), height = window_count(&o->window.y);
    struct image_view norms = plan_scratch(plan, o, width, height);
    struct pooling p = {.operation = o,
                        .reduction = POOLING_L2_NORM,
                        .window = o->window,
                        .source = &o->images[IMAGE],
                        .result = &norms,
                        .width = width,
                        .height = height};
    p.window.x = from_begin(o->window.x);
    p.window.y = from_begin(o->window.y);
    implementation_plan(plan, &pooling_list, &p);
    return norms;
}

/* ---- Ping-pong passes: scratch texture arrays take turns, one is read and the other written ---- */

static double layers_of(const struct image_view *view)
{
    return (double)slice_count(view->channels) * view->images;
}

static struct span rows_of(const struct operation *o)
{
    const struct axis *y = &o->window.y;
    return pooling_span(y, y->begin, window_count(y), o->images[IMAGE].height);
}

/* Two passes find the argmax of each window, and gathering reads that and what it passes on. */
static bool max_gains(const struct operation *o)
{
    double taps_x = o->window.x.size, taps_y = o->window.y.size;
    double at_x = pooling_windows_at(&o->window.x), at_y = pooling_windows_at(&o->window.y);
    double width = window_count(&o->window.x), height = window_count(&o->window.y);
    double region = (double)o->region_width * o->region_height;
    double layers = layers_of(&o->images[DESTINATION]);
    return pooling_separable_gains(
        layers * (width * height * taps_x * taps_y + 2 * region * at_x * at_y),
        layers *
            (width * (rows_of(o).count * taps_x + height * taps_y + 2.0 * o->region_height * at_y) +
             2 * region * at_x),
        taps_x * taps_y);
}

static bool overlap_much(const void *problem)
{
    const struct operation *o = operation_of(problem);
    if (is_max(problem))
        return max_gains(o);
    double at_x = pooling_windows_at(&o->window.x), at_y = pooling_windows_at(&o->window.y);
    double rows = o->region_height * layers_of(&o->images[DESTINATION]);
    return pooling_separable_gains(
        rows * o->region_width * at_x * at_y,
        rows * o->region_width * at_x + rows * window_count(&o->window.x) * at_y, at_x * at_y);
}

/* Finds the argmax of windows. */
static struct pass *plan_argmax_pass(struct plan *plan, const struct implementation *row,
                                     const struct operation *o, const char *shader,
                                     const struct image_view *argmax)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_implementation(pass, row);
    pass_grid_over(pass, argmax->width, argmax->height, "argmax", argmax);
    pass_image(pass, "argmax", argmax);
    pass_window(pass, &o->window);
    return pass;
}

/* Sums over the windows of a column: reads the gradient, writes `part`. */
static struct pass *plan_columns(struct plan *plan, const struct implementation *row,
                                 const struct operation *o, const char *shader,
                                 const struct image_view *part)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_implementation(pass, row);
    pass_grid_over(pass, part->width, o->region_height, "part", part);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_image(pass, "part", part);
    pass_window(pass, &o->window);
    pooling_pass_padding(pass, o);
    pass_int(pass, "first_row", (int32_t)o->region_y);
    pass_int(pass, "source_height", (int32_t)o->images[IMAGE].height);
    pass->work = pooling_windows_at(&o->window.y) * 16;
    return pass;
}

/* Sums over the windows of a row: reads `part`, writes the destination. */
static struct pass *plan_rows(struct plan *plan, const struct implementation *row,
                              const struct operation *o, const char *shader,
                              const struct image_view *part)
{
    struct pass *pass = plan_pass_over(plan, row, o, shader);
    pass_texture(pass, "part", part);
    pooling_pass_padding(pass, o);
    pass_int(pass, "first_row", (int32_t)o->region_y);
    pass->work = pooling_windows_at(&o->window.x) * 16;
    return pass;
}

static void separable_average(struct plan *plan, const struct implementation *row,
                              const struct operation *o)
{
    struct image_view part = plan_scratch(plan, o, window_count(&o->window.x), o->region_height);
    plan_columns(plan, row, o, "pooling/pooling_average_gradient_columns.comp", &part);
    struct pass *rows =
        plan_rows(plan, row, o, "pooling/pooling_average_gradient_rows.comp", &part);
    pass_source_size(rows, &o->images[IMAGE]);
}

static void separable_l2_norm(struct plan *plan, const struct implementation *row,
                              const struct operation *o)
{
    struct image_view norms = plan_norms(o, plan);
    struct image_view part = plan_scratch(plan, o, window_count(&o->window.x), o->region_height);
    struct pass *pass =
        plan_columns(plan, row, o, "pooling/pooling_l2_norm_gradient_columns.comp", &part);
    pass_texture(pass, "norms", &norms);
    pass = plan_rows(plan, row, o, "pooling/pooling_l2_norm_gradient_rows.comp", &part);
    pass_texture(pass, "source", &o->images[IMAGE]);
}

/* Four passes: `best` is written by the first and read by the second, which find the argmax column of
 * each source row and the argmax row of each window; then it is the part between the two that gather. */
static void separable_max(struct plan *plan, const struct implementation *row,
                          const struct operation *o)
{
    const struct image_view *source = &o->images[IMAGE];
    struct span kept = rows_of(o);
    uint32_t width = window_count(&o->window.x), height = o->region_height;
    struct image_view columns = plan_scratch(plan, o, width, kept.count);
    struct image_view windows = plan_scratch(plan, o, width, window_count(&o->window.y));
    struct image_view best =
        plan_scratch(plan, o, width, kept.count > height ? kept.count : height);
    struct pass *pass =
        plan_argmax_pass(plan, row, o, "pooling/pooling_max_argmax_columns.comp", &columns);
    pass_texture(pass, "source", source);
    pass_image(pass, "best", &best);
    pass_int(pass, "first_row", kept.first);
    pass->work = (uint32_t)o->window.x.size * 16;
    pass = plan_argmax_pass(plan, row, o, "pooling/pooling_max_argmax_rows.comp", &windows);
    pass_texture(pass, "best", &best);
    pass_source_size(pass, source);
    pass_int(pass, "first_row", kept.first);
    pass->work = (uint32_t)o->window.y.size * 16;
    pass = plan_columns(plan, row, o, "pooling/pooling_max_gradient_columns.comp", &best);
    pass_texture(pass, "argmax_row", &windows);
    pass = plan_rows(plan, row, o, "pooling/pooling_max_gradient_rows.comp", &best);
    pass_source_size(pass, source);
    pass_texture(pass, "argmax_column", &columns);
    pass_int(pass, "first_kept", kept.first);
    pass_int(pass, "last_kept", (int32_t)kept.count - 1);
}

/* By reduction. */
typedef void plan_reduction(struct plan *plan, const struct implementation *row,
                            const struct operation *o);

static void plan_separable(struct plan *plan, const struct implementation *row, const void *problem)
{
    static plan_reduction *const plans[] = {separable_average, separable_l2_norm, separable_max,
                                            separable_max};
    plans[((const struct pooling_gradient *)problem)->reduction](plan, row, operation_of(problem));
}

/* ---- Gathering: an invocation owns a source pixel and walks the windows that read it ---- */

static void gather_average(struct plan *plan, const struct implementation *row,
                           const struct operation *o)
{
    struct pass *pass = plan_gather_pass(plan, row, o, "pooling/pooling_average_gradient.comp");
    pass_source_size(pass, &o->images[IMAGE]);
    pooling_pass_padding(pass, o);
    pass->prefers_large_groups = windows_at(o) == 1;
}

static void gather_l2_norm(struct plan *plan, const struct implementation *row,
                           const struct operation *o)
{
    struct image_view norms = plan_norms(o, plan);
    struct pass *pass = plan_gather_pass(plan, row, o, "pooling/pooling_l2_norm_gradient.comp");
    pass_library(pass, "pooling/l2_norm_term.glsl");
    pass_texture(pass, "norms", &norms);
    pass_texture(pass, "source", &o->images[IMAGE]);
}

/* The argmax of each window is searched once, and not by all pixels that it reads. */
static void gather_max(struct plan *plan, const struct implementation *row,
                       const struct operation *o)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    struct image_view argmax = plan_scratch(plan, o, window_count(x), window_count(y));
    struct pass *pass = plan_argmax_pass(plan, row, o, "pooling/pooling_max_argmax.comp", &argmax);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_origin(pass, (uint32_t)x->begin, (uint32_t)y->begin, 0);
    pass->work = (uint32_t)(x->size * y->size) * 8;
    pass = plan_gather_pass(plan, row, o, "pooling/pooling_max_gradient.comp");
    pass_texture(pass, "argmax", &argmax);
    pass_source_size(pass, &o->images[IMAGE]);
    pass->work = 64;
}

static void plan_gather(struct plan *plan, const struct implementation *row, const void *problem)
{
    static plan_reduction *const plans[] = {gather_average, gather_l2_norm, gather_max, gather_max};
    plans[((const struct pooling_gradient *)problem)->reduction](plan, row, operation_of(problem));
}

/* ---- Choice ---- */

const struct implementation_list pooling_gradient_list = {
    "pooling_gradient",
    (const struct implementation[]){
        {"pooling_gradient_disjoint",
         .supported = {is_max_of_disjoint, "a maximum over windows that do not overlap"},
         .plan = plan_disjoint},
        {"pooling_gradient_indices",
         .supported = {has_indices, "a maximum whose argmax indices are in the state"},
         .plan = plan_indices},
        {"pooling_gradient_recomputed", .supported = {is_l2_norm, "L2 norms"},
         .profitable = {has_few_taps, "at most 8 taps in the windows of a pixel"},
         .plan = plan_recomputed},
        {"pooling_gradient_separable", .profitable = {overlap_much, "large windows that overlap"},
         .plan = plan_separable},
        {"pooling_gradient_gather", .plan = plan_gather},
        {0}}};

/* ---- Gradients made by the passes that read them (producer fusion) ---- */

/* Each pixel has one window at most, and every tap lies inside. */
static bool has_one_window(const struct axis *axis, uint32_t source_size)
{
    struct axis of = from_begin(*axis);
    if (of.end == 1) /* whatever the stride */
        of.stride = of.size;
    return of.end > 0 && is_tiling(&of, source_size);
}

static bool is_disjoint(const void *problem)
{
    const struct operation *o = problem;
    return has_one_window(&o->window.x, o->images[IMAGE].width) &&
           has_one_window(&o->window.y, o->images[IMAGE].height);
}

static bool is_disjoint_with_indices(const void *problem)
{
    const struct operation *o = problem;
    return o->given[GRADIENT_INDICES] && is_disjoint(problem);
}

#define DISJOINT "windows inside the image that do not overlap"

/* A pixel is one of the gradient that arrives, so a store costs more than to recompute it. */
const struct implementation_list pooling_average_gradient_pixels = {
    "pooling_average_gradient_pixels",
    (const struct implementation[]){
        {"pooling_average_gradient_recomputed", .registers = 32, .slow_image_stores = true,
         .supported = {is_disjoint, DISJOINT}, .form = &fusion_forms[FUSION_PIXELS]},
        {"pooling_average_gradient_recomputed_once", .submits_dispatches = true,
         .supported = {is_disjoint, DISJOINT}, .form = &fusion_forms[FUSION_ONCE]},
        {"pooling_average_gradient_stored", .form = &fusion_forms[FUSION_NONE]},
        {0}}};

const struct implementation_list pooling_max_gradient_pixels = {
    "pooling_max_gradient_pixels",
    (const struct implementation[]){
        {"pooling_max_gradient_recomputed_once", .submits_dispatches = true,
         .supported = {is_disjoint_with_indices, "argmax indices in the state, and " DISJOINT},
         .form = &fusion_forms[FUSION_ONCE]},
        {"pooling_max_gradient_stored", .form = &fusion_forms[FUSION_NONE]},
        {0}}};

enum fusion pooling_average_fusion(const struct operation *o, struct plan *plan)
{
    return fusion_choose(plan, &pooling_average_gradient_pixels, o);
}

enum fusion pooling_max_fusion(const struct operation *o, struct plan *plan)
{
    return fusion_choose(plan, &pooling_max_gradient_pixels, o);
}

static void fuse_windows(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    fused_size(name, pass);
    fused_texture(name, pass, "_gradient", &o->images[GRADIENT]);
    pass_define(pass, fused_name(name, "_size_x"), x->size);
    pass_define(pass, fused_name(name, "_size_y"), y->size);
    pass_int(pass, fused_name(name, "_left"), x->first + x->stride * x->begin);
    pass_int(pass, fused_name(name, "_top"), y->first + y->stride * y->begin);
    pass_int(pass, fused_name(name, "_begin_x"), x->begin);
    pass_int(pass, fused_name(name, "_begin_y"), y->begin);
    pass_int(pass, fused_name(name, "_end_x"), x->end);
    pass_int(pass, fused_name(name, "_end_y"), y->end);
    pass_template(pass, "pooling/fused_windows.glsl", fused_name(name, ""));
}

void pooling_fuse_average(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    fuse_windows(o, pass, name);
    pass_template(pass, "pooling/average_gradient_fused.glsl", fused_name(name, ""));
}

void pooling_fuse_max(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    fuse_windows(o, pass, name);
    fused_layers(name, pass);
    pass_vector(pass, fused_name(name, "_indices"), &o->vectors[GRADIENT_INDICES], VECTOR_READ);
    pass_template(pass, "pooling/max_gradient_fused.glsl", fused_name(name, ""));
}
