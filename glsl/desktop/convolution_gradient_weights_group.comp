// dW(k, q, p) = sum over images and X of G(X, k) * in(first + stride * X + dilation * (p, q), c)
// db(k) = sum of G(X, k)
// Where an element has one component: a single input, or one for each output. A group of LANES
// invocations shares the pixels of chunk at.x / LANES, for TAPS taps of one slice of inputs, and
// adds up in pairs what they have. convolution/convolution_gradient_sum.comp adds the chunks.
// needs convolution/convolution.glsl
// needs desktop/gradient_pixels.glsl
// needs lib/lanes.glsl
void keep(int chunk, int k, int element, vec4 value) {
    partial_sums[(chunk * slice_total + k) * (element_count + 1) + element] = value;
}

void invocation(ivec3 at) {
    int lane = int(gl_LocalInvocationIndex), chunk = at.x / LANES;
    int k = layer_quotient(at.z, range);
    int s = at.z - k * range;
    int slice = min(first_slice(k) + s, source_slices - 1);
    int first_tap = at.y * TAPS, tap_count = kernel_width * kernel_height;
    int begin = chunk * pixels_per_chunk;
    int end = min(begin + pixels_per_chunk, pixel_total);
    vec4 bias = vec4(0.0);
    vec4 sum[TAPS];
    for (int t = 0; t < TAPS; t++)
        sum[t] = vec4(0.0);
    for (int pixel = begin + lane; pixel < end; pixel += LANES) {
        ivec3 X = place_of(pixel);
        int left = first_x + stride_x * X.x, top = first_y + stride_y * X.y;
        vec4 g = gradient(X.x, X.y, k, X.z);
        bias += g;
        for (int t = 0; t < TAPS; t++) {
            int tap = min(first_tap + t, tap_count - 1);
            int q = quotient(tap, kernel_width);
            int x = left + dilation_x * (tap - q * kernel_width);
            sum[t] += product(g, source_edge(x, top + dilation_y * q, slice, X.z), 0);
        }
    }
    for (int t = 0; t < TAPS; t++) {
        vec4 total = sum_of_lanes(lane, sum[t]);
        if (lane == 0 && first_tap + t < tap_count)
            keep(chunk, k, (first_tap + t) * range + s, total);
    }
    vec4 total = sum_of_lanes(lane, bias);
    if (lane == 0 && first_tap == 0 && s == 0)
        keep(chunk, k, element_count, total);
}
