/* Sizes in comments are those of a layer's result for pictures of 28x28. A convolution keeps the
 * size of its source, or with a stride of 2 halves it, rounded up; pooling takes whole windows
 * only. What follows the size of the pictures is computed as the layers are made. */
#include "nets.h"

#include <string.h>

/* ---- Layers ---- */

struct convolution {
    unsigned size, inputs, outputs, stride, groups; /* stride and groups 0: 1 */
};

static glcnn_image_node *convolve(glcnn_image_node *source, struct convolution c)
{
    return glcnn_convolution_node(
        source,
        &(struct glcnn_convolution_descriptor){.kernel_width = c.size,
                                               .kernel_height = c.size,
                                               .input_feature_channels = c.inputs,
                                               .output_feature_channels = c.outputs,
                                               .stride_in_pixels_x = c.stride,
                                               .stride_in_pixels_y = c.stride,
                                               .groups = c.groups},
        NULL);
}

/* Width and height of an image. */
struct extent {
    unsigned x, y;
};

static glcnn_image_node *connect(glcnn_image_node *source, struct extent size, unsigned inputs,
                                 unsigned outputs)
{
    return glcnn_fully_connected_node(
        source,
        &(struct glcnn_convolution_descriptor){.kernel_width = size.x,
                                               .kernel_height = size.y,
                                               .input_feature_channels = inputs,
                                               .output_feature_channels = outputs},
        NULL);
}

/* Has the filter of a result take whole windows only. A NULL is the network's failure already. */
static glcnn_image_node *whole_windows(glcnn_image_node *result)
{
    glcnn_filter_node_set_padding(glcnn_image_node_filter(result), GLCNN_PADDING_SIZE_VALID_ONLY);
    return result;
}

static glcnn_image_node *pool_max(glcnn_image_node *source, unsigned size)
{
    return whole_windows(glcnn_pooling_max_node(source, size, size, size, size));
}

static glcnn_image_node *pool_average(glcnn_image_node *source, struct extent window)
{
    return whole_windows(
        glcnn_pooling_average_node(source, window.x, window.y, window.x, window.y));
}

/* The mean over windows that leave at most `most` pixels a side; *size becomes the result's. What
 * is small enough stays as it is. */
static glcnn_image_node *shrink(glcnn_image_node *source, struct extent *size, unsigned most)
{
    const struct extent window = {(size->x + most - 1) / most, (size->y + most - 1) / most};
    if (window.x == 1 && window.y == 1)
        return source;
    *size = (struct extent){size->x / window.x, size->y / window.y};
    return pool_average(source, window);
}

/* The rectifier has a derivative of 0 at 0, as in other frameworks. */
static const struct glcnn_neuron_descriptor rectifier = {.type = GLCNN_NEURON_TYPE_RELU, .c = 1};

static glcnn_image_node *rectify(glcnn_image_node *source)
{
    return glcnn_neuron_node(source, &rectifier);
}

/* Convolution and batch normalisation, with a ReLU behind it or none. */
static glcnn_image_node *normalised(glcnn_image_node *source, struct convolution c, bool relu)
{
    return glcnn_batch_normalization_node(convolve(source, c), 1e-5f, relu ? &rectifier : NULL,
                                          NULL);
}

/* ---- Networks ---- */

static const struct extent one = {1, 1}, two = {2, 2};

static void add_feature(struct features *features, glcnn_image_node *image, struct extent size,
                        unsigned channels)
{
    features->at[features->count++] = (struct feature){image, size.x, size.y, channels};
}

static struct extent size_of(const struct form *form)
{
    return (struct extent){form->width, form->height};
}

/* By whole windows of two, and by a stride of two. */
static struct extent halved_down(struct extent size)
{
    return (struct extent){size.x / 2, size.y / 2};
}

static struct extent halved_up(struct extent size)
{
    return (struct extent){(size.x + 1) / 2, (size.y + 1) / 2};
}

/* LeNet-5 (LeCun et al. 1998) with ReLU; pictures above its 28x28 have their last windows averaged.
 * The gradient of average pooling, as there, needs no image of its own: training takes a sixth less
 * memory than with max pooling. */
static void build_lenet(glcnn_image_node *image, const struct form *form, struct features *features)
{
    struct extent size = size_of(form);
    glcnn_image_node *x = rectify(convolve(image, (struct convolution){5, form->channels, 6}));
    add_feature(features, x, size, 6);
    x = pool_average(x, two); /* 14x14x6 */
    x = rectify(whole_windows(convolve(x, (struct convolution){5, 6, 16})));
    size = (struct extent){size.x / 2 - 4, size.y / 2 - 4};
    add_feature(features, x, size, 16);
    x = pool_average(x, two); /* 5x5x16 */
    add_feature(features, x, halved_down(size), 16);
}

static glcnn_image_node *classify_lenet(const struct feature *last, const struct form *form)
{
    struct extent size = {last->width, last->height};
    glcnn_image_node *x = shrink(last->image, &size, 5);
    x = rectify(connect(x, size, 16, 120));
    x = rectify(connect(x, one, 120, 84));
    return connect(x, one, 84, form->classes);
}

static void build_small(glcnn_image_node *image, const struct form *form, struct features *features)
{
    struct extent size = size_of(form);
    glcnn_image_node *x = normalised(image, (struct convolution){3, form->channels, 16}, true);
    add_feature(features, x, size, 16);
    x = pool_max(x, 2); /* 14x14x16 */
    x = normalised(x, (struct convolution){3, 16, 32}, true);
    add_feature(features, x, halved_down(size), 32);
    x = pool_max(x, 2); /* 7x7x32 */
    add_feature(features, x, halved_down(halved_down(size)), 32);
}

