/* Masks of files: read, and brought to the size of a set. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "masks.h"
#include "scale.h"

/* ---- One mask ---- */

/* FNV-1a of 64 bits. */
static uint64_t digest_of(const struct picture_values *v)
{
    const size_t count = (size_t)v->width * v->height;
    uint64_t digest = UINT64_C(0xcbf29ce484222325) ^ v->width;
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ v->values[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static const struct colours *colours_of(const glcnn_dataset *set)
{
    return set->masks.colours.count > 0 ? &set->masks.colours : NULL;
}

static glcnn_status read_values(FILE *stream, const char *path, const struct colours *colours,
                                struct picture_values *values, char *error)
{
    char reason[GLCNN_ERROR_LENGTH];
    glcnn_status status = picture_png_values(stream, colours, values, reason);
    return status == GLCNN_SUCCESS ? status
                                   : fail_with(error, status, "%.250s: %.250s", path, reason);
}

/* A mask that is not there may be there as JPEG, which keeps no values. */
static glcnn_status refuse_missing(const char *path, char *error)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".JPG", ".JPEG"};
    const int stem = (int)(strlen(path) - strlen(".png")), missing = errno;
    char name[GLCNN_ERROR_LENGTH];
    for (size_t i = 0; i < sizeof endings / sizeof *endings && missing == ENOENT; i++) {
        snprintf(name, sizeof name, "%.*s%s", stem, path, endings[i]);
        if (path_exists(name))
            return fail_with(error, GLCNN_MALFORMED_DATA,
                             "%.300s: masks are PNG, and JPEG does not keep their values", name);
    }
    errno = missing;
    return fail_with_errno(error, path, "cannot be opened");
}

glcnn_status masks_read_file(const char *path, const struct colours *colours,
                             struct picture_file *file, struct picture_values *values, char *error)
{
    *values = (struct picture_values){.values = NULL};
    FILE *stream = open_picture(path, file);
    if (!stream)
        return errno
                   ? refuse_missing(path, error)
                   : fail_with(error, GLCNN_MALFORMED_DATA, "%.300s: is not a regular file", path);
    glcnn_status status = read_values(stream, path, colours, values, error);
    fclose(stream);
    return status;
}

#define SOFT_STEP  8   /* between the values beside one that lies on a soft edge, at least */
#define SOFT_SHARE 100 /* one pixel of so many may be of no class without being 255 */

/* True if a pixel beside this one has a lower value and another one a higher. */
static bool is_between(const struct picture_values *v, size_t at)
{
    const uint32_t x = (uint32_t)(at % v->width), y = (uint32_t)(at / v->width);
    uint8_t low = v->values[at], high = low;
    for (uint32_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < v->height; j++)
        for (uint32_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < v->width; i++) {
            const uint8_t value = v->values[(size_t)j * v->width + i];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    return low < v->values[at] && v->values[at] < high && high - low >= SOFT_STEP;
}

/* Values that no class is given for. */
static glcnn_status check_values(glcnn_dataset *set, const char *path,
                                 const struct picture_values *v, char *error)
{
    const uint32_t classes = set->info.class_count;
    const size_t count = (size_t)v->width * v->height;
    size_t strange = 0, soft = 0, first = 0;
    for (size_t i = 0; i < count && classes > 0; i++) {
        if (set->masks.class_of[v->values[i]] != GLCNN_DATA_NO_CLASS ||
            v->values[i] == GLCNN_DATA_NO_CLASS)
            continue;
        first = strange++ == 0 ? i : first;
        soft += v->are_levels && is_between(v, i);
    }
    if (strange == 0)
        return GLCNN_SUCCESS;
    const bool is_soft = 2 * soft >= strange;
    if (is_soft && strange * SOFT_SHARE <= count) {
        if (set->masks.soft_edges.count++ == 0)
            snprintf(
                set->masks.soft_edges.first, sizeof set->masks.soft_edges.first,
                "%.250s: %zu of %zu pixels lie on soft edges, with values between those beside "
                "them, and have no class",
                path, strange, count);
        return GLCNN_SUCCESS;
    }
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.250s: has the value %u at %zu,%zu, and there are %u classes; "
                     "expected 0 to %u or a value that names one, or 255 for none%s",
                     path, v->values[first], first % v->width, first / v->width, classes,
                     classes - 1, is_soft ? "; its edges are soft" : "");
}

