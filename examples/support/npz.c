/* libzip writes a temporary file beside the path and renames it in zip_close. */
#include "npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* 1980-01-01 00:00:00, where the dates of zip files begin, as numpy.savez has it. A date of its own
 * in each file would make the same arrays different files. */
#define DOS_EPOCH_DATE ((1 << 5) | 1)

static bool fail(char error[256], const char *path, const char *reason)
{
    snprintf(error, 256, "%.120s: cannot be written: %.100s", path, reason);
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
                      char error[256])
{
    struct glcnn_npy npy = {.rank = array->rank, .data = array->data};
    char name[128], sentence[512];
    void *bytes;
    size_t size;
    memcpy(npy.shape, array->shape, sizeof npy.shape);
    if (glcnn_npy_format(&npy, &bytes, &size, sentence) != GLCNN_SUCCESS)
        return fail(error, path, sentence);
    snprintf(name, sizeof name, "%s.npy", array->name);
    return add_file(archive, name, bytes, size) || fail(error, path, zip_strerror(archive));
}

bool npz_write(const char *path, const struct glcnn_array *arrays, size_t count, char error[256])
{
    int code;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!archive) {
        zip_error_t reason;
        zip_error_init_with_code(&reason, code);
        fail(error, path, zip_error_strerror(&reason));
        zip_error_fini(&reason);
        return false;
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
