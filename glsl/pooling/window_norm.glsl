// sqrt(sum over the taps of window X of source^2). Rows are summed apart: large windows keep their
// digits.
// needs pooling/norm_of_squares.glsl
vec4 window_norm(int X, int Y, int slice, int image) {
    int left = first_x + stride_x * X;
    int top = first_y + stride_y * Y;
    vec4 sum = vec4(0.0);
    for (int q = 0; q < KERNEL_HEIGHT; q++) {
        vec4 row = vec4(0.0);
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            vec4 v = source_edge(left + p, top + q, slice, image);
            row += v * v;
        }
        sum += row;
    }
    return norm_of_squares(sum, left, top, slice, image);
}
