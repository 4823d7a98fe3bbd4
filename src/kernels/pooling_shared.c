/* Gradients of pooling by tiles of a slice, which work groups make in shared memory. */
#include "kernels/pooling_shared.h"

#include <string.h>

#include "device/device.h"
#include "encode/window.h"
#include "kernels/pooling_winners.h"

#define TILE_X     16 /* pixels of a tile */
#define MOST_READS 16 /* of a lane that sums rows of taps */

static bool averages(const char *fold)
{
    return strcmp(fold, "AVERAGE") == 0;
}

static bool takes_norms(const char *fold)
{
    return strcmp(fold, "SQUARES") == 0;
}

static bool finds_winners(const char *fold)
{
    return strcmp(fold, "LARGEST") == 0;
}

static bool reads_winners(const char *fold)
{
    return strcmp(fold, "WINNERS") == 0;
}

/* Or the gradient alone, and what the forward pass left. */
static bool reads_source(const char *fold)
{
    return !averages(fold) && !reads_winners(fold);
}

/* Those that read no source keep the least: their tiles may be larger. Kept winners of floats take 0.89
 * of the time then, of halves 1.1 (H200, images of 112 rows); of small images groups would be few. */
#define TALL_IMAGE 64u

static uint32_t tile_height(const struct operation *o, const char *fold, bool halves)
{
    bool tall =
        averages(fold) || (reads_winners(fold) && !halves && o->region_height >= TALL_IMAGE);
    return tall ? 32 : 16;
}

/* Windows that read pixels of a tile along an axis, and the source pixels that they read. */
struct reach {
    uint32_t windows, kept;
};

struct tiles {
    const struct operation *operation;
    const struct image_view *source;
    const char *fold;
    struct reach x, y;
    uint32_t height; /* of a tile */
    bool halves;     /* are stored */
    uint32_t room;   /* shared memory of a group, in bytes */
    uint32_t lanes;  /* of a group, at most */
};

/* ---- What a tile takes ---- */

/* Tiles whose size is a multiple of the stride begin at the same place of a window; of others any
 * may. */
static struct reach reach_of(const struct axis *axis, uint32_t region, int32_t tile)
{
    int32_t s = axis->stride, extent = axis->dilation * (axis->size - 1) + 1;
    int32_t begin = ((int32_t)region + axis->shift - axis->first) % s;
    int32_t windows =
        tile % s ? (tile + extent - 2) / s + 1
                 : floor_quotient(begin + tile - 1, s) - floor_quotient(begin - extent + s, s) + 1;
    return (struct reach){(uint32_t)windows, (uint32_t)((windows - 1) * s + extent)};
}

static uint32_t windows_of(const struct tiles *t)
{
    return t->x.windows * t->y.windows;
}

/* The windows of a tile read what they share again and again where they read four times its pixels
 * at most: that takes less than the shared memory to keep it in does (H200). */
static bool reads_again(const struct tiles *t)
{
    const struct window *w = &t->operation->window;
    uint32_t taps = (uint32_t)(w->x.size * w->y.size);
    return windows_of(t) * taps <= 4 * TILE_X * t->height;
}

/* Norms whose windows lie over each other have sums over rows of taps in common: 3x3 windows two apart
 * take 0.94 of the time then, of halves 0.89; one apart, beside a source that is kept, 0.88 and 0.90
 * (H200). */
static bool shares_rows(const struct tiles *t)
{
    const struct window *w = &t->operation->window;
    bool overlap = w->x.stride < w->x.size || w->y.stride < w->y.size;
    return takes_norms(t->fold) && overlap;
}

static bool keeps_source(const struct tiles *t)
{
    return finds_winners(t->fold) && !reads_again(t);
}

/* Vectors of four for terms, the source and sums over rows, and a number for winners. */
static uint32_t bytes_of(const struct tiles *t)
{
    uint32_t kept = keeps_source(t) ? t->x.kept * t->y.kept : 0;
    uint32_t sums = shares_rows(t) ? t->x.windows * t->y.kept : 0;
    uint32_t winners = finds_winners(t->fold) || reads_winners(t->fold) ? windows_of(t) : 0;
    return (windows_of(t) + kept + sums) * 16 + winners * 4;
}

