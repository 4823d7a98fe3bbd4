/* Pooling in two passes, from one texture array into another. */
#include "kernels/pooling_separable.h"

#include <string.h>

#include "encode/window.h"

/* ---- Choice ---- */

/* Texels that are read in all, and by one invocation of the one pass. */
struct reads {
    double one_pass, separable, longest;
};

/* A second pass has its price: it writes and reads an image more, and is a dispatch more. */
static bool pays(const void *shape)
{
    const struct reads *reads = shape;
    return reads->one_pass > 2 * reads->separable + 0x1p20 || reads->longest > 256;
}

const struct implementation_list pooling_forms = {
    "pooling_axes", (const struct implementation[]){{"pooling_separable", .profitable.holds = pays},
                                                    {"pooling_one_pass"},
                                                    {0}}};

static double layers_of(const struct image_view *view)
{
    return (double)slice_count(view->channels) * view->images;
}

/* ---- Results ---- */

/* Columns or rows of a source. */
struct span {
    int32_t first;
    uint32_t count;
};

static int32_t inside(int32_t at, uint32_t size)
{
    int32_t last = (int32_t)size - 1;
    return at < 0 ? 0 : at > last ? last : at;
}

/* Those that `count` windows from `begin` on have taps in or, where all lie outside, the one nearest
 * to them. */
static struct span span_of(const struct axis *axis, int32_t begin, uint32_t count, uint32_t size)
{
    int32_t low = axis->first + axis->stride * begin;
    int32_t high = low + axis->stride * (int32_t)(count - 1) + axis->dilation * (axis->size - 1);
    int32_t first = inside(low, size);
    return (struct span){first, (uint32_t)(inside(high, size) - first + 1)};
}

static struct span columns_of(const struct pooled *p)
{
    return span_of(&p->window.x, (int32_t)p->x, p->width, p->source->width);
}

static const struct implementation *choose(struct plan *plan, const struct pooled *p)
{
    double taps_x = p->window.x.size, taps_y = p->window.y.size;
    double rows = p->height * layers_of(p->result);
    const struct reads reads = {.one_pass = rows * p->width * taps_x * taps_y,
                                .separable =
                                    rows * p->width * taps_x + rows * columns_of(p).count * taps_y,
                                .longest = taps_x * taps_y};
    return implementation_choose(plan, &pooling_forms, &reads);
}

bool pass_norm(struct pass *pass, const char *fold)
{
    bool squares = strcmp(fold, "SQUARES") == 0;
    if (squares)
        pass_library(pass, "pooling/norm_of_squares.glsl");
    return squares;
}

/* Of a source that the pass does not read. */
static void pass_source_size(struct pass *pass, const struct image_view *source)
{
    pass_int(pass, "source_width", (int32_t)source->width);
    pass_int(pass, "source_height", (int32_t)source->height);
}

static void pass_pooled(struct pass *pass, const struct pooled *p, const struct span *columns)
{
    pass_window(pass, &p->window);
    pass_define(pass, p->fold, 1);
    p->add_padding(p->operation, pass);
    pass_int(pass, "first_column", columns->first);
    pass_int(pass, "first_row", (int32_t)p->y);
}

static void plan_columns(struct plan *plan, const struct pooled *p, const struct span *columns,
                         const struct image_view *part)
{
    struct pass *pass = plan_pass(plan, "pooling/pooling_fold_columns.comp");
    pass_grid_over(pass, part->width, part->height, "part", part);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "part", part);
    pass_pooled(pass, p, columns);
    pass->work = (uint32_t)p->window.y.size * 8;
}

static void plan_rows(struct plan *plan, const struct pooled *p, const struct span *columns,
                      const struct image_view *part)
{
    struct pass *pass = plan_pass(plan, "pooling/pooling_fold_rows.comp");
    pass_grid_over(pass, p->width, p->height, "destination", p->result);
    pass_origin(pass, p->x, p->y, 0);
    pass_texture(pass, "part", part);
    pass_image(pass, "destination", p->result);
    if (pass_norm(pass, p->fold))
        pass_texture(pass, "source", p->source);
    else
        pass_source_size(pass, p->source);
    pass_pooled(pass, p, columns);
    pass->work = (uint32_t)p->window.x.size * 8;
}

