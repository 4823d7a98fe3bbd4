/* Classifying a picture and its mirror image: the mean of both probabilities. */
#ifndef GLCNN_TASK_FLIP_H
#define GLCNN_TASK_FLIP_H

#include "model.h"

/* All zero: pictures are classified as they are. */
struct flip {
    void *pictures; /* a batch, mirrored from left to right */
    float *results; /* of that */
};

/* For the batches of a runner that infers. False, and a message: not enough memory, or pictures are not
 * classified. Release with flip_end, after a failure too. */
bool flip_begin(const struct runner *runner, struct flip *flip, char error[GLCNN_ERROR_LENGTH]);
void flip_end(struct flip *flip);

/* As runner_run_batch, which does not train. */
bool flip_run(struct flip *flip, struct runner *runner, const struct glcnn_data_batch *batch,
              float *result);

#endif
