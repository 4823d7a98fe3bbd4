/* Branches whose condition is known: their nodes take the place of the node If. */
#include "onnx/branch.h"

#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/replace.h"
#include "onnx/values.h"

/* The branch that is taken; NULL, with the message: there is none, or it has other outputs. */
static Onnx__GraphProto *find_branch(struct call *call)
{
    const struct constant *condition;
    if (!op_constant(call, 0, true, &condition))
        return NULL;
    if (condition->count != 1) {
        op_fail(call, GLCNN_MALFORMED_DATA, "its condition has %zu numbers; expected one",
                condition->count);
        return NULL;
    }
    const char *name = constant_number(condition, 0) != 0 ? "then_branch" : "else_branch";
    const Onnx__AttributeProto *a = attribute_find(call, name);
    if (a && a->g && a->g->n_output == call->node->n_output)
        return a->g;
    op_fail(call, GLCNN_MALFORMED_DATA, "%s is missing, or does not have %zu outputs", name,
            call->node->n_output);
    return NULL;
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

/* The branch's nodes, and one Identity for each output of the node. */
static bool take_nodes(struct reader *r, size_t i, Onnx__GraphProto *branch)
{
    struct writer w = {0};
    const Onnx__NodeProto *node = r->graph->node[i];
    const size_t inner = branch->n_node, outputs = node->n_output;
    Onnx__NodeProto **all = realloc(branch->node, (inner + outputs + 1) * sizeof *all);
    if (!all)
        return onnx_no_memory(r);
    branch->node = all;
    for (size_t k = 0; k < outputs; k++)
        build_node(&w, branch, "Identity", node->output[k] ? node->output[k] : "",
                   (const char *[]){branch->output[k]->name ? branch->output[k]->name : "", NULL});
    return branch->n_node == inner + outputs && w.messages.status == GLCNN_SUCCESS
               ? replace_node(r, i, branch)
               : onnx_no_memory(r);
}

bool branch_inline(struct call *call, size_t i, size_t *count)
{
    struct reader *r = call->reader;
    Onnx__GraphProto *branch = find_branch(call);
    if (!branch)
        return false;
    *count = branch->n_node + call->node->n_output;
    return take_tensors(r, branch) && take_nodes(r, i, branch);
}
