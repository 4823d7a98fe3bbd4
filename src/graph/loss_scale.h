/* Loss scaling: the scale that a graph's losses are multiplied with. */
#ifndef GLCNN_LOSS_SCALE_H
#define GLCNN_LOSS_SCALE_H

#include "graph/graph.h"

bool loss_scale_is_used(const struct glcnn_graph *graph);
/* Is it in its range? A message if not. */
glcnn_status loss_scale_check(struct glcnn_device *device,
                              const struct glcnn_dynamic_loss_scale *scale);
void loss_scale_set(struct glcnn_graph *graph, const struct glcnn_dynamic_loss_scale *scale);
/* After a step whose gradients were finite: counts it, and grows the scale. */
void loss_scale_count_good(struct glcnn_graph *graph);
/* After a step that was skipped since they were not: lowers the scale. An error where it is the least
 * already. */
glcnn_status loss_scale_count_skipped(struct glcnn_graph *graph);

#endif
