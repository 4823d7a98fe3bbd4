/* Keypoints of annotations as numbers: NAME_x and NAME_y of each in the picture's pixels, -1 and -1 of one that
 * is not labelled. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/name_table.h"
#include "set.h"

/* ---- Names ---- */

static void free_numbers(char **names, uint32_t count)
{
    for (uint32_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

/* NAME_x and NAME_y of each point, to be released with free_numbers; NULL: not enough memory. */
static char **name_numbers(const struct names *points)
{
    const uint32_t count = 2 * points->count;
    char **names = calloc((size_t)count + 1, sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) {
        const char *point = points->texts[i / 2];
        const size_t size = strlen(point) + sizeof "_x";
        if (!(names[i] = malloc(size))) {
            free_numbers(names, count);
            return NULL;
        }
        snprintf(names[i], size, "%s_%c", point, "xy"[i % 2]);
    }
    return names;
}

/* The numbers of an image, which a network may have given, are the points' by name. */
static glcnn_status order_numbers(glcnn_dataset *set, const struct names *points,
                                  char *const *names, const char *path, char *error)
{
    const uint32_t count = set->info.class_count;
    uint32_t *order = set->keypoints.order;
    if (count != 2 * points->count)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: has %u keypoints, and there are %u numbers of an image; expected "
                         "x and y of each",
                         path, points->count, count);
    free(order);
    order = set->keypoints.order = calloc((size_t)count + 1, sizeof *order);
    if (!order || !names_match((const char *const *)set->class_names, count,
                               (const char *const *)names, count, order))
        return fail_no_memory(error, path);
    for (uint32_t i = 0; i < count; i++)
        if (order[i] == NAME_UNMATCHED)
            return fail_with(error, GLCNN_MALFORMED_DATA,
                             "%.250s: has the keypoint \"%.60s\"; expected \"%.60s\"", path,
                             points->texts[i / 2], set->class_names[i]);
    return GLCNN_SUCCESS;
}

/* The numbers of an image are the points', unless they have names already. */
static glcnn_status take_numbers(glcnn_dataset *set, const struct names *points, const char *path,
                                 char *error)
{
    char **names = name_numbers(points);
    if (!names)
        return fail_no_memory(error, path);
    const bool is_first = set->info.class_count == 0;
    if (is_first) {
        set->class_names = names;
        set->info.class_count = 2 * points->count;
    }
    const glcnn_status status = order_numbers(set, points, names, path, error);
    if (!is_first)
        free_numbers(names, 2 * points->count);
    return status;
}

static bool are_same(const struct names *a, const struct names *b)
{
    uint32_t i = 0;
    while (i < a->count && i < b->count && strcmp(a->texts[i], b->texts[i]) == 0)
        i++;
    return a->count == b->count && i == a->count;
}

glcnn_status keypoints_take_names(glcnn_dataset *set, struct names *points, const char *path,
                                  char *error)
{
    struct keypoints *k = &set->keypoints;
    glcnn_status status = GLCNN_SUCCESS;
    if (k->names.count > 0 || points->count == 0) {
        if (points->count > 0 && !are_same(&k->names, points))
            status = fail_with(error, GLCNN_MALFORMED_DATA,
                               "%.250s: has objects of %u and of %u keypoints, or of other names; "
                               "expected the same of all",
                               path, k->names.count, points->count);
        names_free(points);
        return status;
    }
    if (points->count > GLCNN_DATA_MAX_NUMBERS / 2)
        status =
            fail_with(error, GLCNN_MALFORMED_DATA, "%.250s: has %u keypoints; expected %d at most",
                      path, points->count, GLCNN_DATA_MAX_NUMBERS / 2);
    if (status == GLCNN_SUCCESS)
        status = take_numbers(set, points, path, error);
    if (status == GLCNN_SUCCESS)
        k->names = *points;
    else
        names_free(points);
    *points = (struct names){.texts = NULL};
    return status;
}

glcnn_status keypoints_count_names(glcnn_dataset *set, uint32_t count, const char *path,
                                   char *error)
{
    struct names counted = {.texts = NULL};
    uint32_t number;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = names_add_number(&counted, i, path, &number, error);
    if (status == GLCNN_SUCCESS)
        return keypoints_take_names(set, &counted, path, error);
    names_free(&counted);
    return status;
}

void keypoints_free(struct keypoints *keypoints)
{
    names_free(&keypoints->names);
    free(keypoints->order);
    *keypoints = (struct keypoints){.order = NULL};
}

/* ---- One picture ---- */

static bool has_labelled(const struct raw_box *box)
{
    for (uint32_t i = 0; i < box->point_count; i++)
        if (box->points[3 * i + 2] > 0)
            return true;
    return false;
}

static double area_of(const struct raw_box *box)
{
    return (box->right - box->left) * (box->bottom - box->top);
}

/* A picture has the numbers of one object. */
static const struct raw_box *find_largest(const struct annotation *a, uint32_t *count)
{
    const struct raw_box *largest = NULL;
    *count = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct raw_box *box = &a->boxes[i];
        if (!has_labelled(box))
            continue;
        ++*count;
        if (!largest || area_of(box) > area_of(largest))
            largest = box;
    }
    return largest;
}

