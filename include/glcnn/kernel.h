/* Kernels: objects that encode one operation. MPSKernel, MPSCNNKernel, MPSCNNBinaryKernel,
 * MPSCNNGradientKernel; spec 5 and 6.
 *
 * Each operation has a typed constructor in its family's header (glcnn/kernels/FAMILY.h). A kernel
 * may be used for any number of encodes; an encode captures all property values at that moment.
 *
 * What goes for one family alone its header says, also where a MPS client may see another result.
 * For all kernels (spec 12.35, 12.36 and 12.39):
 *   - what edge mode zero reads outside is 0 in every channel, where MPS has 1 in the fourth
 *     component of formats without alpha;
 *   - a result that a returning encode makes has the format of the primary source, which for a
 *     gradient kernel is the source gradient; MPS does not say. Of a Unorm8 source it is float32;
 *   - states are shared by a batch, and modified, as the functions at the end of the encodes tell;
 *     MPS names convolution and batch normalisation and does not list the rest.
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_KERNEL_H
#define GLCNN_KERNEL_H

#include <glcnn/image.h>
#include <glcnn/padding.h>
#include <glcnn/state.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_kernel glcnn_kernel;

/* MPSImageEdgeMode: the value of reads outside the source. */
typedef enum glcnn_edge_mode {
    GLCNN_EDGE_MODE_ZERO = 0,
    GLCNN_EDGE_MODE_CLAMP = 1, /* the nearest pixel inside; average pooling cuts its window */
    GLCNN_EDGE_MODE_FORCE32 = 0x7fffffff
} glcnn_edge_mode;

/* How a kernel walks one of its sources. For destination column X and j = X - clip origin the
 * window's taps are at columns  offset.x + stride*j - floor(Kd/2) + dilation*p,  p < kernel_width,
 * Kd = (kernel_width - 1)*dilation + 1 (spec 5.3). An offset of 0 puts the window's centre, not
 * its left edge, on pixel 0. */
struct glcnn_source_properties {
    /* The window's centre for the clip rectangle's first pixel; z: the first image. */
    struct glcnn_offset offset;
    glcnn_edge_mode edge_mode;            /* default zero */
    uint32_t feature_channel_offset;      /* first channel read, multiple of 4, default 0 */
    uint32_t feature_channel_max_count;   /* channels read at most, default UINT32_MAX */
    uint32_t kernel_width, kernel_height; /* window, default 1 */
    uint32_t stride_in_pixels_x, stride_in_pixels_y; /* default 1; arithmetic: 0 re-reads a pixel */
    uint32_t stride_in_feature_channels; /* arithmetic: default 1; 0 re-reads the first channel */
    uint32_t dilation_rate_x, dilation_rate_y; /* default 1 */
};

/* A node that stands for an image, and one that stands for a kernel: glcnn/node.h. They are named
 * here because the header of a family declares its nodes beside its kernels. */
typedef struct glcnn_image_node glcnn_image_node;
typedef struct glcnn_filter_node glcnn_filter_node;

/* Pixels that the source has more on each side, with values as the edge mode says, where the padding
 * policy is GLCNN_PADDING_CUSTOM; negative: fewer. Along an axis of n source pixels, with Kd as
 * above,
 *
 *   size of the result   floor((n + left + right - Kd) / stride) + 1
 *   first window         begins at pixel -left
 *
 * and of a convolution transpose, where they are pixels that the result has fewer,
 *
 *   size of the result   (n - 1) stride + Kd - left - right */
struct glcnn_padding_pixels {
    int32_t left, right, top, bottom;
};

/* Properties of every kernel. `primary` is its only or first source, the source gradient of a gradient
 * kernel; `secondary` the second, the forward source image. By hand (spec 5.5) pixel i of the source
 * gradient stands at stride * (i - primary offset) - kernel_offset of the result (kernels/pooling.h). */
