/* Arithmetic of two images, products of matrices, soft-max and reductions. */
#include <float.h>
#include <string.h>

#include <glcnn/kernels/arithmetic.h>
#include <glcnn/kernels/reduce.h>

#include "onnx/write_filter.h"

/* ---- Two images ---- */

static const char *scaled(const struct filter_call *c, const char *x, float scale)
{
    return scale == 1 ? x : write_binary(c, "Mul", x, write_number(c, scale));
}

static const char *bounded(const struct filter_call *c, const char *x)
{
    const struct glcnn_arithmetic_parameters *p = glcnn_arithmetic(c->kernel);
    if (p->bias != 0)
        x = write_binary(c, "Add", x, write_number(c, p->bias));
    if (p->minimum_value <= -FLT_MAX && p->maximum_value >= FLT_MAX)
        return x;
    return write_node(c, "Clip",
                      (const char *[]){x, write_number(c, p->minimum_value),
                                       write_number(c, p->maximum_value), NULL});
}

/* A source that is read at one place along an axis has one number there, which ONNX repeats. */
static const char *write_two(struct filter_call *c)
{
    const struct glcnn_arithmetic_parameters *p = glcnn_arithmetic(c->kernel);
    const char *x = scaled(c, c->sources[0].name, p->primary_scale);
    const char *y = scaled(c, c->sources[1].name, p->secondary_scale);
    return bounded(c, write_binary(c, c->row->operator, x, y));
}

static const char *write_matrices(struct filter_call *c)
{
    return write_binary(c, "MatMul", c->sources[0].name, c->sources[1].name);
}

/* ---- Over channels ---- */

static const char *write_soft_max(struct filter_call *c)
{
    const char *y = write_unary(c, c->row->operator, c->sources[0].name);
    write_int(c, "axis", 1);
    return y;
}

/* ---- Reductions ---- */

/* The pixels that count; the rest is cut off. */
static const char *rectangle(const struct filter_call *c, size_t source,
                             const struct glcnn_source_rectangle *r)
{
    const struct written *s = &c->sources[source];
    const int64_t origin[] = {r->origin_y, r->origin_x}, size[] = {r->size_height, r->size_width};
    struct margins m = {.mode = NULL};
    for (size_t i = 0; i < 2; i++) {
        int64_t rest = s->dims[H + i] - origin[i] - size[i];
        m.before[H + i] = -origin[i];
        m.after[H + i] = rest > 0 ? -rest : 0;
    }
    return write_margins(c, s->name, &m);
}

/* Rows are summed along the columns. */
static int64_t reduced_axis(const struct filter_call *c)
{
    const char *kernel = glcnn_kernel_name(c->kernel);
    return strncmp(kernel, "reduce_row", 10) == 0      ? W
           : strncmp(kernel, "reduce_column", 13) == 0 ? H
                                                       : C;
}

/* Of opset 14 the axes of a sum are an input, those of others an attribute. */
static const char *reduce(const struct filter_call *c, const char *operator, const char * x)
{
    const int64_t axis = reduced_axis(c);
    bool is_sum = strcmp(operator, "ReduceSum") == 0;
    const char *y = write_node(
        c, operator,(const char *[]){x, is_sum ? write_wholes(c, &axis, 1) : NULL, NULL});
    if (!is_sum)
        write_ints(c, "axes", &axis, 1);
    return y;
}

static const char *write_reduction(struct filter_call *c)
{
    const struct glcnn_reduce_parameters *p = glcnn_reduce(c->kernel);
    const char *y = reduce(c, c->row->operator, rectangle(c, 0, &p->clip_rect_source));
    bool has_weight = strcmp(glcnn_kernel_name(c->kernel), "reduce_feature_channels_sum") == 0;
    return has_weight ? scaled(c, y, p->weight) : y;
}

static const char *write_argument(struct filter_call *c)
{
    const char *x = rectangle(c, 0, &glcnn_reduce(c->kernel)->clip_rect_source);
    const char *index = write_unary(c, c->row->operator, x);
    write_int(c, "axis", C);
    const char *y = write_unary(c, "Cast", index);
    write_int(c, "to", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    return y;
}

/* How many weights are not 0, and 1 where none is. */
static const char *count_weights(const struct filter_call *c, const char *weights)
{
    const char *ones = write_unary(c, "Abs", write_unary(c, "Sign", weights));
    return write_binary(c, "Max", reduce(c, "ReduceSum", ones), write_number(c, 1));
}

static const char *write_weighted(struct filter_call *c)
{
    const struct glcnn_reduce_parameters *p = glcnn_reduce(c->kernel);
    const char *x = rectangle(c, 0, &p->clip_rect_source);
    const char *weights = rectangle(c, 1, &p->secondary_source_clip_rect);
    const char *y = reduce(c, c->row->operator, write_binary(c, "Mul", x, weights));
    bool is_sum = strcmp(c->row->operator, "ReduceSum") == 0;
    return is_sum && p->do_weighted_sum_by_non_zero_weights
               ? write_binary(c, "Div", y, count_weights(c, weights))
               : y;
}

const struct kernel_row write_arithmetic[] = {
    {"add", write_two, BY_OFFSET, "Add", NULL},
    {"divide", write_two, BY_OFFSET, "Div", NULL},
    {"log_soft_max", write_soft_max, BY_OFFSET, "LogSoftmax", NULL},
    {"matrix_multiplication", write_matrices, WHOLE, NULL, NULL},
    {"maximum", write_two, BY_OFFSET, "Max", NULL},
    {"minimum", write_two, BY_OFFSET, "Min", NULL},
    {"multiply", write_two, BY_OFFSET, "Mul", NULL},
    {"power", write_two, BY_OFFSET, "Pow", NULL},
    {"soft_max", write_soft_max, BY_OFFSET, "Softmax", NULL},
    {"subtract", write_two, BY_OFFSET, "Sub", NULL},
    {NULL, NULL, WHOLE, NULL, NULL}};

const struct kernel_row write_reductions[] = {
    {"reduce_column_max", write_reduction, WHOLE, "ReduceMax", NULL},
    {"reduce_column_mean", write_reduction, WHOLE, "ReduceMean", NULL},
    {"reduce_column_min", write_reduction, WHOLE, "ReduceMin", NULL},
    {"reduce_column_sum", write_reduction, WHOLE, "ReduceSum", NULL},
    {"reduce_feature_channels_and_weights_mean", write_weighted, WHOLE, "ReduceMean", NULL},
    {"reduce_feature_channels_and_weights_sum", write_weighted, WHOLE, "ReduceSum", NULL},
    {"reduce_feature_channels_argument_max", write_argument, WHOLE, "ArgMax", NULL},
    {"reduce_feature_channels_argument_min", write_argument, WHOLE, "ArgMin", NULL},
    {"reduce_feature_channels_max", write_reduction, WHOLE, "ReduceMax", NULL},
    {"reduce_feature_channels_mean", write_reduction, WHOLE, "ReduceMean", NULL},
    {"reduce_feature_channels_min", write_reduction, WHOLE, "ReduceMin", NULL},
    {"reduce_feature_channels_sum", write_reduction, WHOLE, "ReduceSum", NULL},
    {"reduce_row_max", write_reduction, WHOLE, "ReduceMax", NULL},
    {"reduce_row_mean", write_reduction, WHOLE, "ReduceMean", NULL},
    {"reduce_row_min", write_reduction, WHOLE, "ReduceMin", NULL},
    {"reduce_row_sum", write_reduction, WHOLE, "ReduceSum", NULL},
    {NULL, NULL, WHOLE, NULL, NULL}};
