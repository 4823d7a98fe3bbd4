/* Loss scaling: the scale is a number of the graph's, which passes read at each commit as they read
 * a learning rate. On the device a step whose gradients are not finite changes nothing, since these
 * all become NaN (gradient_norm.c) and optimizers skip NaN; here the scale follows. */
#include <math.h>

#include "encode/number.h"
#include "glcnn/training.h"
#include "graph/graph.h"

#define LARGEST  16777216.0f
#define INTERVAL 2000 /* good steps until it grows; Micikevicius et al. leave it open, PyTorch's */

bool loss_scale_is_used(const struct glcnn_graph *graph)
{
    return graph->loss_scale.scale > 0;
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

static void count_good(struct glcnn_graph *graph)
{
    struct glcnn_dynamic_loss_scale next = graph->loss_scale;
    next.good_steps = (next.good_steps + 1) % INTERVAL;
    if (next.good_steps == 0 && next.scale < LARGEST)
        next.scale *= 2;
    loss_scale_set(graph, &next);
}

/* What the commit has counted. */
static void take_steps_back(const struct glcnn_graph *graph)
{
    for (size_t i = 0; i < graph->filter_count; i++) {
        const struct graph_filter *f = &graph->filters[i];
        if (!update_leads(graph, f, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU))
            continue;
        struct glcnn_kernel *optimizer = glcnn_kernel_optimizer(f->node->forward->kernel);
        if (optimizer && optimizer->descriptor->optimizer->step_back)
            optimizer->descriptor->optimizer->step_back(optimizer->parameters);
    }
}

static glcnn_status count_skipped(struct glcnn_graph *graph)
{
    struct glcnn_dynamic_loss_scale next = graph->loss_scale;
    bool is_least = next.scale <= 1;
    next.good_steps = 0;
    next.skipped_steps++;
    next.scale = is_least ? 1 : next.scale / 2;
    loss_scale_set(graph, &next);
    take_steps_back(graph);
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

glcnn_status loss_scale_follow(struct glcnn_graph *graph, struct recording *r)
{
    float sum = 0;
    if (!r->gradient_sum)
        return GLCNN_SUCCESS;
    glcnn_status status = glcnn_buffer_read(r->gradient_sum, 0, sizeof sum, &sum);
    if (status != GLCNN_SUCCESS)
        return status;
    r->skipped = !isfinite(sum);
    if (r->skipped)
        return count_skipped(graph);
    count_good(graph);
    return GLCNN_SUCCESS;
}

glcnn_status loss_scale_prepare(struct recording *r)
{
    glcnn_status status = r->skipped ? joint_steps_clear(r) : GLCNN_SUCCESS;
    r->skipped = r->skipped && status != GLCNN_SUCCESS;
    return status;
}

glcnn_status glcnn_graph_get_loss_scale(glcnn_graph *graph,
                                        struct glcnn_dynamic_loss_scale *loss_scale)
{
    if (!graph)
        return GLCNN_INVALID_ARGUMENT;
    if (!loss_scale)
        return device_fail(graph->device, GLCNN_INVALID_ARGUMENT,
                           "glcnn_graph_get_loss_scale: loss_scale is NULL");
    glcnn_status status = glcnn_graph_wait(graph);
    *loss_scale = graph->loss_scale;
    return status;
}
