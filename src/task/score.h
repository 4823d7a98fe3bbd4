/* How well a network does: what its task adds up over pictures. */
#ifndef GLCNN_TASK_SCORE_H
#define GLCNN_TASK_SCORE_H

#include "findings.h"
#include "interval.h"
#include "task.h"
#include "tallies.h"

#include "metrics.h"

struct score {
    const struct task *task;
    struct form form;
    uint64_t count;      /* pictures */
    double loss;         /* the sum of theirs */
    uint32_t not_finite; /* pictures with a value that is NaN or infinite: no answer is theirs */
    uint32_t first;      /* the index of the first of them */
    double *sums;        /* of the task, sum_count of them */
    size_t sum_count;
    void *kept;   /* of the task, where sums do not do; task->release frees it */
    float *units; /* of a model that has them: the deviation of each number, then the mean */
    struct findings *findings; /* that pictures are added to as well; NULL: none. The caller's */
    glcnn_dataset *set;        /* of score_of; NULL: masks are measured as the network sees them */
    glcnn_data_part part;
    char failure[GLCNN_ERROR_LENGTH]; /* why a picture could not be measured; "": all could */
    struct tallies *tallies; /* that gets what each picture adds; NULL: none. The caller's */
};

/* Nothing counted yet, of what a model answers. False: not enough memory, or its units cannot be read.
 * Release with score_free. */
bool score_begin(struct score *score, const struct model *model);
void score_free(struct score *score);
/* Names the part that the pictures are of, so that masks are measured in the pictures' own pixels. */
void score_of(struct score *score, glcnn_dataset *set, glcnn_data_part part);

/* Adds to one of score->sums what the picture under way has. */
void score_count(struct score *score, double *sum, double value);

/* -ln of the probability of what is right, which counts as 1e-38 at least. */
double score_cross_entropy(float probability);

bool scores_are_finite(const float *values, size_t count);

/* Counts the pictures of a batch by what the network answered, [batch->count][task->values]; empty
 * places are passed over. One that is not finite makes the loss NaN. */
void score_add(struct score *score, const float *values, const struct glcnn_data_batch *batch);

double score_measure(const struct score *score); /* the task's; NaN: of no picture */
/* Returns the number that epochs are compared by, and sets the measure: both are NaN of no picture. */
double score_rank(const struct score *score, double *measure);
/* Of the measure, as interval.h has it, of a score that kept tallies. Tallies that had no memory give none. False:
 * not enough memory. */
bool score_interval(const struct score *score, uint64_t seed, struct interval *interval);
/* The mean over pictures; of masks over pixels that have a class, 0 where none has. NaN: of no picture. */
double score_loss(const struct score *score);

/* Adds lines for people to a text. */
void score_print(const struct score *score, const char *const *names, struct text *text);
/* For programs: all of it. */
cJSON *score_json(const struct score *score, const char *const *names);

#endif
