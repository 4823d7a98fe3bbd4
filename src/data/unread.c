/* Pictures of formats that are not read: whoever has some of them is to hear of it. */
#include <string.h>
#include <strings.h>

#include "picture.h"

static const struct {
    const char *bytes;
    size_t at, size;
    const char *name;
} beginnings[] = {{"GIF8", 0, 4, "GIF"},
                  {"ftypavif", 4, 8, "AVIF"},
                  {"ftypavis", 4, 8, "AVIF"},
                  {"ftyphe", 4, 6, "HEIC"},
                  {"ftypmif1", 4, 8, "HEIC"},
                  {"ftypmsf1", 4, 8, "HEIC"},
                  {"\0\0\0\x0cjP  ", 0, 8, "JPEG 2000"},
                  {"\0\0\0\x0cJXL ", 0, 8, "JPEG XL"},
                  {"8BPS", 0, 4, "Photoshop"},
                  {"\x76\x2f\x31\x01", 0, 4, "OpenEXR"}};

/* What a camera's sensor saw is TIFF by its first bytes, of which the first picture is a preview. */
static const char camera[] = "camera raw";

static const struct {
    const char *ending, *name;
} endings[] = {
    {".gif", "GIF"},       {".heic", "HEIC"},   {".heif", "HEIC"},     {".avif", "AVIF"},
    {".bmp", "BMP"},       {".jxl", "JPEG XL"}, {".jp2", "JPEG 2000"}, {".j2k", "JPEG 2000"},
    {".ppm", "Netpbm"},    {".pgm", "Netpbm"},  {".pbm", "Netpbm"},    {".pnm", "Netpbm"},
    {".psd", "Photoshop"}, {".exr", "OpenEXR"}, {".svg", "SVG"},       {".tga", "TGA"},
    {".ico", "ICO"},       {".dng", camera},    {".nef", camera},      {".cr2", camera},
    {".cr3", camera},      {".arw", camera},    {".orf", camera},      {".rw2", camera},
    {".raf", camera}};

static const char *by_ending(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t part = strlen(endings[i].ending);
        if (length > part && strcasecmp(path + length - part, endings[i].ending) == 0)
            return endings[i].name;
    }
    return NULL;
}

const char *picture_unread(FILE *file, const char *path)
{
    uint8_t head[PICTURE_HEAD];
    const struct picture_format *format = picture_format_of(file);
    const char *name = by_ending(path);
    if (format)
        return format == &picture_tiff && name == camera ? name : NULL;
    size_t got = picture_read_head(file, head);
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (got >= beginnings[i].at + beginnings[i].size &&
            memcmp(head + beginnings[i].at, beginnings[i].bytes, beginnings[i].size) == 0)
            return beginnings[i].name;
    return name;
}
