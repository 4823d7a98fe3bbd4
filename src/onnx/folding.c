/* Operators of constants, element by element. Real numbers are rounded to float32 after each operator,
 * whole ones are wrapped to their type, as where a model runs. */
#include <math.h>
#include <string.h>

#include "onnx/fold.h"

#define TYPE(NAME) ONNX__TENSOR_PROTO__DATA_TYPE__##NAME

/* ---- Functions of one number ---- */

#define FUNCTION(NAME, RESULT)                                                                     \
    static double NAME(double x, double a, double b)                                               \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        return RESULT;                                                                             \
    }

static double between(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double soft_plus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

FUNCTION(absolute, fabs(x))
FUNCTION(exponential, exp(x))
FUNCTION(logarithm, log(x))
FUNCTION(square_root, sqrt(x))
FUNCTION(reciprocal, 1 / x)
FUNCTION(floor_of, floor(x))
FUNCTION(ceiling, ceil(x))
FUNCTION(rounded, nearbyint(x))
FUNCTION(negative, -x)
FUNCTION(negation, x == 0)
FUNCTION(error_function, erf(x))
FUNCTION(sign, isnan(x) ? x : (x > 0) - (x < 0))
FUNCTION(sine, sin(x))
FUNCTION(cosine, cos(x))
FUNCTION(tangent, tan(x))
FUNCTION(arc_sine, asin(x))
FUNCTION(arc_cosine, acos(x))
FUNCTION(arc_tangent, atan(x))
FUNCTION(hyperbolic_sine, sinh(x))
FUNCTION(hyperbolic_cosine, cosh(x))
FUNCTION(hyperbolic_tangent, tanh(x))
FUNCTION(area_sine, asinh(x))
FUNCTION(area_cosine, acosh(x))
FUNCTION(area_tangent, atanh(x))
FUNCTION(is_no_number, isnan(x))
FUNCTION(is_infinite, isinf(x) && (x > 0 ? b : a) != 0)
FUNCTION(sigmoid, logistic(x))
FUNCTION(relu, x < 0 ? 0 : x)
FUNCTION(leaky_relu, x < 0 ? a * x : x)
FUNCTION(elu, x < 0 ? a * expm1(x) : x)
FUNCTION(selu, b *(x <= 0 ? a * expm1(x) : x))
FUNCTION(celu, fmax(x, 0) + fmin(0, a *expm1(x / a)))
FUNCTION(soft_sign, x / (1 + fabs(x)))
FUNCTION(soft_plus_of, soft_plus(x))
FUNCTION(hard_sigmoid, between(a *x + b, 0, 1))
FUNCTION(hard_swish, x *between(x / 6 + 0.5, 0, 1))
FUNCTION(mish, x *tanh(soft_plus(x)))
FUNCTION(swish, x *logistic(a *x))
FUNCTION(thresholded_relu, x > a ? x : 0)
FUNCTION(shrink, x<-b ? x + a : x> b ? x - a : 0)

/* An attribute of the function, and what it is where the node has none. */
struct setting {
    const char *name;
    float otherwise;
};

static const struct unary {
    const char *name;
    double (*of)(double x, double a, double b);
    bool is_truth;
    struct setting a, b;
} unary_functions[] = {
    {"Abs", absolute, false, {0}, {0}},
    {"Exp", exponential, false, {0}, {0}},
    {"Log", logarithm, false, {0}, {0}},
    {"Sqrt", square_root, false, {0}, {0}},
    {"Reciprocal", reciprocal, false, {0}, {0}},
    {"Floor", floor_of, false, {0}, {0}},
    {"Ceil", ceiling, false, {0}, {0}},
    {"Round", rounded, false, {0}, {0}},
    {"Neg", negative, false, {0}, {0}},
    {"Not", negation, true, {0}, {0}},
    {"Erf", error_function, false, {0}, {0}},
    {"Sign", sign, false, {0}, {0}},
    {"Sin", sine, false, {0}, {0}},
    {"Cos", cosine, false, {0}, {0}},
    {"Tan", tangent, false, {0}, {0}},
    {"Asin", arc_sine, false, {0}, {0}},
    {"Acos", arc_cosine, false, {0}, {0}},
    {"Atan", arc_tangent, false, {0}, {0}},
    {"Sinh", hyperbolic_sine, false, {0}, {0}},
    {"Cosh", hyperbolic_cosine, false, {0}, {0}},
    {"Tanh", hyperbolic_tangent, false, {0}, {0}},
    {"Asinh", area_sine, false, {0}, {0}},
    {"Acosh", area_cosine, false, {0}, {0}},
    {"Atanh", area_tangent, false, {0}, {0}},
    {"IsNaN", is_no_number, true, {0}, {0}},
    {"Sigmoid", sigmoid, false, {0}, {0}},
    {"Relu", relu, false, {0}, {0}},
    {"LeakyRelu", leaky_relu, false, {"alpha", 0.01f}, {0}},
    {"Elu", elu, false, {"alpha", 1}, {0}},
    {"Selu", selu, false, {"alpha", 1.67326319f}, {"gamma", 1.05070102f}},
    {"Celu", celu, false, {"alpha", 1}, {0}},
    {"Softsign", soft_sign, false, {0}, {0}},
    {"Softplus", soft_plus_of, false, {0}, {0}},
    {"HardSigmoid", hard_sigmoid, false, {"alpha", 0.2f}, {"beta", 0.5f}},
    {"HardSwish", hard_swish, false, {0}, {0}},
    {"Mish", mish, false, {0}, {0}},
    {"Swish", swish, false, {"alpha", 1}, {0}},
    {"ThresholdedRelu", thresholded_relu, false, {"alpha", 1}, {0}},
    {"Shrink", shrink, false, {"bias", 0}, {"lambd", 0.5f}},
};

static double setting_of(const struct call *call, const struct setting *s)
{
    return s->name ? (double)attribute_float(call, s->name, s->otherwise) : 0;
}

static bool give_unary(struct call *call, double (*of)(double x, double a, double b), bool is_truth,
                       double a, double b)
{
    const struct constant *x;
    if (!op_constant(call, 0, true, &x))
        return false;
    struct constant *y = constant_make(call->reader, &x->shape, is_truth || x->wholes);
    if (y)
        y->type = is_truth ? TYPE(BOOL) : x->type;
    for (size_t i = 0; y && i < x->count; i++)
        constant_set(y, i, of(constant_number(x, i), a, b));
    return op_give_constant(call, 0, y);
}

bool fold_unary(struct call *call)
{
    size_t f = 0;
    while (strcmp(unary_functions[f].name, call->row->name) != 0)
        f++;
    const struct unary *u = &unary_functions[f];
    return give_unary(call, u->of, u->is_truth, setting_of(call, &u->a), setting_of(call, &u->b));
}

static bool fold_is_infinite(struct call *call)
{
    return give_unary(call, is_infinite, true, (double)attribute_int(call, "detect_negative", 1),
                      (double)attribute_int(call, "detect_positive", 1));
}

FUNCTION(gelu, x / 2 * (1 + erf(x * 0.70710678118654752)))
FUNCTION(gelu_by_tanh, x / 2 * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))))

