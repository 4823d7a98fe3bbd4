/* The checks of GLCNN_DEBUG: which words it takes, that nan names the kernel and the element, in
 * command buffers and graphs, images and vectors, and that verify finds a pass that computes
 * something else. Each device is opened with the words of its own. */
#include <math.h>
#include <stdlib.h>

#include "record/command_buffer.h"
#include "tests/graphs.h"

static glcnn_status open_with(const char *words, glcnn_device **opened)
{
    setenv("GLCNN_DEBUG", words, 1);
    glcnn_status status = glcnn_device_create(NULL, opened);
    unsetenv("GLCNN_DEBUG");
    return status;
}

/* The fixture works on a device with these checks. */
static void use(const char *words)
{
    fixture_close();
    device = NULL;
    CU_ASSERT_EQUAL_FATAL(open_with(words, &device), GLCNN_SUCCESS);
}

static void has_error(const char *phrase)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), phrase));
    if (!strstr(glcnn_device_error(device), phrase))
        fprintf(stderr, "\n  \"%s\" is not in \"%s\"\n", phrase, glcnn_device_error(device));
}

static void log_line(void *user, glcnn_log_level level, const char *text)
{
    if (level == GLCNN_LOG_ERROR)
        snprintf(user, 1024, "%s", text);
}

static void unknown_words_are_refused_with_the_list(void)
{
    static const char *const wrong[] = {
        "bogus",      "nan,bogus", "NAN",
        "nan verify", "sync,,nan", "a-word-that-is-longer-than-any-that-there-could-be"};
    static const char *const right[] = {"",     "sync",         "nan,sync", "sync,nan,verify",
                                        "race", "verify,verify"};
    glcnn_device *opened = NULL;
    char message[1024] = "";
    const struct glcnn_device_parameters parameters = {.log = log_line, .log_user = message};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("GLCNN_DEBUG", wrong[i], 1);
        CU_ASSERT_EQUAL(glcnn_device_create(&parameters, &opened), GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NULL(opened);
        CU_ASSERT_PTR_NOT_NULL(strstr(message, "sync, nan, verify, race"));
        CU_ASSERT(i > 1 || strstr(message, "\"bogus\"") != NULL);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        CU_ASSERT_EQUAL(open_with(right[i], &opened), GLCNN_SUCCESS);
        glcnn_device_destroy(&opened);
    }
}

/* ReLU, then average pooling, of 2x5x4x6 numbers: one result of each. */
static glcnn_command_buffer *record_two(glcnn_image *source, glcnn_image *results[2])
{
    glcnn_command_buffer *commands = make_commands();
    static const char *const names[] = {"neuron", "pooling_average"};
    for (size_t i = 0; i < 2; i++) {
        glcnn_kernel *kernel =
            kernel_with(names[i], i ? "kernel_width=2 kernel_height=2" : "neuron_type=relu");
        glcnn_kernel_properties(kernel)->result_is_ordinary = true;
        GOOD_FATAL(glcnn_kernel_encode_returning(
            commands, kernel, &(struct glcnn_encode){.source = i ? results[0] : source},
            &results[i], NULL));
        glcnn_kernel_destroy(&kernel);
    }
    return commands;
}

static void fill_but_one(glcnn_image *image, float odd, size_t element)
{
    size_t count = count_of(image);
    float *values = calloc(count, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    values[element] = odd;
    fill_image(image, values);
    free(values);
}

#define ELEMENT (((1 * 5 + 3) * 4 + 2) * 6 + 1) /* image 1, channel 3, row 2, column 1 */

static void find_in(glcnn_channel_format format)
{
    glcnn_image *source = make_image_of(device, format, 2, 5, 4, 6), *results[2] = {NULL};
    glcnn_command_buffer *commands = record_two(source, results);
    fill_but_one(source, NAN, ELEMENT);
    REFUSED(GLCNN_CHECK_FAILED, glcnn_command_buffer_commit(commands));
    has_error(
        "GLCNN_DEBUG=nan: neuron makes a NaN of destination_image, image 1, channel 3, row 2, "
        "column 1");
    fill_but_one(source, INFINITY, ELEMENT);
    REFUSED(GLCNN_CHECK_FAILED, glcnn_command_buffer_commit(commands));
    has_error("neuron makes an infinity of destination_image, image 1, channel 3, row 2");
    fill_but_one(source, 1, ELEMENT);
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_command_buffer_wait(commands));
    glcnn_command_buffer_destroy(&commands);
    destroy_images(results, 2);
    glcnn_image_destroy(&source);
}

