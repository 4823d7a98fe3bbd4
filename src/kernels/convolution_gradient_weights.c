/* Gradient of the weights and biases of convolutions, and what of the gradients is made.
 *
 * dW(k, q, p, c) = sum over images and X of G(X, k) * in(first + stride * X + dilation * (p, q), c)
 * is split over the pixels (split-K): each invocation leaves the partial sums of a chunk of them, and
 * other passes add up the chunks. */
#include "kernels/convolution_plan.h"

#define CHUNK_BYTES (16u << 20) /* of partial sums, unless one chunk takes more */

/* How the partial sums are divided among invocations. */
struct division {
    uint32_t taps_x, taps_y, columns, slices, inputs; /* of an invocation; inputs: slices of them */
    uint32_t rows, rows_per_chunk, chunks;
    uint32_t invocations; /* of a chunk */
    bool shared;          /* taps share their reads */
};

/* Pixels of the gradient that are taken together: each group of them costs about two thirds of a
 * column more, for the taps' reads beside it, and its columns beyond the width are for nothing. */
static uint32_t columns_for(uint32_t width, uint32_t most)
{
    uint32_t best = 1, least_cost = UINT32_MAX;
    for (uint32_t columns = 1; columns <= most; columns++) {
        uint32_t cost = groups_of(width, columns) * (3 * columns + 2);
        if (cost <= least_cost) {
            least_cost = cost;
            best = columns;
        }
    }
    return best;
}

/* Rows of a chunk, `fewest` or up to twice as many: invocations run in eights, of which the fewest
 * should idle. */
static uint32_t chunk_rows(uint32_t rows, uint32_t fewest)
{
    uint32_t best = fewest;
    uint64_t least_covered = UINT64_MAX;
    for (uint32_t r = fewest; r <= 2 * fewest; r++) {
        uint64_t covered = (uint64_t)groups_of(groups_of(rows, r), 8) * 8 * r;
        if (covered < least_covered) {
            least_covered = covered;
            best = r;
        }
    }
    return best;
}

/* The fewest rows of a chunk: that leave it enough work, enough chunks, and room for partial sums. */
static uint32_t fewest_rows(const struct packing *p, const struct division *d, uint32_t width,
                            const struct chunk_size *size, uint32_t vec4s)
{
    uint32_t products = width * d->taps_x * d->taps_y * d->slices * d->inputs * p->components;
    uint32_t room = vec4s / (p->slices * (p->elements + 1));
    uint32_t wanted = groups_of(size->invocations, d->invocations);
    uint32_t by_work = groups_of(size->products, products);
    uint32_t by_count = groups_of(d->rows, least(wanted, room ? room : 1));
    return by_work > by_count ? by_work : by_count;
}

/* Taps of an invocation: a wide one takes all of up to 9 of a window of one channel, or 7 of a row. */
static void divide_taps(struct division *d, const struct weights_form *form, const struct axis *x,
                        const struct axis *y, bool one)
{
    uint32_t width = (uint32_t)x->size, height = (uint32_t)y->size;
    bool wide = form->pixels > 1, small = one && width * height <= 9;
    uint32_t most = !one ? form->taps : wide ? 7 : 4 * form->taps; /* as many sums */
    d->taps_x = wide && small ? width : least(width, most);
    d->taps_y = wide && small ? height : 1;
    d->slices = form->slices;
    d->columns = columns_for((uint32_t)(x->end - x->begin), wide && one ? 4 : form->pixels);
}

static bool shares_row(const struct axis *x)
{
    return x->dilation == 1 && x->stride < x->size;
}

static struct division divide(const struct weights_problem *problem,
                              const struct weights_form *form)
{
    const struct operation *o = problem->operation;
    const struct packing *p = &problem->packing;
    const struct axis *x = &o->window.x, *y = &o->window.y;
    struct division d = {.shared = form->slices > 1 ? shares_row(x) : is_dense(x) && is_dense(y)};
    divide_taps(&d, form, x, y, p->components == 1);
    d.inputs = form->pairs ? 2 : 1;
    d.invocations = p->slices / d.slices * groups_of(p->range, d.inputs) *
                    groups_of((uint32_t)x->size, d.taps_x) * groups_of((uint32_t)y->size, d.taps_y);
    d.rows = (uint32_t)(y->end - y->begin) * o->images[GRADIENT].images;
    uint32_t fewest = fewest_rows(p, &d, (uint32_t)(x->end - x->begin), &form->chunk,
                                  plan_workspace_vec4s(problem->plan, CHUNK_BYTES));
    d.rows_per_chunk = chunk_rows(d.rows, fewest);
    d.chunks = groups_of(d.rows, d.rows_per_chunk);
    return d;
}

