/* Convolution in double precision, straight from spec 7.2. All three gradients scatter: every
 * forward product hands its share to what it was made of. */
#include "kernels/convolution.h"

/* One product of the forward sum: output (k, Y, X) with tap (q, p) and input c of k's group. */
struct product {
    uint32_t n, k, c;
    int32_t Y, X, y, x; /* output pixel; source pixel read */
    size_t weight;
};

typedef void (*visit_product)(const struct reference *r, const struct product *product);

static void visit_taps(const struct reference *r, const struct window *w, struct product at,
                       const struct tensor *source, visit_product visit)
{
    struct channels c = convolution_channels(r->operation);
    size_t first = at.k / c.outputs_per_group * c.inputs_per_group;
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++) {
            at.y = axis_tap(&w->y, w->edge_mode, (int32_t)source->height, at.Y, q);
            at.x = axis_tap(&w->x, w->edge_mode, (int32_t)source->width, at.X, p);
            if (at.y < 0 || at.x < 0)
                continue;
            size_t tap =
                ((size_t)at.k * (size_t)w->y.size + (size_t)q) * (size_t)w->x.size + (size_t)p;
            for (uint32_t i = 0; i < c.inputs_per_group; i++) {
                at.c = (uint32_t)first + i;
                at.weight = tap * c.inputs_per_group + i;
                visit(r, &at);
            }
        }
}

static void for_each_product(const struct reference *r, const struct window *w,
                             const struct tensor *source, visit_product visit)
{
    uint32_t outputs = convolution_channels(r->operation).outputs;
    for (uint32_t n = 0; n < source->images; n++)
        for (uint32_t k = 0; k < outputs; k++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    visit_taps(r, w, (struct product){.n = n, .k = k, .Y = Y, .X = X}, source,
                               visit);
}

/* ---- Forward ---- */

/* Where sum (k, Y, X) goes in the result; NULL: beyond its region. Factor 1 leaves it in place. */
static double *result_at(const struct reference *r, uint32_t n, uint32_t k, int32_t Y, int32_t X)
{
    const struct operation *o = r->operation;
    const struct tensor *to = &r->images[RESULT];
    uint32_t factor = convolution_scale_factor(o), place = k / to->channels;
    uint32_t y = (uint32_t)Y * factor + place / factor;
    uint32_t x = (uint32_t)X * factor + place % factor;
    if (y >= o->region_height || x >= o->region_width)
        return NULL;
    return tensor_at(to, n, k % to->channels, (int32_t)(o->region_y + y),
                     (int32_t)(o->region_x + x));
}

static void add_output(const struct reference *r, const struct product *p)
{
    double *at = result_at(r, p->n, p->k, p->Y, p->X);
    if (at)
        *at +=
            r->vectors[WEIGHTS][p->weight] * *tensor_at(&r->images[SOURCE], p->n, p->c, p->y, p->x);
}

static void finish(const struct reference *r, uint32_t n, uint32_t c)
{
    const struct operation *o = r->operation;
    const struct glcnn_convolution_parameters *parameters = o->parameters;
    uint32_t factor = convolution_scale_factor(o), channels = r->images[RESULT].channels;
    for (uint32_t y = 0; y < o->region_height; y++)
        for (uint32_t x = 0; x < o->region_width; x++) {
            uint32_t k = channels * (factor * (y % factor) + x % factor) + c;
            double *at = tensor_at(&r->images[RESULT], n, c, (int32_t)(o->region_y + y),
                                   (int32_t)(o->region_x + x));
            double sum = *at + (r->vectors[BIASES] ? r->vectors[BIASES][k] : 0);
            double slope = neuron_slope(&parameters->neuron, r->vectors[NEURON_DATA], k);
            *at = neuron_value(&parameters->neuron, slope, sum);
        }
}

void convolution_reference_finish(const struct reference *r)
{
    for (uint32_t n = 0; n < r->images[RESULT].images; n++)
        for (uint32_t c = 0; c < r->images[RESULT].channels; c++)
            finish(r, n, c);
}

void convolution_reference(const struct reference *r)
{
    struct window w = convolution_sum_window(r->operation);
    for_each_product(r, &w, &r->images[SOURCE], add_output);
    convolution_reference_finish(r);
}

/* ---- Gradients ---- */

static double gradient_at(const struct reference *r, const struct product *p)
{
    return tensor_get(&r->images[GRADIENT], p->n, p->k, p->Y, p->X);
}

static bool is_written(const struct operation *o, int32_t y, int32_t x)
{
    return y >= (int32_t)o->region_y && y < (int32_t)(o->region_y + o->region_height) &&
           x >= (int32_t)o->region_x && x < (int32_t)(o->region_x + o->region_width);
}

static void add_data(const struct reference *r, const struct product *p)
{
    const struct window *w = &r->operation->window;
    int32_t y = p->y - w->y.shift, x = p->x - w->x.shift;
    if (is_written(r->operation, y, x))
        *tensor_at(&r->images[DESTINATION], p->n, p->c, y, x) +=
            r->vectors[GRADIENT_WEIGHTS][p->weight] * gradient_at(r, p);
}

static void add_weight(const struct reference *r, const struct product *p)
{
    struct channel_range l = convolution_learns(r->operation);
    const struct window *w = &r->operation->window;
    size_t before = (size_t)l.first * (size_t)w->y.size * (size_t)w->x.size *
                    convolution_channels(r->operation).inputs_per_group;
    if (p->k - l.first >= l.count) /* or is below it, and the difference large */
        return;
    r->vectors[GRADIENT_FOR_WEIGHTS][p->weight - before] +=
        gradient_at(r, p) * *tensor_at(&r->images[IMAGE], p->n, p->c, p->y, p->x);
}

void convolution_reference_biases(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *gradient = &r->images[GRADIENT];
    struct channel_range l = convolution_learns(r->operation);
    for (uint32_t n = 0; n < gradient->images; n++)
        for (uint32_t k = 0; k < l.count; k++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    r->vectors[GRADIENT_FOR_BIASES][k] +=
                        *tensor_at(gradient, n, l.first + k, Y, X);
}

void convolution_gradient_reference(const struct reference *r)
{
    struct window data = convolution_data_window(r->operation);
    bool clamped = data.edge_mode == GLCNN_EDGE_MODE_CLAMP;
    if (convolution_wants(r->operation, GLCNN_GRADIENT_OPTION_DATA))
        for_each_product(r, &data, &r->images[clamped ? IMAGE : DESTINATION], add_data);
    if (!convolution_wants(r->operation, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES))
        return;
    for_each_product(r, &r->operation->window, &r->images[IMAGE], add_weight);
    if (r->operation->given[GRADIENT_FOR_BIASES])
        convolution_reference_biases(r);
}
