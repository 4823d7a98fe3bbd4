/* Settings of kernels as text, "NAME=VALUE". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encode/kernel.h"
#include "encode/number.h"

struct named_value {
    const char *setting, *text;
    double value;
};

static const struct named_value named_values[] = {
    {"padding", "valid", GLCNN_PADDING_SIZE_VALID_ONLY},
    {"padding", "same", GLCNN_PADDING_SIZE_SAME},
    {"padding", "full", GLCNN_PADDING_SIZE_FULL},
    {"padding", "custom", GLCNN_PADDING_CUSTOM},
    {"align", "centered", GLCNN_PADDING_ALIGN_CENTERED},
    {"align", "top_left", GLCNN_PADDING_ALIGN_TOP_LEFT},
    {"align", "bottom_right", GLCNN_PADDING_ALIGN_BOTTOM_RIGHT},
    {"remainder", "top_left", GLCNN_PADDING_REMAINDER_TO_TOP_LEFT},
    {"remainder", "top_right", GLCNN_PADDING_REMAINDER_TO_TOP_RIGHT},
    {"remainder", "bottom_left", GLCNN_PADDING_REMAINDER_TO_BOTTOM_LEFT},
    {"remainder", "bottom_right", GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT},
};
static const char *const run_settings[] = {"align", "remainder", "exclude_edges",
                                           "destination_width", "destination_height"};

/* The name with storage that lives for ever, and its row if it is a parameter. */
static const char *find_setting(const struct glcnn_kernel_info *info, const char *name,
                                size_t length, const struct glcnn_parameter_info **row)
{
    for (size_t i = 0; info && i < info->parameter_count; i++) {
        const struct glcnn_parameter_info *p = &info->parameters[i];
        if (strlen(p->name) == length && strncmp(p->name, name, length) == 0) {
            *row = p;
            return p->name;
        }
    }
    for (size_t i = 0; i < sizeof run_settings / sizeof *run_settings; i++)
        if (strlen(run_settings[i]) == length && strncmp(run_settings[i], name, length) == 0)
            return run_settings[i];
    return NULL;
}

static bool find_word(const struct glcnn_parameter_info *row, struct glcnn_setting *setting,
                      const char *text)
{
    static const struct named_value words[] = {
        {NULL, "true", 1}, {NULL, "false", 0}, {NULL, "infinity", INFINITY}};
    const char *const *values = row ? row->value_names : NULL;
    for (size_t i = 0; values && values[i]; i++)
        if (strcmp(values[i], text) == 0)
            return setting->value = (double)i, true;
    for (size_t i = 0; i < sizeof named_values / sizeof *named_values; i++)
        if (strcmp(named_values[i].setting, setting->name) == 0 &&
            strcmp(named_values[i].text, text) == 0)
            return setting->value = named_values[i].value, true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].text, text) == 0)
            return setting->value = words[i].value, true;
    return false;
}

#define EXACT_IN_DOUBLE (UINT64_C(1) << 53)

/* A parameter of 64 bits takes no number that a double may have rounded: 2^64 is not 2^64 - 1. */
static bool find_number(const struct glcnn_parameter_info *row, struct glcnn_setting *setting,
                        const char *text)
{
    uint64_t whole;
    bool is_whole = number_parse_whole(text, &whole);
    bool is_wide =
        row && row->type == GLCNN_PARAMETER_INTEGER && row->maximum > (double)EXACT_IN_DOUBLE;
    if (!number_parse(text, &setting->value))
        return false;
    if (is_whole && whole > EXACT_IN_DOUBLE)
        setting->whole = whole;
    return is_whole || !is_wide || setting->value < (double)EXACT_IN_DOUBLE;
}

/* ---- What was meant ---- */

#define NAMES_MAX 128

struct names {
    const char *at[NAMES_MAX];
    size_t count;
};

static void add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i], name) == 0)
            return;
    if (names->count < NAMES_MAX)
        names->at[names->count++] = name;
}

static void add_parameters(struct names *names, const char *kernel)
{
    const struct glcnn_kernel_info *info = kernel ? glcnn_kernel_info_by_name(kernel) : NULL;
    for (size_t i = 0; info && i < info->parameter_count; i++)
        add_name(names, info->parameters[i].name);
}

