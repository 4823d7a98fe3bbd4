/* Neurons: a function applied to every value, and its gradient. MPSCNNNeuron and its subclasses,
 * MPSNNNeuronDescriptor; spec 7.3.
 *
 *   type          f(x)                             numbers that MPS's graph nodes start from
 *   none          x
 *   relu          x >= 0 ? x : a x                 a = 0
 *   linear        a x + b                          a = 1, b = 0
 *   sigmoid       1 / (1 + e^-x)
 *   hard_sigmoid  a x + b, held in 0 .. 1          a = 0.2, b = 0.5
 *   tanh          a tanh(b x)                      a = 1, b = 1
 *   absolute      |x|
 *   soft_plus     a log(1 + e^(b x))               a = 1, b = 1
 *   soft_sign     x / (1 + |x|)
 *   elu           x >= 0 ? x : a (e^x - 1)         a = 1
 *   prelu         x >= 0 ? x : A[c] x              A: a slope per channel, vector "neuron_data"
 *   relun         min(x >= 0 ? x : a x, b)         a = 1, b = 6
 *   power         (a x + b)^c                      a = 1, b = 0, c = 1
 *   exponential   c^(a x + b); c = -1 means e      a = 1, b = 0, c = -1
 *   logarithm     log_c(a x + b); c = -1 means e   a = 1, b = 0, c = -1
 *   gelu          x (1 + erf(x / sqrt 2)) / 2
 *   swish         x / (1 + e^(-a x))               a = 1
 *   clip          x held in a .. b                 a = 0, b = 1
 *   hard_swish    x (a x + b held in 0 .. 1)       a = 1/6, b = 0.5
 *   gelu_tanh     x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
 *   mish          x tanh(log(1 + e^x))
 *   selu          b (x >= 0 ? x : a (e^x - 1))     a = 1.6732632, b = 1.050701
 *   celu          x >= 0 ? x : a (e^(x / a) - 1)   a = 1; not 0
 *   thresholded_relu   x > a ? x : 0               a = 1
 *   erf           erf(x)
 *   floor, ceiling   the whole number at x or next below it, above it
 *   round         the whole number nearest to x, of two the even one
 *   sign          1, 0 or -1
 *   scale         A[c] x                           A: as of prelu
 *   shift         x + A[c]                         A: as of prelu
 *   fake_quantization   a (x / a rounded as by round, held in b .. c)   a = 1, b = -128, c = 127; a above 0
 *
 * The types' numbers are those of MPSCNNNeuronType, up to gelu, which later versions of MPS have;
 * those from swish on are not in MPS. A square root is power with c = 0.5, a reciprocal one with
 * c = -1.
 *
 * The gradient is dX = G f'(x), x the forward source. At a kink f' is that of the branch for
 * greater x, but 0 for absolute at 0, for relun at b and for thresholded_relu at a, and 1 for clip
 * at b. That of floor, ceiling, round and sign is 0; that of fake_quantization passes the rounding straight
 * through, 1 where x / a rounded is in b .. c and 0 elsewhere, as PyTorch's fake_quantize. It is a number
 * of 8 bits of scale a and zero point z with b = -128 - z and c = 127 - z. That of power is held in -3.4e38 .. 3.4e38 where
 * a x + b is 0, so that a G of 0 passes on 0 through the square root of 0. Outside its domain a function
 * gives NaN, as C's powf and logf do.
 *
 * A NaN in x makes f a NaN, and f' too unless that does not depend on x (and but for x^0 and 1^x,
 * which are 1 as in C). Where f' is 0 so is dX, even of an infinite G; relu, prelu and relun with a
 * slope of 0 are 0 at -infinity, and so are gelu, gelu_tanh, mish, hard_swish and swish (with a > 0)
 * and their derivatives.
 *
 * neuron_slope_gradient is what MPS lacks to train the numbers A of prelu, scale and shift, called
 * slopes. It takes what neuron_gradient takes but a destination, and adds, over the results of channel c,
 * gradient_for_neuron_data[c] += sum of G df/dA(x)  into the state that the neuron left:
 * df/dA(x) = x >= 0 ? 0 : x for prelu, x for scale, 1 for shift. With shares_data A is one number for
 * all channels, and so is its gradient, the sum over them. Encodes into one state add up until
 * glcnn_state_reset. Graphs train the slopes of a neuron's node as the weights of any layer
 * (glcnn/training.h). Slopes of a neuron that is fused into another kernel have no gradient: give that
 * neuron a node of its own to train them.
 *
 * Where a MPS client may differ (spec 12.12 to 12.14): the derivative of hard_sigmoid is a
 * where a x + b is in 0 .. 1, both included; the text of MPS asks for x itself. That of relun is 0
 * from b on, where the text has b. At exactly 0 relu, prelu, relun, elu and selu have the slope of the
 * right, as in MPS, 1 for relu. With c other than 0, which f does not use, they have that of the left,
 * 0 for relu, as PyTorch, TensorFlow and ONNX Runtime: networks of ONNX models and of the tool.
 *
 * A descriptor says what its four fields say: a field that is left out is 0, which suits relu,
 * none, sigmoid, absolute, soft_sign, prelu and those without numbers; glcnn_neuron_descriptor_default gives the
 * numbers above. In the same way parameters neuron_a, neuron_b and neuron_c of a kernel made by
 * name start at 0.
 */
