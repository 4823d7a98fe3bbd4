/* Loss scaling and images of float16: what a scale changes, which is nothing but what overflows or
 * would be 0; steps that are skipped; how the scale moves. */
#include "device/device.h"
#include "graph/loss_scale.h"
#include "tests/graphs.h"

#include <math.h>

#define BATCH 5
#define SCALED(SCALE)                                                                              \
    (struct glcnn_graph_descriptor)                                                                \
    {                                                                                              \
        .loss_scale.scale = SCALE                                                                  \
    }

static struct glcnn_dynamic_loss_scale scale_of(glcnn_graph *graph)
{
    struct glcnn_dynamic_loss_scale scale = {.scale = NAN};
    GOOD(glcnn_graph_get_loss_scale(graph, &scale));
    return scale;
}

/* ---- The small network ---- */

struct trained {
    struct cnn cnn;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static glcnn_graph *graph_with(const struct cnn *c, bool adam,
                               const struct glcnn_graph_descriptor *descriptor)
{
    glcnn_graph *graph = NULL;
    if (!glcnn_kernel_optimizer(kernel_of(c->scores)))
        train_network(c->net, adam);
    GOOD_FATAL(glcnn_training_graph_create(c->loss, NULL, descriptor, &graph));
    return graph;
}

static struct trained begin(bool adam, const struct glcnn_graph_descriptor *descriptor)
{
    struct trained t = {.cnn = make_cnn()};
    t.graph = graph_with(&t.cnn, adam, descriptor);
    make_cnn_sources(BATCH, t.sources);
    return t;
}

static void end(struct trained *t)
{
    glcnn_graph_destroy(&t->graph);
    destroy_images(t->sources, 2);
    glcnn_network_destroy(&t->cnn.net);
}

static void step(struct trained *t, int count)
{
    for (int i = 0; i < count; i++)
        run_graph(t->graph, t->sources);
}

struct values {
    float *data;
    size_t count;
};

static void append(struct values *values, glcnn_buffer *buffer)
{
    size_t count = buffer ? vector_count(buffer) : 0;
    values->data = realloc(values->data, (values->count + count + 1) * sizeof(float));
    CU_ASSERT_PTR_NOT_NULL_FATAL(values->data);
    if (buffer)
        GOOD(glcnn_buffer_read(buffer, 0, count * 4, values->data + values->count));
    values->count += count;
}

/* All that a step changes: weights, what optimizers keep and count. Running averages are not. */
static struct values state_of(const struct trained *t)
{
    static const char *const names[] = {"weights", "biases", "gamma", "beta"};
    const struct cnn *c = &t->cnn;
    glcnn_image_node *const nodes[] = {c->convolved[0], c->normalised[0], c->convolved[1],
                                       c->normalised[1], c->scores};
    struct values all = {NULL, 0};
    for (size_t n = 0; n < 5; n++) {
        glcnn_kernel *kernel = kernel_of(nodes[n]);
        for (size_t v = 0; v < 4; v++) {
            append(&all, glcnn_kernel_vector(kernel, names[v]));
            for (unsigned i = 0; i < 2; i++)
                append(&all, glcnn_kernel_optimizer_vector(kernel, names[v], i));
        }
        append(&all, NULL);
        all.data[all.count++] = (float)glcnn_optimizer(glcnn_kernel_optimizer(kernel))->time_step;
    }
    return all;
}

static bool same(const struct values *a, const struct values *b)
{
    return a->count == b->count && memcmp(a->data, b->data, a->count * sizeof(float)) == 0;
}

static bool same_state(const struct trained *a, const struct trained *b)
{
    struct values x = state_of(a), y = state_of(b);
    bool equal = same(&x, &y);
    CU_ASSERT(x.count > 1000);
    free(x.data);
    free(y.data);
    return equal;
}

/* ---- What a scale changes ---- */

/* A power of two rounds nothing, so float32 does not know of it. */
static void test_float32_has_the_same_bits(void)
{
    for (int way = 0; way < 4; way++) {
        bool adam = way & 1;
        const float norm = way & 2 ? 0.5f : 0;
        struct trained plain = begin(adam,
                                     &(struct glcnn_graph_descriptor){.gradient_clip_norm = norm}),
                       scaled =
                           begin(adam, &(struct glcnn_graph_descriptor){.gradient_clip_norm = norm,
                                                                        .loss_scale.scale = 65536});
        step(&plain, 4);
        step(&scaled, 4);
        if (norm > 0) { /* summed in other rounds */
            struct values x = state_of(&plain), y = state_of(&scaled);
            CU_ASSERT_TRUE(arrays_near(y.data, x.data, x.count, 1e-5));
            free(x.data);
            free(y.data);
        } else {
            CU_ASSERT_TRUE(same_state(&plain, &scaled));
        }
        CU_ASSERT_EQUAL(scale_of(scaled.graph).good_steps, 4);
        CU_ASSERT_EQUAL(scale_of(scaled.graph).skipped_steps, 0);
        CU_ASSERT_EQUAL(scale_of(plain.graph).scale, 0);
        end(&plain);
        end(&scaled);
    }
}

/* y = w x of one pixel, t = 0: the gradient of y is `weight` 2 w x, that of w as much with x = 1. */
struct scalar {
    glcnn_network *net;
    glcnn_image_node *y;
    glcnn_filter_node *loss;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static struct scalar make_scalar(float weight, const struct glcnn_graph_descriptor *descriptor)
{
    const float one = 1, zero = 0;
    struct scalar s = {.net = make_network()};
    s.y = glcnn_node(make_input(s.net, "x"), "convolution",
                     "input_feature_channels=1 output_feature_channels=1");
    glcnn_image_node *const pair[] = {s.y, make_input(s.net, "t")};
    s.loss = glcnn_filter_node_create(s.net, "loss",
                                      "loss_type=mean_squared_error reduction_type=sum", pair, 2);
    glcnn_loss(glcnn_filter_node_kernel(s.loss))->weight = weight;
    GOOD_FATAL(glcnn_kernel_set_vector(kernel_of(s.y), "weights", &one, 1));
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 1 / weight, &optimizer));
    glcnn_optimizer(optimizer)->learning_rate = 0.125f / weight;
    GOOD_FATAL(glcnn_training_graph_create(s.loss, optimizer, descriptor, &s.graph));
    glcnn_kernel_destroy(&optimizer);
    s.sources[0] = image_with(1, 1, 1, 1, &one);
    s.sources[1] = image_with(1, 1, 1, 1, &zero);
    return s;
}

