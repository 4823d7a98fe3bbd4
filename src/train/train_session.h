/* A run of glcnn train.
 *
 * Room: Training: the loop, its settings, its checkpoints, and banks of normal pictures. Includes public
 * headers, base/ and task/. Prints nothing, and knows nobody who looks on: what happens is told by event.h. */
#ifndef GLCNN_TRAIN_TRAIN_SESSION_H
#define GLCNN_TRAIN_TRAIN_SESSION_H

#include <glcnn/io.h>
#include <signal.h>

#include "advice.h"
#include "claim.h"
#include "curves.h"
#include "ema.h"
#include "event.h"
#include "frozen.h"
#include "layers.h"
#include "task/model.h"
#include "task/own_device.h"
#include "task/pictures.h"
#include "ranks.h"
#include "task/saved.h"
#include "task/score.h"
#include "task/seen.h"
#include "train_settings.h"

/* What comes next in a run (train.c). */
enum train_phase {
    PHASE_START,
    PHASE_OPEN,
    PHASE_FIND,
    PHASE_EPOCH,
    PHASE_STEP,
    PHASE_VALIDATE,
    PHASE_ADVANCE,
    PHASE_KEEP,
    PHASE_SAVE,
    PHASE_FINISH,
    PHASE_SAVE_LAST,
    PHASE_TRAINED,
    PHASE_CONCLUDE,
    PHASE_END,
    PHASE_OVER
};

/* The mean of what the steps of an epoch showed. */
struct train_mean {
    double loss, accuracy;
    size_t count;
};

/* How far the search for a learning rate is (train_find.c). */
struct rate_search {
    size_t step;
    double loss;             /* the running mean, too small in the first steps */
    double mean;             /* the same without that bias */
    double least, best_rate; /* of the loss that is told, and its rate */
};

struct glcnn_trainer {
    struct train_events *events, queue; /* the latter, for whom the trainer is const too */
    struct glcnn_trainer_callbacks callbacks;
    glcnn_train_settings settings;
    glcnn_device *device;
    bool keeps_device;            /* it is the caller's */
    bool is_observed;             /* somebody writes the files that show the training */
    struct own_device own;        /* where the caller gives none */
    struct glcnn_train_event end; /* the last event, once it was taken or lost */
    volatile sig_atomic_t stop;   /* the caller asks for an end */
    enum train_phase phase;       /* that comes next */
    glcnn_status status;
    size_t opened; /* parts of session_open_part that were done */
    struct train_mean mean;
    size_t epoch_first,
        epoch_last; /* the steps of this run that the epoch is made of end before the latter */
    double epoch_begun;
    struct glcnn_train_event made; /* the last step */
    struct best found;             /* by validation after it; epoch 0: there was none */
    struct rate_search search;     /* of --find-lr */
    struct ranks ranks;            /* this process has a share of each batch */
    struct pictures pictures;
    struct saved base;                        /* the file of --resume or --model, if there is one */
    struct saved described;                   /* by data and settings; has nothing of its own */
    struct seen seen;                         /* pictures that the network is trained on */
    uint8_t seen_bytes[SEEN_BYTES];           /* the same as a file has it */
    glcnn_data_loader *training, *validation; /* of the session's batches */
    double epoch_cost; /* of the last epoch: all of its time to that of its steps; 0: none yet */
    double fixed_rate; /* the learning rate; 0: the schedule's */
    double waited;     /* seconds for training data, up to this epoch */
    struct model model;
    struct model rounded;   /* the same as int8 computes it, once that is trained; else all zero */
    char *ranges;           /* of that, where this run has measured them */
    struct layers layers;   /* those of it that train */
    struct frozen frozen;   /* the others, where they can be run separately */
    struct targets targets; /* that it learns */
    uint32_t *partners;     /* of keypoints, as the runner has them */
    struct class_match match; /* of --model and the data, where they are for one task */
    struct ema ema;           /* averages, which are what is validated and saved */
    struct runner trainer, tester;
    size_t steps, total;            /* steps of an epoch, of the whole run */
    size_t first, step;             /* steps made before this run, and so far */
    float *losses, *scores, *tests; /* of the share of a batch */
    struct score score;       /* of the images to validate with, or, at the end, to test with */
    size_t scored;            /* by the network that had made so many steps; 0: none */
    struct findings findings; /* of the same images, where there is a report */
    struct tallies tallies;   /* of the same */
    struct train_curves curves;
    struct best best;
    char best_path[4096];     /* "": none is kept */
    char features_path[4096]; /* "": a file without a name */
    char report_path[4096];   /* "": no report */
    struct claims claims;     /* of its files */
    double started;           /* when the session was opened: --time counts from there */
    double
        timed_since; /* when the timed steps began; 0: the first step, which compiles, is not made */
    size_t timed_from;       /* the first of them */
    bool is_warm;            /* the steps before them, made as the caches filled, are left out */
    uint64_t fitting_epochs; /* that the last step found to fit --time; 0: none */
    bool is_timed;           /* how long the run takes was told */
    uint64_t asked_time;     /* seconds of --time that the epochs were made to fit; 0: none */
    double begun, saved; /* when this run began, and the last checkpoint was written: seconds_now */
    size_t saved_step;   /* what that has */
    struct text resumption; /* the options of an interrupted run that go on with it */
    bool tells_nothing;     /* has said that validation has nothing to measure */
    bool is_saved;
    bool ends;      /* some process was told to end */
    bool save_time; /* a checkpoint is due */
};

