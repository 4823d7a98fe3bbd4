/* A training, of which each call makes the next part and returns what happened.
 *
 * What a step does follows only from the settings and the number of the step: the order of images
 * from the seed and the epoch, the learning rate from the step. So a run that is stopped and
 * resumed gives the bits that it would have given in one. Images that do not fill a batch are left
 * out of the epoch; the next one has them in another place. */
#include "train.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "train_optimizer.h"

#define SAVE_PERIOD 60 /* seconds between checkpoints */

/* Nothing is saved after a failure: what a checkpoint has is good. */
static void describe_checkpoint(const struct session *s, char *text, size_t size)
{
    const char *out = s->settings.out;
    if (!out)
        snprintf(text, size, "nothing was saved: no --out was given");
    else if (s->is_saved)
        snprintf(text, size, "%s still has the network of step %zu", out, s->saved_step);
    else
        snprintf(text, size, "%s is unchanged", out);
}

int session_fail(const struct session *s, const char *error)
{
    char kept[GLCNN_ERROR_LENGTH];
    if (!glcnn_device_is_lost(s->device))
        return events_complain(s->events, TRAIN_FAILED, "%s", error);
    describe_checkpoint(s, kept, sizeof kept);
    return events_complain(s->events, TRAIN_FAILED, "%s; %s", error, kept);
}

int session_fail_device(const struct session *s)
{
    return session_fail(s, model_failure(s->device));
}

/* ---- A step ---- */

static float learning_rate(const struct session *s, size_t step)
{
    const struct schedule_settings schedule = settings_schedule(&s->settings, s->steps);
    return s->fixed_rate > 0 ? (float)s->fixed_rate : schedule_rate(&schedule, step);
}

static bool tells_right(const struct session *s)
{
    return s->settings.task->count_right;
}

static uint32_t count_right(const struct session *s, const uint32_t *labels)
{
    return s->settings.task->count_right(s->scores, &s->pictures.form, labels, s->ranks.share);
}

/* Of all ranks: what a step showed, and whether one is to end or the first is to save. */
static bool sum_up(struct session *s, double loss, uint32_t right, float *mean, uint32_t *all_right,
                   char error[GLCNN_ERROR_LENGTH])
{
    bool is_due = ranks_leads(&s->ranks) && seconds_now() - s->saved >= SAVE_PERIOD;
    const double batches = (double)s->ranks.batch * (double)s->settings.accumulate;
    const bool fits = s->settings.time > 0 && ranks_leads(&s->ranks) && session_knows_time(s);
    double values[] = {loss * session_loss_images(s) / batches, right, s->stop != 0, is_due,
                       fits ? (double)session_fitting_epochs(s) : 0};
    if (!ranks_sum(&s->ranks, values, sizeof values / sizeof *values, error))
        return false;
    *mean = (float)values[0];
    if (all_right)
        *all_right = (uint32_t)values[1];
    s->ends = values[2] > 0;
    s->save_time = values[3] > 0;
    s->fitting_epochs = (uint64_t)values[4];
    return true;
}

/* Adds to the sums of a step; right NULL: nobody asks. */
static bool run_batch(struct session *s, struct runner *runner, glcnn_data_loader *loader,
                      double *loss, uint32_t *right, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_data_batch b;
    if (glcnn_data_loader_next(loader, &b, error) != GLCNN_SUCCESS)
        return false;
    if (!runner_run_batch(runner, &b, true, s->losses) ||
        (right && !runner_scores(runner, s->scores))) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", runner_error(runner));
        return false;
    }
    for (uint32_t n = 0; n < s->ranks.share; n++)
        *loss += (double)s->losses[n];
    if (right)
        *right += count_right(s, b.labels);
    return true;
}

/* The graph updates with the last of the step's batches. */
bool session_step(struct session *s, struct model *model, struct runner *runner,
                  glcnn_data_loader *loader, size_t step, float *loss, uint32_t *right,
                  char error[GLCNN_ERROR_LENGTH])
{
    double sum = 0;
    uint32_t count = 0;
    bool counts = right && tells_right(s), good = true;
    train_optimizer_set_rate(&s->settings, model, &s->layers, learning_rate(s, step));
    for (uint64_t i = 0; i < s->settings.accumulate && good; i++)
        good = run_batch(s, runner, loader, &sum, counts ? &count : NULL, error);
    return good && sum_up(s, sum, count, loss, counts ? right : NULL, error);
}

/* The loss decides where no accuracy is the greater: NaN is that of pictures in which there is nothing
 * to find. */
