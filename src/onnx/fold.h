/* What operators of constants share: a walk through tensors, and what it may cost. */
#ifndef GLCNN_ONNX_FOLD_H
#define GLCNN_ONNX_FOLD_H

#include "onnx/onnx.h"

#define WALK_MOST 3

/* Elements of a tensor one after the other, and where each lies in others, by a stride for each axis. */
struct walk {
    uint32_t rank;
    int64_t size[GLCNN_ONNX_RANK], index[GLCNN_ONNX_RANK];
    int64_t stride[WALK_MOST][GLCNN_ONNX_RANK];
    int64_t at[WALK_MOST];
};

/* Through the stored elements of a tensor of this shape; strides are 0. */
struct walk walk_through(const struct shape *shape);
/* Other k is broadcast to it. */
void walk_broadcast(struct walk *walk, size_t k, const struct shape *part);
void walk_next(struct walk *walk);

/* Strides of a tensor's axes, row-major. */
void fold_strides(const struct shape *shape, int64_t stride[GLCNN_ONNX_RANK]);
/* Zeros of the same type. */
struct constant *fold_like(struct call *call, const struct shape *shape, const struct constant *x);
/* Refuses what takes more steps than a file of this size may. */
bool fold_work(struct call *call, uint64_t steps);
/* Input i, and the axis of it that the attribute names; false where it has none. */
bool fold_axis(struct call *call, size_t i, int64_t otherwise, const struct constant **x,
               int *axis);
/* Numbers before the axis, along it, and behind it. */
struct parts {
    size_t before, size, behind;
};
struct parts fold_parts(const struct shape *shape, int axis);

#endif
