/* Pooling by strips of results below each other: of one invocation, or side by side of a group. */
#include "kernels/pooling_strips.h"

#include <string.h>

#include "encode/window.h"
#include "kernels/pooling_winners.h"

#define STRIP 4u /* results of an invocation */
#define TAPS  16 /* of windows whose loops are unrolled: pass_window */

/* Windows so many results apart begin a row of taps after each other; 0: no two do. */
static uint32_t step_of(const struct pooled *p)
{
    uint32_t dilation = (uint32_t)p->window.y.dilation, stride = (uint32_t)p->window.y.stride;
    return dilation % stride ? 0 : dilation / stride;
}

static bool have_rows_in_common(const void *pooled)
{
    const struct pooled *p = pooled;
    return step_of(p) > 0 && p->window.y.size > 1;
}

/* 3x3 windows dilated by 2 take 0.63 of the time then (H200). */
static bool fill_strips(const void *pooled)
{
    const struct pooled *p = pooled;
    return p->window.x.size * p->window.y.size <= TAPS && p->height >= STRIP * step_of(p);
}

/* Halves arrive in half of the time of floats, which hides less of what is done with them. Where their
 * taps come together as numbers first, each window by itself, 2x2 windows take 0.9 of the time of those
 * that are told apart tap by tap (H200). */
static bool are_maxima_of_halves(const void *pooled)
{
    const struct pooled *p = pooled;
    return is_float16(p->source) && strcmp(p->fold, "LARGEST") == 0 &&
           p->window.x.size * p->window.y.size <= TAPS;
}

/* ---- Strips side by side ---- */

#define LANES 32u /* columns of the source */
#define ROWS  4u  /* results of a strip */

static int32_t extent_of(const struct axis *axis)
{
    return axis->dilation * (axis->size - 1) + 1;
}

/* Strips of a group. Of halves, which need half of the time to come, one: 0.94 of the time of two where
 * winners are told. Floats take 1.03 of it then (H200, 3x3 windows two apart). */
static uint32_t strips_of(const struct pooled *p)
{
    return is_float16(p->source) ? 1 : 2;
}

/* Results of a row. */
static uint32_t row_of_group(const struct axis *x)
{
    return (LANES - (uint32_t)extent_of(x)) / (uint32_t)x->stride + 1;
}

/* An invocation keeps what ROWS windows read of a column. */
static bool is_narrow(const void *pooled)
{
    const struct window *w = &((const struct pooled *)pooled)->window;
    return extent_of(&w->x) <= (int32_t)LANES / 2 && w->y.stride <= 4 && extent_of(&w->y) <= 8;
}

/* Windows that lie over each other, of 3x3 and two apart: 0.86 of the time of windows alone (H200).
 * Groups are not mostly empty. */
static bool shares_columns(const void *pooled)
{
    const struct pooled *p = pooled;
    const struct axis *x = &p->window.x;
    return x->stride > 1 && x->stride < x->size &&
           pooling_fills_groups(p->width, p->height, row_of_group(x), ROWS * strips_of(p));
}

/* ---- Choice ---- */

const struct implementation_list pooling_strip_forms = {
    "pooling_strips",
    (const struct implementation[]){
        {"pooling_strips_shared", "pooling/pooling_strips_shared.comp", 32, .shared_memory = true,
         .supported.holds = is_narrow, .profitable.holds = shares_columns},
        {"pooling_strips", "pooling/pooling_strips.comp", 40, .width = 32,
         .supported.holds = have_rows_in_common, .profitable.holds = fill_strips, .pixels = STRIP},
        {"pooling_windows", "pooling/pooling_strips.comp", 32, .width = 32,
         .profitable.holds = are_maxima_of_halves, .pixels = 1},
        {"pooling_alone"},
        {0}}};

/* 3x3 windows two apart take 0.93 of the time of windows alone in columns, of float16 0.85; one
 * apart or dilated by 2 in strips 0.9, of float16 0.7 (H200). */
const struct implementation_list pooling_kept_forms = {
    "pooling_max_indices",
    (const struct implementation[]){
        {"pooling_kept_columns", "pooling/pooling_max_kept_columns.comp", 32, .shared_memory = true,
         .supported.holds = is_narrow, .profitable.holds = shares_columns},
        {"pooling_kept_strips", "pooling/pooling_max_kept_strips.comp", 48, .width = 32,
         .supported.holds = have_rows_in_common, .profitable.holds = fill_strips, .pixels = STRIP},
        {"pooling_kept_alone"},
        {0}}};

/* ---- The pass ---- */

/* How taps come together. */
static void pass_fold(struct pass *pass, const struct pooled *p)
{
    p->add_padding(p->operation, pass);
    pass_define(pass, p->fold, 1);
    pass_norm(pass, p->fold);
    if (is_float16(p->source))
        pass_define(pass, "NUMBERS", 1);
}

static struct pass *plan_strips(struct plan *plan, const struct pooled *p,
                                const struct implementation *row)
{
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "destination", p->result);
    pass_window(pass, &p->window);
    if (p->winners)
        pass_winners(pass, p);
    else
        pass_fold(pass, p);
    pass_int(pass, "first_row", (int32_t)p->y);
    pass_int(pass, "end_row", (int32_t)(p->y + p->height));
    return pass;
}

static void plan_groups(struct plan *plan, const struct pooled *p, const struct implementation *row)
{
    const struct axis *x = &p->window.x, *y = &p->window.y;
    uint32_t strips = strips_of(p);
    struct pass *pass = plan_strips(plan, p, row);
    pass_define(pass, "TAPS_X", x->size);
    pass_define(pass, "TAPS_Y", y->size);
    pass_define(pass, "LANES", (int)LANES);
    pass_define(pass, "ROWS", (int)ROWS);
    pass_define(pass, "STRIPS", (int)strips);
    pass_int(pass, "first_column", (int32_t)p->x);
    pass_int(pass, "end_column", (int32_t)(p->x + p->width));
    pass_grid(pass, groups_of(p->width, row_of_group(x)) * LANES,
              groups_of(p->height, ROWS * strips) * strips,
              slice_count(p->result->channels) * p->result->images);
    pass_local(pass, LANES, strips, 1);
    pass->cooperative = true;
    pass->work = (uint32_t)(x->size * y->size) * 8 * ROWS;
}

static void plan_alone(struct plan *plan, const struct pooled *p, const struct implementation *row)
{
    uint32_t strip = row->pixels, step = strip > 1 ? step_of(p) : 1;
    struct pass *pass = plan_strips(plan, p, row);
    pass_define(pass, "STRIP", (int)strip);
    pass_define(pass, "STEP", (int)step);
    if (strip == 1)
        pass_inside(pass, p);
    pass_grid_over(pass, p->width, groups_of(p->height, strip * step) * step, "destination",
                   p->result);
    pass_origin(pass, p->x, 0, 0);
    pass->work = (uint32_t)(p->window.x.size * p->window.y.size) * 8 * strip;
    pass->prefers_large_groups = strip == 1 && p->window.x.stride > 1; /* as windows alone */
}

bool pooling_plan_strips(struct plan *plan, const struct pooled *p,
                         const struct implementation **row)
{
    *row = implementation_choose(plan, p->winners ? &pooling_kept_forms : &pooling_strip_forms, p);
    if (!(*row)->shader)
        return false;
    ((*row)->shared_memory ? plan_groups : plan_alone)(plan, p, *row);
    return true;
}
