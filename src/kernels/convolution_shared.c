/* Convolutions whose weights have one component an element, a single input or one for each output:
 * so few products to a read that work groups keep the source below a tile in shared memory, or that
 * invocations go down columns and read each row once for all that it meets. */
#include "kernels/convolution_plan.h"

/* Of kept_source.glsl. */
#define TILE       16u
#define GROUP_SIZE 128u

#define WIDEST_WINDOW 7u
#define MOST_TAPS     9u /* of which an invocation keeps the sums of the gradient */
/* That the largest GPUs run at once (an H200 528): one more would have them wait for all again. */
#define ALL_GROUPS  512u
#define STRIP_ROWS  4u  /* of strips that are as many as keep a GPU busy */
#define LANE_PIXELS 16u /* that make a lane worth its part sums */

static bool is_small(const struct packing *p, const struct window *w)
{
    return p->components == 1 && is_dense(&w->x) && is_dense(&w->y) && w->x.size > 0 &&
           w->y.size > 0 && (uint32_t)w->x.size <= WIDEST_WINDOW &&
           (uint32_t)w->y.size <= WIDEST_WINDOW;
}

/* Tiles are not mostly empty. */
static bool fills(uint32_t width, uint32_t height)
{
    uint32_t covered = groups_of(width, TILE) * groups_of(height, TILE) * TILE * TILE;
    return 4 * width * height >= 3 * covered;
}

/* ---- Forward, and the data gradient ---- */

bool sum_is_shared(const void *shape)
{
    const struct sum *sum = ((const struct sum_shape *)shape)->sum;
    return is_small(((const struct sum_shape *)shape)->packing, &sum->window) &&
           sum->step[0] == 1 && sum->step[1] == 1 && sum_fits_block(shape);
}

bool sum_fills_shared(const void *shape)
{
    const struct packing *p = ((const struct sum_shape *)shape)->packing;
    const struct sum *sum = ((const struct sum_shape *)shape)->sum;
    return p->x.count * p->y.count > 1 && fills(sum->extent[0], sum->extent[1]);
}

void plan_sum_shared(struct plan *plan, const struct packing *p, const struct implementation *row,
                     const struct sum *sum)
{
    struct pass *pass = plan_sum_pass(plan, p, row, sum);
    pass_weight_places(pass, p);
    pass_vector(pass, "weights", sum->weights, VECTOR_READ);
    pass_biases_in_place(pass, sum);
    pass_define(pass, "KERNEL_WIDTH", sum->window.x.size);
    pass_define(pass, "KERNEL_HEIGHT", sum->window.y.size);
    pass_grid(pass, groups_of(sum->extent[0], TILE) * GROUP_SIZE, groups_of(sum->extent[1], TILE),
              p->slices * sum->destination.images);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass_sum_epilogue(
        pass, sum,
        (struct pass_epilogue){
            GROUP_SIZE, pass->grid[0] / GROUP_SIZE * pass->grid[1] * sum->destination.images, 1});
    pass->work = p->elements * 16 + 64;
}

/* ---- The gradient of weights ---- */

bool weights_are_small(const void *shape)
{
    const struct part_shape *s = shape;
    const struct window *w = s->window;
    return is_small(s->packing, w) && (uint32_t)(w->x.size * w->y.size) <= MOST_TAPS;
}

bool weights_fill_strips(const void *shape)
{
    const struct part_shape *s = shape;
    return s->window->x.size * s->window->y.size > 1 && s->pixels >= GROUP_SIZE * LANE_PIXELS;
}

/* Strips of two columns and `rows` rows of the gradient, those of all images numbered through, and
 * how they are shared out: among ALL_GROUPS, with MOST_TAPS sums and a bias each, so that part sums
 * have 80 KiB at most, or those of one chunk, within what any plan lends (plan_workspace_vec4s). Groups
 * take them in turns, so that those which run at one time read what lies together. */
struct strips {
    uint32_t pairs, down, rows, total, turns;
};

static struct strips strips_of(const struct operation *o, const struct packing *p)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t height = (uint32_t)(y->end - y->begin), each = p->slices * p->range;
    struct strips s = {.pairs = groups_of((uint32_t)(x->end - x->begin), 2)};
    uint32_t columns = s.pairs * o->images[GRADIENT].images;
    s.down = least(ALL_GROUPS * GROUP_SIZE / (columns * each), height / STRIP_ROWS);
    s.rows = groups_of(height, s.down > 0 ? s.down : 1);
    s.down = groups_of(height, s.rows);
    s.total = columns * s.down;
    uint32_t chunks = each < ALL_GROUPS ? ALL_GROUPS / each : 1;
    s.turns = groups_of(s.total, chunks * GROUP_SIZE);
    return s;
}

void plan_weights_strips(const struct operation *o, struct plan *plan, const struct packing *p,
                         const struct implementation *row, struct parts *parts)
{
    const struct strips s = strips_of(o, p);
    uint32_t chunks = groups_of(s.total, s.turns * GROUP_SIZE);
    struct pass *pass = plan_parts(o, plan, p, row, chunks, parts);
    parts->pass = pass;
    parts->sums = p->slices * p->range;
    pass_define(pass, "LANES", GROUP_SIZE);
    pass_define(pass, "KERNEL_WIDTH", o->window.x.size);
    pass_define(pass, "KERNEL_HEIGHT", o->window.y.size);
    pass_int(pass, "low_x", 0);
    pass_int(pass, "low_y", 0);
    pass_int(pass, "high_x", (int32_t)o->images[IMAGE].width - 1);
    pass_int(pass, "high_y", (int32_t)o->images[IMAGE].height - 1);
    pass_int(pass, "pairs", (int32_t)s.pairs);
    pass_int(pass, "strips_down", (int32_t)s.down);
    pass_int(pass, "strip_rows", (int32_t)s.rows);
    pass_int(pass, "strips_apart", (int32_t)(chunks * GROUP_SIZE));
    pass_int(pass, "strip_total", (int32_t)s.total);
    pass_grid(pass, chunks * GROUP_SIZE, 1, parts->sums);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = s.turns * s.rows * p->elements * 16;
}