struct glcnn_addressing {
    struct glcnn_source_properties primary, secondary;
    /* What is written, default everything; pixels outside keep their contents. */
    struct glcnn_region clip_rect;
    uint32_t destination_feature_channel_offset; /* first channel written, multiple of 4 */
    int32_t kernel_offset_x, kernel_offset_y; /* gradient kernels; 1 moves the result left, or up */
    /* Pooling gradients: the part of the gradient that is used, default everything. */
    struct glcnn_size source_size;
    uint32_t padding; /* returning encodes only; GLCNN_PADDING_* bits, default _DEFAULT */
    struct glcnn_padding_pixels pad; /* for GLCNN_PADDING_CUSTOM; default 0 */
    bool result_is_ordinary; /* returning encodes: make ordinary, not temporary images and states */
};

/* The kernel's properties, to read and to change: `glcnn_kernel_properties(k)->padding = ...`.
 * They are checked at encode. Valid while the kernel lives; NULL for NULL. */
GLCNN_API struct glcnn_addressing *glcnn_kernel_properties(glcnn_kernel *kernel);

/* Creates a kernel by name ("pooling_average_gradient") with default parameters: for tools and
 * bindings; programs use the typed constructors. The caller owns it.
 * Errors: GLCNN_INVALID_ARGUMENT for an unknown name. */
GLCNN_API glcnn_status glcnn_kernel_create(glcnn_device *device, const char *name,
                                           glcnn_kernel **kernel);

/* A new kernel with all properties, parameters and vectors of `kernel`, on the same or another
 * device. The caller owns it. */
GLCNN_API glcnn_status glcnn_kernel_copy(glcnn_kernel *kernel, glcnn_device *device,
                                         glcnn_kernel **copy);

/* Gives up the caller's reference; *kernel becomes NULL. */
GLCNN_API void glcnn_kernel_destroy(glcnn_kernel **kernel);

GLCNN_API const char *glcnn_kernel_name(const glcnn_kernel *kernel);

/* A name of the caller's for this kernel, copied, which messages of errors give beside the
 * kernel's own name; NULL: none, as at first. A copy of the kernel has it too. MPSKernel's label.
 */
GLCNN_API glcnn_status glcnn_kernel_set_label(glcnn_kernel *kernel, const char *label);
GLCNN_API const char *glcnn_kernel_label(const glcnn_kernel *kernel);

/* Any property or parameter by its name in `glcnn kernels`, "stride_in_pixels_x" or "epsilon", as
 * a number. Errors: GLCNN_INVALID_ARGUMENT for an unknown name or a value out of range. */
GLCNN_API glcnn_status glcnn_kernel_set(glcnn_kernel *kernel, const char *name, double value);
GLCNN_API glcnn_status glcnn_kernel_get(glcnn_kernel *kernel, const char *name, double *value);

/* The same for a parameter of 64 bits, exact where a double rounds (beyond 2^53): the seed of
 * dropout. Errors: as above, also for any other parameter. */
GLCNN_API glcnn_status glcnn_kernel_set_uint64(glcnn_kernel *kernel, const char *name,
                                               uint64_t value);
GLCNN_API glcnn_status glcnn_kernel_get_uint64(glcnn_kernel *kernel, const char *name,
                                               uint64_t *value);

/* Encodes that the kernel has made, replays of those of dropout included: its masks follow the
 * count, so a kernel that is to go on as another would takes the other's. */
GLCNN_API uint32_t glcnn_kernel_encode_count(const glcnn_kernel *kernel);
GLCNN_API void glcnn_kernel_set_encode_count(glcnn_kernel *kernel, uint32_t count);

/* The device that the kernel was made on; NULL for NULL. */
GLCNN_API glcnn_device *glcnn_kernel_device(const glcnn_kernel *kernel);

/* Whether the kernel has a vector of that name in memory, as one that was set or used has.
 * glcnn_kernel_vector would make it, of neutral values. */
GLCNN_API bool glcnn_kernel_has_vector(const glcnn_kernel *kernel, const char *name);

