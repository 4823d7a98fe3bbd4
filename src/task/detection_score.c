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
    uint32_t label, picture;
    float score;
    uint16_t right, ignored;
};

/* One that counts. */
struct detection_object {
    uint32_t label, picture;
    float area;
    uint16_t matched; /* a bit for each threshold */
};

bool detection_score_begin(glcnn_detection_score *score, uint32_t classes)
{
    *score = (glcnn_detection_score){.classes = classes};
    score->objects = calloc(classes, sizeof *score->objects);
    return score->objects;
}

void detection_score_free(glcnn_detection_score *score)
{
    free(score->objects);
    free(score->outcomes);
    free(score->each);
    free(score->of_class);
    *score = (glcnn_detection_score){.classes = 0};
}

/* ---- A class of a picture ---- */

struct scene {
    const struct glcnn_object *objects;
    uint32_t object_count;
    const struct glcnn_detection *found;
    uint32_t found_count;
    uint16_t *matched; /* of each object, a bit for each threshold */
};

static double threshold_at(unsigned i)
{
    return 0.5 + 0.05 * i;
}

static double overlap_with(const struct glcnn_detection *d, const struct glcnn_object *o)
{
    if (!o->crowd)
        return glcnn_box_overlap(&d->box, &o->box);
    struct glcnn_box common = box_intersection(&d->box, &o->box);
    double area = glcnn_box_area(&d->box);
    return area > 0 ? glcnn_box_area(&common) / area : 0;
}

/* False: to find or to miss it is neither right nor wrong. */
static bool does_count(const struct glcnn_object *o)
{
    return !o->crowd && !o->difficult;
}

/* The object that the detection matches with threshold t, of those of its class that count or of those that
 * do not: the largest overlap, of equal ones the last. What counts is matched once. */
