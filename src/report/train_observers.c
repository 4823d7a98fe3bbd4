/* Files that show how a training goes, and do not end it. */
#include <stdio.h>

#include "train/train_session.h"

void session_leave_out(struct session *s, enum session_observer observer, const char *error)
{
    static const char *const options[] = {"log", "plot", "report", "tensorboard", "trace"};
    s->left_out |= 1U << observer;
    complain(s->command, EXIT_GOOD, "%s; --%s is left out from here on, the training is not", error,
             options[observer]);
}

bool session_has_left_out(const struct session *s, enum session_observer observer)
{
    return s->left_out >> observer & 1;
}

void session_write_log(struct session *s, const struct train_log_line *line)
{
    char error[GLCNN_ERROR_LENGTH];
    train_log_write(&s->log, line);
    if (s->log.error && !train_log_close(&s->log, error))
        session_leave_out(s, OBSERVER_LOG, error);
}

void session_write_plot(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH], title[512];
    if (!ranks_leads(&s->ranks) || session_has_left_out(s, OBSERVER_PLOT))
        return;
    snprintf(title, sizeof title, "%s on %s", s->described.title, s->settings.data);
    if (!train_curves_write(&s->curves, s->settings.task->measure, s->settings.plot, title, error))
        session_leave_out(s, OBSERVER_PLOT, error);
}

void session_close_observers(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!train_log_close(&s->log, error))
        session_leave_out(s, OBSERVER_LOG, error);
    if (!event_file_close(&s->events, error))
        session_leave_out(s, OBSERVER_EVENTS, error);
    if (!train_trace_write(&s->trace, error))
        session_leave_out(s, OBSERVER_TRACE, error);
}
