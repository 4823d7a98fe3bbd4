/* Checkpoints: what was saved is loaded bit for bit, training goes on as if it had not stopped, and
 * a file that is damaged or of another network changes nothing. */
#include <glcnn/checkpoint.h>
#include <glcnn/kernels/optimizer.h>

#include "tests/fixture.h"
#include "tests/folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"

static char folder[] = "/tmp/glcnn-checkpoint-XXXXXX";
static char error[512];

/* ---------------------------------------------------------------------------------- helpers */

static const char *path_of(const char *name)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, 1024, "%s/%s", folder, name);
    return path;
}

/* The call must succeed without a message, or fail with one. */
static bool ends_with(glcnn_status status, glcnn_status expected, int line)
{
    if (status == expected && (status == GLCNN_SUCCESS) == (error[0] == 0))
        return true;
    fprintf(stderr, "\n  line %d: %s: %s\n", line, glcnn_status_text(status), error);
    return false;
}
#define ENDS(expected, call) CU_ASSERT_TRUE(ends_with(call, expected, __LINE__))

struct bytes {
    uint8_t *at;
    size_t size;
};

static struct bytes read_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fstat(fileno(file), &info);
    struct bytes b = {malloc((size_t)info.st_size + 1), (size_t)info.st_size};
    CU_ASSERT_EQUAL(fread(b.at, 1, b.size, file), b.size);
    fclose(file);
    return b;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Changes the name of the digest, so that the bytes are those of a program that writes none. */
static void take_out_digest(struct bytes *b)
{
    for (size_t i = 0; i + 11 <= b->size; i++)
        if (memcmp(b->at + i, "glcnn.crc64", 11) == 0)
            memcpy(b->at + i, "glcnn.crc00", 11);
}

static bool files_equal(const char *a, const char *b)
{
    struct bytes x = read_file(a), y = read_file(b);
    bool equal = x.size == y.size && memcmp(x.at, y.at, x.size) == 0;
    free(x.at);
    free(y.at);
    return equal;
}

/* ---------------------------------------------------------------------------------- networks */

/* A convolution, one in two groups, batch normalisations, dropout, a fully connected layer. */
#define SIDE    8
#define CLASSES 4
#define BATCH   3

struct model {
    glcnn_network *network;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static glcnn_image_node *describe(glcnn_image_node *y)
{
    y = glcnn_node(y, "convolution",
                   "input_feature_channels=1 output_feature_channels=6 kernel_width=3 "
                   "kernel_height=3");
    y = glcnn_node(y, "batch_normalization", "epsilon=1e-5 neuron_type=relu");
    y = glcnn_node(y, "convolution",
                   "input_feature_channels=6 output_feature_channels=4 kernel_width=2 "
                   "kernel_height=3 groups=2");
    y = glcnn_node(y, "batch_normalization", "epsilon=1e-5");
    y = glcnn_node(y, "dropout", "keep_probability=0.75 seed=5");
    return glcnn_node(y, "fully_connected",
                      "input_feature_channels=4 output_feature_channels=4 kernel_width=8 "
                      "kernel_height=8");
}

static void give_noise(glcnn_network *network, uint32_t seed)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(network, i)); i++) {
        glcnn_buffer *buffer = glcnn_kernel_vector(glcnn_filter_node_kernel(node), "weights");
        if (!buffer || glcnn_filter_node_forward(node, NULL))
            continue;
        float values[1024];
        for (size_t k = 0; k < glcnn_buffer_size(buffer) / 4; k++)
            values[k] = 0.3f * noise(&seed);
        GOOD(glcnn_buffer_write(buffer, 0, glcnn_buffer_size(buffer), values));
    }
}

static glcnn_kernel *make_optimizer(const char *name)
{
    glcnn_kernel *optimizer = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, name, &optimizer));
    glcnn_optimizer(optimizer)->learning_rate = 0.01f;
    if (strstr(name, "gradient_descent"))
        glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    return optimizer;
}

/* Untrained without an optimizer. */
static struct model make_model(const char *optimizer_name, uint32_t seed)
{
    struct model m = {0};
    glcnn_filter_node *ends[8];
    GOOD_FATAL(glcnn_network_create(device, &m.network));
    glcnn_image_node *y = describe(glcnn_image_node_create(m.network, "image"));
    glcnn_image_node *pair[] = {y, glcnn_image_node_create(m.network, "labels")};
    glcnn_filter_node *loss = glcnn_filter_node_create(
        m.network, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum", pair, 2);
    size_t count = glcnn_training_graph_with_source_gradient(loss, NULL, NULL, NULL, ends, 8);
    GOOD_FATAL(glcnn_network_status(m.network));
    give_noise(m.network, seed);
    if (!optimizer_name)
        return m;
    glcnn_kernel *optimizer = make_optimizer(optimizer_name);
    GOOD(glcnn_network_set_training(m.network,
                                    &(struct glcnn_training_descriptor){.optimizer = optimizer}));
    glcnn_kernel_destroy(&optimizer);
    glcnn_image_node *results[9] = {glcnn_filter_node_loss(loss)};
    bool needed[9] = {true};
    for (size_t i = 0; i < count; i++)
        results[i + 1] = glcnn_filter_node_result(ends[i]);
    GOOD_FATAL(glcnn_graph_create(m.network,
                                  &(struct glcnn_graph_descriptor){.results = results,
                                                                   .result_is_needed = needed,
                                                                   .result_count = count + 1},
                                  &m.graph));
    m.sources[0] = make_image(BATCH, 1, SIDE, SIDE);
    m.sources[1] = make_image(BATCH, CLASSES, 1, 1);
    return m;
}

static void destroy_model(struct model *m)
{
    glcnn_graph_destroy(&m->graph);
    glcnn_image_destroy(&m->sources[0]);
    glcnn_image_destroy(&m->sources[1]);
    glcnn_network_destroy(&m->network);
}

/* Steps first .. last - 1, each on images of its own. */
static void train(struct model *m, uint32_t first, uint32_t last)
{
    for (uint32_t step = first; step < last; step++) {
        float labels[BATCH * CLASSES] = {0};
        for (uint32_t i = 0; i < BATCH; i++)
            labels[i * CLASSES + (step + i) % CLASSES] = 1;
        fill_noise(m->sources[0], step + 1);
        fill_image(m->sources[1], labels);
        GOOD_FATAL(glcnn_graph_execute(m->graph, m->sources, NULL, NULL));
        GOOD_FATAL(glcnn_graph_wait(m->graph));
    }
}

static const char *const optimizers[] = {"optimizer_adam", "optimizer_stochastic_gradient_descent",
                                         "optimizer_rms_prop"};
enum { OPTIMIZERS = sizeof optimizers / sizeof *optimizers };

/* ---------------------------------------------------------------------------------- tests */

/* Two files are equal only if every tensor and every counter is. */
static void test_round_trip(void)
{
    for (int i = 0; i < OPTIMIZERS; i++) {
        struct model from = make_model(optimizers[i], 1), to = make_model(optimizers[i], 2);
        train(&from, 0, 3);
        ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(from.network, path_of("a"), NULL, 0, error));
        ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(to.network, path_of("b"), NULL, 0, error));
        CU_ASSERT_FALSE(files_equal(path_of("a"), path_of("b")));
        ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(to.network, path_of("a"), NULL, error));
        ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(to.network, path_of("b"), NULL, 0, error));
        CU_ASSERT_TRUE(files_equal(path_of("a"), path_of("b")));
        destroy_model(&from);
        destroy_model(&to);
    }
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    folder_empty(folder);
}

