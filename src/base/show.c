/* Formats of text for people, whose arguments may be anybody's. */
#include "base/show.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

struct output {
    show_sink *sink;
    void *user;
};

static void add(const struct output *o, const char *text, size_t length)
{
    o->sink(o->user, text, length);
}

/* A conversion: "%", flags, a width, a precision, a length and the letter. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    char length[3];
    char letter;
};

static int read_count(const char **at, va_list *arguments)
{
    int count = 0;
    if (**at == '*') {
        (*at)++;
        return va_arg(*arguments, int);
    }
    for (; **at >= '0' && **at <= '9'; (*at)++)
        count = 10 * count + (**at - '0');
    return count;
}

/* Reads one behind its "%"; returns what stands behind it. */
static const char *read_conversion(const char *at, va_list *arguments, struct conversion *c)
{
    *c = (struct conversion){.precision = -1};
    for (size_t n = 0; strchr("-+ #0", *at) && n < sizeof c->flags - 1; at++)
        c->flags[n++] = *at;
    c->width = read_count(&at, arguments);
    if (*at == '.') {
        at++;
        c->precision = read_count(&at, arguments);
    }
    for (size_t n = 0; strchr("hlzjt", *at) && n < sizeof c->length - 1; at++)
        c->length[n++] = *at;
    c->letter = *at;
    return at + 1;
}

static intmax_t take_signed(const char *length, va_list *arguments)
{
    switch (length[0]) {
    case 'l':
        return length[1] ? va_arg(*arguments, long long) : va_arg(*arguments, long);
    case 'z':
    case 't':
        return va_arg(*arguments, ptrdiff_t);
    case 'j':
        return va_arg(*arguments, intmax_t);
    default:
        return va_arg(*arguments, int);
    }
}

static uintmax_t take_unsigned(const char *length, va_list *arguments)
{
    switch (length[0]) {
    case 'l':
        return length[1] ? va_arg(*arguments, unsigned long long)
                         : va_arg(*arguments, unsigned long);
    case 'z':
    case 't':
        return va_arg(*arguments, size_t);
    case 'j':
        return va_arg(*arguments, uintmax_t);
    default:
        return va_arg(*arguments, unsigned);
    }
}

static void add_number(const struct output *o, const struct conversion *c, va_list *arguments)
{
    char format[32], text[512];
    bool is_real = strchr("aefgAEFG", c->letter), is_signed = strchr("di", c->letter);
    snprintf(format, sizeof format, "%%%s*.*%s%c", c->flags, is_real ? "" : "j", c->letter);
    if (is_real)
        snprintf(text, sizeof text, format, c->width, c->precision, va_arg(*arguments, double));
    else if (is_signed)
        snprintf(text, sizeof text, format, c->width, c->precision,
                 take_signed(c->length, arguments));
    else
        snprintf(text, sizeof text, format, c->width, c->precision,
                 take_unsigned(c->length, arguments));
    add(o, text, strlen(text));
}

static void add_blanks(const struct output *o, size_t count)
{
    while (count-- > 0)
        add(o, " ", 1);
}

/* Columns of what the precision leaves of a text, and where that ends. */
static size_t fitting(const char *text, int precision, const char **end)
{
    size_t columns = 0;
    for (*end = text; **end;) {
        struct character c = character_at(*end);
        if (precision >= 0 && columns + c.columns > (size_t)precision)
            break;
        columns += c.columns;
        *end += c.length;
    }
    return columns;
}

static void add_escaped(const struct output *o, const struct conversion *c, const char *text)
{
    const char *end;
    size_t columns = fitting(text, c->precision, &end), width = (size_t)abs(c->width);
    size_t blanks = width > columns ? width - columns : 0;
    bool to_left = c->width < 0 || strchr(c->flags, '-');
    add_blanks(o, to_left ? 0 : blanks);
    while (text < end) {
        char shown[ESCAPE_MAX];
        text += escape_character(text, shown).length;
        add(o, shown, strlen(shown));
    }
    add_blanks(o, to_left ? blanks : 0);
}

static void add_conversion(const struct output *o, const struct conversion *c, va_list *arguments)
{
    char one[2] = "";
    if (c->letter == '%') {
        add(o, "%", 1);
    } else if (c->letter == 's') {
        add_escaped(o, c, va_arg(*arguments, const char *));
    } else if (c->letter == 'c') {
        one[0] = (char)va_arg(*arguments, int);
        add_escaped(o, c, one);
    } else {
        add_number(o, c, arguments);
    }
}

void show_format(show_sink *sink, void *user, const char *format, va_list *arguments)
{
    const struct output output = {sink, user};
    while (*format) {
        struct conversion c;
        size_t length = strcspn(format, "%");
        add(&output, format, length);
        format += length;
        if (*format) {
            format = read_conversion(format + 1, arguments, &c);
            add_conversion(&output, &c, arguments);
        }
    }
}

static void add_to_text(void *text, const char *bytes, size_t length)
{
    text_add(text, bytes, length);
}

void text_show(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    show_format(add_to_text, text, format, &arguments);
    va_end(arguments);
}
