/* Classes of the pixels of masks: what lists say of values or colours, or the values themselves. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "bytes.h"
#include "masks.h"

#define MAX_BYTES  ((size_t)1 << 20)
#define SOFT_SHARE 100 /* one pixel of so many may lie on a soft edge */
#define SOFT_LEAST 2   /* values: one alone may be a class along an edge */

/* ---- Values ---- */

/* The value that a name is the digits of; 256: it is not. */
static uint32_t value_of(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > 3 || strspn(name, "0123456789") != length)
        return 256;
    const uint32_t value = (uint32_t)strtoul(name, NULL, 10);
    return value < 256 ? value : 256;
}

static bool are_values(char *const *names, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && value_of(names[i]) < 256)
        i++;
    return i == count;
}

/* What a folder lists: names, and the value of each in a mask. */
struct list {
    const char *path;
    struct names names;
    uint8_t values[GLCNN_DATA_NO_CLASS];
};

/* Values stand for names by what these are the digits of, as names that were taken from masks, or else by their
 * numbers. */
static void count_values(struct list *list)
{
    const bool by_value = are_values(list->names.texts, list->names.count);
    for (uint32_t i = 0; i < list->names.count && i < GLCNN_DATA_NO_CLASS; i++)
        list->values[i] = (uint8_t)(by_value ? value_of(list->names.texts[i]) : i);
}

/* The class of a name is map[its number], or NULL: that number. */
static void map_values(glcnn_dataset *set, const struct list *list, const uint32_t *map)
{
    memset(set->masks.class_of, GLCNN_DATA_NO_CLASS, sizeof set->masks.class_of);
    for (uint32_t i = 0; i < list->names.count; i++)
        set->masks.class_of[list->values[i]] = (uint8_t)(map ? map[i] : i);
}

/* Classes that were given, as those of a list. */
static void map_given(glcnn_dataset *set)
{
    struct list given = {.names = {.texts = set->class_names, .count = set->info.class_count}};
    count_values(&given);
    map_values(set, &given, NULL);
}

/* ---- Lists ---- */

static glcnn_status read_classes(glcnn_dataset *set, struct list *list, char *error)
{
    (void)set;
    glcnn_status status = class_list_read(list->path, &list->names, error);
    if (status == GLCNN_SUCCESS && list->names.count > GLCNN_DATA_NO_CLASS)
        status = fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.300s: has %u names; expected one on each line, 2 to %d of them",
                           list->path, list->names.count, GLCNN_DATA_NO_CLASS);
    count_values(list);
    return status;
}

static glcnn_status read_colours(glcnn_dataset *set, struct list *list, char *error)
{
    char decision[GLCNN_ERROR_LENGTH];
    glcnn_status status =
        colours_read(list->path, &set->masks.colours, &list->names, decision, error);
    if (status == GLCNN_SUCCESS && *decision)
        set_decide(set, decision);
    for (uint32_t i = 0; i < GLCNN_DATA_NO_CLASS; i++)
        list->values[i] = (uint8_t)i;
    return status;
}

/* "0, background" */
static glcnn_status read_pair(struct list *list, char *line, size_t number, char *error)
{
    static const char blanks[] = " \t\r";
    char *end;
    uint32_t class, before = list->names.count;
    line += strspn(line, blanks);
    if (*line == 0)
        return GLCNN_SUCCESS;
    const unsigned long value = strtoul(line, &end, 10);
    char *comma = strchr(line, ',');
    if (end == line && number == 1 && comma)
        return GLCNN_SUCCESS; /* names of the columns */
    if (end == line || !comma || end + strspn(end, blanks) != comma || value >= GLCNN_DATA_NO_CLASS)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: line %zu: \"%.80s\"; expected a value of masks, 0 to %d, a comma "
                         "and the class",
                         list->path, number, line, GLCNN_DATA_NO_CLASS - 1);
    comma += 1 + strspn(comma + 1, blanks);
    size_t length = strlen(comma);
    while (length > 0 && strchr(blanks, comma[length - 1]))
        length--;
    glcnn_status status = names_add(&list->names, comma, length, list->path, &class, error);
    if (status == GLCNN_SUCCESS && (list->names.count == before || before == GLCNN_DATA_NO_CLASS))
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: line %zu: has the class \"%.100s\" a second time", list->path,
                         number, list->names.texts[class]);
    if (status == GLCNN_SUCCESS)
        list->values[before] = (uint8_t)value;
    return status;
}

