/* What glcnn kernels --explain is asked. */
#ifndef GLCNN_TOOL_EXPLAIN_H
#define GLCNN_TOOL_EXPLAIN_H

#include "tool.h"

#define EXPLAIN_PARAMETERS 64

struct explain_request {
    const char *parameters[EXPLAIN_PARAMETERS]; /* "NAME=VALUE" */
    size_t parameter_count;
    uint32_t shape[4]; /* of the source: images, channels, height, width */
    const char *gpu;   /* NULL: the one that is opened */
    struct tool_device tool;
};

/* Reads "64x32x28x28"; complains otherwise. */
int explain_read_shape(const struct tool_command *command, const char *text, uint32_t shape[4]);
int explain_kernel(const struct tool_command *command, struct explain_request *request,
                   const char *kernel);

#endif
