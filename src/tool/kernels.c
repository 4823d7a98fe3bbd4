/* glcnn kernels: every kernel with its arguments and parameters, as the library describes them. */
#include "explain.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_JSON = 256, OPTION_TABLE, OPTION_EXPLAIN, OPTION_SHAPE, OPTION_AS };

static const struct option_row options[] = {
    {'s', "short", NULL, "one line for each kernel"},
    {OPTION_JSON, "json", NULL, "print JSON; null stands for an infinite end of a range"},
    {OPTION_TABLE, "table", NULL, "the classes of MPS and their kernels as a Markdown table"},
    {OPTION_EXPLAIN, "explain", NULL, "which implementations the kernel takes, and why"},
    {'p', "parameter", "NAME=VALUE", "for --explain: a parameter of the kernel"},
    {OPTION_SHAPE, "shape", "NxCxHxW", "for --explain: images, channels, height and width"},
    {OPTION_AS, "as", "GPU", "for --explain: choose as for this GPU, without having it"},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "--explain needs one KERNEL and the --shape of its source, for a gradient that of the forward "
    "source. Give a gradient the parameters of the forward kernel (kernel_width), as its state has "
    "them; secondary_kernel_width and the like are for one that is encoded without a state. It "
    "prints a line for each implementation that was passed over with the reason, one for each that "
    "was taken, and the passes with their shaders and invocations. Nothing runs; --verbose of other "
    "commands prints the same messages for what does run. --as takes a GPU as its driver names it "
    "(Mali-G52, V3D 4.2) or a family (mali-bifrost, v3d); limits stay those of the device.\n"
    "\n"
    "  glcnn kernels pooling_max_gradient --explain -p kernel_width=3 \\\n"
    "      -p kernel_height=3 -p stride_in_pixels_x=2 -p stride_in_pixels_y=2 \\\n"
    "      --shape 64x32x28x28 --as Mali-G52\n";

#define COLUMN 51 /* where what a parameter may be begins */

static const char *const type_names[] = {"integer", "real", "boolean", "enumeration"};

/* ---- As text ---- */

#define LIST_MAX 2048

/* Adds a word to a list; a line is broken between words that come in one piece. */
static void add_word(char list[LIST_MAX], const char *separator, const char *word, const char *more)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST_MAX - used, "%s%s%s", used ? separator : "", word, more);
}

static void print_list(const char *name, const char *list)
{
    output_indented(20, "  %-18s%s\n", name, list);
}

static void print_arguments(const struct glcnn_kernel_info *info, bool outputs)
{
    char list[LIST_MAX] = "";
    for (size_t i = 0; i < info->argument_count; i++) {
        const struct glcnn_argument_info *a = &info->arguments[i];
        if (outputs ? a->is_output : a->is_input)
            add_word(list, ", ", a->name, a->is_optional && !outputs ? " (optional)" : "");
    }
    print_list(outputs ? "outputs" : "inputs", list);
}

/* A value as it is written behind NAME=. */
static void format_value(const struct glcnn_parameter_info *p, double value, char text[48])
{
    static const char *const booleans[] = {"false", "true"};
    if (p->type == GLCNN_PARAMETER_ENUMERATION && p->value_names)
        snprintf(text, 48, "%s", p->value_names[(size_t)value]);
    else if (p->type == GLCNN_PARAMETER_BOOLEAN)
        snprintf(text, 48, "%s", booleans[value != 0]);
    else if (isinf(value))
        snprintf(text, 48, "%sinfinity", value < 0 ? "-" : "");
    else if (p->type == GLCNN_PARAMETER_INTEGER && value >= 0x1p64)
        snprintf(text, 48, "%" PRIu64, UINT64_MAX); /* which a double cannot be */
    else if (p->type == GLCNN_PARAMETER_INTEGER)
        snprintf(text, 48, "%.0f", value);
    else
        snprintf(text, 48, "%.10g", value);
}

