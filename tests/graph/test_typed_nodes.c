/* Typed constructors of nodes: each makes the kernel that the string form makes, and refuses what
 * that refuses. */
#include "tests/fixture.h"

#include "graph/node.h"

static glcnn_network *network;
static glcnn_image_node *x, *y, *z;

static void begin(void)
{
    GOOD_FATAL(glcnn_network_create(device, &network));
    x = glcnn_image_node_create(network, "x");
    y = glcnn_image_node_create(network, "y");
    z = glcnn_image_node_create(network, "z");
}

static size_t count_filters(void)
{
    size_t count = 0;
    while (glcnn_network_filter(network, count))
        count++;
    return count;
}

/* ---- The same as by name ---- */

static bool was_made[256]; /* [registry] */

static void mark_made(const char *kernel)
{
    size_t i = 0;
    while (glcnn_registry[i] && strcmp(glcnn_registry[i]->name, kernel) != 0)
        i++;
    CU_ASSERT_FATAL(i < sizeof was_made / sizeof *was_made && glcnn_registry[i]);
    was_made[i] = true;
}

static void compare_parameters(glcnn_kernel *found, glcnn_kernel *expected, int line)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name(glcnn_kernel_name(expected));
    for (size_t i = 0; i < info->parameter_count; i++) {
        double a = -1, b = -2;
        GOOD(glcnn_kernel_get(found, info->parameters[i].name, &a));
        GOOD(glcnn_kernel_get(expected, info->parameters[i].name, &b));
        CU_ASSERT_EQUAL(a, b);
        if (a != b)
            fprintf(stderr, "\n  line %d: %s of %s is %g, and %g by name\n", line,
                    info->parameters[i].name, info->name, a, b);
    }
    for (size_t i = 0; i < info->argument_count; i++)
        CU_ASSERT_EQUAL(glcnn_kernel_has_vector(found, info->arguments[i].name),
                        glcnn_kernel_has_vector(expected, info->arguments[i].name));
}

static void check_same(glcnn_filter_node *typed, const char *kernel, const char *settings, int line)
{
    glcnn_image_node *sources[3] = {NULL};
    GOOD_FATAL(glcnn_network_status(network));
    CU_ASSERT_PTR_NOT_NULL_FATAL(typed);
    CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(glcnn_filter_node_kernel(typed)), kernel);
    size_t count = glcnn_filter_node_source_count(typed);
    for (size_t i = 0; i < count; i++)
        sources[i] = glcnn_filter_node_source(typed, i);
    CU_ASSERT_PTR_EQUAL(sources[0], x);
    CU_ASSERT(count < 2 || sources[1] == y);
    CU_ASSERT(count < 3 || sources[2] == z);
    glcnn_filter_node *named = glcnn_filter_node_create(network, kernel, settings, sources, count);
    GOOD_FATAL(glcnn_network_status(network));
    compare_parameters(glcnn_filter_node_kernel(typed), glcnn_filter_node_kernel(named), line);
    mark_made(kernel);
}

#define SAME_FILTER(KERNEL, SETTINGS, NODE) check_same(NODE, KERNEL, SETTINGS, __LINE__)
#define SAME(KERNEL, SETTINGS, NODE)        SAME_FILTER(KERNEL, SETTINGS, glcnn_image_node_filter(NODE))

#define WINDOW "kernel_width=3 kernel_height=2 "
#define STRIDE "stride_in_pixels_x=4 stride_in_pixels_y=5 "

