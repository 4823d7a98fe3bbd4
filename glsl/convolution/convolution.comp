// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// One invocation keeps a register tile: PIXELS neighbours along a row, of SLICES output slices. They
// are stored step pixels apart: a strided data gradient is one such sum for each phase, the pixels that
// lie equally within a stride.
// PHASES: all of those sums in one pass, a layer of the grid for each phase.
// SHARED_TAPS (stride and dilation 1): the taps along the row, which share the neighbours' reads;
// with PHASES the most that a phase has.
// LINES_OF_TAPS: how many rows of taps, one after the other and in no loop. ONE_SLICE: of inputs.
// ALL_SLICES: one invocation makes all slices of a pixel.
// STRETCH: of long sums so many lines of taps are added up by themselves, or what float32 loses at each
// of many equal terms would be more than the bound of glcnn/image.h.
// needs convolution/convolution.glsl
// needs convolution/bias.glsl
// needs convolution/input.glsl
// needs convolution/phases.glsl
// needs pixel_reduction/epilogue.glsl
#ifdef SHARED_TAPS
#define READS (PIXELS + SHARED_TAPS - 1)
#else
#define READS PIXELS
#endif

#ifdef PHASES
#define IF_TAP(l) if (l < TAPS.x)
#else
#define IF_TAP(l)
#endif

// Of pixel i of slice j. Mesa unrolls a loop, however long, that goes through all of an array.
#ifdef LINES_OF_TAPS
vec4 sum[SLICES][PIXELS];
#define SUM(j, i) sum[j][i]
#else
vec4 sum[SLICES * PIXELS];
#define SUM(j, i) sum[(j) * PIXELS + (i)]
#endif
#ifdef STRETCH
vec4 stretches[SLICES * PIXELS]; // what went before
int lines_left = STRETCH;
#define TOTAL(j, i) (stretches[(j) * PIXELS + (i)] + SUM(j, i))
#else
#define TOTAL(j, i) SUM(j, i)
#endif
vec4 v[READS];             // in(t, .) of one slice of inputs, along the line
#ifdef EPILOGUE
reduced own_values; // of one slice
#endif

vec4 weight(int element, int k) { return matrix(PACKED_X(element), PACKED_Y(element), 0, k); }

// W(k, q, p, .) of one slice of inputs, column by column, times v.
#if COMPONENTS == 1
#define WEIGHTS vec4
vec4 weights_at(int element, int k) { return weight(element, k); }
vec4 through(vec4 w, vec4 value) { return product(w, value, 0); }
#else
#define WEIGHTS mat4
mat4 weights_at(int element, int k) {
    return mat4(weight(element, k), weight(element + 1, k), weight(element + 2, k),
                weight(element + 3, k));
}
vec4 through(mat4 w, vec4 value) { return w * value; }
#endif

void begin_slice(int j, int k) {
    vec4 bias = bias_of(k);
    for (int i = 0; i < PIXELS; i++) {
        SUM(j, i) = bias;
#ifdef STRETCH
        stretches[j * PIXELS + i] = vec4(0.0);
#endif
    }
}

#ifdef STRETCH
void end_line_of_taps() {
    if (--lines_left > 0)
        return;
    lines_left = STRETCH;
    for (int n = 0; n < SLICES * PIXELS; n++) {
        stretches[n] += sum[n];
        sum[n] = vec4(0.0);
    }
}
#endif

