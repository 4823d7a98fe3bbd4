/* Passes of spatial and local contrast normalisation: spec 7.7 and 7.8.
 *
 * Where shared memory is real, work groups make strips or, of larger windows, tiles: what windows
 * share of their columns or rows is found once. Otherwise the gradient takes two passes. The first
 * computes, for every result, the terms that all pixels of its window take from it, into a scratch
 * image; the second gathers them, one invocation a source pixel. A window's statistics and its power
 * are so computed once, not once for each of its pixels.
 */
#include "kernels/local_normalization.h"

#include "device/device.h"
#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/scale_power.h"

glcnn_status local_normalization_create(glcnn_device *device,
                                        const struct glcnn_descriptor *descriptor,
                                        uint32_t kernel_width, uint32_t kernel_height,
                                        glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    kernel_window(*kernel)->kernel_width = kernel_width;
    kernel_window(*kernel)->kernel_height = kernel_height;
    return kernel_finish(kernel, GLCNN_SUCCESS);
}

void local_normalization_node_defaults(struct glcnn_addressing *properties, void *parameters)
{
    (void)parameters;
    properties->primary.kernel_width = properties->primary.kernel_height = 5;
}

/* ---- Numbers ---- */

/* A parameter by its name; `otherwise` in the family that does not have it. */
static float number(const struct operation *o, const char *name, float otherwise)
{
    double value;
    return parameter_get(o->descriptor, &o->properties, o->parameters, name, &value) ? (float)value
                                                                                     : otherwise;
}

struct numbers local_normalization_numbers(const struct operation *o)
{
    double p0;
    return (struct numbers){
        .alpha = number(o, "alpha", 0),
        .beta = number(o, "beta", 0),
        .delta = number(o, "delta", 0),
        .p0 = number(o, "p0", 0),
        .pm = number(o, "pm", 0),
        .ps = number(o, "ps", 1),
        .about_mean = parameter_get(o->descriptor, &o->properties, o->parameters, "p0", &p0)};
}

/* ---- Passes ---- */

static uint32_t taps_of(const struct operation *o)
{
    return (uint32_t)(o->window.x.size * o->window.y.size);
}

static void pass_numbers(struct pass *pass, const struct operation *o, const struct numbers *l)
{
    pass_window(pass, &o->window);
    pass_float(pass, "alpha", l->alpha);
    pass_scale_power(pass, l->beta, 0);
    pass_float(pass, "delta", l->delta);
    pass_float(pass, "p0", l->p0);
    pass_float(pass, "pm", l->pm);
    pass_float(pass, "ps", l->ps);
    if (l->about_mean)
        pass_define(pass, "ABOUT_MEAN", 1);
    pass->work = taps_of(o) * 16 + 128;
}

/* ---- Tiles in shared memory ---- */

#define TILE       16u  /* pixels of a tile, in both directions */
#define LANES      256u /* of a group; gradients gain by twice as many (H200) */
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

static bool is_tiled(const void *tiles)
{
    const struct tiles *t = tiles;
    const struct window *w = &t->operation->window;
    return w->x.size <= WIDEST && w->y.size <= WIDEST && bytes_of(t) <= t->room && keeps_inside(t);
}

/* Windows of few taps are read as fast again and again. */
static bool tiles_pay(const void *tiles)
{
    return taps_of(((const struct tiles *)tiles)->operation) > 4 && is_filled(tiles, TILE, TILE);
}

/* ---- Strips ---- */

#define STRIP_LANES 64u /* of a group: columns of the source */
#define NARROW      5   /* windows in strips: an invocation keeps what it reads of its column */

/* Results of an invocation, as was measured. */
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

static bool is_stripped(const void *tiles)
{
    const struct tiles *t = tiles;
    const struct window *w = &t->operation->window;
    uint32_t kept = parts_of(t) + (t->terms ? strip_of(t) : 0);
    return w->x.size <= NARROW && w->y.size <= NARROW && keeps_inside(t) &&
           kept * STRIP_LANES * (t->about_mean ? 2 : 1) * TEXEL_SIZE <= t->room;
}

/* Of 5x5 windows a forward pass takes 0.42 (about the mean) and 0.75 of the time of tiles, gradients
 * 0.74 and 0.39 (H200). */
static bool strips_pay(const void *tiles)
{
    const struct tiles *t = tiles;
    return taps_of(t->operation) > 4 && is_filled(t, strip_row(t), strip_of(t));
}

/* ---- Choice ---- */

