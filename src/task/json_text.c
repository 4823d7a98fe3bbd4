/* JSON as text that a terminal may show. */
#include "json_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"

/* A character of a string, which cJSON leaves as it is, as JSON has it. What is no UTF-8 is no JSON:
 * it is written as text, \\xff. */
static void write_escaped(FILE *file, const char *text, const struct character *c)
{
    uint32_t rest = c->code - 0x10000;
    if (c->kind == CHARACTER_BROKEN)
        fprintf(file, "\\\\x%02x", c->code);
    else if (c->kind == CHARACTER_SHOWN || c->code < 0x20) /* of the last, those between values */
        fwrite(text, 1, c->length, file);
    else if (c->code < 0x10000)
        fprintf(file, "\\u%04x", c->code);
    else
        fprintf(file, "\\u%04x\\u%04x", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

static void write_all(FILE *file, const char *text)
{
    for (struct character c; *text; text += c.length) {
        c = character_at(text);
        write_escaped(file, text, &c);
    }
}

char *json_text(cJSON *json, bool formatted)
{
    char *escaped = NULL, *text = formatted ? cJSON_Print(json) : cJSON_PrintUnformatted(json);
    size_t size = 0;
    FILE *file = text ? open_memstream(&escaped, &size) : NULL;
    cJSON_Delete(json);
    if (file)
        write_all(file, text);
    cJSON_free(text);
    bool good = file && !ferror(file);
    if ((file && fclose(file) != 0) || !good) {
        free(escaped);
        return NULL;
    }
    return escaped;
}
