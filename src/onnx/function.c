/* Functions of a model: their nodes take the place of the node that calls them. */
#include "onnx/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 16
#define MOST_NODES ((size_t)1 << 16) /* that functions add */
#define MOST_BYTES ((size_t)1 << 24) /* of those, as the file would have them */

static bool is_standard(const char *domain)
{
    return !text_of(domain)[0] || strcmp(domain, "ai.onnx") == 0;
}

struct inlining {
    struct reader *reader;
    const Onnx__ModelProto *model;
    struct name_table functions; /* by domain and name */
    char **keys;
    Onnx__NodeProto **nodes; /* of the graph, as it becomes */
    size_t count, room;
    size_t added, bytes;
    size_t calls; /* so far: the values of each have a name of their own */
};

/* ---- Which function ---- */

static char *key_of(const char *domain, const char *name)
{
    const size_t length = strlen(text_of(domain)) + strlen(text_of(name)) + 2;
    char *key = malloc(length);
    if (key)
        snprintf(key, length, "%s\n%s", is_standard(domain) ? "" : domain, text_of(name));
    return key;
}

static bool name_functions(struct inlining *in)
{
    const Onnx__ModelProto *model = in->model;
    in->keys = calloc(model->n_functions + 1, sizeof *in->keys);
    for (size_t i = 0; in->keys && i < model->n_functions; i++) {
        in->keys[i] = key_of(model->functions[i]->domain, model->functions[i]->name);
        if (!in->keys[i])
            return onnx_no_memory(in->reader);
        if (name_table_find(&in->functions, in->keys[i]) != NO_NAME)
            return onnx_fail(in->reader, GLCNN_MALFORMED_DATA, "function \"%.80s\" appears twice",
                             text_of(model->functions[i]->name));
        if (!name_table_add(&in->functions, in->keys[i], i))
            return onnx_no_memory(in->reader);
    }
    return in->keys || onnx_no_memory(in->reader);
}

/* False: no memory. *function is NULL where the node calls none. */
static bool find_function(struct inlining *in, const Onnx__NodeProto *node,
                          const Onnx__FunctionProto **function)
{
    char *key = key_of(node->domain, node->op_type);
    const size_t found = key ? name_table_find(&in->functions, key) : NO_NAME;
    *function = found == NO_NAME ? NULL : in->model->functions[found];
    free(key);
    return key || onnx_no_memory(in->reader);
}

static int64_t standard_opset(Onnx__OperatorSetIdProto *const *imports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_standard(imports[i]->domain))
            return imports[i]->version;
    return 0;
}

/* ---- Names ---- */

/* A call: its function's inputs and outputs are values of the node, other values are its own. */
struct call_names {
    const Onnx__FunctionProto *function;
    const Onnx__NodeProto *node;
    char prefix[200];
};

static bool find_name(char *const *names, size_t count, const char *name, size_t *i)
{
    for (*i = 0; *i < count; ++*i)
        if (strcmp(text_of(names[*i]), name) == 0)
            return true;
    return false;
}

/* What a value of the function is called in the graph; NULL: no memory. */
static char *renamed(const struct call_names *c, const char *name)
{
    size_t i;
    if (!name[0])
        return strdup("");
    if (find_name(c->function->input, c->function->n_input, name, &i))
        return strdup(i < c->node->n_input ? text_of(c->node->input[i]) : "");
    if (find_name(c->function->output, c->function->n_output, name, &i) && i < c->node->n_output &&
        text_of(c->node->output[i])[0])
        return strdup(c->node->output[i]);
    const size_t length = strlen(c->prefix) + strlen(name) + 1;
    char *made = malloc(length);
    if (made)
        snprintf(made, length, "%s%s", c->prefix, name);
    return made;
}

static bool rename_text(const struct call_names *c, char **text)
{
    char *name = renamed(c, text_of(*text));
    if (!name)
        return false;
    free(*text);
    *text = name;
    return true;
}

static bool rename_values(const struct call_names *c, Onnx__NodeProto *node);

/* A graph within a node, whose own values get the prefix too. */
static bool rename_graph(const struct call_names *c, Onnx__GraphProto *graph)
{
    bool well = true;
    for (size_t i = 0; well && i < graph->n_node; i++)
        well = rename_values(c, graph->node[i]);
    for (size_t i = 0; well && i < graph->n_initializer; i++)
        well = rename_text(c, &graph->initializer[i]->name);
    for (size_t i = 0; well && i < graph->n_input; i++)
        well = rename_text(c, &graph->input[i]->name);
    for (size_t i = 0; well && i < graph->n_output; i++)
        well = rename_text(c, &graph->output[i]->name);
    return well;
}

static bool rename_values(const struct call_names *c, Onnx__NodeProto *node)
{
    bool well = true;
    for (size_t i = 0; well && i < node->n_input; i++)
        well = rename_text(c, &node->input[i]);
    for (size_t i = 0; well && i < node->n_output; i++)
        well = rename_text(c, &node->output[i]);
    for (size_t i = 0; well && i < node->n_attribute; i++)
        well = !node->attribute[i]->g || rename_graph(c, node->attribute[i]->g);
    return well;
}

/* ---- Attributes ---- */

static void *copy_message(const ProtobufCMessage *message, size_t *size)
{
    *size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(*size + 1);
    if (!bytes)
        return NULL;
    protobuf_c_message_pack(message, bytes);
    void *copy = protobuf_c_message_unpack(message->descriptor, NULL, *size, bytes);
    free(bytes);
    return copy;
}

