/* Passes of convolutions and fully connected layers: what their files share.
 *
 * Weights as the user has them, [outputs][taps][inputs of a group], are the only truth: every plan
 * packs them again into a scratch image (glsl/convolution/convolution.glsl has the layout), so a
 * replay sees what the vectors hold then. */
#ifndef GLCNN_KERNELS_CONVOLUTION_PLAN_H
#define GLCNN_KERNELS_CONVOLUTION_PLAN_H

#include "encode/window.h"
#include "kernels/convolution.h"

/* Additions to one number, one after the other, from which on a sum is made in stretches: glcnn/image.h's
 * bound must hold where all of them round the same way. */
#define LONG_SUM 768u

/* ---- Packed weights (convolution_packing.c) ---- */

/* Taps of the layer that a packing has along one axis: first + step * i, i < count. */
struct taps {
    int32_t first, step, count;
};

/* `channels` are as the pass sees them: of a transposed packing, inputs are the layer's outputs. */
struct packing {
    struct channels channels;
    struct taps x, y;
    int32_t layer_width, layer_taps;
    uint32_t slices, range, components, elements;
    bool transposed, one_channel, depthwise;
};

void packing_set_taps(struct packing *packing, struct taps x, struct taps y);
/* All taps, in their order. */
struct packing packing_of(const struct operation *operation, bool transposed);
/* True if each output sees all inputs, four to an element of a slice: sums are products of
 * matrices. */
bool packing_is_dense(const struct packing *packing);
/* True if the weights of an output lie as its elements do. */
bool packing_is_in_order(const struct packing *packing);
/* What convolution/convolution.glsl takes. */
void pass_packing(struct pass *pass, const struct packing *packing);
/* Where an element is among the weights as the user has them; and both. */
void pass_weight_places(struct pass *pass, const struct packing *packing);
void pass_weight_index(struct pass *pass, const struct packing *packing);
void pass_matrix(struct pass *pass, const struct image_view *matrix);
/* Says that the pass can be a row of a table that `shader` goes over, and what that is told of it: its
 * packing, and what else its kernel says. */
#define PACKING_ROW_MORE 3
void pass_packing_row(struct pass *pass, const char *shader, const struct packing *packing,
                      const int32_t more[PACKING_ROW_MORE]);
/* Where weights are packed; contents undefined. */
struct image_view plan_packed_matrix(struct plan *plan, const struct packing *packing);
/* The passes that pack, one unless weights are longer than a storage block; `biases` may be NULL. */
struct image_view plan_pack(struct plan *plan, const struct packing *packing,
                            const struct vector_view *weights, const struct vector_view *biases);
/* The pass that packs into a vector, a slice's elements after the other's. Weights and what they are packed
 * into fit a storage block. */
struct vector_view plan_pack_vector(struct plan *plan, const struct packing *packing,
                                    const struct vector_view *weights,
                                    const struct vector_view *biases);
/* How many numbers such a vector has. */
size_t packed_numbers(const struct packing *packing);
void pass_packed_vector(struct pass *pass, const struct vector_view *packed,
                        enum vector_access access);

/* Outputs of a layer, of `each` elements, that so many elements hold: parts of vectors may begin with
 * those that follow. The fewest there can be, if not even those fit. */
uint32_t outputs_within(const struct plan *plan, size_t elements, size_t each);

/* ---- Windows ---- */

void pass_axes(struct pass *pass, const struct window *window);
void pass_region(struct pass *pass, const struct operation *operation);
bool is_dense(const struct axis *axis);
/* Along one axis: no tap of `extent` windows, the first at axis->first, lies outside of low .. high. */
bool windows_stay_inside(const struct axis *axis, uint32_t extent, int32_t low, int32_t high);
/* How many windows read outside of low .. high with their first tap, and with their last. */
void windows_outside(const struct axis *axis, uint32_t extent, int32_t low, int32_t high,
                     uint32_t *before, uint32_t *after);
/* What the implementations of few registers read beyond a row's ends; `masks`: they choose between vectors
 * by bit masks; else, where all taps lie `inside`, not at all. */
void pass_outside(struct pass *pass, bool inside, bool masks);

