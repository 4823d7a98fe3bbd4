/* What happens in a training, in the order in which it happened. The trainer adds events and never prints; its
 * caller takes them one after the other (train_next) and shows, draws or logs them as it likes. */
#ifndef GLCNN_TRAIN_EVENT_H
#define GLCNN_TRAIN_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* How a call ended. The reason was added as a complaint. */
enum train_status {
    TRAIN_GOOD,
    TRAIN_FAILED,
    TRAIN_WRONG,    /* the settings make no sense, and nothing was tried */
    TRAIN_NO_DEVICE /* no device can be opened */
};

enum train_event_kind {
    TRAIN_EVENT_NOTE,        /* text: lines on what was chosen or found, each with its end */
    TRAIN_EVENT_REMARK,      /* text: lines on what is passed over, or may not go well */
    TRAIN_EVENT_COMPLAINT,   /* text: a sentence; status TRAIN_GOOD: the training goes on */
    TRAIN_EVENT_BEGUN,       /* everything is open, and the first step comes next */
    TRAIN_EVENT_EPOCH_BEGUN, /* epoch */
    TRAIN_EVENT_STEP, /* step to done; of an epoch's last step the numbers of validation follow */
    TRAIN_EVENT_EPOCH, /* all numbers: the epoch's last step was made, and what it led to validated */
    TRAIN_EVENT_SAVING, /* a checkpoint is written next: files on its steps should reach the disk before it */
    TRAIN_EVENT_SAVED,       /* the checkpoint of an epoch that was validated is written */
    TRAIN_EVENT_TRAINED,     /* no step follows; status */
    TRAIN_EVENT_INTERRUPTED, /* the run was told to stop, and can be resumed */
    TRAIN_EVENT_END          /* the last; status and is_interrupted */
};

struct train_event {
    enum train_event_kind kind;
    enum train_status status;
    bool is_interrupted;
    struct text text; /* of what is added by others escaped (base/show.h), but for complaints */

    size_t step;         /* from 0 */
    uint64_t epoch;      /* from 1 */
    size_t done;         /* images of the epoch that this run has shown */
    double loss;         /* of the step */
    double accuracy;     /* of the step; NAN: it is not measured in training */
    double rate;         /* the learning rate of the step */
    double mean_loss;    /* of the epoch's steps so far */
    double begun, ended; /* of the step: seconds_now */
    bool is_last;        /* step of its epoch */
    bool ends;           /* the run was told to stop, and does so after this step */

    double mean_accuracy;
    double validation_loss, validation_accuracy; /* by the averages, where there are any */
    double trained_loss, trained_accuracy;       /* by what is trained, where there are averages */
    double seconds, waited;                      /* of the epoch, and for data */
    bool is_best;                                /* epoch so far */
};

/* Events that nobody has taken yet. All zero: none. */
struct train_events {
    struct train_event *all;
    size_t first, count, capacity;
    bool lost;          /* there was not enough memory for one */
    char failure[2048]; /* the text of the last complaint; "": none */
};

/* Adds an event, whose text becomes the list's. */
void events_add(struct train_events *events, struct train_event *event);
/* Adds lines, as text_show formats them, to the note that was added last, or as a new one. */
void events_note(struct train_events *events, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of a text, which is freed. */
void events_note_text(struct train_events *events, struct text *text);
/* Adds lines of a text, which is freed, as a remark, if there are any. */
void events_remark_text(struct train_events *events, struct text *text);
/* Adds a sentence, as printf formats it. Returns the status. */
int events_complain(struct train_events *events, enum train_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds that a word is none of `count` names: "there is no WHAT "WORD"; did you mean NAME? There are ...". */
int events_complain_of_name(struct train_events *events, const char *what, const char *word,
                            const char *const *names, size_t count);

/* The next event, whose text is the caller's to free. False: there is none. */
bool events_take(struct train_events *events, struct train_event *event);
void events_free(struct train_events *events);

#endif