/* Loaded before the first step of a process, and into a graph that has run. */
static void test_training_goes_on(void)
{
    for (int i = 0; i < OPTIMIZERS; i++) {
        struct model whole = make_model(optimizers[i], 1), stopped = make_model(optimizers[i], 1);
        train(&whole, 0, 6);
        train(&stopped, 0, 3);
        ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(stopped.network, path_of("3"), NULL, 0, error));
        ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(whole.network, path_of("6"), NULL, 0, error));
        for (uint32_t before = 0; before < 3; before += 2) {
            struct model resumed = make_model(optimizers[i], 9);
            train(&resumed, 0, before);
            ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(resumed.network, path_of("3"), NULL, error));
            train(&resumed, 3, 6);
            ENDS(GLCNN_SUCCESS,
                 glcnn_checkpoint_save(resumed.network, path_of("b"), NULL, 0, error));
            CU_ASSERT_TRUE(files_equal(path_of("6"), path_of("b")));
            destroy_model(&resumed);
        }
        destroy_model(&whole);
        destroy_model(&stopped);
    }
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- the format */

static uint64_t little_endian(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | bytes[i];
    return value;
}

/* The number behind the first `key` in the text, and in `rest` what follows it. */
static uint64_t number_behind(const char *text, const char *key, char **rest)
{
    const char *at = strstr(text, key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    return strtoull(at + strlen(key), rest, 10);
}

/* Reads a header as the format's text has it, and as this library writes it: entries one behind the
 * other without spaces, tensors in the order of their places. */
static void check_format(const struct bytes *b, unsigned expected_tensors)
{
    CU_ASSERT_FATAL(b->size > 8);
    uint64_t length = little_endian(b->at), end = 0;
    CU_ASSERT_FATAL(length % 8 == 0 && length < b->size - 8);
    char *header = calloc(1, length + 1), *at = header;
    memcpy(header, b->at + 8, length);
    CU_ASSERT_EQUAL(strlen(header), length);
    CU_ASSERT_EQUAL(strncmp(header, "{\"__metadata__\":{", 17), 0);
    unsigned tensors = 0;
    for (; strstr(at, "\"dtype\":\"F32\""); tensors++) {
        uint64_t elements = 1;
        at = strstr(at, "\"shape\":[") + 9;
        for (; *at != ']'; at += *at == ',')
            elements *= strtoull(at, &at, 10);
        CU_ASSERT_EQUAL(number_behind(at, "\"data_offsets\":[", &at), end);
        CU_ASSERT_EQUAL(number_behind(at, ",", &at), end + 4 * elements);
        end += 4 * elements;
    }
    CU_ASSERT_EQUAL(tensors, expected_tensors);
    CU_ASSERT_EQUAL(8 + length + end + 8, b->size);
    at = strstr(at, "\"glcnn.crc64\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[");
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    CU_ASSERT_EQUAL(number_behind(at, "offsets\":[", &at), end);
    CU_ASSERT_EQUAL(number_behind(at, ",", &at), end + 8);
    while (*at == ']' || *at == '}' || *at == ' ')
        at++;
    CU_ASSERT_EQUAL(*at, 0);
    free(header);
}

/* Three layers of weights and biases, two of four vectors; Adam keeps two for each of weights,
 * biases, gamma and beta. */
static void test_format(void)
{
    struct model m = make_model("optimizer_adam", 1);
    train(&m, 0, 1);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(m.network, path_of("a"), NULL, 0, error));
    struct bytes b = read_file(path_of("a"));
    check_format(&b, 3 * 2 + 2 * 4 + (3 * 2 + 2 * 2) * 2);
    const char *header = (const char *)b.at + 8;
    CU_ASSERT_PTR_NOT_NULL(strstr(header, "\"convolution_1.weights\":{\"dtype\":\"F32\",\"shape\":"
                                          "[4,3,2,3]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(header, "\"time_step.convolution_1\":\"1\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(header, "\"encodes.dropout_0\":\"1\""));
    /* The first tensor are the first layer's weights. */
    float values[6 * 9];
    glcnn_filter_node *first = glcnn_network_filter(m.network, 0);
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(glcnn_filter_node_kernel(first), "weights"), 0,
                           sizeof values, values));
    CU_ASSERT_EQUAL(memcmp(values, b.at + 8 + little_endian(b.at), sizeof values), 0);
    free(b.at);
    destroy_model(&m);
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- metadata */

