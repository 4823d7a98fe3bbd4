/* Gradients by finite differences, the witness that shares no formula with the gradient kernels.
 *
 * For each case of a gradient kernel let L = sum(G * out), out the result of the *forward*
 * reference with everything that fills its inputs (the statistics of a batch), in double precision.
 * Each output of the gradient reference has to be dL/d(what it is the gradient of):
 *
 *   |(D L - <output, direction>)| <= 1e-6 * max(1, largest |output|)
 *
 * along single elements and along one direction that moves every element. The cases hold partial
 * clip rectangles, offsets and channel ranges, so this is also the invariant of state-driven
 * encodes: pixels and channels that the forward kernel never read get 0. test_kernels holds the
 * device to the references. */
#include "glcnn/kernels/convolution.h"
#include "glcnn/kernels/loss.h"
#include "glcnn/kernels/neuron.h"
#include "tests/cases.h"

#include <math.h>

#define STEP         2e-5
#define TOLERANCE    1e-6
#define ELEMENTS     24   /* looked at one by one, spread over the array */
#define LARGEST      6000 /* elements of the source in a case that is looked at */
#define FEWEST_CASES 6

/* What an output is the gradient of. */
static const char *const pairs[][2] = {{"destination_gradient", "source_image"},
                                       {"gradient_for_weights", "weights"},
                                       {"gradient_for_biases", "biases"},
                                       {"gradient_for_gamma", "gamma"},
                                       {"gradient_for_beta", "beta"},
                                       {"gradient_for_neuron_data", "neuron_data"},
                                       {"gradient_for_values", "values"}};

/* A forward kernel as a function L of one of its inputs. */
struct probe {
    const struct glcnn_descriptor *forward;
    struct run run;
    struct argument_map inputs;
    const char *result;          /* output that L sums */
    const struct named_array *g; /* by this; NULL: by 1 */
};

/* ---- Values ---- */

static double u_to_value(enum argument_values values, double u)
{
    return values == VALUES_UNIT       ? 0.05 + 0.9 * u
           : values == VALUES_POSITIVE ? 0.25 + 2 * u
                                       : 2 * u - 1;
}

/* A difference quotient across a kink is no derivative: no two values may be within a few steps of
 * each other, where the larger wins in max pooling, nor any of 0, where ReLU and its like bend. So
 * the values are a shuffled ramp, off 0 by a quarter of its spacing. */
static void separate(struct named_array *array, enum argument_values values)
{
    size_t count = array_count(array), multiplier = 7919;
    while (count % multiplier == 0)
        multiplier++;
    for (size_t i = 0; i < count; i++) {
        double rank = (double)((i * multiplier + count / 3) % count);
        array->data[i] = u_to_value(values, (rank + 0.25) / (double)count);
    }
}

static double direction(size_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    return (double)(z >> 40) / (1 << 23) - 1;
}

/* ---- Arrays ---- */

static struct named_array *copy_array(struct argument_map *to, const char *name,
                                      const struct named_array *from)
{
    struct named_array *made = argument_map_add(to, name, from->rank, from->shape);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    memcpy(made->data, from->data, array_count(from) * sizeof(double));
    return made;
}

static void copy_bag(struct argument_map *to, const struct argument_map *from)
{
    for (size_t i = 0; i < from->count; i++)
        copy_array(to, from->arrays[i].name, &from->arrays[i]);
}

static double largest(const struct named_array *array)
{
    double norm = 1;
    for (size_t i = 0; i < array_count(array); i++)
        norm = fmax(norm, fabs(array->data[i]));
    return norm;
}

/* ---- Differences ---- */

/* L with `name` moved by t along element `only`, or along the common direction if that is SIZE_MAX.
 */
