/* Checkpoints: the parameters of a network and all that training needs to go on, in one file.
 *
 * Part of libglcnn_interchange, not of libglcnn, and not included by glcnn/glcnn.h.
 *
 * The file is a .safetensors file: eight bytes of length, little-endian, a header of JSON, and the
 * tensors, little-endian float32. For a filter node of label LABEL (glcnn_filter_node_label) it has
 *
 *   LABEL.weights, .biases, .gamma, .beta, .mean, .variance, .deviation
 *                      the vectors that the node's kernel owns. Weights have the shape
 *                      [Co][kH][kW][Ci/groups], as they are stored; the others have one dimension
 *   LABEL.VECTOR.optimizer.first, .second
 *                      state vectors of the optimizer that trains the kernel (glcnn/training.h)
 *
 * and as metadata, names and texts, "optimizer.LABEL" (the optimizer's kernel name),
 * "time_step.LABEL" (the steps that it has made), "encodes.LABEL" (of dropout: what its masks
 * follow) and the entries that the caller gives: the epoch, the seed, the name of the network.
 * Learning rates and other settings are the caller's to set. What nodes share by a kernel is saved
 * once, by the label of the node that was made first.
 *
 * Not thread-safe: a network is used by the thread of its device.
 */
#ifndef GLCNN_CHECKPOINT_H
#define GLCNN_CHECKPOINT_H

#include <glcnn/training.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One entry of metadata: UTF-8. */
struct glcnn_checkpoint_entry {
    const char *name, *text;
};

/* The metadata of a file: all entries, in its order. All zero: none. */
struct glcnn_checkpoint_metadata {
    struct glcnn_checkpoint_entry *entries;
    size_t count;
};

/* Writes the network's checkpoint, unless it has a value that is not finite: no file of a training
 * that diverged takes the place of a good one. The device's committed work is waited for. The file is written
 * as glcnn/io.h says: at any time there is the old file or the new one, whole; what was there is
 * left alone when this fails.
 * Errors: GLCNN_INVALID_ARGUMENT (also for two filters of one label, and for an entry whose name is
 * given twice or is one that this library writes), GLCNN_INVALID_STATE (a value that is not finite,
 * named in the sentence), GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY, those of reading buffers. `error`, if
 * not NULL, has the sentence. */
GLCNN_API glcnn_status glcnn_checkpoint_save(glcnn_network *network, const char *path,
                                             const struct glcnn_checkpoint_entry *metadata,
                                             size_t count, char error[GLCNN_ERROR_LENGTH]);

/* Reads a checkpoint into a network of the same filters and labels. Everything is checked before
 * anything is changed: after GLCNN_IO_ERROR, GLCNN_MALFORMED_DATA, GLCNN_INVALID_ARGUMENT and
 * GLCNN_OUT_OF_MEMORY the network is as it was. `metadata`, if not NULL, receives the file's
 * entries, to be released with glcnn_checkpoint_free_metadata.
 *
 * The file must have every vector that the network has, and no other tensor; every value that is
 * read must be finite, or it is GLCNN_MALFORMED_DATA. The state of an
 * optimizer is read where the kernel is trained and the file has "optimizer.LABEL", which must name
 * the same optimizer; "time_step.LABEL" must be there then, and "encodes.LABEL" of every dropout. A
 * network that is not trained takes the parameters alone, for inference; so does one that is
 * trained from a file without optimizers, which is fine-tuning: its optimizers keep the state that
 * they have, and dropout the count of its masks unless the file has one. */
GLCNN_API glcnn_status glcnn_checkpoint_load(glcnn_network *network, const char *path,
                                             struct glcnn_checkpoint_metadata *metadata,
                                             char error[GLCNN_ERROR_LENGTH]);

/* Reads the metadata alone, after the same checks of the file itself: what network to make. */
GLCNN_API glcnn_status glcnn_checkpoint_read_metadata(const char *path,
                                                      struct glcnn_checkpoint_metadata *metadata,
                                                      char error[GLCNN_ERROR_LENGTH]);

/* The text of an entry; NULL if there is none of that name. */
GLCNN_API const char *glcnn_checkpoint_text(const struct glcnn_checkpoint_metadata *metadata,
                                            const char *name);

/* Releases the entries; *metadata becomes all zero. NULL does nothing. */
GLCNN_API void glcnn_checkpoint_free_metadata(struct glcnn_checkpoint_metadata *metadata);

#ifdef __cplusplus
}
#endif
#endif
