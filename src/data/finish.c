/* What follows from all images together: classes, the split, the size of tables. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "set.h"

/* ---- Classes ---- */

static glcnn_status check_training(glcnn_dataset *set, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct part *part = &set->parts[GLCNN_DATA_PART_TRAINING];
    uint8_t *seen = calloc(set->info.class_count, 1);
    if (!seen)
        return fail_no_memory(error, set->path);
    for (uint32_t i = 0; i < part->count; i++)
        seen[part->items[i].label] = 1;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < set->info.class_count && status == GLCNN_SUCCESS; i++) {
        if (seen[i])
            continue;
        snprintf(message, sizeof message,
                 "%.250s: the training part has no image of the class \"%.100s\"", set->path,
                 set->class_names[i]);
        status = set_complain(set, 0, message, error);
    }
    free(seen);
    return status;
}

/* The names that were met become the classes, unless these were given. */
static glcnn_status take_names(glcnn_dataset *set, char *error)
{
    if (set->info.class_count > 0)
        return GLCNN_SUCCESS;
    set->class_names = set->names.texts;
    set->info.class_count = set->names.count;
    set->names.texts = NULL;
    set->names.count = 0;
    if (set->info.class_count < 2)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has only one class, \"%.100s\"; expected two or more", set->path,
                         set->class_names[0]);
    return check_training(set, error);
}

glcnn_status set_order_names(glcnn_dataset *set, uint32_t **map, char *error)
{
    char decision[GLCNN_ERROR_LENGTH];
    *map = malloc((set->names.count + 1) * sizeof **map);
    if (!*map)
        return fail_no_memory(error, set->path);
    glcnn_status status = names_order(&set->names, (const char *const *)set->class_names,
                                      set->info.class_count, set->path, *map, decision, error);
    if (*decision)
        set_decide(set, decision);
    return status;
}

static glcnn_status set_labels(glcnn_dataset *set, char *error)
{
    uint32_t *map;
    glcnn_status status = set_order_names(set, &map, error);
    for (int p = 0; p < GLCNN_DATA_PARTS && status == GLCNN_SUCCESS; p++)
        for (uint32_t i = 0; i < set->parts[p].count; i++)
            set->parts[p].items[i].label = map[set->parts[p].items[i].label];
    free(map);
    return status == GLCNN_SUCCESS ? take_names(set, error) : status;
}

/* ---- Split ---- */

/* Marks those of the class that are chosen; `order` has its members. */
static void choose(const glcnn_dataset *set, uint32_t class, uint32_t *order, uint32_t count,
                   uint8_t *chosen)
{
    uint64_t state = order_state(set->parameters.seed, class);
    uint32_t wanted = (uint32_t)(set->parameters.validation * count + 0.5);
    if (count >= 2 && wanted == 0)
        wanted = 1;
    if (wanted >= count)
        wanted = count - 1;
    order_shuffle(&state, order, count);
    for (uint32_t i = 0; i < wanted; i++)
        chosen[order[i]] = 1;
}

/* members[first[k]] .. members[first[k + 1]]: the images of class k, in their order. */
static void group(const struct part *part, uint32_t classes, uint32_t *first, uint32_t *members)
{
    memset(first, 0, (classes + 1) * sizeof *first);
    for (uint32_t i = 0; i < part->count; i++)
        first[part->items[i].label + 1]++;
    for (uint32_t k = 0; k < classes; k++)
        first[k + 1] += first[k];
    for (uint32_t i = 0; i < part->count; i++)
        members[first[part->items[i].label]++] = i;
    for (uint32_t k = classes; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
}

/* Both parts keep the order of the list. */
static bool move_chosen(glcnn_dataset *set, const uint8_t *chosen)
{
    struct part *from = &set->parts[GLCNN_DATA_PART_TRAINING];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        if (!chosen[i])
            from->items[kept++] = from->items[i];
        else if (!part_add(&set->parts[GLCNN_DATA_PART_VALIDATION], &from->items[i]))
            return false;
    }
    from->count = kept;
    return true;
}

