/* glcnn check: every kernel on this device against its double-precision reference. This is what a
 * report from a board should carry. */
#include "tool.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct request {
    const char **kernels; /* none: all */
    size_t kernel_count;
    bool quick, json;
    struct tool_device tool;
};

static const struct option_row options[] = {
    {'k', "kernel", "NAME", "check only this kernel; may be repeated"},
    {'q', "quick", NULL, "small shapes only", FLAG_AT(struct request, quick)},
    {0, "json", NULL, "print JSON; an error of null is not finite", FLAG_AT(struct request, json)},
    DEVICE_OPTIONS,
    {0}};

static const char details[] =
    "Errors are in units of the bound in glcnn/image.h; a kernel fails above 1. Errors with "
    "images stored as float16 also have a column of their own. Exit status: 0 if every kernel "
    "passed, 1 if one failed, 77 if there is no device.\n";

struct report {
    const struct request *request;
    cJSON *rows; /* NULL: as text */
    size_t kernels, failed;
    double largest_error, largest_float16_error; /* of all kernels */
};

static bool has_failed(const struct glcnn_check_row *row)
{
    return row->failed > 0 || row->error;
}

static void print_row(const struct glcnn_check_row *row)
{
    char half[32] = "-";
    if (row->float16_cases > 0)
        snprintf(half, sizeof half, "%.3g", row->largest_float16_error);
    output("%-40s %5u %6u %8.3g %8s  %s\n", row->kernel, row->cases, row->failed,
           row->largest_error, half, has_failed(row) ? "FAILED" : "passed");
    if (row->failed > 0 && row->worst)
        output("    worst: %s\n", row->worst);
    if (row->error)
        output("    could not run: %s\n", row->error);
    fflush(stdout); /* a check takes a while: rows are seen as they come */
}

static cJSON *json_of_row(const struct glcnn_check_row *row)
{
    cJSON *object = cJSON_CreateObject();
    json_add_text(object, "kernel", row->kernel);
    cJSON_AddBoolToObject(object, "passed", !has_failed(row));
    cJSON_AddNumberToObject(object, "cases", row->cases);
    cJSON_AddNumberToObject(object, "failed", row->failed);
    cJSON_AddNumberToObject(object, "largest_error", row->largest_error);
    cJSON_AddNumberToObject(object, "float16_cases", row->float16_cases);
    cJSON_AddNumberToObject(object, "largest_float16_error", row->largest_float16_error);
    json_add_text(object, "worst", row->worst);
    json_add_text(object, "error", row->error);
    return object;
}

static void take_row(void *user, const struct glcnn_check_row *row)
{
    struct report *report = user;
    report->kernels++;
    report->failed += has_failed(row);
    report->largest_error = fmax(report->largest_error, row->largest_error);
    report->largest_float16_error = fmax(report->largest_float16_error, row->largest_float16_error);
    if (report->rows)
        cJSON_AddItemToArray(report->rows, json_of_row(row));
    else
        print_row(row);
}

/* All kernels, or those that were named. */
static glcnn_status check_all(struct report *report, glcnn_device *device)
{
    const struct request *r = report->request;
    glcnn_status status = GLCNN_SUCCESS;
    size_t failed;
    if (r->kernel_count == 0)
        return glcnn_check(device, NULL, r->quick, take_row, report, &failed);
    for (size_t i = 0; i < r->kernel_count && status == GLCNN_SUCCESS; i++)
        status = glcnn_check(device, r->kernels[i], r->quick, take_row, report, &failed);
    return status;
}

static void print_head(const struct glcnn_device_properties *info)
{
    output("glcnn %s on %s\n%s\n\n", glcnn_version(), info->renderer, info->gl_version);
    output("%-40s %5s %6s %8s %8s\n", "kernel", "cases", "failed", "error", "float16");
}

static int print_json(const struct tool_command *command, const struct report *report,
                      const struct glcnn_device_properties *info)
{
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "version", glcnn_version());
    cJSON_AddItemToObject(json, "device", json_of_device(info));
    cJSON_AddBoolToObject(json, "quick", report->request->quick);
    cJSON_AddNumberToObject(json, "failed", (double)report->failed);
    cJSON_AddItemToObject(json, "kernels", report->rows);
    return json_print(command, json);
}

static int check_device(const struct tool_command *command, const struct request *request,
                        glcnn_device *device)
{
    struct report report = {.request = request, .rows = request->json ? cJSON_CreateArray() : NULL};
    const struct glcnn_device_properties *info = glcnn_device_info(device);
    if (!request->json)
        print_head(info);
    glcnn_status status = check_all(&report, device);
    int printed = EXIT_GOOD;
    if (request->json)
        printed = print_json(command, &report, info);
    else
        output("\n%zu kernels, %zu failed; largest error %.3g, in float16 %.3g\n", report.kernels,
               report.failed, report.largest_error, report.largest_float16_error);
    if (status != GLCNN_SUCCESS)
        return complain(command, EXIT_FAILED, "%s: %s", glcnn_status_text(status),
                        glcnn_device_error(device));
    return report.failed > 0 ? EXIT_FAILED : printed;
}

static int check(const struct tool_command *command, const struct request *request)
{
    struct tool_device tool = request->tool;
    for (size_t i = 0; i < request->kernel_count; i++)
        if (!glcnn_kernel_info_by_name(request->kernels[i]))
            return complain_of_kernel(command, request->kernels[i]);
    int status = device_open(&tool);
    if (status != EXIT_GOOD)
        return complain(command, status, "%s", tool.error);
    status = check_device(command, request, tool.device);
    glcnn_device_destroy(&tool.device);
    return status;
}

static int read_kernel(void *values, int letter)
{
    struct request *r = values;
    (void)letter;
    r->kernels[r->kernel_count++] = optarg;
    return EXIT_GOOD;
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    struct request request = {.kernels = calloc((size_t)argc + 1, sizeof(char *))};
    if (!request.kernels)
        return complain(command, EXIT_FAILED, "not enough memory");
    int status;
    if (read_options(command, argc, argv, &request, &request.tool, read_kernel, &status)) {
        status = expect_no_arguments(command, argc, argv);
        status = status == EXIT_GOOD ? check(command, &request) : status;
    }
    free(request.kernels);
    return status;
}

const struct tool_command command_check = {
    .name = "check",
    .arguments = "[OPTION]...",
    .text = "every kernel against its double-precision reference on this device",
    .details = details,
    .options = options,
    .run = run};
