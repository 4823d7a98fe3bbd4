/* Fine-tuning: which layers train, what is frozen stays and costs no gradient, a model in two parts
 * is the model, dropout serves training alone, and features in a file are believed only where they
 * are whole. */
#include <glcnn/kernels/optimizer.h>
#include <glcnn/serialize.h>

#include "tests/fixture.h"
#include "tests/folder.h"
#include "train/feature_file.h"
#include "train/layers.h"
#include "train/name_map.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH 4

static const struct form form = {.width = 8, .height = 8, .channels = 3, .classes = 5};
static char folder[] = "/tmp/glcnn-tune-XXXXXX";
static char error[GLCNN_ERROR_LENGTH];

/* ---- Models ---- */

static glcnn_kernel *kernel_of(const struct model *model, const char *label)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(model->network, i)) != NULL; i++)
        if (!glcnn_filter_node_forward(filter, NULL) &&
            strcmp(glcnn_filter_node_label(filter), label) == 0)
            return glcnn_filter_node_kernel(filter);
    CU_FAIL_FATAL("no filter of that label");
    return NULL;
}

/* Layers train where `words` says so, by plain gradient descent. */
static struct model make_model_of(const char *net, const char *words, struct layers *layers)
{
    struct model model;
    struct glcnn_training_descriptor descriptor = {NULL};
    CU_ASSERT_TRUE_FATAL(model_create(device, net_find(net), &form, BATCH, &model));
    GOOD_FATAL(glcnn_network_initialise(model.network, 3));
    CU_ASSERT_TRUE_FATAL(layers_choose(&model, words, layers, error));
    GOOD_FATAL(
        glcnn_optimizer_stochastic_gradient_descent_create(device, 0.1f, &descriptor.optimizer));
    GOOD_FATAL(glcnn_network_set_training(model.network, &descriptor));
    glcnn_kernel_destroy(&descriptor.optimizer);
    return model;
}

static struct model make_model(const char *words, struct layers *layers)
{
    return make_model_of("mobilenet-tiny", words, layers);
}

static const struct glcnn_data_batch labels = {.labels = (const uint32_t[BATCH]){0, 1, 2, 3}};

static void fill(float *images, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        images[i] = noise(&seed);
}

static void train(struct runner *runner, uint32_t steps)
{
    float images[BATCH * 8 * 8 * 3], losses[BATCH];
    for (uint32_t step = 0; step < steps; step++) {
        fill(images, sizeof images / sizeof *images, step + 1);
        CU_ASSERT_TRUE_FATAL(runner_run(runner, images, &labels, losses));
    }
}

/* A digest that is enough to see a change, 0 for a vector that there is not. */
static double sum_of(const struct model *model, const char *label, const char *vector)
{
    glcnn_buffer *buffer = glcnn_kernel_vector(kernel_of(model, label), vector);
    size_t count = buffer ? glcnn_buffer_size(buffer) / 4 : 0;
    float *values = malloc(count * 4 + 1);
    double sum = 0;
    if (buffer)
        GOOD(glcnn_buffer_read(buffer, 0, count * 4, values));
    for (size_t i = 0; i < count; i++)
        sum += (double)(i % 17 + 1) * (double)values[i];
    free(values);
    return sum;
}

/* Gradient nodes that the network has been given. */
static size_t count_gradients(const struct model *model)
{
    size_t count = 0;
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(model->network, i)) != NULL; i++)
        count += glcnn_filter_node_forward(filter, NULL) != NULL;
    return count;
}

/* ---- Choosing ---- */

static void test_last(void)
{
    struct layers layers;
    struct runner runner;
    struct model model = make_model("last", &layers);
    CU_ASSERT_EQUAL(layers.trained, 1);
    CU_ASSERT_EQUAL(layers.count, 15);
    CU_ASSERT_EQUAL_FATAL(layers.cut.count, 1);
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model, BATCH, NULL, &runner));
    CU_ASSERT_EQUAL(count_gradients(&model), 1);
    const double weights = sum_of(&model, "convolution_3", "weights"),
                 mean = sum_of(&model, "batch_normalization_3", "mean"),
                 gamma = sum_of(&model, "batch_normalization_3", "gamma"),
                 head = sum_of(&model, "fully_connected_0", "weights");
    train(&runner, 3);
    CU_ASSERT_EQUAL(sum_of(&model, "convolution_3", "weights"), weights);
    CU_ASSERT_EQUAL(sum_of(&model, "batch_normalization_3", "mean"), mean);
    CU_ASSERT_EQUAL(sum_of(&model, "batch_normalization_3", "gamma"), gamma);
    CU_ASSERT_NOT_EQUAL(sum_of(&model, "fully_connected_0", "weights"), head);
    CU_ASSERT_PTR_NULL(glcnn_kernel_optimizer(kernel_of(&model, "convolution_3")));
    CU_ASSERT_PTR_NOT_NULL(glcnn_kernel_optimizer(kernel_of(&model, "fully_connected_0")));
    runner_destroy(&runner);
    model_destroy(&model);
}

