/* Two reports of glcnn bench --json beside each other, row by row. */
#include "bench.h"

#include <glcnn/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_MAX   ((size_t)1 << 30)
#define LEAST_CHANGE 0.05 /* that counts; more where samples spread more */

cJSON *bench_read(const struct tool_command *command, const char *path)
{
    char error[GLCNN_ERROR_LENGTH];
    void *text;
    size_t size;
    if (glcnn_file_load(path, REPORT_MAX, &text, &size, error) != GLCNN_SUCCESS) {
        complain(command, EXIT_FAILED, "%s", error);
        return NULL;
    }
    cJSON *json = cJSON_Parse(text);
    free(text);
    if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "rows")))
        return json;
    cJSON_Delete(json);
    complain(command, EXIT_FAILED, "%s is no report of \"glcnn bench --json\": it has no rows",
             path);
    return NULL;
}

static double number(const cJSON *row, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

/* The same name, and the same work. */
static const cJSON *find_row(const cJSON *report, const cJSON *like)
{
    const cJSON *row;
    cJSON_ArrayForEach(
        row, cJSON_GetObjectItemCaseSensitive(
                 report, "rows")) if (strcmp(text_of(row, "name"), text_of(like, "name")) == 0 &&
                                      cJSON_Compare(cJSON_GetObjectItemCaseSensitive(row, "shape"),
                                                    cJSON_GetObjectItemCaseSensitive(like, "shape"),
                                                    true)) return row;
    return NULL;
}

struct changes {
    size_t compared, slower, faster;
    size_t differing;  /* rows whose calls a commit differ, which are not compared */
    double logarithms; /* of the ratios, for their geometric mean */
};

/* Calls in a commit. Reports of old have one in each and do not say so. */
static double calls_of(const cJSON *row)
{
    double calls = number(row, "repeats");
    return calls > 0 ? calls : 1;
}

/* A call that has a commit to itself takes the flush of it besides, which counts for little in one
 * that takes long alone: a row may have become so, or have been so. */
static bool are_alike(const cJSON *old_row, const cJSON *row)
{
    double before = calls_of(old_row), now = calls_of(row);
    const cJSON *fewer = before < now ? old_row : row;
    return before == now || 1e-3 * number(fewer, "milliseconds") >= BENCH_SHORT;
}

static void refuse_row(const cJSON *old_row, const cJSON *row, struct changes *changes)
{
    changes->differing++;
    output("%-46s %9.4f %9.4f %6s\n  not compared: calls in a commit were %g and are %g\n",
           text_of(row, "name"), number(old_row, "milliseconds"), number(row, "milliseconds"), "-",
           calls_of(old_row), calls_of(row));
}

static void compare_row(const cJSON *old_row, const cJSON *row, struct changes *changes)
{
    double before = number(old_row, "milliseconds"), now = number(row, "milliseconds");
    double noise = fmax(LEAST_CHANGE, fmax(number(old_row, "spread"), number(row, "spread")));
    double ratio = now / before;
    bool slower = ratio > 1 + noise, faster = ratio < 1 / (1 + noise);
    changes->compared++;
    changes->slower += slower;
    changes->faster += faster;
    changes->logarithms += log(ratio);
    output("%-46s %9.4f %9.4f %6.3f %s\n", text_of(row, "name"), before, now, ratio,
           slower   ? "slower"
           : faster ? "faster"
                    : "same");
}

static bool has_time(const cJSON *row)
{
    return number(row, "milliseconds") > 0;
}

static void print_devices(const cJSON *old_report, const cJSON *new_report)
{
    const char *before =
        text_of(cJSON_GetObjectItemCaseSensitive(old_report, "device"), "renderer");
    const char *now = text_of(cJSON_GetObjectItemCaseSensitive(new_report, "device"), "renderer");
    if (strcmp(before, now) != 0)
        output("The devices differ: %s before, %s now.\n", before, now);
    if (strcmp(text_of(old_report, "format"), text_of(new_report, "format")) != 0)
        output("The formats differ: %s before, %s now.\n", text_of(old_report, "format"),
               text_of(new_report, "format"));
}

int bench_compare(const struct tool_command *command, const cJSON *old_report,
                  const cJSON *new_report)
{
    struct changes changes = {0};
    const cJSON *row;
    print_devices(old_report, new_report);
    output("%-46s %9s %9s %6s\n", "row", "before ms", "now ms", "ratio");
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(new_report, "rows"))
    {
        const cJSON *old_row = find_row(old_report, row);
        if (old_row && has_time(old_row) && has_time(row))
            (are_alike(old_row, row) ? compare_row : refuse_row)(old_row, row, &changes);
    }
    if (changes.differing > 0)
        output("%zu rows are not compared: of several short calls in a commit each takes less time "
               "than one alone; measure both reports anew\n",
               changes.differing);
    if (changes.compared == 0 && changes.differing > 0)
        return complain(command, EXIT_FAILED,
                        "no row of the reports has as many calls in a commit in both");
    if (changes.compared == 0)
        return complain(command, EXIT_FAILED, "the reports have no row of one shape in common");
    output("%zu rows: %zu slower, %zu faster; geometric mean of the ratios %.3f\n",
           changes.compared, changes.slower, changes.faster,
           exp(changes.logarithms / (double)changes.compared));
    return changes.slower > 0 ? EXIT_FAILED : EXIT_GOOD;
}
