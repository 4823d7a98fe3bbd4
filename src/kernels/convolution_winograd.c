/* Sums over windows of 3x3 and stride 1 by Winograd's minimal filtering, F(2x2, 3x3): tiles of 2x2 results
 * are made at 16 points, each of which is a sum over one tap with weights of its own. 4 products in place of
 * 9, for 4 times the memory that a pass reads and stores: it pays where channels are many. The gradient of
 * weights is the same transposed: a sum over tiles at each point.
 * glsl/convolution/winograd_*.comp have the formulas. */
#include "kernels/convolution_plan.h"

#define POINTS      16u
#define SIDE        4u /* of the points, which are 4x4 */
#define TILE        2u
#define SLICES      8u          /* of inputs and of outputs, from which on it pays */
#define FEW_SLICES  4u          /* the same of gradients of weights, whose own loop reads more */
#define MORE_SLICES 16u         /* the same of GPUs whose products take less beside their memory */
#define BLOCK_BYTES (32u << 20) /* of images at the points; there are two of these */
#define CHUNK_BYTES (16u << 20) /* of partial sums, unless one chunk takes more */
/* Operations of an invocation of a transform: V3D, Midgard and Bifrost take as long for so many of a product. */
#define INPUT_WORK    288u
#define RESULT_WORK   352u
#define GRADIENT_WORK 512u

/* The products at the points: sums over one tap, the slices of each point behind those of the one before. */
static struct packing packing_of_points(const struct packing *p)
{
    struct packing points = *p;
    const struct taps one = {0, 1, 1};
    packing_set_taps(&points, one, one);
    points.slices *= POINTS;
    return points;
}

static bool points_fit_block(const struct plan *plan, const struct packing *p)
{
    const struct packing points = packing_of_points(p);
    return plan_fits_block(plan, packed_numbers(&points));
}

/* The points of an image, 4x4 beside each other. */
static bool fits_texture(const struct plan *plan, const uint32_t extent[2])
{
    uint32_t most = plan->device->info.limits.texture_size / SIDE;
    return groups_of(extent[0], TILE) <= most && groups_of(extent[1], TILE) <= most;
}

bool is_window_of_three(const struct packing *p, const struct window *w)
{
    return packing_is_dense(p) && p->x.count == 3 && p->y.count == 3 && is_dense(&w->x) &&
           is_dense(&w->y);
}

bool sum_takes_winograd(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    const struct sum *sum = problem->sum;
    return is_window_of_three(p, &sum->window) && !sum->phases && sum->step[0] == 1 &&
           sum->step[1] == 1 && p->channels.inputs < LONG_SUM &&
           fits_texture(problem->plan, sum->extent) && sum_fits_block(problem) &&
           points_fit_block(problem->plan, p);
}

/* At least so many, and more where the last tiles have pixels beyond the result. */
static bool has_slices(const struct packing *p, const uint32_t extent[2], uint32_t slices)
{
    uint64_t covered =
        (uint64_t)groups_of(extent[0], TILE) * groups_of(extent[1], TILE) * TILE * TILE;
    return (uint64_t)least(p->range, p->slices) * extent[0] * extent[1] >= slices * covered;
}

bool sum_gains_by_winograd(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    return has_slices(problem->packing, problem->sum->extent, SLICES);
}

bool wide_sum_gains_by_winograd(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    return has_slices(problem->packing, problem->sum->extent, MORE_SLICES);
}

/* ---- Passes ---- */

struct tiles {
    uint32_t x, y, images; /* of a block */
};

static struct tiles tiles_of(const struct plan *plan, const struct packing *p,
                             const uint32_t extent[2], uint32_t images)
{
    struct tiles t = {groups_of(extent[0], TILE), groups_of(extent[1], TILE), 1};
    uint64_t each = (uint64_t)POINTS * t.x * t.y * (p->range > p->slices ? p->range : p->slices);
    uint64_t room = plan_workspace_vec4s(plan, BLOCK_BYTES) / each;
    t.images = least(room > 0 ? (uint32_t)room : 1, images);
    return t;
}

/* Weights at the points: one of both, by the form of the row. */
struct packed_weights {
    struct image_view matrix;
    struct vector_view vector;
};

