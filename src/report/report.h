/* The report of a training or an evaluation: one page of HTML that needs nothing else, no script, no
 * font, no file beside it. What others named is text in it.
 *
 * Room: What shows how a training goes: log, curves, page, TensorBoard, trace, and the pictures in them.
 * Includes public headers, base/, task/ and train/. */
#ifndef GLCNN_REPORT_REPORT_H
#define GLCNN_REPORT_REPORT_H

#include "task/findings.h"
#include "task/score.h"
#include "task/shown.h"
#include "train_curves.h"

#define REPORT_SAMPLES 16

/* A line of a table, or a number that stands large at the top. */
struct report_row {
    const char *name;
    const char *text;
    const char *note; /* may be NULL */
};

struct report_picture {
    struct shown
        shown; /* bytes NULL: it could not be read again; with what is true drawn into it */
    struct shown found; /* the same with what the network found; bytes NULL: that is not drawn */
    uint32_t label;     /* where it has a class */
    char name[256];     /* "": none */
};

/* Everything belongs to the caller. */
struct report {
    const char *title;
    const char *state; /* a sentence: what this is, and how far it is */
    const char *part;  /* whose pictures were looked at: "validation", "test", "training" */
    const struct report_row *numbers, *settings;
    size_t number_count, setting_count;
    const struct train_curves *curves; /* NULL: none */
    const struct score *score;
    const struct findings *findings;
    const char *const *names;           /* of classes, or of what else the task has */
    const struct report_picture *worst; /* findings->worst_count of them, in that order */
    const struct report_picture *samples;
    uint32_t sample_count;    /* 0: none */
    const char *samples_text; /* a sentence on them */
};

/* The path of the page in a folder. */
#define REPORT_PAGE "%s/index.html"

/* Writes the page as glcnn_file_save writes. False, with a message, if it cannot be written. */
bool report_write(const struct report *report, const char *path, char error[GLCNN_ERROR_LENGTH]);

#endif
