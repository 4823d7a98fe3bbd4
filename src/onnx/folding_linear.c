/* Products of constants: sums over labels of axes, as Einsum has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx/equation.h"
#include "onnx/fold.h"

/* Of one operand or two. */
struct sum {
    const struct constant *operand[2];
    struct equation equation;
    char all[GLCNN_ONNX_RANK + 1]; /* the result's, then those that are summed */
    struct shape sizes;            /* of all */
};

/* ---- Labels ---- */

/* The size of a label's axis, or 1 where it is broadcast; 0 where operands differ, or none has it. */
static int64_t label_size(const struct sum *s, char label)
{
    int64_t size = 0;
    for (size_t k = 0; k < s->equation.operands; k++)
        for (size_t i = 0; s->equation.labels[k][i]; i++) {
            const int64_t own = s->operand[k]->shape.dims[i];
            if (s->equation.labels[k][i] != label || own == size || (own == 1 && size > 1))
                continue;
            if (size > 1)
                return 0;
            size = own;
        }
    return size;
}

/* Takes up a label: of the result, or one that is summed. */
static bool add_label(struct call *call, struct sum *s, char label)
{
    const size_t count = strlen(s->all);
    if (strchr(s->all, label))
        return true;
    if (count == GLCNN_ONNX_RANK)
        return op_unsupported(call, "it sums over more than %d axes", GLCNN_ONNX_RANK);
    s->all[count] = label;
    s->sizes.dims[s->sizes.rank++] = label_size(s, label);
    return s->sizes.dims[count] > 0 ||
           op_fail(call, GLCNN_MALFORMED_DATA, "axes \"%c\" of its inputs do not fit together",
                   label);
}

static bool add_labels(struct call *call, struct sum *s)
{
    for (const char *at = s->equation.result; *at; at++)
        if (strchr(at + 1, *at) || !add_label(call, s, *at))
            return op_fail(call, GLCNN_MALFORMED_DATA, "its result has axis \"%c\" twice", *at);
    for (size_t k = 0; k < s->equation.operands; k++)
        for (const char *at = s->equation.labels[k]; *at; at++)
            if (!add_label(call, s, *at))
                return false;
    return true;
}

/* ---- The sum ---- */

static void add_strides(struct walk *w, size_t k, const struct sum *s, const struct shape *shape,
                        const char *labels)
{
    int64_t stride[GLCNN_ONNX_RANK];
    fold_strides(shape, stride);
    for (size_t i = 0; labels[i]; i++) {
        const size_t axis = (size_t)(strchr(s->all, labels[i]) - s->all);
        w->stride[k][axis] += shape->dims[i] == 1 ? 0 : stride[i];
    }
}

static void sum_up(const struct sum *s, const struct constant *y, double *sums)
{
    struct walk w = walk_through(&s->sizes);
    const size_t steps = (size_t)shape_count(&s->sizes);
    add_strides(&w, 2, s, &y->shape, s->equation.result);
    for (size_t k = 0; k < s->equation.operands; k++)
        add_strides(&w, k, s, &s->operand[k]->shape, s->equation.labels[k]);
    for (size_t i = 0; i < steps; i++, walk_next(&w)) {
        double product = constant_number(s->operand[0], (size_t)w.at[0]);
        if (s->equation.operands == 2)
            product *= constant_number(s->operand[1], (size_t)w.at[1]);
        sums[w.at[2]] += product;
    }
}

/* NULL, with the message: it could not be computed. */
static struct constant *compute(struct call *call, struct sum *s, double scale)
{
    if (!add_labels(call, s) || !shape_check(call->reader, "a sum", &s->sizes) ||
        !fold_work(call, (uint64_t)shape_count(&s->sizes)))
        return NULL;
    struct shape shape = s->sizes;
    shape.rank = (uint32_t)strlen(s->equation.result);
    struct constant *y = fold_like(call, &shape, s->operand[0]);
    double *sums = y ? calloc(y->count + 1, sizeof *sums) : NULL;
    if (!sums) {
        onnx_no_memory(call->reader);
        return NULL;
    }
    sum_up(s, y, sums);
    for (size_t i = 0; i < y->count; i++)
        constant_set(y, i, scale * sums[i]);
    free(sums);
    return y;
}

