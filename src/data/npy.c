/* Images and labels of .npy files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/io.h>

#include "base/fail.h"
#include "stored.h"

#define EXACT 16777216 /* 2^24: up to it a float has every whole number */

struct array {
    struct glcnn_npy_header header;
    const uint8_t *bytes;
};

static glcnn_status parse(const struct reading *r, const struct bytes *bytes, struct array *array)
{
    char reason[GLCNN_ERROR_LENGTH];
    static const char head[] = "the array: ";
    array->bytes = bytes->data;
    glcnn_status status = glcnn_npy_parse_header(bytes->data, bytes->size, &array->header, reason);
    if (status == GLCNN_SUCCESS)
        return status;
    bool named = strncmp(reason, head, sizeof head - 1) == 0;
    return fail_with(r->error, status, "%.250s: %.250s", r->path,
                     reason + (named ? sizeof head - 1 : 0));
}

static glcnn_status check(const struct reading *r, const struct bytes *bytes)
{
    struct array array;
    return parse(r, bytes, &array);
}

static void get_row(const struct rows *rows, uint32_t row, float *values)
{
    const struct array *array = rows->from;
    glcnn_npy_convert(array->bytes, &array->header, row * rows->length, rows->length, values);
}

static glcnn_status take_images(const struct reading *r, const struct bytes *bytes,
                                struct table *table)
{
    struct array array;
    struct rows rows = {.from = &array, .get = get_row};
    *table = (struct table){0};
    glcnn_status status = parse(r, bytes, &array);
    if (status == GLCNN_SUCCESS)
        status = table_shape(r, array.header.rank, array.header.shape, table, &rows.is_planar);
    if (status != GLCNN_SUCCESS)
        return status;
    if (npy_has_bytes(r, &array.header))
        return table_fill_bytes(r, array.bytes + array.header.begin, rows.is_planar, table);
    rows.count = table->count;
    rows.length = table_values(table);
    rows.are_whole = array.header.type == 'u' || array.header.type == 'i';
    return table_fill(r, &rows, table);
}

static glcnn_status take_label(const struct reading *r, const struct array *array, uint32_t n,
                               uint32_t *label)
{
    float value;
    glcnn_npy_convert(array->bytes, &array->header, n, 1, &value);
    if (!(fabsf(value) <= EXACT) || value != floorf(value))
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: label %u is %g; expected a whole number of at most 2^24", r->path,
                         n, (double)value);
    return names_add_number(r->names, (int64_t)value, r->path, label, r->error);
}

static glcnn_status name_labels(const struct reading *r, const struct array *array, uint32_t count,
                                uint32_t **labels)
{
    glcnn_status status = GLCNN_SUCCESS;
    *labels = malloc(count * sizeof **labels);
    if (!*labels)
        return fail_no_memory(r->error, r->path);
    for (uint32_t n = 0; n < count && status == GLCNN_SUCCESS; n++)
        status = take_label(r, array, n, &(*labels)[n]);
    return status;
}

/* Rows of numbers, one for each image. */
static glcnn_status take_numbers(const struct reading *r, const struct array *array, uint32_t count,
                                 struct content *content)
{
    const size_t all = array->header.count, each = all / count;
    if (all % count != 0 || array->header.shape[0] != count || each > GLCNN_DATA_MAX_NUMBERS)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %zu numbers, %u rows of them, and there are %u images; "
                         "expected a row of up to %d numbers for each image",
                         r->path, all, array->header.shape[0], count, GLCNN_DATA_MAX_NUMBERS);
    content->number_count = (uint32_t)each;
    content->numbers = malloc(all * sizeof *content->numbers);
    if (!content->numbers)
        return fail_no_memory(r->error, r->path);
    glcnn_npy_convert(array->bytes, &array->header, 0, all, content->numbers);
    for (size_t i = 0; i < all; i++)
        if (!isfinite(content->numbers[i]))
            return fail_with(r->error, GLCNN_MALFORMED_DATA,
                             "%.300s: number %zu of label %zu is %g; expected a finite number",
                             r->path, i % each, i / each, (double)content->numbers[i]);
    return GLCNN_SUCCESS;
}

static glcnn_status take_labels(const struct reading *r, const struct bytes *bytes,
                                struct content *content)
{
    struct array array;
    const uint32_t count = content->table.count;
    glcnn_status status = parse(r, bytes, &array);
    if (status != GLCNN_SUCCESS)
        return status;
    if (array.header.rank > 0 && r->takes_numbers)
        return take_numbers(r, &array, count, content);
    if (array.header.rank == 0 || array.header.count != array.header.shape[0])
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: is not a list of labels: it has %u dimensions and %zu elements; "
                         "expected the shape [N]",
                         r->path, array.header.rank, array.header.count);
    if (array.header.count != count)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %zu labels, and there are %u images", r->path,
                         array.header.count, count);
    return name_labels(r, &array, count, &content->labels);
}

const struct array_format array_npy = {check, stored_open, take_images, take_labels};
