/* Reads arrays out of the .npz archives in tests/golden. */
#ifndef GLCNN_TESTS_ARCHIVE_H
#define GLCNN_TESTS_ARCHIVE_H

#include "glcnn/io.h"

struct zip;

/* NULL, with a message on standard error, when it cannot be opened. */
struct zip *archive_open(const char *path);
/* The array of that name, to be released with glcnn_npy_destroy. False, with a
 * message, when there is none. */
bool archive_read(struct zip *archive, const char *name, struct glcnn_npy *array);
/* How many arrays there are whose name begins so. */
size_t archive_count(struct zip *archive, const char *prefix);
/* The largest difference of the values from the array's, over max(1, norm of the array). NAN if one
 * is not a number or the array has not `count` elements. */
double archive_error(const struct glcnn_npy *wanted, const float *found, size_t count);
/* Is that at most `tolerance` for the array of that name? Says by how much it is not. */
bool archive_is_near(struct zip *archive, const char *name, const float *found, size_t count,
                     double tolerance);
void archive_close(struct zip *archive);

#endif
