/* glcnn bench: what its parts share. bench.c has the command line and runs the rows; bench_shapes.c
 * is the table of kernels; bench_kernel.c measures one of them and bench_step.c a step of training;
 * bench_passes.c records their passes and writes the trace, bench_report.c prints results, and
 * bench_compare.c compares two reports. */
#ifndef GLCNN_TOOL_BENCH_H
#define GLCNN_TOOL_BENCH_H

#include "task/pictures.h"
#include "tool.h"

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

/* What is measured of a shape: its forward kernel; its gradient, or, where that has the parameter
 * gradient_option, the gradients for its source and for its weights. */
enum bench_part { BENCH_FORWARD, BENCH_GRADIENT, BENCH_DATA, BENCH_WEIGHTS, BENCH_PARTS };

struct bench_row {
    char name[96];
    const char *kernels[2];          /* kernels[1] is measured with its statistics, if it has any */
    const struct bench_shape *shape; /* NULL: a step of `net`, or without that the loader */
    enum bench_part part;
    const char *net;
    uint32_t batch;
};

/* ---- Data (bench_load.c) ---- */

/* Close with pictures_close, after a failure too. False, and a message: there are none to train with. */
bool bench_open_data(const char *path, struct pictures *pictures, char error[GLCNN_ERROR_LENGTH]);
/* That of networks that classify such pictures. */
struct form bench_form_of(const struct pictures *pictures);

/* ---- Passes (bench_passes.c) ---- */

/* Of one commit, or of several of the same command buffer. */
struct bench_pass {
    char kernel[64], shader[96], implementation[64]; /* "": none */
    uint32_t dispatches;
    uint64_t operations, bytes;
    uint64_t begin, end; /* nanoseconds */
};
struct bench_passes {
    struct bench_pass *items;
    size_t count;
    bool gpu_clock, failed; /* failed: for want of memory */
};

/* Records the passes of all commits from now on, or with NULL no more. */
glcnn_status bench_record(glcnn_device *device, struct bench_passes *passes);
void bench_passes_free(struct bench_passes *passes);

/* ---- Reports ---- */

struct bench_request {
    const char *kernel, *shape, *compare, *trace, *data; /* NULL: not given */
    bool quick, json, list, force;
    glcnn_channel_format format;
    struct tool_device tool;
};

struct bench_result {
    uint32_t size[4];            /* images, channels, height and width of the source */
    double seconds;              /* of one call or step: the median of the samples */
    double spread;               /* the middle half of the samples, as a fraction of the median */
    double commit_cpu;           /* processor seconds to issue a step; 0: not known */
    double bytes;                /* read and written, each once; 0: not known */
    double operations;           /* a multiplication and an addition are two; 0: not counted */
    uint32_t passes, dispatches; /* of one call or step */
    bool left_out;               /* the device lacks the memory, or its limits are too low */
    char error[GLCNN_ERROR_LENGTH]; /* "": none */
};

/* All of a report but the rows. */
struct bench_report {
    const struct bench_request *request;
    const struct glcnn_device_properties *device;
    bool small;                      /* batches of kernels are scaled down */
    struct form form;                /* of the pictures of steps */
    const struct pictures *pictures; /* of --data; NULL: none */
    double copy_rate;                /* bytes per second, the best seen; 0: not measured */
    cJSON *rows;
    cJSON *events;     /* of the trace; NULL: none is written */
    double trace_time; /* microseconds: where the next row starts in the trace */
    bool gpu_clock;    /* the trace has timestamps of the GPU */
    size_t failed;
};

/* The form of pictures of steps without --data. */
extern const struct form bench_form;

/* Run one row. What fails is told in result->error. */
void bench_run_kernel(struct bench_report *report, const struct bench_row *row,
                      struct bench_result *result);
void bench_run_step(struct bench_report *report, const struct bench_row *row,
                    struct bench_result *result);
void bench_run_loading(struct bench_report *report, const struct bench_row *row,
                       struct bench_result *result);
/* Sets the median and the spread; sorts the samples. */
void bench_set_times(struct bench_result *result, double *samples, size_t count);
/* Says that a row failed, or was left out, with the message that it has or the device's. */
void bench_fail(struct bench_result *result, const glcnn_device *device, glcnn_status status);

/* Counts the passes of a call or step and adds them to the trace. */
void bench_add_passes(struct bench_report *report, const struct bench_row *row,
                      const struct bench_passes *passes, struct bench_result *result);
int bench_trace_write(const struct tool_command *command, struct bench_report *report);

/* ---- Reporting (bench_report.c, bench_compare.c) ---- */

void bench_print_head(const struct bench_report *report);
/* Prints a result, unless the request is for JSON, and adds it to report->rows. */
void bench_add_result(struct bench_report *report, const struct bench_row *row,
                      const struct bench_result *result);
/* The whole report; takes report->rows. */
cJSON *bench_json(struct bench_report *report);

/* Reads a report of --json; NULL after a complaint. */
cJSON *bench_read(const struct tool_command *command, const char *path);
/* Compares the rows that both reports have. EXIT_FAILED where one is slower. */
int bench_compare(const struct tool_command *command, const cJSON *old_report,
                  const cJSON *new_report);

#endif
