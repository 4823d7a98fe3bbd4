/* Where weights come from and go to: data sources, export and reload by states, and states whose
 * gradients are another kernel's. Every number is computed here, element by element. */
#include "tests/fixture.h"

#include <math.h>

#include "device.h"

#define INVALID GLCNN_INVALID_ARGUMENT
#define MOST    64

static bool says(const char *phrase)
{
    bool found = strstr(glcnn_device_error(device), phrase);
    if (!found)
        fprintf(stderr, "\n  \"%s\" lacks \"%s\"\n", glcnn_device_error(device), phrase);
    return found;
}

#define REFUSED_SAYING(phrase, call)                                                               \
    do {                                                                                           \
        REFUSED(INVALID, call);                                                                    \
        CU_ASSERT_TRUE(says(phrase));                                                              \
    } while (0)

/* ---- A data source ---- */

/* Element i of vector v is  base + v + i/8  with v its place in `names`. */
static const char *const names[] = {"weights", "biases", "gamma", "beta", "mean", "variance"};

struct source {
    float base;
    bool broken;  /* load fails */
    bool neutral; /* values are NULL */
    int poisoned; /* element of the second vector asked for that is no number; -1: none */
    int loads, purges, asked, destroyed, copies;
    float values[MOST]; /* one array for all vectors in turn */
};

static size_t place_of(const char *name)
{
    size_t place = 0;
    while (place < 6 && strcmp(names[place], name) != 0)
        place++;
    return place;
}

static float expected_at(float base, const char *name, size_t i)
{
    return base + (float)place_of(name) + (float)i / 8;
}

static bool source_load(void *context)
{
    struct source *s = context;
    s->loads++;
    s->asked = 0;
    return !s->broken;
}

static const float *source_values(void *context, const char *vector, size_t count)
{
    struct source *s = context;
    s->asked++;
    CU_ASSERT_TRUE_FATAL(count <= MOST && place_of(vector) < 6);
    for (size_t i = 0; i < count; i++)
        s->values[i] = expected_at(s->base, vector, i);
    if (s->asked == 2 && s->poisoned >= 0)
        s->values[s->poisoned] = NAN;
    return s->neutral ? NULL : s->values;
}

static void source_purge(void *context)
{
    ((struct source *)context)->purges++;
}

static void source_destroy(void *context)
{
    ((struct source *)context)->destroyed++;
}

static struct source source_at(float base)
{
    return (struct source){.base = base, .poisoned = -1};
}

static struct glcnn_data_source callbacks(struct source *context)
{
    return (struct glcnn_data_source){.context = context,
                                      .label = "layer 1",
                                      .load = source_load,
                                      .values = source_values,
                                      .purge = source_purge,
                                      .destroy = source_destroy};
}

/* ---- Kernels ---- */

static const struct glcnn_convolution_descriptor layer = {.kernel_width = 2,
                                                          .kernel_height = 1,
                                                          .input_feature_channels = 3,
                                                          .output_feature_channels = 5};

static glcnn_kernel *make_convolution(void)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_convolution_create(device, &layer, NULL, &kernel));
    return kernel;
}

static glcnn_kernel *make_kernel(const char *name)
{
    glcnn_kernel *kernel = NULL;
    GOOD_FATAL(glcnn_kernel_create(device, name, &kernel));
    return kernel;
}

static void read_vector(glcnn_buffer *buffer, size_t count, float *values)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    CU_ASSERT_EQUAL_FATAL(glcnn_buffer_size(buffer), count * sizeof *values);
    GOOD_FATAL(glcnn_buffer_read(buffer, 0, count * sizeof *values, values));
}

static void check_source_values(glcnn_buffer *buffer, float base, const char *name, size_t count)
{
    float values[MOST];
    read_vector(buffer, count, values);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(values[i], expected_at(base, name, i));
}

static void check_constant(const glcnn_kernel *kernel, const char *name, size_t count, float value)
{
    float values[MOST];
    read_vector(glcnn_kernel_vector(kernel, name), count, values);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(values[i], value);
}

static void check_convolution_values(const glcnn_kernel *kernel, float base)
{
    check_source_values(glcnn_kernel_vector(kernel, "weights"), base, "weights", 30);
    check_source_values(glcnn_kernel_vector(kernel, "biases"), base, "biases", 5);
}

static void check_normalization_values(const glcnn_kernel *kernel, float base, size_t first,
                                       size_t end, size_t count)
{
    for (size_t i = first; i < end; i++)
        check_source_values(glcnn_kernel_vector(kernel, names[i]), base, names[i], count);
}

/* ---- Data sources ---- */

