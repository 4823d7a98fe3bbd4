/* Placing images in textures: by several orders of them, and the best is kept. */
#include "record/placement.h"

#include <stdlib.h>

#define MOST_TRIES  200
#define LEAST_TRIES 8
#define MOST_WORK   4000000 /* of all tries, each the square of the number of items */

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

uint32_t placement_power_within(uint32_t count)
{
    uint32_t power = 1;
    while (power <= count / 2)
        power *= 2;
    return power;
}

/* Cells that the item takes in the texture; 0: it does not fit. */
static uint32_t cells_in(const struct placement_texture *texture, const struct placement_item *item)
{
    if (texture->texel_size != item->texel_size || item->width > texture->width ||
        item->height > texture->height)
        return 0;
    uint32_t each = placement_power_within(texture->width / item->width) *
                    placement_power_within(texture->height / item->height);
    uint32_t cells = (item->layers + each - 1) / each;
    return cells <= texture->layers ? cells : 0;
}

static bool lives_with(const struct placement_item *a, const struct placement_item *b)
{
    return a->first <= b->last && b->first <= a->last;
}

#define NOWHERE UINT32_MAX /* texture of an item that is not placed yet */

struct search {
    struct placement *placement;
    size_t *order;     /* items, the heaviest first */
    size_t *others;    /* by item: those that live with it, in a row */
    size_t *rows;      /* by item: where its row begins, and the end of all */
    uint64_t *weights; /* by item: the heaviest is placed first */
    uint32_t random;   /* 0: no choice is left to chance */
};

/* What lives with an item is few of all, where there are many. Counts alone where `others` is NULL. */
static void list_others(struct search *search)
{
    const struct placement *p = search->placement;
    size_t count = 0;
    for (size_t i = 0; i < p->item_count; i++) {
        search->rows[i] = count;
        for (size_t k = 0; k < p->item_count; k++) {
            if (i == k || !lives_with(&p->items[i], &p->items[k]))
                continue;
            if (search->others)
                search->others[count] = k;
            count++;
        }
    }
    search->rows[p->item_count] = count;
}

/* xorshift32: the same choices on every run. */
static uint32_t draw(struct search *search)
{
    search->random ^= search->random << 13;
    search->random ^= search->random >> 17;
    return search->random ^= search->random << 5;
}

/* The first cell where `item` can lie in the texture. False: none, or another item of the same pass
 * is there. */
static bool find_cell(const struct search *search, size_t index, uint32_t texture, uint32_t cells,
                      uint32_t *cell)
{
    const struct placement *p = search->placement;
    bool moved = true;
    *cell = 0;
    while (moved) {
        moved = false;
        for (size_t k = search->rows[index]; k < search->rows[index + 1]; k++) {
            const struct placement_item *other = &p->items[search->others[k]];
            if (other->texture != texture)
                continue;
            if (p->together[index * p->item_count + search->others[k]])
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

/* Of the textures with room for it, the one where it takes the fewest bytes; of equals the first,
 * or any. */
static bool place_in_existing(struct search *search, size_t index)
{
    struct placement *p = search->placement;
    struct placement_item *item = &p->items[index];
    uint64_t best = UINT64_MAX;
    for (uint32_t t = 0; t < p->texture_count; t++) {
        const struct placement_texture *texture = &p->textures[t];
        uint32_t cell, cells = cells_in(texture, item);
        uint64_t size = (uint64_t)cells * texture->width * texture->height;
        bool better = size < best || (size == best && search->random && draw(search) & 1);
        if (!cells || !better || !find_cell(search, index, t, cells, &cell))
            continue;
        best = size;
        item->texture = t;
        item->cell = cell;
        item->across = placement_power_within(texture->width / item->width);
        item->down = placement_power_within(texture->height / item->height);
    }
    return best < UINT64_MAX;
}

static void place_in_its_own(struct search *search, size_t index)
{
    struct placement *p = search->placement;
    struct placement_item *item = &p->items[index];
    uint32_t beside = item->own_across * item->own_down;
    p->textures[p->texture_count] =
        (struct placement_texture){item->width * item->own_across, item->height * item->own_down,
                                   (item->layers + beside - 1) / beside, item->texel_size};
    item->texture = (uint32_t)p->texture_count++;
    item->cell = 0;
    item->across = item->own_across;
    item->down = item->own_down;
}

/* ---- Searching ---- */

/* The heaviest first; of equals the one that lives first. */
static bool before(const struct search *search, size_t a, size_t b)
{
    const struct placement_item *items = search->placement->items;
    return search->weights[a] != search->weights[b] ? search->weights[a] > search->weights[b]
                                                    : items[a].first < items[b].first;
}

static void sort(struct search *search)
{
    for (size_t i = 0; i < search->placement->item_count; i++) {
        size_t at = i;
        for (; at > 0 && before(search, i, search->order[at - 1]); at--)
            search->order[at] = search->order[at - 1];
        search->order[at] = i;
    }
}

/* By size; where chance has a say, by up to twice the size. */
static void weigh(struct search *search)
{
    const struct placement *p = search->placement;
    for (size_t i = 0; i < p->item_count; i++) {
        uint64_t size = placement_item_size(&p->items[i]);
        search->weights[i] = search->random ? size * (256 + draw(search) % 256) : size;
    }
}

static uint64_t place_all(struct search *search, uint32_t random)
{
    struct placement *p = search->placement;
    search->random = random;
    weigh(search);
    sort(search);
    p->texture_count = 0;
    for (size_t i = 0; i < p->item_count; i++)
        p->items[i].texture = NOWHERE;
    for (size_t i = 0; i < p->item_count; i++) {
        size_t index = search->order[i];
        if (!place_in_existing(search, index))
            place_in_its_own(search, index);
    }
    return placement_size(p);
}

/* Fewer where each takes long. */
static uint32_t tries(size_t items)
{
    size_t count = MOST_WORK / (items * items + 1);
    return count < LEAST_TRIES ? LEAST_TRIES : count > MOST_TRIES ? MOST_TRIES : (uint32_t)count;
}

/* Largest first is good and now and then not the best: some tries by chance stand beside it. */
static void search_best(struct search *search)
{
    const uint32_t most = tries(search->placement->item_count);
    uint64_t bound = placement_lower_bound(search->placement);
    uint32_t best_random = 0;
    uint64_t best = place_all(search, 0);
    for (uint32_t i = 1; i <= most && best > bound; i++) {
        uint64_t size = place_all(search, i * 2654435761u);
        if (size < best) {
            best = size;
            best_random = i * 2654435761u;
        }
    }
    place_all(search, best_random);
}

bool placement_solve(struct placement *placement)
{
    const size_t count = placement->item_count + 1;
    struct search search = {.placement = placement,
                            .order = calloc(count, sizeof *search.order),
                            .rows = calloc(count, sizeof *search.rows),
                            .weights = calloc(count, sizeof *search.weights)};
    bool good = search.order && search.rows && search.weights;
    if (good) {
        list_others(&search);
        search.others = calloc(search.rows[placement->item_count] + 1, sizeof *search.others);
    }
    good = good && search.others;
    if (good) {
        list_others(&search);
        search_best(&search);
    }
    free(search.order);
    free(search.others);
    free(search.rows);
    free(search.weights);
    return good;
}
