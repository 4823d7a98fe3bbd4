/* Gradient of the weights and biases of convolutions, and what of the gradients is made. */
#include "kernels/convolution_plan.h"

/* Whether taps side by side read what their neighbours do, for a pair of slices of outputs. */
static bool shares_rows(const void *shape)
{
    const struct part_shape *s = shape;
    return packing_is_dense(s->packing) && s->packing->slices % 2 == 0 && s->window->x.size > 1 &&
           is_dense(&s->window->x) && is_dense(&s->window->y);
}

/* Part sums of the gradient of weights, of `taps` columns of the window and `pixels` of the
 * gradient at once. The first row takes all of up to 9 taps of windows of one channel, or 7 of a
 * row. */
const struct implementation_list convolution_part_implementations = {
    "convolution_weights",
    (const struct implementation[]){
        {"weights_winograd", .registers = 48, .shared_memory = true,
         .supported.holds = weights_are_winograd, .profitable.holds = weights_fill_winograd},
        {"weights_tiled", "convolution/convolution_gradient_weights_tiled.comp", 32,
         .shared_memory = true, .supported.holds = weights_are_product,
         .profitable.holds = weights_fill_tiles},
        {"weights_strips", "convolution/convolution_gradient_weights_strips.comp", 32,
         .shared_memory = true, .supported.holds = weights_are_small,
         .profitable.holds = weights_fill_strips, .pixels = 2},
        {"weights_group", "convolution/convolution_gradient_weights_group.comp", 32,
         .shared_memory = true, .supported.holds = weights_are_single, .taps = 9},
        {"weights_broad", "convolution/convolution_gradient_weights.comp", 64,
         .supported.holds = shares_rows, .pixels = 7, .slices = 2, .taps = 3},
        {"weights_wide", "convolution/convolution_gradient_weights.comp", 32, .pixels = 3,
         .taps = 3},
        {"weights_two", "convolution/convolution_gradient_weights_narrow.comp", 12, .pixels = 1,
         .taps = 2},
        {"weights_one", "convolution/convolution_gradient_weights_narrow.comp", 8, .pixels = 1,
         .taps = 1},
        {0}}};

#define CHUNK_BYTES (16u << 20) /* of part sums, unless one chunk takes more */

/* How many invocations are wanted, and how many products make a chunk worth its part sums. */
struct chunk_size {
    uint32_t invocations, products;
};
static const struct chunk_size small_gpu = {8192, 2048};
/* What keeps tiles in shared memory has some hundred processors more, and waits for the longest
 * chunk: a tenth of resnet8's step of 64 images went by in one chunk of one layer (H200). */
static const struct chunk_size large_gpu = {65536, 64};
/* A processor has few cores, and each part sum takes it as long as a dozen products. */
static const struct chunk_size processor = {1024, 2048};

