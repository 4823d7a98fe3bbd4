/* Spatial and local contrast normalisation in shared memory: work groups make strips or, of larger
 * windows, tiles. What windows share of their columns or rows is found once. */
#include "kernels/local_normalization.h"

#include "device/device.h"
#include "encode/kernel.h"
#include "encode/window.h"

/* ---- Tiles in shared memory ---- */

#define TILE       16u  /* pixels of a tile, in both directions */
#define LANES      256u /* of a group; a gradient has twice as many */
#define WIDEST     15   /* windows in tiles */
#define TEXEL_SIZE 16u

/* What a work group keeps: of the windows that it measures, and of their terms. */
struct tiles {
    const struct operation *operation;
    const struct image_view *source;
    uint32_t stats[2], terms; /* windows; values of four components that a gradient keeps */
    uint32_t room;            /* shared memory, in bytes */
    bool about_mean;
};

static struct tiles tiles_of(const void *problem)
{
    const struct local_normalization *l = problem;
    const struct operation *o = l->operation;
    uint32_t x = TILE + (l->is_gradient ? (uint32_t)o->window.x.size - 1 : 0);
    uint32_t y = TILE + (l->is_gradient ? (uint32_t)o->window.y.size - 1 : 0);
    bool about_mean = l->numbers.about_mean;
    return (struct tiles){.operation = o,
                          .source = &o->images[l->is_gradient ? IMAGE : SOURCE],
                          .stats = {x, y},
                          .terms = l->is_gradient ? TILE * TILE + x * y * (about_mean ? 2 : 1) : 0,
                          .room = o->device->info.limits.shared_memory_size,
                          .about_mean = about_mean};
}

static uint32_t taps_of(const struct operation *o)
{
    return (uint32_t)(o->window.x.size * o->window.y.size);
}

static uint32_t bytes_of(const struct tiles *t)
{
    const struct window *w = &t->operation->window;
    uint32_t rows = t->stats[1] + (uint32_t)w->y.size - 1;
    uint32_t kept = (t->stats[0] + (uint32_t)w->x.size - 1) * rows;
    uint32_t of_rows = t->stats[0] * rows * (t->about_mean ? 2 : 1);
    return (kept + of_rows + t->terms) * TEXEL_SIZE;
}

static bool reads_inside(const struct axis *axis, uint32_t size)
{
    return axis->first + axis->begin >= 0 &&
           axis->first + axis->end - 1 + axis->size <= (int32_t)size;
}

/* A gradient in shared memory has no place for taps outside that stand for pixels inside. */
static bool keeps_inside(const struct tiles *t)
{
    const struct window *w = &t->operation->window;
    bool clamps = t->terms && w->edge_mode == GLCNN_EDGE_MODE_CLAMP;
    return !clamps ||
           (reads_inside(&w->x, t->source->width) && reads_inside(&w->y, t->source->height));
}

/* Groups of so many results are not mostly empty. */
static bool is_filled(const struct tiles *t, uint32_t width, uint32_t height)
{
    const struct operation *o = t->operation;
    uint64_t covered = (uint64_t)groups_of(o->region_width, width) * width *
                       groups_of(o->region_height, height) * height;
    return 4ull * o->region_width * o->region_height >= 3 * covered;
}

static bool is_tiled(const void *problem)
{
    const struct tiles t = tiles_of(problem);
    const struct window *w = &t.operation->window;
    return w->x.size <= WIDEST && w->y.size <= WIDEST && bytes_of(&t) <= t.room && keeps_inside(&t);
}

/* Windows of few taps are read as fast again and again. */
static bool tiles_pay(const void *problem)
{
    const struct tiles t = tiles_of(problem);
    return taps_of(t.operation) > 4 && is_filled(&t, TILE, TILE);
}

/* ---- Strips ---- */

#define STRIP_LANES 64u /* of a group: columns of the source */
#define NARROW      5   /* windows in strips: an invocation keeps what it reads of its column */

/* Results of an invocation. */
static uint32_t strip_of(const struct tiles *t)
{
    return t->about_mean && !t->terms ? 2 : 4;
}

/* Windows that a strip measures, and results of a row of strips. */
static uint32_t parts_of(const struct tiles *t)
{
    return strip_of(t) + (t->terms ? (uint32_t)t->operation->window.y.size - 1 : 0);
}

static uint32_t strip_row(const struct tiles *t)
{
    return STRIP_LANES - ((uint32_t)t->operation->window.x.size - 1) * (t->terms ? 2 : 1);
}

