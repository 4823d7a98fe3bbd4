/* Files: arrays as NumPy's .npy, format versions 1, 2 and 3, and how files are written whole.
 *
 * In memory an array is float32 in C order, as glcnn_run takes and gives it. Files are not trusted:
 * one that is truncated, too long, inconsistent or of another kind is refused, with a message that
 * names the file, what was found and what was expected.
 *
 * Thread-safety: safe; arrays belong to their owner, and a glcnn_file is for one thread at a time.
 */
#ifndef GLCNN_IO_H
#define GLCNN_IO_H

#include <glcnn/run.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glcnn_npy {
    glcnn_channel_format format; /* of the file's elements: float16, anything else is float32 */
    uint32_t rank;               /* 0: a single number */
    uint32_t shape[GLCNN_MAX_RANK];
    float *data;
};

/* Reads a file, or the `size` bytes of one. Elements are little-endian float16, float32, float64,
 * integers of 8 to 64 bits or booleans; they become float32, and Fortran order becomes C order. An
 * array without elements or of a rank above GLCNN_MAX_RANK is refused. Release the result with
 * glcnn_npy_destroy; on failure *array is all zero and `error`, if not NULL, has the message.
 * Errors: GLCNN_IO_ERROR, GLCNN_MALFORMED_DATA, GLCNN_OUT_OF_MEMORY, GLCNN_INVALID_ARGUMENT. */
