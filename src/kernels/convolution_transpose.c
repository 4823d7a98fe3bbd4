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

static bool gradient_check(const struct operation *o, struct validation validation)
{
    if (o->state_driven)
        return convolution_gradient_check(o, validation);
    return invalid(validation, "it follows its state; no addressing can be set by hand");
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

static struct pass *plan_transposition(struct plan *plan, const struct operation *o,
                                       const struct vector_view *weights,
                                       const struct vector_view *transposed, bool back)
{
    struct channels c = convolution_channels(o);
    enum vector_access written = o->accumulate ? VECTOR_READ_WRITE : VECTOR_WRITE;
    struct pass *pass = plan_pass(plan, "convolution/convolution_transpose_weights.comp");
    pass_vector(pass, "weights", weights, back ? written : VECTOR_READ);
    pass_vector(pass, "transposed", transposed, back ? VECTOR_READ : VECTOR_WRITE);
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

static struct vector_view plan_transposed_weights(struct plan *plan, const struct operation *o,
                                                  const struct vector_view *weights)
{
    struct vector_view transposed = plan_scratch_vector(plan, weights->count);
    plan_transposition(plan, o, weights, &transposed, false);
    return transposed;
}

/* ---- Passes ---- */

static void plan_forward(const struct operation *o, struct plan *plan)
{
    struct mirror m;
    set_mirror(&m, o, &glcnn_kernel_convolution_gradient, &o->images[SOURCE]);
    m.parameters.gradient_option = GLCNN_GRADIENT_OPTION_DATA;
    m.operation.images[GRADIENT] = o->images[SOURCE];
    m.operation.images[IMAGE] = m.operation.images[DESTINATION] = o->images[RESULT];
    m.operation.vectors[GRADIENT_WEIGHTS] = plan_transposed_weights(plan, o, &o->vectors[WEIGHTS]);
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
    m.operation.vectors[WEIGHTS] = plan_transposed_weights(plan, o, &o->vectors[GRADIENT_WEIGHTS]);
    plan_convolution(&m.operation, plan);
}

/* The mirrored layer's gradient for biases, sums of the source, is of no use. */
static void plan_weights(const struct operation *o, struct plan *plan, const struct image_view *g)
{
    struct mirror m;
    struct vector_view transposed =
        plan_scratch_vector(plan, o->vectors[GRADIENT_FOR_WEIGHTS].count);
    set_mirror(&m, o, &glcnn_kernel_convolution_gradient, &o->images[IMAGE]);
    m.parameters.gradient_option = GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES;
    m.operation.images[GRADIENT] = o->images[IMAGE];
    m.operation.images[IMAGE] = *g;
    m.operation.vectors[GRADIENT_FOR_WEIGHTS] = transposed;
    m.operation.vectors[GRADIENT_FOR_BIASES] =
        plan_scratch_vector(plan, m.parameters.output_feature_channels);
    plan_convolution_gradient(&m.operation, plan);
    plan_transposition(plan, o, &o->vectors[GRADIENT_FOR_WEIGHTS], &transposed, true);
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

/* ---- Descriptors ---- */

const struct glcnn_descriptor glcnn_kernel_convolution_transpose = {
    .name = "convolution_transpose",
    .mps_class = "MPSCNNConvolutionTranspose",
    .text = "convolution of a source that is spread out by strides",
    .family = "convolution_transpose",
    .gradient = "convolution_transpose_gradient",
    .undifferentiable = convolution_undifferentiable,
    .neuron = convolution_neuron,
    .keeps_zero = descriptor_always,
    .flags = CONVOLUTION_WINDOW | MAKES_STATE | SHARED_STATE | IS_BACKWARDS,
    .unread = UNREAD_EDGE,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = convolution_transpose_parameters,
    .arguments = convolution_arguments,
    .shape = convolution_result_shape,
    .length = convolution_length,
    .lacks = convolution_lacks,
    .check = convolution_check,
    .implementations = convolution_implementations,
    .plan = plan_forward,
};

const struct glcnn_descriptor glcnn_kernel_convolution_transpose_gradient = {
    .name = "convolution_transpose_gradient",
    .text = "gradients of convolution_transpose for its source, weights and biases; MPS has none",
    .family = "convolution_transpose",
    .forward = "convolution_transpose",
    .flags = CONVOLUTION_WINDOW | IS_GRADIENT | SHARED_STATE | MODIFIES_STATE | NEEDS_STATE,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = convolution_transpose_gradient_parameters,
    .arguments = convolution_gradient_arguments,
    .length = convolution_gradient_length,
    .check = gradient_check,
    .implementations = convolution_implementations,
    .plan = plan_gradient,
};

/* ---- Typed access ---- */

DEFINE_CONVOLUTION_CREATE(convolution_transpose)
DEFINE_CONVOLUTION_CREATE(convolution_transpose_gradient)
