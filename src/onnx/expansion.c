/* Operators of whole numbers, which are short forms of others: their inputs become reals, and what they
 * make of those is rounded where they say so. */
#include "onnx/expansion.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/replace.h"

enum { ALWAYS, WITH, WITHOUT }; /* an input of the short form */

/* A node. Inputs are digits, those of the short form, or letters, what other steps make; '=' is the
 * result. */
struct step {
    const char *operator, * inputs;
    char output;
    uint8_t when, input;
    bool is_main; /* has the short form's name and attributes */
    const char *attribute;
    int64_t number;
};

enum { MOST_STEPS = 9 };

static const struct expansion {
    const char *name;
    struct step steps[MOST_STEPS];
} expansions[] = {
    {"ConvInteger",
     {{"Cast", "0", 'a', ALWAYS, 0, false, "to", 1},
      {"Cast", "2", 'z', WITH, 2, false, "to", 1},
      {"Sub", "az", 'x', WITH, 2, false, NULL, 0},
      {"Identity", "a", 'x', WITHOUT, 2, false, NULL, 0},
      {"Constant", "", 'o', WITH, 3, false, "value_float", 1},
      {"DequantizeLinear", "1o3", 'w', WITH, 3, false, "axis", 0},
      {"Cast", "1", 'w', WITHOUT, 3, false, "to", 1},
      {"Conv", "xw", '=', ALWAYS, 0, true, NULL, 0}}},
    {"MatMulInteger",
     {{"Cast", "0", 'a', ALWAYS, 0, false, "to", 1},
      {"Cast", "2", 'z', WITH, 2, false, "to", 1},
      {"Sub", "az", 'x', WITH, 2, false, NULL, 0},
      {"Identity", "a", 'x', WITHOUT, 2, false, NULL, 0},
      {"Constant", "", 'o', WITH, 3, false, "value_float", 1},
      {"DequantizeLinear", "1o3", 'w', WITH, 3, false, "axis", -1},
      {"Cast", "1", 'w', WITHOUT, 3, false, "to", 1},
      {"MatMul", "xw", '=', ALWAYS, 0, true, NULL, 0}}},
    {"QLinearConv",
     {{"DequantizeLinear", "012", 'x', ALWAYS, 0, false, NULL, 0},
      {"DequantizeLinear", "345", 'w', ALWAYS, 0, false, "axis", 0},
      {"Mul", "14", 's', WITH, 8, false, NULL, 0},
      {"Cast", "8", 'c', WITH, 8, false, "to", 1},
      {"Mul", "cs", 'b', WITH, 8, false, NULL, 0},
      {"Conv", "xwb", 'y', WITH, 8, true, NULL, 0},
      {"Conv", "xw", 'y', WITHOUT, 8, true, NULL, 0},
      {"QuantizeLinear", "y67", '=', ALWAYS, 0, false, NULL, 0}}},
    {"QLinearMatMul",
     {{"DequantizeLinear", "012", 'x', ALWAYS, 0, false, NULL, 0},
      {"DequantizeLinear", "345", 'w', ALWAYS, 0, false, "axis", -1},
      {"MatMul", "xw", 'y', ALWAYS, 0, true, NULL, 0},
      {"QuantizeLinear", "y67", '=', ALWAYS, 0, false, NULL, 0}}},
};

static const struct expansion *find_expansion(const Onnx__NodeProto *node)
{
    for (size_t i = 0; i < sizeof expansions / sizeof *expansions; i++)
        if (node->op_type && strcmp(expansions[i].name, node->op_type) == 0)
            return &expansions[i];
    return NULL;
}

size_t expansion_values(const Onnx__NodeProto *node)
{
    return find_expansion(node) ? MOST_STEPS : 0;
}

/* ---- Names ---- */

struct names {
    const Onnx__NodeProto *node;
    size_t room; /* of a name */
    char *texts; /* names of letters, one behind the other */
};

static const char *input_name(const struct names *n, size_t i)
{
    return i < n->node->n_input && n->node->input[i] ? n->node->input[i] : "";
}

/* What a digit, a letter or '=' stands for. */
static const char *name_of(const struct names *n, char symbol)
{
    if (isdigit((unsigned char)symbol))
        return input_name(n, (size_t)(symbol - '0'));
    if (symbol == '=')
        return n->node->output[0];
    return n->texts + (size_t)(symbol - 'a') * n->room;
}

static bool make_names(struct names *n, const Onnx__NodeProto *node)
{
    *n = (struct names){.node = node, .room = strlen(node->output[0]) + 3};
    n->texts = malloc(26 * n->room);
    for (size_t i = 0; n->texts && i < 26; i++)
        snprintf(n->texts + i * n->room, n->room, "%s/%c", node->output[0], (char)('a' + (char)i));
    return n->texts;
}

/* ---- Nodes ---- */

static bool applies(const struct names *n, const struct step *step)
{
    const bool is_there = input_name(n, step->input)[0] != '\0';
    return step->when == ALWAYS || is_there == (step->when == WITH);
}

/* The name and the attributes, which the short form loses. */
static bool take_main(Onnx__NodeProto *made, Onnx__NodeProto *from)
{
    char *name = strdup(from->name && from->name[0] ? from->name : from->output[0]);
    if (!name)
        return false;
    free(made->name);
    free(made->attribute);
    made->name = name;
    made->attribute = from->attribute;
    made->n_attribute = from->n_attribute;
    from->attribute = NULL;
    from->n_attribute = 0;
    return true;
}

static bool make_node(struct writer *w, Onnx__GraphProto *graph, const struct names *n,
                      const struct step *step, Onnx__NodeProto *from)
{
    const char *inputs[4] = {NULL};
    for (size_t i = 0; step->inputs[i]; i++)
        inputs[i] = name_of(n, step->inputs[i]);
    Onnx__NodeProto *node = build_node(w, graph, step->operator, name_of(n, step->output), inputs);
    if (!node)
        return false;
    if (step->is_main)
        return take_main(node, from);
    if (step->attribute && strcmp(step->attribute, "value_float") == 0)
        build_float(w, node, step->attribute, (float)step->number);
    else if (step->attribute)
        build_int(w, node, step->attribute, step->number);
    return w->messages.status == GLCNN_SUCCESS;
}

static bool make_nodes(Onnx__GraphProto *graph, const struct expansion *e, Onnx__NodeProto *from)
{
    struct writer w = {0};
    struct names names;
    bool made = make_names(&names, from);
    for (size_t i = 0; made && i < MOST_STEPS && e->steps[i].operator; i++)
        made = !applies(&names, &e->steps[i]) || make_node(&w, graph, &names, &e->steps[i], from);
    free(names.texts);
    return made;
}

bool expansion_inline(struct call *call, size_t i, size_t *count)
{
    struct reader *r = call->reader;
    Onnx__NodeProto *node = r->graph->node[i];
    Onnx__GraphProto made;
    if (node->n_output != 1)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has %zu outputs; expected one",
                       node->n_output);
    onnx__graph_proto__init(&made);
    made.node = malloc(MOST_STEPS * sizeof *made.node);
    bool done = made.node && make_nodes(&made, find_expansion(node), node);
    *count = made.n_node;
    done = done ? replace_node(r, i, &made) : onnx_no_memory(r);
    for (size_t k = 0; k < made.n_node; k++)
        onnx__node_proto__free_unpacked(made.node[k], NULL);
    free(made.node);
    return done;
}
