/* Pixels that the references read whose results read one source pixel each. */
#ifndef GLCNN_REFERENCE_POINTWISE_H
#define GLCNN_REFERENCE_POINTWISE_H

#include "reference/reference.h"

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
