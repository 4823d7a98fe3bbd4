/* The eight colour bars of vivid, a camera of the kernel's, through the library: in memory that its
 * driver exports, in memory that it is given, and copied. For tests/check_drm.sh.
 *
 * usage: bars /dev/videoN MEMORY...    exported, imported, copied; of the first all that numbers
 *                                      of a frame may mean, of the others the first of that
 *
 * What is expected is what vivid computes, with integers, and no more than the rounding of floats
 * is let pass. A line for each memory, format and meaning, which ends in "exact", or "wrong" and
 * why; the status is 1 where one is wrong. */
#include <fcntl.h>
#include <glcnn/glcnn.h>
#include <linux/videodev2.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/frames.h"

#define BARS      8
#define RGB       3
#define LEVEL     191  /* of a bar's colours, of 255: three quarters */
#define TOLERANCE 1e-6 /* rounding of float32 */

/* White, yellow, cyan, green, magenta, red, blue, black: as vivid begins. */
static const int bars[BARS][RGB] = {{1, 1, 1}, {1, 1, 0}, {0, 1, 1}, {0, 1, 0},
                                    {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}};

/* What the numbers of a frame mean: Kr and Kb, and vivid's rows of Cb and Cr beside its luma's. */
struct matrix {
    uint32_t encoding; /* of V4L2 */
    double luma[RGB], blue[RGB], red[RGB];
};
static const struct matrix matrices[] = {
    {V4L2_YCBCR_ENC_601, {0.299, 0.587, 0.114}, {-0.1687, -0.3313, 0.5}, {0.5, -0.4187, -0.0813}},
    {V4L2_YCBCR_ENC_709,
     {0.2126, 0.7152, 0.0722},
     {-0.1146, -0.3854, 0.5},
     {0.5, -0.4542, -0.0458}}};
#define MATRICES (sizeof matrices / sizeof *matrices)

/* First numbers of luma and chroma, and how many steps they have. */
struct range {
    const char *name;
    uint32_t quantization; /* of V4L2 */
    int black, luma, chroma;
    int most_luma, most_chroma, least_chroma; /* that vivid writes */
};
static const struct range ranges[] = {
    {"limited", V4L2_QUANTIZATION_LIM_RANGE, 16, 219, 224, 235, 240, 16},
    {"full", V4L2_QUANTIZATION_FULL_RANGE, 0, 255, 255, 254, 254, 1}};
#define RANGES (sizeof ranges / sizeof *ranges)

static const struct {
    const char *name;
    uint32_t fourcc;
    bool colors; /* red, green and blue; else luma and chroma */
} formats[] = {{"YUYV", V4L2_PIX_FMT_YUYV, false}, {"UYVY", V4L2_PIX_FMT_UYVY, false},
               {"NV12", V4L2_PIX_FMT_NV12, false}, {"NV21", V4L2_PIX_FMT_NV21, false},
               {"NV16", V4L2_PIX_FMT_NV16, false}, {"XR24", V4L2_PIX_FMT_XBGR32, true},
               {"BG24", V4L2_PIX_FMT_RGB24, true}, {"RG24", V4L2_PIX_FMT_BGR24, true}};
static const char *const memories[] = {"exported", "imported", "copied"};

static glcnn_device *device;
static int exact, wrong;

/* ---- What vivid writes, drivers/media/common/v4l2-tpg/v4l2-tpg-core.c ---- */

/* Of colours of 0 to 255, times 16 and weights of 256 to a step, without the last 8 bits: the 8 that
 * are left are of 255ths, of which 256 are taken for one. */
static int weigh(const double weights[RGB], const int bar[RGB], int steps)
{
    int sum = 0;
    for (int c = 0; c < RGB; c++)
        sum += (int)(0.5 + weights[c] * steps * 256.0) * ((bar[c] * LEVEL) << 4);
    return sum >> 16;
}

static int clamp(int number, int least, int most)
{
    return number < least ? least : number > most ? most : number;
}

static void write_luma_and_chroma(const int bar[RGB], const struct matrix *m, const struct range *r,
                                  int numbers[RGB])
{
    int y = weigh(m->luma, bar, r->luma) + (r->black << 4);
    int cb = weigh(m->blue, bar, r->chroma) + (128 << 4);
    int cr = weigh(m->red, bar, r->chroma) + (128 << 4);
    numbers[0] = clamp(y >> 4, r->black ? r->black : 1, r->most_luma);
    numbers[1] = clamp(cb >> 4, r->least_chroma, r->most_chroma);
    numbers[2] = clamp(cr >> 4, r->least_chroma, r->most_chroma);
}

/* ---- What that means ---- */