static void test_words(void)
{
    static const struct {
        const char *words;
        uint32_t trained;
        bool cut;
    } rows[] = {{"all", 15, false},
                {"last:1", 1, true},
                {"last:2", 3, true}, /* with the normalisation between */
                {"last:8", 15, false},
                {"fully_connected_0", 1, true},
                {"convolution_6,fully_connected_0", 2, true},
                {"batch_normalization*", 7, true},
                {"convolution_0,convolution_1", 2, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct layers layers;
        struct model model = make_model(rows[i].words, &layers);
        CU_ASSERT_EQUAL(layers.trained, rows[i].trained);
        CU_ASSERT_EQUAL(layers.cut.count > 0, rows[i].cut);
        model_destroy(&model);
    }
}

static void test_wrong_words(void)
{
    static const struct {
        const char *words, *said;
    } rows[] = {{"fully_connected_1", "did you mean fully_connected_0?"},
                {"lost", "did you mean last?"},
                {"last:0", "for none"},
                {"last:9", "more layers than the 8"},
                {"last:-1", "there is no layer"},
                {"block*", "there is no layer \"block*\""},
                {"", "there is no layer \"\""},
                {"convolution_0,,convolution_1", "there is no layer \"\""},
                {"soft_max_0", "there is no layer"}};
    struct model model;
    struct layers layers;
    CU_ASSERT_TRUE_FATAL(model_create(device, net_find("mobilenet-tiny"), &form, BATCH, &model));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_FALSE(layers_choose(&model, rows[i].words, &layers, error));
        if (!strstr(error, rows[i].said))
            fprintf(stderr, "\n  %s: %s\n", rows[i].words, error);
        CU_ASSERT_PTR_NOT_NULL(strstr(error, rows[i].said));
    }
    model_destroy(&model);
}

/* The losses of a step that has not been made yet are those of inference. */
static void check_losses(struct model *model, struct runner *trainer)
{
    struct runner tester;
    static const uint32_t zeros[BATCH];
    static const struct glcnn_data_batch first_class = {.labels = zeros};
    float images[BATCH * 8 * 8 * 3], losses[BATCH], found[BATCH * 5];
    CU_ASSERT_TRUE_FATAL(runner_create_inference(model, BATCH, 0, &tester));
    fill(images, sizeof images / sizeof *images, 9);
    CU_ASSERT_TRUE_FATAL(runner_run(&tester, images, NULL, found));
    CU_ASSERT_TRUE_FATAL(runner_run(trainer, images, &first_class, losses));
    for (uint32_t n = 0; n < BATCH; n++)
        CU_ASSERT_TRUE(is_near(BATCH * (double)losses[n], -log((double)found[n * 5]), 1e-5));
    runner_destroy(&tester);
}

/* Gradients go through a frozen normalisation, by its running statistics. */
static void test_frozen_between(void)
{
    struct layers layers;
    struct runner runner;
    struct model model = make_model("convolution_0", &layers);
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model, BATCH, NULL, &runner));
    check_losses(&model, &runner);
    const double first = sum_of(&model, "convolution_0", "weights"),
                 mean = sum_of(&model, "batch_normalization_0", "mean"),
                 variance = sum_of(&model, "batch_normalization_0", "variance"),
                 head = sum_of(&model, "fully_connected_0", "weights");
    train(&runner, 2);
    CU_ASSERT_NOT_EQUAL(sum_of(&model, "convolution_0", "weights"), first);
    CU_ASSERT_EQUAL(sum_of(&model, "batch_normalization_0", "mean"), mean);
    CU_ASSERT_EQUAL(sum_of(&model, "batch_normalization_0", "variance"), variance);
    CU_ASSERT_EQUAL(sum_of(&model, "fully_connected_0", "weights"), head);
    runner_destroy(&runner);
    model_destroy(&model);
}

