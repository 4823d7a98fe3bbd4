/* Arguments out of their range: each gets a status, and a message where a device is known; none
 * crashes. Kernels are gone through by the registry, so a new one is tested without an edit here.
 */
#include "tests/fixture.h"

#include <EGL/egl.h>
#include <math.h>

#include "record/command_buffer.h"
#include "device/device.h"
#include "encode/kernel.h"

#define INVALID GLCNN_INVALID_ARGUMENT
#define STATE   GLCNN_INVALID_STATE
/* No device is known: a status alone. */
#define REFUSED_BARE(call) CU_ASSERT_EQUAL(call, INVALID)

static glcnn_device *other;          /* a second device, with an object of each kind */
static glcnn_image *image, *foreign; /* 1 x 4 x 2 x 2 */
static glcnn_buffer *buffer, *foreign_buffer;
static glcnn_command_buffer *commands, *foreign_commands;
static glcnn_kernel *kernel, *foreign_kernel;

static bool open_all(void)
{
    return fixture_open() && glcnn_device_create(NULL, &other) == GLCNN_SUCCESS &&
           glcnn_image_create(device, &(struct glcnn_image_descriptor){2, 2, 4, 1, 0}, &image) ==
               GLCNN_SUCCESS &&
           glcnn_image_create(other, &(struct glcnn_image_descriptor){2, 2, 4, 1, 0}, &foreign) ==
               GLCNN_SUCCESS &&
           glcnn_buffer_create(device, 64, &buffer) == GLCNN_SUCCESS &&
           glcnn_buffer_create(other, 64, &foreign_buffer) == GLCNN_SUCCESS &&
           glcnn_command_buffer_create(device, &commands) == GLCNN_SUCCESS &&
           glcnn_command_buffer_create(other, &foreign_commands) == GLCNN_SUCCESS &&
           glcnn_pooling_max_create(device, 1, 1, 1, 1, &kernel) == GLCNN_SUCCESS &&
           glcnn_pooling_max_create(other, 1, 1, 1, 1, &foreign_kernel) == GLCNN_SUCCESS;
}

static void close_all(void)
{
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&foreign_kernel);
    glcnn_command_buffer_destroy(&commands);
    glcnn_command_buffer_destroy(&foreign_commands);
    glcnn_buffer_destroy(&buffer);
    glcnn_buffer_destroy(&foreign_buffer);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&foreign);
    glcnn_device_destroy(&other);
    fixture_close();
}

/* ---- Devices ---- */

static int errors;
static void count_errors(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    errors += level == GLCNN_LOG_ERROR && strlen(text) > 10;
}

static void test_devices(void)
{
    const struct glcnn_device_parameters unknown = {.device = "no such device",
                                                    .log = count_errors};
    const struct glcnn_device_parameters plain = {.log = count_errors};
    const char *set = getenv("GLCNN_LIMITS");
    char *limits = set ? strdup(set) : NULL;
    glcnn_device *none = device;
    REFUSED_BARE(glcnn_device_create(NULL, NULL));
    errors = 0;
    CU_ASSERT_EQUAL(glcnn_device_create(&unknown, &none), GLCNN_NO_DEVICE);
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_EQUAL(errors, 1);
    setenv("GLCNN_LIMITS", "max", 1);
    CU_ASSERT_EQUAL(glcnn_device_create(&plain, &none), INVALID);
    CU_ASSERT_EQUAL(errors, 2);
    if (limits)
        setenv("GLCNN_LIMITS", limits, 1);
    else
        unsetenv("GLCNN_LIMITS");
    free(limits);
    glcnn_device_destroy(NULL);
    glcnn_device_destroy(&none);
    REFUSED_BARE(glcnn_device_hand_over(NULL));
    REFUSED_BARE(glcnn_device_acquire(NULL));
    REFUSED_BARE(glcnn_device_wait(NULL));
    REFUSED(STATE, glcnn_device_acquire(device));
    CU_ASSERT_PTR_NOT_NULL(glcnn_device_error(NULL));
    CU_ASSERT_PTR_NULL(glcnn_device_info(NULL));
    CU_ASSERT_FALSE(glcnn_device_has_extension(NULL, "GL_KHR_debug"));
    CU_ASSERT_FALSE(glcnn_device_has_extension(device, NULL));
    CU_ASSERT_FALSE(glcnn_device_has_extension(device, "GL_"));
    CU_ASSERT_FALSE(glcnn_device_has_extension(device, ""));
    CU_ASSERT_TRUE(glcnn_device_list(NULL, 5) > 0);
    CU_ASSERT_STRING_EQUAL(glcnn_status_text((glcnn_status)-1), "unknown status");
    CU_ASSERT_STRING_EQUAL(glcnn_status_text((glcnn_status)12), "unknown status");
    for (int i = 0; i < 12; i++)
        CU_ASSERT_STRING_NOT_EQUAL(glcnn_status_text((glcnn_status)i), "unknown status");
    GOOD(glcnn_device_wait(device));
}

