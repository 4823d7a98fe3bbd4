/* Layers whose weights are longer than a storage block of the device: they give what they give where
 * one block holds them, forward, in training, clipped by norm, from a checkpoint and with frozen
 * channels; what cannot be taken apart is refused. The blocks are short here. Optimizers are tried one
 * after the other with GLCNN_TEST_CHECK=1, else the first. */
#include <glcnn/checkpoint.h>

#include "tests/folder.h"
#include "tests/graphs.h"

#include "device/device.h"

#include <stdlib.h>
#include <unistd.h>

#define SIDE    8
#define INPUTS  16
#define CLASSES 10
#define BATCH   3
#define STEPS   2

/* Bytes of a short block. Parts begin with every 64th output where offsets are multiples of 256 bytes:
 * the weights of as many take 144 KiB of the second layer, 290 KiB of the third. */
#define SHORT (320u << 10)

static char folder[] = "/tmp/glcnn-blocks-XXXXXX";
static char error[GLCNN_ERROR_LENGTH];

/* ---- A network ---- */

enum { FIRST, SECOND, THIRD, LAST, LAYERS };

struct net {
    glcnn_network *net;
    glcnn_image_node *image, *labels, *layers[LAYERS];
    glcnn_filter_node *loss;
};

static glcnn_image_node *layer(glcnn_image_node *x, const char *kernel, const char *settings)
{
    x = glcnn_node(x, kernel, settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    return x;
}

/* 8x8x16, a convolution to 64, one of stride 2 to 290, both 3x3, fully connected to 200 and to 10. The
 * second and the third layer have more than two blocks of weights. */
static struct net make_net(void)
{
    struct net n = {.net = make_network()};
    n.image = make_input(n.net, "image");
    n.labels = make_input(n.net, "labels");
    glcnn_image_node *x = n.layers[FIRST] =
        layer(n.image, "convolution",
              "input_feature_channels=16 output_feature_channels=64 kernel_width=3 "
              "kernel_height=3 padding=same");
    x = layer(x, "neuron", "neuron_type=tanh neuron_a=1 neuron_b=0.05");
    x = n.layers[SECOND] =
        layer(x, "convolution",
              "input_feature_channels=64 output_feature_channels=290 kernel_width=3 "
              "kernel_height=3 stride_in_pixels_x=2 stride_in_pixels_y=2 padding=same");
    x = layer(x, "neuron", "neuron_type=tanh neuron_a=1 neuron_b=0.05");
    x = layer(x, "pooling_average",
              "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2 "
              "padding=valid");
    x = n.layers[THIRD] =
        layer(x, "fully_connected",
              "input_feature_channels=290 output_feature_channels=200 kernel_width=2 "
              "kernel_height=2");
    x = layer(x, "neuron", "neuron_type=tanh neuron_a=1 neuron_b=0.05");
    x = n.layers[LAST] = layer(x, "fully_connected",
                               "input_feature_channels=200 output_feature_channels=10 "
                               "kernel_width=1 kernel_height=1");
    glcnn_image_node *const pair[] = {x, n.labels};
    n.loss = glcnn_filter_node_create(n.net, "loss", "loss_type=soft_max_cross_entropy", pair, 2);
    GOOD_FATAL(glcnn_network_status(n.net));
    GOOD_FATAL(glcnn_network_initialise(n.net, 7));
    for (int i = 0; i < LAYERS; i++)
        set_vector_noise(kernel_of(n.layers[i]), "biases", &(uint32_t){5}, 0.25f);
    return n;
}

static void destroy_net(struct net *n)
{
    glcnn_network_destroy(&n->net);
}

/* Weights and biases of all layers, one behind the other; the caller frees them. */
static float *parameters_of(const struct net *n, size_t *count)
{
    static const char *const names[] = {"weights", "biases"};
    float *all = NULL;
    *count = 0;
    for (size_t i = 0; i < LAYERS * 2; i++) {
        glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(n->layers[i / 2]), names[i % 2]);
        size_t length = vector_count(buffer);
        all = realloc(all, (*count + length) * sizeof *all);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all);
        GOOD(glcnn_buffer_read(buffer, 0, length * sizeof *all, all + *count));
        *count += length;
    }
    return all;
}

static void make_sources(glcnn_image *sources[2])
{
    float labels[BATCH * CLASSES] = {0};
    sources[0] = make_image(BATCH, INPUTS, SIDE, SIDE);
    sources[1] = make_image(BATCH, CLASSES, 1, 1);
    fill_noise(sources[0], 3);
    for (size_t n = 0; n < BATCH; n++)
        labels[n * CLASSES + 2 * n] = 1;
    fill_image(sources[1], labels);
}

/* ---- Short blocks ---- */

static struct gl real;
static size_t long_binds, crooked_binds, part_binds;

