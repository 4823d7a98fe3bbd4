/* Kernels as data: what one operation is, for everything that plans, checks, runs, documents or
 * tests it. Adding an operation adds descriptors in a file of src/kernels/, its references in one of
 * src/reference/ and shader bodies in glsl/; the build finds them.
 *
 * A file defines each as   const struct glcnn_descriptor glcnn_kernel_NAME = { ... };
 */
#ifndef GLCNN_DESCRIPTOR_H
#define GLCNN_DESCRIPTOR_H

#include "glcnn/kernel.h"
#include "record/command_buffer.h"
#include "encode/validation.h"
#include "encode/implementation.h"

#define MAX_ARGUMENTS       12
#define MAX_PARAMETER_BYTES 256 /* of a family's parameters */

/* Where an argument comes from. Images first. */
enum argument_place {
    PLACE_SOURCE, /* glcnn_encode.source */
    PLACE_SECONDARY,
    PLACE_DESTINATION,
    PLACE_LABELS,
    PLACE_LABEL_WEIGHTS,
    PLACE_LOSS,
    PLACE_FORWARD, /* the forward kernel's secondary source, where its gradient is not given it:
                      for the runner, which makes the state */
    PLACE_IMAGES,  /* how many places of images there are */
    PLACE_KERNEL = PLACE_IMAGES, /* a vector that the kernel owns */
    PLACE_STATE,                 /* a vector of the state, by its name */
    PLACE_STATE_OR_KERNEL,       /* of the state; of the kernel where no state is given */
    PLACE_CALL                   /* the next of glcnn_encode.vectors */
};

/* What values an input takes in the self-check. */
enum argument_values {
    VALUES_SYMMETRIC,   /* in -1 .. 1 */
    VALUES_POSITIVE,    /* in 0.25 .. 2.25 */
    VALUES_PROBABILITY, /* positive, summing to 1 over the channels of a pixel */
    VALUES_ZERO_ONE,    /* 0 or 1 */
    VALUES_UNIT,        /* in 0.05 .. 0.95 */
    VALUES_BYTE,        /* whole 255ths from 0 to 1 */
    VALUES_STEPS,       /* 0, 0.5 or 1 */
    VALUES_INDEX        /* numbers of the forward kernel's source, counted within an image */
};

struct argument {
    const char *name; /* "source_image"; fixed names are listed in glcnn/run.h */
    enum argument_place place;
    bool output; /* written */
    bool input;  /* read; both for one that is updated in place */
    bool optional;
    /* A vector that does not train; the state of an encode has it. Whole numbers (VALUES_INDEX) do not
     * change from the first encode on. */
    bool constant;
    const char *filled_by; /* kernel that computes it where it is not given */
    bool forward_fills;    /* the same: the kernel whose gradient this one's kernel is */
    double neutral;        /* value of a kernel's vector until it is set */
    enum argument_values values;
};

/* One named number of a block of memory, glcnn_kernel_properties or a family's parameters. */
struct parameter {
    const char *name, *text;
    enum {
        FIELD_INT32,
        FIELD_UINT32,
        FIELD_UINT64, /* as a double exact up to 2^53, as glcnn_setting.whole always */
        FIELD_FLOAT,
        FIELD_DOUBLE,
        FIELD_BOOL,
        FIELD_ENUM
    } type;
    size_t offset;
    double default_value, minimum, maximum; /* FIELD_BOOL, FIELD_ENUM: no maximum, it is known */
    const char *const *value_names;         /* FIELD_ENUM; NULL at the end */
};

/* One axis of a window, forward and gradient alike. Destination pixel X of the forward kernel has
 * taps at source pixels  first + stride*X + dilation*p,  p < size;  X in [begin, end).
 * A backwards kernel has it the other way round: source pixel x adds to destination pixels
 * first + stride*x + dilation*p,  of which those in [begin, end) count.
 * A gradient kernel writes the gradient of source pixel u at destination pixel u - shift. */
struct axis {
    int32_t first, stride, size, dilation, begin, end, shift;
};

struct window {
    struct axis x, y;
    uint32_t channel_stride; /* 0: every channel of the result reads the first of the source */
    glcnn_edge_mode edge_mode;
    bool exclude_edges; /* GLCNN_PADDING_EXCLUDE_EDGES */
};

/* The first image and channel of an image that an operation works on. */
struct image_start {
    uint32_t image, channel;
};

