/* The shapes of glcnn bench. Each kernel stands in one of them at least (tests/test_bench.sh). The
 * first is the copy. */
#include "bench.h"

const char *const bench_part_names[BENCH_PARTS] = {"forward", "gradient", "data", "weights"};

/* Larger than any cache: what is measured is memory. */
#define LARGE                                                                                      \
    {                                                                                              \
        64, 64, 112, 112                                                                           \
    }
#define HALF                                                                                       \
    {                                                                                              \
        64, 64, 56, 56                                                                             \
    }
/* 10 million elements. */
#define VECTOR                                                                                     \
    {                                                                                              \
        64, 1, 1, 156250                                                                           \
    }

#define WINDOW_3 "kernel_width=3 kernel_height=3 stride_in_pixels_x=2 stride_in_pixels_y=2"
#define WINDOW_2 "kernel_width=2 kernel_height=2 stride_in_pixels_x=2 stride_in_pixels_y=2"
#define AROUND_5 "kernel_width=5 kernel_height=5 alpha=0.0001 beta=0.75 delta=1"
#define TWICE    "scale_factor_x=2 scale_factor_y=2"

#define CHANNELS(inputs, outputs)                                                                  \
    "input_feature_channels=" #inputs " output_feature_channels=" #outputs
#define SQUARE(size)   " kernel_width=" #size " kernel_height=" #size
#define STRIDE(stride) " stride_in_pixels_x=" #stride " stride_in_pixels_y=" #stride

#define CONVOLUTION(name, settings, ...)                                                           \
    {                                                                                              \
        name, "convolution", "convolution_gradient", settings, __VA_ARGS__, BENCH_READS_SOURCE     \
    }
#define PAIR(name, kernel, settings, flags)                                                        \
    {                                                                                              \
        name, kernel, kernel "_gradient", settings, LARGE, flags                                   \
    }
#define WIDE(name, kernel, flags)                                                                  \
    {                                                                                              \
        name, kernel, kernel "_gradient", "kernel_width=13 kernel_height=13", HALF, flags          \
    }
#define ALONE(name, kernel, settings)                                                              \
    {                                                                                              \
        name, kernel, NULL, settings, LARGE                                                        \
    }
/* Of a camera: 720 rows. */
#define FRAME(name, kernel, channels)                                                              \
    {                                                                                              \
        name, kernel, NULL, "resized_width=224 resized_height=224",                                \
        {                                                                                          \
            16, channels, 720, 1280                                                                \
        }                                                                                          \
    }

