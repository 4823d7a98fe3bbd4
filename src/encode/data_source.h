#ifndef GLCNN_DATA_SOURCE_INTERNAL_H
#define GLCNN_DATA_SOURCE_INTERNAL_H

#include "glcnn/data_source.h"

/* What kernels share. */
struct data_source {
    struct glcnn_data_source callbacks; /* its label is our own copy */
    int references;
};

struct data_source *data_source_retain(struct data_source *source);
/* Gives up a reference and calls `destroy` with the last one; *source becomes NULL. */
void data_source_release(struct data_source **source);
/* For a copy of a kernel: a copy by its callback, or the same. */
glcnn_status data_source_copy(struct data_source *source, struct glcnn_device *device,
                              struct data_source **copy);

/* The vectors that states and data sources give, by name; NULL at the end. */
extern const char *const value_vectors[];
/* The argument of value_vectors[i]; -1: the kernel has none of that name. */
int value_argument(const struct glcnn_kernel *kernel, size_t i);

#endif
