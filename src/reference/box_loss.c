/* The loss of boxes, with its first gradient, and intersection over union: spec 8.2. */
#include "kernels/box_loss.h"

#include <math.h>

#include "glcnn/kernels/box_loss.h"
#include "kernels/numbers.h"
#include "reference/loss.h"

#define LEAST 1e-7 /* added to divisors */

/* Distances to the left, top, right and bottom. */
struct box {
    double side[BOX_SIDES];
};

static struct box box_at(const struct tensor *from, uint32_t n, int32_t y, int32_t x)
{
    struct box box;
    for (uint32_t c = 0; c < BOX_SIDES; c++)
        box.side[c] = tensor_get(from, n, c, y, x);
    return box;
}

/* Width for 0, height for 1. */
static double extent(const struct box *box, int axis)
{
    return box->side[axis] + box->side[axis + 2];
}

static double area(const struct box *box)
{
    return extent(box, 0) * extent(box, 1);
}

/* The intersection, or with `sign` -1 the smallest box around both. */
static struct box combined(const struct box *a, const struct box *b, int sign)
{
    struct box box;
    for (int c = 0; c < BOX_SIDES; c++)
        box.side[c] = sign * (a->side[c] - b->side[c]) < 0 ? a->side[c] : b->side[c];
    return box;
}

static double iou_of(const struct box *a, const struct box *b)
{
    const struct box common = combined(a, b, 1);
    return area(&common) / (area(a) + area(b) - area(&common) + LEAST);
}

/* ---- CIoU ---- */

/* Of a box y and a label t. */
struct agreement {
    struct box y, t, common, around;
    double both;          /* area of the union */
    double iou, distance; /* d^2 / c^2 */
    double centres[2];    /* how far they are apart */
    double angle, alpha, v;
};

/* Between both diagonals: atan(w / h) - atan(w_t / h_t), and 0 for a box of no extent. */
static double angle_of(const struct box *y, const struct box *t)
{
    double w = extent(y, 0), h = extent(y, 1), wt = extent(t, 0), ht = extent(t, 1);
    return atan2(w * ht - wt * h, h * ht + w * wt);
}

static struct agreement compare(const struct box *y, const struct box *t)
{
    struct agreement a = {
        .y = *y, .t = *t, .common = combined(y, t, 1), .around = combined(y, t, -1)};
    a.both = area(y) + area(t) - area(&a.common) + LEAST;
    a.iou = iou_of(y, t);
    for (int axis = 0; axis < 2; axis++)
        a.centres[axis] =
            (y->side[axis + 2] - y->side[axis] - t->side[axis + 2] + t->side[axis]) / 2;
    double diagonal = pow(extent(&a.around, 0), 2) + pow(extent(&a.around, 1), 2) + LEAST;
    a.distance = (pow(a.centres[0], 2) + pow(a.centres[1], 2)) / diagonal;
    a.angle = angle_of(y, t);
    a.v = pow(2 * a.angle / acos(-1), 2);
    a.alpha = a.v / (1 - a.iou + a.v + LEAST);
    return a;
}

/* By distance c of y, of the smaller of both distances, 1 or 0, or 1/2 where they are equal. */
static double share(const struct agreement *a, int c)
{
    return a->y.side[c] == a->t.side[c] ? 0.5 : a->y.side[c] < a->t.side[c] ? 1 : 0;
}

static double iou_gradient(const struct agreement *a, int c)
{
    double inside = share(a, c) * extent(&a->common, !(c % 2));
    return (inside - a->iou * (extent(&a->y, !(c % 2)) - inside)) / a->both;
}

static double distance_gradient(const struct agreement *a, int c)
{
    double diagonal = pow(extent(&a->around, 0), 2) + pow(extent(&a->around, 1), 2) + LEAST;
    double side = (1 - share(a, c)) * extent(&a->around, c % 2);
    return ((c < 2 ? -1 : 1) * a->centres[c % 2] - 2 * a->distance * side) / diagonal;
}

static double aspect_gradient(const struct agreement *a, int c)
{
    double w = extent(&a->y, 0), h = extent(&a->y, 1), pi = acos(-1);
    double angle = (c % 2 ? -w : h) / (w * w + h * h + LEAST * LEAST);
    return a->alpha * 8 / (pi * pi) * a->angle * angle;
}

/* ---- References ---- */

