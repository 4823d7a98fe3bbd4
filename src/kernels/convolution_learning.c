/* Gradients of some of the weights: those of the output channels that learn. */
#include "kernels/convolution.h"

struct channel_range convolution_learns(const struct operation *o)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    return o->learning.count ? o->learning : (struct channel_range){0, p->output_feature_channels};
}

bool convolution_learning_check(const struct operation *o, struct refusal refusal)
{
    struct channels c = convolution_channels(o);
    const struct channel_range *l = &o->learning;
    if (!l->count)
        return true;
    if (l->first % 4 || (uint64_t)l->first + l->count > c.outputs)
        return refuse(
            refusal,
            "%u channels from channel %u on are to learn; there are %u, and the first must "
            "be a multiple of 4",
            l->count, l->first, c.outputs);
    if (c.groups == 1 || (c.groups == c.inputs && c.groups == c.outputs))
        return true;
    return refuse(refusal,
                  "some of the channels are to learn, of %u groups; that is for one group, or for "
                  "groups of one channel",
                  c.groups);
}

static void narrow(struct image_view *view, const struct channel_range *l)
{
    view->first_layer += l->first / 4;
    view->channels = l->count;
    view->masked = view->masked || l->count % 4 != 0; /* behind these lie others' */
}

void convolution_narrow(const struct operation *o, struct narrowed *n)
{
    const struct channel_range *l = &o->learning;
    n->operation = *o;
    n->parameters = *(const struct glcnn_convolution_parameters *)o->parameters;
    n->operation.parameters = &n->parameters;
    if (!l->count)
        return;
    n->parameters.output_feature_channels = l->count;
    narrow(&n->operation.images[GRADIENT], l);
    if (convolution_channels(o).groups == 1)
        return;
    n->parameters.groups = n->parameters.input_feature_channels = l->count;
    narrow(&n->operation.images[IMAGE], l);
}
