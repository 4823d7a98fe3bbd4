/* Frames of dma-bufs and fences: what is refused, in which words. Nothing is imported where the driver
 * cannot; tests/check_drm.sh imports a camera's frames on a driver that can. */
#include "glcnn/dmabuf.h"

#include <fcntl.h>
#include <unistd.h>

#include "platform/drm_abi.h"
#include "tests/fixture.h"

#define ARM_AFBC_16X16 (8ULL << 56 | 1) /* a modifier of Arm's compressed tiles */

static bool says(const char *text)
{
    bool found = strstr(glcnn_device_error(device), text) != NULL;
    if (!found)
        fprintf(stderr, "\nexpected \"%s\" in: %s\n", text, glcnn_device_error(device));
    return found;
}

/* A file in place of a dma-buf, as long. */
static int file_of(off_t size)
{
    FILE *file = tmpfile();
    int descriptor = file ? dup(fileno(file)) : -1;
    CU_ASSERT_FATAL(descriptor >= 0 && ftruncate(descriptor, size) == 0);
    fclose(file);
    return descriptor;
}

static void refuse(glcnn_status status, const struct glcnn_dmabuf *frame, const char *message)
{
    glcnn_image *images[2] = {(glcnn_image *)frame, (glcnn_image *)frame}; /* anything but NULL */
    REFUSED(status, glcnn_image_import_dmabuf(device, frame, images));
    CU_ASSERT_TRUE(says(message));
    CU_ASSERT(images[0] == NULL && images[1] == NULL);
}

/* Of a frame that is right. */
static struct glcnn_dmabuf nv12(int descriptor)
{
    return (struct glcnn_dmabuf){.width = 17,
                                 .height = 5,
                                 .fourcc = DRM_FORMAT_NV12,
                                 .plane_count = 2,
                                 .planes = {{descriptor, 64, 32}, {descriptor, 256, 20}}};
}

#define NV12_BYTES (256 + 20 * 2 + 18)

static void wrong_frames_are_refused(void)
{
    int descriptor = file_of(NV12_BYTES);
    struct glcnn_dmabuf frame = nv12(descriptor);
    glcnn_image *images[2];
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_import_dmabuf(device, &frame, NULL));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_image_import_dmabuf(device, NULL, images));
    CU_ASSERT_EQUAL(glcnn_image_import_dmabuf(NULL, &frame, images), GLCNN_INVALID_ARGUMENT);
    frame.fourcc = 0x20202020;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "fourcc 0x20202020 is none of those");
    frame = nv12(descriptor);
    frame.width = 0;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "a frame of 0x5 pixels");
    frame.width = UINT32_MAX;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "a frame of 4294967295x5");
    frame = (struct glcnn_dmabuf){17, 5, DRM_FORMAT_YUYV, 1, 0, {{descriptor, 0, 34}}};
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "of YUYV by pairs of columns");
    frame.fourcc = DRM_FORMAT_XRGB8888;
    frame.plane_count = 0;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "0 planes of XR24, which has 1");
    close(descriptor);
}

static void wrong_planes_are_refused(void)
{
    int descriptor = file_of(NV12_BYTES);
    struct glcnn_dmabuf frame = nv12(descriptor);
    frame.plane_count = 1;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "1 planes of NV12, which has 2");
    frame.plane_count = 3;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "3 planes of NV12");
    frame = nv12(descriptor);
    frame.planes[1].fd = -1;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "descriptor -1 of plane 1 is not open");
    frame = nv12(descriptor);
    frame.planes[0].pitch = 16;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "plane 0 has a pitch of 16 bytes; its rows have 17");
    frame = nv12(descriptor);
    frame.planes[1].pitch = 17;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "its rows have 18");
    frame = nv12(descriptor);
    frame.planes[1].offset++;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "plane 1 ends at byte 315; its dma-buf has 314");
    frame = nv12(descriptor);
    frame.planes[0].offset = frame.planes[0].pitch = UINT32_MAX;
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "plane 0 ends at byte 21474836492;");
    close(descriptor);
    frame = nv12(descriptor);
    refuse(GLCNN_INVALID_ARGUMENT, &frame, "of plane 0 is not open");
}

static void large_frames_are_refused(void)
{
    uint32_t most = glcnn_device_info(device)->limits.texture_size;
    int descriptor = file_of(1 << 20);
    struct glcnn_dmabuf frame = {most + 1, 1, DRM_FORMAT_ABGR8888, 1, 0, {{descriptor, 0, 65536}}};
    refuse(GLCNN_LIMIT_EXCEEDED, &frame, "this device has");
    frame =
        (struct glcnn_dmabuf){most / 3 + 1, 1, DRM_FORMAT_BGR888, 1, 0, {{descriptor, 0, 65536}}};
    refuse(GLCNN_LIMIT_EXCEEDED, &frame, "plane 0 would be a texture of");
    close(descriptor);
}

