/* glcnn bench: how long kernels and training steps take on this device, and the kernels compared with
 * what copying the same bytes would take. */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/claim.h"
#include "task/nets.h"

#define ROWS 400 /* at most */

enum { OPTION_JSON = 256, OPTION_SHAPE, OPTION_COMPARE, OPTION_TRACE, OPTION_DATA, OPTION_FORCE };

static const struct option_row options[] = {
    {'k', "kernel", "NAME", "only the rows of this kernel"},
    {OPTION_SHAPE, "shape", "TEXT", "only the rows with TEXT in their name"},
    {'q', "quick", NULL, "small batches and few samples"},
    {'f', "float16", NULL, "images stored as float16; networks stay float32"},
    {'l', "list", NULL, "list the rows without running them"},
    {OPTION_JSON, "json", NULL, "print JSON; null means not known"},
    {OPTION_COMPARE, "compare", READS "OLD.json", "compare with the rows of this report"},
    {OPTION_TRACE, "trace", WRITES "FILE", "write the passes as a Chrome trace"},
    {OPTION_DATA, "data", READS "PATH", "also load these pictures, and take steps on their size"},
    {OPTION_FORCE, "force", NULL, "overwrite an existing file"},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "Inputs are random; a row fails if a result is not finite. The columns of a row:\n"
    "  ms       median of the samples; +-% half of the range of their middle half. Of a kernel, "
    "a sample is what its passes take; of a step, wall time of many steps and one wait\n"
    "  GB/s     of the bytes of images and weights that must be read and written, each once; "
    "what a forward pass leaves for its gradient in a state does not count\n"
    "  GFLOP/s  of kernels with weights; a multiplication and an addition are two\n"
    "  x floor  ratio to the time that these bytes take at the best rate of slice, relu and add, "
    "which are measured first\n"
    "  passes   of one call or step, and the dispatches (calls) that they are split into\n"
    "  CPU us   processor time of this thread to issue a step\n"
    "  images/s of a step, and of the loader\n"
    "With --data, which takes what --data of \"glcnn train\" takes, the loader has the processors to itself, "
    "and steps are of pictures of the same size: a network waits for data where the loader has fewer images/s. "
    "As in training, pictures that fit in 256 MiB are decoded once and then kept.\n"
    "Software rasterisers and --quick take a 16th of the images of a kernel and only the smallest "
    "batch of a step. No row fills more than a quarter of the machine's memory.\n\n"
    "Times of passes are timestamps of the GPU if the driver has GL_EXT_disjoint_timer_query, "
    "otherwise wall time between two waits; the trace, and a line on standard error, say which.\n\n"
    "With --compare, NEW.json may follow: nothing runs, and the two files are compared. A change "
    "counts from 5 % on, or from the larger spread of the two.\n\n"
    "Exit status: 0 if every row ran and, with --compare, none is slower; 1 otherwise; 77 if "
    "there is no device. Rows that need more memory or higher limits than the device has are left "
    "out.\n";

/* ---- Rows ---- */

static bool has_parts(const char *gradient)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(gradient);
    for (size_t i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, "gradient_option") == 0)
            return true;
    return false;
}

static size_t add_shape(const struct bench_shape *shape, struct bench_row *rows)
{
    static const char *const parts[BENCH_PARTS] = {"forward", "gradient", "data", "weights"};
    const char *gradient =
        shape->gradient ? shape->gradient : glcnn_kernel_info_by_name(shape->kernel)->gradient;
    bool split = gradient && has_parts(gradient);
    size_t count = 0;
    for (int part = 0; part < BENCH_PARTS; part++) {
        bool is_forward = part == BENCH_FORWARD;
        if (!is_forward && (!gradient || split != (part != BENCH_GRADIENT)))
            continue;
        struct bench_row *row = &rows[count++];
        *row = (struct bench_row){.shape = shape, .part = (enum bench_part)part};
        row->kernels[0] = shape->statistics[!is_forward];
        row->kernels[1] = is_forward ? shape->kernel : gradient;
        snprintf(row->name, sizeof row->name, gradient ? "%s, %s" : "%s", shape->name, parts[part]);
    }
    return count;
}

