/* glcnn bench: how long kernels and training steps take on this device, beside what a copy of the
 * same bytes would. */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_JSON = 256, OPTION_SHAPE, OPTION_COMPARE, OPTION_TRACE, OPTION_SCALING };

static const struct tool_option options[] = {
    {'k', "kernel", "NAME", "the rows that this kernel stands in alone"},
    {OPTION_SHAPE, "shape", "TEXT", "the rows that have TEXT in their name alone"},
    {'q', "quick", NULL, "small shapes and few samples"},
    {'f', "float16", NULL, "images stored as float16; networks stay float32"},
    {'l', "list", NULL, "name the rows and run none"},
    {OPTION_JSON, "json", NULL, "answer in JSON; null is what is not known"},
    {OPTION_COMPARE, "compare", "OLD.json", "say which rows are slower or faster than there"},
    {OPTION_TRACE, "trace", "FILE", "write the passes of the rows as a Chrome trace"},
    {OPTION_SCALING, "scaling", NULL, "how time grows with images, channels and pixels, instead"},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "Inputs are random. Outputs hold NaN before; a row fails where one is left, or an infinity, in\n"
    "the first, middle or last image. A row's columns:\n"
    "  ms       median of the samples, each of many commits and one wait, of one call; +-% half of "
    "the range of their middle half. Kernels of less than 2 ms stand ten times in a "
    "commit, as a step has many in one (\"repeats\" of --json), and each call reads "
    "and writes the same images: those that a cache holds it may find there\n"
    "  GB/s     of the bytes of images and weights that must be read and written, each once; "
    "what a forward pass leaves its gradient in a state is not among them\n"
    "  GFLOP/s  of kernels with weights, a multiplication and an addition counted as two\n"
    "  x floor  times what these bytes take at the best rate of the copy, relu and add, which are "
    "measured before all rows of each run\n"
    "  passes   of one call or step, and the dispatches (calls) that they are split into\n"
    "  CPU us   processor time of this thread to issue that\n"
    "Shapes are those of a large GPU; a software rasteriser and --quick take a 32nd of the images,\n"
    "and never more than a quarter of the machine's memory is filled.\n\n"
    "With --compare, NEW.json may follow: nothing runs, and the two files are compared. A change\n"
    "counts from 5 % on, or from the larger spread of the two. Short rows that do not have as many\n"
    "calls in a commit as before are told and not compared.\n\n"
    "--scaling measures series, with --shape those of its name, and fits to each a line by least\n"
    "squares of the relative error: what a row takes over that is its ratio. A software rasteriser\n"
    "and --quick leave large ones out.\n\n"
    "The times of a trace are timestamps of the GPU where the driver has\n"
    "GL_EXT_disjoint_timer_query, else wall time between waits; the file and a line on standard\n"
    "error say which.\n\n"
    "Exit status: 0 when every row ran and, with --compare, none is slower; 1 otherwise; 77 when\n"
    "there is no device. A row that the device has no memory or no limits for is left out.\n";

/* ---- Rows ---- */

void bench_fail(struct bench_row *row, glcnn_device *device, glcnn_status status)
{
    row->left_out = status == GLCNN_OUT_OF_MEMORY || status == GLCNN_LIMIT_EXCEEDED;
    if (!row->error[0])
        snprintf(row->error, sizeof row->error, "%.500s", glcnn_device_error(device));
    if (!row->error[0])
        snprintf(row->error, sizeof row->error, "%s", glcnn_status_text(status));
}

/* Is the word one of a list that blanks separate? */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return true;
    return false;
}

static bool is_wanted(const struct bench_request *request, const struct bench_row *row)
{
    return (!request->kernel || has_word(row->kernels, request->kernel)) &&
           (!request->shape || strstr(row->name, request->shape));
}

static bool has_parts(const char *gradient)
{
    struct glcnn_setting setting;
    char error[GLCNN_ERROR_LENGTH];
    return glcnn_setting_parse(gradient, "gradient_option=data", &setting, error) == GLCNN_SUCCESS;
}

static bool part_exists(const struct bench_shape *shape, enum bench_part part)
{
    if (part == BENCH_FORWARD || !shape->gradient)
        return part == BENCH_FORWARD;
    return has_parts(shape->gradient) == (part != BENCH_GRADIENT);
}

static struct bench_row begin_row(const struct bench_shape *shape, enum bench_part part)
{
    struct bench_row row = {.timing = {0}};
    snprintf(row.name, sizeof row.name, shape->gradient ? "%s, %s" : "%s", shape->name,
             bench_part_names[part]);
    snprintf(row.kernels, sizeof row.kernels, "%s",
             part == BENCH_FORWARD ? shape->forward : shape->gradient);
    return row;
}

