/* The sum over windows as a product of matrices, by tiles in shared memory: rows are the pixels of
 * all images, columns are outputs, and the sum goes over elements of the weights. Where the tiles are
 * too few to fill a GPU the elements are split, too (split-K). */
#include "desktop/convolution.h"

/* Of convolution_tiled.comp: rows and slices of a tile, and vectors of four elements that a group
 * keeps at a time: more where they are of small tiles, so that fewer reads are waited for. */
#define GROUP_SIZE    128u
#define TILE_ROWS     64u
#define NARROW_SLICES 4u
#define FEW_SLICES    8u
#define TILE_SLICES   16u
#define WIDE_SLICES   32u
#define TILE_VECTORS  4u
#define MANY_VECTORS  8u
#define TILE_DEPTH    (4 * TILE_VECTORS)

#define TILE_GROUPS   32u   /* fewer leave most of a large GPU idle */
#define FEW_ELEMENTS  64u   /* that small tiles, of which more run at a time, add up faster */
#define ENOUGH_GROUPS 384u  /* to keep the largest GPUs busy without a split */
#define SPLIT_DEPTH   128u  /* elements that make a split worth its sum */
#define LONG_RESULTS  4096u /* four numbers each, at most, and elements at least */
#define LONG_ELEMENTS 48u
#define FEW_ROWS      32u
#define SHORT_ROWS    131072u
#define FEWEST_SLICES 3u          /* for those */
#define SPLIT_BYTES   (32u << 20) /* of partial sums */

/* ---- Slices of a tile ---- */

/* Where rows are few an invocation owns sums of more slices, if groups enough are left. */
static bool has_one_row_of_tiles(const void *sum_problem)
{
    return sum_pixels(((const struct sum_problem *)sum_problem)->sum) <= TILE_ROWS;
}

static bool fills_wide_tiles(const void *sum_problem)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    uint32_t groups = groups_of(p->slices, WIDE_SLICES) * (p->elements / SPLIT_DEPTH);
    return has_one_row_of_tiles(sum_problem) && groups >= ENOUGH_GROUPS;
}

struct tile {
    uint32_t slices, vectors;
};

/* As many slices as the outputs want. */
static struct tile usual_tile(const struct packing *p)
{
    bool few = p->slices <= FEW_SLICES, many_vectors = few && p->elements > FEW_ELEMENTS;
    if (many_vectors && p->slices <= NARROW_SLICES)
        return (struct tile){NARROW_SLICES, MANY_VECTORS};
    return (struct tile){few ? FEW_SLICES : TILE_SLICES,
                         many_vectors ? MANY_VECTORS : TILE_VECTORS};
}

static struct tile wide_tile(const struct packing *p)
{
    (void)p;
    return (struct tile){WIDE_SLICES, TILE_VECTORS};
}

static struct tile full_tile(const struct packing *p)
{
    (void)p;
    return (struct tile){TILE_SLICES, TILE_VECTORS};
}

struct tile_form {
    struct tile (*tile)(const struct packing *packing);
};

const struct implementation_list glcnn_desktop_tile = {
    "convolution_tile",
    (const struct implementation[]){
        {"tile_wide",
         .profitable = {fills_wide_tiles, "at most 64 rows, and 384 groups of 32 slices"},
         .form = &(const struct tile_form){wide_tile}},
        {"tile_full", .profitable = {has_one_row_of_tiles, "at most 64 rows"},
         .form = &(const struct tile_form){full_tile}},
        {"tile_usual", .form = &(const struct tile_form){usual_tile}},
        {0}}};

static struct tile tile_of(const struct implementation *row, const struct packing *p)
{
    return ((const struct tile_form *)row->form)->tile(p);
}

/* Unless another is forced. */
static struct tile likely_tile(const struct sum_problem *problem)
{
    const struct implementation *row = glcnn_desktop_tile.rows;
    while (row->profitable.holds && !row->profitable.holds(problem))
        row++;
    return tile_of(row, problem->packing);
}

static uint32_t tile_count(const struct sum_problem *problem, struct tile tile)
{
    return groups_of(sum_pixels(problem->sum), TILE_ROWS) *
           groups_of(problem->packing->slices, tile.slices);
}

/* ---- Split-K ---- */

/* How the elements are divided. */
struct splits {
    uint32_t depth, count; /* elements of a split; splits, at least 1 */
};