/* A log callback that uses the device all the same: each call is refused, quietly. */
struct meddler {
    glcnn_device *device;
    int lines, refused;
    char message[128];
};

static void meddle(void *user, glcnn_log_level level, const char *text)
{
    struct meddler *meddler = user;
    glcnn_buffer *none = NULL;
    if (++meddler->lines > 1 || !meddler->device)
        return;
    (void)level, (void)text;
    meddler->refused += glcnn_buffer_create(meddler->device, 4, &none) == STATE;
    meddler->refused += glcnn_buffer_create(meddler->device, 3, &none) == STATE;
    meddler->refused += glcnn_device_wait(meddler->device) == STATE;
    meddler->refused += glcnn_device_hand_over(meddler->device) == STATE;
    snprintf(meddler->message, sizeof meddler->message, "%s", glcnn_device_error(meddler->device));
    glcnn_buffer_destroy(&none);
}

static void test_log_callback(void)
{
    struct meddler meddler = {NULL, 0, 0, ""};
    const struct glcnn_device_parameters parameters = {.log = meddle, .log_user = &meddler};
    glcnn_device *opened = NULL;
    glcnn_buffer *none = NULL;
    GOOD_FATAL(glcnn_device_create(&parameters, &opened));
    meddler.device = opened;
    meddler.lines = 0;
    CU_ASSERT_EQUAL(glcnn_buffer_create(opened, 5, &none), INVALID);
    CU_ASSERT_EQUAL(meddler.lines, 1);
    CU_ASSERT_EQUAL(meddler.refused, 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(meddler.message, "log callback"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(opened), "5"));
    GOOD(glcnn_buffer_create(opened, 4, &none));
    glcnn_buffer_destroy(&none);
    glcnn_device_destroy(&opened);
}

/* What the driver says comes on the thread of the call too. */
static void test_driver_messages(void)
{
    const struct glcnn_device_parameters parameters = {.debug = true};
    PFNGLISENABLEDPROC is_enabled = (PFNGLISENABLEDPROC)eglGetProcAddress("glIsEnabled");
    glcnn_device *opened = NULL;
    GOOD_FATAL(glcnn_device_create(&parameters, &opened));
    CU_ASSERT_PTR_NOT_NULL_FATAL(is_enabled);
    CU_ASSERT_TRUE(!glcnn_device_has_extension(opened, "GL_KHR_debug") ||
                   is_enabled(GL_DEBUG_OUTPUT_SYNCHRONOUS_KHR));
    glcnn_device_destroy(&opened);
}

/* ---- Buffers and command buffers ---- */

static void test_buffers(void)
{
    static const size_t wrong[] = {0, 3, 5, SIZE_MAX};
    glcnn_buffer *none = buffer;
    char bytes[4] = "";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED(INVALID, glcnn_buffer_create(device, wrong[i], &none));
        CU_ASSERT_PTR_NULL(none);
    }
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_buffer_create(device, SIZE_MAX - 3, &none));
    REFUSED(INVALID, glcnn_buffer_create(device, 4, NULL));
    REFUSED_BARE(glcnn_buffer_create(NULL, 4, &none));
    REFUSED_BARE(glcnn_buffer_write(NULL, 0, 4, bytes));
    REFUSED_BARE(glcnn_buffer_read(NULL, 0, 4, bytes));
    REFUSED(INVALID, glcnn_buffer_write(buffer, 0, 4, NULL));
    REFUSED(INVALID, glcnn_buffer_read(buffer, 0, 4, NULL));
    REFUSED(INVALID, glcnn_buffer_read(buffer, 64, 4, bytes));
    REFUSED(INVALID, glcnn_buffer_read(buffer, 0, SIZE_MAX - 3, bytes));
    CU_ASSERT_EQUAL(glcnn_buffer_size(NULL), 0);
    glcnn_buffer_destroy(NULL);
    glcnn_buffer_destroy(&none);
}

