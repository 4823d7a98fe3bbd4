/* libzip makes the archive in memory: the library has the one way to write a file. */
#include "npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* 1980-01-01 00:00:00, where the dates of zip files begin, as numpy.savez has it. A date of its own
 * in each file would make the same arrays different files. */
#define DOS_EPOCH_DATE ((1 << 5) | 1)

static bool fail(char error[GLCNN_ERROR_LENGTH], const char *path, const char *reason)
{
    snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: cannot be written: %.150s", path, reason);
    return false;
}

/* Adds a file of `bytes`, which belong to the archive from here on, whatever comes of it. */
static bool add_file(zip_t *archive, const char *name, void *bytes, size_t size)
{
    zip_source_t *source = zip_source_buffer(archive, bytes, size, 1);
    if (!source) {
        free(bytes);
        return false;
    }
    zip_int64_t index = zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return false;
    }
    return zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_dostime(archive, (zip_uint64_t)index, 0, DOS_EPOCH_DATE, 0) == 0;
}

static bool add_array(zip_t *archive, const char *path, const struct glcnn_array *array,
                      char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_npy npy = {.rank = array->rank, .data = array->data};
    char name[128], message[GLCNN_ERROR_LENGTH];
    void *bytes;
    size_t size;
    memcpy(npy.shape, array->shape, sizeof npy.shape);
    if (glcnn_npy_format(&npy, &bytes, &size, message) != GLCNN_SUCCESS)
        return fail(error, path, message);
    snprintf(name, sizeof name, "%s.npy", array->name);
    return add_file(archive, name, bytes, size) || fail(error, path, zip_strerror(archive));
}

/* Reads the archive out of what libzip has written into memory; false if memory is short. */
static bool read_source(zip_source_t *source, void **bytes, size_t *size)
{
    zip_stat_t stat;
    *bytes = NULL;
    if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0)
        return false;
    *size = (size_t)stat.size;
    *bytes = malloc(*size);
    bool good = *bytes && zip_source_read(source, *bytes, *size) == (zip_int64_t)*size;
    zip_source_close(source);
    return good;
}

/* Writes the archive into `source`. */
static bool fill(zip_source_t *source, const char *path, const struct glcnn_array *arrays,
                 size_t count, char error[GLCNN_ERROR_LENGTH])
{
    zip_source_keep(source); /* the archive takes one reference away with it */
    zip_t *archive = zip_open_from_source(source, ZIP_TRUNCATE, NULL);
    if (!archive) {
        zip_source_free(source);
        return fail(error, path, "not enough memory");
    }
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = add_array(archive, path, &arrays[i], error);
    if (good && zip_close(archive) == 0)
        return true;
    if (good)
        fail(error, path, zip_strerror(archive));
    zip_discard(archive);
    return false;
}

bool npz_write(const char *path, const struct glcnn_array *arrays, size_t count,
               char error[GLCNN_ERROR_LENGTH])
{
    void *bytes = NULL;
    size_t size;
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, NULL);
    if (!source)
        return fail(error, path, "not enough memory");
    bool good = fill(source, path, arrays, count, error);
    if (good && !read_source(source, &bytes, &size))
        good = fail(error, path, "not enough memory");
    if (good)
        good = glcnn_file_save(path, bytes, size, error) == GLCNN_SUCCESS;
    zip_source_free(source);
    free(bytes);
    return good;
}
