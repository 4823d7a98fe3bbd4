/* Data sources: where a kernel's weights come from, and who updates them.
 * MPSCNNConvolutionDataSource, MPSCNNBatchNormalizationDataSource,
 * MPSCNNInstanceNormalizationDataSource; spec 7.2, 7.4, 7.5 and 10.4.
 *
 * One struct serves every kernel that owns such vectors, asked for by name:
 *
 *   weights, biases                convolution, fully connected, convolution transpose (gradients:
 *                                  weights alone)
 *   gamma, beta                    batch and instance normalisation
 *   neuron_data                    neurons of type prelu, scale and shift
 *   values                         learned images
 *   mean, variance                 batch normalisation
 *
 * with the lengths and layouts that the kernel's header gives. Slopes of a neuron that is fused into another kernel are no part of it.
 *
 * A data source lives in a kernel. Values are read when it is set and at each
 * glcnn_kernel_reload_from_data_source, as load, values once for each vector, purge. No kernel
 * calls the update callbacks; who runs a training step does, a graph for one, by its training
 * style:
 *
 *   GPU   update(context, command_buffer, gradient_state, source_state, &updated), while recording:
 *         an optimizer recorded by glcnn_optimizer_encode_states, say. What comes back in `updated`
 *         is reloaded into forward and gradient kernel with glcnn_kernel_encode_reload_state.
 *   CPU   update_cpu(context, gradient_state, source_state) once the command buffer is complete,
 *         then glcnn_kernel_reload_from_data_source.
 *   none  nothing is called.
 *
 * `gradient_state` has the gradients; `source_state` what the forward kernel left, where that is
 * another state, otherwise the same one. The callback takes a read off each temporary state that it
 * is given, as an encode that reads it does.
 *
 * Callbacks may use the library on the device of the kernel, but must not set or reload the data
 * source that is calling them.
 */
#ifndef GLCNN_DATA_SOURCE_H
#define GLCNN_DATA_SOURCE_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every callback may be NULL. */
struct glcnn_data_source {
    void *context;     /* handed to every callback */
    const char *label; /* for messages; may be NULL; copied */

    /* Channels of the source, for kernels that would learn them from their first image alone:
     * normalisations, and convolutions whose input_feature_channels is 0 (numberOfFeatureChannels).
     * 0: the kernel knows. */
    uint32_t feature_channels;

    /* Makes the values ready: false if that fails. (load) */
    bool (*load)(void *context);
    /* `count` values of one vector, to be left alone until the next callback; NULL for neutral
     * ones: 0, but gamma and variance 1. Without this callback the kernel's vectors stay as they
     * are. (weights, biasTerms, gamma, beta, mean, variance, neuronData) */
    const float *(*values)(void *context, const char *vector, size_t count);
    /* The values are not needed for now. Follows each load that succeeded. (purge) */
    void (*purge)(void *context);

    /* GPU style. *updated is NULL at the call and may stay so: nothing to reload. It may be one of
     * the states given, or one that the data source keeps; the caller reloads from it and does not
     * destroy it. (updateWithCommandBuffer:gradientState:sourceState:,
     * updateGammaAndBetaWithCommandBuffer:) */
    glcnn_status (*update)(void *context, glcnn_command_buffer *command_buffer,
                           glcnn_state *gradient_state, glcnn_state *source_state,
                           glcnn_state **updated);
    /* CPU style: true if values have changed. (updateWithGradientState:sourceState:,
     * updateGammaAndBetaWithBatchNormalizationState:) */
    bool (*update_cpu)(void *context, glcnn_state *gradient_state, glcnn_state *source_state);
    /* The same for mean and variance of batch normalisation, called after the two above: running
     * averages. (updateMeanAndVarianceWithCommandBuffer:batchNormalizationState:,
     * updateMeanAndVarianceWithBatchNormalizationState:) */
    glcnn_status (*update_statistics)(void *context, glcnn_command_buffer *command_buffer,
                                      glcnn_state *state, glcnn_state **updated);
    bool (*update_statistics_cpu)(void *context, glcnn_state *state);

    /* The context of a kernel's copy, NULL if that fails; without this callback the copy shares the
     * context. (copyWithZone:device:) */
    void *(*copy)(void *context, glcnn_device *device);
    /* Called once, when the last kernel that has the context lets it go. */
    void (*destroy)(void *context);
};

/* Gives the kernel a copy of the struct in place of the data source it had, and loads its values at
 * once. The kernel then sees to `destroy`. NULL takes the data source away; vectors stay. After a
 * failure the kernel has the data source and the values that it had, and the context is still the
 * caller's.
 * Errors: GLCNN_INVALID_ARGUMENT if the kernel owns no vector of those above, the length of one is
 * not known yet, load fails, or a value is not a number; GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_kernel_set_data_source(glcnn_kernel *kernel,
                                                    const struct glcnn_data_source *source);

/* The same with the data source of another kernel, which both have from then on: a gradient kernel
 * takes that of its forward kernel. All kernels that share one must be used in one thread. */
GLCNN_API glcnn_status glcnn_kernel_share_data_source(glcnn_kernel *kernel,
                                                      const glcnn_kernel *with);

/* The kernel's data source, NULL if it has none. Valid until another is set. */
GLCNN_API const struct glcnn_data_source *glcnn_kernel_data_source(const glcnn_kernel *kernel);

/* Reads all values again, immediately: work committed later uses them. After a failure all vectors
 * are as they were. reloadWeightsAndBiasesFromDataSource, reloadGammaAndBetaFromDataSource,
 * reloadMeanAndVarianceFromDataSource. Errors: as above, and for a kernel without data source. */
GLCNN_API glcnn_status glcnn_kernel_reload_from_data_source(glcnn_kernel *kernel);

#ifdef __cplusplus
}
#endif
#endif
