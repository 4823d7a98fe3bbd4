/* Losses of tasks against their formulas, of the scores that a network gave. */
#include "task/model.h"
#include "task/score.h"

#include <math.h>

#include "tests/fixture.h"

enum { SIDE = 8, BATCH = 3, CLASSES = 3, PIXELS = SIDE * SIDE };

/* What a step made of a batch. */
struct step {
    float losses[BATCH];
    float scores[BATCH][PIXELS][CLASSES]; /* regress: the first pixel alone */
};

static bool step_once(const char *task, const char *loss, const struct glcnn_data_batch *batch,
                      struct step *step)
{
    const struct task *found = task_find(task);
    const struct form form = {.width = SIDE,
                              .height = SIDE,
                              .channels = 1,
                              .classes = CLASSES,
                              .task = task_number(found),
                              .loss = (uint32_t)(task_find_loss(found, loss) - found->losses)};
    static float pictures[BATCH][PIXELS];
    struct model model;
    struct runner runner;
    for (size_t i = 0; i < BATCH * PIXELS; i++)
        pictures[i / PIXELS][i % PIXELS] = (float)(i * 37 % 101) / 101;
    bool good = model_create(device, net_find("small"), &form, BATCH, &model) &&
                glcnn_network_initialise(model.network, 3) == GLCNN_SUCCESS;
    struct glcnn_training_descriptor training = {NULL};
    good = good &&
           glcnn_optimizer_stochastic_gradient_descent_create(device, 0.1f, &training.optimizer) ==
               GLCNN_SUCCESS &&
           glcnn_network_set_training(model.network, &training) == GLCNN_SUCCESS;
    glcnn_kernel_destroy(&training.optimizer);
    const float units[2][CLASSES] = {{1, 2, 4}, {0, -1, 3}};
    for (int i = 0; good && model.units[0] && i < 2; i++)
        good = glcnn_kernel_set_vector(model.units[i], "neuron_data", units[i], CLASSES) ==
               GLCNN_SUCCESS;
    good = good && runner_create_training(&model, BATCH, NULL, &runner) &&
           runner_run(&runner, pictures[0], batch, step->losses);
    const size_t count = found->labels_turn ? PIXELS : 1;
    good = good && glcnn_image_read_bytes(glcnn_graph_image(runner.graph, runner.scores), NULL,
                                          step->scores,
                                          BATCH * count * CLASSES * sizeof(float)) == GLCNN_SUCCESS;
    if (!good)
        printf("\n    %s: %s", task, model_failure(device));
    runner_destroy(&runner);
    model_destroy(&model);
    return good;
}

/* ---- Segment ---- */

static uint8_t masks[BATCH][PIXELS];

static void make_masks(void)
{
    for (int i = 0; i < BATCH * PIXELS; i++)
        masks[i / PIXELS][i % PIXELS] =
            (uint8_t)(i % 11 == 5 ? GLCNN_DATA_NO_CLASS : i / 5 % CLASSES);
}

static void soft_max(const float *scores, double p[CLASSES])
{
    double sum = 0;
    for (int k = 0; k < CLASSES; k++)
        sum += exp((double)scores[k]);
    for (int k = 0; k < CLASSES; k++)
        p[k] = exp((double)scores[k]) / sum;
}

/* Pixels of a picture on the average that have a class. */
static double pixels_with_class(void)
{
    int count = 0;
    for (int i = 0; i < BATCH * PIXELS; i++)
        count += masks[i / PIXELS][i % PIXELS] != GLCNN_DATA_NO_CLASS;
    return (double)count / BATCH;
}

/* Of one picture, without the mean over the batch. */
static double cross_entropy(const struct step *s, int n)
{
    double loss = 0, p[CLASSES];
    for (int i = 0; i < PIXELS; i++) {
        soft_max(s->scores[n][i], p);
        loss -= masks[n][i] == GLCNN_DATA_NO_CLASS ? 0 : log(p[masks[n][i]]);
    }
    return loss / pixels_with_class();
}

static double focal(const struct step *s, int n)
{
    double loss = 0, p[CLASSES];
    for (int i = 0; i < PIXELS; i++) {
        const uint8_t class = masks[n][i];
        soft_max(s->scores[n][i], p);
        loss -= class == GLCNN_DATA_NO_CLASS ? 0 : pow(1 - p[class], 2) * log(p[class]);
    }
    return loss / pixels_with_class();
}

