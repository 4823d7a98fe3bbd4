/* Brings a picture to a size while its rows arrive: it is scaled until it covers the size, fits into it,
 * or its shorter side is as long as is asked for, with its middle in the middle; or it is stretched. Only
 * one row of the picture is kept. */
#ifndef GLCNN_DATA_SCALE_H
#define GLCNN_DATA_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glcnn/data.h>

/* What a picture is brought to. */
struct scaled {
    uint32_t width, height;
    uint32_t
        side; /* of the scaled picture the shorter one, width and height at least; 0: by `fit` */
    glcnn_data_fit fit;
    bool x_backwards, y_backwards; /* the image is mirrored later, as EXIF's orientation says */
};

/* Of one extent: target i is the sum of weights[k] * source[begin + k], k counting from
 * first[i] to first[i + 1], over 65536. */
struct axis {
    uint32_t count;  /* targets */
    uint32_t *begin; /* source where target i begins */
    uint32_t *first; /* [count + 1] */
    uint32_t *weights;
};

struct scaler {
    struct axis x, y;
    uint32_t channels;
    uint32_t source_y; /* the row that comes next */
    uint32_t target_y; /* rows before it are finished */
    uint16_t *row;     /* one row that has its width already, 256 for 1 */
    uint32_t *sums;    /* [height][width][channels], 1 << 24 for 1 */
};

/* For a source of source_width x source_height, up to 2^31 each. False: not enough memory. */
bool scaler_create(struct scaler *scaler, uint32_t source_width, uint32_t source_height,
                   const struct scaled *to, uint32_t channels);
void scaler_destroy(struct scaler *scaler);

/* Takes the next row, [source_width][channels]. Rows that are too many are passed over. */
void scaler_row(struct scaler *scaler, const uint8_t *row);

/* Makes of the size of an image that of the source before it is turned, 0 to 8. */
void scale_turn(struct scaled *to, uint32_t orientation);

/* Writes the image [H][W][C], turned as EXIF's orientation says, 1 to 8: above 4 it is
 * height x width of the scaler's. */
void scaler_finish(const struct scaler *scaler, uint32_t orientation, uint8_t *image);

/* What the scaler would show of a source at that size, in the source's pixels. */
struct glcnn_data_window scale_window(uint32_t source_width, uint32_t source_height,
                                      const struct scaled *to);

/* Turns values[height][width] as EXIF's orientation says; above 4 it becomes [width][height]. */
void scale_turn_values(uint32_t width, uint32_t height, uint32_t orientation, const uint8_t *from,
                       uint8_t *to);

/* Of values that have no mean: the source's pixels under the middles of the targets, x[width] and
 * y[height], where the scaler would bring the source to that size; SCALE_BORDER outside of the source. */
#define SCALE_BORDER UINT32_MAX
void scale_nearest(uint32_t source_width, uint32_t source_height, const struct scaled *to,
                   uint32_t *x, uint32_t *y);

#endif
