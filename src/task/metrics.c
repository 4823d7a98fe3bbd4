/* Metrics of classifiers. */
#include "metrics.h"

#include <math.h>

#include "base/escape.h"
#include "base/show.h"
#include "network.h"

/* ---- Pictures ---- */

/* How many classes come before it in the order of falling probabilities, then of classes. */
static uint32_t rank_of(const float *probabilities, uint32_t classes, uint32_t label)
{
    uint32_t rank = 0;
    for (uint32_t k = 0; k < classes; k++)
        rank += probabilities[k] > probabilities[label] ||
                (probabilities[k] == probabilities[label] && k < label);
    return rank;
}

static int bin_of(double confidence)
{
    int bin = (int)ceil(confidence * METRICS_BINS) - 1;
    return bin < 0 ? 0 : bin < METRICS_BINS ? bin : METRICS_BINS - 1;
}

enum { PICTURES, RIGHT, CONFIDENCE, BIN };

void metrics_add(double sums[METRICS_SUMS], const float *probabilities, uint32_t classes,
                 uint32_t label)
{
    const uint32_t best = network_best(probabilities, classes);
    double *bin = sums + 1 + BIN * bin_of((double)probabilities[best]);
    sums[0] += rank_of(probabilities, classes, label) < METRICS_TOP;
    bin[PICTURES]++;
    bin[RIGHT] += best == label;
    bin[CONFIDENCE] += (double)probabilities[best];
}

static double count_pictures(const double sums[METRICS_SUMS])
{
    double count = 0;
    for (int b = 0; b < METRICS_BINS; b++)
        count += sums[1 + BIN * b + PICTURES];
    return count;
}

double metrics_top(const double sums[METRICS_SUMS])
{
    return sums[0] / count_pictures(sums);
}

double metrics_calibration_error(const double sums[METRICS_SUMS])
{
    double sum = 0;
    for (int b = 0; b < METRICS_BINS; b++)
        sum += fabs(sums[1 + BIN * b + RIGHT] - sums[1 + BIN * b + CONFIDENCE]);
    return sum / count_pictures(sums);
}

/* ---- Classes ---- */

static double share(double of, double all)
{
    return all > 0 ? of / all : 0;
}

struct class_metrics metrics_of_class(const struct confusion *confusion, uint32_t k)
{
    const struct confusion_tally t = confusion_tally(confusion, k);
    return (struct class_metrics){.precision = share(t.right, t.taken),
                                  .recall = share(t.right, t.are),
                                  .f1 = share(2 * t.right, t.are + t.taken)};
}

struct class_metrics metrics_mean(const struct confusion *confusion)
{
    struct class_metrics sum = {0};
    double count = 0;
    for (uint32_t k = 0; k < confusion->classes; k++) {
        const struct confusion_tally t = confusion_tally(confusion, k);
        const struct class_metrics m = metrics_of_class(confusion, k);
        if (t.are + t.taken == 0)
            continue;
        count++;
        sum.precision += m.precision;
        sum.recall += m.recall;
        sum.f1 += m.f1;
    }
    return (struct class_metrics){sum.precision / count, sum.recall / count, sum.f1 / count};
}

/* ---- Answers ---- */

#define NAME_MAX 16 /* columns */

static int widest(const char *const *names, uint32_t count)
{
    size_t width = sizeof "mean" - 1;
    for (uint32_t i = 0; i < count; i++)
        width = escaped_columns(names[i]) > width ? escaped_columns(names[i]) : width;
    return width < NAME_MAX ? (int)width : NAME_MAX;
}

static void print_row(struct text *text, const char *name, int width, struct class_metrics m)
{
    text_show(text, "%-*.*s  %9.4f  %6.4f  %6.4f\n", width, width, name, m.precision, m.recall,
              m.f1);
}

void metrics_print(const double sums[METRICS_SUMS], const struct confusion *confusion,
                   const char *const *names, struct text *text)
{
    const int width = widest(names, confusion->classes);
    text_show(text, "\n%-*s  precision  recall      F1\n", width, "");
    for (uint32_t k = 0; k < confusion->classes; k++)
        print_row(text, names[k], width, metrics_of_class(confusion, k));
    print_row(text, "mean", width, metrics_mean(confusion));
    text_show(text, "\n");
    if (confusion->classes > METRICS_TOP)
        text_show(text, "top-%d accuracy %.4f\n", METRICS_TOP, metrics_top(sums));
    text_show(text, "calibration error %.4f\n", metrics_calibration_error(sums));
}

static void add_class(cJSON *json, struct class_metrics m)
{
    cJSON_AddNumberToObject(json, "precision", m.precision);
    cJSON_AddNumberToObject(json, "recall", m.recall);
    cJSON_AddNumberToObject(json, "f1", m.f1);
}

void metrics_add_json(const double sums[METRICS_SUMS], const struct confusion *confusion,
                      cJSON *json)
{
    cJSON *entry;
    uint32_t k = 0;
    cJSON_AddNumberToObject(json, "top_5_accuracy", metrics_top(sums));
    cJSON_AddNumberToObject(json, "calibration_error", metrics_calibration_error(sums));
    add_class(json, metrics_mean(confusion));
    cJSON_ArrayForEach(entry, cJSON_GetObjectItem(json, "classes"))
        add_class(entry, metrics_of_class(confusion, k++));
}
