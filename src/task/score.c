/* Scores: what is alike for all tasks. */
#include "score.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

bool score_begin(struct score *score, const struct model *model)
{
    const struct form *form = &model->form;
    *score = (struct score){.task = task_of(form), .form = *form};
    score->sum_count = score->task->sums(form);
    score->sums = calloc(score->sum_count, sizeof *score->sums);
    if (!score->sums || !model->units[0])
        return score->sums;
    score->units = calloc(2 * (size_t)form->classes, sizeof *score->units);
    return score->units && model_read_units(model->units, form->classes, score->units);
}

void score_free(struct score *score)
{
    if (score->kept)
        score->task->release(score);
    free(score->sums);
    free(score->units);
    *score = (struct score){.task = NULL};
}

void score_of(struct score *score, glcnn_dataset *set, glcnn_data_part part)
{
    score->set = set;
    score->part = part;
}

void score_count(struct score *score, double *sum, double value)
{
    *sum += value;
    if (score->tallies)
        tallies_add(score->tallies, (size_t)(sum - score->sums), value);
}

double score_cross_entropy(float probability)
{
    return -log(probability < FLT_MIN ? (double)FLT_MIN : (double)probability);
}

bool scores_are_finite(const float *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return false;
    return true;
}

static void add_not_finite(struct score *score, uint32_t index)
{
    score->loss = NAN;
    if (score->not_finite++ == 0)
        score->first = index;
}

/* What a report tells of a picture, beside its part of the sums. */
static void find(struct score *score, double loss, const float *values,
                 const struct glcnn_data_batch *batch, uint32_t n)
{
    struct mistake mistake = {.index = batch->indices[n], .loss = loss};
    if (score->task->count_right)
        findings_add(score->findings, values, batch->labels[n]);
    if (!score->task->judge || score->task->judge(score, values, batch, n, mistake.numbers))
        findings_add_mistake(score->findings, &mistake, values);
}

static void add_finite(struct score *score, const float *values,
                       const struct glcnn_data_batch *batch, uint32_t n)
{
    const double before = score->loss;
    score->loss = 0;
    score->task->add(score, values, batch, n);
    if (score->findings)
        find(score, score->loss, values, batch, n);
    score->loss += before;
}

void score_add(struct score *score, const float *values, const struct glcnn_data_batch *batch)
{
    const size_t each = score->task->values(&score->form);
    for (uint32_t n = 0; n < batch->count; n++) {
        const float *of = values + n * each;
        if (batch->labels[n] == GLCNN_DATA_NO_LABEL)
            continue;
        score->count++;
        if (score->tallies)
            tallies_begin_picture(score->tallies);
        if (scores_are_finite(of, each))
            add_finite(score, of, batch, n);
        else
            add_not_finite(score, batch->indices[n]);
    }
}

double score_measure(const struct score *score)
{
    return score->count > 0 ? score->task->measured(score) : NAN;
}

double score_rank(const struct score *score, double *measure)
{
    if (score->count > 0 && score->task->rank)
        return score->task->rank(score, measure);
    return *measure = score_measure(score);
}

/* Of what is drawn the sums alone are known. */
static double measure_drawn(void *context, const uint32_t *times)
{
    const struct score *drawn = context;
    if (drawn->task->measured_drawn)
        return drawn->task->measured_drawn(drawn, times);
    tallies_sum(drawn->tallies, times, drawn->sums, drawn->sum_count);
    return score_measure(drawn);
}

bool score_interval(const struct score *score, uint64_t seed, struct interval *interval)
{
    struct score drawn = *score;
    const size_t work = score->task->drawn_numbers ? score->task->drawn_numbers(score)
                                                   : score->tallies->count + score->sum_count;
    *interval = (struct interval){.draws = 0};
    if (score->tallies->lacks_memory)
        return true;
    drawn.sums = calloc(score->sum_count, sizeof *drawn.sums);
    const bool good = drawn.sums && interval_find(score->tallies->pictures, work, seed,
                                                  measure_drawn, &drawn, interval);
    free(drawn.sums);
    return good;
}

double score_loss(const struct score *score)
{
    const double pictures =
        score->task->pictures ? score->task->pictures(score) : (double)score->count;
    if (score->count == 0)
        return NAN;
    return pictures > 0 ? score->loss / pictures : score->loss;
}

void score_print(const struct score *score, const char *const *names, struct text *text)
{
    score->task->print(score, names, text);
}

cJSON *score_json(const struct score *score, const char *const *names)
{
    cJSON *json = cJSON_CreateObject();
    score->task->describe(score, names, json);
    return json;
}