static bool is_better(const struct best *a, const struct best *b)
{
    return b->epoch == 0 || a->accuracy > b->accuracy ||
           (!(a->accuracy < b->accuracy) && a->loss < b->loss);
}

/* 0 before it is known how many steps an epoch has. */
static size_t epochs_done(const struct session *s)
{
    return s->steps > 0 ? s->step / s->steps : 0;
}

static bool has_lost_patience(const struct session *s)
{
    return s->settings.patience > 0 && s->best.epoch > 0 &&
           epochs_done(s) - s->best.epoch >= s->settings.patience;
}

/* ---- An epoch ---- */

static void mean_add(struct train_mean *mean, double loss, double accuracy)
{
    mean->count++;
    mean->loss += (loss - mean->loss) / (double)mean->count;
    mean->accuracy += (accuracy - mean->accuracy) / (double)mean->count;
}

#define DIVERGED   100 /* times the loss of the first step */
#define FIRST_LOSS 1.0 /* that is taken for it where a trained network begins with less */

static double first_loss(const struct session *s)
{
    return fmax(s->settings.first_loss, FIRST_LOSS);
}

/* After a loss that shows that training has come to nothing. */
static int end_diverged(const struct session *s)
{
    char kept[GLCNN_ERROR_LENGTH];
    describe_checkpoint(s, kept, sizeof kept);
    if (s->settings.out && s->best.epoch > 0 && access(s->best_path, F_OK) == 0)
        return events_complain(s->events, TRAIN_FAILED,
                               "%s, and %s that of epoch %" PRIu64 ", the best", kept, s->best_path,
                               s->best.epoch);
    return s->settings.out ? events_complain(s->events, TRAIN_FAILED, "%s", kept) : TRAIN_FAILED;
}

/* A loss that is finite, but beyond what learning comes back from. */
static int grow(const struct session *s, double loss)
{
    events_complain(
        s->events, TRAIN_FAILED,
        "step %zu: the loss is %.3g, more than %d times %.3g, that of the first step: training "
        "diverges; %s",
        s->step + 1, loss, DIVERGED, first_loss(s), session_advice(s));
    return end_diverged(s);
}

/* One that is not finite; `what` says whose it is. */
static int diverge(struct session *s, const char *what, double loss)
{
    char clause[GLCNN_ERROR_LENGTH] = "";
    if (!s->ranks.mpi) /* others would have to make their steps again with it */
        session_find_not_finite(s, clause);
    events_complain(s->events, TRAIN_FAILED, "step %zu: the loss%s is %s, not finite%s; %s",
                    s->step + 1, what, isnan(loss) ? "NaN" : "infinite", clause, session_advice(s));
    return end_diverged(s);
}

/* Once. */
static void tell_nothing(struct session *s)
{
    const struct task *task = s->settings.task;
    s->tells_nothing = true;
    events_note(
        s->events,
        "validation: the pictures have %s, so there is no %s; the epoch of the least loss is the "
        "best\n",
        task->nothing, task->measure);
}

/* The time of validation to that of the epoch's steps. The first one has compiled programs too: an image
 * costs no more there than in a step. */
static double validation_cost(const struct session *s, double validating, double stepping)
{
    const double images = session_images(s, s->pictures.validation),
                 trained = (double)(s->steps * settings_step_images(&s->settings));
    return fmin(stepping > 0 ? validating / stepping : 0, images / trained);
}

/* By the averages, which are what is saved, or by what is trained. */
static int validate(struct session *s, bool by_averages, struct best *found)
{
    const int status = by_averages ? session_validate(s, s->validation)
                                   : session_validate_trained(s, s->validation);
    if (status != TRAIN_GOOD)
        return status;
    found->loss = score_loss(&s->score);
    found->accuracy = score_rank(&s->score);
    found->measured = score_measure(&s->score);
    return TRAIN_GOOD;
}

/* What is learned of one loss of 0 after the other is nothing: it may be that nothing is left, or that
 * masks have no class, for instance. */
static void tell_zero(const struct session *s, const struct train_mean *mean)
{
    if (mean->loss > 0 || !ranks_leads(&s->ranks) || s->first / s->steps != epochs_done(s))
        return;
    events_complain(
        s->events, TRAIN_GOOD,
        "every loss of this epoch was 0: there is nothing to learn of these pictures; look at "
        "their targets");
}

static struct train_event make_event(const struct session *s, enum train_event_kind kind)
{
    return (struct train_event){
        .kind = kind, .status = s->status, .step = s->step, .epoch = epochs_done(s) + 1};
}

