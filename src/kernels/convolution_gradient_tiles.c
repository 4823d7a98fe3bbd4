/* Part sums of the gradient of convolutions' weights, by tiles of a product of matrices. */
#include "kernels/convolution_plan.h"

#define TILE_QUADS                                                                                 \
    32u /* of elements, slices, invocations of a group: as the tiled shader has them */
#define TILE_SLICES 16u
#define TILE_SIZE   128u
#define TILE_PIXELS 256u /* that make a chunk worth its part sums */

bool weights_are_product(const void *shape)
{
    return packing_is_dense(((const struct part_shape *)shape)->packing);
}

static uint32_t tiles(const struct packing *p)
{
    return groups_of(p->elements, 4 * TILE_QUADS) * groups_of(p->slices, TILE_SLICES);
}

/* A tile that is mostly empty is no gain. */
bool weights_fill_tiles(const void *shape)
{
    const struct part_shape *s = shape;
    return s->packing->slices >= TILE_SLICES / 2 && s->packing->elements >= 2 * TILE_QUADS &&
           tiles(s->packing) * groups_of(s->pixels, TILE_PIXELS) >= TILE_GROUPS;
}

#define TILED_GROUPS 512u        /* fill the largest GPUs */
#define TILED_BYTES  (32u << 20) /* of part sums, unless one chunk takes more */

static uint32_t tiled_chunks(const struct packing *p, uint32_t pixels)
{
    uint32_t wanted = groups_of(TILED_GROUPS, tiles(p));
    uint32_t room = TILED_BYTES / 16 / (p->slices * (p->elements + 1));
    uint32_t most = least(groups_of(pixels, TILE_PIXELS), room ? room : 1);
    return least(wanted, most);
}

uint32_t weights_pixels(const struct operation *o)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    return (uint32_t)(x->end - x->begin) * (uint32_t)(y->end - y->begin) *
           o->images[GRADIENT].images;
}

void plan_tiles(const struct operation *o, struct plan *plan, const struct packing *p,
                const struct variant *variant, struct parts *parts)
{
    uint32_t pixels = weights_pixels(o);
    uint32_t per_chunk = groups_of(pixels, tiled_chunks(p, pixels));
    uint32_t chunks = groups_of(pixels, per_chunk);
    struct pass *pass = plan_parts(o, plan, p, variant, chunks, parts);
    pass_int(pass, "stride_x", o->window.x.stride);
    pass_int(pass, "dilation_x", o->window.x.dilation);
    pass_int(pass, "pixels_per_chunk", (int32_t)per_chunk);
    pass_int(pass, "pixel_total", (int32_t)pixels);
    pass_grid(pass, chunks * TILE_SIZE, groups_of(p->elements, 4 * TILE_QUADS),
              groups_of(p->slices, TILE_SLICES));
    pass_local(pass, TILE_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = per_chunk * 16 * 8;
}
