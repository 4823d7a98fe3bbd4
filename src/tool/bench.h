/* glcnn bench: what its parts share. Shapes are rows of a table (bench_shapes.c); each gives one
 * measurement or more: forward, gradient, or gradients for data and for weights. bench_work.c makes
 * the images, states and command buffers of one, bench_time.c times it, bench_report.c tells of it,
 * bench_trace.c writes its passes, bench_scaling.c fits lines to times, bench_compare.c sets two reports beside each other. */
#ifndef GLCNN_TOOL_BENCH_H
#define GLCNN_TOOL_BENCH_H

#include "tool.h"

/* ---- Shapes (bench_shapes.c) ---- */

enum bench_flags {
    BENCH_READS_SOURCE = 1, /* the gradient needs the forward source, which counts in its bytes */
    BENCH_TAKES_RESULT = 2, /* the gradient is given the forward result, and needs it */
    BENCH_BARE = 4,         /* vectors that are optional are left out */
    BENCH_SETS_RATE = 8,    /* its forward kernel tells how fast memory is */
    BENCH_AS_IT_IS = 16,    /* where shapes are small too */
    BENCH_POSITIVE = 32     /* its first source is above 0 */
};

/* Kernels are separated by blanks and encoded one after the other with one state. */
struct bench_shape {
    const char *name;
    const char *forward;
    const char *gradient; /* NULL: is not measured */
    const char *settings; /* of the last forward kernel, "NAME=VALUE NAME=VALUE" */
    uint32_t source[4];   /* images, channels, height, width; a second source is as large,
                             chroma half as wide and high */
    unsigned flags;
};
extern const struct bench_shape bench_shapes[]; /* name NULL at the end; the first is the copy */

/* Steps of networks. */
struct bench_step {
    const char *net;
    uint32_t batch;
    bool large; /* left out where shapes are small */
};
extern const struct bench_step bench_steps[]; /* net NULL at the end */

/* ---- What is asked for ---- */

struct bench_request {
    const char *kernel, *shape, *compare, *trace; /* NULL: not given */
    bool quick, json, list, scaling;
    glcnn_channel_format format;
    struct tool_device tool;
};

/* What is measured of a shape. */
enum bench_part { BENCH_FORWARD, BENCH_GRADIENT, BENCH_DATA, BENCH_WEIGHTS, BENCH_PARTS };
extern const char *const bench_part_names[BENCH_PARTS];

/* ---- Work that is timed (bench_time.c) ---- */

/* Seconds. Of what is longer a commit has one: its flush (5 us on an H200) counts for a quarter of a
 * percent at most. */
#define BENCH_SHORT 0.002

/* Something that can be committed again and again. */
struct bench_work {
    glcnn_device *device;
    glcnn_status (*commit)(void *user);
    glcnn_status (*wait)(void *user);
    bool (*is_over)(void *user); /* never waits */
    void *user;
    uint32_t repeats; /* times that what is measured stands in a commit */
    bool streams;     /* a commit sends the GPU what it needs while the one before still runs */
};

struct bench_timing {
    double seconds;    /* of one of them: the median of the samples */
    double spread;     /* the middle half of the samples, as a share of the median */
    double commit_cpu; /* seconds of this thread's processor time that issuing one takes */
    uint32_t repeats;
};

/* ---- Results ---- */

struct bench_row {
    char name[96], kernels[128];
    uint32_t shape[4];
    struct bench_timing timing;
    double bytes;      /* that must be read and written, each once; 0: not known */
    double operations; /* a multiplication and an addition are two; 0: not counted */
    uint32_t passes, dispatches;
    bool left_out;                  /* the device has not the memory or the limits for it */
    char error[GLCNN_ERROR_LENGTH]; /* "": all is well */
};

/* All of a report but the rows. */
struct bench_report {
    const struct bench_request *request;
    const struct glcnn_device_properties *device;
    bool small;       /* shapes are scaled down */
    double copy_rate; /* bytes in a second, the best that was seen; 0: not measured */
    cJSON *rows;
    cJSON *events;     /* of the trace; NULL: none is written */
    double trace_time; /* microseconds; where the next pass stands in it */
    bool gpu_clock;    /* its times are the GPU's */
    size_t failed;
};

/* ---- Rows (bench_work.c, bench_step.c) ---- */

/* The sizes of a shape on this device: fewer images where it is small. */
void bench_scale(const struct bench_report *report, const struct bench_shape *shape,
                 uint32_t size[4]);
/* Measures one part of a shape. What fails is said in row->error. */
void bench_run_shape(struct bench_report *report, glcnn_device *device,
                     const struct bench_shape *shape, enum bench_part part, struct bench_row *row);
/* How a step comes by its pictures: they lie on the device already, or go up before each step as
 * float32, or as bytes of Unorm8, as the pictures of most data sets are. */
enum bench_feed { BENCH_RESIDENT, BENCH_FED, BENCH_FED_BYTES, BENCH_FEEDS };
/* Measures a step of a network. */
void bench_run_step(struct bench_report *report, glcnn_device *device,
                    const struct bench_step *step, enum bench_feed feed, struct bench_row *row);
/* For both: says what failed. */
void bench_fail(struct bench_row *row, glcnn_device *device, glcnn_status status);

/* ---- Times (bench_time.c) ---- */

/* How often work, of which a commit has one, should stand in each: so often that the flush at the end
 * of a commit counts for little, as in a step, where a commit has many kernels. */
glcnn_status bench_repeats(const struct bench_work *work, uint32_t *repeats);
glcnn_status bench_time(const struct bench_report *report, const struct bench_work *work,
                        struct bench_row *row);

/* ---- Series (bench_scaling.c) ---- */

/* Runs the series whose name has request->shape and prints them, or with `runs` false names them
 * where a list is asked for. Returns how many there are. */
size_t bench_scaling(struct bench_report *report, bool runs);

/* ---- Telling (bench_report.c, bench_trace.c, bench_compare.c) ---- */

/* Takes a row: prints it, or keeps it for the JSON. */
void bench_report_row(struct bench_report *report, const struct bench_row *row);
/* What is measured on, and before rows the names of their columns too; nothing with --json. */
void bench_report_device(const struct bench_report *report);
void bench_report_head(const struct bench_report *report);
cJSON *bench_report_json(struct bench_report *report);

/* Commits once and counts passes and dispatches; adds the passes to the trace. */
glcnn_status bench_trace_work(struct bench_report *report, const struct bench_work *work,
                              struct bench_row *row);
int bench_trace_write(const struct tool_command *command, struct bench_report *report);

/* Reads a report of --json. NULL, and the sentence is said. */
cJSON *bench_read(const struct tool_command *command, const char *path);
/* Prints the rows that both have, and which is slower or faster. EXIT_FAILED where one is slower. */
int bench_compare(const struct tool_command *command, const cJSON *old_report,
                  const cJSON *new_report);

#endif
