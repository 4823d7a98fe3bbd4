/* TIFF by libtiff: the first picture of a file, of any kind that becomes red, green, blue and alpha
 * of 8 bits. A file is decoded in memory: version 4.5 refuses small tiles of one that it cannot map,
 * and one that is mapped may be cut off meanwhile. */
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "base/fail.h"
#include "picture.h"
#include "scale.h"

struct tiff {
    FILE *file;
    struct bytes bytes; /* of the file; none: only its head is read */
    TIFF *read;
    char reason[GLCNN_ERROR_LENGTH]; /* the first that libtiff gave */
    uint32_t width, height, turn;
    bool is_multiplied; /* colours are, by alpha */
};

/* ---- What libtiff calls ---- */

static tmsize_t read_bytes(thandle_t handle, void *bytes, tmsize_t size)
{
    struct tiff *tiff = handle;
    return size < 0 ? -1 : (tmsize_t)fread(bytes, 1, (size_t)size, tiff->file);
}

static tmsize_t write_none(thandle_t handle, void *bytes, tmsize_t size)
{
    (void)handle;
    (void)bytes;
    (void)size;
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int from)
{
    struct tiff *tiff = handle;
    bool moves = (off_t)offset >= 0 && (toff_t)(off_t)offset == offset;
    return moves && fseeko(tiff->file, (off_t)offset, from) == 0 ? (toff_t)ftello(tiff->file)
                                                                 : (toff_t)-1;
}

static int close_none(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t file_size(thandle_t handle)
{
    struct tiff *tiff = handle;
    off_t at = ftello(tiff->file);
    bool good = fseeko(tiff->file, 0, SEEK_END) == 0;
    off_t size = good ? ftello(tiff->file) : 0;
    return fseeko(tiff->file, at, SEEK_SET) == 0 && size > 0 ? (toff_t)size : 0;
}

static int map(thandle_t handle, void **bytes, toff_t *size)
{
    struct tiff *tiff = handle;
    *bytes = tiff->bytes.data;
    *size = tiff->bytes.size;
    return tiff->bytes.size > 0;
}

static void unmap(thandle_t handle, void *bytes, toff_t size)
{
    (void)handle;
    (void)bytes;
    (void)size;
}

__attribute__((format(printf, 4, 0))) static int say(TIFF *read, void *user, const char *module,
                                                     const char *format, va_list arguments)
{
    struct tiff *tiff = user;
    (void)read;
    (void)module;
    if (!*tiff->reason)
        vsnprintf(tiff->reason, sizeof tiff->reason, format, arguments);
    return 1; /* nothing is printed */
}

__attribute__((format(printf, 4, 0))) static int
pass_over(TIFF *read, void *user, const char *module, const char *format, va_list arguments)
{
    (void)read;
    (void)user;
    (void)module;
    (void)format;
    (void)arguments;
    return 1;
}

/* ---- Head ---- */

static glcnn_status refuse(const struct tiff *tiff, const char *what, const char *reason,
                           char *error)
{
    return ferror(tiff->file) ? fail_with(error, GLCNN_IO_ERROR, "cannot be read")
                              : fail_with(error, GLCNN_MALFORMED_DATA, "is a %s: %.200s", what,
                                          *reason ? reason : "it cannot be decoded");
}

static glcnn_status no_memory(char *error)
{
    return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
}

/* libtiff closes what it opens; the file stays the caller's. */
static glcnn_status begin(struct tiff *tiff, char *error)
{
    char reason[1024] = "";
    uint16_t turn = 1;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return no_memory(error);
    /* The other half is for the pixels. */
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)(PICTURE_MAX_MEMORY / 2));
    TIFFOpenOptionsSetErrorHandlerExtR(options, say, tiff);
    TIFFOpenOptionsSetWarningHandlerExtR(options, pass_over, tiff);
    rewind(tiff->file);
    tiff->read = TIFFClientOpenExt("picture", "r", tiff, read_bytes, write_none, seek, close_none,
                                   file_size, map, unmap, options);
    TIFFOpenOptionsFree(options);
    if (!tiff->read || !TIFFGetField(tiff->read, TIFFTAG_IMAGEWIDTH, &tiff->width) ||
        !TIFFGetField(tiff->read, TIFFTAG_IMAGELENGTH, &tiff->height))
        return refuse(tiff, "damaged TIFF", tiff->reason, error);
    TIFFGetFieldDefaulted(tiff->read, TIFFTAG_ORIENTATION, &turn);
    tiff->turn = turn >= 1 && turn <= 8 ? turn : 1;
    if (!picture_check_size(tiff->width, tiff->height, error))
        return GLCNN_MALFORMED_DATA;
    return TIFFRGBAImageOK(tiff->read, reason)
               ? GLCNN_SUCCESS
               : refuse(tiff, "TIFF of an unsupported kind", reason, error);
}

