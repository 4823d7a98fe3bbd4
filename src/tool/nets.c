/* Sizes in comments are those of a layer's result. A convolution keeps the size of its source, or
 * with a stride of 2 halves it; pooling takes whole windows only. */
#include "nets.h"

#include <stdio.h>
#include <string.h>

/* ---- Layers ---- */

struct convolution {
    unsigned size, inputs, outputs, stride, groups; /* stride and groups 0: 1 */
    const char *more;                               /* further settings, or NULL */
};

static glcnn_image_node *convolve(glcnn_image_node *source, struct convolution c)
{
    char settings[256];
    unsigned stride = c.stride ? c.stride : 1;
    snprintf(settings, sizeof settings,
             "kernel_width=%u kernel_height=%u input_feature_channels=%u "
             "output_feature_channels=%u stride_in_pixels_x=%u stride_in_pixels_y=%u groups=%u %s",
             c.size, c.size, c.inputs, c.outputs, stride, stride, c.groups ? c.groups : 1,
             c.more ? c.more : "");
    return glcnn_node(source, "convolution", settings);
}

static glcnn_image_node *connect(glcnn_image_node *source, unsigned size, unsigned inputs,
                                 unsigned outputs)
{
    char settings[160];
    snprintf(settings, sizeof settings,
             "kernel_width=%u kernel_height=%u input_feature_channels=%u "
             "output_feature_channels=%u",
             size, size, inputs, outputs);
    return glcnn_node(source, "fully_connected", settings);
}

static glcnn_image_node *pool(glcnn_image_node *source, const char *kernel, unsigned size)
{
    char settings[160];
    snprintf(settings, sizeof settings,
             "kernel_width=%u kernel_height=%u stride_in_pixels_x=%u stride_in_pixels_y=%u "
             "padding=valid",
             size, size, size, size);
    return glcnn_node(source, kernel, settings);
}

static glcnn_image_node *rectify(glcnn_image_node *source)
{
    return glcnn_node(source, "neuron", "neuron_type=relu");
}

/* Convolution and batch normalisation, with a ReLU behind it or none. */
static glcnn_image_node *normalised(glcnn_image_node *source, struct convolution c, bool relu)
{
    return glcnn_node(convolve(source, c), "batch_normalization",
                      relu ? "epsilon=1e-5 neuron_type=relu" : "epsilon=1e-5");
}

/* ---- Networks ---- */

/* LeNet-5 (LeCun et al. 1998) with ReLU. Average pooling, as there, needs its source no more once
 * it is done: training takes a fifth less memory than with max pooling. */
static glcnn_image_node *build_lenet(glcnn_image_node *image)
{
    glcnn_image_node *x = rectify(convolve(image, (struct convolution){5, 1, 6}));
    x = pool(x, "pooling_average", 2); /* 14x14x6 */
    x = rectify(convolve(x, (struct convolution){5, 6, 16, .more = "padding=valid"}));
    x = pool(x, "pooling_average", 2); /* 5x5x16 */
    x = rectify(connect(x, 5, 16, 120));
    x = rectify(connect(x, 1, 120, 84));
    return connect(x, 1, 84, 10);
}

static glcnn_image_node *build_small(glcnn_image_node *image)
{
    glcnn_image_node *x = normalised(image, (struct convolution){3, 1, 16}, true);
    x = pool(x, "pooling_max", 2); /* 14x14x16 */
    x = normalised(x, (struct convolution){3, 16, 32}, true);
    x = pool(x, "pooling_max", 2); /* 7x7x32 */
    return connect(x, 7, 32, 10);
}

/* relu(F(x) + x), F two convolutions (He et al. 2016); where the size or the channels change, x
 * goes through a projection. */
static glcnn_image_node *residual(glcnn_image_node *source, unsigned inputs, unsigned outputs,
                                  unsigned stride)
{
    glcnn_image_node *x =
        normalised(source, (struct convolution){3, inputs, outputs, stride}, true);
    x = normalised(x, (struct convolution){3, outputs, outputs}, false);
    if (inputs != outputs || stride != 1)
        source = normalised(source, (struct convolution){1, inputs, outputs, stride}, false);
    return rectify(glcnn_node_binary(x, source, "add", NULL));
}

static glcnn_image_node *build_resnet8(glcnn_image_node *image)
{
    glcnn_image_node *x = normalised(image, (struct convolution){3, 1, 16}, true);
    x = residual(x, 16, 16, 1);
    x = residual(x, 16, 32, 2); /* 14x14x32 */
    x = residual(x, 32, 64, 2); /* 7x7x64 */
    x = pool(x, "pooling_average", 7);
    return connect(x, 1, 64, 10);
}

/* A convolution of each channel by itself, then one across channels (Howard et al. 2017). */
static glcnn_image_node *separable(glcnn_image_node *source, unsigned inputs, unsigned outputs,
                                   unsigned stride)
{
    glcnn_image_node *x =
        normalised(source, (struct convolution){3, inputs, inputs, stride, inputs}, true);
    return normalised(x, (struct convolution){1, inputs, outputs}, true);
}

static glcnn_image_node *build_mobilenet_tiny(glcnn_image_node *image)
{
    glcnn_image_node *x = normalised(image, (struct convolution){3, 1, 16, 2}, true); /* 14x14x16 */
    x = separable(x, 16, 32, 1);
    x = separable(x, 32, 64, 2); /* 7x7x64 */
    x = separable(x, 64, 64, 1);
    x = pool(x, "pooling_average", 7);
    return connect(x, 1, 64, 10);
}

/* ---- The table ---- */

static const struct net nets[] = {{"lenet", build_lenet},
                                  {"small", build_small},
                                  {"resnet8", build_resnet8},
                                  {"mobilenet-tiny", build_mobilenet_tiny}};
enum { NETS = sizeof nets / sizeof *nets };

const struct net *net_find(const char *name)
{
    for (size_t i = 0; i < NETS; i++)
        if (strcmp(nets[i].name, name) == 0)
            return &nets[i];
    return NULL;
}

void net_names(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < NETS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", nets[i].name);
}