static float weight_of(const struct scalar *s)
{
    float weight = NAN;
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel_of(s->y), "weights"), 0, 4, &weight));
    return weight;
}

static void end_scalar(struct scalar *s)
{
    glcnn_graph_destroy(&s->graph);
    destroy_images(s->sources, 2);
    glcnn_network_destroy(&s->net);
}

/* 2^-25 is 0 in float16, and 2^-9 is not. */
static void test_small_gradients_survive(void)
{
    static const struct {
        float scale, expected;
    } cases[] = {{0, 1}, {65536, 0.75f}};
    for (size_t i = 0; i < 2; i++) {
        struct scalar s = make_scalar(
            0x1p-26f, &(struct glcnn_graph_descriptor){.format = GLCNN_CHANNEL_FORMAT_FLOAT16,
                                                       .loss_scale.scale = cases[i].scale});
        run_graph(s.graph, s.sources);
        CU_ASSERT_EQUAL(weight_of(&s), cases[i].expected);
        end_scalar(&s);
    }
}

/* The loss is summed in float32: 1e5 is beyond float16. */
static void test_losses_are_float32(void)
{
    struct scalar s =
        make_scalar(1e5f, &(struct glcnn_graph_descriptor){.format = GLCNN_CHANNEL_FORMAT_FLOAT16});
    run_graph(s.graph, s.sources);
    float *loss = result_values(s.graph, glcnn_filter_node_loss(s.loss));
    CU_ASSERT_EQUAL(loss[0], 1e5f);
    free(loss);
    end_scalar(&s);
}

static void test_float16_takes_half_the_memory(void)
{
    struct glcnn_image_descriptor sources[] = {
        {.width = CNN_SIDE, .height = CNN_SIDE, .feature_channels = 1, .number_of_images = 64},
        {.feature_channels = CNN_CLASSES, .number_of_images = 64}};
    struct glcnn_memory_plan plans[2];
    const struct glcnn_device_traits traits = device->info.traits;
    /* What is not stored is saved in one format, not in both. */
    device->info.traits.slow_image_stores = device->info.traits.recomputes_pixels = false;
    for (int half = 0; half < 2; half++) {
        struct trained t = begin(
            false, &(struct glcnn_graph_descriptor){.format = half ? GLCNN_CHANNEL_FORMAT_FLOAT16
                                                                   : GLCNN_CHANNEL_FORMAT_FLOAT32,
                                                    .loss_scale.scale = 65536});
        GOOD(glcnn_graph_memory(t.graph, sources, &plans[half]));
        end(&t);
    }
    device->info.traits = traits;
    CU_ASSERT(plans[1].planned > 0 && plans[1].planned <= plans[0].planned * 51 / 100);
    CU_ASSERT(plans[1].without_sharing <= plans[0].without_sharing * 51 / 100);
}