static void nan_names_kernel_and_element(void)
{
    use("nan");
    find_in(GLCNN_CHANNEL_FORMAT_FLOAT32);
    find_in(GLCNN_CHANNEL_FORMAT_FLOAT16);
}

static void nan_is_found_only_where_it_is_looked_for(void)
{
    glcnn_image *results[2] = {NULL};
    use("sync");
    glcnn_image *source = make_image(2, 5, 4, 6);
    glcnn_command_buffer *commands = record_two(source, results);
    fill_but_one(source, NAN, ELEMENT);
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_command_buffer_wait(commands));
    glcnn_command_buffer_destroy(&commands);
    destroy_images(results, 2);
    glcnn_image_destroy(&source);
}

static void nan_in_a_vector_is_named(void)
{
    float gradient[7] = {0}, values[7] = {0};
    glcnn_buffer *buffers[2] = {NULL};
    glcnn_kernel *kernel = NULL;
    use("nan");
    gradient[5] = NAN;
    GOOD_FATAL(glcnn_buffer_create(device, sizeof gradient, &buffers[0]));
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values, &buffers[1]));
    GOOD(glcnn_buffer_write(buffers[0], 0, sizeof gradient, gradient));
    GOOD(glcnn_buffer_write(buffers[1], 0, sizeof values, values));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.5f, &kernel));
    GOOD(glcnn_kernel_set_label(kernel, "of mine"));
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_optimizer_encode(commands, kernel, buffers[0], buffers[1], NULL, NULL, buffers[1]));
    REFUSED(GLCNN_CHECK_FAILED, glcnn_command_buffer_commit(commands));
    has_error("optimizer_stochastic_gradient_descent");
    has_error("of mine");
    has_error("a NaN of result, element 5");
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_buffer_destroy(&buffers[0]);
    glcnn_buffer_destroy(&buffers[1]);
}

/* Intermediate images of a graph share textures. */
static void graphs_are_checked_too(void)
{
    use("nan,verify");
    struct cnn cnn = make_cnn();
    glcnn_image *sources[2];
    glcnn_graph *graph = cnn_training_graph(&cnn, 0);
    make_cnn_sources(3, sources);
    for (int i = 0; i < 2; i++)
        run_graph(graph, sources);
    fill_but_one(sources[0], NAN, 200);
    REFUSED(GLCNN_CHECK_FAILED, glcnn_graph_execute(graph, sources, NULL, NULL));
    has_error("GLCNN_DEBUG=nan: convolution");
    has_error("image 1, channel 0, row ");
    glcnn_graph_destroy(&graph);
    destroy_images(sources, 2);
    glcnn_network_destroy(&cnn.net);
}

/* A neuron's result is made by those that read it, from images that change from run to run, and is
 * not rounded to the graph's format. */
static void verify_reads_unstored(glcnn_channel_format format)
{
    glcnn_network *net = make_network();
    glcnn_image_node *neuron = glcnn_neuron_sigmoid_node(make_input(net, "image"));
    glcnn_image_node *again = glcnn_neuron_sigmoid_node(neuron);
    glcnn_image_node *pooled = glcnn_pooling_average_node(again, 2, 2, 2, 2);
    const struct glcnn_graph_descriptor descriptor = {
        .results = &pooled, .result_count = 1, .format = format};
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_graph_create(net, &descriptor, &graph));
    glcnn_image *images[2];
    for (uint32_t i = 0; i < 2; i++) {
        images[i] = make_image(2, 5, 4, 6);
        fill_noise(images[i], 7 + i);
    }
    for (int i = 0; i < 4; i++)
        run_graph(graph, &images[i % 2]);
    glcnn_graph_destroy(&graph);
    destroy_images(images, 2);
    glcnn_network_destroy(&net);
}

static void verify_takes_what_is_not_stored(void)
{
    use("verify");
    verify_reads_unstored(GLCNN_CHANNEL_FORMAT_FLOAT32);
    verify_reads_unstored(GLCNN_CHANNEL_FORMAT_FLOAT16);
}

#define SIDE 64

/* Gradients that are nothing in sum: of each channel the second image's are the first's, one pixel
 * on and with the other sign. */
