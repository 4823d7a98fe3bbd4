/* Padding policies: how a returning encode sizes its result and where it puts the first window.
 * MPSNNPadding, MPSNNPaddingMethod; spec 6, golden values spec 13.
 *
 * Where a MPS client may differ (spec 12.7, 12.8 and 12.33):
 *   - top_left puts all pixels that are missing, and leaves all that are left over, at the top
 *     left; bottom_right starts windows at pixel 0. For pixels left over MPS's sign is not known;
 *   - valid only and centred leaves some of what is left over on either side, as MPS's sample code
 *     does; PyTorch and TensorFlow start at pixel 0, which bottom_right does too;
 *   - every kernel starts with GLCNN_PADDING_DEFAULT; MPS says that its default varies.
 */
#ifndef GLCNN_PADDING_H
#define GLCNN_PADDING_H

#include <glcnn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values as MPSNNPaddingMethod's; one of each of the first three groups, or-ed. */
enum {
    GLCNN_PADDING_ALIGN_CENTERED = 0,
    GLCNN_PADDING_ALIGN_TOP_LEFT = 1,
    GLCNN_PADDING_ALIGN_BOTTOM_RIGHT = 2,
    GLCNN_PADDING_ALIGN_MASK = 3,

    GLCNN_PADDING_REMAINDER_TO_TOP_LEFT = 0,
    GLCNN_PADDING_REMAINDER_TO_TOP_RIGHT = 4,
    GLCNN_PADDING_REMAINDER_TO_BOTTOM_LEFT = 8,
    GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT = 12,
    GLCNN_PADDING_REMAINDER_MASK = 12,

    GLCNN_PADDING_SIZE_VALID_ONLY = 0,
    GLCNN_PADDING_SIZE_SAME = 0x10,
    GLCNN_PADDING_SIZE_FULL = 0x20,
    GLCNN_PADDING_SIZE_MASK = 0x7f0,

    GLCNN_PADDING_CUSTOM = 1 << 14, /* by the pixels of glcnn_addressing's `pad`; size and alignment
                                       count for nothing. MPSNNPaddingMethodCustom */
    GLCNN_PADDING_EXCLUDE_EDGES = 1 << 15, /* Caffe's average pooling, spec 7.1 */

    GLCNN_PADDING_DEFAULT = GLCNN_PADDING_SIZE_SAME,
    GLCNN_PADDING_TENSORFLOW_SAME =
        GLCNN_PADDING_SIZE_SAME | GLCNN_PADDING_REMAINDER_TO_BOTTOM_RIGHT
};

/* Size of the result of a forward kernel along one axis (spec 6.2) and the offset of its first
 * window (spec 6.3): `source_size` pixels, a window of `window` pixels (dilated), a stride.
 * `vertical` picks the remainder bit of Y instead of X.
 * Errors: GLCNN_INVALID_ARGUMENT for an unknown method, custom, a zero argument, or a window larger
 * than the source with valid-only sizing. */
GLCNN_API glcnn_status glcnn_padding_resolve(uint32_t method, bool vertical, uint32_t source_size,
                                             uint32_t window, uint32_t stride,
                                             uint32_t *result_size, int32_t *offset);

/* Size of the result of an enlarging kernel (is_backwards) along one axis, 6.2. */
GLCNN_API glcnn_status glcnn_padding_resolve_reverse(uint32_t method, uint32_t source_size,
                                                     uint32_t window, uint32_t stride,
                                                     uint32_t *result_size);

/* The policy of the gradient of a kernel: valid-only and full change places. */
GLCNN_API uint32_t glcnn_padding_inverse(uint32_t method);

#ifdef __cplusplus
}
#endif
#endif