/* ---- Steps that are skipped ---- */

static struct glcnn_graph_descriptor half_with(struct glcnn_dynamic_loss_scale scale)
{
    return (struct glcnn_graph_descriptor){.format = GLCNN_CHANNEL_FORMAT_FLOAT16,
                                           .loss_scale = scale};
}

/* The run that finds its scale is the run that begins with it. `apart`: a pass for each vector. */
static void skip_and_go_on(bool adam, bool apart)
{
    struct glcnn_graph_descriptor first =
        half_with((struct glcnn_dynamic_loss_scale){.scale = 0x1p24f});
    struct trained finds = begin(adam, &first);
    if (apart)
        glcnn_optimizer(glcnn_kernel_optimizer(kernel_of(finds.cnn.convolved[1])))->decay = 0.5;
    step(&finds, 1); /* makes gamma and beta */
    struct values before = state_of(&finds);
    step(&finds, 1);
    struct values after = state_of(&finds);
    CU_ASSERT_TRUE(same(&before, &after));
    free(before.data);
    free(after.data);
    struct glcnn_dynamic_loss_scale scale = scale_of(finds.graph);
    CU_ASSERT_EQUAL(scale.scale, 0x1p22f);
    CU_ASSERT_EQUAL(scale.skipped_steps, 2);
    for (int i = 0; i < 20 && (scale = scale_of(finds.graph)).good_steps == 0; i++)
        step(&finds, 1);
    CU_ASSERT_EQUAL(scale.good_steps, 1);
    CU_ASSERT(scale.skipped_steps > 1);
    CU_ASSERT_EQUAL((float)ldexp((double)scale.scale, (int)scale.skipped_steps), 0x1p24f);
    struct glcnn_graph_descriptor second =
        half_with((struct glcnn_dynamic_loss_scale){.scale = scale.scale});
    struct trained knows = begin(adam, &second);
    step(&finds, 2);
    step(&knows, 3);
    CU_ASSERT_TRUE(same_state(&finds, &knows));
    end(&finds);
    end(&knows);
}

static void test_overflow_skips_the_step(void)
{
    for (int way = 0; way < 4; way++)
        skip_and_go_on(way & 1, way & 2);
}

static bool count_call(void *context, glcnn_state *gradients, glcnn_state *values)
{
    float gradient = NAN;
    (void)values;
    GOOD(glcnn_buffer_read(glcnn_state_vector(gradients, "gradient_for_weights"), 0, 4, &gradient));
    CU_ASSERT_EQUAL(gradient, 2); /* not scaled */
    ++*(int *)context;
    return false;
}

static void test_callbacks_are_not_called_for_it(void)
{
    int calls = 0;
    struct glcnn_graph_descriptor descriptor =
        half_with((struct glcnn_dynamic_loss_scale){.scale = 65536});
    struct scalar s = make_scalar(1, &descriptor);
    const struct glcnn_data_source source = {.context = &calls, .update_cpu = count_call};
    glcnn_graph_destroy(&s.graph);
    GOOD_FATAL(glcnn_kernel_set_data_source(kernel_of(s.y), &source));
    GOOD_FATAL(glcnn_filter_node_set_training_style(filter_of(s.y),
                                                    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU));
    GOOD_FATAL(glcnn_training_graph_create(s.loss, NULL, &descriptor, &s.graph));
    run_graph(s.graph, s.sources); /* 2 * 65536 is beyond float16 */
    CU_ASSERT_EQUAL(calls, 0);
    CU_ASSERT_EQUAL(scale_of(s.graph).skipped_steps, 1);
    for (int i = 0; i < 3; i++)
        run_graph(s.graph, s.sources);
    CU_ASSERT_EQUAL(calls + (int)scale_of(s.graph).skipped_steps, 4);
    CU_ASSERT(calls > 0);
    end_scalar(&s);
}

