// dX(y) = f'(source(y)) * sum of G(X) over the X that read pixel y; 0 where f' is 0 or nothing
// reads y. PIXELS columns to an invocation.
// needs lib/compare.glsl
// needs lib/together.glsl
// needs neuron/neuron.glsl
// needs lib/gather.glsl
vec4 gradient_of(int x, int y, int slice, int image, vec4 slope) {
    vec4 d = neuron_derivative(seen(x, y, slice, image), slope);
    vec4 value = times(d, gathered(x, y, slice, image));
    return is_seen(x, y) && is_read(x, y) ? value : vec4(0.0);
}

#define RESULT(x) gradient_of(x + shift_x, at.y + shift_y, slice, image, slope)

void invocation(ivec2 at, int slice, int image) {
    vec4 slope = neuron_slope(slice);
    MAKE_COLUMNS()
}
