/* Encodes on their way from a user's arguments to passes: arguments.c gathers and checks what an
 * encode is given, encode.c plans, and records all encodes of a call in one transaction or none,
 * returning.c makes what returning encodes return, side_effects.c has what encodes change in states
 * and images. */
#ifndef GLCNN_ENCODE_INTERNAL_H
#define GLCNN_ENCODE_INTERNAL_H

#include "encode/geometry.h"
#include "encode/kernel.h"
#include "encode/state.h"

/* What the passes that read a result leave to producer fusion. */
struct fusion_limits {
    enum fusion most;           /* all of them may make it so */
    uint32_t textures, buffers; /* each has room for so many */
    uint32_t functions;         /* that make each other's sources, as many as registers bear */
    uint32_t readers;           /* how many passes they are; counted for FUSION_ONCE */
};

/* What an encode takes from its kernel. Whoever wants an encode to differ changes the settings that
 * go with it and not the kernel, which is the user's. */
struct encode_settings {
    struct glcnn_addressing properties, adopted;             /* as struct glcnn_kernel has them */
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)]; /* aligned for anything */
    /* Its vectors are read in place of the kernel's of the same name; NULL: none. */
    const struct glcnn_kernel *vectors_of;
    struct channel_range trainable; /* of a gradient with TRAINS_IN_PART */
    const float *gradient_scale; /* of a loss: a factor of its gradient, at each commit; NULL: 1 */
    bool follows_kernel;         /* of a loss: its weight is the kernel's at each commit */
    struct fusion_limits fusion; /* whether readers may make the result, in place of passes that
                                    store it */
};

struct encode_settings encode_settings_of(const struct glcnn_kernel *kernel);
/* glcnn_kernel_set for the settings. */
glcnn_status encode_settings_set(const struct glcnn_kernel *kernel,
                                 struct encode_settings *settings, const char *name, double value);
/* Addresses a gradient kernel as the state of this forward encode brings it. */
void encode_settings_adopt(const struct glcnn_kernel *kernel, const struct operation *forward,
                           struct encode_settings *settings);

/* glcnn_kernel_encode with these settings. */
glcnn_status encode_with(struct glcnn_command_buffer *command_buffer, struct glcnn_kernel *kernel,
                         const struct encode_settings *settings,
                         const struct glcnn_encode *arguments);
/* Plans what glcnn_kernel_encode would record, without recording it or compiling its shaders, and
 * visits its passes in their order. */
glcnn_status encode_dry(struct glcnn_command_buffer *command_buffer, struct glcnn_kernel *kernel,
                        const struct glcnn_encode *arguments,
                        void (*visit)(void *user, const struct pass *pass), void *user);
/* What a returning encode would make; addresses the settings by padding or state. `command_buffer`
 * NULL: images and states are not asked whether it may use them. */
glcnn_status encode_describe(struct glcnn_command_buffer *command_buffer,
                             struct glcnn_kernel *kernel, struct encode_settings *settings,
                             const struct glcnn_encode *arguments,
                             struct glcnn_image_descriptor *result);

/* ---- One encode of a transaction (arguments.c) ---- */

struct call {
    struct glcnn_command_buffer *command_buffer;
    struct glcnn_kernel *kernel;
    struct encode_settings *settings; /* of all encodes of the transaction */
    struct glcnn_encode arguments;
    struct operation operation;
    struct shapes shapes;
    struct state_vector *state_vectors[MAX_ARGUMENTS];
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)];
};

/* Checks the handles that an encode was given. */
glcnn_status call_check_handles(const struct glcnn_command_buffer *command_buffer,
                                const struct glcnn_kernel *kernel, const void *arguments);
/* Gathers images, properties and parameters; the destination only where it is made already. */
glcnn_status call_begin(struct call *call, bool with_destination);
/* Resolves geometry, and finds vectors, of which those that are missing are made. */
glcnn_status call_resolve(struct call *call);
glcnn_status call_fail(const struct call *call, glcnn_status status, const char *message);

glcnn_image *call_image(const struct call *call, enum argument_place place);
static inline const struct argument *call_argument(const struct call *call, int index)
{
    return descriptor_argument_at(call->kernel->descriptor, (size_t)index);
}
/* A backwards kernel may be given the state of the forward kernel that it mirrors: it takes sizes
 * from it and leaves it as it is (spec 4, image size encoding states). */
bool call_mirrors_state(const struct call *call);

/* ---- Side effects of encodes on states and images (side_effects.c) ---- */

/* Marks what the encode's passes write: later encodes of the transaction build on it. */
void effects_mark(struct call *call);
/* Gives the state that the encode makes the kernel's vectors. All that can fail. */
glcnn_status effects_share_vectors(struct call *call);
/* Records the forward encode in its state. */
void effects_commit(struct call *call);
/* Each distinct temporary image or state that was read loses one read, however often it appears. */
void effects_count_reads(const struct call *calls, size_t count);

/* State and destination as they were before an encode, to be restored or released. */
struct saved_effects {
    bool written; /* the destination */
    struct state_vector vectors[STATE_VECTORS];
    size_t vector_count;
    uint64_t samples;
};
/* Holds a reference to each of the state's vectors. */
void effects_save(const struct call *call, struct saved_effects *saved);
/* Destroys vectors that the encode made: their length may be a wrong one. */
void effects_roll_back(const struct call *call, struct saved_effects *saved);
void effects_release(struct saved_effects *saved);

/* ---- Producer fusion (producer_fusion.c) ---- */

/* Lets the passes that read the destination, which must be a temporary image of a planned command
 * buffer, make its pixels themselves. False: the settings or the kernel do not have it so, and the
 * passes that store the result are to be planned. */
bool fuse_result(const struct call *call, struct plan *plan);

/* ---- Transactions (encode.c) ---- */

/* A vector that is copied along with encodes. */
struct copy {
    const struct vector_view *from, *to; /* NULL: nothing */
};

/* The encodes of one call of the library, all recorded or none. Planning moves the kernel on: the
 * number of its encodes, an optimizer's time step, vectors made at their first need. */
struct transaction {
    struct glcnn_command_buffer *command_buffer;
    struct glcnn_kernel *kernel;
    struct encode_settings settings; /* to begin with; returning encodes move its addressing */
    struct call *calls;
    struct saved_effects *saved; /* by call */
    size_t count, planned;       /* of calls; those that are planned, or failed to be */
    struct copy copy;
    uint32_t encode_count; /* the kernel's */
    double parameters[MAX_PARAMETER_BYTES / sizeof(double)];
    struct glcnn_buffer *vectors[MAX_ARGUMENTS];
};

/* `settings` NULL: the kernel's. To be freed in any case. */
glcnn_status transaction_begin(struct transaction *transaction,
                               struct glcnn_command_buffer *command_buffer,
                               struct glcnn_kernel *kernel, const struct encode_settings *settings,
                               const struct glcnn_encode *arguments, size_t count);
/* Records calls that have begun. A failure leaves command buffer, kernel, states and images as they
 * were. */
glcnn_status transaction_record(struct transaction *transaction);
void transaction_free(struct transaction *transaction);

#endif