/* Elements of a vector that the kernel owns, whether it is in memory or not. 0 if the kernel has no
 * vector of that name, or its length is not known yet, as that of a normalisation before its first
 * encode. Where it is not 0 and glcnn_kernel_vector gives NULL, making the vector failed. */
GLCNN_API size_t glcnn_kernel_vector_length(const glcnn_kernel *kernel, const char *name);

/* A vector that the kernel owns ("weights", "biases", "gamma" ...), made of neutral values where it
 * is not in memory yet; it lives as long as the kernel. Write it with glcnn_buffer_write: the next
 * encode, or the next replay, uses the new values.
 *
 * NULL for one of three reasons, which glcnn_device_error tells: the kernel has no vector of that
 * name; its length is not known yet, as that of a normalisation before its first encode; or making
 * it failed, for want of memory or because the device is lost or another thread's. The first two
 * are answers and not failures: the log has no line of them. */
GLCNN_API glcnn_buffer *glcnn_kernel_vector(const glcnn_kernel *kernel, const char *name);

/* Gives the kernel `count` float32 values for one of its vectors, immediately. Constants (is_constant
 * of glcnn_argument_info) are checked by glcnn_kernel_wrong_value; "indices" do not change from the
 * first encode on.
 * Errors: GLCNN_INVALID_ARGUMENT if the kernel has no such vector or it has another length, or a value
 * of a constant is wrong; GLCNN_INVALID_STATE for other indices than those that were encoded. */
GLCNN_API glcnn_status glcnn_kernel_set_vector(glcnn_kernel *kernel, const char *name,
                                               const float *values, size_t count);

/* The index of the first value with which a vector of that name ("weights", "variance" ...) computes
 * nonsense; `count` where there is none. Values are finite, within 1e19 of 0, so that their squares are
 * float32, a variance is not below 0, and indices are whole numbers from 0 to 16777215. *expected, if not NULL, has that as a part of a message.
 * `vector` NULL: values need only be finite. Checkpoints and ONNX models are read, and they and
 * serialised kernels and graphs written, by this. Thread-safety: safe. */
GLCNN_API size_t glcnn_kernel_wrong_value(const char *vector, const float *values, size_t count,
                                          const char **expected);

/* Records a copy of a buffer into one of the kernel's vectors: the GPU-ordered reload. Indices
 * are refused. */
GLCNN_API glcnn_status glcnn_kernel_encode_reload(glcnn_command_buffer *command_buffer,
                                                  glcnn_kernel *kernel, const char *name,
                                                  glcnn_buffer *source);

/* Records copies of the kernel's vectors of weights, biases, gamma, beta, mean and variance into a
 * state, as they are when the copies run: temporary unless result_is_ordinary. The caller owns it.
 * exportWeightsAndBiasesWithCommandBuffer: and MPSCNNConvolutionWeightsAndBiasesState,
 * MPSCNNNormalizationGammaAndBetaState, MPSCNNNormalizationMeanAndVarianceState.
 * Errors: GLCNN_INVALID_ARGUMENT if the kernel has none, or the length of one is not known yet. */
GLCNN_API glcnn_status glcnn_kernel_encode_export_state(glcnn_command_buffer *command_buffer,
                                                        glcnn_kernel *kernel, glcnn_state **state);

/* Records copies of the same vectors, those that kernel and state both have by name, from a state
 * into the kernel; a temporary state loses one read. Gradients whose forward encode used the kernel
 * come before it: the state of batch and instance normalisation refers to the kernel's gamma and
 * beta. reloadWeightsAndBiasesWithCommandBuffer:state:, reloadGammaAndBetaWithCommandBuffer:,
 * reloadMeanAndVarianceWithCommandBuffer:. Errors: GLCNN_INVALID_ARGUMENT if the two have no vector
 * in common or one has another length; then nothing is recorded. */
