/* Frames of a camera as images: crop, change of size and colours. Spec 7.23. */
#include "kernels/frame.h"

#include <math.h>

#include "reference/reference.h"

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
    int32_t v = frame_is_halved(chroma->height, luma->height) ? y / 2 : y;
    int32_t u = frame_is_halved(chroma->width, luma->width) ? x / 2 : x;
    pixel[0] = *tensor_at(luma, n, 0, y, x);
    pixel[1] = *tensor_at(chroma, n, 0, v, u);
    pixel[2] = *tensor_at(chroma, n, 1, v, u);
}

static void swap_pixel(const struct operation *o, double pixel[3])
{
    const struct glcnn_frame_parameters *p = o->parameters;
    if (p->swapped)
        swap(frame_is_rgb(o) ? &pixel[0] : &pixel[1], &pixel[2]);
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
    struct crop crop = frame_crop(r->operation);
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
    struct levels levels = frame_levels(o);
    for (int c = 0; c < 3; c++)
        v[c] = v[c] * levels.luma_scale + levels.luma_offset;
}

/* Y' = kr R + kg G + kb B,  Cb = (B - Y') / (2 - 2 kb),  Cr = (R - Y') / (2 - 2 kr), turned round.
 * Y' stands once in each, so that an infinite one gives infinities. */
static void rgb_of_ycbcr(const struct operation *o, double v[3])
{
    struct levels levels = frame_levels(o);
    struct shares k = frame_shares(o);
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

const struct glcnn_reference glcnn_reference_frame_nv12 = {nv12_reference, nv12_cases};
const struct glcnn_reference glcnn_reference_frame_rgb = {rgb_reference, rgb_cases};
const struct glcnn_reference glcnn_reference_frame_yuyv = {yuyv_reference, yuyv_cases};
