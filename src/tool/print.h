/* How the tool prints: nothing that was not made by us reaches a terminal raw. Formats are ours, what
 * %s and %c stand for may be anybody's and is escaped (base/show.h). */
#ifndef GLCNN_TOOL_PRINT_H
#define GLCNN_TOOL_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/show.h"

/* As printf, on standard output and on standard error. The width and the precision of %s count
 * columns of a terminal, of text as it is shown. On a terminal a line that is longer than
 * PRINT_COLUMNS is broken between words. No %n, no long double, no wide characters. */
void output(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* output, whose lines go on, where they are broken, behind `indent` blanks. */
void output_indented(size_t indent, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Has long lines of standard output broken from now on, or not, on a terminal or not. Returns whether
 * they were. */
bool output_wraps(bool wraps);

/* Prints a text that needs no escaping, as it is. */
void output_text(const char *text);
/* Prints a text whose names are escaped already, as text_show makes it, on standard output, and on standard error. */
void output_lines(const char *text);
void print_error_lines(const char *text);
/* Prints a text that text_show made, and frees it, on standard output. False: there was not enough memory for it, and nothing is
 * printed. */
bool output_shown(struct text *text);

#endif