static void test_metadata(void)
{
    const struct glcnn_checkpoint_entry entries[] = {
        {"epoch", "3"}, {"", "empty name"}, {"text", "a \"quote\" \\ \n \x01 \xc3\xa9"}};
    const struct glcnn_checkpoint_entry refused[][2] = {
        {{"a", "1"}, {"a", "2"}},        {{"a", "1"}, {NULL, "2"}},
        {{"a", "1"}, {"b", NULL}},       {{"a", "\xff"}, {"b", "2"}},
        {{"\xc0\x80", "1"}, {"b", "2"}}, {{"a", "1"}, {"encodes.dropout_0", "2"}}};
    struct glcnn_checkpoint_metadata metadata;
    struct model t = make_model("optimizer_adam", 1);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(t.network, path_of("a"), entries, 3, error));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ENDS(GLCNN_INVALID_ARGUMENT,
             glcnn_checkpoint_save(t.network, path_of("a"), refused[i], 2, error));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_read_metadata(path_of("a"), &metadata, error));
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_STRING_EQUAL(glcnn_checkpoint_text(&metadata, entries[i].name), entries[i].text);
    CU_ASSERT_PTR_NULL(glcnn_checkpoint_text(&metadata, "epoc"));
    CU_ASSERT_STRING_EQUAL(glcnn_checkpoint_text(&metadata, "optimizer.convolution_0"),
                           "optimizer_adam");
    glcnn_checkpoint_metadata_destroy(&metadata);
    CU_ASSERT_EQUAL(metadata.count, 0);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(t.network, path_of("a"), &metadata, error));
    CU_ASSERT_STRING_EQUAL(glcnn_checkpoint_text(&metadata, "epoch"), "3");
    glcnn_checkpoint_metadata_destroy(&metadata);
    destroy_model(&t);
    folder_empty(folder);
}

/* A disk that says no sooner that it is full, as one with quotas or over a network may. */
static bool is_full;

int fsync(int descriptor)
{
    errno = is_full ? ENOSPC : 0;
    return descriptor < 0 || is_full ? -1 : 0;
}

static void test_try_save_on_a_full_disk(void)
{
    struct model m = make_model("optimizer_adam", 1);
    is_full = true;
    ENDS(GLCNN_IO_ERROR,
         glcnn_checkpoint_try_save(m.network, path_of("a"), NULL, 0, NULL, 0, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "/a: cannot be flushed to disk: No space left"));
    is_full = false;
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
    ENDS(GLCNN_SUCCESS,
         glcnn_checkpoint_try_save(m.network, path_of("a"), NULL, 0, NULL, 0, error));
    destroy_model(&m);
    folder_empty(folder);
}

/* What saving would refuse is refused, and nothing is written. */
static void test_try_save(void)
{
    const struct glcnn_checkpoint_entry good = {"classes", "caf\xc3\xa9"},
                                        bad = {"classes", "caf\xe9"};
    const struct glcnn_checkpoint_bytes bytes = {"other", (const uint8_t *)"x", 1};
    struct model m = make_model("optimizer_adam", 1);
    const char *path = path_of("a");
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_try_save(m.network, path, &good, 1, NULL, 0, error));
    ENDS(GLCNN_INVALID_ARGUMENT,
         glcnn_checkpoint_try_save(m.network, path, &bad, 1, NULL, 0, error));
    CU_ASSERT_STRING_EQUAL(error, "metadata \"classes\" has a text that is not UTF-8");
    ENDS(GLCNN_INVALID_ARGUMENT,
         glcnn_checkpoint_try_save(m.network, path, &good, 1, &bytes, 1, error));
    ENDS(GLCNN_IO_ERROR,
         glcnn_checkpoint_try_save(m.network, path_of("none/a"), &good, 1, NULL, 0, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
    write_file(path, "old", 3);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_try_save(m.network, path, &good, 1, NULL, 0, error));
    struct bytes b = read_file(path);
    CU_ASSERT_EQUAL(b.size, 3);
    free(b.at);
    destroy_model(&m);
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- damage */

/* One fully connected layer "f" of one input and two outputs. */
static glcnn_network *make_layer(void)
{
    glcnn_network *network;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *y = glcnn_node(glcnn_image_node_create(network, "x"), "fully_connected",
                                     "input_feature_channels=1 output_feature_channels=2");
    GOOD(glcnn_filter_node_set_label(glcnn_image_node_filter(y), "f"));
    give_noise(network, 4);
    return network;
}

static struct bytes file_of(const char *header, size_t header_size, size_t data_size)
{
    struct bytes b = {calloc(1, 8 + header_size + data_size), 8 + header_size + data_size};
    for (size_t i = 0; i < 8; i++)
        b.at[i] = (uint8_t)(header_size >> 8 * i);
    memcpy(b.at + 8, header, header_size);
    return b;
}

/* Loads the bytes; a load that fails must say so and leave the network as it was. */
static glcnn_status load_bytes(glcnn_network *network, const struct bytes *b)
{
    const char *before = path_of("before"), *after = path_of("after"), *path = path_of("damaged");
    struct glcnn_checkpoint_metadata metadata;
    char message[512];
    write_file(path, b->at, b->size);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, before, NULL, 0, error));
    glcnn_status status = glcnn_checkpoint_load(network, path, &metadata, message);
    CU_ASSERT_EQUAL(status == GLCNN_SUCCESS, message[0] == 0);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, after, NULL, 0, error));
    if (status != GLCNN_SUCCESS) {
        CU_ASSERT_TRUE(files_equal(before, after));
        CU_ASSERT_PTR_NULL(metadata.entries);
    }
    glcnn_checkpoint_metadata_destroy(&metadata);
    strcpy(error, message);
    return status;
}

#define TENSOR(name, dtype, shape, offsets)                                                        \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define W           TENSOR("f.weights", "F32", "[2,1,1,1]", "[0,8]")
#define B           TENSOR("f.biases", "F32", "[2]", "[8,16]")
#define GOOD_HEADER "{" W "," B "}"

