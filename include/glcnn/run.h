/* One kernel on plain arrays, on the device or in its double-precision reference, and the check of
 * the one against the other. For tools, tests and bindings.
 *
 * Arrays are float32 in C order: images [N][C][H][W] (lower ranks take leading 1s), weights
 * [Co][Ci/groups][kH][kW], per-channel vectors [C], loss [N] or the image, optimizer vectors of any
 * rank.
 */
#ifndef GLCNN_RUN_H
#define GLCNN_RUN_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GLCNN_MAX_RANK 8

struct glcnn_array {
    const char *name; /* an argument's name in glcnn_kernel_info */
    uint32_t rank;
    uint32_t shape[GLCNN_MAX_RANK];
    float *data;
};

/* How to run. All zero: on the device, float32 images. */
struct glcnn_run_options {
    glcnn_channel_format format; /* of images, none, float32 or float16; labels, label weights and
                                    losses are float32 */
    /* Compute in double precision on the CPU; `device` is not used and may be NULL. */
    bool reference;
    /* Times that each kernel is committed on the device, 0 standing for 1: the samples of a benchmark
     * that glcnn_device_set_profile measures. Vectors that a kernel updates in place go on. */
    uint32_t commits;
};

/* Runs kernel `name`. A gradient kernel takes the forward kernel's parameters and builds the
 * forward state itself. Besides the kernel's own parameters `settings` take destination_width and
 * destination_height: the size of the (forward) result, which makes offsets count as they are set;
 * without them padding decides. A setting that another one leaves without an effect, as pad_left without
 * padding=custom, is refused by its name. All image inputs have as many images, unless offset_z or a clip
 * rectangle chooses some. An input that is optional and not given is computed by the kernels
 * that would have filled it. All outputs are returned in *outputs, *output_count of them, each with
 * its data, in one allocation to be released with glcnn_run_destroy.
 * On failure nothing is returned and `error`, if not NULL, has the message.
 * Errors: GLCNN_INVALID_ARGUMENT and whatever encode gives. */
GLCNN_API glcnn_status glcnn_run(glcnn_device *device, const char *name,
                                 const struct glcnn_setting *settings, size_t setting_count,
                                 const struct glcnn_array *inputs, size_t input_count,
                                 const struct glcnn_run_options *options,
                                 struct glcnn_array **outputs, size_t *output_count,
                                 char error[GLCNN_ERROR_LENGTH]);
GLCNN_API void glcnn_run_destroy(struct glcnn_array *outputs);

/* A line of an explanation; it lives until the callback returns, which must not call the library. */
typedef void (*glcnn_explain_callback)(void *user, const char *line);

/* Tells which implementations an encode of kernel `name` would take, why those before them in their
 * lists were not taken, and which passes that makes: the messages of log level debug, then a line
 * "pass 1: glsl/pooling/pooling_max.comp, 28x28x16 invocations, by pooling_one_pass" for each pass.
 * Nothing is recorded, compiled or run. `settings` are those of glcnn_run; `source` is the size of the
 * source, images, channels, height and width, of a gradient kernel that of the forward source. What
 * the forward pass leaves for a gradient is there, as in training.
 *
 * `gpu` NULL: for this device. Otherwise for the driver family of a GPU, by a name as the driver gives
 * it ("Mali-G52", "V3D 4.2") or by that of the family (glcnn_device_traits): its traits stand in for
 * those of the device, whose limits stay.
 * Errors: those of glcnn_run; GLCNN_INVALID_ARGUMENT for a GPU of no known family. */
GLCNN_API glcnn_status glcnn_explain(glcnn_device *device, const char *name,
                                     const struct glcnn_setting *settings, size_t setting_count,
                                     const uint32_t source[4], const char *gpu,
                                     glcnn_explain_callback line, void *user,
                                     char error[GLCNN_ERROR_LENGTH]);

/* One line of the self-check. */
struct glcnn_check_row {
    const char *kernel;
    uint32_t cases, failed;
    double largest_error;         /* in units of the bound: above 1 fails */
    const char *worst;            /* parameters and shape of the worst case */
    const char *error;            /* message of the first case that could not run, or NULL */
    uint32_t float16_cases;       /* of the cases, those with images stored as float16 */
    double largest_float16_error; /* of these alone */
};
typedef void (*glcnn_check_callback)(void *user, const struct glcnn_check_row *row);

/* Runs the cases of every kernel, or of kernel `name`, against the references in both storage
 * formats and calls `row` once a kernel. The bound is that of glcnn/image.h. `quick` takes small
 * shapes only. Where GLCNN_IMPLEMENTATIONS names implementations and kernel `name` has none of them,
 * nothing would check them: GLCNN_INVALID_ARGUMENT.
 * Returns GLCNN_SUCCESS when the check ran; *failed counts kernels with a failing case. */
GLCNN_API glcnn_status glcnn_check(glcnn_device *device, const char *name, bool quick,
                                   glcnn_check_callback row, void *user, size_t *failed);

#ifdef __cplusplus
}
#endif
#endif
