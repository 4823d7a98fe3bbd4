/* Passes of convolutions and fully connected layers: what their files share.
 *
 * Weights as the user has them are the only truth: every plan packs them anew into a scratch image
 * (glsl/convolution/convolution.glsl has the layout), so a replay sees what the vectors hold
 * then. */
#ifndef GLCNN_KERNELS_CONVOLUTION_PLAN_H
#define GLCNN_KERNELS_CONVOLUTION_PLAN_H

#include "encode/window.h"
#include "kernels/convolution.h"

/* Groups that a pass of tiles must have to be worth it: fewer leave most of a large GPU idle. */
#define TILE_GROUPS 32u

/* Additions to one number, one after the other, from which on a sum is made in stretches: glcnn/image.h's
 * bound must hold where all of them round the same way. */
#define LONG_SUM 768u

/* Tables of implementations: convolution_forward.c, convolution_tiles.c, convolution_gradient_weights.c,
 * convolution_gradient_data.c, fully_connected.c. What differs with the batch is a row of one. */
extern const struct implementation_list convolution_sum_implementations,
    convolution_tile_implementations, convolution_split_implementations,
    convolution_place_implementations, convolution_line_implementations,
    convolution_part_implementations, convolution_chunk_implementations,
    convolution_data_implementations, fully_connected_data_implementations,
    fully_connected_weights_implementations;

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
/* Whether each output sees all inputs, four to an element of a slice: sums are products of
 * matrices. */
bool packing_is_dense(const struct packing *packing);
/* Whether the weights of an output lie as its elements do. */
bool packing_is_in_order(const struct packing *packing);
/* What convolution/convolution.glsl takes. */
void pass_packing(struct pass *pass, const struct packing *packing);
/* Where an element is among the weights as the user has them; and both. */
void pass_weight_places(struct pass *pass, const struct packing *packing);
void pass_weight_index(struct pass *pass, const struct packing *packing);
void pass_matrix(struct pass *pass, const struct image_view *matrix);
/* The passes that pack, one unless weights are longer than a storage block; `biases` may be NULL. */
struct image_view plan_pack(struct plan *plan, const struct packing *packing,
                            const struct vector_view *weights, const struct vector_view *biases);

/* Outputs of a layer, of `each` elements, that so many elements hold: parts of vectors may begin with
 * those that follow. The fewest there can be, if not even those fit. */
uint32_t outputs_within(const struct plan *plan, size_t elements, size_t each);

/* ---- Windows ---- */

void pass_axes(struct pass *pass, const struct window *window);
void pass_region(struct pass *pass, const struct operation *operation);
bool is_dense(const struct axis *axis);
/* What the narrow implementations read beyond a row's ends. */
void pass_outside(struct pass *pass, const struct implementation *row);

/* ---- The sum over windows: forward, and for strides of 1 the data gradient
 * (convolution_forward.c) ---- */

/* The sums of a strided data gradient, which lie side by side, as one: `extent` is of the longest,
 * and the window the largest of theirs. */
struct places {
    uint32_t count[2];
    uint32_t extent[2];                                     /* of the result, from `origin` on */
    int32_t distance[2], dilation[2], tap_step[2], size[2]; /* of the layer's window */
};

/* One such sum over the part low .. high of the source. Its pixel (i, j), within `extent`, reads
 * from  first + stride * (i, j)  of the window on and is stored at  origin + step * (i, j). */
struct sum {
    struct image_view source, destination;
    struct window window;
    int32_t low[2], high[2];
    uint32_t origin[2], extent[2], step[2];
    const struct places *places;                /* NULL: this is all there is */
    const struct vector_view *weights, *biases; /* biases may be NULL */
    const struct glcnn_neuron_descriptor *neuron;
    const struct vector_view *neuron_data;
};

/* The row of the table for a sum. */
const struct implementation *sum_variant(struct plan *plan, const struct packing *packing,
                                         const struct sum *sum);
void plan_sum(struct plan *plan, const struct packing *packing, const struct sum *sum);
/* By lines of pixels, each of several slices. These and tiles can take places. */
bool sum_is_wide(const struct implementation *row);
void plan_lines(struct plan *plan, const struct packing *packing, const struct implementation *row,
                const struct sum *sum);
/* The pass of a row of the table, but for its weights and sizes. */
struct pass *plan_sum_pass(struct plan *plan, const struct packing *packing,
                           const struct implementation *row, const struct sum *sum);
void pass_sum_destination(struct pass *pass, const struct sum *sum);
/* Says that the body takes an epilogue, whose groups are of so many lanes, where the sum is all of an
 * image that holds what the sums come to. */
void pass_sum_epilogue(struct pass *pass, const struct sum *sum, struct pass_epilogue epilogue);
/* What of the source takes part. */
void pass_sum(struct pass *pass, const struct sum *sum);

/* For convolution/places.glsl; `places` may be NULL. Returns how many there are. */
uint32_t pass_places(struct pass *pass, const struct places *places);

/* Biases as the user has them, for convolution/bias.glsl; and weights in order, too, for
 * convolution/weights_in_place.glsl. */
void pass_biases_in_place(struct pass *pass, const struct sum *sum);
void pass_weights_in_place(struct pass *pass, const struct sum *sum);

/* What rows of convolution_sum_implementations are asked about. */
struct sum_shape {
    const struct packing *packing;
    const struct sum *sum;
    const struct plan *plan;
};

