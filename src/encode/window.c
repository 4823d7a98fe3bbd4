/* Passes over the pixels of a result, and the window that each of them reads. */
#include "encode/window.h"

struct pass *plan_pixels(struct plan *plan, const struct operation *operation, const char *shader,
                         const struct image_view *destination)
{
    struct pass *pass = plan_pass(plan, shader);
    pass_origin(pass, operation->region_x, operation->region_y, 0);
    pass_grid_over(pass, operation->region_width, operation->region_height, "destination",
                   destination);
    return pass;
}

/* Sizes of windows of more taps are no constants: compilers that unroll loops would keep all that
 * the window reads at once. */
static void pass_size(struct pass *pass, const struct axis *x, const struct axis *y)
{
    int32_t most = pass->registers < 12 ? 1 : pass->registers < 32 ? 4 : 16;
    bool constant = x->size * y->size <= most;
    (constant ? pass_define : pass_int)(pass, "KERNEL_WIDTH", x->size);
    (constant ? pass_define : pass_int)(pass, "KERNEL_HEIGHT", y->size);
}

void pass_results(struct pass *pass, const struct window *window)
{
    pass_int(pass, "begin_x", window->x.begin);
    pass_int(pass, "begin_y", window->y.begin);
    pass_int(pass, "end_x", window->x.end);
    pass_int(pass, "end_y", window->y.end);
}

void pass_source_size(struct pass *pass, const struct image_view *source)
{
    pass_int(pass, "source_width", (int32_t)source->width);
    pass_int(pass, "source_height", (int32_t)source->height);
}

void pass_window(struct pass *pass, const struct window *window)
{
    const struct axis *x = &window->x, *y = &window->y;
    if (window->edge_mode == GLCNN_EDGE_MODE_CLAMP)
        pass_define(pass, "EDGE_CLAMP", 1);
    pass_size(pass, x, y);
    pass_int(pass, "first_x", x->first);
    pass_int(pass, "first_y", y->first);
    pass_define(pass, "stride_x", x->stride);
    pass_define(pass, "stride_y", y->stride);
    pass_define(pass, "dilation_x", x->dilation);
    pass_define(pass, "dilation_y", y->dilation);
    pass_results(pass, window);
    pass_int(pass, "shift_x", x->shift);
    pass_int(pass, "shift_y", y->shift);
}

bool check_result_size(const struct image_view *destination,
                       const struct glcnn_image_descriptor *result, struct validation validation)
{
    if (destination->width == result->width && destination->height == result->height)
        return true;
    return invalid(validation, "the result is %ux%u; the destination is %ux%u", result->width,
                   result->height, destination->width, destination->height);
}
