/* Branches: their nodes take the place of the node If. */
#include "onnx/branch.h"

#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/replace.h"
#include "onnx/values.h"

/* NULL, with the message: there is none, or it has other outputs. */
static Onnx__GraphProto *find_branch(struct call *call, bool is_then)
{
    const char *name = is_then ? "then_branch" : "else_branch";
    const Onnx__AttributeProto *a = attribute_find(call, name);
    if (a && a->g && a->g->n_output == call->node->n_output)
        return a->g;
    op_fail(call, GLCNN_MALFORMED_DATA, "%s is missing, or does not have %zu outputs", name,
            call->node->n_output);
    return NULL;
}

/* One number, of each image where it is computed of images. */
static bool check_condition(struct call *call, const struct value *condition)
{
    char text[96];
    if (!condition)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its condition is missing");
    const int64_t count = shape_count(&condition->shape);
    return count == 1 || (!condition->constant && count == call->reader->images) ||
           op_fail(call, GLCNN_MALFORMED_DATA, "its condition has %s numbers; expected one",
                   shape_text(&condition->shape, text));
}

/* Initialisers of the branch become the graph's. */
static bool take_tensors(struct reader *r, Onnx__GraphProto *branch)
{
    Onnx__GraphProto *graph = r->graph;
    if (!branch->n_initializer)
        return true;
    Onnx__TensorProto **all =
        realloc(graph->initializer, (graph->n_initializer + branch->n_initializer) * sizeof *all);
    if (!all)
        return onnx_no_memory(r);
    graph->initializer = all;
    while (branch->n_initializer) {
        Onnx__TensorProto *tensor = branch->initializer[--branch->n_initializer];
        all[graph->n_initializer++] = tensor;
        if (!values_name_tensor(r, tensor))
            return false;
    }
    return true;
}

/* Room for so many nodes more. */
static bool make_room(struct reader *r, Onnx__GraphProto *graph, size_t count)
{
    Onnx__NodeProto **all = realloc(graph->node, (graph->n_node + count + 1) * sizeof *all);
    if (!all)
        return onnx_no_memory(r);
    graph->node = all;
    return true;
}

/* `nodes`, then a node for each output of the If: the branch's own where one is taken. */
static bool take_nodes(struct call *call, size_t i, Onnx__GraphProto *nodes,
                       const Onnx__GraphProto *otherwise)
{
    struct writer w = {0};
    struct reader *r = call->reader;
    const Onnx__NodeProto *node = call->node;
    for (size_t k = 0; k < node->n_output; k++) {
        const char *output = text_of(node->output[k]), *then = text_of(nodes->output[k]->name);
        if (!otherwise) {
            build_node(&w, nodes, "Identity", output, (const char *[]){then, NULL});
            continue;
        }
        Onnx__NodeProto *choice = build_node(
            &w, nodes, "Where", output,
            (const char *[]){node->input[0], then, text_of(otherwise->output[k]->name), NULL});
        if (choice)
            build_int(&w, choice, OF_BRANCHES, 1);
    }
    return w.messages.status == GLCNN_SUCCESS ? replace_node(r, i, nodes) : onnx_no_memory(r);
}

/* The nodes of `from` behind those of `to`. */
static void move_nodes(Onnx__GraphProto *to, Onnx__GraphProto *from)
{
    for (size_t k = 0; k < from->n_node; k++)
        to->node[to->n_node++] = from->node[k];
    from->n_node = 0;
}

/* Both branches run, and each image of a batch has the results of its own. */
static bool inline_both(struct call *call, size_t i, size_t *count)
{
    Onnx__GraphProto *then = find_branch(call, true),
                     *other = then ? find_branch(call, false) : NULL;
    if (!other)
        return false;
    *count = then->n_node + other->n_node + call->node->n_output;
    if (!make_room(call->reader, then, other->n_node + call->node->n_output))
        return false;
    move_nodes(then, other);
    return take_tensors(call->reader, then) && take_tensors(call->reader, other) &&
           take_nodes(call, i, then, other);
}

bool branch_inline(struct call *call, size_t i, size_t *count)
{
    const struct value *condition = op_input(call, 0);
    if (!check_condition(call, condition))
        return false;
    if (!condition->constant)
        return inline_both(call, i, count);
    Onnx__GraphProto *branch = find_branch(call, constant_number(condition->constant, 0) != 0);
    if (!branch)
        return false;
    *count = branch->n_node + call->node->n_output;
    return make_room(call->reader, branch, call->node->n_output) &&
           take_tensors(call->reader, branch) && take_nodes(call, i, branch, NULL);
}