/* Whether a pass can read the weights as they are, in one storage block: longer ones must be packed. */
bool sum_fits_block(const struct sum_shape *shape);

/* By tiles (convolution_tiles.c). */
bool sum_fills_tiles(const void *shape);
bool sum_is_tiled(const struct implementation *row);
void plan_sum_tiles(struct plan *plan, const struct packing *packing,
                    const struct implementation *row, const struct sum *sum);

/* By tiles of few rows, whose weights are read as they are by quads (fully_connected_tiles.c). */
bool sum_has_quads(const void *shape);
bool sum_fills_quads(const void *shape);
void plan_sum_quads(struct plan *plan, const struct packing *packing,
                    const struct implementation *row, const struct sum *sum);

/* What splits of the elements have left in `parts`, for each of them and each pixel of all images a
 * row of slices, is added up. */
void plan_sum_of_splits(struct plan *plan, const struct packing *packing, const struct sum *sum,
                        const struct vector_view *parts, uint32_t splits);

/* From shared memory (convolution_shared.c). */
bool sum_is_shared(const void *shape);
bool sum_fills_shared(const void *shape);
void plan_sum_shared(struct plan *plan, const struct packing *packing,
                     const struct implementation *row, const struct sum *sum);

/* Of few results (convolution_dots.c). */
bool sum_is_dots(const void *shape);
bool sum_fills_dots(const void *shape);
void plan_sum_dots(struct plan *plan, const struct packing *packing,
                   const struct implementation *row, const struct sum *sum);

/* By Winograd's filtering (convolution_winograd.c). */
bool sum_is_winograd(const void *shape);
bool sum_fills_winograd(const void *shape);
void plan_sum_winograd(struct plan *plan, const struct packing *packing,
                       const struct implementation *row, const struct sum *sum);

/* ---- Gradients ---- */

/* convolution_gradient_data.c, convolution_gradient_weights.c */
void plan_data(const struct operation *operation, struct plan *plan);
void plan_weights(const struct operation *operation, struct plan *plan);
/* The gradient of weights by `plan_some`: of all, or, where they or their part sums are longer than a
 * storage block, of some outputs after the others. */
typedef void (*plan_of_weights)(const struct operation *operation, struct plan *plan);
void plan_weights_in_parts(const struct operation *operation, struct plan *plan,
                           plan_of_weights plan_some);
/* Part sums of the gradient of weights: of each chunk of the pixels, for each slice of outputs,
 * those of all elements and of the biases. */
struct parts {
    struct vector_view vector;
    uint32_t chunks;  /* 0: there are none, the gradient is stored already */
    uint32_t numbers; /* of four, of a chunk */
    /* Whose groups make them, and can end so many sums by themselves, one for each at.z; 0: none. */
    struct pass *pass;
    uint32_t sums;
};
/* The pass that makes them, begun; without the parts, or with them. The sizes of chunks are not set. */
struct pass *plan_parts_pass(const struct operation *operation, struct plan *plan,
                             const struct packing *packing, const struct implementation *row);
struct pass *plan_parts(const struct operation *operation, struct plan *plan,
                        const struct packing *packing, const struct implementation *row,
                        uint32_t chunks, struct parts *parts);

/* By work groups (convolution_gradient_groups.c). What rows of convolution_part_implementations are asked
 * about is a part_shape. */
struct part_shape {
    const struct packing *packing;
    const struct window *window;
    uint32_t pixels; /* of the gradient, in all */
    const struct plan *plan;
};
uint32_t weights_pixels(const struct operation *operation);
bool weights_are_product(const void *shape);
bool weights_are_single(const void *shape);
bool weights_fill_tiles(const void *shape);
void plan_groups(const struct operation *operation, struct plan *plan,
                 const struct packing *packing, const struct implementation *row,
                 struct parts *parts);

/* Adds up chunks, where there are many, in runs of as many as there are runs. */
void merge_parts(struct plan *plan, struct parts *parts);

/* By strips of columns (convolution_shared.c). */
bool weights_are_small(const void *shape);
bool weights_fill_strips(const void *shape);
void plan_weights_strips(const struct operation *operation, struct plan *plan,
                         const struct packing *packing, const struct implementation *row,
                         struct parts *parts);

/* By Winograd's filtering (convolution_winograd.c). */
bool weights_are_winograd(const void *shape);
bool weights_fill_winograd(const void *shape);
void plan_weights_winograd(const struct operation *operation, struct plan *plan,
                           const struct packing *packing, const struct implementation *row);

/* Of fully connected layers, by tiles (fully_connected_tiles.c). What rows are asked about is the
 * operation. */
bool connected_data_has_quads(const void *operation);
bool connected_data_fills_tiles(const void *operation);
void plan_connected_data_tiles(const struct operation *operation, struct plan *plan,
                               const struct implementation *row);
bool connected_weights_have_quads(const void *operation);
bool connected_weights_fill_tiles(const void *operation);
void plan_connected_weights_tiles(const struct operation *operation, struct plan *plan,
                                  const struct implementation *row);

/* The vectors that gradients of weights are stored in. Outputs that hold sums already are added
 * to. */
void pass_gradients(struct pass *pass, const struct operation *operation);
/* The same, weights as an array of `type`. */
void pass_gradients_of(struct pass *pass, const char *type, const struct operation *operation);

#endif