/* Scores are read as they are, however other images are stored: the last layer alone trains, so they
 * are those of the same weights, rounded on the way. */
static void test_scores_of_float16(void)
{
    float scores[2][BATCH * 5];
    for (int half = 0; half < 2; half++) {
        struct layers layers;
        struct runner runner;
        struct model model = make_model("last", &layers);
        const struct glcnn_graph_descriptor training = {
            .format = half ? GLCNN_CHANNEL_FORMAT_FLOAT16 : GLCNN_CHANNEL_FORMAT_FLOAT32};
        CU_ASSERT_TRUE_FATAL(runner_create_training(&model, BATCH, &training, &runner));
        train(&runner, 1);
        CU_ASSERT_TRUE(runner_scores(&runner, scores[half]));
        runner_destroy(&runner);
        model_destroy(&model);
    }
    for (size_t i = 0; i < BATCH * 5; i++)
        CU_ASSERT_TRUE(is_near((double)scores[1][i], (double)scores[0][i], 1e-2));
}

/* ---- Parts ---- */

/* The first part's results, as runner_run takes them, all zero elsewhere. */
static float *run_front(struct runner *front, const struct features *cut)
{
    float images[BATCH * 8 * 8 * 3];
    glcnn_image *results[FEATURES_MAX];
    size_t count = 0, done = 0;
    fill(images, sizeof images / sizeof *images, 1);
    for (uint32_t i = 0; i < cut->count; i++)
        count += feature_values(&cut->at[i]) * BATCH;
    float *features = calloc(count, sizeof *features);
    CU_ASSERT_TRUE_FATAL(runner_write(front, images, results));
    CU_ASSERT_TRUE_FATAL(runner_repeat(front));
    for (uint32_t i = 0; i < cut->count; i++) {
        const size_t values = feature_values(&cut->at[i]) * BATCH;
        GOOD_FATAL(glcnn_image_read_bytes(glcnn_graph_image(front->graph, front->results[i]), NULL,
                                          features + done, values * sizeof *features));
        done += values;
    }
    return features;
}

static void compare_vectors(const struct model *a, const struct model *b)
{
    glcnn_filter_node *filter;
    for (size_t i = 0; (filter = glcnn_network_filter(a->network, i)) != NULL; i++)
        for (size_t k = 0; k < MODEL_VECTORS; k++) {
            const char *label = glcnn_filter_node_label(filter), *vector = model_vectors[k];
            if (!glcnn_filter_node_forward(filter, NULL) &&
                glcnn_kernel_has_vector(glcnn_filter_node_kernel(filter), vector))
                CU_ASSERT_TRUE(is_near(sum_of(a, label, vector), sum_of(b, label, vector), 1e-5));
        }
}

/* A model that trains behind its frozen layers learns what the whole one does: behind one image of theirs, and
 * behind the two of a block whose sum joins them. */
static void test_parts(void)
{
    static const struct {
        const char *net, *trained;
        uint32_t images, channels; /* channels: of the first */
    } rows[] = {{"mobilenet-tiny", "convolution_6", 1, 64}, {"resnet8", "convolution_8", 2, 32}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct layers layers;
        struct model whole = make_model_of(rows[i].net, "last:2", &layers),
                     split = make_model_of(rows[i].net, "last:2", &layers), head, tail;
        const double before = sum_of(&split, rows[i].trained, "weights");
        struct runner all, front, back;
        CU_ASSERT_EQUAL_FATAL(layers.cut.count, rows[i].images);
        struct model_part of_head = {.to = layers.cut, .form = form};
        CU_ASSERT_TRUE_FATAL(runner_create_training(&whole, BATCH, NULL, &all));
        CU_ASSERT_TRUE_FATAL(model_create_part(&split, &of_head, BATCH, &head));
        CU_ASSERT_TRUE_FATAL(runner_create_inference(&head, BATCH, 0, &front));
        CU_ASSERT_TRUE_FATAL(runner_sizes(&front, layers.cut.at));
        CU_ASSERT_EQUAL(layers.cut.at[0].channels, rows[i].channels);
        struct model_part of_tail = {.from = layers.cut, .form = form, .drops = true};
        CU_ASSERT_TRUE_FATAL(model_create_part(&split, &of_tail, BATCH, &tail));
        CU_ASSERT_TRUE_FATAL(runner_create_training(&tail, BATCH, NULL, &back));
        train(&all, 1);
        float losses[BATCH], *features = run_front(&front, &layers.cut);
        CU_ASSERT_TRUE_FATAL(runner_run(&back, features, &labels, losses));
        free(features);
        CU_ASSERT_NOT_EQUAL(sum_of(&split, rows[i].trained, "weights"), before);
        compare_vectors(&split, &whole);
        runner_destroy(&all);
        runner_destroy(&front);
        runner_destroy(&back);
        model_destroy(&tail);
        model_destroy(&head);
        model_destroy(&split);
        model_destroy(&whole);
    }
}

