/* The single-operator models that ONNX brings (Debian's libonnx-testdata), each with what it is given
 * and what it must give: read, executed and compared. Prints how many passed, are not read, and why.
 */
#include <dirent.h>
#include <math.h>

#include "onnx/onnx.h"
#include "tests/graphs.h"

#define ROOT      "/usr/lib/python3/dist-packages/onnx/backend/test/data/"
#define TOLERANCE 1e-4

static const char *const folders[] = {"node", "pytorch-operator", "pytorch-converted", "simple"};
enum { FOLDERS = sizeof folders / sizeof *folders, MOST_IMAGES = 8 };

static struct {
    size_t passed, failed, unsupported, skipped, passed_first; /* by the first output alone */
} counts;

/* ---- Files ---- */

static uint8_t *file_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    *size = fread(bytes, 1, *size, file);
    fclose(file);
    return bytes;
}

/* Numbers of input_I.pb or output_I.pb of a model, as the reader reads an initialiser. NULL: none. */
static const struct constant *tensor_file(struct reader *reader, const char *folder,
                                          const char *which, size_t i)
{
    char path[800];
    size_t size;
    snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", folder, which, i);
    uint8_t *bytes = file_bytes(path, &size);
    Onnx__TensorProto *tensor = bytes ? onnx__tensor_proto__unpack(NULL, size, bytes) : NULL;
    const struct constant *constant = tensor ? constant_of_tensor(reader, tensor) : NULL;
    if (tensor)
        onnx__tensor_proto__free_unpacked(tensor, NULL);
    free(bytes);
    return constant;
}

/* ---- One model ---- */

struct model {
    char folder[700];
    Onnx__ModelProto *proto;
    glcnn_network *network;
    struct glcnn_onnx_record *record;
    struct reader numbers; /* of the tensors' files */
};

/* How a model is read: the operators' further inputs, weights and shapes, are initialisers in models
 * of users; in these they are inputs, and become initialisers unless they are read as they are. Users'
 * models seldom have the further outputs, such as statistics, which go at last. */
struct way {
    bool without_batch, as_initializers, first_output;
};
static const struct way ways[] = {{false, false, false}, {true, false, false}, {false, true, false},
                                  {true, true, false},   {false, true, true},  {true, true, true}};
enum { WAYS = sizeof ways / sizeof *ways };

static Onnx__TensorProto *input_tensor(const char *folder, size_t i, const char *name)
{
    char path[800];
    size_t size;
    snprintf(path, sizeof path, "%s/test_data_set_0/input_%zu.pb", folder, i);
    uint8_t *bytes = file_bytes(path, &size);
    Onnx__TensorProto *tensor = bytes ? onnx__tensor_proto__unpack(NULL, size, bytes) : NULL;
    free(bytes);
    if (tensor && name) {
        free(tensor->name);
        tensor->name = strdup(name);
    }
    return tensor;
}

static void drop_outputs(Onnx__GraphProto *graph)
{
    while (graph->n_output > 1)
        onnx__value_info_proto__free_unpacked(graph->output[--graph->n_output], NULL);
}

/* The file with all inputs but the first as initialisers. */
static uint8_t *with_initializers(const char *folder, struct way way, uint8_t *bytes, size_t *size)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, *size, bytes);
    Onnx__GraphProto *graph = model->graph;
    graph->initializer =
        realloc(graph->initializer, (graph->n_initializer + graph->n_input + 1) * sizeof(void *));
    for (size_t i = 1; i < graph->n_input; i++) {
        Onnx__TensorProto *tensor = input_tensor(folder, i, graph->input[i]->name);
        if (tensor)
            graph->initializer[graph->n_initializer++] = tensor;
    }
    if (way.first_output)
        drop_outputs(graph);
    free(bytes);
    *size = protobuf_c_message_get_packed_size(&model->base);
    bytes = malloc(*size + 1);
    protobuf_c_message_pack(&model->base, bytes);
    onnx__model_proto__free_unpacked(model, NULL);
    return bytes;
}

