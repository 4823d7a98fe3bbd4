/* Settings of a training by their table: how each kind is read. */
#include "train_settings_kinds.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"

/* ---- Lists that settings are one of ---- */

static const struct optimizer optimizers[] = {
    {"adam", 0.002, 0.05, glcnn_optimizer_adam_create, 0, true},
    {"sgd", 0.05, 5e-4, glcnn_optimizer_stochastic_gradient_descent_create, 0.9f},
    {"rmsprop", 0.001, 0, glcnn_optimizer_rms_prop_create, 0}};
enum { OPTIMIZERS = sizeof optimizers / sizeof *optimizers };

static const struct precision precisions[] = {{"float32", GLCNN_CHANNEL_FORMAT_FLOAT32},
                                              {"float16", GLCNN_CHANNEL_FORMAT_FLOAT16}};
enum { PRECISIONS = sizeof precisions / sizeof *precisions };

static const void *find_task(const char *name)
{
    return task_find(name);
}

static const void *find_net(const char *name)
{
    return net_find(name);
}

/* The decay of weights is decoupled for all of them: adam is what others call adamw. */
static const void *find_fit(const char *name)
{
    return fit_find(name);
}

static const void *find_optimizer(const char *name)
{
    if (strcmp(name, "adamw") == 0)
        name = "adam";
    for (size_t i = 0; i < OPTIMIZERS; i++)
        if (strcmp(optimizers[i].name, name) == 0)
            return &optimizers[i];
    return NULL;
}

static const void *find_precision(const char *name)
{
    for (size_t i = 0; i < PRECISIONS; i++)
        if (strcmp(precisions[i].name, name) == 0)
            return &precisions[i];
    return NULL;
}

static const void *find_schedule(const char *name)
{
    for (const struct schedule *s = schedules; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static const char *task_name(size_t i)
{
    return task_at(i) ? task_at(i)->name : NULL;
}

static const char *fit_name(size_t i)
{
    return fit_at(i) ? fit_at(i)->name : NULL;
}

static const char *net_name(size_t i)
{
    return net_at(i) ? net_at(i)->name : NULL;
}

static const char *optimizer_name(size_t i)
{
    return i < OPTIMIZERS ? optimizers[i].name : NULL;
}

static const char *precision_name(size_t i)
{
    return i < PRECISIONS ? precisions[i].name : NULL;
}

static const char *schedule_name(size_t i)
{
    return schedules[i].name;
}

static const char *class_choice(size_t i)
{
    static const char *const choices[] = {"auto", "model"};
    return i < sizeof choices / sizeof *choices ? choices[i] : NULL;
}

static const void *find_class_choice(const char *name)
{
    for (size_t i = 0; class_choice(i); i++)
        if (strcmp(class_choice(i), name) == 0)
            return class_choice(i);
    return NULL;
}

static const struct glcnn_train_setting_list
    task_names = {"task", find_task, task_name},
    fit_names = {"fit", find_fit, fit_name}, net_names = {"network", find_net, net_name},
    optimizer_names = {"optimizer", find_optimizer, optimizer_name},
    precision_names = {"precision", find_precision, precision_name},
    schedule_names = {"schedule", find_schedule, schedule_name},
    class_choices = {"choice of classes", find_class_choice, class_choice};

/* ---- The table ---- */

const struct glcnn_train_setting settings_table[] = {
#define SETTING(TYPE, MEMBER, NAME, VALUE, TEXT, KIND, ...)                                        \
    {NAME,        VALUE,                                                                           \
     TEXT,        GLCNN_TRAIN_SETTING_##KIND,                                                      \
     __VA_ARGS__, .offset = offsetof(glcnn_train_settings, MEMBER)},
#define FLAG(MEMBER, NAME, ...)                                                                    \
    FLAG_ROW(NAME, __VA_ARGS__, .offset = offsetof(glcnn_train_settings, MEMBER))
#define FLAG_ROW(NAME, TEXT, ...) {NAME, NULL, TEXT, GLCNN_TRAIN_SETTING_FLAG, 0, 1, __VA_ARGS__},
#define STATE(MEMBER, NAME, KIND, ...)                                                             \
    {NAME,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     GLCNN_TRAIN_SETTING_##KIND,                                                                   \
     __VA_ARGS__,                                                                                  \
     .is_kept = true,                                                                              \
     .offset = offsetof(glcnn_train_settings, MEMBER)},
#include "train_settings.def"
    {.name = NULL}};
_Static_assert(sizeof settings_table / sizeof *settings_table <= SETTING_ROWS_MAX,
               "SETTING_ROWS_MAX is too small");

const struct glcnn_train_setting *settings_find(const char *name)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        const char *a = name, *b = settings_table[i].name;
        while (*a && (*a == '_' ? '-' : *a) == *b)
            a++, b++;
        if (*a == *b)
            return &settings_table[i];
    }
    return NULL;
}

