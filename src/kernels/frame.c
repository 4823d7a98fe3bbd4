/* Frames of cameras: spec 7.23. The kernels differ in where a pixel's three numbers lie and in what
 * makes them red, green and blue; what they share is one shader. */
#include "glcnn/kernels/frame.h"

#include <math.h>
#include <string.h>

#include "encode/kernel.h"
#include "encode/window.h"

enum { SOURCE, RESULT, MEAN, DEVIATION, CHROMA };

#define MOST_PIXELS 16384 /* a side */
#define MOST_SHRINK 64    /* pixels of an axis in one result: sums stay short, and dispatches too */

struct glcnn_frame_parameters *glcnn_frame(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "frame");
}

/* ---- Constructors ---- */

#define DEFINE_CREATE(NAME)                                                                        \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME;                                      \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device,                                       \
                                       const struct glcnn_frame_parameters *parameters,            \
                                       glcnn_kernel **kernel)                                      \
    {                                                                                              \
        return kernel_create_with(device, &glcnn_kernel_##NAME, parameters, kernel);               \
    }

DEFINE_CREATE(frame_rgb)
DEFINE_CREATE(frame_yuyv)
DEFINE_CREATE(frame_nv12)

/* ---- Shape and check ---- */

/* Without what the frame is too small for: `check` tells. */
struct crop {
    uint32_t x, y, width, height;
};

static uint32_t part(uint32_t wanted, uint32_t first, uint32_t size)
{
    return wanted ? wanted : first < size ? size - first : 0;
}

static struct crop crop_of(const struct operation *o)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    const struct image_view *frame = &o->images[SOURCE];
    return (struct crop){p->crop_x, p->crop_y, part(p->crop_width, p->crop_x, frame->width),
                         part(p->crop_height, p->crop_y, frame->height)};
}

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    struct crop crop = crop_of(o);
    result->width = p->resized_width ? p->resized_width : crop.width;
    result->height = p->resized_height ? p->resized_height : crop.height;
    result->feature_channels = 3;
}

static size_t length(const struct operation *o, size_t index)
{
    (void)o, (void)index;
    return 3;
}

static bool check_axis(const char *what, uint32_t size, uint32_t first, uint32_t count,
                       uint32_t resized, struct refusal refusal)
{
    if (first >= size || count > size - first)
        return refuse(refusal, "the crop has %u %s from %u on; the frame has %u", count, what,
                      first, size);
    if (size > MOST_PIXELS)
        return refuse(refusal, "the frame has %u %s; there may be %d", size, what, MOST_PIXELS);
    if (count <= (uint64_t)MOST_SHRINK * resized)
        return true;
    return refuse(refusal, "%u %s become %u; each may be of %d at most", count, what, resized,
                  MOST_SHRINK);
}

static bool check_size(const struct operation *o, struct refusal refusal)
{
    const struct image_view *frame = &o->images[SOURCE];
    struct crop crop = crop_of(o);
    struct glcnn_image_descriptor result = {0};
    shape(o, &result);
    if (!check_axis("columns", frame->width, crop.x, crop.width, result.width, refusal) ||
        !check_axis("rows", frame->height, crop.y, crop.height, result.height, refusal))
        return false;
    return check_result_size(&o->images[RESULT], &result, refusal);
}

static bool check_rgb(const struct operation *o, struct refusal refusal)
{
    uint32_t channels = o->images[SOURCE].channels;
    if (channels == 3 || channels == 4)
        return check_size(o, refusal);
    return refuse(refusal, "the source has %u channels; 3 or 4 are red, green and blue", channels);
}

static bool check_yuyv(const struct operation *o, struct refusal refusal)
{
    const struct image_view *frame = &o->images[SOURCE];
    if (frame->channels == 2 && frame->width % 2 == 0)
        return check_size(o, refusal);
    return refuse(refusal,
                  "the source has %u channels and %u columns; there must be 2, of luma and chroma, "
                  "and an even number of columns",
                  frame->channels, frame->width);
}

/* Does the chroma have all of the frame's pixels along an axis, or every second? */
static bool is_chroma(uint32_t chroma, uint32_t frame)
{
    return chroma == frame || chroma == groups_of(frame, 2);
}

