/* Confusion matrices as text. */
#include "confusion.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/show.h"
#include "base/escape.h"

#define WORST    10 /* confusions that are told of more classes than a matrix has room for */
#define NAME_MAX 16 /* columns of a name */
#define NAME_MIN 8  /* the same in a matrix, where its figures leave no more */
#define BESIDE   17 /* columns of a matrix beside its names and counts */

/* ---- For people ---- */

static uint64_t cell(const struct confusion *c, uint32_t of, uint32_t as)
{
    return (uint64_t)c->counts[(size_t)of * c->classes + as];
}

struct confusion_tally confusion_tally(const struct confusion *c, uint32_t of)
{
    struct confusion_tally t = {.right = c->counts[(size_t)of * c->classes + of]};
    for (uint32_t i = 0; i < c->classes; i++) {
        t.are += c->counts[(size_t)of * c->classes + i];
        t.taken += c->counts[(size_t)i * c->classes + of];
    }
    return t;
}

uint64_t confusion_count(const struct confusion *c, uint32_t of)
{
    uint64_t sum = 0;
    for (uint32_t as = 0; as < c->classes; as++)
        sum += cell(c, of, as);
    return sum;
}

/* Columns of a name that is cut to NAME_MAX. */
static int columns(const char *name)
{
    size_t count = escaped_columns(name);
    return count < NAME_MAX ? (int)count : NAME_MAX;
}

static void print_name(struct text *text, const char *name, int width)
{
    text_show(text, "%-*.*s", width, width, name);
}

static int widest(const char *const *names, uint32_t count)
{
    int width = 5;
    for (uint32_t i = 0; i < count; i++)
        width = columns(names[i]) > width ? columns(names[i]) : width;
    return width;
}

static void print_share(struct text *text, const struct confusion *c, uint32_t of)
{
    uint64_t all = confusion_count(c, of);
    if (all > 0)
        text_show(text, "  %8.4f", (double)cell(c, of, of) / (double)all);
    else
        text_show(text, "  %8s", "none");
}

/* A zero is a dot: what is not there is not to be read. */
static void print_row(struct text *text, const struct confusion *c, uint32_t of, int width)
{
    for (uint32_t as = 0; as < c->classes; as++)
        if (cell(c, of, as) > 0)
            text_show(text, " %*" PRIu64, width, cell(c, of, as));
        else
            text_show(text, " %*s", width, ".");
    text_show(text, "\n");
}

/* Characters of the widest cell, and of a column's number. */
static int cell_width(const struct confusion *c)
{
    int width = 3;
    for (size_t i = 0; i < (size_t)c->classes * c->classes; i++) {
        int digits = snprintf(NULL, 0, "%" PRIu64, (uint64_t)c->counts[i]);
        width = digits > width ? digits : width;
    }
    return width;
}

/* What the counts leave for names, of those that are so wide; 0: too little. */
static int matrix_width(const struct confusion *c, int width)
{
    int64_t counts = (int64_t)c->classes * (cell_width(c) + 1);
    int64_t room = PRINT_COLUMNS - BESIDE - counts;
    if (room < NAME_MIN)
        return 0;
    return width < room ? width : (int)room;
}

static void print_matrix(struct text *text, const struct confusion *c, const char *const *names,
                         int width)
{
    int cells = cell_width(c);
    text_show(text, "\n%*s  accuracy    predicted\n%*s", width + 4, "", width + 17, "");
    for (uint32_t as = 0; as < c->classes; as++)
        text_show(text, " %*u", cells, as);
    text_show(text, "\n");
    for (uint32_t of = 0; of < c->classes; of++) {
        text_show(text, "%3u ", of);
        print_name(text, names[of], width);
        print_share(text, c, of);
        text_show(text, "   ");
        print_row(text, c, of, cells);
    }
}

struct mistake {
    uint32_t of, as;
    uint64_t count;
};

/* The largest that come behind `before` in the order of falling counts, then of places. */
static bool next_worst(const struct confusion *c, const struct mistake *before,
                       struct mistake *worst)
{
    *worst = (struct mistake){.count = 0};
    for (uint32_t of = 0; of < c->classes; of++)
        for (uint32_t as = 0; as < c->classes; as++) {
            uint64_t count = of == as ? 0 : cell(c, of, as);
            bool is_behind = count < before->count ||
                             (count == before->count &&
                              (of > before->of || (of == before->of && as > before->as)));
            if (is_behind && count > worst->count)
                *worst = (struct mistake){of, as, count};
        }
    return worst->count > 0;
}

static void print_worst(struct text *text, const struct confusion *c, const char *const *names,
                        int width)
{
    struct mistake before = {.count = UINT64_MAX}, at;
    text_show(text, "\n%*s  accuracy\n", width, "");
    for (uint32_t of = 0; of < c->classes; of++) {
        print_name(text, names[of], width);
        print_share(text, c, of);
        text_show(text, "\n");
    }
    text_show(text, "\n");
    for (unsigned i = 0; i < WORST && next_worst(c, &before, &at); i++) {
        print_name(text, names[at.of], width);
        text_show(text, "  predicted as ");
        print_name(text, names[at.as], width);
        text_show(text, "  %" PRIu64 " of %" PRIu64 "\n", at.count, confusion_count(c, at.of));
        before = at;
    }
}

void confusion_print(const struct confusion *c, const char *const *names, struct text *text)
{
    int width = widest(names, c->classes);
    int narrow = matrix_width(c, width);
    if (narrow > 0)
        print_matrix(text, c, names, narrow);
    else
        print_worst(text, c, names, width);
}

/* ---- For programs ---- */

static cJSON *class_json(const struct confusion *c, uint32_t of, const char *name)
{
    cJSON *entry = cJSON_CreateObject();
    uint64_t all = confusion_count(c, of);
    cJSON_AddStringToObject(entry, "name", name);
    cJSON_AddNumberToObject(entry, "count", (double)all);
    cJSON_AddNumberToObject(entry, "accuracy",
                            all > 0 ? (double)cell(c, of, of) / (double)all : NAN);
    cJSON *row = cJSON_AddArrayToObject(entry, "taken_for");
    for (uint32_t as = 0; as < c->classes; as++)
        cJSON_AddItemToArray(row, cJSON_CreateNumber((double)cell(c, of, as)));
    return entry;
}

cJSON *confusion_json(const struct confusion *c, const char *const *names)
{
    cJSON *classes = cJSON_CreateArray();
    for (uint32_t of = 0; of < c->classes; of++)
        cJSON_AddItemToArray(classes, class_json(c, of, names[of]));
    return classes;
}
