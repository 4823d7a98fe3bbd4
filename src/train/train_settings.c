/* Settings of glcnn train: a table of numbers, with their ranges, and names. */
#include "train_settings.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task/pictures.h"
#include "base/escape.h"
#include "base/option.h"

enum {
    OPTION_TASK = 256,
    OPTION_LOSS,
    OPTION_NET,
    OPTION_DATA,
    OPTION_VALIDATION,
    OPTION_SIZE,
    OPTION_CHANNELS,
    OPTION_MEAN,
    OPTION_DEVIATION,
    OPTION_STRICT,
    OPTION_THREADS,
    OPTION_OPTIMIZER,
    OPTION_EPOCHS,
    OPTION_TIME,
    OPTION_BATCH,
    OPTION_ACCUMULATE,
    OPTION_LIMIT,
    OPTION_SEED,
    OPTION_RATE,
    OPTION_BACKBONE_RATE,
    OPTION_DECAY,
    OPTION_FIND,
    OPTION_SCHEDULE,
    OPTION_WARMUP,
    OPTION_CLIP,
    OPTION_CLIP_NORM,
    OPTION_WEIGHT_DECAY,
    OPTION_NESTEROV,
    OPTION_EMA,
    OPTION_SMOOTHING,
    OPTION_CLASS_WEIGHTS,
    OPTION_AUGMENT,
    OPTION_PATIENCE,
    OPTION_MEMORY,
    OPTION_PRECISION,
    OPTION_RESUME,
    OPTION_MODEL,
    OPTION_CLASSES,
    OPTION_TRAIN,
    OPTION_UNFREEZE,
    OPTION_MATCHING,
    OPTION_NAMES,
    OPTION_CACHE,
    OPTION_CACHE_LIMIT,
    OPTION_OUT,
    OPTION_FORCE,
    OPTION_LOG,
    OPTION_PLOT,
    OPTION_REPORT,
    OPTION_TENSORBOARD,
    OPTION_TRACE,
    OPTION_SYNC,
    OPTION_AVERAGE,
    OPTION_BALANCE,
    OPTION_WAIT,
    NO_OPTION /* only in a checkpoint */
};

const struct option_row train_options[] = {
    {OPTION_TASK, "task", "NAME",
     "classify, regress, segment, detect or keypoints (default: what the data suggest)"},
    {OPTION_DATA, "data", READS "PATH",
     "folders of classes, .npz, .npy, .csv or IDX (default: Debian's Fashion-MNIST)"},
    {OPTION_VALIDATION, "validation", "SHARE",
     "fraction of the data to set aside (default 0.1, if it has no validation part)"},
    {OPTION_SIZE, "size", "N|WxH", "image size of the network (default: the data's, up to 256)"},
    {OPTION_CHANNELS, "channels", "N", "channels of the network's images (default: the data's)"},
    {OPTION_MEAN, "mean", "LIST",
     "subtracted from values in 0 .. 1; one, or per channel (default 0)"},
    {OPTION_DEVIATION, "deviation", "LIST",
     "divides values after that; one, or per channel (default 1)"},
    {OPTION_AUGMENT, "augment", "WORDS",
     "random changes: flip,crop=4,... as below, or none (default: by the task and the data)"},
    {OPTION_STRICT, "strict", NULL, "fail on a damaged picture instead of leaving it out"},
    {OPTION_THREADS, "threads", "N", "threads that decode pictures (default: one per processor)"},
    {OPTION_NET, "net", "NAME",
     "resnet10, small, resnet8, mobilenet-tiny or lenet (default: resnet10; without a GPU small or mobilenet-tiny)"},
    {OPTION_LOSS, "loss", "NAME",
     "what training makes small: one of the task's, as below (default: its first)"},
    {OPTION_OPTIMIZER, "optimizer", "NAME",
     "sgd (momentum 0.9), rmsprop or adam, also called adamw (default adam)"},
    {OPTION_EPOCHS, "epochs", "N",
     "passes over the data, resumed ones included (default: by the number of images, as below)"},
    {OPTION_TIME, "time", "TIME",
     "as many epochs as take so long: 40s, 20m or 3h, by the pace of the first steps"},
    {OPTION_BATCH, "batch", "N",
     "images in a step (default 8; of 2000 images on 32, of 8000 on 64; at most an eighth)"},
    {OPTION_ACCUMULATE, "accumulate", "N",
     "batches whose mean gradient makes one step (default 1)"},
    {OPTION_LIMIT, "limit", "N", "use only N images for training, and N for validation"},
    {OPTION_SEED, "seed", "N", "seed of weights and order (default 1)"},
    {OPTION_RATE, "lr", "RATE",
     "learning rate at the start (default: adam 0.002, sgd 0.05, rmsprop 0.001)"},
    {OPTION_BACKBONE_RATE, "backbone-lr", "FACTOR",
     "with --model: layers before the head have FACTOR times the learning rate (default 0.1 if the "
     "head is new, else 1)"},
    {OPTION_FIND, "find-lr", NULL, "suggest a learning rate, and write nothing"},
    {OPTION_SCHEDULE, "schedule", "NAME", "cosine, exponential, step or constant (default cosine)"},
    {OPTION_DECAY, "decay", "FACTOR", "exponential: factor of the learning rate per epoch"},
    {OPTION_WARMUP, "warmup", "EPOCHS", "epochs in which the learning rate rises from 0"},
    {OPTION_CLIP, "clip", "VALUE", "clamps each gradient to -VALUE .. VALUE"},
    {OPTION_CLIP_NORM, "clip-norm", "NORM",
     "scales all gradients to a norm of at most NORM; 0 never does (default 10)"},
    {OPTION_WEIGHT_DECAY, "weight-decay", "FACTOR",
     "weights lose this factor times the learning rate in a step (default: adam 0.05, sgd 0.0005)"},
    {OPTION_NESTEROV, "nesterov", NULL, "sgd: step to where the momentum leads"},
    {OPTION_EMA, "ema", "DECAY",
     "validate and save moving averages of the weights, with 0.999 for instance"},
    {OPTION_SMOOTHING, "label-smoothing", "SHARE",
     "share of each label that goes to all classes alike (default 0)"},
    {OPTION_CLASS_WEIGHTS, "class-weights", "LIST",
     "factors of the classes' terms in the loss, as PyTorch's weight (with --label-smoothing "
     "each picture has terms of all); one for each class, or balanced"},
    {OPTION_PATIENCE, "patience", "N", "stop after N epochs without better accuracy"},
    {OPTION_MEMORY, "memory", "BYTES",
     "GPU memory for a step, without weights; a step that needs more is split or recomputed"},
    {OPTION_PRECISION, "precision", "FORMAT",
     "of intermediate images: float32 or float16 (default float32)"},
    {OPTION_MODEL, "model", READS "FILE",
     "begin with a network of \"glcnn train\" or \"glcnn import\""},
    {OPTION_CLASSES, "classes", "WORD",
     "auto: the data's, of which those of a name that the model has keep its weights; model: its "
     "own (default auto)"},
    {OPTION_TRAIN, "train", "LAYERS", "all, last, last:N or labels, as below (default all)"},
    {OPTION_UNFREEZE, "unfreeze-after", "EPOCHS", "train all layers from then on"},
    {OPTION_MATCHING, "load-matching", READS "FILE", "begin with the weights of FILE that fit"},
    {OPTION_NAMES, "names", READS "MAP", "how FILE names them: lines \"TENSOR LABEL.VECTOR\""},
    {OPTION_CACHE, "feature-cache", WRITES "FILE",
     "where outputs of frozen layers are kept, or off (default: beside --out)"},
    {OPTION_CACHE_LIMIT, "feature-limit", "BYTES",
     "largest size of that file; one that would be larger is not kept (default 4G)"},
    {OPTION_RESUME, "resume", READS "FILE", "continue from a checkpoint, on the same images"},
    {OPTION_OUT, "out", WRITES "FILE", "write checkpoints, and the best beside it"},
    {OPTION_FORCE, "force", NULL, "overwrite existing files"},
    {OPTION_LOG, "log", WRITES "FILE", "write a line for every step, .csv"},
    {OPTION_PLOT, "plot", WRITES "FILE", "draw loss and accuracy, .svg"},
    {OPTION_REPORT, "report", WRITES "DIR",
     "write a page on the training, DIR/index.html, at each epoch"},
    {OPTION_TENSORBOARD, "tensorboard", WRITES "DIR", "write every step for TensorBoard"},
    {OPTION_TRACE, "trace", WRITES "FILE",
     "write when steps computed and exchanged, .json for Chrome"},
    {OPTION_SYNC, "sync-batch-norm", NULL, "ranks: statistics of the whole batch"},
    {OPTION_AVERAGE, "average-every", "N", "ranks: each steps by itself; N steps, then an average"},
    {OPTION_BALANCE, "balance", NULL, "ranks: share a batch by measured speed"},
    {OPTION_WAIT, "rank-wait", "SECONDS", "for which a rank waits for another (default 300)"},
    DEVICE_OPTIONS,
    {0}};

