/* Weights to begin with, from files. */
#include "train_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name_map.h"

/* ---- --model ---- */

/* What becomes of parameters of a file whose head is another here. */
struct heads {
    const char *label; /* of the one layer of the head; NULL: of none */
    const char *
        beginning; /* of labels of a head on a backbone, or of layers with rows of classes; NULL: of
                              none */
    bool is_backbone;               /* what the file has more is not needed */
    char wrong[GLCNN_ERROR_LENGTH]; /* about the first that does not fit and is not the head's */
};

static bool is_of(const char *label, const char *parameter)
{
    size_t length = strlen(label);
    return parameter && strncmp(parameter, label, length) == 0 && parameter[length] == '.' &&
           !strchr(parameter + length + 1, '.');
}

/* Those come from the data. */
static bool is_of_units(const char *parameter)
{
    return parameter && strncmp(parameter, TASK_UNITS, sizeof TASK_UNITS - 1) == 0;
}

/* What the network has anew, and what it has no more. */
static bool is_of_heads(const struct heads *heads, const char *parameter)
{
    if (heads->beginning)
        return (heads->is_backbone && !parameter) ||
               (parameter && strncmp(parameter, heads->beginning, strlen(heads->beginning)) == 0);
    return is_of_units(parameter) || (heads->label && is_of(heads->label, parameter));
}

static void tell_rows(const glcnn_trainer *s)
{
    char text[CLASS_MATCH_TEXT];
    const struct class_match *match = &s->match;
    class_match_describe(match, s->settings.task, s->base.names, s->described.names, text);
    if (match->kept > 0)
        events_note(s->events, "head: %s\n", text);
    else
        events_note(
            s->events,
            "head: new weights, since none of the data's names is one of the network's: %s\n",
            text);
}

/* Rows of the head that are the file's by name; the others are `fresh`. */
static bool load_rows(const glcnn_trainer *s, const struct model *model, bool tells,
                      const struct class_rows *fresh, char error[GLCNN_ERROR_LENGTH])
{
    const char *path = s->settings.model;
    glcnn_network *network = NULL;
    if (!saved_network(&s->base, path, model->device, &network, error)) {
        glcnn_network_destroy(&network);
        return false;
    }
    const struct class_head before = {network, s->settings.task, model_head(network)},
                            now = {model->network, s->settings.task, model->head};
    struct class_rows *earlier = class_rows_read(&before);
    const bool good = earlier && class_rows_take(&now, &s->match, fresh, earlier);
    if (!good)
        snprintf(error, GLCNN_ERROR_LENGTH,
                 "%.300s: the rows of its head cannot be taken one by one; give data of the same "
                 "classes, or begin with another network",
                 path);
    else if (tells)
        tell_rows(s);
    class_rows_free(earlier);
    glcnn_network_destroy(&network);
    return good;
}

static void check_head(void *user, const char *parameter, const char *tensor, const char *reason)
{
    struct heads *heads = user;
    if (reason && !is_of_heads(heads, parameter) && !heads->wrong[0])
        snprintf(heads->wrong, sizeof heads->wrong, "%.150s: %.250s",
                 parameter ? parameter : tensor, reason);
}

static void tell_head(const glcnn_trainer *s, const struct model *model, const struct heads *heads,
                      uint32_t classes)
{
    if (*model->backbone)
        events_note(s->events, "head: new, for %s, on %s\n", task_of(&model->form)->name,
                    model->backbone);
    else if (classes != model->form.classes)
        events_note(s->events, "head: %s has new weights, for %u classes instead of %u\n",
                    heads->label ? heads->label : heads->beginning, model->form.classes, classes);
}

/* All but the head, and units of a task that the file is not for. */
static bool load_body(const glcnn_trainer *s, struct model *model, bool tells, uint32_t classes,
                      char error[GLCNN_ERROR_LENGTH])
{
    const char *path = s->settings.model;
    const struct task *task = task_of(&model->form);
    struct heads heads = {.label = model->head ? glcnn_filter_node_label(model->head) : NULL,
                          .beginning = *model->backbone ? task->head : task->class_layers,
                          .is_backbone = *model->backbone != 0};
    if (glcnn_checkpoint_load_matching(model->network, path, NULL, 0, check_head, &heads, error) !=
        GLCNN_SUCCESS)
        return false;
    if (heads.wrong[0]) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%.150s: does not fit its own network: %.300s", path,
                 heads.wrong);
        return false;
    }
    if (tells)
        tell_head(s, model, &heads, classes);
    return true;
}

