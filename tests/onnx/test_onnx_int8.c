/* Models as int8: what is folded, which values are quantised and by which scales, and that what is written is
 * read back as the same arithmetic. With INT8_FOLDER=DIR the models and their ranges are left there, for
 * test_onnx_int8_numbers.sh, which computes all scales and zero points once more, and has ONNX Runtime run them. */
#include <glcnn/io.h>
#include <glcnn/onnx.h>

#include <math.h>
#include <stdio.h>

#include "onnx/onnx.h"
#include "task/nets.h"
#include "tests/graphs.h"

enum { SIDE = 16, CLASSES = 5, IMAGES = 4 };

static const struct glcnn_onnx_image form = {
    .name = "image", .width = SIDE, .height = SIDE, .feature_channels = 3};

struct file {
    uint8_t *bytes;
    size_t size;
};

static bool is_good(glcnn_status status, const char *error)
{
    if (status != GLCNN_SUCCESS)
        puts(error);
    return status == GLCNN_SUCCESS;
}

static struct file write_float(glcnn_network *network)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {NULL, 0};
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_onnx_write(network, NULL, &form, 1, &file.bytes, &file.size, error), error));
    return file;
}

static struct glcnn_onnx_quantization *prepare(struct file file)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_onnx_quantization *made = NULL;
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_onnx_quantization_create(file.bytes, file.size, &made, error), error));
    return made;
}

static struct file quantize(struct glcnn_onnx_quantization *q)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {NULL, 0};
    CU_ASSERT_TRUE_FATAL(is_good(glcnn_onnx_quantize(q, &file.bytes, &file.size, error), error));
    return file;
}

static Onnx__ModelProto *open_model(const uint8_t *bytes, size_t size)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, size, bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    return model;
}

static size_t count_operator(const uint8_t *bytes, size_t size, const char *type)
{
    size_t count = 0;
    Onnx__ModelProto *model = open_model(bytes, size);
    for (size_t i = 0; i < model->graph->n_node; i++)
        count += strcmp(model->graph->node[i]->op_type, type) == 0;
    onnx__model_proto__free_unpacked(model, NULL);
    return count;
}

/* No two nodes have one name, which ONNX Runtime refuses. */
static void expect_names(struct file file)
{
    Onnx__ModelProto *model = open_model(file.bytes, file.size);
    for (size_t i = 0; i < model->graph->n_node; i++)
        for (size_t k = 0; k < i; k++)
            CU_ASSERT_STRING_NOT_EQUAL(model->graph->node[i]->name, model->graph->node[k]->name);
    onnx__model_proto__free_unpacked(model, NULL);
}

/* ---- Values of a model on the same pictures ---- */

struct shown {
    glcnn_network *network;
    struct glcnn_onnx_record *record;
    glcnn_graph *graph;
};

static void show(const uint8_t *bytes, size_t size, struct shown *s)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    CU_ASSERT_TRUE_FATAL(
        is_good(glcnn_onnx_read(device, bytes, size, NULL, &s->network, &s->record, error), error));
    glcnn_image_node **nodes = calloc(s->record->output_count + 1, sizeof(*nodes));
    for (size_t i = 0; i < s->record->output_count; i++)
        nodes[i] = s->record->outputs[i].node;
    const struct glcnn_graph_descriptor descriptor = {.results = nodes,
                                                      .result_count = s->record->output_count};
    GOOD(glcnn_graph_create(s->network, &descriptor, &s->graph));
    glcnn_image *image = make_image(IMAGES, 3, SIDE, SIDE);
    fill_noise(image, 5);
    run_graph(s->graph, &image);
    glcnn_image_destroy(&image);
    free(nodes);
}

static void hide(struct shown *s)
{
    glcnn_graph_destroy(&s->graph);
    glcnn_onnx_record_destroy(&s->record);
    glcnn_network_destroy(&s->network);
}

static float *values_of(const struct shown *s, size_t i, size_t *count)
{
    const glcnn_image_node *node = s->record->outputs[i].node;
    *count = count_of(glcnn_graph_image(s->graph, node));
    return result_values(s->graph, node);
}

