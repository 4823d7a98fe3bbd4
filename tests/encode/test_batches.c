/* Returning encodes over a batch, and batches of states: what single returning encodes make one
 * after the other, bit for bit, forward and gradient; and nothing where one of the batch is
 * refused. */
#include "tests/fixture.h"

#include "record/command_buffer.h"
#include "device/device.h"
#include "encode/kernel.h"
#include "encode/state.h"

#define COUNT 4

struct row {
    const char *kernel, *settings;
    size_t weights;
};

#define CHANNELS "input_feature_channels=5 output_feature_channels=3 "
#define WINDOW   "kernel_width=3 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=3 "

static const struct row rows[] = {
    {"convolution", CHANNELS WINDOW, 90},
    {"convolution_transpose", CHANNELS WINDOW "padding=valid", 90},
    {"fully_connected", CHANNELS "kernel_width=6 kernel_height=4", 360},
    {"pooling_average", WINDOW "edge_mode=clamp", 0},
    {"pooling_max", WINDOW "padding=valid", 0},
    {"neuron", "neuron_type=prelu", 0},
    {"soft_max", NULL, 0},
    {"dropout", "seed=9 keep_probability=0.6", 0},
    {"instance_normalization", "epsilon=0.01", 0},
    {"batch_normalization", "epsilon=0.01 flags=never", 0},
    {"cross_channel_normalization", NULL, 0},
    {"multiply", "primary_scale=2", 0},
    {"upsampling_bilinear", "scale_factor_x=2 scale_factor_y=3", 0},
    {"reshape", NULL, 0},
};
#define ROWS (sizeof rows / sizeof *rows)

/* One image an encode. Those that share a state are of one size, others are not. */
struct scene {
    const struct row *row;
    glcnn_kernel *forward, *gradient;
    glcnn_image *sources[COUNT], *seconds[COUNT];
};

/* What encodes over the scene made. */
struct made {
    glcnn_image *images[COUNT], *gradients[COUNT];
    glcnn_state *states[COUNT];
};

static void give_values(glcnn_kernel *kernel, const char *name, size_t count)
{
    float *values = malloc(count * sizeof *values);
    uint32_t seed = 5;
    for (size_t i = 0; i < count; i++)
        values[i] = noise(&seed);
    GOOD_FATAL(glcnn_kernel_set_vector(kernel, name, values, count));
    free(values);
}

static struct scene make_scene(const struct row *row)
{
    struct scene s = {.row = row, .forward = kernel_with(row->kernel, row->settings)};
    bool shared = glcnn_kernel_is_result_state_reused_across_batch(s.forward);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t grown = shared ? 0 : i;
        s.sources[i] = make_image(1, 5, 4 + grown, 6 + grown % 2);
        s.seconds[i] = make_image(1, 5, 4 + grown, 6 + grown % 2);
        fill_noise(s.sources[i], 3 + i);
        fill_noise(s.seconds[i], 13 + i);
    }
    s.gradient = kernel_with(s.forward->descriptor->gradient, NULL);
    s.forward->properties.result_is_ordinary = s.gradient->properties.result_is_ordinary = true;
    if (row->weights) {
        give_values(s.forward, "weights", row->weights);
        apply_settings(s.gradient, CHANNELS);
    }
    if (strcmp(row->kernel, "neuron") == 0)
        give_values(s.forward, "neuron_data", 5);
    if (strcmp(row->kernel, "batch_normalization") == 0)
        give_values(s.forward, "mean", 5);
    return s;
}

static void destroy_scene(struct scene *s)
{
    for (size_t i = 0; i < COUNT; i++) {
        glcnn_image_destroy(&s->sources[i]);
        glcnn_image_destroy(&s->seconds[i]);
    }
    glcnn_kernel_destroy(&s->forward);
    glcnn_kernel_destroy(&s->gradient);
}

static void destroy_made(struct made *m)
{
    for (size_t i = 0; i < COUNT; i++) {
        glcnn_image_destroy(&m->images[i]);
        glcnn_image_destroy(&m->gradients[i]);
        glcnn_state_destroy(&m->states[i]);
    }
}

static bool has_place(const glcnn_kernel *kernel, enum argument_place place)
{
    return descriptor_place(kernel->descriptor, place) >= 0;
}

