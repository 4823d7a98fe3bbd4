// sqrt(sum over the taps of window X of source^2). Rows are summed apart: large windows keep their
// digits.
vec4 window_norm(int X, int Y, int slice, int image) {
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 v = source_edge(first_x + stride_x * X + p, first_y + stride_y * Y + q, slice, image);
            row += v * v;
        }
        sum += row;
    }
    return sqrt(sum);
}