bool pooling_plan_separable(struct plan *plan, const struct pooled *p,
                            const struct implementation **row)
{
    size_t first = plan->pass_count;
    *row = choose(plan, p);
    if (*row != pooling_forms.rows)
        return false;
    struct span columns = columns_of(p);
    struct image_view part = plan_scratch_image(
        plan, (struct extent){columns.count, p->height, p->result->channels, p->result->images});
    plan_columns(plan, p, &columns, &part);
    plan_rows(plan, p, &columns, &part);
    plan_implementation(plan, first, *row);
    return true;
}

/* ---- Gradients ---- */

/* Of `count` results from `begin` on, along an axis. */
static bool are_inside(const struct axis *axis, uint32_t begin, uint32_t count, uint32_t size)
{
    int64_t first = axis->first + (int64_t)axis->stride * begin;
    int64_t last =
        first + (int64_t)axis->stride * (count - 1) + (int64_t)axis->dilation * (axis->size - 1);
    return first >= 0 && last < size;
}

void pass_inside(struct pass *pass, const struct pooled *p)
{
    if (are_inside(&p->window.x, p->x, p->width, p->source->width) &&
        are_inside(&p->window.y, p->y, p->height, p->source->height))
        pass_define(pass, "ALL_INSIDE", 1);
}

uint32_t pooling_window_count(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 1;
}

bool pooling_fills_groups(uint32_t width, uint32_t height, uint32_t across, uint32_t down)
{
    uint64_t covered = (uint64_t)groups_of(width, across) * across * groups_of(height, down) * down;
    return 4ull * width * height >= 3 * covered;
}

uint32_t pooling_windows_at(const struct axis *axis)
{
    return groups_of((uint32_t)axis->size, (uint32_t)axis->stride);
}

static const struct implementation *choose_gradient(struct plan *plan,
                                                    const struct pooled_gradient *p)
{
    const struct operation *o = p->operation;
    double at_x = pooling_windows_at(&o->window.x), at_y = pooling_windows_at(&o->window.y);
    double rows = o->region_height * layers_of(p->destination);
    const struct reads reads = {.one_pass = rows * o->region_width * at_x * at_y,
                                .separable = rows * o->region_width * at_x +
                                             rows * pooling_window_count(&o->window.x) * at_y,
                                .longest = at_x * at_y};
    return implementation_choose(plan, &pooling_forms, &reads);
}

static void pass_gradient(struct pass *pass, const struct pooled_gradient *p)
{
    const struct operation *o = p->operation;
    pass_window(pass, &o->window);
    p->add_padding(o, pass);
    pass_int(pass, "first_row", (int32_t)o->region_y);
}

static struct pass *plan_gradient_columns(struct plan *plan, const struct pooled_gradient *p,
                                          const struct image_view *part)
{
    struct pass *pass = plan_pass(plan, p->columns);
    pass_grid_over(pass, part->width, p->operation->region_height, "part", part);
    pass_texture(pass, "gradient", p->gradient);
    if (p->norms)
        pass_texture(pass, "norms", p->norms);
    pass_image(pass, "part", part);
    pass_gradient(pass, p);
    pass_int(pass, "source_height", (int32_t)p->source->height);
    pass->work = pooling_windows_at(&p->operation->window.y) * 16;
    return pass;
}

static struct pass *plan_gradient_rows(struct plan *plan, const struct pooled_gradient *p,
                                       const struct image_view *part)
{
    struct pass *pass = plan_pixels(plan, p->operation, p->rows, p->destination);
    pass_texture(pass, "part", part);
    pass_image(pass, "destination", p->destination);
    pass_gradient(pass, p);
    if (p->norms)
        pass_texture(pass, "source", p->source);
    else
        pass_source_size(pass, p->source);
    pass->work = pooling_windows_at(&p->operation->window.x) * 16;
    return pass;
}

bool pooling_plan_separable_gradient(struct plan *plan, const struct pooled_gradient *p,
                                     const struct implementation **row)
{
    const struct operation *o = p->operation;
    size_t first = plan->pass_count;
    *row = choose_gradient(plan, p);
    if (*row != pooling_forms.rows)
        return false;
    struct image_view part = plan_scratch_image(
        plan, (struct extent){pooling_window_count(&o->window.x), o->region_height,
                              p->destination->channels, p->destination->images});
    plan_gradient_columns(plan, p, &part);
    plan_gradient_rows(plan, p, &part);
    plan_implementation(plan, first, *row);
    return true;
}

