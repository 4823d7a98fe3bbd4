/* Nodes in an order in which values are made before they are read: ONNX asks files for it, and not
 * all converters keep to it. */
#include "onnx/order.h"

#include <stdlib.h>
#include <string.h>

#define NO_NODE SIZE_MAX

void order_reads(const Onnx__NodeProto *node, read_function *read, void *context)
{
    for (size_t i = 0; i < node->n_input; i++)
        if (node->input[i] && node->input[i][0])
            read(context, node->input[i]);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__GraphProto *graph = node->attribute[i]->g;
        for (size_t k = 0; graph && k < graph->n_node; k++)
            order_reads(graph->node[k], read, context);
        for (size_t k = 0; graph && k < graph->n_output; k++)
            if (graph->output[k]->name)
                read(context, graph->output[k]->name);
    }
}

enum state { UNSEEN, OPEN, DONE };

struct ordering {
    struct reader *reader;
    size_t *maker; /* of each value: its node, or NO_NODE */
    size_t *reads; /* values that node i reads: from reads[begin[i]] up to reads[begin[i + 1]] */
    size_t *begin;
    size_t *next; /* of each node: which of those is looked at next */
    uint8_t *state;
    size_t *stack, depth; /* nodes that wait for what they read */
    Onnx__NodeProto **sorted;
    size_t count;
};

static void count_read(void *context, const char *name)
{
    size_t *count = context;
    (void)name;
    ++*count;
}

struct filling {
    const struct reader *reader;
    size_t *reads, count;
};

static void fill_read(void *context, const char *name)
{
    struct filling *f = context;
    size_t value = name_table_find(&f->reader->names, name);
    if (value != NO_NAME)
        f->reads[f->count++] = value;
}

static bool make_room(struct ordering *o)
{
    const Onnx__GraphProto *graph = o->reader->graph;
    size_t nodes = graph->n_node, reads = 0;
    for (size_t i = 0; i < nodes; i++)
        order_reads(graph->node[i], count_read, &reads);
    o->maker = malloc((o->reader->names.count + 1) * sizeof *o->maker);
    o->begin = malloc((nodes + 1) * sizeof *o->begin);
    o->reads = malloc((reads + 1) * sizeof *o->reads);
    o->next = malloc((nodes + 1) * sizeof *o->next);
    o->state = calloc(nodes + 1, sizeof *o->state);
    o->stack = malloc((nodes + 1) * sizeof *o->stack);
    o->sorted = malloc((nodes + 1) * sizeof(Onnx__NodeProto *));
    return o->maker && o->begin && o->reads && o->next && o->state && o->stack && o->sorted;
}

static void note_makers(struct ordering *o)
{
    const Onnx__GraphProto *graph = o->reader->graph;
    for (size_t i = 0; i < o->reader->names.count; i++)
        o->maker[i] = NO_NODE;
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++) {
            const char *name = graph->node[i]->output[k];
            size_t value = name ? name_table_find(&o->reader->names, name) : NO_NAME;
            if (value != NO_NAME)
                o->maker[value] = i;
        }
}

static void note_reads(struct ordering *o)
{
    const Onnx__GraphProto *graph = o->reader->graph;
    struct filling f = {o->reader, o->reads, 0};
    for (size_t i = 0; i < graph->n_node; i++) {
        o->begin[i] = o->next[i] = f.count;
        order_reads(graph->node[i], fill_read, &f);
    }
    o->begin[graph->n_node] = f.count;
}

static void open_node(struct ordering *o, size_t node)
{
    o->state[node] = OPEN;
    o->stack[o->depth++] = node;
}

static void close_node(struct ordering *o, size_t node)
{
    o->state[node] = DONE;
    o->depth--;
    o->sorted[o->count++] = o->reader->graph->node[node];
}

static bool refuse_cycle(struct ordering *o, size_t node, size_t value)
{
    struct call call = {o->reader, o->reader->graph->node[node], NULL};
    return op_fail(&call, GLCNN_MALFORMED_DATA,
                   "it reads \"%.80s\", which depends on what it makes: nodes are in a cycle",
                   o->reader->values[value].name);
}

/* The node, behind all that it depends on. */
static bool place_node(struct ordering *o, size_t root)
{
    for (open_node(o, root); o->depth;) {
        size_t node = o->stack[o->depth - 1];
        if (o->next[node] == o->begin[node + 1]) {
            close_node(o, node);
            continue;
        }
        size_t value = o->reads[o->next[node]++], maker = o->maker[value];
        if (maker == NO_NODE || o->state[maker] == DONE)
            continue;
        if (o->state[maker] == OPEN)
            return refuse_cycle(o, node, value);
        open_node(o, maker);
    }
    return true;
}

static bool sort_nodes(struct ordering *o)
{
    Onnx__GraphProto *graph = o->reader->graph;
    note_makers(o);
    note_reads(o);
    for (size_t i = 0; i < graph->n_node; i++)
        if (o->state[i] == UNSEEN && !place_node(o, i))
            return false;
    if (o->count)
        memcpy(graph->node, o->sorted, o->count * sizeof(Onnx__NodeProto *));
    return true;
}

bool order_nodes(struct reader *reader)
{
    struct ordering o = {.reader = reader};
    bool sorted = make_room(&o) ? sort_nodes(&o) : onnx_no_memory(reader);
    free(o.maker);
    free(o.begin);
    free(o.reads);
    free(o.next);
    free(o.state);
    free(o.stack);
    free(o.sorted);
    return sorted;
}
