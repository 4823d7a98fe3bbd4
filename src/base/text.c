/* Text that grows to twice what is wanted. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *text, size_t more)
{
    size_t wanted = text->length + more + 1;
    if (text->failed)
        return false;
    if (wanted <= text->capacity)
        return true;
    size_t capacity = wanted * 2;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text_free(text);
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

void text_format(struct text *text, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0)
        text_add(text, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}
