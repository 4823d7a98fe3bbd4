/* Encoding: which pixels, channels and images an encode reads and writes, against loops written
 * from spec 5, 6 and 7.1 alone.
 *
 * All of it is short enough to be run where GLCNN_TEST_QUICK=1 asks for little. */
#include "tests/fixture.h"

#include <float.h>
#include <math.h>

#include "device/device.h"
#include "image/image.h"
#include "encode/kernel.h"
#include "encode/state.h"

static int32_t floor_div(int32_t a, int32_t b)
{
    return (int32_t)floor((double)a / b);
}

static bool near(float *values, const double *expected, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)values[i] - expected[i]) <= 1e-5 * fmax(1, fabs(expected[i])))) {
            fprintf(stderr, "\n%s: element %zu is %g, not %g\n", what, i, (double)values[i],
                    expected[i]);
            return false;
        }
    return true;
}

/* Random cases to try; GLCNN_TEST_FULL=1 tries more. */
static int rounds(int few)
{
    return unit_is_full() ? 8 * few : few;
}

/* ---- A random forward encode ---- */

enum { MOST = 4096 };

struct shape {
    uint32_t n, c, h, w;
};

static size_t elements(struct shape s)
{
    return (size_t)s.n * s.c * s.h * s.w;
}

static size_t at(struct shape s, uint32_t n, uint32_t c, uint32_t y, uint32_t x)
{
    return (((size_t)n * s.c + c) * s.h + y) * s.w + x;
}

struct scene {
    struct shape source, result;
    struct glcnn_addressing p;              /* of the forward kernel */
    uint32_t channels;                      /* that are read and written */
    uint32_t x, y, z, width, height, depth; /* the clip rectangle, intersected */
};

static uint32_t less(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void random_range(uint32_t *seed, uint32_t size, uint32_t *first, uint32_t *count)
{
    *first = below(seed, size);
    *count = below(seed, 3) ? 1 + below(seed, size) : UINT32_MAX; /* may reach beyond */
}

/* Few, since each is a program of its own: odd and even, wide and high. */
static void pick_window(uint32_t *seed, uint32_t *width, uint32_t *height)
{
    static const uint32_t windows[][2] = {{1, 1}, {2, 3}, {3, 4}, {4, 1}};
    uint32_t i = below(seed, 4);
    *width = windows[i][0];
    *height = windows[i][1];
}

static struct scene random_scene(uint32_t *seed)
{
    struct scene s = {
        .source = {1 + below(seed, 3), 1 + below(seed, 10), 1 + below(seed, 7), 1 + below(seed, 7)},
        .result = {1 + below(seed, 3), 0, 1 + below(seed, 6), 1 + below(seed, 6)}};
    struct glcnn_region *clip = &s.p.clip_rect;
    random_range(seed, s.result.w, &clip->origin.x, &clip->size.width);
    random_range(seed, s.result.h, &clip->origin.y, &clip->size.height);
    random_range(seed, s.result.n, &clip->origin.z, &clip->size.depth);
    s.p.primary.offset.z = (int32_t)below(seed, s.source.n);
    if (clip->size.depth > s.source.n - (uint32_t)s.p.primary.offset.z)
        clip->size.depth = s.source.n - (uint32_t)s.p.primary.offset.z;
    s.p.primary.offset.x = (int32_t)below(seed, 9) - 3;
    s.p.primary.offset.y = (int32_t)below(seed, 9) - 3;
    s.p.primary.edge_mode = (glcnn_edge_mode)below(seed, 2);
    s.p.primary.feature_channel_offset = below(seed, (s.source.c + 3) / 4) * 4;
    s.p.primary.feature_channel_max_count = below(seed, 2) ? UINT32_MAX : 1 + below(seed, 6);
    pick_window(seed, &s.p.primary.kernel_width, &s.p.primary.kernel_height);
    s.p.primary.stride_in_pixels_x = 1 + below(seed, 3);
    s.p.primary.stride_in_pixels_y = 1 + below(seed, 3);
    s.p.destination_feature_channel_offset = below(seed, 3) * 4;
    s.channels = less(s.p.primary.feature_channel_max_count,
                      s.source.c - s.p.primary.feature_channel_offset);
    s.result.c = s.p.destination_feature_channel_offset + s.channels + below(seed, 6);
    s.x = clip->origin.x;
    s.y = clip->origin.y;
    s.z = clip->origin.z;
    s.width = less(clip->size.width, s.result.w - s.x);
    s.height = less(clip->size.height, s.result.h - s.y);
    s.depth = less(clip->size.depth, s.result.n - s.z);
    return s;
}

static void set_forward(glcnn_kernel *kernel, const struct scene *s)
{
    *glcnn_kernel_properties(kernel) = s->p;
    kernel->properties.secondary =
        (struct glcnn_source_properties){.feature_channel_max_count = UINT32_MAX,
                                         .kernel_width = 1,
                                         .kernel_height = 1,
                                         .stride_in_pixels_x = 1,
                                         .stride_in_pixels_y = 1,
                                         .dilation_rate_x = 1,
                                         .dilation_rate_y = 1};
    kernel->properties.primary.dilation_rate_x = kernel->properties.primary.dilation_rate_y = 1;
    kernel->properties.source_size = (struct glcnn_size){UINT32_MAX, UINT32_MAX, UINT32_MAX};
}

/* Left-most tap of destination column X, spec 5.3. */
static int32_t left_tap(int32_t offset, uint32_t stride, uint32_t kernel, uint32_t X,
                        uint32_t begin)
{
    return offset + (int32_t)(stride * (X - begin)) - floor_div((int32_t)kernel, 2);
}

/* Average of one window: the sum over taps inside, and what it is divided by (7.1). */
static double count_of_window(const struct scene *s, uint32_t Y, uint32_t X)
{
    const struct glcnn_source_properties *p = &s->p.primary;
    int32_t left = left_tap(p->offset.x, p->stride_in_pixels_x, p->kernel_width, X, s->x);
    int32_t top = left_tap(p->offset.y, p->stride_in_pixels_y, p->kernel_height, Y, s->y);
    int columns = 0, rows = 0;
    if (p->edge_mode == GLCNN_EDGE_MODE_ZERO)
        return (double)p->kernel_width * p->kernel_height;
    for (int32_t i = 0; i < (int32_t)p->kernel_width; i++)
        columns += left + i >= 0 && left + i < (int32_t)s->source.w;
    for (int32_t i = 0; i < (int32_t)p->kernel_height; i++)
        rows += top + i >= 0 && top + i < (int32_t)s->source.h;
    return columns * rows;
}

/* Calls for every tap inside the source of every window of the clip rectangle. */
typedef void (*visitor)(const struct scene *s, double *to, const float *from, uint32_t m,
                        uint32_t k, uint32_t Y, uint32_t X, uint32_t y, uint32_t x, double count);

static void visit_taps(const struct scene *s, double *to, const float *from, visitor visit)
{
    const struct glcnn_source_properties *p = &s->p.primary;
    for (uint32_t i = 0; i < s->depth * s->channels * s->height * s->width; i++) {
        uint32_t X = s->x + i % s->width, Y = s->y + i / s->width % s->height;
        uint32_t k = i / s->width / s->height % s->channels;
        uint32_t m = i / s->width / s->height / s->channels;
        int32_t left = left_tap(p->offset.x, p->stride_in_pixels_x, p->kernel_width, X, s->x);
        int32_t top = left_tap(p->offset.y, p->stride_in_pixels_y, p->kernel_height, Y, s->y);
        for (int32_t y = top; y < top + (int32_t)p->kernel_height; y++)
            for (int32_t x = left; x < left + (int32_t)p->kernel_width; x++)
                if (x >= 0 && y >= 0 && x < (int32_t)s->source.w && y < (int32_t)s->source.h)
                    visit(s, to, from, m, k, Y, X, (uint32_t)y, (uint32_t)x,
                          count_of_window(s, Y, X));
    }
}

static void add_average(const struct scene *s, double *to, const float *from, uint32_t m,
                        uint32_t k, uint32_t Y, uint32_t X, uint32_t y, uint32_t x, double count)
{
    to[at(s->result, s->z + m, s->p.destination_feature_channel_offset + k, Y, X)] +=
        (double)from[at(s->source, (uint32_t)s->p.primary.offset.z + m,
                        s->p.primary.feature_channel_offset + k, y, x)] /
        count;
}

static void add_gradient(const struct scene *s, double *to, const float *from, uint32_t m,
                         uint32_t k, uint32_t Y, uint32_t X, uint32_t y, uint32_t x, double count)
{
    to[at(s->source, (uint32_t)s->p.primary.offset.z + m, s->p.primary.feature_channel_offset + k,
          y, x)] +=
        (double)from[at(s->result, s->z + m, s->p.destination_feature_channel_offset + k, Y, X)] /
        count;
}

static bool is_written(const struct scene *s, uint32_t n, uint32_t c, uint32_t y, uint32_t x,
                       uint32_t channels)
{
    uint32_t first = s->p.destination_feature_channel_offset;
    return n >= s->z && n < s->z + s->depth && c >= first && c < first + channels && y >= s->y &&
           y < s->y + s->height && x >= s->x && x < s->x + s->width;
}

/* Fills what the encode writes with `inside`, the rest with `outside`. */
static void mark(const struct scene *s, float *values, float inside, float outside,
                 uint32_t channels)
{
    for (uint32_t n = 0; n < s->result.n; n++)
        for (uint32_t c = 0; c < s->result.c; c++)
            for (uint32_t y = 0; y < s->result.h; y++)
                for (uint32_t x = 0; x < s->result.w; x++)
                    if (is_written(s, n, c, y, x, channels))
                        values[at(s->result, n, c, y, x)] = inside;
                    else
                        values[at(s->result, n, c, y, x)] = outside;
}

static glcnn_image *image_of(struct shape s)
{
    return make_image(s.n, s.c, s.h, s.w);
}

static void random_values(float *values, size_t count, uint32_t *seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = noise(seed);
}

/* Writes whole slices: channels beyond the last one written become 0 up to the slice's end. */
static void test_forward_ranges(void)
{
    uint32_t seed = 11;
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_pooling_average_create(device, 1, 1, 1, 1, &kernel));
    for (int i = rounds(25); i > 0; i--) {
        struct scene s = random_scene(&seed);
        float from[MOST], before[MOST];
        double expected[MOST];
        CU_ASSERT_FATAL(elements(s.source) <= MOST && elements(s.result) <= MOST);
        glcnn_image *source = image_of(s.source), *result = image_of(s.result);
        glcnn_command_buffer *commands = make_commands();
        random_values(from, elements(s.source), &seed);
        fill_image(source, from);
        fill_constant(result, 5);
        mark(&s, before, 0, 5, (s.channels + 3) / 4 * 4);
        for (size_t e = 0; e < elements(s.result); e++)
            expected[e] = (double)before[e];
        visit_taps(&s, expected, from, add_average);
        set_forward(kernel, &s);
        GOOD(glcnn_kernel_encode(commands, kernel,
                                 &(struct glcnn_encode){.source = source, .destination = result}));
        finish(&commands);
        float *values = read_image(result);
        CU_ASSERT_TRUE(near(values, expected, elements(s.result), "forward"));
        free(values);
        glcnn_image_destroy(&source);
        glcnn_image_destroy(&result);
    }
    glcnn_kernel_destroy(&kernel);
}

