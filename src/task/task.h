/* What a network is for: a table, of which each row says how labels come to the loss, what the loss
 * is, what is measured, and how answers are told. Adding a task is a file of its own, task_NAME.c, which
 * the build finds.
 *
 * Room: What networks are for: models, tasks, their targets, losses, answers and measures, and model
 * files. Includes public headers and base/. */
#ifndef GLCNN_TASK_TASK_H
#define GLCNN_TASK_TASK_H

#include <cjson/cJSON.h>
#include <glcnn/task.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/show.h"
#include "detection_decode.h"
#include "nets.h"

struct model;
struct runner;
struct score;

/* A picture's answer, for people and for programs. */
struct answer {
    const char *picture;      /* what it is called */
    uint32_t width, height;   /* of it, in whose pixels the answer is told */
    const float *values;      /* task->values of them */
    const char *const *names; /* of classes */
    const struct form *form;
    uint32_t top; /* classes that are told, where a task has several answers */
    struct glcnn_detection_limits
        limits; /* of what is told and drawn: of boxes all, of keypoints the score */
    const struct glcnn_detection
        *boxes; /* box_count of them, within the limits; NULL: not decoded yet */
    uint32_t box_count;
    cJSON *object;     /* for programs: gets the answer; NULL: `text` does */
    struct text *text; /* for people: lines are added to it */
};

/* A value at which a file for other programs ends. */
#define TASK_ENDS 8
struct task_end {
    glcnn_image_node *node;
    char name[32];
    bool is_inner; /* no output of the file, and in place of these one at which it is read again */
};

/* A loss of a task. */
struct task_loss {
    const char *name; /* of --loss */
    const char *text;
    /* The labels' nodes and the losses, means over batches of `batch`, by model_add_labels and
     * model_add_loss. */
    bool (*add)(struct model *model, uint32_t batch);
};

#define MISTAKE_NUMBERS 4

/* A line each on what a network said of a picture, and on what is true; "": none. */
struct remark {
    char said[192], is[192];
};

#define TASK_PART_NAME 256

/* The classes, numbers or keypoints that a task learns, each with a measure of its own. */
struct task_parts {
    const char *name;    /* of one: "class" */
    const char *measure; /* "AP@0.5" */
    const char *counted; /* what it is measured on: "pictures" */
    uint32_t (*count)(const struct form *form);
    /* Writes the measure of each, NaN where there is none, and how many it is measured on. False: not enough
     * memory. */
    bool (*measured)(const struct score *score, double *measures, double *counts);
    /* What part k is called; gives `text`. NULL: names[k] */
    const char *(*name_of)(const char *const *names, uint32_t k, char text[TASK_PART_NAME]);
    /* How those are found that are small or large, a sentence without its end; "": there is nothing to say. NULL:
     * parts have no size. */
    void (*describe_sizes)(const struct score *score, char text[TASK_PART_NAME]);
};

#define TASK_BOXES 300

/* Augmentation may change pictures so far where nobody says how far; all zero: not at all. Sides are shares of
 * the shorter side. */
struct task_changes {
    bool flips; /* where the names of classes and keypoints allow it */
    double crop, rotate, scale, cutout;
    bool reflects; /* what lies outside, where no object can be doubled without its label */
};

struct truth;
struct canvas;

struct task {
    union {
        struct glcnn_task_info info;
        struct {                 /* its members, in their order */
            const char *name;    /* of --task, and in a model file */
            const char *text;    /* what it does, for --help */
            const char *measure; /* what is shown: "accuracy" */
            const char *explains;
            const char *classes; /* what form.classes counts: "classes" */
            glcnn_data_targets targets;
        };
    };
    bool is_asked_for; /* its data look like another task's, so that only who asks for it has it */
    const char *words; /* for --help: lines of its name, what it learns from, and its losses */
    struct task_changes changes;
    const char *ranked;  /* of what the best epoch has most; NULL: the measure */
    const char *nothing; /* what there is where the measure is not defined: "no objects" */
    const char *gives;   /* what a network for it gives that ends as `build` has it */
    const char *output;  /* what that is called in files for other programs: "scores" */
    /* Can it learn from data of such targets? NULL: it can. False: a message without the data's name. */
    bool (*check)(const struct glcnn_data_info *info, char error[GLCNN_ERROR_LENGTH]);
    /* What turns the pictures turns the labels too. */
    bool labels_turn;
    /* Labels are keypoints, of which those called left and right change places in a mirrored picture. */
    bool has_sides;
    /* A label is one class and an answer the probabilities of all: labels can be weighted, smoothed and mixed, and
     * answers to a picture and its mirror image have a mean. */
    bool is_one_class;
    bool joins_pictures; /* labels can follow four pictures into one, a mosaic */
    /* A network that was trained for the task of that name can be trained on for this one, with another head; NULL:
     * there is no such task. */
    const char *begins_with;
    bool keeps_count;   /* a network of it is trained on with as many classes as it has */
    glcnn_data_fit fit; /* how pictures come to the network's size, unless that is asked for */

