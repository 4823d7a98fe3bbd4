/* glcnn: looks at devices, lists kernels, runs one on NumPy files, checks all on this device. */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct tool_command command_look, command_info, command_kernels, command_run,
    command_check, command_bench, command_train, command_evaluate, command_predict, command_anomaly,
    command_import, command_export;

/* In the order of "glcnn help". */
static const struct tool_command *const commands[] = {
    &command_info,    &command_kernels, &command_run,    &command_check,
    &command_bench,   &command_look,    &command_train,  &command_evaluate,
    &command_predict, &command_anomaly, &command_import, &command_export};
enum { COMMANDS = sizeof commands / sizeof *commands };

typedef void print_function(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int print_overview(print_function *print)
{
    print("usage: glcnn COMMAND [OPTION]...\n\n"
          "Trains convolutional networks with OpenGL ES 3.1 compute.\n\ncommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        print("  %-10s%s\n", commands[i]->name, commands[i]->text);
    print("\n\"glcnn help COMMAND\" explains one; \"glcnn version\" prints the version.\n"
          "\"glcnn help --files\" lists the options that read or write files.\n"
          "Exit status: 0 success, 1 failure, 2 wrong command line, 77 no device,\n"
          "130 interrupted.\n");
    return EXIT_GOOD;
}

static int print_version(print_function *print)
{
    print("glcnn %s\n", glcnn_version());
    return EXIT_GOOD;
}

/* NULL, after a message, if there is none. */
static const struct tool_command *find_command(const char *name)
{
    const char *names[COMMANDS];
    char text[256];
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    glcnn_suggest(name, strlen(name), names, COMMANDS, text, sizeof text);
    print_error("glcnn: there is no %s \"%s\"%s\n", name[0] == '-' ? "option" : "command", name,
                text);
    return NULL;
}

/* glcnn help COMMAND */
static int help(const char *name)
{
    const struct tool_command *command = find_command(name);
    if (!command)
        return EXIT_USAGE;
    print_help(command);
    return EXIT_GOOD;
}

/* glcnn help --files: for tests, and for whoever lets a run see those files alone. */
static int help_files(void)
{
    for (size_t i = 0; i < COMMANDS; i++)
        print_files(commands[i]);
    return EXIT_GOOD;
}

static const struct {
    const char *word;
    int (*print)(print_function *print);
} words[] = {{"--help", print_overview}, {"-h", print_overview},       {"help", print_overview},
             {"version", print_version}, {"--version", print_version}, {"-V", print_version}};

static int run_command(int argc, char *argv[])
{
    if (argc < 2) {
        print_overview(print_error);
        return EXIT_USAGE;
    }
    if (argc > 2 && strcmp(argv[1], "help") == 0)
        return strcmp(argv[2], "--files") == 0 ? help_files() : help(argv[2]);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(argv[1], words[i].word) == 0)
            return words[i].print(output);
    const struct tool_command *command = find_command(argv[1]);
    if (!command)
        return EXIT_USAGE;
    if (!glcnn_kernel_info_at(0)) /* commands ask for what kernels are like without a failure */
        return complain(command, EXIT_FAILED, "not enough memory");
    return command->run(command, argc - 1, argv + 1);
}

/* A standard stream that was closed is opened the wrong way round: no file gets its number, and who
 * reads or writes it fails, as if it still were closed. False: it cannot be. */
static bool occupy_standard_streams(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i)
            return false;
    return true;
}

/* An answer that did not reach its reader is a failure. */
int main(int argc, char *argv[])
{
    if (!occupy_standard_streams())
        return EXIT_FAILED;
    int status = run_command(argc, argv);
    bool written = !ferror(stdout);
    if (fclose(stdout) != 0 || !written) {
        print_error("glcnn: standard output cannot be written: %s\n", strerror(errno));
        return status == EXIT_GOOD ? EXIT_FAILED : status;
    }
    return status;
}
