/* Arithmetic of two images and its gradients: spec 7.11. Every result reads one element of each
 * source; along an axis of stride 0 all results read the same. A gradient first sums its terms over
 * such axes, block by block in scratch images, in an order that the shape alone fixes, and then
 * hands each source pixel what the results that read it have. */
#include "kernels/arithmetic.h"

#include <float.h>

#include "encode/kernel.h"
#include "encode/number.h"
#include "encode/window.h"
#include "kernels/pointwise.h"

#define BLOCK 64 /* elements summed by one invocation, about */
#define PAIR  2u /* columns of one invocation */

enum operation_kind arithmetic_kind(const struct operation *o)
{
    return *(const enum operation_kind *)o->descriptor->form;
}

/* ---- What gradients are of, and given ---- */

static enum argument_place filtered(const void *parameters)
{
    const struct glcnn_arithmetic_parameters *p = parameters;
    return p->is_secondary_source_filter ? PLACE_SECONDARY : PLACE_SOURCE;
}

static struct operands sum_operands(const void *parameters)
{
    return (struct operands){filtered(parameters), filtered(parameters)};
}

static struct operands product_operands(const void *parameters)
{
    bool secondary = filtered(parameters) == PLACE_SECONDARY;
    return (struct operands){filtered(parameters), secondary ? PLACE_SOURCE : PLACE_SECONDARY};
}

static struct operands quotient_operands(const void *parameters)
{
    return (struct operands){filtered(parameters), PLACE_SECONDARY};
}

/* ---- Vectors of the state ---- */

static bool is_clamped(const struct operation *o)
{
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    return p->minimum_value > -FLT_MAX || p->maximum_value < FLT_MAX;
}

bool arithmetic_has_shares(const struct operation *o)
{
    return arithmetic_kind(o) == MAXIMUM || arithmetic_kind(o) == MINIMUM;
}

/* A mask has a number for four channels of a result pixel, and so has what is kept besides of a
 * maximum or minimum, the primary source's share in it: in halves, two bits for each channel. A
 * quotient, for the gradient by the divisor alone, and the base of a power have four. */
static size_t length(const struct operation *o, size_t index)
{
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    const struct image_view *view = &o->images[operation_is_gradient(o) ? GRADIENT : RESULT];
    bool mask = (int)index == descriptor_argument(o->descriptor, "clamp_mask");
    bool wanted = mask ? is_clamped(o)
                       : !operation_is_gradient(o) || p->is_secondary_source_filter ||
                             arithmetic_kind(o) != DIVIDE;
    size_t pixels = (size_t)view->width * view->height * view->images;
    return wanted
               ? pixels * slice_count(view->channels) * (mask || arithmetic_has_shares(o) ? 1 : 4)
               : 0;
}

static bool check(const struct operation *o, struct validation validation)
{
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    char low[NUMBER_TEXT], high[NUMBER_TEXT];
    if (p->minimum_value > p->maximum_value)
        return invalid(validation, "minimum_value is %s, more than maximum_value, %s",
                       number_format(low, (double)p->minimum_value),
                       number_format(high, (double)p->maximum_value));
    return true;
}

/* ---- Forward passes ---- */

/* Names of one operand's numbers in the shader. */
struct operand_names {
    const char *texture, *first_x, *first_y, *stride_x, *stride_y, *stride_c, *clamped;
};

#define OPERAND_NAMES(NAME)                                                                        \
    {                                                                                              \
        NAME, NAME "_first_x", NAME "_first_y", NAME "_stride_x", NAME "_stride_y",                \
            NAME "_stride_c", NAME "_clamped"                                                      \
    }

static const struct operand_names primary_names = OPERAND_NAMES("primary");
static const struct operand_names secondary_names = OPERAND_NAMES("secondary");

