/* GLCNN_DEBUG=race: training gives the bits of a device that checks nothing, where the GPU lags
 * behind, what a commit does not keep is NaN before it, and passes that are said to be independent
 * run in the opposite order; and each of these finds the mistake that it is for. */
#include <math.h>
#include <stdlib.h>

#include "device/buffer.h"
#include "record/command_buffer.h"
#include "record/staging.h"
#include "tests/graphs.h"

#define STEPS 4
#define MOST  8192

/* The fixture works on a device with these checks. */
static void use(const char *words)
{
    fixture_close();
    device = NULL;
    setenv("GLCNN_DEBUG", words, 1);
    CU_ASSERT_EQUAL_FATAL(glcnn_device_create(NULL, &device), GLCNN_SUCCESS);
    unsetenv("GLCNN_DEBUG");
}

/* ---- Training ---- */

struct made {
    float values[MOST];
    size_t count;
};

static void keep(struct made *made, float *values, size_t count)
{
    CU_ASSERT_TRUE_FATAL(made->count + count <= MOST);
    memcpy(made->values + made->count, values, count * sizeof *values);
    made->count += count;
    free(values);
}

/* Steps of batches of 3 and 2 in turn, each of which is written while the one before may run. */
static void train(uint64_t budget, bool adam, struct made *made)
{
    struct cnn cnn = make_cnn();
    glcnn_image *sources[2][2];
    size_t count;
    set_weights(cnn.net, 5);
    train_network(cnn.net, adam);
    glcnn_graph *graph = cnn_training_graph(&cnn, budget);
    make_cnn_sources(3, sources[0]);
    make_cnn_sources(2, sources[1]);
    for (uint32_t step = 0; step < STEPS; step++) {
        fill_noise(sources[step % 2][0], step + 7);
        GOOD_FATAL(glcnn_graph_execute(graph, sources[step % 2], NULL, NULL));
        if (step % 2)
            keep(made, result_values(graph, glcnn_filter_node_loss(cnn.loss)), 2);
    }
    GOOD(glcnn_graph_wait(graph));
    float *parameters = cnn_parameters(&cnn, &count);
    keep(made, parameters, count);
    glcnn_graph_destroy(&graph);
    destroy_images(sources[0], 2);
    destroy_images(sources[1], 2);
    glcnn_network_destroy(&cnn.net);
}

/* As it is, with Adam, and within a budget that makes images again. */
static void train_in_all_ways(struct made *made)
{
    made->count = 0;
    train(0, false, made);
    train(0, true, made);
    train(60000, false, made);
}

static void training_gives_the_same_bits(void)
{
    static struct made plain, raced;
    use("");
    train_in_all_ways(&plain);
    use("race");
    train_in_all_ways(&raced);
    CU_ASSERT_EQUAL(raced.count, plain.count);
    CU_ASSERT_EQUAL(memcmp(raced.values, plain.values, plain.count * sizeof *plain.values), 0);
    for (size_t i = 0; i < plain.count; i++)
        CU_ASSERT_TRUE_FATAL(isfinite(plain.values[i]));
}

/* ---- What it finds ---- */

static glcnn_image *temporary(glcnn_command_buffer *commands)
{
    const struct glcnn_image_descriptor descriptor = {4, 4, 4, 1, 0};
    glcnn_image *image = NULL;
    GOOD_FATAL(glcnn_temporary_image_create(commands, &descriptor, &image));
    return image;
}

/* The pass that should have written the image is gone. */
static void what_nobody_wrote_is_nan(void)
{
    glcnn_image *source, *made = NULL;
    use("race");
    source = make_image(1, 4, 4, 4);
    made = make_image(1, 4, 4, 4);
    fill_constant(source, 1);
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &kernel));
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *between = temporary(commands);
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = between}));
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = between, .destination = made}));
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_TRUE(image_is_constant(made, 1));
    commands->passes[0] = commands->passes[1];
    commands->uniforms_uploaded = 0;
    GOOD(glcnn_command_buffer_commit(commands));
    float *values = read_image(made);
    CU_ASSERT_TRUE(isnan(values[0]));
    free(values);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&between);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&made);
}

/* A pass that reads what the one before writes is said to be beside it. */
static void passes_that_are_wrongly_beside_are_found(void)
{
    glcnn_image *images[3];
    use("race");
    for (int i = 0; i < 3; i++) {
        images[i] = make_image(1, 4, 4, 4);
        fill_constant(images[i], (float)(i + 1));
    }
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &kernel));
    glcnn_command_buffer *commands = make_commands();
    for (int i = 0; i < 2; i++)
        GOOD(glcnn_kernel_encode(
            commands, kernel,
            &(struct glcnn_encode){.source = images[i], .destination = images[i + 1]}));
    commands->passes[0].issue.level = commands->passes[1].issue.level = 1;
    GOOD(glcnn_command_buffer_commit(commands));
    CU_ASSERT_TRUE(image_is_constant(images[1], 1));
    CU_ASSERT_TRUE(image_is_constant(images[2], 2));
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    destroy_images(images, 3);
}

static GLenum GL_APIENTRY never_pass(GLsync fence, GLbitfield flags, GLuint64 timeout)
{
    (void)fence, (void)flags, (void)timeout;
    return GL_TIMEOUT_EXPIRED;
}

/* The memory of an upload whose pass is not known to have run is handed out. */
static void memory_in_use_is_not_handed_out(void)
{
    void *bytes;
    use("race");
    const struct gl real = device->gl;
    glcnn_image *image = make_image(1, 4, 4, 4);
    GOOD(glcnn_device_wait(device));
    device->gl.ClientWaitSync = never_pass;
    fill_constant(image, 1);
    struct glcnn_buffer *used = device->staging->small.memories[0].buffer;
    if (used->reach != REACH_COPY) {
        REFUSED(GLCNN_CHECK_FAILED, buffer_map(used, 4, &bytes, "test"));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "may still be reading"));
    }
    device->gl.ClientWaitSync = real.ClientWaitSync;
    GOOD(glcnn_device_wait(device));
    GOOD(buffer_map(used, 4, &bytes, "test"));
    GOOD(buffer_unmap(used, 4, "test"));
    glcnn_image_destroy(&image);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(training_gives_the_same_bits), UNIT_TEST(what_nobody_wrote_is_nan),
        UNIT_TEST(passes_that_are_wrongly_beside_are_found),
        UNIT_TEST(memory_in_use_is_not_handed_out), CU_TEST_INFO_NULL};
    return fixture_run("race", tests, argc, argv);
}
