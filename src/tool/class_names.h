/* Names of classes: lists of strings, and one text of them in a checkpoint's metadata. */
#ifndef GLCNN_TOOL_CLASS_NAMES_H
#define GLCNN_TOOL_CLASS_NAMES_H

#include <stdint.h>

/* Lists to be released with class_names_free; NULL where memory is short. */
char **class_names_copy(const char *const *names, uint32_t count);
/* "0", "1" and so on. */
char **class_names_of_numbers(uint32_t count);
void class_names_free(char **names, uint32_t count);

/* The names as a JSON array, to be released with free; NULL where memory is short. */
char *class_names_text(char *const *names, uint32_t count);
/* The names of such a text and how many; NULL if it is none. */
char **class_names_parse(const char *text, uint32_t *count);

#endif
