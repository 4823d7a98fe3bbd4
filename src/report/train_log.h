/* The log of glcnn train: a line of CSV for every step. */
#ifndef GLCNN_REPORT_TRAIN_LOG_H
#define GLCNN_REPORT_TRAIN_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glcnn/status.h>

/* All zero: none, and every call does nothing. */
struct train_log {
    const char *path;
    char header[96];
    FILE *file;
    int error;                    /* errno of the first line that could not be written; 0: none */
    uint64_t gap_first, gap_last; /* steps whose lines a log that goes on has lost; 0: none */
};

/* Begins the log, path NULL: none, of a run that has made `first` steps already and measures what
 * `measure` says. A log that is
 * there keeps its lines up to that step, and what a run wrote behind its last checkpoint is taken
 * out: the run that goes on writes it again. Lines that are missing between its first and that step
 * are told in gap_first and gap_last. False, and a message, if that cannot be done. */
bool train_log_open(struct train_log *log, const char *path, const char *measure, uint64_t first,
                    char error[GLCNN_ERROR_LENGTH]);

struct train_log_line {
    uint64_t step, epoch;                        /* from 1 */
    double learning_rate, loss, accuracy;        /* NAN: none in training */
    double validation_loss, validation_accuracy; /* NAN: not validated after this step */
};
/* Writes a line. Training does not end for a failure; train_log_close tells it. */
void train_log_write(struct train_log *log, const struct train_log_line *line);

/* Brings what is written to the disk: no checkpoint is there before the lines of its steps. */
void train_log_sync(struct train_log *log);

/* False, and a message, if a line could not be written. */
bool train_log_close(struct train_log *log, char error[GLCNN_ERROR_LENGTH]);

#endif