static void pass_packed_weights(struct pass *pass, const struct packed_weights *packed)
{
    if (packed->matrix.storage)
        pass_matrix(pass, &packed->matrix);
    else
        pass_packed_vector(pass, &packed->vector, VECTOR_READ);
}

static struct packed_weights plan_weights_at_points(struct plan *plan,
                                                    const struct implementation *row,
                                                    const struct packing *p, const struct sum *sum)
{
    const struct sum_form *form = row->form;
    const struct packing points = packing_of_points(p);
    struct packing window = *p;
    struct packed_weights packed = {0};
    if (form->buffer)
        packed.vector = plan_workspace_vector(plan, packed_numbers(&points));
    else
        packed.matrix = plan_packed_matrix(plan, &points);
    struct pass *pass = plan_pass(plan, "convolution/winograd_weights.comp");
    pass_implementation(pass, row);
    window.elements = points.elements;
    pass_weight_index(pass, &window);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    pass_vector(pass, "weights", sum->weights, VECTOR_READ);
    if (sum->biases) {
        pass_define(pass, "BIASES", 1);
        pass_vector(pass, "biases", sum->biases, VECTOR_READ);
    }
    if (form->buffer) {
        pass_packed_vector(pass, &packed.vector, VECTOR_WRITE);
    } else {
        pass_image(pass, "matrix", &packed.matrix);
        if (packed.matrix.height == 1)
            pass_define(pass, "ONE_ROW", 1);
    }
    pass_grid(pass, points.elements + 1, 1, SIDE * p->slices);
    return packed;
}

/* An invocation takes `pixels` tiles of a row. */
static void pass_tiles(struct pass *pass, const struct implementation *row, const struct tiles *t,
                       uint32_t pixels, uint32_t images, uint32_t layers)
{
    pass_implementation(pass, row);
    pass_int(pass, "tiles_x", (int32_t)t->x);
    pass_int(pass, "tiles_y", (int32_t)t->y);
    pass_grid(pass, groups_of(t->x, pixels), t->y * images, layers);
    pass_batch_axis(pass, 1);
}

static void plan_inputs(struct plan *plan, const struct implementation *row,
                        const struct packing *p, const struct sum *sum, const struct tiles *t,
                        uint32_t first, const struct image_view *inputs)
{
    struct pass *pass = plan_pass(plan, "convolution/winograd_inputs.comp");
    pass_texture(pass, "source", &sum->source);
    pass_image(pass, "points", inputs);
    pass_int(pass, "first_x", sum->window.x.first);
    pass_int(pass, "first_y", sum->window.y.first);
    pass_int(pass, "first_image", (int32_t)first);
    pass_sum(pass, sum);
    pass_tiles(pass, row, t, 1, inputs->images, SIDE * p->range);
    pass->work = INPUT_WORK;
}

static void plan_products(struct plan *plan, const struct implementation *row,
                          const struct packing *p, const struct packed_weights *packed,
                          const struct tiles *t, const struct image_view *inputs,
                          const struct image_view *products)
{
    const struct sum_form *form = row->form;
    const struct packing points = packing_of_points(p);
    uint32_t pixels = least(form->pixels, t->x);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_texture(pass, "inputs", inputs);
    pass_packing(pass, &points);
    pass_packed_weights(pass, packed);
    pass_image(pass, "products", products);
    pass_define(pass, "PIXELS", (int)pixels);
    pass_tiles(pass, row, t, pixels, inputs->images, points.slices);
    pass->work = (points.elements + 1) * pixels * 8;
}

static void plan_results(struct plan *plan, const struct implementation *row,
                         const struct packing *p, const struct sum *sum, const struct tiles *t,
                         uint32_t first, const struct image_view *products)
{
    struct pass *pass = plan_pass(plan, "convolution/winograd_results.comp");
    pass_texture(pass, "sums", products);
    pass_sum_destination(pass, sum);
    pass_int(pass, "first_image", (int32_t)first);
    pass_tiles(pass, row, t, 1, products->images, p->slices);
    pass->work = RESULT_WORK;
}

