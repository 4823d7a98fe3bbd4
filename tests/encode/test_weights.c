/* Where weights come from and go to: data sources, export and reload by states, and states whose
 * gradients are another kernel's. Every number is computed here, element by element. */
#include "tests/fixture.h"

#include <math.h>

#include "device/device.h"
#include "encode/kernel.h"
#include "encode/state.h"

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

/* ---- States of named vectors ---- */

static const char *const layer_names[] = {"weights", "biases"};
static const size_t layer_lengths[] = {30, 5};

/* A state for `layer` with the values of a source at `base`. */
static glcnn_state *make_layer_state(glcnn_command_buffer *commands, float base)
{
    struct source s = source_at(base);
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_state_create(device, commands, layer_names, layer_lengths, 2, &state));
    for (size_t i = 0; i < 2; i++)
        GOOD(glcnn_state_set_vector(state, layer_names[i],
                                    source_values(&s, layer_names[i], layer_lengths[i]),
                                    layer_lengths[i]));
    return state;
}

static void check_layer_state(const glcnn_state *state, float base)
{
    check_source_values(glcnn_state_vector(state, "weights"), base, "weights", 30);
    check_source_values(glcnn_state_vector(state, "biases"), base, "biases", 5);
}

static void test_states_are_made_of_names(void)
{
    float values[30];
    char name[] = "weights";
    const char *const one[] = {name};
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_state_create(device, NULL, one, layer_lengths, 1, &state));
    name[0] = 'x'; /* the state has a copy */
    CU_ASSERT_FALSE(glcnn_state_is_temporary(state));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(state, "biases"));
    read_vector(glcnn_state_vector(state, "weights"), 30, values);
    for (size_t i = 0; i < 30; i++)
        CU_ASSERT_EQUAL(values[i], 0.0f);
    values[7] = 2.5f;
    GOOD(glcnn_state_set_vector(state, "weights", values, 30));
    GOOD(glcnn_state_reset(state));
    read_vector(glcnn_state_vector(state, "weights"), 30, values);
    CU_ASSERT_EQUAL(values[7], 2.5f);
    glcnn_state_destroy(&state);
}

static void test_made_states_are_refused(void)
{
    static const char *const same[] = {"beta", "beta"}, *const missing[] = {"beta", NULL};
    static const size_t empty[] = {3, 0};
    glcnn_state *state = NULL;
    REFUSED(INVALID, glcnn_state_create(device, NULL, layer_names, layer_lengths, 2, NULL));
    REFUSED(INVALID, glcnn_state_create(device, NULL, NULL, layer_lengths, 2, &state));
    REFUSED(INVALID, glcnn_state_create(device, NULL, layer_names, NULL, 2, &state));
    REFUSED(INVALID, glcnn_state_create(device, NULL, layer_names, layer_lengths, 0, &state));
    REFUSED(INVALID, glcnn_state_create(device, NULL, layer_names, layer_lengths, 9, &state));
    REFUSED_SAYING("vector 1 is \"beta\"",
                   glcnn_state_create(device, NULL, same, layer_lengths, 2, &state));
    REFUSED_SAYING("vector 1 is \"(NULL)\"",
                   glcnn_state_create(device, NULL, missing, layer_lengths, 2, &state));
    REFUSED_SAYING("biases is to have 0 elements",
                   glcnn_state_create(device, NULL, layer_names, empty, 2, &state));
    CU_ASSERT_PTR_NULL(state);
    CU_ASSERT_EQUAL(glcnn_state_create(NULL, NULL, layer_names, layer_lengths, 2, &state), INVALID);
    const float few[5] = {0};
    state = make_layer_state(NULL, 1);
    REFUSED_SAYING("has 30 elements; 5 are given",
                   glcnn_state_set_vector(state, "weights", few, 5));
    REFUSED_SAYING("no vector gamma", glcnn_state_set_vector(state, "gamma", few, 5));
    REFUSED_SAYING("values is NULL", glcnn_state_set_vector(state, "biases", NULL, 5));
    REFUSED(INVALID, glcnn_state_set_vector(state, NULL, few, 5));
    CU_ASSERT_EQUAL(glcnn_state_set_vector(NULL, "biases", few, 5), INVALID);
    check_layer_state(state, 1);
    glcnn_state_destroy(&state);
}

