/* Loss and first gradient: spec 8. A row of LOSS_TYPES is a loss type: its GLSL functions and the
 * same in double precision. Soft-max cross entropy works on whole pixels and has its own;
 * everything else is shared. The loss value is summed pixel by pixel, then over squares of
 * BLOCK x BLOCK, so its order is fixed. */
#include "glcnn/kernels/loss.h"

#include <float.h>
#include <math.h>

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/numbers.h"

#define BLOCK 8
#define LANES 64 /* of a group that makes a pixel */

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

/* ---- Element losses in double precision ---- */

typedef double (*element)(double y, double t, const struct glcnn_loss_parameters *p);

static double absolute_error(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return fabs(y - t);
}

static double absolute_error_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return sign_of(y - t);
}

static double squared_error(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return pow(y - t, 2);
}

static double squared_error_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return 2 * (y - t);
}

static double sigmoid_cross_entropy(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return at_least(y, 0) - y * t + log1p(exp(-fabs(y)));
}

static double sigmoid_cross_entropy_gradient(double y, double t,
                                             const struct glcnn_loss_parameters *p)
{
    (void)p;
    return 1 / (1 + exp(-y)) - t;
}

/* 0 where there is no label, but for a NaN in the prediction. */
static double without_label(double y, double t, double value)
{
    return t == 0 && !isnan(y) ? 0 : value;
}

static double categorical_cross_entropy(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return without_label(y, t, -t * log(y));
}

static double categorical_cross_entropy_gradient(double y, double t,
                                                 const struct glcnn_loss_parameters *p)
{
    (void)p;
    return without_label(y, t, -t / y);
}

static double hinge(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return at_least(1 - (2 * t - 1) * y, 0);
}

static double hinge_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    double l = hinge(y, t, p);
    return isnan(l) ? l : l > 0 ? 1 - 2 * t : 0;
}

static double huber(double y, double t, const struct glcnn_loss_parameters *p)
{
    double e = fabs(y - t), delta = (double)p->delta;
    return e <= delta ? e * e / 2 : delta * delta / 2 + delta * (e - delta);
}

static double huber_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    return held(y - t, -(double)p->delta, (double)p->delta);
}

static double cosine_distance(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return -y * t;
}

static double minus_label(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)y;
    (void)p;
    return -t;
}

static double log_loss(double y, double t, const struct glcnn_loss_parameters *p)
{
    double epsilon = (double)p->epsilon;
    return -t * log(y + epsilon) - (1 - t) * log(1 - y + epsilon);
}

static double log_loss_gradient(double y, double t, const struct glcnn_loss_parameters *p)
{
    double e = (double)p->epsilon;
    return (-2 * e * t - t + y + e) / (y * (1 - y) + e * (e + 1));
}

static double kullback_leibler(double y, double t, const struct glcnn_loss_parameters *p)
{
    (void)p;
    return without_label(y, t, t * (log(t) - y));
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

/* A row is a type: its name, then fields of struct loss_row; without loss and gradient it goes over
 * the channels of a pixel. The shader is loss/loss_NAME.glsl. Rows stand in the order of
 * glcnn_loss_type, so a new one is the last. */
/* clang-format off */
#define LOSS_TYPES(ROW)                                                                            \
    ROW(mean_absolute_error, .loss = absolute_error, .gradient = absolute_error_gradient)          \
    ROW(mean_squared_error, .loss = squared_error, .gradient = squared_error_gradient)             \
    ROW(soft_max_cross_entropy, .smoothing = by_classes)                                           \
    ROW(sigmoid_cross_entropy, .loss = sigmoid_cross_entropy,                                      \
        .gradient = sigmoid_cross_entropy_gradient, .smoothing = by_two)                           \
    ROW(categorical_cross_entropy, .loss = categorical_cross_entropy,                              \
        .gradient = categorical_cross_entropy_gradient)                                            \
    ROW(hinge, .loss = hinge, .gradient = hinge_gradient)                                          \
    ROW(huber, .loss = huber, .gradient = huber_gradient)                                          \
    ROW(cosine_distance, .loss = cosine_distance, .gradient = minus_label, .constant = 1)          \
    ROW(log, .loss = log_loss, .gradient = log_loss_gradient)                                      \
    ROW(kullback_leibler_divergence, .loss = kullback_leibler, .gradient = minus_label)
/* clang-format on */

#define TYPE(NAME, ...) {.shader = "loss/loss_" #NAME ".glsl", __VA_ARGS__},

static const struct loss_row {
    const char *shader;
    element loss, gradient;
    /* What is added to labels; NULL: nothing. */
    double (*smoothing)(const struct glcnn_loss_parameters *p);
    double constant; /* of the loss of one image */
} types[] = {LOSS_TYPES(TYPE)};

#define TYPE_NAME(NAME, ...) #NAME,

static const char *const type_names[] = {LOSS_TYPES(TYPE_NAME) NULL};

static const struct loss_row *row_of(const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    return &types[p->loss_type];
}

static bool over_channels(const struct operation *o)
{
    return !row_of(o)->loss;
}

/* label = t * scale + offset */
static void smoothing(const struct operation *o, double *scale, double *offset)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    bool smooths = row_of(o)->smoothing != NULL;
    *scale = smooths ? 1 - (double)p->label_smoothing : 1;
    *offset = smooths ? row_of(o)->smoothing(p) : 0;
}

