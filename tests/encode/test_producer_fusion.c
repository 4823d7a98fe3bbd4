/* Results that are not stored: graphs in which passes make what they read give what they give where
 * all is stored, in fewer passes and less memory. */
#include "tests/fixture.h"
#include "tests/graphs.h"

#include "device/device.h"
#include "device/traits.h"
#include "kernels/neuron.h"

#define BATCH      3
#define STEPS      3
#define MOST_TYPES 64 /* of neurons */
#define WEIGHTS    8192

/* relu(normalised(conv(x)) + normalised(conv(x))), of which both branches and the neuron's gradient
 * are read pixel for pixel, then pooling, which reads pixels of the sum's neuron, and three connected
 * layers, the last two of which go over neurons of one pixel. */
struct net {
    glcnn_network *net;
    glcnn_image_node *image, *labels, *sum;
    glcnn_filter_node *loss;
    glcnn_channel_format format; /* of its graph's images */
};

static struct glcnn_convolution_descriptor square(uint32_t size, uint32_t from, uint32_t to)
{
    return (struct glcnn_convolution_descriptor){.kernel_width = size,
                                                 .kernel_height = size,
                                                 .input_feature_channels = from,
                                                 .output_feature_channels = to};
}

static glcnn_image_node *convolve(glcnn_image_node *x, uint32_t size, uint32_t from, uint32_t to)
{
    const struct glcnn_convolution_descriptor window = square(size, from, to);
    return glcnn_convolution_node(x, &window, NULL);
}

static glcnn_image_node *connect(glcnn_image_node *x, uint32_t size, uint32_t from, uint32_t to)
{
    const struct glcnn_convolution_descriptor window = square(size, from, to);
    return glcnn_fully_connected_node(x, &window, NULL);
}

static const struct glcnn_neuron_descriptor gelu = {.type = GLCNN_NEURON_TYPE_GELU};

static struct net begin_net(void)
{
    struct net n = {.net = make_network()};
    n.image = make_input(n.net, "image");
    n.labels = make_input(n.net, "labels");
    return n;
}

static glcnn_image_node *first_layer(const struct net *n)
{
    return glcnn_batch_normalization_node(convolve(n->image, 3, 1, 6), 1e-5f, &gelu, NULL);
}

static void end_net(struct net *n, glcnn_image_node *scores)
{
    n->loss = glcnn_loss_node(scores, n->labels, NULL, GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY,
                              GLCNN_REDUCTION_TYPE_SUM);
    CU_ASSERT_PTR_NOT_NULL_FATAL(n->loss);
    set_weights(n->net, 5);
    train_network(n->net, false);
}

static struct net make_net(void)
{
    struct net n = begin_net();
    glcnn_image_node *x = first_layer(&n);
    glcnn_image_node *a = glcnn_batch_normalization_node(convolve(x, 3, 6, 6), 1e-5f, &gelu, NULL);
    glcnn_image_node *b = glcnn_batch_normalization_node(convolve(x, 1, 6, 6), 1e-5f, NULL, NULL);
    n.sum = glcnn_add_node(glcnn_add_node(a, b), x);
    x = glcnn_pooling_max_node(glcnn_neuron_relu_node(n.sum, 0.125f), 2, 2, 2, 2);
    x = glcnn_neuron_relu_node(connect(x, CNN_SIDE / 2, 6, 7), 0);
    x = connect(glcnn_neuron_sigmoid_node(connect(x, 1, 7, 9)), 1, 9, CNN_CLASSES);
    end_net(&n, x);
    return n;
}

/* Side by side, and inside the image: pixels beyond the last are in none. */
static glcnn_image_node *windows(glcnn_image_node *pooled)
{
    GOOD(glcnn_filter_node_set_padding(filter_of(pooled), GLCNN_PADDING_SIZE_VALID_ONLY));
    return pooled;
}

/* Averages whose gradients are read pixel for pixel: by a neuron's gradient where columns are left
 * out, by a normalisation's sums and gradient where there are rows of windows, and where one is all
 * there is. */
static struct net make_averages(void)
{
    struct net n = begin_net();
    glcnn_image_node *x = first_layer(&n);
    x = glcnn_neuron_relu_node(convolve(glcnn_pooling_average_node(x, 2, 2, 2, 2), 3, 6, 5), 0.5f);
    x = n.sum = windows(glcnn_pooling_average_node(x, 4, 2, 4, 2));
    x = glcnn_batch_normalization_node(convolve(x, 1, 5, 6), 1e-5f, NULL, NULL);
    x = connect(windows(glcnn_pooling_average_node(x, 1, 3, 1, 1)), 1, 6, CNN_CLASSES);
    end_net(&n, x);
    return n;
}

