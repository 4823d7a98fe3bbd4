/* Arrays out of .npz archives. */
#include "tests/archive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

struct zip *archive_open(const char *path)
{
    int code = 0;
    struct zip *archive = zip_open(path, ZIP_RDONLY, &code);
    if (!archive)
        fprintf(stderr, "\n  %s cannot be opened: libzip's error %d\n", path, code);
    return archive;
}

bool archive_read(struct zip *archive, const char *name, struct glcnn_npy *array)
{
    char entry[128], error[512] = "it is not there or cannot be read";
    zip_stat_t stat;
    snprintf(entry, sizeof entry, "%s.npy", name);
    *array = (struct glcnn_npy){0};
    zip_file_t *file = zip_fopen(archive, entry, 0);
    void *bytes = NULL;
    bool good = file && zip_stat(archive, entry, 0, &stat) == 0 && (bytes = malloc(stat.size)) &&
                zip_fread(file, bytes, stat.size) == (zip_int64_t)stat.size;
    good = good && glcnn_npy_parse(bytes, stat.size, array, error) == GLCNN_SUCCESS;
    if (!good)
        fprintf(stderr, "\n  %s: %s\n", entry, error);
    free(bytes);
    if (file)
        zip_fclose(file);
    return good;
}

size_t archive_count(struct zip *archive, const char *prefix)
{
    size_t count = 0;
    for (zip_int64_t i = 0; i < zip_get_num_entries(archive, 0); i++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
        count += name && strncmp(name, prefix, strlen(prefix)) == 0;
    }
    return count;
}

double archive_error(const struct glcnn_npy *wanted, const float *found, size_t count)
{
    double squares = 0, worst = 0;
    size_t elements = 1;
    for (uint32_t i = 0; i < wanted->rank; i++)
        elements *= wanted->shape[i];
    for (size_t i = 0; elements == count && i < count; i++) {
        double error = fabs((double)found[i] - (double)wanted->data[i]);
        if (!(error <= worst) && !isnan(worst))
            worst = error;
        squares += (double)wanted->data[i] * (double)wanted->data[i];
    }
    return elements == count ? worst / fmax(1, sqrt(squares)) : (double)NAN;
}

bool archive_is_near(struct zip *archive, const char *name, const float *found, size_t count,
                     double tolerance)
{
    struct glcnn_npy wanted;
    if (!archive_read(archive, name, &wanted))
        return false;
    double error = archive_error(&wanted, found, count);
    if (!(error <= tolerance))
        fprintf(stderr, "\n  %s is off by %g times max(1, norm)\n", name, error);
    glcnn_npy_destroy(&wanted);
    return error <= tolerance;
}

void archive_close(struct zip *archive)
{
    if (archive)
        zip_discard(archive);
}
