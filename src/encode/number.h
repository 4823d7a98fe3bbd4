/* Numbers as text, the same in every locale: a point parts whole and fraction. */
#ifndef GLCNN_NUMBER_H
#define GLCNN_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define NUMBER_TEXT 32

/* What strtod reads, which must be all of the text. */
bool number_parse(const char *text, double *value);
/* A whole number of decimal digits, or of hexadecimal ones behind 0x, of at most 64 bits: exact
 * where a double is not. */
bool number_parse_whole(const char *text, uint64_t *value);
/* The shortest text that is read back as the value, or as the same float where it is one; whole
 * numbers below 10^15 have no exponent. Returns `text`. */
const char *number_format(char text[NUMBER_TEXT], double value);

#endif