static bool refuse_kernel(const char *kernel, struct validation validation)
{
    char text[SUGGESTION];
    descriptor_suggest(kernel, text);
    return invalid(validation, "there is no kernel named \"%s\"%s", kernel ? kernel : "(NULL)",
                   text);
}

static bool refuse_name(const struct glcnn_descriptor *d, const char *name, size_t length,
                        struct validation validation)
{
    char text[GLCNN_ERROR_LENGTH / 2];
    struct names names = {.count = 0};
    add_parameters(&names, d->name);
    add_parameters(&names, d->forward);
    for (size_t i = 0; i < sizeof run_settings / sizeof *run_settings; i++)
        add_name(&names, run_settings[i]);
    glcnn_suggest(name, length, names.at, names.count, text, sizeof text);
    return invalid(validation, "%s: there is no parameter \"%.*s\"%s", d->name,
                   (int)(length < 100 ? length : 100), name, text);
}

/* ---- What has an effect ---- */

#define READ_TEXT 380 /* of a list of names */

/* Settings that a binary kernel has go to it alone, and not to its gradient (src/run/resolve.c). */
static bool is_read(const struct glcnn_descriptor *d, const char *name)
{
    const struct glcnn_descriptor *forward = descriptor_find(d->forward);
    const enum parameter_use own = parameter_use(d, name),
                             of_forward = forward ? parameter_use(forward, name) : PARAMETER_LACKS;
    const bool is_taken = of_forward != PARAMETER_LACKS && forward->flags & IS_BINARY;
    return (own == PARAMETER_READS && !is_taken) || of_forward == PARAMETER_READS ||
           (own == PARAMETER_LACKS && of_forward == PARAMETER_LACKS);
}

/* The names that the kernel reads, as many as there is room for. */
static void list_read(const struct glcnn_descriptor *d, char text[READ_TEXT])
{
    struct names names = {.count = 0};
    size_t used = 0;
    *text = 0;
    add_parameters(&names, d->name);
    add_parameters(&names, d->forward);
    for (size_t i = 0; i < names.count; i++) {
        if (!is_read(d, names.at[i]))
            continue;
        if (used + strlen(names.at[i]) + sizeof ", , .." > READ_TEXT) {
            snprintf(text + used, READ_TEXT - used, ", ..");
            return;
        }
        used +=
            (size_t)snprintf(text + used, READ_TEXT - used, "%s%s", used ? ", " : "", names.at[i]);
    }
}

static bool check_read(const struct glcnn_descriptor *d, const char *name,
                       struct validation validation)
{
    char text[READ_TEXT];
    if (is_read(d, name))
        return true;
    list_read(d, text);
    return invalid(validation, "%s: %s has no effect; it reads %s", d->name, name, text);
}

/* ---- What has an effect beside the other settings ---- */

/* A run sizes its result as it is given, or by a policy of padding. */
struct sizing {
    bool is_given;
    uint32_t method;
};

static bool is_among(const char *name, const char *const names[])
{
    size_t i = 0;
    while (names[i] && strcmp(names[i], name) != 0)
        i++;
    return names[i] != NULL;
}

static struct sizing sizing_of(const struct glcnn_setting *settings, size_t count)
{
    static const char *const bits[] = {"align", "remainder", NULL};
    struct sizing s = {.method = GLCNN_PADDING_DEFAULT};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(settings[i].name, "padding") == 0)
            s.method = (uint32_t)settings[i].value;
        s.is_given = s.is_given || strcmp(settings[i].name, "destination_width") == 0;
    }
    for (size_t i = 0; i < count; i++)
        s.method |= is_among(settings[i].name, bits) ? (uint32_t)settings[i].value : 0;
    return s;
}