/* A normalisation whose every pixel a convolution reads for each of its outputs. */
static struct net make_read_for_many(void)
{
    struct net n = begin_net();
    glcnn_image_node *x = convolve(first_layer(&n), 1, 6, 6);
    end_net(&n, connect(x, CNN_SIDE, 6, CNN_CLASSES));
    return n;
}

/* A normalisation of what another makes: each has vectors of the same names. */
static struct net make_normalised_twice(void)
{
    struct net n = begin_net();
    glcnn_image_node *x = glcnn_batch_normalization_node(first_layer(&n), 1e-5f, &gelu, NULL);
    x = convolve(glcnn_batch_normalization_node(x, 1e-5f, NULL, NULL), 3, 6, 6);
    end_net(&n, connect(x, CNN_SIDE, 6, CNN_CLASSES));
    return n;
}

/* Frozen: a sum for slopes that train reads what the neuron reads, so that has to be stored. */
static glcnn_image_node *frozen_neuron(glcnn_image_node *x,
                                       const struct glcnn_neuron_descriptor *neuron)
{
    glcnn_image_node *y = glcnn_neuron_node(x, neuron);
    GOOD(glcnn_filter_node_set_training_style(glcnn_image_node_filter(y),
                                              GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE));
    return y;
}

/* A neuron twice in a row and beside itself: passes hold the functions of both, each under the name of
 * what it makes. */
static struct net make_neurons(const struct glcnn_neuron_descriptor *neuron)
{
    struct net n = begin_net();
    glcnn_image_node *once = frozen_neuron(convolve(n.image, 1, 1, 6), neuron);
    glcnn_image_node *x = glcnn_add_node(once, frozen_neuron(once, neuron));
    end_net(&n, connect(x, CNN_SIDE, 6, CNN_CLASSES));
    return n;
}

/* The same of all that makes pixels. */
static struct net make_producers(void)
{
    struct net n = begin_net();
    glcnn_image_node *first = first_layer(&n);
    glcnn_image_node *x = glcnn_batch_normalization_node(first, 1e-5f, &gelu, NULL);
    x = glcnn_neuron_node(glcnn_neuron_node(x, &gelu), &gelu);
    x = glcnn_add_node(glcnn_add_node(x, first), x);
    for (int i = 0; i < 2; i++)
        x = windows(glcnn_pooling_average_node(x, 2, 2, 2, 2));
    end_net(&n, connect(x, CNN_SIDE / 4, 6, CNN_CLASSES));
    return n;
}

/* A sum of two normalised branches, whose neuron and that's gradient read it, before convolutions: of
 * the convolutions of one source the gradients add up. */
static struct net make_residual(void)
{
    struct net n = begin_net();
    glcnn_image_node *x = first_layer(&n);
    glcnn_image_node *a = glcnn_batch_normalization_node(convolve(x, 3, 6, 6), 1e-5f, NULL, NULL);
    glcnn_image_node *b = glcnn_batch_normalization_node(convolve(x, 1, 6, 6), 1e-5f, NULL, NULL);
    x = convolve(glcnn_neuron_relu_node(glcnn_add_node(a, b), 0), 3, 6, 6);
    end_net(&n, connect(x, CNN_SIDE, 6, CNN_CLASSES));
    return n;
}

/* Two normalisations that windows side by side read. */
static struct net make_pooled(void)
{
    struct net n = begin_net();
    glcnn_image_node *x = windows(glcnn_pooling_max_node(first_layer(&n), 5, 2, 5, 2));
    x = glcnn_batch_normalization_node(convolve(x, 3, 6, 6), 1e-5f, &gelu, NULL);
    x = windows(glcnn_pooling_average_node(x, 1, 3, 1, 3));
    end_net(&n, connect(x, 2, 6, CNN_CLASSES));
    return n;
}

