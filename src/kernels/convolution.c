/* Convolution and fully connected layers: constructors, checks and descriptors. Spec 5.6 and 7.2.
 * Values of the data source are in convolution_weights.c, passes in the files that
 * convolution_plan.h names. */
#include "kernels/convolution_plan.h"

extern const struct glcnn_descriptor glcnn_kernel_convolution;

/* ---- Lengths of vectors ---- */

static const struct glcnn_source_properties *source_properties(const struct operation *o)
{
    return operation_is_gradient(o) ? &o->properties.secondary : &o->properties.primary;
}

static size_t weight_count(const struct operation *o)
{
    const struct glcnn_source_properties *source = source_properties(o);
    struct channels c = convolution_channels(o);
    return (size_t)c.outputs * source->kernel_height * source->kernel_width * c.inputs_per_group;
}

size_t convolution_length(const struct operation *o, size_t index)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    if (index == NEURON_DATA)
        return neuron_data_length(&p->neuron, p->output_feature_channels);
    if (convolution_lacks(p, index))
        return 0;
    return index == WEIGHTS ? weight_count(o) : p->output_feature_channels;
}

bool convolution_lacks(const void *parameters, size_t index)
{
    const struct glcnn_convolution_parameters *p = parameters;
    return index == BIASES && p->without_biases;
}

/* Outputs that the option leaves out have no length: they stay as they are. */
size_t convolution_gradient_length(const struct operation *o, size_t index)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    if (index != GRADIENT_WEIGHTS &&
        !convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES))
        return 0;
    uint32_t learn = convolution_trainable(o).count;
    if (index == GRADIENT_FOR_BIASES)
        return p->without_biases ? 0 : learn;
    size_t count = weight_count(o);
    return index == GRADIENT_WEIGHTS ? count : count / p->output_feature_channels * learn;
}

/* ---- Shapes and checks ---- */

void convolution_result_shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    uint32_t factor = convolution_scale_factor(o);
    result->width *= factor;
    result->height *= factor;
    result->feature_channels = p->output_feature_channels / (factor * factor);
    if (result->feature_channels == 0) /* refused by the check */
        result->feature_channels = 1;
}

static bool check_channels(const struct operation *o, struct validation validation)
{
    struct channels c = convolution_channels(o);
    if (c.inputs % c.groups || c.outputs % c.groups)
        return invalid(validation, "%u input and %u output channels do not divide into %u groups",
                       c.inputs, c.outputs, c.groups);
    if (convolution_source(o)->channels == c.inputs)
        return true;
    return invalid(validation, "the weights are for %u input channels; %u are read of the source",
                   c.inputs, convolution_source(o)->channels);
}

static bool check_sub_pixels(const struct operation *o, struct validation validation)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    uint32_t factor = convolution_scale_factor(o);
    if (p->output_feature_channels % (factor * factor) == 0)
        return true;
    return invalid(validation, "%u output channels do not divide into sub-pixels of %u x %u",
                   p->output_feature_channels, factor, factor);
}

bool convolution_check(const struct operation *o, struct validation validation)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    return check_channels(o, validation) && check_sub_pixels(o, validation) &&
           neuron_check(&p->neuron, validation);
}

const char *convolution_undifferentiable(const void *parameters)
{
    const struct glcnn_convolution_parameters *p = parameters;
    return p->neuron.type != GLCNN_NEURON_TYPE_NONE
               ? "it has a fused neuron; use a neuron of its own behind it"
               : NULL;
}

static const char *undifferentiable(const void *parameters)
{
    const struct glcnn_convolution_parameters *p = parameters;
    return p->sub_pixel_scale_factor > 1
               ? "it has a sub-pixel scale factor; train with a transposed convolution"
               : convolution_undifferentiable(parameters);
}

struct neuron_traits convolution_neuron(const void *parameters)
{
    const struct glcnn_convolution_parameters *p = parameters;
    return neuron_traits(&p->neuron);
}

