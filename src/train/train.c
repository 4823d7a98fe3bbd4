/* A training, of which each call makes the next part and returns what happened.
 *
 * What a step does follows only from the settings and the number of the step: the order of images
 * from the seed and the epoch, the learning rate from the step. So a run that is stopped and
 * resumed gives the bits that it would have given in one. Images that do not fill a batch are left
 * out of the epoch; the next one has them in another place. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/clock.h"
#include "train_optimizer.h"
#include "train_session.h"

#define SAVE_PERIOD 60 /* seconds between checkpoints */

/* Nothing is saved after a failure: what a checkpoint has is good. */
static void describe_checkpoint(const glcnn_trainer *s, char *text, size_t size)
{
    const char *out = s->settings.out;
    if (!out)
        snprintf(text, size, "nothing was saved: no --out was given");
    else if (s->is_saved)
        snprintf(text, size, "%s still has the network of step %zu", out, s->saved_step);
    else
        snprintf(text, size, "%s is unchanged", out);
}

glcnn_status session_fail(const glcnn_trainer *s, const char *error)
{
    char kept[GLCNN_ERROR_LENGTH];
    if (!glcnn_device_is_lost(s->device))
        return events_complain(s->events, GLCNN_INVALID_STATE, "%s", error);
    describe_checkpoint(s, kept, sizeof kept);
    return events_complain(s->events, GLCNN_INVALID_STATE, "%s; %s", error, kept);
}

glcnn_status session_fail_device(const glcnn_trainer *s)
{
    return session_fail(s, model_failure(s->device));
}

/* ---- A step ---- */

static float learning_rate(const glcnn_trainer *s, size_t step)
{
    const struct schedule_settings schedule = settings_schedule(&s->settings, s->steps);
    return s->fixed_rate > 0 ? (float)s->fixed_rate : schedule_rate(&schedule, step);
}

static bool tells_right(const glcnn_trainer *s)
{
    return s->settings.task->count_right;
}

static uint32_t count_right(const glcnn_trainer *s, const uint32_t *labels)
{
    return s->settings.task->count_right(s->scores, &s->pictures.form, labels, s->ranks.share);
}