static const struct optimizer optimizers[] = {
    {"adam", 0.002, 0.05, glcnn_optimizer_adam_create, 0},
    {"sgd", 0.05, 5e-4, glcnn_optimizer_stochastic_gradient_descent_create, 0.9f},
    {"rmsprop", 0.001, 0, glcnn_optimizer_rms_prop_create, 0}};
enum { OPTIMIZERS = sizeof optimizers / sizeof *optimizers };

static const struct precision precisions[] = {{"float32", GLCNN_CHANNEL_FORMAT_FLOAT32},
                                              {"float16", GLCNN_CHANNEL_FORMAT_FLOAT16}};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

/* ---- Numbers ---- */

struct number {
    int letter;
    const char *name;
    size_t offset; /* of a uint64_t or a double */
    uint64_t low, high;
    double fallback;                                   /* only REAL may have a fraction */
    enum { WHOLE, BYTES, SECONDS, REAL, SIGNED } kind; /* SIGNED: as REAL, from -high on, or NaN */
    bool kept;         /* in checkpoints, where the fallback is good too: 0 for none */
    bool fixed;        /* cannot change when a run is resumed */
    bool later;        /* checkpoints of before it have none: the fallback */
    bool above, below; /* of a REAL: low, or high, itself is no number for it */
};

