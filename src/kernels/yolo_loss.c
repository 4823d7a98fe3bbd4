/* The loss of a detector with anchor boxes, and its first gradient: spec 8.1. A pass finds what each
 * anchor box of each cell has, others compute its losses and gradients, in slices of its own, and the
 * last brings them to their channels. Old GPUs cannot keep the values of all that in one pass. */
#include "kernels/yolo_loss.h"

#include <float.h>
#include <math.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "encode/window.h"

#define MOST_BOXES 1024

uint32_t yolo_loss_box_channels(const struct operation *o)
{
    const struct glcnn_yolo_loss_parameters *p = o->parameters;
    return o->images[SOURCE].channels / p->number_of_anchor_boxes;
}

static uint32_t class_count(const struct operation *o)
{
    return yolo_loss_box_channels(o) - BOX_CLASSES;
}

/* Without classes there is no smoothing over them. */
struct glcnn_loss_parameters yolo_loss_part(const struct glcnn_yolo_loss_part *part,
                                            const struct operation *o)
{
    uint32_t classes = class_count(o);
    return (struct glcnn_loss_parameters){.loss_type = part->loss_type,
                                          .weight = part->weight,
                                          .label_smoothing = part->label_smoothing,
                                          .number_of_classes = classes ? classes : 1,
                                          .epsilon = part->epsilon,
                                          .delta = part->delta};
}

/* ---- Parts ---- */

/* What shaders call a part's numbers. */
struct part {
    const char *name, *loss_type, *epsilon, *delta, *smoothing_scale, *smoothing_offset;
    size_t offset; /* in the parameters */
};

#define PART(NAME)                                                                                 \
    {                                                                                              \
#NAME, #NAME "_loss_type", #NAME "_epsilon", #NAME "_delta", #NAME "_smoothing_scale",     \
            #NAME "_smoothing_offset", offsetof(struct glcnn_yolo_loss_parameters, NAME)           \
    }

enum { XY, WH, CONFIDENCE, CLASSES, PARTS };
static const struct part parts[PARTS] = {
    [XY] = PART(xy), [WH] = PART(wh), [CONFIDENCE] = PART(confidence), [CLASSES] = PART(classes)};

static struct glcnn_loss_parameters part_of(const struct operation *o, int part)
{
    const char *parameters = o->parameters;
    return yolo_loss_part((const void *)(parameters + parts[part].offset), o);
}

static bool has_soft_max(const struct operation *o)
{
    const struct glcnn_loss_parameters p = part_of(o, CLASSES);
    return loss_row_of(&p)->over_channels && class_count(o) > 0;
}

/* ---- Arguments ---- */

static size_t length(const struct operation *o, size_t index)
{
    const struct glcnn_yolo_loss_parameters *p = o->parameters;
    (void)index;
    return 2 * (size_t)p->number_of_anchor_boxes;
}

static bool check_channels(const struct operation *o, struct validation validation)
{
    const struct glcnn_yolo_loss_parameters *p = o->parameters;
    uint32_t channels = o->images[SOURCE].channels, boxes = p->number_of_anchor_boxes;
    if (channels % boxes == 0 && channels / boxes >= BOX_CLASSES)
        return true;
    return invalid(
        validation,
        "the predictions have %u channels; %u anchor boxes need 5 and one for each class, "
        "of each box",
        channels, boxes);
}

static bool check_type(const struct operation *o, int part, struct validation validation)
{
    const struct glcnn_loss_parameters p = part_of(o, part);
    const char *found = loss_type_names[p.loss_type];
    if (p.loss_type == GLCNN_LOSS_TYPE_COSINE_DISTANCE)
        return invalid(validation, "%s is %s, which is one number for an image; choose another",
                       parts[part].loss_type, found);
    if (loss_row_of(&p)->over_channels && part != CLASSES)
        return invalid(validation, "%s is %s, which is for classes; choose another",
                       parts[part].loss_type, found);
    return true;
}

static bool check(const struct operation *o, struct validation validation)
{
    if (!check_channels(o, validation))
        return false;
    for (int part = 0; part < PARTS; part++)
        if (!check_type(o, part, validation))
            return false;
    return loss_check(o, validation);
}

/* ---- Passes ---- */

/* What passes hand on, by cell: of each anchor box a slice with what it has, one with the sums of its
 * soft-max, and its gradients and losses in slices of its own. */
struct found {
    struct image_view boxes, sums, gradients, losses;
};

/* x y w h, confidence, classes. */
static uint32_t box_slices(const struct operation *o)
{
    return 2 + slice_count(class_count(o));
}

