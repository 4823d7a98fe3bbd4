/* The loss of boxes by their complete intersection over union, and its first gradient: spec 8.2. */
#include "glcnn/kernels/box_loss.h"

#include <float.h>

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/box_loss.h"
#include "kernels/loss.h"

extern const struct glcnn_descriptor glcnn_kernel_box_loss;

bool box_check_channels(const struct image_view *boxes, struct validation validation)
{
    return boxes->channels == BOX_SIDES ||
           invalid(
               validation,
               "the boxes have %u channels; they need %d, the distances to the left, top, right "
               "and bottom",
               boxes->channels, BOX_SIDES);
}

static bool check_loss(const struct operation *o, struct validation validation)
{
    return box_check_channels(&o->images[SOURCE], validation) && loss_check(o, validation);
}

static void plan_loss(const struct operation *o, struct plan *plan)
{
    const struct glcnn_box_loss_parameters *p = o->parameters;
    const struct image_view *destination = &o->images[DESTINATION];
    struct pass *pass = plan_pass(plan, "loss/box_loss.comp");
    pass_origin(pass, o->region_x, o->region_y, 0);
    pass_grid(pass, o->region_width, o->region_height, destination->images);
    pass_batch_axis(pass, 2);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_texture(pass, "labels", &o->images[LABELS]);
    if (o->given[WEIGHTS]) {
        pass_define(pass, "WEIGHTS", 1);
        pass_texture(pass, "weights", &o->images[WEIGHTS]);
    }
    pass_image(pass, "destination", destination);
    pass_window(pass, &o->window);
    pass_float(pass, "weight", p->weight);
    if (o->gradient_scale) {
        pass_define(pass, "SCALED", 1);
        pass_float_of(pass, "gradient_scale", o->gradient_scale);
    }
    pass->work = 200;
    loss_plan_value(o, plan, pass);
}

#define FIELD(NAME) offsetof(struct glcnn_box_loss_parameters, NAME)
static const struct parameter parameters[] = {
    {"reduction_type", "how the losses of an image become one number; none: they do not",
     FIELD_ENUM, FIELD(reduction_type), GLCNN_REDUCTION_TYPE_SUM, 0, 0, loss_reduction_types},
    {"weight", "factor of loss and gradient", FIELD_FLOAT, FIELD(weight), 1, -(double)FLT_MAX,
     (double)FLT_MAX, NULL},
    {0}};

static const struct argument loss_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_POSITIVE},
    {.name = "labels", .place = PLACE_LABELS, .input = true, .values = VALUES_POSITIVE},
    {.name = "label_weights",
     .place = PLACE_LABEL_WEIGHTS,
     .input = true,
     .optional = true,
     .values = VALUES_ZERO_ONE},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "loss", .place = PLACE_LOSS, .output = true, .optional = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_box_loss = {
    .name = "box_loss",
    .text = "loss of predicted boxes against labels by their CIoU, and its gradient",
    .family = "box_loss",
    .form = &(const struct loss_form){.reduction_type = FIELD(reduction_type), .of_pixels = true},
    .without_gradient = "it computes the first gradient itself",
    .parameters_size = sizeof(struct glcnn_box_loss_parameters),
    .parameters = parameters,
    .arguments = loss_arguments,
    .image_shape = loss_shape,
    .check = check_loss,
    .plan = plan_loss,
};
