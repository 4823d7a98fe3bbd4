/* Every kernel that a node can have, in the cases of its self-check, as an ONNX model and back: the same
 * results. A kernel that is new has no row among src/onnx/write_*.c, and fails here. */
#include <glcnn/onnx.h>

#include <math.h>

#include "run/check.h"
#include "tests/graphs.h"

/* Of one kernel: cases that came back the same, and that were refused. */
struct tally {
    size_t written, refused;
};

static bool makes_nodes(const struct glcnn_descriptor *d)
{
    return !(d->flags & (IS_GRADIENT | WITHOUT_PIXELS)) &&
           descriptor_place(d, PLACE_DESTINATION) >= 0 && descriptor_place(d, PLACE_LOSS) < 0;
}

/* What no node has, and the index of one channel, which is not read. */
static bool is_left_out(const struct glcnn_descriptor *d, const struct check_case *c)
{
    return strstr(c->settings, "destination_width") || strstr(c->settings, "destination_height") ||
           (strstr(d->name, "argument") && c->shape[1] == 1);
}

static bool is_never_written(const struct glcnn_descriptor *d)
{
    return strncmp(d->name, "frame_", 6) == 0 || strncmp(d->name, "augment_", 8) == 0 ||
           strncmp(d->name, "crop_and_resize", 15) == 0 || strcmp(d->name, "box_iou") == 0;
}

/* What the header of onnx.h says that is refused. */
/* A view whose strides are no multiples of one another. */
static bool is_with_gaps(const struct glcnn_descriptor *d, const char *settings)
{
    static const char *const gaps[] = {"stride_0=56", "stride_0=24 size_1=6", "stride_1=26"};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (strcmp(d->name, "strided_view") == 0 && strstr(settings, gaps[i]))
            return true;
    return false;
}

static bool may_be_refused(const struct glcnn_descriptor *d, const char *settings)
{
    static const char *const words[] = {"clip_rect_origin", "clip_rect_size", "offset_z",
                                        "destination_feature_channel_offset"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(settings, words[i]))
            return true;
    bool is_unmoved =
        strncmp(d->name, "upsampling", 10) == 0 || strcmp(d->name, "instance_normalization") == 0;
    bool is_contrast = strcmp(d->name, "local_contrast_normalization") == 0;
    return (is_unmoved && strstr(settings, "offset_")) ||
           (is_contrast && strstr(settings, "alpha=")) || strstr(settings, "flags=always") ||
           (strcmp(d->name, "concatenation") == 0 && strstr(settings, "source_feature_")) ||
           is_with_gaps(d, settings) || is_never_written(d);
}

/* ---- The network of a case ---- */

static size_t source_count(const struct glcnn_descriptor *d)
{
    return descriptor_place(d, PLACE_SECONDARY) >= 0 ? 2 : 1;
}

static const uint32_t *shape_of(const struct check_case *c, size_t source)
{
    return source && c->secondary[0] ? c->secondary : c->shape;
}

/* Words of the self-check's settings, some of which are bits of the padding policy. */
static void set_words(glcnn_filter_node *filter, const struct glcnn_descriptor *d,
                      const char *words)
{
    char copy[600], error[GLCNN_ERROR_LENGTH] = "", *rest = NULL;
    struct glcnn_setting settings[CHECK_SETTINGS];
    struct run_settings read = {0};
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        GOOD_FATAL(glcnn_setting_parse(d->name, word, &settings[count], error));
        if (glcnn_kernel_set(glcnn_filter_node_kernel(filter), settings[count].name,
                             settings[count].value) != GLCNN_SUCCESS)
            count++;
    }
    CU_ASSERT_TRUE(run_settings_read(settings, count, &read));
    GOOD(glcnn_filter_node_set_padding(filter,
                                       glcnn_filter_node_padding(filter) | read.padding_bits));
}

static glcnn_image_node *make_node(glcnn_network *net, const struct glcnn_descriptor *d,
                                   const struct check_case *c)
{
    static const char *const handles[] = {"first", "second"};
    glcnn_image_node *sources[2];
    for (size_t i = 0; i < source_count(d); i++)
        sources[i] = make_input(net, handles[i]);
    glcnn_filter_node *filter =
        glcnn_filter_node_create(net, d->name, NULL, sources, source_count(d));
    CU_ASSERT_PTR_NOT_NULL_FATAL(filter);
    if (strcmp(d->name, "local_contrast_normalization") == 0)
        set_words(filter, d, "alpha=0"); /* the kernel's default, which is not the node's */
    set_words(filter, d, c->settings);
    if (strcmp(d->name, "dropout") == 0)
        set_words(filter, d, "keep_probability=0.99999994"); /* all, as in inference */
    glcnn_image_node_set_handle(glcnn_filter_node_result(filter), "result");
    return glcnn_filter_node_result(filter);
}

