/* Transposed convolution and its gradients: spec 7.2.
 *
 * It mirrors a convolution from its result to its source, whose weights are these with taps in
 * reverse and inputs and outputs exchanged. So its passes are that convolution's: forward its data
 * gradient, the data gradient its forward pass, and the gradient of the weights the same with
 * source and gradient exchanged. */
#include "glcnn/kernels/convolution_transpose.h"

#include "encode/window.h"
#include "kernels/convolution.h"
#include "kernels/pointwise.h"

extern const struct glcnn_descriptor glcnn_kernel_convolution, glcnn_kernel_convolution_gradient,
    glcnn_kernel_convolution_transpose, glcnn_kernel_convolution_transpose_gradient;

/* ---- Constructors ---- */

DEFINE_CONVOLUTION_CREATE(convolution_transpose)
DEFINE_CONVOLUTION_CREATE(convolution_transpose_gradient)

static bool gradient_check(const struct operation *o, struct refusal refusal)
{
    if (o->state_driven)
        return convolution_gradient_check(o, refusal);
    return refuse(refusal, "it follows its state; no addressing can be set by hand");
}

/* ---- The mirrored convolution ---- */

struct mirror {
    struct operation operation;
    struct glcnn_convolution_parameters parameters;
};

/* Without images and vectors. The layer's sources are all of the mirrored layer's results. */
static void set_mirror(struct mirror *m, const struct operation *o,
                       const struct glcnn_descriptor *descriptor, const struct image_view *source)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    struct channels c = convolution_channels(o);
    m->parameters = (struct glcnn_convolution_parameters){.input_feature_channels = c.outputs,
                                                          .output_feature_channels = c.inputs,
                                                          .groups = c.groups,
                                                          .neuron = p->neuron};
    m->operation = (struct operation){.descriptor = descriptor,
                                      .device = o->device,
                                      .properties = o->properties,
                                      .parameters = &m->parameters,
                                      .window = o->window,
                                      .region_x = o->region_x,
                                      .region_y = o->region_y,
                                      .region_width = o->region_width,
                                      .region_height = o->region_height,
                                      .state_driven = true};
    m->operation.window.x.begin = m->operation.window.y.begin = 0;
    m->operation.window.x.end = (int32_t)source->width;
    m->operation.window.y.end = (int32_t)source->height;
}