static struct file expose(const uint8_t *bytes, size_t size, const char *const *names, size_t count)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {NULL, 0};
    CU_ASSERT_TRUE_FATAL(is_good(
        glcnn_onnx_expose(bytes, size, names, count, &file.bytes, &file.size, error), error));
    return file;
}

static const char **names_of(const struct glcnn_onnx_quantization *q)
{
    const char **names = calloc(q->range_count + 1, sizeof *names);
    for (size_t i = 0; i < q->range_count; i++)
        names[i] = q->ranges[i].name;
    return names;
}

/* The processor finds the least and the most of what the device made. */
static void measure(struct glcnn_onnx_quantization *q)
{
    struct shown s;
    const char **names = names_of(q);
    struct file file = expose(q->bytes, q->size, names, q->range_count);
    show(file.bytes, file.size, &s);
    CU_ASSERT_EQUAL_FATAL(s.record->output_count, q->range_count);
    for (size_t i = 0; i < q->range_count; i++) {
        size_t count;
        float *values = values_of(&s, i, &count);
        q->ranges[i].least = q->ranges[i].most = values[0];
        for (size_t k = 0; k < count; k++) {
            q->ranges[i].least = fminf(q->ranges[i].least, values[k]);
            q->ranges[i].most = fmaxf(q->ranges[i].most, values[k]);
        }
        free(values);
    }
    hide(&s);
    glcnn_onnx_destroy(file.bytes);
    free(names);
}

static void save(const char *name, const char *ending, const void *bytes, size_t size)
{
    char path[1024], error[GLCNN_ERROR_LENGTH];
    snprintf(path, sizeof path, "%s/%s%s", getenv("INT8_FOLDER"), name, ending);
    CU_ASSERT_TRUE(is_good(glcnn_file_save(path, bytes, size, error), error));
}

/* The pictures of show() as a JSON file of tests/models/onnxruntime.js, and what the device makes of them, numbers
 * of [N][C][H][W], one a line. */
static void save_answers(const char *name, struct file file)
{
    struct shown s;
    size_t count, length = 0;
    float *pictures = malloc(sizeof(float) * IMAGES * 3 * SIDE * SIDE);
    char *text = malloc(32 * IMAGES * SIDE * SIDE * 8 + 256);
    glcnn_image *image = make_image(IMAGES, 3, SIDE, SIDE);
    fill_noise(image, 5);
    GOOD(glcnn_image_read_bytes(image, NULL, pictures, sizeof(float) * IMAGES * 3 * SIDE * SIDE));
    length += (size_t)sprintf(text, "{\"image\": {\"dims\": [%d, 3, %d, %d], \"data\": [", IMAGES,
                              SIDE, SIDE);
    for (int n = 0; n < IMAGES; n++)
        for (int c = 0; c < 3; c++)
            for (int p = 0; p < SIDE * SIDE; p++)
                length += (size_t)sprintf(text + length, "%s%.9g", n || c || p ? ", " : "",
                                          (double)pictures[(n * SIDE * SIDE + p) * 3 + c]);
    length += (size_t)sprintf(text + length, "]}}\n");
    save(name, ".in.json", text, length);
    show(file.bytes, file.size, &s);
    float *values = values_of(&s, 0, &count);
    length = 0;
    for (size_t i = 0; i < count && i < IMAGES * SIDE * SIDE * 8; i++)
        length += (size_t)sprintf(text + length, "%.9g\n", (double)values[i]);
    save(name, ".answers", text, length);
    save(name, ".onnx", file.bytes, file.size);
    hide(&s);
    free(values);
    free(text);
    free(pictures);
    glcnn_image_destroy(&image);
}

/* With weights that no processor's instructions overflow with. */
static void save_small(const char *name, struct glcnn_onnx_quantization *q)
{
    char small[64];
    q->largest_weight = 63;
    struct file file = quantize(q);
    snprintf(small, sizeof small, "%s.small", name);
    save_answers(small, file);
    glcnn_onnx_destroy(file.bytes);
    q->largest_weight = 127;
}

