/* Finds a device and makes an OpenGL ES 3.1 context on it.
 *
 * The only part of the library that knows EGL, GBM and DRM; it knows nothing of GL objects.
 * Candidates come from a table of providers probed in order: the caller's current context (when
 * asked for), the EGL device of each DRM render node, GBM on each render node, then on card nodes,
 * then software, then EGL's default display. A candidate that fails is passed over and named in the
 * final error. DRM master is never taken.
 */
#ifndef GLCNN_PLATFORM_H
#define GLCNN_PLATFORM_H

#include "glcnn/status.h"

#define PLATFORM_TEXT  256
#define PLATFORM_ERROR 2048

struct platform_request {
    const char *device;     /* node path, index, driver name, "software", "default"; NULL:
                               GLCNN_DEVICE, or the first that works */
    bool use_current;       /* first try the context current on this thread, whatever `device` */
    bool forbid_software;   /* fail rather than run on a software rasteriser */
    bool debug;             /* ask for a debug context */
    glcnn_log_callback log; /* may be NULL */
    void *log_user;
};

/* One device that could be opened or was looked at; filled by platform_list. */
struct platform_candidate {
    char provider[16];          /* "current", "device", "gbm", "software", "default" */
    char node[64];              /* "/dev/dri/renderD128", "" where there is none */
    char driver[64];            /* kernel driver name: "panfrost", "v3d"; "" where there is none */
    bool software;              /* it rasterises on the CPU */
    bool usable;                /* a context of ES 3.1 was made */
    char detail[PLATFORM_TEXT]; /* renderer, or the reason why it cannot be used */
};

typedef struct platform_context platform_context;

/* A variable of the environment, all of which are read by this. NULL where it is not set, and where
 * the program runs with other rights than who started it has: another user or group, or
 * capabilities. */
const char *platform_variable(const char *name);

/* Opens the first candidate that works and makes its context current on this thread.
 * On failure *out is NULL and `error` names every candidate tried with its reason. A process forked
 * from one that opened or listed devices is refused: Mesa's threads are not in it, and it would
 * wait for them for ever. */
glcnn_status platform_open(const struct platform_request *request, platform_context **out,
                           char error[PLATFORM_ERROR]);

/* Destroys the context, unless it was the caller's. *context becomes NULL, and may be NULL. */
void platform_close(platform_context **context);
/* In a forked process: frees the memory and does not touch the driver. */
void platform_abandon(platform_context **context);

bool platform_make_current(platform_context *context);
void platform_release_current(platform_context *context);
bool platform_is_current(const platform_context *context);
/* A file descriptor that becomes readable once everything issued so far has finished, the caller's
 * to close; -1, with the reason, where there is none. The context must be current. */
int platform_fence_descriptor(const platform_context *context, char reason[PLATFORM_TEXT]);
/* What is issued from now on waits for the fence, on the GPU; the descriptor stays the caller's.
 * False: the driver cannot, or it is no sync file. The context must be current. */
bool platform_await_fence(const platform_context *context, int descriptor);

/* One plane of a dma-buf; the descriptor stays the caller's. */
struct platform_plane {
    int fd;
    uint32_t fourcc; /* of the plane alone: R8, GR88, .. of drm_fourcc.h */
    uint64_t modifier;
    uint32_t width, height, offset, pitch; /* pixels; bytes */
};

#define PLATFORM_MODIFIERS 64

/* NULL, or the extension that is missing to import any. */
const char *platform_lacks_dmabuf(const platform_context *context);
/* Modifiers with which planes of the format can be GL_TEXTURE_2D; 0: it cannot. Linear stands for
 * none too. */
size_t platform_dmabuf_modifiers(const platform_context *context, uint32_t fourcc,
                                 uint64_t modifiers[PLATFORM_MODIFIERS]);
/* The plane as an EGLImage, for glEGLImageTargetTexture2DOES; NULL, and why. Needs
 * platform_lacks_dmabuf to be NULL. */
void *platform_import(const platform_context *context, const struct platform_plane *plane,
                      char reason[PLATFORM_TEXT]);
void platform_release_import(const platform_context *context, void *image);

/* The same two of a buffer of Android's. */
const char *platform_lacks_hardware_buffer(const platform_context *context);
struct AHardwareBuffer;
void *platform_import_hardware_buffer(const platform_context *context,
                                      const struct AHardwareBuffer *buffer,
                                      char reason[PLATFORM_TEXT]);

/* Entry point of GL by name. The context must be current. NULL where there is none, but libglvnd
 * gives a stub for any name: the version and the extension strings tell what exists. */
typedef void (*platform_function)(void);
platform_function platform_symbol(const platform_context *context, const char *name);

/* What was chosen, and a message that says why. */
const struct platform_candidate *platform_chosen(const platform_context *context);
const char *platform_reason(const platform_context *context);
bool platform_is_robust(const platform_context *context);
/* Is it the caller's? */
bool platform_is_borrowed(const platform_context *context);

/* Looks at every candidate, in the order of probing, which numbers them for the choice by index;
 * the caller's current context is not among them. Returns how many there are; fills at most
 * `capacity` of them. Leaves the calling thread's current context as it was. */
size_t platform_list(struct platform_candidate *candidates, size_t capacity);

#endif
