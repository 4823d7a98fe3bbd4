/* Messages of a model as they are put together. protobuf-c frees what is here with free(). */
#include "onnx/build.h"

#include <stdlib.h>
#include <string.h>

#define OPSET       14
#define IR_VERSION  7
#define MOST_FIELDS 12 /* attributes of a node, and its inputs */

static void *no_memory(struct writer *w)
{
    onnx_no_memory(&w->messages);
    return NULL;
}

static bool is_well(const struct writer *w)
{
    return w->messages.status == GLCNN_SUCCESS;
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

Onnx__ModelProto *build_model(size_t most)
{
    MAKE(Onnx__ModelProto, model, onnx__model_proto__init);
    if (!model)
        return NULL;
    model->has_ir_version = true;
    model->ir_version = IR_VERSION;
    model->producer_name = strdup("glcnn");
    MAKE(Onnx__GraphProto, graph, onnx__graph_proto__init);
    model->graph = graph;
    bool made = graph && add_opset(model) && model->producer_name;
    if (made) {
        graph->name = strdup("glcnn");
        graph->node = malloc(4 * (most + 1) * sizeof *graph->node);
        graph->initializer = malloc(8 * (most + 1) * sizeof *graph->initializer);
        graph->input = malloc(4 * (most + 1) * sizeof *graph->input);
        graph->output = malloc(4 * (most + 1) * sizeof *graph->output);
        made = graph->name && graph->node && graph->initializer && graph->input && graph->output;
    }
    if (made)
        return model;
    onnx__model_proto__free_unpacked(model, NULL);
    return NULL;
}

/* ---- Nodes ---- */

Onnx__NodeProto *build_node(struct writer *w, Onnx__GraphProto *graph, const char *operator,
                            const char * output, const char *const *inputs)
{
    if (!is_well(w))
        return NULL;
    MAKE(Onnx__NodeProto, node, onnx__node_proto__init);
    if (!node)
        return no_memory(w);
    graph->node[graph->n_node++] = node;
    node->op_type = strdup(operator);
    node->name = strdup(output);
    node->output = malloc(sizeof *node->output);
    node->input = malloc(MOST_FIELDS * sizeof *node->input);
    node->attribute = malloc(MOST_FIELDS * sizeof *node->attribute);
    if (!node->op_type || !node->name || !node->output || !node->input || !node->attribute)
        return no_memory(w);
    bool whole = (node->output[node->n_output++] = strdup(output)) != NULL;
    for (; *inputs && node->n_input < MOST_FIELDS && whole; inputs++)
        whole = (node->input[node->n_input++] = strdup(*inputs)) != NULL;
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

static bool fill_wholes(Onnx__TensorProto *t, const int64_t *dims, size_t rank,
                        const int64_t *wholes)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    t->dims = malloc((rank + 1) * sizeof *t->dims);
    t->int64_data = malloc((count + 1) * sizeof *t->int64_data);
    if (!t->dims || !t->int64_data)
        return false;
    memcpy(t->dims, dims, rank * sizeof *dims);
    memcpy(t->int64_data, wholes, count * sizeof *wholes);
    t->n_dims = rank;
    t->n_int64_data = count;
    return true;
}

void build_tensor(struct writer *w, Onnx__GraphProto *graph, const char *name, const int64_t *dims,
                  size_t rank, const float *values, const int64_t *wholes)
{
    size_t count = 1;
    if (!is_well(w))
        return;
    MAKE(Onnx__TensorProto, t, onnx__tensor_proto__init);
    if (!t) {
        no_memory(w);
        return;
    }
    graph->initializer[graph->n_initializer++] = t;
    t->name = strdup(name);
    t->has_data_type = true;
    t->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    if (!t->name || (!values && !fill_wholes(t, dims, rank, wholes)))
        no_memory(w);
    else if (values)
        write_numbers(w, t, values, count, dims, rank);
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
    MAKE(Onnx__ValueInfoProto, info, onnx__value_info_proto__init);
    if (!info) {
        no_memory(w);
        return;
    }
    if (is_output)
        graph->output[graph->n_output++] = info;
    else
        graph->input[graph->n_input++] = info;
    info->name = strdup(name);
    if (!info->name || !fill_type(info, dims, rank))
        no_memory(w);
}
