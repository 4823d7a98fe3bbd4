// out(X, k) = neuron(b(k) + sum of partial sums), in the order of the splits of a split-K product
// needs convolution/convolution.glsl
// needs desktop/bias.glsl
void invocation(ivec2 at, int slice, int image) {
    int row = (image * region_height + at.y) * region_width + at.x;
    vec4 sum = bias_of(slice);
    for (int split = 0; split < split_count; split++)
        sum += partial_sums[(split * row_count + row) * destination_slices + slice];
    store_destination(region_x + step_x * at.x, region_y + step_y * at.y, slice, image,
                      neuron(sum, neuron_slope(slice)));
}
