/* Normalisation of a pixel by its neighbours in the same channel: what spatial and local contrast
 * normalisation share. For result X with a window of N taps, Xc the one in the middle:
 *
 *   Mn = mean of the taps, or 0 unless about_mean
 *   T  = delta + alpha * mean of (tap - Mn)^2
 *   Y  = pm + ps * (Xc - p0*Mn) * T^-beta
 */
#ifndef GLCNN_KERNELS_LOCAL_NORMALIZATION_H
#define GLCNN_KERNELS_LOCAL_NORMALIZATION_H

#include "encode/descriptor.h"

enum { SOURCE, RESULT };               /* arguments of a forward kernel */
enum { GRADIENT, IMAGE, DESTINATION }; /* of a gradient kernel */

struct numbers {
    float alpha, beta, delta, p0, pm, ps;
    bool about_mean;
};

struct numbers local_normalization_numbers(const struct operation *operation);

/* The problem that rows are asked about and plan. */
struct local_normalization {
    const struct operation *operation;
    struct numbers numbers;
    bool is_gradient;
};

/* The window and what its numbers are called in shaders; and of a gradient 2 alpha beta / N. */
void pass_local_numbers(struct pass *pass, const struct operation *operation,
                        const struct numbers *numbers);
void pass_local_decline(struct pass *pass, const struct operation *operation,
                        const struct numbers *numbers);

/* For descriptors. What a kernel of either family computes follows from the names of its parameters:
 * one without p0 is not about the mean. */
void local_normalization_plan(const struct operation *operation, struct plan *plan);
extern const struct implementation_list *const local_normalization_implementations[];

/* A graph's node starts with a window of 5x5. */
void local_normalization_node_defaults(struct glcnn_addressing *properties, void *parameters);

#endif