/* ---- Gradients of maxima ---- */

/* Of the windows that count, along both axes, and the source rows that they read. */
struct winners {
    uint32_t width, height;
    struct span rows;
    struct image_view columns, windows; /* winning columns of rows, and rows of windows */
    struct image_view best;             /* largest taps of rows; then the part that is gathered */
};

static struct winners winners_of(const struct pooled_gradient *p)
{
    const struct axis *x = &p->operation->window.x, *y = &p->operation->window.y;
    uint32_t height = pooling_window_count(y);
    return (struct winners){.width = pooling_window_count(x),
                            .height = height,
                            .rows = span_of(y, y->begin, height, p->source->height)};
}

/* Gathering reads a winner and what it passes on. */
static const struct implementation *
choose_max_gradient(struct plan *plan, const struct pooled_gradient *p, const struct winners *w)
{
    const struct operation *o = p->operation;
    double taps_x = o->window.x.size, taps_y = o->window.y.size, layers = layers_of(p->destination);
    double at_x = pooling_windows_at(&o->window.x), at_y = pooling_windows_at(&o->window.y);
    double region = (double)o->region_width * o->region_height;
    const struct reads reads = {
        .one_pass =
            layers * ((double)w->width * w->height * taps_x * taps_y + 2 * region * at_x * at_y),
        .separable = layers * (w->width * (w->rows.count * taps_x + w->height * taps_y +
                                           2.0 * o->region_height * at_y) +
                               2 * region * at_x),
        .longest = taps_x * taps_y};
    return implementation_choose(plan, &pooling_forms, &reads);
}

static struct image_view plan_winner_image(struct plan *plan, const struct pooled_gradient *p,
                                           uint32_t width, uint32_t height)
{
    return plan_scratch_image(
        plan, (struct extent){width, height, p->source->channels, p->source->images});
}

static void make_winner_images(struct plan *plan, const struct pooled_gradient *p,
                               struct winners *w)
{
    uint32_t part = p->operation->region_height;
    w->columns = plan_winner_image(plan, p, w->width, w->rows.count);
    w->windows = plan_winner_image(plan, p, w->width, w->height);
    w->best = plan_winner_image(plan, p, w->width, w->rows.count > part ? w->rows.count : part);
}

static struct pass *plan_winner_pass(struct plan *plan, const struct pooled_gradient *p,
                                     const char *shader, const struct image_view *winner)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_grid_over(pass, winner->width, winner->height, "winner", winner);
    pass_image(pass, "winner", winner);
    pass_window(pass, &p->operation->window);
    return pass;
}

static void plan_winners(struct plan *plan, const struct pooled_gradient *p,
                         const struct winners *w)
{
    const struct window *window = &p->operation->window;
    struct pass *columns =
        plan_winner_pass(plan, p, "pooling/pooling_max_winner_columns.comp", &w->columns);
    pass_texture(columns, "source", p->source);
    pass_image(columns, "best", &w->best);
    pass_int(columns, "first_row", w->rows.first);
    columns->work = (uint32_t)window->x.size * 16;
    struct pass *rows =
        plan_winner_pass(plan, p, "pooling/pooling_max_winner_rows.comp", &w->windows);
    pass_texture(rows, "best", &w->best);
    pass_source_size(rows, p->source);
    pass_int(rows, "first_row", w->rows.first);
    rows->work = (uint32_t)window->y.size * 16;
}

bool pooling_plan_separable_max_gradient(struct plan *plan, const struct pooled_gradient *p,
                                         const struct implementation **row)
{
    struct winners w = winners_of(p);
    size_t first = plan->pass_count;
    *row = choose_max_gradient(plan, p, &w);
    if (*row != pooling_forms.rows)
        return false;
    make_winner_images(plan, p, &w);
    plan_winners(plan, p, &w);
    struct pass *columns = plan_gradient_columns(plan, p, &w.best);
    pass_texture(columns, "winning_row", &w.windows);
    struct pass *rows = plan_gradient_rows(plan, p, &w.best);
    pass_texture(rows, "winning_column", &w.columns);
    pass_int(rows, "first_kept", w.rows.first);
    pass_int(rows, "last_kept", (int32_t)w.rows.count - 1);
    plan_implementation(plan, first, *row);
    return true;
}
