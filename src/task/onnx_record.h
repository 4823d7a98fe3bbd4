/* What a model file remembers of the ONNX file that it was imported from: its record, but for the
 * skeleton, as text, so that exporting gives the file back. */
#ifndef GLCNN_TASK_ONNX_RECORD_H
#define GLCNN_TASK_ONNX_RECORD_H

#include <glcnn/onnx.h>

/* JSON, to be released with free; NULL where memory is short. */
char *onnx_record_text(const struct glcnn_onnx_record *record);

/* The record of such a text, which need not end with a NUL, and a skeleton, which must outlive it.
 * NULL: it is none, or memory is short. What the text says is for glcnn_onnx_write to check. */
struct glcnn_onnx_record *onnx_record_parse(const char *text, size_t length,
                                            const uint8_t *skeleton, size_t skeleton_size);
void onnx_record_free(struct glcnn_onnx_record *record);

#endif
