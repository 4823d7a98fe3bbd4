/* Gradients of pooling by tiles: a work group keeps what the windows of a tile read, and what they
 * pass on, in shared memory, so that neither is read again and again. */
#ifndef GLCNN_KERNELS_POOLING_SHARED_H
#define GLCNN_KERNELS_POOLING_SHARED_H

#include "kernels/pooling_separable.h"

/* For descriptors: tiles, or other forms. */
extern const struct implementation_list pooling_tile_forms;

/* The pass, where it suits; otherwise false, and the caller makes passes of another form. `fold` is
 * "AVERAGE", "SQUARES", "LARGEST" or, where the forward pass kept winners, "WINNERS". */
bool pooling_plan_shared_gradient(struct plan *plan, const struct pooled_gradient *pooled,
                                  const char *fold, const struct implementation **row);

/* Windows whose taps are in steps of one, or that are; no pixel lies between windows. */
bool pooling_is_regular(const struct axis *axis);
/* Of taps outside that stand for a pixel inside, one reads that pixel itself. */
bool pooling_touches(const struct axis *axis, uint32_t size);

#endif
