/* Passes as the device profiles them, and the Chrome trace of them (chrome://tracing, Perfetto): an
 * event for each pass of one call or step, one row after the other. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_pass(void *user, const struct glcnn_pass_timing *t)
{
    struct bench_passes *passes = user;
    struct bench_pass *items = realloc(passes->items, (passes->count + 1) * sizeof *passes->items);
    if (!items) {
        passes->failed = true;
        return;
    }
    struct bench_pass *pass = &items[passes->count++];
    *pass = (struct bench_pass){.dispatches = t->dispatches,
                                .operations = t->operations,
                                .bytes = t->bytes,
                                .begin = t->begin,
                                .end = t->end};
    snprintf(pass->kernel, sizeof pass->kernel, "%s", t->kernel);
    snprintf(pass->shader, sizeof pass->shader, "%s", t->shader);
    snprintf(pass->implementation, sizeof pass->implementation, "%s",
             t->implementation ? t->implementation : "");
    passes->items = items;
    passes->gpu_clock = t->gpu_clock;
}

glcnn_status bench_record(glcnn_device *device, struct bench_passes *passes)
{
    return glcnn_device_set_profile(device, passes ? take_pass : NULL, passes);
}

void bench_passes_free(struct bench_passes *passes)
{
    free(passes->items);
    *passes = (struct bench_passes){.items = NULL};
}

static cJSON *json_of_pass(const struct bench_row *row, const struct bench_pass *pass, double start)
{
    cJSON *event = cJSON_CreateObject();
    json_add_text(event, "name", pass->kernel[0] ? pass->kernel : pass->shader);
    json_add_text(event, "cat", row->name);
    json_add_text(event, "ph", "X");
    cJSON_AddNumberToObject(event, "ts", start);
    cJSON_AddNumberToObject(event, "dur", 1e-3 * (double)(pass->end - pass->begin));
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", 1);
    cJSON *more = cJSON_AddObjectToObject(event, "args");
    json_add_text(more, "row", row->name);
    json_add_text(more, "shader", pass->shader);
    json_add_text(more, "implementation", pass->implementation[0] ? pass->implementation : NULL);
    cJSON_AddNumberToObject(more, "dispatches", pass->dispatches);
    cJSON_AddNumberToObject(more, "operations", (double)pass->operations);
    cJSON_AddNumberToObject(more, "bytes", (double)pass->bytes);
    return event;
}

void bench_add_passes(struct bench_report *report, const struct bench_row *row,
                      const struct bench_passes *passes, struct bench_result *result)
{
    double end = report->trace_time;
    result->passes = (uint32_t)passes->count;
    result->dispatches = 0;
    report->gpu_clock = passes->gpu_clock;
    for (size_t i = 0; i < passes->count; i++) {
        const struct bench_pass *pass = &passes->items[i];
        result->dispatches += pass->dispatches;
        double start = report->trace_time + 1e-3 * (double)(pass->begin - passes->items[0].begin);
        end = start + 1e-3 * (double)(pass->end - pass->begin);
        if (report->events)
            cJSON_AddItemToArray(report->events, json_of_pass(row, pass, start));
    }
    report->trace_time = end;
}

int bench_trace_write(const struct tool_command *command, struct bench_report *report)
{
    const char *clock = report->gpu_clock
                            ? "timestamps of the GPU"
                            : "wall time between two waits for the GPU: the driver lacks "
                              "GL_EXT_disjoint_timer_query with timestamps";
    cJSON *trace = cJSON_CreateObject();
    cJSON_AddItemToObject(trace, "traceEvents", report->events);
    json_add_text(trace, "displayTimeUnit", "ns");
    cJSON *other = cJSON_AddObjectToObject(trace, "otherData");
    json_add_text(other, "version", glcnn_version());
    json_add_text(other, "device", report->device->renderer);
    json_add_text(other, "clock", clock);
    report->events = NULL;
    char *text = json_text(trace, false), error[GLCNN_ERROR_LENGTH] = "not enough memory";
    bool good =
        text && glcnn_file_save(report->request->trace, text, strlen(text), error) == GLCNN_SUCCESS;
    free(text);
    if (!good)
        return complain(command, EXIT_FAILED, "%s", error);
    print_error("glcnn bench: times in %s are %s.\n", report->request->trace, clock);
    return EXIT_GOOD;
}
