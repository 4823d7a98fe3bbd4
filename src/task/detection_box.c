/* Boxes and grids of locations. */
#include "detection_box.h"

#include <math.h>

struct detection_layout detection_layout(uint32_t width, uint32_t height, uint32_t classes,
                                         const uint32_t *strides, uint32_t scales)
{
    struct detection_layout layout = {
        .width = width, .height = height, .classes = classes, .scales = scales};
    for (uint32_t i = 0; i < scales; i++) {
        uint32_t stride = strides[i];
        layout.grids[i] = (struct detection_grid){stride, (width + stride - 1) / stride,
                                                  (height + stride - 1) / stride};
    }
    return layout;
}

uint32_t detection_locations(const struct detection_grid *grid)
{
    return grid->columns * grid->rows;
}

double glcnn_box_area(const struct glcnn_box *box)
{
    double width = (double)box->right - (double)box->left;
    double height = (double)box->bottom - (double)box->top;
    return width > 0 && height > 0 ? width * height : 0;
}

struct glcnn_box box_intersection(const struct glcnn_box *a, const struct glcnn_box *b)
{
    return (struct glcnn_box){fmaxf(a->left, b->left), fmaxf(a->top, b->top),
                              fminf(a->right, b->right), fminf(a->bottom, b->bottom)};
}

double glcnn_box_overlap(const struct glcnn_box *a, const struct glcnn_box *b)
{
    struct glcnn_box common = box_intersection(a, b);
    double inside = glcnn_box_area(&common), all = glcnn_box_area(a) + glcnn_box_area(b) - inside;
    return all > 0 ? inside / all : 0;
}

#define LEAST_PART 0.25 /* of an object that counts */

bool object_cut(struct glcnn_object *object, const struct glcnn_box *shown)
{
    const double least = object->crowd ? 0 : LEAST_PART * glcnn_box_area(&object->box);
    object->box = box_intersection(&object->box, shown);
    return glcnn_box_area(&object->box) > 0 && glcnn_box_area(&object->box) >= least;
}
