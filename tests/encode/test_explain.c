/* glcnn_explain: its passes are those that run, and its messages say why an implementation was not
 * taken, also for a GPU that is not here. */
#include <stdio.h>
#include <string.h>

#include "encode/implementation.h"
#include "reference/reference.h"
#include "run/check.h"
#include "tests/cases.h"

static char lines[1 << 14];

static void add_line(void *user, const char *line)
{
    size_t used = strlen(lines);
    (void)user;
    snprintf(lines + used, sizeof lines - used, "%s\n", line);
}

static glcnn_status explain(const char *kernel, const struct glcnn_setting *settings, size_t count,
                            const uint32_t source[4], const char *gpu,
                            char error[GLCNN_ERROR_LENGTH])
{
    lines[0] = 0;
    return glcnn_explain(cases_device(), kernel, settings, count, source, gpu, add_line, NULL,
                         error);
}

/* ---- Passes ---- */

struct ran {
    const char *kernel;
    char passes[1 << 12];
};

static void add_pass(void *user, const struct glcnn_pass_timing *t)
{
    struct ran *ran = user;
    size_t used = strlen(ran->passes);
    if (strcmp(t->kernel, ran->kernel) == 0)
        snprintf(ran->passes + used, sizeof ran->passes - used, "%s %s\n", t->shader,
                 t->implementation ? t->implementation : "");
}

/* The lines of passes as add_pass has them. */
static void read_passes(char *passes, size_t size)
{
    size_t used = 0;
    unsigned number = 0;
    passes[0] = 0;
    for (const char *line = lines; *line; line = strchr(line, '\n') + 1) {
        unsigned n;
        char shader[200], by[200] = "";
        if (sscanf(line, "pass %u: glsl/%199[^,], %*u%*[x]%*u%*[x]%*u invocations, by %199s", &n,
                   shader, by) < 2)
            continue;
        CU_ASSERT_EQUAL(n, ++number);
        used += (size_t)snprintf(passes + used, size - used, "%s %s\n", shader, by);
    }
}

static void explain_case(const struct glcnn_descriptor *d, const struct check_case *c)
{
    struct glcnn_setting settings[CHECK_SETTINGS];
    char message[GLCNN_ERROR_LENGTH] = "", explained[1 << 12];
    static struct ran ran;
    struct argument_map map = {0};
    struct run run = {.format = GLCNN_CHANNEL_FORMAT_FLOAT32,
                      .map = &map,
                      .validation = {message, sizeof message}};
    ran = (struct ran){.kernel = d->name};
    CU_ASSERT_TRUE(check_inputs(&run, d, c, 1, settings));
    run.device = cases_device();
    glcnn_device_set_profile(run.device, add_pass, &ran);
    CU_ASSERT_EQUAL(run_kernel(&run, d), GLCNN_SUCCESS);
    glcnn_device_set_profile(run.device, NULL, NULL);
    CU_ASSERT_EQUAL(
        explain(d->name, run.settings.items, run.settings.count, c->shape, NULL, message),
        GLCNN_SUCCESS);
    read_passes(explained, sizeof explained);
    CU_ASSERT_STRING_EQUAL(explained, ran.passes);
    if (strcmp(explained, ran.passes) != 0)
        printf("%s, %s:\n%sexplained:\n%s%s\n", d->name, c->settings, ran.passes, lines, message);
    argument_map_free(&map);
}

/* Of the first case of each kernel whose sources are of one size. */
static void passes_are_those_that_run(void)
{
    size_t explained = 0;
    for (size_t i = 0; glcnn_registry[i]; i++)
        for (const struct check_case *c = reference_of(glcnn_registry[i])->cases; c->settings; c++)
            if (!c->secondary[0]) {
                explain_case(glcnn_registry[i], c);
                explained++;
                break;
            }
    CU_ASSERT_TRUE(explained > 90);
}

/* ---- Messages ---- */

static const struct glcnn_setting windows[] = {{"kernel_width", 3, 0},
                                               {"kernel_height", 3, 0},
                                               {"stride_in_pixels_x", 2, 0},
                                               {"stride_in_pixels_y", 2, 0}};
static const uint32_t source[4] = {64, 32, 28, 28};

