/* Digests of the pictures that a network was trained on, of many the smallest. */
#include "seen.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of digests in any order the smallest. What is above the limit is not known to be complete. */
static void keep_smallest(struct seen *seen, uint64_t *digests, size_t count)
{
    qsort(digests, count, sizeof *digests, compare);
    seen->count = 0;
    for (size_t i = 0; i < count && digests[i] <= seen->limit; i++) {
        if (seen->count > 0 && digests[i] == seen->digests[seen->count - 1])
            continue;
        if (seen->count == SEEN_MAX) {
            seen->limit = seen->digests[SEEN_MAX - 1];
            return;
        }
        seen->digests[seen->count++] = digests[i];
    }
}

bool seen_add(struct seen *seen, const struct pictures *pictures, uint32_t limit)
{
    const uint64_t all = pictures->info->counts[GLCNN_DATA_PART_TRAINING],
                   taken = limit > 0 && limit < all ? limit : all;
    uint64_t *digests = malloc((taken + SEEN_MAX) * sizeof *digests);
    size_t count = seen->count;
    if (!digests)
        return false;
    memcpy(digests, seen->digests, count * sizeof *digests);
    for (uint64_t i = 0; i < taken; i++) {
        const uint32_t picture = (uint32_t)(i * all / taken); /* as glcnn/data.h says */
        const uint64_t digest =
            glcnn_dataset_image_digest(pictures->set, GLCNN_DATA_PART_TRAINING, picture);
        if (digest > 0)
            digests[count++] = digest;
    }
    keep_smallest(seen, digests, count);
    free(digests);
    return true;
}

void seen_merge(struct seen *seen, const struct seen *other)
{
    uint64_t digests[2 * SEEN_MAX];
    const size_t count = seen->count;
    memcpy(digests, seen->digests, count * sizeof *digests);
    memcpy(digests + count, other->digests, other->count * sizeof *digests);
    seen->limit = seen->limit < other->limit ? seen->limit : other->limit;
    keep_smallest(seen, digests, count + other->count);
}

static void write_number(uint64_t number, uint8_t *bytes)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t read_number(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

size_t seen_write(const struct seen *seen, uint8_t bytes[SEEN_BYTES])
{
    write_number(seen->limit, bytes);
    for (size_t i = 0; i < seen->count; i++)
        write_number(seen->digests[i], bytes + 8 * (i + 1));
    return 8 * ((size_t)seen->count + 1);
}

bool seen_read(struct seen *seen, const uint8_t *bytes, size_t size)
{
    if (size < 8 || size % 8 > 0 || size > SEEN_BYTES)
        return false;
    seen->limit = read_number(bytes);
    seen->count = (uint32_t)(size / 8 - 1);
    for (size_t i = 0; i < seen->count; i++)
        seen->digests[i] = read_number(bytes + 8 * (i + 1));
    for (size_t i = 1; i < seen->count; i++)
        if (seen->digests[i] <= seen->digests[i - 1])
            return false;
    return seen->count == 0 || seen->digests[seen->count - 1] <= seen->limit;
}

uint32_t seen_count(const struct seen *seen, const struct pictures *pictures, glcnn_data_part part,
                    bool *is_exact)
{
    const uint32_t count = pictures->info->counts[part];
    uint64_t looked = 0, found = 0;
    *is_exact = seen->limit == UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t digest = glcnn_dataset_image_digest(pictures->set, part, i);
        if (digest == 0 || digest > seen->limit)
            continue;
        looked++;
        found += bsearch(&digest, seen->digests, seen->count, sizeof digest, compare) != NULL;
    }
    if (*is_exact || looked == 0)
        return (uint32_t)found;
    return (uint32_t)((double)count * (double)found / (double)looked + 0.5);
}