/* Values of a source that suit the kernel: none below 0 where its cases have none. */
static void fill_source(const struct glcnn_descriptor *d, size_t source, glcnn_image *image)
{
    int place = descriptor_place(d, source ? PLACE_SECONDARY : PLACE_SOURCE);
    bool is_symmetric = d->arguments[place].values == VALUES_SYMMETRIC;
    size_t count = count_of(image);
    float *values = malloc((count + 1) * sizeof *values);
    uint32_t seed = 5 + (uint32_t)source;
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (size_t i = 0; i < count; i++)
        values[i] = is_symmetric ? noise(&seed) : 1.25f + noise(&seed);
    fill_image(image, values);
    free(values);
}

static void make_images(const struct glcnn_descriptor *d, const struct check_case *c,
                        glcnn_image *images[2])
{
    for (size_t i = 0; i < source_count(d); i++) {
        const uint32_t *s = shape_of(c, i);
        images[i] = make_image(s[0], s[1], s[2], s[3]);
        fill_source(d, i, images[i]);
    }
}

/* Other numbers than the neutral ones in the vectors that the first execution made; those of which
 * there is a root or a quotient are above 0. */
static void fill_vectors(glcnn_kernel *kernel)
{
    static const char *const names[] = {"weights",  "biases",    "gamma",       "beta",  "mean",
                                        "variance", "deviation", "neuron_data", "values"};
    uint32_t seed = 11;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (!glcnn_kernel_has_vector(kernel, names[k]))
            continue;
        size_t count = vector_count(glcnn_kernel_vector(kernel, names[k]));
        float *values = vector_values(glcnn_kernel_vector(kernel, names[k]));
        for (size_t i = 0; i < count; i++)
            values[i] += 0.2f * (k >= 5 ? fabsf(noise(&seed)) : noise(&seed));
        GOOD(glcnn_kernel_set_vector(kernel, names[k], values, count));
        free(values);
    }
}

/* ---- There and back ---- */

static float *run(glcnn_image_node *result, glcnn_image *const *images, size_t *count)
{
    glcnn_graph *graph = graph_of(result);
    run_graph(graph, images);
    float *values = result_values(graph, result);
    *count = count_of(glcnn_graph_image(graph, result));
    glcnn_graph_destroy(&graph);
    return values;
}

/* Both not numbers, or the same within 1e-6 of the largest value. */
static bool agree(const float *found, const float *expected, size_t count)
{
    double largest = 1;
    for (size_t i = 0; i < count; i++)
        if (isfinite(expected[i]))
            largest = fmax(largest, fabs((double)expected[i]));
    for (size_t i = 0; i < count; i++) {
        bool same = found[i] == expected[i] || (isnan(found[i]) && isnan(expected[i]));
        if (!same && !(fabs((double)found[i] - (double)expected[i]) <= 1e-6 * largest)) {
            printf("\n    element %zu: found %.9g, expected %.9g", i, (double)found[i],
                   (double)expected[i]);
            return false;
        }
    }
    return true;
}

/* Where number i of a tensor, of `count` in all, lies in its image. */
static size_t place_of(const struct glcnn_onnx_image *form, size_t count, size_t i)
{
    const size_t plane = (size_t)form->width * form->height, image = plane * form->feature_channels;
    const size_t size[] = {count / image, form->feature_channels, form->height, form->width};
    const size_t stride[] = {image, plane, form->width, 1};
    size_t at = 0;
    for (size_t k = 4; k-- > 0; i /= size[form->order[k]])
        at += i % size[form->order[k]] * stride[form->order[k]];
    return at;
}

/* The numbers of an output as its tensor has them, or those of a tensor as an input has them. */
static float *in_order(const struct glcnn_onnx_image *form, const float *values, size_t count,
                       bool is_input)
{
    float *ordered = calloc(count + 1, sizeof *ordered);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ordered);
    for (size_t i = 0; i < count; i++) {
        size_t at = place_of(form, count, i);
        ordered[is_input ? at : i] = values[is_input ? i : at];
    }
    return ordered;
}

/* The same numbers as the input of the model that was read has them. */
static glcnn_image *as_input(const struct glcnn_onnx_image *form, glcnn_image *image)
{
    const size_t count = count_of(image);
    const uint32_t images = glcnn_image_get_descriptor(image)->number_of_images;
    float *values = read_image(image), *ordered = in_order(form, values, count, true);
    glcnn_image *made =
        image_with(images, form->feature_channels, form->height, form->width, ordered);
    free(values);
    free(ordered);
    return made;
}

