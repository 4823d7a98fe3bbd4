/* The .safetensors format: eight bytes, little-endian, of header length; a header of JSON, padded
 * with spaces so that what follows is aligned to eight bytes; the tensors, without holes.
 *
 * Invariant of an open file: names are unique, every tensor's size is that of its shape and dtype
 * where the dtype is known here, tensors follow each other from 0 to the end of the file, metadata are
 * texts, all is UTF-8, and the digest, if there is one, is that of the bytes.
 */
#ifndef GLCNN_CHECKPOINT_FILE_H
#define GLCNN_CHECKPOINT_FILE_H

#include <cjson/cJSON.h>
#include <glcnn/checkpoint.h>
#include <glcnn/io.h>

#include "base/fail.h"

#define CHECKPOINT_MAX_HEADER (8u << 20) /* that of a network of 10,000 tensors has 2 MiB */
#define CHECKPOINT_MAX_RANK   8
#define CHECKPOINT_METADATA   "__metadata__"

struct checkpoint_tensor {
    const char *name, *dtype;
    uint64_t shape[CHECKPOINT_MAX_RANK];
    uint32_t rank;
    uint64_t begin, end; /* bytes behind the header */
    bool is_used;        /* for the reader's own marks; false at first */
};

struct checkpoint_file {
    int descriptor;
    uint64_t offset; /* of what is open, where the file begins */
    cJSON *header;
    const cJSON *metadata; /* an object of strings; NULL if there is none */
    struct checkpoint_tensor *tensors, **by_name;
    size_t count;
    uint64_t data_at, data_size;
};

/* Opens and checks a file; all its bytes are there. `range` NULL: that at the path; else what it says,
 * and the path is for messages. Close it with checkpoint_file_close; on failure *file is closed, which
 * may be done again. */
glcnn_status checkpoint_file_open(const char *path, const struct glcnn_file_range *range,
                                  struct checkpoint_file *file, char *error);
void checkpoint_file_close(struct checkpoint_file *file);

/* What messages call a range; NULL for NULL. */
#define CHECKPOINT_RANGE_NAME 32
const char *checkpoint_range_name(const struct glcnn_file_range *range,
                                  char name[CHECKPOINT_RANGE_NAME]);

struct checkpoint_tensor *checkpoint_file_find(const struct checkpoint_file *file,
                                               const char *name);

/* Reads the bytes of all tensors, to be released with free. */
glcnn_status checkpoint_file_read(const struct checkpoint_file *file, const char *path,
                                  uint8_t **data, char *error);

/* The same of one tensor. */
glcnn_status checkpoint_file_read_tensor(const struct checkpoint_file *file, const char *path,
                                         const struct checkpoint_tensor *tensor, uint8_t **data,
                                         char *error);

/* Tensors of bytes: their names begin so. */
#define CHECKPOINT_BYTES       "glcnn."
#define CHECKPOINT_BYTES_DTYPE "U8"
bool checkpoint_tensor_is_bytes(const struct checkpoint_tensor *tensor);

bool checkpoint_is_utf8(const char *text);

#endif