static void GL_APIENTRY bind_range(GLenum target, GLuint index, GLuint name, GLintptr offset,
                                   GLsizeiptr size)
{
    if (target == GL_SHADER_STORAGE_BUFFER) {
        part_binds++;
        long_binds += size > (GLsizeiptr)SHORT;
        crooked_binds += offset % (GLintptr)device->info.limits.buffer_offset_alignment != 0;
    }
    real.BindBufferRange(target, index, name, offset, size);
}

static void set_short(bool is_short)
{
    static struct glcnn_limits limits;
    if (is_short) {
        real = device->gl;
        limits = device->info.limits;
        device->gl.BindBufferRange = bind_range;
        device->info.limits.storage_block_size = SHORT;
        device->info.limits.buffer_offset_alignment = 256; /* the most that any device wants */
        part_binds = long_binds = crooked_binds = 0;
        return;
    }
    device->gl = real;
    device->info.limits = limits;
    CU_ASSERT(part_binds > 0);
    CU_ASSERT_EQUAL(long_binds, 0);
    CU_ASSERT_EQUAL(crooked_binds, 0);
}

/* ---- Training ---- */

struct case_of_training {
    const char *optimizer, *settings;
    struct glcnn_graph_descriptor descriptor;
    uint32_t first, count; /* output channels of the third layer that learn; 0: all */
    bool is_encoded;       /* in place of executions */
};

static const struct case_of_training cases[] = {
    {.optimizer = "optimizer_stochastic_gradient_descent",
     .settings = "learning_rate=0.05 momentum_scale=0.9"},
    {.optimizer = "optimizer_adam",
     .settings = "learning_rate=0.01 epsilon=0.01",
     .descriptor = {.gradient_clip_norm = 0.1f}},
    {.optimizer = "optimizer_adam",
     .settings = "learning_rate=0.01 epsilon=0.01",
     .is_encoded = true},
    {.optimizer = "optimizer_rms_prop",
     .settings = "learning_rate=0.01 epsilon=0.01",
     .descriptor = {.loss_scale = {.scale = 1024}},
     .first = 4,
     .count = 190},
};

static glcnn_graph *graph_for(const struct net *n, const struct case_of_training *c)
{
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = kernel_with(c->optimizer, c->settings);
    if (c->count)
        GOOD_FATAL(
            glcnn_kernel_set_training_channels(kernel_of(n->layers[THIRD]), c->first, c->count));
    GOOD_FATAL(glcnn_training_graph_create(n->loss, optimizer, &c->descriptor, &graph));
    glcnn_kernel_destroy(&optimizer);
    return graph;
}

static void run_steps(glcnn_graph *graph, uint32_t steps)
{
    glcnn_image *sources[2];
    make_sources(sources);
    for (uint32_t i = 0; i < steps; i++)
        run_graph(graph, sources);
    destroy_images(sources, 2);
}

/* By executions, or by one command buffer that is committed for each step. */
static void run_encoded(glcnn_graph *graph, uint32_t steps)
{
    glcnn_image *sources[2], *loss;
    glcnn_command_buffer *commands = make_commands();
    make_sources(sources);
    GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, &loss));
    for (uint32_t i = 0; i < steps; i++) {
        GOOD_FATAL(glcnn_command_buffer_commit(commands));
        GOOD_FATAL(glcnn_command_buffer_wait(commands));
    }
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&loss);
    destroy_images(sources, 2);
}

static float *train(const struct case_of_training *c, bool is_short, size_t *count)
{
    struct net n = make_net();
    if (is_short)
        set_short(true);
    glcnn_graph *graph = graph_for(&n, c);
    (c->is_encoded ? run_encoded : run_steps)(graph, STEPS);
    float *parameters = parameters_of(&n, count);
    glcnn_graph_destroy(&graph);
    if (is_short)
        set_short(false);
    destroy_net(&n);
    return parameters;
}

static bool differ(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) != 0;
}

static void compare(const struct case_of_training *c, const float *before)
{
    size_t count;
    float *whole = train(c, false, &count), *parts = train(c, true, &count);
    CU_ASSERT_TRUE(differ(before, whole, count));
    CU_ASSERT_TRUE(arrays_near(parts, whole, count, 2e-6));
    free(whole);
    free(parts);
}

static void train_with_short_blocks(void)
{
    size_t count;
    struct net n = make_net();
    float *before = parameters_of(&n, &count);
    for (int l = SECOND; l <= THIRD; l++)
        CU_ASSERT(glcnn_buffer_size(glcnn_kernel_vector(kernel_of(n.layers[l]), "weights")) >
                  2 * SHORT);
    destroy_net(&n);
    for (size_t i = 0; i < (unit_is_check() ? sizeof cases / sizeof *cases : 1); i++)
        compare(&cases[i], before);
    free(before);
}

static void test_training(void)
{
    on_families(train_with_short_blocks);
}

/* ---- Inference ---- */