static double gradient_of(const struct agreement *a, int c)
{
    return distance_gradient(a, c) + aspect_gradient(a, c) - iou_gradient(a, c);
}

/* A pixel has one loss. */
static double visit(const struct reference *r, const struct loss_pixel *p, uint32_t c)
{
    const struct glcnn_box_loss_parameters *parameters = r->operation->parameters;
    const struct box y = box_at(&r->images[SOURCE], p->n, p->y, p->x),
                     t = box_at(&r->images[LABELS], p->n, p->y, p->x);
    const struct agreement a = compare(&y, &t);
    const double omega = (double)parameters->weight * loss_weight(r, p, c);
    for (uint32_t i = 0; i < BOX_SIDES; i++)
        *tensor_at(&r->images[DESTINATION], p->n, i, p->Y, p->X) =
            omega == 0 ? 0 : omega * gradient_of(&a, (int)i);
    return omega == 0 ? 0 : omega * (1 - a.iou + a.distance + a.alpha * a.v);
}

static void box_loss_reference(const struct reference *r)
{
    loss_reference_of(r, visit);
}

static const struct check_case loss_cases[] = {
    {"", {2, 4, 3, 5}, {2, 1, 3, 5}},
    {"reduction_type=none weight=1.5", {2, 4, 5, 3}, {2, 1, 5, 3}},
    {"reduction_type=mean", {3, 4, 9, 10}, {3, 1, 9, 10}},
    {"reduction_type=sum_by_non_zero_weights weight=-2", {2, 4, 6, 7}, {2, 1, 6, 7}},
    {"reduction_type=sum", {3, 4, 1, 1}, {3, 1, 1, 1}},
    {"offset_x=-1 offset_y=1 edge_mode=clamp", {1, 4, 5, 6}, {1, 1, 5, 6}},
    {"reduction_type=none clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "
     "clip_rect_size_height=1",
     {2, 4, 4, 5},
     {2, 1, 4, 5}},
    {"clip_rect_origin_x=2 clip_rect_size_width=4 clip_rect_origin_z=1 clip_rect_size_depth=2 "
     "offset_z=1",
     {4, 4, 3, 8},
     {4, 1, 3, 8}},
    {"reduction_type=mean", {8, 4, 70, 67}, {8, 1, 70, 67}, true},
    {0}};

const struct glcnn_reference glcnn_reference_box_loss = {box_loss_reference, loss_cases};

enum { FIRST, SECOND, IOU };

static struct box operand(const struct tensor *from, const struct window *w, uint32_t n, int32_t Y,
                          int32_t X)
{
    return box_at(from, n, axis_tap(&w->y, w->edge_mode, (int32_t)from->height, Y, 0),
                  axis_tap(&w->x, w->edge_mode, (int32_t)from->width, X, 0));
}

static void box_iou_reference(const struct reference *r)
{
    const struct operation *o = r->operation;
    for (uint32_t n = 0; n < r->images[IOU].images; n++)
        for (int32_t Y = o->window.y.begin; Y < o->window.y.end; Y++)
            for (int32_t X = o->window.x.begin; X < o->window.x.end; X++) {
                const struct box a = operand(&r->images[FIRST], &o->window, n, Y, X),
                                 b = operand(&r->images[SECOND], &o->secondary_window, n, Y, X);
                *tensor_at(&r->images[IOU], n, 0, Y, X) = iou_of(&a, &b);
            }
}

static const struct check_case iou_cases[] = {
    {"", {2, 4, 3, 5}},
    {"primary_offset_x=1 secondary_offset_y=-1 secondary_edge_mode=clamp", {1, 4, 6, 5}},
    {"clip_rect_origin_x=1 clip_rect_size_width=3 clip_rect_origin_z=1 clip_rect_size_depth=1",
     {3, 4, 4, 6}},
    {"", {1, 4, 1, 1}},
    {"primary_offset_y=2 primary_edge_mode=clamp", {2, 4, 9, 10}},
    {"secondary_offset_x=-3", {3, 4, 6, 7}},
    {"primary_offset_x=-1 primary_offset_y=1 secondary_offset_x=1", {5, 4, 5, 3}},
    {"clip_rect_origin_x=2 clip_rect_origin_y=1 clip_rect_size_width=4 clip_rect_size_height=2",
     {2, 4, 4, 8}},
    {"", {8, 4, 70, 67}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_box_iou = {box_iou_reference, iou_cases};