/* Roboflow's _classes.csv: "Pixel Value, Class", and a line of each. */
static glcnn_status read_table(glcnn_dataset *set, struct list *list, char *error)
{
    struct bytes bytes;
    char *text;
    size_t number = 0;
    (void)set;
    glcnn_status status = bytes_read_text(&bytes, list->path, MAX_BYTES, &text, error);
    for (char *line; status == GLCNN_SUCCESS && (line = bytes_line(&text)) != NULL;)
        status = read_pair(list, line, ++number, error);
    bytes_free(&bytes);
    return status;
}

/* By which names a folder lists classes of pixels, in any case of letters. */
static const struct kind {
    const char *name;
    glcnn_status (*read)(glcnn_dataset *set, struct list *list, char *error);
} kinds[] = {
    {"classes.txt", read_classes}, {"labelmap.txt", read_colours}, {"_classes.csv", read_table}};

/* The path of a folder's list, to be released with free(); NULL: it has none, or memory is short. */
static char *find_list(const char *folder, const struct kind **kind)
{
    struct listing listing;
    char error[GLCNN_ERROR_LENGTH], *path = NULL;
    if (listing_read(folder, &listing, error) != GLCNN_SUCCESS)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !path; i++) {
        const char *name = listing_find(&listing, kinds[i].name);
        *kind = &kinds[i];
        path = name ? path_join(folder, name) : NULL;
    }
    listing_free(&listing);
    return path;
}

/* In the folder, or else in that of a part. */
static char *find_list_below(const char *folder, const struct kind **kind)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH], *path = find_list(folder, kind);
    if (path || place_open(&p, NULL, NULL, folder, error) != GLCNN_SUCCESS)
        return path;
    for (int part = 0; part < GLCNN_DATA_PARTS && !path; part++) {
        char *below = NULL;
        if (place_find_part(&p, (glcnn_data_part)part, &below) == GLCNN_SUCCESS && below)
            path = find_list(below, kind);
        free(below);
    }
    listing_free(&p.listing);
    return path;
}

/* ---- Names ---- */

static glcnn_status take_names(glcnn_dataset *set, struct list *list, char *error)
{
    if (list->names.count < 2)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: has %u names; expected one on each line, 2 to %d of them",
                         list->path, list->names.count, GLCNN_DATA_NO_CLASS);
    map_values(set, list, NULL);
    set->class_names = list->names.texts;
    set->info.class_count = list->names.count;
    list->names = (struct names){.buckets = list->names.buckets};
    return GLCNN_SUCCESS;
}

/* Classes were given, a network's for instance, and the folder lists its own: they are the same by name. */
static glcnn_status match_names(glcnn_dataset *set, struct list *list, char *error)
{
    char decision[GLCNN_ERROR_LENGTH];
    struct names *names = &list->names;
    uint32_t *map = calloc(names->count + 1, sizeof *map);
    if (!map)
        return fail_no_memory(error, list->path);
    glcnn_status status = names_order(names, (const char *const *)set->class_names,
                                      set->info.class_count, list->path, map, decision, error);
    if (status == GLCNN_SUCCESS)
        map_values(set, list, map);
    for (uint32_t i = 0; status == GLCNN_SUCCESS && i < names->count; i++)
        if (!are_values(names->texts, names->count) && map[i] != i)
            set->masks.order = (set->masks.order + i + 1) * UINT64_C(0x100000001b3) + map[i];
    if (status == GLCNN_SUCCESS && !*decision && !are_values(names->texts, names->count))
        names_tell_order(names, map, list->path, decision);
    if (status == GLCNN_SUCCESS && *decision)
        set_decide(set, decision);
    free(map);
    return status;
}

