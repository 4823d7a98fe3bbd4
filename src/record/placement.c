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

#define NOWHERE UINT32_MAX /* texture of an item that is not placed yet, and no item in a list */

/* Of an item, while another one looks for a place. */
struct neighbour {
    uint32_t next;  /* item of the same texture that lives with the other one, too */
    bool conflicts; /* they may share no texture */
};

struct search {
    struct placement *placement;
    uint32_t *others; /* by item: those that live with it, in a row */
    size_t *rows;     /* by item: where its row begins, and the end of all */
    size_t *waiting;  /* items without a place; at first all, the last first */
    size_t waiting_count;
    uint32_t *moves;       /* by item: how often it had to leave its place */
    uint32_t random;       /* not 0 */
    uint64_t small;        /* bytes of an item that may have a texture of its own at any time */
    struct placement best; /* kept while another is tried */
    struct neighbour *neighbours; /* by item */
    uint32_t *heads;              /* by texture: the first neighbour in it */
    int64_t *prices;              /* by place in a texture: how much more than the one before */
};

static bool begin_in_order(const struct placement *p)
{
    size_t i = 1;
    while (i < p->item_count && p->items[i - 1].first <= p->items[i].first)
        i++;
    return i >= p->item_count;
}

/* Moves the end of each item's row by those that live with it, which are written there if there is
 * room. Rows come in the order of the items. */
static void pair_items(struct search *search, size_t *ends, bool in_order)
{
    const struct placement *p = search->placement;
    for (size_t i = 0; i < p->item_count; i++)
        for (size_t k = i + 1; k < p->item_count; k++) {
            if (in_order && p->items[k].first > p->items[i].last)
                break;
            if (!lives_with(&p->items[i], &p->items[k]))
                continue;
            if (search->others) {
                search->others[ends[i]] = (uint32_t)k;
                search->others[ends[k]] = (uint32_t)i;
            }
            ends[i]++;
            ends[k]++;
        }
}

/* What lives with an item is few of all, where there are many. */
static bool list_others(struct search *search)
{
    const size_t items = search->placement->item_count;
    bool in_order = begin_in_order(search->placement);
    size_t *ends = calloc(items + 1, sizeof *ends), count = 0;
    if (!ends)
        return false;
    pair_items(search, ends, in_order);
    for (size_t i = 0; i < items; i++) {
        search->rows[i] = count;
        count += ends[i];
        ends[i] = search->rows[i];
    }
    search->rows[items] = count;
    search->others = calloc(count + 1, sizeof *search->others);
    if (search->others)
        pair_items(search, ends, in_order);
    free(ends);
    return search->others;
}

/* Sorts those that live with the item by the textures that they lie in. */
static void find_neighbours(struct search *search, size_t index)
{
    const struct placement *p = search->placement;
    const bool *conflicts = &p->conflicts[index * p->item_count];
    for (uint32_t t = 0; t < p->texture_count; t++)
        search->heads[t] = NOWHERE;
    for (size_t k = search->rows[index]; k < search->rows[index + 1]; k++) {
        uint32_t other = search->others[k], texture = p->items[other].texture;
        if (texture == NOWHERE)
            continue;
        search->neighbours[other].conflicts = conflicts[other];
        search->neighbours[other].next = search->heads[texture];
        search->heads[texture] = other;
    }
}

/* The first cell where the item of the neighbours can lie in the texture. False: none, or an
 * item that conflicts is there. */
