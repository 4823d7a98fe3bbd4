/* How well the network of glcnn train does on pictures that it does not learn from. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "task/evaluate.h"
#include "train_session.h"

static void write_kept(const void *score, double *numbers)
{
    const struct score *of = score;
    of->task->write_kept(of, numbers);
}

static bool read_kept(void *score, const double *numbers, size_t count)
{
    struct score *of = score;
    return of->task->read_kept(of, numbers, count);
}

static void write_tallies(const void *tallies, double *numbers)
{
    tallies_write(tallies, numbers);
}

static bool read_tallies(void *tallies, const double *numbers, size_t count)
{
    return tallies_read(tallies, numbers, count);
}

/* Where sums do not do. */
static bool gather(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    const struct task *task = s->settings.task;
    return (!task->kept_numbers || ranks_gather(&s->ranks, &s->score, task->kept_numbers(&s->score),
                                                write_kept, read_kept, error)) &&
           ranks_gather(&s->ranks, &s->tallies, tallies_numbers(&s->tallies), write_tallies,
                        read_tallies, error);
}

/* Each rank has seen its share. */
static bool sum_score(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    struct score *score = &s->score;
    double others[] = {(double)score->count, score->loss};
    bool good = ranks_sum(&s->ranks, score->sums, score->sum_count, error) &&
                ranks_sum(&s->ranks, others, sizeof others / sizeof *others, error);
    score->count = (uint64_t)others[0];
    score->loss = others[1];
    return good;
}

static bool evaluate(glcnn_trainer *s, glcnn_data_loader *loader, bool by_averages,
                     char error[GLCNN_ERROR_LENGTH])
{
    struct flip as_they_are = {.pictures = NULL};
    if (!by_averages)
        return evaluate_epoch(&s->tester, &as_they_are, loader, s->tests, &s->score, error);
    if (!ema_exchange(&s->ema)) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(s->device));
        return false;
    }
    bool good = evaluate_epoch(&s->tester, &as_they_are, loader, s->tests, &s->score, error);
    return ema_exchange(&s->ema) && good;
}

static glcnn_status validate(glcnn_trainer *s, glcnn_data_part part, glcnn_data_loader *loader,
                             bool by_averages)
{
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    score_free(&s->score);
    tallies_clear(&s->tallies);
    bool good = score_begin(&s->score, &s->model);
    s->score.tallies = &s->tallies;
    score_of(&s->score, s->pictures.set, part);
    good = good && session_begin_findings(s, error) && session_average_statistics(s, error) &&
           evaluate(s, loader, by_averages, error) && sum_score(s, error) && gather(s, error) &&
           session_sum_findings(s, error);
    struct text text = {0};
    pictures_describe_skipped(&s->pictures, &text);
    events_remark_text(s->events, &text);
    return good ? GLCNN_SUCCESS : session_fail(s, error);
}

glcnn_status session_validate(glcnn_trainer *s)
{
    return validate(s, s->pictures.validation, s->validation, true);
}

glcnn_status session_validate_trained(glcnn_trainer *s)
{
    return validate(s, s->pictures.validation, s->validation, false);
}

/* Of images that no choice was made by. */
static glcnn_status test_others(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_data_loader *loader = NULL;
    if (!session_load_part(s, s->pictures.test, false, &loader, error))
        return session_fail(s, error);
    if (s->frozen.tail.network)
        frozen_take(&s->frozen.test, &s->tester);
    glcnn_status status = validate(s, s->pictures.test, loader, true);
    glcnn_data_loader_destroy(&loader);
    return status;
}

/* Of none nothing. */
static void tell_interval(const glcnn_trainer *s, const struct interval *interval)
{
    if (interval->draws > 0)
        events_note(s->events, ", %.0f %% interval %.4f to %.4f", 100 * INTERVAL_SHARE,
                    interval->low, interval->high);
}

/* Notes what the network makes of the test images; where these are those to validate with, what the last epoch
 * found still holds. */
