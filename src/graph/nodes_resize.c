/* Nodes of resizing. */
#include "glcnn/kernels/resize.h"

#include "graph/nodes.h"

#define DEFINE_NODE(NAME)                                                                          \
    glcnn_image_node *glcnn_##NAME##_node(glcnn_image_node *source,                                \
                                          const struct glcnn_resize_parameters *parameters)        \
    {                                                                                              \
        glcnn_kernel *kernel = NULL;                                                               \
        if (!unary_device(source))                                                                 \
            return NULL;                                                                           \
        glcnn_status status = glcnn_##NAME##_create(unary_device(source), parameters, &kernel);    \
        return unary_node(source, unary_constructed(source, status, kernel));                      \
    }

DEFINE_NODE(resize_nearest)
DEFINE_NODE(resize_linear)
