/* glcnn bench: what its parts share. bench.c has the command line, bench_report.c prints results, bench_trace.c writes
 * the trace, and bench_compare.c compares two reports. */
#ifndef GLCNN_TOOL_BENCH_H
#define GLCNN_TOOL_BENCH_H

#include <glcnn/bench.h>

#include "tool.h"

struct bench_request {
    struct glcnn_bench_parameters parameters;
    const char *compare, *trace; /* NULL: not given */
    bool json, list, force;
    struct tool_device tool;
};

struct bench_report {
    const struct tool_command *command;
    struct bench_request *request;
    glcnn_bench *bench;
    const struct glcnn_device_properties *device;
    cJSON *rows;
    cJSON *events;     /* of the trace; NULL: none is written */
    double trace_time; /* microseconds: where the next row starts in the trace */
    bool gpu_clock;    /* the trace has timestamps of the GPU */
    size_t failed;
};

/* Adds the passes of a call or step to the trace. */
void bench_trace_add(struct bench_report *report, const struct glcnn_bench_result *result);
int bench_trace_write(struct bench_report *report);

void bench_print_head(const struct bench_report *report);
/* Prints a result, unless the request is for JSON, and adds it to the report and its trace. */
void bench_add_result(struct bench_report *report, const struct glcnn_bench_result *result);
/* The whole report; takes report->rows. */
cJSON *bench_json(struct bench_report *report);

/* Reads a report of --json; NULL after a complaint. */
cJSON *bench_read(const struct tool_command *command, const char *path);
/* Compares the rows that both reports have. EXIT_FAILED where one is slower. */
int bench_compare(const struct tool_command *command, const cJSON *old_report,
                  const cJSON *new_report);

#endif
