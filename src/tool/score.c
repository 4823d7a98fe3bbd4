/* Confusion matrices. */
#include "score.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "support/escape.h"
#include "support/matrix.h"
#include "support/network.h"

#define WORST    10 /* confusions that are told of more classes than a matrix has room for */
#define NAME_MAX 16 /* columns of a name */
#define NAME_MIN 8  /* the same in a matrix, where its figures leave no more */
#define BESIDE   17 /* columns of a matrix beside its names and counts */

bool score_begin(struct score *score, uint32_t classes)
{
    *score = (struct score){.classes = classes};
    score->confusion = calloc((size_t)classes * classes, sizeof *score->confusion);
    return score->confusion;
}

void score_free(struct score *score)
{
    free(score->confusion);
    *score = (struct score){.classes = 0};
}

bool scores_are_finite(const float *scores, uint32_t classes)
{
    for (uint32_t k = 0; k < classes; k++)
        if (!isfinite(scores[k]))
            return false;
    return true;
}

static double loss_of(float probability)
{
    return -log(probability < FLT_MIN ? (double)FLT_MIN : (double)probability);
}

static void add_not_finite(struct score *score, uint32_t index)
{
    score->loss = NAN;
    if (score->not_finite++ == 0)
        score->first = index;
}

static void add_finite(struct score *score, const float *row, uint32_t label)
{
    uint32_t best = network_best(row, score->classes);
    score->loss += loss_of(row[label]);
    score->right += best == label;
    score->confusion[(size_t)label * score->classes + best]++;
}

void score_add(struct score *score, const float *probabilities, const uint32_t *labels,
               const uint32_t *indices, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        const float *row = probabilities + (size_t)n * score->classes;
        if (labels[n] >= score->classes)
            continue;
        score->count++;
        if (scores_are_finite(row, score->classes))
            add_finite(score, row, labels[n]);
        else
            add_not_finite(score, indices[n]);
    }
}

double score_accuracy(const struct score *score)
{
    return score->count > 0 ? (double)score->right / (double)score->count : NAN;
}

double score_loss(const struct score *score)
{
    return score->count > 0 ? score->loss / (double)score->count : NAN;
}

/* ---- For people ---- */

static uint64_t cell(const struct score *score, uint32_t of, uint32_t as)
{
    return score->confusion[(size_t)of * score->classes + as];
}

static uint64_t count_of(const struct score *score, uint32_t of)
{
    uint64_t sum = 0;
    for (uint32_t as = 0; as < score->classes; as++)
        sum += cell(score, of, as);
    return sum;
}

/* Columns of a name that is cut to NAME_MAX. */
static int columns(const char *name)
{
    size_t count = escaped_columns(name);
    return count < NAME_MAX ? (int)count : NAME_MAX;
}

static void print_name(const char *name, int width)
{
    output("%-*.*s", width, width, name);
}

static int widest(const char *const *names, uint32_t count)
{
    int width = 5;
    for (uint32_t i = 0; i < count; i++)
        width = columns(names[i]) > width ? columns(names[i]) : width;
    return width;
}

static void print_share(const struct score *score, uint32_t of)
{
    uint64_t all = count_of(score, of);
    if (all > 0)
        output("  %8.4f", (double)cell(score, of, of) / (double)all);
    else
        output("  %8s", "none");
}

/* A zero is a dot: what is not there is not to be read. */
static void print_row(const struct score *score, uint32_t of, int width)
{
    for (uint32_t as = 0; as < score->classes; as++)
        if (cell(score, of, as) > 0)
            output(" %*" PRIu64, width, cell(score, of, as));
        else
            output(" %*s", width, ".");
    output("\n");
}

/* Characters of the widest cell, and of a column's number. */
static int cell_width(const struct score *score)
{
    int width = 3;
    for (size_t i = 0; i < (size_t)score->classes * score->classes; i++) {
        int digits = snprintf(NULL, 0, "%" PRIu64, score->confusion[i]);
        width = digits > width ? digits : width;
    }
    return width;
}

