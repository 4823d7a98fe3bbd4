/* Pooling: a window as large as the source, and each form of the passes over windows of any size.
 */
#include "glcnn/kernels/pooling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/program.h"
#include "run/check.h"
#include "tests/fixture.h"

#define IMAGES   3
#define CHANNELS 5
#define MAPS     (IMAGES * CHANNELS)

/* Forward and gradient of one size, the kernels' results, and what they have to be. */
struct global {
    uint32_t width, height;
    glcnn_kernel *forward, *gradient;
    glcnn_image *x, *y, *dx;
};

static void pool(struct global *p)
{
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    p->x = make_image(IMAGES, CHANNELS, p->height, p->width);
    fill_noise(p->x, 7);
    GOOD_FATAL(glcnn_pooling_average_create(device, p->width, p->height, 1, 1, &p->forward));
    GOOD_FATAL(glcnn_pooling_average_gradient_create(device, 1, 1, 1, 1, &p->gradient));
    glcnn_kernel_properties(p->forward)->padding = GLCNN_PADDING_SIZE_VALID_ONLY;
    glcnn_kernel_properties(p->forward)->result_is_ordinary = true;
    glcnn_kernel_properties(p->gradient)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(to, p->forward, &(struct glcnn_encode){.source = p->x},
                                             &p->y, &state));
    GOOD_FATAL(glcnn_kernel_encode_returning(
        to, p->gradient, &(struct glcnn_encode){.source = p->y, .secondary = p->x, .state = state},
        &p->dx, NULL));
    finish(&to);
    glcnn_state_destroy(&state);
}

static void release(struct global *p)
{
    glcnn_image_destroy(&p->x);
    glcnn_image_destroy(&p->y);
    glcnn_image_destroy(&p->dx);
    glcnn_kernel_destroy(&p->forward);
    glcnn_kernel_destroy(&p->gradient);
}

/* `y` has the mean of each map of `x`, and `dx`, for y taken as its gradient, a share of that. */
static void check_maps(const float *x, const float *y, const float *dx, size_t plane)
{
    for (size_t map = 0; map < MAPS; map++) {
        double sum = 0;
        for (size_t i = 0; i < plane; i++)
            sum += (double)x[map * plane + i];
        CU_ASSERT_DOUBLE_EQUAL((double)y[map], sum / (double)plane, 1e-6);
        for (size_t i = 0; i < plane; i++)
            CU_ASSERT_DOUBLE_EQUAL((double)dx[map * plane + i], (double)y[map] / (double)plane,
                                   1e-7);
    }
}

static void check_size(uint32_t width, uint32_t height)
{
    struct global p = {.width = width, .height = height};
    pool(&p);
    CU_ASSERT_EQUAL_FATAL(count_of(p.y), MAPS);
    CU_ASSERT_EQUAL_FATAL(count_of(p.dx), count_of(p.x));
    float *x = read_image(p.x), *y = read_image(p.y), *dx = read_image(p.dx);
    check_maps(x, y, dx, (size_t)width * height);
    free(x);
    free(y);
    free(dx);
    release(&p);
}

static void a_window_like_the_source_gives_the_mean_of_each_map(void)
{
    check_size(1, 1);
    check_size(7, 7);
    check_size(8, 6);
    check_size(5, 14);
    check_size(1, 31);
    check_size(64, 1);
}

/* ---- Forms ---- */

static glcnn_device *open_forced(const char *implementations)
{
    glcnn_device *on = NULL;
    setenv("GLCNN_IMPLEMENTATIONS", implementations, 1);
    CU_ASSERT_EQUAL_FATAL(glcnn_device_create(NULL, &on), GLCNN_SUCCESS);
    unsetenv("GLCNN_IMPLEMENTATIONS");
    return on;
}

struct search {
    char line[64];
    size_t found;
};

static void look(void *user, const struct program *program)
{
    struct search *search = user;
    search->found += strstr(program->source, search->line) != NULL;
}

#define TILES "pooling_gradient_tiles"