static bool check_differentiable(const struct operation *o, struct validation validation)
{
    const struct glcnn_convolution_parameters *p = o->parameters;
    if (p->neuron.type != GLCNN_NEURON_TYPE_NONE)
        return invalid(
            validation,
            "the forward kernel has a fused neuron (%s) and so no gradient; use a neuron "
            "kernel",
            neuron_type_names[p->neuron.type]);
    if (p->sub_pixel_scale_factor > 1)
        return invalid(
            validation,
            "the forward kernel has a sub-pixel scale factor of %u and so no gradient; train "
            "with a transposed convolution",
            p->sub_pixel_scale_factor);
    return true;
}

bool convolution_gradient_check(const struct operation *o, struct validation validation)
{
    const struct image_view *gradient = &o->images[GRADIENT];
    struct channels c = convolution_channels(o);
    if (!check_channels(o, validation) || !check_differentiable(o, validation) ||
        !convolution_trainable_check(o, validation))
        return false;
    if (gradient->channels != c.outputs)
        return invalid(validation,
                       "the weights are for %u output channels; %u are read of the "
                       "source gradient",
                       c.outputs, gradient->channels);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA) && !o->given[DESTINATION])
        return invalid(validation, "destination_gradient is NULL; only the option "
                                   "weights_and_biases does without one");
    if (o->window.x.begin < o->window.x.end && o->window.y.begin < o->window.y.end)
        return true;
    return invalid(validation,
                   "primary offset (%d, %d) leaves nothing of a source gradient of %ux%u",
                   o->properties.primary.offset.x, o->properties.primary.offset.y, gradient->width,
                   gradient->height);
}

/* ---- Fully connected ---- */

/* One window that is the source, whatever offset, padding and edge mode say. */
static void connect_all(struct operation *o)
{
    struct glcnn_source_properties *source =
        operation_is_gradient(o) ? &o->properties.secondary : &o->properties.primary;
    source->offset.x = (int32_t)source->kernel_width / 2;
    source->offset.y = (int32_t)source->kernel_height / 2;
    source->edge_mode = GLCNN_EDGE_MODE_ZERO;
    o->properties.padding = GLCNN_PADDING_SIZE_VALID_ONLY;
}

static bool check_source_size(const struct operation *o, struct validation validation)
{
    const struct glcnn_source_properties *p = source_properties(o);
    const struct image_view *source = convolution_source(o);
    if (source->width == p->kernel_width && source->height == p->kernel_height)
        return true;
    return invalid(validation, "the weights are for a source of %ux%u pixels; it has %ux%u",
                   p->kernel_width, p->kernel_height, source->width, source->height);
}

static bool connected_check(const struct operation *o, struct validation validation)
{
    if (!convolution_check(o, validation) || !check_source_size(o, validation))
        return false;
    if (o->region_width == 1 && o->region_height == 1)
        return true;
    return invalid(validation,
                   "the result is 1x1; the clip rectangle leaves %ux%u of the destination",
                   o->region_width, o->region_height);
}

static bool connected_gradient_check(const struct operation *o, struct validation validation)
{
    return convolution_gradient_check(o, validation) && check_source_size(o, validation);
}

/* ---- Descriptors ---- */

static const char *const option_names[] = {"none", "data", "weights_and_biases", "all", NULL};

#define FIELD(MEMBER) offsetof(struct glcnn_convolution_parameters, MEMBER)

#define NUMBER(MEMBER, TEXT, DEFAULT, LEAST, MOST)                                                 \
    {                                                                                              \
        .name = #MEMBER, .text = TEXT, .type = FIELD_UINT32, .offset = FIELD(MEMBER),              \
        .default_value = DEFAULT, .minimum = LEAST, .maximum = MOST                                \
    }
#define INPUTS                                                                                     \
    NUMBER(input_feature_channels, "channels of the source; 0: as many as are read", 0, 0, 65536)
#define OUTPUTS NUMBER(output_feature_channels, "channels of the result; to be given", 0, 1, 65536)
#define GROUPS                                                                                     \
    NUMBER(groups, "parts of the channels that see only each other; inputs: depth-wise", 1, 1,     \
           65536)
