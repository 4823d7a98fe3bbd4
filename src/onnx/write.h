/* A model that is being written. */
#ifndef GLCNN_ONNX_WRITE_H
#define GLCNN_ONNX_WRITE_H

#include "onnx/onnx.h"

/* Names that are taken; each is the table's own. */
struct taken_names {
    struct name_table table;
    char **at;
};

struct writer {
    glcnn_network *network;
    const struct glcnn_onnx_record *record; /* NULL: only from the network */
    const struct glcnn_onnx_write_options *options;
    struct reader messages;           /* how failures are told */
    struct taken_names values, nodes; /* of a graph that is made */
};

/* A name that is not taken yet: "BASE.WORD", or BASE where `word` is NULL, with a number behind it where
 * need be. NULL, with the message: no memory. */
const char *taken_add(struct writer *writer, struct taken_names *names, const char *base,
                      const char *word);
void taken_free(struct taken_names *names);

/* A vector of a kernel, to be freed; NULL, with the message, where it cannot be had. */
float *write_vector(struct writer *writer, glcnn_filter_node *filter, const char *vector,
                    size_t *count);
/* Gives a tensor these dimensions. False: no memory. */
bool write_dims(Onnx__TensorProto *tensor, const int64_t *dims, size_t rank);
/* Gives a tensor these numbers, of its own type, and dimensions. */
bool write_numbers(struct writer *writer, Onnx__TensorProto *tensor, const float *values,
                   size_t count, const int64_t *dims, size_t rank);
/* The message as bytes, to be released with glcnn_onnx_destroy. */
bool write_bytes(struct writer *writer, const Onnx__ModelProto *model, uint8_t **bytes,
                 size_t *size);

/* The graph of a network without a record; a model to be freed, or NULL with the message. Its names are taken then. */
Onnx__ModelProto *write_network(struct writer *writer);

/* Takes the names of what the options add to a graph that is to be written. False, with the message: no memory. */
bool write_reserve(struct writer *writer);
/* What the options have done with a graph that is whole. */
void write_detector(struct writer *writer, Onnx__GraphProto *graph);
void write_preprocessing(struct writer *writer, Onnx__GraphProto *graph);
void write_batch_size(struct writer *writer, Onnx__GraphProto *graph);
void write_entries(struct writer *writer, Onnx__ModelProto *model);

#endif
