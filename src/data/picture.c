/* What the formats of pictures have in common. */
#include "picture.h"

#include <string.h>

#include "base/fail.h"

#define MAX_FILE ((size_t)256 << 20) /* that is read whole */

size_t picture_read_head(FILE *file, uint8_t head[PICTURE_HEAD])
{
    memset(head, 0, PICTURE_HEAD);
    size_t got = fread(head, 1, PICTURE_HEAD, file);
    rewind(file);
    return got;
}

static long read_file(void *from, void *bytes, size_t size)
{
    size_t got = fread(bytes, 1, size, from);
    return got == 0 && ferror((FILE *)from) ? -1 : (long)got;
}

static const char *no_reason(void *from)
{
    (void)from;
    return "";
}

glcnn_status picture_read_file(FILE *file, struct bytes *bytes, char *error)
{
    const struct bytes_source source = {"", read_file, no_reason, file};
    rewind(file);
    glcnn_status status = bytes_read(bytes, &source, MAX_FILE, NULL);
    if (ferror(file))
        return fail_with(error, GLCNN_IO_ERROR, "cannot be read");
    if (status == GLCNN_OUT_OF_MEMORY)
        return fail_with(error, status, "not enough memory to decode it");
    if (status != GLCNN_SUCCESS)
        return fail_with(error, status, "has more than %zu bytes; expected no more", MAX_FILE);
    return GLCNN_SUCCESS;
}

bool picture_check_size(uint64_t width, uint64_t height, char *error)
{
    if (width > 0 && height > 0 && width <= GLCNN_DATA_MAX_PIXELS / height)
        return true;
    fail_with(error, GLCNN_MALFORMED_DATA, "announces %llu x %llu pixels; expected 1 to %u in all",
              (unsigned long long)width, (unsigned long long)height, GLCNN_DATA_MAX_PIXELS);
    return false;
}

/* ---- Samples ---- */

static uint8_t over_white(uint32_t value, uint32_t alpha)
{
    return (uint8_t)((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

static uint8_t product(uint32_t a, uint32_t b)
{
    return (uint8_t)((a * b + 127) / 255);
}

static void from_grey(const uint8_t *from, uint8_t rgb[3])
{
    rgb[0] = rgb[1] = rgb[2] = from[0];
}

static void from_grey_alpha(const uint8_t *from, uint8_t rgb[3])
{
    rgb[0] = rgb[1] = rgb[2] = over_white(from[0], from[1]);
}

static void from_rgb(const uint8_t *from, uint8_t rgb[3])
{
    memcpy(rgb, from, 3);
}

static void from_rgba(const uint8_t *from, uint8_t rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = over_white(from[c], from[3]);
}

static void from_cmyk(const uint8_t *from, uint8_t rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = product(255u - from[c], 255u - from[3]);
}

static void from_cmyk_inverted(const uint8_t *from, uint8_t rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = product(from[c], from[3]);
}

static const struct {
    uint32_t count;
    void (*convert)(const uint8_t *from, uint8_t rgb[3]);
} kinds[] = {[SAMPLES_GREY] = {1, from_grey}, [SAMPLES_GREY_ALPHA] = {2, from_grey_alpha},
             [SAMPLES_RGB] = {3, from_rgb},   [SAMPLES_RGBA] = {4, from_rgba},
             [SAMPLES_CMYK] = {4, from_cmyk}, [SAMPLES_CMYK_INVERTED] = {4, from_cmyk_inverted}};

static uint8_t luminance(const uint8_t rgb[3])
{
    return (uint8_t)((299u * rgb[0] + 587u * rgb[1] + 114u * rgb[2] + 500) / 1000);
}

void picture_convert(enum samples samples, const uint8_t *from, uint32_t width, uint32_t channels,
                     uint8_t *to)
{
    uint32_t count = kinds[samples].count;
    if (count == channels && count < 4) {
        memcpy(to, from, (size_t)width * channels);
        return;
    }
    for (uint32_t x = 0; x < width; x++, from += count, to += channels) {
        uint8_t rgb[3];
        kinds[samples].convert(from, rgb);
        if (channels == 1) {
            to[0] = count < 3 ? rgb[0] : luminance(rgb);
            continue;
        }
        memcpy(to, rgb, 3);
        if (channels == 4)
            to[3] = 255;
    }
}

/* ---- Orientation ---- */

struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool is_big;
};

/* `count` bytes at a place, 0 beyond the end. */
static uint32_t tiff_number(const struct tiff *t, size_t at, size_t count)
{
    uint32_t value = 0;
    if (at > t->size || count > t->size - at)
        return 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | t->bytes[at + (t->is_big ? i : count - 1 - i)];
    return value;
}

/* Bytes of TIFF's whole numbers by their type: BYTE, SHORT, LONG, and the same with a sign. */
static const uint8_t number_sizes[] = {[1] = 1, [3] = 2, [4] = 4, [6] = 1, [8] = 2, [9] = 4};

/* The first number of an entry of 12 bytes; 0: it has none. What takes more than the last four of
 * these stands elsewhere. */
static uint32_t entry_number(const struct tiff *t, size_t entry)
{
    uint32_t type = tiff_number(t, entry + 2, 2), count = tiff_number(t, entry + 4, 4);
    uint32_t size = type < sizeof number_sizes ? number_sizes[type] : 0;
    if (size == 0 || count == 0)
        return 0;
    return tiff_number(t, count <= 4 / size ? entry + 8 : tiff_number(t, entry + 8, 4), size);
}

uint32_t picture_orientation(const uint8_t *tiff, size_t size)
{
    struct tiff t = {tiff, size, size > 0 && tiff[0] == 'M'};
    if (size < 8 || tiff[0] != tiff[1] || (tiff[0] != 'M' && tiff[0] != 'I') ||
        tiff_number(&t, 2, 2) != 42)
        return 0;
    size_t directory = tiff_number(&t, 4, 4);
    uint32_t entries = tiff_number(&t, directory, 2);
    for (uint32_t i = 0; i < entries; i++) {
        size_t entry = directory + 2 + 12 * (size_t)i;
        uint32_t value = tiff_number(&t, entry, 2) == 0x112 ? entry_number(&t, entry) : 0;
        if (value >= 1 && value <= 8)
            return value;
    }
    return 0;
}

struct scaled picture_scaled(const struct size *size, uint32_t orientation)
{
    struct scaled to = {
        .width = size->width, .height = size->height, .side = size->side, .fit = size->fit};
    scale_turn(&to, orientation);
    return to;
}
