/* Soft-max, log-soft-max and their gradients: spec 7.9. One invocation owns a pixel. Few channels it
 * keeps in registers; many it walks two or three times. */
#include "glcnn/kernels/soft_max.h"

#include <math.h>

#include "encode/kernel.h"
#include "encode/window.h"
#include "kernels/pointwise.h"

/* ---- Constructors ---- */

#define DEFINE_CREATE(NAME)                                                                        \
    extern const struct glcnn_descriptor glcnn_kernel_##NAME;                                      \
    glcnn_status glcnn_##NAME##_create(glcnn_device *device, glcnn_kernel **kernel)                \
    {                                                                                              \
        return kernel_create(device, &glcnn_kernel_##NAME, kernel);                                \
    }

DEFINE_CREATE(soft_max)
DEFINE_CREATE(soft_max_gradient)
DEFINE_CREATE(log_soft_max)
DEFINE_CREATE(log_soft_max_gradient)

/* ---- Passes ---- */

enum { SOURCE, RESULT };                        /* arguments of a forward kernel */
enum { GRADIENT, FORWARD_RESULT, DESTINATION }; /* of a gradient kernel */

struct channels {
    uint32_t slices;
    bool logarithm, halves; /* of a gradient: both images that it reads are of float16 */
};

/* The gradient by the logarithm has an exponential for each slice that it stores: sixteen slices of
 * it take longer than walking them does (NVIDIA). */
static bool are_sixteen(const void *shape)
{
    const struct channels *c = shape;
    return c->slices <= 16 && !c->logarithm;
}

static bool are_sixteen_halves(const void *shape)
{
    return are_sixteen(shape) && ((const struct channels *)shape)->halves;
}

/* In fours, and back from those that were read last, which lie near, it takes 0.91 of the time of
 * walking them one by one (H200). */
static bool are_fours(const void *shape)
{
    const struct channels *c = shape;
    return c->slices % 4 == 0 && c->logarithm;
}

static bool are_kept(const void *shape)
{
    return ((const struct channels *)shape)->slices <= 16;
}

static bool are_four(const void *shape)
{
    return ((const struct channels *)shape)->slices <= 4;
}

/* Slices of a pixel that are kept at once; a gradient has them of two images. Those of float16 as
 * they are take 0.76 of the time (H200). */
static const struct implementation_list forward_rows = {
    "soft_max", (const struct implementation[]){{"soft_max_sixteen", "soft_max/soft_max_kept.comp",
                                                 32, .supported.holds = are_kept, .slices = 16},
                                                {"soft_max_four", "soft_max/soft_max_kept.comp", 14,
                                                 .supported.holds = are_four, .slices = 4},
                                                {"soft_max_walk", "soft_max/soft_max.comp", 8},
                                                {0}}};
static const struct implementation_list gradient_rows = {
    "soft_max_gradient",
    (const struct implementation[]){
        {"soft_max_gradient_halves", NULL, 32, .width = 32, .supported.holds = are_sixteen_halves,
         .slices = 16, .packs = true},
        {"soft_max_gradient_sixteen", NULL, 48, .supported.holds = are_sixteen, .slices = 16},
        {"soft_max_gradient_four", NULL, 24, .supported.holds = are_four, .slices = 4},
        {"soft_max_gradient_by_fours", NULL, 48, .width = 32, .supported.holds = are_fours,
         .fours = true},
        {"soft_max_gradient_walk", NULL, 8},
        {0}}};
static const struct implementation_list *const forward_implementations[] = {&forward_rows, NULL};
static const struct implementation_list *const gradient_implementations[] = {&gradient_rows, NULL};

static struct pass *plan_channels(const struct operation *o, struct plan *plan, const char *shader,
                                  const struct implementation *row,
                                  const struct image_view *destination)
{
    struct pass *pass = plan_pixels(plan, o, shader, destination);
    uint32_t slices = slice_count(destination->channels);
    pass_implementation(pass, row);
    if (row->slices)
        pass_define(pass, "SLICES", (int)slices);
    if (destination->channels % 4 == 0)
        pass_define(pass, "FULL_SLICES", 1);
    pass_grid(pass, o->region_width, o->region_height, destination->images);
    pass_grows(pass, 2);
    pass_image(pass, "destination", destination);
    pass_window(pass, &o->window);
    pass->work = slices * 160;
    return pass;
}

static struct pass *plan_forward(const struct operation *o, struct plan *plan, bool logarithm)
{
    const struct image_view *result = &o->images[RESULT];
    const struct channels channels = {slice_count(result->channels), logarithm, false};
    const struct implementation *row = implementation_choose(plan, &forward_rows, &channels);
    struct pass *pass = plan_channels(o, plan, row->shader, row, result);
    pass_texture(pass, "source", &o->images[SOURCE]);
    return pass;
}

/* A gradient that follows its state reads the result where it reads G, since both have the forward
 * result's addressing; one addressed by hand has an offset for each. */
static struct pass *plan_gradient(const struct operation *o, struct plan *plan, bool logarithm)
{
    const struct image_view *destination = &o->images[DESTINATION];
    const struct channels channels = {slice_count(destination->channels), logarithm,
                                      has_halves(&o->images[GRADIENT]) &&
                                          has_halves(&o->images[FORWARD_RESULT])};
    const struct implementation *row = implementation_choose(plan, &gradient_rows, &channels);
    struct pass *pass = plan_channels(o, plan, "soft_max/soft_max_gradient.comp", row, destination);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "result", &o->images[FORWARD_RESULT]);
    pass_int(pass, "source_width", (int32_t)o->images[DESTINATION].width);
    pass_int(pass, "source_height", (int32_t)o->images[DESTINATION].height);
    if (row->packs)
        pass_define(pass, "HALVES", 1);
    if (row->fours)
        pass_define(pass, "BY_FOURS", 1);
    pass->light = row->fours || row->slices == 16;
    if (!o->state_driven)
        pass_define(pass, "BY_HAND", 1);
    return pass;
}

