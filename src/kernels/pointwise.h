/* What kernels share whose results read one source pixel each: windows of 1 by 1 with any offset,
 * edge mode and clip rectangle.
 *
 * Room: The operations: each file has the descriptors of a family, their checks, passes and
 * references, as data; no GL call. Includes encode/ and the rooms below it. */
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

/* For descriptors: what both choose from. */
extern const struct implementation_list pointwise_rows;
extern const struct implementation_list *const pointwise_implementations[];

/* Does result X read source pixel X, for all of them? `gradient` is as large as the result. */
bool pointwise_is_direct(const struct operation *operation, const struct image_view *gradient,
                         const struct image_view *source);
/* For descriptors whose results read one pixel each, in the same place: whether the passes that read
 * a result make it themselves. */
extern const struct implementation_list derivation_rows;
enum derivative pointwise_derivative_of(const struct operation *operation, struct plan *plan,
                                        const struct image_view *source,
                                        const struct image_view *result);

/* lib/gather.glsl: what of the gradient reaches a source pixel, in the cheapest form that is right
 * for this operation. The pass has textures "gradient" and "source". */
void pass_gather(struct pass *pass, const struct operation *operation,
                 const struct image_view *gradient, const struct image_view *source);

/* Pixel that result (Y, X) reads. */
double pointwise_source(const struct window *window, const struct tensor *source, uint32_t n,
                        uint32_t c, int32_t Y, int32_t X);
/* Value at a position that the edge mode may move; 0 outside with edge mode zero. */
double pointwise_edge(const struct tensor *source, glcnn_edge_mode mode, uint32_t n, uint32_t c,
                      int32_t y, int32_t x);
/* Row and column of the source pixel whose gradient is written at destination pixel (y, x), by hand
 * where the edge mode moves it; false: there is none. */
bool pointwise_position(const struct operation *operation, const struct tensor *source, int32_t y,
                        int32_t x, int32_t at[2]);
/* Its value, 0 if there is none; and whether a gradient is written there, which by hand one is for
 * what lies outside too. */
double pointwise_seen(const struct operation *operation, const struct tensor *source, uint32_t n,
                      uint32_t c, int32_t y, int32_t x);
bool pointwise_is_seen(const struct operation *operation, const struct tensor *source, int32_t y,
                       int32_t x);
/* Row and column of `to` where the gradient goes of the source pixel that result (Y, X) reads;
 * false: there is none. `source` gives the size. */
bool pointwise_target(const struct operation *operation, const struct tensor *source,
                      const struct tensor *to, int32_t Y, int32_t X, int32_t at[2]);
/* Derivative of a result of channel c by the source value x that it read. */
typedef double (*pointwise_derivative)(const struct reference *r, uint32_t c, double x);
/* Adds each gradient pixel, times its derivative, to the pixel of `to` whose source it read.
 * Without a derivative (NULL: it is 1) `source` gives the size alone. */
void pointwise_scatter(const struct reference *r, const struct tensor *gradient,
                       const struct tensor *source, const struct tensor *to,
                       pointwise_derivative derivative);

#endif
