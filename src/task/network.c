/* Weights of networks to begin with, and the images that their graphs take. */
#include "network.h"

#include "fashion.h"

struct glcnn_image_descriptor network_images(uint32_t batch)
{
    return (struct glcnn_image_descriptor){.width = FASHION_SIDE,
                                           .height = FASHION_SIDE,
                                           .feature_channels = 1,
                                           .number_of_images = batch};
}

struct glcnn_image_descriptor network_labels(uint32_t batch)
{
    return (struct glcnn_image_descriptor){.feature_channels = FASHION_CLASSES,
                                           .number_of_images = batch};
}

glcnn_status network_sources(glcnn_device *device, uint32_t batch, glcnn_image *sources[2])
{
    const struct glcnn_image_descriptor images = network_images(batch),
                                        labels = network_labels(batch);
    glcnn_status status = glcnn_image_create(device, &images, &sources[0]);
    return status != GLCNN_SUCCESS ? status : glcnn_image_create(device, &labels, &sources[1]);
}

static glcnn_status write_all(glcnn_image *image, const float *values)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    size_t count = (size_t)d->width * d->height * d->feature_channels * d->number_of_images;
    return glcnn_image_write_bytes(image, NULL, values, sizeof *values * count);
}

glcnn_status network_run(glcnn_graph *graph, glcnn_image *const sources[2], const float *images,
                         const uint32_t *labels, glcnn_image_node *result, float *values,
                         size_t count)
{
    glcnn_status status = write_all(sources[0], images);
    if (status == GLCNN_SUCCESS && labels)
        status = glcnn_image_write_classes(
            sources[1], NULL, labels, glcnn_image_get_descriptor(sources[1])->number_of_images);
    if (status == GLCNN_SUCCESS)
        status = glcnn_graph_execute(graph, sources, NULL, NULL);
    if (status == GLCNN_SUCCESS)
        status = glcnn_graph_wait(graph);
    return status != GLCNN_SUCCESS ? status
                                   : glcnn_image_read_bytes(glcnn_graph_image(graph, result), NULL,
                                                            values, sizeof *values * count);
}

uint32_t network_best(const float *scores, uint32_t classes)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < classes; k++)
        if (scores[k] > scores[best])
            best = k;
    return best;
}
