/* Vectors of filters, filled with constants, and the record of which constant is where. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/onnx.h"
#include "onnx/origin.h"
#include "onnx/record.h"

struct layout layout_plain(size_t count, bool counts_outputs)
{
    return (struct layout){.axes = 1,
                           .size = {(int64_t)count},
                           .stride = {1},
                           .output_axis = counts_outputs ? 0 : -1,
                           .output_dimension = -1};
}

static void scatter(const struct layout *layout, const struct constant *from, float *to)
{
    int64_t index[GLCNN_ONNX_RANK] = {0}, place = layout->offset;
    float scale = layout->scale == 0 ? 1 : layout->scale;
    for (size_t i = 0; i < from->count; i++) {
        to[place] = scale * (float)constant_number(from, i);
        place = layout_next(layout, index, place);
    }
}

static bool set_values(struct call *call, glcnn_image_node *node, const char *vector,
                       const float *values, size_t count)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(node));
    glcnn_status status = glcnn_kernel_set_vector(kernel, vector, values, count);
    return status == GLCNN_SUCCESS ||
           op_fail(call, status == GLCNN_INVALID_ARGUMENT ? GLCNN_MALFORMED_DATA : status, "%s",
                   glcnn_device_error(call->reader->device));
}

/* The element of the constant that lies at a place of the vector. */
static size_t element_at(const struct layout *layout, size_t wanted)
{
    int64_t index[GLCNN_ONNX_RANK] = {0}, place = layout->offset;
    size_t i = 0;
    for (; place != (int64_t)wanted; i++)
        place = layout_next(layout, index, place);
    return i;
}

/* What the vector gets may be computed of what the file has. */
static bool check_values(struct call *call, const char *vector, const float *values, size_t count,
                         const struct value *value, const struct layout *layout)
{
    char given[64] = "";
    const char *expected;
    size_t first = glcnn_kernel_wrong_value(vector, values, count, &expected);
    if (first == count)
        return true;
    size_t element = element_at(layout, first);
    double found = constant_number(value->constant, element), computed = (double)values[first];
    if (found != computed && isfinite(found))
        snprintf(given, sizeof given, ", of which the filter gets %g", computed);
    return op_fail(call, GLCNN_MALFORMED_DATA, "value %zu of tensor \"%.80s\" is %g%s; %s", element,
                   value->name, found, given, expected);
}

bool vector_put(struct call *call, glcnn_image_node *node, const char *vector, size_t count,
                const struct value *value, const struct constant *numbers,
                const struct layout *layout)
{
    if (!layout_fits(layout, numbers->count, count))
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "a constant of %zu numbers does not have the %zu that the filter's %s "
                       "need",
                       numbers->count, count, vector);
    float *values = calloc(count, sizeof *values);
    if (!values)
        return onnx_no_memory(call->reader);
    scatter(layout, numbers, values);
    bool set = check_values(call, vector, values, count, value, layout) &&
               set_values(call, node, vector, values, count);
    free(values);
    return set;
}

/* What several filters have each of them trains by itself. */
static bool note_kernel(struct call *call, glcnn_image_node *node, const struct value *value,
                        const struct layout *layout)
{
    struct value *parameter = op_parameter(call, value);
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(node));
    if (!parameter)
        return true;
    if (!parameter->kernel) {
        parameter->kernel = kernel;
        parameter->scale = layout->scale == 0 ? 1 : layout->scale;
    }
    return parameter->kernel == kernel ||
           record_frozen(call->reader, value->parameter,
                         "several filters have it, and each trains its own");
}

bool vector_note(struct call *call, glcnn_image_node *node, const char *vector,
                 const struct value *value, const struct layout *layout)
{
    struct layout moved = *layout;
    const struct value *origin = origin_find(call, value, &moved);
    return record_note(call, glcnn_filter_node_label(glcnn_image_node_filter(node)), vector, origin,
                       &moved);
}

bool vector_set(struct call *call, glcnn_image_node *node, const char *vector, size_t count,
                const struct value *value, const struct layout *layout)
{
    return note_kernel(call, node, value, layout) &&
           vector_put(call, node, vector, count, value, value->constant, layout) &&
           vector_note(call, node, vector, value, layout) &&
           (!value->parameter || strcmp(value->parameter, value->name) == 0 || value->learns ||
            op_note_sources(call, value, "what is computed of it trains in its place"));
}
