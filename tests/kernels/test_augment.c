/* Augmentation and normalisation of pictures: what the formulas of spec 7.16 give, that copies are
 * exact, that an image draws by its number and the epoch alone, and what is refused. Expected
 * numbers were computed from the specification in Python. */
#include "tests/fixture.h"

#include <float.h>

#include "device/device.h"

#define INVALID GLCNN_INVALID_ARGUMENT

static bool says(const char *text)
{
    return strstr(glcnn_device_error(device), text) != NULL;
}

/* ---- Running ---- */

struct drawing {
    uint32_t number, epoch;
};

/* Numbers and epochs of a batch as a Unorm8 image. */
static glcnn_image *make_numbers(const struct drawing *drawings, uint32_t count)
{
    uint8_t bytes[64][8];
    CU_ASSERT_FATAL(count <= 64);
    for (uint32_t n = 0; n < count; n++)
        for (int b = 0; b < 4; b++) {
            bytes[n][b] = (uint8_t)(drawings[n].number >> (8 * b));
            bytes[n][4 + b] = (uint8_t)(drawings[n].epoch >> (8 * b));
        }
    glcnn_image *image = make_image_of(device, GLCNN_CHANNEL_FORMAT_UNORM8, count, 8, 1, 1);
    GOOD(glcnn_image_write_bytes(image, NULL, bytes, count * sizeof *bytes));
    return image;
}

/* The result, to be freed. Takes the kernel over. */
static float *augmented(glcnn_kernel *kernel, glcnn_image *source, const struct drawing *drawings)
{
    uint32_t count = glcnn_image_get_descriptor(source)->number_of_images;
    glcnn_image *numbers = make_numbers(drawings, count);
    const struct glcnn_encode arguments = {.source = source, .secondary = numbers};
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *result = result_of(kernel, &arguments, NULL);
    float *values = read_image(result);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&numbers);
    glcnn_kernel_destroy(&kernel);
    return values;
}

static glcnn_kernel *geometry(struct glcnn_augment_geometry_parameters parameters)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_augment_geometry_create(device, &parameters, &kernel));
    return kernel;
}

static glcnn_kernel *color(struct glcnn_augment_color_parameters parameters)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_augment_color_create(device, &parameters, &kernel));
    return kernel;
}

/* 4x3 pixels 1 .. 12, times `scale`, plus `from`. */
static glcnn_image *make_ramp(uint32_t images, float from, float scale)
{
    float values[64 * 12];
    for (uint32_t i = 0; i < images * 12; i++)
        values[i] = scale * (float)(i % 12) + from;
    return image_with(images, 1, 3, 4, values);
}

/* ---- What is drawn ---- */

static void check_golden(float *found, const float *expected, size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++)
        CU_ASSERT(is_near((double)found[i], (double)expected[i], tolerance));
    free(found);
}

static void flips_and_shifts_are_those_of_the_specification(void)
{
    static const struct drawing drawings[] = {{0, 0}, {1, 0}, {70000, 3}, {UINT32_MAX, UINT32_MAX}};
    static const float expected[] = {0, 8, 7, 6, 0,  12, 11, 10, 0, 0, 0,  0,  3, 2, 1, 0,
                                     7, 6, 5, 0, 11, 10, 9,  0,  0, 9, 10, 11, 0, 5, 6, 7,
                                     0, 1, 2, 3, 10, 11, 12, 0,  6, 7, 8,  0,  2, 3, 4, 0};
    glcnn_image *source = make_ramp(4, 1, 1);
    glcnn_kernel *kernel = geometry((struct glcnn_augment_geometry_parameters){
        .seed = 0x123456789abcdef, .flip_horizontal = true, .flip_vertical = true, .shift = 1});
    check_golden(augmented(kernel, source, drawings), expected, 48, 0);
    glcnn_image_destroy(&source);
}