/* ---- The invariant of gradients that follow a state ---- */

/* G is NaN wherever the forward encode wrote nothing: it must not be read. */
static void make_gradient(const struct scene *s, float *values, uint32_t *seed)
{
    for (uint32_t n = 0; n < s->result.n; n++)
        for (uint32_t c = 0; c < s->result.c; c++)
            for (uint32_t y = 0; y < s->result.h; y++)
                for (uint32_t x = 0; x < s->result.w; x++)
                    values[at(s->result, n, c, y, x)] =
                        is_written(s, n, c, y, x, s->channels) ? noise(seed) : NAN;
}

static void encode_both(glcnn_kernel *forward, glcnn_kernel *backward, const struct scene *s,
                        glcnn_image *x, glcnn_image *y, glcnn_image *g, glcnn_image *dx, bool adopt)
{
    static const struct glcnn_pooling_parameters none;
    struct glcnn_image_descriptor like;
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *state = NULL;
    set_forward(forward, s);
    GOOD_FATAL(
        glcnn_kernel_result_state(NULL, forward, &(struct glcnn_encode){.source = x}, &state));
    GOOD(glcnn_kernel_encode(
        commands, forward, &(struct glcnn_encode){.source = x, .destination = y, .state = state}));
    /* What the forward kernel is set to from now on does not matter. */
    glcnn_kernel_properties(forward)->primary.kernel_width = 7;
    glcnn_kernel_properties(forward)->primary.offset.y = -9;
    glcnn_pooling(forward)->zero_pad_size_x = 3;
    struct glcnn_encode arguments = {.source = g, .secondary = x, .state = state};
    if (adopt) {
        GOOD(glcnn_kernel_prepare_destination(backward, &arguments, &like));
        CU_ASSERT_EQUAL(like.width, s->source.w);
        CU_ASSERT_EQUAL(like.height, s->source.h);
        CU_ASSERT_EQUAL(like.feature_channels, s->source.c);
        CU_ASSERT_EQUAL(like.number_of_images, s->source.n);
    }
    arguments.destination = dx;
    GOOD(glcnn_kernel_encode(commands, backward, &arguments));
    finish(&commands);
    *glcnn_pooling(forward) = none;
    glcnn_state_destroy(&state);
}