#define FIELD(NAME) #NAME, offsetof(struct settings, NAME)
#define BEST(NAME)  "best_" #NAME, offsetof(struct settings, best.NAME)
#define EXACT       (UINT64_C(1) << 53) /* steps are divided as doubles */
static const struct number numbers[] = {
    {OPTION_EPOCHS, FIELD(epochs), 1, 10000, 1, WHOLE, true, false},
    {OPTION_TIME, FIELD(time), 1, 31536000, 0, SECONDS, false, false},
    {OPTION_BATCH, FIELD(batch), 1, 4096, 64, WHOLE, true, true},
    {OPTION_ACCUMULATE, FIELD(accumulate), 1, 4096, 1, WHOLE, true, true, true},
    {OPTION_LIMIT, FIELD(limit), 1, 1000000000, 0, WHOLE, true, true},
    {OPTION_SEED, FIELD(seed), 0, UINT64_MAX, 1, WHOLE, true, true},
    {OPTION_RATE, "lr", offsetof(struct settings, rate), 0, 1000000000, 0, REAL, true, false,
     .above = true},
    {OPTION_BACKBONE_RATE, "backbone-lr", offsetof(struct settings, backbone_rate), 0, 1, 1, REAL,
     true, false, true, .above = true},
    {OPTION_DECAY, FIELD(decay), 0, 1, 0, REAL, true, false, .above = true},
    {OPTION_WARMUP, FIELD(warmup), 0, 10000, 0, REAL, true, false},
    {OPTION_CLIP, FIELD(clip), 0, 1000000000, 0, REAL, true, false},
    {OPTION_CLIP_NORM, "clip-norm", offsetof(struct settings, clip_norm), 0, 1000000000,
     RECIPE_CLIP_NORM, REAL, true, false},
    {OPTION_WEIGHT_DECAY, "weight-decay", offsetof(struct settings, weight_decay), 0, 1000000, 0,
     REAL, true, false, true},
    {OPTION_EMA, FIELD(ema), 0, 1, 0, REAL, true, false, true, .below = true},
    {OPTION_SMOOTHING, "label-smoothing", offsetof(struct settings, label_smoothing), 0, 1, 0, REAL,
     true, false, true, .below = true},
    {OPTION_UNFREEZE, "unfreeze-after", offsetof(struct settings, unfreeze_after), 1, 10000, 0,
     WHOLE, true, true, true},
    {OPTION_PATIENCE, FIELD(patience), 1, 10000, 0, WHOLE, true, false},
    {OPTION_MEMORY, FIELD(memory), 1, 1000000000000000, 0, BYTES, true, false},
    {OPTION_VALIDATION, FIELD(validation), 0, 1, 0, REAL, true, true, .below = true},
    {OPTION_CHANNELS, FIELD(channels), 1, GLCNN_DATA_MAX_CHANNELS, 0, WHOLE, false, false},
    {OPTION_THREADS, FIELD(threads), 1, 256, 0, WHOLE, false, false},
    {OPTION_CACHE_LIMIT, "feature-limit", offsetof(struct settings, feature_limit), 1,
     1000000000000000, 4294967296, BYTES, false, false},
    {NO_OPTION, FIELD(loss_scale), 1, 16777216, 65536, REAL, true, false, true},
    {NO_OPTION, FIELD(good_steps), 0, 1999, 0, WHOLE, true, false, true},
    {NO_OPTION, FIELD(skipped_steps), 0, EXACT, 0, WHOLE, true, false, true},
    {OPTION_AVERAGE, "average-every", offsetof(struct settings, average_every), 1, 1000000, 0,
     WHOLE, false, false},
    {OPTION_WAIT, "rank-wait", offsetof(struct settings, rank_wait), 1, 1000000, 300, WHOLE, false,
     false},
    {NO_OPTION, FIELD(step), 0, EXACT, 0, WHOLE, true, false},
    {NO_OPTION, FIELD(images), 1, UINT32_MAX, 1, WHOLE, true, false},
    {NO_OPTION, FIELD(first_loss), 0, UINT64_MAX, 0, REAL, true, false, true},
    {NO_OPTION, FIELD(data_digest), 0, UINT64_MAX, 0, WHOLE, true, false, true},
    {NO_OPTION, BEST(epoch), 0, EXACT, 0, WHOLE, true, false},
    {NO_OPTION, BEST(accuracy), 0, UINT64_MAX, 0, SIGNED, true, false},
    {NO_OPTION, BEST(loss), 0, UINT64_MAX, 0, REAL, true, false}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void *place(struct settings *s, const struct number *n)
{
    return (char *)s + n->offset;
}

static uint64_t bit(const struct number *n)
{
    return UINT64_C(1) << (n - numbers);
}

/* "90", "90s", "20m", "3h" */
static bool read_seconds(const char *text, uint64_t low, uint64_t high, uint64_t *seconds)
{
    static const struct {
        char letter;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    char digits[32];
    const size_t length = strlen(text);
    uint64_t unit = 0, number;
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length + 1);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (digits[length - 1] == units[i].letter)
            unit = units[i].seconds;
    if (unit > 0)
        digits[length - 1] = 0;
    unit = unit > 0 ? unit : 1;
    if (!option_whole(digits, 1, high / unit, &number))
        return false;
    *seconds = number * unit;
    return *seconds >= low;
}

static bool parse_number(struct settings *s, const struct number *n, const char *text, uint64_t low)
{
    const double high = n->high < UINT64_MAX ? (double)n->high : DBL_MAX; /* that of any loss */
    if (n->kind == SIGNED && strcmp(text, "nan") == 0)
        return *(double *)place(s, n) = (double)NAN, true;
    if (n->kind == REAL || n->kind == SIGNED)
        return option_real(text, n->kind == SIGNED ? -high : (double)low, high, place(s, n));
    if (n->kind == SECONDS)
        return read_seconds(text, low, n->high, place(s, n));
    return (n->kind == BYTES ? option_bytes : option_whole)(text, low, n->high, place(s, n));
}

/* "a whole number in 1 .. 4096" */
static const char *describe_range(const struct number *n, uint64_t low, char text[96])
{
    snprintf(text, 96, "a %snumber in %" PRIu64 " .. %" PRIu64 "%s",
             n->kind == REAL ? "" : "whole ", low, n->high,
             n->kind == SECONDS ? ", of seconds or with s, m or h behind it" : "");
    return text;
}

static void fill_default(struct settings *s, const struct number *n)
{
    if (s->given & bit(n))
        return;
    if (n->kind == REAL || n->kind == SIGNED)
        *(double *)place(s, n) = n->fallback;
    else
        *(uint64_t *)place(s, n) = (uint64_t)n->fallback;
}

static const struct number *find_number(int letter)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i].letter == letter)
            return &numbers[i];
    return NULL;
}

static bool is_given(const struct settings *s, int letter)
{
    return s->given & bit(find_number(letter));
}

/* An end of the range that leaves nothing to learn: a rate of 0, averages that never move. */
static bool is_excluded(struct settings *s, const struct number *n)
{
    const double value = n->above || n->below ? *(double *)place(s, n) : 0;
    return (n->above && value <= (double)n->low) || (n->below && value >= (double)n->high);
}

/* The range of what the command line gives; a checkpoint may have its ends. */
static const char *describe_given_range(const struct number *n, char text[96])
{
    if (!n->above && !n->below)
        return describe_range(n, n->low, text);
    snprintf(text, 96, "a number %s %" PRIu64 " and %s %" PRIu64, n->above ? "above" : "at least",
             n->low, n->below ? "below" : "at most", n->high);
    return text;
}

