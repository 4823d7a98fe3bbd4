#include "pointwise.h"

/* Several columns to an invocation save the work that they share, but a narrow region would leave
 * too few invocations side by side. */
static uint32_t columns_at_once(uint32_t width)
{
    return width >= 12 ? 4 : width >= 6 ? 2 : 1;
}

struct pass *plan_pointwise(struct plan *plan, const struct operation *operation,
                            const char *shader, const struct image_view *destination)
{
    uint32_t columns = columns_at_once(operation->region_width);
    struct pass *pass = plan_pass(plan, shader);
    pass_grid(pass, (operation->region_width + columns - 1) / columns, operation->region_height,
              slice_count(destination->channels) * destination->images);
    pass_origin(pass, 0, operation->region_y, 0);
    pass_define(pass, "PIXELS", (int)columns);
    pass_int(pass, "left", (int32_t)operation->region_x);
    pass_int(pass, "right", (int32_t)(operation->region_x + operation->region_width));
    return pass;
}

/* ---- Gathering ---- */

static bool stays_inside(const struct axis *axis, uint32_t size)
{
    return axis->first + axis->begin >= 0 && axis->first + axis->end <= (int32_t)size;
}

static bool is_direct(const struct axis *axis, uint32_t gradient, uint32_t source)
{
    return axis->first == 0 && axis->begin == 0 && axis->end == (int32_t)gradient &&
           gradient == source && axis->shift == 0;
}

void pass_gather(struct pass *pass, const struct operation *operation,
                 const struct image_view *gradient, const struct image_view *source)
{
    struct window window = operation->window;
    bool direct = is_direct(&window.x, gradient->width, source->width) &&
                  is_direct(&window.y, gradient->height, source->height) &&
                  operation->region_x + operation->region_width <= source->width &&
                  operation->region_y + operation->region_height <= source->height;
    if (stays_inside(&window.x, source->width) && stays_inside(&window.y, source->height))
        window.edge_mode = GLCNN_EDGE_MODE_ZERO;
    pass_window(pass, &window);
    pass_library(pass, "lib/gather.glsl");
    if (direct)
        pass_define(pass, "DIRECT", 1);
}

/* ---- References ---- */

double pointwise_source(const struct window *window, const struct tensor *source, uint32_t n,
                        uint32_t c, int32_t Y, int32_t X)
{
    int32_t y = axis_tap(&window->y, window->edge_mode, (int32_t)source->height, Y, 0);
    int32_t x = axis_tap(&window->x, window->edge_mode, (int32_t)source->width, X, 0);
    return tensor_get(source, n, c, y, x);
}

double pointwise_seen(const struct operation *operation, const struct tensor *source, uint32_t n,
                      uint32_t c, int32_t y, int32_t x)
{
    const struct window *w = &operation->window;
    return tensor_get(source, n, c, y + w->y.shift, x + w->x.shift);
}

bool pointwise_is_seen(const struct operation *operation, const struct tensor *source, int32_t y,
                       int32_t x)
{
    y += operation->window.y.shift;
    x += operation->window.x.shift;
    return y >= 0 && x >= 0 && y < (int32_t)source->height && x < (int32_t)source->width;
}

bool pointwise_target(const struct operation *operation, const struct tensor *source,
                      const struct tensor *to, int32_t Y, int32_t X, int32_t at[2])
{
    const struct window *w = &operation->window;
    int32_t y = axis_tap(&w->y, w->edge_mode, (int32_t)source->height, Y, 0);
    int32_t x = axis_tap(&w->x, w->edge_mode, (int32_t)source->width, X, 0);
    at[0] = y - w->y.shift;
    at[1] = x - w->x.shift;
    return y >= 0 && x >= 0 && at[0] >= 0 && at[1] >= 0 && at[0] < (int32_t)to->height &&
           at[1] < (int32_t)to->width;
}

void pointwise_scatter(const struct operation *operation, const struct tensor *gradient,
                       const struct tensor *source, const struct tensor *to)
{
    const struct window *w = &operation->window;
    int32_t at[2];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++)
                    if (pointwise_target(operation, source, to, Y, X, at))
                        *tensor_at(to, n, c, at[0], at[1]) += tensor_get(gradient, n, c, Y, X);
}