static bool check_nv12(const struct operation *o, struct refusal refusal)
{
    const struct image_view *frame = &o->images[SOURCE], *chroma = &o->images[CHROMA];
    if (frame->channels != 1 || chroma->channels != 2)
        return refuse(refusal,
                      "the source has %u channels and chroma_image %u; there must be 1, of luma, "
                      "and 2, of chroma",
                      frame->channels, chroma->channels);
    if (is_chroma(chroma->width, frame->width) && is_chroma(chroma->height, frame->height))
        return check_size(o, refusal);
    return refuse(refusal,
                  "chroma_image has %ux%u pixels; along each axis it must have those of the frame, "
                  "%ux%u, or half as many, rounded up",
                  chroma->width, chroma->height, frame->width, frame->height);
}

/* ---- Colours ---- */

/* Of bytes / 255: black and white are 0 and 1 of luma * scale + offset, and chroma is from -1/2 to
 * 1/2. */
struct levels {
    double luma_scale, luma_offset, chroma_scale, chroma_offset;
};

static struct levels levels_of(const struct operation *o)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    bool is_rgb = strcmp(o->descriptor->name, "frame_rgb") == 0;
    bool full = p->range == GLCNN_COLOR_RANGE_USUAL ? is_rgb : p->range == GLCNN_COLOR_RANGE_FULL;
    return full ? (struct levels){1, 0, 1, -128.0 / 255}
                : (struct levels){255.0 / 219, -16.0 / 219, 255.0 / 224, -128.0 / 224};
}

/* Shares of red and blue in Y'. */
struct shares {
    double red, blue;
};

static struct shares shares_of(const struct operation *o)
{
    const struct glcnn_frame_parameters *p = o->parameters;
    return p->matrix == GLCNN_COLOR_MATRIX_BT709 ? (struct shares){0.2126, 0.0722}
                                                 : (struct shares){0.299, 0.114};
}

/* ---- Passes ---- */

static struct pass *plan_frame(const struct operation *o, struct plan *plan, const char *pixels)
{
    struct pass *pass = plan_pixels(plan, o, "frame/frame.comp", &o->images[RESULT]);
    const struct glcnn_frame_parameters *p = o->parameters;
    struct crop crop = crop_of(o);
    struct levels levels = levels_of(o);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_library(pass, pixels);
    pass_vector(pass, "mean", &o->vectors[MEAN], VECTOR_READ);
    pass_vector(pass, "deviation", &o->vectors[DEVIATION], VECTOR_READ);
    pass_int(pass, "crop_x", (int32_t)crop.x);
    pass_int(pass, "crop_y", (int32_t)crop.y);
    pass_int(pass, "crop_width", (int32_t)crop.width);
    pass_int(pass, "crop_height", (int32_t)crop.height);
    pass_int(pass, "swapped", p->swapped);
    pass_float(pass, "luma_scale", (float)levels.luma_scale);
    pass_float(pass, "luma_offset", (float)levels.luma_offset);
    pass->work = 64 * groups_of(crop.width, o->images[RESULT].width) *
                 groups_of(crop.height, o->images[RESULT].height);
    return pass;
}

static void plan_rgb(const struct operation *o, struct plan *plan)
{
    plan_frame(o, plan, "frame/rgb.glsl");
}

static struct pass *plan_ycbcr(const struct operation *o, struct plan *plan, const char *pixels)
{
    struct pass *pass = plan_frame(o, plan, pixels);
    struct levels levels = levels_of(o);
    struct shares share = shares_of(o);
    double green = 1 - share.red - share.blue;
    pass_float(pass, "chroma_scale", (float)levels.chroma_scale);
    pass_float(pass, "chroma_offset", (float)levels.chroma_offset);
    pass_float(pass, "red_cr", (float)(2 * (1 - share.red)));
    pass_float(pass, "green_cb", (float)(2 * (1 - share.blue) * share.blue / green));
    pass_float(pass, "green_cr", (float)(2 * (1 - share.red) * share.red / green));
    pass_float(pass, "blue_cb", (float)(2 * (1 - share.blue)));
    return pass;
}

static void plan_yuyv(const struct operation *o, struct plan *plan)
{
    plan_ycbcr(o, plan, "frame/yuyv.glsl");
}