const struct glcnn_train_setting *glcnn_train_setting_at(size_t number)
{
    return number < SETTING_COUNT ? &settings_table[number] : NULL;
}

const char *glcnn_train_setting_choice(const struct glcnn_train_setting *row, size_t number)
{
    for (size_t i = 0; row->list && i < number; i++)
        if (!row->list->at(i))
            return NULL;
    return row->list ? row->list->at(number) : NULL;
}

void *setting_place(glcnn_train_settings *s, const struct glcnn_train_setting *row)
{
    return (char *)s + row->offset;
}

static size_t setting_number(const struct glcnn_train_setting *row)
{
    return (size_t)(row - settings_table);
}

bool setting_is_given(const glcnn_train_settings *s, const struct glcnn_train_setting *row)
{
    return s->given[setting_number(row)];
}

void setting_note_given(glcnn_train_settings *s, const struct glcnn_train_setting *row)
{
    s->given[setting_number(row)] = true;
}

bool settings_are_given(const glcnn_train_settings *s, enum setting_number number)
{
    return s->given[number];
}

bool settings_keep_classes(const glcnn_train_settings *s)
{
    return s->classes && strcmp(s->classes, class_choice(1)) == 0;
}

/* ---- Numbers ---- */

static bool is_real(const struct glcnn_train_setting *row)
{
    return row->kind == GLCNN_TRAIN_SETTING_REAL || row->kind == GLCNN_TRAIN_SETTING_SIGNED;
}

bool setting_is_number(const struct glcnn_train_setting *row)
{
    return row->kind >= GLCNN_TRAIN_SETTING_WHOLE && row->kind <= GLCNN_TRAIN_SETTING_SIGNED;
}

uint64_t setting_kept_least(const struct glcnn_train_setting *row)
{
    return row->fallback < (double)row->least ? (uint64_t)row->fallback : row->least;
}

/* "90", "90s", "20m", "3h" */
static bool read_seconds(const char *text, uint64_t low, uint64_t high, uint64_t *seconds)
{
    static const struct {
        char letter;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    char digits[32];
    const size_t length = strlen(text);
    uint64_t unit = 0, number;
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length + 1);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (digits[length - 1] == units[i].letter)
            unit = units[i].seconds;
    if (unit > 0)
        digits[length - 1] = 0;
    unit = unit > 0 ? unit : 1;
    if (!option_whole(digits, 1, high / unit, &number))
        return false;
    *seconds = number * unit;
    return *seconds >= low;
}

bool setting_read_number(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                         const char *text, uint64_t least)
{
    const double most = row->most < UINT64_MAX ? (double)row->most : DBL_MAX; /* that of any loss */
    if (row->kind == GLCNN_TRAIN_SETTING_SIGNED && strcmp(text, "nan") == 0)
        return *(double *)setting_place(s, row) = (double)NAN, true;
    if (is_real(row))
        return option_real(text, row->kind == GLCNN_TRAIN_SETTING_SIGNED ? -most : (double)least,
                           most, setting_place(s, row));
    if (row->kind == GLCNN_TRAIN_SETTING_SECONDS)
        return read_seconds(text, least, row->most, setting_place(s, row));
    return (row->kind == GLCNN_TRAIN_SETTING_BYTES ? option_bytes : option_whole)(
        text, least, row->most, setting_place(s, row));
}

const char *setting_describe_range(const struct glcnn_train_setting *row, uint64_t least,
                                   char text[96])
{
    snprintf(text, 96, "a %snumber in %" PRIu64 " .. %" PRIu64 "%s",
             row->kind == GLCNN_TRAIN_SETTING_REAL ? "" : "whole ", least, row->most,
             row->kind == GLCNN_TRAIN_SETTING_SECONDS ? ", of seconds or with s, m or h behind it"
                                                      : "");
    return text;
}

void setting_fill_default(glcnn_train_settings *s, const struct glcnn_train_setting *row)
{
    if (setting_is_given(s, row))
        return;
    if (is_real(row))
        *(double *)setting_place(s, row) = row->fallback;
    else
        *(uint64_t *)setting_place(s, row) = (uint64_t)row->fallback;
}

/* An end of the range leaves nothing to learn: a rate of 0, averages that never move. */
static bool is_excluded(glcnn_train_settings *s, const struct glcnn_train_setting *row)
{
    const double value = row->is_above || row->is_below ? *(double *)setting_place(s, row) : 0;
    return (row->is_above && value <= (double)row->least) ||
           (row->is_below && value >= (double)row->most);
}

