/* Reads objects as Label Studio's brush exports them: a PNG for each stroke of a task, whose name does not say which
 * picture that is. The picture is called by the task's number, or Label Studio's JSON next to the masks says which it
 * is. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fail.h"
#include "boxes_place.h"
#include "bytes.h"
#include "masks.h"
#include "words.h"

#define MAX_BYTES  ((size_t)256 << 20) /* of the JSON, in which the masks stand too */
#define LEAST      128                 /* a value of an object's pixel, of 0 to 255 */
#define MARK_BYTES 8                   /* letters and digits before the name of an uploaded file */

/* task-1-annotation-2-by-3-TAG-NAME-0.png; save_brush_images_from_annotation of label_studio_converter/brush.py
 * writes it. */
struct stroke {
    const char *file;
    unsigned long long task, annotation;
    const char *name;
    size_t length;
};

/* A task of the JSON. */
struct task {
    unsigned long long number;
    char *picture; /* the last part of its path */
};

struct brush {
    glcnn_dataset *set;
    glcnn_data_part part;
    const char *root, *pictures, *masks; /* folders */
    struct listing files;                /* of masks */
    struct stroke *strokes;              /* by task, annotation and name */
    uint32_t count;
    struct task *tasks;
    uint32_t task_count;
    size_t task_capacity;
    bool is_listed;       /* a JSON says which picture a task is */
    bool *is_used;        /* [count] */
    struct tally several; /* tasks of several annotations */
    uint32_t met;         /* pictures that are of a task */
    struct annotation annotation;
    char *error;
};

/* ---- Names ---- */

/* Reads the number after a word and returns what follows it; NULL: no number does. */
static const char *read_number(const char *at, const char *word, unsigned long long *number)
{
    char *end;
    const size_t length = strlen(word);
    if (strncmp(at, word, length) != 0 || at[length] < '0' || at[length] > '9')
        return NULL;
    *number = strtoull(at + length, &end, 10);
    return end;
}

/* Returns what follows the next hyphen; NULL: no hyphen is left. */
static const char *pass_hyphen(const char *at)
{
    at = at ? strchr(at, '-') : NULL;
    return at ? at + 1 : NULL;
}

static bool read_stroke(const char *file, struct stroke *stroke)
{
    static const char by[] = "-by-", ending[] = ".png";
    const char *at = word_has_ending(file, ending) ? file : NULL;
    at = at ? read_number(at, "task-", &stroke->task) : NULL;
    at = at ? read_number(at, "-annotation-", &stroke->annotation) : NULL;
    at = at && strncmp(at, by, sizeof by - 1) == 0 ? at + sizeof by - 1 : NULL;
    at = pass_hyphen(pass_hyphen(at)); /* behind who made it, and the tag's name */
    if (!at)
        return false;
    const char *end = file + strlen(file) - (sizeof ending - 1), *last = end;
    while (last > at && last[-1] >= '0' && last[-1] <= '9')
        last--;
    end = last < end && last > at && last[-1] == '-' ? last - 1 : end;
    stroke->file = file;
    stroke->name = at;
    stroke->length = end > at ? (size_t)(end - at) : 0;
    return stroke->length > 0;
}

static bool any_is_stroke(const struct listing *l)
{
    struct stroke stroke;
    for (uint32_t i = 0; i < l->count; i++)
        if (read_stroke(l->names[i], &stroke))
            return true;
    return false;
}

static int by_task(const void *a, const void *b)
{
    const struct stroke *one = a, *other = b;
    if (one->task != other->task)
        return one->task < other->task ? -1 : 1;
    if (one->annotation != other->annotation)
        return one->annotation < other->annotation ? -1 : 1;
    return strcmp(one->file, other->file);
}

static glcnn_status list_strokes(struct brush *b)
{
    glcnn_status status = listing_read(b->masks, &b->files, b->error);
    if (status != GLCNN_SUCCESS)
        return status;
    b->strokes = calloc(b->files.count + (size_t)1, sizeof *b->strokes);
    b->is_used = calloc(b->files.count + (size_t)1, sizeof *b->is_used);
    if (!b->strokes || !b->is_used)
        return fail_no_memory(b->error, b->masks);
    for (uint32_t i = 0; i < b->files.count; i++)
        b->count += read_stroke(b->files.names[i], &b->strokes[b->count]);
    qsort(b->strokes, b->count, sizeof *b->strokes, by_task);
    return GLCNN_SUCCESS;
}

/* ---- Tasks ---- */

/* Returns the last part of a path, and of a URL what follows "?d=" too. */
static const char *last_part(const char *path)
{
    for (const char *at; (at = strpbrk(path, "/\\=")) != NULL;)
        path = at + 1;
    return path;
}

