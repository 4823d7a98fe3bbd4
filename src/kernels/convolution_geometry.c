/* What the numbers of a convolution come to: its channels, windows and trainable channels. */
#include "kernels/convolution.h"

const struct image_view *convolution_source(const struct operation *o)
{
    return &o->images[operation_is_gradient(o) ? IMAGE : SOURCE];
}

struct channels convolution_channels(const struct operation *o)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    struct channels c = {.inputs = p->input_feature_channels,
                         .outputs = p->output_feature_channels,
                         .groups = one_if_zero(p->groups)};
    if (!c.inputs)
        c.inputs = convolution_source(o)->channels;
    c.inputs_per_group = c.inputs / c.groups;
    c.outputs_per_group = c.outputs / c.groups;
    return c;
}

bool convolution_wants(const struct operation *o, glcnn_gradient_option option)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    return ((unsigned)p->gradient_option & (unsigned)option) != 0;
}

/* Of other layers than convolution itself, which alone is strided and neither a gradient nor
 * backwards, the member is not checked, so it must not be used. */
uint32_t convolution_scale_factor(const struct operation *o)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    bool has_factor =
        (o->descriptor->flags & (HAS_STRIDE | IS_GRADIENT | IS_BACKWARDS)) == HAS_STRIDE;
    return has_factor ? one_if_zero(p->sub_pixel_scale_factor) : 1;
}

static void set_sum_axis(struct axis *axis, uint32_t origin, uint32_t extent, uint32_t factor)
{
    axis->first += axis->stride * (int32_t)origin;
    axis->begin = 0;
    axis->end = ceil_quotient((int32_t)extent, (int32_t)factor);
}

struct window convolution_sum_window(const struct operation *o)
{
    struct window w = o->window;
    uint32_t factor = convolution_scale_factor(o);
    set_sum_axis(&w.x, o->region_x, o->region_width, factor);
    set_sum_axis(&w.y, o->region_y, o->region_height, factor);
    return w;
}

static void set_data_axis(struct axis *axis, int32_t kernel_offset, int32_t gradient_offset,
                          uint32_t used, uint32_t gradient_size)
{
    int32_t Kd = dilated_size(axis->size, axis->dilation);
    axis->first = -(gradient_offset * axis->stride + kernel_offset) - (Kd - 1 - Kd / 2);
    /* All of the gradient counts unless a part of it was chosen. */
    if (used != UINT32_MAX)
        return;
    axis->begin = 0;
    axis->end = (int32_t)gradient_size;
}

struct window convolution_data_window(const struct operation *o)
{
    struct window w = o->window;
    const struct glcnn_addressing *p = &o->properties;
    if (o->state_driven || !(o->descriptor->flags & HAS_STRIDE))
        return w;
    set_data_axis(&w.x, p->kernel_offset_x, p->primary.offset.x, p->source_size.width,
                  o->images[GRADIENT].width);
    set_data_axis(&w.y, p->kernel_offset_y, p->primary.offset.y, p->source_size.height,
                  o->images[GRADIENT].height);
    return w;
}

/* ---- Trainable channels ---- */

struct channel_range convolution_trainable(const struct operation *o)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    return o->trainable.count ? o->trainable
                              : (struct channel_range){0, p->output_feature_channels};
}

bool convolution_trainable_check(const struct operation *o, struct validation validation)
{
    struct channels c = convolution_channels(o);
    const struct channel_range *l = &o->trainable;
    if (!l->count)
        return true;
    if (l->first % 4 || (uint64_t)l->first + l->count > c.outputs)
        return invalid(
            validation,
            "%u channels from channel %u on are to learn; there are %u, and the first must "
            "be a multiple of 4",
            l->count, l->first, c.outputs);
    if (c.groups == 1 || (c.groups == c.inputs && c.groups == c.outputs))
        return true;
    return invalid(validation,
                   "some of the channels are to learn, of %u groups; that is for one group, or for "
                   "groups of one channel",
                   c.groups);
}

static void take_channels(struct image_view *view, const struct channel_range *l)
{
    view->first_layer += l->first / 4;
    view->channels = l->count;
    view->masked = view->masked || l->count % 4 != 0; /* behind these lie others' */
}

void convolution_trainable_layer(const struct operation *o, struct trainable_layer *layer)
{
    const struct channel_range *l = &o->trainable;
    layer->operation = *o;
    layer->parameters = *(const struct glcnn_convolution_parameters *)o->parameters;
    layer->operation.parameters = &layer->parameters;
    if (!l->count)
        return;
    layer->parameters.output_feature_channels = l->count;
    take_channels(&layer->operation.images[GRADIENT], l);
    if (convolution_channels(o).groups == 1)
        return;
    layer->parameters.groups = layer->parameters.input_feature_channels = l->count;
    take_channels(&layer->operation.images[IMAGE], l);
}
