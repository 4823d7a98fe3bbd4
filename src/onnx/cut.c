/* A graph that begins or ends at values within it: what no output needs goes, so that the record's file is that of
 * the part. */
#include "onnx/cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"

static bool is_named(const char *name, const char *wanted)
{
    return name && strcmp(name, wanted) == 0;
}

/* How many outputs the options name, and number i of them. */
static size_t count_outputs(const struct glcnn_onnx_options *o)
{
    return o->output ? 1 : o->output_count;
}

static const char *output_at(const struct glcnn_onnx_options *o, size_t i)
{
    const char *name = o->output ? o->output : o->outputs[i];
    return name ? name : "";
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

bool cut_has_value(const Onnx__GraphProto *graph, const char *name)
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

static bool refuse_name(struct reader *r, const Onnx__GraphProto *graph, const char *name)
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
                     name, names);
}

static bool cut_outputs(struct reader *r, Onnx__GraphProto *graph)
{
    struct writer w = {0};
    const size_t count = count_outputs(&r->options);
    for (size_t i = 0; i < count; i++)
        if (!cut_has_value(graph, output_at(&r->options, i)))
            return refuse_name(r, graph, output_at(&r->options, i));
    if (count > 0 && !cut_drop_outputs(graph))
        return onnx_no_memory(r);
    for (size_t i = 0; i < count; i++)
        build_value(&w, graph, true, output_at(&r->options, i), NULL, 0);
    return w.messages.status == GLCNN_SUCCESS || onnx_no_memory(r);
}

/* Takes the description of a value out of the graph, whose last one comes to its place; NULL: it has none. */
static Onnx__ValueInfoProto *take_description(Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_value_info; i++) {
        Onnx__ValueInfoProto *info = graph->value_info[i];
        if (is_named(info->name, name)) {
            graph->value_info[i] = graph->value_info[--graph->n_value_info];
            return info;
        }
    }
    return NULL;
}

/* Whoever makes the value goes: nodes of one output, as others' outputs would be lacking. */
static bool drop_maker(Onnx__GraphProto *graph, const char *name)
{
    size_t i = 0;
    while (i < graph->n_node &&
           !(graph->node[i]->n_output == 1 && is_named(graph->node[i]->output[0], name)))
        i++;
    if (i == graph->n_node)
        return false;
    onnx__node_proto__free_unpacked(graph->node[i], NULL);
    memmove(graph->node + i, graph->node + i + 1, (--graph->n_node - i) * sizeof(void *));
    return true;
}

static bool cut_input(struct reader *r, Onnx__GraphProto *graph)
{
    const char *name = r->options.input;
    if (!name || (graph->n_input == 1 && is_named(graph->input[0]->name, name)))
        return true;
    Onnx__ValueInfoProto *info = graph->n_input > 0 ? take_description(graph, name) : NULL;
    if (!info || !drop_maker(graph, name)) {
        if (info)
            onnx__value_info_proto__free_unpacked(info, NULL);
        return onnx_fail(
            r, GLCNN_INVALID_ARGUMENT,
            "option input is \"%.80s\", a value that is no input, and that no node makes "
            "or the file does not state the type of",
            name);
    }
    while (graph->n_input > 0)
        onnx__value_info_proto__free_unpacked(graph->input[--graph->n_input], NULL);
    graph->input[graph->n_input++] = info;
    return true;
}

bool cut_begin(struct reader *r, Onnx__GraphProto *graph)
{
    return cut_input(r, graph) && cut_outputs(r, graph);
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
    const size_t count = count_outputs(&r->options);
    if (count == 0 && !r->options.input)
        return true;
    struct shape *shapes = calloc(count + 1, sizeof *shapes);
    for (size_t i = 0; shapes && i < count; i++) {
        const size_t index = name_table_find(&r->names, output_at(&r->options, i));
        if (index != NO_NAME)
            shapes[i] = r->values[index].shape;
    }
    drop_unneeded(r, graph);
    bool good = shapes;
    if (good && count > 0 && !r->head) { /* which has its own */
        good = cut_drop_outputs(graph);
        for (size_t i = 0; good && i < count; i++)
            build_value(&w, graph, true, output_at(&r->options, i), shapes[i].dims, shapes[i].rank);
    }
    free(shapes);
    return (good && w.messages.status == GLCNN_SUCCESS) || onnx_no_memory(r);
}
