/* Frames of cameras: the eight colour bars in every format, frames as they lie in memory, and what
 * is refused. That results are the reference's is test_kernels' part, and PyTorch's test_golden's. */
#include "glcnn/kernels/frame.h"

#include <math.h>

#include "tests/fixture.h"

#define INVALID GLCNN_INVALID_ARGUMENT
#define BARS    8

/* White, yellow, cyan, green, magenta, red, blue, black. */
static const int bars[BARS][3] = {{1, 1, 1}, {1, 1, 0}, {0, 1, 1}, {0, 1, 0},
                                  {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}};

/* Their bytes Y', Cb, Cr in the tables of BT.601 and BT.709, limited and full range. */
static const uint8_t bytes[2][2][BARS][3] = {{{{235, 128, 128},
                                               {210, 16, 146},
                                               {170, 166, 16},
                                               {145, 54, 34},
                                               {106, 202, 222},
                                               {81, 90, 240},
                                               {41, 240, 110},
                                               {16, 128, 128}},
                                              {{255, 128, 128},
                                               {226, 0, 149},
                                               {179, 171, 0},
                                               {150, 44, 21},
                                               {105, 212, 235},
                                               {76, 85, 255},
                                               {29, 255, 107},
                                               {0, 128, 128}}},
                                             {{{235, 128, 128},
                                               {219, 16, 138},
                                               {188, 154, 16},
                                               {173, 42, 26},
                                               {78, 214, 230},
                                               {63, 102, 240},
                                               {32, 240, 118},
                                               {16, 128, 128}},
                                              {{255, 128, 128},
                                               {237, 0, 140},
                                               {201, 157, 0},
                                               {182, 30, 12},
                                               {73, 226, 244},
                                               {54, 99, 255},
                                               {18, 255, 116},
                                               {0, 128, 128}}}};

static bool says(const char *text)
{
    return strstr(glcnn_device_error(device), text) != NULL;
}

static glcnn_image *frame_of(uint32_t channels, uint32_t height, uint32_t width,
                             const uint8_t *values)
{
    glcnn_image *image =
        make_image_of(device, GLCNN_CHANNEL_FORMAT_UNORM8, 1, channels, height, width);
    GOOD(glcnn_image_write_bytes(image, NULL, values, (size_t)channels * height * width));
    return image;
}

/* The caller frees the values, [3][height][width]; takes the images over. */
static float *converted(const char *name, const char *settings, glcnn_image *source,
                        glcnn_image *chroma)
{
    glcnn_kernel *kernel = kernel_with(name, settings);
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *result =
        result_of(kernel, &(struct glcnn_encode){.source = source, .secondary = chroma}, NULL);
    float *values = read_image(result);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&chroma);
    glcnn_kernel_destroy(&kernel);
    return values;
}

/* Bars of two columns and two rows; bytes of luma and chroma are within half a step of the colour,
 * which makes up to 1.8 steps of blue. */
static void check_bars(float *values, double tolerance)
{
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 2 * BARS; x++)
                CU_ASSERT_DOUBLE_EQUAL((double)values[(c * 2 + y) * 2 * BARS + x], bars[x / 2][c],
                                       tolerance);
    free(values);
}

static void check_nv12_bars(const uint8_t bar[BARS][3], const char *settings)
{
    uint8_t luma[2][2 * BARS], chroma[BARS][2];
    for (int x = 0; x < 2 * BARS; x++) {
        luma[0][x] = luma[1][x] = bar[x / 2][0];
        chroma[x / 2][0] = bar[x / 2][1];
        chroma[x / 2][1] = bar[x / 2][2];
    }
    check_bars(converted("frame_nv12", settings, frame_of(1, 2, 2 * BARS, luma[0]),
                         frame_of(2, 1, BARS, chroma[0])),
               2 / 255.0);
}

static void check_yuyv_bars(const uint8_t bar[BARS][3], const char *settings)
{
    uint8_t frame[2][2 * BARS][2];
    for (int x = 0; x < 2 * BARS; x++) {
        frame[0][x][0] = frame[1][x][0] = bar[x / 2][0];
        frame[0][x][1] = frame[1][x][1] = bar[x / 2][1 + x % 2];
    }
    check_bars(converted("frame_yuyv", settings, frame_of(2, 2, 2 * BARS, frame[0][0]), NULL),
               2 / 255.0);
}

