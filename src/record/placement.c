/* Placing images in textures: largest first, and then in smaller textures as long as that goes. */
#include "record/placement.h"

#include <stdlib.h>
#include <string.h>

#define MOST_MOVES 500 /* of items, until one texture less has room for all */
#define PARTS      4   /* a texture is made smaller by so many parts of its own, or all */
#define WORTH      100 /* one part in so many of all bytes is worth a search */
#define SMALL      300 /* and so little an item may take besides */

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
    size_t *others;  /* by item: those that live with it, in a row */
    size_t *rows;    /* by item: where its row begins, and the end of all */
    size_t *waiting; /* items without a place; at first all, the last first */
    size_t waiting_count;
    uint32_t *moves;       /* by item: how often it had to leave its place */
    uint32_t random;       /* not 0 */
    uint64_t small;        /* bytes of an item that may have a texture of its own at any time */
    struct placement best; /* kept while another is tried */
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

static void place(struct placement *p, size_t index, uint32_t texture, uint32_t cell)
{
    struct placement_item *item = &p->items[index];
    item->texture = texture;
    item->cell = cell;
    item->across = placement_power_within(p->textures[texture].width / item->width);
    item->down = placement_power_within(p->textures[texture].height / item->height);
}

/* Of the textures with room for it, the one where it takes the fewest bytes; of equals the first. */
static bool place_in_existing(struct search *search, size_t index)
{
    struct placement *p = search->placement;
    uint64_t best = UINT64_MAX;
    for (uint32_t t = 0; t < p->texture_count; t++) {
        const struct placement_texture *texture = &p->textures[t];
        uint32_t cell, cells = cells_in(texture, &p->items[index]);
        uint64_t size = (uint64_t)cells * texture->width * texture->height;
        if (!cells || size >= best || !find_cell(search, index, t, cells, &cell))
            continue;
        best = size;
        place(p, index, t, cell);
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

/* ---- Largest first ---- */

/* Of equals the one that lives first. */
static bool before(const struct placement_item *a, const struct placement_item *b)
{
    uint64_t x = placement_item_size(a), y = placement_item_size(b);
    return x != y ? x > y : a->first < b->first;
}

static void sort(struct search *search)
{
    const struct placement_item *items = search->placement->items;
    for (size_t i = 0; i < search->placement->item_count; i++) {
        size_t at = i;
        for (; at > 0 && before(&items[i], &items[search->waiting[at - 1]]); at--)
            search->waiting[at] = search->waiting[at - 1];
        search->waiting[at] = i;
    }
}

static void place_all(struct search *search)
{
    struct placement *p = search->placement;
    sort(search);
    for (size_t i = 0; i < p->item_count; i++)
        p->items[i].texture = NOWHERE;
    for (size_t i = 0; i < p->item_count; i++)
        if (!place_in_existing(search, search->waiting[i]))
            place_in_its_own(search, search->waiting[i]);
}

/* ---- Smaller textures ---- */

static void copy(struct placement *to, const struct placement *from)
{
    memcpy(to->items, from->items, from->item_count * sizeof *from->items);
    memcpy(to->textures, from->textures, from->texture_count * sizeof *from->textures);
    to->texture_count = from->texture_count;
}

/* xorshift32: the same choices on every run. */
static uint32_t draw(struct search *search)
{
    search->random ^= search->random << 13;
    search->random ^= search->random >> 17;
    return search->random ^= search->random << 5;
}

static void wait_for_place(struct search *search, size_t index)
{
    search->placement->items[index].texture = NOWHERE;
    search->waiting[search->waiting_count++] = index;
}

/* Must `other` leave its place for another item to lie in these cells? */
static bool is_in_the_way(const struct placement *p, size_t index, size_t other, uint32_t texture,
                          uint32_t cell)
{
    const struct placement_texture *in = &p->textures[texture];
    const struct placement_item *o = &p->items[other];
    if (o->texture != texture)
        return false;
    return p->together[index * p->item_count + other] ||
           (cell < o->cell + cells_in(in, o) && o->cell < cell + cells_in(in, &p->items[index]));
}

/* More for those that had to move often. Not counted beyond `most`. */
static uint64_t price_of(const struct search *search, size_t index, uint32_t texture, uint32_t cell,
                         uint64_t most)
{
    uint64_t price = 0;
    for (size_t k = search->rows[index]; k < search->rows[index + 1] && price <= most; k++)
        if (is_in_the_way(search->placement, index, search->others[k], texture, cell))
            price += 1 + search->moves[search->others[k]];
    return price;
}

/* Lets those in its way wait. */
static void take_place(struct search *search, size_t index, uint32_t texture, uint32_t cell)
{
    for (size_t k = search->rows[index]; k < search->rows[index + 1]; k++) {
        size_t other = search->others[k];
        if (!is_in_the_way(search->placement, index, other, texture, cell))
            continue;
        search->moves[other]++;
        wait_for_place(search, other);
    }
    place(search->placement, index, texture, cell);
}

/* The place of the least price; of equals any. False: no texture is large enough. */
static bool place_anyway(struct search *search, size_t index)
{
    struct placement *p = search->placement;
    uint64_t least = UINT64_MAX;
    uint32_t texture = NOWHERE, at = 0, equals = 0;
    for (uint32_t t = 0; t < p->texture_count; t++) {
        uint32_t cells = cells_in(&p->textures[t], &p->items[index]);
        for (uint32_t cell = 0; cells && cell + cells <= p->textures[t].layers; cell += cells) {
            uint64_t price = price_of(search, index, t, cell, least);
            equals = price < least ? 0 : equals;
            if (price > least || draw(search) % ++equals)
                continue;
            least = price;
            texture = t;
            at = cell;
        }
    }
    if (least && p->texture_count < p->item_count &&
        placement_item_size(&p->items[index]) <= search->small)
        place_in_its_own(search, index);
    else if (texture != NOWHERE)
        take_place(search, index, texture, at);
    return p->items[index].texture != NOWHERE;
}

/* Gives the texture fewer layers, none at last. False: its items, and those that these take the
 * places of, found no others. */
static bool shrink(struct search *search, uint32_t texture, uint32_t layers)
{
    struct placement *p = search->placement;
    p->textures[texture].layers = layers;
    search->waiting_count = 0;
    for (size_t i = 0; i < p->item_count; i++) {
        const struct placement_item *item = &p->items[i];
        search->moves[i] = 0;
        if (item->texture != texture)
            continue;
        uint32_t cells = cells_in(&p->textures[texture], item);
        if (!cells || item->cell + cells > layers)
            wait_for_place(search, i);
    }
    for (int i = 0; i < MOST_MOVES && search->waiting_count; i++)
        if (!place_anyway(search, search->waiting[--search->waiting_count]))
            return false;
    return !search->waiting_count;
}

/* The first that goes, the largest step first. False: none does. */
static bool shrink_one(struct search *search, uint64_t bound)
{
    struct placement *p = search->placement;
    const uint64_t size = placement_size(p);
    copy(&search->best, p);
    for (uint32_t part = 0; part < PARTS; part++)
        for (uint32_t t = 0; t < p->texture_count; t++) {
            uint32_t layers = p->textures[t].layers * part / PARTS;
            uint64_t less = texture_size(&p->textures[t]) / PARTS * (PARTS - part);
            if (less > size - bound || less < bound / WORTH)
                continue;
            if (shrink(search, t, layers) && placement_size(p) < size)
                return true;
            copy(p, &search->best);
        }
    return false;
}

static void drop_empty(struct placement *p)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < p->texture_count; t++) {
        bool used = false;
        for (size_t i = 0; i < p->item_count; i++)
            if (p->items[i].texture == t) {
                p->items[i].texture = count;
                used = true;
            }
        if (used)
            p->textures[count++] = p->textures[t];
    }
    p->texture_count = count;
}

