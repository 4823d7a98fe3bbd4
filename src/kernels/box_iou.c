/* Intersection over union of the boxes of two images: spec 8.2. */
#include "glcnn/kernels/box_loss.h"

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/arithmetic.h"
#include "kernels/box_loss.h"

extern const struct glcnn_descriptor glcnn_kernel_box_iou;

static void shape(const struct operation *o, struct glcnn_image_descriptor *result)
{
    (void)o;
    result->feature_channels = 1;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct image_view *a = &o->images[PRIMARY], *b = &o->images[SECONDARY];
    if (!box_check_channels(a, validation) || !box_check_channels(b, validation))
        return false;
    return (a->width == b->width && a->height == b->height) ||
           invalid(validation, "the boxes are %ux%u and %ux%u; there must be as many of both",
                   a->width, a->height, b->width, b->height);
}

static void plan(const struct operation *o, struct plan *plan)
{
    struct pass *pass = plan_pixels(plan, o, "loss/box_iou.comp", &o->images[RESULT]);
    pass_operands(pass, o);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass->work = 60;
}

static const struct argument arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_POSITIVE},
    {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_POSITIVE},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_box_iou = {
    .name = "box_iou",
    .text = "intersection over union of two images' boxes",
    .family = "box_iou",
    .flags = IS_BINARY,
    .without_gradient = "box_loss has one; labels that are made of it take none",
    .arguments = arguments,
    .shape = shape,
    .check = check,
    .plan = plan,
};
