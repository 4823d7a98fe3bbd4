/* Fully connected layers and their gradients as products of matrices, by tiles: where weights are
 * many, and read and stored as they are. */
#include "desktop/convolution.h"

/* Of all three shaders. Few values are kept at a time: groups enough then share a processor. */
#define GROUP_SIZE   128u
#define TILE_ROWS    64u /* images */
#define TILE_COLUMNS 32u /* slices of the result, or of the data gradient */
#define TILE_DEPTH   8u  /* elements, or outputs */
#define TILE_VECTORS 32u /* of inputs */
#define TILE_SLICES  16u /* of outputs */
#define TILE_IMAGES  8u

/* Of a result and a data gradient: fewer images are faster by invocations that own some pixels, and
 * of more packed weights are read often enough. */
#define FEWEST_IMAGES 8u
#define MOST_IMAGES   512u
#define FEWEST_GROUPS 256u
#define ENOUGH_GROUPS 384u /* to keep the largest GPUs busy */
#define WEIGHT_GROUPS 128u
#define SPLIT_DEPTH   128u        /* elements, or outputs, that make a split worth its sum */
#define SPLIT_BYTES   (32u << 20) /* of partial sums */

/* Weights of an output that lie side by side: a tile of longer rows reads from so many pages of memory
 * at a time that it waits for those. */
#define MOST_ELEMENTS 8192u

static bool has_vectors(const struct packing *p)
{
    return packing_is_dense(p) && p->channels.inputs % 4 == 0;
}

/* How many tiles share a sum over `elements`: each gets so many. */
static uint32_t split_depth(uint32_t tiles, uint32_t elements)
{
    uint32_t wanted = least(ENOUGH_GROUPS / tiles, elements / SPLIT_DEPTH);
    return groups_of(groups_of(elements, wanted ? wanted : 1), TILE_DEPTH) * TILE_DEPTH;
}

/* ---- Results ---- */

static uint32_t sum_tiles(const struct packing *p, const struct sum *sum)
{
    return groups_of(p->slices, TILE_COLUMNS) * groups_of(sum_pixels(sum), TILE_ROWS);
}

bool sum_reads_inside(const void *sum_problem)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    const struct sum *sum = ((const struct sum_problem *)sum_problem)->sum;
    return sum_reads_vectors(sum_problem) && p->channels.inputs % TILE_DEPTH == 0 &&
           windows_stay_inside(&sum->window.x, sum->extent[0], sum->low[0], sum->high[0]) &&
           windows_stay_inside(&sum->window.y, sum->extent[1], sum->low[1], sum->high[1]);
}

bool sum_fills_unpacked_tiles(const void *sum_problem)
{
    const struct sum_problem *problem = sum_problem;
    const struct packing *p = problem->packing;
    const struct sum *sum = problem->sum;
    uint32_t rows = sum_pixels(sum), tiles = sum_tiles(p, sum);
    uint32_t splits = groups_of(p->elements, split_depth(tiles, p->elements));
    return rows >= FEWEST_IMAGES && rows <= MOST_IMAGES && p->elements <= MOST_ELEMENTS &&
           tiles * (p->elements / SPLIT_DEPTH) >= FEWEST_GROUPS &&
           splits <= plan_workspace_vec4s(problem->plan, SPLIT_BYTES) / p->slices / rows;
}

static void pass_rows(struct pass *pass, const struct packing *p, const struct sum *sum)
{
    pass_texture(pass, "source", &sum->source);
    pass_axes(pass, &sum->window);
    pass_int(pass, "stride_x", sum->window.x.stride);
    pass_int(pass, "dilation_x", sum->window.x.dilation);
    pass_int(pass, "region_width", (int32_t)sum->extent[0]);
    pass_int(pass, "region_height", (int32_t)sum->extent[1]);
    pass_int(pass, "row_count", (int32_t)sum_pixels(sum));
    pass_vector_of(pass, "vec4", "weights", sum->weights, VECTOR_READ);
    pass_int(pass, "result_slices", (int32_t)p->slices);
    pass_int(pass, "output_count", (int32_t)p->channels.outputs);
}

