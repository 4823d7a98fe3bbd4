/* Networks of ONNX files, trained: twenty steps with each optimizer against PyTorch's, whatever of the
 * file trains there; what the file has afterwards; and which of its numbers are told to be frozen.
 * golden/make_learned.py wrote the files and what PyTorch's training made of them. Without GLCNN_TEST_CHECK=1 some of
 * the networks are left out. */
#include <glcnn/onnx.h>

#include "tests/archive.h"
#include "tests/graphs.h"

#define STEPS     20
#define BATCH     4
#define CLASSES   5
#define SIDE      8
#define TOLERANCE 2e-5 /* times max(1, norm) */

static struct zip *archive;

static const struct setting {
    const char *name, *kernel, *settings;
} optimizers[] = {
    {"momentum", "optimizer_stochastic_gradient_descent", "learning_rate=0.02 momentum_scale=0.9"},
    {"adam", "optimizer_adam", "learning_rate=0.01 epsilon=1e-20"},
    {"rms_prop", "optimizer_rms_prop", "learning_rate=0.002 decay=0.9 epsilon=1e-8"},
};
#define OPTIMIZERS (sizeof optimizers / sizeof *optimizers)

/* ---- A network that trains ---- */

struct trainee {
    glcnn_network *net;
    struct glcnn_onnx_record *record;
    glcnn_filter_node *loss;
    glcnn_graph *graph;
    glcnn_image *sources[2];
};

static void fill_sources(struct trainee *t)
{
    struct glcnn_npy x, classes;
    float labels[BATCH * CLASSES] = {0};
    CU_ASSERT_FATAL(archive_read(archive, "x", &x) && archive_read(archive, "labels", &classes));
    for (int n = 0; n < BATCH; n++)
        labels[n * CLASSES + (int)classes.data[n]] = 1;
    t->sources[0] = make_image(BATCH, 3, SIDE, SIDE);
    t->sources[1] = make_image(BATCH, CLASSES, 1, 1);
    fill_image(t->sources[0], x.data);
    fill_image(t->sources[1], labels);
    glcnn_npy_destroy(&x);
    glcnn_npy_destroy(&classes);
}

static struct trainee begin(const char *name, const struct setting *optimizer, uint64_t budget)
{
    struct trainee t = {0};
    char path[64], error[GLCNN_ERROR_LENGTH];
    snprintf(path, sizeof path, "tests/golden/learned/%s.onnx", name);
    GOOD_FATAL(glcnn_onnx_load(device, path, NULL, &t.net, &t.record, error));
    glcnn_image_node *const pair[] = {t.record->outputs[0].node, make_input(t.net, "labels")};
    t.loss = glcnn_filter_node_create(
        t.net, "loss", "loss_type=soft_max_cross_entropy reduction_type=sum weight=0.25", pair, 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t.loss);
    glcnn_kernel *steps = kernel_with(optimizer->kernel, optimizer->settings);
    const struct glcnn_graph_descriptor descriptor = {.memory_budget = budget};
    GOOD_FATAL(glcnn_training_graph_create(t.loss, steps, &descriptor, &t.graph));
    glcnn_kernel_destroy(&steps);
    fill_sources(&t);
    return t;
}

static void end(struct trainee *t)
{
    glcnn_graph_destroy(&t->graph);
    destroy_images(t->sources, 2);
    glcnn_onnx_record_destroy(&t->record);
    glcnn_network_destroy(&t->net);
}

static float step(struct trainee *t)
{
    float sum = 0;
    run_graph(t->graph, t->sources);
    float *losses = result_values(t->graph, glcnn_filter_node_loss(t->loss));
    size_t count = count_of(glcnn_graph_image(t->graph, glcnn_filter_node_loss(t->loss)));
    for (size_t i = 0; i < count; i++)
        sum += losses[i];
    free(losses);
    return sum;
}

/* ---- Its parameters, as the file has them ---- */

static glcnn_filter_node *filter_at(const struct trainee *t, const char *label)
{
    glcnn_filter_node *node;
    for (size_t i = 0; (node = glcnn_network_filter(t->net, i)); i++)
        if (!glcnn_filter_node_forward(node, NULL) &&
            strcmp(glcnn_filter_node_label(node), label) == 0)
            return node;
    CU_FAIL_FATAL("there is no such filter");
    return NULL;
}

