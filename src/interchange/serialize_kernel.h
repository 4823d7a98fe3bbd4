/* A kernel's map, which stands alone or within a filter's. */
#ifndef GLCNN_SERIALIZE_KERNEL_H
#define GLCNN_SERIALIZE_KERNEL_H

#include "serialize_reader.h"
#include "serialize_writer.h"

#define SERIALIZE_VERSION 1

/* Writes the map; with `alone` also the version. */
bool serialize_kernel_write(struct writer *writer, glcnn_kernel *kernel, bool with_weights,
                            bool alone, struct outcome *outcome);

/* The places of a kernel's fields. */
enum kernel_field {
    KERNEL_NAME,
    KERNEL_PARAMETERS,
    KERNEL_IS_ORDINARY,
    KERNEL_ENCODE_COUNT,
    KERNEL_LABEL,
    KERNEL_VECTORS,
    KERNEL_FIELDS
};

/* Reads the fields of a map, one that stands alone or not, and finds the kernel of that name. */
bool serialize_kernel_read(struct reader *reader, bool alone, struct reader fields[KERNEL_FIELDS],
                           const struct glcnn_kernel_info **info);
/* Gives a kernel of that name all that the fields say. */
bool serialize_kernel_read_into(struct reader fields[KERNEL_FIELDS],
                                const struct glcnn_kernel_info *info, glcnn_kernel *kernel);

/* Does the version stand in front, and is it the one that is read here? The place stays. */
bool serialize_read_version(const struct reader *reader);
/* Copies the writer's bytes out, or releases them after a failure. */
glcnn_status serialize_finish(struct writer *writer, struct outcome *outcome, uint8_t **bytes,
                              size_t *size, char *error);
/* Text of the user's: may it be written? */
bool serialize_check_text(const char *text, const char *what, struct outcome *outcome);

#endif
