/* JSON as text. */
#ifndef GLCNN_TASK_JSON_TEXT_H
#define GLCNN_TASK_JSON_TEXT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Deletes it and returns its text, to be freed, which holds nothing that a terminal would obey; NULL:
 * not enough memory. */
char *json_text(cJSON *json, bool formatted);

#endif