/* The elements of an initialiser; the caller frees them. */
static float *elements_of(const struct trainee *t, const struct glcnn_onnx_parameter *p,
                          size_t *count)
{
    float *vector = vector_values(
        glcnn_kernel_vector(glcnn_filter_node_kernel(filter_at(t, p->filter)), p->vector));
    *count = 1;
    for (uint32_t a = 0; a < p->axes; a++)
        *count *= (size_t)p->size[a];
    float *values = calloc(*count, sizeof *values);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    for (size_t i = 0; i < *count; i++) {
        int64_t place = p->offset;
        size_t rest = i;
        for (uint32_t a = p->axes; a-- > 0; rest /= (size_t)p->size[a])
            place += (int64_t)(rest % (size_t)p->size[a]) * p->stride[a];
        values[i] = vector[place] / p->scale;
    }
    free(vector);
    return values;
}

static bool trains(const struct trainee *t, const struct glcnn_onnx_parameter *p)
{
    return strcmp(p->vector, "mean") != 0 && strcmp(p->vector, "variance") != 0 &&
           glcnn_filter_node_training_style(filter_at(t, p->filter)) !=
               GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE;
}

static void compare(const char *net, const char *optimizer, const char *name, const float *found,
                    size_t count)
{
    char entry[128];
    snprintf(entry, sizeof entry, "%s.%s.%s", net, optimizer, name);
    CU_ASSERT_TRUE(archive_is_near(archive, entry, found, count, TOLERANCE));
}

/* Has an earlier filter the parameter too, which the layers share? */
static bool came_before(const struct glcnn_onnx_record *record, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(record->parameters[k].name, record->parameters[i].name) == 0)
            return true;
    return false;
}

/* Of a matrix, into other memory. */
static float *turned(const float *values, const struct glcnn_onnx_parameter *p)
{
    const size_t rows = (size_t)p->dimensions[0], columns = (size_t)p->dimensions[1];
    float *made = calloc(rows * columns, sizeof *made);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    for (size_t i = 0; i < rows * columns; i++)
        made[i % columns * rows + i / columns] = values[i];
    return made;
}

/* What the file's nodes move is the file's own tensor; the archive has what they make of it, of a matrix
 * its transpose. */
static void compare_parameter(const char *net, const char *optimizer,
                              const struct glcnn_onnx_parameter *p, const float *values,
                              size_t count)
{
    char entry[128], moved[64];
    snprintf(entry, sizeof entry, "%s.%s.%s.npy", net, optimizer, p->name);
    snprintf(moved, sizeof moved, "moved.%s", p->name);
    const bool is_moved = archive_count(archive, entry) == 0;
    float *other = is_moved && p->rank == 2 ? turned(values, p) : NULL;
    compare(net, optimizer, is_moved ? moved : p->name, other ? other : values, count);
    free(other);
}

/* All that PyTorch trains is there; a mask and coordinates are frozen. */
static void compare_parameters(const struct trainee *t, const char *net, const char *optimizer)
{
    char prefix[64];
    size_t compared = 0;
    for (size_t i = 0; i < t->record->parameter_count; i++) {
        const struct glcnn_onnx_parameter *p = &t->record->parameters[i];
        if (!trains(t, p) || strncmp(p->name, "again.", 6) == 0) /* the same vector once more */
            continue;
        size_t count;
        float *values = elements_of(t, p, &count);
        compare_parameter(net, optimizer, p, values, count);
        free(values);
        compared += !came_before(t->record, i);
    }
    snprintf(prefix, sizeof prefix, "%s.%s.", net, optimizer);
    CU_ASSERT_EQUAL(compared + 1, archive_count(archive, prefix)); /* the losses: 1 */
    for (size_t i = 0; i < t->record->frozen_count; i++)
        CU_ASSERT_TRUE(strstr(t->record->frozen[i].name, "mask") ||
                       strstr(t->record->frozen[i].name, "coordinates"));
}

/* ---- Against PyTorch ---- */

static void train_as_pytorch(const char *net)
{
    for (size_t i = 0; i < OPTIMIZERS; i++) {
        float losses[STEPS];
        struct trainee t = begin(net, &optimizers[i], 0);
        for (int s = 0; s < STEPS; s++)
            losses[s] = step(&t);
        compare(net, optimizers[i].name, "loss", losses, STEPS);
        compare_parameters(&t, net, optimizers[i].name);
        end(&t);
    }
}

