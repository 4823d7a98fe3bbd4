/* For each grid: features -> two convolutions of 3x3 -> scores and distances. */
#include "detection_head.h"

#include <math.h>
#include <stdlib.h>

static glcnn_image_node *convolve(glcnn_image_node *source, uint32_t size, uint32_t inputs,
                                  uint32_t outputs)
{
    return glcnn_convolution_node(
        source,
        &(struct glcnn_convolution_descriptor){.kernel_width = size,
                                               .kernel_height = size,
                                               .input_feature_channels = inputs,
                                               .output_feature_channels = outputs},
        NULL);
}

static glcnn_image_node *normalise(glcnn_image_node *source)
{
    static const struct glcnn_neuron_descriptor rectifier = {.type = GLCNN_NEURON_TYPE_RELU,
                                                             .c = 1};
    return glcnn_batch_normalization_node(source, 1e-5f, &rectifier, NULL);
}

/* Features of as many channels on each grid, each with what the coarser ones know. */
static void make_pyramid(const struct detection_layout *layout, uint32_t channels,
                         const struct detection_features *features, glcnn_image_node *levels[])
{
    for (uint32_t i = layout->scales; i-- > 0;) {
        const struct glcnn_resize_parameters size = {.resized_width = layout->grids[i].columns,
                                                     .resized_height = layout->grids[i].rows};
        levels[i] = convolve(features[i].image, 1, features[i].channels, channels);
        if (i + 1 < layout->scales)
            levels[i] = glcnn_add_node(levels[i], glcnn_resize_nearest_node(levels[i + 1], &size));
    }
}

/* Sets the biases of the convolution that makes the scores: else the many locations without an object
 * would be all of the first steps. */
static bool begin_scores(glcnn_image_node *scores, uint32_t classes)
{
    glcnn_filter_node *filter = glcnn_image_node_filter(scores);
    float *biases = malloc(classes * sizeof *biases);
    for (uint32_t c = 0; biases && c < classes; c++)
        biases[c] = -logf(99);
    bool good = filter && biases &&
                glcnn_kernel_set_vector(glcnn_filter_node_kernel(filter), "biases", biases,
                                        classes) == GLCNN_SUCCESS;
    free(biases);
    return good;
}

void detection_join(glcnn_image_node *distances, glcnn_image_node *scores,
                    struct detection_outputs *outputs)
{
    outputs->scores = scores;
    outputs->distances = glcnn_neuron_soft_plus_node(distances, 1, 1);
    glcnn_image_node *const both[] = {outputs->distances, glcnn_neuron_sigmoid_node(scores)};
    outputs->predictions = glcnn_concatenation_node(both, 2);
}

static struct detection_outputs predict(glcnn_image_node *features, uint32_t inputs,
                                        uint32_t channels, uint32_t classes)
{
    struct detection_outputs outputs = {0};
    glcnn_image_node *x = normalise(convolve(features, 3, inputs, channels));
    x = normalise(convolve(x, 3, channels, channels));
    glcnn_image_node *scores = convolve(x, 1, channels, classes);
    detection_join(convolve(x, 1, channels, 4), scores, &outputs);
    if (!outputs.predictions || !begin_scores(outputs.scores, classes))
        return (struct detection_outputs){NULL};
    return outputs;
}

void detection_head(const struct detection_layout *layout, uint32_t channels,
                    const struct detection_features *features, struct detection_outputs *outputs)
{
    glcnn_image_node *levels[DETECTION_SCALES] = {features[0].image};
    uint32_t inputs = layout->scales > 1 ? channels : features[0].channels;
    if (layout->scales > 1)
        make_pyramid(layout, channels, features, levels);
    for (uint32_t i = 0; i < layout->scales; i++)
        outputs[i] = predict(levels[i], inputs, channels, layout->classes);
}
