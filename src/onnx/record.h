/* What is remembered of a model beyond its network, as it is built. */
#ifndef GLCNN_ONNX_RECORD_H
#define GLCNN_ONNX_RECORD_H

#include "onnx/onnx.h"

/* Begins with the model's skeleton empty. */
bool record_begin(struct reader *reader);
void record_drop(struct builder *builder);
/* One vector of a filter is this constant. */
bool record_note(struct call *call, const char *filter, const char *vector,
                 const struct value *value, const struct layout *layout);
/* An initialiser that does not train; once for each name. */
bool record_frozen(struct reader *reader, const char *name, const char *reason);
/* Inputs and outputs of the model. */
bool record_image(struct reader *reader, bool is_output, const struct value *value);
/* The record, with the skeleton of the model, which loses the data that filters have. */
bool record_finish(struct reader *reader, Onnx__ModelProto *model,
                   struct glcnn_onnx_record **record);

#endif
