/* The sum over windows: the forward pass, and for strides of 1 the data gradient. */
#include "kernels/convolution_plan.h"

#include <math.h>

#define SHARED_TAPS 7  /* widest window whose taps share their reads */
#define WIDE_ROW    64 /* pixels of a row that neighbours read side by side */
/* Invocations that keep a large GPU busy; where they are fewer they each do less. Products have more to
 * do: 28672 that take seven pixels of two slices are done in 0.6 of the time of four times as many that
 * take four of one, and so it is down to 7168 (H200). */
#define ENOUGH_INVOCATIONS 32768u
#define ENOUGH_OF_PRODUCTS 6144u
#define FEW_PIXELS         4u
#define PAIR_PIXELS        7u
#define WIDE_LANES         64u
/* A processor has few lanes, and takes as long to read a vector of weights as for two dozen products:
 * longer lines read it for more of them. */
#define BROAD_PIXELS 14u
#define FEW_TAPS     3
#define ENOUGH_LANES 24u /* of an image */

static bool is_product(const void *shape)
{
    return packing_is_dense(((const struct sum_shape *)shape)->packing);
}

/* Where an input goes into few products the reads decide, and neighbours' should lie side by side. */
static bool is_read_by_rows(const void *shape)
{
    const struct sum_shape *s = shape;
    return s->packing->components == 1 && s->sum->extent[0] >= WIDE_ROW;
}

/* A network's first layer, of pictures of one channel, need not wait for a packing. Where passes do
 * not run beside each other that is no gain, and packed weights are read faster. */
static bool is_first(const void *shape)
{
    const struct packing *p = ((const struct sum_shape *)shape)->packing;
    return p->one_channel && packing_is_in_order(p) && sum_fits_block(shape);
}

/* Lines of pixels of the result: `pixels` and `slices` at most; windows of up to `taps` along the
 * line, of stride and dilation 1, read each pixel once for all of them. */
const struct implementation_list convolution_sum_implementations = {
    "convolution_sum",
    (const struct implementation[]){
        {"convolution_dots", "convolution/convolution_dots.comp", 32, .shared_memory = true,
         .supported.holds = sum_is_dots, .profitable.holds = sum_fills_dots, .images = 1},
        {"connected_quads", "convolution/fully_connected_tiled.comp", 32, .shared_memory = true,
         .supported.holds = sum_has_quads, .profitable.holds = sum_fills_quads, .in_place = true},
        {"convolution_winograd", .registers = 48, .shared_memory = true,
         .supported.holds = sum_is_winograd, .profitable.holds = sum_fills_winograd},
        {"convolution_tiled", "convolution/convolution_tiled.comp", 32, .shared_memory = true,
         .supported.holds = is_product, .profitable.holds = sum_fills_tiles},
        {"convolution_shared", "convolution/convolution_shared.comp", 32, .shared_memory = true,
         .supported.holds = sum_is_shared, .profitable.holds = sum_fills_shared, .pixels = 2},
        {"convolution_column", "convolution/convolution.comp", 32, .width = 32, .pixels = 8,
         .slices = 4, .taps = SHARED_TAPS, .down = true, .profitable.holds = is_read_by_rows},
        {"convolution_first", "convolution/convolution.comp", 32, .shared_memory = true,
         .supported.holds = is_first, .pixels = 8, .slices = 4, .taps = SHARED_TAPS,
         .in_place = true},
        {"convolution_wide", "convolution/convolution.comp", 32, .pixels = 8, .slices = 4,
         .taps = SHARED_TAPS},
        {"convolution_row", "convolution/convolution_narrow.comp", 14, .pixels = 4, .slices = 1,
         .taps = 5},
        {"convolution_four", "convolution/convolution_narrow.comp", 12, .pixels = 4, .slices = 1,
         .masks = true},
        {"convolution_two", "convolution/convolution_narrow.comp", 8, .pixels = 2, .slices = 1},
        {0}}};