/* A convolution, a dropout and a layer, and a soft max behind it. */
static glcnn_network *make_network(void)
{
    glcnn_network *network;
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *y = glcnn_image_node_create(network, "x");
    y = glcnn_node(y, "convolution", "input_feature_channels=3 output_feature_channels=8");
    y = glcnn_node(glcnn_neuron_relu_node(y, 0), "dropout", "keep_probability=0.5 seed=3");
    y = glcnn_node(y, "fully_connected",
                   "input_feature_channels=8 output_feature_channels=5 kernel_width=8 "
                   "kernel_height=8");
    glcnn_soft_max_node(y);
    GOOD_FATAL(glcnn_network_status(network));
    return network;
}

/* A convolution that trains behind each of `count` frozen ones, or behind the picture in place of the last, where
 * `reads_picture`, and a layer behind all: how many images they read. */
static uint32_t count_cut(uint32_t count, bool reads_picture)
{
    glcnn_network *network;
    struct layers layers;
    struct model model;
    glcnn_image_node *read[FEATURES_MAX + 1];
    char words[100];
    GOOD_FATAL(glcnn_network_create(device, &network));
    glcnn_image_node *image = glcnn_image_node_create(network, "x");
    for (uint32_t i = 0; i < count; i++)
        read[i] = reads_picture && i + 1 == count
                      ? image
                      : glcnn_node(image, "convolution",
                                   "input_feature_channels=3 output_feature_channels=3");
    for (uint32_t i = 0; i < count; i++)
        read[i] = glcnn_node(read[i], "convolution",
                             "input_feature_channels=3 output_feature_channels=4");
    snprintf(words, sizeof words,
             "input_feature_channels=%u output_feature_channels=5 kernel_width=8 kernel_height=8",
             4 * count);
    glcnn_soft_max_node(
        glcnn_node(glcnn_concatenation_node(read, count), "fully_connected", words));
    GOOD_FATAL(glcnn_network_status(network));
    CU_ASSERT_TRUE_FATAL(model_open(network, &form, BATCH, &model, error));
    snprintf(words, sizeof words, "last:%u", count + 1);
    CU_ASSERT_TRUE_FATAL(layers_choose(&model, words, &layers, error));
    CU_ASSERT_EQUAL(layers.trained, count + 1);
    const uint32_t found = layers.cut.count;
    model_destroy(&model);
    return found;
}

/* Six images are as many as a head may read; the picture itself needs no frozen layers. */
static void test_cut(void)
{
    for (uint32_t count = 2; count <= FEATURES_MAX; count++)
        CU_ASSERT_EQUAL(count_cut(count, false), count);
    CU_ASSERT_EQUAL(count_cut(FEATURES_MAX + 1, false), 0);
    CU_ASSERT_EQUAL(count_cut(3, true), 0);
}

static size_t count_filters(const glcnn_network *network)
{
    size_t count = 0;
    while (glcnn_network_filter(network, count))
        count++;
    return count;
}

/* A second branch ends before the result is made, and is no part of it. */
static void test_part_without_branches(void)
{
    struct model whole = {.form = {4, 4, 1, 1}, .device = device}, part;
    GOOD_FATAL(glcnn_network_create(device, &whole.network));
    whole.images = (struct features){
        .at = {{glcnn_image_node_create(whole.network, "image"), 4, 4, 1}}, .count = 1};
    glcnn_image_node *first = glcnn_neuron_relu_node(whole.images.at[0].image, 0);
    glcnn_image_node *branch = glcnn_neuron_absolute_node(glcnn_neuron_relu_node(first, 0));
    glcnn_image_node *last = glcnn_neuron_sigmoid_node(first);
    CU_ASSERT_PTR_NOT_NULL(branch);
    const struct model_part what = {.to = {.at = {{.image = last}}, .count = 1},
                                    .form = whole.form};
    CU_ASSERT_TRUE(model_create_part(&whole, &what, 1, &part));
    CU_ASSERT_EQUAL(count_filters(part.network), 2);
    CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(glcnn_image_node_filter(part.scores)),
                           glcnn_filter_node_label(glcnn_image_node_filter(last)));
    model_destroy(&part);
    model_destroy(&whole);
}

