/* A node that is being read: its inputs, outputs and attributes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "onnx/operand.h"
#include "onnx/record.h"
#include "onnx/values.h"

/* ---- Failures ---- */

const char *text_of(const char *text)
{
    return text ? text : "";
}

bool text_is_one_of(const char *text, const char *const *texts)
{
    while (*texts && strcmp(*texts, text) != 0)
        texts++;
    return *texts;
}

Onnx__TypeProto__Tensor *described_tensor(const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto *type = info->type;
    return type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? type->tensor_type
                                                                           : NULL;
}

/* What a node is called: its name, or its first output. */
static const char *node_name(const Onnx__NodeProto *node)
{
    if (text_of(node->name)[0] || !node->n_output)
        return text_of(node->name);
    return text_of(node->output[0]);
}

static bool fail_with(struct call *call, glcnn_status status, const char *format, va_list arguments)
{
    char message[380];
    vsnprintf(message, sizeof message, format, arguments);
    return onnx_fail(call->reader, status, "%.40s \"%.80s\": %s", text_of(call->node->op_type),
                     node_name(call->node), message);
}

bool op_fail(struct call *call, glcnn_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_with(call, status, format, arguments);
    va_end(arguments);
    return false;
}

bool op_unsupported(struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_with(call, GLCNN_UNSUPPORTED, format, arguments);
    va_end(arguments);
    return false;
}

bool op_only_constants(struct call *call)
{
    return op_unsupported(call, "this operator is supported only for constants");
}

/* ---- Values ---- */

static struct value *find_value(const struct call *call, char *const *list, size_t count, size_t i)
{
    const char *name = i < count ? text_of(list[i]) : "";
    size_t found = name[0] ? name_table_find(&call->reader->names, name) : NO_NAME;
    return found == NO_NAME ? NULL : &call->reader->values[found];
}

struct value *op_input(const struct call *call, size_t i)
{
    return find_value(call, call->node->input, call->node->n_input, i);
}

struct value *op_output(const struct call *call, size_t i)
{
    return find_value(call, call->node->output, call->node->n_output, i);
}

bool op_constant(struct call *call, size_t i, bool needed, const struct constant **constant)
{
    const struct value *value = op_input(call, i);
    char text[96];
    *constant = value ? value->constant : NULL;
    if (*constant && !constant_batch_free(*constant) && !fold_keeps_batch(call->node->op_type))
        return op_unsupported(call,
                              "the constant \"%.80s\" is %s; one that has the batch, N, as an "
                              "axis cannot be read here",
                              value->name, shape_text(&value->shape, text));
    if (*constant || (!value && !needed))
        return true;
    if (!value)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu is missing", i);
    return op_unsupported(call,
                          "input \"%.80s\" is computed while the model runs; only one that "
                          "is known beforehand can be read",
                          value->name);
}

bool op_image(struct call *call, size_t i, struct value **value)
{
    *value = op_input(call, i);
    if (!*value)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu is missing", i);
    if ((*value)->image.node)
        return true;
    if (!call->reader->input)
        return op_unsupported(call, "input \"%.80s\" is a constant where an image is needed",
                              (*value)->name);
    return operand_image(call, *value);
}

bool op_give_constant(struct call *call, size_t i, struct constant *constant)
{
    struct value *value = op_output(call, i);
    if (!constant)
        return onnx_no_memory(call->reader);
    if (value) {
        value->constant = constant;
        value->shape = constant->shape;
    }
    return true;
}

/* How often the image is read elsewhere, where it is an input's that is passed on. */
static size_t other_uses(const struct call *call, const glcnn_image_node *node)
{
    size_t most = 0;
    for (size_t i = 0; i < call->node->n_input; i++) {
        const struct value *value = op_input(call, i);
        if (value && value->image.node == node && value->uses > most + 1)
            most = value->uses - 1;
    }
    return most;
}

bool op_give(struct call *call, size_t i, const struct shape *shape, const struct image *image)
{
    struct value *value = op_output(call, i);
    if (!value)
        return true;
    value->shape = *shape;
    value->image = *image;
    value->uses += other_uses(call, image->node);
    return shape_check(call->reader, value->name, shape);
}

/* ---- Labels ---- */

/* A name of the node's that no filter has yet. Outputs' names differ, but for what is cut off of long
 * ones: after a few numbers the next one tried is above all that were given. */
#define FEW 16
static void free_label(const struct call *call, const char *suffix, char label[256])
{
    const struct name_table *taken = &call->reader->labels;
    const char *output = call->node->n_output ? text_of(call->node->output[0]) : "";
    const char *slash = suffix ? "/" : "", *end = suffix ? suffix : "";
    const char *name = node_name(call->node);
    snprintf(label, 256, "%.*s%s%s", name_length(name, 180), name, slash, end);
    if (name_table_find(taken, label) == NO_NAME)
        return;
    int length = name_length(output, 180);
    snprintf(label, 256, "%.*s%s%s", length, output, slash, end);
    for (size_t i = 2; name_table_find(taken, label) != NO_NAME; i++) {
        i += i < FEW ? 0 : taken->count;
        snprintf(label, 256, "%.*s%s%s#%zu", length, output, slash, end, i);
    }
}