static void test_a_dense_network_trains_as_in_pytorch(void)
{
    train_as_pytorch("dense");
}

static void test_slopes_train_as_in_pytorch(void)
{
    train_as_pytorch("prelu");
}

static void test_layer_scales_train_as_in_pytorch(void)
{
    train_as_pytorch("layer_scale");
}

static void test_scales_and_shifts_train_as_in_pytorch(void)
{
    train_as_pytorch("affine");
}

/* Of maxima and minima, over channels and over images, and of normalised features. */
static void test_attention_trains_as_in_pytorch(void)
{
    train_as_pytorch("attention");
}

static void test_a_class_token_and_positions_train_as_in_pytorch(void)
{
    train_as_pytorch("tokens");
}

static void test_windows_and_tables_of_positions_train_as_in_pytorch(void)
{
    train_as_pytorch("windows");
}

static void test_heads_within_the_batch_train_as_in_pytorch(void)
{
    train_as_pytorch("multihead");
}

static void test_what_is_read_again_trains_once(void)
{
    train_as_pytorch("again");
}

static void test_keys_of_smaller_images_train_as_in_pytorch(void)
{
    train_as_pytorch("pyramid");
}

static void test_unfolded_patches_train_as_in_pytorch(void)
{
    train_as_pytorch("unfolded");
}

static void test_biases_of_positions_train_as_in_pytorch(void)
{
    train_as_pytorch("biased");
}

static void test_pools_of_neighbours_train_as_in_pytorch(void)
{
    train_as_pytorch("pools");
}

static void test_weighed_splits_train_as_in_pytorch(void)
{
    train_as_pytorch("splits");
}

static void test_a_detector_and_its_boxes_train_as_in_pytorch(void)
{
    train_as_pytorch("detector");
}

static void test_a_network_down_and_up_trains_as_in_pytorch(void)
{
    train_as_pytorch("shaped");
}

static void test_channels_last_train_as_in_pytorch(void)
{
    train_as_pytorch("keras");
}

/* Cubic interpolation and sums so far: products with matrices that do not train. */
static void test_cubics_and_sums_so_far_train_as_in_pytorch(void)
{
    train_as_pytorch("cubic");
}

static void test_layers_that_make_positions_train_as_in_pytorch(void)
{
    train_as_pytorch("distances");
}

/* ---- What the file has afterwards ---- */

static float *scores_of(glcnn_image_node *scores, glcnn_image *image, size_t *count)
{
    glcnn_graph *graph = graph_of(scores);
    run_graph(graph, &image);
    float *values = result_values(graph, scores);
    *count = count_of(glcnn_graph_image(graph, scores));
    glcnn_graph_destroy(&graph);
    return values;
}

static void test_files_have_what_was_learned(void)
{
    static const char *const nets[] = {"dense",  "prelu",   "layer_scale", "affine", "attention",
                                       "tokens", "windows", "multihead",   "again"};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        char error[GLCNN_ERROR_LENGTH];
        uint8_t *bytes;
        size_t size, counts[3];
        glcnn_network *net = NULL;
        struct glcnn_onnx_record *record = NULL;
        struct trainee t = begin(nets[i], &optimizers[1], 0);
        float *before = scores_of(t.record->outputs[0].node, t.sources[0], &counts[0]);
        step(&t);
        float *wanted = scores_of(t.record->outputs[0].node, t.sources[0], &counts[1]);
        GOOD_FATAL(glcnn_onnx_write(t.net, t.record, NULL, 0, &bytes, &size, error));
        GOOD_FATAL(glcnn_onnx_read(device, bytes, size, NULL, &net, &record, error));
        float *found = scores_of(record->outputs[0].node, t.sources[0], &counts[2]);
        CU_ASSERT_FATAL(counts[0] == counts[1] && counts[1] == counts[2]);
        CU_ASSERT_EQUAL(memcmp(found, wanted, counts[0] * sizeof *found), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(before, wanted, counts[0] * sizeof *found), 0);
        glcnn_onnx_destroy(bytes);
        glcnn_onnx_record_destroy(&record);
        glcnn_network_destroy(&net);
        free(before), free(wanted), free(found);
        end(&t);
    }
}

/* ---- Within less memory ---- */

static const struct glcnn_image_descriptor descriptors[] = {
    {.width = SIDE, .height = SIDE, .feature_channels = 3, .number_of_images = BATCH},
    {.width = 1, .height = 1, .feature_channels = CLASSES, .number_of_images = BATCH}};

