/* How long a run takes, by its first steps, and how many epochs fit a time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "train_session.h"

#include "base/clock.h"

#define LEAST_STEPS   4    /* that are timed, after the one that compiles */
#define LEAST_SECONDS 2.0  /* that they take, or fewer where a run is short */
#define TIMED_SHARE   0.05 /* of the time that is given */
#define PASS_SHARE    0.4  /* of a step that a batch of validation takes: it has no gradients */

/* Seconds of an epoch at the pace so far, validation included. */
static double epoch_seconds(const struct session *s, double now)
{
    const double steps = (double)(s->step - s->timed_from),
                 each = (now - s->timed_since) / fmax(steps, 1),
                 images = session_images(s, s->pictures.validation);
    return each *
           ((double)s->steps + PASS_SHARE * images / (double)settings_step_images(&s->settings));
}

static bool has_timed_enough(const struct session *s, double now)
{
    const uint64_t given = s->settings.time;
    const double least =
        given > 0 ? fmin(LEAST_SECONDS, TIMED_SHARE * (double)given) : LEAST_SECONDS;
    return s->step - s->timed_from >= LEAST_STEPS && now - s->timed_since >= least;
}

void session_begin_timing(struct session *s)
{
    if (s->timed_since > 0)
        return;
    s->timed_since = seconds_now();
    s->timed_from = s->step;
}

bool session_knows_time(const struct session *s)
{
    return !s->is_timed && s->timed_since > 0 && has_timed_enough(s, seconds_now());
}

/* An epoch at least, and none less than were made. */
uint64_t session_fitting_epochs(const struct session *s)
{
    const double now = seconds_now(), left = (double)s->settings.time - (now - s->begun),
                 done = (double)s->step / (double)s->steps;
    return (uint64_t)fmax(floor(done + left / epoch_seconds(s, now) + 0.5), floor(done) + 1);
}

void session_set_epochs(struct session *s, uint64_t epochs)
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

void session_tell_time(struct session *s, bool is_fitted)
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
