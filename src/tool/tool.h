/* The glcnn command: what its parts share. The tool uses the public headers only.
 *
 * Results go to standard output; messages about what failed, to standard error.
 *
 * Room: The command glcnn. Uses the public headers, base/, task/, train/ and report/. */
#ifndef GLCNN_TOOL_H
#define GLCNN_TOOL_H

#include <cjson/cJSON.h>
#include <glcnn/glcnn.h>

#include "base/option.h"
#include "print.h"
#include "task/json_text.h"

/* Exit statuses. */
enum {
    EXIT_GOOD = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,        /* the command line makes no sense; nothing was tried */
    EXIT_NO_DEVICE = 77,   /* what tests take as skipped */
    EXIT_INTERRUPTED = 130 /* by Ctrl-C, in good order */
};

struct tool_device;

/* A subcommand. It is defined in a file of its own as command_NAME, and listed in main.c. */
struct tool_command {
    const char *name;
    const char *arguments;              /* after its name, in its usage line */
    const char *text;                   /* one line */
    const char *details;                /* paragraphs under the options in --help, or NULL */
    const char *(*list)(size_t number); /* lines that stand for \f in the details, until NULL */
    const struct option_row *options;
    int (*run)(const struct tool_command *command, int argc, char *argv[]);
};

/* ---- Classes (table.c) ---- */

/* Every class of MPS with its kernel, gradient and formats, as Markdown tables. */
void print_class_table(void);
/* The classes that are no kernels of their own, as text. */
void print_other_classes(void);

/* ---- Options (options.c) ---- */

/* Results of next_option besides an option's letter; both end the command. */
enum { OPTIONS_DONE = -1, OPTIONS_WRONG = -2 };

/* The next option of the command line, its value in `optarg`. Says what is wrong itself. */
int next_option(const struct tool_command *command, int argc, char *argv[]);
/* Reads all options: into the members of the struct at `values` that their rows name, those of DEVICE_OPTIONS into
 * `device`, and others by `read`, which says what is wrong and returns an exit status; both may be NULL where there are none
 * such. False: the command ends with *status, since help was printed or something is wrong. */
bool read_options(const struct tool_command *command, int argc, char *argv[], void *values,
                  struct tool_device *device, int (*read)(void *values, int letter), int *status);
/* Prints the command's --help. */
void print_help(const struct tool_command *command);
/* Prints a line for each option that names a file: command, option, reads or writes, value. */
void print_files(const struct tool_command *command);
/* Prints the message as "glcnn COMMAND: ...", and for EXIT_USAGE where help is. Returns status. */
int complain(const struct tool_command *command, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints each line of a text whose names are escaped already as "glcnn COMMAND: ..." on standard error. NULL: nothing. */
void print_remarks(const struct tool_command *command, const char *lines);
/* Has complaints begin with a name, of one of several processes; it must live on. */
void complain_as(const char *name);
/* complain of a wrong command line: "there is no WHAT "WORD"; did you mean NAME? There are ...", of
 * `count` names. */
int complain_of_name(const struct tool_command *command, const char *what, const char *word,
                     const char *const *names, size_t count);
/* The same of a kernel. */
int complain_of_kernel(const struct tool_command *command, const char *word);
/* complain, if there are arguments from optind on. */
int expect_no_arguments(const struct tool_command *command, int argc, char *argv[]);

/* Is a file of that name one of TensorFlow Lite: does it end with .tflite, large or small? */
bool names_tflite(const char *path);

/* ---- Device (device.c) ---- */

#define WAIT_MAX 1000000 /* seconds */

/* How a device is opened, and what its log said. */
struct tool_device {
    const char *name; /* NULL: the library chooses */
    bool verbose;
    bool hides_notices; /* another process shows them: no GPU, what is compiled */
    uint32_t wait;      /* seconds; 0: as many as 300 */
    char error[1024];   /* the last error of the log, or "" */
    glcnn_device *device;
};

/* True if "--wait=TEXT" has a number of seconds. */
bool device_reads_wait(const char *text, uint32_t *seconds);
/* Takes an option of DEVICE_OPTIONS; false if it is none. */
bool read_device_option(struct tool_device *tool, int letter);
/* Opens tool->device. Returns EXIT_GOOD, or the status to end with; tool->error has the message.
 */
int device_open(struct tool_device *tool);

/* ---- JSON (json.c): cJSON prints null for infinities and NaN ---- */

/* A string, or null for NULL. */
void json_add_text(cJSON *object, const char *name, const char *text);
/* Prints and deletes it. Returns an exit status. */
int json_print(const struct tool_command *command, cJSON *json);

/* The device's identity and limits as JSON (info.c). */
cJSON *json_of_device(const struct glcnn_device_properties *info);

#endif
