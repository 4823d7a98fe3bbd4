/* Contents of files and of archives' entries, which grow with what has arrived. */
#ifndef GLCNN_DATA_BYTES_H
#define GLCNN_DATA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glcnn/status.h>

#define BYTES_MAX ((size_t)1 << 31) /* of a table, unpacked */

struct bytes {
    uint8_t *data; /* a 0 stands behind the last */
    size_t size, capacity;
};

/* Reads up to `size` bytes; 0 at the end, below 0 after a failure. */
struct bytes_source {
    const char *path;
    long (*read)(void *from, void *bytes, size_t size);
    const char *(*reason)(void *from); /* of the failure */
    void *from;
    bool is_text; /* what has a zero byte is refused as soon as that arrives */
};

/* Reads on to the end; more than `limit` bytes are refused. `bytes` is all zero at first and is to
 * be released with bytes_free, after a failure too. */
glcnn_status bytes_read(struct bytes *bytes, const struct bytes_source *source, size_t limit,
                        char *error);
/* Reads a file, unpacked where it is gzipped. One that is larger than `limit` is refused unread. */
glcnn_status bytes_read_file(struct bytes *bytes, const char *path, size_t limit, char *error);
/* The first bytes of a file, up to `size`, unpacked; to be released as above. */
glcnn_status bytes_read_head(struct bytes *bytes, const char *path, size_t size, char *error);
/* All of a text; what has a zero byte is refused. *text begins behind the mark of UTF-8. */
glcnn_status bytes_read_text(struct bytes *bytes, const char *path, size_t limit, char **text,
                             char *error);
void bytes_free(struct bytes *bytes);

bool bytes_are_gzipped(const uint8_t *bytes, size_t size);

/* Cuts the first line off the text, in place, and gives it without its end; NULL: there is none.
 * *rest becomes what is behind it. */
char *bytes_line(char **rest);

#endif
