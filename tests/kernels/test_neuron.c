/* Neurons: every type over the whole range of its argument, what C's functions give at the edges of
 * their domains, kinks, defaults, PReLU's slopes and their gradient, and what is refused. */
#include "glcnn/kernels/neuron.h"

#include <float.h>
#include <math.h>

#include <glcnn/kernels/loss.h>
#include <glcnn/kernels/batch_normalization.h>
#include <glcnn/kernels/optimizer.h>

#include "reference/neuron.h"
#include "tests/graphs.h"
#include "task/model.h"

#define COUNT 512
#define BOUND 2e-6 /* relative to max(1, |f|) */

/* The first of the values; the others sweep both signs from 1e-6 to 80. */
static const float special[] = {0,  -0.0f, 1,    -1,    0.5f,     -0.5f,     2,      -2,
                                6,  -6,    100,  -100,  1e30f,    -1e30f,    1e-30f, -1e-30f,
                                88, -87,   2.5f, -2.5f, INFINITY, -INFINITY, NAN};
#define SPECIAL (sizeof special / sizeof *special)

static const struct glcnn_neuron_descriptor neurons[] = {
    {GLCNN_NEURON_TYPE_NONE, 0, 0, 0},
    {GLCNN_NEURON_TYPE_RELU, 0.25f, 0, 0},
    {GLCNN_NEURON_TYPE_RELU, 0, 0, 0},
    {GLCNN_NEURON_TYPE_LINEAR, -2, 0.5f, 0},
    {GLCNN_NEURON_TYPE_SIGMOID, 0, 0, 0},
    {GLCNN_NEURON_TYPE_HARD_SIGMOID, 0.25f, 0.5f, 0},
    {GLCNN_NEURON_TYPE_TANH, 1.5f, 0.75f, 0},
    {GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, 0},
    {GLCNN_NEURON_TYPE_SOFT_PLUS, 1, 1, 0},
    {GLCNN_NEURON_TYPE_SOFT_PLUS, 0.5f, -4, 0},
    {GLCNN_NEURON_TYPE_SOFT_SIGN, 0, 0, 0},
    {GLCNN_NEURON_TYPE_ELU, 1.25f, 0, 0},
    {GLCNN_NEURON_TYPE_PRELU, 0, 0, 0},
    {GLCNN_NEURON_TYPE_RELUN, 0.5f, 6, 0},
    {GLCNN_NEURON_TYPE_POWER, 1, 0, 3},
    {GLCNN_NEURON_TYPE_POWER, 1, 0, 2},
    {GLCNN_NEURON_TYPE_POWER, 1, 0, -3},
    {GLCNN_NEURON_TYPE_POWER, 1, 0, -0.5f},
    {GLCNN_NEURON_TYPE_POWER, 1, 0, 2.375f},
    {GLCNN_NEURON_TYPE_POWER, 0.5f, 1, 1},
    {GLCNN_NEURON_TYPE_EXPONENTIAL, 1, 0, -1},
    {GLCNN_NEURON_TYPE_EXPONENTIAL, 0.5f, 1, 2},
    {GLCNN_NEURON_TYPE_EXPONENTIAL, 1, 0, 0.25f},
    {GLCNN_NEURON_TYPE_LOGARITHM, 1, 0, -1},
    {GLCNN_NEURON_TYPE_LOGARITHM, 2, 0.5f, 10},
    {GLCNN_NEURON_TYPE_GELU, 0, 0, 0},
    {GLCNN_NEURON_TYPE_SWISH, 1, 0, 0},
    {GLCNN_NEURON_TYPE_SWISH, -1.5f, 0, 0},
    {GLCNN_NEURON_TYPE_CLIP, -2.25f, 3.5f, 0},
    {GLCNN_NEURON_TYPE_HARD_SWISH, 0.125f, 0.5f, 0},
    {GLCNN_NEURON_TYPE_GELU_TANH, 0, 0, 0},
    {GLCNN_NEURON_TYPE_MISH, 0, 0, 0},
    {GLCNN_NEURON_TYPE_SELU, 1.5f, 1.25f, 0},
    {GLCNN_NEURON_TYPE_CELU, 2, 0, 0},
    {GLCNN_NEURON_TYPE_CELU, -0.5f, 0, 0},
    {GLCNN_NEURON_TYPE_THRESHOLDED_RELU, 0.75f, 0, 0},
    {GLCNN_NEURON_TYPE_ERF, 0, 0, 0},
    {GLCNN_NEURON_TYPE_FLOOR, 0, 0, 0},
    {GLCNN_NEURON_TYPE_CEILING, 0, 0, 0},
    {GLCNN_NEURON_TYPE_ROUND, 0, 0, 0},
    {GLCNN_NEURON_TYPE_SIGN, 0, 0, 0},
    {GLCNN_NEURON_TYPE_SCALE, 0, 0, 0},
    {GLCNN_NEURON_TYPE_SHIFT, 0, 0, 0},
    {GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.25f, -5, 7},
};