static void solve(struct search *search)
{
    uint64_t bound = placement_lower_bound(search->placement);
    search->small = bound / SMALL;
    list_others(search);
    place_all(search);
    while (placement_size(search->placement) > bound + bound / WORTH && shrink_one(search, bound))
        ;
    drop_empty(search->placement);
}

/* False: out of memory. */
static bool make_search(struct search *search, struct placement *placement)
{
    const size_t count = placement->item_count + 1;
    *search = (struct search){.placement = placement,
                              .rows = calloc(count, sizeof *search->rows),
                              .waiting = calloc(count, sizeof *search->waiting),
                              .moves = calloc(count, sizeof *search->moves),
                              .random = 1,
                              .best = {.item_count = placement->item_count,
                                       .items = calloc(count, sizeof *placement->items),
                                       .textures = calloc(count, sizeof *placement->textures)}};
    if (!search->rows || !search->waiting || !search->moves || !search->best.items ||
        !search->best.textures)
        return false;
    list_others(search);
    search->others = calloc(search->rows[placement->item_count] + 1, sizeof *search->others);
    return search->others;
}

bool placement_solve(struct placement *placement)
{
    struct search search;
    bool good = make_search(&search, placement);
    if (good)
        solve(&search);
    free(search.rows);
    free(search.others);
    free(search.waiting);
    free(search.moves);
    free(search.best.items);
    free(search.best.textures);
    return good;
}
