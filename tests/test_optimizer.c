/* Optimizers: golden values, commits that repeat, and what is refused. */
#include "glcnn/kernels/optimizer.h"

#include <float.h>
#include <math.h>

#include "tests/cases.h"

#define MOST 300

/* Vectors of one optimizer on the device. */
struct tensor_run {
    glcnn_kernel *kernel;
    glcnn_buffer *gradient, *values, *first, *second, *result;
    size_t count;
};

static glcnn_buffer *vector(size_t count, const float *values)
{
    glcnn_buffer *buffer = NULL;
    CU_ASSERT_EQUAL_FATAL(glcnn_buffer_create(cases_device(), count * 4, &buffer), GLCNN_SUCCESS);
    if (values)
        CU_ASSERT_EQUAL(glcnn_buffer_write(buffer, 0, count * 4, values), GLCNN_SUCCESS);
    return buffer;
}

static struct tensor_run tensor_begin(const char *name, size_t count, const float *values)
{
    struct tensor_run t = {.count = count};
    CU_ASSERT_EQUAL_FATAL(glcnn_kernel_create(cases_device(), name, &t.kernel), GLCNN_SUCCESS);
    t.gradient = vector(count, NULL);
    t.values = vector(count, values);
    t.first = vector(count, NULL);
    if (strstr(name, "adam"))
        t.second = vector(count, NULL);
    t.result = t.values;
    return t;
}

static void tensor_end(struct tensor_run *t)
{
    if (t->result != t->values)
        glcnn_buffer_destroy(&t->result);
    glcnn_buffer_destroy(&t->gradient);
    glcnn_buffer_destroy(&t->values);
    glcnn_buffer_destroy(&t->first);
    glcnn_buffer_destroy(&t->second);
    glcnn_kernel_destroy(&t->kernel);
}

static glcnn_command_buffer *commands(void)
{
    glcnn_command_buffer *made = NULL;
    CU_ASSERT_EQUAL_FATAL(glcnn_command_buffer_create(cases_device(), &made), GLCNN_SUCCESS);
    return made;
}

static glcnn_status encode(glcnn_command_buffer *to, struct tensor_run *t)
{
    return glcnn_optimizer_encode(to, t->kernel, t->gradient, t->values, t->first, t->second,
                                  t->result);
}

static void write_gradient(struct tensor_run *t, const float *gradient)
{
    CU_ASSERT_EQUAL(glcnn_buffer_write(t->gradient, 0, t->count * 4, gradient), GLCNN_SUCCESS);
}

/* One step with a command buffer of its own. */
static void step(struct tensor_run *t, const float *gradient)
{
    glcnn_command_buffer *to = commands();
    write_gradient(t, gradient);
    CU_ASSERT_EQUAL(encode(to, t), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_commit(to), GLCNN_SUCCESS);
    glcnn_command_buffer_destroy(&to);
}

static void read_back(glcnn_buffer *buffer, float *values)
{
    CU_ASSERT_EQUAL(glcnn_buffer_read(buffer, 0, glcnn_buffer_size(buffer), values), GLCNN_SUCCESS);
}

static float first_of(glcnn_buffer *buffer)
{
    float values[MOST];
    read_back(buffer, values);
    return values[0];
}

/* Numbers in -1 .. 1 that differ with `seed`. */
static void fill(float *values, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = sinf((float)(i * 7 + seed * 13) * 1.7f + (float)seed);
}

/* ---- Golden values ---- */

static void check_two_steps(struct tensor_run *t, double first, double second)
{
    glcnn_optimizer(t->kernel)->learning_rate = 0.1f;
    step(t, (const float[]){0.5f});
    CU_ASSERT_DOUBLE_EQUAL(first_of(t->values), first, 5e-7);
    step(t, (const float[]){-0.25f});
    CU_ASSERT_DOUBLE_EQUAL(first_of(t->values), second, 5e-7);
    tensor_end(t);
}

static void descent_with_momentum(void)
{
    struct tensor_run t =
        tensor_begin("optimizer_stochastic_gradient_descent", 1, (const float[]){1});
    glcnn_optimizer(t.kernel)->momentum_scale = 0.9f;
    check_two_steps(&t, 0.95, 0.93);
}

