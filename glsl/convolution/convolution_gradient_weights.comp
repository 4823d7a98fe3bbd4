// dW(k, q, p, c) = sum over images and X of G(X, k) * in(first + stride * X + dilation * (p, q), c)
// db(k) = sum of G(X, k).   Partial sums: invocation (chunk, k, s, taps) adds up the rows of its chunk
// for TAPS_X x TAPS_Y taps of one slice of inputs and SLICES of outputs;
// convolution/convolution_gradient_sum.comp adds the chunks. Rows of all images are numbered through;
// a chunk has rows_per_chunk of them.
// needs convolution/convolution.glsl
#define TAPS (TAPS_X * TAPS_Y)
#ifdef SHARED_ROW // dilation 1, and SHARED_ROW the stride
#define READS ((COLUMNS - 1) * SHARED_ROW + TAPS_X)
#define APART SHARED_ROW
#else
#define READS COLUMNS
#define APART 1
#endif

vec4 g[SLICES * COLUMNS], bias[SLICES];
vec4 v[READS];
vec4 sum[SLICES * TAPS * COMPONENTS];

void keep(int chunk, int k, int element, vec4 value) {
    partial_sums[(chunk * slice_total + k) * (element_count + 1) + element] = value;
}

void begin_slice(int j) {
    bias[j] = vec4(0.0);
    for (int i = 0; i < TAPS * COMPONENTS; i++)
        sum[j * TAPS * COMPONENTS + i] = vec4(0.0);
}

void read_gradient(int j, int X, int Y, int k, int image) {
    for (int u = 0; u < COLUMNS; u++) {
        vec4 value = gradient(min(X + u, end_x - 1), Y, k + j, image);
        g[j * COLUMNS + u] = X + u < end_x ? value : vec4(0.0);
        bias[j] += g[j * COLUMNS + u];
    }
}

// Column u of the gradient meets v[u * APART + shift].
void add_tap(int j, int tap, int shift) {
#if COMPONENTS == 1
    for (int u = 0; u < COLUMNS; u++)
        sum[j * TAPS + tap] += product(g[j * COLUMNS + u], v[u * APART + shift], 0);
#else
    for (int c = 0; c < 4; c++)
        for (int u = 0; u < COLUMNS; u++)
            sum[(j * TAPS + tap) * 4 + c] += g[j * COLUMNS + u] * v[u * APART + shift][c];
#endif
}

// One after the other and not in a loop, which compilers may leave as it is: the places in `sum` and
// `g` would not be constants then.
#if SLICES == 1
#define EACH_SLICE(do) do(0);
#else // two
#define EACH_SLICE(do) do(0); do(1);
#endif

void add_row(int row, int left, int y, int slice, int image) {
#ifdef SHARED_ROW
    for (int u = 0; u < READS; u++)
        v[u] = source_edge(left + u, y, slice, image);
#define ADD_ROW_TAPS(j) for (int t = 0; t < TAPS_X; t++) add_tap(j, row * TAPS_X + t, t)
    EACH_SLICE(ADD_ROW_TAPS)
#else
    for (int t = 0; t < TAPS_X; t++) {
        for (int u = 0; u < READS; u++)
            v[u] = source_edge(left + dilation_x * t + stride_x * u, y, slice, image);
#define ADD_TAP(j) add_tap(j, row * TAPS_X + t, 0)
        EACH_SLICE(ADD_TAP)
    }
#endif
}

void keep_slice(int j, int chunk, int k, int s, int p0, int q0) {
    for (int q = 0; q < TAPS_Y; q++)
        for (int t = 0; t < TAPS_X; t++) {
            int tap = (q0 + q) * kernel_width + p0 + t;
            if (p0 + t < kernel_width && q0 + q < kernel_height)
                for (int c = 0; c < COMPONENTS; c++)
                    keep(chunk, k, (tap * range + s) * COMPONENTS + c,
                         sum[(j * TAPS + q * TAPS_X + t) * COMPONENTS + c]);
        }
    if (s == 0 && p0 == 0 && q0 == 0)
        keep(chunk, k, element_count, bias[j]);
}

void invocation(ivec3 at) {
    int rest = at.x / chunk_count;
    int chunk = at.x - rest * chunk_count;
    int groups_x = (kernel_width + TAPS_X - 1) / TAPS_X;
    int groups_y = (kernel_height + TAPS_Y - 1) / TAPS_Y;
    int p0 = rest % groups_x * TAPS_X;
    rest /= groups_x;
    int q0 = rest % groups_y * TAPS_Y;
    rest /= groups_y;
    int s = rest % range;
    int k = rest / range * SLICES;
    int slice = min(first_slice(k) + s, source_slices - 1);
    int rows = end_y - begin_y;
    EACH_SLICE(begin_slice)
    int number = chunk * rows_per_chunk, end = min(number + rows_per_chunk, row_total);
    int image = number / rows;
    ivec2 X = ivec2(begin_x, begin_y + number - image * rows);
    // Rows and columns in one loop: at the end of each, processors store all sums by a mask.
    while (number < end) {
        int left = first_x + dilation_x * p0 + stride_x * X.x;
        int top = first_y + dilation_y * q0 + stride_y * X.y;
#define READ_GRADIENT(j) read_gradient(j, X.x, X.y, k, image)
        EACH_SLICE(READ_GRADIENT)
        add_row(0, left, top, slice, image);
#if TAPS_Y > 1
        add_row(1, left, top + dilation_y, slice, image);
#endif
#if TAPS_Y > 2
        add_row(2, left, top + 2 * dilation_y, slice, image);
#endif
#if TAPS_Y > 3
        for (int j = 3; j < TAPS_Y; j++)
            add_row(j, left, top + j * dilation_y, slice, image);
#endif
        X.x += COLUMNS;
        bool next_row = X.x >= end_x, next_image = next_row && X.y + 1 == end_y;
        number += int(next_row);
        image += int(next_image);
        X = ivec2(next_row ? begin_x : X.x, next_image ? begin_y : X.y + int(next_row));
    }
#define KEEP_SLICE(j) keep_slice(j, chunk, k + j, s, p0, q0)
    EACH_SLICE(KEEP_SLICE)
}