static void check_windows(void)
{
    SAME("pooling_average", WINDOW STRIDE, glcnn_pooling_average_node(x, 3, 2, 4, 5));
    SAME("pooling_l2_norm", WINDOW STRIDE, glcnn_pooling_l2_norm_node(x, 3, 2, 4, 5));
    SAME("pooling_max", WINDOW STRIDE, glcnn_pooling_max_node(x, 3, 2, 4, 5));
    SAME("dilated_pooling_max", WINDOW STRIDE "dilation_rate_x=6 dilation_rate_y=7",
         glcnn_dilated_pooling_max_node(x, 3, 2, 4, 5, 6, 7));
    SAME("spatial_normalization", WINDOW, glcnn_spatial_normalization_node(x, 3, 2));
    SAME("local_contrast_normalization", WINDOW, glcnn_local_contrast_normalization_node(x, 3, 2));
    SAME("spatial_normalization", NULL, glcnn_spatial_normalization_node(x, 5, 5));
    SAME("local_contrast_normalization", NULL, glcnn_local_contrast_normalization_node(x, 5, 5));
    SAME("cross_channel_normalization", NULL, glcnn_cross_channel_normalization_node(x, 5));
    SAME("cross_channel_normalization", "kernel_size=9",
         glcnn_cross_channel_normalization_node(x, 9));
    SAME("upsampling_nearest", "scale_factor_x=2 scale_factor_y=3",
         glcnn_upsampling_nearest_node(x, 2, 3));
    SAME("upsampling_bilinear", "scale_factor_x=2 scale_factor_y=3 align_corners=true",
         glcnn_upsampling_bilinear_node(x, 2, 3, true));
}

#define CHANNELS "input_feature_channels=6 output_feature_channels=8 "

static void check_layers(void)
{
    const struct glcnn_neuron_descriptor relu = {.type = GLCNN_NEURON_TYPE_RELU, .a = 0.25f};
    const struct glcnn_convolution_descriptor few = {.kernel_width = 3,
                                                     .kernel_height = 2,
                                                     .input_feature_channels = 6,
                                                     .output_feature_channels = 8};
    const struct glcnn_convolution_descriptor all = {.kernel_width = 3,
                                                     .kernel_height = 2,
                                                     .input_feature_channels = 6,
                                                     .output_feature_channels = 8,
                                                     .stride_in_pixels_x = 4,
                                                     .stride_in_pixels_y = 5,
                                                     .dilation_rate_x = 6,
                                                     .dilation_rate_y = 7,
                                                     .groups = 2,
                                                     .neuron = relu};
    const char *every = WINDOW STRIDE CHANNELS
        "dilation_rate_x=6 dilation_rate_y=7 groups=2 neuron_type=relu neuron_a=0.25";
    SAME("convolution", WINDOW CHANNELS, glcnn_convolution_node(x, &few, NULL));
    SAME("convolution", every, glcnn_convolution_node(x, &all, NULL));
    SAME("convolution_transpose", every, glcnn_convolution_transpose_node(x, &all, NULL));
    SAME("fully_connected", WINDOW CHANNELS, glcnn_fully_connected_node(x, &few, NULL));
    SAME("batch_normalization", NULL, glcnn_batch_normalization_node(x, 0, NULL, NULL));
    SAME("batch_normalization", "epsilon=0.125 neuron_type=relu neuron_a=0.25",
         glcnn_batch_normalization_node(x, 0.125f, &relu, NULL));
    SAME("instance_normalization", NULL, glcnn_instance_normalization_node(x, 0, NULL));
    SAME("instance_normalization", "epsilon=0.125",
         glcnn_instance_normalization_node(x, 0.125f, NULL));
}

static void check_arithmetic(void)
{
    SAME("add", NULL, glcnn_add_node(x, y));
    SAME("subtract", NULL, glcnn_subtract_node(x, y));
    SAME("multiply", NULL, glcnn_multiply_node(x, y));
    SAME("divide", NULL, glcnn_divide_node(x, y));
    SAME("maximum", NULL, glcnn_maximum_node(x, y));
    SAME("minimum", NULL, glcnn_minimum_node(x, y));
    SAME("power", NULL, glcnn_power_node(x, y));
    SAME("matrix_multiplication", NULL, glcnn_matrix_multiplication_node(x, y));
}