/* Few pixels of other colours are those of smoothed edges. */
static glcnn_status check_colours(glcnn_dataset *set, const char *path,
                                  const struct picture_values *v, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct tally *odd = &set->masks.odd_colours;
    if (v->strange == 0)
        return GLCNN_SUCCESS;
    snprintf(message, sizeof message,
             "%.250s: %u of %zu pixels have colours that are no class, as %u,%u,%u at %u,%u", path,
             v->strange, (size_t)v->width * v->height, v->strange_colour[0], v->strange_colour[1],
             v->strange_colour[2], v->strange_x, v->strange_y);
    if ((uint64_t)v->strange * SOFT_SHARE > (uint64_t)v->width * v->height)
        return fail_with(error, GLCNN_MALFORMED_DATA, "%s; expected one in a hundred at most",
                         message);
    if (odd->count++ == 0)
        snprintf(odd->first, sizeof odd->first, "%.398s", message);
    return GLCNN_SUCCESS;
}

static void tell_turned(glcnn_dataset *set, const char *path, const char *how)
{
    struct tally *turned = &set->masks.turned;
    if (turned->count++ == 0)
        snprintf(turned->first, sizeof turned->first,
                 "%.250s: EXIF's orientation turns its picture and not the mask, which %s", path,
                 how);
}

/* How a mask is to be turned: one that says nothing and has the size of the picture's pixels as they are in the file
 * lies as these do. */
static uint32_t find_turn(glcnn_dataset *set, const char *path, const struct picture *picture,
                          const struct picture_values *v)
{
    const bool is_square = picture->width == picture->height, swaps = picture->orientation > 4;
    if (picture->orientation < 2 || v->orientation > 1)
        return 1;
    if (swaps && !is_square && v->width == picture->height && v->height == picture->width) {
        tell_turned(set, path, "has the size from before, and is turned alike");
        return picture->orientation;
    }
    if (!swaps || is_square)
        tell_turned(set, path, "is taken to be drawn over the turned picture");
    return 1;
}

static glcnn_status check_mask(glcnn_dataset *set, const char *path, const struct picture *picture,
                               const struct picture_values *v, char *error)
{
    glcnn_status status = GLCNN_SUCCESS;
    if (v->width == picture->width && v->height == picture->height)
        status = check_colours(set, path, v, error);
    else
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: is %u x %u, and its picture is %u x %u; expected the same size",
                         path, v->width, v->height, picture->width, picture->height);
    return status == GLCNN_SUCCESS ? check_values(set, path, v, error) : status;
}

/* ---- Adding ---- */

static void note_values(struct masks *m, glcnn_data_part part, const struct picture_values *v)
{
    const size_t count = (size_t)v->width * v->height;
    for (size_t i = 0; i < count; i++)
        m->seen[part][v->values[i]] = true;
    for (size_t i = 0; i < count && part == GLCNN_DATA_PART_TRAINING && !m->is_listed; i++) {
        m->pixels[v->values[i]]++;
        m->soft[v->values[i]] += v->are_levels && is_between(v, i);
    }
}

