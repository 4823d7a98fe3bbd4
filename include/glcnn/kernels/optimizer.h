/* Optimizers: stochastic gradient descent, RMSProp and Adam. MPSNNOptimizer and its subclasses;
 * spec 9.
 *
 * Each raw gradient g0 of a value w is prepared in this order:
 *   g = apply_gradient_clipping ? clamp(g0, gradient_clip_min, gradient_clip_max) : g0
 *   g = g * gradient_rescale
 *   l1: g += regularization_scale * sign(w), sign(0) = 0;    l2: g += regularization_scale * w
 * and then, with the state vectors that the caller made of zeros and keeps:
 *   stochastic gradient descent, first = momentum m (mu = momentum_scale)
 *     without m    w -= learning_rate * g
 *     with m       m = mu*m + learning_rate * g;   w -= m
 *     Nesterov     m = mu*m + g;                   w -= learning_rate * (g + mu*m)
 *   RMSProp, first = sum of squares s
 *     s = decay*s + (1 - decay)*g^2;   w -= learning_rate * g / (sqrt(s) + epsilon)
 *   Adam, first = first moment m, second = second moment v
 *     t += 1;   lr_t = learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t)
 *     m = beta1*m + (1 - beta1)*g;   v = beta2*v + (1 - beta2)*g^2
 *     w -= lr_t * m / (sqrt(v) + epsilon)
 *
 * All of them take w - learning_rate*weight_decay*w for w before anything else, the decoupled decay
 * of AdamW and SGDW; MPS has none, which is the default, 0. With decays_weights_only the
 * "weights" of a layer decay, and not its biases, gamma, beta, slopes of neurons or learned images: in
 * graphs, and in glcnn_optimizer_encode_states. glcnn_optimizer_encode does not know what its vector
 * is, and lets it decay. It counts as it is when a step is recorded.
 *
 * Clipping here is by value; that by the norm of all gradients of a graph comes before it
 * (gradient_clip_norm, glcnn/graph.h). It holds infinities and leaves a NaN as it is: it goes on to the value and its state
 * vectors, where it can be seen. A value that is not finite counts in g with l1 or l2 only.
 *
 * In a graph with a loss scale (glcnn/graph.h) an element whose gradient is NaN keeps its value and
 * its state: the step is skipped.
 *
 * Each encode is one dispatch over the whole vector, after a copy where the result is another
 * buffer than the values. A command buffer that is committed again takes the parameters as they
 * are at that commit, so a learning rate changed between commits counts from the next one on; the
 * first commit takes those at encode. Adam's time step advances once for each encode and once for
 * each encode that a later commit repeats. An optimizer that serves several vectors of one step
 * would advance with each of them: glcnn_optimizer_encode_states is one encode for the weights and
 * biases, or gamma and beta, of a layer; otherwise give each vector an optimizer of its own.
 *
 * Where a MPS client may differ (spec 12.26 and 12.34): l1 adds sign(w), not 1. Compared with
 * PyTorch Adam's epsilon stands beside sqrt(v) before the correction by beta2^t.
 */
#ifndef GLCNN_KERNELS_OPTIMIZER_H
#define GLCNN_KERNELS_OPTIMIZER_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPSNNRegularizationType. */
typedef enum glcnn_regularization_type {
    GLCNN_REGULARIZATION_TYPE_NONE = 0,
    GLCNN_REGULARIZATION_TYPE_L1 = 1,
    GLCNN_REGULARIZATION_TYPE_L2 = 2,
    GLCNN_REGULARIZATION_TYPE_FORCE32 = 0x7fffffff
} glcnn_regularization_type;

/* MPSNNOptimizerDescriptor and the properties of its users. Those of other optimizers are not
 * used. */
struct glcnn_optimizer_parameters {
    float learning_rate;                           /* default 0.001 */
    float gradient_rescale;                        /* default 1 */
    bool apply_gradient_clipping;                  /* default false */
    float gradient_clip_max, gradient_clip_min;    /* default the largest float and its negative */
    glcnn_regularization_type regularization_type; /* default none */
    float regularization_scale;                    /* default 0 */

    float weight_decay;       /* decoupled, at least 0, default 0; not in MPS */
    bool decays_weights_only; /* default false; not in MPS */

    float momentum_scale;       /* default 0; stochastic gradient descent */
    bool use_nesterov_momentum; /* default false; stochastic gradient descent */
    double decay;               /* 0 .. 1, default 0.9; RMSProp */
    double beta1, beta2;        /* 0 .. 1, defaults 0.9 and 0.999; Adam */
    float epsilon;              /* default 1e-8; RMSProp and Adam */
    uint32_t time_step;         /* steps made, default 0; Adam */
};

/* The parameters of an optimizer, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_optimizer_parameters *glcnn_optimizer(glcnn_kernel *kernel);

/* Each makes an optimizer that the caller owns.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_optimizer_stochastic_gradient_descent_create(glcnn_device *device,
                                                                          float learning_rate,
                                                                          glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_optimizer_rms_prop_create(glcnn_device *device, float learning_rate,
                                                       glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_optimizer_adam_create(glcnn_device *device, float learning_rate,
                                                   glcnn_kernel **kernel);

/* Records one step on float32 vectors of equal length. `first` and `second` are the state vectors
 * named above, updated in place: NULL where the optimizer has none, and NULL for stochastic
 * gradient descent without momentum. `result` receives the new values and may be `values`.
 * Errors: GLCNN_INVALID_ARGUMENT when a vector is missing, differs in length, or is written by the
 * step and given for another argument too. */
GLCNN_API glcnn_status glcnn_optimizer_encode(glcnn_command_buffer *command_buffer,
                                              glcnn_kernel *kernel, glcnn_buffer *gradient,
                                              glcnn_buffer *values, glcnn_buffer *first,
                                              glcnn_buffer *second, glcnn_buffer *result);

/* Records one step on the parameters of a layer, held by states:
 *
 *   place   gradient_state            source_state, result_state
 *   0       gradient_for_weights      weights
 *   1       gradient_for_biases       biases
 *   0       gradient_for_gamma        gamma
 *   1       gradient_for_beta         beta
 *
 * `first` and `second` have `count` state vectors, named as above, one a place; NULL where the
 * optimizer has none. With count 1 the parameter of place 1 is not updated, but copied to another
 * result_state that has it too. Stochastic gradient descent takes NULL for `first`: no momentum,
 * and place 1 is updated if source_state has it; count is ignored.
 *
 * result_state may be source_state; source_state may be gradient_state, as batch normalisation has
 * all in one. Vectors that a forward encode left in a state are the kernel's own and not to be
 * written: make the result with glcnn_state_create or glcnn_kernel_encode_export_state, and give
 * the kernels its values with glcnn_kernel_encode_reload_state. The next gradient encode into
 * gradient_state starts from nothing. Temporary gradient and source states lose one read, once if
 * they are one.
 *
 * encodeToCommandBuffer:convolutionGradientState:..., :batchNormalizationState:...,
 * :batchNormalizationGradientState:... Errors: GLCNN_INVALID_ARGUMENT when a state lacks a vector,
 * and those of glcnn_optimizer_encode; then nothing is recorded and no time step counted. */
GLCNN_API glcnn_status glcnn_optimizer_encode_states(
    glcnn_command_buffer *command_buffer, glcnn_kernel *kernel, glcnn_state *gradient_state,
    glcnn_state *source_state, glcnn_buffer *const *first, glcnn_buffer *const *second,
    size_t count, glcnn_state *result_state);

#ifdef __cplusplus
}
#endif
#endif