static void resampling_is_that_of_the_specification(void)
{
    static const struct drawing drawings[] = {{5, 1}, {1234567, 2}};
    static const float expected[] = {
        2.768002f, 7.261688f, 7.563019f, 7.864349f, 1.459432f, 2.51684f,  2.650665f, 2.504649f,
        0,         0,         0.065685f, 0.173905f, 0,         0,         0.693885f, 0,
        0.560977f, 2.293407f, 4.942383f, 0.754382f, 2.393494f, 5.278259f, 8.163025f, 6.367122f};
    glcnn_image *source = make_ramp(2, 1, 1);
    glcnn_kernel *kernel =
        geometry((struct glcnn_augment_geometry_parameters){.seed = 99,
                                                            .flip_horizontal = true,
                                                            .flip_vertical = true,
                                                            .shift = 1,
                                                            .rotation = 30,
                                                            .scale = 0.25f});
    check_golden(augmented(kernel, source, drawings), expected, 24, 2e-6);
    glcnn_image_destroy(&source);
}

static void colours_are_those_of_the_specification(void)
{
    static const struct drawing drawings[] = {{5, 1}, {1234567, 2}};
    static const float expected[] = {-0.4835853f, 0,          0,          0.0887535f, 0.0266585f,
                                     0,           0,          0.4095527f, 0.3609894f, 0.6634059f,
                                     0.8228933f,  0.8073137f, 0.0612033f, 0.0312484f, 0,
                                     0,           0.0589405f, 0.3647421f, 0,          0,
                                     0.5590439f,  0.8775315f, 0.8069813f, 0.8717486f};
    glcnn_image *source = make_ramp(2, 0, 1 / 12.0f);
    glcnn_kernel *kernel = color((struct glcnn_augment_color_parameters){
        .seed = 99, .brightness = 0.25f, .contrast = 0.5f, .noise = 0.125f, .cutout = 2});
    check_golden(augmented(kernel, source, drawings), expected, 24, 1e-6);
    glcnn_image_destroy(&source);
}

static void turned_colours_are_those_of_the_specification(void)
{
    static const struct drawing drawings[] = {{5, 1}, {1234567, 2}};
    static const float expected[] = {-0.7273008f, -0.4271741f, -0.1427081f,  0.1056926f,
                                     0.636569f,   0.8485385f,  -0.06144907f, 0.09192804f,
                                     0.8492627f,  1.01645f,    0.3823234f,   0.5438607f};
    float values[12];
    for (int i = 0; i < 12; i++)
        values[i] = (float)(i % 6) / 6;
    glcnn_image *source = image_with(2, 3, 1, 2, values);
    glcnn_kernel *kernel = color((struct glcnn_augment_color_parameters){.seed = 99,
                                                                         .brightness = 0.25f,
                                                                         .contrast = 0.5f,
                                                                         .hue = 90,
                                                                         .saturation = 0.5f,
                                                                         .gain = 0.25f});
    check_golden(augmented(kernel, source, drawings), expected, 12, 1e-6);
    glcnn_image_destroy(&source);
}

static void borders_are_reflected(void)
{
    static const struct drawing drawings[] = {{0, 0}, {3, 0}};
    static const float expected[] = {7, 6, 5, 5, 3, 2, 1, 1, 3, 2, 1, 1,
                                     8, 8, 7, 6, 4, 4, 3, 2, 4, 4, 3, 2};
    glcnn_image *source = make_ramp(2, 1, 1);
    glcnn_kernel *kernel = geometry(
        (struct glcnn_augment_geometry_parameters){.seed = 7, .shift = 5, .reflect = true});
    check_golden(augmented(kernel, source, drawings), expected, 24, 0);
    glcnn_image_destroy(&source);
}

static void hues_need_three_channels(void)
{
    static const struct drawing drawings[] = {{5, 1}};
    float values[4] = {0};
    glcnn_image *source = image_with(1, 4, 1, 1, values), *numbers = make_numbers(drawings, 1);
    glcnn_kernel *kernel = color((struct glcnn_augment_color_parameters){.saturation = 0.5f});
    const struct glcnn_encode arguments = {.source = source, .secondary = numbers};
    glcnn_command_buffer *commands = NULL;
    glcnn_image *result = NULL;
    GOOD(glcnn_command_buffer_create(device, &commands));
    CU_ASSERT_EQUAL(glcnn_kernel_encode_returning(commands, kernel, &arguments, &result, NULL),
                    INVALID);
    CU_ASSERT(says("hue and saturation need pictures of 3 channels; these have 4"));
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&numbers);
    glcnn_image_destroy(&source);
}