static bool load(struct model *m, struct way way, glcnn_status *status,
                 char error[GLCNN_ERROR_LENGTH])
{
    char path[800];
    size_t size;
    snprintf(path, sizeof path, "%s/model.onnx", m->folder);
    uint8_t *bytes = file_bytes(path, &size);
    if (bytes && way.as_initializers)
        bytes = with_initializers(m->folder, way, bytes, &size);
    *status =
        bytes ? glcnn_onnx_read(device, bytes, size,
                                &(struct glcnn_onnx_options){.without_batch = way.without_batch},
                                &m->network, &m->record, error)
              : GLCNN_IO_ERROR;
    m->proto = bytes ? onnx__model_proto__unpack(NULL, size, bytes) : NULL;
    free(bytes);
    return *status == GLCNN_SUCCESS;
}

static void unload(struct model *m)
{
    constants_free(&m->numbers);
    glcnn_onnx_record_destroy(&m->record);
    glcnn_network_destroy(&m->network);
    if (m->proto)
        onnx__model_proto__free_unpacked(m->proto, NULL);
    m->proto = NULL;
}

/* Which of the model's inputs this is. */
static size_t input_number(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->proto->graph->n_input; i++)
        if (strcmp(m->proto->graph->input[i]->name, name) == 0)
            return i;
    return 0;
}

/* The image that a graph's source is given; NULL where the tensor is none of its size. */
static glcnn_image *source_image(struct model *m, const glcnn_image_node *node)
{
    for (size_t i = 0; i < m->record->input_count; i++) {
        const struct glcnn_onnx_image *input = &m->record->inputs[i];
        if (input->node != node)
            continue;
        const struct constant *c =
            tensor_file(&m->numbers, m->folder, "input", input_number(m, input->name));
        size_t one = (size_t)input->width * input->height * input->feature_channels;
        if (!c || !c->floats || c->count == 0 || c->count % one)
            return NULL;
        return image_with((uint32_t)(c->count / one), input->feature_channels, input->height,
                          input->width, c->floats);
    }
    return NULL;
}

/* Element i of the tensor lies there in [image][channel][row][column]. */
static size_t place_of(const struct glcnn_onnx_image *output, size_t images, size_t i)
{
    const size_t extent[] = {images, output->feature_channels, output->height, output->width};
    size_t index[4] = {0};
    for (size_t k = 4; k-- > 0; i /= extent[output->order[k]])
        index[output->order[k]] = i % extent[output->order[k]];
    return ((index[0] * extent[1] + index[1]) * extent[2] + index[2]) * extent[3] + index[3];
}

static bool compare(struct model *m, glcnn_graph *graph, size_t i)
{
    const struct glcnn_onnx_image *output = &m->record->outputs[i];
    const struct constant *expected = tensor_file(&m->numbers, m->folder, "output", i);
    glcnn_image *image = glcnn_graph_image(graph, output->node);
    if (!expected || !image || count_of(image) != expected->count)
        return false;
    float *found = read_image(image);
    size_t images = glcnn_image_get_descriptor(image)->number_of_images;
    bool is_same = true;
    for (size_t k = 0; k < expected->count; k++) {
        double e = constant_number(expected, k), f = (double)found[place_of(output, images, k)];
        double most = TOLERANCE * (fabs(e) > 1 ? fabs(e) : 1);
        if (isnan(e) ? !isnan(f) : e != f && !(fabs(e - f) <= most)) {
            printf("%s: number %zu of output %zu is %g, not %g\n", m->folder, k, i, f, e);
            is_same = false;
            break;
        }
    }
    free(found);
    return is_same;
}