static void test_command_buffers(void)
{
    glcnn_command_buffer *none = commands;
    REFUSED_BARE(glcnn_command_buffer_create(NULL, &none));
    CU_ASSERT_PTR_NULL(none);
    REFUSED(INVALID, glcnn_command_buffer_create(device, NULL));
    REFUSED_BARE(glcnn_command_buffer_commit(NULL));
    REFUSED_BARE(glcnn_command_buffer_wait(NULL));
    CU_ASSERT_TRUE(glcnn_command_buffer_is_complete(NULL));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(NULL), 0);
    glcnn_command_buffer_destroy(NULL);
    glcnn_command_buffer_destroy(&none);
}

/* ---- Images and states ---- */

static void test_images(void)
{
    const struct glcnn_image_descriptor good = {2, 2, 4, 1, 0};
    const struct glcnn_image_descriptor format = {.channel_format = (glcnn_channel_format)-1};
    glcnn_image *none = image;
    REFUSED_BARE(glcnn_image_create(NULL, &good, &none));
    CU_ASSERT_PTR_NULL(none);
    REFUSED(INVALID, glcnn_image_create(device, NULL, &none));
    REFUSED(INVALID, glcnn_image_create(device, &good, NULL));
    REFUSED(INVALID, glcnn_image_create(device, &format, &none));
    REFUSED_BARE(glcnn_temporary_image_create(NULL, &good, &none));
    REFUSED(INVALID, glcnn_temporary_image_create(commands, NULL, &none));
    REFUSED(INVALID, glcnn_temporary_image_create(commands, &good, NULL));
    REFUSED(INVALID, glcnn_temporary_image_create(commands, &format, &none));
    REFUSED_BARE(glcnn_image_batch_view(NULL, 0, &none));
    REFUSED(INVALID, glcnn_image_batch_view(image, 0, NULL));
    REFUSED(INVALID, glcnn_image_batch_view(image, UINT32_MAX, &none));
    REFUSED_BARE(glcnn_image_channel_view(NULL, 0, 4, &none));
    REFUSED(INVALID, glcnn_image_channel_view(image, 0, 4, NULL));
    REFUSED(INVALID, glcnn_image_channel_view(image, 0, UINT32_MAX, &none));
    REFUSED_BARE(glcnn_image_set_read_count(NULL, 1));
    REFUSED(INVALID, glcnn_image_set_read_count(image, 1));
    CU_ASSERT_PTR_NULL(glcnn_image_get_descriptor(NULL));
    CU_ASSERT_EQUAL(glcnn_image_resource_size(NULL), 0);
    CU_ASSERT_FALSE(glcnn_image_is_temporary(NULL));
    CU_ASSERT_EQUAL(glcnn_image_read_count(NULL), 0);
    CU_ASSERT_EQUAL(glcnn_image_batch_increment_read_count((glcnn_image *[]){NULL, image}, 2, 1),
                    1);
    glcnn_image_destroy(NULL);
    CU_ASSERT_PTR_NULL(none);
    glcnn_image_destroy(&none);
}

static void test_transfers(void)
{
    float bytes[16] = {0};
    REFUSED_BARE(glcnn_image_write_bytes(NULL, NULL, bytes, sizeof bytes));
    REFUSED_BARE(glcnn_image_read_bytes(NULL, NULL, bytes, sizeof bytes));
    REFUSED(INVALID, glcnn_image_write_bytes(image, NULL, bytes, 0));
    REFUSED(INVALID, glcnn_image_read_bytes(image, NULL, NULL, SIZE_MAX));
    REFUSED_BARE(glcnn_image_encode_write(NULL, image, NULL, buffer, 0));
    REFUSED_BARE(glcnn_image_encode_read(NULL, image, NULL, buffer, 0));
    REFUSED(INVALID, glcnn_image_encode_write(commands, NULL, NULL, buffer, 0));
    REFUSED(INVALID, glcnn_image_encode_read(commands, NULL, NULL, buffer, 0));
    REFUSED(INVALID, glcnn_image_encode_write(commands, image, NULL, NULL, 0));
    REFUSED(INVALID, glcnn_image_encode_read(commands, image, NULL, NULL, 0));
    REFUSED(INVALID, glcnn_image_encode_write(commands, foreign, NULL, buffer, 0));
    REFUSED(INVALID, glcnn_image_encode_read(commands, image, NULL, foreign_buffer, 0));
    REFUSED_ON(other, INVALID, glcnn_image_encode_read(foreign_commands, image, NULL, buffer, 0));
    REFUSED(INVALID, glcnn_image_encode_write(commands, image, NULL, buffer, 4));
    REFUSED(INVALID, glcnn_image_encode_read(commands, image, NULL, buffer, SIZE_MAX));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
}

