// out(X) = f(source(first + X)); PIXELS columns to an invocation
// needs lib/together.glsl
// needs neuron/neuron.glsl
#define RESULT(x) neuron(source_edge(first_x + x, first_y + at.y, slice, image), slope)

void invocation(ivec2 at, int slice, int image) {
    vec4 slope = neuron_slope(slice);
    MAKE_COLUMNS()
}