static struct glcnn_encode forward_arguments(const struct scene *s, size_t i)
{
    return (struct glcnn_encode){.source = s->sources[i],
                                 .secondary =
                                     has_place(s->forward, PLACE_SECONDARY) ? s->seconds[i] : NULL};
}

/* A kernel's weights are set once its window is known. */
static void follow(const struct scene *s, glcnn_state *state, glcnn_image *gradient)
{
    struct glcnn_image_descriptor unused;
    struct glcnn_encode arguments = {
        .source = gradient, .secondary = s->sources[0], .state = state};
    if (!s->row->weights || glcnn_kernel_has_vector(s->gradient, "weights"))
        return;
    GOOD_FATAL(glcnn_kernel_prepare_destination(s->gradient, &arguments, &unused));
    give_values(s->gradient, "weights", s->row->weights);
}

/* The gradient's source is the forward result; soft-max wants it as source image too. */
static struct glcnn_encode gradient_arguments(const struct scene *s, const struct made *m, size_t i)
{
    bool result = s->gradient->descriptor->flags & NEEDS_RESULT;
    glcnn_image *given = has_place(s->forward, PLACE_SECONDARY) ? s->seconds[i] : s->sources[i];
    return (struct glcnn_encode){
        .source = m->images[i], .secondary = result ? m->images[i] : given, .state = m->states[i]};
}

/* ---- One by one ---- */

/* A state that serves the whole batch is one for all of them here too. */
static struct made encode_singly(const struct scene *s)
{
    struct made m = {0};
    bool shared = glcnn_kernel_is_result_state_reused_across_batch(s->forward);
    glcnn_command_buffer *commands = make_commands();
    for (size_t i = 0; i < COUNT; i++) {
        struct glcnn_encode arguments = forward_arguments(s, i);
        if (shared && i > 0)
            arguments.state = state_retain(m.states[0]);
        GOOD_FATAL(glcnn_kernel_encode_returning(commands, s->forward, &arguments, &m.images[i],
                                                 &m.states[i]));
        if (shared && i > 0)
            m.states[i] = arguments.state;
    }
    follow(s, m.states[0], m.images[0]);
    for (size_t i = 0; i < COUNT; i++) {
        struct glcnn_encode arguments = gradient_arguments(s, &m, i);
        GOOD_FATAL(glcnn_kernel_encode_returning(commands, s->gradient, &arguments, &m.gradients[i],
                                                 NULL));
    }
    finish(&commands);
    return m;
}

/* ---- As batches ---- */

/* With states that were made before, if there are any. */
static void encode_forward(const struct scene *s, glcnn_command_buffer *commands, struct made *m)
{
    struct glcnn_encode arguments[COUNT];
    bool has_states = m->states[0];
    for (size_t i = 0; i < COUNT; i++) {
        arguments[i] = forward_arguments(s, i);
        arguments[i].state = m->states[i];
    }
    GOOD_FATAL(glcnn_kernel_encode_batch_returning(commands, s->forward, arguments, COUNT,
                                                   m->images, has_states ? NULL : m->states));
    follow(s, m->states[0], m->images[0]);
}

static void encode_gradients(const struct scene *s, glcnn_command_buffer *commands, struct made *m)
{
    struct glcnn_encode arguments[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        arguments[i] = gradient_arguments(s, m, i);
    GOOD_FATAL(glcnn_kernel_encode_batch_returning(commands, s->gradient, arguments, COUNT,
                                                   m->gradients, NULL));
}

static struct made encode_batches(const struct scene *s)
{
    struct made m = {0};
    glcnn_command_buffer *commands = make_commands();
    encode_forward(s, commands, &m);
    encode_gradients(s, commands, &m);
    finish(&commands);
    return m;
}

static void check_states(const struct scene *s, const glcnn_state *a, const glcnn_state *b)
{
    static const char *const names[] = {"gradient_for_weights", "gradient_for_biases", "mask",
                                        "gradient_for_gamma",   "gradient_for_beta",   "quotient"};
    for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
        glcnn_buffer *x = glcnn_state_vector(a, names[v]), *y = glcnn_state_vector(b, names[v]);
        CU_ASSERT_EQUAL_FATAL(x == NULL, y == NULL);
        if (!x)
            continue;
        size_t size = glcnn_buffer_size(x);
        CU_ASSERT_EQUAL_FATAL(size, glcnn_buffer_size(y));
        char *values = malloc(2 * size);
        GOOD_FATAL(glcnn_buffer_read(x, 0, size, values));
        GOOD_FATAL(glcnn_buffer_read(y, 0, size, values + size));
        if (memcmp(values, values + size, size) != 0) {
            fprintf(stderr, "\n  %s: another %s\n", s->row->kernel, names[v]);
            CU_FAIL("another vector");
        }
        free(values);
    }
}

