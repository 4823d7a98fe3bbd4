/* The sum over windows: the forward pass, and for strides of 1 the data gradient. */
#include "kernels/convolution_plan.h"

#include <math.h>

#define SHARED_TAPS 7 /* widest window whose taps share their reads */
#define PAIR_PIXELS 7u
#define WIDE_LANES  64u
/* A processor has few lanes, and takes as long to read a vector of weights as for two dozen products:
 * longer lines read it for more of them. */
#define BROAD_PIXELS 14u
#define FEW_TAPS     3
#define ENOUGH_LANES 24u /* of an image */

bool sum_fits_block(const struct sum_problem *problem)
{
    return plan_fits_block(problem->plan, problem->sum->weights->count);
}

uint32_t sum_pixels(const struct sum *sum)
{
    return sum->extent[0] * sum->extent[1] * sum->destination.images;
}

/* ---- What passes of sums are given ---- */

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
    bool whole = !sum->phases && sum->origin[0] == 0 && sum->origin[1] == 0 && sum->step[0] == 1 &&
                 sum->step[1] == 1 && sum->extent[0] == to->width && sum->extent[1] == to->height;
    if (whole && to->storage->format == GLCNN_CHANNEL_FORMAT_FLOAT32)
        pass->epilogue = epilogue;
}

/* For each axis what the shader needs to find the taps of a phase. Steps are constants: whole numbers
 * are divided by them. */
uint32_t pass_phases(struct pass *pass, const struct phases *phases)
{
    if (!phases)
        return 1;
    pass_define(pass, "PHASES", 1);
    pass_define(pass, "phases_x", (int)phases->count[0]);
    pass_define(pass, "layer_stride_x", phases->stride[0]);
    pass_define(pass, "layer_stride_y", phases->stride[1]);
    pass_define(pass, "layer_dilation_x", phases->dilation[0]);
    pass_define(pass, "layer_dilation_y", phases->dilation[1]);
    pass_define(pass, "tap_step_x", phases->tap_step[0]);
    pass_define(pass, "tap_step_y", phases->tap_step[1]);
    pass_int(pass, "result_width", (int32_t)phases->extent[0]);
    pass_int(pass, "result_height", (int32_t)phases->extent[1]);
    pass_int(pass, "distance_x", phases->distance[0]);
    pass_int(pass, "distance_y", phases->distance[1]);
    pass_int(pass, "layer_width", phases->size[0]);
    pass_int(pass, "layer_height", phases->size[1]);
    return phases->count[0] * phases->count[1];
}

struct pass *plan_sum_pass(struct plan *plan, const struct implementation *row,
                           const struct sum_problem *problem)
{
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "source", &problem->sum->source);
    pass_packing(pass, problem->packing);
    pass_axes(pass, &problem->sum->window);
    pass_sum(pass, problem->sum);
    pass_sum_destination(pass, problem->sum);
    return pass;
}

/* ---- Register tiles: neighbours along a row of the result, of one slice or more ---- */

/* Pixels of an invocation: those of 4 to `most` that leave the fewest idle, the most of equals. */
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

/* Of four slices half of the pixels. */
struct register_tile largest_tile(const struct tile_problem *problem, uint32_t pixels)
{
    uint32_t slices = slices_for(problem->packing);
    uint32_t most = slices == 4 ? (pixels + 1) / 2 : slices == 2 ? pixels : 8;
    return (struct register_tile){slices, pixels_for(problem->sum->extent[0], most)};
}

uint64_t tile_invocations(const struct tile_problem *problem, struct register_tile tile)
{
    const uint32_t *extent = problem->sum->extent;
    uint64_t lines = (uint64_t)groups_of(extent[0], tile.pixels) * extent[1];
    return lines * groups_of(problem->packing->slices, tile.slices);
}

/* What a stretch takes of registers, fewer pixels leave. */
static struct register_tile half_tile(struct register_tile tile)
{
    return tile.slices > 1 ? (struct register_tile){tile.slices / 2, tile.pixels}
                           : (struct register_tile){1, groups_of(tile.pixels, 2)};
}

