/* Buffers of Android as images, on a stand-in for Android's part of EGL: its buffers are textures of the
 * driver's, which makes EGLImages of them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif

#include "glcnn/hardware_buffer.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "platform/egl.h"
#include "tests/fixture.h"

#include <GLES3/gl31.h>

/* ---- The stand-in ---- */

struct AHardwareBuffer {
    GLsizei width, height;
    GLint internal;
    GLenum format, type;
    const void *pixels;
};

static struct {
    const char *lacks;        /* an extension */
    bool gives_none, refuses; /* no client buffer; no image */
    bool has_textures;        /* the driver makes EGLImages of textures */
    int images;               /* that are not destroyed */
    PFNEGLCREATEIMAGEKHRPROC create;
    PFNEGLDESTROYIMAGEKHRPROC destroy;
} android;

typedef __eglMustCastToProperFunctionPointerType any_function;

static any_function real_entry(const char *name)
{
    any_function (*get)(const char *name);
    *(void **)&get = dlsym(RTLD_NEXT, "eglGetProcAddress");
    return get(name);
}

#define GL(TYPE, NAME) ((TYPE)real_entry(NAME))

static EGLClientBuffer get_client_buffer(const struct AHardwareBuffer *buffer)
{
    return android.gives_none ? NULL : (EGLClientBuffer)(uintptr_t)buffer;
}

