/* Passes of a batch normalisation in a step of training: which rows plan them, that fewer give the same,
 * and when a plan may use or amend what was recorded before it. */
#include "tests/fixture.h"
#include "tests/graphs.h"

#include "device/device.h"
#include "graph/compile.h"
#include "image/image.h"
#include "record/command_buffer.h"

#define SIDE  40 /* rows enough for more runs than a merging pass leaves to the last */
#define BATCH 8
#define STEPS 3

/* ---- A step of training ---- */

static glcnn_filter_node *make_trained(glcnn_network *net)
{
    glcnn_image_node *x = glcnn_node(make_input(net, "image"), "convolution",
                                     "kernel_width=3 kernel_height=3 input_feature_channels=1 "
                                     "output_feature_channels=6");
    x = glcnn_node(x, "batch_normalization", "epsilon=1e-5 neuron_type=relu");
    x = glcnn_node(x, "pooling_average", "kernel_width=40 kernel_height=40 padding=valid");
    const struct glcnn_convolution_descriptor all = {1, 1, 6, CNN_CLASSES};
    glcnn_filter_node *loss =
        glcnn_loss_node(glcnn_fully_connected_node(x, &all, NULL), make_input(net, "labels"), NULL,
                        GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY, GLCNN_REDUCTION_TYPE_SUM);
    GOOD_FATAL(glcnn_network_status(net));
    set_weights(net, 5);
    train_network(net, false);
    return loss;
}

/* Losses of some steps, and passes of a step that the normalisation has. */
struct outcome {
    float losses[STEPS * BATCH];
    size_t passes;
};

static size_t passes_of_normalisation(const glcnn_graph *graph)
{
    const glcnn_command_buffer *commands = graph->executing->command_buffer;
    size_t count = 0;
    for (size_t i = 0; i < commands->pass_count; i++) {
        const char *name = commands->passes[i].owner.name;
        count += strncmp(name, "batch_normalization", 19) == 0 && !strstr(name, "running");
    }
    return count;
}

static void run_steps(glcnn_graph *graph, const glcnn_filter_node *loss, struct outcome *outcome)
{
    glcnn_image *sources[] = {make_image(BATCH, 1, SIDE, SIDE),
                              make_image(BATCH, CNN_CLASSES, 1, 1)};
    fill_noise(sources[0], 3);
    fill_noise(sources[1], 4);
    for (size_t i = 0; i < STEPS; i++) {
        run_graph(graph, sources);
        float *values = result_values(graph, glcnn_filter_node_loss(loss));
        memcpy(outcome->losses + i * BATCH, values, BATCH * sizeof *values);
        free(values);
    }
    outcome->passes = passes_of_normalisation(graph);
    destroy_images(sources, 2);
}

/* With forced rows, `submits` as the device's trait and `outputs` as its limit. */
static struct outcome train_within(const char *rows, bool submits, uint32_t outputs)
{
    struct outcome outcome;
    glcnn_graph *graph;
    char forced[200];
    snprintf(forced, sizeof forced,
             "pixels_stored,gradients_stored,reduced_by_a_pass,statistics_two,sums_one,%s", rows);
    fixture_close();
    setenv("GLCNN_IMPLEMENTATIONS", forced, 1);
    CU_ASSERT_TRUE_FATAL(fixture_open());
    unsetenv("GLCNN_IMPLEMENTATIONS");
    device->info.traits.submits_dispatches = submits;
    device->info.limits.output_resources = outputs;
    glcnn_network *net = make_network();
    glcnn_filter_node *loss = make_trained(net);
    GOOD_FATAL(glcnn_training_graph_create(loss, NULL, NULL, &graph));
    run_steps(graph, loss, &outcome);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&net);
    return outcome;
}

static struct outcome train(const char *rows, bool submits)
{
    return train_within(rows, submits, 16);
}

/* Statistics, merged and finished, coefficients, the result; coefficients, sums, merged and finished;
 * coefficients, those of the gradient, the gradient. */
#define UNFUSED 12

