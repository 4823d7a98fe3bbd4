/* A filter of a network as nodes of an ONNX graph: what the families of kernels share, and their rows.
 * All values are N,C,H,W. After a failure, whose message the writer has, calls do nothing. */
#ifndef GLCNN_ONNX_WRITE_FILTER_H
#define GLCNN_ONNX_WRITE_FILTER_H

#include <glcnn/kernel.h>

#include "onnx/build.h"

/* An image of the network as a value. */
struct written {
    const char *name;   /* NULL: none yet */
    int64_t dims[AXES]; /* the batch is 1 */
};

struct kernel_row;

/* A filter that is being written. */
struct filter_call {
    struct writer *writer;
    Onnx__GraphProto *graph;
    glcnn_filter_node *filter;
    glcnn_kernel *kernel;
    const struct kernel_row *row;
    const char *label; /* no other filter's */
    size_t source_count;
    struct written *sources; /* what the kernel reads of them */
    int64_t dims[AXES];      /* of the result */
};

/* How a kernel's offset counts. */
enum reading {
    WHOLE,      /* not: it reads the source as it is */
    BY_WINDOWS, /* as its padding sets it */
    BY_OFFSET, /* result pixel X reads pixel X + offset; one that is read with stride 0 the offset's */
    UNMOVED    /* it does, and is written only where it is 0 */
};

/* A kernel, and what writes it: the value that is the result, or NULL after a failure. A kernel without
 * such a function has the reason. */
struct kernel_row {
    const char *kernel;
    const char *(*write)(struct filter_call *call);
    enum reading reading;
    const char *operator; /* of ONNX, where the family has one for each kernel */
    const char *reason;
};

/* Rows of one family, the last one without a name. */
extern const struct kernel_row write_arithmetic[], write_convolution[], write_neuron[],
    write_normalization[], write_pooling[], write_reductions[], write_shaping[], write_resizing[],
    write_views[], write_others[];

/* ---- Names ---- */

/* "LABEL.WORD", or with a number behind it where there is such a name. */
const char *write_name(const struct filter_call *call, const char *word);

/* ---- Failures: NULL ---- */

/* "...: WHY". */
const char *write_refuse(const struct filter_call *call, const char *why);
bool write_is_well(const struct filter_call *call);

/* ---- Nodes: the values that they make ---- */

/* Inputs end with NULL. */
const char *write_node(const struct filter_call *call, const char *operator,
                       const char * const * inputs);
const char *write_unary(const struct filter_call *call, const char *operator, const char * x);
const char *write_binary(const struct filter_call *call, const char *operator, const char * x,
                         const char *y);
/* Attributes of the node that was made last. */
void write_int(const struct filter_call *call, const char *name, int64_t value);
void write_float(const struct filter_call *call, const char *name, float value);
void write_text(const struct filter_call *call, const char *name, const char *value);
void write_ints(const struct filter_call *call, const char *name, const int64_t *values,
                size_t count);

/* ---- Initialisers ---- */

/* A number without axes, which does not train. */
const char *write_number(const struct filter_call *call, float value);
const char *write_wholes(const struct filter_call *call, const int64_t *values, size_t count);
const char *write_tensor(const struct filter_call *call, const char *word, const int64_t *dims,
                         size_t rank, const float *values);
/* A vector of the kernel with a number for each channel, of the shape (channels), or (channels, 1, 1). */
const char *write_channels(const struct filter_call *call, const char *vector, const char *word,
                           int64_t channels, bool is_image);

/* ---- Moves ---- */

/* Rows, columns and channels more before and behind; fewer where they are below 0. */
struct margins {
    int64_t before[AXES], after[AXES];
    const char *mode; /* NULL: constant */
    float constant;
};

const char *write_margins(const struct filter_call *call, const char *x,
                          const struct margins *margins);
/* Its mode of Pad by an edge mode. */
const char *write_edge(glcnn_edge_mode mode);
const char *write_reshape(const struct filter_call *call, const char *x, const int64_t *dims,
                          size_t rank);
const char *write_transpose(const struct filter_call *call, const char *x, const int64_t *order,
                            size_t rank);

/* ---- Windows ---- */

/* Along rows and columns: the pixels that windows read beyond the source. */
struct walk {
    int64_t kernel[2], stride[2], dilation[2], before[2], after[2];
};

/* Of a result of so many rows and columns. */
struct walk write_walk(const struct filter_call *call, const int64_t result[2]);
/* The source, with margins where windows begin behind its first pixel, and leave out what more than a
 * stride is; with all that they read beyond it where `pads`: no pads remain. */
const char *write_walked(const struct filter_call *call, const char *x, struct walk *walk,
                         bool pads, const char *mode);
/* Attributes of the node that was made last. */
void write_walk_attributes(const struct filter_call *call, const struct walk *walk,
                           bool has_dilations);

/* ---- Neurons ---- */

/* The neuron that is fused into the kernel, of a value of so many channels. */
const char *write_fused(const struct filter_call *call,
                        const struct glcnn_neuron_descriptor *neuron, const char *x,
                        int64_t channels);

#endif
