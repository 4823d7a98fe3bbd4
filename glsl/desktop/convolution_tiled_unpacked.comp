// out(X, k) = neuron(b(k) + sum over taps (q, p) and inputs c of W(k, q, p, c) * in(t, c)),
//     t = first + stride * X + dilation * (p, q)
// As a product of matrices: rows are the pixels of all images, numbered through, columns are outputs,
// and the sum goes over vectors of elements (four inputs of a tap), some of them in each layer of groups.
// Weights are read as they are, those of an output side by side: what is kept of inputs and weights is
// vectors, and nothing is turned on its way. A group of 128 invocations makes ROWS rows of SLICES slices,
// each of them OWN rows of 2 slices. It keeps VECTORS vectors of its rows and outputs at a time, few:
// groups then need little of what a processor has, and while some of them read others add up. The next
// ones are read before those are added up, and kept beside them. What a group has is part of a sum,
// which desktop/split_k_sum.comp ends. Inputs are a multiple of 4 * VECTORS, and no tap
// lies outside of the source.
#define ROWS   64
#define SLICES 32
#define OWN    8
#define VECTORS  2
#define READS  (4 * SLICES * VECTORS / 128)
#define APART  (SLICES + 2)    // places between the outputs of a slice, and
#define PITCH  (4 * APART + 1) // between vectors: those that 8 invocations keep lie in different banks

shared vec4 kept_inputs[2 * VECTORS * ROWS];
shared vec4 kept_weights[2 * VECTORS * PITCH];

int lane;                       // within the group
int image, weights_at[READS];   // of the input and the weights that it reads for all
ivec2 corner;                   // of the window
ivec3 tap;                      // column, row and slice of the next input
vec4 own_input, own_weights[READS]; // what it has read
vec4 sum[2 * OWN];

void read_vectors(int first) {
    for (int i = 0; i < READS; i++)
        own_weights[i] = weights[weights_at[i] + first];
    ivec2 t = corner + ivec2(dilation_x, dilation_y) * tap.xy;
    own_input = source(t.x, t.y, tap.z, image);
    tap.z += VECTORS;
    if (tap.z >= source_slices)
        tap = ivec3(tap.x + 1, tap.y, tap.z - source_slices);
    if (tap.x == kernel_width)
        tap = ivec3(0, tap.y + 1, tap.z);
}

void keep_vectors(int side) {
    kept_inputs[(side * VECTORS + lane % VECTORS) * ROWS + lane / VECTORS] = own_input;
    for (int i = 0; i < READS; i++) {
        int output_at = (lane + 128 * i) / VECTORS;
        kept_weights[(side * VECTORS + lane % VECTORS) * PITCH + output_at % 4 * APART + output_at / 4] =
            own_weights[i];
    }
}

// Of 32 invocations, which run in step, those two apart own the same slices, and those beside each
// other the same rows: what both read of what is kept is then read for both at once.
int row_of(int i) { return (lane >> 1 & 1 | lane >> 3 & 2 | lane >> 4 & 4) + ROWS / OWN * i; }

int slice_of(int j) { return (lane & 1 | lane >> 1 & 6 | lane >> 2 & 8) + SLICES / 2 * j; }

// Components one after the other: sums that wait for one another lie apart.
void add_output(vec4 x[OWN], int first, int j, int k) {
    vec4 w = kept_weights[first + k * APART + slice_of(j)];
    for (int i = 0; i < OWN; i++)
        sum[2 * i + j][k] += x[i].x * w.x;
    for (int i = 0; i < OWN; i++)
        sum[2 * i + j][k] += x[i].y * w.y;
    for (int i = 0; i < OWN; i++)
        sum[2 * i + j][k] += x[i].z * w.z;
    for (int i = 0; i < OWN; i++)
        sum[2 * i + j][k] += x[i].w * w.w;
}

// Outputs one after the other and not in a loop, which compilers may leave as it is: a component that
// is not known by then is dear.
void add_vector(int side, int q) {
    vec4 x[OWN];
    int first = (side * VECTORS + q) * PITCH;
    for (int i = 0; i < OWN; i++)
        x[i] = kept_inputs[(side * VECTORS + q) * ROWS + row_of(i)];
    add_output(x, first, 0, 0);
    add_output(x, first, 0, 1);
    add_output(x, first, 0, 2);
    add_output(x, first, 0, 3);
    add_output(x, first, 1, 0);
    add_output(x, first, 1, 1);
    add_output(x, first, 1, 2);
    add_output(x, first, 1, 3);
}

void store_rows(int split, int first_row, int first_slice) {
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < 2; j++) {
            int row = first_row + row_of(i), slice = first_slice + slice_of(j);
            if (row < row_count && slice < result_slices)
                partial_sums[(split * row_count + row) * result_slices + slice] = sum[2 * i + j];
        }
}

void find_row(int row) {
    int line = quotient(row, region_width);
    image = quotient(line, region_height);
    ivec2 X = ivec2(row - line * region_width, line - image * region_height);
    corner = ivec2(first_x, first_y) + ivec2(stride_x, stride_y) * X;
}

void find_vector(int vector) {
    int at = quotient(vector, source_slices), row = quotient(at, kernel_width);
    tap = ivec3(at - row * kernel_width, row, vector - at * source_slices);
}

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    int first_slice = (at.x - lane) / 128 * SLICES, first_row = at.y * ROWS;
    int begin = at.z * vectors_per_split, end = min(begin + vectors_per_split, vector_count), side = 0;
    find_row(min(first_row + lane / VECTORS, row_count - 1));
    find_vector(begin + lane % VECTORS);
    for (int i = 0; i < READS; i++) {
        int k = 4 * first_slice + (lane + 128 * i) / VECTORS;
        weights_at[i] = min(k, output_count - 1) * vector_count + lane % VECTORS;
    }
    for (int i = 0; i < 2 * OWN; i++)
        sum[i] = vec4(0.0);
    read_vectors(begin);
    keep_vectors(side);
    if (begin + VECTORS < end)
        read_vectors(begin + VECTORS);
    for (int first = begin; first < end; first += VECTORS) {
        barrier();
        add_vector(side, 0);
        if (first + VECTORS < end) // between the vectors: nobody waits then for what is being kept
            keep_vectors(1 - side);
        if (first + 2 * VECTORS < end)
            read_vectors(first + 2 * VECTORS);
        add_vector(side, 1);
        side = 1 - side;
    }
    store_rows(at.z, first_row, first_slice);
}
