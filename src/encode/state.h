#ifndef GLCNN_STATE_INTERNAL_H
#define GLCNN_STATE_INTERNAL_H

#include "glcnn/state.h"
#include "encode/descriptor.h"

#define STATE_VECTORS GLCNN_STATE_VECTORS

/* A vector is filled once something was encoded that writes it, and sealed once something was
 * encoded that reads it. A write to a filled vector adds, to a sealed one starts over. */
struct state_vector {
    const char *name;
    struct glcnn_buffer *buffer;
    bool filled, sealed;
    bool borrowed; /* the buffer is a kernel's own: never written */
    bool made;     /* by glcnn_state_create: filled for good */
};

struct glcnn_state {
    struct glcnn_device *device;
    int references;
    struct operation forward; /* how the forward kernel was encoded; views without storage */
    struct glcnn_image_descriptor source, secondary, destination;
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)]; /* of forward; aligned for anything */
    struct state_vector vectors[STATE_VECTORS];
    size_t vector_count;
    char *names[STATE_VECTORS]; /* of glcnn_state_create; others are the descriptors' */
    uint64_t samples;           /* per channel, accumulated */
    struct glcnn_command_buffer *command_buffer; /* of a temporary state, retained */
    uint32_t read_count;
};

glcnn_status state_create(struct glcnn_device *device, struct glcnn_command_buffer *command_buffer,
                          glcnn_state **state);
struct glcnn_state *state_retain(struct glcnn_state *state);
/* Records the forward encode. */
void state_capture(struct glcnn_state *state, const struct operation *forward,
                   const struct glcnn_image_descriptor *source,
                   const struct glcnn_image_descriptor *secondary,
                   const struct glcnn_image_descriptor *destination);
/* Makes a state of the same forward encode that has the vectors of `state` and is written by
 * itself: gradients of a second encode keep apart from those in `state`. */
glcnn_status state_branch(struct glcnn_state *state, struct glcnn_state **branch);
/* The vector of that name; made with `length` zeros if it is missing and length is not 0.
 * `replaceable`: an encode need not write it; one of another length is an earlier encode's, which
 * was of other sizes, and is replaced. */
glcnn_status state_vector(struct glcnn_state *state, const char *name, size_t length,
                          bool replaceable, struct state_vector **vector);
/* Makes `buffer` the state's vector of that name, filled. */
glcnn_status state_borrow(struct glcnn_state *state, const char *name, struct glcnn_buffer *buffer);
/* The vector of that name if something has filled it; NULL otherwise. */
struct state_vector *state_filled_vector(struct glcnn_state *state, const char *name);
glcnn_status state_check_use(const struct glcnn_state *state, const char *where,
                             const struct glcnn_command_buffer *command_buffer);
void state_count_read(struct glcnn_state *state);

#endif