static void test_coefficients_are_made_where_statistics_are(void)
{
    struct outcome unfused = train("coefficients_image", false);
    struct outcome fused = train("coefficients_kept", false);
    CU_ASSERT_EQUAL(unfused.passes, UNFUSED);
    CU_ASSERT_EQUAL(fused.passes, UNFUSED - 4);
    CU_ASSERT_EQUAL(memcmp(fused.losses, unfused.losses, sizeof fused.losses), 0);
    CU_ASSERT(fused.losses[0] != fused.losses[(STEPS - 1) * BATCH]);
}

/* With four images and storage blocks beta's column is stored by a pass behind each of three, and none
 * is found again. */
static void test_beta_goes_by_itself_where_a_pass_binds_few(void)
{
    struct outcome many = train("coefficients_kept", false);
    struct outcome few = train_within("coefficients_kept", false, 4);
    CU_ASSERT_EQUAL(few.passes, UNFUSED + 3);
    CU_ASSERT_EQUAL(memcmp(few.losses, many.losses, sizeof few.losses), 0);
}

static void test_nothing_is_merged_between_where_a_dispatch_is_a_submit(void)
{
    struct outcome merged = train("coefficients_kept", false);
    struct outcome few = train("coefficients_kept", true);
    struct outcome witness = train("coefficients_kept,runs_merged_by_passes", true);
    CU_ASSERT_EQUAL(few.passes, UNFUSED - 4 - 2);
    CU_ASSERT(arrays_near(few.losses, merged.losses, STEPS * BATCH, 1e-5));
    CU_ASSERT_EQUAL(witness.passes, merged.passes);
    CU_ASSERT_EQUAL(memcmp(witness.losses, merged.losses, sizeof merged.losses), 0);
}

/* ---- Looking back ---- */

#define FINISH "record/fill.comp"

static glcnn_status pass_by(struct pass_callback *callback)
{
    (void)callback;
    return GLCNN_SUCCESS;
}

/* What comes between a pass that makes "made" of vectors 0 and 1, having written the first, and the plan
 * that wants it. */
enum between { NOTHING, READ, WRITTEN, CALLBACK, OBSERVED };

static void describe(struct pass *pass, const struct vector_view vectors[3], float number,
                     enum vector_access access)
{
    pass_vector(pass, "first", &vectors[0], access);
    pass_vector(pass, "second", &vectors[1], VECTOR_READ);
    pass_float(pass, "number", number);
}

/* The third vector is no input of what is made. */
static void record_between(struct glcnn_command_buffer *buffer, enum between between,
                           const struct vector_view vectors[3])
{
    static struct pass_callback callback = {.call = pass_by};
    struct plan plan;
    plan_begin(&plan, buffer);
    struct pass *pass = plan_pass(&plan, FINISH);
    pass_vector(pass, "other", &vectors[between == WRITTEN ? 1 : 2], VECTOR_WRITE);
    if (between == READ)
        pass_vector(pass, "read", &vectors[1], VECTOR_READ);
    pass->issue.callback = between == CALLBACK ? &callback : NULL;
    GOOD_FATAL(plan_end(&plan));
}

/* A deferred command buffer with a pass that has the inputs and, if `made`, the image. */
static glcnn_command_buffer *record(const struct image_view *image, bool made, enum between between,
                                    const struct vector_view vectors[3])
{
    static struct pass_observer observer;
    glcnn_command_buffer *buffer = make_commands();
    struct plan plan;
    buffer->deferred = true;
    plan_begin(&plan, buffer);
    struct pass *pass = plan_pass(&plan, FINISH);
    describe(pass, vectors, 0.5f, VECTOR_READ_WRITE);
    if (made)
        pass_image(pass, "made", image);
    pass->debug.observer = between == OBSERVED ? &observer : NULL;
    GOOD_FATAL(plan_end(&plan));
    record_between(buffer, between, vectors);
    return buffer;
}

