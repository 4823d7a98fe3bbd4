/* A confusion matrix as an SVG: a row for each class, a column for each class that was predicted,
 * and the darker a cell, the larger its share of the row. */
#ifndef GLCNN_REPORT_MATRIX_H
#define GLCNN_REPORT_MATRIX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <glcnn/status.h>

#include "task/score.h"

struct matrix {
    const char *title;        /* NULL: none */
    const char *const *names; /* [classes], UTF-8 */
    uint32_t classes;
    const uint64_t *counts; /* [classes][classes] */
};

/* Writes the picture as glcnn_file_save writes. False, with a message, if it cannot be written. */
bool matrix_write(const char *path, const struct matrix *matrix, char error[GLCNN_ERROR_LENGTH]);
/* The same into a page, as svg_embed does. */
void matrix_embed(FILE *f, const struct matrix *matrix, const char *label);

/* The confusion matrix of a score whose task counts one, with what was measured as its title. */
bool matrix_write_score(const struct score *score, const char *const *names, const char *path,
                        char error[GLCNN_ERROR_LENGTH]);
/* The same into a page, without a title; where there is no memory nothing. */
void matrix_embed_score(FILE *f, const struct score *score, const char *const *names,
                        const char *label);

#endif
