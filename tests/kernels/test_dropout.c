/* Dropout: the generator bit for bit, which masks encodes and replays draw, and what follows them.
 */
#include "glcnn/kernels/dropout.h"
#include "glcnn/node.h"

#include <math.h>

#include "device/buffer.h"
#include "device/device.h"
#include "record/shader_source.h"
#include "base/text.h"
#include "tests/fixture.h"

/* ---- The generator ---- */

static const char head[] =
    "#version 310 es\nlayout(local_size_x = 1) in;\nprecision highp float;\n"
    "layout(std430, binding = 0) buffer Words { uvec4 counter; uvec2 key; };\n";
static const char foot[] = "void main() { counter = philox(counter, key); }\n";

static GLuint make_program(void)
{
    const struct gl *gl = &device->gl;
    struct text source = {0};
    const char *text;
    GLint good = 0;
    text_format(&source, "%s", head);
    for (const struct glcnn_shader_source *s = glcnn_shader_sources; s->name; s++)
        if (strcmp(s->name, "lib/philox.glsl") == 0)
            text_add(&source, s->text, s->length);
    text_format(&source, "%s", foot);
    text = source.bytes;
    GLuint shader = gl->CreateShader(GL_COMPUTE_SHADER), program = gl->CreateProgram();
    gl->ShaderSource(shader, 1, &text, NULL);
    gl->CompileShader(shader);
    gl->AttachShader(program, shader);
    gl->LinkProgram(program);
    gl->GetProgramiv(program, GL_LINK_STATUS, &good);
    CU_ASSERT_TRUE_FATAL(good != 0);
    gl->DeleteShader(shader);
    text_free(&source);
    return program;
}

static void check_answer(GLuint program, const uint32_t input[6], const uint32_t answer[4])
{
    const struct gl *gl = &device->gl;
    glcnn_buffer *buffer = NULL;
    uint32_t words[8] = {0};
    memcpy(words, input, 6 * sizeof *words);
    GOOD_FATAL(glcnn_buffer_create(device, sizeof words, &buffer));
    GOOD(glcnn_buffer_write(buffer, 0, sizeof words, words));
    gl->UseProgram(program);
    gl->BindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer->name);
    gl->DispatchCompute(1, 1, 1);
    gl->MemoryBarrier(GL_ALL_BARRIER_BITS);
    GOOD(glcnn_buffer_read(buffer, 0, sizeof words, words));
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(words[i], answer[i]);
    glcnn_buffer_destroy(&buffer);
}

