/* Neurons as operators, one for most types: each is a list of steps. */
#include <math.h>
#include <string.h>

#include <glcnn/kernels/neuron.h>

#include "onnx/write_filter.h"

/* What a step is given beside its value: a number of the neuron or of its formula, or the source. */
enum operand {
    NOTHING,
    NUMBER_A,
    NUMBER_B,
    NUMBER_C,
    ONE,
    HALF,
    ROOT_OF_HALF,
    CUBIC,
    ROOT_OF_2_PI, /* sqrt(2 / pi) */
    LOG_A,        /* a ln c */
    LOG_B,        /* b ln c */
    PER_LOG,      /* 1 / ln c */
    PER_A,        /* 1 / a */
    SOURCE
};

enum { STEPS = 10 };

struct step {
    const char *operator;
    enum operand operands[2];
    const char *a, *b; /* attributes that have the neuron's numbers */
};

/* The first row of a type that fits is its. */
static const struct neuron_row {
    glcnn_neuron_type type;
    struct step steps[STEPS];
    bool is_exact; /* of these numbers alone */
    float a, b;
} neuron_rows[] = {
    {GLCNN_NEURON_TYPE_NONE, {{NULL}}},
    {GLCNN_NEURON_TYPE_RELU, {{"Relu"}}, .is_exact = true, .a = 0, .b = 0},
    {GLCNN_NEURON_TYPE_RELU, {{"LeakyRelu", .a = "alpha"}}},
    {GLCNN_NEURON_TYPE_LINEAR, {{"Mul", {NUMBER_A}}, {"Add", {NUMBER_B}}}},
    {GLCNN_NEURON_TYPE_SIGMOID, {{"Sigmoid"}}},
    {GLCNN_NEURON_TYPE_HARD_SIGMOID, {{"HardSigmoid", .a = "alpha", .b = "beta"}}},
    {GLCNN_NEURON_TYPE_TANH, {{"Mul", {NUMBER_B}}, {"Tanh"}, {"Mul", {NUMBER_A}}}},
    {GLCNN_NEURON_TYPE_ABSOLUTE, {{"Abs"}}},
    {GLCNN_NEURON_TYPE_SOFT_PLUS, {{"Mul", {NUMBER_B}}, {"Softplus"}, {"Mul", {NUMBER_A}}}},
    {GLCNN_NEURON_TYPE_SOFT_SIGN, {{"Softsign"}}},
    {GLCNN_NEURON_TYPE_ELU, {{"Elu", .a = "alpha"}}},
    {GLCNN_NEURON_TYPE_RELUN, {{"LeakyRelu", .a = "alpha"}, {"Min", {NUMBER_B}}}},
    {GLCNN_NEURON_TYPE_POWER, {{"Mul", {NUMBER_A}}, {"Add", {NUMBER_B}}, {"Pow", {NUMBER_C}}}},
    {GLCNN_NEURON_TYPE_EXPONENTIAL, {{"Mul", {LOG_A}}, {"Add", {LOG_B}}, {"Exp"}}},
    {GLCNN_NEURON_TYPE_LOGARITHM,
     {{"Mul", {NUMBER_A}}, {"Add", {NUMBER_B}}, {"Log"}, {"Mul", {PER_LOG}}}},
    {GLCNN_NEURON_TYPE_GELU,
     {{"Mul", {ROOT_OF_HALF}}, {"Erf"}, {"Add", {ONE}}, {"Mul", {HALF}}, {"Mul", {SOURCE}}}},
    {GLCNN_NEURON_TYPE_SWISH, {{"Mul", {NUMBER_A}}, {"Sigmoid"}, {"Mul", {SOURCE}}}},
    {GLCNN_NEURON_TYPE_CLIP, {{"Clip", {NUMBER_A, NUMBER_B}}}},
    {GLCNN_NEURON_TYPE_HARD_SWISH, {{"HardSwish"}}, .is_exact = true, .a = 1.0f / 6, .b = 0.5f},
    {GLCNN_NEURON_TYPE_HARD_SWISH, {{"HardSigmoid", .a = "alpha", .b = "beta"}, {"Mul", {SOURCE}}}},
    {GLCNN_NEURON_TYPE_GELU_TANH,
     {{"Mul", {SOURCE}},
      {"Mul", {CUBIC}},
      {"Add", {ONE}},
      {"Mul", {SOURCE}},
      {"Mul", {ROOT_OF_2_PI}},
      {"Tanh"},
      {"Add", {ONE}},
      {"Mul", {HALF}},
      {"Mul", {SOURCE}}}},
    {GLCNN_NEURON_TYPE_MISH, {{"Softplus"}, {"Tanh"}, {"Mul", {SOURCE}}}},
    {GLCNN_NEURON_TYPE_SELU, {{"Selu", .a = "alpha", .b = "gamma"}}},
    {GLCNN_NEURON_TYPE_CELU, {{"Celu", .a = "alpha"}}},
    {GLCNN_NEURON_TYPE_THRESHOLDED_RELU, {{"ThresholdedRelu", .a = "alpha"}}},
    {GLCNN_NEURON_TYPE_ERF, {{"Erf"}}},
    {GLCNN_NEURON_TYPE_FLOOR, {{"Floor"}}},
    {GLCNN_NEURON_TYPE_CEILING, {{"Ceil"}}},
    {GLCNN_NEURON_TYPE_ROUND, {{"Round"}}},
    {GLCNN_NEURON_TYPE_SIGN, {{"Sign"}}},
    {GLCNN_NEURON_TYPE_FAKE_QUANTIZATION,
     {{"Mul", {PER_A}}, {"Round"}, {"Clip", {NUMBER_B, NUMBER_C}}, {"Mul", {NUMBER_A}}}},
};
enum { NEURON_ROWS = sizeof neuron_rows / sizeof *neuron_rows };