/* Refused by name where a dma-buf could be imported, by the missing extension where none could. */
static void refuse_descriptor(const struct glcnn_dmabuf *frame, size_t format_count)
{
    char message[80];
    snprintf(message, sizeof message, "descriptor %d of plane 0 is not a dma-buf",
             frame->planes[0].fd);
    if (format_count)
        refuse(GLCNN_INVALID_ARGUMENT, frame, message);
    else
        refuse(GLCNN_UNSUPPORTED, frame, "the driver has no ");
}

/* A driver that maps what it imports would take any of them. */
static void files_are_no_frames(void)
{
    struct glcnn_dmabuf_format formats[2], more[128];
    int descriptor = file_of(NV12_BYTES), pipes[2];
    struct glcnn_dmabuf frame = nv12(descriptor);
    fixture_forget_error(device);
    size_t count = glcnn_dmabuf_formats(device, formats, 2);
    CU_ASSERT_TRUE(count > 0 || says("the driver has no "));
    CU_ASSERT_EQUAL(glcnn_dmabuf_formats(device, NULL, 0), count);
    CU_ASSERT_EQUAL(glcnn_dmabuf_formats(device, more, 128), count);
    CU_ASSERT_EQUAL(glcnn_dmabuf_formats(NULL, more, 128), 0);
    refuse_descriptor(&frame, count);
    frame.modifier = ARM_AFBC_16X16;
    refuse_descriptor(&frame, count);
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    frame = nv12(pipes[0]);
    refuse_descriptor(&frame, count);
    CU_ASSERT(fcntl(descriptor, F_GETFD) >= 0);
    close(descriptor);
    close(pipes[0]);
    close(pipes[1]);
}

/* ---- Fences ---- */

static void fences_are_waited_for(void)
{
    const struct glcnn_device_parameters hasty = {.wait_seconds = 1};
    glcnn_device *own = NULL;
    int pipes[2];
    CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
    GOOD(glcnn_device_await_fence(device, -1));
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_device_await_fence(device, -2));
    CU_ASSERT_TRUE(says("descriptor -2 is not open"));
    CU_ASSERT_EQUAL(glcnn_device_await_fence(NULL, -1), GLCNN_INVALID_ARGUMENT);
    GOOD_FATAL(glcnn_device_create(&hasty, &own));
    REFUSED_ON(own, GLCNN_IO_ERROR, glcnn_device_await_fence(own, pipes[0]));
    CU_ASSERT_PTR_NOT_NULL(strstr(glcnn_device_error(own), "not signalled within 1 s"));
    CU_ASSERT_EQUAL(write(pipes[1], "", 1), 1);
    CU_ASSERT_EQUAL(glcnn_device_await_fence(own, pipes[0]), GLCNN_SUCCESS);
    CU_ASSERT(fcntl(pipes[0], F_GETFD) >= 0);
    close(pipes[0]);
    close(pipes[1]);
    REFUSED(GLCNN_INVALID_ARGUMENT, glcnn_device_await_fence(device, pipes[0]));
    glcnn_device_destroy(&own);
}

/* Readable once the GPU is done; -1 says why there is none. */
static void commits_give_fences_out(void)
{
    glcnn_image *image = make_image(1, 1, 2, 2), *result = NULL;
    glcnn_kernel *slice = kernel_with("slice", NULL);
    glcnn_command_buffer *commands = make_commands();
    fixture_forget_error(device);
    CU_ASSERT_EQUAL(glcnn_command_buffer_fence_descriptor(commands), -1);
    CU_ASSERT_TRUE(says("nothing was committed"));
    CU_ASSERT_EQUAL(glcnn_command_buffer_fence_descriptor(NULL), -1);
    glcnn_kernel_properties(slice)->result_is_ordinary = true;
    GOOD(glcnn_kernel_encode_returning(commands, slice, &(struct glcnn_encode){.source = image},
                                       &result, NULL));
    GOOD(glcnn_command_buffer_commit(commands));
    int fence = glcnn_command_buffer_fence_descriptor(commands);
    CU_ASSERT(fence >= 0 || says("no EGL_ANDROID_native_fence_sync"));
    GOOD(glcnn_device_await_fence(device, fence));
    GOOD(glcnn_command_buffer_wait(commands));
    CU_ASSERT(fence < 0 || close(fence) == 0);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&image);
    glcnn_image_destroy(&result);
    glcnn_kernel_destroy(&slice);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo tests[] = {
        UNIT_TEST(wrong_frames_are_refused),
        UNIT_TEST(wrong_planes_are_refused),
        UNIT_TEST(large_frames_are_refused),
        UNIT_TEST(files_are_no_frames),
        UNIT_TEST(fences_are_waited_for),
        UNIT_TEST(commits_give_fences_out),
        CU_TEST_INFO_NULL,
    };
    return fixture_run("dmabuf", tests, argc, argv);
}