static void descent_with_nesterov_momentum(void)
{
    struct tensor_run t =
        tensor_begin("optimizer_stochastic_gradient_descent", 1, (const float[]){1});
    glcnn_optimizer(t.kernel)->momentum_scale = 0.9f;
    glcnn_optimizer(t.kernel)->use_nesterov_momentum = true;
    check_two_steps(&t, 0.905, 0.912);
}

/* The momentum scale is of no account where there is no momentum. */
static void descent_without_momentum(void)
{
    struct tensor_run t =
        tensor_begin("optimizer_stochastic_gradient_descent", 1, (const float[]){1});
    glcnn_buffer_destroy(&t.first);
    glcnn_optimizer(t.kernel)->momentum_scale = 0.9f;
    check_two_steps(&t, 0.95, 0.975);
}

static void rms_prop(void)
{
    struct tensor_run t = tensor_begin("optimizer_rms_prop", 1, (const float[]){1});
    check_two_steps(&t, 0.683772, 0.831214);
}

static void adam(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 1, (const float[]){1});
    check_two_steps(&t, 0.900000063, 0.873366374);
}

static void adam_counts_encodes(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 1, (const float[]){1});
    step(&t, (const float[]){1});
    step(&t, (const float[]){1});
    CU_ASSERT_EQUAL(glcnn_optimizer(t.kernel)->time_step, 2);
    tensor_end(&t);
}

/* ---- Preparation of gradients: a step of rate 1 without momentum takes g off the value ---- */

static double prepared(float value, float gradient, const struct glcnn_optimizer *settings)
{
    struct tensor_run t =
        tensor_begin("optimizer_stochastic_gradient_descent", 1, (const float[]){value});
    glcnn_buffer_destroy(&t.first);
    *glcnn_optimizer(t.kernel) = *settings;
    glcnn_optimizer(t.kernel)->learning_rate = 1;
    step(&t, (const float[]){gradient});
    double g = (double)value - (double)first_of(t.values);
    tensor_end(&t);
    return g;
}

static const struct glcnn_optimizer plain = {
    .gradient_rescale = 1, .gradient_clip_max = FLT_MAX, .gradient_clip_min = -FLT_MAX};

static void clipping_comes_before_rescaling(void)
{
    struct glcnn_optimizer p = plain;
    p.apply_gradient_clipping = true;
    p.gradient_clip_min = -1;
    p.gradient_clip_max = 1;
    p.gradient_rescale = 0.5f;
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, 3, &p), 0.5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, -3, &p), -0.5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, 0.5f, &p), 0.25, 1e-6);
    p.regularization_type = GLCNN_REGULARIZATION_TYPE_L2;
    p.regularization_scale = 0.1f;
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, 3, &p), 0.7, 1e-6);
    p.apply_gradient_clipping = false;
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, 3, &p), 1.7, 1e-6);
}

/* Choice 26: the sign of the value, 0 for 0. */
static void l1_adds_the_sign(void)
{
    struct glcnn_optimizer p = plain;
    p.regularization_type = GLCNN_REGULARIZATION_TYPE_L1;
    p.regularization_scale = 0.25f;
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, 1, &p), 1.25, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(prepared(-2, 1, &p), 0.75, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(prepared(0, 1, &p), 1, 1e-6);
    p.regularization_type = GLCNN_REGULARIZATION_TYPE_NONE;
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, 1, &p), 1, 1e-6);
}

static void l2_adds_the_value(void)
{
    struct glcnn_optimizer p = plain;
    p.regularization_type = GLCNN_REGULARIZATION_TYPE_L2;
    p.regularization_scale = 0.25f;
    CU_ASSERT_DOUBLE_EQUAL(prepared(-2, 1, &p), 0.5, 1e-6);
}

/* Without clipping an infinite gradient stays one: it must be seen, not trained on. */
static void infinity_passes_without_clipping(void)
{
    CU_ASSERT_TRUE(isinf(prepared(1, INFINITY, &plain)));
}

/* ---- Results ---- */

