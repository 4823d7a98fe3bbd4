/* What is used of the kernel's <drm/drm.h>, <drm/drm_mode.h> and <drm/drm_fourcc.h>, which some systems
 * have only with libdrm. Names and values are the kernel's, and never change.
 */
#ifndef SUPPORT_DRM_H
#define SUPPORT_DRM_H

#include <stdint.h>
#include <sys/ioctl.h>

struct drm_mode_create_dumb {
    uint32_t height, width, bpp, flags;
    uint32_t handle, pitch; /* these and the size are the answer */
    uint64_t size;
};

struct drm_prime_handle {
    uint32_t handle, flags;
    int32_t fd;
};

#define DRM_IOCTL_MODE_CREATE_DUMB   _IOWR('d', 0xb2, struct drm_mode_create_dumb)
#define DRM_IOCTL_PRIME_HANDLE_TO_FD _IOWR('d', 0x2d, struct drm_prime_handle)

#define FOURCC(A, B, C, D)                                                                         \
    ((uint32_t)(A) | (uint32_t)(B) << 8 | (uint32_t)(C) << 16 | (uint32_t)(D) << 24)

#define DRM_FORMAT_NV12     FOURCC('N', 'V', '1', '2')
#define DRM_FORMAT_NV21     FOURCC('N', 'V', '2', '1')
#define DRM_FORMAT_NV16     FOURCC('N', 'V', '1', '6')
#define DRM_FORMAT_YUYV     FOURCC('Y', 'U', 'Y', 'V')
#define DRM_FORMAT_UYVY     FOURCC('U', 'Y', 'V', 'Y')
#define DRM_FORMAT_XRGB8888 FOURCC('X', 'R', '2', '4')
#define DRM_FORMAT_ARGB8888 FOURCC('A', 'R', '2', '4')
#define DRM_FORMAT_RGB888   FOURCC('R', 'G', '2', '4')
#define DRM_FORMAT_BGR888   FOURCC('B', 'G', '2', '4')

#define DRM_FORMAT_MOD_LINEAR 0ULL

#endif
