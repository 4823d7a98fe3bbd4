/* How good a network is at the end of its training, what it has learned least, and what would help. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "task/least.h"
#include "train_session.h"

bool session_interval(const glcnn_trainer *s, struct interval *interval)
{
    return score_interval(&s->score, s->settings.seed, interval);
}

/* ---- What is learned least ---- */

static const char *name_of_part(const glcnn_trainer *s, size_t k, char text[TASK_PART_NAME])
{
    const struct task_parts *parts = s->settings.task->parts;
    if (parts->name_of)
        return parts->name_of(s->described.names, (uint32_t)k, text);
    snprintf(text, TASK_PART_NAME, "%s", s->described.names[k]);
    return text;
}

static bool find_least(const glcnn_trainer *s, struct conclusion *c)
{
    const struct task_parts *parts = s->settings.task->parts;
    const size_t count = parts->count(&s->score.form);
    double *measures = calloc(count, sizeof *measures), *counts = calloc(count, sizeof *counts);
    size_t least;
    bool good = measures && counts && parts->measured(&s->score, measures, counts);
    c->has_least = good && least_find(measures, counts, count, &least);
    if (c->has_least) {
        name_of_part(s, least, c->least);
        c->least_measure = measures[least];
        c->least_count = counts[least];
    }
    if (parts->describe_sizes)
        parts->describe_sizes(&s->score, c->sizes);
    free(measures);
    free(counts);
    return good;
}

/* ---- What would help ---- */

/* Of the last epoch's steps, as far as this run made them; NaN: it made none. */
static double mean_of_epoch(const glcnn_trainer *s, const double *values)
{
    const size_t count = s->curves.training.count, first = count > s->steps ? count - s->steps : 0;
    double sum = 0;
    for (size_t i = first; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / (double)(count - first) : NAN;
}

/* Validation has the task's first loss, whichever is trained. */
static bool has_one_loss(const glcnn_trainer *s)
{
    return s->score.form.loss == 0;
}

static void find_advice(const glcnn_trainer *s, struct conclusion *c)
{
    const struct curve *training = &s->curves.training, *validation = &s->curves.validation;
    const struct task *task = s->settings.task;
    c->chance = task->chance ? task->chance(&s->score) : 0;
    c->training_measure = mean_of_epoch(s, training->accuracy);
    c->training_loss = has_one_loss(s) ? mean_of_epoch(s, training->loss) : NAN;
    c->validation_loss = score_loss(&s->score);
    const struct advice_facts facts = {.losses = validation->loss,
                                       .epochs = validation->count,
                                       .step_losses = training->loss,
                                       .steps = training->count,
                                       .all_steps = s->step,
                                       .measure = c->measure,
                                       .low = c->interval.draws > 0 ? c->interval.low : c->measure,
                                       .high =
                                           c->interval.draws > 0 ? c->interval.high : c->measure,
                                       .chance = c->chance,
                                       .training_measure = c->training_measure,
                                       .training_loss = c->training_loss,
                                       .validation_loss = c->validation_loss};
    c->advice = advice_find(&facts);
}

/* ---- All ---- */

bool session_find_conclusion(const glcnn_trainer *s, struct conclusion *c)
{
    *c = (struct conclusion){.measure = score_measure(&s->score)};
    if (!session_interval(s, &c->interval) || !find_least(s, c))
        return false;
    find_advice(s, c);
    return true;
}
