/* Native fences, on a stand-in for EGL that keeps to the letter of EGL_ANDROID_native_fence_sync: a
 * fence has a descriptor once its commands were flushed, EGL takes over the descriptor that it makes a
 * fence of, and what is no sync file makes none. tests/drm/fences.c is the same on a driver that has
 * them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl31.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "glcnn/device.h"
#include "tests/fixture.h"

/* ---- The stand-in: one fence at a time ---- */

static struct {
    bool lacks_wait, refuses; /* EGL_KHR_wait_sync; every fence */
    bool exists, flushed, waited;
    int descriptor; /* that it was given, EGL's then; -1: none */
    int sync_file;  /* the descriptor that stands for one */
} egl;

static EGLSyncKHR create_sync(EGLDisplay display, EGLenum type, const EGLint *attributes)
{
    (void)display;
    bool given = attributes && attributes[0] == EGL_SYNC_NATIVE_FENCE_FD_ANDROID;
    CU_ASSERT_EQUAL(type, EGL_SYNC_NATIVE_FENCE_ANDROID);
    CU_ASSERT_FALSE(egl.exists);
    if (egl.refuses)
        return EGL_NO_SYNC_KHR;
    egl.exists = true;
    egl.flushed = false;
    egl.descriptor = given ? attributes[1] : -1;
    CU_ASSERT(!given || (egl.descriptor >= 0 && egl.descriptor != egl.sync_file));
    return &egl;
}

static EGLBoolean destroy_sync(EGLDisplay display, EGLSyncKHR sync)
{
    (void)display;
    CU_ASSERT(sync == &egl && egl.exists);
    CU_ASSERT(egl.descriptor < 0 || close(egl.descriptor) == 0);
    egl.exists = false;
    return EGL_TRUE;
}

static EGLint duplicate(EGLDisplay display, EGLSyncKHR sync)
{
    (void)display;
    CU_ASSERT(sync == &egl && egl.exists);
    return egl.flushed ? eventfd(1, EFD_CLOEXEC) : EGL_NO_NATIVE_FENCE_FD_ANDROID;
}

static EGLint wait_sync(EGLDisplay display, EGLSyncKHR sync, EGLint flags)
{
    (void)display;
    CU_ASSERT(sync == &egl && egl.exists && egl.descriptor >= 0 && flags == 0);
    egl.waited = true;
    return EGL_TRUE;
}

static void(GL_APIENTRY *flush_commands)(void);

static void GL_APIENTRY flush(void)
{
    egl.flushed = true;
    flush_commands();
}

static const struct {
    const char *name;
    void (*entry)(void);
} entries[] = {{"eglCreateSyncKHR", (void (*)(void))create_sync},
               {"eglDestroySyncKHR", (void (*)(void))destroy_sync},
               {"eglDupNativeFenceFDANDROID", (void (*)(void))duplicate},
               {"eglWaitSyncKHR", (void (*)(void))wait_sync},
               {"glFlush", flush}};

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort(); /* devices are opened outside of cases, where there are no assertions */
    return found;
}

__eglMustCastToProperFunctionPointerType eglGetProcAddress(const char *name)
{
    __eglMustCastToProperFunctionPointerType (*real)(const char *name);
    *(void **)&real = next("eglGetProcAddress");
    if (strcmp(name, "glFlush") == 0)
        flush_commands = real(name);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strcmp(name, entries[i].name) == 0)
            return entries[i].entry;
    return real(name);
}

/* Those of the driver but the two of fences, and these. */
const char *eglQueryString(EGLDisplay display, EGLint name)
{
    static char list[8192];
    const char *(*real)(EGLDisplay display, EGLint name);
    *(void **)&real = next("eglQueryString");
    const char *text = real(display, name);
    if (name != EGL_EXTENSIONS || display == EGL_NO_DISPLAY || !text)
        return text;
    snprintf(list, sizeof list, "EGL_ANDROID_native_fence_sync %s",
             egl.lacks_wait ? "" : "EGL_KHR_wait_sync ");
    for (const char *word = text; *word; word += strspn(word, " ")) {
        size_t length = strcspn(word, " "), used = strlen(list);
        if (used + length + 2 > sizeof list)
            abort();
        if (strncmp(word, "EGL_KHR_wait_sync", length) != 0)
            snprintf(list + used, sizeof list - used, "%.*s ", (int)length, word);
        word += length;
    }
    return list;
}

