/* Text that grows: shader sources and messages. A failed allocation latches; the text is then
 * NULL when taken.
 *
 * Room: Text, numbers in text, names, random numbers, digests and time: what all other rooms may use.
 * Knows nothing of GL, networks or data, and includes public headers for status alone. Each shared
 * library has a copy of what it uses. */
#ifndef GLCNN_BASE_TEXT_H
#define GLCNN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; /* NUL-terminated once anything was added */
    size_t length, capacity;
    bool failed;
};

void text_add(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

#endif
