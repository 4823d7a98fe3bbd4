/* A network of the size of MobileNetV2 (Sandler et al. 2018), of 96x96 pictures in batches of 8, is
 * trained in 64 MiB of GPU memory: textures and buffers, as the driver has them, all counted, on the
 * device as it is and by the rows of large GPUs, which add sums up in more parts. Without a budget it
 * takes more than that. What a graph makes is within its budget, and what was planned to a byte. */
#include "tests/graphs.h"

#include <inttypes.h>

#include "device/device.h"
#include "glcnn/training.h"

#define SIDE     96
#define BATCH    8
#define CLASSES  10
#define MEBIBYTE 1048576
#define MOST     (64 * MEBIBYTE)
#define BUDGET   (40 * MEBIBYTE) /* of the graph; weights and momentum take the rest */

/* ---- The network ---- */

static glcnn_image_node *convolve(glcnn_image_node *x, uint32_t size, uint32_t inputs,
                                  uint32_t outputs, uint32_t stride, uint32_t groups)
{
    return glcnn_convolution_node(
        x,
        &(struct glcnn_convolution_descriptor){.kernel_width = size,
                                               .kernel_height = size,
                                               .input_feature_channels = inputs,
                                               .output_feature_channels = outputs,
                                               .stride_in_pixels_x = stride,
                                               .stride_in_pixels_y = stride,
                                               .groups = groups},
        NULL);
}

static glcnn_image_node *normalise(glcnn_image_node *x, bool rectified)
{
    return glcnn_node(x, "batch_normalization",
                      rectified ? "epsilon=1e-5 neuron_type=relun neuron_a=0 neuron_b=6"
                                : "epsilon=1e-5");
}

/* An inverted residual: wider by 1x1, each channel by itself, narrower by 1x1. */
static glcnn_image_node *invert(glcnn_image_node *x, uint32_t inputs, uint32_t outputs,
                                uint32_t wider, uint32_t stride)
{
    glcnn_image_node *y = x;
    uint32_t channels = inputs * wider;
    if (wider > 1)
        y = normalise(convolve(y, 1, inputs, channels, 1, 1), true);
    y = normalise(convolve(y, 3, channels, channels, stride, channels), true);
    y = normalise(convolve(y, 1, channels, outputs, 1, 1), false);
    return stride == 1 && inputs == outputs ? glcnn_node_binary(x, y, "add", NULL) : y;
}

static glcnn_image_node *build(glcnn_image_node *image)
{
    static const struct {
        uint32_t wider, channels, count, stride;
    } rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    glcnn_image_node *x = normalise(convolve(image, 3, 3, 32, 2, 1), true);
    uint32_t channels = 32;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (uint32_t i = 0; i < rows[r].count; i++) {
            x = invert(x, channels, rows[r].channels, rows[r].wider, i ? 1 : rows[r].stride);
            channels = rows[r].channels;
        }
    x = normalise(convolve(x, 1, channels, 1280, 1, 1), true);
    x = glcnn_node(x, "pooling_average", "kernel_width=3 kernel_height=3 padding=valid");
    return glcnn_node(x, "fully_connected",
                      "input_feature_channels=1280 output_feature_channels=10");
}

struct trainee {
    glcnn_network *network;
    glcnn_filter_node *loss;
    glcnn_kernel *optimizer;
    glcnn_image *sources[2];
};

static struct trainee make_trainee(void)
{
    struct trainee t = {.network = make_network()};
    glcnn_image_node *image = make_input(t.network, "image"),
                     *labels = make_input(t.network, "labels");
    glcnn_image_node *const pair[] = {build(image), labels};
    t.loss = glcnn_filter_node_create(
        t.network, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.125", pair,
        2);
    GOOD_FATAL(glcnn_network_status(t.network));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.005f, &t.optimizer));
    glcnn_optimizer(t.optimizer)->momentum_scale = 0.9f;
    t.sources[0] = make_image(BATCH, 3, SIDE, SIDE);
    t.sources[1] = make_image(BATCH, CLASSES, 1, 1);
    float values[BATCH * CLASSES] = {0};
    for (uint32_t n = 0; n < BATCH; n++)
        values[n * CLASSES + n % CLASSES] = 1;
    fill_noise(t.sources[0], 3);
    fill_image(t.sources[1], values);
    return t;
}

static void destroy_trainee(struct trainee *t)
{
    destroy_images(t->sources, 2);
    glcnn_kernel_destroy(&t->optimizer);
    glcnn_network_destroy(&t->network);
}

static glcnn_graph *make_graph(const struct trainee *t, uint64_t budget)
{
    glcnn_graph *graph = NULL;
    const struct glcnn_graph_descriptor descriptor = {.memory_budget = budget};
    GOOD_FATAL(glcnn_training_graph_create(t->loss, t->optimizer, &descriptor, &graph));
    return graph;
}

static struct glcnn_memory_plan plan_of(const struct trainee *t, glcnn_graph *graph)
{
    struct glcnn_memory_plan plan = {0};
    const struct glcnn_image_descriptor descriptors[] = {
        *glcnn_image_get_descriptor(t->sources[0]), *glcnn_image_get_descriptor(t->sources[1])};
    GOOD_FATAL(glcnn_graph_memory(graph, descriptors, &plan));
    return plan;
}

static double run(const struct trainee *t, glcnn_graph *graph)
{
    double sum = 0;
    run_graph(graph, t->sources);
    float *losses = result_values(graph, glcnn_filter_node_loss(t->loss));
    for (int n = 0; n < BATCH; n++)
        sum += (double)losses[n];
    free(losses);
    return sum;
}

static void train_mobilenet(void)
{
    struct trainee t = make_trainee();
    GOOD_FATAL(glcnn_network_initialise(t.network, 1));
    glcnn_graph *graph = make_graph(&t, BUDGET);
    struct glcnn_memory_plan plan = plan_of(&t, graph);
    printf("\n    %.1f MiB planned, %u parts, %u recomputed, %.0f %% more time expected",
           (double)plan.planned / MEBIBYTE, plan.sub_batches, plan.recomputed,
           100 * plan.extra_time);
    CU_ASSERT(plan.planned <= BUDGET);
    CU_ASSERT(plan.recomputed > 0);
    double first = run(&t, graph), second = run(&t, graph);
    uint64_t bytes = gpu_bytes();
    glcnn_graph_destroy(&graph);
    drop_stores();
    uint64_t others = gpu_bytes();
    printf("\n    %.1f MiB of the GPU's; losses %.4f, %.4f  ", (double)bytes / MEBIBYTE, first,
           second);
    CU_ASSERT_EQUAL(bytes - others, plan.planned);
    CU_ASSERT(bytes <= MOST);
    CU_ASSERT(second < first);
    destroy_trainee(&t);
}

static void test_mobilenet_is_trained_in_64_mebibytes(void)
{
    on_families(train_mobilenet);
}

/* Or the budget would be none. */
static void test_without_a_budget_it_takes_more(void)
{
    struct trainee t = make_trainee();
    glcnn_graph *graph = make_graph(&t, 0);
    struct glcnn_memory_plan plan = plan_of(&t, graph);
    printf("\n    %.1f MiB planned  ", (double)plan.planned / MEBIBYTE);
    CU_ASSERT(plan.planned > MOST);
    glcnn_graph_destroy(&graph);
    destroy_trainee(&t);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_mobilenet_is_trained_in_64_mebibytes),
                                        UNIT_TEST(test_without_a_budget_it_takes_more),
                                        CU_TEST_INFO_NULL};
    return fixture_run("memory of the GPU", tests, argc, argv);
}