GLCNN_API glcnn_status glcnn_kernel_encode_reload_state(glcnn_command_buffer *command_buffer,
                                                        glcnn_kernel *kernel, glcnn_state *state);

#define GLCNN_CALL_VECTORS 5

/* What an encode works on. Fields that a kernel does not have stay NULL; one that it needs and is
 * NULL is an error that names it. */
struct glcnn_encode {
    glcnn_image *source;    /* the (primary) source; the source gradient of a gradient kernel */
    glcnn_image *secondary; /* second source; the forward source image of a gradient kernel (the
                               forward result for soft-max and log-soft-max) */
    glcnn_state *state;     /* gradient state, or the state to fill */
    glcnn_image *destination;
    glcnn_image *labels, *label_weights, *loss; /* loss kernels only, glcnn/kernels/loss.h */
    glcnn_buffer *vectors[GLCNN_CALL_VECTORS];  /* optimizers only, glcnn/kernels/optimizer.h */
};

/* Non-returning encode: properties are used as they are set and padding is ignored.
 * With `state`, a unary kernel also fills it; a gradient kernel reads it and obeys the exact rule
 * of spec 5.5: for every source pixel the sum over all results that depend on it. Only where an
 * addressing property was set by hand, to neither its default, nor what its constructor gave it,
 * nor what the state says, nor what the kernel last took over from another state, the manual
 * addressing of spec 5.5 and 7.1 holds. So one gradient kernel serves the states of any number of
 * encodes. (MPS takes defaults, and what was taken over, literally here.) By hand the gradient of a
 * kernel whose results read one pixel of each source goes pixel by pixel: for pixel j of the clip
 * rectangle, counted from its origin, the gradient is read at primary offset + kernel offset + j
 * and is 0 outside its image, whatever the edge mode; the source image is read at secondary offset
 * + j, by its edge mode outside. Offsets may be negative. Sums that go into a state are over the
 * pixels of the gradient from that of j = 0 on.
 *
 * On failure nothing is recorded, and kernel, states and images are as they were.
 * Errors: GLCNN_INVALID_ARGUMENT for what does not fit together, or is NULL and needed;
 * GLCNN_INVALID_STATE for a temporary image or state that is spent or another command buffer's, for
 * a vector of the state that nothing has filled yet, and for a state without room for one. */
GLCNN_API glcnn_status glcnn_kernel_encode(glcnn_command_buffer *command_buffer,
                                           glcnn_kernel *kernel,
                                           const struct glcnn_encode *arguments);

/* Returning encode: padding (or the gradient state) sets offset and size, a new image is made
 * (temporary unless result_is_ordinary) and returned in *destination, and if `state` is not NULL
 * and the kernel makes one, a gradient state in *state. The caller owns both. The kernel's offset
 * keeps the value that was used. arguments->destination must be NULL. On failure both are NULL. */
GLCNN_API glcnn_status glcnn_kernel_encode_returning(glcnn_command_buffer *command_buffer,
                                                     glcnn_kernel *kernel,
                                                     const struct glcnn_encode *arguments,
                                                     glcnn_image **destination,
                                                     glcnn_state **state);

/* The non-returning encode over `count` images: the loop of single encodes over index i, except
 * where a shared state accumulates (convolution, batch normalisation). Each arguments[i].state may
 * be NULL as in a single encode, of some of the batch too; states may be one and the same. An image
 * or a temporary state that appears several times loses one read. On failure nothing is recorded,
 * and kernel, states and images are as they were.
 * Errors: those of glcnn_kernel_encode; GLCNN_INVALID_ARGUMENT for an empty batch. */
GLCNN_API glcnn_status glcnn_kernel_encode_batch(glcnn_command_buffer *command_buffer,
                                                 glcnn_kernel *kernel,
                                                 const struct glcnn_encode *arguments,
                                                 size_t count);

