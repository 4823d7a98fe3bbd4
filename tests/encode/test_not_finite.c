/* A NaN or an infinity in one element of each input of every kernel: what depends on it tells so,
 * and what does not is as it would be without it. The double-precision reference says which is
 * which, and NaN equals nothing but NaN.
 *
 * An infinity may meet itself on the way (infinity - infinity is NaN) and formulas that are equal
 * for numbers differ then: where the reference has either, so must the device, one or the other.
 *
 * GLCNN_TEST_QUICK=1, for slow rasterisers, takes every ninth case, as does a run without
 * GLCNN_TEST_CHECK=1. */
#include <math.h>

#include "tests/cases.h"

#define QUICK_STEP 9

/* What the kernels' own cases leave out. */
static const struct {
    const char *kernel;
    struct check_case of;
} more_cases[] = {
    {"neuron", {"neuron_type=relu neuron_a=0", {1, 3, 4, 4}}},
    {"neuron", {"neuron_type=relun neuron_a=0 neuron_b=0.5", {1, 3, 4, 4}}},
    {"neuron", {"neuron_type=elu neuron_a=0", {1, 3, 4, 4}}},
    {"neuron", {"neuron_type=soft_plus neuron_a=-0.5 neuron_b=-2", {1, 3, 4, 4}}},
    {"neuron", {"neuron_type=exponential neuron_a=1 neuron_c=1", {1, 3, 4, 4}}},
    {"neuron", {"neuron_type=power neuron_a=1 neuron_c=0", {1, 3, 4, 4}}},
    {"neuron_gradient", {"neuron_type=relu neuron_a=0", {1, 3, 4, 4}}},
    {"neuron_gradient", {"neuron_type=relun neuron_a=0 neuron_b=0.5", {1, 3, 4, 4}}},
    {"neuron_gradient", {"neuron_type=elu neuron_a=0", {1, 3, 4, 4}}},
    {"neuron_gradient", {"neuron_type=power neuron_a=1 neuron_c=2", {1, 3, 4, 4}}},
    {"batch_normalization", {"neuron_type=relu", {2, 3, 4, 4}}},
    {"batch_normalization_gradient", {"neuron_type=relu", {2, 3, 4, 4}}},
    {"loss", {"loss_type=hinge reduction_type=none", {1, 6, 3, 3}}},
    {"loss", {"loss_type=mean_absolute_error reduction_type=mean", {1, 6, 3, 3}}},
    {"loss", {"loss_type=kullback_leibler_divergence reduction_type=none", {1, 6, 3, 3}}},
    {"optimizer_rms_prop",
     {"apply_gradient_clipping=1 gradient_clip_min=-1 gradient_clip_max=1 "
      "regularization_type=l1 regularization_scale=0.1",
      {1, 1, 1, 7}}},
    {"optimizer_adam",
     {"apply_gradient_clipping=1 gradient_clip_min=0 gradient_clip_max=1 "
      "regularization_type=l1 regularization_scale=0.1",
      {1, 1, 1, 7}}},
};
#define MORE_CASES (sizeof more_cases / sizeof *more_cases)

static const double not_finite[] = {NAN, INFINITY, -INFINITY};
#define VALUES (sizeof not_finite / sizeof *not_finite)

static size_t configurations;

/* One input of one case with one value in it. */
struct trial {
    const struct glcnn_descriptor *kernel;
    const struct check_case *of;
    size_t index, input, value;
};

static void report(const struct trial *t, const char *input, size_t element, const char *text)
{
    const uint32_t *shape = t->of->shape;
    fprintf(stderr, "\n  %s, %ux%ux%ux%u %s, %g in element %zu of %s:\n    %s\n", t->kernel->name,
            shape[0], shape[1], shape[2], shape[3], t->of->settings, not_finite[t->value], element,
            input, text);
}

