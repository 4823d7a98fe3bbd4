// dX = scale (g' - gradient_for_beta / M - xh gradient_for_gamma / M)
//     with scale = gamma / sqrt(variance + epsilon)
// as dX = scale (g' - shift - tilt (x - mean)); with FIXED_STATISTICS dX = scale g'.
//     g' = G act'(scale (x - mean) + beta), 0 where nothing reads x
//     xh = (x - mean) / sqrt(variance + epsilon)
// PIXELS columns to an invocation.
// needs lib/compare.glsl
// needs lib/gather.glsl
// needs normalization/normalization.glsl
#ifdef FIXED_STATISTICS
#define TERMS(g, d) g
#else
#define TERMS(g, d) ((g - shift) - tilt * d)
#endif

void invocation(ivec2 at, int slice, int image) {
    int row = at.y + shift_y;
    vec4 mean = mean_of(slice, image);
    vec4 scale = scale_of(slice, image);
    vec4 beta = beta_of(slice, image);
#ifndef FIXED_STATISTICS
    vec4 tilt = tilt_of(slice, image);
    vec4 shift = shift_of(slice, image);
#endif
    vec4 slope = neuron_slope(slice);
    for (int i = 0; i < PIXELS; i++) {
        int x = left + at.x + i * grid_x;
        vec4 d = seen(x + shift_x, row, slice, image) - mean;
        vec4 rate = neuron_derivative(scale * d + beta, slope);
        vec4 g = times(rate, gathered(x + shift_x, row, slice, image));
        g = is_read(x + shift_x, row) ? g : vec4(0.0);
        g = TERMS(g, d);
        vec4 value = is_seen(x + shift_x, row) ? scale * g : vec4(0.0);
        if (x < right)
            store_destination(x, at.y, slice, image, value);
    }
}