static bool is_halved(uint32_t chroma, uint32_t frame)
{
    return chroma != frame;
}

static void plan_nv12(const struct operation *o, struct plan *plan)
{
    const struct image_view *frame = &o->images[SOURCE], *chroma = &o->images[CHROMA];
    struct pass *pass = plan_ycbcr(o, plan, "frame/nv12.glsl");
    pass_texture(pass, "chroma", chroma);
    pass_int(pass, "chroma_x", is_halved(chroma->width, frame->width));
    pass_int(pass, "chroma_y", is_halved(chroma->height, frame->height));
}

/* ---- References ---- */

typedef void (*pixel_source)(const struct reference *r, uint32_t n, int32_t y, int32_t x,
                             double pixel[3]);

static void swap(double *a, double *b)
{
    double old = *a;
    *a = *b;
    *b = old;
}

static void rgb_pixel(const struct reference *r, uint32_t n, int32_t y, int32_t x, double pixel[3])
{
    for (uint32_t c = 0; c < 3; c++)
        pixel[c] = *tensor_at(&r->images[SOURCE], n, c, y, x);
}

static void yuyv_pixel(const struct reference *r, uint32_t n, int32_t y, int32_t x, double pixel[3])
{
    pixel[0] = *tensor_at(&r->images[SOURCE], n, 0, y, x);
    pixel[1] = *tensor_at(&r->images[SOURCE], n, 1, y, x / 2 * 2);
    pixel[2] = *tensor_at(&r->images[SOURCE], n, 1, y, x / 2 * 2 + 1);
}

static void nv12_pixel(const struct reference *r, uint32_t n, int32_t y, int32_t x, double pixel[3])
{
    const struct tensor *luma = &r->images[SOURCE], *chroma = &r->images[CHROMA];
    int32_t v = is_halved(chroma->height, luma->height) ? y / 2 : y;
    int32_t u = is_halved(chroma->width, luma->width) ? x / 2 : x;
    pixel[0] = *tensor_at(luma, n, 0, y, x);
    pixel[1] = *tensor_at(chroma, n, 0, v, u);
    pixel[2] = *tensor_at(chroma, n, 1, v, u);
}

static void swap_pixel(const struct operation *o, double pixel[3])
{
    const struct glcnn_frame_parameters *p = o->parameters;
    if (p->swapped)
        swap(strcmp(o->descriptor->name, "frame_rgb") == 0 ? &pixel[0] : &pixel[1], &pixel[2]);
}

/* How much of result X is pixel p of `size`, which become `count`. */
static double share(int32_t X, int32_t p, uint32_t size, uint32_t count)
{
    double step = (double)size / count;
    if (step >= 1) {
        double low = fmax(X * step, p), high = fmin((X + 1) * step, p + 1.0);
        return fmax(high - low, 0) / step;
    }
    double place = fmin(fmax((X + 0.5) * step - 0.5, 0), size - 1.0);
    return fmax(1 - fabs(place - p), 0);
}

static void scaled_pixel(const struct reference *r, pixel_source source, uint32_t n,
                         const int32_t at[2], double sum[3])
{
    struct crop crop = crop_of(r->operation);
    const struct tensor *to = &r->images[RESULT];
    double pixel[3];
    sum[0] = sum[1] = sum[2] = 0;
    for (int32_t y = 0; y < (int32_t)crop.height; y++)
        for (int32_t x = 0; x < (int32_t)crop.width; x++) {
            double weight =
                share(at[0], y, crop.height, to->height) * share(at[1], x, crop.width, to->width);
            if (weight < 1e-12) /* rounding of a share that is none */
                continue;
            source(r, n, (int32_t)crop.y + y, (int32_t)crop.x + x, pixel);
            for (int c = 0; c < 3; c++)
                sum[c] += weight * pixel[c];
        }
    swap_pixel(r->operation, sum);
}

static void rgb_of(const struct operation *o, double v[3])
{
    struct levels levels = levels_of(o);
    for (int c = 0; c < 3; c++)
        v[c] = v[c] * levels.luma_scale + levels.luma_offset;
}

