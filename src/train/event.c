/* Events of a training, first in, first out. */
#include "event.h"

#include <glcnn/glcnn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/show.h"

/* The text becomes the list's. */
static void queue_event(struct train_events *events, const struct glcnn_train_event *event,
                        struct text *text)
{
    struct queued_event *all =
        array_grow(events->all, events->count, &events->capacity, sizeof *all);
    if (!all) {
        events->lost = true;
        text_free(text);
        return;
    }
    events->all = all;
    events->all[events->count++] = (struct queued_event){*event, *text};
    *text = (struct text){0};
}

void events_add(struct train_events *events, const struct glcnn_train_event *event)
{
    queue_event(events, event, &(struct text){0});
}

static void queue_text(struct train_events *events, glcnn_train_event_kind kind, struct text *text)
{
    queue_event(events, &(struct glcnn_train_event){.kind = kind}, text);
}

static void add_text(void *text, const char *bytes, size_t length)
{
    text_add(text, bytes, length);
}

void events_note(struct train_events *events, const char *format, ...)
{
    va_list arguments;
    struct text text = {0};
    va_start(arguments, format);
    show_format(add_text, &text, format, &arguments);
    va_end(arguments);
    events_note_text(events, &text);
}

void events_note_text(struct train_events *events, struct text *text)
{
    struct queued_event *last =
        events->count > events->first ? &events->all[events->count - 1] : NULL;
    events->lost = events->lost || text->failed;
    if (last && last->event.kind == GLCNN_TRAIN_NOTE && text->bytes) {
        text_add(&last->text, text->bytes, text->length);
        events->lost = events->lost || last->text.failed;
        text_free(text);
    } else if (text->bytes) {
        queue_text(events, GLCNN_TRAIN_NOTE, text);
    }
}

void events_remark_text(struct train_events *events, struct text *text)
{
    events->lost = events->lost || text->failed;
    if (text->bytes)
        queue_text(events, GLCNN_TRAIN_REMARK, text);
}

glcnn_status events_complain(struct train_events *events, glcnn_status status, const char *format,
                             ...)
{
    va_list arguments;
    struct text text = {0};
    const struct glcnn_train_event event = {.kind = GLCNN_TRAIN_COMPLAINT, .status = status};
    char sentence[sizeof events->failure];
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (!sentence[0]) /* what fails without a message had no memory for one */
        snprintf(sentence, sizeof sentence, "not enough memory");
    if (status != GLCNN_SUCCESS)
        memcpy(events->failure, sentence, sizeof sentence);
    text_add(&text, sentence, strlen(sentence));
    events->lost = events->lost || text.failed;
    queue_event(events, &event, &text);
    return status;
}

const struct glcnn_train_event *events_take(struct train_events *events)
{
    text_free(&events->taken.text);
    if (events->first == events->count) {
        events->first = events->count = 0;
        return NULL;
    }
    events->taken = events->all[events->first++];
    if (events->taken.event.kind <= GLCNN_TRAIN_COMPLAINT)
        events->taken.event.text =
            events->taken.text.bytes ? events->taken.text.bytes : "not enough memory";
    return &events->taken.event;
}

void events_free(struct train_events *events)
{
    while (events_take(events))
        continue;
    free(events->all);
    *events = (struct train_events){0};
}
