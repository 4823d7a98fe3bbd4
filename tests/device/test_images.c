/* Images: what is written is read, in every order and format; views; what images cost; folding.
 *
 * All of it is short enough to be run where GLCNN_TEST_QUICK=1 asks for little. */
#include "tests/graphs.h"

#include <math.h>

#include "device/device.h"
#include "image/float16.h"
#include "image/image.h"
#include "record/commit_count.h"

#define MODEL_MAX 4096

/* ---- float16 ---- */

static void test_every_float16_keeps_its_value(void)
{
    for (uint32_t h = 0; h < 65536; h++) {
        int exponent = (int)(h >> 10 & 31);
        double magnitude =
            exponent == 0 ? ldexp(h & 1023, -24) : ldexp(1024 + (h & 1023), exponent - 25);
        float value = float16_to_float((uint16_t)h);
        if (exponent == 31) {
            CU_ASSERT_TRUE(h & 1023 ? isnan(value) : isinf(value));
        } else {
            CU_ASSERT_EQUAL((double)value, h & 0x8000 ? -magnitude : magnitude);
        }
        CU_ASSERT_EQUAL(signbit(value) != 0, (h & 0x8000) != 0);
        if (isnan(value)) {
            CU_ASSERT_TRUE(isnan(float16_to_float(float16_from_float(value))));
        } else {
            CU_ASSERT_EQUAL(float16_from_float(value), h);
        }
    }
}

static void test_float16_rounds_to_nearest_even(void)
{
    for (uint16_t h = 0; h < 0x7bff; h++) {
        float low = float16_to_float(h), high = float16_to_float((uint16_t)(h + 1));
        float middle = low + (high - low) / 2; /* exact: one bit more than float16 has */
        CU_ASSERT_EQUAL(float16_from_float(middle), h % 2 ? h + 1 : h);
        CU_ASSERT_EQUAL(float16_from_float(nextafterf(middle, 0)), h);
        CU_ASSERT_EQUAL(float16_from_float(nextafterf(middle, INFINITY)), h + 1);
        CU_ASSERT_EQUAL(float16_from_float(-middle), 0x8000 | (h % 2 ? h + 1 : h));
    }
    CU_ASSERT_EQUAL(float16_from_float(65519.996f), 0x7bff);
    CU_ASSERT_EQUAL(float16_from_float(65520.0f), 0x7c00);
    CU_ASSERT_EQUAL(float16_from_float(-INFINITY), 0xfc00);
}

/* The same rounding on the device: float32 elements go through a pass into a float16 image, 64
 * pixels of it; element i is of channel i / 64. */
enum { ROUNDED = 256 };

static void check_rounding_once(const float values[ROUNDED])
{
    float expected[ROUNDED];
    for (size_t i = 0; i < ROUNDED; i++)
        expected[i] = float16_to_float(float16_from_float(values[i]));
    glcnn_image *image = make_image_of(device, GLCNN_CHANNEL_FORMAT_FLOAT16, 1, 4, 8, 8);
    glcnn_buffer *buffer = NULL;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_buffer_create(device, sizeof expected, &buffer));
    GOOD(glcnn_buffer_write(buffer, 0, sizeof expected, values));
    GOOD(glcnn_image_encode_write(
        commands, image,
        &(struct glcnn_image_transfer){.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH}, buffer, 0));
    finish(&commands);
    CU_ASSERT_TRUE(image_equals(image, expected));
    glcnn_buffer_destroy(&buffer);
    glcnn_image_destroy(&image);
}

/* In each way that the device has; on the software rasteriser that is all of them. */
static void check_rounding(const float values[ROUNDED])
{
    const struct glcnn_device_traits kept = device->info.traits;
    device->info.traits.packs_float16 = false;
    check_rounding_once(values);
    device->info.traits.packs_float16 = kept.packs_float16 || strcmp(kept.family, "llvmpipe") == 0;
    check_rounding_once(values);
    device->info.traits = kept;
}

