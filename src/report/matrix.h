/* A confusion matrix as an SVG: a row for each class, a column for each class that was predicted,
 * and the darker a cell, the larger its share of the row. */
#ifndef GLCNN_REPORT_MATRIX_H
#define GLCNN_REPORT_MATRIX_H

#include <stdbool.h>
#include <stdio.h>

#include <glcnn/status.h>

#include "task/score.h"

/* The confusion matrix of a score whose task counts one, with what was measured as its title, into a file,
 * which glcnn_file_save writes. False, with a message, if it cannot be written. */
bool matrix_write_score(const struct score *score, const char *const *names, const char *path,
                        char error[GLCNN_ERROR_LENGTH]);
/* The same into a page, without a title; where there is no memory nothing. */
void matrix_embed_score(FILE *f, const struct score *score, const char *const *names,
                        const char *label);

#endif
