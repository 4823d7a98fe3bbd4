/* Multi-tensor updates: one pass for the vectors of many kernels, which lie beside each other in
 * memory, in place of one for each vector: most are short, and a pass takes some microseconds. */
#ifndef GLCNN_MULTI_TENSOR_H
#define GLCNN_MULTI_TENSOR_H

#include "encode/kernel.h"

struct recording;

/* Kernels that one pass steps: their optimizers, set alike, and their vectors. */
enum step_role { STEP_VALUES, STEP_GRADIENTS, STEP_FIRST, STEP_SECOND, STEP_ROLES };
struct multi_tensor_step {
    struct glcnn_kernel **optimizers;
    size_t count;
    struct glcnn_buffer *vectors[STEP_ROLES]; /* of all kernels; NULL: the optimizers keep none */
    bool decays_weights_only;                 /* as they were when it was recorded */
    size_t decayed;                           /* values that decay, which come first */
};

struct multi_tensor_steps {
    struct multi_tensor_step *items;
    size_t count;
};

/* Finds the kernels that glcnn_kernel_set_training lets train, whose optimizers are set alike, and
 * whose vectors lie or can be laid beside each other; marks them in the recording's `stepped`. */
glcnn_status multi_tensor_steps_find(struct recording *recording);
/* Records a pass for each. */
glcnn_status multi_tensor_steps_record(const struct multi_tensor_steps *steps,
                                       struct glcnn_command_buffer *command_buffer);
/* Before a commit: are the optimizers of each step still set alike, and let the same vectors decay? */
bool multi_tensor_steps_are_alike(const struct multi_tensor_steps *steps);
/* After a commit, whether it failed or not: the parameters that it advanced in the first optimizer
 * of each step are copied to the others. */
void multi_tensor_steps_advance(const struct multi_tensor_steps *steps);
/* Before the commit that follows a skipped step: fills the gradients with 0. No pass writes what
 * lies between the vectors, and the skipped step left NaN there. */
glcnn_status multi_tensor_steps_clear(const struct multi_tensor_steps *steps);
void multi_tensor_steps_free(struct multi_tensor_steps *steps);

/* Records one pass for the running averages of batch statistics of all kernels that are trained and
 * that the graph has once, if their vectors can be laid beside each other; marks their filters in
 * the recording's `averaged`. */
glcnn_status multi_tensor_averages_record(struct recording *recording);

#endif
