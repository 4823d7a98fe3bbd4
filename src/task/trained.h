/* A model in use: what glcnn/task.h calls glcnn_model. */
#ifndef GLCNN_TASK_TRAINED_H
#define GLCNN_TASK_TRAINED_H

#include "base/fail.h"
#include "flip.h"
#include "model.h"
#include "own_device.h"
#include "pictures.h"
#include "saved.h"
#include "score.h"

#define TRAINED_BATCH 32 /* pictures that run at once, unless there is but one */

/* The last evaluation keeps what it opened and counted, since a page may be drawn of it. */
struct evaluated {
    bool is_measured; /* it came to its end */
    char *data;       /* the path; NULL: there was none yet */
    struct pictures pictures;
    struct score score;
    struct findings findings; /* that the score has where a page is asked for */
    struct glcnn_evaluation result;
    double *parts; /* measures, then counts */
    struct text text, notes, remarks;
    char *json;
};

/* Runs the network on batches of one size. */
struct run {
    struct runner runner;
    uint64_t digest;             /* of the network as the runner was made of it */
    bool has_input, takes_bytes; /* what normalises pictures is made; those of bytes */
};

struct glcnn_model {
    struct own_device own; /* where the user gives none */
    char *path;            /* of its file; NULL: it was made */
    struct saved saved;
    struct model model;
    struct run one, many; /* of a picture, and of batches; kept from one call to the next */
    struct run *run;      /* of the last trained_begin */
    struct flip flip;
    float *values; /* of a batch's answers */
    struct glcnn_model_description info;
    struct glcnn_predictions *predictions; /* NULL: none is under way */
    struct evaluated evaluated;
};

/* Makes the network that `saved` describes, without its weights. device NULL: the model opens one. */
glcnn_status trained_open(glcnn_model *model, glcnn_device *device, char error[GLCNN_ERROR_LENGTH]);
/* Pictures of a batch where there are so many in all: what is computed and kept for others is lost. */
uint32_t trained_batch(uint32_t count);
/* Has the model run such batches of pictures, which are open. Errors: as glcnn_model_evaluate. */
glcnn_status trained_begin(glcnn_model *model, const struct pictures *pictures, uint32_t batch,
                           bool flips, char error[GLCNN_ERROR_LENGTH]);
/* Closes what the last evaluation opened. */
void trained_forget_evaluation(glcnn_model *model);

/* Writes what the device says, or that there is no memory. */
glcnn_status trained_refuse_device(char error[GLCNN_ERROR_LENGTH], const glcnn_device *device);
/* A text that may not have been added to; NULL: not enough memory. */
const char *trained_text(const struct text *text);
/* The same for whoever is shown the text: it says so itself where there is not enough memory. */
const char *trained_notes(const struct text *text);
/* Moves the remarks into `said`, in place of those of the last call, and returns them as trained_notes does. */
const char *trained_take_remarks(struct text *remarks, struct text *said);

#endif
