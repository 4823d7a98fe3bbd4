/* What a data set holds, and what is asked of it: messages, images, names. */
#include "set.h"

#include <string.h>

#include "base/array.h"
#include "base/fail.h"

const char *glcnn_data_part_name(glcnn_data_part part)
{
    static const char *const names[GLCNN_DATA_PARTS] = {"training", "validation", "test"};
    return (unsigned)part < GLCNN_DATA_PARTS ? names[part] : NULL;
}

/* ---- Messages ---- */

static void keep(struct messages *messages, const char *message)
{
    char **texts = array_grow(messages->texts, messages->count, &messages->capacity, sizeof *texts);
    if (!texts)
        return;
    messages->texts = texts;
    char *copy = strdup(message);
    if (copy)
        messages->texts[messages->count++] = copy;
}

void set_decide(glcnn_dataset *set, const char *message)
{
    keep(&set->decisions, message);
}

void set_note(glcnn_dataset *set, uint32_t pictures, const char *message)
{
    pthread_mutex_lock(&set->mutex);
    set->skipped += pictures;
    if (pictures != 1 || set->skipped <= MAX_NOTES)
        keep(&set->notes, message);
    pthread_mutex_unlock(&set->mutex);
}

glcnn_status data_tell_change(const char *path, const char *what, char *error)
{
    return fail_with(error, GLCNN_IO_ERROR,
                     "%.300s: %s since the data was opened; training can go on from its checkpoint "
                     "once the data is as it was",
                     path, what);
}

glcnn_status set_complain(glcnn_dataset *set, uint32_t pictures, const char *message, char *error)
{
    if (set->parameters.strict)
        return fail_with(error, GLCNN_MALFORMED_DATA, "%s", message);
    set_note(set, pictures, message);
    return GLCNN_SUCCESS;
}

uint32_t glcnn_dataset_skipped(const glcnn_dataset *data)
{
    glcnn_dataset *set = (glcnn_dataset *)data;
    pthread_mutex_lock(&set->mutex);
    uint32_t skipped = set->skipped;
    pthread_mutex_unlock(&set->mutex);
    return skipped;
}

const char *glcnn_dataset_note(const glcnn_dataset *data, uint32_t number)
{
    glcnn_dataset *set = (glcnn_dataset *)data;
    pthread_mutex_lock(&set->mutex);
    const char *note = number < set->notes.count ? set->notes.texts[number] : NULL;
    pthread_mutex_unlock(&set->mutex);
    return note;
}

const char *glcnn_dataset_decision(const glcnn_dataset *data, uint32_t number)
{
    return number < data->decisions.count ? data->decisions.texts[number] : NULL;
}

/* ---- Images ---- */

bool part_add(struct part *part, const struct item *item)
{
    struct item *items = array_grow(part->items, part->count, &part->capacity, sizeof *items);
    if (!items)
        return false;
    part->items = items;
    part->items[part->count++] = *item;
    return true;
}

size_t set_values(const glcnn_dataset *set)
{
    return (size_t)set->info.width * set->info.height * set->info.channels;
}

/* ---- Asking ---- */

const struct glcnn_data_info *glcnn_dataset_info(const glcnn_dataset *data)
{
    return &data->info;
}

const struct item *set_item(const glcnn_dataset *data, glcnn_data_part part, uint32_t index)
{
    if ((unsigned)part >= GLCNN_DATA_PARTS || index >= data->parts[part].count)
        return NULL;
    return &data->parts[part].items[index];
}

void glcnn_dataset_name(const glcnn_dataset *data, glcnn_data_part part, uint32_t index, char *name,
                        size_t size)
{
    const struct item *item = set_item(data, part, index);
    const size_t length = data->root;
    if (!item) {
        snprintf(name, size, "%s", "");
        return;
    }
    if (item->table != NO_TABLE) {
        snprintf(name, size, "image %u of %s", item->index, data->tables[item->table].path);
        return;
    }
    const char *path = data->files[item->index].path;
    if (length > 0 && strncmp(path, data->path, length) == 0)
        path += length;
    while (length > 0 && *path == '/')
        path++;
    snprintf(name, size, "%s", path);
}

void glcnn_dataset_size(const glcnn_dataset *data, glcnn_data_part part, uint32_t index,
                        uint32_t *width, uint32_t *height)
{
    const struct item *item = set_item(data, part, index);
    const struct picture *head =
        item && item->table == NO_TABLE ? &data->files[item->index].head : NULL;
    *width = head ? head->width : item ? data->info.width : 0;
    *height = head ? head->height : item ? data->info.height : 0;
}

uint32_t glcnn_dataset_label(const glcnn_dataset *data, glcnn_data_part part, uint32_t index)
{
    const struct item *item = set_item(data, part, index);
    return item && data->parameters.targets == GLCNN_DATA_TARGETS_CLASSES ? item->label
                                                                          : GLCNN_DATA_NO_LABEL;
}

const float *glcnn_dataset_numbers(const glcnn_dataset *data, glcnn_data_part part, uint32_t index)
{
    const struct item *item = set_item(data, part, index);
    return item && data->numbers.values && item->label != GLCNN_DATA_NO_LABEL
               ? data->numbers.values + (size_t)item->target * data->numbers.count
               : NULL;
}

uint64_t glcnn_dataset_mask_digest(const glcnn_dataset *data, glcnn_data_part part, uint32_t index)
{
    const struct item *item = set_item(data, part, index);
    if (!item || data->masks.count == 0 || item->label == GLCNN_DATA_NO_LABEL)
        return 0;
    if (data->source.is_given)
        return masks_read_digest(data, item->target);
    return data->masks.drawings ? masks_drawn_digest(data, item->target)
                                : data->masks.files[item->target].digest ^ data->masks.order;
}
