/* Passes over the pixels of a result, and the window that each of them reads. */
#ifndef GLCNN_WINDOW_H
#define GLCNN_WINDOW_H

#include "encode/descriptor.h"

/* A pass whose invocations are the pixels, slices and images of the destination region; its grid
 * and origin are set, view "destination" and the operation's window uniforms are not. */
struct pass *plan_pixels(struct plan *plan, const struct operation *operation, const char *shader,
                         const struct image_view *destination);
/* The window for lib/window.glsl: uniforms first_x, begin_x, end_x, shift_x and the same in y;
 * defines stride_x, dilation_x and in y (division by a constant is cheap),
 * KERNEL_WIDTH and KERNEL_HEIGHT (constants of small windows only), and EDGE_CLAMP if the edge mode
 * is clamp. */
void pass_window(struct pass *pass, const struct window *window);
/* Uniforms begin_x, begin_y, end_x and end_y: the results that there are. */
void pass_results(struct pass *pass, const struct window *window);
/* Uniforms source_width and source_height, of an image that the pass does not read. */
void pass_source_size(struct pass *pass, const struct image_view *source);
/* The destination must be as wide and high as the result. For descriptors' `check`. */
bool check_result_size(const struct image_view *destination,
                       const struct glcnn_image_descriptor *result, struct validation validation);

#endif
