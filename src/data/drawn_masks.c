/* Masks of pictures whose objects have outlines: drawn as they are asked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/fail.h"
#include "set.h"

#define NO_OBJECT 0 /* the value of a pixel of none; an object has the number of its name and 1 */
#define MAX_NAMES (GLCNN_DATA_NO_CLASS - 1)

static const char background[] = "background";

/* ---- One picture ---- */

static bool add_drawing(struct masks *m, const struct drawing *drawing)
{
    struct drawing *drawings =
        array_grow(m->drawings, m->count, &m->drawing_capacity, sizeof *drawings);
    if (!drawings)
        return false;
    m->drawings = drawings;
    m->drawings[m->count++] = *drawing;
    return true;
}

/* The pixels of a box without an outline have no class: some of them are the object's. */
static glcnn_status add_bare(glcnn_dataset *set, const struct annotation *a,
                             const struct raw_box *box, struct outline *frame, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message,
             "%.200s: %s%zu%s: is a box without an outline, so its pixels have no class", a->path,
             a->before, box->place, a->behind);
    const bool has_room = outline_add_point(frame, box->left, box->top) &&
                          outline_add_point(frame, box->right, box->top) &&
                          outline_add_point(frame, box->right, box->bottom) &&
                          outline_add_point(frame, box->left, box->bottom) &&
                          outline_end_ring(frame);
    return has_room ? boxes_tally(set, &set->boxes.bare, message, error)
                    : fail_no_memory(error, a->path);
}

static glcnn_status add_object(glcnn_dataset *set, const struct picture *head,
                               const struct annotation *a, const struct raw_box *box, char *error)
{
    const double scale[2] = {a->in_pixels ? 1 : head->width, a->in_pixels ? 1 : head->height};
    const bool is_bare = !outline_is(&box->outline);
    const char *reason = NULL;
    struct outline frame = {.points = NULL};
    if (box->label >= MAX_NAMES)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: has more than %d classes; expected fewer for masks", a->path,
                         MAX_NAMES);
    glcnn_status status = is_bare ? add_bare(set, a, box, &frame, error) : GLCNN_SUCCESS;
    if (status == GLCNN_SUCCESS &&
        !objects_add(&set->masks.objects, is_bare ? &frame : &box->outline, scale, head->width,
                     head->height, (uint8_t)(is_bare ? GLCNN_DATA_NO_CLASS : box->label + 1),
                     &reason))
        status = reason ? fail_with(error, GLCNN_MALFORMED_DATA, "%.200s: %s%zu%s: %s", a->path,
                                    a->before, box->place, a->behind, reason)
                        : fail_no_memory(error, a->path);
    outline_free(&frame);
    return status;
}

glcnn_status masks_attach(glcnn_dataset *set, glcnn_data_part part, const struct annotation *a,
                          char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct masks *m = &set->masks;
    struct item *item = &set->parts[part].items[set->parts[part].count - 1];
    const struct picture *head = &set->files[item->index].head;
    struct drawing drawing = {
        .first = m->objects.count, .width = head->width, .height = head->height};
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < a->count && status == GLCNN_SUCCESS; i++)
        status = add_object(set, head, a, &a->boxes[i], message);
    if (status != GLCNN_SUCCESS)
        m->objects.count = drawing.first;
    if (status == GLCNN_OUT_OF_MEMORY || (status != GLCNN_SUCCESS && set->parameters.strict))
        return fail_with(error, status, "%s", message);
    if (status != GLCNN_SUCCESS) {
        set_remove_picture(set, part);
        return set_complain(set, 1, message, error);
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const bool is_bare = !outline_is(&a->boxes[i].outline);
        m->has_objects = m->has_objects || !is_bare;
        m->seen[part][is_bare ? GLCNN_DATA_NO_CLASS : a->boxes[i].label + 1] = true;
    }
    drawing.end = m->objects.count;
    item->target = m->count;
    return add_drawing(m, &drawing) ? GLCNN_SUCCESS : fail_no_memory(error, a->path);
}

