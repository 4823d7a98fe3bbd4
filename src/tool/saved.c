/* Metadata of a trained network. */
#include "saved.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class_names.h"
#include "support/option.h"

#define EXTENT_MAX 65535

static const struct {
    const char *name;
    size_t offset; /* in struct form */
} numbers[] = {{"width", offsetof(struct form, width)},
               {"height", offsetof(struct form, height)},
               {"channels", offsetof(struct form, channels)}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static uint32_t *place(const struct form *form, size_t i)
{
    return (uint32_t *)(void *)((char *)(uintptr_t)form + numbers[i].offset);
}

static bool read_form(const struct glcnn_checkpoint_metadata *m, struct form *form)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        uint64_t value;
        const char *text = glcnn_checkpoint_text(m, numbers[i].name);
        if (!text || !option_whole(text, 1, EXTENT_MAX, &value))
            return false;
        *place(form, i) = (uint32_t)value;
    }
    return true;
}

bool saved_read_list(const char *text, uint32_t channels, double low,
                     float values[GLCNN_DATA_MAX_CHANNELS])
{
    uint32_t count = 0;
    char *end = NULL;
    for (const char *at = text; count < channels; at = end + 1) {
        double value = strtod(at, &end);
        if (end == at || !isfinite(value) || (!isnan(low) && !(value > low)))
            return false;
        values[count++] = (float)value;
        if (*end != ',')
            break;
    }
    for (uint32_t c = count; count == 1 && c < channels; c++)
        values[c] = values[0];
    return count > 0 && *end == 0 && (count == 1 || count == channels);
}

static void write_list(const float *values, uint32_t channels, char *text, size_t size)
{
    size_t used = 0;
    for (uint32_t c = 0; c < channels && used < size; c++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.9g", c ? "," : "", (double)values[c]);
}

static bool read_lists(const struct glcnn_checkpoint_metadata *m, struct saved *saved)
{
    const char *mean = glcnn_checkpoint_text(m, "mean"),
               *deviation = glcnn_checkpoint_text(m, "deviation");
    return mean && deviation && saved->form.channels <= GLCNN_DATA_MAX_CHANNELS &&
           saved_read_list(mean, saved->form.channels, NAN, saved->mean) &&
           saved_read_list(deviation, saved->form.channels, 0, saved->deviation);
}

static bool read_entries(const struct glcnn_checkpoint_metadata *m, struct saved *saved)
{
    const char *net = glcnn_checkpoint_text(m, "net"), *names = glcnn_checkpoint_text(m, "classes");
    saved->net = net ? net_find(net) : NULL;
    saved->owned = names ? class_names_parse(names, &saved->form.classes) : NULL;
    saved->names = (const char *const *)saved->owned;
    return saved->net && saved->names && saved->form.classes > 0 && read_form(m, &saved->form) &&
           net_fits(saved->net, &saved->form) && read_lists(m, saved);
}

bool saved_read(const char *path, struct saved *saved, char error[GLCNN_ERROR_LENGTH])
{
    struct glcnn_checkpoint_metadata m;
    *saved = (struct saved){.net = NULL};
    if (glcnn_checkpoint_read_metadata(path, &m, error) != GLCNN_SUCCESS)
        return false;
    bool good = read_entries(&m, saved);
    glcnn_checkpoint_free_metadata(&m);
    if (good)
        return true;
    snprintf(
        error, GLCNN_ERROR_LENGTH,
        "%.300s: is no file of \"glcnn train --out\": its metadata have no net, width, height, "
        "channels and classes that fit together",
        path);
    saved_free(saved);
    return false;
}

void saved_free(struct saved *saved)
{
    class_names_free(saved->owned, saved->form.classes);
    *saved = (struct saved){.net = NULL};
}

bool saved_describe(const struct saved *saved, struct saved_entries *e)
{
    e->names = class_names_text(saved->names, saved->form.classes);
    e->entries[0] = (struct glcnn_checkpoint_entry){"net", saved->net->name};
    e->entries[1] = (struct glcnn_checkpoint_entry){"classes", e->names};
    for (size_t i = 0; i < NUMBERS; i++) {
        snprintf(e->numbers[i], sizeof e->numbers[i], "%" PRIu32, *place(&saved->form, i));
        e->entries[2 + i] = (struct glcnn_checkpoint_entry){numbers[i].name, e->numbers[i]};
    }
    write_list(saved->mean, saved->form.channels, e->lists[0], sizeof e->lists[0]);
    write_list(saved->deviation, saved->form.channels, e->lists[1], sizeof e->lists[1]);
    e->entries[5] = (struct glcnn_checkpoint_entry){"mean", e->lists[0]};
    e->entries[6] = (struct glcnn_checkpoint_entry){"deviation", e->lists[1]};
    return e->names;
}

void saved_entries_free(struct saved_entries *e)
{
    free(e->names);
    e->names = NULL;
}