static void check_places(void)
{
    glcnn_image_node *const all[] = {x, y, z};
    SAME("concatenation", NULL, glcnn_concatenation_node(all, 3));
    SAME("slice", "source_feature_channel_offset=8 source_feature_channel_max_count=3",
         glcnn_slice_node(x, 8, 3));
    SAME("reshape", "reshaped_width=2 reshaped_height=3 reshaped_feature_channels=4",
         glcnn_reshape_node(x, 2, 3, 4));
    SAME("pad", "left=1 right=2 top=3 bottom=4 front=5 back=6 pad_constant=0.5",
         glcnn_pad_node(
             x, &(struct glcnn_pad_parameters){1, 2, 3, 4, 5, 6, GLCNN_PAD_MODE_CONSTANT, 0.5f}));
    SAME("strided_slice", "start_x=1 start_channel=2 step_y=-2 size_x=3 size_channels=4",
         glcnn_strided_slice_node(
             x,
             &(struct glcnn_strided_slice_parameters){
                 .start_x = 1, .start_channel = 2, .step_y = -2, .size_x = 3, .size_channels = 4}));
    SAME("axis_concatenation", "axis=columns",
         glcnn_axis_concatenation_node(all, 2, GLCNN_AXIS_COLUMNS));
    const struct glcnn_resize_parameters size = {.resized_width = 7,
                                                 .scale_y = 0.5f,
                                                 .position = GLCNN_RESIZE_POSITION_ASYMMETRIC,
                                                 .rounding = GLCNN_RESIZE_ROUNDING_FLOOR};
    SAME("resize_nearest",
         "resized_width=7 scale_y=0.5 resize_position=asymmetric resize_rounding=floor",
         glcnn_resize_nearest_node(x, &size));
    SAME("resize_linear", "resized_width=7 scale_y=0.5 resize_position=asymmetric",
         glcnn_resize_linear_node(x, &size));
    SAME("transpose", "axis_order=hwc", glcnn_transpose_node(x, GLCNN_AXIS_ORDER_HWC));
    SAME("learned_image", "width=3 height=2 feature_channels=5",
         glcnn_learned_image_node(x, 3, 2, 5));
    SAME("gather", "width=3 height=2 feature_channels=5", glcnn_gather_node(x, 3, 2, 5, NULL, 0));
    SAME("crop_and_resize_bilinear", "resize_width=7 resize_height=5 number_of_regions=3",
         glcnn_crop_and_resize_bilinear_node(x, 7, 5, 3, NULL, 0));
    SAME("crop_and_resize_bilinear_regions", "resize_width=7 resize_height=5",
         glcnn_crop_and_resize_bilinear_regions_node(x, all[1], 7, 5));
    SAME("depth_to_space", "block_size=2 block_order=crd",
         glcnn_depth_to_space_node(x, 2, GLCNN_BLOCK_ORDER_CRD));
    SAME("space_to_depth", "block_size=3", glcnn_space_to_depth_node(x, 3, GLCNN_BLOCK_ORDER_DCR));
    SAME("channel_shuffle", "groups=4", glcnn_channel_shuffle_node(x, 4));
    SAME("strided_view", "width=6 height=2 size_1=2 size_3=6 stride_3=3",
         glcnn_strided_view_node(
             x, &(struct glcnn_strided_view_parameters){
                    .width = 6, .height = 2, .sizes = {0, 2, 0, 6}, .strides = {0, 0, 0, 3}}));
}