static void pass_operand(struct pass *pass, const struct operand_names *names,
                         const struct window *window)
{
    pass_template(pass, "arithmetic/operand.glsl", names->texture);
    pass_int(pass, names->first_x, window->x.first);
    pass_int(pass, names->first_y, window->y.first);
    pass_define(pass, names->stride_x, window->x.stride);
    pass_define(pass, names->stride_y, window->y.stride);
    pass_define(pass, names->stride_c, (int)window->channel_stride);
    if (window->edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, names->clamped, 1);
}

void pass_operands(struct pass *pass, const struct operation *o)
{
    pass_texture(pass, "primary", &o->images[PRIMARY]);
    pass_texture(pass, "secondary", &o->images[SECONDARY]);
    pass_operand(pass, &primary_names, &o->window);
    pass_operand(pass, &secondary_names, &o->secondary_window);
}

static void pass_state(struct pass *pass, const struct operation *o, int mask, int kept,
                       enum vector_access access)
{
    if (o->given[mask]) {
        pass_define(pass, "CLAMP_MASK", 1);
        pass_vector(pass, "clamp_mask", &o->vectors[mask], access);
    }
    if (o->given[kept] && arithmetic_has_shares(o)) {
        pass_define(pass, "SHARES", 1);
        pass_vector(pass, "shares", &o->vectors[kept], access);
    } else if (o->given[kept]) {
        pass_define(pass, "KEPT", 1);
        pass_vector_of(pass, "vec4", "kept", &o->vectors[kept], access);
    }
}

/* Of what is left for the gradient a quarter of a row begins anywhere, and half of one is more often
 * whole sectors of memory. */
static struct pass *plan_results(const struct operation *o, struct plan *plan)
{
    static const char shader[] = "arithmetic/arithmetic.comp";
    const struct image_view *result = &o->images[RESULT];
    return o->given[MASK] || o->given[KEPT] ? plan_columns(plan, o, shader, result, PAIR)
                                            : plan_pointwise(plan, o, shader, result);
}

static void plan_forward(const struct operation *o, struct plan *plan)
{
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    struct pass *pass = plan_results(o, plan);
    pass_operands(pass, o);
    pass_image(pass, "destination", &o->images[RESULT]);
    pass_state(pass, o, MASK, KEPT, VECTOR_WRITE);
    pass_define(pass, "OPERATION", (int)arithmetic_kind(o));
    if (arithmetic_kind(o) == POWER)
        pass_library(pass, "lib/math.glsl");
    pass_float(pass, "primary_scale", p->primary_scale);
    pass_float(pass, "secondary_scale", p->secondary_scale);
    pass_float(pass, "bias", p->bias);
    pass_float(pass, "minimum", p->minimum_value);
    pass_float(pass, "maximum", p->maximum_value);
}

/* Every pixel of the result is read once, in its place. */
static bool is_direct(const struct axis *axis, uint32_t gradient, uint32_t source)
{
    return axis->stride == 1 && axis->first == 0 && axis->begin == 0 && axis->shift == 0 &&
           axis->end == (int32_t)gradient && gradient == source;
}

/* Sums that hold no bounds and broadcast nothing. */
static enum fusion forward_fusion(const struct operation *o, struct plan *plan)
{
    const struct window *y = &o->secondary_window;
    const struct image_view *result = &o->images[RESULT];
    bool plain = arithmetic_kind(o) == ADD && !o->given[MASK] && !o->given[KEPT] &&
                 !is_clamped(o) && o->window.channel_stride == 1 && y->channel_stride == 1 &&
                 is_direct(&y->x, result->width, o->images[SECONDARY].width) &&
                 is_direct(&y->y, result->height, o->images[SECONDARY].height);
    return plain ? pointwise_fusion_of(o, plan, &o->images[PRIMARY], result) : FUSION_NONE;
}