static void expect(const char *gpu, const char *message)
{
    char error[GLCNN_ERROR_LENGTH];
    CU_ASSERT_EQUAL(explain("pooling_max_gradient", windows, 4, source, gpu, error), GLCNN_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL(strstr(lines, message));
    if (!strstr(lines, message))
        printf("%s: \"%s\" is not in\n%s%s\n", gpu, message, lines, error);
}

/* The gradient of max pooling, where the forward pass kept which tap was the largest. */
static void messages_are_those_of_the_gpu(void)
{
    static const char *const gpus[] = {"Mali-G52", "mali-bifrost", "V3D 4.2", "llvmpipe",
                                       "Mali-T860"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        expect(gpus[i],
               "pooling_max_gradient: not pooling_gradient_disjoint, which needs a maximum "
               "over windows that do not overlap\n");
        expect(gpus[i],
               "pooling_max_gradient: list pooling_gradient takes pooling_gradient_indices\n");
        expect(gpus[i],
               "pass 1: glsl/pooling/pooling_max_gradient_indices.comp, 28x14x512 invocations, by "
               "pooling_gradient_indices\n");
    }
}

/* A library for boards has no rows of src/desktop, and says nothing of them. */
static void needs_are_told_with_both_numbers(void)
{
    static const char *const messages[][2] = {
        {"Mali-G52", "not pooling_gradient_tiles, which needs registers for 32 vec4 values, and "
                     "this GPU has 14\n"},
        {"V3D 4.2", "not pooling_gradient_tiles, which needs registers for 32 vec4 values, and "
                    "this GPU has 12\n"},
        {"llvmpipe", "not pooling_gradient_tiles, which needs shared memory on the chip\n"}};
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (glcnn_desktop_registry[0])
            expect(messages[i][0], messages[i][1]);
        else {
            expect(messages[i][0], "list pooling_gradient takes");
            CU_ASSERT_PTR_NULL(strstr(lines, "pooling_gradient_tiles"));
        }
}

/* Each message stands once, although a list may be asked several times. */
static void messages_are_told_once(void)
{
    expect("Mali-G52", "list pooling_gradient takes");
    const char *first = strstr(lines, "list pooling_gradient takes");
    CU_ASSERT_PTR_NULL(first ? strstr(first + 1, "list pooling_gradient takes") : lines);
}

static void the_device_stays_as_it_is(void)
{
    const struct glcnn_device_traits before = glcnn_device_info(cases_device())->traits;
    char error[GLCNN_ERROR_LENGTH];
    for (int fails = 0; fails < 2; fails++) {
        glcnn_status status = explain("pooling_max", windows, 4,
                                      fails ? (const uint32_t[4]){0} : source, "V3D", error);
        CU_ASSERT_EQUAL(status == GLCNN_SUCCESS, !fails);
        const struct glcnn_device_traits after = glcnn_device_info(cases_device())->traits;
        CU_ASSERT_STRING_EQUAL(after.family, before.family);
        CU_ASSERT_EQUAL(after.registers, before.registers);
    }
}

static void what_is_wrong_is_refused(void)
{
    static const struct glcnn_setting unknown = {"no_such_name", 1, 0};
    char error[GLCNN_ERROR_LENGTH];
    CU_ASSERT_EQUAL(explain("pooling_max", NULL, 0, source, "Voodoo", error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(error, "no GPU \"Voodoo\" is known; families are llvmpipe, softpipe"));
    CU_ASSERT_EQUAL(explain("pooling_maxx", NULL, 0, source, NULL, error), GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "did you mean pooling_max?"));
    CU_ASSERT_EQUAL(explain("pooling_max", &unknown, 1, source, NULL, error),
                    GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "no_such_name"));
    CU_ASSERT_EQUAL(
        glcnn_explain(NULL, "pooling_max", NULL, 0, source, NULL, add_line, NULL, error),
        GLCNN_INVALID_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(lines, "");
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        {"passes are those that run", passes_are_those_that_run},
        {"messages are those of the GPU", messages_are_those_of_the_gpu},
        {"needs are told with both numbers", needs_are_told_with_both_numbers},
        {"messages are told once", messages_are_told_once},
        {"the device stays as it is", the_device_stays_as_it_is},
        {"what is wrong is refused", what_is_wrong_is_refused},
        CU_TEST_INFO_NULL};
    return cases_main("explain", tests, argc, argv);
}