/* Channels of an image; count 0: all. */
struct channel_range {
    uint32_t first, count;
};

/* One encode with everything resolved. Arrays go by the index of the descriptor's arguments. */
struct operation {
    const struct glcnn_descriptor *descriptor;
    struct glcnn_device *device; /* NULL for a reference */
    struct glcnn_kernel *kernel; /* likewise */
    struct glcnn_addressing properties;
    const void *parameters;                  /* of the descriptor's family */
    struct image_view images[MAX_ARGUMENTS]; /* a reference's have neither storage nor layers */
    struct image_start starts[MAX_ARGUMENTS];
    struct vector_view vectors[MAX_ARGUMENTS]; /* count is set even where buffer is NULL */
    bool given[MAX_ARGUMENTS];
    struct window window; /* of the forward kernel, for a gradient kernel too: on the source that it
                             differentiates by */
    /* Binary kernels: on the secondary source; of a gradient kernel, how results read what it is
     * given as source image. */
    struct window secondary_window;
    uint32_t region_x, region_y, region_width, region_height; /* destination pixels to write */
    bool with_state;                                          /* the encode was given a state */
    bool state_driven;              /* a gradient kernel that follows its state */
    bool accumulate;                /* outputs in the state already hold sums: add to them */
    uint64_t samples;               /* in the state, per channel, before this encode */
    uint32_t encode_number;         /* of the kernel */
    struct channel_range trainable; /* of a gradient with TRAINS_IN_PART */
    const float *gradient_scale;    /* of a loss: a factor of its gradient; NULL: 1 */
    bool follows_kernel;            /* a loss's: its weight is the kernel's at each commit */
    bool continues_step;            /* an optimizer's: part of the step of the encode before it */
    bool decays_in_part; /* an optimizer's: weight decay is for the first `decayed` values */
    size_t decayed;
    /* Of a result that is not stored: what `prepare_fusion` made. */
    struct image_view prepared;
};

/* All of its arguments live as long as the plan's command buffer, also those that no pass has. */
void operation_retain(const struct operation *operation, struct plan *plan);

enum descriptor_flags {
    HAS_WINDOW = 1, /* kernel_width, kernel_height */
    HAS_STRIDE = 2,
    HAS_DILATION = 4,
    IS_GRADIENT = 8,    /* source = G, secondary = X; addressing of glcnn/kernel.h */
    IS_BINARY = 16,     /* primary_ and secondary_ properties; with HAS_STRIDE the sources, of which
                           each has a window, are broadcast. Also the gradient of such a kernel */
    MAKES_STATE = 32,   /* encode can leave a gradient state */
    NEEDS_STATE = 64,   /* refuses to encode without one */
    SHARED_STATE = 128, /* one state for a whole batch */
    BATCH_BARRIER = 256,
    MODIFIES_STATE = 512,
    STARTS_STATE = 1024,   /* writing a vector that was read since starts the whole state afresh */
    COUNTS_SAMPLES = 2048, /* adds width*height*images of its source to the state's samples */
    WITHOUT_PIXELS = 4096, /* works on vectors alone: no addressing properties */
    NEEDS_RESULT = 8192,   /* the secondary of this gradient is the forward result */
    DENSE_MANUAL = 16384,  /* manual gradient addressing as convolution's (spec 5.6) */
    IS_BACKWARDS = 32768, /* enlarges: strides are steps of the destination, kernel_offset counts */
    GATHERS = 65536, /* a node of it takes any number of sources, encoded one by one into channels
                        that follow each other */
    /* Manual gradient addressing pixel by pixel (spec 5.5): of a kernel whose results read one
     * pixel each. */
    PIXEL_MANUAL = 131072,
    /* For graphs. */
    IS_NEURON = 262144,     /* computes its neuron and nothing else */
    IS_SUM = 524288,        /* adds two images: graphs sum gradients with it */
    DRAWS_RANDOM = 1048576, /* each encode draws random numbers, so a batch does not run in parts */
    /* Its passes read images by NAME and the functions of record/edges.glsl alone, and each pixel,
     * unless windows overlap, only a few times: they may make what is not stored. */
    READS_FUSED = 2097152,
    /* The same of kernels that read each pixel for many outputs: what is made of images alone, but
     * where they read it once. */
    READS_NEURONS = 4194304,
    /* Makes gradients for the weights of some output channels, the operation's `trainable`. */
    TRAINS_IN_PART = 8388608,
    /* Its result may be what it is given first, pixel for pixel (FUSION_COPY). */
    MAY_COPY = 16777216,
    /* The values of its source do not count: its source gets no gradient of it. */
    IGNORES_SOURCE = 33554432,
    /* Of a binary kernel: it has a gradient by the first of its sources and none by the second. */
    FIRST_SOURCE_ONLY = 67108864,
    /* It prepares pictures before a network sees them: the result of a typed node stops gradients. */
    STOPS_GRADIENT = 134217728,
    /* Pixels that padding adds may be left out of what it counts: GLCNN_PADDING_EXCLUDE_EDGES. */
    EXCLUDES_EDGES = 268435456
};

