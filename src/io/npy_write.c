/* Writing .npy: the header, then the elements, in the format of the array. */
#include "base/fail.h"
#include "io/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/float16.h"
#include "io/files.h"

#define ALIGNMENT 64 /* of the first element in the file */

static bool is_float16(const struct glcnn_npy *array)
{
    return array->format == GLCNN_CHANNEL_FORMAT_FLOAT16;
}

static glcnn_status refuse(char error[GLCNN_ERROR_LENGTH], glcnn_status status, const char *message)
{
    return fail_with(error, status, "%s", message);
}

/* Number of elements; 0 for an array that cannot be written. */
static size_t count_elements(const struct glcnn_npy *array)
{
    size_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++) {
        if (array->shape[i] == 0 || count > (SIZE_MAX / 16) / array->shape[i])
            return 0;
        count *= array->shape[i];
    }
    return count;
}

/* "(3, 4)", "(3,)" and "()" as Python writes tuples. */
static void format_shape(const struct glcnn_npy *array, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "(");
    for (uint32_t i = 0; i < array->rank; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s%u", i ? ", " : "", array->shape[i]);
    snprintf(text + length, size - length, array->rank == 1 ? ",)" : ")");
}

/* Writes everything before the elements; returns its length. Version 1: the length takes two
 * bytes. */
static size_t format_header(const struct glcnn_npy *array, char header[512])
{
    char shape[16 * GLCNN_MAX_RANK];
    format_shape(array, shape, sizeof shape);
    int text =
        snprintf(header + 10, 400, "{'descr': '<f%c', 'fortran_order': False, 'shape': %s, }",
                 is_float16(array) ? '2' : '4', shape);
    size_t used = 10 + (size_t)text + 1;
    size_t total = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header + used - 1, ' ', total - used);
    header[total - 1] = '\n';
    memcpy(header, NPY_MAGIC "\1", 8); /* the string's NUL is the minor version */
    header[8] = (char)((total - 10) & 255);
    header[9] = (char)((total - 10) >> 8);
    return total;
}

static void put_little_endian(uint8_t *at, uint32_t bits, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(bits >> 8 * i);
}

static void format_elements(const struct glcnn_npy *array, size_t count, uint8_t *at)
{
    size_t size = is_float16(array) ? 2 : 4;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        if (size == 2)
            bits = float16_from_float(array->data[i]);
        else
            memcpy(&bits, &array->data[i], sizeof bits);
        put_little_endian(at + i * size, bits, size);
    }
}

glcnn_status glcnn_npy_format(const struct glcnn_npy *array, void **bytes, size_t *size,
                              char error[GLCNN_ERROR_LENGTH])
{
    if (!bytes || !size)
        return refuse(error, GLCNN_INVALID_ARGUMENT, "npy: bytes or size is NULL");
    *bytes = NULL;
    *size = 0;
    if (!array || !array->data || array->rank > GLCNN_MAX_RANK)
        return refuse(error, GLCNN_INVALID_ARGUMENT,
                      "npy: the array has no data or a rank above 8");
    size_t count = count_elements(array);
    if (count == 0)
        return refuse(error, GLCNN_INVALID_ARGUMENT,
                      "npy: the array has no elements, or more than memory can hold");
    char header[512];
    size_t offset = format_header(array, header);
    size_t total = offset + count * (is_float16(array) ? 2 : 4);
    uint8_t *file = malloc(total);
    if (!file)
        return refuse(error, GLCNN_OUT_OF_MEMORY, "npy: not enough memory for the file");
    memcpy(file, header, offset);
    format_elements(array, count, file + offset);
    *bytes = file;
    *size = total;
    return GLCNN_SUCCESS;
}

static glcnn_status check_paths(const char *const *paths, size_t count,
                                char error[GLCNN_ERROR_LENGTH])
{
    for (size_t i = 0; i < count; i++) {
        if (!paths[i])
            return refuse(error, GLCNN_INVALID_ARGUMENT, "npy: a path is NULL");
        for (size_t j = 0; j < i; j++)
            if (strcmp(paths[i], paths[j]) == 0)
                return fail_with(error, GLCNN_INVALID_ARGUMENT,
                                 "%.300s: is named twice; each output needs a file of its own",
                                 paths[i]);
    }
    return GLCNN_SUCCESS;
}

/* All bytes of the file, on the disk, but not yet under its name. */
static glcnn_status prepare(const char *path, const struct glcnn_npy *array, glcnn_file **file,
                            char error[GLCNN_ERROR_LENGTH])
{
    void *bytes;
    size_t size;
    glcnn_status status = glcnn_npy_format(array, &bytes, &size, error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_create(path, file, error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_write(*file, bytes, size, error);
    if (status == GLCNN_SUCCESS)
        status = glcnn_file_sync(*file, error);
    free(bytes);
    return status;
}

/* Renames one after the other, which is all that can fail by now. */
static glcnn_status commit_all(glcnn_file **files, size_t count, char error[GLCNN_ERROR_LENGTH])
{
    for (size_t i = 0; i < count; i++) {
        glcnn_status status = glcnn_file_commit(&files[i], error);
        if (status == GLCNN_SUCCESS)
            continue;
        size_t length = error ? strlen(error) : 0;
        if (error && i > 0)
            snprintf(error + length, GLCNN_ERROR_LENGTH - length,
                     "; replaced before it: %zu of %zu files", i, count);
        return status;
    }
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_npy_write_all(const char *const *paths, const struct glcnn_npy *arrays,
                                 size_t count, char error[GLCNN_ERROR_LENGTH])
{
    if (count > 0 && (!paths || !arrays))
        return refuse(error, GLCNN_INVALID_ARGUMENT, "npy: paths or arrays is NULL");
    glcnn_status status = check_paths(paths, count, error);
    glcnn_file **files = calloc(count + 1, sizeof(glcnn_file *));
    if (!files)
        return refuse(error, GLCNN_OUT_OF_MEMORY, "npy: not enough memory for the files");
    for (size_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = prepare(paths[i], &arrays[i], &files[i], error);
    if (status == GLCNN_SUCCESS)
        status = commit_all(files, count, error);
    for (size_t i = 0; i < count; i++)
        glcnn_file_discard(&files[i]);
    free(files);
    return status;
}

glcnn_status glcnn_npy_write(const char *path, const struct glcnn_npy *array,
                             char error[GLCNN_ERROR_LENGTH])
{
    if (!array)
        return refuse(error, GLCNN_INVALID_ARGUMENT, "npy: the array is NULL");
    return glcnn_npy_write_all(&path, array, 1, error);
}