void plan_tiled_unpacked(struct plan *plan, const struct implementation *row,
                         const void *sum_problem)
{
    const struct packing *p = ((const struct sum_problem *)sum_problem)->packing;
    const struct sum *sum = ((const struct sum_problem *)sum_problem)->sum;
    uint32_t depth = split_depth(sum_tiles(p, sum), p->elements);
    uint32_t splits = groups_of(p->elements, depth);
    struct vector_view parts =
        plan_workspace_vector(plan, (size_t)splits * sum_pixels(sum) * p->slices * 4);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_rows(pass, p, sum);
    pass_vector_of(pass, "vec4", "partial_sums", &parts, VECTOR_WRITE);
    pass_int(pass, "vector_count", (int32_t)(p->elements / 4));
    pass_int(pass, "vectors_per_split", (int32_t)(depth / 4));
    pass_grid(pass, groups_of(p->slices, TILE_COLUMNS) * GROUP_SIZE,
              groups_of(sum_pixels(sum), TILE_ROWS), splits);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = depth * 8 * 8 + 64;
    plan_sum_of_splits(plan, p, sum, &parts, splits);
}

/* ---- Data ---- */

static uint32_t column_count(const struct operation *o)
{
    return o->region_width * o->region_height * slice_count(o->images[DESTINATION].channels);
}

static uint32_t data_tiles(const struct operation *o)
{
    return groups_of(column_count(o), TILE_COLUMNS) *
           groups_of(o->images[DESTINATION].images, TILE_ROWS);
}

bool connected_data_has_vectors(const void *operation)
{
    struct packing p = packing_of(operation, false);
    const struct operation *o = operation;
    size_t block = o->device->info.limits.storage_block_size / 4;
    return has_vectors(&p) && p.channels.outputs % 4 == 0 &&
           o->vectors[GRADIENT_WEIGHTS].count <= block;
}

bool connected_data_fills_tiles(const void *operation)
{
    const struct operation *o = operation;
    uint32_t images = o->images[DESTINATION].images;
    return images >= FEWEST_IMAGES && images <= MOST_IMAGES &&
           data_tiles(o) * (convolution_channels(o).outputs / SPLIT_DEPTH) >= FEWEST_GROUPS;
}

/* Along one axis: all pixels of the region lie below the window. */
static bool is_inside(const struct axis *axis, uint32_t origin, uint32_t extent)
{
    int64_t first = (int64_t)origin + axis->shift;
    return first >= 0 && first + extent <= axis->size;
}

/* Whatever a tile reads counts. */
static bool is_whole(const struct operation *o)
{
    return convolution_channels(o).outputs % TILE_DEPTH == 0 &&
           is_inside(&o->window.x, o->region_x, o->region_width) &&
           is_inside(&o->window.y, o->region_y, o->region_height);
}

static void pass_data_tiles(struct pass *pass, const struct operation *o, uint32_t depth)
{
    const struct window *w = &o->window;
    uint32_t outputs = convolution_channels(o).outputs;
    if (is_whole(o))
        pass_define(pass, "WHOLE", 1);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_vector_of(pass, "vec4", "weights", &o->vectors[GRADIENT_WEIGHTS], VECTOR_READ);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "shift_x", w->x.shift);
    pass_int(pass, "shift_y", w->y.shift);
    pass_int(pass, "kernel_width", w->x.size);
    pass_int(pass, "kernel_height", w->y.size);
    pass_region(pass, o);
    pass_int(pass, "destination_slices", (int32_t)slice_count(o->images[DESTINATION].channels));
    pass_int(pass, "column_count", (int32_t)column_count(o));
    pass_int(pass, "weight_columns",
             w->x.size * w->y.size * (int32_t)slice_count(convolution_channels(o).inputs));
    pass_int(pass, "output_count", (int32_t)outputs);
    pass_int(pass, "outputs_per_split", (int32_t)depth);
    pass_grid(pass, groups_of(column_count(o), TILE_COLUMNS) * GROUP_SIZE,
              groups_of(o->images[DESTINATION].images, TILE_ROWS), groups_of(outputs, depth));
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = depth * 8 * 8 + 64;
}

void plan_connected_data_tiled(struct plan *plan, const struct implementation *row,
                               const void *operation)
{
    const struct operation *o = operation;
    static const struct glcnn_neuron_descriptor none = {0};
    const struct packing p = packing_of(o, true);
    const struct sum sum = {.destination = o->images[DESTINATION],
                            .origin = {o->region_x, o->region_y},
                            .extent = {o->region_width, o->region_height},
                            .step = {1, 1},
                            .neuron = &none};
    uint32_t depth = split_depth(data_tiles(o), convolution_channels(o).outputs);
    uint32_t splits = groups_of(convolution_channels(o).outputs, depth);
    struct vector_view parts = plan_workspace_vector(plan, (size_t)splits * column_count(o) *
                                                               o->images[DESTINATION].images * 4);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_vector_of(pass, "vec4", "partial_sums", &parts, VECTOR_WRITE);
    pass_data_tiles(pass, o, depth);
    plan_sum_of_splits(plan, &p, &sum, &parts, splits);
}