static void check_pictures(void)
{
    SAME("augment_geometry", "seed=3 flip_vertical=true shift=4 rotation=15 scale=0.25",
         glcnn_augment_geometry_node(
             x, y,
             &(struct glcnn_augment_geometry_parameters){
                 .seed = 3, .flip_vertical = true, .shift = 4, .rotation = 15, .scale = 0.25f}));
    SAME("augment_color", "seed=4 brightness=0.5 contrast=0.25 noise=0.125 cutout=8",
         glcnn_augment_color_node(
             x, y,
             &(struct glcnn_augment_color_parameters){
                 .seed = 4, .brightness = 0.5f, .contrast = 0.25f, .noise = 0.125f, .cutout = 8}));
    SAME("image_normalization", NULL, glcnn_image_normalization_node(x, NULL, NULL, 0));
    const struct glcnn_frame_parameters frame = {.crop_x = 1,
                                                 .crop_height = 2,
                                                 .resized_width = 3,
                                                 .matrix = GLCNN_COLOR_MATRIX_BT709,
                                                 .range = GLCNN_COLOR_RANGE_LIMITED,
                                                 .swapped = true};
    const char *framed = "crop_x=1 crop_height=2 resized_width=3 color_matrix=bt709 "
                         "color_range=limited swapped=true";
    SAME("frame_rgb", framed, glcnn_frame_rgb_node(x, &frame));
    SAME("frame_yuyv", framed, glcnn_frame_yuyv_node(x, &frame));
    SAME("frame_nv12", framed, glcnn_frame_nv12_node(x, y, &frame));
}

static void check_ends(void)
{
    SAME("soft_max", NULL, glcnn_soft_max_node(x));
    SAME("log_soft_max", NULL, glcnn_log_soft_max_node(x));
    SAME("dropout", NULL, glcnn_dropout_node(x, 0.5f, 0));
    SAME("dropout", "keep_probability=0.25 seed=12345", glcnn_dropout_node(x, 0.25f, 12345));
    SAME_FILTER("loss", "loss_type=hinge reduction_type=mean",
                glcnn_loss_node(x, y, NULL, GLCNN_LOSS_TYPE_HINGE, GLCNN_REDUCTION_TYPE_MEAN));
    SAME_FILTER("loss", "loss_type=huber reduction_type=sum",
                glcnn_loss_node(x, y, z, GLCNN_LOSS_TYPE_HUBER, GLCNN_REDUCTION_TYPE_SUM));
    SAME_FILTER("yolo_loss", "reduction_type=mean",
                glcnn_yolo_loss_node(x, y, z, NULL, 0, GLCNN_REDUCTION_TYPE_MEAN));
    SAME_FILTER("box_loss", "reduction_type=mean",
                glcnn_box_loss_node(x, y, z, GLCNN_REDUCTION_TYPE_MEAN));
    SAME("box_iou", NULL, glcnn_box_iou_node(x, y));
}

#define SAME_REDUCTION(NAME) SAME("reduce_" #NAME, NULL, glcnn_reduce_##NAME##_node(x))

static void check_reductions(void)
{
    SAME_REDUCTION(row_min);
    SAME_REDUCTION(row_max);
    SAME_REDUCTION(row_mean);
    SAME_REDUCTION(row_sum);
    SAME_REDUCTION(column_min);
    SAME_REDUCTION(column_max);
    SAME_REDUCTION(column_mean);
    SAME_REDUCTION(column_sum);
    SAME_REDUCTION(feature_channels_min);
    SAME_REDUCTION(feature_channels_max);
    SAME_REDUCTION(feature_channels_mean);
    SAME_REDUCTION(feature_channels_sum);
    SAME_REDUCTION(feature_channels_argument_min);
    SAME_REDUCTION(feature_channels_argument_max);
    SAME("reduce_feature_channels_and_weights_sum", NULL,
         glcnn_reduce_feature_channels_and_weights_sum_node(x, y));
    SAME("reduce_feature_channels_and_weights_mean", NULL,
         glcnn_reduce_feature_channels_and_weights_mean_node(x, y));
}