void pass_register_tile(const struct tile_problem *problem, struct register_tile wanted)
{
    const struct register_tile tile = problem->stretches ? half_tile(wanted) : wanted;
    const struct packing *p = problem->packing;
    const struct sum *sum = problem->sum;
    struct pass *pass = problem->pass;
    uint32_t lines = groups_of(sum->extent[0], tile.pixels);
    uint32_t phases = pass_phases(pass, sum->phases);
    if (sum->step[0] == 1 && sum->step[1] == 1)
        pass_overwrites_images(pass, &sum->destination, sum->origin[0], sum->origin[1],
                               sum->extent[0], sum->extent[1], lines * sum->extent[1]);
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_define(pass, "SLICES", (int)tile.slices);
    pass_define(pass, "PIXELS", (int)tile.pixels);
    pass_int(pass, "lines", (int32_t)lines);
    pass_grid(pass, lines * sum->extent[1] * sum->destination.images,
              groups_of(p->slices, tile.slices), phases);
    pass_local(pass, WIDE_LANES, 1, 1);
    pass_sum_epilogue(
        pass, sum,
        (struct pass_epilogue){WIDE_LANES, groups_of(pass->grid[0], WIDE_LANES), tile.slices});
    pass->work = groups_of(p->elements + 1, phases) * tile.slices * tile.pixels * 8;
}

/* Windows whose taps share their reads, of few taps: more make a long program. */
static bool has_few_taps(const void *tile_problem)
{
    const struct sum *sum = ((const struct tile_problem *)tile_problem)->sum;
    const struct window *w = &sum->window;
    bool few = w->x.size > 0 && w->x.size <= FEW_TAPS && w->y.size > 0 && w->y.size <= FEW_TAPS;
    return few && !sum->phases && is_dense(&w->x);
}

static bool fills_lanes(const void *tile_problem)
{
    const struct tile_problem *problem = tile_problem;
    return tile_invocations(problem, largest_tile(problem, BROAD_PIXELS)) >= ENOUGH_LANES;
}

/* Weights at constant places are read once for all lanes. */
static void plan_unrolled_tile(struct plan *plan, const struct implementation *row,
                               const void *tile_problem)
{
    const struct tile_problem *problem = tile_problem;
    const struct packing *p = problem->packing;
    const struct register_tile tile = largest_tile(problem, BROAD_PIXELS);
    (void)plan, (void)row;
    pass_register_tile(problem, tile);
    if (problem->stretches)
        return;
    pass_define(problem->pass, "LINES_OF_TAPS", problem->sum->window.y.size);
    if (p->range == 1)
        pass_define(problem->pass, "ONE_SLICE", 1);
    if (p->slices <= tile.slices)
        pass_define(problem->pass, "ALL_SLICES", 1);
}

static void plan_usual_tile(struct plan *plan, const struct implementation *row,
                            const void *tile_problem)
{
    (void)plan, (void)row;
    pass_register_tile(tile_problem, largest_tile(tile_problem, PAIR_PIXELS));
}

/* Taps that go without a loop: at its end llvmpipe stores all sums by a mask. */
const struct implementation_list convolution_register_tile_implementations = {
    "convolution_register_tile",
    (const struct implementation[]){
        {"register_tile_unrolled", .registers = 64,
         .supported = {has_few_taps,
                       "windows of at most 3x3, of stride and dilation 1 along a row"},
         .profitable = {fills_lanes, "at least 24 tiles in an image"}, .plan = plan_unrolled_tile},
        {"register_tile", .plan = plan_usual_tile},
        {0}}};

/* ---- The sum by lines of pixels ---- */

/* How many lines of taps a long sum adds up by themselves, of so many additions each: then there are
 * about as many such stretches as there are additions to one. 0: the sum is short. */
static uint32_t stretch_of(uint32_t additions, uint32_t line)
{
    return additions < LONG_SUM ? 0 : groups_of((uint32_t)sqrt((double)additions), line);
}

static uint32_t at_least_one(int32_t size)
{
    return size > 0 ? (uint32_t)size : 1;
}

static bool shares_taps(const struct axis *x, uint32_t taps)
{
    return is_dense(x) && x->size > 0 && (uint32_t)x->size <= taps;
}

