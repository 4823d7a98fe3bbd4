/* How the numbers of a tensor lie in a vector of a kernel: struct glcnn_onnx_parameter's axes. */
#ifndef GLCNN_ONNX_LAYOUT_H
#define GLCNN_ONNX_LAYOUT_H

#include <glcnn/onnx.h>

struct layout {
    uint32_t axes;
    int64_t size[GLCNN_ONNX_RANK], stride[GLCNN_ONNX_RANK], offset;
    float scale;                           /* 0: 1 */
    int32_t output_axis, output_dimension; /* -1: none */
};

/* Steps through the places of elements, in the tensor's order, beginning with index 0 at `offset`. */
int64_t layout_next(const struct layout *layout, int64_t index[GLCNN_ONNX_RANK], int64_t place);
/* Does each of `elements` have a place within `count` numbers? */
bool layout_fits(const struct layout *layout, size_t elements, size_t count);

#endif
