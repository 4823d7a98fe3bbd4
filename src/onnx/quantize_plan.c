/* Which nodes and values of a model become int8, and which values share a scale. */
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/order.h"
#include "onnx/quantize.h"

static const struct {
    const char *operator;
    enum role role;
} operators[] = {{"Conv", ROLE_LAYER},
                 {"ConvTranspose", ROLE_LAYER},
                 {"Gemm", ROLE_LAYER},
                 {"MatMul", ROLE_LAYER},
                 {"MaxPool", ROLE_MOVE},
                 {"AveragePool", ROLE_MOVE},
                 {"Resize", ROLE_MOVE},
                 {"Reshape", ROLE_MOVE},
                 {"Flatten", ROLE_MOVE},
                 {"Transpose", ROLE_MOVE},
                 {"Squeeze", ROLE_MOVE},
                 {"Unsqueeze", ROLE_MOVE},
                 {"Slice", ROLE_MOVE},
                 {"Split", ROLE_MOVE},
                 {"Pad", ROLE_MOVE},
                 {"Expand", ROLE_MOVE},
                 {"Identity", ROLE_MOVE},
                 {"DepthToSpace", ROLE_MOVE},
                 {"SpaceToDepth", ROLE_MOVE},
                 {"Concat", ROLE_JOIN},
                 {"Add", ROLE_PAIR},
                 {"Sub", ROLE_PAIR},
                 {"Mul", ROLE_PAIR},
                 {"PRelu", ROLE_PAIR},
                 {"Relu", ROLE_RECTIFIER},
                 {"Clip", ROLE_RECTIFIER},
                 {"Sigmoid", ROLE_CURVE},
                 {"Tanh", ROLE_CURVE},
                 {"LeakyRelu", ROLE_CURVE},
                 {"Elu", ROLE_CURVE},
                 {"HardSigmoid", ROLE_CURVE},
                 {"HardSwish", ROLE_CURVE},
                 {"Softmax", ROLE_CURVE},
                 {"ReduceMean", ROLE_MEAN},
                 {"GlobalAveragePool", ROLE_MEAN}};

/* These make whole numbers or truths, which no scale is for. */
static const char *const makes_whole[] = {
    "Shape", "Size",           "ArgMax",  "ArgMin",      "Greater",           "Less",
    "Equal", "GreaterOrEqual", "NonZero", "LessOrEqual", "NonMaxSuppression", NULL};

/* ---- Values ---- */

size_t quantizing_value(const struct quantizing *q, const char *name)
{
    return text_of(name)[0] ? name_table_find(&q->names, name) : NOWHERE;
}

static bool add_value(struct quantizing *q, const char *name, size_t maker)
{
    if (!text_of(name)[0])
        return true;
    if (quantizing_value(q, name) != NOWHERE)
        return onnx_fail(&q->writer.messages, GLCNN_MALFORMED_DATA,
                         "two values of the model are called \"%.80s\"", name);
    q->values[q->value_count] = (struct quantized_value){
        .name = name, .maker = maker, .group = q->value_count, .range = NOWHERE};
    return name_table_add(&q->names, name, q->value_count++) || onnx_no_memory(&q->writer.messages);
}

static void count_read(void *context, const char *name)
{
    struct quantizing *q = context;
    const size_t value = quantizing_value(q, name);
    if (value != NOWHERE)
        q->values[value].readers++;
}

static size_t most_values(const Onnx__GraphProto *graph)
{
    size_t count = graph->n_input + 1;
    for (size_t i = 0; i < graph->n_node; i++)
        count += graph->node[i]->n_output;
    return count;
}

/* An input that an initialiser gives a default is a constant. */
static bool find_inputs(struct quantizing *q)
{
    for (size_t i = 0; i < q->graph->n_input; i++) {
        const char *name = text_of(q->graph->input[i]->name);
        if (name_table_find(&q->tensors, name) == NO_NAME && !add_value(q, name, NOWHERE))
            return false;
    }
    return true;
}

bool quantizing_find_values(struct quantizing *q)
{
    const Onnx__GraphProto *graph = q->graph;
    q->values = calloc(most_values(graph), sizeof *q->values);
    if (!q->values)
        return onnx_no_memory(&q->writer.messages);
    bool good = find_inputs(q);
    for (size_t i = 0; good && i < graph->n_node; i++) {
        order_reads(graph->node[i], count_read, q);
        for (size_t k = 0; good && k < graph->node[i]->n_output; k++)
            good = add_value(q, graph->node[i]->output[k], i);
    }
    for (size_t i = 0; good && i < graph->n_output; i++) {
        const size_t value = quantizing_value(q, graph->output[i]->name);
        if (value != NOWHERE)
            q->values[value].is_output = true;
    }
    return good;
}

