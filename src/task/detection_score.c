/* Matching by picture, then precision over recall by class. */
#include "detection_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST    100 /* detections of a class in a picture */
#define RECALLS 101
#define NONE    UINT32_MAX

/* A detection, with a bit for each threshold. */
struct detection_outcome {
    size_t order; /* among equal scores */
    uint32_t label;
    float score;
    uint16_t right, ignored;
};

bool detection_score_begin(struct detection_score *score, uint32_t classes)
{
    *score = (struct detection_score){.classes = classes};
    score->objects = calloc(classes, sizeof *score->objects);
    return score->objects;
}

void detection_score_free(struct detection_score *score)
{
    free(score->objects);
    free(score->outcomes);
    *score = (struct detection_score){.classes = 0};
}

/* ---- A class of a picture ---- */

struct scene {
    const struct object *objects;
    uint32_t object_count;
    const struct detection *found;
    uint32_t found_count;
    uint16_t *matched; /* of each object, a bit for each threshold */
};

static double threshold_at(unsigned i)
{
    return 0.5 + 0.05 * i;
}

static double overlap_with(const struct detection *d, const struct object *o)
{
    if (!o->crowd)
        return box_overlap(&d->box, &o->box);
    struct box common = box_intersection(&d->box, &o->box);
    double area = box_area(&d->box);
    return area > 0 ? box_area(&common) / area : 0;
}

/* False: to find or to miss it is neither right nor wrong. */
static bool does_count(const struct object *o)
{
    return !o->crowd && !o->difficult;
}

/* The object that the detection matches with threshold t, of those of its class that count or of those that
 * do not: the largest overlap, of equal ones the last. What counts is matched once. */
static uint32_t match(const struct scene *scene, const struct detection *d, unsigned t, bool counts)
{
    double best = threshold_at(t);
    uint32_t found = NONE;
    for (uint32_t i = 0; i < scene->object_count; i++) {
        const struct object *o = &scene->objects[i];
        if (o->label != d->label || does_count(o) != counts ||
            (counts && scene->matched[i] >> t & 1))
            continue;
        double overlap = overlap_with(d, o);
        if (overlap >= best) {
            best = overlap;
            found = i;
        }
    }
    return found;
}

static struct detection_outcome judge(const struct scene *scene, const struct detection *d)
{
    struct detection_outcome outcome = {.label = d->label, .score = d->score};
    for (unsigned t = 0; t < DETECTION_THRESHOLDS; t++) {
        const uint16_t bit = (uint16_t)(1u << t);
        uint32_t object = match(scene, d, t, true);
        if (object != NONE) {
            scene->matched[object] |= bit;
            outcome.right |= bit;
        } else if (match(scene, d, t, false) != NONE) {
            outcome.ignored |= bit;
        }
    }
    return outcome;
}

/* ---- A picture ---- */

static bool make_room(struct detection_score *score, uint32_t count)
{
    if (score->capacity - score->count >= count)
        return true;
    size_t capacity = 2 * score->capacity + count;
    void *outcomes = realloc(score->outcomes, capacity * sizeof *score->outcomes);
    if (!outcomes)
        return false;
    score->outcomes = outcomes;
    score->capacity = capacity;
    return true;
}

