/* Passes of maxima whose winners the state keeps. */
#include "kernels/pooling_winners.h"

#include "encode/window.h"
#include "kernels/pooling_shared.h"

#define MOST_WINDOWS 9u                /* that read a pixel, and a gradient reads */
#define MOST_BYTES   ((size_t)1 << 27) /* of a buffer, on any device */

/* ---- The vector ---- */

static bool suits(const struct window *w)
{
    uint32_t at = pooling_windows_at(&w->x) * pooling_windows_at(&w->y);
    bool has_taps = w->x.size > 1 || w->y.size > 1;
    return has_taps && w->x.size <= POOLING_WINNER_SIDE && w->y.size <= POOLING_WINNER_SIDE &&
           at <= MOST_WINDOWS && pooling_is_regular(&w->x) && pooling_is_regular(&w->y);
}

/* Each place that counts is one of a pixel inside. */
static bool is_inside(const struct window *w, const struct image_view *source)
{
    return w->edge_mode != GLCNN_EDGE_MODE_CLAMP ||
           (w->x.dilation == 1 && w->y.dilation == 1 && pooling_touches(&w->x, source->width) &&
            pooling_touches(&w->y, source->height));
}

size_t pooling_winner_count(const struct window *w, const struct image_view *source,
                            const struct image_view *result)
{
    size_t count =
        (size_t)result->width * result->height * slice_count(result->channels) * result->images;
    return suits(w) && is_inside(w, source) && count <= MOST_BYTES / 4 ? count : 0;
}

/* ---- Results ---- */

void pass_winners(struct pass *pass, const struct pooled *p)
{
    pass_vector(pass, "winners", p->winners, VECTOR_WRITE);
    pass_int(pass, "tap_count", p->window.x.size * p->window.y.size);
    if (p->window.edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "CLAMPED", 1);
}

void pooling_plan_kept(struct plan *plan, const struct pooled *p, const struct implementation *row)
{
    struct pass *pass = plan_pass(plan, "pooling/pooling_max_kept.comp");
    pass_implementation(pass, row);
    pass_texture(pass, "source", p->source);
    pass_image(pass, "destination", p->result);
    pass_window(pass, &p->window);
    pass_winners(pass, p);
    pass_inside(pass, p);
    pass_grid_over(pass, p->width, p->height, "destination", p->result);
    pass_origin(pass, p->x, p->y, 0);
    pass_overwrites(pass, p->result, p->x, p->y, p->width, p->height, 1);
    pass->work = (uint32_t)(p->window.x.size * p->window.y.size) * 16;
    pass->prefers_large_groups =
        p->window.x.stride > 1; /* neighbours read pixels apart: in narrow groups, near */
}

/* ---- Gradients ---- */

/* Where pixels of a column that one window's taps read lie apart, invocations side by side along it
 * own those between. */
static bool is_dilated(const void *gradient)
{
    return ((const struct pooled_gradient *)gradient)->operation->window.y.dilation > 1;
}

/* NVIDIA's textures have a texel and the one below it side by side: pixels of a row are one
 * invocation's, so that those beside it store the rest of whole sectors in the same instruction.
 * 3x3 windows 2 apart take 0.73 of the time of pairs then, of float16 0.85, dilated ones in columns
 * 0.86 (H200). */
const struct implementation_list pooling_winner_forms = {
    "pooling_indices", (const struct implementation[]){
                           {"pooling_winners_column", .registers = 32, .width = 32,
                            .profitable.holds = is_dilated, .pixels = 4, .down = true},
                           {"pooling_winners_row", .registers = 32, .width = 32, .pixels = 4},
                           {"pooling_winners_pair", .pixels = 2, .down = true},
                           {"pooling_winners_anew"},
                           {0}}};

/* Names of an axis's numbers in the shader. */
struct axis_names {
    const char *pixels, *stride, *tap, *from, *to;
};

#define AXIS_NAMES(NAME)                                                                           \
    {                                                                                              \
        "PIXELS_" NAME, "STRIDE_" NAME, "TAP_" NAME, "FROM_" NAME, "TO_" NAME                      \
    }

