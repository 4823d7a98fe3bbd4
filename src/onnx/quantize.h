/* Models as int8: what is known of a graph that becomes one, and the steps in their order. */
#ifndef GLCNN_ONNX_QUANTIZE_H
#define GLCNN_ONNX_QUANTIZE_H

#include "onnx/write.h"

/* How an operator takes part. */
enum role {
    ROLE_FLOAT,     /* it does not */
    ROLE_LAYER,     /* weights, an initialiser, times a source */
    ROLE_MOVE,      /* the result has the scale of the source */
    ROLE_JOIN,      /* sources and results share a scale */
    ROLE_PAIR,      /* sources and the result each have one, constants too */
    ROLE_RECTIFIER, /* it vanishes where the range of its result says the same */
    ROLE_CURVE,     /* source and result each have a scale */
    ROLE_MEAN       /* the same; it may stand behind the last layer */
};

/* No node, or no range. */
#define NOWHERE SIZE_MAX

/* A value of the graph: an input of it, or what a node makes. */
struct quantized_value {
    const char *name;
    size_t maker, readers; /* the node, NOWHERE: an input; how many read it */
    size_t group;          /* the least value that it shares a scale with */
    size_t range;          /* its number; NOWHERE: the value stays float32 */
    bool is_output, is_whole;
    bool is_behind, is_before; /* a layer of weights */
    bool is_moved;             /* nothing but moves lead to it from the inputs */
};

struct quantizing {
    struct writer writer; /* its names are those of the graph */
    Onnx__ModelProto *model;
    Onnx__GraphProto *graph;
    struct name_table tensors; /* initialisers, by index, as the file has them */
    struct name_table names;   /* of values */
    struct quantized_value *values;
    enum role *roles; /* of nodes; ROLE_FLOAT of those that stay float32 */
    size_t value_count, range_count;
    char *notes;
};

bool quantizing_is_well(const struct quantizing *q);
/* Adds a line to the notes. */
void quantizing_note(struct quantizing *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes the makers of all values, and counts their readers. */
bool quantizing_find_values(struct quantizing *q);
/* The value of a name; NOWHERE: a constant, or left out. */
size_t quantizing_value(const struct quantizing *q, const char *name);
/* Counts the first inputs, which are numbers of a picture; others are sizes, bounds and axes. */
size_t quantizing_sources(const Onnx__NodeProto *node, enum role role);

/* ---- Attributes and numbers ---- */

int64_t quantizing_int(const Onnx__NodeProto *node, const char *name, int64_t otherwise);
float quantizing_float(const Onnx__NodeProto *node, const char *name, float otherwise);
/* The initialiser that input i is; NULL: it is none. */
Onnx__TensorProto *quantizing_tensor(const struct quantizing *q, const Onnx__NodeProto *node,
                                     size_t i);
/* The numbers of input i, an initialiser of float32, to be freed; NULL: it is none. */
float *quantizing_numbers(const struct quantizing *q, const Onnx__NodeProto *node, size_t i,
                          size_t *count);

/* Number i of the weights belongs to the output channel (i / group_size) * per_group + i / inner % per_group. */
struct channels {
    size_t count, per_group, inner, group_size;
    int axis; /* of the tensor; -1: none has them all */
};
/* False: the node is no layer, or its weights are no initialiser of float32. */
bool quantizing_channels(const struct quantizing *q, const Onnx__NodeProto *node,
                         struct channels *channels);
size_t channel_of(const struct channels *channels, size_t i);

/* ---- Steps ---- */

/* Folds batch normalisations. */
bool quantizing_fold(struct quantizing *q);
/* Finds which nodes and values become int8, and which values share a scale. */
bool quantizing_plan(struct quantizing *q);
/* Puts QuantizeLinear and DequantizeLinear into the graph, and scales and zero points into the ranges. */
bool quantizing_insert(struct quantizing *q, struct glcnn_onnx_quantization *by);

#endif
