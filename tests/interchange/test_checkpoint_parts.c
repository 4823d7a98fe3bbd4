/* Checkpoints of which a network takes a part: what fits is read, of PyTorch's layouts and narrow
 * numbers too, and the rest is told of; bytes that a file has beside the parameters. */
#include <glcnn/checkpoint.h>
#include <glcnn/serialize.h>

#include "tests/fixture.h"
#include "tests/folder.h"

#include <unistd.h>

static char folder[] = "/tmp/glcnn-parts-XXXXXX";
static char error[GLCNN_ERROR_LENGTH];

/* ---- Files ---- */

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, 256, "%s/%s", folder, name);
    return path;
}

/* Writes a file whose elements are numbers, the index of each plus `first`. */
struct tensor {
    const char *name, *dtype, *shape;
    uint32_t count, size; /* elements, bytes of each; 0: as float32 */
    float first;
};

static void put(FILE *file, const struct tensor *t, float value)
{
    uint32_t bits[2] = {0}; /* up to 8 bytes of an element that no reader looks at */
    double wide = (double)value;
    memcpy(bits, &value, 4);
    if (strcmp(t->dtype, "F64") == 0)
        fwrite(&wide, 8, 1, file);
    else if (strcmp(t->dtype, "BF16") == 0)
        fwrite((char *)bits + 2, 2, 1, file);
    else if (strcmp(t->dtype, "F16") == 0) { /* normal numbers alone, and 0 */
        uint32_t exponent = (bits[0] >> 23 & 255) - 112;
        uint16_t half = (uint16_t)(value == 0 ? 0 : exponent << 10 | (bits[0] & 0x7fffff) >> 13);
        fwrite(&half, 2, 1, file);
    } else
        fwrite(bits, t->size ? t->size : 4, 1, file);
}

static const char *write_tensors(const char *name, const struct tensor *tensors, size_t count)
{
    char header[4096] = "{";
    size_t length = 1, at = 0;
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    for (size_t i = 0; i < count; i++) {
        const struct tensor *t = &tensors[i];
        size_t end = at + t->count * (t->size ? t->size : 4);
        length +=
            (size_t)snprintf(header + length, sizeof header - length,
                             "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                             i ? "," : "", t->name, t->dtype, t->shape, at, end);
        at = end;
    }
    header[length++] = '}';
    const uint64_t prefix = length;
    fwrite(&prefix, 8, 1, file);
    fwrite(header, length, 1, file);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < tensors[i].count; k++)
            put(file, &tensors[i], tensors[i].first + (float)k);
    fclose(file);
    return path;
}

/* ---- The network ---- */

/* A convolution of 2 groups, 3 rows and 2 columns; a normalisation; a transposed convolution; a
 * fully connected layer of 2 rows and 3 columns. */
static glcnn_network *make_network(void)
{
    glcnn_network *network;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *y = glcnn_image_node_create(network, "image");
    y = glcnn_node(y, "convolution",
                   "input_feature_channels=4 output_feature_channels=6 kernel_width=2 "
                   "kernel_height=3 groups=2");
    y = glcnn_node(y, "batch_normalization", "epsilon=1e-5");
    y = glcnn_node(y, "convolution_transpose",
                   "input_feature_channels=6 output_feature_channels=2 kernel_width=2 "
                   "kernel_height=3");
    glcnn_node(y, "fully_connected",
               "input_feature_channels=2 output_feature_channels=5 kernel_width=3 "
               "kernel_height=2");
    GOOD_FATAL(glcnn_network_status(network));
    return network;
}

static float value_of(glcnn_network *network, size_t filter, const char *vector, size_t index)
{
    float value = -1;
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, filter));
    glcnn_buffer *buffer = glcnn_kernel_vector(kernel, vector);
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    GOOD(glcnn_buffer_read(buffer, index * 4, 4, &value));
    return value;
}

/* What the handler was told, a line for each. */
static char told[4096];

static void note(void *user, const char *parameter, const char *tensor, const char *reason)
{
    (void)user;
    size_t length = strlen(told);
    snprintf(told + length, sizeof told - length, "%s<%s: %s\n", parameter ? parameter : "-",
             tensor ? tensor : "-", reason ? reason : "read");
}