#define SUB_PIXELS                                                                                 \
    NUMBER(sub_pixel_scale_factor,                                                                 \
           "columns and rows of the result for one of the convolution; its square divides the "    \
           "channels",                                                                             \
           1, 1, 256)
#define WITHOUT_BIASES                                                                             \
    {                                                                                              \
        .name = "without_biases", .text = "nothing is added to the sums", .type = FIELD_BOOL,      \
        .offset = FIELD(without_biases), .maximum = 1                                              \
    }
#define OPTION                                                                                     \
    {                                                                                              \
        .name = "gradient_option", .text = "which gradients are computed", .type = FIELD_ENUM,     \
        .offset = FIELD(gradient_option), .default_value = 3, .minimum = 1,                        \
        .value_names = option_names                                                                \
    }
#define NEURON NEURON_PARAMETERS(struct glcnn_convolution_parameters, 0)

static const struct parameter convolution_parameters[] = {
    INPUTS, OUTPUTS, WITHOUT_BIASES, GROUPS, SUB_PIXELS, NEURON, {0}};
static const struct parameter convolution_gradient_parameters[] = {
    INPUTS, OUTPUTS, WITHOUT_BIASES, GROUPS, OPTION, SUB_PIXELS, NEURON, {0}};
const struct parameter convolution_transpose_parameters[] = {INPUTS, OUTPUTS, WITHOUT_BIASES,
                                                             GROUPS, NEURON,  {0}};
const struct parameter convolution_transpose_gradient_parameters[] = {
    INPUTS, OUTPUTS, WITHOUT_BIASES, GROUPS, OPTION, NEURON, {0}};
static const struct parameter connected_parameters[] = {
    INPUTS, OUTPUTS, WITHOUT_BIASES, NEURON, {0}};
static const struct parameter connected_gradient_parameters[] = {INPUTS, OUTPUTS, WITHOUT_BIASES,
                                                                 OPTION, NEURON,  {0}};

const struct implementation_list *const convolution_implementations[] = {
    &convolution_sum_implementations,         &convolution_register_tile_implementations,
    &convolution_weights_implementations,     &convolution_partial_sum_implementations,
    &convolution_data_implementations,        &fully_connected_data_implementations,
    &fully_connected_weights_implementations, NULL};

const struct argument convolution_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "weights", .place = PLACE_KERNEL, .input = true},
    {.name = "biases", .place = PLACE_KERNEL, .input = true, .optional = true},
    NEURON_DATA_ARGUMENT,
    {0}};

const struct argument convolution_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true, .optional = true},
    {.name = "weights", .place = PLACE_KERNEL, .input = true},
    {.name = "gradient_for_weights", .place = PLACE_STATE, .output = true},
    {.name = "gradient_for_biases", .place = PLACE_STATE, .output = true},
    {0}};

#define FORWARD_FLAGS (MAKES_STATE | SHARED_STATE | READS_NEURONS)
#define GRADIENT_FLAGS                                                                             \
    (IS_GRADIENT | SHARED_STATE | MODIFIES_STATE | DENSE_MANUAL | READS_NEURONS | TRAINS_IN_PART)

const struct glcnn_descriptor glcnn_kernel_convolution = {
    .name = "convolution",
    .mps_class = "MPSCNNConvolution",
    .text = "weighted sum over a window and the channels of a group",
    .family = "convolution",
    .gradient = "convolution_gradient",
    .undifferentiable = undifferentiable,
    .neuron = convolution_neuron,
    .keeps_zero = descriptor_always,
    .flags = CONVOLUTION_WINDOW | FORWARD_FLAGS,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = convolution_parameters,
    .arguments = convolution_arguments,
    .shape = convolution_result_shape,
    .length = convolution_length,
    .lacks = convolution_lacks,
    .check = convolution_check,
    .implementations = convolution_implementations,
    .plan = plan_convolution,
};

