/* What the passes and the references of crops share. */
#ifndef GLCNN_KERNELS_CROP_AND_RESIZE_INTERNAL_H
#define GLCNN_KERNELS_CROP_AND_RESIZE_INTERNAL_H

#include "glcnn/kernels/crop_and_resize.h"

#include "kernels/elements.h"

/* Where the descriptors' arguments have the regions, behind those of elements.h: a vector, or the
 * forward kernel's secondary source, which its gradient is given as its source image. */
enum {
    CROP_REGIONS = ELEMENT_RESULT + 1,
    CROP_GRADIENT_REGIONS = ELEMENT_DESTINATION + 1,
    CROP_GRADIENT_REGION_IMAGE = ELEMENT_IMAGE
};

/* Have the images regions of their own? */
bool crop_has_region_image(const struct operation *operation);
/* Regions of an image. */
uint32_t crop_region_count(const struct operation *operation);

#endif