#ifndef GLCNN_KERNELS_NEURON_H
#define GLCNN_KERNELS_NEURON_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum glcnn_neuron_type {
    GLCNN_NEURON_TYPE_NONE = 0,
    GLCNN_NEURON_TYPE_RELU = 1,
    GLCNN_NEURON_TYPE_LINEAR = 2,
    GLCNN_NEURON_TYPE_SIGMOID = 3,
    GLCNN_NEURON_TYPE_HARD_SIGMOID = 4,
    GLCNN_NEURON_TYPE_TANH = 5,
    GLCNN_NEURON_TYPE_ABSOLUTE = 6,
    GLCNN_NEURON_TYPE_SOFT_PLUS = 7,
    GLCNN_NEURON_TYPE_SOFT_SIGN = 8,
    GLCNN_NEURON_TYPE_ELU = 9,
    GLCNN_NEURON_TYPE_PRELU = 10,
    GLCNN_NEURON_TYPE_RELUN = 11,
    GLCNN_NEURON_TYPE_POWER = 12,
    GLCNN_NEURON_TYPE_EXPONENTIAL = 13,
    GLCNN_NEURON_TYPE_LOGARITHM = 14,
    GLCNN_NEURON_TYPE_GELU = 15,
    GLCNN_NEURON_TYPE_SWISH = 16,
    GLCNN_NEURON_TYPE_CLIP = 17,
    GLCNN_NEURON_TYPE_HARD_SWISH = 18,
    GLCNN_NEURON_TYPE_GELU_TANH = 19,
    GLCNN_NEURON_TYPE_MISH = 20,
    GLCNN_NEURON_TYPE_SELU = 21,
    GLCNN_NEURON_TYPE_CELU = 22,
    GLCNN_NEURON_TYPE_THRESHOLDED_RELU = 23,
    GLCNN_NEURON_TYPE_ERF = 24,
    GLCNN_NEURON_TYPE_FLOOR = 25,
    GLCNN_NEURON_TYPE_CEILING = 26,
    GLCNN_NEURON_TYPE_ROUND = 27,
    GLCNN_NEURON_TYPE_SIGN = 28,
    GLCNN_NEURON_TYPE_SCALE = 29,
    GLCNN_NEURON_TYPE_SHIFT = 30,
    GLCNN_NEURON_TYPE_FAKE_QUANTIZATION = 31,
    GLCNN_NEURON_TYPE_FORCE32 = 0x7fffffff
} glcnn_neuron_type;

/* MPSNNNeuronDescriptor. Slopes are a vector of the kernel, not a field. */
struct glcnn_neuron_descriptor {
    glcnn_neuron_type type;
    float a, b, c;
};

/* A neuron with the numbers of the table above; 0 where it has none, and for a type that is not in
 * it. */
GLCNN_API struct glcnn_neuron_descriptor glcnn_neuron_descriptor_default(glcnn_neuron_type type);

/* Whether a neuron of this type has slopes, the vector "neuron_data": prelu, scale and shift have.
 * False for a type that is not in the table. Thread-safety: safe. */
GLCNN_API bool glcnn_neuron_has_slopes(glcnn_neuron_type type);

/* Parameters beyond glcnn_kernel_properties. */
struct glcnn_neuron_parameters {
    struct glcnn_neuron_descriptor neuron;
    bool shares_data; /* one slope for all channels: "neuron_data" is one number */
};