static const struct axis_names names[] = {AXIS_NAMES("X"), AXIS_NAMES("Y")};

/* Tap of a window's first `stride` that reads a pixel. */
static int32_t first_tap(const struct axis *axis, uint32_t pixel)
{
    int32_t behind = (int32_t)pixel + axis->shift - axis->first;
    return behind - axis->stride * floor_quotient(behind, axis->stride);
}

/* Returns how many windows may read what an invocation owns of an axis. */
static uint32_t pass_axis(struct pass *pass, const struct axis_names *name, const struct axis *axis,
                          uint32_t region, uint32_t pixels)
{
    int32_t stride = axis->stride, low = 0, high = stride - 1;
    if (pixels % (uint32_t)stride == 0) {
        low = high = first_tap(axis, region);
        pass_define(pass, name->tap, low);
    }
    int32_t from = -((high + (int32_t)pixels - 1) / stride);
    int32_t to = ceil_quotient(axis->size - low, stride);
    pass_define(pass, name->pixels, (int)pixels);
    pass_define(pass, name->stride, stride);
    pass_define(pass, name->from, from);
    pass_define(pass, name->to, to);
    return (uint32_t)(to - from);
}

/* Of the pixels that are one invocation's each is `dilation` behind the one before. */
static uint32_t owners(uint32_t extent, uint32_t pixels, int32_t dilation)
{
    return groups_of(extent, pixels * (uint32_t)dilation) * (uint32_t)dilation;
}

static void pass_owners(struct pass *pass, const struct pooled_gradient *p,
                        const struct implementation *form)
{
    const struct operation *o = p->operation;
    const struct window *w = &o->window;
    uint32_t across = form->down ? 1 : form->pixels, down = form->down ? form->pixels : 1;
    uint32_t columns = pass_axis(pass, &names[0], &w->x, o->region_x, across);
    uint32_t rows = pass_axis(pass, &names[1], &w->y, o->region_y, down);
    pass_int(pass, "first_column", (int32_t)o->region_x);
    pass_int(pass, "first_row", (int32_t)o->region_y);
    pass_int(pass, "end_column", (int32_t)(o->region_x + o->region_width));
    pass_int(pass, "end_row", (int32_t)(o->region_y + o->region_height));
    pass_grid_over(pass, owners(o->region_width, across, w->x.dilation),
                   owners(o->region_height, down, w->y.dilation), "destination", p->destination);
    if (form->width) /* those in step then store rectangles of whole sectors */
        pass_local(pass, form->down ? 16 : 4, form->down ? 4 : 16, 1);
    pass->work = columns * rows * 16 * form->pixels;
}

void pass_kept_winners(struct pass *pass, const struct pooled_gradient *p)
{
    pass_library(pass, "pooling/kept_winners.glsl");
    pass_vector(pass, "winners", p->winners, VECTOR_READ);
}

bool pooling_reads_winners(struct plan *plan, const struct pooled_gradient *p)
{
    return p->winners && implementation_choose(plan, &pooling_winner_forms, p)->pixels > 0;
}

/* Columns have windows enough that reading them one after the other counts: dilated ones of floats take
 * 0.98 of the time together, of halves 0.97, and rows of halves as much; rows of floats 1.04 (H200). */
static bool reads_together(const struct implementation *form, const struct image_view *to)
{
    return form->width && (form->down || is_float16(to));
}

void pooling_plan_kept_gradient(struct plan *plan, const struct pooled_gradient *p)
{
    const struct implementation *form = implementation_choose(plan, &pooling_winner_forms, p);
    struct pass *pass = plan_pass(plan, "pooling/pooling_max_gradient_kept.comp");
    pass_implementation(pass, form);
    pass_texture(pass, "gradient", p->gradient);
    pass_kept_winners(pass, p);
    pass_image(pass, "destination", p->destination);
    pass_window(pass, &p->operation->window);
    pass_int(pass, "source_width", (int32_t)p->source->width);
    pass_int(pass, "source_height", (int32_t)p->source->height);
    if (reads_together(form, p->destination))
        pass_define(pass, "TOGETHER", 1);
    pass_owners(pass, p, form);
}
