/* What typed constructors of nodes share. They are declared in the headers of their families,
 * include/glcnn/kernels, and stand here, in nodes_FAMILY.c, because nodes are above kernels. The
 * rest of the room knows kernels by what their descriptors say; these files know the fields of
 * their family's parameters, through its public header.
 *
 * Each makes a kernel with a node's defaults, sets its fields and makes the node, which checks
 * their ranges. */
#ifndef GLCNN_NODES_INTERNAL_H
#define GLCNN_NODES_INTERNAL_H

#include "graph/node.h"

/* A kernel with a node's defaults; NULL, with the failure kept, where the network has failed or no
 * node can be made of these. */
struct glcnn_kernel *node_kernel(struct glcnn_network *network, const char *kernel,
                                 struct glcnn_image_node *const *sources, size_t source_count);
/* Its node, unless a field of it is wrong: takes the kernel over, also on failure. NULL for no
 * kernel. */
struct glcnn_filter_node *node_finish(struct glcnn_network *network, struct glcnn_kernel *kernel,
                                      struct glcnn_image_node *const *sources, size_t source_count);

/* The same for one source, giving the result. */
static inline struct glcnn_kernel *unary_kernel(struct glcnn_image_node *source, const char *kernel)
{
    return source ? node_kernel(source->network, kernel, &source, 1) : NULL;
}

static inline struct glcnn_image_node *unary_node(struct glcnn_image_node *source,
                                                  struct glcnn_kernel *kernel)
{
    return kernel ? glcnn_filter_node_result(node_finish(source->network, kernel, &source, 1))
                  : NULL;
}

/* The same of a kernel whose constructor is what checks its fields: it is given the device, NULL
 * where no node can be made, and `status` is what it returned. */
static inline struct glcnn_device *unary_device(const struct glcnn_image_node *source)
{
    return source && source->network->status == GLCNN_SUCCESS ? source->network->device : NULL;
}

static inline struct glcnn_kernel *
unary_constructed(struct glcnn_image_node *source, glcnn_status status, struct glcnn_kernel *kernel)
{
    return status == GLCNN_SUCCESS ? kernel : network_keep_failure(source->network, status);
}

/* The same with a data source, NULL for none. After a failure its context is the caller's. */
struct glcnn_image_node *unary_node_with_data(struct glcnn_image_node *source,
                                              struct glcnn_kernel *kernel,
                                              const struct glcnn_data_source *data_source);

#endif
