/* Describes data before anything is trained on them, in lines for people and as JSON. */
#include <glcnn/report.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/show.h"
#include "look_page.h"
#include "task/json_text.h"

#define SHOWN_MAX 40 /* classes that are told in lines */

struct seen {
    struct glcnn_look shown; /* first: it is what users have */
    const char *path;
    const struct task *task;
    struct pictures pictures;
    struct glcnn_data_look *look;
    struct text text;
    char *json;
};

/* ---- Lines ---- */

static void tell_range(struct text *text, const char *what, const struct glcnn_data_range *r)
{
    if (r->most > r->least)
        text_format(text, "%s: %.4g to %.4g pixels, median %.4g\n", what, r->least, r->most,
                    r->median);
    else if (r->most > 0)
        text_format(text, "%s: %.4g pixels\n", what, r->most);
}

static void tell_classes(struct seen *s)
{
    const struct glcnn_data_look *look = s->look;
    text_format(&s->text, "\n%-24s %9s %10s %9s %12s\n", "",
                glcnn_data_part_name(GLCNN_DATA_PART_TRAINING),
                glcnn_data_part_name(GLCNN_DATA_PART_VALIDATION),
                glcnn_data_part_name(GLCNN_DATA_PART_TEST), look_page_objects(s->task));
    for (uint32_t k = 0; k < look->class_count && k < SHOWN_MAX; k++) {
        const struct glcnn_data_class_look *c = &look->classes[k];
        text_show(&s->text, "%-24.24s %9u %10u %9u %12" PRIu64 "\n", c->name, c->images[0],
                  c->images[1], c->images[2], c->objects[0] + c->objects[1] + c->objects[2]);
    }
    if (look->class_count > SHOWN_MAX)
        text_format(&s->text, "and %u more; --json has all\n", look->class_count - SHOWN_MAX);
    text_show(&s->text, "\n");
}

static void tell(struct seen *s)
{
    const struct glcnn_data_info *info = s->pictures.info;
    text_show(&s->text, "%s: for the task %s (%s), read as %s\n", s->path, s->task->name,
              s->task->text, info->format);
    pictures_describe_decisions(&s->pictures, &s->text);
    text_format(&s->text, "images: %u for training, %u for validation%s, %u for test; %u %s\n",
                info->counts[0], info->counts[1],
                info->is_split ? " (set aside of the training part)" : "", info->counts[2],
                info->class_count, s->task->classes);
    tell_classes(s);
    tell_range(&s->text, "widths of pictures", &s->look->widths);
    tell_range(&s->text, "heights of pictures", &s->look->heights);
    tell_range(&s->text, "sizes of boxes, roots of areas", &s->look->sides);
    for (uint32_t i = 0; i < s->look->suspicion_count; i++)
        text_show(&s->text, "suspicious: %s\n", s->look->suspicions[i].text);
    if (s->look->suspicion_count == 0)
        text_show(&s->text, "nothing suspicious was found\n");
    pictures_describe_skipped(&s->pictures, &s->text);
}

/* ---- JSON ---- */

static void add_parts(cJSON *object, const char *name, const uint32_t counts[GLCNN_DATA_PARTS])
{
    cJSON *parts = cJSON_AddObjectToObject(object, name);
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        cJSON_AddNumberToObject(parts, glcnn_data_part_name((glcnn_data_part)p), counts[p]);
}

static void add_class(cJSON *classes, const struct glcnn_data_class_look *c)
{
    cJSON *entry = cJSON_CreateObject(), *objects;
    cJSON_AddStringToObject(entry, "name", c->name);
    add_parts(entry, "images", c->images);
    objects = cJSON_AddObjectToObject(entry, "objects");
    for (int p = 0; p < GLCNN_DATA_PARTS; p++)
        cJSON_AddNumberToObject(objects, glcnn_data_part_name((glcnn_data_part)p),
                                (double)c->objects[p]);
    cJSON_AddItemToArray(classes, entry);
}

static void add_range(cJSON *object, const char *name, const struct glcnn_data_range *r)
{
    cJSON *range = cJSON_AddObjectToObject(object, name);
    cJSON_AddNumberToObject(range, "least", r->least);
    cJSON_AddNumberToObject(range, "median", r->median);
    cJSON_AddNumberToObject(range, "most", r->most);
}