static glcnn_status split(glcnn_dataset *set, char *error)
{
    const struct part *part = &set->parts[GLCNN_DATA_PART_TRAINING];
    const bool has_classes = set->parameters.targets == GLCNN_DATA_TARGETS_CLASSES;
    const uint32_t classes = has_classes ? set->info.class_count : 1; /* each label is 0 then */
    if (!(set->parameters.validation > 0) || set->parts[GLCNN_DATA_PART_VALIDATION].count > 0)
        return GLCNN_SUCCESS;
    uint32_t *first = malloc((classes + 1) * sizeof *first);
    uint32_t *members = malloc(part->count * sizeof *members);
    uint8_t *chosen = calloc(part->count, 1);
    bool good = first && members && chosen;
    if (good)
        group(part, classes, first, members);
    for (uint32_t k = 0; good && k < classes; k++)
        if (first[k + 1] > first[k])
            choose(set, k, members + first[k], first[k + 1] - first[k], chosen);
    good = good && move_chosen(set, chosen);
    set->info.is_split = set->parts[GLCNN_DATA_PART_VALIDATION].count > 0;
    free(first);
    free(members);
    free(chosen);
    return good ? GLCNN_SUCCESS : fail_no_memory(error, set->path);
}

/* ---- Memory ---- */

/* Room for all pictures, or for none. Pages that nothing is written to cost nothing. */
static glcnn_status make_room(glcnn_dataset *set, char *error)
{
    uint64_t memory = data_memory(&set->parameters);
    size_t values = set_values(set);
    set->states = calloc(set->file_count, sizeof *set->states);
    if (!set->states)
        return fail_no_memory(error, set->path);
    for (uint32_t i = 0; i < set->file_count; i++)
        if (set->files[i].head.width == 0)
            set->states[i] = PICTURE_BROKEN;
    if (values <= memory / set->file_count && values <= SIZE_MAX / set->file_count)
        set->kept = malloc(values * set->file_count);
    return GLCNN_SUCCESS;
}

/* ---- Tables ---- */

static glcnn_status match_tables(glcnn_dataset *set, const struct table *a, struct table *b,
                                 char *error)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.200s: its images are %u x %u of %u channels, and those of %.150s are %u x "
            "%u of %u",
            b->path, b->width, b->height, b->channels, a->path, a->width, a->height, a->channels);
    set->info.bytes = set->info.bytes && (b->bytes || b->stored);
    return GLCNN_SUCCESS;
}

/* Bytes only where all parts are. */
static glcnn_status size_tables(glcnn_dataset *set, char *error)
{
    const struct table *first = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    set->info.bytes = true;
    for (int p = 0; p < GLCNN_DATA_PARTS && status == GLCNN_SUCCESS; p++) {
        struct table *table = &set->tables[p];
        if (table->count == 0)
            continue;
        first = first ? first : table;
        status = match_tables(set, first, table, error);
    }
    for (int p = 0; p < GLCNN_DATA_PARTS && status == GLCNN_SUCCESS && !set->info.bytes; p++)
        if (set->tables[p].count > 0)
            status = table_make_floats(&set->tables[p], error);
    set->info.width = first->width;
    set->info.height = first->height;
    set->info.channels = first->channels;
    return status;
}

/* ---- All ---- */

void set_first_reason(const glcnn_dataset *set, char *text, size_t size)
{
    *text = 0;
    if (set->notes.count > 0)
        snprintf(text, size, ": %s", set->notes.texts[0]);
}

/* " (100 .txt, 20 .json)" */
static void describe_ignored(const glcnn_dataset *set, char *text, size_t size)
{
    const uint32_t last = sizeof set->passed_kinds / sizeof *set->passed_kinds - 1;
    size_t length = 0;
    *text = 0;
    for (uint32_t i = 0; i <= last && set->passed_kinds[i].count > 0 && length < size; i++) {
        const char *ending = set->passed_kinds[i].ending;
        length += (size_t)snprintf(text + length, size - length, "%s%u %s", i ? ", " : " (",
                                   set->passed_kinds[i].count,
                                   i == last ? "others"
                                   : *ending ? ending
                                             : "without an ending");
    }
    if (length > 0 && length < size)
        snprintf(text + length, size - length, ")");
}