/* The range of what a user gives; a checkpoint may have its ends. */
static const char *describe_given_range(const struct glcnn_train_setting *row, char text[96])
{
    if (!row->is_above && !row->is_below)
        return setting_describe_range(row, row->least, text);
    snprintf(text, 96, "a number %s %" PRIu64 " and %s %" PRIu64,
             row->is_above ? "above" : "at least", row->least, row->is_below ? "below" : "at most",
             row->most);
    return text;
}

static glcnn_status set_number(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                               const char *value, char error[GLCNN_ERROR_LENGTH])
{
    char range[96];
    if (setting_read_number(s, row, value, row->least) && !is_excluded(s, row))
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_INVALID_ARGUMENT, "--%s is \"%s\"; it must be %s", row->name,
                     value, describe_given_range(row, range));
}

/* ---- Names and texts ---- */

glcnn_status setting_refuse_name(const char *what, const char *word, const char *const *names,
                                 size_t count, char error[GLCNN_ERROR_LENGTH])
{
    char text[GLCNN_ERROR_LENGTH - 128];
    glcnn_suggest(word, strlen(word), names, count, text, sizeof text);
    return fail_with(error, GLCNN_INVALID_ARGUMENT, "there is no %s \"%.80s\"%s", what, word, text);
}

static glcnn_status set_name(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                             const char *value, char error[GLCNN_ERROR_LENGTH])
{
    const void *found = row->list->find(value);
    const char *names[SETTING_NAMES_MAX];
    size_t count = 0;
    *(const void **)setting_place(s, row) = found;
    for (; count < SETTING_NAMES_MAX && row->list->at(count); count++)
        names[count] = row->list->at(count);
    return found ? GLCNN_SUCCESS : setting_refuse_name(row->list->what, value, names, count, error);
}

bool setting_is_text(const struct glcnn_train_setting *row)
{
    return row->kind >= GLCNN_TRAIN_SETTING_TEXT && row->kind <= GLCNN_TRAIN_SETTING_DATA;
}

bool setting_copy_text(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                       const char *text)
{
    char *copy = strdup(text), **owned = &s->owned[setting_number(row)];
    if (!copy)
        return false;
    free(*owned);
    *owned = copy;
    *(const char **)setting_place(s, row) = copy;
    return true;
}

/* A name without an ending stands for itself. */
static bool has_ending(const char *path, const char *ending, const char *other)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return !ending || !dot || strcmp(dot, ending) == 0 || (other && strcmp(dot, other) == 0);
}

static glcnn_status set_text(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                             const char *value, char error[GLCNN_ERROR_LENGTH])
{
    if (!has_ending(value, row->ending, row->other))
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--%s is \"%.300s\"; expected a %s%s%s file", row->name, value,
                         row->ending, row->other ? " or " : "", row->other ? row->other : "");
    if (row->most > 0 && strlen(value) > row->most)
        return fail_with(error, GLCNN_INVALID_ARGUMENT,
                         "--%s has %zu letters, more than the %" PRIu64 " that a checkpoint keeps",
                         row->name, strlen(value), row->most);
    return setting_copy_text(s, row, value)
               ? GLCNN_SUCCESS
               : fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
}

/* ---- What is of a kind of its own ---- */

static glcnn_status set_flag(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                             const char *value, char error[GLCNN_ERROR_LENGTH])
{
    const bool is_set = !value || strcmp(value, "1") == 0;
    *(bool *)setting_place(s, row) = is_set;
    if (is_set || strcmp(value, "0") == 0)
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_INVALID_ARGUMENT, "--%s is \"%.300s\"; it must be 0 or 1",
                     row->name, value);
}

bool setting_set_augment(glcnn_train_settings *s, const char *words, char error[GLCNN_ERROR_LENGTH])
{
    words = strcmp(words, "none") == 0 ? "" : words;
    const size_t length = strlen(words);
    if (length < sizeof s->augment_words) {
        memcpy(s->augment_words, words, length + 1);
        return augment_read(words, &s->augment, error);
    }
    snprintf(error, GLCNN_ERROR_LENGTH, "the words have %zu letters, more than %zu", length,
             sizeof s->augment_words - 1);
    return false;
}

static glcnn_status set_words(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                              const char *value, char error[GLCNN_ERROR_LENGTH])
{
    char why[GLCNN_ERROR_LENGTH];
    if (setting_set_augment(s, value, why))
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_INVALID_ARGUMENT, "--%s: %.480s", row->name, why);
}

