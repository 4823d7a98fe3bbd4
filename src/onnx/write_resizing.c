/* Images of another size, and what no operator makes. */
#include <math.h>

#include <glcnn/kernels/resize.h>
#include <glcnn/kernels/upsampling.h>

#include "onnx/write_filter.h"

/* The least scale of so many pixels by which the result has so many. */
static float scale_of(int64_t source, int64_t result)
{
    float scale = (float)((double)result / (double)source);
    while ((double)scale * (double)source < (double)result)
        scale = nextafterf(scale, INFINITY);
    return scale;
}

static const char *write_scaled(const struct filter_call *c, const float scales[AXES],
                                const char *position)
{
    static const int64_t dims[] = {AXES};
    const char *y = write_node(
        c, "Resize",
        (const char *[]){c->sources[0].name, "", write_tensor(c, "scales", dims, 1, scales), NULL});
    write_text(c, "mode", c->row->operator);
    write_text(c, "coordinate_transformation_mode", position);
    return y;
}

/* The whole part of the source's size times the scale is the result's. */
static bool fits(const struct filter_call *c, const float scales[AXES])
{
    for (size_t i = H; i < AXES; i++)
        if ((int64_t)((double)scales[i] * (double)c->sources[0].dims[i]) != c->dims[i])
            return false;
    return true;
}

static const char *write_resize(struct filter_call *c)
{
    static const char *const positions[] = {"half_pixel", "pytorch_half_pixel", "asymmetric",
                                            "align_corners"};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                            "ceil"};
    const struct glcnn_resize_parameters *p = glcnn_resize(c->kernel);
    float scales[] = {1, 1, p->scale_y, p->scale_x};
    for (size_t i = H; i < AXES; i++)
        if (scales[i] == 0)
            scales[i] = scale_of(c->sources[0].dims[i], c->dims[i]);
    if (!fits(c, scales))
        return write_refuse(c, "its result has another size than its scales make of the source");
    const char *y = write_scaled(c, scales, positions[p->position]);
    write_text(c, "nearest_mode", roundings[p->rounding]);
    return y;
}

static const char *write_upsampling(struct filter_call *c)
{
    const struct glcnn_upsampling_parameters *p = glcnn_upsampling(c->kernel);
    const float scales[] = {1, 1, (float)p->scale_factor_y, (float)p->scale_factor_x};
    bool is_nearest = c->row->operator[0] == 'n';
    const char *y = write_scaled(c, scales,
                                 is_nearest || (p->asymmetric && !p->align_corners) ? "asymmetric"
                                 : p->align_corners ? "align_corners"
                                                    : "half_pixel");
    write_text(c, "nearest_mode", "floor");
    return y;
}

#define AUGMENTS "it changes pictures at random, for training alone; leave it out of the network"
#define FRAMES                                                                                     \
    "ONNX has no operator for frames of cameras; begin the network with the picture that it makes"
#define CROPS "no operator of ONNX samples regions at these positions, RoiAlign neither"

const struct kernel_row write_resizing[] = {
    {"resize_linear", write_resize, WHOLE, "linear", NULL},
    {"resize_nearest", write_resize, WHOLE, "nearest", NULL},
    {"upsampling_bilinear", write_upsampling, UNMOVED, "linear", NULL},
    {"upsampling_nearest", write_upsampling, UNMOVED, "nearest", NULL},
    {NULL, NULL, WHOLE, NULL, NULL}};

const struct kernel_row write_others[] = {
    {"augment_color", NULL, WHOLE, NULL, AUGMENTS},
    {"augment_geometry", NULL, WHOLE, NULL, AUGMENTS},
    {"crop_and_resize_bilinear", NULL, WHOLE, NULL, CROPS},
    {"crop_and_resize_bilinear_regions", NULL, WHOLE, NULL, CROPS},
    {"frame_nv12", NULL, WHOLE, NULL, FRAMES},
    {"frame_rgb", NULL, WHOLE, NULL, FRAMES},
    {"frame_yuyv", NULL, WHOLE, NULL, FRAMES},
    {NULL, NULL, WHOLE, NULL, NULL}};
