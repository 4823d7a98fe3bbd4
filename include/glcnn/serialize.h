/* Kernels and networks as bytes, and from bytes: NSSecureCoding of MPSKernel and MPSNNGraph;
 * spec 11.
 *
 * Part of libglcnn_interchange, not of libglcnn, and not included by glcnn/glcnn.h.
 *
 * The bytes are one item of CBOR (RFC 8949), a map with definite lengths, whose key "glcnn" has the
 * version of the format, 1. A kernel's map has
 *
 *   kernel           its name
 *   label            text, if it has one
 *   parameters       every property and parameter by the name that glcnn_kernel_info gives: whole
 *                    numbers as integers, real ones as floats of 32 or 64 bits, whichever holds the
 *                    value exactly, enumerations by the names of their values
 *   result_is_ordinary, encode_count
 *   vectors          with weights: those that are set, by name, as byte strings of little-endian
 *                    float32; a gradient node of a network has none: its weights are its forward
 *                    filter's, and what older files have here is passed over
 *
 * A network's map has
 *
 *   inputs           images that no filter makes, each a map: handle, format, export_from_graph,
 *                    stop_gradient
 *   filters          in order, each a map: kernel (as above), or kernel_of, the number of an earlier
 *                    filter whose kernel it shares; label, training_style, result and loss (as
 *                    inputs); sources, a list of numbers of images, or gradient, a list of
 *                    the forward filter's number, the source's and the gradient image's;
 *                    source_state, the number of the filter that leaves it; export_state.
 *
 * Images are numbered: inputs first, then result and loss of each filter in order. A number refers
 * to something earlier, so there are no cycles.
 *
 * Addressing that a gradient kernel took over from a state is written as its properties are. In a
 * network each execution takes it over again; for a kernel by itself it counts as set by hand until
 * a returning encode or glcnn_kernel_prepare_destination does.
 *
 * Not written: the device, data sources, optimizers with their state, and states. Vectors are
 * written from the kernel that owns them, whatever data source it has. A kernel that is read gives
 * bit-identical results, a network too; to train on, give it data sources,
 * glcnn_network_set_training for one, and load a checkpoint (glcnn/checkpoint.h).
 *
 * Reading trusts nothing. What is damaged, cut off, longer than its item, of another kind or
 * version, or beyond a legal range gives GLCNN_MALFORMED_DATA, a message and no object. Nothing
 * recurses. Memory and time are in proportion to the size of the bytes: a count is believed only as
 * far as the bytes that follow can hold it, a kernel that is shared is looked for among the filters
 * before it, vectors are only as long as the bytes they are given
 * by, images and weights that a network describes are made by its first execution alone, and each
 * filter, of which there is a map of 50 bytes or more, or for a gradient an entry in the forward
 * filter's sources, takes less than 2 KiB.
 *
 * Not thread-safe: kernels and networks are used by the thread of their device.
 */
#ifndef GLCNN_SERIALIZE_H
#define GLCNN_SERIALIZE_H

#include <glcnn/node.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a kernel down. *bytes is to be released with glcnn_serialize_destroy. With weights, work
 * that is committed is waited for. After a failure *bytes is NULL and `error`, if not NULL, has the
 * message. Errors: GLCNN_INVALID_ARGUMENT (also for a value out of its range, which encodes
 * refuse, and for text that is not UTF-8), GLCNN_INVALID_STATE for a value of a vector that is wrong
 * (glcnn_kernel_wrong_value), as a training that diverged leaves it, GLCNN_OUT_OF_MEMORY, those of glcnn_buffer_read. */
GLCNN_API glcnn_status glcnn_kernel_serialize(glcnn_kernel *kernel, bool with_weights,
                                              uint8_t **bytes, size_t *size,
                                              char error[GLCNN_ERROR_LENGTH]);

/* Makes the kernel that the bytes describe. What they leave out has its default; vectors that they
 * leave out are not set. The caller owns the kernel. After a failure *kernel is NULL and `error`,
 * if not NULL, has the message. Errors: GLCNN_MALFORMED_DATA, GLCNN_INVALID_ARGUMENT for a NULL,
 * those of glcnn_kernel_create and glcnn_kernel_set_vector. */
GLCNN_API glcnn_status glcnn_kernel_deserialize(glcnn_device *device, const uint8_t *bytes,
                                                size_t size, glcnn_kernel **kernel,
                                                char error[GLCNN_ERROR_LENGTH]);

/* The same for a network, all of its nodes, in the order of glcnn_network_filter. Errors: as above,
 * and the failure that the network keeps. */
GLCNN_API glcnn_status glcnn_network_serialize(glcnn_network *network, bool with_weights,
                                               uint8_t **bytes, size_t *size,
                                               char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_network_deserialize(glcnn_device *device, const uint8_t *bytes,
                                                 size_t size, glcnn_network **network,
                                                 char error[GLCNN_ERROR_LENGTH]);

/* Releases what the functions above wrote; NULL does nothing. glcnn_file_save (glcnn/io.h) puts the
 * bytes into a file. */
GLCNN_API void glcnn_serialize_destroy(uint8_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