static glcnn_image_node *classify_small(const struct feature *last, const struct form *form)
{
    struct extent size = {last->width, last->height};
    glcnn_image_node *x = shrink(last->image, &size, 7);
    return connect(x, size, 32, form->classes);
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
    return rectify(glcnn_add_node(x, source));
}

/* The mean of each channel, then the classes. */
static glcnn_image_node *classify_means(const struct feature *last, const struct form *form)
{
    struct extent size = {last->width, last->height};
    return connect(shrink(last->image, &size, 1), one, last->channels, form->classes);
}

static void build_resnet8(glcnn_image_node *image, const struct form *form,
                          struct features *features)
{
    struct extent size = size_of(form);
    glcnn_image_node *x = normalised(image, (struct convolution){3, form->channels, 16}, true);
    x = residual(x, 16, 16, 1);
    add_feature(features, x, size, 16);
    x = residual(x, 16, 32, 2); /* 14x14x32 */
    add_feature(features, x, halved_up(size), 32);
    x = residual(x, 32, 64, 2); /* 7x7x64 */
    add_feature(features, x, halved_up(halved_up(size)), 64);
}

/* Halves the size if the stride is 2; *size becomes the result's. */
static glcnn_image_node *residual_stage(glcnn_image_node *source, unsigned inputs, unsigned outputs,
                                        unsigned stride, struct extent *size,
                                        struct features *features)
{
    glcnn_image_node *x = residual(source, inputs, outputs, stride);
    if (stride == 2)
        *size = halved_up(*size);
    add_feature(features, x, *size, outputs);
    return x;
}

/* Four stages of a residual block each, 32 to 256 channels, 1.2 million numbers. The first stage
 * keeps 33 to 64 pixels of the longer side: pictures above 64 pixels are halved once before its
 * result, those above 128 twice. What the last stage makes then sees a picture of 96 pixels whole. */
static void build_resnet10(glcnn_image_node *image, const struct form *form,
                           struct features *features)
{
    struct extent size = size_of(form);
    const unsigned longer = size.x > size.y ? size.x : size.y;
    const unsigned stem = longer > 64 ? 2 : 1, first = longer > 128 ? 2 : 1;
    glcnn_image_node *x =
        normalised(image, (struct convolution){3, form->channels, 32, stem}, true);
    if (stem == 2)
        size = halved_up(size);
    x = residual_stage(x, 32, 32, first, &size, features);
    x = residual_stage(x, 32, 64, 2, &size, features);
    x = residual_stage(x, 64, 128, 2, &size, features);
    residual_stage(x, 128, 256, 2, &size, features);
}

/* A convolution of each channel by itself, then one across channels (Howard et al. 2017). */
static glcnn_image_node *separable(glcnn_image_node *source, unsigned inputs, unsigned outputs,
                                   unsigned stride)
{
    glcnn_image_node *x =
        normalised(source, (struct convolution){3, inputs, inputs, stride, inputs}, true);
    return normalised(x, (struct convolution){1, inputs, outputs}, true);
}

static void build_mobilenet_tiny(glcnn_image_node *image, const struct form *form,
                                 struct features *features)
{
    const struct extent size = halved_up(size_of(form));
    glcnn_image_node *x = normalised(image, (struct convolution){3, form->channels, 16, 2}, true);
    /* 14x14x16 */
    x = separable(x, 16, 32, 1);
    add_feature(features, x, size, 32);
    x = separable(x, 32, 64, 2); /* 7x7x64 */
    x = separable(x, 64, 64, 1);
    add_feature(features, x, halved_up(size), 64);
}

/* ---- The table ---- */

static const struct net nets[] = {
    {"lenet", 12, true, build_lenet, classify_lenet},
    {"small", 4, false, build_small, classify_small},
    {"resnet8", 1, false, build_resnet8, classify_means},
    {"resnet10", 1, false, build_resnet10, classify_means},
    {"mobilenet-tiny", 1, false, build_mobilenet_tiny, classify_means}};
enum { NETS = sizeof nets / sizeof *nets };

const struct net *net_find(const char *name)
{
    for (size_t i = 0; i < NETS; i++)
        if (strcmp(nets[i].name, name) == 0)
            return &nets[i];
    return NULL;
}

uint32_t form_longer(const struct form *form)
{
    const uint32_t own = form->width > form->height ? form->width : form->height;
    return form->longer ? form->longer : own;
}

bool net_fits(const struct net *net, const struct form *form)
{
    return form->width >= net->least && form->height >= net->least;
}

const struct net *net_at(size_t i)
{
    return i < NETS ? &nets[i] : NULL;
}

size_t feature_values(const struct feature *feature)
{
    return (size_t)feature->width * feature->height * feature->channels;
}

struct features net_features(const struct net *net, glcnn_image_node *image,
                             const struct form *form)
{
    struct features features = {.net = net};
    net->build(image, form, &features);
    return features;
}

glcnn_image_node *net_classify(const struct features *features, const struct form *form)
{
    const struct feature *last = &features->at[features->count - 1];
    return features->net ? features->net->classify(last, form) : classify_means(last, form);
}

glcnn_image_node *net_build(const struct net *net, glcnn_image_node *image, const struct form *form)
{
    const struct features features = net_features(net, image, form);
    return net_classify(&features, form);
}

glcnn_image_node *net_convolve(glcnn_image_node *source, unsigned size, unsigned inputs,
                               unsigned outputs)
{
    return convolve(source, (struct convolution){size, inputs, outputs});
}

glcnn_image_node *net_normalised(glcnn_image_node *source, unsigned size, unsigned inputs,
                                 unsigned outputs)
{
    return normalised(source, (struct convolution){size, inputs, outputs}, true);
}
