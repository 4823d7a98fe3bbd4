/* Convolution in double precision, straight from spec 7.2. All three gradients scatter: every
 * forward product hands its share to what it was made of. */
#include "reference/convolution.h"

#include "reference/neuron.h"

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

static void forward_reference(const struct reference *r)
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
    struct channel_range l = convolution_trainable(r->operation);
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
    struct channel_range l = convolution_trainable(r->operation);
    for (uint32_t n = 0; n < gradient->images; n++)
        for (uint32_t k = 0; k < l.count; k++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    r->vectors[GRADIENT_FOR_BIASES][k] +=
                        *tensor_at(gradient, n, l.first + k, Y, X);
}

static void gradient_reference(const struct reference *r)
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

/* ---- Cases ---- */

#define WINDOW_CASES                                                                               \
    {"output_feature_channels=3 kernel_width=3 kernel_height=3", {2, 2, 5, 6}},                    \
        {"output_feature_channels=5 kernel_width=3 kernel_height=3", {1, 1, 7, 9}},                \
        {"output_feature_channels=9 kernel_width=2 kernel_height=3 stride_in_pixels_x=2",          \
         {3, 3, 8, 7}},                                                                            \
        {"output_feature_channels=8 kernel_width=3 kernel_height=3 edge_mode=clamp",               \
         {2, 4, 6, 5}},                                                                            \
        {"output_feature_channels=7 kernel_width=4 kernel_height=5 stride_in_pixels_x=3 "          \
         "stride_in_pixels_y=2 padding=valid",                                                     \
         {2, 5, 9, 11}},                                                                           \
        {"output_feature_channels=6 kernel_width=3 kernel_height=2 dilation_rate_x=2 "             \
         "dilation_rate_y=3",                                                                      \
         {1, 6, 9, 8}},                                                                            \
        {"output_feature_channels=4 kernel_width=3 kernel_height=3 dilation_rate_x=2 "             \
         "stride_in_pixels_y=2 edge_mode=clamp offset_x=-2 offset_y=3 destination_width=6 "        \
         "destination_height=5",                                                                   \
         {2, 3, 7, 6}},                                                                            \
        {"output_feature_channels=8 kernel_width=3 kernel_height=3 groups=2", {2, 6, 5, 5}},       \
        {"output_feature_channels=6 kernel_width=3 kernel_height=3 groups=3 stride_in_pixels_x=2", \
         {1, 9, 6, 7}},                                                                            \
        {"output_feature_channels=9 kernel_width=3 kernel_height=3 groups=9", {2, 9, 6, 6}},       \
        {"output_feature_channels=15 kernel_width=3 kernel_height=2 groups=5 edge_mode=clamp",     \
         {1, 5, 5, 7}},                                                                            \
        {"output_feature_channels=16 kernel_width=1 kernel_height=1", {2, 8, 7, 3}},               \
        {"output_feature_channels=1 kernel_width=9 kernel_height=1 padding=full", {1, 7, 4, 12}},  \
        {"output_feature_channels=2 kernel_width=1 kernel_height=7 offset_x=5 offset_y=-4 "        \
         "destination_width=4 destination_height=9",                                               \
         {1, 4, 6, 8}},                                                                            \
        {"output_feature_channels=5 kernel_width=3 kernel_height=3 clip_rect_origin_x=1 "          \
         "clip_rect_origin_y=2 clip_rect_size_width=3 clip_rect_size_height=2 "                    \
         "stride_in_pixels_x=2",                                                                   \
         {2, 4, 8, 13}},                                                                           \
        {"output_feature_channels=4 kernel_width=3 kernel_height=3 clip_rect_origin_x=2 "          \
         "clip_rect_size_width=4",                                                                 \
         {2, 3, 5, 9}},                                                                            \
        {"output_feature_channels=4 kernel_width=2 kernel_height=2 "                               \
         "source_feature_channel_offset=4 "                                                        \
         "source_feature_channel_max_count=3",                                                     \
         {2, 9, 5, 4}},                                                                            \
        {"output_feature_channels=36 kernel_width=5 kernel_height=5", {2, 34, 9, 8}},              \
        {"output_feature_channels=3 kernel_width=8 kernel_height=3 dilation_rate_y=2",             \
         {1, 2, 7, 15}},                                                                           \
        {"output_feature_channels=5 kernel_width=2 kernel_height=2 stride_in_pixels_x=2 "          \
         "stride_in_pixels_y=2 dilation_rate_x=2 dilation_rate_y=2",                               \
         {2, 3, 7, 8}},                                                                            \
        {"output_feature_channels=4 kernel_width=1 kernel_height=1 stride_in_pixels_x=2 "          \
         "stride_in_pixels_y=2",                                                                   \
         {1, 5, 6, 7}},                                                                            \
        {"output_feature_channels=5 kernel_width=3 kernel_height=3 stride_in_pixels_x=4 "          \
         "offset_x=1",                                                                             \
         {1, 3, 4, 15}},                                                                           \
        {"output_feature_channels=11 kernel_width=3 kernel_height=2", {90, 12, 3, 3}},             \
        {"output_feature_channels=32 kernel_width=3 kernel_height=3", {8, 16, 14, 14}, {0}, true}, \
    {                                                                                              \
        "output_feature_channels=40 kernel_width=3 kernel_height=3 stride_in_pixels_x=2 "          \
        "stride_in_pixels_y=2",                                                                    \
            {2, 300, 7, 7}, {0}, true                                                              \
    }

