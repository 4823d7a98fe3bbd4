/* Files of arrays: NumPy's .npy, format versions 1, 2 and 3.
 *
 * In memory an array is float32 in C order, as glcnn_run takes and gives it. Files are not trusted:
 * one that is truncated, too long, inconsistent or of another kind is refused, with a sentence that
 * names the file, what was found and what was expected.
 *
 * Thread-safety: safe; arrays belong to their owner.
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
 * glcnn_npy_free; on failure *array is all zero and `error`, if not NULL, has the sentence.
 * Errors: GLCNN_IO_ERROR, GLCNN_MALFORMED_DATA, GLCNN_OUT_OF_MEMORY, GLCNN_INVALID_ARGUMENT. */
GLCNN_API glcnn_status glcnn_npy_read(const char *path, struct glcnn_npy *array, char error[512]);
GLCNN_API glcnn_status glcnn_npy_parse(const void *bytes, size_t size, struct glcnn_npy *array,
                                       char error[512]);
/* Releases the data; *array becomes all zero. NULL does nothing. */
GLCNN_API void glcnn_npy_free(struct glcnn_npy *array);

/* Makes the bytes of a .npy file; *bytes is to be released with free(). */
GLCNN_API glcnn_status glcnn_npy_format(const struct glcnn_npy *array, void **bytes, size_t *size,
                                        char error[512]);

/* Writes one file, or `count` files of which either all appear or none. Each is written beside its
 * path and then renamed, so that no reader sees half a file and a failure leaves the old one.
 * Errors: GLCNN_IO_ERROR, GLCNN_OUT_OF_MEMORY, GLCNN_INVALID_ARGUMENT (also for a path that is
 * there twice). */
GLCNN_API glcnn_status glcnn_npy_write(const char *path, const struct glcnn_npy *array,
                                       char error[512]);
GLCNN_API glcnn_status glcnn_npy_write_all(const char *const *paths, const struct glcnn_npy *arrays,
                                           size_t count, char error[512]);

#ifdef __cplusplus
}
#endif
#endif
