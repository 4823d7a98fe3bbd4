/* Vectors of filters, filled with constants, and the record of which constant is where. */
#include <stdlib.h>
#include <string.h>

#include "onnx/onnx.h"
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

bool vector_put(struct call *call, glcnn_image_node *node, const char *vector, size_t count,
                const struct constant *constant, const struct layout *layout)
{
    if (!layout_fits(layout, constant->count, count))
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "a constant of %zu numbers does not have the %zu that the filter's %s "
                       "need",
                       constant->count, count, vector);
    float *values = calloc(count, sizeof *values);
    if (!values)
        return onnx_no_memory(call->reader);
    scatter(layout, constant, values);
    bool set = set_values(call, node, vector, values, count);
    free(values);
    return set;
}

static bool check_values(struct call *call, const char *vector, const struct value *value)
{
    const char *expected;
    const struct constant *c = value->constant;
    size_t first =
        c->floats ? glcnn_kernel_wrong_value(vector, c->floats, c->count, &expected) : c->count;
    return first == c->count ||
           op_fail(call, GLCNN_MALFORMED_DATA, "value %zu of tensor \"%.80s\" is %g; %s", first,
                   value->name, (double)c->floats[first], expected);
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
    return record_note(call, glcnn_filter_node_label(glcnn_image_node_filter(node)), vector, value,
                       layout);
}

bool vector_set(struct call *call, glcnn_image_node *node, const char *vector, size_t count,
                const struct value *value, const struct layout *layout)
{
    return check_values(call, vector, value) && note_kernel(call, node, value, layout) &&
           vector_put(call, node, vector, count, value->constant, layout) &&
           vector_note(call, node, vector, value, layout) &&
           (!value->parameter || strcmp(value->parameter, value->name) == 0 || value->learns ||
            record_frozen(call->reader, value->parameter,
                          "what is computed of it trains in its place"));
}

/* One number fills this many at most: no file says more with so few bytes. */
#define FILLED_MOST ((size_t)1 << 20)

bool vector_fill(struct call *call, glcnn_image_node *node, const char *vector, size_t count,
                 float value)
{
    if (count > FILLED_MOST)
        return op_fail(call, GLCNN_LIMIT_EXCEEDED, "one number would fill %s of %zu", vector,
                       count);
    float *values = malloc((count + 1) * sizeof *values);
    if (!values)
        return onnx_no_memory(call->reader);
    for (size_t i = 0; i < count; i++)
        values[i] = value;
    bool set = set_values(call, node, vector, values, count);
    free(values);
    return set;
}
