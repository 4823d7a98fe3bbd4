/* Spatial and local contrast normalisation and their gradients: spec 7.7 and 7.8. */
#include "kernels/local_normalization.h"

#include <math.h>

#include "reference/reference.h"

/* One window of one channel. Positions are -1 outside, where the value is 0. */
struct local_window {
    const struct reference *r;
    const struct numbers *l;
    const struct tensor *source;
    uint32_t n, c;
    int32_t Y, X;
    double count, mean, scale; /* N, Mn, T */
};

static double tap(const struct local_window *w, int32_t q, int32_t p, int32_t at[2])
{
    const struct window *of = &w->r->operation->window;
    at[0] = axis_tap(&of->y, of->edge_mode, (int32_t)w->source->height, w->Y, q);
    at[1] = axis_tap(&of->x, of->edge_mode, (int32_t)w->source->width, w->X, p);
    return tensor_get(w->source, w->n, w->c, at[0], at[1]);
}

/* Mean over the window of (tap - around)^power. */
static double moment(const struct local_window *w, double around, int power)
{
    const struct window *of = &w->r->operation->window;
    double sum = 0;
    int32_t at[2];
    for (int32_t q = 0; q < of->y.size; q++)
        for (int32_t p = 0; p < of->x.size; p++)
            sum += pow(tap(w, q, p, at) - around, power);
    return sum / w->count;
}

static void measure(struct local_window *w)
{
    const struct window *of = &w->r->operation->window;
    w->count = (double)of->x.size * of->y.size;
    w->mean = w->l->about_mean ? moment(w, 0, 1) : 0;
    w->scale = (double)w->l->delta + (double)w->l->alpha * moment(w, w->mean, 2);
}

/* Xc - p0 Mn, and where Xc is. */
static double contrast(const struct local_window *w, int32_t at[2])
{
    const struct window *of = &w->r->operation->window;
    return tap(w, of->y.size / 2, of->x.size / 2, at) - (double)w->l->p0 * w->mean;
}

typedef void (*visit_window)(const struct local_window *w);

static void for_each_window(const struct reference *r, const struct tensor *source,
                            visit_window visit)
{
    const struct window *of = &r->operation->window;
    const struct numbers l = local_normalization_numbers(r->operation);
    struct local_window w = {.r = r, .l = &l, .source = source};
    for (w.n = 0; w.n < source->images; w.n++)
        for (w.c = 0; w.c < source->channels; w.c++)
            for (w.Y = of->y.begin; w.Y < of->y.end; w.Y++)
                for (w.X = of->x.begin; w.X < of->x.end; w.X++) {
                    measure(&w);
                    visit(&w);
                }
}

static void normalise(const struct local_window *w)
{
    int32_t at[2];
    double power = pow(w->scale, -(double)w->l->beta);
    *tensor_at(&w->r->images[RESULT], w->n, w->c, w->Y, w->X) =
        (double)w->l->pm + (double)w->l->ps * contrast(w, at) * power;
}

/* Adds to the gradient of source pixel `at`. */
static void add(const struct local_window *w, const int32_t at[2], double value)
{
    const struct tensor *to = &w->r->images[DESTINATION];
    int32_t y = at[0] - w->r->operation->window.y.shift;
    int32_t x = at[1] - w->r->operation->window.x.shift;
    if (at[0] >= 0 && at[1] >= 0 && y >= 0 && x >= 0 && y < (int32_t)to->height &&
        x < (int32_t)to->width)
        *tensor_at(to, w->n, w->c, y, x) += value;
}

/* The product rule: Y changes with a tap through Xc if it is the middle one, through Mn and through
 * T. Mn and T count a repeated border pixel with every tap that reads it. */
static void scatter(const struct local_window *w)
{
    const struct numbers *l = w->l;
    const struct window *of = &w->r->operation->window;
    int32_t at[2];
    double g = (double)l->ps * tensor_get(&w->r->images[GRADIENT], w->n, w->c, w->Y, w->X);
    double difference = contrast(w, at), beta = (double)l->beta;
    double power = pow(w->scale, -beta), slope = -beta * pow(w->scale, -beta - 1);
    add(w, at, g * power);
    for (int32_t q = 0; q < of->y.size; q++)
        for (int32_t p = 0; p < of->x.size; p++) {
            double d_mean = l->about_mean ? 1 / w->count : 0;
            double d_scale = (double)l->alpha * 2 * (tap(w, q, p, at) - w->mean) / w->count;
            add(w, at, g * (difference * slope * d_scale - (double)l->p0 * d_mean * power));
        }
}

static void forward_reference(const struct reference *r)
{
    for_each_window(r, &r->images[SOURCE], normalise);
}

static void gradient_reference(const struct reference *r)
{
    for_each_window(r, &r->images[IMAGE], scatter);
}

