/* The loss of a detector with anchor boxes, and its first gradient: spec 8.1. */
#include "kernels/yolo_loss.h"

#include <math.h>

#include "kernels/numbers.h"
#include "reference/loss.h"

/* ---- An anchor box of a cell ---- */

struct box {
    const struct reference *r;
    const struct glcnn_yolo_loss_parameters *p;
    const struct loss_pixel *cell;
    uint32_t number, first; /* of its channels */
    double anchor[2];       /* width, height */
    double iou;             /* of prediction and label */
    bool has_object;
};

static struct box box_at(const struct reference *r, const struct loss_pixel *cell, uint32_t number)
{
    struct box box = {.r = r,
                      .p = r->operation->parameters,
                      .cell = cell,
                      .number = number,
                      .first = number * yolo_loss_box_channels(r->operation),
                      .anchor = {1, 1}};
    for (int i = 0; r->vectors[ANCHOR_BOXES] && i < 2; i++)
        box.anchor[i] = r->vectors[ANCHOR_BOXES][2 * number + (uint32_t)i];
    return box;
}

static double prediction(const struct box *b, uint32_t rank)
{
    const struct loss_pixel *at = b->cell;
    return tensor_get(&b->r->images[SOURCE], at->n, b->first + rank, at->y, at->x);
}

