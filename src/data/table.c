/* Tables: their life, pairs of files that have one, and what reads them whole. */
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glcnn/io.h>

#include "base/fail.h"
#include "stored.h"

void table_free(struct table *table)
{
    free(table->path);
    free(table->bytes);
    free(table->floats);
    stored_close(table->stored);
    *table = (struct table){0};
}

void content_free(struct content *content)
{
    table_free(&content->table);
    free(content->labels);
    free(content->numbers);
    *content = (struct content){.labels = NULL};
}

bool reading_is_labelled(const struct reading *r)
{
    return r->names || r->takes_numbers;
}

/* ---- Pairs of files ---- */

/* To be released with free(); NULL: not enough memory, or there is no "images" in the name. */
static char *labels_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *found = NULL;
    for (const char *at = name; (at = strstr(at, "images")); at++)
        found = at;
    char *copy = found ? strdup(path) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy + (found - path), "labels", 6);
    char *rank = strstr(copy + (found - path), "idx3");
    if (rank)
        rank[3] = '1';
    return copy;
}

/* Before the file is read whole, which may be large and have nothing. One that is gzipped does not say
 * how large it is. */
static glcnn_status check_head(const struct reading *r, const struct array_format *format)
{
    int descriptor;
    uint64_t size;
    glcnn_status status = glcnn_file_open(r->path, &descriptor, &size, r->error);
    if (status != GLCNN_SUCCESS)
        return status;
    const size_t part = size < ARRAY_HEAD ? (size_t)size : ARRAY_HEAD;
    struct bytes head = {.data = calloc(part + 1, 1), .size = (size_t)size};
    status = head.data ? glcnn_file_read(descriptor, r->path, 0, head.data, part, r->error)
                       : fail_no_memory(r->error, r->path);
    close(descriptor);
    if (status == GLCNN_SUCCESS && !bytes_are_gzipped(head.data, part))
        status = format->check(r, &head);
    bytes_free(&head);
    return status;
}

static glcnn_status read_labels(const struct reading *r, const struct array_format *format,
                                struct content *content)
{
    struct bytes bytes = {0};
    struct reading beside = *r;
    char *path = labels_path(r->path);
    if (!path)
        return fail_with(
            r->error, GLCNN_MALFORMED_DATA,
            "%.300s: has no labels: expected a file beside it, with \"labels\" in its name in "
            "place of \"images\"",
            r->path);
    beside.path = path;
    glcnn_status status = check_head(&beside, format);
    if (status == GLCNN_SUCCESS)
        status = bytes_read_file(&bytes, path, BYTES_MAX, r->error);
    if (status == GLCNN_SUCCESS)
        status = format->take_labels(&beside, &bytes, content);
    bytes_free(&bytes);
    free(path);
    return status;
}

static glcnn_status read_images(const struct reading *r, const struct array_format *format,
                                struct table *table)
{
    struct bytes bytes = {0};
    glcnn_status status = format->leave_images ? format->leave_images(r, table) : GLCNN_SUCCESS;
    if (status != GLCNN_SUCCESS || table->stored)
        return status;
    status = check_head(r, format);
    if (status == GLCNN_SUCCESS)
        status = bytes_read_file(&bytes, r->path, BYTES_MAX, r->error);
    if (status == GLCNN_SUCCESS)
        status = format->take_images(r, &bytes, table);
    bytes_free(&bytes);
    return status;
}

glcnn_status array_read(const struct reading *r, const struct array_format *format,
                        struct content *content)
{
    *content = (struct content){0};
    glcnn_status status = read_images(r, format, &content->table);
    if (status == GLCNN_SUCCESS && reading_is_labelled(r))
        status = read_labels(r, format, content);
    if (status != GLCNN_SUCCESS)
        content_free(content);
    return status;
}

/* ---- Floats ---- */

/* Image after image, out of memory or of the file; `image` has room for two. */
static glcnn_status convert(struct table *table, uint8_t *image, char *error)
{
    const size_t values = table_values(table);
    float *to = table->floats;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t n = 0; n < table->count && status == GLCNN_SUCCESS; n++) {
        const uint8_t *from = table->bytes ? table->bytes + n * values : image;
        if (table->stored)
            status = stored_image(table, n, image, error);
        for (size_t i = 0; i < values; i++)
            *to++ = from[i];
    }
    return status;
}

glcnn_status table_make_floats(struct table *table, char *error)
{
    const size_t values = table_values(table), count = table->count * values;
    if (table->floats)
        return GLCNN_SUCCESS;
    uint8_t *image = malloc(2 * values);
    table->floats = count <= SIZE_MAX / sizeof(float) ? malloc(count * sizeof(float)) : NULL;
    glcnn_status status =
        image && table->floats ? convert(table, image, error) : fail_no_memory(error, table->path);
    free(image);
    free(table->bytes);
    stored_close(table->stored);
    table->bytes = NULL;
    table->stored = NULL;
    return status;
}
