/* The labels that were met: each text once, found by hashing, and numbered as it came. */
#ifndef GLCNN_DATA_NAMES_H
#define GLCNN_DATA_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <glcnn/data.h>

struct names {
    char **texts;
    uint32_t count;
    uint32_t *buckets; /* a number of a text and 1, 0: free */
    uint32_t capacity; /* of buckets, a power of two; of texts half of it */
};

/* The number of a text of `length` bytes. `path` is the data's, for the message. */
glcnn_status names_add(struct names *names, const char *text, size_t length, const char *path,
                       uint32_t *number, char *error);
/* The same for the decimal digits of a number. */
glcnn_status names_add_number(struct names *names, int64_t value, const char *path,
                              uint32_t *number, char *error);
/* Takes the text back that was added last. */
void names_remove_last(struct names *names);
void names_free(struct names *names);

/* map[number of a text]: its class. Where class names are given all texts are such names or all are
 * numbers of classes, from 0; otherwise the texts become the classes and are brought into order.
 * Texts that are all whole numbers are compared, ordered and named by value: "1" for "1.0".
 * `decision`: a message where the texts could have meant something else, otherwise "". */
glcnn_status names_order(struct names *names, const char *const *class_names, uint32_t class_count,
                         const char *path, uint32_t *map, char decision[GLCNN_ERROR_LENGTH],
                         char *error);
/* A message where names are classes in another order than they are listed in, otherwise "". */
void names_tell_order(const struct names *names, const uint32_t *map, const char *path,
                      char message[GLCNN_ERROR_LENGTH]);

#endif