static void save_all(const char *name, struct file real, struct glcnn_onnx_quantization *q,
                     struct file whole)
{
    if (!getenv("INT8_FOLDER"))
        return;
    char *text = malloc(q->range_count * 400 + 1);
    size_t length = 0;
    for (size_t i = 0; i < q->range_count; i++)
        length += (size_t)sprintf(text + length, "%s\t%.9g\t%.9g\t%.9g\t%d\n", q->ranges[i].name,
                                  (double)q->ranges[i].least, (double)q->ranges[i].most,
                                  (double)q->ranges[i].scale, q->ranges[i].zero_point);
    save(name, ".float.onnx", real.bytes, real.size);
    save(name, ".int8.onnx", whole.bytes, whole.size);
    save(name, ".ranges", text, length);
    free(text);
    save_small(name, q);
}

/* Each value that is stored lies on the grid of its scale. */
static void expect_grid(const struct glcnn_onnx_quantization *q, struct file whole)
{
    struct shown s;
    size_t count = 0;
    const char **names = calloc(q->range_count + 1, sizeof *names);
    const struct glcnn_onnx_range **ranges = calloc(q->range_count + 1, sizeof(*ranges));
    for (size_t i = 0; i < q->range_count; i++)
        if (q->ranges[i].scale > 0 && q->ranges[i].node) {
            ranges[count] = &q->ranges[i];
            names[count++] = q->ranges[i].name;
        }
    struct file file = expose(whole.bytes, whole.size, names, count);
    show(file.bytes, file.size, &s);
    for (size_t i = 0; i < count; i++) {
        size_t all;
        float *values = values_of(&s, i, &all);
        double worst = 0;
        for (size_t k = 0; k < all; k++) {
            const double place = (double)values[k] / (double)ranges[i]->scale;
            worst = fmax(worst, fabs(place - nearbyint(place)));
            if (nearbyint(place) + ranges[i]->zero_point < -128 ||
                nearbyint(place) + ranges[i]->zero_point > 127)
                worst = 1;
        }
        CU_ASSERT_TRUE(worst < 1e-3);
        free(values);
    }
    hide(&s);
    glcnn_onnx_destroy(file.bytes);
    free(names);
    free(ranges);
}

/* How far the answers are apart, of their own size. */
static double find_error(struct file a, struct file b)
{
    struct shown x, y;
    size_t count, other;
    double error = 0, size = 0;
    show(a.bytes, a.size, &x);
    show(b.bytes, b.size, &y);
    float *p = values_of(&x, 0, &count), *q = values_of(&y, 0, &other);
    CU_ASSERT_EQUAL_FATAL(count, other);
    for (size_t i = 0; i < count; i++) {
        error += pow((double)p[i] - (double)q[i], 2);
        size += pow((double)p[i], 2);
    }
    free(p);
    free(q);
    hide(&x);
    hide(&y);
    return sqrt(error / size);
}

/* Numbers other than the neutral ones in every vector; variances are greater than 0. */
static void fill_vectors(glcnn_network *net, uint32_t seed)
{
    static const char *const names[] = {"biases", "gamma", "beta", "mean", "variance"};
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
                values[v] += 0.2f * (k == 4 ? fabsf(noise(&seed)) : noise(&seed));
            GOOD(glcnn_kernel_set_vector(kernel, names[k], values, count));
            free(values);
        }
}

static void run_once(glcnn_image_node *result)
{
    glcnn_graph *graph = graph_of(result);
    glcnn_image *image = make_image(1, 3, SIDE, SIDE);
    fill_noise(image, 5);
    run_graph(graph, &image);
    glcnn_image_destroy(&image);
    glcnn_graph_destroy(&graph);
}

/* All that holds of any network; most: how far its answers may be apart; `rectifiers` do not vanish. */
static void check_network(const char *name, glcnn_network *network, double most, size_t rectifiers)
{
    struct file real = write_float(network);
    struct glcnn_onnx_quantization *q = prepare(real);
    struct file folded = {q->bytes, q->size};
    CU_ASSERT_EQUAL(count_operator(q->bytes, q->size, "BatchNormalization"), 0);
    CU_ASSERT_TRUE(find_error(real, folded) < 1e-5);
    measure(q);
    struct file whole = quantize(q);
    const double error = find_error(real, whole);
    if (!(error < most))
        printf("%s: error %g\n", name, error);
    CU_ASSERT_TRUE(error > 0 && error < most);
    expect_names(whole);
    CU_ASSERT_EQUAL(count_operator(whole.bytes, whole.size, "Relu"), rectifiers);
    expect_grid(q, whole);
    save_all(name, real, q, whole);
    glcnn_onnx_destroy(whole.bytes);
    glcnn_onnx_quantization_destroy(&q);
    CU_ASSERT_PTR_NULL(q);
    glcnn_onnx_destroy(real.bytes);
}