/* A build may leave out the rows of src/desktop. */
static bool is_built(const char *implementation)
{
    const char *const *names = glcnn_kernel_info_by_name("pooling_max_gradient")->implementations;
    while (*names && strcmp(*names, implementation) != 0)
        names++;
    return *names || strcmp(implementation, TILES) != 0;
}

static size_t programs_of(const glcnn_device *on, const char *implementation)
{
    struct search search = {.found = 0};
    snprintf(search.line, sizeof search.line, "// %s\n", implementation);
    program_cache_each(on->programs, look, &search);
    return search.found;
}

/* Windows of any size, larger than the source too, beside it and inside. */
static void draw_case(uint32_t *seed, char *settings, size_t size, struct check_case *c)
{
    uint32_t width = 1 + below(seed, 13), height = 1 + below(seed, 13);
    int length = snprintf(settings, size,
                          "kernel_width=%u kernel_height=%u stride_in_pixels_x=%u "
                          "stride_in_pixels_y=%u edge_mode=%s offset_x=%d offset_y=%d "
                          "destination_width=%u destination_height=%u",
                          width, height, 1 + below(seed, 4), 1 + below(seed, 4),
                          below(seed, 2) ? "clamp" : "zero", (int)below(seed, 9) - 4,
                          (int)below(seed, 9) - 4, 3 + below(seed, 6), 3 + below(seed, 6));
    if (below(seed, 2))
        snprintf(settings + length, size - (size_t)length, " zero_pad_size_x=%u zero_pad_size_y=%u",
                 below(seed, 4), below(seed, 4));
    else
        snprintf(settings + length, size - (size_t)length,
                 " clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=%u "
                 "clip_rect_size_height=%u",
                 1 + below(seed, 5), 1 + below(seed, 5));
    *c = (struct check_case){settings,
                             {2, 1 + below(seed, 6), 1 + below(seed, 12), 1 + below(seed, 12)}};
}

static void check_one(glcnn_device *on, const char *kernel, const struct check_case *c)
{
    const struct glcnn_descriptor *d = descriptor_find(kernel);
    struct argument_map map = {0};
    struct glcnn_setting settings[CHECK_SETTINGS];
    char error[GLCNN_ERROR_LENGTH] = "";
    double worst = INFINITY;
    struct run run = {.map = &map, .validation = {error, sizeof error}};
    CU_ASSERT_TRUE_FATAL(check_inputs(&run, d, c, 1, settings));
    GOOD(check_run(on, d, &run, &worst));
    CU_ASSERT(worst <= 1);
    if (!(worst <= 1))
        fprintf(stderr, "\n  %s %s on %ux%u: error %g %s\n", kernel, c->settings, c->shape[2],
                c->shape[3], worst, error);
    argument_map_free(&map);
}

#define SWEEP 6

static void check_form(const char *forced, const char *form, const char *const *kernels)
{
    glcnn_device *on = open_forced(forced);
    uint32_t seed = 11;
    for (; *kernels; kernels++)
        for (int i = 0; i < SWEEP; i++) {
            char settings[400];
            struct check_case c;
            draw_case(&seed, settings, sizeof settings, &c);
            if (strncmp(*kernels, "dilated", 7) == 0)
                strcat(settings, " dilation_rate_x=2 dilation_rate_y=3");
            check_one(on, *kernels, &c);
        }
    CU_ASSERT(programs_of(on, form) >= SWEEP / 2);
    glcnn_device_destroy(&on);
}

static void each_form_agrees_with_the_reference(void)
{
    static const char *const results[] = {"pooling_average", "pooling_l2_norm", "pooling_max",
                                          "dilated_pooling_max", NULL};
    static const char *const gradients[] = {"pooling_average_gradient", "pooling_l2_norm_gradient",
                                            "pooling_max_gradient", "dilated_pooling_max_gradient",
                                            NULL};
    static const char *const norms[] = {"pooling_l2_norm_gradient", NULL};
    check_form("pooling_separable", "pooling_separable", results);
    check_form("pooling_direct", "pooling_direct", results);
    check_form("pooling_separable,pooling_gradient_separable", "pooling_gradient_separable",
               gradients);
    check_form("pooling_direct,pooling_gradient_gather", "pooling_gradient_gather", gradients);
    check_form("pooling_gradient_recomputed", "pooling_gradient_recomputed", norms);
    if (is_built(TILES))
        check_form(TILES, TILES, gradients);
}

