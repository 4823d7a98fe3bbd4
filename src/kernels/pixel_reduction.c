/* Reductions over pixels: how rows are cut into runs, and the ping-pong passes that merge what runs
 * leave: each reads one scratch texture array, `from`, and writes the other, `to`, and they swap. */
#include "kernels/pixel_reduction.h"

/* ---- Results that take part ---- */

/* Along one axis. */
static uint32_t results_along(const struct axis *axis)
{
    return axis->end > axis->begin ? (uint32_t)(axis->end - axis->begin) : 0;
}

bool pixel_reduction_check(const struct operation *o, const struct image_view *gradient,
                           struct refusal refusal)
{
    if (results_along(&o->window.x) && results_along(&o->window.y))
        return true;
    return refuse(refusal,
                  "primary offset and source size leave no pixel of the %ux%u source gradient",
                  gradient->width, gradient->height);
}

/* ---- Runs ---- */

#define LANES 128u /* of a work group that makes a run */

/* How rows are cut: runs of all columns that are `columns_apart`, of one of them at least and at
 * most, and pixels of a run at least. */
struct cut {
    uint32_t runs, fewest, most, pixels;
};

/* Invocations enough to keep a GPU busy, with runs long enough that the passes that follow stay
 * cheap; no more runs than a texture has columns everywhere. */
static const struct cut by_invocations = {16384, 64, 2048, 128};
/* Few enough that the last pass can merge them all, and some pixels for every lane. */
static const struct cut by_groups = {1024, 1, PIXEL_FAN_IN, 4 * LANES};
/* The group that merges them has a lane for each. */
static const struct cut by_arrivals = {1024, 1, LANES, 4 * LANES};

static const struct cut *cut_of(const struct implementation *row)
{
    if (row->arrives)
        return &by_arrivals;
    return row->shared_memory ? &by_groups : &by_invocations;
}

