/* A learning rate for a run: the range test of Smith 2017. Steps with rates that rise by the same factor
 * each, until the loss has grown; what is suggested is a tenth of the rate at which it was least. */
#include <math.h>

#include "train_session.h"

#define STEPS  100
#define LOWEST 1e-4 /* times the optimizer's own rate, which is a good one for many networks */
#define RANGE  1e7  /* of the highest to the lowest */
#define KEPT   0.9  /* of the mean of losses, in each step */
#define GROWN  4    /* times the least loss: no higher rate is of use */
#define ROW    4    /* steps to a line */

static double rate_of(const glcnn_trainer *s, size_t step)
{
    return s->settings.optimizer->rate * LOWEST * pow(RANGE, (double)step / (STEPS - 1));
}

static bool is_over(const struct rate_search *f, double loss)
{
    return !isfinite(loss) || loss > GROWN * f->least;
}

/* Takes the loss of a step; the mean without the bias of its beginning. */
static double follow(struct rate_search *f, size_t step, double rate, double loss)
{
    f->loss = KEPT * f->loss + (1 - KEPT) * loss;
    double mean = f->loss / (1 - pow(KEPT, (double)(step + 1)));
    if (mean < f->least) {
        f->least = mean;
        f->best_rate = rate;
    }
    return mean;
}

glcnn_status session_find_rate(glcnn_trainer *s, bool *is_done)
{
    char error[GLCNN_ERROR_LENGTH];
    struct rate_search *f = &s->search;
    const size_t i = f->step++;
    float loss;
    if (i == 0) {
        *f = (struct rate_search){.step = 1, .least = INFINITY};
        events_note(s->events, "\n%13s  %8s\n", "learning rate", "loss");
    }
    *is_done = i == STEPS || s->ends || is_over(f, f->mean);
    if (*is_done) {
        events_note(s->events, "\nthe loss is least at %.3g; try --lr %.2g\n", f->best_rate,
                    f->best_rate / 10);
        return GLCNN_SUCCESS;
    }
    s->fixed_rate = rate_of(s, i);
    if (!session_step(s, &s->model, &s->trainer, s->training, s->first + i, &loss, NULL, error))
        return session_fail(s, error);
    f->mean = follow(f, i, s->fixed_rate, (double)loss);
    if (i % ROW == 0 || i + 1 == STEPS || is_over(f, f->mean))
        events_note(s->events, "%13.3g  %8.4f\n", s->fixed_rate, f->mean);
    return GLCNN_SUCCESS;
}