static void test_read_counts_of_batches(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *a = make_layer_state(commands, 1), *b = make_layer_state(commands, 1);
    glcnn_state *spent = make_layer_state(commands, 1), *ordinary = make_layer_state(NULL, 1);
    glcnn_state *const batch[] = {a, b, a, NULL, ordinary, spent, a, ordinary};
    GOOD(glcnn_state_set_read_count(spent, 0));
    CU_ASSERT_EQUAL(glcnn_state_batch_increment_read_count(batch, 8, 3), 4);
    CU_ASSERT_EQUAL(glcnn_state_read_count(a), 4);
    CU_ASSERT_EQUAL(glcnn_state_read_count(b), 4);
    CU_ASSERT_EQUAL(glcnn_state_read_count(spent), 0);
    CU_ASSERT_EQUAL(glcnn_state_read_count(ordinary), 0);
    CU_ASSERT_EQUAL(glcnn_state_batch_increment_read_count(batch, 2, -3), 2);
    CU_ASSERT_EQUAL(glcnn_state_read_count(a), 1);
    CU_ASSERT_EQUAL(glcnn_state_batch_increment_read_count(batch, 1, INT32_MIN), 1);
    CU_ASSERT_EQUAL(glcnn_state_read_count(a), 0);
    CU_ASSERT_EQUAL(glcnn_state_batch_increment_read_count(NULL, 8, 1), 0);
    glcnn_state_destroy(&a);
    glcnn_state_destroy(&b);
    glcnn_state_destroy(&spent);
    glcnn_state_destroy(&ordinary);
    glcnn_command_buffer_destroy(&commands);
}

/* ---- Export and reload ---- */

/* The two states have the weights before and after the reload between them. */
static void test_exports_are_in_order(void)
{
    struct source s = source_at(1);
    struct glcnn_data_source given = callbacks(&s);
    glcnn_kernel *kernel = make_convolution();
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *before = NULL, *after = NULL, *values = make_layer_state(NULL, 20);
    GOOD(glcnn_kernel_set_data_source(kernel, &given));
    GOOD_FATAL(glcnn_kernel_encode_export_state(commands, kernel, &before));
    CU_ASSERT_TRUE(glcnn_state_is_temporary(before));
    GOOD(glcnn_kernel_encode_reload_state(commands, kernel, values));
    glcnn_kernel_properties(kernel)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_export_state(commands, kernel, &after));
    CU_ASSERT_FALSE(glcnn_state_is_temporary(after));
    check_convolution_values(kernel, 1);
    s.base = 4;
    GOOD(glcnn_kernel_reload_from_data_source(kernel));
    finish(&commands);
    check_layer_state(before, 4);
    check_layer_state(after, 20);
    check_convolution_values(kernel, 20);
    glcnn_state_destroy(&before);
    glcnn_state_destroy(&after);
    glcnn_state_destroy(&values);
    glcnn_kernel_destroy(&kernel);
}

/* A gradient kernel takes the weights alone; each reload takes one read; each commit copies. */
static void test_reloads_serve_both_kernels(void)
{
    glcnn_kernel *forward = make_convolution(), *gradient = NULL;
    glcnn_command_buffer *commands = make_commands();
    GOOD_FATAL(glcnn_convolution_gradient_create(device, &layer, NULL, &gradient));
    glcnn_state *state = make_layer_state(commands, 3);
    GOOD(glcnn_state_set_read_count(state, 2));
    GOOD(glcnn_kernel_encode_reload_state(commands, forward, state));
    GOOD(glcnn_kernel_encode_reload_state(commands, gradient, state));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 3);
    CU_ASSERT_EQUAL(glcnn_state_read_count(state), 0);
    REFUSED(GLCNN_INVALID_STATE, glcnn_kernel_encode_reload_state(commands, forward, state));
    CU_ASSERT_PTR_NULL(glcnn_state_vector(state, "weights"));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "read count has come to 0"));
    GOOD(glcnn_command_buffer_commit(commands));
    check_convolution_values(forward, 3);
    check_source_values(glcnn_kernel_vector(gradient, "weights"), 3, "weights", 30);
    float again[5] = {9, 8, 7, 6, 5}, read[5];
    GOOD(glcnn_state_set_vector(state, "biases", again, 5));
    finish(&commands);
    read_vector(glcnn_kernel_vector(forward, "biases"), 5, read);
    CU_ASSERT_EQUAL(memcmp(read, again, sizeof read), 0);
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
}

