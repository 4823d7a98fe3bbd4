/* The sum over windows as a product of matrices, by tiles: rows are the pixels of all images,
 * columns are outputs, and the sum goes over elements of the packed weights. Where the tiles are
 * too few to fill a GPU the elements are split, too. */
#include "kernels/convolution_plan.h"

/* Of convolution_tiled.comp: rows and slices of a tile, quads of elements that a group keeps at a
 * time: more where they are of small tiles, so that fewer reads are waited for. */
#define GROUP_SIZE    128u
#define TILE_ROWS     128u
#define FEW_ROWS      64u
#define NARROW_SLICES 4u
#define FEW_SLICES    8u
#define TILE_SLICES   16u
#define MANY_SLICES   32u
#define TILE_QUADS    4u
#define MANY_QUADS    8u
#define TILE_DEPTH    (4 * TILE_QUADS)

#define FEW_ELEMENTS  64u   /* that small tiles, of which more run at a time, add up faster */
#define ENOUGH_GROUPS 384u  /* to keep the largest GPUs busy without a split */
#define SPLIT_DEPTH   128u  /* elements that make a part worth its sum */
#define LONG_RESULTS  4096u /* four numbers each, at most, and elements at least */
#define LONG_ELEMENTS 48u
#define SHORT_ROWS    131072u
#define FEWEST_SLICES 3u          /* for those */
#define SPLIT_BYTES   (32u << 20) /* of part sums */

static uint32_t row_count(const struct sum *sum)
{
    return sum->extent[0] * sum->extent[1] * sum->destination.images;
}

/* ---- Tiles ---- */

/* Where rows are few an invocation owns as many sums, of more slices, if groups enough are left. */
static bool has_few_rows(const void *shape)
{
    return row_count(((const struct sum_shape *)shape)->sum) <= FEW_ROWS;
}

static bool fills_broad_tiles(const void *shape)
{
    const struct packing *p = ((const struct sum_shape *)shape)->packing;
    uint32_t groups = groups_of(p->slices, MANY_SLICES) * (p->elements / SPLIT_DEPTH);
    return has_few_rows(shape) && groups >= ENOUGH_GROUPS;
}

static uint32_t usual_slices(const struct packing *p)
{
    return p->slices <= FEW_SLICES ? FEW_SLICES : TILE_SLICES;
}

/* Tiles are small where there are not many: a GPU then waits for the longest. */
static bool fills_high_tiles(const void *shape)
{
    const struct packing *p = ((const struct sum_shape *)shape)->packing;
    const struct sum *sum = ((const struct sum_shape *)shape)->sum;
    uint32_t high = groups_of(row_count(sum), TILE_ROWS) * groups_of(p->slices, usual_slices(p));
    return p->elements > FEW_ELEMENTS && high > ENOUGH_GROUPS;
}

/* Rows are `pixels`; slices are as many as the outputs want where a row says none. */
const struct implementation_list convolution_tile_implementations = {
    "convolution_tiles",
    (const struct implementation[]){
        {"tiles_broad", .pixels = FEW_ROWS, .slices = MANY_SLICES,
         .profitable.holds = fills_broad_tiles},
        {"tiles_few", .pixels = FEW_ROWS, .slices = TILE_SLICES, .profitable.holds = has_few_rows},
        {"tiles_high", .pixels = TILE_ROWS, .profitable.holds = fills_high_tiles},
        {"tiles_low", .pixels = FEW_ROWS},
        {0}}};

struct tile {
    uint32_t rows, slices, quads;
};

static struct tile tile_of(const struct implementation *row, const struct packing *p)
{
    uint32_t slices = row->slices ? row->slices : usual_slices(p);
    bool small = row->pixels == FEW_ROWS && slices == FEW_SLICES && p->elements > FEW_ELEMENTS;
    if (small && p->slices <= NARROW_SLICES)
        slices = NARROW_SLICES;
    return (struct tile){row->pixels, slices, small ? MANY_QUADS : TILE_QUADS};
}

/* Unless another is forced. */
static struct tile usual_tile(const struct sum_shape *shape)
{
    const struct implementation *row = convolution_tile_implementations.rows;
    while (row->profitable.holds && !row->profitable.holds(shape))
        row++;
    return tile_of(row, shape->packing);
}

