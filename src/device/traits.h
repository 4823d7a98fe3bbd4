/* What is known of a device beyond its limits: its compiler and its memory. */
#ifndef GLCNN_TRAITS_H
#define GLCNN_TRAITS_H

#include "glcnn/device.h"

/* Of the family that the strings of the driver name; of an unknown one, what suits every GPU. */
struct glcnn_device_traits traits_find(const char *vendor, const char *renderer);

/* The same by one name, of a GPU or of a family ("mali-bifrost", "unknown"); false if none fits. */
bool traits_of_name(const char *name, struct glcnn_device_traits *traits);
/* All families, for a message. */
void traits_list(char *text, size_t size);

#endif
