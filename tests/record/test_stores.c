/* Whole images stored by way of a buffer: what a pass stores is what it stores into the image itself,
 * wherever its layers lie, and what it does not store stays. */
#include "tests/graphs.h"

#include "device/device.h"

#include <stdlib.h>

#define SIDE 6
#define KEPT 7.0f      /* what the destination held */
#define MOST (1 << 20) /* bytes of the buffer, where an image is smaller */

/* A result of `channels` from channel `first` on, in an image that has one more slice where `first`
 * is not 0, of which `width` columns are stored. */
struct shape {
    uint32_t images, channels, first, width;
    bool buffered;
};

static const struct shape shapes[] = {
    {3, 7, 0, SIDE, true},  {1, 4, 4, SIDE, true},      {130, 8, 0, SIDE, true}, /* folded at 256 */
    {3, 7, 4, SIDE, false}, {3, 8, 0, SIDE - 1, false}, {1100, 8, 0, SIDE, true}, /* in parts */
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void encode(const struct shape *s, const char *name, const char *settings,
                   glcnn_image *destination)
{
    glcnn_kernel *kernel = kernel_with(name, settings);
    glcnn_image *source = make_image(s->images, s->channels, 2 * SIDE, 2 * SIDE);
    struct glcnn_addressing *addressing = glcnn_kernel_properties(kernel);
    glcnn_command_buffer *commands = make_commands();
    uint32_t seed = 5;
    fill_noise(source, 11);
    set_vector_noise(kernel, "weights", &seed, 0.5f);
    addressing->destination_feature_channel_offset = s->first;
    addressing->clip_rect.size.width = s->width;
    GOOD(glcnn_kernel_encode(commands, kernel,
                             &(struct glcnn_encode){.source = source, .destination = destination}));
    finish(&commands);
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&kernel);
}

/* Values that the trait gives; *buffered: the buffer was used. */
static float *stored(const struct shape *s, bool trait, const char *name, const char *settings,
                     bool *buffered)
{
    fixture_close();
    CU_ASSERT_TRUE_FATAL(fixture_open());
    glcnn_image *destination = make_image(s->images, s->channels + (s->first ? 4 : 0), SIDE, SIDE);
    fill_constant(destination, KEPT);
    device->info.traits.stores_via_buffer = trait;
    device->info.traits.image_loads = false; /* sources stay bound while parts are copied */
    encode(s, name, settings, destination);
    *buffered = device->stores != 0;
    CU_ASSERT(device->stores_size <= MOST);
    float *values = read_image(destination);
    glcnn_image_destroy(&destination);
    return values;
}

static void check(const struct shape *s, const char *name, const char *settings)
{
    size_t count = (size_t)s->images * (s->channels + (s->first ? 4 : 0)) * SIDE * SIDE;
    bool with, without;
    float *direct = stored(s, false, name, settings, &without);
    float *by_buffer = stored(s, true, name, settings, &with);
    CU_ASSERT_FALSE(without);
    CU_ASSERT_EQUAL(with, s->buffered);
    CU_ASSERT_EQUAL(memcmp(direct, by_buffer, count * sizeof *direct), 0);
    CU_ASSERT_EQUAL(direct[s->width - 1] == KEPT, s->first > 0);
    CU_ASSERT_EQUAL(direct[count - 1] == KEPT, s->width < SIDE);
    free(direct);
    free(by_buffer);
}

static void test_pooling(void)
{
    for (size_t i = 0; i < SHAPES; i++)
        check(&shapes[i], "pooling_max",
              "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2");
}

static void test_neuron(void)
{
    for (size_t i = 0; i < SHAPES; i++)
        check(&shapes[i], "neuron", "neuron_type=sigmoid");
}

/* Groups of it store more than an image's layers. */
static void test_convolution(void)
{
    const struct shape *last = &shapes[SHAPES - 1];
    check(last, "convolution",
          "input_feature_channels=8 output_feature_channels=8 kernel_width=3 kernel_height=3 "
          "stride_in_pixels_x=2 stride_in_pixels_y=2");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_pooling), UNIT_TEST(test_neuron),
                                        UNIT_TEST(test_convolution), CU_TEST_INFO_NULL};
    return fixture_run("stores by way of a buffer", tests, argc, argv);
}