/* Has the training fail, since the caller cannot go on; the reason is added as a complaint. */
void trainer_abort(glcnn_trainer *trainer, const char *reason);

/* Functions that return a status have added what was wrong as a complaint. */

/* Complains, and where the device was lost what the checkpoint has; gives GLCNN_INVALID_STATE. */
glcnn_status session_fail(const glcnn_trainer *s, const char *error);
glcnn_status session_fail_device(const glcnn_trainer *s);

/* ---- Data (train_data.c) ---- */

/* The file of --resume or --model, the pictures, and the settings that follow from both. */
glcnn_status session_open_data(glcnn_trainer *s);

/* Refuses targets that nothing can be learned of, and says what is not learned of others
 * (train_learnable.c). */
glcnn_status session_check_learnable(glcnn_trainer *s);

/* The session's batches, once the ranks have their shares. */
glcnn_status session_open_loaders(glcnn_trainer *s);

/* How many pictures of a part there are, --limit considered. */
uint32_t session_images(const glcnn_trainer *s, glcnn_data_part part);

/* Batches of training from that step on; labels_only: without the pictures. */
bool session_load(const glcnn_trainer *s, size_t step, bool labels_only, glcnn_data_loader **loader,
                  char error[GLCNN_ERROR_LENGTH]);

/* One epoch of another part, from its start. */
bool session_load_part(const glcnn_trainer *s, glcnn_data_part part, bool labels_only,
                       glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH]);

/* ---- Time (train_time.c) ---- */

/* After a step: the first one compiles, some fill the caches, and those after them are timed. */
void session_begin_timing(glcnn_trainer *s);
/* Seconds that the pace is not to know of: what took them becomes rarer, as a best epoch does. */
void session_leave_out(glcnn_trainer *s, double seconds);
/* Are enough steps timed to say how long the run takes, which was not printed yet? */
bool session_knows_time(const glcnn_trainer *s);
/* The epochs of --time, by the pace of the steps so far: at least the one under way. */
uint64_t session_fitting_epochs(const glcnn_trainer *s);
/* Has the run have so many from now on: --time is settled with it, for the checkpoint too. */
void session_set_epochs(glcnn_trainer *s, uint64_t epochs);
/* Tells how long the rest of the run takes, and what to do about it. */
void session_tell_time(glcnn_trainer *s, bool is_fitted);

/* ---- The model (train_model.c) ---- */

/* Images that losses are the mean over: of all ranks where their gradients are added up, else of
 * this one. */