/* ---- Arguments ---- */

enum { SOURCE, LABELS, WEIGHTS, DESTINATION, LOSS };

static bool is_element_wise(const struct operation *o)
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
    if (!is_element_wise(o))
        return;
    result->width = gradient->width;
    result->height = gradient->height;
    result->feature_channels = gradient->channels;
}

static bool same_shape(const struct operation *o, int index, struct refusal refusal)
{
    const struct image_view *y = &o->images[SOURCE], *t = &o->images[index];
    if (!o->given[index] ||
        (t->width == y->width && t->height == y->height && t->channels == y->channels))
        return true;
    return refuse(
        refusal,
        "%s are %ux%u with %u channels; the predictions are %ux%u and %u channels of them are "
        "read",
        o->descriptor->arguments[index].name, t->width, t->height, t->channels, y->width, y->height,
        y->channels);
}

static bool check_loss_image(const struct operation *o, struct refusal refusal)
{
    const struct image_view *loss = &o->images[LOSS];
    uint32_t width = 1, height = 1, channels = 1;
    if (is_element_wise(o)) {
        width = o->region_x + o->region_width;
        height = o->region_y + o->region_height;
        channels = o->images[SOURCE].channels;
    }
    if (!o->given[LOSS] || (loss->width >= width && loss->height >= height &&
                            loss->channels == channels && (is_element_wise(o) || loss->width == 1)))
        return true;
    return refuse(refusal,
                  "the loss image is %ux%u with %u channels; this reduction needs %ux%u "
                  "with %u channels",
                  loss->width, loss->height, loss->channels, width, height, channels);
}

static bool check(const struct operation *o, struct refusal refusal)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    if (p->loss_type == GLCNN_LOSS_TYPE_COSINE_DISTANCE &&
        p->reduction_type != GLCNN_REDUCTION_TYPE_SUM)
        return refuse(
            refusal,
            "the cosine distance is one number for an image; its reduction type must be sum");
    return same_shape(o, LABELS, refusal) && same_shape(o, WEIGHTS, refusal) &&
           check_loss_image(o, refusal);
}

/* ---- Passes ---- */

/* What a plain sum is multiplied with. */
static double scale_of(const struct operation *o)
{
    const struct glcnn_loss_parameters *p = o->parameters;
    double elements = (double)o->region_width * o->region_height *
                      (over_channels(o) ? 1 : o->images[SOURCE].channels);
    return p->reduction_type == GLCNN_REDUCTION_TYPE_SUM ? 1 : 1 / elements;
}