static void test_state_driven_gradients_keep_the_invariant(void)
{
    uint32_t seed = 12;
    glcnn_kernel *forward = NULL;
    GOOD_FATAL(glcnn_pooling_average_create(device, 1, 1, 1, 1, &forward));
    for (int i = rounds(20); i > 0; i--) {
        struct scene s = random_scene(&seed);
        float from[MOST], gradient[MOST];
        double expected[MOST] = {0};
        glcnn_kernel *backward = NULL; /* a fresh one follows the state unasked, too */
        GOOD_FATAL(glcnn_pooling_average_gradient_create(device, 1, 1, 1, 1, &backward));
        glcnn_image *x = image_of(s.source), *y = image_of(s.result), *g = image_of(s.result);
        glcnn_image *dx = image_of(s.source);
        random_values(from, elements(s.source), &seed);
        make_gradient(&s, gradient, &seed);
        fill_image(x, from);
        fill_image(g, gradient);
        fill_constant(dx, 7);
        visit_taps(&s, expected, gradient, add_gradient);
        encode_both(forward, backward, &s, x, y, g, dx, i % 2);
        float *values = read_image(dx);
        CU_ASSERT_TRUE(near(values, expected, elements(s.source), "state-driven gradient"));
        free(values);
        glcnn_kernel_destroy(&backward);
        glcnn_image_destroy(&x);
        glcnn_image_destroy(&y);
        glcnn_image_destroy(&g);
        glcnn_image_destroy(&dx);
    }
    glcnn_kernel_destroy(&forward);
}

/* A clip rectangle of the gradient kernel itself is obeyed: pixels outside stay. */
static void test_a_gradient_clipped_by_hand(void)
{
    glcnn_kernel *forward = NULL, *backward = NULL;
    glcnn_image *x = make_image(1, 4, 3, 3), *y = make_image(1, 4, 3, 3),
                *dx = make_image(1, 4, 3, 3);
    glcnn_image *g = make_image(1, 4, 3, 3);
    glcnn_state *state = NULL;
    glcnn_command_buffer *commands = make_commands();
    fill_constant(g, 2);
    fill_constant(dx, 7);
    GOOD_FATAL(glcnn_pooling_average_create(device, 1, 1, 1, 1, &forward));
    GOOD_FATAL(glcnn_pooling_average_gradient_create(device, 1, 1, 1, 1, &backward));
    GOOD_FATAL(
        glcnn_kernel_result_state(NULL, forward, &(struct glcnn_encode){.source = x}, &state));
    GOOD(glcnn_kernel_encode(
        commands, forward, &(struct glcnn_encode){.source = x, .destination = y, .state = state}));
    glcnn_kernel_properties(backward)->clip_rect = (struct glcnn_region){{0, 0, 0}, {3, 1, 1}};
    GOOD(glcnn_kernel_encode(
        commands, backward,
        &(struct glcnn_encode){.source = g, .secondary = x, .destination = dx, .state = state}));
    finish(&commands);
    float *values = read_image(dx);
    for (int i = 0; i < 36; i++)
        CU_ASSERT_EQUAL(values[i], i % 9 < 3 ? 2 : 7);
    free(values);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&dx);
}

/* ---- Gradients addressed by hand ---- */

struct manual {
    int32_t primary, secondary, shift;
    uint32_t used, kernel, stride, begin, count, source, gradient, result;
};

static struct manual random_manual(uint32_t *seed)
{
    struct manual m = {.primary = (int32_t)below(seed, 6) - 2,
                       .secondary = (int32_t)below(seed, 8) - 2,
                       .shift = (int32_t)below(seed, 5) - 2,
                       .used = below(seed, 3) == 0 ? UINT32_MAX : 1 + below(seed, 3),
                       .stride = 1 + below(seed, 3),
                       .source = 1 + below(seed, 8),
                       .gradient = 1 + below(seed, 6),
                       .result = 1 + below(seed, 8)};
    m.begin = below(seed, m.result);
    m.count = 1 + below(seed, m.result - m.begin);
    return m;
}

/* How often window i of the gradient reads what destination pixel X stands for: 7.1. */
static int reads(const struct manual *m, uint32_t X, int32_t i)
{
    int32_t centre = floor_div((int32_t)m->kernel, 2);
    int32_t y0 = m->secondary - centre > 0 ? m->secondary - centre : 0;
    int32_t u = y0 + (int32_t)(X - m->begin);
    int32_t left = m->secondary - centre + (int32_t)m->stride * (i - m->primary) - m->shift;
    bool selected = i >= m->primary && (int64_t)i < (int64_t)m->primary + m->used;
    return selected && u < (int32_t)m->source && u >= left && u < left + (int32_t)m->kernel;
}

static void set_manual(struct glcnn_addressing *p, const struct manual m[2])
{
    p->primary.offset = (struct glcnn_offset){m[0].primary, m[1].primary, 0};
    p->secondary.offset = (struct glcnn_offset){m[0].secondary, m[1].secondary, 0};
    p->kernel_offset_x = m[0].shift;
    p->kernel_offset_y = m[1].shift;
    p->source_size = (struct glcnn_size){m[0].used, m[1].used, 1};
    p->secondary.kernel_width = m[0].kernel;
    p->secondary.kernel_height = m[1].kernel;
    p->secondary.stride_in_pixels_x = m[0].stride;
    p->secondary.stride_in_pixels_y = m[1].stride;
    p->clip_rect = (struct glcnn_region){{m[0].begin, m[1].begin, 0}, {m[0].count, m[1].count, 1}};
}

static double manual_sum(const struct manual m[2], const float *gradient, uint32_t Y, uint32_t X)
{
    double sum = 0;
    for (int32_t j = 0; j < (int32_t)m[1].gradient; j++)
        for (int32_t i = 0; i < (int32_t)m[0].gradient; i++)
            sum += reads(&m[0], X, i) * reads(&m[1], Y, j) *
                   (double)gradient[(uint32_t)j * m[0].gradient + (uint32_t)i];
    return sum / (m[0].kernel * m[1].kernel);
}

static void test_gradients_addressed_by_hand(void)
{
    uint32_t seed = 13;
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_pooling_average_gradient_create(device, 1, 1, 1, 1, &kernel));
    for (int n = rounds(40); n > 0; n--) {
        struct manual m[2] = {random_manual(&seed), random_manual(&seed)};
        float gradient[64];
        double expected[64];
        glcnn_image *g = make_image(1, 1, m[1].gradient, m[0].gradient);
        glcnn_image *x = make_image(1, 1, m[1].source, m[0].source);
        glcnn_image *dx = make_image(1, 1, m[1].result, m[0].result);
        glcnn_command_buffer *commands = make_commands();
        pick_window(&seed, &m[0].kernel, &m[1].kernel);
        random_values(gradient, 64, &seed);
        fill_image(g, gradient);
        fill_constant(dx, 7);
        for (uint32_t Y = 0; Y < m[1].result; Y++)
            for (uint32_t X = 0; X < m[0].result; X++)
                expected[Y * m[0].result + X] = X >= m[0].begin && X < m[0].begin + m[0].count &&
                                                        Y >= m[1].begin &&
                                                        Y < m[1].begin + m[1].count
                                                    ? manual_sum(m, gradient, Y, X)
                                                    : 7;
        set_manual(glcnn_kernel_properties(kernel), m);
        GOOD(glcnn_kernel_encode(
            commands, kernel,
            &(struct glcnn_encode){.source = g, .secondary = x, .destination = dx}));
        finish(&commands);
        float *values = read_image(dx);
        CU_ASSERT_TRUE(near(values, expected, count_of(dx), "gradient by hand"));
        free(values);
        glcnn_image_destroy(&g);
        glcnn_image_destroy(&x);
        glcnn_image_destroy(&dx);
    }
    glcnn_kernel_destroy(&kernel);
}