static uint32_t choose_span(const struct cut *cut, uint32_t rows, uint32_t row_pixels,
                            uint32_t columns_apart)
{
    uint32_t wanted = cut->runs / columns_apart;
    wanted = wanted < cut->fewest ? cut->fewest : least(wanted, cut->most);
    uint32_t span = groups_of(rows, wanted), shortest = groups_of(cut->pixels, row_pixels);
    return span > shortest ? span : shortest;
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

/* ---- Tiles ---- */

/* Lanes in a tile read texels that lie together in a block of a texture, and know for a whole row
 * that they have pixels: halves take 0.74 of the time, floats 0.92 to 0.97 (H200). */
#define TILE_COLUMNS 8u
#define TILE_ROWS    (LANES / TILE_COLUMNS)
#define TILE_BLOCK   8u /* pixels of a lane that are taken together, at most */

static uint32_t tiles_across(const struct pixel_reduction *r)
{
    return r->row_pixels / TILE_COLUMNS;
}

bool pixel_reduction_has_tiles(const void *reduction)
{
    const struct pixel_reduction *r = reduction;
    uint32_t across = tiles_across(r);
    return r->row_pixels % TILE_COLUMNS == 0 && across % choose_block(across, TILE_BLOCK) == 0;
}

static uint32_t arriving_span(const struct pixel_reduction *r)
{
    return choose_span(&by_arrivals, r->rows, r->row_pixels, slice_count(r->channels) * r->groups);
}

/* Loads enough wait at once, and no lane of a run lies beyond it. */
bool pixel_reduction_fills_tiles(const void *reduction)
{
    const struct pixel_reduction *r = reduction;
    return tiles_across(r) >= 4 && arriving_span(r) >= TILE_ROWS;
}

static struct image_view columns(struct plan *plan, const struct pixel_reduction *r, uint32_t count)
{
    return plan_scratch_image(plan,
                              (struct extent){count, 1, r->channels, r->quantities * r->groups});
}

struct pixel_reduction pixel_reduction_begin(struct plan *plan,
                                             const struct implementation_list *list,
                                             struct extent extent, uint32_t groups,
                                             uint32_t quantities)
{
    struct pixel_reduction r = {.groups = groups,
                                .quantities = quantities,
                                .channels = extent.channels,
                                .rows = extent.height * (extent.images / groups),
                                .image_rows = extent.height,
                                .row_pixels = extent.width};
    r.row = implementation_choose(plan, list, &r);
    r.span = choose_span(cut_of(r.row), r.rows, r.row_pixels, slice_count(r.channels) * groups);
    if (r.row->tiles)
        r.span = groups_of(r.span, TILE_ROWS) * TILE_ROWS;
    r.runs = groups_of(r.rows, r.span);
    if (r.row->arrives)
        return r;
    r.to = columns(plan, &r, r.runs);
    r.from = columns(plan, &r, groups_of(r.runs, PIXEL_FAN_IN));
    return r;
}

struct pixel_reduction pixel_reduction_of_results(struct plan *plan,
                                                  const struct implementation_list *list,
                                                  const struct operation *o,
                                                  const struct image_view *source, uint32_t groups,
                                                  uint32_t quantities)
{
    const struct extent results = {results_along(&o->window.x), results_along(&o->window.y),
                                   source->channels, source->images};
    return pixel_reduction_begin(plan, list, results, groups, quantities);
}

/* ---- Passes ---- */

static void pass_runs(struct pass *pass, const struct pixel_reduction *r)
{
    pass_int(pass, "rows", (int32_t)r->rows);
    pass_int(pass, "image_rows", (int32_t)r->image_rows);
    pass_int(pass, "row_pixels", (int32_t)r->row_pixels);
    pass_int(pass, "span", (int32_t)r->span);
    pass_int(pass, "runs", (int32_t)r->runs);
}

static void swap(struct pixel_reduction *r)
{
    struct image_view written = r->to;
    r->to = r->from;
    r->from = written;
}

/* Where the groups of a pass leave their runs, and are counted: of `slices` of an image, for each of
 * `groups` of images. */
static void pass_arrivals(struct plan *plan, struct pass *pass, uint32_t slices, uint32_t groups,
                          uint32_t runs, uint32_t numbers)
{
    uint32_t counters = slices * groups;
    struct vector_view arrivals =
        plan_scratch_vector(plan, counters + (size_t)counters * runs * numbers);
    pass_define(pass, "NUMBERS", (int)numbers);
    pass_int(pass, "arrival_counters", (int32_t)counters);
    pass_int(pass, "arrival_slices", (int32_t)slices);
    pass_vector_of(pass, "uint", "arrivals", &arrivals, VECTOR_COHERENT);
    pass_library(pass, "pixel_reduction/arrival.glsl");
}

struct pass *pixel_reduction_first(struct plan *plan, struct pixel_reduction *r,
                                   const struct image_view *source)
{
    const struct implementation *row = r->row;
    uint32_t lanes = row->shared_memory ? LANES : 1;
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_grid(pass, r->runs * lanes, slice_count(source->channels), r->groups);
    pass_texture(pass, "source", source);
    pass_runs(pass, r);
    if (row->arrives) {
        pass_define(pass, "ARRIVES", 1);
        pass_arrivals(plan, pass, slice_count(r->channels), r->groups, r->runs, 4 * r->quantities);
    } else {
        pass_image(pass, "merged", &r->to);
    }
    pass->work = r->span * r->row_pixels * 8 / lanes;
    if (lanes > 1) {
        pass_define(pass, "LANES", (int)lanes);
        pass_define(pass, "BLOCK",
                    (int)(row->tiles ? choose_block(tiles_across(r), TILE_BLOCK) : row->pixels));
        pass_local(pass, lanes, 1, 1);
        pass->cooperative = true;
    } else {
        pass_define(pass, "BLOCK", (int)choose_block(r->row_pixels, row->pixels));
        pass_batch_axis(pass, 0);
    }
    swap(r);
    r->first = pass;
    return pass;
}

/* ---- In the pass that stores the pixels ---- */

/* Whether it is given the reduction as an epilogue. */
const struct implementation_list pixel_reduction_places = {
    "pixel_reduction", (const struct implementation[]){{"reduced_where_stored", .registers = 32,
                                                        .shared_memory = true, .buffers = 7},
                                                       {"reduced_by_a_pass"},
                                                       {0}}};

/* The last group reads what all have left, each lane so many runs at most, and of a slice so many:
 * more of either take longer than a pass (H200). */
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
    struct pass *pass = place->buffers ? plan_amend(plan, source, results, count) : NULL;
    if (!pass || !are_soon_merged(&pass->epilogue)) {
        plan_drop_amended(plan);
        return NULL;
    }
    pass_implementation(pass, place);
    pass_library(pass, epilogue);
    pass_library(pass, "pixel_reduction/finish_epilogue.glsl");
    pass_define(pass, "EPILOGUE", 1);
    pass_define(pass, "LANES", (int)pass->epilogue.lanes);
    pass_define(pass, "GROUP_SLICES", (int)pass->epilogue.slices);
    pass_int(pass, "runs", (int32_t)pass->epilogue.runs);
    pass_arrivals(plan, pass, slice_count(source->channels), 1, pass->epilogue.runs, numbers);
    pass->cooperative = true;
    pass->epilogue.lanes = 0;
    return pass;
}