static size_t list_rows(const struct bench_request *request, struct bench_row rows[ROWS])
{
    static const uint32_t batches[] = {64, 512, 4096};
    size_t count = 0;
    for (const struct bench_shape *shape = bench_shapes; shape->name; shape++)
        count += add_shape(shape, &rows[count]);
    for (size_t b = 0; request->data && b < sizeof batches / sizeof *batches; b++) {
        struct bench_row *row = &rows[count++];
        *row = (struct bench_row){.batch = batches[b]};
        snprintf(row->name, sizeof row->name, "loader, batch %u", row->batch);
    }
    for (size_t n = 0; net_at(n); n++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            struct bench_row *row = &rows[count++];
            *row = (struct bench_row){.net = net_at(n)->name, .batch = batches[b]};
            snprintf(row->name, sizeof row->name, "step of %s, batch %u", row->net, row->batch);
        }
    return count;
}

static bool is_kernel(const char *kernel, const char *name)
{
    return kernel && strcmp(kernel, name) == 0;
}

/* Keeps the rows that are asked for; how many there are. */
static size_t choose_rows(const struct bench_request *request, struct bench_row *rows, size_t count)
{
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++)
        if ((!request->kernel || is_kernel(rows[i].kernels[0], request->kernel) ||
             is_kernel(rows[i].kernels[1], request->kernel)) &&
            (!request->shape || strstr(rows[i].name, request->shape)))
            rows[chosen++] = rows[i];
    return chosen;
}

static void print_rows(const struct bench_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct bench_row *row = &rows[i];
        const uint32_t *n = row->shape ? row->shape->source : NULL;
        if (n)
            output_indented(4, "%-48s %4ux%ux%ux%u  %s%s%s\n", row->name, n[0], n[1], n[2], n[3],
                            row->kernels[0] ? row->kernels[0] : "", row->kernels[0] ? " " : "",
                            row->kernels[1]);
        else
            output("%s\n", row->name);
    }
}

/* ---- Running them ---- */

/* The rate of memory is the best of several kernels that do little else: one that is slow by itself
 * would make all others look near the floor. */
static void measure_rate(struct bench_report *report)
{
    cJSON *events = report->events;
    report->events = NULL;
    for (const struct bench_shape *shape = bench_shapes; shape->name; shape++) {
        struct bench_row rows[BENCH_PARTS];
        struct bench_result result = {.seconds = 0};
        if (!(shape->flags & BENCH_SETS_RATE))
            continue;
        add_shape(shape, rows);
        bench_run_kernel(report, &rows[BENCH_FORWARD], &result);
        if (!result.error[0] && result.bytes > report->copy_rate * result.seconds)
            report->copy_rate = result.bytes / result.seconds;
    }
    report->events = events;
    report->trace_time = 0;
}

static void run_rows(struct bench_report *report, const struct bench_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bench_result result = {.seconds = 0};
        if (rows[i].shape)
            bench_run_kernel(report, &rows[i], &result);
        else if (report->small && rows[i].batch > 64)
            continue;
        else if (rows[i].net)
            bench_run_step(report, &rows[i], &result);
        else
            bench_run_loading(report, &rows[i], &result);
        bench_add_result(report, &rows[i], &result);
    }
}

static int finish(const struct tool_command *command, struct bench_report *report,
                  const cJSON *old_report)
{
    cJSON *json = bench_json(report);
    int status = EXIT_GOOD;
    if (report->failed > 0)
        status = complain(command, EXIT_FAILED, "%zu rows failed", report->failed);
    if (old_report && bench_compare(command, old_report, json) != EXIT_GOOD)
        status = EXIT_FAILED;
    if (!report->request->json)
        cJSON_Delete(json);
    else if (json_print(command, json) != EXIT_GOOD)
        status = EXIT_FAILED;
    return status;
}