/* Where neither is finite all are alike. */
static void forgive_infinities(struct named_array *found, struct named_array *wanted)
{
    for (size_t k = 0; k < array_count(wanted); k++)
        if (!isfinite(found->data[k]) && !isfinite(wanted->data[k]))
            wanted->data[k] = found->data[k] = (double)NAN;
}

static void forgive_range(struct named_array *found, struct named_array *wanted, size_t first,
                          size_t count)
{
    for (size_t k = first; k < first + count; k++)
        if (!isfinite(found->data[k]))
            wanted->data[k] = found->data[k];
}

static bool is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* What glcnn/kernels/convolution.h leaves open: 0 times what is not finite where a tap reads
 * outside of the image, which can be any weight's gradient and any pixel of a channel that the
 * value counts for; with groups, any channel. `without` is the reference without the value. */
static void forgive_zeros(const struct trial *t, struct named_array *found,
                          struct named_array *wanted, const struct named_array *without)
{
    bool grouped = strstr(t->of->settings, "groups=") != NULL, counts;
    size_t channels = wanted->rank < 4 ? 1 : wanted->shape[0] * (grouped ? 1 : wanted->shape[1]);
    size_t count = array_count(wanted) / channels;
    for (size_t first = 0; first < array_count(wanted); first += count) {
        counts = strcmp(wanted->name, "gradient_for_weights") == 0;
        for (size_t k = first; k < first + count; k++)
            counts |= !is_same(wanted->data[k], without->data[k]);
        if (counts)
            forgive_range(found, wanted, first, count);
    }
}

static void forgive(const struct trial *t, struct argument_map *found, struct argument_map *wanted,
                    struct argument_map *without)
{
    for (size_t i = 0; i < wanted->count; i++) {
        struct named_array *w = &wanted->arrays[i], *f = argument_map_find(found, w->name);
        struct named_array *clean = argument_map_find(without, w->name);
        if (!f || !clean || array_count(f) != array_count(w))
            continue;
        if (isinf(not_finite[t->value]))
            forgive_infinities(f, w);
        if (strncmp(t->kernel->name, "convolution", 11) == 0)
            forgive_zeros(t, f, w, clean);
    }
}

/* A double that no float holds: an infinity that was clipped to the largest float grew. */
static bool overflows(const struct argument_map *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        for (size_t k = 0; k < array_count(&wanted->arrays[i]); k++)
            if (isfinite(wanted->arrays[i].data[k]) && fabs(wanted->arrays[i].data[k]) > 1e35)
                return true;
    return false;
}

/* The first difference, for whoever has to find it. */
static void describe(const struct trial *t, struct argument_map *found, struct argument_map *wanted,
                     char text[256])
{
    snprintf(text, 256, "an output is missing or has another size");
    for (int i = 0; i < MAX_ARGUMENTS && t->kernel->arguments[i].name; i++) {
        const char *name = t->kernel->arguments[i].name;
        struct named_array *f = argument_map_find(found, name),
                           *w = argument_map_find(wanted, name);
        if (!t->kernel->arguments[i].output || !f || !w || array_count(f) != array_count(w))
            continue;
        for (size_t k = 0; k < array_count(f); k++)
            if (!(isnan(f->data[k]) && isnan(w->data[k])) &&
                !(fabs(f->data[k] - w->data[k]) < 1e-4) && f->data[k] != w->data[k]) {
                snprintf(text, 256, "element %zu of %s is %g, not %g", k, name, f->data[k],
                         w->data[k]);
                return;
            }
    }
}

/* The device, the reference, and the reference without the value. */
static bool run_three(const struct trial *t, struct run *run, struct argument_map bags[3])
{
    glcnn_status status = GLCNN_SUCCESS;
    for (int i = 0; i < 3 && status == GLCNN_SUCCESS; i++) {
        run->map = &bags[i];
        run->device = i == 0 ? cases_device() : NULL;
        status = run_kernel(run, t->kernel);
    }
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    return status == GLCNN_SUCCESS;
}