const struct bench_shape bench_shapes[] = {
    {"copy", "slice", NULL, "", LARGE, BENCH_SETS_RATE},

    PAIR("max pooling 2x2 s2", "pooling_max", WINDOW_2, BENCH_READS_SOURCE),
    PAIR("max pooling 3x3 s2", "pooling_max", WINDOW_3, BENCH_READS_SOURCE),
    PAIR("average pooling 2x2 s2", "pooling_average", WINDOW_2, 0),
    PAIR("average pooling 3x3 s2", "pooling_average", WINDOW_3, 0),
    PAIR("L2 pooling 2x2 s2", "pooling_l2_norm", WINDOW_2, BENCH_READS_SOURCE),
    PAIR("L2 pooling 3x3 s2", "pooling_l2_norm", WINDOW_3, BENCH_READS_SOURCE),
    PAIR("dilated max pooling 3x3 d2", "dilated_pooling_max",
         "kernel_width=3 kernel_height=3 dilation_rate_x=2 dilation_rate_y=2", BENCH_READS_SOURCE),
    WIDE("max pooling 13x13", "pooling_max", BENCH_READS_SOURCE),
    WIDE("average pooling 13x13", "pooling_average", 0),
    WIDE("L2 pooling 13x13", "pooling_l2_norm", BENCH_READS_SOURCE),
    {"global average pooling", "pooling_average", "pooling_average_gradient",
     "kernel_width=56 kernel_height=56 stride_in_pixels_x=56 stride_in_pixels_y=56", HALF},

    PAIR("relu", "neuron", "neuron_type=relu", BENCH_READS_SOURCE | BENCH_SETS_RATE),
    PAIR("sigmoid", "neuron", "neuron_type=sigmoid", BENCH_READS_SOURCE),
    {"prelu slopes", "neuron", "neuron_slope_gradient", "neuron_type=prelu", LARGE,
     BENCH_READS_SOURCE},
    PAIR("add", "add", "", BENCH_SETS_RATE),
    PAIR("subtract", "subtract", "", 0),
    PAIR("multiply", "multiply", "", BENCH_READS_SOURCE),
    PAIR("divide", "divide", "", BENCH_READS_SOURCE),
    PAIR("maximum", "maximum", "", 0),
    PAIR("minimum", "minimum", "", 0),
    PAIR("power", "power", "", BENCH_READS_SOURCE | BENCH_POSITIVE),
    PAIR("dropout", "dropout", "", 0),
    ALONE("augmentation of places", "augment_geometry",
          "flip_horizontal=true shift=4 rotation=15 scale=0.1"),
    ALONE("augmentation of colours", "augment_color",
          "brightness=0.2 contrast=0.2 noise=0.05 cutout=8"),
    ALONE("normalisation of pictures", "image_normalization", ""),
    FRAME("frame of RGB to 224", "frame_rgb", 3),
    FRAME("frame of YUYV to 224", "frame_yuyv", 2),
    FRAME("frame of NV12 to 224", "frame_nv12", 1),
    PAIR("soft-max", "soft_max", "", BENCH_TAKES_RESULT),
    PAIR("log-soft-max", "log_soft_max", "", BENCH_TAKES_RESULT),
    {"loss soft-max cross entropy",
     "loss",
     NULL,
     "loss_type=soft_max_cross_entropy reduction_type=sum",
     {4096, 1000, 1, 1}},

    {"batch norm", "batch_normalization_statistics batch_normalization",
     "batch_normalization_statistics_gradient batch_normalization_gradient", "", LARGE,
     BENCH_READS_SOURCE},
    {"batch norm running averages",
     "batch_normalization_running_statistics",
     NULL,
     "samples=100",
     {64, 64, 1, 1}},
    PAIR("instance norm", "instance_normalization", "", BENCH_READS_SOURCE),
    PAIR("LRN 5", "cross_channel_normalization", "kernel_size=5 alpha=0.0001 beta=0.75 delta=1",
         BENCH_READS_SOURCE),
    PAIR("spatial norm 5x5", "spatial_normalization", AROUND_5, BENCH_READS_SOURCE),
    PAIR("local contrast 5x5", "local_contrast_normalization",
         "kernel_width=5 kernel_height=5 alpha=1 beta=0.5 delta=0.001", BENCH_READS_SOURCE),

    {"bilinear upsampling 2x", "upsampling_bilinear", "upsampling_bilinear_gradient", TWICE, HALF},
    {"nearest upsampling 2x", "upsampling_nearest", "upsampling_nearest_gradient", TWICE, HALF},
    PAIR("slice", "slice", "", 0),
    PAIR("concatenation", "concatenation", "", 0),
    PAIR("reshape", "reshape", "reshaped_width=196 reshaped_height=64", 0),
    PAIR("pad 1", "pad", "left=1 right=1 top=1 bottom=1", 0),
    PAIR("channels joined", "axis_concatenation", "", 0),
    PAIR("matrix product 112", "matrix_multiplication", "", BENCH_READS_SOURCE),
    {"resize nearest 2x", "resize_nearest", "resize_nearest_gradient", "scale_x=2 scale_y=2", HALF},
    {"resize linear 2x", "resize_linear", "resize_linear_gradient", "scale_x=2 scale_y=2", HALF},
    PAIR("transpose", "transpose", "axis_order=hwc", 0),
    PAIR("depth to space 2", "depth_to_space", "block_size=2", 0),
    PAIR("space to depth 2", "space_to_depth", "block_size=2", 0),
    PAIR("channel shuffle 4", "channel_shuffle", "groups=4", 0),
    PAIR("strided slice s2", "strided_slice", "step_x=2 step_y=2", 0),
    PAIR("row sum", "reduce_row_sum", "", 0),
    PAIR("row mean", "reduce_row_mean", "", 0),
    ALONE("row maximum", "reduce_row_max", ""),
    ALONE("row minimum", "reduce_row_min", ""),
    PAIR("column sum", "reduce_column_sum", "", 0),
    PAIR("column mean", "reduce_column_mean", "", 0),
    ALONE("column maximum", "reduce_column_max", ""),
    ALONE("column minimum", "reduce_column_min", ""),
    PAIR("channel sum", "reduce_feature_channels_sum", "", 0),
    PAIR("channel mean", "reduce_feature_channels_mean", "", 0),
    ALONE("channel maximum", "reduce_feature_channels_max", ""),
    ALONE("channel minimum", "reduce_feature_channels_min", ""),
    ALONE("channel argument of the maximum", "reduce_feature_channels_argument_max", ""),
    ALONE("channel argument of the minimum", "reduce_feature_channels_argument_min", ""),
    ALONE("weighted channel sum", "reduce_feature_channels_and_weights_sum", ""),
    ALONE("weighted channel mean", "reduce_feature_channels_and_weights_mean", ""),

    CONVOLUTION("convolution 64-64 3x3 56", CHANNELS(64, 64) SQUARE(3), HALF),
    CONVOLUTION("convolution 64-128 3x3 s2 56", CHANNELS(64, 128) SQUARE(3) STRIDE(2), HALF),
    CONVOLUTION("convolution 256-256 3x3 14", CHANNELS(256, 256) SQUARE(3), {64, 256, 14, 14}),
    CONVOLUTION("convolution 64-256 1x1 56", CHANNELS(64, 256), HALF),
    CONVOLUTION("convolution 256-64 1x1 56", CHANNELS(256, 64), {64, 256, 56, 56}),
    CONVOLUTION("convolution 512-512 3x3 7", CHANNELS(512, 512) SQUARE(3), {64, 512, 7, 7}),
    CONVOLUTION("convolution depth-wise 64 3x3 112", CHANNELS(64, 64) SQUARE(3) " groups=64",
                LARGE),
    CONVOLUTION("convolution 3-64 7x7 s2 224", CHANNELS(3, 64) SQUARE(7) STRIDE(2),
                {64, 3, 224, 224}),
    CONVOLUTION("convolution 3-64 3x3 112", CHANNELS(3, 64) SQUARE(3), {64, 3, 112, 112}),
    {"convolution transpose 64-64 2x2 s2 28",
     "convolution_transpose",
     "convolution_transpose_gradient",
     CHANNELS(64, 64) SQUARE(2) STRIDE(2),
     {64, 64, 28, 28},
     BENCH_READS_SOURCE},
    {"fully connected 4096-4096",
     "fully_connected",
     "fully_connected_gradient",
     CHANNELS(4096, 4096),
     {64, 4096, 1, 1},
     BENCH_READS_SOURCE},

    {"gradient descent 10M", "optimizer_stochastic_gradient_descent", NULL, "", VECTOR, BENCH_BARE},
    {"gradient descent with momentum 10M", "optimizer_stochastic_gradient_descent", NULL,
     "momentum_scale=0.9", VECTOR},
    {"RMSProp 10M", "optimizer_rms_prop", NULL, "", VECTOR},
    {"Adam 10M", "optimizer_adam", NULL, "", VECTOR},
    {0}};

const struct bench_step bench_steps[] = {{"lenet", 64},
                                         {"lenet", 512, true},
                                         {"lenet", 4096, true},
                                         {"small", 64},
                                         {"small", 512, true},
                                         {"small", 4096, true},
                                         {"resnet8", 64},
                                         {"resnet8", 512, true},
                                         {"resnet8", 4096, true},
                                         {"mobilenet-tiny", 64},
                                         {"mobilenet-tiny", 512, true},
                                         {"mobilenet-tiny", 4096, true},
                                         {0}};
