/* Makes a model with the roundings of int8. Where they are follows from the file that export would write: a filter whose last
 * node makes a value of int8 is rounded there. */
#include "int8_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glcnn/training.h>

#define WEIGHT_LEVELS                                                                              \
    127 /* of glcnn_onnx_quantization's largest_weight, unless it is asked for less */

size_t int8_count_roundings(const glcnn_network *network)
{
    glcnn_filter_node *filter;
    size_t count = 0;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)) != NULL; i++) {
        const struct glcnn_neuron_parameters *p = glcnn_neuron(glcnn_filter_node_kernel(filter));
        count += p && !glcnn_filter_node_forward(filter, NULL) &&
                 p->neuron.type == GLCNN_NEURON_TYPE_FAKE_QUANTIZATION;
    }
    return count;
}

/* ---- The model as a file ---- */

bool int8_prepare(const struct model *model, struct glcnn_onnx_quantization **q,
                  char error[GLCNN_ERROR_LENGTH])
{
    struct task_end ends[TASK_ENDS];
    struct glcnn_onnx_output outputs[TASK_ENDS];
    const struct form *form = &model->form;
    const struct glcnn_onnx_image input = {.name = "images",
                                           .width = form->width,
                                           .height = form->height,
                                           .feature_channels = form->channels};
    uint8_t *bytes = NULL;
    size_t size;
    *q = NULL;
    if (int8_count_roundings(model->network) > 0) {
        snprintf(error, GLCNN_ERROR_LENGTH, INT8_IS_ROUNDED, "--quantise");
        return false;
    }
    const uint32_t count = task_find_ends(model, ends, error);
    for (uint32_t i = 0; i < count; i++)
        outputs[i] = (struct glcnn_onnx_output){ends[i].node, ends[i].name, ends[i].is_inner};
    const struct glcnn_onnx_write_options options = {
        .inputs = &input, .input_count = 1, .outputs = outputs, .output_count = count};
    const bool good =
        count > 0 &&
        glcnn_onnx_write_with(model->network, &options, &bytes, &size, error) == GLCNN_SUCCESS &&
        glcnn_onnx_quantization_create(bytes, size, q, error) == GLCNN_SUCCESS;
    glcnn_onnx_destroy(bytes);
    return good;
}

/* ---- Kernels ---- */

/* Scales of weights are of output channels, but of a transposed convolution of groups there is one (glcnn/onnx.h). */
static bool round_weights(glcnn_kernel *kernel)
{
    const struct glcnn_convolution_parameters *p = glcnn_convolution(kernel);
    if (!p)
        return true;
    const bool is_transposed = strcmp(glcnn_kernel_name(kernel), "convolution_transpose") == 0;
    const uint32_t scales = is_transposed && p->groups > 1 ? 1 : p->output_feature_channels;
    return glcnn_kernel_set_weight_rounding(kernel, WEIGHT_LEVELS, scales) == GLCNN_SUCCESS;
}

static bool settle_kernels(const glcnn_network *network)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(network, i)) != NULL; i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
        if (glcnn_filter_node_forward(filter, NULL))
            continue;
        if (!round_weights(kernel))
            return false;
        if (model_filter_is(filter, "batch_normalization"))
            glcnn_batch_normalization(kernel)->flags =
                GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER;
    }
    return true;
}

/* ---- The part ---- */

/* Scale 0 is a value that is not stored. */
static size_t list_roundings(const struct glcnn_onnx_quantization *q,
                             struct model_rounding *roundings)
{
    size_t count = 0;
    for (size_t i = 0; i < q->range_count; i++)
        if (q->ranges[i].scale > 0)
            roundings[count++] = (struct model_rounding){q->ranges[i].node, q->ranges[i].scale,
                                                         q->ranges[i].zero_point};
    return count;
}

static bool find_scales(struct glcnn_onnx_quantization *q, char error[GLCNN_ERROR_LENGTH])
{
    uint8_t *made = NULL;
    size_t size;
    const bool good = glcnn_onnx_quantize(q, &made, &size, error) == GLCNN_SUCCESS;
    glcnn_onnx_destroy(made);
    return good;
}

bool int8_model_create(const struct model *whole, struct glcnn_onnx_quantization *q, uint32_t batch,
                       struct model *rounded, char error[GLCNN_ERROR_LENGTH])
{
    *rounded = (struct model){.network = NULL};
    struct model_rounding *roundings = calloc(q->range_count + 1, sizeof *roundings);
    struct model_part what = {.form = whole->form, .drops = true, .roundings = roundings};
    snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
    bool good = roundings && find_scales(q, error);
    if (good) {
        what.rounding_count = list_roundings(q, roundings);
        good = settle_kernels(whole->network) && model_create_part(whole, &what, batch, rounded);
        if (!good)
            snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(whole->device));
    }
    free(roundings);
    return good;
}
