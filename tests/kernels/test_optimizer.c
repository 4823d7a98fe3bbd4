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

static double prepared(float value, float gradient,
                       const struct glcnn_optimizer_parameters *settings)
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

static const struct glcnn_optimizer_parameters plain = {
    .gradient_rescale = 1, .gradient_clip_max = FLT_MAX, .gradient_clip_min = -FLT_MAX};

static void clipping_comes_before_rescaling(void)
{
    struct glcnn_optimizer_parameters p = plain;
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

/* Spec 12.26: the sign of the value, 0 for 0. */
static void l1_adds_the_sign(void)
{
    struct glcnn_optimizer_parameters p = plain;
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
    struct glcnn_optimizer_parameters p = plain;
    p.regularization_type = GLCNN_REGULARIZATION_TYPE_L2;
    p.regularization_scale = 0.25f;
    CU_ASSERT_DOUBLE_EQUAL(prepared(-2, 1, &p), 0.5, 1e-6);
}

/* Without clipping an infinite gradient stays one: it must be seen, not trained on. */
static void infinity_passes_without_clipping(void)
{
    CU_ASSERT_TRUE(isinf(prepared(1, INFINITY, &plain)));
}

/* It would clip a NaN to a number, and the value would move as if nothing were wrong. */
static void clipping_leaves_nan(void)
{
    struct glcnn_optimizer_parameters p = plain;
    p.apply_gradient_clipping = true;
    p.gradient_clip_min = -1;
    p.gradient_clip_max = 1;
    CU_ASSERT_TRUE(isnan(prepared(2, NAN, &p)));
    CU_ASSERT_EQUAL(prepared(2, -INFINITY, &p), -1);
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

/* The encode is refused with a message that has `phrase`, and records nothing. */
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
    struct glcnn_optimizer_parameters *p = glcnn_optimizer(t.kernel);
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

/* ---- Decoupled weight decay ---- */

static void descent_decays(void)
{
    struct tensor_run t =
        tensor_begin("optimizer_stochastic_gradient_descent", 1, (const float[]){1});
    glcnn_buffer_destroy(&t.first);
    glcnn_optimizer(t.kernel)->weight_decay = 0.5f;
    check_two_steps(&t, 0.95 - 0.05, 0.9 * 0.95 + 0.025);
}

/* AdamW: the first step has the size of the learning rate, whatever the gradient. */
static void adam_decays(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 1, (const float[]){1});
    glcnn_optimizer(t.kernel)->weight_decay = 0.5f;
    check_two_steps(&t, 0.850000063, 0.850000063 * 0.95 + 0.873366374 - 0.900000063);
}

static void decay_comes_before_regularization(void)
{
    struct glcnn_optimizer_parameters p = plain;
    p.weight_decay = 0.25f; /* 2 becomes 1.5, of which 0.5 is added to the gradient, 1 */
    p.regularization_type = GLCNN_REGULARIZATION_TYPE_L2;
    p.regularization_scale = 1.0f / 3;
    CU_ASSERT_DOUBLE_EQUAL(prepared(2, 1, &p), 0.5 + 1.5, 1e-6);
}

static void negative_decay_is_refused(void)
{
    struct tensor_run t = tensor_begin("optimizer_adam", 1, NULL);
    glcnn_optimizer(t.kernel)->weight_decay = -0.5f;
    check_refused(&t, "weight_decay is -0.5");
    tensor_end(&t);
}

/* ---- Steps by states ---- */

enum { WEIGHTS, BIASES, PARAMETERS };
static const size_t lengths[PARAMETERS] = {37, 5};
static const char *const layer_gradients[] = {"gradient_for_weights", "gradient_for_biases"};
static const char *const layer_values[] = {"weights", "biases"};

/* A layer's states and moments, and the same numbers in double precision. */
struct layer_run {
    glcnn_kernel *kernel;
    glcnn_state *gradients, *values, *result;
    glcnn_buffer *first[PARAMETERS], *second[PARAMETERS];
    double w[PARAMETERS][MOST], m[PARAMETERS][MOST], v[PARAMETERS][MOST];
    unsigned steps;
};

static glcnn_state *make_state(glcnn_command_buffer *of, const char *const *names, size_t count)
{
    glcnn_state *state = NULL;
    CU_ASSERT_EQUAL_FATAL(glcnn_state_create(cases_device(), of, names, lengths, count, &state),
                          GLCNN_SUCCESS);
    return state;
}

static struct layer_run layer_begin(const char *name)
{
    struct layer_run l = {.gradients = make_state(NULL, layer_gradients, 2),
                          .values = make_state(NULL, layer_values, 2),
                          .result = make_state(NULL, layer_values, 2)};
    CU_ASSERT_EQUAL_FATAL(glcnn_kernel_create(cases_device(), name, &l.kernel), GLCNN_SUCCESS);
    glcnn_optimizer(l.kernel)->learning_rate = 0.1f;
    glcnn_optimizer(l.kernel)->momentum_scale = 0.9f;
    for (size_t p = 0; p < PARAMETERS; p++) {
        float start[MOST];
        fill(start, lengths[p], (unsigned)p);
        for (size_t i = 0; i < lengths[p]; i++)
            l.w[p][i] = (double)start[i];
        glcnn_state_set_vector(l.values, layer_values[p], start, lengths[p]);
        l.first[p] = vector(lengths[p], NULL);
        l.second[p] = vector(lengths[p], NULL);
    }
    return l;
}

static void layer_end(struct layer_run *l)
{
    for (size_t p = 0; p < PARAMETERS; p++) {
        glcnn_buffer_destroy(&l->first[p]);
        glcnn_buffer_destroy(&l->second[p]);
    }
    glcnn_state_destroy(&l->gradients);
    glcnn_state_destroy(&l->values);
    glcnn_state_destroy(&l->result);
    glcnn_kernel_destroy(&l->kernel);
}

/* What one step of each optimizer takes from a value; rate 0.1, all else the defaults. */
static double descent_taken(struct layer_run *l, size_t p, size_t i, double g)
{
    l->m[p][i] = 0.9 * l->m[p][i] + 0.1 * g;
    return l->m[p][i];
}

static double plain_taken(struct layer_run *l, size_t p, size_t i, double g)
{
    (void)l, (void)p, (void)i;
    return 0.1 * g;
}

static double rms_prop_taken(struct layer_run *l, size_t p, size_t i, double g)
{
    l->m[p][i] = 0.9 * l->m[p][i] + 0.1 * g * g;
    return 0.1 * g / (sqrt(l->m[p][i]) + 1e-8);
}

static double adam_taken(struct layer_run *l, size_t p, size_t i, double g)
{
    double t = (double)l->steps;
    l->m[p][i] = 0.9 * l->m[p][i] + 0.1 * g;
    l->v[p][i] = 0.999 * l->v[p][i] + 0.001 * g * g;
    return 0.1 * sqrt(1 - pow(0.999, t)) / (1 - pow(0.9, t)) * l->m[p][i] /
           (sqrt(l->v[p][i]) + 1e-8);
}

typedef double (*taken)(struct layer_run *l, size_t p, size_t i, double g);

/* New gradients on the device; the expected numbers move on for `count` parameters. */
static void next_gradients(struct layer_run *l, size_t count, taken taken_of)
{
    float g[MOST];
    l->steps++;
    for (size_t p = 0; p < PARAMETERS; p++) {
        fill(g, lengths[p], l->steps * 2 + (unsigned)p);
        CU_ASSERT_EQUAL(glcnn_state_set_vector(l->gradients, layer_gradients[p], g, lengths[p]),
                        GLCNN_SUCCESS);
        for (size_t i = 0; i < lengths[p] && p < count; i++)
            l->w[p][i] -= taken_of(l, p, i, (double)g[i]);
    }
}

static void check_values(const struct layer_run *l, const glcnn_state *state)
{
    for (size_t p = 0; p < PARAMETERS; p++) {
        float values[MOST];
        read_back(glcnn_state_vector(state, layer_values[p]), values);
        for (size_t i = 0; i < lengths[p]; i++)
            CU_ASSERT_DOUBLE_EQUAL((double)values[i], l->w[p][i], 2e-6);
    }
}

/* Three steps: into another state, and on in that state. */
static void check_layer(const char *name, bool moments, bool two, size_t count, taken taken_of)
{
    struct layer_run l = layer_begin(name);
    for (int i = 0; i < 3; i++) {
        glcnn_command_buffer *to = commands();
        next_gradients(&l, count, taken_of);
        CU_ASSERT_EQUAL(glcnn_optimizer_encode_states(
                            to, l.kernel, l.gradients, i ? l.result : l.values,
                            moments ? l.first : NULL, two ? l.second : NULL, count, l.result),
                        GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(glcnn_command_buffer_commit(to), GLCNN_SUCCESS);
        glcnn_command_buffer_destroy(&to);
        check_values(&l, l.result);
    }
    layer_end(&l);
}

static void states_are_stepped(void)
{
    check_layer("optimizer_stochastic_gradient_descent", true, false, 2, descent_taken);
    check_layer("optimizer_stochastic_gradient_descent", false, false, 2, plain_taken);
    check_layer("optimizer_rms_prop", true, false, 2, rms_prop_taken);
    check_layer("optimizer_adam", true, true, 2, adam_taken);
}

/* The result has the biases all the same. */
static void one_state_vector_steps_the_weights_alone(void)
{
    check_layer("optimizer_stochastic_gradient_descent", true, false, 1, descent_taken);
    check_layer("optimizer_adam", true, true, 1, adam_taken);
}

/* Weights and biases are of one step, encoded and repeated. */
static void adam_counts_states_once(void)
{
    struct layer_run l = layer_begin("optimizer_adam");
    glcnn_command_buffer *to = commands();
    next_gradients(&l, 2, adam_taken);
    CU_ASSERT_EQUAL(glcnn_optimizer_encode_states(to, l.kernel, l.gradients, l.values, l.first,
                                                  l.second, 2, l.values),
                    GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 2);
    for (unsigned i = 1; i <= 4; i++) {
        CU_ASSERT_EQUAL(glcnn_command_buffer_commit(to), GLCNN_SUCCESS);
        CU_ASSERT_EQUAL(glcnn_optimizer(l.kernel)->time_step, i);
        check_values(&l, l.values);
        next_gradients(&l, 2, adam_taken);
    }
    glcnn_command_buffer_destroy(&to);
    layer_end(&l);
}

/* A layer without biases. */
static void descent_steps_what_there_is(void)
{
    struct layer_run l = layer_begin("optimizer_stochastic_gradient_descent");
    glcnn_state *weights = make_state(NULL, layer_values, 1);
    glcnn_command_buffer *to = commands();
    CU_ASSERT_EQUAL(
        glcnn_optimizer_encode_states(to, l.kernel, l.gradients, weights, NULL, NULL, 0, weights),
        GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 1);
    glcnn_command_buffer_destroy(&to);
    glcnn_state_destroy(&weights);
    layer_end(&l);
}

/* Batch normalisation has gradients and values in one state, which loses one read. */
static void one_state_may_have_both(void)
{
    static const char *const names[] = {"gamma", "gradient_for_gamma", "beta", "gradient_for_beta"};
    static const size_t four[] = {2, 2, 2, 2};
    const float numbers[][2] = {{1, 2}, {10, -20}, {3, 4}, {5, 0}};
    const float expected[][2] = {{0, 4}, {2.5f, 4}};
    struct layer_run l = layer_begin("optimizer_stochastic_gradient_descent");
    glcnn_command_buffer *to = commands();
    glcnn_state *state = NULL, *result = NULL;
    const char *const values[] = {names[0], names[2]};
    glcnn_state_create(cases_device(), to, names, four, 4, &state);
    glcnn_state_create(cases_device(), to, values, four, 2, &result);
    for (size_t i = 0; i < 4; i++)
        glcnn_state_set_vector(state, names[i], numbers[i], 2);
    CU_ASSERT_EQUAL(glcnn_state_set_read_count(state, 2), GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(
        glcnn_optimizer_encode_states(to, l.kernel, state, state, NULL, NULL, 0, result),
        GLCNN_SUCCESS);
    CU_ASSERT_EQUAL(glcnn_state_read_count(state), 1);
    CU_ASSERT_EQUAL(glcnn_state_read_count(result), 1);
    CU_ASSERT_EQUAL(glcnn_command_buffer_commit(to), GLCNN_SUCCESS);
    for (size_t i = 0; i < 2; i++) {
        float read[2];
        read_back(glcnn_state_vector(result, values[i]), read);
        for (size_t c = 0; c < 2; c++)
            CU_ASSERT_DOUBLE_EQUAL((double)read[c], (double)expected[i][c], 1e-6);
    }
    glcnn_state_destroy(&state);
    glcnn_state_destroy(&result);
    glcnn_command_buffer_destroy(&to);
    layer_end(&l);
}

/* ---- States: misuse ---- */

static bool says(const char *phrase)
{
    bool found = strstr(glcnn_device_error(cases_device()), phrase);
    if (!found)
        fprintf(stderr, "\n  \"%s\" lacks \"%s\"\n", glcnn_device_error(cases_device()), phrase);
    return found;
}

/* A temporary state of gradients keeps its read count, and no time passes. */
static void check_states_refused(struct layer_run *l, glcnn_state *values,
                                 glcnn_buffer *const *first, glcnn_buffer *const *second,
                                 size_t count, glcnn_state *result, const char *phrase)
{
    glcnn_command_buffer *to = commands();
    glcnn_state *gradients = make_state(to, layer_gradients, 2);
    CU_ASSERT_EQUAL(glcnn_optimizer_encode_states(to, l->kernel, gradients, values, first, second,
                                                  count, result),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_TRUE(says(phrase));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(to), 0);
    CU_ASSERT_EQUAL(glcnn_state_read_count(gradients), 1);
    CU_ASSERT_EQUAL(glcnn_optimizer(l->kernel)->time_step, 0);
    glcnn_state_destroy(&gradients);
    glcnn_command_buffer_destroy(&to);
}

static void states_are_checked(void)
{
    struct layer_run l = layer_begin("optimizer_adam");
    glcnn_state *weights = make_state(NULL, layer_values, 1);
    glcnn_state *gradients = make_state(NULL, layer_gradients, 2);
    glcnn_buffer *const same[] = {l.first[0], l.first[0]}, *const half[] = {l.first[0], NULL};
    glcnn_buffer *const swapped[] = {l.first[1], l.first[0]};
    check_states_refused(&l, NULL, l.first, l.second, 2, l.result, "source_state is NULL");
    check_states_refused(&l, l.values, l.first, l.second, 2, NULL, "result_state is NULL");
    check_states_refused(&l, l.values, l.first, l.second, 0, l.result, "count is 0");
    check_states_refused(&l, l.values, l.first, l.second, 3, l.result, "count is 3");
    check_states_refused(&l, l.values, NULL, NULL, 2, l.result, "first_moment is NULL");
    check_states_refused(&l, l.values, l.first, NULL, 2, l.result, "second_moment is NULL");
    check_states_refused(&l, l.values, half, l.second, 2, l.result, "first_moment is NULL");
    check_states_refused(&l, l.values, swapped, l.second, 2, l.result,
                         "first_moment has 5 elements and values have 37");
    check_states_refused(&l, l.values, same, l.second, 2, l.result,
                         "one buffer serves weights and biases");
    check_states_refused(&l, weights, l.first, l.second, 2, l.result, "source_state has no biases");
    check_states_refused(&l, l.values, l.first, l.second, 2, weights, "result_state has no biases");
    check_states_refused(&l, gradients, l.first, l.second, 2, l.result, "have neither");
    glcnn_state_destroy(&weights);
    glcnn_state_destroy(&gradients);
    layer_end(&l);
}

static void states_of_another_length_are_refused(void)
{
    static const size_t longer[] = {37, 6};
    struct layer_run l = layer_begin("optimizer_adam");
    glcnn_state *state = NULL;
    glcnn_state_create(cases_device(), NULL, layer_values, longer, 2, &state);
    check_states_refused(&l, state, l.first, l.second, 2, state,
                         "gradient has 5 elements and values have 6");
    check_states_refused(&l, state, l.first, l.second, 1, l.result,
                         "biases has 6 elements in source_state and 5 in result_state");
    glcnn_state_destroy(&state);
    layer_end(&l);
}

static void spent_states_are_refused(void)
{
    struct layer_run l = layer_begin("optimizer_adam");
    glcnn_command_buffer *to = commands(), *other = commands();
    glcnn_state *gradients = make_state(to, layer_gradients, 2);
    const struct {
        glcnn_command_buffer *commands;
        glcnn_status status;
    } calls[] = {{other, GLCNN_INVALID_STATE}, {to, GLCNN_SUCCESS}, {to, GLCNN_INVALID_STATE}};
    for (size_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(glcnn_optimizer_encode_states(calls[i].commands, l.kernel, gradients,
                                                      l.values, l.first, l.second, 2, l.values),
                        calls[i].status);
    CU_ASSERT_EQUAL(glcnn_optimizer(l.kernel)->time_step, 1);
    CU_ASSERT_EQUAL(glcnn_optimizer_encode_states(NULL, l.kernel, l.gradients, l.values, l.first,
                                                  l.second, 2, l.values),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_TRUE(says("command_buffer is NULL"));
    CU_ASSERT_EQUAL(glcnn_optimizer_encode_states(to, NULL, l.gradients, l.values, l.first,
                                                  l.second, 2, l.values),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_TRUE(says("kernel is NULL"));
    glcnn_state_destroy(&gradients);
    glcnn_command_buffer_destroy(&to);
    glcnn_command_buffer_destroy(&other);
    layer_end(&l);
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
        UNIT_TEST(clipping_leaves_nan),
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
        UNIT_TEST(descent_decays),
        UNIT_TEST(adam_decays),
        UNIT_TEST(decay_comes_before_regularization),
        UNIT_TEST(negative_decay_is_refused),
        UNIT_TEST(states_are_stepped),
        UNIT_TEST(one_state_vector_steps_the_weights_alone),
        UNIT_TEST(adam_counts_states_once),
        UNIT_TEST(descent_steps_what_there_is),
        UNIT_TEST(one_state_may_have_both),
        UNIT_TEST(states_are_checked),
        UNIT_TEST(states_of_another_length_are_refused),
        UNIT_TEST(spent_states_are_refused),
        CU_TEST_INFO_NULL,
    };
    return cases_main("optimizer", tests, argc, argv);
}