static float *scores_of(const struct net *n)
{
    glcnn_image *sources[2];
    make_sources(sources);
    glcnn_graph *graph = graph_of(n->layers[LAST]);
    run_graph(graph, sources);
    float *scores = result_values(graph, n->layers[LAST]);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    return scores;
}

static void predict_with_short_blocks(void)
{
    struct net n = make_net();
    float *whole = scores_of(&n);
    set_short(true);
    float *parts = scores_of(&n);
    set_short(false);
    CU_ASSERT_TRUE(arrays_near(parts, whole, BATCH * CLASSES, 1e-6));
    free(whole);
    free(parts);
    destroy_net(&n);
}

static void test_inference(void)
{
    on_families(predict_with_short_blocks);
}

/* ---- Checkpoints and states ---- */

/* Training that goes on from a file ends with the bits of training that never stopped. */
static void test_checkpoints(void)
{
    char path[64];
    size_t count;
    snprintf(path, sizeof path, "%s/a", folder);
    for (size_t i = 0; i < 2; i++) {
        struct net whole = make_net(), resumed = make_net();
        set_short(true);
        glcnn_graph *graph = graph_for(&whole, &cases[i]);
        glcnn_graph *other = graph_for(&resumed, &cases[i]);
        run_steps(graph, 2);
        CU_ASSERT_EQUAL(glcnn_checkpoint_save(whole.net, path, NULL, 0, error), GLCNN_SUCCESS);
        run_steps(graph, 2);
        CU_ASSERT_EQUAL(glcnn_checkpoint_load(resumed.net, path, NULL, error), GLCNN_SUCCESS);
        run_steps(other, 2);
        float *expected = parameters_of(&whole, &count), *found = parameters_of(&resumed, &count);
        CU_ASSERT_FALSE(differ(expected, found, count));
        free(expected);
        free(found);
        glcnn_graph_destroy(&graph);
        glcnn_graph_destroy(&other);
        set_short(false);
        destroy_net(&whole);
        destroy_net(&resumed);
    }
    folder_empty(folder);
}

static void test_states(void)
{
    struct net n = make_net();
    glcnn_state *state;
    glcnn_kernel *kernel = kernel_of(n.layers[THIRD]);
    glcnn_command_buffer *commands = make_commands();
    set_short(true);
    GOOD_FATAL(glcnn_kernel_encode_export_state(commands, kernel, &state));
    finish(&commands);
    float *exported = vector_values(glcnn_state_vector(state, "weights"));
    set_short(false);
    float *own = vector_values(glcnn_kernel_vector(kernel, "weights"));
    CU_ASSERT_FALSE(differ(exported, own, vector_count(glcnn_kernel_vector(kernel, "weights"))));
    free(exported);
    free(own);
    glcnn_state_destroy(&state);
    destroy_net(&n);
}

/* ---- What is not taken apart ---- */

/* The kernel of 64 channels is refused with this message, its gradient too where it is trained. */
static void refuse(const char *name, const char *settings, bool trains, const char *message)
{
    const uint32_t limit = device->info.limits.storage_block_size;
    struct net n = {.net = make_network()};
    glcnn_image *sources[] = {make_image(1, 64, 4, 4), make_image(1, 320, 4, 4)};
    glcnn_image_node *y = layer(make_input(n.net, "image"), name, settings);
    glcnn_image_node *const pair[] = {y, make_input(n.net, "labels")};
    n.loss = glcnn_filter_node_create(n.net, "loss", "loss_type=mean_squared_error", pair, 2);
    n.layers[THIRD] = y;
    GOOD_FATAL(glcnn_network_initialise(n.net, 1));
    glcnn_graph *graph = trains ? graph_for(&n, &cases[0]) : graph_of(y);
    device->info.limits.storage_block_size = SHORT;
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_graph_execute(graph, sources, NULL, NULL));
    CU_ASSERT_STRING_EQUAL(glcnn_device_error(device), message);
    device->info.limits.storage_block_size = limit;
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&n.net);
}

#define OF_64   "input_feature_channels=64 output_feature_channels=320 padding=same "
#define AT_MOST "; this device's storage blocks have at most 327680"

static void test_others_are_refused(void)
{
    refuse("convolution_transpose", OF_64 "kernel_width=3 kernel_height=3", false,
           "convolution_transpose: weights takes 737280 bytes in "
           "convolution/convolution_transpose_weights.comp" AT_MOST);
    refuse("convolution", OF_64 "kernel_width=5 kernel_height=5 groups=2", true,
           "convolution_gradient: weights of 2 groups take 1024000 bytes" AT_MOST
           ", and gradients of more are made for one group, or for groups of one channel");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_training), UNIT_TEST(test_inference),          UNIT_TEST(test_checkpoints),
        UNIT_TEST(test_states),   UNIT_TEST(test_others_are_refused), CU_TEST_INFO_NULL,
    };
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int result = fixture_run("blocks", tests, argc, argv);
    rmdir(folder);
    return result;
}
