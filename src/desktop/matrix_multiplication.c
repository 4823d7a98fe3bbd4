/* Products of matrices by tiles: a work group keeps rows and columns of both factors in shared memory,
 * from which each invocation makes elements of several. */
#include "kernels/matrix_multiplication.h"

#include "encode/kernel.h"
#include "encode/window.h"

/* Of desktop/matrix_multiplication_tiles.comp. */
#define GROUP_SIZE 128u
#define DEPTH      8

struct tile {
    uint32_t rows, columns;
};
static const struct tile wide = {32, 64}, tall = {64, 32};

static uint32_t tile_count(const struct operation *o, const struct tile *t)
{
    return groups_of(o->region_height, t->rows) * groups_of(o->region_width, t->columns);
}

static const struct tile *tile_of(const struct operation *o)
{
    return tile_count(o, &tall) < tile_count(o, &wide) ? &tall : &wide;
}

static bool fills_tiles(const void *problem)
{
    const struct product *p = problem;
    const struct operation *o = p->operation;
    const struct tile *t = tile_of(o);
    uint64_t covered = (uint64_t)tile_count(o, t) * t->rows * t->columns;
    return p->last - p->first >= DEPTH && 2ull * o->region_width * o->region_height >= covered;
}

static void plan_tiles(struct plan *plan, const struct implementation *row, const void *problem)
{
    const struct product *p = problem;
    const struct operation *o = p->operation;
    const struct tile *t = tile_of(o);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_product(pass, p);
    pass_define(pass, "ROWS", (int)t->rows);
    pass_define(pass, "COLUMNS", (int)t->columns);
    pass_int(pass, "region_x", (int32_t)o->region_x);
    pass_int(pass, "region_y", (int32_t)o->region_y);
    pass_int(pass, "region_width", (int32_t)o->region_width);
    pass_int(pass, "region_height", (int32_t)o->region_height);
    pass_grid(pass, groups_of(o->region_width, t->columns) * GROUP_SIZE,
              groups_of(o->region_height, t->rows), slice_count(p->to->channels) * p->to->images);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work *= 16;
}

const struct implementation_list glcnn_desktop_matrix_product = {
    "matrix_product",
    (const struct implementation[]){
        {"product_tiled", "desktop/matrix_multiplication_tiles.comp", 32, .shared_memory = true,
         .profitable = {fills_tiles,
                        "at least 8 products to an element, and tiles that are at least "
                        "half full"},
         .plan = plan_tiles},
        {0}}};