const struct implementation_list *const convolution_implementations[] = {
    &convolution_sum_implementations,
    &convolution_tile_implementations,
    &convolution_split_implementations,
    &convolution_place_implementations,
    &convolution_line_implementations,
    &convolution_part_implementations,
    &convolution_chunk_implementations,
    &convolution_data_implementations,
    &fully_connected_data_implementations,
    &fully_connected_weights_implementations,
    NULL};

/* Pixels an invocation makes: those of 4 to 8 that leave the fewest idle, the most of equals. */
static uint32_t pixels_for(uint32_t width, uint32_t most)
{
    uint32_t best = width, least_covered = UINT32_MAX;
    if (width <= 4)
        return width;
    for (uint32_t pixels = 4; pixels <= most; pixels++) {
        uint32_t covered = groups_of(width, pixels) * pixels;
        if (covered <= least_covered) {
            least_covered = covered;
            best = pixels;
        }
    }
    return best;
}

static uint32_t slices_for(const struct packing *p)
{
    if (p->channels.groups > 1 || p->slices == 1)
        return 1;
    return p->components == 1 && p->slices % 4 == 0 ? 4 : 2;
}

void pass_sum(struct pass *pass, const struct sum *sum)
{
    pass_int(pass, "low_x", sum->low[0]);
    pass_int(pass, "low_y", sum->low[1]);
    pass_int(pass, "high_x", sum->high[0]);
    pass_int(pass, "high_y", sum->high[1]);
    if (sum->window.edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
}

/* Where the sums go, and what becomes of them. */
void pass_sum_destination(struct pass *pass, const struct sum *sum)
{
    pass_image(pass, "destination", &sum->destination);
    pass_neuron(pass, sum->neuron);
    if (sum->neuron_data)
        pass_neuron_data(pass, sum->neuron, sum->neuron_data);
    pass_int(pass, "region_x", (int32_t)sum->origin[0]);
    pass_int(pass, "region_y", (int32_t)sum->origin[1]);
    pass_int(pass, "region_width", (int32_t)sum->extent[0]);
    pass_int(pass, "region_height", (int32_t)sum->extent[1]);
    pass_int(pass, "step_x", (int32_t)sum->step[0]);
    pass_int(pass, "step_y", (int32_t)sum->step[1]);
}

/* One that rounds its pixels has other statistics than those they are rounded from. */
void pass_sum_epilogue(struct pass *pass, const struct sum *sum, struct pass_epilogue epilogue)
{
    const struct image_view *to = &sum->destination;
    bool whole = !sum->places && sum->origin[0] == 0 && sum->origin[1] == 0 && sum->step[0] == 1 &&
                 sum->step[1] == 1 && sum->extent[0] == to->width && sum->extent[1] == to->height;
    if (whole && to->storage->format == GLCNN_CHANNEL_FORMAT_FLOAT32)
        pass->epilogue = epilogue;
}

/* For each axis what the shader needs to find the taps of a place. Returns how many places. */
uint32_t pass_places(struct pass *pass, const struct places *places)
{
    if (!places)
        return 1;
    pass_define(pass, "PLACES", 1);
    pass_int(pass, "places_x", (int32_t)places->count[0]);
    pass_int(pass, "result_width", (int32_t)places->extent[0]);
    pass_int(pass, "result_height", (int32_t)places->extent[1]);
    pass_int(pass, "distance_x", places->distance[0]);
    pass_int(pass, "distance_y", places->distance[1]);
    pass_int(pass, "layer_dilation_x", places->dilation[0]);
    pass_int(pass, "layer_dilation_y", places->dilation[1]);
    pass_int(pass, "tap_step_x", places->tap_step[0]);
    pass_int(pass, "tap_step_y", places->tap_step[1]);
    pass_int(pass, "layer_width", places->size[0]);
    pass_int(pass, "layer_height", places->size[1]);
    return places->count[0] * places->count[1];
}

/* What an invocation makes of a line of pixels. */
struct share {
    uint32_t slices, pixels;
};

/* What rows are asked about. */
struct line_shape {
    const struct packing *packing;
    const struct sum *sum;
    bool down;
};

static uint32_t line_length(const struct line_shape *shape)
{
    return shape->sum->extent[shape->down];
}

/* `pair`: pixels at most where an invocation makes two slices; where it makes four, half of them. */
static struct share full_share(const struct line_shape *shape, uint32_t pair)
{
    uint32_t slices = slices_for(shape->packing);
    uint32_t most = slices == 4 ? (pair + 1) / 2 : slices == 2 ? pair : 8;
    return (struct share){slices, pixels_for(line_length(shape), most)};
}

/* Of an image. */
static uint64_t line_invocations(const struct line_shape *shape, struct share share)
{
    uint64_t lines =
        (uint64_t)groups_of(line_length(shape), share.pixels) * shape->sum->extent[!shape->down];
    return lines * groups_of(shape->packing->slices, share.slices);
}

static bool leaves_invocations_idle(const void *line_shape)
{
    const struct line_shape *shape = line_shape;
    uint32_t enough = packing_is_dense(shape->packing) ? ENOUGH_OF_PRODUCTS : ENOUGH_INVOCATIONS;
    return line_invocations(shape, full_share(shape, PAIR_PIXELS)) *
               shape->sum->destination.images <
           enough;
}

/* Windows whose taps share their reads, of few taps: more make a long program. */
static bool has_few_taps(const void *line_shape)
{
    const struct line_shape *shape = line_shape;
    const struct window *w = &shape->sum->window;
    bool few = w->x.size > 0 && w->x.size <= FEW_TAPS && w->y.size > 0 && w->y.size <= FEW_TAPS;
    return few && !shape->sum->places && is_dense(shape->down ? &w->y : &w->x);
}

static bool fills_lanes(const void *shape)
{
    return line_invocations(shape, full_share(shape, BROAD_PIXELS)) >= ENOUGH_LANES;
}

/* What an invocation makes of a line: `pixels` of one slice or of two. `taps`: they go without a
 * loop, at whose end llvmpipe stores all sums by a mask. */
const struct implementation_list convolution_line_implementations = {
    "convolution_lines",
    (const struct implementation[]){
        {"lines_short", .shared_memory = true, .pixels = FEW_PIXELS, .slices = 1,
         .profitable.holds = leaves_invocations_idle},
        {"lines_broad", .registers = 64, .supported.holds = has_few_taps,
         .profitable.holds = fills_lanes, .pixels = BROAD_PIXELS, .slices = 2, .taps = FEW_TAPS},
        {"lines_long", .pixels = PAIR_PIXELS, .slices = 2},
        {0}}};

static struct share share_of(const struct implementation *row, const struct line_shape *shape)
{
    uint32_t length = line_length(shape);
    return row->slices == 1 ? (struct share){1, groups_of(length, groups_of(length, row->pixels))}
                            : full_share(shape, row->pixels);
}

static void pass_wide(struct pass *pass, const struct packing *p, const struct sum *sum, bool down,
                      struct share share)
{
    uint32_t slices = share.slices, pixels = share.pixels;
    uint32_t lines = groups_of(sum->extent[down], pixels), places = pass_places(pass, sum->places);
    if (sum->step[0] == 1 && sum->step[1] == 1)
        pass_overwrites_images(pass, &sum->destination, sum->origin[0], sum->origin[1],
                               sum->extent[0], sum->extent[1], lines * sum->extent[!down]);
    if (down)
        pass_define(pass, "DOWN", 1);
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_define(pass, "SLICES", (int)slices);
    pass_define(pass, "PIXELS", (int)pixels);
    pass_int(pass, "lines", (int32_t)lines);
    pass_grid(pass, lines * sum->extent[!down] * sum->destination.images,
              groups_of(p->slices, slices), places);
    pass_local(pass, WIDE_LANES, 1, 1);
    pass_sum_epilogue(
        pass, sum,
        (struct pass_epilogue){WIDE_LANES, groups_of(pass->grid[0], WIDE_LANES), slices});
    pass->work = groups_of(p->elements + 1, places) * slices * pixels * 8;
}

/* Weights at constant places are read once for all lanes. */
static void pass_unrolled(struct pass *pass, const struct packing *p, const struct share *share,
                          const struct axis *across)
{
    pass_define(pass, "LINES_OF_TAPS", across->size);
    if (p->range == 1)
        pass_define(pass, "ONE_SLICE", 1);
    if (p->slices <= share->slices)
        pass_define(pass, "ALL_SLICES", 1);
}

/* How many lines of taps a long sum adds up by themselves: then there are about as many such stretches
 * as there are additions to one. 0: the sum is short. */
static uint32_t stretch_of(const struct packing *p, const struct implementation *row,
                           const struct axis *along)
{
    uint32_t at_once = sum_is_wide(row) ? p->components : 1;
    uint32_t additions = p->elements / at_once;
    uint32_t line = (uint32_t)(along->size > 0 ? along->size : 1) * p->components / at_once;
    return additions < LONG_SUM ? 0 : groups_of((uint32_t)sqrt((double)additions), line);
}

/* What a stretch takes of registers, fewer pixels leave. */
static struct share half_share(struct share share)
{
    return share.slices > 1 ? (struct share){share.slices / 2, share.pixels}
                            : (struct share){1, groups_of(share.pixels, 2)};
}

/* Few registers want steps that are constants. */
static void pass_narrow(struct pass *pass, const struct packing *p, const struct sum *sum,
                        const struct implementation *row, uint32_t stretch)
{
    uint32_t pixels = least(stretch ? row->pixels / 2 : row->pixels, sum->extent[0]);
    pass_outside(pass, row);
    pass_define(pass, "stride_x", sum->window.x.stride);
    pass_define(pass, "dilation_x", sum->window.x.dilation);
    pass_define(pass, "PIXELS", (int)pixels);
    pass_grid(pass, groups_of(sum->extent[0], pixels), sum->extent[1],
              p->slices * sum->destination.images);
    pass_batch_axis(pass, 2);
    pass->work = (p->elements + 1) * pixels * 8;
}

struct pass *plan_sum_pass(struct plan *plan, const struct packing *p,
                           const struct implementation *row, const struct sum *sum)
{
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "source", &sum->source);
    pass_packing(pass, p);
    pass_axes(pass, &sum->window);
    pass_sum(pass, sum);
    pass_sum_destination(pass, sum);
    return pass;
}

