/* Transposed convolution and its gradients: spec 7.2. */
#include "reference/convolution.h"

/* One product of the forward sum: what input (c, y, x) adds to output (k, Y, X). */
struct product {
    uint32_t n, k, c;
    int32_t Y, X, y, x;
    size_t weight;
};

typedef void (*visit_product)(const struct reference *r, const struct product *product);

/* Result pixel that tap p of source pixel x reaches; -1: none that counts. The taps of a window are
 * numbered from the result's side, where they come in reverse. */
static int32_t reached(const struct axis *axis, int32_t x, int32_t p)
{
    int32_t X = axis->first + axis->stride * x + axis->dilation * (axis->size - 1 - p);
    return X >= axis->begin && X < axis->end ? X : -1;
}

static void visit_taps(const struct reference *r, struct product at, visit_product visit)
{
    const struct window *w = &r->operation->window;
    struct channels c = convolution_channels(r->operation);
    for (int32_t q = 0; q < w->y.size; q++)
        for (int32_t p = 0; p < w->x.size; p++) {
            size_t tap =
                ((size_t)at.k * (size_t)w->y.size + (size_t)q) * (size_t)w->x.size + (size_t)p;
            at.Y = reached(&w->y, at.y, q);
            at.X = reached(&w->x, at.x, p);
            at.weight = tap * c.inputs_per_group + at.c % c.inputs_per_group;
            if (at.Y >= 0 && at.X >= 0)
                visit(r, &at);
        }
}

static void for_each_product(const struct reference *r, const struct tensor *source,
                             visit_product visit)
{
    struct channels c = convolution_channels(r->operation);
    for (uint32_t n = 0; n < source->images; n++)
        for (uint32_t i = 0; i < source->channels; i++)
            for (uint32_t o = 0; o < c.outputs_per_group; o++)
                for (int32_t y = 0; y < (int32_t)source->height; y++)
                    for (int32_t x = 0; x < (int32_t)source->width; x++)
                        visit_taps(
                            r,
                            (struct product){.n = n,
                                             .k = i / c.inputs_per_group * c.outputs_per_group + o,
                                             .c = i,
                                             .y = y,
                                             .x = x},
                            visit);
}

static void add_output(const struct reference *r, const struct product *p)
{
    *tensor_at(&r->images[RESULT], p->n, p->k, p->Y, p->X) +=
        r->vectors[WEIGHTS][p->weight] * *tensor_at(&r->images[SOURCE], p->n, p->c, p->y, p->x);
}

static void forward_reference(const struct reference *r)
{
    for_each_product(r, &r->images[SOURCE], add_output);
    convolution_reference_finish(r);
}

static void add_data(const struct reference *r, const struct product *p)
{
    *tensor_at(&r->images[DESTINATION], p->n, p->c, p->y, p->x) +=
        r->vectors[GRADIENT_WEIGHTS][p->weight] *
        tensor_get(&r->images[GRADIENT], p->n, p->k, p->Y, p->X);
}

static void add_weight(const struct reference *r, const struct product *p)
{
    r->vectors[GRADIENT_FOR_WEIGHTS][p->weight] +=
        tensor_get(&r->images[GRADIENT], p->n, p->k, p->Y, p->X) *
        *tensor_at(&r->images[IMAGE], p->n, p->c, p->y, p->x);
}

static void gradient_reference(const struct reference *r)
{
    const struct tensor *source = &r->images[IMAGE];
    if (convolution_wants(r->operation, GLCNN_GRADIENT_OPTION_DATA))
        for_each_product(r, source, add_data);
    if (!convolution_wants(r->operation, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES))
        return;
    for_each_product(r, source, add_weight);
    if (r->operation->given[GRADIENT_FOR_BIASES])
        convolution_reference_biases(r);
}

#define WINDOW(OUTPUTS, WIDTH, HEIGHT, MORE)                                                       \
    "output_feature_channels=" #OUTPUTS " kernel_width=" #WIDTH " kernel_height=" #HEIGHT " " MORE
#define STRIDES(X, Y) "stride_in_pixels_x=" #X " stride_in_pixels_y=" #Y " "

