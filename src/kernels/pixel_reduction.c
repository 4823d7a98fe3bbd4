/* Reductions over pixels: how rows are cut into runs, the passes that make and merge them, and the
 * reduction in the epilogue of another pass. */
#include "kernels/pixel_reduction.h"

/* ---- Results that take part ---- */

/* Along one axis. */
static uint32_t results_along(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 0;
}

bool pixel_reduction_check(const struct operation *o, const struct image_view *gradient,
                           struct validation validation)
{
    if (results_along(&o->window.x) && results_along(&o->window.y))
        return true;
    return invalid(validation,
                   "primary offset and source size leave no pixel of the %ux%u source gradient",
                   gradient->width, gradient->height);
}

/* ---- Extents ---- */

struct pixel_reduction pixel_reduction_of_images(const struct image_view *source, uint32_t groups)
{
    return (struct pixel_reduction){.source = source,
                                    .groups = groups,
                                    .rows = source->height * (source->images / groups),
                                    .image_rows = source->height,
                                    .row_pixels = source->width};
}

struct pixel_reduction pixel_reduction_of_results(const struct operation *o,
                                                  const struct image_view *source, uint32_t groups)
{
    uint32_t height = results_along(&o->window.y);
    return (struct pixel_reduction){.source = source,
                                    .groups = groups,
                                    .rows = height * (source->images / groups),
                                    .image_rows = height,
                                    .row_pixels = results_along(&o->window.x)};
}

uint32_t pixel_reduction_span(const struct pixel_reduction *r, const struct pixel_cut *cut)
{
    uint32_t wanted = cut->runs / (slice_count(r->source->channels) * r->groups);
    wanted = wanted < cut->fewest ? cut->fewest : least(wanted, cut->most);
    uint32_t span = groups_of(r->rows, wanted), shortest = groups_of(cut->pixels, r->row_pixels);
    return span > shortest ? span : shortest;
}

void pass_runs(struct pass *pass, const struct pixel_reduction *r, uint32_t span, uint32_t runs)
{
    pass_int(pass, "rows", (int32_t)r->rows);
    pass_int(pass, "image_rows", (int32_t)r->image_rows);
    pass_int(pass, "row_pixels", (int32_t)r->row_pixels);
    pass_int(pass, "span", (int32_t)span);
    pass_int(pass, "runs", (int32_t)runs);
}

/* ---- Ping-pong passes ---- */

#define FAN_IN 32 /* runs that an invocation of a merging pass merges */

/* The form of a row: how rows of pixels are cut, and the runs that the last pass merges at most. */
struct merging {
    struct pixel_cut cut;
    uint32_t last;
};

/* Invocations enough to keep a GPU busy, with runs long enough that the passes that follow stay
 * cheap; no more runs than a texture has columns everywhere. Where each pass costs a submit, few
 * enough runs for the last pass: the GPUs are small, and busy with the invocations of some slices. */
static const struct merging by_passes = {{.runs = 16384, .fewest = 64, .most = 2048, .pixels = 128},
                                         FAN_IN};
static const struct merging by_the_last = {
    {.runs = 16384, .fewest = 64, .most = 128, .pixels = 128}, 128};

const struct implementation_list pixel_reduction_merges = {
    "pixel_reduction_merges",
    (const struct implementation[]){
        {"runs_merged_at_last", .submits_dispatches = true, .form = &by_the_last},
        {"runs_merged_by_passes", .form = &by_passes},
        {0}}};

/* Two scratch images whose columns are runs, image quantities * group + quantity: each pass reads
 * the one that was written last and writes the other, then they change places. */
struct ping_pong {
    struct image_view from, to;
    uint32_t span, runs; /* of `from` */
    const struct implementation *merges;
};

static struct image_view columns(struct plan *plan, const struct pixel_reduction *r, uint32_t count)
{
    return plan_scratch_image(
        plan, (struct extent){count, 1, r->source->channels, r->kind->quantities * r->groups});
}

static void swap(struct ping_pong *images)
{
    struct image_view written = images->to;
    images->to = images->from;
    images->from = written;
}