/* Why the setting has no effect; NULL: it has one. */
static const char *find_idle(const struct sizing *s, const char *name)
{
    static const char *const of_policy[] = {"padding", "align",     "remainder",  "pad_left",
                                            "pad_top", "pad_right", "pad_bottom", NULL},
                             *const pads[] = {"pad_left", "pad_top", "pad_right", "pad_bottom",
                                              NULL},
                             *const alignment[] = {"align", "remainder", NULL},
                             *const offsets[] = {"offset_x", "offset_y", "kernel_offset_x",
                                                 "kernel_offset_y", NULL};
    const bool is_custom = s->method & GLCNN_PADDING_CUSTOM;
    if (s->is_given)
        return is_among(name, of_policy) ? "beside destination_width and destination_height" : NULL;
    if (is_among(name, offsets))
        return "without destination_width and destination_height, since padding sets the offset";
    if (is_among(name, pads) && !is_custom)
        return "without padding=custom";
    if (is_among(name, alignment) && is_custom)
        return "beside padding=custom";
    if (strcmp(name, "remainder") == 0 && (s->method & GLCNN_PADDING_ALIGN_MASK))
        return "without align=centered";
    return NULL;
}

bool settings_check_effect(const struct glcnn_descriptor *d, const struct glcnn_setting *settings,
                           size_t count, struct validation validation)
{
    const struct glcnn_descriptor *forward = d->forward ? descriptor_find(d->forward) : d;
    const struct sizing sizing = sizing_of(settings, count);
    for (size_t i = 0; i < count; i++)
        if (!check_read(d, settings[i].name, validation))
            return false;
    if (!forward || parameter_use(forward, "padding") != PARAMETER_READS)
        return true;
    for (size_t i = 0; i < count; i++) {
        const bool is_own = d != forward && parameter_use(d, settings[i].name) == PARAMETER_READS;
        const char *reason = is_own ? NULL : find_idle(&sizing, settings[i].name);
        if (reason)
            return invalid(validation, "%s: %s has no effect %s", d->name, settings[i].name,
                           reason);
    }
    return true;
}

static bool refuse_value(const struct glcnn_descriptor *d, const struct glcnn_parameter_info *row,
                         const char *name, const char *value, struct validation validation)
{
    char text[GLCNN_ERROR_LENGTH / 2];
    struct names names = {.count = 0};
    for (size_t i = 0; row && row->value_names && row->value_names[i]; i++)
        add_name(&names, row->value_names[i]);
    for (size_t i = 0; i < sizeof named_values / sizeof *named_values; i++)
        if (strcmp(named_values[i].setting, name) == 0)
            add_name(&names, named_values[i].text);
    glcnn_suggest(value, strlen(value), names.at, names.count, text, sizeof text);
    return invalid(validation, "%s: \"%.100s\" is no value of %s%s", d->name, value, name, text);
}

static bool parse(const char *kernel, const char *text, struct glcnn_setting *setting,
                  struct validation validation)
{
    const struct glcnn_descriptor *d = descriptor_find(kernel);
    const char *equals = text ? strchr(text, '=') : NULL;
    const struct glcnn_parameter_info *row = NULL;
    if (!d)
        return refuse_kernel(kernel, validation);
    if (!equals || !setting)
        return invalid(validation, "\"%s\" is not of the form NAME=VALUE", text ? text : "");
    size_t length = (size_t)(equals - text);
    const char *name = find_setting(glcnn_kernel_info_by_name(kernel), text, length, &row);
    if (d->forward && (!row || !row->value_names)) {
        const struct glcnn_parameter_info *forward_row = NULL;
        const char *forward =
            find_setting(glcnn_kernel_info_by_name(d->forward), text, length, &forward_row);
        name = name ? name : forward;
        row = forward_row ? forward_row : row;
    }
    if (!name)
        return refuse_name(d, text, length, validation);
    if (!check_read(d, name, validation))
        return false;
    struct glcnn_setting found = {.name = name};
    if (!find_word(row, &found, equals + 1) && !find_number(row, &found, equals + 1))
        return refuse_value(d, row, name, equals + 1, validation);
    *setting = found;
    return true;
}

glcnn_status glcnn_setting_parse(const char *kernel, const char *text,
                                 struct glcnn_setting *setting, char error[GLCNN_ERROR_LENGTH])
{
    return parse(kernel, text, setting, (struct validation){error, GLCNN_ERROR_LENGTH})
               ? GLCNN_SUCCESS
               : GLCNN_INVALID_ARGUMENT;
}