static double evaluate(const struct probe *p, const char *name, size_t only, double t)
{
    struct argument_map map = {0};
    struct run run = p->run;
    copy_bag(&map, &p->inputs);
    run.map = &map;
    struct named_array *moved = argument_map_find(&map, name);
    for (size_t i = 0; only == SIZE_MAX && i < array_count(moved); i++)
        moved->data[i] += t * direction(i);
    if (only != SIZE_MAX)
        moved->data[only] += t;
    double sum = NAN;
    if (run_kernel(&run, p->forward) == GLCNN_SUCCESS) {
        const struct named_array *out = argument_map_find(&map, p->result);
        sum = 0;
        for (size_t i = 0; i < array_count(out); i++)
            sum += (p->g ? p->g->data[i] : 1) * out->data[i];
    }
    argument_map_free(&map);
    return sum;
}

/* Five-point rule: the error is of order STEP^4. */
static double differentiate(const struct probe *p, const char *name, size_t only)
{
    double near = evaluate(p, name, only, STEP) - evaluate(p, name, only, -STEP);
    double far = evaluate(p, name, only, 2 * STEP) - evaluate(p, name, only, -2 * STEP);
    return (8 * near - far) / (12 * STEP);
}

static bool agrees(const struct probe *p, const char *name, size_t only, double wanted,
                   const struct named_array *gradient)
{
    double found = differentiate(p, name, only);
    if (fabs(found - wanted) <= TOLERANCE * largest(gradient))
        return true;
    fprintf(stderr, "\n    d/d %s[%ld]: %.9g by differences, %.9g by the gradient", name,
            only == SIZE_MAX ? -1L : (long)only, found, wanted);
    return false;
}

static bool compare(const struct probe *p, const char *name, const struct named_array *gradient)
{
    size_t count = array_count(gradient), step = count / ELEMENTS + 1;
    double along = 0;
    bool good = array_count(argument_map_find((struct argument_map *)&p->inputs, name)) == count;
    for (size_t i = 0; good && i < count; i += step)
        good = agrees(p, name, i, gradient->data[i], gradient);
    for (size_t i = 0; i < count; i++)
        along += direction(i) * gradient->data[i];
    return good && agrees(p, name, SIZE_MAX, along, gradient);
}

/* ---- A case of a gradient kernel ---- */

static bool has_setting(const struct run *run, const char *name, double value)
{
    for (size_t i = 0; i < run->settings.count; i++)
        if (strcmp(run->settings.items[i].name, name) == 0 && run->settings.items[i].value == value)
            return true;
    return false;
}

/* Inputs of the forward kernel: those of the gradient kernel that have its names. Statistics that
 * a kernel filled are constants only where the flags say so; else they move with the source. */
static void take_forward_inputs(struct probe *p, struct argument_map *from, bool with_computed)
{
    const struct argument *argument = p->forward->arguments;
    for (; argument < p->forward->arguments + MAX_ARGUMENTS && argument->name; argument++) {
        const struct named_array *array = argument_map_find(from, argument->name);
        if (argument->input && array && (!array->computed || with_computed) &&
            !argument_map_find(&p->inputs, argument->name))
            copy_array(&p->inputs, argument->name, array);
    }
}

/* Vectors that were left out stand for their neutral value; to be moved they must be there. */
static void add_neutral(struct probe *p, const char *name, const struct named_array *like)
{
    const struct argument *argument = &p->forward->arguments[descriptor_argument(p->forward, name)];
    struct named_array *made =
        argument_map_add(&p->inputs, argument->name, like->rank, like->shape);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    for (size_t i = 0; i < array_count(made); i++)
        made->data[i] = argument->neutral;
}

/* Convolution's gradient_option leaves outputs out: they stay as they were, 0 in a new state. A
 * layer without biases has no gradient for them. */
static bool is_left_out(const struct run *run, const char *output)
{
    if (strcmp(output, "gradient_for_biases") == 0 && has_setting(run, "without_biases", 1))
        return true;
    int vectors = strncmp(output, "gradient_for_", 13) == 0;
    return has_setting(run, "gradient_option",
                       vectors ? GLCNN_GRADIENT_OPTION_DATA
                               : GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES);
}

static bool is_zero(const struct named_array *array)
{
    for (size_t i = 0; i < array_count(array); i++)
        if (array->data[i] != 0)
            return false;
    return true;
}