/* The same step into the values themselves and into another vector. */
static void check_result_elsewhere(const char *name)
{
    float start[MOST], gradient[MOST], in_place[MOST], apart[MOST], kept[MOST];
    fill(start, MOST, 1);
    fill(gradient, MOST, 2);
    struct tensor_run a = tensor_begin(name, MOST, start), b = tensor_begin(name, MOST, start);
    b.result = vector(MOST, NULL);
    step(&a, gradient);
    step(&b, gradient);
    read_back(a.values, in_place);
    read_back(b.result, apart);
    read_back(b.values, kept);
    CU_ASSERT_EQUAL(memcmp(in_place, apart, sizeof apart), 0);
    CU_ASSERT_EQUAL(memcmp(kept, start, sizeof start), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(apart, start, sizeof start), 0);
    tensor_end(&a);
    tensor_end(&b);
}

static void result_may_be_another_vector(void)
{
    check_result_elsewhere("optimizer_stochastic_gradient_descent");
    check_result_elsewhere("optimizer_rms_prop");
    check_result_elsewhere("optimizer_adam");
}

/* One pass where the result is the values, one more to copy where it is not. */
static void a_step_is_one_pass(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 5, NULL);
    glcnn_command_buffer *to = commands();
    CU_ASSERT_EQUAL(encode(to, &t), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 1);
    t.result = vector(5, NULL);
    CU_ASSERT_EQUAL(encode(to, &t), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 3);
    glcnn_command_buffer_destroy(&to);
    tensor_end(&t);
}

/* ---- Commits that repeat ---- */

static void check_same_state(const struct tensor_run *a, const struct tensor_run *b)
{
    glcnn_buffer *const pairs[][2] = {
        {a->values, b->values}, {a->first, b->first}, {a->second, b->second}};
    for (size_t i = 0; i < 3 && pairs[i][0]; i++) {
        float x[MOST], y[MOST];
        read_back(pairs[i][0], x);
        read_back(pairs[i][1], y);
        CU_ASSERT_EQUAL(memcmp(x, y, a->count * sizeof *x), 0);
    }
    CU_ASSERT_EQUAL(glcnn_optimizer(a->kernel)->time_step, glcnn_optimizer(b->kernel)->time_step);
}

/* Five steps, the learning rate halved before the fourth: encoded each time, and encoded once. */
static void check_repeated(const char *name)
{
    float start[MOST], gradient[MOST];
    fill(start, MOST, 1);
    struct tensor_run a = tensor_begin(name, MOST, start), b = tensor_begin(name, MOST, start);
    glcnn_optimizer(a.kernel)->learning_rate = glcnn_optimizer(b.kernel)->learning_rate = 0.1f;
    glcnn_command_buffer *once = commands();
    CU_ASSERT_EQUAL(encode(once, &b), GLCNN_SUCCESS);
    for (unsigned i = 0; i < 5; i++) {
        fill(gradient, MOST, i + 2);
        if (i == 3)
            glcnn_optimizer(a.kernel)->learning_rate = glcnn_optimizer(b.kernel)->learning_rate =
                0.05f;
        step(&a, gradient);
        write_gradient(&b, gradient);
        CU_ASSERT_EQUAL(glcnn_command_buffer_commit(once), GLCNN_SUCCESS);
        check_same_state(&a, &b);
    }
    glcnn_command_buffer_destroy(&once);
    tensor_end(&a);
    tensor_end(&b);
}

static void repeated_commits_equal_encodes(void)
{
    check_repeated("optimizer_stochastic_gradient_descent");
    check_repeated("optimizer_rms_prop");
    check_repeated("optimizer_adam");
}

