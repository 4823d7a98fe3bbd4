// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// As convolution/convolution.comp, for compilers that keep few values: one invocation makes PIXELS
// neighbours in a row of one output slice. Rows are at least as long; the last invocation of a row
// overlaps the one before it. SHARED_TAPS (stride and dilation 1): the taps of a row, which share
// what they read. STRETCH: as there. PHASES: as there, and the grid's y goes through the rows of a
// phase after the others; what a phase lacks of the longest row or of the most rows is not stored.
// needs lib/divide.glsl
// needs convolution/convolution.glsl
// needs convolution/outside.glsl
// needs convolution/phases.glsl
#ifdef SHARED_TAPS
#define READS    (PIXELS + SHARED_TAPS - 1)
#define TOGETHER SHARED_TAPS
#define TURNS    1
#else
#define READS    PIXELS
#define TOGETHER 1
#define TURNS    TAPS.x
#endif

// Elements between taps, and from the end of a line of taps to the next line.
#define APART (TAP_STEP_X * range * COMPONENTS)
#define LINE  (TAP_STEP_Y * range * COMPONENTS)
#ifdef PHASES
#define REST (LINE - TAPS.x * APART)
#else
#define REST 0
#endif
#if defined(PHASES) && defined(SHARED_TAPS) // the most that a phase has
#define IF_TAP(t) if (t < TAPS.x)
#else
#define IF_TAP(t)
#endif

// How many pixels are stored. LONG_FUNCTIONS: a number that compilers do not know, so that the neuron is
// there once. Copies of it share their constants, which Valhall's compiler then spills.
#ifdef LONG_FUNCTIONS
#define STORED min(PIXELS, region_width)
#else
#define STORED PIXELS
#endif

vec4 weight(ivec3 place, int element) {
    return matrix_at(place, PACKED_X(element), PACKED_Y(element), 0);
}

vec4 input_at(ivec3 row, int x, int slice) {
#ifdef EDGE_CLAMP
    return source_at(row, clamp(x, low_x, high_x), 0, slice);
#else
    return zero_outside(source_at(row, x, 0, slice), x, low_x, high_x);
#endif
}

void invocation(ivec3 at) {
    int image = whole_quotient(at.z, destination_slices);
    int k = at.z - image * destination_slices;
    int x0 = min(PIXELS * at.x, region_width - PIXELS);
#ifdef PHASES
    int number = whole_quotient(at.y, region_height);
    find_phase(number);
    at.y -= number * region_height;
#endif
    int left = CORNER.x + stride_x * x0;
    int top = CORNER.y + stride_y * at.y;
    int begin = first_slice(k);
    ivec3 weights = matrix_place(0, k);
    vec4 bias = weight(weights, element_count);
    vec4 sum[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        sum[i] = bias;
#ifdef STRETCH
    vec4 stretches[PIXELS];
    int lines_left = STRETCH;
    for (int i = 0; i < PIXELS; i++)
        stretches[i] = vec4(0.0);
#endif
    for (int s = 0; s < range; s++) {
        int slice = min(begin + s, source_slices - 1);
        ivec3 place = source_place(slice, image);
        int element = (TAP0 * range + s) * COMPONENTS;
        for (int q = 0; q < TAPS.y; q++) {
            int y = top + dilation_y * q;
            int row_y = clamp(y, low_y, high_y);
#ifndef EDGE_CLAMP
            if (y != row_y) {
                element += LINE;
                continue;
            }
#endif
            ivec3 row = place;
            row.y += row_y; // a sum of vectors takes Midgard's compiler one register more
            for (int p = 0; p < TURNS; p++) {
                vec4 v[READS], w[COMPONENTS];
#ifdef SHARED_TAPS
                for (int i = 0; i < READS; i++)
                    v[i] = input_at(row, left + i, slice);
#endif
                for (int t = 0; t < TOGETHER; t++)
                    IF_TAP(t) {
                        for (int c = 0; c < COMPONENTS; c++)
                            w[c] = weight(weights, element + c);
                        for (int i = 0; i < PIXELS; i++) {
#ifndef SHARED_TAPS
                            v[i] = input_at(row, left + stride_x * i + dilation_x * p, slice);
#endif
                            for (int c = 0; c < COMPONENTS; c++)
                                sum[i] += product(w[c], v[i + t], c);
                        }
                        element += APART;
                    }
            }
            element += REST;
#ifdef STRETCH
            lines_left--;
            for (int i = 0; i < PIXELS; i++) {
                stretches[i] += lines_left > 0 ? vec4(0.0) : sum[i];
                sum[i] = lines_left > 0 ? sum[i] : vec4(0.0);
            }
            lines_left = lines_left > 0 ? lines_left : STRETCH;
#endif
        }
    }
#ifdef STRETCH
    for (int i = 0; i < PIXELS; i++)
        sum[i] += stretches[i];
#endif
    vec4 slope = neuron_slope(k);
    for (int i = 0; i < STORED; i++) {
        ivec2 X = ivec2(x0 + i, at.y), u = stored_at(X);
#ifdef PHASES
        if (is_stored(X))
#endif
            store_destination(u.x, u.y, k, image, neuron(sum[0], slope));
        for (int j = 1; j < PIXELS; j++)
            sum[j - 1] = sum[j];
    }
}