/* Each beside each, in the channels of a pixel: what one needs spoils no other. */
static void test_device_rounds_what_lies_together(void)
{
    static const float chosen[] = {0.0f,     -0.0f,     NAN,      INFINITY,  -INFINITY,
                                   -1e30f,   65519.0f,  1.0f,     -0x1p-26f, 0x1.8p-25f,
                                   3.14159f, -65520.0f, 0x1p-140f};
    enum { CHOSEN = sizeof chosen / sizeof *chosen };
    float values[ROUNDED];
    uint32_t seed = 13;
    for (int round = 0; round < 8; round++) {
        for (size_t i = 0; i < ROUNDED; i++)
            values[i] = chosen[below(&seed, CHOSEN)];
        check_rounding(values);
    }
}

static void test_device_rounds_as_the_host(void)
{
    static const float chosen[] = {65504.0f,  65519.0f, 65520.0f,    1e30f,      -70000.0f,
                                   0x1p-24f,  0x1p-25f, 0x1.8p-25f,  0x3p-25f,   0x1p-14f,
                                   -0x1p-26f, 1.0f,     0x1.002p+0f, 0x1.006p+0f};
    float values[ROUNDED];
    uint32_t seed = 7;
    for (size_t i = 0; i < ROUNDED; i++)
        values[i] = i < sizeof chosen / sizeof *chosen
                        ? chosen[i]
                        : ldexpf(noise(&seed), (int)below(&seed, 44) - 26);
    check_rounding(values);
}

/* Pixels of which all channels are zeros or of the normal range, exactly between float16 values, and
 * beside that. */
static void test_device_rounds_normal_pixels(void)
{
    float values[ROUNDED];
    uint32_t seed = 11;
    for (size_t i = 0; i < ROUNDED; i++) {
        uint16_t low = (uint16_t)(0x0400 + below(&seed, 0x7bfe - 0x0400));
        float middle = (float16_to_float(low) + float16_to_float((uint16_t)(low + 1))) / 2;
        float choices[] = {middle, nextafterf(middle, 0), nextafterf(middle, INFINITY), 0};
        float sign = below(&seed, 2) ? 1.0f : -1.0f;
        values[i] = sign * choices[below(&seed, 4)];
    }
    values[0] = 65519.996f; /* the last that is finite, and the first that is normal */
    values[1] = 0x1p-14f;
    check_rounding(values);
}

/* ---- Transfers against a model on the host ---- */

/* A part of an image and where its elements lie, all spelled out. */
struct part {
    struct glcnn_image_transfer t;
    size_t row, plane, image, pixel, size; /* strides and extent in elements */
};

static uint32_t pick(uint32_t *seed, uint32_t limit, uint32_t *count)
{
    uint32_t first = below(seed, limit);
    *count = 1 + below(seed, limit - first);
    return first;
}

static struct part random_part(const struct glcnn_image_descriptor *d, uint32_t *seed, bool gaps)
{
    struct part p = {.t.layout = (glcnn_data_layout)below(seed, 2)};
    p.t.x = pick(seed, d->width, &p.t.width);
    p.t.y = pick(seed, d->height, &p.t.height);
    p.t.first_image = pick(seed, d->number_of_images, &p.t.image_count);
    p.t.channel_offset = below(seed, (d->feature_channels + 3) / 4) * 4;
    uint32_t rest = d->feature_channels - p.t.channel_offset;
    p.t.channel_count = 4 * (1 + below(seed, (rest + 3) / 4));
    if (p.t.channel_count > rest)
        p.t.channel_count = rest;
    bool last = p.t.layout == GLCNN_LAYOUT_HEIGHT_WIDTH_CHANNELS;
    p.pixel = last ? p.t.channel_count : 1;
    p.row = p.t.width * p.pixel + (gaps ? below(seed, 4) : 0);
    p.plane = last ? 1 : p.row * p.t.height + (gaps ? below(seed, 4) : 0);
    p.image =
        (last ? p.row * p.t.height : p.plane * p.t.channel_count) + (gaps ? below(seed, 4) : 0);
    p.size = (p.t.image_count - 1) * p.image + (p.t.channel_count - 1) * p.plane +
             (p.t.height - 1) * p.row + (p.t.width - 1) * p.pixel + 1;
    return p;
}

