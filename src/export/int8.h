/* Models as int8, and what is lost. */
#ifndef GLCNN_EXPORT_INT8_H
#define GLCNN_EXPORT_INT8_H

#include "export.h"
#include "task/int8_ranges.h"

/* Makes a file int8. `plain` is the same model with normalised pictures and an open batch; both are bytes of
 * glcnn_onnx_write_with without a record, and *bytes is replaced. Adds lines to the text. */
glcnn_status int8_make(const struct leaving *leaving, const uint8_t *plain, size_t plain_size,
                       uint8_t **bytes, size_t *size, struct text *text,
                       char error[GLCNN_ERROR_LENGTH]);

#endif