static bool is_stripped(const void *problem)
{
    const struct tiles t = tiles_of(problem);
    const struct window *w = &t.operation->window;
    uint32_t kept = parts_of(&t) + (t.terms ? strip_of(&t) : 0);
    return w->x.size <= NARROW && w->y.size <= NARROW && keeps_inside(&t) &&
           kept * STRIP_LANES * (t.about_mean ? 2 : 1) * TEXEL_SIZE <= t.room;
}

static bool strips_pay(const void *problem)
{
    const struct tiles t = tiles_of(problem);
    return taps_of(t.operation) > 4 && is_filled(&t, strip_row(&t), strip_of(&t));
}

/* ---- Passes ---- */

/* Groups in whose rows so many results of `width` lie, and so many rows. */
static void pass_groups(struct pass *pass, const struct operation *o, uint32_t lanes,
                        uint32_t width, uint32_t height, const struct image_view *to)
{
    pass_define(pass, "LANES", (int)lanes);
    pass_define(pass, "TAPS_X", o->window.x.size);
    pass_define(pass, "TAPS_Y", o->window.y.size);
    pass_int(pass, "region_x", (int32_t)o->region_x);
    pass_int(pass, "region_y", (int32_t)o->region_y);
    pass_int(pass, "region_width", (int32_t)o->region_width);
    pass_int(pass, "region_height", (int32_t)o->region_height);
    pass_grid(pass, groups_of(o->region_width, width) * lanes, groups_of(o->region_height, height),
              slice_count(to->channels) * to->images);
    pass_local(pass, lanes, 1, 1);
    pass->cooperative = true;
}

static void pass_tiles(struct pass *pass, const struct tiles *t, const struct image_view *to)
{
    uint32_t lanes = least(t->terms ? 2 * LANES : LANES,
                           t->operation->device->info.limits.work_group_invocations);
    pass_define(pass, "TILE_X", (int)TILE);
    pass_define(pass, "TILE_Y", (int)TILE);
    pass_define(pass, "STATS_X", (int)t->stats[0]);
    pass_define(pass, "STATS_Y", (int)t->stats[1]);
    pass_groups(pass, t->operation, lanes, TILE, TILE, to);
}

static void pass_strips(struct pass *pass, const struct tiles *t, const struct image_view *to)
{
    pass_define(pass, "PARTS", (int)parts_of(t));
    pass_groups(pass, t->operation, STRIP_LANES, strip_row(t), strip_of(t), to);
}

struct form {
    const char *shader, *gradient;
    void (*pass)(struct pass *pass, const struct tiles *tiles, const struct image_view *to);
};
static const struct form strips = {"desktop/local_normalization_strips.comp",
                                   "desktop/local_normalization_gradient_strips.comp", pass_strips},
                         tiles = {"desktop/local_normalization_tiles.comp",
                                  "desktop/local_normalization_gradient_tiles.comp", pass_tiles};

static void plan_shared(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct local_normalization *l = problem;
    const struct operation *o = l->operation;
    const struct form *form = row->form;
    const struct tiles t = tiles_of(problem);
    const struct image_view *to = &o->images[l->is_gradient ? DESTINATION : RESULT];
    struct pass *pass = plan_pass(plan, l->is_gradient ? form->gradient : form->shader);
    pass_implementation(pass, row);
    if (l->is_gradient)
        pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", t.source);
    pass_image(pass, "destination", to);
    pass_local_numbers(pass, o, &l->numbers);
    if (l->is_gradient)
        pass_local_decline(pass, o, &l->numbers);
    form->pass(pass, &t, to);
}

const struct implementation_list glcnn_desktop_local_normalization = {
    "local_normalization",
    (const struct implementation[]){
        {"local_strips_shared", .registers = 32, .shared_memory = true,
         .supported = {is_stripped,
                       "windows of at most 5x5 pixels whose strips shared memory holds"},
         .profitable = {strips_pay, "windows of more than 4 pixels, and sizes that fill strips"},
         .plan = plan_shared, .form = &strips},
        {"local_tiles_shared", .registers = 32, .shared_memory = true,
         .supported = {is_tiled, "windows of at most 15x15 pixels whose tiles shared memory holds"},
         .profitable = {tiles_pay, "windows of more than 4 pixels, and sizes that fill tiles"},
         .plan = plan_shared, .form = &tiles},
        {0}}};