/* A product with one pixel of each channel, which all pixels of the other image read. */
static struct net make_broadcast(void)
{
    struct net n = begin_net();
    glcnn_image_node *x = convolve(n.image, 3, 1, 6);
    glcnn_image_node *gate =
        convolve(glcnn_pooling_average_node(x, CNN_SIDE, CNN_SIDE, 1, 1), 1, 6, 6);
    gate = frozen_neuron(windows(gate), &gelu);
    x = glcnn_multiply_node(x, gate);
    GOOD(glcnn_kernel_set(kernel_of(x), "secondary_stride_in_pixels_x", 0));
    GOOD(glcnn_kernel_set(kernel_of(x), "secondary_stride_in_pixels_y", 0));
    end_net(&n, connect(x, CNN_SIDE, 6, CNN_CLASSES));
    return n;
}

/* What training leaves, and what it takes. */
struct outcome {
    float losses[STEPS * BATCH], sum[BATCH * 6 * CNN_SIDE * CNN_SIDE], weights[WEIGHTS];
    size_t dispatches;
    struct glcnn_memory_plan memory;
};

static void run_steps(const struct net *n, glcnn_graph *graph, bool with_sum, struct outcome *to)
{
    glcnn_image *sources[2];
    struct gl_count count;
    make_cnn_sources(BATCH, sources);
    for (int i = 0; i < STEPS; i++) {
        count_gl(&count);
        run_graph(graph, sources);
        stop_counting_gl();
        float *values = result_values(graph, glcnn_filter_node_loss(n->loss));
        memcpy(to->losses + i * BATCH, values, BATCH * sizeof *values);
        free(values);
    }
    to->dispatches = count.dispatches;
    if (with_sum) {
        float *values = result_values(graph, n->sum);
        memcpy(to->sum, values, sizeof to->sum);
        free(values);
    }
    GOOD(glcnn_graph_memory(
        graph,
        (struct glcnn_image_descriptor[]){*glcnn_image_get_descriptor(sources[0]),
                                          *glcnn_image_get_descriptor(sources[1])},
        &to->memory));
    destroy_images(sources, 2);
}

/* All that training changes, kernel by kernel. */
static void keep_weights(glcnn_network *net, float to[WEIGHTS])
{
    static const char *const names[] = {"weights", "gamma", "beta", "mean", "variance"};
    size_t used = 0;
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(net, i)); i++)
        for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
            glcnn_buffer *buffer = glcnn_kernel_vector(glcnn_filter_node_kernel(node), names[v]);
            size_t count = buffer ? vector_count(buffer) : 0;
            CU_ASSERT_TRUE_FATAL(used + count <= WEIGHTS);
            if (buffer)
                GOOD(glcnn_buffer_read(buffer, 0, count * sizeof *to, to + used));
            used += count;
        }
}

static void open_with(const char *implementations)
{
    fixture_close();
    setenv("GLCNN_IMPLEMENTATIONS", implementations, 1);
    CU_ASSERT_TRUE_FATAL(fixture_open());
}

/* Frees the network. */
static struct outcome train_net(struct net *n, bool with_sum)
{
    struct outcome outcome = {.dispatches = 0};
    glcnn_graph *graph;
    if (with_sum)
        export_image(n->sum);
    const struct glcnn_graph_descriptor descriptor = {.format = n->format};
    GOOD_FATAL(glcnn_training_graph_create(n->loss, NULL, &descriptor, &graph));
    run_steps(n, graph, with_sum, &outcome);
    glcnn_graph_destroy(&graph);
    keep_weights(n->net, outcome.weights);
    glcnn_network_destroy(&n->net);
    unsetenv("GLCNN_IMPLEMENTATIONS");
    return outcome;
}

/* On a device of its own, with these traits and implementations. */
static struct outcome train_with(const struct glcnn_device_traits *traits,
                                 const char *implementations, bool with_sum)
{
    open_with(implementations);
    if (traits)
        device->info.traits = *traits;
    struct net n = make_net();
    return train_net(&n, with_sum);
}

static struct outcome train_made(const char *implementations, struct net make(void))
{
    open_with(implementations);
    struct net n = make();
    return train_net(&n, false);
}

static struct outcome train_averages(const char *implementations)
{
    return train_made(implementations, make_averages);
}

static struct outcome train(const char *implementations, bool with_sum)
{
    return train_with(NULL, implementations, with_sum);
}

/* Passes cannot take the buffers that this needs everywhere. */
static bool can_fuse(void)
{
    return glcnn_device_info(device)->limits.storage_blocks >= 16;
}

