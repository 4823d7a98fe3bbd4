/* Printing. Lines are broken between words as they come: of a stream its column is known, not its line. */
#include "print.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

#define INDENT 2
#define OWN    SIZE_MAX

/* ---- A stream ---- */

struct stream {
    FILE *file;
    bool wraps;
    size_t hang;   /* blanks before lines that go on, or OWN: INDENT more than the line has */
    size_t column; /* of what is printed of the line under way */
    size_t indent; /* blanks that it begins with */
    size_t blanks; /* that came and are not printed yet: none at the end of a line that is broken */
};

/* Columns of the word, which a blank, the end of a line or the end of the text ends. */
static size_t word_columns(const char *text)
{
    size_t columns = 0;
    for (struct character c; *text && !strchr(" \n\r", *text); text += c.length) {
        c = character_at(text);
        columns += c.columns;
    }
    return columns;
}

static void put_blanks(struct stream *s)
{
    fprintf(s->file, "%*s", (int)s->blanks, "");
    if (s->column == 0)
        s->indent = s->blanks;
    s->column += s->blanks;
    s->blanks = 0;
}

static void break_line(struct stream *s)
{
    fputc('\n', s->file);
    s->blanks = s->hang == OWN ? s->indent + INDENT : s->hang;
    s->column = 0;
    size_t indent = s->indent;
    put_blanks(s);
    s->indent = indent;
}

static void put_end(struct stream *s, char end)
{
    put_blanks(s);
    fputc(end, s->file);
    s->column = s->indent = 0;
}

static void put_word(struct stream *s, const char *text, size_t columns)
{
    if (s->wraps && s->blanks > 0 && s->column > 0 &&
        s->column + s->blanks + columns > PRINT_COLUMNS)
        break_line(s);
    put_blanks(s);
    fwrite(text, 1, strcspn(text, " \n\r"), s->file);
    s->column += columns;
}

/* Text as it may be shown. A stream that does not break lines keeps nothing back. */
static void put(struct stream *s, const char *text)
{
    while (*text) {
        if (*text == ' ') {
            s->blanks++;
            text++;
        } else if (*text == '\n' || *text == '\r') {
            put_end(s, *text++);
        } else {
            put_word(s, text, word_columns(text));
            text += strcspn(text, " \n\r");
        }
    }
    if (!s->wraps)
        put_blanks(s);
}

/* ---- Formats ---- */

/* What a call prints, gathered so that words are whole when they come to the stream. */
struct text {
    struct stream *stream;
    char bytes[4096];
    size_t used;
};

static void flush(struct text *t)
{
    t->bytes[t->used] = 0;
    put(t->stream, t->bytes);
    t->used = 0;
}

static void add(struct text *t, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        t->bytes[t->used++] = text[i];
        if (t->used == sizeof t->bytes - 1)
            flush(t);
    }
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

static void add_number(struct text *t, const struct conversion *c, va_list *arguments)
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
    add(t, text, strlen(text));
}

static void add_blanks(struct text *t, size_t count)
{
    while (count-- > 0)
        add(t, " ", 1);
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

static void add_escaped(struct text *t, const struct conversion *c, const char *text)
{
    const char *end;
    size_t columns = fitting(text, c->precision, &end), width = (size_t)abs(c->width);
    size_t blanks = width > columns ? width - columns : 0;
    bool to_left = c->width < 0 || strchr(c->flags, '-');
    add_blanks(t, to_left ? 0 : blanks);
    while (text < end) {
        char shown[ESCAPE_MAX];
        text += escape_character(text, shown).length;
        add(t, shown, strlen(shown));
    }
    add_blanks(t, to_left ? blanks : 0);
}

static void add_conversion(struct text *t, const struct conversion *c, va_list *arguments)
{
    char one[2] = "";
    if (c->letter == '%') {
        add(t, "%", 1);
    } else if (c->letter == 's') {
        add_escaped(t, c, va_arg(*arguments, const char *));
    } else if (c->letter == 'c') {
        one[0] = (char)va_arg(*arguments, int);
        add_escaped(t, c, one);
    } else {
        add_number(t, c, arguments);
    }
}

static void print(struct stream *s, const char *format, va_list *arguments)
{
    struct text text = {.stream = s};
    while (*format) {
        struct conversion c;
        size_t length = strcspn(format, "%");
        add(&text, format, length);
        format += length;
        if (*format) {
            format = read_conversion(format + 1, arguments, &c);
            add_conversion(&text, &c, arguments);
        }
    }
    flush(&text);
}

/* ---- The two streams ---- */

static struct stream *stream_of(FILE *file)
{
    static struct stream streams[2];
    struct stream *s = &streams[file == stderr];
    if (!s->file) {
        *s = (struct stream){.file = file, .wraps = isatty(fileno(file)), .hang = OWN};
        if (file == stderr) /* a line at once: other processes may write to the same place */
            setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    }
    return s;
}

void output(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(stream_of(stdout), format, &arguments);
    va_end(arguments);
}

void print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    print(stream_of(stderr), format, &arguments);
    fflush(stderr);
    va_end(arguments);
}

void output_indented(size_t indent, const char *format, ...)
{
    va_list arguments;
    struct stream *s = stream_of(stdout);
    s->hang = indent;
    va_start(arguments, format);
    print(s, format, &arguments);
    va_end(arguments);
    s->hang = OWN;
}

bool output_wraps(bool wraps)
{
    struct stream *s = stream_of(stdout);
    bool before = s->wraps;
    put_blanks(s);
    s->wraps = wraps;
    return before;
}

void output_text(const char *text)
{
    fputs(text, stdout);
}
