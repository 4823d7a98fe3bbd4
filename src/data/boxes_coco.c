/* Boxes as COCO writes them: one JSON file for all images of a part. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "bytes.h"
#include "outline.h"
#include "set.h"

#define MAX_WHOLE 9007199254740992.0 /* 2^53: up to it a double has every whole number */

struct category {
    double id;
    const char *text;         /* an id that is a text and no number; NULL: it is a number */
    const char *name, *group; /* `supercategory`; NULL: none */
    const cJSON *keypoints;   /* their names */
    uint32_t objects;
    bool is_spare; /* no object is of it, and another has its name */
};

struct image {
    double id;
    const cJSON *json;
    const char *name;      /* of its file */
    uint32_t number;       /* in the list */
    uint32_t first, count; /* of `order` */
    bool is_twice;         /* an image before it has the same file, or the same id */
    bool has_namesake;     /* the file of another has the same name in another folder */
};

struct coco {
    glcnn_dataset *set;
    glcnn_data_part part;
    const char *path;
    const struct listing *folders;
    cJSON *json;
    const cJSON *lists[3];       /* images, annotations, categories */
    struct category *categories; /* by id */
    struct image *images;        /* by id, then by number */
    const cJSON **annotations;
    uint32_t *order;     /* numbers of annotations, those of one image behind each other */
    uint32_t *image_of;  /* of each annotation, among `images`; UINT32_MAX: it has none */
    uint32_t *by_number; /* of each image in the file, among `images` */
    uint32_t counts[3];
    struct annotation annotation;
    char *error;
};
enum { IMAGES, ANNOTATIONS, CATEGORIES };
static const char *const list_names[3] = {"images", "annotations", "categories"};

/* ---- Text ---- */

static const char *end_of_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Behind an array or object, or behind one byte of anything else. */
static const char *end_of_value(const char *at, const char *end)
{
    size_t depth = 0;
    do {
        const char c = *at;
        depth += c == '[' || c == '{';
        depth -= depth > 0 && (c == ']' || c == '}');
        at = c == '"' ? end_of_string(at, end) : at + 1;
    } while (at < end && depth > 0);
    return at;
}

/* Quotes within become ', which no outline has. */
static void quote(char *from, char *last)
{
    for (char *at = from + 1; at < last; at++) {
        const bool is_escape = *at == '\\';
        if (is_escape && at[1] == '"')
            at[0] = at[1] = '?';
        if (*at == '"')
            *at = '\'';
        at += is_escape;
    }
    *from = *last = '"';
}

/* Outlines of objects take most of a file, and few are read: "segmentation": [..] becomes a text, which
 * takes no more than its letters. */
static void quote_outlines(char *text, size_t size)
{
    static const char key[] = "\"segmentation\"", blanks[] = " \t\r\n";
    const char *end = text + size, *next;
    for (const char *at = text; at < end; at = next) {
        next = *at == '"' ? end_of_string(at, end) : at + 1;
        if (*at != '"' || (size_t)(next - at) != sizeof key - 1 ||
            memcmp(at, key, sizeof key - 1) != 0)
            continue;
        next += strspn(next, blanks);
        if (*next != ':')
            continue;
        next += 1 + strspn(next + 1, blanks);
        if (*next != '[' && *next != '{')
            continue;
        char *value = text + (next - text);
        next = end_of_value(next, end);
        char *last = text + (next - text) - 1;
        if (*last == ']' || *last == '}')
            quote(value, last);
    }
}

/* A key of the outermost object is followed by a colon. */
static bool is_key(const char *at, const char *next, const char *key)
{
    const size_t length = strlen(key);
    return (size_t)(next - at) == length + 2 && strncmp(at + 1, key, length) == 0 &&
           next[strspn(next, " \t\r\n")] == ':';
}

bool json_has_keys(const char *text, size_t size, const char *one, const char *other)
{
    const char *const keys[] = {one, other}, *end = text + size, *next;
    bool has[2] = {false, false};
    text += strspn(text, " \t\r\n");
    if (*text != '{')
        return false;
    for (const char *at = text + 1; at < end && !(has[0] && has[1]); at = next) {
        next = end_of_value(at, end);
        for (int i = 0; i < 2 && *at == '"'; i++)
            has[i] = has[i] || is_key(at, next, keys[i]);
    }
    return has[0] && has[1];
}

