// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// As a product of matrices: rows are the pixels of all images, numbered through, columns are
// outputs, and the sum goes over elements. A group of 128 invocations makes ROWS rows of SLICES
// slices, each of them OWN rows of 2 slices. It keeps VECTORS vectors of elements (one tap of one
// slice of inputs each) at a time, and reads the next ones before it adds up those.
// UNPACKED, where rows are so few that packed weights would hardly be read again: the weights are
// read as the user has them, WITH_OUTPUTS where those of an element's outputs lie side by side.
// With SPLIT each layer of groups adds up some of the elements, and what it has is stored as part
// of a sum, which desktop/split_k_sum.comp ends.
// PHASES: a layer of groups for each phase of a strided data gradient.
// needs convolution/convolution.glsl
// needs desktop/bias.glsl
// needs convolution/phases.glsl
// needs pixel_reduction/epilogue.glsl
#define ROWS         64
#define COLUMNS      (SLICES / 2)   // invocations that own the same rows
#define NEAR         (32 / COLUMNS) // of 32, which run in step, those that own other rows
#define OWN          (ROWS * COLUMNS / 128)
#define DEPTH        (VECTORS * 4)
#define STEP         (128 / ROWS) // vectors that the invocations read at a time
#define INPUT_READS  (VECTORS / STEP)
#define WEIGHT_READS (SLICES * DEPTH / 128)
#define PITCH        (SLICES + 1) // neighbours in a column lie in different banks

shared float kept_inputs[DEPTH * ROWS];
shared vec4 kept_weights[DEPTH * PITCH];

int lane;                       // within the group
int vector;                       // the next of its inputs
ivec3 tap;                      // column, row and slice of that
#ifdef PHASES
ivec3 weight_tap;               // as tap, of the next of its weights
#endif
int last_element;               // the one after the last
int image;                      // of the pixel that the invocation reads for all
ivec2 corner;                   // of its window
vec4 inputs[INPUT_READS], own_weights[WEIGHT_READS]; // what it has read
bool live_inputs[INPUT_READS];                   // else 0
vec4 sum[2 * OWN];

ivec3 tap_of(int vector) {
    int tap = quotient(vector, source_slices);
    int row = quotient(tap, max(TAPS.x, 1));
    return ivec3(tap - row * TAPS.x, row, vector - tap * source_slices);
}

ivec3 next_tap(ivec3 tap) {
    tap.z++;
    if (tap.z == source_slices)
        tap = ivec3(tap.x + 1, tap.y, 0);
    if (tap.x == TAPS.x)
        tap = ivec3(0, tap.y + 1, tap.z);
    return tap;
}

// Whether it counts is asked when it is kept: whoever asks at once waits for the read.
void read_input(int i) {
    ivec2 t = corner + ivec2(dilation_x, dilation_y) * tap.xy;
    ivec2 inside = clamp(t, ivec2(low_x, low_y), ivec2(high_x, high_y));
    inputs[i] = source(inside.x, inside.y, min(tap.z, source_slices - 1), image);
    live_inputs[i] = vector * 4 < last_element;
#ifndef EDGE_CLAMP
    live_inputs[i] = live_inputs[i] && t == inside;
#endif
}

// Weights of four outputs; 0 after the last element, where inputs are 0 too.
vec4 read_weight(int element, int k) {
    if (element >= last_element || k >= destination_slices)
        return vec4(0.0);
#if defined(UNPACKED) && defined(WITH_OUTPUTS)
    return weights[element * destination_slices + k];
#elif defined(UNPACKED)
    return weights_unpacked(element, k);
#else
#ifdef PHASES
    int phase_tap = TAP0 + weight_tap.y * TAP_STEP_Y + weight_tap.x * TAP_STEP_X;
    element = (phase_tap * range + weight_tap.z) * 4 + (element & 3);
#endif
    return matrix(PACKED_X(element), PACKED_Y(element), 0, k);
#endif
}

// The weights that an invocation reads: of neighbouring elements, or outputs, as they lie.
#ifdef WITH_OUTPUTS
int weight_element(int j) { return lane / SLICES + 128 / SLICES * j; }

int weight_slice(int j) { return lane % SLICES; }
#else
int weight_element(int j) { return lane & (DEPTH - 1); }

int weight_slice(int j) { return int(uint(lane) / uint(DEPTH)) + 128 / DEPTH * j; }
#endif

// An invocation reads its part of a row of the inputs, and some of the weights.
void read_vectors(int first_element, int k) {
    for (int j = 0; j < WEIGHT_READS; j++)
        own_weights[j] = read_weight(first_element + weight_element(j), k + weight_slice(j));
    for (int i = 0; i < INPUT_READS; i++) {
        read_input(i);
        for (int n = 0; n < STEP; n++)
            tap = next_tap(tap);
        vector += STEP;
    }
#ifdef PHASES
    for (int n = 0; n < VECTORS; n++)
        weight_tap = next_tap(weight_tap);
#endif
}

// Rows of an invocation are NEAR apart, so that those in step store to neighbours; they are kept side
// by side.
int row_of(int i) {
    int run = lane / COLUMNS;
    return run / NEAR * NEAR * OWN + run % NEAR + NEAR * i;
}

int kept_at(int row) {
    return row / (NEAR * OWN) * NEAR * OWN + row % NEAR * OWN + row / NEAR % OWN;
}