static int read_number(struct train_events *events, struct settings *s, const struct number *n,
                       const char *value)
{
    char range[96];
    s->given |= bit(n);
    if (parse_number(s, n, value, n->low) && !is_excluded(s, n))
        return TRAIN_GOOD;
    return events_complain(events, TRAIN_WRONG, "--%s is \"%s\"; it must be %s", n->name, value,
                           describe_given_range(n, range));
}

/* ---- Names ---- */

static const void *find_task(const char *name)
{
    return task_find(name);
}

static const void *find_net(const char *name)
{
    return net_find(name);
}

/* The decay of weights is decoupled for all of them: adam is what others call adamw. */
static const void *find_optimizer(const char *name)
{
    if (strcmp(name, "adamw") == 0)
        name = "adam";
    for (size_t i = 0; i < OPTIMIZERS; i++)
        if (strcmp(optimizers[i].name, name) == 0)
            return &optimizers[i];
    return NULL;
}

static const void *find_precision(const char *name)
{
    for (size_t i = 0; i < PRECISIONS; i++)
        if (strcmp(precisions[i].name, name) == 0)
            return &precisions[i];
    return NULL;
}

static const void *find_schedule(const char *name)
{
    for (const struct schedule *s = schedules; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

#define NAMES_MAX 8

static const char *task_name(size_t i)
{
    return task_at(i) ? task_at(i)->name : NULL;
}

static const char *net_name(size_t i)
{
    return net_at(i) ? net_at(i)->name : NULL;
}

static const char *optimizer_name(size_t i)
{
    return i < OPTIMIZERS ? optimizers[i].name : NULL;
}

static const char *precision_name(size_t i)
{
    return i < PRECISIONS ? precisions[i].name : NULL;
}

static const char *schedule_name(size_t i)
{
    return schedules[i].name;
}

/* Settings that are one of a list. */
static const struct choice {
    int letter;
    const char *name, *what;
    size_t offset; /* of a pointer into the list's table */
    const void *(*find)(const char *name);
    const char *(*at)(size_t i); /* the list's names; NULL at the end */
    bool fixed;                  /* cannot change when a run is resumed */
    const char *before;          /* of checkpoints from before it; NULL: all have it */
} choices[] = {
    {OPTION_TASK, "task", "task", offsetof(struct settings, task), find_task, task_name, true,
     "classify"},
    {OPTION_NET, "net", "network", offsetof(struct settings, net), find_net, net_name, true},
    {OPTION_OPTIMIZER, "optimizer", "optimizer", offsetof(struct settings, optimizer),
     find_optimizer, optimizer_name, true},
    {OPTION_SCHEDULE, "schedule", "schedule", offsetof(struct settings, schedule), find_schedule,
     schedule_name, false},
    {OPTION_PRECISION, "precision", "precision", offsetof(struct settings, precision),
     find_precision, precision_name, true, "float32"}};
enum { CHOICES = sizeof choices / sizeof *choices };

static const void **choice_place(struct settings *s, const struct choice *c)
{
    return (const void **)(void *)((char *)s + c->offset);
}

static int read_choice(struct train_events *events, struct settings *s, const struct choice *c,
                       const char *value)
{
    const void *found = c->find(value);
    const char *names[NAMES_MAX];
    size_t count = 0;
    *choice_place(s, c) = found;
    for (; count < NAMES_MAX && c->at(count); count++)
        names[count] = c->at(count);
    return found ? TRAIN_GOOD : events_complain_of_name(events, c->what, value, names, count);
}

/* ---- The command line ---- */

static const struct {
    int letter;
    const char *name;
    size_t offset;
    const char *ending, *other; /* of a file that is written; NULL: any, no other */
    bool again;                 /* to be said again where a run goes on */
} paths[] = {
    {OPTION_DATA, FIELD(data), NULL, NULL, true},
    {OPTION_MEAN, FIELD(mean)},
    {OPTION_DEVIATION, FIELD(deviation)},
    {OPTION_RESUME, FIELD(resume)},
    {OPTION_MODEL, FIELD(model)},
    {OPTION_TRAIN, FIELD(train)},
    {OPTION_LOSS, FIELD(loss)},
    {OPTION_CLASS_WEIGHTS, "class-weights", offsetof(struct settings, class_weights)},
    {OPTION_MATCHING, "load-matching", offsetof(struct settings, matching)},
    {OPTION_NAMES, FIELD(names)},
    {OPTION_CACHE, "feature-cache", offsetof(struct settings, cache), ".features", NULL, true},
    {OPTION_OUT, FIELD(out), ".safetensors", ".glcnn", true},
    {OPTION_LOG, FIELD(log), ".csv", NULL, true},
    {OPTION_PLOT, FIELD(plot), ".svg", NULL, true},
    {OPTION_REPORT, FIELD(report), NULL, NULL, true},
    {OPTION_TENSORBOARD, FIELD(tensorboard), NULL, NULL, true},
    {OPTION_TRACE, FIELD(trace), ".json", NULL, true}};
enum { PATHS = sizeof paths / sizeof *paths };

/* A name without an ending stands for itself. */
static bool has_ending(const char *path, const char *ending, const char *other)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return !ending || !dot || strcmp(dot, ending) == 0 || (other && strcmp(dot, other) == 0);
}

static int read_path(struct train_events *events, struct settings *s, size_t i, const char *value)
{
    *(const char **)(void *)((char *)s + paths[i].offset) = value;
    if (has_ending(value, paths[i].ending, paths[i].other))
        return TRAIN_GOOD;
    return events_complain(events, TRAIN_WRONG, "--%s is \"%s\"; expected a %s%s%s file",
                           paths[i].name, value, paths[i].ending, paths[i].other ? " or " : "",
                           paths[i].other ? paths[i].other : "");
}

static bool set_augment(struct settings *s, const char *words, char error[GLCNN_ERROR_LENGTH])
{
    words = strcmp(words, "none") == 0 ? "" : words;
    const size_t length = strlen(words);
    if (length < sizeof s->augment_words) {
        memcpy(s->augment_words, words, length + 1);
        return augment_read(words, &s->augment, error);
    }
    snprintf(error, GLCNN_ERROR_LENGTH, "the words have %zu letters, more than %zu", length,
             sizeof s->augment_words - 1);
    return false;
}

static int read_augment(struct train_events *events, struct settings *s, const char *value)
{
    char error[GLCNN_ERROR_LENGTH];
    s->is_augment_given = true;
    return set_augment(s, value, error)
               ? TRAIN_GOOD
               : events_complain(events, TRAIN_WRONG, "--augment: %s", error);
}

/* Whose classes: "auto" or "model". */
static int read_classes(struct train_events *events, struct settings *s, const char *value)
{
    static const char *const names[] = {"auto", "model"};
    s->keeps_classes = strcmp(value, names[1]) == 0;
    return s->keeps_classes || strcmp(value, names[0]) == 0
               ? TRAIN_GOOD
               : events_complain_of_name(events, "choice of classes", value, names, 2);
}

static const struct {
    int letter;
    const char *name;
    size_t offset; /* of a bool */
    bool kept; /* in checkpoints, where a run that goes on cannot change it; files of before: no */
} flags[] = {{OPTION_STRICT, FIELD(strict)},
             {OPTION_FORCE, FIELD(force)},
             {OPTION_NESTEROV, FIELD(nesterov), true},
             {OPTION_FIND, "find-lr", offsetof(struct settings, finds_rate)},
             {OPTION_SYNC, "sync-batch-norm", offsetof(struct settings, syncs_statistics)},
             {OPTION_BALANCE, "balance", offsetof(struct settings, balances)}};
enum { FLAGS = sizeof flags / sizeof *flags };

static bool *flag_place(struct settings *s, size_t i)
{
    return (bool *)((char *)s + flags[i].offset);
}

static int read_size(struct train_events *events, struct settings *s, const char *value)
{
    if (option_extent(value, GLCNN_DATA_MAX_SIDE, &s->width, &s->height))
        return TRAIN_GOOD;
    return events_complain(events, TRAIN_WRONG, "--size is \"%s\"; " OPTION_EXTENT, value,
                           (unsigned)GLCNN_DATA_MAX_SIDE);
}

int settings_read_option(struct train_events *events, struct settings *s, int letter,
                         const char *value)
{
    const struct number *number = find_number(letter);
    if (number)
        return read_number(events, s, number, value);
    for (size_t i = 0; i < PATHS; i++)
        if (paths[i].letter == letter)
            return read_path(events, s, i, value);
    for (size_t i = 0; i < CHOICES; i++)
        if (choices[i].letter == letter)
            return read_choice(events, s, &choices[i], value);
    if (letter == OPTION_SIZE)
        return read_size(events, s, value);
    if (letter == OPTION_AUGMENT)
        return read_augment(events, s, value);
    if (letter == OPTION_CLASSES)
        return read_classes(events, s, value);
    for (size_t i = 0; i < FLAGS; i++)
        if (flags[i].letter == letter)
            return *flag_place(s, i) = true, TRAIN_GOOD;
    return TRAIN_WRONG;
}

int settings_set(struct train_events *events, struct settings *s, const char *name,
                 const char *value)
{
    const char *names[sizeof train_options / sizeof *train_options];
    size_t count = 0;
    for (; train_options[count].letter; count++) {
        names[count] = train_options[count].name;
        if (strcmp(names[count], name) == 0)
            return settings_read_option(events, s, train_options[count].letter, value);
    }
    return events_complain_of_name(events, "setting", name, names, count);
}

/* ---- The checkpoint ---- */

static int refuse(struct train_events *events, const struct settings *s, const char *name,
                  const char *text)
{
    return events_complain(events, TRAIN_FAILED,
                           "%s: cannot be resumed: --%s differs; the run began with \"%s\"",
                           s->resume, name, text);
}

static int resume_number(struct train_events *events, struct settings *s, const struct number *n,
                         const char *text)
{
    char range[96];
    struct settings kept = *s;
    uint64_t low = n->fallback < (double)n->low ? (uint64_t)n->fallback : n->low;
    if (!text && n->later &&
        !(s->given & bit(n))) { /* the default of a run that begins may be another */
        fill_default(s, n);
        s->given |= bit(n);
    }
    if (!text && n->later)
        return TRAIN_GOOD;
    if (!text)
        return events_complain(
            events, TRAIN_FAILED,
            "%s: cannot be resumed: it is not a checkpoint of \"glcnn train\": its "
            "metadata have no \"%s\"; expected %s",
            s->resume, n->name, describe_range(n, low, range));
    if (!parse_number(&kept, n, text, low))
        return events_complain(
            events, TRAIN_FAILED,
            "%s: cannot be resumed: \"%s\" in its metadata is \"%.40s\"; expected %s", s->resume,
            n->name, text, describe_range(n, low, range));
    if (s->given & bit(n))
        return n->fixed && memcmp(place(s, n), place(&kept, n), sizeof(uint64_t)) != 0
                   ? refuse(events, s, n->name, text)
                   : TRAIN_GOOD;
    kept.given |= bit(n);
    *s = kept;
    return TRAIN_GOOD;
}

static int resume_flag(struct train_events *events, struct settings *s, size_t i, const char *text)
{
    bool *place = flag_place(s, i), kept = text && strcmp(text, "1") == 0;
    if (*place && !kept)
        return refuse(events, s, flags[i].name, text ? text : "0");
    *place = kept;
    return TRAIN_GOOD;
}

static int resume_choice(struct train_events *events, struct settings *s, const struct choice *c,
                         const char *text)
{
    text = text ? text : c->before;
    const void *known = text ? c->find(text) : NULL, **at = choice_place(s, c);
    if (text && !known && !*at && c->letter == OPTION_NET)
        return TRAIN_GOOD; /* the file has it */
    if (!known)
        return events_complain(
            events, TRAIN_FAILED,
            "%s: is not a checkpoint of \"glcnn train\": its metadata name no %s", s->resume,
            c->what);
    if (*at && *at != known && c->fixed)
        return refuse(events, s, c->name, text);
    if (!*at)
        *at = known;
    return TRAIN_GOOD;
}

/* The order of the words counts too: it is not worth a comparison of its own. */
static int resume_augment(struct train_events *events, struct settings *s, const char *text)
{
    char error[GLCNN_ERROR_LENGTH];
    if (!text)
        return events_complain(
            events, TRAIN_FAILED,
            "%s: cannot be resumed: it is not a checkpoint of \"glcnn train\": its "
            "metadata have no \"augment\"",
            s->resume);
    if (s->is_augment_given)
        return strcmp(text, s->augment_words) == 0
                   ? TRAIN_GOOD
                   : refuse(events, s, "augment", *text ? text : "none");
    s->is_augment_given = true;
    return set_augment(s, text, error)
               ? TRAIN_GOOD
               : events_complain(events, TRAIN_FAILED,
                                 "%s: cannot be resumed: \"augment\" in its metadata: %s",
                                 s->resume, error);
}

/* Words that a checkpoint keeps; a run that goes on cannot change them. */
static const struct {
    const char *name, *fallback; /* that of files from before it too */
    size_t offset, kept;         /* of a const char *, and of a char[SETTINGS_TEXT] */
} texts[] = {
    {"train", "all", offsetof(struct settings, train), offsetof(struct settings, resumed_train)},
    {"class-weights", "none", offsetof(struct settings, class_weights),
     offsetof(struct settings, resumed_weights)}};
enum { TEXTS = sizeof texts / sizeof *texts };

static const char **text_place(struct settings *s, size_t i)
{
    return (const char **)(void *)((char *)s + texts[i].offset);
}

static int resume_text(struct train_events *events, struct settings *s, size_t i, const char *text)
{
    const char **place = text_place(s, i);
    text = text ? text : texts[i].fallback;
    if (*place && strcmp(*place, text) != 0)
        return refuse(events, s, texts[i].name, text);
    if (strlen(text) >= SETTINGS_TEXT)
        return events_complain(
            events, TRAIN_FAILED,
            "%s: cannot be resumed: \"%s\" in its metadata has %zu letters, more "
            "than %d",
            s->resume, texts[i].name, strlen(text), SETTINGS_TEXT - 1);
    *place = strcpy((char *)s + texts[i].kept, text);
    return TRAIN_GOOD;
}

static int check_texts(struct train_events *events, struct settings *s)
{
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text = *text_place(s, i);
        if (text && strlen(text) >= SETTINGS_TEXT)
            return events_complain(events, TRAIN_WRONG,
                                   "--%s has %zu letters, more than the %d that a checkpoint keeps",
                                   texts[i].name, strlen(text), SETTINGS_TEXT - 1);
    }
    return TRAIN_GOOD;
}

