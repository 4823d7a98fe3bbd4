/* Validation: whether arguments are legal, and the message that says why not. */
#ifndef GLCNN_VALIDATION_H
#define GLCNN_VALIDATION_H

#include <stdbool.h>
#include <stddef.h>

/* Where the message goes, which is cut to `size` bytes, the 0 that ends it included. */
struct validation {
    char *message; /* NULL: none is wanted */
    size_t size;
};

/* Writes the message. Always false. */
bool invalid(struct validation validation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