static int count_types(void)
{
    int count = 0;
    while (neuron_type_names[count])
        count++;
    return count;
}

static void make_values(float values[COUNT])
{
    memcpy(values, special, sizeof special);
    for (size_t i = SPECIAL; i < COUNT; i++) {
        double size = 1e-6 * pow(80 / 1e-6, (double)(i - SPECIAL) / (double)(COUNT - SPECIAL));
        values[i] = (float)(i % 2 ? -size : size);
    }
}

/* What a float of the exact value is: beyond its range infinity, and 0 where there are no
 * subnormals, which are a device's own affair. */
static bool value_near(float found, double exact)
{
    if (isnan(exact))
        return isnan(found);
    if (fabs(exact) > (double)FLT_MAX * (1 + 1e-5))
        return isinf(found) && (found > 0) == (exact > 0);
    if (fabs(exact) > (double)FLT_MAX * (1 - 1e-5))
        return true;
    return fabs((double)found - exact) <= BOUND * fmax(1, fabs(exact));
}

/* Applies one kernel to COUNT values; for a gradient all of G is 1. */
static void apply(glcnn_kernel *kernel, bool gradient, const float x[COUNT], float y[COUNT])
{
    glcnn_image *source = make_image(1, 4, 8, COUNT / 32), *ones = make_image(1, 4, 8, COUNT / 32);
    glcnn_image *result = make_image(1, 4, 8, COUNT / 32);
    glcnn_command_buffer *to = make_commands();
    fill_image(source, x);
    fill_constant(ones, 1);
    struct glcnn_encode encode = {.source = gradient ? ones : source,
                                  .secondary = gradient ? source : NULL,
                                  .destination = result};
    GOOD(glcnn_kernel_encode(to, kernel, &encode));
    finish(&to);
    float *values = read_image(result);
    memcpy(y, values, COUNT * sizeof *y);
    free(values);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&ones);
    glcnn_image_destroy(&result);
}

static const float slopes[4] = {0.5f, -1, 0, 3};

static void compare(const struct glcnn_neuron_descriptor *neuron, bool gradient, const float *x,
                    const float *y)
{
    for (size_t i = 0; i < COUNT; i++) {
        double slope = (double)slopes[i / (COUNT / 4)];
        double exact = gradient ? neuron_derivative(neuron, slope, (double)x[i])
                                : neuron_value(neuron, slope, (double)x[i]);
        bool good = value_near(y[i], exact);
        CU_ASSERT(good);
        if (!good)
            fprintf(stderr, "\n%s a=%g b=%g c=%g: %s(%g) is %g, not %g\n",
                    neuron_type_names[neuron->type], (double)neuron->a, (double)neuron->b,
                    (double)neuron->c, gradient ? "f'" : "f", (double)x[i], (double)y[i], exact);
    }
}

static void test_every_type_everywhere(void)
{
    float x[COUNT], y[COUNT];
    make_values(x);
    for (size_t i = 0; i < sizeof neurons / sizeof *neurons; i++) {
        glcnn_kernel *forward = NULL, *gradient = NULL;
        GOOD_FATAL(glcnn_neuron_create(device, &neurons[i], slopes, 4, &forward));
        GOOD_FATAL(glcnn_neuron_gradient_create(device, &neurons[i], slopes, 4, &gradient));
        apply(forward, false, x, y);
        compare(&neurons[i], false, x, y);
        apply(gradient, true, x, y);
        compare(&neurons[i], true, x, y);
        glcnn_kernel_destroy(&forward);
        glcnn_kernel_destroy(&gradient);
    }
}

static void test_no_type_is_left_out(void)
{
    for (int type = 0; type < count_types(); type++) {
        bool found = false;
        for (size_t i = 0; i < sizeof neurons / sizeof *neurons; i++)
            found |= (int)neurons[i].type == type;
        CU_ASSERT(found);
    }
}