/* What is recorded after a commit counts once at the next, and twice after two. */
static void recording_goes_on_after_a_commit(void)
{
    struct tensor_run a = tensor_begin("optimizer_adam", 3, NULL);
    struct tensor_run b = tensor_begin("optimizer_adam", 3, NULL);
    glcnn_command_buffer *to = commands();
    CU_ASSERT_EQUAL(encode(to, &a), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_commit(to), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(encode(to, &b), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_commit(to), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_optimizer(a.kernel)->time_step, 2);
    CU_ASSERT_EQUAL(glcnn_optimizer(b.kernel)->time_step, 1);
    CU_ASSERT_EQUAL(glcnn_command_buffer_commit(to), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_optimizer(b.kernel)->time_step, 2);
    glcnn_command_buffer_destroy(&to);
    tensor_end(&a);
    tensor_end(&b);
}

/* A batch whose second encode is refused records nothing, and no time passes. */
static void a_failed_batch_takes_no_step(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 3, NULL);
    glcnn_command_buffer *to = commands();
    const struct glcnn_encode batch[2] = {
        {.vectors = {t.gradient, t.values, t.first, t.second, t.values}},
        {.vectors = {t.gradient, t.values, t.first, t.first, t.values}}};
    CU_ASSERT_EQUAL(glcnn_kernel_encode_batch(to, t.kernel, batch, 2), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 0);
    CU_ASSERT_EQUAL(glcnn_optimizer(t.kernel)->time_step, 0);
    CU_ASSERT_EQUAL(glcnn_kernel_encode_batch(to, t.kernel, batch, 1), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_optimizer(t.kernel)->time_step, 1);
    glcnn_command_buffer_destroy(&to);
    tensor_end(&t);
}

/* ---- Misuse ---- */

/* The encode is refused with a sentence that has `phrase`, and records nothing. */
static void check_refused(struct tensor_run *t, const char *phrase)
{
    glcnn_command_buffer *to = commands();
    CU_ASSERT_EQUAL(encode(to, t), GLCNN_INVALID_ARGUMENT);
    const char *error = glcnn_device_error(cases_device());
    if (!strstr(error, phrase))
        fprintf(stderr, "\n  \"%s\" lacks \"%s\"\n", error, phrase);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, phrase));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 0);
    CU_ASSERT_EQUAL(glcnn_optimizer(t->kernel)->time_step, 0);
    glcnn_command_buffer_destroy(&to);
}

static void check_refused_without(glcnn_buffer **field, struct tensor_run *t, const char *phrase)
{
    glcnn_buffer *kept = *field;
    *field = NULL;
    check_refused(t, phrase);
    *field = kept;
}

static void check_refused_with(glcnn_buffer **field, glcnn_buffer *other, struct tensor_run *t,
                               const char *phrase)
{
    glcnn_buffer *kept = *field;
    *field = other;
    check_refused(t, phrase);
    *field = kept;
}

static void vectors_are_checked(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 4, NULL);
    glcnn_buffer *shorter = vector(3, NULL);
    check_refused_without(&t.gradient, &t, "gradient is NULL");
    check_refused_without(&t.values, &t, "values is NULL");
    check_refused_without(&t.first, &t, "first_moment is NULL");
    check_refused_without(&t.second, &t, "second_moment is NULL");
    check_refused_without(&t.result, &t, "result is NULL");
    check_refused_with(&t.second, shorter, &t, "second_moment has 3 elements and values have 4");
    check_refused_with(&t.second, t.first, &t, "are one buffer");
    check_refused_with(&t.result, t.gradient, &t, "gradient and result are one buffer");
    check_refused_with(&t.first, t.values, &t, "values and first_moment are one buffer");
    glcnn_buffer_destroy(&shorter);
    tensor_end(&t);
}

static void a_second_state_vector_is_refused(void)
{
    struct tensor_run t = tensor_begin("optimizer_rms_prop", 4, NULL);
    t.second = vector(4, NULL);
    check_refused(&t, "there is no second state vector");
    tensor_end(&t);
}

static void parameters_are_checked(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 1, NULL);
    struct glcnn_optimizer *p = glcnn_optimizer(t.kernel);
    p->beta1 = 1;
    check_refused(&t, "beta1 is 1");
    p->beta1 = -0.5;
    check_refused(&t, "beta1 is -0.5");
    p->beta1 = 0.9;
    p->apply_gradient_clipping = true;
    p->gradient_clip_min = 2;
    p->gradient_clip_max = 1;
    check_refused(&t, "gradient_clip_min is 2");
    p->apply_gradient_clipping = false;
    p->learning_rate = NAN;
    check_refused(&t, "learning_rate is nan");
    tensor_end(&t);
}