/* Of a single channel all taps of a small window are summed up by one invocation. */
static bool reads_gradient_once(const void *parameters)
{
    const struct glcnn_convolution_parameters *p = parameters;
    return p->input_feature_channels == 1 && p->groups <= 1;
}

const struct glcnn_descriptor glcnn_kernel_convolution_gradient = {
    .name = "convolution_gradient",
    .mps_class = "MPSCNNConvolutionGradient",
    .text = "gradients of convolution for its source, weights and biases",
    .family = "convolution",
    .forward = "convolution",
    .flags = CONVOLUTION_WINDOW | GRADIENT_FLAGS,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = convolution_gradient_parameters,
    .arguments = convolution_gradient_arguments,
    .length = convolution_gradient_length,
    .check = convolution_gradient_check,
    .reads_gradient_once = reads_gradient_once,
    .implementations = convolution_implementations,
    .plan = plan_convolution_gradient,
};

const struct glcnn_descriptor glcnn_kernel_fully_connected = {
    .name = "fully_connected",
    .mps_class = "MPSCNNFullyConnected",
    .text = "weighted sum over all pixels and channels",
    .family = "fully_connected",
    .gradient = "fully_connected_gradient",
    .undifferentiable = convolution_undifferentiable,
    .neuron = convolution_neuron,
    .keeps_zero = descriptor_always,
    .flags = HAS_WINDOW | FORWARD_FLAGS,
    .unread = UNREAD_FIRST,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = connected_parameters,
    .arguments = convolution_arguments,
    .prepare = connect_all,
    .shape = convolution_result_shape,
    .length = convolution_length,
    .lacks = convolution_lacks,
    .check = connected_check,
    .implementations = convolution_implementations,
    .plan = plan_convolution,
};

const struct glcnn_descriptor glcnn_kernel_fully_connected_gradient = {
    .name = "fully_connected_gradient",
    .mps_class = "MPSCNNFullyConnectedGradient",
    .text = "gradients of fully_connected for its source, weights and biases",
    .family = "fully_connected",
    .forward = "fully_connected",
    .flags = HAS_WINDOW | GRADIENT_FLAGS,
    .parameters_size = sizeof(struct glcnn_convolution_parameters),
    .parameters = connected_gradient_parameters,
    .arguments = convolution_gradient_arguments,
    .prepare = connect_all,
    .length = convolution_gradient_length,
    .check = connected_gradient_check,
    .implementations = convolution_implementations,
    .plan = plan_fully_connected_gradient,
};

/* ---- Constructors ---- */

struct glcnn_convolution_parameters *glcnn_convolution(glcnn_kernel *kernel)
{
    static const char *const families[] = {"convolution", "fully_connected",
                                           "convolution_transpose"};
    struct glcnn_convolution_parameters *parameters = NULL;
    for (int i = 0; i < 3 && !parameters; i++)
        parameters = kernel_parameters(kernel, families[i]);
    return parameters;
}

/* A fully connected layer has none of what a convolution has a choice of. */
static glcnn_status check_connected(const glcnn_kernel *kernel,
                                    const struct glcnn_convolution_descriptor *d)
{
    const struct {
        const char *name;
        uint32_t value;
    } fixed[] = {{"stride_in_pixels_x", one_if_zero(d->stride_in_pixels_x)},
                 {"stride_in_pixels_y", one_if_zero(d->stride_in_pixels_y)},
                 {"dilation_rate_x", one_if_zero(d->dilation_rate_x)},
                 {"dilation_rate_y", one_if_zero(d->dilation_rate_y)},
                 {"groups", one_if_zero(d->groups)}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].value != 1)
            return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                               "%s: %s is %u; a fully connected layer has only 1",
                               kernel->descriptor->name, fixed[i].name, fixed[i].value);
    return GLCNN_SUCCESS;
}