/* Published with the generator: kat_vectors of Random123, philox4x32 with 10 rounds. */
static void philox_gives_the_known_answers(void)
{
    static const uint32_t zeros[6] = {0};
    static const uint32_t ones[6] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
    static const uint32_t pi[6] = {0x243f6a88, 0x85a308d3, 0x13198a2e,
                                   0x03707344, 0xa4093822, 0x299f31d0};
    GLuint program = make_program();
    check_answer(program, zeros,
                 (const uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    check_answer(program, ones, (const uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    check_answer(program, pi, (const uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    device->gl.DeleteProgram(program);
}

/* ---- One encode ---- */

static glcnn_kernel *make_kernel(float keep_probability, uint64_t seed)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_dropout_create(device, keep_probability, seed, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

static void encode(glcnn_command_buffer *commands, glcnn_kernel *kernel, glcnn_image *source,
                   glcnn_image **result, glcnn_state **state)
{
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, kernel, &(struct glcnn_encode){.source = source}, result, state));
}

/* Elements, 0 or 1, of masks of `length`; to be freed. */
static float *read_mask(glcnn_state *state, size_t images, size_t length)
{
    glcnn_buffer *mask = glcnn_state_vector(state, "mask");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mask);
    size_t words = (length + 15) / 16;
    CU_ASSERT_EQUAL_FATAL(mask->size, images * words * sizeof(float));
    float *numbers = malloc(mask->size), *values = calloc(images * length, sizeof *values);
    GOOD(glcnn_buffer_read(mask, 0, mask->size, numbers));
    for (size_t i = 0; i < images * words * 16; i++) {
        float number = numbers[i / 16];
        CU_ASSERT_FATAL(number >= 0 && number <= 65535 && number == floorf(number));
        uint32_t bit = (uint32_t)number >> i % 16 & 1;
        if (i % (words * 16) < length)
            values[i / (words * 16) * length + i % (words * 16)] = (float)bit;
        else
            CU_ASSERT_EQUAL(bit, 0);
    }
    free(numbers);
    return values;
}

/* The mask that the kernel's next encode of `source` draws; to be freed. */
static float *draw(glcnn_kernel *kernel, glcnn_image *source, size_t *count)
{
    glcnn_image *result = NULL;
    glcnn_state *state = NULL;
    glcnn_command_buffer *commands = make_commands();
    encode(commands, kernel, source, &result, &state);
    finish(&commands);
    const struct glcnn_image_descriptor *of = glcnn_image_get_descriptor(source);
    size_t length = (size_t)of->width * of->height * of->feature_channels;
    float *mask = read_mask(state, of->number_of_images, length);
    *count = of->number_of_images * length;
    glcnn_image_destroy(&result);
    glcnn_state_destroy(&state);
    return mask;
}

static bool same_masks(const float *a, const float *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* Spec 12.31: the first four values of seed 0 are the upper 24 bits of the known answer. A value is
 * kept when its fraction is below the probability, not when it is equal. */
static void choice_31_masks_are_fractions_of_philox(void)
{
    static const uint32_t words[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    glcnn_image *source = make_image(1, 4, 1, 1);
    for (int i = 0; i < 8; i++) {
        size_t count;
        float u = ldexpf((float)(words[i / 2] >> 8), -24);
        glcnn_kernel *kernel = make_kernel(i % 2 ? u + ldexpf(1, -24) : u, 0);
        float *mask = draw(kernel, source, &count);
        CU_ASSERT_EQUAL_FATAL(count, 4);
        for (int k = 0; k < 4; k++)
            CU_ASSERT_EQUAL(mask[k] == 1, words[k] >> 8 < (words[i / 2] >> 8) + (uint32_t)(i % 2));
        free(mask);
        glcnn_kernel_destroy(&kernel);
    }
    glcnn_image_destroy(&source);
}

static void encodes_of_a_kernel_differ_and_kernels_agree(void)
{
    glcnn_image *source = make_image(2, 3, 8, 8);
    glcnn_kernel *a = make_kernel(0.5f, 5), *b = make_kernel(0.5f, 5),
                 *other = make_kernel(0.5f, 6);
    size_t n;
    float *a0 = draw(a, source, &n), *a1 = draw(a, source, &n);
    float *b0 = draw(b, source, &n), *b1 = draw(b, source, &n), *c0 = draw(other, source, &n);
    CU_ASSERT_EQUAL(n, 2 * 3 * 8 * 8);
    CU_ASSERT_TRUE(same_masks(a0, b0, n));
    CU_ASSERT_TRUE(same_masks(a1, b1, n));
    CU_ASSERT_FALSE(same_masks(a0, a1, n));
    CU_ASSERT_FALSE(same_masks(a0, c0, n));
    CU_ASSERT_FALSE(same_masks(a0, a0 + n / 2, n / 2)); /* image 0 and image 1 */
    free(a0);
    free(a1);
    free(b0);
    free(b1);
    free(c0);
    glcnn_kernel_destroy(&a);
    glcnn_kernel_destroy(&b);
    glcnn_kernel_destroy(&other);
    glcnn_image_destroy(&source);
}

/* No bit of the seed is lost, not even those that a double does not hold. */
static void seeds_have_64_bits(void)
{
    static const uint64_t seeds[] = {0, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX,
                                     UINT64_MAX - 1};
    enum { SEEDS = sizeof seeds / sizeof *seeds };
    glcnn_image *source = make_image(1, 8, 8, 8);
    float *masks[SEEDS];
    size_t n;
    for (int i = 0; i < SEEDS; i++) {
        glcnn_kernel *kernel = make_kernel(0.5f, seeds[i]);
        masks[i] = draw(kernel, source, &n);
        for (int j = 0; j < i; j++)
            CU_ASSERT_FALSE(same_masks(masks[i], masks[j], n));
        glcnn_kernel_destroy(&kernel);
    }
    for (int i = 0; i < SEEDS; i++)
        free(masks[i]);
    glcnn_image_destroy(&source);
}

/* As text too, of a node. */
static void seeds_of_nodes_have_64_bits(void)
{
    static const struct {
        const char *settings;
        uint64_t seed;
    } rows[] = {{"seed=18446744073709551615", UINT64_MAX},
                {"keep_probability=0.25 seed=9007199254740993", 9007199254740993u},
                {"seed=0x8000000000000001", (UINT64_C(1) << 63) + 1}};
    glcnn_network *network;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *image = glcnn_image_node_create(network, "image");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t seed = 0;
        CU_ASSERT_PTR_NOT_NULL(glcnn_node(image, "dropout", rows[i].settings));
        glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, i));
        GOOD(glcnn_kernel_get_uint64(kernel, "seed", &seed));
        CU_ASSERT_EQUAL(seed, rows[i].seed);
    }
    glcnn_network_destroy(&network);
    GOOD_FATAL(glcnn_network_create(device, &network));
    image = glcnn_image_node_create(network, "image");
    CU_ASSERT_PTR_NULL(glcnn_node(image, "dropout", "seed=18446744073709551616"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "is no value of seed"));
    glcnn_network_destroy(&network);
}

/* ---- Results ---- */

/* Every result is source / p or 0 as the mask says, shared along axes of stride 0. */
static void check_strides(uint32_t sx, uint32_t sy, uint32_t sc)
{
    enum { C = 6, H = 4, W = 5 };
    const float p = 0.25f;
    glcnn_kernel *kernel = make_kernel(p, 3);
    glcnn_image *source = make_image(1, C, H, W), *result = NULL;
    glcnn_state *state = NULL;
    glcnn_command_buffer *commands = make_commands();
    fill_noise(source, 4);
    struct glcnn_dropout_parameters *parameters = glcnn_dropout(kernel);
    parameters->mask_stride_in_pixels_x = sx;
    parameters->mask_stride_in_pixels_y = sy;
    parameters->mask_stride_in_feature_channels = sc;
    encode(commands, kernel, source, &result, &state);
    finish(&commands);
    size_t Wm = sx ? W : 1, Hm = sy ? H : 1, Cm = sc ? C : 1;
    float *mask = read_mask(state, 1, Wm * Hm * Cm), *x = read_image(source);
    float *y = read_image(result);
    for (uint32_t c = 0; c < C; c++)
        for (uint32_t i = 0; i < H * W; i++) {
            float m = mask[((i / W * sy) * Wm + i % W * sx) * Cm + c * sc];
            float wanted = m == 1 ? x[c * H * W + i] / p : 0;
            CU_ASSERT_DOUBLE_EQUAL(y[c * H * W + i], wanted, 1e-6);
        }
    free(mask);
    free(x);
    free(y);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
}

static void strides_of_zero_share_mask_values(void)
{
    for (uint32_t bits = 0; bits < 8; bits++)
        check_strides(bits & 1, bits >> 1 & 1, bits >> 2);
}

/* Within five standard deviations of a binomial distribution, each channel as well as all. */
static void values_are_kept_at_the_rate_asked_for(void)
{
    enum { C = 8, PIXELS = 64 * 64 };
    static const float rates[] = {0.05f, 0.3f, 0.5f, 0.9f};
    glcnn_image *source = make_image(1, C, 64, 64);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        glcnn_kernel *kernel = make_kernel(rates[r], 1234);
        double kept[C] = {0}, p = (double)rates[r], deviation = sqrt(PIXELS * p * (1 - p));
        size_t count;
        float *mask = draw(kernel, source, &count);
        CU_ASSERT_EQUAL_FATAL(count, C * PIXELS);
        for (size_t i = 0; i < count; i++)
            kept[i % C] += (double)mask[i];
        for (int c = 0; c < C; c++)
            CU_ASSERT_DOUBLE_EQUAL(kept[c], PIXELS * p, 5 * deviation);
        free(mask);
        glcnn_kernel_destroy(&kernel);
    }
    glcnn_image_destroy(&source);
}

/* What is dropped is 0, whatever it was. */
static void what_is_dropped_is_zero(void)
{
    glcnn_kernel *kernel = make_kernel(0.5f, 1);
    glcnn_image *source = make_image(1, 4, 16, 16), *result = NULL;
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *state = NULL;
    fill_constant(source, NAN);
    encode(commands, kernel, source, &result, &state);
    finish(&commands);
    size_t count = 4 * 256, dropped = 0, pixels = 256;
    float *mask = read_mask(state, 1, count), *y = read_image(result);
    for (size_t i = 0; i < count; i++) {
        float value = y[i % 4 * pixels + i / 4];
        CU_ASSERT(mask[i] == 1 ? isnan(value) : value == 0);
        dropped += mask[i] == 0;
    }
    CU_ASSERT(dropped > count / 4);
    free(mask);
    free(y);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
}

/* ---- Gradients and replays ---- */

static glcnn_kernel *make_gradient(void)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_dropout_gradient_create(device, 0.75f, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    return kernel;
}

/* A command buffer of a training step is committed again and again: each commit draws a mask of its
 * own, the one that as many encodes of a kernel would have drawn, and the gradient follows. */
static void check_replays(uint32_t channels)
{
    enum { REPLAYS = 3 };
    glcnn_kernel *kernel = make_kernel(0.5f, 11), *again = make_kernel(0.5f, 11);
    glcnn_kernel *gradient = make_gradient();
    glcnn_image *source = make_image(2, channels, 6, 7), *y = NULL, *dx = NULL;
    glcnn_state *state = NULL;
    glcnn_command_buffer *commands = make_commands();
    float *before = NULL;
    fill_constant(source, 1);
    encode(commands, kernel, source, &y, &state);
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, gradient,
        &(struct glcnn_encode){.source = source, .secondary = source, .state = state}, &dx, NULL));
    for (int i = 0; i < REPLAYS; i++) {
        size_t count;
        GOOD(glcnn_command_buffer_commit(commands));
        GOOD(glcnn_command_buffer_wait(commands));
        float *wanted = draw(again, source, &count), *mask = read_mask(state, 2, count / 2);
        CU_ASSERT_TRUE(same_masks(mask, wanted, count));
        CU_ASSERT_TRUE(!before || !same_masks(mask, before, count));
        CU_ASSERT_TRUE(images_equal(y, dx)); /* both are mask / p */
        free(wanted);
        free(before);
        before = mask;
    }
    free(before);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&dx);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&again);
    glcnn_kernel_destroy(&gradient);
}