/* As many as the tiles want, and not more than the elements are worth. */
static uint32_t most_splits(const struct sum_problem *problem, uint32_t wanted)
{
    const struct packing *p = problem->packing;
    uint32_t numbers = plan_workspace_vec4s(problem->plan, SPLIT_BYTES);
    uint32_t room = numbers / p->slices / sum_pixels(problem->sum);
    return problem->sum->phases ? 1 : least(least(wanted, p->elements / SPLIT_DEPTH), room);
}

static struct splits split_elements(const struct sum_problem *problem, struct tile tile)
{
    const struct packing *p = problem->packing;
    uint32_t wanted = ENOUGH_GROUPS / tile_count(problem, tile);
    uint32_t count = most_splits(problem, wanted > 2 ? wanted : 2);
    uint32_t depth = groups_of(groups_of(p->elements, count), TILE_DEPTH) * TILE_DEPTH;
    return (struct splits){depth, groups_of(p->elements, depth)};
}

static struct splits whole_elements(const struct sum_problem *problem, struct tile tile)
{
    (void)tile;
    return (struct splits){problem->packing->elements, 1};
}

static bool can_split(const void *sum_problem)
{
    return most_splits(sum_problem, 2) == 2;
}

static bool leaves_groups_idle(const void *sum_problem)
{
    return ENOUGH_GROUPS / tile_count(sum_problem, likely_tile(sum_problem)) >= 2;
}

struct splits_form {
    struct splits (*splits)(const struct sum_problem *problem, struct tile tile);
};

const struct implementation_list glcnn_desktop_tile_splits = {
    "convolution_tile_splits",
    (const struct implementation[]){
        {"tile_split_k",
         .supported = {can_split, "256 elements in one phase, and memory for two partial sums"},
         .profitable = {leaves_groups_idle, "fewer than 192 tiles"},
         .form = &(const struct splits_form){split_elements}},
        {"tile_whole_k", .form = &(const struct splits_form){whole_elements}},
        {0}}};

static uint32_t likely_groups(const struct sum_problem *problem)
{
    const struct tile tile = likely_tile(problem);
    bool splits = can_split(problem) && leaves_groups_idle(problem);
    return tile_count(problem, tile) * (splits ? split_elements(problem, tile).count : 1);
}

/* Few results of long sums: invocations that own some of them leave most of a GPU idle. */
static bool is_long(const struct packing *p, const struct sum *sum)
{
    return sum_pixels(sum) * p->slices <= LONG_RESULTS && p->elements >= LONG_ELEMENTS;
}

/* A tile that is mostly empty is no gain, but for the split of its sums, and where pixels are so few
 * that invocations which own some of them would each go through all elements. */
bool sum_fills_tiles(const void *sum_problem)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    const struct sum *sum = ((const struct sum_problem *)sum_problem)->sum;
    uint32_t fewest = sum_pixels(sum) <= SHORT_ROWS ? FEWEST_SLICES : FEW_SLICES;
    bool filled = p->slices >= fewest && sum_pixels(sum) >= FEW_ROWS &&
                  likely_groups(sum_problem) >= TILE_GROUPS;
    return filled || is_long(p, sum);
}

bool sum_is_product(const void *sum_problem)
{
    return packing_is_dense(((const struct sum_problem *)sum_problem)->packing);
}

/* ---- Weights as the user has them ---- */

/* They must lie as elements do: all inputs of an output side by side, or all outputs of an input. */
static bool can_stay(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    bool with_outputs = p->transposed && p->layer_taps == 1 && p->channels.outputs % 4 == 0 &&
                        p->channels.inputs % 4 == 0;
    return !problem->sum->phases && sum_fits_block(problem) &&
           (packing_is_in_order(p) || with_outputs);
}

/* So few tiles share what they read of the weights that packing them is not worth it. */
static bool is_read_by_few(const void *sum_problem)
{
    return sum_pixels(((const struct sum_problem *)sum_problem)->sum) <= 4 * TILE_ROWS;
}

struct layout_form {
    bool packs;
};

const struct implementation_list glcnn_desktop_tile_weights = {
    "convolution_tile_weights",
    (const struct implementation[]){
        {"tile_weights_unpacked",
         .supported = {can_stay, "one phase, and weights that lie in the order of their elements"},
         .profitable = {is_read_by_few, "at most 256 rows"},
         .form = &(const struct layout_form){false}},
        {"tile_weights_packed", .form = &(const struct layout_form){true}},
        {0}}};

