/* The lists of a large desktop GPU for convolutions and fully connected layers. */
#include "desktop/convolution.h"

/* ---- Sums ---- */

const struct implementation_list glcnn_desktop_convolution_sum = {
    "convolution_sum",
    (const struct implementation[]){
        /* Tiles would leave the GPU idle here, so this is faster although each group reads the weights
         * again. */
        {"convolution_split_dot", "desktop/convolution_split_dot.comp", 32, .shared_memory = true,
         .supported = {sum_reads_vectors,
                       "one phase, four inputs to an element, and weights of one "
                       "group in their order that fit a storage block"},
         .profitable = {sum_has_few_results, "a result of one pixel, of few images and weights"},
         .plan = plan_split_dot, .form = &(const struct sum_form){0}},
        /* So few rows that packed weights would hardly be read again. */
        {"convolution_tiled_unpacked", "desktop/convolution_tiled_unpacked.comp", 32,
         .shared_memory = true,
         .supported = {sum_reads_inside, "windows that lie inside the source, and weights of a "
                                         "multiple of 8 inputs in their order"},
         .profitable = {sum_fills_unpacked_tiles, "8 to 512 results, of many weights"},
         .plan = plan_tiled_unpacked, .form = &(const struct sum_form){0}},
        /* A quarter of the products, for four times the memory traffic. */
        {"convolution_winograd", .registers = 48, .shared_memory = true,
         .supported = {sum_is_winograd, "dense windows of 3x3 taps, without stride or dilation"},
         .profitable = {sum_fills_winograd, "at least 64 channels, and 128 tiles of 4x4 pixels"},
         .plan = plan_winograd, .form = &(const struct sum_form){0}},
        {"convolution_tiled", "desktop/convolution_tiled.comp", 32, .shared_memory = true,
         .supported = {sum_is_product, "one group, and four inputs to an element"},
         .profitable = {sum_fills_tiles, "tiles that fill a GPU, or few results of long sums"},
         .plan = plan_tiled, .form = &(const struct sum_form){.takes_phases = true}},
        /* Memory reads dominate, and results beside each other share most of them. */
        {"convolution_shared", "desktop/convolution_shared.comp", 32, .shared_memory = true,
         .supported = {sum_is_small,
                       "a single input or one for each output, and windows of at most "
                       "7x7 taps, without stride or dilation"},
         .profitable = {sum_fills_shared_tiles,
                        "windows of several taps, and tiles of 16x16 pixels "
                        "that are mostly full"},
         .plan = plan_shared, .form = &(const struct sum_form){0}},
        {0}}};

/* ---- Register tiles of sums ---- */

/* Invocations that keep a large GPU busy; where they are fewer they each do less. Products have more
 * to do. */
#define ENOUGH_INVOCATIONS 32768u
#define ENOUGH_OF_PRODUCTS 6144u
#define USUAL_PIXELS       7u
#define FEW_PIXELS         4u

static bool leaves_invocations_idle(const void *tile_problem)
{
    const struct tile_problem *problem = tile_problem;
    uint32_t enough = packing_is_dense(problem->packing) ? ENOUGH_OF_PRODUCTS : ENOUGH_INVOCATIONS;
    return tile_invocations(problem, largest_tile(problem, USUAL_PIXELS)) *
               problem->sum->destination.images <
           enough;
}

static void plan_small_tile(struct plan *plan, const struct implementation *row,
                            const void *tile_problem)
{
    uint32_t length = ((const struct tile_problem *)tile_problem)->sum->extent[0];
    uint32_t pixels = groups_of(length, groups_of(length, FEW_PIXELS));
    (void)plan, (void)row;
    pass_register_tile(tile_problem, (struct register_tile){1, pixels});
}

const struct implementation_list glcnn_desktop_convolution_register_tile = {
    "convolution_register_tile",
    (const struct implementation[]){
        {"register_tile_small", .shared_memory = true,
         .profitable = {leaves_invocations_idle,
                        "so few pixels that larger tiles leave a GPU idle"},
         .plan = plan_small_tile},
        {0}}};

/* ---- Gradients of weights ---- */

const struct implementation_list glcnn_desktop_convolution_weights = {
    "convolution_weights",
    (const struct implementation[]){
        {"weights_winograd", .registers = 48, .shared_memory = true,
         .supported = {weights_are_winograd,
                       "dense windows of 3x3 taps, without stride or dilation"},
         .profitable = {weights_fill_winograd,
                        "at least 128 channels, and 128 tiles of 4x4 pixels"},
         .plan = plan_weights_winograd},
        {"weights_tiled", "desktop/convolution_gradient_weights_tiled.comp", 32,
         .shared_memory = true,
         .supported = {weights_are_product, "one group, and four inputs to an element"},
         .profitable = {weights_fill_tiles, "tiles that are not mostly empty, in 4 groups or more"},
         .plan = plan_weights_tiled},
        /* Each row of the source that is read meets the gradients of several rows. */
        {"weights_register_tiled", "desktop/convolution_gradient_weights_register_tiled.comp", 32,
         .shared_memory = true,
         .supported = {weights_are_small,
                       "a single input or one for each output, and windows of at "
                       "most 9 taps, without stride or dilation"},
         .profitable = {weights_fill_register_tiles, "several taps, and 2048 pixels"},
         .plan = plan_weights_register_tiled},
        {"weights_group", "desktop/convolution_gradient_weights_group.comp", 32,
         .shared_memory = true,
         .supported = {weights_are_single, "a single input or one for each output"},
         .plan = plan_weights_group},
        /* What the portable row does, in shorter chunks: a GPU of many processors waits for the
         * longest. */
        {"weights_short_chunks", "convolution/convolution_gradient_weights.comp", 32,
         .shared_memory = true, .plan = plan_weights_by_rows,
         .form = &(const struct weights_form){3, 3, 1, {65536, 64}}},
        {0}}};

