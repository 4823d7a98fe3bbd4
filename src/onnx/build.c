/* Messages of a model as they are put together. protobuf-c frees what is here with free(). */
#include "onnx/build.h"

#include <stdlib.h>
#include <string.h>

#define OPSET       14
#define IR_VERSION  7
#define MOST_FIELDS 12 /* attributes of a node */

static void *no_memory(struct writer *w)
{
    onnx_no_memory(&w->messages);
    return NULL;
}

static bool is_well(const struct writer *w)
{
    return w->messages.status == GLCNN_SUCCESS;
}

/* The array with room for one more behind `count` elements, whoever made it; NULL: no memory. */
static void *with_room(void *array, size_t count)
{
    return realloc(array, (count + 1) * sizeof(void *));
}

/* A message by its own initialiser. */
#define MAKE(type, variable, init)                                                                 \
    type *variable = malloc(sizeof *variable);                                                     \
    if (variable)                                                                                  \
    init(variable)

static bool add_opset(Onnx__ModelProto *model)
{
    MAKE(Onnx__OperatorSetIdProto, opset, onnx__operator_set_id_proto__init);
    model->opset_import = malloc(sizeof *model->opset_import);
    if (!opset || !model->opset_import) {
        free(opset);
        return false;
    }
    opset->has_version = true;
    opset->version = OPSET;
    opset->domain = strdup("");
    model->opset_import[model->n_opset_import++] = opset;
    return opset->domain;
}

Onnx__ModelProto *build_model(void)
{
    MAKE(Onnx__ModelProto, model, onnx__model_proto__init);
    if (!model)
        return NULL;
    model->has_ir_version = true;
    model->ir_version = IR_VERSION;
    model->producer_name = strdup("glcnn");
    MAKE(Onnx__GraphProto, graph, onnx__graph_proto__init);
    model->graph = graph;
    if (graph)
        graph->name = strdup("glcnn");
    bool made = graph && add_opset(model) && model->producer_name && graph->name;
    if (made)
        return model;
    onnx__model_proto__free_unpacked(model, NULL);
    return NULL;
}

/* ---- Nodes ---- */

Onnx__NodeProto *build_node(struct writer *w, Onnx__GraphProto *graph, const char *operator,
                            const char * output, const char *const *inputs)
{
    size_t count = 0;
    while (inputs[count])
        count++;
    if (!is_well(w))
        return NULL;
    void *room = with_room(graph->node, graph->n_node);
    if (!room)
        return no_memory(w);
    graph->node = room;
    MAKE(Onnx__NodeProto, node, onnx__node_proto__init);
    if (!node)
        return no_memory(w);
    graph->node[graph->n_node++] = node;
    node->op_type = strdup(operator);
    node->name = strdup(output);
    node->output = malloc(sizeof *node->output);
    node->input = malloc((count + 1) * sizeof *node->input);
    node->attribute = malloc(MOST_FIELDS * sizeof *node->attribute);
    if (!node->op_type || !node->name || !node->output || !node->input || !node->attribute)
        return no_memory(w);
    bool whole = (node->output[node->n_output++] = strdup(output)) != NULL;
    for (size_t i = 0; i < count && whole; i++)
        whole = (node->input[node->n_input++] = strdup(inputs[i])) != NULL;
    return whole ? node : no_memory(w);
}

static Onnx__AttributeProto *add_attribute(struct writer *w, Onnx__NodeProto *node,
                                           const char *name,
                                           Onnx__AttributeProto__AttributeType type)
{
    if (!is_well(w) || !node || node->n_attribute == MOST_FIELDS)
        return NULL;
    MAKE(Onnx__AttributeProto, a, onnx__attribute_proto__init);
    if (!a)
        return no_memory(w);
    node->attribute[node->n_attribute++] = a;
    a->name = strdup(name);
    a->has_type = true;
    a->type = type;
    return a->name ? a : no_memory(w);
}

