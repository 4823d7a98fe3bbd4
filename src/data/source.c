/* Images of a program's own: its arrays, or its function, stand where files do elsewhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "set.h"
#include "stored.h"

#define DEFAULT_NAME "arrays"

/* ---- What is given ---- */

static bool is_labelled(const struct glcnn_image_source *g)
{
    return g->class_count > 0;
}

static glcnn_status check_sizes(const struct glcnn_image_source *g, const char *name, char *error)
{
    const bool has_masks = g->targets == GLCNN_DATA_TARGETS_MASKS;
    const uint32_t most = has_masks                                  ? GLCNN_DATA_NO_CLASS
                          : g->targets == GLCNN_DATA_TARGETS_NUMBERS ? GLCNN_DATA_MAX_NUMBERS
                                                                     : GLCNN_DATA_MAX_CLASSES;
    if (g->width == 0 || g->width > GLCNN_DATA_MAX_SIDE || g->height == 0 ||
        g->height > GLCNN_DATA_MAX_SIDE || g->channels == 0 ||
        g->channels > GLCNN_DATA_MAX_CHANNELS)
        return fail_with(
            error, GLCNN_INVALID_ARGUMENT,
            "%.200s: its images are %u x %u of %u channels; expected 1 x 1 to %d x %d of 1 to %d",
            name, g->width, g->height, g->channels, GLCNN_DATA_MAX_SIDE, GLCNN_DATA_MAX_SIDE,
            GLCNN_DATA_MAX_CHANNELS);
    if ((unsigned)g->targets > GLCNN_DATA_TARGETS_BOXES || g->class_count > most)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "%.200s: it has the targets number %u and %u names of them; expected 0 to "
                         "%d, and up to %u",
                         name, (unsigned)g->targets, g->class_count, GLCNN_DATA_TARGETS_BOXES,
                         most);
    return GLCNN_SUCCESS;
}

/* Names the array of labels that a part lacks; NULL: it lacks none. */
static const char *find_missing(const struct glcnn_image_source *g,
                                const struct glcnn_image_source_part *part)
{
    if (!is_labelled(g))
        return NULL;
    switch (g->targets) {
    case GLCNN_DATA_TARGETS_NUMBERS:
        return part->numbers ? NULL : "numbers";
    case GLCNN_DATA_TARGETS_MASKS:
        return part->masks || g->read ? NULL : "masks";
    case GLCNN_DATA_TARGETS_BOXES:
        return part->box_counts ? NULL : "box_counts";
    default:
        return part->labels ? NULL : "labels";
    }
}

static glcnn_status check_parts(const struct glcnn_image_source *g, const char *name, char *error)
{
    uint64_t count = 0;
    for (int p = 0; p < GLCNN_DATA_PARTS; p++) {
        const struct glcnn_image_source_part *part = &g->parts[p];
        const char *missing = part->images || g->read ? find_missing(g, part) : "images";
        count += part->count;
        if (part->count > 0 && missing)
            return fail_with(error, GLCNN_INVALID_ARGUMENT,
                             "%.200s: %s of the %s part is NULL; expected an array of %u", name,
                             missing, glcnn_data_part_name((glcnn_data_part)p), part->count);
        if (part->count > 0 && !is_labelled(g) && p != GLCNN_DATA_PART_TEST)
            return fail_with(
                error, GLCNN_INVALID_ARGUMENT,
                "%.200s: its class_count is 0, and the %s part has %u images; expected "
                "classes, or images in the test part alone",
                name, glcnn_data_part_name((glcnn_data_part)p), part->count);
    }
    return count > 0 && count < UINT32_MAX
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_INVALID_ARGUMENT,
                           "%.200s: has %llu images in all; expected 1 to %u", name,
                           (unsigned long long)count, UINT32_MAX - 1);
}

static bool is_asked_for(uint32_t asked, uint32_t found)
{
    return asked == 0 || asked == found;
}

static glcnn_status check_asked(const struct glcnn_image_source *g, const char *name,
                                const struct glcnn_data_parameters *p, char *error)
{
    static const char *const words[] = {"classes", "numbers", "masks", "boxes"};
    if (is_labelled(g) && (unsigned)p->targets < sizeof words / sizeof *words &&
        p->targets != g->targets)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "%.200s: its targets are %s, and %s are requested", name,
                         words[g->targets], words[p->targets]);
    if (is_asked_for(p->width, g->width) && is_asked_for(p->height, g->height) &&
        is_asked_for(p->channels, g->channels))
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_UNSUPPORTED,
                     "%.200s: its images are %u x %u of %u channels, and %u x %u of %u are "
                     "requested (0: any); only pictures are scaled",
                     name, g->width, g->height, g->channels, p->width, p->height, p->channels);
}