/* Without a list, or where the classes that were given are values of masks, values alone tell. */
static void tell_given(glcnn_dataset *set, const char *folder, const char *list)
{
    char message[GLCNN_ERROR_LENGTH];
    const uint32_t count = set->info.class_count;
    if (list)
        snprintf(
            message, sizeof message,
            "%.300s: is not read, since the classes are named by the values of masks, \"%s\" to "
            "\"%s\"",
            list, set->class_names[0], set->class_names[count - 1]);
    else
        snprintf(message, sizeof message,
                 "%.250s%sclasses.txt: is not there, so values of masks count the classes: 0 is "
                 "\"%.60s\", %u is \"%.60s\"",
                 folder, folder[strlen(folder) - 1] == '/' ? "" : "/", set->class_names[0],
                 count - 1, set->class_names[count - 1]);
    if (list || !are_values(set->class_names, count))
        set_decide(set, message);
}

static glcnn_status take_list(glcnn_dataset *set, const struct kind *kind, const char *path,
                              char *error)
{
    struct list list = {.path = path};
    glcnn_status status = kind->read(set, &list, error);
    set->masks.is_listed = true;
    if (status == GLCNN_SUCCESS)
        status = set->info.class_count > 0 ? match_names(set, &list, error)
                                           : take_names(set, &list, error);
    names_free(&list.names);
    return status;
}

glcnn_status masks_read_list(glcnn_dataset *set, const char *folder, char *error)
{
    static const struct kind colours = {NULL, read_colours};
    const struct kind *kind = &colours;
    const char *given = set->parameters.mask_colours;
    const bool are_given = set->info.class_count > 0,
               by_value = are_given && are_values(set->class_names, set->info.class_count);
    char *path = given ? strdup(given) : find_list_below(folder, &kind);
    glcnn_status status = GLCNN_SUCCESS;
    if (are_given && (!path || (by_value && kind->read == read_classes))) {
        tell_given(set, folder, path);
        map_given(set);
    } else if (path) {
        status = take_list(set, kind, path, error);
    }
    free(path);
    return status;
}

/* ---- Values as classes ---- */

static glcnn_status name_values(glcnn_dataset *set, uint32_t count, char *error)
{
    char **names = calloc(count, sizeof *names);
    set->class_names = names;
    for (int value = 0; names && value < 256; value++) {
        char text[16];
        if (set->masks.class_of[value] == GLCNN_DATA_NO_CLASS)
            continue;
        snprintf(text, sizeof text, "%d", value);
        if (!(names[set->info.class_count++] = strdup(text)))
            return fail_no_memory(error, set->path);
    }
    return names ? GLCNN_SUCCESS : fail_no_memory(error, set->path);
}

static void tell_values(glcnn_dataset *set, bool counts_last)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message,
             "%.250s: the %u values of the training masks are the classes, \"%s\" to \"%s\"%s",
             set->path, set->info.class_count, set->class_names[0],
             set->class_names[set->info.class_count - 1],
             counts_last                                      ? ", 255 among them"
             : set->masks.seen[GLCNN_DATA_PART_TRAINING][255] ? "; 255 stands for no class"
                                                              : "");
    set_decide(set, message);
}

/* A value lies on soft edges where most of its pixels have a lower and a higher one beside them. */
static bool is_soft(const struct masks *m, int value)
{
    return m->soft[value] > 0 && 2 * m->soft[value] >= m->pixels[value];
}

/* Takes values of soft edges out of those that are seen. */
static glcnn_status drop_soft(glcnn_dataset *set, bool seen[256], char *error)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct masks *m = &set->masks;
    uint64_t all = 0, soft = 0;
    uint32_t count = 0;
    for (int value = 0; value < 256; value++) {
        all += m->pixels[value];
        soft += is_soft(m, value) ? m->pixels[value] : 0;
        count += is_soft(m, value);
    }
    if (count < SOFT_LEAST)
        return GLCNN_SUCCESS;
    const double share = 100 * (double)soft / (double)all;
    if (soft * SOFT_SHARE > all)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.200s: %.1f %% of the pixels of masks have one of %u values between "
                         "those beside them: soft edges, as smoothing or scaling makes them; "
                         "expected a value for each class (1 %% may have others), or classes.txt",
                         set->path, share, count);
    for (int value = 0; value < 256; value++)
        seen[value] = seen[value] && !is_soft(m, value);
    snprintf(message, sizeof message,
             "%.200s: %.2f %% of the pixels of masks lie on soft edges, of %u values between those "
             "beside them, and have no class",
             set->path, share, count);
    set_decide(set, message);
    return GLCNN_SUCCESS;
}