static void format_range(const struct glcnn_parameter_info *p, char list[LIST_MAX])
{
    char minimum[48], maximum[48];
    list[0] = 0;
    if (p->type == GLCNN_PARAMETER_ENUMERATION && p->value_names) {
        for (size_t i = 0; p->value_names[i]; i++)
            add_word(list, " ", p->value_names[i], "");
        return;
    }
    format_value(p, p->minimum, minimum);
    format_value(p, p->maximum, maximum);
    snprintf(list, LIST_MAX, "%s%s%s", minimum, p->type == GLCNN_PARAMETER_BOOLEAN ? " " : " to ",
             maximum);
}

static void print_parameter(const struct glcnn_parameter_info *p)
{
    char value[48], setting[128], range[LIST_MAX];
    format_value(p, p->default_value, value);
    snprintf(setting, sizeof setting, "%s=%s", p->name, value);
    format_range(p, range);
    output_indented(COLUMN, "    %-*s %s; %s\n", COLUMN - 5, setting, range, p->text);
}

static void print_implementations(const struct glcnn_kernel_info *info)
{
    char list[LIST_MAX] = "";
    for (size_t i = 0; info->implementations[i]; i++)
        add_word(list, ", ", info->implementations[i], "");
    if (list[0])
        print_list("implementations", list);
}

static void print_kernel(const struct glcnn_kernel_info *info)
{
    output("%s\n  %s\n", info->name, info->text);
    output("  %-18s%s\n", "MPS class", info->mps_class ? info->mps_class : "none");
    print_arguments(info, false);
    print_arguments(info, true);
    print_implementations(info);
    if (info->gradient)
        output("  %-18s%s\n", "gradient", info->gradient);
    else if (info->without_gradient)
        output("  %-18snone: %s\n", "gradient", info->without_gradient);
    output("  parameters with their defaults, and what they may be\n");
    for (size_t i = 0; i < info->parameter_count; i++)
        print_parameter(&info->parameters[i]);
    output("\n");
}

static void print_short(const struct glcnn_kernel_info *info)
{
    output_indented(45, "%-44s %s\n", info->name, info->text);
}

/* ---- As JSON ---- */

static cJSON *json_of_arguments(const struct glcnn_kernel_info *info, bool outputs)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < info->argument_count; i++) {
        const struct glcnn_argument_info *a = &info->arguments[i];
        if (outputs ? !a->is_output : !a->is_input)
            continue;
        cJSON *object = cJSON_CreateObject();
        json_add_text(object, "name", a->name);
        json_add_text(object, "kind", a->is_image ? "image" : "vector");
        if (!outputs)
            cJSON_AddBoolToObject(object, "optional", a->is_optional);
        cJSON_AddItemToArray(array, object);
    }
    return array;
}

/* Enumerations have names where others have numbers. */
static void add_default(cJSON *object, const struct glcnn_parameter_info *p)
{
    if (p->type == GLCNN_PARAMETER_ENUMERATION && p->value_names)
        json_add_text(object, "default", p->value_names[(size_t)p->default_value]);
    else if (p->type == GLCNN_PARAMETER_BOOLEAN)
        cJSON_AddBoolToObject(object, "default", p->default_value != 0);
    else
        cJSON_AddNumberToObject(object, "default", p->default_value);
}

static cJSON *json_of_parameter(const struct glcnn_parameter_info *p)
{
    cJSON *object = cJSON_CreateObject();
    json_add_text(object, "name", p->name);
    json_add_text(object, "text", p->text);
    json_add_text(object, "type", type_names[p->type]);
    add_default(object, p);
    if (p->type == GLCNN_PARAMETER_ENUMERATION && p->value_names) {
        cJSON *values = cJSON_AddArrayToObject(object, "values");
        for (size_t i = 0; p->value_names[i]; i++)
            cJSON_AddItemToArray(values, cJSON_CreateString(p->value_names[i]));
    } else if (p->type != GLCNN_PARAMETER_BOOLEAN) {
        cJSON_AddNumberToObject(object, "minimum", p->minimum);
        cJSON_AddNumberToObject(object, "maximum", p->maximum);
    }
    return object;
}