/* Of windows of 2x2 pixels that are all alike, and of the gradient 1. */
static void check_norms(float pixel)
{
    glcnn_state *state;
    glcnn_kernel *kernel =
        kernel_with("pooling_l2_norm", "kernel_width=2 kernel_height=2 "
                                       "stride_in_pixels_x=2 "
                                       "stride_in_pixels_y=2 offset_x=1 offset_y=1");
    glcnn_kernel *gradient = kernel_with("pooling_l2_norm_gradient", NULL);
    glcnn_image *source = make_image(1, 4, 12, 12), *ones = make_image(1, 4, 6, 6);
    fill_constant(source, pixel);
    fill_constant(ones, 1);
    glcnn_image *norms = make_image(1, 4, 6, 6), *result = make_image(1, 4, 12, 12);
    glcnn_image *temporary;
    glcnn_command_buffer *to = make_commands();
    GOOD_FATAL(glcnn_kernel_encode(to, kernel,
                                   &(struct glcnn_encode){.source = source, .destination = norms}));
    GOOD_FATAL(glcnn_kernel_encode_returning(to, kernel, &(struct glcnn_encode){.source = source},
                                             &temporary, &state));
    glcnn_image_destroy(&temporary);
    GOOD_FATAL(glcnn_kernel_encode(
        to, gradient,
        &(struct glcnn_encode){
            .source = ones, .secondary = source, .state = state, .destination = result}));
    glcnn_state_destroy(&state);
    finish(&to);
    float *found = read_image(norms), *rates = read_image(result);
    for (size_t i = 0; i < count_of(norms); i++)
        CU_ASSERT(is_near((double)found[i] / (double)pixel, 2, 1e-5));
    for (size_t i = 0; i < count_of(result); i++)
        CU_ASSERT(is_near(rates[i], 0.5, 1e-5));
    free(found), free(rates);
    glcnn_image *images[] = {source, ones, norms, result};
    for (size_t i = 0; i < 4; i++)
        glcnn_image_destroy(&images[i]);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&gradient);
}

/* Their squares are no floats, or have lost their digits. */
static void norms_of_extreme_pixels(void)
{
    static const char *const forms[] = {"pooling_separable,pooling_gradient_separable",
                                        "pooling_direct,pooling_gradient_gather",
                                        "pooling_direct,pooling_gradient_recomputed", TILES};
    static const float pixels[] = {1e30f, 1e-30f, 3e37f, 1e-36f, 1e-21f, 1};
    glcnn_device *kept = device;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (!is_built(forms[f]))
            continue;
        device = open_forced(forms[f]);
        for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
            check_norms(pixels[i]);
        glcnn_device_destroy(&device);
    }
    device = kept;
}

/* Passes of an encode on 64x64 pixels of 64 channels. */
static size_t passes_of(const char *name, const char *settings)
{
    glcnn_kernel *kernel = kernel_with(name, settings);
    glcnn_image *source = make_image(4, 64, 64, 64);
    glcnn_image *result = NULL;
    glcnn_command_buffer *to = make_commands();
    GOOD(glcnn_kernel_encode_returning(to, kernel, &(struct glcnn_encode){.source = source},
                                       &result, NULL));
    size_t passes = glcnn_command_buffer_pass_count(to);
    glcnn_command_buffer_destroy(&to);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
    return passes;
}