static void replays_draw_new_masks(void)
{
    check_replays(5);
    check_replays(16); /* drawn by the pass that uses it */
}

/* Drawn by the pass that uses it or by one before, a mask is the same, and so is what it leaves. */
static void both_forms_draw_the_same_masks(void)
{
    enum { C = 48, H = 3, W = 5, COUNT = 2 * C * H * W };
    static const char *const forms[] = {"dropout_drawn", "dropout_masked"};
    static const size_t passes[] = {1, 2};
    glcnn_device *kept = device;
    float *masks[2], *results[2];
    for (int i = 0; i < 2; i++) {
        setenv("GLCNN_IMPLEMENTATIONS", forms[i], 1);
        CU_ASSERT_EQUAL_FATAL(glcnn_device_create(NULL, &device), GLCNN_SUCCESS);
        glcnn_kernel *kernel = make_kernel(0.4f, 21);
        glcnn_image *source = make_image(2, C, H, W), *result = NULL;
        glcnn_state *state = NULL;
        glcnn_command_buffer *commands = make_commands();
        fill_noise(source, 4);
        encode(commands, kernel, source, &result, &state);
        CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), passes[i]);
        finish(&commands);
        masks[i] = read_mask(state, 2, C * H * W);
        results[i] = read_image(result);
        glcnn_state_destroy(&state);
        glcnn_image_destroy(&source);
        glcnn_image_destroy(&result);
        glcnn_kernel_destroy(&kernel);
        glcnn_device_destroy(&device);
    }
    unsetenv("GLCNN_IMPLEMENTATIONS");
    device = kept;
    CU_ASSERT_TRUE(same_masks(masks[0], masks[1], COUNT));
    CU_ASSERT_TRUE(same_masks(results[0], results[1], COUNT));
    for (int i = 0; i < 2; i++) {
        free(masks[i]);
        free(results[i]);
    }
}

