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
 * The entries of the tool's files are in include/model_files.md.
 * Learning rates and other settings are the caller's to set. What nodes share by a kernel is saved
 * once, by the label of the node that was made first.
 *
 * Behind the tensors of numbers there may be tensors of bytes, dtype U8, whose names begin with
 * "glcnn.". One is known: GLCNN_CHECKPOINT_NETWORK, the network itself as glcnn_network_serialize
 * writes it without weights. A file that has it says what network to make; "glcnn train" writes it.
 *
 * The last tensor of a file that this library writes, "glcnn.crc64", is its digest: eight bytes,
 * little-endian, the CRC-64 of .xz files (ECMA-182) of all bytes before them. Whatever reads a file
 * that has it compares it first; one that is damaged, be it by a byte, is GLCNN_MALFORMED_DATA. Files
 * without it, of other programs and of older releases, are read as they are.
 *
 * Not thread-safe: a network is used by the thread of its device.
 */
#ifndef GLCNN_CHECKPOINT_H
#define GLCNN_CHECKPOINT_H

#include <glcnn/io.h>
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
 * named in the message), GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY, those of reading buffers. `error`, if
 * not NULL, has the message. */
GLCNN_API glcnn_status glcnn_checkpoint_save(glcnn_network *network, const char *path,
                                             const struct glcnn_checkpoint_entry *metadata,
                                             size_t count, char error[GLCNN_ERROR_LENGTH]);

/* Bytes that a file has beside the parameters, by a name that begins with "glcnn.". */
struct glcnn_checkpoint_bytes {
    const char *name;
    const uint8_t *bytes;
    size_t size; /* 1 at least */
};

/* What the network is: the bytes of glcnn_network_serialize (glcnn/serialize.h), without weights,
 * of the network or of the part of it that a reader is to make. */
#define GLCNN_CHECKPOINT_NETWORK "glcnn.network"

/* glcnn_checkpoint_save with `bytes_count` of them. Errors: those, and GLCNN_INVALID_ARGUMENT for a
 * name that begins otherwise, is given twice or is that of a parameter or of the digest, and for no
 * bytes. */
GLCNN_API glcnn_status glcnn_checkpoint_save_with_bytes(
    glcnn_network *network, const char *path, const struct glcnn_checkpoint_entry *metadata,
    size_t count, const struct glcnn_checkpoint_bytes *bytes, size_t bytes_count,
    char error[GLCNN_ERROR_LENGTH]);

/* Whether glcnn_checkpoint_save_with_bytes could write that file now: does all that it does, up to a
 * whole new file on the disk, which it then removes; what is at the path is left alone. A program
 * that saves hours from now learns at once of entries and labels that are not UTF-8, of a path that
 * cannot be written and of a disk without room for it. Errors: those of that function. */
GLCNN_API glcnn_status glcnn_checkpoint_try_save(glcnn_network *network, const char *path,
                                                 const struct glcnn_checkpoint_entry *metadata,
                                                 size_t count,
                                                 const struct glcnn_checkpoint_bytes *bytes,
                                                 size_t bytes_count,
                                                 char error[GLCNN_ERROR_LENGTH]);

/* glcnn_checkpoint_save_with_bytes into a file that is open for writing, as glcnn_file_create_from_fd
 * writes one, which no rename makes whole. What it had is left alone where a value is not finite or cannot
 * be read, as all are read once before; a disk that is full, a kill or a loss of power leaves a part,
 * which no reader takes for a checkpoint. A message calls it "descriptor 7". Errors: those of that
 * function. */
GLCNN_API glcnn_status glcnn_checkpoint_save_to_fd(
    glcnn_network *network, int fd, const struct glcnn_checkpoint_entry *metadata, size_t count,
    const struct glcnn_checkpoint_bytes *bytes, size_t bytes_count, char error[GLCNN_ERROR_LENGTH]);

