/* Settings and the metadata of checkpoints: what is written, what a run that goes on takes of it, and the command
 * that has it go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/show.h"
#include "train_settings_kinds.h"
#include "task/saved.h"

/* ---- Reading ---- */

static glcnn_status refuse_other(const glcnn_train_settings *s,
                                 const struct glcnn_train_setting *row, const char *text,
                                 char error[GLCNN_ERROR_LENGTH])
{
    return fail_with(error, GLCNN_INVALID_STATE,
                     "%.300s: cannot be resumed: --%s differs; the run began with \"%.60s\"",
                     s->resume, row->name, text);
}

static glcnn_status resume_number(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                                  const char *text, char error[GLCNN_ERROR_LENGTH])
{
    char range[96];
    glcnn_train_settings kept = *s;
    const uint64_t least = setting_kept_least(row);
    if (!text && row->since > 0) { /* the default of a run that begins may be another */
        setting_fill_default(s, row);
        setting_note_given(s, row);
        return GLCNN_SUCCESS;
    }
    if (!text)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.200s: cannot be resumed: it is not a checkpoint of \"glcnn train\": its "
            "metadata have no \"%s\"; expected %s",
            s->resume, row->name, setting_describe_range(row, least, range));
    if (!setting_read_number(&kept, row, text, least))
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.200s: cannot be resumed: \"%s\" in its metadata is \"%.40s\"; expected %s",
            s->resume, row->name, text, setting_describe_range(row, least, range));
    if (setting_is_given(s, row))
        return row->on_resume == GLCNN_TRAIN_RESUME_FIXED &&
                       memcmp(setting_place(s, row), setting_place(&kept, row), sizeof(uint64_t)) !=
                           0
                   ? refuse_other(s, row, text, error)
                   : GLCNN_SUCCESS;
    *s = kept;
    setting_note_given(s, row);
    return GLCNN_SUCCESS;
}

/* Files of before it have no flag set. */
static glcnn_status resume_flag(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                                const char *text, char error[GLCNN_ERROR_LENGTH])
{
    bool *place = setting_place(s, row);
    const bool kept = text && strcmp(text, "1") == 0;
    if (*place && !kept)
        return refuse_other(s, row, text ? text : "0", error);
    *place = kept;
    return GLCNN_SUCCESS;
}

static glcnn_status resume_name(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                                const char *text, char error[GLCNN_ERROR_LENGTH])
{
    text = text ? text : row->before;
    const void *known = text ? row->list->find(text) : NULL, **at = setting_place(s, row);
    if (text && !known && !*at && row == &settings_table[SETTING_net])
        return GLCNN_SUCCESS; /* the file has it */
    if (!known)
        return fail_with(error, GLCNN_MALFORMED_DATA,
                         "%.300s: is not a checkpoint of \"glcnn train\": its metadata name no %s",
                         s->resume, row->list->what);
    if (*at && *at != known && row->on_resume == GLCNN_TRAIN_RESUME_FIXED)
        return refuse_other(s, row, text, error);
    if (!*at)
        *at = known;
    return GLCNN_SUCCESS;
}

/* Which names there are of --loss is looked at once the task is known. */
static glcnn_status resume_text(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                                const char *text, char error[GLCNN_ERROR_LENGTH])
{
    const char **place = setting_place(s, row);
    text = text ? text : row->fallback_text;
    if (!text)
        return GLCNN_SUCCESS;
    if (*place && strcmp(*place, text) != 0)
        return refuse_other(s, row, text, error);
    if (row->most > 0 && strlen(text) > row->most)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.300s: cannot be resumed: \"%s\" in its metadata has %zu letters, more than %d",
            s->resume, row->name, strlen(text), (int)row->most);
    return setting_copy_text(s, row, text)
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

/* Data that is named is compared once it is open. */
static glcnn_status resume_data(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                                const char *text, char error[GLCNN_ERROR_LENGTH])
{
    char path[DATA_PATH_MAX];
    if (s->data || !text)
        return GLCNN_SUCCESS;
    if (!data_path_read(text, path) || !*path)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.300s: cannot be resumed: \"data\" in its metadata is not a path; give it with --data",
            s->resume);
    s->is_data_resumed = true;
    return setting_copy_text(s, row, path)
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

/* The order of the words counts too: it is not worth a comparison of its own. */
static glcnn_status resume_words(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                                 const char *text, char error[GLCNN_ERROR_LENGTH])
{
    char why[GLCNN_ERROR_LENGTH];
    if (!text)
        return fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.300s: cannot be resumed: it is not a checkpoint of \"glcnn train\": its "
            "metadata have no \"%s\"",
            s->resume, row->name);
    if (setting_is_given(s, row))
        return strcmp(text, s->augment_words) == 0
                   ? GLCNN_SUCCESS
                   : refuse_other(s, row, *text ? text : "none", error);
    setting_note_given(s, row);
    if (setting_set_augment(s, text, why))
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_MALFORMED_DATA,
                     "%.200s: cannot be resumed: \"%s\" in its metadata: %.200s", s->resume,
                     row->name, why);
}