bool coco_is(const char *path)
{
    char *text, error[GLCNN_ERROR_LENGTH];
    struct bytes bytes;
    bool found = bytes_read_text(&bytes, path, BYTES_MAX, &text, error) == GLCNN_SUCCESS &&
                 json_has_keys(text, bytes.size - (size_t)(text - (char *)bytes.data),
                               list_names[IMAGES], list_names[ANNOTATIONS]);
    bytes_free(&bytes);
    return found;
}

static glcnn_status refuse_json(const struct coco *c, const char *text, const char *at)
{
    size_t line = 1;
    for (const char *p = text; p < at; p++)
        line += *p == '\n';
    return fail_with(c->error, GLCNN_MALFORMED_DATA,
                     "%.250s: line %zu: is not JSON from \"%.*s\" on, or is nested deeper than %d; "
                     "expected an object with images, annotations and categories",
                     c->path, line, (int)strcspn(at, "\r\n") > 40 ? 40 : (int)strcspn(at, "\r\n"),
                     at, CJSON_NESTING_LIMIT);
}

static glcnn_status parse(struct coco *c, char *text, size_t size)
{
    const char *at = text;
    quote_outlines(text, size);
    c->json = cJSON_ParseWithLengthOpts(text, size + 1, &at, true);
    return c->json ? GLCNN_SUCCESS : refuse_json(c, text, at);
}

static glcnn_status read_file(struct coco *c)
{
    char *text;
    struct bytes bytes;
    glcnn_status status = bytes_read_text(&bytes, c->path, BYTES_MAX, &text, c->error);
    if (status == GLCNN_SUCCESS)
        status = parse(c, text, bytes.size - (size_t)(text - (char *)bytes.data));
    bytes_free(&bytes);
    return status;
}

/* ---- Lists ---- */

