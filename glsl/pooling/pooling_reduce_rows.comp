// out(X, Y) = part(x, Y) of the columns x that window X has taps in, reduced; then an average is divided
// by N(X, Y), and of an L2 norm the root is taken. The second of two ping-pong passes
// needs pooling/average.glsl
// needs pooling/reduction.glsl
vec4 column(int x, int row, int slice, int image) {
    vec4 v = part(clamp(x, 0, source_width - 1) - first_column, row, slice, image);
#if defined(EDGE_CLAMP) && !defined(AVERAGE)
    return v;
#else
    return x >= 0 && x < source_width ? v : vec4(0.0);
#endif
}

vec4 finished(vec4 reduced, ivec2 X, int slice, int image) {
#if defined(AVERAGE)
    float count = average_count(X.x, X.y, source_width, source_height);
    return count > 0.0 ? reduced / count : vec4(0.0);
#elif defined(L2_NORM)
    return norm_of_squares(reduced, first_x + stride_x * X.x, first_y + stride_y * X.y, slice, image);
#else
    return reduced;
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int left = first_x + stride_x * at.x;
    int row = at.y - first_row;
    vec4 reduced = column(left, row, slice, image);
    for (int p = 1; p < KERNEL_WIDTH; p++)
        reduced = reduce(reduced, column(left + dilation_x * p, row, slice, image));
    store_destination(at.x, at.y, slice, image, finished(reduced, at, slice, image));
}
