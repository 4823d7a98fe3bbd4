/* Tables of text, line by line. Numbers are read as the C locale writes them, whatever the
 * program's. */
#ifndef GLCNN_DATA_CSV_LINES_H
#define GLCNN_DATA_CSV_LINES_H

#include "table.h"

struct csv_lines {
    const struct reading *reading;
    char *at, *end;
    char separator;
    size_t lines;  /* begun so far */
    char **fields; /* of the line: [count] */
    size_t count, capacity;
    size_t number; /* from 1, of the line in the file where it begins */
};

/* Has the text that follows "PATH: line N" in front of it. */
#define CSV_MALFORMED(csv, ...)                                                                    \
    fail_with((csv)->reading->error, GLCNN_MALFORMED_DATA, "%.250s: line %zu" __VA_ARGS__)
#define CSV_WHERE(csv) (csv)->reading->path, (csv)->number

/* The next line that is not empty; none: it has no fields. */
glcnn_status csv_next(struct csv_lines *csv);

/* Reads a file and has its lines taken, in the C locale. */
typedef glcnn_status csv_taker(struct csv_lines *csv, void *user);
glcnn_status csv_take(const struct reading *r, csv_taker *take, void *user);
/* The same of a file's first 64 KiB, to look at its first lines; the last one may be cut. */
glcnn_status csv_peek(const struct reading *r, csv_taker *take, void *user);

#endif