static bool read_operands(struct call *call, struct sum *s)
{
    *s = (struct sum){.equation.operands = call->node->n_input};
    if (s->equation.operands < 1 || s->equation.operands > 2)
        return op_unsupported(call, "it has %zu inputs; one or two are read", s->equation.operands);
    for (size_t k = 0; k < s->equation.operands; k++) {
        if (!op_constant(call, k, true, &s->operand[k]))
            return false;
        if (!s->operand[k]->count)
            return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu has no numbers", k);
    }
    return true;
}

/* ---- Operators ---- */

static bool read_equation(struct call *call, struct sum *s, const char *text)
{
    uint32_t ranks[2] = {0};
    for (size_t k = 0; k < s->equation.operands; k++)
        ranks[k] = s->operand[k]->shape.rank;
    return equation_read(call, text, ranks, &s->equation);
}

bool fold_einsum(struct call *call)
{
    char text[EQUATION_LENGTH];
    struct sum s;
    if (!equation_text(call, text) || !read_operands(call, &s) || !read_equation(call, &s, text))
        return false;
    struct constant *y = compute(call, &s, 1);
    return y && op_give_constant(call, 0, y);
}

bool fold_matmul(struct call *call)
{
    struct sum s;
    char equation[64];
    if (!read_operands(call, &s))
        return false;
    const bool is_row = s.operand[0]->shape.rank == 1;
    const bool is_column = s.equation.operands == 2 && s.operand[1]->shape.rank == 1;
    snprintf(equation, sizeof equation, "%s,%s->...%s%s", is_row ? "k" : "...mk",
             is_column ? "k" : "...kn", is_row ? "" : "m", is_column ? "" : "n");
    if (s.equation.operands != 2 || !read_equation(call, &s, equation))
        return op_fail(call, GLCNN_MALFORMED_DATA, "it does not have two matrices");
    struct constant *y = compute(call, &s, 1);
    return y && op_give_constant(call, 0, y);
}

static bool add_third(struct call *call, struct constant *y)
{
    const struct constant *c;
    const double beta = (double)attribute_float(call, "beta", 1);
    struct shape shape;
    if (!op_constant(call, 2, false, &c))
        return false;
    if (!c)
        return true;
    if (!shape_broadcast(&c->shape, &y->shape, &shape) || !shape_equal(&shape, &y->shape))
        return op_fail(call, GLCNN_MALFORMED_DATA, "C does not fit the product");
    struct walk w = walk_through(&y->shape);
    walk_broadcast(&w, 0, &c->shape);
    for (size_t i = 0; i < y->count; i++, walk_next(&w))
        constant_set(y, i, constant_number(y, i) + beta * constant_number(c, (size_t)w.at[0]));
    return true;
}

bool fold_gemm(struct call *call)
{
    struct sum s = {.equation = {.operands = 2, .result = "mn"}};
    for (size_t k = 0; k < 2; k++) {
        static const char *const labels[2][2] = {{"mk", "km"}, {"kn", "nk"}};
        const bool is_turned = attribute_int(call, k ? "transB" : "transA", 0) != 0;
        if (!op_constant(call, k, true, &s.operand[k]))
            return false;
        if (s.operand[k]->shape.rank != 2 || !s.operand[k]->count)
            return op_fail(call, GLCNN_MALFORMED_DATA, "input %zu is not a matrix", k);
        strcpy(s.equation.labels[k], labels[k][is_turned]);
    }
    struct constant *y = compute(call, &s, (double)attribute_float(call, "alpha", 1));
    return y && add_third(call, y) && op_give_constant(call, 0, y);
}
