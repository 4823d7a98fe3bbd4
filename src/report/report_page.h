/* The parts of a report's page. */
#ifndef GLCNN_REPORT_REPORT_PAGE_H
#define GLCNN_REPORT_REPORT_PAGE_H

#include <stdio.h>

#include "report.h"

extern const char report_style[];

/* How the network does on one class. */
struct class_result {
    uint32_t class;
    uint64_t count, taken, right; /* pictures of it, taken for it, and both */
    double f1;                    /* NAN: neither */
    double average_precision;     /* NAN: there is none */
};

/* Does what the task adds up say which class was taken for which? */
bool report_has_classes(const struct report *report);

/* A picture as PNG within the page, with an alternative text in two parts. */
void report_print_picture(FILE *f, const struct shown *picture, const char *what, const char *name);
/* What every page begins and ends with: names are escaped. */
void report_print_head(FILE *f, const char *title, const char *state);
void report_print_foot(FILE *f);

/* Sections with a heading each; `results` are the classes', the hardest first. */
void report_print_curves(FILE *f, const struct report *report);
/* Of a task without classes: what it tells programs of each of its parts, as a table. */
void report_print_parts(FILE *f, const struct report *report);
void report_print_classes(FILE *f, const struct report *report, const struct class_result *results);
void report_print_matrix(FILE *f, const struct report *report, const struct class_result *results);
void report_print_precision(FILE *f, const struct report *report,
                            const struct class_result *results);
void report_print_worst(FILE *f, const struct report *report);
void report_print_samples(FILE *f, const struct report *report);

#endif
