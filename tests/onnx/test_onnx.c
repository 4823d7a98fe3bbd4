/* The single-operator models that ONNX brings (Debian's libonnx-testdata), each with what it is given
 * and what it must give: read, executed and compared. Prints how many passed, are not read, and why.
 */
#include <dirent.h>
#include <math.h>

#include "onnx/build.h"
#include "tests/graphs.h"

#define ROOT      "/usr/lib/python3/dist-packages/onnx/backend/test/data/"
#define TOLERANCE 1e-4

static const char *const folders[] = {"node", "pytorch-operator", "pytorch-converted", "simple"};
enum { FOLDERS = sizeof folders / sizeof *folders, MOST_IMAGES = 8 };

static struct {
    size_t passed, failed, unsupported, skipped;
    size_t passed_first, passed_folded; /* by the first output alone; as a constant */
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

/* Files have the bits of bfloat16 as uint16. */
static void declare(Onnx__TensorProto *tensor, const Onnx__ValueInfoProto *info)
{
    if (tensor && info && info->type->tensor_type &&
        info->type->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16)
        tensor->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
}

/* Numbers of input_I.pb or output_I.pb of a model, as the reader reads an initialiser. NULL: none. */
static const struct constant *tensor_file(struct reader *reader, const char *folder,
                                          const char *which, size_t i,
                                          const Onnx__ValueInfoProto *info)
{
    char path[800];
    size_t size;
    snprintf(path, sizeof path, "%s/test_data_set_0/%s_%zu.pb", folder, which, i);
    uint8_t *bytes = file_bytes(path, &size);
    Onnx__TensorProto *tensor = bytes ? onnx__tensor_proto__unpack(NULL, size, bytes) : NULL;
    declare(tensor, info);
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
 * models seldom have the further outputs, such as statistics, which go at last. What is computed of
 * constants has all inputs as initialisers; its outputs are added to images of zeros. */
struct way {
    bool without_batch, as_initializers, first_output, folded;
};
static const struct way ways[] = {{false, false, false, false}, {true, false, false, false},
                                  {false, true, false, false},  {true, true, false, false},
                                  {false, true, true, false},   {true, true, true, false},
                                  {false, true, false, true}};
enum { WAYS = sizeof ways / sizeof *ways };

static Onnx__TensorProto *input_tensor(const char *folder, size_t i,
                                       const Onnx__ValueInfoProto *info)
{
    char path[800];
    size_t size;
    snprintf(path, sizeof path, "%s/test_data_set_0/input_%zu.pb", folder, i);
    uint8_t *bytes = file_bytes(path, &size);
    Onnx__TensorProto *tensor = bytes ? onnx__tensor_proto__unpack(NULL, size, bytes) : NULL;
    free(bytes);
    declare(tensor, info);
    if (tensor) {
        free(tensor->name);
        tensor->name = strdup(info->name);
    }
    return tensor;
}

static void drop_outputs(Onnx__GraphProto *graph)
{
    while (graph->n_output > 1)
        onnx__value_info_proto__free_unpacked(graph->output[--graph->n_output], NULL);
}

enum { ROW = 2048 }; /* pixels of any device's textures */

/* Output i, as float32, added to zeros. False: it has numbers that no filter has, or none. */
static bool add_to_zeros(const char *folder, Onnx__GraphProto *graph,
                         const Onnx__ValueInfoProto *info, size_t i)
{
    const char *output = info->name;
    struct writer w = {0};
    struct reader numbers = {.room = (size_t)1 << 24};
    char zeros[40], reals[40], list[40], sum[40], shape[40];
    const struct constant *expected = tensor_file(&numbers, folder, "output", i, info);
    const int64_t count = expected ? (int64_t)expected->count : 0;
    int64_t dims[] = {1, 1, 1, count};
    bool is_finite = count > 0 && count < 1 << 13;
    while (dims[2] < count &&
           (count % dims[2] || dims[3] > ROW)) /* as many columns as there can be */
        dims[3] = count / ++dims[2];
    for (int64_t k = 0; k < count; k++)
        is_finite = is_finite && fabs(constant_number(expected, (size_t)k)) < 1e18;
    constants_free(&numbers);
    snprintf(zeros, sizeof zeros, "zeros %zu", i);
    snprintf(reals, sizeof reals, "reals %zu", i);
    snprintf(list, sizeof list, "list %zu", i);
    snprintf(sum, sizeof sum, "sum %zu", i);
    build_int(&w, build_node(&w, graph, "Cast", reals, (const char *[]){output, NULL}), "to", 1);
    snprintf(shape, sizeof shape, "shape %zu", i);
    build_tensor(&w, graph, shape, (const int64_t[]){4}, 1, NULL, dims);
    build_node(&w, graph, "Reshape", list, (const char *[]){reals, shape, NULL});
    build_node(&w, graph, "Add", sum, (const char *[]){zeros, list, NULL});
    build_value(&w, graph, false, zeros, dims, 4);
    build_value(&w, graph, true, sum, dims, 4);
    return is_finite;
}

static bool fold_outputs(const char *folder, Onnx__GraphProto *graph)
{
    const size_t count = graph->n_output;
    Onnx__ValueInfoProto **outputs = graph->output;
    bool is_finite = true;
    graph->node = realloc(graph->node, (graph->n_node + 3 * count) * sizeof(void *));
    graph->input = realloc(graph->input, (graph->n_input + count) * sizeof(void *));
    graph->output = malloc((count + 1) * sizeof(void *));
    graph->n_output = 0;
    for (size_t i = 0; i < count; i++) {
        is_finite = add_to_zeros(folder, graph, outputs[i], i) && is_finite;
        onnx__value_info_proto__free_unpacked(outputs[i], NULL);
    }
    free(outputs);
    return is_finite;
}

/* The file with all inputs but the first as initialisers. NULL: it cannot be made. */
static uint8_t *with_initializers(const char *folder, struct way way, uint8_t *bytes, size_t *size)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, *size, bytes);
    Onnx__GraphProto *graph = model->graph;
    graph->initializer =
        realloc(graph->initializer, (graph->n_initializer + graph->n_input + 2) * sizeof(void *));
    for (size_t i = !way.folded; i < graph->n_input; i++) {
        Onnx__TensorProto *tensor = input_tensor(folder, i, graph->input[i]);
        if (tensor)
            graph->initializer[graph->n_initializer++] = tensor;
    }
    if (way.first_output)
        drop_outputs(graph);
    free(bytes);
    if (way.folded && !fold_outputs(folder, graph)) {
        onnx__model_proto__free_unpacked(model, NULL);
        return NULL;
    }
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
        bytes        ? glcnn_onnx_read(device, bytes, size,
                                       &(struct glcnn_onnx_options){.without_batch = way.without_batch},
                                       &m->network, &m->record, error)
        : way.folded ? GLCNN_UNSUPPORTED
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

/* What is added to folded outputs. */
static const float zeros[1 << 13];

/* The image that a graph's source is given; NULL where the tensor is none of its size. */
static glcnn_image *source_image(struct model *m, const glcnn_image_node *node)
{
    for (size_t i = 0; i < m->record->input_count; i++) {
        const struct glcnn_onnx_image *input = &m->record->inputs[i];
        if (input->node != node)
            continue;
        if (strncmp(input->name, "zeros ", 6) == 0)
            return image_with(1, 1, input->height, input->width, zeros);
        const size_t number = input_number(m, input->name);
        const struct constant *c =
            tensor_file(&m->numbers, m->folder, "input", number, m->proto->graph->input[number]);
        size_t one = (size_t)input->width * input->height * input->feature_channels;
        if (!c || c->count == 0 || c->count % one)
            return NULL;
        float *numbers = malloc(c->count * sizeof *numbers);
        for (size_t k = 0; k < c->count; k++)
            numbers[k] = (float)constant_number(c, k);
        glcnn_image *image = image_with((uint32_t)(c->count / one), input->feature_channels,
                                        input->height, input->width, numbers);
        free(numbers);
        return image;
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

/* Images are float32, whatever type the file has. */
static double tolerance_of(int type)
{
    return type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16    ? 1e-3
           : type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16 ? 1e-2
                                                             : TOLERANCE;
}

static bool compare(struct model *m, glcnn_graph *graph, size_t i)
{
    const struct glcnn_onnx_image *output = &m->record->outputs[i];
    const struct constant *expected =
        tensor_file(&m->numbers, m->folder, "output", i, m->proto->graph->output[i]);
    glcnn_image *image = glcnn_graph_image(graph, output->node);
    if (!expected || !image || count_of(image) != expected->count)
        return false;
    float *found = read_image(image);
    size_t images = glcnn_image_get_descriptor(image)->number_of_images;
    bool is_same = true;
    for (size_t k = 0; k < expected->count; k++) {
        double e = constant_number(expected, k), f = (double)found[place_of(output, images, k)];
        double most = tolerance_of(expected->type) * (fabs(e) > 1 ? fabs(e) : 1);
        if (isnan(e) ? !isnan(f) : e != f && !(fabs(e - f) <= most)) {
            printf("%s: number %zu of output %zu is %g, not %g\n", m->folder, k, i, f, e);
            is_same = false;
            break;
        }
    }
    free(found);
    return is_same;
}

/* BatchNormalization and Dropout in training are read as where nothing trains. */
static bool is_training(const struct model *m)
{
    const Onnx__GraphProto *graph = m->proto->graph;
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        if (strcmp(node->op_type, "Dropout") == 0 && node->n_input > 2)
            return true;
        for (size_t k = 0; k < node->n_attribute; k++)
            if (strcmp(node->attribute[k]->name, "training_mode") == 0 && node->attribute[k]->i)
                return true;
    }
    return false;
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
    *skipped = *skipped || is_training(m);
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
    counts.passed_folded += passed && way.folded;
}

/* Scales are of one image here, and of the batch there. */
static bool is_dynamic(const char *folder)
{
    return strstr(folder, "dynamicquantizelinear") != NULL;
}

/* Its results of 8 bits with a sign wrap, as no runtime's do: the operator keeps them in range. */
static bool wraps(const char *folder)
{
    return strstr(folder, "qlinearmatmul_") && strstr(folder, "_int8_");
}

/* The first way in which it is read. */
static void run_model(const char *folder)
{
    char error[GLCNN_ERROR_LENGTH] = "";
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t w = 0; w < WAYS; w++) {
        struct model m = {.numbers.room = (size_t)1 << 24};
        bool skipped = false;
        if (is_dynamic(folder) && !ways[w].without_batch)
            continue;
        snprintf(m.folder, sizeof m.folder, "%s", folder);
        bool loaded = load(&m, ways[w], &status, error);
        bool passed = loaded && execute(&m, &skipped);
        if (loaded)
            count_one(&m, ways[w], passed, skipped);
        unload(&m);
        if (loaded)
            return;
        bool is_refused = status == GLCNN_UNSUPPORTED || ways[w].folded;
        if (!is_refused || getenv("ONNX_ONLY"))
            printf("%s, way %zu: %s\n", folder, w, error);
        if (!is_refused)
            counts.failed++;
        if (!is_refused)
            return;
    }
    counts.unsupported++;
    if (unit_is_full())
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
    return all <= 1072 ? 792 : 440;
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
            if (wraps(folder))
                counts.skipped++;
            else if (!only || strstr(folder, only))
                run_model(folder);
            free(entries[i]);
        }
        if (count >= 0)
            free(entries);
    }
    printf(
        "\nrow onnx: %zu models passed, %zu of them by their first output alone and %zu as constants, "
        "%zu failed, %zu are not read, %zu skipped\n",
        counts.passed, counts.passed_first, counts.passed_folded, counts.failed, counts.unsupported,
        counts.skipped);
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
