/* Nodes: a network as a graph of filters on images, and the filters of its gradient.
 * MPSNNImageNode, MPSNNStateNode, MPSNNFilterNode, MPSNNGradientFilterNode; spec 10.1
 * to 10.3.
 *
 * A network owns its nodes; they live as long as it does. Nodes describe: nothing is computed and
 * no image exists before a graph (glcnn/graph.h) is made of them and executed. An image node is the
 * result of one filter, or an input where no filter makes it, and any number of filters read it.
 *
 * Typed constructors make the nodes, glcnn_pooling_max_node, glcnn_convolution_node and so on. Each
 * is declared beside its kernel in glcnn/kernels and documented with the node's defaults. It takes
 * sources and what must be chosen, and returns the result, so that one node is the next one's
 * source; those of losses return their filter. Numbers out of range are refused at once.
 *
 *   x = glcnn_convolution_node(x, &(struct glcnn_convolution_descriptor){...}, NULL);
 *   x = glcnn_pooling_max_node(glcnn_neuron_relu_node(x, 0), 2, 2, 2, 2);
 *
 * A node's parameters are those of its kernel: glcnn_filter_node_kernel gives it, and the typed
 * accessors and glcnn_kernel_properties serve as they do without a graph. All graphs of a network
 * use the nodes' kernels, so weights trained in one are those of every other.
 *
 * Functions that make nodes return NULL on failure and also when a node that they are given is
 * NULL, so that a network can be written down without a check after each line. The first failure
 * stays with the network: glcnn_network_status and glcnn_graph_create report it with its message.
 * A gradient that is refused is no such failure: the network has the nodes that it had and goes on;
 * the device has the message, and glcnn_graph_create too where it is then given a NULL.
 *
 * Not thread-safe: a network is used by the thread of its device.
 */
#ifndef GLCNN_NODE_H
#define GLCNN_NODE_H

#include <glcnn/data_source.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct glcnn_network glcnn_network;
typedef struct glcnn_state_node glcnn_state_node;

/* Makes an empty network. The caller owns it, and destroys it after the graphs made of it.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_network_create(glcnn_device *device, glcnn_network **network);

/* Destroys the network, its nodes and their kernels, but those that others have; *network becomes
 * NULL. */
GLCNN_API void glcnn_network_destroy(glcnn_network **network);

/* GLCNN_SUCCESS, or the status of the first node that could not be made; the device then has its
 * message as the last error again. */
GLCNN_API glcnn_status glcnn_network_status(const glcnn_network *network);

/* The device that the network was made on; NULL for NULL. */
GLCNN_API glcnn_device *glcnn_network_device(const glcnn_network *network);

/* ---- Images ---- */

/* An input of the network. `handle` names it for the user and in files, and is copied; it may be
 * NULL. MPSNNImageNode nodeWithHandle:, and MPSNNLabelsNode: labels are images here. */
GLCNN_API glcnn_image_node *glcnn_image_node_create(glcnn_network *network, const char *handle);

/* Properties of an image, to be set before a graph is made. Setting one of NULL does nothing; NULL
 * has the defaults. */

/* The image's format; default none: the graph's. */
GLCNN_API void glcnn_image_node_set_format(glcnn_image_node *node, glcnn_channel_format format);
GLCNN_API glcnn_channel_format glcnn_image_node_format(const glcnn_image_node *node);
/* Keeps the image after an execution: glcnn_graph_image gives it. Default false. */
GLCNN_API void glcnn_image_node_set_export_from_graph(glcnn_image_node *node, bool value);
GLCNN_API bool glcnn_image_node_export_from_graph(const glcnn_image_node *node);
/* Ends training graphs here: filters that read the image get gradient nodes, filters before it get
 * none. Default false. */
GLCNN_API void glcnn_image_node_set_stop_gradient(glcnn_image_node *node, bool value);
GLCNN_API bool glcnn_image_node_stop_gradient(const glcnn_image_node *node);

/* The handle; NULL if there is none. Of a gradient's result: that of the image whose gradient it
 * is, unless a node handler set another. */
GLCNN_API const char *glcnn_image_node_handle(const glcnn_image_node *node);
GLCNN_API glcnn_status glcnn_image_node_set_handle(glcnn_image_node *node, const char *handle);
/* The filter that makes the image; NULL for an input. */
GLCNN_API glcnn_filter_node *glcnn_image_node_filter(const glcnn_image_node *node);