static void add_event(struct session *s, enum train_event_kind kind)
{
    struct train_event event = make_event(s, kind);
    events_add(s->events, &event);
}

/* Validates after the last step of an epoch. */
static int finish_epoch(struct session *s)
{
    const double waited = glcnn_data_loader_get_statistics(s->training).waited, before = s->waited,
                 begun = seconds_now(), stepping = begun - s->epoch_begun;
    struct best trained = {.epoch = 0}, *now = &s->found;
    s->waited = waited;
    int status = s->ema.count > 0 ? validate(s, false, &trained) : TRAIN_GOOD;
    if (status == TRAIN_GOOD)
        status = validate(s, true, now);
    if (status != TRAIN_GOOD)
        return status;
    now->epoch = epochs_done(s) + 1;
    s->scored = s->step + 1;
    if (!isfinite(now->loss))
        return diverge(s, " in validation", now->loss);
    s->epoch_cost = 1 + validation_cost(s, seconds_now() - begun, stepping);
    if (isnan(now->accuracy) && !s->tells_nothing)
        tell_nothing(s);
    struct train_event event = s->made;
    event.kind = TRAIN_EVENT_EPOCH;
    event.mean_accuracy = s->mean.accuracy;
    event.validation_loss = now->loss;
    event.validation_accuracy = now->measured;
    event.trained_loss = trained.loss;
    event.trained_accuracy = trained.measured;
    event.seconds = stepping;
    event.waited = waited - before;
    event.is_best = is_better(now, &s->best);
    events_add(s->events, &event);
    tell_zero(s, &s->mean);
    return TRAIN_GOOD;
}

/* After the step under way, where each rank steps by itself: time to average their weights? */
static bool is_averaging_step(const struct session *s)
{
    return s->settings.average_every > 0 && (s->step + 1) % s->settings.average_every == 0;
}

static bool average_weights(struct session *s, char error[GLCNN_ERROR_LENGTH])
{
    return s->settings.average_every == 0 || ranks_average(&s->ranks, s->model.network, error);
}

/* The epochs that fit --time are those of all ranks. */
static void take_time(struct session *s)
{
    const bool fits = s->fitting_epochs > 0,
               is_known = s->settings.time == 0 && session_knows_time(s);
    if (fits)
        session_set_epochs(s, s->fitting_epochs);
    if (fits || is_known)
        session_tell_time(s, fits);
    session_begin_timing(s);
}

/* ---- The phases of a run ----
 *
 * Each returns a status and has set the phase that follows. After a failure that is TRAINED, or END. */

/* Nothing is left to train, and nothing written: but to a file that has not got it. */
static bool tell_met(const struct session *s)
{
    const struct settings *t = &s->settings;
    const uint64_t epochs = t->step / (t->images / settings_step_images(t));
    if (ranks_leads(&s->ranks))
        events_complain(s->events, TRAIN_GOOD,
                        epochs == 1 ? "%s has completed its only epoch; give more with --epochs"
                                    : "%s has completed all %" PRIu64
                                      " epochs; give more with --epochs",
                        t->resume, epochs);
    return !session_writes_elsewhere(s);
}

static int phase_start(struct session *s)
{
    s->started = seconds_now();
    s->phase = PHASE_OPEN;
    if (s->settings.finds_rate || !settings_are_met(&s->settings) || !tell_met(s))
        return TRAIN_GOOD;
    ranks_close(&s->ranks);
    add_event(s, TRAIN_EVENT_END);
    s->phase = PHASE_OVER;
    return TRAIN_GOOD;
}

/* A part at a time: what was found is told before the next, which may take long. */
static int phase_open(struct session *s)
{
    bool is_open = false;
    const int status = session_open_part(s, &is_open);
    if (status != TRAIN_GOOD || !is_open)
        return status;
    s->begun = seconds_now();
    s->phase = s->settings.finds_rate ? PHASE_FIND : PHASE_EPOCH;
    add_event(s, TRAIN_EVENT_BEGUN);
    return TRAIN_GOOD;
}

static int phase_find(struct session *s)
{
    bool is_done = false;
    const int status = session_find_rate(s, &is_done);
    if (is_done)
        s->phase = PHASE_END;
    return status;
}

