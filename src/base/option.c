/* Numbers of texts: a whole word, in its range, or nothing. */
#include "base/option.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/show.h"

bool option_real(const char *text, double low, double high, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && !isspace((unsigned char)*text) && *value >= low &&
           *value <= high;
}

#define TEXT_MAX 64

/* Takes k, M or G off the end of a number; returns what it stands for, powers of `thousand`. */
static uint64_t take_unit(char *text, uint64_t thousand)
{
    static const char suffixes[] = "kMG";
    size_t length = strlen(text);
    char last = length > 1 ? text[length - 1] : 0;
    const char *found = last ? strchr(suffixes, last == 'K' ? 'k' : last) : NULL;
    uint64_t unit = 1;
    for (const char *s = suffixes; found && s <= found; s++)
        unit *= thousand;
    if (found)
        text[length - 1] = 0;
    return unit;
}

/* Up to 2^53 a double is exact. */
static bool whole_real(const char *text, uint64_t unit, uint64_t *value)
{
    double real;
    if (!option_real(text, 0, 0x1p53, &real))
        return false;
    real *= (double)unit;
    if (real > 0x1p53 || real != floor(real))
        return false;
    *value = (uint64_t)real;
    return true;
}

static bool whole_digits(const char *text, uint64_t unit, uint64_t *value)
{
    errno = 0;
    uint64_t number = strtoull(text, NULL, 10);
    if (errno != 0 || number > UINT64_MAX / unit)
        return false;
    *value = number * unit;
    return true;
}

static bool scaled(const char *text, uint64_t thousand, uint64_t low, uint64_t high,
                   uint64_t *value)
{
    char number[TEXT_MAX];
    if (strlen(text) >= sizeof number)
        return false;
    strcpy(number, text);
    uint64_t unit = take_unit(number, thousand);
    bool is_digits = *number && strspn(number, "0123456789") == strlen(number);
    return (is_digits ? whole_digits : whole_real)(number, unit, value) && *value >= low &&
           *value <= high;
}

bool option_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    return scaled(text, 1000, low, high, value);
}

bool option_bytes(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    return scaled(text, 1024, low, high, value);
}

bool option_extent(const char *text, uint32_t most, uint32_t *width, uint32_t *height)
{
    char first[32];
    uint64_t columns, rows;
    const char *x = strchr(text, 'x');
    snprintf(first, sizeof first, "%.*s", x ? (int)(x - text) : 31, text);
    if (!option_whole(first, 1, most, &columns) || !option_whole(x ? x + 1 : first, 1, most, &rows))
        return false;
    *width = (uint32_t)columns;
    *height = (uint32_t)rows;
    return true;
}

/* ---- Command lines ---- */

static bool is_shown(const char *word)
{
    while (*word) {
        struct character c = character_at(word);
        if (c.kind != CHARACTER_SHOWN)
            return false;
        word += c.length;
    }
    return true;
}

/* A word as a shell takes it; one that is not shown as it is, as bash and zsh do. */
static void add_quoted(struct text *text, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./,:+@%=";
    const bool shown = is_shown(word);
    if (*word && !word[strspn(word, safe)]) {
        text_show(text, "%s", word);
        return;
    }
    text_show(text, shown ? "'" : "$'");
    for (size_t length; *word; word += length) {
        char one[8] = "";
        length = character_at(word).length;
        memcpy(one, word, length);
        if (*word == '\'')
            text_show(text, shown ? "'\\''" : "\\'");
        else
            text_show(text, *word == '\\' && !shown ? "\\%s" : "%s", one);
    }
    text_show(text, "'");
}

void option_add(struct text *text, const char *name, const char *value)
{
    if (!value)
        return;
    text_show(text, " --%s ", name);
    add_quoted(text, value);
}
