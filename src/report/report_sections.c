/* The sections of a report's page, each with a caption for whoever has never seen such a picture. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "task/confusion.h"
#include "report_page.h"
#include "matrix.h"
#include "plot.h"
#include "svg.h"

#define CLASSES_MAX    100 /* rows of classes */
#define MATRIX_MAX     40  /* classes of a matrix that can be read */
#define CURVES_MAX     24  /* classes with a curve */
#define CONFUSIONS_MAX 8   /* that are told in words */
#define PLOT_WIDTH     480
#define PLOT_HEIGHT    240

/* ---- Training curves ---- */

/* ", at the end 0.1234 in training"; nothing where there is no curve. */
static void describe_end(char *text, size_t size, const struct plot_line *line)
{
    size_t used = strlen(text);
    if (line->count > 0)
        snprintf(text + used, size - used, ", at the end %.4f in %s", line->y[line->count - 1],
                 line->name);
}

static void print_plot(FILE *f, const char *name, const struct plot_line lines[2])
{
    char label[256];
    const struct plot_panel panel = {name, {lines[0], lines[1]}};
    const struct plot plot = {NULL, "epoch", &panel, 1, PLOT_WIDTH, PLOT_HEIGHT};
    snprintf(label, sizeof label, "Curves of %.60s by epoch", name);
    describe_end(label, sizeof label, &lines[0]);
    describe_end(label, sizeof label, &lines[1]);
    fprintf(f, "<figure>");
    plot_embed(f, &plot, label);
    fprintf(f, "</figure>\n");
}

static void print_epochs(FILE *f, const struct curve *v, const char *measure)
{
    fprintf(f,
            "<details><summary>Validation of each epoch as numbers</summary>\n<table>\n"
            "<tr><th class=\"n\">epoch</th><th class=\"n\">loss</th>"
            "<th class=\"n\">%s</th></tr>\n",
            measure);
    for (size_t i = 0; i < v->count; i++)
        fprintf(f,
                "<tr><td class=\"n\">%.0f</td><td class=\"n\">%.4f</td>"
                "<td class=\"n\">%.4f</td></tr>\n",
                v->x[i], v->loss[i], v->accuracy[i]);
    fprintf(f, "</table></details>\n");
}

static void explain_curves(FILE *f, const struct task *task)
{
    fprintf(f, "<h2>How training went</h2>\n"
               "<p>The loss is what training makes smaller: how far the network's answers are from "
               "the right ones. ");
    if (task->explains)
        fprintf(f, "The %s is %s. ", task->measure, task->explains);
    fprintf(f,
            "An epoch is one pass over all training pictures; the pale band shows how far single "
            "steps reach. Validation pictures are not learned from: where their loss rises while "
            "that of training falls, the network learns its pictures by heart, and more training "
            "does not help.</p>\n");
}

void report_print_curves(FILE *f, const struct report *r)
{
    if (!r->curves)
        return;
    const struct task *task = r->score->task;
    const struct curve *t = &r->curves->training, *v = &r->curves->validation;
    const size_t measured = task->count_right ? t->count : 0; /* in training */
    const struct plot_line loss[] = {{"training", t->x, t->loss, t->count, false},
                                     {"validation", v->x, v->loss, v->count, true}},
                           value[] = {{measured > 0 ? "training" : NULL, t->x, t->accuracy,
                                       measured, false},
                                      {"validation", v->x, v->accuracy, v->count, true}};
    explain_curves(f, task);
    fprintf(f, "<div class=\"pair\">\n");
    print_plot(f, "loss", loss);
    print_plot(f, task->measure, value);
    fprintf(f, "</div>\n");
    print_epochs(f, v, task->measure);
}

/* ---- Classes ---- */

static void print_share(FILE *f, uint64_t part, uint64_t all)
{
    if (all > 0)
        fprintf(f, "<td class=\"n\">%.4f</td>", (double)part / (double)all);
    else
        fprintf(f, "<td class=\"n\">none</td>");
}

static void print_number(FILE *f, double value)
{
    if (isnan(value))
        fprintf(f, "<td class=\"n\">none</td>");
    else
        fprintf(f, "<td class=\"n\">%.4f</td>", value);
}

static bool counts_pixels(const struct report *r)
{
    return !r->score->task->count_right;
}