static struct image_view scratch(const struct operation *o, struct plan *plan, uint32_t slices)
{
    const struct glcnn_yolo_loss_parameters *p = o->parameters;
    return plan_scratch_image(plan, (struct extent){o->region_width, o->region_height,
                                                    4 * p->number_of_anchor_boxes * slices,
                                                    o->images[DESTINATION].images});
}

static void pass_channels(struct pass *pass, const struct operation *o)
{
    pass_define(pass, "BOX_CHANNELS", (int)yolo_loss_box_channels(o));
    pass_define(pass, "BOX_SLICES", (int)box_slices(o));
    if (o->given[LOSS])
        pass_define(pass, "LOSSES", 1);
    if (o->given[LOSS] && loss_by_count(o))
        pass_define(pass, "COUNTS", 1);
}

/* A pass over all anchor boxes of all cells. */
static struct pass *plan_over_boxes(const struct operation *o, struct plan *plan,
                                    const char *shader, const struct found *found)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_origin(pass, o->region_x, o->region_y, 0);
    pass_grid_over(pass, o->region_width, o->region_height, "boxes", &found->boxes);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_texture(pass, "labels", &o->images[LABELS]);
    if (o->given[WEIGHTS]) {
        pass_define(pass, "WEIGHTS", 1);
        pass_texture(pass, "weights", &o->images[WEIGHTS]);
    }
    for (uint32_t i = 0; i < pass->texture_count; i++)
        pass_template(pass, "loss/channels_from.glsl", pass->textures[i].name);
    pass_vector(pass, "anchor_boxes", &o->vectors[ANCHOR_BOXES], VECTOR_READ);
    pass_window(pass, &o->window);
    pass_channels(pass, o);
    return pass;
}

/* One that stores some of their gradients and losses. */
static struct pass *plan_losses(const struct operation *o, struct plan *plan, const char *shader,
                                const struct found *found)
{
    struct pass *pass = plan_over_boxes(o, plan, shader, found);
    pass_texture(pass, "boxes", &found->boxes);
    pass_image(pass, "gradients", &found->gradients);
    if (o->given[LOSS])
        pass_image(pass, "losses", &found->losses);
    return pass;
}

static void pass_part(struct pass *pass, const struct operation *o, int part)
{
    const struct glcnn_loss_parameters p = part_of(o, part);
    double scale, offset;
    loss_smoothing(&p, &scale, &offset);
    pass_float(pass, parts[part].smoothing_scale, (float)scale);
    pass_float(pass, parts[part].smoothing_offset, (float)offset);
    if (loss_row_of(&p)->over_channels)
        return;
    pass_float(pass, parts[part].epsilon, p.epsilon);
    pass_float(pass, parts[part].delta, p.delta);
    pass_template(pass, loss_row_of(&p)->shader, parts[part].name);
}

/* Of each anchor box the labels of all are read. */
static void plan_boxes(const struct operation *o, struct plan *plan, const struct found *found)
{
    const struct glcnn_yolo_loss_parameters *p = o->parameters;
    struct pass *pass = plan_over_boxes(o, plan, "loss/yolo_loss_boxes.comp", found);
    pass_image(pass, "boxes", &found->boxes);
    if (p->rescore)
        pass_define(pass, "RESCORE", 1);
    pass_int(pass, "box_count", (int32_t)p->number_of_anchor_boxes);
    pass_float(pass, "presence", p->min_iou_for_object_presence);
    pass_float(pass, "absence", p->max_iou_for_object_absence);
    pass_float(pass, "object_scale", p->scale_object * p->confidence.weight);
    pass_float(pass, "no_object_scale", p->scale_no_object * p->confidence.weight);
    pass->work = p->number_of_anchor_boxes * 40 + 200;
}

static void plan_xywh(const struct operation *o, struct plan *plan, const struct found *found)
{
    const struct glcnn_yolo_loss_parameters *p = o->parameters;
    struct pass *pass = plan_losses(o, plan, "loss/yolo_loss_xywh.comp", found);
    pass_part(pass, o, XY);
    pass_part(pass, o, WH);
    pass_float(pass, "xy_scale", p->scale_xy * p->xy.weight);
    pass_float(pass, "wh_scale", p->scale_wh * p->wh.weight);
    pass->work = 300;
}

static void plan_confidence(const struct operation *o, struct plan *plan, const struct found *found)
{
    struct pass *pass = plan_losses(o, plan, "loss/yolo_loss_confidence.comp", found);
    pass_part(pass, o, CONFIDENCE);
    pass->work = 200;
}

