/* Files that show how a training goes, and do not end it. */
#include "base/fail.h"
#include "train_observers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void train_observers_leave_out(glcnn_observers *o, enum train_observer observer, const char *error)
{
    static const char *const options[] = {"log", "plot", "report", "tensorboard", "trace"};
    o->left_out |= 1U << observer;
    events_complain(o->session->events, GLCNN_SUCCESS,
                    "%s; --%s is left out from here on, the training is not", error,
                    options[observer]);
}

bool train_observers_lack(const glcnn_observers *o, enum train_observer observer)
{
    return o->left_out >> observer & 1;
}

/* Once the training has begun, and its task is known. False, and a message: a file cannot be opened. */
static bool open_observers(glcnn_observers *o, char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_trainer *s = o->session;
    const glcnn_train_settings *t = &s->settings;
    const bool leads = ranks_leads(&s->ranks);
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

static void write_log(glcnn_observers *o, const struct train_log_line *line)
{
    char error[GLCNN_ERROR_LENGTH];
    train_log_write(&o->log, line);
    if (o->log.error && !train_log_close(&o->log, error))
        train_observers_leave_out(o, OBSERVER_LOG, error);
}

static void write_plot(glcnn_observers *o)
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
static void record(glcnn_observers *o, const struct glcnn_train_event *e)
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
static void conclude(glcnn_observers *o, glcnn_status status)
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

/* ---- For users ---- */

glcnn_status glcnn_observers_create(glcnn_trainer *trainer, glcnn_observers **observers,
                                    char error[GLCNN_ERROR_LENGTH])
{
    *observers = calloc(1, sizeof **observers);
    if (!*observers)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    (*observers)->session = trainer;
    trainer->is_observed = true;
    return GLCNN_SUCCESS;
}

static void begin_observers(glcnn_observers *o)
{
    char error[GLCNN_ERROR_LENGTH];
    o->is_open = true;
    if (!open_observers(o, error))
        trainer_abort(o->session, error);
}

void glcnn_observers_take(glcnn_observers *o, const struct glcnn_train_event *event)
{
    if (event->kind == GLCNN_TRAIN_BEGUN)
        begin_observers(o);
    if (!o->is_open)
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
    if (event->kind == GLCNN_TRAIN_TRAINED) {
        conclude(o, event->status);
        o->is_open = false;
    }
}

bool glcnn_observers_left_out(const glcnn_observers *o)
{
    return o->left_out != 0;
}

/* Of a training that was given up the files end where it did. */
void glcnn_observers_destroy(glcnn_observers **observers)
{
    if (*observers && (*observers)->is_open)
        conclude(*observers, GLCNN_INVALID_STATE);
    free(*observers);
    *observers = NULL;
}
