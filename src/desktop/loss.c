/* Losses of few pixels with many channels: a work group to a pixel, whose lanes share its slices. */
#include "kernels/loss.h"

#define LANES 64

static bool are_few_pixels(const void *problem)
{
    const struct operation *o = ((const struct loss_pixels *)problem)->operation;
    const struct image_view *result = &o->images[DESTINATION];
    uint64_t pixels = (uint64_t)o->region_width * o->region_height * result->images;
    return slice_count(result->channels) >= LANES / 2 && pixels < 1u << 17;
}

static void plan_by_lanes(struct plan *plan, const struct implementation *row, const void *problem)
{
    struct pass *pass = ((const struct loss_pixels *)problem)->pass;
    (void)plan;
    loss_pass_pixels(problem, row, LANES);
    pass_define(pass, "LANES", LANES);
    pass_local(pass, LANES, 1, 1);
    pass->cooperative = true;
}

const struct implementation_list glcnn_desktop_loss = {
    "loss",
    (const struct implementation[]){
        {"loss_lanes", "desktop/loss_by_lanes.glsl", 32, .shared_memory = true,
         .profitable = {are_few_pixels, "few pixels of at least 128 channels, which leave a "
                                        "GPU idle where each is one invocation's"},
         .plan = plan_by_lanes},
        {0}}};
