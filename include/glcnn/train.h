/* Training a network on labelled pictures: the loop of "glcnn train" as a library.
 *
 * Part of libglcnn_train, not of libglcnn, and not included by glcnn/glcnn.h. What glcnn train does follows from
 * this header alone: the tool prints the events that are returned here.
 *
 *     struct glcnn_train_event const *event;
 *     glcnn_trainer *trainer;
 *     glcnn_train_settings *settings = glcnn_train_settings_create();
 *     glcnn_train_settings_set(settings, "data", "fruit", error);
 *     glcnn_train_settings_set(settings, "out", "fruit.safetensors", error);
 *     glcnn_trainer_create(NULL, settings, &trainer, error);
 *     do
 *         status = glcnn_trainer_next(trainer, &event);
 *     while (status == GLCNN_SUCCESS && event->kind != GLCNN_TRAIN_END);
 *     glcnn_trainer_destroy(&trainer);
 *     glcnn_train_settings_destroy(&settings);
 *
 * Nothing is printed and no process ends. Files are written where the settings name them: checkpoints by the
 * trainer, what shows the training (log, plot, report, tensorboard, trace) by the observers of glcnn/report.h.
 *
 * Thread-safety: settings and trainers belong to no thread, but no two calls for one may run at once; those of a
 * trainer with a device of its caller run on the device's thread. glcnn_trainer_stop may be called in any thread and
 * in a signal handler. */
#ifndef GLCNN_TRAIN_H
#define GLCNN_TRAIN_H

#include <glcnn/data.h>
#include <glcnn/device.h>
#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Settings ---- */

/* The settings say what a training is to do. */
typedef struct glcnn_train_settings glcnn_train_settings;

/* The kind of a setting says how its text is read. */
typedef enum glcnn_train_setting_kind {
    GLCNN_TRAIN_SETTING_FLAG, /* NULL or "1": yes; "0": no, the default */
    GLCNN_TRAIN_SETTING_WHOLE, /* a whole number; k, M and G stand for thousands, millions and so on */
    GLCNN_TRAIN_SETTING_BYTES,   /* the same, where they stand for 1024, 1024^2 and 1024^3 */
    GLCNN_TRAIN_SETTING_SECONDS, /* "90", "90s", "20m", "3h" */
    GLCNN_TRAIN_SETTING_REAL,    /* a number, with a point in any locale */
    GLCNN_TRAIN_SETTING_SIGNED,  /* no user's */
    GLCNN_TRAIN_SETTING_NAME,    /* one of a list: glcnn_train_setting_choice */
    GLCNN_TRAIN_SETTING_TEXT, /* as the setting's text says, of at most `most` bytes; 0: of any number */
    GLCNN_TRAIN_SETTING_READ,  /* the path of a file that is read */
    GLCNN_TRAIN_SETTING_WRITE, /* the path of a file or folder that is written */
    GLCNN_TRAIN_SETTING_DATA,  /* the path of labelled pictures (glcnn/data.h) */
    GLCNN_TRAIN_SETTING_SIZE,  /* "64" or "80x60", width and height, each up to `most` */
    GLCNN_TRAIN_SETTING_WORDS, /* of augmentation: "flip,crop=4", "none" */
    GLCNN_TRAIN_SETTING_KIND_FORCE32 = 0x7fffffff
} glcnn_train_setting_kind;

/* A training that resumes may change some settings, and others not. */
typedef enum glcnn_train_on_resume {
    GLCNN_TRAIN_RESUME_FREE,  /* have another value; what is kept is the default */
    GLCNN_TRAIN_RESUME_FIXED, /* have the checkpoint's: another is refused */
    GLCNN_TRAIN_RESUME_AGAIN, /* be given it again: no checkpoint says all of it */
    GLCNN_TRAIN_RESUME_FORCE32 = 0x7fffffff
} glcnn_train_on_resume;

/* A row of the table that this interface, the options of glcnn train and their help are made of. */
struct glcnn_train_setting {
    const char *name;  /* "label-smoothing" */
    const char *value; /* what its value is called, "SHARE"; NULL: it is a flag */
    const char *text;  /* what it does, with its unit and default, a clause */
    glcnn_train_setting_kind kind;
    uint64_t least, most;      /* of a number */
    double fallback;           /* of a number: the default, or where it is below `least` none */
    const char *fallback_text; /* the default of others; NULL: none */
    bool is_above, is_below;   /* the least, or the most, itself is no value */
    bool is_kept;              /* in a checkpoint's metadata, by its name */
    bool is_of_model;          /* in those of any model file */
    glcnn_train_on_resume on_resume;
    unsigned since;             /* the version of model files from which on all have it */
    const char *before;         /* a name that files without it have */
    const char *ending, *other; /* of a file that is written; NULL: any, no other */
    const struct glcnn_train_setting_list *list; /* the library's own */
    size_t offset;                               /* the library's own */
};

