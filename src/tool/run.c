/* glcnn run: run one kernel on NumPy files. All that can be known to be wrong is found before a device
 * is opened, and outputs appear together or not at all. */
#include "tool.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/claim.h"

/* The command line. The arrays have room for as many entries as there are words. */
struct request {
    const struct glcnn_kernel_info *kernel;
    const char **parameter_texts, **input_texts, **output_texts;
    size_t parameter_count, input_count, output_count;
    struct glcnn_run_options options;
    bool force;
    struct tool_device tool;
    const struct tool_command *command;
};

static const struct option_row options[] = {
    {'p', "parameter", "NAME=VALUE", "a parameter of \"glcnn kernels KERNEL\""},
    {'i', "input", READS "NAME=FILE", "a .npy file for an input"},
    {'o', "output", WRITES "NAME=FILE", "a .npy file for an output; other outputs are dropped"},
    {'f', "format", "FORMAT", "of images: float32 or float16, on the device and in files"},
    {0, "force", NULL, "overwrite existing files", FLAG_AT(struct request, force)},
    {0, "reference", NULL, "compute in double precision without a device",
     FLAG_AT(struct request, options.reference)},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "Arrays are in C order: images [N][C][H][W], where lower ranks take leading 1s, weights "
    "[Co][Ci/groups][kH][kW], vectors with a value for each channel [C]. float64, integers and "
    "booleans are read too. Without -o a summary of the outputs is printed.\n"
    "\n"
    "Besides the kernel's parameters -p takes padding (valid, same, full), align (centered, "
    "top_left, bottom_right), remainder (top_left, top_right, bottom_left, bottom_right), "
    "exclude_edges, and destination_width with destination_height, with which offsets are used "
    "as they are set. A gradient kernel takes its forward kernel's parameters. Optional inputs "
    "that are not given are computed.\n"
    "\n"
    "Exit status: 0 success, 1 the kernel or a file failed, 2 wrong command line, 77 no "
    "device.\n"
    "\n"
    "  glcnn run pooling_max -p kernel_width=2 -p kernel_height=2 \\\n"
    "      -i source_image=x.npy -o destination_image=y.npy\n";

/* An argument of the kernel and a file. */
struct binding {
    const struct glcnn_argument_info *argument;
    const char *path;
};

/* What the request became. */
struct work {
    const struct tool_command *command;
    const struct request *request;
    struct glcnn_setting *settings;
    struct binding *inputs, *outputs;
    struct claims claims;
    struct glcnn_npy *files;    /* one an input */
    struct glcnn_array *arrays; /* the same as glcnn_run takes them */
    struct glcnn_array *results;
    size_t result_count;
};

/* ---- The command line ---- */

static int read_kernel(const struct tool_command *command, struct request *r, int argc,
                       char *argv[])
{
    if (optind == argc)
        return complain(command, EXIT_USAGE, "no kernel given");
    const char *name = argv[optind++];
    r->kernel = glcnn_kernel_info_by_name(name);
    if (!r->kernel)
        return complain_of_kernel(command, name);
    return expect_no_arguments(command, argc, argv);
}

static int read_format(struct request *r, const char *text)
{
    static const struct {
        const char *text;
        glcnn_channel_format format;
    } formats[] = {{"float32", GLCNN_CHANNEL_FORMAT_FLOAT32},
                   {"float16", GLCNN_CHANNEL_FORMAT_FLOAT16}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(text, formats[i].text) == 0) {
            r->options.format = formats[i].format;
            return EXIT_GOOD;
        }
    const char *const names[] = {formats[0].text, formats[1].text};
    return complain_of_name(r->command, "format", text, names, 2);
}

static int read_option(void *values, int letter)
{
    struct request *r = values;
    if (letter == 'f')
        return read_format(r, optarg);
    if (letter == 'p')
        r->parameter_texts[r->parameter_count++] = optarg;
    else if (letter == 'i')
        r->input_texts[r->input_count++] = optarg;
    else
        r->output_texts[r->output_count++] = optarg;
    return EXIT_GOOD;
}

/* ---- What it means ---- */

static int read_settings(struct work *w)
{
    const struct request *r = w->request;
    for (size_t i = 0; i < r->parameter_count; i++) {
        char error[GLCNN_ERROR_LENGTH];
        if (glcnn_setting_parse(r->kernel->name, r->parameter_texts[i], &w->settings[i], error) !=
            GLCNN_SUCCESS)
            return complain(w->command, EXIT_USAGE, "%s", error);
    }
    return EXIT_GOOD;
}

/* Fields of a state that were computed on the way are outputs too. */
static bool has_direction(const struct glcnn_argument_info *argument, bool output)
{
    return output ? argument->is_output || argument->is_optional : argument->is_input;
}

/* The names that would have been right. */
static void suggest_names(const struct glcnn_kernel_info *kernel, bool output, const char *word,
                          size_t length, char *text, size_t size)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < kernel->argument_count && count < sizeof names / sizeof *names; i++)
        if (has_direction(&kernel->arguments[i], output))
            names[count++] = kernel->arguments[i].name;
    glcnn_suggest(word, length, names, count, text, size);
}