/* 64, 128 or 256: tiles are stored in rounds of so many. As was measured: those that find a winner or a
 * norm of windows that they read gain by small groups, those of windows that lie far over each other by
 * large ones, averages of halves take 0.8 to 0.9 of the time of 128 (H200). */
static uint32_t lanes_of(const struct tiles *t)
{
    if (keeps_source(t) || shares_rows(t))
        return !reads_again(t) && t->lanes >= 256 ? 256 : 128;
    if (averages(t->fold))
        return t->halves ? 64 : 128;
    return finds_winners(t->fold) && windows_of(t) > 64 ? 128 : 64;
}

/* How many windows of a row are one lane's, so that the lanes together are done with the fewest reads
 * after each other; of those at most 16 are kept, or a row of taps. */
static uint32_t run_of(const struct tiles *t)
{
    const struct axis *x = &t->operation->window.x;
    uint32_t size = (uint32_t)x->size, best = 1, least_reads = UINT32_MAX;
    for (uint32_t run = 1, reads = size; run <= t->x.windows; run++, reads += (uint32_t)x->stride) {
        uint32_t rounds = groups_of(groups_of(t->x.windows, run) * t->y.kept, lanes_of(t));
        bool fits = run == 1 || reads <= MOST_READS;
        if (fits && rounds * reads < least_reads) {
            least_reads = rounds * reads;
            best = run;
        }
    }
    return best;
}

/* ---- Choice ---- */

bool pooling_is_regular(const struct axis *axis)
{
    return axis->stride == 1 || (axis->dilation == 1 && axis->stride <= axis->size);
}

bool pooling_touches(const struct axis *axis, uint32_t size)
{
    int32_t low = axis->first + axis->stride * axis->begin;
    int32_t high = axis->first + axis->stride * (axis->end - 1) + axis->dilation * (axis->size - 1);
    bool all = low >= 0 && high < (int32_t)size;
    return all ||
           (axis->dilation == 1 && low + axis->size > 0 && high - (axis->size - 1) < (int32_t)size);
}

static bool is_tiled(const void *tiles)
{
    const struct tiles *t = tiles;
    const struct operation *o = t->operation;
    const struct axis *x = &o->window.x, *y = &o->window.y;
    bool clamps = o->window.edge_mode == GLCNN_EDGE_MODE_CLAMP && !averages(t->fold);
    return pooling_is_regular(x) && pooling_is_regular(y) && x->size <= 15 && y->size <= 15 &&
           bytes_of(t) <= t->room &&
           (!clamps ||
            (pooling_touches(x, t->source->width) && pooling_touches(y, t->source->height)));
}

/* Tiles are not mostly empty, and gathering is short. */
static bool tiles_pay(const void *tiles)
{
    const struct tiles *t = tiles;
    const struct operation *o = t->operation;
    return pooling_fills_groups(o->region_width, o->region_height, TILE_X, t->height) &&
           pooling_windows_at(&o->window.x) * pooling_windows_at(&o->window.y) <= 25;
}

const struct implementation_list pooling_tile_forms = {
    "pooling_gradient_tiles",
    (const struct implementation[]){{"pooling_tiles_shared", .registers = 32, .shared_memory = true,
                                     .supported.holds = is_tiled, .profitable.holds = tiles_pay},
                                    {"pooling_tiles_none"},
                                    {0}}};

/* ---- The pass ---- */

static void pass_region(struct pass *pass, const struct operation *o)
{
    pass_int(pass, "region_x", (int32_t)o->region_x);
    pass_int(pass, "region_y", (int32_t)o->region_y);
    pass_int(pass, "region_width", (int32_t)o->region_width);
    pass_int(pass, "region_height", (int32_t)o->region_height);
}

static void pass_kept(struct pass *pass, const struct tiles *t, uint32_t lanes)
{
    pass_define(pass, "KEPT_WIDTH", (int)t->x.kept);
    pass_define(pass, "KEPT_HEIGHT", (int)t->y.kept);
    pass_define(pass, "KEPT_ROUNDS", (int)groups_of(t->x.kept * t->y.kept, lanes));
}

