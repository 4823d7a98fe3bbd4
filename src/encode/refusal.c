/* Sentences of what is refused. */
#include "encode/refusal.h"

#include <stdarg.h>
#include <stdio.h>

bool refuse(struct refusal refusal, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (refusal.sentence)
        vsnprintf(refusal.sentence, refusal.size, format, arguments);
    va_end(arguments);
    return false;
}