/* Where groups share memory, one may take all of an image in a pass. */
static void large_windows_take_two_passes(void)
{
    static const char *const kernels[] = {"pooling_average", "pooling_l2_norm", "pooling_max"};
    const bool shared_memory = device->info.traits.shared_memory;
    device->info.traits.shared_memory = false;
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(passes_of(kernels[i], "kernel_width=3 kernel_height=3"), 1);
        CU_ASSERT_EQUAL(passes_of(kernels[i], "kernel_width=13 kernel_height=13"), 2);
        CU_ASSERT_EQUAL(passes_of(kernels[i], "kernel_width=64 kernel_height=64 padding=valid"), 2);
    }
    device->info.traits.shared_memory = shared_memory;
}

/* Passes of the gradient of maxima on 64x64 pixels of 64 channels. */
static size_t passes_of_max_gradient(const char *settings)
{
    glcnn_kernel *kernel = kernel_with("pooling_max_gradient", settings);
    glcnn_image *x = make_image(4, 64, 64, 64), *g = make_image(4, 64, 64, 64);
    glcnn_image *dx = make_image(4, 64, 64, 64);
    glcnn_command_buffer *to = make_commands();
    GOOD(glcnn_kernel_encode(
        to, kernel, &(struct glcnn_encode){.source = g, .secondary = x, .destination = dx}));
    size_t passes = glcnn_command_buffer_pass_count(to);
    glcnn_command_buffer_destroy(&to);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&kernel);
    return passes;
}

/* Argmax by rows and by windows, and gathering by columns and by rows, also where groups share
 * memory. */
static void gradients_of_large_maxima_take_four_passes(void)
{
    const struct glcnn_device_traits traits = device->info.traits;
    CU_ASSERT_EQUAL(passes_of_max_gradient("secondary_kernel_width=13 secondary_kernel_height=13"),
                    4);
    CU_ASSERT(passes_of_max_gradient("secondary_kernel_width=3 secondary_kernel_height=3") < 3);
    device->info.traits.shared_memory = true;
    CU_ASSERT_EQUAL(passes_of_max_gradient("secondary_kernel_width=5 secondary_kernel_height=5"),
                    4);
    device->info.traits = traits;
}

/* What a pass is said to take decides into how many dispatches it is split: a pixel that one window
 * reads takes little, however large that is. */
static void gradients_of_disjoint_windows_are_cheap(void)
{
    static const char *const kernels[] = {"pooling_average", "pooling_l2_norm"};
    for (int i = 0; i < 2; i++) {
        glcnn_kernel *forward = kernel_with(kernels[i], "kernel_width=100 kernel_height=100 "
                                                        "stride_in_pixels_x=100 "
                                                        "stride_in_pixels_y=100");
        char name[64];
        snprintf(name, sizeof name, "%s_gradient", kernels[i]);
        glcnn_kernel *gradient = kernel_with(name, NULL);
        glcnn_image *x = make_image(1, 1, 100, 100), *g = make_image(1, 1, 1, 1), *dx = NULL;
        glcnn_state *state = NULL;
        glcnn_image *y = NULL;
        glcnn_command_buffer *to = make_commands();
        GOOD_FATAL(glcnn_kernel_encode_returning(to, forward, &(struct glcnn_encode){.source = x},
                                                 &y, &state));
        GOOD_FATAL(glcnn_kernel_encode_returning(
            to, gradient, &(struct glcnn_encode){.source = g, .secondary = x, .state = state}, &dx,
            NULL));
        CU_ASSERT(to->passes[to->pass_count - 1].work <= 64);
        glcnn_command_buffer_destroy(&to);
        glcnn_image_destroy(&x);
        glcnn_image_destroy(&g);
        glcnn_image_destroy(&y);
        glcnn_image_destroy(&dx);
        glcnn_state_destroy(&state);
        glcnn_kernel_destroy(&forward);
        glcnn_kernel_destroy(&gradient);
    }
}