static void colour_bars_are_their_colours(void)
{
    static const char *const settings[2][2] = {
        {"color_matrix=bt601", "color_matrix=bt601 color_range=full"},
        {"color_matrix=bt709 color_range=limited", "color_matrix=bt709 color_range=full"}};
    for (int matrix = 0; matrix < 2; matrix++)
        for (int range = 0; range < 2; range++) {
            check_nv12_bars(bytes[matrix][range], settings[matrix][range]);
            check_yuyv_bars(bytes[matrix][range], settings[matrix][range]);
        }
}

/* Y' 100, Cb 150, Cr 90 of 255 by H.273's equations (38 to 40): R = Y + 2 (1 - kr) Cr,
 * B = Y + 2 (1 - kb) Cb and G = Y - 2 (1 - kb) kb / kg Cb - 2 (1 - kr) kr / kg Cr, where kr and kb are
 * 0.299 and 0.114 of BT.601, 0.2126 and 0.0722 of BT.709. */
static const struct {
    const char *settings;
    float rgb[3];
} one_colour[] = {
    {"color_matrix=bt601 color_range=limited", {0.14572236f, 0.47091066f, 0.55759736f}},
    {"color_matrix=bt601 color_range=full", {0.18323137f, 0.46888698f, 0.54503529f}},
    {"color_matrix=bt709 color_range=limited", {0.11640807f, 0.44457766f, 0.56580807f}},
    {"color_matrix=bt709 color_range=full", {0.15748078f, 0.44575525f, 0.55224784f}}};

static void check_colour(float *values, const float rgb[3])
{
    for (int i = 0; i < 6; i++)
        CU_ASSERT_DOUBLE_EQUAL((double)values[i], (double)rgb[i / 2], 1e-6);
    free(values);
}

static void a_colour_has_the_digits_of_its_matrix(void)
{
    static const uint8_t luma[2] = {100, 100}, chroma[2] = {150, 90}, both[4] = {100, 150, 100, 90};
    for (size_t i = 0; i < sizeof one_colour / sizeof *one_colour; i++) {
        const char *settings = one_colour[i].settings;
        check_colour(
            converted("frame_nv12", settings, frame_of(1, 1, 2, luma), frame_of(2, 1, 1, chroma)),
            one_colour[i].rgb);
        check_colour(converted("frame_yuyv", settings, frame_of(2, 1, 2, both), NULL),
                     one_colour[i].rgb);
    }
}

/* As B, G, R and a byte that says nothing, of limited range. */
static void bars_of_rgb_are_exact(void)
{
    uint8_t frame[2][2 * BARS][4];
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2 * BARS; x++) {
            for (int c = 0; c < 3; c++)
                frame[y][x][2 - c] = bars[x / 2][c] ? 235 : 16;
            frame[y][x][3] = (uint8_t)(17 * x);
        }
    check_bars(converted("frame_rgb", "swapped=true color_range=limited",
                         frame_of(4, 2, 2 * BARS, frame[0][0]), NULL),
               1e-6);
}

/* Pixels of a crop of 4x2 in a frame of 6x3, as the mean of pairs. */
static void a_crop_shrinks_to_means(void)
{
    uint8_t frame[3 * 6 * 3];
    for (int i = 0; i < 3 * 6 * 3; i++)
        frame[i] = (uint8_t)(i * 4);
    float *values = converted("frame_rgb", "crop_x=1 crop_y=1 crop_width=4 resized_width=2",
                              frame_of(3, 3, 6, frame), NULL);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 2; x++) {
                const uint8_t *first = &frame[((1 + y) * 6 + 1 + 2 * x) * 3 + c];
                CU_ASSERT_DOUBLE_EQUAL((double)values[(c * 2 + y) * 2 + x],
                                       (first[0] + first[3]) / 510.0, 1e-6);
            }
    free(values);
}

/* Of float images, which may hold them: where a result reads one, and nowhere else. */
static void a_nan_stays_one(void)
{
    const float frame[4][4] = {{NAN, 0, 0, 0}, {0, 0, 0, 0.5f}, {0, 0, 0, 0}, {NAN, NAN, 0, NAN}};
    float *values = converted("frame_rgb", "", image_with(1, 4, 1, 4, frame[0]), NULL);
    CU_ASSERT(isnan(values[0]) && !isnan(values[1]) && !isnan(values[4]));
    CU_ASSERT_EQUAL(values[7], 0.5f);
    free(values);
}

/* ---- Nodes ---- */

