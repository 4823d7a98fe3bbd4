// dX(u, c) = sum over k of W(k, u, c) * G(k)
// As a product of matrices: rows are images, columns are slices of dX at each of its pixels, and the
// sum goes over outputs, some of them in each layer of groups. Weights are read as they are, those of
// an output side by side. A group of 128 invocations makes ROWS images of COLUMNS columns, each of
// them OWN images of 2 columns. It keeps VECTORS slices of the gradient at a time and their weights, few:
// groups then need little of what a processor has, and while some of them read others add up. The next
// ones are read before those are added up, and kept beside them. What a group has is part of a sum,
// which desktop/split_k_sum.comp ends. Channels are multiples of 4.
// WHOLE: outputs of each layer of groups are a multiple of DEPTH, and no pixel lies outside of the
// window, so that whatever is read counts.
#define ROWS    64
#define COLUMNS 32
#define OWN     8
#define VECTORS   2
#define DEPTH   (4 * VECTORS)
#define READS   (DEPTH * COLUMNS / 128)

shared vec4 kept_gradients[2 * VECTORS * ROWS];
shared vec4 kept_weights[2 * DEPTH * COLUMNS];

int lane;                          // within the group
int image, column;                 // of the gradient and the weights that it reads for all
vec4 own_gradient, own_weights[READS]; // what it has read
int end;                           // the output after the last
vec4 sum[2 * OWN];

#ifdef WHOLE
#define COUNTS(condition, value) value
#else
#define COUNTS(condition, value) (condition ? value : vec4(0.0))
bool live_column;                // else weights are 0
bool live_gradient, live[READS]; // else 0
#endif

// Of a column: the pixel of dX, which of its slices, and which pixel of the layer.
ivec3 pixel_of(int column) {
    int pixel = quotient(column, destination_slices);
    int y = quotient(pixel, region_width);
    return ivec3(pixel - y * region_width, y, column - pixel * destination_slices);
}

void find_column(int own) {
    ivec3 at = pixel_of(min(own, column_count - 1));
    ivec2 u = at.xy + ivec2(region_x + shift_x, region_y + shift_y);
    column = (u.y * kernel_width + u.x) * destination_slices + at.z;
#ifndef WHOLE
    live_column = is_within(u.x, u.y, kernel_width, kernel_height);
    column = live_column ? column : 0;
#endif
}

#ifdef WHOLE
void read_outputs(int first) {
    own_gradient = gradient(begin_x, begin_y, first / 4 + lane % VECTORS, image);
    for (int i = 0; i < READS; i++) {
        int o = first + lane / COLUMNS + 128 / COLUMNS * i;
        own_weights[i] = weights[o * weight_columns + column];
    }
}
#else
// Whether it counts is asked when it is kept: whoever asks at once waits for the read.
void read_outputs(int first) {
    int k = first / 4 + lane % VECTORS;
    live_gradient = 4 * k < end;
    own_gradient = gradient(begin_x, begin_y, min(k, gradient_slices - 1), image);
    for (int i = 0; i < READS; i++) {
        int o = first + lane / COLUMNS + 128 / COLUMNS * i;
        live[i] = live_column && o < end;
        own_weights[i] = weights[min(o, end - 1) * weight_columns + column];
    }
}
#endif

void keep_outputs(int side) {
    kept_gradients[(side * VECTORS + lane % VECTORS) * ROWS + lane / VECTORS] =
        COUNTS(live_gradient, own_gradient);
    for (int i = 0; i < READS; i++)
        kept_weights[side * DEPTH * COLUMNS + lane + 128 * i] = COUNTS(live[i], own_weights[i]);
}

// Of 32 invocations, which run in step, those two apart own the same columns, and those beside each
// other the same rows: what both read of what is kept is then read for both at once.
int row_of(int i) { return (lane >> 1 & 1 | lane >> 3 & 2 | lane >> 4 & 4) + ROWS / OWN * i; }

int column_of(int j) { return (lane & 1 | lane >> 1 & 6 | lane >> 2 & 8) + COLUMNS / 2 * j; }

void add_output(vec4 g[OWN], int c, int first) {
    vec4 w0 = kept_weights[first + column_of(0)], w1 = kept_weights[first + column_of(1)];
    for (int i = 0; i < OWN; i++) {
        sum[2 * i] += g[i][c] * w0;
        sum[2 * i + 1] += g[i][c] * w1;
    }
}

// Components one after the other and not in a loop, which compilers may leave as it is: a component
// that is not known by then is dear.
void add_vector(int side, int q) {
    vec4 g[OWN];
    int first = (side * DEPTH + 4 * q) * COLUMNS;
    for (int i = 0; i < OWN; i++)
        g[i] = kept_gradients[(side * VECTORS + q) * ROWS + row_of(i)];
    add_output(g, 0, first);
    add_output(g, 1, first + COLUMNS);
    add_output(g, 2, first + 2 * COLUMNS);
    add_output(g, 3, first + 3 * COLUMNS);
}

void store_rows(int split, int first_row, int first_column) {
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < 2; j++) {
            int row = first_row + row_of(i), at = first_column + column_of(j);
            if (row < gradient_images && at < column_count)
                partial_sums[(split * gradient_images + row) * column_count + at] = sum[2 * i + j];
        }
}

void invocation(ivec3 at) {
    lane = int(gl_LocalInvocationIndex);
    int first_column = (at.x - lane) / 128 * COLUMNS, first_row = at.y * ROWS;
    int begin = at.z * outputs_per_split, side = 0;
    end = min(begin + outputs_per_split, output_count);
    image = min(first_row + lane / VECTORS, gradient_images - 1);
    find_column(first_column + lane % COLUMNS);
    for (int i = 0; i < 2 * OWN; i++)
        sum[i] = vec4(0.0);
    read_outputs(begin);
    keep_outputs(side);
    if (begin + DEPTH < end)
        read_outputs(begin + DEPTH);
    for (int first = begin; first < end; first += DEPTH) {
        barrier();
        add_vector(side, 0);
        if (first + DEPTH < end) // between the vectors: nobody waits then for what is being kept
            keep_outputs(1 - side);
        if (first + 2 * DEPTH < end)
            read_outputs(first + 2 * DEPTH);
        add_vector(side, 1);
        side = 1 - side;
    }
    store_rows(at.z, first_row, first_column);
}