static bool add_task(struct brush *b, const cJSON *number, const char *path)
{
    struct task *tasks = array_grow(b->tasks, b->task_count, &b->task_capacity, sizeof *tasks);
    if (!tasks)
        return false;
    b->tasks = tasks;
    b->tasks[b->task_count] =
        (struct task){(unsigned long long)number->valuedouble, strdup(last_part(path))};
    return b->tasks[b->task_count++].picture != NULL;
}

/* {"id": 1, "data": {"image": "/data/upload/1/0a1b2c3d-a.png"}}, or the same without "data". */
static bool read_task(struct brush *b, const cJSON *item)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, "id"),
                *data = cJSON_GetObjectItemCaseSensitive(item, "data"), *value,
                *named = cJSON_IsObject(data) ? data : item;
    if (!cJSON_IsNumber(number) || !(number->valuedouble >= 0 && number->valuedouble < 1e15))
        return true;
    cJSON_ArrayForEach(value, named)
    {
        if (cJSON_IsString(value) && picture_has_ending(value->valuestring))
            return add_task(b, number, value->valuestring);
    }
    return true;
}

static glcnn_status read_tasks(struct brush *b, const char *path)
{
    char *text;
    struct bytes bytes;
    const cJSON *item;
    glcnn_status status = bytes_read_text(&bytes, path, MAX_BYTES, &text, b->error);
    cJSON *json = status == GLCNN_SUCCESS ? cJSON_Parse(text) : NULL,
          *list = cJSON_IsArray(json) ? json : NULL;
    if (status == GLCNN_SUCCESS && !json)
        status = fail_with(b->error, GLCNN_MALFORMED_DATA, "%.300s: is not JSON", path);
    cJSON_ArrayForEach(item, list)
    {
        if (status == GLCNN_SUCCESS && !read_task(b, item))
            status = fail_no_memory(b->error, path);
    }
    cJSON_Delete(json);
    bytes_free(&bytes);
    return status;
}

/* Reads every .json of a folder, since each may list tasks. */
static glcnn_status find_tasks(struct brush *b, const char *folder)
{
    struct listing l;
    glcnn_status status = listing_read(folder, &l, b->error);
    for (uint32_t i = 0; i < l.count && status == GLCNN_SUCCESS; i++) {
        if (!word_has_ending(l.names[i], ".json"))
            continue;
        char *path = path_join(folder, l.names[i]);
        status = path ? read_tasks(b, path) : fail_no_memory(b->error, folder);
        free(path);
    }
    listing_free(&l);
    b->is_listed = b->task_count > 0;
    return status;
}

/* An uploaded file has eight letters or digits and a hyphen before its name. */
static bool is_picture_of(const struct task *task, const char *picture)
{
    const char *name = task->picture;
    return strcmp(name, picture) == 0 || (strlen(name) > MARK_BYTES && name[MARK_BYTES] == '-' &&
                                          strcmp(name + MARK_BYTES + 1, picture) == 0);
}

/* Finds the task of a picture: the list's, or without a list 1 for 1.png and task-1.png. */
static bool find_task(const struct brush *b, const char *picture, unsigned long long *task)
{
    for (uint32_t i = 0; i < b->task_count; i++)
        if (is_picture_of(&b->tasks[i], picture)) {
            *task = b->tasks[i].number;
            return true;
        }
    const char *end = b->is_listed ? NULL : read_number(picture, "", task);
    end = end || b->is_listed ? end : read_number(picture, "task-", task);
    return end && (size_t)(end - picture) == name_stem(picture);
}

/* ---- One picture ---- */

/* Reads a mask as runs of an object. */
static glcnn_status read_runs(const char *path, struct outline *o, char *error)
{
    struct picture_values values;
    struct picture_file file;
    glcnn_status status = masks_read_file(path, NULL, &file, &values, error);
    const size_t count = status == GLCNN_SUCCESS ? (size_t)values.width * values.height : 0;
    for (size_t i = 0; i < count; i++)
        values.values[i] = values.values[i] >= LEAST;
    o->width = values.width;
    o->height = values.height;
    const struct outline_values of = {
        .values = values.values, .width = values.width, .height = values.height};
    if (status == GLCNN_SUCCESS && !outline_add_values(o, &of))
        status = fail_no_memory(error, path);
    free(values.values);
    return status;
}