int slice_of(int j) { return lane % COLUMNS + COLUMNS * j; }

void keep_vectors() {
    int at = kept_at(lane % ROWS);
    for (int i = 0; i < INPUT_READS; i++) {
        vec4 v = live_inputs[i] ? inputs[i] : vec4(0.0);
        for (int c = 0; c < 4; c++)
            kept_inputs[((i * STEP + lane / ROWS) * 4 + c) * ROWS + at] = v[c];
    }
    for (int j = 0; j < WEIGHT_READS; j++)
        kept_weights[weight_element(j) * PITCH + weight_slice(j)] = own_weights[j];
}

void add_vectors() {
    int own = lane / COLUMNS * OWN;
    for (int e = 0; e < DEPTH; e++) {
        vec4 w0 = kept_weights[e * PITCH + slice_of(0)];
        vec4 w1 = kept_weights[e * PITCH + slice_of(1)];
        for (int i = 0; i < OWN; i++) {
            float x = kept_inputs[e * ROWS + own + i];
            sum[2 * i] += x * w0;
            sum[2 * i + 1] += x * w1;
        }
    }
}

// Column, line and image of a row.
ivec3 place_of(int row) {
    int line = quotient(row, region_width);
    int image = quotient(line, region_height);
    return ivec3(row - line * region_width, line - image * region_height, image);
}

#ifdef SPLIT
void store_rows(int split, int first_row, int k) {
    for (int i = 0; i < OWN; i++) {
        int row = first_row + row_of(i);
        for (int j = 0; j < 2; j++)
            if (row < row_count && k + slice_of(j) < destination_slices)
                partial_sums[(split * row_count + row) * destination_slices + k + slice_of(j)] =
                    sum[2 * i + j];
    }
}
#else
// The next of an invocation's rows. Divisions would cost more than the lines that are stepped over.
ivec3 next_place(ivec3 X) {
    X.x += NEAR;
    while (X.x >= region_width) {
        X.x -= region_width;
        X.y++;
        if (X.y == region_height)
            X = ivec3(X.x, 0, X.z + 1);
    }
    return X;
}

vec4 bias[2], slope[2];
#ifdef EPILOGUE
reduced own_values[2]; // of slices slice_of(0) and slice_of(1)
#endif

void store_sum(int j, int k, ivec2 u, int image, vec4 value) {
    int slice = k + slice_of(j);
    if (slice >= destination_slices)
        return;
    value = neuron(value + bias[j], slope[j]);
    store_destination(u.x, u.y, slice, image, value);
    REDUCE_VALUE(own_values[j], value, u, slice, image);
}

// Returns where the next row is.
ivec3 store_row(int i, ivec3 X, int first_row, int k) {
    ivec2 u = stored_at(X.xy);
    if (first_row + row_of(i) < row_count && is_stored(X.xy)) {
        store_sum(0, k, u, X.z, sum[2 * i]);
        store_sum(1, k, u, X.z, sum[2 * i + 1]);
    }
    return next_place(X);
}

// One after the other and not in a loop, which compilers may leave as it is: the places in `sum`
// would not be constants then.
void store_rows(int split, int first_row, int k) {
    for (int j = 0; j < 2; j++) {
        int slice = min(k + slice_of(j), destination_slices - 1);
        bias[j] = bias_of(slice);
        slope[j] = neuron_slope(slice);
        BEGIN_REDUCTION(own_values[j]);
    }
    ivec3 X = place_of(first_row + row_of(0));
    X = store_row(0, X, first_row, k);
#if OWN > 1
    X = store_row(1, X, first_row, k);
#endif
#if OWN > 2
    X = store_row(2, X, first_row, k);
    X = store_row(3, X, first_row, k);
#endif
#if OWN > 4
    X = store_row(4, X, first_row, k);
    X = store_row(5, X, first_row, k);
    X = store_row(6, X, first_row, k);
    X = store_row(7, X, first_row, k);
#endif
    WRITE_RUN(lane, COLUMNS, first_row / ROWS, k + slice_of(0), own_values[0]);
    WRITE_RUN(lane, COLUMNS, first_row / ROWS, k + slice_of(1), own_values[1]);
    FINISH_REDUCTION(lane, COLUMNS, k);
}
#endif

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    int k = (at.x - lane) / 128 * SLICES, first_row = at.y * ROWS;
    ivec3 X = place_of(min(first_row + lane % ROWS, row_count - 1));
    image = X.z;
#ifdef PHASES
    find_phase(at.z);
    int begin = 0;
    last_element = TAPS.x * TAPS.y * source_slices * 4;
    weight_tap = tap_of((lane & (DEPTH - 1)) / 4);
#else
    int begin = at.z * elements_per_split;
    last_element = min(begin + elements_per_split, element_count);
#endif
    corner = CORNER + ivec2(stride_x, stride_y) * X.xy;
    vector = begin / 4 + lane / ROWS;
    tap = tap_of(vector);
    for (int i = 0; i < 2 * OWN; i++)
        sum[i] = vec4(0.0);
    read_vectors(begin, k);
    for (int element = begin; element < last_element; element += DEPTH) {
        barrier();
        keep_vectors();
        barrier();
        if (element + DEPTH < last_element)
            read_vectors(element + DEPTH, k);
        add_vectors();
    }
    store_rows(at.z, first_row, k);
}
