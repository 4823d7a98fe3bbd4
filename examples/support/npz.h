/* Archives of named arrays, as numpy.savez writes and numpy.load reads them: a zip file with one
 * NAME.npy for each array. */
#ifndef SUPPORT_NPZ_H
#define SUPPORT_NPZ_H

#include <glcnn/glcnn.h>

/* Writes `count` arrays as float32, as glcnn_file_save writes; the same arrays make the same bytes.
 * False, with a message, if it cannot be written. */
bool npz_write(const char *path, const struct glcnn_array *arrays, size_t count,
               char error[GLCNN_ERROR_LENGTH]);

#endif