    /* ---- The network ---- */

    /* Behind features of pictures of `form`: what the loss is computed of. NULL: the device has the
     * message. */
    glcnn_image_node *(*build)(const struct features *features, const struct form *form);
    /* What labels of the filters that `build` adds begin with: it does so behind the features of any
     * network. NULL: it is the net's own last layers. */
    const char *head;
    /* What labels of the layers begin with that have a row of weights for each class; NULL: it is the one that
     * makes the scores. */
    const char *class_layers;
    uint32_t row_names; /* names that a row is for, a keypoint's x and y; 0: 1 */
    /* Behind model->scores, or in place of what there is already: model->probabilities, which is
     * what the network answers. Part of the network and its file. */
    bool (*finish)(struct model *model);
    /* model->probabilities where `finish` left it out, without description. */
    glcnn_image_node *(*answer)(const struct model *model);
    /* Writes where a file for other programs ends into `ends`, and returns how many they are; 0, with a message: the
     * network lacks them. NULL: at one value, the scores where `answer` makes what it answers of them, else what it
     * answers. */
    uint32_t (*find_ends)(const struct model *model, struct task_end ends[TASK_ENDS],
                          char error[GLCNN_ERROR_LENGTH]);
    /* Makes of the ends of a network that was read of such a file, in that order, what the network answers; units: as
     * model_read_units has them, of a task that has some. NULL: they are others. The member NULL: they are it. */
    glcnn_image_node *(*join_ends)(const struct form *form, glcnn_image_node *const ends[],
                                   uint32_t count, const float *units);
    /* The grids of its boxes. NULL: it has none. */
    struct detection_layout (*layout)(const struct form *form);
    const struct task_loss *losses; /* the first is the default; a NULL name ends */

    /* ---- Batches ---- */

    /* Of image number `index` of those that the loss made nodes for. */
    struct glcnn_image_descriptor (*labels)(const struct form *form, uint32_t index,
                                            uint32_t batch);
    /* Writes the labels of a batch into runner->labels, or has runner->given_labels be others. False:
     * the device has the message. */
    bool (*write_labels)(struct runner *runner, const struct glcnn_data_batch *batch);
    /* Numbers of an answer. */
    size_t (*values)(const struct form *form);
    /* How many scores, [count][classes], are right; NULL: that cannot be said of a score. */
    uint32_t (*count_right)(const float *scores, const struct form *form, const uint32_t *labels,
                            uint32_t count);

    /* ---- Scores ---- */

    size_t (*sums)(const struct form *form); /* numbers that are added up over pictures */
    /* Adds picture `n` of a batch, of finite values; its loss is added to score->loss. */
    void (*add)(struct score *score, const float *values, const struct glcnn_data_batch *batch,
                uint32_t n);
    /* How many pictures the sum of the losses is divided by; NULL: all that were counted. */
    double (*pictures)(const struct score *score);
    /* NaN: it is not defined. */
    double (*measured)(const struct score *score);
    /* Returns the number that epochs are compared by, as `ranked` names it, and the measure in *measure.
     * NULL: that is the measure. */
    double (*rank)(const struct score *score, double *measure);
    /* The measure of pictures of which number i is drawn times[i] times, and how many numbers that goes through.
     * NULL: `measured` needs no more than the sums, which are those of score_count. */
    double (*measured_drawn)(const struct score *score, const uint32_t *times);
    size_t (*drawn_numbers)(const struct score *score);
    /* Of the best answer that is the same for all pictures. NULL: 0. */
    double (*chance)(const struct score *score);
    void (*release)(
        struct score *score); /* what the task has put into score->kept; NULL: nothing */
    /* The same as numbers, for ranks of which each has seen its share: how many, 0 where there is no
     * memory; written; and those of all ranks, one behind another, in place of it. False: no memory. Of
     * tasks that release something. */
    size_t (*kept_numbers)(struct score *score);
    void (*write_kept)(const struct score *score, double *numbers);
    bool (*read_kept)(struct score *score, const double *numbers, size_t count);
    /* Why a score may say nothing, in a sentence; false: there is no doubt. NULL: there is none ever. */
    bool (*doubts)(const struct score *score, const char *const *names,
                   char text[GLCNN_ERROR_LENGTH]);
    void (*print)(const struct score *score, const char *const *names, struct text *text);
    void (*describe)(const struct score *score, const char *const *names, cJSON *object);
    const struct task_parts *parts;
    bool draws_matrix; /* the score is worth a drawing: its confusion matrix */

