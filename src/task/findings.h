/* What a report tells of an epoch of pictures beside the score: which of them were the most wrong, and where
 * they are classified precision and recall of each class by the probability from which on a picture
 * is taken for it. It takes the same memory however many pictures there are. */
#ifndef GLCNN_TASK_FINDINGS_H
#define GLCNN_TASK_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "task.h"

#define FINDINGS_WORST   24
#define FINDINGS_BINS    512  /* thresholds */
#define FINDINGS_CLASSES 1000 /* more have no curves */

/* A picture whose answer was wrong. */
struct mistake {
    uint32_t index;
    double loss;
    double numbers[MISTAKE_NUMBERS]; /* of the task */
    float *values; /* what the network answered, of the findings; NULL: it is not kept */
};

struct findings {
    uint32_t classes;
    /* [classes][2][FINDINGS_BINS]: pictures by their probability of the class, those of other classes and
     * those of the class. NULL: pictures have no class, or there are too many. */
    uint64_t *bins;
    struct mistake worst[FINDINGS_WORST]; /* by falling loss */
    uint32_t worst_count;
    size_t values; /* of an answer; 0: answers are not kept */
};

#define FINDINGS_MEMORY ((size_t)128 << 20) /* of the answers that are kept; larger ones are not */

/* Nothing found yet; classes 0: pictures have none. False: not enough memory. Release with
 * findings_free. */
bool findings_begin(struct findings *findings, uint32_t classes);
void findings_free(struct findings *findings);

/* Of a picture that is classified: its probabilities, all of them finite, and its class. */
void findings_add(struct findings *findings, const float *probabilities, uint32_t label);
/* Has answers of so many values kept, to be drawn, if they fit into FINDINGS_MEMORY. */
void findings_keep_values(struct findings *findings, size_t values);
/* One that is wrong, with its answer or NULL: where it is not among the worst it is passed over. */
void findings_add_mistake(struct findings *findings, const struct mistake *mistake,
                          const float *values);

/* Numbers in bins. */
size_t findings_size(const struct findings *findings);

/* Of those that a threshold takes for the class, the share that is of it; of those that are of it, the
 * share that the threshold takes. */
struct precision_recall {
    double precision, recall;
};
/* By falling thresholds, so that recall rises; returns how many. A class without pictures has none. */
size_t findings_curve(const struct findings *findings, uint32_t class,
                      struct precision_recall curve[FINDINGS_BINS]);
/* The mean of precision over the pictures of the class, sum (r_i - r_(i-1)) p_i of its curve; NAN where
 * it has none. */
double findings_average_precision(const struct findings *findings, uint32_t class);

#endif
