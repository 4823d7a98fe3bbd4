/* What glcnn bench tells: lines of text as rows come, or JSON at the end. */
#include "bench.h"

#include <stdio.h>

/* Seconds that the copy of so many bytes would take; 0: not known. */
static double floor_of(const struct bench_report *report, const struct bench_row *row)
{
    return report->copy_rate > 0 ? row->bytes / report->copy_rate : 0;
}

void bench_report_device(const struct bench_report *report)
{
    output("glcnn %s on %s, %s\n", glcnn_version(), report->device->renderer,
           report->device->gl_version);
    if (report->small)
        output("Shapes are small, for a quick look: rates are those of caches.\n");
    output("\n");
}

void bench_report_head(const struct bench_report *report)
{
    if (report->request->json)
        return;
    bench_report_device(report);
    output("%-48s %18s\n%12s %6s %8s %8s %7s %6s %6s %8s\n", "row", "shape", "ms", "+-%", "GB/s",
           "GFLOP/s", "x floor", "passes", "calls", "CPU us");
}

static void format_rate(double amount, const struct bench_row *row, char text[16])
{
    if (amount > 0 && row->timing.seconds > 0)
        snprintf(text, 16, "%.1f", 1e-9 * amount / row->timing.seconds);
    else
        snprintf(text, 16, "-");
}

static void print_row(const struct bench_report *report, const struct bench_row *row)
{
    char bytes[16], operations[16], ratio[16] = "-", shape[48];
    double floor = floor_of(report, row);
    format_rate(row->bytes, row, bytes);
    format_rate(row->operations, row, operations);
    if (floor > 0)
        snprintf(ratio, sizeof ratio, "%.2f", row->timing.seconds / floor);
    snprintf(shape, sizeof shape, "%ux%ux%ux%u", row->shape[0], row->shape[1], row->shape[2],
             row->shape[3]);
    output("%-48s %18s\n", row->name, shape);
    if (row->timing.seconds > 0)
        output("%12.4f %6.1f %8s %8s %7s %6u %6u %8.1f\n", 1e3 * row->timing.seconds,
               50 * row->timing.spread, bytes, operations, ratio, row->passes, row->dispatches,
               1e6 * row->timing.commit_cpu);
    if (row->error[0])
        output("  %s: %s\n", row->left_out ? "left out" : "FAILED", row->error);
    fflush(stdout); /* it takes a while: rows are seen as they come */
}

/* A number, or null for what is not known. */
static void add_known(cJSON *object, const char *name, double value)
{
    if (value > 0)
        cJSON_AddNumberToObject(object, name, value);
    else
        cJSON_AddNullToObject(object, name);
}

static cJSON *json_of_row(const struct bench_report *report, const struct bench_row *row)
{
    cJSON *object = cJSON_CreateObject();
    double seconds = row->timing.seconds, floor = floor_of(report, row);
    json_add_text(object, "name", row->name);
    json_add_text(object, "kernels", row->kernels);
    cJSON *shape = cJSON_AddArrayToObject(object, "shape");
    for (int i = 0; i < 4; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber(row->shape[i]));
    add_known(object, "milliseconds", 1e3 * seconds);
    cJSON_AddNumberToObject(object, "spread", row->timing.spread);
    cJSON_AddNumberToObject(object, "repeats", row->timing.repeats);
    add_known(object, "bytes", row->bytes);
    add_known(object, "operations", row->operations);
    add_known(object, "gigabytes_per_second", seconds > 0 ? 1e-9 * row->bytes / seconds : 0);
    add_known(object, "gigaflops", seconds > 0 ? 1e-9 * row->operations / seconds : 0);
    add_known(object, "times_floor", floor > 0 ? seconds / floor : 0);
    cJSON_AddNumberToObject(object, "passes", row->passes);
    cJSON_AddNumberToObject(object, "dispatches", row->dispatches);
    cJSON_AddNumberToObject(object, "commit_cpu_microseconds", 1e6 * row->timing.commit_cpu);
    cJSON_AddBoolToObject(object, "left_out", row->left_out);
    json_add_text(object, "error", row->error[0] ? row->error : NULL);
    return object;
}

void bench_report_row(struct bench_report *report, const struct bench_row *row)
{
    if (row->error[0] && !row->left_out)
        report->failed++;
    if (!report->request->json)
        print_row(report, row);
    cJSON_AddItemToArray(report->rows, json_of_row(report, row));
}

cJSON *bench_report_json(struct bench_report *report)
{
    bool half = report->request->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
    cJSON *json = cJSON_CreateObject();
    json_add_text(json, "version", glcnn_version());
    cJSON_AddItemToObject(json, "device", json_of_device(report->device));
    json_add_text(json, "format", half ? "float16" : "float32");
    cJSON_AddBoolToObject(json, "small", report->small);
    add_known(json, "copy_bytes_per_second", report->copy_rate);
    cJSON_AddNumberToObject(json, "failed", (double)report->failed);
    cJSON_AddItemToObject(json, "rows", report->rows);
    report->rows = NULL;
    return json;
}