/* The kernel's answer for what stands for a sync file. */
int ioctl(int descriptor, unsigned long request, ...)
{
    int (*real)(int descriptor, unsigned long request, ...);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (descriptor == egl.sync_file && request == SYNC_IOC_FILE_INFO)
        return 0;
    *(void **)&real = next("ioctl");
    return real(descriptor, request, argument);
}

static int make_sync_file(unsigned signalled)
{
    egl.lacks_wait = egl.refuses = egl.waited = false;
    return egl.sync_file = eventfd(signalled, EFD_CLOEXEC);
}

/* ---- Cases ---- */

static glcnn_command_buffer *commit(glcnn_image *image)
{
    glcnn_command_buffer *commands = make_commands();
    glcnn_image *result = NULL;
    glcnn_kernel *slice = kernel_with("slice", NULL);
    glcnn_kernel_properties(slice)->result_is_ordinary = true;
    GOOD(glcnn_kernel_encode_returning(commands, slice, &(struct glcnn_encode){.source = image},
                                       &result, NULL));
    GOOD(glcnn_command_buffer_commit(commands));
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&slice);
    return commands;
}

/* Before the flush that makes it a fence has no descriptor. */
static void commits_give_fences_out(void)
{
    glcnn_image *image = make_image(1, 1, 2, 2);
    glcnn_command_buffer *commands = commit(image);
    make_sync_file(0);
    int fence = glcnn_command_buffer_fence_descriptor(commands);
    CU_ASSERT(fence >= 0 && close(fence) == 0);
    CU_ASSERT_FALSE(egl.exists);
    egl.refuses = true;
    fixture_forget_error(device);
    CU_ASSERT_EQUAL(glcnn_command_buffer_fence_descriptor(commands), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(device), "the driver made no fence"));
    close(egl.sync_file);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&image);
}

/* The GPU waits: the call returns though nothing was signalled, and the descriptor stays ours. */
static void sync_files_are_the_drivers(void)
{
    int fence = make_sync_file(0);
    GOOD(glcnn_device_await_fence(device, fence));
    CU_ASSERT(egl.waited && !egl.exists);
    CU_ASSERT(fcntl(fence, F_GETFD) >= 0);
    close(fence);
}

/* Where the driver cannot wait the call does, and leaves no descriptor open. */
static void others_are_waited_for_here(void)
{
    const struct glcnn_device_parameters hasty = {.wait_seconds = 1};
    glcnn_device *own = NULL;
    int fence = make_sync_file(1);
    int after = dup(fence);
    close(after);
    egl.lacks_wait = true;
    GOOD(glcnn_device_await_fence(device, fence));
    egl.lacks_wait = false;
    egl.refuses = true;
    GOOD(glcnn_device_await_fence(device, fence));
    CU_ASSERT_FALSE(egl.waited);
    CU_ASSERT_EQUAL(dup(fence), after);
    close(after);
    close(fence);
    /* Mesa waits for what is no sync file without an end. */
    fence = make_sync_file(0);
    egl.sync_file = -1;
    GOOD_FATAL(glcnn_device_create(&hasty, &own));
    REFUSED_ON(own, GLCNN_IO_ERROR, glcnn_device_await_fence(own, fence));
    CU_ASSERT_FALSE(egl.waited);
    glcnn_device_destroy(&own);
    close(fence);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {UNIT_TEST(commits_give_fences_out),
                                        UNIT_TEST(sync_files_are_the_drivers),
                                        UNIT_TEST(others_are_waited_for_here), CU_TEST_INFO_NULL};
    egl.sync_file = -1;
    return fixture_run("fence", tests, argc, argv);
}
