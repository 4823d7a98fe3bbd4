/* Padding of any size on each side: GLCNN_PADDING_CUSTOM. What a window reads of pixels that are added
 * is what it reads of an image that has them, and gradients follow. */
#include "tests/graphs.h"

enum { WIDTH = 7, HEIGHT = 6, CHANNELS = 3, OUTPUTS = 5 };

/* Pads in the order left, right, top, bottom, a window and its stride. */
struct form {
    struct glcnn_padding_pixels pad;
    uint32_t kernel_width, kernel_height, stride, dilation;
};

static const struct form forms[] = {
    {{2, 2, 2, 2}, 5, 4, 3, 1}, {{0, 3, 1, 0}, 3, 3, 1, 1},   {{1, 0, 0, 2}, 3, 2, 2, 2},
    {{4, 5, 6, 1}, 3, 3, 2, 1}, {{-1, 0, 2, -2}, 2, 3, 1, 1}, {{0, 0, 0, 0}, 7, 6, 1, 1},
};
enum { FORMS = sizeof forms / sizeof *forms };

static uint32_t result_size(int32_t before, int32_t after, uint32_t n, uint32_t window,
                            const struct form *f)
{
    int32_t reach = (int32_t)((window - 1) * f->dilation + 1);
    return (uint32_t)(((int32_t)n + before + after - reach) / (int32_t)f->stride + 1);
}

static glcnn_image_node *convolve(glcnn_network *net, const struct form *f)
{
    glcnn_image_node *x = glcnn_convolution_node(make_input(net, "image"),
                                                 &(struct glcnn_convolution_descriptor){
                                                     .kernel_width = f->kernel_width,
                                                     .kernel_height = f->kernel_height,
                                                     .input_feature_channels = CHANNELS,
                                                     .output_feature_channels = OUTPUTS,
                                                     .stride_in_pixels_x = f->stride,
                                                     .stride_in_pixels_y = f->stride,
                                                     .dilation_rate_x = f->dilation,
                                                     .dilation_rate_y = f->dilation,
                                                 },
                                                 NULL);
    set_weights(net, 7);
    return x;
}

/* The image with zeros around it, or without what is cut off. */
static glcnn_image *padded(const float *values, const struct glcnn_padding_pixels *pad)
{
    int32_t width = WIDTH + pad->left + pad->right, height = HEIGHT + pad->top + pad->bottom;
    float *wide = calloc((size_t)(CHANNELS * width * height), sizeof *wide);
    for (int32_t c = 0; c < CHANNELS; c++)
        for (int32_t y = 0; y < height; y++)
            for (int32_t x = 0; x < width; x++) {
                int32_t sx = x - pad->left, sy = y - pad->top;
                if (sx >= 0 && sx < WIDTH && sy >= 0 && sy < HEIGHT)
                    wide[(c * height + y) * width + x] = values[(c * HEIGHT + sy) * WIDTH + sx];
            }
    glcnn_image *image = image_with(1, CHANNELS, (uint32_t)height, (uint32_t)width, wide);
    free(wide);
    return image;
}

static float *run_one(glcnn_image_node *result, glcnn_image *image)
{
    glcnn_graph *graph = graph_of(result);
    run_graph(graph, &image);
    float *values = result_values(graph, result);
    glcnn_graph_destroy(&graph);
    return values;
}

static void compare(const struct form *f)
{
    glcnn_network *custom = make_network(), *valid = make_network();
    glcnn_image *image = make_image(1, CHANNELS, HEIGHT, WIDTH);
    fill_noise(image, 3);
    float *values = read_image(image);
    glcnn_image_node *a = convolve(custom, f), *b = convolve(valid, f);
    GOOD(glcnn_filter_node_set_padding(filter_of(a), GLCNN_PADDING_CUSTOM));
    glcnn_kernel_properties(kernel_of(a))->pad = f->pad;
    GOOD(glcnn_filter_node_set_padding(filter_of(b), GLCNN_PADDING_ALIGN_BOTTOM_RIGHT |
                                                         GLCNN_PADDING_SIZE_VALID_ONLY));
    glcnn_image *wide = padded(values, &f->pad);
    float *found = run_one(a, image), *expected = run_one(b, wide);
    size_t count = (size_t)OUTPUTS *
                   result_size(f->pad.left, f->pad.right, WIDTH, f->kernel_width, f) *
                   result_size(f->pad.top, f->pad.bottom, HEIGHT, f->kernel_height, f);
    CU_ASSERT_TRUE(arrays_near(found, expected, count, 1e-5));
    free(values);
    free(found);
    free(expected);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&wide);
    glcnn_network_destroy(&custom);
    glcnn_network_destroy(&valid);
}

static void a_convolution_sees_what_is_added(void)
{
    for (size_t i = 0; i < FORMS; i++)
        compare(&forms[i]);
}

/* Sizes and taps of a transposed convolution whose result has pixels fewer, or more. */
static void a_transpose_is_the_other_way(void)
{
    glcnn_kernel *kernel = kernel_with(
        "convolution_transpose",
        "kernel_width=3 kernel_height=4 output_feature_channels=1 input_feature_channels=1 "
        "stride_in_pixels_x=2 stride_in_pixels_y=3 padding=custom pad_left=1 pad_right=0 "
        "pad_top=2 pad_bottom=-1");
    float weights[12];
    for (int i = 0; i < 12; i++)
        weights[i] = (float)(i + 1);
    GOOD(glcnn_kernel_set_vector(kernel, "weights", weights, 12));
    glcnn_image *source = image_with(1, 1, 2, 2, (const float[]){1, 0, 0, 0});
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *result = result_of(kernel, &(struct glcnn_encode){.source = source}, NULL);
    const struct glcnn_image_descriptor *d = glcnn_image_get_descriptor(result);
    CU_ASSERT_EQUAL(d->width, (2 - 1) * 2 + 3 - 1);
    CU_ASSERT_EQUAL(d->height, (2 - 1) * 3 + 4 - 2 + 1);
    float *values = read_image(result);
    /* Source pixel 0 lies at column -1 + q, row -2 + p, by weights turned about. */
    CU_ASSERT_DOUBLE_EQUAL(values[0], 5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(values[1], 4, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(values[2], 0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(values[d->width], 2, 1e-6);
    free(values);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
}

static void what_leaves_no_window_is_refused(void)
{
    glcnn_kernel *kernel = kernel_with("pooling_max", "kernel_width=3 kernel_height=3 "
                                                      "padding=custom pad_left=-3 pad_right=-2");
    glcnn_image *source = make_image(1, 1, HEIGHT, WIDTH);
    struct glcnn_image_descriptor result;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_prepare_destination(
                                        kernel, &(struct glcnn_encode){.source = source}, &result));
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&kernel);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(a_convolution_sees_what_is_added), UNIT_TEST(a_transpose_is_the_other_way),
        UNIT_TEST(what_leaves_no_window_is_refused), CU_TEST_INFO_NULL};
    return fixture_run("padding", tests, argc, argv);
}
