/* Gradients clipped by their norm, over all kernels that a graph updates. Stochastic gradient
 * descent without momentum tells the gradients by what it changes. test_shared_kernels.c has twenty
 * steps against PyTorch. */
#include "tests/graphs.h"

#include <math.h>

#include "graph/node.h"

#define RATE  0.5f
#define BATCH 5

/* ---- The small network ---- */

/* All vectors of the normalisations, which otherwise come with the first step. */
static void set_normalisations(const struct cnn *c)
{
    static const char *const names[] = {"gamma", "beta", "mean", "variance"};
    static const float values[] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int n = 0; n < 2; n++)
        for (size_t v = 0; v < 4; v++)
            GOOD_FATAL(
                glcnn_kernel_set_vector(kernel_of(c->normalised[n]), names[v], values, n ? 8 : 6));
}

/* What a step changes of all parameters, statistics too; the caller frees it. */
static double *change_of(float norm, bool encoded, bool apart, size_t *count)
{
    struct cnn c = make_cnn();
    glcnn_image *sources[2];
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, RATE, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(
        c.loss, optimizer, &(struct glcnn_graph_descriptor){.gradient_clip_norm = norm}, &graph));
    if (apart) /* another setting that changes nothing: a step of its own */
        glcnn_optimizer(glcnn_kernel_optimizer(kernel_of(c.convolved[1])))->epsilon = 1;
    make_cnn_sources(BATCH, sources);
    set_normalisations(&c);
    float *before = cnn_parameters(&c, count);
    if (encoded) {
        glcnn_image *loss;
        glcnn_command_buffer *commands = make_commands();
        GOOD_FATAL(glcnn_graph_encode(commands, graph, sources, &loss));
        finish(&commands);
        glcnn_image_destroy(&loss);
    } else {
        run_graph(graph, sources);
    }
    float *after = cnn_parameters(&c, count);
    double *change = calloc(*count, sizeof *change);
    CU_ASSERT_PTR_NOT_NULL_FATAL(change);
    for (size_t i = 0; i < *count; i++)
        change[i] = (double)after[i] - (double)before[i];
    free(before);
    free(after);
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
    return change;
}

/* Running statistics come behind beta of each normalisation and are nobody's gradients. */
static bool is_statistic(size_t i)
{
    const size_t first = 54 + 6 + 6 + 6, second = first + 12 + 432 + 8 + 8 + 8;
    return (i >= first && i < first + 12) || (i >= second && i < second + 16);
}

static double norm_of(const double *change, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += is_statistic(i) ? 0 : change[i] * change[i];
    return sqrt(sum);
}

static void steps_are_clipped_alike(void)
{
    size_t count;
    reduce_by_passes();
    double *free_change = change_of(0, false, false, &count);
    double norm = norm_of(free_change, count) / (double)RATE;
    CU_ASSERT(norm > 0.01);
    static const double shares[] = {0.25, 0.01, 1.5};
    for (size_t s = 0; s < 3; s++)
        for (int way = 0; way < 4; way++) {
            double factor = fmin(shares[s], 1);
            double *change = change_of((float)(norm * shares[s]), way & 1, way & 2, &count);
            for (size_t i = 0; i < count; i++)
                CU_ASSERT_TRUE(is_near(
                    change[i], is_statistic(i) ? free_change[i] : factor * free_change[i], 2e-7));
            CU_ASSERT(fabs(norm_of(change, count) / (double)RATE - factor * norm) < 1e-4 * norm);
            free(change);
        }
    free(free_change);
}

static void test_all_gradients_are_one_vector(void)
{
    on_families(steps_are_clipped_alike);
}

/* ---- One layer of many weights ---- */

#define INPUTS  64
#define OUTPUTS 5000

/* What a weight and a bias change from where they are in a step: y = 0 x + 1, targets 0, so all
 * gradients are 2 x. */
struct step {
    double weight, bias;
};

