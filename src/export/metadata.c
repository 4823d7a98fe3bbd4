/* What a file says of itself: keys of Ultralytics' files, and ours. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "export.h"
#include "own_file.h"
#include "task/class_names.h"

/* Text as Python writes it, with its quotes: what is read by a parser there cannot be anything else. */
static void add_python_text(struct text *text, const char *words)
{
    text_add(text, "'", 1);
    while (*words) {
        const struct character c = character_at(words);
        if (c.kind == CHARACTER_BROKEN)
            text_format(text, "\\x%02x", c.code);
        else if (c.code == '\'' || c.code == '\\')
            text_format(text, "\\%c", (char)c.code);
        else if (c.kind == CHARACTER_UNSAFE)
            text_format(text, "\\U%08" PRIx32, c.code);
        else
            text_add(text, words, c.length);
        words += c.length;
    }
    text_add(text, "'", 1);
}

static void add(struct metadata *m, const char *key, const char *value)
{
    m->entries[m->count++] = (struct glcnn_onnx_entry){key, value};
}

/* The text of an entry that is about to be written. */
static struct text *begin(struct metadata *m)
{
    return &m->texts[m->text_count++];
}

static void end(struct metadata *m, const char *key)
{
    add(m, key, m->texts[m->text_count - 1].bytes);
}

/* ---- Those of Ultralytics ---- */

/* The task's parts have names, as a keypoint has two numbers and one name. */
static uint32_t count_names(const struct saved *s)
{
    const struct task_parts *parts = task_of(&s->form)->parts;
    return parts ? parts->count(&s->form) : s->form.classes;
}

static void add_names(const struct saved *s, struct metadata *m)
{
    const struct task_parts *parts = task_of(&s->form)->parts;
    struct text *text = begin(m);
    char name[TASK_PART_NAME];
    text_add(text, "{", 1);
    for (uint32_t i = 0; i < count_names(s); i++) {
        text_format(text, "%s%" PRIu32 ": ", i ? ", " : "", i);
        add_python_text(text,
                        parts && parts->name_of ? parts->name_of(s->names, i, name) : s->names[i]);
    }
    text_add(text, "}", 1);
    end(m, "names");
}

static void add_number(struct metadata *m, const char *key, uint32_t value)
{
    text_format(begin(m), "%" PRIu32, value);
    end(m, key);
}

/* The stride is that of a detector's coarsest grid; other tasks have no grid, and 1. */
static uint32_t stride_of(const struct leaving *l)
{
    return l->layout.scales ? l->layout.grids[l->layout.scales - 1].stride : 1;
}

static void add_usual(const struct leaving *l, struct metadata *m)
{
    const struct form *form = &l->saved->form;
    const struct task *task = task_of(form);
    add(m, "task", task->name);
    add_names(l->saved, m);
    add_number(m, "stride", stride_of(l));
    text_format(begin(m), "[%" PRIu32 ", %" PRIu32 "]", form->height, form->width);
    end(m, "imgsz");
    add_number(m, "batch", l->options->batch ? l->options->batch : 1);
    add_number(m, "channels", form->channels);
    if (task->points) {
        text_format(begin(m), "[%" PRIu32 ", 2]", count_names(l->saved));
        end(m, "kpt_shape");
    }
}

/* ---- Ours ---- */

static void add_units(const struct leaving *l, struct metadata *m)
{
    struct text *text = begin(m);
    for (uint32_t i = 0; i < 2 * l->saved->form.classes; i++)
        text_format(text, "%s%.9g", i ? "," : "", (double)l->units[i]);
    end(m, OWN_UNITS);
}

static void add_own(const struct leaving *l, struct metadata *m)
{
    for (size_t i = 0; i < SAVED_ENTRIES; i++)
        add(m, m->saved.at[i].name, m->saved.at[i].text);
    add(m, OWN_INPUT, leaving_beginning(l));
    if (l->record)
        add(m, OWN_RECORD, "true");
    if (l->units)
        add_units(l, m);
    const char *ends[TASK_ENDS];
    const uint32_t count = leaving_read_ends(l, ends);
    if (count == 0)
        return;
    char *list = class_names_text(ends, count);
    struct text *text = begin(m);
    if (list)
        text_add(text, list, strlen(list));
    text->failed = text->failed || !list;
    free(list);
    end(m, OWN_OUTPUTS);
}

bool metadata_make(const struct leaving *l, struct metadata *m)
{
    bool good = saved_describe(l->saved, &m->saved);
    /* A network that answers no task has its sizes alone to tell. */
    if (good && l->saved->form.classes > 0)
        add_usual(l, m);
    if (good)
        add_own(l, m);
    for (size_t i = 0; i < m->text_count; i++)
        good = good && !m->texts[i].failed;
    return good;
}

void metadata_free(struct metadata *m)
{
    free(m->saved.names);
    for (size_t i = 0; i < m->text_count; i++)
        text_free(&m->texts[i]);
}
