/* Networks written as ONNX models and read again: the tool's own, and files that were read, with the
 * numbers that their filters have since. */
#include <glcnn/onnx.h>

#include <math.h>

#include "onnx/build.h"
#include "tests/graphs.h"
#include "task/nets.h"

enum { SIDE = 16, CLASSES = 5, IMAGES = 2 };

static const struct glcnn_onnx_image form = {
    .name = "image", .width = SIDE, .height = SIDE, .feature_channels = 3};

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file write_file(glcnn_network *net, const struct glcnn_onnx_record *record)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {NULL, 0};
    CU_ASSERT_EQUAL(glcnn_onnx_write(net, record, record ? NULL : &form, record ? 0 : 1,
                                     &file.bytes, &file.size, error),
                    GLCNN_SUCCESS);
    if (error[0])
        puts(error);
    return file;
}

static glcnn_network *read_file(struct file file, struct glcnn_onnx_record **record)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *net = NULL;
    CU_ASSERT_EQUAL(glcnn_onnx_read(device, file.bytes, file.size, NULL, &net, record, error),
                    GLCNN_SUCCESS);
    if (error[0])
        puts(error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(net);
    return net;
}

/* Numbers other than the neutral ones in every vector; variances are greater than 0. */
static void fill_vectors(glcnn_network *net, uint32_t seed)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(net, i)); i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
            if (!glcnn_kernel_has_vector(kernel, names[k]))
                continue;
            glcnn_buffer *buffer = glcnn_kernel_vector(kernel, names[k]);
            size_t count = vector_count(buffer);
            float *values = vector_values(buffer);
            for (size_t v = 0; v < count; v++)
                values[v] += 0.2f * (k == 5 ? fabsf(noise(&seed)) : noise(&seed));
            GOOD(glcnn_kernel_set_vector(kernel, names[k], values, count));
            free(values);
        }
}

static float *scores_of(glcnn_image_node *result, size_t *count)
{
    glcnn_graph *graph = graph_of(result);
    glcnn_image *image = make_image(IMAGES, 3, SIDE, SIDE);
    fill_noise(image, 5);
    run_graph(graph, &image);
    float *values = result_values(graph, result);
    *count = count_of(glcnn_graph_image(graph, result));
    glcnn_image_destroy(&image);
    glcnn_graph_destroy(&graph);
    return values;
}

static void expect_same(glcnn_image_node *a, glcnn_image_node *b)
{
    size_t count_a, count_b;
    float *scores_a = scores_of(a, &count_a), *scores_b = scores_of(b, &count_b);
    CU_ASSERT_EQUAL(count_a, count_b);
    CU_ASSERT_TRUE(count_a >= IMAGES * CLASSES);
    CU_ASSERT_TRUE(arrays_near(scores_a, scores_b, count_a < count_b ? count_a : count_b, 1e-5));
    free(scores_a);
    free(scores_b);
}

/* One of the tool's networks with the vectors that its first execution makes. */
static glcnn_network *build(const struct net *net, glcnn_image_node **scores)
{
    size_t count;
    glcnn_network *network = make_network();
    *scores =
        net_build(net, make_input(network, "image"),
                  &(struct form){.width = SIDE, .height = SIDE, .channels = 3, .classes = CLASSES});
    GOOD(glcnn_network_initialise(network, 3));
    free(scores_of(*scores, &count));
    fill_vectors(network, 7);
    return network;
}

static void the_tools_networks_come_back_the_same(void)
{
    const struct net *net;
    for (size_t i = 0; (net = net_at(i)); i++) {
        glcnn_image_node *scores;
        struct glcnn_onnx_record *record;
        glcnn_network *network = build(net, &scores);
        struct file file = write_file(network, NULL);
        glcnn_network *again = read_file(file, &record);
        CU_ASSERT_EQUAL_FATAL(record->output_count, 1);
        CU_ASSERT_EQUAL(record->outputs[0].feature_channels, CLASSES);
        expect_same(scores, record->outputs[0].node);
        glcnn_onnx_destroy(file.bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_network_destroy(&network);
        glcnn_network_destroy(&again);
    }
}

/* The batch normalisation's of the network; NULL: it has none. */
static struct glcnn_batch_normalization_parameters *normalization_of(glcnn_network *network)
{
    glcnn_filter_node *filter;
    struct glcnn_batch_normalization_parameters *found = NULL;
    for (size_t i = 0; !found && (filter = glcnn_network_filter(network, i)); i++)
        found = glcnn_batch_normalization(glcnn_filter_node_kernel(filter));
    return found;
}

static void momentum_of_running_averages_is_kept(void)
{
    glcnn_image_node *scores;
    struct glcnn_onnx_record *record;
    glcnn_network *network = build(net_find("resnet8"), &scores);
    CU_ASSERT_PTR_NOT_NULL_FATAL(normalization_of(network));
    CU_ASSERT_DOUBLE_EQUAL(normalization_of(network)->running_momentum, 0.1, 1e-6);
    normalization_of(network)->running_momentum = 0.375f;
    struct file file = write_file(network, NULL);
    glcnn_network *again = read_file(file, &record);
    CU_ASSERT_EQUAL(normalization_of(again)->running_momentum, 0.375f);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&again);
}

