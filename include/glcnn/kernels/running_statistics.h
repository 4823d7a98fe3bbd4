/* Running averages of batch statistics: the means and variances that batch normalisation takes at
 * inference, kept up to date on the device. MPS leaves them to the data source's
 * updateMeanAndVariance; spec 7.4.
 *
 *   running_mean     = (1 - momentum) running_mean     + momentum mean
 *   running_variance = (1 - momentum) running_variance + momentum variance M / (M - 1)
 *
 * mean and variance are those of a batch as batch_normalization_statistics leaves them in its
 * state, the variance divided by the count of pixels M = `samples`. M / (M - 1) makes it unbiased,
 * as PyTorch keeps it; with samples 1 it counts as it is. momentum is the share of the batch,
 * PyTorch's sense, so a cumulative average of t batches takes momentum 1/t at batch t.
 *
 * Encode it once the whole batch has gone through the statistics: any time after the first
 * batch_normalization that reads them. Running vectors may be the vectors "mean" and "variance"
 * of the batch_normalization kernel that serves inference (glcnn_kernel_vector). A command buffer
 * that is committed again takes momentum and samples as they are at that commit.
 */
#ifndef GLCNN_KERNELS_RUNNING_STATISTICS_H
#define GLCNN_KERNELS_RUNNING_STATISTICS_H

#include <glcnn/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

struct glcnn_running_statistics_parameters {
    double momentum;  /* share of the batch, 0 .. 1, default 0.1 */
    uint64_t samples; /* M: pixels per channel in the batch, default 1 */
};

/* The kernel's parameters, to read and to change; NULL for another kernel. */
GLCNN_API struct glcnn_running_statistics_parameters *
glcnn_running_statistics(glcnn_kernel *kernel);

/* Makes a kernel that the caller owns. Errors: GLCNN_INVALID_ARGUMENT for a momentum or samples out
 * of range, GLCNN_OUT_OF_MEMORY. */
GLCNN_API glcnn_status glcnn_batch_normalization_running_statistics_create(glcnn_device *device,
                                                                           double momentum,
                                                                           uint64_t samples,
                                                                           glcnn_kernel **kernel);

/* Records one update of `running_mean` and `running_variance`. All four are float32 vectors of one
 * length. Errors: GLCNN_INVALID_ARGUMENT when one is missing, differs in length, or is updated and
 * given for another argument too. */
GLCNN_API glcnn_status glcnn_batch_normalization_running_statistics_encode(
    glcnn_command_buffer *command_buffer, glcnn_kernel *kernel, glcnn_buffer *mean,
    glcnn_buffer *variance, glcnn_buffer *running_mean, glcnn_buffer *running_variance);

#ifdef __cplusplus
}
#endif
#endif
