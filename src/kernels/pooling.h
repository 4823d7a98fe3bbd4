/* What the planners, the desktop implementations and the references of pooling share. */
#ifndef GLCNN_KERNELS_POOLING_INTERNAL_H
#define GLCNN_KERNELS_POOLING_INTERNAL_H

#include "glcnn/kernels/pooling.h"

#include "encode/descriptor.h"

enum { SOURCE, RESULT, INDICES };                        /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION, GRADIENT_INDICES }; /* of a gradient kernel */

#define POOLING_INDEX_SIDE                                                                         \
    8 /* of a window: an argmax index has three bits each for column and row */

/* How the taps of a window become one value. The gradient of POOLING_MAX_INDICES reads the argmax
 * indices that the forward pass left in the state; that of POOLING_MAX recomputes them. */
enum pooling_reduction { POOLING_AVERAGE, POOLING_L2_NORM, POOLING_MAX, POOLING_MAX_INDICES };

/* The problem of list "pooling": windows on a source, and the area of a result that they fill. */
struct pooling {
    const struct operation *operation;
    enum pooling_reduction reduction;
    struct window window;
    const struct image_view *source, *result;
    uint32_t x, y, width, height;
};

/* The problem of list "pooling_gradient". */
struct pooling_gradient {
    const struct operation *operation;
    enum pooling_reduction reduction;
};

extern const struct implementation_list pooling_list, pooling_gradient_list;

/* Does an average divide by the window's size, whatever lies outside? */
bool pooling_counts_whole_window(const struct operation *operation);
/* Columns and rows of zeros beside the source that an average counts. */
void pooling_counted_padding(const struct operation *operation, int32_t pad[2]);
/* Elements of the state's vector of argmax indices: one for each pixel and slice of the result. 0:
 * windows that are large or lie outside of a clamped image have none. */
size_t pooling_index_count(const struct window *window, const struct image_view *source,
                           const struct image_view *result);

/* Columns or rows of a source. */
struct span {
    int32_t first;
    uint32_t count;
};
/* Those that `count` windows from `begin` on have taps in or, where all lie outside, the one nearest
 * to them. */
struct span pooling_span(const struct axis *axis, int32_t begin, uint32_t count, uint32_t size);
/* Windows that may read one pixel, along an axis. */
uint32_t pooling_windows_at(const struct axis *axis);
/* Taps next to each other, or windows: no pixel lies between windows. */
bool pooling_is_regular(const struct axis *axis);
/* Of taps outside that a clamped axis repeats the border for, one reads the border pixel itself. */
bool pooling_touches(const struct axis *axis, uint32_t size);

/* Do two ping-pong passes gain over one pass over whole windows? By the texels that each reads in all,
 * and that one invocation of the one pass reads. */
bool pooling_separable_gains(double one_pass, double two_passes, double longest);
/* To a pass: what averages count (pooling/average.glsl). */
void pooling_pass_padding(struct pass *pass, const struct operation *operation);
/* To a pass of a gradient: the argmax indices of its state. */
void pooling_pass_indices(struct pass *pass, const struct operation *operation);
/* For the descriptors of gradients: their readers may make them (producer fusion). */
extern const struct implementation_list pooling_average_gradient_pixels,
    pooling_max_gradient_pixels;
enum fusion pooling_average_fusion(const struct operation *operation, struct plan *plan);
enum fusion pooling_max_fusion(const struct operation *operation, struct plan *plan);
void pooling_fuse_average(const struct operation *operation, struct pass *pass,
                          struct fused_name *name);
void pooling_fuse_max(const struct operation *operation, struct pass *pass,
                      struct fused_name *name);

#endif
