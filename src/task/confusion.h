/* Confusion matrices: which classes are taken for which. */
#ifndef GLCNN_TASK_CONFUSION_H
#define GLCNN_TASK_CONFUSION_H

#include <cjson/cJSON.h>
#include <glcnn/status.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
/* Prints the share of each class that was told right, and the matrix; of more classes than fit, the
 * worst confusions. */
void confusion_print(const struct confusion *confusion, const char *const *names);
/* Draws the matrix as SVG. False, with a message, if the file cannot be written. */
bool confusion_draw(const struct confusion *confusion, const char *const *names, const char *title,
                    const char *path, char error[GLCNN_ERROR_LENGTH]);
/* The same into a page, as matrix_embed does; where there is no memory nothing. */
void confusion_embed(FILE *f, const struct confusion *confusion, const char *const *names,
                     const char *label);
/* An array with an object for each class: name, count, accuracy and taken_for. */
cJSON *confusion_json(const struct confusion *confusion, const char *const *names);

#endif