static int run_on(const struct tool_command *command, struct bench_request *request,
                  const struct pictures *pictures, const struct bench_row *rows, size_t count)
{
    cJSON *old_report = request->compare ? bench_read(command, request->compare) : NULL;
    if (request->compare && !old_report)
        return EXIT_FAILED;
    int status = device_open(&request->tool);
    if (status != EXIT_GOOD) {
        cJSON_Delete(old_report);
        return complain(command, status, "%s", request->tool.error);
    }
    struct bench_report report = {.request = request,
                                  .device = glcnn_device_info(request->tool.device),
                                  .form = pictures ? bench_form_of(pictures) : bench_form,
                                  .pictures = pictures,
                                  .rows = cJSON_CreateArray(),
                                  .events = request->trace ? cJSON_CreateArray() : NULL};
    report.small = request->quick || report.device->software;
    measure_rate(&report);
    bench_print_head(&report);
    run_rows(&report, rows, count);
    int written = request->trace ? bench_trace_write(command, &report) : EXIT_GOOD;
    status = finish(command, &report, old_report);
    cJSON_Delete(old_report);
    glcnn_device_destroy(&request->tool.device);
    return status == EXIT_GOOD ? written : status;
}

/* Times all rows; the loader reads the pictures of --data. */
static int run_all(const struct tool_command *command, struct bench_request *request,
                   const struct bench_row *rows, size_t count)
{
    char error[GLCNN_ERROR_LENGTH];
    struct pictures pictures = {.set = NULL};
    if (!request->data)
        return run_on(command, request, NULL, rows, count);
    int status = bench_open_data(request->data, &pictures, error)
                     ? run_on(command, request, &pictures, rows, count)
                     : complain(command, EXIT_FAILED, "%s", error);
    pictures_close(&pictures);
    return status;
}

/* With the file of the trace claimed. */
static int run_claimed(const struct tool_command *command, struct bench_request *request,
                       const struct bench_row *rows, size_t count)
{
    char error[GLCNN_ERROR_LENGTH];
    struct claims claims = {.force = request->force};
    claims_read(&claims, request->compare);
    claims_read(&claims, request->data);
    claims_write(&claims, &(struct claim_output){.option = "--trace",
                                                 .path = request->trace,
                                                 .mark = &claim_trace,
                                                 .in_place = true});
    int status = claims_take(&claims, error) ? run_all(command, request, rows, count)
                                             : complain(command, EXIT_FAILED, "%s", error);
    claims_release(&claims);
    return status;
}

static int bench(const struct tool_command *command, struct bench_request *request)
{
    if (request->kernel && !glcnn_kernel_info_by_name(request->kernel))
        return complain_of_kernel(command, request->kernel);
    struct bench_row *rows = calloc(ROWS, sizeof *rows);
    if (!rows)
        return complain(command, EXIT_FAILED, "not enough memory");
    int status = EXIT_GOOD;
    size_t count = choose_rows(request, rows, list_rows(request, rows));
    if (count == 0)
        status =
            complain(command, EXIT_USAGE,
                     "no row has this kernel and this text in its name; \"glcnn bench --list\" "
                     "lists the rows");
    else if (request->list)
        print_rows(rows, count);
    else
        status = run_claimed(command, request, rows, count);
    free(rows);
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
    case OPTION_FORCE:
        return r->force = true;
    case OPTION_SHAPE:
        return (r->shape = optarg) != NULL;
    case OPTION_DATA:
        return (r->data = optarg) != NULL;
    case OPTION_COMPARE:
        return (r->compare = optarg) != NULL;
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
                        "--compare prints text; write --json to a file and compare the two files");
    int status = expect_no_arguments(command, argc, argv);
    return status == EXIT_GOOD ? bench(command, &request) : status;
}

const struct tool_command command_bench = {
    .name = "bench",
    .arguments = "[OPTION]... [NEW.json]",
    .text = "how long kernels and training steps take on this device",
    .details = details,
    .options = options,
    .run = run};
