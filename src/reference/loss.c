/* Losses and their first gradients: spec 8. */
#include "reference/loss.h"

#include <math.h>

#include "kernels/numbers.h"

/* ---- Losses of an element ---- */

typedef double (*element)(double y, double t, const struct glcnn_loss_parameters *p);

static double absolute_error(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return fabs(y - t);
}

static double absolute_error_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return sign_of(y - t);
}

static double squared_error(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return pow(y - t, 2);
}

static double squared_error_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return 2 * (y - t);
}

static double sigmoid_cross_entropy(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return at_least(y, 0) - y * t + log1p(exp(-fabs(y)));
}

static double sigmoid_cross_entropy_gradient(double y, double t,
                                             const struct glcnn_loss_parameters *p)
{
    (void)p;
    return 1 / (1 + exp(-y)) - t;
}

/* 0 where there is no label, but for a NaN in the prediction. */
static double without_label(double y, double t, double value)
{
    return t == 0 && !isnan(y) ? 0 : value;
}

static double categorical_cross_entropy(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return without_label(y, t, -t * log(y));
}

static double categorical_cross_entropy_gradient(double y, double t,
                                                 const struct glcnn_loss_parameters *p)
{
    (void)p;
    return without_label(y, t, -t / y);
}

static double hinge(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return at_least(1 - (2 * t - 1) * y, 0);
}

static double hinge_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    double l = hinge(y, t, p);
    return isnan(l) ? l : l > 0 ? 1 - 2 * t : 0;
}

static double huber(double y, double t, const struct glcnn_loss_parameters *p)
{
    double e = fabs(y - t), delta = (double)p->delta;
    return e <= delta ? e * e / 2 : delta * delta / 2 + delta * (e - delta);
}

static double huber_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    return held(y - t, -(double)p->delta, (double)p->delta);
}

static double cosine_distance(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return -y * t;
}

static double minus_label(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)y;
    (void)p;
    return -t;
}

static double log_loss(double y, double t, const struct glcnn_loss_parameters *p)
{
    double epsilon = (double)p->epsilon;
    return -t * log(y + epsilon) - (1 - t) * log(1 - y + epsilon);
}

static double log_loss_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    double e = (double)p->epsilon;
    return (-2 * e * t - t + y + e) / (y * (1 - y) + e * (e + 1));
}

static double kullback_leibler(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return without_label(y, t, t * (log(t) - y));
}

static double quality_focal(double y, double t, const struct glcnn_loss_parameters *p)
{
    return pow(1 / (1 + exp(-y)) - t, 2) * sigmoid_cross_entropy(y, t, p);
}

static double quality_focal_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    const double s = 1 / (1 + exp(-y)), slope = s / (1 + exp(y));
    return 2 * (s - t) * slope * sigmoid_cross_entropy(y, t, p) + pow(s - t, 3);
}

/* Those over the channels of a pixel have none. */
static const struct {
    element loss, gradient;
} elements[] = {
    [GLCNN_LOSS_TYPE_MEAN_ABSOLUTE_ERROR] = {absolute_error, absolute_error_gradient},
    [GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR] = {squared_error, squared_error_gradient},
    [GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY] = {sigmoid_cross_entropy,
                                               sigmoid_cross_entropy_gradient},
    [GLCNN_LOSS_TYPE_CATEGORICAL_CROSS_ENTROPY] = {categorical_cross_entropy,
                                                   categorical_cross_entropy_gradient},
    [GLCNN_LOSS_TYPE_HINGE] = {hinge, hinge_gradient},
    [GLCNN_LOSS_TYPE_HUBER] = {huber, huber_gradient},
    [GLCNN_LOSS_TYPE_COSINE_DISTANCE] = {cosine_distance, minus_label},
    [GLCNN_LOSS_TYPE_LOG] = {log_loss, log_loss_gradient},
    [GLCNN_LOSS_TYPE_KULLBACK_LEIBLER_DIVERGENCE] = {kullback_leibler, minus_label},
    [GLCNN_LOSS_TYPE_QUALITY_FOCAL] = {quality_focal, quality_focal_gradient},
};

#define COUNT(...) +1
_Static_assert(sizeof elements / sizeof *elements == LOSS_TYPES(COUNT), "each type has a row");

double loss_of_element(double y, double t, const struct glcnn_loss_parameters *p)
{
    return elements[p->loss_type].loss(y, t, p);
}

