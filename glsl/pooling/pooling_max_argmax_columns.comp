// best(X, y) = largest tap of result column X in source row y, argmax(X, y) = the source column that
// it reads; of equal taps the first. The first of two passes that find the argmax of windows.
// needs lib/compare.glsl
float column_read(int x) {
#ifdef EDGE_CLAMP
    return float(clamp(x, 0, source_width - 1));
#else
    return float(x); // an outside zero's is no pixel's
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int left = first_x + stride_x * (at.x + begin_x);
    int y = at.y + first_row;
    vec4 best = source_edge(left, y, slice, image);
    vec4 argmax = vec4(column_read(left));
    for (int p = 1; p < KERNEL_WIDTH; p++) {
        int x = left + dilation_x * p;
        vec4 value = source_edge(x, y, slice, image);
        bvec4 better = wins(value, best);
        best = mix(best, value, better);
        argmax = mix(argmax, vec4(column_read(x)), better);
    }
    store_best(at.x, at.y, slice, image, best);
    store_argmax(at.x, at.y, slice, image, argmax);
}