/* Addressing of its sources that a kernel has as all have, and does not read: it takes pixels from where its own
 * parameters say. */
enum unread {
    UNREAD_OFFSET = 1, /* x and y of the first source's */
    UNREAD_EDGE = 2,   /* the first source's edge mode */
    UNREAD_SECOND_OFFSET = 4,
    UNREAD_SECOND_EDGE = 8,
    UNREAD_FIRST = UNREAD_OFFSET | UNREAD_EDGE,
    UNREAD_SECOND = UNREAD_SECOND_OFFSET | UNREAD_SECOND_EDGE,
    UNREAD_BOTH = UNREAD_FIRST | UNREAD_SECOND
};

/* Sources of a binary kernel, PLACE_SOURCE or PLACE_SECONDARY, that its gradient kernel deals
 * with. */
struct operands {
    enum argument_place of;    /* the result is the gradient of this one */
    enum argument_place given; /* this one is given as source image */
};

/* What graphs ask of a kernel's neuron f. */
struct neuron_traits {
    bool present;    /* its type is not none */
    bool has_slopes; /* it needs a vector of its kernel's own, so no other kernel can compute it */
    bool rectifies;  /* f(4) > 2 f(1) and |f(-4)| < f(4) / 2: weights before it start after He */
    bool keeps_zero; /* f(0) = 0 */
};

/* How training steps with an optimizer, whichever it is. */
struct optimizer_methods {
    /* How many state vectors it keeps for each vector: `first`, `second`. */
    unsigned (*state_vectors)(const void *parameters);
    /* decays_weights_only of glcnn/kernels/optimizer.h. */
    bool (*decays_weights_only)(const void *parameters);
    /* Takes back what the parameters count of a step; NULL: they count none. */
    void (*step_back)(void *parameters);
    /* glcnn_optimizer_encode_states. */
    glcnn_status (*encode)(glcnn_command_buffer *command_buffer, glcnn_kernel *optimizer,
                           glcnn_state *gradient_state, glcnn_state *source_state,
                           glcnn_buffer *const *first, glcnn_buffer *const *second, size_t count,
                           glcnn_state *result_state);
    /* glcnn_optimizer_encode of vectors that lie beside each other, in place: `decayed` of their
     * values, from the first on, are of vectors that decay. */
    glcnn_status (*encode_vectors)(glcnn_command_buffer *command_buffer, glcnn_kernel *optimizer,
                                   glcnn_buffer *gradient, glcnn_buffer *values,
                                   glcnn_buffer *first, glcnn_buffer *second, size_t decayed);
};

/* The averages of several layers as one: a kernel for each, what is averaged and the averages, two
 * of each in turn. Vectors of a kind lie beside each other in one buffer, in equal places. */
struct multi_tensor_averages {
    struct glcnn_kernel **kernels;
    size_t count;
    struct glcnn_buffer **batch, **running; /* [2 * count] */
    struct glcnn_buffer *batch_memory, *running_memory;
};
struct averager_methods {
    glcnn_status (*encode_multi_tensor)(glcnn_command_buffer *command_buffer,
                                        const struct multi_tensor_averages *averages);
};

/* How the passes that read a result can make it themselves. */
enum fusion {
    FUSION_NONE,   /* not at all: it must be stored */
    FUSION_COPY,   /* it is the source, pixel for pixel */
    FUSION_PIXELS, /* each pixel is made of pixels in the same place, by the descriptor's `fuse` */
    FUSION_ONCE    /* so, where no pass reads a pixel more than about once, and all together move no
                      more memory than if it were stored */
};
/* For the rows of lists that choose this: what `form` points to. */
extern const enum fusion fusion_forms[];
enum fusion fusion_choose(struct plan *plan, const struct implementation_list *list,
                          const void *problem);

