// dW(k, q, p, c) = sum over images and X of G(X, k) * in(first + stride * X + dilation * (p, q), c)
// db(k) = sum of G(X, k).   Part sums: invocation (chunk, k, s, taps) adds up the rows of its chunk
// for TAPS_X x TAPS_Y taps of one slice of inputs; convolution/convolution_gradient_sum.comp adds
// the chunks. Rows of all images are numbered through; a chunk has rows_per_chunk of them.
// needs convolution/convolution.glsl
#ifdef SHARED_ROW // stride and dilation 1
#define READS (COLUMNS + TAPS_X - 1)
#else
#define READS COLUMNS
#endif

void keep(int chunk, int k, int element, vec4 value) {
    parts[(chunk * slice_total + k) * (element_count + 1) + element] = value;
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
    int k = rest / range;
    int slice = min(first_slice(k) + s, source_slices - 1);
    int rows = end_y - begin_y;
    vec4 bias = vec4(0.0);
    vec4 sum[TAPS_Y * TAPS_X * COMPONENTS];
    for (int i = 0; i < TAPS_Y * TAPS_X * COMPONENTS; i++)
        sum[i] = vec4(0.0);
    for (int r = 0; r < rows_per_chunk; r++) {
        int number = min(chunk * rows_per_chunk + r, row_total - 1);
        bool live = number == chunk * rows_per_chunk + r;
        int image = number / rows;
        int Y = begin_y + number - image * rows;
        for (int X = begin_x; X < end_x; X += COLUMNS) {
            vec4 g[COLUMNS];
            vec4 v[READS];
            for (int u = 0; u < COLUMNS; u++) {
                vec4 value = gradient(min(X + u, end_x - 1), Y, k, image);
                g[u] = live && X + u < end_x ? value : vec4(0.0);
                bias += g[u];
            }
            for (int j = 0; j < TAPS_Y; j++) {
                int y = first_y + stride_y * Y + dilation_y * (q0 + j);
#ifdef SHARED_ROW
                for (int u = 0; u < READS; u++)
                    v[u] = source_edge(first_x + X + p0 + u, y, slice, image);
#endif
                for (int t = 0; t < TAPS_X; t++) {
#ifdef SHARED_ROW
#define VALUE(u) v[u + t]
#else
#define VALUE(u) v[u]
                    int left = first_x + dilation_x * (p0 + t);
                    for (int u = 0; u < READS; u++)
                        v[u] = source_edge(left + stride_x * (X + u), y, slice, image);
#endif
#if COMPONENTS == 1
                    for (int u = 0; u < COLUMNS; u++)
                        sum[j * TAPS_X + t] += product(g[u], VALUE(u), 0);
#else
                    for (int c = 0; c < 4; c++)
                        for (int u = 0; u < COLUMNS; u++)
                            sum[(j * TAPS_X + t) * 4 + c] += g[u] * VALUE(u)[c];
#endif
                }
            }
        }
    }
    for (int j = 0; j < TAPS_Y; j++)
        for (int t = 0; t < TAPS_X; t++) {
            int tap = (q0 + j) * kernel_width + p0 + t;
            if (p0 + t < kernel_width && q0 + j < kernel_height)
                for (int c = 0; c < COMPONENTS; c++)
                    keep(chunk, k, (tap * range + s) * COMPONENTS + c,
                         sum[(j * TAPS_X + t) * COMPONENTS + c]);
        }
    if (s == 0 && p0 == 0 && q0 == 0)
        keep(chunk, k, element_count, bias);
}