static void another_kernel_is_refused(void)
{
    glcnn_kernel *kernel = NULL;
    glcnn_command_buffer *to = commands();
    CU_ASSERT_EQUAL(glcnn_kernel_create(cases_device(), "soft_max", &kernel), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NULL(glcnn_optimizer(kernel));
    CU_ASSERT_EQUAL(glcnn_optimizer_encode(to, kernel, NULL, NULL, NULL, NULL, NULL),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(cases_device()), "is no optimizer"));
    CU_ASSERT_EQUAL(glcnn_optimizer_encode(to, NULL, NULL, NULL, NULL, NULL, NULL),
                    GLCNN_INVALID_ARGUMENT);
    glcnn_kernel_destroy(&kernel);
    glcnn_command_buffer_destroy(&to);
}

static void constructors_set_the_learning_rate(void)
{
    static glcnn_status (*const constructors[])(glcnn_device *, float, glcnn_kernel **) = {
        glcnn_optimizer_stochastic_gradient_descent_create, glcnn_optimizer_rms_prop_create,
        glcnn_optimizer_adam_create};
    for (size_t i = 0; i < sizeof constructors / sizeof *constructors; i++) {
        glcnn_kernel *kernel = NULL;
        CU_ASSERT_EQUAL(constructors[i](cases_device(), 0.25f, &kernel), GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(glcnn_optimizer(kernel)->learning_rate, 0.25f);
        CU_ASSERT_EQUAL(glcnn_optimizer(kernel)->gradient_rescale, 1.0f);
        glcnn_kernel_destroy(&kernel);
        CU_ASSERT_EQUAL(constructors[i](cases_device(), NAN, &kernel), GLCNN_INVALID_ARGUMENT);
        CU_ASSERT_PTR_NULL(kernel);
        CU_ASSERT_EQUAL(constructors[i](cases_device(), 1, NULL), GLCNN_INVALID_ARGUMENT);
    }
}

/* A vector of many dispatch groups, with a last one that is not full. */
static void long_vectors_are_covered(void)
{
    enum { COUNT = 100003 };
    float *ones = malloc(COUNT * sizeof *ones);
    CU_ASSERT_PTR_NOT_NULL_FATAL(ones);
    for (size_t i = 0; i < COUNT; i++)
        ones[i] = 1;
    struct tensor_run t = tensor_begin("optimizer_stochastic_gradient_descent", COUNT, ones);
    glcnn_optimizer(t.kernel)->learning_rate = 0.5f;
    step(&t, ones);
    read_back(t.values, ones);
    size_t good = 0;
    for (size_t i = 0; i < COUNT; i++)
        good += ones[i] == 0.5f;
    CU_ASSERT_EQUAL(good, COUNT);
    free(ones);
    tensor_end(&t);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(descent_with_momentum),
        UNIT_TEST(descent_with_nesterov_momentum),
        UNIT_TEST(descent_without_momentum),
        UNIT_TEST(rms_prop),
        UNIT_TEST(adam),
        UNIT_TEST(adam_counts_encodes),
        UNIT_TEST(clipping_comes_before_rescaling),
        UNIT_TEST(l1_adds_the_sign),
        UNIT_TEST(l2_adds_the_value),
        UNIT_TEST(infinity_passes_without_clipping),
        UNIT_TEST(result_may_be_another_vector),
        UNIT_TEST(a_step_is_one_pass),
        UNIT_TEST(repeated_commits_equal_encodes),
        UNIT_TEST(recording_goes_on_after_a_commit),
        UNIT_TEST(a_failed_batch_takes_no_step),
        UNIT_TEST(vectors_are_checked),
        UNIT_TEST(a_second_state_vector_is_refused),
        UNIT_TEST(parameters_are_checked),
        UNIT_TEST(another_kernel_is_refused),
        UNIT_TEST(constructors_set_the_learning_rate),
        UNIT_TEST(long_vectors_are_covered),
        CU_TEST_INFO_NULL,
    };
    return cases_main("optimizer", tests, argc, argv);
}