/* A whole number that a node of the file has; -1: it has none of that name. */
static int64_t written_number(const struct file *file, const char *operator, const char * name)
{
    int64_t number = -1;
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, file->size, file->bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    for (size_t i = 0; i < model->graph->n_node; i++) {
        const Onnx__NodeProto *node = model->graph->node[i];
        for (size_t k = 0; strcmp(node->op_type, operator) == 0 && k < node->n_attribute; k++)
            if (strcmp(node->attribute[k]->name, name) == 0)
                number = node->attribute[k]->i;
    }
    onnx__model_proto__free_unpacked(model, NULL);
    return number;
}

/* Zeros beyond the edge count, and pixels that are repeated do not. */
static void averages_say_what_they_divide_by(void)
{
    static const glcnn_edge_mode modes[] = {GLCNN_EDGE_MODE_ZERO, GLCNN_EDGE_MODE_CLAMP};
    for (size_t i = 0; i < 2; i++) {
        struct glcnn_onnx_record *record;
        glcnn_network *network = make_network();
        glcnn_image_node *x = glcnn_convolution_node(
            make_input(network, "image"),
            &(struct glcnn_convolution_descriptor){.kernel_width = 1,
                                                   .kernel_height = 1,
                                                   .input_feature_channels = 3,
                                                   .output_feature_channels = CLASSES},
            NULL);
        x = glcnn_pooling_average_node(x, 3, 3, 1, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(x);
        glcnn_kernel_properties(kernel_of(x))->primary.edge_mode = modes[i];
        GOOD(glcnn_network_initialise(network, 3));
        struct file file = write_file(network, NULL);
        CU_ASSERT_EQUAL(written_number(&file, "AveragePool", "count_include_pad"), i == 0);
        glcnn_network *again = read_file(file, &record);
        expect_same(x, record->outputs[0].node);
        glcnn_onnx_destroy(file.bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_network_destroy(&network);
        glcnn_network_destroy(&again);
    }
}

/* What nothing was changed of is the same to the byte. */
static void a_file_comes_back_as_it_was(void)
{
    glcnn_image_node *scores;
    struct glcnn_onnx_record *record;
    glcnn_network *network = build(net_find("mobilenet-tiny"), &scores);
    struct file file = write_file(network, NULL);
    glcnn_network *again = read_file(file, &record);
    CU_ASSERT_TRUE(record->skeleton_size < file.size / 2);
    struct file back = write_file(again, record);
    CU_ASSERT_EQUAL_FATAL(file.size, back.size);
    CU_ASSERT_EQUAL(memcmp(file.bytes, back.bytes, file.size), 0);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_destroy(back.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&again);
}

static void changed_numbers_are_written(void)
{
    glcnn_image_node *scores;
    struct glcnn_onnx_record *record, *second;
    glcnn_network *network = build(net_find("small"), &scores);
    struct file file = write_file(network, NULL);
    glcnn_network *again = read_file(file, &record);
    fill_vectors(again, 99);
    struct file changed = write_file(again, record);
    CU_ASSERT_TRUE(changed.size == file.size && memcmp(changed.bytes, file.bytes, file.size) != 0);
    glcnn_network *third = read_file(changed, &second);
    expect_same(record->outputs[0].node, second->outputs[0].node);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_destroy(changed.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_onnx_record_destroy(&second);
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&again);
    glcnn_network_destroy(&third);
}

/* A Conv, a Gemm or a MatMul with weights alone. */
static struct file plain_layer(const char *operator)
{
    struct writer w = {0};
    struct file file;
    const bool is_matrix = strcmp(operator, "Conv") != 0;
    const int64_t conv[] = {CLASSES, 3, 1, 1}, matrix[] = {3 * SIDE * SIDE, CLASSES},
                  image[] = {1, 3, SIDE, SIDE};
    float *weights = calloc(3 * SIDE * SIDE * CLASSES, sizeof *weights);
    uint32_t seed = 3;
    for (size_t k = 0; k < 3 * SIDE * SIDE * CLASSES; k++)
        weights[k] = noise(&seed);
    Onnx__ModelProto *model = build_model();
    build_value(&w, model->graph, false, "image", image, 4);
    build_tensor(&w, model->graph, "weights", is_matrix ? matrix : conv, is_matrix ? 2 : 4, weights,
                 NULL);
    if (is_matrix)
        build_node(&w, model->graph, "Flatten", "flat", (const char *[]){"image", NULL});
    build_node(&w, model->graph, operator, "made",
               (const char *[]){is_matrix ? "flat" : "image", "weights", NULL});
    build_node(&w, model->graph, "Relu", "scores", (const char *[]){"made", NULL});
    build_value(&w, model->graph, true, "scores", image, is_matrix ? 2 : 4);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    free(weights);
    return file;
}

/* One step towards results of 0. */
static void train(glcnn_network *network, const struct glcnn_onnx_record *record)
{
    const struct glcnn_onnx_image *out = &record->outputs[0];
    glcnn_image *sources[] = {make_image(IMAGES, 3, SIDE, SIDE),
                              make_image(IMAGES, out->feature_channels, out->width, out->height)};
    glcnn_kernel *optimizer;
    glcnn_graph *graph;
    glcnn_filter_node *loss =
        glcnn_loss_node(out->node, make_input(network, "goal"), NULL,
                        GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, GLCNN_REDUCTION_TYPE_SUM);
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(loss, optimizer, NULL, &graph));
    fill_noise(sources[0], 5);
    fill_noise(sources[1], 6);
    run_graph(graph, sources);
    glcnn_graph_destroy(&graph);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    glcnn_kernel_destroy(&optimizer);
}

/* A layer that has no biases in the file gets none by training, and its file keeps its nodes. */
static void layers_without_biases_stay_so(void)
{
    static const char *const operators[] = {"Conv", "Gemm", "MatMul"};
    for (size_t i = 0; i < 3; i++) {
        struct glcnn_onnx_record *record, *second;
        struct file file = plain_layer(operators[i]);
        glcnn_network *net = read_file(file, &record), *again;
        glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(net, 0));
        train(net, record);
        CU_ASSERT_FALSE(glcnn_kernel_has_vector(kernel, "biases"));
        CU_ASSERT_PTR_NULL(glcnn_kernel_vector(kernel, "biases"));
        CU_ASSERT_EQUAL(
            glcnn_kernel_set_vector(kernel, "biases", (const float[CLASSES]){0}, CLASSES),
            GLCNN_INVALID_ARGUMENT);
        struct file changed = write_file(net, record);
        CU_ASSERT_TRUE(changed.size == file.size &&
                       memcmp(changed.bytes, file.bytes, file.size) != 0);
        again = read_file(changed, &second);
        expect_same(record->outputs[0].node, second->outputs[0].node);
        CU_ASSERT_EQUAL(second->parameter_count, record->parameter_count);
        glcnn_onnx_destroy(file.bytes);
        glcnn_onnx_destroy(changed.bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_onnx_record_destroy(&second);
        glcnn_network_destroy(&net);
        glcnn_network_destroy(&again);
    }
}

/* ---- What only moves numbers ---- */

static const Onnx__TensorProto *tensor_of(const Onnx__ModelProto *model, const char *name)
{
    for (size_t i = 0; i < model->graph->n_initializer; i++)
        if (strcmp(model->graph->initializer[i]->name, name) == 0)
            return model->graph->initializer[i];
    return NULL;
}

/* image, as [1][4], times the transpose of weights [3][4], which lie in `dims`, through the nodes. */
static struct file moved_layer(const int64_t *dims, size_t rank, bool is_shared)
{
    struct writer w = {0};
    struct file file;
    const int64_t image[] = {1, 4, 1, 1}, flat[] = {1, 3}, two[] = {2}, sizes[] = {3, 4},
                  hidden[] = {3, 3}, order[] = {1, 0};
    const float numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    Onnx__ModelProto *model = build_model();
    build_value(&w, model->graph, false, "image", image, 4);
    build_tensor(&w, model->graph, "layer.weight", dims, rank, numbers, NULL);
    build_tensor(&w, model->graph, "unused.weight", hidden, 2, numbers, NULL);
    build_tensor(&w, model->graph, "sizes", two, 1, NULL, sizes);
    build_node(&w, model->graph, "Relu", "unused", (const char *[]){"unused.weight", NULL});
    build_node(&w, model->graph, "Flatten", "flat", (const char *[]){"image", NULL});
    build_node(&w, model->graph, "Reshape", "matrix",
               (const char *[]){"layer.weight", "sizes", NULL});
    build_ints(
        &w, build_node(&w, model->graph, "Transpose", "turned", (const char *[]){"matrix", NULL}),
        "perm", order, 2);
    build_node(&w, model->graph, "MatMul", is_shared ? "one" : "scores",
               (const char *[]){"flat", "turned", NULL});
    if (is_shared) {
        build_node(&w, model->graph, "MatMul", "back", (const char *[]){"one", "matrix", NULL});
        build_node(&w, model->graph, "MatMul", "scores", (const char *[]){"back", "turned", NULL});
    }
    build_value(&w, model->graph, true, "scores", flat, 2);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    return file;
}

/* The tensor that the file had is written in its own order, and nothing else is. */
static void moved_weights_keep_their_names(void)
{
    static const struct {
        int64_t dims[3];
        size_t rank;
    } cases[] = {{{3, 4}, 2}, {{3, 2, 2}, 3}, {{1, 3, 4}, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct glcnn_onnx_record *record;
        struct file file = moved_layer(cases[i].dims, cases[i].rank, false);
        glcnn_network *net = read_file(file, &record);
        size_t at = 0;
        while (!glcnn_convolution(glcnn_filter_node_kernel(glcnn_network_filter(net, at))))
            at++;
        glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(net, at));
        float *values = vector_values(glcnn_kernel_vector(kernel, "weights"));
        for (size_t k = 0; k < 12; k++)
            values[k] += 100;
        GOOD(glcnn_kernel_set_vector(kernel, "weights", values, 12));
        struct file written = write_file(net, record);
        Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, written.size, written.bytes);
        const Onnx__TensorProto *tensor = tensor_of(model, "layer.weight");
        CU_ASSERT_PTR_NOT_NULL_FATAL(tensor);
        CU_ASSERT_EQUAL(tensor->n_dims, cases[i].rank);
        CU_ASSERT_EQUAL_FATAL(tensor->raw_data.len, sizeof(float[12]));
        for (size_t k = 0; k < 12; k++) {
            float found;
            memcpy(&found, tensor->raw_data.data + 4 * k, 4);
            CU_ASSERT_EQUAL(found, 100 + (float)k);
        }
        CU_ASSERT_EQUAL(model->graph->n_initializer, 2); /* and the sizes */
        CU_ASSERT_EQUAL(model->graph->n_node, 4);
        onnx__model_proto__free_unpacked(model, NULL);
        free(values);
        glcnn_onnx_destroy(file.bytes);
        glcnn_onnx_destroy(written.bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_network_destroy(&net);
    }
}

/* Weights that several nodes read, of which each trains its own, cannot be one tensor; the tensor that
 * nobody reads any more goes. */
static void weights_that_part_are_written_apart(void)
{
    struct glcnn_onnx_record *record;
    struct file file = moved_layer((const int64_t[]){12}, 1, true);
    glcnn_network *net = read_file(file, &record);
    struct file written = write_file(net, record);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, written.size, written.bytes);
    CU_ASSERT_PTR_NULL(tensor_of(model, "layer.weight"));
    CU_ASSERT_PTR_NULL(tensor_of(model, "unused.weight"));
    CU_ASSERT_PTR_NOT_NULL(tensor_of(model, "turned"));
    CU_ASSERT_PTR_NOT_NULL(tensor_of(model, "matrix"));
    onnx__model_proto__free_unpacked(model, NULL);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_destroy(written.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

static bool is_frozen(const struct glcnn_onnx_record *record, const char *name)
{
    for (size_t i = 0; i < record->frozen_count; i++)
        if (strcmp(record->frozen[i].name, name) == 0)
            return true;
    return false;
}

/* A table that two layers compute of constants is added to the image: none of what it is computed of
 * trains. */
static void all_that_a_constant_is_computed_of_is_frozen(void)
{
    static const char *const names[] = {"cpb.0.weight", "cpb.0.bias", "cpb.2.weight"};
    const int64_t image[] = {1, 3, 1, 1}, row[] = {1, 3}, axes[] = {4}, sizes[] = {1, 3, 1, 1};
    const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct writer w = {0};
    struct file file;
    struct glcnn_onnx_record *record;
    Onnx__ModelProto *model = build_model();
    build_value(&w, model->graph, false, "image", image, 4);
    build_tensor(&w, model->graph, "places", row, 2, numbers, NULL);
    build_tensor(&w, model->graph, "cpb.0.weight", row, 2, numbers, NULL);
    build_tensor(&w, model->graph, "cpb.0.bias", row, 2, numbers, NULL);
    build_tensor(&w, model->graph, "cpb.2.weight", row, 2, numbers, NULL);
    build_tensor(&w, model->graph, "sizes", axes, 1, NULL, sizes);
    build_node(&w, model->graph, "Mul", "a", (const char *[]){"places", "cpb.0.weight", NULL});
    build_node(&w, model->graph, "Add", "b", (const char *[]){"a", "cpb.0.bias", NULL});
    build_node(&w, model->graph, "Relu", "c", (const char *[]){"b", NULL});
    build_node(&w, model->graph, "Mul", "d", (const char *[]){"c", "cpb.2.weight", NULL});
    build_node(&w, model->graph, "Reshape", "table", (const char *[]){"d", "sizes", NULL});
    build_node(&w, model->graph, "Mul", "scores", (const char *[]){"image", "table", NULL});
    build_value(&w, model->graph, true, "scores", image, 4);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    onnx__model_proto__free_unpacked(model, NULL);
    glcnn_network *net = read_file(file, &record);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_TRUE(is_frozen(record, names[i]));
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

static void expect_refused(glcnn_network *net, const struct glcnn_onnx_record *record,
                           const char *words)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {(uint8_t *)error, 0};
    CU_ASSERT_EQUAL(glcnn_onnx_write(net, record, record ? NULL : &form, record ? 0 : 1,
                                     &file.bytes, &file.size, error),
                    GLCNN_INVALID_STATE);
    CU_ASSERT_PTR_NULL(file.bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, words));
}

/* What a training that diverged leaves, in the file that was read and in one that is made. */
static void values_that_are_not_finite_are_not_written(void)
{
    static const float values[] = {NAN, INFINITY, -INFINITY, 3e38f};
    struct glcnn_onnx_record *record;
    struct file file = plain_layer("Conv");
    glcnn_network *net = read_file(file, &record);
    glcnn_buffer *weights =
        glcnn_kernel_vector(glcnn_filter_node_kernel(glcnn_network_filter(net, 0)), "weights");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        GOOD(glcnn_buffer_write(weights, 4 * sizeof(float), sizeof(float), &values[i]));
        expect_refused(net, record, "weights of filter \"made\" are not written: value 4 is ");
        expect_refused(net, NULL, "weights of filter \"made\" are not written: value 4 is ");
    }
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

/* 65519 is the last number that is float16's largest, 65504; of bfloat16 all numbers of a vector are
 * finite. */
static void values_beyond_the_files_type_are_not_written(void)
{
    static const float values[] = {65519, 65520, -70000};
    struct writer w = {0};
    struct file half, file = plain_layer("Conv");
    struct glcnn_onnx_record *record;
    float numbers[CLASSES * 3] = {0};
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, file.size, file.bytes);
    Onnx__TensorProto *tensor = model->graph->initializer[0];
    const int64_t dims[] = {CLASSES, 3, 1, 1};
    tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
    CU_ASSERT_TRUE(write_numbers(&w, tensor, numbers, CLASSES * 3, dims, 4));
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &half.bytes, &half.size));
    onnx__model_proto__free_unpacked(model, NULL);
    glcnn_network *net = read_file(half, &record);
    glcnn_buffer *weights =
        glcnn_kernel_vector(glcnn_filter_node_kernel(glcnn_network_filter(net, 0)), "weights");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        GOOD(glcnn_buffer_write(weights, 4 * sizeof(float), sizeof(float), &values[i]));
        if (i > 0)
            expect_refused(net, record, "which is infinite as float16, its type in the file");
        else
            glcnn_onnx_destroy(write_file(net, record).bytes);
    }
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_destroy(half.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

/* Constants that are added to an image that no layer makes, or divide it: the scales that they would
 * train with have no place in the file. */
static void what_the_file_has_no_place_for_does_not_train(void)
{
    static const char *const operators[] = {"Add", "Sub", "Div"};
    for (size_t i = 0; i < 3; i++) {
        struct writer w = {0};
        struct file file;
        struct glcnn_onnx_record *record;
        const int64_t image[] = {1, 3, SIDE, SIDE}, dims[] = {3, 1, 1},
                      weights[] = {CLASSES, 3, 1, 1};
        const float numbers[3 * CLASSES] = {1, 2, 3, -1, 2, -3, 4};
        Onnx__ModelProto *model = build_model();
        build_value(&w, model->graph, false, "image", image, 4);
        build_tensor(&w, model->graph, "numbers", dims, 3, numbers, NULL);
        build_tensor(&w, model->graph, "weights", weights, 4, numbers, NULL);
        build_node(&w, model->graph, operators[i], "more",
                   (const char *[]){"image", "numbers", NULL});
        build_node(&w, model->graph, "Conv", "scores", (const char *[]){"more", "weights", NULL});
        build_value(&w, model->graph, true, "scores", image, 4);
        CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
        glcnn_network *net = read_file(file, &record), *again;
        train(net, record);
        struct file changed = write_file(net, record);
        again = read_file(changed, NULL);
        expect_same(record->outputs[0].node, glcnn_network_image(again, 2));
        onnx__model_proto__free_unpacked(model, NULL);
        glcnn_onnx_destroy(file.bytes);
        glcnn_onnx_destroy(changed.bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_network_destroy(&net);
        glcnn_network_destroy(&again);
    }
}

/* What is added to a result is no bias of its filter where another node reads the result, by another
 * shape too: max(scores + 100, scores) is scores + 100, and their difference 100. */
static void biases_are_those_of_one_reader(void)
{
    struct writer w = {0};
    struct file file;
    struct glcnn_onnx_record *record;
    const int64_t dims[] = {CLASSES, 3, SIDE, SIDE}, five[] = {CLASSES}, shape[] = {2},
                  image[] = {1, 3, SIDE, SIDE}, flat[] = {0, CLASSES};
    const float hundreds[CLASSES] = {100, 100, 100, 100, 100};
    float *weights = calloc(3 * SIDE * SIDE * CLASSES, sizeof *weights);
    size_t count;
    Onnx__ModelProto *model = build_model();
    Onnx__GraphProto *graph = model->graph;
    build_value(&w, graph, false, "image", image, 4);
    build_tensor(&w, graph, "weights", dims, 4, weights, NULL);
    build_tensor(&w, graph, "hundreds", five, 1, hundreds, NULL);
    build_tensor(&w, graph, "flat", shape, 1, NULL, flat);
    build_node(&w, graph, "Conv", "made", (const char *[]){"image", "weights", NULL});
    build_node(&w, graph, "Reshape", "shaped", (const char *[]){"made", "flat", NULL});
    build_node(&w, graph, "Add", "more", (const char *[]){"shaped", "hundreds", NULL});
    build_node(&w, graph, "Flatten", "other", (const char *[]){"made", NULL});
    build_node(&w, graph, "Sub", "scores", (const char *[]){"more", "other", NULL});
    build_value(&w, graph, true, "scores", image, 2);
    CU_ASSERT_TRUE_FATAL(write_bytes(&w, model, &file.bytes, &file.size));
    glcnn_network *net = read_file(file, &record);
    float *scores = scores_of(record->outputs[0].node, &count);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_DOUBLE_EQUAL(scores[i], 100, 1e-4);
    free(scores);
    free(weights);
    onnx__model_proto__free_unpacked(model, NULL);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

/* Loss, labels and gradients are left out. */
static void a_network_that_trains_is_written(void)
{
    struct cnn cnn = make_cnn();
    glcnn_graph *graph = cnn_training_graph(&cnn, 0);
    const struct glcnn_onnx_image input = {
        .width = CNN_SIDE, .height = CNN_SIDE, .feature_channels = 1};
    struct glcnn_onnx_record *record;
    struct file file;
    char error[GLCNN_ERROR_LENGTH] = "";
    CU_ASSERT_EQUAL_FATAL(
        glcnn_onnx_write(cnn.net, NULL, &input, 1, &file.bytes, &file.size, error), GLCNN_SUCCESS);
    glcnn_network *again = read_file(file, &record);
    CU_ASSERT_EQUAL(record->input_count, 1);
    CU_ASSERT_EQUAL_FATAL(record->output_count, 1);
    CU_ASSERT_EQUAL(record->outputs[0].feature_channels, CNN_CLASSES);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&again);
    glcnn_network_destroy(&cnn.net);
}

/* ---- Several inputs and outputs ---- */

/* Features of the left image, half of which are kept, added to the right one's; their mean. */
static glcnn_image_node *two_towers(glcnn_network *net, const char *sum, const char *mean)
{
    glcnn_image_node *left = make_input(net, "left"), *right = make_input(net, "right");
    const struct glcnn_convolution_descriptor layer = {.kernel_width = 3,
                                                       .kernel_height = 3,
                                                       .input_feature_channels = 3,
                                                       .output_feature_channels = CLASSES};
    glcnn_image_node *x = glcnn_convolution_node(left, &layer, NULL);
    GOOD(glcnn_filter_node_set_label(filter_of(x), "layer"));
    GOOD(glcnn_image_node_set_handle(export_image(x), "features"));
    x = glcnn_add_node(x, right);
    GOOD(glcnn_filter_node_set_label(filter_of(x), "layer"));
    GOOD(glcnn_image_node_set_handle(export_image(x), sum));
    x = glcnn_reduce_row_mean_node(glcnn_reduce_column_mean_node(x));
    GOOD(glcnn_image_node_set_handle(x, mean));
    GOOD(glcnn_network_initialise(net, 3));
    return x;
}

/* The rows in another order than the network's, by their nodes. */
static glcnn_status write_towers(glcnn_network *net, struct file *file, char *error)
{
    const struct glcnn_onnx_image inputs[] = {
        {.node = glcnn_network_image(net, 1), .width = 8, .height = 6, .feature_channels = CLASSES},
        {.node = glcnn_network_image(net, 0), .width = 8, .height = 6, .feature_channels = 3}};
    return glcnn_onnx_write(net, NULL, inputs, 2, &file->bytes, &file->size, error);
}

static float *run_towers(glcnn_image_node *result, size_t *count)
{
    glcnn_graph *graph = graph_of(result);
    glcnn_image *images[] = {make_image(IMAGES, 3, 6, 8), make_image(IMAGES, CLASSES, 6, 8)};
    fill_noise(images[0], 5);
    fill_noise(images[1], 6);
    run_graph(graph, images);
    float *values = result_values(graph, result);
    *count = count_of(glcnn_graph_image(graph, result));
    destroy_images(images, 2);
    glcnn_graph_destroy(&graph);
    return values;
}

static void inputs_and_outputs_keep_their_names(void)
{
    static const char *const names[] = {"features", "sum", "mean"};
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_onnx_record *record;
    struct file file;
    glcnn_network *net = make_network();
    two_towers(net, "sum", "mean");
    CU_ASSERT_EQUAL_FATAL(write_towers(net, &file, error), GLCNN_SUCCESS);
    glcnn_network *again = read_file(file, &record);
    CU_ASSERT_EQUAL_FATAL(record->input_count, 2);
    CU_ASSERT_STRING_EQUAL(record->inputs[0].name, "left");
    CU_ASSERT_STRING_EQUAL(record->inputs[1].name, "right");
    CU_ASSERT_EQUAL(record->inputs[0].feature_channels, 3);
    CU_ASSERT_EQUAL(record->inputs[1].feature_channels, CLASSES);
    CU_ASSERT_EQUAL_FATAL(record->output_count, 3);
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_STRING_EQUAL(record->outputs[i].name, names[i]);
        CU_ASSERT_EQUAL(record->outputs[i].rank, i < 2 ? 4 : 2);
    }
    glcnn_image_node *results[] = {glcnn_network_image(net, 2), glcnn_network_image(net, 3),
                                   glcnn_network_image(net, 5)};
    for (size_t i = 0; i < 2; i++) {
        size_t count, back;
        float *expected = run_towers(results[1 + i], &count);
        float *found = run_towers(record->outputs[1 + i].node, &back);
        CU_ASSERT_EQUAL_FATAL(count, back);
        CU_ASSERT_TRUE(arrays_near(found, expected, count, 1e-6));
        free(expected);
        free(found);
    }
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
    glcnn_network_destroy(&again);
}

static void names_that_repeat_are_refused(void)
{
    static const char *const names[][2] = {{"left", "mean"}, {"sum", "sum"}};
    for (size_t i = 0; i < 2; i++) {
        char error[GLCNN_ERROR_LENGTH] = "";
        struct file file;
        glcnn_network *net = make_network();
        two_towers(net, names[i][0], names[i][1]);
        CU_ASSERT_EQUAL(write_towers(net, &file, error), GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, names[i][0]));
        CU_ASSERT_PTR_NULL(file.bytes);
        glcnn_network_destroy(&net);
    }
}

