/* Text that somebody else made, on its way to people: file names, class names, names in models. What a
 * terminal would obey, what would hide or reorder what stands beside it, and what is no UTF-8 is
 * written out: a newline as \n, ESC as \x1b, U+202E as \u202e. Backslashes stay as they are. */
#ifndef GLCNN_BASE_ESCAPE_H
#define GLCNN_BASE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

struct character {
    uint32_t code; /* a code point, or a byte that is no UTF-8 */
    size_t length; /* bytes of the text */
    enum { CHARACTER_SHOWN, CHARACTER_UNSAFE, CHARACTER_BROKEN } kind;
    unsigned columns; /* that it takes on a terminal, as escape_character writes it */
};

#define ESCAPE_MAX 12 /* bytes of a character, with the 0 */

/* The first character of a text that is not "". */
struct character character_at(const char *text);
/* Writes the character that begins `text` as it may be shown. Returns what character_at does. */
struct character escape_character(const char *text, char shown[ESCAPE_MAX]);
/* Columns of a text on a terminal, escaped. */
size_t escaped_columns(const char *text);

#endif
