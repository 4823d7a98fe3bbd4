/* Events of a training (glcnn/train.h) in the order in which they happened. The trainer adds them and never prints;
 * its caller takes them one after the other and shows, draws or logs them as it likes. */
#ifndef GLCNN_TRAIN_EVENT_H
#define GLCNN_TRAIN_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glcnn/train.h>

#include "base/text.h"

/* An event of glcnn/train.h, whose text is `text`. */
struct queued_event {
    struct glcnn_train_event event;
    struct text text;
};

/* Events that nobody has taken yet. All zero: none. */
struct train_events {
    struct queued_event *all;
    size_t first, count, capacity;
    struct queued_event taken; /* the last that was */
    bool lost;                 /* there was not enough memory for one */
    char failure[2048];        /* the last complaint of what failed; "": none */
};

/* Adds an event without a text. */
void events_add(struct train_events *events, const struct glcnn_train_event *event);
/* Adds lines, as text_show formats them, to the note that was added last, or as a new one. */
void events_note(struct train_events *events, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of a text, which is freed. */
void events_note_text(struct train_events *events, struct text *text);
/* Adds lines of a text, which is freed, as a remark, if there are any. */
void events_remark_text(struct train_events *events, struct text *text);
/* Adds a sentence, as printf formats it. Returns the status. */
glcnn_status events_complain(struct train_events *events, glcnn_status status, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));

/* The next event, which lives until the next call. NULL: there is none. */
const struct glcnn_train_event *events_take(struct train_events *events);
void events_free(struct train_events *events);

#endif