/* Files of before --loss have no such entry: the task's first. Which names there are is looked at once
 * the task is known. */
static int resume_loss(struct train_events *events, struct settings *s, const char *text)
{
    if (!text)
        return TRAIN_GOOD;
    if (s->loss && strcmp(s->loss, text) != 0)
        return refuse(events, s, "loss", text);
    snprintf(s->resumed_loss, sizeof s->resumed_loss, "%s", text);
    s->loss = s->resumed_loss;
    return TRAIN_GOOD;
}

/* Data that is named is compared once it is open; files of before it was kept have no such entry. */
static int resume_data(struct train_events *events, struct settings *s, const char *text)
{
    if (s->data || !text)
        return TRAIN_GOOD;
    if (!data_path_read(text, s->resumed_data) || !*s->resumed_data)
        return events_complain(
            events, TRAIN_FAILED,
            "%s: cannot be resumed: \"data\" in its metadata is not a path; give it with --data",
            s->resume);
    s->data = s->resumed_data;
    return TRAIN_GOOD;
}

/* What a file tells by itself, and what only begins a run. */
static int check_origin(struct train_events *events, const struct settings *s)
{
    bool sets_input = s->width || s->channels || s->mean || s->deviation;
    if (s->names && !s->matching)
        return events_complain(events, TRAIN_WRONG, "--names needs --load-matching");
    if (s->keeps_classes && !s->model)
        return events_complain(events, TRAIN_WRONG, "--classes model needs --model");
    if (s->resume && (s->model || s->matching))
        return events_complain(events, TRAIN_WRONG,
                               "--model and --load-matching cannot be given with --resume");
    if (s->model && s->net)
        return events_complain(events, TRAIN_WRONG, "--net and --model cannot be given together");
    if (s->is_backbone_rate_set && !s->model && !s->matching && !s->resume)
        return events_complain(
            events, TRAIN_WRONG,
            "--backbone-lr needs --model or --load-matching: a new network has no "
            "layers that have learned anything, and --lr is the rate of all");
    if (s->time > 0 && is_given(s, OPTION_EPOCHS))
        return events_complain(
            events, TRAIN_WRONG,
            "--time and --epochs cannot be given together: --time chooses the epochs");
    if (s->syncs_statistics && s->average_every)
        return events_complain(
            events, TRAIN_WRONG,
            "--sync-batch-norm needs ranks that step together; with --average-every each steps "
            "by itself");
    if (sets_input && (s->resume || s->model))
        return events_complain(
            events, TRAIN_WRONG,
            "--size, --channels, --mean and --deviation cannot be given: they are those of the %s",
            s->model ? "model" : "checkpoint that is resumed");
    return TRAIN_GOOD;
}

