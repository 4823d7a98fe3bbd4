/* The steps of a training as a Chrome trace (chrome://tracing, Perfetto): how long a step computed,
 * and when the gradients of each bucket were exchanged with other ranks. */
#ifndef GLCNN_REPORT_TRAIN_TRACE_H
#define GLCNN_REPORT_TRAIN_TRACE_H

#include <glcnn/mpi.h>

#define TRACE_STEPS 64 /* that are kept: the last */

struct trace_event {
    struct glcnn_mpi_event bucket; /* bytes 0: the whole step, from `begun` to `done` */
    size_t step;
};

/* All zero: none, and every call does nothing. */
struct train_trace {
    const char *path;
    struct trace_event *events;
    size_t count, capacity, step;
};

/* path NULL: none. What follows is of step `first`. */
void train_trace_begin(struct train_trace *trace, const char *path, size_t first);
/* Of glcnn_mpi_set_trace; `user` is the trace. */
void train_trace_bucket(void *user, const struct glcnn_mpi_event *event);
/* The step that is over, in seconds of CLOCK_MONOTONIC. What follows is of the next. */
void train_trace_end_step(struct train_trace *trace, double begun, double done);
/* Writes the file and frees. False, and a message, if it fails. */
bool train_trace_write(struct train_trace *trace, char error[GLCNN_ERROR_LENGTH]);

#endif
