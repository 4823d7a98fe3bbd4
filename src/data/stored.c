/* Images of a .npy that stay in their file. */
#include "stored.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <glcnn/io.h>

#include "base/fail.h"
#include "set.h"

#define HEAD_MAX ((size_t)1 << 17) /* more than what glcnn_npy_parse_header looks at */

struct stored {
    struct picture_file file; /* as it was; the path is the table's */
    FILE *stream;
    size_t begin; /* of the first image */
    bool is_planar;
};

/* ---- Opening ---- */

bool npy_has_bytes(const struct reading *r, const struct glcnn_npy_header *header)
{
    return header->type == 'u' && header->element_size == 1 && !header->fortran &&
           r->parameters->values != GLCNN_DATA_VALUES_NUMBERS;
}

static bool may_stay(const struct reading *r, const struct glcnn_npy_header *header)
{
    return npy_has_bytes(r, header) && header->count > data_memory(r->parameters);
}

/* A file that is no .npy, or a damaged one, is left to those who read all of it, and refuse it. */
static bool read_head(const struct stored *s, struct glcnn_npy_header *header)
{
    const size_t size = (size_t)s->file.bytes, part = size < HEAD_MAX ? size : HEAD_MAX;
    uint8_t *head = malloc(part + 1);
    bool good = head && (uint64_t)s->file.bytes <= SIZE_MAX &&
                pread(fileno(s->stream), head, part, 0) == (ssize_t)part &&
                glcnn_npy_parse_header(head, size, header, NULL) == GLCNN_SUCCESS;
    free(head);
    return good;
}

static glcnn_status take(const struct reading *r, struct stored *found,
                         const struct glcnn_npy_header *header, struct table *table)
{
    glcnn_status status = table_shape(r, header->rank, header->shape, table, &found->is_planar);
    if (status != GLCNN_SUCCESS)
        return status;
    found->begin = header->begin;
    table->path = strdup(r->path);
    table->stored = malloc(sizeof *table->stored);
    if (table->stored)
        *table->stored = *found;
    return table->path && table->stored ? GLCNN_SUCCESS : fail_no_memory(r->error, r->path);
}

glcnn_status stored_open(const struct reading *r, struct table *table)
{
    struct stored found = {.stream = NULL};
    struct glcnn_npy_header header;
    found.stream = open_picture(r->path, &found.file);
    if (!found.stream)
        return GLCNN_SUCCESS;
    glcnn_status status = GLCNN_SUCCESS;
    if (read_head(&found, &header) && may_stay(r, &header))
        status = take(r, &found, &header, table);
    if (!table->stored)
        fclose(found.stream);
    return status;
}

void stored_close(struct stored *stored)
{
    if (stored)
        fclose(stored->stream);
    free(stored);
}

/* ---- Reading ---- */

static glcnn_status read_at(const struct table *table, uint8_t *bytes, size_t size, size_t offset,
                            char *error)
{
    for (size_t got = 0; got < size;) {
        ssize_t part =
            pread(fileno(table->stored->stream), bytes + got, size - got, (off_t)(offset + got));
        if (part < 0 && errno != EINTR)
            return fail_with_errno(error, table->path, "cannot be read");
        if (part == 0)
            return data_tell_change(table->path, "has changed", error);
        got += part > 0 ? (size_t)part : 0;
    }
    return picture_is_as_opened(&table->stored->file, table->stored->stream)
               ? GLCNN_SUCCESS
               : data_tell_change(table->path, "has changed", error);
}

glcnn_status stored_image(const struct table *table, uint32_t index, uint8_t *bytes, char *error)
{
    const size_t values = table_values(table), channels = table->channels;
    const size_t pixels = values / channels;
    const bool moves = table->stored->is_planar && channels > 1;
    uint8_t *read = moves ? bytes + values : bytes;
    glcnn_status status =
        read_at(table, read, values, table->stored->begin + index * values, error);
    for (size_t i = 0; moves && status == GLCNN_SUCCESS && i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            bytes[i * channels + c] = read[c * pixels + i];
    return status;
}