/* Of all ranks: what a step showed, and whether one is to end or the first is to save. */
static bool sum_up(glcnn_trainer *s, double loss, uint32_t right, float *mean, uint32_t *all_right,
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
static bool run_batch(glcnn_trainer *s, struct runner *runner, glcnn_data_loader *loader,
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
bool session_step(glcnn_trainer *s, struct model *model, struct runner *runner,
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
static size_t epochs_done(const glcnn_trainer *s)
{
    return s->steps > 0 ? s->step / s->steps : 0;
}

static bool has_lost_patience(const glcnn_trainer *s)
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

static double first_loss(const glcnn_trainer *s)
{
    return fmax(s->settings.first_loss, FIRST_LOSS);
}

/* After a loss that shows that training has come to nothing. */
static glcnn_status end_diverged(const glcnn_trainer *s)
{
    char kept[GLCNN_ERROR_LENGTH];
    describe_checkpoint(s, kept, sizeof kept);
    if (s->settings.out && s->best.epoch > 0 && access(s->best_path, F_OK) == 0)
        return events_complain(s->events, GLCNN_INVALID_STATE,
                               "%s, and %s that of epoch %" PRIu64 ", the best", kept, s->best_path,
                               s->best.epoch);
    return s->settings.out ? events_complain(s->events, GLCNN_INVALID_STATE, "%s", kept)
                           : GLCNN_INVALID_STATE;
}

/* A loss that is finite, but beyond what learning comes back from. */
static glcnn_status grow(const glcnn_trainer *s, double loss)
{
    events_complain(
        s->events, GLCNN_INVALID_STATE,
        "step %zu: the loss is %.3g, more than %d times %.3g, that of the first step: training "
        "diverges; %s",
        s->step + 1, loss, DIVERGED, first_loss(s), session_advice(s));
    return end_diverged(s);
}

/* One that is not finite; `what` says whose it is. */
static glcnn_status diverge(glcnn_trainer *s, const char *what, double loss)
{
    char clause[GLCNN_ERROR_LENGTH] = "";
    if (!s->ranks.mpi) /* others would have to make their steps again with it */
        session_find_not_finite(s, clause);
    events_complain(s->events, GLCNN_INVALID_STATE, "step %zu: the loss%s is %s, not finite%s; %s",
                    s->step + 1, what, isnan(loss) ? "NaN" : "infinite", clause, session_advice(s));
    return end_diverged(s);
}

/* Once. */
static void tell_nothing(glcnn_trainer *s)
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
static double validation_cost(const glcnn_trainer *s, double validating, double stepping)
{
    const double images = session_images(s, s->pictures.validation),
                 trained = (double)(s->steps * settings_step_images(&s->settings));
    return fmin(stepping > 0 ? validating / stepping : 0, images / trained);
}

/* By the averages, which are what is saved, or by what is trained. */
static glcnn_status validate(glcnn_trainer *s, bool by_averages, struct best *found)
{
    const glcnn_status status = by_averages ? session_validate(s) : session_validate_trained(s);
    if (status != GLCNN_SUCCESS)
        return status;
    found->loss = score_loss(&s->score);
    found->accuracy = score_rank(&s->score, &found->measured);
    return GLCNN_SUCCESS;
}

/* What is learned of one loss of 0 after the other is nothing: it may be that nothing is left, or that
 * masks have no class, for instance. */
static void tell_zero(const glcnn_trainer *s, const struct train_mean *mean)
{
    if (mean->loss > 0 || !ranks_leads(&s->ranks) || s->first / s->steps != epochs_done(s))
        return;
    events_complain(
        s->events, GLCNN_SUCCESS,
        "every loss of this epoch was 0: there is nothing to learn of these pictures; look at "
        "their targets");
}

static struct glcnn_train_event make_event(const glcnn_trainer *s, glcnn_train_event_kind kind)
{
    const struct glcnn_train_settings *settings = &s->settings;
    return (struct glcnn_train_event){.kind = kind,
                                      .status = s->status,
                                      .step = s->step,
                                      .epoch = epochs_done(s) + 1,
                                      .task = settings->task ? settings->task->info.name : NULL,
                                      .epochs = settings->epochs,
                                      .steps = s->total,
                                      .has_averages = s->ema.count > 0,
                                      .images = s->steps * (size_t)settings_step_images(settings)};
}

static void add_event(glcnn_trainer *s, glcnn_train_event_kind kind)
{
    struct glcnn_train_event event = make_event(s, kind);
    events_add(s->events, &event);
}

/* Validates after the last step of an epoch. */
static glcnn_status finish_epoch(glcnn_trainer *s)
{
    const double waited = glcnn_data_loader_get_statistics(s->training).waited, before = s->waited,
                 begun = seconds_now(), stepping = begun - s->epoch_begun;
    struct best trained = {.epoch = 0}, *now = &s->found;
    s->waited = waited;
    glcnn_status status = s->ema.count > 0 ? validate(s, false, &trained) : GLCNN_SUCCESS;
    if (status == GLCNN_SUCCESS)
        status = validate(s, true, now);
    if (status != GLCNN_SUCCESS)
        return status;
    now->epoch = epochs_done(s) + 1;
    s->scored = s->step + 1;
    if (!isfinite(now->loss))
        return diverge(s, " in validation", now->loss);
    s->epoch_cost = 1 + validation_cost(s, seconds_now() - begun, stepping);
    if (isnan(now->accuracy) && !s->tells_nothing)
        tell_nothing(s);
    struct glcnn_train_event event = s->made;
    event.kind = GLCNN_TRAIN_EPOCH;
    event.mean_measure = s->mean.accuracy;
    event.validation_loss = now->loss;
    event.validation_measure = now->measured;
    event.trained_loss = trained.loss;
    event.trained_measure = trained.measured;
    event.seconds = stepping;
    event.waited = waited - before;
    event.is_best = is_better(now, &s->best);
    events_add(s->events, &event);
    tell_zero(s, &s->mean);
    return GLCNN_SUCCESS;
}

/* After the step under way, where each rank steps by itself: time to average their weights? */
static bool is_averaging_step(const glcnn_trainer *s)
{
    return s->settings.average_every > 0 && (s->step + 1) % s->settings.average_every == 0;
}

static bool average_weights(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH])
{
    return s->settings.average_every == 0 || ranks_average(&s->ranks, s->model.network, error);
}

/* The epochs that fit --time are those of all ranks. */
static void take_time(glcnn_trainer *s)
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
static bool tell_met(const glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    const uint64_t epochs = t->step / (t->images / settings_step_images(t));
    if (ranks_leads(&s->ranks))
        events_complain(s->events, GLCNN_SUCCESS,
                        epochs == 1 ? "%s has completed its only epoch; give more with --epochs"
                                    : "%s has completed all %" PRIu64
                                      " epochs; give more with --epochs",
                        t->resume, epochs);
    return !session_writes_elsewhere(s);
}

static glcnn_status phase_start(glcnn_trainer *s)
{
    s->started = seconds_now();
    s->phase = PHASE_OPEN;
    if (s->settings.finds_rate || !settings_are_met(&s->settings) || !tell_met(s))
        return GLCNN_SUCCESS;
    ranks_close(&s->ranks);
    s->phase = PHASE_OVER;
    return GLCNN_SUCCESS;
}

/* Files that show the training are others', and nobody is there to write them. */
static void remark_on_observers(const glcnn_trainer *s)
{
    const glcnn_train_settings *t = &s->settings;
    struct text text = {0};
    if (t->log || t->plot || t->report || t->tensorboard || t->trace)
        text_format(
            &text, "log, plot, report, tensorboard and trace are not written: that takes observers "
                   "(glcnn/report.h)\n");
    events_remark_text(s->events, &text);
}

/* A part at a time: what was found is told before the next, which may take long. */
static glcnn_status phase_open(glcnn_trainer *s)
{
    bool is_open = false;
    const glcnn_status status = session_open_part(s, &is_open);
    if (status != GLCNN_SUCCESS || !is_open)
        return status;
    if (!s->is_observed)
        remark_on_observers(s);
    s->begun = seconds_now();
    s->phase = s->settings.finds_rate ? PHASE_FIND : PHASE_EPOCH;
    add_event(s, GLCNN_TRAIN_BEGUN);
    return GLCNN_SUCCESS;
}

static glcnn_status phase_find(glcnn_trainer *s)
{
    bool is_done = false;
    const glcnn_status status = session_find_rate(s, &is_done);
    if (is_done)
        s->phase = PHASE_END;
    return status;
}

/* An epoch that follows takes as long as it did before, validation included. */
static void add_epoch_begun(glcnn_trainer *s)
{
    const size_t images = (size_t)settings_step_images(&s->settings);
    struct glcnn_train_event event = make_event(s, GLCNN_TRAIN_EPOCH_BEGUN);
    event.epoch_images = (s->epoch_last - s->epoch_first) * images;
    if (s->epoch_last < s->total)
        event.later_images =
            (size_t)((double)((s->total - s->epoch_last) * images) * fmax(s->epoch_cost, 1));
    events_add(s->events, &event);
}

static glcnn_status phase_epoch(glcnn_trainer *s)
{
    if (s->step >= s->total || s->ends || has_lost_patience(s)) {
        s->phase = PHASE_FINISH;
        return GLCNN_SUCCESS;
    }
    s->mean = (struct train_mean){.count = 0};
    s->epoch_first = s->step;
    s->epoch_last = (s->step / s->steps + 1) * s->steps;
    s->epoch_begun = seconds_now();
    s->phase = PHASE_STEP;
    add_epoch_begun(s);
    return GLCNN_SUCCESS;
}

static glcnn_status phase_step(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    float loss;
    uint32_t right = 0;
    const size_t images = (size_t)settings_step_images(&s->settings);
    struct glcnn_train_event event = make_event(s, GLCNN_TRAIN_STEP);
    const glcnn_status status = session_quantise(s);
    if (status != GLCNN_SUCCESS)
        return status;
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
    event.measure = tells_right(s) ? (double)right / (double)images : NAN;
    event.rate = (double)learning_rate(s, s->step);
    event.done = (s->step + 1 - s->epoch_first) * images;
    event.is_last = (s->step + 1) % s->steps == 0;
    event.ends = s->ends;
    mean_add(&s->mean, event.loss, event.measure);
    event.mean_loss = s->mean.loss;
    s->made = event;
    events_add(s->events, &event);
    if ((event.is_last || s->ends || s->save_time || is_averaging_step(s)) &&
        !average_weights(s, error))
        return session_fail(s, error);
    s->phase = event.is_last ? PHASE_VALIDATE : PHASE_ADVANCE;
    return GLCNN_SUCCESS;
}

static glcnn_status phase_validate(glcnn_trainer *s)
{
    s->phase = PHASE_ADVANCE;
    return finish_epoch(s);
}

/* Adds the step, and what validation found after it, to the curves. */
static bool add_to_curves(glcnn_trainer *s)
{
    const double x = (double)(s->step + 1) / (double)s->steps;
    return curve_add(&s->curves.training, x, s->made.loss, s->made.measure) &&
           (s->found.epoch == 0 ||
            curve_add(&s->curves.validation, x, s->found.loss, s->found.measured));
}

static glcnn_status phase_advance(glcnn_trainer *s)
{
    if (!add_to_curves(s))
        return session_fail(s, "not enough memory");
    s->step++;
    take_time(s);
    s->phase = PHASE_KEEP;
    return s->made.is_last ? session_unfreeze(s) : GLCNN_SUCCESS;
}

static enum train_phase phase_after_step(const glcnn_trainer *s)
{
    return s->step < s->epoch_last && !s->ends ? PHASE_STEP : PHASE_EPOCH;
}

/* The best epoch's checkpoint is written before the one that knows of it. */
static glcnn_status phase_keep(glcnn_trainer *s)
{
    glcnn_status status = GLCNN_SUCCESS;
    if (s->found.epoch > 0 && is_better(&s->found, &s->best)) {
        const double begun = seconds_now();
        s->best = s->found;
        status = s->best_path[0] ? session_write_checkpoint(s, s->best_path) : GLCNN_SUCCESS;
        session_leave_out(s, seconds_now() - begun);
    }
    const bool saves = s->found.epoch > 0 || s->save_time;
    s->phase = saves ? PHASE_SAVE : phase_after_step(s);
    if (status == GLCNN_SUCCESS && saves)
        add_event(s, GLCNN_TRAIN_SAVING);
    return status;
}

static glcnn_status phase_save(glcnn_trainer *s)
{
    const glcnn_status status = session_save(s);
    s->phase = phase_after_step(s);
    if (status == GLCNN_SUCCESS && s->found.epoch > 0)
        add_event(s, GLCNN_TRAIN_SAVED);
    return status;
}

static glcnn_status phase_finish(glcnn_trainer *s)
{
    const bool saves = s->ranks.mpi || !(s->is_saved && s->saved_step == s->step);
    s->phase = saves ? PHASE_SAVE_LAST : PHASE_TRAINED;
    if (saves)
        add_event(s, GLCNN_TRAIN_SAVING);
    return GLCNN_SUCCESS;
}

static glcnn_status phase_save_last(glcnn_trainer *s)
{
    s->phase = PHASE_TRAINED;
    return session_save(s);
}

/* After a failure too, so that files on the training are ended. */
static glcnn_status phase_trained(glcnn_trainer *s)
{
    s->phase = s->status == GLCNN_SUCCESS ? PHASE_CONCLUDE : PHASE_END;
    add_event(s, GLCNN_TRAIN_TRAINED);
    return GLCNN_SUCCESS;
}

/* What it took to be one of several. */
static void tell_exchange(const glcnn_trainer *s)
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

static void add_interrupted(glcnn_trainer *s)
{
    struct glcnn_train_event event = make_event(s, GLCNN_TRAIN_INTERRUPTED);
    settings_add_resumption(&s->settings, &s->resumption);
    event.step = s->saved_step;
    event.path = s->settings.out;
    event.text = s->resumption.bytes;
    events_add(s->events, &event);
}

/* How the network does at the end, and where it is. */
static glcnn_status phase_conclude(glcnn_trainer *s)
{
    char best[TASK_MEASURED];
    s->phase = PHASE_END;
    glcnn_status status = s->ends ? GLCNN_SUCCESS : session_conclude(s);
    if (!s->ends)
        session_tell_quantised(s);
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
        add_interrupted(s);
    tell_exchange(s);
    return status;
}

/* One that has failed at the end is a failure of all. */
static glcnn_status end_together(glcnn_trainer *s)
{
    char error[GLCNN_ERROR_LENGTH];
    double nothing = 0;
    return ranks_sum(&s->ranks, &nothing, 1, error) ? GLCNN_SUCCESS : session_fail(s, error);
}

static glcnn_status phase_end(glcnn_trainer *s)
{
    if (s->status == GLCNN_SUCCESS)
        s->status = end_together(s);
    if (s->status != GLCNN_SUCCESS)
        ranks_fail(&s->ranks, s->events->failure);
    session_end(s);
    ranks_close(&s->ranks);
    s->phase = PHASE_OVER;
    return GLCNN_SUCCESS;
}

/* ---- Events ---- */

static void run_phase(glcnn_trainer *s)
{
    static glcnn_status (*const phases[])(glcnn_trainer *) = {
        [PHASE_START] = phase_start,         [PHASE_OPEN] = phase_open,
        [PHASE_FIND] = phase_find,           [PHASE_EPOCH] = phase_epoch,
        [PHASE_STEP] = phase_step,           [PHASE_VALIDATE] = phase_validate,
        [PHASE_ADVANCE] = phase_advance,     [PHASE_KEEP] = phase_keep,
        [PHASE_SAVE] = phase_save,           [PHASE_FINISH] = phase_finish,
        [PHASE_SAVE_LAST] = phase_save_last, [PHASE_TRAINED] = phase_trained,
        [PHASE_CONCLUDE] = phase_conclude,   [PHASE_END] = phase_end};
    const enum train_phase before = s->phase;
    const glcnn_status status = phases[before](s);
    if (status == GLCNN_SUCCESS)
        return;
    s->status = status;
    s->phase = before < PHASE_TRAINED ? PHASE_TRAINED : PHASE_END;
}

static void set_end(glcnn_trainer *s)
{
    s->end = (struct glcnn_train_event){
        .kind = GLCNN_TRAIN_END, .status = s->status, .is_interrupted = s->ends};
    if (s->events->lost && s->status == GLCNN_SUCCESS)
        s->end.status = GLCNN_OUT_OF_MEMORY;
    if (s->end.status != GLCNN_SUCCESS)
        s->end.text = s->events->failure[0] ? s->events->failure : "not enough memory";
}

glcnn_status glcnn_trainer_next(glcnn_trainer *s, const struct glcnn_train_event **event)
{
    *event = events_take(s->events);
    while (!*event && s->phase != PHASE_OVER) {
        run_phase(s);
        *event = events_take(s->events);
    }
    if (*event)
        return GLCNN_SUCCESS;
    if (s->end.kind != GLCNN_TRAIN_END)
        set_end(s);
    *event = &s->end;
    return s->end.status;
}

void trainer_abort(glcnn_trainer *s, const char *reason)
{
    s->status = session_fail(s, reason);
    if (s->phase < PHASE_TRAINED)
        s->phase = PHASE_TRAINED;
}

void glcnn_trainer_stop(glcnn_trainer *s)
{
    s->stop = 1;
}

/* ---- The trainer ---- */

uint32_t glcnn_trainer_rank(const glcnn_trainer *s, uint32_t *count)
{
    if (count)
        *count = s->ranks.mpi ? s->ranks.size : 0;
    return s->ranks.rank;
}

/* The settings are finished, and their texts become the trainer's also on failure. */
static glcnn_status create(const struct glcnn_trainer_callbacks *callbacks,
                           glcnn_train_settings *settings, glcnn_trainer **trainer,
                           char error[GLCNN_ERROR_LENGTH])
{
    glcnn_trainer *s = *trainer = calloc(1, sizeof *s);
    if (!s) {
        settings_free(settings);
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    }
    s->events = &s->queue;
    s->callbacks = *callbacks;
    s->settings = *settings;
    if (ranks_open(&s->ranks, (double)s->settings.rank_wait, callbacks->waits, callbacks->user,
                   error))
        return GLCNN_SUCCESS;
    glcnn_trainer_destroy(trainer);
    return GLCNN_INVALID_STATE;
}

glcnn_status glcnn_trainer_create_with(const struct glcnn_trainer_callbacks *callbacks,
                                       const glcnn_train_settings *settings,
                                       glcnn_trainer **trainer, char error[GLCNN_ERROR_LENGTH])
{
    glcnn_train_settings copy;
    *trainer = NULL;
    glcnn_status status = settings_copy(settings, &copy, error);
    if (status == GLCNN_SUCCESS)
        status = settings_finish(&copy, error);
    if (status == GLCNN_SUCCESS)
        return create(callbacks, &copy, trainer, error);
    settings_free(&copy);
    return status;
}

glcnn_status glcnn_trainer_create(glcnn_device *device, const glcnn_train_settings *settings,
                                  glcnn_trainer **trainer, char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_trainer_callbacks none = {NULL};
    const glcnn_status status = glcnn_trainer_create_with(&none, settings, trainer, error);
    if (status == GLCNN_SUCCESS) {
        (*trainer)->device = device;
        (*trainer)->keeps_device = device != NULL;
    }
    return status;
}

void glcnn_trainer_destroy(glcnn_trainer **trainer)
{
    glcnn_trainer *s = *trainer;
    if (!s)
        return;
    if (s->phase != PHASE_OVER) {
        session_end(s);
        ranks_close(&s->ranks);
    }
    settings_free(&s->settings);
    text_free(&s->resumption);
    events_free(s->events);
    free(s);
    *trainer = NULL;
}
