// dX(u, c) = sum over X, outputs k and taps (q, p) of W(k, q, p, c) * G(X, k)
//     where edge(first + stride * X + dilation * (p, q)) = u
// A convolution's transpose is this with biases, element_count, and a neuron.
// A gather: one invocation owns one source pixel. With edge mode clamp a border pixel is read by
// every tap beyond it, so a tap has a range of X; with zero only each tap_step-th tap can meet a
// pixel at all. `matrix` is transposed.
// needs lib/window.glsl
// needs convolution/first_tap.glsl
// needs convolution/convolution.glsl
vec4 weight(int element, int k) { return matrix(PACKED_X(element), PACKED_Y(element), 0, k); }

vec4 through_tap(int tap, int X, int Y, int k, int image) {
    vec4 sum = vec4(0.0);
    int begin = first_slice(k);
    for (int s = 0; s < range; s++) {
        vec4 g = gradient(X, Y, min(begin + s, gradient_slices - 1), image);
        int element = (tap * range + s) * COMPONENTS;
#if COMPONENTS == 1
        sum += product(weight(element, k), g, 0);
#else
        sum += weight(element, k) * g.x + weight(element + 1, k) * g.y +
               weight(element + 2, k) * g.z + weight(element + 3, k) * g.w;
#endif
    }
    return sum;
}

void invocation(ivec2 at, int k, int image) {
    int x = at.x + shift_x;
    int y = at.y + shift_y;
#ifdef EDGE_CLAMP
    int p0 = 0, q0 = 0;
#else
    int p0 = first_tap(x - first_x, stride_x, dilation_x, tap_step_x);
    int q0 = first_tap(y - first_y, stride_y, dilation_y, tap_step_y);
#endif
    vec4 sum = weight(element_count, k);
    for (int q = q0; q < KERNEL_HEIGHT; q += tap_step_y) {
        int top = first_y + dilation_y * q;
        ivec2 rows = windows_with(y, source_height, top, stride_y, 1, 1, begin_y, end_y,
                                  edge_clamped);
        for (int p = p0; p < KERNEL_WIDTH; p += tap_step_x) {
            int left = first_x + dilation_x * p;
            ivec2 columns = windows_with(x, source_width, left, stride_x, 1, 1, begin_x, end_x,
                                         edge_clamped);
            for (int Y = rows.x; Y <= rows.y; Y++)
                for (int X = columns.x; X <= columns.y; X++)
                    sum += through_tap(q * KERNEL_WIDTH + p, X, Y, k, image);
        }
    }
#ifdef EDGE_CLAMP
    if (!is_within(x, y, source_width, source_height))
        sum = vec4(0.0);
#endif
    store_destination(at.x, at.y, k, image, neuron(sum, neuron_slope(k)));
}
