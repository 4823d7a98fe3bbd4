/* Pictures: what their heads say, and their pixels at a size. */
#ifndef GLCNN_DATA_PICTURE_H
#define GLCNN_DATA_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <glcnn/data.h>

#include "bytes.h"
#include "colours.h"
#include "scale.h"

#define PICTURE_MAX_MEMORY ((size_t)512 << 20) /* of a decoder, where it needs all of a picture */

/* As it is to be shown, so after EXIF's orientation. */
struct picture {
    uint32_t width, height;
    uint32_t orientation; /* EXIF's, 1 to 8 */
    bool has_colour;
};

struct size {
    uint32_t width, height, channels; /* channels: 1, 3 or 4 */
    uint32_t side;                    /* as scaled.side of scale.h */
    glcnn_data_fit fit;
};

/* What the file's own pixels are brought to, by EXIF's orientation. */
struct scaled picture_scaled(const struct size *size, uint32_t orientation);

/* One kind of picture. Both functions read from the file's beginning. The message of a failure has
 * no path; GLCNN_MALFORMED_DATA for what the file holds, GLCNN_OUT_OF_MEMORY, GLCNN_IO_ERROR. */
struct picture_format {
    bool (*begins)(const uint8_t *head, size_t size); /* a file with these first bytes */
    glcnn_status (*look)(FILE *file, struct picture *picture, char *error);
    glcnn_status (*decode)(FILE *file, const struct size *size, uint8_t *pixels, char *error);
};

extern const struct picture_format picture_png, picture_jpeg, picture_webp, picture_tiff;

#define PICTURE_HEAD  16 /* bytes that distinguish formats */
#define PICTURE_KINDS "PNG, JPEG, WebP or TIFF"

/* Reads the first bytes, 0 where there are none, and goes back to the start; gives how many there
 * are. */
size_t picture_read_head(FILE *file, uint8_t head[PICTURE_HEAD]);

/* The format of the file by its first bytes; NULL: it is no picture, or cannot be read. */
const struct picture_format *picture_format_of(FILE *file);

/* What a picture is that is not read, "GIF" for instance, by its first bytes or else by what its
 * name ends with; NULL: it is none of those that are known. */
const char *picture_unread(FILE *file, const char *path);

/* What the names of pictures that are read end with. */
bool picture_has_ending(const char *name);

/* Writes pixels[height][width][channels]. */
glcnn_status picture_decode(FILE *file, const struct size *size, uint8_t *pixels, char *error);
glcnn_status picture_look(FILE *file, struct picture *picture, char *error);

/* The values of a PNG of one channel, as the file has them: [height][width]. To be released with
 * free(). With `colours` numbers of these, of a PNG of any kind, and GLCNN_DATA_NO_CLASS for others; but of a
 * grey one that has other levels than these its levels. */
struct picture_values {
    uint32_t width, height;
    uint8_t *values;
    uint32_t orientation; /* EXIF's, of the mask itself: it is turned already */
    bool are_levels;      /* grey levels, not numbers of a palette or of colours */
    uint32_t strange;     /* pixels of other colours */
    uint32_t strange_x, strange_y;
    uint8_t strange_colour[3]; /* of the first */
};
glcnn_status picture_png_values(FILE *file, const struct colours *colours,
                                struct picture_values *values, char *error);
/* Turns the values as EXIF's orientation says, 0 and 1 not at all. */
glcnn_status picture_turn_values(struct picture_values *values, uint32_t orientation, char *error);

/* ---- For the formats ---- */

/* All of a file, for decoders that need it in memory; up to 256 MiB. `bytes` is to be released with
 * bytes_free, after a failure too. */
glcnn_status picture_read_file(FILE *file, struct bytes *bytes, char *error);

/* Whether an announced size is one that is read, with a message. */
bool picture_check_size(uint64_t width, uint64_t height, char *error);

/* Samples of a row, in 8 bits. */
enum samples {
    SAMPLES_GREY,
    SAMPLES_GREY_ALPHA,
    SAMPLES_RGB,
    SAMPLES_RGBA,
    SAMPLES_CMYK,         /* 255 is full ink */
    SAMPLES_CMYK_INVERTED /* 0 is full ink, as Adobe writes it */
};
/* [width][1, 3 or 4] out of a row, over white, so that the fourth is 255; `to` may be too small for nothing else than width * channels. */
void picture_convert(enum samples samples, const uint8_t *from, uint32_t width, uint32_t channels,
                     uint8_t *to);

/* EXIF's orientation, 1 .. 8, out of a TIFF structure that may be damaged: 0 then, or where it is
 * not said. */
uint32_t picture_orientation(const uint8_t *tiff, size_t size);
/* That of a PNG, 1 where it is not said. Reads from the file's beginning, and goes back to it. */
uint32_t picture_png_orientation(FILE *file);

#endif