static int phase_epoch(struct session *s)
{
    if (s->step >= s->total || s->ends || has_lost_patience(s)) {
        s->phase = PHASE_FINISH;
        return TRAIN_GOOD;
    }
    s->mean = (struct train_mean){.count = 0};
    s->epoch_first = s->step;
    s->epoch_last = (s->step / s->steps + 1) * s->steps;
    s->epoch_begun = seconds_now();
    s->phase = PHASE_STEP;
    add_event(s, TRAIN_EVENT_EPOCH_BEGUN);
    return TRAIN_GOOD;
}

static int phase_step(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    float loss;
    uint32_t right = 0;
    const size_t images = (size_t)settings_step_images(&s->settings);
    struct train_event event = make_event(s, TRAIN_EVENT_STEP);
    s->found = (struct best){.epoch = 0};
    event.begun = seconds_now();
    if (!session_step(s, &s->model, &s->trainer, s->training, s->step, &loss, &right, error))
        return session_fail(s, error);
    if (!ema_step(&s->ema, s->step))
        return session_fail_device(s);
    event.ended = seconds_now();
    if (!isfinite(loss))
        return diverge(s, "", (double)loss);
    if (s->settings.first_loss == 0)
        s->settings.first_loss = (double)loss;
    if ((double)loss > DIVERGED * first_loss(s))
        return grow(s, (double)loss);
    event.loss = (double)loss;
    event.accuracy = tells_right(s) ? (double)right / (double)images : NAN;
    event.rate = (double)learning_rate(s, s->step);
    event.done = (s->step + 1 - s->epoch_first) * images;
    event.is_last = (s->step + 1) % s->steps == 0;
    event.ends = s->ends;
    mean_add(&s->mean, event.loss, event.accuracy);
    event.mean_loss = s->mean.loss;
    s->made = event;
    events_add(s->events, &event);
    if ((event.is_last || s->ends || s->save_time || is_averaging_step(s)) &&
        !average_weights(s, error))
        return session_fail(s, error);
    s->phase = event.is_last ? PHASE_VALIDATE : PHASE_ADVANCE;
    return TRAIN_GOOD;
}

static int phase_validate(struct session *s)
{
    s->phase = PHASE_ADVANCE;
    return finish_epoch(s);
}

/* Adds the step, and what validation found after it, to the curves. */
static bool add_to_curves(struct session *s)
{
    const double x = (double)(s->step + 1) / (double)s->steps;
    return curve_add(&s->curves.training, x, s->made.loss, s->made.accuracy) &&
           (s->found.epoch == 0 ||
            curve_add(&s->curves.validation, x, s->found.loss, s->found.measured));
}

static int phase_advance(struct session *s)
{
    if (!add_to_curves(s))
        return session_fail(s, "not enough memory");
    s->step++;
    take_time(s);
    s->phase = PHASE_KEEP;
    return s->made.is_last ? session_unfreeze(s) : TRAIN_GOOD;
}

static enum train_phase phase_after_step(const struct session *s)
{
    return s->step < s->epoch_last && !s->ends ? PHASE_STEP : PHASE_EPOCH;
}

/* The best epoch's checkpoint is written before the one that knows of it. */
static int phase_keep(struct session *s)
{
    int status = TRAIN_GOOD;
    if (s->found.epoch > 0 && is_better(&s->found, &s->best)) {
        const double begun = seconds_now();
        s->best = s->found;
        status = s->best_path[0] ? session_write_checkpoint(s, s->best_path) : TRAIN_GOOD;
        session_leave_out(s, seconds_now() - begun);
    }
    const bool saves = s->found.epoch > 0 || s->save_time;
    s->phase = saves ? PHASE_SAVE : phase_after_step(s);
    if (status == TRAIN_GOOD && saves)
        add_event(s, TRAIN_EVENT_SAVING);
    return status;
}

static int phase_save(struct session *s)
{
    const int status = session_save(s);
    s->phase = phase_after_step(s);
    if (status == TRAIN_GOOD && s->found.epoch > 0)
        add_event(s, TRAIN_EVENT_SAVED);
    return status;
}

static int phase_finish(struct session *s)
{
    const bool saves = s->ranks.mpi || !(s->is_saved && s->saved_step == s->step);
    s->phase = saves ? PHASE_SAVE_LAST : PHASE_TRAINED;
    if (saves)
        add_event(s, TRAIN_EVENT_SAVING);
    return TRAIN_GOOD;
}

static int phase_save_last(struct session *s)
{
    s->phase = PHASE_TRAINED;
    return session_save(s);
}

