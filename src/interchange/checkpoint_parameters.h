/* A network's parameters and the state of its training as a list of tensors with names.
 *
 * Invariant: a list has all that a network's checkpoint has, in the order of its filters, each with
 * the name and the shape that it has in the file.
 *
 * Room: libglcnn_interchange: checkpoints and serialised networks. Uses the public headers
 * alone. */
#ifndef GLCNN_CHECKPOINT_PARAMETERS_H
#define GLCNN_CHECKPOINT_PARAMETERS_H

#include "checkpoint_file.h"

#define MAX_NAME 1024
#define MOMENTS  2

struct parameter {
    char *name;
    glcnn_kernel *kernel;
    const char *vector;
    glcnn_buffer *buffer; /* NULL: not made yet, neutral */
    float neutral;
    bool is_moment; /* a state vector of the kernel's optimizer */
    uint64_t shape[4];
    uint32_t rank;
    uint64_t count;                         /* product of the shape; 0: not known yet */
    const struct checkpoint_tensor *tensor; /* when loading */
};

struct parameters {
    struct parameter *at;
    size_t count, capacity;
    const struct checkpoint_file *file; /* that is loaded; NULL: saving */
    char *error;
};

/* Has the node something of its own to save? A gradient node has the vectors and the label of its
 * forward node, and a kernel that nodes share is saved with the first of them. */
bool checkpoint_has(const glcnn_filter_node *node);
/* Lists what the network has. With a file, lengths that only images tell may be open, and optimizer
 * state is left out for labels of which the file has none. Release the list also after a failure.
 */
glcnn_status parameters_collect(struct parameters *list, glcnn_network *network);
void parameters_release(struct parameters *list);

/* [Co][kH][kW][Ci / groups] for weights, where that is their number; else one dimension. */
void parameter_find_shape(struct parameter *p);

/* Makes the vector, neutral, where the kernel has none yet, so that writing values takes no memory;
 * and writes `count` values. */
glcnn_status parameter_make(const struct parameter *p, char *error);
glcnn_status parameter_write(const struct parameter *p, const void *values, char *error);

/* "3 x 4" */
#define SHAPE_TEXT 128
void checkpoint_print_shape(char text[SHAPE_TEXT], const uint64_t *shape, uint32_t rank);

/* What an optimizer's state vectors are called. */
extern const char *const checkpoint_moments[MOMENTS];

/* Whole numbers that training goes on from, in the metadata as NAME.LABEL: the optimizer's steps,
 * and the masks that dropout has drawn. */
struct checkpoint_counter {
    const char *name;
    bool (*get)(glcnn_kernel *kernel, uint32_t *value); /* false: the kernel has none */
    void (*set)(glcnn_kernel *kernel, uint32_t value);
};
#define CHECKPOINT_COUNTERS 2
extern const struct checkpoint_counter checkpoint_counters[CHECKPOINT_COUNTERS];

/* The text of a file's metadata PREFIX.LABEL; NULL if there is none. */
const char *checkpoint_entry_of(const cJSON *metadata, const char *prefix, const char *label);

glcnn_status checkpoint_check_arguments(glcnn_network *network, const char *path, char *error);
glcnn_status checkpoint_no_memory(char *error);

/* The first of the parameter's values that it must not have; p->count: none. *expected is what it may
 * have. An optimizer's state need only be finite. */
uint64_t parameter_wrong_value(const struct parameter *p, const float *values,
                               const char **expected);

/* Elements of four bytes from host order to little-endian, or back, in place. */
void checkpoint_swap_to_little_endian(void *values, uint64_t count);

#endif