GLCNN_API glcnn_status glcnn_npy_read(const char *path, struct glcnn_npy *array,
                                      char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_npy_parse(const void *bytes, size_t size, struct glcnn_npy *array,
                                       char error[GLCNN_ERROR_LENGTH]);
/* What the head of a .npy file says, for a reader that takes the elements a few at a time. */
struct glcnn_npy_header {
    char type; /* of the elements, by NumPy's letter: f is real, i and u whole, b boolean */
    bool fortran;
    uint32_t element_size; /* bytes */
    uint32_t rank;         /* 0: a single number */
    uint32_t shape[GLCNN_MAX_RANK];
    size_t count; /* elements, 1 at least */
    size_t begin; /* offset of the first element */
};

/* Reads the head of a file of `size` bytes, of which the first 64 KiB and 12 bytes are looked at; what
 * glcnn_npy_parse refuses is refused, with the same errors. */
GLCNN_API glcnn_status glcnn_npy_parse_header(const void *bytes, size_t size,
                                              struct glcnn_npy_header *header,
                                              char error[GLCNN_ERROR_LENGTH]);
/* Converts `count` elements from number `first` on, in C order, of the file whose head is `header`;
 * first + count is at most header->count. */
GLCNN_API void glcnn_npy_convert(const void *bytes, const struct glcnn_npy_header *header,
                                 size_t first, size_t count, float *values);

/* Releases the data; *array becomes all zero. NULL does nothing. */
GLCNN_API void glcnn_npy_destroy(struct glcnn_npy *array);

/* Makes the bytes of a .npy file; *bytes is to be released with free(). */
GLCNN_API glcnn_status glcnn_npy_format(const struct glcnn_npy *array, void **bytes, size_t *size,
                                        char error[GLCNN_ERROR_LENGTH]);

/* Writes one file, or `count` files, each as below. All of them are on the disk before the first is
 * renamed: nothing is replaced where memory, room on the disk or a path is wanting. Then they are
 * renamed in their order. Where that fails, as it may of a file that was made a folder meanwhile,
 * those before are replaced, those behind are not, and the message says how many are.
 * Errors: GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY, GLCNN_INVALID_ARGUMENT (also for a path that is
 * there twice). */
GLCNN_API glcnn_status glcnn_npy_write(const char *path, const struct glcnn_npy *array,
                                       char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_npy_write_all(const char *const *paths, const struct glcnn_npy *arrays,
                                           size_t count, char error[GLCNN_ERROR_LENGTH]);

/* ---- Files that are read ----
 *
 * The one way in which the library, the tool and the examples open a file that is named to them, but
 * for the program cache, which trusts less. Files are regular ones: a pipe would be waited for, and a
 * device may have no end; neither is opened for long, or read. Links are followed.
 *
 * Where a file has no path, as documents and assets of Android have none, functions whose names end in
 * _from_fd take a file that is open, or a part of it: AAsset_openFileDescriptor64 gives an offset and a
 * size. The descriptor stays the caller's and may be closed once the call returns; where it stands in
 * the file does not matter, and is left. Messages call it "descriptor 7".
 *
 * Errors: GLCNN_IO_ERROR, also for what is no regular file; GLCNN_OUT_OF_MEMORY;
 * GLCNN_INVALID_ARGUMENT for a NULL. `error`, if not NULL, has the message, which begins with the
 * path. */

struct glcnn_file_range {
    int fd;
    uint64_t offset, size; /* bytes; a size of 0: up to the end of the file */
};

/* Opens a file for reading, without waiting. *descriptor is the caller's to close(), -1 after a
 * failure, when errno is open's, or 0 for what is no regular file; *size, where that is not NULL, is
 * the file's in bytes. */
GLCNN_API glcnn_status glcnn_file_open(const char *path, int *descriptor, uint64_t *size,
                                       char error[GLCNN_ERROR_LENGTH]);
/* A descriptor of its own for what is open, which must reach as far as the range says, on a file that
 * is regular; *size, where that is not NULL, is the range's. Errors: as above. */
GLCNN_API glcnn_status glcnn_file_open_from_fd(const struct glcnn_file_range *range,
                                               int *descriptor, uint64_t *size,
                                               char error[GLCNN_ERROR_LENGTH]);
/* Reads `size` bytes from `offset` on, which counts from the beginning of the file; fewer are a failure.
 * The path is for messages. */
GLCNN_API glcnn_status glcnn_file_read(int descriptor, const char *path, uint64_t offset,
                                       void *bytes, size_t size, char error[GLCNN_ERROR_LENGTH]);
/* Reads a whole file, or range; one of more than `limit` bytes is GLCNN_LIMIT_EXCEEDED. *bytes, behind
 * whose end there is a 0, is to be released with free(); it is NULL after a failure. What reads bytes
 * (glcnn_onnx_read, glcnn_npy_parse, glcnn_network_deserialize) reads a descriptor by it. */
GLCNN_API glcnn_status glcnn_file_load(const char *path, size_t limit, void **bytes, size_t *size,
                                       char error[GLCNN_ERROR_LENGTH]);
GLCNN_API glcnn_status glcnn_file_load_from_fd(const struct glcnn_file_range *range, size_t limit,
                                               void **bytes, size_t *size,
                                               char error[GLCNN_ERROR_LENGTH]);

/* ---- Files that are written whole ----
 *
 * The one way in which the library, the tool and the examples write files, but for those that each step
 * of glcnn train appends to: its log, which this way makes, and event files, which are new.
 *
 * A regular file, or one that is not there yet, is written into a new file beside it, brought to
 * the disk and renamed, and then its folder is brought to the disk: at any moment, that of a kill
 * or of a loss of power too, there is the old file or the new one, whole. An existing file's
 * permissions stay; a new one's follow the umask. A symbolic link stays: what it points to is
 * replaced, or made.
 *
 * A path to a device, or to a descriptor as /dev/stdout is, is written in place and never replaced. A
 * path to a FIFO or a socket is refused, since its reader would be waited for. The library's files never
 * take the numbers of standard input, output and error, 0 to 2, where a process was started without them.
 *
 * The new file is called PATH.glcnn-N.tmp, of a long name the beginning. What is there by that name
 * already is neither written nor followed; only what a killed process left is removed, by the next
 * one that writes PATH. Of two that write one path at a time the last to finish stays, unless they
 * lock it (glcnn_file_lock_take).
 *
 * Errors: GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY, GLCNN_INVALID_ARGUMENT for a NULL. `error`, if not
 * NULL, has the message: the path, the step that failed and why. The old file is whole then, and
 * nothing is left beside it. Where only the last step fails, "its folder cannot be brought to the
 * disk", the new file is in place, and a loss of power may bring the old one back. */
typedef struct glcnn_file glcnn_file;

/* Begins a file; the caller owns *file, which is NULL after a failure, until commit or discard. */
GLCNN_API glcnn_status glcnn_file_create(const char *path, glcnn_file **file,
                                         char error[GLCNN_ERROR_LENGTH]);
/* Begins a file in what a descriptor has open for writing, which stays the caller's. A regular file is
 * emptied and written from its beginning; anything else is written where it stands. No rename
 * makes it whole: what was there is gone at once, and a failure, a kill or a loss of power leaves a
 * part. Commit brings it to the disk; discard leaves what was written. Where a file must never be
 * lost write one of your own by its path, and copy it. */
GLCNN_API glcnn_status glcnn_file_create_from_fd(int fd, glcnn_file **file,
                                                 char error[GLCNN_ERROR_LENGTH]);
/* Appends bytes. After a failure the file is to be discarded. */
GLCNN_API glcnn_status glcnn_file_write(glcnn_file *file, const void *bytes, size_t size,
                                        char error[GLCNN_ERROR_LENGTH]);
/* Brings what was written to the disk, so that glcnn_file_commit has only to rename; a disk may say no
 * sooner that it is full. */
GLCNN_API glcnn_status glcnn_file_sync(glcnn_file *file, char error[GLCNN_ERROR_LENGTH]);
/* Puts the file in its place, and releases it in any case; *file becomes NULL. */
GLCNN_API glcnn_status glcnn_file_commit(glcnn_file **file, char error[GLCNN_ERROR_LENGTH]);
/* Gives the file up, which leaves the old one; *file becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_file_discard(glcnn_file **file);

/* All four for bytes that are in memory. */
GLCNN_API glcnn_status glcnn_file_save(const char *path, const void *bytes, size_t size,
                                       char error[GLCNN_ERROR_LENGTH]);

/* ---- Paths that one process alone writes ----
 *
 * A lock keeps other processes, and other callers of this one, that ask for a lock too from writing
 * a path as long as it is held: until it is released or its process ends, killed or not. It is an
 * empty file beside the target of the path's links, .NAME.glcnn-lock, which is removed with the
 * lock; one that a killed process left does not stand in the way. Where a file system has no locks
 * every lock is given.
 *
 * Errors: GLCNN_INVALID_STATE where another holds the lock; GLCNN_INVALID_ARGUMENT for a NULL and
 * for a path to what is no regular file, a device, a FIFO, a folder, /dev/stdout, which cannot be
 * replaced whole; GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY. `error`, if not NULL, has the message. */
typedef struct glcnn_file_lock glcnn_file_lock;

/* Takes the lock of a path, that of a file or of one that is still to be made. The caller owns
 * *lock, which is NULL after a failure. */
GLCNN_API glcnn_status glcnn_file_lock_take(const char *path, glcnn_file_lock **lock,
                                            char error[GLCNN_ERROR_LENGTH]);
/* Gives it back; *lock becomes NULL. NULL does nothing. */
GLCNN_API void glcnn_file_lock_destroy(glcnn_file_lock **lock);

#ifdef __cplusplus
}
#endif
#endif
