/* Convolutions of 3x3 windows and stride 1 by Winograd's minimal filtering: tiles of 4x4 results are
 * made at 36 points, each of which is a product of matrices over channels; the gradient of weights
 * is one over tiles. glsl/convolution/winograd.glsl has the formulas. A quarter of the products, for
 * four times the memory traffic of a pass: it is profitable where channels are many. */
#include "desktop/convolution.h"

/* Of winograd.glsl, and of a group of winograd_product.comp. */
#define POINTS       36u
#define TILE         4u
#define OWNED        16u /* tiles or slices of a group of a transform */
#define GROUP_SIZE   128u
#define GROUP_ROWS   128u
#define GROUP_SLICES 16u

/* What makes it worth the traffic: slices of inputs and of outputs, tiles, and products of these. */
#define FEWEST_SLICES    16u
#define FEWEST_TILES     128u
#define FEWEST_PRODUCTS  (3u << 16)
#define SLICES_OF_SUMS   32u          /* the fewest where sums go over tiles */
#define PRODUCTS_OF_SUMS (1u << 20)   /* the fewest there */
#define BLOCK_BYTES      (128u << 20) /* of a vector at the points */
#define PART_BYTES       (32u << 20)
#define ALL_GROUPS       1024u /* fill the largest GPUs */

/* True if the weights at the points, four times as many as there are, and their partial sums fit into a block. */
static bool fits_block(const struct plan *plan, const struct packing *p)
{
    return plan_fits_block(plan,
                           (size_t)POINTS * p->slices * 4 * groups_of(p->range * 4, OWNED) * OWNED);
}

/* Tiles cover the results, with less over than there are. */
static bool fills(const struct packing *p, uint32_t width, uint32_t height, uint32_t images,
                  uint32_t products)
{
    uint32_t tiles = groups_of(width, TILE) * groups_of(height, TILE) * images;
    return least(p->slices, p->range) >= FEWEST_SLICES && tiles >= FEWEST_TILES &&
           (uint64_t)tiles * p->slices * p->range >= products &&
           2 * width * height * images > tiles * TILE * TILE;
}

/* ---- Tiles ---- */

/* The tiles of all images, numbered through, and how many are taken at a time. */
struct tiles {
    uint32_t x, y, total, block;
};

static struct tiles tiles_of(const struct plan *plan, uint32_t width, uint32_t height,
                             uint32_t images, uint32_t slices)
{
    struct tiles t = {.x = groups_of(width, TILE), .y = groups_of(height, TILE)};
    uint32_t room = plan_workspace_vec4s(plan, BLOCK_BYTES) / POINTS / slices / 4 * 4;
    t.total = t.x * t.y * images;
    t.block = least(groups_of(t.total, 4) * 4, room > 4 ? room : 4);
    return t;
}

/* Tiles from `first` on: of a block, in fours. */
static uint32_t tile_count(const struct tiles *t, uint32_t first)
{
    return least(t->block, groups_of(t->total - first, 4) * 4);
}

static void pass_tiles(struct pass *pass, const struct tiles *t, uint32_t first)
{
    pass_int(pass, "tiles_x", (int32_t)t->x);
    pass_int(pass, "tiles_y", (int32_t)t->y);
    pass_int(pass, "tile_total", (int32_t)t->total);
    pass_int(pass, "first_tile", (int32_t)first);
    pass_int(pass, "tile_count", (int32_t)tile_count(t, first));
}

/* Bytes, and not operations, decide how long an invocation of a transform takes. */
static void pass_transform(struct pass *pass, const struct implementation *row)
{
    pass_implementation(pass, row);
    pass->work = POINTS * 32;
}

/* Groups that own OWNED of `across`, and for each six invocations, which share its work. */
static void share_transform(struct pass *pass, uint32_t across, uint32_t down)
{
    pass_grid(pass, groups_of(across, OWNED) * 6 * OWNED, down, 1);
    pass_local(pass, 6 * OWNED, 1, 1);
    pass->cooperative = true;
    pass->work = POINTS * 32 / 6;
}

/* `depths` of the rows and slices are added up, in so many chunks; product number `first` on. */
struct product {
    const struct vector_view *left, *right, *to;
    uint32_t rows, slices, depths, chunks, first;
};

static void plan_product(struct plan *plan, const struct implementation *row,
                         const struct product *product)
{
    uint32_t per_chunk = groups_of(product->depths, product->chunks);
    struct pass *pass = plan_pass(plan, "desktop/winograd_product.comp");
    pass_implementation(pass, row);
    pass_vector_of(pass, "vec4", "left", product->left, VECTOR_READ);
    pass_vector_of(pass, "vec4", "right", product->right, VECTOR_READ);
    pass_vector_of(pass, "vec4", "products", product->to, VECTOR_WRITE);
    pass_int(pass, "vector_count", (int32_t)product->rows / 4);
    pass_int(pass, "slice_total", (int32_t)product->slices);
    pass_int(pass, "depth_count", (int32_t)product->depths);
    pass_int(pass, "depths_per_chunk", (int32_t)per_chunk);
    pass_int(pass, "first_product", (int32_t)product->first);
    pass_grid(pass, groups_of(product->slices, GROUP_SLICES) * GROUP_SIZE,
              groups_of(product->rows, GROUP_ROWS), POINTS * product->chunks);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = per_chunk * 8 * 8 + 64;
}

