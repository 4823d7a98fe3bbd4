/* Options of glcnn train: twenty steps with each against PyTorch's autograd, by what the tool makes
 * of its settings. golden/make_options.py makes the same weights and batches and wrote PyTorch's
 * losses, weights and running averages; it prints how far they are from those without the option,
 * which is a hundred times the tolerance or more. */
#include "tests/archive.h"
#include "tests/fixture.h"

#include "base/random.h"
#include "train/ema.h"
#include "train/train_optimizer.h"

#define STEPS       20
#define BATCH       4
#define SIDE        12
#define PIXELS      (SIDE * SIDE)
#define CLASSES     10
#define RATE        (1.0f / 2048)
#define SEED        1
#define MIX_SEED    5
#define BEHIND_RAMP 1000000 /* the number of a step whose averages have the whole decay */
#define TOLERANCE   1e-4    /* times max(1, norm) */

static struct zip *archive;

static void good(bool done)
{
    if (!done)
        fprintf(stderr, "\n  %s\n", glcnn_device_error(device));
    CU_ASSERT_TRUE_FATAL(done);
}

/* ---- Batches ---- */

static float seven_bits(uint64_t *random)
{
    return (float)(random_next(random) >> 57) / 256;
}

/* A pattern of the class under noise of the same size. */
static void make_batch(uint32_t number, float pixels[BATCH][PIXELS], uint32_t labels[BATCH])
{
    uint64_t random = (uint64_t)number << 32;
    for (int n = 0; n < BATCH; n++) {
        uint64_t label = random_next(&random) % CLASSES, pattern = 1 + label;
        labels[n] = (uint32_t)label;
        for (int i = 0; i < PIXELS; i++)
            pixels[n][i] = seven_bits(&pattern) + seven_bits(&random);
    }
}

static float run_batch(struct runner *runner, uint32_t number)
{
    static float pixels[BATCH][PIXELS];
    uint32_t labels[BATCH], indices[BATCH];
    float losses[BATCH];
    double sum = 0;
    make_batch(number, pixels, labels);
    for (uint32_t n = 0; n < BATCH; n++)
        indices[n] = number * BATCH + n;
    const struct glcnn_data_batch batch = {.epoch = number % 7,
                                           .count = BATCH,
                                           .filled = BATCH,
                                           .floats = pixels[0],
                                           .labels = labels,
                                           .indices = indices};
    good(runner_run_batch(runner, &batch, true, losses));
    for (int n = 0; n < BATCH; n++)
        sum += (double)losses[n];
    return (float)sum;
}

/* ---- Comparison ---- */

static void compare(const char *option, const char *array, const float *found, size_t count)
{
    struct glcnn_npy wanted;
    char name[96];
    snprintf(name, sizeof name, "%s.%s", option, array);
    CU_ASSERT_FATAL(archive_read(archive, name, &wanted));
    double error = archive_error(&wanted, found, count);
    CU_ASSERT(error <= TOLERANCE);
    if (!(error <= TOLERANCE))
        fprintf(stderr, "\n  %s is off by %g times max(1, norm)\n", name, error);
    glcnn_npy_destroy(&wanted);
}

/* Returns how many arrays were compared. */
static size_t compare_filter(const char *option, glcnn_filter_node *node)
{
    static const char *const vectors[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
    size_t compared = 0;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        glcnn_buffer *buffer =
            glcnn_kernel_optimizer(kernel) ? glcnn_kernel_vector(kernel, vectors[i]) : NULL;
        size_t size = glcnn_buffer_size(buffer);
        float *values = buffer ? malloc(size) : NULL;
        char name[64];
        if (!buffer)
            continue;
        CU_ASSERT_PTR_NOT_NULL_FATAL(values);
        GOOD_FATAL(glcnn_buffer_read(buffer, 0, size, values));
        snprintf(name, sizeof name, "%s.%s", glcnn_filter_node_label(node), vectors[i]);
        compare(option, name, values, size / sizeof *values);
        free(values);
        compared++;
    }
    return compared;
}

static void compare_network(const char *option, const struct model *model)
{
    glcnn_filter_node *node;
    char prefix[64];
    size_t compared = 0;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++)
        compared += compare_filter(option, node);
    snprintf(prefix, sizeof prefix, "%s.", option);
    CU_ASSERT_EQUAL(compared + 2, archive_count(archive, prefix)); /* batches and losses: 2 */
}

/* ---- Training ---- */

static const struct optimizer descent = {"sgd", 0, 0,
                                         glcnn_optimizer_stochastic_gradient_descent_create, 0.9f};

static const glcnn_train_settings defaults = {.optimizer = &descent};
static const struct targets plain = {.classes = CLASSES};
static const float zero = 0, one = 1;

static void run_steps(const char *option, struct runner *runner, struct ema *ema,
                      uint32_t accumulate)
{
    struct glcnn_npy batches;
    char name[64];
    float losses[STEPS];
    snprintf(name, sizeof name, "%s.batches", option);
    CU_ASSERT_FATAL(archive_read(archive, name, &batches));
    const uint32_t each = batches.shape[0] / STEPS;
    CU_ASSERT_EQUAL_FATAL(each, accumulate);
    for (uint32_t step = 0; step < STEPS; step++) {
        losses[step] = 0;
        for (uint32_t i = 0; i < each; i++)
            losses[step] +=
                run_batch(runner, (uint32_t)batches.data[step * each + i]) / (float)each;
        good(ema_step(ema, BEHIND_RAMP));
    }
    glcnn_npy_destroy(&batches);
    compare(option, "loss", losses, STEPS);
}

