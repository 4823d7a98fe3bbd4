/* The networks of src/task/nets.c: twenty training steps by a graph against PyTorch's autograd, and
 * the memory that their graphs plan. golden/make_nets.py makes the same weights and batches and
 * wrote PyTorch's losses, weights, momentum and running averages. Momentum over the learning rate
 * is the sum of all steps' gradients, each 0.9 times the weight of the next one.
 *
 * GLCNN_TEST_QUICK=1: only the losses of some steps, and not of the largest network. */
#include "tests/archive.h"
#include <glcnn/serialize.h>

#include "tests/fixture.h"

#include <inttypes.h>

#include "task/fashion.h"
#include "task/network.h"
#include "base/random.h"
#include "device/device.h"
#include "task/model.h"
#include "task/task.h"

#define STEPS       20
#define QUICK_STEPS 3
#define BATCH       4
#define RATE        (1.0f / 2048)
#define SEED        1
#define TOLERANCE   1e-4 /* times max(1, norm) */
#define OVER_BOUND  1.10

#define TRAINING_BATCH  64
#define INFERENCE_BATCH 100

static struct zip *archive;

static void good(bool done)
{
    if (!done)
        fprintf(stderr, "\n  %s\n", glcnn_device_error(device));
    CU_ASSERT_TRUE_FATAL(done);
}

static bool is_quick(void)
{
    const char *quick = getenv("GLCNN_TEST_QUICK");
    return quick && strcmp(quick, "1") == 0;
}

/* ---- The network ---- */

static const struct form fashion = {FASHION_SIDE, FASHION_SIDE, 1, FASHION_CLASSES};

static struct model make_model(const char *name, const struct form *form, uint32_t batch)
{
    struct model model;
    glcnn_kernel *optimizer;
    const struct net *net = net_find(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(net);
    good(model_create(device, net, form, batch, &model));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, RATE, &optimizer));
    glcnn_optimizer(optimizer)->momentum_scale = 0.9f;
    const struct glcnn_training_descriptor descriptor = {.optimizer = optimizer};
    GOOD_FATAL(glcnn_network_set_training(model.network, &descriptor));
    glcnn_kernel_destroy(&optimizer);
    return model;
}

/* ---- Batches ---- */

static float seven_bits(uint64_t *random)
{
    return (float)(random_next(random) >> 57) / 256;
}

/* A pattern of the class under noise of the same size. */
static void make_batch(uint32_t number, float pixels[BATCH][FASHION_PIXELS], uint32_t labels[BATCH])
{
    uint64_t random = (uint64_t)number << 32;
    for (int n = 0; n < BATCH; n++) {
        uint64_t label = random_next(&random) % FASHION_CLASSES, pattern = 1 + label;
        labels[n] = (uint32_t)label;
        for (int i = 0; i < FASHION_PIXELS; i++)
            pixels[n][i] = seven_bits(&pattern) + seven_bits(&random);
    }
}

static float run_step(struct runner *runner, float number)
{
    static float pixels[BATCH][FASHION_PIXELS];
    uint32_t labels[BATCH];
    float losses[BATCH];
    double sum = 0;
    make_batch((uint32_t)number, pixels, labels);
    good(runner_run(runner, pixels[0], &(struct glcnn_data_batch){.labels = labels}, losses));
    for (int n = 0; n < BATCH; n++)
        sum += (double)losses[n];
    return (float)sum;
}

/* ---- Comparison ---- */

/* The largest error relative to the norm, and where it is. */
struct worst {
    double error;
    char name[96];
};

static void compare(struct worst *worst, const char *name, const float *found, size_t count,
                    bool whole)
{
    struct glcnn_npy wanted;
    CU_ASSERT_FATAL(archive_read(archive, name, &wanted));
    if (!whole)
        wanted.shape[0] = (uint32_t)count;
    double error = archive_error(&wanted, found, count);
    CU_ASSERT(error <= TOLERANCE);
    if (!(error <= TOLERANCE))
        fprintf(stderr, "\n  %s is off by %g times max(1, norm)\n", name, error);
    if (!(error < worst->error)) {
        worst->error = error;
        snprintf(worst->name, sizeof worst->name, "%s", name);
    }
    glcnn_npy_destroy(&wanted);
}

static void compare_buffer(struct worst *worst, const char *net, const char *label,
                           const char *vector, glcnn_buffer *buffer, float scale)
{
    char name[96];
    size_t size = glcnn_buffer_size(buffer);
    float *values = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(values);
    GOOD_FATAL(glcnn_buffer_read(buffer, 0, size, values));
    for (size_t i = 0; i < size / sizeof *values; i++)
        values[i] *= scale;
    snprintf(name, sizeof name, "%s.%s.%s", net, label, vector);
    compare(worst, name, values, size / sizeof *values, true);
    free(values);
}