void plan_sum_winograd(struct plan *plan, const struct implementation *row, const void *sum_problem)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    const struct sum *sum = ((const struct sum_problem *)sum_problem)->sum;
    const struct tiles t = tiles_of(plan, p, sum->extent, sum->destination.images);
    const struct packed_weights packed = plan_weights_at_points(plan, row, p, sum);
    struct extent extent = {SIDE * t.x, SIDE * t.y, p->channels.inputs, t.images};
    struct image_view inputs = plan_scratch_image(plan, extent);
    extent.channels = p->channels.outputs;
    struct image_view products = plan_scratch_image(plan, extent);
    for (uint32_t first = 0; first < sum->destination.images; first += t.images) {
        inputs.images = products.images = least(sum->destination.images - first, t.images);
        plan_inputs(plan, row, p, sum, &t, first, &inputs);
        plan_products(plan, row, p, &packed, &t, &inputs, &products);
        plan_results(plan, row, p, sum, &t, first, &products);
    }
}

/* ---- The gradient of weights ---- */

/* The results that the gradient has been given for. */
static void extent_of_gradient(const struct operation *o, uint32_t extent[2])
{
    const struct window *w = &o->window;
    extent[0] = (uint32_t)(w->x.end - w->x.begin);
    extent[1] = (uint32_t)(w->y.end - w->y.begin);
}

bool weights_take_winograd(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    uint32_t extent[2];
    extent_of_gradient(problem->operation, extent);
    return is_window_of_three(&problem->packing, &problem->operation->window) &&
           fits_texture(problem->plan, extent) &&
           points_fit_block(problem->plan, &problem->packing);
}

bool weights_gain_by_winograd(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    uint32_t extent[2];
    extent_of_gradient(problem->operation, extent);
    return has_slices(&problem->packing, extent, FEW_SLICES);
}

bool wide_weights_gain_by_winograd(const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    uint32_t extent[2];
    extent_of_gradient(problem->operation, extent);
    return has_slices(&problem->packing, extent, MORE_SLICES);
}

/* Rows of tiles are divided among chunks, so many of each block of images. */
struct division {
    struct tiles tiles;
    uint32_t inputs; /* slices of them that an invocation has */
    uint32_t rows_per_chunk, chunks, blocks;
};

static struct division divide(const struct weights_problem *problem,
                              const struct weights_form *form)
{
    const struct packing *p = &problem->packing;
    const struct packing points = packing_of_points(p);
    uint32_t extent[2], images = problem->operation->images[GRADIENT].images;
    extent_of_gradient(problem->operation, extent);
    struct division d = {.tiles = tiles_of(problem->plan, p, extent, images),
                         .inputs = form->pairs ? 2 : 1};
    d.blocks = groups_of(images, d.tiles.images);
    uint32_t rows = d.tiles.y * d.tiles.images, products = d.tiles.x * d.inputs * 4;
    uint32_t invocations = points.slices * groups_of(p->range, d.inputs);
    uint32_t room = plan_workspace_vec4s(problem->plan, CHUNK_BYTES) /
                    (points.slices * (points.elements + 1)) / d.blocks;
    uint32_t by_count = groups_of(form->chunk.invocations, invocations);
    uint32_t by_work = groups_of(rows * products, form->chunk.products);
    uint32_t chunks = least(least(by_count, by_work), room ? room : 1);
    d.rows_per_chunk = groups_of(rows, chunks);
    d.chunks = groups_of(rows, d.rows_per_chunk);
    return d;
}

static void plan_gradients(struct plan *plan, const struct implementation *row,
                           const struct weights_problem *problem, const struct tiles *t,
                           uint32_t first, const struct image_view *gradients)
{
    struct pass *pass = plan_pass(plan, "convolution/winograd_gradients.comp");
    pass_texture(pass, "gradient", &problem->operation->images[GRADIENT]);
    pass_image(pass, "points", gradients);
    pass_results(pass, &problem->operation->window);
    pass_int(pass, "first_image", (int32_t)first);
    pass_tiles(pass, row, t, 1, gradients->images, problem->packing.slices);
    pass->work = GRADIENT_WORK;
}

