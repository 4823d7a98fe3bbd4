/* Unorm8 images: what their bytes are to kernels and transfers, and where they are refused. That
 * every kernel reads them is test_kernels' part. */
#include "tests/fixture.h"

#include "image/image.h"

#define INVALID GLCNN_INVALID_ARGUMENT

static bool says(const char *text)
{
    return strstr(glcnn_device_error(device), text) != NULL;
}

static glcnn_image *make_unorm8(uint32_t images, uint32_t channels, uint32_t height, uint32_t width)
{
    return make_image_of(device, GLCNN_CHANNEL_FORMAT_UNORM8, images, channels, height, width);
}

/* As float32 through a kernel that changes nothing. */
static void check_values(glcnn_image *image, const uint8_t *bytes)
{
    glcnn_kernel *slice = kernel_with("slice", NULL);
    glcnn_kernel_properties(slice)->result_is_ordinary = true;
    glcnn_image *result = result_of(slice, &(struct glcnn_encode){.source = image}, NULL);
    CU_ASSERT_EQUAL(glcnn_image_get_descriptor(result)->channel_format,
                    GLCNN_CHANNEL_FORMAT_FLOAT32);
    float *values = read_image(result);
    for (size_t i = 0; i < count_of(image); i++)
        CU_ASSERT(is_near((double)values[i], bytes[i] / 255.0, 1e-7));
    free(values);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&slice);
}

static void every_byte_is_its_255th(void)
{
    uint8_t bytes[256], read[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    glcnn_image *image = make_unorm8(1, 1, 16, 16);
    GOOD(glcnn_image_write_bytes(image, NULL, bytes, sizeof bytes));
    GOOD(glcnn_image_read_bytes(image, NULL, read, sizeof read));
    CU_ASSERT_EQUAL(memcmp(bytes, read, sizeof read), 0);
    check_values(image, bytes);
    glcnn_image_destroy(&image);
}

enum { N = 2, C = 5, H = 3, W = 8, COUNT = N * C * H * W };

/* Writes the bytes from byte 4 of a buffer on, and reads [n][c][h][w] as float32. */
static void carry(const uint8_t bytes[COUNT], glcnn_data_layout layout, float values[COUNT])
{
    glcnn_image *image = make_unorm8(N, C, H, W);
    glcnn_buffer *buffer = NULL, *back = NULL;
    glcnn_command_buffer *commands = make_commands();
    struct glcnn_image_transfer transfer = {.layout = layout};
    GOOD_FATAL(glcnn_buffer_create(device, COUNT + 4, &buffer));
    GOOD_FATAL(glcnn_buffer_create(device, COUNT * 4, &back));
    GOOD(glcnn_buffer_write(buffer, 4, COUNT, bytes));
    REFUSED(INVALID, glcnn_image_encode_write(commands, image, &transfer, buffer, 8));
    CU_ASSERT_TRUE(says("240 bytes from byte 8"));
    GOOD(glcnn_image_encode_write(commands, image, &transfer, buffer, 4));
    transfer.layout = GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH;
    GOOD(glcnn_image_encode_read(commands, image, &transfer, back, 0));
    finish(&commands);
    GOOD(glcnn_buffer_read(back, 0, COUNT * 4, values));
    glcnn_buffer_destroy(&buffer);
    glcnn_buffer_destroy(&back);
    glcnn_image_destroy(&image);
}

/* In either order; read back they are float32. */
static void recorded_transfers_take_bytes(void)
{
    uint8_t hwc[COUNT], chw[COUNT];
    float values[2][COUNT];
    for (int i = 0; i < COUNT; i++) {
        int n = i / (C * H * W), c = i / (H * W) % C, at = i % (H * W);
        chw[i] = (uint8_t)(i * 89 + 3);
        hwc[(n * H * W + at) * C + c] = chw[i];
    }
    carry(hwc, GLCNN_LAYOUT_HEIGHT_WIDTH_CHANNELS, values[0]);
    carry(chw, GLCNN_LAYOUT_CHANNELS_HEIGHT_WIDTH, values[1]);
    for (int i = 0; i < COUNT; i++)
        CU_ASSERT(is_near((double)values[0][i], chw[i] / 255.0, 1e-7) &&
                  values[0][i] == values[1][i]);
}

static void a_quarter_of_the_memory(void)
{
    glcnn_image *bytes = make_unorm8(3, 5, 8, 9);
    glcnn_image *floats = make_image(3, 5, 8, 9);
    CU_ASSERT_EQUAL(glcnn_image_resource_size(bytes) * 4, glcnn_image_resource_size(floats));
    CU_ASSERT_EQUAL(glcnn_image_resource_size(bytes), 3 * 8 * 8 * 9);
    glcnn_image_destroy(&bytes);
    glcnn_image_destroy(&floats);
}

/* Temporary images share textures with those of the same texel size alone. */
static void temporary_images_take_bytes(void)
{
    const struct glcnn_image_descriptor descriptor = {
        .width = 4, .height = 4, .channel_format = GLCNN_CHANNEL_FORMAT_UNORM8};
    static const uint8_t bytes[16] = {255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    float values[16];
    glcnn_buffer *buffer = NULL, *back = NULL;
    glcnn_image *image = NULL;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_buffer_create(device, sizeof bytes, &buffer));
    GOOD_FATAL(glcnn_buffer_create(device, sizeof values, &back));
    GOOD(glcnn_buffer_write(buffer, 0, sizeof bytes, bytes));
    GOOD_FATAL(glcnn_temporary_image_create(commands, &descriptor, &image));
    GOOD(glcnn_image_encode_write(commands, image, NULL, buffer, 0));
    GOOD(glcnn_image_encode_read(commands, image, NULL, back, 0));
    glcnn_image_destroy(&image);
    finish(&commands);
    GOOD(glcnn_buffer_read(back, 0, sizeof values, values));
    for (int i = 0; i < 16; i++)
        CU_ASSERT(is_near((double)values[i], bytes[i] / 255.0, 1e-7));
    glcnn_buffer_destroy(&buffer);
    glcnn_buffer_destroy(&back);
}

static void no_kernel_writes_them(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *slice = kernel_with("slice", NULL);
    glcnn_image *source = make_image(1, 3, 4, 4), *destination = make_unorm8(1, 3, 4, 4);
    const struct glcnn_encode arguments = {.source = source, .destination = destination};
    REFUSED(INVALID, glcnn_kernel_encode(commands, slice, &arguments));
    CU_ASSERT_TRUE(says("destination_image is stored as unorm8"));
    CU_ASSERT_TRUE(says("float16 or float32"));
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&destination);
    glcnn_kernel_destroy(&slice);
    finish(&commands);
}