static void plan_soft_max(const struct operation *o, struct plan *plan)
{
    plan_forward(o, plan, false);
}

static void plan_log_soft_max(const struct operation *o, struct plan *plan)
{
    pass_define(plan_forward(o, plan, true), "LOGARITHM", 1);
}

static void plan_soft_max_gradient(const struct operation *o, struct plan *plan)
{
    plan_gradient(o, plan, false);
}

static void plan_log_soft_max_gradient(const struct operation *o, struct plan *plan)
{
    pass_define(plan_gradient(o, plan, true), "LOGARITHM", 1);
}

/* ---- References ---- */

/* log(sum_i exp(x(i))) of the pixel that result pixel (Y, X) reads. */
static double log_sum(const struct reference *r, uint32_t n, int32_t Y, int32_t X)
{
    const struct window *w = &r->operation->window;
    const struct tensor *x = &r->images[SOURCE];
    double largest = -INFINITY, sum = 0;
    for (uint32_t c = 0; c < x->channels; c++)
        largest =
            fmax(largest, pointwise_edge(x, w->edge_mode, n, c, w->y.first + Y, w->x.first + X));
    for (uint32_t c = 0; c < x->channels; c++)
        sum += exp(pointwise_edge(x, w->edge_mode, n, c, w->y.first + Y, w->x.first + X) - largest);
    return largest + log(sum);
}

static void log_soft_max_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    for (uint32_t n = 0; n < to->images; n++)
        for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
            for (int32_t X = w->x.begin; X < w->x.end; X++) {
                double shift = log_sum(r, n, Y, X);
                for (uint32_t c = 0; c < to->channels; c++)
                    *tensor_at(to, n, c, Y, X) = pointwise_edge(&r->images[SOURCE], w->edge_mode, n,
                                                                c, w->y.first + Y, w->x.first + X) -
                                                 shift;
            }
}

static void soft_max_reference(const struct reference *r)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[RESULT];
    log_soft_max_reference(r);
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    *tensor_at(to, n, c, Y, X) = exp(*tensor_at(to, n, c, Y, X));
}

/* d y(i) / d x(k) given the results y(i) and y(k) of one pixel. */
typedef double (*jacobian)(double yi, double yk, bool same);

static double soft_max_jacobian(double yi, double yk, bool same)
{
    return yi * (same - yk);
}

static double log_soft_max_jacobian(double yi, double yk, bool same)
{
    (void)yi;
    return same - exp(yk);
}

/* A source pixel and the pixels of the result and of its gradient that go with it. */
struct pixels {
    uint32_t n;
    int32_t destination[2], result[2], gradient[2]; /* y, x */
};

/* dX(k) += sum_i G(i) * d y(i) / d x(k), row by row of the Jacobian. */
static void add_pixel(const struct reference *r, const struct pixels *p, jacobian derivative)
{
    const struct tensor *g = &r->images[GRADIENT], *to = &r->images[DESTINATION];
    const struct tensor *y = &r->images[FORWARD_RESULT];
    glcnn_edge_mode mode = r->operation->window.edge_mode;
    for (uint32_t i = 0; i < g->channels; i++)
        for (uint32_t k = 0; k < to->channels; k++)
            *tensor_at(to, p->n, k, p->destination[0], p->destination[1]) +=
                tensor_get(g, p->n, i, p->gradient[0], p->gradient[1]) *
                derivative(pointwise_edge(y, mode, p->n, i, p->result[0], p->result[1]),
                           pointwise_edge(y, mode, p->n, k, p->result[0], p->result[1]), i == k);
}

/* Source pixel that result pixel X was made from; by hand, the pixel at the secondary offset. */
static int32_t source_of(const struct reference *r, const struct axis *axis, int32_t size,
                         int32_t X)
{
    if (!r->operation->state_driven)
        return axis->first + X;
    return axis_tap(axis, r->operation->window.edge_mode, size, X, 0);
}

