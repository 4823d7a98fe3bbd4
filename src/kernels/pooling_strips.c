/* Pooling by strips of results below each other. */
#include "kernels/pooling_strips.h"

#include "encode/window.h"

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

const struct variant pooling_strip_forms[] = {{"pooling_strips", .registers = 40, .width = 32,
                                               .can = have_rows_in_common, .pays = fill_strips},
                                              {"pooling_alone"},
                                              {0}};

bool pooling_plan_strips(struct plan *plan, const struct pooled *p)
{
    uint32_t step = step_of(p);
    const struct variant *variant = variant_choose(plan, pooling_strip_forms, p);
    if (variant != pooling_strip_forms)
        return false;
    struct pass *pass = plan_pass(plan, "pooling/pooling_strips.comp");
    pass_variant(pass, variant);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "destination", p->result);
    pass_window(pass, &p->window);
    p->add_padding(p->operation, pass);
    pass_define(pass, p->fold, 1);
    pass_define(pass, "STRIP", (int)STRIP);
    pass_define(pass, "STEP", (int)step);
    pass_int(pass, "first_row", (int32_t)p->y);
    pass_int(pass, "end_row", (int32_t)(p->y + p->height));
    pass_grid_over(pass, p->width, groups_of(p->height, STRIP * step) * step, "destination",
                   p->result);
    pass_origin(pass, p->x, 0, 0);
    pass->work = (uint32_t)(p->window.x.size * p->window.y.size) * 8 * STRIP;
    return true;
}