void build_int(struct writer *w, Onnx__NodeProto *node, const char *name, int64_t value)
{
    Onnx__AttributeProto *a =
        add_attribute(w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    if (!a)
        return;
    a->has_i = true;
    a->i = value;
}

void build_float(struct writer *w, Onnx__NodeProto *node, const char *name, float value)
{
    Onnx__AttributeProto *a =
        add_attribute(w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    if (!a)
        return;
    a->has_f = true;
    a->f = value;
}

void build_text(struct writer *w, Onnx__NodeProto *node, const char *name, const char *value)
{
    Onnx__AttributeProto *a =
        add_attribute(w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    if (!a)
        return;
    a->s.data = (uint8_t *)strdup(value);
    a->s.len = a->s.data ? strlen(value) : 0;
    a->has_s = true;
    if (!a->s.data)
        no_memory(w);
}

void build_ints(struct writer *w, Onnx__NodeProto *node, const char *name, const int64_t *values,
                size_t count)
{
    Onnx__AttributeProto *a =
        add_attribute(w, node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    if (!a)
        return;
    a->ints = malloc((count + 1) * sizeof *a->ints);
    if (!a->ints) {
        no_memory(w);
        return;
    }
    memcpy(a->ints, values, count * sizeof *values);
    a->n_ints = count;
}

/* ---- Values ---- */

static size_t count_of(const int64_t *dims, size_t rank)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    return count;
}

static Onnx__TensorProto *add_tensor(struct writer *w, Onnx__GraphProto *graph, const char *name,
                                     int type)
{
    if (!is_well(w))
        return NULL;
    void *room = with_room(graph->initializer, graph->n_initializer);
    graph->initializer = room ? room : graph->initializer;
    MAKE(Onnx__TensorProto, t, onnx__tensor_proto__init);
    if (!room || !t) {
        free(t);
        return no_memory(w);
    }
    graph->initializer[graph->n_initializer++] = t;
    t->name = strdup(name);
    t->has_data_type = true;
    t->data_type = type;
    return t->name ? t : no_memory(w);
}

static bool fill_wholes(Onnx__TensorProto *t, const int64_t *dims, size_t rank,
                        const int64_t *wholes)
{
    const size_t count = count_of(dims, rank);
    t->int64_data = malloc((count + 1) * sizeof *t->int64_data);
    if (!t->int64_data || !write_dims(t, dims, rank))
        return false;
    memcpy(t->int64_data, wholes, count * sizeof *wholes);
    t->n_int64_data = count;
    return true;
}

void build_tensor(struct writer *w, Onnx__GraphProto *graph, const char *name, const int64_t *dims,
                  size_t rank, const float *values, const int64_t *wholes)
{
    Onnx__TensorProto *t = add_tensor(w, graph, name,
                                      values ? ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
                                             : ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
    if (!t)
        return;
    if (values)
        write_numbers(w, t, values, count_of(dims, rank), dims, rank);
    else if (!fill_wholes(t, dims, rank, wholes))
        no_memory(w);
}

void build_small_wholes(struct writer *w, Onnx__GraphProto *graph, const char *name, int type,
                        const int64_t *dims, size_t rank, const int32_t *values)
{
    const size_t count = count_of(dims, rank),
                 size = type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8 ? 1 : sizeof *values;
    Onnx__TensorProto *t = add_tensor(w, graph, name, type);
    if (!t)
        return;
    uint8_t *bytes = malloc(count * size + 1);
    if (!bytes || !write_dims(t, dims, rank)) {
        free(bytes);
        no_memory(w);
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < size; k++)
            bytes[i * size + k] = (uint8_t)((uint32_t)values[i] >> 8 * k);
    t->raw_data = (ProtobufCBinaryData){count * size, bytes};
    t->has_raw_data = true;
}

static bool add_dimension(Onnx__TensorShapeProto *shape, int64_t size, bool is_batch)
{
    MAKE(Onnx__TensorShapeProto__Dimension, d, onnx__tensor_shape_proto__dimension__init);
    if (!d)
        return false;
    shape->dim[shape->n_dim++] = d;
    if (!is_batch) {
        d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        d->dim_value = size;
        return true;
    }
    d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    d->dim_param = strdup("N");
    return d->dim_param;
}

static bool fill_type(Onnx__ValueInfoProto *info, const int64_t *dims, size_t rank)
{
    MAKE(Onnx__TypeProto, type, onnx__type_proto__init);
    info->type = type;
    if (!type)
        return false;
    MAKE(Onnx__TypeProto__Tensor, tensor, onnx__type_proto__tensor__init);
    if (!tensor)
        return false;
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    MAKE(Onnx__TensorShapeProto, shape, onnx__tensor_shape_proto__init);
    tensor->shape = shape;
    if (!shape || !(shape->dim = malloc((rank + 1) * sizeof *shape->dim)))
        return false;
    for (size_t i = 0; i < rank; i++)
        if (!add_dimension(shape, dims[i], i == 0))
            return false;
    return true;
}

void build_value(struct writer *w, Onnx__GraphProto *graph, bool is_output, const char *name,
                 const int64_t *dims, size_t rank)
{
    if (!is_well(w))
        return;
    Onnx__ValueInfoProto ***values = is_output ? &graph->output : &graph->input;
    size_t *count = is_output ? &graph->n_output : &graph->n_input;
    void *room = with_room(*values, *count);
    *values = room ? room : *values;
    MAKE(Onnx__ValueInfoProto, info, onnx__value_info_proto__init);
    if (!room || !info) {
        free(info);
        no_memory(w);
        return;
    }
    (*values)[(*count)++] = info;
    info->name = strdup(name);
    if (!info->name || !fill_type(info, dims, rank))
        no_memory(w);
}