static glcnn_status note_test(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH], measured[TASK_MEASURED];
    struct interval interval;
    bool is_other = s->pictures.test != s->pictures.validation;
    glcnn_status status = is_other               ? test_others(s)
                          : s->scored == s->step ? GLCNN_SUCCESS
                                                 : session_validate(s);
    if (status != GLCNN_SUCCESS)
        return status;
    if (!evaluate_is_finite(&s->score, &s->pictures, s->pictures.test, error))
        return session_fail(s, error);
    struct text text = {0};
    score_print(&s->score, s->described.names, &text);
    events_note_text(s->events, &text);
    if (!is_other)
        return GLCNN_SUCCESS;
    events_note(s->events, "\ntest: loss %.4f, %s %s on %u images", score_loss(&s->score),
                s->settings.task->measure,
                task_write(s->settings.task, score_measure(&s->score), measured),
                session_images(s, s->pictures.test));
    if (!session_interval(s, &interval))
        return session_fail(s, "not enough memory");
    tell_interval(s, &interval);
    events_note(s->events, "\n");
    return GLCNN_SUCCESS;
}

/* ---- The conclusion ---- */

static void tell_validation(const glcnn_trainer *s, const struct conclusion *c)
{
    const struct task *task = s->settings.task;
    char measured[TASK_MEASURED];
    events_note(s->events, "\nvalidation: %s %s on %u images", task->measure,
                task_write(task, c->measure, measured), session_images(s, s->pictures.validation));
    tell_interval(s, &c->interval);
    events_note(s->events, "\n");
    if (c->has_least)
        events_note(s->events, "learned least: %s %s, %s %.4f on %.0f %s\n", task->parts->name,
                    c->least, task->parts->measure, c->least_measure, c->least_count,
                    task->parts->counted);
    if (*c->sizes)
        events_note(s->events, "learned least: %s\n", c->sizes);
}

/* Twice as much as this run had. */
static void tell_time(const glcnn_trainer *s, bool falls)
{
    if (falls)
        events_note(s->events, "advice: the loss still fell at the end: ");
    else
        events_note(s->events, "advice: %zu steps are few to learn from: ", s->step);
    events_note(s->events, "more time would help, ");
    if (s->asked_time > 0 && s->asked_time % 30 == 0)
        events_note(s->events, "--time %" PRIu64 "m\n", s->asked_time / 30);
    else if (s->asked_time > 0)
        events_note(s->events, "--time %" PRIu64 "s\n", 2 * s->asked_time);
    else
        events_note(s->events, "--epochs %" PRIu64 "\n", 2 * s->settings.epochs);
}

static void tell_pictures(const glcnn_trainer *s, const struct conclusion *c)
{
    const struct task *task = s->settings.task;
    if (isnan(c->training_measure))
        events_note(
            s->events,
            "advice: training, with a loss of %.4f, is far ahead of validation, with %.4f: ",
            c->training_loss, c->validation_loss);
    else
        events_note(s->events,
                    "advice: training, with an %s of %.4f, is far ahead of validation, with %.4f: ",
                    task->measure, c->training_measure, c->measure);
    events_note(s->events, "more pictures would help, or more of --augment%s\n",
                *s->settings.augment_words ? "" : ", which is off");
}

static void tell_advice(const glcnn_trainer *s, const struct conclusion *c)
{
    if (c->advice == ADVICE_TIME || c->advice == ADVICE_STEPS)
        tell_time(s, c->advice == ADVICE_TIME);
    else if (c->advice == ADVICE_PICTURES)
        tell_pictures(s, c);
    else if (c->advice == ADVICE_LABELS)
        events_note(
            s->events,
            "advice: the network does no better than one that does not look at the pictures "
            "(%s %.4f): look whether the labels are those of the pictures, or try a lower "
            "--lr than %.3g, or another --net\n",
            s->settings.task->measure, c->chance, s->settings.rate);
}

/* A run that goes on with a file that had all its epochs has not validated. */
static glcnn_status find_conclusion(glcnn_trainer *s, struct conclusion *c)
{
    const glcnn_status status = s->scored == s->step ? GLCNN_SUCCESS : session_validate(s);
    if (status != GLCNN_SUCCESS)
        return status;
    s->scored = s->step;
    return session_find_conclusion(s, c) ? GLCNN_SUCCESS : session_fail(s, "not enough memory");
}

glcnn_status session_conclude(glcnn_trainer *s)
{
    struct conclusion c = {.has_least = false};
    glcnn_status status = find_conclusion(s, &c);
    if (status == GLCNN_SUCCESS)
        status = note_test(s);
    if (status != GLCNN_SUCCESS)
        return status;
    tell_validation(s, &c);
    tell_advice(s, &c);
    return GLCNN_SUCCESS;
}
