// out(X, Y) = the parts (x, Y) of the columns x that window X has taps in, folded; the second of
// two passes.
// needs pooling/pooling_fold.glsl
// needs pooling/pooling_folded.glsl
vec4 column(int x, int row, int slice, int image) {
    vec4 v = part(clamp(x, 0, source_width - 1) - first_column, row, slice, image);
#if defined(EDGE_CLAMP) && !defined(AVERAGE)
    return v;
#else
    return x >= 0 && x < source_width ? v : vec4(0.0);
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int left = first_x + stride_x * at.x;
    int row = at.y - first_row;
    vec4 folded = column(left, row, slice, image);
    for (int p = 1; p < KERNEL_WIDTH; p++)
        folded = fold(folded, column(left + dilation_x * p, row, slice, image));
    store_destination(at.x, at.y, slice, image, finished(folded, at.x, at.y, slice, image));
}
