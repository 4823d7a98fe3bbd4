/* The device against PyTorch: the cases of tests/golden, which golden/make_golden.py describes and
 * writes. Nothing here knows a kernel: a case is a line of cases.txt with its arrays. Without
 * GLCNN_TEST_CHECK=1 each kernel has its first case, and every fourth after it. */
#include "tests/archive.h"
#include "tests/cases.h"

#include <math.h>

#define FOLDER     "tests/golden/"
#define MAX_ARRAYS 8
#define MAX_CASES  1000
#define MAX_LINE   640

/* A line of cases.txt, cut into words. */
struct golden {
    char line[MAX_LINE];
    const char *kernel, *index, *inputs, *outputs;
    double bound;
    const char *settings[CHECK_SETTINGS];
    size_t setting_count;
};

static struct golden *cases;
static size_t case_count;

/* ---- The list ---- */

static bool cut_line(struct golden *g)
{
    char *rest = NULL, *word;
    g->kernel = strtok_r(g->line, " \n", &rest);
    g->index = strtok_r(NULL, " \n", &rest);
    word = strtok_r(NULL, " \n", &rest);
    g->inputs = strtok_r(NULL, " \n", &rest);
    g->outputs = strtok_r(NULL, " \n", &rest);
    while (g->outputs && g->setting_count < CHECK_SETTINGS &&
           (g->settings[g->setting_count] = strtok_r(NULL, " \n", &rest)))
        g->setting_count++;
    g->bound = word ? strtod(word, NULL) : 0;
    return g->outputs && g->bound > 0 && g->setting_count < CHECK_SETTINGS;
}

static bool read_list(void)
{
    FILE *file = fopen(FOLDER "cases.txt", "r");
    bool good = file && (cases = calloc(MAX_CASES, sizeof *cases));
    while (good && case_count < MAX_CASES && fgets(cases[case_count].line, MAX_LINE, file))
        good = cut_line(&cases[case_count++]);
    if (file)
        fclose(file);
    if (!good)
        fprintf(stderr, FOLDER "cases.txt is not there, or line %zu is malformed\n", case_count);
    return good && case_count > 0;
}

static bool has_golden(const struct glcnn_descriptor *d)
{
    for (size_t i = 0; i < case_count; i++)
        if (strcmp(cases[i].kernel, d->name) == 0)
            return true;
    return false;
}

/* ---- One case ---- */

struct arrays {
    struct glcnn_array items[MAX_ARRAYS];
    struct glcnn_npy files[MAX_ARRAYS];
    char names[MAX_ARRAYS][64];
    size_t count;
};

/* Reads the arrays of a list "name,name". Those that go in and come out again are kept as
 * name.after where they come out. */
static bool read_arrays(struct zip *archive, const struct golden *g, const char *list,
                        const char *others, struct arrays *arrays)
{
    char copy[MAX_LINE], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        size_t i = arrays->count;
        char entry[128];
        if (i == MAX_ARRAYS)
            return false;
        snprintf(arrays->names[i], sizeof arrays->names[i], "%s", name);
        bool again = others && strstr(others, name);
        snprintf(entry, sizeof entry, "%s.%s%s", g->index, name, again ? ".after" : "");
        if (!archive_read(archive, entry, &arrays->files[i]))
            return false;
        arrays->items[i] = (struct glcnn_array){
            .name = arrays->names[i], .rank = arrays->files[i].rank, .data = arrays->files[i].data};
        memcpy(arrays->items[i].shape, arrays->files[i].shape, sizeof arrays->items[i].shape);
        arrays->count++;
    }
    return arrays->count > 0;
}

static void free_arrays(struct arrays *arrays)
{
    for (size_t i = 0; i < MAX_ARRAYS; i++)
        glcnn_npy_destroy(&arrays->files[i]);
}

static size_t count_elements(const struct glcnn_array *array)
{
    size_t count = 1;
    for (uint32_t i = 0; i < array->rank; i++)
        count *= array->shape[i];
    return count;
}