static struct pass *plan_turn(struct plan *plan, const struct operation *o,
                              const struct vector_view *weights, const struct vector_view *turned,
                              bool back)
{
    struct channels c = convolution_channels(o);
    enum vector_access written = o->accumulate ? VECTOR_READ_WRITE : VECTOR_WRITE;
    struct pass *pass = plan_pass(plan, "convolution/convolution_transpose_weights.comp");
    pass_vector(pass, "weights", weights, back ? written : VECTOR_READ);
    pass_vector(pass, "turned", turned, back ? VECTOR_READ : VECTOR_WRITE);
    if (back)
        pass_define(pass, "BACK", 1);
    if (back && o->accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    pass_int(pass, "inputs_per_group", (int32_t)c.inputs_per_group);
    pass_int(pass, "outputs_per_group", (int32_t)c.outputs_per_group);
    pass_int(pass, "taps", o->window.x.size * o->window.y.size);
    pass_grid(pass, (uint32_t)weights->count, 1, 1);
    pass_local(pass, 64, 1, 1);
    return pass;
}

static struct vector_view plan_turned_weights(struct plan *plan, const struct operation *o,
                                              const struct vector_view *weights)
{
    struct vector_view turned = plan_scratch_vector(plan, weights->count);
    plan_turn(plan, o, weights, &turned, false);
    return turned;
}

/* ---- Passes ---- */

static void plan_forward(const struct operation *o, struct plan *plan)
{
    struct mirror m;
    set_mirror(&m, o, &glcnn_kernel_convolution_gradient, &o->images[SOURCE]);
    m.parameters.gradient_option = GLCNN_GRADIENT_OPTION_DATA;
    m.operation.images[GRADIENT] = o->images[SOURCE];
    m.operation.images[IMAGE] = m.operation.images[DESTINATION] = o->images[RESULT];
    m.operation.vectors[GRADIENT_WEIGHTS] = plan_turned_weights(plan, o, &o->vectors[WEIGHTS]);
    m.operation.vectors[GRADIENT_BIASES] = o->vectors[BIASES];
    m.operation.given[GRADIENT_BIASES] = o->given[BIASES];
    m.operation.vectors[GRADIENT_NEURON_DATA] = o->vectors[NEURON_DATA];
    plan_convolution_gradient(&m.operation, plan);
}

/* The gradient with zeros where the forward kernel's clip rectangle left the result out. */
static struct image_view plan_clipped(const struct operation *o, struct plan *plan)
{
    static const struct glcnn_neuron_descriptor unchanged = {.type = GLCNN_NEURON_TYPE_NONE};
    const struct image_view *g = &o->images[GRADIENT];
    const struct axis *x = &o->window.x, *y = &o->window.y;
    const struct axis plain = {.stride = 1, .size = 1, .dilation = 1};
    struct operation part = {.region_x = (uint32_t)x->begin, .region_y = (uint32_t)y->begin};
    part.region_width = (uint32_t)(x->end - x->begin);
    part.region_height = (uint32_t)(y->end - y->begin);
    if (part.region_width == g->width && part.region_height == g->height)
        return *g;
    struct image_view clipped = plan_scratch_image(plan, view_extent(g));
    plan_fill_image(plan, &clipped);
    struct pass *pass = plan_pointwise(plan, &part, "neuron/neuron.comp", &clipped);
    pass_texture(pass, "source", g);
    pass_image(pass, "destination", &clipped);
    pass_window(pass, &(struct window){.x = plain, .y = plain});
    pass_neuron(pass, &unchanged);
    return clipped;
}

static void plan_data(const struct operation *o, struct plan *plan, const struct image_view *g)
{
    struct mirror m;
    set_mirror(&m, o, &glcnn_kernel_convolution, &o->images[IMAGE]);
    m.operation.images[SOURCE] = *g;
    m.operation.images[RESULT] = o->images[DESTINATION];
    m.operation.vectors[WEIGHTS] = plan_turned_weights(plan, o, &o->vectors[GRADIENT_WEIGHTS]);
    plan_convolution(&m.operation, plan);
}

/* The mirrored layer's gradient for biases, sums of the source, is of no use. */
static void plan_weights(const struct operation *o, struct plan *plan, const struct image_view *g)
{
    struct mirror m;
    struct vector_view turned = plan_scratch_vector(plan, o->vectors[GRADIENT_FOR_WEIGHTS].count);
    set_mirror(&m, o, &glcnn_kernel_convolution_gradient, &o->images[IMAGE]);
    m.parameters.gradient_option = GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES;
    m.operation.images[GRADIENT] = o->images[IMAGE];
    m.operation.images[IMAGE] = *g;
    m.operation.vectors[GRADIENT_FOR_WEIGHTS] = turned;
    m.operation.vectors[GRADIENT_FOR_BIASES] =
        plan_scratch_vector(plan, m.parameters.output_feature_channels);
    plan_convolution_gradient(&m.operation, plan);
    plan_turn(plan, o, &o->vectors[GRADIENT_FOR_WEIGHTS], &turned, true);
}

/* db is the gradient for biases of any convolution that G is the gradient of: of one with a single
 * weight for each output. */
static void plan_biases(const struct operation *o, struct plan *plan, const struct image_view *g)
{
    struct mirror m;
    set_mirror(&m, o, &glcnn_kernel_convolution_gradient, g);
    const struct axis plain = {.stride = 1, .size = 1, .dilation = 1};
    uint32_t outputs = m.parameters.input_feature_channels;
    m.parameters = (struct glcnn_convolution_parameters){
        .input_feature_channels = 1,
        .output_feature_channels = outputs,
        .groups = 1,
        .gradient_option = GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES};
    m.operation.window = (struct window){.x = plain, .y = plain};
    m.operation.window.x.end = (int32_t)g->width;
    m.operation.window.y.end = (int32_t)g->height;
    m.operation.accumulate = o->accumulate;
    m.operation.images[GRADIENT] = m.operation.images[IMAGE] = *g;
    m.operation.images[IMAGE].channels = 1;
    m.operation.images[IMAGE].masked = true;
    m.operation.vectors[GRADIENT_FOR_WEIGHTS] = plan_scratch_vector(plan, outputs);
    m.operation.vectors[GRADIENT_FOR_BIASES] = o->vectors[GRADIENT_FOR_BIASES];
    plan_convolution_gradient(&m.operation, plan);
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    struct image_view g = plan_clipped(o, plan);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES)) {
        plan_weights(o, plan, &g);
        if (o->given[GRADIENT_FOR_BIASES])
            plan_biases(o, plan, &g);
    }
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        plan_data(o, plan, &g);
}

/* ---- References ---- */

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

/* ---- Cases ---- */

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
                              "source_feature_channel_max_count=3 edge_mode=clamp "                \
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

/* ---- Descriptors ---- */

const struct glcnn_descriptor glcnn_kernel_convolution_transpose = {
    .name = "convolution_transpose",
    .mps_class = "MPSCNNConvolutionTranspose",
    .text = "convolution of a source that is spread out by strides",
    .family = "convolution_transpose",
    .gradient = "convolution_transpose_gradient",
    CONVOLUTION_TRAITS(convolution_undifferentiable),
    .flags = CONVOLUTION_WINDOW | MAKES_STATE | SHARED_STATE | IS_BACKWARDS,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = convolution_transpose_parameters,
    CONVOLUTION_ARGUMENTS,
    .shape = convolution_result_shape,
    .length = convolution_length,
    .lacks = convolution_lacks,
    .check = convolution_check,
    .implementations = convolution_implementations,
    .plan = plan_forward,
    .reference = forward_reference,
    .cases = cases,
};

const struct glcnn_descriptor glcnn_kernel_convolution_transpose_gradient = {
    .name = "convolution_transpose_gradient",
    .text = "gradients of convolution_transpose for its source, weights and biases; MPS has none",
    .family = "convolution_transpose",
    .without_gradient = "it is a gradient itself",
    .forward = "convolution_transpose",
    .flags = CONVOLUTION_WINDOW | IS_GRADIENT | SHARED_STATE | MODIFIES_STATE | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = convolution_transpose_gradient_parameters,
    CONVOLUTION_GRADIENT_ARGUMENTS,
    .length = convolution_gradient_length,
    .check = gradient_check,
    .implementations = convolution_implementations,
    .plan = plan_gradient,
    .reference = gradient_reference,
    .cases = gradient_cases,
};