glcnn_status masks_add_file(glcnn_dataset *set, glcnn_data_part part, const char *path, char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    struct masks *m = &set->masks;
    struct item *item = &set->parts[part].items[set->parts[part].count - 1];
    struct picture_file file = {.path = (char *)path};
    struct picture_values values;
    const struct picture *head = &set->files[item->index].head;
    glcnn_status status = masks_read_file(path, colours_of(set), &file, &values, message);
    if (status == GLCNN_SUCCESS) {
        file.head.orientation = find_turn(set, path, head, &values);
        status = picture_turn_values(&values, file.head.orientation, message);
    }
    if (status == GLCNN_SUCCESS)
        status = check_mask(set, path, head, &values, message);
    if (status == GLCNN_OUT_OF_MEMORY)
        status = fail_with(error, status, "%s", message);
    else if (status != GLCNN_SUCCESS) {
        set_remove_picture(set, part);
        status = set_complain(set, 1, message, error);
    } else {
        item->target = m->count;
        file.digest = digest_of(&values);
        note_values(m, part, &values);
        status = picture_files_add(&m->files, &m->count, &m->capacity, &file)
                     ? GLCNN_SUCCESS
                     : fail_no_memory(error, path);
    }
    free(values.values);
    return status;
}

/* ---- Pixels ---- */

static size_t pixels_of(const glcnn_dataset *set)
{
    return (size_t)set->info.width * set->info.height;
}

glcnn_status set_keep_masks(glcnn_dataset *set, char *error)
{
    struct masks *m = &set->masks;
    const size_t pixels = pixels_of(set);
    m->states = calloc(m->count + 1, sizeof *m->states);
    if (!m->states)
        return fail_no_memory(error, set->path);
    if (m->count > 0 && !set->source.is_given && pixels <= data_memory(&set->parameters) / m->count)
        m->kept = malloc(pixels * m->count);
    return GLCNN_SUCCESS;
}

static void sample(const glcnn_dataset *set, const struct picture_values *v, uint32_t *places,
                   uint8_t *classes)
{
    const uint32_t width = set->info.width, height = set->info.height;
    const struct scaled to = {.width = width,
                              .height = height,
                              .side = set->parameters.resize,
                              .fit = set->parameters.fit};
    uint32_t *x = places, *y = places + width;
    scale_nearest(v->width, v->height, &to, x, y);
    for (uint32_t j = 0; j < height; j++)
        for (uint32_t i = 0; i < width; i++)
            *classes++ = x[i] == SCALE_BORDER || y[j] == SCALE_BORDER
                             ? GLCNN_DATA_NO_CLASS
                             : set->masks.class_of[v->values[(size_t)y[j] * v->width + x[i]]];
}

glcnn_status set_mask_values(const glcnn_dataset *set, uint32_t index,
                             struct picture_values *values, char *error)
{
    struct picture_file now;
    *values = (struct picture_values){.values = NULL};
    if (set->source.is_given)
        return source_read_mask(set, index, values, error);
    if (set->masks.drawings)
        return masks_draw(set, index, values, error);
    const struct picture_file *file = &set->masks.files[index];
    FILE *stream = open_picture(file->path, &now);
    if (!stream)
        return data_tell_change(file->path, "has vanished", error);
    glcnn_status status = read_values(stream, file->path, colours_of(set), values, error);
    if (status == GLCNN_SUCCESS)
        status = picture_turn_values(values, file->head.orientation, error);
    if (!picture_is_as_opened(file, stream))
        status = data_tell_change(file->path, "has changed", error);
    fclose(stream);
    return status;
}

uint64_t masks_read_digest(const glcnn_dataset *set, uint32_t index)
{
    char error[GLCNN_ERROR_LENGTH];
    struct picture_values values;
    const glcnn_status status = set_mask_values(set, index, &values, error);
    const uint64_t digest = status == GLCNN_SUCCESS ? digest_of(&values) : 0;
    free(values.values);
    return digest;
}

/* ---- Handing over ---- */

static size_t bytes_of(const struct picture_values *v)
{
    return (size_t)v->width * v->height;
}

static void release_handed(struct handed_masks *h, size_t i)
{
    if (h->items[i].values.values)
        h->bytes -= bytes_of(&h->items[i].values);
    free(h->items[i].values.values);
    h->items[i].values.values = NULL;
}

void masks_release_handed(struct masks *masks)
{
    for (uint32_t i = 0; i < sizeof masks->handed.items / sizeof *masks->handed.items; i++)
        release_handed(&masks->handed, i);
}