/* ---- Names ---- */

/* The source's names become the set's, in their order, where the caller gives none. */
static glcnn_status copy_names(glcnn_dataset *set, char *error)
{
    set->class_names = calloc(set->names.count + 1, sizeof *set->class_names);
    for (uint32_t i = 0; set->class_names && i < set->names.count; i++) {
        if (!(set->class_names[i] = strdup(set->names.texts[i])))
            return fail_no_memory(error, set->path);
        set->info.class_count++;
    }
    return set->class_names ? GLCNN_SUCCESS : fail_no_memory(error, set->path);
}

static glcnn_status add_name(glcnn_dataset *set, uint32_t i, char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    uint32_t number = 0;
    const char *name = g->class_names ? g->class_names[i] : NULL;
    if (g->class_names && (!name || !*name))
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "%.200s: class_names: number %u is empty",
                         set->path, i);
    const glcnn_status status =
        name ? names_add(&set->names, name, strlen(name), set->path, &number, error)
             : names_add_number(&set->names, i, set->path, &number, error);
    return status != GLCNN_SUCCESS || number == i
               ? status
               : fail_with(error, GLCNN_INVALID_ARGUMENT,
                           "%.200s: class_names has \"%.100s\" twice", set->path, name);
}

/* (*map)[a label of the source]: its class. To be released with free(), after a failure too. */
static glcnn_status match_names(glcnn_dataset *set, uint32_t **map, char *error)
{
    const uint32_t count = set->source.given.class_count;
    const bool has_names = set->info.class_count > 0;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < count && status == GLCNN_SUCCESS; i++)
        status = add_name(set, i, error);
    if (status != GLCNN_SUCCESS)
        return status;
    if (has_names) {
        status = set_order_names(set, map, error);
        if (status == GLCNN_SUCCESS && set->parameters.targets == GLCNN_DATA_TARGETS_NUMBERS &&
            count != set->info.class_count)
            status = fail_with(error, GLCNN_MALFORMED_DATA,
                               "%.200s: has %u numbers for an image; expected %u, as the names say",
                               set->path, count, set->info.class_count);
        return status;
    }
    if (!(*map = malloc((count + 1) * sizeof **map)))
        return fail_no_memory(error, set->path);
    for (uint32_t i = 0; i < count; i++)
        (*map)[i] = i;
    return copy_names(set, error);
}

/* ---- Labels ---- */

/* "NAME: image 3 of the training part WHAT" */
static glcnn_status refuse_image(const glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                                 glcnn_status status, const char *what, char *error)
{
    return fail_with(error, status, "%.200s: image %u of the %s part %.250s", set->path, index,
                     glcnn_data_part_name(part), what);
}

static glcnn_status refuse_label(const glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                                 uint32_t label, char *error)
{
    char what[128];
    snprintf(what, sizeof what, "has the class %u; expected 0 to %u", label,
             set->source.given.class_count - 1);
    return refuse_image(set, part, index, GLCNN_INVALID_ARGUMENT, what, error);
}

static glcnn_status take_classes(glcnn_dataset *set, glcnn_data_part part, const uint32_t *map,
                                 char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    const uint32_t *labels = g->parts[part].labels;
    for (uint32_t i = 0; i < g->parts[part].count; i++) {
        if (labels[i] >= g->class_count)
            return refuse_label(set, part, i, labels[i], error);
        set->parts[part].items[i].label = map[labels[i]];
    }
    return GLCNN_SUCCESS;
}

static glcnn_status take_numbers(glcnn_dataset *set, glcnn_data_part part, const uint32_t *map,
                                 char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    const uint32_t count = g->class_count;
    float row[GLCNN_DATA_MAX_NUMBERS];
    for (uint32_t i = 0; i < g->parts[part].count; i++) {
        uint32_t first;
        for (uint32_t k = 0; k < count; k++) {
            const float value = g->parts[part].numbers[(size_t)i * count + k];
            if (!isfinite(value))
                return refuse_image(set, part, i, GLCNN_MALFORMED_DATA,
                                    "has a label that is NaN or infinite; mend it or leave it out",
                                    error);
            row[map[k]] = value;
        }
        const glcnn_status status = set_add_numbers(set, row, 1, count, set->path, &first, error);
        if (status != GLCNN_SUCCESS)
            return status;
    }
    return GLCNN_SUCCESS;
}

