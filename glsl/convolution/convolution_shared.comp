// out(X, k) = neuron(b(k) + sum over taps (q, p) of W(k, q, p) * in(first + X + (p, q), .))
// Where an element of the weights has one component: a single input, or one for each output. Reads
// decide then, so a group of 128 invocations keeps the source below a tile of 16x16 pixels of one
// slice, and each invocation makes two pixels of a column from it.
// needs convolution/convolution.glsl
// needs convolution/kept_source.glsl
void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = at.z / destination_slices;
    int k = at.z - image * destination_slices;
    ivec2 tile = ivec2((at.x - lane) / 128, at.y) * TILE;
    keep_source(lane, ivec2(first_x, first_y) + tile, first_slice(k), image);
    barrier();
    ivec2 own = own_pixel(lane);
    vec4 sum[2];
    sum[0] = sum[1] = matrix(PACKED_X(element_count), PACKED_Y(element_count), 0, k);
    for (int p = 0; p < KERNEL_WIDTH; p++) {
        vec4 column[KERNEL_HEIGHT + 1];
        for (int q = 0; q < KERNEL_HEIGHT + 1; q++)
            column[q] = kept(own + ivec2(p, q));
        for (int q = 0; q < KERNEL_HEIGHT; q++) {
            int element = (q * KERNEL_WIDTH + p) * range;
            vec4 w = matrix(PACKED_X(element), PACKED_Y(element), 0, k);
            sum[0] += product(w, column[q], 0);
            sum[1] += product(w, column[q + 1], 0);
        }
    }
    vec4 slope = neuron_slope(k);
    for (int i = 0; i < 2; i++) {
        ivec2 X = tile + own + ivec2(0, i);
        if (X.x < region_width && X.y < region_height)
            store_destination(region_x + X.x, region_y + X.y, k, image, neuron(sum[i], slope));
    }
}