static const struct {
    const char *header;
    size_t data_size;
    const char *said;
} damages[] = {
    {"{}", 0, "no tensor \"f.weights\""},
    {"", 16, "truncated"},
    {"[]", 16, "no JSON object"},
    {"NaN", 16, "no JSON object"},
    {"{\"a\":NaN}", 16, "no JSON object"},
    {" " GOOD_HEADER, 16, "no JSON object"},
    {GOOD_HEADER " x", 16, "no JSON object"},
    {"{" W "," B, 16, "no JSON object"},
    {"{\"\xff\":1," W "," B "}", 16, "no JSON object"},
    {"{\"f.weights\\u0000\":1," W "," B "}", 16, "no JSON object"},
    {"{" W "}", 8, "no tensor \"f.biases\""},
    {"{" W "," B "}", 15, "bytes 8 to 16 of 15"},
    {"{" W "," B "}", 20, "have 16 bytes and the file has 20"},
    {"{" W "," W "," B "}", 16, "\"f.weights\" twice"},
    {"{" W "," TENSOR("f.weights", "F32", "[2]", "[8,16]") "}", 16, "\"f.weights\" twice"},
    {"{" W "," TENSOR("f.biases", "F32", "[2]", "[4,12]") "}", 12, "overlap"},
    {"{" W "," TENSOR("f.biases", "F32", "[2]", "[12,20]") "}", 20, "holes"},
    {"{" W "," B "," TENSOR("extra", "F32", "[1]", "[16,20]") "}", 20, "\"extra\", which"},
    {"{" W "," B "," TENSOR("half", "F16", "[1]", "[16,18]") "}", 18, "\"half\", which"},
    {"{" W "," B "," TENSOR("none", "F32", "[0]", "[16,16]") "}", 16, "\"none\", which"},
    {"{" W "," B "," TENSOR("f.weights.optimizer.third", "F32", "[1]", "[16,20]") "}", 20,
     "third\", which"},
    {"{" W "," B "," TENSOR("f.weights.optimizer.first", "F16", "[1]", "[16,18]") "}", 18,
     "expected F32"},
    {"{" W "," TENSOR("f.biases", "I32", "[2]", "[8,16]") "}", 16, "I32; expected F32"},
    {"{" W "," TENSOR("f.biases", "F31", "[2]", "[8,16]") "}", 16, "F31; expected F32"},
    {"{" W "," TENSOR("f.biases", "F32", "[1,2]", "[8,16]") "}", 16, "is 1 x 2"},
    {"{" W "," TENSOR("f.biases", "F32", "[]", "[8,12]") "}", 12, "\"f.biases\" is ;"},
    {"{" W "," TENSOR("f.biases", "F32", "[3]", "[8,20]") "}", 20, "is 3; the network's is 2"},
    {"{" W "," TENSOR("f.biases", "F32", "[-2]", "[8,16]") "}", 16, "whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[2.5]", "[8,18]") "}", 18, "whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[1e300]", "[8,16]") "}", 16, "whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[\"2\"]", "[8,16]") "}", 16, "whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "2", "[8,16]") "}", 16, "whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[1,1,1,1,1,1,1,1,2]", "[8,16]") "}", 16, "at most 8"},
    {"{" W "," TENSOR("f.biases", "F32", "[4294967296,4294967296,2]", "[8,16]") "}", 16, "do not"},
    {"{" W "," TENSOR("f.biases", "F32", "[4611686018427387904]", "[8,8]") "}", 8, "whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[2]", "[16,8]") "}", 16, "do not make that"},
    {"{" W "," TENSOR("f.biases", "F32", "[2]", "[8,16,24]") "}", 16, "two whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[2]", "[8]") "}", 16, "two whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[2]", "[8,1e17]") "}", 16, "two whole numbers"},
    {"{" W "," TENSOR("f.biases", "F32", "[2]", "{}") "}", 16, "two whole numbers"},
    {"{" W ",\"f.biases\":{\"dtype\":\"F32\",\"shape\":[2]}}", 16, "is no tensor"},
    {"{" W ",\"f.biases\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[8,16]}}", 16, "no tensor"},
    {"{" W ",\"f.biases\":[2]}", 16, "is no tensor"},
    {"{\"__metadata__\":[]," W "," B "}", 16, "no object"},
    {"{\"__metadata__\":{\"a\":1}," W "," B "}", 16, "no text"},
    {"{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}," W "," B "}", 16, "a name twice"},
    {"{\"__metadata__\":{},\"__metadata__\":{}," W "," B "}", 16, "__metadata__ twice"},
};

static void test_damage(void)
{
    glcnn_network *network = make_layer();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct bytes b =
            file_of(damages[i].header, strlen(damages[i].header), damages[i].data_size);
        CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_MALFORMED_DATA);
        if (!strstr(error, damages[i].said))
            fprintf(stderr, "\n  row %zu: %s\n", i, error);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, damages[i].said));
        free(b.at);
    }
    /* What the rows are changed from is good, with spaces around it, and in any order. */
    static const char *const accepted[] = {
        GOOD_HEADER, "{\"__metadata__\":{\"a\":\"b\"}, " B " ,\n" W "}   ",
        "{" W "," B "," TENSOR("f.biases.optimizer.second", "F32", "[0]", "[8,8]") "}"};
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct bytes b = file_of(accepted[i], strlen(accepted[i]), 16);
        CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_SUCCESS);
        free(b.at);
    }
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* Every prefix, what goes beyond the end, lengths of the header that cannot be, each byte changed.
 */
static void test_damaged_bytes(void)
{
    glcnn_network *network = make_layer();
    struct bytes good = file_of(GOOD_HEADER, strlen(GOOD_HEADER), 16), b = good;
    for (b.size = 0; b.size < good.size; b.size++)
        CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_MALFORMED_DATA);
    for (size_t i = 0; i < 8; i++) {
        uint8_t old = good.at[i];
        good.at[i] = 0xff;
        CU_ASSERT_EQUAL(load_bytes(network, &good), GLCNN_MALFORMED_DATA);
        good.at[i] = old;
    }
    uint32_t seed = 3;
    for (size_t i = 8; i < good.size - 16; i++) {
        uint8_t old = good.at[i];
        good.at[i] = (uint8_t)below(&seed, 256);
        load_bytes(network, &good);
        good.at[i] = old;
    }
    CU_ASSERT_EQUAL(load_bytes(network, &good), GLCNN_SUCCESS);
    b = file_of("{}\0{}", 5, 0);
    CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_MALFORMED_DATA);
    free(b.at);
    free(good.at);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* ECMA-182's polynomial, its bits and those of the bytes from the lowest on. */
