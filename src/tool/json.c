/* Answers of the commands as JSON. */
#include "tool.h"

#include <stdlib.h>

void json_add_text(cJSON *object, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, name, text);
    else
        cJSON_AddNullToObject(object, name);
}

int json_print(const struct tool_command *command, cJSON *json)
{
    char *text = json_text(json, true);
    if (!text)
        return complain(command, EXIT_FAILED, "not enough memory for the answer");
    output_text(text);
    output_text("\n");
    free(text);
    return EXIT_GOOD;
}