static const cJSON *member(const cJSON *json, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

static glcnn_status find_lists(struct coco *c)
{
    for (int i = 0; i < 3; i++) {
        c->lists[i] = member(c->json, list_names[i]);
        if (!cJSON_IsArray(c->lists[i]))
            return fail_with(c->error, GLCNN_MALFORMED_DATA,
                             "%.300s: has no array \"%s\"; expected images, annotations and "
                             "categories, as COCO has them",
                             c->path, list_names[i]);
        c->counts[i] = (uint32_t)cJSON_GetArraySize(c->lists[i]);
    }
    c->categories = calloc(c->counts[CATEGORIES] + (size_t)1, sizeof *c->categories);
    c->images = calloc(c->counts[IMAGES] + (size_t)1, sizeof *c->images);
    c->by_number = calloc(c->counts[IMAGES] + (size_t)1, sizeof *c->by_number);
    c->annotations = calloc(c->counts[ANNOTATIONS] + (size_t)1, sizeof *c->annotations);
    c->order = calloc(c->counts[ANNOTATIONS] + (size_t)1, sizeof *c->order);
    c->image_of = calloc(c->counts[ANNOTATIONS] + (size_t)1, sizeof *c->image_of);
    return c->categories && c->images && c->by_number && c->annotations && c->order && c->image_of
               ? GLCNN_SUCCESS
               : fail_no_memory(c->error, c->path);
}

static bool read_whole(const cJSON *json, double *value)
{
    *value = cJSON_IsNumber(json) ? json->valuedouble : NAN;
    return fabs(*value) <= MAX_WHOLE && *value == floor(*value);
}

/* Texts that are no numbers are told apart by 51 bits of their digest, as numbers that are not whole. */
static double digest_of(const char *text)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        digest = (digest ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return -(double)(digest >> 13) - 0.5;
}

/* An id is a whole number, its digits as a text, or another text. */
static bool read_id(const cJSON *json, double *id)
{
    const char *text = cJSON_GetStringValue(json);
    if (!text)
        return read_whole(json, id);
    const size_t length = strlen(text);
    const bool is_number = length > 0 && length <= 15 && strspn(text, "0123456789") == length;
    *id = is_number ? strtod(text, NULL) : digest_of(text);
    return length > 0;
}

static glcnn_status refuse_entry(const struct coco *c, int list, uint32_t number, const char *name,
                                 const char *expected)
{
    return fail_with(c->error, GLCNN_MALFORMED_DATA, "%.250s: %s[%u].%s is missing or not %s",
                     c->path, list_names[list], number, name, expected);
}

static int by_category(const void *a, const void *b)
{
    const struct category *x = a, *y = b;
    if (x->text && y->text)
        return strcmp(x->text, y->text);
    if (x->text || y->text)
        return x->text ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool read_category_id(const cJSON *json, struct category *category)
{
    category->text = NULL;
    if (!read_id(json, &category->id))
        return false;
    if (category->id != floor(category->id))
        category->text = cJSON_GetStringValue(json);
    return true;
}

/* In the order of their ids, numbers first. */
static glcnn_status read_categories(struct coco *c)
{
    const cJSON *json;
    uint32_t i = 0;
    cJSON_ArrayForEach(json, c->lists[CATEGORIES])
    {
        struct category *category = &c->categories[i];
        category->name = cJSON_GetStringValue(member(json, "name"));
        category->group = cJSON_GetStringValue(member(json, "supercategory"));
        category->keypoints = member(json, "keypoints");
        if (!read_category_id(member(json, "id"), category))
            return refuse_entry(c, CATEGORIES, i, "id", "a whole number or a text");
        if (!category->name)
            return refuse_entry(c, CATEGORIES, i, "name", "a text");
        i++;
    }
    qsort(c->categories, i, sizeof *c->categories, by_category);
    return GLCNN_SUCCESS;
}

static struct category *find_category(const struct coco *c, const cJSON *json)
{
    struct category key = {0};
    return read_category_id(json, &key)
               ? bsearch(&key, c->categories, c->counts[CATEGORIES], sizeof key, by_category)
               : NULL;
}

static void count_objects(struct coco *c)
{
    const cJSON *json;
    cJSON_ArrayForEach(json, c->lists[ANNOTATIONS])
    {
        struct category *category = find_category(c, member(json, "category_id"));
        if (category)
            category->objects++;
    }
}

static int by_name_and_objects(const void *a, const void *b)
{
    const struct category *x = *(struct category *const *)a, *y = *(struct category *const *)b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->objects < y->objects) - (x->objects > y->objects);
}

/* Categories that are no classes: a root, of no objects, that others have for their supercategory, as Roboflow's, and
 * the background of labelme2coco. */
static void drop_roots(struct coco *c)
{
    char message[GLCNN_ERROR_LENGTH];
    for (uint32_t i = 0; i < c->counts[CATEGORIES]; i++) {
        struct category *category = &c->categories[i];
        bool is_root = strcmp(category->name, "_background_") == 0;
        for (uint32_t k = 0; k < c->counts[CATEGORIES] && !is_root; k++)
            is_root = k != i && c->categories[k].group &&
                      strcmp(c->categories[k].group, category->name) == 0 &&
                      strcmp(c->categories[k].name, category->name) != 0;
        if (!is_root || category->objects > 0)
            continue;
        category->is_spare = true;
        snprintf(message, sizeof message,
                 "%.250s: the category \"%.80s\" has no objects, and stands for others or for the "
                 "background: it is no class",
                 c->path, category->name);
        set_decide(c->set, message);
    }
}

/* A root may have the name of a category, too. */
static glcnn_status find_spare(struct coco *c)
{
    const uint32_t count = c->counts[CATEGORIES];
    struct category **order = malloc((count + (size_t)1) * sizeof *order);
    if (!order)
        return fail_no_memory(c->error, c->path);
    for (uint32_t i = 0; i < count; i++)
        order[i] = &c->categories[i];
    qsort(order, count, sizeof *order, by_name_and_objects);
    for (uint32_t i = 1; i < count; i++)
        order[i]->is_spare =
            strcmp(order[i]->name, order[i - 1]->name) == 0 && order[i]->objects == 0;
    free(order);
    return GLCNN_SUCCESS;
}

static glcnn_status name_categories(struct coco *c)
{
    struct names names = {0};
    count_objects(c);
    glcnn_status status = find_spare(c);
    if (status == GLCNN_SUCCESS)
        drop_roots(c);
    for (uint32_t i = 0; i < c->counts[CATEGORIES] && status == GLCNN_SUCCESS; i++) {
        const struct category *category = &c->categories[i];
        const uint32_t expected = names.count;
        uint32_t number;
        bool is_twice = i > 0 && by_category(&category[-1], category) == 0;
        if (category->is_spare && !is_twice)
            continue;
        status =
            names_add(&names, category->name, strlen(category->name), c->path, &number, c->error);
        if (status == GLCNN_SUCCESS && (number != expected || is_twice))
            status = fail_with(c->error, GLCNN_MALFORMED_DATA,
                               "%.250s: has two categories of the %s; \"%.100s\" with id %.0f is "
                               "the second",
                               c->path, is_twice ? "same id" : "same name", category->name,
                               category->id);
    }
    if (status == GLCNN_SUCCESS)
        boxes_take_classes(c->set, &names);
    else
        names_free(&names);
    return status;
}

static int by_number(const void *a, const void *b)
{
    const struct image *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_image(const void *a, const void *b)
{
    const struct image *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : by_number(a, b);
}

static int by_name(const void *a, const void *b)
{
    const struct image *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : by_number(a, b);
}

/* The last part of a path, after its folders. */
static const char *base_of(const char *name)
{
    for (const char *at = name; *at; at++)
        name = *at == '/' || *at == '\\' ? at + 1 : name;
    return name;
}

static int by_base(const void *a, const void *b)
{
    const struct image *x = a, *y = b;
    return strcmp(base_of(x->name), base_of(y->name));
}

static void mark_namesakes(struct image *images, uint32_t count)
{
    qsort(images, count, sizeof *images, by_base);
    for (uint32_t i = 1; i < count; i++)
        if (by_base(&images[i], &images[i - 1]) == 0)
            images[i].has_namesake = images[i - 1].has_namesake = true;
}

static void mark_twice(struct image *images, uint32_t count)
{
    qsort(images, count, sizeof *images, by_name);
    for (uint32_t i = 1; i < count; i++)
        images[i].is_twice = strcmp(images[i].name, images[i - 1].name) == 0;
    qsort(images, count, sizeof *images, by_image);
    for (uint32_t i = 1; i < count; i++)
        images[i].is_twice |= images[i].id == images[i - 1].id;
}

static glcnn_status read_images(struct coco *c)
{
    const cJSON *json;
    uint32_t count = 0;
    cJSON_ArrayForEach(json, c->lists[IMAGES])
    {
        struct image *image = &c->images[count];
        *image = (struct image){
            .json = json, .number = count, .name = cJSON_GetStringValue(member(json, "file_name"))};
        if (!read_id(member(json, "id"), &image->id))
            return refuse_entry(c, IMAGES, count, "id", "a whole number or a text");
        if (!image->name)
            return refuse_entry(c, IMAGES, count, "file_name", "a text");
        count++;
    }
    mark_namesakes(c->images, count);
    mark_twice(c->images, count);
    for (uint32_t i = 0; i < count; i++)
        c->by_number[c->images[i].number] = i;
    return GLCNN_SUCCESS;
}

/* Of images of one id the first. */
static uint32_t find_image(const struct coco *c, double id)
{
    uint32_t low = 0, high = c->counts[IMAGES];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->images[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->counts[IMAGES] && c->images[low].id == id ? low : UINT32_MAX;
}

static glcnn_status find_images(struct coco *c)
{
    char message[GLCNN_ERROR_LENGTH];
    const cJSON *json;
    double id;
    uint32_t i = 0;
    glcnn_status status = GLCNN_SUCCESS;
    cJSON_ArrayForEach(json, c->lists[ANNOTATIONS])
    {
        if (!read_id(member(json, "image_id"), &id))
            return refuse_entry(c, ANNOTATIONS, i, "image_id", "a whole number or a text");
        snprintf(message, sizeof message,
                 "%.250s: annotations[%u].image_id is %.0f, which no image has for its id", c->path,
                 i, id);
        c->annotations[i] = json;
        c->image_of[i] = find_image(c, id);
        if (c->image_of[i] == UINT32_MAX)
            status = boxes_tally(c->set, &c->set->boxes.unmatched, message, c->error);
        else
            c->images[c->image_of[i]].count++;
        if (status != GLCNN_SUCCESS)
            return status;
        i++;
    }
    return GLCNN_SUCCESS;
}

static void group(struct coco *c)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->counts[IMAGES]; i++) {
        c->images[i].first = next;
        next += c->images[i].count;
        c->images[i].count = 0;
    }
    for (uint32_t i = 0; i < c->counts[ANNOTATIONS]; i++) {
        struct image *image = c->image_of[i] == UINT32_MAX ? NULL : &c->images[c->image_of[i]];
        if (image)
            c->order[image->first + image->count++] = i;
    }
}

/* ---- Boxes ---- */

/* x, y, width and height. */
static bool read_bbox(const cJSON *json, double values[4])
{
    const cJSON *item;
    uint32_t count = 0;
    cJSON_ArrayForEach(item, json)
    {
        if (count == 4 || !cJSON_IsNumber(item) || !isfinite(item->valuedouble))
            return false;
        values[count++] = item->valuedouble;
    }
    return cJSON_IsArray(json) && count == 4;
}

/* The box around the outline, of an object that has no box, or one of no size. */
static bool find_around(const cJSON *json, struct raw_box *box)
{
    double v[4];
    struct outline outline;
    const char *text = cJSON_GetStringValue(member(json, "segmentation"));
    if (!text)
        return false;
    bool found = outline_read(text, &outline) && outline_box(&outline, v);
    outline_free(&outline);
    if (!found)
        return false;
    box->left = v[0];
    box->top = v[1];
    box->right = v[2];
    box->bottom = v[3];
    return true;
}

static glcnn_status read_place(const struct coco *c, uint32_t number, struct raw_box *box,
                               char *error)
{
    double v[4] = {0};
    const cJSON *json = c->annotations[number], *bbox = member(json, "bbox");
    const bool has_box = read_bbox(bbox, v),
               may_lack = !bbox || cJSON_IsNull(bbox) || cJSON_GetArraySize(bbox) == 0;
    box->left = v[0];
    box->top = v[1];
    box->right = v[0] + v[2];
    box->bottom = v[1] + v[3];
    const bool is_empty = has_box && !(v[2] > 0 && v[3] > 0);
    if ((may_lack || is_empty) && find_around(json, box))
        return GLCNN_SUCCESS;
    return has_box
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.250s: annotations[%u].bbox is missing or not four finite numbers: "
                           "x, y, width, height; and there is no outline in its place",
                           c->path, number);
}