/* Largest error in units of what is allowed. */
static double compare(const struct glcnn_array *found, const struct glcnn_array *wanted,
                      double bound)
{
    double norm = 1, worst = 0;
    size_t count = count_elements(wanted);
    if (count_elements(found) != count)
        return INFINITY;
    for (size_t i = 0; i < count; i++)
        norm = fmax(norm, fabs((double)wanted->data[i]));
    for (size_t i = 0; i < count; i++) {
        double error = fabs((double)found->data[i] - (double)wanted->data[i]) / (bound * norm);
        if (!(error <= worst))
            worst = isnan(error) ? INFINITY : error;
    }
    return worst;
}

static const struct glcnn_array *find(const struct glcnn_array *arrays, size_t count,
                                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(arrays[i].name, name) == 0)
            return &arrays[i];
    return NULL;
}

static void check_outputs(const struct golden *g, const struct arrays *wanted,
                          const struct glcnn_array *found, size_t count)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const struct glcnn_array *output = find(found, count, wanted->names[i]);
        double error = output ? compare(output, &wanted->items[i], g->bound) : INFINITY;
        CU_ASSERT(error <= 1);
        if (!(error <= 1))
            fprintf(stderr, "\n  %s %s: %s is off by %g times its bound\n", g->kernel, g->index,
                    wanted->names[i], error);
    }
}

static bool parse_settings(const struct golden *g, struct glcnn_setting *settings, char *error)
{
    for (size_t i = 0; i < g->setting_count; i++)
        if (glcnn_setting_parse(g->kernel, g->settings[i], &settings[i], error) != GLCNN_SUCCESS)
            return false;
    return true;
}

static void run_case(const struct golden *g, const struct arrays *inputs,
                     const struct arrays *wanted)
{
    struct glcnn_setting settings[CHECK_SETTINGS];
    struct glcnn_array *outputs = NULL;
    size_t count = 0;
    char error[512] = "";
    bool good = parse_settings(g, settings, error) &&
                glcnn_run(cases_device(), g->kernel, settings, g->setting_count, inputs->items,
                          inputs->count, NULL, &outputs, &count, error) == GLCNN_SUCCESS;
    CU_ASSERT(good);
    if (good)
        check_outputs(g, wanted, outputs, count);
    else
        fprintf(stderr, "\n  %s %s: %s\n", g->kernel, g->index, error);
    glcnn_run_destroy(outputs);
}

static void check_case(struct zip *archive, const struct golden *g)
{
    struct arrays inputs = {0}, wanted = {0};
    bool good = read_arrays(archive, g, g->inputs, NULL, &inputs) &&
                read_arrays(archive, g, g->outputs, g->inputs, &wanted);
    CU_ASSERT(good);
    if (good)
        run_case(g, &inputs, &wanted);
    free_arrays(&inputs);
    free_arrays(&wanted);
}

static void device_agrees_with_pytorch(void)
{
    char path[128];
    const char *kernel = cases_kernel()->name;
    snprintf(path, sizeof path, FOLDER "%s.npz", kernel);
    struct zip *archive = archive_open(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(archive);
    size_t own = 0;
    for (size_t i = 0; i < case_count; i++)
        if (strcmp(cases[i].kernel, kernel) == 0 && own++ % (unit_is_check() ? 1 : 4) == 0)
            check_case(archive, &cases[i]);
    CU_ASSERT(own > 0);
    archive_close(archive);
}

/* A case of a kernel that is not in the registry would never run. */
static void every_case_has_a_kernel(void)
{
    for (size_t i = 0; i < case_count; i++)
        CU_ASSERT_PTR_NOT_NULL(descriptor_find(cases[i].kernel));
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo more[] = {UNIT_TEST(every_case_has_a_kernel), CU_TEST_INFO_NULL};
    if (!read_list())
        return EXIT_FAILURE;
    CU_TestInfo *tests = cases_table(device_agrees_with_pytorch, has_golden, more);
    int status = cases_main("golden", tests, argc, argv);
    free(tests);
    free(cases);
    return status;
}
