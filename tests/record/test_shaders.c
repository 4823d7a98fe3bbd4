/* Every shader that the library generates is strict GLSL ES 3.10, as glslangValidator judges it,
 * and keeps full precision: the sources that all cases of all kernels leave in the program cache,
 * as the driver got them. Drivers differ in what they let pass. Nothing is computed, so that the driver
 * makes no code of them. Without GLCNN_TEST_CHECK=1 a kernel has its first cases and every eighth of the others. */
#include "device/device.h"
#include "record/commit_count.h"
#include "record/program.h"
#include "tests/cases.h"

#include <unistd.h>

#define FEWEST_SOURCES  50
#define FEWEST_OF_PARTS 4
#define SHORT_BLOCK     1024 /* bytes */

/* Where the sources are written, one file each. */
struct dump {
    char folder[64];
    size_t count;
};

static const glcnn_channel_format formats[] = {GLCNN_CHANNEL_FORMAT_FLOAT32,
                                               GLCNN_CHANNEL_FORMAT_FLOAT16};

static void compile_case(const struct glcnn_descriptor *d, size_t index,
                         glcnn_channel_format format)
{
    struct case_run c;
    if (case_prepare(&c, d, index, format)) {
        c.run.device = cases_device();
        glcnn_status status = run_kernel(&c.run, d);
        CU_ASSERT_EQUAL(status, GLCNN_SUCCESS);
        if (status != GLCNN_SUCCESS)
            case_report(d, index, "%s", c.error);
    }
    case_release(&c);
}

static void GL_APIENTRY dispatch_nothing(GLuint x, GLuint y, GLuint z)
{
    (void)x, (void)y, (void)z;
}

static void compile_everything(void)
{
    commit_count_destroy(cases_device(), true); /* it would miss what does not run */
    cases_device()->gl.DispatchCompute = dispatch_nothing;
    cases_device()->dispatch_work = 1u << 28; /* the device's speed, as if measured before */
    for (size_t k = 0; glcnn_registry[k]; k++)
        for (size_t i = 0; reference_of(glcnn_registry[k])->cases[i].settings; i++)
            for (size_t f = 0; f < sizeof formats / sizeof *formats && case_is_tried(i); f++)
                compile_case(glcnn_registry[k], i, formats[f]);
}

static void find_parts(void *user, const struct program *program)
{
    *(size_t *)user += strstr(program->source, "first_weight") != NULL;
}

/* Weights longer than a storage block are packed by a shader of their own. Where the block is too short
 * for anything else the case is refused, and its sources are those above. */
static void compile_weights_in_parts(void)
{
    static const char *const kernels[] = {"convolution", "convolution_gradient", "fully_connected",
                                          "fully_connected_gradient"};
    const struct glcnn_limits limits = cases_device()->info.limits;
    size_t found = 0;
    const glcnn_log_callback log = cases_device()->log;
    cases_device()->log = NULL;
    cases_device()->info.limits.storage_block_size = SHORT_BLOCK;
    cases_device()->info.limits.buffer_offset_alignment = 16;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        const struct glcnn_descriptor *d = descriptor_find(kernels[k]);
        for (size_t i = 0; reference_of(d)->cases[i].settings; i++) {
            struct case_run c;
            if (case_prepare(&c, d, i, GLCNN_CHANNEL_FORMAT_FLOAT32)) {
                c.run.device = cases_device();
                run_kernel(&c.run, d);
            }
            case_release(&c);
        }
    }
    cases_device()->info.limits = limits;
    cases_device()->log = log;
    program_cache_each(cases_device()->programs, find_parts, &found);
    CU_ASSERT(found >= FEWEST_OF_PARTS);
    printf("%zu in parts ", found);
}

static void source_path(const struct dump *dump, size_t index, char path[128])
{
    snprintf(path, 128, "%s/%zu.comp", dump->folder, index);
}

static void write_source(void *user, const struct program *program)
{
    struct dump *dump = user;
    char path[128];
    source_path(dump, dump->count++, path);
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT(fputs(program->source, file) >= 0);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void check_precision(void *user, const struct program *program)
{
    (void)user;
    CU_ASSERT_PTR_NULL(strstr(program->source, "mediump"));
    CU_ASSERT_PTR_NULL(strstr(program->source, "lowp"));
    CU_ASSERT_PTR_NOT_NULL(strstr(program->source, "precision highp float;"));
    CU_ASSERT_EQUAL(strncmp(program->source, "#version 310 es\n", 16), 0);
}

/* Runs the validator; what it says about refused sources goes to standard error. */
static int validate(const struct dump *dump)
{
    char command[256];
    snprintf(command, sizeof command,
             "cd %s && glslangValidator -S comp *.comp >log || { cat log >&2; false; }",
             dump->folder);
    return system(command);
}

static void remove_folder(const struct dump *dump)
{
    char path[128];
    for (size_t i = 0; i < dump->count; i++) {
        source_path(dump, i, path);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/log", dump->folder);
    unlink(path);
    rmdir(dump->folder);
}

static void sources_are_strict(void)
{
    const char *temporary = getenv("TMPDIR");
    struct dump dump = {0};
    snprintf(dump.folder, sizeof dump.folder, "%s/glcnn-XXXXXX",
             temporary && strlen(temporary) < 40 ? temporary : "/tmp");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dump.folder));
    program_cache_each(cases_device()->programs, write_source, &dump);
    CU_ASSERT(dump.count >= FEWEST_SOURCES);
    CU_ASSERT_EQUAL(validate(&dump), 0);
    remove_folder(&dump);
    printf("%zu sources ", dump.count);
}

static void sources_keep_full_precision(void)
{
    program_cache_each(cases_device()->programs, check_precision, NULL);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(compile_everything), UNIT_TEST(compile_weights_in_parts),
        UNIT_TEST(sources_are_strict), UNIT_TEST(sources_keep_full_precision), CU_TEST_INFO_NULL};
    if (system("command -v glslangValidator >/dev/null") != 0) {
        puts("there is no glslangValidator");
        return 77;
    }
    return cases_main("shaders", tests, argc, argv);
}
