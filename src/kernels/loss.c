/* Loss and first gradient: spec 8. A row of LOSS_TYPES is a loss type. Soft-max cross entropy works on
 * whole pixels and has its own shader; everything else is shared. The loss value is summed pixel by
 * pixel, then over squares of BLOCK x BLOCK, so its order is fixed. */
#include "kernels/loss.h"

#include <float.h>

#include "encode/kernel.h"
#include "encode/window.h"

#define BLOCK 8

struct glcnn_loss_parameters *glcnn_loss(glcnn_kernel *kernel)
{
    return kernel_parameters(kernel, "loss");
}

extern const struct glcnn_descriptor glcnn_kernel_loss;

glcnn_status glcnn_loss_create(glcnn_device *device, glcnn_loss_type loss_type,
                               glcnn_reduction_type reduction_type, glcnn_kernel **kernel)
{
    glcnn_status status = kernel_create(device, &glcnn_kernel_loss, kernel);
    if (status != GLCNN_SUCCESS)
        return status;
    glcnn_loss(*kernel)->loss_type = loss_type;
    glcnn_loss(*kernel)->reduction_type = reduction_type;
    return kernel_finish(kernel, GLCNN_SUCCESS);
}

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

static const char *const type_names[TYPES + 1] = {LOSS_TYPES(TYPE_NAME)};

const struct loss_row *loss_row_of(const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    return &types[p->loss_type];
}

static bool over_channels(const struct operation *o)
{
    return loss_row_of(o)->over_channels;
}

void loss_smoothing(const struct operation *o, double *scale, double *offset)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    bool smooths = loss_row_of(o)->smoothing != NULL;
    *scale = smooths ? 1 - (double)p->label_smoothing : 1;
    *offset = smooths ? loss_row_of(o)->smoothing(p) : 0;
}

/* ---- Arguments ---- */

bool loss_is_element_wise(const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    return p->reduction_type == GLCNN_REDUCTION_TYPE_NONE;
}

static void loss_shape(const struct operation *o, size_t index,
                       struct glcnn_image_descriptor *result)
{
    const struct image_view *gradient = &o->images[DESTINATION];
    (void)index;
    *result = (struct glcnn_image_descriptor){.width = 1,
                                              .height = 1,
                                              .feature_channels = 1,
                                              .number_of_images =
                                                  o->starts[DESTINATION].image + gradient->images,
                                              .channel_format = GLCNN_CHANNEL_FORMAT_FLOAT32};
    if (!loss_is_element_wise(o))
        return;
    result->width = gradient->width;
    result->height = gradient->height;
    result->feature_channels = gradient->channels;
}

static bool same_shape(const struct operation *o, int index, struct validation validation)
{
    const struct image_view *y = &o->images[SOURCE], *t = &o->images[index];
    if (!o->given[index] ||
        (t->width == y->width && t->height == y->height && t->channels == y->channels))
        return true;
    return invalid(
        validation,
        "%s are %ux%u with %u channels; the predictions are %ux%u and %u channels of them are "
        "read",
        o->descriptor->arguments[index].name, t->width, t->height, t->channels, y->width, y->height,
        y->channels);
}

static bool check_loss_image(const struct operation *o, struct validation validation)
{
    const struct image_view *loss = &o->images[LOSS];
    uint32_t width = 1, height = 1, channels = 1;
    if (loss_is_element_wise(o)) {
        width = o->region_x + o->region_width;
        height = o->region_y + o->region_height;
        channels = o->images[SOURCE].channels;
    }
    if (!o->given[LOSS] ||
        (loss->width >= width && loss->height >= height && loss->channels == channels &&
         (loss_is_element_wise(o) || loss->width == 1)))
        return true;
    return invalid(validation,
                   "the loss image is %ux%u with %u channels; this reduction needs %ux%u "
                   "with %u channels",
                   loss->width, loss->height, loss->channels, width, height, channels);
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    if (p->loss_type == GLCNN_LOSS_TYPE_COSINE_DISTANCE &&
        p->reduction_type != GLCNN_REDUCTION_TYPE_SUM)
        return invalid(
            validation,
            "the cosine distance is one number for an image; its reduction type must be sum");
    return same_shape(o, LABELS, validation) && same_shape(o, WEIGHTS, validation) &&
           check_loss_image(o, validation);
}

/* ---- Passes ---- */

