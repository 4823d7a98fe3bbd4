/* Branches whose condition is known: their nodes take the place of the node If. */
#include "onnx/branch.h"

#include <stdlib.h>
#include <string.h>

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

/* An Identity from the branch's output to that of the node, whose name it takes over: values are
 * called by it. */
static Onnx__NodeProto *make_identity(Onnx__NodeProto *node, const Onnx__GraphProto *branch,
                                      size_t k)
{
    Onnx__NodeProto *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    onnx__node_proto__init(made);
    const char *from = branch->output[k]->name ? branch->output[k]->name : "";
    made->op_type = strdup("Identity");
    made->input = calloc(1, sizeof *made->input);
    made->output = calloc(1, sizeof *made->output);
    if (made->op_type && made->input && made->output && (made->input[0] = strdup(from))) {
        made->n_input = made->n_output = 1;
        made->output[0] = node->output[k];
        node->output[k] = NULL;
        return made;
    }
    if (made->input)
        free(made->input[0]);
    free(made->input);
    free(made->output);
    free(made->op_type);
    free(made);
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

static bool take_nodes(struct reader *r, size_t i, Onnx__GraphProto *branch)
{
    Onnx__GraphProto *graph = r->graph;
    Onnx__NodeProto *node = graph->node[i];
    const size_t inner = branch->n_node, outputs = node->n_output;
    Onnx__NodeProto **all = realloc(graph->node, (graph->n_node + inner + outputs) * sizeof *all);
    if (!all)
        return onnx_no_memory(r);
    graph->node = all;
    for (size_t k = 0; k < inner; k++)
        if (!values_name_outputs(r, branch->node[k]))
            return false;
    memmove(all + i + inner + outputs, all + i + 1, (graph->n_node - i - 1) * sizeof *all);
    graph->n_node += inner + outputs - 1;
    for (size_t k = 0; k < inner; k++)
        all[i + k] = branch->node[k];
    branch->n_node = 0;
    bool made = true;
    for (size_t k = 0; k < outputs; k++) {
        all[i + inner + k] = make_identity(node, branch, k);
        made = made && all[i + inner + k];
    }
    onnx__node_proto__free_unpacked(node, NULL);
    return made || onnx_no_memory(r);
}

bool branch_inline(struct call *call, size_t i, size_t *count)
{
    struct reader *r = call->reader;
    Onnx__GraphProto *branch = find_branch(call);
    if (!branch)
        return false;
    *count = branch->n_node + call->node->n_output;
    if (!take_tensors(r, branch) || !take_nodes(r, i, branch))
        return false;
    values_note_uses(r, i, i + *count);
    return true;
}