uint32_t session_loss_images(const glcnn_trainer *s);

/* The device, unless the session has it. */
glcnn_status session_open_device(glcnn_trainer *s);

/* Device and model. */
glcnn_status session_open_model(glcnn_trainer *s);

/* Notes the share of the learning rate that layers before the head have, where it is not all of it. */
void session_note_backbone_rate(const glcnn_trainer *s);

/* The runners that train and validate; frozen layers separately where that helps. */
glcnn_status session_open_runners(glcnn_trainer *s);

/* Closes the runners and opens others, between two steps; in between `change`, which may be NULL, makes of the model
 * what they are to run. */
typedef bool session_change(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH]);
glcnn_status session_reopen_runners(glcnn_trainer *s, session_change *change);

/* A model of the session's network with its weights to begin with, its layers chosen, and its
 * optimizer. `tells`: what was read of files is noted. False, and a message, if it fails. */
bool session_make_model(const glcnn_trainer *s, bool tells, struct model *model,
                        struct layers *layers, char error[GLCNN_ERROR_LENGTH]);

/* What trains all of it, on augmented pictures. memory: as runner_create_training's. False: the
 * device has the message. */
bool session_make_trainer(const glcnn_trainer *s, struct model *model, uint64_t memory,
                          struct runner *runner);

/* Lets the steps add up their gradients over ranks, unless weights are averaged instead
 * (train_begin.c). */
glcnn_status session_join_ranks(glcnn_trainer *s);

/* ---- Unfreezing (train_unfreeze.c) ---- */

/* Words of layers.h: those that train after the steps that were made. */
const char *session_layers(const glcnn_trainer *s);
/* Were other layers frozen at that earlier step than are now? */
bool session_unfreezes_behind(const glcnn_trainer *s, size_t step);
/* After the last step of an epoch: lets all layers train where that is due. */
glcnn_status session_unfreeze(glcnn_trainer *s);

/* ---- Training for int8 (train_quantise.c) ---- */

/* Makes `rounded` of the model where the run trains that: from the last tenth of the steps on, or where the checkpoint
 * has the ranges that it is rounded by. */
glcnn_status session_round_model(glcnn_trainer *s);
/* Is called before a step, and has it and those that follow train the rounded model if that is due. */
glcnn_status session_quantise(glcnn_trainer *s);
/* Says so where a run that was to round has not come to it. */
void session_tell_quantised(const glcnn_trainer *s);

/* ---- Targets (train_targets.c) ---- */

glcnn_status session_open_targets(glcnn_trainer *s);
/* Refuses to mirror keypoints of which one has no counterpart. */
glcnn_status session_open_sides(glcnn_trainer *s);
/* Lets a runner that trains learn them. False: not enough memory. */
bool session_set_targets(const glcnn_trainer *s, struct runner *runner);

/* ---- Keypoints called left and right (train_sides.c) ---- */

/* Those that change places where --augment mirrors pictures. False, and a message: one has no counterpart, so
 * that the user's flip would teach what is not so, or there is not enough memory. */
bool session_find_sides(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH]);
/* How they are treated, a line without its end; "": there are no keypoints. */
void session_describe_sides(const glcnn_trainer *s, char text[GLCNN_ERROR_LENGTH]);

/* ---- Files (train_outputs.c) ---- */

/* True if --out is another file than the one that --resume goes on with. */
bool session_writes_elsewhere(const glcnn_trainer *s);
/* Claims what the first rank reads and writes (claim.h). */
glcnn_status session_claim_files(glcnn_trainer *s);

/* ---- Checkpoints (train_checkpoint.c) ---- */

/* What --resume names, into the model. */
glcnn_status session_load_checkpoint(glcnn_trainer *s);

/* A file of this run into a network of its kind: what trains, and not the averages of it. */
bool session_load_trained(const char *path, glcnn_network *network, struct ema *ema,
                          char error[GLCNN_ERROR_LENGTH]);

