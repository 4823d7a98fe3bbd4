/* A failed encode leaves everything as it was: the command buffer, the kernel, its states and their
 * vectors, and what holds references to what. Each case fails as late as it can. */
#include "tests/fixture.h"

#include "device/device.h"
#include "encode/kernel.h"
#include "encode/state.h"
#include "image/image.h"

#define CHANNELS 4

static const struct glcnn_batch_normalization_data_source normalized = {
    .number_of_feature_channels = CHANNELS};

/* A state that the user made, all of whose places for vectors are taken. */
static glcnn_state *full_state(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    size_t lengths[STATE_VECTORS];
    glcnn_state *state = NULL;
    CU_ASSERT_EQUAL_FATAL(sizeof names / sizeof *names, STATE_VECTORS);
    for (size_t i = 0; i < STATE_VECTORS; i++)
        lengths[i] = CHANNELS;
    GOOD_FATAL(glcnn_state_create(device, NULL, names, lengths, STATE_VECTORS, &state));
    return state;
}

/* What a failure must leave alone. */
struct before {
    int references; /* to the kernel */
    size_t passes, retained;
    uint32_t encodes;
    struct glcnn_addressing properties;
    struct glcnn_buffer *vectors[MAX_ARGUMENTS];
};

static struct before look(const glcnn_command_buffer *commands, const glcnn_kernel *kernel)
{
    struct before b = {.references = kernel->references,
                       .passes = commands->pass_count,
                       .retained = commands->retained_count,
                       .encodes = kernel->encode_count,
                       .properties = kernel->properties};
    memcpy(b.vectors, kernel->vectors, sizeof b.vectors);
    return b;
}

static void check_untouched(const struct before *before, const glcnn_command_buffer *commands,
                            const glcnn_kernel *kernel)
{
    struct before now = look(commands, kernel);
    CU_ASSERT_EQUAL(now.references, before->references);
    CU_ASSERT_EQUAL(now.passes, before->passes);
    CU_ASSERT_EQUAL(now.retained, before->retained);
    CU_ASSERT_EQUAL(now.encodes, before->encodes);
    CU_ASSERT_EQUAL(memcmp(&now.properties, &before->properties, sizeof now.properties), 0);
    CU_ASSERT_EQUAL(memcmp(now.vectors, before->vectors, sizeof now.vectors), 0);
}

/* ---- States without room ---- */

/* The kernel's gamma and beta go along in the state, which has no room for them: found out once the
 * passes are planned. */
static void test_a_state_without_room(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_state *state = full_state();
    glcnn_image *source = make_image(1, CHANNELS, 3, 3), *result = make_image(1, CHANNELS, 3, 3);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_batch_normalization_create(device, &normalized, NULL, &kernel));
    glcnn_batch_normalization(kernel)->flags = GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER;
    struct before before = look(commands, kernel);
    REFUSED(GLCNN_INVALID_STATE,
            glcnn_kernel_encode(
                commands, kernel,
                &(struct glcnn_encode){.source = source, .destination = result, .state = state}));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "no room for gamma"));
    check_untouched(&before, commands, kernel);
    CU_ASSERT_EQUAL(state->vector_count, STATE_VECTORS);
    CU_ASSERT_PTR_NULL(state->forward.descriptor);
    CU_ASSERT_FALSE(result->written);
    finish(&commands);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

/* The second of two states has no room: the first must not say that it was encoded. */
static void test_a_batch_of_which_one_state_has_no_room(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_state *states[2] = {NULL, full_state()};
    glcnn_image *source = make_image(1, CHANNELS, 3, 3);
    glcnn_image *results[2] = {make_image(1, CHANNELS, 3, 3), make_image(1, CHANNELS, 3, 3)};
    struct glcnn_encode arguments[2];
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_create(device, "instance_normalization", &kernel));
    GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, NULL, &states[0]));
    for (size_t i = 0; i < 2; i++)
        arguments[i] =
            (struct glcnn_encode){.source = source, .destination = results[i], .state = states[i]};
    struct before before = look(commands, kernel);
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode_batch(commands, kernel, arguments, 2));
    check_untouched(&before, commands, kernel);
    CU_ASSERT_PTR_NULL(states[0]->forward.descriptor);
    CU_ASSERT_EQUAL(glcnn_state_source_width(states[0]), 0);
    CU_ASSERT_EQUAL(states[0]->vector_count, 0);
    finish(&commands);
    for (size_t i = 0; i < 2; i++) {
        glcnn_state_destroy(&states[i]);
        glcnn_image_destroy(&results[i]);
    }
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&kernel);
}

/* ---- Vectors that a state borrows of a kernel ---- */

/* Statistics take the place of the mean and variance that a state borrows of a kernel. Where the
 * encode fails after that the state has them still, with its reference. */
