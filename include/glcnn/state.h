/* States carry what a forward kernel leaves for its gradient: the configuration of the encode and
 * named float32 vectors (gradient_for_weights, mean ...). MPSState, MPSNNGradientState;
 * spec 4.
 *
 * Thread-safety: as its device (glcnn/device.h).
 */
#ifndef GLCNN_STATE_H
#define GLCNN_STATE_H

#include <glcnn/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_state glcnn_state;

/* Gives up the caller's reference; *state becomes NULL. */
GLCNN_API void glcnn_state_destroy(glcnn_state **state);

/* Makes a state of `count` vectors, at most GLCNN_STATE_VECTORS, by their names and lengths, all 0:
 * for the results of optimizers, and for weights from elsewhere. With `command_buffer` it is
 * temporary. The caller owns it. MPSCNNConvolutionWeightsAndBiasesState (weights, biases),
 * MPSCNNNormalizationGammaAndBetaState (gamma, beta), MPSCNNNormalizationMeanAndVarianceState
 * (mean, variance). Errors: GLCNN_INVALID_ARGUMENT, GLCNN_LIMIT_EXCEEDED, GLCNN_OUT_OF_MEMORY. */
#define GLCNN_STATE_VECTORS 8
GLCNN_API glcnn_status glcnn_state_create(glcnn_device *device,
                                          glcnn_command_buffer *command_buffer,
                                          const char *const *names, const size_t *lengths,
                                          size_t count, glcnn_state **state);

/* Read counts of temporary states, by the rules of images (image.h). */
GLCNN_API bool glcnn_state_is_temporary(const glcnn_state *state);
GLCNN_API uint32_t glcnn_state_read_count(const glcnn_state *state);
GLCNN_API glcnn_status glcnn_state_set_read_count(glcnn_state *state, uint32_t count);

/* Adds `amount` to the read count of each distinct temporary state of a batch that is not spent.
 * Returns the number of distinct states. MPSStateBatchIncrementReadCount. */
GLCNN_API size_t glcnn_state_batch_increment_read_count(glcnn_state *const *states, size_t count,
                                                        int32_t amount);

/* Clears what the state accumulates: the next encode into it starts from nothing. Vectors of
 * glcnn_state_create stay as they are. MPSCNNBatchNormalizationState's reset. */
GLCNN_API glcnn_status glcnn_state_reset(glcnn_state *state);

/* A vector of the state by its name; NULL if it has none, nothing has computed it yet, or the state is
 * temporary and its read count has come to 0. The state owns the buffer; its elements are float32. */
GLCNN_API glcnn_buffer *glcnn_state_vector(const glcnn_state *state, const char *name);

/* Gives a vector of the state `count` float32 values, immediately.
 * Errors: GLCNN_INVALID_ARGUMENT if the state has no such vector, it has another length, or it is a
 * kernel's own that a forward encode left there (glcnn_kernel_set_vector). */
GLCNN_API glcnn_status glcnn_state_set_vector(glcnn_state *state, const char *name,
                                              const float *values, size_t count);

/* Size of the forward source that the state was made for (MPSImageSizeEncodingState). */
GLCNN_API uint32_t glcnn_state_source_width(const glcnn_state *state);
GLCNN_API uint32_t glcnn_state_source_height(const glcnn_state *state);

#ifdef __cplusplus
}
#endif
#endif
