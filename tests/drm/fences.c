/* Fences between a driver of the kernel's, vgem, and the library. For tests/check_drm.sh.
 *
 * usage: fences [native]
 *
 * A line for each case: its name and "good", or "wrong" and why; the status is 1 where one is.
 * With "native" the driver must have fences of its own (EGL_ANDROID_native_fence_sync); else none
 * is given out, and those of others are waited for on the CPU. */
#include <fcntl.h>
#include <glcnn/glcnn.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/drm.h"

#define SIDE 16

/* Of the kernel's drm/drm.h. */
#define VERSION _IOWR('d', 0x00, struct version)
struct version {
    int major, minor, patch;
    size_t name_length;
    char *name;
    size_t date_length;
    char *date;
    size_t description_length;
    char *description;
};

/* Of its drm/vgem_drm.h. */
#define VGEM_ATTACH       _IOWR('d', 0x41, struct vgem_attach)
#define VGEM_SIGNAL       _IOW('d', 0x42, struct vgem_signal)
#define VGEM_ATTACH_WRITE 1
struct vgem_attach {
    uint32_t handle, flags, fence, unused;
};
struct vgem_signal {
    uint32_t fence, flags;
};

static glcnn_device *device;
static bool native;

/* A picture in the memory of vgem, which is filled late. */
struct picture {
    int node, descriptor;
    uint32_t fence; /* vgem's number of it */
    uint32_t pitch;
    size_t size;
    unsigned char *bytes;
};

/* ---- The other side ---- */

static bool is_vgem(int node)
{
    char name[32] = "";
    struct version version = {.name_length = sizeof name - 1, .name = name};
    return ioctl(node, VERSION, &version) == 0 && strcmp(name, "vgem") == 0;
}

static int open_vgem(void)
{
    char path[32];
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "/dev/dri/card%d", i);
        int node = open(path, O_RDWR | O_CLOEXEC);
        if (node >= 0 && is_vgem(node))
            return node;
        if (node >= 0)
            close(node);
    }
    return -1;
}

/* Black, with a fence behind its filling that is not signalled; `fence` is its sync file. */
static const char *make_picture(struct picture *p, int *fence)
{
    struct drm_mode_create_dumb made = {.width = SIDE, .height = SIDE, .bpp = 32};
    struct dma_buf_export_sync_file exported = {.flags = DMA_BUF_SYNC_READ, .fd = -1};
    *p = (struct picture){.node = open_vgem(), .descriptor = -1};
    if (p->node < 0 || ioctl(p->node, DRM_IOCTL_MODE_CREATE_DUMB, &made) != 0)
        return "vgem gives no memory";
    struct drm_prime_handle shared = {.handle = made.handle, .flags = O_CLOEXEC | O_RDWR, .fd = -1};
    if (ioctl(p->node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &shared) != 0)
        return "vgem shares no memory";
    p->descriptor = shared.fd;
    struct vgem_attach attach = {.handle = made.handle, .flags = VGEM_ATTACH_WRITE};
    if (ioctl(p->node, VGEM_ATTACH, &attach) != 0)
        return "vgem makes no fence";
    if (ioctl(p->descriptor, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &exported) != 0)
        return "the kernel makes no sync file of it";
    p->fence = attach.fence;
    p->pitch = made.pitch;
    p->size = made.size;
    p->bytes = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->descriptor, 0);
    *fence = exported.fd;
    return p->bytes == MAP_FAILED ? "the memory cannot be mapped" : NULL;
}

static void destroy_picture(struct picture *p)
{
    if (p->bytes && p->bytes != MAP_FAILED)
        munmap(p->bytes, p->size);
    if (p->descriptor >= 0)
        close(p->descriptor);
    if (p->node >= 0)
        close(p->node);
}

/* Long after the GPU could have read it the picture becomes white, and its fence is signalled. */
static void *fill_late(void *user)
{
    struct picture *p = user;
    struct vgem_signal signal = {.fence = p->fence};
    poll(NULL, 0, 1000);
    memset(p->bytes, 255, p->size);
    ioctl(p->node, VGEM_SIGNAL, &signal);
    return NULL;
}

/* ---- The library's side ---- */

static glcnn_status import_picture(const struct picture *p, glcnn_image *images[])
{
    const struct glcnn_dmabuf frame = {.width = SIDE,
                                       .height = SIDE,
                                       .fourcc = DRM_FORMAT_XRGB8888,
                                       .plane_count = 1,
                                       .planes = {{p->descriptor, 0, p->pitch}}};
    return glcnn_image_import_dmabuf(device, &frame, images);
}