static void plan_gradient_products(struct plan *plan, const struct implementation *row,
                                   const struct packing *p, const struct division *d,
                                   uint32_t block, const struct image_view *inputs,
                                   const struct image_view *gradients,
                                   const struct vector_view *partial_sums)
{
    const struct packing points = packing_of_points(p);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "inputs", inputs);
    pass_texture(pass, "gradients", gradients);
    pass_vector_of(pass, "vec4", "partial_sums", partial_sums, VECTOR_WRITE);
    pass_int(pass, "range", (int32_t)p->range);
    pass_int(pass, "element_count", (int32_t)points.elements);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    pass_int(pass, "tiles_x", (int32_t)d->tiles.x);
    pass_int(pass, "tiles_y", (int32_t)d->tiles.y);
    pass_int(pass, "first_chunk", (int32_t)(block * d->chunks));
    pass_int(pass, "rows_per_chunk", (int32_t)d->rows_per_chunk);
    pass_int(pass, "row_total", (int32_t)(d->tiles.y * inputs->images));
    pass_define(pass, "SLICES", (int)d->inputs);
    pass_grid(pass, d->chunks, POINTS + 1, p->slices * groups_of(p->range, d->inputs));
    pass_batch_axis(pass, 0);
    pass->work = d->rows_per_chunk * d->tiles.x * d->inputs * 4 * 8;
}

/* Makes the gradients of the window of those at the points, as partial sums of a single chunk. */
static struct partial_sums plan_gradient_results(struct plan *plan,
                                                 const struct implementation *row,
                                                 struct partial_sums *points)
{
    const struct packing *p = &points->problem->packing;
    const uint32_t each = packing_of_points(p).elements;
    struct partial_sums sums = {
        .problem = points->problem, .chunks = 1, .numbers = p->slices * (p->elements + 1)};
    sums.vector = plan_workspace_vector(plan, (size_t)sums.numbers * 4);
    merge_partial_sums(plan, points);
    struct pass *pass = plan_pass(plan, "convolution/winograd_gradient_results.comp");
    pass_implementation(pass, row);
    pass_vector_of(pass, "vec4", "partial_sums", &points->vector, VECTOR_READ);
    pass_vector_of(pass, "vec4", "sums", &sums.vector, VECTOR_WRITE);
    pass_int(pass, "element_count", (int32_t)each);
    pass_int(pass, "slice_total", (int32_t)p->slices);
    pass_int(pass, "chunk_count", (int32_t)points->chunks);
    pass_grid(pass, each + 1, 3, p->slices);
    pass->work = 12 * (points->chunks * 4 + 16);
    return sums;
}

void plan_weights_winograd_points(struct plan *plan, const struct implementation *row,
                                  const void *weights_problem)
{
    const struct weights_problem *problem = weights_problem;
    const struct operation *o = problem->operation;
    const struct packing *p = &problem->packing;
    const struct image_view *source = &o->images[IMAGE];
    const struct division d = divide(problem, row->form);
    const struct packing at_points = packing_of_points(p);
    struct sum sum = {.source = *source,
                      .window = o->window,
                      .high = {(int32_t)source->width - 1, (int32_t)source->height - 1}};
    sum.window.x.first += o->window.x.begin;
    sum.window.y.first += o->window.y.begin;
    struct partial_sums points = {.problem = problem,
                                  .chunks = d.blocks * d.chunks,
                                  .numbers = at_points.slices * (at_points.elements + 1)};
    points.vector = plan_workspace_vector(plan, (size_t)points.chunks * points.numbers * 4);
    struct extent extent = {SIDE * d.tiles.x, SIDE * d.tiles.y, p->channels.inputs, d.tiles.images};
    struct image_view inputs = plan_scratch_image(plan, extent);
    extent.channels = p->channels.outputs;
    struct image_view gradients = plan_scratch_image(plan, extent);
    for (uint32_t block = 0; block < d.blocks; block++) {
        uint32_t first = block * d.tiles.images;
        inputs.images = gradients.images =
            least(o->images[GRADIENT].images - first, d.tiles.images);
        plan_inputs(plan, row, p, &sum, &d.tiles, first, &inputs);
        plan_gradients(plan, row, problem, &d.tiles, first, &gradients);
        plan_gradient_products(plan, row, p, &d, block, &inputs, &gradients, &points.vector);
    }
    const struct partial_sums sums = plan_gradient_results(plan, row, &points);
    implementation_plan(plan, &convolution_partial_sum_implementations, &sums);
}
