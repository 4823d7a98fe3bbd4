/* Running averages of batch statistics: PyTorch's numbers, commits that repeat, the vectors of a
 * kernel that serves inference, and what is refused. */
#include "glcnn/kernels/batch_normalization.h"
#include "glcnn/kernels/running_statistics.h"

#include <string.h>

#include "tests/fixture.h"

#define CHANNELS 3

enum { MEAN, VARIANCE, RUNNING_MEAN, RUNNING_VARIANCE, VECTORS };

static const float start[VECTORS][CHANNELS] = {
    {1, -2, 0.5f}, {4, 1, 0.25f}, {0, 1, 0.5f}, {1, 1, 2}};

struct setup {
    glcnn_kernel *kernel;
    glcnn_buffer *vectors[VECTORS];
};

static glcnn_buffer *vector(size_t count, const float *values)
{
    glcnn_buffer *buffer = NULL;
    GOOD_FATAL(glcnn_buffer_create(device, count * 4, &buffer));
    GOOD(glcnn_buffer_write(buffer, 0, count * 4, values));
    return buffer;
}

static struct setup set_up(double momentum, uint64_t samples)
{
    struct setup s = {0};
    GOOD_FATAL(
        glcnn_batch_normalization_running_statistics_create(device, momentum, samples, &s.kernel));
    for (int i = 0; i < VECTORS; i++)
        s.vectors[i] = vector(CHANNELS, start[i]);
    return s;
}

static void tear_down(struct setup *s)
{
    for (int i = 0; i < VECTORS; i++)
        glcnn_buffer_destroy(&s->vectors[i]);
    glcnn_kernel_destroy(&s->kernel);
}

static glcnn_status encode(glcnn_command_buffer *to, const struct setup *s)
{
    return glcnn_batch_normalization_running_statistics_encode(
        to, s->kernel, s->vectors[MEAN], s->vectors[VARIANCE], s->vectors[RUNNING_MEAN],
        s->vectors[RUNNING_VARIANCE]);
}

static void check_vector(glcnn_buffer *buffer, const double wanted[CHANNELS])
{
    float found[CHANNELS];
    GOOD(glcnn_buffer_read(buffer, 0, sizeof found, found));
    for (int c = 0; c < CHANNELS; c++)
        CU_ASSERT_DOUBLE_EQUAL((double)found[c], wanted[c], 1e-6);
}

/* As torch.nn.BatchNorm2d does for five pixels a channel. */
static void averages_move_by_momentum(void)
{
    struct setup s = set_up(0.1, 5);
    glcnn_command_buffer *to = make_commands();
    GOOD(encode(to, &s));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 1);
    finish(&to);
    check_vector(s.vectors[RUNNING_MEAN], (const double[]){0.1, 0.7, 0.5});
    check_vector(s.vectors[RUNNING_VARIANCE], (const double[]){1.4, 1.025, 1.83125});
    tear_down(&s);
}

/* A second commit counts again, with the parameters of that moment. */
static void repeated_commits_take_new_parameters(void)
{
    struct setup s = set_up(0.5, 1);
    glcnn_command_buffer *to = make_commands();
    GOOD(encode(to, &s));
    GOOD(glcnn_command_buffer_commit(to));
    check_vector(s.vectors[RUNNING_VARIANCE], (const double[]){2.5, 1, 1.125});
    glcnn_running_statistics(s.kernel)->momentum = 1;
    glcnn_running_statistics(s.kernel)->samples = 2;
    GOOD(glcnn_command_buffer_commit(to));
    check_vector(s.vectors[RUNNING_MEAN], (const double[]){1, -2, 0.5});
    check_vector(s.vectors[RUNNING_VARIANCE], (const double[]){8, 2, 0.5});
    glcnn_command_buffer_destroy(&to);
    tear_down(&s);
}

/* Statistics of two pixels a channel go from the state into the vectors of the kernel that made the
 * state; the same kernel without a state then normalises by them. */
