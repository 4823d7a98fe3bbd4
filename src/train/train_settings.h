/* What glcnn train is to do: from its command line, from the checkpoint that it resumes, and
 * defaults for the rest. */
#ifndef GLCNN_TRAIN_TRAIN_SETTINGS_H
#define GLCNN_TRAIN_TRAIN_SETTINGS_H

#include <glcnn/checkpoint.h>

#include "base/option.h"
#include "task/augment.h"
#include "data_path.h"
#include "event.h"
#include "task/nets.h"
#include "recipe.h"
#include "schedule.h"
#include "task/task.h"

struct optimizer {
    const char *name;
    double rate, weight_decay; /* where the user gives none */
    glcnn_status (*create)(glcnn_device *device, float rate, glcnn_kernel **kernel);
    float momentum;
};

struct precision {
    const char *name;
    glcnn_channel_format format; /* of intermediate images */
};

/* The best epoch so far: that of the highest accuracy in validation, of several that of the lowest
 * loss. */
struct best {
    uint64_t epoch;        /* from 1; 0: none yet */
    double accuracy, loss; /* accuracy: score_rank */
    double measured;       /* score_measure; not kept */
};

#define SETTINGS_TEXT 512 /* letters of words that a checkpoint keeps, and a zero */

struct settings {
    const struct task *task; /* NULL until the data or a file tells */
    const struct net *net;   /* NULL: as the data suggests, or a file has it */
    const struct optimizer *optimizer;
    const struct schedule *schedule;
    const struct precision *precision;
    const char *data, *resume, *out, *log, *plot; /* but for data NULL: none */
    const char *report, *tensorboard;             /* folders; NULL: none */
    const char *model, *matching, *names, *trace; /* NULL: none */
    const char *cache;                            /* of features; NULL: beside `out`; "off": none */
    const char *train;                            /* words of layers.h */
    const char *loss;                             /* one of the task's; NULL: its first */
    char resumed_loss[32];
    const char *class_weights; /* "none", "balanced", or a list of numbers */
    char resumed_train[SETTINGS_TEXT], resumed_weights[SETTINGS_TEXT];
    char resumed_data[DATA_PATH_MAX]; /* "": `data` is not the checkpoint's */
    bool keeps_classes;               /* the model's, and not the data's */
    const char *mean, *deviation;     /* lists of numbers; NULL: 0 and 1 */
    uint32_t width, height;           /* 0: as the data has them */
    bool strict;
    bool force;                        /* another network at `out` may be written over */
    bool syncs_statistics, balances;   /* of ranks */
    uint64_t average_every, rank_wait; /* 0: ranks step together; seconds */
    uint64_t epochs, batch, seed;
    uint64_t
        time; /* seconds that the run is to take, until it is known how many epochs these are; 0 */
    uint64_t accumulate;              /* batches of a step */
    uint64_t limit, memory, patience; /* 0: none */
    uint64_t feature_limit;           /* bytes of the cache */
    uint64_t channels, threads;       /* 0: as the data and the machine have them */
    double loss_scale;                /* of float16, as the last checkpoint has it */
    uint64_t good_steps, skipped_steps;
    uint64_t step, images; /* of the checkpoint: steps made, images of an epoch */
    double first_loss;     /* of the checkpoint: of the run's first step; 0: none was made */
    uint64_t data_digest;  /* of the checkpoint: names and labels of its images; 0: it has none */
    struct best best;      /* of the checkpoint */
    struct augment augment;
    char augment_words[256];        /* that say so */
    bool is_augment_given;          /* by the user or the checkpoint */
    bool is_augment_chosen;         /* by the recipe, from the data */
    char net_reason[RECIPE_REASON]; /* why the default network is not the best; "": it is */
    double rate, decay, warmup;
    double backbone_rate;      /* factor of the rate, for layers before the head */
    bool is_backbone_rate_set; /* by the command line */
    bool fits_warmup;          /* it is a share of the epochs */
    double clip, clip_norm;    /* 0: none */
    double weight_decay;       /* decoupled, of weights; 0: none */
    bool nesterov;
    bool finds_rate;         /* and trains nothing */
    double ema;              /* decay of averages; 0: there are none */
    uint64_t unfreeze_after; /* epochs; 0: never */
    double label_smoothing;
    double validation;               /* 0: as the data has it, or none */
    bool sets_share;                 /* the user gave `validation` */
    struct schedule_settings before; /* the checkpoint's, without steps; schedule NULL: none */
    uint64_t given; /* which numbers the user or the checkpoint gave, for settings_finish */
};

extern const struct option_row train_options[];

/* Takes an option of train_options by its letter; all settings are zero at first, and a text must live on. A wrong
 * value is complained of; what is no setting is wrong without a complaint. */
int settings_read_option(struct train_events *events, struct settings *settings, int letter,
                         const char *value);
/* The same by the option's name; one that there is not is complained of. */
int settings_set(struct train_events *events, struct settings *settings, const char *name,
                 const char *value);
/* After all options: reads the checkpoint of --resume, whose settings stand for those that were not given, and where
 * a run would not go on as it began they must be the same; defaults stand for the rest. */
int settings_finish(struct train_events *events, struct settings *settings);

/* Chooses by recipe.h what nobody gave and depends on how many images there are to train with: the
 * batch, the epochs, and the warm-up as a share of them. */
void settings_fit(struct settings *settings, uint32_t images);

/* Has the recipe choose the augmentation, unless the user or a checkpoint gave it. */
void settings_fit_augment(struct settings *settings, const struct glcnn_data_info *info,
                          const struct form *form);

/* The run begins with a network of a file and a head that has learned nothing: what the file has learned changes
 * slowly, unless the user set how fast. */
void settings_fit_backbone(struct settings *settings);

/* The run has so many epochs, since they fit --time, which is no setting any more. */
void settings_settle_time(struct settings *settings, uint64_t epochs);

/* How the learning rate goes, in a run of so many steps an epoch. */
struct schedule_settings settings_schedule(const struct settings *settings, uint64_t steps);

/* The same, but for the network, as metadata, which settings_finish finds in a checkpoint. */
#define SETTINGS_ENTRIES_MAX 64
struct settings_entries {
    struct glcnn_checkpoint_entry entries[SETTINGS_ENTRIES_MAX];
    size_t count;
    char texts[SETTINGS_ENTRIES_MAX][32];
    char data[DATA_PATH_TEXT];
};
void settings_describe(const struct settings *settings, struct settings_entries *entries);

/* Adds the options of the command that goes on with the run of --out, with those that no checkpoint has, each after a
 * blank. */
void settings_add_resumption(const struct settings *settings, struct text *text);
/* Adds " --NAME VALUE", as a shell takes it; value NULL: nothing. */
void settings_add_option(struct text *text, const char *name, const char *value);

/* What the task is, once that is known, and the optimizer and learning rate that follow from it. */
int settings_take_task(struct train_events *events, struct settings *settings,
                       const struct task *task);

/* Images of a step: of all its batches. */
uint64_t settings_step_images(const struct settings *settings);

/* Whether the checkpoint of --resume has all epochs that the run is to have. */
bool settings_are_met(const struct settings *settings);

/* Are gradients stored in float16, and losses scaled? */
bool settings_scale_losses(const struct settings *settings);

#endif