static bool has_extent(const struct glcnn_data_box *b)
{
    return isfinite(b->left) && isfinite(b->top) && isfinite(b->right) && isfinite(b->bottom) &&
           b->left < b->right && b->top < b->bottom;
}

static uint64_t count_boxes(const struct glcnn_image_source_part *part)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < part->count; i++)
        count += part->box_counts[i];
    return count;
}

/* Allocates room for the boxes of all parts. */
static glcnn_status make_boxes(glcnn_dataset *set, uint32_t images, char *error)
{
    struct boxes *boxes = &set->boxes;
    uint64_t count = 0;
    for (int p = 0; p < GLCNN_DATA_PARTS; p++) {
        const struct glcnn_image_source_part *part = &set->source.given.parts[p];
        const uint64_t own = part->count > 0 ? count_boxes(part) : 0;
        if (own > 0 && !part->boxes)
            return fail_with(error, GLCNN_INVALID_ARGUMENT,
                             "%.200s: boxes of the %s part is NULL; expected an array of %llu",
                             set->path, glcnn_data_part_name((glcnn_data_part)p),
                             (unsigned long long)own);
        count += own;
    }
    boxes->capacity = (size_t)count;
    boxes->items = count < UINT32_MAX ? malloc((size_t)(count + 1) * sizeof *boxes->items) : NULL;
    set->source.first_box = calloc((size_t)images + 1, sizeof *set->source.first_box);
    return boxes->items && set->source.first_box ? GLCNN_SUCCESS : fail_no_memory(error, set->path);
}

static glcnn_status take_boxes(glcnn_dataset *set, glcnn_data_part part, const uint32_t *map,
                               char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    const struct glcnn_data_box *from = g->parts[part].boxes;
    uint32_t *first = set->source.first_box + set->source.first[part];
    for (uint32_t i = 0; i < g->parts[part].count; i++) {
        for (uint32_t n = 0; n < g->parts[part].box_counts[i]; n++, from++) {
            if (from->label >= g->class_count)
                return refuse_label(set, part, i, from->label, error);
            if (!has_extent(from))
                return refuse_image(set, part, i, GLCNN_INVALID_ARGUMENT,
                                    "has a box whose left is not below its right, or its top not "
                                    "below its bottom",
                                    error);
            set->boxes.items[set->boxes.count] = *from;
            set->boxes.items[set->boxes.count++].label = map[from->label];
        }
        first[i + 1] = set->boxes.count;
    }
    return GLCNN_SUCCESS;
}

static glcnn_status take_labels(glcnn_dataset *set, glcnn_data_part part, const uint32_t *map,
                                char *error)
{
    switch (set->parameters.targets) {
    case GLCNN_DATA_TARGETS_NUMBERS:
        return take_numbers(set, part, map, error);
    case GLCNN_DATA_TARGETS_MASKS:
        return GLCNN_SUCCESS;
    case GLCNN_DATA_TARGETS_BOXES:
        return take_boxes(set, part, map, error);
    default:
        return take_classes(set, part, map, error);
    }
}

/* Prepares what the labels of all images share. */
static glcnn_status begin_labels(glcnn_dataset *set, uint32_t images, const uint32_t *map,
                                 char *error)
{
    if (set->parameters.targets == GLCNN_DATA_TARGETS_BOXES)
        return make_boxes(set, images, error);
    if (set->parameters.targets == GLCNN_DATA_TARGETS_MASKS) {
        memset(set->masks.class_of, GLCNN_DATA_NO_CLASS, sizeof set->masks.class_of);
        for (uint32_t k = 0; k < set->source.given.class_count; k++)
            set->masks.class_of[k] = (uint8_t)map[k];
        set->masks.count = images;
    }
    return GLCNN_SUCCESS;
}

/* ---- Images ---- */

static glcnn_status call_read(const glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                              void *image, uint8_t *mask, char *error)
{
    char reason[GLCNN_ERROR_LENGTH] = "", what[GLCNN_ERROR_LENGTH + 32];
    const struct glcnn_image_source *g = &set->source.given;
    const glcnn_status status = g->read(g->user, part, index, image, mask, reason);
    if (status == GLCNN_SUCCESS)
        return status;
    reason[GLCNN_ERROR_LENGTH - 1] = 0;
    snprintf(what, sizeof what, "cannot be read%s%s", *reason ? ": " : "", reason);
    return refuse_image(set, part, index, status, what, error);
}