/* Pixels taken together: a divisor of the width where there is a good one. */
static uint32_t choose_block(uint32_t width, uint32_t most)
{
    uint32_t good = most < 4 ? most : most < 8 ? 3 : 4, usual = most < 8 ? most : 8;
    for (uint32_t block = most; block >= good; block--)
        if (width % block == 0)
            return block;
    return width < usual ? width : usual;
}

static void plan_first(struct plan *plan, const struct implementation *row,
                       const struct pixel_reduction *r, struct ping_pong *images)
{
    const struct pixel_block *most = row->form;
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_grid(pass, images->runs, slice_count(r->source->channels), r->groups);
    pass_texture(pass, "source", r->source);
    pass_runs(pass, r, images->span, images->runs);
    pass_image(pass, "merged", &images->to);
    pass->work = images->span * r->row_pixels * 8;
    pass_define(pass, "BLOCK", (int)choose_block(r->row_pixels, most->pixels));
    pass_batch_axis(pass, 0);
    if (r->read)
        r->read(pass, r->of);
    swap(images);
}

/* Runs that an invocation reads at a time: each by itself would be waited for. Two quantities of four
 * runs, and what they are merged into, are more than a GPU of few registers holds; V3D 7.1 holds two. */
static void pass_reads(struct plan *plan, struct pass *pass)
{
    uint32_t registers = plan->device->info.traits.registers;
    pass_define(pass, "AT_ONCE", registers < 12 ? 1 : registers < 14 ? 2 : 4);
}

static void plan_merge(struct plan *plan, const struct pixel_reduction *r, struct ping_pong *images)
{
    struct pass *pass = plan_pass(plan, r->kind->merge);
    pass_implementation(pass, images->merges);
    uint32_t left = groups_of(images->runs, FAN_IN);
    pass_grid(pass, left, slice_count(r->source->channels),
              r->kind->merges_quantities ? r->groups : r->kind->quantities * r->groups);
    pass_texture(pass, "partial", &images->from);
    pass_image(pass, "merged", &images->to);
    pass_define(pass, "FAN_IN", FAN_IN);
    pass_reads(plan, pass);
    pass_batch_axis(pass, 0);
    pass_runs(pass, r, images->span, images->runs);
    pass->work = FAN_IN * 16;
    images->span *= FAN_IN;
    images->runs = left;
    swap(images);
}

static void plan_last(struct plan *plan, const struct pixel_reduction *r,
                      const struct ping_pong *images)
{
    struct pass *pass = plan_pass(plan, r->kind->finish);
    pass_implementation(pass, images->merges);
    pass_grid(pass, 1, slice_count(r->source->channels), r->groups);
    pass_texture(pass, "partial", &images->from);
    pass_runs(pass, r, images->span, images->runs);
    pass_reads(plan, pass);
    pass->work = images->runs * 16;
    if (r->kind->finish_reads_source)
        pass_texture(pass, "source", r->source);
    r->write(pass, r->of);
}

void pixel_reduction_plan(struct plan *plan, const struct implementation *row,
                          const void *reduction)
{
    const struct pixel_reduction *r = reduction;
    struct ping_pong images = {.merges =
                                   implementation_choose(plan, &pixel_reduction_merges, NULL)};
    const struct merging *merging = images.merges->form;
    images.span = pixel_reduction_span(r, &merging->cut);
    images.runs = groups_of(r->rows, images.span);
    images.to = columns(plan, r, images.runs);
    images.from = columns(plan, r, groups_of(images.runs, FAN_IN));
    plan_first(plan, row, r, &images);
    while (images.runs > merging->last)
        plan_merge(plan, r, &images);
    plan_last(plan, r, &images);
}

/* ---- Last-block reductions ---- */

void pass_last_block(struct plan *plan, struct pass *pass, const struct block_results *results)
{
    uint32_t counters = results->slices * results->groups;
    struct vector_view blocks =
        plan_scratch_vector(plan, counters + (size_t)counters * results->runs * results->numbers);
    pass_define(pass, "NUMBERS", (int)results->numbers);
    pass_int(pass, "block_counters", (int32_t)counters);
    pass_int(pass, "block_slices", (int32_t)results->slices);
    pass_vector_of(pass, "uint", "block_results", &blocks, VECTOR_COHERENT);
    pass_library(pass, "pixel_reduction/last_block.glsl");
}