/* A kernel that does not know its channels takes the state's lengths. */
static void test_reloads_make_vectors(void)
{
    static const char *const given[] = {"mean", "variance"};
    static const size_t lengths[] = {3, 3};
    const float mean[] = {1, 2, 3}, variance[] = {4, 5, 6};
    float read[3];
    glcnn_kernel *kernel = make_kernel("batch_normalization");
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_state_create(device, NULL, given, lengths, 2, &state));
    GOOD(glcnn_state_set_vector(state, "mean", mean, 3));
    GOOD(glcnn_state_set_vector(state, "variance", variance, 3));
    GOOD(glcnn_kernel_encode_reload_state(commands, kernel, state));
    finish(&commands);
    read_vector(glcnn_kernel_vector(kernel, "mean"), 3, read);
    CU_ASSERT_EQUAL(memcmp(read, mean, sizeof read), 0);
    read_vector(glcnn_kernel_vector(kernel, "variance"), 3, read);
    CU_ASSERT_EQUAL(memcmp(read, variance, sizeof read), 0);
    CU_ASSERT_PTR_NULL(glcnn_kernel_vector(kernel, "gamma"));
    glcnn_state_destroy(&state);
    glcnn_kernel_destroy(&kernel);
}

/* From the state of a batch come its statistics; gamma and beta there are the kernel's already. */
static void test_statistics_become_the_kernels(void)
{
    static const float pixels[] = {1, 2, 3, 6, -1, -1, 3, 3};
    glcnn_kernel *statistics = make_kernel("batch_normalization_statistics");
    glcnn_kernel *kernel = make_kernel("batch_normalization");
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *source = make_image(1, 2, 2, 2), *result = make_image(1, 2, 2, 2);
    glcnn_state *state = NULL;
    float mean[2], variance[2];
    fill_image(source, pixels);
    GOOD_FATAL(glcnn_kernel_result_state(NULL, kernel, &(struct glcnn_encode){0}, &state));
    GOOD(glcnn_kernel_encode(commands, statistics,
                             &(struct glcnn_encode){.source = source, .state = state}));
    GOOD(glcnn_kernel_encode(
        commands, kernel,
        &(struct glcnn_encode){.source = source, .state = state, .destination = result}));
    size_t passes = glcnn_command_buffer_pass_count(commands);
    GOOD(glcnn_kernel_encode_reload_state(commands, kernel, state));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), passes + 2);
    REFUSED_SAYING("a kernel's own vector", glcnn_state_set_vector(state, "gamma", mean, 2));
    finish(&commands);
    read_vector(glcnn_kernel_vector(kernel, "mean"), 2, mean);
    read_vector(glcnn_kernel_vector(kernel, "variance"), 2, variance);
    CU_ASSERT_DOUBLE_EQUAL(mean[0], 3, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(mean[1], 1, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(variance[0], 3.5, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(variance[1], 4, 1e-6);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&statistics);
    glcnn_kernel_destroy(&kernel);
}

static void test_exports_and_reloads_are_refused(void)
{
    static const char *const other[] = {"gamma"}, *const half[] = {"biases", "weights"};
    static const size_t lengths[] = {5, 29};
    glcnn_kernel *kernel = make_convolution(), *pooling = make_kernel("pooling_max");
    glcnn_kernel *unknown = make_kernel("instance_normalization");
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *state = NULL, *gamma = NULL, *shorter = NULL;
    REFUSED_SAYING("owns no weights", glcnn_kernel_encode_export_state(commands, pooling, &state));
    REFUSED_SAYING("length of gamma is not known",
                   glcnn_kernel_encode_export_state(commands, unknown, &state));
    REFUSED_SAYING("state is NULL", glcnn_kernel_encode_export_state(commands, kernel, NULL));
    REFUSED_SAYING("command_buffer is NULL",
                   glcnn_kernel_encode_export_state(NULL, kernel, &state));
    REFUSED_SAYING("kernel is NULL", glcnn_kernel_encode_export_state(commands, NULL, &state));
    CU_ASSERT_PTR_NULL(state);
    GOOD_FATAL(glcnn_state_create(device, NULL, other, lengths, 1, &gamma));
    GOOD_FATAL(glcnn_state_create(device, NULL, half, lengths, 2, &shorter));
    REFUSED_SAYING("the state has none of",
                   glcnn_kernel_encode_reload_state(commands, kernel, gamma));
    REFUSED_SAYING("weights has 30 elements; the state's has 29",
                   glcnn_kernel_encode_reload_state(commands, kernel, shorter));
    REFUSED_SAYING("state is NULL", glcnn_kernel_encode_reload_state(commands, kernel, NULL));
    REFUSED_SAYING("command_buffer is NULL", glcnn_kernel_encode_reload_state(NULL, kernel, gamma));
    CU_ASSERT_EQUAL(glcnn_kernel_encode_reload_state(NULL, NULL, gamma), INVALID);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_state_destroy(&gamma);
    glcnn_state_destroy(&shorter);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&pooling);
    glcnn_kernel_destroy(&unknown);
}