/* Y' = kr R + kg G + kb B,  Cb = (B - Y') / (2 - 2 kb),  Cr = (R - Y') / (2 - 2 kr), turned round.
 * Y' stands once in each, so that an infinite one gives infinities. */
static void rgb_of_ycbcr(const struct operation *o, double v[3])
{
    struct levels levels = levels_of(o);
    struct shares k = shares_of(o);
    double luma = v[0] * levels.luma_scale + levels.luma_offset;
    double cb = v[1] * levels.chroma_scale + levels.chroma_offset;
    double cr = v[2] * levels.chroma_scale + levels.chroma_offset;
    double red = cr * (2 - 2 * k.red), blue = cb * (2 - 2 * k.blue);
    v[0] = luma + red;
    v[1] = luma - (k.red * red + k.blue * blue) / (1 - k.red - k.blue);
    v[2] = luma + blue;
}

static double held(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static void frame_reference(const struct reference *r, pixel_source source,
                            void (*color)(const struct operation *o, double v[3]))
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    const double *mean = r->vectors[MEAN], *deviation = r->vectors[DEVIATION];
    int32_t at[2];
    double v[3];
    for (uint32_t n = 0; n < to->images; n++)
        for (at[0] = w->y.begin; at[0] < w->y.end; at[0]++)
            for (at[1] = w->x.begin; at[1] < w->x.end; at[1]++) {
                scaled_pixel(r, source, n, at, v);
                color(r->operation, v);
                for (uint32_t c = 0; c < 3; c++)
                    *tensor_at(to, n, c, at[0], at[1]) =
                        (held(v[c]) - (mean ? mean[c] : 0)) / (deviation ? deviation[c] : 1);
            }
}

static void rgb_reference(const struct reference *r)
{
    frame_reference(r, rgb_pixel, rgb_of);
}

static void yuyv_reference(const struct reference *r)
{
    frame_reference(r, yuyv_pixel, rgb_of_ycbcr);
}

static void nv12_reference(const struct reference *r)
{
    frame_reference(r, nv12_pixel, rgb_of_ycbcr);
}

/* ---- Cases ---- */

/* Of frames of C channels, and chroma of half the columns and rows where a kernel has any. */
#define FRAME(SETTINGS, C, N, H, W)                                                                \
    {                                                                                              \
        SETTINGS, {N, C, H, W},                                                                    \
        {                                                                                          \
            N, 2, ((H) + 1) / 2, ((W) + 1) / 2                                                     \
        }                                                                                          \
    }
#define CASES(C)                                                                                   \
    FRAME("", C, 1, 3, 4), FRAME("color_range=full", C, 2, 4, 6),                                  \
        FRAME("color_range=limited color_matrix=bt709", C, 2, 5, 8),                               \
        FRAME("color_range=full color_matrix=bt709 swapped=true", C, 1, 6, 6),                     \
        FRAME("resized_width=3 resized_height=2", C, 2, 7, 8),                                     \
        FRAME("resized_width=13 resized_height=9 swapped=true", C, 1, 5, 6),                       \
        FRAME("resized_width=4 resized_height=11", C, 3, 5, 12),                                   \
        FRAME("crop_x=1 crop_y=2 crop_width=4 crop_height=3", C, 1, 6, 8),                         \
        FRAME("crop_x=3 crop_y=1 resized_width=2 resized_height=3", C, 2, 8, 10),                  \
        FRAME("crop_x=2 crop_y=1 crop_width=1 crop_height=5 resized_width=5 resized_height=1", C,  \
              1, 7, 6),                                                                            \
        FRAME("resized_width=5 resized_height=4 clip_rect_origin_x=1 clip_rect_origin_y=2 "        \
              "clip_rect_size_width=3 clip_rect_size_height=1",                                    \
              C, 2, 9, 8),                                                                         \
        FRAME("resized_width=1 resized_height=1", C, 1, 64, 64),                                   \
        FRAME("resized_width=2 resized_height=2 destination_feature_channel_offset=4", C, 1, 3, 4)