/* Commits the mean over the picture. */
static glcnn_status commit_mean(glcnn_image *source, glcnn_image *mean,
                                glcnn_command_buffer **commands)
{
    const struct glcnn_frame_parameters one = {.resized_width = 1, .resized_height = 1};
    glcnn_kernel *kernel = NULL;
    glcnn_status status = glcnn_frame_rgb_create(device, &one, &kernel);
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_create(device, commands);
    if (status == GLCNN_SUCCESS)
        status = glcnn_kernel_encode(*commands, kernel,
                                     &(struct glcnn_encode){.source = source, .destination = mean});
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(*commands);
    glcnn_kernel_destroy(&kernel);
    return status;
}

/* ---- Cases: NULL, or what is wrong ---- */

/* A sync file of the kernel's, and what it stands behind has finished once it is signalled. */
static const char *judge_fence(glcnn_command_buffer *commands)
{
    struct sync_file_info info = {.num_fences = 0};
    int fence = glcnn_command_buffer_fence_descriptor(commands);
    struct pollfd wait = {.fd = fence, .events = POLLIN};
    if (fence < 0)
        return native ? glcnn_device_error(device) : NULL;
    const char *wrong = ioctl(fence, SYNC_IOC_FILE_INFO, &info) != 0  ? "it is no sync file"
                        : poll(&wait, 1, 60000) != 1                  ? "it is never signalled"
                        : !glcnn_command_buffer_is_complete(commands) ? "it comes too early"
                                                                      : NULL;
    close(fence);
    return wrong;
}

/* The picture is read once it is filled; the fence that was given is closed at once. */
static const char *both_ways(void)
{
    const struct glcnn_image_descriptor pixel = {1, 1, 3, 1, GLCNN_CHANNEL_FORMAT_FLOAT32};
    glcnn_image *images[GLCNN_DMABUF_PLANES] = {NULL}, *mean = NULL;
    glcnn_command_buffer *commands = NULL;
    struct picture picture;
    pthread_t filler;
    float seen[3] = {0};
    int fence = -1;
    const char *wrong = make_picture(&picture, &fence);
    if (wrong)
        return wrong;
    glcnn_status status = import_picture(&picture, images);
    if (status == GLCNN_SUCCESS)
        status = glcnn_image_create(device, &pixel, &mean);
    if (pthread_create(&filler, NULL, fill_late, &picture) != 0)
        return "there is no thread";
    if (status == GLCNN_SUCCESS)
        status = glcnn_device_await_fence(device, fence);
    close(fence);
    if (status == GLCNN_SUCCESS)
        status = commit_mean(images[0], mean, &commands);
    wrong = status == GLCNN_SUCCESS ? judge_fence(commands) : glcnn_device_error(device);
    if (status == GLCNN_SUCCESS)
        status = glcnn_image_read_bytes(mean, NULL, seen, sizeof seen);
    pthread_join(filler, NULL);
    glcnn_command_buffer_destroy(&commands);
    glcnn_image_destroy(&mean);
    glcnn_image_destroy(&images[0]);
    destroy_picture(&picture);
    if (!wrong && status != GLCNN_SUCCESS)
        wrong = glcnn_device_error(device);
    return wrong ? wrong : seen[0] < 1 ? "the picture was read before it was filled" : NULL;
}

/* Of no fence at all nothing is read before it is there, and no wait is without an end. */
static const char *by_a_pipe(void)
{
    const struct glcnn_device_parameters hasty = {.wait_seconds = 1};
    glcnn_device *own = NULL;
    int pipes[2];
    if (pipe(pipes) != 0 || glcnn_device_create(&hasty, &own) != GLCNN_SUCCESS)
        return "there is no pipe or no device";
    const char *wrong = glcnn_device_await_fence(own, pipes[0]) != GLCNN_IO_ERROR
                            ? "an empty pipe is no failure"
                        : write(pipes[1], "", 1) != 1             ? "the pipe is full"
                        : glcnn_device_await_fence(own, pipes[0]) ? "a full one is"
                                                                  : NULL;
    glcnn_device_destroy(&own);
    close(pipes[0]);
    close(pipes[1]);
    return wrong;
}

static const struct {
    const char *name;
    const char *(*run)(void);
} cases[] = {{"both ways", both_ways}, {"by a pipe", by_a_pipe}};

int main(int argc, char **argv)
{
    int wrong = 0;
    native = argc > 1 && strcmp(argv[1], "native") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (glcnn_device_create(NULL, &device) != GLCNN_SUCCESS)
        return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *why = cases[i].run();
        printf("%s: %s%s\n", cases[i].name, why ? "wrong: " : "good", why ? why : "");
        wrong += why != NULL;
    }
    glcnn_device_destroy(&device);
    return wrong != 0;
}
