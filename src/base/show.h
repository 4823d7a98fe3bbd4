/* Text for people: formats are ours, and what %s and %c stand for may be anybody's and is escaped (escape.h), so
 * that nothing that was not made by us reaches a terminal raw. */
#ifndef GLCNN_BASE_SHOW_H
#define GLCNN_BASE_SHOW_H

#include <stdarg.h>

#include "text.h"

#define PRINT_COLUMNS 80 /* that a line has where it can */

typedef void show_sink(void *user, const char *bytes, size_t length);

/* Formats as printf does, into calls of the sink. The width and the precision of %s count columns of a terminal, of
 * text as it is shown. No %n, no long double, no wide characters. */
void show_format(show_sink *sink, void *user, const char *format, va_list *arguments);
/* The same, added to a text. */
void text_show(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