/* ---- Classes ---- */

/* Where a list has this class; `count`: it has not. */
static uint32_t find_background(char *const *names, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && strcasecmp(names[i], background) != 0)
        i++;
    return i;
}

/* The names that no network has given, with one more for pixels of no object before them. */
static glcnn_status take_names(glcnn_dataset *set, char ***from, uint32_t *count, char *error)
{
    const bool has_background = find_background(*from, *count) < *count;
    char **names = calloc(*count + (size_t)1, sizeof *names);
    uint32_t n = 0;
    if (names && !has_background && (names[0] = strdup(background)))
        n = 1;
    if (!names || (!has_background && n == 0)) {
        free(names);
        return fail_no_memory(error, set->path);
    }
    memcpy(names + n, *from, *count * sizeof *names);
    free(*from);
    set->class_names = names;
    set->info.class_count = *count + n;
    *from = NULL;
    *count = 0;
    return GLCNN_SUCCESS;
}

/* Names of objects are matched with all classes but the background's, so that those that are numbers count from
 * the first class of objects. */
static glcnn_status map_objects(glcnn_dataset *set, char *error)
{
    const uint32_t count = set->info.class_count, none = find_background(set->class_names, count);
    const char **classes = calloc(count + (size_t)1, sizeof *classes);
    uint32_t *map = calloc(set->names.count + (size_t)1, sizeof *map);
    char decision[GLCNN_ERROR_LENGTH] = "";
    uint32_t n = 0;
    glcnn_status status = classes && map ? GLCNN_SUCCESS : fail_no_memory(error, set->path);
    bool names_background = find_background(set->names.texts, set->names.count) < set->names.count;
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        if (i != none || names_background)
            classes[n++] = set->class_names[i];
    if (status == GLCNN_SUCCESS && set->names.count > 0)
        status = names_order(&set->names, classes, n, set->path, map, decision, error);
    if (status == GLCNN_SUCCESS && *decision)
        set_decide(set, decision);
    memset(set->masks.class_of, GLCNN_DATA_NO_CLASS, sizeof set->masks.class_of);
    if (none < count)
        set->masks.class_of[NO_OBJECT] = (uint8_t)none;
    for (uint32_t i = 0; i < set->names.count && status == GLCNN_SUCCESS; i++)
        set->masks.class_of[i + 1] =
            (uint8_t)(map[i] + (!names_background && map[i] >= none ? 1 : 0));
    free(classes);
    free(map);
    return status;
}

static glcnn_status check_objects(const glcnn_dataset *set, char *error)
{
    char reason[GLCNN_ERROR_LENGTH];
    set_first_reason(set, reason, sizeof reason);
    for (uint32_t i = NO_OBJECT + 1; i < GLCNN_DATA_NO_CLASS; i++)
        if (set->masks.seen[GLCNN_DATA_PART_TRAINING][i])
            return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.150s: no picture of the training part has an object with an outline (%u "
                     "pictures were skipped); expected polygons or runs, or pictures with masks%s",
                     set->path, set->skipped, reason);
}

static void tell_background(glcnn_dataset *set)
{
    char message[GLCNN_ERROR_LENGTH];
    const uint8_t none = set->masks.class_of[NO_OBJECT];
    if (none == GLCNN_DATA_NO_CLASS)
        snprintf(
            message, sizeof message,
            "%.200s: masks are drawn of the outlines of objects; pixels of none have no class, "
            "since none is called \"%s\"",
            set->path, background);
    else
        snprintf(message, sizeof message,
                 "%.200s: masks are drawn of the outlines of objects; pixels of none are the class "
                 "\"%.60s\"",
                 set->path, set->class_names[none]);
    set_decide(set, message);
}