static void compare(const struct trial *t, struct run *run, struct argument_map bags[3],
                    const char *input, size_t element)
{
    char text[256];
    forgive(t, &bags[0], &bags[1], &bags[2]);
    bool good =
        overflows(&bags[1]) || check_compare(t->kernel, &bags[0], &bags[1], run->format) <= 1;
    CU_ASSERT(good);
    if (good)
        return;
    describe(t, &bags[0], &bags[1], text);
    report(t, input, element, text);
}

/* Is the input a vector of whole numbers, of which what is not finite is none? */
static bool is_whole(const struct trial *t, const char *name)
{
    for (int i = 0; i < MAX_ARGUMENTS && t->kernel->arguments[i].name; i++)
        if (strcmp(t->kernel->arguments[i].name, name) == 0)
            return t->kernel->arguments[i].values == VALUES_INDEX;
    return false;
}

static void expect_refusal(const struct trial *t, struct run *run, struct argument_map *map)
{
    run->map = map;
    run->device = cases_device();
    CU_ASSERT_NOT_EQUAL(run_kernel(run, t->kernel), GLCNN_SUCCESS);
}

/* False: the case has no such input. */
static bool try_one(const struct trial *t)
{
    struct argument_map bags[3] = {{.count = 0}};
    struct glcnn_setting settings[CHECK_SETTINGS];
    char error[512] = "";
    struct run run = {.format = GLCNN_CHANNEL_FORMAT_FLOAT32,
                      .map = &bags[2],
                      .validation = {error, sizeof error}};
    bool good = check_inputs(&run, t->kernel, t->of, t->index, settings);
    CU_ASSERT_TRUE(good);
    bool there = good && t->input < bags[2].count;
    if (there) {
        const char *input = bags[2].arrays[t->input].name;
        size_t count = array_count(&bags[2].arrays[t->input]);
        size_t element = (t->index * 7 + t->input * 3 + t->value) % count;
        CU_ASSERT_TRUE_FATAL(check_copy(&bags[2], &bags[0]));
        bags[0].arrays[t->input].data[element] = not_finite[t->value];
        CU_ASSERT_TRUE_FATAL(check_copy(&bags[0], &bags[1]));
        if (is_whole(t, input))
            expect_refusal(t, &run, &bags[0]);
        else if (run_three(t, &run, bags))
            compare(t, &run, bags, input, element);
        else
            report(t, input, element, error);
    }
    for (int i = 0; i < 3; i++)
        argument_map_free(&bags[i]);
    return there;
}

static void try_case(const struct glcnn_descriptor *kernel, const struct check_case *of,
                     size_t index)
{
    struct trial t = {kernel, of, index, 0, 0};
    for (bool more = true; more; t.input++)
        for (t.value = 0; more && t.value < VALUES; t.value++)
            more = try_one(&t);
    configurations++;
}

static void what_is_not_finite_goes_through(void)
{
    const struct glcnn_descriptor *kernel = cases_kernel();
    size_t step = cases_quick() || !unit_is_check() ? QUICK_STEP : 1;
    for (size_t i = 0; reference_of(kernel)->cases[i].settings; i++)
        if (i % step == 0 && !reference_of(kernel)->cases[i].large)
            try_case(kernel, &reference_of(kernel)->cases[i], i);
    for (size_t i = 0; i < MORE_CASES; i++)
        if (strcmp(more_cases[i].kernel, kernel->name) == 0)
            for (size_t with_optional = 0; with_optional < 2; with_optional++)
                try_case(kernel, &more_cases[i].of, with_optional);
}

int main(int argc, char *argv[])
{
    CU_TestInfo *tests = cases_table(what_is_not_finite_goes_through, NULL, NULL);
    int status = cases_main("not finite", tests, argc, argv);
    printf("%zu configurations of operations\n", configurations);
    free(tests);
    return status;
}
