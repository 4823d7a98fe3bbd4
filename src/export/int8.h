/* Models as int8: the ranges of their values, measured on pictures, and what is lost. */
#ifndef GLCNN_EXPORT_INT8_H
#define GLCNN_EXPORT_INT8_H

#include "export.h"
#include "task/pictures.h"

/* Where ranges come from. */
struct range_pictures {
    const struct pictures *pictures; /* the training part */
    const struct saved *saved;       /* how they are normalised */
    uint32_t count;                  /* evenly spread over the part; fewer where it has fewer */
    double percentile; /* this share of a value's numbers lies within, in percent; 100: all */
};

/* Measures the ranges of all values, on the device. False, with a message. */
bool ranges_measure(glcnn_device *device, const struct range_pictures *from,
                    struct glcnn_onnx_quantization *q, char error[GLCNN_ERROR_LENGTH]);

/* How far values of the int8 model are from those in float32: the root of the mean squares of the difference, of
 * that of the value; by the number of the range, NAN for one that is not stored. `errors` has q->range_count places.
 * On a few pictures. False, with a message. */
bool ranges_compare(glcnn_device *device, const struct range_pictures *from,
                    const struct glcnn_onnx_quantization *q, const uint8_t *int8, size_t size,
                    double *errors, char error[GLCNN_ERROR_LENGTH]);

/* Makes a file int8. `plain` is the same model with normalised pictures and an open batch; both are bytes of
 * glcnn_onnx_write_with without a record, and *bytes is replaced. Adds lines to the text. */
glcnn_status int8_make(const struct leaving *leaving, const uint8_t *plain, size_t plain_size,
                       uint8_t **bytes, size_t *size, struct text *text,
                       char error[GLCNN_ERROR_LENGTH]);

#endif