static void test_states(void)
{
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, &(struct glcnn_encode){0}, &state));
    CU_ASSERT_FALSE(glcnn_state_is_temporary(NULL));
    CU_ASSERT_EQUAL(glcnn_state_read_count(NULL), 0);
    REFUSED_BARE(glcnn_state_set_read_count(NULL, 1));
    REFUSED(INVALID, glcnn_state_set_read_count(state, 1));
    REFUSED_BARE(glcnn_state_reset(NULL));
    GOOD(glcnn_state_reset(state));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(NULL, "mean"));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(state, NULL));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(state, "mean"));
    CU_ASSERT_EQUAL(glcnn_state_source_width(NULL), 0);
    CU_ASSERT_EQUAL(glcnn_state_source_height(state), 0);
    glcnn_state_destroy(NULL);
    glcnn_state_destroy(&state);
    glcnn_state_destroy(&state);
}

/* ---- Padding ---- */

static void test_paddings(void)
{
    static const uint32_t wrong[][4] = {
        /* method, source, window, stride */
        {0x10, 0, 3, 1},          {0x10, 5, 0, 1},          {0x10, 5, 3, 0},
        {0x10, UINT32_MAX, 3, 1}, {0x10, 5, UINT32_MAX, 1}, {0x10, 5, 3, UINT32_MAX},
        {0x13, 5, 3, 1},          {0x30, 5, 3, 1},          {0x40, 5, 3, 1},
        {1 << 14, 5, 3, 1},       {UINT32_MAX, 5, 3, 1},    {0, 2, 3, 1}};
    uint32_t size;
    int32_t offset;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint32_t *w = wrong[i];
        REFUSED_BARE(glcnn_padding_resolve(w[0], i % 2, w[1], w[2], w[3], &size, &offset));
        REFUSED_BARE(glcnn_padding_resolve_reverse(w[0], w[1], w[2] + (w[2] == 3), w[3], &size));
    }
    REFUSED_BARE(glcnn_padding_resolve(0x10, false, 5, 3, 1, NULL, &offset));
    REFUSED_BARE(glcnn_padding_resolve(0x10, false, 5, 3, 1, &size, NULL));
    REFUSED_BARE(glcnn_padding_resolve_reverse(0x10, 5, 3, 1, NULL));
    REFUSED_BARE(glcnn_padding_resolve_reverse(0x10, 1 << 28, 3, 1 << 28, &size));
}

/* ---- Kernels by name ---- */

static void test_kernels_by_name(void)
{
    static const char *const names[] = {"", "pooling", "pooling_average ", "POOLING_AVERAGE", NULL};
    glcnn_kernel *none = kernel;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        REFUSED(INVALID, glcnn_kernel_create(device, names[i], &none));
        CU_ASSERT_PTR_NULL(none);
        CU_ASSERT_PTR_NULL(glcnn_kernel_info_by_name(names[i]));
    }
    REFUSED(INVALID, glcnn_kernel_create(device, "pooling_max", NULL));
    REFUSED_BARE(glcnn_kernel_create(NULL, "pooling_max", &none));
    REFUSED(INVALID, glcnn_kernel_copy(NULL, device, &none));
    REFUSED(INVALID, glcnn_kernel_copy(kernel, device, NULL));
    REFUSED_BARE(glcnn_kernel_copy(kernel, NULL, &none));
    REFUSED_BARE(glcnn_kernel_copy(NULL, NULL, NULL));
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(NULL), "");
    CU_ASSERT_PTR_NULL(glcnn_kernel_properties(NULL));
    CU_ASSERT_PTR_NULL(glcnn_kernel_info_at(glcnn_kernel_count()));
    CU_ASSERT_PTR_NULL(glcnn_kernel_info_at(SIZE_MAX));
    glcnn_kernel_destroy(NULL);
    glcnn_kernel_destroy(&none);
}