static void formats_that_are_none_are_refused(void)
{
    struct glcnn_image_descriptor descriptor = {.channel_format = (glcnn_channel_format)2};
    float one = 1;
    const struct glcnn_array source = {"source_image", 1, {1}, &one};
    struct glcnn_array *outputs;
    size_t count;
    char error[GLCNN_ERROR_LENGTH];
    glcnn_image *image = NULL;
    REFUSED(INVALID, glcnn_image_create(device, &descriptor, &image));
    CU_ASSERT_TRUE(says("unorm8 (1)"));
    CU_ASSERT_EQUAL(glcnn_run(device, "slice", NULL, 0, &source, 1,
                              &(struct glcnn_run_options){GLCNN_CHANNEL_FORMAT_UNORM8, false},
                              &outputs, &count, error),
                    INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "slice: format 1 is neither float32 (4) nor float16 (3)"));
}

/* Pictures are a graph's sources as they are; a node's result is none of them. */
static void a_graph_reads_them(void)
{
    static const uint8_t bytes[4] = {0, 51, 102, 255};
    glcnn_network *network = NULL;
    glcnn_graph *graph = NULL;
    glcnn_image *image = make_unorm8(1, 1, 2, 2);
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_image_node_create(network, "x");
    glcnn_image_node *y = glcnn_node(x, "neuron", "neuron_type=linear neuron_a=2 neuron_b=-1");
    const struct glcnn_graph_descriptor descriptor = {.results = &y, .result_count = 1};
    GOOD(glcnn_image_write_bytes(image, NULL, bytes, sizeof bytes));
    GOOD_FATAL(glcnn_graph_create(network, &descriptor, &graph));
    GOOD_FATAL(glcnn_graph_execute(graph, &image, NULL, NULL));
    GOOD(glcnn_graph_wait(graph));
    check_floats(glcnn_graph_image(graph, y), (const float[]){-1, -0.6f, -0.2f, 1}, 4, 1e-6);
    glcnn_graph_destroy(&graph);
    glcnn_image_node_set_format(y, GLCNN_CHANNEL_FORMAT_UNORM8);
    GOOD_FATAL(glcnn_graph_create(network, &descriptor, &graph));
    REFUSED(INVALID, glcnn_graph_execute(graph, &image, NULL, NULL));
    CU_ASSERT_TRUE(says("stored as unorm8"));
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
    glcnn_image_destroy(&image);
}

static void values_are_rounded_to_bytes(void)
{
    CU_ASSERT_EQUAL(byte_of_unit(-1), 0);
    CU_ASSERT_EQUAL(byte_of_unit(0.5f), 128);
    CU_ASSERT_EQUAL(byte_of_unit(2), 255);
    CU_ASSERT_EQUAL(byte_of_unit(NAN), 0);
    for (int i = 0; i < 256; i++)
        CU_ASSERT_EQUAL(byte_of_unit((float)i / 255), i);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(every_byte_is_its_255th),
        UNIT_TEST(recorded_transfers_take_bytes),
        UNIT_TEST(a_quarter_of_the_memory),
        UNIT_TEST(temporary_images_take_bytes),
        UNIT_TEST(no_kernel_writes_them),
        UNIT_TEST(formats_that_are_none_are_refused),
        UNIT_TEST(a_graph_reads_them),
        UNIT_TEST(values_are_rounded_to_bytes),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("unorm8", tests, argc, argv);
}
