/* How well a detector finds objects, by the rules of glcnn/detection.h. */
#ifndef GLCNN_TASK_DETECTION_SCORE_H
#define GLCNN_TASK_DETECTION_SCORE_H

#include <stddef.h>

#include "detection_box.h"

#define DETECTION_THRESHOLDS 10

struct detection_outcome;
struct detection_object;

struct glcnn_detection_score {
    uint32_t classes;
    uint64_t *objects; /* of each class, without crowds and difficult ones */
    struct detection_outcome *outcomes;
    size_t count, capacity;
    struct detection_object *each; /* of those objects */
    size_t object_count, object_capacity;
    uint32_t pictures;
    bool is_sorted;                       /* outcomes are by class and score */
    struct glcnn_detection_result result; /* of its user */
    double *of_class;                     /* that points to these */
};

struct detection_precision {
    double at_50; /* mean average precision with a threshold of 0.5; NaN where there is no object */
    double at_all;          /* the mean over all thresholds */
    double *of_class_at_50; /* [classes]; NaN where there is no object of it */
};

/* Nothing counted yet. Release with detection_score_free, after a failure too. False: not enough
 * memory. */
bool detection_score_begin(glcnn_detection_score *score, uint32_t classes);
void detection_score_free(glcnn_detection_score *score);

/* Counts a picture: its objects and what was found there, in any order. Labels are below classes. False:
 * not enough memory. */
bool detection_score_add(glcnn_detection_score *score, const struct glcnn_object *objects,
                         uint32_t object_count, const struct glcnn_detection *found,
                         uint32_t found_count);

/* All that was counted as numbers, for others that count other pictures: how many, and they themselves. */
size_t detection_score_numbers(const glcnn_detection_score *score);
void detection_score_write(const glcnn_detection_score *score, double *numbers);
/* Takes several such rows of numbers, one behind another, `count` in all, in place of what was counted; of
 * equal scores those of earlier rows come first.
 * False: not enough memory, or they are none. */
bool detection_score_read(glcnn_detection_score *score, const double *numbers, size_t count);

/* Mean average precision with a threshold of 0.5 of pictures of which number i was drawn times[i] times, and
 * how many numbers that goes through. */
double detection_score_drawn(glcnn_detection_score *score, const uint32_t *times);
size_t detection_score_work(const glcnn_detection_score *score);

/* Objects by their size: the smallest third, those between, and the largest, by area. */
#define DETECTION_SIZES 3
struct detection_size {
    size_t count;
    double side; /* the square root of the largest area */
    double
        found; /* average recall (Hosang et al. 2015): the share that is found, the mean over thresholds; NaN
                     where there is none */
};
/* False: not enough memory. */
bool detection_score_sizes(const glcnn_detection_score *score,
                           struct detection_size sizes[DETECTION_SIZES]);

/* Of all that was counted, which stays; of_class_at_50 has room for all classes, or is NULL. */
void detection_score_result(glcnn_detection_score *score, struct detection_precision *precision);

#endif
