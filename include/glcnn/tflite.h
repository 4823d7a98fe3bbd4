/* .tflite files: an ONNX model becomes one, and one an ONNX model.
 *
 * Part of libglcnn_tflite, not of libglcnn, and not included by glcnn/glcnn.h. Bytes become bytes: there is no
 * device, and nothing of libglcnn is called. With glcnn/onnx.h a network becomes a .tflite file by
 * glcnn_onnx_write and glcnn_tflite_from_onnx, and a file a network by glcnn_tflite_to_onnx and
 * glcnn_onnx_read.
 *
 * Written are models as glcnn_onnx_write makes them, of a network or of a record. Sizes are fixed; a batch
 * that the model leaves open is 1. A value N,C,H,W is a tensor N,H,W,C; transpositions stand only where a Reshape or a matrix
 * wants numbers in another order. An input N,H,W,C that is transposed before anything else looks at it, as
 * glcnn_tflite_to_onnx has them, keeps its axes, and so do the outputs of such a model; other values have
 * the axes that they have in the ONNX model. Batch normalisations become part of the convolution before them, or a
 * product and a sum. Where ONNX's windows have margins that TFLite's SAME has not, a PAD comes before them.
 *
 * Pairs of QuantizeLinear and DequantizeLinear become tensors of int8: weights with a scale for each output, as
 * they are in the model, activations with one scale and zero point, biases int32. Unsigned bytes
 * become signed ones, 128 lower. An operator between such tensors that has no form for bytes computes reals
 * between DEQUANTIZE and QUANTIZE. An input whose only reader quantises it, and an output that is
 * quantised, are int8 themselves.
 *
 * Metadata of the model are the file's, by their keys, and come back; a ZIP archive at the file's end has them as
 * metadata.json, an object of texts, which loaders of Ultralytics' files read, and behind it the labels.
 *
 * Not written: Conv of several axes than two, groups of ConvTranspose, dilated pooling, linear Resize of scales that
 * give no whole number of pixels, products of two computed matrices, frames and what glcnn/onnx.h does not write.
 *
 * Read are files of float32, of weights in float16, int8 or sparse form, and of int8 throughout; their
 * activations become reals, without the roundings that the file has between operators, and `note` says so.
 * Operators that are read: those that are written, PRELU, TRANSPOSE_CONV, MediaPipe's Convolution2DTransposeBias,
 * GATHER of constant places, SLICE, STRIDED_SLICE, SPLIT, comparisons and reductions. The first subgraph is read. Weights become
 * initialisers under the names of their tensors, and train.
 *
 * Reading trusts nothing: a file that is damaged, whose tables point beyond it, that reads what nothing
 * made, or whose constants lack numbers, gives a message and no bytes. Memory is in proportion to
 * the file.
 *
 * Thread-safety: safe. */
#ifndef GLCNN_TFLITE_H
#define GLCNN_TFLITE_H

#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a file is written. All zero: the defaults. */
struct glcnn_tflite_options {
    /* Names of classes, which the file then has as labels.txt, a line for each, in the ZIP archive at its end:
     * as TFLite Model Metadata has associated files. A name has no line break. */
    const char *const *labels;
    size_t
        label_count; /* 0: those of the model's metadata, "names", a line break as a blank; or none */
};

/* Makes a .tflite file of the bytes of an ONNX model. *bytes is to be released with glcnn_tflite_destroy;
 * after a failure it is NULL and `error`, if not NULL, has the message. `options` may be NULL.
 * Errors: GLCNN_MALFORMED_DATA; GLCNN_UNSUPPORTED for an operator or a form of it that is not written, with
 * the node's name; GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_tflite_from_onnx(const uint8_t *onnx, size_t onnx_size,
                                              const struct glcnn_tflite_options *options,
                                              uint8_t **bytes, size_t *size,
                                              char error[GLCNN_ERROR_LENGTH]);

/* Makes an ONNX model of opset 14 of the bytes of a .tflite file: its inputs and outputs have the file's names
 * and axes, the batch of any size, and between them pictures are N,C,H,W. What an operator computes has the
 * name of its tensor, and metadata that are UTF-8 are the model's. `note`, if not NULL, says in a sentence
 * what the file has and the model has not, else it is "". As above otherwise. */
GLCNN_API glcnn_status glcnn_tflite_to_onnx(const uint8_t *tflite, size_t tflite_size,
                                            uint8_t **bytes, size_t *size,
                                            char note[GLCNN_ERROR_LENGTH],
                                            char error[GLCNN_ERROR_LENGTH]);

GLCNN_API void glcnn_tflite_destroy(uint8_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