bool fold_gelu(struct call *call)
{
    bool by_tanh = attribute_is(call, "approximate", "tanh", "none");
    return give_unary(call, by_tanh ? gelu_by_tanh : gelu, false, 0, 0);
}

static bool fold_bitwise_not(struct call *call)
{
    const struct constant *x;
    if (!op_constant(call, 0, true, &x))
        return false;
    if (!x->wholes)
        return op_fail(call, GLCNN_MALFORMED_DATA,
                       "input 0 has real numbers; whole ones have bits");
    struct constant *y = fold_like(call, &x->shape, x);
    for (size_t i = 0; y && i < x->count; i++)
        y->wholes[i] = type_wrap(x->type, ~x->wholes[i]);
    return op_give_constant(call, 0, y);
}

/* ---- Functions of two numbers ---- */

static int64_t wrapped(uint64_t bits)
{
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define REALS(NAME, RESULT)                                                                        \
    static double NAME(double x, double y)                                                         \
    {                                                                                              \
        return RESULT;                                                                             \
    }
#define WHOLES(NAME, RESULT)                                                                       \
    static int64_t NAME(int64_t x, int64_t y)                                                      \
    {                                                                                              \
        return RESULT;                                                                             \
    }

/* What divides is not 0: check_divisors. */
static int64_t quotient(int64_t x, int64_t y)
{
    return y == -1 ? wrapped(0 - (uint64_t)x) : x / y;
}

static int64_t remainder_of(int64_t x, int64_t y)
{
    return y == -1 ? 0 : x % y;
}

/* Of the sign of what divides, as Python has it. */
static int64_t modulus(int64_t x, int64_t y)
{
    int64_t rest = remainder_of(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static int64_t whole_power(int64_t x, int64_t y)
{
    uint64_t power = 1, base = (uint64_t)x;
    if (y < 0)
        return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    for (; y > 0; y /= 2, base *= base)
        power *= y % 2 ? base : 1;
    return wrapped(power);
}

static double real_modulus(double x, double y)
{
    double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

REALS(add, x + y)
REALS(subtract, x - y)
REALS(multiply, x *y)
REALS(divide, x / y)
REALS(largest, isnan(x) || x > y ? x : y)
REALS(smallest, isnan(x) || x < y ? x : y)
REALS(sloped, x < 0 ? x * y : x)
REALS(equal, x == y)
REALS(greater, x > y)
REALS(less, x < y)
REALS(greater_or_equal, x >= y)
REALS(less_or_equal, x <= y)
REALS(both, x != 0 && y != 0)
REALS(either, x != 0 || y != 0)
REALS(one_of_two, (x != 0) != (y != 0))
WHOLES(add_wholes, wrapped((uint64_t)x + (uint64_t)y))
WHOLES(subtract_wholes, wrapped((uint64_t)x - (uint64_t)y))
WHOLES(multiply_wholes, wrapped((uint64_t)x *(uint64_t)y))
WHOLES(largest_whole, x > y ? x : y)
WHOLES(smallest_whole, x < y ? x : y)
WHOLES(slope_wholes, x < 0 ? multiply_wholes(x, y) : x)
WHOLES(equal_wholes, x == y)
WHOLES(greater_whole, x > y)
WHOLES(less_whole, x < y)
WHOLES(greater_or_equal_whole, x >= y)
WHOLES(less_or_equal_whole, x <= y)
WHOLES(bits_of_both, x &y)
WHOLES(bits_of_either, x | y)
WHOLES(bits_of_one, x ^ y)
WHOLES(shift_left, y<0 || y> 63 ? 0 : wrapped((uint64_t)x << y))
WHOLES(shift_right, y<0 || y> 63 ? 0 : wrapped((uint64_t)x >> y))

static const struct binary {
    const char *name;
    double (*of)(double x, double y);           /* NULL: only of whole numbers */
    int64_t (*of_wholes)(int64_t x, int64_t y); /* NULL: only of reals */
    bool is_truth, divides;
} binary_functions[] = {
    {"Add", add, add_wholes, false, false},
    {"Sub", subtract, subtract_wholes, false, false},
    {"Mul", multiply, multiply_wholes, false, false},
    {"Div", divide, quotient, false, true},
    {"Pow", pow, whole_power, false, false},
    {"Max", largest, largest_whole, false, false},
    {"Min", smallest, smallest_whole, false, false},
    {"Sum", add, add_wholes, false, false},
    {"Mean", add, NULL, false, false},
    {"PRelu", sloped, slope_wholes, false, false},
    {"Equal", equal, equal_wholes, true, false},
    {"Greater", greater, greater_whole, true, false},
    {"Less", less, less_whole, true, false},
    {"GreaterOrEqual", greater_or_equal, greater_or_equal_whole, true, false},
    {"LessOrEqual", less_or_equal, less_or_equal_whole, true, false},
    {"And", both, NULL, true, false},
    {"Or", either, NULL, true, false},
    {"Xor", one_of_two, NULL, true, false},
    {"BitwiseAnd", NULL, bits_of_both, false, false},
    {"BitwiseOr", NULL, bits_of_either, false, false},
    {"BitwiseXor", NULL, bits_of_one, false, false},
};
static const struct binary remainders = {"Mod", fmod, remainder_of, false, true};
static const struct binary moduli = {"Mod", real_modulus, modulus, false, true};
static const struct binary left_shifts = {"BitShift", NULL, shift_left, false, false};
static const struct binary right_shifts = {"BitShift", NULL, shift_right, false, false};

static bool check_divisors(struct call *call, const struct constant *y)
{
    for (size_t i = 0; i < y->count; i++)
        if (y->wholes[i] == 0)
            return op_fail(call, GLCNN_MALFORMED_DATA, "it divides a whole number by 0");
    return true;
}

static void combine(const struct binary *f, struct constant *z, const struct constant *x,
                    const struct constant *y, bool of_wholes)
{
    struct walk w = walk_through(&z->shape);
    walk_broadcast(&w, 0, &x->shape);
    walk_broadcast(&w, 1, &y->shape);
    for (size_t i = 0; i < z->count; i++, walk_next(&w)) {
        const size_t a = (size_t)w.at[0], b = (size_t)w.at[1];
        if (of_wholes)
            z->wholes[i] = type_wrap(z->type, f->of_wholes(x->wholes[a], y->wholes[b]));
        else
            constant_set(z, i, f->of(constant_number(x, a), constant_number(y, b)));
    }
}

/* NULL, with the message: it could not be computed. */
static struct constant *join(struct call *call, const struct binary *f, const struct constant *x,
                             const struct constant *y)
{
    struct shape shape;
    char first[96], second[96];
    bool of_wholes = f->of_wholes && x->wholes && y->wholes;
    bool is_whole = (x->wholes && y->wholes) || (x->wholes && f->of == pow);
    if (!shape_broadcast(&x->shape, &y->shape, &shape)) {
        op_fail(call, GLCNN_MALFORMED_DATA, "shapes %s and %s do not fit together",
                shape_text(&x->shape, first), shape_text(&y->shape, second));
        return NULL;
    }
    if (!of_wholes && !f->of) {
        op_fail(call, GLCNN_MALFORMED_DATA, "an input has real numbers; whole ones have bits");
        return NULL;
    }
    if (of_wholes && f->divides && !check_divisors(call, y))
        return NULL;
    struct constant *z = constant_make(call->reader, &shape, is_whole || f->is_truth);
    if (!z)
        return NULL;
    z->type = f->is_truth ? TYPE(BOOL) : is_whole || !x->wholes ? x->type : y->type;
    combine(f, z, x, y, of_wholes);
    return z;
}

static bool give_joined(struct call *call, const struct binary *f)
{
    const struct constant *x, *y;
    if (!op_constant(call, 0, true, &x))
        return false;
    for (size_t k = 1; k < call->node->n_input; k++) {
        if (!op_constant(call, k, true, &y))
            return false;
        x = join(call, f, x, y);
        if (!x)
            return false;
    }
    struct constant *all = (struct constant *)(uintptr_t)x;
    if (strcmp(f->name, "Mean") == 0 && call->node->n_input > 1)
        for (size_t i = 0; i < all->count; i++)
            constant_set(all, i, constant_number(all, i) / (double)call->node->n_input);
    return op_give_constant(call, 0, all);
}

bool fold_binary(struct call *call)
{
    size_t f = 0;
    while (strcmp(binary_functions[f].name, call->row->name) != 0)
        f++;
    return give_joined(call, &binary_functions[f]);
}

static bool fold_modulus(struct call *call)
{
    return give_joined(call, attribute_int(call, "fmod", 0) ? &remainders : &moduli);
}

static bool fold_shift(struct call *call)
{
    return give_joined(call,
                       attribute_is(call, "direction", "LEFT", "") ? &left_shifts : &right_shifts);
}

/* ---- Bounds ---- */

static bool bound_of(struct call *call, const char *attribute, size_t input,
                     const struct constant **bound)
{
    const Onnx__AttributeProto *a = attribute_find(call, attribute);
    *bound = NULL;
    if (!a)
        return op_constant(call, input, false, bound) &&
               (!*bound || (*bound)->count == 1 ||
                op_fail(call, GLCNN_MALFORMED_DATA, "the bound %s has %zu numbers; expected one",
                        attribute, (*bound)->count));
    struct constant *made = constant_make(call->reader, &(struct shape){0}, false);
    if (made)
        made->floats[0] = a->f;
    *bound = made;
    return made;
}

bool fold_clip(struct call *call)
{
    static const struct binary at_least = {"", largest, largest_whole, false, false},
                               at_most = {"", smallest, smallest_whole, false, false};
    const struct constant *x, *low, *high;
    if (!op_constant(call, 0, true, &x) || !bound_of(call, "min", 1, &low) ||
        !bound_of(call, "max", 2, &high))
        return false;
    x = low ? join(call, &at_least, x, low) : x;
    x = x && high ? join(call, &at_most, x, high) : x;
    return x && op_give_constant(call, 0, (struct constant *)(uintptr_t)x);
}

bool fold_where(struct call *call)
{
    const struct constant *condition, *x, *y;
    struct shape shape, all;
    if (!op_constant(call, 0, true, &condition) || !op_constant(call, 1, true, &x) ||
        !op_constant(call, 2, true, &y))
        return false;
    if (!shape_broadcast(&x->shape, &y->shape, &shape) ||
        !shape_broadcast(&shape, &condition->shape, &all) || !x->floats != !y->floats)
        return op_fail(call, GLCNN_MALFORMED_DATA, "its inputs do not fit together");
    struct constant *z = fold_like(call, &all, x);
    struct walk w = walk_through(&all);
    walk_broadcast(&w, 0, &condition->shape);
    walk_broadcast(&w, 1, &x->shape);
    walk_broadcast(&w, 2, &y->shape);
    for (size_t i = 0; z && i < z->count; i++, walk_next(&w)) {
        bool is_x = constant_number(condition, (size_t)w.at[0]) != 0;
        constant_copy(z, i, is_x ? x : y, (size_t)w.at[is_x ? 1 : 2]);
    }
    return op_give_constant(call, 0, z);
}

/* ---- Types ---- */

/* A multiple of the open batch, which float32 rounds, as a whole number. */
static double unrounded(double value)
{
    double times = nearbyint(value / OPEN_BATCH), exact = times * OPEN_BATCH;
    return times >= 1 && fabs(value - exact) <= 5e-7 * exact ? exact : value;
}

static double converted(const struct constant *x, size_t i, int type)
{
    double value = constant_number(x, i);
    if (type == TYPE(BOOL))
        return value != 0;
    return x->floats && type_is_whole(type) ? unrounded(value) : value;
}

#define UNREAD                                                                                        \
    "casts to ONNX's type %d are not read; those to truths, whole numbers of 8 to 64 bits, float32, " \
    "float16, bfloat16 and double are"

static bool convert(struct call *call, int type)
{
    const struct constant *x;
    if (!type_is_read(type))
        return op_unsupported(call, UNREAD, type);
    if (!op_constant(call, 0, true, &x))
        return false;
    struct constant *y = constant_make(call->reader, &x->shape, type_is_whole(type));
    if (y)
        y->type = type;
    for (size_t i = 0; y && i < y->count; i++)
        if (x->wholes && y->wholes)
            y->wholes[i] = type_wrap(type, x->wholes[i]);
        else
            constant_set(y, i, converted(x, i, type));
    return op_give_constant(call, 0, y);
}

static bool fold_cast(struct call *call)
{
    return convert(call, (int)attribute_int(call, "to", TYPE(FLOAT)));
}

static bool fold_cast_like(struct call *call)
{
    const struct value *like = op_input(call, 1);
    return convert(call, like && like->constant    ? like->constant->type
                         : like && like->type != 0 ? like->type
                                                   : TYPE(FLOAT));
}

/* The image, float32 here, becomes of this type. What has whole numbers stays one that has. */
static bool cast_image(struct call *call, int type)
{
    struct value *x, *made = op_output(call, 0);
    bool is_whole = type_is_whole(type);
    if (!op_image(call, 0, &x))
        return false;
    struct image image = x->image;
    const bool to_truths = type == TYPE(BOOL) && x->type != TYPE(BOOL);
    if (!type_is_read(type))
        return op_unsupported(call, UNREAD, type);
    if (is_whole && !x->type && !to_truths)
        return op_unsupported(
            call, "an image of real numbers would become one of whole numbers; casts to "
                  "truths, float32, float16, bfloat16 and double are read");
    if ((to_truths && !op_truths(call, &image)) || !op_give(call, 0, &x->shape, &image))
        return false;
    if (made)
        made->type = is_whole ? type : 0;
    return true;
}

static bool lower_cast(struct call *call)
{
    return cast_image(call, (int)attribute_int(call, "to", TYPE(FLOAT)));
}

static bool lower_cast_like(struct call *call)
{
    const struct value *like = op_input(call, 1);
    if (!like)
        return op_fail(call, GLCNN_MALFORMED_DATA, "input 1 is missing");
    return cast_image(call, like->constant ? like->constant->type
                            : like->type   ? like->type
                                           : TYPE(FLOAT));
}

/* ---- Operators ---- */

bool fold_keeps_batch(const char *operator)
{
    static const char *const others[] = {"Cast",     "CastLike", "Where",     "Expand",
                                         "Identity", "Reshape",  "Unsqueeze", "Squeeze",
                                         "Flatten",  "Clip",     "Transpose"};
    for (size_t i = 0; operator&& i<sizeof others / sizeof * others; i++)
        if (strcmp(others[i], operator) == 0)
            return true;
    for (size_t i = 0; operator&& i<sizeof unary_functions / sizeof * unary_functions; i++)
        if (strcmp(unary_functions[i].name, operator) == 0)
            return true;
    for (size_t i = 0; operator&& i<sizeof binary_functions / sizeof * binary_functions; i++)
        if (strcmp(binary_functions[i].name, operator) == 0)
            return true;
    return false;
}

const struct operator_row onnx_folding[] = {
    {"Cast", lower_cast, fold_cast, 0, NULL},
    {"CastLike", lower_cast_like, fold_cast_like, 0, NULL},
    {"BitwiseAnd", op_only_constants, fold_binary, 0, NULL},
    {"BitwiseOr", op_only_constants, fold_binary, 0, NULL},
    {"BitwiseXor", op_only_constants, fold_binary, 0, NULL},
    {"BitwiseNot", op_only_constants, fold_bitwise_not, 0, NULL},
    {"BitShift", op_only_constants, fold_shift, 0, NULL},
    {"Mod", op_only_constants, fold_modulus, 0, NULL},
    {"Sin", op_only_constants, fold_unary, 0, NULL},
    {"Cos", op_only_constants, fold_unary, 0, NULL},
    {"Tan", op_only_constants, fold_unary, 0, NULL},
    {"Asin", op_only_constants, fold_unary, 0, NULL},
    {"Acos", op_only_constants, fold_unary, 0, NULL},
    {"Atan", op_only_constants, fold_unary, 0, NULL},
    {"Sinh", op_only_constants, fold_unary, 0, NULL},
    {"Cosh", op_only_constants, fold_unary, 0, NULL},
    {"Asinh", op_only_constants, fold_unary, 0, NULL},
    {"Acosh", op_only_constants, fold_unary, 0, NULL},
    {"Atanh", op_only_constants, fold_unary, 0, NULL},
    {"IsNaN", op_only_constants, fold_unary, 0, NULL},
    {"IsInf", op_only_constants, fold_is_infinite, 0, NULL},
    {"Shrink", op_only_constants, fold_unary, 0, NULL},
    {0}};
