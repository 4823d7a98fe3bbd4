/* Sharing of textures between images whose lifetimes do not meet: pure arithmetic, no GL.
 *
 * Items are taken one by one, large ones first. Each goes into the free room of a texture that
 * exists, or a texture of its own extent is made for it. Then each texture in turn is made smaller, or
 * left out: what lay there takes other places, and what is in its way there others again, those that
 * had to move often last (ejection chains with weights of conflicts). What all have found places in is
 * kept, always the same for the same items. A texture is a row of cells, one a layer; a smaller image
 * lies in a range of cells, as many of its layers side by side in a cell as fit. Items that conflict share
 * no texture: where one pass, or two of one dependency level, write one of them and use the other. A
 * shader may read a texture or write it, never both, and neither may passes without a barrier between
 * them.
 */
#ifndef GLCNN_PLACEMENT_H
#define GLCNN_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An image: what it needs, and after placement where it lies. */
struct placement_item {
    uint32_t width, height, layers, texel_size;
    uint32_t own_across, own_down; /* layers side by side in a texture of its own: powers of two */
    uint32_t first, last;  /* passes, or their levels, of its first and last use, both included */
    uint32_t texture;      /* index */
    uint32_t cell, cells;  /* the first cell, and how many */
    uint32_t across, down; /* layers side by side in a cell, powers of two; 1, 1: a layer a cell */
};

struct placement_texture {
    uint32_t width, height, layers, texel_size;
};

struct placement {
    struct placement_item *items;
    size_t item_count;
    const bool *conflicts;              /* [item_count][item_count]: that may share no texture */
    struct placement_texture *textures; /* room for item_count */
    size_t texture_count;
    uint64_t lower_bound; /* the most bytes that live at one pass: no plan needs less */
};

/* Fills in where items lie, the textures, and the bound. False: out of memory. */
bool placement_solve(struct placement *placement);

/* The largest power of two that is not above `count`, which is not 0: so many images of a side lie
 * beside each other where there is room for `count`. */
uint32_t placement_power_within(uint32_t count);

uint64_t placement_item_size(const struct placement_item *item);
/* Bytes of the textures; of the items without sharing. */
uint64_t placement_size(const struct placement *placement);
uint64_t placement_size_without_sharing(const struct placement *placement);

#endif
