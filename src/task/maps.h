/* The images that the filters of a network make, with their extents. */
#ifndef GLCNN_TASK_MAPS_H
#define GLCNN_TASK_MAPS_H

#include "model.h"

struct map {
    glcnn_image_node *image;
    const char *label; /* of the filter that makes it */
    struct form form;  /* width, height and channels */
};

struct maps {
    size_t count;
    struct map *at;
};

/* Finds the maps of a model that takes one image, for a picture of its form, in the order of the filters.
 * Nothing is computed, and weights need not be there. Release with maps_free, after a failure too. False:
 * the device has the message. */
bool maps_find(const struct model *model, struct maps *maps);
/* Finds those of the first filters alone. */
bool maps_find_first(const struct model *model, size_t filters, struct maps *maps);
void maps_free(struct maps *maps);

/* The sum of two images, with which a residual block ends. */
bool map_is_sum(const struct map *map);

#endif
