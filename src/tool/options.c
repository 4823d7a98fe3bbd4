/* Options of the tool's commands, from one table for each: parsing and help. */
#include "tool.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/option.h"

#define OPTIONS_MAX    96
#define SUGGESTION_MAX 1536 /* characters of all options */
#define COMPLAINT_MAX  2048
#define OPTION_TEXT    30 /* column where the text of an option begins */

static const struct option_row help_option = {'h', "help", NULL, "print this help"};

#define OWN_LETTERS 1024 /* from here on getopt has those that nobody calls by a letter */

static int letter_of(const struct tool_command *command, const struct option_row *o)
{
    return o->letter ? o->letter : OWN_LETTERS + (int)(o - command->options);
}

static const struct option_row *find_letter(const struct tool_command *command, int letter)
{
    for (const struct option_row *o = command->options; o->name; o++)
        if (letter_of(command, o) == letter)
            return o;
    return letter == help_option.letter ? &help_option : NULL;
}

static bool is_short(const struct option_row *o)
{
    return o->letter > 0 && o->letter < 256;
}

/* How the user sees it; NULL: there is none. */
static const char *value_of(const struct option_row *o)
{
    return o->value && (*o->value == *READS || *o->value == *WRITES) ? o->value + 1 : o->value;
}

/* getopt's two tables from ours. ":" makes getopt tell a missing value from an unknown option. */
static void add_option(const struct option_row *o, int letter, struct option *row, char *letters)
{
    *row = (struct option){o->name, o->value ? required_argument : no_argument, NULL, letter};
    size_t used = strlen(letters);
    if (is_short(o)) {
        letters[used++] = (char)o->letter;
        letters[used] = 0;
        if (o->value)
            strcpy(letters + used, ":");
    }
}

/* A word "--NAME" or "--NAME=VALUE" that is no option, or the beginning of several. */
static void complain_of_long_option(const struct tool_command *command, const char *word)
{
    const char *names[OPTIONS_MAX + 1];
    char text[SUGGESTION_MAX];
    size_t count = 0;
    for (; command->options[count].name && count < OPTIONS_MAX; count++)
        names[count] = command->options[count].name;
    names[count++] = help_option.name;
    glcnn_suggest(word + 2, strcspn(word + 2, "="), names, count, text, sizeof text);
    complain(command, EXIT_USAGE, "there is no option %.*s%s", (int)strcspn(word, "="), word, text);
}

static int complain_of_option(const struct tool_command *command, int kind, const char *word)
{
    const struct option_row *known = find_letter(command, optopt);
    bool is_long = strncmp(word, "--", 2) == 0;
    if (kind == ':')
        complain(command, EXIT_USAGE, "--%s needs a value, %s", known->name, value_of(known));
    else if (is_long && optopt != 0 && known)
        complain(command, EXIT_USAGE, "--%s takes no value", known->name);
    else if (is_long)
        complain_of_long_option(command, word);
    else
        complain(command, EXIT_USAGE, "there is no option -%c", optopt);
    return OPTIONS_WRONG;
}

/* Here, for it is an option of all commands that open a device. */
static int check_wait(const struct tool_command *command)
{
    uint32_t seconds;
    if (device_reads_wait(optarg, &seconds))
        return 'w';
    complain(command, EXIT_USAGE, "--wait is \"%s\"; it must be a whole number in 1 .. %d", optarg,
             WAIT_MAX);
    return OPTIONS_WRONG;
}

int next_option(const struct tool_command *command, int argc, char *argv[])
{
    struct option rows[OPTIONS_MAX + 2] = {{0}};
    char letters[2 * OPTIONS_MAX + 4] = ":";
    size_t count = 0;
    for (const struct option_row *o = command->options; o->name && count < OPTIONS_MAX; o++)
        add_option(o, letter_of(command, o), &rows[count++], letters);
    add_option(&help_option, help_option.letter, &rows[count], letters);
    opterr = 0;
    int letter = getopt_long(argc, argv, letters, rows, NULL);
    if (letter == ':' || letter == '?')
        return complain_of_option(command, letter, argv[optind - 1]);
    return letter == 'w' ? check_wait(command) : letter;
}

static int complain_of_number(const struct tool_command *command, const struct option_row *o)
{
    const bool is_real = o->kind == OPTION_IS_REAL;
    char range[64] = "";
    if (o->most > 0)
        snprintf(range, sizeof range, " in %.*g .. %.*g", 10, o->least, 10, o->most);
    return complain(command, EXIT_USAGE, "--%s is \"%s\"; it must be a %snumber%s", o->name, optarg,
                    is_real ? "" : "whole ", range);
}

static int take_whole(const struct tool_command *command, const struct option_row *o, void *at)
{
    uint64_t value, most = o->most > 0 ? (uint64_t)o->most : UINT64_MAX;
    if (!option_whole(optarg, (uint64_t)o->least, most, &value))
        return complain_of_number(command, o);
    if (o->kind == OPTION_IS_WHOLE)
        *(uint32_t *)at = (uint32_t)value;
    else
        *(uint64_t *)at = value;
    return EXIT_GOOD;
}

static int take_extent(const struct tool_command *command, const struct option_row *o, uint32_t *at)
{
    const uint32_t most = (uint32_t)o->most;
    return option_extent(optarg, most, at, at + 1)
               ? EXIT_GOOD
               : complain(command, EXIT_USAGE, "--%s is \"%s\"; " OPTION_EXTENT, o->name, optarg,
                          most);
}