/* ---- In the epilogue of the pass that stores the pixels ---- */

static const bool by_epilogue = true, by_pass = false;

const struct implementation_list pixel_reduction_places = {
    "pixel_reduction",
    (const struct implementation[]){{"reduced_where_stored", .registers = 32, .shared_memory = true,
                                     .buffers = 7, .form = &by_epilogue},
                                    {"reduced_by_a_pass", .form = &by_pass},
                                    {0}}};

/* Runs that a lane of the last group merges, and runs of a slice: with more of either the last group
 * works alone for longer than a pass of its own would take. */
#define LANE_RUNS  16u
#define SLICE_RUNS 256u

static bool are_soon_merged(const struct pass_epilogue *e)
{
    return e->runs <= SLICE_RUNS && groups_of(e->runs * e->slices, e->lanes) <= LANE_RUNS;
}

bool pixel_reduction_has_room(struct plan *plan, const struct pass *pass)
{
    const struct glcnn_limits *limits = &plan->device->info.limits;
    bool has = !pass->overflow && pass->buffer_count <= limits->storage_blocks &&
               pass->buffer_count + pass->image_count <= limits->output_resources &&
               pass->texture_count <= limits->texture_units && plan_amended_can_read(plan);
    if (!has)
        plan_drop_amended(plan);
    return has;
}

struct pass *pixel_reduction_epilogue(struct plan *plan, const struct image_view *source,
                                      const char *epilogue, uint32_t numbers,
                                      const struct vector_view *const results[], size_t count)
{
    /* Nothing is amended in what is not planned, and so no trial there tells the rows apart. */
    if (!plan->command_buffer->deferred)
        return NULL;
    const struct implementation *place = implementation_choose(plan, &pixel_reduction_places, NULL);
    struct pass *pass =
        *(const bool *)place->form ? plan_amend(plan, source, results, count) : NULL;
    if (pass && !are_soon_merged(&pass->epilogue)) {
        plan_drop_amended(plan);
        pass = NULL;
    }
    if (!pass)
        return NULL;
    pass_implementation(pass, place);
    pass_library(pass, epilogue);
    pass_library(pass, "pixel_reduction/finish_epilogue.glsl");
    pass_define(pass, "EPILOGUE", 1);
    pass_define(pass, "LANES", (int)pass->epilogue.lanes);
    pass_define(pass, "GROUP_SLICES", (int)pass->epilogue.slices);
    pass_int(pass, "runs", (int32_t)pass->epilogue.runs);
    pass_last_block(
        plan, pass,
        &(struct block_results){slice_count(source->channels), 1, pass->epilogue.runs, numbers});
    pass->cooperative = true;
    pass->epilogue.lanes = 0;
    return pass;
}

/* ---- Sums ---- */

const struct reduction_kind pixel_reduction_sum = {.quantities = 1,
                                                   .merge = "pixel_reduction/pixel_sums_merge.comp",
                                                   .finish =
                                                       "pixel_reduction/pixel_sums_finish.comp",
                                                   .library = "pixel_reduction/finish_sums.glsl"};
const struct reduction_kind pixel_reduction_two_sums = {
    .quantities = 2,
    .merge = "pixel_reduction/pixel_sums_merge.comp",
    .finish = "pixel_reduction/pixel_sums_finish.comp",
    .library = "pixel_reduction/finish_sums.glsl"};

void pixel_reduction_results(struct pass *pass, uint32_t quantities,
                             const struct vector_view *const sums[], bool accumulate)
{
    if (accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    pass_vector(pass, "first_sum", sums[0], VECTOR_READ_WRITE);
    if (quantities == 2) {
        pass_define(pass, "TWO_SUMS", 1);
        pass_vector(pass, "second_sum", sums[1], VECTOR_READ_WRITE);
    }
}
