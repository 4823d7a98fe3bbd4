// argmax(X, Y) = the source row that the argmax of window (X, Y) reads: the first row with the largest
// best(X, y), so that of equal taps the first wins, row by row. The second of two passes.
// needs lib/compare.glsl
int row_read(int y) {
#ifdef EDGE_CLAMP
    return clamp(y, 0, source_height - 1);
#else
    return y; // an outside zero's is no pixel's
#endif
}

vec4 best_of_row(int X, int y, int slice, int image) {
    vec4 v = best(X, clamp(y, 0, source_height - 1) - first_row, slice, image);
#ifdef EDGE_CLAMP
    return v;
#else
    return y >= 0 && y < source_height ? v : vec4(0.0);
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int top = first_y + stride_y * (at.y + begin_y);
    vec4 largest = best_of_row(at.x, top, slice, image);
    vec4 argmax = vec4(row_read(top));
    for (int q = 1; q < KERNEL_HEIGHT; q++) {
        int y = top + dilation_y * q;
        vec4 value = best_of_row(at.x, y, slice, image);
        bvec4 better = wins(value, largest);
        largest = mix(largest, value, better);
        argmax = mix(argmax, vec4(row_read(y)), better);
    }
    store_argmax(at.x, at.y, slice, image, argmax);
}
