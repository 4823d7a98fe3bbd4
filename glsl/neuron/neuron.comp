// out(X) = f(source(first + X)); PIXELS columns to an invocation
// needs neuron/neuron.glsl
void invocation(ivec2 at, int slice, int image) {
    vec4 slope = neuron_slope(slice);
    for (int i = 0; i < PIXELS; i++) {
        int x = left + at.x + i * grid_x;
        vec4 value = neuron(source_edge(first_x + x, first_y + at.y, slice, image), slope);
        if (x < right)
            store_destination(x, at.y, slice, image, value);
    }
}
