/* Averages of weights and of running statistics, by numbers that are worked out by hand. */
#include "tests/fixture.h"

#include "train/ema.h"
#include "train/train_optimizer.h"

#include <math.h>

static const struct optimizer descent = {"sgd", 0, 0,
                                         glcnn_optimizer_stochastic_gradient_descent_create, 0.9f};

static void good(bool done)
{
    CU_ASSERT_TRUE_FATAL(done);
}

/* A step tells normalisations how many channels they have, and so how long their vectors are. */
static void make(struct model *model, struct runner *runner)
{
    static const struct form form = {12, 12, 1, 3};
    const glcnn_train_settings settings = {.optimizer = &descent};
    good(model_create(device, net_find("small"), &form, 2, model));
    good(train_optimizer_set(&settings, model, &(struct layers){.head = 0}));
    GOOD_FATAL(glcnn_network_initialise(model->network, 1));
    good(runner_create_training(model, 2, NULL, runner));
    static float images[2 * 144], losses[2];
    static uint32_t labels[2];
    const struct glcnn_data_batch batch = {.count = 2, .labels = labels};
    good(runner_run(runner, images, &batch, losses));
}

/* The first kernel that trains and has the vector. */
static glcnn_buffer *vector_of(const struct model *model, const char *name)
{
    const size_t filters = model_filter_count(model->network);
    for (size_t i = 0; i < filters; i++) {
        const glcnn_kernel *kernel = model_trained_kernel(model->network, i);
        glcnn_buffer *vector = kernel ? glcnn_kernel_vector(kernel, name) : NULL;
        if (vector)
            return vector;
    }
    CU_FAIL_FATAL("no kernel has the vector");
    return NULL;
}

static void set(const struct model *model, const char *name, float value)
{
    glcnn_buffer *buffer = vector_of(model, name);
    GOOD_FATAL(glcnn_buffer_write(buffer, 0, sizeof value, &value));
}

static double first_of(const struct model *model, const char *name)
{
    float value = NAN;
    GOOD_FATAL(glcnn_buffer_read(vector_of(model, name), 0, sizeof value, &value));
    return (double)value;
}

static const char *const vectors[] = {"weights", "gamma", "mean", "variance"};
enum { VECTORS = sizeof vectors / sizeof *vectors };

/* The averages after steps that left 1, 2, 4 and 8 in every vector: of number `first` and on, but for the
 * first, which makes the averages. */
static void expect_average(double decay, uint64_t first, double wanted)
{
    struct model model;
    struct runner runner;
    struct ema ema;
    make(&model, &runner);
    ema_begin(&ema, model.network, decay);
    for (uint64_t step = 0; step < 4; step++) {
        for (int i = 0; i < VECTORS; i++)
            set(&model, vectors[i], (float)(1 << step));
        good(ema_step(&ema, first + step));
    }
    good(ema_exchange(&ema));
    for (int i = 0; i < VECTORS; i++) {
        const double found = first_of(&model, vectors[i]);
        CU_ASSERT(fabs(found - wanted) <= 2e-6 * wanted);
        if (!(fabs(found - wanted) <= 2e-6 * wanted))
            printf("\n    %s: found %.9g, expected %.9g", vectors[i], found, wanted);
    }
    good(ema_exchange(&ema));
    CU_ASSERT_EQUAL(first_of(&model, "weights"), 8);
    ema_end(&ema);
    runner_destroy(&runner);
    model_destroy(&model);
}

/* Of 1 the average goes 9/11 of the way to 2, from there 9/12 of that to 4, and 9/13 of that to 8. */
static void first_steps_have_the_ramp(void)
{
    const double two = 1 + 9.0 / 11, three = two + 0.75 * (4 - two),
                 four = three + 9.0 / 13 * (8 - three);
    expect_average(0.999, 0, four);
    expect_average(0.999, 0, 6.601398601398601);
}

/* By a decay of 0.25 these are 3/4 of the way, behind the second: 2/11 is less. */
static void the_decay_is_the_most(void)
{
    expect_average(0.25, 0, 6.863636363636363);
}

/* (1 + 1000000) / (10 + 1000000) is more than 0.9: the average goes a tenth of each way. */
static void later_steps_have_the_decay(void)
{
    expect_average(0.9, 1000000, 2.051);
    expect_average(0.9, UINT64_C(1) << 52, 2.051);
}

static void the_ramp_ends_where_the_decay_is(void)
{
    const struct ema ema = {.decay = 0.9};
    CU_ASSERT_EQUAL(ema_decay(&ema, 0), 0.1);
    CU_ASSERT_EQUAL(ema_decay(&ema, 8), 0.5);
    CU_ASSERT(ema_decay(&ema, 79) < 0.9);
    CU_ASSERT_EQUAL(ema_decay(&ema, 81), 0.9);
    CU_ASSERT_EQUAL(ema_decay(&ema, 1000), 0.9);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(first_steps_have_the_ramp), UNIT_TEST(the_decay_is_the_most),
        UNIT_TEST(later_steps_have_the_decay), UNIT_TEST(the_ramp_ends_where_the_decay_is),
        CU_TEST_INFO_NULL};
    return fixture_run("ema", tests, argc, argv);
}
