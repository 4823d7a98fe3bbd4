/* A random projection, as a convolution of 1x1. */
#include "anomaly_projection.h"

#include <glcnn/kernels/convolution.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"

static bool good(glcnn_status status)
{
    return status == GLCNN_SUCCESS;
}

static bool set_signs(const struct projection *p, uint32_t channels, uint64_t seed)
{
    const size_t count = (size_t)p->channels * channels;
    const float size = (float)(1 / sqrt(p->channels));
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(p->result));
    float *signs = malloc(count * sizeof *signs);
    for (size_t i = 0; signs && i < count; i++)
        signs[i] = random_next(&seed) >> 63 ? size : -size;
    bool set = signs && good(glcnn_kernel_set_vector(kernel, "weights", signs, count));
    free(signs);
    return set;
}

bool projection_create(glcnn_device *device, uint32_t channels, uint64_t seed, struct projection *p)
{
    const struct glcnn_convolution_descriptor of = {.kernel_width = 1,
                                                    .kernel_height = 1,
                                                    .input_feature_channels = channels,
                                                    .output_feature_channels = PROJECTION_CHANNELS,
                                                    .without_biases = true};
    *p = (struct projection){.channels = channels};
    if (channels <= PROJECTION_CHANNELS)
        return true;
    p->channels = PROJECTION_CHANNELS;
    if (!good(glcnn_network_create(device, &p->network)))
        return false;
    p->result = glcnn_convolution_node(glcnn_image_node_create(p->network, "patches"), &of, NULL);
    const struct glcnn_graph_descriptor descriptor = {.results = &p->result, .result_count = 1};
    return good(glcnn_network_status(p->network)) && set_signs(p, channels, seed) &&
           good(glcnn_graph_create(p->network, &descriptor, &p->graph));
}

void projection_destroy(struct projection *p)
{
    glcnn_graph_destroy(&p->graph);
    glcnn_network_destroy(&p->network);
}

glcnn_image *projection_run(const struct projection *p, glcnn_image *patches)
{
    glcnn_image *const sources[] = {patches};
    if (!p->graph)
        return patches;
    return good(glcnn_graph_execute(p->graph, sources, NULL, NULL))
               ? glcnn_graph_image(p->graph, p->result)
               : NULL;
}