/* Puts the option's value where its row says. */
static int take_value(const struct tool_command *command, const struct option_row *o, void *at)
{
    switch (o->kind) {
    case OPTION_IS_FLAG:
        *(bool *)at = true;
        return EXIT_GOOD;
    case OPTION_IS_NAME:
        *(const char **)at = optarg;
        return EXIT_GOOD;
    case OPTION_IS_REAL:
        return option_real(optarg, o->least, o->most, at) ? EXIT_GOOD
                                                          : complain_of_number(command, o);
    case OPTION_IS_EXTENT:
        return take_extent(command, o, at);
    default:
        return take_whole(command, o, at);
    }
}

bool read_options(const struct tool_command *command, int argc, char *argv[], void *values,
                  struct tool_device *device, int (*read)(void *values, int letter), int *status)
{
    *status = EXIT_GOOD;
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        const struct option_row *o = find_letter(command, letter);
        if (letter == help_option.letter) {
            print_help(command);
            return false;
        }
        if (!o)
            *status = EXIT_USAGE;
        else if (o->kind != OPTION_BY_HAND)
            *status = take_value(command, o, (char *)values + o->at);
        else if (!device || !read_device_option(device, letter))
            *status = read(values, letter);
        if (*status != EXIT_GOOD)
            return false;
    }
    return true;
}

static void print_option(const struct option_row *o)
{
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? "=" : "",
             o->value ? value_of(o) : "");
    if (is_short(o))
        output_indented(OPTION_TEXT, "  -%c, %-*s %s\n", o->letter, OPTION_TEXT - 7, left, o->text);
    else
        output_indented(OPTION_TEXT, "      %-*s %s\n", OPTION_TEXT - 7, left, o->text);
}

/* Where the second column of a line that is set in begins; 4 of one that has one column. */
static size_t second_column(const char *line, size_t length)
{
    size_t at = strspn(line, " ");
    for (; at + 1 < length; at++)
        if (line[at] == ' ' && line[at + 1] == ' ')
            return at + strspn(line + at, " ");
    return 4;
}

/* Paragraphs are filled; lines that are set in stand as they are. */
static void print_paragraphs(const struct tool_command *command, const char *text)
{
    for (size_t length; *text; text += length + 1) {
        const char *lines;
        if (*text == '\f') {
            for (size_t i = 0; (lines = command->list(i)) != NULL; i++)
                print_paragraphs(command, lines);
            text++;
        }
        length = strcspn(text, "\n");
        bool is_filled = length > 0 && *text != ' ', goes_on = text[length + 1] > ' ';
        output_indented(is_filled ? 0 : second_column(text, length), "%.*s", (int)length, text);
        output(is_filled && goes_on ? " " : "\n");
    }
}

void print_help(const struct tool_command *command)
{
    output_wraps(true);
    output("usage: glcnn %s%s%s\n\n%s\n\noptions:\n", command->name, *command->arguments ? " " : "",
           command->arguments, command->text);
    for (const struct option_row *o = command->options; o->name; o++)
        print_option(o);
    print_option(&help_option);
    if (command->details) {
        output("\n");
        print_paragraphs(command, command->details);
    }
}

void print_files(const struct tool_command *command)
{
    for (const struct option_row *o = command->options; o->name; o++)
        if (o->value && o->value != value_of(o))
            output("%s %s %s %s\n", command->name, o->name,
                   *o->value == *READS ? "reads" : "writes", value_of(o));
}

static const char *complainer;
static char complaint[COMPLAINT_MAX];

void complain_as(const char *name)
{
    complainer = name;
}

int complain(const struct tool_command *command, int status, const char *format, ...)
{
    va_list arguments;
    fflush(stdout);
    va_start(arguments, format);
    vsnprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
    if (!complaint[0]) /* what fails without a message had no memory for one */
        snprintf(complaint, sizeof complaint, "not enough memory");
    print_error("glcnn %s: %s%s%s\n", command->name, complainer ? complainer : "",
                complainer ? ": " : "", complaint);
    if (status == EXIT_USAGE)
        print_error("\"glcnn %s --help\" lists the options.\n", command->name);
    return status;
}

void print_remarks(const struct tool_command *command, const char *lines)
{
    char *copy = lines ? strdup(lines) : NULL, *line = copy, *end;
    for (; line && (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        print_error("glcnn %s: %s\n", command->name, line);
    }
    free(copy);
}

int complain_of_name(const struct tool_command *command, const char *what, const char *word,
                     const char *const *names, size_t count)
{
    char text[SUGGESTION_MAX];
    glcnn_suggest(word, strlen(word), names, count, text, sizeof text);
    return complain(command, EXIT_USAGE, "there is no %s \"%s\"%s", what, word, text);
}

/* All kernels would fill the screen. */
int complain_of_kernel(const struct tool_command *command, const char *word)
{
    const char *names[512];
    char text[100];
    size_t count = 0;
    for (; count < glcnn_kernel_count() && count < sizeof names / sizeof *names; count++)
        names[count] = glcnn_kernel_info_at(count)->name;
    glcnn_suggest(word, strlen(word), names, count, text, sizeof text);
    return complain(command, EXIT_USAGE,
                    "there is no kernel \"%s\"; \"glcnn kernels --short\" lists them%s", word,
                    text);
}

int expect_no_arguments(const struct tool_command *command, int argc, char *argv[])
{
    if (optind == argc)
        return EXIT_GOOD;
    return complain(command, EXIT_USAGE, "unexpected argument \"%s\"", argv[optind]);
}

bool names_tflite(const char *path)
{
    static const char ending[] = ".tflite";
    const size_t length = strlen(path), part = sizeof ending - 1;
    return length > part && strcasecmp(path + length - part, ending) == 0;
}
