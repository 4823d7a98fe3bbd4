/* States carry what a forward kernel leaves for its gradient: the configuration of the encode and
 * named float32 vectors (gradient_for_weights, mean ...). MPSState, MPSNNGradientState; spec
 * section 4.
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

/* Read counts of temporary states, by the rules of images (image.h). */
GLCNN_API bool glcnn_state_is_temporary(const glcnn_state *state);
GLCNN_API uint32_t glcnn_state_read_count(const glcnn_state *state);
GLCNN_API glcnn_status glcnn_state_set_read_count(glcnn_state *state, uint32_t count);

/* Clears what the state accumulates: the next encode into it starts from nothing.
 * MPSCNNBatchNormalizationState's reset. */
GLCNN_API glcnn_status glcnn_state_reset(glcnn_state *state);

/* A vector of the state by its name, NULL if the state has none of that name or nothing has
 * computed it yet. The state owns the buffer; its elements are float32. */
GLCNN_API glcnn_buffer *glcnn_state_vector(const glcnn_state *state, const char *name);

/* Size of the forward source that the state was made for (MPSImageSizeEncodingState). */
GLCNN_API uint32_t glcnn_state_source_width(const glcnn_state *state);
GLCNN_API uint32_t glcnn_state_source_height(const glcnn_state *state);

#ifdef __cplusplus
}
#endif
#endif
