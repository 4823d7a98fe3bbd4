/* What the files of the optimizers share. */
#ifndef GLCNN_KERNELS_OPTIMIZER_INTERNAL_H
#define GLCNN_KERNELS_OPTIMIZER_INTERNAL_H

#include "glcnn/kernels/optimizer.h"

#include "encode/kernel.h"

/* Arguments; then a second state vector where there is one, and the result last. */
enum { GRADIENT, VALUES, FIRST };

/* Fails where there is no kernel, or one that is no optimizer. */
glcnn_status optimizer_check(const struct glcnn_command_buffer *command_buffer,
                             glcnn_kernel *kernel, const char *where);

/* The vectors of one encode in the order of the arguments. */
glcnn_status optimizer_vectors(const glcnn_kernel *kernel, struct glcnn_buffer *gradient,
                               struct glcnn_buffer *values, struct glcnn_buffer *first,
                               struct glcnn_buffer *second, struct glcnn_buffer *result,
                               struct glcnn_encode *arguments);

/* `encode_vectors` of every optimizer. */
glcnn_status optimizer_encode_vectors(glcnn_command_buffer *command_buffer, glcnn_kernel *kernel,
                                      glcnn_buffer *gradient, glcnn_buffer *values,
                                      glcnn_buffer *first, glcnn_buffer *second, size_t decayed);

/* The argument "result". */
int optimizer_result_index(const struct operation *operation);

/* Learning rate of step t, with the moments' bias taken out; time_step is t already. */
double optimizer_adam_rate(const struct glcnn_optimizer_parameters *p, double t);

#endif
