/* Numbers of command lines, and of texts that programs have written. */
#ifndef GLCNN_BASE_OPTION_H
#define GLCNN_BASE_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/* All of the text is a whole number in low .. high, exact to the last of 64 bits where it is
 * written in digits alone; "1e6" is one too. A k, M or G behind it stands for thousands, millions
 * and so on. False, and *value is not to be used, if it is not. */
bool option_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* The same where k, M and G stand for 1024, 1024^2 and 1024^3. */
bool option_bytes(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* The same for any number. */
bool option_real(const char *text, double low, double high, double *value);

#endif
