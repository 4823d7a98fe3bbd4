/* Graphs on Fashion-MNIST: batches in and values out. */
#ifndef GLCNN_TASK_NETWORK_H
#define GLCNN_TASK_NETWORK_H

#include <glcnn/glcnn.h>

/* The shapes of a batch's images and labels. */
struct glcnn_image_descriptor network_images(uint32_t batch);
struct glcnn_image_descriptor network_labels(uint32_t batch);
/* Makes both: the sources of a training graph; one for inference takes the first alone. */
glcnn_status network_sources(glcnn_device *device, uint32_t batch, glcnn_image *sources[2]);

/* Runs a batch, all values of the sources: images [batch][height][width][channels], and labels
 * [batch] or NULL where the graph has none. Reads `count` values of a result image. */
glcnn_status network_run(glcnn_graph *graph, glcnn_image *const sources[2], const float *images,
                         const uint32_t *labels, glcnn_image_node *result, float *values,
                         size_t count);

/* The first class of the largest score. */
uint32_t network_best(const float *scores, uint32_t classes);

#endif
