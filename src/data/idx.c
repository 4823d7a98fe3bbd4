/* IDX files, the format of MNIST and Fashion-MNIST:
 *
 *     0 0 8 R          magic: elements are bytes, R dimensions
 *     R x 4 bytes      their extents, big-endian
 *     the bytes        in C order, nothing behind them */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "table.h"

#define MAX_RANK 4

struct array {
    uint32_t rank, shape[MAX_RANK];
    const uint8_t *data;
};

static glcnn_status parse_extents(const struct reading *r, const struct bytes *bytes,
                                  struct array *array)
{
    size_t begin = 4 + 4 * (size_t)array->rank, size = 1;
    if (bytes->size < begin)
        return fail_with(r->error, GLCNN_MALFORMED_DATA, "%.300s: ends within its header", r->path);
    for (uint32_t i = 0; i < array->rank; i++) {
        const uint8_t *at = bytes->data + 4 + 4 * i;
        uint32_t extent =
            (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        if (extent == 0 || extent > BYTES_MAX / size)
            return fail_with(r->error, GLCNN_MALFORMED_DATA,
                             "%.300s: dimension %u is %u; expected 1 or more, and %zu bytes in all "
                             "at most",
                             r->path, i, extent, BYTES_MAX);
        array->shape[i] = extent;
        size *= extent;
    }
    array->data = bytes->data + begin;
    if (bytes->size - begin == size)
        return GLCNN_SUCCESS;
    return fail_with(r->error, GLCNN_MALFORMED_DATA,
                     "%.300s: is %s: it has %zu bytes of data, and its header promises %zu",
                     r->path, bytes->size - begin < size ? "truncated" : "too long",
                     bytes->size - begin, size);
}

static glcnn_status parse(const struct reading *r, const struct bytes *bytes, struct array *array)
{
    const uint8_t *head = bytes->data;
    if (bytes->size < 4 || head[0] != 0 || head[1] != 0 || head[2] != 8)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: is not an IDX file of bytes: it does not begin with 0 0 8",
                         r->path);
    array->rank = head[3];
    if (array->rank < 1 || array->rank > MAX_RANK)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %u dimensions; expected 1 to %d", r->path, array->rank,
                         MAX_RANK);
    return parse_extents(r, bytes, array);
}

static glcnn_status check(const struct reading *r, const struct bytes *bytes)
{
    struct array array;
    return parse(r, bytes, &array);
}

static glcnn_status take_images(const struct reading *r, const struct bytes *bytes,
                                struct table *table)
{
    struct array array;
    bool is_planar;
    glcnn_status status = parse(r, bytes, &array);
    if (status == GLCNN_SUCCESS)
        status = table_shape(r, array.rank, array.shape, table, &is_planar);
    return status == GLCNN_SUCCESS ? table_fill_bytes(r, array.data, is_planar, table) : status;
}

static glcnn_status name_labels(const struct reading *r, const struct array *array, uint32_t count,
                                uint32_t **labels)
{
    glcnn_status status = GLCNN_SUCCESS;
    *labels = malloc(count * sizeof **labels);
    if (!*labels)
        return fail_no_memory(r->error, r->path);
    for (uint32_t n = 0; n < count && status == GLCNN_SUCCESS; n++)
        status = names_add_number(r->names, array->data[n], r->path, &(*labels)[n], r->error);
    return status;
}

static glcnn_status take_numbers(const struct reading *r, const struct array *array, uint32_t count,
                                 struct content *content)
{
    content->number_count = 1;
    content->numbers = malloc(count * sizeof *content->numbers);
    for (uint32_t n = 0; content->numbers && n < count; n++)
        content->numbers[n] = array->data[n];
    return content->numbers ? GLCNN_SUCCESS : fail_no_memory(r->error, r->path);
}

static glcnn_status take_labels(const struct reading *r, const struct bytes *bytes,
                                struct content *content)
{
    struct array array;
    const uint32_t count = content->table.count;
    glcnn_status status = parse(r, bytes, &array);
    if (status != GLCNN_SUCCESS)
        return status;
    if (array.rank != 1 || array.shape[0] != count)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %u labels in %u dimensions, and there are %u images", r->path,
                         array.shape[0], array.rank, count);
    return r->names ? name_labels(r, &array, count, &content->labels)
                    : take_numbers(r, &array, count, content);
}

const struct array_format array_idx = {check, NULL, take_images, take_labels};