static const struct implementation_list rows = {
    "local_normalization", (const struct implementation[]){
                               {"local_strips_shared", .registers = 32, .shared_memory = true,
                                .supported.holds = is_stripped, .profitable.holds = strips_pay},
                               {"local_tiles_shared", .registers = 32, .shared_memory = true,
                                .supported.holds = is_tiled, .profitable.holds = tiles_pay},
                               {"local_pixels"},
                               {0}}};
const struct implementation_list *const local_normalization_implementations[] = {&rows, NULL};

static struct tiles tiles_of(const struct operation *o, const struct plan *plan,
                             const struct numbers *l, bool gradient)
{
    const struct window *w = &o->window;
    uint32_t x = TILE + (gradient ? (uint32_t)w->x.size - 1 : 0);
    uint32_t y = TILE + (gradient ? (uint32_t)w->y.size - 1 : 0);
    return (struct tiles){.operation = o,
                          .source = &o->images[gradient ? IMAGE : SOURCE],
                          .stats = {x, y},
                          .terms = gradient ? TILE * TILE + x * y * (l->about_mean ? 2 : 1) : 0,
                          .room = plan->device->info.limits.shared_memory_size,
                          .about_mean = l->about_mean};
}

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

/* The forms in shared memory: rows of the table, from the first on. */
static const struct form {
    const char *shader, *gradient;
    void (*pass)(struct pass *pass, const struct tiles *tiles, const struct image_view *to);
} forms[] = {{"normalization/local_normalization_strips.comp",
              "normalization/local_normalization_gradient_strips.comp", pass_strips},
             {"normalization/local_normalization_shared.comp",
              "normalization/local_normalization_gradient_shared.comp", pass_tiles}};

static void plan_shared(const struct operation *o, struct plan *plan, const struct numbers *l,
                        const struct tiles *t, const struct implementation *row)
{
    const struct form *form = &forms[row - rows.rows];
    struct pass *pass = plan_pass(plan, form->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "source", t->source);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_numbers(pass, o, l);
    form->pass(pass, t, &o->images[RESULT]);
}

static void plan_gradient_shared(const struct operation *o, struct plan *plan,
                                 const struct numbers *l, const struct tiles *t,
                                 const struct implementation *row)
{
    const struct form *form = &forms[row - rows.rows];
    struct pass *pass = plan_pass(plan, form->gradient);
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", t->source);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_numbers(pass, o, l);
    pass_float(pass, "slope", 2 * l->alpha * l->beta / (float)taps_of(o));
    form->pass(pass, t, &o->images[DESTINATION]);
}

/* ---- Kernels ---- */

void local_normalization_plan(const struct operation *o, struct plan *plan)
{
    const struct numbers l = local_normalization_numbers(o);
    const struct tiles tiles = tiles_of(o, plan, &l, false);
    const struct implementation *row = implementation_choose(plan, &rows, &tiles);
    if (row->shared_memory) {
        plan_shared(o, plan, &l, &tiles, row);
        return;
    }
    struct pass *pass =
        plan_pixels(plan, o, "normalization/local_normalization.comp", &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_implementation(pass, row);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_numbers(pass, o, &l);
}

/* Results along an axis; where there are none, one that nobody reads. */
static uint32_t results_of(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 1;
}

static struct image_view plan_terms(const struct operation *o, struct plan *plan,
                                    const struct numbers *l)
{
    const struct image_view *gradient = &o->images[GRADIENT];
    const struct extent quantities = {results_of(&o->window.x), results_of(&o->window.y),
                                      o->images[IMAGE].channels,
                                      gradient->images * (l->about_mean ? 3 : 2)};
    struct image_view terms = plan_scratch_image(plan, quantities);
    struct pass *pass = plan_pass(plan, "normalization/local_normalization_terms.comp");
    pass_grid_over(pass, terms.width, terms.height, "gradient", gradient);
    pass_texture(pass, "gradient", gradient);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_image(pass, "terms", &terms);
    pass_numbers(pass, o, l);
    pass_float(pass, "slope", 2 * l->alpha * l->beta / (float)taps_of(o));
    return terms;
}

void local_normalization_plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct numbers l = local_normalization_numbers(o);
    const struct tiles tiles = tiles_of(o, plan, &l, true);
    const struct implementation *row = implementation_choose(plan, &rows, &tiles);
    size_t first = plan->pass_count;
    if (row->shared_memory) {
        plan_gradient_shared(o, plan, &l, &tiles, row);
        return;
    }
    struct image_view terms = plan_terms(o, plan, &l);
    struct pass *pass = plan_pixels(plan, o, "normalization/local_normalization_gradient.comp",
                                    &o->images[DESTINATION]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_texture(pass, "terms", &terms);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_numbers(pass, o, &l);
    pass_int(pass, "gradient_images", (int32_t)o->images[GRADIENT].images);
    plan_implementation(plan, first, row);
}