static glcnn_status set_numbers(glcnn_kernel *kernel, const struct glcnn_convolution_descriptor *d)
{
    const uint32_t window[6] = {d->kernel_width,
                                d->kernel_height,
                                one_if_zero(d->stride_in_pixels_x),
                                one_if_zero(d->stride_in_pixels_y),
                                one_if_zero(d->dilation_rate_x),
                                one_if_zero(d->dilation_rate_y)};
    struct glcnn_convolution_parameters *parameters = glcnn_convolution(kernel);
    bool connected = !(kernel->descriptor->flags & HAS_STRIDE);
    glcnn_status status = connected ? check_connected(kernel, d) : GLCNN_SUCCESS;
    kernel_set_window(kernel, window);
    parameters->input_feature_channels = d->input_feature_channels;
    parameters->output_feature_channels = d->output_feature_channels;
    parameters->without_biases = d->without_biases;
    if (!connected)
        parameters->groups = one_if_zero(d->groups);
    return status;
}

static glcnn_status set_neuron(glcnn_kernel *kernel, const struct glcnn_neuron_descriptor *neuron)
{
    if (!(kernel->descriptor->flags & IS_GRADIENT))
        return neuron_set(kernel, &glcnn_convolution(kernel)->neuron, neuron);
    if (neuron->type == GLCNN_NEURON_TYPE_NONE)
        return GLCNN_SUCCESS;
    return device_fail(kernel->device, GLCNN_UNSUPPORTED,
                       "%s: a kernel with a fused neuron has no gradient; use a neuron kernel",
                       kernel->descriptor->name);
}

static glcnn_status set_scale_factor(glcnn_kernel *kernel,
                                     const struct glcnn_convolution_descriptor *d)
{
    uint32_t factor = one_if_zero(d->sub_pixel_scale_factor);
    if (factor == 1)
        return GLCNN_SUCCESS;
    if (kernel->descriptor != &glcnn_kernel_convolution)
        return device_fail(kernel->device, GLCNN_UNSUPPORTED,
                           "%s: sub_pixel_scale_factor is %u; only convolution has sub-pixels, and "
                           "then no gradient",
                           kernel->descriptor->name, factor);
    if (factor <= 256 && d->output_feature_channels % (factor * factor) == 0)
        return glcnn_convolution(kernel)->sub_pixel_scale_factor = factor, GLCNN_SUCCESS;
    return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                       "%s: %u output channels do not divide into sub-pixels of %u x %u",
                       kernel->descriptor->name, d->output_feature_channels, factor, factor);
}

static glcnn_status check_descriptor(glcnn_device *device, const char *name,
                                     const struct glcnn_convolution_descriptor *d)
{
    if (!d)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "%s: descriptor is NULL", name);
    uint32_t groups = one_if_zero(d->groups);
    if (d->input_feature_channels == 0 || d->input_feature_channels % groups ||
        d->output_feature_channels % groups)
        return device_fail(device, GLCNN_INVALID_ARGUMENT,
                           "%s: %u input and %u output channels in %u groups; there must be some, "
                           "and groups of equal size",
                           name, d->input_feature_channels, d->output_feature_channels, groups);
    return GLCNN_SUCCESS;
}

glcnn_status convolution_create(glcnn_device *device, const struct glcnn_descriptor *descriptor,
                                const struct glcnn_convolution_descriptor *d,
                                const struct glcnn_convolution_weights *weights,
                                glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, descriptor, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    status = check_descriptor(device, descriptor->name, d);
    if (status == GLCNN_SUCCESS)
        status = set_numbers(*kernel, d);
    if (status == GLCNN_SUCCESS)
        status = set_neuron(*kernel, &d->neuron);
    if (status == GLCNN_SUCCESS)
        status = set_scale_factor(*kernel, d);
    status = kernel_finish(kernel, status);
    if (status != GLCNN_SUCCESS)
        return status;
    status = convolution_set_weights(*kernel, d, weights);
    if (status != GLCNN_SUCCESS)
        glcnn_kernel_destroy(kernel);
    return status;
}

DEFINE_CONVOLUTION_CREATE(convolution)
DEFINE_CONVOLUTION_CREATE(convolution_gradient)
DEFINE_CONVOLUTION_CREATE(fully_connected)
DEFINE_CONVOLUTION_CREATE(fully_connected_gradient)