static void train_as_pytorch(const char *option, const glcnn_train_settings *settings,
                             const struct targets *targets)
{
    static const struct form form = {SIDE, SIDE, 1, CLASSES};
    const uint32_t accumulate = settings->accumulate > 0 ? (uint32_t)settings->accumulate : 1;
    const struct glcnn_graph_descriptor descriptor = {.accumulate = accumulate};
    static const struct layers all = {.head = 0};
    struct model model;
    struct runner runner;
    struct ema ema;
    good(model_create(device, net_find("small"), &form, BATCH, &model));
    good(train_optimizer_set(settings, &model, &all));
    train_optimizer_set_rate(settings, &model, &all, RATE);
    GOOD_FATAL(glcnn_network_initialise(model.network, SEED));
    good(runner_create_training(&model, BATCH, &descriptor, &runner));
    const struct input_parameters input = {
        .mean = &zero, .deviation = &one, .augment = &settings->augment, .seed = MIX_SEED};
    good(runner_take(&runner, &input));
    if (!targets_are_plain(targets) || augment_mixes(&settings->augment))
        CU_ASSERT_TRUE_FATAL(runner_set_targets(&runner, targets));
    ema_begin(&ema, model.network, settings->ema);
    run_steps(option, &runner, &ema, descriptor.accumulate);
    good(ema_exchange(&ema));
    compare_network(option, &model);
    ema_end(&ema);
    runner_destroy(&runner);
    model_destroy(&model);
}

static void weight_decay_is_that_of_pytorch(void)
{
    train_as_pytorch("weight-decay",
                     &(glcnn_train_settings){.optimizer = &descent, .weight_decay = 4}, &plain);
}

static void nesterov_is_that_of_pytorch(void)
{
    train_as_pytorch("nesterov", &(glcnn_train_settings){.optimizer = &descent, .nesterov = true},
                     &plain);
}

static void averages_are_those_of_pytorch(void)
{
    train_as_pytorch("ema", &(glcnn_train_settings){.optimizer = &descent, .ema = 0.8}, &plain);
}

static void label_smoothing_is_that_of_pytorch(void)
{
    const struct targets targets = {.classes = CLASSES, .smoothing = 0.3};
    train_as_pytorch("label-smoothing", &defaults, &targets);
}

static void class_weights_are_those_of_pytorch(void)
{
    float weights[CLASSES] = {0.25f, 2, 1, 0.5f, 3, 1.5f, 0.75f, 1, 4, 0.125f};
    const struct targets targets = {.classes = CLASSES, .smoothing = 0.1, .weights = weights};
    train_as_pytorch("class-weights", &defaults, &targets);
}

static void mixing_is_that_of_pytorch(void)
{
    const struct targets smooth = {.classes = CLASSES, .smoothing = 0.1};
    glcnn_train_settings settings = defaults;
    settings.augment.mixup = 0.4f;
    train_as_pytorch("mixup", &settings, &smooth);
    settings.augment.cutmix = 1.5f;
    train_as_pytorch("mixup-or-cutmix", &settings, &plain);
    settings.augment.mixup = 0;
    train_as_pytorch("cutmix", &settings, &plain);
}

static void accumulation_is_that_of_pytorch(void)
{
    glcnn_train_settings settings = {
        .optimizer = &descent, .weight_decay = 4, .ema = 0.8, .accumulate = 3};
    settings.augment.mixup = 0.4f;
    train_as_pytorch("accumulate", &settings, &plain);
}

/* compute_class_weight of scikit-learn: 8 pictures of 3 classes. */
static void balanced_weights_are_those_of_scikit_learn(void)
{
    static const uint32_t counts[] = {5, 1, 0, 2};
    static const float wanted[] = {8.0f / 15, 8.0f / 3, 0, 8.0f / 6};
    struct targets targets = {.classes = 4};
    CU_ASSERT_TRUE_FATAL(targets_balance(&targets, counts));
    for (int k = 0; k < 4; k++)
        CU_ASSERT_EQUAL(targets.weights[k], wanted[k]);
    targets_free(&targets);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(weight_decay_is_that_of_pytorch),
                                        UNIT_TEST(nesterov_is_that_of_pytorch),
                                        UNIT_TEST(averages_are_those_of_pytorch),
                                        UNIT_TEST(label_smoothing_is_that_of_pytorch),
                                        UNIT_TEST(class_weights_are_those_of_pytorch),
                                        UNIT_TEST(mixing_is_that_of_pytorch),
                                        UNIT_TEST(accumulation_is_that_of_pytorch),
                                        UNIT_TEST(balanced_weights_are_those_of_scikit_learn),
                                        CU_TEST_INFO_NULL};
    archive = archive_open("tests/golden/options.npz");
    if (!archive)
        return EXIT_FAILURE;
    int result = fixture_run("options", tests, argc, argv);
    archive_close(archive);
    return result;
}
