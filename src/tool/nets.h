/* The networks that `glcnn train` knows, written with nodes: 28x28x1 pixels to ten scores. */
#ifndef GLCNN_TOOL_NETS_H
#define GLCNN_TOOL_NETS_H

#include <glcnn/glcnn.h>

struct net {
    const char *name;
    glcnn_image_node *(*build)(glcnn_image_node *image); /* returns the scores */
};

/* By name; NULL if there is none. */
const struct net *net_find(const char *name);
/* The names, "lenet, small ...". */
void net_names(char *text, size_t size);

#endif