/* ---- Batches ---- */

static void test_a_batch_is_the_loop(void)
{
    enum { COUNT = 4 };
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = NULL;
    glcnn_image *sources[COUNT], *one[COUNT], *all[COUNT];
    struct glcnn_encode batch[COUNT];
    glcnn_state *states[COUNT];
    GOOD_FATAL(glcnn_pooling_l2_norm_create(device, 3, 2, 1, 1, &kernel));
    for (uint32_t i = 0; i < COUNT; i++) {
        sources[i] = make_image(1, 5, 4 + i, 6);
        one[i] = make_image(1, 5, 4 + i, 6);
        all[i] = make_image(1, 5, 4 + i, 6);
        fill_noise(sources[i], i);
        GOOD_FATAL(glcnn_kernel_result_state(
            NULL, kernel, &(struct glcnn_encode){.source = sources[i]}, &states[i]));
        batch[i] =
            (struct glcnn_encode){.source = sources[i], .destination = all[i], .state = states[i]};
        GOOD(glcnn_kernel_encode(
            commands, kernel, &(struct glcnn_encode){.source = sources[i], .destination = one[i]}));
    }
    GOOD(glcnn_kernel_encode_batch(commands, kernel, batch, COUNT));
    finish(&commands);
    for (uint32_t i = 0; i < COUNT; i++) {
        CU_ASSERT_TRUE(images_equal(all[i], one[i]));
        CU_ASSERT_EQUAL(glcnn_state_source_height(states[i]), 4 + i);
        glcnn_image_destroy(&sources[i]);
        glcnn_image_destroy(&one[i]);
        glcnn_image_destroy(&all[i]);
        glcnn_state_destroy(&states[i]);
    }
    glcnn_kernel_destroy(&kernel);
}

/* ---- Components beyond the last channel ---- */

/* A neuron that makes 1 of 0 leaves 0 there. */
static void test_kernels_keep_the_padding_zero(void)
{
    const struct glcnn_neuron_descriptor one = {.type = GLCNN_NEURON_TYPE_LINEAR, .b = 1};
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_neuron_create(device, &one, NULL, 0, &kernel));
    for (uint32_t channels = 1; channels < 9; channels++) {
        glcnn_image *source = make_image(2, channels, 3, 3),
                    *result = make_image(2, channels, 3, 3);
        glcnn_command_buffer *commands = make_commands();
        GOOD(glcnn_kernel_encode(commands, kernel,
                                 &(struct glcnn_encode){.source = source, .destination = result}));
        finish(&commands);
        struct glcnn_image raw = *result;
        raw.descriptor.feature_channels = raw.channels_behind = (channels + 3) / 4 * 4;
        float *values = read_image(&raw);
        for (uint32_t i = 0; i < count_of(&raw); i++)
            CU_ASSERT_EQUAL(values[i], i / 9 % raw.descriptor.feature_channels < channels ? 1 : 0);
        free(values);
        glcnn_image_destroy(&source);
        glcnn_image_destroy(&result);
    }
    glcnn_kernel_destroy(&kernel);
}

/* Channels of the same slice that an encode does not read do not reach its sums. */
static void test_channels_left_out_stay_out(void)
{
    const struct glcnn_convolution_descriptor sum = {.kernel_width = 1,
                                                     .kernel_height = 1,
                                                     .input_feature_channels = 3,
                                                     .output_feature_channels = 1};
    const struct glcnn_convolution_weights ones = {.weights = (const float[]){1, 1, 1}};
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = NULL;
    glcnn_image *source = make_image(1, 8, 2, 2), *result = make_image(1, 1, 2, 2);
    float values[32];
    for (int i = 0; i < 32; i++)
        values[i] = i / 4 == 4 || i / 4 == 5 || i / 4 == 6 ? 1 : NAN;
    fill_image(source, values);
    GOOD_FATAL(glcnn_convolution_create(device, &sum, &ones, &kernel));
    glcnn_kernel_properties(kernel)->primary.feature_channel_offset = 4;
    glcnn_kernel_properties(kernel)->primary.feature_channel_max_count = 3;
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = result}));
    finish(&commands);
    CU_ASSERT_TRUE(image_is_constant(result, 3));
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

/* ---- Returning encodes ---- */

/* Golden values, spec 13: size and offset for remainder top-left, offset for bottom-right. */
static const struct golden {
    uint32_t n, k, s;
    struct {
        uint32_t method, size;
        int32_t top_left, bottom_right;
    } rows[3];
} golden[] = {
    {8, 3, 1, {{0, 6, 1, 1}, {0x10, 8, 0, 0}, {0x20, 10, -1, -1}}},
    {8, 3, 2, {{0, 3, 1, 1}, {0x10, 4, 0, 1}, {0x20, 5, -1, 0}}},
    {7, 3, 2, {{0, 3, 1, 1}, {0x10, 4, 0, 0}, {0x20, 5, -1, -1}}},
    {8, 2, 2, {{0, 4, 1, 1}, {0x10, 4, 1, 1}, {0x20, 5, 0, 0}}},
    {7, 2, 2, {{0, 3, 1, 1}, {0x10, 4, 0, 1}, {0x20, 4, 0, 1}}},
    {8, 5, 3, {{0, 2, 2, 2}, {0x10, 3, 0, 1}, {0x20, 4, -1, -1}}},
    {8, 3, 3, {{0, 2, 1, 2}, {0x10, 3, 0, 1}, {0x20, 4, -1, -1}}},
    {5, 4, 1, {{0, 2, 2, 2}, {0x10, 5, 0, 1}, {0x20, 8, -1, -1}}},
    {10, 2, 3, {{0, 3, 1, 2}, {0x10, 4, 0, 1}, {0x20, 4, 0, 1}}},
};

