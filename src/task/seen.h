/* Which pictures a network was trained on, as its file remembers it: digests of at most SEEN_MAX pictures,
 * without names or paths. Of more pictures those of the smallest digests are kept, which is a sample: all
 * pictures whose digest is at most `limit` are in it. */
#ifndef GLCNN_TASK_SEEN_H
#define GLCNN_TASK_SEEN_H

#include "pictures.h"

#define SEEN_MAX 1024

struct seen {
    uint64_t limit; /* UINT64_MAX: every picture is in it */
    uint32_t count;
    uint64_t digests[SEEN_MAX]; /* in their order, none twice */
};

/* Adds the training pictures, `limit` of them where that is not 0, as a loader takes them. False: not
 * enough memory. */
bool seen_add(struct seen *seen, const struct pictures *pictures, uint32_t limit);

/* As a file has it: numbers of 64 bits, the lowest byte first. */
#define SEEN_BYTES (8 * (SEEN_MAX + 1))
size_t seen_write(const struct seen *seen, uint8_t bytes[SEEN_BYTES]);
/* False: no file of this library has such bytes. */
bool seen_read(struct seen *seen, const uint8_t *bytes, size_t size);
/* Adds what another one has. */
void seen_merge(struct seen *seen, const struct seen *other);

/* How many pictures of a part were trained on; *is_exact is false where that is estimated by the sample. */
uint32_t seen_count(const struct seen *seen, const struct pictures *pictures, glcnn_data_part part,
                    bool *is_exact);

#endif