/* The settings, in the order of "glcnn help train", where their texts, defaults and ranges are as they are here.
 * NULL beyond the last. It lives for ever. Thread-safety: safe. */
GLCNN_API const struct glcnn_train_setting *glcnn_train_setting_at(size_t number);
/* A value of one that is of a list; NULL beyond the last, or for others. Thread-safety: safe. */
GLCNN_API const char *glcnn_train_setting_choice(const struct glcnn_train_setting *setting,
                                                 size_t number);

/* Nothing is set: everything has its default, or follows from the data. NULL: not enough memory. Release with
 * glcnn_train_settings_destroy. */
GLCNN_API glcnn_train_settings *glcnn_train_settings_create(void);
/* *settings becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_train_settings_destroy(glcnn_train_settings **settings);

/* Sets one by its name, in which "_" is as good as "-"; the value is copied. NULL for all but a flag is refused.
 * Errors: GLCNN_INVALID_ARGUMENT for a name that there is not and for a value outside of its range, after which the
 * setting must be set again or the settings be destroyed; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_train_settings_set(glcnn_train_settings *settings, const char *name,
                                                const char *value, char error[GLCNN_ERROR_LENGTH]);

/* Has the training learn a data set that is open (glcnn/data.h), of files or of a program's own images, in place of the
 * path of the setting "data": of both the one that is set last counts. It must have validation images, which opening
 * sets aside, and outlive the settings and their trainers. Its targets say which task it is for, unless the
 * setting "task" or a model does; what settings would say of opening it (validation, strict, mask-colours, another
 * size) is refused. Files remember no path of it: a training resumes with a data set of the same images. Errors:
 * GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_train_settings_set_dataset(glcnn_train_settings *settings,
                                                        glcnn_dataset *data,
                                                        char error[GLCNN_ERROR_LENGTH]);

/* ---- Events ---- */

/* Events come in this order: notes, BEGUN, for each epoch EPOCH_BEGUN, its STEPs,
 * EPOCH, SAVING and SAVED, then TRAINED, and END. Notes, remarks and complaints come anywhere. After a failure
 * TRAINED and END follow. */
typedef enum glcnn_train_event_kind {
    GLCNN_TRAIN_NOTE,   /* text: lines on what was chosen or found, each with its line feed */
    GLCNN_TRAIN_REMARK, /* text: lines on what is passed over, or may not go well */
    GLCNN_TRAIN_COMPLAINT, /* text: a sentence. status GLCNN_SUCCESS: the training goes on; otherwise it fails */
    GLCNN_TRAIN_BEGUN,       /* everything is open, and the first step comes next */
    GLCNN_TRAIN_EPOCH_BEGUN, /* of `epoch` */
    GLCNN_TRAIN_STEP,        /* a step was made */
    GLCNN_TRAIN_EPOCH,       /* the last step of an epoch was made, and what it led to validated */
    GLCNN_TRAIN_SAVING, /* a checkpoint is written next: files on its steps should reach the disk before it */
    GLCNN_TRAIN_SAVED,   /* the checkpoint of an epoch that was validated is written */
    GLCNN_TRAIN_TRAINED, /* no step follows */
    GLCNN_TRAIN_INTERRUPTED, /* the training was told to stop, and the checkpoint `path`, which has `step` steps, can be
                                resumed; text: the options of glcnn train that do so */
    GLCNN_TRAIN_END, /* the last */
    GLCNN_TRAIN_EVENT_FORCE32 = 0x7fffffff
} glcnn_train_event_kind;

/* An event; what a kind has no value for is 0 or NULL. Losses are means over pictures. What the measure is follows
 * from the task (glcnn/task.h): accuracy, mAP@0.5 ...; the more the better, and NAN where it is not defined. */
struct glcnn_train_event {
    glcnn_train_event_kind kind;
    glcnn_status status; /* of COMPLAINT, TRAINED and END */
    bool is_interrupted; /* END: glcnn_trainer_stop ended it */
    /* The words of NOTE, REMARK and COMPLAINT, UTF-8. END of a training that failed: what the last complaint said. In notes and
     * remarks what others named is escaped, so that it may be written to a terminal; in complaints it is as it was. */
    const char *text;

