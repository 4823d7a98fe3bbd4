/* Nodes of soft-max and log-soft-max, which have no parameters. */
#include "glcnn/kernels/soft_max.h"

#include "graph/node.h"

glcnn_image_node *glcnn_soft_max_node(glcnn_image_node *source)
{
    return glcnn_node(source, "soft_max", NULL);
}

glcnn_image_node *glcnn_log_soft_max_node(glcnn_image_node *source)
{
    return glcnn_node(source, "log_soft_max", NULL);
}
