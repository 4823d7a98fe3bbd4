/* What the files of the convolution family share. Arguments go by these indices. */
#ifndef GLCNN_KERNELS_CONVOLUTION_INTERNAL_H
#define GLCNN_KERNELS_CONVOLUTION_INTERNAL_H

#include "glcnn/kernels/convolution.h"

#include "encode/kernel.h"
#include "kernels/neuron.h"

enum { SOURCE, RESULT, WEIGHTS, BIASES, NEURON_DATA }; /* arguments of a forward kernel */
enum {                                                 /* of a gradient kernel */
       GRADIENT,
       IMAGE,
       DESTINATION,
       GRADIENT_WEIGHTS,
       GRADIENT_FOR_WEIGHTS,
       GRADIENT_FOR_BIASES,
       /* Of a data gradient that serves as another kernel's forward pass, added to its sums: */
       GRADIENT_BIASES,
       GRADIENT_NEURON_DATA
};

/* Of a number of which 0 stands for the default, 1. */
static inline uint32_t one_if_zero(uint32_t value)
{
    return value ? value : 1;
}

/* ---- What the numbers come to (convolution_geometry.c) ---- */

/* The source of the layer, also of a gradient. */
const struct image_view *convolution_source(const struct operation *operation);

/* Channels as they are dealt out: output o of group o / outputs_per_group sees inputs_per_group. */
struct channels {
    uint32_t inputs, outputs, groups, inputs_per_group, outputs_per_group;
};
struct channels convolution_channels(const struct operation *operation);

/* The window that the data gradient follows. By hand the gradient is placed by kernel_offset and
 * the primary offset (spec 5.5 and 5.6), while operation->window serves the gradient of the
 * weights. */
struct window convolution_data_window(const struct operation *operation);

/* Pixels of the result along each axis for one of the sum over windows. */
uint32_t convolution_scale_factor(const struct operation *operation);
/* The window of a forward kernel's sums, which count from the corner of the region; a region that
 * the scale factor does not divide has the last of them in part. */
struct window convolution_sum_window(const struct operation *operation);

bool convolution_wants(const struct operation *operation, glcnn_gradient_option option);

/* Output channels whose weights get a gradient: all, if nobody says. */
struct channel_range convolution_trainable(const struct operation *operation);
bool convolution_trainable_check(const struct operation *operation, struct validation validation);
/* The layer of the trainable channels: the gradient of their weights is that of one that has no
 * others. */
struct trainable_layer {
    struct operation operation;
    struct glcnn_convolution_parameters parameters;
};
void convolution_trainable_layer(const struct operation *operation, struct trainable_layer *layer);

/* ---- For descriptors of layers whose arguments are those of a convolution ---- */

#define CONVOLUTION_WINDOW (HAS_WINDOW | HAS_STRIDE | HAS_DILATION)

/* For graphs. */
const char *convolution_undifferentiable(const void *parameters);
struct neuron_traits convolution_neuron(const void *parameters);
extern const struct argument convolution_arguments[], convolution_gradient_arguments[];

/* Defines glcnn_NAME_create of glcnn_kernel_NAME. */
#define DEFINE_CONVOLUTION_CREATE(NAME)                                                            \
    glcnn_status glcnn_##NAME##_create(                                                            \
        glcnn_device *device, const struct glcnn_convolution_descriptor *descriptor,               \
        const struct glcnn_convolution_weights *weights, glcnn_kernel **kernel)                    \
    {                                                                                              \
        return convolution_create(device, &glcnn_kernel_##NAME, descriptor, weights, kernel);      \
    }

extern const struct parameter convolution_transpose_parameters[],
    convolution_transpose_gradient_parameters[];
glcnn_status convolution_create(glcnn_device *device, const struct glcnn_descriptor *descriptor,
                                const struct glcnn_convolution_descriptor *d,
                                const struct glcnn_convolution_weights *weights,
                                glcnn_kernel **kernel);
/* The vectors of a kernel whose parameters are set; `weights` may be NULL. */
glcnn_status convolution_set_weights(glcnn_kernel *kernel,
                                     const struct glcnn_convolution_descriptor *d,
                                     const struct glcnn_convolution_weights *weights);
void convolution_result_shape(const struct operation *operation,
                              struct glcnn_image_descriptor *result);
size_t convolution_length(const struct operation *operation, size_t index);
bool convolution_lacks(const void *parameters, size_t index);
size_t convolution_gradient_length(const struct operation *operation, size_t index);
bool convolution_check(const struct operation *operation, struct validation validation);
bool convolution_gradient_check(const struct operation *operation, struct validation validation);

extern const struct implementation_list *const convolution_implementations[];
void plan_convolution(const struct operation *operation, struct plan *plan);
/* The operation, its sums for biases to be lost where nobody wants them. */
struct operation convolution_with_sums(const struct operation *operation, struct plan *plan);
void plan_convolution_gradient(const struct operation *operation, struct plan *plan);
void plan_fully_connected_gradient(const struct operation *operation, struct plan *plan);

#endif