    /* ---- Reports ---- */

    /* What the sums count, where they are a confusion matrix, [classes][classes]: "pictures". NULL:
     * they are none. */
    const char *counted;
    /* What is wrong with a picture's answer, in numbers of the task's own; false: nothing. NULL: the loss
     * says it. */
    bool (*judge)(const struct score *score, const float *values,
                  const struct glcnn_data_batch *batch, uint32_t n,
                  double numbers[MISTAKE_NUMBERS]);
    /* The same in words. */
    void (*remark)(const double numbers[MISTAKE_NUMBERS], const char *const *names,
                   struct remark *remark);

    /* Draws into the pictures of a batch as runner->input made them, [height][width][3] of the form, `count` of
     * them, what the task learns of each. The runner need not have more than task, device, form, batch and the
     * input that has run. False: not enough memory, or the device has the message. NULL: there is nothing to draw. */
    bool (*draw_labels)(struct runner *runner, const struct glcnn_data_batch *batch, uint32_t count,
                        const char *const *names, uint8_t *const pixels[]);
    /* Draws what is true of a whole picture into it. NULL: there is nothing to draw. */
    void (*draw_truth)(const struct truth *truth, const struct canvas *canvas);

    /* ---- Answers ---- */

    enum { TASK_LIMITS_NONE, TASK_LIMITS_CONFIDENCE, TASK_LIMITS_BOXES } limits; /* that it heeds */
    void (*tell)(const struct answer *answer);
    /* Draws the answer into the picture, [answer->height][answer->width][3]. NULL: there is nothing to
     * draw. */
    void (*show)(const struct answer *answer, uint8_t *pixels);
    /* The class of each pixel of the picture, [answer->height][answer->width], GLCNN_DATA_NO_CLASS where the
     * network does not see it. NULL: pixels have none. */
    void (*mask)(const struct answer *answer, uint8_t *classes);
    /* Boxes in the whole picture, the likeliest first, at most TASK_BOXES; how many. NULL: it finds none. */
    uint32_t (*boxes)(const struct answer *answer, struct glcnn_detection *boxes);
    /* Places in it: how many a form has, and they. NULL: it finds none. */
    uint32_t (*point_count)(const struct form *form);
    void (*points)(const struct answer *answer, struct glcnn_point *points);
};

#define TASK_UNITS "units_" /* what labels of the fixed scale and shift of regress begin with */

/* All tasks, in the order of their names, and NULL: the build finds them (build/tasks.c). */
extern const struct task *const task_registry[];

/* For tasks whose labels and answers are a row of form.classes numbers for each picture. */
struct glcnn_image_descriptor task_row_labels(const struct form *form, uint32_t index,
                                              uint32_t batch);
size_t task_row_values(const struct form *form);

/* As task_parts has it, of tasks that have a part for each of form->classes. */
uint32_t task_count_classes(const struct form *form);

/* The name of what epochs are compared by. */
const char *task_ranked(const struct task *task);

/* What was measured, or task->nothing where that is NaN; gives `text`. */
#define TASK_MEASURED 32
const char *task_write(const struct task *task, double measured, char text[TASK_MEASURED]);

/* By name; NULL: there is none such. */
const struct task *task_find(const char *name);
/* Number i; NULL beyond the last. The first is the default. */
const struct task *task_at(size_t i);
/* That of a form. */
const struct task *task_of(const struct form *form);
/* A loss of it by its name; NULL: there is none such. */
const struct task_loss *task_find_loss(const struct task *task, const char *name);
/* The number that a form has it by. */
uint32_t task_number(const struct task *task);

/* Finds where files of the model's network for other programs end, by the task's find_ends if it has one. Returns the
 * number of ends; 0, with a message: the network lacks them. */
uint32_t task_find_ends(const struct model *model, struct task_end ends[TASK_ENDS],
                        char error[GLCNN_ERROR_LENGTH]);

#endif