/* Of a file, by its path or open (glcnn_file_range). Reads the bytes of that name: *bytes is to be
 * released with free(), and NULL where the file has none, which is GLCNN_SUCCESS, or after a failure. The
 * file is checked as by glcnn_checkpoint_load; what the bytes say is for their reader to check. Errors:
 * GLCNN_IO_ERROR, GLCNN_MALFORMED_DATA, GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_checkpoint_read_bytes(const char *path, const char *name,
                                                   uint8_t **bytes, size_t *size,
                                                   char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_checkpoint_read_bytes_from_fd(const struct glcnn_file_range *range,
                                                           const char *name, uint8_t **bytes,
                                                           size_t *size,
                                                           char error[GLCNN_ERROR_LENGTH]);

/* Reads a checkpoint into a network of the same filters and labels. Everything is checked before
 * anything is changed: after GLCNN_IO_ERROR, GLCNN_MALFORMED_DATA, GLCNN_INVALID_ARGUMENT and
 * GLCNN_OUT_OF_MEMORY the network is as it was. `metadata`, if not NULL, receives the file's
 * entries, to be released with glcnn_checkpoint_metadata_destroy.
 *
 * The file must have every vector that the network has, and no other tensor but bytes; every value that is
 * read must be finite, or it is GLCNN_MALFORMED_DATA. The state of an
 * optimizer is read where the kernel is trained and the file has "optimizer.LABEL", which must name
 * the same optimizer; "time_step.LABEL" must be there then, and "encodes.LABEL" of every dropout. A
 * network that is not trained takes the parameters alone, for inference; so does one that is
 * trained from a file without optimizers, which is fine-tuning: its optimizers keep the state that
 * they have, and dropout the count of its masks unless the file has one. */
GLCNN_API glcnn_status glcnn_checkpoint_load(glcnn_network *network, const char *path,
                                             struct glcnn_checkpoint_metadata *metadata,
                                             char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_checkpoint_load_from_fd(glcnn_network *network,
                                                     const struct glcnn_file_range *range,
                                                     struct glcnn_checkpoint_metadata *metadata,
                                                     char error[GLCNN_ERROR_LENGTH]);

/* ---- Parameters from elsewhere ---- */

/* A tensor of a file, and the parameter "LABEL.VECTOR" of a network that takes it. */
struct glcnn_checkpoint_name {
    const char *tensor, *parameter;
};

/* What became of a parameter, or, with NULL for it, of a tensor that no parameter takes; `tensor` is
 * NULL where the file has none for the parameter. `reason`: a clause that says why it was skipped;
 * NULL: it was read. */
typedef void (*glcnn_checkpoint_handler)(void *user, const char *parameter, const char *tensor,
                                         const char *reason);

/* Reads what fits from a .safetensors file of a network that is another in part, or of PyTorch.
 *
 * names   NULL: each parameter takes the tensor of its own name, laid out as checkpoints are.
 *         Otherwise `name_count` of them, and what they name alone is read, laid out as PyTorch has
 *         it: weights [outputs][inputs / groups][height][width]; of a fully connected layer
 *         [outputs][inputs * height * width] too, by channel, row and column, as they come behind
 *         Flatten; of a transposed convolution without groups [inputs][outputs][height][width],
 *         turned by half a turn
 *
 * A tensor fits where its extents are those of the parameter in that layout. Elements of dtype F16,
 * BF16 and F64 become float32; of other dtypes they are skipped. Parameters that are skipped stay as
 * they are; so do optimizers, with their state and counts. `handler`, if not NULL, is then called for
 * each parameter of the network that is asked for, in their order, and for each tensor that is left
 * over but state of optimizers and bytes.
 *
 * Errors: GLCNN_INVALID_ARGUMENT for a name of no parameter and for one that is given twice;
 * GLCNN_MALFORMED_DATA, also where nothing fits and for a value that is read and not finite;
 * GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY. After these the network is as it was, and the handler has not
 * been called. */
GLCNN_API glcnn_status glcnn_checkpoint_load_matching(glcnn_network *network, const char *path,
                                                      const struct glcnn_checkpoint_name *names,
                                                      size_t name_count,
                                                      glcnn_checkpoint_handler handler, void *user,
                                                      char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_checkpoint_load_matching_from_fd(
    glcnn_network *network, const struct glcnn_file_range *range,
    const struct glcnn_checkpoint_name *names, size_t name_count, glcnn_checkpoint_handler handler,
    void *user, char error[GLCNN_ERROR_LENGTH]);

/* Reads the metadata alone, after the same checks of the file itself: what network to make. */
GLCNN_API glcnn_status glcnn_checkpoint_read_metadata(const char *path,
                                                      struct glcnn_checkpoint_metadata *metadata,
                                                      char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_checkpoint_read_metadata_from_fd(
    const struct glcnn_file_range *range, struct glcnn_checkpoint_metadata *metadata,
    char error[GLCNN_ERROR_LENGTH]);

/* The text of an entry; NULL if there is none of that name. */
GLCNN_API const char *glcnn_checkpoint_text(const struct glcnn_checkpoint_metadata *metadata,
                                            const char *name);

/* Releases the entries; *metadata becomes all zero. NULL does nothing. */
GLCNN_API void glcnn_checkpoint_metadata_destroy(struct glcnn_checkpoint_metadata *metadata);

#ifdef __cplusplus
}
#endif
#endif
