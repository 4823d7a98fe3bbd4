/* Normalising by mean and variance: what batch and instance normalisation share.
 *
 * Images are normalised in groups: all together (1 group), or each by itself (as many groups as
 * images). Vectors of a group's numbers hold group after group, `channels` elements each.
 *
 * The passes of a plan:
 *   normalization_statistics     mean and variance of each group
 *   normalization_coefficients   what the others need for each channel and group: vectors, or a
 *                                scratch image
 *   normalization_apply          out = act(gamma xh + beta),  xh = (x - mean) / s,
 *                                s = sqrt(variance + epsilon)
 *   normalization_sums           for_beta = sum g',  for_gamma = sum g' xh,  over the results
 *   normalization_apply_gradient dX = gamma / s (g' - for_beta / samples - xh for_gamma / samples)
 */
#ifndef GLCNN_KERNELS_NORMALIZATION_H
#define GLCNN_KERNELS_NORMALIZATION_H

#include "glcnn/kernels/neuron.h"

#include "encode/descriptor.h"

/* How passes come by what they need of a channel. */
struct coefficients {
    const struct implementation *row;
    bool in_image; /* else from the vectors */
    struct image_view image;
};

struct normalization {
    uint32_t groups, channels;
    float epsilon;
    double samples; /* pixels per channel and group */
    struct glcnn_neuron_descriptor neuron;
    struct vector_view neuron_data, gamma, beta; /* of `channels` elements */
    struct vector_view mean, variance, for_gamma, for_beta;
    struct coefficients coefficients; /* by normalization_coefficients */
};

/* With `held` samples behind mean and variance already, adds to them; 0 starts afresh. */
void normalization_statistics(struct plan *plan, const struct normalization *n,
                              const struct image_view *source, double held);
/* Before the three that follow. */
void normalization_coefficients(struct plan *plan, struct normalization *n);
void normalization_apply(const struct operation *operation, struct plan *plan,
                         const struct normalization *n, const struct image_view *source,
                         const struct image_view *result);
/* For `fuse`: what normalization_apply would store, of one group and a neuron without slopes, with
 * n->coefficients. */
void normalization_fuse(struct pass *pass, const struct normalization *n, struct fused_name *name,
                        const struct image_view *source);
/* The same of what normalization_apply_gradient would store, and the coefficients for it: an image, or
 * one without storage where the vectors have them. */
struct image_view normalization_gradient_coefficients(struct plan *plan, struct normalization *n);
void normalization_fuse_gradient(struct pass *pass, const struct normalization *n,
                                 struct fused_name *name, const struct image_view *gradient,
                                 const struct image_view *source);
/* `accumulate`: for_gamma and for_beta hold sums already. */
void normalization_sums(const struct operation *operation, struct plan *plan,
                        const struct normalization *n, const struct image_view *gradient,
                        const struct image_view *source, bool accumulate);
/* `fixed`: mean and variance are constants, dX = gamma / sqrt(variance + eps) g'. */
void normalization_apply_gradient(const struct operation *operation, struct plan *plan,
                                  const struct normalization *n, const struct image_view *gradient,
                                  const struct image_view *source, const struct image_view *result,
                                  bool fixed);
/* total = sum of the groups' parts. */
void normalization_sum_groups(struct plan *plan, const struct normalization *n,
                              const struct vector_view *part, const struct vector_view *total);

/* A data source's arrays, by name, of `channels` values; NULL values stand for the vector's neutral
 * one. Names end with NULL. */
struct normalization_array {
    const char *name;
    const float *values;
};
glcnn_status normalization_load(glcnn_kernel *kernel, uint32_t channels,
                                const struct normalization_array *arrays);

/* Its rows say if the passes that read a gradient recompute it. */
extern const struct implementation_list normalization_gradients;

/* For descriptors: what these passes choose from. */
extern const struct implementation_list *const normalization_implementations[];

#endif