static void pass_classes(struct pass *pass, const struct operation *o)
{
    const struct glcnn_yolo_loss_parameters *p = o->parameters;
    pass_part(pass, o, CLASSES);
    pass_int(pass, "class_count", (int32_t)class_count(o));
    pass_float(pass, "classes_scale", p->scale_class * p->classes.weight);
    pass->work = slice_count(class_count(o)) * 200 + 20;
}

static void plan_sums(const struct operation *o, struct plan *plan, const struct found *found)
{
    struct pass *pass = plan_over_boxes(o, plan, "loss/yolo_loss_sums.comp", found);
    pass_texture(pass, "boxes", &found->boxes);
    pass_image(pass, "sums", &found->sums);
    pass_classes(pass, o);
}

static void plan_classes(const struct operation *o, struct plan *plan, struct found *found)
{
    bool soft_max = has_soft_max(o);
    if (class_count(o) == 0)
        return;
    if (soft_max) {
        found->sums = scratch(o, plan, 1);
        plan_sums(o, plan, found);
    }
    struct pass *pass = plan_losses(o, plan, "loss/yolo_loss_classes.comp", found);
    if (soft_max) {
        pass_define(pass, "SOFT_MAX", 1);
        pass_texture(pass, "sums", &found->sums);
    }
    pass_classes(pass, o);
}

static struct pass *plan_cells(const struct operation *o, struct plan *plan,
                               const struct found *found)
{
    const struct image_view *destination = &o->images[DESTINATION];
    struct pass *pass = plan_pass(plan, "loss/yolo_loss.comp");
    pass_origin(pass, o->region_x, o->region_y, 0);
    pass_grid(pass, o->region_width, o->region_height, destination->images);
    pass_batch_axis(pass, 2);
    pass_texture(pass, "gradients", &found->gradients);
    if (o->given[LOSS])
        pass_texture(pass, "losses", &found->losses);
    pass_channels(pass, o);
    pass_image(pass, "destination", destination);
    if (o->gradient_scale) {
        pass_define(pass, "SCALED", 1);
        pass_float_of(pass, "gradient_scale", o->gradient_scale);
    }
    pass->work = slice_count(destination->channels) * 60;
    return pass;
}

static void plan_yolo_loss(const struct operation *o, struct plan *plan)
{
    struct found found = {.boxes = scratch(o, plan, 1),
                          .gradients = scratch(o, plan, box_slices(o))};
    if (o->given[LOSS])
        found.losses = scratch(o, plan, box_slices(o));
    plan_boxes(o, plan, &found);
    plan_xywh(o, plan, &found);
    plan_confidence(o, plan, &found);
    plan_classes(o, plan, &found);
    loss_plan_value(o, plan, plan_cells(o, plan, &found));
}

/* ---- Descriptor ---- */

