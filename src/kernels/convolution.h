/* What the files of the convolution family share. Arguments go by these indices. */
#ifndef GLCNN_KERNELS_CONVOLUTION_INTERNAL_H
#define GLCNN_KERNELS_CONVOLUTION_INTERNAL_H

#include "glcnn/kernels/convolution.h"

#include "kernel.h"

enum { SOURCE, RESULT, WEIGHTS, BIASES, NEURON_DATA }; /* arguments of a forward kernel */
enum {                                                 /* of a gradient kernel */
       GRADIENT,
       IMAGE,
       DESTINATION,
       GRADIENT_WEIGHTS,
       GRADIENT_FOR_WEIGHTS,
       GRADIENT_FOR_BIASES
};

/* Channels as they are dealt out: output o of group o / outputs_per_group sees inputs_per_group. */
struct channels {
    uint32_t inputs, outputs, groups, inputs_per_group, outputs_per_group;
};
struct channels convolution_channels(const struct operation *operation);

/* The window that the data gradient follows. By hand the gradient is placed by kernel_offset and
 * the primary offset (spec 5.5 and 5.6), while operation->window serves the gradient of the
 * weights. */
struct window convolution_data_window(const struct operation *operation);

bool convolution_wants(const struct operation *operation, glcnn_gradient_option option);

void plan_convolution(const struct operation *operation, struct plan *plan);
void plan_convolution_gradient(const struct operation *operation, struct plan *plan);
void plan_fully_connected_gradient(const struct operation *operation, struct plan *plan);
void convolution_reference(const struct reference *reference);
void convolution_gradient_reference(const struct reference *reference);

#endif
