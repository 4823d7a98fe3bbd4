/* glcnn train: a network of nets.c on labelled pictures. The training returns what happens; here it is printed,
 * and given to files that show it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <getopt.h>

#include <glcnn/report.h>

#include "base/clock.h"
#include "epoch_table.h"
#include "interrupt.h"
#include "report/progress.h"
#include "task/augment.h"
#include "task/task.h"
#include "tool.h"
#include "train/layers.h"

static const char details[] =
    "After each epoch the loss and accuracy on the validation images are printed. The "
    "checkpoint --out is written after each epoch, once a minute and at the end, always whole, "
    "and at the start if there is no such file. A file of another run is overwritten only with "
    "--force, a file that the run reads never is, and no two runs write one file; what cannot be written is "
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
    "number or keypoint that is learned least, for boxes also the size of objects that is; and, where the losses show it, "
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
    "and epochs print what either gives. --class-weights multiply each class's term of a picture's loss: "
    "without --label-smoothing that is the picture's own class alone. The sum over the batch is divided by "
    "--batch. balanced stands for N / (K n), for n pictures of the class among N of K classes. The losses "
    "that are printed of training have these weights and smoothed labels; those of validation have not.\n"
    "\n"
    "With --accumulate a step takes N batches, one after the other, and updates the weights once, by "
    "the mean of their gradients: as a batch of N times --batch images does, with the memory of one "
    "of --batch. But batch normalisation takes its statistics of each batch, and its running averages "
    "move with each. Steps, the learning rate, checkpoints and the log count updates; pictures that do "
    "not fill a step are left out of the epoch, as those that do not fill a batch are.\n"
    "\n"
    "With --quantise the last tenth of the steps trains for \"glcnn export --int8\": weights are rounded by the scale of "
    "each output channel, values between layers by their ranges on 256 training pictures, gradients go straight "
    "through the roundings, and batch normalisations keep their statistics. The epochs of that part alone can be "
    "the best one, are validated with the roundings, and the file has the ranges, which the export then takes. "
    "evaluate and predict compute the file in float32. What frozen layers compute is not kept in that part.\n"
    "\n"
    "--find-lr prints how the loss goes in at most 100 steps whose learning rate rises from a ten "
    "thousandth of the optimizer's default to a thousand times it, and suggests a tenth of the rate "
    "of the least loss. All other options count, but no file is written.\n"
    "\n"
    "Tasks and their losses, the first where --loss gives none.\n\f"
    "segment, detect and keypoints put a new head on a --model that is a classifier or has no head: on its "
    "last map of each scale. Layers behind these are left out.\n\n"
    "Words for --augment, separated by commas. Each picture changes differently in each epoch;\n"
    "validation pictures do not change. Without --augment pictures (not values of .npy or .csv) are "
    "shifted, turned, scaled and changed in colour as the task allows; regress leaves them alone, as "
    "does --train, whose frozen layers compute each picture once. Pictures are mirrored unless classes are "
    "called left and right, or are letters or digits; with keypoints only if each left name has its "
    "right one, since these two change places. In a run of fewer than 10 epochs pictures are mirrored and "
    "not changed otherwise. The run prints the words.\n" AUGMENT_WORDS "\n"
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
    "  mpirun -n 4 --bind-to none glcnn train --net resnet8 --batch 256 --out a.glcnn\n";

/* ---- Options ---- */

#define BYTES_MARK   ""
#define DATA_MARK    READS
#define NAME_MARK    ""
#define READ_MARK    READS
#define REAL_MARK    ""
#define SECONDS_MARK ""
#define SIZE_MARK    ""
#define TEXT_MARK    ""
#define WHOLE_MARK   ""
#define WORDS_MARK   ""
#define WRITE_MARK   WRITES
#define FIRST_LETTER 256 /* of the settings' letters, which are no characters */

/* Numbers of the settings, as glcnn_train_setting_at has them. */
enum {
#define SETTING(TYPE, MEMBER, ...) SETTING_##MEMBER,
#define FLAG(MEMBER, ...)          SETTING_##MEMBER,
#define STATE(...)
#include "train/train_settings.def"
};