static void test_values_are_loaded_at_once(void)
{
    struct source s = source_at(1);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *kernel = make_convolution();
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(kernel));
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    check_convolution_values(kernel, 1);
    CU_ASSERT_EQUAL(s.loads, 1);
    CU_ASSERT_EQUAL(s.asked, 2);
    CU_ASSERT_EQUAL(s.purges, 1);
    const struct glcnn_data_source *held = glcnn_kernel_data_source(kernel);
    CU_ASSERT_PTR_NOT_NULL_FATAL(held);
    CU_ASSERT_PTR_EQUAL(held->context, &s);
    CU_ASSERT_STRING_EQUAL(held->label, "layer 1");
    CU_ASSERT_PTR_NOT_EQUAL(held->label, given.label);
    s.base = 3;
    check_convolution_values(kernel, 1);
    GOOD(glcnn_kernel_reload_from_data_source(kernel));
    check_convolution_values(kernel, 3);
    CU_ASSERT_EQUAL(s.purges, 2);
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(s.destroyed, 1);
}

/* A gradient kernel owns weights alone, a transposed convolution both. */
static void test_every_kernel_is_asked_for_its_own(void)
{
    struct source s = source_at(2);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *gradient = NULL, *connected = NULL;
    GOOD_FATAL(glcnn_convolution_gradient_create(device, &layer, NULL, &gradient));
    GOOD_FATAL(glcnn_fully_connected_create(device, &layer, NULL, &connected));
    GOOD(glcnn_kernel_set_data_source(gradient, &given));
    CU_ASSERT_EQUAL(s.asked, 1);
    check_source_values(glcnn_kernel_vector(gradient, "weights"), 2, "weights", 30);
    GOOD(glcnn_kernel_share_data_source(connected, gradient));
    CU_ASSERT_EQUAL(s.asked, 2);
    check_convolution_values(connected, 2);
    glcnn_kernel_destroy(&gradient);
    CU_ASSERT_EQUAL(s.destroyed, 0);
    glcnn_kernel_destroy(&connected);
    CU_ASSERT_EQUAL(s.destroyed, 1);
}

static void test_normalizations_have_channels_of_the_source(void)
{
    struct source s = source_at(5);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *batch = make_kernel("batch_normalization");
    glcnn_kernel *instance = make_kernel("instance_normalization");
    REFUSED_SAYING("the length of gamma is not known yet",
                   glcnn_kernel_set_data_source(batch, &given));
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(batch));
    given.feature_channels = 7;
    GOOD(glcnn_kernel_set_data_source(batch, &given));
    check_normalization_values(batch, 5, 2, 6, 7);
    CU_ASSERT_EQUAL(s.asked, 4);
    GOOD(glcnn_kernel_set_data_source(instance, &given));
    check_normalization_values(instance, 5, 2, 4, 7);
    CU_ASSERT_EQUAL(s.asked, 2);
    glcnn_kernel_destroy(&batch);
    glcnn_kernel_destroy(&instance);
}

/* The kernel's vectors tell their length where the data source does not. */
static void test_lengths_are_those_of_the_kernel(void)
{
    struct source s = source_at(4);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *kernel = NULL;
    const struct glcnn_batch_normalization_data_source arrays = {.number_of_feature_channels = 3};
    GOOD_FATAL(glcnn_batch_normalization_create(device, &arrays, NULL, &kernel));
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    check_normalization_values(kernel, 4, 2, 6, 3);
    given.feature_channels = 4;
    REFUSED_SAYING("it would give 4 elements of gamma; the kernel has 3",
                   glcnn_kernel_set_data_source(kernel, &given));
    check_normalization_values(kernel, 4, 2, 6, 3);
    glcnn_kernel_destroy(&kernel);
}

static void test_no_values_are_neutral_ones(void)
{
    struct source s = source_at(1);
    struct glcnn_data_source given = callbacks(&s);
    given.feature_channels = 6;
    glcnn_kernel *kernel = make_kernel("batch_normalization");
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    s.neutral = true;
    GOOD(glcnn_kernel_reload_from_data_source(kernel));
    check_constant(kernel, "gamma", 6, 1);
    check_constant(kernel, "beta", 6, 0);
    check_constant(kernel, "mean", 6, 0);
    check_constant(kernel, "variance", 6, 1);
    glcnn_kernel_destroy(&kernel);
}

/* Without the callback for values the kernel keeps those it has. */
static void test_every_callback_may_be_missing(void)
{
    const struct glcnn_data_source none = {0};
    struct source s = source_at(1);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *kernel = make_convolution();
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    GOOD(glcnn_kernel_set_data_source(kernel, &none));
    CU_ASSERT_EQUAL(s.destroyed, 1);
    GOOD(glcnn_kernel_reload_from_data_source(kernel));
    check_convolution_values(kernel, 1);
    GOOD(glcnn_kernel_set_data_source(kernel, NULL));
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(kernel));
    check_convolution_values(kernel, 1);
    glcnn_kernel_destroy(&kernel);
}

