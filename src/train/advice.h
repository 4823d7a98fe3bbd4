/* The advice for a network that was trained, by how its losses went. */
#ifndef GLCNN_TRAIN_ADVICE_H
#define GLCNN_TRAIN_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

enum advice {
    ADVICE_NONE,
    ADVICE_TIME,     /* the loss still fell at the end */
    ADVICE_STEPS,    /* it is at chance after few steps */
    ADVICE_LABELS,   /* the network does no better than one that does not look at the picture */
    ADVICE_PICTURES, /* training is far ahead of validation */
};

struct advice_facts {
    const double *losses; /* of validation, by epoch */
    size_t epochs;
    const double *step_losses; /* of training, by step */
    size_t steps;
    size_t all_steps;        /* with those of runs that this one went on with */
    double measure;          /* of validation; NaN: it is not defined */
    double high;             /* the upper end of its interval */
    double low;              /* the lower one */
    double chance;           /* what the best answer that is the same for all pictures has */
    double training_measure; /* at the end; NaN: it is not measured */
    double training_loss, validation_loss; /* at the end; of different kinds: NaN */
};

/* The first of these that holds:
 *   NONE      the measure is not defined, or at least 0.99
 *   TIME      the mean loss of the last fifth of the epochs is more than 5 % below that of the fifth before,
 *             and no epoch before these was better; of fewer than 5 epochs: of the steps of training, if there are
 *             10 at least
 *   STEPS     the interval reaches down to chance, and the measure is nearer to chance than to 1, after fewer
 *             than 500 steps
 *   LABELS    the same after more steps
 *   PICTURES  the measure is 0.1 higher in training, and above the interval; where it is not measured there, the loss of validation
 *             is more than twice that of training */
enum advice advice_find(const struct advice_facts *facts);

#endif