static struct pass *plan_packed_sum(struct plan *plan, const struct implementation *row,
                                    const struct sum_problem *problem, uint32_t shared_taps,
                                    uint32_t stretch)
{
    const struct sum *sum = problem->sum;
    const struct sum_form *form = row->form;
    struct image_view matrix;
    struct vector_view packed;
    if (form->buffer)
        packed = plan_pack_vector(plan, problem->packing, sum->weights, sum->biases);
    else
        matrix = plan_pack(plan, problem->packing, sum->weights, sum->biases);
    struct pass *pass = plan_sum_pass(plan, row, problem);
    if (form->buffer)
        pass_packed_vector(pass, &packed, VECTOR_READ);
    else
        pass_matrix(pass, &matrix);
    if (shares_taps(&sum->window.x, shared_taps))
        pass_define(pass, "SHARED_TAPS", sum->window.x.size);
    if (stretch)
        pass_define(pass, "STRETCH", (int)stretch);
    return pass;
}

/* An invocation adds four components of an input at once. */
static void plan_wide_sum(struct plan *plan, const struct implementation *row,
                          const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    uint32_t stretch =
        stretch_of(p->elements / p->components, at_least_one(problem->sum->window.x.size));
    struct pass *pass = plan_packed_sum(plan, row, problem, SHARED_TAPS, stretch);
    implementation_plan(plan, &convolution_register_tile_implementations,
                        &(struct tile_problem){p, problem->sum, pass, stretch > 0});
}

/* How wide a window's taps may share their reads. Of a channel by itself four pixels and five taps
 * are more than the registers of a row of few hold. */
static uint32_t shared_taps(const struct sum_form *form, const struct packing *p)
{
    return p->components > 1 ? form->taps : least(form->taps, 3);
}

/* Additions to one number: of phases the most that one has. */
static uint32_t additions(const struct sum_problem *problem)
{
    const struct packing *p = problem->packing;
    const struct window *w = &problem->sum->window;
    return (uint32_t)(w->x.size * w->y.size) * p->range * p->components;
}

bool sum_is_short(const struct sum_problem *problem)
{
    return additions(problem) < LONG_SUM;
}

/* Pixels of an invocation that covers a row of `width` soonest: what it reads beside its pixels, for taps
 * and for weights, takes it as long as one and a half of them. */
static uint32_t pixels_for_row(uint32_t width, uint32_t fewest, uint32_t most)
{
    uint32_t best = fewest, least_cost = UINT32_MAX;
    for (uint32_t pixels = fewest; pixels <= most; pixels += 2) {
        uint32_t cost = groups_of(width, pixels) * (2 * pixels + 3);
        if (cost < least_cost) {
            least_cost = cost;
            best = pixels;
        }
    }
    return best;
}

/* What a stretch and what a phase take of registers, fewer pixels leave, and what taps that share their
 * reads take where the form has fewer for them. */
static uint32_t narrow_pixels(const struct sum_form *form, const struct sum *sum, uint32_t stretch,
                              bool shared)
{
    uint32_t pixels = shared && form->shared_pixels ? form->shared_pixels : form->pixels;
    if (form->most_pixels && shared && sum->window.x.size <= FEW_TAPS && !stretch && !sum->phases)
        return pixels_for_row(sum->extent[0], pixels, form->most_pixels);
    return stretch ? (pixels + 1) / 2 : sum->phases ? pixels - 1 : pixels;
}

/* How many of the pixels that are read beside each other, `reads`, may lie outside at either end. */
static void pass_outside_reads(struct pass *pass, const struct sum_form *form,
                               const struct sum *sum, uint32_t reads)
{
    const struct axis *x = &sum->window.x;
    uint32_t before = reads, after = reads;
    if (!sum->phases)
        windows_outside(x, sum->extent[0], sum->low[0], sum->high[0], &before, &after);
    pass_define(pass, "OUTSIDE_LEFT", (int)least(before, reads));
    pass_define(pass, "OUTSIDE_RIGHT", (int)least(after, reads));
    /* A read that may lie beyond either end would take Midgard's two loops more registers than it has. */
    if (form->interior && before + after > 0 && before + after <= reads)
        pass_define(pass, "INTERIOR", 1);
}

