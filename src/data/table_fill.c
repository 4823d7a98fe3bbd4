/* The one way in which numbers become images, whatever the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "table.h"

#define DEFAULT_MEMORY ((uint64_t)256 << 20)

/* ---- Shapes ---- */

size_t table_values(const struct table *table)
{
    return (size_t)table->width * table->height * table->channels;
}

/* The side of a square of so many pixels; 0: there is none. */
static uint32_t side_of(uint32_t pixels)
{
    uint32_t side = (uint32_t)(sqrt((double)pixels) + 0.5);
    return side * side == pixels ? side : 0;
}

/* F numbers in a row. */
static void shape_row(const struct glcnn_data_parameters *p, uint32_t length, struct table *table)
{
    bool asked = p->width && p->height && p->channels &&
                 (uint64_t)p->width * p->height * p->channels == length;
    uint32_t grey = side_of(length), colour = length % 3 == 0 ? side_of(length / 3) : 0;
    table->channels = asked ? p->channels : !grey && colour ? 3 : 1;
    table->height = asked ? p->height : grey ? grey : colour ? colour : 1;
    table->width = length / table->channels / table->height;
}

/* Whether the channels of [first][middle][last] are the first. */
static bool is_planar_shape(uint32_t first, uint32_t middle, uint32_t last)
{
    if (first != middle && middle == last)
        return true;
    if (first == middle && middle != last)
        return false;
    return first <= last;
}

static bool is_asked_for(uint32_t asked, uint32_t found)
{
    return asked == 0 || asked == found;
}

static glcnn_status check_shape(const struct reading *r, const struct table *t)
{
    const struct glcnn_data_parameters *p = r->parameters;
    if (t->width > GLCNN_DATA_MAX_SIDE || t->height > GLCNN_DATA_MAX_SIDE ||
        t->channels > GLCNN_DATA_MAX_CHANNELS)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: its images are %u x %u of %u channels; expected %d x %d of %d at "
                         "most",
                         r->path, t->width, t->height, t->channels, GLCNN_DATA_MAX_SIDE,
                         GLCNN_DATA_MAX_SIDE, GLCNN_DATA_MAX_CHANNELS);
    if (is_asked_for(p->width, t->width) && is_asked_for(p->height, t->height) &&
        is_asked_for(p->channels, t->channels))
        return GLCNN_SUCCESS;
    return fail_with(
        r->error, GLCNN_UNSUPPORTED,
        "%.250s: its images are %u x %u of %u channels, and %u x %u of %u are requested (0: "
        "any); only pictures are scaled",
        r->path, t->width, t->height, t->channels, p->width, p->height, p->channels);
}

glcnn_status table_shape(const struct reading *r, uint32_t rank, const uint32_t *shape,
                         struct table *table, bool *is_planar)
{
    if (rank < 2 || rank > 4)
        return fail_with(r->error, GLCNN_MALFORMED_DATA,
                         "%.300s: its images have %u dimensions; expected [N][C][H][W], "
                         "[N][H][W][C], [N][H][W] or [N][F]",
                         r->path, rank);
    table->count = shape[0];
    *is_planar = rank == 2 || (rank == 4 && is_planar_shape(shape[1], shape[2], shape[3]));
    if (rank == 2) {
        shape_row(r->parameters, shape[1], table);
    } else {
        const uint32_t *size = shape + (rank == 4 && *is_planar ? 2 : 1);
        table->height = size[0];
        table->width = size[1];
        table->channels = rank == 3 ? 1 : *is_planar ? shape[1] : shape[3];
    }
    return check_shape(r, table);
}

/* ---- Values ---- */

