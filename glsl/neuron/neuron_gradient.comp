// dX(y) = f'(source(y)) * sum of G(X) over the X that read pixel y; 0 where f' is 0 or nothing
// reads y. PIXELS columns to an invocation.
// needs lib/compare.glsl
// needs neuron/neuron.glsl
// needs lib/gather.glsl
void invocation(ivec2 at, int slice, int image) {
    int row = at.y + shift_y;
    vec4 slope = neuron_slope(slice);
    for (int i = 0; i < PIXELS; i++) {
        int x = left + at.x + i * grid_x;
        vec4 d = neuron_derivative(seen(x + shift_x, row, slice, image), slope);
        vec4 value = times(d, gathered(x + shift_x, row, slice, image));
        bool wanted = is_seen(x + shift_x, row) && is_read(x + shift_x, row);
        if (x < right)
            store_destination(x, at.y, slice, image, wanted ? value : vec4(0.0));
    }
}