struct schedule_settings settings_schedule(const struct settings *s, uint64_t steps)
{
    return (struct schedule_settings){.schedule = s->schedule,
                                      .rate = s->rate,
                                      .decay = s->decay,
                                      .warmup = s->warmup,
                                      .epochs = (double)s->epochs,
                                      .steps = steps};
}

/* What the checkpoint says, which has been found good, whatever the command line does. */
static void remember_schedule(struct settings *s, const struct glcnn_checkpoint_metadata *m)
{
    static const int letters[] = {OPTION_EPOCHS, OPTION_RATE, OPTION_DECAY, OPTION_WARMUP};
    struct settings old = *s;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        const struct number *n = find_number(letters[i]);
        parse_number(&old, n, glcnn_checkpoint_text(m, n->name), 0);
    }
    old.schedule = find_schedule(glcnn_checkpoint_text(m, "schedule"));
    s->before = settings_schedule(&old, 0);
}

static int resume(struct train_events *events, struct settings *s)
{
    char error[GLCNN_ERROR_LENGTH];
    struct glcnn_checkpoint_metadata m;
    int status = TRAIN_GOOD;
    if (glcnn_checkpoint_read_metadata(s->resume, &m, error) != GLCNN_SUCCESS)
        return events_complain(events, TRAIN_FAILED, "%s", error);
    for (size_t i = 0; i < CHOICES && status == TRAIN_GOOD; i++)
        status = resume_choice(events, s, &choices[i], glcnn_checkpoint_text(&m, choices[i].name));
    for (size_t i = 0; i < TEXTS && status == TRAIN_GOOD; i++)
        status = resume_text(events, s, i, glcnn_checkpoint_text(&m, texts[i].name));
    if (status == TRAIN_GOOD)
        status = resume_loss(events, s, glcnn_checkpoint_text(&m, "loss"));
    if (status == TRAIN_GOOD)
        status = resume_data(events, s, glcnn_checkpoint_text(&m, "data"));
    for (size_t i = 0; i < NUMBERS && status == TRAIN_GOOD; i++)
        if (numbers[i].kept)
            status =
                resume_number(events, s, &numbers[i], glcnn_checkpoint_text(&m, numbers[i].name));
    for (size_t i = 0; i < FLAGS && status == TRAIN_GOOD; i++)
        if (flags[i].kept)
            status = resume_flag(events, s, i, glcnn_checkpoint_text(&m, flags[i].name));
    if (status == TRAIN_GOOD)
        status = resume_augment(events, s, glcnn_checkpoint_text(&m, "augment"));
    if (status == TRAIN_GOOD)
        remember_schedule(s, &m);
    glcnn_checkpoint_free_metadata(&m);
    return status;
}

