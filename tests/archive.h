/* Reads arrays out of the .npz archives in tests/golden. */
#ifndef GLCNN_TESTS_ARCHIVE_H
#define GLCNN_TESTS_ARCHIVE_H

#include "glcnn/io.h"

struct zip;

/* NULL, with a message on standard error, when it cannot be opened. */
struct zip *archive_open(const char *path);
/* The array of that name, to be released with glcnn_npy_free. False, with a
 * message, when there is none. */
bool archive_read(struct zip *archive, const char *name, struct glcnn_npy *array);
void archive_close(struct zip *archive);

#endif
