/* Grids below each other. */
#include "detection_pack.h"

#include <string.h>

glcnn_image_node *detection_pack(const struct detection_layout *layout,
                                 glcnn_image_node *const images[])
{
    glcnn_image_node *all = images[0];
    for (uint32_t i = 1; i < layout->scales; i++) {
        const struct glcnn_pad_parameters rest = {
            .right = (int32_t)(layout->grids[0].columns - layout->grids[i].columns)};
        glcnn_image_node *const both[] = {all, glcnn_pad_node(images[i], &rest)};
        all = glcnn_axis_concatenation_node(both, 2, GLCNN_AXIS_ROWS);
    }
    return all;
}

static float *copy_row(const float *from, size_t count, size_t all, float rest, float *to)
{
    memcpy(to, from, count * sizeof *to);
    for (size_t i = count; i < all; i++)
        to[i] = rest;
    return to + all;
}

void detection_pack_values(const struct detection_layout *layout, uint32_t batch, uint32_t channels,
                           const float *const grids[], float rest, float *packed)
{
    const size_t all = (size_t)layout->grids[0].columns * channels;
    for (uint32_t n = 0; n < batch; n++)
        for (uint32_t i = 0; i < layout->scales; i++) {
            const size_t row = (size_t)layout->grids[i].columns * channels;
            const float *from = grids[i] + n * row * layout->grids[i].rows;
            for (uint32_t y = 0; y < layout->grids[i].rows; y++)
                packed = copy_row(from + y * row, row, all, rest, packed);
        }
}

uint32_t detection_packed_rows(const struct detection_layout *layout)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < layout->scales; i++)
        rows += layout->grids[i].rows;
    return rows;
}

static size_t values_of(const struct detection_layout *layout)
{
    return 4 + (size_t)layout->classes;
}

size_t detection_packed(const struct detection_layout *layout)
{
    return detection_packed_rows(layout) * layout->grids[0].columns * values_of(layout);
}

void detection_unpack(const struct detection_layout *layout, const float *packed, float *room,
                      const float *predictions[])
{
    for (uint32_t i = 0; i < layout->scales; i++) {
        const size_t row = layout->grids[i].columns * values_of(layout);
        predictions[i] = room;
        for (uint32_t y = 0; y < layout->grids[i].rows; y++, room += row) {
            memcpy(room, packed, row * sizeof *room);
            packed += layout->grids[0].columns * values_of(layout);
        }
    }
}