/* ---- States of other kernels ---- */

static void refuse_state_of(glcnn_command_buffer *commands, const struct glcnn_descriptor *gradient,
                            const struct glcnn_descriptor *forward,
                            const struct glcnn_encode *arguments)
{
    struct glcnn_encode given = *arguments;
    glcnn_kernel *kernel = make_kernel(gradient->name);
    GOOD_FATAL(state_create(device, NULL, &given.state));
    given.state->forward.descriptor = forward;
    REFUSED(INVALID, glcnn_kernel_encode(commands, kernel, &given));
    CU_ASSERT_TRUE(says("the state was made by"));
    CU_ASSERT_TRUE(says(forward->name));
    glcnn_state_destroy(&given.state);
    glcnn_kernel_destroy(&kernel);
}

/* Every gradient kernel refuses the states of all forward kernels but its own. */
static void test_gradients_refuse_other_kernels_states(void)
{
    glcnn_image *a = make_image(1, 4, 2, 2), *b = make_image(1, 4, 2, 2),
                *c = make_image(1, 4, 2, 2);
    const struct glcnn_encode arguments = {.source = a, .secondary = b, .destination = c};
    glcnn_command_buffer *commands = make_commands();
    size_t count = 0;
    for (const struct glcnn_descriptor *const *g = glcnn_registry; *g; g++)
        for (const struct glcnn_descriptor *const *f = glcnn_registry; *f; f++) {
            bool own = (*g)->forward && strcmp((*g)->forward, (*f)->name) == 0;
            if (!((*g)->flags & IS_GRADIENT) || !((*f)->flags & MAKES_STATE) || own)
                continue;
            refuse_state_of(commands, *g, *f, &arguments);
            count++;
        }
    CU_ASSERT_TRUE(count > 100);
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&a);
    glcnn_image_destroy(&b);
    glcnn_image_destroy(&c);
}

static void test_statistics_refuse_other_families_states(void)
{
    glcnn_image *image = make_image(1, 4, 2, 2);
    const struct glcnn_encode arguments = {.source = image};
    glcnn_command_buffer *commands = make_commands();
    refuse_state_of(commands, descriptor_find("batch_normalization_statistics"),
                    descriptor_find("convolution"), &arguments);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&image);
}

/* One family, one configuration: still another derivative. */
static void test_max_is_not_average(void)
{
    glcnn_kernel *pooling = make_kernel("pooling_max");
    glcnn_kernel *average = make_kernel("pooling_average_gradient");
    glcnn_kernel *max = make_kernel("pooling_max_gradient");
    glcnn_image *source = make_image(1, 4, 4, 4), *result = NULL, *gradient = NULL;
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *state = NULL;
    glcnn_kernel_properties(pooling)->result_is_ordinary = true;
    GOOD_FATAL(glcnn_kernel_encode_returning(
        commands, pooling, &(struct glcnn_encode){.source = source}, &result, &state));
    const struct glcnn_encode arguments = {.source = result, .secondary = source, .state = state};
    REFUSED_SAYING("the state was made by pooling_max; it must be one that pooling_average made",
                   glcnn_kernel_encode_returning(commands, average, &arguments, &gradient, NULL));
    CU_ASSERT_PTR_NULL(gradient);
    GOOD(glcnn_kernel_encode_returning(commands, max, &arguments, &gradient, NULL));
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&gradient);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&source);
    glcnn_command_buffer_destroy(&commands);
    glcnn_kernel_destroy(&pooling);
    glcnn_kernel_destroy(&average);
    glcnn_kernel_destroy(&max);
}

/* ---- A training step ---- */

/* One weight and one bias, trained on the device by the data source's callback. */
struct trained {
    glcnn_kernel *optimizer;
    glcnn_state *values;
    float start[2];
};

static const float *trained_values(void *context, const char *vector, size_t count)
{
    struct trained *t = context;
    CU_ASSERT_EQUAL(count, 1);
    return &t->start[strcmp(vector, "biases") == 0];
}

