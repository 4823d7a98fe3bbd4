/* glcnn kernels KERNEL --explain: which implementations an encode takes, on this GPU or another. */
#include "explain.h"

#include <stdlib.h>

int explain_read_shape(const struct tool_command *command, const char *text, uint32_t shape[4])
{
    const char *rest = text;
    int count = 0;
    for (; count < 4; count++) {
        char *end;
        unsigned long value = strtoul(rest, &end, 10);
        if (*rest < '0' || *rest > '9' || value < 1 || value > UINT32_MAX ||
            *end != (count < 3 ? 'x' : 0))
            break;
        shape[count] = (uint32_t)value;
        rest = end + 1;
    }
    if (count == 4)
        return EXIT_GOOD;
    return complain(command, EXIT_USAGE,
                    "--shape is \"%s\"; it must be IMAGESxCHANNELSxHEIGHTxWIDTH, each 1 or more",
                    text);
}

static void print_line(void *user, const char *line)
{
    (void)user;
    output_indented(4, "%s\n", line);
}

static int explain(const struct tool_command *command, const struct explain_request *r,
                   const char *kernel, const struct glcnn_setting *settings)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_status status = glcnn_explain(r->tool.device, kernel, settings, r->parameter_count,
                                        r->shape, r->gpu, print_line, NULL, error);
    return status == GLCNN_SUCCESS ? EXIT_GOOD : complain(command, EXIT_FAILED, "%s", error);
}

int explain_kernel(const struct tool_command *command, struct explain_request *r,
                   const char *kernel)
{
    struct glcnn_setting settings[EXPLAIN_PARAMETERS];
    for (size_t i = 0; i < r->parameter_count; i++) {
        char error[GLCNN_ERROR_LENGTH];
        if (glcnn_setting_parse(kernel, r->parameters[i], &settings[i], error) != GLCNN_SUCCESS)
            return complain(command, EXIT_USAGE, "%s", error);
    }
    int status = device_open(&r->tool);
    if (status != EXIT_GOOD)
        return complain(command, status, "%s", r->tool.error);
    status = explain(command, r, kernel, settings);
    glcnn_device_destroy(&r->tool.device);
    return status;
}