static void set_strides(struct part *p, size_t element)
{
    p->t.bytes_per_row = p->row * element;
    p->t.bytes_per_image = p->image * element;
    if (p->t.layout == GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH)
        p->t.bytes_per_plane = p->plane * element;
}

/* Copies between the model [n][c][h][w] and elements; `touched` marks elements of the part. */
static void copy_part(const struct glcnn_image_descriptor *d, const struct part *p, uint16_t *model,
                      uint16_t *elements, bool *touched, bool write)
{
    const struct glcnn_image_transfer *t = &p->t;
    for (uint32_t n = 0; n < t->image_count; n++)
        for (uint32_t c = 0; c < t->channel_count; c++)
            for (uint32_t y = 0; y < t->height; y++)
                for (uint32_t x = 0; x < t->width; x++) {
                    size_t from = n * p->image + c * p->plane + y * p->row + x * p->pixel;
                    size_t plane =
                        (size_t)(t->first_image + n) * d->feature_channels + t->channel_offset + c;
                    size_t to = (plane * d->height + t->y + y) * d->width + t->x + x;
                    touched[from] = true;
                    if (write)
                        model[to] = elements[from];
                    else
                        elements[from] = model[to];
                }
}

/* Bytes of an element, by format. */
static const size_t element_sizes[] = {[GLCNN_CHANNEL_FORMAT_UNORM8] = 1,
                                       [GLCNN_CHANNEL_FORMAT_FLOAT16] = 2,
                                       [GLCNN_CHANNEL_FORMAT_FLOAT32] = 4};

/* Elements are small whole numbers, so that all formats hold them; `bytes` gets them as the
 * image's format has them. */
static void to_bytes(const uint16_t *elements, size_t count, size_t element, void *bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (element == 1)
            ((uint8_t *)bytes)[i] = (uint8_t)elements[i];
        else if (element == 2)
            ((uint16_t *)bytes)[i] = float16_from_float(elements[i]);
        else
            ((float *)bytes)[i] = elements[i];
    }
}

static void write_random(glcnn_image *image, uint16_t *model, uint32_t *seed)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    size_t element = element_sizes[d->channel_format];
    struct part p = random_part(d, seed, true);
    uint16_t elements[2 * MODEL_MAX];
    float bytes[2 * MODEL_MAX];
    bool touched[2 * MODEL_MAX];
    CU_ASSERT_FATAL(p.size <= 2 * MODEL_MAX);
    for (size_t i = 0; i < p.size; i++)
        elements[i] = (uint16_t)(1 + below(seed, element == 1 ? 255 : 2000));
    to_bytes(elements, p.size, element, bytes);
    copy_part(d, &p, model, elements, touched, true);
    set_strides(&p, element);
    GOOD(glcnn_image_write_bytes(image, &p.t, bytes, p.size * element));
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_image_write_bytes(image, &p.t, bytes, p.size * element - 1));
}

static void read_random(glcnn_image *image, uint16_t *model, uint32_t *seed)
{
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    size_t element = element_sizes[d->channel_format];
    struct part p = random_part(d, seed, true);
    uint16_t elements[2 * MODEL_MAX] = {0};
    float bytes[2 * MODEL_MAX], expected[2 * MODEL_MAX];
    bool touched[2 * MODEL_MAX] = {false};
    CU_ASSERT_FATAL(p.size <= 2 * MODEL_MAX);
    copy_part(d, &p, model, elements, touched, false);
    to_bytes(elements, p.size, element, expected);
    memset(bytes, 0xab, sizeof bytes);
    for (size_t i = 0; i < p.size; i++)
        if (!touched[i])
            memset((char *)expected + i * element, 0xab, element);
    set_strides(&p, element);
    GOOD(glcnn_image_read_bytes(image, &p.t, bytes, p.size * element));
    CU_ASSERT_EQUAL(memcmp(bytes, expected, p.size * element), 0);
}

