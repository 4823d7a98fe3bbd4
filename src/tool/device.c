/* Opening a device. The library tells a failure twice, by status and to the log: errors of the log
 * are kept for the sentence that ends the command, and shown at once only where the user wants all
 * of the log. */
#include "tool.h"

#include <getopt.h>
#include <stdio.h>

static void log_line(void *user, glcnn_log_level level, const char *text)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    struct tool_device *tool = user;
    if (level == GLCNN_LOG_ERROR)
        snprintf(tool->error, sizeof tool->error, "%s", text);
    bool shown = tool->verbose || level == GLCNN_LOG_WARNING;
    if (shown && level <= GLCNN_LOG_DEBUG)
        print_error("glcnn: %s: %s\n", words[level], text);
}

/* Redrawn in place; what is printed next goes over it. */
static void show_compilation(void *user, const struct glcnn_compilation *it)
{
    const struct tool_device *tool = user;
    if (!tool->shows_compiling || it->passes < 2)
        return;
    print_error("compiling %u/%u%*s\r", it->pass, it->passes, 40, "");
    fflush(stderr);
}

bool read_device_option(struct tool_device *tool, int letter)
{
    if (letter == 'd')
        tool->name = optarg;
    else if (letter == 'v')
        tool->verbose = true;
    return letter == 'd' || letter == 'v';
}

int device_open(struct tool_device *tool)
{
    const struct glcnn_device_parameters parameters = {.device = tool->name,
                                                       .log = log_line,
                                                       .log_user = tool,
                                                       .compile = show_compilation,
                                                       .compile_user = tool};
    glcnn_status status = glcnn_device_create(&parameters, &tool->device);
    if (status == GLCNN_SUCCESS)
        return EXIT_GOOD;
    if (!tool->error[0])
        snprintf(tool->error, sizeof tool->error, "the device cannot be opened: %s",
                 glcnn_status_text(status));
    return status == GLCNN_NO_DEVICE ? EXIT_NO_DEVICE : EXIT_FAILED;
}
