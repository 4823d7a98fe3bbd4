/* Filters that move numbers within an image. */
#ifndef GLCNN_ONNX_MOVES_H
#define GLCNN_ONNX_MOVES_H

#include "onnx/onnx.h"

/* The image with its axes exchanged: axis C, H or W of the result is axis source[axis] of `node`, each
 * of the three once. */
glcnn_image_node *move_axes(glcnn_image_node *node, const uint8_t source[AXES]);

/* A filter by the name of its kernel, with settings (glcnn_filter_node_create) as printf writes
 * them, and a label. False, with the sentence, where the library has none. */
bool move_by_name(struct call *call, struct image *image, const char *kernel, const char *suffix,
                  const char *settings, ...) __attribute__((format(printf, 5, 6)));

#endif
