/* Every case of every kernel on this device: against its double-precision reference, in both
 * storage formats of results, and twice, because the same run must give the same bytes. Passes that
 * store by way of a buffer run the second time in as many parts as they can. The first cases also
 * read unorm8 images, which no kernel writes.
 *
 * GLCNN_TEST_QUICK=1, for slow rasterisers, leaves out the large cases, takes the storage formats
 * in turn, and has unorm8 and a second run for the first case of a kernel only. The latter two go for all cases, unless
 * GLCNN_TEST_CHECK=1, and within the minimum limits GLCNN_TEST_FULL=1. Without either, a kernel has its
 * first cases and every eighth of the others, none of them large. */
#include "device/device.h"
#include "tests/cases.h"

#define FEWEST_CASES 8
#define UNORM8_CASES 3 /* of each kernel */

static size_t configurations;

static const glcnn_channel_format formats[] = {GLCNN_CHANNEL_FORMAT_FLOAT32,
                                               GLCNN_CHANNEL_FORMAT_FLOAT16};

static const char *const format_names[] = {[GLCNN_CHANNEL_FORMAT_UNORM8] = "unorm8",
                                           [GLCNN_CHANNEL_FORMAT_FLOAT16] = "float16",
                                           [GLCNN_CHANNEL_FORMAT_FLOAT32] = "float32"};

/* What formats and repetitions show does not depend on limits: not all of them are tried again. */
static bool is_brief(void)
{
    bool clamped = glcnn_device_info(cases_device())->limits_clamped;
    return cases_quick() || !(clamped ? unit_is_full() : unit_is_check());
}

static bool is_left_out(const struct glcnn_descriptor *d, size_t index)
{
    const struct check_case *c = &reference_of(d)->cases[index];
    if (unit_is_check() || cases_quick())
        return case_is_skipped(c);
    return c->large || !case_is_tried(index);
}

static size_t format_count(const struct glcnn_descriptor *d)
{
    return descriptor_has_images(d) ? 2 : 1;
}

/* Optional inputs come with every second case, so that two cases alike in all else may differ. */
static bool is_repeated(const struct glcnn_descriptor *d, size_t index)
{
    const struct check_case *c = &reference_of(d)->cases[index];
    for (size_t i = 0; i < index; i++)
        if (i % 2 == index % 2 && strcmp(c->settings, reference_of(d)->cases[i].settings) == 0 &&
            memcmp(c->shape, reference_of(d)->cases[i].shape, sizeof c->shape) == 0 &&
            memcmp(c->secondary, reference_of(d)->cases[i].secondary, sizeof c->secondary) == 0)
            return true;
    return false;
}

static void check_against_reference(const struct glcnn_descriptor *d, size_t index,
                                    glcnn_channel_format format)
{
    char message[512];
    double error;
    glcnn_status status = check_case_run(cases_device(), d, index, format, &error, message);
    CU_ASSERT(error <= 1);
    if (status != GLCNN_SUCCESS)
        case_report(d, index, "%s: %s", glcnn_status_text(status), message);
    else if (!(error <= 1))
        case_report(d, index, "%s: the error is %g times its bound", format_names[format], error);
}

static bool run_on_device(struct case_run *c, const struct glcnn_descriptor *d, size_t index)
{
    if (!case_prepare(c, d, index, GLCNN_CHANNEL_FORMAT_FLOAT32))
        return false;
    c->run.device = cases_device();
    glcnn_status status = run_kernel(&c->run, d);
    CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
    if (status != GLCNN_SUCCESS)
        case_report(d, index, "%s", c->error);
    return status == GLCNN_SUCCESS;
}

static void compare_bytes(const struct glcnn_descriptor *d, size_t index,
                          struct argument_map *first, struct argument_map *second)
{
    CU_ASSERT_EQUAL(first->count, second->count);
    for (size_t i = 0; i < first->count; i++) {
        const struct named_array *a = &first->arrays[i], *b = argument_map_find(second, a->name);
        bool same = b && array_count(a) == array_count(b) &&
                    memcmp(a->data, b->data, array_count(a) * sizeof(double)) == 0;
        CU_ASSERT(same);
        if (!same)
            case_report(d, index, "%s differs between two runs", a->name);
    }
}