/* ---- Copies ---- */

static void nothing_asked_is_an_exact_copy(void)
{
    static const struct drawing drawings[] = {{3, 0}, {4, 0}};
    float values[2 * 5 * 7 * 6];
    uint32_t seed = 5;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = noise(&seed);
    values[0] = NAN;
    values[9] = INFINITY;
    values[50] = FLT_MAX;
    glcnn_image *source = image_with(2, 5, 7, 6, values);
    float *same[] = {
        augmented(geometry((struct glcnn_augment_geometry_parameters){.seed = 7}), source,
                  drawings),
        augmented(color((struct glcnn_augment_color_parameters){.seed = 7}), source, drawings)};
    for (int i = 0; i < 2; i++) {
        CU_ASSERT(isnan(same[i][0]));
        for (size_t e = 1; e < sizeof values / sizeof *values; e++)
            CU_ASSERT_EQUAL(same[i][e], values[e]);
        free(same[i]);
    }
    glcnn_image_destroy(&source);
}

/* Which of the four flips and 25 shifts of the ramp this is; -1: none. */
static int copy_kind(const float *found)
{
    for (int kind = 0; kind < 4 * 25; kind++) {
        int sx = kind / 4 % 5 - 2, sy = kind / 20 - 2, wrong = 0;
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++) {
                int u = x - sx, v = y - sy;
                u = kind & 1 ? 3 - u : u;
                v = kind & 2 ? 2 - v : v;
                bool inside = u >= 0 && v >= 0 && u < 4 && v < 3;
                wrong += found[y * 4 + x] != (inside ? (float)(v * 4 + u) + 0.1f : 0);
            }
        if (!wrong)
            return kind;
    }
    return -1;
}

static void flips_and_shifts_are_exact_copies(void)
{
    enum { IMAGES = 64, EPOCHS = 4 };
    int flips[4] = {0}, columns[5] = {0}, rows[5] = {0};
    glcnn_image *source = make_ramp(IMAGES, 0.1f, 1);
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        struct drawing drawings[IMAGES];
        for (uint32_t n = 0; n < IMAGES; n++)
            drawings[n] = (struct drawing){n, epoch};
        float *found =
            augmented(geometry((struct glcnn_augment_geometry_parameters){
                          .seed = 1, .flip_horizontal = true, .flip_vertical = true, .shift = 2}),
                      source, drawings);
        for (int n = 0; n < IMAGES; n++) {
            int kind = copy_kind(found + 12 * n);
            CU_ASSERT_FATAL(kind >= 0);
            flips[kind % 4]++;
            columns[kind / 4 % 5]++;
            rows[kind / 20]++;
        }
        free(found);
    }
    for (int i = 0; i < 4; i++) /* of 256, 64 on average */
        CU_ASSERT(flips[i] > 40 && flips[i] < 90);
    for (int i = 0; i < 5; i++) /* 51 on average */
        CU_ASSERT(columns[i] > 28 && columns[i] < 76 && rows[i] > 28 && rows[i] < 76);
    glcnn_image_destroy(&source);
}

/* ---- By number and epoch alone ---- */

static glcnn_kernel *everything(int kind)
{
    return kind ? color((struct glcnn_augment_color_parameters){
                      .seed = 3, .brightness = 0.2f, .contrast = 0.2f, .noise = 0.05f, .cutout = 2})
                : geometry((struct glcnn_augment_geometry_parameters){.seed = 3,
                                                                      .flip_horizontal = true,
                                                                      .shift = 1,
                                                                      .rotation = 15,
                                                                      .scale = 0.1f});
}