/* Small results keep their digits: expm1, log1p, tanh and the tail of the sigmoid. */
static void test_small_results_keep_their_digits(void)
{
    static const struct glcnn_neuron_descriptor precise[] = {
        {GLCNN_NEURON_TYPE_SIGMOID, 0, 0, 0},      {GLCNN_NEURON_TYPE_TANH, 1, 1, 0},
        {GLCNN_NEURON_TYPE_SOFT_PLUS, 1, 1, 0},    {GLCNN_NEURON_TYPE_ELU, 1, 0, 0},
        {GLCNN_NEURON_TYPE_EXPONENTIAL, 1, 0, -1}, {GLCNN_NEURON_TYPE_POWER, 1, 0, 1.5f},
        {GLCNN_NEURON_TYPE_GELU, 0, 0, 0},         {GLCNN_NEURON_TYPE_SWISH, 1, 0, 0},
        {GLCNN_NEURON_TYPE_MISH, 0, 0, 0},         {GLCNN_NEURON_TYPE_ERF, 0, 0, 0},
        {GLCNN_NEURON_TYPE_SELU, 1, 1, 0},         {GLCNN_NEURON_TYPE_CELU, 1, 0, 0}};
    float x[COUNT], y[COUNT];
    make_values(x);
    for (size_t i = 0; i < sizeof precise / sizeof *precise; i++) {
        glcnn_kernel *kernel = NULL;
        GOOD_FATAL(glcnn_neuron_create(device, &precise[i], NULL, 0, &kernel));
        apply(kernel, false, x, y);
        for (size_t k = SPECIAL; k < COUNT; k++) {
            double exact = neuron_value(&precise[i], 0, (double)x[k]);
            if (fabs(exact) > 1e-37)
                CU_ASSERT(fabs((double)y[k] / exact - 1) < 1e-6);
        }
        glcnn_kernel_destroy(&kernel);
    }
}

/* The table of spec 7.3. */
static void test_derivatives_at_kinks(void)
{
    static const struct {
        struct glcnn_neuron_descriptor neuron;
        double x, derivative;
    } rows[] = {
        {{GLCNN_NEURON_TYPE_RELU, 0.25f, 0, 0}, 0, 1},
        {{GLCNN_NEURON_TYPE_HARD_SIGMOID, 0.5f, 0.5f, 0}, -1, 0.5},
        {{GLCNN_NEURON_TYPE_HARD_SIGMOID, 0.5f, 0.5f, 0}, 1, 0.5},
        {{GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, 0}, 0, 0},
        {{GLCNN_NEURON_TYPE_ELU, 2, 0, 0}, 0, 1},
        {{GLCNN_NEURON_TYPE_PRELU, 0, 0, 0}, 0, 1},
        {{GLCNN_NEURON_TYPE_RELUN, 1, 6, 0}, 0, 1},
        {{GLCNN_NEURON_TYPE_RELUN, 1, 6, 0}, 6, 0},
        {{GLCNN_NEURON_TYPE_CLIP, -1, 2, 0}, -1, 1},
        {{GLCNN_NEURON_TYPE_CLIP, -1, 2, 0}, 2, 1},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, -1.24, 1},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, -1.26, 0},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, 1.74, 1},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, 1.75, 0},
        {{GLCNN_NEURON_TYPE_HARD_SWISH, 0.25f, 0.5f, 0}, -2, -0.5},
        {{GLCNN_NEURON_TYPE_HARD_SWISH, 0.25f, 0.5f, 0}, 2, 1},
        {{GLCNN_NEURON_TYPE_SELU, 2, 3, 0}, 0, 3},
        {{GLCNN_NEURON_TYPE_CELU, 2, 0, 0}, 0, 1},
        {{GLCNN_NEURON_TYPE_THRESHOLDED_RELU, 0.5f, 0, 0}, 0.5, 0},
        {{GLCNN_NEURON_TYPE_RELU, 0, 0, 1}, 0, 0}, /* those of the left */
        {{GLCNN_NEURON_TYPE_RELU, 0.25f, 0, 1}, 0, 0.25},
        {{GLCNN_NEURON_TYPE_RELU, 0.25f, 0, 1}, 1e-30, 1},
        {{GLCNN_NEURON_TYPE_RELU, 0.25f, 0, 1}, -1e-30, 0.25},
        {{GLCNN_NEURON_TYPE_ELU, 2, 0, 1}, 0, 2},
        {{GLCNN_NEURON_TYPE_SELU, 2, 3, 1}, 0, 6},
        {{GLCNN_NEURON_TYPE_PRELU, 0, 0, 1}, 0, 0.5},
        {{GLCNN_NEURON_TYPE_RELUN, 0, 6, 1}, 0, 0},
        {{GLCNN_NEURON_TYPE_RELUN, 0.5f, 6, 1}, 0, 0.5},
        {{GLCNN_NEURON_TYPE_RELUN, 0.5f, 6, 1}, 3, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float x[COUNT], y[COUNT];
        glcnn_kernel *kernel = NULL;
        for (size_t k = 0; k < COUNT; k++)
            x[k] = (float)rows[i].x;
        GOOD_FATAL(glcnn_neuron_gradient_create(device, &rows[i].neuron, slopes, 4, &kernel));
        apply(kernel, true, x, y);
        CU_ASSERT_EQUAL((double)y[0], rows[i].derivative);
        glcnn_kernel_destroy(&kernel);
    }
}

