/* What kernels share whose results read one source pixel each: windows of 1 by 1 with any offset,
 * edge mode and clip rectangle.
 *
 * Room: The operations: each file has the descriptors of a family, their checks and
 * passes, as data; no GL call. Includes encode/ and the rooms below it. */
#ifndef GLCNN_KERNELS_POINTWISE_H
#define GLCNN_KERNELS_POINTWISE_H

#include "encode/descriptor.h"

/* A pass over the destination region with PIXELS columns to an invocation, grid_x apart so
 * that neighbours touch neighbours, and uniforms left and right, the first column and the one after
 * the last. */
struct pass *plan_pointwise(struct plan *plan, const struct operation *operation,
                            const char *shader, const struct image_view *destination);

/* The same of so many columns at most. */
struct pass *plan_columns(struct plan *plan, const struct operation *operation, const char *shader,
                          const struct image_view *destination, uint32_t most);

/* plan_pointwise of a kernel that has, or begins with, descriptor_image_arguments: with texture
 * "source", image "destination" and the window. Of a gradient's, descriptor_gradient_arguments: with
 * textures "gradient" and "source", image "destination" and pass_gather. */
struct pass *plan_pointwise_result(struct plan *plan, const struct operation *operation,
                                   const char *shader);
struct pass *plan_pointwise_gradient(struct plan *plan, const struct operation *operation,
                                     const char *shader);

/* For descriptors: what both choose from. */
extern const struct implementation_list pointwise_rows;
extern const struct implementation_list *const pointwise_implementations[];

/* Does result X read source pixel X, for all of them? `gradient` is as large as the result. */
bool pointwise_is_direct(const struct operation *operation, const struct image_view *gradient,
                         const struct image_view *source);
/* For descriptors whose results read one pixel each, in the same place: whether the passes that read
 * a result make it themselves. */
extern const struct implementation_list pointwise_pixels;
enum fusion pointwise_fusion_of(const struct operation *operation, struct plan *plan,
                                const struct image_view *source, const struct image_view *result);

/* lib/gather.glsl: what of the gradient reaches a source pixel, in the cheapest form that is right
 * for this operation. The pass has textures "gradient" and "source". */
void pass_gather(struct pass *pass, const struct operation *operation,
                 const struct image_view *gradient, const struct image_view *source);

#endif