static void check_returning(const struct golden *g, uint32_t method, uint32_t size, int32_t offset)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = NULL;
    glcnn_image *source = make_image(2, 5, 3, g->n), *result = NULL, *again = NULL;
    GOOD_FATAL(glcnn_pooling_max_create(device, g->k, 1, g->s, 1, &kernel));
    struct glcnn_addressing *p = glcnn_kernel_properties(kernel);
    p->padding = method;
    p->result_is_ordinary = true;
    fill_noise(source, g->n);
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, kernel, &(struct glcnn_encode){.source = source}, &result, NULL));
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
    CU_ASSERT_EQUAL(d->width, size);
    CU_ASSERT_EQUAL(d->height, 3);
    CU_ASSERT_EQUAL(d->feature_channels, 5);
    CU_ASSERT_EQUAL(d->number_of_images, 2);
    CU_ASSERT_EQUAL(p->primary.offset.x, offset);
    again = make_image(2, 5, 3, size); /* with the offset that it kept */
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = again}));
    finish(&commands);
    CU_ASSERT_TRUE(images_equal(result, again));
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&again);
    glcnn_kernel_destroy(&kernel);
}

static void test_returning_encodes_follow_the_padding(void)
{
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++)
        for (int r = 0; r < 3; r++) {
            const struct golden *g = &golden[i];
            check_returning(g, g->rows[r].method, g->rows[r].size, g->rows[r].top_left);
            check_returning(g, g->rows[r].method | GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT,
                            g->rows[r].size, g->rows[r].bottom_right);
        }
}

static void test_returning_encodes_make_room(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = NULL;
    glcnn_image *source = make_image_of(device, GLCNN_CHANNEL_FORMAT_FLOAT16, 3, 9, 4, 4);
    glcnn_image *result = NULL;
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &kernel));
    struct glcnn_addressing *p = glcnn_kernel_properties(kernel);
    p->primary.feature_channel_offset = 4;
    p->primary.feature_channel_max_count = 3;
    p->primary.offset.z = 1;
    p->destination_feature_channel_offset = 8;
    p->result_is_ordinary = true;
    fill_constant(source, 2);
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, kernel, &(struct glcnn_encode){.source = source}, &result, &state));
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
    CU_ASSERT_EQUAL(d->feature_channels, 11);
    CU_ASSERT_EQUAL(d->number_of_images, 2);
    CU_ASSERT_EQUAL(d->channel_format, GLCNN_CHANNEL_FORMAT_FLOAT16);
    CU_ASSERT_EQUAL(glcnn_state_source_width(state), 4);
    CU_ASSERT_EQUAL(glcnn_state_source_height(state), 4);
    CU_ASSERT_PTR_NULL(glcnn_state_vector(state, "mean"));
    finish(&commands);
    float *values = read_image(result);
    for (int i = 0; i < 2 * 11 * 16; i++)
        CU_ASSERT_EQUAL(values[i], i / 16 % 11 >= 8 ? 2 : 0);
    free(values);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
}

/* ---- States beforehand ---- */

/* What is given when the state is made does not matter, and neither does what the kernel is set to
 * then: the encode that fills it tells. */
static void test_a_state_is_what_its_encode_says(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_image *small = make_image(1, 4, 2, 2), *source = make_image(1, 4, 5, 6);
    glcnn_image *result = make_image(1, 4, 5, 6);
    const struct glcnn_encode nothing = {0}, wrong = {.source = small, .destination = small};
    const struct glcnn_encode *const given[] = {NULL, &nothing, &wrong};
    GOOD_FATAL(glcnn_pooling_max_create(device, 5, 5, 1, 1, &kernel));
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        glcnn_state *state = NULL;
        glcnn_command_buffer *commands = make_commands();
        glcnn_kernel_properties(kernel)->primary.kernel_width = 5;
        GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, given[i], &state));
        CU_ASSERT_EQUAL(glcnn_state_source_width(state), 0);
        glcnn_kernel_properties(kernel)->primary.kernel_width = 3;
        GOOD(glcnn_kernel_encode(
            commands, kernel,
            &(struct glcnn_encode){.source = source, .destination = result, .state = state}));
        CU_ASSERT_EQUAL(glcnn_state_source_width(state), 6);
        CU_ASSERT_EQUAL(glcnn_state_source_height(state), 5);
        CU_ASSERT_EQUAL(state->forward.properties.primary.kernel_width, 3);
        finish(&commands);
        glcnn_state_destroy(&state);
    }
    glcnn_state *made = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_result_state(NULL, kernel, NULL, NULL));
    GOOD(glcnn_kernel_result_state_batch(NULL, kernel, NULL, 0, &made));
    CU_ASSERT_PTR_NULL(made);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&small);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

/* Of a batch some encodes have a state, and two have the same one. */
static void test_states_of_a_batch_may_be_left_out(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_state *state = NULL;
    glcnn_image *source = make_image(1, 4, 5, 6), *results[4];
    struct glcnn_encode arguments[4];
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_pooling_max_create(device, 3, 3, 1, 1, &kernel));
    fill_noise(source, 5);
    GOOD_FATAL(glcnn_kernel_result_state(commands, kernel, NULL, &state));
    for (size_t i = 0; i < 4; i++) {
        results[i] = make_image(1, 4, 5, 6);
        arguments[i] = (struct glcnn_encode){
            .source = source, .destination = results[i], .state = i % 2 ? state : NULL};
    }
    GOOD(glcnn_kernel_encode_batch(commands, kernel, arguments, 4));
    CU_ASSERT_EQUAL(glcnn_state_source_width(state), 6);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode_batch(commands, kernel, arguments, 0));
    finish(&commands);
    for (size_t i = 4; i-- > 0;) {
        CU_ASSERT_TRUE(images_equal(results[0], results[i]));
        glcnn_image_destroy(&results[i]);
    }
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&source);
}

/* ---- Refusals ---- */

/* One value of a property of a copying kernel from 2 images of 8 channels, 4x4, to the same. */
static const struct wrong {
    const char *name;
    double value;
} wrong[] = {
    {"source_feature_channel_offset", 2},
    {"source_feature_channel_offset", 8},
    {"source_feature_channel_offset", 2147483644},
    {"destination_feature_channel_offset", 3},
    {"destination_feature_channel_offset", 4},
    {"destination_feature_channel_offset", 2147483644},
    {"clip_rect_origin_x", 4},
    {"clip_rect_origin_y", 4},
    {"clip_rect_origin_z", 2},
    {"clip_rect_origin_x", 2147483647},
    {"offset_z", 1},
    {"offset_z", 2},
    {"offset_z", 2147483647},
    {"offset_x", 2147483647},
    {"offset_x", -2147483647},
    {"offset_y", -2147483647},
};

