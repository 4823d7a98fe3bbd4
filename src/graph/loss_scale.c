/* Loss scaling: the scale is a number of the graph's, which passes read at each commit as they read
 * a learning rate. On the device a step whose gradients are not finite changes nothing, since these
 * all become NaN (gradient_norm.c) and optimizers skip NaN; here the scale follows. */
#include <math.h>

#include "encode/number.h"
#include "graph/loss_scale.h"

#define LARGEST  16777216.0f
#define INTERVAL 2000 /* good steps until it grows; Micikevicius et al. leave it open, PyTorch's */

bool loss_scale_is_used(const struct glcnn_graph *graph)
{
    return graph->loss_scale.scale > 0;
}

static float largest_of(const struct glcnn_dynamic_loss_scale *scale)
{
    return scale->largest > 0 ? scale->largest : LARGEST;
}

static bool is_power_of_two(float value)
{
    int exponent;
    return frexpf(value, &exponent) == 0.5f; /* or NaN, which equals nothing */
}

glcnn_status loss_scale_check(struct glcnn_device *device,
                              const struct glcnn_dynamic_loss_scale *scale)
{
    char text[NUMBER_TEXT];
    bool used = scale->scale >= 1 && scale->scale <= LARGEST && is_power_of_two(scale->scale);
    if (!used && scale->scale != 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_create: loss_scale.scale is %s; it must be 0, for none, or "
                           "a power of two in 1 .. 2^24",
                           number_format(text, (double)scale->scale));
    if (scale->largest != 0 && (!used || !is_power_of_two(scale->largest) ||
                                !(scale->largest >= scale->scale && scale->largest <= LARGEST)))
        return device_fail(
            device, GLCNN_INVALID_ARGUMENT,
            "glcnn_graph_create: loss_scale.largest is %s; it must be 0, for 2^24, or "
            "a power of two from the scale to 2^24",
            number_format(text, (double)scale->largest));
    if (used ? scale->good_steps < INTERVAL : !scale->good_steps && !scale->skipped_steps)
        return GLCNN_SUCCESS;
    return device_fail(device, GLCNN_INVALID_ARGUMENT,
                       "glcnn_graph_create: loss_scale.good_steps is %u%s", scale->good_steps,
                       used ? "; it must be in 0 .. 1999, since at 2000 the scale grows"
                            : " or its skipped_steps more than 0, and there is no scale");
}

void loss_scale_set(struct glcnn_graph *graph, const struct glcnn_dynamic_loss_scale *scale)
{
    graph->loss_scale = *scale;
    graph->loss_unscale = scale->scale > 0 ? 1 / scale->scale : 1;
}

void loss_scale_count_good(struct glcnn_graph *graph)
{
    struct glcnn_dynamic_loss_scale next = graph->loss_scale;
    next.good_steps = (next.good_steps + 1) % INTERVAL;
    if (next.good_steps == 0 && next.scale < largest_of(&next))
        next.scale *= 2;
    loss_scale_set(graph, &next);
}

glcnn_status loss_scale_count_skipped(struct glcnn_graph *graph)
{
    struct glcnn_dynamic_loss_scale next = graph->loss_scale;
    bool is_least = next.scale <= 1;
    next.good_steps = 0;
    next.skipped_steps++;
    next.scale = is_least ? 1 : next.scale / 2;
    loss_scale_set(graph, &next);
    if (!is_least)
        return GLCNN_SUCCESS;
    return device_fail(
        graph->device, GLCNN_INVALID_STATE,
        "glcnn_graph_execute: the gradients for weights are not finite, and not by "
        "the loss scale, which is 1, the least; weights are as they were before this "
        "step, one of %llu that were skipped; a lower learning rate, a gradient_clip_norm "
        "or float32 images may help",
        (unsigned long long)next.skipped_steps);
}
