/* Kernels, and what of them is shared by all operations.
 *
 * Room: The kernel in general: what a descriptor can say, parameters, geometry, states, weights,
 * and encoding, which turns a kernel and its images into passes. Knows no operation by name.
 * Includes image/ and the rooms below it. */
#ifndef GLCNN_KERNEL_INTERNAL_H
#define GLCNN_KERNEL_INTERNAL_H

#include "encode/descriptor.h"

/* Rounding of weights: `scales` parts, each of whose largest is `levels` steps. levels 0: none. */
struct weight_rounding {
    uint32_t levels, scales;
};

struct glcnn_kernel {
    struct glcnn_device *device;
    int references;
    const struct glcnn_descriptor *descriptor;
    struct glcnn_addressing properties;
    struct glcnn_addressing adopted; /* values not set by hand: as the kernel was made, and
                                        over them what it last took over from a state */
    void *parameters;                /* descriptor->parameters_size bytes */
    struct glcnn_buffer *vectors[MAX_ARGUMENTS]; /* made at first need */
    uint32_t encode_count;                       /* encodes so far */
    struct channel_range trainable;              /* output channels that graphs train */
    struct weight_rounding weight_rounding;
    struct data_source *data_source; /* NULL: none */
    char *label, *display_name;      /* NULL without a label */
};

struct glcnn_kernel *kernel_retain(struct glcnn_kernel *kernel);

/* A kernel with default parameters. */
glcnn_status kernel_create(struct glcnn_device *device, const struct glcnn_descriptor *descriptor,
                           glcnn_kernel **kernel);
/* glcnn_kernel_set with what glcnn_setting_parse has read. */
glcnn_status kernel_set(struct glcnn_kernel *kernel, const struct glcnn_setting *setting);
/* How messages call the kernel: its name, with its label if it has one. */
const char *kernel_display_name(const struct glcnn_kernel *kernel);
/* The kernel's parameters if it is of `family`; NULL otherwise. For typed accessors. */
void *kernel_parameters(const struct glcnn_kernel *kernel, const char *family);
/* The kernel's vector of an argument, made with its neutral value if there is none yet. */
glcnn_status kernel_vector(struct glcnn_kernel *kernel, size_t index, size_t length,
                           struct glcnn_buffer **buffer);
/* Has this buffer the length that the kernel needs of its vector `index`? */
glcnn_status kernel_check_vector(const struct glcnn_kernel *kernel, size_t index, size_t length,
                                 const struct glcnn_buffer *buffer);

/* Are all properties and parameters in their ranges? A message names the first that is not. */
glcnn_status kernel_check(const struct glcnn_kernel *kernel);
/* For constructors, which set fields: all numbers of a window, its width and height, the strides and
 * the dilation rates, of the source that has it, the secondary one of a gradient kernel; and what
 * comes last, the check. What a constructor sets is not set by hand: a state brings its own. Where
 * `status` or the check is no success *kernel is destroyed. */
void kernel_set_window(struct glcnn_kernel *kernel, const uint32_t window[6]);
glcnn_status kernel_finish(glcnn_kernel **kernel, glcnn_status status);
/* What a constructor that the build makes (src/kernels/constructors.awk) sets, by the name of an argument: a
 * parameter, of a gradient kernel also one of its secondary source; or `count` values of a vector, which NULL and
 * 0 leave as it is; or all parameters of the family at once. */
struct kernel_value {
    const char *name;
    double number;
    uint64_t whole; /* the number exactly, of a parameter of 64 bits */
    const float *vector;
    size_t count;
    bool all;
    const void *parameters; /* NULL is refused */
};
/* Sets values up to one without a name that is not `all`, in their order; NULL: none. */
glcnn_status kernel_set_values(struct glcnn_kernel *kernel, const struct kernel_value *values);
/* The whole constructor. */
glcnn_status kernel_create_of(struct glcnn_device *device,
                              const struct glcnn_descriptor *descriptor,
                              const struct kernel_value *values, glcnn_kernel **kernel);

/* Index of the argument that is a vector of the kernel's own; -1: there is none of that name. */
int kernel_kept_argument(const struct glcnn_kernel *kernel, const char *name);
/* Length of such a vector, with `channels` (0: not known) of the source: by the parameters, else
 * that of the vector there is; 0: only an encode will tell. */
size_t kernel_vector_length(const struct glcnn_kernel *kernel, size_t index, uint32_t channels);

/* An optimizer's encodes that are parts of one step. */
struct step_encodes {
    const struct glcnn_encode *arguments; /* [count] */
    const size_t *decayed;                /* [count]: values that decay, from the first on */
    size_t count;
    const struct vector_view *from,
        *to; /* copied in the same plan; NULL, or without buffers: none */
};
glcnn_status kernel_encode_step(struct glcnn_command_buffer *command_buffer,
                                struct glcnn_kernel *kernel, const struct step_encodes *step);

/* ---- Parameter tables (parameters.c) ---- */

/* The largest legal value; of an enumeration that of its last name. */
double parameter_maximum(const struct parameter *row);

/* Tables of properties that a descriptor's kernels have, one after the other; ends with NULL. */
#define MAX_TABLES 8
void property_tables(const struct glcnn_descriptor *descriptor,
                     const struct parameter *tables[MAX_TABLES]);
/* Does a kernel have a parameter of that name, and does what it computes depend on it? */
enum parameter_use { PARAMETER_LACKS, PARAMETER_IGNORES, PARAMETER_READS };
enum parameter_use parameter_use(const struct glcnn_descriptor *descriptor, const char *name);
/* True if each setting of a run has an effect. The message names the first that the kernel does not read, with those
 * it reads, or that another setting leaves without one, as pad_left without padding=custom is. Names that the kernel
 * does not have are passed over. */
bool settings_check_effect(const struct glcnn_descriptor *descriptor,
                           const struct glcnn_setting *settings, size_t count,
                           struct validation validation);
void properties_set_defaults(const struct glcnn_descriptor *descriptor,
                             struct glcnn_addressing *properties, void *parameters);
/* The end of the message that there is no such name: "; did you mean NAME?", or "". */
void parameter_suggest(const struct glcnn_descriptor *descriptor, const char *name,
                       char text[SUGGESTION]);
/* Sets by name in properties or parameters. False: no such name (message empty) or out of range.
 */
bool parameter_set(const struct glcnn_descriptor *descriptor, struct glcnn_addressing *properties,
                   void *parameters, const struct glcnn_setting *setting,
                   struct validation validation);
bool parameter_get(const struct glcnn_descriptor *descriptor,
                   const struct glcnn_addressing *properties, const void *parameters,
                   const char *name, double *value);
/* Where the kernel's parameters have the FIELD_UINT64 of that name; NULL: nowhere. */
uint64_t *parameter_uint64(const struct glcnn_kernel *kernel, const char *name);
/* Checks every value against its range. */
bool parameters_check(const struct glcnn_descriptor *descriptor,
                      const struct glcnn_addressing *properties, const void *parameters,
                      struct validation validation);

/* What a gradient kernel takes over from the forward kernel's parameters: every row that the
 * forward table has. Rows of the gradient's table alone stay its own. */
void parameters_adopt(const struct glcnn_descriptor *forward, const void *forward_parameters,
                      void *parameters);

#endif