static void the_tools_networks_become_int8(void)
{
    const struct net *net;
    for (size_t i = 0; (net = net_at(i)) != NULL; i++) {
        if (!unit_is_check() && strcmp(net->name, "lenet") != 0)
            continue;
        glcnn_network *network = make_network();
        glcnn_image_node *scores = net_build(
            net, make_input(network, "image"),
            &(struct form){.width = SIDE, .height = SIDE, .channels = 3, .classes = CLASSES});
        GOOD(glcnn_network_initialise(network, 3));
        run_once(scores);
        fill_vectors(network, 7);
        check_network(net->name, network, 0.15, 0);
        glcnn_network_destroy(&network);
    }
}

static glcnn_image_node *convolve(glcnn_image_node *x, unsigned size, unsigned in, unsigned out)
{
    return net_convolve(x, size, in, out);
}

/* Of all that is not as in the tool's: a normalisation that nothing is folded into, a join of what is
 * rectified and what is not, curves, a scale that is doubled, a transposed convolution. */
static glcnn_image_node *build_odd(glcnn_network *network)
{
    glcnn_image_node *image = make_input(network, "image");
    const struct glcnn_neuron_descriptor relu = {GLCNN_NEURON_TYPE_RELU, 0, 0, 0},
                                         six = {GLCNN_NEURON_TYPE_RELUN, 0, 6, 0},
                                         sigmoid = {GLCNN_NEURON_TYPE_SIGMOID, 0, 0, 0},
                                         leaky = {GLCNN_NEURON_TYPE_RELU, 0.1f, 0, 0};
    glcnn_image_node *a = glcnn_neuron_node(convolve(image, 3, 3, 8), &relu);
    glcnn_image_node *b = glcnn_batch_normalization_node(a, 1e-5f, &leaky, NULL);
    glcnn_image_node *sources[] = {a, glcnn_neuron_node(convolve(b, 3, 8, 8), &six),
                                   convolve(b, 1, 8, 4)};
    glcnn_image_node *x = convolve(glcnn_concatenation_node(sources, 3), 3, 20, 8);
    x = glcnn_multiply_node(x, glcnn_neuron_node(x, &sigmoid));
    x = glcnn_pooling_max_node(x, 2, 2, 2, 2);
    x = glcnn_upsampling_bilinear_node(x, 2, 2, false);
    x = glcnn_neuron_node(convolve(x, 3, 8, 8), &six);
    return convolve(x, 1, 8, CLASSES);
}

/* MobileNetV2 (Sandler and others 2018, table 2): bottlenecks of t times as many channels, c channels, n of them, the
 * first of stride s. */
