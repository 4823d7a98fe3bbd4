/* How well the network of glcnn train does on pictures that it does not learn from. */
#include <stdio.h>
#include <stdlib.h>

#include "task/evaluate.h"
#include "train_session.h"

/* What all ranks have, one behind another. */
static bool gather(struct session *s, const double *counts, char error[GLCNN_ERROR_LENGTH])
{
    size_t all = 0, before = 0;
    for (uint32_t r = 0; r < s->ranks.size; r++) {
        before += r < s->ranks.rank ? (size_t)counts[r] : 0;
        all += (size_t)counts[r];
    }
    double *numbers = calloc(all + 1, sizeof *numbers);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    if (numbers)
        s->settings.task->write_kept(&s->score, numbers + before);
    bool good = numbers && ranks_sum(&s->ranks, numbers, all, error) &&
                s->settings.task->read_kept(&s->score, numbers, all);
    free(numbers);
    return good;
}

/* Where sums do not do. */
static bool gather_kept(struct session *s, char error[GLCNN_ERROR_LENGTH])
{
    if (!s->ranks.mpi || !s->settings.task->kept_numbers)
        return true;
    double *counts = calloc(s->ranks.size, sizeof *counts);
    if (counts)
        counts[s->ranks.rank] = (double)s->settings.task->kept_numbers(&s->score);
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    bool good = counts && counts[s->ranks.rank] > 0 &&
                ranks_sum(&s->ranks, counts, s->ranks.size, error) && gather(s, counts, error);
    free(counts);
    return good;
}

/* Each rank has seen its share. */
static bool sum_score(struct session *s, char error[GLCNN_ERROR_LENGTH])
{
    struct score *score = &s->score;
    double others[] = {(double)score->count, score->loss};
    bool good = ranks_sum(&s->ranks, score->sums, score->sum_count, error) &&
                ranks_sum(&s->ranks, others, sizeof others / sizeof *others, error);
    score->count = (uint64_t)others[0];
    score->loss = others[1];
    return good;
}

static bool evaluate(struct session *s, glcnn_data_loader *loader, bool by_averages,
                     char error[GLCNN_ERROR_LENGTH])
{
    struct flip as_they_are = {.pictures = NULL};
    if (!by_averages)
        return evaluate_epoch(&s->tester, &as_they_are, loader, s->tests, &s->score, error);
    if (!ema_exchange(&s->ema)) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(s->tool.device));
        return false;
    }
    bool good = evaluate_epoch(&s->tester, &as_they_are, loader, s->tests, &s->score, error);
    return ema_exchange(&s->ema) && good;
}

static int validate(struct session *s, glcnn_data_loader *loader, bool by_averages)
{
    char error[GLCNN_ERROR_LENGTH] = "not enough memory";
    score_free(&s->score);
    bool good = score_begin(&s->score, s->frozen.tail.network ? &s->frozen.tail : &s->model) &&
                session_begin_findings(s, error) && session_average_statistics(s, error) &&
                evaluate(s, loader, by_averages, error) && sum_score(s, error) &&
                gather_kept(s, error) && session_sum_findings(s, error);
    pictures_tell_skipped(&s->pictures, s->command);
    return good ? EXIT_GOOD : session_fail(s, error);
}

int session_validate(struct session *s, glcnn_data_loader *loader)
{
    return validate(s, loader, true);
}

int session_validate_trained(struct session *s, glcnn_data_loader *loader)
{
    return validate(s, loader, false);
}

/* Of images that no choice was made by. */
static int test_others(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_data_loader *loader = NULL;
    if (!session_load_part(s, s->pictures.test, false, &loader, error))
        return session_fail(s, error);
    if (s->frozen.tail.network)
        frozen_take(&s->frozen.test, &s->tester);
    int status = session_validate(s, loader);
    glcnn_data_loader_destroy(&loader);
    return status;
}

int session_test(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH], measured[TASK_MEASURED];
    bool is_other = s->pictures.test != s->pictures.validation;
    int status = is_other               ? test_others(s)
                 : s->scored == s->step ? EXIT_GOOD
                                        : session_validate(s, s->validation);
    if (status != EXIT_GOOD)
        return status;
    if (!evaluate_is_finite(&s->score, &s->pictures, s->pictures.test, error))
        return session_fail(s, error);
    score_print(&s->score, s->described.names);
    if (is_other)
        output("\ntest: loss %.4f, %s %s on %u images\n", score_loss(&s->score),
               s->settings.task->measure,
               task_write(s->settings.task, score_measure(&s->score), measured),
               session_images(s, s->pictures.test));
    return EXIT_GOOD;
}
