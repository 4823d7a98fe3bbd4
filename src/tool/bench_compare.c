/* Two reports of glcnn bench --json, compared row by row. */
#include "bench.h"

#include <glcnn/io.h>
#include <math.h>
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
    complain(command, EXIT_FAILED, "%s is not a report of \"glcnn bench --json\": it has no rows",
             path);
    return NULL;
}

static double number(const cJSON *row, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

static const cJSON *find_row(const cJSON *report, const cJSON *like)
{
    const cJSON *row = cJSON_GetObjectItemCaseSensitive(report, "rows")->child;
    for (; row; row = row->next)
        if (strcmp(text_of(row, "name"), text_of(like, "name")) == 0 &&
            cJSON_Compare(cJSON_GetObjectItemCaseSensitive(row, "shape"),
                          cJSON_GetObjectItemCaseSensitive(like, "shape"), true))
            return row;
    return NULL;
}

struct changes {
    size_t compared, slower, faster;
    double logarithms; /* of the ratios, for their geometric mean */
};

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

static void print_difference(const char *what, const char *before, const char *now)
{
    if (strcmp(before, now) != 0)
        output("The %s differ: %s before, %s now.\n", what, before, now);
}

int bench_compare(const struct tool_command *command, const cJSON *old_report,
                  const cJSON *new_report)
{
    struct changes changes = {0};
    const cJSON *row = cJSON_GetObjectItemCaseSensitive(new_report, "rows")->child;
    print_difference("devices",
                     text_of(cJSON_GetObjectItemCaseSensitive(old_report, "device"), "renderer"),
                     text_of(cJSON_GetObjectItemCaseSensitive(new_report, "device"), "renderer"));
    print_difference("formats", text_of(old_report, "format"), text_of(new_report, "format"));
    output("%-46s %9s %9s %6s\n", "row", "before ms", "now ms", "ratio");
    for (; row; row = row->next) {
        const cJSON *old_row = find_row(old_report, row);
        if (number(old_row, "milliseconds") > 0 && number(row, "milliseconds") > 0)
            compare_row(old_row, row, &changes);
    }
    if (changes.compared == 0)
        return complain(command, EXIT_FAILED,
                        "the reports have no row with the same name and shape in common");
    output("%zu rows: %zu slower, %zu faster; geometric mean of the ratios %.3f\n",
           changes.compared, changes.slower, changes.faster,
           exp(changes.logarithms / (double)changes.compared));
    return changes.slower > 0 ? EXIT_FAILED : EXIT_GOOD;
}