static bool by_count(const struct operation *o)
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
    if (by_count(o))
        pass_define(pass, "BY_COUNT", 1);
    pass_float(pass, "constant", (float)(row_of(o)->constant * (double)p->weight));
    pass_float(pass, "scale", (float)scale_of(o));
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
    smoothing(o, &scale, &offset);
    pass_float(pass, "smoothing_scale", (float)scale);
    pass_float(pass, "smoothing_offset", (float)offset);
    pass_float(pass, "weight", p->weight);
    pass_float(pass, "epsilon", p->epsilon);
    pass_float(pass, "delta", p->delta);
    if (over_channels(o))
        pass_define(pass, "OVER_CHANNELS", 1);
    if (o->given[WEIGHTS])
        pass_define(pass, "WEIGHTS", 1);
    if (o->gradient_scale) {
        pass_define(pass, "SCALED", 1);
        pass_float_of(pass, "gradient_scale", o->gradient_scale);
    }
}

/* Few pixels of many channels leave a GPU idle where each is one invocation's. */
static bool lanes_pay(const void *operation)
{
    const struct operation *o = operation;
    const struct image_view *result = &o->images[DESTINATION];
    uint64_t pixels = (uint64_t)o->region_width * o->region_height * result->images;
    return slice_count(result->channels) >= LANES / 2 && pixels < 1u << 17;
}

/* Who goes through the slices of a pixel. */
static const struct implementation_list rows = {
    "loss", (const struct implementation[]){{"loss_lanes", "loss/by_lanes.glsl", 32,
                                             .shared_memory = true, .profitable.holds = lanes_pay},
                                            {"loss_one", "loss/by_one.glsl"},
                                            {0}}};
static const struct implementation_list *const loss_implementations[] = {&rows, NULL};

static void pass_pixels(struct plan *plan, struct pass *pass, const struct operation *o)
{
    const struct implementation *row = implementation_choose(plan, &rows, o);
    uint32_t lanes = row == rows.rows ? LANES : 1;
    pass_implementation(pass, row);
    pass_library(pass, row->shader);
    pass_grid(pass, o->region_width * lanes, o->region_height, o->images[DESTINATION].images);
    pass_grows(pass, 2);
    pass->work = slice_count(o->images[DESTINATION].channels) * 300 / lanes + 1;
    if (lanes == 1)
        return;
    pass_define(pass, "LANES", LANES);
    pass_local(pass, LANES, 1, 1);
    pass->cooperative = true;
}

static struct pass *plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct image_view *destination = &o->images[DESTINATION];
    struct pass *pass = plan_pixels(plan, o, "loss/loss.comp", destination);
    pass_pixels(plan, pass, o);
    pass_texture(pass, "source", &o->images[SOURCE]);
    pass_texture(pass, "labels", &o->images[LABELS]);
    if (o->given[WEIGHTS])
        pass_texture(pass, "weights", &o->images[WEIGHTS]);
    pass_image(pass, "destination", destination);
    pass_window(pass, &o->window);
    pass_library(pass, row_of(o)->shader);
    add_parameters(o, pass);
    return pass;
}

