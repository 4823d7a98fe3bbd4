/* What a misspelt word was meant to be: the name at the least distance of Damerau and Levenshtein,
 * in which a letter is changed, left out, added, or swapped with the next one. */
#include <glcnn/kernel.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 63 /* letters of a word that has a nearest name */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Row i has the distances of the first i letters of `word` to the beginnings of `name`. */
static unsigned distance(const char *word, size_t length, const char *name)
{
    unsigned rows[3][WORD_MAX + 1];
    size_t columns = strlen(name);
    for (size_t j = 0; j <= columns; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            bool same = word[i - 1] == name[j - 1];
            row[j] = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[length % 3][columns];
}

/* The first of the nearest; NULL if more than a third of the letters would change. */
static const char *nearest(const char *word, size_t length, const char *const *names, size_t count)
{
    unsigned limit = (unsigned)(length + 2) / 3 + 1;
    const char *found = NULL;
    for (size_t i = 0; i < count && length > 0 && length <= WORD_MAX; i++) {
        unsigned d = strlen(names[i]) <= WORD_MAX ? distance(word, length, names[i]) : limit;
        if (d >= limit)
            continue;
        limit = d;
        found = names[i];
    }
    return found;
}

/* "a, b and c"; false if it does not fit. */
static bool list(const char *const *names, size_t count, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const char *link = i == 0 ? "" : i + 1 < count ? ", " : " and ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", link, names[i]);
    }
    return count > 0 && used < size;
}

void glcnn_suggest(const char *word, size_t length, const char *const *names, size_t count,
                   char *text, size_t size)
{
    const char *found = nearest(word, length, names, count);
    size_t used = 0;
    if (size == 0)
        return;
    text[0] = 0;
    if (found)
        used = (size_t)snprintf(text, size, "; did you mean %s?", found);
    if (used >= size)
        used = 0;
    text[used] = 0;
    const char *link = found ? " There are " : "; there are ";
    size_t begin = used + strlen(link);
    if (begin >= size || !list(names, count, text + begin, size - begin))
        text[used] = 0;
    else
        memcpy(text + used, link, strlen(link));
}