/* How wide a window's taps may share their reads. Of a channel by itself four pixels and five taps
 * are more than the registers of a row of few hold. */
static uint32_t shared_taps(const struct implementation *row, const struct packing *p)
{
    return sum_is_wide(row) || p->components > 1 ? row->taps : least(row->taps, 3);
}

static void plan_wide(struct plan *plan, struct pass *pass, const struct packing *p,
                      const struct sum *sum, bool down, uint32_t stretch)
{
    const struct line_shape shape = {p, sum, down};
    const struct implementation *lines =
        implementation_choose(plan, &convolution_line_implementations, &shape);
    const struct share share = share_of(lines, &shape);
    pass_wide(pass, p, sum, down, stretch ? half_share(share) : share);
    if (lines->taps && !stretch)
        pass_unrolled(pass, p, &share, down ? &sum->window.x : &sum->window.y);
}

void plan_lines(struct plan *plan, const struct packing *p, const struct implementation *row,
                const struct sum *sum)
{
    struct image_view matrix;
    if (!row->in_place)
        matrix = plan_pack(plan, p, sum->weights, sum->biases);
    const struct axis *along = row->down ? &sum->window.y : &sum->window.x;
    struct pass *pass = plan_sum_pass(plan, p, row, sum);
    if (row->in_place)
        pass_weights_in_place(pass, sum);
    else
        pass_matrix(pass, &matrix);
    if (is_dense(along) && along->size > 0 && (uint32_t)along->size <= shared_taps(row, p))
        pass_define(pass, "SHARED_TAPS", along->size);
    uint32_t stretch = stretch_of(p, row, along);
    if (stretch)
        pass_define(pass, "STRETCH", (int)stretch);
    if (sum_is_wide(row))
        plan_wide(plan, pass, p, sum, row->down, stretch);
    else
        pass_narrow(pass, p, sum, row, stretch);
}

