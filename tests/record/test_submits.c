/* Training steps of few passes, which devices take on which each dispatch is a submit. How many those of
 * the tool's networks have; and of the gradients of convolutions, that they leave the bits that they
 * leave by the passes of other devices. */
#include "tests/graphs.h"

#include "device/traits.h"
#include "graph/compile.h"
#include "graph/node.h"
#include "task/model.h"

#define BATCH   320 /* more rows than are added up in one run of chunks */
#define SIDE    12
#define CLASSES 5
#define LAYERS  4
#define STEPS   2
#define PHASES  4 /* of a stride of 2 along both axes */
#define STRIDED 2 /* layers */

#define STRIDE_2 " stride_in_pixels_x=2 stride_in_pixels_y=2"
#define THREE    " kernel_width=3 kernel_height=3"
static const char *const layers[LAYERS] = {
    "convolution input_feature_channels=1 output_feature_channels=6" THREE,
    "convolution input_feature_channels=6 output_feature_channels=8 without_biases=1" THREE
        STRIDE_2,
    "convolution input_feature_channels=8 output_feature_channels=8" STRIDE_2,
    "fully_connected input_feature_channels=8 output_feature_channels=5" THREE};

/* How the network is trained. */
struct way {
    const char *renderer;
    bool shared;     /* its last convolution comes twice, by one kernel */
    float clip_norm; /* of the gradients; 0: any */
};

/* What a step has, and what STEPS of them leave. */
struct outcome {
    size_t passes, sums, merges, merged_sums, count;
    bool batches_phases; /* the device has registers for that */
    float *values;
};

struct strided {
    glcnn_network *net;
    glcnn_kernel *kernels[LAYERS];
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static glcnn_image_node *add_layers(struct strided *s, const struct way *way, glcnn_image_node *x)
{
    for (int i = 0; i < LAYERS; i++) {
        char kernel[32];
        size_t length = strcspn(layers[i], " ");
        snprintf(kernel, sizeof kernel, "%.*s", (int)length, layers[i]);
        x = glcnn_node(x, kernel, layers[i] + length);
        s->kernels[i] = kernel_of(x);
        if (way->shared && i == 0)
            x = glcnn_node(x, "convolution",
                           "input_feature_channels=6 output_feature_channels=6" THREE);
        if (way->shared && i == 0)
            x = glcnn_node_with_kernel(x, kernel_of(x));
    }
    return x;
}

static void make_sources(glcnn_image *sources[2])
{
    static float labels[BATCH * CLASSES];
    sources[0] = make_image(BATCH, 1, SIDE, SIDE);
    sources[1] = make_image(BATCH, CLASSES, 1, 1);
    fill_noise(sources[0], 3);
    for (uint32_t n = 0; n < BATCH; n++)
        labels[n * CLASSES + n % CLASSES] = 1;
    fill_image(sources[1], labels);
}

static struct strided make_strided(const struct way *way)
{
    struct strided s = {.net = make_network()};
    glcnn_kernel *optimizer = NULL;
    glcnn_image_node *x = add_layers(&s, way, make_input(s.net, "image"));
    glcnn_image_node *const pair[] = {x, make_input(s.net, "labels")};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        s.net, "loss", "loss_type=soft_max_cross_entropy reduction_type=mean", pair, 2);
    GOOD_FATAL(glcnn_network_status(s.net));
    set_weights(s.net, 5);
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.05f, &optimizer));
    glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    GOOD_FATAL(glcnn_training_graph_create(
        loss, optimizer, &(struct glcnn_graph_descriptor){.gradient_clip_norm = way->clip_norm},
        &s.graph));
    glcnn_kernel_destroy(&optimizer);
    make_sources(s.sources);
    return s;
}

static size_t passes_with(const struct strided *s, const char *shader)
{
    const glcnn_command_buffer *commands = s->graph->executing->command_buffer;
    size_t count = 0;
    for (size_t i = 0; i < commands->pass_count; i++)
        count += strcmp(commands->passes[i].shader, shader) == 0;
    return count;
}