static void check_neurons(void)
{
    SAME("neuron", "neuron_type=relu neuron_a=0.5", glcnn_neuron_relu_node(x, 0.5f));
    SAME("neuron", "neuron_type=linear", glcnn_neuron_linear_node(x, 1, 0));
    SAME("neuron", "neuron_type=sigmoid", glcnn_neuron_sigmoid_node(x));
    SAME("neuron", "neuron_type=hard_sigmoid", glcnn_neuron_hard_sigmoid_node(x, 0.2f, 0.5f));
    SAME("neuron", "neuron_type=tanh neuron_b=3", glcnn_neuron_tanh_node(x, 1, 3));
    SAME("neuron", "neuron_type=absolute", glcnn_neuron_absolute_node(x));
    SAME("neuron", "neuron_type=soft_plus neuron_a=2", glcnn_neuron_soft_plus_node(x, 2, 1));
    SAME("neuron", "neuron_type=soft_sign", glcnn_neuron_soft_sign_node(x));
    SAME("neuron", "neuron_type=elu", glcnn_neuron_elu_node(x, 1));
    SAME("neuron", "neuron_type=prelu", glcnn_neuron_prelu_node(x, NULL, 0));
    SAME("neuron", "neuron_type=relun", glcnn_neuron_relun_node(x, 1, 6));
    SAME("neuron", "neuron_type=power neuron_c=3", glcnn_neuron_power_node(x, 1, 0, 3));
    SAME("neuron", "neuron_type=exponential", glcnn_neuron_exponential_node(x, 1, 0, -1));
    SAME("neuron", "neuron_type=logarithm neuron_b=2", glcnn_neuron_logarithm_node(x, 1, 2, -1));
    SAME("neuron", "neuron_type=gelu", glcnn_neuron_gelu_node(x));
    SAME("neuron", "neuron_type=swish neuron_a=2", glcnn_neuron_swish_node(x, 2));
    SAME("neuron", "neuron_type=clip neuron_a=-1 neuron_b=0.5",
         glcnn_neuron_clip_node(x, -1, 0.5f));
    SAME("neuron", "neuron_type=hard_swish neuron_a=0.25 neuron_b=0.125",
         glcnn_neuron_hard_swish_node(x, 0.25f, 0.125f));
    SAME("neuron", "neuron_type=gelu_tanh", glcnn_neuron_gelu_tanh_node(x));
    SAME("neuron", "neuron_type=mish", glcnn_neuron_mish_node(x));
    SAME("neuron", "neuron_type=selu neuron_a=2 neuron_b=3", glcnn_neuron_selu_node(x, 2, 3));
    SAME("neuron", "neuron_type=celu neuron_a=2", glcnn_neuron_celu_node(x, 2));
    SAME("neuron", "neuron_type=thresholded_relu neuron_a=0.5",
         glcnn_neuron_thresholded_relu_node(x, 0.5f));
    SAME("neuron", "neuron_type=erf", glcnn_neuron_erf_node(x));
    SAME("neuron", "neuron_type=floor", glcnn_neuron_floor_node(x));
    SAME("neuron", "neuron_type=ceiling", glcnn_neuron_ceiling_node(x));
    SAME("neuron", "neuron_type=round", glcnn_neuron_round_node(x));
    SAME("neuron", "neuron_type=sign", glcnn_neuron_sign_node(x));
    SAME("neuron", "neuron_type=scale", glcnn_neuron_scale_node(x, NULL, 0));
    SAME("neuron", "neuron_type=shift", glcnn_neuron_shift_node(x, NULL, 0));
}

/* Every type there is, with the numbers that a node starts from. */
static void check_neuron_types(void)
{
    const struct glcnn_kernel_info *info = glcnn_kernel_info_by_name("neuron");
    const struct glcnn_parameter_info *type = info->parameters;
    while (strcmp(type->name, "neuron_type") != 0)
        type++;
    for (int i = 0; type->value_names[i]; i++) {
        char settings[64];
        const struct glcnn_neuron_descriptor neuron =
            glcnn_neuron_descriptor_default((glcnn_neuron_type)i);
        snprintf(settings, sizeof settings, "neuron_type=%s", type->value_names[i]);
        SAME("neuron", settings, glcnn_neuron_node(x, &neuron));
    }
    SAME("neuron", NULL, glcnn_neuron_node(x, NULL));
}