/* ---- The sum over windows: forward, and for strides of 1 the data gradient
 * (convolution_forward.c) ---- */

/* The phases of a strided data gradient, the sums of pixels that lie equally within a stride, as one
 * sum: `extent` is of the longest, and the window the largest of theirs. */
struct phases {
    uint32_t count[2];
    uint32_t extent[2]; /* of the result, from `origin` on */
    int32_t distance[2], stride[2], dilation[2], tap_step[2], size[2]; /* of the layer's window */
};

/* One such sum over the part low .. high of the source. Its pixel (i, j), within `extent`, reads
 * from  first + stride * (i, j)  of the window on and is stored at  origin + step * (i, j). */
struct sum {
    struct image_view source, destination;
    struct window window;
    int32_t low[2], high[2];
    uint32_t origin[2], extent[2], step[2];
    const struct phases *phases;                /* NULL: this is all there is */
    const struct vector_view *weights, *biases; /* biases may be NULL */
    const struct glcnn_neuron_descriptor *neuron;
    const struct vector_view *neuron_data;
};

/* The problem of convolution_sum_implementations. */
struct sum_problem {
    const struct packing *packing;
    const struct sum *sum;
    const struct plan *plan;
};

/* The form of a row of them. */
struct sum_form {
    bool takes_phases;      /* all of a strided data gradient in one pass */
    bool masks;             /* what lies outside is replaced bit by bit */
    bool interior;          /* tiles inside the image have a loop without masks */
    bool buffer;            /* weights are packed into a vector */
    uint32_t pixels;        /* of an invocation, where a row always has as many */
    uint32_t taps;          /* of the widest window whose taps share their reads */
    uint32_t most_pixels;   /* where that leaves few idle; 0: always `pixels` */
    uint32_t shared_pixels; /* of an invocation whose taps do; 0: as many as of others */
};

extern const struct implementation_list convolution_sum_implementations;

void plan_sum(struct plan *plan, const struct packing *packing, const struct sum *sum);
/* True if a pass can read the weights as they are, in one storage block: longer ones must be packed. */
bool sum_fits_block(const struct sum_problem *problem);
/* True if no number is the sum of so many terms that it is made in stretches. */
bool sum_is_short(const struct sum_problem *problem);
/* Pixels of all images. */
uint32_t sum_pixels(const struct sum *sum);

/* The pass of a row, but for its weights and sizes. */
struct pass *plan_sum_pass(struct plan *plan, const struct implementation *row,
                           const struct sum_problem *problem);
void pass_sum_destination(struct pass *pass, const struct sum *sum);
/* Says that the body takes an epilogue, whose groups are of so many lanes, where the sum is all of an
 * image that holds what the sums come to. */
void pass_sum_epilogue(struct pass *pass, const struct sum *sum, struct pass_epilogue epilogue);
/* What of the source takes part. */
void pass_sum(struct pass *pass, const struct sum *sum);
/* For convolution/phases.glsl; `phases` may be NULL. Returns how many there are. */
uint32_t pass_phases(struct pass *pass, const struct phases *phases);

/* Winograd's filtering (convolution_winograd.c) is for windows of 3x3 without stride or dilation. */
bool is_window_of_three(const struct packing *packing, const struct window *window);
bool sum_takes_winograd(const void *sum_problem);
bool sum_gains_by_winograd(const void *sum_problem);
bool wide_sum_gains_by_winograd(const void *sum_problem);
void plan_sum_winograd(struct plan *plan, const struct implementation *row,
                       const void *sum_problem);

/* The tile of sums that an invocation keeps in registers. */
struct register_tile {
    uint32_t slices, pixels;
};

/* The problem of convolution_register_tile_implementations: the pass of a sum by register tiles, which
 * its row completes. */
struct tile_problem {
    const struct packing *packing;
    const struct sum *sum;
    struct pass *pass;
    bool stretches; /* the sum is long, and made in stretches */
};

extern const struct implementation_list convolution_register_tile_implementations;