static void pass_row_sums(struct pass *pass, const struct tiles *t)
{
    pass_define(pass, "KEPT_HEIGHT", (int)t->y.kept);
    pass_define(pass, "RUN", (int)run_of(t));
    pass_define(pass, "TAPS_X", t->operation->window.x.size);
}

static void pass_tiles(struct pass *pass, const struct tiles *t, const struct image_view *to)
{
    const struct operation *o = t->operation;
    uint32_t lanes = lanes_of(t);
    pass_define(pass, t->fold, 1);
    pass_norm(pass, t->fold);
    pass_define(pass, "TILE_X", TILE_X);
    pass_define(pass, "TILE_Y", (int)t->height);
    pass_define(pass, "LANES", (int)lanes);
    pass_define(pass, "WINDOWS_X", (int)t->x.windows);
    pass_define(pass, "WINDOWS_Y", (int)t->y.windows);
    pass_define(pass, "WINDOWS_AT_X", (int)pooling_windows_at(&o->window.x));
    pass_define(pass, "WINDOWS_AT_Y", (int)pooling_windows_at(&o->window.y));
    if (keeps_source(t))
        pass_kept(pass, t, lanes);
    if (shares_rows(t))
        pass_row_sums(pass, t);
    pass_region(pass, o);
    pass_grid(pass, groups_of(o->region_width, TILE_X) * lanes,
              groups_of(o->region_height, t->height), slice_count(to->channels) * to->images);
    pass_local(pass, lanes, 1, 1);
    pass->cooperative = true;
    pass->work = (uint32_t)(o->window.x.size * o->window.y.size) * 32 + 64;
}

/* Of an epilogue: what sums or statistics of two lanes take of shared memory, and the rest. */
#define PAIR_BYTES 36u
#define MORE_BYTES 32u

/* Where the tiles are all of an image that holds what they come to, lanes merge in pairs, and shared
 * memory is left for them. */
static void pass_tile_epilogue(struct pass *pass, const struct tiles *t,
                               const struct image_view *to)
{
    const struct operation *o = t->operation;
    uint32_t lanes = lanes_of(t);
    bool pairs = bytes_of(t) + lanes / 2 * PAIR_BYTES + MORE_BYTES <= t->room;
    if (pairs && o->region_width == to->width && o->region_height == to->height &&
        to->storage->format == GLCNN_CHANNEL_FORMAT_FLOAT32)
        pass->epilogue =
            (struct pass_epilogue){lanes, pass->grid[0] / lanes * pass->grid[1] * to->images, 1};
}

static void pass_source(struct pass *pass, const struct pooled_gradient *p, const char *fold)
{
    if (reads_winners(fold))
        pass_kept_winners(pass, p);
    if (reads_source(fold)) {
        pass_texture(pass, "source", p->source);
        return;
    }
    pass_int(pass, "source_width", (int32_t)p->source->width);
    pass_int(pass, "source_height", (int32_t)p->source->height);
}

bool pooling_plan_shared_gradient(struct plan *plan, const struct pooled_gradient *p,
                                  const char *fold, const struct implementation **row)
{
    const struct operation *o = p->operation;
    bool halves = is_float16(p->destination);
    uint32_t height = tile_height(o, fold, halves);
    const struct tiles tiles = {.operation = o,
                                .source = p->source,
                                .fold = fold,
                                .x = reach_of(&o->window.x, o->region_x, TILE_X),
                                .y = reach_of(&o->window.y, o->region_y, (int32_t)height),
                                .height = height,
                                .halves = halves,
                                .room = plan->device->info.limits.shared_memory_size,
                                .lanes = plan->device->info.limits.work_group_invocations};
    *row = implementation_choose(plan, &pooling_tile_forms, &tiles);
    if (*row != pooling_tile_forms.rows)
        return false;
    struct pass *pass = plan_pass(plan, "pooling/pooling_gradient_shared.comp");
    pass_implementation(pass, *row);
    pass_texture(pass, "gradient", p->gradient);
    pass_source(pass, p, fold);
    pass_image(pass, "destination", p->destination);
    pass_window(pass, &o->window);
    p->add_padding(o, pass);
    pass_tiles(pass, &tiles, p->destination);
    pass_tile_epilogue(pass, &tiles, p->destination);
    return true;
}