static void scatter(const struct reference *r, jacobian derivative)
{
    const struct window *w = &r->operation->window;
    const struct tensor *to = &r->images[DESTINATION];
    struct pixels p;
    for (p.n = 0; p.n < to->images; p.n++)
        for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
            for (int32_t X = w->x.begin; X < w->x.end; X++) {
                int32_t v = source_of(r, &w->y, (int32_t)to->height, Y);
                int32_t u = source_of(r, &w->x, (int32_t)to->width, X);
                bool follows = r->operation->state_driven;
                p.destination[0] = v - w->y.shift;
                p.destination[1] = u - w->x.shift;
                p.result[0] = follows ? Y : v;
                p.result[1] = follows ? X : u;
                p.gradient[0] = Y;
                p.gradient[1] = X;
                if (p.destination[0] >= 0 && p.destination[1] >= 0 &&
                    p.destination[0] < (int32_t)to->height && p.destination[1] < (int32_t)to->width)
                    add_pixel(r, &p, derivative);
            }
}

static void soft_max_gradient_reference(const struct reference *r)
{
    scatter(r, soft_max_jacobian);
}

static void log_soft_max_gradient_reference(const struct reference *r)
{
    scatter(r, log_soft_max_jacobian);
}

/* ---- Cases ---- */

#define CASES                                                                                      \
    {"", {1, 1, 3, 3}}, {"", {2, 2, 4, 3}}, {"", {1, 3, 1, 1}}, {"", {3, 4, 2, 5}},                \
        {"", {1, 5, 7, 6}}, {"", {2, 6, 3, 3}}, {"", {1, 7, 5, 2}}, {"", {9, 8, 1, 1}},            \
        {"", {2, 9, 4, 4}}, {"", {5, 10, 1, 1}}, {"offset_x=1 offset_y=-2", {2, 3, 6, 5}},         \
        {"offset_x=-3 offset_y=2 edge_mode=clamp", {1, 6, 6, 7}},                                  \
        {"clip_rect_origin_x=1 clip_rect_origin_y=2 clip_rect_size_width=3 "                       \
         "clip_rect_size_height=2",                                                                \
         {2, 5, 5, 6}},                                                                            \
        {"clip_rect_origin_x=2 clip_rect_size_width=2 offset_x=1 edge_mode=clamp", {1, 4, 3, 4}},  \
        {"source_feature_channel_offset=4 source_feature_channel_max_count=3", {2, 9, 3, 4}},      \
    {                                                                                              \
        "", {4, 37, 14, 14}, {0}, true                                                             \
    }

static const struct check_case forward_cases[] = {
    CASES,
    {"offset_x=-1 offset_y=1 destination_width=7 destination_height=3 edge_mode=clamp",
     {1, 5, 4, 4}},
    {"", {2, 1001, 1, 1}, {0}, true},
    {0}};
static const struct check_case gradient_cases[] = {
    CASES,
    {"", {2, 31, 3, 4}},
    {"primary_offset_y=1 secondary_offset_x=-2 secondary_offset_y=-1", {2, 5, 5, 6}},
    {"primary_offset_x=-1 secondary_offset_x=-1 edge_mode=clamp", {1, 3, 4, 5}},
    {0}};

/* ---- Descriptors ---- */

#define FORWARD(NAME, MPS, TEXT)                                                                   \
    .name = #NAME, .mps_class = MPS, .text = TEXT, .family = "soft_max",                           \
    .gradient = #NAME "_gradient", .flags = MAKES_STATE,                                           \
    .arguments = {{.name = "source_image", .place = PLACE_SOURCE, .input = true},                  \
                  {.name = "destination_image", .place = PLACE_DESTINATION, .output = true}},      \
    .implementations = forward_implementations, .plan = plan_##NAME,                               \
    .reference = NAME##_reference, .cases = forward_cases

#define BACKWARD(NAME, MPS, VALUES)                                                                \
    .name = #NAME "_gradient", .mps_class = MPS "Gradient",                                        \
    .text = "gradient of " #NAME "; source_image is the forward result", .family = "soft_max",     \
    .without_gradient = "it is a gradient itself", .forward = #NAME,                               \
    .flags = IS_GRADIENT | NEEDS_RESULT | PIXEL_MANUAL,                                            \
    .arguments =                                                                                   \
        {{.name = "source_gradient", .place = PLACE_SOURCE, .input = true},                        \
         {.name = "source_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES},      \
         {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true}},            \
    .implementations = gradient_implementations, .plan = plan_##NAME##_gradient,                   \
    .reference = NAME##_gradient_reference, .cases = gradient_cases

const struct glcnn_descriptor glcnn_kernel_soft_max = {FORWARD(
    soft_max, "MPSCNNSoftMax", "exponentials over the channels of a pixel, scaled to sum 1")};
const struct glcnn_descriptor glcnn_kernel_soft_max_gradient = {
    BACKWARD(soft_max, "MPSCNNSoftMax", VALUES_PROBABILITY)};
const struct glcnn_descriptor glcnn_kernel_log_soft_max = {
    FORWARD(log_soft_max, "MPSCNNLogSoftMax", "logarithm of soft-max")};
const struct glcnn_descriptor glcnn_kernel_log_soft_max_gradient = {
    BACKWARD(log_soft_max, "MPSCNNLogSoftMax", VALUES_SYMMETRIC)};
