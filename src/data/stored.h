/* Images of a .npy that stay in their file: those of bytes that take more memory than may be kept.
 */
#ifndef GLCNN_DATA_STORED_H
#define GLCNN_DATA_STORED_H

#include <glcnn/io.h>

#include "table.h"

/* Whether an array is bytes in the order of C, and these are to stay bytes. */
bool npy_has_bytes(const struct reading *r, const struct glcnn_npy_header *header);

/* Makes a table whose `stored` is set, or leaves it NULL where the file is to be read whole. After a
 * failure the table is to be freed. */
glcnn_status stored_open(const struct reading *r, struct table *table);
/* NULL does nothing. */
void stored_close(struct stored *stored);

/* Reads an image, [height][width][channels]; `bytes` has room for two. Several threads may at once.
 * GLCNN_IO_ERROR where the file is not what it was. */
glcnn_status stored_image(const struct table *table, uint32_t index, uint8_t *bytes, char *error);

#endif