static glcnn_image *make_cancelling(float size)
{
    enum { CHANNELS = 4, PLANE = SIDE * SIDE, IMAGE = CHANNELS * PLANE };
    float *values = calloc(2 * IMAGE, sizeof *values);
    uint32_t seed = 5;
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (size_t i = 0; i < IMAGE; i++) {
        size_t next = i - i % PLANE + (i + 1) % PLANE;
        values[i] = size * noise(&seed);
        values[IMAGE + next] = -values[i];
    }
    glcnn_image *image = image_with(2, CHANNELS, SIDE, SIDE, values);
    free(values);
    return image;
}

/* The sums then go over a column less than the reference's. */
static void leave_a_column_out(glcnn_command_buffer *commands)
{
    size_t found = 0;
    for (struct pass *p = commands->passes; p < commands->passes + commands->pass_count; p++)
        for (uint32_t u = 0; u < p->uniform_count; u++)
            if (strcmp(p->uniforms[u].name, "end_x") == 0) {
                pass_update_int(p, "end_x", SIDE - 1);
                found++;
            }
    CU_ASSERT_EQUAL(found, 1);
    commands->uniforms_uploaded = 0;
}

/* What rounding leaves of such sums is little beside their terms, and a column of them is not. */
static void sum_cancelling(float size)
{
    const char *settings =
        "kernel_width=1 kernel_height=1 input_feature_channels=1 output_feature_channels=4";
    glcnn_kernel *forward = kernel_with("convolution", settings);
    glcnn_kernel *gradient = kernel_with("convolution_gradient", settings);
    glcnn_image *source = make_image(2, 1, SIDE, SIDE), *arriving = make_cancelling(size);
    glcnn_image *made = NULL;
    glcnn_state *state = NULL;
    fill_noise(source, 3);
    glcnn_kernel_properties(forward)->result_is_ordinary = true;
    glcnn_image *result = result_of(forward, &(struct glcnn_encode){.source = source}, &state);
    glcnn_kernel_properties(gradient)->result_is_ordinary = true;
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode_returning(
        commands, gradient,
        &(struct glcnn_encode){.source = arriving, .secondary = source, .state = state}, &made,
        NULL));
    GOOD(glcnn_command_buffer_commit(commands));
    leave_a_column_out(commands);
    REFUSED(GLCNN_CHECK_FAILED, glcnn_command_buffer_commit(commands));
    has_error("convolution_gradient makes ");
    has_error(" of gradient_for_");
    glcnn_command_buffer_destroy(&commands);
    destroy_images((glcnn_image *[]){source, arriving, result, made}, 4);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
}

static void verify_knows_sums_that_cancel(void)
{
    use("verify");
    sum_cancelling(1);
    sum_cancelling(1000);
}

static void verify_finds_what_is_computed_wrongly(void)
{
    glcnn_image *results[2] = {NULL};
    use("verify");
    glcnn_image *source = make_image(2, 5, 4, 6);
    fill_noise(source, 7);
    glcnn_command_buffer *commands = record_two(source, results);
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_command_buffer_commit(commands));
    struct pass *last = &commands->passes[commands->pass_count - 1];
    pass_update_int(last, "first_x", 1); /* windows begin elsewhere than the reference's */
    commands->uniforms_uploaded = 0;
    REFUSED(GLCNN_CHECK_FAILED, glcnn_command_buffer_commit(commands));
    has_error("GLCNN_DEBUG=verify: pooling_average makes ");
    has_error("of destination_image, image 0, channel 0, row 0, column 0; its reference ");
    glcnn_command_buffer_destroy(&commands);
    destroy_images(results, 2);
    glcnn_image_destroy(&source);
}

/* A maximum over windows whose argmax indices the state keeps, and its gradient. */
struct pool {
    glcnn_kernel *forward, *gradient;
    glcnn_image *images[4]; /* x, g, y, dx */
    glcnn_state *state;
};

enum { X, G, Y, DX };

static struct pool make_pool(void)
{
    struct pool p = {kernel_with("pooling_max", "kernel_width=3 kernel_height=3"),
                     kernel_with("pooling_max_gradient", NULL),
                     {make_image(2, 5, 9, 8), make_image(2, 5, 9, 8)},
                     NULL};
    fill_noise(p.images[X], 3);
    fill_noise(p.images[G], 4);
    return p;
}

/* The maximum, into a state that outlives the commands. */
static void keep_indices(struct pool *p)
{
    glcnn_command_buffer *to = make_commands();
    struct glcnn_encode arguments = {.source = p->images[X],
                                     .destination = p->images[Y] = make_image(2, 5, 9, 8)};
    GOOD_FATAL(glcnn_kernel_result_state(NULL, p->forward, &arguments, &p->state));
    arguments.state = p->state;
    GOOD_FATAL(glcnn_kernel_encode(to, p->forward, &arguments));
    finish(&to);
}

