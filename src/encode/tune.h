/* Timed trials of implementations (GLCNN_TUNE): where several rows of a list suit an operation, each
 * is
 * tried on images of the same sizes, and the fastest is taken and kept (record/tuning_cache.h). */
#ifndef GLCNN_TUNE_H
#define GLCNN_TUNE_H

#include "encode/descriptor.h"

#define TUNED_LISTS 16 /* that an operation chooses from at most */
#define TUNED_ROWS  12 /* of a list */

/* What is known of the lists of an operation while it is planned. */
struct tuned {
    struct {
        const struct implementation_list *list;
        const struct implementation *row;
    } decided[TUNED_LISTS];
    size_t count;
    bool asks; /* the first list with several rows that suit is wanted, if it is not decided */
    const struct implementation_list *list; /* it */
    const struct implementation
        *rows[TUNED_ROWS]; /* that the device may take; the one that it takes
                                                      without trials stands first */
    size_t row_count;
};

/* Decides all lists of the operation, which is to be planned with plan->tuned then; nothing unless
 * the device tunes. A trial that fails decides for the row that is taken without. */
void tune(const struct operation *operation, struct plan *plan, struct tuned *tuned);

#endif
