/* Sums over windows of 3x3 and stride 1 by Winograd's minimal filtering, F(2x2, 3x3): tiles of 2x2 results
 * are made at 16 points, each of which is a sum over one tap with weights of its own. 4 products in place of
 * 9, for 4 times the memory that a pass reads and stores: it pays where channels are many.
 * glsl/convolution/winograd_*.comp have the formulas. */
#include "kernels/convolution_plan.h"

#define POINTS      16u
#define SIDE        4u /* of the points, which are 4x4 */
#define TILE        2u
#define SLICES      8u          /* of inputs and of outputs, from which on it pays */
#define MORE_SLICES 16u         /* the same of GPUs whose products take less beside their memory */
#define BLOCK_BYTES (32u << 20) /* of images at the points; there are two of these */
/* Operations of an invocation of a transform: V3D, Midgard and Bifrost take as long for so many of a product. */
#define INPUT_WORK  288u
#define RESULT_WORK 352u

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
static bool fits_texture(const struct plan *plan, const struct sum *sum)
{
    uint32_t most = plan->device->info.limits.texture_size / SIDE;
    return groups_of(sum->extent[0], TILE) <= most && groups_of(sum->extent[1], TILE) <= most;
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
           sum->step[1] == 1 && p->channels.inputs < LONG_SUM && fits_texture(problem->plan, sum) &&
           sum_fits_block(problem) && points_fit_block(problem->plan, p);
}

/* At least so many, and more where the last tiles have pixels beyond the result. */
static bool has_slices(const void *sum_problem, uint32_t slices)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    const uint32_t *extent = ((const struct sum_problem *)sum_problem)->sum->extent;
    uint64_t covered =
        (uint64_t)groups_of(extent[0], TILE) * groups_of(extent[1], TILE) * TILE * TILE;
    return (uint64_t)least(p->range, p->slices) * extent[0] * extent[1] >= slices * covered;
}

bool sum_gains_by_winograd(const void *sum_problem)
{
    return has_slices(sum_problem, SLICES);
}

bool wide_sum_gains_by_winograd(const void *sum_problem)
{
    return has_slices(sum_problem, MORE_SLICES);
}

/* ---- Passes ---- */

struct tiles {
    uint32_t x, y, images; /* of a block */
};

static struct tiles tiles_of(const struct plan *plan, const struct packing *p,
                             const struct sum *sum)
{
    struct tiles t = {groups_of(sum->extent[0], TILE), groups_of(sum->extent[1], TILE), 1};
    uint64_t each = (uint64_t)POINTS * t.x * t.y * (p->range > p->slices ? p->range : p->slices);
    uint64_t room = plan_workspace_vec4s(plan, BLOCK_BYTES) / each;
    t.images = least(room > 0 ? (uint32_t)room : 1, sum->destination.images);
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
    const struct tiles t = tiles_of(plan, p, sum);
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