/* A texture of what the buffer holds; what the context has bound stays. */
static GLuint make_texture(const struct AHardwareBuffer *b)
{
    GLint bound = 0, unpacked = 0;
    GLuint texture = 0;
    GL(PFNGLGETINTEGERVPROC, "glGetIntegerv")(GL_TEXTURE_BINDING_2D, &bound);
    GL(PFNGLGETINTEGERVPROC, "glGetIntegerv")(GL_PIXEL_UNPACK_BUFFER_BINDING, &unpacked);
    GL(PFNGLBINDBUFFERPROC, "glBindBuffer")(GL_PIXEL_UNPACK_BUFFER, 0);
    GL(PFNGLGENTEXTURESPROC, "glGenTextures")(1, &texture);
    GL(PFNGLBINDTEXTUREPROC, "glBindTexture")(GL_TEXTURE_2D, texture);
    GL(PFNGLTEXPARAMETERIPROC, "glTexParameteri")(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    GL(PFNGLPIXELSTOREIPROC, "glPixelStorei")(GL_UNPACK_ALIGNMENT, 1);
    GL(PFNGLTEXIMAGE2DPROC, "glTexImage2D")
    (GL_TEXTURE_2D, 0, b->internal, b->width, b->height, 0, b->format, b->type, b->pixels);
    GL(PFNGLBINDTEXTUREPROC, "glBindTexture")(GL_TEXTURE_2D, (GLuint)bound);
    GL(PFNGLBINDBUFFERPROC, "glBindBuffer")(GL_PIXEL_UNPACK_BUFFER, (GLuint)unpacked);
    return texture;
}

static EGLImageKHR create_image(EGLDisplay display, EGLContext context, EGLenum target,
                                EGLClientBuffer buffer, const EGLint *list)
{
    CU_ASSERT_EQUAL(target, EGL_NATIVE_BUFFER_ANDROID);
    CU_ASSERT(context == EGL_NO_CONTEXT && list && list[0] == EGL_IMAGE_PRESERVED_KHR);
    if (android.refuses)
        return EGL_NO_IMAGE_KHR;
    const GLuint texture = make_texture(buffer);
    EGLImageKHR image =
        android.create(display, eglGetCurrentContext(), EGL_GL_TEXTURE_2D_KHR,
                       (EGLClientBuffer)(uintptr_t)texture, (const EGLint[]){EGL_NONE});
    GL(PFNGLDELETETEXTURESPROC, "glDeleteTextures")(1, &texture); /* the image keeps it */
    android.images += image != EGL_NO_IMAGE_KHR;
    return image;
}

static EGLBoolean destroy_image(EGLDisplay display, EGLImageKHR image)
{
    android.images--;
    return android.destroy(display, image);
}

any_function eglGetProcAddress(const char *name)
{
    if (strcmp(name, "eglGetNativeClientBufferANDROID") == 0)
        return (any_function)get_client_buffer;
    any_function real = real_entry(name);
    if (strcmp(name, "eglCreateImageKHR") == 0) {
        android.create = (PFNEGLCREATEIMAGEKHRPROC)real;
        return (any_function)create_image;
    }
    if (strcmp(name, "eglDestroyImageKHR") != 0)
        return real;
    android.destroy = (PFNEGLDESTROYIMAGEKHRPROC)real;
    return (any_function)destroy_image;
}

/* The driver's extensions and Android's, but for one. */
const char *eglQueryString(EGLDisplay display, EGLint name)
{
    static char list[8192];
    static const char *const added[] = {"EGL_ANDROID_image_native_buffer",
                                        "EGL_ANDROID_get_native_client_buffer"};
    const char *(*real)(EGLDisplay display, EGLint name);
    *(void **)&real = dlsym(RTLD_NEXT, "eglQueryString");
    const char *text = real(display, name);
    if (name != EGL_EXTENSIONS || display == EGL_NO_DISPLAY || !text)
        return text;
    android.has_textures = egl_list_has(text, "EGL_KHR_gl_texture_2D_image");
    snprintf(list, sizeof list, "%s %s %s", text, added[0], added[1]);
    char *at = android.lacks ? strstr(list, android.lacks) : NULL;
    if (at)
        memset(at, '-', strlen(android.lacks));
    return list;
}

/* ---- Cases ---- */

enum { WIDTH = 3, HEIGHT = 2, PIXELS = WIDTH * HEIGHT };

static bool says(const char *text)
{
    bool found = strstr(glcnn_device_error(device), text) != NULL;
    if (!found)
        fprintf(stderr, "\nexpected \"%s\" in: %s\n", text, glcnn_device_error(device));
    return found;
}

static const uint8_t bytes[4 * PIXELS] = {0,   1,   2,   3,   10,  20,  30,  40,
                                          50,  60,  70,  80,  255, 254, 253, 252,
                                          100, 110, 120, 130, 140, 150, 160, 170};

static struct AHardwareBuffer rgba = {WIDTH, HEIGHT, GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, bytes};

static struct glcnn_hardware_buffer described(const struct AHardwareBuffer *buffer, uint32_t format)
{
    return (struct glcnn_hardware_buffer){buffer, WIDTH, HEIGHT, 1, format};
}

static void refuse(glcnn_status status, const struct glcnn_hardware_buffer *buffer,
                   const char *message)
{
    glcnn_image *image = (glcnn_image *)(uintptr_t)&android; /* anything but NULL */
    REFUSED(status, glcnn_image_import_hardware_buffer(device, buffer, &image));
    CU_ASSERT_TRUE(says(message));
    CU_ASSERT_PTR_NULL(image);
    CU_ASSERT_EQUAL(android.images, 0);
}

static void wrong_buffers_are_refused(void)
{
    const uint32_t most = glcnn_device_info(device)->limits.texture_size;
    struct glcnn_hardware_buffer b = described(&rgba, 1);
    glcnn_image *image;
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_import_hardware_buffer(device, &b, NULL));
    CU_ASSERT_EQUAL(glcnn_image_import_hardware_buffer(NULL, &b, &image), GLCNN_INVALID_ARGUMENT);
    refuse(GLCNN_INVALID_ARGUMENT, NULL, "buffer is NULL");
    b.buffer = NULL;
    refuse(GLCNN_INVALID_ARGUMENT, &b, "buffer is NULL");
    b = described(&rgba, 1);
    b.height = 0;
    refuse(GLCNN_INVALID_ARGUMENT, &b, "a buffer of 3x0 pixels");
    b.height = most + 1;
    refuse(GLCNN_LIMIT_EXCEEDED, &b, "textures of this device have");
    b = described(&rgba, 1);
    b.layers = 2;
    refuse(GLCNN_UNSUPPORTED, &b, "a buffer of 2 layers; 1 is imported");
    b = described(&rgba, 0x23);
    refuse(GLCNN_UNSUPPORTED, &b, "format 35 is none of those");
}

static void drivers_without_it_are_named(void)
{
    static const char *const names[] = {"EGL_KHR_image_base", "EGL_ANDROID_image_native_buffer",
                                        "EGL_ANDROID_get_native_client_buffer"};
    const struct glcnn_hardware_buffer b = described(&rgba, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char message[128];
        android.lacks = names[i];
        snprintf(message, sizeof message,
                 "the driver has no %s: buffers of this kind are Android's", names[i]);
        refuse(GLCNN_UNSUPPORTED, &b, message);
    }
    android.lacks = NULL;
}