/* Returns how many arrays were compared. */
static size_t compare_filter(struct worst *worst, const char *net, glcnn_filter_node *node)
{
    static const char *const vectors[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};
    glcnn_kernel *kernel = glcnn_filter_node_kernel(node);
    const char *label = glcnn_filter_node_label(node);
    char name[32];
    size_t compared = 0;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        glcnn_buffer *values =
            glcnn_kernel_optimizer(kernel) ? glcnn_kernel_vector(kernel, vectors[i]) : NULL;
        glcnn_buffer *momentum = glcnn_kernel_optimizer_vector(kernel, vectors[i], 0);
        snprintf(name, sizeof name, "momentum_of_%s", vectors[i]);
        if (values)
            compare_buffer(worst, net, label, vectors[i], values, 1);
        if (momentum)
            compare_buffer(worst, net, label, name, momentum, 1 / RATE);
        compared += (values ? 1u : 0u) + (momentum ? 1u : 0u);
    }
    return compared;
}

static void compare_network(struct worst *worst, const struct model *model)
{
    glcnn_filter_node *node;
    char prefix[64];
    size_t compared = 0;
    for (size_t i = 0; (node = glcnn_network_filter(model->network, i)) != NULL; i++)
        compared += compare_filter(worst, model->net->name, node);
    snprintf(prefix, sizeof prefix, "%s.", model->net->name);
    CU_ASSERT_EQUAL(compared + 2, archive_count(archive, prefix)); /* batches and losses: 2 */
}

/* ---- Training ---- */

static void run_steps(const char *net, struct runner *runner, struct worst *worst)
{
    struct glcnn_npy batches;
    char name[64];
    float losses[STEPS];
    const size_t steps = is_quick() ? QUICK_STEPS : STEPS;
    snprintf(name, sizeof name, "%s.batches", net);
    CU_ASSERT_FATAL(archive_read(archive, name, &batches));
    CU_ASSERT_EQUAL_FATAL(batches.shape[0], STEPS);
    for (size_t step = 0; step < steps; step++)
        losses[step] = run_step(runner, batches.data[step]);
    glcnn_npy_destroy(&batches);
    snprintf(name, sizeof name, "%s.loss", net);
    compare(worst, name, losses, steps, !is_quick());
}

static void train_as_pytorch(const char *name)
{
    struct worst worst = {0};
    struct model model = make_model(name, &fashion, BATCH);
    struct runner runner;
    GOOD_FATAL(glcnn_network_initialise(model.network, SEED));
    good(runner_create_training(&model, BATCH, NULL, &runner));
    run_steps(name, &runner, &worst);
    if (!is_quick())
        compare_network(&worst, &model);
    printf("\n    largest error %.2g times max(1, norm), of %s  ", worst.error, worst.name);
    runner_destroy(&runner);
    model_destroy(&model);
}

static void lenet_trains_as_in_pytorch(void)
{
    train_as_pytorch("lenet");
}

static void small_trains_as_in_pytorch(void)
{
    train_as_pytorch("small");
}

static void resnet8_trains_as_in_pytorch(void)
{
    if (!is_quick())
        train_as_pytorch("resnet8");
}

static void mobilenet_tiny_trains_as_in_pytorch(void)
{
    train_as_pytorch("mobilenet-tiny");
}

/* ---- Memory ---- */

/* *stored bytes are what the plan takes where all images are stored, 0 before that plan itself. */
static void check_memory(struct runner *runner, const char *what, uint64_t *stored)
{
    struct glcnn_memory_plan memory = {0};
    good(runner_memory(runner, &memory));
    double over = (double)memory.planned / (double)memory.lower_bound;
    printf("\n    %-24s %9" PRIu64 " bytes, %.3f of the lower bound, %.3f of all images", what,
           memory.planned, over, (double)memory.planned / (double)memory.without_sharing);
    CU_ASSERT(memory.lower_bound > 0);
    CU_ASSERT(memory.planned <= memory.without_sharing);
    CU_ASSERT(over <= OVER_BOUND || memory.planned <= *stored);
    CU_ASSERT_EQUAL(memory.sub_batches, 1);
    *stored = *stored ? *stored : memory.planned;
    runner_destroy(runner);
}

/* The bound does not know that the images of a pass lie in different textures. Where stores or passes
 * are dear and images few this shows: a plan beyond the bound then takes no more than with all
 * images. */
static void check_memory_of(const char *name)
{
    const struct glcnn_device_traits traits = device->info.traits;
    uint64_t inference = 0, training = 0;
    char what[64];
    struct runner runner;
    struct model model = make_model(name, &fashion, TRAINING_BATCH);
    for (int way = 0; way < 3; way++) { /* all are stored first */
        device->info.traits.shared_memory = way == 1 && traits.shared_memory;
        device->info.traits.slow_image_stores = way == 2;
        device->info.traits.recomputes_pixels = way == 2 || device->info.traits.shared_memory;
        good(runner_create_inference(&model, INFERENCE_BATCH, 0, &runner));
        snprintf(what, sizeof what, "%s, inference", name);
        check_memory(&runner, what, &inference);
        good(runner_create_training(&model, TRAINING_BATCH, NULL, &runner));
        snprintf(what, sizeof what, "%s, training", name);
        check_memory(&runner, what, &training);
    }
    device->info.traits = traits;
    model_destroy(&model);
}

