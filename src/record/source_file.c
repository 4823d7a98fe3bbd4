/* Writes the files of GLCNN_SHADERS. */
#include "record/source_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/descriptors.h"
#include "base/text.h"

/* "FOLDER/pooling_max.pooling_max.0123456789abcdef.comp" for a pass of pooling/pooling_max.comp. */
static void write_path(struct text *path, const char *folder, const struct pass *pass,
                       uint64_t hash)
{
    const char *slash = strrchr(pass->shader, '/');
    const char *stem = slash ? slash + 1 : pass->shader;
    text_add(path, folder, strlen(folder));
    text_format(path, "/%s.%.*s.%016" PRIx64 ".comp",
                pass->owner.name[0] ? pass->owner.name : "none", (int)strcspn(stem, "."), stem,
                hash);
}

/* 0 or an error of errno.h; then there is no file. */
static int write_file(const char *path, const char *source)
{
    FILE *file = stream_above_standard(fopen(path, "w"), "w");
    if (!file)
        return errno;
    int error = fputs(source, file) < 0 ? errno : 0;
    if (fclose(file) != 0 && !error)
        error = errno;
    if (error)
        unlink(path);
    return error;
}

void source_file_write(struct glcnn_device *device, const struct pass *pass, const char *source,
                       uint64_t hash)
{
    struct text path = {0};
    if (!device->shader_folder)
        return;
    write_path(&path, device->shader_folder, pass, hash);
    int error = path.failed ? ENOMEM : write_file(path.bytes, source);
    if (error) {
        device_log(device, GLCNN_LOG_WARNING,
                   "GLCNN_SHADERS: %.600s cannot be written: %s; no more shaders are written",
                   path.failed ? device->shader_folder : path.bytes, strerror(error));
        free(device->shader_folder);
        device->shader_folder = NULL;
    }
    text_free(&path);
}
