/* A progress line: a bar that is redrawn in place on a terminal, plain lines elsewhere.
 *
 *     epoch 3 of 50  [=======>          ]  43%  loss 0.4127  1843 images/s  18 s left
 */
#ifndef GLCNN_REPORT_PROGRESS_H
#define GLCNN_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct progress {
    FILE *stream;
    size_t total;        /* images in all */
    size_t later;        /* images that follow these, for the time left; 0 at first */
    const char *label;   /* that stands in front; NULL at first: nothing */
    bool bar;            /* the stream is a terminal that can redraw a line */
    bool erases;         /* of a bar nothing stays at the end; false at first */
    bool compiles;       /* the first update has also waited for programs; false at first */
    size_t compiled;     /* images of that update, which say nothing of the speed; 0: none */
    double compile_time; /* seconds until then */
    double start, drawn; /* seconds; `drawn` is when the last line was */
    size_t width;        /* characters that the bar's line takes now */
};

/* Begins now; `total` images are to be done. The stream is stderr as a rule. */
void progress_begin(struct progress *progress, FILE *stream, size_t total);
/* `done` images are done, the loss is `loss`. Draws only when it is time to. */
void progress_update(struct progress *progress, size_t done, double loss);
/* Takes a bar away, so that a line can be printed; the next update draws it again. */
void progress_erase(struct progress *progress);

/* Draws the last state and ends the line, or erases it. */
void progress_end(struct progress *progress, size_t done, double loss);
/* Seconds since progress_begin. */
double progress_seconds(const struct progress *progress);

/* The line for `done` images after `seconds`: without a bar if `columns` is 0, else to fill that many
 * columns at most. The time left is of the speed since the programs were compiled; before that it is
 * left out. Returns its length. */
size_t progress_format(const struct progress *progress, char *line, size_t size, size_t done,
                       double seconds, double loss, size_t columns);

#endif