static glcnn_status trained_update(void *context, glcnn_command_buffer *commands,
                                   glcnn_state *gradients, glcnn_state *source,
                                   glcnn_state **updated)
{
    struct trained *t = context;
    (void)source;
    *updated = t->values;
    return glcnn_optimizer_encode_states(commands, t->optimizer, gradients, t->values, NULL, NULL,
                                         0, t->values);
}

/* The loop that a graph runs for each layer. */
static void record_update(glcnn_command_buffer *commands, glcnn_kernel *forward,
                          glcnn_kernel *gradient, glcnn_state *state)
{
    const struct glcnn_data_source *source = glcnn_kernel_data_source(forward);
    glcnn_state *updated = NULL;
    GOOD_FATAL(source->update(source->context, commands, state, state, &updated));
    CU_ASSERT_PTR_NOT_NULL_FATAL(updated);
    GOOD(glcnn_kernel_encode_reload_state(commands, forward, updated));
    GOOD(glcnn_kernel_encode_reload_state(commands, gradient, updated));
}

static void check_scalar(glcnn_buffer *buffer, double expected)
{
    float value;
    read_vector(buffer, 1, &value);
    CU_ASSERT_DOUBLE_EQUAL((double)value, expected, 1e-6);
}

static const struct glcnn_convolution_descriptor scalar = {.kernel_width = 1,
                                                           .kernel_height = 1,
                                                           .input_feature_channels = 1,
                                                           .output_feature_channels = 1};

/* Gradients dW = sum G X = 6 and db = sum G = 2, the same at every step of rate 0.1. Two encodes,
 * whose gradients do not add up, and each of them committed twice. */
static void test_a_callback_trains_both_kernels(void)
{
    static const float x[] = {1, 2, 3, -1}, g[] = {1, 2, 0, -1}, one = 1, half = 0.5f;
    struct trained t = {.start = {one, half}};
    const struct glcnn_data_source given = {
        .context = &t, .values = trained_values, .update = trained_update};
    static const size_t single[] = {1, 1};
    glcnn_kernel *forward = NULL, *gradient = NULL;
    glcnn_image *source = make_image(1, 1, 2, 2), *result = make_image(1, 1, 2, 2);
    glcnn_image *G = make_image(1, 1, 2, 2), *dX = make_image(1, 1, 2, 2);
    glcnn_state *state = NULL;
    GOOD_FATAL(glcnn_convolution_create(device, &scalar, NULL, &forward));
    GOOD_FATAL(glcnn_convolution_gradient_create(device, &scalar, NULL, &gradient));
    GOOD_FATAL(glcnn_optimizer_stochastic_gradient_descent_create(device, 0.1f, &t.optimizer));
    GOOD(glcnn_kernel_set_data_source(forward, &given));
    GOOD(glcnn_kernel_share_data_source(gradient, forward));
    GOOD_FATAL(glcnn_state_create(device, NULL, layer_names, single, 2, &t.values));
    GOOD(glcnn_state_set_vector(t.values, "weights", &one, 1));
    GOOD(glcnn_state_set_vector(t.values, "biases", &half, 1));
    GOOD(glcnn_kernel_result_state(NULL, forward, &(struct glcnn_encode){0}, &state));
    fill_image(source, x);
    fill_image(G, g);
    for (int step = 0; step < 2; step++) {
        glcnn_command_buffer *commands = make_commands();
        GOOD(glcnn_kernel_encode(
            commands, forward,
            &(struct glcnn_encode){.source = source, .state = state, .destination = result}));
        GOOD(glcnn_kernel_encode(
            commands, gradient,
            &(struct glcnn_encode){
                .source = G, .secondary = source, .state = state, .destination = dX}));
        record_update(commands, forward, gradient, state);
        GOOD(glcnn_command_buffer_commit(commands));
        finish(&commands);
        check_scalar(glcnn_state_vector(state, "gradient_for_weights"), 6);
        check_scalar(glcnn_kernel_vector(forward, "weights"), 1 - 0.6 * 2 * (step + 1));
        check_scalar(glcnn_kernel_vector(gradient, "weights"), 1 - 0.6 * 2 * (step + 1));
        check_scalar(glcnn_kernel_vector(forward, "biases"), 0.5 - 0.2 * 2 * (step + 1));
    }
    glcnn_kernel_destroy(&forward);
    glcnn_kernel_destroy(&gradient);
    glcnn_kernel_destroy(&t.optimizer);
    glcnn_state_destroy(&t.values);
    glcnn_state_destroy(&state);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_image_destroy(&G);
    glcnn_image_destroy(&dX);
}