static bool has_node(const struct glcnn_descriptor *d)
{
    return !(d->flags & (IS_GRADIENT | WITHOUT_PIXELS)) &&
           descriptor_place(d, PLACE_DESTINATION) >= 0;
}

static void test_typed_nodes_are_those_by_name(void)
{
    begin();
    memset(was_made, 0, sizeof was_made);
    check_windows();
    check_layers();
    check_arithmetic();
    check_places();
    check_pictures();
    check_ends();
    check_reductions();
    check_neurons();
    check_neuron_types();
    for (size_t i = 0; glcnn_registry[i]; i++) {
        CU_ASSERT_EQUAL(was_made[i], has_node(glcnn_registry[i]));
        if (was_made[i] != has_node(glcnn_registry[i]))
            fprintf(stderr, "\n  %s has no typed node here\n", glcnn_registry[i]->name);
    }
    glcnn_network_destroy(&network);
}

/* ---- Refusals ---- */

/* The network has failed with this message and has no filter; starts another. */
static void check_refused(const void *made, const char *phrase)
{
    CU_ASSERT_PTR_NULL(made);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_network_status(network));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), phrase));
    CU_ASSERT_EQUAL(count_filters(), 0);
    glcnn_network_destroy(&network);
    begin();
}

static void test_settings_out_of_range_are_refused(void)
{
    const struct glcnn_convolution_descriptor none = {0};
    const struct glcnn_neuron_descriptor unknown = {.type = GLCNN_NEURON_TYPE_FORCE32};
    const struct glcnn_neuron_descriptor baseless = {GLCNN_NEURON_TYPE_LOGARITHM, 1, 0, 1};
    const struct glcnn_neuron_descriptor infinite = {GLCNN_NEURON_TYPE_RELU, INFINITY, 0, 0};
    begin();
    check_refused(glcnn_pooling_max_node(x, 2, 2, 0, 2), "pooling_max: stride_in_pixels_x is 0");
    check_refused(glcnn_dilated_pooling_max_node(x, 2, 2, 1, 1, 1, 70000), "dilation_rate_y");
    check_refused(glcnn_spatial_normalization_node(x, 3, 0), "kernel_height is 0");
    check_refused(glcnn_cross_channel_normalization_node(x, 0), "kernel_size is 0");
    check_refused(glcnn_upsampling_nearest_node(x, 0, 2), "scale_factor_x is 0");
    check_refused(glcnn_convolution_node(x, &none, NULL), "0 input");
    check_refused(glcnn_convolution_node(x, NULL, NULL), "descriptor is NULL");
    check_refused(glcnn_batch_normalization_node(x, -1, NULL, NULL), "epsilon is -1");
    check_refused(glcnn_batch_normalization_node(x, 0, &unknown, NULL),
                  "neuron_type is 2147483647");
    check_refused(glcnn_neuron_node(x, &infinite), "neuron_a is inf");
    check_refused(glcnn_neuron_node(x, &baseless), "neuron_c is 1");
    check_refused(glcnn_neuron_exponential_node(x, 1, 0, -2), "neuron_c is -2");
    check_refused(glcnn_batch_normalization_node(x, 0, &baseless, NULL), "neuron_c is 1");
    check_refused(glcnn_dropout_node(x, 1, 0), "keep_probability is 1");
    check_refused(glcnn_augment_geometry_node(x, y, NULL), "parameters is NULL");
    check_refused(
        glcnn_augment_color_node(x, y, &(struct glcnn_augment_color_parameters){.noise = 2}),
        "noise");
    check_refused(glcnn_slice_node(x, 0, 0), "source_feature_channel_max_count is 0");
    check_refused(glcnn_loss_node(x, y, NULL, GLCNN_LOSS_TYPE_FORCE32, GLCNN_REDUCTION_TYPE_SUM),
                  "loss_type is 2147483647");
    check_refused(
        glcnn_yolo_loss_node(x, y, NULL, (const float[]){1, 0}, 2, GLCNN_REDUCTION_TYPE_SUM),
        "anchor box 0 is 1 x 0");
    glcnn_network_destroy(&network);
}