/* ---- Filters ---- */

/* Makes a filter node by name, for tools and bindings; programs use the typed constructors.
 * `kernel` is a name of `glcnn kernels` that is no gradient and no optimizer. `settings` are
 * "NAME=VALUE" words as glcnn_setting_parse reads them, set one after the other: "kernel_width=3
 * kernel_height=3 padding=valid"; NULL for none. What they leave out stays to be set before the
 * graph is made. Defaults are the kernel's, but for those in which the MPS node's differ: pooling
 * has edge_mode=clamp, local contrast normalisation alpha=1, cross-channel, spatial and local
 * contrast normalisation a kernel size of 5, and neurons the values of spec 7.3. The padding policy
 * is the kernel's: same size unless set.
 *
 * Sources by kernel: one image; two for arithmetic, axis_concatenation, matrix_multiplication, the
 * reductions with weights, augmentation, whose second is image_numbers, and
 * crop_and_resize_bilinear_regions, whose second is region_image; any number for concatenation, which
 * come one after the other in the result, each from a channel that is a multiple of 4; predictions, labels
 * and optionally label weights for losses, whose result is the gradient (glcnn_filter_node_loss has
 * the loss).
 *
 * Kernels with weights must know their input channels (input_feature_channels, kernel sizes) before
 * weights are set; a batch normalisation's data source tells its channels. */
GLCNN_API glcnn_filter_node *glcnn_filter_node_create(glcnn_network *network, const char *kernel,
                                                      const char *settings,
                                                      glcnn_image_node *const *sources,
                                                      size_t source_count);

/* The same for one source, returning the result. */
GLCNN_API glcnn_image_node *glcnn_node(glcnn_image_node *source, const char *kernel,
                                       const char *settings);
/* The same for two sources. */
GLCNN_API glcnn_image_node *glcnn_node_binary(glcnn_image_node *primary,
                                              glcnn_image_node *secondary, const char *kernel,
                                              const char *settings);

/* A filter node of a kernel that there is already, as glcnn_filter_node_kernel gives that of another
 * node, of this network or of another one: the nodes have parameters and weights in common, as the
 * towers of a Siamese network, or training with dropout and inference without. Sources are counted
 * as above. The node keeps the kernel alive; the caller's reference stays the caller's.
 *
 * A graph that reaches several nodes of a kernel adds the gradients for its weights that all of
 * them leave, and one update follows, as glcnn/graph.h says; running statistics move on once for
 * each node, in the order of the nodes. Training styles are the nodes' own: what has style none
 * adds nothing, and gradients of style CPU and of style GPU are added apart.
 *
 * NULL, with the failure kept by the network: also for a kernel that is NULL, of another device, a
 * gradient, an optimizer or another that makes no image. */
GLCNN_API glcnn_filter_node *glcnn_filter_node_create_with_kernel(glcnn_network *network,
                                                                  glcnn_kernel *kernel,
                                                                  glcnn_image_node *const *sources,
                                                                  size_t source_count);
/* The same for one source, returning the result. */
GLCNN_API glcnn_image_node *glcnn_node_with_kernel(glcnn_image_node *source, glcnn_kernel *kernel);
/* The node that was made first of those of its network that have the node's kernel; NULL for that
 * one itself. */
GLCNN_API glcnn_filter_node *glcnn_filter_node_shared_with(const glcnn_filter_node *node);

/* The kernel, shared with the nodes that were made of it; the network keeps it. */
GLCNN_API glcnn_kernel *glcnn_filter_node_kernel(glcnn_filter_node *node);

/* The padding policy, GLCNN_PADDING_* bits: the size of the result and where windows start in the
 * source. Default GLCNN_PADDING_DEFAULT, the same size; GLCNN_PADDING_SIZE_VALID_ONLY takes whole
 * windows only; GLCNN_PADDING_CUSTOM has the pixels of the kernel's pad_left, pad_top and so on.
 * The kernel's property; MPSNNFilterNode's paddingPolicy.
 * Errors of setting: GLCNN_INVALID_ARGUMENT for NULL and for bits that mean nothing. */
GLCNN_API glcnn_status glcnn_filter_node_set_padding(glcnn_filter_node *node, uint32_t padding);
GLCNN_API uint32_t glcnn_filter_node_padding(const glcnn_filter_node *node);

/* The label: "KERNEL_NUMBER" with the number of such nodes before it, or what was set. It names the
 * node's weights in files; keep labels unique. */