/* A gradient that goes straight through a rounding is no derivative. */
static bool is_straight(const struct run *run)
{
    return has_setting(run, "neuron_type", GLCNN_NEURON_TYPE_FAKE_QUANTIZATION);
}

/* The forward input that `output` is the gradient of; NULL if that is not known. */
static const char *input_of(const struct probe *p, const char *output)
{
    bool source = strcmp(output, "destination_gradient") == 0;
    if (source && has_setting(&p->run, "is_secondary_source_filter", 1))
        return "secondary_image";
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], output) == 0)
            return pairs[i][1];
    return NULL;
}

static bool compare_output(struct probe *p, const char *output, struct argument_map *map)
{
    const char *input = input_of(p, output);
    if (input) {
        const struct named_array *gradient = argument_map_find(map, output);
        if (is_straight(&p->run))
            return true;
        if (is_left_out(&p->run, output))
            return !gradient || is_zero(gradient);
        if (!gradient)
            return false;
        if (!argument_map_find(&p->inputs, input))
            add_neutral(p, input, gradient);
        return compare(p, input, gradient);
    }
    fprintf(stderr, "\n    it is not known what %s is the gradient of", output);
    return false;
}

/* Into the first channels of each image: where the forward kernel read only some channels its
 * result has fewer than its source, and the array, made for the source, keeps the others. */
static void copy_result(struct named_array *to, const struct named_array *result)
{
    size_t images = result->shape[0];
    size_t have = array_count(to) / images, copied = array_count(result) / images;
    CU_ASSERT_FATAL(to->shape[0] == images && copied <= have);
    for (size_t n = 0; n < images; n++)
        memcpy(to->data + n * have, result->data + n * copied, copied * sizeof(double));
}

/* The source of the forward kernel, which for soft-max is not the gradient kernel's. */
static bool set_source(struct probe *p, struct case_run *c, const struct glcnn_descriptor *d)
{
    struct named_array *source = argument_map_find(&c->map, "source_image");
    int index = descriptor_argument(p->forward, "source_image");
    struct named_array *made = copy_array(&p->inputs, "source_image", source);
    separate(made, p->forward->arguments[index].values);
    memcpy(source->data, made->data, array_count(made) * sizeof(double));
    if (!(d->flags & NEEDS_RESULT))
        return true;
    struct argument_map map = {0};
    struct run run = p->run;
    run.map = &map;
    copy_bag(&map, &p->inputs);
    glcnn_status status = run_kernel(&run, p->forward);
    if (status == GLCNN_SUCCESS)
        copy_result(source, argument_map_find(&map, p->result));
    argument_map_free(&map);
    return status == GLCNN_SUCCESS;
}

/* By hand the addressing is another operation, not the gradient of the forward encode. */
static bool follows_state(struct case_run *c, const struct glcnn_descriptor *d)
{
    struct resolved *r = calloc(1, sizeof *r);
    bool follows = r && resolve(&c->run, d, r) && r->operation.state_driven;
    free(r);
    return follows;
}

static bool run_gradient(struct case_run *c, struct probe *p, const struct glcnn_descriptor *d)
{
    *p = (struct probe){.forward = descriptor_find(d->forward),
                        .run = c->run,
                        .result = "destination_image",
                        .g = argument_map_find(&c->map, "source_gradient")};
    p->run.settings.partial = true;
    if (!set_source(p, c, d) || run_kernel(&c->run, d) != GLCNN_SUCCESS)
        return false;
    take_forward_inputs(p, &c->map, has_setting(&c->run, "flags", 2));
    p->g = argument_map_find(&c->map, "source_gradient");
    return true;
}

static void check_output(struct probe *p, const struct glcnn_descriptor *d, size_t index,
                         const char *output, struct argument_map *map)
{
    bool good = compare_output(p, output, map);
    CU_ASSERT(good);
    if (!good)
        case_report(d, index, "%s is not the derivative", output);
}

static void compare_outputs(struct probe *p, struct case_run *c, const struct glcnn_descriptor *d,
                            size_t index)
{
    for (int i = 0; i < MAX_ARGUMENTS && d->arguments[i].name; i++) {
        if (d->arguments[i].output)
            check_output(p, d, index, d->arguments[i].name, &c->map);
    }
}