/* Before the first step: a file that is there stays until there is something better, and what it
 * would be replaced with is tried. */
glcnn_status session_save_first(glcnn_trainer *s);

/* All ranks come here at once; the first writes. */
glcnn_status session_save(glcnn_trainer *s);

/* The same into another file, by the first rank only. */
glcnn_status session_write_checkpoint(glcnn_trainer *s, const char *path);

/* The loss scale as the last step left it, into the settings. False: the device has the message.
 */
bool session_take_scale(glcnn_trainer *s);

/* What each rank has averaged of its own batches becomes one; summed up ones are the same. */
bool session_average_statistics(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH]);

/* ---- Validation (train_validation.c) ---- */

/* Measures the validation part into the session's score, of all ranks: by the averages, where there are any. */
glcnn_status session_validate(glcnn_trainer *s);
/* Does the same by what is trained. */
glcnn_status session_validate_trained(glcnn_trainer *s);

/* At the end: notes on the test images, and the conclusion of the images to validate with. */
glcnn_status session_conclude(glcnn_trainer *s);

/* ---- The conclusion (train_conclusion.c) ---- */

/* How good the network is by the session's score of the images to validate with, what it has learned least, and
 * what would help. */
struct conclusion {
    double measure;
    struct interval interval;
    bool has_least;
    char least[TASK_PART_NAME]; /* the part's name */
    double least_measure, least_count;
    char sizes[TASK_PART_NAME]; /* "": there is nothing to say */
    enum advice advice;
    double chance, training_measure, training_loss, validation_loss; /* as struct advice_facts */
};
/* False: not enough memory. */
bool session_find_conclusion(const glcnn_trainer *s, struct conclusion *conclusion);
/* Of the session's score; the seed is the run's. False: not enough memory. */
bool session_interval(const glcnn_trainer *s, struct interval *interval);

/* ---- What a report tells (train_findings.c) ---- */

/* Has the next validation find what a report tells; where there is none it does nothing. */
bool session_begin_findings(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH]);
/* Of all ranks, what each has found of its share. */
bool session_sum_findings(glcnn_trainer *s, char error[GLCNN_ERROR_LENGTH]);

/* ---- Beginning and end (train_begin.c) ---- */

/* Opens the next part of all that a run needs, and tells of it; *is_open is true once there is none left. */
glcnn_status session_open_part(glcnn_trainer *s, bool *is_open);
void session_end(glcnn_trainer *s);

/* ---- A step (train.c, train_speed.c, train_divergence.c) ---- */

/* One step on the loader's next batch, of number `step`. *loss is the mean over the batch of all
 * ranks; *right, if not NULL, how many of it were classified right. False, and a message, if it
 * fails. */
bool session_step(glcnn_trainer *s, struct model *model, struct runner *runner,
                  glcnn_data_loader *loader, size_t step, float *loss, uint32_t *right,
                  char error[GLCNN_ERROR_LENGTH]);

/* Makes a step of those whose learning rates rise, and tells its loss; the last call suggests a rate and sets
 * *is_done (train_find.c). */
glcnn_status session_find_rate(glcnn_trainer *s, bool *is_done);

/* How many images a second a model like the session's trains on, in steps of zeros that are then
 * forgotten (train_speed.c). False, and a message, if it fails. */
bool session_measure(const glcnn_trainer *s, double *speed, char error[GLCNN_ERROR_LENGTH]);

/* Which node's result was the first that is not finite, when the loss of step `s->step` was not:
 * the steps behind the last checkpoint are repeated, with every result kept. Writes a clause of a
 * message, "" where that would take too long or shows nothing. */
void session_find_not_finite(glcnn_trainer *s, char clause[GLCNN_ERROR_LENGTH]);
/* Has the first rank say so where a step's plan takes more bytes than are free. */
void session_tell_memory(const glcnn_trainer *s, uint64_t planned);
/* What may help against a loss that is not finite: the learning rate where it can have been that. */
const char *session_advice(const glcnn_trainer *s);

#endif
