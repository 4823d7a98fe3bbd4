/* Pooling by work groups that share memory, for large desktop GPUs: windows of many taps that are few,
 * and tiles of a gradient. */
#include "encode/window.h"
#include "kernels/pooling.h"

/* ---- Averages over few large windows: a window a group ---- */

#define LANES     32u    /* of a group */
#define LONG_TAPS 16u    /* of a window that they share */
#define ENOUGH    16384u /* invocations to keep a large GPU busy */

static bool is_average(const void *problem)
{
    return ((const struct pooling *)problem)->reduction == POOLING_AVERAGE;
}

static bool are_few_and_large(const void *problem)
{
    const struct pooling *p = problem;
    uint64_t results =
        (uint64_t)p->width * p->height * slice_count(p->result->channels) * p->result->images;
    return results < ENOUGH && (uint32_t)(p->window.x.size * p->window.y.size) >= LONG_TAPS;
}

static void plan_groups(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct pooling *p = problem;
    struct pass *pass = plan_pass(plan, "desktop/pooling_average_group.comp");
    pass_implementation(pass, row);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "destination", p->result);
    pass_window(pass, &p->window);
    pooling_pass_padding(pass, p->operation);
    pass_define(pass, "LANES", (int)LANES);
    pass_grid(pass, p->width * LANES, p->height,
              slice_count(p->result->channels) * p->result->images);
    pass_origin(pass, p->x, p->y, 0);
    pass_local(pass, LANES, 1, 1);
    pass->cooperative = true;
    pass->work = groups_of((uint32_t)(p->window.x.size * p->window.y.size), LANES) * 8 + 64;
}

const struct implementation_list glcnn_desktop_pooling = {
    "pooling",
    (const struct implementation[]){
        {"pooling_average_group", .registers = 16, .shared_memory = true,
         .supported = {is_average, "an average"},
         .profitable = {are_few_and_large, "few results of 16 taps and more"}, .plan = plan_groups},
        {0}}};

/* ---- Gradients: a group makes a tile of a slice, and each term of its windows once ---- */

#define TILE_X 16

/* Windows that read pixels of a tile along an axis. Tiles whose size is a multiple of the stride begin
 * at the same place of a window; of others any may. */
static uint32_t windows_of(const struct axis *axis, uint32_t region, int32_t tile)
{
    int32_t s = axis->stride, extent = axis->dilation * (axis->size - 1) + 1;
    int32_t begin = ((int32_t)region + axis->shift - axis->first) % s;
    return (uint32_t)(tile % s ? (tile + extent - 2) / s + 1
                               : floor_quotient(begin + tile - 1, s) -
                                     floor_quotient(begin - extent + s, s) + 1);
}

struct tile {
    uint32_t height, windows_x, windows_y, lanes;
};

/* Averages keep the least, so their tiles may be larger. A lane makes about two terms. */
static struct tile tile_of(const struct pooling_gradient *p)
{
    const struct operation *o = p->operation;
    struct tile t = {.height = p->reduction == POOLING_AVERAGE ? 32 : 16};
    t.windows_x = windows_of(&o->window.x, o->region_x, TILE_X);
    t.windows_y = windows_of(&o->window.y, o->region_y, (int32_t)t.height);
    t.lanes = t.windows_x * t.windows_y > 64 ? 128 : 64;
    return t;
}

/* A vector of four for each term, and a number for its argmax indices. */
static size_t bytes_of(const struct tile *t)
{
    return (size_t)t->windows_x * t->windows_y * 20;
}

/* Maxima with argmax indices of windows that overlap are faster by pairs of pixels. */
static bool is_disjoint(const struct axis *axis)
{
    return axis->stride >= axis->size;
}