static const struct {
    uint32_t t, c, n, s;
} bottlenecks[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                   {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

static glcnn_image_node *normalised_layer(glcnn_image_node *x, uint32_t size, uint32_t stride,
                                          uint32_t inputs, uint32_t outputs, bool rectifies)
{
    static const struct glcnn_neuron_descriptor six = {GLCNN_NEURON_TYPE_RELUN, 0, 6, 0};
    const bool is_depthwise = size == 3 && inputs > 3;
    const struct glcnn_convolution_descriptor d = {.kernel_width = size,
                                                   .kernel_height = size,
                                                   .input_feature_channels = inputs,
                                                   .output_feature_channels = outputs,
                                                   .stride_in_pixels_x = stride,
                                                   .stride_in_pixels_y = stride,
                                                   .groups = is_depthwise ? inputs : 1,
                                                   .without_biases = true};
    return glcnn_batch_normalization_node(glcnn_convolution_node(x, &d, NULL), 1e-5f,
                                          rectifies ? &six : NULL, NULL);
}

static glcnn_image_node *bottleneck(glcnn_image_node *x, uint32_t t, uint32_t stride,
                                    uint32_t inputs, uint32_t outputs)
{
    glcnn_image_node *y = t > 1 ? normalised_layer(x, 1, 1, inputs, t * inputs, true) : x;
    y = normalised_layer(y, 3, stride, t * inputs, t * inputs, true);
    y = normalised_layer(y, 1, 1, t * inputs, outputs, false);
    return stride == 1 && inputs == outputs ? glcnn_add_node(x, y) : y;
}

static glcnn_image_node *build_mobilenet_v2(glcnn_network *network)
{
    glcnn_image_node *x = normalised_layer(make_input(network, "image"), 3, 2, 3, 32, true);
    uint32_t channels = 32;
    for (size_t i = 0; i < sizeof bottlenecks / sizeof *bottlenecks; i++)
        for (uint32_t k = 0; k < bottlenecks[i].n; k++) {
            x = bottleneck(x, bottlenecks[i].t, k ? 1 : bottlenecks[i].s, channels,
                           bottlenecks[i].c);
            channels = bottlenecks[i].c;
        }
    x = normalised_layer(x, 1, 1, channels, 1280, true);
    x = glcnn_node(glcnn_node(x, "reduce_row_mean", NULL), "reduce_column_mean", NULL);
    return convolve(x, 1, 1280, CLASSES);
}

/* Fifty layers of random weights add up what each is off. */
static void mobilenet_v2_becomes_int8(void)
{
    if (!unit_is_check())
        return;
    glcnn_network *network = make_network();
    glcnn_image_node *scores = build_mobilenet_v2(network);
    GOOD(glcnn_network_initialise(network, 3));
    run_once(scores);
    fill_vectors(network, 7);
    check_network("mobilenet-v2", network, 0.5, 0);
    glcnn_network_destroy(&network);
}

static void odd_networks_become_int8(void)
{
    glcnn_network *network = make_network();
    glcnn_image_node *scores = build_odd(network);
    GOOD(glcnn_network_initialise(network, 3));
    run_once(scores);
    fill_vectors(network, 7);
    struct file real = write_float(network);
    struct glcnn_onnx_quantization *q = prepare(real);
    CU_ASSERT_PTR_NOT_NULL(strstr(q->notes, "of each channel by itself"));
    glcnn_onnx_quantization_destroy(&q);
    glcnn_onnx_destroy(real.bytes);
    check_network("odd", network, 0.15, 1);
    glcnn_network_destroy(&network);
}

/* ---- Training ---- */

/* Gradients go straight through the roundings: all layers of an int8 model learn. */
static void int8_models_train(void)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_network *plain = make_network();
    net_build(net_find("lenet"), make_input(plain, "image"),
              &(struct form){.width = SIDE, .height = SIDE, .channels = 3, .classes = CLASSES});
    GOOD(glcnn_network_initialise(plain, 3));
    struct file real = write_float(plain);
    struct glcnn_onnx_quantization *q = prepare(real);
    measure(q);
    struct file whole = quantize(q);
    struct shown s = {.graph = NULL};
    CU_ASSERT_TRUE_FATAL(is_good(
        glcnn_onnx_read(device, whole.bytes, whole.size, NULL, &s.network, &s.record, error),
        error));
    glcnn_image_node *const pair[] = {s.record->outputs[0].node, make_input(s.network, "labels")};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        s.network, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.25", pair,
        2);
    glcnn_kernel *steps =
        kernel_with("optimizer_stochastic_gradient_descent", "learning_rate=0.05");
    GOOD_FATAL(glcnn_training_graph_create(loss, steps, NULL, &s.graph));
    glcnn_kernel *first = NULL;
    for (size_t i = 0; !first; i++) {
        glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(s.network, i));
        first = glcnn_kernel_has_vector(kernel, "weights") ? kernel : NULL;
    }
    float labels[IMAGES * CLASSES] = {0}, losses[2];
    for (int n = 0; n < IMAGES; n++)
        labels[n * CLASSES + n % CLASSES] = 1;
    glcnn_image *sources[] = {make_image(IMAGES, 3, SIDE, SIDE), make_image(IMAGES, CLASSES, 1, 1)};
    fill_noise(sources[0], 5);
    fill_image(sources[1], labels);
    float *before = vector_values(glcnn_kernel_vector(first, "weights"));
    for (int i = 0; i < 10; i++) {
        run_graph(s.graph, sources);
        float *sums = result_values(s.graph, glcnn_filter_node_loss(loss));
        losses[i > 0] = 0;
        for (int n = 0; n < IMAGES; n++)
            losses[i > 0] += sums[n];
        free(sums);
    }
    float *after = vector_values(glcnn_kernel_vector(first, "weights"));
    CU_ASSERT_TRUE(losses[1] < 0.9f * losses[0]);
    CU_ASSERT_TRUE(before[0] != after[0]);
    free(before);
    free(after);
    destroy_images(sources, 2);
    glcnn_kernel_destroy(&steps);
    hide(&s);
    glcnn_onnx_destroy(whole.bytes);
    glcnn_onnx_quantization_destroy(&q);
    glcnn_onnx_destroy(real.bytes);
    glcnn_network_destroy(&plain);
}