static void memory_is_near_the_lower_bound(void)
{
    static const char *const names[] = {"lenet", "small", "resnet8", "mobilenet-tiny"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_memory_of(names[i]);
    printf("\n  ");
}

/* ---- Forms ---- */

#define FORM_BATCH 2

/* Random values take no gradient to infinity: after a step the loss is still a number, and the
 * probabilities of every picture add up to 1. */
static void train_on_form(const struct net *net, const struct form *form)
{
    uint64_t random = 1;
    size_t count = (size_t)form->width * form->height * form->channels * FORM_BATCH;
    float *images = calloc(count, sizeof *images),
          *scores = calloc((size_t)form->classes * FORM_BATCH, sizeof *scores), losses[FORM_BATCH];
    uint32_t labels[FORM_BATCH] = {0, form->classes - 1};
    struct runner trainer, tester;
    struct model model = make_model(net->name, form, FORM_BATCH);
    for (size_t i = 0; i < count; i++)
        images[i] = seven_bits(&random);
    GOOD_FATAL(glcnn_network_initialise(model.network, SEED));
    good(runner_create_training(&model, FORM_BATCH, NULL, &trainer));
    good(runner_create_inference(&model, FORM_BATCH, 0, &tester));
    for (int step = 0; step < 2; step++) {
        good(runner_run(&trainer, images, &(struct glcnn_data_batch){.labels = labels}, losses));
        good(runner_scores(&trainer, scores));
        double all = 0;
        for (uint32_t k = 0; k < form->classes; k++)
            all += exp((double)scores[k]);
        double wanted = (log(all) - (double)scores[0]) / FORM_BATCH; /* the mean over the batch */
        CU_ASSERT(fabs((double)losses[0] - wanted) < 1e-4 * (1 + wanted));
    }
    good(runner_run(&tester, images, NULL, scores));
    for (uint32_t n = 0; n < FORM_BATCH; n++) {
        double sum = 0;
        for (uint32_t k = 0; k < form->classes; k++)
            sum += (double)scores[n * form->classes + k];
        CU_ASSERT(fabs(sum - 1) < 1e-5);
    }
    runner_destroy(&trainer);
    runner_destroy(&tester);
    model_destroy(&model);
    free(images), free(scores);
}

static void nets_take_pictures_of_any_form(void)
{
    static const struct form forms[] = {{13, 30, 5, 100}, {41, 33, 3, 2}}, tiny = {8, 8, 1, 2},
                             thin = {40, 3, 1, 2};
    static const char *const names[] = {"lenet", "small", "resnet8", "mobilenet-tiny"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t f = 0; f < (is_quick() ? 1 : 2); f++)
            train_on_form(net_find(names[i]), &forms[f]);
    CU_ASSERT_FALSE(net_fits(net_find("lenet"), &tiny));
    CU_ASSERT_TRUE(net_fits(net_find("small"), &tiny));
    CU_ASSERT_FALSE(net_fits(net_find("small"), &thin));
    CU_ASSERT_TRUE(net_fits(net_find("resnet8"), &thin));
}

/* The description that a file keeps makes the network again, with one input and one result. Layers that the
 * head has no use for would be results besides. */
static void open_again(const struct net *net, const struct form *form)
{
    struct model made, opened = {.network = NULL};
    glcnn_network *network = NULL;
    char error[GLCNN_ERROR_LENGTH] = "";
    const bool read = model_create(device, net, form, 1, &made) &&
                      glcnn_network_deserialize(device, made.description, made.description_size,
                                                &network, error) == GLCNN_SUCCESS;
    if (!read || !model_open(network, form, 1, &opened, error)) {
        printf("\n    %s, task %s, %ux%u: %s", net->name, task_of(form)->name, form->width,
               form->height, error);
        CU_FAIL("the network of a file does not open");
    }
    model_destroy(&opened);
    model_destroy(&made);
}

static void files_of_all_nets_and_tasks_open(void)
{
    static const uint32_t sizes[][2] = {{32, 32}, {96, 96}, {192, 160}, {224, 224}};
    const struct net *net;
    const struct task *task;
    for (size_t n = 0; (net = net_at(n)) != NULL; n++)
        for (size_t t = 0; (task = task_at(t)) != NULL; t++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                open_again(net, &(struct form){sizes[i][0], sizes[i][1], 3, 2, task_number(task)});
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(lenet_trains_as_in_pytorch),       UNIT_TEST(small_trains_as_in_pytorch),
        UNIT_TEST(resnet8_trains_as_in_pytorch),     UNIT_TEST(mobilenet_tiny_trains_as_in_pytorch),
        UNIT_TEST(memory_is_near_the_lower_bound),   UNIT_TEST(nets_take_pictures_of_any_form),
        UNIT_TEST(files_of_all_nets_and_tasks_open), CU_TEST_INFO_NULL};
    archive = archive_open("tests/golden/nets.npz");
    if (!archive)
        return EXIT_FAILURE;
    int result = fixture_run("nets", tests, argc, argv);
    archive_close(archive);
    return result;
}
