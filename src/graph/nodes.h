/* Typed constructors of nodes are declared in the headers of their families, include/glcnn/kernels, and stand above
 * kernels, in this room. The build makes them of these declarations (src/kernels/constructors.awk); nodes_FAMILY.c
 * has those whose arguments mean more than values of parameters by their names. The rest of the room knows kernels by
 * what their descriptors say. */
#ifndef GLCNN_NODES_INTERNAL_H
#define GLCNN_NODES_INTERNAL_H

#include "graph/node.h"

/* A node of a kernel with a node's defaults and these values, which are checked, and a data source unless that is NULL.
 * NULL where a source is; NULL with the failure kept where the network has failed or a value is refused: the data
 * source's context is then the caller's still. */
struct glcnn_filter_node *node_of_values(const char *kernel,
                                         struct glcnn_image_node *const *sources,
                                         size_t source_count, const struct kernel_value *values,
                                         const struct glcnn_data_source *data_source);

/* The same of a kernel that its own constructor makes and checks, which is given this device; NULL where no node can be
 * made of these sources. And the node, which takes over the kernel also on failure: `status` is what the constructor
 * returned. */
struct glcnn_device *node_device(const char *kernel, struct glcnn_image_node *const *sources,
                                 size_t source_count);
struct glcnn_filter_node *node_of_kernel(struct glcnn_image_node *const *sources,
                                         size_t source_count, glcnn_status status,
                                         struct glcnn_kernel *kernel,
                                         const struct glcnn_data_source *data_source);

#endif