static void test_batches_are_what_single_encodes_make(void)
{
    for (size_t r = 0; r < ROWS; r++) {
        struct scene one = make_scene(&rows[r]), all = make_scene(&rows[r]);
        bool shared = glcnn_kernel_is_result_state_reused_across_batch(one.forward);
        struct made singly = encode_singly(&one), batch = encode_batches(&all);
        for (size_t i = 0; i < COUNT; i++) {
            CU_ASSERT_TRUE(images_equal(singly.images[i], batch.images[i]));
            CU_ASSERT_TRUE(images_equal(singly.gradients[i], batch.gradients[i]));
            CU_ASSERT_EQUAL(singly.states[i] == NULL, batch.states[i] == NULL);
            CU_ASSERT_EQUAL(batch.states[i] == batch.states[0] && i > 0,
                            i > 0 && (shared || !batch.states[0]));
            check_states(&all, singly.states[i], batch.states[i]);
        }
        CU_ASSERT_EQUAL(one.forward->encode_count, all.forward->encode_count);
        CU_ASSERT_EQUAL(memcmp(&one.forward->properties, &all.forward->properties,
                               sizeof one.forward->properties),
                        0);
        CU_ASSERT_EQUAL(memcmp(&one.gradient->properties, &all.gradient->properties,
                               sizeof one.gradient->properties),
                        0);
        destroy_made(&singly);
        destroy_made(&batch);
        destroy_scene(&one);
        destroy_scene(&all);
    }
}

/* Runs what is recorded: gradients as expected. Then all goes. */
static void end_like(glcnn_command_buffer **commands, struct scene *s, struct made *m,
                     struct scene *like, struct made *expected)
{
    finish(commands);
    for (size_t i = 0; i < COUNT; i++)
        CU_ASSERT_TRUE(images_equal(m->gradients[i], expected->gradients[i]));
    destroy_made(m);
    destroy_made(expected);
    destroy_scene(s);
    destroy_scene(like);
}

/* ---- Temporary results ---- */

/* Each image and each state is read once by the gradients; a state that all share too. */
static void test_temporary_results_are_spent(void)
{
    for (size_t r = 0; r < 4; r++) {
        struct scene s = make_scene(&rows[r]), like = make_scene(&rows[r]);
        struct made m = {0}, expected = encode_singly(&like);
        glcnn_command_buffer *commands = make_commands();
        s.forward->properties.result_is_ordinary = false;
        encode_forward(&s, commands, &m);
        for (size_t i = 0; i < COUNT; i++) {
            CU_ASSERT_EQUAL(glcnn_image_read_count(m.images[i]), 1);
            CU_ASSERT_EQUAL(glcnn_state_read_count(m.states[i]), 1);
        }
        encode_gradients(&s, commands, &m);
        for (size_t i = 0; i < COUNT; i++) {
            CU_ASSERT_EQUAL(glcnn_image_read_count(m.images[i]), 0);
            CU_ASSERT_EQUAL(glcnn_state_read_count(m.states[i]), 0);
        }
        end_like(&commands, &s, &m, &like, &expected);
    }
}

/* ---- Batches of states ---- */

/* They serve the encodes whose gradients follow. */
static void check_state_batch(const struct row *row, bool temporary)
{
    struct scene s = make_scene(row), like = make_scene(row);
    struct made m = {0}, expected = encode_singly(&like);
    struct glcnn_encode arguments[COUNT];
    glcnn_command_buffer *commands = make_commands();
    bool shared = glcnn_kernel_is_result_state_reused_across_batch(s.forward);
    for (size_t i = 0; i < COUNT; i++)
        arguments[i] = forward_arguments(&s, i);
    GOOD_FATAL(glcnn_kernel_result_state_batch(temporary ? commands : NULL, s.forward, arguments,
                                               COUNT, m.states));
    for (size_t i = 0; i < COUNT; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(m.states[i]);
        CU_ASSERT_EQUAL(glcnn_state_is_temporary(m.states[i]), temporary);
        CU_ASSERT_EQUAL(glcnn_state_read_count(m.states[i]), temporary);
        CU_ASSERT_EQUAL(m.states[i] == m.states[0], shared || i == 0);
    }
    encode_forward(&s, commands, &m);
    encode_gradients(&s, commands, &m);
    end_like(&commands, &s, &m, &like, &expected);
}