/* ---- Passes of partial sums ---- */

struct pass *plan_weights_pass(struct plan *plan, const struct implementation *row,
                               const struct weights_problem *problem)
{
    const struct operation *o = problem->operation;
    const struct window *w = &o->window;
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_packing(pass, &problem->packing);
    pass_axes(pass, w);
    if (w->edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    pass_results(pass, w);
    pass_int(pass, "slice_total", (int32_t)problem->packing.slices);
    return pass;
}

struct pass *plan_partial_sums(struct plan *plan, const struct implementation *row,
                               const struct weights_problem *problem, uint32_t chunks,
                               struct partial_sums *sums)
{
    const struct packing *p = &problem->packing;
    struct pass *pass = plan_weights_pass(plan, row, problem);
    *sums = (struct partial_sums){
        .problem = problem, .chunks = chunks, .numbers = p->slices * (p->elements + 1)};
    sums->vector = plan_workspace_vector(plan, (size_t)chunks * sums->numbers * 4);
    pass_vector_of(pass, "vec4", "partial_sums", &sums->vector, VECTOR_WRITE);
    return pass;
}

/* The pass, but for what differs between many registers and few. */
static struct pass *plan_division(struct plan *plan, const struct implementation *row,
                                  const struct weights_problem *problem, const struct division *d,
                                  struct partial_sums *sums)
{
    const struct axis *x = &problem->operation->window.x;
    struct pass *pass = plan_partial_sums(plan, row, problem, d->chunks, sums);
    pass_int(pass, "chunk_count", (int32_t)d->chunks);
    pass_int(pass, "rows_per_chunk", (int32_t)d->rows_per_chunk);
    pass_int(pass, "row_total", (int32_t)d->rows);
    pass->work = d->rows_per_chunk * (uint32_t)(x->end - x->begin) * d->taps_x * d->taps_y *
                 d->slices * d->inputs * problem->packing.components * 8;
    return pass;
}

static void plan_chunks(struct plan *plan, const struct partial_sums *sums)
{
    implementation_plan(plan, &convolution_partial_sum_implementations, sums);
}

void plan_weights_by_rows(struct plan *plan, const struct implementation *row,
                          const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct window *w = &problem->operation->window;
    const struct division d = divide(problem, row->form);
    struct partial_sums sums;
    struct pass *pass = plan_division(plan, row, problem, &d, &sums);
    pass_int(pass, "stride_x", w->x.stride);
    pass_int(pass, "dilation_x", w->x.dilation);
    if (d.shared)
        pass_define(pass, "SHARED_ROW", w->x.stride);
    pass_define(pass, "TAPS_X", (int)d.taps_x);
    pass_define(pass, "TAPS_Y", (int)d.taps_y);
    pass_define(pass, "COLUMNS", (int)d.columns);
    pass_define(pass, "SLICES", (int)d.slices);
    pass_grid(pass, d.chunks * d.invocations, 1, 1);
    pass_local(pass, 64, 1, 1);
    plan_chunks(plan, &sums);
}

/* Along rows, with the windows that lie before begin as well. */
static bool reads_inside(const struct weights_problem *problem)
{
    const struct operation *o = problem->operation;
    const struct axis *x = &o->window.x;
    return windows_stay_inside(x, (uint32_t)x->end, 0, (int32_t)o->images[IMAGE].width - 1);
}

static void plan_weights_by_taps(struct plan *plan, const struct implementation *row,
                                 const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct packing *p = &problem->packing;
    const struct window *w = &problem->operation->window;
    const struct division d = divide(problem, row->form);
    struct partial_sums sums;
    struct pass *pass = plan_division(plan, row, problem, &d, &sums);
    const struct weights_form *form = row->form;
    uint32_t groups = groups_of((uint32_t)w->x.size, d.taps_x) * (uint32_t)w->y.size;
    /* Nouveau of Mesa 22 dies of a pixel that is handed from one turn to the next as it was read. */
    pass_outside(pass, reads_inside(problem) && !form->slides, form->masks);
    pass_define(pass, "stride_x", w->x.stride);
    pass_define(pass, "dilation_x", w->x.dilation);
    pass_define(pass, "TAPS", (int)d.taps_x);
    if (form->slides)
        pass_define(pass, "SLIDES", 1);
    if (d.inputs == 2)
        pass_define(pass, "PAIR", 1);
    pass_grid(pass, d.chunks, groups + 1, p->slices * groups_of(p->range, d.inputs));
    pass_batch_axis(pass, 0);
    plan_chunks(plan, &sums);
}

/* True if a tap reads what its neighbour read a column before. At an edge that is clamped pixels would be
 * handed on as they were read, of which Nouveau of Mesa 22 dies. */
static bool slides(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct window *w = &problem->operation->window;
    return w->x.size > 1 && is_dense(&w->x) && w->edge_mode != GLCNN_EDGE_MODE_CLAMP;
}

static bool slides_by_channel(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    return problem->packing.components == 1 && slides(problem);
}

/* True if what the gradient is read for can serve two slices, where no second tap is there to serve. */
static bool has_pairs(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    return problem->operation->window.x.size == 1 && problem->packing.range > 1;
}

/* True if taps side by side read what their neighbours do, for a pair of slices of outputs. */
static bool shares_rows(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct window *w = &problem->operation->window;
    return packing_is_dense(&problem->packing) && problem->packing.slices % 2 == 0 &&
           (w->x.size == 1 || shares_row(&w->x));
}

#define SMALL_GPU                                                                                  \
    {                                                                                              \
        8192, 2048                                                                                 \
    }
/* A processor has few cores, and each partial sum takes it as long as a dozen products. */
#define PROCESSOR                                                                                  \
    {                                                                                              \
        1024, 2048                                                                                 \
    }

#define WINOGRAD                                                                                   \
    {                                                                                              \
        weights_take_winograd, "dense windows of 3x3 taps, without stride or dilation"             \
    }
#define WINOGRAD_GAIN                                                                              \
    {                                                                                              \
        weights_gain_by_winograd, "at least 16 channels, more where width or height is odd"        \
    }

const struct implementation_list convolution_weights_implementations = {
    "convolution_weights",
    (const struct implementation[]){
        {"weights_broad", "convolution/convolution_gradient_weights.comp", 64,
         .supported = {shares_rows, "dense windows of more columns than the stride, without "
                                    "dilation, and an even number of slices of outputs"},
         .plan = plan_weights_by_rows, .form = &(const struct weights_form){7, 3, 2, PROCESSOR}},
        {"weights_wide", "convolution/convolution_gradient_weights.comp", 32,
         .plan = plan_weights_by_rows, .form = &(const struct weights_form){3, 3, 1, SMALL_GPU}},
        {"weights_winograd_pair", "convolution/winograd_gradient_products.comp", 12,
         .uniform_loads = true, .supported = WINOGRAD, .profitable = WINOGRAD_GAIN,
         .plan = plan_weights_winograd_points,
         .form = &(const struct weights_form){1, 1, 1, SMALL_GPU, .pairs = true}},
        {"weights_winograd_one", "convolution/winograd_gradient_products.comp", 8,
         .uniform_loads = true, .supported = WINOGRAD, .profitable = WINOGRAD_GAIN,
         .plan = plan_weights_winograd_points,
         .form = &(const struct weights_form){1, 1, 1, SMALL_GPU}},
        {"weights_winograd_wide", "convolution/winograd_gradient_products.comp", 14,
         .submits_dispatches = true, .supported = WINOGRAD,
         .profitable = {wide_weights_gain_by_winograd,
                        "at least 64 channels, more where width or height is odd"},
         .plan = plan_weights_winograd_points,
         .form = &(const struct weights_form){1, 1, 1, SMALL_GPU, .pairs = true}},
        {"weights_sliding", "convolution/convolution_gradient_weights_narrow.comp", 14,
         .supported = {slides, "windows of more than one column, without stride, dilation or "
                               "a clamped edge"},
         .plan = plan_weights_by_taps,
         .form = &(const struct weights_form){1, 2, 1, SMALL_GPU, .slides = true}},
        {"weights_sliding_channel", "convolution/convolution_gradient_weights_narrow.comp", 12,
         .supported = {slides_by_channel, "windows of more than one column, without stride, "
                                          "dilation or a clamped edge, of a single channel"},
         .plan = plan_weights_by_taps,
         .form = &(const struct weights_form){1, 1, 1, SMALL_GPU, .slides = true}},
        {"weights_pair", "convolution/convolution_gradient_weights_narrow.comp", 12,
         .supported = {has_pairs, "windows of one column and more than one slice of inputs"},
         .plan = plan_weights_by_taps,
         .form = &(const struct weights_form){1, 1, 1, SMALL_GPU, .pairs = true}},
        {"weights_two", "convolution/convolution_gradient_weights_narrow.comp", 12,
         .plan = plan_weights_by_taps,
         .form = &(const struct weights_form){1, 2, 1, SMALL_GPU, .masks = true}},
        {"weights_one", "convolution/convolution_gradient_weights_narrow.comp", 8,
         .plan = plan_weights_by_taps, .form = &(const struct weights_form){1, 1, 1, SMALL_GPU}},
        {0}}};

void plan_weights(const struct operation *o, struct plan *plan)
{
    const struct weights_problem problem = {o, plan, packing_of(o, false)};
    implementation_plan(plan, &convolution_weights_implementations, &problem);
}

static enum vector_access gradient_access(const struct operation *o)
{
    return o->accumulate ? VECTOR_READ_WRITE : VECTOR_WRITE;
}

static void pass_gradient_for_weights(struct pass *pass, const char *type,
                                      const struct operation *o)
{
    if (o->accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    pass_vector_of(pass, type, "gradient_for_weights", &o->vectors[GRADIENT_FOR_WEIGHTS],
                   gradient_access(o));
}

static void pass_gradient_for_biases(struct pass *pass, const struct operation *o)
{
    pass_vector(pass, "gradient_for_biases", &o->vectors[GRADIENT_FOR_BIASES], gradient_access(o));
}

void pass_gradients(struct pass *pass, const char *type, const struct operation *o)
{
    pass_gradient_for_weights(pass, type, o);
    pass_gradient_for_biases(pass, o);
}

/* ---- The sum of the chunks ---- */

#define RUN_CHUNKS 32u /* that one invocation adds up in a row at most */

bool has_many_chunks(const void *partial_sums)
{
    return ((const struct partial_sums *)partial_sums)->chunks > RUN_CHUNKS;
}

/* Chunks of a run: all, or where there are many about as many as there are runs. */
static uint32_t chunks_per_run(const struct partial_sums *sums)
{
    uint32_t runs = 1;
    while (has_many_chunks(sums) && runs * runs < sums->chunks)
        runs++;
    return groups_of(sums->chunks, runs);
}

void merge_partial_sums(struct plan *plan, struct partial_sums *sums)
{
    const uint32_t per_run = chunks_per_run(sums), runs = groups_of(sums->chunks, per_run);
    if (runs == 1)
        return;
    struct vector_view merged = plan_workspace_vector(plan, (size_t)runs * sums->numbers * 4);
    struct pass *pass = plan_pass(plan, "convolution/convolution_gradient_merge.comp");
    pass_vector_of(pass, "vec4", "partial_sums", &sums->vector, VECTOR_READ);
    pass_vector_of(pass, "vec4", "merged", &merged, VECTOR_WRITE);
    pass_int(pass, "chunk_count", (int32_t)sums->chunks);
    pass_int(pass, "chunks_per_run", (int32_t)per_run);
    pass_int(pass, "number_count", (int32_t)sums->numbers);
    pass_grid(pass, sums->numbers, runs, 1);
    pass_local(pass, 64, 1, 1);
    pass->work = per_run * 4;
    sums->vector = merged;
    sums->chunks = runs;
}

/* The pass, but for where its sums go. */
static struct pass *plan_sum_of(struct plan *plan, const struct implementation *row,
                                const struct partial_sums *sums)
{
    const struct packing *p = &sums->problem->packing;
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_vector_of(pass, "vec4", "partial_sums", &sums->vector, VECTOR_READ);
    pass_weight_index(pass, p);
    pass_int(pass, "chunk_count", (int32_t)sums->chunks);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    pass_grid(pass, p->elements + 1, p->slices, 1);
    pass_local(pass, 32, 1, 1);
    pass->work = sums->chunks * 4 + 64;
    return pass;
}

struct pass *plan_sum_of_chunks(struct plan *plan, const struct implementation *row,
                                const struct partial_sums *sums)
{
    struct pass *pass = plan_sum_of(plan, row, sums);
    pass_gradients(pass, "float", sums->problem->operation);
    return pass;
}

static void plan_merged_sum(struct plan *plan, const struct implementation *row,
                            const void *partial_sums)
{
    struct partial_sums sums = *(const struct partial_sums *)partial_sums;
    merge_partial_sums(plan, &sums);
    pass_int(plan_sum_of_chunks(plan, row, &sums), "chunks_per_run", (int32_t)sums.chunks);
}

/* What the same passes come to. A layer without biases has a vector for their gradient that is not
 * used further: without it all results lie in one memory with those of other layers. */
static void plan_single_sum(struct plan *plan, const struct implementation *row,
                            const void *partial_sums)
{
    const struct partial_sums *sums = partial_sums;
    const struct operation *o = sums->problem->operation;
    const int32_t per_run = (int32_t)chunks_per_run(sums);
    struct pass *pass = plan_sum_of(plan, row, sums);
    pass_gradient_for_weights(pass, "float", o);
    if (convolution_lacks(o->parameters, BIASES))
        pass_define(pass, "WITHOUT_BIASES", 1);
    else
        pass_gradient_for_biases(pass, o);
    pass_int(pass, "chunks_per_run", per_run);
    pass_packing_row(
        pass, "convolution/convolution_gradient_sum_rows.comp", &sums->problem->packing,
        (const int32_t[PACKING_ROW_MORE]){(int32_t)sums->chunks, per_run, o->accumulate});
}

/* By invocations that each go through some chunks, in two passes where these are many, or in one that
 * can be merged with those of other layers. */
const struct implementation_list convolution_partial_sum_implementations = {
    "convolution_partial_sums",
    (const struct implementation[]){
        {"partial_sums_one_submit", "convolution/convolution_gradient_sum.comp",
         .submits_dispatches = true, .plan = plan_single_sum},
        {"partial_sums", "convolution/convolution_gradient_sum.comp", .plan = plan_merged_sum},
        {0}}};

/* ---- Gradients longer than a storage block ---- */

#define MOST_PARTIAL_SUMS 4 /* times the weights that any row leaves of a chunk */

static void plan_outputs(const struct operation *o, struct plan *plan, struct channel_range outputs,
                         plan_of_weights plan_some)
{
    const struct vector_view *weights = &o->vectors[GRADIENT_FOR_WEIGHTS];
    size_t each = weights->count / convolution_channels(o).outputs;
    struct operation some = *o;
    struct trainable_layer layer;
    some.trainable = outputs;
    some.vectors[GRADIENT_FOR_WEIGHTS] =
        vector_part(weights, outputs.first * each, outputs.count * each);
    some.vectors[GRADIENT_FOR_BIASES] =
        vector_part(&o->vectors[GRADIENT_FOR_BIASES], outputs.first, outputs.count);
    convolution_trainable_layer(&some, &layer);
    plan_some(&layer.operation, plan);
}

/* Outputs of groups see other inputs each. Weights that fit may still have partial sums that do not: they
 * are refused by their length where they are bound. */
static void plan_groups_whole(const struct operation *o, struct plan *plan, uint32_t groups,
                              plan_of_weights plan_some)
{
    size_t count = o->vectors[GRADIENT_FOR_WEIGHTS].count;
    if (!plan_fits_block(plan, count))
        plan_fail(plan, GLCNN_LIMIT_EXCEEDED,
                  "%s: weights of %u groups take %zu bytes; this device's storage blocks have at "
                  "most %u, and gradients of more are made for one group, or for groups of one "
                  "channel",
                  o->descriptor->name, groups, count * 4,
                  plan->device->info.limits.storage_block_size);
    plan_some(o, plan);
}

void plan_weights_in_parts(const struct operation *o, struct plan *plan, plan_of_weights plan_some)
{
    const struct packing p = packing_of(o, false);
    const size_t each = p.elements + 1, block = plan_part_elements(plan);
    const uint32_t outputs = p.channels.outputs;
    if (plan_fits_block(plan, each * 4 * p.slices)) {
        plan_some(o, plan);
        return;
    }
    if (p.channels.groups > 1 && !p.depthwise) {
        plan_groups_whole(o, plan, p.channels.groups, plan_some);
        return;
    }
    const uint32_t most = outputs_within(plan, block / MOST_PARTIAL_SUMS, each);
    for (uint32_t first = 0; first < outputs; first += most)
        plan_outputs(o, plan, (struct channel_range){first, least(most, outputs - first)},
                     plan_some);
}

/* Weights first: the source image is then of no more use, and its memory free for the destination.
 */
struct operation convolution_with_sums(const struct operation *o, struct plan *plan)
{
    struct operation sums = *o;
    if (!sums.vectors[GRADIENT_FOR_BIASES].count)
        sums.vectors[GRADIENT_FOR_BIASES] =
            plan_scratch_vector(plan, convolution_channels(o).outputs);
    return sums;
}

void plan_convolution_gradient(const struct operation *o, struct plan *plan)
{
    struct trainable_layer layer;
    convolution_trainable_layer(o, &layer);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES)) {
        const struct operation sums = convolution_with_sums(&layer.operation, plan);
        plan_weights_in_parts(&sums, plan, plan_weights);
    }
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        plan_data(o, plan);
}
