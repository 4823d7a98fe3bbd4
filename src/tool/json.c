/* Answers of the commands as JSON. */
#include "tool.h"

#include <stdio.h>

void json_add_text(cJSON *object, const char *name, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, name, text);
    else
        cJSON_AddNullToObject(object, name);
}

int json_print(const struct tool_command *command, cJSON *json)
{
    char *text = json ? cJSON_Print(json) : NULL;
    cJSON_Delete(json);
    if (!text)
        return complain(command, EXIT_FAILED, "not enough memory for the answer");
    puts(text);
    cJSON_free(text);
    return EXIT_GOOD;
}
