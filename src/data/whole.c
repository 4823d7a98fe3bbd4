/* Pictures and masks whole, at a size that the caller chooses. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "scale.h"
#include "set.h"

#define SHOWN_CHANNELS 3

static const struct item *find_item(const glcnn_dataset *data, glcnn_data_part part, uint32_t index,
                                    uint32_t width, uint32_t height, char *error)
{
    const struct item *item = set_item(data, part, index);
    if (item && width > 0 && height > 0 && (uint64_t)width * height <= GLCNN_DATA_MAX_PIXELS)
        return item;
    fail_with(
        error, GLCNN_INVALID_ARGUMENT,
        "%.300s: image %u is requested in %ux%u pixels; expected one of the part's images, and "
        "1 to %u pixels in all",
        data->path, index, width, height, GLCNN_DATA_MAX_PIXELS);
    return NULL;
}

/* ---- Images of tables ---- */

static uint8_t byte_of(float value)
{
    return (uint8_t)(!(value > 0) ? 0 : value < 1 ? lroundf(255 * value) : 255);
}

/* One channel, or the first of more than three, is shown as grey. */
static void show_row(const glcnn_dataset *set, const uint8_t *bytes, const float *floats,
                     uint8_t *row)
{
    const uint32_t channels = set->info.channels;
    for (uint32_t x = 0; x < set->info.width; x++)
        for (uint32_t c = 0; c < SHOWN_CHANNELS; c++) {
            const size_t at = (size_t)x * channels + (channels == SHOWN_CHANNELS ? c : 0);
            *row++ = bytes ? bytes[at] : byte_of(floats[at]);
        }
}

static bool scale_image(const glcnn_dataset *set, const uint8_t *bytes, const float *floats,
                        const struct scaled *to, uint8_t *pixels)
{
    struct scaler scaler;
    const size_t row = (size_t)set->info.width * set->info.channels;
    uint8_t *shown = malloc((size_t)set->info.width * SHOWN_CHANNELS);
    bool good =
        shown && scaler_create(&scaler, set->info.width, set->info.height, to, SHOWN_CHANNELS);
    for (uint32_t y = 0; y < set->info.height && good; y++) {
        show_row(set, bytes ? bytes + y * row : NULL, floats ? floats + y * row : NULL, shown);
        scaler_row(&scaler, shown);
    }
    if (good) {
        scaler_finish(&scaler, 1, pixels);
        scaler_destroy(&scaler);
    }
    free(shown);
    return good;
}

static glcnn_status read_image(const glcnn_dataset *set, const struct item *item,
                               const struct scaled *to, uint8_t *pixels, char *error)
{
    struct image_values v;
    void *room = malloc(image_values_room(set));
    glcnn_status status =
        room ? image_values_read(set, item, room, &v, error) : fail_no_memory(error, set->path);
    if (status == GLCNN_SUCCESS && !scale_image(set, v.bytes, v.floats, to, pixels))
        status = fail_no_memory(error, set->path);
    free(room);
    return status;
}

/* ---- All ---- */

glcnn_status glcnn_dataset_read_picture(glcnn_dataset *data, glcnn_data_part part, uint32_t index,
                                        uint32_t width, uint32_t height, uint8_t *pixels,
                                        char error[GLCNN_ERROR_LENGTH])
{
    char own[GLCNN_ERROR_LENGTH];
    const struct item *item = find_item(data, part, index, width, height, error ? error : own);
    if (!item)
        return GLCNN_INVALID_ARGUMENT;
    if (item->table != NO_TABLE)
        return read_image(
            data, item,
            &(struct scaled){.width = width, .height = height, .fit = GLCNN_DATA_FIT_STRETCH},
            pixels, error ? error : own);
    return picture_file_decode(&data->files[item->index],
                               &(struct size){.width = width,
                                              .height = height,
                                              .channels = SHOWN_CHANNELS,
                                              .fit = GLCNN_DATA_FIT_STRETCH},
                               pixels, error ? error : own);
}

glcnn_status glcnn_dataset_read_mask(glcnn_dataset *data, glcnn_data_part part, uint32_t index,
                                     uint32_t width, uint32_t height, uint8_t *classes,
                                     char error[GLCNN_ERROR_LENGTH])
{
    char own[GLCNN_ERROR_LENGTH];
    struct picture_values values;
    error = error ? error : own;
    const struct item *item = find_item(data, part, index, width, height, error);
    if (!item)
        return GLCNN_INVALID_ARGUMENT;
    if (data->masks.count == 0)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "%.300s: its targets are no masks",
                         data->path);
    glcnn_status status = set_take_mask(data, part, item->target, &values, error);
    for (uint32_t y = 0; y < height && status == GLCNN_SUCCESS; y++) {
        const uint64_t row = (2 * (uint64_t)y + 1) * values.height / (2 * (uint64_t)height);
        for (uint32_t x = 0; x < width; x++) {
            const uint64_t column = (2 * (uint64_t)x + 1) * values.width / (2 * (uint64_t)width);
            *classes++ = data->masks.class_of[values.values[row * values.width + column]];
        }
    }
    free(values.values);
    return status;
}