static void test_parameters_and_vectors(void)
{
    static const float values[4] = {0};
    double value;
    REFUSED_BARE(glcnn_kernel_set(NULL, "offset_x", 1));
    REFUSED(INVALID, glcnn_kernel_set(kernel, NULL, 1));
    REFUSED(INVALID, glcnn_kernel_set(kernel, "offset", 1));
    REFUSED(INVALID, glcnn_kernel_set(kernel, "", 1));
    REFUSED(INVALID, glcnn_kernel_set(kernel, "offset_x", INFINITY));
    REFUSED_BARE(glcnn_kernel_get(NULL, "offset_x", &value));
    REFUSED(INVALID, glcnn_kernel_get(kernel, NULL, &value));
    REFUSED(INVALID, glcnn_kernel_get(kernel, "epsilon", &value));
    REFUSED(INVALID, glcnn_kernel_get(kernel, "offset_x", NULL));
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(NULL, "gamma"));
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(kernel, NULL));
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(kernel, "gamma"));
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(kernel, "source_image"));
    REFUSED_BARE(glcnn_kernel_set_vector(NULL, "gamma", values, 4));
    REFUSED(INVALID, glcnn_kernel_set_vector(kernel, "gamma", values, 4));
    REFUSED(INVALID, glcnn_kernel_set_vector(kernel, NULL, values, 4));
    REFUSED(INVALID, glcnn_kernel_set_vector(kernel, "gamma", NULL, 4));
    REFUSED_BARE(glcnn_kernel_encode_reload(NULL, NULL, "gamma", buffer));
    REFUSED(INVALID, glcnn_kernel_encode_reload(commands, NULL, "gamma", buffer));
    REFUSED(INVALID, glcnn_kernel_encode_reload(NULL, kernel, "gamma", buffer));
    REFUSED(INVALID, glcnn_kernel_encode_reload(commands, kernel, "gamma", buffer));
    REFUSED(INVALID, glcnn_kernel_encode_reload(commands, kernel, NULL, buffer));
    REFUSED(INVALID, glcnn_kernel_encode_reload(commands, kernel, "gamma", NULL));
    REFUSED(INVALID, glcnn_kernel_encode_reload(commands, kernel, "gamma", foreign_buffer));
    CU_ASSERT_FALSE(glcnn_kernel_is_result_state_reused_across_batch(NULL));
    CU_ASSERT_FALSE(glcnn_kernel_append_batch_barrier(NULL));
    CU_ASSERT_FALSE(glcnn_kernel_is_state_modified(NULL));
}

static void test_vectors_of_a_wrong_length(void)
{
    static const float values[5] = {0};
    const struct glcnn_batch_normalization_data_source three = {.number_of_feature_channels = 3};
    glcnn_kernel *normalise = NULL;
    GOOD_FATAL(glcnn_batch_normalization_create(device, &three, NULL, &normalise));
    REFUSED(INVALID, glcnn_kernel_set_vector(normalise, "gamma", values, 0));
    REFUSED(INVALID, glcnn_kernel_set_vector(normalise, "gamma", values, 5));
    REFUSED(INVALID, glcnn_kernel_set_vector(normalise, "gamma", values, SIZE_MAX));
    REFUSED(INVALID, glcnn_kernel_encode_reload(commands, normalise, "gamma", buffer));
    GOOD(glcnn_kernel_set_vector(normalise, "gamma", values, 3));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_kernel_destroy(&normalise);
}

/* ---- Encodes ---- */