static const char *outline_text(const cJSON *json)
{
    const char *text = cJSON_GetStringValue(member(json, "segmentation"));
    return text && *text && text[strspn(text, " \t\r\n")] ? text : NULL;
}

/* Where masks are wanted, or that there is an outline where boxes are. */
static void read_outline(const struct coco *c, const cJSON *json, struct raw_box *box)
{
    const char *text = outline_text(json);
    if (text && c->set->parameters.targets == GLCNN_DATA_TARGETS_BOXES)
        boxes_tell_outline(c->set, c->path);
    if (text && c->set->parameters.targets == GLCNN_DATA_TARGETS_MASKS &&
        !outline_read(text, &box->outline))
        outline_free(&box->outline);
}

/* The names of a category's keypoints, or their numbers. */
static glcnn_status name_keypoints(const struct coco *c, const cJSON *list, uint32_t count,
                                   char *error)
{
    struct names names = {.texts = NULL};
    const cJSON *item;
    uint32_t number;
    glcnn_status status = GLCNN_SUCCESS;
    if (cJSON_GetArraySize(list) == 0)
        return keypoints_count_names(c->set, count, c->path, error);
    cJSON_ArrayForEach(item, list)
    {
        const char *name = cJSON_GetStringValue(item);
        if (status == GLCNN_SUCCESS && name)
            status = names_add(&names, name, strlen(name), c->path, &number, error);
    }
    if (status == GLCNN_SUCCESS && names.count != count)
        status = fail_with(error, GLCNN_MALFORMED_DATA,
                           "%.250s: has %u keypoints of an object, and %u names of them; expected "
                           "x, y and v of each",
                           c->path, count, names.count);
    if (status == GLCNN_SUCCESS)
        return keypoints_take_names(c->set, &names, c->path, error);
    names_free(&names);
    return status;
}