static void test_transfers_follow_the_model(void)
{
    static const uint32_t shapes[][4] = {{1, 1, 1, 1}, {2, 3, 4, 5}, {3, 9, 5, 4},
                                         {1, 8, 7, 3}, {4, 6, 2, 3}, {2, 13, 3, 3}};
    uint32_t seed = 1;
    static const glcnn_channel_format formats[] = {
        GLCNN_CHANNEL_FORMAT_UNORM8, GLCNN_CHANNEL_FORMAT_FLOAT16, GLCNN_CHANNEL_FORMAT_FLOAT32};
    for (size_t s = 0; s < 3 * sizeof shapes / sizeof *shapes; s++) {
        const uint32_t *shape = shapes[s / 3];
        uint16_t model[MODEL_MAX] = {0};
        glcnn_image *image =
            make_image_of(device, formats[s % 3], shape[0], shape[1], shape[2], shape[3]);
        for (int i = 0; i < 6; i++) {
            read_random(image, model, &seed);
            write_random(image, model, &seed);
            read_random(image, model, &seed);
        }
        glcnn_image_destroy(&image);
    }
}

/* Dense strides are what 0 stands for, and no transfer at all means all of it in HWC order. */
static void test_defaults_are_dense(void)
{
    float chw[2 * 3 * 2 * 2], hwc[2 * 3 * 2 * 2], read[2 * 3 * 2 * 2];
    for (int n = 0; n < 2; n++)
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 4; i++)
                chw[(n * 3 + c) * 4 + i] = hwc[(n * 4 + i) * 3 + c] =
                    (float)(100 * n + 10 * c + i + 1);
    glcnn_image *image = make_image(2, 3, 2, 2);
    GOOD(glcnn_image_write_bytes(image, NULL, hwc, sizeof hwc));
    CU_ASSERT_TRUE(image_equals(image, chw));
    GOOD(glcnn_image_read_bytes(image, NULL, read, sizeof read));
    CU_ASSERT_EQUAL(memcmp(read, hwc, sizeof read), 0);
    glcnn_image_destroy(&image);
}

static void test_transfers_out_of_range_are_refused(void)
{
    static const struct glcnn_image_transfer wrong[] = {
        {.x = 5},
        {.y = 4},
        {.x = 1, .width = 5},
        {.y = 3, .height = 2},
        {.width = UINT32_MAX},
        {.x = UINT32_MAX, .width = 2},
        {.first_image = 2},
        {.first_image = 1, .image_count = 2},
        {.image_count = UINT32_MAX},
        {.channel_offset = 2},
        {.channel_offset = 12},
        {.channel_offset = 4, .channel_count = 3},
        {.channel_offset = 8, .channel_count = 4},
        {.channel_count = UINT32_MAX},
        {.layout = (glcnn_data_layout)2},
        {.bytes_per_row = 3},
        {.bytes_per_image = 2},
        {.bytes_per_plane = 2, .layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH},
        {.bytes_per_row = SIZE_MAX - 3},
        {.bytes_per_row = (size_t)1 << 62}, /* rows 4 of these come to 0 in a size_t */
        {.bytes_per_image = (SIZE_MAX >> 1) + 1},
        {.bytes_per_plane = (size_t)1 << 63, .layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH},
    };
    float bytes[2 * 9 * 4 * 5] = {0};
    glcnn_image *image = make_image(2, 9, 4, 5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED(GLCNN_INVALID_ARGUMENT,
                glcnn_image_write_bytes(image, &wrong[i], bytes, sizeof bytes));
        REFUSED(GLCNN_INVALID_ARGUMENT,
                glcnn_image_read_bytes(image, &wrong[i], bytes, sizeof bytes));
    }
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_write_bytes(image, NULL, NULL, sizeof bytes));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_read_bytes(image, NULL, NULL, sizeof bytes));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_read_bytes(image, NULL, bytes, sizeof bytes - 4));
    CU_ASSERT_TRUE(image_is_constant(image, 0));
    glcnn_image_destroy(&image);
}

