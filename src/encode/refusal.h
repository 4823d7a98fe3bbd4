/* Why something is refused. */
#ifndef GLCNN_REFUSAL_H
#define GLCNN_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* Where the sentence goes, which is cut to `size` bytes with the one that ends it. */
struct refusal {
    char *sentence; /* NULL: nobody asks */
    size_t size;
};

/* Writes the sentence. Always false. */
bool refuse(struct refusal refusal, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
