/* Numbers of texts: a whole word, in its range, or nothing. */
#include "option.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool option_real(const char *text, double low, double high, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && !isspace((unsigned char)*text) && *value >= low &&
           *value <= high;
}

/* Up to 2^53 a double is exact. */
static bool whole_real(const char *text, uint64_t *value)
{
    double real;
    if (!option_real(text, 0, 0x1p53, &real) || real != floor(real))
        return false;
    *value = (uint64_t)real;
    return true;
}

bool option_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    bool is_digits = *text && strspn(text, "0123456789") == strlen(text);
    errno = 0;
    if (is_digits)
        *value = strtoull(text, NULL, 10);
    return (is_digits ? errno == 0 : whole_real(text, value)) && *value >= low && *value <= high;
}
