/* How good a network is at the end of its training, what it has learned least, and what would help. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice.h"
#include "task/least.h"
#include "train_session.h"

bool session_interval(const struct session *s, struct interval *interval)
{
    return score_interval(&s->score, s->settings.seed, interval);
}

void session_print_interval(const struct interval *interval)
{
    if (interval->draws > 0)
        output(", %.0f %% interval %.4f to %.4f", 100 * INTERVAL_SHARE, interval->low,
               interval->high);
}

/* What is printed of the images to validate with: found before other images take the score's place. */
struct conclusion {
    double measure;
    struct interval interval;
    bool has_least;
    char least[TASK_PART_NAME];
    double least_measure, least_count;
    char sizes[TASK_PART_NAME]; /* "": there is nothing to say */
    enum advice advice;
    double chance, training_measure, training_loss, validation_loss;
};

/* ---- What is learned least ---- */

static const char *name_of_part(const struct session *s, size_t k, char text[TASK_PART_NAME])
{
    const struct task_parts *parts = s->settings.task->parts;
    if (parts->name_of)
        return parts->name_of(s->described.names, (uint32_t)k, text);
    snprintf(text, TASK_PART_NAME, "%s", s->described.names[k]);
    return text;
}

static bool find_least(const struct session *s, struct conclusion *c)
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
static double mean_of_epoch(const struct session *s, const double *values)
{
    const size_t count = s->curves.training.count, first = count > s->steps ? count - s->steps : 0;
    double sum = 0;
    for (size_t i = first; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / (double)(count - first) : NAN;
}

/* Validation has the task's first loss, whichever is trained. */
static bool has_one_loss(const struct session *s)
{
    return s->score.form.loss == 0;
}

static void find_advice(const struct session *s, struct conclusion *c)
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
                                       .chance = c->chance,
                                       .training_measure = c->training_measure,
                                       .training_loss = c->training_loss,
                                       .validation_loss = c->validation_loss};
    c->advice = advice_find(&facts);
}

/* ---- In words ---- */

static void print_validation(const struct session *s, const struct conclusion *c)
{
    const struct task *task = s->settings.task;
    char measured[TASK_MEASURED];
    output("\nvalidation: %s %s on %u images", task->measure,
           task_write(task, c->measure, measured), session_images(s, s->pictures.validation));
    session_print_interval(&c->interval);
    output("\n");
    if (c->has_least)
        output("learned least: %s %s, %s %.4f on %.0f %s\n", task->parts->name, c->least,
               task->parts->measure, c->least_measure, c->least_count, task->parts->counted);
    if (*c->sizes)
        output("learned least: %s\n", c->sizes);
}

/* Twice as much as this run had. */
static void print_time(const struct session *s, bool falls)
{
    if (falls)
        output("advice: the loss still fell at the end: ");
    else
        output("advice: %zu steps are few to learn from: ", s->step);
    output("more time would help, ");
    if (s->asked_time > 0)
        output("--time %" PRIu64 "\n", 2 * s->asked_time);
    else
        output("--epochs %" PRIu64 "\n", 2 * s->settings.epochs);
}

static void print_pictures(const struct session *s, const struct conclusion *c)
{
    const struct task *task = s->settings.task;
    if (isnan(c->training_measure))
        output("advice: training, with a loss of %.4f, is far ahead of validation, with %.4f: ",
               c->training_loss, c->validation_loss);
    else
        output("advice: training, with an %s of %.4f, is far ahead of validation, with %.4f: ",
               task->measure, c->training_measure, c->measure);
    output("more pictures would help, or more of --augment%s\n",
           *s->settings.augment_words ? "" : ", which is off");
}

static void print_advice(const struct session *s, const struct conclusion *c)
{
    if (c->advice == ADVICE_TIME || c->advice == ADVICE_STEPS)
        print_time(s, c->advice == ADVICE_TIME);
    else if (c->advice == ADVICE_PICTURES)
        print_pictures(s, c);
    else if (c->advice == ADVICE_LABELS)
        output("advice: the network does no better than one that does not look at the pictures "
               "(%s %.4f): look whether the labels are those of the pictures\n",
               s->settings.task->measure, c->chance);
}

/* A run that goes on with a file that had all its epochs has not validated. */
static int find(struct session *s, struct conclusion *c)
{
    const int status = s->scored == s->step ? EXIT_GOOD : session_validate(s, s->validation);
    if (status != EXIT_GOOD)
        return status;
    s->scored = s->step;
    c->measure = score_measure(&s->score);
    if (!session_interval(s, &c->interval) || !find_least(s, c))
        return session_fail(s, "not enough memory");
    find_advice(s, c);
    return EXIT_GOOD;
}

int session_conclude(struct session *s)
{
    struct conclusion c = {.has_least = false};
    int status = find(s, &c);
    if (status == EXIT_GOOD)
        status = session_test(s);
    if (status != EXIT_GOOD)
        return status;
    print_validation(s, &c);
    print_advice(s, &c);
    return EXIT_GOOD;
}
