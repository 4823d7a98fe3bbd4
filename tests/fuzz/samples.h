/* Kernels and networks to serialise: for the tests, and as seeds for the fuzz target. Between them
 * they have every field that is written. NULL where one cannot be made.
 */
#ifndef GLCNN_TESTS_SAMPLES_H
#define GLCNN_TESTS_SAMPLES_H

#include <glcnn/glcnn.h>
#include <glcnn/serialize.h>
#include <stdlib.h>

/* Gives each vector whose length is known values in -1 .. 1 that are not equal. */
static inline bool sample_fill(glcnn_kernel *kernel)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "slopes", NULL};
    for (size_t v = 0; names[v]; v++) {
        glcnn_buffer *buffer = glcnn_kernel_vector(kernel, names[v]);
        size_t count = glcnn_buffer_size(buffer) / 4;
        float *values = buffer ? malloc(count * 4) : NULL;
        for (size_t i = 0; values && i < count; i++)
            values[i] = (float)((i * 37 + 11 * v) % 64) / 32 - 1;
        bool good =
            !values || glcnn_kernel_set_vector(kernel, names[v], values, count) == GLCNN_SUCCESS;
        free(values);
        if (!good)
            return false;
    }
    return true;
}

static inline void sample_fill_all(glcnn_network *network)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)); i++)
        if (!glcnn_filter_node_forward(filter, NULL))
            sample_fill(glcnn_filter_node_kernel(filter));
}

/* The network, unless it keeps a failure. */
static inline glcnn_network *sample_checked(glcnn_network *network)
{
    if (network && glcnn_network_status(network) != GLCNN_SUCCESS)
        glcnn_network_destroy(&network);
    return network;
}

/* A small CNN on images of 8x8x1 and labels of 5 classes, with its training graph. The loss is
 * filter 8. */
#define SAMPLE_LOSS 8
static inline glcnn_network *sample_training(glcnn_device *on)
{
    glcnn_network *network = NULL;
    glcnn_filter_node *ends[4];
    if (glcnn_network_create(on, &network) != GLCNN_SUCCESS)
        return NULL;
    glcnn_image_node *labels = glcnn_image_node_create(network, "labels");
    glcnn_image_node *y = glcnn_image_node_create(network, "image");
    y = glcnn_node(y, "convolution",
                   "input_feature_channels=1 output_feature_channels=4 kernel_width=3 "
                   "kernel_height=3");
    y = glcnn_node(y, "batch_normalization", "epsilon=1e-5 neuron_type=relu");
    y = glcnn_node(y, "pooling_max",
                   "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2 "
                   "padding=valid");
    glcnn_image_node *left = glcnn_node(y, "neuron", "neuron_type=tanh");
    glcnn_image_node *right = glcnn_node(y, "dropout", "seed=18446744073709551615");
    y = glcnn_node_binary(left, right, "add", NULL);
    glcnn_image_node *const both[] = {y, left};
    y = glcnn_filter_node_result(glcnn_filter_node_create(network, "concatenation", NULL, both, 2));
    y = glcnn_node(y, "fully_connected",
                   "input_feature_channels=8 output_feature_channels=5 kernel_width=4 "
                   "kernel_height=4");
    glcnn_image_node *const pair[] = {y, labels};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        network, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.1", pair, 2);
    if (glcnn_training_graph_with_source_gradient(loss, NULL, NULL, NULL, ends, 4) > 0)
        sample_fill_all(network);
    else
        glcnn_network_destroy(&network);
    return sample_checked(network);
}

/* Everything that training above has not: formats, flags, styles, links of states, a filter of
 * three sources, a handle that is not ASCII. */
static inline glcnn_network *sample_features(glcnn_device *on)
{
    glcnn_network *network = NULL;
    if (glcnn_network_create(on, &network) != GLCNN_SUCCESS)
        return NULL;
    glcnn_image_node *x = glcnn_image_node_create(network, "\xc3\xa9t\xc3\xa9");
    glcnn_image_node *down =
        glcnn_node(x, "convolution",
                   "input_feature_channels=4 output_feature_channels=4 kernel_width=2 "
                   "kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2");
    glcnn_image_node *up =
        glcnn_node(down, "convolution_transpose",
                   "input_feature_channels=4 output_feature_channels=4 kernel_width=2 "
                   "kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2");
    glcnn_image_node *const three[] = {x, up, x};
    glcnn_image_node *all = glcnn_filter_node_result(
        glcnn_filter_node_create(network, "concatenation", NULL, three, 3));
    if (glcnn_network_status(network) != GLCNN_SUCCESS || !all)
        return sample_checked(network);
    glcnn_filter_node *first = glcnn_image_node_filter(down), *second = glcnn_image_node_filter(up);
    glcnn_state_node *state = glcnn_filter_node_result_state(first);
    glcnn_image_node_set_format(x, GLCNN_CHANNEL_FORMAT_FLOAT16);
    glcnn_image_node_set_stop_gradient(x, true);
    glcnn_image_node_set_format(all, GLCNN_CHANNEL_FORMAT_FLOAT32);
    glcnn_image_node_set_export_from_graph(down, true);
    glcnn_state_node_set_export_from_graph(state, true);
    glcnn_filter_node_set_source_state(second, state);
    glcnn_filter_node_set_training_style(first, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU);
    glcnn_filter_node_set_training_style(second, GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
    glcnn_filter_node_set_label(first, "stem");
    glcnn_kernel_set_label(glcnn_filter_node_kernel(first), "kernel of stem");
    sample_fill_all(network);
    return sample_checked(network);
}

#endif
