/* Training weights on the device: a ready-made data source that steps an optimizer.
 *
 * MPS leaves updates to the data sources of its users. This one serves where the update is a plain
 * optimizer step: weights stay on the device, in the kernel's own vectors, and are changed there;
 * batch normalisation's running averages too. An execution of a graph is one step for each kernel,
 * however many losses reach it and however many nodes have it. Kernels whose optimizers are set
 * alike, all parameters the same, are stepped by one pass in an execution; setting them apart costs
 * a pass a vector from then on, and the next execution records the graph again. Values are written
 * and read with glcnn_kernel_set_vector and glcnn_buffer_read of glcnn_kernel_vector.
 *
 * What trains: weights and biases of convolutions, fully connected layers and convolution
 * transposes, gamma and beta of batch and instance normalisations, neuron_data of neurons of type
 * prelu, scale and shift that are nodes of their own (glcnn/kernels/neuron.h), and values of learned
 * images (glcnn/kernels/learned_image.h).
 *
 * Weights are 0 until they are set, by hand, by a data source, a checkpoint or
 * glcnn_network_initialise; glcnn_graph_execute refuses layers of zeros that can never be trained.
 */
#ifndef GLCNN_TRAINING_H
#define GLCNN_TRAINING_H

#include <glcnn/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Draws weights to begin with: the vector "weights" of every filter node that has one and a
 * gradient (convolution, fully connected, convolution transpose) and that no data source gives
 * values; those that nodes share once, as of the node that was made first. What it held is lost.
 * Biases, gamma, beta, statistics, slopes of neurons and learned images stay as they
 * are: neutral unless they were set. Normalisations whose channels the filters before them tell have theirs from here
 * on, so that a network that never ran can be saved.
 *
 * Weights are uniform in [-b, b):
 *   b = sqrt(6 / inputs)               before a rectifier or no neuron; He et al. 2015
 *   b = sqrt(6 / (inputs + outputs))   before any other neuron; Glorot and Bengio 2010
 *   inputs     weights of one output: kernel_width kernel_height input_feature_channels / groups
 *   outputs    kernel_width kernel_height output_feature_channels / groups; of a fully connected
 *              layer output_feature_channels
 * The neuron that follows is the layer's own, or the first on the way from its result through the
 * filters that were made first to read it, up to the next layer with weights; normalisation,
 * pooling and additions lie on the way. A rectifier f grows, f(4) > 2 f(1), and holds back what is
 * negative, |f(-4)| < f(4) / 2: relu, relun, elu, soft_plus, prelu while a is small.
 *
 * Weight by weight, in the order of the vector, layer by layer, in the order of the nodes, the next
 * number z of splitmix64 (Steele, Lea and Flood 2014), whose state begins with `seed`, gives
 *   b (2 floor(z / 2^40) / 2^24 - 1)
 * in float32: 6 / inputs, the root of that and the product are rounded, each to the nearest, and
 * nothing else: the same bits on every machine.
 *
 * Call it when all layers are made. Errors: the failure that the network keeps;
 * GLCNN_INVALID_ARGUMENT for a layer that does not know its input channels, and then no weights are
 * changed; GLCNN_OUT_OF_MEMORY, GLCNN_DEVICE_LOST. */
GLCNN_API glcnn_status glcnn_network_initialise(glcnn_network *network, uint64_t seed);

struct glcnn_training_descriptor {
    /* Of glcnn/kernels/optimizer.h; copied, so that each kernel's weights have one of their own.
     * Properties of the copy: glcnn_kernel_optimizer. */
    glcnn_kernel *optimizer;
    /* Share of a batch in running averages, 0 .. 1; 0: the kernel's own, 0.1 unless it was set. That of
     * an ONNX file is its own: Keras writes 0.001, too little for some hundred steps. */
    double running_momentum;
    uint32_t feature_channels; /* of the source, where the kernel cannot tell (data_source.h) */
};

/* Makes the kernel, one with weights, train with an optimizer: sets its data source. Vectors keep
 * their values. Errors: GLCNN_INVALID_ARGUMENT for a kernel without weights or an optimizer that is
 * none, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status
glcnn_kernel_set_training(glcnn_kernel *kernel, const struct glcnn_training_descriptor *descriptor);

/* Lets some output channels of a convolution or a fully connected layer learn, `count` of them from
 * `first` on, which is a multiple of 4; count 0: all, the default. Gradients for the weights and
 * biases of the others are not made, nor is what an optimizer keeps of them: both are vectors of what
 * learns alone, as a data source sees them and glcnn_kernel_optimizer_vector gives them. Weights and
 * biases of the others keep their bits, and the data gradient is of all. Such a layer is stepped by
 * passes of its own. To be called before the kernel has a data source and before graphs are made of
 * its nodes. A copy of the kernel trains all channels.
 * Errors: GLCNN_INVALID_ARGUMENT for another kernel, GLCNN_INVALID_STATE where it trains already; a
 * graph refuses channels that there are not, and channels of a layer of several groups of several
 * channels, when it is compiled. */
GLCNN_API glcnn_status glcnn_kernel_set_training_channels(glcnn_kernel *kernel, uint32_t first,
                                                          uint32_t count);

