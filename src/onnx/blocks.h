/* Blocks of channels that become pixels, and back: DepthToSpace and SpaceToDepth. */
#ifndef GLCNN_ONNX_BLOCKS_H
#define GLCNN_ONNX_BLOCKS_H

#include "onnx/onnx.h"

struct blocks {
    int64_t size;
    bool to_space, is_crd;
};

/* What the node says, and the shape of its result (slicing.c). */
bool blocks_read(struct call *call, const struct shape *from, struct blocks *blocks,
                 struct shape *to);

#endif