static void fuse_sum(const struct operation *o, struct pass *pass, struct fused_name *name)
{
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    fused_texture(name, pass, "_source", &o->images[PRIMARY]);
    fused_texture(name, pass, "_secondary", &o->images[SECONDARY]);
    pass_float(pass, fused_name(name, "_primary_scale"), p->primary_scale);
    pass_float(pass, fused_name(name, "_secondary_scale"), p->secondary_scale);
    pass_float(pass, fused_name(name, "_bias"), p->bias);
    pass_template(pass, "arithmetic/sum_fused.glsl", fused_name(name, ""));
}

/* ---- Terms of a gradient ---- */

enum term arithmetic_term(const struct operation *o)
{
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    static const enum term terms[][2] = {
        [ADD] = {SCALED, SCALED},        [SUBTRACT] = {SCALED, SCALED},
        [MULTIPLY] = {PRODUCT, PRODUCT}, [DIVIDE] = {BY_DIVIDEND, BY_DIVISOR},
        [MAXIMUM] = {SHARED, REST},      [MINIMUM] = {SHARED, REST},
        [POWER] = {BY_BASE, BY_EXPONENT}};
    return terms[arithmetic_kind(o)][p->is_secondary_source_filter];
}

double arithmetic_scale(const struct operation *o)
{
    const struct glcnn_arithmetic_parameters *p = o->parameters;
    double ps = (double)p->primary_scale, ss = (double)p->secondary_scale;
    bool secondary = p->is_secondary_source_filter && o->state_driven;
    switch (arithmetic_kind(o)) {
    case SUBTRACT:
        return secondary ? -ss : ps;
    case MULTIPLY:
        return ps * ss;
    case DIVIDE:
        return ps / ss;
    default:
        return secondary ? ss : ps;
    }
}

static bool reads_given(enum term term)
{
    return term != SCALED && term != SHARED && term != REST;
}

static void pass_term(struct pass *pass, const struct operation *o)
{
    enum term term = arithmetic_term(o);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    if (reads_given(term)) {
        pass_texture(pass, "secondary", &o->images[GIVEN]);
        pass_operand(pass, &secondary_names, &o->secondary_window);
    }
    if (term == BY_BASE || term == BY_EXPONENT) {
        pass_library(pass, "lib/math.glsl");
        pass_float(pass, "exponent_scale",
                   ((const struct glcnn_arithmetic_parameters *)o->parameters)->secondary_scale);
    }
    pass_state(pass, o, G_MASK, G_KEPT, VECTOR_READ);
    pass_define(pass, "OPERATION", (int)term);
    pass_float(pass, "scale", (float)arithmetic_scale(o));
    pass_library(pass, "arithmetic/arithmetic_term.glsl");
}

/* ---- Sums over broadcast axes ---- */

/* Results that are summed, and how many of them make one block along each axis. */
struct block {
    bool x, y, channels; /* axes that are summed */
    uint32_t width, height;
};

static struct block block_of(const struct operation *o)
{
    struct block b = {o->window.x.stride == 0, o->window.y.stride == 0,
                      o->window.channel_stride == 0, 1, 1};
    uint32_t slices = b.channels ? slice_count(o->images[GRADIENT].channels) : 1;
    uint32_t most = slices < BLOCK ? BLOCK / slices : 1;
    uint32_t columns = (uint32_t)(o->window.x.end - o->window.x.begin);
    b.width = !b.x ? 1 : columns < most ? columns : most;
    b.height = !b.y ? 1 : b.width < most ? most / b.width : 1;
    return b;
}

static struct image_view plan_terms(const struct operation *o, struct plan *plan,
                                    const struct block *b)
{
    const struct image_view *g = &o->images[GRADIENT];
    uint32_t columns = (uint32_t)(o->window.x.end - o->window.x.begin);
    uint32_t rows = (uint32_t)(o->window.y.end - o->window.y.begin);
    struct image_view partial = plan_scratch_image(
        plan, (struct extent){groups_of(columns, b->width), groups_of(rows, b->height),
                              b->channels ? 1 : g->channels, g->images});
    struct pass *pass = plan_pass(plan, "arithmetic/arithmetic_gradient_sum.comp");
    pass_grid_over(pass, partial.width, partial.height, "partial", &partial);
    pass_image(pass, "partial", &partial);
    pass_term(pass, o);
    pass_define(pass, "BLOCK_X", (int)b->width);
    pass_define(pass, "BLOCK_Y", (int)b->height);
    if (b->channels)
        pass_define(pass, "SUM_CHANNELS", 1);
    pass_results(pass, &o->window);
    pass->work = BLOCK * 16;
    return partial;
}

