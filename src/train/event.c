/* Events of a training, first in, first out. */
#include "event.h"

#include <glcnn/glcnn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/show.h"

#define SUGGESTION_MAX 1536 /* characters of all names */

void events_add(struct train_events *events, struct train_event *event)
{
    if (events->count == events->capacity) {
        const size_t capacity = 2 * events->capacity + 16;
        struct train_event *more = realloc(events->all, capacity * sizeof *more);
        if (!more) {
            events->lost = true;
            text_free(&event->text);
            return;
        }
        events->all = more;
        events->capacity = capacity;
    }
    events->all[events->count++] = *event;
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
    struct train_event *last =
        events->count > events->first ? &events->all[events->count - 1] : NULL;
    events->lost = events->lost || text->failed;
    if (last && last->kind == TRAIN_EVENT_NOTE && text->bytes) {
        text_add(&last->text, text->bytes, text->length);
        events->lost = events->lost || last->text.failed;
        text_free(text);
    } else if (text->bytes) {
        events_add(events, &(struct train_event){.kind = TRAIN_EVENT_NOTE, .text = *text});
        *text = (struct text){0};
    }
}

void events_remark_text(struct train_events *events, struct text *text)
{
    events->lost = events->lost || text->failed;
    if (text->bytes)
        events_add(events, &(struct train_event){.kind = TRAIN_EVENT_REMARK, .text = *text});
    *text = (struct text){0};
}

int events_complain(struct train_events *events, enum train_status status, const char *format, ...)
{
    va_list arguments;
    struct train_event event = {.kind = TRAIN_EVENT_COMPLAINT, .status = status};
    va_start(arguments, format);
    vsnprintf(events->failure, sizeof events->failure, format, arguments);
    va_end(arguments);
    if (!events->failure[0]) /* what fails without a message had no memory for one */
        snprintf(events->failure, sizeof events->failure, "not enough memory");
    text_add(&event.text, events->failure, strlen(events->failure));
    events_add(events, &event);
    return (int)status;
}

int events_complain_of_name(struct train_events *events, const char *what, const char *word,
                            const char *const *names, size_t count)
{
    char text[SUGGESTION_MAX];
    glcnn_suggest(word, strlen(word), names, count, text, sizeof text);
    return events_complain(events, TRAIN_WRONG, "there is no %s \"%s\"%s", what, word, text);
}

bool events_take(struct train_events *events, struct train_event *event)
{
    if (events->first == events->count) {
        events->first = events->count = 0;
        return false;
    }
    *event = events->all[events->first++];
    return true;
}

void events_free(struct train_events *events)
{
    struct train_event event;
    while (events_take(events, &event))
        text_free(&event.text);
    free(events->all);
    *events = (struct train_events){0};
}