/* False, with a word, where the driver gives no EGLImages for the stand-in to give out. */
static bool can_import(void)
{
    struct glcnn_hardware_buffer b = described(&rgba, 1);
    glcnn_image *image;
    fixture_forget_error(device);
    glcnn_status status = glcnn_image_import_hardware_buffer(device, &b, &image);
    glcnn_image_destroy(&image);
    if (status == GLCNN_SUCCESS ||
        (android.has_textures && !strstr(glcnn_device_error(device), "has no ")))
        return true;
    fprintf(stderr, "\nnothing is imported here: %s\n",
            android.has_textures ? glcnn_device_error(device) : "no EGL_KHR_gl_texture_2D_image");
    return false;
}

static void drivers_that_refuse_are_told(void)
{
    struct glcnn_hardware_buffer b = described(&rgba, 1);
    if (!can_import())
        return;
    android.gives_none = true;
    refuse(GLCNN_UNSUPPORTED, &b, "the driver refused it: eglGetNativeClientBufferANDROID: ");
    android.gives_none = false;
    android.refuses = true;
    refuse(GLCNN_UNSUPPORTED, &b, "the driver refused it: eglCreateImageKHR: ");
    android.refuses = false;
    b.width++;
    refuse(GLCNN_INVALID_ARGUMENT, &b, "it is said to have 4x2 pixels; its texture has 3x2");
}

/* The image through a kernel that changes nothing: [channel][row][column]. */
static float *computed(glcnn_image *image)
{
    glcnn_kernel *slice = kernel_with("slice", NULL);
    glcnn_kernel_properties(slice)->result_is_ordinary = true;
    glcnn_image *result = result_of(slice, &(struct glcnn_encode){.source = image}, NULL);
    float *values = read_image(result);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&slice);
    return values;
}

/* A pixel has `texel` numbers, of which the first ones are the image's channels. */
static void check_pixels(const struct AHardwareBuffer *buffer, uint32_t format, uint32_t channels,
                         uint32_t texel, double one)
{
    const struct glcnn_hardware_buffer b = described(buffer, format);
    glcnn_image *image;
    GOOD_FATAL(glcnn_image_import_hardware_buffer(device, &b, &image));
    CU_ASSERT_EQUAL(android.images, 1);
    CU_ASSERT_EQUAL_FATAL(glcnn_image_get_descriptor(image)->feature_channels, channels);
    float *values = computed(image);
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t i = 0; i < PIXELS; i++)
            CU_ASSERT(is_near((double)values[c * PIXELS + i],
                              buffer->type == GL_FLOAT
                                  ? (double)((const float *)buffer->pixels)[i * texel + c]
                                  : ((const uint8_t *)buffer->pixels)[i * texel + c] / one,
                              1e-6));
    free(values);
    glcnn_image_destroy(&image);
    CU_ASSERT_EQUAL(android.images, 0);
}

static void pixels_are_those_of_the_buffer(void)
{
    float halves[4 * PIXELS];
    for (int i = 0; i < 4 * PIXELS; i++)
        halves[i] = (float)(i - 9) * 0.25f;
    const struct AHardwareBuffer rgb = {WIDTH, HEIGHT, GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, bytes};
    const struct AHardwareBuffer red = {WIDTH, HEIGHT, GL_R8, GL_RED, GL_UNSIGNED_BYTE, bytes};
    const struct AHardwareBuffer half = {WIDTH, HEIGHT, GL_RGBA16F, GL_RGBA, GL_FLOAT, halves};
    if (!can_import())
        return;
    check_pixels(&rgba, 1, 3, 4, 255);
    check_pixels(&rgba, 2, 3, 4, 255);
    check_pixels(&rgb, 3, 3, 3, 255);
    check_pixels(&half, 22, 4, 4, 1);
    check_pixels(&red, 56, 1, 1, 255);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(wrong_buffers_are_refused), UNIT_TEST(drivers_without_it_are_named),
        UNIT_TEST(drivers_that_refuse_are_told), UNIT_TEST(pixels_are_those_of_the_buffer),
        CU_TEST_INFO_NULL};
    return fixture_run("hardware_buffer", tests, argc, argv);
}