/* The option that would read a folder in which there is nothing for these targets. */
static const char *advice(const glcnn_dataset *set)
{
    const uint32_t targets = set_targets_in(set->path) & ~(1u << set->parameters.targets);
    return targets & 1u << GLCNN_DATA_TARGETS_BOXES
               ? "; targets that are boxes (--task detect) are there"
           : targets & 1u << GLCNN_DATA_TARGETS_MASKS
               ? "; targets that are masks (--task segment) are there"
               : "";
}

/* The reason comes whole, as far as there is room behind the rest. */
static glcnn_status refuse_empty(const glcnn_dataset *set, const char *expected, char *error)
{
    char reason[GLCNN_ERROR_LENGTH], ignored[128];
    set_first_reason(set, reason, sizeof reason);
    describe_ignored(set, ignored, sizeof ignored);
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.120s: has no image to train on (%u pictures were skipped, %u other files "
                     "ignored%s); expected %s%s%s",
                     set->path, set->skipped, set->info.ignored, ignored, expected, advice(set),
                     reason);
}

static glcnn_status check_parts(const glcnn_dataset *set, bool labelled, char *error)
{
    const char *expected = set->parameters.targets == GLCNN_DATA_TARGETS_BOXES
                               ? "pictures with boxes"
                           : set->parameters.targets == GLCNN_DATA_TARGETS_MASKS
                               ? "pictures with masks"
                               : "a folder of pictures for each class, .npz, .npy, CSV or IDX";
    bool has_table = false;
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        has_table |= set->tables[p].count > 0;
    if (labelled && !set->source.is_given && set->parts[GLCNN_DATA_PART_TRAINING].count == 0)
        return refuse_empty(set, expected, error);
    if (has_table && set->file_count > 0)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: one part is pictures and another a table; expected one kind",
                         set->path);
    return GLCNN_SUCCESS;
}

static void tell_passed_over(glcnn_dataset *set)
{
    char message[GLCNN_ERROR_LENGTH];
    const uint32_t count = set->passed_over;
    snprintf(message, sizeof message,
             count == 1 ? "%.200s: %u file or folder that is not a picture is ignored: %.100s"
                        : "%.200s: %u files and folders that are not pictures are ignored: %.100s "
                          "is the first",
             set->path, count, set->passed_first);
    if (count > 0)
        set_decide(set, message);
}

/* Finishes the targets. A source was matched with its names when it was taken. */
static glcnn_status finish_targets(glcnn_dataset *set, char *error)
{
    if (set->source.is_given)
        return GLCNN_SUCCESS;
    switch (set->parameters.targets) {
    case GLCNN_DATA_TARGETS_NUMBERS:
        boxes_tell(set);
        keypoints_tell_odd(set);
        return set_name_numbers(set, error);
    case GLCNN_DATA_TARGETS_MASKS:
        return set_finish_masks(set, error);
    case GLCNN_DATA_TARGETS_BOXES:
        return boxes_finish(set, error);
    default:
        return set_labels(set, error);
    }
}

glcnn_status set_finish(glcnn_dataset *set, char *error)
{
    bool labelled = set->parts[GLCNN_DATA_PART_TEST].count == 0 ||
                    set->parts[GLCNN_DATA_PART_TEST].items[0].label != GLCNN_DATA_NO_LABEL;
    glcnn_status status = check_parts(set, labelled, error);
    if (status == GLCNN_SUCCESS && labelled)
        status = finish_targets(set, error);
    if (status == GLCNN_SUCCESS && labelled)
        status = split(set, error);
    if (status == GLCNN_SUCCESS && !set->source.is_given)
        status = set->file_count > 0 ? set_size_pictures(set, error) : size_tables(set, error);
    if (status == GLCNN_SUCCESS && set->file_count > 0)
        status = make_room(set, error);
    if (status == GLCNN_SUCCESS && labelled && set->masks.count > 0)
        status = set_keep_masks(set, error);
    if (status == GLCNN_SUCCESS && set->boxes.count > 0)
        boxes_fit(set);
    tell_passed_over(set);
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        set->info.counts[p] = set->parts[p].count;
    set->info.class_names = (const char *const *)set->class_names;
    set->info.name = set->path;
    set->info.targets = set->parameters.targets;
    set->info.fit = set->parameters.fit;
    set->info.resize = set->parameters.resize;
    return status;
}