static void test_batches_of_states(void)
{
    for (size_t r = 0; r < 4; r++)
        for (int temporary = 0; temporary < 2; temporary++)
            check_state_batch(&rows[r], temporary);
}

static void test_kernels_without_states_make_none(void)
{
    glcnn_kernel *kernel = kernel_with("pooling_average_gradient", NULL);
    glcnn_state *states[COUNT] = {(glcnn_state *)(uintptr_t)1};
    int references = device->references;
    GOOD(glcnn_kernel_result_state_batch(NULL, kernel, NULL, COUNT, states));
    for (size_t i = 0; i < COUNT; i++)
        CU_ASSERT_PTR_NULL(states[i]);
    GOOD(glcnn_kernel_result_state_batch(NULL, kernel, NULL, 0, states));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_result_state_batch(NULL, kernel, NULL, COUNT, NULL));
    CU_ASSERT_EQUAL(glcnn_kernel_result_state_batch(NULL, NULL, NULL, COUNT, states),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(device->references, references);
    glcnn_kernel_destroy(&kernel);
}

/* ---- Refusals ---- */

/* What is wrong with one of the arguments, and what the message says of it. */
struct wrong {
    const char *phrase;
    void (*spoil)(struct glcnn_encode *arguments, glcnn_image *small);
};

static void without_source(struct glcnn_encode *arguments, glcnn_image *small)
{
    (void)small;
    arguments->source = NULL;
}

static void with_destination(struct glcnn_encode *arguments, glcnn_image *small)
{
    arguments->destination = small;
}

/* The window is larger: padding gives no result, found after images were made. */
static void too_small(struct glcnn_encode *arguments, glcnn_image *small)
{
    arguments->source = small;
}

/* The kernel's channels do not fit: found after all images and states were made. */
static void other_channels(struct glcnn_encode *arguments, glcnn_image *small)
{
    (void)small;
    arguments->source = arguments->secondary;
    arguments->secondary = NULL;
}

static const struct wrong wrongs[] = {{"source_image is NULL", without_source},
                                      {"makes its destination itself", with_destination},
                                      {"gives no result", too_small},
                                      {"input channels", other_channels}};

/* Nothing is recorded, made or changed when argument `index` is wrong. */
static void check_refused(struct scene *s, glcnn_command_buffer *commands, glcnn_image *small,
                          const struct wrong *wrong, size_t index, bool ordinary)
{
    struct glcnn_encode arguments[COUNT];
    struct made m;
    for (size_t i = 0; i < COUNT; i++)
        arguments[i] = (struct glcnn_encode){.source = s->sources[i]};
    arguments[index].secondary = s->seconds[0];
    wrong->spoil(&arguments[index], small);
    arguments[index].secondary = NULL;
    memset(&m, 1, sizeof m);
    s->forward->properties.result_is_ordinary = ordinary;
    struct glcnn_addressing before = s->forward->properties;
    int references = device->references;
    size_t passes = commands->pass_count, retained = commands->retained_count;
    uint32_t encodes = s->forward->encode_count;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_batch_returning(commands, s->forward, arguments, COUNT, m.images,
                                                m.states));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), wrong->phrase));
    CU_ASSERT_EQUAL(commands->pass_count, passes);
    CU_ASSERT_EQUAL(commands->retained_count, retained);
    if (ordinary) /* the command buffer keeps the storage of temporary images for later ones */
        CU_ASSERT_EQUAL(device->references, references);
    CU_ASSERT_EQUAL(s->forward->encode_count, encodes);
    CU_ASSERT_EQUAL(memcmp(&before, &s->forward->properties, sizeof before), 0);
    for (size_t i = 0; i < COUNT; i++) {
        CU_ASSERT_PTR_NULL(m.images[i]);
        CU_ASSERT_PTR_NULL(m.states[i]);
    }
}

