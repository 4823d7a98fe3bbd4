/* Names of a graph that is written, none of them twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/write.h"

/* "BASE.WORD", and from the second of the name on "BASE.WORD_2" and so on; NULL: no memory. */
static char *compose(const char *base, const char *word, size_t number)
{
    size_t size = strlen(base) + (word ? strlen(word) : 0) + 32;
    char *name = malloc(size);
    if (name && number > 1)
        snprintf(name, size, "%s%s%s_%zu", base, word ? "." : "", word ? word : "", number);
    else if (name)
        snprintf(name, size, "%s%s%s", base, word ? "." : "", word ? word : "");
    return name;
}

static bool keep(struct taken_names *names, char *name)
{
    size_t count = names->table.count;
    char **at = realloc(names->at, (count + 1) * sizeof *at);
    if (!at)
        return false;
    names->at = at;
    at[count] = name;
    return name_table_add(&names->table, name, count);
}

const char *taken_add(struct writer *w, struct taken_names *names, const char *base,
                      const char *word)
{
    char *name = compose(base, word, 1);
    for (size_t number = 2; name && name_table_find(&names->table, name) != NO_NAME; number++) {
        free(name);
        name = compose(base, word, number);
    }
    if (name && keep(names, name))
        return name;
    free(name);
    onnx_no_memory(&w->messages);
    return NULL;
}

void taken_free(struct taken_names *names)
{
    for (size_t i = 0; i < names->table.count; i++)
        free(names->at[i]);
    free(names->at);
    name_table_free(&names->table);
}
