/* Files that show how a training goes, and do not end it. */
#include "train_observers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void train_observers_leave_out(struct train_observers *o, enum train_observer observer,
                               const char *error)
{
    static const char *const options[] = {"log", "plot", "report", "tensorboard", "trace"};
    o->left_out |= 1U << observer;
    events_complain(o->session->events, GLCNN_SUCCESS,
                    "%s; --%s is left out from here on, the training is not", error,
                    options[observer]);
}

bool train_observers_lack(const struct train_observers *o, enum train_observer observer)
{
    return o->left_out >> observer & 1;
}

bool train_observers_begin(struct train_observers *o, const glcnn_trainer *s,
                           char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_train_settings *t = &s->settings;
    const bool leads = ranks_leads(&s->ranks);
    o->session = s;
    train_trace_begin(&o->trace, leads ? t->trace : NULL, s->first);
    if (s->ranks.mpi && o->trace.path)
        s->ranks.library.set_trace(s->ranks.mpi, train_trace_bucket, &o->trace);
    if (!train_log_open(&o->log, leads ? t->log : NULL, t->task->measure, s->first, error) ||
        (leads && t->tensorboard && !event_file_open(&o->events, t->tensorboard, s->first, error)))
        return false;
    if (o->log.gap_last > 0)
        events_complain(s->events, GLCNN_SUCCESS,
                        "%s: lines are missing, of steps %" PRIu64 " to %" PRIu64
                        "; the checkpoint has these steps, and the log goes on behind them",
                        t->log, o->log.gap_first, o->log.gap_last);
    return true;
}

/* ---- Events ---- */

static void write_log(struct train_observers *o, const struct train_log_line *line)
{
    char error[GLCNN_ERROR_LENGTH];
    train_log_write(&o->log, line);
    if (o->log.error && !train_log_close(&o->log, error))
        train_observers_leave_out(o, OBSERVER_LOG, error);
}

static void write_plot(struct train_observers *o)
{
    char error[GLCNN_ERROR_LENGTH], title[512];
    const glcnn_trainer *s = o->session;
    if (!ranks_leads(&s->ranks) || train_observers_lack(o, OBSERVER_PLOT))
        return;
    snprintf(title, sizeof title, "%s on %s", s->described.title, s->settings.data);
    if (!train_curves_write(&s->curves, s->settings.task->measure, s->settings.plot, title, error))
        train_observers_leave_out(o, OBSERVER_PLOT, error);
}

/* A step's line, with what validation found after it, where it did. */
static void record(struct train_observers *o, const struct glcnn_train_event *e)
{
    const bool is_validated = e->kind == GLCNN_TRAIN_EPOCH;
    const struct train_log_line line = {.step = e->step + 1,
                                        .epoch = e->epoch,
                                        .learning_rate = e->rate,
                                        .loss = e->loss,
                                        .accuracy = e->measure,
                                        .validation_loss = is_validated ? e->validation_loss : NAN,
                                        .validation_accuracy =
                                            is_validated ? e->validation_measure : NAN};
    write_log(o, &line);
    train_observers_write_events(o, &line);
}

/* The log and the events are closed, the trace is written; after a training that failed, the plot stays as it is. */
static void conclude(struct train_observers *o, glcnn_status status)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!train_log_close(&o->log, error))
        train_observers_leave_out(o, OBSERVER_LOG, error);
    if (!event_file_close(&o->events, error))
        train_observers_leave_out(o, OBSERVER_EVENTS, error);
    if (!train_trace_write(&o->trace, error))
        train_observers_leave_out(o, OBSERVER_TRACE, error);
    if (status == GLCNN_SUCCESS)
        write_plot(o);
}

void train_observers_take(struct train_observers *o, const struct glcnn_train_event *event)
{
    if (!o->session)
        return;
    if (event->kind == GLCNN_TRAIN_STEP)
        train_trace_end_step(&o->trace, event->begun, event->ended);
    if (event->kind == GLCNN_TRAIN_EPOCH || (event->kind == GLCNN_TRAIN_STEP && !event->is_last))
        record(o, event);
    if (event->kind ==
        GLCNN_TRAIN_SAVING) { /* no checkpoint is there before the lines of its steps */
        train_log_sync(&o->log);
        event_file_sync(&o->events);
    }
    if (event->kind == GLCNN_TRAIN_SAVED) {
        write_plot(o);
        train_observers_report(o);
    }
    if (event->kind == GLCNN_TRAIN_TRAINED)
        conclude(o, event->status);
}