/* ---- Steps ---- */

/* Of the neuron's base; -1 stands for e. */
static double base_log(const struct glcnn_neuron_descriptor *n)
{
    return n->c == -1 ? 1 : log((double)n->c);
}

static float number_of(const struct glcnn_neuron_descriptor *n, enum operand operand)
{
    const double values[] = {[NUMBER_A] = (double)n->a,
                             [NUMBER_B] = (double)n->b,
                             [NUMBER_C] = (double)n->c,
                             [ONE] = 1,
                             [HALF] = 0.5,
                             [ROOT_OF_HALF] = sqrt(0.5),
                             [CUBIC] = 0.044715,
                             [ROOT_OF_2_PI] = 0.79788456080286535588,
                             [LOG_A] = (double)n->a * base_log(n),
                             [LOG_B] = (double)n->b * base_log(n),
                             [PER_LOG] = 1 / base_log(n),
                             [PER_A] = 1 / (double)n->a};
    return (float)values[operand];
}

/* Does it leave its value as it is? */
static bool is_idle(const struct glcnn_neuron_descriptor *n, const struct step *step)
{
    const enum operand operand = step->operands[0];
    if (operand == NOTHING || operand == SOURCE)
        return false;
    bool adds = strcmp(step->operator, "Add") == 0;
    bool scales = strcmp(step->operator, "Mul") == 0 || strcmp(step->operator, "Pow") == 0;
    return (adds && number_of(n, operand) == 0) || (scales && number_of(n, operand) == 1);
}

static const char *take_step(const struct filter_call *c, const struct glcnn_neuron_descriptor *n,
                             const struct step *step, const char *source, const char *x)
{
    const char *inputs[] = {x, NULL, NULL, NULL};
    if (is_idle(n, step))
        return x;
    for (size_t i = 0; i < 2 && step->operands[i]; i++)
        inputs[1 + i] =
            step->operands[i] == SOURCE ? source : write_number(c, number_of(n, step->operands[i]));
    const char *y = write_node(c, step->operator, inputs);
    if (step->a)
        write_float(c, step->a, n->a);
    if (step->b)
        write_float(c, step->b, n->b);
    return y;
}

static bool fits(const struct neuron_row *row, const struct glcnn_neuron_descriptor *n)
{
    return row->type == n->type && (!row->is_exact || (row->a == n->a && row->b == n->b));
}

/* What holds within 0 and a bound, as ReLU6, is a clip. */
static struct glcnn_neuron_descriptor usual(struct glcnn_neuron_descriptor n)
{
    if (n.type == GLCNN_NEURON_TYPE_RELUN && n.a == 0 && n.b >= 0)
        n.type = GLCNN_NEURON_TYPE_CLIP;
    return n;
}

static const char *write_steps(const struct filter_call *c,
                               const struct glcnn_neuron_descriptor *neuron, const char *source)
{
    const struct neuron_row *row = neuron_rows;
    const struct glcnn_neuron_descriptor n = usual(*neuron);
    bool has_base =
        n.type == GLCNN_NEURON_TYPE_EXPONENTIAL || n.type == GLCNN_NEURON_TYPE_LOGARITHM;
    while (row < neuron_rows + NEURON_ROWS && !fits(row, &n))
        row++;
    if (row == neuron_rows + NEURON_ROWS)
        return write_refuse(c, "its neuron is not one of those that are written");
    if (has_base && n.c != -1 && !(n.c > 0))
        return write_refuse(c, "the base of its neuron, c, must be above 0, or -1 for e");
    const char *x = source;
    for (const struct step *step = row->steps; step < row->steps + STEPS && step->operator; step++)
        x = take_step(c, &n, step, source, x);
    return x;
}

/* ---- Slopes ---- */

/* The operator of a type with slopes; NULL: it has none. */
static const char *slope_operator(glcnn_neuron_type type)
{
    return type == GLCNN_NEURON_TYPE_PRELU   ? "PRelu"
           : type == GLCNN_NEURON_TYPE_SCALE ? "Mul"
           : type == GLCNN_NEURON_TYPE_SHIFT ? "Add"
                                             : NULL;
}

const char *write_fused(const struct filter_call *c, const struct glcnn_neuron_descriptor *n,
                        const char *x, int64_t channels)
{
    const char *operator= slope_operator(n->type);
    if (!operator)
        return write_steps(c, n, x);
    return write_binary(c, operator, x, write_channels(c, "neuron_data", "slope", channels, true));
}

static const char *write(struct filter_call *c)
{
    const struct glcnn_neuron_parameters *p = glcnn_neuron(c->kernel);
    return write_fused(c, &p->neuron, c->sources[0].name, p->shares_data ? 1 : c->dims[C]);
}

const struct kernel_row write_neuron[] = {{"neuron", write, BY_OFFSET, NULL, NULL},
                                          {NULL, NULL, WHOLE, NULL, NULL}};
