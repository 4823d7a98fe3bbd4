/* How writing or reading ends: the first failure with its message. All zero: well so far. */
#ifndef GLCNN_SERIALIZE_OUTCOME_H
#define GLCNN_SERIALIZE_OUTCOME_H

#include <glcnn/serialize.h>

struct outcome {
    glcnn_status status;
    char text[GLCNN_ERROR_LENGTH];
};

/* Keeps the message unless there is one already. Returns false. */
bool outcome_fail(struct outcome *outcome, glcnn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The status, and the message into `error` unless that is NULL. */
glcnn_status outcome_tell(const struct outcome *outcome, char *error);

#endif