#define FIELD(NAME) offsetof(struct glcnn_yolo_loss_parameters, NAME)
/* clang-format off */
#define PART_PARAMETERS(PART, TYPE)                                                                \
    {#PART "_loss_type", "which loss the part " #PART " has", FIELD_ENUM, FIELD(PART.loss_type),   \
     GLCNN_LOSS_TYPE_##TYPE, 0, 0, loss_type_names},                                               \
    {#PART "_weight", "factor of that loss and its gradient", FIELD_FLOAT, FIELD(PART.weight),     \
     1, -(double)FLT_MAX, (double)FLT_MAX, NULL},                                                  \
    {#PART "_label_smoothing", "share of its labels that is spread over classes; cross entropies " \
     "of soft-max and sigmoid", FIELD_FLOAT, FIELD(PART.label_smoothing), 0, 0, 1, NULL},          \
    {#PART "_epsilon", "added to arguments of its logarithms; log only", FIELD_FLOAT,              \
     FIELD(PART.epsilon), 1e-7, 0, (double)FLT_MAX, NULL},                                         \
    {#PART "_delta", "where it becomes linear; huber only", FIELD_FLOAT, FIELD(PART.delta),        \
     1, 0, (double)FLT_MAX, NULL}
#define SCALE(NAME, TEXT, DEFAULT)                                                                 \
    {#NAME, "factor of the loss of " TEXT, FIELD_FLOAT, FIELD(NAME),                               \
     DEFAULT, -(double)FLT_MAX, (double)FLT_MAX, NULL}
/* clang-format on */

static const struct parameter parameters[] = {
    PART_PARAMETERS(xy, MEAN_SQUARED_ERROR),
    PART_PARAMETERS(wh, HUBER),
    PART_PARAMETERS(confidence, SIGMOID_CROSS_ENTROPY),
    PART_PARAMETERS(classes, SOFT_MAX_CROSS_ENTROPY),
    {"reduction_type", "how the losses of an image become one number; none: they do not",
     FIELD_ENUM, FIELD(reduction_type), GLCNN_REDUCTION_TYPE_SUM, 0, 0, loss_reduction_types},
    {"rescore", "multiplies the confidence of labels by the IoU of prediction and label",
     FIELD_BOOL, FIELD(rescore), 1, 0, 0, NULL},
    SCALE(scale_xy, "positions", 10),
    SCALE(scale_wh, "sizes", 10),
    SCALE(scale_no_object, "confidence where there is no object", 5),
    SCALE(scale_object, "confidence where there is an object", 100),
    SCALE(scale_class, "classes", 2),
    {"min_iou_for_object_presence", "above it a prediction has the object of its label",
     FIELD_FLOAT, FIELD(min_iou_for_object_presence), 0.7, 0, 1, NULL},
    {"max_iou_for_object_absence", "below it a prediction without an object should have none",
     FIELD_FLOAT, FIELD(max_iou_for_object_absence), 0.3, 0, 1, NULL},
    {"number_of_anchor_boxes", "anchor boxes of a cell", FIELD_UINT32,
     FIELD(number_of_anchor_boxes), 1, 1, MOST_BOXES, NULL},
    {0}};

static const struct argument arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "labels", .place = PLACE_LABELS, .input = true, .values = VALUES_STEPS},
    {.name = "label_weights",
     .place = PLACE_LABEL_WEIGHTS,
     .input = true,
     .optional = true,
     .values = VALUES_ZERO_ONE},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "loss", .place = PLACE_LOSS, .output = true, .optional = true},
    {.name = "anchor_boxes",
     .place = PLACE_KERNEL,
     .input = true,
     .neutral = 1,
     .values = VALUES_POSITIVE},
    {0}};

const struct glcnn_descriptor glcnn_kernel_yolo_loss = {
    .name = "yolo_loss",
    .mps_class = "MPSCNNYOLOLoss",
    .text = "loss of a detector with anchor boxes against labels, and its gradient",
    .family = "yolo_loss",
    .form = &(const struct loss_form){.reduction_type = FIELD(reduction_type)},
    .without_gradient = "it computes the first gradient itself",
    .parameters_size = sizeof(struct glcnn_yolo_loss_parameters),
    .parameters = parameters,
    .arguments = arguments,
    .image_shape = loss_shape,
    .length = length,
    .check = check,
    .plan = plan_yolo_loss,
};

/* ---- Constructor ---- */

static glcnn_status check_boxes(glcnn_device *device, const float *boxes, size_t count)
{
    char w[NUMBER_TEXT], h[NUMBER_TEXT];
    if (!boxes && count > 0)
        return device_fail(device, GLCNN_INVALID_ARGUMENT, "yolo_loss: anchor_boxes is NULL");
    if (count % 2 || count > 2 * MOST_BOXES || (boxes && count == 0))
        return device_fail(
            device, GLCNN_INVALID_ARGUMENT,
            "yolo_loss: anchor_boxes has %zu numbers; it needs 2 for each of 1 to %d "
            "anchor boxes",
            count, MOST_BOXES);
    for (size_t i = 0; i < count; i += 2)
        if (!isfinite(boxes[i]) || !isfinite(boxes[i + 1]) || boxes[i] <= 0 || boxes[i + 1] <= 0)
            return device_fail(device, GLCNN_INVALID_ARGUMENT,
                               "yolo_loss: anchor box %zu is %s x %s; both must be finite and "
                               "greater than 0",
                               i / 2, number_format(w, (double)boxes[i]),
                               number_format(h, (double)boxes[i + 1]));
    return GLCNN_SUCCESS;
}

glcnn_status glcnn_yolo_loss_create(glcnn_device *device, const float *anchor_boxes, size_t count,
                                    glcnn_reduction_type reduction_type, glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_yolo_loss, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    status = check_boxes(device, anchor_boxes, count);
    glcnn_yolo_loss(*kernel)->reduction_type = reduction_type;
    if (status == GLCNN_SUCCESS && count > 0) {
        glcnn_yolo_loss(*kernel)->number_of_anchor_boxes = (uint32_t)(count / 2);
        status = glcnn_kernel_set_vector(*kernel, "anchor_boxes", anchor_boxes, count);
    }
    return kernel_finish(kernel, status);
}