/* By class, the likelier first, of equals as they were given. */
static int compare_outcomes(const void *a, const void *b)
{
    const struct detection_outcome *x = a, *y = b;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Judges those that `order` names, which has them by class and score. */
static void judge_all(struct detection_score *score, const struct scene *scene,
                      const struct detection_outcome *order)
{
    uint32_t of_class = 0;
    for (uint32_t i = 0; i < scene->found_count; i++) {
        of_class = i > 0 && order[i].label == order[i - 1].label ? of_class + 1 : 0;
        if (of_class >= MOST)
            continue;
        struct detection_outcome outcome = judge(scene, &scene->found[order[i].order]);
        outcome.order = score->count;
        score->outcomes[score->count++] = outcome;
    }
}

bool detection_score_add(struct detection_score *score, const struct object *objects,
                         uint32_t object_count, const struct detection *found, uint32_t found_count)
{
    struct scene scene = {objects, object_count, found, found_count,
                          calloc(object_count + 1, sizeof *scene.matched)};
    struct detection_outcome *order = calloc(found_count + 1, sizeof *order);
    bool good = scene.matched && order && make_room(score, found_count);
    for (uint32_t i = 0; good && i < found_count; i++)
        order[i] = (struct detection_outcome){i, found[i].label, found[i].score, 0, 0};
    if (good) {
        qsort(order, found_count, sizeof *order, compare_outcomes);
        judge_all(score, &scene, order);
    }
    for (uint32_t i = 0; good && i < object_count; i++)
        score->objects[objects[i].label] += does_count(&objects[i]);
    free(order);
    free(scene.matched);
    return good;
}

/* ---- All pictures ---- */

/* Outcomes of a class, sorted. */
struct outcomes {
    const struct detection_outcome *items;
    size_t count;
};

/* The precision is not known before all behind it are: from the last detection to the first, each
 * with the recalls that it is the first to reach. */
static double average_precision(struct outcomes of, uint64_t objects, unsigned t)
{
    uint64_t right = 0, wrong = 0;
    for (size_t i = 0; i < of.count; i++) {
        right += of.items[i].right >> t & 1;
        wrong += !((of.items[i].right | of.items[i].ignored) >> t & 1);
    }
    double best = 0, sum = 0;
    int recall = RECALLS - 1; /* the largest that is still to be reached */
    for (size_t i = of.count; i-- > 0;) {
        for (; recall >= 0 && (double)right / (double)objects < recall * 0.01; recall--)
            sum += best;
        if (right + wrong > 0)
            best = fmax(best, (double)right / (double)(right + wrong));
        right -= of.items[i].right >> t & 1;
        wrong -= !((of.items[i].right | of.items[i].ignored) >> t & 1);
    }
    return (sum + best * (recall + 1)) / RECALLS;
}

static struct outcomes outcomes_of(const struct detection_score *score, uint32_t label,
                                   size_t *next)
{
    size_t first = *next;
    while (*next < score->count && score->outcomes[*next].label == label)
        ++*next;
    return (struct outcomes){score->outcomes + first, *next - first};
}

void detection_score_result(struct detection_score *score, struct detection_precision *precision)
{
    double sums[DETECTION_THRESHOLDS] = {0}, all = 0;
    uint32_t classes = 0;
    size_t next = 0;
    if (score->count > 0)
        qsort(score->outcomes, score->count, sizeof *score->outcomes, compare_outcomes);
    for (uint32_t c = 0; c < score->classes; c++) {
        struct outcomes of = outcomes_of(score, c, &next);
        double averages[DETECTION_THRESHOLDS] = {NAN};
        for (unsigned t = 0; score->objects[c] > 0 && t < DETECTION_THRESHOLDS; t++)
            sums[t] += averages[t] = average_precision(of, score->objects[c], t);
        classes += score->objects[c] > 0;
        if (precision->of_class_at_50)
            precision->of_class_at_50[c] = averages[0];
    }
    for (unsigned t = 0; t < DETECTION_THRESHOLDS; t++)
        all += sums[t];
    precision->at_50 = classes > 0 ? sums[0] / classes : NAN;
    precision->at_all = classes > 0 ? all / classes / DETECTION_THRESHOLDS : NAN;
}

/* ---- Numbers ---- */

#define OUTCOME 4 /* numbers of an outcome: label, score, and the bits */

/* How many outcomes, objects of each class, and outcomes. */
size_t detection_score_numbers(const struct detection_score *score)
{
    return 1 + score->classes + OUTCOME * score->count;
}

void detection_score_write(const struct detection_score *score, double *numbers)
{
    *numbers++ = (double)score->count;
    for (uint32_t k = 0; k < score->classes; k++)
        *numbers++ = (double)score->objects[k];
    for (size_t i = 0; i < score->count; i++) {
        const struct detection_outcome *o = &score->outcomes[i];
        *numbers++ = o->label;
        *numbers++ = (double)o->score;
        *numbers++ = o->right;
        *numbers++ = o->ignored;
    }
}

static void read_outcome(struct detection_score *score, const double *numbers)
{
    score->outcomes[score->count] = (struct detection_outcome){.order = score->count,
                                                               .label = (uint32_t)numbers[0],
                                                               .score = (float)numbers[1],
                                                               .right = (uint16_t)numbers[2],
                                                               .ignored = (uint16_t)numbers[3]};
    score->count++;
}

/* The numbers that a row has, of `count` that there are; 0: it is none. */
static size_t read_row(struct detection_score *score, const double *numbers, size_t count)
{
    const size_t head = 1 + score->classes;
    if (count < head || numbers[0] > (double)((count - head) / OUTCOME) ||
        !make_room(score, (uint32_t)numbers[0]))
        return 0;
    const size_t outcomes = (size_t)numbers[0];
    for (uint32_t k = 0; k < score->classes; k++)
        score->objects[k] += (uint64_t)numbers[1 + k];
    for (size_t i = 0; i < outcomes; i++)
        read_outcome(score, numbers + head + OUTCOME * i);
    return head + OUTCOME * outcomes;
}

bool detection_score_read(struct detection_score *score, const double *numbers, size_t count)
{
    size_t at = 0, row = 1;
    memset(score->objects, 0, score->classes * sizeof *score->objects);
    score->count = 0;
    while (at < count && (row = read_row(score, numbers + at, count - at)) > 0)
        at += row;
    return row > 0;
}