/* Images are recomputed, and the slopes get the same bits. */
static void test_budgets_learn_the_same_slopes(void)
{
    uint64_t least = 0;
    float *found[2] = {NULL, NULL};
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        struct trainee t = begin("prelu", &optimizers[0], least);
        struct glcnn_memory_plan plan;
        GOOD_FATAL(glcnn_graph_memory(t.graph, descriptors, &plan));
        GOOD_FATAL(glcnn_graph_least_memory(t.graph, descriptors, &least));
        CU_ASSERT(i ? plan.planned <= least : plan.planned > least);
        for (int s = 0; s < 3; s++)
            step(&t);
        for (size_t p = 0; p < t.record->parameter_count; p++)
            if (strcmp(t.record->parameters[p].name, "each.weight") == 0)
                found[i] = elements_of(&t, &t.record->parameters[p], &count);
        end(&t);
    }
    CU_ASSERT_EQUAL(count, 6);
    CU_ASSERT_EQUAL(memcmp(found[0], found[1], count * sizeof *found[0]), 0);
    free(found[0]);
    free(found[1]);
}

/* ---- What does not train ---- */

/* Of a file of a producer that stores constants among initialisers; a node Constant is no parameter. */
static const struct frozen {
    const char *name, *reason;
} frozen[] = {{"divisor", "what divides does not train"},
              {"power", "an exponent does not train"},
              {"epsilon", "one number without axes is taken for a constant"},
              {"bound", "a bound does not train"},
              {"divisors", "what divides does not train"}};

static void test_frozen_numbers_are_listed_once(void)
{
    char error[GLCNN_ERROR_LENGTH];
    glcnn_network *net = NULL;
    struct glcnn_onnx_record *record = NULL;
    GOOD_FATAL(
        glcnn_onnx_load(device, "tests/golden/learned/frozen.onnx", NULL, &net, &record, error));
    const size_t count = sizeof frozen / sizeof *frozen;
    CU_ASSERT_EQUAL_FATAL(record->frozen_count, count);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_STRING_EQUAL(record->frozen[i].name, frozen[i].name);
        CU_ASSERT_STRING_EQUAL(record->frozen[i].reason, frozen[i].reason);
    }
    glcnn_onnx_record_destroy(&record);
    glcnn_network_destroy(&net);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_a_dense_network_trains_as_in_pytorch),
        UNIT_TEST(test_attention_trains_as_in_pytorch),
        UNIT_TEST(test_slopes_train_as_in_pytorch),
        UNIT_TEST(test_heads_within_the_batch_train_as_in_pytorch),
        UNIT_TEST(test_channels_last_train_as_in_pytorch),
        UNIT_TEST(test_what_is_read_again_trains_once),
        UNIT_TEST(test_files_have_what_was_learned),
        UNIT_TEST(test_budgets_learn_the_same_slopes),
        UNIT_TEST(test_frozen_numbers_are_listed_once),
        UNIT_LEFT_TO_CHECK,
        UNIT_TEST(test_layer_scales_train_as_in_pytorch),
        UNIT_TEST(test_scales_and_shifts_train_as_in_pytorch),
        UNIT_TEST(test_a_class_token_and_positions_train_as_in_pytorch),
        UNIT_TEST(test_windows_and_tables_of_positions_train_as_in_pytorch),
        UNIT_TEST(test_keys_of_smaller_images_train_as_in_pytorch),
        UNIT_TEST(test_unfolded_patches_train_as_in_pytorch),
        UNIT_TEST(test_biases_of_positions_train_as_in_pytorch),
        UNIT_TEST(test_pools_of_neighbours_train_as_in_pytorch),
        UNIT_TEST(test_weighed_splits_train_as_in_pytorch),
        UNIT_TEST(test_a_detector_and_its_boxes_train_as_in_pytorch),
        UNIT_TEST(test_a_network_down_and_up_trains_as_in_pytorch),
        UNIT_TEST(test_cubics_and_sums_so_far_train_as_in_pytorch),
        UNIT_TEST(test_layers_that_make_positions_train_as_in_pytorch),
        CU_TEST_INFO_NULL,
    };
    archive = archive_open("tests/golden/learned.npz");
    if (!archive)
        return EXIT_FAILURE;
    int result = fixture_run("onnx_training", tests, argc, argv);
    archive_close(archive);
    return result;
}
