/* A decoder: maps of a network, from small to large. */
#include "decoder.h"

#define LEAST_CHANNELS 16
#define MOST_CHANNELS  64

glcnn_image_node *decoder_resized(glcnn_image_node *source, uint32_t width, uint32_t height)
{
    const struct glcnn_resize_parameters p = {.resized_width = width, .resized_height = height};
    return glcnn_resize_linear_node(source, &p);
}

/* As many as the feature has, within limits: wide backbones would have a decoder larger than they are. */
static unsigned channels_beside(const struct feature *f)
{
    const unsigned most = f->channels < MOST_CHANNELS ? f->channels : MOST_CHANNELS;
    return most > LEAST_CHANNELS ? most : LEAST_CHANNELS;
}

glcnn_image_node *decoder_build(const struct features *features, unsigned *channels)
{
    const struct feature *f = &features->at[features->count - 1];
    glcnn_image_node *x = f->image;
    *channels = f->channels;
    while (f-- > features->at) {
        const unsigned outputs = channels_beside(f);
        glcnn_image_node *both[] = {decoder_resized(x, f->width, f->height), f->image};
        x = net_normalised(glcnn_concatenation_node(both, 2), 3, *channels + f->channels, outputs);
        *channels = outputs;
    }
    return x;
}
