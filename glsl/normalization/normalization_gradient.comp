// dX = scale (g' - gradient_for_beta / M - xh gradient_for_gamma / M)
//     with scale = gamma / sqrt(variance + epsilon)
// as dX = scale (g' - shift - tilt (x - mean)); with FIXED_STATISTICS dX = scale g'.
//     g' = G act'(scale (x - mean) + beta), 0 where nothing reads x
//     xh = (x - mean) / sqrt(variance + epsilon)
// PIXELS columns to an invocation. With TOGETHER all are read before the first is stored: a store
// between two reads keeps them apart.
// needs lib/compare.glsl
// needs lib/gather.glsl
// needs lib/unrolled.glsl
// needs normalization/normalization.glsl
#ifdef FIXED_STATISTICS
#define TERMS(g, d) g
#else
#define TERMS(g, d) ((g - shift) - tilt * d)
#endif
#define COLUMN(i) (left + at.x + i * grid_x)
#define READ(i) \
    { \
        AT(x, i, PIXELS) = seen(COLUMN(i) + shift_x, row, slice, image); \
        AT(g, i, PIXELS) = gathered(COLUMN(i) + shift_x, row, slice, image); \
    }
#define STORE(i) \
    { \
        vec4 d = AT(x, i, PIXELS) - mean; \
        vec4 rate = neuron_derivative(scale * d + beta, slope); \
        vec4 own = times(rate, AT(g, i, PIXELS)); \
        own = is_read(COLUMN(i) + shift_x, row) ? own : vec4(0.0); \
        own = TERMS(own, d); \
        vec4 value = is_seen(COLUMN(i) + shift_x, row) ? scale * own : vec4(0.0); \
        if (COLUMN(i) < right) \
            store_destination(COLUMN(i), at.y, slice, image, value); \
    }

void invocation(ivec2 at, int slice, int image) {
    int row = at.y + shift_y;
#ifdef TOGETHER
    vec4 x[PIXELS], g[PIXELS];
    UP_TO_FOUR(READ, PIXELS)
#endif
    vec4 mean = mean_of(slice, image);
    vec4 scale = scale_of(slice, image);
    vec4 beta = beta_of(slice, image);
#ifndef FIXED_STATISTICS
    vec4 tilt = tilt_of(slice, image);
    vec4 shift = shift_of(slice, image);
#endif
    vec4 slope = neuron_slope(slice);
#ifdef TOGETHER
    UP_TO_FOUR(STORE, PIXELS)
#else
    for (int i = 0; i < PIXELS; i++) {
        int x = COLUMN(i);
        vec4 d = seen(x + shift_x, row, slice, image) - mean;
        vec4 rate = neuron_derivative(scale * d + beta, slope);
        vec4 g = times(rate, gathered(x + shift_x, row, slice, image));
        g = is_read(x + shift_x, row) ? g : vec4(0.0);
        g = TERMS(g, d);
        vec4 value = is_seen(x + shift_x, row) ? scale * g : vec4(0.0);
        if (x < right)
            store_destination(x, at.y, slice, image, value);
    }
#endif
}