static void test_training_is_the_same_with_less(void)
{
    struct outcome stored =
        train("pixels_stored,gradients_stored,coefficients_image,reduced_by_a_pass", false);
    struct outcome fused =
        train("pixels_recomputed,gradients_stored,coefficients_vectors,reduced_by_a_pass", false);
    CU_ASSERT(arrays_near(fused.losses, stored.losses, STEPS * BATCH, 1e-5));
    CU_ASSERT(stored.losses[0] != stored.losses[(STEPS - 1) * BATCH]);
    if (!can_fuse())
        return;
    CU_ASSERT(fused.dispatches + 12 <= stored.dispatches);
    CU_ASSERT(fused.memory.without_sharing < stored.memory.without_sharing);
    CU_ASSERT(fused.memory.planned <= stored.memory.planned);
}

/* What readers need of the vectors is made once, before them. */
static void test_coefficients_come_from_an_image(void)
{
    struct outcome stored = train("pixels_stored,coefficients_image", false);
    struct outcome fused = train("pixels_recomputed,coefficients_image", false);
    CU_ASSERT(arrays_near(fused.losses, stored.losses, STEPS * BATCH, 1e-5));
    if (!can_fuse())
        return;
    CU_ASSERT(fused.dispatches + 5 <= stored.dispatches);
    CU_ASSERT(fused.memory.without_sharing < stored.memory.without_sharing);
}

/* To read coefficients for each output takes more than to store the pixel. */
static void test_what_is_read_for_many_outputs_is_stored(void)
{
    struct outcome stored =
        train_made("pixels_stored,gradients_stored,coefficients_image", make_read_for_many);
    struct outcome fused =
        train_made("pixels_recomputed,gradients_stored,coefficients_image", make_read_for_many);
    CU_ASSERT(arrays_near(fused.losses, stored.losses, STEPS * BATCH, 1e-6));
    CU_ASSERT_EQUAL(fused.dispatches, stored.dispatches);
    CU_ASSERT_EQUAL(fused.memory.without_sharing, stored.memory.without_sharing);
}

/* The first layer's weights are all that reads the gradient of the normalisation behind it: by each
 * row of part sums, with coefficients from vectors and from an image. */
static void test_a_gradient_is_made_by_its_reader(void)
{
    static const char *const rows[][2] = {{"gradients_recomputed", ",coefficients_vectors"},
                                          {"gradients_recomputed", ""},
                                          {"gradients_recomputed", ",weights_one"},
                                          {"gradients_recomputed", ",weights_register_tiled"},
                                          {"gradients_recomputed", ",weights_group"}};
    for (size_t i = can_fuse() ? 0 : 1; i < sizeof rows / sizeof *rows; i++) {
        const char *coefficients = i > 0 ? ",coefficients_image" : "";
        char stores[80], makes[80];
        if (!implementations_exist(rows[i][1]))
            continue;
        snprintf(stores, sizeof stores, "gradients_stored%s%s", coefficients, rows[i][1]);
        snprintf(makes, sizeof makes, "%s%s%s", rows[i][0], coefficients, rows[i][1]);
        struct outcome stored = train(stores, false), made = train(makes, false);
        CU_ASSERT(arrays_near(made.losses, stored.losses, STEPS * BATCH, 1e-5));
        CU_ASSERT(made.dispatches < stored.dispatches);
        CU_ASSERT(made.memory.without_sharing < stored.memory.without_sharing);
    }
}

static void test_normalisations_in_a_row_are_made_by_their_readers(void)
{
    static const char *const rows[] = {
        "gradients_recomputed,coefficients_vectors",
        "gradients_recomputed,pixels_recomputed,coefficients_vectors",
        ("gradients_stored,pixels_recomputed,coefficients_vectors,"
         "reduced_where_stored"),
        "gradients_recomputed,pixels_recomputed,coefficients_image"};
    struct outcome stored =
        train_made("pixels_stored,gradients_stored,coefficients_image,reduced_by_a_pass",
                   make_normalised_twice);
    for (size_t i = can_fuse() ? 0 : 3; i < sizeof rows / sizeof *rows; i++) {
        struct outcome made = train_made(rows[i], make_normalised_twice);
        CU_ASSERT(arrays_near(made.losses, stored.losses, STEPS * BATCH, 1e-5));
        CU_ASSERT(made.dispatches < stored.dispatches);
    }
}

static void test_gradients_of_averages_are_made_by_their_readers(void)
{
    struct outcome stored = train_averages("pooling_average_gradient_stored");
    struct outcome fused = train_averages("pooling_average_gradient_recomputed");
    CU_ASSERT(arrays_near(fused.losses, stored.losses, STEPS * BATCH, 1e-6));
    CU_ASSERT(stored.losses[0] != stored.losses[(STEPS - 1) * BATCH]);
    CU_ASSERT_EQUAL(fused.dispatches + 3, stored.dispatches);
    CU_ASSERT(fused.memory.without_sharing < stored.memory.without_sharing);
}