static void a_node_feeds_a_graph(void)
{
    const struct glcnn_frame_parameters half = {.resized_width = 1, .resized_height = 1};
    static const uint8_t luma[2][2] = {{16, 16}, {235, 235}}, chroma[2] = {128, 128};
    glcnn_network *network = NULL;
    glcnn_graph *graph = NULL;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_frame_nv12_node(glcnn_image_node_create(network, "luma"),
                                                glcnn_image_node_create(network, "chroma"), &half);
    GOOD_FATAL(glcnn_graph_create(
        network, &(struct glcnn_graph_descriptor){.results = &x, .result_count = 1}, &graph));
    glcnn_image *sources[] = {frame_of(1, 2, 2, luma[0]), frame_of(2, 1, 1, chroma)};
    GOOD(glcnn_graph_execute(graph, sources, NULL, NULL));
    check_floats(glcnn_graph_image(graph, x), (const float[]){0.5f, 0.5f, 0.5f}, 3, 1e-6);
    glcnn_image_destroy(&sources[0]);
    glcnn_image_destroy(&sources[1]);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
}

/* ---- Refusals ---- */

static void refuse(const char *name, const char *settings, glcnn_image *source, glcnn_image *chroma,
                   const char *message)
{
    glcnn_kernel *kernel = kernel_with(name, settings);
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *result = NULL;
    REFUSED(INVALID,
            glcnn_kernel_encode_returning(
                commands, kernel, &(struct glcnn_encode){.source = source, .secondary = chroma},
                &result, NULL));
    CU_ASSERT_TRUE(says(message));
    if (!says(message))
        fprintf(stderr, "\nexpected \"%s\" in: %s\n", message, glcnn_device_error(device));
    CU_ASSERT_PTR_NULL(result);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&chroma);
}

static void wrong_frames_are_refused(void)
{
    refuse("frame_rgb", "", make_image(1, 2, 4, 4), NULL, "has 2 channels; 3 or 4 are");
    refuse("frame_yuyv", "", make_image(1, 3, 4, 4), NULL, "3 channels and 4 columns");
    refuse("frame_yuyv", "", make_image(1, 2, 4, 5), NULL, "an even number of columns");
    refuse("frame_nv12", "", make_image(1, 2, 4, 4), make_image(1, 2, 2, 2), "there must be 1");
    refuse("frame_nv12", "", make_image(1, 1, 4, 4), make_image(1, 1, 2, 2), "chroma_image 1;");
    refuse("frame_nv12", "", make_image(1, 1, 4, 6), make_image(1, 2, 2, 2),
           "chroma_image has 2x2");
    refuse("frame_nv12", "", make_image(1, 1, 4, 6), NULL, "chroma_image is NULL");
    refuse("frame_nv12", "", make_image(2, 1, 4, 6), make_image(1, 2, 2, 3), "images");
}

static void wrong_crops_are_refused(void)
{
    refuse("frame_rgb", "crop_x=4", make_image(1, 3, 4, 4), NULL, "0 columns from 4 on");
    refuse("frame_rgb", "crop_y=3 crop_height=2", make_image(1, 3, 4, 4), NULL,
           "the crop has 2 rows from 3 on; the frame has 4");
    refuse("frame_rgb", "crop_y=9 crop_height=1000", make_image(1, 3, 10, 4), NULL,
           "1000 rows from 9 on");
    refuse("frame_rgb", "resized_width=1", make_image(1, 3, 1, 65), NULL,
           "65 columns become 1; each may be of 64 at most");
}

static void wrong_parameters_are_refused(void)
{
    const struct glcnn_frame_parameters wrong = {.resized_width = 16385},
                                        unknown = {.matrix = (glcnn_color_matrix)2};
    glcnn_kernel *kernel = NULL;
    REFUSED(INVALID, glcnn_frame_rgb_create(device, NULL, &kernel));
    REFUSED(INVALID, glcnn_frame_yuyv_create(device, &wrong, &kernel));
    REFUSED(INVALID, glcnn_frame_nv12_create(device, &unknown, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    CU_ASSERT_PTR_NULL(glcnn_frame(NULL));
    GOOD_FATAL(glcnn_frame_rgb_create(device, &(struct glcnn_frame_parameters){0}, &kernel));
    CU_ASSERT_PTR_NOT_NULL(glcnn_frame(kernel));
    glcnn_kernel_destroy(&kernel);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(colour_bars_are_their_colours),
        UNIT_TEST(a_colour_has_the_digits_of_its_matrix),
        UNIT_TEST(bars_of_rgb_are_exact),
        UNIT_TEST(a_crop_shrinks_to_means),
        UNIT_TEST(a_nan_stays_one),
        UNIT_TEST(a_node_feeds_a_graph),
        UNIT_TEST(wrong_frames_are_refused),
        UNIT_TEST(wrong_crops_are_refused),
        UNIT_TEST(wrong_parameters_are_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("frame", tests, argc, argv);
}
