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

/* The destination must be as wide and high as `shape` makes it. */
bool elements_check_size(const struct operation *operation, struct validation validation);
/* Gradients follow their states. */
bool elements_check_state(const struct operation *operation, struct validation validation);

/* Uniforms begin_x, end_x and in y of a gradient: the results that count. */
void pass_results(struct pass *pass, const struct operation *operation);
/* The pass over the result with texture "source" and image "destination", or of a gradient
 * "gradient" and "destination" with the results that count. */
struct pass *plan_elements(const struct operation *operation, struct plan *plan,
                           const char *shader);

/* The pass of slice/rearranged.comp, whose places library `place` has; a gradient's has those of the
 * gradient's elements. */
struct pass *plan_rearranged(const struct operation *operation, struct plan *plan,
                             const char *place);

/* For descriptors. */
#define ELEMENT_ARGUMENTS                                                                          \
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},                  \
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true}}
#define ELEMENT_GRADIENT_ARGUMENTS                                                                 \
    .arguments = {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},               \
                  {.name = "source_image", .place = PLACE_SECONDARY, .input = true},               \
                  {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}}

/* The same of kernels of two sources; the gradient is by source_image, or by the other. */
#define ELEMENT_PAIR_ARGUMENTS                                                                     \
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},                  \
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},       \
                  {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true}}
#define ELEMENT_PAIR_GRADIENT_ARGUMENTS                                                            \
    .arguments = {                                                                                 \
        {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},                         \
        {.name = "source_image", .place = PLACE_SECONDARY, .input = true},                         \
        {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},              \
        {.name = "secondary_image", .place = PLACE_FORWARD, .input = true, .optional = true}}

#endif
