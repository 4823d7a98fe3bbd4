/* A report's page: its frame, and what it begins and ends with. */
#include "report.h"

#include <glcnn/io.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "report_page.h"
#include "svg.h"

/* Nothing that the page names can be loaded, and no script run, whatever a name is. */
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
    "style-src 'unsafe-inline'\"/>\n<title>";

void report_print_head(FILE *f, const char *title, const char *state)
{
    fprintf(f, "%s", head);
    svg_escape(f, title);
    fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", report_style);
    svg_escape(f, title);
    fprintf(f, "</h1>\n<p class=\"faint\">");
    svg_escape(f, state);
    fprintf(f, "</p>\n");
}

static void print_numbers(FILE *f, const struct report *r)
{
    fprintf(f, "<div class=\"tiles\">\n");
    for (size_t i = 0; i < r->number_count; i++) {
        fprintf(f, "<div class=\"tile\"><span>");
        svg_escape(f, r->numbers[i].name);
        fprintf(f, "</span><b>");
        svg_escape(f, r->numbers[i].text);
        fprintf(f, "</b><small>");
        svg_escape(f, r->numbers[i].note ? r->numbers[i].note : "");
        fprintf(f, "</small></div>\n");
    }
    fprintf(f, "</div>\n");
}

static void print_cell(FILE *f, const char *text)
{
    fprintf(f, "<td>");
    svg_escape(f, text ? text : "");
    fprintf(f, "</td>");
}

static void print_settings(FILE *f, const struct report *r)
{
    fprintf(f, "<h2 id=\"settings\">Settings</h2>\n<p>With these the run can be repeated. Options "
               "that are 0 are off, and not listed.</p>\n<div class=\"wide\"><table>\n"
               "<tr><th>setting</th><th>value</th><th>meaning</th></tr>\n");
    for (size_t i = 0; i < r->setting_count; i++) {
        fprintf(f, "<tr>");
        print_cell(f, r->settings[i].name);
        print_cell(f, r->settings[i].text);
        print_cell(f, r->settings[i].note);
        fprintf(f, "</tr>\n");
    }
    fprintf(f, "</table></div>\n");
}

void report_print_foot(FILE *f)
{
    char when[64] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(when, sizeof when, " on %Y-%m-%d at %H:%M", &local);
    fprintf(f,
            "<footer>Written by GLCNN %s%s. The page is complete by itself: it can be copied, "
            "sent and printed.</footer>\n</body>\n</html>\n",
            glcnn_version(), when);
}

/* ---- Classes ---- */

bool report_has_classes(const struct report *r)
{
    return r->score->task->counted;
}

static void add_counts(const struct score *score, struct class_result *results)
{
    const uint32_t classes = score->form.classes;
    for (uint32_t of = 0; of < classes; of++)
        for (uint32_t as = 0; as < classes; as++) {
            const uint64_t count = (uint64_t)score->sums[(size_t)of * classes + as];
            results[of].count += count;
            results[as].taken += count;
            results[of].right += of == as ? count : 0;
        }
}

/* Those without a picture, of which nothing is known, come last. */
static int compare(const void *a, const void *b)
{
    const struct class_result *one = a, *other = b;
    double p = isnan(one->f1) ? 2 : one->f1, q = isnan(other->f1) ? 2 : other->f1;
    return p != q ? (p < q ? -1 : 1) : (one->class > other->class) - (one->class < other->class);
}

/* NULL: not enough memory. */
static struct class_result *find_results(const struct report *r)
{
    const uint32_t classes = r->score->form.classes;
    struct class_result *results = calloc(classes, sizeof *results);
    if (!results || !report_has_classes(r))
        return results;
    add_counts(r->score, results);
    for (uint32_t k = 0; k < classes; k++) {
        struct class_result *c = &results[k];
        c->class = k;
        c->f1 =
            c->count + c->taken > 0 ? 2 * (double)c->right / (double)(c->count + c->taken) : NAN;
        c->average_precision = r->findings->bins ? findings_average_precision(r->findings, k) : NAN;
    }
    qsort(results, classes, sizeof *results, compare);
    return results;
}

/* ---- All ---- */

static void print_page(FILE *f, const struct report *r, const struct class_result *results)
{
    report_print_head(f, r->title, r->state);
    print_numbers(f, r);
    report_print_curves(f, r);
    if (report_has_classes(r)) {
        report_print_classes(f, r, results);
        report_print_matrix(f, r, results);
        report_print_precision(f, r, results);
    } else {
        report_print_parts(f, r);
    }
    report_print_worst(f, r);
    report_print_samples(f, r);
    print_settings(f, r);
    report_print_foot(f);
}

static bool format_page(const struct report *r, char **text, size_t *size)
{
    struct class_result *results = find_results(r);
    FILE *f = results ? open_memstream(text, size) : NULL;
    bool good = f;
    if (f) {
        print_page(f, r, results);
        good = !ferror(f);
        good = fclose(f) == 0 && good;
    }
    free(results);
    return good;
}

bool report_write(const struct report *report, const char *path, char error[GLCNN_ERROR_LENGTH])
{
    char *text = NULL;
    size_t size = 0;
    bool good = format_page(report, &text, &size);
    if (!good)
        snprintf(error, GLCNN_ERROR_LENGTH, "%.300s: cannot be written: not enough memory", path);
    good = good && glcnn_file_save(path, text, size, error) == GLCNN_SUCCESS;
    free(text);
    return good;
}