static void inference_follows_the_batch(void)
{
    const struct glcnn_batch_normalization_data_source source = {
        1, NULL, NULL, (const float[]){7}, (const float[]){7}, 0};
    glcnn_kernel *statistics = NULL, *normalize = NULL, *keeper = NULL;
    glcnn_state *state = NULL;
    glcnn_image *x = make_image(1, 1, 1, 2), *y = make_image(1, 1, 1, 2);
    glcnn_command_buffer *to = make_commands();
    fill_image(x, (const float[]){1, 5}); /* mean 3, unbiased variance 8 */
    GOOD(glcnn_batch_normalization_statistics_create(device, &statistics));
    GOOD(glcnn_batch_normalization_create(device, &source, NULL, &normalize));
    GOOD(glcnn_batch_normalization_running_statistics_create(device, 1, 2, &keeper));
    GOOD(glcnn_kernel_result_state(NULL, normalize, &(struct glcnn_encode){0}, &state));
    GOOD(glcnn_kernel_encode(to, statistics, &(struct glcnn_encode){.source = x, .state = state}));
    GOOD(glcnn_batch_normalization_running_statistics_encode(
        to, keeper, glcnn_state_vector(state, "mean"), glcnn_state_vector(state, "variance"),
        glcnn_kernel_vector(normalize, "mean"), glcnn_kernel_vector(normalize, "variance")));
    finish(&to);
    to = make_commands();
    fill_image(x, (const float[]){3, 11});
    GOOD(glcnn_kernel_encode(to, normalize, &(struct glcnn_encode){.source = x, .destination = y}));
    finish(&to);
    float *found = read_image(y);
    CU_ASSERT_DOUBLE_EQUAL((double)found[0], 0, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL((double)found[1], 2.8284271, 1e-6);
    free(found);
    glcnn_image_destroy(&x);
    glcnn_image_destroy(&y);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&statistics);
    glcnn_kernel_destroy(&normalize);
    glcnn_kernel_destroy(&keeper);
}

/* ---- Misuse ---- */

/* With another buffer for one vector the encode is refused with a message that has `phrase`. */
static void check_refused_with(const struct setup *s, int index, glcnn_buffer *other,
                               const char *phrase)
{
    struct setup changed = *s;
    glcnn_command_buffer *to = make_commands();
    changed.vectors[index] = other;
    REFUSED(GLCNN_INVALID_ARGUMENT, encode(to, &changed));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), phrase));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 0);
    glcnn_command_buffer_destroy(&to);
}

static void vectors_are_checked(void)
{
    struct setup s = set_up(0.1, 1);
    glcnn_buffer *shorter = vector(CHANNELS - 1, start[0]);
    check_refused_with(&s, MEAN, NULL, "mean is NULL");
    check_refused_with(&s, RUNNING_VARIANCE, NULL, "running_variance is NULL");
    check_refused_with(&s, VARIANCE, shorter, "mean has 3 elements and variance has 2");
    check_refused_with(&s, RUNNING_VARIANCE, shorter, "running_variance has 2");
    check_refused_with(&s, RUNNING_MEAN, s.vectors[MEAN], "mean and running_mean are one buffer");
    check_refused_with(&s, RUNNING_VARIANCE, s.vectors[RUNNING_MEAN],
                       "running_mean and running_variance are one buffer");
    glcnn_buffer_destroy(&shorter);
    tear_down(&s);
}

static void parameters_are_checked(void)
{
    glcnn_kernel *kernel = NULL;
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_batch_normalization_running_statistics_create(device, 1.5, 1, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    REFUSED(GLCNN_INVALID_ARGUMENT,
            glcnn_batch_normalization_running_statistics_create(device, 0.1, 0, &kernel));
    CU_ASSERT_PTR_NULL(kernel);
    struct setup s = set_up(0.1, 1);
    glcnn_running_statistics(s.kernel)->samples = 0;
    check_refused_with(&s, MEAN, s.vectors[MEAN], "samples is 0");
    tear_down(&s);
}

static void another_kernel_is_refused(void)
{
    struct setup s = set_up(0.1, 1);
    glcnn_kernel_destroy(&s.kernel);
    GOOD(glcnn_batch_normalization_statistics_create(device, &s.kernel));
    CU_ASSERT_PTR_NULL(glcnn_running_statistics(s.kernel));
    check_refused_with(&s, MEAN, s.vectors[MEAN], "keeps no running statistics");
    tear_down(&s);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(averages_move_by_momentum),
        UNIT_TEST(repeated_commits_take_new_parameters),
        UNIT_TEST(inference_follows_the_batch),
        UNIT_TEST(vectors_are_checked),
        UNIT_TEST(parameters_are_checked),
        UNIT_TEST(another_kernel_is_refused),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("running_statistics", tests, argc, argv);
}