/* A state's gamma and beta are the kernel's own: not a place for results. */
static void test_borrowed_vectors_are_no_results(void)
{
    static const char *const gradients[] = {"gradient_for_gamma", "gradient_for_beta"};
    static const size_t two[] = {2, 2};
    glcnn_kernel *kernel = make_kernel("instance_normalization"), *optimizer = NULL;
    glcnn_image *source = make_image(1, 2, 2, 2), *result = make_image(1, 2, 2, 2);
    glcnn_command_buffer *commands = make_commands();
    glcnn_state *state = NULL, *given = NULL;
    GOOD_FATAL(glcnn_optimizer_adam_create(device, 0.1f, &optimizer));
    GOOD_FATAL(glcnn_state_create(device, NULL, gradients, two, 2, &given));
    GOOD(glcnn_kernel_result_state(NULL, kernel, &(struct glcnn_encode){0}, &state));
    GOOD(glcnn_kernel_encode(
        commands, kernel,
        &(struct glcnn_encode){.source = source, .state = state, .destination = result}));
    size_t passes = glcnn_command_buffer_pass_count(commands);
    REFUSED_SAYING(
        "gamma of result_state is the kernel's own",
        glcnn_optimizer_encode_states(commands, optimizer, given, state, NULL, NULL, 0, state));
    CU_ASSERT_EQUAL(glcnn_command_buffer_pass_count(commands), passes);
    glcnn_state_destroy(&state);
    glcnn_state_destroy(&given);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&source);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&kernel);
    glcnn_kernel_destroy(&optimizer);
}

/* ---- Labels ---- */

static void test_labels_are_in_messages(void)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_kernel *kernel = make_convolution(), *copy = NULL;
    char label[] = "stem";
    CU_ASSERT_PTR_NULL(glcnn_kernel_label(kernel));
    CU_ASSERT_PTR_NULL(glcnn_kernel_label(NULL));
    REFUSED_SAYING("convolution: source_image is NULL",
                   glcnn_kernel_encode(commands, kernel, &(struct glcnn_encode){0}));
    GOOD(glcnn_kernel_set_label(kernel, label));
    label[0] = 'x';
    CU_ASSERT_STRING_EQUAL(glcnn_kernel_label(kernel), "stem");
    REFUSED_SAYING("convolution \"stem\": source_image is NULL",
                   glcnn_kernel_encode(commands, kernel, &(struct glcnn_encode){0}));
    REFUSED_SAYING("convolution \"stem\": ", glcnn_kernel_set(kernel, "no such", 1));
    GOOD_FATAL(glcnn_kernel_copy(kernel, device, &copy));
    CU_ASSERT_STRING_EQUAL(glcnn_kernel_label(copy), "stem");
    CU_ASSERT_STRING_EQUAL(glcnn_kernel_name(copy), "convolution");
    GOOD(glcnn_kernel_set_label(kernel, NULL));
    CU_ASSERT_PTR_NULL(glcnn_kernel_label(kernel));
    REFUSED_SAYING("convolution: ", glcnn_kernel_reload_from_data_source(kernel));
    CU_ASSERT_EQUAL(glcnn_kernel_set_label(NULL, "x"), INVALID);
    glcnn_kernel_destroy(&copy);
    glcnn_kernel_destroy(&kernel);
    glcnn_command_buffer_destroy(&commands);
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
        UNIT_TEST(test_states_are_made_of_names),
        UNIT_TEST(test_made_states_are_refused),
        UNIT_TEST(test_read_counts_of_batches),
        UNIT_TEST(test_exports_are_in_order),
        UNIT_TEST(test_reloads_serve_both_kernels),
        UNIT_TEST(test_reloads_make_vectors),
        UNIT_TEST(test_statistics_become_the_kernels),
        UNIT_TEST(test_exports_and_reloads_are_refused),
        UNIT_TEST(test_gradients_refuse_other_kernels_states),
        UNIT_TEST(test_statistics_refuse_other_families_states),
        UNIT_TEST(test_max_is_not_average),
        UNIT_TEST(test_a_callback_trains_both_kernels),
        UNIT_TEST(test_borrowed_vectors_are_no_results),
        UNIT_TEST(test_labels_are_in_messages),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("weights", tests, argc, argv);
}