/* Whether all outputs are what they must be; *skipped where its inputs cannot be given. */
static bool execute(struct model *m, bool *skipped)
{
    glcnn_image_node *results[MOST_IMAGES];
    glcnn_image *sources[MOST_IMAGES] = {NULL};
    glcnn_graph *graph = NULL;
    size_t count = m->record->output_count, sourced = 0;
    for (size_t i = 0; i < count && i < MOST_IMAGES; i++)
        results[i] = m->record->outputs[i].node;
    GOOD(glcnn_graph_create(
        m->network, &(struct glcnn_graph_descriptor){.results = results, .result_count = count},
        &graph));
    for (; graph && sourced < glcnn_graph_source_count(graph); sourced++) {
        sources[sourced] = source_image(m, glcnn_graph_source(graph, sourced));
        *skipped = *skipped || !sources[sourced];
    }
    bool good = graph && !*skipped;
    if (good) {
        glcnn_status status = glcnn_graph_execute(graph, sources, NULL, NULL);
        good = fixture_good(status == GLCNN_SUCCESS ? glcnn_graph_wait(graph) : status, m->folder,
                            __LINE__);
    }
    for (size_t i = 0; good && i < count; i++)
        good = compare(m, graph, i);
    glcnn_graph_destroy(&graph);
    destroy_images(sources, sourced);
    return good;
}

static void count_one(const struct model *m, struct way way, bool passed, bool skipped)
{
    if (!passed && !skipped)
        printf("%s: FAILED\n", m->folder);
    *(passed ? &counts.passed : skipped ? &counts.skipped : &counts.failed) += 1;
    counts.passed_first += passed && way.first_output;
}

/* The first way in which it is read. */
static void run_model(const char *folder)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t w = 0; w < WAYS; w++) {
        struct model m = {.numbers.room = (size_t)1 << 24};
        bool skipped = false;
        snprintf(m.folder, sizeof m.folder, "%s", folder);
        bool loaded = load(&m, ways[w], &status, error);
        if (loaded)
            count_one(&m, ways[w], execute(&m, &skipped), skipped);
        unload(&m);
        if (loaded)
            return;
        if (status != GLCNN_UNSUPPORTED || getenv("ONNX_ONLY"))
            printf("%s, way %zu: %s\n", folder, w, error);
        if (status != GLCNN_UNSUPPORTED)
            counts.failed++;
        if (status != GLCNN_UNSUPPORTED)
            return;
    }
    counts.unsupported++;
    if (getenv("GLCNN_TEST_FULL"))
        printf("%s is not read: %s\n", strrchr(folder, '/') + 1, error);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Models that must pass: of bookworm's package, which has 1,072 of them, and of trixie's, with 1,428. */
static size_t least_passed(void)
{
    size_t all = counts.passed + counts.failed + counts.unsupported + counts.skipped;
    return all <= 1072 ? 460 : 440;
}

static void all_models_of_supported_operators_are_right(void)
{
    char path[400];
    for (size_t f = 0; f < FOLDERS; f++) {
        struct dirent **entries;
        snprintf(path, sizeof path, "%s%s", ROOT, folders[f]);
        int count = scandir(path, &entries, is_visible, alphasort);
        for (int i = 0; i < count; i++) {
            char folder[700];
            snprintf(folder, sizeof folder, "%s/%s", path, entries[i]->d_name);
            const char *only = getenv("ONNX_ONLY");
            if (!only || strstr(folder, only))
                run_model(folder);
            free(entries[i]);
        }
        if (count >= 0)
            free(entries);
    }
    printf(
        "\nrow onnx: %zu models passed, %zu of them by their first output alone, %zu failed, %zu are "
        "not read, %zu skipped\n",
        counts.passed, counts.passed_first, counts.failed, counts.unsupported, counts.skipped);
    CU_ASSERT_EQUAL(counts.failed, 0);
    CU_ASSERT_TRUE(counts.passed >= least_passed());
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(all_models_of_supported_operators_are_right),
                                        CU_TEST_INFO_NULL};
    DIR *data = opendir(ROOT "node");
    if (!data) {
        puts("ONNX's test data are not there: libonnx-testdata");
        return 77;
    }
    closedir(data);
    return fixture_run("onnx", tests, argc, argv);
}