static const struct check_case spatial_cases[] = {
    {"", {1, 1, 3, 3}},
    {"kernel_width=3 kernel_height=3", {2, 2, 5, 6}},
    {"kernel_width=5 kernel_height=5 beta=0.75", {1, 3, 7, 6}},
    {"kernel_width=2 kernel_height=2 beta=1", {2, 4, 5, 5}},
    {"kernel_width=3 kernel_height=2 alpha=2 beta=0.5 delta=0.25", {1, 5, 6, 7}},
    {"kernel_width=1 kernel_height=4 alpha=-0.5 delta=2 beta=-1.5", {2, 6, 4, 3}},
    {"kernel_width=9 kernel_height=5 beta=2", {1, 7, 4, 5}},
    {"kernel_width=3 kernel_height=3 edge_mode=clamp beta=0.75", {1, 8, 5, 4}},
    {"kernel_width=4 kernel_height=3 edge_mode=clamp alpha=3", {2, 9, 3, 6}},
    {"kernel_width=5 kernel_height=7 edge_mode=clamp", {1, 5, 2, 1}},
    {"kernel_width=3 kernel_height=3 offset_x=-2 offset_y=1 destination_width=7 "
     "destination_height=4",
     {2, 3, 6, 5}},
    {"kernel_width=3 kernel_height=4 offset_x=3 offset_y=-2 destination_width=6 "
     "destination_height=9 edge_mode=clamp beta=0.5",
     {1, 6, 6, 5}},
    {"kernel_width=3 kernel_height=3 padding=valid align=top_left", {1, 4, 6, 7}},
    {"kernel_width=4 kernel_height=3 padding=full beta=1.5", {1, 3, 4, 4}},
    {"kernel_width=3 kernel_height=3 clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=3 clip_rect_size_height=2",
     {2, 5, 6, 6}},
    {"kernel_width=3 kernel_height=3 edge_mode=clamp clip_rect_origin_x=2 clip_rect_size_width=3 "
     "offset_x=1",
     {2, 6, 5, 6}},
    {"kernel_width=3 kernel_height=3 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=3",
     {2, 9, 4, 5}},
    {"kernel_width=5 kernel_height=4 beta=0.75 clip_rect_origin_x=1 clip_rect_origin_y=2",
     {1, 3, 11, 71}},
    {"kernel_width=5 kernel_height=5 beta=0.75", {4, 37, 14, 14}, {0}, true},
    {0}};

static const struct check_case contrast_cases[] = {
    {"", {1, 1, 3, 3}},
    {"kernel_width=3 kernel_height=3", {2, 2, 5, 6}},
    {"kernel_width=3 kernel_height=3 alpha=1", {2, 2, 5, 6}},
    {"kernel_width=5 kernel_height=5 alpha=1 beta=0.75", {1, 3, 7, 6}},
    {"kernel_width=2 kernel_height=2 alpha=1 beta=1 delta=0.5 p0=0.5", {2, 4, 5, 5}},
    {"kernel_width=3 kernel_height=2 alpha=2 beta=0.5 delta=0.25 p0=0 pm=0.5 ps=-2", {1, 5, 6, 7}},
    {"kernel_width=1 kernel_height=4 alpha=-0.5 delta=2 beta=-1.5 p0=-1", {2, 6, 4, 3}},
    {"kernel_width=9 kernel_height=5 alpha=3 delta=1 beta=2 pm=-1", {1, 7, 4, 5}},
    {"kernel_width=3 kernel_height=3 edge_mode=clamp alpha=1 delta=0.125", {1, 8, 5, 4}},
    {"kernel_width=4 kernel_height=3 edge_mode=clamp alpha=3 delta=0.5 p0=0.75", {2, 9, 3, 6}},
    {"kernel_width=5 kernel_height=7 edge_mode=clamp alpha=1 delta=0.25 ps=3", {1, 5, 2, 1}},
    {"kernel_width=3 kernel_height=3 alpha=1 delta=0.25 offset_x=-2 offset_y=1 "
     "destination_width=7 destination_height=4",
     {2, 3, 6, 5}},
    {"kernel_width=3 kernel_height=4 alpha=1 delta=0.25 offset_x=3 offset_y=-2 "
     "destination_width=6 destination_height=9 edge_mode=clamp",
     {1, 6, 6, 5}},
    {"kernel_width=3 kernel_height=3 alpha=1 padding=valid align=top_left", {1, 4, 6, 7}},
    {"kernel_width=4 kernel_height=3 alpha=1 delta=0.5 padding=full beta=1.5", {1, 3, 4, 4}},
    {"kernel_width=3 kernel_height=3 alpha=1 clip_rect_origin_x=1 clip_rect_origin_y=2 "
     "clip_rect_size_width=3 clip_rect_size_height=2",
     {2, 5, 6, 6}},
    {"kernel_width=3 kernel_height=3 alpha=1 edge_mode=clamp clip_rect_origin_x=2 "
     "clip_rect_size_width=3 offset_x=1",
     {2, 6, 5, 6}},
    {"kernel_width=3 kernel_height=3 alpha=1 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=3",
     {2, 9, 4, 5}},
    {"kernel_width=5 kernel_height=4 alpha=1 delta=0.25 p0=0.75 clip_rect_origin_x=1 "
     "clip_rect_origin_y=2",
     {1, 3, 11, 71}},
    {"kernel_width=5 kernel_height=5 alpha=1", {4, 37, 14, 14}, {0}, true},
    {0}};

const struct glcnn_reference glcnn_reference_local_contrast_normalization = {forward_reference,
                                                                             contrast_cases};
const struct glcnn_reference glcnn_reference_local_contrast_normalization_gradient = {
    gradient_reference, contrast_cases};
const struct glcnn_reference glcnn_reference_spatial_normalization = {forward_reference,
                                                                      spatial_cases};
const struct glcnn_reference glcnn_reference_spatial_normalization_gradient = {gradient_reference,
                                                                               spatial_cases};
