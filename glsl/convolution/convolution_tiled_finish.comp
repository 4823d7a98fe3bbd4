// out(X, k) = neuron(b(k) + sum of the parts that convolution/convolution_tiled.comp left, in their order)
// needs convolution/convolution.glsl
void invocation(ivec3 at) {
    int image = at.z / destination_slices;
    int k = at.z - image * destination_slices;
    int row = (image * region_height + at.y) * region_width + at.x;
    vec4 sum = matrix(PACKED_X(element_count), PACKED_Y(element_count), 0, k);
    for (int split = 0; split < split_count; split++)
        sum += parts[(split * row_count + row) * destination_slices + k];
    store_destination(region_x + step_x * at.x, region_y + step_y * at.y, k, image,
                      neuron(sum, neuron_slope(k)));
}
