/* The pixels of pictures: out of memory, or decoded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "set.h"

/* A file that is written over while it is decoded is one that has changed, whatever it looks like:
 * so the last look comes behind the decoding. */
glcnn_status picture_file_decode(const struct picture_file *file, const struct size *size,
                                 uint8_t *pixels, char *error)
{
    char reason[GLCNN_ERROR_LENGTH] = "";
    struct picture_file now;
    FILE *stream = open_picture(file->path, &now);
    if (!stream && (errno == ENOENT || errno == ENOTDIR))
        return data_tell_change(file->path, "has vanished", error);
    if (!stream && errno != 0)
        return fail_with_errno(error, file->path, "cannot be opened");
    glcnn_status status = stream ? picture_decode(stream, size, pixels, reason) : GLCNN_SUCCESS;
    bool is_same = stream && picture_is_as_opened(file, stream);
    if (stream)
        fclose(stream);
    if (!is_same)
        return data_tell_change(file->path, "has changed", error);
    return status == GLCNN_SUCCESS ? status
                                   : fail_with(error, status, "%.250s: %.250s", file->path, reason);
}

void keep_decoded(_Atomic uint8_t *states, uint8_t *kept, uint32_t index, const uint8_t *bytes,
                  size_t size)
{
    uint8_t unknown = PICTURE_UNKNOWN;
    if (!kept || !atomic_compare_exchange_strong(&states[index], &unknown, PICTURE_TAKEN))
        return;
    memcpy(kept + index * size, bytes, size);
    atomic_store(&states[index], PICTURE_KEPT);
}

static void mark_broken(glcnn_dataset *set, uint32_t index, const char *message)
{
    if (atomic_exchange(&set->states[index], PICTURE_BROKEN) != PICTURE_BROKEN)
        set_note(set, 1, message);
}

glcnn_status set_pixels(glcnn_dataset *set, uint32_t index, uint8_t *pixels, bool *decoded,
                        char *error)
{
    const struct picture_file *file = &set->files[index];
    uint8_t state = atomic_load(&set->states[index]);
    size_t values = set_values(set);
    *decoded = false;
    if (state == PICTURE_KEPT) {
        memcpy(pixels, set->kept + index * values, values);
        return GLCNN_SUCCESS;
    }
    if (state == PICTURE_BROKEN)
        return fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: is broken", file->path);
    const struct size size = {set->info.width, set->info.height, set->info.channels,
                              set->parameters.resize, set->parameters.fit};
    glcnn_status status = picture_file_decode(file, &size, pixels, error);
    *decoded = status == GLCNN_SUCCESS;
    if (status == GLCNN_SUCCESS)
        keep_decoded(set->states, set->kept, index, pixels, values);
    else if (status == GLCNN_MALFORMED_DATA)
        mark_broken(set, index, error);
    return status;
}

bool set_is_broken(glcnn_dataset *set, uint32_t index)
{
    return atomic_load(&set->states[index]) == PICTURE_BROKEN;
}