GLCNN_API const char *glcnn_filter_node_label(const glcnn_filter_node *node);
GLCNN_API glcnn_status glcnn_filter_node_set_label(glcnn_filter_node *node, const char *label);

GLCNN_API glcnn_image_node *glcnn_filter_node_result(const glcnn_filter_node *node);
/* The loss of a loss node, one value an image unless its reduction is none; NULL for others. */
GLCNN_API glcnn_image_node *glcnn_filter_node_loss(const glcnn_filter_node *node);
GLCNN_API size_t glcnn_filter_node_source_count(const glcnn_filter_node *node);
/* A gradient node's sources: the gradient, then the forward source or result if its kernel reads
 * one. */
GLCNN_API glcnn_image_node *glcnn_filter_node_source(const glcnn_filter_node *node, size_t index);

/* The image nodes of a network, inputs and results, in the order of their making; NULL beyond the
 * last. */
GLCNN_API glcnn_image_node *glcnn_network_image(const glcnn_network *network, size_t index);
/* The filter nodes of a network in the order of their making; NULL beyond the last. */
GLCNN_API glcnn_filter_node *glcnn_network_filter(const glcnn_network *network, size_t index);

/* A number that stays the same as long as nothing is changed of which graphs are made: nodes, their formats, marks and
 * training styles, and their kernels' properties, parameters, data sources and rounding. Weights and other vectors do not count,
 * which a graph reads when it runs, nor do labels; a gradient node's kernel, which takes over what its forward kernel
 * has whenever it is encoded, counts as a node alone. Whoever keeps a graph makes it anew where the number differs. It
 * is of this process alone. NULL is a network without nodes. Not in MPS. */
GLCNN_API uint64_t glcnn_network_digest(const glcnn_network *network);

/* The inputs of a network are the images that no filter makes and one reads. Its outputs are the results that no
 * filter reads, and those that are marked by glcnn_image_node_set_export_from_graph. Both are in the order of
 * their making; losses, what they alone read, and gradients do not count. Writes at most `capacity`
 * of them to `nodes`, which may be NULL, and returns how many there are. A node's handle is its name in the file; its sizes are those
 * of the image that it is given. */
GLCNN_API size_t glcnn_network_inputs(const glcnn_network *network, glcnn_image_node **nodes,
                                      size_t capacity);
GLCNN_API size_t glcnn_network_outputs(const glcnn_network *network, glcnn_image_node **nodes,
                                       size_t capacity);

/* Puts nodes before a network, one that was read from a file for instance: all that read `input` read
 * `with` from then on, an image of the same network that does not depend on `input`, such as the result
 * of glcnn_image_normalization_node of an input that was made for it. The filters that `with` depends
 * on come first in the network's order, and in its files; labels stay. A record of an ONNX file
 * (glcnn/onnx.h) knows nothing of them: glcnn_onnx_write without one writes them.
 *
 * Errors: GLCNN_INVALID_ARGUMENT, and nothing has changed: a NULL, a node of another network, an
 * `input` that a filter makes or that `with` depends on, a filter of them that shares a kernel with one
 * that would come after it, a network of which a graph was made already. */
GLCNN_API glcnn_status glcnn_image_node_replace_input(glcnn_image_node *input,
                                                      glcnn_image_node *with);

/* ---- States ---- */

/* The state that a filter leaves, of its first source: NULL if its kernel makes none. */
GLCNN_API glcnn_state_node *glcnn_filter_node_result_state(glcnn_filter_node *node);
/* The filter that leaves the state. */
GLCNN_API glcnn_filter_node *glcnn_state_node_filter(const glcnn_state_node *node);
/* Keeps the state after an execution: glcnn_graph_state gives it. Default false. */
GLCNN_API void glcnn_state_node_set_export_from_graph(glcnn_state_node *node, bool value);
GLCNN_API bool glcnn_state_node_export_from_graph(const glcnn_state_node *node);
/* Lets a convolution transpose take sizes from a convolution's state (spec 7.2). It then leaves no
 * state of its own and has no gradient. */
GLCNN_API glcnn_status glcnn_filter_node_set_source_state(glcnn_filter_node *node,
                                                          glcnn_state_node *state);
/* The state that was set; NULL if none was. */
GLCNN_API glcnn_state_node *glcnn_filter_node_source_state(const glcnn_filter_node *node);

/* ---- Training ---- */

