/* Pooling in two passes of one dimension each, along the columns of windows first: time grows with
 * a window's width and height and not with its area. */
#ifndef GLCNN_KERNELS_POOLING_SEPARABLE_H
#define GLCNN_KERNELS_POOLING_SEPARABLE_H

#include "encode/descriptor.h"

/* For descriptors: the separable form and that of one pass. */
extern const struct implementation_list pooling_forms;

/* Results of windows on a source: those of an area are made. */
struct pooled {
    const struct operation *operation;
    struct window window;
    const struct image_view *source, *result;
    const struct vector_view *winners; /* of maxima that keep them; else NULL */
    uint32_t x, y, width, height;
    const char *fold; /* how taps come together: a define of pooling_fold.glsl or "AVERAGE" */
    /* Adds to a pass what an average takes to count. */
    void (*add_padding)(const struct operation *operation, struct pass *pass);
};

/* The form that suits best, and its passes where it is the separable; otherwise false, and the
 * caller makes the one pass and says that it is of this implementation. */
bool pooling_plan_separable(struct plan *plan, const struct pooled *pooled,
                            const struct implementation **row);

/* The same of a gradient, by the two shaders. */
struct pooled_gradient {
    const struct operation *operation;
    const char *columns, *rows;
    const struct image_view *gradient, *source, *destination;
    const struct image_view *norms;    /* of windows begin and on; NULL: none are read */
    const struct vector_view *winners; /* that the forward pass kept; else NULL */
    void (*add_padding)(const struct operation *operation, struct pass *pass); /* as above */
};
bool pooling_plan_separable_gradient(struct plan *plan, const struct pooled_gradient *pooled,
                                     const struct implementation **row);
/* The same of a maximum: two passes find winners, and two gather. */
bool pooling_plan_separable_max_gradient(struct plan *plan, const struct pooled_gradient *pooled,
                                         const struct implementation **row);

/* To a pass that ends sums of squares, and then needs the source: returns whether `fold` is of those. */
bool pass_norm(struct pass *pass, const char *fold);
/* To a pass whose invocations read their own results' windows alone: whether all lie within. */
void pass_inside(struct pass *pass, const struct pooled *pooled);
/* Are groups that each make so many pixels across and down at least three quarters full of an area? */
bool pooling_fills_groups(uint32_t width, uint32_t height, uint32_t across, uint32_t down);
/* Windows that may read one pixel, along an axis. */
uint32_t pooling_windows_at(const struct axis *axis);
/* Windows that count; at least one, for images of them: there may be none, and then none is asked
 * for. */
uint32_t pooling_window_count(const struct axis *axis);

#endif
