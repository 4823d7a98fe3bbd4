/* Messages of what is not valid. */
#include "encode/validation.h"

#include <stdarg.h>
#include <stdio.h>

bool invalid(struct validation validation, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (validation.message)
        vsnprintf(validation.message, validation.size, format, arguments);
    va_end(arguments);
    return false;
}