/* Whether all values are bytes; a value that is not finite is refused. */
static glcnn_status look_at_values(const struct reading *r, const struct rows *rows, float *values,
                                   bool *are_bytes)
{
    *are_bytes = true;
    for (uint32_t n = 0; n < rows->count; n++) {
        rows->get(rows, n, values);
        for (size_t i = 0; i < rows->length; i++) {
            if (!isfinite(values[i]))
                return fail_with(r->error, GLCNN_MALFORMED_DATA,
                                 "%.300s: value %zu of image %u is not finite", r->path, i, n);
            *are_bytes &= values[i] >= 0 && values[i] <= 255 && values[i] == floorf(values[i]);
        }
    }
    return GLCNN_SUCCESS;
}

static glcnn_status choose_kind(const struct reading *r, const struct rows *rows, float *values,
                                bool *are_bytes)
{
    glcnn_data_values asked = r->parameters->values;
    glcnn_status status = look_at_values(r, rows, values, are_bytes);
    if (status != GLCNN_SUCCESS)
        return status;
    if (asked == GLCNN_DATA_VALUES_BYTES && !*are_bytes)
        return fail_with(
            r->error, GLCNN_UNSUPPORTED,
            "%.300s: bytes are requested, but it has values that are not whole numbers in 0 .. 255",
            r->path);
    if (asked == GLCNN_DATA_VALUES_NUMBERS)
        *are_bytes = false;
    if (asked == GLCNN_DATA_VALUES_AUTOMATIC)
        *are_bytes &= rows->are_whole;
    return GLCNN_SUCCESS;
}

static void store(struct table *table, size_t at, float value)
{
    if (table->bytes)
        table->bytes[at] = (uint8_t)value;
    else
        table->floats[at] = value;
}

static void store_row(struct table *table, uint32_t n, const float *values, bool is_planar)
{
    size_t pixels = (size_t)table->width * table->height, channels = table->channels;
    size_t base = n * pixels * channels;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            store(table, base + i * channels + c,
                  values[is_planar ? c * pixels + i : i * channels + c]);
}

static glcnn_status fill(const struct reading *r, const struct rows *rows, float *values,
                         struct table *table)
{
    bool are_bytes;
    glcnn_status status = choose_kind(r, rows, values, &are_bytes);
    if (status != GLCNN_SUCCESS)
        return status;
    size_t count = rows->count * rows->length;
    if (are_bytes)
        table->bytes = malloc(count);
    else if (count <= SIZE_MAX / sizeof(float))
        table->floats = malloc(count * sizeof(float));
    if (!table->bytes && !table->floats)
        return fail_no_memory(r->error, r->path);
    for (uint32_t n = 0; n < rows->count; n++) {
        rows->get(rows, n, values);
        store_row(table, n, values, rows->is_planar);
    }
    return GLCNN_SUCCESS;
}

glcnn_status table_fill(const struct reading *r, const struct rows *rows, struct table *table)
{
    float *values = malloc(rows->length * sizeof *values);
    table->path = strdup(r->path);
    glcnn_status status =
        values && table->path ? fill(r, rows, values, table) : fail_no_memory(r->error, r->path);
    free(values);
    return status;
}

static void copy_planes(const uint8_t *values, struct table *table)
{
    const size_t pixels = (size_t)table->width * table->height, channels = table->channels;
    uint8_t *to = table->bytes;
    for (uint32_t n = 0; n < table->count; n++, values += pixels * channels)
        for (size_t i = 0; i < pixels; i++)
            for (size_t c = 0; c < channels; c++)
                *to++ = values[c * pixels + i];
}

glcnn_status table_fill_bytes(const struct reading *r, const uint8_t *values, bool is_planar,
                              struct table *table)
{
    const size_t count = table->count * table_values(table);
    table->path = strdup(r->path);
    table->bytes = malloc(count);
    if (!table->path || !table->bytes)
        return fail_no_memory(r->error, r->path);
    if (is_planar)
        copy_planes(values, table);
    else
        memcpy(table->bytes, values, count);
    return GLCNN_SUCCESS;
}

uint64_t data_memory(const struct glcnn_data_parameters *parameters)
{
    return parameters->memory ? parameters->memory : DEFAULT_MEMORY;
}
