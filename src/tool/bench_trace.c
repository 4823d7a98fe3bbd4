/* The Chrome trace of passes (chrome://tracing, Perfetto): an event for each pass of one call or step, one row after the
 * other. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static cJSON *json_of_pass(const struct glcnn_bench_row *row, const struct glcnn_bench_pass *pass,
                           double start)
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

void bench_trace_add(struct bench_report *report, const struct glcnn_bench_result *result)
{
    double end = report->trace_time;
    report->gpu_clock = result->gpu_clock;
    for (uint32_t i = 0; report->events && i < result->pass_count; i++) {
        const struct glcnn_bench_pass *pass = &result->passes[i];
        double start = report->trace_time + 1e-3 * (double)(pass->begin - result->passes[0].begin);
        end = start + 1e-3 * (double)(pass->end - pass->begin);
        cJSON_AddItemToArray(report->events, json_of_pass(result->row, pass, start));
    }
    report->trace_time = end;
}

int bench_trace_write(struct bench_report *report)
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
        return complain(report->command, EXIT_FAILED, "%s", error);
    print_error("glcnn bench: times in %s are %s.\n", report->request->trace, clock);
    return EXIT_GOOD;
}
