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
static struct taps reverse_axis(struct axis *axis, int32_t base)
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

/* The problem of convolution_data_implementations. */
struct data_problem {
    const struct operation *operation;
    struct plan *plan;
    const struct implementation **sum_row; /* that plans all phases at once, where one does */
};

/* ---- The phases of a stride ---- */

/* The sum of the pixels of the region that lie `phase` from its corner, within a stride, and the
 * packing for it. False: there are none. */
static bool phase_sum(const struct operation *o, const uint32_t phase[2], struct packing *p,
                      struct sum *sum)
{
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    struct window w = convolution_data_window(o);
    *p = packing_of(o, true);
    *sum = (struct sum){.source = o->images[GRADIENT],
                        .destination = o->images[DESTINATION],
                        .low = {w.x.begin, w.y.begin},
                        .high = {w.x.end - 1, w.y.end - 1},
                        .origin = {o->region_x + phase[0], o->region_y + phase[1]},
                        .step = {(uint32_t)w.x.stride, (uint32_t)w.y.stride},
                        .weights = &o->vectors[GRADIENT_WEIGHTS],
                        .biases = data_biases(o),
                        .neuron = &parameters->neuron,
                        .neuron_data = &o->vectors[GRADIENT_NEURON_DATA]};
    if (phase[0] >= o->region_width || phase[1] >= o->region_height)
        return false;
    sum->extent[0] = groups_of(o->region_width - phase[0], sum->step[0]);
    sum->extent[1] = groups_of(o->region_height - phase[1], sum->step[1]);
    struct taps x = reverse_axis(&w.x, (int32_t)sum->origin[0] + w.x.shift);
    struct taps y = reverse_axis(&w.y, (int32_t)sum->origin[1] + w.y.shift);
    packing_set_taps(p, x, y);
    sum->window = w;
    return true;
}

/* Calls `visit` for the sum of each phase until one says false; true: none did. */
static bool each_phase(const struct data_problem *problem,
                       bool (*visit)(const struct data_problem *problem, const struct packing *p,
                                     const struct sum *sum))
{
    const struct operation *o = problem->operation;
    const uint32_t strides[2] = {(uint32_t)o->window.x.stride, (uint32_t)o->window.y.stride};
    uint32_t phase[2];
    struct packing p;
    struct sum sum;
    for (phase[1] = 0; phase[1] < strides[1]; phase[1]++)
        for (phase[0] = 0; phase[0] < strides[0]; phase[0]++)
            if (phase_sum(o, phase, &p, &sum) && !visit(problem, &p, &sum))
                return false;
    return true;
}

/* The window reversed. One sum for each phase, so not for the longest of strides. */
static bool can_reverse(const void *data_problem)
{
    const struct operation *o = ((const struct data_problem *)data_problem)->operation;
    return o->window.x.stride * o->window.y.stride <= 4 &&
           o->window.edge_mode == GLCNN_EDGE_MODE_ZERO;
}

static bool plan_phase(const struct data_problem *problem, const struct packing *p,
                       const struct sum *sum)
{
    plan_sum(problem->plan, p, sum);
    return true;
}

static bool reaches_all_phases(const struct axis *axis)
{
    return tap_step(axis) == axis->stride && axis->size >= axis->stride;
}

/* No phase is without taps, whose pixels would take a pass only to be cleared. */
static bool each_phase_has_taps(const void *data_problem)
{
    const struct window *w = &((const struct data_problem *)data_problem)->operation->window;
    return w->x.stride * w->y.stride > 1 && reaches_all_phases(&w->x) && reaches_all_phases(&w->y);
}

/* The passes are those of sums, which have implementations of their own. */
static void plan_separate_phases(struct plan *plan, const struct implementation *row,
                                 const void *data_problem)
{
    (void)row;
    (void)plan;
    each_phase(data_problem, plan_phase);
}

/* ---- All phases in one pass ---- */

/* By a row that can take all phases at once, whichever it is; that of the first plans all. */
static bool takes_phases(const struct data_problem *problem, const struct packing *p,
                         const struct sum *sum)
{
    const struct implementation *row =
        implementation_choose(problem->plan, &convolution_sum_implementations,
                              &(const struct sum_problem){p, sum, problem->plan});
    const struct sum_form *form = row->form;
    if (!*problem->sum_row)
        *problem->sum_row = row;
    return form->takes_phases;
}