static void append(struct outcome *o, glcnn_buffer *vector)
{
    size_t count = vector ? vector_count(vector) : 0;
    o->values = realloc(o->values, (o->count + count + 1) * sizeof *o->values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(o->values);
    if (count)
        GOOD(glcnn_buffer_read(vector, 0, count * sizeof(float), o->values + o->count));
    o->count += count;
}

/* On a device of its own with the traits of that renderer, but for `submits`. */
static struct outcome train(const struct way *way, bool submits)
{
    fixture_close();
    CU_ASSERT_TRUE_FATAL(fixture_open());
    device->info.traits = traits_find(way->renderer, way->renderer);
    device->info.limits.output_resources = 16; /* so that all that can be is merged */
    CU_ASSERT(device->info.traits.submits_dispatches);
    device->info.traits.submits_dispatches = submits;
    struct strided s = make_strided(way);
    for (int i = 0; i < STEPS; i++)
        run_graph(s.graph, s.sources);
    struct outcome o = {.batches_phases = device->info.traits.registers >= 14,
                        .passes = s.graph->executing->command_buffer->pass_count,
                        .sums = passes_with(&s, "convolution/convolution_gradient_sum.comp"),
                        .merges = passes_with(&s, "convolution/convolution_gradient_merge.comp"),
                        .merged_sums =
                            passes_with(&s, "convolution/convolution_gradient_sum_rows.comp")};
    for (int i = 0; i < LAYERS; i++) {
        append(&o, glcnn_kernel_vector(s.kernels[i], "weights"));
        append(&o, glcnn_kernel_vector(s.kernels[i], "biases"));
    }
    glcnn_graph_destroy(&s.graph);
    destroy_images(s.sources, 2);
    glcnn_network_destroy(&s.net);
    return o;
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
    CU_ASSERT_EQUAL_FATAL(a->count, b->count);
    CU_ASSERT(a->count > 0);
    CU_ASSERT_EQUAL(memcmp(a->values, b->values, a->count * sizeof *a->values), 0);
}

/* Of each strided layer one pass for all phases, and of all layers one pass that adds up. */
static void check_way(const struct way *way)
{
    struct outcome few = train(way, true), many = train(way, false);
    CU_ASSERT(many.sums >= 3);
    CU_ASSERT(many.merges > 0);
    CU_ASSERT_EQUAL(many.merged_sums, 0);
    CU_ASSERT_EQUAL(few.merges, 0);
    if (!way->shared) {
        CU_ASSERT_EQUAL(few.sums, 0);
        CU_ASSERT_EQUAL(few.merged_sums, 1);
    }
    CU_ASSERT_EQUAL(many.passes - few.passes,
                    many.sums + many.merges - few.sums - few.merged_sums +
                        (few.batches_phases ? STRIDED * (PHASES - 1) : 0));
    check_same(&few, &many);
    free(few.values);
    free(many.values);
}

static void test_a_step_has_few_gradient_passes(void)
{
    static const char *const renderers[] = {"Mali-T860", "Mali-G52", "V3D 4.2"};
    for (size_t i = 0; i < sizeof renderers / sizeof *renderers; i++)
        check_way(&(struct way){.renderer = renderers[i]});
}

static void test_what_reads_gradients_comes_behind(void)
{
    check_way(&(struct way){.renderer = "Mali-G52", .clip_norm = 0.1f});
    check_way(&(struct way){.renderer = "Mali-G52", .shared = true});
}

/* ---- The tool's networks ---- */

#define TRAINED 64 /* images of a batch */

/* Of a recorded step: nothing is compiled. */
static size_t passes_of_step(const char *net, const struct form *form)
{
    struct model model;
    glcnn_kernel *optimizer = NULL;
    glcnn_graph *graph = NULL;
    struct compiled *compiled = NULL;
    CU_ASSERT_TRUE_FATAL(model_create(device, net_find(net), form, TRAINED, &model));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.05f, &optimizer));
    glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    GOOD_FATAL(glcnn_training_graph_create(model.losses[0], optimizer,
                                           &(struct glcnn_graph_descriptor){0}, &graph));
    const struct glcnn_image_descriptor sources[] = {
        {.channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32,
         .width = form->width,
         .height = form->height,
         .feature_channels = form->channels,
         .number_of_images = TRAINED},
        {.channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32,
         .width = 1,
         .height = 1,
         .feature_channels = form->classes,
         .number_of_images = TRAINED}};
    GOOD_FATAL(compiled_find(graph, sources, &compiled));
    size_t passes = compiled->command_buffer->pass_count;
    glcnn_graph_destroy(&graph);
    glcnn_kernel_destroy(&optimizer);
    model_destroy(&model);
    return passes;
}