bool sum_is_wide(const struct implementation *row)
{
    return row->slices > 1;
}

bool sum_is_tiled(const struct implementation *row)
{
    return row->shader && row->slices == 0 && row->pixels == 0 && row->images == 0 &&
           !row->in_place;
}

const struct implementation *sum_variant(struct plan *plan, const struct packing *p,
                                         const struct sum *sum)
{
    const struct sum_shape shape = {p, sum, plan};
    return implementation_choose(plan, &convolution_sum_implementations, &shape);
}

/* Rows that go by lines say how many slices and pixels an invocation takes, that of shared memory
 * how many pixels; Winograd's has several shaders. */
void plan_sum(struct plan *plan, const struct packing *p, const struct sum *sum)
{
    const struct implementation *row = sum_variant(plan, p, sum);
    if (row->slices > 0)
        plan_lines(plan, p, row, sum);
    else if (row->pixels > 0)
        plan_sum_shared(plan, p, row, sum);
    else if (row->images > 0)
        plan_sum_dots(plan, p, row, sum);
    else if (row->in_place)
        plan_sum_quads(plan, p, row, sum);
    else if (sum_is_tiled(row))
        plan_sum_tiles(plan, p, row, sum);
    else
        plan_sum_winograd(plan, p, row, sum);
}