static int read_binding(const struct work *w, const char *text, bool output,
                        struct binding *binding)
{
    const struct glcnn_kernel_info *kernel = w->request->kernel;
    const char *equals = strchr(text, '='), *word = output ? "output" : "input";
    size_t length = equals ? (size_t)(equals - text) : 0;
    if (!equals || !equals[1])
        return complain(w->command, EXIT_USAGE, "\"%s\" is not of the form NAME=FILE", text);
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct glcnn_argument_info *a = &kernel->arguments[i];
        if (has_direction(a, output) && strlen(a->name) == length &&
            strncmp(a->name, text, length) == 0) {
            *binding = (struct binding){a, equals + 1};
            return EXIT_GOOD;
        }
    }
    char names[512];
    suggest_names(kernel, output, text, length, names, sizeof names);
    return complain(w->command, EXIT_USAGE, "%s has no %s \"%.*s\"%s", kernel->name, word,
                    (int)length, text, names);
}

static int read_bindings(struct work *w)
{
    const struct request *r = w->request;
    int status = EXIT_GOOD;
    for (size_t i = 0; i < r->input_count && status == EXIT_GOOD; i++)
        status = read_binding(w, r->input_texts[i], false, &w->inputs[i]);
    for (size_t i = 0; i < r->output_count && status == EXIT_GOOD; i++)
        status = read_binding(w, r->output_texts[i], true, &w->outputs[i]);
    return status;
}

static int claim_files(struct work *w)
{
    char error[GLCNN_ERROR_LENGTH];
    w->claims.force = w->request->force;
    for (size_t i = 0; i < w->request->input_count; i++)
        claims_read(&w->claims, w->inputs[i].path);
    for (size_t i = 0; i < w->request->output_count; i++)
        claims_write(&w->claims, &(struct claim_output){.option = "--output",
                                                        .path = w->outputs[i].path,
                                                        .in_place = true});
    return claims_take(&w->claims, error) ? EXIT_GOOD
                                          : complain(w->command, EXIT_FAILED, "%s", error);
}

static int read_inputs(struct work *w)
{
    for (size_t i = 0; i < w->request->input_count; i++) {
        char error[GLCNN_ERROR_LENGTH];
        struct glcnn_npy *file = &w->files[i];
        if (glcnn_npy_read(w->inputs[i].path, file, error) != GLCNN_SUCCESS)
            return complain(w->command, EXIT_FAILED, "%s", error);
        w->arrays[i] = (struct glcnn_array){
            .name = w->inputs[i].argument->name, .rank = file->rank, .data = file->data};
        memcpy(w->arrays[i].shape, file->shape, sizeof file->shape);
    }
    return EXIT_GOOD;
}

/* ---- Running ---- */

static int compute(struct work *w, struct tool_device *tool)
{
    const struct request *r = w->request;
    char error[GLCNN_ERROR_LENGTH];
    int status = r->options.reference ? EXIT_GOOD : device_open(tool);
    if (status != EXIT_GOOD)
        return complain(w->command, status, "%s", tool->error);
    if (glcnn_run(tool->device, r->kernel->name, w->settings, r->parameter_count, w->arrays,
                  r->input_count, &r->options, &w->results, &w->result_count,
                  error) != GLCNN_SUCCESS)
        status = complain(w->command, EXIT_FAILED, "%s", error);
    glcnn_device_destroy(&tool->device);
    return status;
}

static const struct glcnn_array *find_result(const struct work *w, const char *name)
{
    for (size_t i = 0; i < w->result_count; i++)
        if (strcmp(w->results[i].name, name) == 0)
            return &w->results[i];
    return NULL;
}

/* ---- Results ---- */