static const struct check_case rgb_cases[] = {
    CASES(3),
    CASES(4),
    FRAME("", 3, 1, 3, 3),
    {"resized_width=4 resized_height=3 source_feature_channel_offset=4 "
     "source_feature_channel_max_count=3",
     {2, 9, 5, 6}},
    {"crop_x=8 crop_width=48 resized_width=31 resized_height=33", {2, 3, 60, 64}, {0}, true},
    {0}};

static const struct check_case yuyv_cases[] = {
    CASES(2),
    {"crop_x=7 crop_width=48 resized_width=31 resized_height=33", {2, 2, 60, 64}, {0}, true},
    {0}};

static const struct check_case nv12_cases[] = {
    CASES(1),
    {"resized_width=4 resized_height=3 swapped=true", {2, 1, 5, 7}, {2, 2, 3, 4}},
    {"resized_width=3 resized_height=4", {1, 1, 4, 6}, {1, 2, 4, 3}},
    {"", {1, 1, 4, 5}, {1, 2, 2, 5}},
    {"resized_width=9", {2, 1, 3, 5}, {2, 2, 3, 5}},
    {"", {1, 1, 1, 1}, {1, 2, 1, 1}},
    {"crop_x=7 crop_width=48 resized_width=31 resized_height=33",
     {2, 1, 60, 64},
     {2, 2, 30, 32},
     true},
    {0}};

/* ---- Descriptors ---- */

static const char *const matrix_names[] = {"bt601", "bt709", NULL};
static const char *const range_names[] = {"usual", "full", "limited", NULL};

#define FIELD(MEMBER) offsetof(struct glcnn_frame_parameters, MEMBER)
#define PIXELS(NAME, TEXT)                                                                         \
    {                                                                                              \
#NAME, TEXT, FIELD_UINT32, FIELD(NAME), 0, 0, MOST_PIXELS, NULL                            \
    }

static const struct parameter parameters[] = {
    PIXELS(crop_x, "first column of the frame that counts"),
    PIXELS(crop_y, "first row of the frame that counts"),
    PIXELS(crop_width, "columns that count; 0: all the rest"),
    PIXELS(crop_height, "rows that count; 0: all the rest"),
    PIXELS(resized_width, "columns of the result; 0: those that count"),
    PIXELS(resized_height, "rows of the result; 0: those that count"),
    {"color_matrix", "what luma and chroma are of red, green and blue", FIELD_ENUM, FIELD(matrix),
     0, 0, 0, matrix_names},
    {"color_range", "which bytes are black and white", FIELD_ENUM, FIELD(range), 0, 0, 0,
     range_names},
    {"swapped", "blue comes before red, or Cr before Cb", FIELD_BOOL, FIELD(swapped), 0, 0, 1,
     NULL},
    {0}};

#define ARGUMENTS                                                                                  \
    {.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_BYTE},         \
        {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},                 \
        {.name = "mean", .place = PLACE_KERNEL, .input = true, .optional = true},                  \
    {                                                                                              \
        .name = "deviation", .place = PLACE_KERNEL, .input = true, .optional = true, .neutral = 1, \
        .values = VALUES_POSITIVE                                                                  \
    }

#define FRAMES(KIND, TEXT)                                                                         \
    .name = "frame_" #KIND, .text = TEXT, .family = "frame",                                       \
    .without_gradient = "frames are not trained; let its result stop gradients",                   \
    .parameters_size = sizeof(struct glcnn_frame_parameters), .parameters = parameters,            \
    .shape = shape, .length = length, .check = check_##KIND, .plan = plan_##KIND,                  \
    .reference = KIND##_reference, .cases = KIND##_cases

const struct glcnn_descriptor glcnn_kernel_frame_rgb = {
    FRAMES(rgb, "frames of red, green and blue cropped, scaled and normalised"),
    .arguments = {ARGUMENTS},
};

const struct glcnn_descriptor glcnn_kernel_frame_yuyv = {
    FRAMES(yuyv, "frames of YUYV as red, green and blue, cropped, scaled and normalised"),
    .arguments = {ARGUMENTS},
};

const struct glcnn_descriptor glcnn_kernel_frame_nv12 = {
    FRAMES(nv12, "frames of NV12 as red, green and blue, cropped, scaled and normalised"),
    .flags = IS_BINARY,
    .arguments =
        {ARGUMENTS,
         {.name = "chroma_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_BYTE}},
};