static uint64_t crc64(const uint8_t *bytes, size_t size)
{
    uint64_t crc = UINT64_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT64_C(0xc96c5795d7870f42) : 0);
    }
    return ~crc;
}

static void test_digest(void)
{
    glcnn_network *network = make_layer();
    struct bytes b = {NULL, 0};
    CU_ASSERT_EQUAL(crc64((const uint8_t *)"123456789", 9), UINT64_C(0x995dc9bbdf1939fa));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("a"), NULL, 0, error));
    b = read_file(path_of("a"));
    CU_ASSERT_EQUAL(little_endian(b.at + b.size - 8), crc64(b.at, b.size - 8));
    b.at[b.size - 12] ^= 1; /* of the last weight */
    CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "damaged: is damaged: the CRC-64 of its bytes is "));
    take_out_digest(&b);
    CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_SUCCESS);
    free(b.at);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* One whose tensor is not the last, or has not eight bytes, is none. */
static void test_digests_elsewhere(void)
{
    static const char *const headers[] = {
        "{" W "," B "," TENSOR("glcnn.crc64", "U8", "[7]", "[16,23]") "}",
        "{" W "," B "," TENSOR("glcnn.crc64", "U8", "[8]",
                               "[16,24]") "," TENSOR("glcnn.x", "U8", "[1]", "[24,25]") "}"};
    static const size_t sizes[] = {23, 25};
    glcnn_network *network = make_layer();
    for (size_t i = 0; i < 2; i++) {
        struct bytes b = file_of(headers[i], strlen(headers[i]), sizes[i]);
        CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_MALFORMED_DATA);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, "its digest, is not its last 8 bytes"));
        free(b.at);
    }
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

static void read_layer(glcnn_network *network, float values[4])
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(network, 0));
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, "weights"), 0, 8, values));
    GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, "biases"), 0, 8, values + 2));
}

/* No bit and no byte of a checkpoint can change so that it loads with other weights or says anything
 * else: what loads has lost the name of its digest alone. */
static void test_flipped_bytes(void)
{
    static const uint8_t masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
    const struct glcnn_checkpoint_entry entry = {"step", "1234"};
    glcnn_network *network = make_layer();
    float saved[4], loaded[4];
    size_t loads = 0, wrong = 0;
    read_layer(network, saved);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("a"), &entry, 1, error));
    struct bytes b = read_file(path_of("a"));
    for (size_t i = 0; i < b.size * sizeof masks; i++) {
        struct glcnn_checkpoint_metadata m;
        b.at[i / sizeof masks] ^= masks[i % sizeof masks];
        write_file(path_of("b"), b.at, b.size);
        b.at[i / sizeof masks] ^= masks[i % sizeof masks];
        if (glcnn_checkpoint_load(network, path_of("b"), &m, error) != GLCNN_SUCCESS)
            continue;
        read_layer(network, loaded);
        loads++;
        wrong += memcmp(saved, loaded, sizeof saved) != 0 || !glcnn_checkpoint_text(&m, "step") ||
                 strcmp(glcnn_checkpoint_text(&m, "step"), "1234") != 0;
        glcnn_checkpoint_metadata_destroy(&m);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(loads <= sizeof masks * strlen("crc64"));
    free(b.at);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* Brackets without end: the parser must neither run out of stack nor take what the file lies of. */
static void test_deep_header(void)
{
    glcnn_network *network = make_layer();
    struct bytes b = file_of("", 0, 9u << 20);
    memset(b.at, '[', b.size);
    memcpy(b.at, "\0\0\x70\0\0\0\0\0{\"a\":", 13); /* 7 MiB */
    CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "no JSON object"));
    b.at[2] = 0x81; /* 8.06 MiB */
    CU_ASSERT_EQUAL(load_bytes(network, &b), GLCNN_MALFORMED_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "a header has 1 to"));
    free(b.at);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- networks */

static uint32_t time_step_of(struct model *m)
{
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(m->network, 0));
    return glcnn_optimizer(glcnn_kernel_optimizer(kernel))->time_step;
}

/* What is trained otherwise, or not at all. */
static void test_other_training(void)
{
    struct model adam = make_model("optimizer_adam", 1),
                 other = make_model("optimizer_stochastic_gradient_descent", 2),
                 plain = make_model(NULL, 3);
    train(&adam, 0, 2);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(adam.network, path_of("adam"), NULL, 0, error));
    ENDS(GLCNN_MALFORMED_DATA, glcnn_checkpoint_load(other.network, path_of("adam"), NULL, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "optimizer_adam"));
    /* The network without training knows no channels of its normalisations until it has them. */
    ENDS(GLCNN_INVALID_ARGUMENT,
         glcnn_checkpoint_save(plain.network, path_of("plain"), NULL, 0, error));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(plain.network, path_of("adam"), NULL, error));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(plain.network, path_of("plain"), NULL, 0, error));
    /* Parameters alone: the optimizer's state stays, and so the second load changes nothing. */
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(adam.network, path_of("plain"), NULL, error));
    CU_ASSERT_EQUAL(time_step_of(&adam), 2);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(adam.network, path_of("again"), NULL, 0, error));
    CU_ASSERT_TRUE(files_equal(path_of("adam"), path_of("again")));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(other.network, path_of("plain"), NULL, error));
    destroy_model(&adam);
    destroy_model(&other);
    destroy_model(&plain);
    folder_empty(folder);
}