/* Inside its domain, and with values of about 1 where it is applied twice. */
static struct glcnn_neuron_descriptor mild(glcnn_neuron_type type)
{
    struct glcnn_neuron_descriptor neuron = glcnn_neuron_descriptor_default(type);
    if (type == GLCNN_NEURON_TYPE_LOGARITHM || type == GLCNN_NEURON_TYPE_EXPONENTIAL ||
        type == GLCNN_NEURON_TYPE_POWER) {
        neuron.a = 0.125f;
        neuron.b = 1.5f;
        neuron.c = 2.5f;
    }
    return neuron;
}

/* Of all types, one after the other. Returns how many there are. */
static size_t train_neurons(const char *implementations, struct outcome outcomes[MOST_TYPES])
{
    size_t type = 0;
    open_with(implementations);
    for (; neuron_type_names[type]; type++) {
        CU_ASSERT_TRUE_FATAL(type < MOST_TYPES);
        const struct glcnn_neuron_descriptor neuron = mild((glcnn_neuron_type)type);
        struct net n = make_neurons(&neuron);
        outcomes[type] = train_net(&n, false);
    }
    return type;
}

static const char all_stored[] = "pixels_stored,gradients_stored,coefficients_image,"
                                 "pooling_average_gradient_stored,reduced_by_a_pass";

static const char *all_fused(void)
{
    return can_fuse() ? "pixels_recomputed,gradients_recomputed,coefficients_vectors,"
                        "pooling_average_gradient_recomputed,reduced_where_stored"
                      : "pooling_average_gradient_recomputed";
}

static void test_every_neuron_twice_in_a_pass(void)
{
    static struct outcome stored[MOST_TYPES], fused[MOST_TYPES];
    size_t types = train_neurons(all_stored, stored);
    train_neurons(all_fused(), fused);
    for (size_t i = 0; i < types; i++) {
        bool near = arrays_near(fused[i].losses, stored[i].losses, STEPS * BATCH, 1e-5);
        bool fewer = fused[i].dispatches < stored[i].dispatches;
        if (!near || (!fewer && can_fuse()))
            printf("\n    neuron_type=%s: %zu passes, %zu where all is stored",
                   neuron_type_names[i], fused[i].dispatches, stored[i].dispatches);
        CU_ASSERT(near);
        CU_ASSERT(fewer || !can_fuse());
    }
}

static void test_every_producer_twice_in_a_pass(void)
{
    struct outcome stored = train_made(all_stored, make_producers);
    struct outcome fused = train_made(all_fused(), make_producers);
    CU_ASSERT(arrays_near(fused.losses, stored.losses, STEPS * BATCH, 1e-5));
    CU_ASSERT(fused.dispatches < stored.dispatches);
}

/* A device that recomputes pixels has fewer passes. */
static void test_a_trait_asks_for_recomputing(void)
{
    struct glcnn_device_traits traits = glcnn_device_info(device)->traits;
    traits.recomputes_pixels = false;
    struct outcome stored = train_with(&traits, "", false);
    traits.recomputes_pixels = true;
    struct outcome saved = train_with(&traits, "", false);
    CU_ASSERT(!can_fuse() || saved.dispatches < stored.dispatches);
}

/* ---- Devices that submit each dispatch ---- */

static struct outcome train_on_board(const char *implementations, struct net make(void),
                                     glcnn_channel_format format)
{
    open_with(implementations);
    device->info.traits = traits_find("Panfrost", "Mali-G52 (Panfrost)");
    struct net n = make();
    n.format = format;
    return train_net(&n, false);
}

/* The passes that are saved where each reader reads each pixel once; the bits stay. */
static void check_on_board(struct net make(void), size_t saved)
{
    static const char unfused[] = "pixels_stored,gradients_stored,pooling_average_gradient_stored,"
                                  "pooling_max_gradient_stored";
    static const glcnn_channel_format formats[] = {GLCNN_CHANNEL_FORMAT_FLOAT32,
                                                   GLCNN_CHANNEL_FORMAT_FLOAT16};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct outcome stored = train_on_board(unfused, make, formats[i]);
        struct outcome fused = train_on_board("", make, formats[i]);
        CU_ASSERT_EQUAL(fused.dispatches + saved, stored.dispatches);
        CU_ASSERT(memcmp(fused.losses, stored.losses, sizeof stored.losses) == 0);
        CU_ASSERT(memcmp(fused.weights, stored.weights, sizeof stored.weights) == 0);
        CU_ASSERT(stored.losses[0] != stored.losses[(STEPS - 1) * BATCH]);
    }
}

