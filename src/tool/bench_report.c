/* Prints the results of glcnn bench: lines of text as rows come, or JSON at the end. */
#include "bench.h"

#include <glcnn/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- As text ---- */

void bench_print_head(const struct bench_report *report)
{
    if (report->request->json)
        return;
    output("glcnn %s on %s\n%s\n", glcnn_version(), report->device->renderer,
           report->device->gl_version);
    if (glcnn_bench_is_small(report->bench))
        output("Batches are small, for a quick look: rates are those of caches.\n");
    output("\n%-48s %18s\n%12s %6s %8s %8s %7s %6s %6s %8s %9s\n", "row", "shape", "ms", "+-%",
           "GB/s", "GFLOP/s", "x floor", "passes", "calls", "CPU us", "images/s");
}

static void format_number(const char *format, double value, char text[16])
{
    if (value > 0)
        snprintf(text, 16, format, value);
    else
        snprintf(text, 16, "-");
}

static double per_second(double amount, const struct glcnn_bench_result *result)
{
    return result->seconds > 0 ? 1e-9 * amount / result->seconds : 0;
}

/* 0: of a kernel. */
static double images_per_second(const struct glcnn_bench_result *result)
{
    return 1e9 * per_second(result->row->batch, result);
}

static void print_result(const struct glcnn_bench_result *r)
{
    char bytes[16], operations[16], ratio[16], cpu[16], images[16], shape[48];
    format_number("%.1f", per_second(r->bytes, r), bytes);
    format_number("%.1f", per_second(r->operations, r), operations);
    format_number("%.2f", r->times_floor, ratio);
    format_number("%.1f", 1e6 * r->commit_cpu, cpu);
    format_number("%.0f", images_per_second(r), images);
    snprintf(shape, sizeof shape, "%ux%ux%ux%u", r->size[0], r->size[1], r->size[2], r->size[3]);
    output("%-48s %18s\n", r->row->name, shape);
    if (r->seconds > 0)
        output("%12.4f %6.1f %8s %8s %7s %6u %6u %8s %9s\n", 1e3 * r->seconds, 50 * r->spread,
               bytes, operations, ratio, r->pass_count, r->dispatches, cpu, images);
    if (r->error[0])
        output("  %s: %s\n", r->left_out ? "left out" : "FAILED", r->error);
    fflush(stdout); /* it takes a while: rows are seen as they come */
}

/* ---- As JSON ---- */

/* A number, or null for what is not known. */
static void add_known(cJSON *object, const char *name, double value)
{
    if (value > 0)
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

static cJSON *json_of_result(const struct glcnn_bench_result *r)
{
    cJSON *object = cJSON_CreateObject();
    json_add_text(object, "name", r->row->name);
    cJSON *kernels = cJSON_AddArrayToObject(object, "kernels");
    for (size_t i = 0; i < 2; i++)
        if (r->row->kernels[i])
            cJSON_AddItemToArray(kernels, cJSON_CreateString(r->row->kernels[i]));
    cJSON *shape = cJSON_AddArrayToObject(object, "shape");
    for (size_t i = 0; i < 4; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber(r->size[i]));
    add_known(object, "milliseconds", 1e3 * r->seconds);
    cJSON_AddNumberToObject(object, "spread", r->spread);
    add_known(object, "bytes", r->bytes);
    add_known(object, "operations", r->operations);
    add_known(object, "gigabytes_per_second", per_second(r->bytes, r));
    add_known(object, "gigaflops", per_second(r->operations, r));
    add_known(object, "times_floor", r->times_floor);
    cJSON_AddNumberToObject(object, "passes", r->pass_count);
    cJSON_AddNumberToObject(object, "dispatches", r->dispatches);
    add_known(object, "commit_cpu_microseconds", 1e6 * r->commit_cpu);
    add_known(object, "images_per_second", images_per_second(r));
    cJSON_AddBoolToObject(object, "left_out", r->left_out);
    json_add_text(object, "error", r->error[0] ? r->error : NULL);
    return object;
}

void bench_add_result(struct bench_report *report, const struct glcnn_bench_result *result)
{
    report->failed += result->error[0] && !result->left_out;
    if (!report->request->json)
        print_result(result);
    bench_trace_add(report, result);
    cJSON_AddItemToArray(report->rows, json_of_result(result));
}

/* Reads what the machine calls itself from its device tree or its firmware; "": neither says. */
static void find_board(char *name, size_t size)
{
    static const char *const paths[] = {"/proc/device-tree/model",
                                        "/sys/class/dmi/id/product_name"};
    size_t length = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && length == 0; i++) {
        char bytes[128];
        int file;
        if (glcnn_file_open(paths[i], &file, NULL, NULL) != GLCNN_SUCCESS)
            continue;
        const ssize_t count = read(file, bytes, sizeof bytes);
        close(file);
        /* A device tree ends it with a zero, and firmware with a new line. */
        for (ssize_t k = 0; k < count && bytes[k] >= ' ' && length + 1 < size; k++)
            name[length++] = bytes[k];
    }
    name[length] = 0;
}

cJSON *bench_json(struct bench_report *report)
{
    char board[128];
    bool half = report->request->parameters.format == GLCNN_CHANNEL_FORMAT_FLOAT16;
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "version", glcnn_version());
    find_board(board, sizeof board);
    json_add_text(json, "board", board[0] ? board : NULL);
    cJSON_AddItemToObject(json, "device", json_of_device(report->device));
    json_add_text(json, "format", half ? "float16" : "float32");
    cJSON_AddBoolToObject(json, "small", glcnn_bench_is_small(report->bench));
    add_known(json, "copy_bytes_per_second", glcnn_bench_rate(report->bench));
    cJSON_AddNumberToObject(json, "failed", (double)report->failed);
    cJSON_AddItemToObject(json, "rows", report->rows);
    report->rows = NULL;
    return json;
}
