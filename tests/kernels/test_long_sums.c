/* Long sums against the double-precision references: what float32 loses when it adds one term to
 * another must stay within the bound, which is relative to the result. Terms are equal, so that
 * they round the same way over long stretches, and nothing cancels: the worst that there is.
 *
 * GLCNN_TEST_QUICK=1, for slow rasterisers, takes the first case. */
#include <math.h>

#include "tests/cases.h"

#define BROADCAST                                                                                  \
    "is_secondary_source_filter=1 secondary_stride_in_pixels_x=0 secondary_stride_in_pixels_y=0 "  \
    "secondary_stride_in_feature_channels=0"
#define THIRD 0.333333343
#define LAYER(INPUTS, OUTPUTS, SIZE)                                                               \
    "input_feature_channels=" #INPUTS " output_feature_channels=" #OUTPUTS " kernel_width=" #SIZE  \
    " kernel_height=" #SIZE
#define SQUARE "kernel_width=255 kernel_height=255 padding=valid"

/* The first input holds `first`, then `value` throughout, the second twice that and so on. */
static const struct {
    const char *kernel;
    struct check_case of;
    double value, first;
} sums[] = {
    {"soft_max", {"", {1, 21843, 1, 1}}, 0.1, 10},
    {"log_soft_max", {"", {1, 21843, 1, 1}}, 0.1, 0.1},
    {"soft_max_gradient", {"", {1, 8001, 1, 1}}, 0.1, 0.1},
    {"log_soft_max_gradient", {"", {1, 8001, 1, 1}}, 0.1, 0.1},
    {"loss", {"loss_type=soft_max_cross_entropy", {1, 8001, 1, 1}}, 0.1, 10},
    {"loss", {"loss_type=mean_squared_error reduction_type=sum", {1, 21843, 1, 1}}, 0.1, 0.1},
    {"loss", {"loss_type=mean_absolute_error reduction_type=mean", {1, 21843, 1, 1}}, 0.1, 0.1},
    {"reduce_feature_channels_sum", {"", {1, 21843, 1, 1}}, 0.1, 0.1},
    {"reduce_feature_channels_and_weights_sum", {"", {1, 21843, 1, 1}}, 0.1, 0.1},
    {"add_gradient", {BROADCAST, {1, 21843, 1, 1}, {1, 1, 1, 1}}, 0.1, 0.1},
    {"fully_connected", {LAYER(25088, 4, 1), {1, 25088, 1, 1}}, THIRD, THIRD},
    {"fully_connected", {LAYER(512, 4, 7), {2, 512, 7, 7}}, THIRD, THIRD},
    {"convolution", {LAYER(512, 4, 3), {1, 512, 7, 7}}, THIRD, THIRD},
    {"convolution", {LAYER(1, 1, 99) " padding=valid", {1, 1, 99, 99}}, THIRD, THIRD},
    {"fully_connected_gradient",
     {LAYER(4, 25088, 1) " gradient_option=data", {1, 4, 1, 1}},
     THIRD,
     THIRD},
    {"fully_connected_gradient",
     {LAYER(4, 4, 1) " gradient_option=weights_and_biases", {4096, 4, 1, 1}},
     THIRD,
     THIRD},
    {"convolution_gradient", {LAYER(4, 4, 3), {4, 4, 112, 112}}, THIRD, THIRD},
    {"convolution_gradient",
     {LAYER(4, 512, 3) " gradient_option=data", {1, 4, 7, 7}},
     THIRD,
     THIRD},
    {"matrix_multiplication", {"", {1, 1, 1, 2048}, {1, 1, 2048, 1}}, THIRD, THIRD},
    {"reduce_row_sum", {"", {1, 1, 1, 2048}}, THIRD, THIRD},
    {"reduce_column_sum", {"", {1, 1, 2048, 1}}, THIRD, THIRD},
    {"strided_view_gradient", {"width=255 height=255 size_0=65025", {1, 1, 1, 1}}, 0.1, 0.1},
    {"gather_gradient", {"width=255 height=255", {1, 1, 1, 1}}, 0.1, 0.1},
    /* Fewer: llvmpipe ends the loops of an invocation at 65535 turns of all of them together. */
    {"crop_and_resize_bilinear_gradient",
     {"resize_width=180 resize_height=180", {1, 1, 1, 1}},
     0.1,
     0.1},
    {"crop_and_resize_bilinear_gradient", {"number_of_regions=10000", {1, 1, 1, 1}}, 0.1, 0.1},
    {"pooling_average", {SQUARE, {1, 1, 255, 255}}, 0.1, 0.1},
    {"pooling_l2_norm", {SQUARE, {1, 1, 255, 255}}, 0.1, 0.1},
    {"batch_normalization_statistics", {"", {1, 1, 255, 255}}, 0.1, 0.1},
    {"batch_normalization_statistics_gradient", {"", {1, 1, 255, 255}}, 0.1, 0.1},
    {"neuron_slope_gradient", {"neuron_type=prelu", {1, 1, 255, 255}}, -0.1, -0.1},
};
#define SUMS (sizeof sums / sizeof *sums)

static void fill(struct argument_map *map, double value, double first)
{
    for (size_t i = 0; i < map->count; i++)
        for (size_t k = 0;
             k < array_count(&map->arrays[i]) && strcmp(map->arrays[i].name, "indices") != 0; k++)
            map->arrays[i].data[k] = (double)(float)(value * (double)(i + 1));
    map->arrays[0].data[0] = (double)(float)first;
}

/* In units of the bound. */
static double error_of(size_t row, const struct glcnn_descriptor *d)
{
    struct argument_map map = {0};
    struct glcnn_setting settings[CHECK_SETTINGS];
    char error[GLCNN_ERROR_LENGTH] = "";
    double worst = 0;
    struct run run = {
        .format = GLCNN_CHANNEL_FORMAT_FLOAT32, .map = &map, .validation = {error, sizeof error}};
    CU_ASSERT_TRUE_FATAL(check_inputs(&run, d, &sums[row].of, 1, settings));
    fill(&map, sums[row].value, sums[row].first);
    CU_ASSERT_EQUAL_FATAL(check_run(cases_device(), d, &run, &worst), GLCNN_SUCCESS);
    argument_map_free(&map);
    return worst;
}

static void long_sums_stay_within_the_bound(void)
{
    for (size_t i = 0; i < (cases_quick() ? 1 : SUMS); i++) {
        const struct glcnn_descriptor *d = descriptor_find(sums[i].kernel);
        CU_ASSERT_PTR_NOT_NULL_FATAL(d);
        double error = error_of(i, d);
        CU_ASSERT(error <= 1);
        if (!(error <= 1))
            fprintf(stderr, "\n%s %s: the error is %g times its bound\n", d->name,
                    sums[i].of.settings, error);
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(long_sums_stay_within_the_bound),
                                        CU_TEST_INFO_NULL};
    return cases_main("long sums", tests, argc, argv);
}