static void describe_number(struct settings *s, const struct number *n, char text[32])
{
    if (n->kind == REAL || n->kind == SIGNED)
        snprintf(text, 32, "%.17g", *(double *)place(s, n));
    else
        snprintf(text, 32, "%" PRIu64, *(uint64_t *)place(s, n));
}

static void add_entry(struct settings_entries *e, const char *name, const char *text)
{
    e->entries[e->count++] = (struct glcnn_checkpoint_entry){name, text};
}

/* From the root, so that it is found from another folder too. */
static bool write_data(const char *path, char text[DATA_PATH_TEXT])
{
    char *whole = *path == '/' ? NULL : realpath(path, NULL);
    bool good = data_path_write(whole ? whole : path, text);
    free(whole);
    return good;
}

void settings_describe(const struct settings *settings, struct settings_entries *e)
{
    struct settings now = *settings;
    e->count = 0;
    add_entry(e, "optimizer", now.optimizer->name);
    add_entry(e, "schedule", now.schedule->name);
    add_entry(e, "precision", now.precision->name);
    add_entry(e, "augment", settings->augment_words);
    for (size_t i = 0; i < TEXTS; i++)
        add_entry(e, texts[i].name, *text_place(&now, i));
    add_entry(e, "loss", settings->loss);
    for (size_t i = 0; i < FLAGS; i++)
        if (flags[i].kept)
            add_entry(e, flags[i].name, *flag_place(&now, i) ? "1" : "0");
    if (write_data(settings->data, e->data))
        add_entry(e, "data", e->data);
    for (size_t i = 0; i < NUMBERS; i++) {
        if (!numbers[i].kept)
            continue;
        describe_number(&now, &numbers[i], e->texts[e->count]);
        add_entry(e, numbers[i].name, e->texts[e->count]);
    }
}

/* ---- Going on ---- */

static bool is_shown(const char *word)
{
    while (*word) {
        struct character c = character_at(word);
        if (c.kind != CHARACTER_SHOWN)
            return false;
        word += c.length;
    }
    return true;
}

/* A word as a shell takes it; one that is not shown as it is, as bash and zsh do. */
static void add_quoted(struct text *text, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./,:+@%=";
    const bool shown = is_shown(word);
    if (*word && !word[strspn(word, safe)]) {
        text_show(text, "%s", word);
        return;
    }
    text_show(text, shown ? "'" : "$'");
    for (size_t length; *word; word += length) {
        char one[8] = "";
        length = character_at(word).length;
        memcpy(one, word, length);
        if (*word == '\'')
            text_show(text, shown ? "'\\''" : "\\'");
        else
            text_show(text, *word == '\\' && !shown ? "\\%s" : "%s", one);
    }
    text_show(text, "'");
}

void settings_add_option(struct text *text, const char *name, const char *value)
{
    if (!value)
        return;
    text_show(text, " --%s ", name);
    add_quoted(text, value);
}

void settings_add_resumption(const struct settings *settings, struct text *text)
{
    struct settings s = *settings;
    settings_add_option(text, "resume", s.out);
    for (size_t i = 0; i < PATHS; i++)
        if (paths[i].again)
            settings_add_option(text, paths[i].name,
                                *(const char **)(void *)((char *)&s + paths[i].offset));
    for (size_t i = 0; i < NUMBERS; i++) {
        char number[32];
        const struct number *n = &numbers[i];
        describe_number(&s, n, number);
        if (!n->kept && n->letter != OPTION_CHANNELS && (s.given & bit(n)))
            settings_add_option(text, n->name, number);
    }
    for (size_t i = 0; i < FLAGS; i++)
        if (flags[i].letter != OPTION_FORCE && !flags[i].kept && *flag_place(&s, i))
            text_show(text, " --%s", flags[i].name);
}

