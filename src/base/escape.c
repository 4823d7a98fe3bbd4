/* Text that somebody else made, on its way to people. */
#define _XOPEN_SOURCE 700 /* for wcwidth */
#include "base/escape.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Controls; characters without a shape that change the order of others, or join or hide them. */
static const struct {
    uint32_t first, last;
} unsafe[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
              {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
              {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

static bool is_unsafe(uint32_t code)
{
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        if (code >= unsafe[i].first && code <= unsafe[i].last)
            return true;
    return false;
}

/* ---- UTF-8 ---- */

/* Bytes that the first one asks for, and the bits of it that count; 0: it begins no character. */
static size_t begin(unsigned char byte, uint32_t *code)
{
    size_t length = byte < 0x80 ? 1 : byte < 0xc0 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    *code = length > 1 ? byte & (0x7fu >> length) : byte;
    return byte < 0xf8 ? length : 0;
}

/* Longer than it need be, a surrogate, or beyond Unicode. */
static bool is_malformed(uint32_t code, size_t length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
}

static bool decode(const char *text, struct character *c)
{
    c->length = begin((unsigned char)*text, &c->code);
    for (size_t i = 1; i < c->length; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80) /* as the 0 at the end is */
            return false;
        c->code = c->code << 6 | (next & 0x3f);
    }
    return c->length > 0 && !is_malformed(c->code, c->length);
}

/* ---- Columns ---- */

/* The C library's table says it, which needs a locale of UTF-8, whatever the user's is; 1 without one. */
static unsigned columns_of(uint32_t code)
{
    static locale_t unicode;
    static bool asked;
    if (code < 0x80)
        return 1;
    if (!asked)
        unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    asked = true;
    if (!unicode)
        return 1;
    locale_t before = uselocale(unicode);
    int columns = wcwidth((wchar_t)code);
    uselocale(before);
    return columns < 0 ? 1 : (unsigned)columns;
}

/* ---- Characters ---- */

static size_t write_code(const struct character *c, char shown[ESCAPE_MAX])
{
    static const char letters[] = "\t\n\r", names[] = "tnr";
    const char *letter = c->code && c->code < 0x20 ? strchr(letters, (int)c->code) : NULL;
    if (letter)
        return (size_t)snprintf(shown, ESCAPE_MAX, "\\%c", names[letter - letters]);
    if (c->kind == CHARACTER_BROKEN || c->code < 0x80)
        return (size_t)snprintf(shown, ESCAPE_MAX, "\\x%02x", c->code & 0xff);
    return (size_t)snprintf(shown, ESCAPE_MAX, c->code < 0x10000 ? "\\u%04x" : "\\U%08x", c->code);
}

struct character escape_character(const char *text, char shown[ESCAPE_MAX])
{
    struct character c = {.kind = CHARACTER_SHOWN};
    if (!decode(text, &c))
        c = (struct character){(unsigned char)*text, 1, CHARACTER_BROKEN, 0};
    else if (is_unsafe(c.code))
        c.kind = CHARACTER_UNSAFE;
    if (c.kind != CHARACTER_SHOWN) {
        c.columns = (unsigned)write_code(&c, shown);
        return c;
    }
    c.columns = columns_of(c.code);
    memcpy(shown, text, c.length);
    shown[c.length] = 0;
    return c;
}

struct character character_at(const char *text)
{
    char shown[ESCAPE_MAX];
    return escape_character(text, shown);
}

size_t escaped_columns(const char *text)
{
    size_t columns = 0;
    for (struct character c; *text; text += c.length) {
        c = character_at(text);
        columns += c.columns;
    }
    return columns;
}