static int write_results(const struct work *w)
{
    size_t count = w->request->output_count;
    struct glcnn_npy *files = calloc(count, sizeof *files);
    const char **paths = calloc(count, sizeof *paths);
    int status =
        files && paths ? EXIT_GOOD : complain(w->command, EXIT_FAILED, "not enough memory");
    for (size_t i = 0; i < count && status == EXIT_GOOD; i++) {
        const struct glcnn_argument_info *argument = w->outputs[i].argument;
        const struct glcnn_array *result = find_result(w, argument->name);
        if (!result) {
            status = complain(w->command, EXIT_FAILED, "%s did not compute %s from these inputs",
                              w->request->kernel->name, argument->name);
            break;
        }
        paths[i] = w->outputs[i].path;
        files[i] = (struct glcnn_npy){.rank = result->rank, .data = result->data};
        if (argument->is_image && !argument->is_float32)
            files[i].format = w->request->options.format;
        memcpy(files[i].shape, result->shape, sizeof result->shape);
    }
    char error[GLCNN_ERROR_LENGTH];
    if (status == EXIT_GOOD && glcnn_npy_write_all(paths, files, count, error) != GLCNN_SUCCESS)
        status = complain(w->command, EXIT_FAILED, "%s", error);
    free(paths);
    free(files);
    return status;
}

#define SHOWN 16 /* values of an array that are printed all */

static void print_values(const struct glcnn_array *array, size_t count)
{
    for (size_t i = 0; i < count; i++)
        output(" %.7g", array->data[i]);
    output("\n");
}

static void print_statistics(const struct glcnn_array *array, size_t count)
{
    double least = INFINITY, most = -INFINITY, sum = 0;
    size_t finite = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(array->data[i]))
            continue;
        least = fmin(least, array->data[i]);
        most = fmax(most, array->data[i]);
        sum += array->data[i];
        finite++;
    }
    if (finite > 0)
        output(" minimum %.7g, mean %.7g, maximum %.7g", least, sum / (double)finite, most);
    if (finite < count)
        output("%s %zu of %zu not finite", finite ? ";" : "", count - finite, count);
    output("\n");
}

static void print_result(const struct glcnn_array *array)
{
    size_t count = 1;
    output("%s [", array->name);
    for (uint32_t i = 0; i < array->rank; i++) {
        output("%s%u", i ? " " : "", array->shape[i]);
        count *= array->shape[i];
    }
    output("]:");
    if (count <= SHOWN)
        print_values(array, count);
    else
        print_statistics(array, count);
}

static int give_results(const struct work *w)
{
    if (w->request->output_count > 0)
        return write_results(w);
    for (size_t i = 0; i < w->result_count; i++)
        print_result(&w->results[i]);
    return EXIT_GOOD;
}

/* ---- The command ---- */

static bool make_room(struct work *w, const struct request *r)
{
    w->settings = calloc(r->parameter_count + 1, sizeof *w->settings);
    w->inputs = calloc(r->input_count + 1, sizeof *w->inputs);
    w->outputs = calloc(r->output_count + 1, sizeof *w->outputs);
    w->files = calloc(r->input_count + 1, sizeof *w->files);
    w->arrays = calloc(r->input_count + 1, sizeof *w->arrays);
    return w->settings && w->inputs && w->outputs && w->files && w->arrays;
}

static void release(struct work *w)
{
    for (size_t i = 0; w->files && i < w->request->input_count; i++)
        glcnn_npy_destroy(&w->files[i]);
    glcnn_run_destroy(w->results);
    free(w->settings);
    free(w->inputs);
    free(w->outputs);
    free(w->files);
    free(w->arrays);
    claims_release(&w->claims);
}

static int perform(const struct tool_command *command, const struct request *request)
{
    struct work w = {.command = command, .request = request};
    struct tool_device tool = request->tool;
    int status =
        make_room(&w, request) ? EXIT_GOOD : complain(command, EXIT_FAILED, "not enough memory");
    if (status == EXIT_GOOD)
        status = read_settings(&w);
    if (status == EXIT_GOOD)
        status = read_bindings(&w);
    if (status == EXIT_GOOD)
        status = claim_files(&w);
    if (status == EXIT_GOOD)
        status = read_inputs(&w);
    if (status == EXIT_GOOD)
        status = compute(&w, &tool);
    if (status == EXIT_GOOD)
        status = give_results(&w);
    release(&w);
    return status;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    size_t words = (size_t)argc + 1;
    const char **texts = calloc(3 * words, sizeof *texts);
    if (!texts)
        return complain(command, EXIT_FAILED, "not enough memory");
    struct request request = {.command = command,
                              .parameter_texts = texts,
                              .input_texts = texts + words,
                              .output_texts = texts + 2 * words};
    int status;
    if (read_options(command, argc, argv, &request, &request.tool, read_option, &status))
        status = read_kernel(command, &request, argc, argv);
    else
        request.kernel = NULL;
    if (request.kernel && status == EXIT_GOOD)
        status = perform(command, &request);
    free(texts);
    return status;
}

const struct tool_command command_run = {.name = "run",
                                         .arguments = "KERNEL [OPTION]...",
                                         .text = "run one kernel on NumPy files",
                                         .details = details,
                                         .options = options,
                                         .run = run};