static glcnn_status load(glcnn_network *network, const char *path,
                         const struct glcnn_checkpoint_name *names, size_t count)
{
    told[0] = 0;
    return glcnn_checkpoint_load_matching(network, path, names, count, note, NULL, error);
}

static bool says(const char *line)
{
    bool found = strstr(told, line);
    if (!found)
        fprintf(stderr, "\n  no line \"%s\" in\n%s", line, told);
    return found;
}

/* ---- Our own layout ---- */

static void test_part(void)
{
    const struct tensor tensors[] = {
        {"convolution_0.weights", "F32", "[6,3,2,2]", 72, 0, 100},
        {"convolution_0.biases", "F32", "[7]", 7, 0, 0},
        {"batch_normalization_0.mean", "F32", "[6]", 6, 0, 3},
        {"fully_connected_0.weights", "F32", "[5,3,2,2]", 60, 0, 0},
        {"fully_connected_0.biases", "I32", "[5]", 5, 0, 0},
        {"convolution_0.weights.optimizer.first", "F32", "[1]", 1, 0, 0},
        {"glcnn.network", "U8", "[3]", 3, 1, 0},
        {"other.weights", "F32", "[1]", 1, 0, 0}};
    glcnn_network *network = make_network();
    const char *path = write_tensors("part", tensors, 8);
    GOOD(load(network, path, NULL, 0));
    CU_ASSERT_STRING_EQUAL(error, "");
    CU_ASSERT_TRUE(says("convolution_0.weights<convolution_0.weights: read\n"));
    CU_ASSERT_TRUE(
        says("convolution_0.biases<convolution_0.biases: it is 7 in the file, here 6\n"));
    CU_ASSERT_TRUE(says("batch_normalization_0.mean<batch_normalization_0.mean: read\n"));
    CU_ASSERT_TRUE(says("batch_normalization_0.gamma<-: the file has no such tensor\n"));
    CU_ASSERT_TRUE(says("fully_connected_0.weights<fully_connected_0.weights: it is 5 x 3 x 2 x 2 "
                        "in the file, here 5 x 2 x 3 x 2\n"));
    CU_ASSERT_TRUE(says("fully_connected_0.biases<fully_connected_0.biases: it is of dtype I32\n"));
    CU_ASSERT_TRUE(says("-<other.weights: the network has no such parameter\n"));
    CU_ASSERT_PTR_NULL(strstr(told, "optimizer"));
    CU_ASSERT_PTR_NULL(strstr(told, "glcnn."));
    for (size_t i = 0; i < 72; i++)
        CU_ASSERT_EQUAL(value_of(network, 0, "weights", i), (float)(100 + i));
    CU_ASSERT_EQUAL(value_of(network, 1, "mean", 5), 8);
    CU_ASSERT_EQUAL(value_of(network, 3, "weights", 59), 0);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* ---- PyTorch's ---- */

static const struct glcnn_checkpoint_name names[] = {
    {"features.0.weight", "convolution_0.weights"},
    {"features.0.bias", "convolution_0.biases"},
    {"features.1.running_var", "batch_normalization_0.variance"},
    {"up.weight", "convolution_transpose_0.weights"},
    {"fc.weight", "fully_connected_0.weights"},
    {"fc.bias", "fully_connected_0.biases"}};
#define NAMES (sizeof names / sizeof *names)

static void check_layouts(glcnn_network *network)
{
    for (size_t k = 0, i = 0; k < 6; k++) /* [outputs][inputs][rows][columns] */
        for (size_t c = 0; c < 2; c++)
            for (size_t y = 0; y < 3; y++)
                for (size_t x = 0; x < 2; x++, i++)
                    CU_ASSERT_EQUAL(value_of(network, 0, "weights", ((k * 3 + y) * 2 + x) * 2 + c),
                                    (float)i);
    for (size_t c = 0, i = 0; c < 6; c++) /* [inputs][outputs][rows][columns], turned */
        for (size_t k = 0; k < 2; k++)
            for (size_t y = 0; y < 3; y++)
                for (size_t x = 0; x < 2; x++, i++)
                    CU_ASSERT_EQUAL(
                        value_of(network, 2, "weights", ((k * 3 + 2 - y) * 2 + 1 - x) * 6 + c),
                        (float)i);
    for (size_t k = 0, i = 0; k < 5; k++) /* [outputs][inputs * rows * columns] */
        for (size_t c = 0; c < 2; c++)
            for (size_t y = 0; y < 2; y++)
                for (size_t x = 0; x < 3; x++, i++)
                    CU_ASSERT_EQUAL(value_of(network, 3, "weights", ((k * 2 + y) * 3 + x) * 2 + c),
                                    (float)i + 0.25f);
}

static void test_names(void)
{
    const struct tensor tensors[] = {{"features.0.weight", "F16", "[6,2,3,2]", 72, 2, 0},
                                     {"features.0.bias", "BF16", "[6]", 6, 2, 64},
                                     {"features.1.running_var", "F64", "[6]", 6, 8, 0.5f},
                                     {"features.1.num_batches_tracked", "I64", "[1]", 2, 4, 0},
                                     {"up.weight", "F32", "[6,2,3,2]", 72, 0, 0},
                                     {"fc.weight", "F32", "[5,12]", 60, 0, 0.25f}};
    glcnn_network *network = make_network();
    const char *path = write_tensors("torch", tensors, 6);
    GOOD(load(network, path, names, NAMES));
    CU_ASSERT_TRUE(says("convolution_0.weights<features.0.weight: read\n"));
    CU_ASSERT_TRUE(says("fully_connected_0.biases<-: the file has no such tensor\n"));
    CU_ASSERT_TRUE(says("-<features.1.num_batches_tracked: no name is given for it\n"));
    CU_ASSERT_PTR_NULL(strstr(told, "gamma"));
    check_layouts(network);
    CU_ASSERT_EQUAL(value_of(network, 0, "biases", 5), 69);
    CU_ASSERT_EQUAL(value_of(network, 1, "variance", 5), 5.5f);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* PyTorch's matrix of a fully connected layer is taken for its weights, and for no others. */
static void test_matrices_of_transposed_convolutions(void)
{
    const struct tensor tensors[] = {{"features.0.bias", "F32", "[6]", 6, 0, 0},
                                     {"up.weight", "F32", "[6,36]", 216, 0, 0}};
    glcnn_network *network = make_network();
    GOOD(load(network, write_tensors("matrix", tensors, 2), names, NAMES));
    CU_ASSERT_TRUE(says("convolution_transpose_0.weights<up.weight: it is 6 x 36 in the file, here "
                        "6 x 2 x 3 x 2\n"));
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* ---- What is refused changes nothing ---- */

static void test_refusals(void)
{
    const struct tensor fitting = {"convolution_0.weights", "F32", "[6,3,2,2]", 72, 0, 1};
    const struct tensor useless = {"convolution_0.weights", "F32", "[6,3,2,1]", 36, 0, 1};
    const struct tensor endless[] = {fitting,
                                     {"convolution_0.biases", "F32", "[6]", 6, 0, INFINITY}};
    const struct glcnn_checkpoint_name wrong = {"convolution_0.weights", "convolution_0.weight"};
    const struct glcnn_checkpoint_name twice[] = {{"a", "convolution_0.weights"},
                                                  {"b", "convolution_0.weights"}};
    glcnn_network *network = make_network();
    const char *path = write_tensors("fitting", &fitting, 1);
    CU_ASSERT_EQUAL(load(network, path, &wrong, 1), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "did you mean convolution_0.weights?"));
    CU_ASSERT_EQUAL(load(network, path, twice, 2), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "given two tensors"));
    CU_ASSERT_EQUAL(load(network, path, names, NAMES), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "nothing of it fits"));
    CU_ASSERT_EQUAL(load(network, write_tensors("useless", &useless, 1), NULL, 0),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_EQUAL(load(network, write_tensors("endless", endless, 2), NULL, 0),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "value 0 of tensor \"convolution_0.biases\" is inf"));
    CU_ASSERT_EQUAL(load(network, path_of("missing"), NULL, 0), GLCNN_IO_ERROR);
    CU_ASSERT_EQUAL(truncate(path, 100), 0);
    CU_ASSERT_EQUAL(load(network, path, NULL, 0), GLCNN_MALFORMED_DATA);
    CU_ASSERT_STRING_EQUAL(told, "");
    CU_ASSERT_EQUAL(value_of(network, 0, "weights", 0), 0);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* A dtype that nobody here reads refuses no file, but the tensor that is asked for. */
static void test_strange_types(void)
{
    const struct tensor tensors[] = {{"experts.scale", "F8_E8M0", "[3]", 3, 1, 0},
                                     {"angles", "C64", "[2]", 2, 8, 0},
                                     {"packed", "F4", "[5]", 3, 1, 0},
                                     {"fully_connected_0.weights", "F32", "[5,2,3,2]", 60, 0, 1},
                                     {"fully_connected_0.biases", "F6_E2M3", "[5]", 5, 4, 0}};
    glcnn_network *network = make_network();
    GOOD(load(network, write_tensors("strange", tensors, 5), NULL, 0));
    CU_ASSERT_EQUAL(value_of(network, 3, "weights", 0), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(told, "fully_connected_0.biases<fully_connected_0.biases: it is "
                                        "of dtype F6_E2M3\n"));
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* Values that compute nonsense are refused where they are read, whole files and parts alike, and not
 * saved: 8 files, each with one of them. */
static void test_values_that_cannot_be(void)
{
    static const struct {
        const char *vector;
        float value;
        const char *words;
    } wrongs[] = {{"variance", -5, "is -5; a variance is not below 0"},
                  {"variance", 2e19f, "is 2e+19; expected numbers in -1e19 .. 1e19"},
                  {"variance", NAN, "nan; expected numbers"},
                  {"variance", -INFINITY, "is -inf; expected numbers"},
                  {"mean", -2e19f, "is -2e+19; expected numbers in"},
                  {"gamma", 3e38f, "is 3e+38; expected numbers in"},
                  {"beta", INFINITY, "is inf; expected numbers"}};
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        static const char *const vectors[] = {"gamma", "beta", "mean", "variance"};
        struct tensor tensors[4];
        char labels[4][64];
        glcnn_network *network;
        GOOD_FATAL(glcnn_network_create(device, &network));
        glcnn_node(glcnn_image_node_create(network, "x"), "batch_normalization", "epsilon=1e-5");
        for (size_t k = 0; k < 4; k++) {
            snprintf(labels[k], sizeof labels[k], "batch_normalization_0.%s", vectors[k]);
            bool is_wrong = strcmp(vectors[k], wrongs[i].vector) == 0;
            tensors[k] =
                (struct tensor){labels[k], "F32", "[1]", 1, 0, is_wrong ? wrongs[i].value : 0};
        }
        const char *path = write_tensors("wrong", tensors, 4);
        CU_ASSERT_EQUAL(glcnn_checkpoint_load(network, path, NULL, error), GLCNN_MALFORMED_DATA);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrongs[i].words));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrongs[i].vector));
        CU_ASSERT_EQUAL(load(network, path, NULL, 0), GLCNN_MALFORMED_DATA);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrongs[i].words));
        glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, 0));
        for (size_t k = 0; k < 4; k++)
            GOOD(glcnn_kernel_set_vector(kernel, vectors[k], &tensors[k].first, 1));
        CU_ASSERT_EQUAL(glcnn_checkpoint_save(network, path_of("saved"), NULL, 0, error),
                        GLCNN_INVALID_STATE);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, wrongs[i].vector));
        CU_ASSERT_EQUAL(folder_count_files(folder), 1);
        glcnn_network_destroy(&network);
        folder_empty(folder);
    }
}

