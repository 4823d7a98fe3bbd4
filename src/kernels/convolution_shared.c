/* Convolutions whose weights have one component an element, a single input or one for each output:
 * so few products to a read that work groups keep the source below a tile in shared memory. */
#include "kernels/convolution_plan.h"

/* Of kept_source.glsl. */
#define TILE       16u
#define GROUP_SIZE 128u

#define WIDEST_WINDOW 7u
#define MOST_TAPS     9u /* of which an invocation keeps the sums of the gradient */
#define ALL_GROUPS    1024u
#define CHUNK_TILES   4u /* that make a chunk worth its part sums */
#define PART_BYTES    (32u << 20)

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
           sum->step[0] == 1 && sum->step[1] == 1;
}

bool sum_fills_shared(const void *shape)
{
    const struct packing *p = ((const struct sum_shape *)shape)->packing;
    const struct sum *sum = ((const struct sum_shape *)shape)->sum;
    return p->x.count * p->y.count > 1 && fills(sum->extent[0], sum->extent[1]);
}

void plan_sum_shared(struct plan *plan, const struct packing *p, const struct variant *variant,
                     const struct sum *sum)
{
    struct image_view matrix = plan_pack(plan, p, sum->weights, sum->biases);
    struct pass *pass = plan_sum_pass(plan, p, variant, sum);
    pass_matrix(pass, &matrix);
    pass_define(pass, "KERNEL_WIDTH", sum->window.x.size);
    pass_define(pass, "KERNEL_HEIGHT", sum->window.y.size);
    pass_grid(pass, groups_of(sum->extent[0], TILE) * GROUP_SIZE, groups_of(sum->extent[1], TILE),
              p->slices * sum->destination.images);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = p->elements * 16 + 64;
}

/* ---- The gradient of weights ---- */

bool weights_are_shared(const void *shape)
{
    const struct part_shape *s = shape;
    const struct window *w = s->window;
    return is_small(s->packing, w) && (uint32_t)(w->x.size * w->y.size) <= MOST_TAPS;
}

bool weights_fill_shared(const void *shape)
{
    const struct axis *x = &((const struct part_shape *)shape)->window->x;
    const struct axis *y = &((const struct part_shape *)shape)->window->y;
    return x->size * y->size > 1 &&
           fills((uint32_t)(x->end - x->begin), (uint32_t)(y->end - y->begin));
}

/* What the pixels that take part read of the source: the last of its columns or rows. */
static int32_t last_read(const struct axis *axis, uint32_t source)
{
    int32_t last = axis->first + axis->end - 1 + axis->size - 1;
    return last < (int32_t)source - 1 ? last : (int32_t)source - 1;
}

void plan_weights_shared(const struct operation *o, struct plan *plan, const struct packing *p,
                         const struct variant *variant, struct parts *parts)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t across = groups_of((uint32_t)(x->end - x->begin), TILE);
    uint32_t down = groups_of((uint32_t)(y->end - y->begin), TILE);
    uint32_t total = across * down * o->images[GRADIENT].images, each = p->slices * p->range;
    uint32_t room = PART_BYTES / 16 / (p->slices * (p->elements + 1));
    uint32_t chunks = least(groups_of(ALL_GROUPS, each), groups_of(total, CHUNK_TILES));
    uint32_t per_chunk = groups_of(total, least(chunks, room ? room : 1));
    chunks = groups_of(total, per_chunk);
    struct pass *pass = plan_parts(o, plan, p, variant, chunks, parts);
    pass_define(pass, "LANES", GROUP_SIZE);
    pass_define(pass, "KERNEL_WIDTH", x->size);
    pass_define(pass, "KERNEL_HEIGHT", y->size);
    pass_int(pass, "low_x", 0);
    pass_int(pass, "low_y", 0);
    pass_int(pass, "high_x", last_read(x, o->images[IMAGE].width));
    pass_int(pass, "high_y", last_read(y, o->images[IMAGE].height));
    pass_int(pass, "tiles_x", (int32_t)across);
    pass_int(pass, "tiles_y", (int32_t)down);
    pass_int(pass, "tiles_per_chunk", (int32_t)per_chunk);
    pass_int(pass, "tile_total", (int32_t)total);
    pass_grid(pass, chunks * GROUP_SIZE, 1, each);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = per_chunk * p->elements * 16;
}