/* FACTOR * FACTOR * CHANNELS = OUTPUTS */
#define SUB_PIXELS(OUTPUTS, FACTOR, WIDTH, HEIGHT, MORE)                                           \
    "output_feature_channels=" #OUTPUTS " sub_pixel_scale_factor=" #FACTOR " kernel_width=" #WIDTH \
    " kernel_height=" #HEIGHT " " MORE

#define SUB_PIXEL_CASES                                                                            \
    {SUB_PIXELS(4, 2, 3, 3, ""), {1, 1, 4, 5}}, {SUB_PIXELS(8, 2, 3, 3, ""), {2, 2, 5, 4}},        \
        {SUB_PIXELS(12, 2, 2, 3, "neuron_type=prelu"), {2, 3, 4, 6}},                              \
        {SUB_PIXELS(16, 2, 1, 1, ""), {3, 4, 3, 3}},                                               \
        {SUB_PIXELS(45, 3, 3, 3, "neuron_type=tanh neuron_a=1 neuron_b=1"), {2, 5, 4, 3}},         \
        {SUB_PIXELS(36, 3, 3, 2, "groups=2"), {1, 6, 3, 5}},                                       \
        {SUB_PIXELS(16, 4, 3, 3, "groups=16 dilation_rate_x=2"), {1, 16, 4, 5}},                   \
        {SUB_PIXELS(28, 2, 3, 3, "stride_in_pixels_x=2 padding=valid edge_mode=clamp"),            \
         {1, 7, 6, 9}},                                                                            \
        {SUB_PIXELS(20, 2, 3, 3,                                                                   \
                    "offset_x=-1 offset_y=2 destination_width=7 destination_height=9"),            \
         {2, 3, 5, 4}},                                                                            \
        {SUB_PIXELS(27, 3, 3, 3,                                                                   \
                    "offset_x=1 clip_rect_origin_x=1 clip_rect_origin_y=2 "                        \
                    "clip_rect_size_width=7 clip_rect_size_height=8"),                             \
         {2, 2, 4, 5}},                                                                            \
        {SUB_PIXELS(24, 2, 2, 2,                                                                   \
                    "source_feature_channel_offset=4 source_feature_channel_max_count=2 "          \
                    "destination_feature_channel_offset=4 clip_rect_origin_z=1 offset_z=1"),       \
         {3, 6, 4, 3}},                                                                            \
    {                                                                                              \
        SUB_PIXELS(48, 4, 5, 5, ""), {4, 24, 9, 8}, {0}, true                                      \
    }

/* More than one tile of rows, elements and outputs, none of them whole; and many chunks of
 * pixels. */
#define TILED_CASES                                                                                \
    {"output_feature_channels=69 kernel_width=3 kernel_height=2 stride_in_pixels_x=2 "             \
     "padding=same",                                                                               \
     {3, 23, 9, 13},                                                                               \
     .large = true},                                                                               \
        {"output_feature_channels=34 kernel_width=3 kernel_height=3",                              \
         {7, 61, 4, 4},                                                                            \
         .large = true},                                                                           \
    {                                                                                              \
        "output_feature_channels=5 kernel_width=3 kernel_height=3 padding=same edge_mode=clamp",   \
            {6, 6, 48, 47}, .large = true                                                          \
    }

static const struct check_case convolution_cases[] = {
    WINDOW_CASES,
    TILED_CASES,
    {"output_feature_channels=6 kernel_width=3 kernel_height=3 neuron_type=tanh neuron_a=1.5 "
     "neuron_b=0.5",
     {2, 3, 5, 7}},
    {"output_feature_channels=7 kernel_width=2 kernel_height=2 groups=7 neuron_type=prelu",
     {1, 7, 6, 5}},
    {"output_feature_channels=16 kernel_width=3 kernel_height=3 neuron_type=prelu", {2, 1, 6, 5}},
    {"output_feature_channels=6 kernel_width=3 kernel_height=2 without_biases=1", {2, 3, 5, 6}},
    {"output_feature_channels=9 kernel_width=3 kernel_height=3 stride_in_pixels_x=2 "
     "neuron_type=relu neuron_a=0.25",
     {2, 5, 6, 5}},
    SUB_PIXEL_CASES,
    /* The least that shares reads; virgl, where it is run by hand, stored it a pixel too far. */
    {"output_feature_channels=1 kernel_width=2 kernel_height=1", {1, 1, 1, 5}},
    {0}};

