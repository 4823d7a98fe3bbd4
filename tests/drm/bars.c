/* The eight colour bars of vivid, a camera of the kernel's, through the library: in memory that the
 * camera's driver exports, in memory that it is given, and copied. For tests/check_drm.sh.
 *
 * A line for each memory and format: MEMORY FORMAT and "exact", "refused" with the sentence of an
 * import that the driver does not take, or "wrong" with the bar. The status is 1 where one is wrong,
 * and where nothing was imported. */
#include <glcnn/glcnn.h>
#include <linux/videodev2.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/frames.h"

#define BARS  8
#define RGB   3
#define FULL  (191 / 255.0)
#define SHARP 1e-6                      /* of formats that have red, green and blue */
#define NEAR  (1.0 / 219 + 1.772 / 224) /* vivid rounds luma and chroma down, each by up to a step */

/* White, yellow, cyan, green, magenta, red, blue, black: as vivid begins, of three quarters. */
static const float bars[BARS][RGB] = {{1, 1, 1}, {1, 1, 0}, {0, 1, 1}, {0, 1, 0},
                                      {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}};

static const struct {
    const char *name;
    uint32_t fourcc;
    double tolerance;
} formats[] = {{"YUYV", V4L2_PIX_FMT_YUYV, NEAR},   {"UYVY", V4L2_PIX_FMT_UYVY, NEAR},
               {"NV12", V4L2_PIX_FMT_NV12, NEAR},   {"NV21", V4L2_PIX_FMT_NV21, NEAR},
               {"NV16", V4L2_PIX_FMT_NV16, NEAR},   {"XR24", V4L2_PIX_FMT_XBGR32, SHARP},
               {"BG24", V4L2_PIX_FMT_RGB24, SHARP}, {"RG24", V4L2_PIX_FMT_BGR24, SHARP}};
static const char *const memories[] = {"exported", "imported", "copied"};

static glcnn_device *device;
static int imported, wrong;
/* What the first memory of each format gave: the others must give the same. */
static struct {
    bool known;
    float values[BARS][RGB];
} first[sizeof formats / sizeof *formats];

/* The middle of a bar, below the words that vivid writes, as one pixel. */
static void aim(struct frames *frames, int bar)
{
    uint32_t width = frames->camera->width / BARS;
    struct glcnn_frame_parameters *p = glcnn_frame(frames->kernel);
    p->crop_x = (uint32_t)bar * width + width / 4;
    p->crop_y = frames->camera->height / 2;
    p->crop_width = width / 2;
    p->crop_height = p->crop_width;
    p->resized_width = p->resized_height = 1;
}

/* A fence behind the commit, as another API would wait for it; the next commit waits for it too. */
static glcnn_status pass_fence_on(glcnn_command_buffer *commands)
{
    int fence = glcnn_command_buffer_fence_descriptor(commands);
    struct pollfd wait = {.fd = fence, .events = POLLIN};
    glcnn_status status = glcnn_device_await_fence(device, fence);
    if (fence >= 0 && (poll(&wait, 1, 60000) != 1 || close(fence) != 0))
        return GLCNN_IO_ERROR;
    return status;
}

static glcnn_status convert(struct frames *frames, uint32_t index, float values[BARS][RGB])
{
    const struct glcnn_image_descriptor pixel = {1, 1, RGB, 1, GLCNN_CHANNEL_FORMAT_FLOAT32};
    glcnn_image *results[BARS] = {NULL};
    glcnn_command_buffer *commands = NULL;
    glcnn_status status = glcnn_command_buffer_create(device, &commands);
    if (status == GLCNN_SUCCESS)
        status = frames_upload(frames, index);
    for (int b = 0; b < BARS && status == GLCNN_SUCCESS; b++) {
        aim(frames, b);
        status = glcnn_image_create(device, &pixel, &results[b]);
        if (status == GLCNN_SUCCESS)
            status = frames_encode(frames, commands, index, results[b]);
    }
    if (status == GLCNN_SUCCESS)
        status = glcnn_command_buffer_commit(commands);
    if (status == GLCNN_SUCCESS)
        status = pass_fence_on(commands);
    for (int b = 0; b < BARS && status == GLCNN_SUCCESS; b++)
        status = glcnn_image_read_bytes(results[b], NULL, values[b], sizeof values[b]);
    for (int b = 0; b < BARS; b++)
        glcnn_image_destroy(&results[b]);
    glcnn_command_buffer_destroy(&commands);
    return status;
}

static void judge(float values[BARS][RGB], size_t format)
{
    double tolerance = formats[format].tolerance;
    for (int b = 0; b < BARS; b++)
        for (int c = 0; c < RGB; c++) {
            double found = (double)values[b][c], same = (double)first[format].values[b][c];
            if (fabs(found - (double)bars[b][c] * FULL) <= tolerance &&
                (!first[format].known || fabs(found - same) <= SHARP))
                continue;
            printf("wrong: bar %d is %.4f %.4f %.4f\n", b, (double)values[b][0],
                   (double)values[b][1], (double)values[b][2]);
            wrong++;
            return;
        }
    printf("exact\n");
    memcpy(first[format].values, values, sizeof first[format].values);
    first[format].known = true;
}

/* Frames until every buffer has had one. */
static void look(struct frames *frames, size_t format)
{
    struct camera *camera = frames->camera;
    float values[BARS][RGB] = {{0}};
    glcnn_status status = GLCNN_SUCCESS;
    bool good = camera_start(camera);
    for (uint32_t i = 0; i <= camera->buffer_count && good && status == GLCNN_SUCCESS; i++) {
        uint32_t index = 0;
        good = camera_next(camera, 60, &index);
        if (good)
            status = convert(frames, index, values);
        good = good && camera_give_back(camera, index);
    }
    if (good && status == GLCNN_SUCCESS) {
        judge(values, format);
        return;
    }
    printf("wrong: %s\n", good ? glcnn_device_error(device) : camera->error);
    wrong++;
}

static void try_format(const char *path, int memory, size_t format)
{
    const struct camera_wish wish = {640, 360, formats[format].fourcc, (enum camera_memory)memory};
    struct camera camera;
    struct frames frames;
    printf("%s %s ", memories[memory], formats[format].name);
    if (!camera_open(&camera, path, &wish)) {
        printf("wrong: %s\n", camera.error);
        wrong++;
        return;
    }
    glcnn_status status =
        frames_open(&frames, device, &camera, &(struct glcnn_frame_parameters){0});
    if (status == GLCNN_SUCCESS) {
        imported += memory != CAMERA_MAPPED;
        look(&frames, format);
        frames_close(&frames);
    } else {
        printf("refused: %s\n",
               memory == CAMERA_MAPPED ? "copies have no such format" : glcnn_device_error(device));
        wrong += status != GLCNN_UNSUPPORTED;
    }
    camera_close(&camera);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (glcnn_device_create(NULL, &device) != GLCNN_SUCCESS || argc < 2)
        return 1;
    for (int a = 2; a < argc; a++)
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
            try_format(argv[1],
                       argv[a][0] == 'e'   ? CAMERA_EXPORTED
                       : argv[a][0] == 'i' ? CAMERA_IMPORTED
                                           : CAMERA_MAPPED,
                       f);
    printf("%d imported, %d wrong\n", imported, wrong);
    glcnn_device_destroy(&device);
    return wrong || !imported;
}
