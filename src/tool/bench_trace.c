/* Passes of the rows as a Chrome trace (chrome://tracing, Perfetto): an event for each pass of one
 * commit of each row, the rows one behind the other. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The passes of one commit. */
struct recorder {
    struct bench_report *report;
    struct bench_row *row;
    uint64_t begin;    /* of the first pass, by its own clock */
    double start, end; /* microseconds, in the trace */
};

static void add_event(struct recorder *r, const struct glcnn_pass_timing *t)
{
    double begin = r->start + 1e-3 * (double)(t->begin - r->begin);
    cJSON *event = cJSON_CreateObject(), *more = cJSON_CreateObject();
    json_add_text(event, "name", t->kernel[0] ? t->kernel : t->shader);
    json_add_text(event, "cat", r->row->name);
    json_add_text(event, "ph", "X");
    cJSON_AddNumberToObject(event, "ts", begin);
    cJSON_AddNumberToObject(event, "dur", 1e-3 * (double)(t->end - t->begin));
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", 1);
    json_add_text(more, "row", r->row->name);
    json_add_text(more, "shader", t->shader);
    json_add_text(more, "implementation", t->implementation);
    cJSON_AddNumberToObject(more, "dispatches", t->dispatches);
    cJSON_AddItemToObject(event, "args", more);
    cJSON_AddItemToArray(r->report->events, event);
    r->end = begin + 1e-3 * (double)(t->end - t->begin);
}

static void take_pass(void *user, const struct glcnn_pass_timing *timing)
{
    struct recorder *r = user;
    if (r->row->passes++ == 0)
        r->begin = timing->begin;
    r->row->dispatches += timing->dispatches;
    r->report->gpu_clock = timing->gpu_clock;
    if (r->report->events)
        add_event(r, timing);
}

glcnn_status bench_trace_work(struct bench_report *report, const struct bench_work *work,
                              struct bench_row *row)
{
    struct recorder r = {.report = report, .row = row};
    r.start = r.end = report->trace_time;
    row->passes = row->dispatches = 0;
    glcnn_status status = glcnn_device_set_profile(work->device, take_pass, &r);
    if (status == GLCNN_SUCCESS)
        status = work->commit(work->user);
    if (status == GLCNN_SUCCESS)
        status = work->wait(work->user);
    glcnn_device_set_profile(work->device, NULL, NULL);
    report->trace_time = r.end;
    return status;
}

/* ---- The file ---- */

static const char *const clocks[] = {
    "wall time between two waits for the GPU: the driver has no GL_EXT_disjoint_timer_query with "
    "timestamps",
    "timestamps of the GPU"};

int bench_trace_write(const struct tool_command *command, struct bench_report *report)
{
    const char *clock = clocks[report->gpu_clock];
    cJSON *trace = cJSON_CreateObject(), *other = cJSON_CreateObject();
    cJSON_AddItemToObject(trace, "traceEvents", report->events);
    json_add_text(trace, "displayTimeUnit", "ns");
    json_add_text(other, "version", glcnn_version());
    json_add_text(other, "device", report->device->renderer);
    json_add_text(other, "clock", clock);
    cJSON_AddItemToObject(trace, "otherData", other);
    report->events = NULL;
    char *text = json_text(trace, false);
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    bool good =
        text && glcnn_file_save(report->request->trace, text, strlen(text), error) == GLCNN_SUCCESS;
    free(text);
    if (!good)
        return complain(command, EXIT_FAILED, "the trace: %s", error);
    print_error("glcnn bench: times in %s are %s.\n", report->request->trace, clock);
    return EXIT_GOOD;
}
