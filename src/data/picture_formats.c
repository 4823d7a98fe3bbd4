/* The formats of pictures, in the order in which a file is tried. */
#include <string.h>

#include "base/fail.h"
#include "picture.h"
#include "words.h"

static const struct picture_format *const formats[] = {&picture_png, &picture_jpeg, &picture_webp,
                                                       &picture_tiff};
#define FORMATS (sizeof formats / sizeof *formats)

const struct picture_format *picture_format_of(FILE *file)
{
    uint8_t head[PICTURE_HEAD];
    size_t got = picture_read_head(file, head);
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->begins(head, got))
            return formats[i];
    return NULL;
}

bool picture_has_ending(const char *name)
{
    static const char *const endings[] = {".png",  ".jpg", ".jpeg", ".jpe",
                                          ".webp", ".tif", ".tiff"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (word_has_ending(name, endings[i]))
            return true;
    return false;
}

static glcnn_status refuse(FILE *file, char *error)
{
    return ferror(file) ? fail_with(error, GLCNN_IO_ERROR, "cannot be read")
                        : fail_with(error, GLCNN_MALFORMED_DATA,
                                    "is not a picture: expected the first bytes of " PICTURE_KINDS);
}

glcnn_status picture_look(FILE *file, struct picture *picture, char *error)
{
    const struct picture_format *format = picture_format_of(file);
    return format ? format->look(file, picture, error) : refuse(file, error);
}

glcnn_status picture_decode(FILE *file, const struct size *size, uint8_t *pixels, char *error)
{
    const struct picture_format *format = picture_format_of(file);
    return format ? format->decode(file, size, pixels, error) : refuse(file, error);
}