/* x, y and v of each: 0 not labelled, 1 labelled and hidden, 2 seen. */
static glcnn_status read_keypoints(const struct coco *c, uint32_t number, const cJSON *names,
                                   struct raw_box *box, char *error)
{
    const cJSON *item, *list = member(c->annotations[number], "keypoints");
    const int count = cJSON_GetArraySize(list);
    size_t i = 0;
    if (!cJSON_IsArray(list) || count == 0)
        return GLCNN_SUCCESS;
    box->points = calloc((size_t)count, sizeof *box->points);
    if (!box->points)
        return fail_no_memory(error, c->path);
    cJSON_ArrayForEach(item, list)
    {
        if (count % 3 != 0 || !cJSON_IsNumber(item) || !isfinite(item->valuedouble))
            return fail_with(error, GLCNN_MALFORMED_DATA,
                             "%.250s: annotations[%u].keypoints is not finite numbers: x, y and v "
                             "of each",
                             c->path, number);
        box->points[i++] = item->valuedouble;
    }
    box->point_count = (uint32_t)count / 3;
    return name_keypoints(c, names, box->point_count, error);
}

static glcnn_status read_object(struct coco *c, uint32_t number, struct raw_box *box, char *error)
{
    const cJSON *json = c->annotations[number], *crowd = member(json, "iscrowd");
    const struct category *category = find_category(c, member(json, "category_id"));
    if (!category)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: annotations[%u].category_id is missing, or is not the id of a "
                         "category",
                         c->path, number);
    glcnn_status status = read_place(c, number, box, error);
    if (status != GLCNN_SUCCESS)
        return status;
    read_outline(c, json, box);
    if (c->set->parameters.targets == GLCNN_DATA_TARGETS_NUMBERS)
        status = read_keypoints(c, number, category->keypoints, box, error);
    else if (c->set->parameters.targets == GLCNN_DATA_TARGETS_BOXES &&
             cJSON_GetArraySize(member(json, "keypoints")) > 0)
        boxes_tell_points(c->set, c->path);
    box->is_crowd = cJSON_IsTrue(crowd) || (cJSON_IsNumber(crowd) && crowd->valuedouble != 0);
    return status == GLCNN_SUCCESS ? names_add(&c->set->names, category->name,
                                               strlen(category->name), c->path, &box->label, error)
                                   : status;
}

