/* A model in use: what glcnn/task.h calls glcnn_model. */
#ifndef GLCNN_TASK_TRAINED_H
#define GLCNN_TASK_TRAINED_H

#include "flip.h"
#include "model.h"
#include "own_device.h"
#include "pictures.h"
#include "saved.h"
#include "score.h"

#define TRAINED_BATCH 32 /* pictures that run at once */

struct glcnn_model {
    struct own_device own; /* where the user gives none */
    struct saved saved;
    struct model model;
    struct runner runner; /* of the data that are under way */
    struct flip flip;
    float *values; /* of a batch's answers */
    struct glcnn_model_description info;
    struct glcnn_predictions *predictions; /* NULL: none is under way */
    /* Of the last evaluation. */
    struct glcnn_evaluation evaluation;
    double *parts; /* measures, then counts */
    struct text text, notes;
    char *json;
};

/* Makes the network that `saved` describes, without its weights. device NULL: the model opens one. */
glcnn_status trained_open(glcnn_model *model, glcnn_device *device, char error[GLCNN_ERROR_LENGTH]);
/* Has the model run batches of pictures, which are open. Errors: as glcnn_model_evaluate. */
glcnn_status trained_begin(glcnn_model *model, const struct pictures *pictures, bool flips,
                           char error[GLCNN_ERROR_LENGTH]);

/* Writes the message. Returns the status. */
glcnn_status trained_refuse(char error[GLCNN_ERROR_LENGTH], glcnn_status status,
                            const char *message);
/* The same of what the device says, or that there is no memory. */
glcnn_status trained_refuse_device(char error[GLCNN_ERROR_LENGTH], const glcnn_device *device);
/* A text that may not have been added to; NULL: not enough memory. */
const char *trained_text(const struct text *text);

#endif