/* True if the case was one to look at. */
static bool check_case(const struct glcnn_descriptor *d, size_t index)
{
    struct case_run c;
    struct probe p = {0};
    bool looked_at = case_prepare(&c, d, index, GLCNN_CHANNEL_FORMAT_FLOAT32) &&
                     follows_state(&c, d) &&
                     array_count(argument_map_find(&c.map, "source_image")) <= LARGEST;
    bool ran = looked_at && run_gradient(&c, &p, d);
    CU_ASSERT(ran == looked_at);
    if (ran)
        compare_outputs(&p, &c, d, index);
    else if (looked_at)
        case_report(d, index, "%s", c.error);
    argument_map_free(&p.inputs);
    case_release(&c);
    return looked_at;
}

static bool is_gradient(const struct glcnn_descriptor *d)
{
    return d->forward != NULL;
}

static void gradient_is_the_derivative(void)
{
    const struct glcnn_descriptor *d = cases_kernel();
    size_t checked = 0;
    for (size_t i = 0; reference_of(d)->cases[i].settings; i++)
        if (!reference_of(d)->cases[i].large)
            checked += check_case(d, i);
    CU_ASSERT(checked >= FEWEST_CASES);
}

/* ---- The loss, whose gradient comes with it ---- */

/* Its gradient lies where the loss does, not where the source was read: only cases that read pixel
 * X at X can be compared. */
static bool reads_in_place(struct case_run *c, const struct glcnn_descriptor *d)
{
    struct resolved *r = calloc(1, sizeof *r);
    bool good = r && resolve(&c->run, d, r) && r->operation.window.x.first == 0 &&
                r->operation.window.y.first == 0 &&
                r->operation.starts[descriptor_place(d, PLACE_DESTINATION)].image == 0;
    free(r);
    return good;
}

/* Element losses, as a sum: that is what the gradient belongs to whatever the reduction. */
static void ask_for_sum(struct case_run *c)
{
    for (size_t i = 0; i < c->run.settings.count; i++)
        if (strcmp(c->settings[i].name, "reduction_type") == 0)
            c->settings[i].value = GLCNN_REDUCTION_TYPE_SUM;
}

static bool check_loss_case(const struct glcnn_descriptor *d, size_t index)
{
    struct case_run c;
    struct probe p = {.forward = d, .result = "loss"};
    bool looked_at = case_prepare(&c, d, index, GLCNN_CHANNEL_FORMAT_FLOAT32);
    ask_for_sum(&c);
    looked_at = looked_at && reads_in_place(&c, d);
    if (looked_at) {
        separate(argument_map_find(&c.map, "source_image"),
                 d->arguments[descriptor_argument(d, "source_image")].values);
        copy_bag(&p.inputs, &c.map);
        p.run = c.run;
        CU_ASSERT_EQUAL(run_kernel(&c.run, d), GLCNN_SUCCESS);
        check_output(&p, d, index, "destination_gradient", &c.map);
    }
    argument_map_free(&p.inputs);
    case_release(&c);
    return looked_at;
}

static void loss_gradient_is_the_derivative(void)
{
    const struct glcnn_descriptor *d = descriptor_find("loss");
    size_t checked = 0;
    for (size_t i = 0; reference_of(d)->cases[i].settings; i++)
        if (!reference_of(d)->cases[i].large)
            checked += check_loss_case(d, i);
    CU_ASSERT(checked >= GLCNN_LOSS_TYPE_KULLBACK_LEIBLER_DIVERGENCE);
}

int main(int argc, char *argv[])
{
    static const CU_TestInfo more[] = {UNIT_TEST(loss_gradient_is_the_derivative),
                                       CU_TEST_INFO_NULL};
    CU_TestInfo *tests = cases_table(gradient_is_the_derivative, is_gradient, more);
    int status = tests ? unit_run("gradients", tests, argc, argv) : EXIT_FAILURE;
    free(tests);
    return status;
}