/* ---- What is refused ---- */

static void expect_refused(struct glcnn_onnx_quantization *q, const char *words)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct file file = {(uint8_t *)error, 1};
    CU_ASSERT_EQUAL(glcnn_onnx_quantize(q, &file.bytes, &file.size, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NULL(file.bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, words));
}

static void wrong_ranges_are_refused(void)
{
    glcnn_network *network = make_network();
    build_odd(network);
    GOOD(glcnn_network_initialise(network, 3));
    struct file real = write_float(network);
    struct glcnn_onnx_quantization *q = prepare(real);
    q->ranges[1].most = NAN;
    expect_refused(q, q->ranges[1].name);
    q->ranges[1].most = -1;
    expect_refused(q, "is 0 .. -1; expected two finite numbers");
    q->ranges[1].most = 0;
    q->largest_weight = 128;
    expect_refused(q, "largest_weight is 128; expected 1 to 127");
    q->largest_weight = 63;
    struct file whole = quantize(q); /* of ranges of nothing but 0, whose scale is 1 */
    CU_ASSERT_EQUAL(q->ranges[0].scale, 1.0f);
    CU_ASSERT_EQUAL(q->ranges[0].zero_point, -128);
    glcnn_onnx_destroy(whole.bytes);
    glcnn_onnx_quantization_destroy(&q);
    glcnn_onnx_destroy(real.bytes);
    glcnn_network_destroy(&network);
}

static void expect_no_model(const uint8_t *bytes, size_t size, glcnn_status status,
                            const char *words)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_onnx_quantization *q = NULL;
    CU_ASSERT_EQUAL(glcnn_onnx_quantization_create(bytes, size, &q, error), status);
    CU_ASSERT_PTR_NULL(q);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, words));
}

static void what_cannot_be_int8_is_refused(void)
{
    glcnn_network *network = make_network();
    glcnn_neuron_node(make_input(network, "image"),
                      &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_SIGMOID, 0, 0, 0});
    struct file real = write_float(network);
    expect_no_model(real.bytes, real.size, GLCNN_UNSUPPORTED, "no layer of weights");
    Onnx__ModelProto *model = open_model(real.bytes, real.size);
    model->opset_import[0]->version = 12;
    real.size = onnx__model_proto__pack(model, real.bytes);
    onnx__model_proto__free_unpacked(model, NULL);
    expect_no_model(real.bytes, real.size, GLCNN_UNSUPPORTED,
                    "opset 12; int8 by channels needs 13");
    for (size_t size = 0; size < real.size; size++) {
        struct glcnn_onnx_quantization *q;
        CU_ASSERT_NOT_EQUAL(glcnn_onnx_quantization_create(real.bytes, size, &q, NULL),
                            GLCNN_SUCCESS);
    }
    glcnn_onnx_destroy(real.bytes);
    glcnn_network_destroy(&network);
}

int main(int argc, char *argv[])
{
    static CU_TestInfo tests[] = {UNIT_TEST(the_tools_networks_become_int8),
                                  UNIT_TEST(odd_networks_become_int8),
                                  UNIT_TEST(mobilenet_v2_becomes_int8),
                                  UNIT_TEST(int8_models_train),
                                  UNIT_TEST(wrong_ranges_are_refused),
                                  UNIT_TEST(what_cannot_be_int8_is_refused),
                                  CU_TEST_INFO_NULL};
    return fixture_run("onnx_int8", tests, argc, argv);
}
