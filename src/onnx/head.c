/* The mean of each channel, and a fully connected layer: nodes as a file has them, so that all that
 * follows, a head of other classes and the file that is written, is as for a model that had one. */
#include "onnx/head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/build.h"
#include "onnx/cut.h"

#define CLASSES_MOST 65535
#define WEIGHTS_MOST ((int64_t)1 << 24)

static bool make_room(Onnx__GraphProto *graph, size_t nodes, size_t initializers)
{
    Onnx__NodeProto **node = realloc(graph->node, (graph->n_node + nodes) * sizeof *node);
    graph->node = node ? node : graph->node;
    Onnx__TensorProto **tensor =
        realloc(graph->initializer, (graph->n_initializer + initializers) * sizeof *tensor);
    graph->initializer = tensor ? tensor : graph->initializer;
    return node && tensor;
}

static void add_nodes(struct writer *w, Onnx__GraphProto *graph, const char *from)
{
    build_node(w, graph, "GlobalAveragePool", "head.mean", (const char *[]){from, NULL});
    build_node(w, graph, "Flatten", "head.features", (const char *[]){"head.mean", NULL});
    Onnx__NodeProto *layer =
        build_node(w, graph, "Gemm", "head",
                   (const char *[]){"head.features", "head.weights", "head.biases", NULL});
    build_int(w, layer, "transB", 1);
}

bool head_add(struct reader *r, Onnx__GraphProto *graph)
{
    struct writer w = {0};
    const int64_t classes = r->options.head_classes, none[] = {classes, 0}, scores[] = {1, classes};
    if (!classes)
        return true;
    if (classes > CLASSES_MOST)
        return onnx_fail(r, GLCNN_INVALID_ARGUMENT, "head_classes is %" PRId64 ", above %d",
                         classes, CLASSES_MOST);
    if (!graph->n_output)
        return onnx_fail(r, GLCNN_MALFORMED_DATA, "the graph has no output");
    float *zeros = calloc((size_t)classes, sizeof *zeros);
    const Onnx__ValueInfoProto *last = graph->output[graph->n_output - 1];
    bool made = zeros && make_room(graph, 3, 2);
    if (made) {
        add_nodes(&w, graph, last->name ? last->name : "");
        build_tensor(&w, graph, "head.weights", none, 2, zeros, NULL);
        build_tensor(&w, graph, "head.biases", &classes, 1, zeros, NULL);
        made = cut_drop_outputs(graph) && w.messages.status == GLCNN_SUCCESS;
    }
    if (made) {
        build_value(&w, graph, true, "head", scores, 2);
        r->head = graph->node[graph->n_node - 1];
        r->head_mean = graph->node[graph->n_node - 3];
    }
    free(zeros);
    return (made && w.messages.status == GLCNN_SUCCESS) || onnx_no_memory(r);
}

bool head_average(struct reader *r)
{
    struct call call = {r, r->head_mean, NULL};
    const struct value *from = op_input(&call, 0);
    if (!from || from->shape.rank != 2)
        return true;
    char *name = strdup("Identity");
    if (!name)
        return onnx_no_memory(r);
    free(r->head_mean->op_type);
    r->head_mean->op_type = name;
    return true;
}

bool head_fill(struct call *call)
{
    struct writer w = {0};
    const struct value *features = op_input(call, 0);
    const int64_t classes = call->reader->options.head_classes;
    if (!features || features->shape.rank != 2)
        return op_unsupported(call, "the last output is neither an image N,C,H,W nor N,C");
    const int64_t dims[] = {classes, features->shape.dims[1]};
    if (dims[1] > WEIGHTS_MOST / classes)
        return op_fail(call, GLCNN_LIMIT_EXCEEDED, "%" PRId64 " features of %" PRId64 " classes",
                       dims[1], classes);
    float *zeros = calloc((size_t)(classes * dims[1]) + 1, sizeof *zeros);
    bool filled = zeros && write_numbers(&w, op_input(call, 1)->tensor, zeros,
                                         (size_t)(classes * dims[1]), dims, 2);
    free(zeros);
    return filled || onnx_no_memory(call->reader);
}
