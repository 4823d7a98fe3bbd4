/* Nodes of neurons. */
#include "glcnn/kernels/neuron.h"

#include "graph/nodes.h"

static glcnn_image_node *make(glcnn_image_node *source,
                              const struct glcnn_neuron_descriptor *neuron, const float *slopes,
                              size_t count)
{
    glcnn_kernel *kernel = NULL;
    if (!unary_device(source))
        return NULL;
    glcnn_status status = glcnn_neuron_create(unary_device(source), neuron, slopes, count, &kernel);
    return unary_node(source, unary_constructed(source, status, kernel));
}

glcnn_image_node *glcnn_neuron_node(glcnn_image_node *source,
                                    const struct glcnn_neuron_descriptor *neuron)
{
    return make(source, neuron, NULL, 0);
}

#define DEFINE_NODE_SLOPES(NAME, TYPE)                                                             \
    glcnn_image_node *glcnn_neuron_##NAME##_node(glcnn_image_node *source, const float *slopes,    \
                                                 size_t count)                                     \
    {                                                                                              \
        return make(source, &(struct glcnn_neuron_descriptor){.type = GLCNN_NEURON_TYPE_##TYPE},   \
                    slopes, count);                                                                \
    }
#define DEFINE_NODE(NAME, TYPE)                                                                    \
    glcnn_image_node *glcnn_neuron_##NAME##_node(glcnn_image_node *source)                         \
    {                                                                                              \
        return glcnn_neuron_node(                                                                  \
            source, &(struct glcnn_neuron_descriptor){.type = GLCNN_NEURON_TYPE_##TYPE});          \
    }
#define DEFINE_NODE_A(NAME, TYPE)                                                                  \
    glcnn_image_node *glcnn_neuron_##NAME##_node(glcnn_image_node *source, float a)                \
    {                                                                                              \
        return glcnn_neuron_node(                                                                  \
            source, &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_##TYPE, a, 0, 0});         \
    }
#define DEFINE_NODE_AB(NAME, TYPE)                                                                 \
    glcnn_image_node *glcnn_neuron_##NAME##_node(glcnn_image_node *source, float a, float b)       \
    {                                                                                              \
        return glcnn_neuron_node(                                                                  \
            source, &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_##TYPE, a, b, 0});         \
    }
#define DEFINE_NODE_ABC(NAME, TYPE)                                                                \
    glcnn_image_node *glcnn_neuron_##NAME##_node(glcnn_image_node *source, float a, float b,       \
                                                 float c)                                          \
    {                                                                                              \
        return glcnn_neuron_node(                                                                  \
            source, &(struct glcnn_neuron_descriptor){GLCNN_NEURON_TYPE_##TYPE, a, b, c});         \
    }

DEFINE_NODE_A(relu, RELU)
DEFINE_NODE_AB(linear, LINEAR)
DEFINE_NODE(sigmoid, SIGMOID)
DEFINE_NODE_AB(hard_sigmoid, HARD_SIGMOID)
DEFINE_NODE_AB(tanh, TANH)
DEFINE_NODE(absolute, ABSOLUTE)
DEFINE_NODE_AB(soft_plus, SOFT_PLUS)
DEFINE_NODE(soft_sign, SOFT_SIGN)
DEFINE_NODE_A(elu, ELU)
DEFINE_NODE_SLOPES(prelu, PRELU)
DEFINE_NODE_AB(relun, RELUN)
DEFINE_NODE_ABC(power, POWER)
DEFINE_NODE_ABC(exponential, EXPONENTIAL)
DEFINE_NODE_ABC(logarithm, LOGARITHM)
DEFINE_NODE(gelu, GELU)
DEFINE_NODE_A(swish, SWISH)
DEFINE_NODE_AB(clip, CLIP)
DEFINE_NODE_AB(hard_swish, HARD_SWISH)
DEFINE_NODE(gelu_tanh, GELU_TANH)
DEFINE_NODE(mish, MISH)
DEFINE_NODE_AB(selu, SELU)
DEFINE_NODE_A(celu, CELU)
DEFINE_NODE_A(thresholded_relu, THRESHOLDED_RELU)
DEFINE_NODE(erf, ERF)
DEFINE_NODE(floor, FLOOR)
DEFINE_NODE(ceiling, CEILING)
DEFINE_NODE(round, ROUND)
DEFINE_NODE(sign, SIGN)
DEFINE_NODE_SLOPES(scale, SCALE)
DEFINE_NODE_SLOPES(shift, SHIFT)