/* The returning encode over `count` images, forward or gradient: destinations[i] is the image for
 * arguments[i], whose destination must be NULL. Sizes may differ from image to image, but not where
 * gradients are to follow a state that they share; the kernel's offset keeps the value of the last.
 * If `states` is not NULL, states[i] is the state that was made for arguments[i], NULL where there
 * is none or arguments[i].state was given; a kernel whose state serves a whole batch makes one,
 * which all of states[i] refer to. The caller owns each destinations[i] and each states[i], a
 * shared one count times over, and destroys them one by one. Pixels and states are, bit for bit,
 * those of single returning encodes in the order of the batch.
 *
 * On failure nothing is recorded, nothing is left of what was made, all of destinations[i] and
 * states[i] are NULL, and the kernel is as it was.
 * Errors: those of glcnn_kernel_encode_returning; GLCNN_INVALID_ARGUMENT for an empty batch.
 *
 * encodeBatchToCommandBuffer:sourceImages:, with destinationStates:destinationStateIsTemporary:, of
 * MPSCNNBinaryKernel with primaryImages:secondaryImages:, and of MPSCNNGradientKernel with
 * sourceGradients:sourceImages:gradientStates:. */
GLCNN_API glcnn_status glcnn_kernel_encode_batch_returning(glcnn_command_buffer *command_buffer,
                                                           glcnn_kernel *kernel,
                                                           const struct glcnn_encode *arguments,
                                                           size_t count, glcnn_image **destinations,
                                                           glcnn_state **states);

/* What the returning encode would make, and sets the kernel's offset (and for a gradient kernel
 * with `state` all addressing properties) as it would. destinationImageDescriptorForSource... */
GLCNN_API glcnn_status glcnn_kernel_prepare_destination(glcnn_kernel *kernel,
                                                        const struct glcnn_encode *arguments,
                                                        struct glcnn_image_descriptor *result);

/* Makes a state for a later encode to fill, empty: what it will hold, sizes and properties too, is
 * that encode's. So `arguments`, which MPS wants here, are not read and may be NULL, and properties
 * may change until the encode. *state is NULL with GLCNN_SUCCESS for a kernel that makes none. With
 * `command_buffer` the state is temporary (temporaryResultState), without it an ordinary one
 * (resultState). The caller owns it. Errors: GLCNN_INVALID_ARGUMENT where `state` is NULL or the
 * command buffer is another device's. */
GLCNN_API glcnn_status glcnn_kernel_result_state(glcnn_command_buffer *command_buffer,
                                                 glcnn_kernel *kernel,
                                                 const struct glcnn_encode *arguments,
                                                 glcnn_state **state);

/* The same for a batch of `count` encodes, into states[0] .. states[count - 1]: each a state of its
 * own, or, of a kernel whose state serves a whole batch, all the same one, which the caller then
 * owns count times over. All NULL, with GLCNN_SUCCESS, for a kernel that makes none, and on
 * failure. A count of 0 makes none.
 *
 * resultStateBatchForSourceImage:sourceStates:destinationImage:, and with a command buffer
 * temporaryResultStateBatchForCommandBuffer:sourceImage:sourceStates:destinationImage:. */
GLCNN_API glcnn_status glcnn_kernel_result_state_batch(glcnn_command_buffer *command_buffer,
                                                       glcnn_kernel *kernel,
                                                       const struct glcnn_encode *arguments,
                                                       size_t count, glcnn_state **states);

/* Whether one state serves a whole batch (convolution, batch normalisation), whether a whole batch
 * must be encoded before results are used, and whether encoding writes the state it accepts. */
GLCNN_API bool glcnn_kernel_is_result_state_reused_across_batch(const glcnn_kernel *kernel);
GLCNN_API bool glcnn_kernel_append_batch_barrier(const glcnn_kernel *kernel);
GLCNN_API bool glcnn_kernel_is_state_modified(const glcnn_kernel *kernel);

/* ---- What kernels there are: for tools, bindings and documents ---- */

