/* Declares what the measurements share. bench.c goes through the rows; bench_shapes.c is the table of kernels; bench_kernel.c
 * measures one of them, bench_step.c a step of training, bench_load.c the loader; bench_passes.c records passes.
 *
 * Room: How long kernels, training steps and the loader take. Includes public headers, base/ and task/. */
#ifndef GLCNN_BENCH_BENCH_H
#define GLCNN_BENCH_BENCH_H

#include <glcnn/bench.h>
#include <glcnn/glcnn.h>

#include "task/pictures.h"

/* ---- Rows ---- */

enum bench_flags {
    BENCH_READS_SOURCE = 1, /* the gradient needs the forward source, whose bytes count */
    BENCH_TAKES_RESULT = 2, /* the gradient takes the forward result in place of the source */
    BENCH_SETS_RATE = 4,    /* its forward kernel does little but move memory */
    BENCH_POSITIVE = 8      /* its source is above 0 */
};

#define BENCH_REGIONS 32 /* of an image, where a kernel reads some */
#define BENCH_ANCHORS 5  /* boxes of a cell */

/* A kernel on random images. */
struct bench_shape {
    const char *name, *kernel;
    uint32_t source[4];                /* images, channels, height, width */
    uint32_t window, stride, outputs;  /* squares, and output channels; 0: the kernel's default */
    unsigned flags;                    /* of enum bench_flags */
    struct glcnn_setting settings[10]; /* further parameters; name NULL at the end */
    const char *gradient;              /* NULL: the one that the kernel's description names */
    const char *statistics[2];         /* a kernel that runs before each, and counts with it */
};
extern const struct bench_shape bench_shapes[]; /* name NULL at the end */

/* A part of a shape is measured by itself: its forward kernel; its gradient, or, if that has the parameter
 * gradient_option, the gradients for its source and for its weights. */
enum bench_part { BENCH_FORWARD, BENCH_GRADIENT, BENCH_DATA, BENCH_WEIGHTS, BENCH_PARTS };

struct bench_row {
    struct glcnn_bench_row shown;
    char name[96];
    const struct bench_shape *shape; /* NULL: a step of `net`, or without that the loader */
    enum bench_part part;
    const char *net;
};

/* ---- Passes (bench_passes.c) ---- */

/* The passes are those of one commit, or of several of the same command buffer. */
struct bench_passes {
    struct glcnn_bench_pass *items;
    size_t count, capacity;
    bool gpu_clock, failed; /* failed: for want of memory */
};

/* Records the passes of all commits from now on, or with NULL no more. */
glcnn_status bench_record(glcnn_device *device, struct bench_passes *passes);
void bench_passes_free(struct bench_passes *passes);

/* ---- Measurements ---- */

#define BENCH_ROWS 400 /* at most */

struct glcnn_bench {
    struct glcnn_bench_parameters asked;
    glcnn_device *device;
    bool small;       /* batches of kernels are scaled down */
    struct form form; /* of the pictures of steps */
    struct pictures pictures;
    double rate; /* bytes per second, the best seen; 0: not measured */
    struct bench_row rows[BENCH_ROWS];
    size_t row_count, next;
    struct bench_passes passes; /* of the last result */
    struct glcnn_bench_result result;
};

/* Close the pictures after a failure too. False, and a message: there are none to train with. */
bool bench_open_data(glcnn_bench *bench, char error[GLCNN_ERROR_LENGTH]);

/* Measure a row. What fails is told in result->error. */
void bench_run_kernel(glcnn_bench *bench, const struct bench_row *row,
                      struct glcnn_bench_result *result);
void bench_run_step(glcnn_bench *bench, const struct bench_row *row,
                    struct glcnn_bench_result *result);
void bench_run_loading(glcnn_bench *bench, const struct bench_row *row,
                       struct glcnn_bench_result *result);
/* Sets the median and the spread; sorts the samples. */
void bench_set_times(struct glcnn_bench_result *result, double *samples, size_t count);
/* Says that a row failed, or was left out, with the message that it has or the device's. */
void bench_fail(struct glcnn_bench_result *result, const glcnn_device *device, glcnn_status status);
/* Has the result show the passes of a call or step, which become the bench's. */
void bench_take_passes(glcnn_bench *bench, struct bench_passes *passes,
                       struct glcnn_bench_result *result);

#endif
