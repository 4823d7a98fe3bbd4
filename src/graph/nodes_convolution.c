/* Nodes of convolution, fully connected layers and convolution transpose. Their descriptor is the
 * kernels' own affair, so these kernels come from their constructors: a node has no other
 * defaults. */
#include "glcnn/kernels/convolution.h"
#include "glcnn/kernels/convolution_transpose.h"

#include "graph/nodes.h"

typedef glcnn_status (*constructor)(glcnn_device *device,
                                    const struct glcnn_convolution_descriptor *descriptor,
                                    const struct glcnn_convolution_weights *weights,
                                    glcnn_kernel **kernel);

static glcnn_image_node *make(glcnn_image_node *source, constructor create,
                              const struct glcnn_convolution_descriptor *descriptor,
                              const struct glcnn_data_source *data_source)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status = create(unary_device(source), descriptor, NULL, &kernel);
    return unary_node_with_data(source, unary_constructed(source, status, kernel), data_source);
}

#define DEFINE_NODE(NAME)                                                                          \
    glcnn_image_node *glcnn_##NAME##_node(glcnn_image_node *source,                                \
                                          const struct glcnn_convolution_descriptor *descriptor,   \
                                          const struct glcnn_data_source *data_source)             \
    {                                                                                              \
        return make(source, glcnn_##NAME##_create, descriptor, data_source);                       \
    }

DEFINE_NODE(convolution)
DEFINE_NODE(fully_connected)
DEFINE_NODE(convolution_transpose)
