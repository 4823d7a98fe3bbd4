/* glcnn train: a network of nets.c on labelled pictures.
 *
 * What a step does follows only from the settings and the number of the step: the order of images
 * from the seed and the epoch, the learning rate from the step. So a run that is stopped and
 * resumed gives the bits that it would have given in one. Images that do not fill a batch are left
 * out of the epoch; the next one has them in another place. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "report/epoch_table.h"
#include "tool/interrupt.h"
#include "support/progress.h"
#include "base/clock.h"
#include "train_optimizer.h"
#include "train_session.h"

#define SAVE_PERIOD 60 /* seconds between checkpoints */

static const char details[] =
    "After each epoch the loss and accuracy on the validation images are printed. The "
    "checkpoint --out is written after each epoch, once a minute and at the end, always whole, "
    "and at the start if there is no such file. A file of another run is overwritten only with "
    "--force, none is that the run reads, and no two runs write one file; what cannot be written is "
    "reported before the first step. Later a log, plot, report or trace that cannot be written is reported "
    "once and left out: the run goes on, and ends with status 1. --resume takes the settings that are not given from the checkpoint and "
    "continues as if the run had not been stopped, bit for bit. The epoch with the best "
    "validation accuracy is kept beside it: model.best.safetensors for --out "
    "model.safetensors. The first Ctrl-C, SIGTERM or SIGHUP finishes the batch, saves, and "
    "prints how to continue; one that comes a second later or more ends at once. A loss that is "
    "not finite, or more than 100 times that of the first step (or than 100, if that was below 1), "
    "ends the run with status 1, and overwrites no file.\n"
    "\n"
    "At the end the measure on the validation images, and on test images, is printed with the interval in which "
    "95 of 100 measures on other images of the same kind lie (the bootstrap over images); then the class, "
    "number or keypoint that is learned least, for boxes also which size is; and, where the losses show it, "
    "what would help: more time, more pictures or augmentation, or a look at the labels.\n"
    "\n"
    "--report writes DIR/index.html after each epoch: one page for a browser, complete by itself, "
    "with the curves, each class, what is taken for what, the most wrong validation pictures, and "
    "training pictures as the network gets them. --tensorboard adds a file to DIR, with numbers of "
    "each step and pictures of each epoch, for \"tensorboard --logdir DIR\"; a resumed run adds "
    "another, and steps that it repeats replace the earlier ones.\n"
    "\n"
    "Without --epochs N images are shown 80000 cbrt(N / 600) / N times, at least once and at most 200 "
    "times: some 10000 steps for a few hundred images. The learning rate rises to --lr during the "
    "warm-up; for cosine that is a 20th of the run and at most five epochs, for other schedules none, "
    "unless --warmup is given. After t epochs of all --epochs the learning rate is --lr times\n"
    "  cosine        (1 + cos(pi t / epochs)) / 2    constant   1\n"
    "  exponential   d^t                             step       d^floor(t)\n"
    "d is --decay, by default what leaves 0.3 at the end of the run. A run that is resumed "
    "with another schedule or more epochs reports how far the learning rate jumps.\n"
    "\n"
    "--weight-decay is decoupled from the gradient, as in AdamW and SGDW, and for weights only: "
    "biases, gamma, beta and slopes do not decay. With --ema the network that is validated and "
    "saved has averages: after step n they move by 1 - d of the way to what is trained, where d is the "
    "smaller of DECAY and (1 + n) / (10 + n), weights and running statistics alike; the file has both, "
    "and epochs print what either gives. --class-weights are factors of the "
    "losses of a class's pictures, whose sum over the batch is divided by --batch: balanced ones "
    "are N / (K n), for n pictures of the class among N of K classes. Printed losses of training "
    "have them, and smoothed labels; those of validation have not.\n"
    "\n"
    "With --accumulate a step takes N batches, one after the other, and updates the weights once, by "
    "the mean of their gradients: as a batch of N times --batch images does, with the memory of one "
    "of --batch. But batch normalisation takes its statistics of each batch, and its running averages "
    "move with each. Steps, the learning rate, checkpoints and the log count updates; pictures that do "
    "not fill a step are left out of the epoch, as those that do not fill a batch are.\n"
    "\n"
    "--find-lr prints how the loss goes in at most 100 steps whose learning rate rises from a ten "
    "thousandth of the optimizer's default to a thousand times it, and suggests a tenth of the rate "
    "of the least loss. All other options count, but no file is written.\n"
    "\n"
    "Tasks and their losses, the first where --loss gives none.\n" TASK_WORDS
    "On --model with a classifier, or a network without a head, segment, detect and keypoints put a new "
    "head on its last map of each scale, and leave out what is behind these.\n\n"
    "Words for --augment, separated by commas. Each picture changes differently in each epoch;\n"
    "validation pictures do not change. Without --augment pictures (not values of .npy or .csv) are "
    "shifted, turned, scaled and changed in colour as the task allows; regress leaves them alone, as "
    "does --train, whose frozen layers compute each picture once. They are mirrored unless classes are "
    "called left and right, or are letters or digits; those of keypoints if each that is called left "
    "has one called right, since these change places. Where each is seen in fewer than 10 epochs they "
    "are mirrored at most. The run prints the words.\n" AUGMENT_WORDS "\n"
    "Layers for --train. The others are frozen, and what they compute for a picture is kept in a\n"
    "file if it is the same in every epoch.\n" LAYERS_WORDS "\n"
    "With mpirun, the processes, called ranks, train one network: each has a device of its own "
    "and its share of every batch, and gradients are summed while the backward pass still "
    "runs. The result is that of one process up to rounding, and bit for bit the same for the "
    "same number of ranks; batch normalisation sees each rank's share, or with "
    "--sync-batch-norm the whole batch. --batch is the size of the whole batch. Losses of detection are "
    "divided by the objects' locations in the whole batch. Every rank "
    "reads the files; the first writes them and prints. A rank that dies or fails ends all. A "
    "run may be resumed with another number of ranks. With --average-every N each rank steps "
    "by itself and the weights are averaged, for slow networks; --balance suits ranks of "
    "different speed.\n"
    "\n"
    "k, M and G after a number mean thousands, millions and so on; for bytes 1024, 1024^2 and "
    "1024^3.\n"
    "\n"
    "  glcnn train --net resnet8 --epochs 3 --out resnet8.safetensors --plot a.svg\n"
    "  glcnn train --resume resnet8.safetensors --epochs 4 --out resnet8.safetensors\n"
    "  glcnn train --model resnet8.safetensors --data fruit --out fruit.safetensors\n"
    "  mpirun -n 4 --bind-to none glcnn train --net resnet8 --batch 256 --out resnet8.safetensors\n";

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
    if (!glcnn_device_is_lost(s->tool.device))
        return complain(s->command, EXIT_FAILED, "%s", error);
    describe_checkpoint(s, kept, sizeof kept);
    return complain(s->command, EXIT_FAILED, "%s; %s", error, kept);
}