static bool can_batch_phases(const void *data_problem)
{
    const struct data_problem *problem = data_problem;
    const struct operation *o = problem->operation;
    return can_reverse(problem) && o->window.x.stride * o->window.y.stride > 1 &&
           each_phase(problem, takes_phases);
}

static bool is_short(const struct data_problem *problem, const struct packing *p,
                     const struct sum *sum)
{
    return sum_is_short(&(const struct sum_problem){p, sum, problem->plan});
}

/* The passes of longer sums take longer than their submits. */
static bool phases_are_short(const void *data_problem)
{
    return each_phase(data_problem, is_short);
}

/* The layer's window along an axis as `phases` has it, from the first pixel of the region on.
 * Changes `axis` into the largest window of a phase. */
static void set_phases(struct axis *axis, uint32_t origin, uint32_t extent, uint32_t length[2],
                       struct phases *phases, int i)
{
    int32_t step = tap_step(axis);
    phases->count[i] = least((uint32_t)axis->stride, extent);
    phases->extent[i] = extent;
    phases->distance[i] = (int32_t)origin + axis->shift - axis->first;
    phases->stride[i] = axis->stride;
    phases->dilation[i] = axis->dilation;
    phases->tap_step[i] = step;
    phases->size[i] = axis->size;
    length[i] = groups_of(extent, (uint32_t)axis->stride);
    axis->dilation = axis->dilation * step / axis->stride;
    axis->size = (axis->size + step - 1) / step;
    axis->stride = 1;
}

static void plan_batched_phases(struct plan *plan, const struct implementation *whole,
                                const void *data_problem)
{
    const struct data_problem *problem = data_problem;
    const struct operation *o = problem->operation;
    const uint32_t corner[2] = {0, 0};
    struct packing p;
    struct sum sum;
    struct phases phases;
    struct window w = convolution_data_window(o);
    phase_sum(o, corner, &p, &sum);
    set_phases(&w.x, o->region_x, o->region_width, sum.extent, &phases, 0);
    set_phases(&w.y, o->region_y, o->region_height, sum.extent, &phases, 1);
    sum.window = w;
    sum.phases = &phases;
    p = packing_of(o, true);
    size_t first = plan->pass_count;
    const struct implementation *row = *problem->sum_row;
    row->plan(plan, row, &(const struct sum_problem){&p, &sum, plan});
    plan_implementation(plan, first, whole);
}

/* ---- Pixels that gather ---- */

static void plan_data_gathered(struct plan *plan, const struct implementation *row,
                               const void *data_problem)
{
    const struct operation *o = ((const struct data_problem *)data_problem)->operation;
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    struct packing p = packing_of(o, true);
    (void)row;
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
    pass_source_size(pass, &o->images[IMAGE]);
    pass->work = p.elements * 16;
}

/* ---- Choice ---- */

#define REVERSES                                                                                   \
    {                                                                                              \
        can_reverse, "a stride of at most 4 pixels in all, and edge mode zero"                     \
    }
#define BATCHES_PHASES                                                                             \
    {                                                                                              \
        can_batch_phases,                                                                          \
            "a stride of 2 to 4 pixels in all, edge mode zero, and for each phase a "              \
            "sum that takes all phases at once"                                                    \
    }

const struct implementation_list convolution_data_implementations = {
    "convolution_data",
    (const struct implementation[]){
        /* A phase by itself has as many taps for all pixels: where they may differ, a processor stores
         * all sums by a mask behind each tap. */
        {"data_phases_unbranched", .registers = 64, .supported = REVERSES,
         .profitable = {each_phase_has_taps, "a stride, and for each phase some of the taps"},
         .plan = plan_separate_phases},
        {"data_phases_batched", .registers = 32, .supported = BATCHES_PHASES,
         .plan = plan_batched_phases},
        /* The same sums: a sum that is not long has no stretches by which they could differ. */
        {"data_phases_one_submit", .submits_dispatches = true, .supported = BATCHES_PHASES,
         .profitable = {phases_are_short, "sums of fewer than 768 terms for each phase"},
         .plan = plan_batched_phases},
        {"data_phases_separate", .supported = REVERSES, .plan = plan_separate_phases},
        {"data_gathered", .plan = plan_data_gathered},
        {0}}};

void plan_data(const struct operation *o, struct plan *plan)
{
    const struct implementation *sum_row = NULL;
    implementation_plan(plan, &convolution_data_implementations,
                        &(const struct data_problem){o, plan, &sum_row});
}