/* How the part sums are shared out. */
struct shares {
    uint32_t taps_x, taps_y, columns, slices; /* of an invocation */
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

/* The fewest rows of a chunk: that leave it enough work, enough chunks, and room for part sums. */
static uint32_t fewest_rows(const struct packing *p, const struct shares *s, uint32_t width,
                            const struct chunk_size *size, uint32_t quads)
{
    uint32_t products = width * s->taps_x * s->taps_y * s->slices * p->components;
    uint32_t room = quads / (p->slices * (p->elements + 1));
    uint32_t wanted = groups_of(size->invocations, s->invocations);
    uint32_t by_work = groups_of(size->products, products);
    uint32_t by_count = groups_of(s->rows, least(wanted, room ? room : 1));
    return by_work > by_count ? by_work : by_count;
}

static const struct chunk_size *size_of_chunks(const struct implementation *row,
                                               const struct glcnn_device_traits *traits)
{
    if (row->slices > 1)
        return &processor;
    return row->pixels > 1 && traits->shared_memory ? &large_gpu : &small_gpu;
}

static struct shares share_out(const struct operation *o, const struct plan *plan,
                               const struct packing *p, const struct implementation *row)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t width = (uint32_t)x->size, height = (uint32_t)y->size;
    bool wide = row->pixels > 1, one = p->components == 1, small = one && width * height <= 9;
    struct shares s = {.shared = is_dense(x) && is_dense(y)};
    uint32_t most = !one ? row->taps : wide ? 7 : 4 * row->taps; /* as many sums */
    s.taps_x = wide && small ? width : least(width, most);
    s.taps_y = wide && small ? height : 1;
    s.slices = row->slices ? row->slices : 1;
    s.columns = columns_for((uint32_t)(x->end - x->begin), wide && one ? 4 : row->pixels);
    s.invocations =
        p->slices / s.slices * p->range * groups_of(width, s.taps_x) * groups_of(height, s.taps_y);
    s.rows = (uint32_t)(y->end - y->begin) * o->images[GRADIENT].images;
    uint32_t fewest = fewest_rows(p, &s, (uint32_t)(x->end - x->begin),
                                  size_of_chunks(row, &plan->device->info.traits),
                                  plan_workspace_vec4s(plan, CHUNK_BYTES));
    s.rows_per_chunk = chunk_rows(s.rows, fewest);
    s.chunks = groups_of(s.rows, s.rows_per_chunk);
    return s;
}

static void pass_wide_parts(struct pass *pass, const struct operation *o, const struct shares *s)
{
    pass_int(pass, "stride_x", o->window.x.stride);
    pass_int(pass, "dilation_x", o->window.x.dilation);
    if (s->shared)
        pass_define(pass, "SHARED_ROW", 1);
    pass_define(pass, "TAPS_X", (int)s->taps_x);
    pass_define(pass, "TAPS_Y", (int)s->taps_y);
    pass_define(pass, "COLUMNS", (int)s->columns);
    pass_define(pass, "SLICES", (int)s->slices);
    pass_grid(pass, s->chunks * s->invocations, 1, 1);
    pass_local(pass, 64, 1, 1);
}

static void pass_narrow_parts(struct pass *pass, const struct operation *o, const struct packing *p,
                              const struct shares *s, const struct implementation *row)
{
    const struct window *w = &o->window;
    uint32_t groups = groups_of((uint32_t)w->x.size, s->taps_x) * (uint32_t)w->y.size;
    pass_outside(pass, row);
    pass_define(pass, "stride_x", w->x.stride);
    pass_define(pass, "dilation_x", w->x.dilation);
    pass_define(pass, "TAPS", (int)s->taps_x);
    pass_grid(pass, s->chunks, groups + 1, p->slices * p->range);
    pass_batch_axis(pass, 0);
}

struct pass *plan_parts_pass(const struct operation *o, struct plan *plan, const struct packing *p,
                             const struct implementation *row)
{
    const struct window *w = &o->window;
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_packing(pass, p);
    pass_axes(pass, w);
    if (w->edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "end_x", w->x.end);
    pass_int(pass, "end_y", w->y.end);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    return pass;
}

struct pass *plan_parts(const struct operation *o, struct plan *plan, const struct packing *p,
                        const struct implementation *row, uint32_t chunks, struct parts *parts)
{
    struct pass *pass = plan_parts_pass(o, plan, p, row);
    parts->chunks = chunks;
    parts->numbers = p->slices * (p->elements + 1);
    parts->vector = plan_workspace_vector(plan, (size_t)chunks * parts->numbers * 4);
    pass_vector_of(pass, "vec4", "parts", &parts->vector, VECTOR_WRITE);
    return pass;
}