static bool is_tiled(const void *problem)
{
    const struct pooling_gradient *p = problem;
    const struct operation *o = p->operation;
    const struct tile t = tile_of(p);
    const struct axis *x = &o->window.x, *y = &o->window.y;
    bool clamps = o->window.edge_mode == GLCNN_EDGE_MODE_CLAMP && p->reduction != POOLING_AVERAGE;
    return p->reduction != POOLING_MAX && pooling_is_regular(x) && pooling_is_regular(y) &&
           x->size <= 15 && y->size <= 15 &&
           bytes_of(&t) <= o->device->info.limits.shared_memory_size &&
           (!clamps || (pooling_touches(x, o->images[IMAGE].width) &&
                        pooling_touches(y, o->images[IMAGE].height)));
}

static bool fills_tiles(const struct operation *o, const struct tile *t)
{
    uint64_t covered = (uint64_t)groups_of(o->region_width, TILE_X) * TILE_X *
                       groups_of(o->region_height, t->height) * t->height;
    return 4ull * o->region_width * o->region_height >= 3 * covered;
}

static bool tiles_gain(const void *problem)
{
    const struct pooling_gradient *p = problem;
    const struct window *w = &p->operation->window;
    const struct tile t = tile_of(p);
    bool overlaps = !is_disjoint(&w->x) || !is_disjoint(&w->y);
    return fills_tiles(p->operation, &t) &&
           pooling_windows_at(&w->x) * pooling_windows_at(&w->y) <= 25 &&
           !(overlaps && p->reduction == POOLING_MAX_INDICES);
}

static void pass_tiles(struct pass *pass, const struct operation *o, const struct tile *t)
{
    const struct image_view *to = &o->images[DESTINATION];
    pass_define(pass, "TILE_X", TILE_X);
    pass_define(pass, "TILE_Y", (int)t->height);
    pass_define(pass, "LANES", (int)t->lanes);
    pass_define(pass, "WINDOWS_X", (int)t->windows_x);
    pass_define(pass, "WINDOWS_Y", (int)t->windows_y);
    pass_define(pass, "WINDOWS_AT_X", (int)pooling_windows_at(&o->window.x));
    pass_define(pass, "WINDOWS_AT_Y", (int)pooling_windows_at(&o->window.y));
    pass_int(pass, "region_x", (int32_t)o->region_x);
    pass_int(pass, "region_y", (int32_t)o->region_y);
    pass_int(pass, "region_width", (int32_t)o->region_width);
    pass_int(pass, "region_height", (int32_t)o->region_height);
    pass_grid(pass, groups_of(o->region_width, TILE_X) * t->lanes,
              groups_of(o->region_height, t->height), slice_count(to->channels) * to->images);
    pass_local(pass, t->lanes, 1, 1);
    pass->cooperative = true;
    pass->work = (uint32_t)(o->window.x.size * o->window.y.size) * 32 + 64;
}

static void plan_tiles(struct plan *plan, const struct implementation *row, const void *problem)
{
    static const char *const defines[] = {"AVERAGE", "L2_NORM", "MAX", "MAX_INDICES"};
    const struct pooling_gradient *p = problem;
    const struct operation *o = p->operation;
    const struct tile t = tile_of(p);
    struct pass *pass = plan_pass(plan, "desktop/pooling_gradient_tiles.comp");
    pass_implementation(pass, row);
    pass_define(pass, defines[p->reduction], 1);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    if (p->reduction == POOLING_MAX_INDICES)
        pooling_pass_indices(pass, o);
    if (p->reduction == POOLING_L2_NORM) {
        pass_library(pass, "pooling/window_norm.glsl");
        pass_texture(pass, "source", &o->images[IMAGE]);
    } else {
        pass_source_size(pass, &o->images[IMAGE]);
    }
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_window(pass, &o->window);
    pooling_pass_padding(pass, o);
    pass_tiles(pass, o, &t);
}

const struct implementation_list glcnn_desktop_pooling_gradient = {
    "pooling_gradient",
    (const struct implementation[]){
        {"pooling_gradient_tiles", .registers = 32, .shared_memory = true,
         .supported = {is_tiled,
                       "windows of at most 15x15 without gaps, whose argmax is in the state"},
         .profitable = {tiles_gain,
                        "tiles that are not mostly empty, and windows that overlap little"},
         .plan = plan_tiles},
        {0}}};