static void the_place_in_a_batch_does_not_matter(void)
{
    static const struct drawing one[] = {{77, 2}, {78, 2}, {77, 3}};
    static const struct drawing other[] = {{1, 0}, {2, 0}, {3, 0}, {78, 2}, {77, 2}};
    glcnn_image *three = make_ramp(3, 0.2f, 0.05f), *five = make_ramp(5, 0.2f, 0.05f);
    for (int kind = 0; kind < 2; kind++) {
        float *a = augmented(everything(kind), three, one);
        float *b = augmented(everything(kind), five, other);
        CU_ASSERT_EQUAL(memcmp(a, b + 4 * 12, 12 * sizeof *a), 0);
        CU_ASSERT_EQUAL(memcmp(a + 12, b + 3 * 12, 12 * sizeof *a), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(a, a + 12, 12 * sizeof *a), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(a, a + 24, 12 * sizeof *a), 0);
        free(a);
        free(b);
    }
    glcnn_image_destroy(&three);
    glcnn_image_destroy(&five);
}

/* ---- Amounts ---- */

static void noise_has_its_deviation(void)
{
    enum { COUNT = 5 * 40 * 40 };
    static const struct drawing drawing = {1, 1};
    double sum = 0, squares = 0;
    glcnn_image *source = make_image(1, 5, 40, 40);
    fill_constant(source, 0.5f);
    float *found =
        augmented(color((struct glcnn_augment_color_parameters){.noise = 0.1f}), source, &drawing);
    for (int i = 0; i < COUNT; i++) {
        double e = (double)found[i] - 0.5;
        sum += e;
        squares += e * e;
        CU_ASSERT(fabs(e) < 0.1 * 3.46);
    }
    CU_ASSERT(fabs(sum / COUNT) < 0.004); /* 3.5 deviations of the mean */
    CU_ASSERT(fabs(sqrt(squares / COUNT) - 0.1) < 0.003);
    free(found);
    glcnn_image_destroy(&source);
}

static void a_square_is_cut_out_of_every_channel(void)
{
    enum { SIDE = 20, IMAGES = 32 };
    struct drawing drawings[IMAGES];
    int whole = 0;
    glcnn_image *source = make_image(IMAGES, 5, SIDE, SIDE);
    fill_constant(source, 1);
    for (uint32_t n = 0; n < IMAGES; n++)
        drawings[n] = (struct drawing){n, 0};
    float *found =
        augmented(color((struct glcnn_augment_color_parameters){.cutout = 5}), source, drawings);
    for (int n = 0; n < IMAGES; n++) {
        int zeros[5] = {0};
        for (int i = 0; i < 5 * SIDE * SIDE; i++) {
            float value = found[n * 5 * SIDE * SIDE + i];
            CU_ASSERT(value == 0 || value == 1);
            zeros[i / (SIDE * SIDE)] += value == 0;
        }
        CU_ASSERT(zeros[0] >= 9 && zeros[0] <= 25); /* its centre lies within */
        for (int c = 1; c < 5; c++)
            CU_ASSERT_EQUAL(zeros[c], zeros[0]);
        whole += zeros[0] == 25;
    }
    CU_ASSERT(whole > 12 && whole < 30);
    free(found);
    glcnn_image_destroy(&source);
}

/* ---- In a graph that trains ---- */

static bool same_results(glcnn_graph *graph, glcnn_image_node *result, glcnn_image *pictures,
                         const struct drawing *drawings, const float *expected)
{
    glcnn_image *sources[] = {pictures, make_numbers(drawings, 2)};
    GOOD_FATAL(glcnn_graph_execute(graph, sources, NULL, NULL));
    GOOD(glcnn_graph_wait(graph));
    float *found = read_image(glcnn_graph_image(graph, result));
    bool same = memcmp(found, expected, 24 * sizeof *found) == 0;
    free(found);
    glcnn_image_destroy(&sources[1]);
    return same;
}

