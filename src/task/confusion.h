/* Confusion matrices: which classes are taken for which. */
#ifndef GLCNN_TASK_CONFUSION_H
#define GLCNN_TASK_CONFUSION_H

#include <cjson/cJSON.h>
#include <glcnn/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

struct confusion {
    uint32_t classes;
    const double *counts; /* [class][class that it was taken for], whole numbers */
};

/* Of a class: how many are of it, how many were taken for it, and how many both. */
struct confusion_tally {
    double are, taken, right;
};
struct confusion_tally confusion_tally(const struct confusion *confusion, uint32_t of);
/* How many are of a class. */
uint64_t confusion_count(const struct confusion *confusion, uint32_t of);
/* Adds to a text the share of each class that was told right, and the matrix; of more classes than fit, the
 * worst confusions. */
void confusion_print(const struct confusion *confusion, const char *const *names,
                     struct text *text);
/* An array with an object for each class: name, count, accuracy and taken_for. */
cJSON *confusion_json(const struct confusion *confusion, const char *const *names);

#endif