    /* Numbers of STEP, and of the epoch's last step in EPOCH. */
    size_t step;         /* of the whole training, from 0 */
    uint64_t epoch;      /* from 1 */
    size_t done;         /* pictures of the epoch that were shown */
    double loss;         /* of the step's pictures, before it */
    double measure;      /* of the same; NAN: it is not measured in training */
    double rate;         /* the learning rate */
    double mean_loss;    /* of the epoch's steps so far */
    double begun, ended; /* seconds of CLOCK_MONOTONIC */
    bool is_last;        /* step of its epoch */
    bool ends;           /* the training was told to stop, and does so after this step */

    /* Numbers of EPOCH. Where "ema" keeps averages of the weights, validation is by these, and what is trained is measured
     * too. */
    double mean_measure;
    double validation_loss, validation_measure;
    double trained_loss, trained_measure;
    double seconds, waited; /* that the epoch's steps took, and of these for data */
    bool is_best;           /* epoch so far */

    /* Numbers of BEGUN, and of all events of steps, epochs and files that follow it. */
    const char *task; /* the name, as glcnn_task_at has it; it lives for ever */
    uint64_t epochs;  /* that the training is to have */
    size_t images;    /* pictures that an epoch shows */
    size_t steps;     /* that the training is to have */

    size_t epoch_images; /* EPOCH_BEGUN: pictures of the epoch that are not shown yet */
    size_t
        later_images; /* EPOCH_BEGUN: the epochs after it take as long as so many, as far as is known */
    bool has_averages; /* EPOCH: validation is by averages of the weights */
    const char *path;  /* INTERRUPTED: the checkpoint */
};

/* ---- The trainer ---- */

typedef struct glcnn_trainer glcnn_trainer;

/* Prepares a training, of which nothing has begun: the settings, which are copied, are looked at as a whole, and the
 * checkpoint of "resume" is read. device NULL: the library's default is opened once it is needed, and closed at the
 * end; another must outlive the trainer. *trainer is the caller's, NULL after a failure. Where MPI started the process
 * as one of several, libglcnn_mpi is loaded and all of them train one network.
 * Errors: GLCNN_INVALID_ARGUMENT for settings that do not fit together, GLCNN_INVALID_STATE for those that differ
 * from the checkpoint's, GLCNN_IO_ERROR, GLCNN_MALFORMED_DATA, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_trainer_create(glcnn_device *device,
                                            const glcnn_train_settings *settings,
                                            glcnn_trainer **trainer,
                                            char error[GLCNN_ERROR_LENGTH]);

/* A program may do these in the trainer's place. Each may be NULL. */
struct glcnn_trainer_callbacks {
    /* Opens the device once it is needed, which is the trainer's then. name: the device that this process should have
     * where the user names none, NULL: any. A failure's status ends the training, with the words in `error`. */
    glcnn_status (*open_device)(void *user, const glcnn_trainer *trainer, const char *name,
                                glcnn_device **device, char error[GLCNN_ERROR_LENGTH]);
    /* Is called while process `rank` waits for process `other`. */
    void (*waits)(void *user, double seconds, uint32_t rank, uint32_t other);
    void *user;
};

/* glcnn_trainer_create without a device, of which the rest holds here too. The callbacks are copied. */
GLCNN_API glcnn_status glcnn_trainer_create_with(const struct glcnn_trainer_callbacks *callbacks,
                                                 const glcnn_train_settings *settings,
                                                 glcnn_trainer **trainer,
                                                 char error[GLCNN_ERROR_LENGTH]);

/* The number of this process among those that MPI started and that train together, from 0: the first writes files, and
 * should be the only one to print. *count is how many there are, 0 where MPI did not start it; NULL: not asked for. */
GLCNN_API uint32_t glcnn_trainer_rank(const glcnn_trainer *trainer, uint32_t *count);

/* Ends it wherever it is, without another checkpoint. *trainer becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_trainer_destroy(glcnn_trainer **trainer);

/* The next event, for which a part of the training is done where needed: at most a step, or a validation. *event is
 * the trainer's, until the next call. Of the last, END, the status of the training is returned, otherwise
 * GLCNN_SUCCESS; further calls return the same again. What a training fails with is GLCNN_INVALID_ARGUMENT for
 * settings that the data do not fit, GLCNN_NO_DEVICE, GLCNN_DEVICE_LOST, GLCNN_OUT_OF_MEMORY for events that were
 * lost, and GLCNN_INVALID_STATE for all else; the text says why. */
GLCNN_API glcnn_status glcnn_trainer_next(glcnn_trainer *trainer,
                                          const struct glcnn_train_event **event);

/* Has the training end after the step under way, which is saved. Thread-safety: safe, also in a signal handler. */
GLCNN_API void glcnn_trainer_stop(glcnn_trainer *trainer);

#ifdef __cplusplus
}
#endif
#endif