static void test_borrowed_vectors_come_back(void)
{
    glcnn_kernel *kernel = NULL, *statistics = NULL;
    glcnn_state *state = NULL, *full = full_state();
    glcnn_image *source = make_image(1, CHANNELS, 3, 3), *result = make_image(1, CHANNELS, 3, 3);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_batch_normalization_create(device, &normalized, NULL, &kernel));
    glcnn_batch_normalization(kernel)->flags = GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER;
    GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, NULL, &state));
    GOOD_FATAL(glcnn_kernel_encode(
        commands, kernel,
        &(struct glcnn_encode){.source = source, .destination = result, .state = state}));
    GOOD_FATAL(glcnn_kernel_create(device, "batch_normalization_statistics", &statistics));
    struct glcnn_buffer *mean = glcnn_kernel_vector(kernel, "mean");
    CU_ASSERT_PTR_EQUAL_FATAL(glcnn_state_vector(state, "mean"), mean);
    int references = mean->references;
    const struct glcnn_encode arguments[] = {{.source = source, .state = state},
                                             {.source = source, .state = full}};
    struct before before = look(commands, statistics);
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode_batch(commands, statistics, arguments, 2));
    check_untouched(&before, commands, statistics);
    CU_ASSERT_PTR_EQUAL(glcnn_state_vector(state, "mean"), mean);
    CU_ASSERT_EQUAL(mean->references, references);
    CU_ASSERT_EQUAL(state->samples, 0);
    finish(&commands);
    mean->references++; /* so that one reference too few does not take the test along */
    glcnn_state_destroy(&state);
    glcnn_state_destroy(&full);
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(mean->references, 1);
    glcnn_buffer_destroy(&mean);
    glcnn_kernel_destroy(&statistics);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

/* ---- Returning encodes ---- */

/* The vector that the kernel was given has another length than the image's channels, which only the
 * encode finds out, with image and state made. */
static void check_returning(bool ordinary)
{
    static const float gamma[] = {1, 2, 3};
    glcnn_kernel *kernel = NULL;
    glcnn_image *source = make_image(1, CHANNELS, 3, 3), *made = source;
    glcnn_state *state = (glcnn_state *)(void *)source; /* to be seen to go */
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_create(device, "instance_normalization", &kernel));
    GOOD(glcnn_kernel_set_vector(kernel, "gamma", gamma, 3));
    kernel->properties.result_is_ordinary = ordinary;
    const struct glcnn_encode arguments = {.source = source};
    struct before before = look(commands, kernel);
    int references = commands->references;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(commands, kernel, &arguments, &made, &state));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "gamma has 3 elements"));
    CU_ASSERT_PTR_NULL(made);
    CU_ASSERT_PTR_NULL(state);
    CU_ASSERT_EQUAL(commands->references, references);
    check_untouched(&before, commands, kernel);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&kernel);
}

static void test_a_failed_returning_encode(void)
{
    check_returning(true);
    check_returning(false);
}

/* ---- Vectors that are missing ---- */

/* The state is a right one, and nothing has filled it: that is the state's fault, not the
 * argument's. */
static void test_a_state_vector_that_is_missing(void)
{
    glcnn_kernel *forward = NULL, *backward = NULL;
    glcnn_state *state = NULL;
    glcnn_image *source = make_image(1, CHANNELS, 3, 3), *result = make_image(1, CHANNELS, 3, 3);
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_kernel_create(device, "dropout", &forward));
    GOOD_FATAL(glcnn_kernel_create(device, "dropout_gradient", &backward));
    GOOD_FATAL(glcnn_kernel_result_state(NULL, forward, NULL, &state));
    struct glcnn_encode arguments = {
        .source = source, .secondary = source, .destination = result, .state = state};
    struct before before = look(commands, backward);
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode(commands, backward, &arguments));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(glcnn_device_error(device), "the state has no mask yet; encode dropout first"));
    check_untouched(&before, commands, backward);
    GOOD(glcnn_kernel_encode(
        commands, forward,
        &(struct glcnn_encode){.source = source, .destination = result, .state = state}));
    GOOD(glcnn_state_reset(state));
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode(commands, backward, &arguments));
    arguments.state = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, backward, &arguments));
    finish(&commands);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

/* ---- Nothing leaks ---- */

static void (*const cases[])(void) = {
    test_a_state_without_room, test_a_batch_of_which_one_state_has_no_room,
    test_borrowed_vectors_come_back, test_a_failed_returning_encode,
    test_a_state_vector_that_is_missing};

/* All that is made of a device refers to it. */
static void test_nothing_is_leaked(void)
{
    int references = device->references;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cases[i]();
        CU_ASSERT_EQUAL(device->references, references);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_a_state_without_room),
        UNIT_TEST(test_a_batch_of_which_one_state_has_no_room),
        UNIT_TEST(test_borrowed_vectors_come_back),
        UNIT_TEST(test_a_failed_returning_encode),
        UNIT_TEST(test_a_state_vector_that_is_missing),
        UNIT_TEST(test_nothing_is_leaked),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("failed encodes", tests, argc, argv);
}
