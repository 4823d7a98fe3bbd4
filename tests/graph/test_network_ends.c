/* A network that was read says what goes into it and comes out of it, and nodes are put before its input. */
#include "tests/graphs.h"

#include <glcnn/serialize.h>

#define SIDE 4

/* Two inputs, one of which a loss alone reads; a result that is read and exported, and one that is not read. */
static glcnn_network *make_and_read(void)
{
    uint8_t *bytes;
    size_t size;
    glcnn_network *net = make_network(), *read;
    glcnn_image_node *image = make_input(net, "image"), *labels = make_input(net, "labels");
    make_input(net, "unused");
    glcnn_image_node *pooled = glcnn_pooling_max_node(image, 2, 2, 2, 2);
    glcnn_image_node *scores = glcnn_neuron_linear_node(pooled, 3, 0);
    glcnn_image_node_set_export_from_graph(pooled, true);
    GOOD(glcnn_image_node_set_handle(scores, "scores"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(glcnn_loss_node(
        scores, labels, NULL, GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, GLCNN_REDUCTION_TYPE_SUM));
    GOOD_FATAL(glcnn_network_serialize(net, true, &bytes, &size, NULL));
    GOOD_FATAL(glcnn_network_deserialize(device, bytes, size, &read, NULL));
    glcnn_serialize_destroy(bytes);
    glcnn_network_destroy(&net);
    return read;
}

static void test_a_network_says_its_inputs_and_outputs(void)
{
    glcnn_image_node *found[2] = {NULL};
    glcnn_network *net = make_and_read();
    CU_ASSERT_EQUAL(glcnn_network_inputs(net, found, 2), 1);
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(found[0]), "image");
    CU_ASSERT_PTR_NULL(found[1]);
    CU_ASSERT_EQUAL(glcnn_network_outputs(net, found, 1), 2);
    CU_ASSERT_PTR_NULL(found[1]);
    CU_ASSERT_EQUAL(glcnn_network_outputs(net, found, 2), 2);
    CU_ASSERT(glcnn_image_node_export_from_graph(found[0]));
    CU_ASSERT_STRING_EQUAL(glcnn_image_node_handle(found[1]), "scores");
    CU_ASSERT_EQUAL(glcnn_network_outputs(net, NULL, 0), 2);
    CU_ASSERT_EQUAL(glcnn_network_inputs(NULL, found, 2), 0);
    glcnn_network_destroy(&net);
}

/* ---- Nodes before it ---- */

static float *run_on_pixels(glcnn_image_node *node)
{
    float pixels[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (float)(i * 7 % 16);
    glcnn_image *source = image_with(1, 1, SIDE, SIDE, pixels);
    glcnn_graph *graph = graph_of(node);
    run_graph(graph, &source);
    float *values = result_values(graph, node);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&source);
    return values;
}

static void test_nodes_come_before_a_network(void)
{
    glcnn_image_node *input, *outputs[2];
    glcnn_network *plain = make_and_read(), *net = make_and_read();
    glcnn_network_outputs(plain, outputs, 2);
    float *without = run_on_pixels(outputs[1]);
    glcnn_network_inputs(net, &input, 1);
    glcnn_image_node *raw = glcnn_image_node_create(net, "raw");
    glcnn_image_node *first = glcnn_neuron_linear_node(raw, 2, 1);
    glcnn_image_node *second = glcnn_neuron_linear_node(first, 1, 4);
    GOOD_FATAL(glcnn_image_node_replace_input(input, second));
    CU_ASSERT_EQUAL(glcnn_network_inputs(net, &input, 1), 1);
    CU_ASSERT_PTR_EQUAL(input, raw);
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_result(glcnn_network_filter(net, 0)), first);
    CU_ASSERT_PTR_EQUAL(glcnn_filter_node_result(glcnn_network_filter(net, 1)), second);
    CU_ASSERT_PTR_NULL(glcnn_network_filter(net, 5));

    /* It is read again from what it is written as, goes on growing, and computes 3 max(2 x + 5). */
    uint8_t *bytes;
    size_t size;
    glcnn_network *read;
    GOOD_FATAL(glcnn_network_serialize(net, true, &bytes, &size, NULL));
    GOOD_FATAL(glcnn_network_deserialize(device, bytes, size, &read, NULL));
    glcnn_serialize_destroy(bytes);
    CU_ASSERT_EQUAL(glcnn_network_outputs(read, outputs, 2), 2);
    CU_ASSERT_PTR_NOT_NULL(glcnn_neuron_linear_node(outputs[1], 1, 0));
    float *with = run_on_pixels(outputs[1]);
    for (int i = 0; i < SIDE * SIDE / 4; i++)
        CU_ASSERT_DOUBLE_EQUAL(with[i], 2 * without[i] + 15, 1e-5);
    free(with);
    free(without);
    glcnn_network_destroy(&read);
    glcnn_network_destroy(&net);
    glcnn_network_destroy(&plain);
}

