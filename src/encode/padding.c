/* Padding policies: sizes and offsets, spec 6. */
#include "glcnn/padding.h"

#include "encode/descriptor.h"

static int32_t style_of(uint32_t method)
{
    uint32_t size = method & GLCNN_PADDING_SIZE_MASK;
    return size == GLCNN_PADDING_SIZE_VALID_ONLY ? -1 : size == GLCNN_PADDING_SIZE_FULL ? 1 : 0;
}

static bool known(uint32_t method)
{
    uint32_t size = method & GLCNN_PADDING_SIZE_MASK;
    uint32_t rest = method & ~(uint32_t)(GLCNN_PADDING_ALIGN_MASK | GLCNN_PADDING_REMAINDER_MASK |
                                         GLCNN_PADDING_SIZE_MASK | GLCNN_PADDING_EXCLUDE_EDGES);
    return (method & GLCNN_PADDING_ALIGN_MASK) != GLCNN_PADDING_ALIGN_MASK && rest == 0 &&
           (size == GLCNN_PADDING_SIZE_VALID_ONLY || size == GLCNN_PADDING_SIZE_SAME ||
            size == GLCNN_PADDING_SIZE_FULL);
}

static bool usable(uint32_t method, uint32_t source_size, uint32_t window, uint32_t stride)
{
    return known(method) && source_size && window && stride && source_size <= INT32_MAX / 4 &&
           window <= INT32_MAX / 4 && stride <= INT32_MAX / 4;
}

glcnn_status glcnn_padding_resolve(uint32_t method, bool vertical, uint32_t source_size,
                                   uint32_t window, uint32_t stride, uint32_t *result_size,
                                   int32_t *offset)
{
    if (!result_size || !offset || !usable(method, source_size, window, stride))
        return GLCNN_INVALID_ARGUMENT;
    int32_t n = (int32_t)source_size, K = (int32_t)window, s = (int32_t)stride;
    int32_t D = floor_quotient(n + style_of(method) * (K - 1) + s - 1, s);
    if (D < 1)
        return GLCNN_INVALID_ARGUMENT;
    int32_t extra = (D - 1) * s + K - n;
    uint32_t right =
        vertical ? GLCNN_PADDING_REMAINDER_TO_BOTTOM_LEFT : GLCNN_PADDING_REMAINDER_TO_TOP_RIGHT;
    int32_t left[] = {
        [GLCNN_PADDING_ALIGN_CENTERED] = (extra + (method & right ? 0 : 1)) / 2,
        [GLCNN_PADDING_ALIGN_TOP_LEFT] = extra,
        [GLCNN_PADDING_ALIGN_BOTTOM_RIGHT] = 0,
    };
    *result_size = (uint32_t)D;
    *offset = K / 2 - left[method & GLCNN_PADDING_ALIGN_MASK];
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_padding_resolve_reverse(uint32_t method, uint32_t source_size, uint32_t window,
                                           uint32_t stride, uint32_t *result_size)
{
    if (!result_size || !usable(method, source_size, window, stride))
        return GLCNN_INVALID_ARGUMENT;
    int64_t D = ((int64_t)source_size - 1) * stride + 1 + style_of(method) * ((int64_t)window - 1);
    if (D < 1 || D > INT32_MAX)
        return GLCNN_INVALID_ARGUMENT;
    *result_size = (uint32_t)D;
    return GLCNN_SUCCESS;
}

uint32_t glcnn_padding_inverse(uint32_t method)
{
    uint32_t size = method & GLCNN_PADDING_SIZE_MASK;
    uint32_t rest = method & ~(uint32_t)GLCNN_PADDING_SIZE_MASK;
    if (size == GLCNN_PADDING_SIZE_VALID_ONLY)
        return rest | GLCNN_PADDING_SIZE_FULL;
    if (size == GLCNN_PADDING_SIZE_FULL)
        return rest | GLCNN_PADDING_SIZE_VALID_ONLY;
    return method;
}