/* A turn is a tile's rows, or a block of every lane, as far as rows fill it. */
void pixel_reduction_take_turns(struct pass *pass, const struct pixel_reduction *r)
{
    uint32_t rows = r->row->tiles ? TILE_ROWS : LANES * r->row->pixels / r->row_pixels;
    if (r->row->tiles)
        pass_define(pass, "TILE_COLUMNS", TILE_COLUMNS);
    uint32_t turns = groups_of(r->span, rows ? rows : 1);
    pass_int(pass, "turn_rows", (int32_t)groups_of(r->span, turns));
    pass_int(pass, "turns", (int32_t)turns);
}

void pixel_reduction_merge(struct plan *plan, struct pixel_reduction *r, const char *shader,
                           uint32_t apart)
{
    while (r->runs > PIXEL_FAN_IN && !r->row->arrives) {
        struct pass *pass = plan_pass(plan, shader);
        uint32_t left = groups_of(r->runs, PIXEL_FAN_IN);
        pass_grid(pass, left, slice_count(r->channels), apart);
        pass_texture(pass, "partial", &r->from);
        pass_image(pass, "merged", &r->to);
        pass_define(pass, "FAN_IN", PIXEL_FAN_IN);
        pass_batch_axis(pass, 0);
        pass_runs(pass, r);
        pass->work = PIXEL_FAN_IN * 16;
        r->span *= PIXEL_FAN_IN;
        r->runs = left;
        swap(r);
    }
}

struct pass *pixel_reduction_finish(struct plan *plan, const struct pixel_reduction *r,
                                    const char *shader, bool accumulate)
{
    struct pass *pass = r->first;
    if (!r->row->arrives) {
        pass = plan_pass(plan, shader);
        pass_grid(pass, 1, slice_count(r->channels), r->groups);
        pass_texture(pass, "partial", &r->from);
        pass_runs(pass, r);
    }
    if (accumulate)
        pass_define(pass, "ACCUMULATE", 1);
    return pass;
}

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

void pixel_reduction_sums(struct plan *plan, struct pixel_reduction *r,
                          const struct vector_view *const sums[], bool accumulate)
{
    pixel_reduction_merge(plan, r, "pixel_reduction/pixel_sums_merge.comp",
                          r->quantities * r->groups);
    struct pass *pass =
        pixel_reduction_finish(plan, r, "pixel_reduction/pixel_sums_finish.comp", false);
    if (r->row->arrives)
        pass_library(pass, "pixel_reduction/finish_sums.glsl");
    pixel_reduction_results(pass, r->quantities, sums, accumulate);
}
