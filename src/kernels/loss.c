/* Loss and first gradient: spec 8. A row of LOSS_TYPES is a loss type. Soft-max cross entropy works on
 * whole pixels and has its own shader; everything else is shared. */
#include "kernels/loss.h"

#include <float.h>

#include "encode/kernel.h"
#include "encode/window.h"

extern const struct glcnn_descriptor glcnn_kernel_loss;

/* ---- Types ---- */

static double by_classes(const struct glcnn_loss_parameters *p)
{
    return (double)p->label_smoothing / p->number_of_classes;
}

static double by_two(const struct glcnn_loss_parameters *p)
{
    return (double)p->label_smoothing / 2;
}

#define TYPE(NAME, ENUM, ...)                                                                      \
    [GLCNN_LOSS_TYPE_##ENUM] = {.shader = "loss/loss_" #NAME ".glsl", __VA_ARGS__},

static const struct loss_row types[] = {LOSS_TYPES(TYPE)};
#define TYPES (sizeof types / sizeof *types)

#define COUNT(...) +1
_Static_assert(TYPES == LOSS_TYPES(COUNT), "each type has a row and an enumerator of its own");

#define TYPE_NAME(NAME, ENUM, ...) [GLCNN_LOSS_TYPE_##ENUM] = #NAME,

const char *const loss_type_names[TYPES + 1] = {LOSS_TYPES(TYPE_NAME)};

const struct loss_row *loss_row_of(const struct glcnn_loss_parameters *p)
{
    return &types[p->loss_type];
}

static bool over_channels(const struct operation *o)
{
    return loss_row_of(o->parameters)->over_channels;
}

void loss_smoothing(const struct glcnn_loss_parameters *p, double *scale, double *offset)
{
    bool smooths = loss_row_of(p)->smoothing != NULL;
    *scale = smooths ? 1 - (double)p->label_smoothing : 1;
    *offset = smooths ? loss_row_of(p)->smoothing(p) : 0;
}

static double constant(const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    return loss_row_of(p)->constant * (double)p->weight;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    if (p->loss_type == GLCNN_LOSS_TYPE_COSINE_DISTANCE &&
        p->reduction_type != GLCNN_REDUCTION_TYPE_SUM)
        return invalid(
            validation,
            "the cosine distance is one number for an image; its reduction type must be sum");
    return loss_check(o, validation);
}

/* ---- Passes ---- */

/* What a type adds to the sum over an image is recorded with its weight, which then stays. */
static void pass_weight(const struct operation *o, struct pass *pass)
{
    const struct glcnn_loss_parameters *p = o->parameters, *live = NULL;
    if (o->follows_kernel && loss_row_of(p)->constant == 0)
        live = glcnn_loss(o->kernel);
    if (live)
        pass_float_of(pass, "weight", &live->weight);
    else
        pass_float(pass, "weight", p->weight);
}

static void add_parameters(const struct operation *o, struct pass *pass)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    double scale, offset;
    loss_smoothing(p, &scale, &offset);
    pass_float(pass, "smoothing_scale", (float)scale);
    pass_float(pass, "smoothing_offset", (float)offset);
    pass_weight(o, pass);
    pass_float(pass, "element_epsilon", p->epsilon);
    pass_float(pass, "element_delta", p->delta);
    if (over_channels(o))
        pass_define(pass, "OVER_CHANNELS", 1);
    if (o->given[WEIGHTS])
        pass_define(pass, "WEIGHTS", 1);
    if (o->gradient_scale) {
        pass_define(pass, "SCALED", 1);
        pass_float_of(pass, "gradient_scale", o->gradient_scale);
    }
}