/* ---- Roles ---- */

/* Has the input numbers of another type than float32? */
static bool is_whole_input(const struct quantizing *q, const char *name)
{
    for (size_t i = 0; i < q->graph->n_input; i++) {
        const Onnx__ValueInfoProto *info = q->graph->input[i];
        const Onnx__TypeProto__Tensor *tensor = described_tensor(info);
        if (strcmp(text_of(info->name), name) == 0)
            return !tensor || tensor->elem_type != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    }
    return false;
}

static enum role find_role(const struct quantizing *q, const Onnx__NodeProto *node)
{
    struct channels channels;
    const char *type = text_of(node->op_type);
    enum role role = ROLE_FLOAT;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(operators[i].operator, type) == 0)
            role = operators[i].role;
    if (role != ROLE_LAYER || quantizing_channels(q, node, &channels))
        return role;
    return strcmp(type, "MatMul") == 0 ? ROLE_PAIR : ROLE_FLOAT;
}

size_t quantizing_sources(const Onnx__NodeProto *node, enum role role)
{
    const size_t most = role == ROLE_JOIN ? SIZE_MAX : role == ROLE_PAIR ? 2 : 1;
    return node->n_input < most ? node->n_input : most;
}

static size_t source_of(const struct quantizing *q, const Onnx__NodeProto *node, size_t i)
{
    return i < node->n_input ? quantizing_value(q, node->input[i]) : NOWHERE;
}

/* ---- Which nodes ---- */

static void mark(struct quantizing *q, const Onnx__NodeProto *node,
                 const struct quantized_value *to)
{
    for (size_t k = 0; k < node->n_output; k++) {
        const size_t value = quantizing_value(q, node->output[k]);
        if (value == NOWHERE)
            continue;
        q->values[value].is_whole = to->is_whole;
        q->values[value].is_behind = to->is_behind;
        q->values[value].is_moved = to->is_moved;
    }
}

/* Marks, in the order of nodes, what is behind a layer, and what only moves lead to. */
static void look_ahead(struct quantizing *q)
{
    for (size_t i = 0; i < q->value_count && q->values[i].maker == NOWHERE; i++) {
        q->values[i].is_whole = is_whole_input(q, q->values[i].name);
        q->values[i].is_moved = !q->values[i].is_whole;
    }
    for (size_t i = 0; i < q->graph->n_node; i++) {
        const Onnx__NodeProto *node = q->graph->node[i];
        const enum role role = q->roles[i];
        struct quantized_value all = {.is_moved = role == ROLE_MOVE,
                                      .is_behind = role == ROLE_LAYER,
                                      .is_whole =
                                          text_is_one_of(text_of(node->op_type), makes_whole)};
        for (size_t k = 0; k < quantizing_sources(node, role); k++) {
            const size_t source = source_of(q, node, k);
            const struct quantized_value *v = source == NOWHERE ? NULL : &q->values[source];
            all.is_moved = all.is_moved && v && v->is_moved;
            all.is_behind = all.is_behind || (v && v->is_behind);
            all.is_whole = all.is_whole || (v && v->is_whole);
        }
        if (strcmp(text_of(node->op_type), "Cast") == 0)
            all.is_whole = quantizing_int(node, "to", 0) != ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
        mark(q, node, &all);
    }
}

/* Marks, against the order of nodes, what is before a layer. */
static void look_back(struct quantizing *q)
{
    for (size_t i = q->graph->n_node; i-- > 0;) {
        const Onnx__NodeProto *node = q->graph->node[i];
        bool leads = q->roles[i] == ROLE_LAYER;
        for (size_t k = 0; k < node->n_output && !leads; k++) {
            const size_t value = quantizing_value(q, node->output[k]);
            leads = value != NOWHERE && q->values[value].is_before;
        }
        for (size_t k = 0; leads && k < node->n_input; k++) {
            const size_t source = source_of(q, node, k);
            if (source != NOWHERE)
                q->values[source].is_before = true;
        }
    }
}