double loss_scale(const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    double elements = (double)o->region_width * o->region_height *
                      (over_channels(o) ? 1 : o->images[SOURCE].channels);
    return p->reduction_type == GLCNN_REDUCTION_TYPE_SUM ? 1 : 1 / elements;
}

bool loss_by_count(const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    return p->reduction_type == GLCNN_REDUCTION_TYPE_SUM_BY_NON_ZERO_WEIGHTS && o->given[WEIGHTS];
}

static struct pass *plan_square(struct plan *plan, const struct image_view *from,
                                const struct image_view *to)
{
    struct pass *pass = plan_pass(plan, "loss/loss_reduce.comp");
    pass_texture(pass, "source", from);
    pass_image(pass, "sums", to);
    pass_int(pass, "block", BLOCK); /* no constant: some compilers would unroll both loops */
    pass_grid(pass, groups_of(from->width, BLOCK), groups_of(from->height, BLOCK), from->images);
    pass->work = BLOCK * BLOCK * 4;
    return pass;
}

static void pass_last(struct pass *pass, const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    pass_define(pass, "LAST", 1);
    if (loss_by_count(o))
        pass_define(pass, "BY_COUNT", 1);
    pass_float(pass, "constant", (float)(loss_row_of(o)->constant * (double)p->weight));
    pass_float(pass, "scale", (float)loss_scale(o));
}

static void plan_reduction(const struct operation *o, struct plan *plan, struct image_view sums)
{
    while (sums.width > BLOCK || sums.height > BLOCK) {
        const struct extent blocks = {groups_of(sums.width, BLOCK), groups_of(sums.height, BLOCK),
                                      4, sums.images};
        struct image_view smaller = plan_scratch_image(plan, blocks);
        plan_square(plan, &sums, &smaller);
        sums = smaller;
    }
    pass_last(plan_square(plan, &sums, &o->images[LOSS]), o);
}

static void add_parameters(const struct operation *o, struct pass *pass)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    double scale, offset;
    loss_smoothing(o, &scale, &offset);
    pass_float(pass, "smoothing_scale", (float)scale);
    pass_float(pass, "smoothing_offset", (float)offset);
    pass_float(pass, "weight", p->weight);
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
    pass_template(pass, loss_row_of(o)->shader, "element");
    add_parameters(o, pass);
    return pass;
}

static void plan_loss(const struct operation *o, struct plan *plan)
{
    bool sums = o->given[LOSS] && !loss_is_element_wise(o);
    struct pass *pass = plan_gradient(o, plan);
    if (o->given[LOSS] && !sums) {
        pass_define(pass, "ELEMENTS", 1);
        pass_image(pass, "elements", &o->images[LOSS]);
    }
    if (!sums)
        return;
    if (o->region_width * o->region_height == 1) {
        pass_image(pass, "sums", &o->images[LOSS]);
        pass_last(pass, o);
        return;
    }
    struct image_view partial = plan_scratch_image(
        plan, (struct extent){o->region_width, o->region_height, 4, o->images[DESTINATION].images});
    pass_define(pass, "SUMS", 1);
    pass_image(pass, "sums", &partial);
    plan_reduction(o, plan, partial);
}

/* ---- Descriptor ---- */

static const char *const reduction_types[] = {[GLCNN_REDUCTION_TYPE_NONE] = "none",
                                              [GLCNN_REDUCTION_TYPE_SUM] = "sum",
                                              [GLCNN_REDUCTION_TYPE_MEAN] = "mean",
                                              [GLCNN_REDUCTION_TYPE_SUM_BY_NON_ZERO_WEIGHTS] =
                                                  "sum_by_non_zero_weights",
                                              NULL};

#define FIELD(NAME) offsetof(struct glcnn_loss_parameters, NAME)
static const struct parameter parameters[] = {
    {"loss_type", "which loss", FIELD_ENUM, FIELD(loss_type), 0, 0, 0, type_names},
    {"reduction_type", "how the losses of an image become one number; none: they do not",
     FIELD_ENUM, FIELD(reduction_type), 0, 0, 0, reduction_types},
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
    .without_gradient = "it computes the first gradient itself",
    .parameters_size = sizeof(struct glcnn_loss_parameters),
    .parameters = parameters,
    .arguments = arguments,
    .image_shape = loss_shape,
    .check = check,
    .implementations = loss_implementations,
    .plan = plan_loss,
};