static void test_encodes(void)
{
    glcnn_image *result = NULL, *made = image;
    glcnn_state *state = NULL;
    struct glcnn_image_descriptor d;
    GOOD_FATAL(glcnn_image_create(device, glcnn_image_get_descriptor(image), &result));
    const struct glcnn_encode good = {.source = image, .destination = result};
    const struct glcnn_encode returning = {.source = image};
    const struct glcnn_encode mixed = {.source = image, .destination = foreign};
    REFUSED_BARE(glcnn_kernel_encode(NULL, NULL, &good));
    REFUSED(INVALID, glcnn_kernel_encode(NULL, kernel, &good));
    REFUSED(INVALID, glcnn_kernel_encode(commands, NULL, &good));
    REFUSED(INVALID, glcnn_kernel_encode(commands, kernel, NULL));
    REFUSED_ON(other, INVALID, glcnn_kernel_encode(commands, foreign_kernel, &good));
    REFUSED(INVALID, glcnn_kernel_encode(foreign_commands, kernel, &good));
    REFUSED(INVALID, glcnn_kernel_encode(commands, kernel, &mixed));
    REFUSED(INVALID, glcnn_kernel_encode_batch(commands, kernel, &good, 0));
    REFUSED(GLCNN_OUT_OF_MEMORY, glcnn_kernel_encode_batch(commands, kernel, &good, SIZE_MAX));
    REFUSED(INVALID, glcnn_kernel_encode_batch(commands, kernel, NULL, 1));
    REFUSED(INVALID, glcnn_kernel_encode_returning(commands, kernel, &good, &made, &state));
    CU_ASSERT_PTR_NULL(made);
    REFUSED(INVALID, glcnn_kernel_encode_returning(commands, kernel, &returning, NULL, NULL));
    REFUSED(INVALID, glcnn_kernel_encode_returning(commands, kernel, NULL, &made, NULL));
    REFUSED(INVALID, glcnn_kernel_encode_returning(NULL, kernel, &returning, &made, NULL));
    REFUSED(INVALID, glcnn_kernel_encode_returning(commands, NULL, &returning, &made, NULL));
    REFUSED(INVALID,
            glcnn_kernel_encode_returning(foreign_commands, kernel, &returning, &made, NULL));
    REFUSED_BARE(glcnn_kernel_prepare_destination(NULL, &returning, &d));
    REFUSED(INVALID, glcnn_kernel_prepare_destination(kernel, NULL, &d));
    REFUSED(INVALID, glcnn_kernel_prepare_destination(kernel, &returning, NULL));
    REFUSED(INVALID, glcnn_kernel_prepare_destination(kernel, &(struct glcnn_encode){0}, &d));
    REFUSED_BARE(glcnn_kernel_result_state(NULL, NULL, &returning, &state));
    REFUSED(INVALID, glcnn_kernel_result_state(NULL, kernel, &returning, NULL));
    REFUSED(INVALID, glcnn_kernel_result_state(foreign_commands, kernel, &returning, &state));
    CU_ASSERT_PTR_NULL(state);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    GOOD_FATAL(glcnn_kernel_result_state(NULL, foreign_kernel, &returning, &state));
    REFUSED(INVALID,
            glcnn_kernel_encode(
                commands, kernel,
                &(struct glcnn_encode){.source = image, .destination = result, .state = state}));
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&result);
}

/* What a kernel of any kind can be given; images are all 1 x 4 x 4 x 4. */
struct offer {
    struct glcnn_encode arguments;
    glcnn_image *images[6];
    glcnn_buffer *vectors[GLCNN_CALL_VECTORS];
};

static void make_offer(struct offer *offer)
{
    struct glcnn_encode *a = &offer->arguments;
    for (int i = 0; i < 6; i++)
        offer->images[i] = make_image(1, 4, 4, 4);
    a->source = offer->images[0];
    a->secondary = offer->images[1];
    a->destination = offer->images[2];
    a->labels = offer->images[3];
    a->label_weights = offer->images[4];
    a->loss = offer->images[5];
    for (int i = 0; i < GLCNN_CALL_VECTORS; i++) {
        GOOD_FATAL(glcnn_buffer_create(device, 64, &offer->vectors[i]));
        a->vectors[i] = offer->vectors[i];
    }
}

static void drop_offer(struct offer *offer)
{
    for (int i = 0; i < 6; i++)
        glcnn_image_destroy(&offer->images[i]);
    for (int i = 0; i < GLCNN_CALL_VECTORS; i++)
        glcnn_buffer_destroy(&offer->vectors[i]);
}

/* Any status will do, but a failure says why and records nothing. */
static void try_encode(glcnn_command_buffer *to, glcnn_kernel *tried, const struct glcnn_encode *a)
{
    size_t passes = glcnn_command_buffer_pass_count(to);
    struct glcnn_image_descriptor d;
    fixture_forget_error(device);
    if (glcnn_kernel_encode(to, tried, a) != GLCNN_SUCCESS) {
        CU_ASSERT_TRUE(strlen(glcnn_device_error(device)) > 10);
        CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), passes);
    }
    struct glcnn_encode returning = *a;
    returning.destination = NULL;
    fixture_forget_error(device);
    if (glcnn_kernel_prepare_destination(tried, &returning, &d) != GLCNN_SUCCESS)
        CU_ASSERT_TRUE(strlen(glcnn_device_error(device)) > 10);
}