double loss_gradient_of_element(double y, double t, const struct glcnn_loss_parameters *p)
{
    return elements[p->loss_type].gradient(y, t, p);
}

/* ---- Pixels ---- */

static double label(const struct reference *r, const struct loss_pixel *p, uint32_t c)
{
    double scale, offset;
    loss_smoothing(r->operation->parameters, &scale, &offset);
    return tensor_get(&r->images[LABELS], p->n, c, p->y, p->x) * scale + offset;
}

double loss_weight(const struct reference *r, const struct loss_pixel *p, uint32_t c)
{
    if (!r->images[WEIGHTS].data)
        return 1;
    return tensor_get(&r->images[WEIGHTS], p->n, c, p->y, p->x);
}

static double omega(const struct reference *r, const struct loss_pixel *p, uint32_t c)
{
    const struct glcnn_loss_parameters *parameters = r->operation->parameters;
    return (double)parameters->weight * loss_weight(r, p, c);
}

/* log soft-max of the prediction for channel c. */
static double log_probability(const struct reference *r, const struct loss_pixel *p, uint32_t c)
{
    const struct tensor *y = &r->images[SOURCE];
    double sum = 0, largest = -INFINITY;
    for (uint32_t i = 0; i < y->channels; i++)
        largest = fmax(largest, tensor_get(y, p->n, i, p->y, p->x));
    for (uint32_t i = 0; i < y->channels; i++)
        sum += exp(tensor_get(y, p->n, i, p->y, p->x) - largest);
    return tensor_get(y, p->n, c, p->y, p->x) - largest - log(sum);
}

/* - sum_i omega(i) t(i) d log soft-max(i) / d y(c) */
static double cross_entropy_gradient(const struct reference *r, const struct loss_pixel *p,
                                     uint32_t c)
{
    double gradient = 0, probability = exp(log_probability(r, p, c));
    for (uint32_t i = 0; i < r->images[SOURCE].channels; i++)
        gradient -= omega(r, p, i) * label(r, p, i) * ((i == c) - probability);
    return gradient;
}

static double visit(const struct reference *r, const struct loss_pixel *p, uint32_t c)
{
    const struct glcnn_loss_parameters *parameters = r->operation->parameters;
    double *gradient = tensor_at(&r->images[DESTINATION], p->n, c, p->Y, p->X);
    double y = tensor_get(&r->images[SOURCE], p->n, c, p->y, p->x), t = label(r, p, c);
    if (loss_row_of(parameters)->over_channels) {
        *gradient = cross_entropy_gradient(r, p, c);
        return omega(r, p, c) * times(-t, log_probability(r, p, c));
    }
    *gradient = omega(r, p, c) * loss_gradient_of_element(y, t, parameters);
    return omega(r, p, c) * loss_of_element(y, t, parameters);
}

struct totals {
    double sum, present;
};

static void visit_pixel(const struct reference *r, const struct loss_pixel *p,
                        loss_visitor visit_element, struct totals *totals)
{
    const struct tensor *loss = &r->images[LOSS];
    for (uint32_t c = 0; c < loss_channels(r->operation); c++) {
        double value = visit_element(r, p, c);
        totals->sum += value;
        totals->present += loss_weight(r, p, c) != 0;
        if (loss->data && loss_is_element_wise(r->operation))
            *tensor_at(loss, p->n, c, p->Y, p->X) = value;
    }
}

static void finish_image(const struct reference *r, uint32_t n, const struct totals *totals)
{
    double sum = loss_constant(r->operation) + totals->sum;
    if (!r->images[LOSS].data || loss_is_element_wise(r->operation))
        return;
    double scale = loss_scale(r->operation);
    if (loss_by_count(r->operation))
        scale = totals->present > 0 ? 1 / totals->present : 0;
    *tensor_at(&r->images[LOSS], n, 0, 0, 0) = sum * scale;
}

void loss_reference_of(const struct reference *r, loss_visitor visit_element)
{
    const struct window *w = &r->operation->window;
    const struct tensor *source = &r->images[SOURCE];
    for (uint32_t n = 0; n < source->images; n++) {
        struct totals totals = {0};
        for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
            for (int32_t X = w->x.begin; X < w->x.end; X++) {
                struct loss_pixel p = {
                    n, axis_tap(&w->y, w->edge_mode, (int32_t)source->height, Y, 0),
                    axis_tap(&w->x, w->edge_mode, (int32_t)source->width, X, 0), Y, X};
                visit_pixel(r, &p, visit_element, &totals);
            }
        finish_image(r, n, &totals);
    }
}

