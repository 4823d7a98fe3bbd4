/* Boxes by the inverse of the map that tells where pixels come from. */
#include "detection_augment.h"

#include <math.h>

/* Points count from the picture's edge, the matrix from the centre of its first pixel. The matrix is a
 * turn times a factor, so that its determinant is not 0. */
struct moved_point detection_moved(const double m[6], double x, double y)
{
    double dx = x - 0.5 - m[2], dy = y - 0.5 - m[5], determinant = m[0] * m[4] - m[1] * m[3];
    return (struct moved_point){(m[4] * dx - m[1] * dy) / determinant + 0.5,
                                (m[0] * dy - m[3] * dx) / determinant + 0.5};
}

static struct glcnn_box box_around(const double m[6], const struct glcnn_box *box)
{
    struct glcnn_box around = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        struct moved_point p = detection_moved(m, (double)(i & 1 ? box->right : box->left),
                                               (double)(i & 2 ? box->bottom : box->top));
        around =
            (struct glcnn_box){fminf(around.left, (float)p.x), fminf(around.top, (float)p.y),
                               fmaxf(around.right, (float)p.x), fmaxf(around.bottom, (float)p.y)};
    }
    return around;
}

uint32_t detection_augment(const struct glcnn_augment_geometry_parameters *parameters,
                           uint32_t number, uint32_t epoch, uint32_t width, uint32_t height,
                           struct glcnn_object *objects, uint32_t count)
{
    const struct glcnn_box picture = {0, 0, (float)width, (float)height};
    uint32_t kept = 0;
    double matrix[6];
    glcnn_augment_geometry_matrix(parameters, number, epoch, width, height, matrix);
    for (uint32_t i = 0; i < count; i++) {
        struct glcnn_object o = objects[i];
        o.box = box_around(matrix, &o.box);
        if (object_cut(&o, &picture))
            objects[kept++] = o;
    }
    return kept;
}