/* What is longer than a storage block goes through in parts. */
static void test_transfers_beyond_a_storage_block(void)
{
    uint32_t limit = device->info.limits.storage_block_size;
    glcnn_image *image = make_image(5, 6, 7, 9), *rows = make_image(1, 4, 40, 6);
    float values[5 * 6 * 7 * 9];
    uint32_t seed = 3;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = noise(&seed);
    device->info.limits.storage_block_size = 2 * 6 * 7 * 9 * 4 + 40; /* two images */
    fill_image(image, values);
    CU_ASSERT_TRUE(image_equals(image, values));
    device->info.limits.storage_block_size = 3 * 6 * 4 * 4; /* three rows */
    fill_image(rows, values);
    CU_ASSERT_TRUE(image_equals(rows, values));
    device->info.limits.storage_block_size = limit;
    CU_ASSERT_TRUE(image_equals(image, values));
    CU_ASSERT_TRUE(image_equals(rows, values));
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&rows);
}

/* Both formats, dense and with a gap behind each row. */
static void transfer_each_way(glcnn_image *const images[2])
{
    char bytes[3 * 5 * 6 * 4 + 5 * 4];
    memset(bytes, 0, sizeof bytes);
    for (int i = 0; i < 2; i++)
        for (size_t gap = 0; gap < 8; gap += 4) {
            size_t row = 3 * 6 * (i ? 2u : 4u) + gap;
            const struct glcnn_image_transfer transfer = {.bytes_per_row = row};
            GOOD(glcnn_image_write_bytes(images[i], &transfer, bytes, sizeof bytes));
            GOOD(glcnn_image_read_bytes(images[i], &transfer, bytes, sizeof bytes));
        }
}

/* The device keeps what transfers need. */
static void test_repeated_transfers_allocate_nothing(void)
{
    struct gl_count count = {0};
    commit_count_destroy(device,
                         true); /* what counts commits where resets are not told dispatches, too */
    glcnn_image *images[2] = {make_image_of(device, GLCNN_CHANNEL_FORMAT_FLOAT32, 1, 3, 5, 6),
                              make_image_of(device, GLCNN_CHANNEL_FORMAT_FLOAT16, 1, 3, 5, 6)};
    transfer_each_way(images);
    int references = device->references, held = images[0]->storage->references;
    count_gl(&count);
    for (int i = 0; i < 3; i++)
        transfer_each_way(images);
    stop_counting_gl();
    CU_ASSERT_EQUAL(count.buffers + count.textures + count.shaders + count.programs, 0);
    CU_ASSERT_EQUAL(count.dispatches, 3 * 2 * 2 * 2);
    CU_ASSERT_EQUAL(device->references, references);
    CU_ASSERT_EQUAL(images[0]->storage->references, held);
    destroy_images(images, 2);
}

/* Longer than what is staged at once, as float32 and as float16: each value is in its place. */
static void check_long_transfer(glcnn_channel_format format, size_t element)
{
    enum { SIDE = 1500 };
    const size_t count = SIDE * SIDE;
    glcnn_image *image = make_image_of(device, format, 1, 1, SIDE, SIDE);
    char *bytes = malloc(count * element), *found = calloc(count, element);
    CU_ASSERT_FATAL(bytes && found);
    for (size_t i = 0; i < count; i++) {
        float value = (float)(i % 2003);
        uint16_t bits = float16_from_float(value);
        memcpy(bytes + i * element, element == 4 ? (void *)&value : (void *)&bits, element);
    }
    GOOD(glcnn_image_write_bytes(image, NULL, bytes, count * element));
    GOOD(glcnn_image_read_bytes(image, NULL, found, count * element));
    CU_ASSERT_EQUAL(memcmp(bytes, found, count * element), 0);
    free(bytes);
    free(found);
    glcnn_image_destroy(&image);
}

