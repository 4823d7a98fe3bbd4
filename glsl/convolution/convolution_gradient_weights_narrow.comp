// dW(k, q, p, c) = sum over images and X of G(X, k) * in(first + stride * X + dilation * (p, q), c)
// db(k) = sum of G(X, k)
// Partial sums as those of convolution/convolution_gradient_weights.comp, for compilers that keep few
// values: invocation (chunk, taps, s and k) has up to TAPS taps of a row of the window for one
// slice of inputs; beyond the last taps one more stands for the biases. SLIDES (stride and dilation 1):
// a tap reads what the next one read a column before, so one read does for all. PAIR (windows of one
// column, TAPS 1): two slices of inputs, of which the last may lie beyond.
// needs lib/divide.glsl
// needs convolution/convolution.glsl
// needs convolution/outside.glsl
#ifdef PAIR
#define SUMS        2 // of COMPONENTS each
#define INPUT(X, t) input_at(rows[t], first_x + stride_x * (X) + dilation_x * p0, slice + (t))
#define PAIRS       (range + 1 >> 1)
#elif defined(SLIDES)
#define INPUT(X, t) window[t]
#else
#define INPUT(X, t) input_at(row, first_x + stride_x * (X) + dilation_x * (p0 + (t)), slice)
#endif
#ifndef PAIR
#define SUMS TAPS
#endif

void keep(int chunk, int k, int element, vec4 value) {
    partial_sums[(chunk * slice_total + k) * (element_count + 1) + element] = value;
}

vec4 input_at(ivec3 row, int x, int slice) {
#ifdef EDGE_CLAMP
    return source_at(row, clamp(x, 0, source_width - 1), 0, slice);
#else
    return zero_outside(source_at(row, x, 0, slice), x, 0, source_width - 1);
#endif
}

void sum_biases(int chunk, int k) {
    vec4 sum = vec4(0.0);
    int end = min((chunk + 1) * rows_per_chunk, row_total);
    for (int number = chunk * rows_per_chunk; number < end; number++) {
        int image = whole_quotient(number, end_y - begin_y);
        int Y = begin_y + number - image * (end_y - begin_y);
        ivec3 row = gradient_place(k, image) + ivec3(0, Y, 0);
        for (int X = begin_x; X < end_x; X++)
            sum += gradient_at(row, X, 0, k);
    }
    keep(chunk, k, element_count, sum);
}

void sum_weights(int chunk, int k, int s, int p0, int q) {
    int slice = min(first_slice(k) + s, source_slices - 1);
    vec4 sum[SUMS * COMPONENTS];
    for (int i = 0; i < SUMS * COMPONENTS; i++)
        sum[i] = vec4(0.0);
    int end = min((chunk + 1) * rows_per_chunk, row_total);
    for (int number = chunk * rows_per_chunk; number < end; number++) {
        int image = whole_quotient(number, end_y - begin_y);
        int Y = begin_y + number - image * (end_y - begin_y);
        int y = first_y + stride_y * Y + dilation_y * q;
        int row_y = clamp(y, 0, source_height - 1);
#ifndef EDGE_CLAMP
        if (y != row_y)
            continue;
#endif
        ivec3 from = gradient_place(k, image) + ivec3(0, Y, 0);
        ivec3 row = source_place(slice, image) + ivec3(0, row_y, 0);
#ifdef PAIR
        ivec3 rows[2];
        rows[0] = row;
        rows[1] = source_place(min(slice + 1, source_slices - 1), image) + ivec3(0, row_y, 0);
#endif
#ifdef SLIDES
        vec4 window[TAPS];
        for (int t = 1; t < TAPS; t++)
            window[t] = input_at(row, first_x + begin_x + p0 + t - 1, slice);
#endif
        for (int X = begin_x; X < end_x; X++) {
            vec4 g = gradient_at(from, X, 0, k);
#ifdef SLIDES
            for (int t = 1; t < TAPS; t++)
                window[t - 1] = window[t];
            window[TAPS - 1] = input_at(row, first_x + X + p0 + TAPS - 1, slice);
#endif
            for (int t = 0; t < SUMS; t++) {
                vec4 v = INPUT(X, t);
                for (int c = 0; c < COMPONENTS; c++)
                    sum[t * COMPONENTS + c] += product(g, v, c);
            }
        }
    }
    int element = ((q * kernel_width + p0) * range + s) * COMPONENTS;
#ifdef PAIR
    for (int t = 0; t < 2; t++, element += COMPONENTS)
        for (int c = 0; c < COMPONENTS && s + t < range; c++)
            keep(chunk, k, element + c, sum[t * COMPONENTS + c]);
#else
    for (int t = 0; t < TAPS; t++, element += range * COMPONENTS)
        for (int c = 0; c < COMPONENTS && p0 + t < kernel_width; c++)
            keep(chunk, k, element + c, sum[t * COMPONENTS + c]);
#endif
}

void invocation(ivec3 at) {
#ifdef PAIR
    int k = whole_quotient(at.z, PAIRS);
    int s = 2 * (at.z - k * PAIRS);
    int q = at.y, p0 = 0;
#else
    int k = whole_quotient(at.z, range);
    int s = at.z - k * range;
    int groups = (kernel_width + TAPS - 1) / TAPS;
    int q = whole_quotient(at.y, groups), p0 = (at.y - q * groups) * TAPS;
#endif
    if (q < kernel_height)
        sum_weights(at.x, k, s, p0, q);
    else if (s == 0)
        sum_biases(at.x, k);
}
