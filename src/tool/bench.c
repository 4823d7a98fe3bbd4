/* glcnn bench: how long kernels and training steps take on this device, and the kernels compared with
 * what copying the same bytes would take. */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/claim.h"

static const struct option_row options[] = {
    {'k', "kernel", "NAME", "only the rows of this kernel",
     NAME_AT(struct bench_request, parameters.kernel)},
    {0, "shape", "TEXT", "only the rows with TEXT in their name",
     NAME_AT(struct bench_request, parameters.shape)},
    {'q', "quick", NULL, "small batches and few samples",
     FLAG_AT(struct bench_request, parameters.quick)},
    {'f', "float16", NULL, "images stored as float16; networks stay float32"},
    {'l', "list", NULL, "list the rows without running them", FLAG_AT(struct bench_request, list)},
    {0, "json", NULL, "print JSON; null means not known", FLAG_AT(struct bench_request, json)},
    {0, "board", NULL,
     "print JSON of the steps at batch 64, and the board's name: the form in which a board is "
     "reported",
     FLAG_AT(struct bench_request, parameters.board)},
    {0, "compare", READS "OLD.json", "compare with the rows of this report",
     NAME_AT(struct bench_request, compare)},
    {0, "trace", WRITES "FILE", "write the passes as a Chrome trace",
     NAME_AT(struct bench_request, trace)},
    {0, "data", READS "PATH", "also load these pictures, and take steps on their size",
     NAME_AT(struct bench_request, parameters.data)},
    {0, "force", NULL, "overwrite an existing file", FLAG_AT(struct bench_request, force)},
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

/* ---- Running ---- */

static void print_rows(const glcnn_bench *bench)
{
    const struct glcnn_bench_row *row;
    for (size_t i = 0; (row = glcnn_bench_row_at(bench, i)) != NULL; i++) {
        const uint32_t *n = row->source;
        if (row->kernels[1])
            output_indented(4, "%-48s %4ux%ux%ux%u  %s%s%s\n", row->name, n[0], n[1], n[2], n[3],
                            row->kernels[0] ? row->kernels[0] : "", row->kernels[0] ? " " : "",
                            row->kernels[1]);
        else
            output("%s\n", row->name);
    }
}

static int finish(struct bench_report *report, const cJSON *old_report)
{
    cJSON *json = bench_json(report);
    int status = EXIT_GOOD;
    if (report->failed > 0)
        status = complain(report->command, EXIT_FAILED, "%zu rows failed", report->failed);
    if (old_report && bench_compare(report->command, old_report, json) != EXIT_GOOD)
        status = EXIT_FAILED;
    if (!report->request->json)
        cJSON_Delete(json);
    else if (json_print(report->command, json) != EXIT_GOOD)
        status = EXIT_FAILED;
    return status;
}

static int run_rows(struct bench_report *report, const cJSON *old_report)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct glcnn_bench_result *result;
    if (glcnn_bench_begin(report->bench, report->request->tool.device, error) != GLCNN_SUCCESS)
        return complain(report->command, EXIT_FAILED, "%s", error);
    report->device = glcnn_device_info(report->request->tool.device);
    report->rows = cJSON_CreateArray();
    report->events = report->request->trace ? cJSON_CreateArray() : NULL;
    bench_print_head(report);
    while ((result = glcnn_bench_next(report->bench)) != NULL)
        bench_add_result(report, result);
    const int written = report->request->trace ? bench_trace_write(report) : EXIT_GOOD;
    const int status = finish(report, old_report);
    return status == EXIT_GOOD ? written : status;
}

static int run_on(struct bench_report *report)
{
    struct bench_request *request = report->request;
    cJSON *old_report = request->compare ? bench_read(report->command, request->compare) : NULL;
    if (request->compare && !old_report)
        return EXIT_FAILED;
    int status = device_open(&request->tool);
    status = status == EXIT_GOOD ? run_rows(report, old_report)
                                 : complain(report->command, status, "%s", request->tool.error);
    cJSON_Delete(old_report);
    return status;
}

/* With the file of the trace claimed. */
static int run_claimed(struct bench_report *report)
{
    char error[GLCNN_ERROR_LENGTH];
    const struct bench_request *request = report->request;
    struct claims claims = {.force = request->force};
    claims_read(&claims, request->compare);
    claims_read(&claims, request->parameters.data);
    claims_write(&claims, &(struct claim_output){.option = "--trace",
                                                 .path = request->trace,
                                                 .mark = &claim_trace,
                                                 .in_place = true});
    int status = claims_take(&claims, error) ? run_on(report)
                                             : complain(report->command, EXIT_FAILED, "%s", error);
    claims_release(&claims);
    return status;
}

static int bench(const struct tool_command *command, struct bench_request *request)
{
    char error[GLCNN_ERROR_LENGTH];
    struct bench_report report = {.command = command, .request = request};
    const char *kernel = request->parameters.kernel;
    if (kernel && !glcnn_kernel_info_by_name(kernel))
        return complain_of_kernel(command, kernel);
    const glcnn_status made = glcnn_bench_create(&request->parameters, &report.bench, error);
    if (made != GLCNN_SUCCESS)
        return complain(command, made == GLCNN_INVALID_ARGUMENT ? EXIT_USAGE : EXIT_FAILED,
                        "%s; \"glcnn bench --list\" lists the rows", error);
    int status = EXIT_GOOD;
    if (request->list)
        print_rows(report.bench);
    else
        status = run_claimed(&report);
    glcnn_bench_destroy(&report.bench);
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

static int read_format(void *values, int letter)
{
    struct bench_request *request = values;
    (void)letter;
    request->parameters.format = GLCNN_CHANNEL_FORMAT_FLOAT16;
    return EXIT_GOOD;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct bench_request request = {.list = false};
    int status;
    if (!read_options(command, argc, argv, &request, &request.tool, read_format, &status))
        return status;
    request.json = request.json || request.parameters.board;
    if (request.compare && optind + 1 == argc)
        return compare_files(command, request.compare, argv[optind]);
    if (request.compare && request.json)
        return complain(command, EXIT_USAGE,
                        "--compare prints text; write --json to a file and compare the two files");
    status = expect_no_arguments(command, argc, argv);
    return status == EXIT_GOOD ? bench(command, &request) : status;
}

const struct tool_command command_bench = {
    .name = "bench",
    .arguments = "[OPTION]... [NEW.json]",
    .text = "how long kernels and training steps take on this device",
    .details = details,
    .options = options,
    .run = run};