static void test_ranges_outside_are_refused(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *source = make_image(2, 8, 4, 4), *result = make_image(2, 8, 4, 4);
    const struct glcnn_encode arguments = {.source = source, .destination = result};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        glcnn_kernel *kernel = NULL;
        GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &kernel));
        GOOD(glcnn_kernel_set(kernel, wrong[i].name, wrong[i].value));
        REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
        glcnn_kernel_destroy(&kernel);
    }
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(
        glcnn_dilated_pooling_max_create(device, 65535, 1, 65535, 65535, 65535, 65535, &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    struct glcnn_image_descriptor d;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_prepare_destination(kernel, &arguments, &d));
    glcnn_kernel_destroy(&kernel);
    GOOD_FATAL(glcnn_pooling_max_create(device, 65535, 65535, 1, 1, &kernel));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

/* Fields written past glcnn_kernel_set are checked at encode. */
static void test_fields_are_checked_at_encode(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = NULL;
    glcnn_image *source = make_image(1, 4, 4, 4), *result = make_image(1, 4, 4, 4), *made = NULL;
    const struct glcnn_encode arguments = {.source = source, .destination = result};
    const struct glcnn_encode returning = {.source = source};
    GOOD_FATAL(glcnn_pooling_average_create(device, 2, 2, 1, 1, &kernel));
    struct glcnn_addressing *p = glcnn_kernel_properties(kernel), good = *p;
#define SPOILED(field, value)                                                                      \
    *p = good;                                                                                     \
    p->field = (value);                                                                            \
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));            \
    REFUSED(GLCNN_INVALID_ARGUMENT,                                                                \
            glcnn_kernel_encode_returning(commands, kernel, &returning, &made, NULL))
    SPOILED(primary.kernel_width, 0);
    SPOILED(primary.kernel_height, UINT32_MAX);
    SPOILED(primary.stride_in_pixels_x, 0);
    SPOILED(primary.stride_in_pixels_y, UINT32_MAX);
    SPOILED(primary.edge_mode, (glcnn_edge_mode)2);
    SPOILED(primary.offset.z, -1);
    SPOILED(primary.feature_channel_max_count, 0);
    SPOILED(clip_rect.size.width, 0);
    SPOILED(clip_rect.size.height, 0);
    SPOILED(clip_rect.size.depth, 0);
    SPOILED(padding, UINT32_MAX);
#undef SPOILED
    *p = good;
    p->padding = 0x30; /* a reserved size */
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(commands, kernel, &returning, &made, NULL));
    p->padding = GLCNN_PADDING_SIZE_VALID_ONLY;
    p->primary.kernel_width = 5; /* than the source */
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_kernel_encode_returning(commands, kernel, &returning, &made, NULL));
    *p = good;
    glcnn_pooling(kernel)->zero_pad_size_x = UINT32_MAX;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    glcnn_kernel_destroy(&kernel);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
}

static void test_a_gradient_needs_its_channels(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *forward = NULL, *backward = NULL, *other = NULL;
    glcnn_image *g = make_image(1, 3, 4, 4), *x = make_image(1, 6, 4, 4),
                *dx = make_image(1, 6, 4, 4);
    glcnn_image *small = make_image(1, 6, 3, 4);
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &forward));
    GOOD_FATAL(glcnn_pooling_max_gradient_create(device, 1, 1, 1, 1, &backward));
    GOOD_FATAL(glcnn_kernel_create(device, "soft_max_gradient", &other));
    const struct glcnn_encode manual = {.source = g, .secondary = x, .destination = dx};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, backward, &manual));
    GOOD_FATAL(
        glcnn_kernel_result_state(NULL, forward, &(struct glcnn_encode){.source = x}, &state));
    GOOD(glcnn_kernel_encode(
        commands, forward, &(struct glcnn_encode){.source = x, .destination = dx, .state = state}));
    struct glcnn_encode driven = {.source = g, .secondary = x, .destination = dx, .state = state};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, backward, &driven));
    driven.source = small;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, backward, &driven));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "4x3"));
    driven.source = x;
    driven.secondary = small;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, backward, &driven));
    driven.secondary = dx;
    driven.destination = small;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, backward, &driven));
    driven.destination = x;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, other, &driven));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 1);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&backward);
    glcnn_kernel_destroy(&other);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&dx);
    glcnn_image_destroy(&small);
}

static void test_aliasing_is_refused(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = NULL;
    glcnn_image *image = make_image(2, 8, 2, 2), *first = NULL, *second = NULL, *low = NULL;
    GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &kernel));
    GOOD_FATAL(glcnn_image_batch_view(image, 0, &first));
    GOOD_FATAL(glcnn_image_batch_view(image, 1, &second));
    GOOD_FATAL(glcnn_image_channel_view(image, 0, 4, &low));
    fill_noise(image, 1);
#define ENCODE(from, to)                                                                           \
    glcnn_kernel_encode(commands, kernel, &(struct glcnn_encode){.source = from, .destination = to})
    REFUSED(GLCNN_INVALID_ARGUMENT, ENCODE(image, image));
    REFUSED(GLCNN_INVALID_ARGUMENT, ENCODE(first, first));
    REFUSED(GLCNN_INVALID_ARGUMENT, ENCODE(first, image));
    glcnn_kernel_properties(kernel)->clip_rect.size.depth = 1;
    REFUSED(GLCNN_INVALID_ARGUMENT, ENCODE(low, first));
    GOOD(ENCODE(first, second));
    glcnn_kernel_properties(kernel)->primary.feature_channel_offset = 4;
    GOOD(ENCODE(first, low)); /* channels 4 .. 7 of image 0 to channels 0 .. 3 */
#undef ENCODE
    float *values = read_image(image);
    finish(&commands);
    memcpy(values + 32, values, 32 * sizeof *values);
    memcpy(values, values + 16, 16 * sizeof *values);
    CU_ASSERT_TRUE(image_equals(image, values));
    free(values);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&first);
    glcnn_image_destroy(&second);
    glcnn_image_destroy(&low);
}

/* Channel views that begin at different layers meet in one, or not at all. Of the second image the
 * layers are 3 .. 5. */
static void test_aliasing_of_channel_views(void)
{
    static const struct {
        uint32_t from, to, count;
        bool meet;
    } cases[] = {{0, 4, 8, true},  {4, 0, 8, true},  {0, 8, 4, false},
                 {8, 0, 4, false}, {0, 4, 4, false}, {4, 8, 4, false}};
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = NULL;
    glcnn_image *image = make_image(2, 12, 2, 2);
    GOOD_FATAL(glcnn_pooling_max_create(device, 1, 1, 1, 1, &kernel));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct glcnn_encode arguments = {0};
        GOOD_FATAL(
            glcnn_image_channel_view(image, cases[i].from, cases[i].count, &arguments.source));
        GOOD_FATAL(
            glcnn_image_channel_view(image, cases[i].to, cases[i].count, &arguments.destination));
        if (cases[i].meet)
            REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
        else
            GOOD(glcnn_kernel_encode(commands, kernel, &arguments));
        glcnn_image_destroy(&arguments.source);
        glcnn_image_destroy(&arguments.destination);
    }
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 4);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&image);
}

/* ---- Kernels ---- */