/* The beta that a step leaves of a batch normalisation whose results, before its ReLU, are 0. */
static float trained_beta(float c)
{
    glcnn_network *net = make_network();
    glcnn_image_node *x = make_input(net, "x"), *labels = make_input(net, "labels");
    glcnn_image_node *y = glcnn_batch_normalization_node(
        x, 1e-5f, &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_RELU, 0, 0, c}, NULL);
    glcnn_filter_node *loss = glcnn_loss_node(y, labels, NULL, GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR,
                                              GLCNN_REDUCTION_TYPE_SUM);
    glcnn_kernel *optimizer = NULL;
    glcnn_graph *graph = NULL;
    glcnn_image *images[2];
    float beta = NAN;
    GOOD_FATAL(glcnn_network_status(net));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.125f, &optimizer));
    GOOD_FATAL(
        glcnn_training_graph_create(loss, optimizer, &(struct glcnn_graph_descriptor){0}, &graph));
    for (size_t i = 0; i < 2; i++) {
        images[i] = make_image(2, 1, 2, 2);
        fill_constant(images[i], glcnn_graph_source(graph, i) == x ? 3 : 1);
    }
    run_graph(graph, images);
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(y), "beta"), 0, sizeof beta, &beta));
    destroy_images(images, 2);
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
    return beta;
}

/* 8 values with a gradient of -2 each; MPS's ReLU passes them on. */
static void test_a_fused_neuron_has_the_same_kink(void)
{
    CU_ASSERT_EQUAL(trained_beta(0), 0.125f * 2 * 8);
    CU_ASSERT_EQUAL(trained_beta(1), 0);
}

/* Networks of the tool have a ReLU as other frameworks do; the library's own is MPS's. */
static void test_networks_of_the_tool_take_the_left(void)
{
    static const struct form form = {64, 64, 3, 4};
    glcnn_filter_node *filter;
    glcnn_network *net = make_network();
    glcnn_kernel *own = kernel_of(glcnn_neuron_relu_node(make_input(net, "x"), 0));
    CU_ASSERT_EQUAL(glcnn_neuron(own)->neuron.c, 0);
    glcnn_network_destroy(&net);
    for (size_t i = 0; net_at(i); i++)
        for (size_t task = 0; task_at(task); task++) {
            struct model model;
            struct form of = form;
            size_t count = 0;
            double type, c;
            of.task = task_number(task_at(task));
            CU_ASSERT_TRUE_FATAL(model_create(device, net_at(i), &of, 2, &model));
            for (size_t k = 0; (filter = glcnn_network_filter(model.network, k)) != NULL; k++) {
                glcnn_kernel *kernel = glcnn_filter_node_kernel(filter);
                if (glcnn_kernel_get(kernel, "neuron_type", &type) == GLCNN_SUCCESS &&
                    type == GLCNN_NEURON_TYPE_RELU) {
                    GOOD(glcnn_kernel_get(kernel, "neuron_c", &c));
                    CU_ASSERT_EQUAL(c, 1);
                    count++;
                }
            }
            CU_ASSERT(count > 0);
            model_destroy(&model);
        }
    fixture_forget_error(device);
}

