// dX(y) = f'(source(y)) * sum of G(X) over the X that read pixel y; PIXELS columns to an invocation
void invocation(ivec3 at) {
    int slice = at.z % destination_slices;
    int image = at.z / destination_slices;
    int row = at.y + shift_y;
    vec4 slope = neuron_slope(slice);
    for (int i = 0; i < PIXELS; i++) {
        int x = left + at.x + i * grid_x;
        vec4 g = gathered(x + shift_x, row, slice, image);
        vec4 value = g * neuron_derivative(source_clamp(x + shift_x, row, slice, image), slope);
        bool inside = x + shift_x >= 0 && row >= 0 && x + shift_x < source_width && row < source_height;
        if (x < right)
            store_destination(x, at.y, slice, image, inside ? value : vec4(0.0));
    }
}
