/* Measures how long kernels and training steps take on a device: each kernel on random images of a table of shapes,
 * steps of the networks of glcnn/train.h, and how fast labelled pictures are loaded. "glcnn bench" prints what is returned here.
 *
 *     glcnn_bench_create(&parameters, &bench, error);
 *     status = glcnn_bench_begin(bench, device, error);
 *     while (status == GLCNN_SUCCESS && (result = glcnn_bench_next(bench)) != NULL)
 *         ...
 *     glcnn_bench_destroy(&bench);
 *
 * Times of passes are timestamps of the GPU if the driver has GL_EXT_disjoint_timer_query, else wall time between two
 * waits. No row fills more than a quarter of the machine's memory.
 *
 * Part of libglcnn_train, not of libglcnn, and not included by glcnn/glcnn.h. Ownership: what a call returns as a
 * pointer to const is the bench's. Thread-safety: a bench is used on the thread of its device. */
#ifndef GLCNN_BENCH_H
#define GLCNN_BENCH_H

#include <glcnn/channel_format.h>
#include <glcnn/device.h>
#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero: all rows but those of data. Texts are the caller's and live as long as the bench. */
struct glcnn_bench_parameters {
    const char *kernel; /* only the rows of this kernel; NULL: all */
    const char *shape;  /* only the rows with this text in their name; NULL: all */
    /* Also load these pictures (glcnn/data.h), and take steps on their size; NULL: none. */
    const char *data;
    glcnn_channel_format format; /* of the images of kernels; NONE: FLOAT32 */
    bool quick; /* small batches and few samples, as on software rasterisers anyway */
    bool board; /* only steps at batch 64, by which boards are compared */
};

/* A row measures a kernel, forward or backward, or else a step or the loader. */
struct glcnn_bench_row {
    const char *name;
    /* [1] is the kernel that is measured; [0], or NULL, runs before it and counts with it. A step has none. */
    const char *kernels[2];
    uint32_t source[4]; /* of a kernel: images, channels, height, width */
    uint32_t batch;     /* of others */
};

/* A pass of one call or step. */
struct glcnn_bench_pass {
    char kernel[64], shader[96], implementation[64]; /* "": none */
    uint32_t dispatches;
    uint64_t operations, bytes;
    uint64_t begin, end; /* nanoseconds */
};

/* 0 stands for a number that is not known. */
struct glcnn_bench_result {
    const struct glcnn_bench_row *row;
    uint32_t size[4];  /* images, channels, height and width of the source as it was measured */
    double seconds;    /* of one call or step: the median of the samples */
    double spread;     /* the middle half of the samples, as a fraction of the median */
    double commit_cpu; /* processor seconds to issue a step */
    double bytes; /* of a kernel, read and written, each once; not what it leaves for a gradient */
    double operations;   /* of a kernel with weights; a multiplication and an addition are two */
    double times_floor;  /* ratio to the time that these bytes take at glcnn_bench_rate */
    uint32_t dispatches; /* of one call or step */
    uint32_t pass_count;
    const struct glcnn_bench_pass *passes;
    bool gpu_clock; /* they have timestamps of the GPU */
    bool left_out;  /* the device lacks the memory, its limits are too low, or pictures too few */
    char error[GLCNN_ERROR_LENGTH]; /* why it failed or was left out; "": neither */
};

typedef struct glcnn_bench glcnn_bench;

/* Lists rows. *bench is the caller's, NULL after a failure. Errors: GLCNN_INVALID_ARGUMENT where there is no such row or
 * kernel, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_bench_create(const struct glcnn_bench_parameters *parameters,
                                          glcnn_bench **bench, char error[GLCNN_ERROR_LENGTH]);
/* Number i of them; NULL beyond the last. */
GLCNN_API const struct glcnn_bench_row *glcnn_bench_row_at(const glcnn_bench *bench, size_t i);
/* Opens the data, and measures what memory can do on the device, which must outlive the bench. Errors: those of
 * glcnn_dataset_open. */
GLCNN_API glcnn_status glcnn_bench_begin(glcnn_bench *bench, glcnn_device *device,
                                         char error[GLCNN_ERROR_LENGTH]);
/* Bytes per second of the best of several kernels that do little but move them; 0: none could be measured. */
GLCNN_API double glcnn_bench_rate(const glcnn_bench *bench);
/* Are batches small, so that rates are those of caches? */
GLCNN_API bool glcnn_bench_is_small(const glcnn_bench *bench);
/* Measures the next row. The result lives until the next call; NULL: there is none any more. A result of a kernel that is
 * not finite fails its row. */
GLCNN_API const struct glcnn_bench_result *glcnn_bench_next(glcnn_bench *bench);
/* *bench becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_bench_destroy(glcnn_bench **bench);

#ifdef __cplusplus
}
#endif
#endif