/* Spec 12.40: one state for each image of a batch, each with its own mask. */
static void choice_40_images_of_a_batch_have_their_own_states(void)
{
    enum { BATCH = 2 };
    glcnn_kernel *kernel = make_kernel(0.5f, 2);
    struct glcnn_encode arguments[BATCH];
    float *masks[BATCH];
    size_t count = 4 * 8 * 8;
    glcnn_command_buffer *commands = make_commands();
    CU_ASSERT_FALSE(glcnn_kernel_is_result_state_reused_across_batch(kernel));
    for (int i = 0; i < BATCH; i++) {
        arguments[i] = (struct glcnn_encode){.source = make_image(1, 4, 8, 8),
                                             .destination = make_image(1, 4, 8, 8)};
        GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, &arguments[i], &arguments[i].state));
    }
    GOOD(glcnn_kernel_encode_batch(commands, kernel, arguments, BATCH));
    finish(&commands);
    for (int i = 0; i < BATCH; i++)
        masks[i] = read_mask(arguments[i].state, 1, count);
    CU_ASSERT_FALSE(same_masks(masks[0], masks[1], count));
    for (int i = 0; i < BATCH; i++) {
        free(masks[i]);
        glcnn_image_destroy(&arguments[i].source);
        glcnn_image_destroy(&arguments[i].destination);
        glcnn_state_destroy(&arguments[i].state);
    }
    glcnn_kernel_destroy(&kernel);
}

