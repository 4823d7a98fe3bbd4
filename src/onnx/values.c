/* Values of a graph by name, and which of them its outputs need. */
#include "onnx/values.h"

#include <stdlib.h>
#include <string.h>

#include "onnx/expansion.h"
#include "onnx/order.h"

/* ---- Names ---- */

static bool add_value(struct reader *r, const char *name, size_t *index)
{
    if (!name_is_utf8(name))
        return onnx_fail(r, GLCNN_MALFORMED_DATA, "the name of value %zu is not UTF-8",
                         r->names.count);
    *index = r->names.count;
    r->values[*index] = (struct value){.name = name};
    return name_table_add(&r->names, name, *index) || onnx_no_memory(r);
}

bool values_name_tensor(struct reader *r, Onnx__TensorProto *tensor)
{
    size_t index;
    if (name_table_find(&r->names, text_of(tensor->name)) != NO_NAME)
        return onnx_fail(r, GLCNN_MALFORMED_DATA, "initialiser \"%.80s\" appears twice",
                         text_of(tensor->name));
    if (!add_value(r, text_of(tensor->name), &index))
        return false;
    r->values[index].tensor = tensor;
    r->values[index].is_defined = true;
    return true;
}

static bool name_inputs(struct reader *r)
{
    size_t index;
    for (size_t i = 0; i < r->graph->n_input; i++) {
        const char *name = text_of(r->graph->input[i]->name);
        if (name_table_find(&r->names, name) == NO_NAME && !add_value(r, name, &index))
            return false;
    }
    return true;
}

bool values_name_output(struct reader *r, const Onnx__NodeProto *node, size_t i)
{
    size_t index;
    const char *name = text_of(node->output[i]);
    if (!name[0])
        return true;
    if (name_table_find(&r->names, name) != NO_NAME)
        return onnx_fail(r, GLCNN_MALFORMED_DATA,
                         "%.40s \"%.80s\" makes \"%.80s\", which there is already",
                         text_of(node->op_type), text_of(node->name), name);
    return add_value(r, name, &index);
}

static bool name_nodes(struct reader *r)
{
    for (size_t i = 0; i < r->graph->n_node; i++)
        for (size_t k = 0; k < r->graph->node[i]->n_output; k++)
            if (!values_name_output(r, r->graph->node[i], k))
                return false;
    return true;
}

/* Of a graph, and of those within its nodes. */
static size_t count_values(const Onnx__GraphProto *graph)
{
    size_t count = graph->n_initializer + graph->n_input;
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        count += node->n_output + expansion_values(node);
        for (size_t k = 0; k < node->n_attribute; k++)
            count += node->attribute[k]->g ? count_values(node->attribute[k]->g) : 0;
    }
    return count;
}

bool values_name(struct reader *r)
{
    r->values = calloc(count_values(r->graph) + 1, sizeof *r->values);
    if (!r->values)
        return onnx_no_memory(r);
    for (size_t i = 0; i < r->graph->n_initializer; i++)
        if (!values_name_tensor(r, r->graph->initializer[i]))
            return false;
    return name_inputs(r) && name_nodes(r);
}

/* ---- What is needed ---- */

struct value *values_find(const struct reader *r, const char *name)
{
    size_t index = name_table_find(&r->names, text_of(name));
    return index == NO_NAME ? NULL : &r->values[index];
}

bool values_need(const struct reader *r, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_output; i++) {
        const struct value *value = values_find(r, node->output[i]);
        if (value && value->is_needed)
            return true;
    }
    return false;
}

/* ---- Pictures N,H,W,C ---- */

static bool is_to_channels_first(const struct call *call)
{
    static const int64_t wanted[] = {0, 3, 1, 2};
    const Onnx__AttributeProto *a = attribute_find(call, "perm");
    return strcmp(text_of(call->node->op_type), "Transpose") == 0 && a && a->n_ints == 4 &&
           memcmp(a->ints, wanted, sizeof wanted) == 0;
}

bool values_is_turned(const struct value *value)
{
    return value && value->uses && value->turns == value->uses;
}

static bool leads_to_turn(const struct call *call)
{
    static const char *const passed[] = {"Identity", "Cast", "Neg", "Add", "Sub", "Mul", "Div"};
    size_t images = 0, i = 0;
    if (is_to_channels_first(call))
        return true;
    while (i < 7 && strcmp(text_of(call->node->op_type), passed[i]) != 0)
        i++;
    for (size_t k = 0; k < call->node->n_input; k++)
        images += op_input(call, k) && !op_input(call, k)->tensor;
    return i < 7 && images == 1 && call->node->n_output == 1 &&
           values_is_turned(op_output(call, 0));
}

/* Graphs within the node read the value. */
static void note_read(void *context, const char *name)
{
    struct value *value = values_find(context, name);
    if (!value)
        return;
    value->is_needed = true;
    value->uses++;
}

/* Can the operator's input be an image? The first can, but of what is only folded; others of few. */
static bool takes_image(const struct call *call, size_t input)
{
    static const char *const all[] = {"Add", "Sub",  "Mul",    "Div",    "Pow",    "Min",   "Max",
                                      "Sum", "Mean", "Concat", "MatMul", "Einsum", "Where", NULL};
    const char *name = text_of(call->node->op_type);
    const struct operator_row *row = operator_find(name);
    return row && row->lower && row->lower != op_only_constants &&
           (input == 0 || text_is_one_of(name, all));
}

/* Readers come before who makes what they read. */
static void note_known(const struct call *call)
{
    const char *name = text_of(call->node->op_type);
    bool passes = false;
    if (strcmp(name, "Shape") == 0 || strcmp(name, "Size") == 0)
        return; /* those of images are known */
    for (size_t i = 0; i < call->node->n_output; i++)
        passes = passes || (op_output(call, i) && op_output(call, i)->must_be_known);
    for (size_t i = 0; i < call->node->n_input; i++) {
        struct value *value = op_input(call, i);
        if (value && (passes || !takes_image(call, i)))
            value->must_be_known = true;
    }
}

static void note_uses(struct reader *r, const Onnx__NodeProto *node)
{
    struct call call = {r, node, NULL};
    bool turns = leads_to_turn(&call);
    note_known(&call);
    order_reads(node, note_read, r);
    for (size_t k = 0; turns && k < node->n_input; k++) {
        struct value *value = op_input(&call, k);
        if (value)
            value->turns++;
    }
}

void values_note_uses(struct reader *r, size_t from, size_t to)
{
    for (size_t i = to; i-- > from;)
        if (values_need(r, r->graph->node[i]))
            note_uses(r, r->graph->node[i]);
}

bool values_find_needed(struct reader *r)
{
    if (!r->graph->n_output)
        return onnx_fail(r, GLCNN_MALFORMED_DATA, "the graph has no output");
    for (size_t i = 0; i < r->graph->n_output; i++) {
        struct value *value = values_find(r, r->graph->output[i]->name);
        if (!value || value->is_needed)
            return onnx_fail(r, GLCNN_MALFORMED_DATA,
                             value ? "the output \"%.80s\" appears twice"
                                   : "no node makes the output \"%.80s\"",
                             text_of(r->graph->output[i]->name));
        value->is_needed = true;
        value->uses++;
    }
    values_note_uses(r, 0, r->graph->n_node); /* who reads a value comes after who makes it */
    return true;
}
