/* Labelled pictures: how glcnn/data.h is opened, and which part of the data is for what. */
#ifndef GLCNN_TASK_PICTURES_H
#define GLCNN_TASK_PICTURES_H

#include <glcnn/data.h>

#include "model.h"
#include "saved.h"
#include "base/text.h"

/* What is read where no data given: Fashion-MNIST, of Debian's dataset-fashion-mnist. */
#define PICTURES_DEFAULT "/usr/share/datasets/fashion-mnist"

/* The task that data look to be for: segment where there are masks beside the pictures, detect where
 * there are labels or annotations, otherwise classify. */
const struct task *pictures_task(const char *path);
/* The task for data of these targets, unless another is asked for. */
const struct task *pictures_task_of(glcnn_data_targets targets);

struct pictures_options {
    const char *path;   /* of an open set its name */
    glcnn_dataset *set; /* the caller's, which is open; NULL: the path is read */
    const struct task *task;
    const struct saved *like;         /* NULL, or what form and classes are to be those of */
    uint32_t width, height, channels; /* 0: as the data has them, or `like` */
    uint32_t resize;                  /* of struct form; 0: that of `like` */
    const glcnn_data_fit *fit;        /* NULL: that of `like`, or else the task's */
    double validation; /* share of the training part that is set aside to validate with; below 0: a
                          tenth; nothing where the data has a validation part */
    bool must_split;   /* that share is asked for: it must not come to nothing */
    bool trains;       /* there must be something to validate with */
    uint64_t seed;
    const char *mask_colours; /* of struct glcnn_data_parameters; NULL: none */
    bool strict;
};

struct pictures {
    glcnn_dataset *set;
    bool is_callers; /* the set, which stays open */
    const struct glcnn_data_info *info;
    struct form form;
    glcnn_data_part validation; /* never the test part, which no choice is made by */
    glcnn_data_part test; /* the validation part where there is none, or else the training part */
    uint32_t told;        /* notes that were described, or passed over */
    uint32_t passed;      /* of these passed over */
};

/* Release with pictures_close, after a failure too. False, and a message: no such data, or nothing
 * to validate with. */
bool pictures_open(const struct pictures_options *options, struct pictures *pictures,
                   char error[GLCNN_ERROR_LENGTH]);
/* Files without labels, all in the test part, of the form of `like`. */
bool pictures_open_files(const char *const *paths, uint32_t count, const struct saved *like,
                         struct pictures *pictures, char error[GLCNN_ERROR_LENGTH]);
/* A part of an open set of the caller's, whatever its labels, likewise: it is in place of the test part. */
bool pictures_take_part(glcnn_dataset *set, glcnn_data_part part, const struct saved *like,
                        struct pictures *pictures, char error[GLCNN_ERROR_LENGTH]);
void pictures_close(struct pictures *pictures);
/* Adds what opening decided to a text, a line each. */
void pictures_describe_decisions(const struct pictures *pictures, struct text *text);
/* Adds of which pictures of a part the network sees the middle alone, a line for each size. */
void pictures_describe_middle(const struct pictures *pictures, glcnn_data_part part,
                              struct text *text);
/* Adds what was skipped since the last call, a line each. */
void pictures_describe_skipped(struct pictures *pictures, struct text *text);
/* Passes over what was skipped so far: another process reports it. */
void pictures_pass_skipped(struct pictures *pictures);

/* Names a picture of a part by its path, or by its number where one file, or no file, has all. */
void pictures_name(const glcnn_dataset *set, glcnn_data_part part, uint32_t index, char *name,
                   size_t size);
/* Are these images of one size that were never scaled? */
bool pictures_are_table(const struct glcnn_data_info *info);

/* A loader of interleaved values as the data has them, bytes or float32. */
bool pictures_load(const struct pictures *pictures,
                   const struct glcnn_data_loader_parameters *parameters,
                   glcnn_data_loader **loader, char error[GLCNN_ERROR_LENGTH]);
/* Has a runner take the batches of such loaders, augmented, where `augment` is not NULL, and
 * normalised as `saved` has it. False: the device has the message. */
bool pictures_take(const struct pictures *pictures, const struct saved *saved,
                   const struct augment *augment, uint64_t seed, struct runner *runner);

#endif
