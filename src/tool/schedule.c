/* Learning rates: of the number of the step alone, so that a run goes on as it began. */
#include "schedule.h"

#include <math.h>
#include <stddef.h>

static double exponential(const struct schedule_settings *s, double t)
{
    return pow(s->decay, t);
}

static double step_down(const struct schedule_settings *s, double t)
{
    return pow(s->decay, floor(t));
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

const struct schedule schedules[] = {{"exponential", exponential},
                                     {"step", step_down},
                                     {"cosine", cosine},
                                     {"constant", constant},
                                     {NULL, NULL}};

float schedule_rate(const struct schedule *schedule, const struct schedule_settings *s,
                    uint64_t step)
{
    double steps = (double)s->steps, warm = ((double)step + 1) / steps;
    double rise = warm < s->warmup ? warm / s->warmup : 1;
    return (float)(s->rate * schedule->factor(s, (double)step / steps) * rise);
}