typedef enum glcnn_parameter_type {
    GLCNN_PARAMETER_INTEGER,
    GLCNN_PARAMETER_REAL,
    GLCNN_PARAMETER_BOOLEAN,
    GLCNN_PARAMETER_ENUMERATION,
    GLCNN_PARAMETER_FORCE32 = 0x7fffffff
} glcnn_parameter_type;

struct glcnn_parameter_info {
    const char *name, *text;
    glcnn_parameter_type type;
    double default_value, minimum, maximum; /* legal range, both ends included */
    const char *const *value_names;         /* enumeration: names of values 0 .., NULL at the end */
};

struct glcnn_argument_info {
    const char *name;
    bool is_image;            /* an image; otherwise a vector */
    bool is_input, is_output; /* read, written; some are both */
    bool is_optional; /* may be left out: computed by the kernels that fill it, or neutral */
    bool is_float32;  /* an image that glcnn_run stores as float32 whatever the format: a loss */
    bool is_constant; /* a vector that does not train, and goes where parameters go */
};

struct glcnn_kernel_info {
    const char *name, *mps_class, *text; /* mps_class NULL: MPS has none */
    const char *gradient;                /* name of the gradient kernel, NULL if there is none */
    const char *without_gradient;        /* then: why, a message */
    bool is_random;     /* each encode draws numbers, by its seed and glcnn_kernel_encode_count */
    bool is_transposed; /* enlarges: its strides are steps of the result */
    size_t argument_count, parameter_count;
    const struct glcnn_argument_info *arguments;
    const struct glcnn_parameter_info *parameters;
    /* Names of the implementations that its passes choose from, NULL at the end: what the environment's
     * GLCNN_IMPLEMENTATIONS takes, separated by commas. */
    const char *const *implementations;
};

/* How many kernels there are, and one of them in the order of names; NULL beyond the last. Without
 * the memory for their tables, which the first call makes and the process keeps, there are none.
 * Thread-safety: safe. */
GLCNN_API size_t glcnn_kernel_count(void);
GLCNN_API const struct glcnn_kernel_info *glcnn_kernel_info_at(size_t index);
/* By name; NULL if there is none. */
GLCNN_API const struct glcnn_kernel_info *glcnn_kernel_info_by_name(const char *name);

/* ---- Settings by name: for tools, bindings and documents ---- */

struct glcnn_setting {
    const char *name; /* a parameter's name */
    double value;
    uint64_t whole; /* the same exactly, where it is a whole number above 2^53; else 0 */
};

/* Reads "NAME=VALUE" for kernel `kernel`: a number, in any locale with a point, or a value's name
 * for an enumeration ("edge_mode=clamp"), true or false, infinity. Whole numbers of up to 64 bits,
 * in decimal digits or in hexadecimal ones behind 0x, are kept exactly
 * ("seed=18446744073709551615"). Besides parameters NAME may be padding (valid, same, full), align
 * (centered, top_left, bottom_right), remainder (top_left, top_right, bottom_left, bottom_right),
 * exclude_edges, destination_width and destination_height. A gradient kernel takes its forward
 * kernel's names too. An offset, edge mode, padding or size that the kernel does not read is refused.
 * *setting refers to storage that lives for ever.
 * Errors: GLCNN_INVALID_ARGUMENT, with the message in `error`. */
GLCNN_API glcnn_status glcnn_setting_parse(const char *kernel, const char *text,
                                           struct glcnn_setting *setting,
                                           char error[GLCNN_ERROR_LENGTH]);

/* Writes the end of a message about a word, of `length` bytes, that is none of `count` names:
 * "; did you mean padding? There are padding, align and remainder". The name is the one that the
 * fewest letters make of the word, changed, left out, added or swapped, where that is a third of
 * them at most; otherwise the text begins "; there are". The list is left out where it does not fit
 * into `size` bytes; "" if nothing does. Thread-safety: safe. */
GLCNN_API void glcnn_suggest(const char *word, size_t length, const char *const *names,
                             size_t count, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
