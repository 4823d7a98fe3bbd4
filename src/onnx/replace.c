/* Nodes that take the place of another one while a graph is read. */
#include "onnx/replace.h"

#include <stdlib.h>
#include <string.h>

#include "onnx/values.h"

/* Values are called by the texts of the node that makes them: who makes one of the old node's takes
 * over its text. Says whether output k is one. */
static bool take_over(Onnx__NodeProto *old, Onnx__NodeProto *node, size_t k)
{
    for (size_t j = 0; j < old->n_output; j++) {
        if (!old->output[j] || strcmp(old->output[j], node->output[k]) != 0)
            continue;
        free(node->output[k]);
        node->output[k] = old->output[j];
        old->output[j] = NULL;
        return true;
    }
    return false;
}

static bool name_nodes(struct reader *r, Onnx__NodeProto *old, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        Onnx__NodeProto *node = r->graph->node[i];
        for (size_t k = 0; k < node->n_output; k++)
            if (!take_over(old, node, k) && !values_name_output(r, node, k))
                return false;
    }
    return true;
}

bool replace_node(struct reader *r, size_t i, Onnx__GraphProto *by)
{
    Onnx__GraphProto *graph = r->graph;
    Onnx__NodeProto *old = graph->node[i];
    const size_t count = by->n_node;
    Onnx__NodeProto **all = realloc(graph->node, (graph->n_node + count) * sizeof *all);
    if (!all)
        return onnx_no_memory(r);
    graph->node = all;
    memmove(all + i + count, all + i + 1, (graph->n_node - i - 1) * sizeof *all);
    memcpy(all + i, by->node, count * sizeof *all);
    graph->n_node += count - 1;
    by->n_node = 0;
    const bool named = name_nodes(r, old, i, i + count);
    if (named)
        values_note_uses(r, i, i + count);
    onnx__node_proto__free_unpacked(old, NULL);
    return named;
}