/* The maxima of 9x9 pixels, of which some are not finite, by a form. */
static float *maxima_by(const char *form, bool keeps_indices, glcnn_channel_format format,
                        size_t *count)
{
    static const float values[81] = {[3] = NAN, [20] = INFINITY, [40] = -INFINITY, [77] = -0.0f};
    glcnn_device *kept = device;
    device = open_forced(form);
    glcnn_kernel *kernel = kernel_with("pooling_max", "kernel_width=3 kernel_height=3");
    glcnn_image *source = make_image_of(device, format, 1, 1, 9, 9), *result;
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    fill_image(source, values);
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(to, kernel, &(struct glcnn_encode){.source = source},
                                             &result, keeps_indices ? &state : NULL));
    finish(&to);
    glcnn_state_destroy(&state);
    float *maxima = read_image(result);
    *count = count_of(result);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
    glcnn_device_destroy(&device);
    device = kept;
    return maxima;
}

static void check_not_finite(const char *form, bool keeps_indices, glcnn_channel_format format)
{
    size_t count = 0, strange = 0;
    float *expected = maxima_by("pooling_separable", false, GLCNN_CHANNEL_FORMAT_FLOAT32, &count);
    float *found = maxima_by(form, keeps_indices, format, &count);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT(isnan(expected[i]) ? isnan(found[i]) : expected[i] == found[i]);
        strange += isfinite(expected[i]) ? 0 : 1;
    }
    CU_ASSERT(strange > 9);
    free(expected);
    free(found);
}

/* A NaN wins, and infinities do not become one, whichever form has them. */
static void numbers_that_are_not_finite_stay(void)
{
    static const char *const forms[] = {"pooling_separable", "pooling_direct", "pooling_direct"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        check_not_finite(forms[i], i == 2, GLCNN_CHANNEL_FORMAT_FLOAT32);
        check_not_finite(forms[i], i == 2, GLCNN_CHANNEL_FORMAT_FLOAT16);
    }
}

/* The gradient of a maximum of 9x9 pixels, of which some are not finite, by a form. */
static float *gradient_by(const char *form, const char *settings, size_t *count)
{
    float values[81] = {[3] = NAN, [4] = NAN, [20] = INFINITY, [21] = INFINITY, [40] = -INFINITY};
    device = open_forced(form);
    glcnn_kernel *forward = kernel_with("pooling_max", settings);
    glcnn_kernel *gradient = kernel_with("pooling_max_gradient", NULL);
    glcnn_kernel_properties(gradient)->result_is_ordinary = true;
    glcnn_image *x = image_with(1, 1, 9, 9, values), *y = NULL, *dx = NULL;
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    glcnn_kernel_properties(forward)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(to, forward, &(struct glcnn_encode){.source = x}, &y,
                                             &state));
    finish(&to);
    fill_noise(y, 5);
    if (!strstr(form, "gather") && !strstr(form, "separable") &&
        glcnn_state_vector(state, "indices"))
        fill_noise(x, 6); /* that it does not read */
    to = make_commands();
    GOOD_FATAL(glcnn_kernel_encode_returning(
        to, gradient, &(struct glcnn_encode){.source = y, .secondary = x, .state = state}, &dx,
        NULL));
    finish(&to);
    float *found = read_image(dx);
    *count = count_of(dx);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
    glcnn_device_destroy(&device);
    return found;
}

/* The first NaN of a window has its gradient, and of equal values, infinities or zeros, the first,
 * whichever form finds it: columns and rows one after the other, and the forward pass that leaves it in
 * the state, of windows that overlap and that do not. */
static void of_equals_the_first_wins_in_each_form(void)
{
    static const char *const settings[] = {
        "kernel_width=3 kernel_height=3",
        "kernel_width=3 kernel_height=3 stride_in_pixels_x=2 stride_in_pixels_y=2",
        "kernel_width=5 kernel_height=3 edge_mode=clamp",
        "kernel_width=3 kernel_height=2 edge_mode=clamp",
        "kernel_width=3 kernel_height=3 stride_in_pixels_x=3 stride_in_pixels_y=3",
        "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2 offset_x=1 offset_y=1"};
    static const char *const forms[] = {"pooling_gradient_separable", "pooling_gradient_indices",
                                        "pooling_gradient_disjoint", TILES};
    enum { FORMS = sizeof forms / sizeof *forms, SETTINGS = sizeof settings / sizeof *settings };
    glcnn_device *kept = device;
    for (int i = 0; i < FORMS * SETTINGS; i++) {
        size_t count = 0;
        if (!is_built(forms[i % FORMS]))
            continue;
        float *found = gradient_by(forms[i % FORMS], settings[i / FORMS], &count);
        float *plain = gradient_by("pooling_gradient_gather", settings[i / FORMS], &count);
        CU_ASSERT(count == 81 && plain[3] != 0.0f && plain[20] != 0.0f);
        for (size_t at = 0; at < count; at++)
            CU_ASSERT_DOUBLE_EQUAL((double)found[at], (double)plain[at], 1e-6);
        free(found);
        free(plain);
    }
    device = kept;
}