bool op_made(struct call *call, glcnn_image_node *node, const char *suffix)
{
    struct reader *reader = call->reader;
    char label[256];
    glcnn_filter_node *filter = glcnn_image_node_filter(node);
    if (!filter) {
        glcnn_status status = glcnn_network_status(reader->network);
        return op_fail(call, status == GLCNN_INVALID_ARGUMENT ? GLCNN_MALFORMED_DATA : status, "%s",
                       glcnn_device_error(reader->device));
    }
    free_label(call, suffix, label);
    if (glcnn_filter_node_set_label(filter, label) != GLCNN_SUCCESS ||
        !name_table_add(&reader->labels, glcnn_filter_node_label(filter), 0))
        return onnx_no_memory(reader);
    return true;
}

struct value *op_parameter(const struct call *call, const struct value *value)
{
    size_t found =
        value->parameter ? name_table_find(&call->reader->names, value->parameter) : NO_NAME;
    return found == NO_NAME ? NULL : &call->reader->values[found];
}

/* Puts what a constant was computed of before those that wait. */
static struct value *add_sources(const struct call *call, const struct value *of,
                                 struct value *waiting)
{
    for (size_t i = 0; of->node && i < of->node->n_input; i++) {
        struct value *source = values_find(call->reader, of->node->input[i]);
        if (!source || !source->constant || !source->parameter || source->is_told)
            continue;
        source->is_told = true;
        source->next = waiting;
        waiting = source;
    }
    return waiting;
}

bool op_note_sources(const struct call *call, const struct value *value, const char *reason)
{
    const struct value *of = values_find(call->reader, value->name);
    bool noted = record_frozen(call->reader, value->parameter, reason);
    struct value *waiting = of ? add_sources(call, of, NULL) : NULL;
    while (noted && waiting) {
        of = waiting;
        waiting = of->next;
        if (strcmp(of->parameter, of->name) != 0)
            waiting = add_sources(call, of, waiting);
        else if (of->learns)
            noted = record_frozen(call->reader, of->name, reason);
    }
    return noted;
}

bool op_note_frozen(struct call *call, const struct value *value, const char *reason)
{
    if (!value || !value->parameter)
        return true;
    if (strcmp(value->parameter, value->name) != 0 && !value->learns)
        return op_note_sources(call, value, "what is computed of it does not train");
    if (!value->learns)
        reason = "one number without axes is taken for a constant";
    return record_frozen(call->reader, value->parameter, reason);
}

void op_freeze(glcnn_image_node *node)
{
    glcnn_filter_node_set_training_style(glcnn_image_node_filter(node),
                                         GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE);
}

bool op_shape(struct call *call, const struct shape *shape)
{
    char text[96];
    if (!shape_check(call->reader, node_name(call->node), shape))
        return false;
    return shape_count(shape) > 0 ||
           op_unsupported(call, "a tensor of %s has no numbers", shape_text(shape, text));
}

/* ---- Attributes ---- */

const Onnx__AttributeProto *attribute_find(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->node->n_attribute; i++)
        if (strcmp(text_of(call->node->attribute[i]->name), name) == 0)
            return call->node->attribute[i];
    return NULL;
}

int64_t attribute_int(const struct call *call, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = attribute_find(call, name);
    return a && a->has_i ? a->i : otherwise;
}

float attribute_float(const struct call *call, const char *name, float otherwise)
{
    const Onnx__AttributeProto *a = attribute_find(call, name);
    return a && a->has_f ? a->f : otherwise;
}

bool attribute_ints(struct call *call, const char *name, size_t most, int64_t *values,
                    size_t *count)
{
    const Onnx__AttributeProto *a = attribute_find(call, name);
    if (!a)
        return true;
    if (a->n_ints > most)
        return op_fail(call, GLCNN_MALFORMED_DATA, "attribute %s has %zu numbers; %zu are enough",
                       name, a->n_ints, most);
    *count = a->n_ints;
    if (a->n_ints)
        memcpy(values, a->ints, a->n_ints * sizeof *values);
    return true;
}

bool attribute_is(const struct call *call, const char *name, const char *text,
                  const char *otherwise)
{
    const Onnx__AttributeProto *a = attribute_find(call, name);
    if (!a || !a->has_s)
        return strcmp(text, otherwise) == 0;
    return a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

bool op_wholes(struct call *call, const char *attribute, size_t input, size_t most, int64_t *values,
               size_t *count)
{
    const struct constant *c = NULL;
    *count = 0;
    if (attribute && attribute_find(call, attribute))
        return attribute_ints(call, attribute, most, values, count);
    if (!op_constant(call, input, false, &c))
        return false;
    if (!c)
        return true;
    if (c->count > most || !c->wholes)
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "input %zu has %zu %s; it should have whole numbers, at most %zu", input,
                       c->count, c->wholes ? "numbers" : "real numbers", most);
    memcpy(values, c->wholes, c->count * sizeof *values);
    *count = c->count;
    return true;
}
