/* Convolutions whose weights have one component an element, a single input or one for each output:
 * so few products to a read that work groups keep the source below a tile in shared memory, or that
 * invocations tile the gradient by registers, going down columns, and read each row once for all that
 * it meets. */
#include "desktop/convolution.h"

/* Of kept_source.glsl. */
#define TILE       16u
#define GROUP_SIZE 128u

#define WIDEST_WINDOW 7u
#define MOST_TAPS     9u /* of which an invocation keeps the sums of the gradient */
/* That the largest GPUs run at once: one more would have them wait for all again. */
#define ALL_GROUPS  512u
#define TILE_HEIGHT 4u  /* of register tiles that are as many as keep a GPU busy */
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

bool sum_is_small(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct sum *sum = problem->sum;
    return is_small(problem->packing, &sum->window) && sum->step[0] == 1 && sum->step[1] == 1 &&
           sum_fits_block(problem);
}

bool sum_fills_shared_tiles(const void *sum_problem)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    const struct sum *sum = ((const struct sum_problem *)sum_problem)->sum;
    return p->x.count * p->y.count > 1 && fills(sum->extent[0], sum->extent[1]);
}

void plan_shared(struct plan *plan, const struct implementation *row, const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    const struct sum *sum = problem->sum;
    struct pass *pass = plan_sum_pass(plan, row, problem);
    pass_weight_places(pass, p);
    pass_vector(pass, "weights", sum->weights, VECTOR_READ);
    pass_biases_unpacked(pass, sum);
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

bool weights_are_small(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct window *w = &problem->operation->window;
    return is_small(&problem->packing, w) && (uint32_t)(w->x.size * w->y.size) <= MOST_TAPS;
}

bool weights_fill_register_tiles(const void *weights_problem)
{
    const struct operation *o = ((const struct weights_problem *)weights_problem)->operation;
    return o->window.x.size * o->window.y.size > 1 && weights_pixels(o) >= GROUP_SIZE * LANE_PIXELS;
}

/* Register tiles of two columns and `rows` rows of the gradient, those of all images numbered through,
 * and how they are divided: among ALL_GROUPS, with MOST_TAPS sums and a bias each, so that partial sums
 * have 80 KiB at most, or those of one chunk, within the workspace of any plan (plan_workspace_vec4s).
 * Groups take them in turns, so that those which run at one time read what lies together. */
struct tiles {
    uint32_t pairs, down, rows, total, turns;
};

static struct tiles tiles_of(const struct operation *o, const struct packing *p)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t height = (uint32_t)(y->end - y->begin), each = p->slices * p->range;
    struct tiles t = {.pairs = groups_of((uint32_t)(x->end - x->begin), 2)};
    uint32_t columns = t.pairs * o->images[GRADIENT].images;
    t.down = least(ALL_GROUPS * GROUP_SIZE / (columns * each), height / TILE_HEIGHT);
    t.rows = groups_of(height, t.down > 0 ? t.down : 1);
    t.down = groups_of(height, t.rows);
    t.total = columns * t.down;
    uint32_t chunks = each < ALL_GROUPS ? ALL_GROUPS / each : 1;
    t.turns = groups_of(t.total, chunks * GROUP_SIZE);
    return t;
}

void plan_weights_register_tiled(struct plan *plan, const struct implementation *row,
                                 const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct operation *o = problem->operation;
    const struct packing *p = &problem->packing;
    const struct tiles t = tiles_of(o, p);
    struct partial_sums sums;
    uint32_t chunks = groups_of(t.total, t.turns * GROUP_SIZE);
    struct pass *pass = plan_partial_sums(plan, row, problem, chunks, &sums);
    sums.pass = pass;
    sums.sums = p->slices * p->range;
    pass_define(pass, "LANES", GROUP_SIZE);
    pass_define(pass, "KERNEL_WIDTH", o->window.x.size);
    pass_define(pass, "KERNEL_HEIGHT", o->window.y.size);
    pass_int(pass, "low_x", 0);
    pass_int(pass, "low_y", 0);
    pass_int(pass, "high_x", (int32_t)o->images[IMAGE].width - 1);
    pass_int(pass, "high_y", (int32_t)o->images[IMAGE].height - 1);
    pass_int(pass, "pairs", (int32_t)t.pairs);
    pass_int(pass, "tiles_down", (int32_t)t.down);
    pass_int(pass, "tile_rows", (int32_t)t.rows);
    pass_int(pass, "tile_stride", (int32_t)(chunks * GROUP_SIZE));
    pass_int(pass, "tile_total", (int32_t)t.total);
    pass_grid(pass, chunks * GROUP_SIZE, 1, sums.sums);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = t.turns * t.rows * p->elements * 16;
    implementation_plan(plan, &convolution_partial_sum_implementations, &sums);
}
