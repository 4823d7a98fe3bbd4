/* Names of classes as one text of a checkpoint's metadata: a JSON array. */
#ifndef GLCNN_TASK_CLASS_NAMES_H
#define GLCNN_TASK_CLASS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be released with free; NULL where memory is short. */
char *class_names_text(const char *const *names, uint32_t count);
/* The names of such a text and how many, to be released with class_names_free; NULL if it is
 * none. */
char **class_names_parse(const char *text, uint32_t *count);
void class_names_free(char **names, uint32_t count);

/* True if a checkpoint can have the name. */
bool class_name_is_utf8(const char *name);
/* What a checkpoint can have of a name's first `length` bytes: bytes of no character as "\xff", and no
 * more characters than the text has room for. */
void class_name_as_utf8(const char *name, size_t length, char *text, size_t size);

#endif
