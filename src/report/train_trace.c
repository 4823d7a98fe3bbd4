/* The trace of a training. Rows: the step; of it, what computes and what waits for the sums; then a
 * row for each bucket, from when its gradients were known to when their sum was. */
#include "train_trace.h"

#include <cjson/cJSON.h>
#include <glcnn/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "task/json_text.h"

enum { ROW_STEP, ROW_PHASE, ROW_BUCKETS };

void train_trace_begin(struct train_trace *trace, const char *path, size_t first)
{
    *trace = (struct train_trace){.path = path, .step = first};
}

/* Events of long ago go, now and then. */
static void forget(struct train_trace *trace, size_t step)
{
    size_t old = 0;
    while (old < trace->count && trace->events[old].step + TRACE_STEPS <= step)
        old++;
    if (old < trace->count / 2) /* moved now and then, not with every step */
        return;
    trace->count -= old;
    if (trace->count > 0)
        memmove(trace->events, trace->events + old, trace->count * sizeof *trace->events);
}

/* Without memory the trace ends early. */
static void add(struct train_trace *trace, const struct glcnn_mpi_event *event)
{
    struct trace_event *events =
        array_grow(trace->events, trace->count, &trace->capacity, sizeof *events);
    if (!events)
        return;
    trace->events = events;
    trace->events[trace->count++] = (struct trace_event){*event, trace->step};
}

void train_trace_bucket(void *user, const struct glcnn_mpi_event *event)
{
    add(user, event);
}

void train_trace_end_step(struct train_trace *trace, double begun, double done)
{
    if (!trace->path)
        return;
    add(trace, &(struct glcnn_mpi_event){.begun = begun, .done = done});
    forget(trace, trace->step);
    trace->step++;
}

/* ---- The file ---- */

static void add_bar(cJSON *events, const char *name, int row, double begun, double done,
                    const struct trace_event *of)
{
    cJSON *event = cJSON_CreateObject(), *more = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "name", name);
    cJSON_AddStringToObject(event, "ph", "X");
    cJSON_AddNumberToObject(event, "ts", 1e6 * begun);
    cJSON_AddNumberToObject(event, "dur", 1e6 * (done - begun));
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", row);
    cJSON_AddNumberToObject(more, "step", (double)of->step + 1);
    if (of->bucket.bytes)
        cJSON_AddNumberToObject(more, "bytes", (double)of->bucket.bytes);
    cJSON_AddItemToObject(event, "args", more);
    cJSON_AddItemToArray(events, event);
}

static void add_step(cJSON *events, const struct trace_event *step, double backward)
{
    const struct glcnn_mpi_event *e = &step->bucket;
    add_bar(events, "step", ROW_STEP, e->begun, e->done, step);
    if (backward <= e->begun)
        return;
    add_bar(events, "forward and backward", ROW_PHASE, e->begun, backward, step);
    add_bar(events, "waiting for sums, update", ROW_PHASE, backward, e->done, step);
}

/* The buckets of a step stand before it. */
static void add_all(cJSON *events, const struct train_trace *trace)
{
    double backward = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_event *e = &trace->events[i];
        char name[48];
        if (!e->bucket.bytes) {
            add_step(events, e, backward);
            backward = 0;
            continue;
        }
        snprintf(name, sizeof name, "bucket %u of %u", e->bucket.bucket + 1, e->bucket.buckets);
        add_bar(events, name, ROW_BUCKETS + (int)e->bucket.bucket, e->bucket.begun, e->bucket.done,
                e);
        backward = e->bucket.backward;
    }
}

bool train_trace_write(struct train_trace *trace, char error[GLCNN_ERROR_LENGTH])
{
    if (!trace->path)
        return true;
    cJSON *json = cJSON_CreateObject();
    add_all(cJSON_AddArrayToObject(json, "traceEvents"), trace);
    cJSON_AddStringToObject(json, "displayTimeUnit", "ms");
    char *text = json_text(json, false);
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: not enough memory", trace->path);
    bool good = text && glcnn_file_save(trace->path, text, strlen(text), error) == GLCNN_SUCCESS;
    free(text);
    free(trace->events);
    *trace = (struct train_trace){.path = NULL};
    return good;
}