/* The largest tile of the packing, of `pixels` at most where it has two slices. */
struct register_tile largest_tile(const struct tile_problem *problem, uint32_t pixels);
/* Invocations of an image. */
uint64_t tile_invocations(const struct tile_problem *problem, struct register_tile tile);
void pass_register_tile(const struct tile_problem *problem, struct register_tile tile);

/* ---- The data gradient (convolution_gradient_data.c) ---- */

extern const struct implementation_list convolution_data_implementations;

void plan_data(const struct operation *operation, struct plan *plan);

/* ---- The gradient of weights (convolution_gradient_weights.c) ---- */

/* The problem of convolution_weights_implementations. */
struct weights_problem {
    const struct operation *operation;
    const struct plan *plan;
    struct packing packing;
};

/* How many invocations are wanted, and how many products make a chunk of the pixels worth its partial
 * sums. */
struct chunk_size {
    uint32_t invocations, products;
};

/* The form of a row of them: columns of the window and pixels of the gradient that an invocation takes
 * at once, for so many slices of outputs. */
struct weights_form {
    uint32_t pixels, taps, slices;
    struct chunk_size chunk;
    bool slides; /* taps of a row keep what they read for their neighbours */
    bool pairs;  /* an invocation has two slices of inputs */
    bool masks;  /* see pass_outside */
};

/* Partial sums of the gradient of weights: of each chunk of the pixels, for each slice of outputs,
 * those of all elements and of the biases. The problem of convolution_partial_sum_implementations. */
struct partial_sums {
    const struct weights_problem *problem;
    struct vector_view vector;
    uint32_t chunks;
    uint32_t numbers; /* of four, of a chunk */
    /* Whose groups make them, and can end so many sums by themselves, one for each at.z; 0: none. */
    struct pass *pass;
    uint32_t sums;
};

extern const struct implementation_list convolution_weights_implementations,
    convolution_partial_sum_implementations;

void plan_weights(const struct operation *operation, struct plan *plan);
/* The gradient of weights by `plan_some`: of all, or, where they or their partial sums are longer than
 * a storage block, of some outputs after the others. */
typedef void (*plan_of_weights)(const struct operation *operation, struct plan *plan);
void plan_weights_in_parts(const struct operation *operation, struct plan *plan,
                           plan_of_weights plan_some);
void plan_weights_by_rows(struct plan *plan, const struct implementation *row, const void *problem);
/* The pass of a row, begun, but for the sizes of chunks; and with the partial sums that it leaves. */
struct pass *plan_weights_pass(struct plan *plan, const struct implementation *row,
                               const struct weights_problem *problem);
struct pass *plan_partial_sums(struct plan *plan, const struct implementation *row,
                               const struct weights_problem *problem, uint32_t chunks,
                               struct partial_sums *sums);
/* Adds up chunks, where there are many, in runs of as many as there are runs. */
void merge_partial_sums(struct plan *plan, struct partial_sums *sums);
/* A pass of `shader` that adds up all chunks, an invocation for each number. */
struct pass *plan_sum_of_chunks(struct plan *plan, const struct implementation *row,
                                const struct partial_sums *sums);
/* More than one invocation adds up in one go. */
bool has_many_chunks(const void *partial_sums);
/* The vectors that gradients of weights are stored in, weights as an array of `type`. Outputs that
 * hold sums already are added to. */
void pass_gradients(struct pass *pass, const char *type, const struct operation *operation);

/* Gradients of weights are made by Winograd's filtering there too (convolution_winograd.c). */
bool weights_take_winograd(const void *weights_problem);
bool weights_gain_by_winograd(const void *weights_problem);
bool wide_weights_gain_by_winograd(const void *weights_problem);
void plan_weights_winograd_points(struct plan *plan, const struct implementation *row,
                                  const void *weights_problem);

/* ---- Fully connected layers (fully_connected.c). The problem is the operation. ---- */

extern const struct implementation_list fully_connected_data_implementations,
    fully_connected_weights_implementations;

/* The form of a row that goes by images: how many share what is read of the weights, and slices of the
 * gradient that are read at once. */
struct connected_form {
    uint32_t images, slices;
};

void plan_connected_data_by_images(struct plan *plan, const struct implementation *row,
                                   const void *operation);

#endif