/* The inputs in their order, and the result. */
static void compare(const struct glcnn_onnx_record *record, const struct glcnn_descriptor *d,
                    glcnn_image *const *images, const float *expected, size_t expected_count)
{
    static const char *const handles[] = {"first", "second"};
    glcnn_image *inputs[2] = {NULL, NULL};
    size_t count;
    CU_ASSERT_EQUAL_FATAL(record->input_count, source_count(d));
    for (size_t i = 0; i < record->input_count; i++) {
        CU_ASSERT_STRING_EQUAL(record->inputs[i].name, handles[i]);
        inputs[i] = as_input(&record->inputs[i], images[i]);
    }
    CU_ASSERT_EQUAL_FATAL(record->output_count, 1);
    CU_ASSERT_STRING_EQUAL(record->outputs[0].name, "result");
    float *found = run(record->outputs[0].node, inputs, &count);
    CU_ASSERT_EQUAL(count, expected_count);
    float *ordered =
        count == expected_count ? in_order(&record->outputs[0], found, count, false) : NULL;
    CU_ASSERT_TRUE(ordered && agree(ordered, expected, count));
    free(ordered);
    free(found);
    destroy_images(inputs, 2);
}

static void read_back(const struct glcnn_descriptor *d, const uint8_t *bytes, size_t size,
                      glcnn_image *const *images, const float *expected, size_t count)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_onnx_record *record = NULL;
    glcnn_network *net = NULL;
    CU_ASSERT_EQUAL(glcnn_onnx_read(device, bytes, size, NULL, &net, &record, error),
                    GLCNN_SUCCESS);
    if (error[0])
        printf("\n    %s", error);
    if (net)
        compare(record, d, images, expected, count);
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

static void write_and_read(glcnn_network *net, const struct glcnn_descriptor *d,
                           const struct check_case *c, glcnn_image_node *result,
                           struct tally *tally)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    struct glcnn_onnx_image inputs[2] = {{0}};
    glcnn_image *images[2] = {NULL, NULL};
    uint8_t *bytes;
    size_t size, count;
    make_images(d, c, images);
    free(run(result, images, &count));
    fill_vectors(kernel_of(result));
    float *expected = run(result, images, &count);
    for (size_t i = 0; i < source_count(d); i++)
        inputs[i] = (struct glcnn_onnx_image){.width = shape_of(c, i)[3],
                                              .height = shape_of(c, i)[2],
                                              .feature_channels = shape_of(c, i)[1]};
    glcnn_status status =
        glcnn_onnx_write(net, NULL, inputs, source_count(d), &bytes, &size, error);
    if (status == GLCNN_SUCCESS)
        read_back(d, bytes, size, images, expected, count);
    else if (status != GLCNN_UNSUPPORTED || !may_be_refused(d, c->settings))
        printf("\n    %s", error);
    CU_ASSERT_TRUE(status == GLCNN_SUCCESS ||
                   (status == GLCNN_UNSUPPORTED && may_be_refused(d, c->settings)));
    tally->written += status == GLCNN_SUCCESS;
    tally->refused += status != GLCNN_SUCCESS;
    glcnn_onnx_destroy(bytes);
    free(expected);
    destroy_images(images, 2);
}

static void try_case(const struct glcnn_descriptor *d, const struct check_case *c,
                     struct tally *tally)
{
    const unsigned before = CU_get_number_of_failures();
    glcnn_network *net = make_network();
    write_and_read(net, d, c, make_node(net, d, c), tally);
    if (CU_get_number_of_failures() != before)
        printf("\n    by %s \"%s\" of %ux%ux%ux%u\n", d->name, c->settings, c->shape[0],
               c->shape[1], c->shape[2], c->shape[3]);
    glcnn_network_destroy(&net);
}

static void kernels_come_back_the_same(void)
{
    const char *only = getenv("GLCNN_TEST_KERNEL"); /* to look at one */
    for (size_t k = 0; glcnn_registry[k]; k++) {
        const struct glcnn_descriptor *d = glcnn_registry[k];
        const struct check_case *c = reference_of(d)->cases;
        struct tally tally = {0, 0};
        if (!makes_nodes(d) || (only && strcmp(only, d->name) != 0))
            continue;
        for (; c->settings; c++)
            if (!c->large && !is_left_out(d, c))
                try_case(d, c, &tally);
        CU_ASSERT_EQUAL(tally.written > 0, !is_never_written(d));
    }
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(kernels_come_back_the_same), CU_TEST_INFO_NULL};
    return fixture_run("onnx_kernels", tests, argc, argv);
}
