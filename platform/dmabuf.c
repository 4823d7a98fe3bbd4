/* Planes of dma-bufs as images of EGL. */
#define _POSIX_C_SOURCE 200809L

#include "platform/drm_abi.h"
#include "platform/egl.h"

#include <stdio.h>
#include <string.h>

#define MOST_FORMATS 512

struct dmabuf_entries {
    PFNEGLCREATEIMAGEKHRPROC create;
    PFNEGLDESTROYIMAGEKHRPROC destroy;
    PFNEGLQUERYDMABUFFORMATSEXTPROC formats;     /* NULL without EGL_EXT_.._modifiers */
    PFNEGLQUERYDMABUFMODIFIERSEXTPROC modifiers; /* likewise */
};

static struct dmabuf_entries entries_of(const struct platform_context *context)
{
    struct dmabuf_entries e = {
        .create = (PFNEGLCREATEIMAGEKHRPROC)eglGetProcAddress("eglCreateImageKHR"),
        .destroy = (PFNEGLDESTROYIMAGEKHRPROC)eglGetProcAddress("eglDestroyImageKHR"),
    };
    const char *extensions = eglQueryString(context->display, EGL_EXTENSIONS);
    if (!egl_list_has(extensions, "EGL_EXT_image_dma_buf_import_modifiers"))
        return e;
    e.formats = (PFNEGLQUERYDMABUFFORMATSEXTPROC)eglGetProcAddress("eglQueryDmaBufFormatsEXT");
    e.modifiers =
        (PFNEGLQUERYDMABUFMODIFIERSEXTPROC)eglGetProcAddress("eglQueryDmaBufModifiersEXT");
    return e;
}

const char *platform_lacks_dmabuf(const struct platform_context *context)
{
    static const char *const needed[] = {"EGL_KHR_image_base", "EGL_EXT_image_dma_buf_import"};
    const char *extensions = eglQueryString(context->display, EGL_EXTENSIONS);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!egl_list_has(extensions, needed[i]))
            return needed[i];
    return NULL;
}

static bool lists_format(const struct platform_context *context, const struct dmabuf_entries *e,
                         uint32_t fourcc)
{
    EGLint formats[MOST_FORMATS], count = 0;
    if (!e->formats(context->display, MOST_FORMATS, formats, &count))
        return false;
    for (EGLint i = 0; i < count; i++)
        if ((uint32_t)formats[i] == fourcc)
            return true;
    return false;
}

/* Those that a texture of GL_TEXTURE_2D can have. */
static size_t list_modifiers(const struct platform_context *context, const struct dmabuf_entries *e,
                             uint32_t fourcc, uint64_t modifiers[PLATFORM_MODIFIERS])
{
    EGLuint64KHR all[PLATFORM_MODIFIERS];
    EGLBoolean external[PLATFORM_MODIFIERS];
    EGLint found = 0;
    size_t count = 0;
    if (!e->modifiers(context->display, (EGLint)fourcc, PLATFORM_MODIFIERS, all, external, &found))
        return 0;
    for (EGLint i = 0; i < found; i++)
        if (!external[i])
            modifiers[count++] = all[i];
    return count;
}

/* A driver may know the format and list no modifiers: it then takes what has none. */
size_t platform_dmabuf_modifiers(const struct platform_context *context, uint32_t fourcc,
                                 uint64_t modifiers[PLATFORM_MODIFIERS])
{
    struct dmabuf_entries e = entries_of(context);
    if (platform_lacks_dmabuf(context) || (e.formats && !lists_format(context, &e, fourcc)))
        return 0;
    size_t count = e.modifiers ? list_modifiers(context, &e, fourcc, modifiers) : 0;
    if (count)
        return count;
    modifiers[0] = DRM_FORMAT_MOD_LINEAR;
    return 1;
}

/* Whether the modifier has to be said, where it can be imported. */
static bool find_modifier(const struct platform_context *context, const struct dmabuf_entries *e,
                          const struct platform_plane *plane, bool *said, char *reason)
{
    uint64_t modifiers[PLATFORM_MODIFIERS];
    size_t count = e->modifiers ? list_modifiers(context, e, plane->fourcc, modifiers) : 0;
    *said = false;
    for (size_t i = 0; i < count; i++)
        *said = *said || modifiers[i] == plane->modifier;
    if (*said || plane->modifier == DRM_FORMAT_MOD_LINEAR)
        return true;
    snprintf(reason, PLATFORM_TEXT, "the driver does not accept format %.4s with modifier 0x%llx",
             (const char *)&plane->fourcc, (unsigned long long)plane->modifier);
    return false;
}

void *platform_import(const struct platform_context *context, const struct platform_plane *plane,
                      char reason[PLATFORM_TEXT])
{
    struct dmabuf_entries e = entries_of(context);
    EGLint list[24];
    size_t n = 0;
    bool said;
    if (!find_modifier(context, &e, plane, &said, reason))
        return NULL;
    const EGLint always[] = {EGL_WIDTH,
                             (EGLint)plane->width,
                             EGL_HEIGHT,
                             (EGLint)plane->height,
                             EGL_LINUX_DRM_FOURCC_EXT,
                             (EGLint)plane->fourcc,
                             EGL_DMA_BUF_PLANE0_FD_EXT,
                             plane->fd,
                             EGL_DMA_BUF_PLANE0_OFFSET_EXT,
                             (EGLint)plane->offset,
                             EGL_DMA_BUF_PLANE0_PITCH_EXT,
                             (EGLint)plane->pitch};
    const EGLint modifier[] = {
        EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, (EGLint)(uint32_t)plane->modifier,
        EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT, (EGLint)(uint32_t)(plane->modifier >> 32)};
    memcpy(list, always, sizeof always);
    n = sizeof always / sizeof *always;
    if (said) {
        memcpy(list + n, modifier, sizeof modifier);
        n += sizeof modifier / sizeof *modifier;
    }
    list[n] = EGL_NONE;
    EGLImageKHR image =
        e.create(context->display, EGL_NO_CONTEXT, EGL_LINUX_DMA_BUF_EXT, NULL, list);
    if (image == EGL_NO_IMAGE_KHR)
        snprintf(reason, PLATFORM_TEXT, "the driver refused it: eglCreateImageKHR: %s",
                 egl_error());
    return image;
}

void platform_release_import(const struct platform_context *context, void *image)
{
    entries_of(context).destroy(context->display, image);
}
