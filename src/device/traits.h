/* What is known of a device beyond its limits: its compiler and its memory. */
#ifndef GLCNN_TRAITS_H
#define GLCNN_TRAITS_H

#include "glcnn/device.h"

/* Of the family that the strings of the driver name; of an unknown one, what suits every GPU. */
struct glcnn_device_traits traits_find(const char *vendor, const char *renderer);

#endif