/* ---- Partial sums of the gradient of weights ---- */

#define SUM_GROUP    128u /* invocations of a group, as in convolution_gradient_sum_group.comp */
#define SUM_ELEMENTS 8u   /* of a group, as there */
#define FEW_CHUNKS   64u  /* that one group is soon done with */

static bool has_last_block(const void *partial_sums)
{
    return ((const struct partial_sums *)partial_sums)->sums > 0;
}

static bool has_few_chunks(const void *partial_sums)
{
    return ((const struct partial_sums *)partial_sums)->chunks <= FEW_CHUNKS;
}

/* By the groups that make them: the last block adds up all. */
static void plan_last_group_sum(struct plan *plan, const struct implementation *row,
                                const void *partial_sums)
{
    const struct partial_sums *sums = partial_sums;
    struct pass *pass = sums->pass;
    struct vector_view block_results = plan_scratch_vector(plan, sums->sums);
    (void)row;
    pass_define(pass, "LAST_BLOCK", 1);
    pass_library(pass, "pixel_reduction/last_block.glsl");
    pass_library(pass, "desktop/add_element.glsl");
    pass_int(pass, "block_slices", (int32_t)sums->sums);
    pass_int(pass, "runs", (int32_t)sums->chunks);
    pass_vector_of(pass, "uint", "block_results", &block_results, VECTOR_COHERENT);
    pass_update_access(pass, "partial_sums", VECTOR_COHERENT);
    pass_gradients(pass, "float", sums->problem->operation);
    pass_weight_places(pass, &sums->problem->packing);
}

static void plan_group_sum(struct plan *plan, const struct implementation *row,
                           const void *partial_sums)
{
    const struct partial_sums *sums = partial_sums;
    const struct packing *p = &sums->problem->packing;
    struct pass *pass = plan_sum_of_chunks(plan, row, sums);
    pass_grid(pass, groups_of(p->elements + 1, SUM_ELEMENTS) * SUM_GROUP, p->slices, 1);
    pass_local(pass, SUM_GROUP, 1, 1);
    pass->cooperative = true;
}

const struct implementation_list glcnn_desktop_convolution_partial_sums = {
    "convolution_partial_sums",
    (const struct implementation[]){
        {"partial_sums_last_group", .registers = 32, .shared_memory = true, .buffers = 4,
         .supported = {has_last_block, "partial sums of work groups that own a slice each"},
         .profitable = {has_few_chunks, "at most 64 chunks of pixels"},
         .plan = plan_last_group_sum},
        {"partial_sums_group", "desktop/convolution_gradient_sum_group.comp", 32,
         .shared_memory = true, .profitable = {has_many_chunks, "more than 32 chunks of pixels"},
         .plan = plan_group_sum},
        {0}}};

/* ---- Fully connected layers ---- */

const struct implementation_list glcnn_desktop_fully_connected_data = {
    "fully_connected_data",
    (const struct implementation[]){
        {"connected_tiled_unpacked", "desktop/fully_connected_gradient_data_tiled.comp", 32,
         .shared_memory = true,
         .supported = {connected_data_has_vectors, "inputs and outputs in multiples of four, and "
                                                   "weights that fit a storage block"},
         .profitable = {connected_data_fills_tiles, "8 to 512 images, of many weights"},
         .plan = plan_connected_data_tiled},
        /* Tiles read the weights once for all images. */
        {"connected_convolved", .registers = 32, .shared_memory = true,
         .supported = {connected_has_one_pixel, "a source of one pixel"},
         .profitable = {connected_data_fills_convolution, "at least 32 images and 64 channels"},
         .plan = plan_connected_data_convolved},
        /* A large GPU would wait for the reads of so few pixels one after the other. */
        {"connected_prefetched", "convolution/fully_connected_gradient_data.comp", 32,
         .shared_memory = true,
         .profitable = {connected_pixels_are_few, "fewer than 131072 pixels and slices"},
         .plan = plan_connected_data_by_images, .form = &(const struct connected_form){2, 4}},
        {0}}};

const struct implementation_list glcnn_desktop_fully_connected_weights = {
    "fully_connected_weights",
    (const struct implementation[]){
        {"connected_weights_unpacked", "desktop/fully_connected_gradient_weights_tiled.comp", 32,
         .shared_memory = true,
         .supported = {connected_weights_have_vectors, "inputs in multiples of four"},
         .profitable = {connected_weights_fill_tiles, "weights of 128 tiles"},
         .plan = plan_connected_weights_tiled},
        {"connected_weights_convolved", .registers = 32, .shared_memory = true,
         .supported = {connected_layer_is_dense, "more than one input"},
         .profitable = {connected_weights_are_long, "at least 128 images, or 1048576 weights"},
         .plan = plan_connected_weights_convolved},
        {0}}};