/* A branch that is not taken has no infinity times 0, and no clamp hides a NaN. */
static void test_what_is_not_finite(void)
{
    static const struct {
        struct glcnn_neuron_descriptor neuron;
        float x, value, derivative;
    } rows[] = {
        {{GLCNN_NEURON_TYPE_RELU, 0, 0, 0}, -INFINITY, 0, 0},
        {{GLCNN_NEURON_TYPE_RELU, 0.5f, 0, 0}, -INFINITY, -INFINITY, 0.5f},
        {{GLCNN_NEURON_TYPE_RELUN, 0, 6, 0}, -INFINITY, 0, 0},
        {{GLCNN_NEURON_TYPE_RELUN, 0, 6, 0}, INFINITY, 6, 0},
        {{GLCNN_NEURON_TYPE_RELU, 0, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_RELUN, 1, 6, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_HARD_SIGMOID, 0.2f, 0.5f, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_LINEAR, 2, 0, 0}, NAN, NAN, 2},
        {{GLCNN_NEURON_TYPE_POWER, 1, 0, 0}, NAN, 1, NAN},
        {{GLCNN_NEURON_TYPE_POWER, 1, 0, 0.5f}, 0, 0, 3.4e38f},
        {{GLCNN_NEURON_TYPE_POWER, 1, 0, -1}, 0, INFINITY, -3.4e38f},
        {{GLCNN_NEURON_TYPE_POWER, 1, 0, 2}, INFINITY, INFINITY, INFINITY},
        {{GLCNN_NEURON_TYPE_GELU, 0, 0, 0}, -INFINITY, 0, 0},
        {{GLCNN_NEURON_TYPE_GELU, 0, 0, 0}, INFINITY, INFINITY, 1},
        {{GLCNN_NEURON_TYPE_GELU, 0, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_SWISH, 1, 0, 0}, -INFINITY, 0, 0},
        {{GLCNN_NEURON_TYPE_SWISH, 1, 0, 0}, INFINITY, INFINITY, 1},
        {{GLCNN_NEURON_TYPE_SWISH, 1, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_CLIP, -1, 2, 0}, -INFINITY, -1, 0},
        {{GLCNN_NEURON_TYPE_CLIP, -1, 2, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_HARD_SWISH, 0.125f, 0.5f, 0}, -INFINITY, 0, 0},
        {{GLCNN_NEURON_TYPE_HARD_SWISH, 0.125f, 0.5f, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_GELU_TANH, 0, 0, 0}, -INFINITY, 0, 0},
        {{GLCNN_NEURON_TYPE_GELU_TANH, 0, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_MISH, 0, 0, 0}, -INFINITY, 0, 0},
        {{GLCNN_NEURON_TYPE_MISH, 0, 0, 0}, INFINITY, INFINITY, 1},
        {{GLCNN_NEURON_TYPE_MISH, 0, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_THRESHOLDED_RELU, 1, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_ERF, 0, 0, 0}, -INFINITY, -1, 0},
        {{GLCNN_NEURON_TYPE_ERF, 0, 0, 0}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_FLOOR, 0, 0, 0}, NAN, NAN, 0},
        {{GLCNN_NEURON_TYPE_ROUND, 0, 0, 0}, 2.5f, 2, 0},
        {{GLCNN_NEURON_TYPE_SIGN, 0, 0, 0}, NAN, NAN, 0},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, NAN, NAN, NAN},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, INFINITY, 1.5, 0},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, 0.25f, 0, 1},
        {{GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0.5f, -2, 3}, 0.75f, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int gradient = 0; gradient < 2; gradient++) {
            float x[COUNT], y[COUNT];
            float expected = gradient ? rows[i].derivative : rows[i].value;
            glcnn_kernel *kernel = NULL;
            for (size_t k = 0; k < COUNT; k++)
                x[k] = rows[i].x;
            GOOD_FATAL(gradient
                           ? glcnn_neuron_gradient_create(device, &rows[i].neuron, NULL, 0, &kernel)
                           : glcnn_neuron_create(device, &rows[i].neuron, NULL, 0, &kernel));
            apply(kernel, gradient, x, y);
            CU_ASSERT(isnan(expected) ? isnan(y[0]) : y[0] == expected);
            glcnn_kernel_destroy(&kernel);
        }
}

/* Each constant stands for the type of that name, with the numbers that the header gives. */
static void test_names_and_defaults(void)
{
    static const struct {
        const char *name;
        struct glcnn_neuron_descriptor neuron;
    } expected[] = {
        {"none", {GLCNN_NEURON_TYPE_NONE, 0, 0, 0}},
        {"relu", {GLCNN_NEURON_TYPE_RELU, 0, 0, 0}},
        {"linear", {GLCNN_NEURON_TYPE_LINEAR, 1, 0, 0}},
        {"sigmoid", {GLCNN_NEURON_TYPE_SIGMOID, 0, 0, 0}},
        {"hard_sigmoid", {GLCNN_NEURON_TYPE_HARD_SIGMOID, 0.2f, 0.5f, 0}},
        {"tanh", {GLCNN_NEURON_TYPE_TANH, 1, 1, 0}},
        {"absolute", {GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, 0}},
        {"soft_plus", {GLCNN_NEURON_TYPE_SOFT_PLUS, 1, 1, 0}},
        {"soft_sign", {GLCNN_NEURON_TYPE_SOFT_SIGN, 0, 0, 0}},
        {"elu", {GLCNN_NEURON_TYPE_ELU, 1, 0, 0}},
        {"prelu", {GLCNN_NEURON_TYPE_PRELU, 0, 0, 0}},
        {"relun", {GLCNN_NEURON_TYPE_RELUN, 1, 6, 0}},
        {"power", {GLCNN_NEURON_TYPE_POWER, 1, 0, 1}},
        {"exponential", {GLCNN_NEURON_TYPE_EXPONENTIAL, 1, 0, -1}},
        {"logarithm", {GLCNN_NEURON_TYPE_LOGARITHM, 1, 0, -1}},
        {"gelu", {GLCNN_NEURON_TYPE_GELU, 0, 0, 0}},
        {"swish", {GLCNN_NEURON_TYPE_SWISH, 1, 0, 0}},
        {"clip", {GLCNN_NEURON_TYPE_CLIP, 0, 1, 0}},
        {"hard_swish", {GLCNN_NEURON_TYPE_HARD_SWISH, 1.0f / 6, 0.5f, 0}},
        {"gelu_tanh", {GLCNN_NEURON_TYPE_GELU_TANH, 0, 0, 0}},
        {"mish", {GLCNN_NEURON_TYPE_MISH, 0, 0, 0}},
        {"selu", {GLCNN_NEURON_TYPE_SELU, 1.67326324f, 1.05070099f, 0}},
        {"celu", {GLCNN_NEURON_TYPE_CELU, 1, 0, 0}},
        {"thresholded_relu", {GLCNN_NEURON_TYPE_THRESHOLDED_RELU, 1, 0, 0}},
        {"erf", {GLCNN_NEURON_TYPE_ERF, 0, 0, 0}},
        {"floor", {GLCNN_NEURON_TYPE_FLOOR, 0, 0, 0}},
        {"ceiling", {GLCNN_NEURON_TYPE_CEILING, 0, 0, 0}},
        {"round", {GLCNN_NEURON_TYPE_ROUND, 0, 0, 0}},
        {"sign", {GLCNN_NEURON_TYPE_SIGN, 0, 0, 0}},
        {"scale", {GLCNN_NEURON_TYPE_SCALE, 0, 0, 0}},
        {"shift", {GLCNN_NEURON_TYPE_SHIFT, 0, 0, 0}},
        {"fake_quantization", {GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 1, -128, 127}},
    };
    const int count = sizeof expected / sizeof *expected;
    CU_ASSERT_EQUAL(count, count_types());
    for (int type = 0; type < count; type++) {
        const struct glcnn_neuron_descriptor *wanted = &expected[type].neuron;
        struct glcnn_neuron_descriptor made = glcnn_neuron_descriptor_default(wanted->type);
        CU_ASSERT_STRING_EQUAL(expected[type].name, neuron_type_names[wanted->type]);
        CU_ASSERT_EQUAL(made.type, wanted->type);
        CU_ASSERT_EQUAL(made.a, wanted->a);
        CU_ASSERT_EQUAL(made.b, wanted->b);
        CU_ASSERT_EQUAL(made.c, wanted->c);
    }
}