/* ---- Forward, and the data gradient ---- */

bool sum_is_winograd(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct sum *sum = problem->sum;
    return is_window_of_three(problem->packing, &sum->window) && sum->step[0] == 1 &&
           sum->step[1] == 1 && fits_block(problem->plan, problem->packing);
}

bool sum_fills_winograd(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct sum *sum = problem->sum;
    return fills(problem->packing, sum->extent[0], sum->extent[1], sum->destination.images,
                 FEWEST_PRODUCTS);
}

static struct vector_view plan_points_of_weights(struct plan *plan, const struct packing *p,
                                                 const struct implementation *row,
                                                 const struct vector_view *weights)
{
    struct vector_view points =
        plan_workspace_vector(plan, (size_t)POINTS * p->range * 4 * p->slices * 4);
    struct pass *pass = plan_pass(plan, "desktop/winograd_weights.comp");
    pass_transform(pass, row);
    pass_vector(pass, "weights", weights, VECTOR_READ);
    pass_vector_of(pass, "vec4", "points", &points, VECTOR_WRITE);
    pass_weight_index(pass, p);
    pass_int(pass, "input_count", (int32_t)p->range * 4);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    pass_grid(pass, p->range * 4, p->slices, 1);
    pass_local(pass, 8, 16, 1);
    return points;
}

static void plan_inputs(struct plan *plan, const struct packing *p,
                        const struct implementation *row, const struct sum *sum,
                        const struct tiles *t, uint32_t first, const struct vector_view *points)
{
    struct pass *pass = plan_pass(plan, "desktop/winograd_inputs.comp");
    pass_transform(pass, row);
    pass_texture(pass, "source", &sum->source);
    pass_vector(pass, "points", points, VECTOR_WRITE);
    pass_int(pass, "first_x", sum->window.x.first);
    pass_int(pass, "first_y", sum->window.y.first);
    pass_sum(pass, sum);
    pass_tiles(pass, t, first);
    share_transform(pass, tile_count(t, first), p->range);
}

static void plan_results(struct plan *plan, const struct packing *p,
                         const struct implementation *row, const struct sum *sum,
                         const struct tiles *t, uint32_t first, const struct vector_view *product)
{
    struct pass *pass = plan_pass(plan, "desktop/winograd_results.comp");
    pass_transform(pass, row);
    pass_vector_of(pass, "vec4", "products", product, VECTOR_READ);
    pass_biases_unpacked(pass, sum);
    pass_sum_destination(pass, sum);
    pass_tiles(pass, t, first);
    share_transform(pass, tile_count(t, first), p->slices);
}

void plan_winograd(struct plan *plan, const struct implementation *row, const void *sum_problem)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    const struct sum *sum = ((const struct sum_problem *)sum_problem)->sum;
    uint32_t most = p->range > p->slices ? p->range : p->slices;
    const struct tiles t =
        tiles_of(plan, sum->extent[0], sum->extent[1], sum->destination.images, most);
    struct vector_view weights = plan_points_of_weights(plan, p, row, sum->weights);
    struct vector_view inputs =
        plan_workspace_vector(plan, (size_t)POINTS * p->range * 4 * t.block);
    struct vector_view results =
        plan_workspace_vector(plan, (size_t)POINTS * p->slices * 4 * groups_of(t.block, 16) * 16);
    for (uint32_t first = 0; first < t.total; first += t.block) {
        plan_inputs(plan, p, row, sum, &t, first, &inputs);
        plan_product(plan, row,
                     &(struct product){.left = &inputs,
                                       .right = &weights,
                                       .to = &results,
                                       .rows = tile_count(&t, first),
                                       .slices = p->slices,
                                       .depths = p->range * 4,
                                       .chunks = 1});
        plan_results(plan, p, row, sum, &t, first, &results);
    }
}

/* ---- The gradient of weights ---- */

bool weights_are_winograd(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    return is_window_of_three(&problem->packing, &problem->operation->window) &&
           fits_block(problem->plan, &problem->packing);
}

bool weights_fill_winograd(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct operation *o = problem->operation;
    const struct packing *p = &problem->packing;
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t width = (uint32_t)(x->end - x->begin), height = (uint32_t)(y->end - y->begin);
    return least(p->slices, p->range) >= SLICES_OF_SUMS &&
           fills(p, width, height, o->images[GRADIENT].images, PRODUCTS_OF_SUMS);
}

/* What the sums over tiles are made of. */
struct deep {
    struct tiles tiles;
    struct vector_view inputs, gradients, sums; /* sums: of each tile of the gradient */
    uint32_t chunks;                            /* of a block */
};

