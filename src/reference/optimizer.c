/* Steps of the optimizers: spec 9. */
#include "kernels/optimizer.h"

#include <math.h>

#include "kernels/numbers.h"
#include "reference/reference.h"

static double decayed(const struct reference *r, size_t i)
{
    const struct glcnn_optimizer_parameters *p = r->operation->parameters;
    return (1 - (double)p->learning_rate * (double)p->weight_decay) * r->vectors[VALUES][i];
}

static double prepared(const struct reference *r, size_t i)
{
    const struct glcnn_optimizer_parameters *p = r->operation->parameters;
    double g = r->vectors[GRADIENT][i], w = decayed(r, i);
    if (p->apply_gradient_clipping)
        g = held(g, (double)p->gradient_clip_min, (double)p->gradient_clip_max);
    g *= (double)p->gradient_rescale;
    if (p->regularization_type == GLCNN_REGULARIZATION_TYPE_L1)
        g += (double)p->regularization_scale * sign_of(w);
    if (p->regularization_type == GLCNN_REGULARIZATION_TYPE_L2)
        g += (double)p->regularization_scale * w;
    return g;
}

/* What is taken from value i; state vectors move on. */
typedef double (*step_function)(const struct reference *r, size_t i, double g);

static void update_all(const struct reference *r, step_function step_of)
{
    double *result = r->vectors[optimizer_result_index(r->operation)];
    for (size_t i = 0; i < r->operation->vectors[VALUES].count; i++)
        result[i] = decayed(r, i) - step_of(r, i, prepared(r, i));
}

static double descent_step(const struct reference *r, size_t i, double g)
{
    const struct glcnn_optimizer_parameters *p = r->operation->parameters;
    double learning_rate = (double)p->learning_rate, mu = (double)p->momentum_scale;
    if (!r->vectors[FIRST])
        return learning_rate * g;
    double *m = &r->vectors[FIRST][i];
    *m = mu * *m + g * (p->use_nesterov_momentum ? 1 : learning_rate);
    return p->use_nesterov_momentum ? learning_rate * (g + mu * *m) : *m;
}

static double rms_prop_step(const struct reference *r, size_t i, double g)
{
    const struct glcnn_optimizer_parameters *p = r->operation->parameters;
    double *s = &r->vectors[FIRST][i];
    *s = p->decay * *s + (1 - p->decay) * g * g;
    return (double)p->learning_rate * g / (sqrt(*s) + (double)p->epsilon);
}

static double adam_step(const struct reference *r, size_t i, double g)
{
    const struct glcnn_optimizer_parameters *p = r->operation->parameters;
    double *m = &r->vectors[FIRST][i], *v = &r->vectors[FIRST + 1][i];
    *m = p->beta1 * *m + (1 - p->beta1) * g;
    *v = p->beta2 * *v + (1 - p->beta2) * g * g;
    return optimizer_adam_rate(p, p->time_step + 1.0) * *m / (sqrt(*v) + (double)p->epsilon);
}

static void descent_reference(const struct reference *r)
{
    update_all(r, descent_step);
}

static void rms_prop_reference(const struct reference *r)
{
    update_all(r, rms_prop_step);
}

static void adam_reference(const struct reference *r)
{
    update_all(r, adam_step);
}

#define SHARED_CASES                                                                               \
    {"", {1, 1, 1, 1}}, {"learning_rate=0.1", {1, 1, 1, 2}}, {"learning_rate=0.5", {1, 1, 1, 3}},  \
        {"gradient_rescale=0.25 learning_rate=1", {1, 1, 1, 63}},                                  \
        {"apply_gradient_clipping=1 gradient_clip_min=-0.25 gradient_clip_max=0.5 "                \
         "gradient_rescale=3 learning_rate=0.1",                                                   \
         {1, 1, 1, 64}},                                                                           \
        {"regularization_type=l1 regularization_scale=0.3 learning_rate=0.2", {1, 1, 1, 65}},      \
        {"regularization_type=l2 regularization_scale=0.3 learning_rate=0.2", {2, 3, 5, 7}},       \
        {"weight_decay=0.5 learning_rate=0.2", {1, 1, 1, 7}},                                      \
        {"weight_decay=2 regularization_type=l2 regularization_scale=0.3 learning_rate=0.1",       \
         {1, 1, 3, 11}},                                                                           \
        {"regularization_type=none regularization_scale=0.3 learning_rate=0.2", {1, 1, 9, 9}},     \
        {"apply_gradient_clipping=1 regularization_type=l2 regularization_scale=0.1 "              \
         "gradient_rescale=-2",                                                                    \
         {1, 4, 4, 4}},                                                                            \
    {                                                                                              \
        "learning_rate=0.01", {64, 32, 7, 7}, {0}, true                                            \
    }

static const struct check_case descent_cases[] = {
    SHARED_CASES,
    {"momentum_scale=0.9 learning_rate=0.1", {1, 1, 1, 100}},
    {"momentum_scale=0.5 use_nesterov_momentum=1 learning_rate=0.1", {1, 1, 1, 129}},
    {"momentum_scale=0.9 use_nesterov_momentum=1 regularization_type=l1 regularization_scale=0.01",
     {1, 1, 3, 11}},
    {0}};
static const struct check_case rms_prop_cases[] = {
    SHARED_CASES,
    {"decay=0.5 learning_rate=0.1", {1, 1, 1, 100}},
    {"decay=0.99 epsilon=0.1 learning_rate=0.1", {1, 1, 1, 129}},
    {0}};
static const struct check_case adam_cases[] = {
    SHARED_CASES,
    {"beta1=0.5 beta2=0.9 learning_rate=0.1", {1, 1, 1, 100}},
    {"time_step=7 learning_rate=0.1", {1, 1, 1, 31}},
    {"time_step=1000000 epsilon=0.01 learning_rate=0.1", {1, 1, 1, 129}},
    {0}};

const struct glcnn_reference glcnn_reference_optimizer_adam = {adam_reference, adam_cases};
const struct glcnn_reference glcnn_reference_optimizer_rms_prop = {rms_prop_reference,
                                                                   rms_prop_cases};
const struct glcnn_reference glcnn_reference_optimizer_stochastic_gradient_descent = {
    descent_reference, descent_cases};
