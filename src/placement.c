#include "placement.h"

#include <stdlib.h>

uint64_t placement_item_size(const struct placement_item *item)
{
    return (uint64_t)item->width * item->height * item->layers * item->texel_size;
}

static uint64_t texture_size(const struct placement_texture *texture)
{
    return (uint64_t)texture->width * texture->height * texture->layers * texture->texel_size;
}

uint64_t placement_size(const struct placement *placement)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < placement->texture_count; i++)
        sum += texture_size(&placement->textures[i]);
    return sum;
}

uint64_t placement_size_without_sharing(const struct placement *placement)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < placement->item_count; i++)
        sum += placement_item_size(&placement->items[i]);
    return sum;
}

/* The sum of live bytes rises only where some item begins. */
uint64_t placement_lower_bound(const struct placement *placement)
{
    uint64_t most = 0;
    for (size_t i = 0; i < placement->item_count; i++) {
        uint32_t now = placement->items[i].first;
        uint64_t sum = 0;
        for (size_t j = 0; j < placement->item_count; j++) {
            const struct placement_item *item = &placement->items[j];
            if (item->first <= now && now <= item->last)
                sum += placement_item_size(item);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* ---- Placing ---- */

/* Cells that the item takes in the texture; 0: it does not fit. */
static uint32_t cells_in(const struct placement_texture *texture, const struct placement_item *item)
{
    if (texture->texel_size != item->texel_size || item->width > texture->width ||
        item->height > texture->height)
        return 0;
    uint32_t each = (texture->width / item->width) * (texture->height / item->height);
    uint32_t cells = (item->layers + each - 1) / each;
    return cells <= texture->layers ? cells : 0;
}

static bool lives_with(const struct placement_item *a, const struct placement_item *b)
{
    return a->first <= b->last && b->first <= a->last;
}

struct search {
    struct placement *placement;
    size_t *order; /* items, largest first; those before `placed` have a place */
    size_t placed;
};

/* The first cell where `item` can lie in the texture. False: none, or another item of the same pass
 * is there. */
static bool find_cell(const struct search *search, size_t index, uint32_t texture, uint32_t cells,
                      uint32_t *cell)
{
    const struct placement *p = search->placement;
    const struct placement_item *item = &p->items[index];
    bool moved = true;
    *cell = 0;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < search->placed; i++) {
            const struct placement_item *other = &p->items[search->order[i]];
            if (other->texture != texture || !lives_with(item, other))
                continue;
            if (p->together[index * p->item_count + search->order[i]])
                return false;
            uint32_t taken = cells_in(&p->textures[texture], other);
            if (*cell < other->cell + taken && other->cell < *cell + cells) {
                *cell = other->cell + taken;
                moved = true;
            }
        }
    }
    return *cell + cells <= p->textures[texture].layers;
}

/* Of the textures with room for it, the one where it takes the fewest bytes. */
static bool place_in_existing(const struct search *search, size_t index)
{
    struct placement *p = search->placement;
    struct placement_item *item = &p->items[index];
    uint64_t best = UINT64_MAX;
    for (uint32_t t = 0; t < p->texture_count; t++) {
        const struct placement_texture *texture = &p->textures[t];
        uint32_t cell, cells = cells_in(texture, item);
        uint64_t size = (uint64_t)cells * texture->width * texture->height;
        if (!cells || size >= best || !find_cell(search, index, t, cells, &cell))
            continue;
        best = size;
        item->texture = t;
        item->cell = cell;
        item->across = texture->width / item->width;
        item->down = texture->height / item->height;
    }
    return best < UINT64_MAX;
}

static void place_in_its_own(struct placement *p, struct placement_item *item)
{
    p->textures[p->texture_count] =
        (struct placement_texture){item->width, item->height, item->layers, item->texel_size};
    item->texture = (uint32_t)p->texture_count++;
    item->cell = 0;
    item->across = item->down = 1;
}

/* Largest first; of equals the one that lives first. */
static bool before(const struct placement_item *a, const struct placement_item *b)
{
    uint64_t size_a = placement_item_size(a), size_b = placement_item_size(b);
    return size_a != size_b ? size_a > size_b : a->first < b->first;
}

static void sort(const struct placement *p, size_t *order)
{
    for (size_t i = 0; i < p->item_count; i++) {
        size_t at = i;
        for (; at > 0 && before(&p->items[i], &p->items[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

bool placement_solve(struct placement *placement)
{
    struct search search = {placement, calloc(placement->item_count + 1, sizeof(size_t)), 0};
    if (!search.order)
        return false;
    sort(placement, search.order);
    placement->texture_count = 0;
    for (; search.placed < placement->item_count; search.placed++) {
        size_t index = search.order[search.placed];
        if (!place_in_existing(&search, index))
            place_in_its_own(placement, &placement->items[index]);
    }
    free(search.order);
    return true;
}