/* After a failure too, so that files on the training are ended. */
static int phase_trained(struct session *s)
{
    s->phase = s->status == TRAIN_GOOD ? PHASE_CONCLUDE : PHASE_END;
    add_event(s, TRAIN_EVENT_TRAINED);
    return TRAIN_GOOD;
}

/* What it took to be one of several. */
static void tell_exchange(const struct session *s)
{
    size_t steps = s->step - s->first;
    if (!s->ranks.mpi || steps == 0)
        return;
    const struct glcnn_mpi_statistics m = s->ranks.library.get_statistics(s->ranks.mpi);
    events_note(s->events, "ranks: %u; each sent %.1f KiB a step", s->ranks.size,
                (double)m.bytes_sent / (double)steps / 1024);
    if (m.exchanging > 0)
        events_note(
            s->events,
            "; sums of gradients took %.2f ms a step, %.0f %% of it during the backward pass",
            1e3 * m.exchanging / (double)steps, 100 * m.hidden / m.exchanging);
    events_note(s->events, "; %.2f ms a step of waiting for other ranks\n",
                1e3 * m.waited / (double)steps);
}

/* How the network does at the end, and where it is. */
static int phase_conclude(struct session *s)
{
    char best[TASK_MEASURED];
    s->phase = PHASE_END;
    int status = s->ends ? TRAIN_GOOD : session_conclude(s);
    if (has_lost_patience(s))
        events_note(s->events, "\nstopped: no better %s in %" PRIu64 " epochs",
                    task_ranked(s->settings.task), s->settings.patience);
    if (s->best.epoch > 0)
        events_note(s->events, "\nbest: epoch %" PRIu64 ", validation %s %s\n", s->best.epoch,
                    task_ranked(s->settings.task),
                    task_write(s->settings.task, s->best.accuracy, best));
    if (settings_scale_losses(&s->settings) && session_take_scale(s))
        events_note(s->events, "loss scale: %.0f; %" PRIu64 " steps were skipped\n",
                    s->settings.loss_scale, s->settings.skipped_steps);
    if (!s->settings.out)
        events_note(s->events, "not saved; give --out\n");
    else if (s->ends)
        add_event(s, TRAIN_EVENT_INTERRUPTED);
    tell_exchange(s);
    return status;
}

/* One that has failed at the end is a failure of all. */
static int end_together(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    double nothing = 0;
    return ranks_sum(&s->ranks, &nothing, 1, error) ? TRAIN_GOOD : session_fail(s, error);
}

static int phase_end(struct session *s)
{
    if (s->status == TRAIN_GOOD)
        s->status = (enum train_status)end_together(s);
    if (s->status != TRAIN_GOOD)
        ranks_fail(&s->ranks, s->events->failure);
    session_end(s);
    ranks_close(&s->ranks);
    struct train_event event = {
        .kind = TRAIN_EVENT_END, .status = s->status, .is_interrupted = s->ends};
    events_add(s->events, &event);
    s->phase = PHASE_OVER;
    return TRAIN_GOOD;
}

/* ---- Events ---- */

static void run_phase(struct session *s)
{
    static int (*const phases[])(struct session *) = {
        [PHASE_START] = phase_start,         [PHASE_OPEN] = phase_open,
        [PHASE_FIND] = phase_find,           [PHASE_EPOCH] = phase_epoch,
        [PHASE_STEP] = phase_step,           [PHASE_VALIDATE] = phase_validate,
        [PHASE_ADVANCE] = phase_advance,     [PHASE_KEEP] = phase_keep,
        [PHASE_SAVE] = phase_save,           [PHASE_FINISH] = phase_finish,
        [PHASE_SAVE_LAST] = phase_save_last, [PHASE_TRAINED] = phase_trained,
        [PHASE_CONCLUDE] = phase_conclude,   [PHASE_END] = phase_end};
    const enum train_phase before = s->phase;
    const int status = phases[before](s);
    if (status == TRAIN_GOOD)
        return;
    s->status = (enum train_status)status;
    s->phase = before < PHASE_TRAINED ? PHASE_TRAINED : PHASE_END;
}

bool train_next(struct session *s, struct train_event *event)
{
    bool is_taken = events_take(s->events, event);
    while (!is_taken && s->phase != PHASE_OVER) {
        run_phase(s);
        is_taken = events_take(s->events, event);
    }
    return is_taken;
}

void train_abort(struct session *s, const char *reason)
{
    s->status = (enum train_status)session_fail(s, reason);
    if (s->phase < PHASE_TRAINED)
        s->phase = PHASE_TRAINED;
}

void train_stop(struct session *s)
{
    s->stop = 1;
}
