// out(X, k) = neuron(b(k) + sum over taps (q, p) of W(k, q, p) * in(first + X + (p, q), .))
// Where an element of the weights has one component: a single input, or one for each output. Reads
// decide then, so a group of 128 invocations keeps the source below a tile of 16x16 pixels of one
// slice, and each invocation makes two pixels of a column from it. The weights are read as the user
// has them, once by a group: a network's first layer then waits for no packing.
// needs convolution/convolution.glsl
// needs desktop/bias.glsl
// needs desktop/kept_source.glsl
// needs pixel_reduction/epilogue.glsl
#ifdef EPILOGUE
reduced own_values;
#endif

shared vec4 kept_weights[KERNEL_WIDTH * KERNEL_HEIGHT];

void keep_weights(int lane, int k) {
    for (int tap = lane; tap < KERNEL_WIDTH * KERNEL_HEIGHT; tap += 128) {
        vec4 v = vec4(0.0);
        for (int i = 0; i < 4; i++) {
            int index = 4 * k + i < output_count ? weight_index(4 * k + i, tap * range) : -1;
            v[i] = index < 0 ? 0.0 : weights[index];
        }
        kept_weights[tap] = v;
    }
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex);
    int image = layer_quotient(at.z, destination_slices);
    int k = at.z - image * destination_slices;
    ivec2 tile = ivec2((at.x - lane) / 128, at.y) * TILE;
    keep_source(lane, ivec2(first_x, first_y) + tile, first_slice(k), image);
    keep_weights(lane, k);
    barrier();
    ivec2 own = own_pixel(lane);
    vec4 sum[2];
    sum[0] = sum[1] = bias_of(k);
    for (int p = 0; p < KERNEL_WIDTH; p++) {
        vec4 column[KERNEL_HEIGHT + 1];
        for (int q = 0; q < KERNEL_HEIGHT + 1; q++)
            column[q] = kept(own + ivec2(p, q));
        for (int q = 0; q < KERNEL_HEIGHT; q++) {
            vec4 w = kept_weights[q * KERNEL_WIDTH + p];
            sum[0] += product(w, column[q], 0);
            sum[1] += product(w, column[q + 1], 0);
        }
    }
    vec4 slope = neuron_slope(k);
    BEGIN_REDUCTION(own_values);
    for (int i = 0; i < 2; i++) {
        ivec2 X = tile + own + ivec2(0, i);
        if (X.x < region_width && X.y < region_height) {
            vec4 value = neuron(sum[i], slope);
            store_destination(region_x + X.x, region_y + X.y, k, image, value);
            REDUCE_VALUE(own_values, value, X, k, image);
        }
    }
    WRITE_RUN(lane, 1, run_of_tile(tile / TILE, image), k, own_values);
    FINISH_REDUCTION(lane, 1, k);
}