static void loss_reference(const struct reference *r)
{
    loss_reference_of(r, visit);
}

#define TYPE_CASE(NAME, ...) {"loss_type=" #NAME " reduction_type=sum", {2, 5, 3, 2}},

static const struct check_case cases[] = {
    LOSS_TYPES(TYPE_CASE) /* each */
    {"loss_type=mean_absolute_error reduction_type=none", {1, 1, 3, 3}},
    {"loss_type=mean_absolute_error reduction_type=sum weight=0.25", {2, 2, 4, 5}},
    {"loss_type=mean_squared_error reduction_type=none weight=1.5", {2, 3, 4, 2}},
    {"loss_type=mean_squared_error reduction_type=mean", {3, 6, 5, 4}},
    {"loss_type=mean_squared_error reduction_type=sum_by_non_zero_weights", {2, 5, 3, 3}},
    {"loss_type=soft_max_cross_entropy reduction_type=none", {2, 4, 3, 2}},
    {"loss_type=soft_max_cross_entropy reduction_type=sum weight=-2", {9, 10, 1, 1}},
    {"loss_type=soft_max_cross_entropy reduction_type=mean", {3, 7, 4, 4}},
    {"loss_type=soft_max_cross_entropy reduction_type=sum_by_non_zero_weights", {2, 9, 3, 5}},
    {"loss_type=soft_max_cross_entropy reduction_type=mean label_smoothing=0.1 "
     "number_of_classes=8",
     {2, 8, 2, 2}},
    {"loss_type=soft_max_cross_entropy reduction_type=sum offset_x=-2 offset_y=1 edge_mode=clamp",
     {1, 5, 4, 6}},
    {"loss_type=soft_max_cross_entropy reduction_type=none clip_rect_origin_x=1 "
     "clip_rect_origin_y=2 clip_rect_size_width=3 clip_rect_size_height=1",
     {2, 3, 4, 5}},
    {"loss_type=sigmoid_cross_entropy reduction_type=mean label_smoothing=0.2", {1, 3, 5, 5}},
    {"loss_type=sigmoid_cross_entropy reduction_type=none offset_x=1", {2, 2, 3, 4}},
    {"loss_type=categorical_cross_entropy reduction_type=sum", {2, 10, 1, 1}},
    {"loss_type=categorical_cross_entropy reduction_type=none", {1, 5, 3, 3}},
    {"loss_type=hinge reduction_type=mean", {2, 6, 3, 3}},
    {"loss_type=hinge reduction_type=sum_by_non_zero_weights weight=0.5", {1, 1, 9, 9}},
    {"loss_type=huber reduction_type=mean delta=0.2", {2, 3, 7, 5}},
    {"loss_type=huber reduction_type=none delta=3", {1, 7, 2, 3}},
    {"loss_type=cosine_distance reduction_type=sum weight=0.75", {3, 9, 2, 2}},
    {"loss_type=log reduction_type=mean epsilon=0.01", {2, 4, 3, 3}},
    {"loss_type=log reduction_type=none", {1, 3, 3, 2}},
    {"loss_type=kullback_leibler_divergence reduction_type=sum", {2, 6, 4, 1}},
    {"loss_type=quality_focal reduction_type=sum weight=1.5", {2, 6, 4, 3}},
    {"loss_type=quality_focal reduction_type=none", {1, 3, 3, 5}},
    {"loss_type=mean_squared_error reduction_type=sum clip_rect_origin_x=2 "
     "clip_rect_size_width=4 clip_rect_origin_z=1 clip_rect_size_depth=2 offset_z=1",
     {4, 5, 3, 8}},
    {"loss_type=mean_squared_error reduction_type=mean source_feature_channel_max_count=6",
     {2, 6, 3, 3}},
    {"loss_type=soft_max_cross_entropy reduction_type=mean label_smoothing=0.1 "
     "number_of_classes=301",
     {2, 301, 2, 1}},
    {"loss_type=mean_squared_error reduction_type=mean", {2, 33, 70, 67}, {0}, true},
    {"loss_type=soft_max_cross_entropy reduction_type=sum", {16, 100, 9, 9}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_loss = {loss_reference, cases};
