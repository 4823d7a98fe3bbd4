/* The table of tests with one a kernel, and the inputs of its cases. */
#include "tests/cases.h"

#include <stdarg.h>

/* Cases of a kernel that are tried where not all are. */
#define FIRST_CASES 3
#define EVERY       8

static glcnn_device *device;

glcnn_device *cases_device(void)
{
    return device;
}

static void say_errors(void *user, glcnn_log_level level, const char *text)
{
    (void)user;
    if (level == GLCNN_LOG_ERROR)
        fprintf(stderr, "\n  %s\n", text);
}

int cases_main(const char *suite, const CU_TestInfo *tests, int argc, char *argv[])
{
    const struct glcnn_device_parameters parameters = {.log = say_errors};
    int status = EXIT_FAILURE;
    if (tests && glcnn_device_create(&parameters, &device) == GLCNN_SUCCESS)
        status = unit_run(suite, tests, argc, argv);
    glcnn_device_destroy(&device);
    return status;
}

static size_t table_length(const CU_TestInfo *tests)
{
    size_t count = 0;
    while (tests && tests[count].pName)
        count++;
    return count;
}

CU_TestInfo *cases_table(CU_TestFunc function, bool (*wanted)(const struct glcnn_descriptor *d),
                         const CU_TestInfo *more)
{
    static const CU_TestInfo none = CU_TEST_INFO_NULL;
    size_t count = 0, more_count = table_length(more);
    while (glcnn_registry[count])
        count++;
    CU_TestInfo *tests = malloc((count + more_count + 1) * sizeof *tests);
    CU_TestInfo *test = tests;
    for (size_t i = 0; tests && i < count; i++)
        if (!wanted || wanted(glcnn_registry[i]))
            *test++ = (CU_TestInfo){glcnn_registry[i]->name, function};
    for (size_t i = 0; tests && i < more_count; i++)
        *test++ = more[i];
    if (tests)
        *test = none;
    return tests;
}

const struct glcnn_descriptor *cases_kernel(void)
{
    return descriptor_find(CU_get_current_test()->pName);
}

bool cases_quick(void)
{
    const char *quick = getenv("GLCNN_TEST_QUICK");
    return quick && strcmp(quick, "1") == 0;
}

bool case_is_skipped(const struct check_case *c)
{
    return c->large && cases_quick();
}

bool case_is_tried(size_t index)
{
    return unit_is_check() || index < FIRST_CASES || index % EVERY == 0;
}

bool case_prepare(struct case_run *c, const struct glcnn_descriptor *d, size_t index,
                  glcnn_channel_format format)
{
    *c = (struct case_run){0};
    c->run =
        (struct run){.format = format, .map = &c->map, .validation = {c->error, sizeof c->error}};
    if (check_inputs(&c->run, d, &reference_of(d)->cases[index], index, c->settings))
        return true;
    CU_FAIL("a case without inputs");
    case_report(d, index, "no inputs: %s", c->error);
    return false;
}

void case_release(struct case_run *c)
{
    argument_map_free(&c->map);
}

void case_report(const struct glcnn_descriptor *d, size_t index, const char *format, ...)
{
    const struct check_case *c = &reference_of(d)->cases[index];
    va_list arguments;
    fprintf(stderr, "\n  %s, case %zu, %ux%ux%ux%u %s:\n    ", d->name, index, c->shape[0],
            c->shape[1], c->shape[2], c->shape[3], c->settings);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