/* What a reader calls the texture that it makes, and of which part of the result. */
struct fused_name;

struct glcnn_descriptor {
    const char *name, *mps_class, *text;
    const char *family;           /* parameters of kernels of one family are interchangeable */
    const char *gradient;         /* name, or NULL and a reason */
    const char *without_gradient; /* of a gradient kernel it need not be said */
    const char *forward;          /* of a gradient kernel: the kernel whose gradient it is */
    unsigned flags;
    unsigned unread;                    /* of enum unread */
    const void *form;                   /* what the family says of this one of its kernels */
    size_t parameters_size;             /* of the family's parameters; 0: none */
    const struct parameter *parameters; /* name NULL at the end; may be NULL */
    const struct argument *arguments;   /* MAX_ARGUMENTS at most; name NULL at the end */

    /* For graphs. The kernel that the whole batch goes through first where there is a state, or
     * NULL; and what sets the defaults of a node that differ from the kernel's, or NULL. They may
     * depend on parameters that are set, as a neuron's numbers on its type. */
    const char *collector;
    void (*node_defaults)(struct glcnn_addressing *properties, void *parameters);
    /* Does the whole batch go through the collector? `differentiated`: a gradient will follow; of a
     * gradient kernel, the gradients for weights are wanted. NULL: always. */
    bool (*collects)(const void *parameters, bool differentiated);
    /* The kernel that keeps running averages of what the collector finds, with settings "momentum"
     * and "samples" and vectors mean, variance, running_mean, running_variance; NULL: none. */
    const char *averager;
    /* Why there is no gradient with these parameters; NULL: there is one. May be NULL: always. */
    const char *(*undifferentiable)(const void *parameters);
    /* Of the neuron that parameters neuron_type to neuron_c say; NULL: there are none. */
    struct neuron_traits (*neuron)(const void *parameters);
    /* Do sources of zeros make zeros, but for its neuron and what its vectors "biases" or "beta"
     * add? NULL: they may not. */
    bool (*keeps_zero)(const void *parameters);
    const struct optimizer_methods *optimizer; /* NULL: it is none */
    const struct averager_methods *averages;   /* NULL: it averages nothing that training makes */
    /* How the passes that read the result can make it themselves; NULL: not at all. And what gives
     * a pass, in place of texture NAME, the function
     *     vec4 NAME(int x, int y, int slice, int image)
     * in a template; of its textures NAME_source is as large as the result. */
    enum fusion (*fusion)(const struct operation *operation, struct plan *plan);
    /* Plans what all readers need beside the arguments; a view without storage where that is
     * nothing. May be NULL: nothing. */
    struct image_view (*prepare_fusion)(const struct operation *operation, struct plan *plan);
    void (*fuse)(const struct operation *operation, struct pass *pass, struct fused_name *name);

    /* Does this gradient of weights read each pixel of what it is given as gradient once, by NAME,
     * where it computes weights alone? NULL: it does not. */
    bool (*reads_gradient_once)(const void *parameters);

    /* Changes properties before geometry is computed, knowing the sources (a fully connected layer
     * sets its offset). May be NULL. */
    void (*prepare)(struct operation *operation);
    /* Changes the result's shape, given as the window alone makes it. May be NULL: channels and
     * images of the source. */
    void (*shape)(const struct operation *operation, struct glcnn_image_descriptor *result);
    /* How many images of the result follow each other for one of the source: image n of the source
     * makes the images n * results and on. A secondary source has its width and height by then.
     * NULL: one. */
    uint32_t (*results)(const struct operation *operation);
    /* Shape of output image `index` that is not the destination (a loss). May be NULL where there
     * is none. */
    void (*image_shape)(const struct operation *operation, size_t index,
                        struct glcnn_image_descriptor *result);
    /* Elements of vector argument `index`. May be NULL where there are no vectors. The operation
     * has parameters and properties; images only where an encode is under way. An output of length
     * 0 is one that this encode leaves as it is. */
    size_t (*length)(const struct operation *operation, size_t index);
    /* Has a kernel with these parameters no vector argument `index`? NULL: it has all. */
    bool (*lacks)(const void *parameters, size_t index);
    /* What the tables cannot say. Writes a message without the kernel's name and returns false,
     * or returns true. May be NULL. */
    bool (*check)(const struct operation *operation, struct validation validation);
    /* Gradients of binary kernels, by the kernel's own parameters; NULL: both are the source. */
    struct operands (*operands)(const void *parameters);
    /* The passes, and the tables of implementations that they choose from: NULL at the end; may be
     * NULL. */
    const struct implementation_list *const *implementations;
    void (*plan)(const struct operation *operation, struct plan *plan);
};

