/* Data gradient of convolutions. */
#include "kernels/convolution_plan.h"

static int32_t common_divisor(int32_t a, int32_t b)
{
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Taps that lie a multiple of this apart meet the same source pixels. */
static int32_t tap_step(const struct axis *axis)
{
    return axis->stride / common_divisor(axis->stride, axis->dilation);
}

/* Source pixels  u = base + stride * i  gather from the gradient pixels
 *     X = (u - first - dilation * p) / stride = i + constant - dilation * step / stride * m
 * for the taps  p = p0 + step * m  where that is whole: a window with stride 1, whose taps come in
 * reverse. Changes `axis` into that window and says which taps it has. */
static struct taps turn_axis(struct axis *axis, int32_t base)
{
    int32_t step = tap_step(axis), p0 = 0;
    while (p0 < step && (base - axis->first - axis->dilation * p0) % axis->stride != 0)
        p0++;
    int32_t count = p0 < step && p0 < axis->size ? (axis->size - p0 + step - 1) / step : 0;
    int32_t dilation = axis->dilation * step / axis->stride;
    int32_t nearest = (base - axis->first - axis->dilation * p0) / axis->stride;
    axis->first = nearest - dilation * (count - 1);
    axis->stride = 1;
    axis->dilation = dilation;
    axis->size = count;
    return (struct taps){p0 + step * (count - 1), -step, count};
}

static const struct vector_view *data_biases(const struct operation *o)
{
    return o->given[GRADIENT_BIASES] ? &o->vectors[GRADIENT_BIASES] : NULL;
}

/* ---- The places within a stride ---- */

/* The sum of the pixels of the region that lie `place` from its corner, within a stride, and the
 * packing for it. False: there are none. */
static bool place_sum(const struct operation *o, const uint32_t place[2], struct packing *p,
                      struct sum *sum)
{
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    struct window w = convolution_data_window(o);
    *p = packing_of(o, true);
    *sum = (struct sum){.source = o->images[GRADIENT],
                        .destination = o->images[DESTINATION],
                        .low = {w.x.begin, w.y.begin},
                        .high = {w.x.end - 1, w.y.end - 1},
                        .origin = {o->region_x + place[0], o->region_y + place[1]},
                        .step = {(uint32_t)w.x.stride, (uint32_t)w.y.stride},
                        .weights = &o->vectors[GRADIENT_WEIGHTS],
                        .biases = data_biases(o),
                        .neuron = &parameters->neuron,
                        .neuron_data = &o->vectors[GRADIENT_NEURON_DATA]};
    if (place[0] >= o->region_width || place[1] >= o->region_height)
        return false;
    sum->extent[0] = groups_of(o->region_width - place[0], sum->step[0]);
    sum->extent[1] = groups_of(o->region_height - place[1], sum->step[1]);
    struct taps x = turn_axis(&w.x, (int32_t)sum->origin[0] + w.x.shift);
    struct taps y = turn_axis(&w.y, (int32_t)sum->origin[1] + w.y.shift);
    packing_set_taps(p, x, y);
    sum->window = w;
    return true;
}

/* Calls `visit` for the sum of each place until one says false; true: none did. */
static bool each_place(const struct operation *o, struct plan *plan,
                       bool (*visit)(struct plan *plan, const struct packing *p,
                                     const struct sum *sum))
{
    const uint32_t strides[2] = {(uint32_t)o->window.x.stride, (uint32_t)o->window.y.stride};
    uint32_t place[2];
    struct packing p;
    struct sum sum;
    for (place[1] = 0; place[1] < strides[1]; place[1]++)
        for (place[0] = 0; place[0] < strides[0]; place[0]++)
            if (place_sum(o, place, &p, &sum) && !visit(plan, &p, &sum))
                return false;
    return true;
}

static bool plan_place(struct plan *plan, const struct packing *p, const struct sum *sum)
{
    plan_sum(plan, p, sum);
    return true;
}

/* By a row that can take all places at once, whichever it is. */
static bool is_for_all(struct plan *plan, const struct packing *p, const struct sum *sum)
{
    const struct implementation *row = sum_variant(plan, p, sum);
    return sum_is_wide(row) || sum_is_tiled(row);
}

/* One sum for each place within a stride, so not for the longest of strides. */
static bool can_turn(const struct operation *o)
{
    return o->window.x.stride * o->window.y.stride <= 4 &&
           o->window.edge_mode == GLCNN_EDGE_MODE_ZERO;
}

/* ---- All places in one pass ---- */

/* The layer's window along an axis as `places` has it, from the first pixel of the region on.
 * Changes `axis` into the largest window of a place. */
static void lay_places(struct axis *axis, uint32_t origin, uint32_t extent, uint32_t length[2],
                       struct places *places, int i)
{
    int32_t step = tap_step(axis);
    places->count[i] = least((uint32_t)axis->stride, extent);
    places->extent[i] = extent;
    places->distance[i] = (int32_t)origin + axis->shift - axis->first;
    places->dilation[i] = axis->dilation;
    places->tap_step[i] = step;
    places->size[i] = axis->size;
    length[i] = groups_of(extent, (uint32_t)axis->stride);
    axis->dilation = axis->dilation * step / axis->stride;
    axis->size = (axis->size + step - 1) / step;
    axis->stride = 1;
}

static void plan_data_together(const struct operation *o, struct plan *plan,
                               const struct implementation *whole)
{
    const uint32_t corner[2] = {0, 0};
    struct packing p;
    struct sum sum;
    struct places places;
    struct window w = convolution_data_window(o);
    place_sum(o, corner, &p, &sum);
    const struct implementation *row = sum_variant(plan, &p, &sum);
    lay_places(&w.x, o->region_x, o->region_width, sum.extent, &places, 0);
    lay_places(&w.y, o->region_y, o->region_height, sum.extent, &places, 1);
    sum.window = w;
    sum.places = &places;
    p = packing_of(o, true);
    size_t first = plan->pass_count;
    if (sum_is_tiled(row))
        plan_sum_tiles(plan, &p, row, &sum);
    else
        plan_lines(plan, &p, row, &sum);
    plan_implementation(plan, first, whole);
}

/* ---- Pixels that gather ---- */

static void plan_data_gathered(const struct operation *o, struct plan *plan)
{
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    struct packing p = packing_of(o, true);
    struct image_view matrix = plan_pack(plan, &p, &o->vectors[GRADIENT_WEIGHTS], data_biases(o));
    struct window w = convolution_data_window(o);
    struct pass *pass =
        plan_pixels(plan, o, "convolution/convolution_gradient_data.comp", &o->images[DESTINATION]);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_matrix(pass, &matrix);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_packing(pass, &p);
    pass_neuron(pass, &parameters->neuron);
    pass_neuron_data(pass, &parameters->neuron, &o->vectors[GRADIENT_NEURON_DATA]);
    pass_window(pass, &w);
    bool clamped = w.edge_mode == GLCNN_EDGE_MODE_CLAMP;
    pass_int(pass, "tap_step_x", clamped ? 1 : tap_step(&w.x));
    pass_int(pass, "tap_step_y", clamped ? 1 : tap_step(&w.y));
    pass_int(pass, "source_width", (int32_t)o->images[IMAGE].width);
    pass_int(pass, "source_height", (int32_t)o->images[IMAGE].height);
    pass->work = p.elements * 16;
}

/* ---- Choice ---- */

/* What rows are asked about. */
struct data_shape {
    const struct operation *operation;
    struct plan *plan;
};

static bool can_together(const void *shape)
{
    const struct data_shape *s = shape;
    const struct operation *o = s->operation;
    return can_turn(o) && o->window.x.stride * o->window.y.stride > 1 &&
           each_place(o, s->plan, is_for_all);
}

/* Passes of the last row are those of sums, which have implementations of their own. */
const struct implementation_list convolution_data_implementations = {
    "convolution_data",
    (const struct implementation[]){
        {"data_together", .registers = 32, .supported.holds = can_together}, {"data_apart"}, {0}}};

void plan_data(const struct operation *o, struct plan *plan)
{
    const struct data_shape shape = {o, plan};
    const struct implementation *row =
        implementation_choose(plan, &convolution_data_implementations, &shape);
    if (row->supported.holds)
        plan_data_together(o, plan, row);
    else if (can_turn(o))
        each_place(o, plan, plan_place);
    else
        plan_data_gathered(o, plan);
}