static void test_steps_of_networks_have_few_passes(void)
{
    static const struct form pictures = {28, 28, 1, 10};
    /* Mali-T and V3D pack the weights of all convolutions once a step, in a pass of its own. */
    static const struct {
        const char *renderer;
        uint32_t storage_blocks; /* of a shader, as its driver in Mesa has them */
        const char *net;
        size_t most;
    } rows[] = {{"Mali-G52", 8, "small", 25},          {"Mali-G52", 8, "resnet8", 89},
                {"Mali-G52", 8, "mobilenet-tiny", 70}, {"Mali-T860", 8, "small", 31},
                {"Mali-T860", 8, "resnet8", 130},      {"Mali-T860", 8, "mobilenet-tiny", 75},
                {"V3D 4.2", 16, "small", 29},          {"V3D 4.2", 16, "resnet8", 128},
                {"V3D 4.2", 16, "mobilenet-tiny", 74}, {"nouveau", 16, "resnet8", 89}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_close();
        CU_ASSERT_TRUE_FATAL(fixture_open());
        device->info.traits = traits_find(rows[i].renderer, rows[i].renderer);
        device->info.limits.storage_blocks = rows[i].storage_blocks;
        device->info.limits.output_resources = 2 * rows[i].storage_blocks;
        size_t passes = passes_of_step(rows[i].net, &pictures);
        if (passes > rows[i].most)
            fprintf(stderr, "\n  %s on %s: %zu passes, at most %zu are wanted\n", rows[i].net,
                    rows[i].renderer, passes, rows[i].most);
        CU_ASSERT(passes <= rows[i].most);
    }
}

/* ---- A detector ---- */

#define DETECTOR_BATCH 8

static struct glcnn_image_descriptor source_of(const struct runner *runner, uint32_t number)
{
    const struct form *form = &runner->form;
    if (number > 0)
        return runner->task->labels(form, number - 1, runner->batch);
    return (struct glcnn_image_descriptor){.width = form->width,
                                           .height = form->height,
                                           .feature_channels = form->channels,
                                           .number_of_images = runner->batch};
}

/* All grids share one loss of boxes, whose passes are most of those that are not layers'. */
static void check_detector(uint32_t side, size_t most)
{
    const struct form form = {side, side, 3, CLASSES, task_number(task_find("detect")), 0};
    struct glcnn_image_descriptor sources[1 + LABELS_MAX];
    struct glcnn_training_descriptor training = {NULL};
    struct compiled *compiled = NULL;
    struct runner runner;
    struct model model;
    fixture_close();
    CU_ASSERT_TRUE_FATAL(fixture_open());
    device->info.traits = traits_find("Mali-G52", "Mali-G52");
    device->info.limits.storage_blocks = 8;
    device->info.limits.output_resources = 16;
    CU_ASSERT_TRUE_FATAL(
        model_create(device, net_find("mobilenet-tiny"), &form, DETECTOR_BATCH, &model));
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.001f, &training.optimizer));
    GOOD_FATAL(glcnn_network_set_training(model.network, &training));
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model, DETECTOR_BATCH, NULL, &runner));
    for (uint32_t i = 0; i <= runner.label_count; i++)
        sources[i] = source_of(&runner, runner.order[i]);
    GOOD_FATAL(compiled_find(runner.graph, sources, &compiled));
    const size_t passes = compiled->command_buffer->pass_count;
    if (passes > most)
        fprintf(stderr, "\n  a detector of %ux%u: %zu passes, at most %zu are wanted\n", side, side,
                passes, most);
    CU_ASSERT(passes <= most);
    runner_destroy(&runner);
    glcnn_kernel_destroy(&training.optimizer);
    model_destroy(&model);
}

/* With one, two and three grids. */
static void test_a_step_of_a_detector_has_few_passes(void)
{
    check_detector(64, 110);
    check_detector(128, 174);
    check_detector(200, 232);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_steps_of_networks_have_few_passes),
        UNIT_TEST(test_a_step_of_a_detector_has_few_passes),
        UNIT_TEST(test_a_step_has_few_gradient_passes),
        UNIT_TEST(test_what_reads_gradients_comes_behind),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("submits", tests, argc, argv);
}