static void plan_rows(const struct operation *o, struct plan *plan, const struct packing *p,
                      const struct implementation *row, struct parts *parts)
{
    const struct window *w = &o->window;
    struct shares s = share_out(o, plan, p, row);
    struct pass *pass = plan_parts(o, plan, p, row, s.chunks, parts);
    pass_int(pass, "chunk_count", (int32_t)s.chunks);
    pass_int(pass, "rows_per_chunk", (int32_t)s.rows_per_chunk);
    pass_int(pass, "row_total", (int32_t)s.rows);
    if (row->pixels > 1)
        pass_wide_parts(pass, o, &s);
    else
        pass_narrow_parts(pass, o, p, &s, row);
    pass->work = s.rows_per_chunk * (uint32_t)(w->x.end - w->x.begin) * s.taps_x * s.taps_y *
                 s.slices * p->components * 8;
}

void pass_gradients_of(struct pass *pass, const char *type, const struct operation *o)
{
    enum vector_access access = o->accumulate ? VECTOR_READ_WRITE : VECTOR_WRITE;
    if (o->accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    pass_vector_of(pass, type, "gradient_for_weights", &o->vectors[GRADIENT_FOR_WEIGHTS], access);
    pass_vector(pass, "gradient_for_biases", &o->vectors[GRADIENT_FOR_BIASES], access);
}

void pass_gradients(struct pass *pass, const struct operation *o)
{
    pass_gradients_of(pass, "float", o);
}

/* ---- The sum of the chunks ---- */

#define RUN_CHUNKS   32u  /* that one invocation adds up in a row at most */
#define SUM_GROUP    128u /* invocations of a group, as in convolution_gradient_sum_group.comp */
#define SUM_ELEMENTS 8u   /* of a group, as there */
#define FEW_CHUNKS   64u  /* that one group is soon done with */

void merge_parts(struct plan *plan, struct parts *parts)
{
    uint32_t runs = 1;
    if (parts->chunks <= RUN_CHUNKS)
        return;
    while (runs * runs < parts->chunks)
        runs++;
    uint32_t per_run = groups_of(parts->chunks, runs);
    runs = groups_of(parts->chunks, per_run);
    struct vector_view merged = plan_workspace_vector(plan, (size_t)runs * parts->numbers * 4);
    struct pass *pass = plan_pass(plan, "convolution/convolution_gradient_merge.comp");
    pass_vector_of(pass, "vec4", "parts", &parts->vector, VECTOR_READ);
    pass_vector_of(pass, "vec4", "merged", &merged, VECTOR_WRITE);
    pass_int(pass, "chunk_count", (int32_t)parts->chunks);
    pass_int(pass, "chunks_per_run", (int32_t)per_run);
    pass_int(pass, "number_count", (int32_t)parts->numbers);
    pass_grid(pass, parts->numbers, runs, 1);
    pass_local(pass, 64, 1, 1);
    pass->work = per_run * 4;
    parts->vector = merged;
    parts->chunks = runs;
}

static bool has_many_chunks(const void *shape)
{
    return ((const struct parts *)shape)->chunks > RUN_CHUNKS;
}

static bool can_arrive(const void *shape)
{
    return ((const struct parts *)shape)->sums > 0;
}

static bool has_few_chunks(const void *shape)
{
    return ((const struct parts *)shape)->chunks <= FEW_CHUNKS;
}

/* The sum of the chunks: by the groups that make them, in one pass by work groups, or by invocations
 * that each go through some chunks, in two passes where these are many. */
const struct implementation_list convolution_chunk_implementations = {
    "convolution_weights_sum",
    (const struct implementation[]){
        {"chunks_arrive", .registers = 32, .shared_memory = true, .buffers = 4, .arrives = true,
         .supported.holds = can_arrive, .profitable.holds = has_few_chunks},
        {"chunks_group", "convolution/convolution_gradient_sum_group.comp", 32,
         .shared_memory = true, .profitable.holds = has_many_chunks},
        {"chunks_alone", "convolution/convolution_gradient_sum.comp"},
        {0}}};

static void share_chunks(struct pass *pass, const struct packing *p)
{
    pass_grid(pass, groups_of(p->elements + 1, SUM_ELEMENTS) * SUM_GROUP, p->slices, 1);
    pass_local(pass, SUM_GROUP, 1, 1);
    pass->cooperative = true;
}

static void pass_sum_of_chunks(struct plan *plan, const struct operation *o,
                               const struct packing *p, const struct parts *parts)
{
    struct pass *pass = parts->pass;
    struct vector_view arrivals = plan_scratch_vector(plan, parts->sums);
    pass_define(pass, "ARRIVES", 1);
    pass_library(pass, "pixel_reduction/arrival.glsl");
    pass_library(pass, "convolution/add_element.glsl");
    pass_int(pass, "arrival_slices", (int32_t)parts->sums);
    pass_int(pass, "runs", (int32_t)parts->chunks);
    pass_vector_of(pass, "uint", "arrivals", &arrivals, VECTOR_COHERENT);
    pass_update_access(pass, "parts", VECTOR_COHERENT);
    pass_gradients(pass, o);
    pass_weight_places(pass, p);
}

static void plan_sum_of_chunks(const struct operation *o, struct plan *plan,
                               const struct packing *p, struct parts *parts)
{
    const struct implementation *row =
        implementation_choose(plan, &convolution_chunk_implementations, parts);
    if (row->arrives) {
        pass_sum_of_chunks(plan, o, p, parts);
        return;
    }
    if (!row->shared_memory)
        merge_parts(plan, parts);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_vector_of(pass, "vec4", "parts", &parts->vector, VECTOR_READ);
    pass_gradients(pass, o);
    pass_weight_index(pass, p);
    pass_int(pass, "chunk_count", (int32_t)parts->chunks);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    pass_grid(pass, p->elements + 1, p->slices, 1);
    pass_local(pass, 32, 1, 1);
    pass->work = parts->chunks * 4 + 64;
    if (row->shared_memory)
        share_chunks(pass, p);
}

void plan_weights(const struct operation *o, struct plan *plan)
{
    struct packing p = packing_of(o, false);
    const struct part_shape shape = {&p, &o->window, weights_pixels(o), plan};
    const struct implementation *row =
        implementation_choose(plan, &convolution_part_implementations, &shape);
    struct parts parts = {.sums = 0};
    if (!row->shader) {
        plan_weights_winograd(o, plan, &p, row);
        return;
    }
    if (row->shared_memory && row->pixels > 0)
        plan_weights_strips(o, plan, &p, row, &parts);
    else if (row->shared_memory)
        plan_groups(o, plan, &p, row, &parts);
    else
        plan_rows(o, plan, &p, row, &parts);
    if (parts.chunks == 0)
        return;
    plan_sum_of_chunks(o, plan, &p, &parts);
}

/* ---- Gradients longer than a storage block ---- */

#define MOST_PARTS                                                                                 \
    4 /* times the weights: part sums at Winograd's points, or of a tile of few slices */

static void plan_outputs(const struct operation *o, struct plan *plan, struct channel_range outputs,
                         plan_of_weights plan_some)
{
    const struct vector_view *weights = &o->vectors[GRADIENT_FOR_WEIGHTS];
    size_t each = weights->count / convolution_channels(o).outputs;
    struct operation some = *o;
    struct narrowed narrowed;
    some.learning = outputs;
    some.vectors[GRADIENT_FOR_WEIGHTS] =
        vector_part(weights, outputs.first * each, outputs.count * each);
    some.vectors[GRADIENT_FOR_BIASES] =
        vector_part(&o->vectors[GRADIENT_FOR_BIASES], outputs.first, outputs.count);
    convolution_narrow(&some, &narrowed);
    plan_some(&narrowed.operation, plan);
}

/* Outputs of groups see other inputs each. Weights that fit may still have part sums that do not: they
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
    const uint32_t most = outputs_within(plan, block / MOST_PARTS, each);
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
    struct narrowed learning;
    convolution_narrow(o, &learning);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES)) {
        const struct operation sums = convolution_with_sums(&learning.operation, plan);
        plan_weights_in_parts(&sums, plan, plan_weights);
    }
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        plan_data(o, plan);
}
