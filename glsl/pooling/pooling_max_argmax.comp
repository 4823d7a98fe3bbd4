// argmax(X) = tap of window X, counted row by row, with the largest value; of equal taps the first.
// -1 is an outside zero that wins. Column and row of the image count from begin_x and begin_y.
// needs lib/compare.glsl
float number_of(ivec2 t, int tap) {
#ifdef EDGE_CLAMP
    return float(tap);
#else
    bool inside = is_within(t.x, t.y, source_width, source_height);
    return inside ? float(tap) : -1.0;
#endif
}

void invocation(ivec2 at, int slice, int image) {
    int left = first_x + stride_x * at.x;
    int top = first_y + stride_y * at.y;
    vec4 best = source_edge(left, top, slice, image);
    vec4 argmax = vec4(number_of(ivec2(left, top), 0));
    for (int q = 0; q < KERNEL_HEIGHT; q++)
        for (int p = 0; p < KERNEL_WIDTH; p++) {
            ivec2 t = ivec2(left + dilation_x * p, top + dilation_y * q);
            vec4 value = source_edge(t.x, t.y, slice, image);
            bvec4 better = wins(value, best);
            best = mix(best, value, better);
            argmax = mix(argmax, vec4(number_of(t, q * KERNEL_WIDTH + p)), better);
        }
    store_argmax(at.x - begin_x, at.y - begin_y, slice, image, argmax);
}