static void plan_narrow_sum(struct plan *plan, const struct implementation *row,
                            const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    const struct sum *sum = problem->sum;
    const struct sum_form *form = row->form;
    const struct axis *x = &sum->window.x;
    uint32_t stretch = stretch_of(additions(problem), at_least_one(x->size) * p->components);
    uint32_t taps = shared_taps(form, p);
    bool shared = shares_taps(x, taps);
    uint32_t pixels = least(narrow_pixels(form, sum, stretch, shared), sum->extent[0]);
    struct pass *pass = plan_packed_sum(plan, row, problem, taps, stretch);
    uint32_t phases = pass_phases(pass, sum->phases);
    pass_outside_reads(pass, form, sum, pixels + (shared ? (uint32_t)x->size - 1 : 0));
    if (form->masks)
        pass_define(pass, "MASKS", 1);
    pass_define(pass, "phase_count", (int)phases);
    pass_define(pass, "stride_x", x->stride);
    pass_define(pass, "dilation_x", x->dilation);
    pass_define(pass, "PIXELS", (int)pixels);
    pass_grid(pass, groups_of(sum->extent[0], pixels),
              sum->extent[1] * phases * sum->destination.images, p->slices);
    pass_batch_axis(pass, 1);
    pass->work = groups_of(p->elements + 1, phases) * pixels * 8;
}

static bool packed_fits_block(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    return plan_fits_block(problem->plan, packed_numbers(problem->packing)) &&
           sum_fits_block(problem);
}

#define PACKS_BUFFER                                                                               \
    {                                                                                              \
        packed_fits_block, "weights that fit in a storage block"                                   \
    }

#define WINOGRAD                                                                                   \
    {                                                                                              \
        sum_takes_winograd,                                                                        \
            "dense windows of 3x3 taps, without stride or dilation, and fewer than 768 inputs"     \
    }

/* By how many sums and inputs an invocation keeps. */
const struct implementation_list convolution_sum_implementations = {
    "convolution_sum",
    (const struct implementation[]){
        {"convolution_wide", "convolution/convolution.comp", 32, .plan = plan_wide_sum,
         .form = &(const struct sum_form){.takes_phases = true}},
        {"convolution_winograd_buffer", "convolution/winograd_products.comp", 8,
         .uniform_loads = true, .supported = WINOGRAD,
         .profitable = {sum_gains_by_winograd,
                        "at least 32 channels, more where width or height is odd"},
         .plan = plan_sum_winograd, .form = &(const struct sum_form){.pixels = 3, .buffer = true}},
        {"convolution_winograd_row", "convolution/winograd_products.comp", 14,
         .submits_dispatches = true, .supported = WINOGRAD,
         .profitable = {wide_sum_gains_by_winograd,
                        "at least 64 channels, more where width or height is odd"},
         .plan = plan_sum_winograd, .form = &(const struct sum_form){.pixels = 4}},
        {"convolution_long_row", "convolution/convolution_narrow.comp", 14, .width = 64,
         .plan = plan_narrow_sum,
         .form =
             &(const struct sum_form){
                 .takes_phases = true, .pixels = 4, .most_pixels = 6, .taps = 5}},
        {"convolution_row", "convolution/convolution_narrow.comp", 14, .plan = plan_narrow_sum,
         .form = &(const struct sum_form){.takes_phases = true, .pixels = 4, .taps = 5}},
        /* V3D 7.1 spills two values of a fourth pixel where textures are of RGBA32F. */
        {"convolution_buffer_row", "convolution/convolution_narrow.comp", 12, .uniform_loads = true,
         .supported = PACKS_BUFFER, .plan = plan_narrow_sum,
         .form =
             &(const struct sum_form){
                 .pixels = 3, .taps = 3, .shared_pixels = 2, .masks = true, .buffer = true}},
        {"convolution_buffer_two", "convolution/convolution_narrow.comp", 8, .uniform_loads = true,
         .supported = PACKS_BUFFER, .plan = plan_narrow_sum,
         .form = &(const struct sum_form){.pixels = 2, .interior = true, .buffer = true}},
        {"convolution_two", "convolution/convolution_narrow.comp", 8, .plan = plan_narrow_sum,
         .form = &(const struct sum_form){.pixels = 2}},
        {0}}};

void plan_sum(struct plan *plan, const struct packing *p, const struct sum *sum)
{
    implementation_plan(plan, &convolution_sum_implementations,
                        &(const struct sum_problem){p, sum, plan});
}

/* ---- The forward pass ---- */

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