static void test_a_refused_batch_leaves_nothing(void)
{
    static const struct row row = {"convolution",
                                   CHANNELS "kernel_width=3 kernel_height=2 padding=valid", 90};
    int references = device->references;
    struct scene s = make_scene(&row);
    glcnn_image *small = make_image(1, 5, 1, 1);
    glcnn_image_destroy(&s.seconds[0]);
    s.seconds[0] = make_image(1, 4, 6, 6);
    glcnn_command_buffer *commands = make_commands();
    for (size_t w = 0; w < sizeof wrongs / sizeof *wrongs; w++)
        for (size_t index = 0; index < COUNT; index++)
            for (int ordinary = 0; ordinary < 2; ordinary++)
                check_refused(&s, commands, small, &wrongs[w], index, ordinary);
    /* Kernel and command buffer are good for the next. */
    struct glcnn_encode arguments = {.source = s.sources[1]};
    struct made m = {0};
    s.forward->properties.result_is_ordinary = true;
    GOOD(glcnn_kernel_encode_batch_returning(commands, s.forward, &arguments, 1, m.images,
                                             m.states));
    finish(&commands);
    struct scene like = make_scene(&row);
    like.forward->properties.result_is_ordinary = true;
    glcnn_image *expected = result_of(like.forward, &arguments, NULL);
    CU_ASSERT_TRUE(images_equal(m.images[0], expected));
    glcnn_image_destroy(&expected);
    glcnn_image_destroy(&small);
    destroy_made(&m);
    destroy_scene(&s);
    destroy_scene(&like);
    CU_ASSERT_EQUAL(device->references, references);
}

/* The last of the gradients has another size than its state: the sums in the states stay. */
static void test_a_refused_gradient_batch_leaves_the_states(void)
{
    struct scene s = make_scene(&rows[0]), like = make_scene(&rows[0]);
    struct made m = encode_batches(&s), expected = encode_batches(&like);
    struct glcnn_encode arguments[COUNT];
    glcnn_image *none[COUNT];
    int references = device->references;
    glcnn_command_buffer *commands = make_commands();
    for (size_t i = 0; i < COUNT; i++)
        arguments[i] = gradient_arguments(&s, &m, i);
    arguments[COUNT - 1].source = s.sources[0];
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode_batch_returning(
                                        commands, s.gradient, arguments, COUNT, none, NULL));
    CU_ASSERT_EQUAL(commands->pass_count, 0);
    for (size_t i = 0; i < COUNT; i++)
        CU_ASSERT_PTR_NULL(none[i]);
    finish(&commands);
    CU_ASSERT_EQUAL(device->references, references);
    check_states(&s, m.states[0], expected.states[0]);
    destroy_made(&m);
    destroy_made(&expected);
    destroy_scene(&s);
    destroy_scene(&like);
}

static void test_arguments_are_checked(void)
{
    glcnn_kernel *kernel = kernel_with("neuron", NULL);
    glcnn_kernel *sums = kernel_with("batch_normalization_statistics", NULL);
    glcnn_image *image = make_image(1, 4, 2, 2), *none[1];
    glcnn_state *state = NULL;
    const struct glcnn_encode arguments = {.source = image};
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_batch_returning(commands, kernel, &arguments, 0, none, &state));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_batch_returning(commands, kernel, &arguments, 1, NULL, &state));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_batch_returning(commands, kernel, NULL, 1, none, &state));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_batch_returning(NULL, kernel, &arguments, 1, none, &state));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_batch_returning(commands, NULL, &arguments, 1, none, &state));
    REFUSED(GLCNN_UNSUPPORTED,
            glcnn_kernel_encode_batch_returning(commands, sums, &arguments, 1, none, &state));
    CU_ASSERT_PTR_NULL(none[0]);
    finish(&commands);
    glcnn_image_destroy(&image);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&sums);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_batches_are_what_single_encodes_make),
        UNIT_TEST(test_temporary_results_are_spent),
        UNIT_TEST(test_batches_of_states),
        UNIT_TEST(test_kernels_without_states_make_none),
        UNIT_TEST(test_a_refused_batch_leaves_nothing),
        UNIT_TEST(test_a_refused_gradient_batch_leaves_the_states),
        UNIT_TEST(test_arguments_are_checked),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("batches", tests, argc, argv);
}
