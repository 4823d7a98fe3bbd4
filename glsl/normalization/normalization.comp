// out(X) = act(scale (source(first + X) - mean) + beta),   scale = gamma / sqrt(variance + epsilon)
// needs lib/together.glsl
// needs normalization/normalization.glsl
#define SOURCE(x) source_edge(first_x + x, first_y + at.y, slice, image)
#define RESULT(x) neuron(scale * (SOURCE(x) - mean) + beta, slope)

void invocation(ivec2 at, int slice, int image) {
    vec4 mean = mean_of(slice, image);
    vec4 scale = scale_of(slice, image);
    vec4 beta = beta_of(slice, image);
    vec4 slope = neuron_slope(slice);
    MAKE_COLUMNS()
}