static cJSON *json_of_kernel(const struct glcnn_kernel_info *info)
{
    cJSON *object = cJSON_CreateObject();
    json_add_text(object, "name", info->name);
    json_add_text(object, "mps_class", info->mps_class);
    json_add_text(object, "text", info->text);
    json_add_text(object, "gradient", info->gradient);
    json_add_text(object, "without_gradient", info->gradient ? NULL : info->without_gradient);
    cJSON_AddItemToObject(object, "inputs", json_of_arguments(info, false));
    cJSON_AddItemToObject(object, "outputs", json_of_arguments(info, true));
    cJSON *parameters = cJSON_AddArrayToObject(object, "parameters");
    for (size_t i = 0; i < info->parameter_count; i++)
        cJSON_AddItemToArray(parameters, json_of_parameter(&info->parameters[i]));
    return object;
}

/* ---- The command ---- */

static bool is_wanted(const struct glcnn_kernel_info *info, char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (strcmp(info->name, names[i]) == 0)
            return true;
    return !names[0];
}

static int print_json(const struct tool_command *command, char *const *names)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < glcnn_kernel_count(); i++)
        if (is_wanted(glcnn_kernel_info_at(i), names))
            cJSON_AddItemToArray(array, json_of_kernel(glcnn_kernel_info_at(i)));
    return json_print(command, array);
}

static int print_text(void (*print)(const struct glcnn_kernel_info *info), char *const *names)
{
    for (size_t i = 0; i < glcnn_kernel_count(); i++)
        if (is_wanted(glcnn_kernel_info_at(i), names))
            print(glcnn_kernel_info_at(i));
    if (print == print_kernel && !names[0])
        print_other_classes();
    return EXIT_GOOD;
}

static int print_table(const struct tool_command *command, char *const *names)
{
    if (names[0])
        return complain(command, EXIT_USAGE, "--table lists all kernels; it takes no names");
    print_class_table();
    return EXIT_GOOD;
}

static int print_as(const struct tool_command *command, int form, char *const *names)
{
    switch (form) {
    case OPTION_JSON:
        return print_json(command, names);
    case OPTION_TABLE:
        return print_table(command, names);
    case 's':
        return print_text(print_short, names);
    default:
        return print_text(print_kernel, names);
    }
}

static int read_option(const struct tool_command *command, struct explain_request *r, int letter)
{
    if (letter == 'p' && r->parameter_count == EXPLAIN_PARAMETERS)
        return complain(command, EXIT_USAGE, "more than %d parameters", EXPLAIN_PARAMETERS);
    if (letter == 'p')
        r->parameters[r->parameter_count++] = optarg;
    else if (letter == OPTION_SHAPE)
        return explain_read_shape(command, optarg, r->shape);
    else if (letter == OPTION_AS)
        r->gpu = optarg;
    else
        read_device_option(&r->tool, letter);
    return EXIT_GOOD;
}

static bool is_form(int letter)
{
    return letter == 's' || letter == OPTION_JSON || letter == OPTION_TABLE ||
           letter == OPTION_EXPLAIN;
}

static int explain(const struct tool_command *command, struct explain_request *request,
                   char *const *names)
{
    if (!names[0] || names[1])
        return complain(command, EXIT_USAGE, "--explain needs one kernel");
    if (request->shape[0] == 0)
        return complain(command, EXIT_USAGE, "--explain needs --shape, the size of the source");
    return explain_kernel(command, request, names[0]);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct explain_request request = {.gpu = NULL};
    int form = 0; /* the option that asked for it; the last one counts */
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        if (letter == OPTIONS_WRONG)
            return EXIT_USAGE;
        if (letter == 'h') {
            print_help(command);
            return EXIT_GOOD;
        }
        if (is_form(letter))
            form = letter;
        else if (read_option(command, &request, letter) != EXIT_GOOD)
            return EXIT_USAGE;
    }
    char *const *names = argv + optind; /* ends with NULL, as argv does */
    for (size_t i = 0; names[i]; i++)
        if (!glcnn_kernel_info_by_name(names[i]))
            return complain_of_kernel(command, names[i]);
    return form == OPTION_EXPLAIN ? explain(command, &request, names)
                                  : print_as(command, form, names);
}

const struct tool_command command_kernels = {
    .name = "kernels",
    .arguments = "[OPTION]... [KERNEL]...",
    .text = "the kernels with their inputs, outputs and parameters",
    .details = details,
    .options = options,
    .run = run};
