// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q);   in is 0 outside low .. high, or clamped
// As a product of matrices: rows are the pixels of all images, numbered through, columns are
// outputs, and the sum goes over elements. A group of 128 invocations makes ROWS rows of 16 slices,
// each of them OWN rows of 2 slices. It keeps QUADS quads of elements (a quad: one tap of one slice
// of inputs) at a time, and reads the next ones before it adds up those.
// IN_PLACE, where rows are so few that packed weights would hardly be read again: the weights are
// read as the user has them, WITH_OUTPUTS where those of an element's outputs lie side by side.
// With SPLIT each layer of groups adds up some of the elements, and what it has is stored as part
// of a sum, which convolution/convolution_tiled_finish.comp ends.
// needs convolution/convolution.glsl
// needs convolution/bias.glsl
#define OWN    (ROWS / 16)
#define SLICES 16
#define QUADS  4
#define DEPTH  (QUADS * 4)
#define STEP   (128 / ROWS) // quads that the invocations read at a time
#define READS  (QUADS / STEP)
#define PITCH  (SLICES + 1) // neighbours in a column lie in different banks

shared float kept_inputs[DEPTH * ROWS];
shared vec4 kept_weights[DEPTH * PITCH];

int lane;                       // within the group
int quad, tap_x, tap_y, tap_slice; // the next quad, and its parts
int last_element;               // the one after the last
int image;                      // of the pixel that the invocation reads for all
ivec2 corner;                   // of its window
vec4 inputs[READS], two_weights[2]; // what it has read
vec4 sum[2 * OWN];

void first_quad(int element) {
    quad = element / 4;
    int tap = quad / source_slices;
    tap_slice = quad - tap * source_slices;
    tap_y = tap / kernel_width;
    tap_x = tap - tap_y * kernel_width;
}

void next_quad() {
    quad++;
    tap_slice++;
    if (tap_slice == source_slices) {
        tap_slice = 0;
        tap_x++;
    }
    if (tap_x == kernel_width) {
        tap_x = 0;
        tap_y++;
    }
}

void next_own_quad() {
    for (int i = 0; i < STEP; i++)
        next_quad();
}

vec4 read_input() {
    ivec2 t = corner + ivec2(dilation_x * tap_x, dilation_y * tap_y);
    ivec2 inside = clamp(t, ivec2(low_x, low_y), ivec2(high_x, high_y));
#ifdef EDGE_CLAMP
    bool live = quad * 4 < last_element;
#else
    bool live = quad * 4 < last_element && t == inside;
#endif
    vec4 v = source(inside.x, inside.y, min(tap_slice, source_slices - 1), image);
    return live ? v : vec4(0.0);
}

// Weights of four outputs; 0 after the last element, where inputs are 0 too.
vec4 read_weight(int element, int k) {
    if (element >= last_element || k >= destination_slices)
        return vec4(0.0);
#if defined(IN_PLACE) && defined(WITH_OUTPUTS)
    return weights[element * destination_slices + k];
#elif defined(IN_PLACE)
    int first = 4 * k * element_count + element, last = (destination_channels - 1) * element_count;
    return vec4(weights[first], weights[min(first + element_count, last + element)],
                weights[min(first + 2 * element_count, last + element)],
                weights[min(first + 3 * element_count, last + element)]);
#else
    return matrix(PACKED_X(element), PACKED_Y(element), 0, k);
#endif
}

// An invocation reads its part of a row of the inputs, and two of the 256 weights.
void read_quads(int first_element, int k) {
    int element = first_element + (lane & 15);
    two_weights[0] = read_weight(element, k + (lane >> 4));
    two_weights[1] = read_weight(element, k + (lane >> 4) + 8);
    for (int i = 0; i < READS; i++) {
        inputs[i] = read_input();
        next_own_quad();
    }
}

void keep_quads() {
    for (int i = 0; i < READS; i++)
        for (int c = 0; c < 4; c++)
            kept_inputs[((i * STEP + lane / ROWS) * 4 + c) * ROWS + lane % ROWS] = inputs[i][c];
    kept_weights[(lane & 15) * PITCH + (lane >> 4)] = two_weights[0];
    kept_weights[(lane & 15) * PITCH + (lane >> 4) + 8] = two_weights[1];
}

// Row i of those of an invocation: runs of four, so that a run is stored to neighbours.
int row_of(int i) { return (lane >> 3) * 4 + (i >> 2) * (ROWS / 2) + (i & 3); }

int slice_of(int j) { return (lane & 7) + 8 * j; }

void add_quads() {
    for (int e = 0; e < DEPTH; e++) {
        vec4 w0 = kept_weights[e * PITCH + slice_of(0)];
        vec4 w1 = kept_weights[e * PITCH + slice_of(1)];
        for (int i = 0; i < OWN; i++) {
            float x = kept_inputs[e * ROWS + row_of(i)];
            sum[2 * i] += x * w0;
            sum[2 * i + 1] += x * w1;
        }
    }
}

// Column, line and image of a row.
ivec3 place_of(int row) {
    int line = row / region_width;
    int image = line / region_height;
    return ivec3(row - line * region_width, line - image * region_height, image);
}

#ifdef SPLIT
void store_slice(int split, int first_row, int j, int k) {
    for (int i = 0; i < OWN; i++) {
        int row = first_row + row_of(i);
        if (row < row_count)
            parts[(split * row_count + row) * destination_slices + k] = sum[2 * i + j];
    }
}
#else
void store_slice(int split, int first_row, int j, int k) {
    vec4 bias = bias_of(k);
    vec4 slope = neuron_slope(k);
    for (int i = 0; i < OWN; i++) {
        int row = first_row + row_of(i);
        ivec3 place = place_of(row);
        if (row < row_count)
            store_destination(region_x + step_x * place.x, region_y + step_y * place.y, k, place.z,
                              neuron(sum[2 * i + j] + bias, slope));
    }
}
#endif

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    int k = at.y * SLICES;
    int first_row = (at.x - lane) / 128 * ROWS;
    ivec3 place = place_of(min(first_row + lane % ROWS, row_count - 1));
    image = place.z;
    corner = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * place.xy;
    int begin = at.z * elements_per_split;
    last_element = min(begin + elements_per_split, element_count);
    first_quad(begin);
    for (int i = 0; i < lane / ROWS; i++)
        next_quad();
    for (int i = 0; i < 2 * OWN; i++)
        sum[i] = vec4(0.0);
    read_quads(begin, k);
    for (int element = begin; element < last_element; element += DEPTH) {
        barrier();
        keep_quads();
        barrier();
        if (element + DEPTH < last_element)
            read_quads(element + DEPTH, k);
        add_quads();
    }
    for (int j = 0; j < 2; j++)
        if (k + slice_of(j) < destination_slices)
            store_slice(at.z, first_row, j, k + slice_of(j));
}