/* A number that stands for no type. */
static void test_defaults_of_no_type(void)
{
    const int wrong[] = {-1, count_types(), GLCNN_NEURON_TYPE_FORCE32};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct glcnn_neuron_descriptor made =
            glcnn_neuron_descriptor_default((glcnn_neuron_type)wrong[i]);
        CU_ASSERT_EQUAL((int)made.type, wrong[i]);
        CU_ASSERT(made.a == 0 && made.b == 0 && made.c == 0);
    }
}

static void test_types_with_slopes(void)
{
    const int wrong[] = {-1, count_types(), GLCNN_NEURON_TYPE_FORCE32};
    for (int type = 0; type < count_types(); type++) {
        const char *name = neuron_type_names[type];
        bool has = !strcmp(name, "prelu") || !strcmp(name, "scale") || !strcmp(name, "shift");
        CU_ASSERT_EQUAL(glcnn_neuron_has_slopes((glcnn_neuron_type)type), has);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_FALSE(glcnn_neuron_has_slopes((glcnn_neuron_type)wrong[i]));
}

/* A gradient kernel made without slopes or numbers finds them in the state. */
static void test_the_state_brings_type_and_slopes(void)
{
    static const struct glcnn_neuron_descriptor prelu = {GLCNN_NEURON_TYPE_PRELU, 0, 0, 0};
    glcnn_kernel *forward = NULL, *gradient = NULL;
    glcnn_image *x = make_image(1, 4, 3, 5), *y = NULL, *dx = NULL;
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    fill_constant(x, -2);
    GOOD_FATAL(glcnn_neuron_create(device, &prelu, slopes, 4, &forward));
    GOOD_FATAL(glcnn_neuron_gradient_create(device, NULL, NULL, 0, &gradient));
    glcnn_kernel_properties(forward)->result_is_ordinary = true;
    glcnn_kernel_properties(gradient)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(to, forward, &(struct glcnn_encode){.source = x}, &y,
                                             &state));
    GOOD_FATAL(glcnn_kernel_encode_returning(
        to, gradient, &(struct glcnn_encode){.source = x, .secondary = x, .state = state}, &dx,
        NULL));
    finish(&to);
    float *values = read_image(y), *gradients = read_image(dx);
    for (int i = 0; i < 60; i++) {
        CU_ASSERT_EQUAL(values[i], -2 * slopes[i / 15]);
        CU_ASSERT_EQUAL(gradients[i], -2 * slopes[i / 15]);
    }
    free(values);
    free(gradients);
    glcnn_image *images[] = {x, y, dx};
    for (int i = 0; i < 3; i++)
        glcnn_image_destroy(&images[i]);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
}

/* One channel holds -2, 0, 3 and -0.5, the other 1, -1, -0 and 4; an infinite gradient counts only
 * where the slope does. */
