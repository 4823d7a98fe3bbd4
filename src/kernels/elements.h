/* What kernels share whose results are numbers of the source in other places: each result element
 * is one element of the source, or a constant. They have no addressing but images, channels and the
 * clip rectangle, and their gradients follow their states. */
#ifndef GLCNN_KERNELS_ELEMENTS_H
#define GLCNN_KERNELS_ELEMENTS_H

#include "encode/descriptor.h"

/* Row, column and channel of an image. */
struct element {
    int32_t y, x, c;
};

/* The source element that result element `at` is; false: it is none. */
typedef bool (*element_source)(const struct operation *operation, struct element at,
                               struct element *from);

/* Arguments: a forward kernel's are source, result; a gradient's source gradient, source image,
 * destination. */
enum { ELEMENT_SOURCE, ELEMENT_RESULT };
enum { ELEMENT_GRADIENT, ELEMENT_IMAGE, ELEMENT_DESTINATION };

/* The forward kernel's source and result, of a gradient kernel too. */
const struct image_view *elements_source(const struct operation *operation);
const struct image_view *elements_result(const struct operation *operation);

/* Numbers of one image. */
uint64_t elements_in(const struct image_view *view);

/* The destination must be as wide and high as `shape` makes it. */
bool elements_check_size(const struct operation *operation, struct validation validation);
/* Gradients follow their states. */
bool elements_check_state(const struct operation *operation, struct validation validation);

/* The pass over the result with texture "source" and image "destination", or of a gradient
 * "gradient" and "destination" with the results that count. */
struct pass *plan_elements(const struct operation *operation, struct plan *plan,
                           const char *shader);

/* The pass of slice/rearranged.comp, whose places library `place` has; a gradient's has those of the
 * gradient's elements. */
struct pass *plan_rearranged(const struct operation *operation, struct plan *plan,
                             const char *place);
/* The same of another body. */
struct pass *plan_rearranged_by(const struct operation *operation, struct plan *plan,
                                const char *shader, const char *place);

/* For slice/place_of.glsl: of images of at most so many numbers. */
void pass_most_elements(struct pass *pass, uint64_t most);

/* For descriptors of two sources, and of their gradients, which are by source_image or by the other. */
extern const struct argument element_pair_arguments[], element_pair_gradient_arguments[];

#endif
