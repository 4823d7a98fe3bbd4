/* A graph that ends at one of its values: what only other outputs need goes, so that the record's file
 * is that of the part. */
#include "onnx/cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"

static bool is_named(const char *name, const char *wanted)
{
    return name && strcmp(name, wanted) == 0;
}

bool cut_drop_outputs(Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_output; i++)
        onnx__value_info_proto__free_unpacked(graph->output[i], NULL);
    graph->n_output = 0;
    Onnx__ValueInfoProto **output = realloc(graph->output, sizeof *output);
    graph->output = output ? output : graph->output;
    return output;
}

/* ---- Before the graph is read ---- */

static bool has_value(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_input; i++)
        if (is_named(graph->input[i]->name, name))
            return true;
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++)
            if (is_named(graph->node[i]->output[k], name))
                return true;
    return false;
}

static bool refuse_name(struct reader *r, const Onnx__GraphProto *graph)
{
    char names[240] = "";
    size_t length = 0;
    for (size_t i = 0; i < graph->n_output && length < sizeof names; i++)
        length +=
            (size_t)snprintf(names + length, sizeof names - length, "%s\"%.60s\"", i ? ", " : "",
                             graph->output[i]->name ? graph->output[i]->name : "");
    return onnx_fail(r, GLCNN_INVALID_ARGUMENT,
                     "option output is \"%.80s\", a value that no node makes; the graph's outputs "
                     "are %s",
                     r->options.output, names);
}

bool cut_begin(struct reader *r, Onnx__GraphProto *graph)
{
    struct writer w = {0};
    if (!r->options.output)
        return true;
    if (!has_value(graph, r->options.output))
        return refuse_name(r, graph);
    if (!cut_drop_outputs(graph))
        return onnx_no_memory(r);
    build_value(&w, graph, true, r->options.output, NULL, 0);
    return w.messages.status == GLCNN_SUCCESS || onnx_no_memory(r);
}

/* ---- Once it was read ---- */

static bool is_needed(const struct reader *r, const char *name)
{
    size_t index = name ? name_table_find(&r->names, name) : NO_NAME;
    return index != NO_NAME && r->values[index].is_needed;
}

static bool makes_needed(const struct reader *r, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_output; i++)
        if (is_needed(r, node->output[i]))
            return true;
    return false;
}

/* Moves what is needed to the front, in its order, and gives its number. */
#define KEEP(array, count, needed)                                                                 \
    for (size_t i = 0; i < (count); i++)                                                           \
        if (needed) {                                                                              \
            void *element = (array)[i];                                                            \
            (array)[i] = (array)[kept];                                                            \
            (array)[kept++] = element;                                                             \
        }

/* Names of values are those of nodes and initialisers: all are asked for before one is freed. */
static void drop_unneeded(const struct reader *r, Onnx__GraphProto *graph)
{
    size_t nodes = 0, tensors = 0, inputs = 0, kept = 0;
    KEEP(graph->node, graph->n_node, makes_needed(r, graph->node[i]))
    nodes = kept;
    kept = 0;
    KEEP(graph->initializer, graph->n_initializer, is_needed(r, graph->initializer[i]->name))
    tensors = kept;
    kept = 0;
    KEEP(graph->input, graph->n_input, is_needed(r, graph->input[i]->name))
    inputs = kept;
    for (size_t i = 0; i < graph->n_value_info; i++)
        onnx__value_info_proto__free_unpacked(graph->value_info[i], NULL);
    graph->n_value_info = 0;
    while (graph->n_node > nodes)
        onnx__node_proto__free_unpacked(graph->node[--graph->n_node], NULL);
    while (graph->n_initializer > tensors)
        onnx__tensor_proto__free_unpacked(graph->initializer[--graph->n_initializer], NULL);
    while (graph->n_input > inputs)
        onnx__value_info_proto__free_unpacked(graph->input[--graph->n_input], NULL);
}

bool cut_finish(struct reader *r, Onnx__GraphProto *graph)
{
    struct writer w = {0};
    if (!r->options.output)
        return true;
    size_t index = name_table_find(&r->names, r->options.output);
    const struct shape shape = index == NO_NAME ? (struct shape){0} : r->values[index].shape;
    drop_unneeded(r, graph);
    if (r->head) /* has its own */
        return true;
    if (!cut_drop_outputs(graph))
        return onnx_no_memory(r);
    build_value(&w, graph, true, r->options.output, shape.dims, shape.rank);
    return w.messages.status == GLCNN_SUCCESS || onnx_no_memory(r);
}