static void check_determinism(const struct glcnn_descriptor *d, size_t index)
{
    struct case_run first, second = {0};
    const size_t part = cases_device()->stores_part;
    if (run_on_device(&first, d, index)) {
        cases_device()->stores_part = 1;
        if (run_on_device(&second, d, index))
            compare_bytes(d, index, &first.map, &second.map);
        cases_device()->stores_part = part;
    }
    case_release(&first);
    case_release(&second);
}

static void kernel_agrees_with_its_reference(void)
{
    const struct glcnn_descriptor *d = cases_kernel();
    size_t distinct = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(reference_of(d)->compute);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reference_of(d)->cases);
    for (size_t i = 0; reference_of(d)->cases[i].settings; i++) {
        distinct += !is_repeated(d, i);
        if (is_left_out(d, i))
            continue;
        for (size_t f = 0; f < format_count(d); f++)
            if (!is_brief() || f == i / 2 % format_count(d))
                check_against_reference(d, i, formats[f]);
        if (i < (is_brief() ? 1 : UNORM8_CASES) && descriptor_has_images(d))
            check_against_reference(d, i, GLCNN_CHANNEL_FORMAT_UNORM8);
        if (!is_brief() || i == 0)
            check_determinism(d, i);
    }
    CU_ASSERT(distinct >= FEWEST_CASES);
    configurations += distinct;
}

/* ---- Values of enumerations ---- */

static bool is_said(const struct glcnn_descriptor *d, const char *name, const char *value)
{
    char word[128], settings[600];
    snprintf(word, sizeof word, " %s=%s ", name, value);
    for (size_t i = 0; reference_of(d)->cases[i].settings; i++) {
        snprintf(settings, sizeof settings, " %s ", reference_of(d)->cases[i].settings);
        if (strstr(settings, word))
            return true;
    }
    return false;
}

/* A fused neuron has the functions of the kernels of neurons alone, one of which has slopes. A part of
 * a loss with anchor boxes has those of the loss, or refuses them: test_yolo_loss goes over all. */
static bool is_left_to_another(const struct glcnn_descriptor *d, const struct parameter *p)
{
    return (strcmp(p->name, "neuron_type") == 0 && strcmp(d->name, "neuron") != 0 &&
            strcmp(d->name, "neuron_gradient") != 0) ||
           strstr(p->name, "_loss_type");
}

/* A kernel that is to make nothing has no result to compare. */
static bool makes_nothing(const struct parameter *p, const char *value)
{
    return strcmp(p->name, "gradient_option") == 0 && strcmp(value, "none") == 0;
}

static void check_values(const struct glcnn_descriptor *d, const struct parameter *p)
{
    for (size_t v = 0; p->value_names[v]; v++) {
        bool said = (double)v == p->default_value || makes_nothing(p, p->value_names[v]) ||
                    is_said(d, p->name, p->value_names[v]);
        if (!said)
            fprintf(stderr, "\n  %s: no case has %s=%s\n", d->name, p->name, p->value_names[v]);
        CU_ASSERT(said);
    }
}

/* A type that is added and that no case has would pass unseen. */
static void every_value_has_a_case(void)
{
    size_t enumerations = 0;
    for (size_t k = 0; glcnn_registry[k]; k++) {
        const struct parameter *p = glcnn_registry[k]->parameters;
        for (; p && p->name; p++)
            if (p->type == FIELD_ENUM && !is_left_to_another(glcnn_registry[k], p)) {
                check_values(glcnn_registry[k], p);
                enumerations++;
            }
    }
    CU_ASSERT(enumerations > 4);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo more[] = {UNIT_TEST(every_value_has_a_case), CU_TEST_INFO_NULL};
    CU_TestInfo *tests = cases_table(kernel_agrees_with_its_reference, NULL, more);
    int status = cases_main("kernels", tests, argc, argv);
    printf("%zu configurations of operations\n", configurations);
    free(tests);
    return status;
}