static void test_a_node_of_nothing_is_null(void)
{
    const struct glcnn_convolution_descriptor some = {1, 1, 1, 1};
    glcnn_image_node *const none[] = {NULL};
    begin();
    CU_ASSERT_PTR_NULL(glcnn_pooling_average_node(NULL, 2, 2, 2, 2));
    CU_ASSERT_PTR_NULL(glcnn_convolution_node(NULL, &some, NULL));
    CU_ASSERT_PTR_NULL(glcnn_batch_normalization_node(NULL, 0, NULL, NULL));
    CU_ASSERT_PTR_NULL(glcnn_neuron_relu_node(NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_neuron_prelu_node(NULL, NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_dropout_node(NULL, 0.5f, 0));
    CU_ASSERT_PTR_NULL(glcnn_augment_geometry_node(
        x, NULL, &(struct glcnn_augment_geometry_parameters){.shift = 1}));
    CU_ASSERT_PTR_NULL(glcnn_image_normalization_node(NULL, NULL, NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_frame_rgb_node(NULL, &(struct glcnn_frame_parameters){0}));
    CU_ASSERT_PTR_NULL(glcnn_frame_nv12_node(x, NULL, &(struct glcnn_frame_parameters){0}));
    CU_ASSERT_PTR_NULL(glcnn_slice_node(NULL, 0, 1));
    CU_ASSERT_PTR_NULL(glcnn_soft_max_node(NULL));
    CU_ASSERT_PTR_NULL(glcnn_add_node(x, NULL));
    CU_ASSERT_PTR_NULL(glcnn_concatenation_node(none, 1));
    CU_ASSERT_PTR_NULL(glcnn_concatenation_node(NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_loss_node(x, NULL, NULL, 0, 0));
    CU_ASSERT_PTR_NULL(glcnn_yolo_loss_node(x, NULL, NULL, NULL, 0, 0));
    CU_ASSERT_PTR_NULL(glcnn_box_loss_node(NULL, y, NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_box_loss_node(x, NULL, NULL, 0));
    CU_ASSERT_PTR_NULL(glcnn_box_iou_node(x, NULL));
    GOOD(glcnn_network_status(network));
    CU_ASSERT_EQUAL(count_filters(), 0);
    glcnn_network_destroy(&network);
}

/* ---- Data sources, slopes and padding ---- */

struct source {
    float value;
    int destroyed;
    bool fails;
    float values[8];
};

static bool load(void *context)
{
    return !((struct source *)context)->fails;
}

static const float *values(void *context, const char *vector, size_t count)
{
    struct source *source = context;
    (void)vector;
    for (size_t i = 0; i < count && i < 8; i++)
        source->values[i] = source->value;
    return source->values;
}

static void destroy(void *context)
{
    ((struct source *)context)->destroyed++;
}

static struct glcnn_data_source data_source(struct source *context)
{
    return (struct glcnn_data_source){.context = context,
                                      .feature_channels = 4,
                                      .load = load,
                                      .values = values,
                                      .destroy = destroy};
}

static void check_vector(glcnn_image_node *node, const char *name, size_t count, float expected)
{
    float found[8] = {0};
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(node));
    CU_ASSERT_TRUE_FATAL(glcnn_kernel_has_vector(kernel, name));
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, name), 0, count * sizeof *found, found));
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(found[i], expected);
}

static const struct glcnn_convolution_descriptor dot = {.kernel_width = 1,
                                                        .kernel_height = 1,
                                                        .input_feature_channels = 2,
                                                        .output_feature_channels = 3};

static void test_data_sources_are_loaded_and_kept(void)
{
    struct source context = {.value = 0.5f};
    const struct glcnn_data_source source = data_source(&context);
    begin();
    check_vector(glcnn_convolution_node(x, &dot, &source), "weights", 6, 0.5f);
    check_vector(glcnn_fully_connected_node(x, &dot, &source), "biases", 3, 0.5f);
    check_vector(glcnn_convolution_transpose_node(x, &dot, &source), "weights", 6, 0.5f);
    check_vector(glcnn_batch_normalization_node(x, 0, NULL, &source), "mean", 4, 0.5f);
    check_vector(glcnn_instance_normalization_node(x, 0, &source), "gamma", 4, 0.5f);
    CU_ASSERT_EQUAL(context.destroyed, 0);
    glcnn_network_destroy(&network);
    CU_ASSERT_EQUAL(context.destroyed, 5);
}

static void test_a_data_source_that_fails_stays_the_callers(void)
{
    struct source context = {.fails = true};
    const struct glcnn_data_source source = data_source(&context);
    begin();
    check_refused(glcnn_convolution_node(x, &dot, &source), "load");
    check_refused(glcnn_batch_normalization_node(x, 0, NULL, &source), "load");
    glcnn_network_destroy(&network);
    CU_ASSERT_EQUAL(context.destroyed, 0);
}

static void test_slopes_are_copied(void)
{
    float slopes[3] = {0.25f, 0.25f, 0.25f};
    begin();
    glcnn_image_node *made = glcnn_neuron_prelu_node(x, slopes, 3);
    slopes[0] = 7;
    check_vector(made, "neuron_data", 3, 0.25f);
    CU_ASSERT_PTR_NULL(glcnn_neuron_prelu_node(y, slopes, 0));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_network_status(network));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "neuron_data"));
    CU_ASSERT_EQUAL(count_filters(), 1);
    glcnn_network_destroy(&network);
}

