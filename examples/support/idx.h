/* IDX files, the format of MNIST and Fashion-MNIST, plain or compressed with gzip:
 *
 *     0 0 8 R          magic: elements are bytes, R dimensions
 *     R x 4 bytes      their extents, big-endian
 *     the bytes        in C order, nothing behind them
 */
#ifndef SUPPORT_IDX_H
#define SUPPORT_IDX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glcnn/status.h>

#define IDX_MAX_RANK 4
#define IDX_MAX_SIZE ((size_t)1 << 30) /* bytes of data; the largest of MNIST's kin has 0.6 GiB */

struct idx {
    uint32_t rank;
    uint32_t shape[IDX_MAX_RANK]; /* images: count, height, width; labels: count */
    size_t size;                  /* of data: the product of the shape */
    uint8_t *data;
};

/* Reads a file that may be anything: false, *out all zero and a sentence if it is not exactly such
 * a file, of IDX_MAX_SIZE at most. No more is unpacked than the header says, and memory grows with
 * what has arrived. Release the result with idx_free. */
bool idx_read(const char *path, struct idx *out, char error[GLCNN_ERROR_LENGTH]);
void idx_free(struct idx *idx);

#endif