/* What the counts leave for names, of those that are so wide; 0: too little. */
static int matrix_width(const struct score *score, int width)
{
    int64_t counts = (int64_t)score->classes * (cell_width(score) + 1);
    int64_t room = PRINT_COLUMNS - BESIDE - counts;
    if (room < NAME_MIN)
        return 0;
    return width < room ? width : (int)room;
}

static void print_matrix(const struct score *score, const char *const *names, int width)
{
    int cells = cell_width(score);
    output("\n%*s  accuracy    predicted\n%*s", width + 4, "", width + 17, "");
    for (uint32_t as = 0; as < score->classes; as++)
        output(" %*u", cells, as);
    output("\n");
    for (uint32_t of = 0; of < score->classes; of++) {
        output("%3u ", of);
        print_name(names[of], width);
        print_share(score, of);
        output("   ");
        print_row(score, of, cells);
    }
}

struct confusion {
    uint32_t of, as;
    uint64_t count;
};

/* The largest that come behind `before` in the order of falling counts, then of places. */
static bool next_worst(const struct score *score, const struct confusion *before,
                       struct confusion *worst)
{
    *worst = (struct confusion){.count = 0};
    for (uint32_t of = 0; of < score->classes; of++)
        for (uint32_t as = 0; as < score->classes; as++) {
            uint64_t count = of == as ? 0 : cell(score, of, as);
            bool is_behind = count < before->count ||
                             (count == before->count &&
                              (of > before->of || (of == before->of && as > before->as)));
            if (is_behind && count > worst->count)
                *worst = (struct confusion){of, as, count};
        }
    return worst->count > 0;
}

static void print_worst(const struct score *score, const char *const *names, int width)
{
    struct confusion before = {.count = UINT64_MAX}, at;
    output("\n%*s  accuracy\n", width, "");
    for (uint32_t of = 0; of < score->classes; of++) {
        print_name(names[of], width);
        print_share(score, of);
        output("\n");
    }
    output("\n");
    for (unsigned i = 0; i < WORST && next_worst(score, &before, &at); i++) {
        print_name(names[at.of], width);
        output("  predicted as ");
        print_name(names[at.as], width);
        output("  %" PRIu64 " of %" PRIu64 "\n", at.count, count_of(score, at.of));
        before = at;
    }
}

void score_print(const struct score *score, const char *const *names)
{
    int width = widest(names, score->classes);
    int narrow = matrix_width(score, width);
    if (narrow > 0)
        print_matrix(score, names, narrow);
    else
        print_worst(score, names, width);
}

bool score_draw(const struct score *score, const char *const *names, const char *path,
                char error[GLCNN_ERROR_LENGTH])
{
    char title[64];
    snprintf(title, sizeof title, "accuracy %.4f on %" PRIu64 " images", score_accuracy(score),
             score->count);
    return matrix_write(path, &(struct matrix){title, names, score->classes, score->confusion},
                        error);
}

/* ---- For programs ---- */

cJSON *score_json(const struct score *score, const char *const *names)
{
    cJSON *json = cJSON_CreateObject(), *classes = cJSON_AddArrayToObject(json, "classes");
    cJSON_AddNumberToObject(json, "count", (double)score->count);
    cJSON_AddNumberToObject(json, "accuracy", score_accuracy(score));
    cJSON_AddNumberToObject(json, "loss", score_loss(score));
    for (uint32_t of = 0; of < score->classes; of++) {
        cJSON *entry = cJSON_CreateObject();
        uint64_t all = count_of(score, of);
        cJSON_AddStringToObject(entry, "name", names[of]);
        cJSON_AddNumberToObject(entry, "count", (double)all);
        cJSON_AddNumberToObject(entry, "accuracy",
                                all > 0 ? (double)cell(score, of, of) / (double)all : NAN);
        cJSON *row = cJSON_AddArrayToObject(entry, "taken_for");
        for (uint32_t as = 0; as < score->classes; as++)
            cJSON_AddItemToArray(row, cJSON_CreateNumber((double)cell(score, of, as)));
        cJSON_AddItemToArray(classes, entry);
    }
    return json;
}
