/* Models of many nodes: reading, serialising and writing them is linear, by the time of the processor
 * that this process takes. */
#include <time.h>

#include <glcnn/serialize.h>

#include "onnx/build.h"
#include "tests/fixture.h"

enum { SHORT = 1000, LONGER = 16 }; /* times as many */

/* Linear is LONGER, quadratic LONGER * LONGER. */
#define MOST 48

struct file {
    uint8_t *bytes;
    size_t size;
};

typedef void add_function(struct writer *w, Onnx__GraphProto *graph, size_t i, const char *from);

/* What a value or weights are called: long, and cut off alike for labels. */
static const char *name_of(const char *what, size_t i)
{
    static char names[2][256];
    static size_t next;
    char *name = names[next++ % 2];
    snprintf(name, sizeof names[0], "%s%0*d.%zu", what, 190, 0, i);
    return name;
}

static void add_convolution(struct writer *w, Onnx__GraphProto *graph, size_t i, const char *from)
{
    static const int64_t dims[] = {2, 2, 1, 1};
    static const float weights[] = {1, 0, 0, 1};
    build_tensor(w, graph, name_of("numbers", i), dims, 4, weights, NULL);
    Onnx__NodeProto *node = build_node(w, graph, "Conv", name_of("value", i),
                                       (const char *[]){from, name_of("numbers", i), NULL});
    free(node->name);
    node->name = strdup("block"); /* that of all */
}

/* By an exponent, which does not train and is noted as such. */
static void add_power(struct writer *w, Onnx__GraphProto *graph, size_t i, const char *from)
{
    build_tensor(w, graph, name_of("numbers", i), NULL, 0, (const float[]){1}, NULL);
    build_node(w, graph, "Pow", name_of("value", i),
               (const char *[]){from, name_of("numbers", i), NULL});
}

static struct file make_chain(add_function *add, size_t nodes)
{
    static const int64_t dims[] = {1, 2, 4, 4};
    struct writer w = {0};
    struct file file = {NULL, 0};
    Onnx__ModelProto *model = build_model();
    build_value(&w, model->graph, false, "image", dims, 4);
    for (size_t i = 0; i < nodes; i++) {
        char from[256];
        snprintf(from, sizeof from, "%s", i ? name_of("value", i - 1) : "image");
        add(&w, model->graph, i, from);
    }
    build_value(&w, model->graph, true, name_of("value", nodes - 1), dims, 4);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    return file;
}

/* The nodes from the last to the first. */
static struct file turn_about(const struct file *file)
{
    struct writer w = {0};
    struct file turned = {NULL, 0};
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, file->size, file->bytes);
    Onnx__GraphProto *graph = model->graph;
    for (size_t i = 0; i < graph->n_node / 2; i++) {
        Onnx__NodeProto *first = graph->node[i];
        graph->node[i] = graph->node[graph->n_node - 1 - i];
        graph->node[graph->n_node - 1 - i] = first;
    }
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &turned.bytes, &turned.size));
    onnx__model_proto__free_unpacked(model, NULL);
    return turned;
}

/* Seconds of the processor for the file to become a network, and that a description and a file. */
static double cost_of(add_function *add, size_t nodes, bool turns)
{
    struct file file = make_chain(add, nodes), turned = turn_about(&file), back = {NULL, 0};
    const struct file *given = turns ? &turned : &file;
    glcnn_network *net;
    struct glcnn_onnx_record *record;
    uint8_t *description;
    size_t size;
    clock_t begin = clock();
    GOOD(glcnn_onnx_read(device, given->bytes, given->size, NULL, &net, &record, NULL));
    GOOD(glcnn_network_serialize(net, false, &description, &size, NULL));
    GOOD(glcnn_onnx_write(net, record, NULL, 0, &back.bytes, &back.size, NULL));
    double cost = (double)(clock() - begin) / CLOCKS_PER_SEC;
    CU_ASSERT_PTR_NOT_NULL(glcnn_network_filter(net, nodes - 1));
    CU_ASSERT_PTR_NULL(glcnn_network_filter(net, nodes));
    CU_ASSERT_TRUE(back.size == file.size && memcmp(back.bytes, file.bytes, file.size) == 0);
    glcnn_serialize_destroy(description);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_destroy(turned.bytes);
    glcnn_onnx_destroy(back.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
    return cost;
}

static void expect_linear(add_function *add, bool turns)
{
    cost_of(add, SHORT, turns); /* warms caches */
    double few = cost_of(add, SHORT, turns), many = cost_of(add, (size_t)SHORT * LONGER, turns);
    CU_ASSERT_TRUE(many < MOST * few);
    if (!(many < MOST * few))
        printf("%d nodes take %g s, %d times as many %g s\n", SHORT, few, LONGER, many);
}

static void time_is_linear_in_convolutions(void)
{
    expect_linear(add_convolution, false);
}

static void time_is_linear_in_what_does_not_train(void)
{
    expect_linear(add_power, false);
}

/* Nodes come in any order; the record's file has them in that in which they are made. */
static void time_is_linear_in_nodes_out_of_order(void)
{
    expect_linear(add_convolution, true);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(time_is_linear_in_convolutions), UNIT_TEST(time_is_linear_in_what_does_not_train),
        UNIT_TEST(time_is_linear_in_nodes_out_of_order), CU_TEST_INFO_NULL};
    return fixture_run("onnx_long", tests, argc, argv);
}
