/* Rounded weights: a pass finds the scales, and another rounds. Both run with each encode that reads weights, since
 * the vector changes between the executions of what is recorded. */
#include "encode/rounded_weights.h"

/* Parts that have a scale each, and their elements. */
struct parts {
    size_t count, each;
};

static void plan_scales(struct plan *plan, const struct vector_view *weights,
                        const struct vector_view *scales, size_t each, uint32_t levels)
{
    struct pass *pass = plan_pass(plan, "convolution/weight_scales.comp");
    pass_vector(pass, "weights", weights, VECTOR_READ);
    pass_vector(pass, "scales", scales, VECTOR_WRITE);
    pass_int(pass, "elements", (int32_t)each);
    pass_float(pass, "levels", (float)levels);
    pass_grid(pass, (uint32_t)scales->count, 1, 1);
    pass_local(pass, 64, 1, 1);
    pass->work = (uint32_t)each * 4;
}

static void plan_rounding(struct plan *plan, const struct vector_view *weights,
                          const struct vector_view *scales, const struct vector_view *rounded,
                          size_t each)
{
    struct pass *pass = plan_pass(plan, "convolution/rounded_weights.comp");
    pass_vector(pass, "weights", weights, VECTOR_READ);
    pass_vector(pass, "scales", scales, VECTOR_READ);
    pass_vector(pass, "rounded", rounded, VECTOR_WRITE);
    pass_int(pass, "elements", (int32_t)each);
    pass_grid(pass, (uint32_t)weights->count, 1, 1);
    pass_local(pass, 64, 1, 1);
}

/* False, and the plan fails: the weights have no such parts, or are more than a pass can read at once. */
static bool find_parts(struct plan *plan, const struct glcnn_kernel *owner,
                       const struct vector_view *weights, struct parts *parts)
{
    const size_t scales = owner->weight_rounding.scales;
    if (weights->count * 4 > plan->device->info.limits.storage_block_size)
        plan_fail(plan, GLCNN_UNSUPPORTED,
                  "%s: weights of %zu numbers are not rounded: a shader of this device reads %zu "
                  "bytes of a vector",
                  kernel_display_name(owner), weights->count,
                  (size_t)plan->device->info.limits.storage_block_size);
    else if (weights->count % scales)
        plan_fail(plan, GLCNN_INVALID_ARGUMENT,
                  "%s: %zu weights are to be rounded by %zu scales; expected scales that each "
                  "have as many",
                  kernel_display_name(owner), weights->count, scales);
    *parts = (struct parts){scales, weights->count / scales};
    return plan->status == GLCNN_SUCCESS;
}

void plan_rounded_weights(struct plan *plan, const struct glcnn_kernel *owner,
                          struct operation *operation)
{
    struct parts parts;
    const int index =
        owner->weight_rounding.levels ? descriptor_argument(operation->descriptor, "weights") : -1;
    if (index < 0 || !find_parts(plan, owner, &operation->vectors[index], &parts))
        return;
    const struct vector_view weights = operation->vectors[index],
                             scales = plan_workspace_vector(plan, parts.count),
                             rounded = plan_workspace_vector(plan, weights.count);
    plan_scales(plan, &weights, &scales, parts.each, owner->weight_rounding.levels);
    plan_rounding(plan, &weights, &scales, &rounded, parts.each);
    operation->vectors[index] = rounded;
}