static glcnn_status add_points(glcnn_dataset *set, const struct annotation *a,
                               const struct raw_box *box, struct item *item, char *error)
{
    const struct picture *head = &set->files[item->index].head;
    const double scale[2] = {a->in_pixels ? 1 : head->width, a->in_pixels ? 1 : head->height};
    float values[GLCNN_DATA_MAX_NUMBERS];
    for (uint32_t i = 0; i < 2 * box->point_count; i++) {
        const double *point = box->points + 3 * (i / 2);
        values[set->keypoints.order[i]] = point[2] > 0 ? (float)(point[i % 2] * scale[i % 2]) : -1;
    }
    return set_add_numbers(set, values, 1, 2 * box->point_count, a->path, &item->target, error);
}

glcnn_status keypoints_attach(glcnn_dataset *set, glcnn_data_part part, const struct annotation *a,
                              char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct item *item = &set->parts[part].items[set->parts[part].count - 1];
    const char *picture = set->files[item->index].path;
    uint32_t count;
    const struct raw_box *box = find_largest(a, &count);
    if (!box) {
        snprintf(message, sizeof message, "%.300s: has no object with labelled keypoints", picture);
        set_remove_picture(set, part);
        return set_complain(set, 1, message, error);
    }
    if (count > 1 && set->boxes.several.count++ == 0)
        snprintf(set->boxes.several.first, sizeof set->boxes.several.first,
                 "%.200s: has %u objects with keypoints, and those of the largest box are taken",
                 picture, count);
    return add_points(set, a, box, item, error);
}

/* ---- Columns that are points ---- */

static bool has_mark(const char *name, const char *mark)
{
    const size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, mark) == 0;
}

static bool are_points(const glcnn_dataset *set)
{
    const uint32_t count = set->info.class_count;
    bool are = count > 0 && count % 2 == 0;
    for (uint32_t i = 0; i + 1 < count && are; i += 2)
        are = has_mark(set->class_names[i], "_x") && has_mark(set->class_names[i + 1], "_y");
    return are;
}

void keypoints_tell_odd(glcnn_dataset *set)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct numbers *n = &set->numbers;
    size_t zeros = 0, shares = 0, seen = 0;
    if (set->file_count == 0 || !are_points(set))
        return;
    for (size_t i = 0; i < (size_t)n->rows * n->count; i += 2) {
        const float x = n->values[i], y = n->values[i + 1];
        zeros += x == 0 && y == 0;
        if (x < 0 || y < 0 || (x == 0 && y == 0))
            continue;
        seen++;
        shares += x <= 1 && y <= 1;
    }
    snprintf(message, sizeof message,
             "%.200s: %zu points lie at 0, 0, the corner of their pictures; of those that are not "
             "labelled -1, -1 is expected",
             set->path, zeros);
    if (zeros > 0 && set->keypoints.names.count == 0)
        set_decide(set, message);
    snprintf(
        message, sizeof message,
        "%.200s: all points lie within 0 to 1, as shares of a picture would; expected pixels of "
        "the picture",
        set->path);
    if (seen > 0 && shares == seen)
        set_decide(set, message);
}
