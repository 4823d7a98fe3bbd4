/* Convolutions and fully connected layers on a large desktop GPU.
 *
 * Room: Implementations that only a large desktop GPU can take: they share memory on the chip, and
 * keep more values than the GPUs of boards have registers for. Each list stands before the portable
 * one of its name, which knows nothing of it. Uses kernels/ and what those use. */
#ifndef GLCNN_DESKTOP_CONVOLUTION_H
#define GLCNN_DESKTOP_CONVOLUTION_H

#include "kernels/convolution_plan.h"

/* ---- Sums; the problem is a sum_problem ---- */

/* By lanes that share out a dot product (convolution_split_dot.c). The weights are read as the user
 * has them, by vectors of four. */
bool sum_reads_vectors(const void *problem);
bool sum_has_few_results(const void *problem);
void plan_split_dot(struct plan *plan, const struct implementation *row, const void *problem);

/* By tiles of a product of matrices (convolution_tiled.c). */
bool sum_is_product(const void *problem);
bool sum_fills_tiles(const void *problem);
void plan_tiled(struct plan *plan, const struct implementation *row, const void *problem);

/* By tiles of few rows, whose weights are read as the user has them (fully_connected_tiled.c). */
bool sum_reads_inside(const void *problem);
bool sum_fills_unpacked_tiles(const void *problem);
void plan_tiled_unpacked(struct plan *plan, const struct implementation *row, const void *problem);

/* From a tile of the source in shared memory (convolution_shared.c). */
bool sum_is_small(const void *problem);
bool sum_fills_shared_tiles(const void *problem);
void plan_shared(struct plan *plan, const struct implementation *row, const void *problem);

/* By Winograd's filtering (convolution_winograd.c). */
bool sum_is_winograd(const void *problem);
bool sum_fills_winograd(const void *problem);
void plan_winograd(struct plan *plan, const struct implementation *row, const void *problem);

/* Biases as the user has them, for desktop/bias.glsl (convolution_tiled.c). */
void pass_biases_unpacked(struct pass *pass, const struct sum *sum);
/* What splits of the elements have left in `parts`, for each of them and each pixel of all images a
 * row of slices, is added up (convolution_tiled.c). */
void plan_sum_of_splits(struct plan *plan, const struct packing *packing, const struct sum *sum,
                        const struct vector_view *parts, uint32_t splits);

/* ---- Gradients of weights; the problem is a weights_problem ---- */

/* Pixels of the gradient, in all (convolution_gradient_tiled.c). */
uint32_t weights_pixels(const struct operation *operation);

/* By tiles of a product of matrices, and by lanes that each take some pixels
 * (convolution_gradient_tiled.c). */
bool weights_are_product(const void *problem);
bool weights_are_single(const void *problem);
bool weights_fill_tiles(const void *problem);
void plan_weights_tiled(struct plan *plan, const struct implementation *row, const void *problem);
void plan_weights_group(struct plan *plan, const struct implementation *row, const void *problem);

/* By register tiles of columns (convolution_shared.c). */
bool weights_are_small(const void *problem);
bool weights_fill_register_tiles(const void *problem);
void plan_weights_register_tiled(struct plan *plan, const struct implementation *row,
                                 const void *problem);

/* By Winograd's filtering (convolution_winograd.c). */
bool weights_are_winograd(const void *problem);
bool weights_fill_winograd(const void *problem);
void plan_weights_winograd(struct plan *plan, const struct implementation *row,
                           const void *problem);

/* ---- Fully connected layers; the problem is the operation (fully_connected_tiled.c) ---- */

bool connected_data_has_vectors(const void *operation);
bool connected_data_fills_tiles(const void *operation);
void plan_connected_data_tiled(struct plan *plan, const struct implementation *row,
                               const void *operation);
bool connected_has_one_pixel(const void *operation);
bool connected_data_fills_convolution(const void *operation);
void plan_connected_data_convolved(struct plan *plan, const struct implementation *row,
                                   const void *operation);
bool connected_pixels_are_few(const void *operation);

bool connected_weights_have_vectors(const void *operation);
bool connected_weights_fill_tiles(const void *operation);
void plan_connected_weights_tiled(struct plan *plan, const struct implementation *row,
                                  const void *operation);
bool connected_layer_is_dense(const void *operation);
bool connected_weights_are_long(const void *operation);
void plan_connected_weights_convolved(struct plan *plan, const struct implementation *row,
                                      const void *operation);

#endif
