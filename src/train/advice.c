/* The advice at the end of a training. */
#include "advice.h"

#include <math.h>

#define GOOD_ENOUGH   0.99
#define FIFTH         5
#define FALL          0.05
#define STEPS_LEAST   (2 * FIFTH)
#define STEPS_FEW     500
#define MEASURE_AHEAD 0.1
#define LOSS_AHEAD    2

static double mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Needs FIFTH values at least. */
static bool falls(const double *losses, size_t count)
{
    const size_t fifth = count / FIFTH;
    const double *last = losses + count - fifth;
    return mean(last, fifth) < (1 - FALL) * mean(last - fifth, fifth);
}

/* Is the least of the losses in the last two fifths? */
static bool ends_least(const double *losses, size_t count)
{
    size_t least = 0;
    for (size_t i = 1; i < count; i++)
        least = losses[i] < losses[least] ? i : least;
    return least >= count - 2 * (count / FIFTH);
}

static bool still_falls(const struct advice_facts *f)
{
    if (f->epochs >= FIFTH)
        return falls(f->losses, f->epochs) && ends_least(f->losses, f->epochs);
    return f->steps >= STEPS_LEAST && falls(f->step_losses, f->steps);
}

static bool is_at_chance(const struct advice_facts *f)
{
    return f->low <= f->chance && f->measure < (1 + f->chance) / 2;
}

static bool is_far_ahead(const struct advice_facts *f)
{
    if (!isnan(f->training_measure))
        return f->training_measure > fmax(f->measure + MEASURE_AHEAD, f->high);
    return f->validation_loss > LOSS_AHEAD * f->training_loss;
}

enum advice advice_find(const struct advice_facts *f)
{
    if (!(f->measure < GOOD_ENOUGH))
        return ADVICE_NONE;
    if (still_falls(f))
        return ADVICE_TIME;
    if (is_at_chance(f))
        return f->all_steps < STEPS_FEW ? ADVICE_STEPS : ADVICE_LABELS;
    return is_far_ahead(f) ? ADVICE_PICTURES : ADVICE_NONE;
}