#define CASES                                                                                      \
    {WINDOW(3, 3, 3, ""), {2, 2, 5, 6}}, {WINDOW(5, 3, 3, STRIDES(2, 2)), {1, 1, 4, 5}},           \
        {WINDOW(9, 2, 3, STRIDES(2, 1)), {3, 3, 4, 5}},                                            \
        {WINDOW(8, 4, 4, STRIDES(2, 2) "padding=full"), {2, 4, 3, 5}},                             \
        {WINDOW(7, 4, 5, STRIDES(3, 2) "padding=valid"), {2, 5, 4, 3}},                            \
        {WINDOW(6, 3, 2, STRIDES(4, 3)), {1, 6, 3, 4}},                                            \
        {WINDOW(4, 1, 1, STRIDES(3, 3)), {1, 7, 3, 2}},                                            \
        {WINDOW(5, 2, 2, STRIDES(2, 2) "padding=full"), {1, 8, 3, 4}},                             \
        {WINDOW(1, 3, 3, STRIDES(2, 2)), {2, 9, 3, 3}},                                            \
        {WINDOW(8, 3, 3, STRIDES(2, 2) "groups=2"), {2, 6, 4, 3}},                                 \
        {WINDOW(9, 3, 3, STRIDES(2, 1) "groups=9"), {2, 9, 4, 3}},                                 \
        {WINDOW(15, 3, 2, STRIDES(1, 3) "groups=5"), {1, 10, 3, 4}},                               \
        {WINDOW(3, 3, 3, "dilation_rate_x=2 dilation_rate_y=3 " STRIDES(2, 2)), {1, 2, 4, 5}},     \
        {WINDOW(4, 3, 3,                                                                           \
                STRIDES(2, 2) "kernel_offset_x=-1 kernel_offset_y=1 destination_width=10 "         \
                              "destination_height=6"),                                             \
         {2, 3, 4, 4}},                                                                            \
        {WINDOW(4, 3, 2,                                                                           \
                STRIDES(2, 2) "offset_x=1 offset_y=-1 destination_width=7 destination_height=9"),  \
         {2, 3, 4, 4}},                                                                            \
        {WINDOW(5, 3, 3,                                                                           \
                STRIDES(2, 2) "clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=4 "  \
                              "clip_rect_size_height=3"),                                          \
         {2, 3, 4, 5}},                                                                            \
        {WINDOW(3, 3, 3,                                                                           \
                STRIDES(2, 2) "source_feature_channel_offset=4 "                                   \
                              "source_feature_channel_max_count=3 "                                \
                              "destination_feature_channel_offset=4"),                             \
         {2, 9, 3, 4}},                                                                            \
        {WINDOW(36, 4, 4, STRIDES(2, 2)), {2, 34, 4, 3}},                                          \
    {                                                                                              \
        WINDOW(16, 4, 4, STRIDES(2, 2)), {8, 32, 7, 7}, {0}, true                                  \
    }

static const struct check_case cases[] = {
    CASES,
    {WINDOW(6, 3, 3, STRIDES(2, 2) "neuron_type=tanh neuron_a=1.5 neuron_b=0.5"), {2, 3, 4, 3}},
    {WINDOW(7, 2, 2, STRIDES(3, 2) "neuron_type=prelu"), {1, 5, 3, 4}},
    {WINDOW(5, 3, 3, STRIDES(2, 2) "without_biases=1"), {2, 3, 4, 3}},
    {0}};
static const struct check_case gradient_cases[] = {
    CASES,
    {WINDOW(5, 3, 3, STRIDES(2, 2) "gradient_option=data"), {2, 3, 4, 3}},
    {WINDOW(5, 3, 3, STRIDES(2, 2) "gradient_option=weights_and_biases"), {2, 3, 4, 3}},
    {WINDOW(5, 3, 3, STRIDES(2, 2) "without_biases=1"), {2, 3, 4, 3}},
    {0}};

const struct glcnn_reference glcnn_reference_convolution_transpose = {forward_reference, cases};
const struct glcnn_reference glcnn_reference_convolution_transpose_gradient = {gradient_reference,
                                                                               gradient_cases};