typedef glcnn_status resumer(glcnn_train_settings *settings, const struct glcnn_train_setting *row,
                             const char *text, char error[GLCNN_ERROR_LENGTH]);

static resumer *const resumers[] = {
    [GLCNN_TRAIN_SETTING_FLAG] = resume_flag,    [GLCNN_TRAIN_SETTING_WHOLE] = resume_number,
    [GLCNN_TRAIN_SETTING_BYTES] = resume_number, [GLCNN_TRAIN_SETTING_SECONDS] = resume_number,
    [GLCNN_TRAIN_SETTING_REAL] = resume_number,  [GLCNN_TRAIN_SETTING_SIGNED] = resume_number,
    [GLCNN_TRAIN_SETTING_NAME] = resume_name,    [GLCNN_TRAIN_SETTING_TEXT] = resume_text,
    [GLCNN_TRAIN_SETTING_READ] = resume_text,    [GLCNN_TRAIN_SETTING_WRITE] = resume_text,
    [GLCNN_TRAIN_SETTING_DATA] = resume_data,    [GLCNN_TRAIN_SETTING_WORDS] = resume_words};

/* The schedule that the checkpoint has, which was found good, whatever the user gives. */
static void remember_schedule(glcnn_train_settings *s, const struct glcnn_checkpoint_metadata *m)
{
    static const enum setting_number numbers[] = {SETTING_epochs, SETTING_rate, SETTING_decay,
                                                  SETTING_warmup};
    glcnn_train_settings old = *s;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct glcnn_train_setting *row = &settings_table[numbers[i]];
        setting_read_number(&old, row, saved_text(m, "run", row->name), 0);
    }
    old.schedule = settings_table[SETTING_schedule].list->find(saved_text(m, "run", "schedule"));
    s->before = settings_schedule(&old, 0);
}

glcnn_status settings_resume(glcnn_train_settings *s, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_checkpoint_metadata m;
    glcnn_status status = glcnn_checkpoint_read_metadata(s->resume, &m, error);
    if (status != GLCNN_SUCCESS)
        return status;
    if (saved_text(&m, "model", "net") && !saved_text(&m, "run", "step"))
        status = fail_with(
            error, GLCNN_MALFORMED_DATA,
            "%.300s: cannot be resumed: it has a network and no run that could go on, as files of the best epoch; "
            "resume the checkpoint beside it, or begin another run with --model",
            s->resume);
    for (const struct glcnn_train_setting *row = settings_table;
         row->name && status == GLCNN_SUCCESS; row++)
        if (row->is_kept || row->is_of_model)
            status = resumers[row->kind](
                s, row, saved_text(&m, row->is_of_model ? "model" : "run", row->name), error);
    if (status == GLCNN_SUCCESS)
        remember_schedule(s, &m);
    glcnn_checkpoint_metadata_destroy(&m);
    return status;
}

/* ---- Writing ---- */

/* From the root, so that it is found from another folder too. */
static const char *write_data(const char *path, char text[DATA_PATH_TEXT])
{
    char *whole = *path == '/' ? NULL : realpath(path, NULL);
    const bool good = data_path_write(whole ? whole : path, text);
    free(whole);
    return good ? text : NULL;
}

void settings_describe(const glcnn_train_settings *s, struct settings_entries *e)
{
    e->count = 0;
    for (const struct glcnn_train_setting *row = settings_table; row->name; row++) {
        const char *text = row->is_kept ? setting_write(s, row, e->texts[e->count]) : NULL;
        if (text && row->kind == GLCNN_TRAIN_SETTING_DATA)
            text = s->set ? NULL : write_data(text, e->data);
        if (text)
            e->entries[e->count++] = (struct glcnn_checkpoint_entry){row->name, text};
    }
}

/* ---- Going on ---- */

void settings_add_resumption(const glcnn_train_settings *s, struct text *text)
{
    option_add(text, "resume", s->out);
    for (const struct glcnn_train_setting *row = settings_table; row->name; row++) {
        char number[32];
        const char *value = setting_write(s, row, number);
        if (row->on_resume != GLCNN_TRAIN_RESUME_AGAIN ||
            (setting_is_number(row) && !setting_is_given(s, row)))
            continue;
        if (row->kind != GLCNN_TRAIN_SETTING_FLAG)
            option_add(text, row->name, value);
        else if (strcmp(value, "1") == 0)
            text_show(text, " --%s", row->name);
    }
}
