/* Equations of Einsum: labels of axes. */
#ifndef GLCNN_ONNX_EQUATION_H
#define GLCNN_ONNX_EQUATION_H

#include "onnx/onnx.h"

/* The labels of each axis of two operands at most, and of the result. Letters; the axes of "..." are
 * called by digits, the last one 7. */
struct equation {
    size_t operands;
    char labels[2][GLCNN_ONNX_RANK + 1], result[GLCNN_ONNX_RANK + 1];
};

#define EQUATION_LENGTH 128

/* The node's attribute. */
bool equation_text(struct call *call, char text[EQUATION_LENGTH]);
/* Terms with commas between, for `operands` tensors of these ranks, then the result's behind "->". */
bool equation_read(struct call *call, const char *text, const uint32_t ranks[2],
                   struct equation *equation);

#endif