static uint32_t tile_count(const struct sum_shape *shape, struct tile tile)
{
    return groups_of(row_count(shape->sum), tile.rows) *
           groups_of(shape->packing->slices, tile.slices);
}

/* ---- Splits ---- */

/* How the elements are shared out, of which there may be none. */
struct splits {
    uint32_t depth, count; /* elements of a split; splits, at least 1 */
};

/* As many as the tiles want, and not more than the elements are worth. */
static uint32_t most_splits(const struct sum_shape *shape, uint32_t wanted)
{
    const struct packing *p = shape->packing;
    uint32_t quads = plan_workspace_vec4s(shape->plan, SPLIT_BYTES);
    uint32_t room = quads / p->slices / row_count(shape->sum);
    return shape->sum->places ? 1 : least(least(wanted, p->elements / SPLIT_DEPTH), room);
}

static struct splits split_elements(const struct sum_shape *shape, struct tile tile)
{
    const struct packing *p = shape->packing;
    uint32_t wanted = ENOUGH_GROUPS / tile_count(shape, tile);
    uint32_t count = most_splits(shape, wanted > 2 ? wanted : 2);
    uint32_t depth = groups_of(groups_of(p->elements, count), TILE_DEPTH) * TILE_DEPTH;
    return (struct splits){depth, groups_of(p->elements, depth)};
}

static bool can_split(const void *shape)
{
    return most_splits(shape, 2) == 2;
}

static bool leaves_groups_idle(const void *shape)
{
    return ENOUGH_GROUPS / tile_count(shape, usual_tile(shape)) >= 2;
}

const struct implementation_list convolution_split_implementations = {
    "convolution_splits",
    (const struct implementation[]){
        {"elements_split", .supported.holds = can_split, .profitable.holds = leaves_groups_idle},
        {"elements_whole"},
        {0}}};

static uint32_t usual_groups(const struct sum_shape *shape)
{
    const struct tile tile = usual_tile(shape);
    bool splits = can_split(shape) && leaves_groups_idle(shape);
    return tile_count(shape, tile) * (splits ? split_elements(shape, tile).count : 1);
}

/* Few results of long sums: invocations that own some of them leave most of a GPU idle. */
static bool is_long(const struct packing *p, const struct sum *sum)
{
    return row_count(sum) * p->slices <= LONG_RESULTS && p->elements >= LONG_ELEMENTS;
}

/* A tile that is mostly empty is no gain, but for the split of its sums, and where pixels are so few
 * that invocations which own some of them would each go through all elements alone. */
bool sum_fills_tiles(const void *shape)
{
    const struct packing *p = ((const struct sum_shape *)shape)->packing;
    const struct sum *sum = ((const struct sum_shape *)shape)->sum;
    uint32_t fewest = row_count(sum) <= SHORT_ROWS ? FEWEST_SLICES : FEW_SLICES;
    bool filled = p->slices >= fewest && row_count(sum) >= TILE_ROWS / 4 &&
                  usual_groups(shape) >= TILE_GROUPS;
    return filled || is_long(p, sum);
}

/* ---- Weights in place ---- */

/* They must lie as elements do: all inputs of an output side by side, or all outputs of an input. */
static bool can_stay(const void *shape)
{
    const struct packing *p = ((const struct sum_shape *)shape)->packing;
    bool with_outputs = p->transposed && p->layer_taps == 1 && p->channels.outputs % 4 == 0 &&
                        p->channels.inputs % 4 == 0;
    return !((const struct sum_shape *)shape)->sum->places && sum_fits_block(shape) &&
           (packing_is_in_order(p) || with_outputs);
}

/* So few tiles share what they read of the weights that packing them is not worth it. */
static bool is_read_by_few(const void *shape)
{
    return row_count(((const struct sum_shape *)shape)->sum) <= 2 * TILE_ROWS;
}

const struct implementation_list convolution_place_implementations = {
    "convolution_weights_layout",
    (const struct implementation[]){
        {"factors_in_place", .supported.holds = can_stay, .profitable.holds = is_read_by_few},
        {"factors_packed"},
        {0}}};