/* Has a layer compute with its weights rounded, as a runtime of int8 has them: to whole multiples of a scale, each of
 * `scales` equal parts of the vector by its own. With as many as output channels, whose weights lie one after
 * the other, it is
 *   rounded(k, i) = scale(k) round(weights(k, i) / scale(k)),  scale(k) = max over i of |weights(k, i)| / levels,
 * 1 / levels where all are 0, with ties to even: fake quantisation, symmetric, of 127 levels in int8. The vector itself
 * stays as it is, and so does the gradient for it, which is that of the rounded weights (the straight-through estimator).
 * levels 0: not rounded, the default. It holds for encodes from then on, of graphs for what is compiled from then on;
 * gradients that a graph makes of the layer go by it too. No file has it, and a copy of the kernel does not round.
 * Errors: GLCNN_INVALID_ARGUMENT for a kernel without weights, for more levels than GLCNN_WEIGHT_LEVELS_MAX and for no
 * scale; an encode refuses scales that do not divide the weights. */
#define GLCNN_WEIGHT_LEVELS_MAX 32767
GLCNN_API glcnn_status glcnn_kernel_set_weight_rounding(glcnn_kernel *kernel, uint32_t levels,
                                                        uint32_t scales);

/* glcnn_kernel_set_training for every filter node of the network that has weights, no data source and
 * a training style other than none: a layer of that style is frozen, and needs no memory of an
 * optimizer. Batch and instance normalisations whose channels are not known get them from the filters
 * before them, through concatenations and arithmetic too, as far as those tell without the sizes of
 * images; the first encode tells all. */
GLCNN_API glcnn_status glcnn_network_set_training(
    glcnn_network *network, const struct glcnn_training_descriptor *descriptor);

/* From a loss to a graph that trains, in one call. A whole training:
 *
 *   glcnn_network_initialise(network, seed);
 *   glcnn_optimizer_adam_create(device, 0.001f, &optimizer);
 *   glcnn_training_graph_create(loss, optimizer, NULL, &graph);
 *   glcnn_kernel_destroy(&optimizer);
 *   for (each batch) {
 *       write the images of the batch into sources;
 *       glcnn_graph_execute(graph, sources, NULL, NULL);
 *   }
 *
 * Makes the gradient nodes of all that `loss` depends on, up to images that stop gradients
 * (glcnn_training_graph_with_source_gradient); lets each layer with weights that has such a node,
 * no data source and the training style GPU train with a copy of `optimizer`
 * (glcnn_kernel_set_training, running_momentum 0.1); and makes the graph, each of whose executions
 * is one step. Layers that have a data source keep it. Those steps are the long way, for whoever
 * wants other gradients, other optimizers for other layers, or handles of nodes.
 *
 * loss        a filter node of a loss kernel. Steps go against the gradient of the sum over the
 *             batch, whatever its reduction; of the mean, as elsewhere, where its weight is
 *             1 / images (glcnn/kernels/loss.h)
 * optimizer   of glcnn/kernels/optimizer.h; copied. NULL: layers train by the data sources that
 *             they have
 * descriptor  NULL: the defaults. What else the graph has: further results (scores, say; `results`
 *             may be NULL where result_count is 0), format, memory budget
 * graph       the caller owns it; the network must outlive it. Its first result is the loss image
 *             (glcnn_filter_node_loss), needed; then come those of the descriptor, in which order
 *             glcnn_graph_encode returns them. Sources begin with those of the predictions; labels
 *             follow: glcnn_graph_source
 *
 * Several losses: glcnn_training_graph_create_with_losses, one step for their sum. Two calls of this
 * one make two graphs: each execution of either is a step of its own for the layers they share,
 * which go on training as the first call made them.
 * Errors: GLCNN_INVALID_ARGUMENT (a node that is no loss, a kernel that is no optimizer, no layer
 * that would be trained, what glcnn_training_graph_with_source_gradient and glcnn_graph_create
 * refuse), GLCNN_OUT_OF_MEMORY, the failure that the network keeps. Then *graph is NULL, and the
 * network has the nodes and the data sources that it had. */
GLCNN_API glcnn_status glcnn_training_graph_create(glcnn_filter_node *loss, glcnn_kernel *optimizer,
                                                   const struct glcnn_graph_descriptor *descriptor,
                                                   glcnn_graph **graph);

/* The same for several losses, `loss_count` of them and at least one: an execution is one step
 * against the gradient of their sum, in which each counts as much as the `weight` of its kernel
 * says (glcnn/kernels/loss.h). Gradients of an image that several losses depend on are added first,
 * so that layers before it go backward once. The first results of the graph are the loss images, in
 * the order of `losses`; then come those of the descriptor. Errors: the same, and
 * GLCNN_INVALID_ARGUMENT for NULL among the losses, one that is given twice, or one of another
 * network. */
GLCNN_API glcnn_status glcnn_training_graph_create_with_losses(
    glcnn_filter_node *const *losses, size_t loss_count, glcnn_kernel *optimizer,
    const struct glcnn_graph_descriptor *descriptor, glcnn_graph **graph);

/* The optimizer that steps the kernel's weights, to read and to change; NULL if it is not trained
 * so. The kernel owns it. */
GLCNN_API glcnn_kernel *glcnn_kernel_optimizer(const glcnn_kernel *kernel);

/* How many state vectors the optimizer keeps for one of the kernel's vectors ("weights"): 0 to 2; 0
 * where the kernel is not trained so, or the vector is none that is stepped. */
GLCNN_API unsigned glcnn_kernel_optimizer_vector_count(const glcnn_kernel *kernel,
                                                       const char *vector);

/* A state vector of the optimizer for one of the kernel's vectors ("weights"): the optimizer's
 * `first` (index 0) or `second` (index 1). Made of zeros if there is none yet; NULL where this
 * optimizer has none, or the vector's length is not known yet. The kernel owns it. */
GLCNN_API glcnn_buffer *glcnn_kernel_optimizer_vector(const glcnn_kernel *kernel,
                                                      const char *vector, unsigned index);

#ifdef __cplusplus
}
#endif
#endif