/* The options are the settings, and those of the device. */
static const struct option_row options[] = {
#define SETTING(TYPE, MEMBER, NAME, VALUE, TEXT, KIND, ...)                                        \
    {FIRST_LETTER + SETTING_##MEMBER, NAME, KIND##_MARK VALUE, TEXT},
#define FLAG(MEMBER, NAME, ...)           FLAG_ROW(MEMBER, NAME, __VA_ARGS__, )
#define FLAG_ROW(MEMBER, NAME, TEXT, ...) {FIRST_LETTER + SETTING_##MEMBER, NAME, NULL, TEXT},
#define STATE(...)
#include "train/train_settings.def"
    DEVICE_OPTIONS, {0}};

struct training {
    const struct tool_command *command;
    struct tool_device tool;
    glcnn_train_settings *settings;
    glcnn_trainer *trainer;
    glcnn_observers *observers;
    struct progress progress;
    bool shows_progress; /* an epoch is under way */
    char label[64];      /* of the progress line */
    uint64_t begun;      /* epochs of this run, and of these those that were printed */
    uint64_t printed;
    bool explained; /* why it fails was said */
};

static int exit_of(glcnn_status status)
{
    return status == GLCNN_SUCCESS            ? EXIT_GOOD
           : status == GLCNN_INVALID_ARGUMENT ? EXIT_USAGE
           : status == GLCNN_NO_DEVICE        ? EXIT_NO_DEVICE
                                              : EXIT_FAILED;
}

/* ---- What the training asks for ---- */

/* One process shows what all would: no GPU, what is compiled. */
static glcnn_status open_device(void *user, const glcnn_trainer *trainer, const char *name,
                                glcnn_device **device, char error[GLCNN_ERROR_LENGTH])
{
    struct training *t = user;
    t->tool.hides_notices = glcnn_trainer_rank(trainer, NULL) > 0;
    if (!t->tool.name)
        t->tool.name = name;
    const int status = device_open(&t->tool);
    *device = t->tool.device;
    if (status == EXIT_GOOD)
        return GLCNN_SUCCESS;
    snprintf(error, GLCNN_ERROR_LENGTH, "%.511s", t->tool.error);
    return status == EXIT_NO_DEVICE ? GLCNN_NO_DEVICE : GLCNN_INVALID_STATE;
}

static glcnn_trainer *stoppable; /* by a signal */

static void stop(void)
{
    glcnn_trainer_stop(stoppable);
}

/* At once: the rank that is waited for may never come. */
static void tell_of_waiting(void *user, double seconds, uint32_t rank, uint32_t other)
{
    static bool has_told;
    (void)user;
    if (has_told || !interrupt_is_asked() || seconds < 0.05)
        return;
    has_told = true;
    print_error(
        "glcnn train: rank %u: told to stop while waiting for rank %u, which may have died\n", rank,
        other);
}

/* What all ranks would print alike is printed by one. */
static bool mute(uint32_t rank)
{
    static char name[32];
    snprintf(name, sizeof name, "rank %u", rank);
    complain_as(name);
    return rank == 0 || freopen("/dev/null", "w", stdout);
}

static int create_trainer(struct training *t)
{
    char error[GLCNN_ERROR_LENGTH];
    uint32_t ranks;
    const struct glcnn_trainer_callbacks callbacks = {open_device, tell_of_waiting, t};
    glcnn_status status = glcnn_trainer_create_with(&callbacks, t->settings, &t->trainer, error);
    if (status != GLCNN_SUCCESS)
        return complain(t->command, exit_of(status), "%s", error);
    status = glcnn_observers_create(t->trainer, &t->observers, error);
    if (status != GLCNN_SUCCESS)
        return complain(t->command, EXIT_FAILED, "%s", error);
    const uint32_t rank = glcnn_trainer_rank(t->trainer, &ranks);
    return ranks == 0 || mute(rank)
               ? EXIT_GOOD
               : complain(t->command, EXIT_FAILED, "/dev/null cannot be written");
}

/* ---- Events ---- */

static void print_note(struct training *t, const struct glcnn_train_event *event)
{
    if (t->shows_progress)
        progress_erase(&t->progress);
    output_lines(event->text);
    fflush(stdout);
}

static void begin(struct training *t)
{
    stoppable = t->trainer;
    interrupt_begin(seconds_now, stop);
}

static void begin_epoch(struct training *t, const struct glcnn_train_event *event)
{
    struct progress *p = &t->progress;
    snprintf(t->label, sizeof t->label, "epoch %" PRIu64 " of %" PRIu64, event->epoch,
             event->epochs);
    progress_begin(p, glcnn_trainer_rank(t->trainer, NULL) == 0 ? stderr : stdout,
                   event->epoch_images);
    p->label = t->label;
    p->erases = epoch_table_is_drawn();
    p->compiles = t->begun++ == 0;
    if (event->later_images > 0)
        p->later = event->later_images;
    t->shows_progress = true;
}

static void show_step(struct training *t, const struct glcnn_train_event *event)
{
    progress_update(&t->progress, event->done, event->mean_loss);
    if (event->is_last || event->ends)
        progress_end(&t->progress, event->done, event->mean_loss);
}

static void print_epoch(struct training *t, const struct glcnn_train_event *event)
{
    const struct epoch_row row = {.epoch = event->epoch,
                                  .epochs = event->epochs,
                                  .task = task_find(event->task),
                                  .loss = event->mean_loss,
                                  .value = event->mean_measure,
                                  .validation_loss = event->validation_loss,
                                  .validation_value = event->validation_measure,
                                  .has_averages = event->has_averages,
                                  .trained_loss = event->trained_loss,
                                  .trained_value = event->trained_measure,
                                  .seconds = event->seconds,
                                  .waited = event->waited,
                                  .is_best = event->is_best};
    epoch_table_print(&row, t->printed++);
    fflush(stdout);
}

/* What an interrupted run has left, and the command line that goes on with it, which a shell takes as it stands. */
static void print_resumption(const struct training *t, const struct glcnn_train_event *event)
{
    struct text text = {0};
    uint32_t ranks;
    glcnn_trainer_rank(t->trainer, &ranks);
    output("\ninterrupted: %s has step %zu of %zu; to continue%s:\n", event->path, event->step,
           event->steps, ranks > 0 ? ", with the options of mpirun as before" : "");
    if (ranks > 0)
        text_show(&text, "mpirun -n %u ", ranks);
    text_show(&text, "glcnn train");
    text_add(&text, event->text, strlen(event->text));
    option_add(&text, "device", t->tool.name);
    if (t->tool.wait > 0)
        text_show(&text, " --wait %u", t->tool.wait);
    if (t->tool.verbose)
        text_show(&text, " --verbose");
    const bool wraps = output_wraps(false);
    output("  ");
    output_shown(&text);
    output("\n");
    output_wraps(wraps);
}

static void show_complaint(struct training *t, const struct glcnn_train_event *event)
{
    complain(t->command, exit_of(event->status), "%s", event->text);
    t->explained |= event->status != GLCNN_SUCCESS;
}

static void show(struct training *t, const struct glcnn_train_event *event)
{
    if (event->kind == GLCNN_TRAIN_NOTE)
        print_note(t, event);
    else if (event->kind == GLCNN_TRAIN_REMARK)
        print_remarks(t->command, event->text);
    else if (event->kind == GLCNN_TRAIN_COMPLAINT)
        show_complaint(t, event);
    else if (event->kind == GLCNN_TRAIN_BEGUN)
        begin(t);
    else if (event->kind == GLCNN_TRAIN_EPOCH_BEGUN)
        begin_epoch(t, event);
    else if (event->kind == GLCNN_TRAIN_STEP)
        show_step(t, event);
    else if (event->kind == GLCNN_TRAIN_EPOCH)
        print_epoch(t, event);
    else if (event->kind == GLCNN_TRAIN_INTERRUPTED)
        print_resumption(t, event);
    glcnn_observers_take(t->observers, event);
}

/* An answer that did not come whole is a failure. Where there was no memory for a complaint the end has its
 * words. */
static int end(const struct training *t, const struct glcnn_train_event *event)
{
    const int status = exit_of(event->status);
    if (event->status != GLCNN_SUCCESS)
        return t->explained ? status : complain(t->command, status, "%s", event->text);
    if (event->is_interrupted)
        return EXIT_INTERRUPTED;
    return glcnn_observers_left_out(t->observers) ? EXIT_FAILED : EXIT_GOOD;
}

static int train(struct training *t)
{
    const struct glcnn_train_event *event;
    do {
        glcnn_trainer_next(t->trainer, &event);
        show(t, event);
    } while (event->kind != GLCNN_TRAIN_END);
    return end(t, event);
}

/* ---- The command ---- */

static int read_settings(struct training *t, int argc, char *argv[], bool *help)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_status status = GLCNN_SUCCESS;
    for (int letter; (letter = next_option(t->command, argc, argv)) != OPTIONS_DONE;) {
        *help = letter == 'h';
        if (*help)
            return EXIT_GOOD;
        if (letter == OPTIONS_WRONG)
            return EXIT_USAGE;
        if (!read_device_option(&t->tool, letter))
            status = glcnn_train_settings_set(
                t->settings, glcnn_train_setting_at((size_t)letter - FIRST_LETTER)->name, optarg,
                error);
        if (status != GLCNN_SUCCESS)
            return complain(t->command, exit_of(status), "%s", error);
    }
    return expect_no_arguments(t->command, argc, argv);
}

static int run(const struct tool_command *command, int argc, char *argv[])
{
    bool help = false;
    struct training *t = calloc(1, sizeof *t);
    if (!t || !(t->settings = glcnn_train_settings_create())) {
        free(t);
        return complain(command, EXIT_FAILED, "not enough memory");
    }
    t->command = command;
    int status = read_settings(t, argc, argv, &help);
    if (help)
        print_help(command);
    else if (status == EXIT_GOOD)
        status = create_trainer(t);
    if (t->trainer && status == EXIT_GOOD)
        status = train(t);
    glcnn_observers_destroy(&t->observers);
    glcnn_trainer_destroy(&t->trainer);
    glcnn_train_settings_destroy(&t->settings);
    free(t);
    return status;
}

static const char *words_of_task(size_t number)
{
    const struct task *task = task_at(number);
    return task ? task->words : NULL;
}

const struct tool_command command_train = {.name = "train",
                                           .arguments = "[OPTION]...",
                                           .text = "train a network on labelled pictures",
                                           .details = details,
                                           .list = words_of_task,
                                           .options = options,
                                           .run = run};