static void encode_gradient(struct pool *p, glcnn_command_buffer *to)
{
    const struct glcnn_encode arguments = {
        .source = p->images[G], .secondary = p->images[X], .state = p->state};
    CU_ASSERT_PTR_NOT_NULL(glcnn_state_vector(p->state, "indices"));
    GOOD_FATAL(glcnn_kernel_encode_returning(to, p->gradient, &arguments, &p->images[DX], NULL));
}

static void end_pool(struct pool *p)
{
    destroy_images(p->images, 4);
    glcnn_state_destroy(&p->state);
    glcnn_kernel_destroy(&p->forward);
    glcnn_kernel_destroy(&p->gradient);
}

/* The gradient reads what the forward kernel left in the state, and no pass its source. */
static void verify_knows_indices_that_a_state_keeps(void)
{
    use("nan,verify");
    struct pool p = make_pool();
    glcnn_command_buffer *to = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(
        to, p.forward, &(struct glcnn_encode){.source = p.images[X]}, &p.images[Y], &p.state));
    encode_gradient(&p, to);
    finish(&to);
    end_pool(&p);
}

/* What it is given and no pass reads lives as long as what is to be committed. */
static void verify_keeps_what_no_pass_reads(void)
{
    setenv("GLCNN_IMPLEMENTATIONS", "pooling_gradient_gather", 1);
    use("nan,verify");
    struct pool p = make_pool();
    glcnn_command_buffer *later = make_commands();
    keep_indices(&p);
    encode_gradient(&p, later);
    glcnn_state_destroy(&p.state);
    finish(&later);
    end_pool(&p);
    unsetenv("GLCNN_IMPLEMENTATIONS");
}

/* Whatever a program has put in place of the indices: both may differ about it, neither fails. */
static void verify_reads_what_no_kernel_wrote(void)
{
    static const float strange[] = {NAN, INFINITY, -INFINITY, -1, 1e30f, 0.5f};
    use("verify");
    struct pool p = make_pool();
    glcnn_command_buffer *later = make_commands();
    keep_indices(&p);
    GOOD(glcnn_buffer_write(glcnn_state_vector(p.state, "indices"), 0, sizeof strange, strange));
    encode_gradient(&p, later);
    glcnn_status status = glcnn_command_buffer_commit(later);
    CU_ASSERT(status == GLCNN_SUCCESS || status == GLCNN_CHECK_FAILED);
    glcnn_command_buffer_destroy(&later);
    end_pool(&p);
}

static void verify_takes_pictures_as_bytes(void)
{
    static const uint8_t bytes[2 * 5 * 4 * 6] = {255, 0, 128, [77] = 9};
    glcnn_image *results[2] = {NULL};
    use("nan,verify");
    glcnn_image *source = make_image_of(device, GLCNN_CHANNEL_FORMAT_UNORM8, 2, 5, 4, 6);
    GOOD(glcnn_image_write_bytes(source, NULL, bytes, sizeof bytes));
    glcnn_command_buffer *commands = record_two(source, results);
    GOOD(glcnn_command_buffer_commit(commands));
    GOOD(glcnn_command_buffer_wait(commands));
    glcnn_command_buffer_destroy(&commands);
    destroy_images(results, 2);
    glcnn_image_destroy(&source);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(unknown_words_are_refused_with_the_list),
                                        UNIT_TEST(nan_names_kernel_and_element),
                                        UNIT_TEST(nan_is_found_only_where_it_is_looked_for),
                                        UNIT_TEST(nan_in_a_vector_is_named),
                                        UNIT_TEST(graphs_are_checked_too),
                                        UNIT_TEST(verify_takes_what_is_not_stored),
                                        UNIT_TEST(verify_knows_sums_that_cancel),
                                        UNIT_TEST(verify_finds_what_is_computed_wrongly),
                                        UNIT_TEST(verify_knows_indices_that_a_state_keeps),
                                        UNIT_TEST(verify_keeps_what_no_pass_reads),
                                        UNIT_TEST(verify_reads_what_no_kernel_wrote),
                                        UNIT_TEST(verify_takes_pictures_as_bytes),
                                        CU_TEST_INFO_NULL};
    return fixture_run("debug", tests, argc, argv);
}