static void test_padding_is_the_kernels(void)
{
    begin();
    glcnn_filter_node *pool = glcnn_image_node_filter(glcnn_pooling_max_node(x, 2, 2, 2, 2));
    CU_ASSERT_EQUAL(glcnn_filter_node_padding(pool), GLCNN_PADDING_DEFAULT);
    GOOD(
        glcnn_filter_node_set_padding(pool, GLCNN_PADDING_SIZE_FULL | GLCNN_PADDING_EXCLUDE_EDGES));
    CU_ASSERT_EQUAL(glcnn_kernel_properties(glcnn_filter_node_kernel(pool))->padding,
                    GLCNN_PADDING_SIZE_FULL | GLCNN_PADDING_EXCLUDE_EDGES);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_filter_node_set_padding(pool, GLCNN_PADDING_ALIGN_MASK));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_filter_node_set_padding(pool, 0x40));
    CU_ASSERT_EQUAL(glcnn_filter_node_padding(pool),
                    GLCNN_PADDING_SIZE_FULL | GLCNN_PADDING_EXCLUDE_EDGES);
    GOOD(glcnn_network_status(network));
    glcnn_network_destroy(&network);
}

int main(int argc, char *argv[])
{
    const CU_TestInfo tests[] = {
        UNIT_TEST(test_typed_nodes_are_those_by_name),
        UNIT_TEST(test_settings_out_of_range_are_refused),
        UNIT_TEST(test_a_node_of_nothing_is_null),
        UNIT_TEST(test_data_sources_are_loaded_and_kept),
        UNIT_TEST(test_a_data_source_that_fails_stays_the_callers),
        UNIT_TEST(test_slopes_are_copied),
        UNIT_TEST(test_padding_is_the_kernels),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("typed nodes", tests, argc, argv);
}