static void plan_deep_inputs(const struct operation *o, struct plan *plan, const struct packing *p,
                             const struct implementation *row, const struct deep *d, uint32_t first)
{
    const struct image_view *source = &o->images[IMAGE];
    const struct window *w = &o->window;
    struct pass *pass = plan_pass(plan, "desktop/winograd_inputs.comp");
    pass_transform(pass, row);
    pass_define(pass, "TILES_DEEP", 1);
    pass_texture(pass, "source", source);
    pass_vector_of(pass, "vec4", "points", &d->inputs, VECTOR_WRITE);
    pass_int(pass, "first_x", w->x.first + w->x.begin);
    pass_int(pass, "first_y", w->y.first + w->y.begin);
    pass_int(pass, "low_x", 0);
    pass_int(pass, "low_y", 0);
    pass_int(pass, "high_x", (int32_t)source->width - 1);
    pass_int(pass, "high_y", (int32_t)source->height - 1);
    if (w->edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    pass_tiles(pass, &d->tiles, first);
    share_transform(pass, p->range, tile_count(&d->tiles, first));
}

static void plan_deep_gradients(const struct operation *o, struct plan *plan,
                                const struct packing *p, const struct implementation *row,
                                const struct deep *d, uint32_t first)
{
    const struct window *w = &o->window;
    struct pass *pass = plan_pass(plan, "desktop/winograd_gradients.comp");
    pass_transform(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_vector_of(pass, "vec4", "points", &d->gradients, VECTOR_WRITE);
    pass_vector_of(pass, "vec4", "sums", &d->sums, VECTOR_WRITE);
    pass_results(pass, w);
    pass_tiles(pass, &d->tiles, first);
    share_transform(pass, p->slices, tile_count(&d->tiles, first));
}

static struct deep begin_deep(const struct operation *o, struct plan *plan, const struct packing *p)
{
    const struct axis *x = &o->window.x, *y = &o->window.y;
    uint32_t most = p->range > p->slices ? p->range : p->slices;
    uint32_t width = (uint32_t)(x->end - x->begin), height = (uint32_t)(y->end - y->begin);
    struct deep d = {.tiles = tiles_of(plan, width, height, o->images[GRADIENT].images, most)};
    uint32_t groups =
        POINTS * groups_of(p->range * 4, GROUP_ROWS) * groups_of(p->slices, GROUP_SLICES);
    uint32_t numbers = plan_workspace_vec4s(plan, PART_BYTES);
    uint32_t room = numbers / POINTS / (p->range * 4) / p->slices;
    d.chunks = least(groups_of(ALL_GROUPS, groups), groups_of(d.tiles.block, GROUP_ROWS));
    d.chunks = least(d.chunks, room > 0 ? room : 1);
    d.inputs = plan_workspace_vector(plan, (size_t)POINTS * p->range * 4 * d.tiles.block);
    d.gradients = plan_workspace_vector(plan, (size_t)POINTS * p->slices * 4 * d.tiles.block);
    d.sums = plan_workspace_vector(plan, ((size_t)d.tiles.total + 3) * p->slices * 4);
    return d;
}

static void plan_deep_sum(const struct operation *o, struct plan *plan, const struct packing *p,
                          const struct implementation *row, const struct partial_sums *parts,
                          const struct deep *d)
{
    struct pass *pass = plan_pass(plan, "desktop/winograd_gradient_sum.comp");
    pass_transform(pass, row);
    pass_vector_of(pass, "vec4", "products", &parts->vector, VECTOR_READ);
    pass_vector_of(pass, "vec4", "sums", &d->sums, VECTOR_READ);
    pass_gradients(pass, "float", o);
    pass_weight_index(pass, p);
    pass_int(pass, "input_count", (int32_t)p->range * 4);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    pass_int(pass, "chunk_count", (int32_t)parts->chunks);
    pass_int(pass, "tile_total", (int32_t)d->tiles.total);
    share_transform(pass, p->range * 4 + OWNED, p->slices);
    pass->work += parts->chunks * POINTS;
}

void plan_weights_winograd(struct plan *plan, const struct implementation *row,
                           const void *weights_problem)
{
    const struct operation *o = ((const struct weights_problem *)weights_problem)->operation;
    const struct packing *p = &((const struct weights_problem *)weights_problem)->packing;
    const struct deep d = begin_deep(o, plan, p);
    uint32_t blocks = groups_of(d.tiles.total, d.tiles.block);
    struct partial_sums parts = {.chunks = blocks * d.chunks,
                                 .numbers = POINTS * p->slices * groups_of(p->range * 4, 16) * 16};
    parts.vector = plan_workspace_vector(plan, (size_t)parts.chunks * parts.numbers * 4);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t first = b * d.tiles.block;
        plan_deep_inputs(o, plan, p, row, &d, first);
        plan_deep_gradients(o, plan, p, row, &d, first);
        plan_product(plan, row,
                     &(struct product){.left = &d.inputs,
                                       .right = &d.gradients,
                                       .to = &parts.vector,
                                       .rows = p->range * 4,
                                       .slices = p->slices,
                                       .depths = tile_count(&d.tiles, first),
                                       .chunks = d.chunks,
                                       .first = b * d.chunks * POINTS});
    }
    merge_partial_sums(plan, &parts);
    plan_deep_sum(o, plan, p, row, &parts, &d);
}