static void test_dropout(void)
{
    struct model model;
    struct layers layers;
    struct runner runner, trainer;
    float images[BATCH * 8 * 8 * 3], found[3][BATCH * 5], losses[2][BATCH];
    CU_ASSERT_TRUE_FATAL(model_open(make_network(), &form, BATCH, &model, error));
    CU_ASSERT_PTR_NOT_NULL(model.head);
    GOOD_FATAL(glcnn_network_initialise(model.network, 1));
    CU_ASSERT_TRUE_FATAL(layers_choose(&model, "last", &layers, error));
    struct glcnn_training_descriptor descriptor = {NULL};
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0, &descriptor.optimizer));
    GOOD_FATAL(glcnn_network_set_training(model.network, &descriptor));
    glcnn_kernel_destroy(&descriptor.optimizer);
    CU_ASSERT_EQUAL(layers.cut.count, 1);
    CU_ASSERT_TRUE(layers.cut.at[0].image ==
                   glcnn_filter_node_result(glcnn_network_filter(model.network, 1)));
    CU_ASSERT_TRUE_FATAL(runner_create_inference(&model, BATCH, 0, &runner));
    fill(images, sizeof images / sizeof *images, 1);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_TRUE_FATAL(runner_run(&runner, images, NULL, found[i]));
    CU_ASSERT_EQUAL(memcmp(found[0], found[1], sizeof found[0]), 0);
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model, BATCH, NULL, &trainer));
    for (int i = 0; i < 2; i++)
        CU_ASSERT_TRUE_FATAL(runner_run(&trainer, images, &labels, losses[i]));
    CU_ASSERT_NOT_EQUAL(memcmp(losses[0], losses[1], sizeof losses[0]), 0);
    runner_destroy(&trainer);
    runner_destroy(&runner);
    model_destroy(&model);
}

static void test_no_classifier(void)
{
    struct model model;
    glcnn_network *network = make_network();
    glcnn_image_node *x = glcnn_network_image(network, 0);
    glcnn_neuron_relu_node(x, 0); /* a second end */
    CU_ASSERT_FALSE(model_open(network, &form, BATCH, &model, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "not one input and one result"));
    model_destroy(&model);
    network = make_network();
    CU_ASSERT_STRING_EQUAL(glcnn_filter_node_label(model_head(network)), "fully_connected_0");
    glcnn_image_node *last = glcnn_filter_node_result(glcnn_network_filter(network, 4));
    glcnn_node(last, "batch_normalization", NULL);
    CU_ASSERT_PTR_NULL(model_head(network));
    glcnn_network_destroy(&network);
}

/* ---- Features ---- */

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct features *open_features(uint64_t key)
{
    struct features *features = NULL;
    const struct features_parameters p = {
        .path = path_of("f"), .key = key, .slots = 4, .values = 3, .limit = 1000};
    CU_ASSERT_TRUE_FATAL(features_open(&p, &features, error));
    return features;
}