static struct step step_of_many(float x, float norm)
{
    char settings[80];
    float *ones = malloc(OUTPUTS * sizeof *ones), weight, bias;
    glcnn_network *net = make_network();
    glcnn_kernel *optimizer = NULL;
    glcnn_graph *graph = NULL;
    snprintf(settings, sizeof settings, "input_feature_channels=%d output_feature_channels=%d",
             INPUTS, OUTPUTS);
    glcnn_image_node *y = glcnn_node(make_input(net, "x"), "convolution", settings);
    glcnn_image_node *const pair[] = {y, make_input(net, "t")};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    for (int i = 0; ones && i < OUTPUTS; i++)
        ones[i] = 1;
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(y), "biases", ones, OUTPUTS));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, RATE, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(
        loss, optimizer, &(struct glcnn_graph_descriptor){.gradient_clip_norm = norm}, &graph));
    glcnn_image *sources[] = {make_image(1, INPUTS, 1, 1), make_image(1, OUTPUTS, 1, 1)};
    fill_constant(sources[0], x);
    run_graph(graph, sources);
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(y), "weights"),
                           ((size_t)OUTPUTS * INPUTS - 1) * 4, 4, &weight));
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(y), "biases"), 0, 4, &bias));
    free(ones);
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&net);
    return (struct step){(double)weight, (double)bias - 1};
}

/* Sums of more than two rounds. */
static void test_many_gradients_are_summed(void)
{
    double norm = 2 * sqrt(OUTPUTS * (INPUTS + 1.0));
    struct step step = step_of_many(1, 100);
    CU_ASSERT_TRUE(is_near(step.weight, -(double)RATE * 2 * 100 / norm, 1e-6));
    CU_ASSERT_TRUE(is_near(step.bias, -(double)RATE * 2 * 100 / norm, 1e-6));
    step = step_of_many(1, 2000); /* more than the norm */
    CU_ASSERT_EQUAL(step.weight, -(double)RATE * 2);
    CU_ASSERT_EQUAL(step.bias, -(double)RATE * 2);
}

/* Nobody takes them for a small step. */
static void test_norms_that_are_not_finite_are_seen(void)
{
    const float wrong[] = {1e30f, INFINITY, NAN};
    for (int i = 0; i < 3; i++) {
        struct step step = step_of_many(wrong[i], 1);
        CU_ASSERT(isnan(step.weight));
        CU_ASSERT(isnan(step.bias));
    }
}

/* ---- Callbacks ---- */

static bool note_gradient(void *context, glcnn_state *gradients, glcnn_state *values)
{
    (void)values;
    GOOD(glcnn_buffer_read(glcnn_state_vector(gradients, "gradient_for_weights"), 0, 4, context));
    return false;
}

/* y = x = 1, target 0: the gradients for weight and bias are 2, their norm sqrt(8). */
static void test_callbacks_see_what_is_clipped(void)
{
    const float one = 1, zero = 0;
    float found = 0;
    glcnn_network *net = make_network();
    glcnn_graph *graph = NULL;
    glcnn_image_node *y = glcnn_node(make_input(net, "x"), "convolution",
                                     "input_feature_channels=1 output_feature_channels=1");
    glcnn_image_node *const pair[] = {y, make_input(net, "t")};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        net, "loss", "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    const struct glcnn_data_source source = {.context = &found, .update_cpu = note_gradient};
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(y), "weights", &one, 1));
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(y), &source));
    GOOD_FATAL(
        glcnn_filter_node_set_training_style(filter_of(y), GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU));
    GOOD_FATAL(glcnn_training_graph_create(
        loss, NULL, &(struct glcnn_graph_descriptor){.gradient_clip_norm = 1}, &graph));
    glcnn_image *sources[] = {image_with(1, 1, 1, 1, &one), image_with(1, 1, 1, 1, &zero)};
    run_graph(graph, sources);
    CU_ASSERT_TRUE(is_near((double)found, 2 / sqrt(8), 1e-7));
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&net);
}

static void test_wrong_norms_are_refused(void)
{
    struct cnn c = make_cnn();
    glcnn_graph *graph = NULL;
    const float wrong[] = {-1, NAN};
    for (int i = 0; i < 2; i++)
        REFUSED(GLCNN_INVALID_ARGUMENT,
                glcnn_graph_create(c.net,
                                   &(struct glcnn_graph_descriptor){.results = &c.scores,
                                                                    .result_count = 1,
                                                                    .gradient_clip_norm = wrong[i]},
                                   &graph));
    glcnn_network_destroy(&c.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_all_gradients_are_one_vector),
        UNIT_TEST(test_many_gradients_are_summed),
        UNIT_TEST(test_norms_that_are_not_finite_are_seen),
        UNIT_TEST(test_callbacks_see_what_is_clipped),
        UNIT_TEST(test_wrong_norms_are_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("gradient_norm", tests, argc, argv);
}