/* Whoever reads no mask of a part whole has no use for the others either. */
static void leave_out(struct masks *m, size_t i)
{
    struct handed_masks *h = &m->handed;
    const glcnn_data_part part = h->items[i].part;
    const bool is_left = h->items[i].values.values && !atomic_load(&m->are_wanted[part]);
    release_handed(h, i);
    for (size_t k = 0; is_left && k < sizeof h->items / sizeof *h->items; k++)
        if (h->items[k].part == part)
            release_handed(h, k);
    if (is_left)
        atomic_store(&m->are_left[part], true);
}

static bool is_handed_over(const struct masks *m, glcnn_data_part part)
{
    return atomic_load(&m->are_wanted[part]) || !atomic_load(&m->are_left[part]);
}

/* Takes the values over, and leaves out the oldest as long as there is too much. */
static void hand_over(glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                      struct picture_values *values)
{
    struct handed_masks *h = &set->masks.handed;
    const uint32_t most = sizeof h->items / sizeof *h->items;
    pthread_mutex_lock(&set->mutex);
    for (uint32_t i = 0; i < most && h->bytes + bytes_of(values) > HANDED_MOST; i++)
        leave_out(&set->masks, (h->next + i) % most);
    leave_out(&set->masks, h->next);
    h->items[h->next].index = index;
    h->items[h->next].part = part;
    h->items[h->next].values = *values;
    h->bytes += bytes_of(values);
    h->next = (h->next + 1) % most;
    pthread_mutex_unlock(&set->mutex);
    values->values = NULL;
}

/* False: it was not handed over. */
static bool take_handed(glcnn_dataset *set, uint32_t index, struct picture_values *values)
{
    struct handed_masks *h = &set->masks.handed;
    bool found = false;
    pthread_mutex_lock(&set->mutex);
    for (uint32_t i = 0; i < sizeof h->items / sizeof *h->items && !found; i++) {
        found = h->items[i].values.values && h->items[i].index == index;
        if (!found)
            continue;
        *values = h->items[i].values;
        h->bytes -= bytes_of(values);
        h->items[i].values.values = NULL;
    }
    pthread_mutex_unlock(&set->mutex);
    return found;
}

glcnn_status set_take_mask(glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                           struct picture_values *values, char *error)
{
    atomic_store(&set->masks.are_wanted[part], true);
    return take_handed(set, index, values) ? GLCNN_SUCCESS
                                           : set_mask_values(set, index, values, error);
}

/* ---- Classes ---- */

static glcnn_status decode(glcnn_dataset *set, glcnn_data_part part, uint32_t index,
                           uint8_t *classes, char *error)
{
    struct picture_values values = {.values = NULL};
    glcnn_status status = set_mask_values(set, index, &values, error);
    uint32_t *places = malloc(((size_t)set->info.width + set->info.height) * sizeof *places);
    if (status == GLCNN_SUCCESS && places)
        sample(set, &values, places, classes);
    else if (status == GLCNN_SUCCESS)
        status = fail_no_memory(error, set->path);
    if (status == GLCNN_SUCCESS && is_handed_over(&set->masks, part) &&
        bytes_of(&values) <= HANDED_MOST)
        hand_over(set, part, index, &values);
    free(places);
    free(values.values);
    return status;
}

glcnn_status set_mask(glcnn_dataset *set, glcnn_data_part part, uint32_t index, uint8_t *classes,
                      char *error)
{
    struct masks *m = &set->masks;
    const size_t pixels = pixels_of(set);
    if (atomic_load(&m->states[index]) == PICTURE_KEPT) {
        memcpy(classes, m->kept + index * pixels, pixels);
        return GLCNN_SUCCESS;
    }
    glcnn_status status = decode(set, part, index, classes, error);
    if (status == GLCNN_SUCCESS)
        keep_decoded(m->states, m->kept, index, classes, pixels);
    return status;
}