/* The head's weights, `count` of them; NULL: there is no memory, or the device has the message. */
static float *read_head(const struct model *model, size_t *count)
{
    glcnn_buffer *buffer = glcnn_kernel_vector(glcnn_filter_node_kernel(model->head), "weights");
    const size_t size = buffer ? glcnn_buffer_size(buffer) : 0;
    float *values = size > 0 ? malloc(size) : NULL;
    *count = size / sizeof *values;
    if (values && glcnn_buffer_read(buffer, 0, size, values) == GLCNN_SUCCESS)
        return values;
    free(values);
    return NULL;
}

static bool are_zero(const float *values, size_t count)
{
    size_t i = 0;
    while (i < count && values[i] == 0)
        i++;
    return i == count;
}

/* A head of zeros, as "glcnn import --head" adds it, sends nothing back to the layers before it: where
 * these train too it has the weights that were drawn. */
static bool load_with_head(const glcnn_trainer *s, struct model *model, bool tells,
                           char error[GLCNN_ERROR_LENGTH])
{
    const char *path = s->settings.model;
    size_t count = 0, loaded_count = 0;
    float *drawn = read_head(model, &count), *loaded = NULL;
    snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(model->device));
    bool good = drawn &&
                glcnn_checkpoint_load(model->network, path, NULL, error) == GLCNN_SUCCESS &&
                (loaded = read_head(model, &loaded_count)) != NULL;
    if (good && loaded_count == count && are_zero(loaded, count)) {
        good = glcnn_kernel_set_vector(glcnn_filter_node_kernel(model->head), "weights", drawn,
                                       count) == GLCNN_SUCCESS;
        if (tells)
            events_note(s->events,
                        "head: %s is drawn: it had no weights yet, and other layers train too\n",
                        glcnn_filter_node_label(model->head));
    }
    free(drawn);
    free(loaded);
    return good;
}

static bool load_model(const glcnn_trainer *s, struct model *model, bool tells,
                       char error[GLCNN_ERROR_LENGTH])
{
    /* Rows that are drawn for new names are what the head has before a file of as many is read. */
    if (s->match.rows && !s->match.is_same) {
        const struct class_head head = {model->network, s->settings.task, model->head};
        const bool tells_count =
            tells && s->match.kept == 0 && s->match.count != s->match.earlier_count;
        struct class_rows *fresh = class_rows_read(&head);
        snprintf(error, GLCNN_ERROR_LENGTH, "not enough memory");
        const bool good = fresh && load_body(s, model, tells_count, s->base.form.classes, error) &&
                          load_rows(s, model, tells && !tells_count, fresh, error);
        class_rows_free(fresh);
        return good;
    }
    const char *path = s->settings.model;
    if (s->base.form.classes != model->form.classes || s->base.form.task != model->form.task)
        return load_body(s, model, tells, s->base.form.classes, error);
    if (strcmp(session_layers(s), "last") == 0 || !model->head)
        return glcnn_checkpoint_load(model->network, path, NULL, error) == GLCNN_SUCCESS;
    return load_with_head(s, model, tells, error);
}

/* ---- --load-matching ---- */

struct report {
    const glcnn_trainer *session;
    size_t read, skipped;
};

static void report(void *user, const char *parameter, const char *tensor, const char *reason)
{
    struct report *r = user;
    r->read += !reason;
    r->skipped += reason != NULL;
    if (reason)
        events_note(r->session->events, "  skipped  %s: %s\n", parameter ? parameter : tensor,
                    reason);
    else if (strcmp(parameter, tensor) == 0)
        events_note(r->session->events, "  read     %s\n", parameter);
    else
        events_note(r->session->events, "  read     %s as %s\n", tensor, parameter);
}

static bool load_matching(const glcnn_trainer *s, struct model *model, bool tells,
                          char error[GLCNN_ERROR_LENGTH])
{
    const char *path = s->settings.matching;
    struct name_map map = {.names = NULL};
    struct report r = {.session = s};
    bool good = (!s->settings.names || name_map_read(s->settings.names, &map, error)) &&
                glcnn_checkpoint_load_matching(model->network, path, map.names, map.count,
                                               tells ? report : NULL, &r, error) == GLCNN_SUCCESS;
    name_map_free(&map);
    if (good && tells)
        events_note(s->events, "weights: %zu vectors of %s, %zu skipped\n", r.read, path,
                    r.skipped);
    return good;
}

/* ---- All ---- */

bool start_weights(const glcnn_trainer *s, struct model *model, bool tells,
                   char error[GLCNN_ERROR_LENGTH])
{
    if (glcnn_network_initialise(model->network, s->settings.seed) != GLCNN_SUCCESS) {
        snprintf(error, GLCNN_ERROR_LENGTH, "%s", model_failure(model->device));
        return false;
    }
    return (!s->settings.model || load_model(s, model, tells, error)) &&
           (!s->settings.matching || load_matching(s, model, tells, error));
}
