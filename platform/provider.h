/* What the providers share with platform.c; private to platform/.
 *
 * A provider lists its candidates without opening a display, then opens one of them on demand.
 * Opening leaves the new context current on this thread. A provider that fails has taken back
 * everything it did, and left a message that says why.
 */
#ifndef GLCNN_PLATFORM_PROVIDER_H
#define GLCNN_PLATFORM_PROVIDER_H

#include "platform/platform.h"

#include <EGL/egl.h>
#include <EGL/eglext.h>

struct platform_provider;

struct candidate {
    struct platform_candidate info;
    const struct platform_provider *provider;
    const char *label;   /* names a candidate that has no node */
    EGLDeviceEXT device; /* EGL_NO_DEVICE_EXT where it is no EGL device */
    size_t index;        /* position in platform_list; CANDIDATE_UNLISTED for "current" */
    bool denied;         /* its node may not be opened by this user; info.detail says so */
};

#define CANDIDATE_UNLISTED ((size_t)-1)

struct candidate_list {
    struct candidate *items;
    size_t count, capacity;
    size_t listed; /* the next index */
    bool out_of_memory;
};

/* Appends an empty candidate of the provider, NULL when out of memory. The pointer is valid until
 * the next call. */
struct candidate *candidate_add(struct candidate_list *list,
                                const struct platform_provider *provider);

struct platform_context {
    EGLDisplay display;
    EGLSurface draw, read; /* the caller's; else one pbuffer, or EGL_NO_SURFACE */
    EGLContext context;
    const struct platform_provider *provider;
    bool borrowed;        /* the caller's: never destroyed here */
    bool private_display; /* nobody else can hold this display, so it may be terminated */
    bool uses_display;    /* counted among the users of a display that others could hold too */
    bool robust;
    void *native; /* what the provider's release takes back, after the display has gone */
    int fd;
    struct platform_candidate chosen;
    char reason[PLATFORM_TEXT]; /* what the provider says of it; then why it was chosen, too */
};

struct platform_provider {
    const char *name;
    bool software; /* its candidates rasterise on the CPU */
    void (*list)(const struct platform_request *request, struct candidate_list *list);
    bool (*open)(const struct candidate *candidate, const struct platform_request *request,
                 struct platform_context *context, char reason[PLATFORM_TEXT]);
    void (*release)(struct platform_context *context); /* NULL where there is nothing native */
};

extern const struct platform_provider provider_current;
extern const struct platform_provider provider_device;
extern const struct platform_provider provider_gbm;
extern const struct platform_provider provider_software;
extern const struct platform_provider provider_default;

#endif
