/* Learning rates: functions of the number of the step, so that a run that is resumed goes on as it began. */
#include "schedule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is left of the rate after t epochs. */
static double decayed(const struct schedule_settings *s, double t)
{
    return s->decay > 0 ? pow(s->decay, t) : pow(SCHEDULE_LEFT, t / s->epochs);
}

static double exponential(const struct schedule_settings *s, double t)
{
    return decayed(s, t);
}

static double step_down(const struct schedule_settings *s, double t)
{
    return decayed(s, floor(t));
}

static double cosine(const struct schedule_settings *s, double t)
{
    return 0.5 * (1 + cos(acos(-1) * fmin(t / s->epochs, 1)));
}

static double constant(const struct schedule_settings *s, double t)
{
    (void)s;
    (void)t;
    return 1;
}

const struct schedule schedules[] = {{"cosine", cosine, false},
                                     {"exponential", exponential, true},
                                     {"step", step_down, true},
                                     {"constant", constant, false},
                                     {NULL, NULL, false}};

float schedule_rate(const struct schedule_settings *s, uint64_t step)
{
    double steps = (double)s->steps, warm = ((double)step + 1) / steps;
    double rise = warm < s->warmup ? warm / s->warmup : 1;
    return (float)(s->rate * s->schedule->factor(s, (double)step / steps) * rise);
}

static const char *unit_of(double epochs)
{
    return epochs > 1 || epochs < 1 ? "epochs" : "epoch";
}

void schedule_describe(const struct schedule_settings *s, char *text, size_t size)
{
    char decay[48] = "", warmup[48] = "";
    if (s->schedule->decays && s->decay > 0)
        snprintf(decay, sizeof decay, ", times %g an epoch", s->decay);
    else if (s->schedule->decays)
        snprintf(decay, sizeof decay, ", down to %g of it", SCHEDULE_LEFT);
    if (s->warmup > 0)
        snprintf(warmup, sizeof warmup, ", %g %s of warm-up", s->warmup, unit_of(s->warmup));
    snprintf(text, size, "%s over %g %s%s, learning rate %g%s", s->schedule->name, s->epochs,
             unit_of(s->epochs), warmup, s->rate, decay);
}
