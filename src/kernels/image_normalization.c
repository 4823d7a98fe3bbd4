/* Normalisation of pictures by given means and deviations: spec 7.15. */
#include "kernels/image_normalization.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "encode/window.h"
#include "kernels/pointwise.h"

/* ---- Pass ---- */

static size_t length(const struct operation *o, size_t index)
{
    (void)index;
    return o->images[SOURCE].channels;
}

static void plan(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_pointwise_result(plan, o, "normalization/image_normalization.comp");
    pass_vector(pass, "mean", &o->vectors[MEAN], VECTOR_READ);
    pass_vector(pass, "deviation", &o->vectors[DEVIATION], VECTOR_READ);
}

static const struct argument arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "mean", .place = PLACE_KERNEL, .input = true, .optional = true},
    {.name = "deviation",
     .place = PLACE_KERNEL,
     .input = true,
     .optional = true,
     .neutral = 1,
     .values = VALUES_POSITIVE},
    {0}};

const struct glcnn_descriptor glcnn_kernel_image_normalization = {
    .name = "image_normalization",
    .text = "each channel less its mean, divided by its deviation: of pictures",
    .family = "image_normalization",
    .without_gradient = "pictures are not trained; let its result stop gradients",
    .flags = STOPS_GRADIENT,
    .arguments = arguments,
    .length = length,
    .implementations = pointwise_implementations,
    .plan = plan,
};

/* ---- Constructor ---- */

static glcnn_status check_values(glcnn_device *device, const float *mean, const float *deviation,
                                 size_t count)
{
    char m[NUMBER_TEXT], d[NUMBER_TEXT];
    if ((!mean || !deviation) && count > 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "image_normalization: %s is NULL",
                           mean ? "deviation" : "mean");
    for (size_t c = 0; c < count; c++)
        if (!isfinite(mean[c]) || !isfinite(deviation[c]) || deviation[c] <= 0)
            return device_fail(device, GLCNN_INVALID_ARGUMENT,
                               "image_normalization: channel %zu has a mean of %s and a deviation "
                               "of %s; both must be finite and the deviation greater than 0",
                               c, number_format(m, (double)mean[c]),
                               number_format(d, (double)deviation[c]));
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_image_normalization_create(glcnn_device *device, const float *mean,
                                              const float *deviation, size_t count,
                                              glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_image_normalization, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    status = check_values(device, mean, deviation, count);
    if (status == GLCNN_SUCCESS && count)
        status = glcnn_kernel_set_vector(*kernel, "mean", mean, count);
    if (status == GLCNN_SUCCESS && count)
        status = glcnn_kernel_set_vector(*kernel, "deviation", deviation, count);
    return kernel_finish(kernel, status);
}
