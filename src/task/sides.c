/* Names that speak of left and right. */
#include "sides.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool side_separates(char c)
{
    return c == '_' || c == '-' || c == ' ' || c == '.';
}

static bool begins_word(const char *name, const char *at)
{
    return at == name || !isalpha((unsigned char)at[-1]) ||
           (islower((unsigned char)at[-1]) && isupper((unsigned char)*at));
}

/* leftEye ends the word left, and Leftover does not. */
static bool ends_word(const char *end)
{
    return !isalpha((unsigned char)*end) ||
           (isupper((unsigned char)*end) && islower((unsigned char)end[-1]));
}

static bool is_apart(const char *name, const char *at, size_t length)
{
    return (at == name || side_separates(at[-1])) && (!at[length] || side_separates(at[length]));
}

/* Where the name has that word; NULL: nowhere. */
static const char *find_word(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = name; *at; at++)
        if (strncasecmp(at, word, length) == 0 &&
            (length == 1 ? is_apart(name, at, length)
                         : begins_word(name, at) && ends_word(at + length)))
            return at;
    return NULL;
}

/* The words of the sides, the long ones first. */
static const struct word {
    const char *text, *other;
    enum side side;
} words[] = {{"left", "right", SIDE_LEFT},
             {"right", "left", SIDE_RIGHT},
             {"l", "r", SIDE_LEFT},
             {"r", "l", SIDE_RIGHT}};

static const struct word *word_of(const char *name, const char **at)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((*at = find_word(name, words[i].text)))
            return &words[i];
    return NULL;
}

enum side side_of(const char *name)
{
    const char *at;
    const struct word *word = word_of(name, &at);
    return word ? word->side : SIDE_NONE;
}

/* Is `other` what `name` is with its word exchanged? */
static bool are_partners(const char *name, const char *other)
{
    const char *at;
    const struct word *word = word_of(name, &at);
    const size_t before = (size_t)(at - name), changed = strlen(word->other);
    return strlen(other) == strlen(name) - strlen(word->text) + changed &&
           strncasecmp(other, name, before) == 0 &&
           strncasecmp(other + before, word->other, changed) == 0 &&
           strcasecmp(other + before + changed, at + strlen(word->text)) == 0;
}

static uint32_t find_partner(const char (*names)[SIDES_NAME], uint32_t count, uint32_t k)
{
    uint32_t i = 0;
    while (i < count && (i == k || !are_partners(names[k], names[i])))
        i++;
    return i;
}

enum sides sides_find(const char (*names)[SIDES_NAME], uint32_t count, uint32_t *partners,
                      uint32_t *lone)
{
    bool has_any = false;
    for (uint32_t k = 0; k < count; k++) {
        partners[k] = k;
        if (side_of(names[k]) == SIDE_NONE)
            continue;
        has_any = true;
        *lone = k;
        partners[k] = find_partner(names, count, k);
        /* Of two that are called the same, one would be nobody's partner. */
        if (partners[k] == count || find_partner(names, count, partners[k]) != k)
            return SIDES_LONE;
    }
    return has_any ? SIDES_PAIRED : SIDES_NONE;
}