static void refuse(glcnn_image_node *input, glcnn_image_node *with, const char *phrase)
{
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_node_replace_input(input, with));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), phrase));
}

static void test_what_cannot_come_before_is_refused(void)
{
    glcnn_image_node *input, *outputs[2];
    glcnn_network *net = make_and_read(), *other = make_network();
    glcnn_network_inputs(net, &input, 1);
    glcnn_network_outputs(net, outputs, 2);
    glcnn_image_node *raw = glcnn_image_node_create(net, "raw");
    CU_ASSERT_EQUAL(glcnn_image_node_replace_input(NULL, raw), GLCNN_INVALID_ARGUMENT);
    refuse(input, NULL, "is NULL");
    refuse(input, make_input(other, "x"), "of another network");
    refuse(outputs[1], raw, "no input");
    refuse(input, input, "depends on it");
    refuse(input, glcnn_neuron_linear_node(input, 1, 0), "depends on it");
    refuse(input, glcnn_node_with_kernel(raw, kernel_of(outputs[0])), "its kernel in common");
    glcnn_graph *graph = graph_of(outputs[1]);
    refuse(input, raw, "a graph was made");
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&other);
    glcnn_network_destroy(&net);
}

/* ---- What graphs are made of ---- */

/* All that a graph has as it was when it was made changes the digest, by whatever way it is changed; what the graph reads when it
 * runs does not. */
static void test_a_digest_follows_what_graphs_are_made_of(void)
{
    glcnn_network *net = make_network();
    glcnn_image_node *image = make_input(net, "image");
    glcnn_image_node *layer =
        glcnn_node(image, "fully_connected", "input_feature_channels=2 output_feature_channels=2");
    glcnn_image_node *last = glcnn_neuron_linear_node(layer, 3, 0);
    uint64_t digest = glcnn_network_digest(net);
    CU_ASSERT_NOT_EQUAL(digest, glcnn_network_digest(NULL));
    GOOD(glcnn_network_initialise(net, 1));
    GOOD(glcnn_filter_node_set_label(glcnn_image_node_filter(layer), "first"));
    GOOD(glcnn_image_node_set_handle(last, "scores"));
    CU_ASSERT_EQUAL(glcnn_network_digest(net), digest);
    for (int change = 0; change < 8; change++) {
        switch (change) {
        case 0:
            glcnn_neuron(kernel_of(last))->neuron.a = 4;
            break;
        case 1:
            GOOD(glcnn_kernel_set(kernel_of(last), "neuron_a", 5));
            break;
        case 2:
            glcnn_kernel_properties(kernel_of(last))->padding = GLCNN_PADDING_SIZE_VALID_ONLY;
            break;
        case 3:
            glcnn_image_node_set_format(layer, GLCNN_CHANNEL_FORMAT_FLOAT16);
            break;
        case 4:
            glcnn_image_node_set_export_from_graph(layer, true);
            break;
        case 5:
            train_network(net, false);
            break;
        case 6:
            GOOD(glcnn_kernel_set_weight_rounding(kernel_of(layer), 127, 2));
            break;
        default:
            glcnn_neuron_linear_node(last, 1, 0);
        }
        CU_ASSERT_NOT_EQUAL(glcnn_network_digest(net), digest);
        digest = glcnn_network_digest(net);
    }
    glcnn_graph *graph = graph_of(last);
    CU_ASSERT_EQUAL(glcnn_network_digest(net), digest);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
}

int main(int argc, char *argv[])
{
    const CU_TestInfo tests[] = {UNIT_TEST(test_a_network_says_its_inputs_and_outputs),
                                 UNIT_TEST(test_nodes_come_before_a_network),
                                 UNIT_TEST(test_what_cannot_come_before_is_refused),
                                 UNIT_TEST(test_a_digest_follows_what_graphs_are_made_of),
                                 CU_TEST_INFO_NULL};
    return fixture_run("network ends", tests, argc, argv);
}