static glcnn_status take_values(glcnn_dataset *set, char *error)
{
    struct masks *m = &set->masks;
    uint32_t count = 0;
    bool seen[256];
    memcpy(seen, m->seen[GLCNN_DATA_PART_TRAINING], sizeof seen);
    glcnn_status status = drop_soft(set, seen, error);
    if (status != GLCNN_SUCCESS)
        return status;
    for (int value = 0; value < 255; value++)
        m->class_of[value] = seen[value] ? (uint8_t)count++ : GLCNN_DATA_NO_CLASS;
    const bool counts_last = seen[255] && count == 1 && seen[0];
    m->class_of[255] = counts_last ? (uint8_t)count++ : GLCNN_DATA_NO_CLASS;
    if (count < 2)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: its masks have %u classes; expected two or more values",
                         set->path, count);
    status = name_values(set, count, error);
    if (status == GLCNN_SUCCESS)
        tell_values(set, counts_last);
    return status;
}

/* ---- Finishing ---- */

/* Of classes that are given. */
static glcnn_status check_seen(const glcnn_dataset *set, char *error)
{
    const struct masks *m = &set->masks;
    for (int value = 0; value < 256; value++)
        if (m->seen[GLCNN_DATA_PART_TRAINING][value] && m->class_of[value] != GLCNN_DATA_NO_CLASS)
            return GLCNN_SUCCESS;
    return fail_with(
        error, GLCNN_MALFORMED_DATA,
        "%.300s: no pixel of the training part's masks has a class; expected values below "
        "%u",
        set->path, set->info.class_count);
}

/* Values that another part has and the training part has not are no classes of their own. */
static void tell_strange_values(glcnn_dataset *set, glcnn_data_part part)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct masks *m = &set->masks;
    uint32_t count = 0, first = 0;
    for (uint32_t value = 256; value-- > 0;)
        if (m->seen[part][value] && !m->seen[GLCNN_DATA_PART_TRAINING][value] &&
            (value < 255 || m->class_of[value] != GLCNN_DATA_NO_CLASS)) {
            count++;
            first = value;
        }
    if (count == 0)
        return;
    const uint8_t class = m->class_of[first];
    if (class == GLCNN_DATA_NO_CLASS)
        snprintf(
            message, sizeof message,
            "%.200s: masks of the %s part have the value %u, which no mask of the training part "
            "has: its pixels have no class%s",
            set->path, glcnn_data_part_name(part), first, count > 1 ? "; so it is of others" : "");
    else
        snprintf(message, sizeof message,
                 "%.200s: masks of the %s part have the class \"%.80s\", which no mask of the "
                 "training part has%s",
                 set->path, glcnn_data_part_name(part), set->class_names[class],
                 count > 1 ? "; so it is of others" : "");
    set_decide(set, message);
}

static void tell_unseen(glcnn_dataset *set)
{
    char message[GLCNN_ERROR_LENGTH];
    const struct masks *m = &set->masks;
    bool seen[256] = {false};
    for (int value = 0; value < 256; value++)
        if (m->class_of[value] != GLCNN_DATA_NO_CLASS)
            seen[m->class_of[value]] |= m->seen[GLCNN_DATA_PART_TRAINING][value];
    for (uint32_t i = 0; i < set->info.class_count; i++) {
        if (seen[i])
            continue;
        snprintf(message, sizeof message,
                 "%.250s: no pixel of the training part's masks has the class \"%.100s\"",
                 set->path, set->class_names[i]);
        set_decide(set, message);
        return;
    }
}

glcnn_status set_finish_masks(glcnn_dataset *set, char *error)
{
    if (set->masks.drawings)
        return masks_finish_drawn(set, error);
    tally_tell(set, &set->boxes.unmatched, true);
    tally_tell(set, &set->masks.odd_colours, false);
    tally_tell(set, &set->masks.soft_edges, false);
    tally_tell(set, &set->masks.turned, false);
    glcnn_status status =
        set->info.class_count > 0 ? check_seen(set, error) : take_values(set, error);
    if (status != GLCNN_SUCCESS)
        return status;
    tell_unseen(set);
    tell_strange_values(set, GLCNN_DATA_PART_VALIDATION);
    tell_strange_values(set, GLCNN_DATA_PART_TEST);
    return GLCNN_SUCCESS;
}