/* Replaces the first `from` in a file by `to`, which is as long. */
static void edit_file(const char *path, const char *from, const char *to)
{
    struct bytes b = read_file(path);
    size_t length = strlen(from);
    CU_ASSERT_EQUAL_FATAL(length, strlen(to));
    for (size_t i = 0; i + length <= b.size; i++)
        if (memcmp(b.at + i, from, length) == 0) {
            memcpy(b.at + i, to, length);
            take_out_digest(&b);
            write_file(path, b.at, b.size);
            free(b.at);
            return;
        }
    CU_FAIL("the text to replace is not there");
    free(b.at);
}

static void test_counters(void)
{
    static const char *const edits[][3] = {
        {"\"time_step.convolution_0\":\"2\"", "\"time_step.convolution_0\":\"x\"",
         "a: \"time_step.convolution_0\" in its metadata is \"x\"; expected a whole number in 0 .. "
         "4294967295"},
        {"\"time_step.convolution_0\":\"2\"", "\"time_step.convolution_0\":\"-\"", "is \"-\""},
        {"\"time_step.convolution_0\"", "\"time_stop.convolution_0\"",
         "a: has no metadata \"time_step.convolution_0\""},
        {"\"encodes.dropout_0\":\"2\"", "\"encodes.dropout_0\":\" \"",
         "a: \"encodes.dropout_0\" in its metadata is \" \""},
        {"\"encodes.dropout_0\"", "\"encoded.dropout_0\"",
         "a: has no metadata \"encodes.dropout_0\""},
        {"optimizer_adam", "optimizer_adan", "trained with optimizer_adan"}};
    struct model m = make_model("optimizer_adam", 1);
    train(&m, 0, 2);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(m.network, path_of("a"), NULL, 0, error));
        edit_file(path_of("a"), edits[i][0], edits[i][1]);
        ENDS(GLCNN_MALFORMED_DATA, glcnn_checkpoint_load(m.network, path_of("a"), NULL, error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error, edits[i][2]));
    }
    destroy_model(&m);
    folder_empty(folder);
}

/* Puts a value into the file of `m` that save and load refuse, by its bytes in place of a mark. */
static void test_values_that_are_not_finite(void)
{
    static const float mark = 12345.678f, one = 1, values[] = {NAN, INFINITY, -INFINITY};
    struct model m = make_model("optimizer_adam", 1);
    train(&m, 0, 1);
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_network_filter(m.network, 0));
    glcnn_buffer *places[] = {glcnn_kernel_vector(kernel, "weights"),
                              glcnn_kernel_optimizer_vector(kernel, "weights", 1)};
    static const char *const names[] = {"convolution_0.weights",
                                        "convolution_0.weights.optimizer.second"};
    for (size_t i = 0; i < 2; i++)
        for (size_t v = 0; v < 3; v++) {
            char from[5] = "", to[5] = "";
            GOOD(glcnn_buffer_write(places[i], 8, 4, &mark));
            ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(m.network, path_of("a"), NULL, 0, error));
            ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(m.network, path_of("b"), NULL, 0, error));
            struct bytes b = read_file(path_of("b"));
            memcpy(from, &mark, 4), memcpy(to, &values[v], 4);
            for (size_t at = 0; at + 4 <= b.size; at++)
                if (memcmp(b.at + at, from, 4) == 0)
                    memcpy(b.at + at, to, 4);
            take_out_digest(&b);
            write_file(path_of("b"), b.at, b.size);
            free(b.at);
            ENDS(GLCNN_MALFORMED_DATA, glcnn_checkpoint_load(m.network, path_of("b"), NULL, error));
            CU_ASSERT_PTR_NOT_NULL(strstr(error, names[i]));
            write_file(path_of("b"), "", 0);
            ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(m.network, path_of("b"), NULL, 0, error));
            CU_ASSERT_TRUE(files_equal(path_of("a"), path_of("b"))); /* nothing was loaded */
            GOOD(glcnn_buffer_write(places[i], 8, 4, &values[v]));
            ENDS(GLCNN_INVALID_STATE,
                 glcnn_checkpoint_save(m.network, path_of("b"), NULL, 0, error));
            CU_ASSERT_PTR_NOT_NULL(strstr(error, names[i]));
            CU_ASSERT_PTR_NOT_NULL(strstr(error, "value 2 is "));
            CU_ASSERT_TRUE(files_equal(path_of("a"), path_of("b"))); /* the old file stays */
            GOOD(glcnn_buffer_write(places[i], 8, 4, &one));
        }
    destroy_model(&m);
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    folder_empty(folder);
}

static glcnn_kernel *dropout_of(const struct model *m)
{
    glcnn_filter_node *node = NULL;
    for (size_t i = 0; (node = glcnn_network_filter(m->network, i)); i++)
        if (strcmp(glcnn_filter_node_label(node), "dropout_0") == 0)
            break;
    CU_ASSERT_PTR_NOT_NULL_FATAL(node);
    return glcnn_filter_node_kernel(node);
}

/* Parameters that training begins with, or that serve inference, may come without counts: those of
 * the network stay. */
static void test_counters_that_are_not_needed(void)
{
    struct model plain = make_model(NULL, 3), adam = make_model("optimizer_adam", 1);
    train(&adam, 0, 2);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(adam.network, path_of("adam"), NULL, 0, error));
    edit_file(path_of("adam"), "\"encodes.dropout_0\"", "\"encoded.dropout_0\"");
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(plain.network, path_of("adam"), NULL, error));
    CU_ASSERT_EQUAL(glcnn_kernel_encode_count(dropout_of(&plain)), 0);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(plain.network, path_of("plain"), NULL, 0, error));
    glcnn_kernel_set_encode_count(dropout_of(&adam), 7);
    edit_file(path_of("plain"), "\"encodes.dropout_0\"", "\"encoded.dropout_0\"");
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(adam.network, path_of("plain"), NULL, error));
    CU_ASSERT_EQUAL(glcnn_kernel_encode_count(dropout_of(&adam)), 7);
    destroy_model(&plain);
    destroy_model(&adam);
    folder_empty(folder);
}

