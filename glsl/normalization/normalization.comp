// out(X) = act(scale (source(first + X) - mean) + beta),   scale = gamma / sqrt(variance + epsilon)
// needs normalization/normalization.glsl
void invocation(ivec2 at, int slice, int image) {
    vec4 mean = mean_of(slice, image);
    vec4 scale = scale_of(slice, image);
    vec4 beta = beta_of(slice, image);
    vec4 slope = neuron_slope(slice);
    for (int i = 0; i < PIXELS; i++) {
        int x = left + at.x + i * grid_x;
        vec4 v = source_edge(first_x + x, first_y + at.y, slice, image);
        vec4 value = neuron(scale * (v - mean) + beta, slope);
        if (x < right)
            store_destination(x, at.y, slice, image, value);
    }
}