/* A recorded graph draws what the numbers of each execution tell. */
static void a_graph_draws_by_what_is_uploaded(void)
{
    static const struct drawing first[] = {{8, 0}, {9, 0}}, second[] = {{8, 1}, {9, 1}};
    const struct glcnn_augment_geometry_parameters turned = {.seed = 3, .rotation = 90, .shift = 1};
    glcnn_network *network = NULL;
    glcnn_graph *graph = NULL;
    glcnn_image *pictures = make_ramp(2, 1, 1);
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *x = glcnn_image_node_create(network, "images");
    glcnn_image_node *numbers = glcnn_image_node_create(network, "image_numbers");
    glcnn_image_node *y = glcnn_augment_geometry_node(x, numbers, &turned);
    GOOD_FATAL(glcnn_graph_create(
        network, &(struct glcnn_graph_descriptor){.results = &y, .result_count = 1}, &graph));
    float *expected[] = {augmented(geometry(turned), pictures, first),
                         augmented(geometry(turned), pictures, second)};
    CU_ASSERT_TRUE(same_results(graph, y, pictures, first, expected[0]));
    CU_ASSERT_TRUE(same_results(graph, y, pictures, second, expected[1]));
    CU_ASSERT_TRUE(same_results(graph, y, pictures, first, expected[0]));
    CU_ASSERT_FALSE(same_results(graph, y, pictures, second, expected[0]));
    free(expected[0]);
    free(expected[1]);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
    glcnn_image_destroy(&pictures);
}

/* Gradients end at what is done to pictures. */
static void a_network_behind_it_trains(void)
{
    const struct glcnn_augment_color_parameters brighter = {.brightness = 0.1f};
    const struct glcnn_augment_geometry_parameters mirrored = {.flip_horizontal = true};
    static const float half[] = {0.5f};
    glcnn_network *network = NULL;
    glcnn_graph *graph = NULL;
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *numbers = glcnn_image_node_create(network, "image_numbers");
    glcnn_image_node *x = glcnn_image_node_create(network, "images");
    x = glcnn_augment_geometry_node(x, numbers, &mirrored);
    x = glcnn_augment_color_node(x, numbers, &brighter);
    x = glcnn_image_normalization_node(x, half, half, 1);
    x = glcnn_convolution_node(x,
                               &(struct glcnn_convolution_descriptor){.kernel_width = 3,
                                                                      .kernel_height = 3,
                                                                      .input_feature_channels = 1,
                                                                      .output_feature_channels = 2},
                               NULL);
    glcnn_filter_node *loss =
        glcnn_loss_node(x, glcnn_image_node_create(network, "labels"), NULL,
                        GLCNN_LOSS_TYPE_MEAN_SQUARED_ERROR, GLCNN_REDUCTION_TYPE_SUM);
    GOOD_FATAL(glcnn_network_initialise(network, 1));
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.01f, &optimizer));
    GOOD_FATAL(glcnn_training_graph_create(loss, optimizer, NULL, &graph));
    CU_ASSERT_EQUAL(glcnn_graph_source_count(graph), 3);
    glcnn_kernel_destroy(&optimizer);
    glcnn_graph_destroy(&graph);
    glcnn_network_destroy(&network);
}

/* ---- Normalisation ---- */

static void bytes_are_normalised(void)
{
    static const uint8_t bytes[2][3] = {{0, 51, 255}, {255, 102, 0}};
    static const float mean[] = {0.5f, 0.2f, 0}, deviation[] = {0.25f, 0.1f, 2};
    static const float expected[] = {-2, 2, 0, 2, 0.5f, 0};
    glcnn_kernel *kernel = NULL;
    glcnn_image *source = make_image_of(device, GLCNN_CHANNEL_FORMAT_UNORM8, 1, 3, 1, 2);
    GOOD(glcnn_image_write_bytes(source, NULL, bytes, sizeof bytes));
    GOOD_FATAL(glcnn_image_normalization_create(device, mean, deviation, 3, &kernel));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    glcnn_image *result = result_of(kernel, &(struct glcnn_encode){.source = source}, NULL);
    check_floats(result, expected, 6, 1e-6);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&source);
    glcnn_kernel_destroy(&kernel);
}

