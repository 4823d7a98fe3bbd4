/* Files that show how a training goes: log, plot, page, events for TensorBoard, trace. They are made of the
 * training's events. One that cannot be written is complained of once and left out; the training goes on. */
#ifndef GLCNN_REPORT_TRAIN_OBSERVERS_H
#define GLCNN_REPORT_TRAIN_OBSERVERS_H

#include <glcnn/report.h>

#include "event_file.h"
#include "train/train_session.h"
#include "train_curves.h"
#include "train_log.h"
#include "train_trace.h"

struct report_picture;

enum train_observer {
    OBSERVER_LOG,
    OBSERVER_PLOT,
    OBSERVER_REPORT,
    OBSERVER_EVENTS,
    OBSERVER_TRACE
};

/* All zero: none. */
struct glcnn_observers {
    glcnn_trainer *session;
    struct train_log log;
    struct event_file events;
    struct train_trace trace;
    unsigned left_out; /* a bit for each that failed */
    bool is_open;
};

/* Complains of what failed, and leaves it out from then on. */
void train_observers_leave_out(glcnn_observers *observers, enum train_observer observer,
                               const char *error);
bool train_observers_lack(const glcnn_observers *observers, enum train_observer observer);

/* After an epoch: the first rank writes the page, where there is one (train_report.c). */
void train_observers_report(glcnn_observers *observers);
/* The first training pictures of the batch of that step, as this rank's part of the network gets them; as
 * report_read_samples (train_report.c). */
bool train_observers_read_samples(const glcnn_trainer *session, size_t step,
                                  struct report_picture *samples, uint32_t *count,
                                  char error[GLCNN_ERROR_LENGTH]);
/* Of a step that was made; with pictures of the epoch where that was validated (train_events.c). */
void train_observers_write_events(glcnn_observers *observers, const struct train_log_line *line);

#endif
