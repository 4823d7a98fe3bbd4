/* What validation finds for a report, of all ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train_session.h"

bool session_begin_findings(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    if (!s->settings.report)
        return true;
    findings_free(&s->findings);
    s->score.findings = &s->findings;
    if (findings_begin(&s->findings, s->score.task->count_right ? s->score.form.classes : 0)) {
        if (s->score.task->show)
            findings_keep_values(&s->findings, s->score.task->values(&s->score.form));
        return true;
    }
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    return false;
}

/* Each rank has places of its own among the numbers that are added up; an index from 1, 0: no mistake. */
#define PLACE (2 + MISTAKE_NUMBERS)

static void write_mistakes(const struct findings *f, double *places)
{
    for (uint32_t i = 0; i < f->worst_count; i++, places += PLACE) {
        places[0] = f->worst[i].index + 1.0;
        places[1] = f->worst[i].loss;
        memcpy(places + 2, f->worst[i].numbers, sizeof f->worst[i].numbers);
    }
}

/* Answers stay with the rank that has them. */
static void give_answer(struct findings *f, const struct mistake *own)
{
    uint32_t i = 0;
    while (i < f->worst_count && f->worst[i].index != own->index)
        i++;
    if (i < f->worst_count)
        f->worst[i].values = own->values;
    else
        free(own->values);
}

static void read_mistakes(struct findings *f, const double *places, size_t count)
{
    struct mistake own[FINDINGS_WORST];
    const uint32_t count_own = f->worst_count;
    memcpy(own, f->worst, sizeof own);
    f->worst_count = 0;
    for (size_t i = 0; i < count; i++, places += PLACE) {
        struct mistake m = {.index = (uint32_t)places[0] - 1, .loss = places[1]};
        memcpy(m.numbers, places + 2, sizeof m.numbers);
        if (places[0] > 0)
            findings_add_mistake(f, &m, NULL);
    }
    for (uint32_t i = 0; i < count_own; i++)
        give_answer(f, &own[i]);
}

bool session_sum_findings(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    struct findings *f = &s->findings;
    if (!s->settings.report || !s->ranks.mpi)
        return true;
    const size_t bins = findings_size(f), mistakes = (size_t)s->ranks.size * FINDINGS_WORST;
    double *numbers = calloc(bins + mistakes * PLACE, sizeof *numbers);
    if (!numbers) {
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
        return false;
    }
    for (size_t i = 0; i < bins; i++)
        numbers[i] = (double)f->bins[i];
    write_mistakes(f, numbers + bins + (size_t)s->ranks.rank * FINDINGS_WORST * PLACE);
    bool good = ranks_sum(&s->ranks, numbers, bins + mistakes * PLACE, error);
    for (size_t i = 0; i < bins && good; i++)
        f->bins[i] = (uint64_t)numbers[i];
    if (good)
        read_mistakes(f, numbers + bins, mistakes);
    free(numbers);
    return good;
}