/* The neuron's pass makes both normalised branches and their sum, and the normalisation before them
 * reads the sum of gradients of two convolutions. The neuron's gradient, which four passes read, is
 * stored. */
static void test_a_board_adds_normalised_branches_in_the_neuron(void)
{
    check_on_board(make_residual, 4);
}

/* Both normalisations, and the gradients of both poolings, of which one filled columns that no window
 * reads. Indices take a storage block: with the minimum of 4 a normalisation's sums have none to spare,
 * and the gradient of maxima and what filled its columns are stored. */
static void test_a_board_pools_what_it_normalises(void)
{
    check_on_board(make_pooled, device->info.limits.storage_blocks > 4 ? 5 : 3);
}

/* What a convolution or all pixels read is stored. */
static void test_a_board_stores_what_is_read_often(void)
{
    check_on_board(make_read_for_many, 0);
    check_on_board(make_broadcast, 0);
}

/* Its readers then read what is stored. */
static void test_an_exported_image_is_stored(void)
{
    struct outcome stored = train("pixels_stored", true);
    struct outcome fused = train("pixels_recomputed", true);
    CU_ASSERT(arrays_near(fused.sum, stored.sum, sizeof stored.sum / sizeof *stored.sum, 1e-5));
    CU_ASSERT(arrays_near(fused.losses, stored.losses, STEPS * BATCH, 1e-5));
    CU_ASSERT(stored.sum[0] != 0 && stored.sum[1] != stored.sum[0]);
}

/* A pass has no room for what a dozen layers make: some of them are stored. */
static void test_a_long_chain_is_stored_in_between(void)
{
    static const char *const implementations[] = {"pixels_stored", "pixels_recomputed"};
    float losses[2][BATCH];
    for (int i = 0; i < 2; i++) {
        open_with(implementations[i]);
        glcnn_graph *graph;
        glcnn_image *sources[2];
        struct net n = begin_net();
        glcnn_image_node *x = convolve(n.image, 3, 1, 6);
        for (int layer = 0; layer < 12; layer++)
            x = glcnn_neuron_node(glcnn_neuron_relu_node(x, 0.5f), &gelu);
        x = connect(glcnn_pooling_max_node(x, 2, 2, 2, 2), CNN_SIDE / 2, 6, CNN_CLASSES);
        end_net(&n, x);
        GOOD_FATAL(glcnn_training_graph_create(n.loss, NULL, NULL, &graph));
        make_cnn_sources(BATCH, sources);
        for (int step = 0; step < STEPS; step++)
            run_graph(graph, sources);
        float *values = result_values(graph, glcnn_filter_node_loss(n.loss));
        memcpy(losses[i], values, sizeof losses[i]);
        free(values);
        destroy_images(sources, 2);
        glcnn_graph_destroy(&graph);
        glcnn_network_destroy(&n.net);
        unsetenv("GLCNN_IMPLEMENTATIONS");
    }
    CU_ASSERT(arrays_near(losses[1], losses[0], BATCH, 1e-5));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_training_is_the_same_with_less),
        UNIT_TEST(test_coefficients_come_from_an_image),
        UNIT_TEST(test_what_is_read_for_many_outputs_is_stored),
        UNIT_TEST(test_a_gradient_is_made_by_its_reader),
        UNIT_TEST(test_normalisations_in_a_row_are_made_by_their_readers),
        UNIT_TEST(test_gradients_of_averages_are_made_by_their_readers),
        UNIT_TEST(test_every_neuron_twice_in_a_pass),
        UNIT_TEST(test_every_producer_twice_in_a_pass),
        UNIT_TEST(test_a_trait_asks_for_recomputing),
        UNIT_TEST(test_a_board_adds_normalised_branches_in_the_neuron),
        UNIT_TEST(test_a_board_pools_what_it_normalises),
        UNIT_TEST(test_a_board_stores_what_is_read_often),
        UNIT_TEST(test_a_long_chain_is_stored_in_between),
        UNIT_TEST(test_an_exported_image_is_stored),
        CU_TEST_INFO_NULL};
    return fixture_run("fused results", tests, argc, argv);
}
