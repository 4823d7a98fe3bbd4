/* The mean of each channel, and a fully connected layer: nodes as a file has them, so that all that
 * follows, a head of other classes and the file that is written, is as for a model that had one. */
#include "onnx/head.h"

#include <inttypes.h>
#include <stdlib.h>

#include "onnx/build.h"

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

/* Are they features of a picture by themselves, N,C? */
static bool has_pixels(const Onnx__ValueInfoProto *output)
{
    const Onnx__TypeProto *type = output->type;
    bool is_tensor = type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    return !is_tensor || !type->tensor_type->shape || type->tensor_type->shape->n_dim != 2;
}

static void add_nodes(struct writer *w, Onnx__GraphProto *graph, const char *from, bool pools)
{
    if (pools) {
        build_node(w, graph, "GlobalAveragePool", "head.mean", (const char *[]){from, NULL});
        build_node(w, graph, "Flatten", "head.features", (const char *[]){"head.mean", NULL});
        from = "head.features";
    }
    Onnx__NodeProto *layer = build_node(
        w, graph, "Gemm", "head", (const char *[]){from, "head.weights", "head.biases", NULL});
    build_int(w, layer, "transB", 1);
}

static void replace_outputs(struct writer *w, Onnx__GraphProto *graph, int64_t classes)
{
    for (size_t i = 0; i < graph->n_output; i++)
        onnx__value_info_proto__free_unpacked(graph->output[i], NULL);
    graph->n_output = 0;
    build_value(w, graph, true, "head", (const int64_t[]){1, classes}, 2);
}

bool head_add(struct reader *r, Onnx__GraphProto *graph)
{
    struct writer w = {0};
    const int64_t classes = r->options.head_classes, none[] = {classes, 0};
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
        add_nodes(&w, graph, last->name ? last->name : "", has_pixels(last));
        build_tensor(&w, graph, "head.weights", none, 2, zeros, NULL);
        build_tensor(&w, graph, "head.biases", &classes, 1, zeros, NULL);
        replace_outputs(&w, graph, classes);
        r->head = graph->node[graph->n_node - 1];
    }
    free(zeros);
    return (made && w.messages.status == GLCNN_SUCCESS) || onnx_no_memory(r);
}

bool head_fill(struct call *call)
{
    struct writer w = {0};
    const struct value *features = op_input(call, 0);
    const int64_t classes = call->reader->options.head_classes;
    if (!features || features->shape.rank != 2)
        return op_unsupported(call, "the last output is no image N,C,H,W, nor N,C");
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
