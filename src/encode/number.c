/* Numbers as text: this thread takes C's locale for the moment. */
#include "encode/number.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain;

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* This thread's locale becomes C's; what it was is to be given to uselocale again. */
static locale_t begin_plain(void)
{
    pthread_once(&once, make_plain);
    return uselocale(plain);
}

bool number_parse(const char *text, double *value)
{
    char *end;
    locale_t old = begin_plain();
    *value = strtod(text, &end);
    uselocale(old);
    return end != text && *end == 0;
}

bool number_parse_whole(const char *text, uint64_t *value)
{
    bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    int old = errno;
    errno = 0;
    *value = strtoull(text, &end, is_hexadecimal ? 16 : 10);
    bool fits = errno == 0;
    errno = old;
    return fits && *end == 0;
}

static bool reads_back(const char *text, double value)
{
    double read = strtod(text, NULL);
    return read == value || ((double)(float)value == value && (float)read == (float)value);
}

const char *number_format(char text[NUMBER_TEXT], double value)
{
    locale_t old = begin_plain();
    if (value == floor(value) && fabs(value) < 1e15)
        snprintf(text, NUMBER_TEXT, "%.0f", value + 0.0);
    else
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, NUMBER_TEXT, "%.*g", digits, value);
            if (isnan(value) || reads_back(text, value))
                break;
        }
    uselocale(old);
    return text;
}
