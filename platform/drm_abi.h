/* What is used of the kernel's <drm/drm.h> and <drm/drm_fourcc.h>, which some systems have only with
 * libdrm. Names and values are the kernel's, and never change.
 */
#ifndef GLCNN_PLATFORM_DRM_ABI_H
#define GLCNN_PLATFORM_DRM_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define DRM_MAJOR 226

struct drm_version {
    int version_major, version_minor, version_patchlevel;
    size_t name_len;
    char *name;
    size_t date_len;
    char *date;
    size_t desc_len;
    char *desc;
};

#define DRM_IOCTL_VERSION     _IOWR('d', 0x00, struct drm_version)
#define DRM_IOCTL_DROP_MASTER _IO('d', 0x1f)

#define FOURCC(A, B, C, D)                                                                         \
    ((uint32_t)(A) | (uint32_t)(B) << 8 | (uint32_t)(C) << 16 | (uint32_t)(D) << 24)

#define DRM_FORMAT_R8       FOURCC('R', '8', ' ', ' ')
#define DRM_FORMAT_GR88     FOURCC('G', 'R', '8', '8')
#define DRM_FORMAT_NV12     FOURCC('N', 'V', '1', '2')
#define DRM_FORMAT_NV21     FOURCC('N', 'V', '2', '1')
#define DRM_FORMAT_NV16     FOURCC('N', 'V', '1', '6')
#define DRM_FORMAT_YUYV     FOURCC('Y', 'U', 'Y', 'V')
#define DRM_FORMAT_UYVY     FOURCC('U', 'Y', 'V', 'Y')
#define DRM_FORMAT_XRGB8888 FOURCC('X', 'R', '2', '4')
#define DRM_FORMAT_ARGB8888 FOURCC('A', 'R', '2', '4')
#define DRM_FORMAT_XBGR8888 FOURCC('X', 'B', '2', '4')
#define DRM_FORMAT_ABGR8888 FOURCC('A', 'B', '2', '4')
#define DRM_FORMAT_RGB888   FOURCC('R', 'G', '2', '4')
#define DRM_FORMAT_BGR888   FOURCC('B', 'G', '2', '4')

#define DRM_FORMAT_MOD_LINEAR 0ULL

#endif