/* Every parameter at either end of its range, while the others are as they were. */
static void test_every_parameter_at_its_ends(void)
{
    struct offer offer = {0};
    make_offer(&offer);
    for (size_t k = 0; k < glcnn_kernel_count(); k++) {
        const struct glcnn_kernel_info *info = glcnn_kernel_info_at(k);
        for (size_t i = 0; i < info->parameter_count; i++) {
            const struct glcnn_parameter_info *p = &info->parameters[i];
            glcnn_command_buffer *to = make_commands(); /* never committed */
            glcnn_kernel *tried = NULL;
            GOOD_FATAL(glcnn_kernel_create(device, info->name, &tried));
            GOOD(glcnn_kernel_set(tried, p->name, p->minimum));
            try_encode(to, tried, &offer.arguments);
            GOOD(glcnn_kernel_set(tried, p->name, p->maximum));
            try_encode(to, tried, &offer.arguments);
            glcnn_kernel_destroy(&tried);
            glcnn_command_buffer_destroy(&to);
        }
    }
    drop_offer(&offer);
}

/* Every argument that a kernel cannot do without, left out in turn, and from another device. */
static void leave_out(const struct glcnn_kernel_info *info, const struct offer *offer)
{
    static const char *const names[] = {"source_image", "source_gradient", "destination_image",
                                        "destination_gradient", "labels"};
    glcnn_kernel *tried = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, info->name, &tried));
    REFUSED(INVALID, glcnn_kernel_encode(commands, tried, &(struct glcnn_encode){0}));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), info->name));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "NULL"));
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        int index = descriptor_argument(tried->descriptor, names[n]);
        struct glcnn_encode a = offer->arguments;
        if (index < 0)
            continue;
        glcnn_image **const places[] = {&a.source, &a.secondary,     &a.destination,
                                        &a.labels, &a.label_weights, &a.loss};
        *places[tried->descriptor->arguments[index].place] = foreign;
        REFUSED(INVALID, glcnn_kernel_encode(commands, tried, &a));
        if (tried->descriptor->arguments[index].optional)
            continue;
        *places[tried->descriptor->arguments[index].place] = NULL;
        REFUSED(INVALID, glcnn_kernel_encode(commands, tried, &a));
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), names[n]));
    }
    glcnn_kernel_destroy(&tried);
}

static void test_every_argument_left_out(void)
{
    struct offer offer = {0};
    make_offer(&offer);
    for (size_t k = 0; k < glcnn_kernel_count(); k++)
        leave_out(glcnn_kernel_info_at(k), &offer);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    drop_offer(&offer);
}

/* ---- Typed constructors ---- */

typedef glcnn_status (*pooling_create)(glcnn_device *device, uint32_t kernel_width,
                                       uint32_t kernel_height, uint32_t stride_x, uint32_t stride_y,
                                       glcnn_kernel **kernel);
typedef glcnn_status (*dilated_create)(glcnn_device *device, uint32_t kernel_width,
                                       uint32_t kernel_height, uint32_t stride_x, uint32_t stride_y,
                                       uint32_t dilation_x, uint32_t dilation_y,
                                       glcnn_kernel **kernel);

static void test_pooling_constructors(void)
{
    static const pooling_create create[] = {glcnn_pooling_average_create,
                                            glcnn_pooling_l2_norm_create,
                                            glcnn_pooling_max_create,
                                            glcnn_pooling_average_gradient_create,
                                            glcnn_pooling_l2_norm_gradient_create,
                                            glcnn_pooling_max_gradient_create};
    static const dilated_create dilated[] = {glcnn_dilated_pooling_max_create,
                                             glcnn_dilated_pooling_max_gradient_create};
    for (size_t i = 0; i < 6 * 4 * 2; i++) {
        uint32_t v[4] = {1, 1, 1, 1};
        glcnn_kernel *none = kernel;
        v[i / 2 % 4] = i % 2 ? 0 : UINT32_MAX;
        REFUSED(INVALID, create[i / 8](device, v[0], v[1], v[2], v[3], &none));
        CU_ASSERT_PTR_NULL(none);
        REFUSED_BARE(create[i / 8](NULL, 1, 1, 1, 1, &none));
        REFUSED(INVALID, create[i / 8](device, 1, 1, 1, 1, NULL));
    }
    for (size_t i = 0; i < 2 * 6 * 2; i++) {
        uint32_t v[6] = {1, 1, 1, 1, 1, 1};
        glcnn_kernel *none = kernel;
        v[i / 2 % 6] = i % 2 ? 0 : UINT32_MAX;
        REFUSED(INVALID, dilated[i / 12](device, v[0], v[1], v[2], v[3], v[4], v[5], &none));
        CU_ASSERT_PTR_NULL(none);
        REFUSED(INVALID, dilated[i / 12](device, 1, 1, 1, 1, 1, 1, NULL));
    }
    CU_ASSERT_PTR_NULL(glcnn_pooling(NULL));
    CU_ASSERT_PTR_NOT_NULL(glcnn_pooling(kernel));
    CU_ASSERT_PTR_NULL(glcnn_neuron(kernel));
}