void pass_biases_unpacked(struct pass *pass, const struct sum *sum)
{
    pass_define(pass, "UNPACKED", 1);
    if (!sum->biases)
        return;
    pass_define(pass, "BIASES", 1);
    pass_vector(pass, "biases", sum->biases, VECTOR_READ);
}

static void pass_unpacked_weights(struct pass *pass, const struct sum_problem *problem)
{
    pass_biases_unpacked(pass, problem->sum);
    if (problem->packing->transposed) {
        pass_define(pass, "WITH_OUTPUTS", 1);
        pass_vector_of(pass, "vec4", "weights", problem->sum->weights, VECTOR_READ);
        return;
    }
    pass_library(pass, "desktop/weights_unpacked.glsl");
    pass_vector(pass, "weights", problem->sum->weights, VECTOR_READ);
}

/* The pass of a row with its weights, which may be packed by another before it. */
static struct pass *plan_with_weights(struct plan *plan, const struct implementation *row,
                                      const struct sum_problem *problem)
{
    struct image_view matrix;
    const struct layout_form *layout =
        implementation_choose(plan, &glcnn_desktop_tile_weights, problem)->form;
    if (layout->packs)
        matrix = plan_pack(plan, problem->packing, problem->sum->weights, problem->sum->biases);
    struct pass *pass = plan_sum_pass(plan, row, problem);
    if (layout->packs)
        pass_matrix(pass, &matrix);
    else
        pass_unpacked_weights(pass, problem);
    return pass;
}

/* ---- Passes ---- */

/* The weights may be packed or not: biases are read as the user has them either way, and one program
 * serves both. */
void plan_sum_of_splits(struct plan *plan, const struct packing *p, const struct sum *sum,
                        const struct vector_view *parts, uint32_t splits)
{
    struct pass *pass = plan_pass(plan, "desktop/split_k_sum.comp");
    pass_vector_of(pass, "vec4", "partial_sums", parts, VECTOR_READ);
    pass_biases_unpacked(pass, sum);
    pass_packing(pass, p);
    pass_sum_destination(pass, sum);
    pass_int(pass, "row_count", (int32_t)sum_pixels(sum));
    pass_int(pass, "split_count", (int32_t)splits);
    pass_grid_over(pass, sum->extent[0], sum->extent[1], "destination", &sum->destination);
    pass->work = splits * 4 + 32;
}

static struct pass *plan_tiles(struct plan *plan, const struct implementation *row,
                               const struct sum_problem *problem, struct tile tile,
                               struct splits splits)
{
    const struct sum *sum = problem->sum;
    struct pass *pass = plan_with_weights(plan, row, problem);
    pass_define(pass, "SLICES", (int)tile.slices);
    pass_define(pass, "VECTORS", (int)tile.vectors);
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_int(pass, "row_count", (int32_t)sum_pixels(sum));
    pass_int(pass, "elements_per_split", (int32_t)splits.depth);
    pass_grid(pass, groups_of(problem->packing->slices, tile.slices) * GROUP_SIZE,
              groups_of(sum_pixels(sum), TILE_ROWS), splits.count * pass_phases(pass, sum->phases));
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = splits.depth * 8 * 8 + 64;
    return pass;
}

void plan_tiled(struct plan *plan, const struct implementation *row, const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    const struct sum *sum = problem->sum;
    const struct tile tile = tile_of(implementation_choose(plan, &glcnn_desktop_tile, problem), p);
    const struct splits_form *form =
        implementation_choose(plan, &glcnn_desktop_tile_splits, problem)->form;
    const struct splits splits = form->splits(problem, tile);
    if (splits.count == 1) {
        struct pass *pass = plan_tiles(plan, row, problem, tile, splits);
        pass_sum_epilogue(pass, sum,
                          (struct pass_epilogue){GROUP_SIZE, pass->grid[1], tile.slices});
        return;
    }
    struct vector_view parts =
        plan_workspace_vector(plan, (size_t)splits.count * sum_pixels(sum) * p->slices * 4);
    struct pass *pass = plan_tiles(plan, row, problem, tile, splits);
    pass_define(pass, "SPLIT", 1);
    pass_vector_of(pass, "vec4", "partial_sums", &parts, VECTOR_WRITE);
    plan_sum_of_splits(plan, p, sum, &parts, splits.count);
}