/* Elements of a state's argmax indices, of 2 images of 9 channels of 12x13 pixels. */
static size_t indices_of(const char *settings)
{
    glcnn_kernel *kernel = kernel_with("dilated_pooling_max", settings);
    glcnn_image *x = make_image(2, 9, 12, 13), *y = NULL;
    glcnn_state *state = NULL;
    glcnn_command_buffer *to = make_commands();
    GOOD_FATAL(
        glcnn_kernel_encode_returning(to, kernel, &(struct glcnn_encode){.source = x}, &y, &state));
    glcnn_buffer *indices = glcnn_state_vector(state, "indices");
    size_t count = indices ? glcnn_buffer_size(indices) / 4 : 0;
    glcnn_command_buffer_destroy(&to);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_kernel_destroy(&kernel);
    return count;
}

/* One for each pixel and slice of the result, of windows that the header names. */
static void states_keep_indices_of_small_windows(void)
{
    CU_ASSERT_EQUAL(indices_of("kernel_width=3 kernel_height=3"), 2 * 3 * 12 * 13);
    CU_ASSERT_EQUAL(indices_of("kernel_width=3 kernel_height=3 stride_in_pixels_x=2 "
                               "stride_in_pixels_y=2 edge_mode=clamp"),
                    2 * 3 * 6 * 7);
    CU_ASSERT_EQUAL(indices_of("kernel_width=3 kernel_height=3 dilation_rate_x=2"),
                    2 * 3 * 12 * 13);
    CU_ASSERT_EQUAL(indices_of("kernel_width=2 kernel_height=2 stride_in_pixels_x=2 "
                               "stride_in_pixels_y=2"),
                    2 * 3 * 6 * 7);
    CU_ASSERT_EQUAL(indices_of(NULL), 0);
    CU_ASSERT_EQUAL(indices_of("kernel_width=4 kernel_height=3"), 0);
    CU_ASSERT_EQUAL(indices_of("kernel_width=9 kernel_height=1"), 0);
    CU_ASSERT_EQUAL(indices_of("kernel_width=3 kernel_height=1 stride_in_pixels_y=2"), 0);
    CU_ASSERT_EQUAL(indices_of("kernel_width=3 kernel_height=3 dilation_rate_x=2 edge_mode=clamp"),
                    0);
}

static void encode_into(glcnn_state *state, glcnn_kernel *kernel, uint32_t images, uint32_t side,
                        bool keeps)
{
    glcnn_image *x = make_image(images, 4, 9, 9), *y = make_image(images, 4, side, side);
    glcnn_command_buffer *to = make_commands();
    GOOD(glcnn_kernel_encode(
        to, kernel, &(struct glcnn_encode){.source = x, .destination = y, .state = state}));
    finish(&to);
    glcnn_buffer *indices = glcnn_state_vector(state, "indices");
    CU_ASSERT_EQUAL(indices ? glcnn_buffer_size(indices) / 4 : 0, keeps ? images * side * side : 0);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
}

