/* What a training is to do: what its user sets, what the checkpoint that it resumes has, and
 * defaults for the rest. One table has all of it: train_settings.def. */
#ifndef GLCNN_TRAIN_TRAIN_SETTINGS_H
#define GLCNN_TRAIN_TRAIN_SETTINGS_H

#include <glcnn/checkpoint.h>
#include <glcnn/train.h>

#include "data_path.h"
#include "task/augment.h"
#include "task/nets.h"
#include "recipe.h"
#include "schedule.h"
#include "task/pictures.h"
#include "task/task.h"
#include "task/window.h"

struct optimizer {
    const char *name;
    double rate, weight_decay; /* where the user gives none */
    glcnn_status (*create)(glcnn_device *device, float rate, glcnn_kernel **kernel);
    float momentum;
    bool grows; /* the rate is for RECIPE_BATCH images or fewer, and grows with the root of more */
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

/* Of pictures; 0: as the data has them. */
struct setting_extent {
    uint32_t width, height;
};

enum setting_number {
#define SETTING(MEMBER_TYPE, MEMBER, ...) SETTING_##MEMBER,
#define FLAG(MEMBER, ...)                 SETTING_##MEMBER,
#define STATE(...)
#include "train_settings.def"
    SETTING_COUNT /* how many there are */
};

/* Rows of the table, with those that only a checkpoint has. */
#define SETTING_ROWS_MAX (SETTING_COUNT + 16)

struct glcnn_train_settings {
    /* A member for each row, all zero until it is given or settings_finish fills in the default. A text is NULL
     * where there is none, and so is a name that nobody chose. */
#define SETTING(MEMBER_TYPE, MEMBER, ...) MEMBER_TYPE MEMBER;
#define FLAG(MEMBER, ...)                 bool MEMBER;
#define STATE(...)
#include "train_settings.def"
    bool given[SETTING_ROWS_MAX]; /* by the user or the checkpoint */
    char *owned[SETTING_COUNT];   /* texts, which are copies */

    glcnn_dataset
        *set;          /* the caller's, which is open and of which `data` is the name; NULL: none */
    double loss_scale; /* of float16, as the last checkpoint has it */
    uint64_t good_steps, skipped_steps;
    uint64_t step, images; /* of the checkpoint: steps made, images of an epoch */
    double first_loss;     /* of the checkpoint: of the run's first step; 0: none was made */
    uint64_t data_digest;  /* of the checkpoint: names and labels of its images; 0: it has none */
    struct best best;      /* of the checkpoint */
    struct schedule_settings before; /* the checkpoint's, without steps; schedule NULL: none */

    char augment_words[256];        /* that say so */
    bool is_augment_chosen;         /* by the recipe, from the data */
    bool is_data_resumed;           /* `data` is the checkpoint's */
    bool is_backbone_rate_set;      /* by the user */
    bool sets_share;                /* the user gave `validation` */
    bool fits_warmup;               /* it is a share of the epochs */
    char net_reason[RECIPE_REASON]; /* why the default network is not the best; "": it is */
};

/* A list of which a setting is one. */
struct glcnn_train_setting_list {
    const char *what;                      /* one of it is: "optimizer" */
    const void *(*find)(const char *name); /* what the member points to; NULL: there is none such */
    const char *(*at)(size_t i);           /* NULL after the last */
};

/* All rows: the first SETTING_COUNT of them that a user gives, in the order of their numbers. */
extern const struct glcnn_train_setting settings_table[];
/* A user's setting by its name, in which _ is as good as -; NULL: there is none such. */
const struct glcnn_train_setting *settings_find(const char *name);

/* After all of them: reads the checkpoint of `resume`, whose settings stand for those that were not given, and where
 * a run would not go on as it began they must be the same; defaults stand for the rest. */
glcnn_status settings_finish(glcnn_train_settings *settings, char error[GLCNN_ERROR_LENGTH]);
/* Copies settings that are not finished, with their texts. After a failure too the copy is to be freed. */
glcnn_status settings_copy(const glcnn_train_settings *settings, glcnn_train_settings *copy,
                           char error[GLCNN_ERROR_LENGTH]);
/* Frees the texts. */
void settings_free(glcnn_train_settings *settings);

/* Did the user or the checkpoint give it? */
bool settings_are_given(const glcnn_train_settings *settings, enum setting_number number);
/* Are the classes those of the model, and not the data's? */
bool settings_keep_classes(const glcnn_train_settings *settings);

/* Chooses by recipe.h what nobody gave and depends on how many images there are to train with: the
 * batch, the epochs, and the warm-up as a share of them. */
void settings_fit(glcnn_train_settings *settings, uint32_t images);

/* Has the recipe choose the augmentation, unless the user or a checkpoint gave it. */
void settings_fit_augment(glcnn_train_settings *settings, const struct glcnn_data_info *info,
                          const struct form *form);

/* The run begins with a network of a file and a head that has learned nothing: what the file has learned changes
 * slowly, unless the user set how fast. */
void settings_fit_backbone(glcnn_train_settings *settings);

/* The run has so many epochs, since they fit --time, which is no setting any more. */
void settings_settle_time(glcnn_train_settings *settings, uint64_t epochs);

/* How the learning rate goes, in a run of so many steps an epoch. */
struct schedule_settings settings_schedule(const glcnn_train_settings *settings, uint64_t steps);

/* What a checkpoint keeps of them, as metadata, which settings_finish finds there. */
struct settings_entries {
    struct glcnn_checkpoint_entry entries[SETTING_ROWS_MAX];
    size_t count;
    char texts[SETTING_ROWS_MAX][32];
    char data[DATA_PATH_TEXT];
};
void settings_describe(const glcnn_train_settings *settings, struct settings_entries *entries);

/* Adds the options of the command that goes on with the run of --out, with those that no checkpoint has, each after a
 * blank. */
void settings_add_resumption(const glcnn_train_settings *settings, struct text *text);

/* Sets the task, once that is known, and the optimizer and learning rate that follow from it. */
glcnn_status settings_take_task(glcnn_train_settings *settings, const struct task *task,
                                char error[GLCNN_ERROR_LENGTH]);

/* Images of a step: of all its batches. */
uint64_t settings_step_images(const glcnn_train_settings *settings);

/* True if the checkpoint of --resume has all epochs that the run is to have. */
bool settings_are_met(const glcnn_train_settings *settings);

/* Are gradients stored in float16, and losses scaled? */
bool settings_scale_losses(const glcnn_train_settings *settings);

#endif