/* Masks of one picture have one size. */
static glcnn_status take_size(struct annotation *a, const char *path, const struct outline *o,
                              char *error)
{
    if (a->count > 0 && (a->width != o->width || a->height != o->height))
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.250s: is %ux%u, and another mask of its task %ux%u; expected one size",
                         path, o->width, o->height, a->width, a->height);
    a->width = o->width;
    a->height = o->height;
    return GLCNN_SUCCESS;
}

static glcnn_status add_stroke(struct brush *b, const struct stroke *stroke, const char *path,
                               char *error)
{
    double v[4];
    struct annotation *a = &b->annotation;
    struct raw_box box = {.place = (size_t)stroke->task};
    glcnn_status status = read_runs(path, &box.outline, error);
    if (status == GLCNN_SUCCESS)
        status = take_size(a, path, &box.outline, error);
    if (status == GLCNN_SUCCESS)
        status = names_add(&b->set->names, stroke->name, stroke->length, path, &box.label, error);
    if (status != GLCNN_SUCCESS) {
        raw_box_free(&box);
        return status;
    }
    if (!outline_box(&box.outline, v))
        v[0] = v[1] = v[2] = v[3] = 0;
    box.left = v[0];
    box.top = v[1];
    box.right = v[2];
    box.bottom = v[3];
    return annotation_add(a, &box) ? GLCNN_SUCCESS : fail_no_memory(error, path);
}