static void test_labels(void)
{
    glcnn_network *network = make_layer();
    glcnn_image_node *y = glcnn_node(glcnn_network_image(network, 1), "convolution",
                                     "input_feature_channels=2 output_feature_channels=1");
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("a"), NULL, 0, error));
    GOOD(glcnn_filter_node_set_label(glcnn_image_node_filter(y), "f"));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_save(network, path_of("b"), NULL, 0, error));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_load(network, path_of("a"), NULL, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "label \"f\""));
    GOOD(glcnn_filter_node_set_label(glcnn_image_node_filter(y), "\xff"));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_save(network, path_of("b"), NULL, 0, error));
    GOOD(glcnn_filter_node_set_label(glcnn_image_node_filter(y), "other"));
    ENDS(GLCNN_MALFORMED_DATA, glcnn_checkpoint_load(network, path_of("a"), NULL, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* Slopes of PReLU belong to a network; other neurons have none. */
static void test_slopes(void)
{
    glcnn_network *networks[2];
    const float slopes[] = {0.25f, -0.5f, 2};
    for (int i = 0; i < 2; i++) {
        GOOD_FATAL(glcnn_network_create(device, &networks[i]));
        glcnn_image_node *y =
            glcnn_node(glcnn_image_node_create(networks[i], "x"), "neuron", "neuron_type=prelu");
        glcnn_node(y, "neuron", "neuron_type=relu");
    }
    glcnn_kernel *from = glcnn_filter_node_kernel(glcnn_network_filter(networks[0], 0)),
                 *to = glcnn_filter_node_kernel(glcnn_network_filter(networks[1], 0));
    GOOD(glcnn_kernel_set_vector(from, "neuron_data", slopes, 3));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(networks[0], path_of("a"), NULL, 0, error));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(networks[1], path_of("a"), NULL, error));
    float values[3];
    glcnn_buffer *loaded = glcnn_kernel_vector(to, "neuron_data");
    CU_ASSERT_PTR_NOT_NULL_FATAL(loaded);
    GOOD(glcnn_buffer_read(loaded, 0, sizeof values, values));
    CU_ASSERT_EQUAL(memcmp(values, slopes, sizeof slopes), 0);
    for (int i = 0; i < 2; i++)
        glcnn_network_destroy(&networks[i]);
    folder_empty(folder);
}

/* What pictures were normalised by goes along. */
static void test_image_normalization(void)
{
    static const char *const names[] = {"mean", "deviation"};
    static const float values[2][3] = {{0.5f, 0.25f, 0.125f}, {0.75f, 1, 2}};
    glcnn_network *saved = NULL, *loaded = NULL;
    GOOD_FATAL(glcnn_network_create(device, &saved));
    GOOD_FATAL(glcnn_network_create(device, &loaded));
    glcnn_image_normalization_node(glcnn_image_node_create(saved, "x"), values[0], values[1], 3);
    glcnn_image_node *y =
        glcnn_image_normalization_node(glcnn_image_node_create(loaded, "x"), NULL, NULL, 0);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(saved, path_of("a"), NULL, 0, error));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(loaded, path_of("a"), NULL, error));
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(y));
    for (int i = 0; i < 2; i++) {
        float found[3] = {0};
        glcnn_buffer *buffer = glcnn_kernel_vector(kernel, names[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
        GOOD(glcnn_buffer_read(buffer, 0, sizeof found, found));
        CU_ASSERT_EQUAL(memcmp(found, values[i], sizeof found), 0);
    }
    glcnn_network_destroy(&saved);
    glcnn_network_destroy(&loaded);
    folder_empty(folder);
}

/* ---------------------------------------------------------------------------------- files */

static void test_arguments(void)
{
    glcnn_network *network = make_layer();
    struct glcnn_checkpoint_metadata metadata;
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_save(NULL, path_of("a"), NULL, 0, error));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_save(network, NULL, NULL, 0, error));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_load(NULL, path_of("a"), NULL, error));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_load(network, NULL, NULL, error));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_read_metadata(NULL, &metadata, error));
    ENDS(GLCNN_INVALID_ARGUMENT, glcnn_checkpoint_read_metadata(path_of("a"), NULL, error));
    CU_ASSERT_EQUAL(glcnn_checkpoint_load(network, path_of("a"), NULL, NULL), GLCNN_IO_ERROR);
    glcnn_checkpoint_metadata_destroy(NULL);
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
    glcnn_network_destroy(&network);
}

static void test_places(void)
{
    glcnn_network *network = make_layer();
    char longest[400];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    write_file(path_of("file"), "x", 1);
    const char *const places[] = {path_of("none/a"), path_of("file/a"), folder, "",
                                  path_of(longest)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        ENDS(GLCNN_IO_ERROR, glcnn_checkpoint_save(network, places[i], NULL, 0, error));
        CU_ASSERT_NOT_EQUAL(glcnn_checkpoint_load(network, places[i], NULL, error), GLCNN_SUCCESS);
        CU_ASSERT_NOT_EQUAL(error[0], 0);
    }
    ENDS(GLCNN_IO_ERROR, glcnn_checkpoint_save(network, "/proc/glcnn", NULL, 0, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* A pipe may have no reader: one that has a name is refused, one that the process holds open is written in
 * place. Nothing can be loaded from it. */
static void test_pipe(void)
{
    glcnn_network *network = make_layer();
    struct stat info;
    char opened[32];
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("file"), NULL, 0, error));
    struct bytes file = read_file(path_of("file")), found = {malloc(file.size + 1), 0};
    CU_ASSERT_EQUAL(mkfifo(path_of("pipe"), 0600), 0);
    int pipe = open(path_of("pipe"), O_RDWR | O_NONBLOCK);
    snprintf(opened, sizeof opened, "/dev/fd/%d", pipe);
    ENDS(GLCNN_IO_ERROR, glcnn_checkpoint_save(network, path_of("pipe"), NULL, 0, error));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, opened, NULL, 0, error));
    CU_ASSERT_TRUE(lstat(path_of("pipe"), &info) == 0 && S_ISFIFO(info.st_mode));
    CU_ASSERT_EQUAL(read(pipe, found.at, file.size + 1), (ssize_t)file.size);
    CU_ASSERT_EQUAL(memcmp(found.at, file.at, file.size), 0);
    close(pipe);
    ENDS(GLCNN_IO_ERROR, glcnn_checkpoint_load(network, path_of("pipe"), NULL, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    free(file.at);
    free(found.at);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* A link stays one, the mode of the file stays, and what a killed process left is removed. */
static void test_replaced_file(void)
{
    glcnn_network *network = make_layer();
    struct stat info;
    write_file(path_of("file"), "old", 3);
    write_file(path_of("file.glcnn-0.tmp"), "left behind", 11);
    CU_ASSERT_EQUAL(chmod(path_of("file"), 0640), 0);
    CU_ASSERT_EQUAL(symlink("file", path_of("link")), 0);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("link"), NULL, 0, error));
    CU_ASSERT_EQUAL(lstat(path_of("link"), &info), 0);
    CU_ASSERT_TRUE(S_ISLNK(info.st_mode));
    CU_ASSERT_EQUAL(stat(path_of("file"), &info), 0);
    CU_ASSERT_EQUAL(info.st_mode & 0777, 0640);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_load(network, path_of("file"), NULL, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    /* A link that stands in the way of what is written first is not followed. */
    CU_ASSERT_EQUAL(symlink("victim", path_of("file.glcnn-0.tmp")), 0);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("file"), NULL, 0, error));
    CU_ASSERT_NOT_EQUAL(stat(path_of("victim"), &info), 0);
    CU_ASSERT_EQUAL(folder_count_files(folder), 3);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* A limit of the size of files stands for a full disk. */
