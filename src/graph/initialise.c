/* Weights to begin with: drawn from splitmix64, in bounds after He or Glorot. */
#include <math.h>
#include <stdlib.h>

#include "encode/random.h"
#include "glcnn/training.h"
#include "graph/node.h"

/* ---- Layers ---- */

/* Neither the node that it shares its vectors with nor a data source gives them. */
static bool has_own_values(const struct glcnn_filter_node *node)
{
    const struct glcnn_data_source *source = glcnn_kernel_data_source(node->kernel);
    return !node->shared_with && !(source && source->values);
}

/* The argument of the weights that are drawn for the node; -1: none, or drawn for the node that it
 * shares them with. */
static int drawn_argument(const struct glcnn_filter_node *node)
{
    return filter_has_weights(node) && has_own_values(node)
               ? kernel_kept_argument(node->kernel, "weights")
               : -1;
}

/* 1 where there is none or it is 0. */
static size_t parameter(const struct glcnn_kernel *kernel, const char *name)
{
    double value = 1;
    parameter_get(kernel->descriptor, &kernel->properties, kernel->parameters, name, &value);
    return value >= 1 ? (size_t)value : 1;
}

/* The filter that reads the image and was made first, gradients apart; NULL: none. */
static const struct glcnn_filter_node *first_reader(const struct glcnn_image_node *image)
{
    for (const struct glcnn_filter_node *n = image->network->filters; n; n = n->next)
        for (size_t i = 0; !n->forward && i < n->source_count; i++)
            if (n->sources[i] == image)
                return n;
    return NULL;
}

static struct neuron_traits neuron_of(const struct glcnn_filter_node *node)
{
    const struct glcnn_descriptor *d = node->kernel->descriptor;
    return d->neuron ? d->neuron(node->kernel->parameters) : (struct neuron_traits){0};
}

/* The layer's own neuron, or the first behind it before the next layer's weights. */
static struct neuron_traits following_neuron(const struct glcnn_filter_node *layer)
{
    const struct glcnn_filter_node *n = layer;
    struct neuron_traits neuron = neuron_of(n);
    while (!neuron.present && (n = first_reader(n->result)) &&
           kernel_kept_argument(n->kernel, "weights") < 0)
        neuron = neuron_of(n);
    return neuron;
}

/* ---- Numbers ---- */

/* sqrt(6 / inputs) after He, sqrt(6 / (inputs + outputs)) after Glorot. */
static float bound_of(const struct glcnn_filter_node *layer, size_t count)
{
    const struct glcnn_kernel *kernel = layer->kernel;
    size_t outputs = parameter(kernel, "output_feature_channels"), inputs = count / outputs;
    struct neuron_traits neuron = following_neuron(layer);
    if (neuron.present && !neuron.rectifies) {
        size_t taps = parameter(kernel, "kernel_width") * parameter(kernel, "kernel_height");
        bool slides = kernel->descriptor->flags & HAS_STRIDE;
        inputs += outputs * (slides ? taps : 1) / parameter(kernel, "groups");
    }
    return sqrtf(6.0f / (float)inputs);
}

/* Every step but the product with the bound is exact: one rounding, on any machine. */
static void draw(uint64_t *state, float bound, float *weights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = bound * (2.0f * (float)random_bits24(state) / (float)(1 << 24) - 1.0f);
}

/* ---- Networks ---- */

static glcnn_status check(const struct glcnn_filter_node *layer, int weights)
{
    size_t outputs = parameter(layer->kernel, "output_feature_channels");
    if (weights < 0 || kernel_vector_length(layer->kernel, (size_t)weights, 0) >= outputs)
        return GLCNN_SUCCESS;
    return device_fail(layer->network->device, GLCNN_INVALID_ARGUMENT,
                       "glcnn_network_initialise: %s (%s) does not know how many weights it has; "
                       "set its input_feature_channels and output_feature_channels",
                       layer->label, layer->kernel->descriptor->name);
}

static glcnn_status initialise(struct glcnn_filter_node *layer, int argument, uint64_t *state)
{
    size_t count = kernel_vector_length(layer->kernel, (size_t)argument, 0);
    float *weights = malloc(count * sizeof *weights);
    if (!weights)
        return device_fail(layer->network->device, GLCNN_OUT_OF_MEMORY,
                           "out of memory drawing weights of %s", layer->label);
    draw(state, bound_of(layer, count), weights, count);
    glcnn_status status = glcnn_kernel_set_vector(layer->kernel, "weights", weights, count);
    free(weights);
    return status;
}

/* Gives a kernel that waits for its first image, as a normalisation does, the vectors that it begins with. */
static glcnn_status make_neutral(struct glcnn_kernel *kernel, uint32_t channels)
{
    const struct glcnn_descriptor *d = kernel->descriptor;
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; d->arguments[i].name && status == GLCNN_SUCCESS; i++) {
        struct glcnn_buffer *made;
        const char *name = d->arguments[i].name;
        if (kernel_kept_argument(kernel, name) < 0 || lacks_slopes(kernel, name) ||
            kernel->vectors[i])
            continue;
        const size_t length = kernel_vector_length(kernel, i, channels);
        if (length && !kernel_vector_length(kernel, i, 0))
            status = kernel_vector(kernel, i, length, &made);
    }
    return status;
}

static glcnn_status make_all_neutral(const struct glcnn_network *network)
{
    uint32_t *channels;
    glcnn_status status = network_channels(network, &channels);
    for (const struct glcnn_filter_node *n = network->filters; n && status == GLCNN_SUCCESS;
         n = n->next)
        if (filter_has_weights(n) && has_own_values(n))
            status = make_neutral(n->kernel, channels[n->sources[0]->index]);
    free(channels);
    return status;
}

glcnn_status glcnn_network_initialise(glcnn_network *network, uint64_t seed)
{
    glcnn_status status = glcnn_network_status(network);
    struct glcnn_filter_node *first = status == GLCNN_SUCCESS ? network->filters : NULL, *n;
    for (n = first; n && status == GLCNN_SUCCESS; n = n->next)
        status = check(n, drawn_argument(n));
    for (n = first; n && status == GLCNN_SUCCESS; n = n->next) {
        int argument = drawn_argument(n);
        if (argument >= 0)
            status = initialise(n, argument, &seed);
    }
    return status == GLCNN_SUCCESS ? make_all_neutral(network) : status;
}
