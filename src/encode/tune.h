/* Timed trials of variants (GLCNN_TUNE): where several rows of a table suit an operation, each is
 * tried on images of the same sizes, and the fastest is taken and kept (record/tuning_cache.h). */
#ifndef GLCNN_TUNE_H
#define GLCNN_TUNE_H

#include "encode/descriptor.h"

#define TUNED_TABLES 16 /* that an operation chooses from at most */
#define TUNED_ROWS   12 /* of a table */

/* What is known of the tables of an operation while it is planned. */
struct tuned {
    struct {
        const struct variant *table, *row;
    } decided[TUNED_TABLES];
    size_t count;
    bool asks; /* the first table with several rows that suit is wanted, if it is not decided */
    const struct variant *table, *rows[TUNED_ROWS]; /* it; the row that it takes without trials
                                                       stands first */
    size_t row_count;
};

/* Decides all tables of the operation, which is to be planned with plan->tuned then; nothing unless
 * the device tunes. A trial that fails decides for the row that is taken without. */
void tune(const struct operation *operation, struct plan *plan, struct tuned *tuned);

#endif
