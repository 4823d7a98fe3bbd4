/* WebP by libwebp, which needs all of a file at once: a RIFF file of chunks. What the picture is
 * like stands in its first chunk, EXIF's orientation in one behind the pixels. */
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "base/fail.h"
#include "picture.h"
#include "scale.h"

#define HEAD     12 /* "RIFF", a size, "WEBP" */
#define CHUNK    8  /* a name, a size */
#define PREFIX   64 /* bytes that hold the first chunk, or its beginning */
#define MAX_EXIF ((uint32_t)8 << 20)

static uint32_t little_endian(const uint8_t *at, size_t size)
{
    uint32_t value = 0;
    for (size_t i = size; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

static glcnn_status refuse(FILE *file, const char *reason, char *error)
{
    return ferror(file) ? fail_with(error, GLCNN_IO_ERROR, "cannot be read")
                        : fail_with(error, GLCNN_MALFORMED_DATA, "is a damaged WebP: %s", reason);
}

/* ---- Orientation ---- */

static uint32_t read_exif(FILE *file, uint32_t size)
{
    static const uint8_t mark[6] = "Exif\0"; /* some programs write it, as in JPEG */
    uint8_t *bytes = size <= MAX_EXIF ? malloc(size + 1u) : NULL;
    uint32_t found = 0;
    if (bytes && fread(bytes, 1, size, file) == size) {
        size_t begin =
            size > sizeof mark && memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
        found = picture_orientation(bytes + begin, size - begin);
    }
    free(bytes);
    return found ? found : 1;
}

/* Chunks are filled up to an even size. */
static uint32_t orientation(FILE *file)
{
    uint8_t head[CHUNK];
    uint32_t found = 1;
    int status = fseek(file, HEAD, SEEK_SET);
    while (status == 0 && fread(head, 1, sizeof head, file) == sizeof head) {
        uint32_t size = little_endian(head + 4, 4);
        if (memcmp(head, "EXIF", 4) == 0) {
            found = read_exif(file, size);
            break;
        }
        status = size < INT32_MAX ? fseek(file, (long)(size + size % 2), SEEK_CUR) : -1;
    }
    rewind(file);
    return found;
}

/* ---- Head ---- */

struct head {
    uint32_t width, height;
    bool is_animated;
};

/* A first chunk VP8X has flags and the size; others are a picture of one of two codecs. */
static bool read_head(const uint8_t *bytes, size_t size, struct head *head)
{
    WebPBitstreamFeatures features;
    const uint8_t *chunk = bytes + HEAD, *body = chunk + CHUNK;
    if (size >= HEAD + CHUNK + 10 && memcmp(chunk, "VP8X", 4) == 0) {
        *head = (struct head){.width = little_endian(body + 4, 3) + 1,
                              .height = little_endian(body + 7, 3) + 1,
                              .is_animated = body[0] & 2};
        return true;
    }
    if (WebPGetFeatures(bytes, size, &features) != VP8_STATUS_OK)
        return false;
    *head = (struct head){.width = (uint32_t)features.width, .height = (uint32_t)features.height};
    return true;
}

static glcnn_status check_head(FILE *file, const uint8_t *bytes, size_t size, struct head *head,
                               char *error)
{
    if (!read_head(bytes, size, head))
        return refuse(file, "its head cannot be read", error);
    if (head->is_animated)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "is an animated WebP; expected a single picture");
    return picture_check_size(head->width, head->height, error) ? GLCNN_SUCCESS
                                                                : GLCNN_MALFORMED_DATA;
}

static glcnn_status webp_look(FILE *file, struct picture *picture, char *error)
{
    uint8_t bytes[PREFIX];
    struct head head;
    const uint32_t turn = orientation(file);
    const bool turned = turn > 4;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    glcnn_status status = check_head(file, bytes, size, &head, error);
    if (status == GLCNN_SUCCESS)
        *picture = (struct picture){.width = turned ? head.height : head.width,
                                    .height = turned ? head.width : head.height,
                                    .orientation = turn,
                                    .has_colour = true};
    return status;
}

/* ---- Pixels ---- */

/* [height][width][4], to be released with free(). */
static glcnn_status decode_all(FILE *file, const struct bytes *bytes, const struct head *head,
                               uint8_t **rows, char *error)
{
    WebPDecoderConfig config;
    const size_t row = (size_t)head->width * 4, size = row * head->height;
    *rows = malloc(size);
    if (!*rows || !WebPInitDecoderConfig(&config))
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){*rows, (int)row, size};
    VP8StatusCode code = WebPDecode(bytes->data, bytes->size, &config);
    /* Newer decoders say so of damaged transparency too. */
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return refuse(file, "the decoder gives up: it is damaged, or there is too little memory",
                      error);
    bool fits =
        config.output.width == (int)head->width && config.output.height == (int)head->height;
    return code == VP8_STATUS_OK && fits
               ? GLCNN_SUCCESS
               : refuse(file,
                        code == VP8_STATUS_NOT_ENOUGH_DATA || code == VP8_STATUS_SUSPENDED
                            ? "it is truncated"
                            : "its pixels cannot be decoded",
                        error);
}

static glcnn_status scale(const struct head *head, const uint8_t *rows, uint32_t turn,
                          const struct size *size, uint8_t *pixels, char *error)
{
    struct scaler scaler = {.channels = 0};
    uint8_t *converted = malloc((size_t)head->width * size->channels);
    const struct scaled to = picture_scaled(size, turn);
    bool good = converted && scaler_create(&scaler, head->width, head->height, &to, size->channels);
    for (uint32_t y = 0; good && y < head->height; y++) {
        picture_convert(SAMPLES_RGBA, rows + (size_t)y * head->width * 4, head->width,
                        size->channels, converted);
        scaler_row(&scaler, converted);
    }
    if (good)
        scaler_finish(&scaler, turn, pixels);
    scaler_destroy(&scaler);
    free(converted);
    return good ? GLCNN_SUCCESS
                : fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory to decode it");
}

static glcnn_status webp_decode(FILE *file, const struct size *size, uint8_t *pixels, char *error)
{
    struct bytes bytes = {0};
    struct head head;
    uint8_t *rows = NULL;
    uint32_t turn = orientation(file);
    glcnn_status status = picture_read_file(file, &bytes, error);
    if (status == GLCNN_SUCCESS)
        status = check_head(file, bytes.data, bytes.size, &head, error);
    if (status == GLCNN_SUCCESS)
        status = decode_all(file, &bytes, &head, &rows, error);
    bytes_free(&bytes);
    if (status == GLCNN_SUCCESS)
        status = scale(&head, rows, turn, size, pixels, error);
    free(rows);
    return status;
}

static bool webp_begins(const uint8_t *head, size_t size)
{
    return size >= HEAD && memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0;
}

const struct picture_format picture_webp = {
    .begins = webp_begins, .look = webp_look, .decode = webp_decode};
