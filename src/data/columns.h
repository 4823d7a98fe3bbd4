/* What the columns of a table of text are: the label, values of the image, or neither. */
#ifndef GLCNN_DATA_COLUMNS_H
#define GLCNN_DATA_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#define NO_COLUMN SIZE_MAX

enum column { COLUMN_VALUE, COLUMN_LABEL, COLUMN_OTHER };

struct columns {
    enum column *kinds; /* [count] */
    size_t count, values;
    size_t label;    /* NO_COLUMN: there is none, or it is not wanted */
    bool named;      /* the first line has names */
    bool is_guessed; /* no name says which column the label is */
};

/* From the fields of the first line. Release with columns_free, after a failure too. False: not
 * enough memory. */
bool columns_find(struct columns *columns, char *const *fields, size_t count, bool labelled);
void columns_free(struct columns *columns);

/* Two fields that both name the label; NULL: there are not. */
const char *columns_second_label(char *const *fields, size_t count, const char **first);
/* The first line is numbers that count it from 0 or 1 on, as names that nobody chose are. */
bool columns_are_counted(char *const *fields, size_t count);
/* Writes which column is what; the fields are those of columns_find. */
void columns_describe(const struct columns *columns, char *const *fields, const char *path,
                      char *message, size_t size);

/* A finite number as the C locale writes it. */
bool columns_number(const char *text, float *value);

#endif