void pass_biases_in_place(struct pass *pass, const struct sum *sum)
{
    pass_define(pass, "IN_PLACE", 1);
    if (!sum->biases)
        return;
    pass_define(pass, "BIASES", 1);
    pass_vector(pass, "biases", sum->biases, VECTOR_READ);
}

void pass_weights_in_place(struct pass *pass, const struct sum *sum)
{
    pass_biases_in_place(pass, sum);
    pass_library(pass, "convolution/weights_in_place.glsl");
    pass_vector(pass, "weights", sum->weights, VECTOR_READ);
}

/* Weights of a pass: as they are where `matrix` is NULL. */
static void pass_weights(struct pass *pass, const struct packing *p, const struct sum *sum,
                         const struct image_view *matrix)
{
    if (matrix) {
        pass_matrix(pass, matrix);
        return;
    }
    if (!p->transposed) {
        pass_weights_in_place(pass, sum);
        return;
    }
    pass_biases_in_place(pass, sum);
    pass_define(pass, "WITH_OUTPUTS", 1);
    pass_vector_of(pass, "vec4", "weights", sum->weights, VECTOR_READ);
}

/* ---- Passes ---- */

/* The weights may be packed or not: biases are read as the user has them either way, and one program
 * serves both. */
void plan_sum_of_splits(struct plan *plan, const struct packing *p, const struct sum *sum,
                        const struct vector_view *parts, uint32_t splits)
{
    struct pass *pass = plan_pass(plan, "convolution/convolution_tiled_finish.comp");
    pass_vector_of(pass, "vec4", "parts", parts, VECTOR_READ);
    pass_biases_in_place(pass, sum);
    pass_packing(pass, p);
    pass_sum_destination(pass, sum);
    pass_int(pass, "row_count", (int32_t)row_count(sum));
    pass_int(pass, "split_count", (int32_t)splits);
    pass_grid_over(pass, sum->extent[0], sum->extent[1], "destination", &sum->destination);
    pass->work = splits * 4 + 32;
}

void plan_sum_tiles(struct plan *plan, const struct packing *p, const struct implementation *row,
                    const struct sum *sum)
{
    struct image_view packed, *matrix = NULL;
    const struct sum_shape shape = {p, sum, plan};
    const struct tile tile =
        tile_of(implementation_choose(plan, &convolution_tile_implementations, &shape), p);
    const struct splits splits =
        implementation_choose(plan, &convolution_split_implementations, &shape)->supported.holds
            ? split_elements(&shape, tile)
            : (struct splits){p->elements, 1};
    struct vector_view parts = {0};
    if (splits.count > 1)
        parts = plan_workspace_vector(plan, (size_t)splits.count * row_count(sum) * p->slices * 4);
    if (!implementation_choose(plan, &convolution_place_implementations, &shape)->supported.holds) {
        packed = plan_pack(plan, p, sum->weights, sum->biases);
        matrix = &packed;
    }
    struct pass *pass = plan_sum_pass(plan, p, row, sum);
    pass_weights(pass, p, sum, matrix);
    pass_define(pass, "ROWS", (int)tile.rows);
    pass_define(pass, "SLICES", (int)tile.slices);
    pass_define(pass, "QUADS", (int)tile.quads);
    if (splits.count > 1) {
        pass_define(pass, "SPLIT", 1);
        pass_vector_of(pass, "vec4", "parts", &parts, VECTOR_WRITE);
    }
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_int(pass, "row_count", (int32_t)row_count(sum));
    pass_int(pass, "elements_per_split", (int32_t)splits.depth);
    pass_grid(pass, groups_of(p->slices, tile.slices) * GROUP_SIZE,
              groups_of(row_count(sum), tile.rows), splits.count * pass_places(pass, sum->places));
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = splits.depth * 8 * 8 + 64;
    if (splits.count == 1)
        pass_sum_epilogue(pass, sum,
                          (struct pass_epilogue){GROUP_SIZE, pass->grid[1], tile.slices});
    else
        plan_sum_of_splits(plan, p, sum, &parts, splits.count);
}