static void test_transfers_longer_than_the_staging_buffer(void)
{
    check_long_transfer(GLCNN_CHANNEL_FORMAT_FLOAT32, 4);
    check_long_transfer(GLCNN_CHANNEL_FORMAT_FLOAT16, 2);
}

/* ---- Cost and first contents ---- */

static void test_nothing_is_allocated_before_use(void)
{
    glcnn_image *image = make_image(3, 6, 5, 7);
    glcnn_image *float16_image = make_image_of(device, GLCNN_CHANNEL_FORMAT_FLOAT16, 3, 6, 5, 7);
    CU_ASSERT_EQUAL(glcnn_image_resource_size(image), 3 * 2 * 5 * 7 * 16);
    CU_ASSERT_EQUAL(glcnn_image_resource_size(float16_image), 3 * 2 * 5 * 7 * 8);
    CU_ASSERT_EQUAL(image->storage->texture, 0);
    CU_ASSERT_TRUE(image_is_constant(image, 0));
    CU_ASSERT_TRUE(image_is_constant(float16_image, 0));
    CU_ASSERT_NOT_EQUAL(image->storage->texture, 0);
    CU_ASSERT_EQUAL(glcnn_image_resource_size(image), 3 * 2 * 5 * 7 * 16);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&float16_image);
}

static void test_descriptors_have_defaults(void)
{
    glcnn_image *image = make_image(0, 0, 0, 0);
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(image);
    CU_ASSERT_EQUAL(d->width, 1);
    CU_ASSERT_EQUAL(d->height, 1);
    CU_ASSERT_EQUAL(d->feature_channels, 1);
    CU_ASSERT_EQUAL(d->number_of_images, 1);
    CU_ASSERT_EQUAL(d->channel_format, GLCNN_CHANNEL_FORMAT_FLOAT32);
    CU_ASSERT_FALSE(glcnn_image_is_temporary(image));
    CU_ASSERT_EQUAL(glcnn_image_read_count(image), 0);
    glcnn_image_destroy(&image);
    CU_ASSERT_PTR_NULL(image);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(NULL);
}

/* All four components of every texel: the image seen as one whose last slice is full. */
static void check_padding(glcnn_image *image)
{
    struct glcnn_image raw = *image;
    uint32_t channels = image->descriptor.feature_channels;
    raw.descriptor.feature_channels = raw.channels_behind = (channels + 3) / 4 * 4;
    float *values = read_image(&raw);
    size_t plane = (size_t)raw.descriptor.width * raw.descriptor.height;
    for (size_t i = 0; i < count_of(&raw); i++)
        if (i / plane % raw.descriptor.feature_channels >= channels)
            CU_ASSERT_EQUAL(values[i], 0);
    free(values);
}

static void test_padding_components_are_zero(void)
{
    for (uint32_t channels = 1; channels < 10; channels++) {
        glcnn_image *image = make_image(2, channels, 3, 2);
        check_padding(image);
        fill_constant(image, NAN);
        check_padding(image);
        fill_noise(image, channels);
        check_padding(image);
        glcnn_image_destroy(&image);
    }
}

/* ---- Views ---- */