static void plan_loss(const struct operation *o, struct plan *plan)
{
    bool sums = o->given[LOSS] && !is_element_wise(o);
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

/* ---- Reference ---- */

/* A pixel that the loss is computed for: position in the sources after the edge mode, -1 for
 * outside, and in the destination. */
struct pixel {
    uint32_t n;
    int32_t y, x, Y, X;
};

static double label(const struct reference *r, const struct pixel *p, uint32_t c)
{
    double scale, offset;
    smoothing(r->operation, &scale, &offset);
    return tensor_get(&r->images[LABELS], p->n, c, p->y, p->x) * scale + offset;
}

static double weight(const struct reference *r, const struct pixel *p, uint32_t c)
{
    if (!r->images[WEIGHTS].data)
        return 1;
    return tensor_get(&r->images[WEIGHTS], p->n, c, p->y, p->x);
}

static double omega(const struct reference *r, const struct pixel *p, uint32_t c)
{
    const struct glcnn_loss_parameters *parameters = r->operation->parameters;
    return (double)parameters->weight * weight(r, p, c);
}

/* log soft-max of the prediction for channel c. */
static double log_probability(const struct reference *r, const struct pixel *p, uint32_t c)
{
    const struct tensor *y = &r->images[SOURCE];
    double sum = 0, largest = -INFINITY;
    for (uint32_t i = 0; i < y->channels; i++)
        largest = fmax(largest, tensor_get(y, p->n, i, p->y, p->x));
    for (uint32_t i = 0; i < y->channels; i++)
        sum += exp(tensor_get(y, p->n, i, p->y, p->x) - largest);
    return tensor_get(y, p->n, c, p->y, p->x) - largest - log(sum);
}

/* - sum_i omega(i) t(i) d log soft-max(i) / d y(c) */
static double cross_entropy_gradient(const struct reference *r, const struct pixel *p, uint32_t c)
{
    double gradient = 0, probability = exp(log_probability(r, p, c));
    for (uint32_t i = 0; i < r->images[SOURCE].channels; i++)
        gradient -= omega(r, p, i) * label(r, p, i) * ((i == c) - probability);
    return gradient;
}

/* Weighted loss of one element; its gradient goes to the destination. */
static double visit(const struct reference *r, const struct pixel *p, uint32_t c)
{
    const struct glcnn_loss_parameters *parameters = r->operation->parameters;
    const struct loss_row *row = row_of(r->operation);
    double *gradient = tensor_at(&r->images[DESTINATION], p->n, c, p->Y, p->X);
    double y = tensor_get(&r->images[SOURCE], p->n, c, p->y, p->x), t = label(r, p, c);
    if (!row->loss) {
        *gradient = cross_entropy_gradient(r, p, c);
        return omega(r, p, c) * times(-t, log_probability(r, p, c));
    }
    *gradient = omega(r, p, c) * row->gradient(y, t, parameters);
    return omega(r, p, c) * row->loss(y, t, parameters);
}

struct totals {
    double sum, present;
};

static void visit_pixel(const struct reference *r, const struct pixel *p, struct totals *totals)
{
    const struct tensor *loss = &r->images[LOSS];
    for (uint32_t c = 0; c < r->images[SOURCE].channels; c++) {
        double value = visit(r, p, c);
        totals->sum += value;
        totals->present += weight(r, p, c) != 0;
        if (loss->data && is_element_wise(r->operation))
            *tensor_at(loss, p->n, c, p->Y, p->X) = value;
    }
}

static void finish_image(const struct reference *r, uint32_t n, const struct totals *totals)
{
    const struct glcnn_loss_parameters *parameters = r->operation->parameters;
    double sum = row_of(r->operation)->constant * (double)parameters->weight + totals->sum;
    if (!r->images[LOSS].data || is_element_wise(r->operation))
        return;
    double scale = scale_of(r->operation);
    if (by_count(r->operation))
        scale = totals->present > 0 ? 1 / totals->present : 0;
    *tensor_at(&r->images[LOSS], n, 0, 0, 0) = sum * scale;
}

static void loss_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *source = &r->images[SOURCE];
    for (uint32_t n = 0; n < source->images; n++) {
        struct totals totals = {0};
        for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
            for (int32_t X = w->x.begin; X < w->x.end; X++) {
                struct pixel p = {n, axis_tap(&w->y, w->edge_mode, (int32_t)source->height, Y, 0),
                                  axis_tap(&w->x, w->edge_mode, (int32_t)source->width, X, 0), Y,
                                  X};
                visit_pixel(r, &p, &totals);
            }
        finish_image(r, n, &totals);
    }
}

/* ---- Cases ---- */

#define TYPE_CASE(NAME, ...) {"loss_type=" #NAME " reduction_type=sum", {2, 5, 3, 2}},

