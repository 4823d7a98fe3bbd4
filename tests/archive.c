#include "tests/archive.h"

#include <stdio.h>
#include <stdlib.h>
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

void archive_close(struct zip *archive)
{
    if (archive)
        zip_discard(archive);
}
