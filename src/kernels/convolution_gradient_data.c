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

/* The pixels of the region that lie `place` from its corner, within a stride. */
static void plan_data_place(const struct operation *o, struct plan *plan, const uint32_t place[2])
{
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    struct packing p = packing_of(o, true);
    struct window w = convolution_data_window(o);
    struct sum sum = {.source = o->images[GRADIENT],
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
        return;
    sum.extent[0] = groups_of(o->region_width - place[0], sum.step[0]);
    sum.extent[1] = groups_of(o->region_height - place[1], sum.step[1]);
    struct taps x = turn_axis(&w.x, (int32_t)sum.origin[0] + w.x.shift);
    struct taps y = turn_axis(&w.y, (int32_t)sum.origin[1] + w.y.shift);
    packing_set_taps(&p, x, y);
    sum.window = w;
    plan_sum(plan, &p, &sum);
}

static void plan_data_turned(const struct operation *o, struct plan *plan)
{
    uint32_t place[2];
    for (place[1] = 0; place[1] < (uint32_t)o->window.y.stride; place[1]++)
        for (place[0] = 0; place[0] < (uint32_t)o->window.x.stride; place[0]++)
            plan_data_place(o, plan, place);
}

/* One pass for each place within a stride, so not for the longest of strides. */
static bool can_turn(const struct operation *o)
{
    return o->window.x.stride * o->window.y.stride <= 4 &&
           o->window.edge_mode == GLCNN_EDGE_MODE_ZERO;
}

static void plan_data_gathered(const struct operation *o, struct plan *plan)
{
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    struct packing p = packing_of(o, true);
    struct image_view matrix =
        plan_pack(plan, &p, &o->vectors[GRADIENT_WEIGHTS], data_biases(o));
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

static bool always(const struct operation *o)
{
    (void)o;
    return true;
}

/* The first that suits is taken. */
static const struct {
    bool (*suits)(const struct operation *o);
    void (*plan)(const struct operation *o, struct plan *plan);
} data_variants[] = {{can_turn, plan_data_turned}, {always, plan_data_gathered}};

void plan_data(const struct operation *o, struct plan *plan)
{
    size_t i = 0;
    while (!data_variants[i].suits(o))
        i++;
    data_variants[i].plan(o, plan);
}