/* The caller's attribute under the name that the function's node has for it; NULL: no memory. */
static Onnx__AttributeProto *copy_attribute(struct inlining *in, const Onnx__AttributeProto *from,
                                            const char *name)
{
    size_t size;
    Onnx__AttributeProto *copy = copy_message(&from->base, &size);
    in->bytes += copy ? size : 0;
    if (!copy)
        return NULL;
    free(copy->name);
    copy->name = strdup(name);
    if (copy->name)
        return copy;
    onnx__attribute_proto__free_unpacked(copy, NULL);
    return NULL;
}

/* What refers to attributes of the call has them, in graphs of the node too. */
static bool fill_attributes(struct inlining *in, const Onnx__NodeProto *from, Onnx__NodeProto *node)
{
    struct call call = {in->reader, from, NULL};
    for (size_t i = 0; i < node->n_attribute; i++) {
        Onnx__AttributeProto *a = node->attribute[i];
        for (size_t k = 0; a->g && k < a->g->n_node; k++)
            if (!fill_attributes(in, from, a->g->node[k]))
                return false;
        if (!text_of(a->ref_attr_name)[0])
            continue;
        const Onnx__AttributeProto *given = attribute_find(&call, a->ref_attr_name);
        if (!given)
            return op_unsupported(&call,
                                  "its function needs attribute \"%.80s\", which it does not have; "
                                  "defaults of functions are not read",
                                  a->ref_attr_name);
        node->attribute[i] = copy_attribute(in, given, text_of(a->name));
        if (!node->attribute[i]) {
            node->attribute[i] = a;
            return onnx_no_memory(in->reader);
        }
        onnx__attribute_proto__free_unpacked(a, NULL);
    }
    return true;
}

/* ---- Nodes ---- */

static bool append(struct inlining *in, Onnx__NodeProto *node)
{
    if (in->count == in->room) {
        Onnx__NodeProto **more = realloc(in->nodes, 2 * in->room * sizeof *more);
        if (!more)
            return onnx_no_memory(in->reader);
        in->nodes = more;
        in->room *= 2;
    }
    in->nodes[in->count++] = node;
    return true;
}

static bool check_call(struct inlining *in, const Onnx__FunctionProto *function,
                       const Onnx__NodeProto *node, size_t depth)
{
    struct call call = {in->reader, node, NULL};
    const Onnx__ModelProto *model = in->model;
    const int64_t own = standard_opset(function->opset_import, function->n_opset_import);
    const int64_t models = standard_opset(model->opset_import, model->n_opset_import);
    if (depth == MOST_DEPTH)
        return op_fail(&call, GLCNN_MALFORMED_DATA,
                       "functions call one another more than %d deep, or themselves", MOST_DEPTH);
    if (own && own != models)
        return op_unsupported(&call, "its function is of opset %lld, the model of opset %lld",
                              (long long)own, (long long)models);
    in->added += function->n_node;
    if (in->added > MOST_NODES || in->bytes > MOST_BYTES)
        return op_fail(&call, GLCNN_LIMIT_EXCEEDED,
                       "functions make more than %zu nodes or %zu bytes of them", MOST_NODES,
                       MOST_BYTES);
    return true;
}

static bool place_node(struct inlining *in, Onnx__NodeProto *node, size_t depth);

/* A copy of a node of the function, as the call has it. */
static bool place_copy(struct inlining *in, const struct call_names *names,
                       const Onnx__NodeProto *from, size_t depth)
{
    size_t size;
    Onnx__NodeProto *copy = copy_message(&from->base, &size);
    if (!copy)
        return onnx_no_memory(in->reader);
    in->bytes += size;
    if (fill_attributes(in, names->node, copy)) {
        if (rename_values(names, copy))
            return place_node(in, copy, depth);
        onnx_no_memory(in->reader);
    }
    onnx__node_proto__free_unpacked(copy, NULL);
    return false;
}

/* The node, which this takes over, or what it calls. */
static bool place_node(struct inlining *in, Onnx__NodeProto *node, size_t depth)
{
    const Onnx__FunctionProto *function = NULL;
    bool placed =
        find_function(in, node, &function) && (!function || check_call(in, function, node, depth));
    if (placed && !function && append(in, node))
        return true;
    if (placed && function) {
        struct call_names names = {.function = function, .node = node};
        snprintf(names.prefix, sizeof names.prefix, "%.*s#%zu/",
                 name_length(text_of(node->name), 160), text_of(node->name), ++in->calls);
        for (size_t i = 0; placed && i < function->n_node; i++)
            placed = place_copy(in, &names, function->node[i], depth + 1);
    }
    onnx__node_proto__free_unpacked(node, NULL);
    return placed && function;
}

static void drop_functions(Onnx__ModelProto *model)
{
    while (model->n_functions)
        onnx__function_proto__free_unpacked(model->functions[--model->n_functions], NULL);
}

static bool place_nodes(struct inlining *in, Onnx__GraphProto *graph)
{
    in->room = 2 * graph->n_node + 16;
    in->nodes = malloc(in->room * sizeof *in->nodes);
    if (!in->nodes)
        return onnx_no_memory(in->reader);
    size_t i = 0;
    bool placed = true;
    for (; placed && i < graph->n_node; i++)
        placed = place_node(in, graph->node[i], 0);
    for (; i < graph->n_node; i++)
        onnx__node_proto__free_unpacked(graph->node[i], NULL);
    free(graph->node);
    graph->node = in->nodes;
    graph->n_node = in->count;
    return placed;
}

bool function_inline(struct reader *reader, Onnx__ModelProto *model)
{
    struct inlining in = {.reader = reader, .model = model};
    if (!model->n_functions)
        return true;
    bool done = name_functions(&in) && place_nodes(&in, model->graph);
    for (size_t i = 0; in.keys && i < model->n_functions; i++)
        free(in.keys[i]);
    free(in.keys);
    name_table_free(&in.functions);
    drop_functions(model);
    return done;
}