static glcnn_status read_box(struct coco *c, uint32_t number, char *error)
{
    struct raw_box box = {.place = number};
    glcnn_status status = read_object(c, number, &box, error);
    if (status != GLCNN_SUCCESS)
        raw_box_free(&box);
    else if (!annotation_add(&c->annotation, &box))
        status = fail_no_memory(error, c->path);
    return status;
}

/* ---- Images ---- */

/* A part of a path that leads out of the folder. */
static bool leads_out(const char *name)
{
    size_t length;
    if (*name == '/' || *name == 0)
        return true;
    for (; *name; name += length + (name[length] == '/')) {
        length = strcspn(name, "/");
        if (length == 2 && strncmp(name, "..", 2) == 0)
            return true;
    }
    return false;
}

/* The file in the first folder that has it; NULL: none has, or memory is short. */
static char *find_in_folders(const struct coco *c, const char *name)
{
    for (uint32_t i = 0; i < c->folders->count && !leads_out(name); i++) {
        char *path = path_join(c->folders->names[i], name);
        if (!path || path_exists(path))
            return path;
        free(path);
    }
    return NULL;
}

/* The name as it is, or else with slashes where Windows has backslashes, or else without the folders of
 * the machine that wrote it. Where none is there the path in the first folder. */
static char *find_file(const struct coco *c, const struct image *image)
{
    const char *name = image->name;
    char *path = find_in_folders(c, name), *copy = path ? NULL : strdup(name);
    for (char *at = copy; at && *at; at++)
        *at = *at == '\\' ? '/' : *at;
    if (copy)
        path = find_in_folders(c, copy);
    if (copy && !path && !image->has_namesake)
        path = find_in_folders(c, base_of(copy));
    if (copy && !path)
        path = path_join(c->folders->names[0], copy);
    free(copy);
    return path;
}

