/* Pooling by strips: an invocation makes results below each other, whose windows share rows of
 * taps. */
#ifndef GLCNN_KERNELS_POOLING_STRIPS_H
#define GLCNN_KERNELS_POOLING_STRIPS_H

#include "kernels/pooling_separable.h"

/* For descriptors: strips, or a window to an invocation; the same of maxima that keep winners. */
extern const struct implementation_list pooling_strip_forms, pooling_kept_forms;

/* The form that suits best, and its pass where it is not the last; otherwise false, and the caller
 * makes passes of another form. */
bool pooling_plan_strips(struct plan *plan, const struct pooled *pooled,
                         const struct implementation **row);

#endif
