/* Normalisation of pictures by given means and deviations: spec 7.15. */
#include "glcnn/kernels/image_normalization.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "encode/window.h"
#include "kernels/pointwise.h"

enum { SOURCE, RESULT, MEAN, DEVIATION };

/* ---- Constructor ---- */

extern const struct glcnn_descriptor glcnn_kernel_image_normalization;

static glcnn_status check_values(glcnn_device *device, const float *mean, const float *deviation,
                                 size_t count)
{
    char m[NUMBER_TEXT], d[NUMBER_TEXT];
    if ((!mean || !deviation) && count > 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "image_normalization: %s is NULL",
                           mean ? "deviation" : "mean");
    for (size_t c = 0; c < count; c++)
        if (!isfinite(mean[c]) || !isfinite(deviation[c]) || deviation[c] <= 0)
            return device_fail(device, GLCNN_INVALID_ARGUMENT,
                               "image_normalization: channel %zu has a mean of %s and a deviation "
                               "of %s; both must be finite and the deviation greater than 0",
                               c, number_format(m, (double)mean[c]),
                               number_format(d, (double)deviation[c]));
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_image_normalization_create(glcnn_device *device, const float *mean,
                                              const float *deviation, size_t count,
                                              glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_image_normalization, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    status = check_values(device, mean, deviation, count);
    if (status == GLCNN_SUCCESS && count)
        status = glcnn_kernel_set_vector(*kernel, "mean", mean, count);
    if (status == GLCNN_SUCCESS && count)
        status = glcnn_kernel_set_vector(*kernel, "deviation", deviation, count);
    return kernel_finish(kernel, status);
}

/* ---- Pass and reference ---- */

static size_t length(const struct operation *o, size_t index)
{
    (void)index;
    return o->images[SOURCE].channels;
}

static void plan(const struct operation *o, struct plan *plan)
{
    struct pass *pass =
        plan_pointwise(plan, o, "normalization/image_normalization.comp", &o->images[RESULT]);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_window(pass, &o->window);
    pass_vector(pass, "mean", &o->vectors[MEAN], VECTOR_READ);
    pass_vector(pass, "deviation", &o->vectors[DEVIATION], VECTOR_READ);
}

static void reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    double x = pointwise_source(w, &r->images[SOURCE], n, c, Y, X);
                    *tensor_at(to, n, c, Y, X) =
                        (x - (r->vectors[MEAN] ? r->vectors[MEAN][c] : 0)) /
                        (r->vectors[DEVIATION] ? r->vectors[DEVIATION][c] : 1);
                }
}

static const struct check_case cases[] = {
    {"", {1, 1, 3, 3}},
    {"", {1, 1, 3, 4}},
    {"", {2, 3, 4, 5}},
    {"", {1, 3, 7, 6}},
    {"", {3, 4, 5, 13}},
    {"", {2, 5, 4, 7}},
    {"", {1, 9, 8, 8}},
    {"offset_x=1 offset_y=-2 destination_width=6 destination_height=7", {2, 3, 5, 6}},
    {"edge_mode=clamp offset_x=-3 offset_y=2 destination_width=9 destination_height=5",
     {2, 5, 4, 5}},
    {"clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 clip_rect_size_height=2",
     {2, 6, 6, 7}},
    {"source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 5, 4}},
    {"", {16, 37, 28, 28}, {0}, true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_image_normalization = {
    .name = "image_normalization",
    .text = "each channel less its mean, divided by its deviation: of pictures",
    .family = "image_normalization",
    .without_gradient = "pictures are not trained; let its result stop gradients",
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
                  {.name = "mean", .place = PLACE_KERNEL, .input = true, .optional = true},
                  {.name = "deviation",
                   .place = PLACE_KERNEL,
                   .input = true,
                   .optional = true,
                   .neutral = 1,
                   .values = VALUES_POSITIVE}},
    .length = length,
    .implementations = pointwise_implementations,
    .plan = plan,
    .reference = reference,
    .cases = cases,
};
