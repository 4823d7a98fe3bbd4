/* Messages of a model as they are put together. After a failure, want of memory, calls do nothing. */
#ifndef GLCNN_ONNX_BUILD_H
#define GLCNN_ONNX_BUILD_H

#include "onnx/write.h"

/* A model with an empty graph. NULL: no memory. */
Onnx__ModelProto *build_model(void);

/* A node with one output, of that name too; inputs end with NULL. */
Onnx__NodeProto *build_node(struct writer *writer, Onnx__GraphProto *graph, const char *operator,
                            const char * output, const char *const *inputs);
void build_int(struct writer *writer, Onnx__NodeProto *node, const char *name, int64_t value);
void build_float(struct writer *writer, Onnx__NodeProto *node, const char *name, float value);
void build_text(struct writer *writer, Onnx__NodeProto *node, const char *name, const char *value);
void build_ints(struct writer *writer, Onnx__NodeProto *node, const char *name,
                const int64_t *values, size_t count);
/* An initialiser of float32, or of whole numbers where `values` is NULL. */
void build_tensor(struct writer *writer, Onnx__GraphProto *graph, const char *name,
                  const int64_t *dims, size_t rank, const float *values, const int64_t *wholes);
/* An initialiser of the type INT8 or INT32. */
void build_small_wholes(struct writer *writer, Onnx__GraphProto *graph, const char *name, int type,
                        const int64_t *dims, size_t rank, const int32_t *values);
/* An input or output N x dims[1] x ...; the batch is open. */
void build_value(struct writer *writer, Onnx__GraphProto *graph, bool is_output, const char *name,
                 const int64_t *dims, size_t rank);

#endif