/* The parameters of a neuron kernel, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_neuron_parameters *glcnn_neuron(glcnn_kernel *kernel);

/* Makes a kernel that applies `neuron`. `data` holds `count` slopes, one per channel that the
 * kernel will work on, for prelu, scale and shift; NULL and 0 otherwise, or to set them later ("neuron_data", 0
 * until then). A gradient kernel that follows a gradient state takes type, numbers and slopes from
 * it. The caller owns the kernel.
 * Errors: GLCNN_INVALID_ARGUMENT, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_neuron_create(glcnn_device *device,
                                           const struct glcnn_neuron_descriptor *neuron,
                                           const float *data, size_t count, glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_neuron_gradient_create(glcnn_device *device,
                                                    const struct glcnn_neuron_descriptor *neuron,
                                                    const float *data, size_t count,
                                                    glcnn_kernel **kernel);
GLCNN_API glcnn_status glcnn_neuron_slope_gradient_create(glcnn_device *device,
                                                          glcnn_kernel **kernel);

/* The result of a node that applies `neuron`, copied; NULL: none. Numbers that a field leaves out
 * are 0: glcnn_neuron_descriptor_default has the node's of MPS. NULL on failure, see glcnn/node.h.
 * MPSCNNNeuronNode. */
GLCNN_API glcnn_image_node *glcnn_neuron_node(glcnn_image_node *source,
                                              const struct glcnn_neuron_descriptor *neuron);

/* The same by type, with the numbers that it has; those to start from are in the table above.
 * MPSCNNNeuronReLUNode and so on, up to GeLU. */
GLCNN_API glcnn_image_node *glcnn_neuron_relu_node(glcnn_image_node *source, float a);
GLCNN_API glcnn_image_node *glcnn_neuron_linear_node(glcnn_image_node *source, float a, float b);
GLCNN_API glcnn_image_node *glcnn_neuron_sigmoid_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_hard_sigmoid_node(glcnn_image_node *source, float a,
                                                           float b);
GLCNN_API glcnn_image_node *glcnn_neuron_tanh_node(glcnn_image_node *source, float a, float b);
GLCNN_API glcnn_image_node *glcnn_neuron_absolute_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_soft_plus_node(glcnn_image_node *source, float a, float b);
GLCNN_API glcnn_image_node *glcnn_neuron_soft_sign_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_elu_node(glcnn_image_node *source, float a);
GLCNN_API glcnn_image_node *glcnn_neuron_relun_node(glcnn_image_node *source, float a, float b);
GLCNN_API glcnn_image_node *glcnn_neuron_power_node(glcnn_image_node *source, float a, float b,
                                                    float c);
GLCNN_API glcnn_image_node *glcnn_neuron_exponential_node(glcnn_image_node *source, float a,
                                                          float b, float c);
GLCNN_API glcnn_image_node *glcnn_neuron_logarithm_node(glcnn_image_node *source, float a, float b,
                                                        float c);
GLCNN_API glcnn_image_node *glcnn_neuron_gelu_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_swish_node(glcnn_image_node *source, float a);
GLCNN_API glcnn_image_node *glcnn_neuron_clip_node(glcnn_image_node *source, float a, float b);
GLCNN_API glcnn_image_node *glcnn_neuron_hard_swish_node(glcnn_image_node *source, float a,
                                                         float b);
GLCNN_API glcnn_image_node *glcnn_neuron_gelu_tanh_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_mish_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_selu_node(glcnn_image_node *source, float a, float b);
GLCNN_API glcnn_image_node *glcnn_neuron_celu_node(glcnn_image_node *source, float a);
GLCNN_API glcnn_image_node *glcnn_neuron_thresholded_relu_node(glcnn_image_node *source, float a);
GLCNN_API glcnn_image_node *glcnn_neuron_erf_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_floor_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_ceiling_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_round_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_sign_node(glcnn_image_node *source);
GLCNN_API glcnn_image_node *glcnn_neuron_fake_quantization_node(glcnn_image_node *source, float a,
                                                                float b, float c);

/* The types with slopes: `slopes` are `count` numbers, one for each channel, copied; NULL and 0: 0
 * until they are set. */
GLCNN_API glcnn_image_node *glcnn_neuron_prelu_node(glcnn_image_node *source, const float *slopes,
                                                    size_t count);
GLCNN_API glcnn_image_node *glcnn_neuron_scale_node(glcnn_image_node *source, const float *slopes,
                                                    size_t count);
GLCNN_API glcnn_image_node *glcnn_neuron_shift_node(glcnn_image_node *source, const float *slopes,
                                                    size_t count);

#ifdef __cplusplus
}
#endif
#endif