/* Classes that the picture has not have no term. */
static double dice(const struct step *s, int n)
{
    double both[CLASSES] = {0}, any[CLASSES] = {0}, are[CLASSES] = {0}, loss = 0, p[CLASSES];
    for (int i = 0; i < PIXELS; i++) {
        soft_max(s->scores[n][i], p);
        for (int k = 0; k < CLASSES && masks[n][i] != GLCNN_DATA_NO_CLASS; k++) {
            both[k] += masks[n][i] == k ? p[k] : 0;
            any[k] += p[k] + (masks[n][i] == k);
            are[k] += masks[n][i] == k;
        }
    }
    for (int k = 0; k < CLASSES; k++)
        loss += are[k] > 0 ? 1 - (2 * both[k] + 1) / (any[k] + 1) : 0;
    return loss / CLASSES;
}

static void losses_of_pixels(void)
{
    static const struct {
        const char *name;
        double (*formula)(const struct step *s, int n);
    } rows[] = {{"cross-entropy", cross_entropy}, {"focal", focal}, {"dice", dice}};
    static struct step step;
    make_masks();
    for (int i = 0; i < PIXELS; i++) /* the first picture has no pixel of the last class */
        masks[0][i] = masks[0][i] == CLASSES - 1 ? 0 : masks[0][i];
    const struct glcnn_data_batch batch = {.count = BATCH, .masks = masks[0]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_TRUE_FATAL(step_once("segment", rows[i].name, &batch, &step));
        for (int n = 0; n < BATCH; n++) {
            const double wanted = rows[i].formula(&step, n) / BATCH;
            CU_ASSERT_DOUBLE_EQUAL((double)step.losses[n], wanted, 2e-6 * fabs(wanted));
        }
    }
}

/* Two steps of stochastic gradient descent with rate 1 of scores W x + b, W the identity and b 0 before, as
 * PyTorch's cross_entropy has them with ignore_index: of a batch with pixels without a class, then of one
 * without such. */
static void steps_of_masks_are_those_of_pytorch(void)
{
    enum { PICTURES = 2, HEIGHT = 2, WIDTH = 4, COUNT = PICTURES * HEIGHT * WIDTH };
    static const uint8_t with_gaps[COUNT] = {0, 1,   255, 2, 255, 255, 1,   1,
                                             2, 255, 0,   0, 255, 255, 255, 255};
    static const double losses[2] = {1.42354556, 1.24320596};
    static const double weights[2][CLASSES * CLASSES] = {
        {0.81367555, 0.00928646, 0.18758859, 0.04354736, 0.95719985, 0.04539172, 0.14277709,
         0.03351369, 0.76701969},
        {0.72454257, 0.10644924, 0.18334450, 0.13117579, 0.81465394, 0.09187896, 0.14428164,
         0.07889682, 0.72477654}};
    static const double biases[2][CLASSES] = {{0.05543888, 0.07157752, -0.12701640},
                                              {0.11824876, -0.01848367, -0.09976509}};
    static const float identity[CLASSES * CLASSES] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const struct form form = {.width = WIDTH,
                              .height = HEIGHT,
                              .channels = CLASSES,
                              .classes = CLASSES,
                              .task = task_number(task_find("segment"))};
    char error[GLCNN_ERROR_LENGTH];
    float pictures[COUNT][CLASSES];
    uint8_t full[COUNT];
    for (int i = 0; i < COUNT * CLASSES; i++)
        pictures[i / CLASSES][i % CLASSES] = (float)(i * 37 % 101) / 50 - 1;
    for (int i = 0; i < COUNT; i++)
        full[i] = (uint8_t)(i % CLASSES);
    glcnn_network *network = NULL;
    GOOD_FATAL(glcnn_network_create(device, &network));
    const struct glcnn_convolution_descriptor layer = {.kernel_width = 1,
                                                       .kernel_height = 1,
                                                       .input_feature_channels = CLASSES,
                                                       .output_feature_channels = CLASSES};
    glcnn_image_node *scores =
        glcnn_convolution_node(glcnn_image_node_create(network, "image"), &layer, NULL);
    glcnn_kernel *kernel = glcnn_filter_node_kernel(glcnn_image_node_filter(scores));
    GOOD(glcnn_kernel_set_vector(kernel, "weights", identity, CLASSES * CLASSES));
    struct model model;
    struct runner runner;
    CU_ASSERT_TRUE_FATAL(model_open(network, &form, PICTURES, &model, error));
    struct glcnn_training_descriptor training = {NULL};
    GOOD(glcnn_optimizer_stochastic_gradient_descent_create(device, 1, &training.optimizer));
    GOOD(glcnn_network_set_training(model.network, &training));
    glcnn_kernel_destroy(&training.optimizer);
    CU_ASSERT_TRUE_FATAL(runner_create_training(&model, PICTURES, NULL, &runner));
    for (int step = 0; step < 2; step++) {
        float found[PICTURES], w[CLASSES * CLASSES], b[CLASSES];
        const struct glcnn_data_batch batch = {.count = PICTURES, .masks = step ? full : with_gaps};
        CU_ASSERT_TRUE_FATAL(runner_run(&runner, pictures[0], &batch, found));
        CU_ASSERT_DOUBLE_EQUAL((double)found[0] + (double)found[1], losses[step], 2e-6);
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, "weights"), 0, sizeof w, w));
        GOOD(glcnn_buffer_read(glcnn_kernel_vector(kernel, "biases"), 0, sizeof b, b));
        for (int i = 0; i < CLASSES * CLASSES; i++)
            CU_ASSERT_DOUBLE_EQUAL((double)w[i], weights[step][i], 2e-6);
        for (int i = 0; i < CLASSES; i++)
            CU_ASSERT_DOUBLE_EQUAL((double)b[i], biases[step][i], 2e-6);
    }
    runner_destroy(&runner);
    model_destroy(&model);
}