/* A NaN of the picture is none of the scale: three executions skip, the fourth fails. */
static void test_what_no_scale_helps_ends(void)
{
    struct glcnn_graph_descriptor descriptor =
        half_with((struct glcnn_dynamic_loss_scale){.scale = 8});
    struct scalar s = make_scalar(1, &descriptor);
    fill_constant(s.sources[0], NAN);
    for (int i = 0; i < 3; i++)
        run_graph(s.graph, s.sources);
    CU_ASSERT_EQUAL(scale_of(s.graph).scale, 1);
    for (int i = 0; i < 2; i++) {
        GOOD(glcnn_graph_execute(s.graph, s.sources, NULL, NULL));
        REFUSED(GLCNN_INVALID_STATE, glcnn_graph_wait(s.graph));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "not finite"));
    }
    CU_ASSERT_EQUAL(weight_of(&s), 1);
    CU_ASSERT_EQUAL(scale_of(s.graph).skipped_steps, 5);
    GOOD(glcnn_graph_execute(s.graph, s.sources, NULL, NULL));
    REFUSED(GLCNN_INVALID_STATE, glcnn_graph_execute(s.graph, s.sources, NULL, NULL));
    fill_constant(s.sources[0], 1);
    run_graph(s.graph, s.sources);
    CU_ASSERT_EQUAL(weight_of(&s), 0.75f);
    end_scalar(&s);
}

/* Without a scale nothing is skipped. */
static void test_no_scale_hides_no_nan(void)
{
    struct glcnn_graph_descriptor descriptor = half_with((struct glcnn_dynamic_loss_scale){0});
    struct scalar s = make_scalar(1, &descriptor);
    fill_constant(s.sources[0], NAN);
    run_graph(s.graph, s.sources);
    CU_ASSERT(isnan(weight_of(&s)));
    end_scalar(&s);
}

/* A picture that is NaN makes every statistic of the batch NaN: averages stay, as weights do. */
static void test_averages_stay_finite(void)
{
    static const char *const names[] = {"mean", "variance"};
    struct glcnn_graph_descriptor descriptor = {.loss_scale = {.scale = 1, .largest = 1}};
    struct trained t = begin(true, &descriptor);
    glcnn_image_node *const nodes[] = {t.cnn.normalised[0], t.cnn.normalised[1]};
    struct values kept[2] = {{NULL, 0}, {NULL, 0}};
    step(&t, 1);
    struct values before = state_of(&t);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < 4; i++)
            append(&kept[turn], glcnn_kernel_vector(kernel_of(nodes[i / 2]), names[i % 2]));
        if (turn > 0)
            break;
        fill_constant(t.sources[0], NAN);
        GOOD(glcnn_graph_execute(t.graph, t.sources, NULL, NULL));
        REFUSED(GLCNN_INVALID_STATE, glcnn_graph_wait(t.graph));
    }
    struct values after = state_of(&t);
    CU_ASSERT_TRUE(same(&before, &after));
    CU_ASSERT(kept[0].count > 8 && kept[0].data[0] != 0);
    CU_ASSERT_TRUE(same(&kept[0], &kept[1]));
    free(before.data), free(after.data);
    free(kept[0].data), free(kept[1].data);
    end(&t);
}

/* ---- The scale ---- */

/* 2000 good steps in a row, and not in all. */
static void test_a_skipped_step_begins_the_count_again(void)
{
    struct glcnn_graph graph = {.loss_scale = {1024, 1999, 3}};
    GOOD(loss_scale_count_skipped(&graph));
    CU_ASSERT_EQUAL(graph.loss_scale.scale, 512);
    CU_ASSERT_EQUAL(graph.loss_scale.good_steps, 0);
    CU_ASSERT_EQUAL(graph.loss_scale.skipped_steps, 4);
    CU_ASSERT_EQUAL(graph.loss_unscale, 1.0f / 512);
    for (int i = 0; i < 1999; i++)
        loss_scale_count_good(&graph);
    CU_ASSERT_EQUAL(graph.loss_scale.scale, 512);
    CU_ASSERT_EQUAL(graph.loss_scale.good_steps, 1999);
    loss_scale_count_good(&graph);
    CU_ASSERT_EQUAL(graph.loss_scale.scale, 1024);
    CU_ASSERT_EQUAL(graph.loss_scale.good_steps, 0);
    CU_ASSERT_EQUAL(graph.loss_scale.skipped_steps, 4);
}