/* One more of the ping-pong passes of sums, into the other of two scratch images. */
static struct image_view plan_merge(struct plan *plan, const struct image_view *partial,
                                    const struct block *b, struct image_view *spare)
{
    uint32_t width = !b->x ? 1 : partial->width < BLOCK ? partial->width : BLOCK;
    uint32_t height = b->y && width < BLOCK ? BLOCK / width : 1;
    struct image_view merged = *spare;
    merged.width = groups_of(partial->width, width);
    merged.height = groups_of(partial->height, height);
    if (!spare->storage)
        merged = plan_scratch_image(
            plan, (struct extent){merged.width, merged.height, partial->channels, partial->images});
    struct pass *pass = plan_pass(plan, "arithmetic/arithmetic_gradient_merge.comp");
    pass_grid_over(pass, merged.width, merged.height, "merged", &merged);
    pass_texture(pass, "partial", partial);
    pass_image(pass, "merged", &merged);
    pass_define(pass, "BLOCK_X", (int)width);
    pass_define(pass, "BLOCK_Y", (int)height);
    pass->work = BLOCK * 8;
    *spare = *partial;
    return merged;
}

/* The terms summed over every broadcast axis: 1 wide, high or deep along those. */
static struct image_view plan_sums(const struct operation *o, struct plan *plan)
{
    struct block b = block_of(o);
    struct image_view spare = {0}, sums = plan_terms(o, plan, &b);
    while ((b.x && sums.width > 1) || (b.y && sums.height > 1))
        sums = plan_merge(plan, &sums, &b, &spare);
    return sums;
}

/* ---- Gradient passes ---- */

/* Source pixel that a broadcast axis reads; -1: a zero outside. */
static int32_t broadcast_source(const struct operation *o, const struct axis *axis, uint32_t size)
{
    return axis->end > axis->begin
               ? axis_tap(axis, o->window.edge_mode, (int32_t)size, axis->begin, 0)
               : -1;
}

static bool is_in_place(const struct operation *o)
{
    const struct image_view *g = &o->images[GRADIENT], *to = &o->images[DESTINATION];
    return o->window.channel_stride == 1 && is_direct(&o->window.x, g->width, to->width) &&
           is_direct(&o->window.y, g->height, to->height);
}

static void pass_placing(struct pass *pass, const struct operation *o)
{
    const struct image_view *to = &o->images[DESTINATION];
    struct window window = o->window;
    if (is_in_place(o))
        pass_define(pass, "DIRECT", 1);
    if (window.x.stride == 0)
        pass_define(pass, "SUMMED_X", 1);
    if (window.y.stride == 0)
        pass_define(pass, "SUMMED_Y", 1);
    if (window.channel_stride == 0)
        pass_define(pass, "SUMMED_C", 1);
    pass_int(pass, "source_x", broadcast_source(o, &window.x, to->width));
    pass_int(pass, "source_y", broadcast_source(o, &window.y, to->height));
    window.x.stride = window.y.stride = 1; /* of axes that are gathered */
    pass_window(pass, &window);
}

/* Of a sum that is not scaled each source has the sum's own gradient. */
static enum fusion gradient_fusion(const struct operation *o, struct plan *plan)
{
    (void)plan;
    bool same = arithmetic_term(o) == SCALED && arithmetic_scale(o) == 1 && !o->given[G_MASK] &&
                is_in_place(o);
    return same ? FUSION_COPY : FUSION_NONE;
}