/* ---- Bytes ---- */

static glcnn_status save(glcnn_network *network, const struct glcnn_checkpoint_bytes *bytes,
                         size_t count)
{
    return glcnn_checkpoint_save_with_bytes(network, path_of("bytes"), NULL, 0, bytes, count,
                                            error);
}

/* Lengths of the normalisation are known by an image alone. */
static glcnn_network *make_plain(void)
{
    glcnn_network *network;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_node(glcnn_image_node_create(network, "x"), "fully_connected",
               "input_feature_channels=1 output_feature_channels=2");
    return network;
}

static void test_bytes(void)
{
    const struct glcnn_checkpoint_bytes bytes[] = {
        {"glcnn.odd", (const uint8_t *)"\0\1\2\377\3", 5},
        {GLCNN_CHECKPOINT_NETWORK, (const uint8_t *)"network", 7}};
    glcnn_network *network = make_plain();
    uint8_t *read = NULL;
    size_t size = 0;
    GOOD(save(network, bytes, 2));
    GOOD(glcnn_checkpoint_load(network, path_of("bytes"), NULL, error));
    for (int i = 0; i < 2; i++) {
        GOOD(glcnn_checkpoint_read_bytes(path_of("bytes"), bytes[i].name, &read, &size, error));
        CU_ASSERT_EQUAL_FATAL(size, bytes[i].size);
        CU_ASSERT_EQUAL(memcmp(read, bytes[i].bytes, size), 0);
        free(read);
    }
    GOOD(glcnn_checkpoint_read_bytes(path_of("bytes"), "glcnn.none", &read, &size, error));
    CU_ASSERT_PTR_NULL(read);
    CU_ASSERT_EQUAL(size, 0);
    CU_ASSERT_EQUAL(glcnn_checkpoint_read_bytes(path_of("bytes"), "fully_connected_0.weights",
                                                &read, &size, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NULL(read);
    CU_ASSERT_EQUAL(glcnn_checkpoint_read_bytes(path_of("bytes"), NULL, &read, &size, error),
                    GLCNN_INVALID_ARGUMENT);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

static void test_refused_bytes(void)
{
    const uint8_t one[] = {1};
    const struct glcnn_checkpoint_bytes refused[][2] = {
        {{"network", one, 1}},       {{NULL, one, 1}},
        {{"glcnn.a", NULL, 1}},      {{"glcnn.a", one, 0}},
        {{"glcnn.\xff", one, 1}},    {{"glcnn.a", one, 1}, {"glcnn.a", one, 1}},
        {{"glcnn.weights", one, 1}}, {{"glcnn.crc64", one, 1}}};
    glcnn_network *network = make_plain();
    GOOD(glcnn_filter_node_set_label(glcnn_network_filter(network, 0), "glcnn"));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CU_ASSERT_EQUAL(save(network, refused[i], refused[i][1].name ? 2 : 1),
                        GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
    glcnn_network_destroy(&network);
}

/* Numbers that would stand at odd places are refused, and read by no one. */
static void test_bytes_in_front(void)
{
    const struct tensor tensors[] = {{"glcnn.odd", "U8", "[3]", 3, 1, 0},
                                     {"fully_connected_0.weights", "F32", "[2,1,1,1]", 2, 0, 1},
                                     {"fully_connected_0.biases", "F32", "[2]", 2, 0, 1}};
    glcnn_network *network = make_plain();
    CU_ASSERT_EQUAL(glcnn_checkpoint_load(network, write_tensors("odd", tensors, 3), NULL, error),
                    GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "begins at byte 3"));
    CU_ASSERT_EQUAL(value_of(network, 0, "weights", 0), 0);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_part),
                                        UNIT_TEST(test_names),
                                        UNIT_TEST(test_matrices_of_transposed_convolutions),
                                        UNIT_TEST(test_refusals),
                                        UNIT_TEST(test_bytes),
                                        UNIT_TEST(test_refused_bytes),
                                        UNIT_TEST(test_bytes_in_front),
                                        UNIT_TEST(test_strange_types),
                                        UNIT_TEST(test_values_that_cannot_be),
                                        CU_TEST_INFO_NULL};
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int result = fixture_run("checkpoint parts", tests, argc, argv);
    rmdir(folder);
    return result;
}
