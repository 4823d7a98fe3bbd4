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
#include "base/show.h"

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
struct line {
    struct stream *stream;
    char bytes[4096];
    size_t used;
};

static void flush(struct line *line)
{
    line->bytes[line->used] = 0;
    put(line->stream, line->bytes);
    line->used = 0;
}

static void add(void *user, const char *text, size_t length)
{
    struct line *line = user;
    for (size_t i = 0; i < length; i++) {
        line->bytes[line->used++] = text[i];
        if (line->used == sizeof line->bytes - 1)
            flush(line);
    }
}

static void print(struct stream *s, const char *format, va_list *arguments)
{
    struct line line = {.stream = s};
    show_format(add, &line, format, arguments);
    flush(&line);
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

void output_lines(const char *text)
{
    put(stream_of(stdout), text);
}

void print_error_lines(const char *text)
{
    fflush(stdout);
    put(stream_of(stderr), text);
    fflush(stderr);
}

bool output_shown(struct text *text)
{
    bool good = !text->failed;
    if (text->bytes)
        output_lines(text->bytes);
    text_free(text);
    return good;
}
