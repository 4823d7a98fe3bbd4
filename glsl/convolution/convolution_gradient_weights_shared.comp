// dW(k, q, p) = sum over images and X of G(X, k) * in(first + X + (p, q), c);   db(k) = sum of G(X, k)
// As convolution/convolution_gradient_weights_group.comp, for small windows of stride and dilation 1:
// the group keeps the source below one tile of 16x16 pixels of its chunk after the other.
// needs convolution/convolution.glsl
// needs convolution/kept_source.glsl
// needs lib/lanes.glsl
#define TAPS (KERNEL_WIDTH * KERNEL_HEIGHT)

void keep(int chunk, int k, int element, vec4 value) {
    parts[(chunk * slice_total + k) * (element_count + 1) + element] = value;
}

// Corner and image of a tile; those of all images are numbered through.
ivec3 place_of_tile(int tile) {
    int row = tile / tiles_x;
    int image = row / tiles_y;
    return ivec3(begin_x + (tile - row * tiles_x) * TILE, begin_y + (row - image * tiles_y) * TILE,
                 image);
}

// 0 beyond the pixels that take part.
vec4 gradient_at(ivec2 X, int k, int image) {
    vec4 g = gradient(min(X.x, end_x - 1), min(X.y, end_y - 1), k, image);
    return X.x < end_x && X.y < end_y ? g : vec4(0.0);
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), chunk = (at.x - lane) / LANES;
    int k = at.z / range;
    int s = at.z - k * range;
    int begin = chunk * tiles_per_chunk;
    int end = min(begin + tiles_per_chunk, tile_total);
    ivec2 own = own_pixel(lane);
    vec4 bias = vec4(0.0), sum[TAPS];
    for (int t = 0; t < TAPS; t++)
        sum[t] = vec4(0.0);
    for (int tile = begin; tile < end; tile++) {
        ivec3 X = place_of_tile(tile);
        barrier();
        keep_source(lane, ivec2(first_x, first_y) + X.xy, first_slice(k) + s, X.z);
        vec4 g0 = gradient_at(X.xy + own, k, X.z);
        vec4 g1 = gradient_at(X.xy + own + ivec2(0, 1), k, X.z);
        barrier();
        bias += g0 + g1;
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 column[KERNEL_HEIGHT + 1];
            for (int q = 0; q < KERNEL_HEIGHT + 1; q++)
                column[q] = kept(own + ivec2(p, q));
            for (int q = 0; q < KERNEL_HEIGHT; q++)
                sum[q * KERNEL_WIDTH + p] +=
                    product(g0, column[q], 0) + product(g1, column[q + 1], 0);
        }
    }
    for (int t = 0; t < TAPS; t++) {
        vec4 total = sum_of_lanes(lane, sum[t]);
        if (lane == 0)
            keep(chunk, k, t * range + s, total);
    }
    vec4 total = sum_of_lanes(lane, bias);
    if (lane == 0 && s == 0)
        keep(chunk, k, element_count, total);
}