/* F1 is 2 both / (one + other), intersection over union both / (one + other - both). */
static void print_class(FILE *f, const struct report *r, const struct class_result *c)
{
    fprintf(f, "<tr><td>");
    svg_escape(f, r->names[c->class]);
    fprintf(f, "</td><td class=\"n\">%" PRIu64 "</td>", c->count);
    print_share(f, c->right, c->taken);
    print_share(f, c->right, c->count);
    print_number(f, counts_pixels(r) ? c->f1 / (2 - c->f1) : c->f1);
    if (r->findings->bins)
        print_number(f, c->average_precision);
    fprintf(f, "</tr>\n");
}

static uint64_t sum_counts(const struct report *r, const struct class_result *results)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < r->score->form.classes; k++)
        sum += results[k].count;
    return sum;
}

/* Means over the classes that have a number. */
static void print_means(FILE *f, const struct report *r, const struct class_result *results)
{
    double sums[4] = {0}, counts[4] = {0};
    for (uint32_t k = 0; k < r->score->form.classes; k++) {
        const struct class_result *c = &results[k];
        const double values[] = {
            (double)c->right / (double)c->taken, (double)c->right / (double)c->count,
            counts_pixels(r) ? c->f1 / (2 - c->f1) : c->f1, c->average_precision};
        for (size_t i = 0; i < 4; i++)
            if (!isnan(values[i])) {
                sums[i] += values[i];
                counts[i]++;
            }
    }
    fprintf(f, "<tr><th>mean of all</th><td class=\"n\">%" PRIu64 "</td>", sum_counts(r, results));
    for (size_t i = 0; i < (r->findings->bins ? 4 : 3); i++)
        print_number(f, sums[i] / counts[i]);
    fprintf(f, "</tr>\n");
}

static void explain_classes(FILE *f, const struct report *r)
{
    const char *counted = r->score->task->counted;
    fprintf(
        f,
        "<h2>Each class</h2>\n"
        "<p>On the %s%s pictures, the hardest class first. <b>Precision</b>: of the %s that were taken for "
        "the class, the share that is of it. <b>Recall</b>: of the %s of the class, the share "
        "that was found. ",
        counts_pixels(r) ? "pixels of the " : "", r->part, counted, counted);
    fprintf(f, counts_pixels(r) ? "<b>IoU</b>: the pixels that are both to those that are either. "
                                : "<b>F1</b> is high only where both are. ");
    fprintf(f, "1 is the best value of each.</p>\n");
}

void report_print_classes(FILE *f, const struct report *r, const struct class_result *results)
{
    const uint32_t classes = r->score->form.classes,
                   shown = classes < CLASSES_MAX ? classes : CLASSES_MAX;
    explain_classes(f, r);
    fprintf(f,
            "<div class=\"wide\"><table>\n<tr><th>class</th>"
            "<th class=\"n\">%s</th><th class=\"n\">precision</th>"
            "<th class=\"n\">recall</th><th class=\"n\">%s</th>%s</tr>\n",
            r->score->task->counted, counts_pixels(r) ? "IoU" : "F1",
            r->findings->bins ? "<th class=\"n\">average precision</th>" : "");
    for (uint32_t i = 0; i < shown; i++)
        print_class(f, r, &results[i]);
    print_means(f, r, results);
    fprintf(f, "</table></div>\n");
    if (shown < classes)
        fprintf(f, "<p class=\"faint\">%u more classes are not listed.</p>\n", classes - shown);
}

/* ---- What is not a class ---- */