/* One product of what is read is little beside what a pixel takes anyway, which pairs of columns share.
 * Powers of two columns would spill. */
static struct pass *plan_placing(const struct operation *o, struct plan *plan)
{
    static const char shader[] = "arithmetic/arithmetic_gradient.comp";
    const struct image_view *to = &o->images[DESTINATION];
    if (arithmetic_term(o) != SCALED)
        return plan_pixels(plan, o, shader, to);
    struct pass *pass = plan_columns(plan, o, shader, to, PAIR);
    pass_define(pass, "COLUMNS", 1);
    return pass;
}

static void plan_gradient(const struct operation *o, struct plan *plan)
{
    const struct window *w = &o->window;
    bool reduced = w->x.stride == 0 || w->y.stride == 0 || w->channel_stride == 0;
    bool empty = w->x.end <= w->x.begin || w->y.end <= w->y.begin;
    if (reduced && empty) {
        plan_fill_image(plan, &o->images[DESTINATION]);
        return;
    }
    struct image_view sums;
    if (reduced)
        sums = plan_sums(o, plan);
    struct pass *pass = plan_placing(o, plan);
    pass_image(pass, "destination", &o->images[DESTINATION]);
    pass_placing(pass, o);
    pass->prefers_large_groups = true;
    if (!reduced) {
        pass_term(pass, o);
        return;
    }
    pass_define(pass, "REDUCED", 1);
    pass_texture(pass, "reduced", &sums);
}

/* ---- Descriptors ---- */

/* Of all but division and powers. */
static bool keeps_zero(const void *kernel_parameters)
{
    const struct glcnn_arithmetic_parameters *p = kernel_parameters;
    return p->bias == 0 && p->minimum_value <= 0 && p->maximum_value >= 0;
}

#define FIELD(MEMBER) offsetof(struct glcnn_arithmetic_parameters, MEMBER)
#define LEAST         (-(double)FLT_MAX)
#define MOST          ((double)FLT_MAX)

static const struct parameter parameters[] = {
    {"primary_scale", "factor of the primary source", FIELD_FLOAT, FIELD(primary_scale), 1, LEAST,
     MOST, NULL},
    {"secondary_scale", "factor of the secondary source", FIELD_FLOAT, FIELD(secondary_scale), 1,
     LEAST, MOST, NULL},
    {"bias", "added to the result; gradients ignore it", FIELD_FLOAT, FIELD(bias), 0, LEAST, MOST,
     NULL},
    {"minimum_value", "least result", FIELD_FLOAT, FIELD(minimum_value), LEAST, LEAST, MOST, NULL},
    {"maximum_value", "largest result", FIELD_FLOAT, FIELD(maximum_value), MOST, LEAST, MOST, NULL},
    {0}};
static const struct parameter gradient_parameters[] = {
    {"primary_scale", "factor of the primary source", FIELD_FLOAT, FIELD(primary_scale), 1, LEAST,
     MOST, NULL},
    {"secondary_scale", "factor of the secondary source", FIELD_FLOAT, FIELD(secondary_scale), 1,
     LEAST, MOST, NULL},
    {"bias", "added to the result; gradients ignore it", FIELD_FLOAT, FIELD(bias), 0, LEAST, MOST,
     NULL},
    {"minimum_value", "least result", FIELD_FLOAT, FIELD(minimum_value), LEAST, LEAST, MOST, NULL},
    {"maximum_value", "largest result", FIELD_FLOAT, FIELD(maximum_value), MOST, LEAST, MOST, NULL},
    {"is_secondary_source_filter", "the gradient is by the secondary source", FIELD_BOOL,
     FIELD(is_secondary_source_filter), 0, 0, 1, NULL},
    {0}};

/* What a gradient reads of its state. */
#define LEFT_BY_FORWARD(NAME, OPTIONAL)                                                            \
    {                                                                                              \
        .name = NAME, .place = PLACE_STATE, .input = true, .optional = OPTIONAL,                   \
        .forward_fills = true                                                                      \
    }

