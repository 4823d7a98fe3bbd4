/* Operators of truths, which are images of 0 and 1: comparisons, what combines truths, and the choice by
 * them. They pass no gradient on, as the sign of a difference has none. */
#include "onnx/fold.h"
#include "onnx/operand.h"

#define TYPE(NAME) ONNX__TENSOR_PROTO__DATA_TYPE__##NAME

static bool neuron(struct call *call, struct image *x, glcnn_neuron_type type, float a, float b,
                   const char *suffix)
{
    x->node = glcnn_neuron_node(x->node, &(struct glcnn_neuron_descriptor){type, a, b, 0});
    return op_made(call, x->node, suffix);
}

static bool negate(struct call *call, struct image *x, const char *suffix)
{
    return neuron(call, x, GLCNN_NEURON_TYPE_LINEAR, -1, 1, suffix);
}

static bool give_truths(struct call *call, const struct operand *x)
{
    struct value *made = op_output(call, 0);
    if (!op_give(call, 0, &x->shape, &x->image))
        return false;
    if (made)
        made->type = TYPE(BOOL);
    return true;
}

bool op_truths(struct call *call, struct image *x)
{
    return neuron(call, x, GLCNN_NEURON_TYPE_SIGN, 0, 0, "sign") &&
           neuron(call, x, GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, NULL);
}

/* ---- Comparisons ---- */

enum { EQUAL, UNEQUAL, GREATER, LESS, GREATER_OR_EQUAL, LESS_OR_EQUAL };

/* What is made of the sign of a - b, or of b - a: its size, or whether it is above 0; and of that
 * whether it is not. */
static const struct {
    bool is_swapped, takes_size, is_negated;
} comparisons[] = {[EQUAL] = {false, true, true},
                   [UNEQUAL] = {false, true, false},
                   [GREATER] = {false, false, false},
                   [LESS] = {true, false, false},
                   [GREATER_OR_EQUAL] = {true, false, true},
                   [LESS_OR_EQUAL] = {false, false, true}};

/* Both inputs; a constant does not train here. */
static bool take_pair(struct call *call, struct value pair[2])
{
    for (size_t i = 0; i < 2; i++) {
        const struct value *value = op_input(call, i);
        if (!value)
            return op_fail(call, GLCNN_MALFORMED_DATA, "it has two inputs; one is missing");
        pair[i] = *value;
        if (pair[i].learns && !op_note_frozen(call, value, "what is compared does not train"))
            return false;
        pair[i].learns = false;
    }
    return true;
}

static bool lower_comparison(struct call *call)
{
    struct value pair[2];
    struct operand x;
    const bool swaps = comparisons[call->row->kind].is_swapped;
    const bool negates = comparisons[call->row->kind].is_negated;
    const char *last = negates ? "compared" : NULL;
    if (!take_pair(call, pair) || !op_combine(call, "Sub", &pair[swaps], &pair[!swaps], &x) ||
        !neuron(call, &x.image, GLCNN_NEURON_TYPE_SIGN, 0, 0, "sign"))
        return false;
    bool made = comparisons[call->row->kind].takes_size
                    ? neuron(call, &x.image, GLCNN_NEURON_TYPE_ABSOLUTE, 0, 0, last)
                    : neuron(call, &x.image, GLCNN_NEURON_TYPE_CLIP, 0, 1, last);
    return made && (!negates || negate(call, &x.image, NULL)) && give_truths(call, &x);
}

/* ---- Truths of truths ---- */

static bool lower_both(struct call *call)
{
    struct value pair[2];
    struct operand x;
    return take_pair(call, pair) && op_combine(call, call->row->kernel, &pair[0], &pair[1], &x) &&
           give_truths(call, &x);
}

static bool lower_not(struct call *call)
{
    struct value *value;
    if (!op_image(call, 0, &value))
        return false;
    struct operand x = operand_of(value);
    return negate(call, &x.image, NULL) && give_truths(call, &x);
}

/* ---- The choice ---- */