static const struct check_case cases[] = {
    LOSS_TYPES(TYPE_CASE) /* each */
    {"loss_type=mean_absolute_error reduction_type=none", {1, 1, 3, 3}},
    {"loss_type=mean_absolute_error reduction_type=sum weight=0.25", {2, 2, 4, 5}},
    {"loss_type=mean_squared_error reduction_type=none weight=1.5", {2, 3, 4, 2}},
    {"loss_type=mean_squared_error reduction_type=mean", {3, 6, 5, 4}},
    {"loss_type=mean_squared_error reduction_type=sum_by_non_zero_weights", {2, 5, 3, 3}},
    {"loss_type=soft_max_cross_entropy reduction_type=none", {2, 4, 3, 2}},
    {"loss_type=soft_max_cross_entropy reduction_type=sum weight=-2", {9, 10, 1, 1}},
    {"loss_type=soft_max_cross_entropy reduction_type=mean", {3, 7, 4, 4}},
    {"loss_type=soft_max_cross_entropy reduction_type=sum_by_non_zero_weights", {2, 9, 3, 5}},
    {"loss_type=soft_max_cross_entropy reduction_type=mean label_smoothing=0.1 "
     "number_of_classes=8",
     {2, 8, 2, 2}},
    {"loss_type=soft_max_cross_entropy reduction_type=sum offset_x=-2 offset_y=1 edge_mode=clamp",
     {1, 5, 4, 6}},
    {"loss_type=soft_max_cross_entropy reduction_type=none clip_rect_origin_x=1 "
     "clip_rect_origin_y=2 clip_rect_size_width=3 clip_rect_size_height=1",
     {2, 3, 4, 5}},
    {"loss_type=sigmoid_cross_entropy reduction_type=mean label_smoothing=0.2", {1, 3, 5, 5}},
    {"loss_type=sigmoid_cross_entropy reduction_type=none offset_x=1", {2, 2, 3, 4}},
    {"loss_type=categorical_cross_entropy reduction_type=sum", {2, 10, 1, 1}},
    {"loss_type=categorical_cross_entropy reduction_type=none", {1, 5, 3, 3}},
    {"loss_type=hinge reduction_type=mean", {2, 6, 3, 3}},
    {"loss_type=hinge reduction_type=sum_by_non_zero_weights weight=0.5", {1, 1, 9, 9}},
    {"loss_type=huber reduction_type=mean delta=0.2", {2, 3, 7, 5}},
    {"loss_type=huber reduction_type=none delta=3", {1, 7, 2, 3}},
    {"loss_type=cosine_distance reduction_type=sum weight=0.75", {3, 9, 2, 2}},
    {"loss_type=log reduction_type=mean epsilon=0.01", {2, 4, 3, 3}},
    {"loss_type=log reduction_type=none", {1, 3, 3, 2}},
    {"loss_type=kullback_leibler_divergence reduction_type=sum", {2, 6, 4, 1}},
    {"loss_type=mean_squared_error reduction_type=sum clip_rect_origin_x=2 "
     "clip_rect_size_width=4 clip_rect_origin_z=1 clip_rect_size_depth=2 offset_z=1",
     {4, 5, 3, 8}},
    {"loss_type=mean_squared_error reduction_type=mean source_feature_channel_max_count=6",
     {2, 6, 3, 3}},
    {"loss_type=soft_max_cross_entropy reduction_type=mean label_smoothing=0.1 "
     "number_of_classes=301",
     {2, 301, 2, 1}},
    {"loss_type=mean_squared_error reduction_type=mean", {2, 33, 70, 67}, {0}, true},
    {"loss_type=soft_max_cross_entropy reduction_type=sum", {16, 100, 9, 9}, {0}, true},
    {0}};

/* ---- Descriptor ---- */

static const char *const reduction_types[] = {"none", "sum", "mean", "sum_by_non_zero_weights",
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

const struct glcnn_descriptor glcnn_kernel_loss = {
    .name = "loss",
    .mps_class = "MPSCNNLoss",
    .text = "loss of predictions against labels, and its gradient",
    .family = "loss",
    .without_gradient = "it computes the first gradient itself",
    .parameters_size = sizeof(struct glcnn_loss_parameters),
    .parameters = parameters,
    .arguments =
        {{.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_UNIT},
         {.name = "labels", .place = PLACE_LABELS, .input = true, .values = VALUES_UNIT},
         {.name = "label_weights",
          .place = PLACE_LABEL_WEIGHTS,
          .input = true,
          .optional = true,
          .values = VALUES_ZERO_ONE},
         {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
         {.name = "loss", .place = PLACE_LOSS, .output = true, .optional = true}},
    .image_shape = loss_shape,
    .check = check,
    .implementations = loss_implementations,
    .plan = plan_loss,
    .reference = loss_reference,
    .cases = cases,
};