/* ---- Kernels on arrays ---- */

static void test_runs(void)
{
    float data[4] = {0};
    char error[512];
    const struct glcnn_array source = {
        .name = "source_image", .rank = 4, .shape = {1, 1, 2, 2}, .data = data};
    const struct glcnn_array long_rank = {.name = "source_image", .rank = 99, .data = data};
    const struct glcnn_array no_data = {.name = "source_image", .rank = 1, .shape = {4}};
    const struct glcnn_array no_name = {.rank = 1, .shape = {4}, .data = data};
    const struct glcnn_array *const wrong[] = {&long_rank, &no_data, &no_name};
    struct glcnn_setting setting = {NULL, 0};
    struct glcnn_array *outputs = NULL;
    size_t count = 0;
#define RUN(on, name, settings, setting_count, inputs, input_count, outputs)                       \
    glcnn_run(on, name, settings, setting_count, inputs, input_count, NULL, outputs, &count, error)
#define SAID(call)                                                                                 \
    error[0] = 0;                                                                                  \
    REFUSED_BARE(call);                                                                            \
    CU_ASSERT_TRUE(strlen(error) > 10)
    SAID(RUN(device, NULL, NULL, 0, &source, 1, &outputs));
    SAID(RUN(device, "no such", NULL, 0, &source, 1, &outputs));
    SAID(RUN(NULL, "pooling_max", NULL, 0, &source, 1, &outputs));
    SAID(RUN(device, "pooling_max", NULL, 0, NULL, 0, &outputs));
    SAID(RUN(device, "pooling_max", NULL, 0, NULL, 1, &outputs));
    SAID(RUN(device, "pooling_max", NULL, 1, &source, 1, &outputs));
    SAID(RUN(device, "pooling_max", &setting, 1, &source, 1, &outputs));
    SAID(RUN(device, "pooling_max", NULL, 0, &source, 1, NULL));
    static const double sizes[] = {-1, 0.5, 1e300, INFINITY, NAN};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct glcnn_setting both[] = {{"destination_width", sizes[i]},
                                             {"destination_height", sizes[i]}};
        SAID(RUN(device, "pooling_max", both, 2, &source, 1, &outputs));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        SAID(RUN(device, "pooling_max", NULL, 0, wrong[i], 1, &outputs));
    }
    SAID(glcnn_setting_parse(NULL, "offset_x=1", &setting, error));
    SAID(glcnn_setting_parse("pooling_max", NULL, &setting, error));
    SAID(glcnn_setting_parse("pooling_max", "offset_x", &setting, error));
    SAID(glcnn_setting_parse("pooling_max", "offset_x=", &setting, error));
    SAID(glcnn_setting_parse("pooling_max", "offset_x=1x", &setting, error));
    SAID(glcnn_setting_parse("pooling_max", "=1", &setting, error));
    SAID(glcnn_setting_parse("pooling_max", "offset_x=1", NULL, error));
    CU_ASSERT_PTR_NULL(outputs);
    CU_ASSERT_EQUAL(
        glcnn_run(device, "pooling_max", NULL, 0, &source, 1, NULL, &outputs, &count, NULL),
        GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(count, 1);
    glcnn_run_destroy(outputs);
    glcnn_run_destroy(NULL);
#undef SAID
#undef RUN
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_devices),
        UNIT_TEST(test_log_callback),
        UNIT_TEST(test_driver_messages),
        UNIT_TEST(test_buffers),
        UNIT_TEST(test_command_buffers),
        UNIT_TEST(test_images),
        UNIT_TEST(test_transfers),
        UNIT_TEST(test_states),
        UNIT_TEST(test_paddings),
        UNIT_TEST(test_kernels_by_name),
        UNIT_TEST(test_parameters_and_vectors),
        UNIT_TEST(test_vectors_of_a_wrong_length),
        UNIT_TEST(test_encodes),
        UNIT_TEST(test_every_parameter_at_its_ends),
        UNIT_TEST(test_every_argument_left_out),
        UNIT_TEST(test_pooling_constructors),
        UNIT_TEST(test_runs),
        CU_TEST_INFO_NULL,
    };
    if (!open_all())
        return EXIT_FAILURE;
    int result = unit_run("misuse", tests, argc, argv);
    close_all();
    return result;
}