static double label(const struct box *b, uint32_t rank)
{
    const struct loss_pixel *at = b->cell;
    return tensor_get(&b->r->images[LABELS], at->n, b->first + rank, at->y, at->x);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* ---- Intersection over union ---- */

static double iou_of(double shared, double area, double other)
{
    return shared > 0 ? shared / (area + other - shared) : 0;
}

/* How much two sides share that are as long as these and stand about these centres. */
static double shared_side(double centre, double side, double other_centre, double other_side)
{
    double low = fmax(centre - side / 2, other_centre - other_side / 2);
    double high = fmin(centre + side / 2, other_centre + other_side / 2);
    return fmax(high - low, 0);
}

static bool is_known(const struct box *b)
{
    bool known = !isnan(b->anchor[0]) && !isnan(b->anchor[1]);
    for (uint32_t i = BOX_X; i <= BOX_H; i++)
        known = known && !isnan(prediction(b, i)) && !isnan(label(b, i));
    return known;
}

/* Of the prediction and the label. */
static double prediction_iou(const struct box *b)
{
    double w = b->anchor[0] * exp(prediction(b, BOX_W)), tw = label(b, BOX_W);
    double h = b->anchor[1] * exp(prediction(b, BOX_H)), th = label(b, BOX_H);
    double x = shared_side(sigmoid(prediction(b, BOX_X)), w, label(b, BOX_X), tw);
    double y = shared_side(sigmoid(prediction(b, BOX_Y)), h, label(b, BOX_Y), th);
    return is_known(b) ? iou_of(x * y, w * h, tw * th) : NAN;
}

/* Of anchor box and label, about one centre; what is no number fits nothing. */
static double fit(const struct box *b)
{
    double w = b->anchor[0], tw = label(b, BOX_W), h = b->anchor[1], th = label(b, BOX_H);
    double iou = iou_of(fmin(w, tw) * fmin(h, th), w * h, tw * th);
    return isnan(iou) ? 0 : iou;
}

/* ---- Objects ---- */

static bool is_present(const struct box *b)
{
    return label(b, BOX_CONFIDENCE) > 0 && label(b, BOX_W) > 0 && label(b, BOX_H) > 0;
}

static bool have_same_label(const struct box *a, const struct box *b)
{
    for (uint32_t i = BOX_X; i <= BOX_H; i++)
        if (label(a, i) != label(b, i))
            return false;
    return true;
}

/* Does no anchor box fit the label better? */
static bool fits_best(const struct box *b)
{
    for (uint32_t i = 0; i < b->p->number_of_anchor_boxes; i++) {
        const struct box other = box_at(b->r, b->cell, i);
        if (i == b->number || !is_present(&other) || !have_same_label(b, &other))
            continue;
        if (fit(&other) > fit(b) || (fit(&other) == fit(b) && i < b->number))
            return false;
    }
    return true;
}

static struct box box_of(const struct reference *r, const struct loss_pixel *cell, uint32_t number)
{
    struct box b = box_at(r, cell, number);
    b.iou = prediction_iou(&b);
    b.has_object =
        is_present(&b) && (b.iou > (double)b.p->min_iou_for_object_presence || fits_best(&b));
    return b;
}

static bool has_none(const struct box *b)
{
    return !b->has_object && b->iou < (double)b->p->max_iou_for_object_absence;
}

/* ---- Elements ---- */

struct element {
    const struct glcnn_yolo_loss_part *part;
    double scale;       /* 0: it adds nothing */
    double y, t, slope; /* what its loss is given, and how that moves with the prediction */
};

static struct element position(const struct box *b, uint32_t rank)
{
    double s = sigmoid(prediction(b, rank));
    return (struct element){&b->p->xy, b->has_object ? (double)b->p->scale_xy : 0, s,
                            label(b, rank), s * (1 - s)};
}

static struct element size(const struct box *b, uint32_t rank)
{
    return (struct element){&b->p->wh, b->has_object ? (double)b->p->scale_wh : 0,
                            prediction(b, rank), log(label(b, rank) / b->anchor[rank - BOX_W]), 1};
}

static struct element confidence(const struct box *b, uint32_t rank)
{
    double scale = b->has_object ? (double)b->p->scale_object
                   : has_none(b) ? (double)b->p->scale_no_object
                                 : 0;
    double t = b->has_object ? label(b, rank) * (b->p->rescore ? b->iou : 1) : 0;
    return (struct element){&b->p->confidence, scale, prediction(b, rank), t, 1};
}

static struct element class_of(const struct box *b, uint32_t rank)
{
    return (struct element){&b->p->classes, b->has_object ? (double)b->p->scale_class : 0,
                            prediction(b, rank), label(b, rank), 1};
}

static struct element element_of(const struct box *b, uint32_t rank)
{
    return rank < BOX_W            ? position(b, rank)
           : rank < BOX_CONFIDENCE ? size(b, rank)
           : rank < BOX_CLASSES    ? confidence(b, rank)
                                   : class_of(b, rank);
}

static double omega(const struct box *b, uint32_t rank)
{
    const struct element e = element_of(b, rank);
    return e.scale * (double)e.part->weight * loss_weight(b->r, b->cell, b->first + rank);
}

static double smoothed(const struct box *b, const struct element *e)
{
    const struct glcnn_loss_parameters p = yolo_loss_part(e->part, b->r->operation);
    double scale, offset;
    loss_smoothing(&p, &scale, &offset);
    return e->t * scale + offset;
}

/* ---- Soft-max cross entropy of the classes ---- */

static double log_probability(const struct box *b, uint32_t rank)
{
    uint32_t end = yolo_loss_box_channels(b->r->operation);
    double sum = 0, largest = -INFINITY;
    for (uint32_t i = BOX_CLASSES; i < end; i++)
        largest = fmax(largest, prediction(b, i));
    for (uint32_t i = BOX_CLASSES; i < end; i++)
        sum += exp(prediction(b, i) - largest);
    return prediction(b, rank) - largest - log(sum);
}

/* - sum_i omega(i) t(i) d log soft-max(i) / d y(rank) */
static double class_gradient(const struct box *b, uint32_t rank)
{
    double gradient = 0, probability = exp(log_probability(b, rank));
    for (uint32_t i = BOX_CLASSES; i < yolo_loss_box_channels(b->r->operation); i++) {
        const struct element e = class_of(b, i);
        gradient -= omega(b, i) * smoothed(b, &e) * ((i == rank) - probability);
    }
    return gradient;
}

/* ---- All ---- */

static double visit(const struct reference *r, const struct loss_pixel *cell, uint32_t c)
{
    double *gradient = tensor_at(&r->images[DESTINATION], cell->n, c, cell->Y, cell->X);
    uint32_t channels = yolo_loss_box_channels(r->operation), rank = c % channels;
    const struct box b = box_of(r, cell, c / channels);
    const struct element e = element_of(&b, rank);
    const struct glcnn_loss_parameters p = yolo_loss_part(e.part, r->operation);
    double w = e.scale == 0 ? 0 : omega(&b, rank), t = smoothed(&b, &e);
    if (loss_row_of(&p)->over_channels && e.scale != 0) {
        *gradient = class_gradient(&b, rank);
        return w == 0 ? 0 : w * times(-t, log_probability(&b, rank));
    }
    *gradient = w == 0 ? 0 : w * e.slope * loss_gradient_of_element(e.y, t, &p);
    return w == 0 ? 0 : w * loss_of_element(e.y, t, &p);
}

static void yolo_loss_reference(const struct reference *r)
{
    loss_reference_of(r, visit);
}

#define TYPES(XY, WH, CONFIDENCE, CLASSES)                                                         \
    "xy_loss_type=" XY " wh_loss_type=" WH " confidence_loss_type=" CONFIDENCE                     \
    " classes_loss_type=" CLASSES

static const struct check_case cases[] = {
    {"", {2, 5, 3, 4}},
    {"", {2, 8, 4, 3}},
    {"number_of_anchor_boxes=2", {2, 12, 5, 4}},
    {"number_of_anchor_boxes=3", {2, 21, 13, 13}},
    {"number_of_anchor_boxes=5 rescore=false", {1, 30, 7, 5}},
    {"number_of_anchor_boxes=4 reduction_type=none", {2, 24, 6, 5}},
    {"number_of_anchor_boxes=4 reduction_type=mean", {3, 28, 4, 9}},
    {"number_of_anchor_boxes=2 reduction_type=sum_by_non_zero_weights", {2, 14, 9, 9}},
    {"number_of_anchor_boxes=2", {3, 18, 1, 1}},
    {"number_of_anchor_boxes=2 min_iou_for_object_presence=0.3 max_iou_for_object_absence=0.1",
     {2, 16, 12, 11}},
    {"scale_xy=1.5 scale_wh=0.5 scale_no_object=2 scale_object=-3 scale_class=0.25", {1, 7, 6, 6}},
    {"xy_weight=0.5 wh_weight=2 confidence_weight=0.25 classes_weight=-1.5", {1, 9, 6, 6}},
    {"classes_label_smoothing=0.2 confidence_label_smoothing=0.1 number_of_anchor_boxes=2",
     {2, 20, 4, 4}},
    {"number_of_anchor_boxes=2 " TYPES("mean_absolute_error", "mean_squared_error", "hinge",
                                       "sigmoid_cross_entropy"),
     {2, 16, 5, 6}},
    {"number_of_anchor_boxes=2 xy_epsilon=0.01 wh_delta=0.25 " TYPES(
         "log", "huber", "mean_squared_error", "huber") " classes_delta=0.5",
     {2, 14, 5, 6}},
    {"number_of_anchor_boxes=3 " TYPES("categorical_cross_entropy", "mean_absolute_error",
                                       "mean_absolute_error", "kullback_leibler_divergence"),
     {2, 18, 5, 6}},
    {"number_of_anchor_boxes=2 offset_x=-2 offset_y=1 edge_mode=clamp", {1, 14, 5, 6}},
    {"number_of_anchor_boxes=2 offset_x=1", {2, 12, 4, 5}},
    {"number_of_anchor_boxes=2 reduction_type=none clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=3 clip_rect_size_height=1",
     {2, 12, 4, 5}},
    {"number_of_anchor_boxes=2 clip_rect_origin_x=2 clip_rect_size_width=4 clip_rect_origin_z=1 "
     "clip_rect_size_depth=2 offset_z=1",
     {4, 16, 3, 8}},
    {"number_of_anchor_boxes=2 source_feature_channel_max_count=12", {2, 12, 3, 3}},
    {"number_of_anchor_boxes=5 reduction_type=mean", {4, 125, 13, 13}, {0}, true},
    {"number_of_anchor_boxes=15", {1, 1275, 3, 3}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_yolo_loss = {yolo_loss_reference, cases};
