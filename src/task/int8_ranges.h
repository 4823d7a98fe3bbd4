/* Ranges of the values of a model on training pictures, by which its values become int8; and how far they are off
 * then. */
#ifndef GLCNN_TASK_INT8_RANGES_H
#define GLCNN_TASK_INT8_RANGES_H

#include <glcnn/onnx.h>

#include "pictures.h"

#define INT8_PICTURES 256 /* that ranges are measured on where nobody says how many */

/* Ranges are measured on these pictures. */
struct range_pictures {
    const struct pictures *pictures; /* the training part */
    const struct saved *saved;       /* how they are normalised */
    uint32_t count;                  /* evenly spread over the part; fewer where it has fewer */
    double percentile; /* this share of a value's numbers lies within, in percent; 100: all */
};

/* Measures the ranges of all values, on the device. False, with a message. */
bool ranges_measure(glcnn_device *device, const struct range_pictures *from,
                    struct glcnn_onnx_quantization *q, char error[GLCNN_ERROR_LENGTH]);

/* Measures on a few pictures how far values of the int8 model are from those in float32: the root of the mean squares
 * of the difference, as a share of that of the value; by the number of the range, NAN for one that is not stored.
 * `errors` has q->range_count places. False, with a message. */
bool ranges_compare(glcnn_device *device, const struct range_pictures *from,
                    const struct glcnn_onnx_quantization *q, const uint8_t *int8, size_t size,
                    double *errors, char error[GLCNN_ERROR_LENGTH]);

/* The ranges as a model file has them, to be freed; NULL: not enough memory. */
char *ranges_write(const struct glcnn_onnx_quantization *q);
/* Takes the ranges of a model file, by the nodes that make values. False, with a message: they are not those of all
 * of the model's values. */
bool ranges_read(const struct glcnn_checkpoint_bytes *text, struct glcnn_onnx_quantization *q,
                 char error[GLCNN_ERROR_LENGTH]);

#endif
