/* Grids below each other. */
#include "detection_pack.h"

#include <string.h>

glcnn_image_node *detection_pack(const struct detection_layout *layout,
                                 const struct detection_outputs *outputs)
{
    glcnn_image_node *all = outputs[0].predictions;
    for (uint32_t i = 1; i < layout->scales; i++) {
        const struct glcnn_pad_parameters rest = {
            .right = (int32_t)(layout->grids[0].columns - layout->grids[i].columns)};
        glcnn_image_node *const both[] = {all, glcnn_pad_node(outputs[i].predictions, &rest)};
        all = glcnn_axis_concatenation_node(both, 2, GLCNN_AXIS_ROWS);
    }
    return all;
}

static size_t values_of(const struct detection_layout *layout)
{
    return 4 + (size_t)layout->classes;
}

size_t detection_packed(const struct detection_layout *layout)
{
    size_t rows = 0;
    for (uint32_t i = 0; i < layout->scales; i++)
        rows += layout->grids[i].rows;
    return rows * layout->grids[0].columns * values_of(layout);
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
