/* Digests of images, by which two that are the same are noticed wherever they lie. */
#include <stdlib.h>
#include <string.h>

#include "set.h"

#define CHUNK  ((size_t)16 << 10) /* bytes that are read at a time */
#define CHUNKS 4                  /* of a file; a longer one has its first, middle and last read */

/* FNV-1a of 64 bits, by words instead of bytes. */
static uint64_t add_word(uint64_t digest, uint64_t word)
{
    return (digest ^ word) * UINT64_C(0x100000001b3);
}

/* The last step of SplitMix64: all bits of the digest depend on all of the words. Never 0. */
static uint64_t mix(uint64_t digest)
{
    digest = (digest ^ (digest >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    digest = (digest ^ (digest >> 27)) * UINT64_C(0x94d049bb133111eb);
    digest ^= digest >> 31;
    return digest ? digest : 1;
}

static bool add_chunk(FILE *stream, off_t offset, uint64_t *digest)
{
    uint8_t bytes[CHUNK];
    if (fseeko(stream, offset, SEEK_SET) != 0)
        return false;
    const size_t count = fread(bytes, 1, CHUNK, stream);
    for (size_t i = 0; i < count; i++)
        *digest = add_word(*digest, bytes[i]);
    return !ferror(stream);
}

static uint64_t digest_file(const struct picture_file *file)
{
    struct picture_file now;
    FILE *stream = open_picture(file->path, &now);
    if (!stream)
        return 0;
    const off_t size = now.bytes, chunk = (off_t)CHUNK;
    const bool is_short = size <= CHUNKS * chunk;
    uint64_t digest = add_word(UINT64_C(0xcbf29ce484222325), (uint64_t)size);
    bool good = true;
    for (off_t at = 0; is_short && good && at < size; at += chunk)
        good = add_chunk(stream, at, &digest);
    for (off_t i = 0; !is_short && good && i < 3; i++)
        good = add_chunk(stream, i * (size - chunk) / 2, &digest);
    fclose(stream);
    return good ? mix(digest) : 0;
}

/* Bytes count as the numbers that they stand for: an image is the same in a table of floats. */
static uint64_t digest_values(const uint8_t *bytes, const float *floats, size_t count)
{
    uint64_t digest = add_word(UINT64_C(0xcbf29ce484222325), count);
    for (size_t i = 0; i < count; i++) {
        const float value = bytes ? (float)bytes[i] / 255 : floats[i];
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        digest = add_word(digest, word);
    }
    return mix(digest);
}

static uint64_t digest_row(const glcnn_dataset *set, const struct item *item)
{
    char error[GLCNN_ERROR_LENGTH];
    struct image_values v;
    void *room = malloc(image_values_room(set));
    const bool good = room && image_values_read(set, item, room, &v, error) == GLCNN_SUCCESS;
    const uint64_t digest = good ? digest_values(v.bytes, v.floats, set_values(set)) : 0;
    free(room);
    return digest;
}

uint64_t glcnn_dataset_image_digest(const glcnn_dataset *data, glcnn_data_part part, uint32_t index)
{
    const struct item *item = set_item(data, part, index);
    if (!item)
        return 0;
    return item->table == NO_TABLE ? digest_file(&data->files[item->index])
                                   : digest_row(data, item);
}
