/* Gradients of fully connected layers. */
#include "kernels/convolution_plan.h"

#define TILE_IMAGES   32u /* that make tiles worth it, and channels */
#define TILE_CHANNELS 64u
#define ENOUGH_PIXELS (1u << 17) /* of all images */
#define MANY_IMAGES   128u
#define MANY_WEIGHTS  (1u << 20)
#define STRETCH       64 /* outputs' slices of a long sum that are added up by themselves */

static bool has_one_pixel(const void *shape)
{
    const struct operation *o = shape;
    return o->window.x.size == 1 && o->window.y.size == 1;
}

/* Each pixel of the source is gathered from all outputs: where there is one, that is a
 * convolution's data gradient, whose tiles read the weights once for all images. */
static bool fills_tiles(const void *shape)
{
    const struct operation *o = shape;
    return o->images[DESTINATION].images >= TILE_IMAGES &&
           convolution_channels(o).inputs >= TILE_CHANNELS;
}

/* So few that a large GPU waits for their reads. */
static bool are_few(const void *shape)
{
    const struct operation *o = shape;
    const struct image_view *to = &o->images[DESTINATION];
    uint64_t pixels = (uint64_t)o->region_width * o->region_height * slice_count(to->channels);
    return pixels * to->images < ENOUGH_PIXELS;
}

/* Data gradient of a fully connected layer: images that share what is read of the weights, and
 * slices of the gradient that are read at once. */
const struct implementation_list fully_connected_data_implementations = {
    "fully_connected_data",
    (const struct implementation[]){
        {"connected_in_place", "convolution/fully_connected_gradient_data_tiled.comp", 32,
         .shared_memory = true, .supported.holds = connected_data_has_quads,
         .profitable.holds = connected_data_fills_tiles},
        {"connected_tiled", .registers = 32, .shared_memory = true,
         .supported.holds = has_one_pixel, .profitable.holds = fills_tiles},
        {"connected_at_once", .registers = 32, .shared_memory = true, .images = 2, .slices = 4,
         .profitable.holds = are_few},
        {"connected_eight", .registers = 32, .images = 8, .slices = 1},
        {"connected_two", .registers = 8, .images = 2, .slices = 1},
        {0}}};

static void plan_gathered(const struct operation *o, struct plan *plan,
                          const struct implementation *row)
{
    const struct image_view *to = &o->images[DESTINATION];
    const struct window *w = &o->window;
    struct packing p = packing_of(o, false);
    struct image_view matrix = plan_pack(plan, &p, &o->vectors[GRADIENT_WEIGHTS], NULL);
    uint32_t images = to->images == 1 ? 1 : row->images;
    struct pass *pass = plan_pass(plan, "convolution/fully_connected_gradient_data.comp");
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_matrix(pass, &matrix);
    pass_image(pass, "destination", to);
    pass_packing(pass, &p);
    pass_axes(pass, w);
    pass_define(pass, "IMAGES", (int)images);
    pass_define(pass, "SLICES", (int)row->slices);
    if (slice_count(p.channels.outputs) >= LONG_SUM)
        pass_define(pass, "STRETCH", STRETCH);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "shift_x", w->x.shift);
    pass_int(pass, "shift_y", w->y.shift);
    pass_region(pass, o);
    pass_grid(pass,
              o->region_width * o->region_height * slice_count(to->channels) *
                  groups_of(to->images, images),
              1, 1);
    pass_local(pass, 64, 1, 1);
    pass->work = slice_count(p.channels.outputs) * images * 32;
}

static void plan_connected_data(const struct operation *o, struct plan *plan)
{
    const struct implementation *row =
        implementation_choose(plan, &fully_connected_data_implementations, o);
    size_t first = plan->pass_count;
    if (row->images > 0) {
        plan_gathered(o, plan, row);
    } else if (row->shader) {
        plan_connected_data_tiles(o, plan, row);
    } else {
        plan_data(o, plan);
        plan_implementation(plan, first, row);
    }
}

static bool is_dense_layer(const void *shape)
{
    struct packing p = packing_of(shape, false);
    return packing_is_dense(&p);
}

/* An invocation that goes through all images alone takes long where they are many; tiles share out
 * the images, or the weights where there are many of those. */
static bool is_long(const void *shape)
{
    const struct operation *o = shape;
    struct channels c = convolution_channels(o);
    uint64_t weights =
        (uint64_t)o->window.x.size * (uint64_t)o->window.y.size * c.inputs * c.outputs;
    return o->images[GRADIENT].images >= MANY_IMAGES || weights >= MANY_WEIGHTS;
}

/* Gradient of a fully connected layer's weights: as a convolution's of one pixel, or an invocation
 * for each 16 of the weights, which reads some images at once. */
const struct implementation_list fully_connected_weights_implementations = {
    "fully_connected_weights",
    (const struct implementation[]){
        {"connected_weights_in_place", "convolution/fully_connected_gradient_weights_tiled.comp",
         32, .shared_memory = true, .supported.holds = connected_weights_have_quads,
         .profitable.holds = connected_weights_fill_tiles},
        {"connected_weights_tiled", .registers = 32, .shared_memory = true,
         .supported.holds = is_dense_layer, .profitable.holds = is_long},
        {"connected_weights_four", .registers = 32, .images = 4},
        {"connected_weights", .registers = 8, .images = 1},
        {0}}};

static void plan_sixteens(const struct operation *o, struct plan *plan,
                          const struct implementation *row)
{
    const struct image_view *source = &o->images[IMAGE];
    const struct window *w = &o->window;
    struct channels c = convolution_channels(o);
    uint32_t pixel_slices = source->width * source->height * slice_count(source->channels);
    struct pass *pass = plan_pass(plan, "convolution/fully_connected_gradient_weights.comp");
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", source);
    pass_gradients(pass, o);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "kernel_width", w->x.size);
    pass_int(pass, "kernel_height", w->y.size);
    pass_define(pass, "IMAGES", (int)row->images);
    pass_update_access(pass, "gradient_for_weights", VECTOR_READ_WRITE);
    pass_update_access(pass, "gradient_for_biases", VECTOR_READ_WRITE);
    pass_int(pass, "pixel_slices", (int32_t)pixel_slices);
    pass_int(pass, "output_count", (int32_t)c.outputs);
    pass_grid(pass, pixel_slices + 1, slice_count(c.outputs), 1);
    pass_local(pass, 32, 1, 1);
    pass->work = source->images * 32;
}

static void plan_connected_weights(const struct operation *o, struct plan *plan)
{
    const struct implementation *row =
        implementation_choose(plan, &fully_connected_weights_implementations, o);
    size_t first = plan->pass_count;
    if (row->images > 0) {
        plan_sixteens(o, plan, row);
    } else if (row->shader) {
        plan_connected_weights_tiles(o, plan, row);
    } else {
        plan_weights(o, plan);
        plan_implementation(plan, first, row);
    }
}

void plan_fully_connected_gradient(const struct operation *o, struct plan *plan)
{
    struct narrowed learning;
    convolution_narrow(o, &learning);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES)) {
        const struct operation sums = convolution_with_sums(&learning.operation, plan);
        plan_weights_in_parts(&sums, plan, plan_connected_weights);
    }
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        plan_connected_data(o, plan);
}