static void test_gradient_for_slopes_adds_up(void)
{
    static const struct glcnn_neuron_descriptor prelu = {GLCNN_NEURON_TYPE_PRELU, 0, 0, 0};
    glcnn_kernel *forward = NULL, *sums = NULL;
    glcnn_image *x = make_image(1, 2, 2, 2), *g = make_image(1, 2, 2, 2), *y = NULL;
    glcnn_state *state = NULL;
    float found[2];
    fill_image(x, (const float[]){-2, 0, 3, -0.5f, 1, -1, -0.0f, 4});
    fill_image(g, (const float[]){1, INFINITY, 5, 8, INFINITY, 0.25f, 2, INFINITY});
    GOOD_FATAL(glcnn_neuron_create(device, &prelu, slopes, 2, &forward));
    GOOD_FATAL(glcnn_neuron_slope_gradient_create(device, &sums));
    const struct glcnn_encode arguments = {.source = x};
    glcnn_command_buffer *to = make_commands();
    glcnn_kernel_properties(forward)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(to, forward, &arguments, &y, &state));
    const struct glcnn_encode backward = {.source = g, .secondary = x, .state = state};
    for (int i = 0; i < 3; i++) {
        if (i == 2) /* the third encode starts over */
            GOOD(glcnn_state_reset(state));
        GOOD(glcnn_kernel_encode(to, sums, &backward));
        finish(&to);
        GOOD(glcnn_buffer_read(glcnn_state_vector(state, "gradient_for_neuron_data"), 0,
                               sizeof found, found));
        CU_ASSERT_EQUAL(found[0], i == 1 ? -12 : -6);
        CU_ASSERT_EQUAL(found[1], i == 1 ? -0.5f : -0.25f);
        to = make_commands();
    }
    finish(&to);
    glcnn_image *images[] = {x, g, y};
    for (int i = 0; i < 3; i++)
        glcnn_image_destroy(&images[i]);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&sums);
}

/* Sums over the same pixels for each type, of each channel and of both: whole numbers are exact. */
static void test_gradients_for_slopes_of_each_type(void)
{
    static const struct {
        glcnn_neuron_type type;
        float wanted[2]; /* for one slope that channels share: their sum */
    } cases[] = {{GLCNN_NEURON_TYPE_PRELU, {-6, -2}},
                 {GLCNN_NEURON_TYPE_SCALE, {9, 30}},
                 {GLCNN_NEURON_TYPE_SHIFT, {16, 20}}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        const float *wanted = cases[i / 2].wanted;
        bool shares = i % 2;
        const struct glcnn_neuron_descriptor neuron = {.type = cases[i / 2].type};
        glcnn_kernel *forward = NULL, *sums = NULL;
        glcnn_image *x = make_image(1, 2, 2, 2), *g = make_image(1, 2, 2, 2), *y = NULL;
        glcnn_state *state = NULL;
        float found[2] = {0};
        fill_image(x, (const float[]){-2, 0, 3, -0.5f, 1, -1, 0, 4});
        fill_image(g, (const float[]){1, 2, 5, 8, 4, 2, 7, 7});
        GOOD_FATAL(glcnn_neuron_create(device, &neuron, NULL, 0, &forward));
        GOOD_FATAL(glcnn_neuron_slope_gradient_create(device, &sums));
        glcnn_neuron(forward)->shares_data = shares;
        glcnn_kernel_properties(forward)->result_is_ordinary = true;
        glcnn_command_buffer *to = make_commands();
        GOOD_FATAL(glcnn_kernel_encode_returning(to, forward, &(struct glcnn_encode){.source = x},
                                                 &y, &state));
        const struct glcnn_encode backward = {.source = g, .secondary = x, .state = state};
        GOOD(glcnn_kernel_encode(to, sums, &backward));
        GOOD(glcnn_kernel_encode(to, sums, &backward)); /* adds up */
        finish(&to);
        glcnn_buffer *vector = glcnn_state_vector(state, "gradient_for_neuron_data");
        CU_ASSERT_EQUAL_FATAL(glcnn_buffer_size(vector), shares ? 4 : 8);
        GOOD(glcnn_buffer_read(vector, 0, glcnn_buffer_size(vector), found));
        CU_ASSERT_EQUAL(found[0], 2 * (shares ? wanted[0] + wanted[1] : wanted[0]));
        CU_ASSERT_EQUAL(found[1], shares ? 0 : 2 * wanted[1]);
        glcnn_image *images[] = {x, g, y};
        for (int k = 0; k < 3; k++)
            glcnn_image_destroy(&images[k]);
        glcnn_state_destroy(&state);
        glcnn_kernel_destroy(&forward);
        glcnn_kernel_destroy(&sums);
    }
}