static void what_cannot_be_written_is_said(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file;
    glcnn_network *net = make_network();
    glcnn_image_node *x = glcnn_node(make_input(net, "image"), "frame_rgb", NULL);
    GOOD(glcnn_filter_node_set_label(glcnn_image_node_filter(x), "camera"));
    CU_ASSERT_EQUAL(glcnn_onnx_write(net, NULL, &form, 1, &file.bytes, &file.size, error),
                    GLCNN_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(file.bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "\"camera\""));
    CU_ASSERT_EQUAL(glcnn_onnx_write(net, NULL, NULL, 0, &file.bytes, &file.size, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_onnx_write(NULL, NULL, &form, 1, &file.bytes, &file.size, error),
                    GLCNN_INVALID_ARGUMENT);
    const struct glcnn_onnx_record record = {.skeleton = (const uint8_t *)"\x08",
                                             .skeleton_size = 1};
    CU_ASSERT_EQUAL(glcnn_onnx_write(net, &record, NULL, 0, &file.bytes, &file.size, error),
                    GLCNN_MALFORMED_DATA);
    glcnn_network_destroy(&net);
}

/* A head of another number of classes, of the label that the old one had. */
static void a_head_of_other_classes_is_written(void)
{
    glcnn_image_node *scores;
    struct glcnn_onnx_record *record, *second;
    glcnn_network *network = build(net_find("small"), &scores);
    struct file file = write_file(network, NULL);
    glcnn_network *again = read_file(file, &record);
    glcnn_filter_node *head = NULL, *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(again, i)); i++)
        head = strcmp(glcnn_kernel_name(glcnn_filter_node_kernel(filter)), "convolution") == 0
                   ? filter
                   : head;
    glcnn_kernel *old = glcnn_filter_node_kernel(head);
    struct glcnn_addressing *p = glcnn_kernel_properties(old);
    glcnn_image_node *other = glcnn_convolution_node(
        glcnn_filter_node_source(head, 0),
        &(struct glcnn_convolution_descriptor){.kernel_width = p->primary.kernel_width,
                                               .kernel_height = p->primary.kernel_height,
                                               .input_feature_channels = 32,
                                               .output_feature_channels = CLASSES + 2},
        NULL);
    glcnn_filter_node *made = glcnn_image_node_filter(other);
    GOOD(glcnn_filter_node_set_padding(made, GLCNN_PADDING_SIZE_VALID_ONLY));
    const char *label = strdup(glcnn_filter_node_label(head));
    GOOD(glcnn_filter_node_set_label(head, "old"));
    GOOD(glcnn_filter_node_set_label(made, label));
    GOOD(glcnn_network_initialise(again, 11));
    struct file changed = write_file(again, record);
    glcnn_network *third = read_file(changed, &second);
    CU_ASSERT_EQUAL(second->outputs[0].feature_channels, CLASSES + 2);
    CU_ASSERT_EQUAL(second->outputs[0].dimensions[1], CLASSES + 2);
    expect_same(other, second->outputs[0].node);
    free((void *)(uintptr_t)label);
    glcnn_onnx_destroy(file.bytes);
    glcnn_onnx_destroy(changed.bytes);
    glcnn_onnx_record_destroy(&record);
    glcnn_onnx_record_destroy(&second);
    glcnn_network_destroy(&network);
    glcnn_network_destroy(&again);
    glcnn_network_destroy(&third);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(the_tools_networks_come_back_the_same),
                                        UNIT_TEST(a_file_comes_back_as_it_was),
                                        UNIT_TEST(changed_numbers_are_written),
                                        UNIT_TEST(a_head_of_other_classes_is_written),
                                        UNIT_TEST(momentum_of_running_averages_is_kept),
                                        UNIT_TEST(averages_say_what_they_divide_by),
                                        UNIT_TEST(layers_without_biases_stay_so),
                                        UNIT_TEST(moved_weights_keep_their_names),
                                        UNIT_TEST(weights_that_part_are_written_apart),
                                        UNIT_TEST(all_that_a_constant_is_computed_of_is_frozen),
                                        UNIT_TEST(values_that_are_not_finite_are_not_written),
                                        UNIT_TEST(values_beyond_the_files_type_are_not_written),
                                        UNIT_TEST(what_the_file_has_no_place_for_does_not_train),
                                        UNIT_TEST(biases_are_those_of_one_reader),
                                        UNIT_TEST(a_network_that_trains_is_written),
                                        UNIT_TEST(inputs_and_outputs_keep_their_names),
                                        UNIT_TEST(names_that_repeat_are_refused),
                                        UNIT_TEST(what_cannot_be_written_is_said),
                                        CU_TEST_INFO_NULL};
    return fixture_run("onnx_write", tests, argc, argv);
}
