/* Layers that read the same parameters. */
#ifndef GLCNN_ONNX_SHARING_H
#define GLCNN_ONNX_SHARING_H

#include <glcnn/kernels/convolution.h>

#include "onnx/onnx.h"

/* A layer before its filter is made. */
struct layer {
    const char *kernel; /* its name */
    const struct glcnn_convolution_descriptor *descriptor;
    struct glcnn_padding_pixels pad;
    const struct value *weights, *biases; /* biases NULL: it has none */
};

/* The kernel of an earlier layer that is the same and reads the same parameters, which train; NULL: there
 * is none. */
glcnn_kernel *sharing_find(struct call *call, const struct layer *layer);
/* Was the kernel found so? Nothing of it may change then. */
bool sharing_is(const struct reader *reader, const glcnn_kernel *kernel);

#endif
