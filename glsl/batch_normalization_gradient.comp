// dX = scale (g' - gradient_for_beta / M - xh gradient_for_gamma / M),   scale = gamma / sqrt(variance + epsilon)
// as dX = scale g' + tilt (x - mean) + shift; with FIXED_STATISTICS dX = scale g'.
//     g' = G act'(scale (x - mean) + beta),   xh = (x - mean) / sqrt(variance + epsilon)
void invocation(ivec3 at) {
    int slice = at.z % destination_slices;
    int image = at.z / destination_slices;
    int row = at.y + shift_y;
    vec4 mean = coefficients(0, 0, slice, 0);
    vec4 scale = coefficients(1, 0, slice, 0);
    vec4 beta = coefficients(2, 0, slice, 0);
#ifdef FIXED_STATISTICS
    vec4 tilt = vec4(0.0), shift = vec4(0.0);
#else
    vec4 tilt = coefficients(4, 0, slice, 0);
    vec4 shift = coefficients(5, 0, slice, 0);
#endif
    vec4 slope = neuron_slope(slice);
    for (int i = 0; i < PIXELS; i++) {
        int x = left + at.x + i * grid_x;
        vec4 d = source_clamp(x + shift_x, row, slice, image) - mean;
        vec4 g = gathered(x + shift_x, row, slice, image) * neuron_derivative(scale * d + beta, slope);
        bool inside = x + shift_x >= 0 && row >= 0 && x + shift_x < source_width && row < source_height;
        vec4 value = inside ? scale * g + (tilt * d + shift) : vec4(0.0);
        if (x < right)
            store_destination(x, at.y, slice, image, value);
    }
}