static void check_copy(glcnn_kernel *kernel, glcnn_device *to)
{
    static const float gamma[] = {1, 2, 3};
    glcnn_kernel *copy = NULL;
    float values[3];
    GOOD(glcnn_kernel_set_vector(kernel, "gamma", gamma, 3));
    kernel->encode_count = 5;
    glcnn_kernel_properties(kernel)->primary.offset.x = 3;
    glcnn_batch_normalization(kernel)->epsilon = 0.5f;
    GOOD_FATAL(glcnn_kernel_copy(kernel, to, &copy));
    CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(copy), glcnn_kernel_name(kernel));
    CU_ASSERT_PTR_EQUAL(copy->device, to);
    CU_ASSERT_EQUAL(memcmp(&copy->properties, &kernel->properties, sizeof copy->properties), 0);
    CU_ASSERT_EQUAL(glcnn_batch_normalization(copy)->epsilon, 0.5f);
    CU_ASSERT_EQUAL(copy->encode_count, 5);
    GOOD(glcnn_kernel_set_vector(kernel, "gamma", (float[]){7, 7, 7}, 3));
    glcnn_kernel_properties(kernel)->primary.offset.x = 0;
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(copy, "gamma"), 0, sizeof values, values));
    CU_ASSERT_EQUAL(memcmp(values, gamma, sizeof values), 0);
    CU_ASSERT_EQUAL(copy->properties.primary.offset.x, 3);
    glcnn_kernel_destroy(&copy);
}

static void test_copies_have_everything_of_their_own(void)
{
    glcnn_device *other = NULL;
    glcnn_kernel *kernel = NULL;
    const struct glcnn_batch_normalization_data_source source = {.number_of_feature_channels = 3};
    GOOD_FATAL(glcnn_device_create(NULL, &other));
    GOOD_FATAL(glcnn_batch_normalization_create(device, &source, NULL, &kernel));
    check_copy(kernel, device);
    check_copy(kernel, other);
    glcnn_kernel_destroy(&kernel);
    glcnn_device_destroy(&other);
}

/* Every parameter of every kernel: its default, both ends of its range and beyond them. */
static void test_parameters_keep_to_their_ranges(void)
{
    for (size_t k = 0; k < glcnn_kernel_count(); k++) {
        const struct glcnn_kernel_info *info = glcnn_kernel_info_at(k);
        glcnn_kernel *kernel = NULL;
        GOOD_FATAL(glcnn_kernel_create(device, info->name, &kernel));
        for (size_t i = 0; i < info->parameter_count; i++) {
            const struct glcnn_parameter_info *p = &info->parameters[i];
            double value = -1;
            GOOD(glcnn_kernel_get(kernel, p->name, &value));
            CU_ASSERT_EQUAL((float)value, (float)p->default_value);
            GOOD(glcnn_kernel_set(kernel, p->name, p->minimum));
            GOOD(glcnn_kernel_get(kernel, p->name, &value));
            CU_ASSERT_EQUAL((float)value, (float)p->minimum);
            GOOD(glcnn_kernel_set(kernel, p->name, p->maximum));
            GOOD(glcnn_kernel_get(kernel, p->name, &value));
            CU_ASSERT_EQUAL((float)value, (float)p->maximum);
            REFUSED(GLCNN_INVALID_ARGUMENT,
                    glcnn_kernel_set(kernel, p->name, nextafter(p->minimum, -INFINITY)));
            REFUSED(GLCNN_INVALID_ARGUMENT,
                    glcnn_kernel_set(kernel, p->name, nextafter(p->maximum, INFINITY)));
            REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_set(kernel, p->name, NAN));
            if (p->type != GLCNN_PARAMETER_REAL)
                REFUSED(GLCNN_INVALID_ARGUMENT,
                        glcnn_kernel_set(kernel, p->name, p->minimum + 0.5));
            GOOD(glcnn_kernel_get(kernel, p->name, &value));
            CU_ASSERT_EQUAL((float)value, (float)p->maximum);
        }
        glcnn_kernel_destroy(&kernel);
    }
}

/* Of six pixels of a gradient the two from its offset on are used: 3 and 4. */
static void test_a_part_of_a_gradient_is_used(void)
{
    glcnn_kernel *kernel =
        kernel_with("neuron_gradient", "neuron_type=linear neuron_a=1 primary_offset_x=2 "
                                       "source_size_width=2");
    glcnn_image *g = image_with(1, 1, 1, 6, (const float[]){1, 2, 3, 4, 5, 6});
    glcnn_image *x = make_image(1, 1, 1, 6), *dx = make_image(1, 1, 1, 6);
    fill_constant(dx, 9);
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(
        commands, kernel, &(struct glcnn_encode){.source = g, .secondary = x, .destination = dx}));
    finish(&commands);
    CU_ASSERT_TRUE(image_equals(dx, (const float[]){3, 4, 0, 0, 0, 0}));
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&dx);
    glcnn_kernel_destroy(&kernel);
}

/* A layer that doubles writes images 1 and 2 of three, from 0 and 1 of its source: the state is of two
 * images, which the gradient has where they were read, and 0 in the third. */
static void test_images_of_a_shared_state_begin_where_they_were_written(void)
{
    static const float two = 2;
    glcnn_state *state = NULL;
    glcnn_kernel *forward =
        kernel_with("convolution", "input_feature_channels=1 output_feature_channels=1 "
                                   "clip_rect_origin_z=1");
    glcnn_kernel *gradient = kernel_with("convolution_gradient", "input_feature_channels=1 "
                                                                 "output_feature_channels=1");
    GOOD(glcnn_kernel_set_vector(forward, "weights", &two, 1));
    GOOD(glcnn_kernel_set_vector(gradient, "weights", &two, 1));
    glcnn_image *x = image_with(3, 1, 1, 1, (const float[]){5, 6, 7}), *y = make_image(3, 1, 1, 1);
    glcnn_image *g = image_with(3, 1, 1, 1, (const float[]){1, 10, 100});
    glcnn_image *dx = make_image(3, 1, 1, 1);
    fill_constant(y, 9);
    fill_constant(dx, 9);
    GOOD_FATAL(
        glcnn_kernel_result_state(NULL, forward, &(struct glcnn_encode){.source = x}, &state));
    glcnn_command_buffer *commands = make_commands();
    GOOD(glcnn_kernel_encode(
        commands, forward, &(struct glcnn_encode){.source = x, .state = state, .destination = y}));
    GOOD(glcnn_kernel_encode(
        commands, gradient,
        &(struct glcnn_encode){.source = g, .secondary = x, .state = state, .destination = dx}));
    finish(&commands);
    CU_ASSERT_TRUE(image_equals(y, (const float[]){9, 10, 12}));
    CU_ASSERT_TRUE(image_equals(dx, (const float[]){20, 200, 0}));
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_image_destroy(&g);
    glcnn_image_destroy(&dx);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
}

/* Defaults other than 0, or than the first of a list, as the headers of kernels have them: of kernels
 * whose name begins so, and of parameters whose name ends so. The first that fits counts. */
