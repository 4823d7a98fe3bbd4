// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// As convolution/convolution.comp, for compilers that keep few values: one invocation makes PIXELS
// neighbours in a row of one output slice. Rows are at least as long; the last invocation of a row
// overlaps the one before it. SHARED_TAPS (stride and dilation 1): the taps of a row, which share
// what they read. STRETCH: as there. PHASES: as there, and the grid's y goes through the rows of a
// phase after the others; what a phase lacks of the longest row or of the most rows is not stored.
// OUTSIDE_LEFT, OUTSIDE_RIGHT: how many of the pixels that are read for a tap, or for the taps of a row,
// may lie outside at either end; those between need no mask. INTERIOR: tiles all of whose pixels lie inside
// have a loop of their own, without masks. PACKED_BUFFER: weights lie in a buffer, and all invocations of
// a group read the same, whose address some compilers then compute once for all.
// needs lib/divide.glsl
// needs convolution/convolution.glsl
// needs convolution/packed_weights.glsl
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

// Of the READS pixels of a tap or of the taps of a row, as a constant. Midgard's compiler schedules reads
// that are all alike.
#ifdef INTERIOR
#define MAY_BE_OUTSIDE(i) masked
#else
#define MAY_BE_OUTSIDE(i) ((i) < OUTSIDE_LEFT || (i) >= READS - OUTSIDE_RIGHT)
#endif

// All bits where read number i, at x, is inside, else none: an end is looked at by those that may lie
// beyond it.
int inside_bits(int i, int x) {
    int left = i < OUTSIDE_LEFT ? x - low_x : 0;
    int right = i >= READS - OUTSIDE_RIGHT ? high_x - x : 0;
    return ~((left | right) >> 31);
}

// Read number i, which may be outside.
vec4 input_at(ivec3 row, int i, int x, int slice) {
#ifdef EDGE_CLAMP
    return source_at(row, clamp(x, low_x, high_x), 0, slice);
#else
    return zero_unless(source_at(row, x, 0, slice), inside_bits(i, x));
#endif
}

// Adds the taps of the windows of PIXELS pixels from `corner` on.
void add_windows(ivec2 corner, int k, int image, const bool masked, inout vec4 sum[PIXELS]) {
    int begin = first_slice(k);
    WEIGHTS_PLACE weights = weights_of(k);
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
            int y = corner.y + dilation_y * q;
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
                    v[i] = MAY_BE_OUTSIDE(i) ? input_at(row, i, corner.x + i, slice)
                                             : source_at(row, corner.x + i, 0, slice);
#endif
                for (int t = 0; t < TOGETHER; t++)
                    IF_TAP(t) {
                        for (int c = 0; c < COMPONENTS; c++)
                            w[c] = weight(weights, element + c);
                        for (int i = 0; i < PIXELS; i++) {
#ifndef SHARED_TAPS
                            int x = corner.x + stride_x * i + dilation_x * p;
                            v[i] = MAY_BE_OUTSIDE(i) ? input_at(row, i, x, slice)
                                                     : source_at(row, x, 0, slice);
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
}

void invocation(ivec3 at) {
    int k = at.z;
    int x0 = min(PIXELS * at.x, region_width - PIXELS);
    int number = whole_quotient(at.y, region_height);
    at.y -= number * region_height;
#ifdef PHASES
    int image = whole_quotient(number, phase_count);
    find_phase(number - image * phase_count);
#else
    int image = number;
#endif
    ivec2 corner = CORNER + ivec2(stride_x * x0, stride_y * at.y);
    vec4 bias = weight(weights_of(k), element_count);
    vec4 sum[PIXELS];
    for (int i = 0; i < PIXELS; i++)
        sum[i] = bias;
#ifdef INTERIOR
    int last = corner.x + stride_x * (PIXELS - 1) + dilation_x * (TAPS.x - 1);
    if (corner.x >= low_x && last <= high_x)
        add_windows(corner, k, image, false, sum);
    else
#endif
        add_windows(corner, k, image, true, sum);
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
