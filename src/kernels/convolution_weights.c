/* The data source of a convolution: spec 7.2. Weights of every type become float32 here, with a
 * batch normalisation folded into them, each computed in double precision and rounded once; nothing
 * after this knows of either. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/convolution.h"
#include "image/float16.h"

/* ---- Types ---- */

/* Number `index`, which is one of output k's. */
typedef double (*decoder)(const struct glcnn_convolution_weights *w, size_t index, size_t k);

static double decode_float32(const struct glcnn_convolution_weights *w, size_t index, size_t k)
{
    (void)k;
    return ((const float *)w->weights)[index];
}

static double decode_float16(const struct glcnn_convolution_weights *w, size_t index, size_t k)
{
    (void)k;
    return float16_to_float(((const uint16_t *)w->weights)[index]);
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

static const decoder decoders[] = {
    [GLCNN_CONVOLUTION_WEIGHTS_FLOAT32] = decode_float32,
    [GLCNN_CONVOLUTION_WEIGHTS_FLOAT16] = decode_float16,
    [GLCNN_CONVOLUTION_WEIGHTS_UINT8_LINEAR] = decode_uint8_linear,
    [GLCNN_CONVOLUTION_WEIGHTS_UINT8_TABLE] = decode_uint8_table,
};
#define TYPES (int)(sizeof decoders / sizeof *decoders)
_Static_assert(TYPES == GLCNN_CONVOLUTION_WEIGHTS_UINT8_TABLE + 1,
               "the last type has the last row");

static glcnn_status check_type(const glcnn_kernel *kernel,
                               const struct glcnn_convolution_weights *w)
{
    const char *name = kernel->descriptor->name;
    if ((int)w->type < 0 || (int)w->type >= TYPES)
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

/* ---- Batch normalisation ---- */

/* Output x becomes scale * x + shift. */
struct fold {
    double scale, shift;
};

static struct fold fold_of(const struct glcnn_batch_normalization_data_source *b, size_t k)
{
    if (!b)
        return (struct fold){1, 0};
    double epsilon = b->epsilon != 0 ? (double)b->epsilon : (double)FLT_MIN;
    double gamma = b->gamma ? b->gamma[k] : 1, beta = b->beta ? b->beta[k] : 0;
    double mean = b->mean ? b->mean[k] : 0, variance = b->variance ? b->variance[k] : 1;
    double scale = gamma / sqrt(variance + epsilon);
    return (struct fold){scale, beta - scale * mean};
}

static glcnn_status check_fold(const glcnn_kernel *kernel,
                               const struct glcnn_batch_normalization_data_source *b,
                               size_t outputs)
{
    if (b && kernel->descriptor->flags & IS_GRADIENT)
        return device_fail(kernel->device, GLCNN_UNSUPPORTED,
                           "%s: weights with a batch normalisation folded in have no gradient; use "
                           "a batch_normalization kernel",
                           kernel->descriptor->name);
    if (b && b->number_of_feature_channels != outputs)
        return device_fail(kernel->device, GLCNN_INVALID_ARGUMENT,
                           "%s: the batch normalisation has %u channels; the convolution makes %zu",
                           kernel->descriptor->name, b->number_of_feature_channels, outputs);
    return GLCNN_SUCCESS;
}

/* ---- Vectors ---- */

typedef double (*folded)(const struct glcnn_convolution_weights *w, size_t index, size_t k,
                         const struct fold *fold);

static double folded_weight(const struct glcnn_convolution_weights *w, size_t index, size_t k,
                            const struct fold *fold)
{
    return decoders[w->type](w, index, k) * fold->scale;
}

static double folded_bias(const struct glcnn_convolution_weights *w, size_t index, size_t k,
                          const struct fold *fold)
{
    (void)k;
    return (w->biases ? (double)w->biases[index] : 0) * fold->scale + fold->shift;
}

/* The kernel's vector `name`, made of `count` values for each output. */
static glcnn_status set_vector(glcnn_kernel *kernel, const char *name,
                               const struct glcnn_convolution_weights *w, size_t outputs,
                               size_t count, folded value)
{
    float *values = calloc(outputs * count, sizeof *values);
    if (!values)
        return device_fail(kernel->device, GLCNN_OUT_OF_MEMORY, "%s: out of memory for %s",
                           kernel->descriptor->name, name);
    for (size_t k = 0; k < outputs; k++) {
        struct fold fold = fold_of(w->batch_normalization, k);
        for (size_t i = k * count; i < (k + 1) * count; i++)
            values[i] = (float)value(w, i, k, &fold);
    }
    glcnn_status status = glcnn_kernel_set_vector(kernel, name, values, outputs * count);
    free(values);
    return status;
}

glcnn_status convolution_set_weights(glcnn_kernel *kernel,
                                     const struct glcnn_convolution_descriptor *d,
                                     const struct glcnn_convolution_weights *weights)
{
    size_t inputs = d->input_feature_channels / (d->groups ? d->groups : 1);
    size_t outputs = d->output_feature_channels;
    size_t count = (size_t)d->kernel_height * d->kernel_width * inputs;
    if (!weights)
        return GLCNN_SUCCESS;
    glcnn_status status = check_fold(kernel, weights->batch_normalization, outputs);
    if (status == GLCNN_SUCCESS && weights->weights)
        status = check_type(kernel, weights);
    if (status == GLCNN_SUCCESS && weights->weights)
        status = set_vector(kernel, "weights", weights, outputs, count, folded_weight);
    bool biased = !(kernel->descriptor->flags & IS_GRADIENT) &&
                  (weights->biases || weights->batch_normalization);
    if (status == GLCNN_SUCCESS && biased)
        status = set_vector(kernel, "biases", weights, outputs, 1, folded_bias);
    return status;
}
