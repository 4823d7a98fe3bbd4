/* Neurons as other kernels use them: fused behind a convolution or a batch normalisation.
 *
 * A family with a fused neuron has a `struct glcnn_neuron_descriptor neuron` in its parameters,
 * NEURON_PARAMETERS in its table and, for slopes, NEURON_DATA_ARGUMENT among its arguments (as long
 * as the channels that the neuron works on).  A pass calls pass_neuron, then pass_neuron_data if it
 * reads the slopes; its body calls neuron(x, slope) or neuron_derivative(x, slope).
 *
 * A new type is an enumerator of glcnn_neuron_type, a row of NEURON_TYPES in neuron_types.h,
 * glsl/neuron/neuron_NAME.glsl and a node in nodes_neuron.c. */
#ifndef GLCNN_KERNELS_NEURON_INTERNAL_H
#define GLCNN_KERNELS_NEURON_INTERNAL_H

#include "glcnn/kernels/neuron.h"

#include "encode/descriptor.h"

extern const char *const neuron_type_names[]; /* NULL at the end */

#define NEURON_REAL(STRUCT, MEMBER, TEXT)                                                          \
    {                                                                                              \
        "neuron_" #MEMBER, TEXT, FIELD_FLOAT, offsetof(STRUCT, neuron.MEMBER), 0, -3.4e38, 3.4e38, \
            NULL                                                                                   \
    }

/* Rows of the parameter table of STRUCT; TYPE is the default type. */
#define NEURON_PARAMETERS(STRUCT, TYPE)                                                            \
    {"neuron_type",                                                                                \
     "function applied to every value",                                                            \
     FIELD_ENUM,                                                                                   \
     offsetof(STRUCT, neuron.type),                                                                \
     TYPE,                                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     neuron_type_names},                                                                           \
        NEURON_REAL(STRUCT, a, "first number of the function"),                                    \
        NEURON_REAL(STRUCT, b, "second number of the function"),                                   \
        NEURON_REAL(STRUCT, c, "third number of the function; -1 stands for e")

#define NEURON_DATA_ARGUMENT                                                                       \
    {                                                                                              \
        .name = "neuron_data", .place = PLACE_STATE_OR_KERNEL, .input = true, .optional = true     \
    }

/* Adds neuron/neuron.glsl and the type's own file, and uniforms neuron_a, neuron_b, neuron_c. */
void pass_neuron(struct pass *pass, const struct glcnn_neuron_descriptor *neuron);
/* The same of normalized_neuron, where another's pass has a neuron already. */
void pass_normalized_neuron(struct pass *pass, const struct glcnn_neuron_descriptor *neuron);
/* For `fuse`: the same of NAME_neuron. */
void pass_fused_neuron(struct pass *pass, struct fused_name *name,
                       const struct glcnn_neuron_descriptor *neuron);
/* Binds the slopes for neuron_slope(); does nothing for a type without any. */
void pass_neuron_data(struct pass *pass, const struct glcnn_neuron_descriptor *neuron,
                      const struct vector_view *data);

/* Length of NEURON_DATA_ARGUMENT: prelu, scale and shift have slopes. */
size_t neuron_data_length(const struct glcnn_neuron_descriptor *neuron, uint32_t channels);

/* f(x) in double precision; `slope` is the channel's number of NEURON_DATA_ARGUMENT, or 0. */
double neuron_value(const struct glcnn_neuron_descriptor *neuron, double slope, double x);

/* For descriptors' `neuron`. */
struct neuron_traits neuron_traits(const struct glcnn_neuron_descriptor *neuron);

/* For constructors: copies `from` to `to`, of the kernel's parameters, if its numbers make a
 * function. */
glcnn_status neuron_set(glcnn_kernel *kernel, struct glcnn_neuron_descriptor *to,
                        const struct glcnn_neuron_descriptor *from);

/* A message and false if the numbers make no function: a base of 0 or 1. */
bool neuron_check(const struct glcnn_neuron_descriptor *neuron, struct validation validation);

#endif