static void interleave(const struct glcnn_image_source *g, const void *from, void *to)
{
    const size_t channels = g->channels, pixels = (size_t)g->width * g->height;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            if (g->is_bytes)
                ((uint8_t *)to)[i * channels + c] = ((const uint8_t *)from)[c * pixels + i];
            else
                ((float *)to)[i * channels + c] = ((const float *)from)[c * pixels + i];
}

static bool are_finite(const float *values, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++)
        finite &= isfinite(values[i]) != 0;
    return finite;
}

static const void *image_at(const struct glcnn_image_source *g, glcnn_data_part part,
                            uint32_t index)
{
    const size_t size = (size_t)g->width * g->height * g->channels *
                        (g->is_bytes ? sizeof(uint8_t) : sizeof(float));
    return (const uint8_t *)g->parts[part].images + index * size;
}

static glcnn_status check_finite(const glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                                 const void *image, char *error)
{
    return set->source.given.is_bytes || are_finite(image, set_values(set))
               ? GLCNN_SUCCESS
               : refuse_image(set, part, index, GLCNN_MALFORMED_DATA,
                              "has a value that is NaN or infinite; mend it or leave it out",
                              error);
}

glcnn_status source_read_image(const glcnn_dataset *set, const struct item *item, void *room,
                               char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    const size_t size = set_values(set) * (g->is_bytes ? sizeof(uint8_t) : sizeof(float));
    const glcnn_data_part part = (glcnn_data_part)item->table;
    const bool moves = !g->is_interleaved && g->channels > 1;
    void *read = moves ? (uint8_t *)room + size : room;
    const void *image = read;
    glcnn_status status = GLCNN_SUCCESS;
    if (g->parts[part].images)
        image = image_at(g, part, item->index);
    else
        status = call_read(set, part, item->index, read, NULL, error);
    if (status == GLCNN_SUCCESS)
        status = check_finite(set, part, item->index, image, error);
    if (status == GLCNN_SUCCESS && moves)
        interleave(g, image, room);
    else if (status == GLCNN_SUCCESS && image != room)
        memcpy(room, image, size);
    return status;
}

static glcnn_status check_mask(const glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                               const uint8_t *mask, char *error)
{
    const size_t pixels = (size_t)set->info.width * set->info.height;
    for (size_t i = 0; i < pixels; i++)
        if (mask[i] >= set->source.given.class_count && mask[i] != GLCNN_DATA_NO_CLASS) {
            char what[128];
            snprintf(what, sizeof what,
                     "has a mask with the class %u; expected 0 to %u, or %d for none", mask[i],
                     set->source.given.class_count - 1, GLCNN_DATA_NO_CLASS);
            return refuse_image(set, part, index, GLCNN_MALFORMED_DATA, what, error);
        }
    return GLCNN_SUCCESS;
}

glcnn_status source_read_mask(const glcnn_dataset *set, uint32_t number,
                              struct picture_values *values, char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    const size_t pixels = (size_t)g->width * g->height;
    uint32_t p = GLCNN_DATA_PARTS - 1;
    while (number < set->source.first[p])
        p--;
    const uint32_t index = number - set->source.first[p];
    const uint8_t *masks = g->parts[p].masks;
    *values = (struct picture_values){g->width, g->height, malloc(pixels), .are_levels = true};
    if (!values->values)
        return fail_no_memory(error, set->path);
    if (masks)
        memcpy(values->values, masks + index * pixels, pixels);
    else {
        const glcnn_status status =
            call_read(set, (glcnn_data_part)p, index, NULL, values->values, error);
        if (status != GLCNN_SUCCESS)
            return status;
    }
    return check_mask(set, (glcnn_data_part)p, index, values->values, error);
}

/* Arrays are checked when they are taken, so that a training does not end in the middle. */
static glcnn_status check_arrays(const glcnn_dataset *set, glcnn_data_part part, char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    const struct glcnn_image_source_part *own = &g->parts[part];
    const size_t pixels = (size_t)g->width * g->height;
    const bool has_masks = set->masks.count > 0 && own->masks;
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < own->count && status == GLCNN_SUCCESS; i++) {
        if (own->images)
            status = check_finite(set, part, i, image_at(g, part, i), error);
        if (status == GLCNN_SUCCESS && has_masks)
            status = check_mask(set, part, i, own->masks + i * pixels, error);
    }
    return status;
}