static uint32_t match(const struct scene *scene, const struct glcnn_detection *d, unsigned t,
                      bool counts)
{
    double best = threshold_at(t);
    uint32_t found = NONE;
    for (uint32_t i = 0; i < scene->object_count; i++) {
        const struct glcnn_object *o = &scene->objects[i];
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

static struct detection_outcome judge(const struct scene *scene, const struct glcnn_detection *d)
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

static bool grow(void **items, size_t size, size_t count, size_t *capacity, size_t more)
{
    if (*capacity - count >= more)
        return true;
    const size_t wanted = 2 * *capacity + more;
    void *grown = realloc(*items, wanted * size);
    if (!grown)
        return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

static bool make_room(glcnn_detection_score *score, uint32_t outcomes, uint32_t objects)
{
    void *found = score->outcomes, *each = score->each;
    const bool good =
        grow(&found, sizeof *score->outcomes, score->count, &score->capacity, outcomes) &&
        grow(&each, sizeof *score->each, score->object_count, &score->object_capacity, objects);
    score->outcomes = found;
    score->each = each;
    return good;
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
static void judge_all(glcnn_detection_score *score, const struct scene *scene,
                      const struct detection_outcome *order)
{
    uint32_t of_class = 0;
    for (uint32_t i = 0; i < scene->found_count; i++) {
        of_class = i > 0 && order[i].label == order[i - 1].label ? of_class + 1 : 0;
        if (of_class >= MOST)
            continue;
        struct detection_outcome outcome = judge(scene, &scene->found[order[i].order]);
        outcome.order = score->count;
        outcome.picture = score->pictures;
        score->outcomes[score->count++] = outcome;
    }
}

static void keep_objects(glcnn_detection_score *score, const struct scene *scene)
{
    for (uint32_t i = 0; i < scene->object_count; i++) {
        const struct glcnn_object *o = &scene->objects[i];
        if (!does_count(o))
            continue;
        score->objects[o->label]++;
        score->each[score->object_count++] = (struct detection_object){
            o->label, score->pictures, (float)glcnn_box_area(&o->box), scene->matched[i]};
    }
}

bool detection_score_add(glcnn_detection_score *score, const struct glcnn_object *objects,
                         uint32_t object_count, const struct glcnn_detection *found,
                         uint32_t found_count)
{
    struct scene scene = {objects, object_count, found, found_count,
                          calloc(object_count + 1, sizeof *scene.matched)};
    struct detection_outcome *order = calloc(found_count + 1, sizeof *order);
    bool good = scene.matched && order && make_room(score, found_count, object_count);
    for (uint32_t i = 0; good && i < found_count; i++)
        order[i] = (struct detection_outcome){
            .order = i, .label = found[i].label, .score = found[i].score};
    if (good) {
        qsort(order, found_count, sizeof *order, compare_outcomes);
        judge_all(score, &scene, order);
        keep_objects(score, &scene);
        score->pictures++;
        score->is_sorted = false;
    }
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

/* How often its picture was drawn; times NULL: each once. */
static uint32_t times_of(const struct detection_outcome *outcome, const uint32_t *times)
{
    return times ? times[outcome->picture] : 1;
}

/* The precision is not known before all behind it are: from the last detection to the first, each
 * with the recalls that it is the first to reach. Detections of a picture that was drawn n times stand n
 * times one behind another. */
static double average_precision(struct outcomes of, uint64_t objects, unsigned t,
                                const uint32_t *times)
{
    uint64_t right = 0, wrong = 0;
    for (size_t i = 0; i < of.count; i++) {
        const uint32_t n = times_of(&of.items[i], times);
        right += of.items[i].right >> t & 1 ? n : 0;
        wrong += (of.items[i].right | of.items[i].ignored) >> t & 1 ? 0 : n;
    }
    double best = 0, sum = 0;
    int recall = RECALLS - 1; /* the largest that is still to be reached */
    for (size_t i = of.count; i-- > 0;)
        for (uint32_t n = times_of(&of.items[i], times); n > 0; n--) {
            for (; recall >= 0 && (double)right / (double)objects < recall * 0.01; recall--)
                sum += best;
            if (right + wrong > 0)
                best = fmax(best, (double)right / (double)(right + wrong));
            right -= of.items[i].right >> t & 1;
            wrong -= !((of.items[i].right | of.items[i].ignored) >> t & 1);
        }
    return (sum + best * (recall + 1)) / RECALLS;
}

static struct outcomes outcomes_of(const glcnn_detection_score *score, uint32_t label, size_t *next)
{
    size_t first = *next;
    while (*next < score->count && score->outcomes[*next].label == label)
        ++*next;
    return (struct outcomes){score->outcomes + first, *next - first};
}

static void sort(glcnn_detection_score *score)
{
    if (score->count > 0 && !score->is_sorted)
        qsort(score->outcomes, score->count, sizeof *score->outcomes, compare_outcomes);
    score->is_sorted = true;
}

void detection_score_result(glcnn_detection_score *score, struct detection_precision *precision)
{
    double sums[DETECTION_THRESHOLDS] = {0}, all = 0;
    uint32_t classes = 0;
    size_t next = 0;
    sort(score);
    for (uint32_t c = 0; c < score->classes; c++) {
        struct outcomes of = outcomes_of(score, c, &next);
        double averages[DETECTION_THRESHOLDS] = {NAN};
        for (unsigned t = 0; score->objects[c] > 0 && t < DETECTION_THRESHOLDS; t++)
            sums[t] += averages[t] = average_precision(of, score->objects[c], t, NULL);
        classes += score->objects[c] > 0;
        if (precision->of_class_at_50)
            precision->of_class_at_50[c] = averages[0];
    }
    for (unsigned t = 0; t < DETECTION_THRESHOLDS; t++)
        all += sums[t];
    precision->at_50 = classes > 0 ? sums[0] / classes : NAN;
    precision->at_all = classes > 0 ? all / classes / DETECTION_THRESHOLDS : NAN;
}

/* ---- Pictures drawn anew ---- */

size_t detection_score_work(const glcnn_detection_score *score)
{
    return score->count + score->object_count + score->classes;
}

double detection_score_drawn(glcnn_detection_score *score, const uint32_t *times)
{
    uint64_t *objects = calloc(score->classes, sizeof *objects);
    double sum = 0;
    uint32_t classes = 0;
    size_t next = 0;
    sort(score);
    for (size_t i = 0; objects && i < score->object_count; i++)
        objects[score->each[i].label] += times[score->each[i].picture];
    for (uint32_t c = 0; objects && c < score->classes; c++) {
        struct outcomes of = outcomes_of(score, c, &next);
        sum += objects[c] > 0 ? average_precision(of, objects[c], 0, times) : 0;
        classes += objects[c] > 0;
    }
    free(objects);
    return classes > 0 ? sum / classes : NAN;
}

/* ---- Sizes ---- */

static int compare_areas(const void *a, const void *b)
{
    const struct detection_object *x = a, *y = b;
    return x->area < y->area ? -1 : x->area > y->area;
}

static unsigned count_matched(const struct detection_object *o)
{
    unsigned count = 0;
    for (unsigned t = 0; t < DETECTION_THRESHOLDS; t++)
        count += o->matched >> t & 1;
    return count;
}

/* Objects that are equally large are of one size. */
static void share_by_size(const struct detection_object *sorted, size_t count,
                          struct detection_size sizes[DETECTION_SIZES])
{
    for (size_t i = 0, size = 0; i < count; i++) {
        const bool is_other = i > 0 && sorted[i].area > sorted[i - 1].area;
        if (is_other && DETECTION_SIZES * i >= (size + 1) * count)
            size = DETECTION_SIZES * i / count;
        sizes[size].count++;
        sizes[size].side = sqrt((double)sorted[i].area);
        sizes[size].found += count_matched(&sorted[i]);
    }
    for (size_t size = 0; size < DETECTION_SIZES; size++)
        sizes[size].found = sizes[size].count > 0 ? sizes[size].found / DETECTION_THRESHOLDS /
                                                        (double)sizes[size].count
                                                  : NAN;
}

bool detection_score_sizes(const glcnn_detection_score *score,
                           struct detection_size sizes[DETECTION_SIZES])
{
    const size_t count = score->object_count;
    struct detection_object *sorted = malloc((count + 1) * sizeof *sorted);
    memset(sizes, 0, DETECTION_SIZES * sizeof *sizes);
    if (!sorted)
        return false;
    if (count > 0) {
        memcpy(sorted, score->each, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_areas);
    }
    share_by_size(sorted, count, sizes);
    free(sorted);
    return true;
}

/* ---- Numbers ---- */

enum {
    HEAD = 3,    /* pictures, and how many outcomes and objects there are */
    OUTCOME = 5, /* numbers of an outcome: label, picture, score, and the bits */
    OBJECT = 4   /* of an object: label, picture, area, and the bits */
};

size_t detection_score_numbers(const glcnn_detection_score *score)
{
    return HEAD + OUTCOME * score->count + OBJECT * score->object_count;
}

void detection_score_write(const glcnn_detection_score *score, double *numbers)
{
    *numbers++ = score->pictures;
    *numbers++ = (double)score->count;
    *numbers++ = (double)score->object_count;
    for (size_t i = 0; i < score->object_count; i++) {
        const struct detection_object *o = &score->each[i];
        *numbers++ = o->label;
        *numbers++ = o->picture;
        *numbers++ = (double)o->area;
        *numbers++ = o->matched;
    }
    for (size_t i = 0; i < score->count; i++) {
        const struct detection_outcome *o = &score->outcomes[i];
        *numbers++ = o->label;
        *numbers++ = o->picture;
        *numbers++ = (double)o->score;
        *numbers++ = o->right;
        *numbers++ = o->ignored;
    }
}

static void read_outcome(glcnn_detection_score *score, const double *numbers)
{
    score->outcomes[score->count] =
        (struct detection_outcome){.order = score->count,
                                   .label = (uint32_t)numbers[0],
                                   .picture = score->pictures + (uint32_t)numbers[1],
                                   .score = (float)numbers[2],
                                   .right = (uint16_t)numbers[3],
                                   .ignored = (uint16_t)numbers[4]};
    score->count++;
}

static void read_object(glcnn_detection_score *score, const double *numbers)
{
    const struct detection_object object = {(uint32_t)numbers[0],
                                            score->pictures + (uint32_t)numbers[1],
                                            (float)numbers[2], (uint16_t)numbers[3]};
    score->objects[object.label]++;
    score->each[score->object_count++] = object;
}

/* The numbers that a row has, of `count` that there are; 0: it is none. */
static size_t read_row(glcnn_detection_score *score, const double *numbers, size_t count)
{
    if (count < HEAD || numbers[1] > (double)count || numbers[2] > (double)count)
        return 0;
    const size_t outcomes = (size_t)numbers[1], objects = (size_t)numbers[2],
                 first = HEAD + OBJECT * objects, row = first + OUTCOME * outcomes;
    if (row > count || !make_room(score, (uint32_t)outcomes, (uint32_t)objects))
        return 0;
    for (size_t i = 0; i < objects; i++)
        read_object(score, numbers + HEAD + OBJECT * i);
    for (size_t i = 0; i < outcomes; i++)
        read_outcome(score, numbers + first + OUTCOME * i);
    score->pictures += (uint32_t)numbers[0];
    return row;
}

bool detection_score_read(glcnn_detection_score *score, const double *numbers, size_t count)
{
    size_t at = 0, row = 1;
    memset(score->objects, 0, score->classes * sizeof *score->objects);
    score->count = score->object_count = 0;
    score->pictures = 0;
    score->is_sorted = false;
    while (at < count && (row = read_row(score, numbers + at, count - at)) > 0)
        at += row;
    return row > 0;
}

/* ---- For users ---- */

glcnn_detection_score *glcnn_detection_score_create(uint32_t class_count)
{
    glcnn_detection_score *score = class_count > 0 ? calloc(1, sizeof *score) : NULL;
    if (score && detection_score_begin(score, class_count) &&
        (score->of_class = calloc(class_count, sizeof *score->of_class)))
        return score;
    glcnn_detection_score_destroy(&score);
    return NULL;
}

void glcnn_detection_score_destroy(glcnn_detection_score **score)
{
    if (*score)
        detection_score_free(*score);
    free(*score);
    *score = NULL;
}

glcnn_status glcnn_detection_score_add(glcnn_detection_score *score,
                                       const struct glcnn_object *objects, uint32_t object_count,
                                       const struct glcnn_detection *found, uint32_t found_count)
{
    for (uint32_t i = 0; i < object_count; i++)
        if (objects[i].label >= score->classes)
            return GLCNN_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < found_count; i++)
        if (found[i].label >= score->classes || !isfinite(found[i].score))
            return GLCNN_INVALID_ARGUMENT;
    return detection_score_add(score, objects, object_count, found, found_count)
               ? GLCNN_SUCCESS
               : GLCNN_OUT_OF_MEMORY;
}

const struct glcnn_detection_result *glcnn_detection_score_result(glcnn_detection_score *score)
{
    struct detection_precision p = {.of_class_at_50 = score->of_class};
    detection_score_result(score, &p);
    score->result =
        (struct glcnn_detection_result){p.at_50, p.at_all, score->classes, score->of_class};
    return &score->result;
}
