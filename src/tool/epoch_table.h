/* What glcnn train tells of each epoch: rows of a table on a terminal, lines that stand by themselves in a
 * file or a pipe. */
#ifndef GLCNN_TOOL_EPOCH_TABLE_H
#define GLCNN_TOOL_EPOCH_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct task;

struct epoch_row {
    uint64_t epoch, epochs; /* from 1, of all */
    const struct task *task;
    double loss, value; /* in training; value NAN: it is not measured there */
    double validation_loss, validation_value;
    bool has_averages; /* those are of averages, and these of the weights that are trained */
    double trained_loss, trained_value;
    double seconds, waited; /* of these, for data */
    bool is_best;           /* so far */
};

/* True if standard output and the progress line's standard error are a terminal that can redraw a line: rows
 * stand under a heading then, and nothing stays between them. */
bool epoch_table_is_drawn(void);
/* Prints one; `number` counts those of this run, from 0, so that the heading comes now and then. The best has a
 * colour, unless NO_COLOR is set. */
void epoch_table_print(const struct epoch_row *row, uint64_t number);

#endif