static struct bench_row begin_step(const struct bench_step *step, enum bench_feed feed)
{
    static const char *const words[BENCH_FEEDS] = {"", ", fed", ", fed bytes"};
    struct bench_row row = {.timing = {0}};
    snprintf(row.name, sizeof row.name, "step of %s, batch %u%s", step->net, step->batch,
             words[feed]);
    return row;
}

/* What visits the rows: runs them, or names them. */
typedef void (*visit_shape)(struct bench_report *report, const struct bench_shape *shape,
                            enum bench_part part, struct bench_row *row);
typedef void (*visit_step)(struct bench_report *report, const struct bench_step *step,
                           enum bench_feed feed, struct bench_row *row);

/* Returns how many rows are wanted. The copy is among them in any case. */
static size_t each_row(struct bench_report *report, visit_shape visit, visit_step visit_net)
{
    size_t count = 0;
    for (const struct bench_shape *shape = bench_shapes; shape->name; shape++)
        for (int part = 0; part < BENCH_PARTS; part++) {
            if (!part_exists(shape, (enum bench_part)part))
                continue;
            struct bench_row row = begin_row(shape, (enum bench_part)part);
            bool wanted = is_wanted(report->request, &row);
            count += wanted;
            if (wanted || shape == bench_shapes)
                visit(report, shape, (enum bench_part)part, &row);
        }
    for (const struct bench_step *step = bench_steps; step->net; step++)
        for (enum bench_feed feed = BENCH_RESIDENT; feed < BENCH_FEEDS; feed++) {
            struct bench_row row = begin_step(step, feed);
            if (!is_wanted(report->request, &row) || (step->large && report->small))
                continue;
            count++;
            visit_net(report, step, feed, &row);
        }
    return count;
}

/* ---- Naming them ---- */

static void name_row(struct bench_report *report, const struct bench_shape *shape,
                     enum bench_part part, struct bench_row *row)
{
    (void)part;
    if (is_wanted(report->request, row))
        output_indented(4, "%-48s %4ux%ux%ux%u  %s\n", row->name, shape->source[0],
                        shape->source[1], shape->source[2], shape->source[3], row->kernels);
}

static void name_step(struct bench_report *report, const struct bench_step *step,
                      enum bench_feed feed, struct bench_row *row)
{
    (void)report, (void)step, (void)feed;
    output("%s\n", row->name);
}

static void pass_over_shape(struct bench_report *report, const struct bench_shape *shape,
                            enum bench_part part, struct bench_row *row)
{
    (void)report, (void)shape, (void)part, (void)row;
}

static void pass_over_step(struct bench_report *report, const struct bench_step *step,
                           enum bench_feed feed, struct bench_row *row)
{
    (void)report, (void)step, (void)feed, (void)row;
}

/* ---- Running them ---- */

static void run_row(struct bench_report *report, const struct bench_shape *shape,
                    enum bench_part part, struct bench_row *row)
{
    bench_run_shape(report, report->request->tool.device, shape, part, row);
    bench_report_row(report, row);
}

/* The rate of memory is the best of several kernels that do little else: one that is slow by itself
 * would make all others look near the floor. */
static void measure_rate(struct bench_report *report)
{
    for (const struct bench_shape *shape = bench_shapes; shape->name; shape++) {
        struct bench_row row = begin_row(shape, BENCH_FORWARD);
        if (!(shape->flags & BENCH_SETS_RATE))
            continue;
        bench_run_shape(report, report->request->tool.device, shape, BENCH_FORWARD, &row);
        if (!row.error[0] && row.bytes / row.timing.seconds > report->copy_rate)
            report->copy_rate = row.bytes / row.timing.seconds;
    }
}

static void run_step(struct bench_report *report, const struct bench_step *step,
                     enum bench_feed feed, struct bench_row *row)
{
    bench_run_step(report, report->request->tool.device, step, feed, row);
    bench_report_row(report, row);
}

static int tell(const struct tool_command *command, struct bench_report *report, cJSON *old_report)
{
    cJSON *json = bench_report_json(report);
    int status = report->failed > 0 ? EXIT_FAILED : EXIT_GOOD;
    if (report->failed > 0)
        complain(command, EXIT_FAILED, "%zu rows failed", report->failed);
    if (old_report && bench_compare(command, old_report, json) != EXIT_GOOD)
        status = EXIT_FAILED;
    if (!report->request->json)
        cJSON_Delete(json);
    else if (json_print(command, json) != EXIT_GOOD)
        status = EXIT_FAILED;
    return status;
}