#define FEWEST_CONVOLVED 32u /* images that make tiles of a convolution worth it, and channels */
#define FEWEST_CHANNELS  64u
#define ENOUGH_PIXELS    (1u << 17) /* of all images */

bool connected_has_one_pixel(const void *operation)
{
    const struct operation *o = operation;
    return o->window.x.size == 1 && o->window.y.size == 1;
}

bool connected_data_fills_convolution(const void *operation)
{
    const struct operation *o = operation;
    return o->images[DESTINATION].images >= FEWEST_CONVOLVED &&
           convolution_channels(o).inputs >= FEWEST_CHANNELS;
}

/* Each pixel of the source is gathered from all outputs: where there is one, that is a convolution's
 * data gradient, whose tiles read the weights once for all images. */
void plan_connected_data_convolved(struct plan *plan, const struct implementation *row,
                                   const void *operation)
{
    size_t first = plan->pass_count;
    plan_data(operation, plan);
    plan_implementation(plan, first, row);
}

bool connected_pixels_are_few(const void *operation)
{
    const struct operation *o = operation;
    const struct image_view *to = &o->images[DESTINATION];
    uint64_t pixels = (uint64_t)o->region_width * o->region_height * slice_count(to->channels);
    return pixels * to->images < ENOUGH_PIXELS;
}

/* ---- Weights ---- */

static uint32_t vector_count(const struct operation *o)
{
    struct packing p = packing_of(o, false);
    return p.elements / 4;
}

bool connected_weights_have_vectors(const void *operation)
{
    struct packing p = packing_of(operation, false);
    return has_vectors(&p);
}

bool connected_weights_fill_tiles(const void *operation)
{
    uint32_t slices = slice_count(convolution_channels(operation).outputs);
    return groups_of(vector_count(operation), TILE_VECTORS) * groups_of(slices, TILE_SLICES) >=
           WEIGHT_GROUPS;
}

void plan_connected_weights_tiled(struct plan *plan, const struct implementation *row,
                                  const void *operation)
{
    const struct operation *o = operation;
    const struct window *w = &o->window;
    uint32_t outputs = convolution_channels(o).outputs;
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", &o->images[IMAGE]);
    pass_define(pass, "WHOLE", 1);
    if (o->images[GRADIENT].images % TILE_IMAGES == 0)
        pass_define(pass, "WHOLE_IMAGES", 1);
    pass_gradients(pass, "vec4", o);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "kernel_width", w->x.size);
    pass_int(pass, "vector_count", (int32_t)vector_count(o));
    pass_int(pass, "output_count", (int32_t)outputs);
    pass_grid(pass, groups_of(vector_count(o), TILE_VECTORS) * GROUP_SIZE,
              groups_of(slice_count(outputs), TILE_SLICES), 1);
    pass_local(pass, GROUP_SIZE, 1, 1);
    pass->cooperative = true;
    pass->work = o->images[GRADIENT].images * 8 * 8 + 64;
}

#define MANY_IMAGES  128u
#define MANY_WEIGHTS (1u << 20)

bool connected_layer_is_dense(const void *operation)
{
    struct packing p = packing_of(operation, false);
    return packing_is_dense(&p);
}

/* An invocation that goes through all images takes long where they are many; tiles divide the images,
 * or the weights where there are many of those. */
bool connected_weights_are_long(const void *operation)
{
    const struct operation *o = operation;
    struct channels c = convolution_channels(o);
    uint64_t weights =
        (uint64_t)o->window.x.size * (uint64_t)o->window.y.size * c.inputs * c.outputs;
    return o->images[GRADIENT].images >= MANY_IMAGES || weights >= MANY_WEIGHTS;
}

/* As a convolution's of one pixel. */
void plan_connected_weights_convolved(struct plan *plan, const struct implementation *row,
                                      const void *operation)
{
    size_t first = plan->pass_count;
    plan_weights(operation, plan);
    plan_implementation(plan, first, row);
}