static glcnn_status set_size(glcnn_train_settings *s, const struct glcnn_train_setting *row,
                             const char *value, char error[GLCNN_ERROR_LENGTH])
{
    struct setting_extent *size = setting_place(s, row);
    if (option_extent(value, (uint32_t)row->most, &size->width, &size->height))
        return GLCNN_SUCCESS;
    return fail_with(error, GLCNN_INVALID_ARGUMENT, "--%s is \"%.300s\"; " OPTION_EXTENT, row->name,
                     value, (unsigned)row->most);
}

/* ---- All ---- */

typedef glcnn_status setter(glcnn_train_settings *settings, const struct glcnn_train_setting *row,
                            const char *value, char error[GLCNN_ERROR_LENGTH]);

static setter *const setters[] = {
    [GLCNN_TRAIN_SETTING_FLAG] = set_flag,    [GLCNN_TRAIN_SETTING_WHOLE] = set_number,
    [GLCNN_TRAIN_SETTING_BYTES] = set_number, [GLCNN_TRAIN_SETTING_SECONDS] = set_number,
    [GLCNN_TRAIN_SETTING_REAL] = set_number,  [GLCNN_TRAIN_SETTING_NAME] = set_name,
    [GLCNN_TRAIN_SETTING_TEXT] = set_text,    [GLCNN_TRAIN_SETTING_READ] = set_text,
    [GLCNN_TRAIN_SETTING_WRITE] = set_text,   [GLCNN_TRAIN_SETTING_DATA] = set_text,
    [GLCNN_TRAIN_SETTING_SIZE] = set_size,    [GLCNN_TRAIN_SETTING_WORDS] = set_words};

glcnn_status glcnn_train_settings_set(glcnn_train_settings *s, const char *name, const char *value,
                                      char error[GLCNN_ERROR_LENGTH])
{
    const struct glcnn_train_setting *row = settings_find(name);
    if (!row) {
        const char *names[SETTING_COUNT];
        for (size_t i = 0; i < SETTING_COUNT; i++)
            names[i] = settings_table[i].name;
        return setting_refuse_name("setting", name, names, SETTING_COUNT, error);
    }
    if (!value && row->kind != GLCNN_TRAIN_SETTING_FLAG)
        return fail_with(error, GLCNN_INVALID_ARGUMENT, "--%s needs a value, %s", row->name,
                         row->value);
    setting_note_given(s, row);
    if (row->kind == GLCNN_TRAIN_SETTING_DATA)
        s->set = NULL;
    return setters[row->kind](s, row, value, error);
}

glcnn_train_settings *glcnn_train_settings_create(void)
{
    return calloc(1, sizeof(glcnn_train_settings));
}

void glcnn_train_settings_destroy(glcnn_train_settings **settings)
{
    if (*settings)
        settings_free(*settings);
    free(*settings);
    *settings = NULL;
}

glcnn_status glcnn_train_settings_set_dataset(glcnn_train_settings *settings, glcnn_dataset *data,
                                              char error[GLCNN_ERROR_LENGTH])
{
    const glcnn_status status =
        glcnn_train_settings_set(settings, "data", glcnn_dataset_info(data)->name, error);
    settings->set = data;
    return status;
}

glcnn_status settings_copy(const glcnn_train_settings *settings, glcnn_train_settings *copy,
                           char error[GLCNN_ERROR_LENGTH])
{
    *copy = *settings;
    memset(copy->owned, 0, sizeof copy->owned);
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (settings->owned[i] && !setting_copy_text(copy, &settings_table[i], settings->owned[i]))
            return fail_with(error, GLCNN_OUT_OF_MEMORY, "not enough memory");
    return GLCNN_SUCCESS;
}

void settings_free(glcnn_train_settings *s)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        free(s->owned[i]);
    memset(s->owned, 0, sizeof s->owned);
}

const char *setting_write(const glcnn_train_settings *settings,
                          const struct glcnn_train_setting *row, char text[32])
{
    const void *place = (const char *)settings + row->offset;
    const char *const *words = place;
    if (row->kind == GLCNN_TRAIN_SETTING_FLAG)
        return *(const bool *)place ? "1" : "0";
    if (row->kind == GLCNN_TRAIN_SETTING_WORDS)
        return settings->augment_words;
    if (row->kind == GLCNN_TRAIN_SETTING_NAME) {
        const void *const *chosen = place;
        for (size_t i = 0; row->list->at(i); i++)
            if (row->list->find(row->list->at(i)) == *chosen)
                return row->list->at(i);
        return NULL;
    }
    if (setting_is_text(row))
        return *words;
    if (!setting_is_number(row))
        return NULL;
    if (is_real(row))
        snprintf(text, 32, "%.17g", *(const double *)place);
    else
        snprintf(text, 32, "%" PRIu64, *(const uint64_t *)place);
    return text;
}
