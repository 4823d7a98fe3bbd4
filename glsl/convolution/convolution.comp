// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// One invocation makes PIXELS neighbours in a row of SLICES output slices. They are stored step
// pixels apart: a strided data gradient is one such sum for each place within a stride.
// With SHARED_ROW (stride and dilation 1) the neighbours' taps are read once for all taps of a row.
// needs convolution/convolution.glsl
vec4 weight(int element, int k) { return matrix(PACKED_X(element), PACKED_Y(element), 0, k); }

vec4 input_at(int x, int y, int slice, int image) {
    ivec2 t = clamp(ivec2(x, y), ivec2(low_x, low_y), ivec2(high_x, high_y));
    vec4 v = source(t.x, t.y, slice, image);
#ifdef EDGE_CLAMP
    return v;
#else
    return t == ivec2(x, y) ? v : vec4(0.0);
#endif
}

// Adds one tap to the sums of slice k + J: v[i + SHIFT] is what pixel i reads.
// i counts down: counting up, i + SHIFT of SHIFT 1 is also the next i, and virgl (Mesa 22.3) keeps
// both in one register before it stores the sum, which then goes to sum[i + 1]. No sum depends on
// the order.
#if COMPONENTS == 1
#define ADD_SLICE(J, K, E, SHIFT)                                                                     \
    {                                                                                              \
        vec4 w0 = weight(E, K);                                                                 \
        for (int i = PIXELS - 1; i >= 0; i--)                                                      \
            sum[J * PIXELS + i] += product(w0, v[i + SHIFT], 0);                                      \
    }
#else
#define ADD_SLICE(J, K, E, SHIFT)                                                                     \
    {                                                                                              \
        vec4 w0 = weight(E, K), w1 = weight(E + 1, K);                                       \
        vec4 w2 = weight(E + 2, K), w3 = weight(E + 3, K);                                   \
        for (int i = PIXELS - 1; i >= 0; i--)                                                      \
            sum[J * PIXELS + i] += w0 * v[i + SHIFT].x + w1 * v[i + SHIFT].y +                     \
                                   w2 * v[i + SHIFT].z + w3 * v[i + SHIFT].w;                      \
    }
#endif

#if SLICES == 4
#define ADD(E, SHIFT) ADD_SLICE(0, k0, E, SHIFT) ADD_SLICE(1, k1, E, SHIFT) ADD_SLICE(2, k2, E, SHIFT) ADD_SLICE(3, k3, E, SHIFT)
#elif SLICES == 2
#define ADD(E, SHIFT) ADD_SLICE(0, k0, E, SHIFT) ADD_SLICE(1, k1, E, SHIFT)
#else
#define ADD(E, SHIFT) ADD_SLICE(0, k0, E, SHIFT)
#endif

#ifdef SHARED_ROW
#define TAP(P) ADD(element + P * range * COMPONENTS, P)
#if KERNEL_WIDTH == 1
#define TAPS TAP(0)
#elif KERNEL_WIDTH == 2
#define TAPS TAP(0) TAP(1)
#elif KERNEL_WIDTH == 3
#define TAPS TAP(0) TAP(1) TAP(2)
#elif KERNEL_WIDTH == 4
#define TAPS TAP(0) TAP(1) TAP(2) TAP(3)
#elif KERNEL_WIDTH == 5
#define TAPS TAP(0) TAP(1) TAP(2) TAP(3) TAP(4)
#elif KERNEL_WIDTH == 6
#define TAPS TAP(0) TAP(1) TAP(2) TAP(3) TAP(4) TAP(5)
#else
#define TAPS TAP(0) TAP(1) TAP(2) TAP(3) TAP(4) TAP(5) TAP(6)
#endif
#define READS (PIXELS + KERNEL_WIDTH - 1)
#else
#define READS PIXELS
#endif

void invocation(ivec3 at) {
    int row = at.x / columns;
    int image = row / region_height;
    int x0 = (at.x - row * columns) * PIXELS;
    int y0 = row - image * region_height;
    int k = at.y * SLICES;
    int last = destination_slices - 1;
    int k0 = k, k1 = min(k + 1, last), k2 = min(k + 2, last), k3 = min(k + 3, last);
    vec4 sum[SLICES * PIXELS];
    vec4 v[READS];
    for (int i = 0; i < PIXELS; i++) {
        sum[i] = weight(element_count, k0);
#if SLICES > 1
        sum[PIXELS + i] = weight(element_count, k1);
#endif
#if SLICES > 2
        sum[2 * PIXELS + i] = weight(element_count, k2);
        sum[3 * PIXELS + i] = weight(element_count, k3);
#endif
    }
    int left = first_x + stride_x * x0;
    int top = first_y + stride_y * y0;
    int begin = first_slice(k);
    for (int s = 0; s < range; s++) {
        int slice = min(begin + s, source_slices - 1);
        for (int q = 0; q < kernel_height; q++) {
            int y = top + dilation_y * q;
#ifdef SHARED_ROW
            int element = (q * KERNEL_WIDTH * range + s) * COMPONENTS;
            for (int i = 0; i < READS; i++)
                v[i] = input_at(left + i, y, slice, image);
            TAPS
#else
            for (int p = 0; p < kernel_width; p++) {
                int element = ((q * kernel_width + p) * range + s) * COMPONENTS;
                for (int i = 0; i < PIXELS; i++)
                    v[i] = input_at(left + stride_x * i + dilation_x * p, y, slice, image);
                ADD(element, 0)
            }
#endif
        }
    }
    for (int j = 0; j < SLICES; j++) {
        vec4 slope = neuron_slope(k + j);
        for (int i = 0; i < PIXELS; i++)
            if (x0 + i < region_width && k + j <= last)
                store_destination(region_x + step_x * (x0 + i), region_y + step_y * y0, k + j, image,
                                  neuron(sum[j * PIXELS + i], slope));
    }
}
