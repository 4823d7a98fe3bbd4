/* Recordings: a run of a graph as passes of a command buffer.
 *
 * Two words for two stages. A *recording* (recording.c, record.c) encodes each filter once, or more
 * often as a memory choice says, and holds the images and states that the passes use. A *compiled*
 * graph (compile.h) is a recording whose command buffer is planned: its passes are ordered, its
 * textures shared, its programs made; it is committed again by each execution. glcnn_graph_encode
 * makes only the first, into the user's command buffer.
 *
 * The same bits. Whatever the memory choice, a graph gives the same bits where the batch runs whole.
 * An encode that recomputes an image repeats what the first one had:
 *   - settings: those of the kernel, the fused neuron, the gradient option (prepare_settings), and
 *     whether readers may fuse the image, with how many bindings (set_fusion);
 *   - the state: a branch of the first encode's, which it reads and does not change (branch_state);
 *   - random draws: its passes refresh with the number of the first encode's (repeat_refreshed), and
 *     no encode is counted for it;
 *   - sums: no step that adds to a state, draws a loss or is wanted by the user is run again
 *     (may_run_again, recompute_model.c).
 * Producer fusion computes a fused pixel by the text that would have stored it, and rounds it to
 * float16 where that would have been stored. Exceptions, in each of which sums are the same up to
 * their order:
 *   - a batch in parts adds up gradients and statistics part by part;
 *   - fewer part sums (memory_choice.workspace), only where nothing else is within the budget;
 *   - on large GPUs epilogues (record/pass.h), which add up an image where it is stored, so not where
 *     it is fused or its pass is another ("reduced_where_stored"); and gradients of normalisations
 *     that are fused with coefficients from vectors, of which readers add up in another order
 *     ("gradients_recomputed" with "coefficients_vectors"). glcnn_graph_encode has neither. */
#ifndef GLCNN_RECORDING_H
#define GLCNN_RECORDING_H

#include "graph/graph.h"
#include "graph/memory_choice.h"
#include "graph/multi_tensor.h"
#include "image/image.h"
#include "encode/encode.h"
#include "encode/state.h"

/* A filter's encode or its collector's. */
struct record_step {
    size_t filter;
    bool collector;
    bool recomputes; /* the filter's image was made before (recompute.h) */
    uint32_t segment;
    size_t last_reader, last_loss_reader; /* steps that read last what this one makes, before it is
                                             recomputed; SIZE_MAX: none */
    size_t first_pass;                    /* in the command buffer; of the last sub-batch */
};

/* How an image was made when it was made first, or by the last encode so far. */
struct made_image {
    bool made, fused; /* fused: into its readers, with so many textures and buffers each */
    uint32_t textures, buffers;
    struct fusion_limits fusion_limits;
    uint32_t segment;
    size_t first_pass;             /* in the command buffer, of the first encode */
    uint64_t size;                 /* bytes */
    const struct storage *storage; /* held by the command buffer; only compared */
};

/* Images and states stay until it is freed. */
struct recording {
    const struct glcnn_graph *graph;
    struct glcnn_command_buffer *command_buffer;
    uint32_t batch, sub_batches;
    bool keeps_images;           /* graph_keeps_images */
    const bool *stored;          /* the choice's */
    struct glcnn_image **images; /* by image node; of the sub-batch under way where they are not
                                    kept whole */
    bool *whole;                 /* by image node: holds all images of the batch */
    struct glcnn_state **states; /* by filter, sub-batch, source */
    size_t most_sources;
    struct record_step *steps;
    size_t step_count;
    size_t step_passes;      /* passes of all steps; updates follow */
    size_t *last_reader;     /* by image node: step; SIZE_MAX: none */
    struct made_image *made; /* by image node */
    bool *stepped;           /* by filter: a gradient node whose update a multi-tensor step makes */
    bool *averaged;          /* by filter: a multi-tensor pass averages its statistics */
    struct multi_tensor_steps multi_tensor_steps;
    struct glcnn_buffer *gradient_sum; /* with a loss scale: of the squares of all gradients */
    bool skipped;                      /* the last step: its gradients are NaN */
    struct glcnn_buffer **accumulated; /* sums of the gradients of a group of executions */
    size_t accumulated_count;
    struct exchange *exchange; /* NULL: nothing is exchanged */
};

/* Lists the steps by the choice. To be freed in any case. */
glcnn_status recording_begin(struct recording *recording, const struct glcnn_graph *graph,
                             struct glcnn_command_buffer *command_buffer,
                             struct glcnn_image *const *sources,
                             const struct memory_choice *choice);
/* Frees what recording_begin made and the steps' images and states. */
void recording_end(struct recording *recording);
/* Releases an image that nothing reads any more. */
void recording_drop_image(struct recording *recording, size_t image);
/* Where the state of a filter is kept, NULL before it is made. A gradient node has one only for sums
 * apart from its forward filter's. */
struct glcnn_state **recording_state_at(const struct recording *recording, size_t filter,
                                        uint32_t sub_batch, size_t source);
struct glcnn_state *recording_state(const struct recording *recording, size_t filter,
                                    uint32_t sub_batch, size_t source);
/* Bytes of the vectors that a state has of its own. */
uint64_t recording_state_size(const struct glcnn_state *state);
/* Bytes of what it holds beside what its command buffer places: results, and vectors of states. */
uint64_t recording_held(const struct recording *recording);

/* ---- record.c ---- */

/* Records everything; `sources` are in the graph's order. Free the recording in any case. */
glcnn_status recording_make(struct recording *recording, const struct glcnn_graph *graph,
                            struct glcnn_command_buffer *command_buffer,
                            struct glcnn_image *const *sources, const struct memory_choice *choice);
void recording_free(struct recording *recording);

#endif
