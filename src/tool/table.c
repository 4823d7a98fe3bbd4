/* The table of MPS classes in include/README.md, from what the library says of its kernels; and the
 * classes of MPS that are no kernel of their own, with what stands for each. */
#include "tool.h"

#include <stdio.h>
#include <string.h>

/* Classes that describe others or carry data. The rest of the table makes itself. */
static const struct {
    const char *classes, *instead;
} others[] = {
    {"MPSKernel, MPSCNNKernel, MPSCNNBinaryKernel, MPSCNNGradientKernel",
     "bases: glcnn_kernel is one type for all kernels"},
    {"MPSCNNPooling, MPSCNNPoolingGradient",
     "bases: what pooling kernels share is struct glcnn_pooling_parameters"},
    {"MPSCNNNeuron's subclasses, MPSCNNNeuronReLU to MPSCNNNeuronLogarithm",
     "neuron_type of the kernel neuron tells them apart"},
    {"MPSCNNArithmetic, MPSCNNArithmeticGradient",
     "bases: what arithmetic kernels share is struct glcnn_arithmetic_parameters"},
    {"MPSCNNUpsampling, MPSCNNUpsamplingGradient",
     "bases: what up-sampling kernels share is struct glcnn_upsampling_parameters"},
    {"MPSNNReduceUnary, MPSNNReduceBinary",
     "bases: what reductions share is struct glcnn_reduce_parameters"},
    {"MPSNNOptimizer, MPSNNOptimizerDescriptor",
     "base: what optimizers share is struct glcnn_optimizer_parameters"},
    {"MPSState, MPSNNGradientState, MPSNNBinaryGradientState and the states of single classes",
     "glcnn_state is one type for all states; its vectors have names"},
    {"MPSCNNConvolutionDescriptor, MPSCNNDepthWiseConvolutionDescriptor, "
     "MPSCNNSubPixelConvolutionDescriptor",
     "struct glcnn_convolution_descriptor: groups and sub_pixel_scale_factor"},
    {"MPSCNNLossLabels, MPSCNNLossDescriptor, MPSCNNLossDataDescriptor",
     "images of labels, weights and loss in struct glcnn_encode, and struct glcnn_loss_parameters"},
};

#define OTHERS (sizeof others / sizeof *others)

void print_other_classes(void)
{
    output("MPS classes that are no kernels of their own\n");
    for (size_t i = 0; i < OTHERS; i++)
        output("  %s\n    %s\n", others[i].classes, others[i].instead);
}

static bool is_gradient(const struct glcnn_kernel_info *info)
{
    for (size_t i = 0; i < glcnn_kernel_count(); i++) {
        const char *gradient = glcnn_kernel_info_at(i)->gradient;
        if (gradient && strcmp(gradient, info->name) == 0)
            return true;
    }
    return false;
}

/* What images may be stored as; every image of any kernel may be either. */
static const char *formats_of(const struct glcnn_kernel_info *info)
{
    for (size_t i = 0; i < info->argument_count; i++)
        if (info->arguments[i].is_image)
            return "float32, float16";
    return "float32 vectors";
}

static const char *class_of(const struct glcnn_kernel_info *info)
{
    return info->mps_class ? info->mps_class : "not in MPS";
}

static void print_row(const struct glcnn_kernel_info *info)
{
    const struct glcnn_kernel_info *gradient =
        info->gradient ? glcnn_kernel_info_by_name(info->gradient) : NULL;
    output("| %s | `%s` | ", class_of(info), info->name);
    if (gradient)
        output("`%s`, %s", gradient->name, class_of(gradient));
    else
        output("none: %s", info->without_gradient);
    output(" | %s |\n", formats_of(info));
}

void print_class_table(void)
{
    output(
        "| MPS class | kernel | gradient, its MPS class | formats |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < glcnn_kernel_count(); i++)
        if (!is_gradient(glcnn_kernel_info_at(i)))
            print_row(glcnn_kernel_info_at(i));
    output("\n| other MPS classes | what stands for them |\n| --- | --- |\n");
    for (size_t i = 0; i < OTHERS; i++)
        output("| %s | %s |\n", others[i].classes, others[i].instead);
}
