/* How long a run takes, by its first steps, and how many epochs fit a time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "train_session.h"

#include "base/clock.h"

#define LEAST_STEPS  4    /* that are timed */
#define TOLD_SECONDS 1.0  /* that they take where the run's time is only reported */
#define TIMED_SHARE  0.08 /* of the time that is given, which they take where the run is to fit it */
#define MOST_SECONDS 60.0 /* that they take at most */
#define PASS_SHARE   0.4  /* of a step that a batch of validation takes: it has no gradients */

/* Steps that take as long as the validation of an epoch. */
static double validation_steps(const glcnn_trainer *s)
{
    return PASS_SHARE * session_images(s, s->pictures.validation) /
           (double)settings_step_images(&s->settings);
}

/* Seconds of an epoch at the pace so far, validation included. The time that was measured has the
 * validations of the epochs that ended in it. */
static double epoch_seconds(const glcnn_trainer *s, double now)
{
    const double ended = (double)(s->step / s->steps - s->timed_from / s->steps),
                 made = (double)(s->step - s->timed_from) + ended * validation_steps(s);
    return (now - s->timed_since) / fmax(made, 1) * ((double)s->steps + validation_steps(s));
}

/* Seconds that are measured, and before them as many that are not: caches fill and clocks rise. */
static double timed_seconds(const glcnn_trainer *s)
{
    const double given = (double)s->settings.time;
    return given > 0 ? fmin(MOST_SECONDS, TIMED_SHARE * given) : TOLD_SECONDS;
}

static bool has_timed_enough(const glcnn_trainer *s, double now)
{
    return s->is_warm && s->step - s->timed_from >= LEAST_STEPS &&
           now - s->timed_since >= timed_seconds(s);
}

void session_begin_timing(glcnn_trainer *s)
{
    const double now = seconds_now();
    const bool has_compiled = s->timed_since > 0;
    if (has_compiled && (s->is_warm || now - s->timed_since < timed_seconds(s)))
        return;
    s->is_warm = has_compiled;
    s->timed_since = now;
    s->timed_from = s->step;
}

void session_leave_out(glcnn_trainer *s, double seconds)
{
    if (s->timed_since > 0)
        s->timed_since += seconds;
}

bool session_knows_time(const glcnn_trainer *s)
{
    return !s->is_timed && s->timed_since > 0 && has_timed_enough(s, seconds_now());
}

/* An epoch at least, and none less than were made. */
uint64_t session_fitting_epochs(const glcnn_trainer *s)
{
    const double now = seconds_now(), left = (double)s->settings.time - (now - s->started),
                 done = (double)s->step / (double)s->steps;
    return (uint64_t)fmax(floor(done + left / epoch_seconds(s, now) + 0.5), floor(done) + 1);
}

void session_set_epochs(glcnn_trainer *s, uint64_t epochs)
{
    s->asked_time = s->settings.time;
    settings_settle_time(&s->settings, epochs);
    s->total = s->steps * (size_t)epochs;
}

/* "40 s", "12 min", "3 h 20 min" */
static void write_duration(double seconds, char text[32])
{
    const uint64_t minutes = (uint64_t)(seconds / 60 + 0.5);
    if (seconds < 90)
        snprintf(text, 32, "%.0f s", seconds);
    else if (minutes < 90)
        snprintf(text, 32, "%" PRIu64 " min", minutes);
    else
        snprintf(text, 32, "%" PRIu64 " h %02" PRIu64 " min", minutes / 60, minutes % 60);
}

void session_tell_time(glcnn_trainer *s, bool is_fitted)
{
    const double epoch = epoch_seconds(s, seconds_now()),
                 left = epoch * (double)(s->total - s->step) / (double)s->steps;
    char text[32];
    s->is_timed = true;
    write_duration(left, text);
    if (!ranks_leads(&s->ranks))
        return;
    events_note(s->events, "time: about %s for %" PRIu64 " epochs of %zu steps%s\n", text,
                s->settings.epochs, s->steps,
                is_fitted ? ", as --time asks"
                          : "; --time 20m makes a run fit 20 minutes, --epochs N makes N epochs");
}