static const struct argument sum_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "clamp_mask", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};
static const struct argument sum_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "secondary_image", .place = PLACE_FORWARD, .input = true, .optional = true},
    LEFT_BY_FORWARD("clamp_mask", true),
    {0}};

static const struct argument quotient_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_POSITIVE},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "clamp_mask", .place = PLACE_STATE, .output = true, .optional = true},
    {.name = "quotient", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};
static const struct argument quotient_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "secondary_image",
     .place = PLACE_FORWARD,
     .input = true,
     .optional = true,
     .values = VALUES_POSITIVE},
    LEFT_BY_FORWARD("clamp_mask", true),
    LEFT_BY_FORWARD("quotient", true),
    {0}};

static const struct argument extreme_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true},
    {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "clamp_mask", .place = PLACE_STATE, .output = true, .optional = true},
    {.name = "primary_share", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};
static const struct argument extreme_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "secondary_image", .place = PLACE_FORWARD, .input = true, .optional = true},
    LEFT_BY_FORWARD("clamp_mask", true),
    LEFT_BY_FORWARD("primary_share", false),
    {0}};

static const struct argument power_arguments[] = {
    {.name = "source_image", .place = PLACE_SOURCE, .input = true, .values = VALUES_POSITIVE},
    {.name = "secondary_image", .place = PLACE_SECONDARY, .input = true},
    {.name = "destination_image", .place = PLACE_DESTINATION, .output = true},
    {.name = "clamp_mask", .place = PLACE_STATE, .output = true, .optional = true},
    {.name = "base", .place = PLACE_STATE, .output = true, .optional = true},
    {0}};
static const struct argument power_gradient_arguments[] = {
    {.name = "source_gradient", .place = PLACE_SOURCE, .input = true},
    {.name = "source_image", .place = PLACE_SECONDARY, .input = true, .values = VALUES_POSITIVE},
    {.name = "destination_gradient", .place = PLACE_DESTINATION, .output = true},
    {.name = "secondary_image", .place = PLACE_FORWARD, .input = true, .optional = true},
    LEFT_BY_FORWARD("clamp_mask", true),
    LEFT_BY_FORWARD("base", false),
    {0}};

/* What all forward kernels have alike, and all their gradients. Each has a family of its own: a state
 * of one is of no use to the gradient of another. */
#define FORWARD(NAME, KIND)                                                                        \
    .name = NAME, .family = NAME, .form = &(const enum operation_kind){KIND},                      \
    .gradient = NAME "_gradient", .parameters_size = sizeof(struct glcnn_arithmetic_parameters),   \
    .parameters = parameters, .length = length, .check = check, .fusion = forward_fusion,          \
    .fuse = fuse_sum, .implementations = pointwise_implementations, .plan = plan_forward

#define GRADIENT_OF(NAME, KIND, FLAGS)                                                             \
    .name = NAME "_gradient", .family = NAME, .form = &(const enum operation_kind){KIND},          \
    .forward = NAME,                                                                               \
    .flags = IS_BINARY | HAS_STRIDE | IS_GRADIENT | NEEDS_STATE | READS_FUSED | (FLAGS),           \
    .parameters_size = sizeof(struct glcnn_arithmetic_parameters),                                 \
    .parameters = gradient_parameters, .length = length, .check = check,                           \
    .fusion = gradient_fusion, .implementations = pointwise_implementations, .plan = plan_gradient

enum { FORWARD_FLAGS = IS_BINARY | HAS_STRIDE | MAKES_STATE | READS_FUSED };

const struct glcnn_descriptor glcnn_kernel_add = {
    .mps_class = "MPSCNNAdd",
    .text = "sum of two images",
    FORWARD("add", ADD),
    .flags = FORWARD_FLAGS | IS_SUM,
    .arguments = sum_arguments,
    .keeps_zero = keeps_zero,
};
const struct glcnn_descriptor glcnn_kernel_add_gradient = {
    .mps_class = "MPSCNNAddGradient",
    .text = "gradient of add by one source",
    GRADIENT_OF("add", ADD, MAY_COPY),
    .arguments = sum_gradient_arguments,
    .operands = sum_operands,
};

