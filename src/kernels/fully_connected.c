/* Gradients of fully connected layers. */
#include "kernels/convolution_plan.h"

#define STRETCH 64 /* outputs' slices of a long sum that are added up by themselves */

/* ---- Data ---- */

/* Each pixel of the source is gathered from all outputs. */
void plan_connected_data_by_images(struct plan *plan, const struct implementation *row,
                                   const void *operation)
{
    const struct operation *o = operation;
    const struct connected_form *form = row->form;
    const struct image_view *to = &o->images[DESTINATION];
    const struct window *w = &o->window;
    struct packing p = packing_of(o, false);
    struct image_view matrix = plan_pack(plan, &p, &o->vectors[GRADIENT_WEIGHTS], NULL);
    uint32_t images = to->images == 1 ? 1 : form->images;
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_matrix(pass, &matrix);
    pass_image(pass, "destination", to);
    pass_packing(pass, &p);
    pass_axes(pass, w);
    pass_define(pass, "IMAGES", (int)images);
    pass_define(pass, "SLICES", (int)form->slices);
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

const struct implementation_list fully_connected_data_implementations = {
    "fully_connected_data",
    (const struct implementation[]){
        {"connected_eight", "convolution/fully_connected_gradient_data.comp", 32,
         .plan = plan_connected_data_by_images, .form = &(const struct connected_form){8, 1}},
        {"connected_two", "convolution/fully_connected_gradient_data.comp", 8,
         .plan = plan_connected_data_by_images, .form = &(const struct connected_form){2, 1}},
        {0}}};

/* ---- Weights ---- */

/* An invocation for each 16 of the weights, which reads some images at once. */
static void plan_weights_by_images(struct plan *plan, const struct implementation *row,
                                   const void *operation)
{
    const struct operation *o = operation;
    const struct connected_form *form = row->form;
    const struct image_view *source = &o->images[IMAGE];
    const struct window *w = &o->window;
    struct channels c = convolution_channels(o);
    uint32_t pixel_slices = source->width * source->height * slice_count(source->channels);
    struct pass *pass = plan_pass(plan, row->shader);
    pass_implementation(pass, row);
    pass_texture(pass, "gradient", &o->images[GRADIENT]);
    pass_texture(pass, "source", source);
    pass_gradients(pass, "float", o);
    pass_int(pass, "begin_x", w->x.begin);
    pass_int(pass, "begin_y", w->y.begin);
    pass_int(pass, "kernel_width", w->x.size);
    pass_int(pass, "kernel_height", w->y.size);
    pass_define(pass, "IMAGES", (int)form->images);
    pass_update_access(pass, "gradient_for_weights", VECTOR_READ_WRITE);
    pass_update_access(pass, "gradient_for_biases", VECTOR_READ_WRITE);
    pass_int(pass, "pixel_slices", (int32_t)pixel_slices);
    pass_int(pass, "output_count", (int32_t)c.outputs);
    pass_grid(pass, pixel_slices + 1, slice_count(c.outputs), 1);
    pass_local(pass, 32, 1, 1);
    pass->work = source->images * 32;
}

const struct implementation_list fully_connected_weights_implementations = {
    "fully_connected_weights",
    (const struct implementation[]){
        {"connected_weights_four", "convolution/fully_connected_gradient_weights.comp", 32,
         .plan = plan_weights_by_images, .form = &(const struct connected_form){.images = 4}},
        {"connected_weights", "convolution/fully_connected_gradient_weights.comp", 8,
         .plan = plan_weights_by_images, .form = &(const struct connected_form){.images = 1}},
        {0}}};

static void plan_connected_weights(const struct operation *o, struct plan *plan)
{
    implementation_plan(plan, &fully_connected_weights_implementations, o);
}

void plan_fully_connected_gradient(const struct operation *o, struct plan *plan)
{
    struct trainable_layer layer;
    convolution_trainable_layer(o, &layer);
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_WEIGHTS_AND_BIASES)) {
        const struct operation sums = convolution_with_sums(&layer.operation, plan);
        plan_weights_in_parts(&sums, plan, plan_connected_weights);
    }
    if (convolution_wants(o, GLCNN_GRADIENT_OPTION_DATA))
        implementation_plan(plan, &fully_connected_data_implementations, o);
}
