// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// One invocation makes PIXELS neighbours in a row of SLICES output slices. They are stored step
// pixels apart: a strided data gradient is one such sum for each place within a stride.
// With SHARED_ROW (stride and dilation 1) the neighbours' taps are read once for all taps of a row.
// needs convolution/convolution.glsl
#ifdef SHARED_ROW
#define READS (PIXELS + KERNEL_WIDTH - 1)
#else
#define READS PIXELS
#endif

vec4 sum[SLICES * PIXELS]; // of pixel i of slice j at j * PIXELS + i
vec4 v[READS];             // in(t, .) of one slice of inputs, along a row

vec4 weight(int element, int k) { return matrix(PACKED_X(element), PACKED_Y(element), 0, k); }

// W(k, q, p, .) of one slice of inputs, column by column, times v.
#if COMPONENTS == 1
#define WEIGHTS vec4
vec4 weights(int element, int k) { return weight(element, k); }
vec4 through(vec4 w, vec4 value) { return product(w, value, 0); }
#else
#define WEIGHTS mat4
mat4 weights(int element, int k) {
    return mat4(weight(element, k), weight(element + 1, k), weight(element + 2, k),
                weight(element + 3, k));
}
vec4 through(mat4 w, vec4 value) { return w * value; }
#endif

vec4 input_at(int x, int y, int slice, int image) {
    ivec2 t = clamp(ivec2(x, y), ivec2(low_x, low_y), ivec2(high_x, high_y));
    vec4 value = source(t.x, t.y, slice, image);
#ifdef EDGE_CLAMP
    return value;
#else
    return t == ivec2(x, y) ? value : vec4(0.0);
#endif
}

void begin_slice(int j, int k) {
    vec4 bias = weight(element_count, k);
    for (int i = 0; i < PIXELS; i++)
        sum[j * PIXELS + i] = bias;
}

// Pixel i reads v[i + shift].
// i counts down: counting up, i + shift of shift 1 is also the next i, and virgl (Mesa 22.3) keeps
// both in one register before it stores the sum, which then goes to sum[i + 1]. No sum depends on
// the order.
void add_slice(int j, int k, int element, int shift) {
    WEIGHTS w = weights(element, k);
    for (int i = PIXELS - 1; i >= 0; i--)
        sum[j * PIXELS + i] += through(w, v[i + shift]);
}

// One after the other and not in loops, which compilers may leave as they are: the places in `sum`
// and `v` would not be constants then.
void begin_slices(ivec4 k) {
    begin_slice(0, k[0]);
#if SLICES > 1
    begin_slice(1, k[1]);
#endif
#if SLICES > 2
    begin_slice(2, k[2]);
    begin_slice(3, k[3]);
#endif
}

void add_tap(ivec4 k, int element, int shift) {
    add_slice(0, k[0], element, shift);
#if SLICES > 1
    add_slice(1, k[1], element, shift);
#endif
#if SLICES > 2
    add_slice(2, k[2], element, shift);
    add_slice(3, k[3], element, shift);
#endif
}

#ifdef SHARED_ROW
// All taps of a row. The weights of the first lie at `element`, the next `apart` further.
void add_taps(ivec4 k, int element, int apart) {
    add_tap(k, element, 0);
#if KERNEL_WIDTH > 1
    add_tap(k, element + apart, 1);
#endif
#if KERNEL_WIDTH > 2
    add_tap(k, element + 2 * apart, 2);
#endif
#if KERNEL_WIDTH > 3
    add_tap(k, element + 3 * apart, 3);
#endif
#if KERNEL_WIDTH > 4
    add_tap(k, element + 4 * apart, 4);
#endif
#if KERNEL_WIDTH > 5
    add_tap(k, element + 5 * apart, 5);
#endif
#if KERNEL_WIDTH > 6
    add_tap(k, element + 6 * apart, 6);
#endif
}
#endif

void invocation(ivec3 at) {
    int row = at.x / columns;
    int image = row / region_height;
    int x0 = (at.x - row * columns) * PIXELS;
    int y0 = row - image * region_height;
    int k = at.y * SLICES;
    int last = destination_slices - 1;
    ivec4 rows = min(k + ivec4(0, 1, 2, 3), ivec4(last));
    begin_slices(rows);
    int left = first_x + stride_x * x0;
    int top = first_y + stride_y * y0;
    int begin = first_slice(k);
    for (int s = 0; s < range; s++) {
        int slice = min(begin + s, source_slices - 1);
        for (int q = 0; q < kernel_height; q++) {
            int y = top + dilation_y * q;
#ifdef SHARED_ROW
            for (int i = 0; i < READS; i++)
                v[i] = input_at(left + i, y, slice, image);
            add_taps(rows, (q * KERNEL_WIDTH * range + s) * COMPONENTS, range * COMPONENTS);
#else
            for (int p = 0; p < kernel_width; p++) {
                for (int i = 0; i < PIXELS; i++)
                    v[i] = input_at(left + stride_x * i + dilation_x * p, y, slice, image);
                add_tap(rows, ((q * kernel_width + p) * range + s) * COMPONENTS, 0);
            }
#endif
        }
    }
    for (int j = 0; j < SLICES; j++) {
        vec4 slope = neuron_slope(k + j);
        for (int i = 0; i < PIXELS; i++)
            if (x0 + i < region_width && k + j <= last)
                store_destination(region_x + step_x * (x0 + i), region_y + step_y * y0, k + j,
                                  image, neuron(sum[j * PIXELS + i], slope));
    }
}
