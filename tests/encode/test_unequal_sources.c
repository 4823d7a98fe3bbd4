/* Sources that do not fit each other: each kernel of several is given a second one of another width,
 * height, number of channels or of images, by a graph, and refuses it, or is one that the specification
 * lets take it. The registry has the kernels, so that a new one is asked without an edit here. */
#include "tests/fixture.h"
#include "tests/graphs.h"

#include "encode/descriptor.h"

static const char *const dimensions[] = {"images", "channels", "rows", "columns"};
enum { IMAGES, CHANNELS, ROWS, COLUMNS };

/* The kernels that take a second source of another size, with the dimensions that may differ. */
static const struct exception {
    const char *kernel;
    unsigned may; /* bits by dimension */
} exceptions[] = {
    {"concatenation", 1u << CHANNELS},
    {"axis_concatenation", 1u << CHANNELS},
    {"crop_and_resize_bilinear_regions", 1u << ROWS | 1u << COLUMNS}, /* a pixel is a region */
    {NULL, 0}};

static unsigned may_differ(const struct glcnn_descriptor *d)
{
    for (const struct exception *e = exceptions; e->kernel; e++)
        if (strcmp(e->kernel, d->name) == 0)
            return e->may;
    return 0;
}

static bool has_several(const struct glcnn_descriptor *d)
{
    return !(d->flags & (IS_GRADIENT | WITHOUT_PIXELS)) &&
           descriptor_place(d, PLACE_DESTINATION) >= 0 &&
           (d->flags & (IS_BINARY | GATHERS) || descriptor_place(d, PLACE_SECONDARY) >= 0 ||
            descriptor_place(d, PLACE_LABELS) >= 0);
}

/* What a graph of the kernel says to images of these sizes, [n][c][h][w]. */
static glcnn_status join(const struct glcnn_descriptor *d, const uint32_t a[4], const uint32_t b[4])
{
    glcnn_network *net = make_network();
    glcnn_image_node *sources[] = {make_input(net, "first"), make_input(net, "second")};
    glcnn_filter_node *node = glcnn_filter_node_create(net, d->name, NULL, sources, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(node);
    glcnn_graph *graph = graph_of(glcnn_filter_node_result(node));
    glcnn_image *images[] = {make_image(a[0], a[1], a[2], a[3]),
                             make_image(b[0], b[1], b[2], b[3])};
    fixture_forget_error(device);
    glcnn_status status = glcnn_graph_execute(graph, images, NULL, NULL);
    if (status == GLCNN_SUCCESS)
        status = glcnn_graph_wait(graph);
    glcnn_graph_destroy(&graph);
    destroy_images(images, 2);
    glcnn_network_destroy(&net);
    return status;
}

static void test_sources_that_differ_are_refused(void)
{
    const uint32_t size[4] = {2, 4, 3, 5};
    size_t asked = 0;
    for (const struct glcnn_descriptor *const *d = glcnn_registry; *d; d++)
        for (int i = 0; has_several(*d) && i < 4; i++)
            for (int by = -1; by <= 1; by += 2) {
                uint32_t other[4] = {2, 4, 3, 5};
                other[i] = (uint32_t)((int)other[i] + by);
                glcnn_status status = join(*d, size, other);
                bool may = may_differ(*d) >> i & 1;
                bool good = may ? status == GLCNN_SUCCESS
                                : status == GLCNN_INVALID_ARGUMENT && *glcnn_device_error(device);
                asked++;
                CU_ASSERT(good);
                if (!good)
                    fprintf(stderr, "\n  %s, %u %s beside %u: status %d, %s\n", (*d)->name,
                            other[i], dimensions[i], size[i], (int)status,
                            glcnn_device_error(device));
            }
    CU_ASSERT(asked > 0);
}

/* The graph names the nodes; the kernel says both sizes. */
static void test_a_concatenation_says_what_differs(void)
{
    static const char *const words[] = {"first", "second", "4x4", "3x5"};
    glcnn_kernel *kernel = NULL;
    glcnn_image *from = make_image(1, 4, 4, 4), *to = make_image(1, 4, 5, 3);
    const uint32_t a[4] = {1, 4, 4, 4}, b[4] = {1, 4, 5, 3};
    CU_ASSERT_EQUAL(join(descriptor_find("concatenation"), a, b), GLCNN_INVALID_ARGUMENT);
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), words[i]));
    GOOD_FATAL(glcnn_kernel_create(device, "concatenation", &kernel));
    glcnn_command_buffer *commands = make_commands();
    const struct glcnn_encode arguments = {.source = from, .destination = to};
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_kernel_encode(commands, kernel, &arguments));
    for (size_t i = 2; i < 4; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), words[i]));
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_image_destroy(&from);
    glcnn_image_destroy(&to);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_sources_that_differ_are_refused),
                                        UNIT_TEST(test_a_concatenation_says_what_differs),
                                        CU_TEST_INFO_NULL};
    return fixture_run("unequal sources", tests, argc, argv);
}