/* In validation the loss is the mean over pixels that have a class, however many of which picture; those
 * without one would make it smaller. */
static void masks_are_scored_by_pixels_with_a_class(void)
{
    static float found[BATCH][PIXELS][2];
    static uint8_t wanted[BATCH][PIXELS];
    static const uint32_t labels[BATCH], indices[BATCH];
    const struct task *task = task_find("segment");
    double loss = 0;
    struct score score = {.task = task,
                          .form = {.width = SIDE, .height = SIDE, .channels = 1, .classes = 2},
                          .sum_count = 7};
    uint32_t pixels = 0;
    /* The matrix of two classes, what each has unseen, and pixels. */
    score.sums = calloc(score.sum_count, sizeof *score.sums);
    CU_ASSERT_PTR_NOT_NULL_FATAL(score.sums);
    for (int i = 0; i < BATCH * PIXELS; i++) {
        const float p = (float)(i % 7 + 1) / 8;
        const bool has_class = i % PIXELS < PIXELS / (i / PIXELS + 1);
        found[i / PIXELS][i % PIXELS][0] = p;
        found[i / PIXELS][i % PIXELS][1] = 1 - p;
        wanted[i / PIXELS][i % PIXELS] = (uint8_t)(has_class ? i % 2 : GLCNN_DATA_NO_CLASS);
        loss -= has_class ? log(i % 2 ? 1 - (double)p : (double)p) : 0;
        pixels += has_class;
    }
    const struct glcnn_data_batch batch = {
        .count = BATCH, .labels = labels, .indices = indices, .masks = wanted[0]};
    CU_ASSERT_EQUAL_FATAL(task->sums(&score.form), score.sum_count);
    score_add(&score, found[0][0], &batch);
    CU_ASSERT_DOUBLE_EQUAL(score_loss(&score), loss / pixels, 1e-12);
    score_free(&score);
}

/* ---- Regress ---- */

static double squared(double e)
{
    return e * e;
}

static double huber(double e)
{
    return fabs(e) <= 1 ? e * e / 2 : fabs(e) - 0.5;
}

static void losses_of_numbers(void)
{
    static const struct {
        const char *name;
        double (*formula)(double error);
    } rows[] = {{"squared", squared}, {"huber", huber}, {"absolute", fabs}};
    static const float numbers[BATCH][CLASSES] = {{1, 2, 3}, {0.5f, -7, 0}, {0, 0, 11}};
    static const double units[CLASSES] = {1, 2, 4}, means[CLASSES] = {0, -1, 3};
    static struct step step;
    const struct glcnn_data_batch batch = {.count = BATCH, .numbers = numbers[0]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_TRUE_FATAL(step_once("regress", rows[i].name, &batch, &step));
        for (int n = 0; n < BATCH; n++) {
            double wanted = 0;
            const float *scores = &step.scores[0][n][0];
            for (int k = 0; k < CLASSES; k++)
                wanted += rows[i].formula((double)scores[k] -
                                          ((double)numbers[n][k] - means[k]) / units[k]);
            wanted /= CLASSES * BATCH;
            CU_ASSERT_DOUBLE_EQUAL((double)step.losses[n], wanted, 2e-6 * fabs(wanted));
        }
    }
}

static CU_TestInfo tests[] = {UNIT_TEST(losses_of_pixels),
                              UNIT_TEST(masks_are_scored_by_pixels_with_a_class),
                              UNIT_TEST(steps_of_masks_are_those_of_pytorch),
                              UNIT_TEST(losses_of_numbers), CU_TEST_INFO_NULL};

int main(int argc, char *argv[])
{
    return fixture_run("losses of tasks", tests, argc, argv);
}
