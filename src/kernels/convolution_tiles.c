/* The sum over windows as a product of matrices, by tiles: rows are the pixels of all images,
 * columns are outputs, and the sum goes over elements of the packed weights. Where the tiles are
 * too few to fill a GPU the elements are split, too. */
#include "kernels/convolution_plan.h"

/* Of convolution_tiled.comp: rows and slices of a tile, elements that a group keeps at a time. */
#define TILE_ROWS   128u
#define TILE_SLICES 16u
#define TILE_DEPTH  16u

#define ENOUGH_GROUPS 384u  /* to keep the largest GPUs busy without a split */
#define SPLIT_DEPTH   128u  /* elements that make a part worth its sum */
#define LONG_RESULTS  4096u /* four numbers each, at most, and elements at least */
#define LONG_ELEMENTS 512u
#define SPLIT_BYTES   (32u << 20) /* of part sums */

static uint32_t row_count(const struct sum *sum)
{
    return sum->extent[0] * sum->extent[1] * sum->destination.images;
}

static uint32_t tile_count(const struct packing *p, const struct sum *sum)
{
    return groups_of(row_count(sum), TILE_ROWS) * groups_of(p->slices, TILE_SLICES);
}

/* How the elements are shared out, of which there may be none. */
struct splits {
    uint32_t depth, count; /* elements of a split; splits, at least 1 */
};

static struct splits split_elements(const struct packing *p, const struct sum *sum)
{
    uint32_t wanted = ENOUGH_GROUPS / tile_count(p, sum);
    uint32_t room = SPLIT_BYTES / 16 / p->slices / row_count(sum);
    uint32_t count = least(least(wanted, p->elements / SPLIT_DEPTH), room);
    if (count < 2)
        return (struct splits){p->elements, 1};
    uint32_t depth = groups_of(groups_of(p->elements, count), TILE_DEPTH) * TILE_DEPTH;
    return (struct splits){depth, groups_of(p->elements, depth)};
}

/* Few results of long sums: invocations that own some of them leave most of a GPU idle. */
static bool is_long(const struct packing *p, const struct sum *sum)
{
    return row_count(sum) * p->slices <= LONG_RESULTS && p->elements >= LONG_ELEMENTS;
}

/* A tile that is mostly empty is no gain, but for the split of its sums. */
bool sum_fills_tiles(const struct packing *p, const struct sum *sum)
{
    bool filled = p->slices >= TILE_SLICES / 2 && row_count(sum) >= TILE_ROWS / 4 &&
                  tile_count(p, sum) * split_elements(p, sum).count >= TILE_GROUPS;
    return filled || is_long(p, sum);
}

static void plan_finish(struct plan *plan, const struct packing *p, const struct image_view *matrix,
                        const struct sum *sum, const struct vector_view *parts, uint32_t splits)
{
    struct pass *pass = plan_pass(plan, "convolution/convolution_tiled_finish.comp");
    pass_vector_of(pass, "vec4", "parts", parts, VECTOR_READ);
    pass_matrix(pass, matrix);
    pass_packing(pass, p);
    pass_sum_destination(pass, sum);
    pass_int(pass, "row_count", (int32_t)row_count(sum));
    pass_int(pass, "split_count", (int32_t)splits);
    pass_grid_over(pass, sum->extent[0], sum->extent[1], "destination", &sum->destination);
    pass->work = splits * 4 + 32;
}

void plan_sum_tiles(struct plan *plan, const struct packing *p, const struct variant *variant,
                    const struct image_view *matrix, const struct sum *sum)
{
    const struct splits splits = split_elements(p, sum);
    struct vector_view parts = {0};
    if (splits.count > 1)
        parts = plan_scratch_vector(plan, (size_t)splits.count * row_count(sum) * p->slices * 4);
    struct pass *pass = plan_sum_pass(plan, p, variant, matrix, sum);
    if (splits.count > 1) {
        pass_define(pass, "SPLIT", 1);
        pass_vector_of(pass, "vec4", "parts", &parts, VECTOR_WRITE);
    }
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_int(pass, "row_count", (int32_t)row_count(sum));
    pass_int(pass, "elements_per_split", (int32_t)splits.depth);
    pass_grid(pass, groups_of(row_count(sum), TILE_ROWS) * TILE_ROWS,
              groups_of(p->slices, TILE_SLICES), splits.count);
    pass_local(pass, TILE_ROWS, 1, 1);
    pass->cooperative = true;
    pass->work = splits.depth * 8 * 8 + 64;
    if (splits.count > 1)
        plan_finish(plan, p, matrix, sum, &parts, splits.count);
}