static void change_byte(const char *path, off_t at)
{
    int file = open(path, O_RDWR);
    char byte = 0;
    CU_ASSERT_EQUAL(pread(file, &byte, 1, at), 1);
    byte ^= 1;
    CU_ASSERT_EQUAL(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static void test_features(void)
{
    const float values[] = {1, -2, 3e-9f};
    float read[3];
    struct features *f = open_features(7), *other = NULL;
    CU_ASSERT_FALSE(features_have(f, 2, 11));
    CU_ASSERT_TRUE(features_write(f, 2, 11, values, error));
    CU_ASSERT_TRUE(features_have(f, 2, 11));
    CU_ASSERT_FALSE(features_have(f, 2, 12)); /* another picture */
    CU_ASSERT_FALSE(features_have(f, 3, 11));
    CU_ASSERT_TRUE(features_read(f, 2, read, error));
    CU_ASSERT_EQUAL(memcmp(read, values, sizeof read), 0);
    CU_ASSERT_FALSE(features_read(f, 0, read, error));
    const struct features_parameters same = {
        .path = path_of("f"), .key = 7, .slots = 4, .values = 3, .limit = 1000};
    CU_ASSERT_FALSE(features_open(&same, &other, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is in use by another run"));
    CU_ASSERT_PTR_NULL(other);
    features_close(&f);
    f = open_features(7); /* a run that goes on */
    CU_ASSERT_TRUE(features_have(f, 2, 11));
    features_close(&f);
    change_byte(path_of("f"), 32 + 2 * (16 + 12) + 16 + 5); /* a bit of a value */
    f = open_features(7);
    CU_ASSERT_FALSE(features_have(f, 2, 11));
    CU_ASSERT_FALSE(features_read(f, 2, read, error));
    CU_ASSERT_TRUE(features_write(f, 2, 11, values, error));
    features_close(&f);
    CU_ASSERT_EQUAL(truncate(path_of("f"), 32 + 2 * (16 + 12) + 20), 0);
    f = open_features(7);
    CU_ASSERT_FALSE(features_have(f, 2, 11));
    CU_ASSERT_TRUE(features_write(f, 2, 11, values, error));
    features_close(&f);
    f = open_features(8); /* other weights */
    CU_ASSERT_FALSE(features_have(f, 2, 11));
    features_close(&f);
    folder_empty(folder);
}

static void test_refused_features(void)
{
    struct features *f = NULL;
    struct features_parameters p = {
        .path = path_of("f"), .key = 7, .slots = 4, .values = 3, .limit = 32 + 4 * 28 - 1};
    CU_ASSERT_FALSE(features_open(&p, &f, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "--feature-limit"));
    p.limit++;
    CU_ASSERT_EQUAL(folder_count_files(folder), 0);
    FILE *file = fopen(path_of("f"), "w");
    fputs("the only copy of a thesis, of more than thirty-two bytes", file);
    fclose(file);
    CU_ASSERT_FALSE(features_open(&p, &f, error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "is not a feature file"));
    struct stat info;
    CU_ASSERT_EQUAL(stat(path_of("f"), &info), 0);
    CU_ASSERT_EQUAL(info.st_size, 56);
    p.path = folder;
    CU_ASSERT_FALSE(features_open(&p, &f, error));
    p.path = path_of("no/such/folder");
    CU_ASSERT_FALSE(features_open(&p, &f, error));
    p.path = NULL;
    CU_ASSERT_TRUE(features_open(&p, &f, error));
    CU_ASSERT_TRUE(features_write(f, 3, 1, (const float[]){1, 2, 3}, error));
    CU_ASSERT_TRUE(features_have(f, 3, 1));
    features_close(&f);
    folder_empty(folder);
}

/* ---- Names ---- */

static bool read_map(const char *text, struct name_map *map)
{
    FILE *file = fopen(path_of("map"), "w");
    fputs(text, file);
    fclose(file);
    return name_map_read(path_of("map"), map, error);
}

static void test_name_map(void)
{
    struct name_map map;
    CU_ASSERT_TRUE(read_map("# PyTorch\n a.b  c.weights\r\n\n\te f.biases # its biases", &map));
    CU_ASSERT_EQUAL_FATAL(map.count, 2);
    CU_ASSERT_STRING_EQUAL(map.names[0].tensor, "a.b");
    CU_ASSERT_STRING_EQUAL(map.names[0].parameter, "c.weights");
    CU_ASSERT_STRING_EQUAL(map.names[1].parameter, "f.biases");
    name_map_free(&map);
    CU_ASSERT_FALSE(read_map("a b\nc d e\n", &map));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "line 2 must be two names"));
    name_map_free(&map);
    CU_ASSERT_FALSE(read_map("a\n", &map));
    name_map_free(&map);
    CU_ASSERT_FALSE(read_map("# nothing\n", &map));
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "has no names"));
    name_map_free(&map);
    CU_ASSERT_FALSE(name_map_read(path_of("none"), &map, error));
    name_map_free(&map);
    folder_empty(folder);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(test_last),
                                        UNIT_TEST(test_words),
                                        UNIT_TEST(test_wrong_words),
                                        UNIT_TEST(test_frozen_between),
                                        UNIT_TEST(test_parts),
                                        UNIT_TEST(test_cut),
                                        UNIT_TEST(test_part_without_branches),
                                        UNIT_TEST(test_dropout),
                                        UNIT_TEST(test_no_classifier),
                                        UNIT_TEST(test_features),
                                        UNIT_TEST(test_refused_features),
                                        UNIT_TEST(test_name_map),
                                        UNIT_TEST(test_scores_of_float16),
                                        CU_TEST_INFO_NULL};
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int result = fixture_run("fine tuning", tests, argc, argv);
    rmdir(folder);
    return result;
}