/* "mean_absolute_error" as words. */
static void print_head(FILE *f, const cJSON *item)
{
    char words[64];
    snprintf(words, sizeof words, "%s", item->string);
    for (char *c = words; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    fprintf(f, cJSON_IsNumber(item) ? "<th class=\"n\">" : "<th>");
    svg_escape(f, words);
    fprintf(f, "</th>");
}

static void print_item(FILE *f, const cJSON *item)
{
    fprintf(f, cJSON_IsNumber(item) ? "<td class=\"n\">" : "<td>");
    if (cJSON_IsNumber(item))
        fprintf(f, "%.5g", item->valuedouble);
    else
        svg_escape(f, cJSON_IsString(item) ? item->valuestring : "none");
    fprintf(f, "</td>");
}

static void print_entries(FILE *f, const cJSON *array)
{
    const cJSON *entry, *item;
    fprintf(f, "<div class=\"wide\"><table>\n<tr>");
    cJSON_ArrayForEach(item, array->child) print_head(f, item);
    fprintf(f, "</tr>\n");
    cJSON_ArrayForEach(entry, array)
    {
        fprintf(f, "<tr>");
        cJSON_ArrayForEach(item, entry) print_item(f, item);
        fprintf(f, "</tr>\n");
    }
    fprintf(f, "</table></div>\n");
}

void report_print_parts(FILE *f, const struct report *r)
{
    const cJSON *array;
    cJSON *json = score_json(r->score, r->names);
    cJSON_ArrayForEach(array, json)
    {
        if (!cJSON_IsArray(array) || !cJSON_IsObject(array->child))
            continue;
        fprintf(f, "<h2>Each of the %s</h2>\n<p>On the %s pictures.</p>\n", r->score->task->classes,
                r->part);
        print_entries(f, array);
    }
    cJSON_Delete(json);
}

/* ---- Confusions ---- */

struct mixed {
    uint32_t of, as;
    uint64_t count;
};

/* Keeps the largest, in falling order; *known are there already. */
static void keep(struct mixed *most, size_t *known, struct mixed c)
{
    size_t at = *known < CONFUSIONS_MAX ? *known : CONFUSIONS_MAX - 1;
    if (*known == CONFUSIONS_MAX && most[at].count >= c.count)
        return;
    *known += *known < CONFUSIONS_MAX;
    for (; at > 0 && most[at - 1].count < c.count; at--)
        most[at] = most[at - 1];
    most[at] = c;
}

static size_t find_mixed(const struct score *score, struct mixed most[CONFUSIONS_MAX])
{
    const uint32_t classes = score->form.classes;
    size_t known = 0;
    for (uint32_t of = 0; of < classes; of++)
        for (uint32_t as = 0; as < classes; as++) {
            const uint64_t count = (uint64_t)score->sums[(size_t)of * classes + as];
            if (of != as && count > 0)
                keep(most, &known, (struct mixed){of, as, count});
        }
    return known;
}

static uint64_t count_of(const struct report *r, const struct class_result *results, uint32_t class)
{
    for (uint32_t i = 0; i < r->score->form.classes; i++)
        if (results[i].class == class)
            return results[i].count;
    return 0;
}

static void print_mixed(FILE *f, const struct report *r, const struct class_result *results)
{
    struct mixed most[CONFUSIONS_MAX];
    size_t count = find_mixed(r->score, most);
    fprintf(f, count > 0 ? "<p>The most frequent mistakes:</p>\n<ul>\n"
                         : "<p>There are no mistakes.</p>\n");
    for (size_t i = 0; i < count; i++) {
        fprintf(f, "<li><b>");
        svg_escape(f, r->names[most[i].of]);
        fprintf(f, "</b> was taken for <b>");
        svg_escape(f, r->names[most[i].as]);
        fprintf(f, "</b> in %" PRIu64 " of %" PRIu64 " %s</li>\n", most[i].count,
                count_of(r, results, most[i].of), r->score->task->counted);
    }
    fprintf(f, count > 0 ? "</ul>\n" : "");
}

static void draw_matrix(FILE *f, const struct report *r)
{
    char label[128];
    const uint32_t classes = r->score->form.classes;
    snprintf(label, sizeof label,
             "Confusion matrix of %u classes, %s by their true and their "
             "predicted class",
             classes, r->score->task->counted);
    fprintf(f, "<p>Each row of the matrix is a true class, each column what the network said. Blue "
               "cells, from the upper left to the lower right, are right answers; orange ones are "
               "mistakes. The stronger the colour of a cell, the larger its share of the row.</p>\n"
               "<figure class=\"wide\">");
    matrix_embed_score(f, r->score, r->names, label);
    fprintf(f, "</figure>\n");
}

void report_print_matrix(FILE *f, const struct report *r, const struct class_result *results)
{
    fprintf(f, "<h2>What is taken for what</h2>\n");
    print_mixed(f, r, results);
    if (r->score->form.classes <= MATRIX_MAX)
        draw_matrix(f, r);
}

/* ---- Precision and recall ---- */

#define FRAME      120 /* pixels of a side */
#define FRAME_LEFT 44  /* room for numbers and names of the axes, a little more than below */
#define FRAME_TOP  8

struct small_curve {
    struct precision_recall points[FINDINGS_BINS];
    size_t count;
};

static void draw_frame(FILE *f)
{
    static const char *const texts[] = {"0", "0.5", "1"};
    for (int i = 0; i <= 2; i++) {
        double x = FRAME_LEFT + FRAME * i / 2.0, y = FRAME_TOP + FRAME - FRAME * i / 2.0;
        fprintf(f, "<path class=\"grid\" d=\"M%.1f %dv%dM%d %.1fh%d\"/>\n", x, FRAME_TOP, FRAME,
                FRAME_LEFT, y, FRAME);
        svg_text(f, x, FRAME_TOP + FRAME + 15, "number", i == 2 ? "end" : "middle", texts[i]);
        svg_text(f, FRAME_LEFT - 4, y + 4.5, "number", "end", texts[i]);
    }
}

static void draw_small(FILE *f, const void *what)
{
    const struct small_curve *c = what;
    draw_frame(f);
    svg_text(f, FRAME_LEFT + FRAME / 2, FRAME_TOP + FRAME + 31, "number", "middle", "recall");
    fprintf(f, "<g transform=\"translate(12 %d) rotate(-90)\">", FRAME_TOP + FRAME / 2);
    svg_text(f, 0, 0, "number", "middle", "precision");
    fprintf(f, "</g>\n");
    fprintf(f, "<path class=\"line\" stroke=\"#1f5fa8\" d=\"");
    for (size_t i = 0; i < c->count; i++) {
        double x = FRAME_LEFT + FRAME * c->points[i].recall;
        double y = FRAME_TOP + FRAME * (1 - c->points[i].precision);
        if (i == 0)
            fprintf(f, "M%d %.1f", FRAME_LEFT, y);
        fprintf(f, "L%.1f %.1f", x, y);
    }
    fprintf(f, "\"/>\n");
}

static void print_small(FILE *f, const struct report *r, const struct class_result *c)
{
    char label[512];
    struct small_curve curve;
    curve.count = findings_curve(r->findings, c->class, curve.points);
    if (curve.count == 0)
        return;
    const struct svg svg = {FRAME_LEFT + FRAME + 6, FRAME_TOP + FRAME + FRAME_LEFT - 8, draw_small,
                            &curve};
    snprintf(label, sizeof label, "Precision by recall of %.300s: average precision %.4f",
             r->names[c->class], c->average_precision);
    fprintf(f, "<figure>");
    svg_embed(f, &svg, label);
    fprintf(f, "<figcaption><b>");
    svg_escape(f, r->names[c->class]);
    fprintf(f, "</b><small>average precision %.4f</small></figcaption></figure>\n",
            c->average_precision);
}

static int compare_precision(const void *a, const void *b)
{
    double p = ((const struct class_result *)a)->average_precision,
           q = ((const struct class_result *)b)->average_precision;
    p = isnan(p) ? 2 : p;
    q = isnan(q) ? 2 : q;
    return (p > q) - (p < q);
}

void report_print_precision(FILE *f, const struct report *r, const struct class_result *results)
{
    const uint32_t classes = r->score->form.classes,
                   shown = classes < CURVES_MAX ? classes : CURVES_MAX;
    struct class_result *sorted = r->findings->bins ? malloc(classes * sizeof *sorted) : NULL;
    if (!sorted)
        return;
    memcpy(sorted, results, classes * sizeof *sorted);
    qsort(sorted, classes, sizeof *sorted, compare_precision);
    fprintf(f,
            "<h2>Precision and recall</h2>\n"
            "<p>A picture can be taken for a class from any probability on. A low threshold finds "
            "all pictures of the class (recall, to the right) but takes others for it too; a high "
            "one is seldom wrong (precision, upwards) but misses some. A curve that stays near the "
            "upper right corner is good at both; the area below it is the average "
            "precision.%s</p>\n<div class=\"curves\">\n",
            shown < classes ? " The hardest classes are shown." : "");
    for (uint32_t i = 0; i < shown; i++)
        print_small(f, r, &sorted[i]);
    fprintf(f, "</div>\n");
    free(sorted);
}
