/* A shape that is measured: its images and command buffers, and its outputs. */
#ifndef GLCNN_TOOL_BENCH_WORK_H
#define GLCNN_TOOL_BENCH_WORK_H

#include "bench.h"

#define CHAIN_KERNELS 2 /* of a shape's part at most */

struct bench_job {
    const struct bench_report *report;
    const struct bench_shape *shape;
    enum bench_part part;
    struct bench_row *row;
    glcnn_device *device;
    uint64_t seed;
    glcnn_image *source, *second, *result, *gradient, *labels, *loss, *destination;
    glcnn_state *state;
    glcnn_buffer *vectors[GLCNN_CALL_VECTORS];
    glcnn_kernel *kernels[CHAIN_KERNELS];        /* of the part that is measured */
    struct glcnn_encode arguments;               /* of kernels of vectors alone */
    glcnn_command_buffer *prepare, *once, *many; /* one call, and as many as are timed */
    double weights;                              /* of the kernel made last */
};

size_t bench_image_elements(const struct glcnn_image_descriptor *descriptor);
/* Commits what was recorded and waits for it, unless `status` is a failure already, and destroys the
 * command buffer. Returns the first failure. */
glcnn_status bench_finish(glcnn_command_buffer *commands, glcnn_status status);
/* Copies one image's values into `count` images: those of the list, or, where it is NULL, the
 * first. */
glcnn_status bench_write_images(struct bench_job *work, glcnn_image *image, glcnn_buffer *values,
                                const uint32_t *which, uint32_t count);

/* Writes NaN into all outputs (bench_output.c), or looks whether one is left or infinite: the first
 * is said in the row's error. */
glcnn_status bench_each_output(struct bench_job *work, bool poison);

#endif