static void read_size(const cJSON *json, uint32_t *size)
{
    double value;
    *size = read_whole(json, &value) && value > 0 && value <= GLCNN_DATA_MAX_PIXELS
                ? (uint32_t)value
                : 0;
}

static glcnn_status read_annotation(struct coco *c, const struct image *image, char *error)
{
    struct annotation *a = &c->annotation;
    const char *name = image->name;
    glcnn_status status = GLCNN_SUCCESS;
    annotation_clear(a);
    read_size(member(image->json, "width"), &a->width);
    read_size(member(image->json, "height"), &a->height);
    if (image->is_twice)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.200s: images[%u] has the id, %.0f, or the file_name, %.100s, of an "
                         "image before it; expected each once",
                         c->path, image->number, image->id, name);
    for (uint32_t i = 0; i < image->count && status == GLCNN_SUCCESS; i++)
        status = read_box(c, c->order[image->first + i], error);
    return status;
}

static glcnn_status refuse_name(struct coco *c, const struct image *image)
{
    char message[GLCNN_ERROR_LENGTH];
    snprintf(message, sizeof message,
             "%.200s: images[%u].file_name is \"%.150s\"; expected a path below the folder of the "
             "pictures",
             c->path, image->number, image->name);
    return set_complain(c->set, 1, message, c->error);
}

/* Left out where what is said of it cannot be understood. */
static glcnn_status add_image(struct coco *c, const struct image *image)
{
    char message[GLCNN_ERROR_LENGTH];
    glcnn_status status = read_annotation(c, image, message);
    if (status == GLCNN_OUT_OF_MEMORY)
        return fail_with(c->error, status, "%s", message);
    if (status != GLCNN_SUCCESS)
        return set_complain(c->set, 1, message, c->error);
    char *path = find_file(c, image);
    if (path && leads_out(image->name) && !path_exists(path)) {
        free(path);
        return refuse_name(c, image);
    }
    const uint32_t before = c->set->file_count;
    status = path ? set_add_picture(c->set, c->part, path, 0, false, c->error)
                  : fail_no_memory(c->error, c->path);
    free(path);
    return status == GLCNN_SUCCESS && c->set->file_count > before
               ? annotation_attach(c->set, c->part, &c->annotation, c->error)
               : status;
}

static glcnn_status add_images(struct coco *c)
{
    glcnn_status status = GLCNN_SUCCESS;
    c->annotation.path = c->path;
    c->annotation.before = "annotations[";
    c->annotation.behind = "]";
    c->annotation.in_pixels = true;
    c->set->unread = (struct unread){.count = 0};
    for (uint32_t i = 0; i < c->counts[IMAGES] && status == GLCNN_SUCCESS; i++)
        status = add_image(c, &c->images[c->by_number[i]]);
    set_tell_unread(c->set, c->path);
    return status;
}

/* ---- All ---- */

static glcnn_status add(struct coco *c)
{
    static glcnn_status (*const steps[])(struct coco *) = {
        read_file, find_lists, read_categories, name_categories, read_images, find_images};
    glcnn_status status = GLCNN_SUCCESS;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == GLCNN_SUCCESS; i++)
        status = steps[i](c);
    if (status != GLCNN_SUCCESS)
        return status;
    group(c);
    return add_images(c);
}

glcnn_status coco_add(glcnn_dataset *set, glcnn_data_part part, const char *path,
                      const struct listing *folders, char *error)
{
    struct coco c = {.set = set, .part = part, .path = path, .folders = folders, .error = error};
    glcnn_status status = add(&c);
    cJSON_Delete(c.json);
    annotation_free(&c.annotation);
    free(c.categories);
    free(c.images);
    free(c.by_number);
    free((void *)c.annotations);
    free(c.order);
    free(c.image_of);
    return status;
}
