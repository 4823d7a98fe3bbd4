/* A graph without what its outputs do not need: numbers that filters have in another form leave the
 * nodes that computed them, and what those read, behind. */
#include "onnx/prune.h"

#include <string.h>

#include "onnx/order.h"

struct pruning {
    struct name_table needed; /* values */
    bool has_memory;
};

static void need(void *context, const char *name)
{
    struct pruning *p = context;
    if (p->has_memory && name && name_table_find(&p->needed, name) == NO_NAME)
        p->has_memory = name_table_add(&p->needed, name, 0);
}

static bool is_needed(const struct pruning *p, const char *name)
{
    return name && name_table_find(&p->needed, name) != NO_NAME;
}

static bool makes_needed(const struct pruning *p, const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < node->n_output; i++)
        if (is_needed(p, node->output[i]))
            return true;
    return false;
}

/* Nodes stand behind what they read, so that one pass finds all; another one proves it. */
static void find_needed(struct pruning *p, const Onnx__GraphProto *graph)
{
    size_t before;
    for (size_t i = 0; i < graph->n_output; i++)
        need(p, graph->output[i]->name);
    do {
        before = p->needed.count;
        for (size_t i = graph->n_node; i-- > 0;)
            if (makes_needed(p, graph->node[i]))
                order_reads(graph->node[i], need, p);
    } while (p->has_memory && p->needed.count > before);
}

static bool gave_default(const struct pruning *p, const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer && name && !is_needed(p, name); i++)
        if (graph->initializer[i]->name && strcmp(graph->initializer[i]->name, name) == 0)
            return true;
    return false;
}

/* Moves what is kept to the front, in its order, and gives its number. */
#define KEEP(kept, array, count, is_kept)                                                          \
    for (size_t i = 0; i < (count); i++)                                                           \
        if (is_kept) {                                                                             \
            void *element = (array)[i];                                                            \
            (array)[i] = (array)[kept];                                                            \
            (array)[kept++] = element;                                                             \
        }

/* The names that were noted are the graph's own: all are asked for before one is freed. */
static void drop_rest(const struct pruning *p, Onnx__GraphProto *graph)
{
    size_t nodes = 0, tensors = 0, inputs = 0, infos = 0;
    KEEP(inputs, graph->input, graph->n_input, !gave_default(p, graph, graph->input[i]->name))
    KEEP(nodes, graph->node, graph->n_node, makes_needed(p, graph->node[i]))
    KEEP(tensors, graph->initializer, graph->n_initializer,
         is_needed(p, graph->initializer[i]->name))
    KEEP(infos, graph->value_info, graph->n_value_info, is_needed(p, graph->value_info[i]->name))
    while (graph->n_input > inputs)
        onnx__value_info_proto__free_unpacked(graph->input[--graph->n_input], NULL);
    while (graph->n_node > nodes)
        onnx__node_proto__free_unpacked(graph->node[--graph->n_node], NULL);
    while (graph->n_initializer > tensors)
        onnx__tensor_proto__free_unpacked(graph->initializer[--graph->n_initializer], NULL);
    while (graph->n_value_info > infos)
        onnx__value_info_proto__free_unpacked(graph->value_info[--graph->n_value_info], NULL);
}

bool prune_graph(Onnx__GraphProto *graph)
{
    struct pruning p = {.has_memory = true};
    find_needed(&p, graph);
    if (p.has_memory)
        drop_rest(&p, graph);
    name_table_free(&p.needed);
    return p.has_memory;
}