static const struct {
    const char *kernel, *parameter;
    double value;
} defaults[] = {
    {"crop_and_resize", "resize_width", 1},
    {"crop_and_resize", "resize_height", 1},
    {"crop_and_resize", "number_of_regions", 1},
    {"", "stride_in_pixels_x", 1},
    {"", "stride_in_pixels_y", 1},
    {"", "stride_in_feature_channels", 1},
    {"", "kernel_width", 1},
    {"", "kernel_height", 1},
    {"", "dilation_rate_x", 1},
    {"", "dilation_rate_y", 1},
    {"", "feature_channel_max_count", 4294967295.0},
    {"", "size_width", 4294967295.0},
    {"", "size_height", 4294967295.0},
    {"", "size_depth", 4294967295.0},
    {"", "padding", GLCNN_PADDING_SIZE_SAME},
    {"", "primary_scale", 1},
    {"", "secondary_scale", 1},
    {"", "minimum_value", -(double)FLT_MAX},
    {"", "maximum_value", (double)FLT_MAX},
    {"batch_normalization", "epsilon", (double)FLT_MIN},
    {"batch_normalization", "momentum", 0.1},
    {"batch_normalization", "samples", 1},
    {"instance_normalization", "epsilon", (double)FLT_MIN},
    {"", "groups", 1},
    {"", "gradient_option", GLCNN_GRADIENT_OPTION_ALL},
    {"convolution", "sub_pixel_scale_factor", 1},
    {"local_contrast_normalization", "alpha", 0},
    {"local_contrast_normalization", "beta", 0.5},
    {"local_contrast_normalization", "delta", 1.0 / 1024},
    {"local_contrast_normalization", "p0", 1},
    {"local_contrast_normalization", "ps", 1},
    {"cross_channel_normalization", "kernel_size", 5},
    {"", "alpha", 1},
    {"", "beta", 5},
    {"", "delta", 1},
    {"", "block_size", 1},
    {"dropout", "keep_probability", 0.5},
    {"gather", "width", 1},
    {"gather", "height", 1},
    {"gather", "feature_channels", 1},
    {"learned_image", "width", 1},
    {"learned_image", "height", 1},
    {"learned_image", "feature_channels", 1},
    {"", "weight", 1},
    {"loss", "number_of_classes", 1},
    {"loss", "epsilon", 1e-7},
    {"optimizer", "learning_rate", 0.001},
    {"optimizer", "gradient_rescale", 1},
    {"optimizer", "gradient_clip_max", (double)FLT_MAX},
    {"optimizer", "gradient_clip_min", -(double)FLT_MAX},
    {"optimizer", "weight_decay", 0},
    {"optimizer_rms_prop", "decay", 0.9},
    {"optimizer_adam", "beta1", 0.9},
    {"optimizer_adam", "beta2", 0.999},
    {"optimizer", "epsilon", 1e-8},
    {"strided_slice", "step_x", 1},
    {"strided_slice", "step_y", 1},
    {"strided_slice", "step_channel", 1},
    {"strided_view", "width", 1},
    {"strided_view", "height", 1},
    {"strided_view", "feature_channels", 1},
    {"strided_view", "size_0", 1},
    {"strided_view", "size_1", 1},
    {"strided_view", "size_2", 1},
    {"strided_view", "size_3", 1},
    {"strided_view", "size_4", 1},
    {"strided_view", "size_5", 1},
    {"upsampling", "scale_factor_x", 1},
    {"upsampling", "scale_factor_y", 1},
    {"box_loss", "reduction_type", GLCNN_REDUCTION_TYPE_SUM},
    {"yolo_loss", "xy_loss_type", GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR},
    {"yolo_loss", "wh_loss_type", GLCNN_LOSS_TYPE_HUBER},
    {"yolo_loss", "confidence_loss_type", GLCNN_LOSS_TYPE_SIGMOID_CROSS_ENTROPY},
    {"yolo_loss", "classes_loss_type", GLCNN_LOSS_TYPE_SOFT_MAX_CROSS_ENTROPY},
    {"yolo_loss", "epsilon", 1e-7},
    {"yolo_loss", "reduction_type", GLCNN_REDUCTION_TYPE_SUM},
    {"yolo_loss", "rescore", 1},
    {"yolo_loss", "scale_xy", 10},
    {"yolo_loss", "scale_wh", 10},
    {"yolo_loss", "scale_no_object", 5},
    {"yolo_loss", "scale_object", 100},
    {"yolo_loss", "scale_class", 2},
    {"yolo_loss", "min_iou_for_object_presence", 0.7},
    {"yolo_loss", "max_iou_for_object_absence", 0.3},
    {"yolo_loss", "number_of_anchor_boxes", 1},
};

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), part = strlen(end);
    return length >= part && strcmp(name + length - part, end) == 0;
}

static double default_of(const char *kernel, const char *parameter)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (strncmp(kernel, defaults[i].kernel, strlen(defaults[i].kernel)) == 0 &&
            ends_with(parameter, defaults[i].parameter))
            return defaults[i].value;
    return 0;
}

static void test_defaults_are_those_of_the_headers(void)
{
    for (size_t k = 0; k < glcnn_kernel_count(); k++) {
        const struct glcnn_kernel_info *info = glcnn_kernel_info_at(k);
        for (size_t i = 0; i < info->parameter_count; i++) {
            const struct glcnn_parameter_info *p = &info->parameters[i];
            double expected = default_of(info->name, p->name);
            CU_ASSERT_EQUAL((float)p->default_value, (float)expected);
            if ((float)p->default_value != (float)expected)
                fprintf(stderr, "\n  %s of %s\n", p->name, info->name);
        }
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_forward_ranges),
        UNIT_TEST(test_state_driven_gradients_keep_the_invariant),
        UNIT_TEST(test_a_gradient_clipped_by_hand),
        UNIT_TEST(test_gradients_addressed_by_hand),
        UNIT_TEST(test_a_batch_is_the_loop),
        UNIT_TEST(test_kernels_keep_the_padding_zero),
        UNIT_TEST(test_channels_left_out_stay_out),
        UNIT_TEST(test_returning_encodes_follow_the_padding),
        UNIT_TEST(test_returning_encodes_make_room),
        UNIT_TEST(test_a_state_is_what_its_encode_says),
        UNIT_TEST(test_states_of_a_batch_may_be_left_out),
        UNIT_TEST(test_ranges_outside_are_refused),
        UNIT_TEST(test_fields_are_checked_at_encode),
        UNIT_TEST(test_a_gradient_needs_its_channels),
        UNIT_TEST(test_aliasing_is_refused),
        UNIT_TEST(test_aliasing_of_channel_views),
        UNIT_TEST(test_copies_have_everything_of_their_own),
        UNIT_TEST(test_parameters_keep_to_their_ranges),
        UNIT_TEST(test_a_part_of_a_gradient_is_used),
        UNIT_TEST(test_images_of_a_shared_state_begin_where_they_were_written),
        UNIT_TEST(test_defaults_are_those_of_the_headers),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("encode", tests, argc, argv);
}
