/* Layers that read the same parameters: one kernel, whose weights they train together. */
#include "onnx/sharing.h"

#include <stdlib.h>
#include <string.h>

static bool same_window(const struct glcnn_source_properties *own,
                        const struct glcnn_convolution_descriptor *d)
{
    return own->kernel_width == d->kernel_width && own->kernel_height == d->kernel_height &&
           own->stride_in_pixels_x == d->stride_in_pixels_x &&
           own->stride_in_pixels_y == d->stride_in_pixels_y &&
           own->dilation_rate_x == d->dilation_rate_x && own->dilation_rate_y == d->dilation_rate_y;
}

static bool is_described(glcnn_kernel *kernel, const struct layer *layer)
{
    const struct glcnn_convolution_descriptor *d = layer->descriptor;
    const struct glcnn_convolution_parameters *p = glcnn_convolution(kernel);
    const struct glcnn_addressing *properties = glcnn_kernel_properties(kernel);
    return p && strcmp(glcnn_kernel_name(kernel), layer->kernel) == 0 &&
           p->input_feature_channels == d->input_feature_channels &&
           p->output_feature_channels == d->output_feature_channels && p->groups == d->groups &&
           p->without_biases == d->without_biases && same_window(&properties->primary, d) &&
           memcmp(&properties->pad, &layer->pad, sizeof layer->pad) == 0;
}

/* The kernel that has the parameter's numbers as they are. */
static glcnn_kernel *kernel_of(const struct call *call, const struct value *value)
{
    const struct value *parameter = value->learns ? op_parameter(call, value) : NULL;
    return parameter && parameter->scale == 1 ? parameter->kernel : NULL;
}

bool sharing_is(const struct reader *reader, const glcnn_kernel *kernel)
{
    for (size_t i = 0; i < reader->shared_count; i++)
        if (reader->shared[i] == kernel)
            return true;
    return false;
}

static bool note_shared(struct reader *reader, glcnn_kernel *kernel)
{
    if (sharing_is(reader, kernel))
        return true;
    glcnn_kernel **all =
        realloc(reader->shared, (reader->shared_count + 1) * sizeof *reader->shared);
    if (!all)
        return onnx_no_memory(reader);
    reader->shared = all;
    reader->shared[reader->shared_count++] = kernel;
    return true;
}

glcnn_kernel *sharing_find(struct call *call, const struct layer *layer)
{
    glcnn_kernel *kernel = kernel_of(call, layer->weights);
    bool same = kernel && is_described(kernel, layer) &&
                (!layer->biases || kernel_of(call, layer->biases) == kernel);
    return same && note_shared(call->reader, kernel) ? kernel : NULL;
}
