// out(X, Y) = the parts (x, Y) of the columns x that window X has taps in, folded; the second of
// two passes. An average is divided by its count, and with SQUARES the root is taken.
// needs pooling/pooling_average.glsl
// needs pooling/pooling_fold.glsl
vec4 column(int x, int row, int slice, int image) {
    vec4 v = part(clamp(x, 0, source_width - 1) - first_column, row, slice, image);
#if defined(EDGE_CLAMP) && !defined(AVERAGE)
    return v;
#else
    return x >= 0 && x < source_width ? v : vec4(0.0);
#endif
}

vec4 finished(vec4 folded, int X, int Y) {
#if defined(AVERAGE)
    float count = average_count(X, Y, source_width, source_height);
    return count > 0.0 ? folded / count : vec4(0.0);
#elif defined(SQUARES)
    return sqrt(folded);
#else
    return folded;
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int left = first_x + stride_x * at.x;
    int row = at.y - first_row;
    vec4 folded = column(left, row, slice, image);
    for (int p = 1; p < KERNEL_WIDTH; p++)
        folded = fold(folded, column(left + dilation_x * p, row, slice, image));
    store_destination(at.x, at.y, slice, image, finished(folded, at.x, at.y));
}