/* Returns the number of the first stroke of a task, or where it would stand. */
static uint32_t find_first(const struct brush *b, unsigned long long task)
{
    uint32_t low = 0, high = b->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (b->strokes[middle].task < task)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Only the last of several annotations of a task is read, and this is told once. */
static uint32_t take_last(struct brush *b, uint32_t first, uint32_t end)
{
    const struct stroke *last = &b->strokes[end - 1];
    uint32_t i = end;
    while (i > first && b->strokes[i - 1].annotation == last->annotation)
        i--;
    if (i > first && b->several.count++ == 0)
        snprintf(b->several.first, sizeof b->several.first,
                 "%.200s: task %llu has masks of several annotations, of which the last, %llu, is "
                 "read",
                 b->masks, last->task, last->annotation);
    return i;
}

static glcnn_status read_strokes(struct brush *b, unsigned long long task, char *error)
{
    const uint32_t first = find_first(b, task);
    uint32_t end = first;
    glcnn_status status = GLCNN_SUCCESS;
    while (end < b->count && b->strokes[end].task == task)
        b->is_used[end++] = true;
    for (uint32_t i = end > first ? take_last(b, first, end) : end;
         i < end && status == GLCNN_SUCCESS; i++) {
        char *path = path_join(b->masks, b->strokes[i].file);
        status =
            path ? add_stroke(b, &b->strokes[i], path, error) : fail_no_memory(error, b->masks);
        free(path);
    }
    return status;
}

static void tell_unboxed(struct brush *b, const char *picture)
{
    struct tally *unboxed = &b->set->boxes.unboxed;
    if (unboxed->count++ == 0)
        snprintf(unboxed->first, sizeof unboxed->first, "%.300s: no mask is of its task", picture);
}

/* The strokes are for the picture that was added last. */
static glcnn_status attach_strokes(struct brush *b, const char *picture, const char *name)
{
    char message[GLCNN_ERROR_LENGTH];
    unsigned long long task;
    glcnn_status status = GLCNN_SUCCESS;
    annotation_clear(&b->annotation);
    b->annotation.width = b->annotation.height = 0;
    if (find_task(b, name, &task)) {
        b->met++;
        status = read_strokes(b, task, message);
    }
    if (status == GLCNN_OUT_OF_MEMORY)
        return fail_with(b->error, status, "%s", message);
    if (status != GLCNN_SUCCESS) {
        set_remove_picture(b->set, b->part);
        return set_complain(b->set, 1, message, b->error);
    }
    if (b->annotation.count == 0)
        tell_unboxed(b, picture);
    else if (b->set->parameters.targets == GLCNN_DATA_TARGETS_BOXES)
        boxes_tell_outline(b->set, b->masks);
    return annotation_attach(b->set, b->part, &b->annotation, b->error);
}

static glcnn_status add_picture(struct brush *b, const char *name)
{
    struct stroke stroke;
    const uint32_t before = b->set->file_count;
    char *path = read_stroke(name, &stroke) || word_has_ending(name, ".json")
                     ? NULL
                     : path_join(b->pictures, name);
    glcnn_status status = GLCNN_SUCCESS;
    if (path && !path_is_folder(path))
        status = set_add_picture(b->set, b->part, path, 0, false, b->error);
    if (status == GLCNN_SUCCESS && b->set->file_count > before)
        status = attach_strokes(b, path, name);
    free(path);
    return status;
}

/* ---- All ---- */

static glcnn_status add_pictures(struct brush *b)
{
    struct listing l;
    glcnn_status status = listing_read(b->pictures, &l, b->error);
    b->set->info.ignored += l.hidden;
    b->set->unread = (struct unread){.count = 0};
    for (uint32_t i = 0; i < l.count && status == GLCNN_SUCCESS; i++)
        status = add_picture(b, l.names[i]);
    listing_free(&l);
    set_tell_unread(b->set, b->pictures);
    return status;
}

static glcnn_status tell_unused(struct brush *b)
{
    char message[GLCNN_ERROR_LENGTH];
    glcnn_status status = GLCNN_SUCCESS;
    for (uint32_t i = 0; i < b->count && status == GLCNN_SUCCESS; i++) {
        snprintf(message, sizeof message, "%.150s/%.100s: %.150s has no picture of that task",
                 b->masks, b->strokes[i].file, b->pictures);
        if (!b->is_used[i])
            status = boxes_tally(b->set, &b->set->boxes.unmatched, message, b->error);
    }
    tally_tell(b->set, &b->several, false);
    return status;
}

static glcnn_status refuse_unknown(const struct brush *b)
{
    return fail_with(
        b->error, GLCNN_MALFORMED_DATA,
        "%.150s: %.100s is a mask of Label Studio's brush, whose name has the number of "
        "its task, and no picture of %.150s is known to be of a task; expected pictures "
        "called 1, 2 or task-1, task-2 as their tasks, or Label Studio's export \"JSON\" "
        "beside the masks",
        b->masks, b->strokes[0].file, b->pictures);
}

static glcnn_status add_all(struct brush *b)
{
    b->set->info.format = "brush";
    b->annotation.path = b->masks;
    b->annotation.before = "task ";
    b->annotation.behind = "";
    b->annotation.in_pixels = true;
    glcnn_status status = list_strokes(b);
    if (status == GLCNN_SUCCESS)
        status = find_tasks(b, b->masks);
    if (status == GLCNN_SUCCESS && !b->is_listed)
        status = find_tasks(b, b->root);
    if (status == GLCNN_SUCCESS)
        status = add_pictures(b);
    if (status == GLCNN_SUCCESS && b->met == 0)
        return refuse_unknown(b);
    return status == GLCNN_SUCCESS ? tell_unused(b) : status;
}

static glcnn_status add_folders(const struct place *p, const char *pictures, const char *masks)
{
    struct brush b = {.set = p->set,
                      .part = p->part,
                      .root = p->folder,
                      .pictures = pictures,
                      .masks = masks,
                      .error = p->error};
    glcnn_status status = add_all(&b);
    for (uint32_t i = 0; i < b.task_count; i++)
        free(b.tasks[i].picture);
    free(b.tasks);
    free(b.strokes);
    free(b.is_used);
    listing_free(&b.files);
    annotation_free(&b.annotation);
    return status;
}

/* Returns the folder of the masks, itself or one in it that is called by what it has; to be released with free().
 * NULL: none is. */
static char *find_masks(const struct place *p)
{
    if (any_is_stroke(&p->listing))
        return strdup(p->folder);
    for (uint32_t i = 0; i < p->listing.count; i++) {
        struct place below = {.folder = NULL};
        char error[GLCNN_ERROR_LENGTH];
        const char *name = p->listing.names[i];
        char *path = word_is_target_folder(name) ? path_join(p->folder, name) : NULL;
        const bool found = path && path_is_folder(path) &&
                           place_open(&below, p, NULL, path, error) == GLCNN_SUCCESS &&
                           any_is_stroke(&below.listing);
        listing_free(&below.listing);
        if (found)
            return path;
        free(path);
    }
    return NULL;
}

glcnn_status brush_add(const struct place *p, bool *found)
{
    char *masks = find_masks(p),
         *images = masks ? place_find_folder(p, "images", "JPEGImages") : NULL;
    *found = masks != NULL;
    glcnn_status status =
        masks && p->set ? add_folders(p, images ? images : p->folder, masks) : GLCNN_SUCCESS;
    free(masks);
    free(images);
    return status;
}

static bool has_brush(const char *folder, const void *what)
{
    struct place p;
    char error[GLCNN_ERROR_LENGTH];
    bool found = false;
    (void)what;
    if (place_open(&p, NULL, NULL, folder, error) == GLCNN_SUCCESS) {
        brush_add(&p, &found);
        found = found || place_any_part(&p, has_brush, NULL);
    }
    listing_free(&p.listing);
    return found;
}

bool brush_is_in(const char *path)
{
    return has_brush(path, NULL);
}