const struct glcnn_descriptor glcnn_kernel_subtract = {
    .mps_class = "MPSCNNSubtract",
    .text = "difference of two images",
    FORWARD("subtract", SUBTRACT),
    .flags = FORWARD_FLAGS,
    .arguments = sum_arguments,
    .keeps_zero = keeps_zero,
};
const struct glcnn_descriptor glcnn_kernel_subtract_gradient = {
    .mps_class = "MPSCNNSubtractGradient",
    .text = "gradient of subtract by one source",
    GRADIENT_OF("subtract", SUBTRACT, MAY_COPY),
    .arguments = sum_gradient_arguments,
    .operands = sum_operands,
};

const struct glcnn_descriptor glcnn_kernel_multiply = {
    .mps_class = "MPSCNNMultiply",
    .text = "product of two images",
    FORWARD("multiply", MULTIPLY),
    .flags = FORWARD_FLAGS,
    .arguments = sum_arguments,
    .keeps_zero = keeps_zero,
};
const struct glcnn_descriptor glcnn_kernel_multiply_gradient = {
    .mps_class = "MPSCNNMultiplyGradient",
    .text = "gradient of multiply by one source",
    GRADIENT_OF("multiply", MULTIPLY, 0),
    .arguments = sum_gradient_arguments,
    .operands = product_operands,
};

const struct glcnn_descriptor glcnn_kernel_divide = {
    .mps_class = "MPSCNNDivide",
    .text = "quotient of two images",
    FORWARD("divide", DIVIDE),
    .flags = FORWARD_FLAGS,
    .arguments = quotient_arguments,
};
const struct glcnn_descriptor glcnn_kernel_divide_gradient = {
    .text = "gradient of divide by one source",
    GRADIENT_OF("divide", DIVIDE, 0),
    .arguments = quotient_gradient_arguments,
    .operands = quotient_operands,
};

const struct glcnn_descriptor glcnn_kernel_maximum = {
    .text = "the larger of two images",
    FORWARD("maximum", MAXIMUM),
    .flags = FORWARD_FLAGS,
    .arguments = extreme_arguments,
    .keeps_zero = keeps_zero,
};
const struct glcnn_descriptor glcnn_kernel_maximum_gradient = {
    .text = "gradient of maximum by one source",
    GRADIENT_OF("maximum", MAXIMUM, 0),
    .arguments = extreme_gradient_arguments,
    .operands = sum_operands,
};

const struct glcnn_descriptor glcnn_kernel_minimum = {
    .text = "the smaller of two images",
    FORWARD("minimum", MINIMUM),
    .flags = FORWARD_FLAGS,
    .arguments = extreme_arguments,
    .keeps_zero = keeps_zero,
};
const struct glcnn_descriptor glcnn_kernel_minimum_gradient = {
    .text = "gradient of minimum by one source",
    GRADIENT_OF("minimum", MINIMUM, 0),
    .arguments = extreme_gradient_arguments,
    .operands = sum_operands,
};

const struct glcnn_descriptor glcnn_kernel_power = {
    .text = "one image to the power of another",
    FORWARD("power", POWER),
    .flags = FORWARD_FLAGS,
    .arguments = power_arguments,
};
const struct glcnn_descriptor glcnn_kernel_power_gradient = {
    .text = "gradient of power by one source",
    GRADIENT_OF("power", POWER, 0),
    .arguments = power_gradient_arguments,
    .operands = quotient_operands,
};

/* ---- Typed access ---- */

struct glcnn_arithmetic_parameters *glcnn_arithmetic(glcnn_kernel *kernel)
{
    bool is_one = kernel && kernel->descriptor->length == length; /* of whichever family */
    return is_one ? kernel->parameters : NULL;
}