// Pixel i reads v[i + shift].
// i counts down: counting up, i + shift of shift 1 is also the next i, and virgl (Mesa 22.3) keeps
// both in one register before it stores the sum, which then goes to sum[i + 1]. No sum depends on
// the order.
void add_slice(int j, int k, int element, int shift) {
    WEIGHTS w = weights_at(element, k);
    for (int i = PIXELS - 1; i >= 0; i--)
        SUM(j, i) += through(w, v[i + shift]);
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

#ifdef SHARED_TAPS
// All taps of a line. The weights of the first lie at `element`, the next `apart` further.
void add_taps(ivec4 k, int element, int apart) {
    add_tap(k, element, 0);
#if SHARED_TAPS > 1
    IF_TAP(1) add_tap(k, element + apart, 1);
#endif
#if SHARED_TAPS > 2
    IF_TAP(2) add_tap(k, element + 2 * apart, 2);
#endif
#if SHARED_TAPS > 3
    IF_TAP(3) add_tap(k, element + 3 * apart, 3);
#endif
#if SHARED_TAPS > 4
    IF_TAP(4) add_tap(k, element + 4 * apart, 4);
#endif
#if SHARED_TAPS > 5
    IF_TAP(5) add_tap(k, element + 5 * apart, 5);
#endif
#if SHARED_TAPS > 6
    IF_TAP(6) add_tap(k, element + 6 * apart, 6);
#endif
}
#endif

// The first of an invocation's pixels within the region, and its image. `lines`: the groups of
// PIXELS that a line has.
ivec3 first_pixel(int at) {
    int row = quotient(at, lines);
    int image = quotient(row, region_height);
    return ivec3((at - row * lines) * PIXELS, row - image * region_height, image);
}

void add_line_of_taps(ivec4 k, int s, int a, ivec2 corner, int slice, int image) {
    ivec2 t = corner + ivec2(0, dilation_y * a);
    int element = ((TAP0 + a * TAP_STEP_Y) * range + s) * COMPONENTS;
#ifdef SHARED_TAPS
    for (int i = 0; i < READS; i++)
        v[i] = input_at(t + ivec2(i, 0), slice, image);
    add_taps(k, element, TAP_STEP_X * range * COMPONENTS);
#else
    for (int l = 0; l < TAPS.x; l++) {
        for (int i = 0; i < PIXELS; i++)
            v[i] = input_at(t + ivec2(stride_x * i + dilation_x * l, 0), slice, image);
        add_tap(k, element + l * TAP_STEP_X * range * COMPONENTS, 0);
    }
#endif
#ifdef STRETCH
    end_line_of_taps();
#endif
}

void add_slice_of_inputs(ivec4 k, int s, ivec2 corner, int slice, int image) {
#ifdef LINES_OF_TAPS
    add_line_of_taps(k, s, 0, corner, slice, image);
#if LINES_OF_TAPS > 1
    add_line_of_taps(k, s, 1, corner, slice, image);
#endif
#if LINES_OF_TAPS > 2
    add_line_of_taps(k, s, 2, corner, slice, image);
#endif
#else
    for (int a = 0; a < TAPS.y; a++)
        add_line_of_taps(k, s, a, corner, slice, image);
#endif
}

void invocation(ivec3 at) {
#ifdef PHASES
    find_phase(at.z);
#endif
#ifdef EPILOGUE // whole groups run: what lies beyond the grid stores nothing
    int lane = int(gl_LocalInvocationIndex), last_line = grid_size().x - 1;
    bool stores = at.x <= last_line;
    ivec3 first = first_pixel(min(at.x, last_line));
#else
    const bool stores = true;
    ivec3 first = first_pixel(at.x);
#endif
#ifdef ALL_SLICES
    const int k = 0;
#else
    int k = at.y * SLICES;
#endif
    int last = destination_slices - 1;
    ivec4 rows = min(k + ivec4(0, 1, 2, 3), ivec4(last));
    begin_slices(rows);
    ivec2 corner = CORNER + ivec2(stride_x, stride_y) * first.xy;
    int begin = first_slice(k);
#ifdef ONE_SLICE
    add_slice_of_inputs(rows, 0, corner, begin, first.z);
#else
    for (int s = 0; s < range; s++)
        add_slice_of_inputs(rows, s, corner, min(begin + s, source_slices - 1), first.z);
#endif
    for (int j = 0; j < SLICES; j++) {
        vec4 slope = neuron_slope(k + j);
        BEGIN_REDUCTION(own_values);
        for (int i = 0; i < PIXELS; i++) {
            ivec2 X = first.xy + ivec2(i, 0);
            ivec2 u = stored_at(X);
            if (stores && is_stored(X) && k + j <= last) {
                vec4 value = neuron(TOTAL(j, i), slope);
                store_destination(u.x, u.y, k + j, first.z, value);
                REDUCE_VALUE(own_values, value, u, k + j, first.z);
            }
        }
        WRITE_RUN(lane, 1, at.x / LANES, k + j, own_values);
    }
    FINISH_REDUCTION(lane, 1, k);
}