/* MPSNNTrainingStyle: who updates a node's weights after its gradient. */
typedef enum glcnn_training_style {
    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_NONE = 0, /* nobody: their gradient is not computed */
    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_CPU = 1,  /* the data source's CPU callbacks */
    GLCNN_TRAINING_STYLE_UPDATE_DEVICE_GPU = 2,  /* the data source's update, while recording */
    GLCNN_TRAINING_STYLE_FORCE32 = 0x7fffffff
} glcnn_training_style;

/* Of a forward node with weights; default GPU. Its gradient nodes follow it. */
GLCNN_API glcnn_status glcnn_filter_node_set_training_style(glcnn_filter_node *node,
                                                            glcnn_training_style style);
GLCNN_API glcnn_training_style glcnn_filter_node_training_style(const glcnn_filter_node *node);

/* The filter whose gradient node this is, and of which of its sources it makes the gradient
 * (*source, which may be NULL); NULL for a node that is no gradient node. */
GLCNN_API glcnn_filter_node *glcnn_filter_node_forward(const glcnn_filter_node *node,
                                                       size_t *source);

/* The gradient filter nodes of a filter, given the gradients of its results (one): one node for
 * each source that has a gradient, in source order, at most `capacity` of them into `nodes`. They
 * copy the filter's parameters and label, and are wired to its forward source, result and state.
 * Returns how many there are; 0: refused, and then no node is made and `nodes` has NULLs.
 *
 *   unary filters                        1
 *   arithmetic, axis_concatenation,      2: of the primary, of the secondary source
 *     matrix_multiplication
 *   concatenation                        one a source: slices of the gradient
 *   loss, gradient filters, reductions   refused: there is none
 *     without gradient, and augmentation
 *     and image_normalization
 *   convolution, fully connected and     refused: a neuron of its own, or a transposed
 *     convolution transpose with a         convolution, has one
 *     fused neuron or sub-pixels
 *
 * MPS has no gradient of division, convolution transpose, slice, reshape and reductions; here they
 * have. gradientFiltersWithSources:, gradientFiltersWithSource:.
 * A filter may have gradient nodes of several gradients: glcnn/graph.h tells what becomes of its
 * weights. */
GLCNN_API size_t glcnn_gradient_filters_with_sources(glcnn_filter_node *node,
                                                     glcnn_image_node *const *gradients,
                                                     size_t gradient_count,
                                                     glcnn_filter_node **nodes, size_t capacity);
GLCNN_API size_t glcnn_gradient_filters_with_source(glcnn_filter_node *node,
                                                    glcnn_image_node *gradient,
                                                    glcnn_filter_node **nodes, size_t capacity);
/* The same where there is one gradient filter; NULL: refused, also where there are more.
 * gradientFilterWithSources:, gradientFilterWithSource:. */
GLCNN_API glcnn_filter_node *glcnn_gradient_filter_with_sources(glcnn_filter_node *node,
                                                                glcnn_image_node *const *gradients,
                                                                size_t gradient_count);
GLCNN_API glcnn_filter_node *glcnn_gradient_filter_with_source(glcnn_filter_node *node,
                                                               glcnn_image_node *gradient);

/* Called for each gradient node as it is made, with the forward node, the forward source image and
 * the gradient that the node takes; `forward` and `forward_source` are NULL for an addition that
 * sums the gradients of an image that several filters read. It may set stop_gradient or a handle
 * of the node's result. */
typedef void (*glcnn_node_handler)(void *user, glcnn_filter_node *gradient_node,
                                   glcnn_filter_node *forward, glcnn_image_node *forward_source,
                                   glcnn_image_node *gradient);

/* Makes the gradient nodes of everything that `last` depends on, in reverse order, summing where an
 * image has several readers. `last` is the last node of the network, normally its loss; `gradient`
 * is the gradient of its result, or NULL: its result itself (which of a loss is the gradient).
 * Stores the nodes whose result nothing reads, at most `capacity`, and returns how many there are;
 * 0: refused, and then the nodes that the handler was shown are gone and `nodes` has NULLs. A graph
 * made of their results, not needed, trains. trainingGraphWithSourceGradient:nodeHandler:. */
GLCNN_API size_t glcnn_training_graph_with_source_gradient(glcnn_filter_node *last,
                                                           glcnn_image_node *gradient,
                                                           glcnn_node_handler handler, void *user,
                                                           glcnn_filter_node **nodes,
                                                           size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