static void test_batch_views_share_storage(void)
{
    glcnn_image *image = make_image(3, 5, 2, 3), *view = NULL;
    fill_noise(image, 1);
    float *before = read_image(image);
    GOOD_FATAL(glcnn_image_batch_view(image, 1, &view));
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(view)->number_of_images, 1);
    CU_ASSERT_TRUE(image_equals(view, before + 30));
    fill_constant(view, 9);
    for (int i = 30; i < 60; i++)
        before[i] = 9;
    CU_ASSERT_TRUE(image_equals(image, before));
    glcnn_image_destroy(&view);
    view = image;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_batch_view(image, 3, &view));
    CU_ASSERT_PTR_NULL(view);
    free(before);
    glcnn_image_destroy(&image);
}

static void test_a_view_outlives_its_parent(void)
{
    glcnn_image *image = make_image(2, 2, 2, 2), *view = NULL;
    fill_constant(image, 3);
    GOOD_FATAL(glcnn_image_batch_view(image, 0, &view));
    glcnn_image_destroy(&image);
    CU_ASSERT_TRUE(image_is_constant(view, 3));
    glcnn_image_destroy(&view);
}

static void test_channel_views_share_storage(void)
{
    glcnn_image *image = make_image(2, 10, 2, 2), *middle = NULL, *end = NULL;
    fill_noise(image, 2);
    float *values = read_image(image);
    GOOD_FATAL(glcnn_image_channel_view(image, 4, 4, &middle));
    GOOD_FATAL(glcnn_image_channel_view(image, 8, 8, &end));
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(middle)->feature_channels, 4);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(end)->feature_channels, 2);
    fill_constant(middle, 5);
    fill_constant(end, 6);
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 24; i++)
            values[n * 40 + 16 + i] = i < 16 ? 5 : 6;
    CU_ASSERT_TRUE(image_equals(image, values));
    check_padding(image);
    check_padding(end);
    static const uint32_t wrong[][2] = {{2, 4}, {4, 3}, {4, 0}, {12, 4}, {UINT32_MAX - 3, 4}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        glcnn_image *none = image;
        REFUSED(GLCNN_INVALID_ARGUMENT,
                glcnn_image_channel_view(image, wrong[i][0], wrong[i][1], &none));
        CU_ASSERT_PTR_NULL(none);
    }
    free(values);
    glcnn_image_destroy(&end);
    glcnn_image_destroy(&middle);
    glcnn_image_destroy(&image);
}

static void test_views_of_views(void)
{
    glcnn_image *image = make_image(3, 12, 2, 2), *channels = NULL, *one = NULL, *last = NULL;
    fill_noise(image, 3);
    float *values = read_image(image);
    GOOD_FATAL(glcnn_image_channel_view(image, 4, 8, &channels));
    GOOD_FATAL(glcnn_image_batch_view(channels, 2, &one));
    GOOD_FATAL(glcnn_image_channel_view(one, 4, 4, &last));
    CU_ASSERT_TRUE(image_equals(one, values + 2 * 48 + 16));
    CU_ASSERT_TRUE(image_equals(last, values + 2 * 48 + 32));
    fill_constant(last, 1);
    for (int i = 2 * 48 + 32; i < 3 * 48; i++)
        values[i] = 1;
    CU_ASSERT_TRUE(image_equals(image, values));
    free(values);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&channels);
    glcnn_image_destroy(&one);
    CU_ASSERT_TRUE(image_is_constant(last, 1));
    glcnn_image_destroy(&last);
}

/* ---- Folding ---- */

static void check_folded(uint32_t images, uint32_t channels, uint32_t height, uint32_t width)
{
    glcnn_image *image = make_image(images, channels, height, width), *view = NULL;
    fill_noise(image, images);
    CU_ASSERT_TRUE(storage_is_folded(image->storage));
    CU_ASSERT_TRUE((image->storage->across * image->storage->down) * image->storage->fold >=
                   images * ((channels + 3) / 4));
    uint32_t seed = images;
    float *values = read_image(image);
    for (size_t i = 0; i < count_of(image); i++)
        CU_ASSERT_EQUAL(values[i], noise(&seed));
    GOOD_FATAL(glcnn_image_batch_view(image, images - 1, &view));
    CU_ASSERT_TRUE(image_equals(view, values + (size_t)(images - 1) * channels * height * width));
    free(values);
    glcnn_image_destroy(&view);
    glcnn_image_destroy(&image);
}