/* ---- Tables of all kinds ---- */

size_t image_values_room(const glcnn_dataset *set)
{
    return 2 * set_values(set) * (set->source.is_given ? sizeof(float) : 1) + 1;
}

glcnn_status image_values_read(const glcnn_dataset *set, const struct item *item, void *room,
                               struct image_values *values, char *error)
{
    const struct table *table = &set->tables[item->table];
    const size_t at = item->index * set_values(set);
    const bool has_bytes =
        set->source.is_given ? set->source.given.is_bytes : table->stored != NULL;
    if (set->source.is_given || table->stored) {
        *values = (struct image_values){has_bytes ? room : NULL, has_bytes ? NULL : room};
        return set->source.is_given ? source_read_image(set, item, room, error)
                                    : stored_image(table, item->index, room, error);
    }
    *values = (struct image_values){table->bytes ? table->bytes + at : NULL,
                                    table->bytes ? NULL : table->floats + at};
    return GLCNN_SUCCESS;
}

/* ---- Opening ---- */

static glcnn_status add_part(glcnn_dataset *set, glcnn_data_part part, uint32_t *images,
                             char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    struct table *table = &set->tables[part];
    struct item item = {.label = is_labelled(g) ? 0 : GLCNN_DATA_NO_LABEL, .table = part};
    table->count = g->parts[part].count;
    set->source.first[part] = *images;
    if (!(table->path = strdup(set->path)))
        return fail_no_memory(error, set->path);
    for (; item.index < table->count; item.index++) {
        item.target = (*images)++;
        if (!part_add(&set->parts[part], &item))
            return fail_no_memory(error, set->path);
    }
    return GLCNN_SUCCESS;
}

static glcnn_status take_source(glcnn_dataset *set, char *error)
{
    const struct glcnn_image_source *g = &set->source.given;
    uint32_t images = 0, *map = NULL;
    glcnn_status status = GLCNN_SUCCESS;
    set->info.format = "source";
    set->info.width = g->width;
    set->info.height = g->height;
    set->info.channels = g->channels;
    set->info.bytes = g->is_bytes;
    for (int p = 0; p < GLCNN_DATA_PARTS && status == GLCNN_SUCCESS; p++)
        status = add_part(set, (glcnn_data_part)p, &images, error);
    if (status == GLCNN_SUCCESS && is_labelled(g))
        status = match_names(set, &map, error);
    if (status == GLCNN_SUCCESS && is_labelled(g))
        status = begin_labels(set, images, map, error);
    for (int p = 0; p < GLCNN_DATA_PARTS && status == GLCNN_SUCCESS; p++) {
        if (is_labelled(g))
            status = take_labels(set, (glcnn_data_part)p, map, error);
        if (status == GLCNN_SUCCESS)
            status = check_arrays(set, (glcnn_data_part)p, error);
    }
    free(map);
    return status;
}

glcnn_status glcnn_dataset_open_source(const struct glcnn_image_source *source,
                                       const struct glcnn_data_parameters *parameters,
                                       glcnn_dataset **data, char error[GLCNN_ERROR_LENGTH])
{
    if (data)
        *data = NULL;
    if (!source || !data)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "source or data is NULL");
    const char *name = source->name ? source->name : DEFAULT_NAME;
    const struct glcnn_data_parameters own = {.targets = source->targets};
    const struct glcnn_data_parameters *p = parameters ? parameters : &own;
    glcnn_status status = check_sizes(source, name, error);
    if (status == GLCNN_SUCCESS)
        status = check_parts(source, name, error);
    if (status == GLCNN_SUCCESS)
        status = check_asked(source, name, p, error);
    if (status == GLCNN_SUCCESS)
        status = set_create(name, p, data, error);
    if (status == GLCNN_SUCCESS) {
        (*data)->source.given = *source;
        (*data)->source.is_given = true;
        (*data)->parameters.mask_colours = NULL;
        status = take_source(*data, error);
    }
    if (status == GLCNN_SUCCESS)
        status = set_finish(*data, error);
    if (status != GLCNN_SUCCESS)
        glcnn_dataset_destroy(data);
    else
        (*data)->parameters.strict = true;
    return status;
}