/* Is every source made by a node that is int8, none of them a constant? */
static bool goes_on(const struct quantizing *q, const Onnx__NodeProto *node, enum role role)
{
    for (size_t k = 0; k < quantizing_sources(node, role); k++) {
        const size_t source = source_of(q, node, k);
        const size_t maker = source == NOWHERE ? NOWHERE : q->values[source].maker;
        if (maker == NOWHERE || q->roles[maker] == ROLE_FLOAT)
            return false;
    }
    return true;
}

static bool may_end(const Onnx__NodeProto *node, enum role role)
{
    return role == ROLE_MOVE || role == ROLE_RECTIFIER || role == ROLE_MEAN ||
           strcmp(text_of(node->op_type), "Add") == 0;
}

static bool is_int8(const struct quantizing *q, const Onnx__NodeProto *node, enum role role)
{
    const size_t result = node->n_output ? quantizing_value(q, node->output[0]) : NOWHERE;
    const struct quantized_value *v = result == NOWHERE ? NULL : &q->values[result];
    if (!v || role == ROLE_FLOAT || v->is_whole)
        return false;
    if (role == ROLE_LAYER)
        return source_of(q, node, 0) != NOWHERE;
    if (v->is_before)
        return v->is_behind || v->is_moved;
    return may_end(node, role) && goes_on(q, node, role);
}

/* ---- Which values ---- */

static size_t root_of(struct quantizing *q, size_t value)
{
    while (q->values[value].group != value)
        value = q->values[value].group;
    return value;
}

static void join(struct quantizing *q, size_t a, size_t b)
{
    a = root_of(q, a);
    b = root_of(q, b);
    if (a < b)
        q->values[b].group = a;
    else
        q->values[a].group = b;
}

static void take_value(struct quantizing *q, size_t value)
{
    if (q->values[value].range == NOWHERE)
        q->values[value].range = q->range_count++;
}

/* Sources before results, so that ranges are in the order of the graph. */
static void take_values(struct quantizing *q, const Onnx__NodeProto *node, enum role role)
{
    const bool shares = role == ROLE_MOVE || role == ROLE_JOIN;
    const size_t result = quantizing_value(q, node->output[0]);
    for (size_t k = 0; k < quantizing_sources(node, role); k++) {
        const size_t source = source_of(q, node, k);
        if (source == NOWHERE)
            continue;
        take_value(q, source);
        if (shares)
            join(q, source, result);
    }
    for (size_t k = 0; k < node->n_output; k++) {
        const size_t value = quantizing_value(q, node->output[k]);
        if (value == NOWHERE)
            continue;
        take_value(q, value);
        if (shares)
            join(q, value, result);
    }
}

static void note_floats(struct quantizing *q)
{
    for (size_t i = 0; i < q->graph->n_node; i++) {
        const Onnx__NodeProto *node = q->graph->node[i];
        const size_t result = node->n_output ? quantizing_value(q, node->output[0]) : NOWHERE;
        const struct quantized_value *v = result == NOWHERE ? NULL : &q->values[result];
        if (v && q->roles[i] == ROLE_FLOAT && v->is_before && v->is_behind && !v->is_whole)
            quantizing_note(q, "%s \"%.80s\" stays float32 between int8 layers",
                            text_of(node->op_type), text_of(node->name));
    }
}

bool quantizing_plan(struct quantizing *q)
{
    Onnx__GraphProto *graph = q->graph;
    size_t layers = 0;
    q->roles = calloc(graph->n_node + 1, sizeof *q->roles);
    if (!q->roles)
        return onnx_no_memory(&q->writer.messages);
    if (!quantizing_find_values(q))
        return false;
    for (size_t i = 0; i < graph->n_node; i++)
        q->roles[i] = find_role(q, graph->node[i]);
    look_ahead(q);
    look_back(q);
    for (size_t i = 0; i < graph->n_node; i++) {
        if (!is_int8(q, graph->node[i], q->roles[i]))
            q->roles[i] = ROLE_FLOAT;
        else
            take_values(q, graph->node[i], q->roles[i]);
        layers += q->roles[i] == ROLE_LAYER;
    }
    for (size_t i = 0; i < q->value_count; i++)
        q->values[i].group = root_of(q, i);
    note_floats(q);
    return layers > 0 ? quantizing_is_well(q)
                      : onnx_fail(&q->writer.messages, GLCNN_UNSUPPORTED,
                                  "the model has no layer of weights that could be int8");
}