static void test_more_layers_than_an_array_has(void)
{
    check_folded(device->info.limits.array_layers + 3, 3, 2, 3);
}

/* With few layers and small textures, tiles go to the right and then below. */
static void test_tiles_to_the_right_and_below(void)
{
    struct glcnn_limits limits = device->info.limits;
    device->info.limits.array_layers = 4;
    device->info.limits.texture_size = 16;
    check_folded(5, 3, 5, 5);
    check_folded(7, 8, 5, 5);  /* 14 layers, 4 tiles: 2 to the right, 2 below */
    check_folded(9, 16, 4, 4); /* 36 layers, 9 tiles, so 16: 4 to the right, 4 below */
    check_folded(32, 2, 4, 5); /* 8 tiles, a power of two either way: no place is left */
    const struct glcnn_image_descriptor too_many = {5, 4, 2, 33, 0}, too_wide = {17, 1, 1, 1, 0},
                                        too_high = {1, 17, 1, 1, 0};
    glcnn_image *image = NULL;
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_image_create(device, &too_many, &image));
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_image_create(device, &too_wide, &image));
    REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_image_create(device, &too_high, &image));
    CU_ASSERT_PTR_NULL(image);
    device->info.limits = limits;
}

static void test_sizes_beyond_the_device(void)
{
    const struct glcnn_limits *l = &device->info.limits;
    const struct glcnn_image_descriptor wrong[] = {
        {l->texture_size + 1, 1, 1, 1, 0},
        {1, l->texture_size + 1, 1, 1, 0},
        {UINT32_MAX, UINT32_MAX, 1, 1, 0},
        {l->texture_size, l->texture_size, 4, l->array_layers + 1, 0},
        {1, 1, UINT32_MAX, 1, 0},
        {1, 1, UINT32_MAX, UINT32_MAX, 0},
        {1, 1, 1, UINT32_MAX, 0},
        {4, 4, 1 << 20, 1 << 20, 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        glcnn_image *image = NULL;
        REFUSED(GLCNN_LIMIT_EXCEEDED, glcnn_image_create(device, &wrong[i], &image));
        CU_ASSERT_PTR_NULL(image);
    }
    glcnn_image *image = NULL;
    const struct glcnn_image_descriptor format = {.channel_format = (glcnn_channel_format)2};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_create(device, &format, &image));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_every_float16_keeps_its_value),
        UNIT_TEST(test_float16_rounds_to_nearest_even),
        UNIT_TEST(test_device_rounds_as_the_host),
        UNIT_TEST(test_device_rounds_what_lies_together),
        UNIT_TEST(test_device_rounds_normal_pixels),
        UNIT_TEST(test_transfers_follow_the_model),
        UNIT_TEST(test_defaults_are_dense),
        UNIT_TEST(test_transfers_out_of_range_are_refused),
        UNIT_TEST(test_transfers_beyond_a_storage_block),
        UNIT_TEST(test_repeated_transfers_allocate_nothing),
        UNIT_TEST(test_transfers_longer_than_the_staging_buffer),
        UNIT_TEST(test_nothing_is_allocated_before_use),
        UNIT_TEST(test_descriptors_have_defaults),
        UNIT_TEST(test_padding_components_are_zero),
        UNIT_TEST(test_batch_views_share_storage),
        UNIT_TEST(test_a_view_outlives_its_parent),
        UNIT_TEST(test_channel_views_share_storage),
        UNIT_TEST(test_views_of_views),
        UNIT_TEST(test_more_layers_than_an_array_has),
        UNIT_TEST(test_tiles_to_the_right_and_below),
        UNIT_TEST(test_sizes_beyond_the_device),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("images", tests, argc, argv);
}