static void add_messages(const struct seen *s, cJSON *object, const char *name,
                         const char *(*message)(const glcnn_dataset *, uint32_t))
{
    const char *text;
    cJSON *messages = cJSON_AddArrayToObject(object, name);
    for (uint32_t i = 0; (text = message(s->pictures.set, i)) != NULL; i++)
        cJSON_AddItemToArray(messages, cJSON_CreateString(text));
}

static void add_suspicions(const struct seen *s, cJSON *object)
{
    cJSON *suspicions = cJSON_AddArrayToObject(object, "suspicious");
    for (uint32_t i = 0; i < s->look->suspicion_count; i++) {
        const struct glcnn_data_suspicion *found = &s->look->suspicions[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "text", found->text);
        cJSON_AddNumberToObject(entry, "count", found->count);
        cJSON_AddItemToArray(suspicions, entry);
    }
}

static cJSON *describe_data(const struct seen *s)
{
    const struct glcnn_data_info *info = s->pictures.info;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "data", s->path);
    cJSON_AddStringToObject(object, "task", s->task->name);
    cJSON_AddStringToObject(object, "format", info->format);
    add_parts(object, "images", info->counts);
    cJSON_AddBoolToObject(object, "validation_is_set_aside", info->is_split);
    cJSON *classes = cJSON_AddArrayToObject(object, "classes");
    for (uint32_t k = 0; k < s->look->class_count; k++)
        add_class(classes, &s->look->classes[k]);
    add_parts(object, "unlabelled", s->look->unlabelled);
    add_range(object, "widths", &s->look->widths);
    add_range(object, "heights", &s->look->heights);
    add_range(object, "sides", &s->look->sides);
    add_suspicions(s, object);
    add_messages(s, object, "decisions", glcnn_dataset_decision);
    add_messages(s, object, "left_out", glcnn_dataset_note);
    return object;
}

/* ---- All ---- */

static glcnn_status look_closely(struct seen *s, char error[GLCNN_ERROR_LENGTH])
{
    const struct pictures_options what = {.path = s->path, .task = s->task, .validation = -1};
    return pictures_open(&what, &s->pictures, error)
               ? glcnn_dataset_look(s->pictures.set, &s->look, error)
               : GLCNN_MALFORMED_DATA;
}

/* The page says why data are refused. The refusal is what is reported, even if the page cannot be written either. */
static glcnn_status write_page(const struct seen *s, const char *path, glcnn_status status,
                               char error[GLCNN_ERROR_LENGTH])
{
    char reason[GLCNN_ERROR_LENGTH];
    const bool is_refused = status != GLCNN_SUCCESS;
    const struct look_page page = {.data = s->path,
                                   .refused = is_refused ? error : NULL,
                                   .task = s->task,
                                   .pictures = is_refused ? NULL : &s->pictures,
                                   .look = s->look};
    if (!path || look_page_write(&page, path, is_refused ? reason : error))
        return status;
    return is_refused ? status : GLCNN_IO_ERROR;
}

glcnn_status glcnn_look_at(const char *data, const char *task, const char *page,
                           const struct glcnn_look **look, char error[GLCNN_ERROR_LENGTH])
{
    struct seen *s = calloc(1, sizeof *s);
    *look = NULL;
    if (!s)
        return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    s->path = data;
    s->task = task ? task_find(task) : pictures_task(data);
    *look = &s->shown;
    glcnn_status status =
        s->task ? write_page(s, page, look_closely(s, error), error)
                : fail_with(error, GLCNN_INVALID_ARGUMENT, "there is no task \"%.100s\"", task);
    if (status == GLCNN_SUCCESS) {
        tell(s);
        s->json = json_text(describe_data(s), true);
        if (s->text.failed || !s->json)
            status = fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
        s->shown = (struct glcnn_look){.task = &s->task->info,
                                       .data = s->pictures.set,
                                       .look = s->look,
                                       .text = s->text.bytes,
                                       .json = s->json};
    }
    if (status != GLCNN_SUCCESS)
        glcnn_look_destroy(look);
    return status;
}

void glcnn_look_destroy(const struct glcnn_look **look)
{
    struct seen *s = (struct seen *)(uintptr_t)*look;
    *look = NULL;
    if (!s)
        return;
    glcnn_data_look_destroy(&s->look);
    pictures_close(&s->pictures);
    text_free(&s->text);
    free(s->json);
    free(s);
}
