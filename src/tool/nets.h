/* The networks that `glcnn train` knows, written with nodes: pictures of any form to a score for
 * each class. */
#ifndef GLCNN_TOOL_NETS_H
#define GLCNN_TOOL_NETS_H

#include <glcnn/glcnn.h>

/* What goes in and comes out. */
struct form {
    uint32_t width, height, channels; /* of a picture */
    uint32_t classes;
};

struct net {
    const char *name;
    uint32_t least; /* width and height that it needs */
    glcnn_image_node *(*build)(glcnn_image_node *image, const struct form *form); /* scores */
};

/* By name; NULL if there is none. */
const struct net *net_find(const char *name);
/* Whether pictures of this form are large enough for it. */
bool net_fits(const struct net *net, const struct form *form);
/* Number i; NULL beyond the last. */
const struct net *net_at(size_t i);

#endif