/* The constant's numbers where the mask has `kept`, 0 elsewhere. */
static bool keep_constant(struct call *call, const struct value *value, const struct value *mask,
                          bool kept, struct value *masked)
{
    struct shape shape;
    if (!shape_broadcast(&value->shape, &mask->shape, &shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "its inputs do not fit together");
    *masked = (struct value){.name = value->name, .shape = shape, .parameter = value->parameter};
    masked->constant = constant_make(call->reader, &shape, false);
    struct walk walk = walk_through(&shape);
    walk_broadcast(&walk, 0, &mask->shape);
    walk_broadcast(&walk, 1, &value->shape);
    for (size_t i = 0; masked->constant && i < masked->constant->count; i++, walk_next(&walk))
        if ((constant_number(mask->constant, (size_t)walk.at[0]) != 0) == kept)
            masked->constant->floats[i] =
                (float)constant_number(value->constant, (size_t)walk.at[1]);
    return masked->constant;
}

/* 1 where the mask has `kept`, 0 elsewhere. */
static bool make_factor(struct call *call, const struct value *mask, bool kept,
                        struct value *factor)
{
    *factor = (struct value){.name = mask->name, .shape = mask->shape, .image = mask->image};
    if (!mask->constant)
        return kept || negate(call, &factor->image, "otherwise");
    factor->constant = constant_make(call->reader, &mask->constant->shape, false);
    for (size_t i = 0; factor->constant && i < factor->constant->count; i++)
        factor->constant->floats[i] = (constant_number(mask->constant, i) != 0) == kept;
    return factor->constant;
}

/* One of the two values; *made is what its operand may point to. */
struct kept {
    struct value made;
    struct operand operand;
};

/* The image's numbers, bounded, since no product of 0 and an infinity is 0. */
static bool keep_image(struct call *call, const struct value *value, const struct value *mask,
                       bool kept, struct kept *k)
{
    k->operand = operand_of(value);
    if (!neuron(call, &k->operand.image, GLCNN_NEURON_TYPE_CLIP, -LARGEST_NUMBER, LARGEST_NUMBER,
                "bounded") ||
        !make_factor(call, mask, kept, &k->made))
        return false;
    struct operand factor = operand_of(&k->made);
    return op_join(call, "multiply", &k->operand, &factor, "kept");
}

/* The value where the mask has `kept`, 0 elsewhere: also where it is infinite. */
static bool keep(struct call *call, const struct value *value, const struct value *mask, bool kept,
                 struct kept *k)
{
    struct value bounded = *value;
    if (!value->constant)
        return keep_image(call, value, mask, kept, k);
    if (mask->constant) {
        bool made = keep_constant(call, value, mask, kept, &k->made);
        k->operand = operand_of(&k->made);
        return made;
    }
    bounded.constant = constant_bounded(call, value->constant);
    return bounded.constant && make_factor(call, mask, kept, &k->made) &&
           op_combine(call, "Mul", &bounded, &k->made, &k->operand);
}

/* The branches of an If have results of the same shape (branch.c). */
static bool check_shapes(struct call *call)
{
    const struct value *a = op_input(call, 1), *b = op_input(call, 2);
    char first[96], second[96];
    if (!attribute_int(call, OF_BRANCHES, 0) || shape_equal(&a->shape, &b->shape))
        return true;
    return op_unsupported(call,
                          "an If's branches give %s and %s; its condition is computed while "
                          "the model runs, and both must have one shape",
                          shape_text(&a->shape, first), shape_text(&b->shape, second));
}

static bool lower_where(struct call *call)
{
    const struct value *mask = op_input(call, 0), *x = op_input(call, 1), *y = op_input(call, 2);
    struct kept of_x, of_y;
    struct value *made = op_output(call, 0);
    if (!mask || !x || !y)
        return op_fail(call, GLCNN_MALFORMED_DATA, "it has three inputs; one is missing");
    if (!check_shapes(call) || !keep(call, x, mask, true, &of_x) ||
        !keep(call, y, mask, false, &of_y) ||
        !op_join(call, "add", &of_x.operand, &of_y.operand, NULL) ||
        !op_give(call, 0, &of_x.operand.shape, &of_x.operand.image))
        return false;
    if (made)
        made->type = !x->constant ? x->type : x->constant->wholes ? x->constant->type : 0;
    return true;
}

const struct operator_row onnx_comparison[] = {
    {"Equal", lower_comparison, fold_binary, EQUAL, NULL},
    {"Greater", lower_comparison, fold_binary, GREATER, NULL},
    {"Less", lower_comparison, fold_binary, LESS, NULL},
    {"GreaterOrEqual", lower_comparison, fold_binary, GREATER_OR_EQUAL, NULL},
    {"LessOrEqual", lower_comparison, fold_binary, LESS_OR_EQUAL, NULL},
    {"Xor", lower_comparison, fold_binary, UNEQUAL, NULL},
    {"And", lower_both, fold_binary, 0, "Mul"},
    {"Or", lower_both, fold_binary, 0, "Max"},
    {"Not", lower_not, fold_unary, 0, NULL},
    {"Where", lower_where, fold_where, 0, NULL},
    {0}};