static const struct check_case gradient_cases[] = {
    WINDOW_CASES,
    TILED_CASES,
    {"output_feature_channels=5 kernel_width=3 kernel_height=3 gradient_option=data", {2, 3, 5, 4}},
    {"output_feature_channels=5 kernel_width=3 kernel_height=3 "
     "gradient_option=weights_and_biases",
     {2, 3, 5, 4}},
    {"output_feature_channels=6 kernel_width=3 kernel_height=2 without_biases=1", {2, 3, 5, 6}},
    {"output_feature_channels=9 kernel_width=3 kernel_height=3 groups=9 without_biases=1",
     {2, 9, 6, 6}},
    {"output_feature_channels=3 kernel_width=3 kernel_height=4 kernel_offset_x=2 "
     "kernel_offset_y=-1 secondary_offset_x=-1 secondary_offset_y=1",
     {1, 2, 7, 6}},
    {"output_feature_channels=4 kernel_width=2 kernel_height=3 stride_in_pixels_x=2 "
     "secondary_dilation_rate_y=2 primary_offset_x=1 kernel_offset_x=1",
     {2, 4, 7, 8}},
    {"output_feature_channels=4 kernel_width=3 kernel_height=3 primary_offset_y=1 "
     "source_size_width=2 source_size_height=3 edge_mode=clamp",
     {2, 5, 6, 7}},
    {0}};

#define CONNECTED_CASES                                                                            \
    {"output_feature_channels=1 kernel_width=1 kernel_height=1", {1, 1, 1, 1}},                    \
        {"output_feature_channels=21 kernel_width=1 kernel_height=1", {9, 18, 1, 1}},              \
        {"output_feature_channels=2 kernel_width=3 kernel_height=4", {3, 1, 4, 3}},                \
        {"output_feature_channels=3 kernel_width=5 kernel_height=2", {2, 2, 2, 5}},                \
        {"output_feature_channels=4 kernel_width=2 kernel_height=2", {5, 3, 2, 2}},                \
        {"output_feature_channels=5 kernel_width=4 kernel_height=3", {4, 4, 3, 4}},                \
        {"output_feature_channels=6 kernel_width=7 kernel_height=1", {1, 5, 1, 7}},                \
        {"output_feature_channels=7 kernel_width=1 kernel_height=6", {9, 6, 6, 1}},                \
        {"output_feature_channels=8 kernel_width=3 kernel_height=3", {3, 7, 3, 3}},                \
        {"output_feature_channels=9 kernel_width=2 kernel_height=3", {2, 8, 3, 2}},                \
        {"output_feature_channels=10 kernel_width=4 kernel_height=4", {6, 9, 4, 4}},               \
        {"output_feature_channels=35 kernel_width=2 kernel_height=2", {7, 37, 2, 2}},              \
        {"output_feature_channels=12 kernel_width=2 kernel_height=3", {5, 8, 3, 2}},               \
        {"output_feature_channels=5 kernel_width=3 kernel_height=3 "                               \
         "source_feature_channel_offset=4 "                                                        \
         "source_feature_channel_max_count=5",                                                     \
         {2, 11, 3, 3}},                                                                           \
        {"output_feature_channels=6 kernel_width=3 kernel_height=2 clip_rect_origin_z=1 "          \
         "clip_rect_size_depth=2",                                                                 \
         {4, 4, 2, 3}},                                                                            \
    {                                                                                              \
        "output_feature_channels=10 kernel_width=7 kernel_height=7", {16, 32, 7, 7}, {0}, true     \
    }

static const struct check_case connected_cases[] = {
    CONNECTED_CASES,
    {"output_feature_channels=6 kernel_width=3 kernel_height=3 neuron_type=prelu", {3, 3, 3, 3}},
    {"output_feature_channels=5 kernel_width=2 kernel_height=3 neuron_type=sigmoid", {3, 5, 3, 2}},
    {"output_feature_channels=5 kernel_width=2 kernel_height=3 without_biases=1", {3, 5, 3, 2}},
    {0}};
static const struct check_case connected_gradient_cases[] = {
    CONNECTED_CASES,
    {"output_feature_channels=6 kernel_width=3 kernel_height=2 gradient_option=data", {2, 5, 2, 3}},
    {"output_feature_channels=6 kernel_width=3 kernel_height=2 gradient_option=weights_and_biases",
     {2, 5, 2, 3}},
    {"output_feature_channels=6 kernel_width=3 kernel_height=2 without_biases=1", {2, 5, 2, 3}},
    {0}};

const struct glcnn_reference glcnn_reference_convolution = {forward_reference, convolution_cases};
const struct glcnn_reference glcnn_reference_convolution_gradient = {gradient_reference,
                                                                     gradient_cases};
const struct glcnn_reference glcnn_reference_fully_connected = {forward_reference, connected_cases};
const struct glcnn_reference glcnn_reference_fully_connected_gradient = {gradient_reference,
                                                                         connected_gradient_cases};
