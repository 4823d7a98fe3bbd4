/* Filters that move numbers within an image. */
#ifndef GLCNN_ONNX_MOVES_H
#define GLCNN_ONNX_MOVES_H

#include "onnx/onnx.h"

/* The image with its axes exchanged: axis C, H or W of the result is axis source[axis] of `node`, each
 * of the three once. */
glcnn_image_node *move_axes(glcnn_image_node *node, const uint8_t source[AXES]);

/* A filter by the name of its kernel, with settings (glcnn_filter_node_create) as printf writes
 * them, and a label. False, with the message, where the library has none. */
bool move_by_name(struct call *call, struct image *image, const char *kernel, const char *suffix,
                  const char *settings, ...) __attribute__((format(printf, 5, 6)));

/* The numbers start, start + step .. of axis i, `size` of them. An axis that is none of the image by
 * itself becomes its channels. */
bool move_cut(struct call *call, struct image *image, struct shape *shape, int i, int64_t start,
              int64_t step, int64_t size, const char *suffix);
/* More of axis i at both ends, as the kernel's pad_mode and pad_constant say. */
bool move_pad(struct call *call, struct image *image, struct shape *shape, int i,
              const int64_t pads[2], const char *mode, float constant);

#endif