/* The sums of the operation's region, from pixel (x, y) on of `destination`. */
static void plan_forward(const struct operation *o, struct plan *plan,
                         const struct image_view *destination, uint32_t x, uint32_t y)
{
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    const struct image_view *source = &o->images[SOURCE];
    struct packing p = packing_of(o, false);
    struct sum sum = {.source = *source,
                      .destination = *destination,
                      .window = convolution_sum_window(o),
                      .high = {(int32_t)source->width - 1, (int32_t)source->height - 1},
                      .origin = {x, y},
                      .step = {1, 1},
                      .weights = &o->vectors[WEIGHTS],
                      .biases = o->given[BIASES] ? &o->vectors[BIASES] : NULL,
                      .neuron = &parameters->neuron,
                      .neuron_data = &o->vectors[NEURON_DATA]};
    sum.extent[0] = (uint32_t)sum.window.x.end;
    sum.extent[1] = (uint32_t)sum.window.y.end;
    plan_sum(plan, &p, &sum);
}

static void plan_sub_pixels(const struct operation *o, struct plan *plan)
{
    const struct image_view *result = &o->images[RESULT];
    struct window w = convolution_sum_window(o);
    struct image_view sums =
        plan_scratch_image(plan, (struct extent){(uint32_t)w.x.end, (uint32_t)w.y.end,
                                                 convolution_channels(o).outputs, result->images});
    plan_forward(o, plan, &sums, 0, 0);
    struct pass *pass = plan_pixels(plan, o, "convolution/convolution_sub_pixels.comp", result);
    pass_texture(pass, "sums", &sums);
    pass_image(pass, "destination", result);
    pass_define(pass, "FACTOR", (int)convolution_scale_factor(o));
    pass_region(pass, o);
}

void plan_convolution(const struct operation *o, struct plan *plan)
{
    if (convolution_scale_factor(o) > 1)
        plan_sub_pixels(o, plan);
    else
        plan_forward(o, plan, &o->images[RESULT], o->region_x, o->region_y);
}
