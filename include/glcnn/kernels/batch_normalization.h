/* Batch normalisation: statistics, normalise, and the two gradients. MPSCNNBatchNormalization and
 * its companions; spec 7.4.
 *
 * Four kernels share one state, made by glcnn_kernel_result_state of a batch_normalization kernel:
 *
 *   1 batch_normalization_statistics            mean, variance of all pixels of all images given to
 *                                               it, over any number of encodes; variance is biased
 *   2 batch_normalization                       out = act(gamma xh + beta),
 *                                               xh = (x - mean) / sqrt(variance + epsilon)
 *   3 batch_normalization_statistics_gradient   gradient_for_beta += sum g',  gradient_for_gamma +=
 *                                               sum g' xh,  g' = G act'(gamma xh + beta)
 *   4 batch_normalization_gradient              dX = gamma / sqrt(variance + epsilon) * (g' -
 *                                               (gradient_for_beta + xh gradient_for_gamma) / M)
 *
 * M counts the pixels per channel that 1 has seen. Every image of a batch goes through 1 before any
 * goes through 2, and through 3 before any goes through 4. The state's vectors are mean, variance,
 * gamma, beta, gradient_for_gamma and gradient_for_beta (glcnn_state_vector).
 *
 * Encodes of 1 add up until 2, 3 or 4 has read the statistics; the next encode of 1 then starts the
 * state afresh. Encodes of 3 add up until 4 has read their sums. So one state serves iteration
 * after iteration without glcnn_state_reset.
 *
 * Without a state 2 takes mean and variance of its data source: inference. With a state they must
 * come from the state, unless flags is GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER: then
 * mean and variance are constants, the data source's where 1 has not been encoded, and
 * dX = gamma / sqrt(variance + epsilon) g'.
 *
 * A graph that trains refuses a batch that has one value for each channel, M = 1, whose variance is 0
 * and whose gradients are 0: GLCNN_INVALID_ARGUMENT with the node's label, as PyTorch does. The
 * kernels by themselves compute it.
 *
 * A NaN or an infinity in one pixel makes NaN of its channel's statistics, and so of the channel.
 *
 * 2 leaves its gamma, beta and parameters (epsilon, neuron, flags) in the state, and 3 and 4 use
 * them. Kernel vectors "gamma", "beta", "mean" and "variance" are written with
 * glcnn_kernel_set_vector or reloaded in order with glcnn_kernel_encode_reload. Running averages
 * are the data source's business; glcnn/kernels/running_statistics.h keeps them on the device.
 *
 * Of a temporary state 2, 3 and 4 each take one read, 1 takes none.
 *
 * Where a MPS client may differ (spec 12.17 to 12.19): MPS does not say that the variance is
 * the biased one, nor that statistics start afresh once they were used; it has reset for that, and
 * clients that do not call it. As in MPS epsilon is FLT_MIN unless it is set; PyTorch's is 1e-5.
 */
#ifndef GLCNN_KERNELS_BATCH_NORMALIZATION_H
#define GLCNN_KERNELS_BATCH_NORMALIZATION_H

#include <glcnn/data_source.h>
#include <glcnn/kernels/neuron.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPSCNNBatchNormalizationFlags. */
typedef enum glcnn_batch_normalization_flags {
    GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_AUTOMATIC = 0,
    GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_ALWAYS = 1, /* the same in a kernel */
    GLCNN_BATCH_NORMALIZATION_CALCULATE_STATISTICS_NEVER = 2,
    GLCNN_BATCH_NORMALIZATION_FLAGS_FORCE32 = 0x7fffffff
} glcnn_batch_normalization_flags;

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_batch_normalization_parameters {
    float epsilon; /* default FLT_MIN */
    glcnn_batch_normalization_flags flags;
    struct glcnn_neuron_descriptor neuron; /* fused; default none */
    /* Share of a batch in the running averages that glcnn_kernel_set_training keeps, 0 .. 1, unless
     * its descriptor has one; default 0.1. 0: they stay. */
    float running_momentum;
};

/* MPSCNNBatchNormalizationDataSource. Arrays have number_of_feature_channels elements and are
 * copied; NULL stands for gamma 1, beta 0, mean 0, variance 1. */
struct glcnn_batch_normalization_data_source {
    uint32_t number_of_feature_channels;
    const float *gamma, *beta, *mean, *variance;
    float epsilon; /* 0: FLT_MIN */
};

/* The parameters of a batch normalisation kernel, to read and to change; NULL for another kernel.
 */
GLCNN_API struct glcnn_batch_normalization_parameters *
glcnn_batch_normalization(glcnn_kernel *kernel);

/* Each makes a kernel that the caller owns. `neuron` may be NULL: none. PReLU's slopes are the
 * kernel's vector "neuron_data" (glcnn/kernels/neuron.h).
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_batch_normalization_statistics_create(glcnn_device *device,
                                                                   glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_batch_normalization_create(
    glcnn_device *device, const struct glcnn_batch_normalization_data_source *data_source,
    const struct glcnn_neuron_descriptor *neuron, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_batch_normalization_statistics_gradient_create(
    glcnn_device *device, const struct glcnn_neuron_descriptor *neuron, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_batch_normalization_gradient_create(
    glcnn_device *device, const struct glcnn_neuron_descriptor *neuron, glcnn_kernel **kernel);

/* The result of a node that normalises, collecting statistics first where it trains. An epsilon of
 * 0 stands for the default, FLT_MIN; `neuron` is fused, NULL: none. `data_source`
 * (glcnn/data_source.h) has gamma, beta, mean and variance and may update them; its values are
 * loaded at once, so it says its feature_channels. NULL: gamma 1, beta 0, mean 0, variance 1 until
 * they are set. Default flags: automatic. NULL on failure, see glcnn/node.h; the data source's
 * context is then the caller's still. MPSCNNBatchNormalizationNode. */
GLCNN_API glcnn_image_node *
glcnn_batch_normalization_node(glcnn_image_node *source, float epsilon,
                               const struct glcnn_neuron_descriptor *neuron,
                               const struct glcnn_data_source *data_source);

#ifdef __cplusplus
}
#endif
#endif