static void tell_unseen(glcnn_dataset *set)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct masks *m = &set->masks;
    bool seen[256] = {false};
    for (uint32_t i = 0; i < GLCNN_DATA_NO_CLASS; i++)
        if (m->class_of[i] != GLCNN_DATA_NO_CLASS)
            seen[m->class_of[i]] |= m->seen[GLCNN_DATA_PART_TRAINING][i] || i == NO_OBJECT;
    for (uint32_t i = 0; i < set->info.class_count; i++) {
        if (seen[i])
            continue;
        snprintf(message, sizeof message,
                 "%.250s: the training part has no object of the class \"%.100s\"", set->path,
                 set->class_names[i]);
        set_decide(set, message);
        return;
    }
}

/* Sorts the names that objects have, where nothing lists them. */
static glcnn_status sort_names(glcnn_dataset *set, struct names *sorted, char *error)
{
    char decision[GLCNN_ERROR_LENGTH];
    uint32_t number;
    uint32_t *map = calloc(set->names.count + (size_t)1, sizeof *map);
    glcnn_status status = map ? GLCNN_SUCCESS : fail_no_memory(error, set->path);
    *sorted = (struct names){.texts = NULL};
    for (uint32_t i = 0; i < set->names.count && status == GLCNN_SUCCESS; i++)
        status = names_add(sorted, set->names.texts[i], strlen(set->names.texts[i]), set->path,
                           &number, error);
    if (status == GLCNN_SUCCESS)
        status = names_order(sorted, NULL, 0, set->path, map, decision, error);
    free(map);
    return status;
}

static glcnn_status find_classes(glcnn_dataset *set, char *error)
{
    struct names sorted = {.texts = NULL};
    glcnn_status status = boxes_count_classes(set, error);
    if (status == GLCNN_SUCCESS && set->boxes.classes)
        return take_names(set, &set->boxes.classes, &set->boxes.class_count, error);
    if (status == GLCNN_SUCCESS)
        status = sort_names(set, &sorted, error);
    if (status == GLCNN_SUCCESS)
        status = take_names(set, &sorted.texts, &sorted.count, error);
    names_free(&sorted);
    return status;
}

glcnn_status masks_finish_drawn(glcnn_dataset *set, char *error)
{
    boxes_tell(set);
    glcnn_status status = check_objects(set, error);
    const bool is_given = set->info.class_count > 0;
    if (status == GLCNN_SUCCESS && !is_given)
        status = find_classes(set, error);
    if (status == GLCNN_SUCCESS && set->info.class_count > GLCNN_DATA_NO_CLASS)
        status = fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.300s: lists %u classes; expected %d at most for masks", set->path,
                           set->info.class_count, MAX_NAMES);
    if (status == GLCNN_SUCCESS)
        status = map_objects(set, error);
    if (status != GLCNN_SUCCESS)
        return status;
    tell_background(set);
    tell_unseen(set);
    return GLCNN_SUCCESS;
}

/* ---- Pixels ---- */

glcnn_status masks_draw(const glcnn_dataset *set, uint32_t index, struct picture_values *values,
                        char *error)
{
    const struct drawing *drawing = &set->masks.drawings[index];
    *values = (struct picture_values){.width = drawing->width, .height = drawing->height};
    values->values = malloc((size_t)values->width * values->height);
    return values->values && drawing_draw(&set->masks.objects, drawing, values->values)
               ? GLCNN_SUCCESS
               : fail_no_memory(error, set->path);
}

uint64_t masks_drawn_digest(const glcnn_dataset *set, uint32_t index)
{
    const struct drawing *drawing = &set->masks.drawings[index];
    uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ drawing->width;
    for (size_t i = 0; i < sizeof set->masks.class_of; i++)
        digest = (digest ^ set->masks.class_of[i]) * UINT64_C(0x100000001b3);
    for (size_t i = drawing->first; i < drawing->end; i++)
        digest = (digest ^ (uint32_t)set->masks.objects.words[i]) * UINT64_C(0x100000001b3);
    return digest;
}