int session_fail_device(const struct session *s)
{
    return session_fail(s, model_failure(s->tool.device));
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
    double values[] = {loss * session_loss_images(s) / batches, right, interrupt_is_asked(), is_due,
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

static size_t epochs_done(const struct session *s)
{
    return s->step / s->steps;
}

static bool has_lost_patience(const struct session *s)
{
    return s->settings.patience > 0 && s->best.epoch > 0 &&
           epochs_done(s) - s->best.epoch >= s->settings.patience;
}

/* ---- An epoch ---- */

/* The mean of what the steps of an epoch showed. */
struct mean {
    double loss, accuracy;
    size_t count;
};

static void mean_add(struct mean *mean, double loss, double accuracy)
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
        return complain(s->command, EXIT_FAILED, "%s, and %s that of epoch %" PRIu64 ", the best",
                        kept, s->best_path, s->best.epoch);
    return s->settings.out ? complain(s->command, EXIT_FAILED, "%s", kept) : EXIT_FAILED;
}

/* A loss that is finite, but beyond what learning comes back from. */
static int grow(const struct session *s, double loss)
{
    complain(
        s->command, EXIT_FAILED,
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
    complain(s->command, EXIT_FAILED, "step %zu: the loss%s is %s, not finite%s; %s", s->step + 1,
             what, isnan(loss) ? "NaN" : "infinite", clause, session_advice(s));
    return end_diverged(s);
}

static void print_epoch(const struct session *s, const struct mean *mean, const struct best *now,
                        const struct best *trained, double seconds, double waited)
{
    const struct epoch_row row = {.epoch = now->epoch,
                                  .epochs = s->settings.epochs,
                                  .task = s->settings.task,
                                  .loss = mean->loss,
                                  .value = mean->accuracy,
                                  .validation_loss = now->loss,
                                  .validation_value = now->accuracy,
                                  .has_averages = s->ema.count > 0,
                                  .trained_loss = trained->loss,
                                  .trained_value = trained->accuracy,
                                  .seconds = seconds,
                                  .waited = waited,
                                  .is_best = is_better(now, &s->best)};
    epoch_table_print(&row, epochs_done(s) - s->first / s->steps);
    fflush(stdout);
}

/* Once. */
static void tell_nothing(struct session *s)
{
    const struct task *task = s->settings.task;
    s->tells_nothing = true;
    output(
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
    if (status != EXIT_GOOD)
        return status;
    found->loss = score_loss(&s->score);
    found->accuracy = score_measure(&s->score);
    return EXIT_GOOD;
}

/* What is learned of one loss of 0 after the other is nothing: it may be that nothing is left, or that
 * masks have no class, for instance. */
static void tell_zero(const struct session *s, const struct mean *mean)
{
    if (mean->loss > 0 || !ranks_leads(&s->ranks) || s->first / s->steps != epochs_done(s))
        return;
    complain(s->command, EXIT_GOOD,
             "every loss of this epoch was 0: there is nothing to learn of these pictures; look at "
             "their targets");
}

static int finish_epoch(struct session *s, const struct mean *mean, double seconds,
                        struct best *now)
{
    double waited = glcnn_data_loader_get_statistics(s->training).waited, before = s->waited,
           begun = seconds_now();
    s->waited = waited;
    now->epoch = epochs_done(s) + 1;
    struct best trained = {.epoch = 0};
    int status = s->ema.count > 0 ? validate(s, false, &trained) : EXIT_GOOD;
    if (status == EXIT_GOOD)
        status = validate(s, true, now);
    if (status != EXIT_GOOD)
        return status;
    s->scored = s->step + 1;
    if (!isfinite(now->loss))
        return diverge(s, " in validation", now->loss);
    s->epoch_cost = 1 + validation_cost(s, seconds_now() - begun, seconds);
    if (isnan(now->accuracy) && !s->tells_nothing)
        tell_nothing(s);
    print_epoch(s, mean, now, &trained, seconds, waited - before);
    tell_zero(s, mean);
    return EXIT_GOOD;
}

/* The step that was made, and what validation found after it; epoch 0: nothing. */
static int record(struct session *s, double loss, double accuracy, const struct best *found)
{
    bool validated = found->epoch > 0;
    const struct train_log_line line = {.step = s->step + 1,
                                        .epoch = epochs_done(s) + 1,
                                        .learning_rate = (double)learning_rate(s, s->step),
                                        .loss = loss,
                                        .accuracy = accuracy,
                                        .validation_loss = validated ? found->loss : NAN,
                                        .validation_accuracy = validated ? found->accuracy : NAN};
    double x = (double)(s->step + 1) / (double)s->steps;
    session_write_log(s, &line);
    if (!curve_add(&s->curves.training, x, loss, accuracy) ||
        (validated && !curve_add(&s->curves.validation, x, found->loss, found->accuracy)))
        return session_fail(s, "not enough memory");
    session_write_events(s, &line);
    return EXIT_GOOD;
}

/* After a step: the best epoch's checkpoint before the one that knows of it. */
static int keep(struct session *s, const struct best *found)
{
    int status = EXIT_GOOD;
    if (found->epoch > 0 && is_better(found, &s->best)) {
        s->best = *found;
        status = s->best_path[0] ? session_write_checkpoint(s, s->best_path) : EXIT_GOOD;
    }
    if (status == EXIT_GOOD && (found->epoch > 0 || s->save_time))
        status = session_save(s);
    if (status == EXIT_GOOD && found->epoch > 0) {
        session_write_plot(s);
        session_report(s);
    }
    return status;
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
static void take_time(struct session *s, struct progress *progress)
{
    const bool fits = s->fitting_epochs > 0,
               is_known = s->settings.time == 0 && session_knows_time(s);
    if (fits)
        session_set_epochs(s, s->fitting_epochs);
    if (fits || is_known) {
        progress_erase(progress);
        session_print_time(s, fits);
    }
    session_begin_timing(s);
}

/* One step of the epoch, and at its end validation. */
static int advance(struct session *s, struct progress *progress, struct mean *mean, size_t begun)
{
    char error[GLCNN_ERROR_LENGTH];
    float loss;
    uint32_t right = 0;
    struct best found = {.epoch = 0};
    const size_t images = (size_t)settings_step_images(&s->settings),
                 done = (s->step + 1 - begun) * images;
    bool is_last = (s->step + 1) % s->steps == 0;
    double start = seconds_now();
    train_trace_step(&s->trace, s->step);
    if (!session_step(s, &s->model, &s->trainer, s->training, s->step, &loss, &right, error))
        return session_fail(s, error);
    if (!ema_step(&s->ema, s->step))
        return session_fail_device(s);
    train_trace_end_step(&s->trace, start, seconds_now());
    if (!isfinite(loss))
        return diverge(s, "", (double)loss);
    if (s->settings.first_loss == 0)
        s->settings.first_loss = (double)loss;
    if ((double)loss > DIVERGED * first_loss(s))
        return grow(s, (double)loss);
    double accuracy = tells_right(s) ? (double)right / (double)images : NAN;
    mean_add(mean, (double)loss, accuracy);
    progress_update(progress, done, mean->loss);
    if (is_last || s->ends)
        progress_end(progress, done, mean->loss);
    if ((is_last || s->ends || s->save_time || is_averaging_step(s)) && !average_weights(s, error))
        return session_fail(s, error);
    int status = is_last ? finish_epoch(s, mean, progress_seconds(progress), &found) : EXIT_GOOD;
    if (status == EXIT_GOOD)
        status = record(s, (double)loss, accuracy, &found);
    if (status != EXIT_GOOD)
        return status;
    s->step++;
    take_time(s, progress);
    status = is_last ? session_unfreeze(s) : EXIT_GOOD;
    return status == EXIT_GOOD ? keep(s, &found) : status;
}

/* From where the session is to the end of the epoch. */
static int train_epoch(struct session *s)
{
    struct progress progress;
    struct mean mean = {.count = 0};
    int status = EXIT_GOOD;
    size_t begun = s->step, last = (begun / s->steps + 1) * s->steps;
    char label[64];
    const size_t images = (size_t)settings_step_images(&s->settings);
    snprintf(label, sizeof label, "epoch %zu of %" PRIu64, epochs_done(s) + 1, s->settings.epochs);
    progress_begin(&progress, ranks_leads(&s->ranks) ? stderr : stdout, (last - begun) * images);
    progress.label = label;
    progress.erases = epoch_table_is_drawn();
    progress.compiles = begun == s->first;
    if (last < s->total)
        progress.later = (size_t)((double)((s->total - last) * images) * fmax(s->epoch_cost, 1));
    while (s->step < last && !s->ends && status == EXIT_GOOD)
        status = advance(s, &progress, &mean, begun);
    return status;
}

/* ---- All ---- */

/* What it took to be one of several. */
static void print_exchange(const struct session *s)
{
    size_t steps = s->step - s->first;
    if (!s->ranks.mpi || steps == 0)
        return;
    const struct glcnn_mpi_statistics m = s->ranks.library.get_statistics(s->ranks.mpi);
    output("ranks: %u; each sent %.1f KiB a step", s->ranks.size,
           (double)m.bytes_sent / (double)steps / 1024);
    if (m.exchanging > 0)
        output("; sums of gradients took %.2f ms a step, %.0f %% of it during the backward pass",
               1e3 * m.exchanging / (double)steps, 100 * m.hidden / m.exchanging);
    output("; %.2f ms a step of waiting for other ranks\n", 1e3 * m.waited / (double)steps);
}

/* How the network does at the end, and where it is. */
static int conclude(struct session *s)
{
    char best[TASK_MEASURED];
    int status = s->ends ? EXIT_GOOD : session_conclude(s);
    if (has_lost_patience(s))
        output("\nstopped: no better %s in %" PRIu64 " epochs", s->settings.task->measure,
               s->settings.patience);
    if (s->best.epoch > 0)
        output("\nbest: epoch %" PRIu64 ", validation %s %s\n", s->best.epoch,
               s->settings.task->measure, task_write(s->settings.task, s->best.accuracy, best));
    if (settings_scale_losses(&s->settings) && session_take_scale(s))
        output("loss scale: %.0f; %" PRIu64 " steps were skipped\n", s->settings.loss_scale,
               s->settings.skipped_steps);
    if (!s->settings.out)
        output("not saved; give --out\n");
    else if (s->ends)
        session_print_resumption(s);
    print_exchange(s);
    return status;
}

/* One that has failed at the end is a failure of all. */
static int end_together(struct session *s)
{
    char error[GLCNN_ERROR_LENGTH];
    double nothing = 0;
    return ranks_sum(&s->ranks, &nothing, 1, error) ? EXIT_GOOD : session_fail(s, error);
}

static int end(struct session *s, int status)
{
    if (status == EXIT_GOOD)
        status = end_together(s);
    if (status != EXIT_GOOD)
        ranks_fail(&s->ranks, last_complaint());
    session_end(s);
    ranks_close(&s->ranks);
    if (status != EXIT_GOOD)
        return status;
    return s->ends ? EXIT_INTERRUPTED : s->left_out ? EXIT_FAILED : EXIT_GOOD;
}

static int find_rate(struct session *s)
{
    int status = session_begin(s);
    interrupt_begin(seconds_now);
    return end(s, status == EXIT_GOOD ? session_find_rate(s) : status);
}

static int train(struct session *s)
{
    int status = session_begin(s);
    interrupt_begin(seconds_now);
    while (status == EXIT_GOOD && s->step < s->total && !s->ends && !has_lost_patience(s))
        status = train_epoch(s);
    if (status == EXIT_GOOD && (s->ranks.mpi || !(s->is_saved && s->saved_step == s->step)))
        status = session_save(s);
    session_close_observers(s);
    if (status == EXIT_GOOD)
        session_write_plot(s);
    if (status == EXIT_GOOD)
        status = conclude(s);
    return end(s, status);
}

/* Nothing is left to train, and nothing written: but to a file that has not got it. */
static bool tell_met(const struct session *s)
{
    const struct settings *t = &s->settings;
    const uint64_t epochs = t->step / (t->images / settings_step_images(t));
    if (ranks_leads(&s->ranks))
        complain(s->command, EXIT_GOOD,
                 epochs == 1 ? "%s has completed its only epoch; give more with --epochs"
                             : "%s has completed all %" PRIu64 " epochs; give more with --epochs",
                 t->resume, epochs);
    return !session_writes_elsewhere(s);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    bool help = false;
    struct session session = {.command = command};
    session.settings.device = &session.tool;
    int status = settings_read(command, argc, argv, &session.settings, &help);
    if (help)
        print_help(command);
    if (help || status != EXIT_GOOD)
        return status;
    char error[GLCNN_ERROR_LENGTH];
    if (!ranks_open(&session.ranks, (double)session.settings.rank_wait, interrupt_is_asked, error))
        return session_fail(&session, error);
    if (session.settings.finds_rate)
        return find_rate(&session);
    if (!settings_are_met(&session.settings) || !tell_met(&session))
        return train(&session);
    ranks_close(&session.ranks);
    return EXIT_GOOD;
}

const struct tool_command command_train = {.name = "train",
                                           .arguments = "[OPTION]...",
                                           .text = "train a network on labelled pictures",
                                           .details = details,
                                           .options = train_options,
                                           .run = run};