/* By name: a mask that is given is the one that is used; without one the forward kernel draws it.
 */
static void masks_are_given_by_name(void)
{
    float g[] = {1, 2, 3, 4}, x[] = {0, 0, 0, 0}, mask[] = {2 + 4}; /* 0 1 1 0 */
    const struct glcnn_array inputs[] = {
        {"source_gradient", 1, {4}, g}, {"source_image", 1, {4}, x}, {"mask", 1, {1}, mask}};
    const struct glcnn_setting half = {"keep_probability", 0.5};
    static const float wanted[] = {0, 4, 6, 0};
    struct glcnn_array *outputs = NULL;
    size_t count = 0;
    char error[512];
    for (size_t given = 2; given <= 3; given++) {
        bool found = false;
        CU_ASSERT_EQUAL_FATAL(glcnn_run(device, "dropout_gradient", &half, 1, inputs, given, NULL,
                                        &outputs, &count, error),
                              GLCNN_SUCCESS);
        for (size_t i = 0; i < count; i++)
            if (strcmp(outputs[i].name, "destination_gradient") == 0)
                for (int k = 0; k < 4; k++, found = true)
                    CU_ASSERT_EQUAL(outputs[i].data[k], given == 3                ? wanted[k]
                                                        : outputs[i].data[k] == 0 ? 0
                                                                                  : 2 * g[k]);
        CU_ASSERT_TRUE(found);
        glcnn_run_destroy(outputs);
    }
}

/* ---- Misuse ---- */

static void refuse_encode(glcnn_kernel *kernel, const struct glcnn_encode *arguments)
{
    glcnn_command_buffer *commands = make_commands();
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, arguments));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_command_buffer_destroy(&commands);
}

static void wrong_parameters_are_refused(void)
{
    static const float wrong[] = {0, 1, -0.5f, 2, NAN};
    glcnn_kernel *kernel = NULL;
    glcnn_image *x = make_image(1, 4, 2, 2), *y = make_image(1, 4, 2, 2);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_dropout_create(device, wrong[i], 0, &kernel));
        CU_ASSERT_PTR_NULL(kernel);
        REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_dropout_gradient_create(device, wrong[i], &kernel));
    }
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_dropout_create(device, 0.5f, 0, NULL));
    kernel = make_kernel(0.5f, 0);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, "mask_stride_in_pixels_x", 2));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, "seed", -1));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, "seed", 0.5));
    GOOD(glcnn_kernel_set(kernel, "seed", 0x1p64));
    CU_ASSERT_EQUAL(glcnn_dropout(kernel)->seed, UINT64_MAX);
    GOOD(glcnn_kernel_set(kernel, "keep_probability", 1));
    refuse_encode(kernel, &(struct glcnn_encode){.source = x, .destination = y});
    CU_ASSERT_PTR_NULL(glcnn_dropout(NULL));
    glcnn_kernel_destroy(&kernel);
    kernel = make_gradient(); /* needs a state: it has the mask */
    refuse_encode(kernel, &(struct glcnn_encode){.source = x, .secondary = x, .destination = y});
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_kernel_destroy(&kernel);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(philox_gives_the_known_answers),
        UNIT_TEST(choice_31_masks_are_fractions_of_philox),
        UNIT_TEST(encodes_of_a_kernel_differ_and_kernels_agree),
        UNIT_TEST(seeds_have_64_bits),
        UNIT_TEST(seeds_of_nodes_have_64_bits),
        UNIT_TEST(strides_of_zero_share_mask_values),
        UNIT_TEST(values_are_kept_at_the_rate_asked_for),
        UNIT_TEST(what_is_dropped_is_zero),
        UNIT_TEST(replays_draw_new_masks),
        UNIT_TEST(both_forms_draw_the_same_masks),
        UNIT_TEST(choice_40_images_of_a_batch_have_their_own_states),
        UNIT_TEST(masks_are_given_by_name),
        UNIT_TEST(wrong_parameters_are_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("dropout", tests, argc, argv);
}
