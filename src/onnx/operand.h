/* What operators of several inputs read: images, and constants that become images. */
#ifndef GLCNN_ONNX_OPERAND_H
#define GLCNN_ONNX_OPERAND_H

#include "onnx/view.h"

#define LARGEST_NUMBER 1e19f /* of a learned image */

struct operand {
    struct shape shape;
    struct image image;           /* node NULL: it is a constant still */
    const struct value *constant; /* NULL: it is none */
};

struct operand operand_of(const struct value *value);
/* Puts its numbers where those of `wanted` are, an image that its shape has. A constant becomes a learned
 * image, which trains where the constant is a parameter. */
bool operand_place(struct call *call, struct operand *operand, const struct image *wanted);
/* Where the batch of what has `shape` is in a constant whose axis `own` is its axis `axis`: nowhere, unless
 * that is the axis of the batch and the constant has all of its numbers. */
struct batch operand_constant_batch(struct batch batch, const struct shape *shape, int axis,
                                    const struct shape *constant, int own);
/* Makes a constant an image, where its shape, which has the batch there, has it by custom. */
bool operand_place_constant(struct call *call, struct operand *operand, struct batch batch);
/* The value is that image too from now on. */
bool operand_image(struct call *call, struct value *value);
/* Repeats it along axes of one number, up to the sizes of `shape`, which has the batch where `batch`
 * says. */
bool operand_repeat(struct call *call, struct operand *operand, const struct shape *shape,
                    struct batch batch);
/* The batch of what both, broadcast to `shape`, are together. */
struct batch operand_batch(const struct reader *reader, const struct operand *a,
                           const struct operand *b, const struct shape *shape);
/* Broadcasts both: their numbers lie so that kernels of two images can read them, with steps of 0 along
 * axes of the image that one has no more than one number of. *all is the result, without a node. */
bool operand_align(struct call *call, struct operand *a, struct operand *b, struct operand *all);
/* A filter of both, broadcast, by the name of its kernel (arithmetic.c); *a is its result. */
bool op_join(struct call *call, const char *kernel, struct operand *a, struct operand *b,
             const char *suffix);
/* What the operator of that name, one of arithmetic, makes of two values, of which one may be a constant
 * (arithmetic.c). */
bool op_combine(struct call *call, const char *operator, const struct value * x,
                const struct value *y, struct operand *result);
/* The constant, its infinities the largest numbers that a vector has; NULL: no memory. */
struct constant *constant_bounded(struct call *call, struct constant *constant);
/* The matrices of both, their last two axes, multiplied; both have as many axes, those before broadcast
 * (linear.c). */
bool op_multiply(struct call *call, struct operand *x, struct operand *y, struct operand *product);
/* The numbers along the axis become their products with a matrix [outputs][inputs], which does not train
 * (linear.c). The suffix is of the filter's label; NULL: it has the node's own. What is not finite reaches
 * all numbers along its axis. */
bool op_multiply_axis(struct call *call, struct image *image, struct shape *shape, int axis,
                      const struct constant *matrix, const char *suffix);
bool lower_einsum(struct call *call);

#endif
