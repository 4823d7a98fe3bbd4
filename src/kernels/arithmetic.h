/* What the passes and the reference of arithmetic share. */
#ifndef GLCNN_KERNELS_ARITHMETIC_INTERNAL_H
#define GLCNN_KERNELS_ARITHMETIC_INTERNAL_H

#include "glcnn/kernels/arithmetic.h"

#include "encode/descriptor.h"

enum operation_kind { ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, POWER };
enum { PRIMARY, SECONDARY, RESULT, MASK, KEPT };               /* arguments of a forward kernel */
enum { GRADIENT, GIVEN, DESTINATION, BESIDE, G_MASK, G_KEPT }; /* of a gradient kernel */

/* arithmetic/arithmetic_term.glsl */
enum term { SCALED, PRODUCT, BY_DIVIDEND, BY_DIVISOR, SHARED, REST, BY_BASE, BY_EXPONENT };

/* What the kernel's family computes. */
enum operation_kind arithmetic_kind(const struct operation *operation);
/* Does its state keep the primary source's share? */
bool arithmetic_has_shares(const struct operation *operation);
/* What a gradient kernel's result is made of. */
enum term arithmetic_term(const struct operation *operation);

/* Of a binary kernel whose first two arguments are its sources: textures "primary" and "secondary", with
 * primary_operand and secondary_operand of arithmetic/operand.glsl. */
void pass_operands(struct pass *pass, const struct operation *operation);

/* A constant factor of dr/dv. A kernel addressed by hand has scales of its own, which the program
 * sets as it wants them. */
double arithmetic_scale(const struct operation *operation);

#endif