/* ---- Refusals ---- */

static void parameters_out_of_range_are_refused(void)
{
    static const struct glcnn_augment_geometry_parameters geometries[] = {
        {.shift = 4097}, {.rotation = -1}, {.rotation = 181}, {.scale = 0.51f}, {.rotation = NAN}};
    static const struct glcnn_augment_color_parameters colors[] = {
        {.brightness = -0.1f}, {.contrast = 1.5f}, {.noise = NAN}, {.cutout = 4097}};
    glcnn_kernel *kernel = NULL;
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
        REFUSED(INVALID, glcnn_augment_geometry_create(device, &geometries[i], &kernel));
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        REFUSED(INVALID, glcnn_augment_color_create(device, &colors[i], &kernel));
    REFUSED(INVALID, glcnn_augment_geometry_create(device, NULL, &kernel));
    CU_ASSERT_TRUE(says("augment_geometry: parameters is NULL"));
    REFUSED(INVALID, glcnn_augment_color_create(device, NULL, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    CU_ASSERT_PTR_NULL(glcnn_augment_geometry(NULL));
    CU_ASSERT_PTR_NULL(glcnn_augment_color(NULL));
}

static void deviations_are_positive(void)
{
    static const float zero[] = {1, 0}, one[] = {1, 1}, none[] = {1, NAN};
    glcnn_kernel *kernel = NULL;
    REFUSED(INVALID, glcnn_image_normalization_create(device, one, zero, 2, &kernel));
    CU_ASSERT_TRUE(says("channel 1 has a mean of 1 and a deviation of 0"));
    REFUSED(INVALID, glcnn_image_normalization_create(device, none, one, 2, &kernel));
    REFUSED(INVALID, glcnn_image_normalization_create(device, NULL, one, 2, &kernel));
    REFUSED(INVALID, glcnn_image_normalization_create(device, one, NULL, 2, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    GOOD(glcnn_image_normalization_create(device, NULL, NULL, 0, &kernel));
    glcnn_kernel_destroy(&kernel);
}

static void refuse_images(uint32_t width, uint32_t numbers, uint32_t channels, uint32_t images,
                          const char *message)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = geometry((struct glcnn_augment_geometry_parameters){.shift = 1});
    struct glcnn_encode arguments = {.source = make_image(2, 1, 1, width),
                                     .secondary = make_image(images, channels, 1, numbers),
                                     .destination = make_image(2, 1, 1, width)};
    REFUSED(INVALID, glcnn_kernel_encode(commands, kernel, &arguments));
    CU_ASSERT_TRUE(says(message));
    glcnn_image_destroy(&arguments.source);
    glcnn_image_destroy(&arguments.secondary);
    glcnn_image_destroy(&arguments.destination);
    glcnn_kernel_destroy(&kernel);
    glcnn_command_buffer_destroy(&commands);
}

static void images_that_do_not_fit_are_refused(void)
{
    refuse_images(8, 2, 8, 2, "image_numbers has 2x1 pixels of 8 channels");
    refuse_images(8, 1, 4, 2, "image_numbers has 1x1 pixels of 4 channels");
    refuse_images(8, 1, 8, 1, "2 images are wanted of the secondary source");
    if (device->info.limits.texture_size > 4096)
        refuse_images(4097, 1, 8, 2, "at most 4096 pixels a side");
}

/* ---- The matrix ---- */

#define RAMP_WIDTH  23
#define RAMP_HEIGHT 17

/* Pixels that hold their column and their row: what augmentation makes of them is where it took them
 * from, as bilinear interpolation of a ramp is exact. */
static glcnn_image *make_coordinates(uint32_t images)
{
    glcnn_image *image = make_image(images, 2, RAMP_HEIGHT, RAMP_WIDTH);
    float *values = malloc(count_of(image) * sizeof *values), *v = values;
    for (uint32_t n = 0; n < images; n++)
        for (int c = 0; c < 2; c++)
            for (int y = 0; y < RAMP_HEIGHT; y++)
                for (int x = 0; x < RAMP_WIDTH; x++)
                    *v++ = (float)(c == 0 ? x : y);
    fill_image(image, values);
    free(values);
    return image;
}

/* How many pixels come from inside of the source, each of which must come from where the matrix says. */
static uint32_t follow_matrix(const double m[6], const float *columns, const float *rows)
{
    uint32_t inside = 0;
    for (int y = 0; y < RAMP_HEIGHT; y++)
        for (int x = 0; x < RAMP_WIDTH; x++) {
            double from_x = m[0] * x + m[1] * y + m[2], from_y = m[3] * x + m[4] * y + m[5];
            if (from_x < 0 || from_x > RAMP_WIDTH - 1 || from_y < 0 || from_y > RAMP_HEIGHT - 1)
                continue;
            CU_ASSERT(is_near((double)columns[y * RAMP_WIDTH + x], from_x, 1e-5));
            CU_ASSERT(is_near((double)rows[y * RAMP_WIDTH + x], from_y, 1e-5));
            inside++;
        }
    return inside;
}

static void check_matrix(struct glcnn_augment_geometry_parameters parameters)
{
    static const struct drawing drawings[] = {
        {0, 0}, {1, 0}, {2, 5}, {70000, 3}, {UINT32_MAX, UINT32_MAX}, {77, 12}};
    enum { COUNT = sizeof drawings / sizeof *drawings, PLANE = RAMP_WIDTH * RAMP_HEIGHT };
    glcnn_image *source = make_coordinates(COUNT);
    float *found = augmented(geometry(parameters), source, drawings);
    uint32_t inside = 0;
    for (int n = 0; n < COUNT; n++) {
        double matrix[6];
        glcnn_augment_geometry_matrix(&parameters, drawings[n].number, drawings[n].epoch,
                                      RAMP_WIDTH, RAMP_HEIGHT, matrix);
        inside += follow_matrix(matrix, found + 2 * n * PLANE, found + (2 * n + 1) * PLANE);
    }
    CU_ASSERT(inside > COUNT * PLANE / 4);
    free(found);
    glcnn_image_destroy(&source);
}

static void the_matrix_is_where_pixels_come_from(void)
{
    check_matrix((struct glcnn_augment_geometry_parameters){.seed = 1});
    check_matrix((struct glcnn_augment_geometry_parameters){
        .seed = 0x123456789abcdef, .flip_horizontal = true, .flip_vertical = true, .shift = 3});
    check_matrix((struct glcnn_augment_geometry_parameters){.seed = 2, .rotation = 180});
    check_matrix((struct glcnn_augment_geometry_parameters){
        .seed = 3, .flip_horizontal = true, .shift = 2, .rotation = 25, .scale = 0.3f});
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(flips_and_shifts_are_those_of_the_specification),
        UNIT_TEST(resampling_is_that_of_the_specification),
        UNIT_TEST(colours_are_those_of_the_specification),
        UNIT_TEST(nothing_asked_is_an_exact_copy),
        UNIT_TEST(flips_and_shifts_are_exact_copies),
        UNIT_TEST(the_place_in_a_batch_does_not_matter),
        UNIT_TEST(noise_has_its_deviation),
        UNIT_TEST(a_square_is_cut_out_of_every_channel),
        UNIT_TEST(turned_colours_are_those_of_the_specification),
        UNIT_TEST(borders_are_reflected),
        UNIT_TEST(hues_need_three_channels),
        UNIT_TEST(a_graph_draws_by_what_is_uploaded),
        UNIT_TEST(a_network_behind_it_trains),
        UNIT_TEST(bytes_are_normalised),
        UNIT_TEST(parameters_out_of_range_are_refused),
        UNIT_TEST(deviations_are_positive),
        UNIT_TEST(images_that_do_not_fit_are_refused),
        UNIT_TEST(the_matrix_is_where_pixels_come_from),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("augment", tests, argc, argv);
}
