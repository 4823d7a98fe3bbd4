/* The data source of a convolution: spec 7.2. Weights of every type become float32 here, each
 * computed in double precision and rounded once; nothing after this knows the type. */
#include <stdlib.h>

#include "convolution.h"
#include "half.h"

/* Weight `index`, which is one of output k's. */
typedef double (*decoder)(const struct glcnn_convolution_weights *w, size_t index, size_t k);

static double decode_float32(const struct glcnn_convolution_weights *w, size_t index, size_t k)
{
    (void)k;
    return ((const float *)w->weights)[index];
}

static double decode_float16(const struct glcnn_convolution_weights *w, size_t index, size_t k)
{
    (void)k;
    return half_to_float(((const uint16_t *)w->weights)[index]);
}

static double decode_uint8_linear(const struct glcnn_convolution_weights *w, size_t index, size_t k)
{
    double min = w->ranges[2 * k], max = w->ranges[2 * k + 1];
    return ((const uint8_t *)w->weights)[index] / 255.0 * (max - min) + min;
}

static double decode_uint8_table(const struct glcnn_convolution_weights *w, size_t index, size_t k)
{
    (void)k;
    return w->table[((const uint8_t *)w->weights)[index]];
}

#define TYPES 4

static const decoder decoders[TYPES] = {decode_float32, decode_float16, decode_uint8_linear,
                                        decode_uint8_table};

static glcnn_status check_type(const glcnn_kernel *kernel,
                               const struct glcnn_convolution_weights *w)
{
    const char *name = kernel->descriptor->name;
    if ((unsigned)w->type >= TYPES)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: weights are of type %d; there are types 0 to %d", name,
                           (int)w->type, TYPES - 1);
    if (w->type == GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR && !w->ranges)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: ranges is NULL; weights of type uint8_linear need a minimum and a "
                           "maximum for each output channel",
                           name);
    if (w->type == GLCNN_CONVOLUTION_WEIGHTS_UINT8_TABLE && !w->table)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: table is NULL; weights of type uint8_table need 256 values", name);
    return GLCNN_SUCCESS;
}

static glcnn_status set_decoded(glcnn_kernel *kernel, const struct glcnn_convolution_weights *w,
                                size_t outputs, size_t per_output)
{
    float *values = calloc(outputs * per_output, sizeof *values);
    if (!values)
        return device_fail(kernel->device, GLCNN_OUT_OF_MEMORY, "%s: out of memory for weights",
                           kernel->descriptor->name);
    for (size_t i = 0; i < outputs * per_output; i++)
        values[i] = (float)decoders[w->type](w, i, i / per_output);
    glcnn_status status = glcnn_kernel_set_vector(kernel, "weights", values, outputs * per_output);
    free(values);
    return status;
}

glcnn_status convolution_set_weights(glcnn_kernel *kernel,
                                     const struct glcnn_convolution_descriptor *d,
                                     const struct glcnn_convolution_weights *weights)
{
    size_t inputs = d->input_feature_channels / (d->groups ? d->groups : 1);
    size_t per_output = (size_t)d->kernel_height * d->kernel_width * inputs;
    glcnn_status status = GLCNN_SUCCESS;
    if (weights && weights->weights) {
        status = check_type(kernel, weights);
        if (status == GLCNN_SUCCESS)
            status = set_decoded(kernel, weights, d->output_feature_channels, per_output);
    }
    if (status == GLCNN_SUCCESS && weights && weights->biases &&
        !(kernel->descriptor->flags & IS_GRADIENT))
        status =
            glcnn_kernel_set_vector(kernel, "biases", weights->biases, d->output_feature_channels);
    return status;
}