static void test_a_failure_leaves_the_values(void)
{
    struct source s = source_at(1), other = source_at(8);
    struct glcnn_data_source given = callbacks(&s), second = callbacks(&other);
    glcnn_kernel *kernel = make_convolution();
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    other.broken = true;
    REFUSED_SAYING("data source \"layer 1\": its values could not be loaded",
                   glcnn_kernel_set_data_source(kernel, &second));
    CU_ASSERT_EQUAL(other.purges, 0);
    other.broken = false;
    other.poisoned = 4;
    REFUSED_SAYING("element 4 of biases is not a number",
                   glcnn_kernel_set_data_source(kernel, &second));
    CU_ASSERT_EQUAL(other.purges, 1);
    CU_ASSERT_EQUAL(other.destroyed, 0);
    CU_ASSERT_PTR_EQUAL(glcnn_kernel_data_source(kernel)->context, &s);
    check_convolution_values(kernel, 1);
    s.base = 2;
    s.poisoned = 0;
    REFUSED_SAYING("element 0 of biases", glcnn_kernel_reload_from_data_source(kernel));
    check_convolution_values(kernel, 1);
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(s.destroyed, 1);
}

static void test_data_sources_are_refused(void)
{
    struct source s = source_at(1);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *pooling = make_kernel("pooling_max"), *kernel = make_kernel("convolution");
    REFUSED_SAYING("owns no weights", glcnn_kernel_set_data_source(pooling, &given));
    REFUSED_SAYING("the length of weights is not known yet",
                   glcnn_kernel_set_data_source(kernel, &given));
    REFUSED_SAYING("the kernel has none", glcnn_kernel_reload_from_data_source(kernel));
    REFUSED_SAYING("the other kernel has none", glcnn_kernel_share_data_source(kernel, pooling));
    REFUSED_SAYING("the other kernel is NULL", glcnn_kernel_share_data_source(kernel, NULL));
    CU_ASSERT_EQUAL(glcnn_kernel_set_data_source(NULL, &given), INVALID);
    CU_ASSERT_EQUAL(glcnn_kernel_share_data_source(NULL, kernel), INVALID);
    CU_ASSERT_EQUAL(glcnn_kernel_reload_from_data_source(NULL), INVALID);
    CU_ASSERT_PTR_NULL(glcnn_kernel_data_source(NULL));
    glcnn_kernel_destroy(&pooling);
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(s.destroyed, 0);
}

/* ---- Copies ---- */

static void *source_copy(void *context, glcnn_device *on)
{
    struct source *s = context, *made = malloc(sizeof *made);
    CU_ASSERT_PTR_EQUAL(on, device);
    s->copies++;
    if (!made || s->broken) {
        free(made);
        return NULL;
    }
    *made = source_at(s->base + 10);
    return made;
}

static void copied_destroy(void *context)
{
    ((struct source *)context)->destroyed++;
    if (((struct source *)context)->copies == 0)
        free(context);
}

static void test_a_copy_shares_the_context(void)
{
    struct source s = source_at(1);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *kernel = make_convolution(), *copy = NULL;
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    GOOD_FATAL(glcnn_kernel_copy(kernel, device, &copy));
    CU_ASSERT_EQUAL(s.loads, 1);
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(s.destroyed, 0);
    s.base = 6;
    GOOD(glcnn_kernel_reload_from_data_source(copy));
    check_convolution_values(copy, 6);
    glcnn_kernel_destroy(&copy);
    CU_ASSERT_EQUAL(s.destroyed, 1);
}

static void test_a_copy_has_a_context_of_its_own(void)
{
    struct source s = source_at(1);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *kernel = make_convolution(), *copy = NULL;
    given.copy = source_copy;
    given.destroy = copied_destroy;
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    GOOD_FATAL(glcnn_kernel_copy(kernel, device, &copy));
    CU_ASSERT_PTR_NOT_EQUAL(glcnn_kernel_data_source(copy)->context, &s);
    check_convolution_values(copy, 1);
    GOOD(glcnn_kernel_reload_from_data_source(copy));
    check_convolution_values(copy, 11);
    check_convolution_values(kernel, 1);
    glcnn_kernel_destroy(&copy);
    s.broken = true;
    REFUSED_SAYING("could not be copied", glcnn_kernel_copy(kernel, device, &copy));
    CU_ASSERT_PTR_NULL(copy);
    glcnn_kernel_destroy(&kernel);
    CU_ASSERT_EQUAL(s.copies, 2);
    CU_ASSERT_EQUAL(s.destroyed, 1);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(test_values_are_loaded_at_once),
        UNIT_TEST(test_every_kernel_is_asked_for_its_own),
        UNIT_TEST(test_normalizations_have_channels_of_the_source),
        UNIT_TEST(test_lengths_are_those_of_the_kernel),
        UNIT_TEST(test_no_values_are_neutral_ones),
        UNIT_TEST(test_every_callback_may_be_missing),
        UNIT_TEST(test_a_failure_leaves_the_values),
        UNIT_TEST(test_data_sources_are_refused),
        UNIT_TEST(test_a_copy_shares_the_context),
        UNIT_TEST(test_a_copy_has_a_context_of_its_own),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("weights", tests, argc, argv);
}
