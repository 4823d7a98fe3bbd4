/* Maxima that keep which tap won: the forward pass leaves it in the state, and the gradient reads that
 * and not the source. */
#ifndef GLCNN_KERNELS_POOLING_WINNERS_H
#define GLCNN_KERNELS_POOLING_WINNERS_H

#include "kernels/pooling_separable.h"

#define POOLING_WINNER_SIDE 8 /* of a window: a place has three bits for its column and its row */

/* For descriptors: whether a gradient reads them or finds them anew. */
extern const struct implementation_list pooling_winner_forms;

/* Elements of the vector: one for each pixel and slice of the result. 0: windows that are large or lie
 * outside of a clamped image keep none. */
size_t pooling_winner_count(const struct window *window, const struct image_view *source,
                            const struct image_view *result);

/* The vector, to a pass of maxima, and what it takes to tell winners. */
void pass_winners(struct pass *pass, const struct pooled *pooled);
/* The pass of maxima that keep them, a window to an invocation, which is the last implementation. */
void pooling_plan_kept(struct plan *plan, const struct pooled *pooled,
                       const struct implementation *row);
/* And what they are read by, to a pass of a gradient. */
void pass_kept_winners(struct pass *pass, const struct pooled_gradient *pooled);
/* Whether a gradient reads them; otherwise the caller finds them anew. */
bool pooling_reads_winners(struct plan *plan, const struct pooled_gradient *pooled);
/* The pass, then, of any windows. */
void pooling_plan_kept_gradient(struct plan *plan, const struct pooled_gradient *pooled);

#endif