static void test_good_steps_let_it_grow(void)
{
    static const struct {
        struct glcnn_dynamic_loss_scale before, after;
    } cases[] = {{{16, 1997, 3, 0}, {16, 1998, 3, 0}}, {{16, 1999, 3, 0}, {32, 0, 3, 0}},
                 {{16, 1999, 3, 32}, {32, 0, 3, 32}},  {{16, 1999, 3, 16}, {16, 0, 3, 16}},
                 {{1, 1999, 0, 1}, {1, 0, 0, 1}},      {{0x1p24f, 1999, 0, 0}, {0x1p24f, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scalar s =
            make_scalar(1, &(struct glcnn_graph_descriptor){.loss_scale = cases[i].before});
        run_graph(s.graph, s.sources);
        struct glcnn_dynamic_loss_scale after = scale_of(s.graph);
        CU_ASSERT_EQUAL(after.scale, cases[i].after.scale);
        CU_ASSERT_EQUAL(after.good_steps, cases[i].after.good_steps);
        CU_ASSERT_EQUAL(after.skipped_steps, cases[i].after.skipped_steps);
        CU_ASSERT_EQUAL(after.largest, cases[i].after.largest);
        end_scalar(&s);
    }
}

/* Another graph that is given the scale goes on as the first would have. */
static void test_a_run_goes_on_with_its_scale(void)
{
    struct glcnn_graph_descriptor descriptor =
        half_with((struct glcnn_dynamic_loss_scale){.scale = 0x1p24f});
    struct trained whole = begin(true, &descriptor), parts = begin(true, &descriptor);
    step(&whole, 16);
    step(&parts, 4);
    descriptor.loss_scale = scale_of(parts.graph);
    glcnn_graph_destroy(&parts.graph);
    parts.graph = graph_with(&parts.cnn, true, &descriptor);
    step(&parts, 12);
    CU_ASSERT(scale_of(whole.graph).good_steps > 0 && scale_of(whole.graph).skipped_steps > 4);
    CU_ASSERT_EQUAL(scale_of(whole.graph).skipped_steps, scale_of(parts.graph).skipped_steps);
    CU_ASSERT_TRUE(same_state(&whole, &parts));
    end(&whole);
    end(&parts);
}

static void test_wrong_scales_are_refused(void)
{
    static const struct glcnn_dynamic_loss_scale wrong[] = {
        {3, 0, 0, 0},        {0.5f, 0, 0, 0},     {0x1p25f, 0, 0, 0}, {-2, 0, 0, 0},
        {NAN, 0, 0, 0},      {INFINITY, 0, 0, 0}, {16, 2000, 0, 0},   {0, 1, 0, 0},
        {0, 0, 1, 0},        {0, 0, 0, 1},        {16, 0, 0, 8},      {16, 0, 0, 24},
        {16, 0, 0, 0x1p25f}, {16, 0, 0, NAN},     {16, 0, 0, -16}};
    struct cnn c = make_cnn();
    glcnn_graph *graph = NULL;
    train_network(c.net, false);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        REFUSED(
            GLCNN_INVALID_ARGUMENT,
            glcnn_training_graph_create(
                c.loss, NULL, &(struct glcnn_graph_descriptor){.loss_scale = wrong[i]}, &graph));
    glcnn_image *sources[2], *loss = NULL;
    make_cnn_sources(BATCH, sources);
    GOOD_FATAL(glcnn_training_graph_create(c.loss, NULL, &SCALED(16), &graph));
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_STATE, glcnn_graph_encode(commands, graph, sources, &loss));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_graph_get_loss_scale(graph, NULL));
    glcnn_command_buffer_destroy(&commands);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&c.net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_float32_has_the_same_bits),
        UNIT_TEST(test_small_gradients_survive),
        UNIT_TEST(test_losses_are_float32),
        UNIT_TEST(test_float16_takes_half_the_memory),
        UNIT_TEST(test_overflow_skips_the_step),
        UNIT_TEST(test_callbacks_are_not_called_for_it),
        UNIT_TEST(test_what_no_scale_helps_ends),
        UNIT_TEST(test_no_scale_hides_no_nan),
        UNIT_TEST(test_a_skipped_step_begins_the_count_again),
        UNIT_TEST(test_good_steps_let_it_grow),
        UNIT_TEST(test_a_run_goes_on_with_its_scale),
        UNIT_TEST(test_wrong_scales_are_refused),
        UNIT_TEST(test_averages_stay_finite),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("loss_scale", tests, argc, argv);
}