static bool find_cell(const struct search *search, uint32_t texture, uint32_t cells, uint32_t *cell)
{
    const struct placement *p = search->placement;
    bool moved = true;
    *cell = 0;
    while (moved) {
        moved = false;
        for (uint32_t k = search->heads[texture]; k != NOWHERE; k = search->neighbours[k].next) {
            uint32_t first = p->items[k].cell, end = first + p->items[k].cells;
            if (search->neighbours[k].conflicts)
                return false;
            if (*cell < end && first < *cell + cells) {
                *cell = end;
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
    item->cells = cells_in(&p->textures[texture], item);
    item->across = placement_power_within(p->textures[texture].width / item->width);
    item->down = placement_power_within(p->textures[texture].height / item->height);
}

/* Of the textures with room for it, the one where it takes the fewest bytes; of equals the first. */
static bool place_in_existing(struct search *search, size_t index)
{
    struct placement *p = search->placement;
    uint64_t best = UINT64_MAX;
    find_neighbours(search, index);
    for (uint32_t t = 0; t < p->texture_count; t++) {
        const struct placement_texture *texture = &p->textures[t];
        uint32_t cell, cells = cells_in(texture, &p->items[index]);
        uint64_t size = (uint64_t)cells * texture->width * texture->height;
        if (!cells || size >= best || !find_cell(search, t, cells, &cell))
            continue;
        best = size;
        place(p, index, t, cell);
    }
    return best < UINT64_MAX;
}

static void place_in_its_own(struct search *search, size_t index)
{
    struct placement *p = search->placement;
    const struct placement_item *item = &p->items[index];
    uint32_t beside = item->own_across * item->own_down;
    p->textures[p->texture_count] =
        (struct placement_texture){item->width * item->own_across, item->height * item->own_down,
                                   (item->layers + beside - 1) / beside, item->texel_size};
    place(p, index, (uint32_t)p->texture_count++, 0);
}

/* ---- Largest first ---- */

struct rank {
    uint64_t size;
    uint32_t first;
    size_t item;
};

/* Of equals the one that lives first. */
static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static bool sort(struct search *search)
{
    const struct placement *p = search->placement;
    struct rank *ranks = calloc(p->item_count + 1, sizeof *ranks);
    if (!ranks)
        return false;
    for (size_t i = 0; i < p->item_count; i++)
        ranks[i] = (struct rank){placement_item_size(&p->items[i]), p->items[i].first, i};
    qsort(ranks, p->item_count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < p->item_count; i++)
        search->waiting[i] = ranks[i].item;
    free(ranks);
    return true;
}

/* A time when bytes come to live, or the last one when they do. */
struct event {
    uint32_t time;
    bool ends;
    uint64_t size;
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->ends - y->ends;
}

static bool find_lower_bound(struct placement *p)
{
    struct event *events = calloc(2 * p->item_count + 1, sizeof *events);
    uint64_t now = 0;
    if (!events)
        return false;
    for (size_t i = 0; i < p->item_count; i++) {
        uint64_t size = placement_item_size(&p->items[i]);
        events[2 * i] = (struct event){p->items[i].first, false, size};
        events[2 * i + 1] = (struct event){p->items[i].last, true, size};
    }
    qsort(events, 2 * p->item_count, sizeof *events, compare_events);
    p->lower_bound = 0;
    for (size_t i = 0; i < 2 * p->item_count; i++) {
        now = events[i].ends ? now - events[i].size : now + events[i].size;
        p->lower_bound = now > p->lower_bound ? now : p->lower_bound;
    }
    free(events);
    return true;
}

static void place_all(struct search *search)
{
    struct placement *p = search->placement;
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

/* For each place of so many cells in the texture, one behind the other: what those that must leave
 * theirs for the item of the neighbours are worth, more for those that had to move often. As steps
 * from one place to the next. */
static void find_prices(struct search *search, uint32_t texture, uint32_t cells)
{
    const struct placement *p = search->placement;
    uint32_t places = p->textures[texture].layers / cells;
    memset(search->prices, 0, (places + 1) * sizeof *search->prices);
    for (uint32_t k = search->heads[texture]; k != NOWHERE; k = search->neighbours[k].next) {
        const struct placement_item *other = &p->items[k];
        bool conflicts = search->neighbours[k].conflicts;
        uint32_t first = conflicts ? 0 : other->cell / cells;
        uint32_t end = conflicts ? places : (other->cell + other->cells - 1) / cells + 1;
        int64_t price = 1 + (int64_t)search->moves[k];
        search->prices[first < places ? first : places] += price;
        search->prices[end < places ? end : places] -= price;
    }
}

/* Lets those in its way wait. */
static void take_place(struct search *search, size_t index, uint32_t texture, uint32_t cell)
{
    struct placement *p = search->placement;
    place(p, index, texture, cell);
    for (size_t k = search->rows[index]; k < search->rows[index + 1]; k++) {
        uint32_t number = search->others[k];
        const struct placement_item *item = &p->items[index], *other = &p->items[number];
        bool meet = cell < other->cell + other->cells && other->cell < cell + item->cells;
        if (other->texture != texture || !(meet || search->neighbours[number].conflicts))
            continue;
        search->moves[number]++;
        wait_for_place(search, number);
    }
}

/* The place of the least price; of equals any. False: no texture is large enough. */
static bool place_anyway(struct search *search, size_t index)
{
    struct placement *p = search->placement;
    int64_t least = INT64_MAX;
    uint32_t texture = NOWHERE, at = 0, equals = 0;
    find_neighbours(search, index);
    for (uint32_t t = 0; t < p->texture_count; t++) {
        uint32_t cells = cells_in(&p->textures[t], &p->items[index]);
        int64_t price = 0;
        if (cells)
            find_prices(search, t, cells);
        for (uint32_t i = 0; cells && i < p->textures[t].layers / cells; i++) {
            price += search->prices[i];
            equals = price < least ? 0 : equals;
            if (price > least || draw(search) % ++equals)
                continue;
            least = price;
            texture = t;
            at = i * cells;
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
        if (item->cell + item->cells > layers)
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
    const uint64_t bound = search->placement->lower_bound;
    search->small = bound / SMALL;
    place_all(search);
    while (placement_size(search->placement) > bound + bound / WORTH && shrink_one(search, bound))
        ;
    drop_empty(search->placement);
}

/* Of any texture: one is made for an item, which takes no fewer layers by itself. */
static uint32_t most_layers(const struct placement *p)
{
    uint32_t most = 0;
    for (size_t i = 0; i < p->item_count; i++)
        most = p->items[i].layers > most ? p->items[i].layers : most;
    return most;
}

/* False: out of memory. */
static bool make_search(struct search *search, struct placement *placement)
{
    const size_t count = placement->item_count + 1;
    *search = (struct search){
        .placement = placement,
        .rows = calloc(count, sizeof *search->rows),
        .waiting = calloc(count, sizeof *search->waiting),
        .moves = calloc(count, sizeof *search->moves),
        .random = 1,
        .best = {.item_count = placement->item_count,
                 .items = calloc(count, sizeof *placement->items),
                 .textures = calloc(count, sizeof *placement->textures)},
        .neighbours = calloc(count, sizeof *search->neighbours),
        .heads = calloc(count, sizeof *search->heads),
        .prices = calloc((size_t)most_layers(placement) + 1, sizeof *search->prices)};
    return search->rows && search->waiting && search->moves && search->best.items &&
           search->best.textures && search->neighbours && search->heads && search->prices &&
           list_others(search) && sort(search) && find_lower_bound(placement);
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
    free(search.neighbours);
    free(search.heads);
    free(search.prices);
    return good;
}