static bool has_colour(TIFF *read)
{
    uint16_t photometric = PHOTOMETRIC_RGB, bits = 8;
    uint16_t *red, *green, *blue;
    TIFFGetField(read, TIFFTAG_PHOTOMETRIC, &photometric);
    TIFFGetFieldDefaulted(read, TIFFTAG_BITSPERSAMPLE, &bits);
    if (photometric != PHOTOMETRIC_PALETTE || bits > 8 ||
        !TIFFGetField(read, TIFFTAG_COLORMAP, &red, &green, &blue))
        return photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_MINISWHITE;
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        if (red[i] != green[i] || red[i] != blue[i])
            return true;
    return false;
}

static void end(struct tiff *tiff)
{
    if (tiff->read)
        TIFFClose(tiff->read);
    bytes_free(&tiff->bytes);
}

static glcnn_status tiff_look(FILE *file, struct picture *picture, char *error)
{
    struct tiff tiff = {.file = file};
    glcnn_status status = begin(&tiff, error);
    bool turned = tiff.turn > 4;
    if (status == GLCNN_SUCCESS)
        *picture = (struct picture){.width = turned ? tiff.height : tiff.width,
                                    .height = turned ? tiff.width : tiff.height,
                                    .orientation = tiff.turn,
                                    .has_colour = has_colour(tiff.read)};
    end(&tiff);
    return status;
}

/* ---- Pixels ---- */

/* Rows in the order of the file: the scaler turns them. */
static glcnn_status read_raster(struct tiff *tiff, uint32_t *raster, char *error)
{
    TIFFRGBAImage image;
    char reason[1024] = "";
    if (!TIFFRGBAImageBegin(&image, tiff->read, 1, reason))
        return refuse(tiff, "damaged TIFF", reason, error);
    image.req_orientation = image.orientation;
    tiff->is_multiplied = image.alpha != EXTRASAMPLE_UNASSALPHA || image.samplesperpixel > 2;
    int good = TIFFRGBAImageGet(&image, raster, tiff->width, tiff->height);
    TIFFRGBAImageEnd(&image);
    return good && !*tiff->reason ? GLCNN_SUCCESS
                                  : refuse(tiff, "damaged TIFF", tiff->reason, error);
}

/* libtiff multiplies colours by an alpha that they are apart from, and leaves greys. */
static uint8_t over_white(const struct tiff *tiff, uint32_t value, uint32_t alpha)
{
    uint32_t product = tiff->is_multiplied ? value : (value * alpha + 127) / 255;
    uint32_t sum = product + 255 - alpha;
    return (uint8_t)(sum < 255 ? sum : 255);
}

static void convert_row(const struct tiff *tiff, const uint32_t *from, uint8_t *rgb)
{
    for (uint32_t x = 0; x < tiff->width; x++, from++, rgb += 3) {
        uint32_t alpha = TIFFGetA(*from);
        rgb[0] = over_white(tiff, TIFFGetR(*from), alpha);
        rgb[1] = over_white(tiff, TIFFGetG(*from), alpha);
        rgb[2] = over_white(tiff, TIFFGetB(*from), alpha);
    }
}

static void scale_rows(const struct tiff *tiff, const uint32_t *raster, struct scaler *scaler,
                       uint8_t *rgb, uint8_t *converted)
{
    for (uint32_t y = 0; y < tiff->height; y++) {
        convert_row(tiff, raster + (size_t)y * tiff->width, rgb);
        picture_convert(SAMPLES_RGB, rgb, tiff->width, scaler->channels, converted);
        scaler_row(scaler, converted);
    }
}

static glcnn_status decode(struct tiff *tiff, const struct size *size, uint8_t *pixels, char *error)
{
    struct scaler scaler = {.channels = 0};
    const struct scaled to = picture_scaled(size, tiff->turn);
    uint32_t *raster = calloc((size_t)tiff->width * tiff->height, sizeof *raster);
    uint8_t *rgb = malloc((size_t)tiff->width * 3);
    uint8_t *converted = malloc((size_t)tiff->width * size->channels);
    bool good = raster && rgb && converted &&
                scaler_create(&scaler, tiff->width, tiff->height, &to, size->channels);
    glcnn_status status = good ? read_raster(tiff, raster, error) : no_memory(error);
    if (status == GLCNN_SUCCESS) {
        scale_rows(tiff, raster, &scaler, rgb, converted);
        scaler_finish(&scaler, tiff->turn, pixels);
    }
    scaler_destroy(&scaler);
    free(raster);
    free(rgb);
    free(converted);
    return status;
}

static glcnn_status tiff_decode(FILE *file, const struct size *size, uint8_t *pixels, char *error)
{
    struct tiff tiff = {.file = file};
    glcnn_status status = picture_read_file(file, &tiff.bytes, error);
    if (status == GLCNN_SUCCESS)
        status = begin(&tiff, error);
    if (status == GLCNN_SUCCESS)
        status = decode(&tiff, size, pixels, error);
    end(&tiff);
    return status;
}

/* 42, or 43 with addresses of 64 bits, in either order of bytes. */
static bool tiff_begins(const uint8_t *head, size_t size)
{
    static const char *const magics[] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (size >= 4 && memcmp(head, magics[i], 4) == 0)
            return true;
    return false;
}

const struct picture_format picture_tiff = {
    .begins = tiff_begins, .look = tiff_look, .decode = tiff_decode};
