/* Which source pixel a result reads where it reads one, and where its gradient goes. */
#include "reference/pointwise.h"

#include "kernels/numbers.h"

double pointwise_source(const struct window *window, const struct tensor *source, uint32_t n,
                        uint32_t c, int32_t Y, int32_t X)
{
    int32_t y = axis_tap(&window->y, window->edge_mode, (int32_t)source->height, Y, 0);
    int32_t x = axis_tap(&window->x, window->edge_mode, (int32_t)source->width, X, 0);
    return tensor_get(source, n, c, y, x);
}

/* Position `at` where the edge mode moves it; -1: none. */
static int32_t edge_position(glcnn_edge_mode mode, uint32_t size, int32_t at)
{
    const struct axis plain = {.stride = 1, .size = 1, .dilation = 1};
    return axis_tap(&plain, mode, (int32_t)size, at, 0);
}

double pointwise_edge(const struct tensor *source, glcnn_edge_mode mode, uint32_t n, uint32_t c,
                      int32_t y, int32_t x)
{
    return tensor_get(source, n, c, edge_position(mode, source->height, y),
                      edge_position(mode, source->width, x));
}

bool pointwise_position(const struct operation *operation, const struct tensor *source, int32_t y,
                        int32_t x, int32_t at[2])
{
    const struct window *w = &operation->window;
    glcnn_edge_mode mode = operation->state_driven ? GLCNN_EDGE_MODE_ZERO : w->edge_mode;
    at[0] = edge_position(mode, source->height, y + w->y.shift);
    at[1] = edge_position(mode, source->width, x + w->x.shift);
    return at[0] >= 0 && at[1] >= 0;
}

double pointwise_seen(const struct operation *operation, const struct tensor *source, uint32_t n,
                      uint32_t c, int32_t y, int32_t x)
{
    int32_t at[2];
    return pointwise_position(operation, source, y, x, at) ? tensor_get(source, n, c, at[0], at[1])
                                                           : 0;
}

bool pointwise_is_seen(const struct operation *operation, const struct tensor *source, int32_t y,
                       int32_t x)
{
    int32_t at[2];
    return pointwise_position(operation, source, y, x, at) || !operation->state_driven;
}

/* Source pixel that result X reads; by hand one outside too. */
static int32_t source_of(const struct operation *operation, const struct axis *axis, uint32_t size,
                         int32_t X)
{
    if (!operation->state_driven)
        return axis->first + X;
    return axis_tap(axis, operation->window.edge_mode, (int32_t)size, X, 0);
}

bool pointwise_target(const struct operation *operation, const struct tensor *source,
                      const struct tensor *to, int32_t Y, int32_t X, int32_t at[2])
{
    const struct window *w = &operation->window;
    int32_t y = source_of(operation, &w->y, source->height, Y);
    int32_t x = source_of(operation, &w->x, source->width, X);
    bool reads = !operation->state_driven || (y >= 0 && x >= 0);
    at[0] = y - w->y.shift;
    at[1] = x - w->x.shift;
    return reads && at[0] >= 0 && at[1] >= 0 && at[0] < (int32_t)to->height &&
           at[1] < (int32_t)to->width;
}

void pointwise_scatter(const struct reference *r, const struct tensor *gradient,
                       const struct tensor *source, const struct tensor *to,
                       pointwise_derivative derivative)
{
    const struct window *w = &r->operation->window;
    int32_t at[2];
    for (uint32_t n = 0; n < to->images; n++)
        for (uint32_t c = 0; c < to->channels; c++)
            for (int32_t Y = w->y.begin; Y < w->y.end; Y++)
                for (int32_t X = w->x.begin; X < w->x.end; X++) {
                    if (!pointwise_target(r->operation, source, to, Y, X, at))
                        continue;
                    double g = tensor_get(gradient, n, c, Y, X);
                    if (derivative)
                        g = times(derivative(r, c, pointwise_source(w, source, n, c, Y, X)), g);
                    *tensor_at(to, n, c, at[0], at[1]) += g;
                }
}