static int run_all(const struct tool_command *command, struct bench_request *request)
{
    struct bench_report report = {.request = request, .rows = cJSON_CreateArray()};
    cJSON *old_report = NULL;
    if (request->compare && !(old_report = bench_read(command, request->compare))) {
        cJSON_Delete(report.rows);
        return EXIT_FAILED;
    }
    report.device = glcnn_device_info(request->tool.device);
    report.small = request->quick || report.device->software;
    measure_rate(&report);
    report.events = request->trace ? cJSON_CreateArray() : NULL;
    bench_report_head(&report);
    each_row(&report, run_row, run_step);
    int written = request->trace ? bench_trace_write(command, &report) : EXIT_GOOD;
    int status = tell(command, &report, old_report);
    cJSON_Delete(old_report);
    return status == EXIT_GOOD ? written : status;
}

/* Instead of rows. */
static int scale(const struct tool_command *command, struct bench_request *request)
{
    struct bench_report report = {.request = request};
    if (request->json || request->compare || request->trace || request->kernel)
        return complain(
            command, EXIT_USAGE,
            "--scaling answers in text, of whole series: --json, --compare, --trace and "
            "--kernel are not for it");
    if (bench_scaling(&report, false) == 0)
        return complain(
            command, EXIT_USAGE,
            "no series has this in its name; \"glcnn bench --scaling --list\" names them");
    if (request->list)
        return EXIT_GOOD;
    int status = device_open(&request->tool);
    if (status != EXIT_GOOD)
        return complain(command, status, "%s", request->tool.error);
    report.device = glcnn_device_info(request->tool.device);
    report.small = request->quick || report.device->software;
    bench_report_device(&report);
    bench_scaling(&report, true);
    glcnn_device_destroy(&request->tool.device);
    return report.failed > 0 ? complain(command, EXIT_FAILED, "%zu rows failed", report.failed)
                             : EXIT_GOOD;
}

static int bench(const struct tool_command *command, struct bench_request *request)
{
    struct bench_report report = {.request = request};
    if (request->kernel && !glcnn_kernel_info_by_name(request->kernel))
        return complain(command, EXIT_USAGE,
                        "there is no kernel \"%s\"; \"glcnn kernels --short\" lists them",
                        request->kernel);
    if (each_row(&report, pass_over_shape, pass_over_step) == 0)
        return complain(command, EXIT_USAGE,
                        "no row is of this kernel and has this in its name; \"glcnn bench --list\" "
                        "names the rows");
    if (request->list) {
        each_row(&report, name_row, name_step);
        return EXIT_GOOD;
    }
    int status = device_open(&request->tool);
    if (status != EXIT_GOOD)
        return complain(command, status, "%s", request->tool.error);
    status = run_all(command, request);
    glcnn_device_destroy(&request->tool.device);
    return status;
}

/* ---- The command line ---- */

static int compare_files(const struct tool_command *command, const char *old_path,
                         const char *new_path)
{
    cJSON *old_report = bench_read(command, old_path);
    cJSON *new_report = old_report ? bench_read(command, new_path) : NULL;
    int status = new_report ? bench_compare(command, old_report, new_report) : EXIT_FAILED;
    cJSON_Delete(old_report);
    cJSON_Delete(new_report);
    return status;
}

static bool read_option(struct bench_request *r, int letter)
{
    switch (letter) {
    case 'k':
        return (r->kernel = optarg) != NULL;
    case 'q':
        return r->quick = true;
    case 'l':
        return r->list = true;
    case 'f':
        return (r->format = GLCNN_CHANNEL_FORMAT_FLOAT16);
    case OPTION_JSON:
        return r->json = true;
    case OPTION_SHAPE:
        return (r->shape = optarg) != NULL;
    case OPTION_COMPARE:
        return (r->compare = optarg) != NULL;
    case OPTION_SCALING:
        return r->scaling = true;
    case OPTION_TRACE:
        return (r->trace = optarg) != NULL;
    default:
        return read_device_option(&r->tool, letter);
    }
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct bench_request request = {.format = GLCNN_CHANNEL_FORMAT_FLOAT32};
    for (int letter; (letter = next_option(command, argc, argv)) != OPTIONS_DONE;) {
        if (letter == 'h') {
            print_help(command);
            return EXIT_GOOD;
        }
        if (!read_option(&request, letter))
            return EXIT_USAGE;
    }
    if (request.compare && optind + 1 == argc)
        return compare_files(command, request.compare, argv[optind]);
    if (request.compare && request.json)
        return complain(command, EXIT_USAGE,
                        "--compare answers in text: write --json to a file and compare the two");
    int status = expect_no_arguments(command, argc, argv);
    return status == EXIT_GOOD ? (request.scaling ? scale : bench)(command, &request) : status;
}

const struct tool_command command_bench = {
    .name = "bench",
    .arguments = "[OPTION]... [NEW.json]",
    .text = "how long kernels and training steps take on this device",
    .details = details,
    .options = options,
    .run = run};
