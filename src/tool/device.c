/* Opening a device. The library tells a failure twice, by status and to the log: errors of the log
 * are kept for the message that ends the command, and shown at once only where the user wants all
 * of the log. */
#include "tool.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option.h"

#define NOTICE    10  /* seconds after which it is told what is compiled, where nothing shows it */
#define WAIT      300 /* as the library's */
#define LINE_COLS (PRINT_COLUMNS - 1)

/* A driver does not come back from a shader that hangs its compiler: what is left is a signal, whose
 * handler may write and end the process and no more. So what it writes stands ready. */
static struct {
    unsigned under_way, first,
        rest; /* programs; seconds to the notice, and from there to the end */
    volatile sig_atomic_t noticed;
    char notice[256], end[256];
} watch;

static void end_watch(void)
{
    watch.under_way = 0;
    alarm(0);
}

/* The library's warning of software is for programs; the tool has words of its own. */
static bool is_of_software(const char *text)
{
    return strstr(text, "running on a software rasteriser");
}

static void log_line(void *user, glcnn_log_level level, const char *text)
{
    static const char *const words[] = {"error", "warning", "info", "debug"};
    struct tool_device *tool = user;
    if (level == GLCNN_LOG_ERROR) {
        end_watch(); /* a program that fails is not told of otherwise */
        snprintf(tool->error, sizeof tool->error, "%s", text);
    }
    bool shown = tool->verbose || (level == GLCNN_LOG_WARNING && !is_of_software(text));
    if (shown && level <= GLCNN_LOG_DEBUG)
        print_error("glcnn: %s: %s\n", words[level], text);
}

/* A user who asked for it by name knows that. */
static void tell_of_software(const struct tool_device *tool)
{
    const struct glcnn_device_properties *info = glcnn_device_info(tool->device);
    const char *chosen = tool->name ? tool->name : getenv("GLCNN_DEVICE");
    if (info->software && !tool->hides_notices && !tool->verbose &&
        !(chosen && strcmp(chosen, "software") == 0))
        print_error(
            "glcnn: no GPU is used: %s computes on the processor, which is slow; \"glcnn info\" "
            "lists the devices\n",
            info->renderer);
}

/* ---- Compiling ---- */

static void write_text(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void on_alarm(int number)
{
    (void)number;
    if (watch.noticed || watch.first == 0) {
        write_text(watch.end);
        _exit(EXIT_FAILED);
    }
    watch.noticed = 1;
    write_text(watch.notice);
    alarm(watch.rest);
}

static void set_watch(const struct tool_device *tool, const char *what)
{
    unsigned wait = tool->wait ? tool->wait : WAIT, notice = wait > 2 * NOTICE ? NOTICE : wait / 2;
    watch.first = notice;
    watch.rest = wait - notice;
    watch.noticed = 0;
    snprintf(watch.notice, sizeof watch.notice,
             "glcnn: the driver is still compiling %s after %u seconds\n", what, notice);
    snprintf(
        watch.end, sizeof watch.end,
        "glcnn: the driver has not compiled %s within %u seconds: giving up; --wait allows more "
        "time\n",
        what, wait);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm, .sa_flags = SA_RESTART}, NULL);
    alarm(notice ? notice : wait);
}

/* Several may be under way in a driver that compiles in threads of its own. */
static void watch_compilation(const struct tool_device *tool, const struct glcnn_compilation *it,
                              const char *what)
{
    bool ends = it->seconds > 0;
    if (!ends)
        watch.under_way++;
    else if (watch.under_way > 0)
        watch.under_way--;
    if (watch.under_way > 0)
        set_watch(tool, what);
    else
        end_watch();
}

/* On a terminal, redrawn in place and taken away again. */
static void show_compilation(void *user, const struct glcnn_compilation *it)
{
    const struct tool_device *tool = user;
    char what[128], line[192];
    snprintf(what, sizeof what, "%s%s%s", it->shader, it->implementation ? ", implementation " : "",
             it->implementation ? it->implementation : "");
    watch_compilation(tool, it, what);
    if (tool->hides_notices || it->passes < 2 || !isatty(STDERR_FILENO))
        return;
    snprintf(line, sizeof line, "compiling %u/%u: %s", it->pass, it->passes, what);
    print_error("%-*.*s\r", LINE_COLS, LINE_COLS, it->seconds > 0 ? "" : line);
}

/* ---- Opening ---- */

bool device_reads_wait(const char *text, uint32_t *seconds)
{
    uint64_t value;
    if (!option_whole(text, 1, WAIT_MAX, &value))
        return false;
    *seconds = (uint32_t)value;
    return true;
}

bool read_device_option(struct tool_device *tool, int letter)
{
    if (letter == 'd')
        tool->name = optarg;
    else if (letter == 'v')
        tool->verbose = true;
    else
        return letter == 'w' && device_reads_wait(optarg, &tool->wait);
    return true;
}

int device_open(struct tool_device *tool)
{
    const struct glcnn_device_parameters parameters = {.device = tool->name,
                                                       .wait_seconds = tool->wait,
                                                       .log = log_line,
                                                       .log_user = tool,
                                                       .compile = show_compilation,
                                                       .compile_user = tool};
    glcnn_status status = glcnn_device_create(&parameters, &tool->device);
    if (status == GLCNN_SUCCESS) {
        tell_of_software(tool);
        return EXIT_GOOD;
    }
    if (!tool->error[0])
        snprintf(tool->error, sizeof tool->error, "the device cannot be opened: %s",
                 glcnn_status_text(status));
    return status == GLCNN_NO_DEVICE ? EXIT_NO_DEVICE : EXIT_FAILED;
}