static void a_state_may_be_used_again_for_other_sizes(void)
{
    glcnn_kernel *kernel = kernel_with("pooling_max", "kernel_width=3 kernel_height=3");
    glcnn_kernel *apart = kernel_with("pooling_max", "kernel_width=3 kernel_height=3 "
                                                     "stride_in_pixels_x=3 stride_in_pixels_y=3");
    glcnn_kernel *large = kernel_with("pooling_max", "kernel_width=9 kernel_height=9 "
                                                     "stride_in_pixels_x=3 stride_in_pixels_y=3");
    glcnn_image *x = make_image(1, 4, 9, 9);
    glcnn_state *state = NULL;
    GOOD_FATAL(
        glcnn_kernel_result_state(NULL, kernel, &(struct glcnn_encode){.source = x}, &state));
    encode_into(state, kernel, 1, 9, true);
    encode_into(state, kernel, 3, 9, true);
    encode_into(state, kernel, 3, 9, true);
    encode_into(state, kernel, 2, 9, true);
    encode_into(state, apart, 2, 3, true);
    encode_into(state, large, 2, 3, false);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&x);
    glcnn_kernel_destroy(&large);
    glcnn_kernel_destroy(&apart);
    glcnn_kernel_destroy(&kernel);
}

/* The gradient of disjoint 2x2 maxima of a 6x6 image, into one of another size that held 9. */
static float *gradient_into(uint32_t size)
{
    glcnn_kernel *kernel;
    glcnn_image *x = make_image(1, 1, 6, 6), *g = make_image(1, 1, 3, 3);
    glcnn_image *dx = make_image(1, 1, size, size), *other = make_image(1, 1, 12, 12);
    glcnn_command_buffer *commands = make_commands();
    fill_noise(x, 5);
    fill_constant(g, 1);
    fill_constant(dx, 9);
    fill_constant(other, 9);
    GOOD_FATAL(glcnn_kernel_create(device, "neuron", &kernel));
    glcnn_image *stored = result_of(kernel, &(struct glcnn_encode){.source = other}, NULL);
    glcnn_kernel_destroy(&kernel);
    GOOD_FATAL(glcnn_kernel_create(device, "pooling_max_gradient", &kernel));
    apply_settings(kernel, "secondary_kernel_width=2 secondary_kernel_height=2 "
                           "secondary_stride_in_pixels_x=2 secondary_stride_in_pixels_y=2 "
                           "secondary_offset_x=1 secondary_offset_y=1");
    GOOD_FATAL(glcnn_kernel_encode(
        commands, kernel, &(struct glcnn_encode){.source = g, .secondary = x, .destination = dx}));
    finish(&commands);
    float *values = read_image(dx);
    glcnn_image *images[] = {x, g, dx, other, stored};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        glcnn_image_destroy(&images[i]);
    glcnn_kernel_destroy(&kernel);
    return values;
}

/* Pixels beyond the image have no gradient, and those that a smaller one leaves out are not stored. */
static void a_gradient_may_have_another_size(void)
{
    float *same = gradient_into(6);
    for (uint32_t size = 4; size <= 8; size += 4) {
        float *found = gradient_into(size);
        for (uint32_t y = 0; y < size; y++)
            for (uint32_t x = 0; x < size; x++) {
                float expected = y < 6 && x < 6 ? same[y * 6 + x] : 0;
                CU_ASSERT_DOUBLE_EQUAL((double)found[y * size + x], (double)expected, 1e-6);
            }
        free(found);
    }
    free(same);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(a_window_like_the_source_gives_the_mean_of_each_map),
        UNIT_TEST(each_form_agrees_with_the_reference),
        UNIT_TEST(norms_of_extreme_pixels),
        UNIT_TEST(large_windows_take_two_passes),
        UNIT_TEST(gradients_of_large_maxima_take_four_passes),
        UNIT_TEST(gradients_of_disjoint_windows_are_cheap),
        UNIT_TEST(numbers_that_are_not_finite_stay),
        UNIT_TEST(of_equals_the_first_wins_in_each_form),
        UNIT_TEST(states_keep_indices_of_small_windows),
        UNIT_TEST(a_state_may_be_used_again_for_other_sizes),
        UNIT_TEST(a_gradient_may_have_another_size),
        CU_TEST_INFO_NULL};
    return fixture_run("pooling", tests, argc, argv);
}