extern const struct glcnn_descriptor *const glcnn_registry[]; /* by name; NULL at the end */

const struct glcnn_descriptor *descriptor_find(const char *name);
/* The end of the message that there is none: "; did you mean NAME?", or "". */
#define SUGGESTION 96
void descriptor_suggest(const char *name, char text[SUGGESTION]);
/* Index of an argument by name or of the first of a place; -1: none. */
int descriptor_argument(const struct glcnn_descriptor *descriptor, const char *name);
int descriptor_place(const struct glcnn_descriptor *descriptor, enum argument_place place);
/* Argument `index`; NULL beyond the last. */
const struct argument *descriptor_argument_at(const struct glcnn_descriptor *descriptor,
                                              size_t index);
/* The kernel that computes an argument where it is not given; NULL: none. */
const char *descriptor_filler(const struct glcnn_descriptor *descriptor,
                              const struct argument *argument);
/* Why there is no gradient; NULL where there is one. */
const char *descriptor_without_gradient(const struct glcnn_descriptor *descriptor);

/* For descriptors: the arguments of a kernel that makes an image of one, and of its gradient; and
 * keeps_zero. */
extern const struct argument descriptor_image_arguments[], descriptor_gradient_arguments[];
bool descriptor_always(const void *parameters);
/* For `plan`: by the first of the descriptor's lists, whose problem is the operation. */
void descriptor_plan(const struct operation *operation, struct plan *plan);
static inline bool descriptor_broadcasts(const struct glcnn_descriptor *descriptor)
{
    return descriptor->flags & IS_BINARY && descriptor->flags & HAS_STRIDE;
}
static inline bool operation_is_gradient(const struct operation *operation)
{
    return operation->descriptor->flags & IS_GRADIENT;
}
/* What a gradient kernel differentiates by, and is given. */
struct operands operation_operands(const struct operation *operation);
static inline bool argument_is_image(const struct argument *argument)
{
    return argument->place < PLACE_IMAGES;
}

/* Labels, their weights and losses are float32 whatever the other images are. */
static inline bool argument_is_float32(const struct argument *argument)
{
    return argument->place >= PLACE_LABELS && argument->place <= PLACE_LOSS;
}

/* Without any, storage formats make no difference. */
static inline bool descriptor_has_images(const struct glcnn_descriptor *descriptor)
{
    for (size_t i = 0; descriptor_argument_at(descriptor, i); i++)
        if (argument_is_image(&descriptor->arguments[i]))
            return true;
    return false;
}

/* ---- Help for producer fusion (producer_fusion.c) ---- */

/* "NAME_suffix", which lives as long as the pass; NAME itself for "". */
const char *fused_name(struct fused_name *name, const char *suffix);
/* Gives the pass texture NAME_suffix: the part of a source that the reader's part is made of. */
void fused_texture(struct fused_name *name, struct pass *pass, const char *suffix,
                   const struct image_view *source);
/* The sizes of NAME_source, where the result is made of no texture that is as large. */
void fused_size(struct fused_name *name, struct pass *pass);
/* NAME_first_layer and NAME_layer_stride of the reader's part, in layers of the result. */
void fused_layers(struct fused_name *name, struct pass *pass);
/* The first channel of the reader's part. */
uint32_t fused_channel(const struct fused_name *name);

/* ---- Arithmetic of the specification (spec 1.1) ---- */

static inline int32_t floor_quotient(int32_t a, int32_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static inline int32_t ceil_quotient(int32_t a, int32_t b)
{
    return -floor_quotient(-a, b);
}

static inline int32_t dilated_size(int32_t size, int32_t dilation)
{
    return (size - 1) * dilation + 1;
}

/* Source pixel that tap p of destination pixel X reads, after the edge mode; -1: none (zero). */
static inline int32_t axis_tap(const struct axis *axis, glcnn_edge_mode mode, int32_t size,
                               int32_t X, int32_t p)
{
    int32_t t = axis->first + axis->stride * X + axis->dilation * p;
    if (mode == GLCNN_EDGE_MODE_CLAMP)
        return t < 0 ? 0 : t >= size ? size - 1 : t;
    return t < 0 || t >= size ? -1 : t;
}

#endif