static double in_range(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static void colors_of(const int numbers[RGB], const struct matrix *m, const struct range *r,
                      double colors[RGB])
{
    double kr = m->luma[0], kg = m->luma[1], kb = m->luma[2];
    double y = (numbers[0] - r->black) / (double)r->luma;
    double cb = (numbers[1] - 128) / (double)r->chroma, cr = (numbers[2] - 128) / (double)r->chroma;
    double red = y + 2 * (1 - kr) * cr, blue = y + 2 * (1 - kb) * cb;
    colors[0] = in_range(red);
    colors[1] = in_range((y - kr * red - kb * blue) / kg);
    colors[2] = in_range(blue);
}

static void expect(int bar, bool colors, const struct matrix *m, const struct range *r,
                   double expected[RGB])
{
    int numbers[RGB];
    if (!colors) {
        write_luma_and_chroma(bars[bar], m, r, numbers);
        colors_of(numbers, m, r, expected);
        return;
    }
    for (int c = 0; c < RGB; c++) {
        int number = ((bars[bar][c] * LEVEL << 4) * r->luma / 255 + (r->black << 4)) >> 4;
        expected[c] = (number - r->black) / (double)r->luma;
    }
}

/* ---- What the library makes of it ---- */

/* Some pixels in the middle of a bar, below the words that vivid writes, as one. */
static void aim(struct frames *frames, int bar)
{
    uint32_t width = frames->camera->width / BARS;
    struct glcnn_frame_parameters *p = glcnn_frame(frames->kernel);
    p->crop_x = (uint32_t)bar * width + width / 2;
    p->crop_y = frames->camera->height / 2;
    p->crop_width = p->crop_height = 4;
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

static void blame(const char *message)
{
    printf("wrong: %s\n", message);
    wrong++;
}

static void judge(float values[BARS][RGB], bool colors, const struct matrix *m,
                  const struct range *r)
{
    char message[160];
    double expected[RGB];
    for (int b = 0; b < BARS; b++)
        for (int c = 0; c < RGB; c++) {
            expect(b, colors, m, r, expected);
            if (fabs((double)values[b][c] - expected[c]) <= TOLERANCE)
                continue;
            snprintf(message, sizeof message, "bar %d is %.7f %.7f %.7f, not %.7f %.7f %.7f", b,
                     (double)values[b][0], (double)values[b][1], (double)values[b][2], expected[0],
                     expected[1], expected[2]);
            blame(message);
            return;
        }
    printf("exact\n");
    exact++;
}

/* Frames until every buffer has had one. False, with the message told. */
static bool look(struct frames *frames, float values[BARS][RGB])
{
    struct camera *camera = frames->camera;
    glcnn_status status = GLCNN_SUCCESS;
    bool good = camera_start(camera);
    for (uint32_t i = 0; i <= camera->buffer_count && good && status == GLCNN_SUCCESS; i++) {
        uint32_t index = 0;
        good = camera_next(camera, 60, &index);
        if (good)
            status = convert(frames, index, values);
        good = good && camera_give_back(camera, index);
    }
    if (!good || status != GLCNN_SUCCESS)
        blame(good ? glcnn_device_error(device) : camera->error);
    return good && status == GLCNN_SUCCESS;
}

/* Sets the camera, which keeps that until it is told otherwise. */
static bool set_meaning(const char *path, uint32_t fourcc, const struct matrix *m,
                        const struct range *r)
{
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_pix_format *pixels = &format.fmt.pix;
    int camera = open(path, O_RDWR | O_CLOEXEC);
    bool good = camera >= 0 && ioctl(camera, VIDIOC_G_FMT, &format) == 0;
    pixels->pixelformat = fourcc;
    pixels->flags = V4L2_PIX_FMT_FLAG_SET_CSC;
    pixels->ycbcr_enc = m->encoding;
    pixels->quantization = r->quantization;
    good = good && ioctl(camera, VIDIOC_S_FMT, &format) == 0;
    if (camera >= 0)
        close(camera);
    return good;
}

static void try_format(const char *path, int memory, size_t format, const struct matrix *m,
                       const struct range *r)
{
    const struct camera_wish wish = {640, 360, formats[format].fourcc, (enum camera_memory)memory};
    struct camera camera;
    struct frames frames;
    float values[BARS][RGB] = {{0}};
    printf("%s %s %d %s ", memories[memory], formats[format].name,
           m->encoding == V4L2_YCBCR_ENC_709 ? 709 : 601, r->name);
    if (!set_meaning(path, wish.fourcc, m, r) || !camera_open(&camera, path, &wish)) {
        blame("the camera cannot be set to it");
        return;
    }
    glcnn_status status =
        frames_open(&frames, device, &camera, &(struct glcnn_frame_parameters){0});
    if (status != GLCNN_SUCCESS) {
        blame(glcnn_device_error(device));
    } else {
        if (look(&frames, values))
            judge(values, formats[format].colors, m, r);
        frames_close(&frames);
    }
    camera_close(&camera);
}

/* Copies are without UYVY; the matrix of red, green and blue is none. */
static void try_memory(const char *path, int memory, bool all)
{
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        size_t most_matrices = all && !formats[f].colors ? MATRICES : 1;
        if (memory == CAMERA_MAPPED && formats[f].fourcc == V4L2_PIX_FMT_UYVY)
            continue;
        for (size_t m = 0; m < most_matrices; m++)
            for (size_t r = 0; r < (all ? RANGES : 1); r++)
                try_format(path, memory, f, &matrices[m], &ranges[r]);
    }
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (glcnn_device_create(NULL, &device) != GLCNN_SUCCESS || argc < 3)
        return 1;
    for (int a = 2; a < argc; a++)
        for (int memory = CAMERA_EXPORTED; memory <= CAMERA_MAPPED; memory++)
            if (strcmp(argv[a], memories[memory]) == 0)
                try_memory(argv[1], memory, a == 2);
    printf("%d exact, %d wrong\n", exact, wrong);
    glcnn_device_destroy(&device);
    return wrong || !exact;
}