static void test_full_disk(void)
{
    struct model m = make_model("optimizer_adam", 1);
    struct rlimit old, small;
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(m.network, path_of("a"), NULL, 0, error));
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(m.network, path_of("b"), NULL, 0, error));
    train(&m, 0, 1);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (rlim_t size = 0; size < 9000; size += 1500) {
        small = old;
        small.rlim_cur = size;
        setrlimit(RLIMIT_FSIZE, &small);
        glcnn_status status = glcnn_checkpoint_save(m.network, path_of("a"), NULL, 0, error);
        setrlimit(RLIMIT_FSIZE, &old);
        ENDS(GLCNN_IO_ERROR, status);
        CU_ASSERT_TRUE(files_equal(path_of("a"), path_of("b")));
        CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    }
    signal(SIGXFSZ, SIG_DFL);
    destroy_model(&m);
    folder_empty(folder);
}

/* Another process that is writing: the child locks, and waits for the pipe to close. Each writes a
 * file of its own, and what the child leaves is removed when it is gone. */
static void test_two_writers(void)
{
    glcnn_network *network = make_layer();
    int ready[2], done[2];
    char byte;
    CU_ASSERT_EQUAL_FATAL(pipe(ready) | pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        int file = open(path_of("a.glcnn-0.tmp"), O_WRONLY | O_CREAT, 0600);
        close(done[1]);
        _exit(flock(file, LOCK_EX | LOCK_NB) != 0 || write(ready[1], "", 1) != 1 ||
              read(done[0], &byte, 1) != 0);
    }
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("a"), NULL, 0, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 2);
    for (int i = 0; i < 2; i++) {
        close(done[i]);
        close(ready[i]);
    }
    int result = -1;
    CU_ASSERT_EQUAL(waitpid(child, &result, 0), child);
    CU_ASSERT_EQUAL(result, 0);
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(network, path_of("a"), NULL, 0, error));
    CU_ASSERT_EQUAL(folder_count_files(folder), 1);
    glcnn_network_destroy(&network);
    folder_empty(folder);
}

/* The device says why it was lost, and so does the call that needs it. */
static void test_lost_device(void)
{
    static const char why[] = "the cat has pulled the plug";
    glcnn_device *kept = device;
    glcnn_network *layer = make_layer();
    ENDS(GLCNN_SUCCESS, glcnn_checkpoint_save(layer, path_of("whole"), NULL, 0, error));
    glcnn_network_destroy(&layer);
    GOOD_FATAL(glcnn_device_create(NULL, &device));
    layer = make_layer();
    reset_lose(device, "a test", why);
    ENDS(GLCNN_DEVICE_LOST, glcnn_checkpoint_save(layer, path_of("lost"), NULL, 0, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, why));
    ENDS(GLCNN_DEVICE_LOST, glcnn_checkpoint_load(layer, path_of("whole"), NULL, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, why));
    CU_ASSERT_EQUAL(access(path_of("lost"), F_OK), -1);
    glcnn_network_destroy(&layer);
    glcnn_device_destroy(&device);
    device = kept;
    folder_empty(folder);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_round_trip),
                                        UNIT_TEST(test_training_goes_on),
                                        UNIT_TEST(test_format),
                                        UNIT_TEST(test_metadata),
                                        UNIT_TEST(test_try_save),
                                        UNIT_TEST(test_try_save_on_a_full_disk),
                                        UNIT_TEST(test_damage),
                                        UNIT_TEST(test_damaged_bytes),
                                        UNIT_TEST(test_digest),
                                        UNIT_TEST(test_digests_elsewhere),
                                        UNIT_TEST(test_flipped_bytes),
                                        UNIT_TEST(test_deep_header),
                                        UNIT_TEST(test_other_training),
                                        UNIT_TEST(test_counters),
                                        UNIT_TEST(test_counters_that_are_not_needed),
                                        UNIT_TEST(test_values_that_are_not_finite),
                                        UNIT_TEST(test_lost_device),
                                        UNIT_TEST(test_labels),
                                        UNIT_TEST(test_slopes),
                                        UNIT_TEST(test_image_normalization),
                                        UNIT_TEST(test_arguments),
                                        UNIT_TEST(test_places),
                                        UNIT_TEST(test_pipe),
                                        UNIT_TEST(test_replaced_file),
                                        UNIT_TEST(test_full_disk),
                                        UNIT_TEST(test_two_writers),
                                        CU_TEST_INFO_NULL};
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int result = fixture_run("checkpoint", tests, argc, argv);
    rmdir(folder);
    return result;
}