/* Other types have no slopes to differentiate by. */
static void test_gradient_for_slopes_needs_slopes(void)
{
    static const struct glcnn_neuron_descriptor relu = {GLCNN_NEURON_TYPE_RELU, 0, 0, 0};
    glcnn_kernel *forward = NULL, *sums = NULL;
    glcnn_image *x = make_image(1, 2, 2, 2), *y = NULL;
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    GOOD_FATAL(glcnn_neuron_create(device, &relu, NULL, 0, &forward));
    GOOD_FATAL(glcnn_neuron_slope_gradient_create(device, &sums));
    GOOD_FATAL(glcnn_kernel_encode_returning(to, forward, &(struct glcnn_encode){.source = x}, &y,
                                             &state));
    const struct glcnn_encode backward = {.source = x, .secondary = x, .state = state};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(to, sums, &backward));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "neuron_type is relu"));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(state, "gradient_for_neuron_data"));
    glcnn_command_buffer_destroy(&to);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&sums);
}

/* Only PReLU's slopes tie a kernel to a number of channels. */
static void test_channels_may_change(void)
{
    static const struct glcnn_neuron_descriptor relu = {GLCNN_NEURON_TYPE_RELU, 0, 0, 0},
                                                prelu = {GLCNN_NEURON_TYPE_PRELU, 0, 0, 0};
    glcnn_image *narrow = make_image(1, 4, 2, 2), *wide = make_image(1, 9, 2, 2), *y = NULL;
    glcnn_kernel *plain = NULL, *sloped = NULL;
    glcnn_command_buffer *to = make_commands();
    GOOD_FATAL(glcnn_neuron_create(device, &relu, NULL, 0, &plain));
    GOOD_FATAL(glcnn_neuron_create(device, &prelu, slopes, 4, &sloped));
    GOOD(glcnn_kernel_encode_returning(to, plain, &(struct glcnn_encode){.source = narrow}, &y,
                                       NULL));
    glcnn_image_destroy(&y);
    GOOD(
        glcnn_kernel_encode_returning(to, plain, &(struct glcnn_encode){.source = wide}, &y, NULL));
    glcnn_image_destroy(&y);
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(to, sloped, &(struct glcnn_encode){.source = wide}, &y,
                                          NULL));
    finish(&to);
    glcnn_image_destroy(&narrow);
    glcnn_image_destroy(&wide);
    glcnn_kernel_destroy(&plain);
    glcnn_kernel_destroy(&sloped);
}

static void test_what_is_refused(void)
{
    const struct glcnn_neuron_descriptor wrong[] = {
        {(glcnn_neuron_type)count_types(), 0, 0, 0},
        {GLCNN_NEURON_TYPE_EXPONENTIAL, 1, 0, 0},
        {GLCNN_NEURON_TYPE_EXPONENTIAL, 1, 0, -2},
        {GLCNN_NEURON_TYPE_LOGARITHM, 1, 0, 1},
        {GLCNN_NEURON_TYPE_LOGARITHM, 1, 0, 0},
        {GLCNN_NEURON_TYPE_RELU, INFINITY, 0, 0},
        {GLCNN_NEURON_TYPE_CELU, 0, 0, 0},
        {GLCNN_NEURON_TYPE_CLIP, 1, 0.5f, 0},
        {GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 0, -1, 1},
        {GLCNN_NEURON_TYPE_FAKE_QUANTIZATION, 1, 2, 1},
    };
    glcnn_kernel *kernel = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_neuron_create(device, &wrong[i], NULL, 0, &kernel));
        CU_ASSERT_PTR_NULL(kernel);
    }
    CU_ASSERT_PTR_NULL(glcnn_neuron(NULL));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_every_type_everywhere),
                                        UNIT_TEST(test_no_type_is_left_out),
                                        UNIT_TEST(test_small_results_keep_their_digits),
                                        UNIT_TEST(test_derivatives_at_kinks),
                                        UNIT_TEST(test_a_fused_neuron_has_the_same_kink),
                                        UNIT_TEST(test_networks_of_the_tool_take_the_left),
                                        UNIT_TEST(test_what_is_not_finite),
                                        UNIT_TEST(test_names_and_defaults),
                                        UNIT_TEST(test_defaults_of_no_type),
                                        UNIT_TEST(test_types_with_slopes),
                                        UNIT_TEST(test_the_state_brings_type_and_slopes),
                                        UNIT_TEST(test_gradient_for_slopes_adds_up),
                                        UNIT_TEST(test_gradients_for_slopes_of_each_type),
                                        UNIT_TEST(test_gradient_for_slopes_needs_slopes),
                                        UNIT_TEST(test_channels_may_change),
                                        UNIT_TEST(test_what_is_refused),
                                        CU_TEST_INFO_NULL};
    return fixture_run("neuron", tests, argc, argv);
}