void loss_pass_pixels(const struct loss_pixels *p, const struct implementation *row, uint32_t lanes)
{
    const struct operation *o = p->operation;
    const struct image_view *result = &o->images[DESTINATION];
    pass_implementation(p->pass, row);
    pass_library(p->pass, row->shader);
    pass_grid(p->pass, o->region_width * lanes, o->region_height, result->images);
    pass_batch_axis(p->pass, 2);
    p->pass->work = slice_count(result->channels) * 300 / lanes + 1;
}

/* One invocation goes through the slices of a pixel. */
static void plan_by_one(struct plan *plan, const struct implementation *row, const void *problem)
{
    (void)plan;
    loss_pass_pixels(problem, row, 1);
}

static const struct implementation_list rows = {
    "loss",
    (const struct implementation[]){{"loss_one", "loss/by_one.glsl", .plan = plan_by_one}, {0}}};
static const struct implementation_list *const loss_implementations[] = {&rows, NULL};

static struct pass *plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct image_view *destination = &o->images[DESTINATION];
    struct pass *pass = plan_pixels(plan, o, "loss/loss.comp", destination);
    implementation_plan(plan, &rows, &(struct loss_pixels){o, pass});
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_texture(pass, "labels", &o->images[LABELS]);
    if (o->given[WEIGHTS])
        pass_texture(pass, "weights", &o->images[WEIGHTS]);
    pass_image(pass, "destination", destination);
    pass_window(pass, &o->window);
    pass_template(pass, loss_row_of(o->parameters)->shader, "element");
    add_parameters(o, pass);
    return pass;
}

static void plan_loss(const struct operation *o, struct plan *plan)
{
    loss_plan_value(o, plan, plan_gradient(o, plan));
}

/* ---- Descriptor ---- */

#define FIELD(NAME) offsetof(struct glcnn_loss_parameters, NAME)
static const struct parameter parameters[] = {
    {"loss_type", "which loss", FIELD_ENUM, FIELD(loss_type), 0, 0, 0, loss_type_names},
    {"reduction_type", "how the losses of an image become one number; none: they do not",
     FIELD_ENUM, FIELD(reduction_type), 0, 0, 0, loss_reduction_types},
    {"weight", "factor of loss and gradient", FIELD_FLOAT, FIELD(weight), 1, -(double)FLT_MAX,
     (double)FLT_MAX, NULL},
    {"label_smoothing",
     "share of labels spread over classes; cross entropies of soft-max and "
     "sigmoid",
     FIELD_FLOAT, FIELD(label_smoothing), 0, 0, 1, NULL},
    {"number_of_classes", "classes that soft-max cross entropy smooths labels over", FIELD_UINT32,
     FIELD(number_of_classes), 1, 1, 4294967295.0, NULL},
    {"epsilon", "added to arguments of logarithms; log only", FIELD_FLOAT, FIELD(epsilon), 1e-7, 0,
     (double)FLT_MAX, NULL},
    {"delta", "where Huber's loss becomes linear", FIELD_FLOAT, FIELD(delta), 1, 0, (double)FLT_MAX,
     NULL},
    {0}};

static const struct argument arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_UNIT},
    {.name = "labels", .place = PLACE_LABELS, .input = true, .values = VALUES_UNIT},
    {.name = "label_weights",
     .place = PLACE_LABEL_WEIGHTS,
     .input = true,
     .optional = true,
     .values = VALUES_ZERO_ONE},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "loss", .place = PLACE_LOSS, .output = true, .optional = true},
    {0}};

const struct glcnn_descriptor glcnn_kernel_loss = {
    .name = "loss",
    .mps_class = "MPSCNNLoss",
    .text = "loss of predictions against labels, and its gradient",
    .family = "loss",
    .form = &(const struct loss_form){FIELD(reduction_type), over_channels, constant},
    .without_gradient = "it computes the first gradient itself",
    .parameters_size = sizeof(struct glcnn_loss_parameters),
    .parameters = parameters,
    .arguments = arguments,
    .image_shape = loss_shape,
    .check = check,
    .implementations = loss_implementations,
    .plan = plan_loss,
};
