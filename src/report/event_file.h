/* Event files of TensorBoard: what it shows of a training while it goes on.
 *
 * A file is records, each an event: a length, its checksum, the event's bytes, their checksum. It grows by
 * whole records; of one that was cut by a kill TensorBoard reads what is whole. A run that goes on
 * has a file of its own, which says from which step on those before do not count. */
#ifndef GLCNN_REPORT_EVENT_FILE_H
#define GLCNN_REPORT_EVENT_FILE_H

#include <glcnn/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "task/shown.h"

/* All zero: none, and every call does nothing. */
struct event_file {
    char path[4096];
    int descriptor; /* 0: none */
    int error;      /* errno of the first record that could not be written; 0: none */
};

/* A number by its name; those with the same word before a slash stand side by side. */
struct event_number {
    const char *tag;
    double value; /* as float32 */
};

/* Begins a file in a folder that is there, of a run that has made `first` steps already; events of later
 * steps in the folder's other files do not count from then on. It stands behind them in the order of
 * names, in which they are read, whatever the clock says. False, and a message, if it cannot be made. */
bool event_file_open(struct event_file *file, const char *folder, uint64_t first,
                     char error[GLCNN_ERROR_LENGTH]);

#define EVENT_NUMBERS_MAX 8 /* of an event */

/* Write one event. Training does not end for a failure; event_file_close tells it. */
void event_file_numbers(struct event_file *file, uint64_t step, const struct event_number *numbers,
                        size_t count);
void event_file_picture(struct event_file *file, uint64_t step, const char *tag,
                        const struct shown *shown);

/* Brings what is written to the disk: no checkpoint is there before the events of its steps. */
void event_file_sync(struct event_file *file);

/* False, and a message, if an event could not be written. */
bool event_file_close(struct event_file *file, char error[GLCNN_ERROR_LENGTH]);

#endif