static bool finds(const struct image_view *image, enum between between, float number,
                  const struct vector_view vectors[3])
{
    glcnn_command_buffer *buffer = record(image, true, between, vectors);
    struct pass like = {0};
    struct plan plan;
    plan_begin(&plan, buffer);
    describe(&like, vectors, number, VECTOR_WRITE);
    struct image_view found = plan_find_made(&plan, "made", &like);
    CU_ASSERT(!found.storage || found.storage == image->storage);
    plan_free(&plan);
    glcnn_command_buffer_destroy(&buffer);
    return found.storage;
}

static bool amends(const struct image_view *image, bool made, enum between between,
                   const char *shader, const struct vector_view vectors[3])
{
    glcnn_command_buffer *buffer = record(image, made, between, vectors);
    struct pass like = {0};
    struct plan plan;
    plan_begin(&plan, buffer);
    describe(&like, vectors, 0.5f, VECTOR_WRITE);
    struct pass *pass = plan_amend_writer(&plan, shader, &like);
    if (pass)
        pass_image(pass, "made", image);
    CU_ASSERT_EQUAL(plan_find_made(&plan, "made", &like).storage != NULL,
                    (made && between != CALLBACK) || pass);
    plan_free(&plan);
    CU_ASSERT_EQUAL(buffer->passes[0].image_count, made ? 1 : 0);
    glcnn_command_buffer_destroy(&buffer);
    return pass;
}

static void make_vectors(struct vector_view vectors[3])
{
    for (int i = 0; i < 3; i++) {
        vectors[i] = (struct vector_view){.count = 4};
        GOOD_FATAL(glcnn_buffer_create(device, 16, &vectors[i].buffer));
    }
}

static void test_what_was_made_of_the_same_is_found(void)
{
    struct vector_view vectors[3];
    glcnn_image *image = make_image(1, 4, 2, 2);
    struct image_view view = image_whole_view(image);
    make_vectors(vectors);
    CU_ASSERT_TRUE(finds(&view, NOTHING, 0.5f, vectors));
    CU_ASSERT_TRUE(finds(&view, READ, 0.5f, vectors));
    CU_ASSERT_FALSE(finds(&view, NOTHING, 0.25f, vectors));
    CU_ASSERT_FALSE(finds(&view, WRITTEN, 0.5f, vectors));
    CU_ASSERT_FALSE(finds(&view, CALLBACK, 0.5f, vectors));
    for (int i = 0; i < 3; i++)
        glcnn_buffer_destroy(&vectors[i].buffer);
    glcnn_image_destroy(&image);
}

static void test_the_last_writer_is_amended(void)
{
    struct vector_view vectors[3];
    glcnn_image *image = make_image(1, 4, 2, 2);
    struct image_view view = image_whole_view(image);
    make_vectors(vectors);
    CU_ASSERT_TRUE(amends(&view, false, NOTHING, FINISH, vectors));
    CU_ASSERT_TRUE(amends(&view, false, READ, FINISH, vectors));
    CU_ASSERT_FALSE(amends(&view, true, NOTHING, FINISH, vectors));
    CU_ASSERT_FALSE(amends(&view, false, NOTHING, "record/copy_vector.comp", vectors));
    CU_ASSERT_FALSE(amends(&view, false, WRITTEN, FINISH, vectors));
    CU_ASSERT_FALSE(amends(&view, false, CALLBACK, FINISH, vectors));
    CU_ASSERT_FALSE(amends(&view, false, OBSERVED, FINISH, vectors));
    for (int i = 0; i < 3; i++)
        glcnn_buffer_destroy(&vectors[i].buffer);
    glcnn_image_destroy(&image);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_coefficients_are_made_where_statistics_are),
        UNIT_TEST(test_beta_goes_by_itself_where_a_pass_binds_few),
        UNIT_TEST(test_nothing_is_merged_between_where_a_dispatch_is_a_submit),
        UNIT_TEST(test_what_was_made_of_the_same_is_found),
        UNIT_TEST(test_the_last_writer_is_amended),
        CU_TEST_INFO_NULL};
    return fixture_run("normalization_passes", tests, argc, argv);
}