/* ---- All ---- */

static void fill_defaults(struct settings *s)
{
    if (!s->precision)
        s->precision = &precisions[0];
    for (size_t i = 0; i < TEXTS; i++)
        if (!*text_place(s, i))
            *text_place(s, i) = texts[i].fallback;
    if (!s->data)
        s->data = PICTURES_DEFAULT;
    for (size_t i = 0; i < NUMBERS; i++)
        fill_default(s, &numbers[i]);
}

/* What fits together only once the task is known. */
static int check_settings(struct train_events *events, const struct settings *s)
{
    if (s->nesterov && s->optimizer->momentum == 0)
        return events_complain(
            events, TRAIN_WRONG,
            "--nesterov needs --optimizer sgd, and this run has %s: leave --nesterov "
            "out, or add --optimizer sgd --lr 0.05",
            s->optimizer->name);
    if (s->unfreeze_after > 0 && (strcmp(s->train, "all") == 0 || s->ema > 0))
        return events_complain(
            events, TRAIN_WRONG,
            "--unfreeze-after needs layers that are frozen, by --train, and no --ema");
    if (s->weight_decay * s->rate >= 1)
        return events_complain(
            events, TRAIN_WRONG,
            "--weight-decay %g times the learning rate of %g is %g: a step would take all of "
            "each weight away; their product must be below 1",
            s->weight_decay, s->rate, s->weight_decay * s->rate);
    if (s->ema > 0 && s->average_every)
        return events_complain(
            events, TRAIN_WRONG,
            "--ema needs ranks that step together; with --average-every each steps by "
            "itself");
    return TRAIN_GOOD;
}

int settings_take_task(struct train_events *events, struct settings *s, const struct task *task)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    s->task = task;
    s->loss = s->loss ? s->loss : task->losses[0].name;
    for (; count < NAMES_MAX && task->losses[count].name; count++)
        names[count] = task->losses[count].name;
    if (!task_find_loss(task, s->loss))
        return events_complain_of_name(events, "loss of this task", s->loss, names, count);
    if (!s->optimizer)
        s->optimizer = find_optimizer(RECIPE_OPTIMIZER);
    if (!is_given(s, OPTION_RATE))
        s->rate = s->optimizer->rate;
    if (!is_given(s, OPTION_WEIGHT_DECAY))
        s->weight_decay = s->optimizer->weight_decay;
    return check_settings(events, s);
}

bool settings_scale_losses(const struct settings *s)
{
    return s->precision->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
}

uint64_t settings_step_images(const struct settings *s)
{
    return s->batch * s->accumulate;
}

void settings_fit(struct settings *s, uint32_t images)
{
    if (!is_given(s, OPTION_BATCH))
        s->batch = recipe_batch(images, s->accumulate);
    if (!is_given(s, OPTION_EPOCHS))
        s->epochs = recipe_epochs(images);
    s->fits_warmup = !is_given(s, OPTION_WARMUP) && s->schedule == &schedules[0];
    if (s->fits_warmup)
        s->warmup = fmin(RECIPE_WARMUP_SHARE * (double)s->epochs, RECIPE_WARMUP_MOST);
}

void settings_fit_backbone(struct settings *s)
{
    if (!is_given(s, OPTION_BACKBONE_RATE))
        s->backbone_rate = RECIPE_BACKBONE_RATE;
}

void settings_settle_time(struct settings *s, uint64_t epochs)
{
    const uint64_t most = find_number(OPTION_EPOCHS)->high;
    s->epochs = epochs < most ? epochs : most;
    s->time = 0;
    s->given &= ~bit(find_number(OPTION_TIME));
    if (s->fits_warmup)
        s->warmup = fmin(RECIPE_WARMUP_SHARE * (double)s->epochs, RECIPE_WARMUP_MOST);
}

void settings_fit_augment(struct settings *s, const struct glcnn_data_info *info,
                          const struct form *form)
{
    const struct recipe_data data = {.task = s->task,
                                     .info = info,
                                     .width = form->width,
                                     .height = form->height,
                                     .channels = form->channels,
                                     .passes = (double)s->epochs,
                                     .trains_all = strcmp(s->train, "all") == 0};
    char words[RECIPE_WORDS], error[GLCNN_ERROR_LENGTH];
    if (s->is_augment_given)
        return;
    recipe_augment(&data, words);
    s->is_augment_chosen = *words && set_augment(s, words, error);
}

bool settings_are_met(const struct settings *s)
{
    const uint64_t steps = s->images / settings_step_images(s);
    return s->resume && steps > 0 && s->step / steps >= s->epochs;
}

/* --decay by itself selects the schedule that it is best known from. */
static int choose_schedule(struct train_events *events, struct settings *s, bool decays)
{
    if (!s->schedule)
        s->schedule = decays ? find_schedule("exponential") : &schedules[0];
    if (!decays || s->schedule->decays)
        return TRAIN_GOOD;
    return events_complain(events, TRAIN_WRONG,
                           "--decay needs --schedule exponential or step; this run has %s",
                           s->schedule->name);
}

/* Nothing is written. */
static void forget_files(struct settings *s)
{
    s->out = s->log = s->plot = s->trace = s->cache = s->report = s->tensorboard = NULL;
}

int settings_finish(struct train_events *events, struct settings *settings)
{
    settings->is_backbone_rate_set = is_given(settings, OPTION_BACKBONE_RATE);
    int status = check_texts(events, settings);
    if (status == TRAIN_GOOD)
        status = check_origin(events, settings);
    bool decays = is_given(settings, OPTION_DECAY); /* a checkpoint gives it too */
    settings->sets_share = is_given(settings, OPTION_VALIDATION);
    if (status == TRAIN_GOOD && settings->resume)
        status = resume(events, settings);
    if (status == TRAIN_GOOD)
        status = choose_schedule(events, settings, decays);
    if (status != TRAIN_GOOD)
        return status;
    fill_defaults(settings);
    if (settings->finds_rate)
        forget_files(settings);
    return TRAIN_GOOD;
}
